# SPDX-License-Identifier: Apache-2.0
# Each block waits for its flag and then sets the flag of the next block, but no block sets the first flag.
.kernel flag_blocks
    .param ptr.global flags
    v_s2r v0, %ctaid.x
    v_shl_b32 v1, v0, 2
    s_mov_b64 s0:1, c[flags]
wait:
    ld.global.b32.acquire v4, [s0:1+v1]
    v_setp_u32.eq p0, _, v4, 0
    @p0 bra wait
    v_mov_b32 v5, 1
    st.global.b32.release [s0:1+v1+4], v5
    exit
.end
