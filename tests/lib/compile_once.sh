# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh
# Sourced where the folder of the build is the current one, with $work: after this a clang compiles the same once (compile_once.c).
if [ -d "${LW_ONCE:-tests/lib/once}" ]; then
    PATH=$(cd "${LW_ONCE:-tests/lib/once}" && pwd):$PATH
    LW_COMPILED=$work/.compiled
    export PATH LW_COMPILED
fi
