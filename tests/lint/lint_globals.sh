#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Checks that the library has no writable global data, which several machines in one process would share: .data and .bss of each
# object must be empty. Constant tables of pointers are in .data.rel.ro.
set -u
bad=0
for lib in ${LIBS_TO_CHECK:-liblanewise.a libhost.a libcore_v1.a libcore_v3.a libcore_v4.a}; do
    [ -f "$lib" ] || continue
    if nm "$lib" 2>/dev/null | grep -q '__asan_init'; then
        echo "skipped: the address sanitizer adds writable data"
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
