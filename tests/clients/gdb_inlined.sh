#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Three levels of inlined functions in stock gdb. The PTX was compiled by nvcc 13.0 from golden/gdb/levels.cu with
# -G (lines and variables) and with -lineinfo (lines only).
. "${srcdir:-.}/tests/clients/gdb_lib.sh"
need gdb
cp "$src"/tests/ptx/corpus/inlined_nvcc.ptx "$src"/tests/ptx/corpus/inlined_nvcc_lines.ptx \
    "$src"/tests/clients/golden/levels.cu "$work/"
for ptx in inlined_nvcc inlined_nvcc_lines; do
    cat >"$work/$ptx.yaml" <<END
program: {source: $ptx.ptx}
buffers:
  all: {type: f32, count: 8, init: [0, 0, 3, 4, 10, 10, -2, 1]}
  from: {type: f32, count: 8, init: [0, 1, 9, 9, 4, 4, -9, 2]}
  out: {type: s32, count: 8}
steps:
  - launch: {entry: levels, grid: [1], block: [4], args: [all, 4, from, out]}
  - check: {buffer: out, values: [0, 1, 2, 4, 1, 1, 3, 2500]}
END
done

serve "$lanewise" run inlined_nvcc.yaml --gdb 127.0.0.1:0
cat >"$work/session" <<END
set print frame-arguments all
break levels.cu:9
continue
backtrace
info locals
up
info args
up
info locals
print all[1]
print *best
up
info locals
delete
break levels.cu:25 if i == 2
continue
backtrace
print l
print found
set \$lane = 2
print to
delete
break 39
continue
step
backtrace
delete
continue
END
session gdb
expect "inlined functions with their variables" <<END
^Breakpoint 1 at .*3 locations
^Breakpoint 1.*square \\(v=0\\) at .*levels.cu:9
^#0  .*square \\(v=0\\) at .*levels.cu:9
^#1  .*length2 \\(p=@0x[0-9a-f]+: \\{x = 0, y = -1\\}\\) at .*levels.cu:14
^#2  .*nearest \\(all=0x200000000000, n=4, to=\\{x = 0, y = 1\\}, best=0x[0-9a-f]+\\) at .*levels.cu:24
^#3  levels \\(all=0x200000000000, n=4, from=0x[0-9a-f]+, out=0x[0-9a-f]+\\) at .*levels.cu:37
^twice = 0
^p = @0x[0-9a-f]+: \\{x = 0, y = -1\\}
^d = \\{x = 0, y = -1\\}
^i = 0
^found = -1
^\\\$1 = \\{x = 3, y = 4\\}
^\\\$2 = 0
^best = 0
^Breakpoint 2, .*nearest .* at .*levels.cu:25
^#1  levels .* at .*levels.cu:37
^\\\$3 = 181
^\\\$4 = 0
^\\\$5 = \\{x = 4, y = 4\\}
^Breakpoint 3, levels
^_INTERNAL.*square \\(v=1\\) at .*levels.cu:8
^#1  levels .* at .*levels.cu:39
exited normally
END
server_ends
[ "$status" = 0 ] || fail "-G: the run ended with status $status"

serve "$lanewise" run inlined_nvcc_lines.yaml --gdb 127.0.0.1:0
cat >"$work/session" <<END
break levels.cu:9
continue
backtrace
delete
break levels.cu:38
continue
backtrace
delete
continue
END
session gdb
expect "inlined functions by their lines" <<END
^#1  .*length2 .* at .*levels.cu:14
^#2  .*nearest .* at .*levels.cu:24
^#3  levels .* at .*levels.cu:37
exited normally
END
server_ends
[ "$status" = 0 ] || fail "-lineinfo: the run ended with status $status"
finish
