#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Tests that docs/reference/shell-commands.md equals the list of the shell's `help`. UPDATE_GOLDEN=1 writes the page.
set -u
src=$(cd "${srcdir:-.}" && pwd)
page=$src/docs/reference/shell-commands.md
work=$(mktemp -d) || exit 99
trap 'rm -rf "$work"' EXIT
cp "$src"/docs/examples/lines.* "$work"
"${LANEWISE:-./lanewise}" debug --batch -c help "$work/lines.yaml" >"$work/list" 2>"$work/err" </dev/null || { cat "$work/err"; exit 1; }
{
    sed '/^<!-- tests.docs.test_shell_commands.sh -->$/q' "$page"
    sed 's/|/\\|/g' "$work/list" | awk '
        # The short name of a command is in the row of the command.
        /^[A-Z]/ && !/[.:]/ { theme = $0; next }
        /^  [a-z]/ && theme != "" {
            split(substr($0, 3), part, /   *.*/); what = substr($0, 3 + length(part[1])); sub(/^ */, "", what)
            name = part[1]; sub(/ .*/, "", name)
            if (what ~ /^Short for /) { sub(/^Short for /, "", what); short[what] = short[what] ", `" name "`"; next }
            n++; names[n] = name; usage[n] = part[1]; does[n] = what; of[n] = theme
        }
        END {
            for (i = 1; i <= n; i++) {
                if (of[i] != shown) { printf "\n## %s\n\n| command | what it does |\n|---|---|\n", of[i]; shown = of[i] }
                printf "| `%s`%s | %s |\n", usage[i], short[names[i]], does[i]
            }
        }'
} >"$work/page"
[ "$(grep -o '^| `[a-z-]*[` ]\|, `[a-z]*` |' "$work/page" | wc -l)" = "$(grep -c '^  [a-z]' "$work/list")" ] && [ "$(wc -l <"$work/list")" -gt 60 ] ||
    { echo "FAIL: the page lacks commands of help, or help has 60 lines or fewer"; exit 1; }
[ -z "${UPDATE_GOLDEN:-}" ] || cp "$work/page" "$page"
diff -u "$page" "$work/page" ||
    { echo "FAIL: the page is out of date: make golden T=tests/docs/test_shell_commands.sh renews it"; exit 1; }
