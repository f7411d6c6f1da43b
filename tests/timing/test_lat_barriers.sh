#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Tests the insertion of LAT barriers in a program: by --lat-barriers of run, debug and compile, and by lat_barriers in a launch
# file. Memory must be the same with and without the barriers (U28, section 16.1 of dwr.md), in functional runs and on a GPU model
# with mechanism dwr, which uses the barriers.
. "${srcdir:-.}/tests/lib/cli_lib.sh"
sh "$src/kernels/prepare" . || exit 1

# usage: barriers FILE. Prints the number of LAT barriers in an object.
barriers() {
    "$lanewise" dis "$1" -o - | grep -c 'bar\.synch_partner'
}

# usage: memory ARGUMENT... . Runs lanewise, which must succeed, and prints hash_mem
memory() {
    "$lanewise" run "$@" --hash --quiet >out 2>err || echo "exit status $?"
    sed -n 's/.*hash_mem[ =:]*\([0-9a-fx]*\).*/\1/p' out
}

for f in *.yaml; do
    source=$(sed -n 's/^program: {source: \([^,}]*\.c[lu]\)[,}].*/\1/p' "$f")
    [ -n "$source" ] || continue
    cases=$((cases + 1))
    plain=$(memory "$f")
    with=$(memory "$f" --lat-barriers)
    [ -n "$plain" ] && [ "$plain" = "$with" ] || fail "$f: hash_mem is $plain, but $with with LAT barriers"
done
[ $cases -gt 15 ] || fail "expected more than 15 kernels, found $cases"

# The same on a GPU model with warps of 8 lanes in groups of eight.
for f in vadd gemm_tiled bfs scan transpose; do
    cases=$((cases + 1))
    set -- "$f.yaml" --timing="$src/docs/examples/dwr64.yaml" --timing-report dwr.json
    plain=$(memory "$@")
    grep -q '"dwr_barrier_lanes": 0' dwr.json || fail "$f: implicit barriers count as instructions"
    with=$(memory "$@" --lat-barriers --timing-set dwr.bar_mode=explicit)
    [ -n "$plain" ] && [ "$plain" = "$with" ] ||
        fail "$f: hash_mem is $plain with implicit barriers, but $with with explicit ones"
    grep -q '"dwr_barriers": [1-9]' dwr.json && grep -q '"dwr_barrier_lanes": [1-9]' dwr.json ||
        fail "$f: no explicit barrier was executed"
done

# compile, debug and run insert the same barriers.
expect 0 '' compile vadd.cl -o plain.lwo
expect 0 '' compile vadd.cl --lat-barriers -o with.lwo
[ "$(barriers plain.lwo)" = 0 ] && [ "$(barriers with.lwo)" = 3 ] || fail "vadd has two loads and a store: $(barriers with.lwo) barriers"
sed 's/^program: {source: vadd.cl/program: {lat_barriers: true, source: vadd.cl/' vadd.yaml >with.yaml
expect 0 'bar\.synch_partner' debug with.yaml --batch -c 'x/30i vadd'
expect 0 'bar\.synch_partner' debug vadd.yaml --lat-barriers --batch -c 'x/30i vadd'
expect 0 '' debug vadd.yaml --batch -c 'x/30i vadd'
grep -q 'bar\.synch_partner' out && fail "debug without --lat-barriers inserts barriers"
expect 0 '' run vadd.cl --lat-barriers --grid 4 --block 64 --arg a=f32[256] --arg b=f32[256] --arg c=f32[256] --arg n=256 --save-launch saved.yaml
grep -q 'lat_barriers: true' saved.yaml || fail "the saved launch file has no LAT barriers"

# Barriers can be inserted only in code that the translator generates.
refuse 'vadd.s: LAT barriers .* are inserted only when' run vadd_asm.yaml --lat-barriers
refuse 'vadd.s: LAT barriers .* are inserted only when' compile vadd.s --lat-barriers
refuse 'with.lwo: LAT barriers .* are inserted only when' compile with.lwo --lat-barriers
sed 's/^program: {/program: {lat_barriers: perhaps, /' vadd.yaml >wrong.yaml
refuse 'wrong.yaml:.*perhaps' run wrong.yaml
[ $failures = 0 ] && echo "ok, $cases cases"
exit $((failures != 0))
