#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Checks that every header can be compiled alone, and that its include guard is its file name in capital letters.
set -u
top=${srcdir:-.}
bad=0
for h in $(cd "$top" && find base isa ptx emu launch debug check gdbstub shell cmd timing -name '*.h' ! -path 'ptx/compiler/cuda/*'); do
    h=$top/$h
    [ -f "$h" ] || continue
    case $h in */*_body.h) continue ;; esac # these headers are parts of .c files
    ${CC:-cc} -std=gnu11 -Wall -Wextra -Werror -Wno-unused-function -D_GNU_SOURCE \
        -I"$top" -fsyntax-only -x c "$h" || { echo "$h does not compile alone"; bad=1; }
done
# If two headers had the same guard, a file could include only one of them. Headers that kernels include have guards that differ
# from those of CUDA's own headers.
guards=$(cd "$top" && find base isa ptx emu launch debug check gdbstub shell cmd host timing tests bench -name '*.h' \
    ! -name '*_body.h' ! -path 'ptx/compiler/cuda/*' ! -path 'tests/ptx/data/*' -exec awk '
    FNR == 1 { n = split(FILENAME, part, "/"); want = toupper(part[n]); gsub(/[.-]/, "_", want); got = "" }
    /^#ifndef / && got == "" { got = $2; getline; good = got == want && $0 == "#define " want }
    got != "" && !good && !(FILENAME in seen) { seen[FILENAME]; print FILENAME ": the include guard is not " want }
    ' {} +)
[ -z "$guards" ] || { echo "$guards"; bad=1; }
exit $bad
