#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Checks that the timing model uses each key, and counts with each counter: code other than the code that reads and checks keys
# and prints reports must contain its name. The script lists exceptions. An exception that is used is an error, too.
set -u
later=''
cd "${1:-${srcdir:-.}}" || exit 99
bad=0
sources=$(find timing \( -name '*.c' -o -name '*_body.h' \) ! -name 'tim_config*.c' ! -name 'tim_report*.c' ! -name 'tim_totals.c')
used=$(mktemp) || exit 99
trap 'rm -f "$used"' EXIT
# shellcheck disable=SC2086
cat $sources timing/tim_priv.h timing/*/*_priv.h 2>/dev/null | grep -oE '[A-Za-z_][A-Za-z0-9_]*' | sort -u >"$used"
# A macro generates the names of the counters of instruction classes.
sed -n 's/^WORK(\([a-z0-9_]*\),.*/TIM_SCHED_lanes_\1/p' timing/energy/energy.def >>"$used"
# The counters issued_1_4 and so on are accessed by their distance from the first one.
grep -qx TIM_SCHED_issued_1_4 "$used" && sed -n 's/^ *X(SCHED, \(issued_[0-9]*_[0-9]*\),.*/TIM_SCHED_\1/p' timing/stats.def >>"$used"
missing() { # usage: missing NAME MESSAGE. Reports NAME if it is neither used nor an exception
    case " $later " in *" $1 "*)
        grep -qx "$1" "$used" && { echo "tests/lint/lint_timing.sh: $1 is used: remove it from the list of exceptions"; bad=1; }
        return ;;
    esac
    grep -qx "$1" "$used" || { echo "$2 $1"; bad=1; }
}
# tim_config_machine() passes core.reconvergence and tags.detect to emu/, which uses them.
# shellcheck disable=SC2086
for name in $(sed -n 's/^\(NUMBER\|SWITCH\|CHOICE\)(\([a-z0-9]*\), *\([A-Za-z0-9_]*\),.*/\2_\3/p' timing/keys.def); do
    [ "$name" = core_reconvergence ] || [ "$name" = tags_detect ] || missing "$name" "timing/keys.def: nothing reads"
done
for name in $(sed -n 's/^    X(\(SCHED\|CORE\|SLICE\|CHANNEL\|GPU\), \([a-z0-9_]*\),.*/TIM_\1_\2/p' timing/stats.def) \
    $(sed -n 's/^STALL_REASON(\([A-Z]*\),.*/TIM_STALL_\1/p' timing/stall_reasons.def); do
    missing "$name" "timing: nothing counts"
done
exit $bad
