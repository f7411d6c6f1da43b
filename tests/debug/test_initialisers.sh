#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Tests variables that the front end computes from their initialisers in the source. The test removes clang's debug values from the
# PTX, so that all values come from initialisers, and compares them with those at -O0. Variables whose initialiser is no proof of
# their value must have no value.
src=$(cd "${srcdir:-.}" && pwd)
lanewise=${LANEWISE:-$(pwd)/lanewise}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
. "$src/tests/lib/compile_once.sh"
failures=0
shown="gid lid group size halved quotient rest high wide narrow flag order both minus inner folded unsure"
hidden="later address param outer other loaded twice self"

cat >"$work/k.cl" <<'END'
#define LOG 5
#define SIZE (1 << LOG)
#ifdef WIDTH
#define UNSURE 3
#else
#define UNSURE 4
#endif
#define OUTER 7
kernel void k(global int *out, global const int *in, int n, uint m, int changes)
{
    int gid = get_global_id(0);
    const uint lid = get_local_id(0), first = lid + 3u;
    int group = get_group_id(0) * SIZE;
    size_t size = get_global_size(0) % 7;
    int halved = (gid - 100) >> 1;
    uint quotient = m / 3u;
    int rest = -n % ((int)lid + 3);
    uint high = lid << (32 - LOG);
    long wide = (long)n * gid + 4000000000u;
    uchar narrow = gid * 77;
    bool flag = gid < 21;
    int order = lid >= 5u;
    int both = n < 0 && m > 4000000000u;
    int minus = -n ^ ~gid;
    int folded = (7 - 2 * 3) % 4 + 0x10u / 5;
    int later = gid;
    int address = gid + 1;
    int param = changes;
    int unsure = UNSURE + gid;
    int loaded = in[3];
    int self = loaded + 1;
    int result = first;
    if (in[0] > 0)
        later += 3;
    vstore2((int2)(1, 2), 0, &address);
    changes += in[1];
    for (int twice = get_local_id(0); twice < n; twice += 40)
        out[twice & 7] = 1;
    {
        int first = in[2];
        int outer = first + 1;
        int other = outer * 2;
        int inner = n + 2;
        out[lid + 40] = outer + other + inner;
        result += first;
        out[get_global_id(0)] = result + in[4]; /* here */
        out[lid + 80] = outer - inner;
    }
    out[get_global_id(0) + 120] = group + (int)size + halved + (int)quotient + rest + (int)high + (int)wide + narrow + flag + order + both + minus +
        folded + later + address + param + unsure + loaded + self + changes + gid + (int)first;
}
END

# usage: values FILE OPTION... . Prints the variables' values, or "none", at a stop of thread 5 of the second block.
values() {
    file=$1
    shift
    printf 'break k.cl:%s if tid.x == 5 && ctaid.x == 1\ncontinue\n' "$(sed -n '/here/=' "$work/k.cl")" >"$work/commands"
    for variable in $shown $hidden; do
        echo "print $variable" >>"$work/commands"
    done
    (cd "$work" && timeout 60 "$lanewise" debug "$file" "$@" --grid 2 --block 16 --arg 'out=s32[200]' --arg 'in=s32[64]:random=1' \
        --arg n=-1000003 --arg m=4000000007 --arg changes=5 <commands 2>&1) |
        sed -n "s/^\([a-z]* = \)/\1/p; s/.*error: \([a-z]*\) has no value.*/\1 = none/p"
}

for clang in clang-14 clang-15 clang-16 clang-19; do
    command -v $clang >/dev/null || continue
    values k.cl --clang $clang -g >"$work/all"
    [ "$(grep -c = "$work/all")" = 24 ] || { echo "FAIL: variables lack values at -O0, $clang"; cat "$work/all"; failures=$((failures + 1)); }
    for level in -O1 -O2 -O3; do
        "$lanewise" compile --clang $clang -X $level --emit ptx -o "$work/k.ptx" "$work/k.cl" || failures=$((failures + 1))
        sed '/lw\.value [^ ]* [0-9]* [^:=]/d' "$work/k.ptx" >"$work/q.ptx"
        grep -q 'lw.value lid 12 :[0-9]* get_local_id ( 0 )' "$work/q.ptx" || { echo "FAIL: no initialiser, $clang $level"; failures=$((failures + 1)); }
        values q.ptx >"$work/some"
        if ! awk 'NR == FNR {at[$1] = $0; next} $3 != "none" && at[$1] != $0 {print at[$1] "; " $0; bad = 1} END {exit bad}' "$work/all" "$work/some"; then
            echo "FAIL: values differ from those at -O0, $clang $level"
            failures=$((failures + 1))
        fi
        for variable in $shown; do
            ! grep -q "^$variable = none" "$work/some" ||
                { echo "FAIL: $variable has no value, $clang $level"; failures=$((failures + 1)); }
        done
        for variable in $hidden; do
            grep -q "^$variable = none\$" "$work/some" || [ $variable = twice ] ||
                { echo "FAIL: $variable has a value, $clang $level"; failures=$((failures + 1)); }
        done
    done
done
[ $failures = 0 ] && echo "ok: all values computed from initialisers are those at -O0"
exit $failures
