#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Builds Lanewise and runs all its tests.
#
#   ./test.sh [--werror] [--sanitize] [--no-install] [-j N] [-- MAKE-ARGUMENTS...]
#
#   --werror      the compiler treats warnings as errors
#   --sanitize    builds with the address and undefined-behaviour sanitizers, for the baseline processor only; random tests
#                 run a tenth of their cases (without this option a ninth; `make nightly` runs all and more)
#   --no-install  does not install missing Debian packages
#
# The build folder is build-test/, or build-sanitize/ with --sanitize. The exit status is 0 if all tests pass.
set -eu
cd "$(dirname "$0")"
werror=; sanitize=; install=yes; jobs=$(nproc 2>/dev/null || echo 2)
while [ $# -gt 0 ]; do
    case $1 in
    --werror) werror=--enable-werror ;;
    --sanitize) sanitize=yes ;;
    --no-install) install= ;;
    -j) jobs=$2; shift ;;
    --) shift; break ;;
    -h | --help) sed -n '3,12s/^# \{0,1\}//p' "$0"; exit 0 ;;
    *) echo "test.sh: unknown option '$1'; see ./test.sh --help" >&2; exit 2 ;;
    esac
    shift
done
[ -z "$install" ] || scripts/install-deps.sh test
# Puts the folder of the real python3 program first in PATH: a wrapper that selects a version takes ten times as long to start.
if python=$(python3 -c 'import os, sys; print(os.path.dirname(sys.executable))' 2>/dev/null) && [ -x "$python/python3" ]; then
    export PATH=$python:$PATH
fi

build=build-test; quickly=
export LW_RANDOM_DIVISOR=${LW_RANDOM_DIVISOR:-9}
configure="$werror --enable-runnable-levels" # tests cannot run code for x86-64 levels that this processor lacks
if [ -n "$sanitize" ]; then
    build=build-sanitize
    configure="$werror --enable-asan --enable-ubsan --enable-one-level"
    export LW_RANDOM_DIVISOR=10 LW_SLOW=1 # LW_SLOW: some tests run fewer cases
    export ASAN_OPTIONS=${ASAN_OPTIONS:-detect_leaks=1:allocator_may_return_null=1}
fi
start=$SECONDS
[ -x configure ] && [ configure -nt configure.ac ] && [ Makefile.in -nt Makefile.am ] &&
    [ -z "$(find . -path ./build\* -prune -o \( -name local.mk -o -name '*.mk' \) -newer Makefile.in -print)" ] ||
    autoreconf -fi >/dev/null 2>&1 || { echo "test.sh: autoreconf failed" >&2; autoreconf -fi; exit 1; }
mkdir -p "$build"
cd "$build"
if [ -n "$sanitize" ]; then
    ../configure -q $configure CFLAGS='-O1 -g'
else
    ../configure -q $configure CFLAGS="${CFLAGS:--O2}" # without -g, because the many test programs then link faster
    quickly="CFLAGS=${CFLAGS:--O1}"                     # for the code of tests only, which then compiles faster
fi
build() { # runs make with these arguments; prints only errors
    make -j"$jobs" V=0 "$@" >>build.log 2>&1 && return
    grep -E 'error|Error|warning|undefined' build.log | head -n 40 >&2
    echo "test.sh: the build failed; $build/build.log has all output" >&2
    exit 1
}
echo "building in $build/ ..."
: >build.log
build all
build check TESTS= ${quickly:+"$quickly"}
echo "built in $((SECONDS - start)) s"
status=0
rm -rf tests/lib/compiled # programs that tests of an earlier run have compiled
make -s -j"$jobs" check "$@" >check.log 2>&1 || status=$?
grep -E '^(PASS|FAIL|SKIP|XFAIL|XPASS|ERROR):' check.log || true
if [ $status -ne 0 ]; then
    echo "---- failures"
    for log in $(sed -n 's/^\(FAIL\|ERROR\): \(.*\)$/\2/p' check.log | sort -u); do
        echo "---- $log"
        tail -n 60 "${log%.sh}.log" 2>/dev/null || tail -n 60 "$log.log" 2>/dev/null || true
    done
    tail -n 5 check.log
fi
passed=$(grep -c '^PASS:' check.log || true)
failed=$(grep -cE '^(FAIL|ERROR|XPASS):' check.log || true)
[ $status -eq 0 ] || [ "$failed" -gt 0 ] || failed=1
skipped=$(grep -c '^SKIP:' check.log || true)
echo "finished in $((SECONDS - start)) s"
echo "$passed passed, $failed failed, $skipped skipped"
exit $status
