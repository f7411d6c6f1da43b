# SPDX-License-Identifier: Apache-2.0
// every kind of operand
@p0 v_add_u32 v1, v2, -5 {st=4,y,wr=0,rd=1,wt=0x3f,ru=7}
@!sp1 s_add_u64 s2:3, exec, sz
v_fma_f32.rz.ftz.sat v1, -|v2|, c[3][0x10], v4
v_fma_f32.alt v1, v2, v3, v4
v_fma_f64 v2:3, v4:5, v6:7, 1.5
v_mad_u32 v1, ~v2, s3, v4
v_add_f32 v1, v2, 0f7fc00000
v_cvt.f32.s32.rz v1, v2
v_cvt.u64.f64.rzi.sat v2:3, v4:5
v_lop3_b32 v1, v2, v3, v4, 0x96
v_prmt_b32.f4e v1, v2, 0x5410, v3
v_setp_f32.ltu.and.ftz p0, p1, v2, 1.0, !p3
v_plop3 p0, p1, p2, !p3, p4, 0x1e
v_p2r v1
v_r2p v1
v_s2r_b64 v2:3, %clock64
v_mov_take_b v2:3, b4
v_mov_give_b b4, v2:3
ld.global.v4.b32.acquire.cta.cg v4:7, [s2:3+v5.s-16]
ld.const.u8 v1, c[2][v3+7]
st.local.b32 [v9+4], v8
atom.global.cas.b64.acq_rel.sys v2:3, [v4:5+8], v6:7, v8:9
red.shared.max.s32 [16], v2
shfl.up v1, p2, v3, 1, 0/31, v7
shfl.idx v1, v3, v4, s5
vote.ballot v2:3, !p1, _
v_readfirstlane_b32 s1, v2
l: bra l
brx v2:3, b5
bssy b1, l
bsync.soft b1
warpsync 0xff
bar.sync 3, v2
bar.arrive v1
fence.sys
nanosleep c[0][4]
trap 5
s_setp_s32.ge sp2, s1, 7
s_ballot exec, p1
