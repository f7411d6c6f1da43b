#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Tests the race checker with tests/check/bug_corpus/. Each kernel NAME_bad must have the finding that the comment above it
# names, at these lines and lanes, and NAME_good must have none. Kernels are compiled with and without optimisation, and run
# on several machines and with --timing.
. "${srcdir:-.}/tests/lib/cli_lib.sh"
zoo=$src/tests/check/bug_corpus

# usage: launches SOURCE OPTIONS FILE. Writes launch file FILE, which launches each kernel on separate memory
launches() {
    names=$(sed -n 's/.*void \([a-z_]*\)(.*\*[a-z]*)$/\1/p' "$1")
    {
        echo "program: {source: $1, options: [$2]}"
        echo "buffers:"
        for n in $names; do echo "  $n: {type: u32, count: 4096}"; done
        echo "steps:"
        for n in $names; do echo "  - launch: {entry: $n, grid: 4, block: 128, args: [$n]}"; done
    } >"$3"
}

# usage: mark SOURCE MARK. Prints the number of the line of SOURCE that has the mark
mark() {
    grep -n "/\* $2 \*/" "$1" | cut -d: -f1
}

# usage: verify SOURCE OPTIONS ARGUMENT... . Expects the findings of all kernels of SOURCE. If the variable LANES is "any", lanes
# are not compared, because they depend on the order of warps
verify() {
    source=$1
    options=$2
    shift 2
    launches "$source" "$options" k.yaml
    timeout 100 "$lanewise" run --check=races,benign-race,volatile-race,missing-acquire --max-findings 1000 "$@" k.yaml >out 2>err
    got=$?
    if [ $got != 1 ]; then
        fail "$source $options $*: exit status $got, expected 1"
        head -n 5 err
        return
    fi
    if grep -q 'kernel [a-z_]*_good' err; then
        fail "$source $options $*: a correct kernel has a finding:"
        grep 'kernel [a-z_]*_good' err | head -n 5
    fi
    base=$(basename "$source")
    awk '/find:/ { sub(".*find: ", ""); sub(" \\*/.*", ""); want = $0 }
         /void [a-z_]*_bad/ { sub(".*void ", ""); sub("\\(.*", ""); print $0, want }' "$source" >wanted
    while read -r name kind a b lanes_a lanes_b; do
        [ "${LANES:-}" != any ] || lanes_a='[0-9a-fx]*' lanes_b='[0-9a-fx]*'
        line_a=$(mark "$source" "$a")
        line_b=$(mark "$source" "$b")
        # either access may be the later one
        grep "$base:$line_a: $kind: .*kernel ${name}, .*lanes $lanes_a,.*at [^;]*$base:$line_b; kernel ${name}, .*lanes $lanes_b," err >/dev/null ||
            grep "$base:$line_b: $kind: .*kernel ${name}, .*lanes $lanes_b,.*at [^;]*$base:$line_a; kernel ${name}, .*lanes $lanes_a," err >/dev/null || {
            fail "$source $options $*: $name: no $kind at $line_a and $line_b, lanes $lanes_a and $lanes_b:"
            grep "kernel ${name}," err | head -n 4
        }
    done <wanted
}

for source in "$zoo/races.cu" "$zoo/races.cl"; do
    verify "$source" ""
    verify "$source" "-O0, -g"
    verify "$source" "" --tags compact
    LANES=any verify "$source" "" --timing volta
done
LANES=any verify "$zoo/races.cl" "" --warp 8
verify "$zoo/atomics.cl" "-cl-std=CL2.0"
verify "$zoo/atomics.cl" "-cl-std=CL3.0, -O0, -g" --tags compact
LANES=any verify "$zoo/atomics.cl" "-cl-std=CL2.0" --timing volta
# if the barrier is executed but lacks a flag, the message names the flag
flag() { grep -n "/\* flag of @$1 \*/" "$zoo/races.cl" | cut -d: -f1; }
for options in "" "-O0, -g"; do
    launches "$zoo/races.cl" "$options" k.yaml
    "$lanewise" run --check=races --max-findings 1000 k.yaml >out 2>err
    for want in "7 CLK_LOCAL_MEM_FENCE alone:CLK_GLOBAL_MEM_FENCE" "8 CLK_GLOBAL_MEM_FENCE alone:CLK_LOCAL_MEM_FENCE" \
        "9 no flags:CLK_LOCAL_MEM_FENCE" "10 CLK_LOCAL_MEM_FENCE alone:CLK_GLOBAL_MEM_FENCE"; do
        what=${want#* }
        flags=${what%:*}
        grep -q "; the barrier at [^ ]*races.cl:$(flag "${want%% *}") has \(only \)\?${flags% alone}, which does not order [a-z]* memory: add ${what#*:}; kernel" err ||
            fail "$options: the message does not name the flag: $want: $(grep 'the barrier at' err)"
    done
    [ "$(grep -c volatile_local_bad err)" = 1 ] ||
        fail "$options: expected one finding of volatile_local_bad: $(cat err)"
    "$lanewise" run --check=volatile-race --max-findings 1000 k.yaml >out 2>err
    grep -q 'volatile-race: .*volatile_local_bad' err ||
        fail "$options: --check=volatile-race does not report volatile_local_bad: $(cat err)"
done
# The flags of a barrier are in the PTX (in a form that other tools ignore), in the object, and in its disassembly. If the flags
# are known only at run time, they select one of four barriers.
cat >flags.cl <<'END'
kernel void flags_bad(global int *g)
{
    barrier(CLK_LOCAL_MEM_FENCE);
    barrier(CLK_GLOBAL_MEM_FENCE);
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    barrier(0);
}
kernel void chosen(global int *g, uint flags)
{
    uint t = get_local_id(0);
    g[t] = t;
    barrier(flags);
    g[128 + t] = g[t ^ 64];
}
END
for level in -O3 -O0; do
    "$lanewise" compile -X $level -e ptx -o flags.ptx flags.cl && "$lanewise" compile -o flags.lwo flags.ptx &&
        "$lanewise" dis flags.lwo >flags.s && "$lanewise" asm -o again.lwo flags.s && "$lanewise" dis again.lwo >again.s ||
        fail "$level: flags.cl does not compile"
    cmp -s flags.s again.s || fail "$level: the disassembly does not contain the flags"
    [ "$(sed -n '/^.kernel flags_bad/,/^.end/s/^ *\(bar[^{]*[^ {]\) *{*.*/\1/p' flags.s | tr '\n' ,)" = \
        "bar.sync.shared 0,bar.sync.global 0,bar.sync 0,bar.sync.none 0," ] || fail "$level: wrong flags: $(grep bar flags.s)"
    for flags in 0 1 2 3 7; do
        cat >k.yaml <<END
program: {source: flags.lwo}
buffers: {g: {type: u32, count: 256}}
steps:
  - launch: {entry: chosen, grid: 1, block: 128, args: [g, $flags]}
END
        "$lanewise" run --check=default,races k.yaml >out 2>err
        got=$?
        case $flags in 0 | 1) want=1 ;; *) want=0 ;; esac
        [ $got = $want ] || fail "$level: flags $flags: exit status $got, expected $want: $(cat err)"
    done
done

# The threads of a device launch are ordered after earlier accesses of the launching thread. Later accesses of that thread are
# ordered after the launch only by launch.sync. A later launch in the same stream is ordered after the launch.
launcher() {
    cat <<'END'
.const child_d 40 8 = addr child, u32 1, 1, 1, 1, 1, 1, 0, 0
.kernel child
.param ptr.global g
    v_mov_b64 v0:1, c[g]
    ld.global.b32 v2, [v0:1]
    v_add_u32 v2, v2, 1
    st.global.b32 [v0:1+4], v2
    exit
.end
.kernel parent
.param ptr.global g
    v_s2r v0, %tid.x
    v_setp_u32.ne p0, v0, 3
    @p0 exit
    launch.buffer v2:3, 8
    v_mov_b64 v4:5, c[g]
    st.global.b64 [v2:3], v4:5
    st.global.b32 [v4:5], v0
    v_mov_b32 v8, lo(child_d)
    v_mov_b32 v9, hi(child_d)
    launch.kernel v10, v8:9, v2:3, vz
END
    cat
    printf '    exit\n.end\n'
}
launches_of() {
    cat >"$1.yaml" <<END
program: {source: $1.s}
buffers: {g: {type: u32, count: 8}}
steps:
  - launch: {entry: parent, grid: 1, block: 8, args: [g]}
END
}
# usage: launches_end STATUS NAME PATTERN. Expects the exit status, and a message that matches, without and with a GPU model
launches_end() {
    launches_of "$2"
    for how in "" "--timing volta"; do
        timeout 60 "$lanewise" run --check=races $how "$2.yaml" >out 2>err
        got=$?
        [ $got = "$1" ] && { [ -z "$3" ] || grep -q -- "$3" err; } || {
            fail "$2 $how: exit status $got, expected $1 and '$3'"
            head -n 4 err
        }
    done
}
launcher >waits.s <<'END'
    launch.sync
    ld.global.b32 v11, [v4:5+4]
    st.global.b32 [v4:5], v11
END
launches_end 0 waits ""
launcher >hurries.s <<'END'
    st.global.b32 [v4:5], v9
    launch.sync
END
launches_end 1 hurries 'race: .*by another launch'
# Addresses in shared memory wrap around modulo 2^32, in the checker as in the machine. The addresses of the store ascend with
# the lanes, those of the load descend.
cat >wraps.s <<'END'
.kernel parent
.param ptr.global g
.shared 32
    v_s2r v0, %tid.x
    v_shl_b32 v1, v0, 2
    v_add_u32 v2, v1, -64
    st.shared.b32 [v2+64], v0
    v_xor_b32 v3, v1, 28
    v_add_u32 v3, v3, -64
    ld.shared.b32 v4, [v3+64]
    exit
.end
END
launches_end 1 wraps 'warp-synchronous: shared load of 4 bytes at 0x1000000001c'
launcher >stream.s <<'END'
    launch.buffer v2:3, 8
    st.global.b64 [v2:3], v4:5
    launch.kernel v10, v8:9, v2:3, vz
    launch.sync
END
launches_end 0 stream ""
launcher >streams.s <<'END'
    launch.buffer v2:3, 8
    st.global.b64 [v2:3], v4:5
    launch.stream v12:13
    launch.kernel v10, v8:9, v2:3, v12:13
    launch.sync
END
launches_of streams
timeout 60 "$lanewise" run --check=races,benign-race streams.yaml >out 2>err
grep -q 'benign-race: .*by another launch: .*; both stores write' err || {
    fail "streams: the race between launches in different streams is not reported"
    head -n 4 err
}

# One line reads and writes a variable. The message recommends an atomic, because no barrier can be placed between two accesses
# of one line.
cat >bump.cl <<'END'
kernel void bump(global int *count)
{
    *count = *count + 1;
}
kernel void reverse(local int *t, global int *out)
{
    t[get_local_id(0)] = get_local_id(0);
    out[get_local_id(0)] = t[63 - get_local_id(0)];
}
END
expect 1 'bump.cl:3: race: global load .*; one source line reads and writes this memory: use an atomic (atomicAdd, atomic_add), or add a block barrier between the read and the write; kernel' run bump.cl --entry bump --grid 1 --block 64 --arg s32[1]:0 --check=races
grep -q 'bump.cl:3: race: global store .*; use an atomic (atomicAdd, atomic_add), let only one thread write, or' err ||
    fail "bump: the message about two stores recommends no atomic"
grep -q 'bump.cl:3: warp-synchronous: .*, or use an atomic (atomicAdd, atomic_add); kernel' err ||
    fail "bump: the message about accesses in a warp recommends no atomic"
expect 1 'bump.cl:7: race: shared store .*; add a block barrier between the two accesses; kernel' run bump.cl --entry reverse --grid 1 --block 64 --arg local[256] --arg s32[64] --check=races

# Concurrent launches by the host are ordered only if they are in the same stream.
cat >h.s <<'END'
.kernel next
.param ptr.global g
    v_mov_b64 v0:1, c[g]
    ld.global.b32 v2, [v0:1]
    v_add_u32 v2, v2, 1
    st.global.b32 [v0:1], v2
    exit
.end
END
host() {
    printf 'program: {source: h.s}\nbuffers: {g: {type: u32, count: 1}}\nsteps:\n'
    for how in "$@"; do
        echo "  - launch: {entry: next, grid: 1, block: 1, args: [g]$how}"
    done
}
# usage: host_finds STATUS TIMES. Expects the exit status and the count of the race, without and with a GPU model. Kernels that
# overlap in time may store equal values; the count is then lower, but not 0.
host_finds() {
    for how in "" "--timing volta"; do
        timeout 60 "$lanewise" run --check=races $how h.yaml >out 2>err
        got=$?
        times=$(grep -c 'race: .*by another launch' err)
        least=$2
        [ -z "$how" ] || [ "$2" = 0 ] || least=1
        [ $got = "$1" ] && [ "$times" -ge $least ] && [ "$times" -le "$2" ] ||
            fail "launches by the host $how: exit status $got, expected $1, and the race $times times: $(head -n 3 err)"
    done
}
host '' '' >h.yaml
host_finds 0 0
host ', stream: 1' ', stream: 1' >h.yaml
host_finds 0 0
host ', stream: 1' ', stream: 2' >h.yaml
host_finds 1 2
host ', stream: 1' '' ', stream: 2' >h.yaml
host_finds 0 0

# A store to uninitialised memory counts as writing a new value, even if it stores zero.
# usage: two KERNEL INIT. Writes two.yaml, which launches two blocks on a buffer of 132 bytes
two() {
    printf 'program: {source: %s.s}\nbuffers: {g: {type: u32, count: 33%s}}\nsteps: [launch: {entry: %s, grid: 2, block: 8, args: [g]}]\n' \
        "$1" "$2" "$1" >two.yaml
}
# usage: by_block KERNEL. Prints the start of a kernel: p0 is true in the first block, v6:7 is the address of the block's own
# word, and v2:3 are zeros
by_block() {
    cat <<END
.kernel $1
.param ptr.global g
    v_s2r v0, %tid.x
    v_s2r v1, %ctaid.x
    v_mov_b64 v4:5, c[g]
    v_madwide_u32 v6:7, v0, 4, v4:5
    v_setp_u32.eq p0, v1, 0
    v_mov_b32 v2, 0
    v_mov_b32 v3, 0
END
    cat
    printf '    exit\n.end\n'
}
by_block zero >zero.s <<'END'
    @p0 ld.global.b32 v8, [v6:7]
    @!p0 st.global.b32 [v6:7], v2
END
two zero ', init: {constant: 0}'
expect 0 '' run two.yaml --check=races
expect 1 'benign-race: global store .*; the store writes 0x0, the value that memory already has' run two.yaml --check=races,benign-race
expect 0 '' run two.yaml --check=all,-races # excluding a class excludes all its kinds
two zero ''
expect 1 'zero.s:11: race: global store .*data race with the load by another block: no synchronisation orders them; the store writes 0x0 to uninitialised memory' run two.yaml --check=races
# A skipped access takes part in no race, even if some of its bytes are inside an allocation.
by_block beyond >beyond.s <<'END'
    st.global.b32 [v4:5+132], v1
    @p0 st.global.b64 [v4:5+128], v2:3
    @!p0 ld.global.b32 v8, [v4:5+128]
END
two beyond ''
expect 1 'out-of-bounds' run two.yaml --check=memory,race
! grep -q 'race: ' err || fail "skipped accesses are in a race: $(grep 'race: ' err)"

# Races are not checked by default. If they are enabled, the other findings do not change.
timeout 60 "$lanewise" run --check hurries.yaml >out 2>err || fail "races are checked by default"
"$lanewise" run --check=races --check-file a.json hurries.yaml >/dev/null 2>&1
"$lanewise" run --check=races --check-file b.json hurries.yaml >/dev/null 2>&1
cmp a.json b.json || fail "two runs differ"
grep -q '"other": {"kernel": "parent", ' a.json || fail "JSON does not contain the previous access"
for kind in race benign-race volatile-race warp-synchronous atomic-scope missing-acquire; do
    "$lanewise" explain $kind | grep -q 'right:' || fail "explain $kind does not print a correct example"
done
# ---- the count of a finding counts lanes, not bytes. A lane counts once, also if neighbouring lanes have no finding
cat >counts.cu <<'END'
extern "C" __global__ void bytes(char *a) { if (threadIdx.x == 0) ((short *)a)[0] = 1; if (threadIdx.x == 32) ((int *)a)[0] = 7; }
extern "C" __global__ void beyond(int *a, int k)
{
    __shared__ int l[32], m[32];
    m[threadIdx.x] = 0; l[threadIdx.x] = 0; __syncthreads();
    m[threadIdx.x + k] = 1;
    __syncthreads(); a[threadIdx.x] = l[1] + m[threadIdx.x];
}
extern "C" __global__ void again(int *a, int n) { a[threadIdx.x * n] = blockIdx.x; }
END
count() { # usage: count ENTRY BLOCK ARGS CHECKS WANTED... . Expects the wanted counts of findings
    cat >counts.yaml <<END
program: {source: counts.cu, options: [-O0, -g]}
buffers: {a: {type: i32, count: 64}}
steps: [launch: {entry: $1, grid: $([ "$1" = again ] && echo 2 || echo 1), block: $2, args: [$3]}]
END
    checks=$4
    shift 4
    "$lanewise" run -q counts.yaml --check="$checks" --check-file counts.json >out 2>err
    for wanted; do
        python3 -c 'import json, sys
kind, n = sys.argv[1].split("=")
f = [f["count"] for f in json.load(open("counts.json"))["findings"] if f["kind"] == kind]
sys.exit(0 if f == [int(n)] else f"{kind}: {f}, not {n}")' "$wanted" || fail "counts: $(cat err)"
    done
}
count bytes 64 a races race=1
count beyond 8 'a, 60' memory variable-bounds=4 out-of-bounds=4
count beyond 8 'a, 28' memory variable-bounds=4
count again 32 'a, 3' memory,races race=22 out-of-bounds=20

# ---- a replay of a schedule log has the same findings as the recorded run
cat >replay.s <<'END'
.kernel replay
.param ptr.global out
.shared cell 128
    v_s2r v0, %laneid
    v_shl_b32 v1, v0, 2
    v_s2r v0, %tid.x
    st.shared.b32 [v1], v0
    bar.sync 0
    ld.shared.b32 v2, [v1]
    bar.sync 0
    v_mov_b64 v4:5, c[out]
    ld.global.b32 v3, [v4:5]
    st.global.b32 [v4:5], v2
    st.global.b32 [v4:5+300], v3
    exit
.end
END
cat >replay.yaml <<'END'
program: {source: replay.s}
buffers: {p: {type: u32, count: 64}}
steps: [launch: {entry: replay, grid: 2, block: 64, args: [p]}]
END
for list in races memory,races uninitialised all,-performance; do
    case $list in races | uninitialised) status=3 ;; *) status=1 ;; esac # without memory checks, the access is a fault
    expect $status 'finding' run replay.yaml --check=$list --log replay.log --check-file made.json
    expect $status 'finding' run replay.yaml --check=$list --replay replay.log --check-file again.json
    cmp -s made.json again.json || fail "a replay with --check=$list has other findings: $(diff made.json again.json | head -n 4)"
done
# The findings are also the same if a debugger has moved lanes back to the store, after the load of another warp.
expect 1 'all launches have ended' debug replay.yaml --batch --check=memory,race --log edited.log -c 'check off' -c 'break *0x100000060' -c continue \
    -c continue -c delete -c 'set pc = 0x100000030' -c continue -c quit --check-file made.json
expect 1 'replay.s:7: race: shared store .*: data race with the load by another warp' run replay.yaml --check=memory,race --replay edited.log --check-file again.json
grep -v '"run"' made.json >made; grep -v '"run"' again.json >again
cmp -s made again || fail "the replay of a session has other findings: $(diff made again | head -n 4)"

# atomic_work_item_fence() of OpenCL C 2.0 orders accesses according to its memory order and scope.
cat >fence.cl <<'END'
kernel void k(global int *x, global int *flag, global int *out)
{
    if (get_group_id(0) == 0) {
        x[0] = 7;
        atomic_work_item_fence(FLAGS, RELEASE, SCOPE);
        atomic_xchg(flag, 1);
    } else {
        while (atomic_add(flag, 0) == 0)
            ;
        atomic_work_item_fence(FLAGS, ACQUIRE, SCOPE);
        out[0] = x[0];
    }
}
END
while read -r status release acquire scope flags; do
    cat >fence.yaml <<END
program: {source: fence.cl, options: [-cl-std=CL2.0, -DRELEASE=memory_order_$release, -DACQUIRE=memory_order_$acquire,
    -DSCOPE=memory_scope_$scope, -DFLAGS=$flags]}
buffers: {x: {type: i32, count: 1}, flag: {type: i32, count: 1}, out: {type: i32, count: 1}}
steps:
  - launch: {entry: k, grid: 2, block: 1, args: [x, flag, out]}
  - check: {buffer: out, constant: 7}
END
    [ "$status" = 0 ] && want='^ok: 1 check passed' || want='fence.cl:11: race: global load .*by another block'
    expect "$status" "$want" run fence.yaml --check=races,missing-acquire
done <<'END'
0 release acquire device CLK_GLOBAL_MEM_FENCE
0 acq_rel seq_cst all_svm_devices CLK_GLOBAL_MEM_FENCE|CLK_LOCAL_MEM_FENCE
1 release acquire work_group CLK_GLOBAL_MEM_FENCE
1 release acquire work_item CLK_GLOBAL_MEM_FENCE
1 relaxed relaxed device CLK_GLOBAL_MEM_FENCE
1 release acquire device 0
END

[ $failures = 0 ] || exit 1
