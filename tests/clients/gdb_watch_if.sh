#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Tests watchpoints with conditions in stock gdb with the Python file. The stub evaluates the condition at each hit, in forward
# and reverse execution. gdb must show the same stops as if it evaluated the conditions itself, and print no line for a hit with
# a false condition. The number of packets of a search must not depend on its length.
. "${srcdir:-.}/tests/clients/gdb_lib.sh"
need gdb
cat >"$work/count.cl" <<'END'
uint bump(global uint *p, uint by) {
    p[0] += by;
    return p[0] & 1;
}
kernel void count(global uint *x, uint n) {
    for (uint i = 0; i < n; i++) {
        x[1] = bump(x, 1);
        x[2] = i * 2;
    }
    x[3] = 7;
}
END
cat >"$work/count.yaml" <<'END'
program: {source: count.cl, options: [-O0, -g, -cl-opt-disable]}
buffers: {x: {type: u32, count: 4}}
steps:
  - launch: {entry: count, grid: [1], block: [1], args: [x, 3000]}
END
python="python exec(bytes.fromhex(gdb.selected_inferior().connection.send_packet('qGpuPy').decode()))"
cat >"$work/commands" <<END
tbreak count.cl:8
continue
watch x[1] if i == 1002 && n == 3000
continue
print i
condition \$bpnum i == 2000
continue
print i
reverse-continue
condition \$bpnum (int)(i * 1.5) == 1500
reverse-continue
print i
delete
watch x[0] if x[0] == 12
python text = gdb.execute('set debug remote 1\nreverse-continue\nset debug remote 0', to_string=True)
python print('few packets' if text.count('Sending packet') < 60 else 'packets: %d' % text.count('Sending packet'))
print p[0]
delete
tbreak bump if p[0] == 20
continue
up
watch x[1] if i * 0.5 == 15
continue
print i
delete
watch x[2] if i == 40
watch x[2]
continue
continue
delete
tbreak count.cl:10
continue
reverse-continue
END

# run: runs the session, with the Python file
run() {
    serve "$@" count.yaml
    { echo "$python"; cat "$work/commands"; } >"$work/session"
    session gdb
}
program="$lanewise run --gdb 127.0.0.1:0"
# shellcheck disable=SC2086 # words
run $program
cp "$work/transcript" "$work/here"
expect "conditions of watchpoints are tested where they are hit" <<'END'
^memory at .*count\.cl:7\): 0 -> 1$
^Hardware watchpoint .*x\[1\]
^Old value = 0
^New value = 1
^\$1 = 1002
^\+continue
^memory at .*count\.cl:7\): 0 -> 1$
^Old value = 0
^New value = 1
^\$2 = 2000
^\+reverse-continue
^memory at .*count\.cl:7\): 0 -> 1$
^Old value = 1
^New value = 0
^\+condition
^\+reverse-continue
^Hardware watchpoint .*x\[1\]
^Old value = 1
^New value = 0
^\$3 = 1000
^few packets
^\$4 = 12
^\+up
^\+continue
^Old value = 0
^New value = 1
^\$5 = 30
^New value = 60
^New value = 62
END
# There is one line for each hit with a true condition; gdb has evaluated no condition.
lines=$(grep -c '^memory at' "$work/here")
[ "$lines" = 6 ] || fail "$lines lines report hits, expected 6"

# If gdb evaluates the conditions, the session is the same, except for the lines about hits.
if [ -x "$(pwd)/tests/clients/gdb_server" ]; then
    run "$(pwd)/tests/clients/gdb_server" --without watch-if
    for file in here transcript; do
        grep -v -e '^memory at' -e 'packets' "$work/$file" >"$work/$file.same"
    done
    cmp -s "$work/here.same" "$work/transcript.same" || {
        fail "the session differs if gdb evaluates the conditions"
        diff "$work/transcript.same" "$work/here.same"
    }
    lines=$(grep -c '^memory at' "$work/transcript")
    [ "$lines" -gt 6 ] || fail "only $lines lines report hits if gdb evaluates the conditions"
    grep -q '^packets: [0-9]\{4\}' "$work/transcript" || fail "gdb needs few packets to evaluate the conditions itself"
fi
finish
