#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Tests that `lanewise dis --slices` prints the slices of slices.s as in slices.txt (UPDATE_GOLDEN=1 writes this file): for
# assembly, for an object without slices, and for an object in which `compile --slices` has stored slices. Also tests the
# messages of the command.
set -u
lanewise=${LANEWISE:-$(pwd)/lanewise}
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0
fail() {
    echo "FAIL: $*"
    failed=1
}

"$lanewise" dis --slices "$here/slices.s" >"$work/text" || exit 1
[ -z "${UPDATE_GOLDEN:-}" ] || cp "$work/text" "$here/slices.txt"
cmp "$work/text" "$here/slices.txt" ||
    fail "the slices of slices.s differ from slices.txt: $(diff "$work/text" "$here/slices.txt" | head -5)"
"$lanewise" asm "$here/slices.s" -o "$work/plain.lwo" || exit 1
"$lanewise" compile --slices "$here/slices.s" -o "$work/kept.lwo" || exit 1
for f in plain kept; do
    "$lanewise" dis --slices "$work/$f.lwo" | cmp - "$here/slices.txt" || fail "the slices of $f.lwo differ from slices.txt"
done
readelf -SW "$work/plain.lwo" | grep '\.lanewise\.slices' >"$work/section"
grep -q ' 000000 00 ' "$work/section" || fail "an object contains slices without --slices: $(cat "$work/section")"
readelf -SW "$work/kept.lwo" | grep '\.lanewise\.slices' | grep -q ' 000000 00 ' &&
    fail "an object compiled with --slices contains no slices"
# The code itself is the same with and without slices.
"$lanewise" dis "$work/plain.lwo" >"$work/a"
"$lanewise" dis "$work/kept.lwo" >"$work/b"
cmp "$work/a" "$work/b" || fail "the disassembly differs with and without slices"
"$lanewise" dis --slices "$here/slices.s" -o "$work/out" || fail "dis --slices -o fails"
cmp "$work/out" "$here/slices.txt" || fail "dis --slices -o writes other text than slices.txt"
exit $failed
