# SPDX-License-Identifier: Apache-2.0
# Counts in an endless loop.
.kernel spin
.param ptr.global out
again:
    v_add_u32 v3, v3, 1
    v_mov_b64 v4:5, c[out]
    st.global.b32 [v4:5], v3
    bra again
.end
