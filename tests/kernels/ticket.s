# SPDX-License-Identifier: Apache-2.0
# Each thread takes a ticket, so the results depend on the order of blocks.
.kernel k
.param ptr.global counter
.param ptr.global out
    v_s2r v0, %ctaid.x
    v_s2r v1, %ntid.x
    v_s2r v2, %tid.x
    v_mad_u32 v0, v0, v1, v2
    v_mov_b64 v4:5, c[counter]
    v_mov_b32 v6, 1
    atom.global.add.u32 v7, [v4:5], v6
    v_mov_b64 v8:9, c[out]
    v_madwide_u32 v8:9, v7, 4, v8:9
    st.global.b32 [v8:9], v0            # out[ticket] = thread
    exit
.end
