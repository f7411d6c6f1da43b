# SPDX-License-Identifier: Apache-2.0
# Functions for tests of native code that use the cache. Read this file after cli_lib.sh.
unset LANEWISE_CACHE
export HOME=$work/home XDG_CACHE_HOME=$work/cache
mkdir cache home
# usage: loops ROUNDS. Prints code that computes v1 from the thread's number v0, in ROUNDS rounds. The code has divergent loops, so that
# it has masked code, too.
loops() {
    cat <<END
    s_s2r s0, %ctaid.x
    s_s2r s1, %ntid.x
    s_mul_u32 s0, s0, s1
    v_s2r v0, %tid.x
    v_add_u32 v0, v0, s0
    v_mov_b32 v1, v0
    v_mov_b32 v4, 0
again:
    v_rem_u32 v3, v0, 7
    bssy b0, done
loop:
    v_setp_u32.eq p0, v3, 0
    @p0 bra done, b0
    v_mad_u32 v1, v1, 5, v0
    v_sub_u32 v3, v3, 1
    bra loop
done:
    bsync b0
    v_mov_b32 v6, 0
turn:
    v_mad_u32 v1, v1, 3, v6
    v_add_u32 v6, v6, 1
    v_setp_u32.lt p2, v6, 25
    @p2 bra turn
    v_add_u32 v4, v4, 1
    v_setp_u32.lt p1, v4, $1
    @p1 bra again
END
}
# usage: work_kernel. Prints kernel `work`, whose parameter n is the number of rounds
work_kernel() {
    printf '.kernel work\n.param ptr.global out\n.param u32 n\n'
    loops 'c[n]'
    cat <<'END'
    v_and_b32 v5, v0, 4095
    v_shl_b32 v5, v5, 2
    s_mov_b64 s2:3, c[out]
    red.global.add.u32 [s2:3+v5], v1
    exit
.end
END
}
. "$src/tests/native/compare_lib.sh"
