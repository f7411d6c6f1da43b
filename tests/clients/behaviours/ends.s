# SPDX-License-Identifier: Apache-2.0
# The first warp of each block ends immediately, the second one continues.
.kernel ends
.param ptr.global out
    v_s2r v3, %tid.x
    v_setp_u32.lt p0, _, v3, 32
    @p0 exit
    v_mov_b32 v6, 1
    v_mov_b32 v6, 2
    v_mov_b32 v6, 3                     # goes on
    v_mov_b32 v6, 4
    exit
.end
