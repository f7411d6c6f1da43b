#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Tests the pages of docs/tutorial, and a how-to page with sessions. Each command, run in a folder with the examples, must
# print what the page shows. Each page is tested separately. UPDATE_GOLDEN=1 writes the pages. The test also checks that a
# page with a changed line fails.
. "${srcdir:-.}/tests/lib/cli_lib.sh"

# usage: runs PAGE [--update]. Runs the commands of the page in a new folder with the examples.
runs() {
    rm -rf "$work/run"
    mkdir "$work/run"
    cp "$src"/docs/examples/* "$work/run/"
    timeout 300 python3 "$src/scripts/session.py" "$lanewise" "$src" "$work/run" ${2:-} "$1" >out 2>err
}

# A program that is built without the address sanitizer cannot load a runtime library that is built with it.
whole=yes
! nm -D "$(dirname "$lanewise")/lanewise-cuda/libcudart.so.13" 2>/dev/null | grep -q '__asan_init' || whole=no

for page in "$src"/docs/tutorial/*.md "$src/docs/howto/find-a-hang.md"; do
    cases=$((cases + 1))
    case $whole:$page in no:*/first-program.md) echo "first-program.md: skipped, built with the address sanitizer" && continue ;; esac
    if [ -n "${UPDATE_GOLDEN:-}" ]; then runs "$page" --update; fi
    if ! runs "$page"; then
        fail "$(basename "$page") differs from what the program prints now (UPDATE_GOLDEN=1 renews it)"
        cat out err
    fi
    case $page in */howto/*) continue ;; esac
    words=$(sed -e '/^<!-- /d' -e '/^```console$/,/^```$/d' "$page" | wc -w)
    [ "$words" -ge 350 ] && [ "$words" -le 600 ] || fail "$(basename "$page") has $words words outside its sessions, not 350 to 600"
done
[ $cases -ge 8 ] || fail "expected at least 8 pages, found $cases"

# The start of each page creates a folder and changes to it. The commands for this must work in a copy of the source tree.
mkdir -p tree/docs
cp -r "$src/docs/examples" tree/docs/
for page in "$src"/docs/tutorial/*.md; do
    awk '/^## /{exit} {print}' "$page" | sed -n -e 's/^    \(c[pd] .*\)/\1/p' -e 's/.*`\(cp -r [^`]*\)`.*/\1/p' >enter
    grep -q '^cp ' enter || fail "$(basename "$page") has no command that creates a folder"
    (cd tree && rm -rf lessons && sh -e -c "$(cat ../enter)
test -f first.cl") 2>err || fail "the commands of $(basename "$page") that create and enter a folder fail: $(cat err)"
done

# Test of the check: a page with a changed line, a missing line, a changed kernel or a missing command must fail.
sed 's/^ok: 2 checks passed/ok: 3 checks passed/' "$src/docs/tutorial/first-run.md" >page.md
runs page.md && fail "a page with a changed line passes"
grep -q '^page.md: +ok: 2 checks' out || fail "the expected line is not shown: $(cat out)"
sed '/^wrong.yaml:9: check failed/d' "$src/docs/tutorial/first-run.md" >page.md
runs page.md && fail "a page that lacks a line passes"
sed 's/^    uint i = get_global_id(0);/    uint i = get_global_id(1);/' "$src/docs/tutorial/first-run.md" >page.md
runs page.md && fail "a page with a changed kernel passes"
sed '/^(gdb) continue$/d' "$src/docs/tutorial/first-gdb.md" >page.md
runs page.md && fail "a session that lacks a command passes"
echo "$cases pages, $failures failures"
exit $((failures > 0))
