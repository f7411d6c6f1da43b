#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Tests that the table of docs/reference/check-kinds.md equals the list of `lanewise explain`. UPDATE_GOLDEN=1 writes the
# table.
set -u
src=$(cd "${srcdir:-.}" && pwd)
page=$src/docs/reference/check-kinds.md
work=$(mktemp -d) || exit 99
trap 'rm -rf "$work"' EXIT
"${LANEWISE:-./lanewise}" explain >"$work/list" || { echo "FAIL: lanewise explain fails"; exit 1; }
{
    sed '/^<!-- tests.docs.test_check_kinds.sh -->$/q' "$page"
    echo '| kind | class | selected | what it is |'
    echo '|---|---|---|---|'
    sed 's/^\([^ ]*\) *\([^ ]*\) *\(.*\) (\([^()]*\))$/| `\2` | `\1` | \4 | \3 |/' "$work/list"
    sed -n '/^<!-- end -->$/,$p' "$page"
} >"$work/page"
[ "$(grep -c '^| `[a-z-]*` | `[a-z]*` | \(default\|with its class\|by name only\) | ' "$work/page")" = "$(wc -l <"$work/list")" ] ||
    { echo "FAIL: a line of lanewise explain is not of the form: CLASS KIND WHAT (SELECTED)"; exit 1; }
[ -z "${UPDATE_GOLDEN:-}" ] || cp "$work/page" "$page"
diff -u "$page" "$work/page" ||
    { echo "FAIL: the table is out of date: make golden T=tests/docs/test_check_kinds.sh renews it"; exit 1; }
