#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The third line of each file of vectors names the source of its expected results, which is not this emulator.
# With an argument: checks that tree instead (the test of this test).
set -u
cd "${1:-${srcdir:-.}}" || exit 99
bad=0
count=0
for f in tests/emu/exec/vectors/*.txt; do
    count=$((count + 1))
    source=$(sed -n '3s/^# Source: //p' "$f")
    case $source in
    '') echo "$f: line 3 must be '# Source: ...', what the expected results come from"; bad=1 ;;
    *[Ee]mulator* | *[Ll]anewise* | *interpreter* | *docs/reference/isa*)
        echo "$f: expected results may not come from what they test: $source"; bad=1 ;;
    esac
done
[ $count -gt 1 ] || { echo "no vectors in tests/emu/exec/vectors"; bad=1; }
exit $bad
