#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Tests that clang's debug values change nothing but debug sections: objects with and without them are otherwise equal byte for
# byte. Compiles the kernels of kernels/ with clang 14 and 19, each kernel at one of four levels. With LW_VALUES_ALL set, the test
# uses all installed compilers at all levels.
src=${srcdir:-.}
lanewise=${LANEWISE:-./lanewise}
levels='-O1 -O2 -O3 -Os'
work=$(mktemp -d) || exit 99
trap 'rm -rf "$work"' EXIT
command -v objcopy >/dev/null || { echo "skipped: objcopy is not installed"; exit 77; }
failures=0
compared=0
differs=0
LANEWISE_CACHE=off
export LANEWISE_CACHE

# Writes an object without its debug sections.
strip_debug() {
    objcopy -I elf64-little -O elf64-little -R '.debug*' -R .lanewise.debug "$1" "$2"
}

compare() { # SOURCE CLANG LEVEL
    standard=
    case $1 in */enqueue.cl) standard='-X -cl-std=CL2.0' ;; esac
    # shellcheck disable=SC2086
    "$lanewise" compile --clang "$2" $standard -X "$3" -o "$work/with.o" "$1" 2>"$work/err" &&
        "$lanewise" compile --clang "$2" $standard -X "$3" -X -fno-verbose-asm -o "$work/without.o" "$1" 2>>"$work/err" &&
        strip_debug "$work/with.o" "$work/with" && strip_debug "$work/without.o" "$work/without" ||
        { echo "FAIL: $1 by $2 $3: $(cat "$work/err")"; failures=$((failures + 1)); return; }
    compared=$((compared + 1))
    cmp -s "$work/with.o" "$work/without.o" || differs=$((differs + 1))
    cmp "$work/with" "$work/without" || { echo "FAIL: $1 by $2 $3: the objects differ in more than debug sections"; failures=$((failures + 1)); }
}

compilers='clang-14 clang-19'
[ -z "$LW_VALUES_ALL" ] || compilers='clang-14 clang-15 clang-16 clang-19'
for clang in $compilers; do
    command -v "$clang" >/dev/null || continue
    for source in "$src"/kernels/*.cl "$src"/kernels/*.cu; do
        first=${levels%% *}
        if [ -n "$LW_VALUES_ALL" ]; then
            for level in $levels; do
                compare "$source" "$clang" "$level"
            done
        else
            compare "$source" "$clang" "$first"
        fi
        levels="${levels#* } $first"
    done
done
[ $compared != 0 ] || { echo "skipped: no clang is installed"; exit 77; }
[ $differs != 0 ] || { echo "FAIL: no object has debug values"; failures=$((failures + 1)); }
echo "$compared pairs of objects are compared, $differs of them differ in debug sections"
[ $failures = 0 ]
