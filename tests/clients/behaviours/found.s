# SPDX-License-Identifier: Apache-2.0
# Two errors that checks find: lane 7 stores outside of the buffer, and warp 1 reads what warp 0 has written to shared memory,
# without a barrier in between.
.kernel found
.param ptr.global out
.shared board 128
    v_s2r v3, %tid.x
    v_s2r v8, %laneid
    v_mov_b64 v4:5, c[out]
    v_madwide_u32 v4:5, v3, 4, v4:5
    v_setp_u32.eq p0, v3, 7
    v_setp_u32.lt p1, v3, 32
    v_shl_b32 v7, v8, 2
    @p1 st.shared.b32 [board+v7], v3    # warp 0 writes
    @p0 v_add_u32 v5, v5, 1
    st.global.b32 [v4:5], v3            # behind the buffer
    v_mov_b32 v9, 1                     # on from there
    @!p1 ld.shared.b32 v6, [board+v7]   # warp 1 reads
    v_add_u32 v6, v6, v9                # after the race
    exit
.end
