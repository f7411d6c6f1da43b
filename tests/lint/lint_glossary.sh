#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# docs/reference/glossary.md is sorted, has no term twice, and one sentence of at most 30 words for each; "See" names a term
# of its own. Each term occurs, in one or more words of code or text, in another page, a public header or a message.
set -u
cd "${srcdir:-.}" || exit 99

# check FILE: what is wrong with it
check() {
    LC_ALL=C awk -F ' *[|] *' '
        /^\| / && $2 != "term" {
            if (NF != 4) { print FILENAME ":" FNR ": a row is a term and its meaning"; bad = 1; next }
            key = tolower($2)
            if (key in line) { print FILENAME ":" FNR ": \"" $2 "\" is in line " line[key] ", too"; bad = 1 }
            else if (key < last) { print FILENAME ":" FNR ": \"" $2 "\" is sorted before \"" last "\""; bad = 1 }
            line[key] = FNR
            last = key
            n = split($3, words, / +/)
            if (n > 30) { print FILENAME ":" FNR ": \"" $2 "\" has " n " words: at most 30"; bad = 1 }
            if (n < 3 || $3 !~ /^[A-Z].*\.$/ || $3 ~ /[.!?] +[A-Z]/) { print FILENAME ":" FNR ": \"" $2 "\": one sentence"; bad = 1 }
            if ($3 ~ /^See /) { see[FNR] = tolower(substr($3, 5, length($3) - 5)); }
            terms++
        }
        END {
            for (at in see) if (!(see[at] in line)) { print FILENAME ":" at ": there is no \"" see[at] "\""; bad = 1 }
            if (terms < 50) { print FILENAME ": " terms + 0 " terms only"; bad = 1 }
            exit bad
        }' "$1"
}
glossary=docs/reference/glossary.md
bad=0
check $glossary || bad=1

# used FILE: terms of FILE that nothing else uses, in the singular or the plural
used() {
    awk -F ' *[|] *' '/^\| / && $2 != "term" { print $2 }' "$1" >"$work/terms"
    bad_term=0
    while read -r term; do
        grep -qiE "(^|[^a-z])$(echo "$term" | sed 's/[ _]/[-_ ]/g')(s|es)?([^a-z]|$)" "$work/text" ||
            { echo "$1: nothing uses \"$term\""; bad_term=1; }
    done <"$work/terms"
    return $bad_term
}
work=$(mktemp -d) || exit 99
trap 'rm -rf "$work"' EXIT
for file in README.md docs/*/*.md */*.h */*/*.c */*.c */*.def; do
    case $file in $glossary | tests/* | docs/evidence/*) ;; *) cat "$file" ;; esac
done >"$work/text"
used $glossary || bad=1

# The check itself.
mistake() {
    sed "$1" $glossary >"$work/glossary.md"
    cmp -s $glossary "$work/glossary.md" && { echo "no mistake is made by $1"; bad=1; }
    check "$work/glossary.md" >"$work/said" && used "$work/glossary.md" >"$work/said" || return 0
    echo "a glossary changed by '$1' passes"
    bad=1
}
mistake 's/^| warp |/| barrier |/'
mistake 's/^| lane |/| warp |/'
mistake '/^| warp |/s/A group/A group. A group/'
mistake '/^| warp |/s/A group/A group of one and of two and of three and of four and of five and of six and of seven and of eight/'
mistake 's/See time slice/See time slicing/'
mistake '/^| warp |/s/$/ threads |/'
mistake 's/^| web |/| web of pages |/'
[ $bad = 0 ] && echo "ok: $(grep -c '^| ' $glossary) terms"
exit $bad
