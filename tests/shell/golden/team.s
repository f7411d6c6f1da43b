# SPDX-License-Identifier: Apache-2.0
# Each thread stores its number times 10 plus 1 in shared memory, and after the barrier loads the word of thread ntid - 1 - tid.
.kernel team
    .param ptr.global out
    .shared 1024
    v_s2r v0, %tid.x
    v_s2r v1, %ntid.x
    v_shl_b32 v2, v0, 2
    v_mul_u32 v3, v0, 10
    v_add_u32 v3, v3, 1
    st.shared.b32 [v2], v3
    bar.sync 0
    v_sub_u32 v4, v1, v0
    v_sub_u32 v4, v4, 1
    v_shl_b32 v4, v4, 2
    ld.shared.b32 v5, [v4]
    v_s2r v6, %ctaid.x
    v_mad_u32 v6, v6, v1, v0
    v_mov_b64 v8:9, c[out]
    v_madwide_u32 v8:9, v6, 4, v8:9
    st.global.b32 [v8:9], v5
    exit
.end
