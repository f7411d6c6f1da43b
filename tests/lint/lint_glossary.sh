#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Checks that docs/reference/glossary.md is sorted, has no term twice, and has one sentence of at most 30 words for
# each term. The term after "See" must be on the page. Each word that older versions used (tests/lint/lint_glossary.tsv) must be
# in the row of the term that has replaced it.
set -u
cd "${srcdir:-.}" || exit 99

# usage: check FILE. Prints the errors of the file
check() {
    LC_ALL=C awk -F ' *[|] *' '
        /^\| / && $2 != "term" {
            if (NF != 5) { print FILENAME ":" FNR ": a row is a term, its meaning, former words"; bad = 1; next }
            key = tolower($2)
            if (key in line) { print FILENAME ":" FNR ": \"" $2 "\" is in line " line[key] ", too"; bad = 1 }
            else if (key < last) { print FILENAME ":" FNR ": \"" $2 "\" is sorted before \"" last "\""; bad = 1 }
            line[key] = FNR
            last = key
            n = split($3, words, / +/)
            if (n > 30) { print FILENAME ":" FNR ": \"" $2 "\" has " n " words: at most 30"; bad = 1 }
            if (n < 3 || $3 !~ /^[A-Z].*\.$/ || $3 ~ /[.!?] +[A-Z]/) { print FILENAME ":" FNR ": \"" $2 "\": not one sentence"; bad = 1 }
            if ($3 ~ /^See /) { see[FNR] = tolower(substr($3, 5, length($3) - 5)); }
            terms++
        }
        END {
            for (at in see) if (!(see[at] in line)) { print FILENAME ":" at ": there is no term \"" see[at] "\""; bad = 1 }
            if (terms < 100) { print FILENAME ": only " terms + 0 " terms"; bad = 1 }
            exit bad
        }' "$1"
}
glossary=docs/reference/glossary.md
bad=0
check $glossary || bad=1

# usage: replaced FILE. Prints the rows of tests/lint/lint_glossary.tsv whose word is missing in FILE. The last column of a
# term's row in FILE lists the words that the term has replaced
replaced() {
    LC_ALL=C awk '
        FNR == NR { if (/^\| /) { split($0, cell, / *[|] */); former[cell[2]] = ", " cell[4] ", " } next }
        /^#/ { next }
        { split($0, cell, /\t/); rows++ }
        !(cell[2] in former) { print glossary ": no term \"" cell[2] "\", which has replaced \"" cell[1] "\""; bad = 1; next }
        !index(former[cell[2]], ", " cell[1] ", ") { print glossary ": \"" cell[2] "\" does not name \"" cell[1] "\" among its former words"; bad = 1 }
        END { if (rows < 100) { print "tests/lint/lint_glossary.tsv: only " rows + 0 " words"; bad = 1 } exit bad }
    ' glossary=$glossary "$1" tests/lint/lint_glossary.tsv
}
replaced $glossary || bad=1

# Tests of the check itself: each change of the glossary below is a mistake that must be reported.
work=$(mktemp -d) || exit 99
trap 'rm -rf "$work"' EXIT
mistake() {
    sed "$1" $glossary >"$work/glossary.md"
    cmp -s $glossary "$work/glossary.md" && { echo "'$1' does not change the glossary"; bad=1; }
    check "$work/glossary.md" >"$work/said" && replaced "$work/glossary.md" >"$work/said" || return 0
    echo "the glossary after '$1' is accepted"
    bad=1
}
mistake 's/^| warp |/| barrier |/'
mistake 's/^| lane |/| warp |/'
mistake '/^| warp |/s/A group/A group. A group/'
mistake '/^| warp |/s/A group/A group of one and of two and of three and of four and of five and of six and of seven and of eight/'
mistake 's/See time slice/See time slicing/'
mistake '/^| loop observer |/s/looker/watcher/'
mistake '/^| sync clock |/d'
[ $bad = 0 ] && echo "ok: $(grep -c '^| ' $glossary) terms"
exit $bad
