# SPDX-License-Identifier: Apache-2.0
# Lane 0 sets a flag for which lanes 2 and 3 wait. On a dual-path stack, lane 0 is on the other path of their level, but has
# waited below them since lane 1 diverged from them.
.kernel simt_paths
    .param ptr.global flag
    v_mov_b64 v2:3, c[flag]
    v_s2r v0, %tid.x
    v_setp_u32.eq p0, _, v0, 0
    v_setp_u32.eq p2, _, v0, 1
    bssy b0, join
    @p0 bra set, b0
    bssy b1, inner
    @p2 bra inner, b1
wait:
    ld.global.b32.volatile v1, [v2:3]
    v_setp_u32.eq p1, _, v1, 0
    @p1 bra wait, b1
inner:
    bsync.soft b1
    bra join
set:
    v_mov_b32 v1, 1
    v_mov_b32 v4, 1
    v_mov_b32 v5, 1
    v_mov_b32 v6, 1
    st.global.b32 [v2:3], v1
join:
    bsync.soft b0
    exit
.end
