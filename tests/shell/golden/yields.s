# SPDX-License-Identifier: Apache-2.0
# Odd lanes wait in a loop with yield until lane 0 sets a flag, after it has slept.
.kernel yields
    .param ptr.global out
    v_s2r v0, %tid.x
    v_mov_b64 v2:3, c[out]
    v_setp_u32.eq p0, _, v0, 0
    bssy b0, join
    @p0 bra set
wait:
    yield
    ld.global.b32.volatile v4, [v2:3]
    v_setp_u32.eq p1, _, v4, 0
    @p1 bra wait
    bra join
set:
    nanosleep 20
    v_mov_b32 v4, 7
    st.global.b32 [v2:3], v4
join:
    bsync.soft b0
    exit
.end
