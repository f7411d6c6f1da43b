# SPDX-License-Identifier: Apache-2.0
# From block 3 on, four lanes exit before a barrier that expects them. Blocks do not communicate, so the lowest block that
# hangs is reported, whichever blocks run at the same time.
.kernel late_block
    .param ptr.global done
    v_mov_b32 v1, 32
    v_s2r v0, %tid.x
    v_s2r v2, %ctaid.x
    v_setp_u32.ge p0, _, v2, 3
    v_setp_u32.lt p1, _, v0, 4
    v_plop3 p0, _, p0, p1, pt, 0x80
    @p0 exit
    bar.sync 1, v1
    v_mov_b64 v4:5, c[done]
    v_madwide_u32 v4:5, v2, 4, v4:5
    v_mov_b32 v3, 1
    st.global.b32 [v4:5], v3
    exit
.end
