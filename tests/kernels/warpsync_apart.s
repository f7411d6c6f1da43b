# SPDX-License-Identifier: Apache-2.0
# Even and odd lanes wait for each other at warpsync, with different masks.
.kernel warpsync_apart
    v_s2r v0, %tid.x
    v_and_b32 v1, v0, 1
    v_setp_u32.ne p0, _, v1, 0
    @p0 bra odd
    warpsync 0xf
    exit
odd:
    warpsync 0xe
    exit
.end
