# SPDX-License-Identifier: Apache-2.0
# Blocks 7 and 9 to 63 store outside of the buffer. Block 7 takes longest to reach the store. All blocks print.
.const hello 16 = str "block %d\n"
.const late 32 = str "block %d is late\n"
.kernel k
.param ptr.global out
.local 32
    v_s2r v0, %ctaid.x
    v_s2r v1, %tid.x
    v_mov_b32 v2, 16
    v_mov_b32 v3, 0x200
    st.local.b32 [v2], v0
    v_mov_b32 v4, lo(hello)
    v_mov_b32 v5, hi(hello)
    v_mov_b32 v6, lo(late)
    v_mov_b32 v7, hi(late)
    v_setp_u32.eq p0, v1, 3
    @p0 vprintf v8, v4:5, v2:3
    v_mov_b32 v10, 1
    v_setp_u32.eq p1, v0, 7
    @p1 v_mov_b32 v10, 200000
delay:
    v_sub_u32 v10, v10, 1
    v_setp_u32.ne p2, v10, 0
    @p2 bra delay
    @p0 vprintf v8, v6:7, v2:3
    v_mov_b64 v12:13, c[out]
    v_madwide_u32 v12:13, v0, 256, v12:13
    v_madwide_u32 v12:13, v1, 4, v12:13
    v_setp_u32.eq p1, v0, 7
    v_setp_u32.or.gt p1, v0, 8, p1
    v_setp_u32.and.gt p1, v1, 60, p1
    @p1 v_mov_b32 v13, 0x7000
    st.global.b32 [v12:13], v1
    exit
.end
