#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Tests functions of OpenCL C that libclc lacks, with each installed clang: functions of work-groups, sub-groups and half must
# have correct results and no races. Also tests cases in which clang or libclc was found wrong (found.cl).
. "${srcdir:-.}/tests/lib/cli_lib.sh"
cp "$src"/tests/ptx/data/groups.cl "$src"/tests/ptx/data/subgroups.cl "$src"/tests/ptx/data/halfmath* "$src/tests/ptx/data/found.cl" .
cat >groups.yaml <<'END'
program: {source: groups.lwo}
buffers:
  bad: {type: u32, count: 8}
  done: {type: s32, count: 1}
steps:
  - launch: {entry: groups, grid: [2, 1], block: [15, 3], args: [bad, done]}
  - check: {buffer: bad, values: [0, 0, 0, 0, 0, 0, 0, 0]}
  - check: {buffer: done, values: [13590]}
  - launch: {entry: groups, grid: [1, 1], block: [3, 3], args: [bad, done]}
  - check: {buffer: bad, values: [0, 0, 0, 0, 0, 0, 0, 0]}
END
cat >subgroups.yaml <<'END'
program: {source: subgroups.lwo}
buffers:
  bad: {type: u32, count: 24}
  done: {type: s32, count: 1}
steps:
  - launch: {entry: extensions, grid: 2, block: 75, args: [bad, done]}
  - check: {buffer: bad, values: [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]}
  - check: {buffer: done, values: [40220]}
END
cat >half.yaml <<'END'
program: {source: halfmath.lwo}
buffers:
  one: {type: u16, count: 2555904}
  two: {type: u16, count: 720896}
  bad: {type: s32, count: 65536}
steps:
  - launch: {entry: one, grid: 256, block: 256, args: [one]}
  - launch: {entry: two, grid: 256, block: 256, args: [two]}
  - launch: {entry: same, grid: 256, block: 256, args: [bad]}
  - check: {buffer: bad, file: zeros.bin}
END
cat >found.yaml <<'END'
program: {source: found.lwo}
buffers:
  out: {type: s32, count: 10, init: {values: [1, 4, 0, 0, 0, 0, 0, 0, 0, 0]}}
  code: {type: u64, count: 4, init: {values: [0, 1, 4503599627370495, 4503599627370496]}}
steps:
  - launch: {entry: three, grid: 1, block: 4, args: [out, code]}
  - check: {buffer: out, values: [1, 4, 321, 2078, 321, 2078, 321, 2078, 321, 2078]}
END
cat >signs.yaml <<'END'
program: {source: found.lwo}
buffers:
  a: {type: f64, count: 60, init: {values: [-0.0, -0.0, 1.0, -0.0, -0.0, 0.5, 1.0, 0.0, inf, 0.14758361765043326, 2.5, 1.0, 0.0, inf, 0.3788810584091566, -0.5, -1.0, 0.0, -inf, -0.14758361765043326, 1.0, 0.0, -1.0, -0.0, 0.25, -1.0, -0.0, -1.0, 0.0, -0.25, 3.0, 0.0, -1.0, -0.0, 0.39758361765043326, -3.0, -0.0, -1.0, 0.0, -0.39758361765043326, 0.25, 0.7071067811865476, 0.7071067811865476, 1.0, 0.07797913037736932, -1.75, 0.7071067811865476, 0.7071067811865476, 1.0, -0.3347506594614321, 1e+300, 0.0, 1.0, 0.0, 0.5, -1e-05, -3.141592653073022e-05, 0.9999999995065197, -3.141592654623336e-05, -3.183098861731804e-06]}}
  bad: {type: s32, count: 1}
  code: {type: u64, count: 4, init: {values: [0, 1, 4503599627370495, 4503599627370496]}}
  out: {type: u16, count: 6}
  zeros: {type: f64, count: 2, init: {values: [-0.0, -1e-300]}}
  dimensions: {type: u32, count: 4, init: {values: [1, 2, 3, 4]}}
  elements: {type: s32, count: 8}
  places: {type: u64, count: 4}
steps:
  - launch: {entry: places, grid: 1, block: 1, args: [{local: 20}, {local: 32}, {local: 256}, {local: 100}, places]}
  - check: {buffer: places, values: [32, 0, 0, 64]}
  - launch: {entry: sizes, grid: 3, block: 4, args: [dimensions, bad]}
  - launch: {entry: pairs, grid: 1, block: 1, args: [{s8: [0, -1]}, {u8: [16, 255]}, {s16: [-300, 7]}, elements, {s8: [-2, 3]}]}
  - check: {buffer: elements, values: [0, -1, 16, 255, -300, 7, -2, 252]}
  - launch: {entry: zeros, grid: 1, block: 1, args: [zeros, bad]}
  - launch: {entry: invalid, grid: 1, block: 1, args: [inf, bad]}
  - check: {buffer: bad, values: [0]}
  - launch: {entry: signs, grid: 1, block: 12, args: [a, bad]}
  - launch: {entry: trailing, grid: 1, block: 65, args: [bad]}
  - launch: {entry: conversions, grid: 1, block: 1, args: [code, bad]}
  - launch: {entry: initialised, grid: 1, block: 1, args: [out]}
  - check: {buffer: out, values: [15872, 32784, 31743, 32768, 1023, 16896]}
  - check: {buffer: bad, values: [0]}
END
head -c 262144 /dev/zero >zeros.bin
cc -O1 -o check halfmath_check.c -lm || fail "halfmath_check.c does not compile"
for clang in clang-14 clang-15 clang-16 clang-19; do
    command -v "$clang" >/dev/null || continue
    for form in "CL2.0 -X -O3" "CL3.0 -X -O0 -X -g"; do
        # shellcheck disable=SC2086
        "$lanewise" compile --clang "$clang" -X -cl-std=$form -o groups.lwo groups.cl 2>err ||
            fail "$clang $form: groups.cl does not compile: $(cat err)"
        expect 0 "" run -q --check=default,races groups.yaml
        expect 0 "" run -q --warp 64 groups.yaml
    done
    level="-O0 -X -g"
    [ $clang != clang-19 ] || level=-O3
    # shellcheck disable=SC2086
    "$lanewise" compile --clang "$clang" -X -cl-std=CL3.0 -X $level -o subgroups.lwo subgroups.cl 2>err ||
        fail "$clang $level: subgroups.cl does not compile: $(cat err)"
    expect 0 "" run -q --check=default,races subgroups.yaml
    expect 0 "" run -q --warp 64 subgroups.yaml
    for level in -O0 -O3; do
        "$lanewise" compile --clang "$clang" -X -cl-std=CL2.0 -X $level -X -g -o found.lwo found.cl 2>err ||
            fail "$clang $level: found.cl does not compile: $(cat err)"
        expect 0 "" run -q --check=all,-performance found.yaml
        expect 0 "" run -q signs.yaml
    done
    "$lanewise" compile --clang "$clang" -o halfmath.lwo halfmath.cl 2>err ||
        fail "$clang: halfmath.cl does not compile: $(cat err)"
    expect 0 "" run -q --dump one=one.bin --dump two=two.bin half.yaml
    ./check one.bin two.bin >err || fail "$clang: functions of half have wrong results: $(cat err)"
done
# clang 19 crashes when it compiles this comparison. lanewise must then use an older clang, if one is installed.
cat >pair.cl <<'END'
kernel void pair(global short2 *a, global short2 *b) { a[0] = a[1] < b[1]; }
END
if command -v clang-19 >/dev/null && command -v clang-14 >/dev/null; then
    expect 0 "clang-19 crashed" compile -o pair.lwo pair.cl
    expect 2 "clang-19 crashed" compile --clang clang-19 -o pair.lwo pair.cl
fi
[ $cases -ge 3 ] || fail "no clang is installed"
[ $failures = 0 ] && echo "ok: $cases cases"
exit $((failures > 0))
