# SPDX-License-Identifier: Apache-2.0
# An assertion fails in block 5, and in each block from block 20 on.
.const message 16 = str "x != 5"
.const file 16 = str "assert5.cu"
.const function 16 = str "kernel"
.const record 40 = addr message, addr file, u32 12, 0, addr function, u64 1
.kernel k
    v_s2r v0, %ctaid.x
    v_mov_b32 v4, lo(record)
    v_mov_b32 v5, hi(record)
    v_setp_u32.eq p0, v0, 5
    v_setp_u32.or.ge p0, v0, 20, p0
    @p0 assertfail v4:5
    exit
.end
