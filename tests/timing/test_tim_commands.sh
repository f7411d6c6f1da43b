#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Tests the shell's commands for the timing model, such as why and mechanism, with small kernels in which it is known for what
# each warp waits.
. "${srcdir:-.}/tests/lib/cli_lib.sh"

launch_file() { # usage: launch_file KERNEL. Prints a launch file for the kernel.
    cat <<END
program: {source: $1.s}
buffers: {x: {type: u32, count: 4096}}
steps: [launch: {entry: $1, grid: 1, block: 32, args: [x]}]
END
}
# usage: session COMMANDS ARGUMENT... . Executes COMMANDS, which are separated by semicolons, in `lanewise debug`. Writes the
# output to the file `said`. With the reference model the output must be the same.
session() {
    commands=$1
    shift
    IFS=';'
    for c in $commands; do set -- "$@" -c "$c"; done
    unset IFS
    cases=$((cases + 1))
    timeout 120 "$lanewise" debug --batch "$@" >out 2>err </dev/null || fail "debug $* ends with exit status $?"
    mv out said
    timeout 120 "$lanewise" debug --batch --timing-reference "$@" >out 2>err </dev/null
    cmp -s out said || fail "debug $*: the output differs with the reference model"
}
# usage: says WHAT. The file `said` must contain the lines on standard input, in which "cycle N" stands for any cycle at the
# beginning of a line.
says() {
    sed 's/^cycle [0-9][0-9]*/cycle N/' said >lines
    cat >want
    python3 -c 'import sys; sys.exit(open("want").read() not in open("lines").read())' || {
        cat lines
        fail "$1: the output does not contain:"
        cat want
    }
}

# ---- why ------------------------------------------------------------------------------------
cat >field.s <<'END'
.kernel field
.param ptr.global x
    v_mov_b64 v6:7, c[x]                 {st=4}
    ld.global.b32 v2, [v6:7]             {st=2,wr=1}
    ld.global.b32 v3, [v6:7+4]           {st=2,wr=1,rd=0}
    v_rcp_f32 v4, v6                     {st=13,wr=2}
    v_add_u32 v2, v2, v3                 {st=4,wt=0x6}
    st.global.b32 [v6:7], v2             {st=1,rd=3}
    v_mov_b32 v2, 0                      {st=1,wt=0x8}
    exit
.end
END
launch_file field >field.yaml
session 'tbreak *0x100000010;continue;cycle;why;tbreak *0x100000030;continue;cycle;why;cycle 12;why;tbreak *0x100000050;continue;cycle;cycle;why' \
    --timing volta field.yaml
says "the stall count" <<'END'
cycle N, core 0, warp slot 0, scheduler 0: waits for the stall count of the warp's last instruction
next: 0x100000020: ld.global.b32 v3, [v6:7+4] {st=2,wr=1,rd=0}
the warp waits for 1 more cycle
END
says "another" <<'END'
next: 0x100000040: v_add_u32 v2, v2, v3 {st=4,wt=0x6}
the warp waits for 12 more cycles
END
says "two barriers" <<'END'
next: 0x100000040: v_add_u32 v2, v2, v3 {st=4,wt=0x6}
dependence barrier 1: count is 2
for: 0x100000010: ld.global.b32 v2, [v6:7] {st=2,wr=1}
     waits for 1 of 1 lines; issued 17 cycles ago
for: 0x100000020: ld.global.b32 v3, [v6:7+4] {st=2,wr=1,rd=0}
     waits for 1 of 1 lines; issued 15 cycles ago
dependence barrier 2: count is 1
for: 0x100000030: v_rcp_f32 v4, v6 {st=13,wr=2}
     in its pipe for 5 more cycles; issued 13 cycles ago
END
says "operands" <<'END'
next: 0x100000060: v_mov_b32 v2, 0 {st=1,wt=0x8}
dependence barrier 3: count is 1
for: 0x100000050: st.global.b32 [v6:7], v2 {st=1,rd=3}
END
grep -q '^     .*; issued 2 cycles ago; not all of its operands have been read$' said || {
    cat said
    fail "why does not report that operands have not been read"
}
# Uses scoreboards, and a rule (issue.war) that protects operands which have not been read.
session 'tbreak *0x100000030;continue;cycle 40;why' --timing volta --timing-set issue.dependence=scoreboard field.yaml
says "the scoreboard" <<'END'
next: 0x100000040: v_add_u32 v2, v2, v3 {st=4,wt=0x6}
for: 0x100000010: ld.global.b32 v2, [v6:7] {st=2,wr=1}
END
session 'tbreak *0x100000010;continue;cycle;cycle;cycle;why' --timing volta --timing-set issue.war=release_on_commit field.yaml
says "what would be overtaken" <<'END'
next: 0x100000020: ld.global.b32 v3, [v6:7+4] {st=2,wr=1,rd=0}
for: 0x100000010: ld.global.b32 v2, [v6:7] {st=2,wr=1}
END

# A warp has no instruction to issue: before the cache line of its code arrives, after that, and after a branch.
cat >far.s <<'END'
.kernel far
.param ptr.global x
    v_mov_b32 v0, 1 {}
    bra on
    exit
on:
    v_mov_b32 v0, 2
    exit
.end
END
launch_file far >far.yaml
session 'cycle 20;why;tbreak *0x100000010;continue;cycle;why;cycle 3;why;cycle 2;why' --timing fermi far.yaml
says "the instruction cache" <<'END'
next: 0x100000000: v_mov_b32 v0, 1
a line of the instruction cache has been requested for the warp
END
says "a branch" <<'END'
next: 0x100000030: v_mov_b32 v0, 2
the warp fetches after 4 more cycles
cycle N
cycle N, core 0, warp slot 0, scheduler 0: the warp's instruction buffer is empty
next: 0x100000030: v_mov_b32 v0, 2
the warp fetches after 1 more cycle
cycle N
cycle N, core 0, warp slot 0, scheduler 0: the warp's instruction buffer is empty
next: 0x100000030: v_mov_b32 v0, 2
the warp waits for 2 more cycles
END

# A warp waits at a barrier: the output has the warps that have arrived, and what the other warps wait for.
cat >bars.s <<'END'
.kernel bars
.param ptr.global x
    v_s2r v0, %tid.x
    v_setp_u32.lt p0, v0, 32
    @p0 bra go
    v_mov_b64 v6:7, c[x]
    ld.global.b32 v2, [v6:7]
    v_add_u32 v2, v2, 1
go:
    bar.sync 3
    exit
.end
END
launch_file bars | sed 's/block: 32/block: 192/' >bars.yaml
session 'tbreak *0x100000040;continue;cycle 40;focus 1;why' --timing fermi bars.yaml
says "who is at a barrier" <<'END'
cycle N, core 0, warp slot 0, scheduler 0: waits at a barrier
CTA barrier 3: 32 of 192 live lanes of the block have arrived
waits for warp 1, warp slot 1: waits for data of a load
waits for warp 2, warp slot 2: waits for data of a load
waits for warp 3, warp slot 3: waits for data of a load
waits for warp 4, warp slot 4: waits for data of a load
and 1 more warps
END
# Lanes 0 to 15 wait at convergence barrier b0 for the other lanes, which are at the block's barrier.
cat >group.s <<'END'
.kernel group
.param ptr.global x
    v_s2r v0, %tid.x
    v_setp_u32.lt p0, v0, 16
    v_setp_u32.ge p1, v0, 32
    bssy b0, join
    @p0 bra join
    @p1 bra join
    bar.sync 1
join:
    bsync b0
    nanosleep 100000
    exit
.end
END
launch_file group | sed 's/block: 32/block: 64/' >group.yaml
session 'cycle 1500;why' --timing fermi group.yaml
says "convergence" <<'END'
convergence barrier b0: lanes 0xffff wait for other lanes of their convergence group
CTA barrier 1: 16 of 64 live lanes of the block have arrived
waits for warp 0, warp slot 0: waits at a barrier
waits for warp 1, warp slot 1: sleeps
END

# ---- the cycle as a value; sessions without a timing model --------------------------------------------------
session 'print clock;print $cycle;cycle 7;print cycle;print clock64;status;break 4 if cycle > 290;continue;print cycle > 290;continue;print cycle > 290' \
    --timing fermi field.yaml
says "the cycle" <<'END'
clock = 562
$cycle = 562
cycle N
cycle = 569
clock64 = 569
END
grep -q '^timing     fermi, cycle 569$' said || fail "status does not show the cycle"
[ "$(grep -c '^cycle > 290 = 1$' said)" = 2 ] || fail "a breakpoint condition on the cycle does not work"
for c in why 'cycle 3' scoreboard collectors 'mshrs 0' queues 'cache l1' 'timing keys'; do
    expect 2 "^lanewise: ${c%% *}: this session has no timing model: start it with --timing" debug field.yaml --batch -c "$c"
done
expect 2 'there is no value "cycle" in this run: start it with --timing to count cycles' debug field.yaml --batch -c 'print cycle'
expect 0 '^  Example: why$' debug field.yaml --batch -c 'help why'
expect 1 '' gdb field.yaml -- -batch -nx -ex 'monitor why'
grep -q 'why: this session has no timing model: start it with --timing' out err || fail "monitor does not name the option that gives cycles"
expect 1 '^$1 = 562$' gdb --timing fermi field.yaml -- -batch -nx -ex 'p $cycle' -ex 'monitor cycle 7' -ex 'p $cycle' -ex 'info registers cycle'
grep -q '^$2 = 569$' out || fail "gdb does not read the cycle again"

# Commands for the caches of a scheduler. The first line of code is requested in the first cycle.
expect 0 '' debug --timing ampere field.yaml --batch -c 'cycle 5' -c 'cache l0' -c 'cache operand' -c mshrs
for line in 'core 0, l0: 32768 bytes, 8 sets of 32 ways' '  set 0   way 0  0x100000000: 0 bytes, sectors 0x1 requested by 1 accesses, age 0' \
    'core 0, operand: 512 bytes, 4 sets of 2 ways' 'scheduler 0, l0: 1 of at most 64 outstanding lines' 'scheduler 3, operand: 0 of at most 4 outstanding lines'; do
    grep -q "^$line$" out || fail "the output lacks the line '$line'"
done
expect 2 '^lanewise: cache: this GPU model has no l0 cache$' debug --timing fermi field.yaml --batch -c 'cache l0'

# ---- the memory side -----------------------------------------------------------------------------
# x is at address 0x200000000000. Without icnt.hash the two accessed lines are in L2 slices 8 and 10. Slice 8 shares DRAM
# channel 2 with slice 2, and slice 10 shares channel 4 with slice 4. A line has two sectors (l2.sector), each of one burst.
cat >two.s <<'END'
.kernel two
.param ptr.global x
    v_s2r v0, %tid.x
    v_mov_b64 v6:7, c[x]
    v_shr_u32 v0, v0, 4
    v_madwide_u32 v6:7, v0, 512, v6:7
    ld.global.b32 v2, [v6:7]
    v_add_u32 v2, v2, 1
    st.global.b32 [v6:7], v2
    fence
    exit
.end
END
launch_file two >two.yaml
session 'tbreak *0x100000040;continue;cycle 40;queues;cache l2;cache l2 8;cycle 300;queues;cache l2 8 20;cache l2 10 3' --timing fermi --timing-set icnt.hash=none two.yaml
for line in '  line 0x200000000000 (set 20, way 1): sectors 0x3 requested by 1 accesses' \
    '  line 0x200000000200 (set 20, way 0): sectors 0x3 requested by 1 accesses' \
    '  read line 0x200000000000 of slice 8: bank 10 row [0-9]*, [12] bursts*' \
    'channel [0-9]*: requests 0 of 16; open rows: [0-9]* in bank [0-9]*.*' \
    'l2: 12 slices of 65536 bytes' '  slice 8   2 lines, 0 dirty, 1 outstanding' '  slice 3   0 lines, 0 dirty, 0 outstanding' \
    'slice 8, l2: 65536 bytes, 64 sets of 8 ways' 'no valid lines'; do
    grep -q "^$line$" said || fail "the output lacks the line '$line'"
done
[ "$(grep -c 'packets are without an answer' said)" = 2 ] || fail "queues counts packets twice"
says "a set of a slice" <<'END'
slice 8, l2: 65536 bytes, 64 sets of 8 ways
  set 20  way 0  0x40000010000: 64 bytes, age 1
  set 20  way 1  0x200000000000: 128 bytes, age 0
END
for wrong in 'l2 12|expected a slice from 0 to 11, found "12"' 'l2 0 64|expected a set from 0 to 63, found "64"' \
    'l2 0 0 0|too many operands: remove "0"' 'l3|expected l1, constant, texture, fetch, l0, operand or l2, found "l3"'; do
    expect 2 "^lanewise: cache: ${wrong#*|}" debug --timing fermi two.yaml --batch -c "cache ${wrong%|*}"
done
expect 2 '^lanewise: cache: this GPU model has no l2 cache$' debug --timing fermi --timing-set l2.bytes=0 two.yaml --batch -c 'cache l2'

# ---- mechanisms -------------------------------------------------------------------------------
cat >lost.s <<'END'
.kernel lost
.param ptr.global x
    s_mov_b64 s4:5, c[x]
    v_s2r v1, %tid.x
    v_shl_b32 v1, v1, 7
    v_mov_b32 v12, 0
loop:
    ld.global.b32 v3, [s4:5+v1]
    v_add_u32 v4, v3, 1
    v_add_u32 v12, v12, 1
    v_setp_u32.lt p0, v12, 20
    @p0 bra loop
    exit
.end
END
launch_file lost | sed 's/block: 32/block: 128/' >lost.yaml
session 'cycle 900;focus warp 1;why;mechanism;mechanism 1' --timing rogers --timing-set core.count=2 \
    --timing-set issue.limit=1 --mechanism swl lost.yaml
says "a limit" <<'END'
cycle N, core 0, warp slot 1, scheduler 0: a mechanism throttles the warp
throttled by swl: 1 older warps of the core run, and issue.limit is 1
END
says "the limit's table" <<'END'
swl: limit 1; running warps: 4; warps that may issue, the oldest first: 0
core 1, cycle 1422
swl: limit 1; running warps: 0; warps that may issue, the oldest first:
END
session 'cycle 12000;mechanism;focus warp 3;why' --timing rogers --timing-set core.count=1 --timing-set l1.bytes=4096 --timing-set l1.ways=32 \
    --timing-set issue.policy=lrr --mechanism ccws lost.yaml
grep -q '^ccws: [1-9][0-9]* hits of victim tags in [1-9][0-9]* instructions; cutoff [34]00, [1-3] of [34] warps may load$' said ||
    fail "mechanism does not print the table of ccws"
grep -q '^score computed last: [1-9][0-9]*, for warp slot [0-9]* in cycle [1-9][0-9]*; the highest: [1-9][0-9]*$' said ||
    fail "mechanism does not print the last score of ccws"
[ "$(grep -c '  throttled$' said)" -ge 1 ] || fail "ccws throttles no warp"
says "the score" <<'END'
throttled by ccws: the warp has score 100; 2 of 3 warps precede the warp by score, and 1 may load; the cutoff is 300
END
session 'cycle 12000;mechanism' --timing rogers --timing-set core.count=1 --timing-set l1.bytes=4096 --timing-set l1.ways=32 \
    --timing-set issue.policy=lrr --mechanism daws --timing-set daws.assoc=100 lost.yaml
grep -q '^daws: 1 of [2-4] warps may load; ' said || fail "mechanism does not print the table of daws"
grep -q '^load 0x100000040 of loop 0x100000040: diverged ([0-9]*), load group 0$' said ||
    fail "mechanism does not print the load that daws has classified"
grep -q ' 0x100000040 *[0-9]* *32  throttled$' said || fail "daws throttles no warp"
session 'cycle 12000;focus warp 3;why' --timing rogers --timing-set core.count=1 --timing-set l1.bytes=4096 --timing-set l1.ways=32 \
    --timing-set issue.policy=lrr --timing-set lsu.queue=4 --mechanism daws --timing-set daws.assoc=100 lost.yaml
says "the footprint" <<'END'
throttled by daws: 32 lines are predicted for the warp in its loop at 0x100000040; 32 lines are predicted for older warps, and 32 are available for all
END
session 'cycle 1000;focus warp 3;why;mechanism' --timing rogers --timing-set core.count=1 --timing-set l1.bytes=4096 --timing-set l1.ways=32 \
    --timing-set issue.policy=lrr --timing-set issue.active=2 --mechanism pools lost.yaml
says "the pool" <<'END'
throttled by pools: the warp is pending, after 0 others; 2 of 2 warps are active
END
says "the pool's table" <<'END'
pools: scheduler 0, active: 1 2; pending, the next first: 3 0
END
expect 0 '' run -q --timing rogers --timing-set core.count=1 --timing-set l1.bytes=4096 --timing-set l1.ways=32 --timing-set issue.policy=lrr \
    --mechanism ccws --timing-trace trace.json --timing-window 0:20000 --timing-events 4000000 lost.yaml
python3 - <<'END' || fail "the trace does not have the counters of ccws as expected"
import json
events = [e for e in json.load(open('trace.json'))['traceEvents'] if e['ph'] == 'C']
allowed = [e['args']['value'] for e in events if e['name'] == 'ccws: warps that may load']
scores = [(e['ts'], e['args']['value']) for e in events if e['name'] == 'ccws: highest score']
assert min(allowed[1:-1]) < 4 == max(allowed), allowed
falls = [(a, b) for a, b in zip(scores, scores[1:]) if b[1] < a[1] and b[1] > 0]
assert len(falls) > 100 and sum(b[1] == a[1] - 1 and b[0] == a[0] + 1 for a, b in falls) > 0.9 * len(falls), falls[:5]
END
session 'cycle 1000;mechanism 0;focus warp 3;why' --timing="$src/docs/examples/dwr64.yaml" --timing-set core.count=1 lost.yaml
grep -q '^dwr: 16 slot groups of 8 warps; storage: PST 656 bits, ILT 992 bits, warp states 128 bits, in total 222 bytes$' said ||
    fail "mechanism does not print the storage of dwr"
grep -q '^ILT, 0 of 32 instructions:$' said || fail "mechanism does not print the ILT of dwr"
session 'cycle 610;focus warp 3;why;cycle 10;why;mechanism 0' --timing="$src/docs/examples/dwr64.yaml" --timing-set core.count=1 lost.yaml
says "the barrier" <<'END'
throttled by dwr: the warp's LAT barrier operation takes 8 more cycles
END
says "the partners" <<'END'
throttled by dwr: at its load or store at 0x100000040 the warp waits for partners: slot group 0, entry 0x100000040, missing warps 5 6 7
END
says "the group's entry" <<'END'
    0  0x100000040       1f  0 waits 1 waits 2 waits 3 waits 4 waits 5 barrier 6 barrier 7 barrier
END
expect 0 '' run -q --timing="$src/docs/examples/dwr64.yaml" --timing-set core.count=1 --timing-trace trace.json --timing-window 0:3000 --timing-events 4000000 lost.yaml
python3 - <<'END' || fail "the trace does not have the counter of dwr as expected"
import json
events = [e for e in json.load(open('trace.json'))['traceEvents'] if e['ph'] == 'C']
waiting = [e['args']['value'] for e in events if e['name'] == 'dwr: warps that wait for partners']
assert min(waiting) == 0 < max(waiting), waiting
END
sed 's/block: 128/block: 36/' lost.yaml >quads.yaml
session 'cycle 400;focus warp 1;why;mechanism' --timing="$src/docs/examples/vws.yaml" quads.yaml
says "gangs" <<'END'
vws: gangs: 1; single warps: 1 of 9 live warps; slices: 8
gang       pc  warp slots
   0 0x100000000  0 1 2 3 4 5 6 7
single         8
END
says "their area" <<'END'
  together 1.72 mm2, 11 % of an SM of 16 mm2
END
# The debugger steps warp 1 of a gang while the other warps are held at the breakpoint. The gang must then split into single
# warps.
session 'break *0x100000060;continue;focus warp 1;stepi;stepi;stepi;mechanism;delete;continue' --timing="$src/docs/examples/vws.yaml" quads.yaml
says "no gang" <<'END'
vws: gangs: 0; single warps: 9 of 9 live warps; slices: 8
END
says "its end" <<'END'
all launches have ended
END
session 'mechanism' --timing fermi lost.yaml
says "none" <<'END'
no mechanism is enabled: `lanewise timing --mechanisms` lists all
END
expect 2 'lanewise: --mechanism: expected mechanisms of swl, pools, ccws, daws, belady, loads, dwr, vws, la_w, shares, family, pcal, reuse, equalizer, mrpb, dwf, tbc, rows, orf, prf, regless, lwm, mascar, interweave, dynpcal, dws, capri, sbi, swi, drowsy, rename, medic, dtbl, laperm, dvfs, vote, bcs, la_b, la_bw, separated by commas, found "cws"' run --timing --mechanism ccws,cws lost.yaml
expect 2 'ccws.on and daws.on cannot be combined: set only one of them' run --timing --mechanism ccws,daws lost.yaml
expect 2 'has no effect without the timing model: add --timing' run --mechanism ccws lost.yaml
expect 2 'dwr.on cannot be combined with mechanism ccws, ' run --timing --mechanism dwr,ccws lost.yaml
expect 2 'dwr.on cannot be combined with lsu.local, ' run --timing ampere --mechanism dwr lost.yaml
expect 2 'core.warps is 48, which is not a multiple of core.group (5): set core.warps to 50' run --timing --timing-set core.group=5 lost.yaml
expect 2 'vws.on needs slot groups with one warp of each scheduler: set core.group to the number of schedulers, 2' run --timing --mechanism vws lost.yaml
expect 2 'vws.on cannot be combined with mechanism swl, which may stop one warp of a gang forever' run --timing="$src/docs/examples/vws.yaml" --mechanism swl lost.yaml
expect 2 'vws.reform needs gangs that can split into single warps: set vws.mode to both' run --timing="$src/docs/examples/vws.yaml" --timing-set vws.mode=gang --timing-set vws.reform=opportunistic lost.yaml
expect 2 'vws.sync (9 cycles) has no effect while gangs do not merge: set vws.reform to opportunistic' run --timing="$src/docs/examples/vws.yaml" --timing-set vws.sync=9 lost.yaml
expect 2 'fetch.ports (2) has no effect without fetch.l0_bytes: set fetch.l0_bytes, or set fetch.width instead' run --timing --timing-set fetch.ports=2 lost.yaml
expect 2 'mechanism pools cannot be combined with mechanism swl, ' run --timing --mechanism swl,pools lost.yaml
expect 2 'mechanism pools cannot be combined with mechanism daws, ' run --timing --timing-set issue.policy=active_pending --mechanism daws lost.yaml
expect 2 'swl.on and daws.on together need swl.set=oldest and daws.order=age' run --timing --mechanism swl,daws --timing-set swl.set=sticky lost.yaml

echo "test_tim_commands: $cases sessions"
[ $failures = 0 ]
