#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Tests lint_words.sh on a small tree. It must report new uses of a retired word in each zone, accept other English words, and
# never raise a count.
. "${srcdir:-.}/tests/lib/cli_lib.sh"
mkdir -p tests/lint emu docs
cp "$src/tests/lint/lint_words.sh" "$src/tests/lint/lint_words.tsv" tests/lint/
lint="sh tests/lint/lint_words.sh"
srcdir=.
export srcdir

# usage: says STATUS PATTERN ARGUMENT... . Expects that the lint ends with STATUS and prints a line that matches PATTERN
says() {
    want=$1 pattern=$2
    shift 2
    cases=$((cases + 1))
    $lint "$@" >out 2>err
    got=$?
    [ $got = "$want" ] || fail "lint_words.sh $*: exit status $got, expected $want"
    grep -q -- "$pattern" out || fail "lint_words.sh $*: no line matches '$pattern'"
}

cat >emu/emu.h <<'END'
/* What is told of a load. */
int emu_tap_set(int stands_for);
END
cat >emu/emu_run.c <<'END'
#include "emu/interp/emu_hooks_priv.h"
/* The standard stands for itself; the load goes
 * on behind it. A 'quoted' "string" in a comment. */
static const char text[] = "nobody reads";
static int retold, foretold, tapestry;
static char quote = '"'; /* told */
END
echo 'The lanes part at once: an unbehind hand-behind.' >docs/a.md
printf 'x = 1 # told\n#!/told\n' >docs/b.sh
says 1 'no counts of "told"'
says 0 '^ok: .* 9 uses left' --adopt
says 0 '^ok: '
says 0 '^emu/emu.h:1: "told": say ' --list headers
says 0 '^emu/emu_run.c:2: "goes on": say continues' --list comments emu
cp tests/lint/lint_words.counts before

# One more use in each zone is reported.
for add in 'emu/emu.h|int emu_tapped;|headers emu' 'emu/emu_run.c|/* behind */|comments emu' 'emu/emu_run.c|const char *x = "told";|emu/emu_run.c:7: "told": say reported' \
    'emu/emu_run.c|int emu_told;|emu/emu_run.c:7: "told" in emu_told: say' 'docs/a.md|It stands here.|docs/a.md:2: "stands": say is at'; do
    file=${add%%|*} rest=${add#*|}
    cp "$file" kept
    echo "${rest%%|*}" >>"$file"
    says 1 "${rest#*|}"
    says 1 "${rest#*|}" --renew
    cp kept "$file"
    cmp -s before tests/lint/lint_words.counts || fail "--renew writes the counts although it fails"
done

# Uses of an identifier that a header or another directory declares do not count.
mkdir launch
for use in 'int emu_tap_set(int);' 'int a; int lnc_place; /* lnc_place */'; do
    echo "$use" >launch/lnc_priv.h
    case $use in
    *lnc_place*) says 1 '^launch/lnc_priv.h:1: "place" in lnc_place' && [ "$(wc -l <out)" = 1 ] || fail "an identifier counts twice" ;;
    *) says 0 '^ok: ' ;;
    esac
done
rm -r launch

# If a zone of a directory (lint_words.sh) has fewer uses, --renew lowers its count. If it has none, --renew marks it as closed: each
# new use is then an error.
echo 'The lanes diverge.' >docs/a.md
says 0 '^ok: .* 7 uses left' --renew
grep -q '^docs docs closed$' tests/lint/lint_words.counts || fail "a zone without words is not closed"
grep -v nobody emu/emu_run.c >less && cp less emu/emu_run.c
mkdir launch && echo 'static const char text[] = "nobody reads";' >launch/lnc.c
says 1 '^launch/lnc.c:1: "nobody"'
echo 'static const char text[] = "nobody reads";' >>emu/emu_run.c
says 1 '^launch/lnc.c:1: "nobody"' --renew
rm -r launch
echo 'It stands here.' >>docs/a.md
says 1 '^docs/a.md:2: "stands"' --renew

# --adopt counts the current uses of a new row of the table, once.
printf 'reads\treads\ts\tloads\t\n' >>tests/lint/lint_words.tsv
echo 'The lanes diverge.' >docs/a.md
says 1 'no counts of "reads"'
says 0 '^ok: ' --adopt
grep -q '^strings emu nobody=1 reads=1$' tests/lint/lint_words.counts || fail "the new row has no counts: $(grep '^strings' tests/lint/lint_words.counts)"
echo 'static const char more[] = "reads";' >>emu/emu_run.c
says 1 '"reads" was there 1 times and is now 2' --adopt
printf 'no tabs\n' >>tests/lint/lint_words.tsv
says 1 'a row is a name'
[ $cases -gt 20 ] || fail "expected more than 20 cases, found $cases"
echo "$cases cases, $failures failures"
exit $((failures > 0))
