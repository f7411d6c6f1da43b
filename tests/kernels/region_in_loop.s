# SPDX-License-Identifier: Apache-2.0
# Waits for a flag that is never set. The loop contains a divergent region, whose barrier opens in each iteration, although
# the kernel makes no progress.
.kernel region_in_loop
    .param ptr.global flag
    v_mov_b64 v2:3, c[flag]
    v_s2r v0, %tid.x
    v_and_b32 v5, v0, 1
    v_setp_u32.ne p1, _, v5, 0
wait:
    bssy b0, join
    @p1 bra join, b0
    nop
join:
    bsync.soft b0
    ld.global.b32.volatile v1, [v2:3]
    v_setp_u32.eq p0, _, v1, 0
    @p0 bra wait
    exit
.end
