# SPDX-License-Identifier: Apache-2.0
# Even lanes count to their lane number in a loop. Odd lanes take the shorter side. All lanes reconverge.
.kernel diverge
    .param ptr.global out
    v_s2r v0, %tid.x
    v_mov_b32 v1, 0
    v_and_b32 v2, v0, 1
    v_setp_u32.eq p0, _, v2, 1
    bssy b0, join
    @p0 bra odd
even:
    v_add_u32 v1, v1, 1
    v_setp_u32.lt p1, _, v1, v0
    @p1 bra even
    bra join
odd:
    v_mov_b32 v1, 100
    v_add_u32 v1, v1, v0
join:
    bsync b0
    v_mov_b64 v4:5, c[out]
    v_madwide_u32 v4:5, v0, 4, v4:5
    st.global.b32 [v4:5], v1
    exit
.end
