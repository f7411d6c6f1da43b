# SPDX-License-Identifier: Apache-2.0
# Each block prints, executes a loop whose length depends on the block, and prints again.
.const begins 32 = str "block %d begins\n"
.const ends 32 = str "block %d ends, %d\n"
.kernel k
.local 32
    v_s2r v0, %ctaid.x
    v_s2r v1, %tid.x
    v_mov_b32 v2, 16
    v_mov_b32 v3, 0x200
    st.local.b32 [v2], v0
    st.local.b32 [v2+4], v1
    v_mov_b32 v4, lo(begins)
    v_mov_b32 v5, hi(begins)
    v_mov_b32 v6, lo(ends)
    v_mov_b32 v7, hi(ends)
    v_setp_u32.eq p0, v1, 0
    @p0 vprintf v8, v4:5, v2:3
    bar.sync 0
    v_and_b32 v9, v0, 7
    v_mul_u32 v10, v9, 3000
    v_add_u32 v10, v10, 1
delay:
    v_sub_u32 v10, v10, 1
    v_setp_u32.ne p2, v10, 0
    @p2 bra delay
    vprintf v8, v6:7, v2:3
    exit
.end
