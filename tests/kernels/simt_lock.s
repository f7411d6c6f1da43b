# SPDX-License-Identifier: Apache-2.0
# A spin lock: one lane takes it and leaves the loop. On a SIMT stack, this lane waits at the loop's end for the other lanes,
# which wait for the lock. With convergence barriers, the other lanes yield, and the lane that holds the lock continues.
.kernel simt_lock
    .param ptr.global lock
    .param ptr.global count
    v_mov_b64 v2:3, c[lock]
    v_mov_b64 v4:5, c[count]
    v_mov_b32 v6, 1
    bssy b0, mine
try:
    atom.global.cas.b32 v0, [v2:3], vz, v6
    v_setp_u32.eq p0, _, v0, 0
    @p0 bra mine, b0
    yield
    bra try
mine:
    bsync.soft b0
    ld.global.b32 v1, [v4:5]
    v_add_u32 v1, v1, 1
    st.global.b32 [v4:5], v1
    atom.global.exch.b32 v0, [v2:3], vz
    exit
.end
