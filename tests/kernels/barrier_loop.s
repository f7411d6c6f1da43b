# SPDX-License-Identifier: Apache-2.0
# Two warps synchronise at a barrier in each iteration of an endless loop.
.kernel barrier_loop
again:
    v_add_u32 v0, v0, 3
    bar.sync 0
    bra again
.end
