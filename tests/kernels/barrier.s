# SPDX-License-Identifier: Apache-2.0
# Half of the threads of block 5 wait at another barrier than the rest. Block 9 traps.
.kernel k
    v_s2r v0, %ctaid.x
    v_s2r v1, %tid.x
    v_mov_b32 v10, 1
    v_setp_u32.eq p1, v0, 5
    @p1 v_mov_b32 v10, 100000
delay:
    v_sub_u32 v10, v10, 1
    v_setp_u32.ne p2, v10, 0
    @p2 bra delay
    v_setp_u32.eq p0, v0, 9
    @p0 trap 1
    v_setp_u32.eq p0, v0, 5
    v_setp_u32.and.lt p0, v1, 32, p0
    @p0 bra other
    bar.sync 0
    exit
other:
    bar.sync 1
    exit
.end
