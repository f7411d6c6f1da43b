#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Tests variables in optimised code for which clang's debug information gives wrong values. The debugger must show the value of
# -O0 or none. In the kernels, clang loads only the byte of an int that the code uses, moves an assignment in a branch before
# the branch, and counts with a multiple of a loop's counter. An int loaded from an array of bytes must have a value.
src=$(cd "${srcdir:-.}" && pwd)
lanewise=${LANEWISE:-$(pwd)/lanewise}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
. "$src/tests/lib/compile_once.sh"
failures=0

cat >"$work/narrow.cl" <<'END'
kernel void narrow(global int *out, global const int *in, global const uchar *bytes, int n)
{
    int gid = get_global_id(0), acc = 0;
    for (int i = 0; i < n; i++) {
        int byte = bytes[gid];
        int whole = in[gid + i];
        acc += whole & 0xff; /* here */
        acc += byte * 3;
        out[gid + i] = acc;
    }
}
END
cat >"$work/swap.cl" <<'END'
int divide(int a, int b, int *rest)
{
    int q = a / b;
    *rest = a - q * b;
    return q;
}
kernel void swap(global int *out, global const int *in, int n)
{
    int gid = get_global_id(0);
    int rest = 0;
    int q = divide(in[gid] & 4095, gid + 1, &rest);
    if (rest > q) { /* here */
        int t = rest;
        rest = q;
        q = t;
    }
    out[gid] = q * 1000 + rest;
}
END
cat >"$work/reduced.cl" <<'END'
kernel void reduced(global int *out, global const int *in, int n)
{
    int gid = get_global_id(0);
    int acc = gid;
    int carry = 0;
    int ops = 0;
    for (int pc = 0; pc < n; pc++) {
        int word = in[(pc * 5 + gid) & 63]; /* here */
        int op = word & 7;
        int arg = (word >> 3) & 15;
        switch (op) {
        case 0:
            acc += arg;
            break;
        case 1:
            acc -= arg;
            break;
        case 2:
            acc = acc * 3 + 1;
            carry = 1;
            break;
        case 3:
            if (acc & 1)
                carry = arg;
            acc >>= 1;
            break;
        case 4:
            acc ^= arg; /* fall through */
        case 5:
            ops += 10;
            break;
        default:
            acc = -acc;
            break;
        }
        ops++;
        acc += carry;
        carry = 0;
    }
    out[gid] = acc + ops;
}
END

# usage: values FILE VARIABLE OPTION... . Prints the variable's value, or "none", at each stop of thread 5 at the line "here".
values() {
    file=$1 variable=$2
    shift 2
    line=$(sed -n '/here/=' "$work/$file")
    printf 'break %s:%s if tid.x == 5\n' "$file" "$line" >"$work/commands"
    for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13; do
        printf 'continue\nprint %s\n' "$variable" >>"$work/commands"
    done
    (cd "$work" && timeout 60 "$lanewise" debug "$file" "$@" --grid 1 --block 32 --arg 'out=s32[64]' --arg 'in=s32[64]:random=1' \
        $(grep -q bytes "$file" && echo --arg bytes=u8[64]:random=2) --arg n=13 <commands 2>&1) |
        sed -n "s/^$variable = //p; s/.*$variable has no value.*/none/p"
}

# usage: compare FILE VARIABLE CLANG OPTION... . Each value must be that at -O0 or "none". Sets $known to the number of other
# values than "none".
compare() {
    file=$1 variable=$2 clang=$3
    shift 3
    values "$file" "$variable" --clang "$clang" -g >"$work/all"
    values "$file" "$variable" --clang "$clang" "$@" >"$work/some"
    [ -s "$work/all" ] && ! grep -q none "$work/all" ||
        { echo "FAIL: $variable in $file lacks values at -O0, $clang"; failures=$((failures + 1)); }
    known=$(grep -cv none "$work/some")
    if ! paste "$work/all" "$work/some" | awk '$2 != "none" && $2 != "" && $1 != $2 {print "at -O0 " $1 ", shown " $2; bad = 1} END {exit bad}'; then
        echo "FAIL: $variable in $file has other values than at -O0, $clang $*"
        failures=$((failures + 1))
    fi
}

for clang in clang-14 clang-15 clang-16 clang-19; do
    command -v $clang >/dev/null || continue
    for level in -O1 -O2 -O3; do
        compare narrow.cl whole $clang -X $level
        compare narrow.cl byte $clang -X $level
        [ "$known" != 0 ] || { echo "FAIL: byte in narrow.cl never has a value, $clang $level"; failures=$((failures + 1)); }
        compare swap.cl q $clang -X $level
        compare swap.cl rest $clang -X $level
        compare reduced.cl pc $clang -X $level
    done
done
[ $failures = 0 ] && echo "ok: all values shown are those at -O0"
exit $failures
