# SPDX-License-Identifier: Apache-2.0
# Block 0 waits until the last block has set a flag.
.kernel k
.param ptr.global flag
.param ptr.global out
    v_s2r v0, %ctaid.x
    v_s2r v1, %nctaid.x
    v_mov_b64 v4:5, c[flag]
    v_mov_b64 v6:7, c[out]
    v_madwide_u32 v6:7, v0, 4, v6:7
    v_mov_b32 v2, 1
    v_setp_u32.eq p0, v0, 0
    @p0 bra wait
    v_add_u32 v0, v0, 1
    v_setp_u32.eq p1, v0, v1
    @p1 st.global.b32.release [v4:5], v2
    bra done
wait:
    yield
    ld.global.b32.acquire v2, [v4:5]
    v_setp_u32.eq p0, v2, 0
    @p0 bra wait
done:
    st.global.b32 [v6:7], v2
    exit
.end
