# SPDX-License-Identifier: Apache-2.0
# Breadth-first search with launches by the device: one thread launches a grid for each level and
# waits for it. In this grid, a vertex with at least 4 edges launches thread blocks for them.
.const sweep_d 40 8 = addr sweep, u32 16, 1, 1, 128, 1, 1, 0, 0
.const expand_d 40 8 = addr expand, u32 1, 1, 1, 4, 1, 1, 0, 0

.kernel bfs
.param ptr.global row
.param ptr.global column
.param ptr.global level
.param ptr.global changed
.param u32 n
    v_mov_b32 v0, 0                     # the level whose vertices the next launch processes
    v_mov_b64 v2:3, c[changed]
    v_mov_b32 v4, lo(sweep_d)
    v_mov_b32 v5, hi(sweep_d)
next:
    st.global.b32 [v2:3], vz
    launch.buffer v6:7, 40              # parameters of sweep
    v_mov_b64 v8:9, c[row]
    st.global.b64 [v6:7], v8:9
    v_mov_b64 v8:9, c[column]
    st.global.b64 [v6:7+8], v8:9
    v_mov_b64 v8:9, c[level]
    st.global.b64 [v6:7+16], v8:9
    st.global.b64 [v6:7+24], v2:3
    v_mov_b32 v8, c[n]
    st.global.b32 [v6:7+32], v8
    st.global.b32 [v6:7+36], v0
    launch.kernel v8, v4:5, v6:7, vz
    launch.sync                         # waits for the grid of sweep and the groups that it has launched
    v_add_u32 v0, v0, 1
    ld.global.b32 v8, [v2:3]
    v_setp_u32.ne p0, v8, 0
    @p0 bra next
    exit
.end

.kernel sweep
.param ptr.global row
.param ptr.global column
.param ptr.global level
.param ptr.global changed
.param u32 n
.param u32 current
    v_s2r v0, %ctaid.x
    v_s2r v1, %ntid.x
    v_s2r v2, %tid.x
    v_mad_u32 v0, v0, v1, v2            # a vertex
    v_setp_u32.ge p0, v0, c[n]
    @p0 exit
    v_mov_b64 v4:5, c[level]
    v_madwide_u32 v6:7, v0, 4, v4:5
    ld.global.b32 v8, [v6:7]
    v_setp_u32.ne p0, v8, c[current]
    @p0 exit
    v_mov_b64 v6:7, c[row]
    v_madwide_u32 v6:7, v0, 4, v6:7
    ld.global.b32 v9, [v6:7]            # the vertex's edges are v9 to v10 - 1
    ld.global.b32 v10, [v6:7+4]
    v_sub_u32 v11, v10, v9
    v_setp_u32.ge p0, v11, 4
    @p0 bra many
    v_add_u32 v12, v8, 1
edge:
    v_setp_u32.ge p1, v9, v10
    @p1 exit
    v_mov_b64 v14:15, c[column]
    v_madwide_u32 v14:15, v9, 4, v14:15
    ld.global.b32 v16, [v14:15]
    v_madwide_u32 v14:15, v16, 4, v4:5
    ld.global.b32 v16, [v14:15]
    v_setp_s32.lt p2, v16, 0            # the neighbour was not seen before
    @p2 st.global.b32 [v14:15], v12
    v_mov_b64 v14:15, c[changed]
    @p2 st.global.b32 [v14:15], v12
    v_add_u32 v9, v9, 1
    bra edge
many:
    launch.buffer v20:21, 36            # parameters of expand
    v_mov_b64 v22:23, c[column]
    st.global.b64 [v20:21], v22:23
    st.global.b64 [v20:21+8], v4:5
    v_mov_b64 v22:23, c[changed]
    st.global.b64 [v20:21+16], v22:23
    st.global.b32 [v20:21+24], v9
    st.global.b32 [v20:21+28], v10
    st.global.b32 [v20:21+32], v8
    v_mov_b32 v24, lo(expand_d)
    v_mov_b32 v25, hi(expand_d)
    launch.group v26, v24:25, v20:21
    exit
.end

# One block of four threads; each thread processes every fourth edge.
.kernel expand
.param ptr.global column
.param ptr.global level
.param ptr.global changed
.param u32 first
.param u32 last
.param u32 current
    v_s2r v0, %tid.x
    v_add_u32 v0, v0, c[first]
    v_mov_b32 v12, c[current]
    v_add_u32 v12, v12, 1
again:
    v_setp_u32.ge p0, v0, c[last]
    @p0 exit
    v_mov_b64 v2:3, c[column]
    v_madwide_u32 v2:3, v0, 4, v2:3
    ld.global.b32 v4, [v2:3]
    v_mov_b64 v2:3, c[level]
    v_madwide_u32 v2:3, v4, 4, v2:3
    ld.global.b32 v4, [v2:3]
    v_setp_s32.lt p1, v4, 0
    @p1 st.global.b32 [v2:3], v12
    v_mov_b64 v2:3, c[changed]
    @p1 st.global.b32 [v2:3], v12
    v_add_u32 v0, v0, 4
    bra again
.end
