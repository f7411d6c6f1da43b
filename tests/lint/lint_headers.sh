#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Every header compiles alone.
set -u
top=${srcdir:-.}
bad=0
for h in "$top"/base/*.h "$top"/isa/*.h "$top"/ptx/*.h "$top"/emu/*.h "$top"/launch/*.h \
    "$top"/debug/*.h "$top"/gdbstub/*.h "$top"/shell/*.h "$top"/cmd/*.h \
    "$top"/timing/*.h "$top"/timing/*/*.h; do
    [ -f "$h" ] || continue
    case $h in */*_body.h) continue ;; esac # parts of a .c file
    ${CC:-cc} -std=gnu11 -Wall -Wextra -Werror -Wno-unused-function -D_GNU_SOURCE \
        -I"$top" -fsyntax-only -x c "$h" || { echo "$h does not compile alone"; bad=1; }
done
exit $bad
