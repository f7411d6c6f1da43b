# SPDX-License-Identifier: Apache-2.0
# Each warp waits for its own flag. No warp sets a flag.
.kernel flag_never
    .param ptr.global flags
    v_s2r v0, %tid.x
    v_shr_u32 v1, v0, 3
    v_shl_b32 v1, v1, 2
    s_mov_b64 s0:1, c[flags]
wait:
    ld.global.b32.acquire v4, [s0:1+v1]
    v_setp_u32.eq p0, _, v4, 0
    yield
    @p0 bra wait
    exit
.end
