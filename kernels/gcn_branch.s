# SPDX-License-Identifier: Apache-2.0
# r = a > b ? a * a - b : b * b - a as GCN microcode. Each side runs under an exec mask in a
# scalar pair; a scalar branch skips a side that no lane takes. An outer mask excludes the lanes
# past the end of the array.
.kernel gcn_branch
.param ptr.global a
.param ptr.global b
.param ptr.global r
.param u32 n
    s_ld.const.b64 s2:3, c[a]
    s_ld.const.b64 s4:5, c[b]
    s_ld.const.b64 s6:7, c[r]
    s_ld.const.b32 s8, c[n]
    s_s2r s0, %ctaid.x
    s_s2r s1, %ntid.x
    s_mul_u32 s0, s0, s1
    v_s2r v3, %tid.x
    v_add_u32 v3, v3, s0                # i
    s_mov_b64 s10:11, exec              # all lanes
    v_setp_u32.lt p0, v3, s8
    s_ballot exec, p0                   # the lanes with an element
    v_shl_b32 v3, v3, 2
    ld.global.b32 v0, [s2:3+v3]         # a
    ld.global.b32 v1, [s4:5+v3]         # b

    v_setp_f32.gt p0, v0, v1            # v_cmp_gt_f32 r0, r1
    s_ballot s16:17, p0                 # vcc: 0 in lanes that are not in exec
    s_mov_b64 s12:13, exec              # s_mov_b64 s0, exec
    s_and_b64 exec, s16:17, exec        # s_and_b64 exec, vcc, exec
    s_setp_u64.eq sp0, s16:17, 0
    @sp0 s_bra label0                   # s_cbranch_vccz label0
    v_mul_f32 v2, v0, v0                # v_mul_f32 r2, r0, r0
    v_sub_f32 v2, v2, v1                # v_sub_f32 r2, r2, r1
label0:
    s_not_b64 exec, exec                # s_not_b64 exec, exec
    s_and_b64 exec, s12:13, exec        # s_and_b64 exec, s0, exec
    s_setp_u64.eq sp0, exec, 0
    @sp0 s_bra label1                   # s_cbranch_execz label1
    v_mul_f32 v2, v1, v1                # v_mul_f32 r2, r1, r1
    v_sub_f32 v2, v2, v0                # v_sub_f32 r2, r2, r0
label1:
    s_mov_b64 exec, s12:13              # s_mov_b64 exec, s0

    st.global.b32 [s6:7+v3], v2
    s_mov_b64 exec, s10:11
    exit
.end
