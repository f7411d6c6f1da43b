#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Tests checkpoints from the command line. Every kernel, including those that fault, hang or depend on the order of
# blocks, is resumed from several positions. Each reconvergence engine runs some of the kernels (with LW_LONG=1: all).
# Hang report, messages, text, checks, counts and hashes must be equal to those of the uninterrupted run. A checkpoint
# that does not match the program must be refused with a message.
set -u
src=$(cd "${srcdir:-.}" && pwd)
lanewise=${LANEWISE:-$(pwd)/lanewise}
case $lanewise in /*) ;; *) lanewise=$(pwd)/$lanewise ;; esac
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
. "$src/tests/lib/compile_once.sh"
failures=0
resumed=0
kernels=0

fail() {
    echo "FAIL: $*"
    failures=$((failures + 1))
}
# usage: one NAME ARGUMENT... . Runs `lanewise run` and writes output, report, status and counts, without times, to
# NAME.*. Counts of tags are omitted, because a resumed run starts again to detect tags
one() {
    name=$1
    shift
    "$lanewise" run "$@" --hash --stats "$work/stats" >"$work/$name.raw" 2>"$work/$name.err" </dev/null
    echo "status $?" >>"$work/$name.err"
    sed '/^tags: /d; s/, [0-9.]* s$//' "$work/$name.raw" >"$work/$name.out"
    sed '/second/d; /"threads"/d; /"tags": {/,/}/d' "$work/stats" >"$work/$name.stats"
}
# usage: goes_on LAUNCH OPTIONS. Writes checkpoints in a run, and resumes it from them. Without options it resumes from two of
# start, middle and end (LW_LONG=1: all three), with options from one position.
# shellcheck disable=SC2086
goes_on() {
    launch=$1
    options=$2
    rm -f "$work"/c.*
    # a run takes the options of the machine from the checkpoint
    not_saved=$(echo "$options" | sed -E 's/--(warp|reconv|policy|push-order|fairness-limit) [^ ]+//g')
    one want "$launch" $options --threads 1
    # kernels with CUDA's exchange of values between lanes need warps of 32 lanes, and are refused with narrower warps
    grep -q 'needs warps of 32 lanes' "$work/want.err" && return
    all=$(sed -n 's/.*"warp_instructions": \([0-9]*\).*/\1/p' "$work/stats")
    places=$((all * 2 / 3))
    if [ -z "$options" ] && [ "${LW_LONG:-}" = 1 ]; then
        places=$(printf '%s\n' 0 $((all / 3)) $places "$all" | sort -nu)
    elif [ -z "$options" ]; then # uses two of start, middle and end, in turn
        kernels=$((kernels + 1))
        places=$(printf '%s\n' $((all / 3 * (kernels % 2))) $((kernels % 3 == 0 ? all : places)) | sort -nu)
    fi
    at=
    for n in $places; do
        at="$at --checkpoint-at $n"
    done
    one got "$launch" $options --threads 1 --checkpoint "$work/c.%n" $at
    for f in out err stats; do
        cmp -s "$work/want.$f" "$work/got.$f" || fail "$*: writing checkpoints changes its $f"
    done
    for n in $places; do
        one got "$launch" $not_saved --threads ${threads:-1} --resume "$work/c.$n"
        resumed=$((resumed + 1))
        bytes=$(wc -c <"$work/got.out")
        [ "$n" = 0 ] || tail -c "$bytes" "$work/want.out" >"$work/tail"
        [ "$n" = 0 ] && cp "$work/want.out" "$work/tail"
        cmp -s "$work/tail" "$work/got.out" || fail "$* from checkpoint $n: the output differs"
        for f in err stats; do
            cmp -s "$work/want.$f" "$work/got.$f" || {
                fail "$* from checkpoint $n: $f differs"
                diff "$work/want.$f" "$work/got.$f" | head -n 6 | sed 's/^/    /'
            }
        done
    done
}
# usage: refused WORDS ARGUMENT... . Expects exit status 2 and one message that contains WORDS
refused() {
    words=$1
    shift
    "$lanewise" "$@" >"$work/out" 2>"$work/err" </dev/null
    [ $? = 2 ] || fail "not refused: $*"
    grep -q -- "$words" "$work/err" || fail "$*: expected the message '$words': $(cat "$work/err")"
    [ "$(wc -l <"$work/err")" = 1 ] || fail "the message is not one line: $*"
}

sh "$src/kernels/prepare" "$work/k" || exit 1
cp "$src"/tests/kernels/* "$work/k"
cd "$work/k" || exit 1
# Compiles each source once, instead of in each run.
for source in *.cl *.cu; do
    launch=$(grep -l "source: $source" ./*.yaml | head -n 1)
    [ -n "$launch" ] || continue
    flags=$(sed -n 's/.*options: \[\(.*\)\].*/\1/p' "$launch" | tr ',' ' ' | sed 's/[^ ][^ ]*/-X &/g')
    # shellcheck disable=SC2086
    "$lanewise" compile "$source" $flags -o "${source%.c*}.lwo" || exit 1
done
sed -i 's/source: \([a-z_0-9]*\)\.c[lu]/source: \1.lwo/; s/, options: \[.*\]//' ./*.yaml

# A small hang limit, so that the hang at the lock is reported soon.
sed 's/^program:/machine: {hang_window: 100000}\nprogram:/' spinlock.yaml >spinlock2.yaml
mv spinlock2.yaml spinlock.yaml

# usage: in_turn LAUNCH OPTIONS. Calls goes_on in every fifth call (LW_LONG=1: in every call)
turn=0
in_turn() {
    turn=$((turn + 1))
    [ "${LW_LONG:-}" != 1 ] && [ $((turn % 5)) != 1 ] || goes_on "$@"
}
for launch in *.yaml; do
    goes_on "$launch" ''
    in_turn "$launch" '--reconv stack'
    in_turn "$launch" '--warp 8 --policy minpc --tags shadow'
done
for launch in collatz.yaml bfs.yaml spinlock.yaml styles.yaml text.yaml; do
    for policy in rr maxpc most_lanes stack_like minpc_step; do
        in_turn "$launch" "--policy $policy --fairness-limit 0 --warp 16"
    done
    in_turn "$launch" '--reconv stack --push-order fall_through --warp 4 --tags shadow --tag-rules exact'
    in_turn "$launch" '--warp 64 --level 1'
    in_turn "$launch" '--tags compact'
done

# Resumes on two host threads. The kernels have the same results on two threads.
threads=2
for launch in vadd.yaml reduction.yaml hello.yaml text.yaml; do
    goes_on "$launch" ''
done
threads=1

# Results do not depend on tags, so a run can resume from a checkpoint of a run with another tag mode.
for modes in 'off compact' 'compact off' 'shadow compact' 'compact shadow'; do
    one want bfs.yaml --threads 1
    one got bfs.yaml --tags "${modes% *}" --checkpoint "$work/tags" --checkpoint-at 20000
    one got bfs.yaml --tags "${modes#* }" --threads 1 --resume "$work/tags"
    cmp -s "$work/want.out" "$work/got.out" ||
        fail "resuming a run with tags ${modes% *} with tags ${modes#* } changes the output"
done

# A run may overwrite its checkpoint several times. Without a position the checkpoint is written at the end of the run, so that
# a fault can be inspected from the checkpoint.
one want collatz.yaml
one got collatz.yaml --checkpoint "$work/last" --checkpoint-every 400
cmp -s "$work/want.out" "$work/got.out" || fail "checkpoints every 400 instructions change the run"
one got collatz.yaml --resume "$work/last" --checkpoint "$work/%n of %n" --checkpoint-every 100000
cmp -s "$work/want.out" "$work/got.out" || fail "a run from the last checkpoint of collatz has other output"
ls "$work"/*' of '* >/dev/null 2>&1 && fail "a checkpoint was written that was not requested"
printf '%s\n' "lanewise: --checkpoint-every 100000: no checkpoint was written, as the run ended at instruction $(
    sed -n 's/.*"warp_instructions": \([0-9]*\).*/\1/p' "$work/stats")" 'status 0' | cmp -s - "$work/got.err" ||
    fail "wrong message that no checkpoint was written: $(cat "$work/got.err")"
one got collatz.yaml --checkpoint "$work/last" --checkpoint-every 400
[ "$(cat "$work/got.err")" = 'status 0' ] || fail "there is a message although checkpoints were written: $(cat "$work/got.err")"
one got collatz.yaml --checkpoint "$work/end"
one got collatz.yaml --resume "$work/end"
cmp -s "$work/want.out" "$work/got.out" || fail "a run from the checkpoint at the end has other output"
"$lanewise" run fault7.yaml --checkpoint "$work/fault" >"$work/out" 2>"$work/err" && fail "fault7 does not fault"
"$lanewise" debug fault7.yaml --resume "$work/fault" --batch -c 'info warps' -c continue \
    >"$work/out" 2>&1
[ $? = 3 ] || fail "a run from the checkpoint of a fault does not fault"
grep -q 'block(7,0,0) w1' "$work/out" || fail "the checkpoint does not contain the warp that faulted"
"$lanewise" run collatz.yaml -q --checkpoint "$work/mid" --checkpoint-at 500 || fail "run --checkpoint-at 500 fails"
"$lanewise" debug collatz.yaml --resume "$work/mid" --batch -c continue >"$work/out" ||
    fail "the shell cannot use the checkpoint"
# The schedule log of a run is the same with and without checkpoints.
"$lanewise" run bfs.yaml -q --log "$work/log1" || fail "the run with a log fails"
"$lanewise" run bfs.yaml -q --log "$work/log2" --checkpoint "$work/x" --checkpoint-every 999 ||
    fail "the run with a log and checkpoints fails"
cmp -s "$work/log1" "$work/log2" || fail "checkpoints change the schedule log"

refused 'needs a file: add --checkpoint FILE' run collatz.yaml --checkpoint-at 5
refused 'needs a file: add --checkpoint FILE' run collatz.yaml --checkpoint-every 5
refused 'give one of them' run collatz.yaml --checkpoint x --checkpoint-at 5 --checkpoint-every 5
refused 'put %n' run collatz.yaml --checkpoint x --checkpoint-at 5 --checkpoint-at 6
refused 'given twice' run collatz.yaml --checkpoint x%n --checkpoint-at 5 --checkpoint-at 5
refused 'expected a count' run collatz.yaml --checkpoint x --checkpoint-at -5
refused '1 or more' run collatz.yaml --checkpoint x --checkpoint-every 0
refused 'none/such: cannot be written' run collatz.yaml --checkpoint none/such
refused 'decides what runs' run collatz.yaml --checkpoint x --gdb
refused 'a checkpoint does not contain the rest of the log' run collatz.yaml --checkpoint x --replay "$work/log1"
refused 'cannot be combined, as a schedule log starts at the start of the run' run bfs.yaml --resume "$work/mid" --log x
refused 'cannot be combined, as a schedule log starts at the start of the run' debug bfs.yaml --resume "$work/mid" --replay "$work/log1"
refused 'the run starts later' run collatz.yaml --resume "$work/mid" --checkpoint x --checkpoint-at 5
refused 'the run ended at' run collatz.yaml -q --checkpoint x --checkpoint-at 99999999
refused 'none/such' run collatz.yaml --resume none/such
refused 'is not a checkpoint' run collatz.yaml --resume collatz.yaml
refused 'another program' run bfs.yaml --resume "$work/mid"
sed 's/^steps:/# another text\nsteps:/' collatz.yaml >collatz2.yaml
refused 'not the launch file' run collatz2.yaml --resume "$work/mid"
refused 'option warp=32, but in this run the option is 16' run collatz.yaml --resume "$work/mid" --warp 16
refused 'option warp=32, but in this run the option is 16' debug collatz.yaml --resume "$work/mid" --warp 16
head -c 2000 "$work/mid" >"$work/short"
refused 'damaged' run collatz.yaml --resume "$work/short"
{ head -c 3000 "$work/mid"; printf 'x'; tail -c +3002 "$work/mid"; } >"$work/changed"
refused 'damaged' run collatz.yaml --resume "$work/changed"
{ head -c 8 "$work/mid"; printf '\177'; tail -c +10 "$work/mid"; } >"$work/version"
refused 'is a checkpoint of version 127' run collatz.yaml --resume "$work/version"

[ $failures = 0 ] || exit 1
echo "$resumed runs were resumed from checkpoints"
