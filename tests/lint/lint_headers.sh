#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Every header compiles alone.
set -u
top=${srcdir:-.}
bad=0
for h in $(cd "$top" && find base isa ptx emu launch debug check gdbstub shell cmd timing -name '*.h' ! -path 'ptx/compiler/cuda/*'); do
    h=$top/$h
    [ -f "$h" ] || continue
    case $h in */*_body.h) continue ;; esac # parts of a .c file
    ${CC:-cc} -std=gnu11 -Wall -Wextra -Werror -Wno-unused-function -D_GNU_SOURCE \
        -I"$top" -fsyntax-only -x c "$h" || { echo "$h does not compile alone"; bad=1; }
done
exit $bad
