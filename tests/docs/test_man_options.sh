#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Tests that section OPTIONS of docs/reference/lanewise.1 equals the lists of `lanewise help COMMAND`. UPDATE_GOLDEN=1 writes
# the section.
set -u
src=$(cd "${srcdir:-.}" && pwd)
page=$src/docs/reference/lanewise.1
lanewise=${LANEWISE:-./lanewise}
work=$(mktemp -d) || exit 99
trap 'rm -rf "$work"' EXIT
command -v perl >/dev/null || { echo "perl is not installed (autoconf needs it, too)"; exit 99; }
for command in $("$lanewise" help | sed -n 's/^  \([a-z]*\) .*/\1/p'); do
    "$lanewise" help "$command" | sed -n "s/^  \( *-\)/$command\t\1/p"
done >"$work/list"
{
    sed '/^\.\\" tests.docs.test_man_options.sh$/q' "$page"
    perl -w - "$work/list" <<'PERL'
use strict;
my (@rows, %commands, @groups, %group, %all);
while (<>) {
    my ($command, $row) = /^(\w+)\t(.*)$/ or die "$_";
    $all{$command} = 1;
    push @rows, $row if !$commands{$row};
    push @{$commands{$row}}, $command;
}
for my $row (@rows) {
    my $of = $row =~ /^-h, --help / ? 'every command that has options' : join ', ', @{$commands{$row}};
    push @groups, $of if !$group{$of};
    push @{$group{$of}}, $row;
}
sub roff { my ($t) = @_; $t =~ s/\\/\\e/g; $t =~ s/-/\\-/g; $t =~ s/"/\\(dq/g; return $t }
for my $of (@groups) {
    print ".SS ", roff($of), "\n";
    for (@{$group{$of}}) {
        my ($letter, $name, $operand, $help) = /^(?:-(\w), | {4})--([a-z-]+)(\[=\S+\]| [A-Z]\S*)? +(.*)$/
            or die "unexpected form of an option: $_\n";
        my $head = (defined $letter ? "\\fB\\-$letter\\fR, " : '') . '\fB' . roff("--$name") . '\fR';
        $operand = '' if !defined $operand;
        $head .= '[=\fI' . roff($1) . '\fR]' if $operand =~ /^\[=(.*)\]$/;
        $head .= ' \fI' . roff($1) . '\fR' if $operand =~ /^ (.*)$/;
        print ".TP\n$head\n", roff($help), "\n";
    }
}
PERL
    sed -n '/^\.\\" end$/,$p' "$page"
} >"$work/page"
[ "$(grep -c '^\.TP' "$work/page")" -gt 120 ] || { echo "FAIL: expected more than 120 options in lanewise help"; exit 1; }
for command in run gdb debug compile dis timing; do
    awk -F '\t' -v c="$command" '$1 == c { print $2 }' "$work/list" | grep -o -- '--[a-z-]*' | head -n 1 | sed 's/-/\\\\-/g' >"$work/name"
    grep -q "$(cat "$work/name")" "$work/page" || { echo "FAIL: the page lacks the first option of $command"; exit 1; }
done
[ -z "${UPDATE_GOLDEN:-}" ] || cp "$work/page" "$page"
diff -u "$page" "$work/page" ||
    { echo "FAIL: OPTIONS is out of date: make golden T=tests/docs/test_man_options.sh renews it"; exit 1; }
