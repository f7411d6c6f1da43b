# SPDX-License-Identifier: Apache-2.0
# Each half of a warp reaches the block's barrier on another path. On a SIMT stack, the half that runs first waits at the
# barrier, above the other half.
.kernel simt_barrier
    v_s2r v0, %tid.x
    v_setp_u32.lt p0, _, v0, 4
    bssy b0, join
    @p0 bra low, b0
    bar.sync 0
    bra join
low:
    bar.sync 0
join:
    bsync.soft b0
    exit
.end
