# SPDX-License-Identifier: Apache-2.0
# Threads take tickets of their block: results depend on the order of warps, but not on the order of blocks.
.kernel k
.param ptr.global out
.shared counter 4
    v_s2r v0, %ctaid.x
    v_s2r v1, %ntid.x
    v_s2r v2, %tid.x
    v_mov_b32 v3, counter
    v_mov_b32 v4, 1
    v_mov_b32 v10, v2
delay:                                  # warps take tickets at different times
    v_sub_u32 v10, v10, 1
    v_setp_s32.gt p0, v10, 0
    @p0 bra delay
    atom.shared.add.u32 v5, [v3], v4
    v_mad_u32 v5, v0, v1, v5
    v_mov_b64 v8:9, c[out]
    v_madwide_u32 v8:9, v5, 4, v8:9
    st.global.b32 [v8:9], v2            # out[block][ticket] = thread
    exit
.end
