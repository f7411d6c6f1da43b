# SPDX-License-Identifier: Apache-2.0
# Lane 3 leaves the inner region without a bbreak. The other lanes wait for it at the inner barrier, and lane 3 waits for them
# at the outer barrier.
.kernel broken_region
    v_s2r v0, %tid.x
    v_setp_u32.eq p0, _, v0, 3
    v_and_b32 v1, v0, 1
    v_setp_u32.ne p1, _, v1, 0
    v_mov_b32 v2, 0
    bssy b0, out
again:
    bssy b1, in
    @p0 bra out, b0
    @p1 bra in, b1
    nop
in:
    bsync.soft b1
    v_add_u32 v2, v2, 1
    v_setp_u32.lt p2, _, v2, 2
    @p2 bra again, b0
out:
    bsync.soft b0
    exit
.end
