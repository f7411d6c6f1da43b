#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Runs kernels that observe the order of threads, fault, hang or print, on one, two and three host threads. Text,
# reports, hashes, counts and exit status must be equal. Kernels whose results depend on the order of blocks must run
# on one host thread, and the others on several.
set -u
src=$(cd "${srcdir:-.}" && pwd)
lanewise=${LANEWISE:-$(pwd)/lanewise}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
. "$src/tests/lib/compile_once.sh"
divisor=${LW_RANDOM_DIVISOR:-1}
repeats=$(((${LW_REPEATS:-6} + divisor - 1) / divisor))
failures=0
runs=0

fail() {
    echo "FAIL: $*"
    failures=$((failures + 1))
}

# usage: one NAME THREADS OUT. Runs a launch file and writes its output to OUT, without times and the number of
# threads
one() {
    "$lanewise" run "$work/$1.yaml" --threads "$2" --quiet --hash --stats "$work/stats" \
        >"$3" 2>"$work/err"
    echo "status $?" >>"$3"
    grep -v 'in the fixed order on one host thread' "$work/err" >>"$3"
    # the number of instructions of blocks after the one that stopped the run differs from run to run
    case $4 in
    stops) sed -n '/"status"/p; /"exit_status"/p; /"fault"/p; /"hang"/p' "$work/stats" >>"$3" ;;
    *) grep -v 'second\|"threads"' "$work/stats" >>"$3" ;;
    esac
    runs=$((runs + 1))
}

# usage: same NAME ORDER STATUS ends|stops. Expects equal output on one, two and three threads. ORDER says whether several host
# threads may run the kernel
same() {
    one "$1" 1 "$work/want" "$4"
    grep -q "^status $3\$" "$work/want" || {
        fail "$1: expected exit status $3"
        sed 's/^/    /' "$work/want" | head -n 8
    }
    grep -q "\"name\": \"k\",.*\"order\": \"$2\"" "$work/stats" || fail "$1 is not $2"
    i=0
    while [ $i -lt "$repeats" ]; do
        for threads in 2 3; do
            one "$1" $threads "$work/got" "$4"
            cmp -s "$work/want" "$work/got" || {
                fail "$1: the output on $threads threads differs from that on one thread"
                diff "$work/want" "$work/got" | head -n 8 | sed 's/^/    /'
            }
            case $2 in
            fixed)
                grep -q '"threads": 1,' "$work/stats" || fail "$1 runs on several threads"
                grep -q 'in the fixed order on one host thread' "$work/err" ||
                    fail "$1: no message that the kernel runs on one thread" ;;
            *) grep -q "\"threads\": $threads," "$work/stats" || fail "$1 runs on one thread" ;;
            esac
        done
        i=$((i + 1))
    done
}

cp "$src"/tests/kernels/*.s "$src"/tests/kernels/*.yaml "$work"
# Runs all other kernels that hang: those that need the fixed order of blocks, and those that do not.
for report in "$src"/tests/kernels/*.hang; do
    name=$(basename "$report" .hang)
    one "$name" 1 "$work/want" stops
    one "$name" 3 "$work/got" stops
    cmp -s "$work/want" "$work/got" || {
        fail "$name: the output on 3 threads differs from that on 1 thread"
        diff "$work/want" "$work/got" | head -n 8 | sed 's/^/    /'
    }
done
same ticket fixed 0 ends
same float_add fixed 0 ends
same flag fixed 0 ends
same generic fixed 0 ends
same mixed fixed 0 ends
same shared_ticket block-order-free 0 ends
same count order-free 0 ends
same text block-order-free 0 ends
same fault7 block-order-free 3 stops
same assert5 block-order-free 3 stops
same barrier order-free 4 stops
same spin order-free 4 stops

# The fault, text and hang report must be those of the first block that stops in the fixed order of blocks.
"$lanewise" run "$work/fault7.yaml" --threads 3 >"$work/out" 2>"$work/err"
grep -q 'block (7,0,0), warp 1, lanes 0xe0000000' "$work/err" || fail "fault7: the reported fault is not that of block 7"
for b in 0 1 2 3 4 5 6; do
    printf 'block %d\nblock %d is late\n' $b $b
done >"$work/text"
printf 'block 7\nblock 7 is late\n' >>"$work/text"
cmp -s "$work/text" "$work/out" || fail "fault7: the text is not the text of blocks 0 to 7"
"$lanewise" run "$work/barrier.yaml" --threads 3 2>"$work/err"
grep -q 'barrier 0: 32 of 64' "$work/err" || fail "barrier: the hang report does not name the barrier"
"$lanewise" run "$work/assert5.yaml" --threads 3 2>"$work/err"
grep -q 'assert5.cu:12: kernel: assertion .x != 5. failed; kernel k, block (5,0,0)' "$work/err" ||
    fail "assert5: the assertion of block 5 is not named"

# The disassembly also contains the reason for the fixed order, and can be assembled.
"$lanewise" dis "$work/mixed.s" >"$work/dis.s" || fail "lanewise dis fails"
grep -q '^# kernel k: fixed order: red.global.add.u32 .* (mixed with a different operation' "$work/dis.s" ||
    fail "dis does not name the instruction that observes order"
"$lanewise" asm "$work/dis.s" -o "$work/dis.lwo" || fail "the assembler does not accept the output of dis"

[ $failures = 0 ] && echo "$runs runs are equal"
exit $((failures > 0))
