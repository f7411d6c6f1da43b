# SPDX-License-Identifier: Apache-2.0
# Each half of a warp comes to the block's barrier on its own way. On a SIMT stack the first
# half waits there, on top of the other.
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
