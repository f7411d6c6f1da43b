# SPDX-License-Identifier: Apache-2.0
# Computes the length of each number's Collatz sequence, and the maximum, with `exec` instead of
# convergence barriers: the warp remains one split, and finished lanes are masked out.
.kernel collatz
.param ptr.global length
.param ptr.global longest
.param u32 n
    s_s2r s0, %ctaid.x
    s_s2r s1, %ntid.x
    s_mul_u32 s0, s0, s1
    v_s2r v0, %tid.x
    v_add_u32 v0, v0, s0                # i
    v_setp_u32.ge p0, v0, c[n]
    @p0 exit
    v_add_u32 v2, v0, 1                 # x = i + 1 in v2:3
    v_mov_b32 v3, 0
    v_mov_b32 v4, 0                     # steps
    s_mov_b64 s4:5, exec
loop:
    v_setp_u64.ne p1, v2:3, 1
    s_ballot s6:7, p1
    s_and_b64 s6:7, s6:7, exec
    s_or_b32 s8, s6, s7
    s_setp_u32.eq sp0, s8, 0
    @sp0 bra done                       # before the next line, which may set exec to 0: a branch with exec 0 is never taken
    s_mov_b64 exec, s6:7
    v_and_b32 v5, v2, 1
    v_setp_u32.ne p2, v5, 0
    @!p2 v_shr_u64 v2:3, v2:3, 1
    @p2 v_mul_u64 v2:3, v2:3, 3
    @p2 v_add_u64 v2:3, v2:3, 1
    v_add_u32 v4, v4, 1
    bra loop
done:
    s_mov_b64 exec, s4:5
    v_shl_b32 v5, v0, 2
    s_mov_b64 s2:3, c[length]
    st.global.b32 [s2:3+v5], v4
    s_mov_b64 s2:3, c[longest]
    v_mov_b32 v5, 0
    red.global.max.u32 [s2:3+v5], v4
    exit
.end
