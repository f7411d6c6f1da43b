// SPDX-License-Identifier: Apache-2.0
// A value that passes from register to register 40 times.
.kernel moves
.param ptr.global x
    v_mov_b64 v6:7, c[x]
    v_mov_b32 v1, 7
    v_mov_b32 v3, 0
loop:
    v_mov_b32 v2, v1
    v_mov_b32 v1, v2
    v_add_u32 v3, v3, 1
    v_setp_u32.lt p0, v3, 20
    @p0 bra loop
    st.global.b32 [v6:7], v1
    exit
.end
