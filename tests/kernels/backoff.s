# SPDX-License-Identifier: Apache-2.0
# Threads try to take a lock that is never released. They wait longer after each try, and sleep at each 16th try.
.kernel backoff
.param ptr.global lock
    v_mov_b64 v4:5, c[lock]
    v_mov_b32 v2, 1
    v_mov_b32 v6, 1
again:
    v_add_u32 v3, v3, 1
    v_and_b32 v7, v3, 15
    v_setp_u32.ne p1, _, v7, 0
    bssy b1, over
    @p1 bra over, b1
    nanosleep 20
over:
    bsync b1
    v_mov_b32 v0, 0
wait:
    v_add_u32 v0, v0, 1
    v_setp_u32.lt p0, _, v0, v2
    @p0 bra wait
    v_shl_b32 v2, v2, 1
    v_min_u32 v2, v2, 64
    atom.global.cas.b32 v1, [v4:5], v6, v2
    v_setp_u32.ne p0, _, v1, 1
    @p0 bra again
    st.global.b32 [v4:5], v3
    exit
.end
