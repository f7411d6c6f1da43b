# SPDX-License-Identifier: Apache-2.0
# Stores of all sizes to all spaces, for tests of watchpoints in warps of 8 lanes. v0 is tid, and v4:5 is the address of the
# words of the block in out.
.kernel watch
    .param ptr.global out
    .shared 256
    .local 64
    v_s2r v0, %tid.x
    v_mov_b64 v4:5, c[out]
    v_madwide_u32 v6:7, v0, 16, v4:5
    v_mov_b32 v8, 1
    v_mov_b32 v9, 2
    v_mov_b32 v10, 3
    v_mov_b32 v11, 4
    st.global.v4.b32 [v6:7], v8:11
    st.global.u8 [v6:7+5], v11
    st.global.u16 [v6:7+10], v10
    st.global.b32 [v6:7], v8
    v_shl_b32 v2, v0, 2
    st.shared.b32 [v2], v0
    bar.sync 0
    ld.shared.b32 v3, [v2]
    v_add_u32 v3, v3, 5
    st.shared.b32 [v2], v3
    st.local.b32 [vz+8], v0
    st.local.b64 [vz+8], v2:3
    ld.local.b32 v12, [vz+12]
    v_mov_b32 v13, 1
    red.global.add.u32 [v4:5+256], v13
    v_setp_u32.lt p0, _, v0, 3
    v_mov_b32 v14, 0
    bssy b0, join
    @p0 bra low
    v_add_u32 v14, v14, 7
    bra join
low:
    v_add_u32 v14, v14, 9
join:
    bsync b0
    s_mov_b32 s2, 77
    s_add_u32 s2, s2, 1
    exit
.end
