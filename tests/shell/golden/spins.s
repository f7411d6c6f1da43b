# SPDX-License-Identifier: Apache-2.0
# A function that never returns.
.kernel spins
    .param ptr.global out
    call v0:1, wait
    exit
.end
.func wait
again:
    v_add_u32 v3, v3, 1
    bra again
.end
