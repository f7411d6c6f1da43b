#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Values of optimised code are those of -O0: tests/debug/prop_values.c, on random kernels and on those of kernels/.
. "${srcdir:-.}/tests/lib/cli_lib.sh"
program=$build/tests/debug/prop_values
sh "$src/kernels/prepare" "$work" || exit 1
files=
for f in *.yaml; do
    grep -q 'source: .*\.c[lu]' "$f" && files="$files $f"
done
# Both together: two processors are usual.
# shellcheck disable=SC2086
"$program" $files >files.txt 2>&1 &
"$program"
random=$?
wait $!
other=$?
cat files.txt
[ $other = 0 ] && exit $random
exit $other
