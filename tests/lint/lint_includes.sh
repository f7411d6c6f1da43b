#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The include law (CONTRIBUTING.md, "The house" and "Rooms"). Between directories: which may include which, and only
# the public header. Inside a directory: a folder includes the headers of the directory itself and of folders
# that are before it in the table of rooms. libyaml, libelf and readline are named in one .c file each, intrinsics
# in one header. With an argument: check that tree instead (the test of this test).
set -u
rooms=$(cd "${srcdir:-.}" && sed -n 's,^    \([a-z]*/[a-z]*\)/  *[^ ].*,\1,p' CONTRIBUTING.md)
top=${1:-${srcdir:-.}}
cd "$top" || exit 99
bad=0
directories="base isa ptx emu launch check timing debug gdbstub shell host cmd"
most_files=22 # of a folder
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
public() { # the public headers of a directory: the first includes the others; they may include each other
    case $1 in
    base) echo lw.h ;;
    host) echo lanewise.h ;;
    emu) echo emu.h emu_machine.h emu_program.h emu_memory.h emu_grid.h emu_fault.h emu_event.h emu_core.h emu_hooks.h emu_engine.h \
        emu_stats.h emu_state_view.h emu_history.h ;;
    *) echo "$1.h" ;;
    esac
}
# Our sources: not what is compiled for guests, nor what is written by the build.
sources() { # directory...
    find "$@" -type f \( -name '*.[ch]' -o -name '*.def' -o -name '*.inc' \) 2>/dev/null |
        grep -vE '^ptx/compiler/(cuda|overrides)/|^host/examples/'
}
# One line a problem: an include that a directory or a folder may not have.
for dir in $directories; do
    [ -d "$dir" ] || continue
    for file in $(sources "$dir" | grep '\.h$'); do
        case " $(public "$dir") " in
        *" ${file#"$dir"/} "*) ;;
        *) case $file in *_priv.h | *_body.h) ;;
            *) echo "$file: a header that is not public is named *_priv.h (or *_body.h)"; bad=1 ;;
            esac ;;
        esac
    done
    grep -nE '^ *# *include *"' $(sources "$dir") /dev/null |
        sed 's/^\([^:]*\):[0-9]*: *# *include *"\([^"]*\)".*/\1 \2/' |
        awk -v dir="$dir" -v allowed="$(allowed "$dir")" -v public="$(for d in $directories; do
            for h in $(public "$d"); do echo "$d/$h"; done; done)" -v rooms="$rooms" '
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
                # tables are part of the interface of isa/ for readers that expand them
                if (!($2 in main) && $2 !~ /^isa\/(insns|mods|specials)\.def$/) {
                    print $1 " includes " $2 ": only the public header " first[to] " is open"; bad = 1
                }
                next
            }
            if ($2 in is_public && !($2 in main) && !($1 in is_public)) {
                print $1 " includes " $2 ": only the public headers of " to " include it; others include " first[to]; bad = 1
            }
            here = room($1); there = room($2)
            if (here == there || there == dir || here == dir) next
            if (!(there in place) || !(here in place)) { print $1 ": " here " or " there " is no room of CONTRIBUTING.md"; bad = 1 }
            else if (place[there] > place[here]) {
                print $1 " includes " $2 ": the room " there " is after " here " (CONTRIBUTING.md)"; bad = 1
            }
        }
        END { exit bad }' || bad=1
    # Folders: each in the table, and none too large to be read as one thing.
    for folder in $(sources "$dir" | sed 's,/[^/]*$,,' | sort -u); do
        case $folder in */*) printf '%s\n' "$rooms" | grep -qx "$folder" ||
            { echo "$folder/ is no room of CONTRIBUTING.md"; bad=1; } ;;
        esac
        n=$(sources "$folder" | grep -c "^$folder/[^/]*$")
        [ "$n" -le $most_files ] || [ "$folder" = isa ] || { echo "$folder/ has $n files: at most $most_files"; bad=1; }
    done
done
all=$(sources $directories)
one_file() { # library, include pattern, file
    for f in $(grep -lE "^ *# *include *<$2" $all /dev/null); do
        [ "$f" = "$3" ] || { echo "$f includes $1: only $3 may"; bad=1; }
    done
}
# Instructions of one processor, by intrinsics or inline assembly, are in one file.
for f in $(grep -lE 'immintrin\.h|arm_neon\.h|arm_sve\.h|\b_mm(256|512)?_[a-z]|\b__m(128|256|512)|\b__mmask|__asm__ *(volatile *)?\("[^"]|__builtin_(ia32|aarch64)_' \
    $all /dev/null); do
    [ "$f" = emu/interp/emu_simd_priv.h ] || { echo "$f names instructions of one processor: only emu/interp/emu_simd_priv.h may"; bad=1; }
done
one_file libyaml 'yaml\.h' base/lw_yaml.c
one_file libelf '(libelf|gelf)\.h' isa/object/isa_elf.c
one_file readline 'readline/' shell/sh_line.c
dup=$(for f in $all; do echo "${f##*/}"; done | sort | uniq -d)
[ -z "$dup" ] || { echo "file names used twice: $dup"; bad=1; }
written=$(find $directories tests -type f \( -name '*.[ch]' -o -name '*.def' -o -name '*.sh' -o -path 'timing/machines/*.yaml' -o -path 'host/examples/*' \) 2>/dev/null)
for f in $written; do
    head -n 3 "$f" | grep -q 'SPDX-License-Identifier: Apache-2.0' ||
        { echo "$f: no SPDX line"; bad=1; }
done
# Long files are hard to read.
long=$(wc -l $(printf '%s\n' "$written" | grep -E '\.([ch]|sh)$') /dev/null |
    awk '$1 > 1000 && $2 != "total" { print $2 ": " $1 " lines: at most 1,000" }')
[ -z "$long" ] || { echo "$long"; bad=1; }
exit $bad
