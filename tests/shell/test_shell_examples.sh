#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Runs the example of every command that `help` lists, each in its own session. An example must print at least one word and no
# error.
set -u
srcdir=$(cd "${srcdir:-.}" && pwd)
program=${LANEWISE:-./lanewise}
case $program in
    /*) ;;
    *) program=$(pwd)/$program ;;
esac
work=$(mktemp -d) || exit 99
trap 'rm -rf "$work"' EXIT
cp "$srcdir"/tests/shell/golden/saxpy.s "$srcdir"/tests/shell/golden/saxpy.yaml \
    "$srcdir"/tests/shell/golden/calls.s "$srcdir"/tests/shell/golden/calls.yaml \
    "$srcdir"/tests/clients/behaviours/results.cl "$srcdir"/tests/clients/behaviours/results.yaml "$work"/
cd "$work" || exit 99
# Creates what the examples use: a script, a file with memory, a checkpoint, three stoppoints, and a mark.
echo 'echo from a script' >commands.lws
"$program" debug saxpy.yaml --batch -c 'dump memory.bin 0x200000000000 64' -c 'save state.lwc' \
    >prepare.out 2>&1 || { cat prepare.out; exit 1; }
"$program" debug saxpy.yaml -c help >list || exit 1
# These commands print nothing.
quiet=' alias assert delete disable enable log quit set settings condition undisplay wunwatch typed '
cycles=" $(sed -n '/^Cycles/,/^$/s/^  \([a-z][a-z-]*\).*/\1/p' list | tr '\n' ' ')"
count=0
failed=0
for name in $(sed -n 's/^  \([a-z][a-z-]*\).*/\1/p' list); do
    count=$((count + 1))
    "$program" debug saxpy.yaml -c "help $name" >help.out 2>&1
    example=$(sed -n 's/^  Example: //p' help.out)
    if [ -z "$example" ]; then
        echo "$name: help has no example"
        failed=1
        continue
    fi
    launch=saxpy.yaml
    before='break 14'
    timing=
    case $cycles in *" $name "*) timing="--timing --timing-set core.warp_width=8 --timing-set core.warps=192" ;; esac
    case $name in
    finish | reverse-finish | up | down | frame) launch=calls.yaml before='break 17' ;;
    returned) launch=results.yaml before='break half_of' ;;
    esac
    set -- -c "$before"
    case $name in
    finish | reverse-finish | up | down | frame) set -- "$@" -c continue ;;
    returned) set -- "$@" -c continue -c finish ;;
    undisplay) set -- "$@" -c 'display v0' ;;
    esac
    "$program" debug $timing $launch --batch "$@" >before.out 2>&1
    "$program" debug $timing $launch --batch "$@" -c "$example" >with.out 2>&1
    status=$?
    if [ $status != 0 ]; then
        echo "$name: the example \"$example\" ends with status $status:"
        tail -1 with.out
        failed=1
    elif [ "$(wc -c <with.out)" -le "$(wc -c <before.out)" ]; then
        case $quiet in
        *" $name "*) ;;
        *) echo "$name: the example \"$example\" prints nothing"; failed=1 ;;
        esac
    fi
done
if [ $count -lt 40 ]; then
    echo "help lists only $count commands"
    failed=1
fi
# Test of the check itself: a session with a failing command must not end with status 0.
if "$program" debug saxpy.yaml --batch -c 'print nosuch' >/dev/null 2>&1; then
    echo "a batch with a failing command ends with status 0"
    failed=1
fi
[ $failed = 0 ] && echo "$count examples run"
exit $failed
