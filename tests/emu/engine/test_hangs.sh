#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Runs all kernels of tests/kernels that must hang: their launch files have a line "# hang: KIND". The exit status must be 4,
# the statistics must contain the kind, and `lanewise run`, the shell and gdb's console must print the text of NAME.hang,
# byte for byte. UPDATE_GOLDEN=1 writes NAME.hang instead. A kernel that has a check step and hangs with --reconv stack or
# dualpath must complete with convergence barriers.
set -u
src=$(cd "${srcdir:-.}" && pwd)
lanewise=${LANEWISE:-$(pwd)/lanewise}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
. "$src/tests/lib/compile_once.sh"
cd "$src/tests/kernels" || exit 1
failures=0
count=0

fail() {
    echo "FAIL: $*"
    failures=$((failures + 1))
}

spun=0
for launch in *.yaml; do
    name=${launch%.yaml}
    kind=$(sed -n 's/^# hang: //p' "$launch")
    [ -n "$kind" ] || continue
    args=$(sed -n 's/^# args: //p' "$launch")
    count=$((count + 1))
    # shellcheck disable=SC2086
    "$lanewise" run $args "$launch" --stats "$work/stats" >"$work/out" 2>"$work/err"
    status=$?
    [ $status = 4 ] || fail "$name: exit status $status, expected 4"
    grep -q "\"hang\": {\"kind\": \"$kind\"" "$work/stats" || fail "$name: the kind is not $kind"
    if [ -n "${UPDATE_GOLDEN:-}" ]; then
        cp "$work/err" "$name.hang"
    elif ! diff -u "$name.hang" "$work/err"; then
        fail "$name: the hang report differs from $name.hang"
    fi
    # shellcheck disable=SC2086
    "$lanewise" run $args "$launch" --threads 3 2>&1 >"$work/out" |
        sed '/^lanewise: kernel .*fixed order/d' >"$work/words" # removes the line that says why one host thread runs the kernel
    diff -u "$name.hang" "$work/words" || fail "$name: with --threads 3 the hang report differs"
    # shellcheck disable=SC2086
    "$lanewise" debug $args --batch --command continue "$launch" >"$work/shell" 2>&1
    status=$?
    [ $status = 4 ] || fail "$name in the shell: exit status $status, expected 4"
    sed -n '/^hang: /,/^[^ h]/p' "$work/shell" | sed '/^[^ h]/d' >"$work/words"
    diff -u "$name.hang" "$work/words" || fail "$name: the hang report of the shell differs"
    # If lanes spin, the finding of --check has the pc of the first line of the hang report. It does not depend on where in
    # the loop the lanes were when the run stopped.
    case $kind in value | livelock)
        spins=$(sed -n '/ spins* with /{s/.* at pc \(0x[0-9a-f]*\).*/\1/p;q;}' "$name.hang")
        if [ -n "$spins" ]; then
            spun=$((spun + 1))
            # shellcheck disable=SC2086
            "$lanewise" run $args "$launch" --check 2>&1 | grep -q ", pc $spins\$" || fail "$name: the finding is not at pc $spins"
        fi ;;
    esac
    case $args in *"--reconv stack"* | *"--reconv dualpath"*)
        if grep -q 'check:' "$launch"; then
            "$lanewise" run "$launch" >"$work/out" 2>&1 ||
                fail "$name does not complete with convergence barriers: $(head -n 1 "$work/out")"
        fi ;;
    esac
done
[ $count -ge 16 ] || fail "expected at least 16 kernels, found $count"
[ $spun -ge 6 ] || fail "expected at least 6 kernels that spin, found $spun"

# A kernel that computes for a long time without a store does not hang. It must run to its end even with a small hang limit.
cat >"$work/long.cl" <<'END'
kernel void lcg(global uint *out, uint n)
{
    uint x = get_global_id(0);

    for (uint i = 0; i < n; i++)
        x = x * 1664525u + 1013904223u;
    out[get_global_id(0)] = x;
}
kernel void spins(global volatile uint *out)
{
    uint rounds = 0;

    while (out[1] == 0)
        rounds++;
    out[0] = rounds;
}
kernel void never(global uint *out)
{
    uint x = 0;

    for (;;)
        x++;
}
kernel void bytes(global uint *out)
{
    uchar a[8];
    int p = 0;

    for (int i = 0; i < 8; i++)
        a[i] = 0;
    do {
        a[p]++;
        p = (p + 1) & 7;
    } while (a[0] != 1 || a[7] != 5);
    out[0] = 1;
}
kernel void wraps(global uint *out, uint mask, uint n)
{
    uint x = get_global_id(0);

    while ((x & mask) != n)
        x++;
    out[get_global_id(0)] = x;
}
kernel void misses(global uint *out, uint n)
{
    uint i = 2 * get_global_id(0);

    while (i != n)
        i += 2;
    out[get_global_id(0)] = i;
}
END
cat >"$work/red.s" <<'END'
.kernel red
.param ptr.global out
v_mov_b64 v8:9, c[out]
again: v_add_u32 v1, v1, 1
v_and_b32 v2, v1, 7
v_setp_u32.eq p0, _, v2, 9
bar.red.or p1, 0, p0
@!p1 bra again
st.global.b32 [v8:9], v1
exit
.end
END
printf '%s\n' "machine: {hang_window: 2000}" "program: {source: red.s}" "buffers: {out: {type: u32, count: 64}}" \
    steps: "  - launch: {entry: red, grid: [2], block: [32], args: [out]}" >"$work/red.yaml"
# usage: launch NAME OPTIONS KERNEL ARGS [LINE...]. Writes the launch file NAME.yaml, with the LINEs as more steps
launch() {
    file=$work/$1.yaml
    printf '%s\n' "machine: {hang_window: 2000}" "program: {source: long.cl, options: [$2]}" \
        "buffers: {out: {type: u32, count: 64}}" steps: \
        "  - launch: {entry: $3, grid: [1], block: [64], args: [$4]}" >"$file"
    shift 4
    for extra in "$@"; do printf '%s\n' "  $extra" >>"$file"; done
}
# usage: ends NAME OPTION... . Expects that the run of NAME.yaml has exit status 0
ends() {
    name=$1
    shift
    if ! "$lanewise" run "$work/$name.yaml" "$@" >"$work/out" 2>&1; then
        fail "$name $*: a long loop does not end: $(head -n 2 "$work/out")"
    fi
}
# usage: hangs KIND NAME OPTION... . Expects that the run of NAME.yaml ends with a hang report of KIND
hangs() {
    kind=$1 name=$2
    shift 2
    timeout 60 "$lanewise" run "$work/$name.yaml" "$@" --stats "$work/stats" >"$work/out" 2>&1
    status=$?
    [ $status = 4 ] || fail "$name $*: exit status $status, expected 4"
    grep -q "\"hang\": {\"kind\": \"$kind\"" "$work/stats" || fail "$name $*: the kind is not $kind"
}
launch long2 -O2 lcg 'out, 30000000' \
    '- check: {buffer: out, values: [1851359616, 2630463361, 3409567106, 4188670851]}'
launch long0 -O0 lcg 'out, 2000000' \
    '- check: {buffer: out, values: [1488053888, 13949057, 2834811522, 1360706691]}'
ends long2
ends long0
ends long2 --tags compact
for level in -O2 -O0; do
    launch "spins$level" $level spins out
    launch "never$level" $level never out
    launch "misses$level" $level misses 'out, 33'
    launch "meets$level" $level misses 'out, 126' # all lanes leave the loop
    hangs value "spins$level"
    hangs livelock "never$level"
    hangs livelock "misses$level"
done
# The state repeats only after 2,048 iterations. The state is in local memory with -O0, and in a register with -O2.
for level in -O2 -O0; do
    launch "bytes$level" $level bytes out
    hangs livelock "bytes$level"
done
launch wraps-O2 -O2 wraps 'out, 1023, 1024'
hangs livelock wraps-O2 --hang-limit 67108864 --max-instructions 100000000
if [ -n "${LW_LONG:-}" ]; then
    hangs livelock bytes-O2 --hang-limit 67108864 --max-instructions 600000000
    hangs livelock bytes-O0 --hang-limit 67108864 --max-instructions 600000000
fi
hangs livelock red # all threads of the barrier are in one warp, so its completion does not count as progress
for how in '--reconv stack' '--warp 8' '--threads 2' '--timing fermi' '--check'; do
    # shellcheck disable=SC2086
    hangs value spins-O0 $how
done
hangs livelock misses-O2 --timing fermi
ends meets-O0
# A wait for a flag is no hang while a resident block that has not started may still set the flag.
"$lanewise" run flag.yaml --hang-limit 1000 >"$work/out" 2>&1 ||
    fail "flag.yaml does not run to its end: $(head -n 2 "$work/out")"
echo "$count kernels, $failures failures"
[ $failures = 0 ]
