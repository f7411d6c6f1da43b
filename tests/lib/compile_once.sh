# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh
# Source this file in the build folder, with $work set. It puts the compiler cache of the tests (compile_once.c) on PATH: each
# clang compiles the same source only once for all tests of `make check`, or once for a test that runs alone.
if [ -d "${LW_ONCE:-tests/lib/once}" ]; then
    PATH=$(cd "${LW_ONCE:-tests/lib/once}" && pwd):$PATH
    LW_COMPILED=${LW_COMPILED:-$work/.compiled}
    export PATH LW_COMPILED
fi
