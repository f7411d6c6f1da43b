#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Runs the sessions of tests/shell/golden in `lanewise debug` and compares the output byte for byte. A session NAME.in
# begins with a line "# launch: FILE" and may contain lines "# args: OPTIONS" and "# status: N". UPDATE_GOLDEN=1 writes
# the expected outputs instead.
set -u
srcdir=${srcdir:-.}
program=${LANEWISE:-./lanewise}
case $program in
    /*) ;;
    *) program=$(pwd)/$program ;;
esac
folder=$srcdir/tests/shell/golden
work=$(mktemp -d) || exit 99
trap 'rm -rf "$work"' EXIT
failed=0
count=0
for session in "$folder"/*.in; do
    name=$(basename "$session" .in)
    launch=$(sed -n 's/^# launch: //p' "$session")
    args=$(sed -n 's/^# args: //p' "$session")
    wanted=$(sed -n 's/^# status: //p' "$session")
    input=$(cd "$(dirname "$session")" && pwd)/$name.in
    # the golden files have the order in which the policy rr_quantum runs splits
    # File names in sessions are relative to the folder of the sessions. eval splits $args into words.
    (cd "$folder" && eval "exec \"\$program\" debug --policy rr_quantum $args \"\$launch\"" <"$input" \
        >"$work/$name.out" 2>&1)
    status=$?
    count=$((count + 1))
    if [ "$status" != "${wanted:-0}" ]; then
        echo "$name: exit status $status, expected ${wanted:-0}"
        failed=1
    fi
    if [ -n "${UPDATE_GOLDEN:-}" ] && [ "$status" = "${wanted:-0}" ]; then
        cp "$work/$name.out" "$folder/$name.out"
    elif ! diff -u "$folder/$name.out" "$work/$name.out"; then
        echo "$name: the output of the session differs"
        failed=1
    fi
done
if [ "$count" -eq 0 ]; then
    echo "there are no sessions in $folder"
    exit 99
fi
# usage: stub WHAT EDIT LOST FOUND KEPT. Tests that the session saxpy would fail if command WHAT had no effect. The sed script
# EDIT changes the session as if the command had none. The output must then lack the line LOST of the recorded output, contain
# FOUND, which the recorded output does not contain, and contain KEPT, as the recorded output does.
stub() {
    sed "$2" "$folder/saxpy.in" >"$work/stub.in"
    (cd "$folder" && "$program" debug saxpy.yaml <"$work/stub.in" >"$work/stub.out" 2>&1)
    [ $? = 3 ] || { echo "without $1: the session does not end with status 3"; failed=1; }
    for line in "$3" "$5"; do
        grep -q "$line" "$folder/saxpy.out" ||
            { echo "without $1: saxpy.out lacks '$line'"; failed=1; }
    done
    grep -q "$4" "$folder/saxpy.out" && { echo "without $1: saxpy.out has '$4'"; failed=1; }
    grep -q "$3" "$work/stub.out" &&
        { echo "the session has the recorded output also without $1"; failed=1; }
    for line in "$4" "$5"; do
        grep -q "$line" "$work/stub.out" ||
            { echo "without $1: the session lacks '$line'"; failed=1; }
    done
}
stub 'conditions of breakpoints' 's/ if lane == 3$//' '^breakpoint 1, lanes 0x08: ' \
    '^breakpoint 1, lanes 0xff: ' '^all launches have ended'
stub 'set' '/^set v6\.f32/d' '^v7\.f32 = 101$' '^v7\.f32 = 106$' '^all launches have ended'
[ "$failed" -eq 0 ] && echo "$count sessions have the expected output"
exit $failed
