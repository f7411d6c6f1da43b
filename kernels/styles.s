# SPDX-License-Identifier: Apache-2.0
# Both styles of control flow in one kernel: a selection by exec masks, as on GCN; then a loop of
# varying length and a branch with convergence barriers, as on Volta; then masks again.
# Between the parts the warp is one split, and exec has all lanes.
.kernel styles
.param ptr.global out
.param u32 n
    s_s2r s0, %ctaid.x
    s_s2r s1, %ntid.x
    s_mul_u32 s0, s0, s1
    v_s2r v0, %tid.x
    v_add_u32 v0, v0, s0                # i
    s_ld.const.b32 s8, c[n]
    v_setp_u32.ge p0, v0, s8
    @p0 exit                            # a guarded exit needs no change of exec

    # x = i odd ? 3 i + 1 : i / 2
    v_and_b32 v1, v0, 1
    v_setp_u32.ne p0, v1, 0
    s_ballot s6:7, p0
    s_mov_b64 s4:5, exec
    s_and_b64 exec, s6:7, exec
    v_mad_u32 v2, v0, 2, v0
    v_add_u32 v2, v2, 1
    s_andn2_b64 exec, s4:5, s6:7
    v_shr_u32 v2, v0, 1
    s_mov_b64 exec, s4:5

    # i mod 7 times: x = x % 3 == 0 ? x + 5 : x * 5 + i, lane by lane
    v_rem_u32 v3, v0, 7
    bssy b0, done
loop:
    v_setp_u32.eq p0, v3, 0
    @p0 bra done, b0
    v_rem_u32 v1, v2, 3
    v_setp_u32.eq p1, v1, 0
    bssy b1, join
    @p1 bra third, b1
    v_mad_u32 v2, v2, 5, v0
    bra join
third:
    v_add_u32 v2, v2, 5
join:
    bsync b1
    v_sub_u32 v3, v3, 1
    bra loop
done:
    bsync b0

    # all lanes execute together again, so scalar instructions may write exec: sets bit 31 of x in lanes with x < 1000
    v_setp_u32.lt p0, v2, 1000
    s_ballot s6:7, p0
    s_popc_b64 s9, s6:7
    s_setp_u32.eq sp0, s9, 0
    @sp0 s_bra store
    s_and_b64 exec, s6:7, exec
    v_xor_b32 v2, v2, 0x80000000
    s_mov_b64 exec, s4:5
store:
    v_shl_b32 v1, v0, 2
    s_ld.const.b64 s2:3, c[out]
    st.global.b32 [s2:3+v1], v2
    exit
.end
