#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# emu/bytes/emu_state.def lists every member of the structures that snapshots and checkpoints keep.
set -u
top=${1:-${srcdir:-.}}
bad=0
check() { # macro, structure, header
    # the structure's text without comments, without what stands in inner braces, one line a member
    awk -v name="struct $2 {" '
        index($0, name) == 1 { on = 1; next }
        on && /^}/ { exit }
        on { print }' "$(find "$top/emu" -name "$3")" |
        sed 's,/\*.*\*/,,' | awk '/\/\*/ { skip = 1 } !skip { print } /\*\// { skip = 0 }' |
        tr '\n' ' ' | sed 's/{[^}]*}//g' | tr ';' '\n' |
        sed 's/__attribute__((.*))//; s/\[[^]]*\]//g; s/(\*\([a-z_]*\))/ \1/' | tr ',' '\n' |
        sed -n 's/^.*[^a-z_0-9]\([a-z_][a-z_0-9]*\) *$/\1/p' >"$work/have"
    sed -n "/^#define EMU_STATE_$1(X)/,/^$/s/^    X([A-Z]*, \([a-z_0-9]*\)).*/\1/p" "$top/emu/bytes/emu_state.def" >"$work/listed"
    if ! cmp -s "$work/have" "$work/listed"; then
        echo "struct $2 of emu/$3 and EMU_STATE_$1 of emu/bytes/emu_state.def differ:"
        diff "$work/have" "$work/listed"
        bad=1
    fi
    [ -s "$work/have" ] || { echo "struct $2 was not found in emu/$3"; bad=1; }
}
work=$(mktemp -d) || exit 99
trap 'rm -rf "$work"' EXIT
check MACHINE emu_machine emu_machine_priv.h
check GRID emu_grid emu_grid.h
check RECORD emu_alloc_record emu_memory_priv.h
check MEMORY emu_memory emu_memory_priv.h
check CORE emu_core emu_machine_priv.h
check FUNCTIONAL emu_functional emu_engine_priv.h
check RESIDENT emu_resident emu_engine_priv.h
check BLOCK emu_block emu_warp_priv.h
check CTA emu_cta_barrier emu_warp_priv.h
check WARP emu_warp emu_warp_priv.h
check SPLIT emu_split emu_warp_priv.h
check BREG emu_breg_form emu_warp_priv.h
check SIMT emu_simt emu_warp_priv.h
check ENTRY emu_simt_entry emu_warp_priv.h
check PROBE emu_spin_observer emu_spin_observer_priv.h
check POLL emu_poll emu_spin_observer_priv.h
check TEXT emu_text emu_print_priv.h
check TEXT_BLOCK emu_text_block emu_print_priv.h
check TEXT_GRID emu_text_grid emu_print_priv.h
exit $bad
