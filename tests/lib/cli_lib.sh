# SPDX-License-Identifier: Apache-2.0
# For tests of the program from outside, which source this first: they continue in an empty folder, $work. $src is the
# source tree, $build the folder of the build, $lanewise the program (LANEWISE names another). fail SENTENCE counts in $failures and shows what the
# program printed last; expect and refuse run it.
set -u
src=$(cd "${srcdir:-.}" && pwd)
lanewise=${LANEWISE:-$(pwd)/lanewise}
case $lanewise in /*) ;; *) lanewise=$(pwd)/$lanewise ;; esac
build=$(pwd)
work=$(mktemp -d) || exit 99
trap 'rm -rf "$work"' EXIT
. "$src/tests/lib/compile_once.sh"
cd "$work" || exit 99
failures=0
cases=0

fail() {
    echo "FAIL: $*"
    head -n 12 out err 2>/dev/null | cut -c 1-200 | sed 's/^/    /'
    failures=$((failures + 1))
}

# expect STATUS PATTERN ARGUMENT...: the exit status, and a line of either output. What loops for ever is ended by its
# processor time; only what may wait for a debugger by its age, since starting timeout(1) costs as much as lanewise.
ulimit -S -t 300
expect() {
    want=$1
    pattern=$2
    shift 2
    cases=$((cases + 1))
    case " $*" in
    *" gdb"* | *" --gdb"* | *" -g"*) timeout 120 "$lanewise" "$@" >out 2>err </dev/null ;;
    *) "$lanewise" "$@" >out 2>err </dev/null ;;
    esac
    got=$?
    [ $got = "$want" ] || fail "lanewise $*: exit status $got, expected $want"
    [ -z "$pattern" ] || grep -q -- "$pattern" out err || fail "lanewise $*: no line with '$pattern'"
}

# one_line FILE: it has one line, and that ends
one_line() {
    { IFS= read -r _ && ! IFS= read -r rest && [ -z "$rest" ]; } <"$1"
}

# Usage errors say one sentence on standard error and nothing on standard output.
refuse() {
    expect 2 "$@"
    [ ! -s out ] || fail "the error is on standard output"
    one_line err || fail "the error is not one line"
}
