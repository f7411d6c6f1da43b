#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Cycles and counts that follow from the keys of a machine by hand, measured by small kernels on
# every shipped machine, with the shipped model and the naive one (bench/timing_micro).
set -u
src=$(cd "${srcdir:-.}" && pwd)
LANEWISE=${LANEWISE:-$(pwd)/lanewise}
export LANEWISE
"$src/bench/timing_micro" >shipped.$$ || { grep FAIL shipped.$$; rm -f shipped.$$; exit 1; }
"$src/bench/timing_micro" --reference >naive.$$
status=$?
cmp shipped.$$ naive.$$ || status=1
rm -f shipped.$$ naive.$$
exit $status
