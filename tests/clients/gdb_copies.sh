#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Tests lines whose code was duplicated by the front end (for a loop with several entries) or by the compiler (an unrolled loop).
# A breakpoint on such a line must stop lanes in each duplicate, in gdb 13, lldb 19 and the shell. The reference is each lane's
# path through the source.
. "${srcdir:-.}/tests/clients/gdb_lib.sh"
need gdb
need "${LLDB:-lldb-19}"
dwarfdump=
for tool in llvm-dwarfdump-19 llvm-dwarfdump-14 llvm-dwarfdump; do
    [ -n "$dwarfdump" ] || ! command -v $tool >/dev/null || dwarfdump=$tool
done
[ -n "$dwarfdump" ] || { echo "FAIL: llvm-dwarfdump is not installed"; exit 1; }
cp "$src"/tests/clients/golden/circle.cl "$work/"
cat >"$work/circle.yaml" <<END
program: {source: circle.cl, options: [-O0, -g]}
buffers:
  out: {type: s32, count: 4}
steps:
  - launch: {entry: circle, grid: [1], block: [4], args: [out, 2]}
  - check: {buffer: out, values: [252, 225, 245, 248]}
END

# Lane 3 enters the loop at line 14 with the value 0, and reaches the line again with 3 + 20 + 100 + 2.
cat >"$work/session" <<'END'
break circle.cl:14 if i == 3
continue
print sum
continue
print sum
continue
END
serve "$lanewise" run circle.yaml --gdb 127.0.0.1:0
session gdb
expect "gdb stops in each copy" <<'END'
^Breakpoint 1 at .*2 locations
^\$1 = 0
^\$2 = 125
exited normally
END
server_ends
[ "$status" = 0 ] || fail "gdb: the run ended with status $status"

serve "$lanewise" run circle.yaml --gdb 127.0.0.1:0
(cd "$work" && timeout 400 "${LLDB:-lldb-19}" -X -x -b -o "gdb-remote $port" \
    -o 'breakpoint set -f circle.cl -l 14 -c "i == 3"' -o continue -o 'print sum' -o continue \
    -o 'print sum' -o continue) </dev/null >"$work/transcript" 2>&1
expect "lldb stops in each copy" <<'END'
^Breakpoint 1: 2 locations
^\(int\) .*0$
^\(int\) .*125$
^Process 1 exited with status = 0
END
server_ends
[ "$status" = 0 ] || fail "lldb: the run ended with status $status"

(cd "$work" && "$lanewise" debug circle.yaml --batch -c 'break circle.cl:14 if i == 3' -c continue \
    -c 'print sum' -c continue -c 'print sum' -c continue) >"$work/transcript" 2>&1
expect "the shell stops in each copy" <<'END'
^breakpoint 1 at .*circle.cl:14
^breakpoint 2 at .*circle.cl:14
^sum = 0
^sum = 125
END

(cd "$work" && "$lanewise" compile circle.cl -X -O0 -X -g -o circle.lwo &&
    $dwarfdump --verify circle.lwo) >"$work/transcript" 2>/dev/null
expect "the scopes of copies are well formed" <<'END'
^No errors
END

# i = 0 reaches line 12 in both iterations, the other lanes in the second. Lane 3 reaches line 14 in both, and lane 2
# reaches line 16.
(cd "$work" && "$lanewise" run circle.yaml --coverage circle.info) >"$work/transcript" 2>&1
for line in DA:12,5 DA:14,6 DA:16,7 DA:18,8 DA:19,8; do
    grep -qx "$line" "$work/circle.info" || fail "the coverage lacks $line: $(grep '^DA' "$work/circle.info" | tr '\n' ' ')"
done

# Debug information contains lines only. According to the source, lanes reach line 9 82 times, 16 of them from outside the loop.
# Line 10 has another statement, which is reached 32 times.
cp "$src"/tests/clients/golden/middle.ptx "$work/"
cat >"$work/middle.yaml" <<END
program: {source: middle.ptx}
buffers: {out: {type: s32, count: 32}}
steps:
  - launch: {entry: _Z6middlePi, grid: [1], block: [32], args: [out]}
  - check: {buffer: out, values: [-1, 1, 1, 3, 3, 5, 5, 7, 7, 9, 9, 7, 7, 9, 9, 7, 7, 9, 9, 7, 7, 9, 9, 7, 7, 9,
                                  9, 7, 7, 9, 9, 7]}
END
(cd "$work" && "$lanewise" run middle.yaml --coverage middle.info) >"$work/transcript" 2>&1
for line in DA:3,32 DA:6,98 DA:7,66 DA:9,82 DA:10,82; do
    grep -qx "$line" "$work/middle.info" || fail "the coverage lacks $line: $(grep '^DA' "$work/middle.info" | tr '\n' ' ')"
done
cat >"$work/session" <<'END'
break middle.cu:9
continue
continue
delete
continue
END
serve "$lanewise" run middle.yaml --gdb 127.0.0.1:0
session gdb
expect "gdb stops in each copy, without debug information" <<'END'
^middle \(
^Breakpoint 1 at .*2 locations
^Breakpoint 1\.1, middle
^Breakpoint 1\.2, middle
exited normally
END
server_ends
[ "$status" = 0 ] || fail "middle: the run ended with status $status"
(cd "$work" && "$lanewise" debug middle.yaml --batch -c 'break middle.cu:9') >"$work/transcript" 2>&1
expect "the shell stops in each copy, without debug information" <<'END'
^breakpoint 1 at .*middle.cu:9
^breakpoint 2 at .*middle.cu:9
END

# An unrolled loop and the loop for its remaining iterations: the lines of the loop are reached ten times in all. A line
# whose code clang has interleaved with other lines must not be taken for a duplicate.
cat >"$work/unrolled.cl" <<'END'
kernel void unrolled(global int *out, global const int *in, int n)
{
    int gid = get_global_id(0);
    int total = 0;
    #pragma unroll 4
    for (int i = 0; i < n; i++) {
        int v = in[(gid * n + i) & 127];
        total += v * 3;
        total ^= i;
    }
    out[gid] = total;
    out[gid + 32] = in[gid] + in[gid + 1];
}
END
cat >"$work/unrolled.yaml" <<'END'
program: {source: unrolled.cl}
buffers: {out: {type: i32, count: 64}, in: {type: i32, count: 128, init: {ramp: {}}}}
steps:
  - launch: {entry: unrolled, grid: 1, block: 32, args: [out, in, 10]}
END
cat >"$work/session" <<'END'
break unrolled.cl:8
break unrolled.cl:12
ignore 1 100
continue
info breakpoints
delete
continue
END
serve "$lanewise" run unrolled.yaml --gdb 127.0.0.1:0
session gdb
expect "gdb stops in each copy of an unrolled loop" <<'END'
^Breakpoint 1 at .*5 locations
^Breakpoint 2 at .*unrolled.cl, line 12\.$
already hit 10 times
exited normally
END
server_ends
[ "$status" = 0 ] || fail "unrolled: the run ended with status $status"
serve "$lanewise" run unrolled.yaml --gdb 127.0.0.1:0
(cd "$work" && timeout 400 "${LLDB:-lldb-19}" -X -x -b -o "gdb-remote $port" \
    -o 'breakpoint set -f unrolled.cl -l 8' -o 'detach') </dev/null >"$work/transcript" 2>&1
expect "lldb stops in each copy of an unrolled loop" <<'END'
^Breakpoint 1: 5 locations
END
server_ends
(cd "$work" && "$lanewise" debug unrolled.yaml --batch -c 'break unrolled.cl:8') >"$work/transcript" 2>&1
[ "$(grep -c '^breakpoint [1-5] at .*unrolled.cl:8' "$work/transcript")" = 5 ] ||
    fail "expected breakpoints at 5 addresses in the shell: $(cat "$work/transcript")"
(cd "$work" && "$lanewise" compile unrolled.cl -o unrolled.lwo && $dwarfdump --verify unrolled.lwo) >"$work/transcript" 2>/dev/null
expect "the scopes of copies of an unrolled loop are well formed" <<'END'
^No errors
END
(cd "$work" && "$lanewise" run unrolled.yaml --coverage unrolled.info) >"$work/transcript" 2>&1
for line in DA:7,320 DA:8,320 DA:9,320 DA:11,32 DA:12,32; do
    grep -qx "$line" "$work/unrolled.info" || fail "the coverage lacks $line: $(grep '^DA' "$work/unrolled.info" | tr '\n' ' ')"
done

# A line after a block in an unrolled loop is not in the scope of the block, and is reached in each copy of the loop body:
# bitonic.cl executes 10 barriers for 16 elements.
cp "$src/kernels/bitonic.cl" "$work/"
cat >"$work/bitonic.yaml" <<'END'
program: {source: bitonic.cl, options: [-DSIZE=16]}
buffers: {key: {type: u32, count: 16, init: {ramp: {}}}}
steps:
  - launch: {entry: bitonic, grid: 1, block: 8, args: [key]}
END
cat >"$work/session" <<'END'
break bitonic.cl:29
continue
print other
print run
ignore 1 100
continue
info breakpoints
delete
continue
END
serve "$lanewise" run bitonic.yaml --gdb 127.0.0.1:0
session gdb
server_ends
expect "gdb stops after the block in each copy of an unrolled loop" <<'END'
^Breakpoint 1 at .*10 locations
^No symbol "other" in current context
^\$1 = 2
already hit 10 times
END
finish
