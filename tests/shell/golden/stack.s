# SPDX-License-Identifier: Apache-2.0
# At the first branch lane 3 takes another side than the other lanes, of which lane 0 diverges at the second branch.
.kernel stack
    .param ptr.global out
    v_s2r v0, %tid.x
    v_mov_b32 v1, 0
    v_setp_u32.eq p0, _, v0, 3
    v_setp_u32.ne p1, _, v0, 0
    bssy b0, g
    @p0 bra f, b0
    bssy b1, e
    @p1 bra d, b1
    v_mov_b32 v1, 10
    bra e
d:
    v_mov_b32 v1, 20
e:
    bsync b1
    v_add_u32 v1, v1, v0
    bra g
f:
    v_mov_b32 v1, 30
g:
    bsync b0
    v_mov_b64 v4:5, c[out]
    v_madwide_u32 v4:5, v0, 4, v4:5
    st.global.b32 [v4:5], v1
    exit
.end
