#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Tests the compiler cache of the tests (tests/lib/compile_once.c). If the same source is compiled in another folder, the result
# must be what the compiler itself gives there, including the name of the folder in debug information. After a change of source,
# header or options the compiler must run again.
plain=$PATH
unset LW_COMPILED
. "${srcdir:-.}/tests/lib/cli_lib.sh"
[ -d "$build/tests/lib/once" ] || exit 77
first=$work/tmp.aaaaZZZZ09 second=$work/tmp.z0bQ1x77Yy
mkdir "$first" "$second"
cat >"$first/one.cl" <<'END'
#include "part.h"
kernel void one(global int *a) { int i = get_global_id(0); a[i] = PART * i; }
END
cat >"$first/two.cu" <<'END'
#include "part.h"
extern "C" __global__ void two(int *a) { int i = threadIdx.x; a[i] = PART + i; }
END
echo '#define PART 3' >"$first/part.h"
cp "$first"/* "$second"

# usage: compiles FOLDER SOURCE RESULT [OPTION...]. Compiles SOURCE in FOLDER. With PATH=$plain the cache is not used
compiles() {
    folder=$1 source=$2 result=$3
    shift 3
    (cd "$folder" && "$lanewise" compile "$@" "$source" -o "$result") >out 2>err || fail "$source does not compile in $folder"
}
stored() { # prints the number of results in the cache
    find "$LW_COMPILED" -name result | wc -l
}
want=0
for clang in clang-14 clang-19; do
    command -v $clang >/dev/null || continue
    LANEWISE_CLANG=$clang
    export LANEWISE_CLANG
    for source in one.cl two.cu; do
        for options in '-X -O3' '-X -O0 -X -g'; do
            cases=$((cases + 1))
            want=$((want + 1))
            case $options in *-O3) want=$((want + 1)) ;; esac # optimised sources with directives are preprocessed, too
            # shellcheck disable=SC2086
            {
                compiles "$first" $source first.lwo $options
                compiles "$second" $source second.lwo $options
                PATH=$plain compiles "$second" $source plain.lwo $options
            }
            [ "$(stored)" = $want ] || fail "$source, $clang $options: $(stored) results in the cache, not $want"
            cmp "$second/second.lwo" "$second/plain.lwo" ||
                fail "$source, $clang $options: the result differs from that of the compiler"
            case $options in
            *-g) grep -q tmp.z0bQ1x77Yy "$second/second.lwo" ||
                fail "$source, $clang $options: debug information does not contain the folder" ;;
            esac
        done
    done
done
[ $cases -gt 0 ] || exit 77

# A host object contains the device code. The object is not text, so it is compiled in each folder.
cat >"$first/app.cu" <<'END'
#include "part.h"
__global__ void app(int *a) { a[threadIdx.x] = PART; }
int main() { app<<<1, 1>>>(nullptr); return 0; }
END
cp "$first/app.cu" "$second"
for folder in "$first" "$second" "$second"; do
    cases=$((cases + 1))
    (cd "$folder" && rm -f app && "$lanewise" cc -G -g app.cu -o app) >out 2>err && [ -x "$folder/app" ] ||
        fail "$folder: app.cu was not built"
    grep -q "${folder##*/}" "$folder/app" || fail "$folder: the program does not contain the name of its folder"
done
want=$(stored)

# After a change of the header, the source or an option the compiler runs again.
echo '#define PART 5' >"$second/part.h"
compiles "$second" one.cl second.lwo -X -O3
PATH=$plain compiles "$second" one.cl plain.lwo -X -O3
cmp -s "$second/second.lwo" "$second/plain.lwo" || fail "the compiler does not run again after a change of a header"
sed -i 's/PART \* i/PART - i/' "$first/one.cl"
compiles "$first" one.cl first.lwo -X -O3
[ "$(stored)" = $((want + 2)) ] || fail "the compiler does not run again after a change of the source"
compiles "$first" one.cl first.lwo -X -O3 -X -DMORE
[ "$(stored)" = $((want + 4)) ] || fail "the compiler does not run again with another option"
echo "test_compile_once: $cases cases"
[ $failures = 0 ]
