# SPDX-License-Identifier: Apache-2.0
# The lanes of three warps wait at a barrier for 64 lanes. The fourth warp waits at another barrier. Neither barrier
# completes.
.kernel partial_barrier
    v_s2r v0, %tid.x
    v_mov_b32 v1, 64
    v_setp_u32.ge p0, _, v0, 24
    @p0 bra other
    bar.sync 1, v1
    exit
other:
    bar.sync 2
    exit
.end
