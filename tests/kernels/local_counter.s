# SPDX-License-Identifier: Apache-2.0
# A loop that waits for a flag, and counts its iterations in local memory as unoptimised code does.
.kernel local_counter
.param ptr.global flags
.local 16
    v_mov_b64 v4:5, c[flags]
loop:
    ld.local.b32 v0, [vz+4]
    v_add_u32 v0, v0, 1
    st.local.b32 [vz+4], v0
    ld.global.b32 v1, [v4:5]
    v_setp_u32.eq p0, _, v1, 0
    @p0 bra loop
    ld.local.b32 v0, [vz+4]
    st.global.b32 [v4:5], v0
    exit
.end
