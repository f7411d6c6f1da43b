# SPDX-License-Identifier: Apache-2.0
# Lanes 0 to 2 exit early.
.kernel exits
    .param ptr.global out
    v_s2r v0, %tid.x
    v_setp_u32.lt p0, _, v0, 3
    @p0 exit
    v_add_u32 v1, v0, 1
    exit
.end
