#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Checks that emu/bytes/emu_state.def lists every member of the structures that snapshots and checkpoints contain.
set -u
top=${1:-${srcdir:-.}}
command -v perl >/dev/null || { echo "lint_state.sh: perl is not installed (autoconf needs it, too)"; exit 99; }
# Each list element has the macro of emu_state.def, the structure, and the header that defines it.
exec perl -w -e '
use strict;
my ($top, $bad) = (shift, 0);
sub text_of {
    my ($path) = @_;
    open my $in, "<", $path or die "$path: $!\n";
    local $/;
    return <$in> // "";
}
my %path;
for (split /\n/, `find "$top/emu" -name "*.h"`) { $path{s,.*/,,r} = $_ }
my $listing = text_of("$top/emu/bytes/emu_state.def");
while (<STDIN>) {
    my ($macro, $name, $header) = split;
    # Removes comments and inner braces from the structure. The last word of each declaration is then the name of a member.
    my $text = text_of($path{$header} // "$top/emu/$header") =~ /^struct \Q$name\E \{\n(.*?)^\}/ms ? $1 : "";
    $text =~ s{/\*.*?\*/}{ }gs;
    $text =~ s/\n/ /g;
    1 while $text =~ s/\{[^{}]*\}//g;
    $text =~ s/__attribute__\(\((?:[^()]|\([^()]*\))*\)\)//g;
    $text =~ s/\[[^\]]*\]//g;
    $text =~ s/\(\*([a-z_]*)\)(?:\([^()]*\))?/ $1/g;
    my @have = map { /(?:^|[^a-z_0-9])([a-z_][a-z_0-9]*)\s*$/ ? $1 : () } split /[;,]/, $text;
    my @listed = $listing =~ /^#define EMU_STATE_\Q$macro\E\(X\)(.*?)(?:\n\n|\z)/ms ? $1 =~ /^    X\([A-Z]*, ([a-z_0-9]*)/mg : ();
    if ("@have" ne "@listed") {
        print "struct $name of emu/$header and EMU_STATE_$macro of emu/bytes/emu_state.def differ:\n  @have\n  @listed\n";
        $bad = 1;
    }
    if (!@have) { print "struct $name was not found in emu/$header\n"; $bad = 1; }
}
exit $bad' "$top" <<'END'
MACHINE emu_machine emu_machine_priv.h
GRID emu_grid emu_grid.h
RECORD emu_alloc_record emu_memory_priv.h
MEMORY emu_memory emu_memory_priv.h
CORE emu_core emu_machine_priv.h
FUNCTIONAL emu_functional emu_engine_priv.h
RESIDENT emu_resident emu_engine_priv.h
BLOCK emu_block emu_warp_priv.h
CTA emu_cta_barrier emu_warp_priv.h
WARP emu_warp emu_warp_priv.h
SPLIT emu_split emu_warp_priv.h
BREG emu_breg_form emu_warp_priv.h
SIMT emu_simt emu_warp_priv.h
ENTRY emu_simt_entry emu_warp_priv.h
PROBE emu_spin_observer emu_spin_observer_priv.h
POLL emu_poll emu_spin_observer_priv.h
TEXT emu_text emu_print_priv.h
TEXT_BLOCK emu_text_block emu_print_priv.h
TEXT_GRID emu_text_grid emu_print_priv.h
END
