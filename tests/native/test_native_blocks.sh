#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Tests whole blocks in native code where warps arrive at different barriers, sleep, wait for ever, or do not end. Results, hashes,
# counts and exit statuses must be those of the interpreter. An endless loop with barriers must not hinder --timeout,
# --max-instructions and the search for hangs.
. "${srcdir:-.}/tests/lib/cli_lib.sh"
. "$src/tests/native/native_lib.sh"
launch() { # usage: launch NAME BLOCKS THREADS [KEY VALUE]. Reads the kernel's code after the addresses s2:3 + v5 of the thread's word
    {
        printf '.kernel work\n.param ptr.global out\n    v_s2r v0, %%tid.x\n    s_s2r s4, %%ctaid.x\n    s_s2r s5, %%ntid.x\n'
        printf '    s_mul_u32 s4, s4, s5\n    v_add_u32 v5, v0, s4\n    v_shl_b32 v5, v5, 2\n    s_mov_b64 s2:3, c[out]\n'
        cat
        printf '.end\n'
    } >$1.s
    cat >$1.yaml <<END
machine: {warp: 32${4:+, $4: $5}}
program: {source: $1.s}
buffers:
  out: {type: u32, count: 4096}
steps:
  - launch: {entry: work, grid: [$2], block: [$3], args: [out]}
END
}
# usage: same STATUS NAME [OPTION...]. Runs NAME.yaml in both engines.
same() {
    want=$1
    name=$2
    shift 2
    cases=$((cases + 1))
    for engine in interpreter native; do
        timeout 60 "$lanewise" run --hash -q --engine $engine --stats $engine.json "$@" $name.yaml >$engine 2>err </dev/null
        status=$?
        [ $status = $want ] || fail "$name, $engine: exit status $status, expected $want"
        [ -s $engine.json ] && counts $engine.json >$engine.counts
        sed -n '/^fault/,$p' err >$engine.fault
    done
    cmp -s interpreter.fault native.fault || fail "$name $*: another fault: $(cat native.fault)"
    [ $want != 0 ] || { cmp -s interpreter native && cmp -s interpreter.counts native.counts; } || fail "$name $*: another result or other counts"
}
launch plain 2 64 <<'END'
    st.global.b32 [s2:3+v5], v0
    exit
END
"$lanewise" run --engine native -q plain.yaml >out 2>err
if [ $? -eq 2 ] && grep -q 'install the Debian package libllvm19' err; then
    echo "LLVM 19 is not installed"
    exit 77
fi
same 0 plain
# Some lanes of each warp exit, and all lanes of a warp exit at an exit with a guard.
launch exits 32 128 <<'END'
    v_and_b32 v1, v0, 5
    v_setp_u32.eq p0, v1, 5
    @p0 exit
    v_setp_u32.lt p0, v0, 32
    v_and_b32 v2, v0, 3
    @p0 exit
    v_setp_u32.eq p1, v2, 3
    v_mad_u32 v0, v0, 7, v1
    @p1 exit
    st.global.b32 [s2:3+v5], v0
    exit
END
for width in 8 16 32 64; do
    same 0 exits --warp $width --threads 1
    executed=$("$lanewise" run --engine native -q -v --warp $width exits.yaml 2>&1 </dev/null | sed -n 's/^native code: .*; \([0-9]*\) warp instructions.*/\1/p')
    all=$(sed -n 's/.*"warp_instructions": \([0-9]*\).*/\1/p' native.json)
    [ "${executed:-0}" -ge $((all * 7 / 10)) ] || fail "exits, warps of $width: native code executed ${executed:-no} of $all instructions"
done
same 0 exits --threads 3
# Warp 0 divides outside of a region, so that the interpreter executes it. The other warps exit, in one call, at an exit with a guard.
launch exits_slow 32 128 <<'END'
    v_and_b32 v1, v0, 97
    v_setp_u32.eq p0, v1, 1
    v_setp_u32.ge p1, v0, 32
    @p0 bra side
    v_add_u32 v0, v0, 3
side:
    @p1 exit
    st.global.b32 [s2:3+v5], v0
    exit
END
same 0 exits_slow --threads 1
same 0 exits_slow --threads 3
# One call of native code executes many blocks: each begins with zeroed registers, shared and local memory, and its own numbers.
launch blocks '4, 8' 128 <<'END'
    s_s2r s6, %ctaid.y
    s_shl_b32 s6, s6, 9
    v_add_u32 v0, v0, s6
    v_add_u32 v20, v20, v0
    s_add_u32 s20, s20, 3
    v_add_u32 v20, v20, s20
    @p3 v_add_u32 v20, v20, 1000
    v_setp_u32.eq p3, v0, 3
    v_and_b32 v1, v0, 127
    v_shl_b32 v1, v1, 2
    ld.shared.b32 v2, [v1]
    v_add_u32 v20, v20, v2
    st.shared.b32 [v1], v20
    v_mov_b32 v3, 4
    ld.local.b32 v4, [v3]
    v_add_u32 v20, v20, v4
    st.local.b32 [v3], v20
    s_shl_b32 s6, s6, 2
    v_add_u32 v5, v5, s6
    st.global.b32 [s2:3+v5], v20
    exit
END
sed -i 's/^\.param ptr.global out$/&\n.shared 512\n.local 16/' blocks.s
same 0 blocks
same 0 blocks --threads 1
same 0 blocks --warp 64 --threads 1
# A loop between bssy and bsync, with lanes that exit afterwards; two exits with guards; a load that some lanes do not execute
launch exits_loop 64 64 <<'END'
    v_and_b32 v1, v0, 7
    v_mov_b32 v6, 0
    bssy b1, joined
loop:
    v_mad_u32 v0, v0, 3, v6
    v_add_u32 v6, v6, 1
    v_setp_u32.lt p0, v6, v1
    @p0 bra loop
    bra joined
joined:
    bsync b1
    v_setp_u32.lt p0, v1, 3
    v_setp_u32.eq p2, v1, 6
    v_setp_u32.eq p1, v1, 4
    @p0 exit
    ld.global.b32 v7, [s2:3+v5]
    v_add_u32 v0, v0, v7
    @p1 exit
    @p2 st.global.b32 [s2:3+v5], v0
    @p2 exit
    @p3 exit
    v_add_u32 v0, v0, 11
    st.global.b32 [s2:3+v5], v0
    exit
END
for width in 8 32 64; do
    same 0 exits_loop --warp $width
done
same 0 exits_loop --threads 1 --policy minpc
# Lanes that remain wait at a barrier.
launch exits_barrier 32 128 <<'END'
    v_and_b32 v1, v0, 5
    v_setp_u32.eq p0, v1, 5
    @p0 exit
    st.global.b32 [s2:3+v5], v0
    bar.sync 0
    v_setp_u32.gt p0, v0, 100
    @p0 exit
    v_mad_u32 v0, v0, 7, v1
    st.global.b32 [s2:3+v5], v0
    exit
END
same 0 exits_barrier
same 0 exits_barrier --warp 64 --threads 1
# A lane that remains has a fault.
launch exits_fault 32 128 <<'END'
    v_and_b32 v1, v0, 5
    v_setp_u32.eq p0, v1, 5
    @p0 exit
    v_setp_u32.eq p0, v5, 12288
    @p0 v_add_u32 v5, v5, 100000
    st.global.b32 [s2:3+v5], v0
    exit
END
same 3 exits_fault --threads 1
same 3 exits_fault --warp 8 --threads 1
# The call of the first warp ends after the warp, which executes many instructions. The call of the other warps cannot end the block.
launch uneven 32 128 <<'END'
    v_mov_b32 v6, 0
    v_setp_u32.ge p1, v0, 64
    @p1 bra short
loop:
    v_mad_u32 v0, v0, 5, v6
    v_add_u32 v6, v6, 1
    v_setp_u32.lt p0, v6, 2000
    @p0 bra loop
short:
    v_and_b32 v1, v6, 3
    v_and_b32 v2, v0, 3
    v_setp_u32.eq p0, v2, v1
    @p0 exit
    st.global.b32 [s2:3+v5], v0
    exit
END
same 0 uneven
same 0 uneven --threads 1
same 0 uneven --warp 64
# all host threads execute native code
launch long 32 128 <<'END'
    v_mov_b32 v6, 0
loop:
    v_mad_u32 v0, v0, 5, v6
    v_add_u32 v6, v6, 1
    v_setp_u32.lt p0, v6, 1000
    @p0 bra loop
    st.global.b32 [s2:3+v5], v0
    exit
END
same 0 long
for threads in 1 2 3; do
    cases=$((cases + 1))
    "$lanewise" run -q -v --engine native --threads $threads long.yaml >out 2>err
    sed -n 's/^native code: .*; \([0-9]*\) warp instructions ran.*/\1/p' err
done >executed
[ "$(sort -u executed | wc -l)" = 1 ] && [ "$(head -n 1 executed)" -gt 500000 ] || fail "native instructions on 1 to 3 threads: $(tr '\n' ' ' <executed)"
# warps 1 and 2 meet at a barrier with a count while warp 0 waits at another one, which warp 1 completes
launch counted 40 96 <<'END'
    v_setp_u32.lt p0, v0, 32
    @p0 bra meet
    v_mov_b32 v8, 64
    bar.sync 1, v8
meet:
    bar.sync 0
    v_add_u32 v6, v0, 1
    st.global.b32 [s2:3+v5], v6
    bar.sync 0
    ld.global.b32 v7, [s2:3+v5]
    v_add_u32 v7, v7, v6
    st.global.b32 [s2:3+v5], v7
    exit
END
same 0 counted
same 0 counted --threads 3
# some warps leave native code at a divergent branch between barriers, others have ended
launch mixed 30 128 <<'END'
    v_setp_u32.ge p1, v0, 96
    st.global.b32 [s2:3+v5], v0
    @p1 exit
    v_and_b32 v1, v0, 33
    v_setp_u32.eq p0, v1, 33
    bar.sync 0
    @p0 bra skip
    v_mul_u32 v0, v0, 3
skip:
    bar.sync 0
    v_add_u32 v6, v0, 7
    st.global.b32 [s2:3+v5], v6
    bar.sync 0
    exit
END
same 0 mixed
same 0 mixed --threads 2
# One call of native code executes whole blocks with barriers: lanes diverge between barriers, and some lanes exit before the end. The
# second kernel is large, so native code stores its registers where it writes them.
phase() { # usage: phase NUMBER. Writes the code of a phase; v6 has the number of the phase, and v1 the thread's address in shared memory
    cat <<END
    v_add_u32 v7, v0, v6
    st.shared.b32 [v1], v7
    bar.sync 0
    v_xor_b32 v8, v1, 68
    ld.shared.b32 v9, [v8]
    v_and_b32 v10, v9, 3
    v_setp_u32.lt p0, v10, v3
    bssy b1, joined$1
    @p0 bra other$1, b1
    v_mad_u32 v0, v0, 3, v9
    bra joined$1
other$1:
    v_xor_b32 v0, v0, v9
    bra joined$1
joined$1:
    bsync b1
    bar.sync 1
    v_add_u32 v6, v6, 1
END
}
finish='    v_and_b32 v2, v0, 7
    v_setp_u32.eq p2, v2, 2
    @p2 exit
    st.global.b32 [s2:3+v5], v0
    exit'
begin='    v_shl_b32 v1, v0, 2
    v_shr_u32 v3, v0, 5
    v_and_b32 v3, v3, 3
    v_mov_b32 v6, 0'
{
    printf '%s\nagain:\n' "$begin"
    phase 0
    printf '    v_setp_u32.lt p1, v6, 20\n    @p1 bra again\n%s\n' "$finish"
} | launch phases 30 128
{
    echo "$begin"
    for r in $(seq 30 60); do echo "    v_mul_u32 v$r, v0, $r"; done
    for number in $(seq 20); do phase $number; done
    for r in $(seq 30 60); do echo "    v_add_u32 v0, v0, v$r"; done
    echo "$finish"
} | launch large_phases 30 128
for name in phases large_phases; do
    sed -i 's/^\.param ptr.global out$/&\n.shared 1024/' $name.s
    for width in 8 32 64; do
        same 0 $name --warp $width --threads 1
    done
    same 0 $name --threads 2
    executed=$("$lanewise" run --engine native -q -v $name.yaml 2>&1 </dev/null | sed -n 's/^native code: .*; \([0-9]*\) warp instructions.*/\1/p')
    all=$(sed -n 's/.*"warp_instructions": \([0-9]*\).*/\1/p' native.json)
    [ "${executed:-0}" -ge $((all * 9 / 10)) ] || fail "$name: native code executed ${executed:-no} of $all instructions"
done
# two barriers at which nobody else arrives
launch apart 2 64 <<'END'
    v_setp_u32.lt p0, v0, 32
    @p0 bra other
    bar.sync 0
    st.global.b32 [s2:3+v5], v0
    exit
other:
    bar.sync 1
    st.global.b32 [s2:3+v5], v0
    exit
END
same 4 apart
launch sleeper 12 256 <<'END'
    v_and_b32 v1, v0, 16
    v_setp_u32.eq p0, v1, 0
    v_mov_b32 v2, 0
    bssy b0, done
    @!p0 bra loop
    nanosleep 200
loop:
    v_add_u32 v2, v2, 3
    v_setp_u32.lt p1, v2, 90
    @p1 bra loop
    bra done
done:
    bsync b0
    st.global.b32 [s2:3+v5], v2
    exit
END
same 0 sleeper
# a loop with barriers that never ends: with a store in each iteration it makes progress, without it does not
for body in 'v_add_u32 v6, v6, 1' 'st.global.b32 [s2:3+v5], v6
    v_add_u32 v6, v6, 1'; do
    launch endless 3 128 hang_limit 2000000 <<END
    v_mov_b32 v6, 0
loop:
    bar.sync 0
    $body
    bra loop
END
    same 4 endless --max-instructions 5000000
    same 4 endless --max-instructions 5000000 --threads 2
    same 4 endless --timeout 1
done
# the same with lanes that diverge in each warp
launch endless 3 128 <<'END'
    v_mov_b32 v6, 0
    v_and_b32 v1, v0, 1
    v_setp_u32.eq p0, v1, 0
loop:
    bssy b0, meet
    @p0 bra meet
    st.global.b32 [s2:3+v5], v6
    bra meet
meet:
    bsync b0
    v_add_u32 v6, v6, 1
    bra loop
END
same 4 endless --max-instructions 9000000
grep -q 'instructions' err || fail 'endless: the message does not name the limit'
same 4 endless --timeout 1
# Code for whole warps and masked code number their accesses differently: the masked load of `x` must not permit the scattered store to
# `x` in code for whole warps, which is a fault.
launch mixture 64 64 <<END
    s_mov_b64 s6:7, c[x]
    s_s2r s8, %ctaid.x
    s_setp_u32.ge sp0, s8, 50
    v_mul_u32 v6, v0, 12
    v_and_b32 v6, v6, 252
    v_and_b32 v1, v0, 1
    v_setp_u32.eq p0, v1, 0
    v_xor_b32 v10, v5, 84
    v_and_b32 v10, v10, 4095
    v_shl_b32 v11, v0, 2
    ld.global.b32 v9, [s6:7+v11]
    v_mov_b32 v7, 0
loop:
    v_setp_u32.lt p2, v7, 150
    @p2 bra no_store
    @!sp0 bra no_store
    st.global.b32 [s6:7+v6], v9
no_store: # whole warps execute so many instructions that native code pays
$(for i in 1 2 3 4 5 6 7 8 9 10; do printf '    v_mul_u32 v9, v9, 5\n    v_add_u32 v9, v9, %d\n' $i; done)
    bssy b0, meet
    @p0 bra meet, b0
    v_mov_b32 v12, 0
again:
    ld.global.b32 v8, [s6:7+v10]
    v_add_u32 v9, v9, v8
    v_mul_u32 v9, v9, 3
    v_add_u32 v12, v12, 1
    v_setp_u32.lt p3, v12, 5
    @p3 bra again
meet:
    bsync b0
    v_add_u32 v7, v7, 1
    v_setp_u32.lt p1, v7, 200
    @p1 bra loop
    st.global.b32 [s2:3+v5], v9
    exit
END
sed -i 's/^\.param ptr.global out$/&\n.param ptr.global x/' mixture.s
sed -i 's/args: \[out\]/args: [out, x]/; s/^steps:/  x: {type: u32, count: 4096, init: {ramp: {start: 1, step: 3}}, read_only: true}\n&/' mixture.yaml
same 3 mixture --threads 1
grep -q '^fault: read-only: global store' err || fail 'mixture: another fault'
echo "$cases cases, $failures failures"
[ $failures = 0 ]
