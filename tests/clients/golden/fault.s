# SPDX-License-Identifier: Apache-2.0
# Lane 7 stores far outside its buffer.
.kernel wild
.param ptr.global out
    v_s2r v3, %tid.x
    v_mov_b64 v4:5, c[out]
    v_madwide_u32 v4:5, v3, 4, v4:5
    v_setp_u32.eq p0, v3, 7
    @p0 v_add_u32 v5, v5, 1
    st.global.b32 [v4:5], v3
    exit
.end
