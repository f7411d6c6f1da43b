# SPDX-License-Identifier: Apache-2.0
# An addition and a maximum on one word do not commute.
.kernel k
.param ptr.global word
    v_s2r v0, %ctaid.x
    v_mov_b64 v4:5, c[word]
    v_mov_b32 v1, 3
    red.global.max.u32 [v4:5], v0
    red.global.add.u32 [v4:5], v1
    exit
.end
