# SPDX-License-Identifier: Apache-2.0
# Each thread allocates a list of (thread & 3) + 1 objects, each with a pointer to the previous one, and computes a number from
# the values. Threads with an odd number free their list.
.kernel k
.param ptr.global out
    v_s2r v0, %ctaid.x
    v_s2r v1, %ntid.x
    v_s2r v2, %tid.x
    v_mad_u32 v0, v0, v1, v2
    v_and_b32 v3, v0, 3
    v_mov_b64 v10:11, 0
    bssy b0, made
more:
    malloc v12:13, 24
    st.global.b64 [v12:13], v10:11      # next
    st.global.b32 [v12:13+8], v3
    v_mov_b64 v10:11, v12:13
    v_setp_u32.eq p0, v3, 0
    v_sub_u32 v3, v3, 1
    @!p0 bra more, b0
made:
    bsync b0
    v_mov_b32 v4, 0
    v_and_b32 v5, v0, 1
    v_setp_u32.ne p1, v5, 0
    bssy b0, done
walk:
    v_setp_u64.eq p0, v10:11, 0
    @p0 bra done, b0
    ld.global.b32 v6, [v10:11+8]
    v_mad_u32 v4, v4, 10, v6
    ld.global.b64 v12:13, [v10:11]
    @p1 free v10:11
    v_mov_b64 v10:11, v12:13
    bra walk
done:
    bsync b0
    v_mov_b64 v8:9, c[out]
    v_madwide_u32 v8:9, v0, 4, v8:9
    st.global.b32 [v8:9], v4
    exit
.end
