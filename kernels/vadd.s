# SPDX-License-Identifier: Apache-2.0
# c = a + b in assembly: the scalar unit computes the block's addresses, one vector register the lanes' offsets.
.kernel vadd
.param ptr.global a
.param ptr.global b
.param ptr.global c
.param u32 n
    s_s2r s0, %ctaid.x
    s_s2r s1, %ntid.x
    s_mul_u32 s0, s0, s1
    v_s2r v0, %tid.x
    v_add_u32 v0, v0, s0                # i
    v_setp_u32.ge p0, v0, c[n]
    @p0 exit
    v_shl_b32 v1, v0, 2
    s_mov_b64 s2:3, c[a]
    ld.global.b32 v2, [s2:3+v1]
    s_mov_b64 s4:5, c[b]
    ld.global.b32 v3, [s4:5+v1]
    v_add_f32 v2, v2, v3
    s_mov_b64 s6:7, c[c]
    st.global.b32 [s6:7+v1], v2
    exit
.end
