# SPDX-License-Identifier: Apache-2.0
# The kernel of the gdb sessions: a divergent loop and a call. Line numbers matter here.
.kernel walk
.param ptr.global out
.param u32 n
    v_s2r v3, %ctaid.x
    v_s2r v4, %ntid.x
    v_s2r v5, %tid.x
    v_mad_u32 v3, v3, v4, v5
    v_setp_u32.ge p0, v3, c[n]
    @p0 exit
    v_mov_b32 v6, 0
    v_and_b32 v7, v5, 3
    bssy b0, joined
loop:
    v_setp_u32.eq p1, v7, 0
    @p1 bra joined
    v_add_u32 v6, v6, v7
    v_sub_u32 v7, v7, 1
    bra loop
joined:
    bsync b0
    call v0:1, square
    v_mov_b64 v8:9, c[out]
    v_madwide_u32 v8:9, v3, 4, v8:9
    st.global.b32 [v8:9], v4
    exit
.end

.func square
    v_mul_u32 v4, v6, v6
    v_add_u32 v4, v4, v5
    ret v0:1
.end
