#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Builds Lanewise for AArch64, runs all tests under qemu's user mode, and compares the memory hash (hash_mem) of each sample
# kernel with that of the program for the host.
#
#   srcdir=DIR LANEWISE=PROGRAM tests/aarch64.sh [BUILD-FOLDER [TEST...]]
#
# LANEWISE is the program for the host (default: ./lanewise). The build folder (default: build-aarch64) is created and
# not removed. If TESTs are given, only these run. Exit status 77 means that a tool or library is missing; a message
# names it.
# The host's kernel starts the compiler process of native code. Therefore the tests of native code fail unless the kernel starts
# programs for AArch64 by qemu and keeps argv[0] (Debian: qemu-user-binfmt), and LLVM is installed (libllvm19:arm64).
# Debian: dpkg --add-architecture arm64; then gcc-aarch64-linux-gnu, qemu-user and, each with :arm64, libyaml-dev,
# libreadline-dev, libelf-dev, libcapstone-dev, libcmocka-dev.
set -u
src=$(cd "${srcdir:-.}" && pwd)
native=${LANEWISE:-$(pwd)/lanewise}
build=${1:-build-aarch64}
[ $# = 0 ] || shift
triplet=aarch64-linux-gnu
export PKG_CONFIG_LIBDIR=/usr/lib/$triplet/pkgconfig:/usr/share/pkgconfig
lack() { echo "aarch64: $* is missing; see the head of $0"; exit 77; }
command -v $triplet-gcc >/dev/null || lack "$triplet-gcc"
command -v qemu-aarch64 >/dev/null || lack qemu-aarch64
for library in yaml-0.1 readline libelf capstone cmocka; do
    pkg-config --exists $library || lack "$library for AArch64"
done
[ -x "$native" ] || { echo "aarch64: no program $native to compare with"; exit 1; }
mkdir -p "$build" && cd "$build" || exit 1
here=$(pwd)

[ -f Makefile ] || "$src/configure" --quiet --host=$triplet PKG_CONFIG=pkg-config >configure.log 2>&1 ||
    { tail -n 5 configure.log; exit 1; }
make -s -j"$(nproc)" >build.log 2>&1 && make -s -j"$(nproc)" BUILD_CC=cc check TESTS= >>build.log 2>&1 ||
    { grep -E 'error|undefined|warning' build.log | head -n 20; echo "aarch64: the build failed"; exit 1; }

rm -f tests/lib/once/* # programs that run before each clang, which qemu would run, too

# qemu runs the programs for AArch64, also those that scripts start. The scripts themselves run on the host.
printf '#!/bin/sh\ncase $1 in *.sh) exec "$@" ;; esac\nexec qemu-aarch64 "$@"\n' >run-test
for program in lanewise tests/clients/gdb_server; do
    printf '#!/bin/sh\nexec qemu-aarch64 "%s/%s" "$@"\n' "$here" $program >"run-${program##*/}"
done
chmod +x run-*
environment="srcdir=$src LANEWISE=$here/run-lanewise GDB_SERVER=$here/run-gdb_server"
environment="$environment LW_RANDOM_DIVISOR=${LW_RANDOM_DIVISOR:-10} LW_SLOW=1"
only=()
[ $# = 0 ] || only=("TESTS=$*")
make -s -k check BUILD_CC=cc LOG_COMPILER="$here/run-test" TESTS_ENVIRONMENT="$environment" "${only[@]}" >check.log 2>&1
status=$?
grep -E '^(PASS|FAIL|SKIP|ERROR|XPASS):' check.log

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
sh "$src/kernels/prepare" "$work/k" && cd "$work/k" || exit 1
compared=0; differ=0
for launch in *.yaml; do
    want=$("$native" run "$launch" --hash 2>&1 | grep '^hash_')
    got=$("$here/run-lanewise" run "$launch" --hash 2>&1 | grep '^hash_')
    compared=$((compared + 1))
    if [ -z "$want" ] || [ "$want" != "$got" ]; then
        differ=$((differ + 1))
        echo "FAIL: $launch: the hash is" $want "here, but" $got "on AArch64"
    fi
done
echo "aarch64: $compared kernels compared, $differ differ;" \
    "$(grep -c '^PASS:' "$here/check.log") tests passed," \
    "$(grep -cE '^(FAIL|ERROR):' "$here/check.log") failed, $(grep -c '^SKIP:' "$here/check.log") skipped"
[ $status = 0 ] && [ $differ = 0 ] && [ $compared -gt 0 ]
