#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Counts the uses of retired words, which tests/lint/lint_words.tsv lists. tests/lint/lint_words.counts contains the number of
# remaining uses of each word, by zone and directory. No count may rise. A zone and directory without a use of a word is
# closed: new uses are errors. Commands in the source tree:
#
#   tests/lint/lint_words.sh                prints new uses as file:line, the word, and the word to use instead
#   tests/lint/lint_words.sh --list WHAT    prints all uses: WHAT is a zone, a directory, or both (strings emu)
#   tests/lint/lint_words.sh --renew        lowers the counts to the current ones. If code has moved to another directory, the
#                                           counts of that directory may rise, if it is not closed
#   tests/lint/lint_words.sh --adopt        counts the uses of new rows of the table; the counts of other rows do not change
set -u
cd "${srcdir:-.}" || exit 99
[ -f tests/lint/lint_words.tsv ] || { echo "lint_words.sh: run this script in the source tree, or set srcdir"; exit 99; }
command -v perl >/dev/null || { echo "lint_words.sh: perl is not installed (autoconf needs it, too)"; exit 99; }
exec perl -w - "$@" <<'PERL'
use strict;
my ($table, $file) = ('tests/lint/lint_words.tsv', 'tests/lint/lint_words.counts');
my %zone_of = (h => 'headers', s => 'strings', d => 'docs', c => 'comments', i => 'identifiers');
my (@rows, %pattern, %expression);
open my $in, '<', $table or die "$table: $!\n";
while (<$in>) {
    chomp;
    next if /^#/ || $_ eq '';
    my ($name, $word, $zones, $say, $remark) = split /\t/, $_, -1;
    if (!defined $remark || $name =~ /[ =]/ || $zones !~ /^[hsdci]+$/ || $say eq '') {
        print "$table:$.: a row is a name, a word, zones of hsdci, what to say, a remark: four tabs\n";
        exit 1;
    }
    (my $expression = $word) =~ s/ /[\\s*#]+/g;
    push @rows, {name => $name, zones => $zones, say => $say, exact => qr/^(?:$expression)$/i};
    push @{$expression{$zone_of{$_}}}, $expression for split //, $zones;
}
close $in;
# A match is a whole word, and has no hyphen before it (option names).
for my $zone (keys %expression) {
    my $all = join '|', @{$expression{$zone}};
    $pattern{$zone} = $zone eq 'identifiers' ? qr/\b(?:$all)\b/i : qr/(?<![\w-])(?:$all)\b/i;
}

my (%count, %hits, %name_of, %parts, %public, %first);
sub directory_of {
    my ($path) = @_;
    return $path =~ m,^([^/]*)/, ? $1 : 'top';
}
sub note_hits {
    my ($zone, $path, $text, $whole, $start, $at, $identifier) = @_;
    my $regex = $pattern{$zone};
    while ($text =~ /$regex/g) {
        my ($begin, $found) = ($-[0], lc $&);
        $found =~ s/[\s*#]+/ /g;
        my $letter = substr $zone, 0, 1;
        my $row = $name_of{"$letter$found"} //= (grep { $_->{zones} =~ /$letter/ && $found =~ $_->{exact} } @rows)[0];
        next if defined $identifier && $zone eq 'identifiers' && defined $public{$identifier} && $row->{zones} =~ /h/;
        my $line = $at // 1 + (substr($$whole, 0, $start) =~ tr/\n//) + (substr($text, 0, $begin) =~ tr/\n//);
        my $directory = directory_of($path);
        $count{"$zone $directory"}{$row->{name}}++;
        push @{$hits{"$zone $directory $row->{name}"}}, "$path:$line: \"$found\"" . (defined $identifier ? " in $identifier" : '') . ": say $row->{say}";
    }
}
# An identifier counts once in each directory that contains it. If a public header declares it, it counts in the zone of
# headers, otherwise in its directory. Tests use identifiers of other directories, so only identifiers that tests define count.
sub note_identifiers {
    my %defined;
    for my $directory (keys %first) { $defined{$_} = 1 for $directory =~ /^(?:tests|bench|kernels)$/ ? () : keys %{$first{$directory}}; }
    for my $directory (sort keys %first) {
        for my $name (sort keys %{$first{$directory}}) {
            next if defined $public{$name} ? $public{$name} ne $directory : $directory =~ /^(?:tests|bench|kernels)$/ && $defined{$name};
            my ($path, $line) = @{$first{$directory}{$name}};
            note_hits($_, $path, $parts{$name}, \'', 0, $line, $name) for defined $public{$name} ? ('headers', 'identifiers') : 'identifiers';
        }
    }
}
sub read_c {
    my ($path, $whole) = @_;
    my $is_header = $path =~ m,^\w+/\w+\.h$, && $path !~ m,^tests/|_(?:priv|body)\.h$,;
    my $is_read = $path !~ m,^(?:tests|bench|kernels|docs|host/examples)/,;
    while ($$whole =~ m{(/\*.*?\*/|//[^\n]*)|^[ \t]*\#[ \t]*include[^\n]*|"((?:[^"\\\n]|\\.)*)"|'(?:[^'\\\n]|\\.)+'|([A-Za-z]\w*)}gms) {
        if (defined $1) {
            note_hits($is_header ? 'headers' : 'comments', $path, $1, $whole, $-[1]);
        } elsif (defined $2) {
            note_hits('strings', $path, $2, $whole, $-[2]) if $is_read;
        } elsif (defined $3) {
            my ($name, $start) = ($3, $-[3]);
            my $words = $parts{$name};
            if (!defined $words) {
                ($words = $name) =~ tr/_/ /;
                $parts{$name} = $words = '' if $words !~ $pattern{identifiers} && $words !~ $pattern{headers};
            }
            next if $words eq '';
            $parts{$name} = $words;
            my $directory = directory_of($path);
            $public{$name} //= $directory if $is_header;
            $first{$directory}{$name} //= [$path, 1 + (substr($$whole, 0, $start) =~ tr/\n//)];
        }
    }
}
my @files = grep { -f } map { chomp; $_ } `find base isa ptx emu timing check launch debug gdbstub shell cmd host tests bench kernels docs scripts -type f`;
push @files, grep { -f } ('README.md', 'CONTRIBUTING.md', 'CHANGELOG.md', 'demo.sh', 'test.sh', 'configure.ac', 'Makefile.am');
for my $path (sort @files) {
    # Skip the tables of words, and generated pages, whose strings are counted in their source.
    next if $path =~ m,^tests/lint_(?:words|glossary)|^tests/(?:golden|corpus|vectors)/|^docs/(?:reference/)?(?:glossary|isa)\.md$,;
    next if $path !~ /\.(?:c|h|def|cl|cu|inc|md|1|sh|py|mk|ac|am|yaml|awk)$/;
    open my $source, '<', $path or die "$path: $!\n";
    my $text = do { local $/; <$source> };
    close $source;
    next if !defined $text;
    if ($path =~ /\.(?:c|h|def|cl|cu|inc)$/) {
        read_c($path, \$text);
    } elsif ($path =~ /\.(?:md|1)$/) {
        note_hits('docs', $path, $text, \$text, 0);
    } else {
        if ($path =~ m,^gdbstub/.*\.py$,) {
            note_hits('strings', $path, $1, \$text, $-[1]) while $text =~ /(?<!\w)"((?:[^"\\\n]|\\.)*)"/g;
        }
        note_hits('comments', $path, $1, \$text, $-[1]) while $text =~ /(?:^|[ \t])#(?!!)[ \t]([^\n]*)/gm;
    }
}

note_identifiers();
my (%old, %adopted);
if (open my $counts, '<', $file) {
    while (<$counts>) {
        chomp;
        next if /^#/;
        my ($zone, $directory, @pairs) = split / /;
        if ($zone eq 'words') { $adopted{$directory} = 1; next; }
        $old{"$zone $directory"} //= {};
        for (@pairs) { next if $_ eq 'closed'; /^(.*)=(\d+)$/ ? ($old{"$zone $directory"}{$1} = $2) : die "$file:$.: what is '$_'?\n"; }
    }
    close $counts;
}
sub zone_total {
    my ($counts, $key, $name) = @_;
    my ($zone) = split / /, $key;
    my $sum = 0;
    $sum += $counts->{$_}{$name} // 0 for grep { /^$zone / } keys %$counts;
    return $sum;
}
sub write_counts {
    my ($new) = @_;
    open my $out, '>', $file or die "$file: $!\n";
    print $out "# SPDX-License-Identifier: Apache-2.0\n# How often the words of lint_words.tsv are left, by zone and directory; tests/lint/lint_words.sh --renew writes this.\n";
    print $out "words $_\n" for sort map { $_->{name} } @rows;
    for my $key (sort keys %$new) {
        my @pairs = map { "$_=$new->{$key}{$_}" } grep { $new->{$key}{$_} } sort keys %{$new->{$key}};
        print $out "$key @pairs\n" if @pairs;
        print $out "$key closed\n" if !@pairs;
    }
    close $out;
}

my $what = shift @ARGV // '';
if ($what eq '--list') {
    my @want = @ARGV;
    for my $key (sort keys %hits) {
        my @fields = split / /, $key;
        next if grep { my $want = $_; !grep { $_ eq $want } @fields } @want;
        print "$_\n" for @{$hits{$key}};
    }
    exit 0;
}
if ($what ne '' && $what ne '--renew' && $what ne '--adopt') {
    print "lint_words.sh: unknown argument '$what'; see the comment at the beginning of the script\n";
    exit 2;
}
my $bad = 0;
for my $row (@rows) {
    next if $adopted{$row->{name}} || $what eq '--adopt';
    print "$file: no counts of \"$row->{name}\": tests/lint/lint_words.sh --adopt\n";
    $bad = 1;
}
for my $key (sort keys %count) {
    for my $name (sort keys %{$count{$key}}) {
        my ($now, $before) = ($count{$key}{$name}, $old{$key}{$name} // 0);
        next if $now <= $before || ($what eq '--adopt' && !$adopted{$name});
        next if $what eq '--renew' && %{$old{$key} // {}} && zone_total(\%count, $key, $name) <= zone_total(\%old, $key, $name);
        my @places = @{$hits{"$key $name"}};
        print "$key: \"$name\" was there $before times and is now $now times; one of these is new:\n" if $before;
        print "$_\n" for @places > 40 ? @places[0 .. 39] : @places;
        print "(the first 40 of them)\n" if @places > 40;
        $bad = 1;
    }
}
exit 1 if $bad;
if ($what eq '--renew' || $what eq '--adopt') {
    if ($what eq '--adopt') {    # count the uses of new rows, and leave the counts of other rows unchanged
        for my $key (keys %count) { for (keys %{$count{$key}}) { $old{$key}{$_} = $count{$key}{$_} if !$adopted{$_}; } }
        write_counts(\%old);
    } else {
        $count{$_} //= {} for keys %old;
        write_counts(\%count);
    }
}
my $total = 0;
for my $key (keys %count) { $total += $_ for values %{$count{$key}}; }
print 'ok: ', scalar(@rows), " retired words, $total uses left in ", scalar(@files), " files, none new\n";
PERL
