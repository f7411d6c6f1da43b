#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# docs/debugger-tests.md is what the table of behaviours holds: UPDATE_GOLDEN=1 renews it.
# Also: each client has its rows, and what a row names after `off:` is a feature of the stub.
set -u
src=$(cd "${srcdir:-.}" && pwd)
server_program=${GDB_SERVER:-$(pwd)/tests/gdb_server}
page=$src/docs/debugger-tests.md
new=$(mktemp)
trap 'rm -f "$new" "$new.list" "$new.features"' EXIT
failures=0
awk -v use=list -f "$src/tests/behaviours/check.awk" "$src"/tests/behaviours/*.rows >"$new.list" || exit 1
{
    sed '/^<!-- table -->$/,$d' "$src/tests/behaviours/page.md"
    awk -F '\t' '
        function mark(c) { return (" " $3 " ") ~ (" " c " ") ? "yes" : "" }
        { for (i = 1; i <= n; i++) if (theme[i] == $6) break
          if (i > n) theme[++n] = $6
          rows[$6] = rows[$6] sprintf("| %s | %s | %s | %s | %s | %s |\n", $2, mark("gdb"),
              mark("gdb-x86-64"), mark("gdb-aarch64"), mark("lldb"), $4)
          split($3, c, " "); for (k in c) total[c[k]]++ }
        END {
            printf "Rows: %d in plain gdb, %d and %d in gdb-multiarch (x86-64, aarch64), %d in lldb-19.\n",
                total["gdb"], total["gdb-x86-64"], total["gdb-aarch64"], total["lldb"]
            for (i = 1; i <= n; i++) {
                printf "\n**%s**\n\n", theme[i]
                print "| behaviour | gdb | multiarch x86-64 | multiarch aarch64 | lldb-19 | fails without |"
                print "|---|---|---|---|---|---|"
                printf "%s", rows[theme[i]]
            }
        }' "$new.list"
} >"$new"
[ -z "${UPDATE_GOLDEN:-}" ] || cp "$new" "$page"
diff -u "$page" "$new" || {
    echo "FAIL: docs/debugger-tests.md is not what the table holds: UPDATE_GOLDEN=1 tests/behaviours_table.sh"
    failures=1
}
# At least 60 rows for each client; a name after `off:` is one of the stub's.
for client in gdb gdb-x86-64 gdb-aarch64 lldb; do
    rows=$(awk -F '\t' -v c=$client '(" " $3 " ") ~ (" " c " ")' "$new.list" | wc -l)
    [ "$rows" -ge 60 ] || { echo "FAIL: $client has only $rows rows"; failures=1; }
done
"$server_program" --list-features | awk '{ print $1 }' | sort >"$new.features"
cut -f 4 "$new.list" | grep . | sort -u | comm -23 - "$new.features" | grep . &&
    { echo "FAIL: these are no features of the stub"; failures=1; }
exit $failures
