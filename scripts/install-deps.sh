#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# scripts/install-deps.sh [demo|test]: installs the missing Debian packages that are needed to build and run Lanewise (demo,
# the default), or to run all tests, too (test). Does nothing if no package is missing.
set -eu
what=${1:-demo}
case $what in demo | test) ;; *) echo "usage: $0 [demo|test]" >&2; exit 2 ;; esac

if ! command -v dpkg-query >/dev/null; then
    echo "install-deps: this is not a Debian system: install the packages that README.md lists" >&2
    exit 0
fi

installed() {
    dpkg-query -W -f '${db:Status-Abbrev}' "$1" 2>/dev/null | grep -q '^ii'
}

missing=
need() {
    for package; do
        installed "$package" || missing="$missing $package"
    done
}

need gcc libc6-dev make autoconf automake pkg-config
need libyaml-dev libreadline-dev libcmocka-dev libelf-dev libcapstone-dev gdb opencl-headers libzstd-dev libdw-dev
# One of these versions of clang, and one version of libclc, are enough. Installs the oldest ones, which are the smallest.
have=
for c in clang-19 clang-16 clang-15 clang-14; do
    ! command -v $c >/dev/null || have=yes
done
[ -n "$have" ] || need clang-14
if [ -z "$(ls /usr/lib/clc/nvptx64--nvidiacl.bc 2>/dev/null)" ]; then
    need libclc-14
fi
if [ "$what" = test ]; then
    need clang-14 clang-19 gdb-multiarch lldb-19 llvm-14 python3 ocl-icd-opencl-dev clinfo
    need clang-15 llvm-spirv-15 spirv-tools # for SPIR-V
    need python3-numpy python3-pytest python3-pip python3-setuptools python3-wheel # for the Python package
fi
[ -n "$missing" ] || exit 0

if [ "$(id -u)" = 0 ]; then
    run=
elif command -v sudo >/dev/null; then
    run=sudo
else
    echo "install-deps: packages are missing, but you are not root and there is no sudo: run apt-get install$missing" >&2
    exit 1
fi
echo "install-deps: installing$missing"
export DEBIAN_FRONTEND=noninteractive
$run apt-get -q -o Acquire::Retries=3 update >/dev/null
# shellcheck disable=SC2086
$run env DEBIAN_FRONTEND=noninteractive apt-get -q -y -o Acquire::Retries=3 \
    install --no-install-recommends $missing >/dev/null
