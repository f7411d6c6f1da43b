#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Tests kernels with the forms of code in public suites that are difficult to translate (docs/evidence/suites.md). The kernels are
# compiled with optimisation and for debuggers, and run in warps of 8, 32 and 64 lanes, with policies that switch between splits
# rarely and often.
set -u
lanewise=${LANEWISE:-$(pwd)/lanewise}
here=$(cd "$(dirname "$0")" && pwd)/suites
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0

cp "$here/shapes.cl" "$work"
for width in 8 32 64; do
    for options in -O3 "-O0, -g, -cl-opt-disable"; do
        sed "s/options: .*/options: [-DW=$width, $options]}/" "$here/shapes.yaml" >"$work/shapes.yaml"
        # Translates the kernels once; the runs with all policies use the same object.
        flags=$(echo "-X $options" | sed 's/, / -X /g')
        # shellcheck disable=SC2086
        "$lanewise" compile "$work/shapes.cl" -DW=$width $flags -o "$work/shapes.lwo" || exit 1
        sed -i 's/^program: .*/program: {source: shapes.lwo}/' "$work/shapes.yaml"
        for policy in rr_quantum rr minpc; do
            "$lanewise" run -q "$work/shapes.yaml" -w $width -p $policy && continue
            echo "FAIL: the run of shapes.yaml fails: warps of $width lanes, $options, $policy"
            failed=1
        done
    done
done
exit $failed
