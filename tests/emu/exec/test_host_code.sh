#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Tests `lanewise dis --host`, which prints the host code of an instruction's handler, disassembled from memory.
set -u
lanewise=${LANEWISE:-./lanewise}
if nm "$lanewise" 2>/dev/null | grep -q '__asan_init'; then
    echo "skipped: the address sanitizer adds code to handlers, so their host code is not the expected one"
    exit 77
fi
work=$(mktemp -d "${TMPDIR:-/tmp}/lanewise-host.XXXXXX")
trap 'rm -rf "$work"' EXIT
bad=0
fail() { echo "FAIL: $1"; sed 's/^/    /' "$work/out" | head -n 12; bad=$((bad + 1)); }

# The printed host code of every instruction ends in a jump or a return.
for name in $(sed -n 's/^INSN([A-Z0-9_]*, *"\([^"]*\)".*/\1/p' "${srcdir:-.}/isa/insns.def"); do
    if ! "$lanewise" dis --host "$name" >"$work/out" 2>&1; then
        grep -q 'does not execute\|target of the call' "$work/out" || fail "dis --host $name fails"
        continue
    fi
    awk '/^[a-z].*host instructions/ { if (n && last !~ /^(jmp|ret|br|b)$/) bad = 1; n++; next }
         { last = $2 } END { exit bad || !n || last !~ /^(jmp|ret|br|b)$/ }' "$work/out" ||
        fail "$name: the host code does not end in a jump or a return"
done

"$lanewise" dis --host v_add_f32 --level 1 >"$work/out"
case $(head -n 1 "$work/out") in
x86-64*)
    grep -q ' addps ' "$work/out" || fail "v_add_f32 at level 1 does not add four lanes with one instruction"
    "$lanewise" dis --host 'v_fma_f32 v1, v2, v3, -v4' --level 1 >"$work/out"
    grep -q '^prelude' "$work/out" || fail "the host code of a source modifier (prelude) is not printed"
    ;;
esac

refuse() { # usage: refuse WHAT ARGUMENT... . Expects one line of output and exit status 2
    what=$1
    shift
    "$lanewise" dis "$@" >"$work/out" 2>&1
    [ $? = 2 ] && [ "$(wc -l <"$work/out")" = 1 ] || fail "$what: expected one line and exit status 2"
}
refuse "an unknown mnemonic" --host frobnicate
refuse "wrong operands" --host 'v_add_f32 v1'
refuse "an unknown level" --host v_add_f32 --level 9
exit $((bad != 0))
