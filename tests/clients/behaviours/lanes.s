# SPDX-License-Identifier: Apache-2.0
# The lanes of one warp diverge, reconverge and call a function, and some lanes exit. Another warp waits for this warp at a
# barrier. Files *.rows name lines of this file by their comments.
.kernel lanes
.param ptr.global out
    v_s2r v3, %tid.x                    # first
    v_mov_b32 v6, 0
    v_and_b32 v8, v3, 31
    v_setp_u32.lt p0, _, v8, 8          # compares
    bssy b0, joined
    @p0 bra left, b0                    # parts
    v_add_u32 v6, v6, 1                 # right side
    v_add_u32 v6, v6, 1
    bra joined
left:
    v_add_u32 v6, v6, 2                 # left side
joined:
    bsync b0                            # meets
    call v0:1, early                    # calls
    v_add_u32 v6, v6, 4                 # behind the call
    v_setp_u32.eq p1, _, v8, 3
    @p1 v_add_u32 v6, v6, 100           # lane 3 alone
    v_setp_u32.lt p2, _, v8, 4
    @p2 exit                            # lanes 0 to 3 leave
    v_mov_b64 v4:5, c[out]              # lanes 4 to 31
    v_madwide_u32 v4:5, v3, 4, v4:5
    st.global.b32 [v4:5], v6            # stores
    v_mov_b32 v7, 1
    bar.sync 0                          # the barrier
    v_mov_b32 v7, 2                     # behind the barrier
    exit                                # the end
.end

# Lanes 8 to 31 return before the others.
.func early
    v_mov_b32 v9, 5                     # in the function
    @p0 bra slow
    ret v0:1                            # returns first
slow:
    v_sub_u32 v9, v9, 1                 # the loop
    v_setp_u32.gt p3, _, v9, 0
    @p3 bra slow
    ret v0:1                            # returns last
.end
