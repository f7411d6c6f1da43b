# SPDX-License-Identifier: Apache-2.0
# Threads with an even x exit early. The others count up to the number of their block.
.kernel places
    .param ptr.global out
    v_s2r v0, %tid.x
    v_and_b32 v1, v0, 1
    v_setp_u32.eq p0, _, v1, 0
    @p0 exit
    v_s2r v2, %ctaid.x
    v_add_u32 v3, v0, v2
    exit
.end
