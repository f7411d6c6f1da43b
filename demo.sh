#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Builds Lanewise, stops an OpenCL C kernel in stock gdb, runs the kernel to its end, and compares
# its result with the result of a C program on the host. On a terminal, gdb waits for your commands;
# otherwise gdb executes a list of commands. Installs Debian packages that are missing.
#
#   ./demo.sh [--help]
#
# The build folder is build/. The exit status is 0 if the result is right.
set -eu
cd "$(dirname "$0")"
for argument; do
    case $argument in
    -h | --help) sed -n '3,9s/^# \{0,1\}//p' demo.sh; exit 0 ;;
    *) echo "demo.sh: unknown argument '$argument'; see ./demo.sh --help" >&2; exit 2 ;;
    esac
done
top=$(pwd)

echo "== packages"
scripts/install-deps.sh demo

echo "== build (some minutes on two cores; build/make.log shows the progress)"
[ -x configure ] || autoreconf -fi >autoreconf.log 2>&1 || { cat autoreconf.log; exit 1; }
mkdir -p build
cd build
[ -f Makefile ] || ../configure -q
make -s -j "$(nproc)" >make.log 2>&1 || { tail -n 40 make.log >&2; exit 1; }
sh "$top/kernels/prepare" kernels

echo "== the kernel, stopped in gdb"
log=$(pwd)/demo.log
: >"$log"
./lanewise run kernels/mandelbrot.yaml --gdb 127.0.0.1:0 >"$log" 2>&1 &
emulator=$!
trap 'kill $emulator 2>/dev/null || true' EXIT
port=
tries=0
while [ -z "$port" ]; do
    port=$(sed -n 's/.*127\.0\.0\.1:\([1-9][0-9]*\).*/\1/p' "$log" | head -n 1)
    tries=$((tries + 1))
    if [ $tries -gt 200 ] || ! kill -0 $emulator 2>/dev/null; then
        echo "demo: lanewise has not opened a port for gdb; its output:" >&2
        cat "$log" >&2
        exit 1
    fi
    [ -n "$port" ] || sleep 0.1
done

line=$(sed -n '/im = 2/=' "$top/kernels/mandelbrot.cl")
# Options and first commands of gdb for both kinds of session. With debuginfod, Debian's gdb would ask whether to download
# debug files.
set -- -q -iex 'set debuginfod enabled off' -ex 'set print frame-arguments presence' \
    -ex "target remote 127.0.0.1:$port" -ex "break mandelbrot.cl:$line" -ex continue
if [ -t 0 ] && [ -t 1 ]; then
    echo "gdb will stop at line $line of mandelbrot.cl, in the loop. Try: info threads, p \$lane,"
    echo "set \$lane = 5, next, backtrace, p \$v3, delete, continue; then quit."
    gdb "$@"
else
    # After 30 more stops some lanes have left the loop. $active is the mask of the lanes that still run in it.
    gdb -batch -nx -iex 'set pagination off' -iex 'set confirm off' -iex 'set width 0' "$@" \
        -ex 'info threads 1-3' -ex 'backtrace' -ex 'echo \nwhich lane is in focus, and where is lane 5?\n' \
        -ex 'print $lane' -ex 'set $lane = 5' -ex 'next' -ex 'print $v0.f32' \
        -ex 'echo \nafter 30 more iterations of the loop\n' -ex 'ignore 1 30' -ex continue \
        -ex 'thread' -ex 'print $lane' -ex 'print/t $active' -ex delete \
        -ex 'echo \nrun to the end\n' -ex continue </dev/null
fi

echo "== the result"
status=0
wait $emulator || status=$?
trap - EXIT
cat "$log"
if [ $status != 0 ]; then
    echo "demo: the run failed with exit status $status"
    exit 1
fi
echo "demo: mandelbrot ran to its end, and its picture is equal to the picture that the host computes"
echo "Next: export PATH=$top/build:\$PATH, then docs/tutorial/first-run.md"
