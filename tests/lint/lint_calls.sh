#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Checks the order of calls between the folders of a directory. A function may refer to functions and tables of its own folder, of
# the directory itself, and of folders before its own in the table of section "Folders" of CONTRIBUTING.md. Files in the directory
# itself may refer to all folders. The check reads the symbols of object files, so that pointers in tables count, too. The script
# runs in a build folder.
set -u
rooms=$(sed -n 's,^    \([a-z]*/[a-z]*\)/  *[^ ].*,\1,p' "${srcdir:-.}/CONTRIBUTING.md")
objects=
for o in $(find $(printf '%s\n' "$rooms" | sed 's,/.*,,' | sort -u) -name '*.o' 2>/dev/null); do
    source=$(echo "${o%.o}.c" | sed 's,/lib[a-z0-9_]*-,/,')
    [ ! -f "${srcdir:-.}/$source" ] && [ ! -f "$source" ] || objects="$objects $o" # ignores objects without a source
done
[ -n "$objects" ] || { echo "there are no objects here: run this script in a build folder"; exit 99; }
nm -A -P $objects 2>/dev/null | awk -v rooms="$rooms" '
    BEGIN { n = split(rooms, list, /[ \n]+/); for (i = 1; i <= n; i++) place[list[i]] = i }
    {
        file = $1; sub(/:$/, "", file); k = split(file, part, "/")
        if ($2 ~ /asan|ubsan|sancov/) next
        room = k > 2 ? part[1] "/" part[2] : part[1]
        if ($3 == "U") uses[++count] = part[1] SUBSEP room SUBSEP $2 SUBSEP file
        else if ($3 ~ /^[TDRBVW]$/) { home[part[1], $2] = room; objects[room] = 1 }
    }
    END {
        for (i = 1; i <= count; i++) {
            split(uses[i], u, SUBSEP)
            if (!((u[1], u[3]) in home)) continue
            there = home[u[1], u[3]]
            if (there == u[2] || !(u[2] in place) || !(there in place)) continue
            calls++
            if (place[there] > place[u[2]]) {
                print u[4] " refers to " u[3] " of " there ", which is after " u[2] " (CONTRIBUTING.md)"; bad = 1
            }
        }
        if (calls < 100) { print "only " calls + 0 " references between folders were found"; bad = 1 }
        exit bad
    }'
