# SPDX-License-Identifier: Apache-2.0
# out[i] = min(in[i], limit), one thread for each element
.kernel clamp
.param ptr.global in
.param ptr.global out
.param u32 limit
.param u32 n
    v_s2r         v0, %ctaid.x
    v_s2r         v1, %ntid.x
    v_s2r         v2, %tid.x
    v_mad_u32     v0, v0, v1, v2        # i
    v_setp_u32.ge p0, v0, c[n]
    @p0 exit                            # lanes past the last element
    v_mulwide_u32 v4:5, v0, 4           # 4 * i, in 64 bits
    v_add_u64     v6:7, v4:5, c[in]
    v_add_u64     v4:5, v4:5, c[out]
    ld.global.b32 v1, [v6:7]
    v_min_u32     v1, v1, c[limit]
    st.global.b32 [v4:5], v1
    exit
.end
