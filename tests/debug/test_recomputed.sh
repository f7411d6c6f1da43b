#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Tests variables in optimised code that depend only on special registers, on parameters of the kernel, and on registers that are
# still in use. The registers of these variables are reused, so the debugger computes the values again. Each value must be that at
# -O0.
src=$(cd "${srcdir:-.}" && pwd)
lanewise=${LANEWISE:-$(pwd)/lanewise}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
. "$src/tests/lib/compile_once.sh"
failures=0
variables="gid mixed shifted packed product high big n base scaled rest part"

cat >"$work/fixed.cl" <<'END'
uint twice(uint x)
{
    uint result = x * 2u;
    return result + 1u;
}
kernel void fixed(global int *out, global const int *in, int n, long big)
{
    int gid = get_global_id(0);
    int mixed = (gid << 3 ^ n) - (int)get_local_size(0) * 5;
    int shifted = (n - gid) >> 2;
    uint packed = ((uint)n >> 3 | (uint)gid << 24) + twice((uint)get_local_id(0));
    long product = (long)n * gid + (big >> 7);
    uint high = (uint)(big >> 32) & 0xffffu;
    out[gid] = mixed;
    out[gid + 32] = shifted;
    out[gid + 64] = (int)packed;
    vstore2(as_int2(product), gid, out + 96);
    out[gid + 160] = (int)high;
    int base = in[gid + 7];
    int scaled = base * 3 + n;
    int rest = base % (gid + 3);
    uint part = (uint)base / ((uint)gid + 9u) ^ (uint)n;
    out[gid + 193] = scaled;
    out[gid + 225] = rest;
    out[gid + 257] = (int)part;
    int sum = 0;
    for (int i = 0; i < 13; i++)
        sum += in[i] * 3; /* here */
    out[192] = sum;
    out[gid + 289] = base;
}
END

# usage: values OPTION... . Prints the variables' values, or "none", at a stop of thread 5 of the second block.
values() {
    printf 'break fixed.cl:%s if tid.x == 5 && ctaid.x == 1\ncontinue\n' "$(sed -n '/here/=' "$work/fixed.cl")" >"$work/commands"
    for variable in $variables; do
        echo "print $variable" >>"$work/commands"
    done
    (cd "$work" && timeout 60 "$lanewise" debug fixed.cl "$@" --grid 2 --block 16 --arg 'out=s32[321]' --arg 'in=s32[64]:random=1' \
        --arg n=-1000003 --arg big=-77777777777777 <commands 2>&1) |
        sed -n "s/^\([a-z]* = \)/\1/p; s/.*error: \([a-z]*\) has no value.*/\1 = none/p"
}

for clang in clang-14 clang-15 clang-16 clang-19; do
    command -v $clang >/dev/null || continue
    values --clang $clang -g >"$work/all"
    [ "$(grep -cv none "$work/all")" = 12 ] || { echo "FAIL: variables lack values at -O0, $clang"; cat "$work/all"; failures=$((failures + 1)); }
    for level in -O1 -O2 -O3; do
        values --clang $clang -X $level >"$work/some"
        if ! paste "$work/all" "$work/some" | awk '$1 != $4 || ($6 != "none" && $3 != $6) {print; bad = 1} END {exit bad}'; then
            echo "FAIL: values differ from those at -O0, $clang $level"
            failures=$((failures + 1))
        fi
        for variable in gid mixed shifted packed base scaled rest part; do
            ! grep -q "^$variable = none" "$work/some" || { echo "FAIL: $variable has no value, $clang $level"; failures=$((failures + 1)); }
        done
    done
done
[ $failures = 0 ] && echo "ok: all values shown are those at -O0"
exit $failures
