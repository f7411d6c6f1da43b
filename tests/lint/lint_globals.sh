#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Checks that the library has no writable data, since two machines may exist in one process: .data and .bss of each of its
# objects must be empty. (Tables of pointers are in .data.rel.ro.)
set -u
bad=0
for lib in ${LIBS_TO_CHECK:-liblanewise.a libhost.a libcore_v1.a libcore_v3.a libcore_v4.a}; do
    [ -f "$lib" ] || continue
    if nm "$lib" 2>/dev/null | grep -q '__asan_init'; then
        echo "built with the address sanitizer, which has data of its own: skipped"
        exit 77
    fi
    objdump -h "$lib" | awk -v lib="$lib" '
        /file format/ { object = $1 }
        $2 ~ /^\.(data|bss|tdata|tbss|data\..*|bss\..*)$/ && $2 !~ /^\.data\.rel\.ro/ && $3 !~ /^0+$/ {
            print lib ": " object " has " $2 " of 0x" $3 " bytes"; bad = 1
        }
        END { exit bad }' || bad=1
done
exit $bad
