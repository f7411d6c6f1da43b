#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Tests that no sentence of the hand-written pages outside docs/reference and docs/evidence has more than 40 words. Code
# blocks, tables and headings are ignored. Code inside a line counts as one word, and a link as its text. LW_WORDS=N sets
# another limit.
set -u
src=$(cd "${srcdir:-.}" && pwd)
work=$(mktemp -d) || exit 99
trap 'rm -rf "$work"' EXIT
command -v perl >/dev/null || { echo "perl is not installed (autoconf needs it, too)"; exit 99; }

# usage: check PAGE... . Prints each sentence that is too long.
cat >"$work/check.pl" <<'PERL'
use strict;
my ($limit, $bad, $pages) = ($ENV{LW_WORDS} // 40, 0, 0);
for my $page (@ARGV) {
    open my $in, '<', $page or die "$page: $!\n";
    my ($text, $start, $code, $blank) = ('', 0, 0, 1);
    my $end = sub {
        $text =~ s/`[^`]*`/code/g;
        $text =~ s/!?\[([^\]]*)\]\([^)]*\)/$1/g;
        $text =~ s/<[^>]*>//g;
        for my $sentence (split /(?<=[.!?])[)"*_]*\s+(?=["(*_\[]*[A-Z0-9]|code\b)/, $text) {
            my @words = grep { /\w/ } split /\s+/, $sentence;
            if (@words > $limit) { print "$page:$start: ", scalar @words, " words: ", join(' ', @words[0 .. 7]), " ...\n"; $bad = 1; }
        }
        $text = '';
    };
    while (<$in>) {
        chomp;
        if (/^\s*```/) { $end->(); $code = !$code; $blank = 1; next }
        if ($code || /^\s*$/) { $end->(); $blank = 1; next }
        if (/^\s*\|/ || /^#/ || (/^ {4}/ && $blank)) { $end->(); next }
        if (/^\s*(?:[-*]|\d+\.)\s+(.*)/) { $end->(); ($text, $start) = ($1, $.); $blank = 0; next }
        $start = $. if $text eq '';
        $text .= ($text eq '' ? '' : ' ') . $_;
        $blank = 0;
    }
    $end->();
    $pages++;
}
print "ok: no sentence of more than $limit words in $pages pages\n" if !$bad;
exit $bad;
PERL
cd "$src" || exit 99
bad=0
perl -w "$work/check.pl" README.md CONTRIBUTING.md docs/*.md docs/tutorial/*.md docs/howto/*.md docs/explanation/*.md || bad=1

# Test of the check: it must report sentences of 41 words in prose, in a list and over two lines, but not in code or tables, and
# not two shorter sentences.
unset LW_WORDS
ten="one two three four five six seven eight nine ten"
long="$ten $ten $ten $ten eleven"
printf '%s.\n' "$long" >"$work/prose.md"
printf -- '- %s.\n' "$long" >"$work/list.md"
printf '%s\n%s.\n' "$ten $ten" "$ten $ten eleven" >"$work/lines.md"
printf '%s `code. Code` %s.\n' "$ten $ten" "$ten $ten" >"$work/code.md"
for page in prose list lines code; do
    perl -w "$work/check.pl" "$work/$page.md" >/dev/null && { echo "a sentence of 41 words passes in $page.md"; bad=1; }
done
printf '    %s\n\n```\n%s\n```\n\n| %s |\n\n# %s\n\n%s. Ten %s. `Code` %s.\n' "$long" "$long" "$long" "$long" "$ten $ten" "$ten $ten" "$ten $ten" >"$work/fine.md"
perl -w "$work/check.pl" "$work/fine.md" >/dev/null || { echo "code, tables, headings or short sentences are reported"; bad=1; }
exit $bad
