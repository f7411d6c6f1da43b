# SPDX-License-Identifier: Apache-2.0
# Each thread adds up the 32 words of its own cache line of 128 bytes. The lines of a block of 512 threads have 64 KiB.
.kernel lines
.param ptr.global x
.param ptr.global sum
    v_s2r v0, %ctaid.x
    v_s2r v1, %ntid.x
    v_s2r v2, %tid.x
    v_mad_u32 v0, v0, v1, v2
    v_mulwide_u32 v4:5, v0, 128
    v_mov_b64 v6:7, c[x]
    v_add_u64 v4:5, v4:5, v6:7
    v_mov_b32 v2, 0
    v_mov_b32 v3, 0
again:
    ld.global.b32 v8, [v4:5]
    v_add_u32 v2, v2, v8
    v_add_u64 v4:5, v4:5, 4
    v_add_u32 v3, v3, 1
    v_setp_u32.lt p0, v3, 32
    @p0 bra again
    v_mulwide_u32 v4:5, v0, 4
    v_mov_b64 v6:7, c[sum]
    v_add_u64 v4:5, v4:5, v6:7
    st.global.b32 [v4:5], v2
    exit
.end
