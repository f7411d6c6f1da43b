# SPDX-License-Identifier: Apache-2.0
# Library for tests that run the program lanewise. A test sources this file first. The current folder is then $work, which is
# empty. $src is the source tree, $build the build folder, and $lanewise the program (by default in the build folder; the
# environment variable LANEWISE may name another one). fail MESSAGE increments $failures and shows the last output of the program.
# expect and refuse run the program.
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

# usage: expect STATUS PATTERN ARGUMENT... . Runs lanewise. Checks the exit status, and that a line of standard output or standard
# error matches. A limit of CPU time ends endless loops. timeout(1) is used only for commands that may wait for a debugger,
# because starting timeout takes as long as lanewise itself.
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
    [ -z "$pattern" ] || grep -q -- "$pattern" out err || fail "lanewise $*: no line matches '$pattern'"
}

# usage: one_line FILE. Succeeds if the file consists of one line with a line end
one_line() {
    { IFS= read -r _ && ! IFS= read -r rest && [ -z "$rest" ]; } <"$1"
}

# usage: refuse PATTERN ARGUMENT... . Runs lanewise and expects a usage error: exit status 2, one line on standard error that
# matches, and nothing on standard output
refuse() {
    expect 2 "$@"
    [ ! -s out ] || fail "the error is on standard output"
    one_line err || fail "the error is not one line"
}
