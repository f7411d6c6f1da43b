# SPDX-License-Identifier: Apache-2.0
# A kernel launches a kernel, which launches a block group that is aggregated into the grid of this second kernel.
.const child_d 40 8 = addr child, u32 2, 1, 1, 4, 1, 1, 0, 0
.kernel parent
.param ptr.global out
    v_s2r v0, %tid.x
    v_setp_u32.ne p0, v0, 0
    @p0 exit
    launch.buffer v2:3, 16
    v_mov_b64 v4:5, c[out]
    st.global.b64 [v2:3], v4:5
    v_mov_b32 v6, 1
    st.global.b32 [v2:3+8], v6
    v_mov_b32 v8, lo(child_d)
    v_mov_b32 v9, hi(child_d)
    launch.kernel v10, v8:9, v2:3, vz
    launch.sync
    exit                                # behind all
.end
.kernel child
.param ptr.global out
.param u32 left
.param u32 pad
    v_s2r v0, %tid.x
    v_s2r v1, %ctaid.x
    v_add_u32 v0, v0, v1
    v_setp_u32.ne p0, v0, 0
    @p0 exit                            # thread 0 of block 0 goes on
    v_mov_b64 v4:5, c[out]
    v_mov_b32 v6, c[left]
    v_setp_u32.ne p0, v6, 0
    @p0 bra more
    red.global.add.u32 [v4:5], v6       # in the group
    exit
more:
    launch.buffer v2:3, 16              # in the kernel
    st.global.b64 [v2:3], v4:5
    st.global.b32 [v2:3+8], vz
    v_mov_b32 v8, lo(child_d)
    v_mov_b32 v9, hi(child_d)
    launch.group v10, v8:9, v2:3
    exit
.end
