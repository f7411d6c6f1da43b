#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Checks the include rules of CONTRIBUTING.md, sections "The source tree" and "Folders": which directory may include headers of
# which other directory, and that these headers are public. Inside a directory, a folder may include headers of the directory
# itself and of folders before it in the first table of "Folders". Only one .c file each may include libyaml, libelf and
# readline, and only one header may use intrinsics. With an argument the script checks that tree instead, for the test of this lint.
set -u
rooms=$(cd "${srcdir:-.}" && sed -n 's,^    \([a-z]*/[a-z]*\)/  *[^ ].*,\1,p' CONTRIBUTING.md)
top=${1:-${srcdir:-.}}
cd "$top" || exit 99
bad=0
list=$(mktemp) || exit 99
trap 'rm -f "$list"' EXIT
directories="base isa ptx emu native launch check timing debug gdbstub shell host runtime cmd"
most_files=22 # a folder may have at most this number of files
allowed() { # usage: allowed DIRECTORY. Sets $may to the directories whose headers DIRECTORY may include
    case $1 in
    base) may='base' ;;
    isa) may='base isa' ;;
    ptx) may='base isa ptx' ;;
    emu) may='base isa emu' ;;
    native) may='base isa emu native' ;;
    launch) may='base isa ptx emu launch' ;;
    check) may='base isa emu check' ;;
    timing) may='base isa emu timing' ;;
    debug) may='base isa emu debug' ;;
    gdbstub) may='base isa emu check debug gdbstub' ;;
    shell) may='base isa emu check debug shell' ;;
    host) may='base isa ptx emu native launch check timing debug gdbstub host' ;;
    runtime) may='host runtime' ;;
    cmd) may='base isa ptx emu native launch check timing debug gdbstub shell host cmd' ;;
    esac
}
public() { # sets $headers to the public headers of a directory. The first includes the others, which may include each other
    case $1 in
    base) headers='lw.h' ;;
    host) headers='lanewise.h' ;;
    isa) headers='isa.h isa_debug.h isa_prmt.h isa_slice.h' ;;
    emu) headers='emu.h emu_machine.h emu_program.h emu_memory.h emu_grid.h emu_fault.h emu_event.h emu_core.h emu_hooks.h emu_engine.h
        emu_stats.h emu_state_view.h emu_history.h emu_predict.h' ;;
    *) headers=$1.h ;;
    esac
}
# usage: sources DIRECTORY... . Lists the sources, except those of guest programs and generated files
sources() {
    find "$@" -type f \( -name '*.[ch]' -o -name '*.def' -o -name '*.inc' \) 2>/dev/null |
        grep -vE '^ptx/compiler/(cuda|overrides)/|^host/examples/'
}
all_public=
for d in $directories; do
    public "$d"
    for h in $headers; do all_public="$all_public $d/$h"; done
done
all_public=${all_public# }
# Prints a line for each include that is not allowed.
for dir in $directories; do
    [ -d "$dir" ] || continue
    allowed "$dir"
    sources "$dir" >"$list"
    while read -r file; do
        case $file in
        *_priv.h | *_body.h) ;;
        *.h) case " $all_public " in
            *" $file "*) ;;
            *) echo "$file: a header that is not public is named *_priv.h (or *_body.h)"; bad=1 ;;
            esac ;;
        esac
    done <"$list"
    # shellcheck disable=SC2046
    grep -nE '^ *# *include *"' $(cat "$list") /dev/null |
        sed 's/^\([^:]*\):[0-9]*: *# *include *"\([^"]*\)".*/\1 \2/' |
        awk -v dir="$dir" -v allowed="$may" -v public="$all_public" -v rooms="$rooms" '
        function room(path,   part, n) { n = split(path, part, "/"); return n > 2 ? part[1] "/" part[2] : part[1] }
        BEGIN {
            n = split(allowed, list, /[ \n]+/); for (i = 1; i <= n; i++) may[list[i]] = 1
            n = split(public, list, /[ \n]+/); for (i = 1; i <= n; i++) {
                split(list[i], part, "/"); is_public[list[i]] = 1
                if (!(part[1] in first)) { first[part[1]] = list[i]; main[list[i]] = 1 }
            }
            n = split(rooms, list, /[ \n]+/); for (i = 1; i <= n; i++) place[list[i]] = i
        }
        $2 == "config.h" { next }
        {
            to = $2; sub("/.*", "", to)
            if (!(to in may)) { print $1 " includes " $2 ": " dir " may include only: " allowed; bad = 1; next }
            if (to != dir) {
                # these tables are part of the public interface of isa/: sources include them to expand their rows
                if (!($2 in main) && $2 !~ /^isa\/(insns|mods|specials)\.def$/) {
                    print $1 " includes " $2 ": other directories may include only the public header " first[to]; bad = 1
                }
                next
            }
            if ($2 in is_public && !($2 in main) && !($1 in is_public)) {
                print $1 " includes " $2 ": only the public headers of " to " include it; others include " first[to]; bad = 1
            }
            here = room($1); there = room($2)
            if (here == there || there == dir || here == dir) next
            if (!(there in place) || !(here in place)) { print $1 ": " here " or " there " is not in the table of folders in CONTRIBUTING.md"; bad = 1 }
            else if (place[there] > place[here]) {
                print $1 " includes " $2 ": the folder " there " is after " here " (CONTRIBUTING.md)"; bad = 1
            }
        }
        END { exit bad }' || bad=1
    # Each folder, or the folder that contains it, must be in the table, and no folder may have too many files.
    awk -v rooms="$rooms" -v most="$most_files" '
        BEGIN { n = split(rooms, list, "\n"); for (i = 1; i <= n; i++) room[list[i]] = 1 }
        { sub("/[^/]*$", ""); files[$0]++ }
        END {
            for (folder in files) {
                split(folder, part, "/")
                if (folder ~ "/" && !(part[1] "/" part[2] in room)) { print folder "/ is not in the table of folders in CONTRIBUTING.md"; bad = 1 }
                if (files[folder] > most && folder != "isa") { print folder "/ has " files[folder] " files: at most " most; bad = 1 }
            }
            exit bad
        }' "$list" || bad=1
done
all=$(sources $directories)
one_file() { # usage: one_file LIBRARY PATTERN FILE. Checks that only FILE has includes that match
    for f in $(grep -lE "^ *# *include *<$2" $all /dev/null); do
        [ "$f" = "$3" ] || { echo "$f includes $1: only $3 may"; bad=1; }
    done
}
# Only one file may contain intrinsics or inline assembly.
for f in $(grep -lE 'immintrin\.h|arm_neon\.h|arm_sve\.h|\b_mm(256|512)?_[a-z]|\b__m(128|256|512)|\b__mmask|__asm__ *(volatile *)?\("[^"]|__builtin_(ia32|aarch64)_' \
    $all /dev/null); do
    [ "$f" = emu/interp/emu_simd_priv.h ] ||
        { echo "$f contains intrinsics or inline assembly: only emu/interp/emu_simd_priv.h may"; bad=1; }
done
one_file libyaml 'yaml\.h' base/lw_yaml.c
one_file libelf '(libelf|gelf)\.h' isa/object/isa_elf.c
one_file readline 'readline/' shell/sh_line.c
dup=$(printf '%s\n' $all | sed 's,.*/,,' | sort | uniq -d)
[ -z "$dup" ] || { echo "several files have the same name: $dup"; bad=1; }
find $directories tests -type f \( -name '*.[ch]' -o -name '*.def' -o -name '*.sh' -o -path 'timing/machines/*.yaml' -o -path 'host/examples/*' \) 2>/dev/null >"$list"
written=$(cat "$list")
# shellcheck disable=SC2086
unmarked=$(grep -m 1 -nF 'SPDX-License-Identifier: Apache-2.0' $written /dev/null | awk -F : '
    NR == FNR { if ($2 <= 3) marked[$1] = 1; next }
    !($0 in marked) { print $0 ": no SPDX line" }' - "$list")
[ -z "$unmarked" ] || { echo "$unmarked"; bad=1; }
# No file may have more than 1,000 lines.
long=$(wc -l $(printf '%s\n' "$written" | grep -E '\.([ch]|sh)$') /dev/null |
    awk '$1 > 1000 && $2 != "total" { print $2 ": " $1 " lines: at most 1,000" }')
[ -z "$long" ] || { echo "$long"; bad=1; }
exit $bad
