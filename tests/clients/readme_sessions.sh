#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Runs the sessions of README.md in real gdb. The output must be that of the README. UPDATE_GOLDEN=1 renews the output of the
# `print` commands in the session that goes back to the cause of an error.
. "${srcdir:-.}/tests/clients/gdb_lib.sh"
readme=$src/README.md
cp "$src"/docs/examples/overwrite.* "$work/"

# Prints the code block after the marker, without its fences.
sed -n '/^<!-- tests\/clients\/readme_sessions.sh -->$/,/^```$/p' "$readme" | sed -e '1,2d' -e '$d' >"$work/block"
# Separates the output of the first command, and the session of gdb.
sed -n '/^(gdb) /,$p' "$work/block" >"$work/golden"
sed -n 's/^(gdb) //p' "$work/block" >"$work/session"
[ -s "$work/session" ] || fail "README.md has no session after its marker"
(cd "$work" && "$lanewise" run overwrite.yaml >run.out 2>&1)
[ $? = 1 ] || fail "the wrong kernel does not fail its check"
grep '^overwrite.yaml:' "$work/run.out" >"$work/symptom"
if [ ! -s "$work/symptom" ] || ! grep -qxF "$(cat "$work/symptom")" "$work/block"; then
    fail "README.md does not contain the output of the run: $(cat "$work/symptom")"
fi

# usage: transcript GDB. Writes the session to $work/said as a user sees it in a terminal
transcript() {
    need "$1"
    serve "$lanewise" run overwrite.yaml --gdb 127.0.0.1:0
    session "$1"
    server_ends
    sed -n '/^+/,$p' "$work/transcript" |
        sed -e '/^+continue $/d' -e '/^+step $/d' -e 's/^+/(gdb) /' -e '/^$/d' \
            -e '/^\[Inferior 1 .* detached\]$/d' >"$work/said"
}

for gdb in gdb gdb-multiarch; do
    transcript $gdb
    if [ -n "${UPDATE_GOLDEN:-}" ] && [ $gdb = gdb ]; then
        awk -v said="$work/said" '
            /^<!-- tests\/clients\/readme_sessions.sh -->$/ { inside = 1 }
            inside && /^\(gdb\) / && !done { while ((getline line <said) > 0) print line; done = 1 }
            inside && done && /^```$/ { inside = 0 }
            !(inside && done) { print }' "$readme" >"$work/readme" && cat "$work/readme" >"$readme"
        cp "$work/said" "$work/golden"
    fi
    if diff -u "$work/golden" "$work/said" >"$work/diff"; then
        echo "ok: $gdb: the session of the README that goes back to the cause"
    else
        fail "$gdb: the session of the README has other output"
        cat "$work/diff"
    fi
done

# The first session of the README, with a kernel of kernels/.
cp "$src"/kernels/mandelbrot.* "$work/"
${CC:-cc} -std=gnu11 -O2 -ffp-contract=off "$src/tests/program/expected/mandelbrot.c" -o "$work/make" -lm && "$work/make" "$work"
sed -n '/^<!-- tests\/clients\/readme_sessions.sh: forwards -->$/,/^```$/p' "$readme" | sed -e '1,2d' -e '$d' >"$work/block"
sed -n -e '/^(gdb) /,$p' "$work/block" | sed -e '/^$/d' -e '/^ok: /d' >"$work/golden"
sed -n "s/^\$ gdb -q -ex '\(set .*\)' -ex 'target remote :1234'$/\1/p" "$work/block" >"$work/session"
[ -s "$work/session" ] || fail "README.md has no first session after its marker"
sed -n 's/^(gdb) //p' "$work/block" >>"$work/session"
serve "$lanewise" run mandelbrot.yaml --gdb 127.0.0.1:0
session gdb
server_ends
sed -n '/^+break/,$p' "$work/transcript" | sed -e '/^+continue $/d' -e '/^+next $/d' -e 's/^+/(gdb) /' -e '/^$/d' \
    -e '/^  Id   Target Id/d' -e '/^\[Switching to Thread/d' >"$work/said"
if diff -u "$work/golden" "$work/said" >"$work/diff" &&
    grep -qF "$(grep '^ok: ' "$work/block")" "$work/server.out" && [ "$status" = 0 ]; then
    echo "ok: the first session of the README"
else
    fail "the first session of the README has other output"
    cat "$work/diff" "$work/server.out"
fi

# Without history the same commands must not find the cause.
serve "$lanewise" run overwrite.yaml --history 0 --gdb 127.0.0.1:0
session gdb
grep -q '^Old value = 32$' "$work/transcript" &&
    fail "gdb finds the cause without history, so the session does not show that history works"
finish
