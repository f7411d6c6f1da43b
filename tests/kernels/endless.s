# SPDX-License-Identifier: Apache-2.0
# A loop whose counter passes its end without meeting it.
.kernel endless
    v_s2r v0, %tid.x
    v_mul_u32 v0, v0, 2
loop:
    v_add_u32 v0, v0, 2
    v_setp_u32.ne p0, _, v0, 99
    @p0 bra loop
    exit
.end
