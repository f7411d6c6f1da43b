# SPDX-License-Identifier: Apache-2.0
# Each eighth block, from block 3 on, waits in a loop for a word that is never written. Block 3 first executes a long loop.
.kernel k
.param ptr.global word
    v_s2r v0, %ctaid.x
    v_mov_b64 v4:5, c[word]
    v_mov_b32 v10, 1
    v_setp_u32.eq p1, v0, 3
    @p1 v_mov_b32 v10, 50000
delay:
    v_sub_u32 v10, v10, 1
    v_setp_u32.ne p2, v10, 0
    @p2 bra delay
    v_and_b32 v1, v0, 7
    v_setp_u32.eq p0, v1, 3
    @!p0 exit
again:
    yield
    ld.global.b32 v2, [v4:5]
    v_setp_u32.eq p0, v2, 0
    @p0 bra again
    exit
.end
