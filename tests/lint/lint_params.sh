#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Checks @names in comments on function declarations in headers. Each @name must be a parameter of one of the functions between
# the comment and the next comment or empty line. With an argument the script checks that tree instead.
set -u
cd "${1:-${srcdir:-.}}" || exit 99
command -v perl >/dev/null || { echo "lint_params.sh: perl is not installed (autoconf needs it, too)"; exit 99; }
exec perl -w - <<'PERL'
use strict;
my ($bad, $comments) = (0, 0);
for my $path (split /\n/, `find base isa ptx emu launch check timing debug gdbstub shell host cmd tests -name '*.h' ! -path 'ptx/compiler/cuda/*' ! -path 'tests/ptx/data/*' 2>/dev/null | LC_ALL=C sort`) {
    open my $in, '<', $path or die "$path: $!\n";
    my $text = do { local $/; <$in> } // '';
    while ($text =~ m~/\*\*((?:(?!\*/).)*)\*/[ \t]*\n(?=(.*?)(?:\n[ \t]*\n|\n[ \t]*/\*|[{#]|\z))~gs) {
        my ($comment, $declarations, $start) = ($1, $2, $-[1]);
        $declarations =~ s~/\*.*?\*/~ ~gs;
        # skips declarations other than NAME(...) and (*NAME)(...), such as variables and structures
        next if $declarations !~ /^[\w\s*]*?(?:\b\w+|\(\s*\*\s*\w+\s*\))\s*\(/;
        my %is_word = map { $_ => 1 } $declarations =~ /\b(\w+)\b/g;
        $comments++;
        while ($comment =~ /\@([a-z]\w*)/g) {
            next if $is_word{$1};
            my $line = 1 + (substr($text, 0, $start + $-[0]) =~ tr/\n//);
            print "$path:$line: \@$1 is not a parameter of the functions after the comment\n";
            $bad = 1;
        }
    }
}
print "lint_params.sh: no comments on functions found\n" if $comments == 0;
exit($bad || $comments == 0);
PERL
