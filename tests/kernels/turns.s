# SPDX-License-Identifier: Apache-2.0
# Each warp takes eight tickets, one after another, and stores its number at each ticket. The results tell in which order the
# warps issued, which depends on the timing.
.kernel k
.param ptr.global counter
.param ptr.global out
    v_s2r v0, %tid.x {wr=0}
    v_shr_u32 v1, v0, 5 {wr=0,wt=0x1}
    v_and_b32 v0, v0, 31
    v_setp_u32.ne p0, v0, 0 {wr=0,wt=0x1}
    @p0 exit {wt=0x1}
    v_mov_b64 v4:5, c[counter]
    v_mov_b32 v2, 0
    v_mov_b32 v3, 8 {wr=0}
again:
    v_mov_b32 v6, 1
    atom.global.add.u32 v7, [v4:5], v6 {wr=0,wt=0x1}
    v_mov_b64 v8:9, c[out]
    v_madwide_u32 v8:9, v7, 4, v8:9 {wr=0,wt=0x1}
    st.global.b32 [v8:9], v1 {wt=0x1}
    v_add_u32 v2, v2, 1 {wr=0}
    v_setp_u32.lt p0, v2, v3 {wr=0,wt=0x1}
    @p0 bra again {wt=0x1}
    exit
.end
