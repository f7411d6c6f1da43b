# SPDX-License-Identifier: Apache-2.0
# The recursive function sum(n) = n + sum(n - 1), with the frames of the ABI. The return address is in v0:1, the stack
# pointer in v2, and argument and result in v3.
.kernel calls
    .param ptr.global out
    .local 1024
    v_mov_b32 v2, 1024
    v_s2r v3, %tid.x
    call v0:1, sum
    v_mov_b64 v4:5, c[out]
    v_s2r v6, %tid.x
    v_madwide_u32 v4:5, v6, 4, v4:5
    st.global.b32 [v4:5], v3
    exit
.end
.func sum
    v_setp_u32.eq p0, _, v3, 0
    @p0 bra leaf
    v_sub_u32 v2, v2, 16
    st.local.b64 [v2+8], v0:1
    st.local.b32 [v2], v3
    v_sub_u32 v3, v3, 1
    call v0:1, sum
    ld.local.b32 v4, [v2]
    v_add_u32 v3, v3, v4
    ld.local.b64 v0:1, [v2+8]
    v_add_u32 v2, v2, 16
leaf:
    ret v0:1
.end
