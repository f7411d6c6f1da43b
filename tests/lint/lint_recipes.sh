#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Checks section "One place to touch" of CONTRIBUTING.md. The files that it names must exist. Its example of a warp scheduler must
# compile when it is added to the file that the section names, as the last row of the table. keys.def must list the schedulers in
# the order of the table.
set -u
cd "${srcdir:-.}" || exit 99
bad=0
complain() {
    echo "$*"
    bad=1
}
work=$(mktemp -d) || exit 99
trap 'rm -rf "$work"' EXIT

sed -n '/^## One place to touch/,/^## Building/p' CONTRIBUTING.md >"$work/section"
grep -o '`[a-z]*/[A-Za-z0-9_/*.<>]*`' "$work/section" | tr -d '`' | sort -u >"$work/files"
[ "$(wc -l <"$work/files")" -gt 15 ] || complain "CONTRIBUTING.md: the files of \"One place to touch\" are not found"
while read -r file; do
    case $file in
    *'<'* | *NAME*) continue ;; # a part of this name is a placeholder
    tests/*/test_* | tests/*/prop_*) ls $file* >/dev/null 2>&1 || complain "CONTRIBUTING.md: there is no $file" ;;
    *) ls -d $file >/dev/null 2>&1 || complain "CONTRIBUTING.md: there is no $file" ;;
    esac
done <"$work/files"

# Compares the rows of the table with the names in keys.def.
rows=$(sed -n '/^const struct tim_sched_policy tim_sched_policies/,/^};/s/^    {"\([a-z_]*\)",.*/\1/p' timing/policies/tim_sched.c | paste -sd '|')
words=$(sed -n 's/^CHOICE(issue, policy, [A-Z_]*, "\([a-z_|]*\)".*/\1/p' timing/keys.def)
[ -n "$rows" ] && [ "$rows" = "$words" ] || complain "warp schedulers: timing/policies/tim_sched.c has \"$rows\", timing/keys.def \"$words\""
grep -q "\"$words|my_policy\"" CONTRIBUTING.md ||
    complain "CONTRIBUTING.md quotes other schedulers than timing/keys.def, which has \"$words\": change the line CHOICE(issue, policy, ...)"

# Copies the example to the positions that CONTRIBUTING.md names, and compiles the result.
sed -n 's/^      //p' "$work/section" | sed '/^\.\.\.$/,$d' >"$work/function"
sed -n 's/^      \(    {"my_policy",.*\)/\1/p' "$work/section" >"$work/row"
[ -s "$work/function" ] && [ -s "$work/row" ] || complain "CONTRIBUTING.md: the example of a warp scheduler is not found"
awk -v function_file="$work/function" -v row_file="$work/row" '
    /^\/\* clang-format off \*\/$/ { while ((getline line < function_file) > 0) print line }
    inside && /^};/ { while ((getline line < row_file) > 0) print line }
    /^const struct tim_sched_policy tim_sched_policies/ { inside = 1 }
    { print }' timing/policies/tim_sched.c >"$work/tim_sched.c"
[ "$(grep -c my_policy "$work/tim_sched.c")" -ge 2 ] || complain "the example has no place in timing/policies/tim_sched.c"
${CC:-gcc} -std=gnu11 -I. -Wall -Wextra -Werror -fsyntax-only "$work/tim_sched.c" || complain "the example does not compile"
exit $bad
