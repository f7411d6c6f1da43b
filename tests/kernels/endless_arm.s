# SPDX-License-Identifier: Apache-2.0
# Two lanes count past the end of their loop. On a SIMT stack they are above the two lanes that do not enter the loop, but
# they wait for no other lane.
.kernel endless_arm
    v_s2r v0, %tid.x
    v_setp_u32.lt p0, _, v0, 2
    bssy b0, join
    @p0 bra join, b0
loop:
    v_add_u32 v0, v0, 4
    v_setp_u32.ne p1, _, v0, 1 # always: v0 is 2 or 3 modulo 4
    @p1 bra loop, b0
join:
    bsync b0
    exit
.end
