#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Runs the commands of the README's sessions in real gdb: they must print what the README shows. UPDATE_GOLDEN=1 renews the output
# of the `print` commands in the session that goes back to the cause of an error.
. "${srcdir:-.}/tests/clients/gdb_lib.sh"
readme=$src/README.md
cp "$src"/docs/examples/overwrite.* "$work/"

# Prints the code block after the marker, without its fences.
sed -n '/^<!-- tests\/clients\/readme_sessions.sh -->$/,/^```$/p' "$readme" | sed -e '1,2d' -e '$d' >"$work/block"
# The first output of the run, and the commands typed into gdb.
sed -n '/^(gdb) /,$p' "$work/block" >"$work/golden"
sed -n 's/^(gdb) //p' "$work/block" >"$work/session"
[ -s "$work/session" ] || fail "README.md has no session behind its marker"
(cd "$work" && "$lanewise" run overwrite.yaml >run.out 2>&1)
[ $? = 1 ] || fail "the wrong kernel does not fail its check"
grep '^overwrite.yaml:' "$work/run.out" >"$work/symptom"
if [ ! -s "$work/symptom" ] || ! grep -qxF "$(cat "$work/symptom")" "$work/block"; then
    fail "README.md does not say what the run says: $(cat "$work/symptom")"
fi

# usage: transcript GDB. Writes $work/said as a user at the terminal sees the session
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
        echo "ok: $gdb goes back to the cause as the README has it"
    else
        fail "$gdb: the session of the README prints something else"
        cat "$work/diff"
    fi
done

# The first session, on a kernel of kernels/.
cp "$src"/kernels/mandelbrot.* "$work/"
${CC:-cc} -std=gnu11 -O2 -ffp-contract=off "$src/tests/program/expected/mandelbrot.c" -o "$work/make" -lm && "$work/make" "$work"
sed -n '/^<!-- tests\/clients\/readme_sessions.sh: forwards -->$/,/^```$/p' "$readme" | sed -e '1,2d' -e '$d' >"$work/block"
sed -n -e '/^(gdb) /,$p' "$work/block" | sed -e '/^$/d' -e '/^ok: /d' >"$work/golden"
sed -n "s/^\$ gdb -q -ex '\(set .*\)' -ex 'target remote :1234'$/\1/p" "$work/block" >"$work/session"
[ -s "$work/session" ] || fail "README.md has no first session behind its marker"
sed -n 's/^(gdb) //p' "$work/block" >>"$work/session"
serve "$lanewise" run mandelbrot.yaml --gdb 127.0.0.1:0
session gdb
server_ends
sed -n '/^+break/,$p' "$work/transcript" | sed -e '/^+continue $/d' -e '/^+next $/d' -e 's/^+/(gdb) /' -e '/^$/d' \
    -e '/^  Id   Target Id/d' -e '/^\[Switching to Thread/d' >"$work/said"
if diff -u "$work/golden" "$work/said" >"$work/diff" &&
    grep -qF "$(grep '^ok: ' "$work/block")" "$work/server.out" && [ "$status" = 0 ]; then
    echo "ok: the first session is as the README has it"
else
    fail "the first session of the README prints something else"
    cat "$work/diff" "$work/server.out"
fi

# Without history the same commands must not find the cause.
serve "$lanewise" run overwrite.yaml --history 0 --gdb 127.0.0.1:0
session gdb
grep -q '^Old value = 32$' "$work/transcript" &&
    fail "the cause is found without history: the session shows nothing"
finish
