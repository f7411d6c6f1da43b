# SPDX-License-Identifier: Apache-2.0
# Code as compilers generate it without optimisation: the shared counter is accessed by a generic address. The instruction
# does not tell whether the address is a shared or a global one.
.kernel k
.param ptr.global out
.shared counter 4
    v_s2r v0, %ctaid.x
    v_s2r v1, %ntid.x
    v_s2r v2, %tid.x
    v_mov_b32 v10, lo(counter)
    v_mov_b32 v11, hi(counter)
    v_mov_b32 v4, 1
    atom.generic.add.u32 v5, [v10:11], v4
    v_mad_u32 v5, v0, v1, v5
    v_mov_b64 v8:9, c[out]
    v_madwide_u32 v8:9, v5, 4, v8:9
    st.generic.b32 [v8:9], v2
    exit
.end
