# SPDX-License-Identifier: Apache-2.0
# The parent kernel waits for a child kernel whose threads wait at two different barriers.
.const child_d 40 8 = addr child, u32 1, 1, 1, 64, 1, 1, 0, 0
.kernel parent
    v_s2r v0, %tid.x
    v_setp_u32.eq p0, v0, 0
    v_mov_b32 v8, lo(child_d)
    v_mov_b32 v9, hi(child_d)
    @p0 launch.kernel v10, v8:9, vz, vz
    @p0 launch.kernel v10, v8:9, vz, vz
    launch.sync
    exit
.end
.kernel child
    v_s2r v0, %tid.x
    v_setp_u32.lt p0, v0, 32
    @p0 bra low
    bar.sync 2
    exit
low:
    bar.sync 1
    exit
.end
