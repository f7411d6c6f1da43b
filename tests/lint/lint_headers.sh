#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Checks that every header compiles alone, and that its include guard is the file's name in capitals.
set -u
top=${srcdir:-.}
bad=0
for h in $(cd "$top" && find base isa ptx emu launch debug check gdbstub shell cmd timing -name '*.h' ! -path 'ptx/compiler/cuda/*'); do
    h=$top/$h
    [ -f "$h" ] || continue
    case $h in */*_body.h) continue ;; esac # these files are parts of a .c file
    ${CC:-cc} -std=gnu11 -Wall -Wextra -Werror -Wno-unused-function -D_GNU_SOURCE \
        -I"$top" -fsyntax-only -x c "$h" || { echo "$h does not compile alone"; bad=1; }
done
# Two headers with the same guard would hide each other. Headers that kernels include have guards that CUDA's own
# headers cannot have.
guards=$(cd "$top" && find base isa ptx emu launch debug check gdbstub shell cmd host timing tests bench -name '*.h' \
    ! -name '*_body.h' ! -path 'ptx/compiler/cuda/*' ! -path 'tests/ptx/data/*' -exec awk '
    FNR == 1 { n = split(FILENAME, part, "/"); want = toupper(part[n]); gsub(/[.-]/, "_", want); got = "" }
    /^#ifndef / && got == "" { got = $2; getline; good = got == want && $0 == "#define " want }
    got != "" && !good && !(FILENAME in seen) { seen[FILENAME]; print FILENAME ": the include guard is not " want }
    ' {} +)
[ -z "$guards" ] || { echo "$guards"; bad=1; }
exit $bad
