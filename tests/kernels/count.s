# SPDX-License-Identifier: Apache-2.0
# All blocks execute integer reductions on a few words, which are atomic operations on the host.
.kernel k
.param ptr.global sums
.param ptr.global most
    v_s2r v0, %ctaid.x
    v_s2r v1, %ntid.x
    v_s2r v2, %tid.x
    v_mad_u32 v0, v0, v1, v2
    v_mov_b64 v4:5, c[sums]
    v_mov_b64 v6:7, c[most]
    v_and_b32 v3, v0, 7
    v_madwide_u32 v4:5, v3, 4, v4:5
    v_madwide_u32 v6:7, v3, 8, v6:7
    v_mul_u32 v8, v0, 0x9e3779b1
    v_mov_b32 v9, 0
    v_mov_b32 v10, 20
again:
    v_mad_u32 v8, v8, 5, v10
    red.global.add.u32 [v4:5], v8
    red.global.max.u64 [v6:7], v8:9
    v_sub_u32 v10, v10, 1
    v_setp_u32.ne p0, v10, 0
    @p0 bra again
    exit
.end
