#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Checks that names in comments of C code exist. Each word that contains an underscore or is followed by "()" must be an
# identifier of the code, be in a string of the code, or be the name of a file. NAME_* and NAME_... match names that start with
# NAME_, and v_NAME and s_NAME match instructions. Words in quotes are examples and are not checked. With an argument the script
# checks that tree instead.
set -u
cd "${1:-${srcdir:-.}}" || exit 99
command -v perl >/dev/null || { echo "lint_names.sh: perl is not installed (autoconf needs it, too)"; exit 99; }
exec perl -w - <<'PERL'
use strict;
# Names that are defined elsewhere: by ELF, stat(), DWARF, gdb's agent expressions, the CUDA SDK, and as targets of PTX.
my %is_outside = map { $_ => 1 } qw(ET_DYN st_nlink st_blksize minimum_instruction_length low_pc DW_TAG_LLVM_annotation
    DW_AT_address_class DW_AT_ DW_OP_piece zero_ext helper_cuda __NVCC__ sm_90f);
my (%is_known, @comments, $bad);
for my $path (split /\n/, `find base isa ptx emu launch check timing debug gdbstub shell host cmd tests bench kernels -type f 2>/dev/null | LC_ALL=C sort`) {
    next if $path =~ m~^tests/corpus/~;
    $is_known{$_} = 1 for split m~[/.]~, $path;
    my $is_c = $path =~ /\.(?:c|h|def|inc)$/;
    next if !$is_c && $path !~ /\.(?:cl|cu|s|mk)$/;
    open my $in, '<', $path or die "$path: $!\n";
    my $text = do { local $/; <$in> } // '';
    my ($line, $at) = (1, 0);
    while ($text =~ m{(/\*.*?\*/|//[^\n]*)|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|[A-Za-z_]\w*}gs) {
        my ($part, $start) = ($&, $-[0]);
        if (!$is_c || !defined $1) {
            $is_known{$_} = 1 for $part =~ /[A-Za-z_]\w*/g;
            next;
        }
        $line += substr($text, $at, $start - $at) =~ tr/\n//;
        $at = $start;
        push @comments, [$path, $line, $part];
    }
}
my $all = join "\n", '', keys %is_known;
for (@comments) {
    my ($path, $first, $text) = @$_;
    $text =~ s/"[^"\n]*"|`[^`\n]*`/ /g;
    while ($text =~ m~(?<![\w\$%.\-/])([A-Za-z_]\w*)(\(\)|\*|)~g) {
        my ($name, $after, $start) = ($1, $2, $-[0]);
        next if $name !~ /\w_/ && $after ne '()' || $is_known{$name} || $is_outside{$name};
        next if $name =~ /_$|^[vs]_/ && index($all, "\n$name") >= 0;
        print "$path:", $first + (substr($text, 0, $start) =~ tr/\n//), ": there is no identifier or file $name\n";
        $bad = 1;
    }
}
print "lint_names.sh: no comments found\n" if !@comments;
exit($bad || !@comments);
PERL
