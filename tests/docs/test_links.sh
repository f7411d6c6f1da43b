#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Tests that each link of a page names an existing file, that the fragment of a link names a heading in that file, and that
# docs/README.md and docs/local.mk list each page of docs.
set -u
src=${srcdir:-.}
command -v perl >/dev/null || { echo "perl is not installed (autoconf needs it, too)"; exit 99; }
cd "$src" || exit 99
exec perl -w - README.md CONTRIBUTING.md CHANGELOG.md docs/*.md docs/*/*.md <<'PERL'
use strict;
my (%text, %heads, $bad);
sub text_of {
    my ($path) = @_;
    return $text{$path} //= do { open my $in, '<', $path or die "$path: $!\n"; local $/; <$in> };
}
sub heads_of {
    my ($path) = @_;
    return $heads{$path} //= { map { my $h = lc; $h =~ s/[^\w\s-]//g; $h =~ s/\s/-/g; ($h => 1) } text_of($path) =~ /^#+ +(.*?) *$/mg };
}
for my $page (@ARGV) {
    (my $folder = $page) =~ s,[^/]*$,,;
    (my $text = text_of($page)) =~ s/^```.*?^```//msg;
    while ($text =~ /\]\(([^)\s#]*)(?:#([^)\s]*))?\)/g) {
        my ($link, $head) = ($1, $2);
        next if $link =~ /^[a-z]+:/;
        my $path = $link eq '' ? $page : $folder . $link;
        1 while $path =~ s,(^|/)(?!\.\.)[^/]+/\.\./,$1,;
        if (!-e $path) {
            print "$page: there is no $link\n"; $bad = 1;
        } elsif (defined $head && $path =~ /\.md$/ && !heads_of($path)->{$head}) {
            print "$page: $path has no heading for #$head\n"; $bad = 1;
        }
    }
}
my ($index, $list) = (text_of('docs/README.md'), text_of('docs/local.mk'));
for my $page (grep { m,^docs/.+/, } @ARGV) {
    my $name = substr $page, 5;
    if (index($index, "($name)") < 0) { print "docs/README.md does not link $name\n"; $bad = 1; }
    if ($list !~ m,\%D\%/\Q$name\E(?:\s|$),) { print "docs/local.mk does not install $name\n"; $bad = 1; }
}
exit($bad // 0);
PERL
