#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Checks that docs/evidence/debugger-tests.md and debugger-tests.tsv are up to date with the rows of behaviours/*.rows.
# UPDATE_GOLDEN=1 renews both. The TSV lists all rows. The page counts rows by the part of a feature's name before the colon.
# Also checks that each client has enough rows, that each row has a negative counterpart or a reason why it has none, that each
# name after `off:` is a feature, that each feature has a row, and that a row shows each line of shown.list.
set -u
src=$(cd "${srcdir:-.}" && pwd)
server_program=${GDB_SERVER:-$(pwd)/tests/clients/gdb_server}
page=$src/docs/evidence/debugger-tests.md
new=$(mktemp)
trap 'rm -f "$new" "$new.list" "$new.tsv" "$new.features" "$new.off"' EXIT
failures=0
awk -v use=list -f "$src/tests/clients/behaviours/check.awk" "$src"/tests/clients/behaviours/*.rows >"$new.list" || exit 1
{
    printf '# SPDX-License-Identifier: Apache-2.0\n# Printed by make golden T=tests/clients/behaviours_table.sh.\n'
    printf 'feature\tbehaviour\tgdb\tgdb-multiarch x86-64\tgdb-multiarch aarch64\tMI\tlldb-19\tfails without\n'
    awk -F '\t' -v OFS='\t' '
        function mark(c) { return (" " $3 " ") ~ (" " c " ") ? "yes" : "" }
        { print $7, $2, mark("gdb"), mark("gdb-x86-64"), mark("gdb-aarch64"), mark("mi"), mark("lldb"), $4 == "-" ? $6 : $4 }' "$new.list"
} >"$new.tsv"
{
    sed '/^<!-- table -->$/,$d' "$src/tests/clients/behaviours/page.md"
    awk -F '\t' '
        NR <= 3 { next }
        {
            group = $1 ~ /^(MACHINE 9|Source level|With --timing|MI|lldb): / ? substr($1, 1, index($1, ": ") - 1) : "packets, commands, stops"
            if (!(group in rows)) theme[++n] = group
            rows[group]++
            rows["all"]++
            for (i = 3; i <= 7; i++) if ($i != "") { count[group, i]++; count["all", i]++ }
        }
        function line(name, key,    s) {
            s = "| " name " | " rows[key]
            for (i = 3; i <= 7; i++) s = s " | " count[key, i] + 0
            print s " |"
        }
        END {
            print "| features | rows | gdb | multiarch x86-64 | multiarch aarch64 | MI | lldb-19 |"
            print "|---|---|---|---|---|---|---|"
            for (t = 1; t <= n; t++) line(theme[t], theme[t])
            line("**all**", "all")
        }' "$new.tsv"
    printf '\n## What is not shown in lldb\n\n| behaviour | why no session of lldb shows the behaviour |\n|---|---|\n'
    awk '/^  not in lldb: / { sub(/^  not in lldb: /, ""); print "| " shown " | " $0 " |" }
        !/^[# ]/ { shown = $0 }' "$src/tests/clients/behaviours/shown.list"
} >"$new"
[ -z "${UPDATE_GOLDEN:-}" ] || { cp "$new" "$page"; cp "$new.tsv" "${page%.md}.tsv"; }
diff -u "$page" "$new" && diff -u "${page%.md}.tsv" "$new.tsv" || {
    echo "FAIL: docs/evidence/debugger-tests.md or .tsv differs from the rows: make golden T=tests/clients/behaviours_table.sh"
    failures=1
}
# Each client has at least 60 rows, and each name after `off:` is a feature of the stub.
for client in gdb gdb-x86-64 gdb-aarch64 lldb; do
    rows=$(awk -F '\t' -v c=$client '(" " $3 " ") ~ (" " c " ")' "$new.list" | wc -l)
    [ "$rows" -ge 60 ] || { echo "FAIL: $client has only $rows rows"; failures=1; }
done
"$server_program" --list-features | awk '{ print $1 }' | sort >"$new.features"
cut -f 4 "$new.list" | grep -vx -- - | sort -u >"$new.off"
comm -23 "$new.off" "$new.features" | grep . &&
    { echo "FAIL: tests/clients/gdb_server does not have these features"; failures=1; }
comm -13 "$new.off" "$new.features" | grep . &&
    { echo "FAIL: no row has a counterpart without these features (off:)"; failures=1; }
awk -F '\t' '$4 == "-" && $6 == "-" { print $2; bad = 1 } END { exit !bad }' "$new.list" &&
    { echo "FAIL: these rows have neither a negative counterpart (off:) nor a reason (no-twin:)"; failures=1; }
awk -F '\t' '
    NR == FNR { n = split($3, c, " "); for (i = 1; i <= n; i++) { in_client[c[i], $7] = 1; named[c[i], $2] = 1 } next }
    function lldb_has() { if (shown != "" && !told) print "FAIL: no row shows in lldb, and shown.list does not say why: " shown }
    /^#/ { next }
    /^  not in lldb: / { told = 1; next }
    /^  lldb: / { told = (("lldb", substr($0, 9)) in named); next }
    {
        lldb_has()
        shown = $0
        told = ("lldb", shown) in in_client
        n = split("gdb gdb-x86-64 gdb-aarch64", c, " ")
        for (i = 1; i <= n; i++) if (!((c[i], shown) in in_client)) print "FAIL: no row shows in " c[i] ": " shown
    }
    END { lldb_has() }' "$new.list" "$src/tests/clients/behaviours/shown.list" | grep . && failures=1
exit $failures
