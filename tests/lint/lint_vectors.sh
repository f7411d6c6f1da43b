#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Checks that the third line of each file of test vectors names the source of the expected results, which must not be this
# emulator. With an argument the script checks that tree instead, for the test of this lint.
set -u
cd "${1:-${srcdir:-.}}" || exit 99
bad=0
count=0
for f in tests/emu/exec/vectors/*.txt; do
    count=$((count + 1))
    source=$(sed -n '3s/^# Source: //p' "$f")
    case $source in
    '') echo "$f: line 3 must be '# Source: ...', the source of the expected results"; bad=1 ;;
    *[Ee]mulator* | *[Ll]anewise* | *interpreter* | *docs/reference/isa*)
        echo "$f: the tested program may not be the source of the expected results: $source"; bad=1 ;;
    esac
done
[ $count -gt 1 ] || { echo "no vectors in tests/emu/exec/vectors"; bad=1; }
exit $bad
