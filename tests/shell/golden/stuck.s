# SPDX-License-Identifier: Apache-2.0
# Warp 0 waits at one CTA barrier, and the other warps at another one, so no warp can continue.
.kernel stuck
    .param ptr.global out
    v_s2r v0, %tid.x
    v_setp_u32.lt p0, _, v0, 8
    @p0 bra first
    bar.sync 1
    exit
first:
    bar.sync 0
    exit
.end
