#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Checks that every function of a public header is called from another directory. tests/lint/lint_public.tsv lists exceptions,
# each with a reason; a row that is not needed is an error, too. host/lanewise.h is not checked, because other programs call its
# functions. With an argument the script checks that tree instead, for the test of this lint.
set -u
cd "${1:-${srcdir:-.}}" || exit 99
command -v perl >/dev/null || { echo "lint_public.sh: perl is not installed (autoconf needs it, too)"; exit 99; }
exec perl -w - <<'PERL'
use strict;
my $list = 'tests/lint/lint_public.tsv';
my (%declared, %users, %reason, $bad);
sub text_of { # returns the text of a file without comments and strings
    my ($path) = @_;
    open my $in, '<', $path or die "$path: $!\n";
    my $text = do { local $/; <$in> } // '';
    $text =~ s{/\*.*?\*/|//[^\n]*|"(?:[^"\\\n]|\\.)*"}{ }gs;
    return $text;
}
for my $path (split /\n/, `find base isa ptx emu native timing check launch debug gdbstub shell -maxdepth 1 -name '*.h' 2>/dev/null`) {
    next if $path =~ /_(?:priv|body)\.h$/;
    my $text = text_of($path);
    $text =~ s/^[ \t]*#(?:[^\n\\]|\\.)*$//gms;
    1 while $text =~ s/\{[^{}]*\}/;/g;
    for my $declaration (split /;/, $text) {
        next if $declaration =~ /^\s*typedef\b/ || $declaration !~ /^[\w\s*]*?\b(\w+)\s*\(/;
        $declared{$1} = $path;
    }
}
for my $path (split /\n/, `find base isa ptx emu native timing check launch debug gdbstub shell host runtime cmd tests bench -type f 2>/dev/null`) {
    next if $path !~ /\.(?:c|h|def|inc)$/;
    my $directory = $path =~ m,^(\w+)/, ? $1 : $path;
    for my $name (text_of($path) =~ /\b([a-z]\w*_\w+)\b/g) {
        $users{$name}{$directory} = 1 if defined $declared{$name};
    }
}
if (open my $in, '<', $list) {
    while (<$in>) {
        chomp;
        next if /^#/ || $_ eq '';
        my ($name, $why) = split /\t/, $_, 2;
        if (!defined $why || $why !~ /\w/) { print "$list:$.: a row is a function, a tab and a reason\n"; $bad = 1; next; }
        $reason{$name} = $why;
    }
}
for my $name (sort keys %declared) {
    my ($home) = $declared{$name} =~ m,^(\w+)/,;
    my @others = grep { $_ ne $home && !/^(?:tests|bench)$/ } keys %{$users{$name}};
    if (@others) {
        next if !defined delete $reason{$name};
        print "$list: $name is called from $others[0]/: drop the row\n";
    } elsif ($users{$name}{tests} || $users{$name}{bench}) {
        next if defined delete $reason{$name};
        print "$declared{$name}: only tests call $name: declare it in a private header, drop it, or say in $list why it is public\n";
    } else {
        next if defined delete $reason{$name};
        print "$declared{$name}: no other directory calls $name: declare it in a private header, or say in $list why it is public\n";
    }
    $bad = 1;
}
for my $name (sort keys %reason) {
    next if defined $declared{$name};
    print "$list: no public header declares $name: drop the row\n";
    $bad = 1;
}
if (keys %declared < 5) { print 'only ', scalar(keys %declared), " functions found\n"; exit 1; }
exit 1 if $bad;
print 'ok: ', scalar(keys %declared), " public functions\n";
PERL
