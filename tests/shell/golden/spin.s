# SPDX-License-Identifier: Apache-2.0
# A kernel that never ends.
.kernel spin
    .param ptr.global out
    v_mov_b32 v0, 0
again:
    v_add_u32 v0, v0, 1
    bra again
.end
