# SPDX-License-Identifier: Apache-2.0
# The lanes of warp 1 wait for a word of shared memory. Warp 0 writes it too early, because each lane of warp 1 clears it
# before it waits.
.kernel shared_flag
    .shared word 4
    v_s2r v0, %tid.x
    v_mov_b32 v1, 1
    v_mov_b32 v2, 0
    v_setp_u32.ge p0, _, v0, 8
    @p0 bra second
    st.shared.b32 [v2], v1
    exit
second:
    st.shared.b32 [v2], vz
wait:
    ld.shared.b32.volatile v3, [v2]
    v_setp_u32.eq p0, _, v3, 0
    @p0 bra wait
    exit
.end
