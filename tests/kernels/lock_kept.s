# SPDX-License-Identifier: Apache-2.0
# A spin lock without a yield. The lane that holds the lock waits for the other lanes before it releases the lock.
.kernel lock_kept
    .param ptr.global lock
    v_mov_b64 v2:3, c[lock]
    v_mov_b32 v6, 1
    bssy b0, done
try:
    atom.global.cas.b32 v0, [v2:3], vz, v6
    v_setp_u32.ne p0, _, v0, 0
    @p0 bra try, b0
done:
    bsync b0
    atom.global.exch.b32 v0, [v2:3], vz
    exit
.end
