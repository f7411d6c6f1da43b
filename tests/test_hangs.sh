#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Every kernel of tests/kernels that hangs (its launch file says "# verdict: KIND"): exit status
# 4, the kind in the statistics, and byte for byte the words of NAME.verdict, from `lanewise
# run`, from the shell and from gdb's console. GOLDEN=update writes the words instead. Those with
# "# args: --reconv stack" and a check complete with convergence barriers.
set -u
src=$(cd "${srcdir:-.}" && pwd)
lanewise=${LANEWISE:-$(pwd)/lanewise}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$src/tests/kernels" || exit 1
failures=0
count=0

fail() {
    echo "FAIL: $*"
    failures=$((failures + 1))
}

for launch in *.yaml; do
    name=${launch%.yaml}
    kind=$(sed -n 's/^# verdict: //p' "$launch")
    [ -n "$kind" ] || continue
    args=$(sed -n 's/^# args: //p' "$launch")
    count=$((count + 1))
    # shellcheck disable=SC2086
    "$lanewise" run $args "$launch" --stats "$work/stats" >"$work/out" 2>"$work/err"
    status=$?
    [ $status = 4 ] || fail "$name: exit status $status, expected 4"
    grep -q "\"hang\": {\"kind\": \"$kind\"" "$work/stats" || fail "$name: the kind is not $kind"
    if [ "${GOLDEN:-}" = update ]; then
        cp "$work/err" "$name.verdict"
    elif ! diff -u "$name.verdict" "$work/err"; then
        fail "$name: other words"
    fi
    # shellcheck disable=SC2086
    "$lanewise" run $args "$launch" --threads 3 2>&1 >"$work/out" |
        sed '/^lanewise: kernel .*fixed order/d' >"$work/words" # why one thread runs it
    diff -u "$name.verdict" "$work/words" || fail "$name: other words on three threads"
    # shellcheck disable=SC2086
    "$lanewise" debug $args --batch --command continue "$launch" >"$work/shell" 2>&1
    status=$?
    [ $status = 4 ] || fail "$name in the shell: exit status $status, expected 4"
    sed -n '/^hang: /,/^[^ h]/p' "$work/shell" | sed '/^[^ h]/d' >"$work/words"
    diff -u "$name.verdict" "$work/words" || fail "$name: the shell says other words"
    case $args in *"--reconv stack"*)
        if grep -q 'check:' "$launch"; then
            "$lanewise" run "$launch" >"$work/out" 2>&1 ||
                fail "$name does not complete with convergence barriers: $(head -n 1 "$work/out")"
        fi ;;
    esac
done
[ $count -ge 13 ] || fail "only $count kernels"
echo "$count kernels, $failures failures"
[ $failures = 0 ]
