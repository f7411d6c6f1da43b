# SPDX-License-Identifier: Apache-2.0
# y = a * x + y in the style of GCN code: the scalar unit loads parameters and computes the block's
# offset; lanes past the end are masked out in exec instead of branching; in a warp without work a
# scalar branch skips the loads and stores. The comments name the instructions of GCN.
.kernel gcn_saxpy
.param f32 a
.param ptr.global x
.param ptr.global y
.param u32 n
    s_ld.const.b32 s8, c[a]             # s_buffer_load_dword
    s_ld.const.b64 s2:3, c[x]           # s_load_dwordx2
    s_ld.const.b64 s4:5, c[y]
    s_ld.const.b32 s9, c[n]
    s_s2r s0, %ctaid.x
    s_s2r s1, %ntid.x
    s_mul_u32 s0, s0, s1                # s_mul_i32
    v_s2r v0, %tid.x
    v_add_u32 v0, v0, s0                # v_add_i32: i
    v_setp_u32.lt p0, v0, s9            # v_cmp_gt_u32 vcc, s9, v0
    s_ballot s6:7, p0
    s_mov_b64 s10:11, exec              # s_and_saveexec_b64 s[10:11], vcc
    s_and_b64 exec, s6:7, exec
    s_setp_u64.eq sp0, exec, 0
    @sp0 s_bra end                      # s_cbranch_execz
    v_shl_b32 v1, v0, 2                 # v_lshlrev_b32
    ld.global.b32 v2, [s2:3+v1]         # buffer_load_dword, s_waitcnt vmcnt(0)
    ld.global.b32 v3, [s4:5+v1]
    v_mul_f32 v2, v2, s8                # v_mac_f32
    v_add_f32 v3, v3, v2
    st.global.b32 [s4:5+v1], v3         # buffer_store_dword
end:
    s_mov_b64 exec, s10:11              # an exit ends only active lanes
    exit                                # s_endpgm
.end
