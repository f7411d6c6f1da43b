# SPDX-License-Identifier: Apache-2.0
# Two warps meet at a barrier in each round of a loop without a way out.
.kernel barrier_loop
again:
    v_add_u32 v0, v0, 3
    bar.sync 0
    bra again
.end
