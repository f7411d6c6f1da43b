# SPDX-License-Identifier: Apache-2.0
# Sums of floats depend on the order of their terms.
.kernel k
.param ptr.global sum
    v_s2r v0, %ctaid.x
    v_s2r v1, %ntid.x
    v_s2r v2, %tid.x
    v_mad_u32 v0, v0, v1, v2
    v_add_u32 v0, v0, 1
    v_cvt.f32.u32 v3, v0
    v_rcp_f32 v3, v3
    v_mov_b64 v4:5, c[sum]
    red.global.add.f32 [v4:5], v3
    exit
.end
