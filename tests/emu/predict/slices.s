# SPDX-License-Identifier: Apache-2.0
# Input of `lanewise dis --slices`: addresses from each kind of value that a slice can contain, and sites that are rejected.
.global table 4096 16
.kernel rows
.param ptr.global in
.param ptr.global out
.param u32 pitch
.param u32 n
.param u16 shift
    v_s2r v0, %ctaid.x
    v_s2r v1, %tid.x
    v_s2r v10, %tid.y
    v_mad_u32 v2, v0, 16, v1
    v_mad_u32 v3, v10, c[pitch], v2
    v_mov_b64 v4:5, c[in]
    v_mov_b64 v6:7, c[out]
    v_lea_s32 v8:9, v3, 2, v4:5
    ld.global.b32 v11, [v8:9]
    ld.global.b32 v12, [v8:9-4]
    # an address with a loaded index
    v_lea_u32 v12:13, v11, 2, v4:5
    ld.global.b32 v14, [v12:13]
    # an address with a selection, a conversion and a parameter of 16 bits
    ld.const.u16 v15, c[0][shift]
    v_setp_u32.lt p0, v1, v15
    v_selp_b32 v16, v1, v15, p0
    v_cvt.s64.s32 v18:19, v16
    v_add_u64 v20:21, v18:19, v6:7
    st.global.u8 [v20:21], v14
    # the address of a variable of the object
    v_mov_b32 v22, lo(table)
    v_mov_b32 v23, hi(table+8)
    v_mov_b32 v22, lo(table+8)
    ld.global.b32 v14, [v22:23]
    # addresses from the counters of nested loops
    v_mov_b32 v30, 0
outer:
    v_mad_u32 v31, v30, 64, v1
    v_mov_b32 v32, v30
inner:
    v_lea_u32 v34:35, v31, 2, v6:7
    st.global.b32 [v34:35], v14
    v_add_u32 v31, v31, 8
    v_add_u32 v32, v32, 1
    v_setp_s32.lt p1, v32, c[n]
    @p1 bra inner
    v_add_u32 v30, v30, 1
    v_setp_u32.ge p2, v30, 5
    @!p2 bra outer
    # after the loops, an address from the last value of a counter
    v_lea_u32 v34:35, v31, 2, v6:7
    @p0 st.global.b32 [v34:35], v14
    # an address from a float, and the sum of two pointers
    v_cvt.rn.f32.u32 v36, v1
    v_lea_u32 v34:35, v36, 2, v6:7
    st.global.b32 [v34:35], v14
    v_add_u64 v34:35, v4:5, v6:7
    st.global.b32 [v34:35], v14
    exit
.end
.kernel masked
.param ptr.global out
    v_mov_b64 v4:5, c[out]
    s_mov_b64 exec, 3
    st.global.b32 [v4:5], vz
    exit
.end
