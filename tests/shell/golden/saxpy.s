# SPDX-License-Identifier: Apache-2.0
# Computes y[i] = a * x[i] + y[i], for i below n.
.kernel saxpy
    .param ptr.global x
    .param ptr.global y
    .param f32 a
    .param u32 n
    v_s2r v0, %ctaid.x
    v_s2r v1, %ntid.x
    v_s2r v2, %tid.x
    v_mad_u32 v0, v0, v1, v2
    v_setp_u32.ge p0, _, v0, c[n]
    @p0 exit
    v_mov_b64 v2:3, c[x]
    v_mov_b64 v4:5, c[y]
    v_madwide_u32 v2:3, v0, 4, v2:3
    v_madwide_u32 v4:5, v0, 4, v4:5
    ld.global.b32 v6, [v2:3]
    ld.global.b32 v7, [v4:5]
    v_mov_b32 v8, c[a]
    v_fma_f32 v7, v6, v8, v7
    st.global.b32 [v4:5], v7
    exit
.end
