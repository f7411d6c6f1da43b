# SPDX-License-Identifier: Apache-2.0
# Warp 0 waits at a CTA barrier for warp 1, which waits for a flag of block 1.
.kernel waits
.param ptr.global out
    v_s2r v3, %tid.x
    v_s2r v8, %ctaid.x
    v_mov_b64 v4:5, c[out]
    v_setp_u32.eq p2, v8, 1
    @p2 bra other
    v_setp_u32.lt p0, v3, 8
    @p0 bra meet
again:
    ld.global.b32.volatile v6, [v4:5]
    v_setp_u32.eq p1, v6, 0
    @p1 bra again
meet:
    bar.sync 0
    exit
other:
    v_mov_b32 v6, 1
    st.global.b32 [v4:5], v6
    exit
.end
