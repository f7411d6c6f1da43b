# SPDX-License-Identifier: Apache-2.0
# Lanes 5 and higher store far past the end of the buffer.
.kernel wild
    .param ptr.global out
    v_s2r v0, %tid.x
    v_mov_b64 v2:3, c[out]
    v_setp_u32.ge p0, _, v0, 5
    v_mov_b32 v1, 0
    @p0 v_mov_b32 v1, 0x100000
    v_add_u32 v1, v1, v0
    v_madwide_u32 v2:3, v1, 4, v2:3
    st.global.b32 [v2:3], v0
    exit
.end
