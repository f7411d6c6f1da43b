# SPDX-License-Identifier: Apache-2.0
# Two warps meet at a barrier.
.kernel meet
.param ptr.global out
    v_s2r v3, %tid.x
    bar.sync 0
    v_mov_b64 v4:5, c[out]
    v_madwide_u32 v4:5, v3, 4, v4:5
    st.global.b32 [v4:5], v3
    exit
.end
