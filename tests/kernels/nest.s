# SPDX-License-Identifier: Apache-2.0
# A tree of launches: each block launches two blocks of the same kernel, whose number of levels left is smaller by 1, waits
# for them, and counts itself.
.const nest_d 40 8 = addr nest, u32 2, 1, 1, 64, 1, 1, 256, 0
.kernel nest
.param ptr.global out               # number of blocks, for each number of levels left
.param u32 left
    v_s2r v0, %tid.x
    v_mov_b64 v2:3, c[out]
    v_mov_b32 v1, c[left]
    v_mov_b32 v10, 12345
    v_setp_u32.eq p0, v0, 0
    v_sub_u32 v4, v1, 1
    v_mov_b32 v8, lo(nest_d)
    v_mov_b32 v9, hi(nest_d)
    v_mov_b32 v13, 0
    @p0 v_mov_b32 v13, v1
    v_setp_u32.ne p1, v13, 0            # one thread launches, unless this is the last level
    @p1 launch.buffer v6:7, 12
    @p1 st.global.b64 [v6:7], v2:3
    @p1 st.global.b32 [v6:7+8], v4
    @p1 launch.kernel v12, v8:9, v6:7, vz
    launch.sync
    bar.sync 0
    v_setp_u32.ne p2, v10, 12345        # the register has kept its value
    @p2 trap 1
    v_mov_b32 v5, 1
    v_madwide_u32 v2:3, v1, 4, v2:3
    @p0 red.global.add.u32 [v2:3], v5
    exit
.end
