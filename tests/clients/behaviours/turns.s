# SPDX-License-Identifier: Apache-2.0
# Lanes end their time slice early: by yield, so that other lanes of the warp run, and by nanosleep, so that the other warp runs.
.kernel turns
.param ptr.global out
    v_s2r v3, %tid.x                    # first
    v_and_b32 v8, v3, 31
    s_mov_b32 s1, 7
    v_mov_b32 v6, 0
    v_setp_u32.lt p0, _, v8, 8
    bssy b0, joined
    @p0 bra gives, b0                   # parts
    v_add_u32 v6, v6, 1                 # others
    v_add_u32 v6, v6, 1
    v_add_u32 v6, v6, 1
    bra joined
gives:
    v_mov_b32 v7, 1
    yield                               # yields
    v_mov_b32 v7, 2                     # behind the yield
joined:
    bsync b0                            # meets
    exit
.end

.kernel sleeper
    v_mov_b32 v7, 0                     # begins
    nanosleep 100                       # sleeps
    v_mov_b32 v7, 3                     # behind the sleep
    exit
.end
