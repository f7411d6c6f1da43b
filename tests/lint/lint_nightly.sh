#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Checks the steps of tests/nightly.sh. Each test that a step runs must exist. If an environment variable makes a random or
# exhaustive test longer, a step must run the test with this variable. If LW_RANDOM_DIVISOR makes a test shorter, a step must run
# it, too. The argument may name another script in place of tests/nightly.sh.
set -u
cd "${srcdir:-.}" || exit 99
bad=0
complain() {
    echo "$*"
    bad=1
}
work=$(mktemp -d) || exit 99
trap 'rm -rf "$work"' EXIT
# shellcheck disable=SC2086
LW_NIGHTLY_LIST=1 srcdir=. bash ${1:-tests/nightly.sh} >"$work/all" || complain "nightly.sh: cannot list its steps"
sed "s: $(pwd)/: :g" "$work/all" >"$work/steps"
[ "$(grep -c . "$work/steps")" -ge 40 ] || complain "nightly.sh: the list has $(grep -c . "$work/steps") steps"

# A test program exists if a *.mk file lists it.
find tests -name '*.mk' -exec cat {} + >"$work/mk"
grep -oE '(tests|bench)/[a-z0-9_/]*[a-z0-9_](\.sh)?' "$work/steps" | sort -u >"$work/named"
while read -r test; do
    [ -f "$test" ] && [ -x "$test" ] && continue
    grep -q "^$(echo "$test" | tr / _)_SOURCES" "$work/mk" || complain "nightly.sh: there is no test $test"
done <"$work/named"

# A line has a pattern that matches the code of tests whose size can be changed, and the variables by which a step must make such
# tests larger.
cat >"$work/sizes" <<'END'
all_values\(&?[a-z]	LW_EXHAUSTIVE
prop_count\(.*seed\)	LW_RANDOM_COUNT
fix_last_seed\(	(LW_LONG|LW_RANDOM_COUNT)
LW_RANDOM_COUNT	(LW_LONG|LW_RANDOM_COUNT|LW_NATIVE_COUNT)
LW_RANDOM_DIVISOR	
LW_LONG	LW_LONG
LW_ZOO	LW_ZOO
LW_TIMING	LW_TIMING
LW_BUILTINS	LW_BUILTINS
LW_REPEATS	LW_REPEATS
LW_SESSIONS	LW_SESSIONS
LW_NATIVE_COUNT	LW_NATIVE_COUNT
LW_DAP_RUNS	LW_DAP_RUNS
END
# Excludes test_isa_table.c, which tests prop_count() itself, and behaviours/run.sh, a library of tests that have their own steps.
find tests \( -name '*.c' -o -name '*.sh' \) ! -path 'tests/lint/*' ! -path 'tests/lib/*' ! -path 'tests/clients/behaviours/*' \
    ! -name nightly.sh ! -name aarch64.sh ! -name test_isa_table.c >"$work/sources"
tab=$(printf '\t')
while IFS=$tab read -r size variable; do
    case $size in LW_*) pattern="\"$size\"|[{]$size[:}]" ;; *) pattern=$size ;; esac
    # shellcheck disable=SC2046
    grep -lE -- "$pattern" $(cat "$work/sources") >"$work/users" || complain "no test has $size"
    while read -r file; do
        test=${file%.*}
        grep -E -- " $test(\.sh)?( |\$)" "$work/steps" >"$work/own" || { complain "nightly.sh: no step runs $test, which has $size"; continue; }
        [ -z "$variable" ] || grep -qE -- " $variable=" "$work/own" || complain "nightly.sh: no step of $test sets $variable"
    done <"$work/users"
done <"$work/sizes"
exit $bad
