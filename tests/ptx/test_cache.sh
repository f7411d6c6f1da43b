#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Tests the cache of compiled sources with a compiler that counts its runs: a compilation is repeated only if something has changed
# on which its result depends. Wrong or missing entries and folders have no effect on the result.
. "${srcdir:-.}/tests/lib/cli_lib.sh"
clang=
for name in clang-19 clang-16 clang-15 clang-14 clang; do
    [ -n "$clang" ] || clang=$(command -v $name)
done
[ -n "$clang" ] || { echo "SKIP: clang is not installed"; exit 77; }
cat >counting <<END
#!/bin/sh
case " \$* " in *' -E '*) ;; *) echo run >>$work/runs ;; esac # runs of the preprocessor do not count
exec $clang "\$@"
END
chmod +x counting
unset LANEWISE_CACHE LANEWISE_CLANG
export HOME=$work/home XDG_CACHE_HOME=$work/cache
mkdir cache headers home
cat >k.cl <<'END'
#include "factor.h"
kernel void k(global int *out, int n)
{
    int unused = 1;
    out[get_global_id(0)] = FACTOR * n + ADD;
}
END
echo '#define FACTOR 3' >headers/factor.h
# usage: runs NUMBER WHAT ARGUMENT... . Compiles k.cl to out.ptx and checks how often the compiler ran. The first compilation of
# all also compiles the three libraries.
runs() {
    want=$1
    what=$2
    shift 2
    cases=$((cases + 1))
    : >runs
    sleep 0.02 # a file that has changed at the start of the compilation is not trusted
    "$lanewise" compile --compiler ./counting --emit ptx -o out.ptx -I headers -D ADD=1 -X -Wunused-variable "$@" k.cl >out 2>err </dev/null ||
        fail "$what: compile failed"
    got=$(wc -l <runs)
    [ "$got" = "$want" ] || fail "$what: the compiler ran $got times, expected $want"
    grep -q "unused variable 'unused'" err || fail "$what: no warning"
}
# usage: same WHAT. Checks that out.ptx is the result of the first compilation.
same() {
    cmp -s out.ptx first.ptx || fail "$1: another result"
}
runs 4 'the first compilation'
mv out.ptx first.ptx
runs 0 'the second compilation'
same 'the second compilation'
runs 1 'another definition' -D ADD=2
runs 1 'another level' -X -O1
runs 0 'the same options'
same 'the same options'
runs 1 '--cache off' --cache off
same '--cache off'
LANEWISE_CACHE=off runs 1 LANEWISE_CACHE=off
expect 2 'compile: --cache: expected on or off, found "maybe"' compile --cache maybe k.cl

# Files that the compiler reads.
echo '#define FACTOR 5' >headers/factor.h
runs 1 'another header'
runs 0 'the same header'
cmp -s out.ptx first.ptx && fail 'another header: the same result'
echo '#define FACTOR 3' >headers/factor.h
runs 1 'the first header'
same 'the first header'
touch headers/factor.h
runs 0 'a header with a new time and the same content'
sed 's/= FACTOR/= 1 + FACTOR/' k.cl >changed && cp k.cl old.cl && cp changed k.cl
runs 1 'another source'
cp old.cl k.cl
runs 1 'the first source'
same 'the first source'
cp counting other && sed 's/^echo/:\necho/' other >counting
runs 4 'another compiler, for which the libraries are compiled, too'
mv out.ptx first.ptx
echo 'constant char when[] = __TIME__;' >>headers/factor.h
runs 1 'a time macro'
runs 1 'a time macro again'
echo '#define FACTOR 3' >headers/factor.h
runs 0 'no time macro'
mkdir other_folder
cp -r k.cl headers counting other_folder
ln -s ../runs other_folder/runs
cd other_folder || exit 1
runs 4 'another folder with another compiler'
cd ..
: >runs

# A failed compilation is not stored.
echo 'kernel void bad(global int *out) { out[0] = missing; }' >bad.cl
for round in 1 2; do
    expect 2 "undeclared identifier 'missing'" compile --compiler ./counting bad.cl
done
[ "$(wc -l <runs)" = 2 ] || fail "a source with an error: the compiler ran $(wc -l <runs) times"

# Entries that are cut, changed or empty are not used.
runs 0 'the entry before the changes'
entry=$(ls -t cache/lanewise/ptx-* | head -n 1)
cp "$entry" good
size=$(wc -c <good)
for at in 0 8 16 100 400 $((size / 3)) $((size / 2)) $((size - 9)) $((size - 1)); do
    cp good "$entry"
    printf '\377' | dd of="$entry" bs=1 seek=$at conv=notrunc 2>/dev/null
    cmp -s good "$entry" && continue
    runs 1 "an entry whose byte $at is changed"
    same "an entry whose byte $at is changed"
done
for bytes in 0 7 8 23 $((size / 2)) $((size - 1)); do
    head -c $bytes good >"$entry"
    runs 1 "an entry of $bytes bytes"
    same "an entry of $bytes bytes"
done
runs 0 'the entry after the changes'

# Cache folders that cannot be written.
for folder in /proc/nothing "$work/k.cl" relative; do
    XDG_CACHE_HOME=$folder "$lanewise" compile --compiler "$clang" --emit ptx -o out.ptx -I headers -D ADD=1 k.cl >out 2>err </dev/null ||
        fail "XDG_CACHE_HOME=$folder: compile failed"
    same "XDG_CACHE_HOME=$folder"
done

echo "$cases cases, $failures failures"
[ $failures = 0 ]
