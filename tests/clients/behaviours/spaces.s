# SPDX-License-Identifier: Apache-2.0
# Stores to every state space, and to two adjacent words in consecutive instructions; a scalar register.
.kernel spaces
.param ptr.global out
.shared board 256
.local 64
    v_s2r v3, %tid.x
    s_mov_b32 s1, 7
    v_shl_b32 v5, v3, 2
    v_add_u32 v6, v3, 1000
    st.shared.b32 [board+v5], v6        # to shared memory
    v_mov_b32 v7, 16
    st.local.b32 [v7], v6               # to local memory
    v_mov_b64 v10:11, c[out]
    v_madwide_u32 v10:11, v3, 8, v10:11
    v_add_u32 v8, v3, 1
    st.global.b32 [v10:11], v8          # the first word
    st.global.b32 [v10:11+4], v6        # the second word
    v_mov_b32 v9, 1                     # behind both
    exit
.end
