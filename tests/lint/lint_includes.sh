#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The include law: which directory may include which (CONTRIBUTING.md, the house). Directories include
# each other's door only; *_priv.h stays at home; libyaml, libelf and readline are named in
# one .c file each, intrinsics in one header. With an argument: check that tree instead (the test of this test).
set -u
top=${1:-${srcdir:-.}}
cd "$top" || exit 99
bad=0
allowed() {
    case $1 in
    base) echo base ;;
    isa) echo base isa ;;
    ptx) echo base isa ptx ;;
    emu) echo base isa emu ;;
    launch) echo base isa ptx emu launch ;;
    check) echo base isa emu check ;;
    timing) echo base isa emu timing ;;
    debug) echo base isa emu debug ;;
    gdbstub) echo base isa emu check debug gdbstub ;;
    shell) echo base isa emu check debug shell ;;
    host) echo base isa ptx emu launch check timing host ;;
    cmd) echo base isa ptx emu launch check timing debug gdbstub shell cmd ;;
    esac
}
door() {
    case $1 in
    base) echo lw.h ;;
    host) echo lanewise.h ;;
    *) echo "$1.h" ;;
    esac
}
# Files of a directory's parts, which are inside it: timing/core and the like. (What lies in ptx/
# is for guests.)
under() { # directory, suffix
    [ "$1" = timing ] || return 0
    for f in "$1"/*/*."$2"; do [ -f "$f" ] && echo "$f"; done
}
for dir in base isa ptx emu launch check timing debug gdbstub shell host cmd; do
    [ -d "$dir" ] || continue
    for file in "$dir"/*.h $(under "$dir" h); do
        case ${file##*/} in
        "$(door "$dir")" | *_priv.h | *_body.h | *_door.h | '*.h') ;;
        *) echo "$file: a header that is not the door, nor a part of it (*_door.h), is named *_priv.h (or *_body.h)"; bad=1 ;;
        esac
    done
    for file in "$dir"/*.c "$dir"/*.h "$dir"/*.def "$dir"/*.inc $(under "$dir" c) $(under "$dir" h); do
        [ -f "$file" ] || continue
        for inc in $(sed -n 's/^ *# *include *"\([^"]*\)".*/\1/p' "$file"); do
            [ "$inc" = config.h ] && continue
            to=${inc%%/*}
            case $inc in
            *_door.h) [ "$file" = "$to/$(door "$to")" ] ||
                { echo "$file includes $inc, a part of a door: only the door $to/$(door "$to") does"; bad=1; } ;;
            esac
            case " $(allowed "$dir") " in
            *" $to "*) ;;
            *) echo "$file includes $inc: $dir may include only: $(allowed "$dir")"; bad=1 ;;
            esac
            [ "$to" = "$dir" ] && continue
            name=${inc##*/}
            case $name in
            "$(door "$to")") ;;
            # tables are part of the door of isa/ for readers that expand it
            insns.def | mods.def | specials.def) ;;
            *) echo "$file includes $inc: only the door $to/$(door "$to") is open"; bad=1 ;;
            esac
        done
    done
done
one_file() { # library, include pattern, file
    for f in $(grep -lE "^ *# *include *<$2" */*.c */*.h timing/*/*.[ch] 2>/dev/null | grep -v ^tests/); do
        [ "$f" = "$3" ] || { echo "$f includes $1: only $3 may"; bad=1; }
    done
}
# Instructions of one processor, by intrinsics or inline assembly, stand in one file.
for f in $(grep -lE 'immintrin\.h|arm_neon\.h|arm_sve\.h|\b_mm(256|512)?_[a-z]|\b__m(128|256|512)|\b__mmask|__asm__ *(volatile *)?\("[^"]|__builtin_(ia32|aarch64)_' \
    */*.c */*.h */*.def timing/*/*.[ch] 2>/dev/null | grep -v ^tests/); do
    [ "$f" = emu/interp/emu_simd_priv.h ] || { echo "$f names instructions of one processor: only emu/interp/emu_simd_priv.h may"; bad=1; }
done
one_file libyaml 'yaml\.h' base/lw_yaml.c
one_file libelf '(libelf|gelf)\.h' isa/object/isa_elf.c
one_file readline 'readline/' shell/sh_line.c
dup=$(ls base isa ptx emu launch check timing timing/*/ debug gdbstub shell host cmd 2>/dev/null | grep '\.[ch]$' | sort | uniq -d)
[ -z "$dup" ] || { echo "file names used twice: $dup"; bad=1; }
for f in base/*.[ch] isa/*.[ch] isa/*.def ptx/*.[ch] emu/*.[ch] emu/*.def launch/*.[ch] debug/*.[ch] \
    check/*.[ch] check/*.def timing/*.[ch] timing/*.def timing/*/*.[ch] timing/machines/*.yaml \
    gdbstub/*.[ch] shell/*.[ch] host/*.[ch] host/examples/* cmd/*.[ch] tests/*.[ch] tests/*.sh; do
    [ -f "$f" ] || continue
    head -n 3 "$f" | grep -q 'SPDX-License-Identifier: Apache-2.0' ||
        { echo "$f: no SPDX line"; bad=1; }
done
# Long files are hard to read.
long=$(wc -l base/*.[ch] isa/*.[ch] ptx/*.[ch] emu/*.[ch] launch/*.[ch] debug/*.[ch] check/*.[ch] timing/*.[ch] \
    timing/*/*.[ch] gdbstub/*.[ch] shell/*.[ch] host/*.[ch] cmd/*.[ch] tests/*.[ch] tests/*.sh 2>/dev/null |
    awk '$1 > 1000 && $2 != "total" { print $2 ": " $1 " lines: at most 1,000" }')
[ -z "$long" ] || { echo "$long"; bad=1; }
exit $bad
