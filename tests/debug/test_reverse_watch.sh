#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Tests reverse steps across a write of a watched range, in the shell and in gdb. A reverse step must stop at the write, as a
# forward step does, and the message of the stop must name the lane that wrote.
. "${srcdir:-.}/tests/clients/gdb_lib.sh"
need gdb
cd "$work" || exit 1
cat >watched.cl <<'END'
kernel void watched(global uint *out)
{
    uint me = get_local_id(0);

    if (me == 40)
        out[0] = 7;
    barrier(CLK_LOCAL_MEM_FENCE);
    out[me + 1] = me; out[me + 100] = me;
    out[me + 200] = out[0];
}
END
cat >watched.yaml <<'END'
program: {source: watched.cl, options: [-O0, -g, -cl-opt-disable]}
buffers: {out: {type: u32, count: 264}}
steps:
  - launch: {entry: watched, grid: [1], block: [64], args: [out]}
END
for command in reverse-next reverse-step reverse-nexti reverse-stepi; do
    # The reverse step crosses a barrier, at which the lane waited while another warp wrote.
    printf '%s\n' 'tbreak 7' continue next 'watch out[0]' "$command" >session
    "$lanewise" debug watched.yaml --batch -x session >"$work/said" 2>&1 </dev/null
    tail -n 3 "$work/said" | sed 's/+0x[0-9a-f]*//' >"$work/end"
    cat >"$work/expected" <<'END'
watchpoint 2: out[0] was written by lane 8 at watched (watched.cl:6): 0 -> 7
block(0,0,0) w1 lane 8 at watched (watched.cl:6)
6	        out[0] = 7;
END
    cmp -s "$work/expected" "$work/end" ||
        fail "shell, $command: expected a stop at the write of the other warp: $(cat "$work/said")"
    # The lane itself wrote the range, in the middle of a line. The reverse step goes back one line, or 30 instructions.
    [ "${command#*i}" = "$command" ] && count= || count=30
    printf '%s\n' 'tbreak 9' continue 'watch out[me + 1]' "$command $count" "$command $count" >session
    "$lanewise" debug watched.yaml --batch -x session >"$work/said" 2>&1 </dev/null
    grep -q '^watchpoint 2: .* was written by lane 0 at watched.* (watched.cl:8)' "$work/said" ||
        fail "shell, $command: expected a stop at the lane's own write: $(cat "$work/said")"
done

for command in reverse-next reverse-stepi; do
    printf '%s\n' 'tbreak watched.cl:7' continue next 'watch *(unsigned *)&out[0]' "$command" >session
    "$lanewise" gdb watched.yaml -- -batch -x session >"$work/said" 2>&1 </dev/null
    tr '\n' ' ' <"$work/said" |
        grep -q 'Thread 2 "block(0,0,0) w1 lane 8" hit Hardware watchpoint .*Old value = 7 New value = 0 .*watched.cl:6 ' ||
        fail "gdb, $command: expected a stop at the write of the other warp: $(cat "$work/said")"
done
[ $failures = 0 ] || exit 1
echo "ok: reverse steps stop at writes of watched ranges"
