#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Tests the launch files that `lanewise app --record` writes.
. "${srcdir:-.}/tests/runtime/cuda_lib.sh"
src=$src/app
unset LANEWISE_OPTIONS
mkdir include && echo '#define GET(x) (x)' >include/ids.h

# A run of the launch file has the dimensions and offsets of the program's launch.
if ${CC:-cc} "$src/dimensions.c" -o dimensions -lOpenCL 2>err; then
    "$lanewise" app --record ids ./dimensions >out 2>err || { fail "dimensions: status $?"; cat out err; }
    [ "$(ls ids/*.yaml | wc -l)" = 6 ] || fail "dimensions: expected 6 launch files, found $(ls ids)"
    for file in ids/*.yaml; do
        "$lanewise" run "$file" >out 2>&1 || { fail "$file: the launch differs"; cat out "$file"; }
    done
else
    echo "without OpenCL: $(head -n 1 err)"
fi
exit $failed
