# SPDX-License-Identifier: Apache-2.0
# The loop ends only if the counter is 99, but the counter is always even.
.kernel endless
    v_s2r v0, %tid.x
    v_mul_u32 v0, v0, 2
loop:
    v_add_u32 v0, v0, 2
    v_setp_u32.ne p0, _, v0, 99
    @p0 bra loop
    exit
.end
