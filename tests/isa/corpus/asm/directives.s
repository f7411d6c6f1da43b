# SPDX-License-Identifier: Apache-2.0
.producer "fuzz"
.compdir "/tmp"
.file 1 "a.cl"
.file 2 "b \x22.h"
.bank f64 0.1, u32 7, hex 00ff, str "ab\n"
.global g 32 16 = f32 1.5, u64 3, addr "odd name"+8, s16 -3
.init u8 1, 2
.const c1 8 = f64 2.5
.shared sh 64 16
.global "odd name" 8
.kernel k
.decl 1 3
.param ptr.shared a
.param u16 b align=4
.param bytes 12 s align=4
.param ptr p size=4 offset=40
.regs v=20 s=10 b=2
.local 128
.maxthreads 256
.reqblock 16, 16
.needswarp 32
.shared mine 12 4
.loc 1 4 7 prologue_end
a: v_mov_b32 v1, lo("odd name"+4)
    v_mov_b32 v2, hi(k2)
.loc 2 9 nostmt
    call v4:5, "f 2"
    bra a+16
    v_mov_b32 v1, mine
    v_mov_b32 v1, lo(sh)
    exit
.end
.kernel k2
    callx v4:5, v6:7, b1
    exit
.end
.func "f 2"
    ret v4:5
.end
