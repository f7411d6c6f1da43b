# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh
# Source this file in the folder of the build, with $work set. After that a clang compiles the same source only once,
# in all tests of `make check` or in the test that runs alone (compile_once.c).
if [ -d "${LW_ONCE:-tests/lib/once}" ]; then
    PATH=$(cd "${LW_ONCE:-tests/lib/once}" && pwd):$PATH
    LW_COMPILED=${LW_COMPILED:-$work/.compiled}
    export PATH LW_COMPILED
fi
