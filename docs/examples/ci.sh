#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# ci.sh LAUNCH.yaml...: runs each launch file with checks, writes its reports to reports/, and ends with the highest exit
# status of the runs. Run it in the root of the checkout: reports contain paths relative to this folder. See docs/howto/ci.md.
[ $# -gt 0 ] || { echo "ci.sh: no launch files were given: use ci.sh LAUNCH.yaml..." >&2; exit 2; }
mkdir -p reports || exit 2
worst=0
names=
for launch in "$@"; do
    launch=${launch#./} # removes the prefix that `find .` prints
    name=$(printf %s "${launch%.*}" | tr / -)
    case " $names " in *" $name "*) echo "$launch: another launch file also writes reports/$name.*: rename one of the two files" >&2; [ $worst -ge 2 ] || worst=2; continue ;; esac
    names="$names $name"
    rm -f "reports/$name".*
    set -- --check="${CHECK:-all,-performance}" --max-findings 1000 --coverage "reports/$name.info"
    for form in xml sarif yaml; do
        set -- "$@" --check-file "reports/$name.$form"
    done
    [ ! -f "known/$name.yaml" ] || set -- "$@" --check-suppress "known/$name.yaml"
    timeout "${LIMIT:-600}" "${LANEWISE:-lanewise}" run "$@" "$launch"
    status=$?
    echo "$launch: status $status"
    [ "$status" -le "$worst" ] || worst=$status
done
exit "$worst"
