# SPDX-License-Identifier: Apache-2.0
# Lane 0 sets a flag for which the other lanes wait. On a SIMT stack, the kernel hangs if the waiting side of the branch runs
# first.
.kernel simt_flag
    .param ptr.global flag
    v_mov_b64 v2:3, c[flag]
    v_s2r v0, %tid.x
    v_setp_u32.eq p0, _, v0, 0
    bssy b0, join
    @p0 bra set, b0
wait:
    ld.global.b32.volatile v1, [v2:3]
    v_setp_u32.eq p1, _, v1, 0
    @p1 bra wait, b0
    bra join
set:
    v_mov_b32 v1, 1
    st.global.b32 [v2:3], v1
join:
    bsync.soft b0
    exit
.end
