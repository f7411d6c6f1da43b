#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Tests the values of variables in findings: in code that is optimised and that is not, in inlined and in called functions, for
# the first lane of the finding, before its instruction, in all formats of reports. values.py compares values with those that the
# kernel must compute, and with those that the debugger prints.
. "${srcdir:-.}/tests/lib/cli_lib.sh"
command -v python3 >/dev/null || exit 77

cat >v.cl <<'END'
struct pair { int a, b; };
enum colour { RED, GREEN, BLUE };
float weight(int d) { return d * 0.5f; }
static int element(__global const int *data, int from)
{
    int index = from * 3 + 1;
    return data[index];
}
__kernel void mean(__global float *out, __global const float *in, int n, int reach)
{
    int gid = get_global_id(0);
    float sum = 0;
    for (int d = -reach; d <= reach; d++) {
        int at = gid + d;
        float w = weight(d);
        sum += w * in[at];
    }
    out[gid] = sum;
}
__kernel void nested(__global int *out, __global const int *in, int n)
{
    int gid = get_global_id(0), twice = gid * 2;
    if (gid % 4 == 3)
        out[gid] = element(in, twice) + n;
}
__kernel void chase(__global int *out, __global const int *in)
{
    int at = get_local_id(0);
    for (int i = 0; i < 5; i++)
        at = in[at];
    out[get_local_id(0)] = at;
}
__kernel void ratio(__global int *out, int n)
{
    int x = get_local_id(0) + 10;
    for (int i = 3; i >= -1; i--)
        x = x / (i + n);
    out[get_local_id(0)] = x;
}
__kernel void types(__global int *out, int n)
{
    int l = get_local_id(0);
    struct pair p = {l, n};
    int list[4] = {l, l + 1, l + 2, l + 3};
    int4 four = (int4)(l, 1, 2, 3);
    float f = l + 0.25f;
    double d = l * -3.0;
    ulong big = (ulong)l << 40;
    enum colour paint = l & 1 ? GREEN : BLUE;
    char c = (char)('a' + l);
    bool odd = l & 1;
    int last = p.b + list[l & 3] + four.x + (int)f + (int)d + (int)(big >> 40) + paint + c;
    out[p.a + (odd ? n : 0)] = last + (paint == GREEN) + (c == 'b');
}
__kernel void waiting(__global int *out, int k)
{
    int l = get_local_id(0), x = l * 3;
    if (l < k)
        barrier(CLK_LOCAL_MEM_FENCE);
    out[l] = x;
}
__kernel void race(__global int *out, int k)
{
    int gid = get_global_id(0);
    for (int i = 0; i < 4; i++) {
        int cell = (gid + i * 5) % 64;
        out[cell] += k;
    }
}
__kernel void local_race(__global int *out)
{
    __local int s[64];
    int l = get_local_id(0), other = l ^ 32;
    s[l] = l;
    out[l] = s[other];
}
__kernel void never(__global int *out, __global const int *in)
{
    int l = get_local_id(0), x = in[l], k = l + 7;
    if (x > 2)
        out[k] = l;
}
END

# usage: values KERNEL OPTION... . Runs a kernel of v.lwo, and writes the lines of values to the file values
values() {
    timeout 60 "$lanewise" run -q v.lwo --entry "$@" >out 2>err
    sed -n 's/^    lane /lane /p' err >values
}
# usage: has NAME=VALUE... . Expects these values in the line of values; a NAME without a value must not be there
has() {
    for v; do
        case $v in
        *=*) grep -qE "(: |, )${v%%=*} = ${v#*=}(,|\$)" values || fail "$what: no value $v: $(cat values err)" ;;
        *) ! grep -qE "(: |, )$v = " values || fail "$what: a value of $v: $(cat values)" ;;
        esac
    done
}
# usage: has_none_but NAME=VALUE... . Expects that all variables of these names that have values have these values
has_none_but() {
    for v; do
        ! grep -E "(: |, )${v%%=*} = " values | grep -qvE "(: |, )${v%%=*} = ${v#*=}(,|\$)" || fail "$what: not $v: $(cat values)"
    done
}

compilers=
for clang in clang-14 clang-15 clang-16 clang-19; do
    command -v $clang >/dev/null && compilers="$compilers $clang"
done
for clang in $compilers; do
    for how in -g "-X -O3" "-X -O1" --values; do
        # shellcheck disable=SC2086
        "$lanewise" compile --compiler $clang $how -o v.lwo v.cl >out 2>err || fail "$clang $how: v.cl does not compile"
        for width in 8 64; do
            what="$clang $how, $width lanes"
            values mean --warp $width --grid 2 --block 64 --arg 'out=f32[128]' --arg 'in=f32[120]:ramp' --arg 120 --arg 1 \
                --check=memory
            has sum=0 d=-1 gid=0 n=120
            [ "$how" != -g ] || has at=-1 w=-0.5
            grep -q '^lane 0: ' values && [ "$(wc -l <values)" = 1 ] || fail "$what: not one line of lane 0"
            # Lanes 3, 7, ... take the branch. The first one that accesses memory past the end of `in` is 19.
            values nested --warp $width --grid 1 --block 64 --arg 'out=s32[64]' --arg 'in=s32[100]:ramp' --arg 5 --check=memory
            has gid=19 n=5
            has_none_but twice=38 from=38 index=115
            [ "$how" != -g ] || has twice=38 from=38 index=115
            grep -q "^lane $((19 % width)): " values || fail "$what: not the first lane: $(cat values)"
            # The load writes the register that contains its address.
            values chase --warp $width --grid 1 --block 8 --arg 'out=s32[8]' --arg 'in=s32[20]:ramp=0,3' --check=memory
            has_none_but i=1 at=21
            [ "$how" = "-X -O1" ] || has at=21
            values ratio --warp $width --grid 1 --block 8 --arg 'out=s32[8]' --arg 0 --check=arithmetic
            has n=0
            has_none_but i=0 x=1
            [ "$how" = "-X -O1" ] || has x=1
            values types --warp $width --grid 1 --block 8 --arg 'out=s32[8]' --arg 7 --check=memory
            has p list four
            has_none_but l=1 f=1.25 d=-3 big=1099511627776 paint=GREEN "c=98 'b'" odd=1 last="[0-9]*" n=7
            [ "$how" != -g ] || has paint=GREEN "c=98 'b'" odd=1 big=1099511627776 d=-3 last=108
            values waiting --warp $width --grid 1 --block 64 --arg 'out=s32[64]' --arg 40 --check
            has l=0 k=40
            has_none_but x=0
            values local_race --warp $width --grid 1 --block 64 --arg 'out=s32[64]' --check=races
            has_none_but "l=[0-9]*" "other=[0-9]*"
            values never --warp $width --grid 1 --block 64 --arg 'out=s32[80]' --arg 'in=s32[64]' --check=uninitialised
            has_none_but l=0 k=7 # the value of x depends on the machine
            # A finding from the log of accesses has no values, and never those of another access.
            timeout 60 "$lanewise" run -q v.lwo --warp $width --entry race --grid 1 --block 64 --arg 'out=s32[64]:0' --arg 5 \
                --check=races --check-file race.json >out 2>err
            python3 - <<'END' || fail "$what: a race has values of another access"
import json
for f in json.load(open("race.json"))["findings"]:
    if "variables" not in f:
        continue
    v = {v["name"]: v["value"] for v in f["variables"]["values"]}
    if "cell" in v:
        assert int(f["address"], 16) % 256 == 4 * int(v["cell"]), f
    if {"cell", "gid", "i"} <= v.keys():
        assert int(v["cell"]) == (int(v["gid"]) + 5 * int(v["i"])) % 64, f
END
        done
        # The debugger shows no value of a variable that the finding does not show.
        if [ "$how" = "-X -O3" ]; then
            printf 'continue\nprint at\n' | "$lanewise" debug v.lwo --entry mean --grid 2 --block 64 --arg 'out=f32[128]' \
                --arg 'in=f32[120]:ramp' --arg 120 --arg 1 --check=memory >out 2>err
            what="$clang $how"
            sed -n 's/^    lane /lane /p' err >values
            ! grep -q 'optimised it out' out err || has at
        fi
    done
done

# The values are the same on all engines, and the reports in all formats contain them.
what=formats
"$lanewise" compile -g -o v.lwo v.cl >out 2>err || fail "v.cl does not compile"
mean="--entry mean --grid 2 --block 64 --arg out=f32[128] --arg in=f32[120]:ramp --arg n=120 --arg reach=1"
want='lane 0: w = -0.5, at = -1, sum = 0, in = 0x200000002000, d = -1, gid = 0, reach = 1, n = 120'
for more in "" "--timing volta" "--tags compact" "--reconv stack" "--policy minpc" "--check=all,-performance" \
    "--check=out-of-bounds"; do
    # shellcheck disable=SC2086
    timeout 60 "$lanewise" run -q v.lwo $mean --check=memory $more >out 2>err
    grep -qx "    $want" err || fail "$more: other values: $(cat err)"
done
LANEWISE_ENGINE=native timeout 60 "$lanewise" run -q v.lwo $mean --check=out-of-bounds >out 2>err
grep -qx "    $want" err || fail "native code: other values: $(cat err)"
# shellcheck disable=SC2086
timeout 60 "$lanewise" run -q v.lwo $mean --check=memory --check-file r.txt --check-file r.xml --check-file r.sarif \
    --check-file r.json --check-file known.yaml >out 2>err
grep -qx "    $want" r.txt || fail "the text report has no values"
grep -q "25 times; $want</failure>" r.xml || fail "the JUnit report has no values"
grep -q "25 times; $want\"}" r.sarif || fail "the SARIF report has no values"
python3 "$src/tests/check/report_forms.py" r.xml r.sarif || fail "the reports do not have the right format"
python3 - <<'END' || fail "the JSON report has no values"
import json
v = json.load(open("r.json"))["findings"][0]["variables"]
assert v["lane"] == 0 and {"name": "w", "value": "-0.5"} in v["values"] and len(v["values"]) == 8
END
# A suppression does not depend on values.
! grep -q 'at = \|-0.5' known.yaml || fail "the list of suppressions contains values"
# shellcheck disable=SC2086
timeout 60 "$lanewise" run -q v.lwo ${mean%1}3 --check=memory --check-suppress known.yaml >out 2>err
[ $? = 0 ] || fail "a finding with other values is not suppressed"
# Without the source, variables of the innermost scope come first.
mv v.cl w.cl
# shellcheck disable=SC2086
timeout 60 "$lanewise" run -q v.lwo $mean --check=memory >out 2>err
grep -qx '    lane 0: w = -0.5, at = -1, d = -1, sum = 0, gid = 0, reach = 1, n = 120, in = 0x200000002000' err ||
    fail "other values without the source: $(cat err)"
mv w.cl v.cl

n=0
for clang in $compilers; do
    for how in -g "-X -O3" "-X -O1" --values; do
        n=$((n + 1))
        # shellcheck disable=SC2086
        timeout 300 python3 "$src/tests/check/values/values.py" "$lanewise" $((${LW_PROP_SEED:-0} + 100 * n)) 3 \
            --compiler $clang $how >out 2>err || fail "$clang $how: wrong values"
    done
done
[ $failures = 0 ]
