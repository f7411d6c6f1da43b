#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Runs the sample kernels in the interpreter and in native code. Results, hashes and counts must be equal. Native code must
# execute most instructions of kernels whose warps do not diverge, and of divergent loops. For a kernel that diverges in
# many ways, and for a fault of one of its lanes, both must agree under each split policy. Without LLVM the option is
# refused with a message that names the package. A kernel whose compilation takes too long runs in the interpreter.
set -u
src=$(cd "${srcdir:-.}" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
. "$src/tests/lib/compile_once.sh"
lanewise=$PWD/lanewise
. "$src/tests/native/compare_lib.sh"
export LANEWISE_CACHE=off # all kernels must be compiled
sh "$src/kernels/prepare" "$work" || exit 1
cd "$work" || exit 1
bad=0
"$lanewise" run --engine native -q vadd_asm.yaml >out 2>&1
if [ $? -eq 2 ] && grep -q 'install the Debian package libllvm19' out; then
    echo "LLVM 19 is not installed"
    exit 77
fi
"$lanewise" run --engine fast -q vadd_asm.yaml >out 2>&1
[ $? -eq 2 ] && grep -q 'expected interpreter, native, auto or auto-unshared, found "fast"' out ||
    { echo "FAIL: --engine fast is not refused"; cat out; bad=1; }

for file in *.yaml; do
    for width in 32 ${WIDTHS:-16}; do
        "$lanewise" run --threads 1 --engine interpreter --warp $width --hash -q --stats one.json "$file" >one 2>one.err </dev/null
        one=$?
        "$lanewise" run --threads 1 --warp $width --hash -q -v --engine native --stats two.json "$file" >two 2>two.err </dev/null
        two=$?
        if [ $one -ne $two ] || ! cmp -s one two; then
            echo "FAIL: $file, warps of $width: native code has another result or exit status ($one, $two)"
            diff one two
            tail -n 2 two.err
            bad=1
        elif [ $one -eq 0 ] && [ "$(counts one.json)" != "$(counts two.json)" ]; then
            echo "FAIL: $file, warps of $width: the counts differ"
            counts one.json >a; counts two.json >b; diff a b
            bad=1
        fi
        [ $width = 32 ] && sed -n "s/^native code: .*; \([0-9]*\) warp instructions ran in native code/$file \1/p" two.err >>executed
    done
done
for kernel in gemm nbody mandelbrot transpose; do # kernels whose warps do not diverge
    executed=$(sed -n "s/^$kernel.yaml //p" executed)
    [ "${executed:-0}" -ge 5000 ] ||
        { echo "FAIL: $kernel: native code executed ${executed:-no} warp instructions, expected at least 5000"; bad=1; }
done
for kernel in mandelbrot:400000 collatz:130000 bfs:40000 saxpy:2600; do # lanes leave loops one by one, or warps are partly filled
    executed=$(sed -n "s/^${kernel%:*}.yaml //p" executed)
    [ "${executed:-0}" -ge ${kernel#*:} ] ||
        { echo "FAIL: ${kernel%:*}: native code executed ${executed:-no} of at least ${kernel#*:} warp instructions"; bad=1; }
done

# With the policy converge, code for whole warps executes also loops that lanes leave one after another.
"$lanewise" run --threads 1 -q -v --engine native --policy converge collatz.yaml >two 2>two.err </dev/null
executed=$(sed -n 's/^native code: 1 kernel compiled .*; \([0-9]*\) warp instructions ran in native code/\1/p' two.err)
[ "${executed:-0}" -ge 130000 ] ||
    { echo "FAIL: collatz, policy converge: code for whole warps executed ${executed:-no} of at least 130000 warp instructions"; cat two.err; bad=1; }

# If the compilation of a kernel exceeds the limit, the interpreter executes the kernel, and the next kernel is compiled by a new
# process. No kernel can be compiled within the limit of this test.
for kernel in spmv cuda_texture; do
    "$lanewise" run --threads 1 --engine interpreter --hash -q --stats one.json $kernel.yaml >one 2>&1 </dev/null
    "$lanewise" run --threads 1 --hash -q -v --engine native --native-timeout 0.000001 --stats two.json $kernel.yaml >two 2>two.err </dev/null
    cmp -s one two && [ "$(counts one.json)" = "$(counts two.json)" ] || { echo "FAIL: $kernel, a limit of compilation"; diff one two; bad=1; }
    refused=$(sed -n 's/^native code: 0 kernels compiled and 0 taken from the cache in .*, \([0-9]*\) left to the interpreter; 0 warp instructions.*/\1/p' two.err)
    given_up=$(grep -c '^native code: the compilation of kernel .* exceeded 1e-06 s: the interpreter executes the kernel$' two.err)
    least=1
    [ $kernel = cuda_texture ] && least=2
    [ "${refused:-0}" -ge $least ] && [ $given_up -eq ${refused:-0} ] || {
        echo "FAIL: $kernel: ${refused:-no} kernels refused, $given_up lines about the limit"
        cat two.err
        bad=1
    }
done

# For a large kernel simpler code is generated.
awk 'BEGIN {
    print "__kernel void large(__global int *a, __global const int *b, int n)\n{\n    int i = get_global_id(0), x = b[i], y = i * 3, z = 7;\n"
    for (k = 0; k < 160; k++)
        printf "x = x * %d ^ (y >> %d); y += b[(x & 1023) %% n] + %d; if (y & %d) { z += x; a[i] = z; }\n", 3 + 2 * k, k % 13, k, 2 ^ (k % 9)
    print "a[i] = x + y + z;\n}"
}' >large.cl
cat >large.yaml <<'EOF'
program: {source: large.cl}
buffers:
  a: {type: s32, count: 1024}
  b: {type: s32, count: 1024, init: {ramp: {start: 3, step: 17}}}
steps:
  - launch: {entry: large, grid: [8], block: [128], args: [a, b, 1024]}
EOF
for width in 8 32 64; do
    "$lanewise" run --threads 1 --engine interpreter --warp $width --hash -q large.yaml >one 2>&1
    "$lanewise" run --threads 1 --warp $width --hash -q --engine native large.yaml >two 2>&1
    cmp -s one two || { echo "FAIL: a large kernel, warps of $width: native code has another result"; diff one two; bad=1; }
    grep -q hash_state two || { echo "FAIL: a large kernel, warps of $width: no hash is printed"; bad=1; }
done
"$lanewise" run --threads 1 -q -v --engine native large.yaml 2>&1 | grep -q '^native code: .*; [1-9][0-9]* warp instructions' || {
    echo "FAIL: native code executed no instruction of the large kernel"
    bad=1
}

# Kernels in assembly for which earlier versions had other results or counts: a bsync in the middle of a block, with lanes that read
# what the lanes of the other side have stored or not; a region within a region of the same barrier register. The third kernel
# zero-extends the low word of a 64-bit value that is negative in some lanes, and the fourth one reads literals of constant bank 1:
# native code must execute them.
assembly() { # usage: assembly NAME BODY. Writes a kernel that executes BODY 100 times and stores v1, and its launch file.
    cat >$1.s <<EOF
.kernel work
.shared 128
.param ptr.global out
.param u32 n
    v_s2r v0, %tid.x
    v_shl_b32 v5, v0, 2
    s_mov_b64 s2:3, c[out]
    v_and_b32 v7, v0, 3
    v_xor_b32 v6, v5, 4
    v_cvt.s64.s32 v8:9, v0
    v_sub_u64 v8:9, v8:9, 5
    v_mov_b32 v4, 0
    v_mov_b32 v1, 0
again:
$2
    v_add_u32 v4, v4, 1
    v_setp_u32.lt p0, v4, c[n]
    @p0 bra again
    st.global.b32 [s2:3+v5], v1
    exit
.end
EOF
    cat >$1.yaml <<EOF
program: {source: $1.s}
buffers:
  out: {type: u32, count: 128}
steps:
  - launch: {entry: work, grid: [1], block: [32], args: [out, 100]}
EOF
}
assembly middle '    bssy b0, end
    v_setp_u32.eq p1, v7, 1
    @p1 bra other, b0
    v_mov_b32 v10, 17
    bsync b0
    ld.shared.b32 v11, [v6]
    v_mad_u32 v1, v1, 3, v11
    bra end
other:
    v_add_u32 v12, v4, 100
    st.shared.b32 [v5], v12
end:
    bsync b0'
assembly reused '    bssy b0, end
    v_setp_u32.eq p1, v7, 1
    @p1 bra other, b0
    bssy b0, inner
    v_setp_u32.eq p1, v7, 2
    @p1 bra inner, b0
    v_mad_u32 v1, v1, 3, v4
inner:
    bsync b0
    bra end
other:
    v_add_u32 v1, v1, 100
end:
    bsync b0'
assembly negative '    v_add_u64 v8:9, v8:9, 1
    v_sub_u64 v8:9, v8:9, 1
    v_cvt.u64.u32 v10:11, v8
    v_add_u32 v1, v1, v10'
assembly literals '    v_add_u32 v1, v1, c[1][4]
    v_mul_u64 v8:9, v8:9, c[1][8]
    v_cvt.u64.u32 v10:11, v8
    v_add_u32 v1, v1, v10'
sed -i 's/^\.shared/.bank u32 7, 1000, u64 0x500000003\n&/' literals.s
for kernel in middle reused negative literals; do
    "$lanewise" run --threads 1 --engine interpreter --hash -q --stats one.json $kernel.yaml >one 2>&1 </dev/null
    "$lanewise" run --threads 1 --engine native --hash -q -v --stats two.json $kernel.yaml >two 2>two.err </dev/null
    cmp -s one two && grep -q hash_mem one && [ "$(counts one.json)" = "$(counts two.json)" ] ||
        { echo "FAIL: $kernel: native code has other results or counts"; diff one two; bad=1; }
    case $kernel in negative | literals) least=600 ;; *) least=0 ;; esac
    executed=$(sed -n 's/^native code: 1 kernel .*; \([0-9]*\) warp instructions ran in native code/\1/p' two.err)
    [ "${executed:-0}" -ge $least ] ||
        { echo "FAIL: $kernel: native code executed ${executed:-no} of at least $least instructions"; bad=1; }
done

# A grid of so many threads that its stores bypass the host's caches: elements of 4, 8 and 16 bytes, at the start of a 64-byte line and
# after it. The last warp of the grid has a fault, so the stores of the other warps must be in memory then.
cat >stream.s <<'EOF'
.kernel work
.param ptr.global words
.param ptr.global pairs
.param ptr.global quads
    s_s2r s0, %ctaid.x
    s_shl_b32 s0, s0, 7
    v_s2r v0, %tid.x
    v_add_u32 v0, v0, s0
    s_mov_b64 s2:3, c[words]
    s_mov_b64 s4:5, c[pairs]
    s_mov_b64 s6:7, c[quads]
    v_mul_u32 v4, v0, 3
    v_xor_b32 v5, v4, 5
    v_add_u32 v6, v4, v5
    v_mov_b32 v7, v0
    st.global.b32 [s2:3+v0*4], v4
    st.global.b64 [s4:5+v0*8], v4:5
    st.global.v4.b32 [s6:7+v0*16+16], v4:7
    exit
.end
EOF
for blocks in 32768 32769; do
    cat >stream.yaml <<EOF
program: {source: stream.s}
buffers:
  words: {type: u32, count: 4194304}
  pairs: {type: u32, count: 8388608}
  quads: {type: u32, count: 16777220}
steps:
  - launch: {entry: work, grid: [$blocks], block: [128], args: [words, pairs, quads]}
EOF
    for engine in interpreter native; do
        "$lanewise" run --threads 1 --hash -q --engine $engine --stats $engine.json stream.yaml >$engine 2>&1 </dev/null
        echo "status $?" >>$engine
    done
    cmp -s interpreter native && [ "$(counts interpreter.json)" = "$(counts native.json)" ] ||
        { echo "FAIL: a large grid of $blocks blocks"; diff interpreter native; bad=1; }
    executed=$(sed -n 's/.*"native": {.*"instructions": \([0-9]*\)}.*/\1/p' native.json)
    [ "${executed:-0}" -ge 1000000 ] || { echo "FAIL: a large grid: native code executed ${executed:-no} instructions"; bad=1; }
    grep -q "status $((blocks == 32768 ? 0 : 3))" native || { echo "FAIL: a large grid of $blocks blocks"; cat native; bad=1; }
done

cat >divergent.cl <<'EOF'
__kernel void work(__global const int *in, __global int *out, int n, int bad)
{
    int i = get_global_id(0), s = 0;

    if (i >= n)
        return; /* so the last warp is only partly active */
    for (int x = in[i]; x > 0; x = x & 4 ? x / 3 : x - 1 - (x & 2)) {
        if (x & 1)
            s += in[(x * 7 + i) % n];
        else
            s ^= x;
        for (int k = 0; k < (x & 3); k++)
            s = s * 5 + k;
        if (i == bad && x < 40)
            s += in[1 << 28];
    }
    out[s & 8 ? i : n + i] = s;
}
EOF
divergent() { # usage: divergent NAME BLOCK BAD [OPTION...]. Expects that both engines give the same results, counts and faults
    name=$1
    blocks=$(((849 + $2) / $2))
    sed -e "s/BLOCK/$2/; s/BAD/$3/; s/GRID/$blocks/" >divergent.yaml <<'EOF'
program: {source: divergent.cl}
buffers:
  in: {type: s32, count: 850, init: {ramp: {start: 0, step: 3}}}
  out: {type: s32, count: 1700}
steps:
  - repeat: 4
    steps:
      - launch: {entry: work, grid: [GRID], block: [BLOCK], args: [in, out, 850, BAD]}
EOF
    shift 3
    for engine in interpreter native; do
        "$lanewise" run --threads 1 --hash -q --engine $engine --stats $engine.json "$@" divergent.yaml >$engine 2>&1 </dev/null
        echo "status $?" >>$engine
    done
    if ! cmp -s interpreter native || [ "$(counts interpreter.json)" != "$(counts native.json)" ]; then
        echo "FAIL: divergent, $name"
        diff interpreter native
        counts interpreter.json >a; counts native.json >b; diff a b
        bad=1
    fi
}
for policy in converge rr_quantum rr minpc maxpc most_lanes stack_like; do
    divergent $policy 100 -1 --policy $policy
    divergent "$policy, a fault" 32 333 --policy $policy # with one warp per block no other warp runs before the fault
done
for width in 4 8 16 64; do
    divergent "warps of $width" 100 -1 --warp $width
    divergent "warps of $width, a fault" $width 333 --warp $width
done
divergent "quantum 16" 100 -1 --quantum 16
for block in 33 50 61 95; do # the last warp of each block is incomplete, and its lanes diverge in native code
    divergent "blocks of $block" $block -1
    executed=$(sed -n 's/.*"instructions": \([0-9]*\)}.*/\1/p' native.json)
    all=$(sed -n 's/.*"warp_instructions": \([0-9]*\).*/\1/p' native.json)
    [ "${executed:-0}" -ge $((all * 19 / 20)) ] ||
        { echo "FAIL: blocks of $block: native code executed ${executed:-none} of $all warp instructions"; bad=1; }
done
divergent "threads" 100 -1 --threads 2

# Warps remain in native code at barriers of the block. In `ring` all lanes of a warp arrive together. In `some` one warp leaves
# native code before some barriers, and other warps have exited. An access after a barrier may fault.
cat >barriers.cl <<'EOF'
__kernel void ring(__global int *data, __local int *a, int bad)
{
    int t = get_local_id(0), n = get_local_size(0), i = get_global_id(0), value = data[i];

    for (int k = 0; k < 40; k++) {
        a[(t * 5) & (n - 1)] = value;
        barrier(CLK_LOCAL_MEM_FENCE);
        value = 3 * a[(t + n - 1) & (n - 1)] - a[(t + 33) & (n - 1)] + k;
        if (k == 30)
            value += data[i == bad ? 1 << 28 : i];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    data[i] = value;
}
__kernel void some(__global int *data, __local int *a, int bad)
{
    int t = get_local_id(0), n = get_local_size(0), i = get_global_id(0), value = data[i];

    if (t >= n - n / 3)
        return;
    for (int k = 0; k < 40; k++) {
        a[t] = value;
        barrier(CLK_LOCAL_MEM_FENCE);
        if (t < k)
            value = 3 * a[t + 1] + k;
        if (i == bad && k == 30)
            value += data[1 << 28];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    data[i] = value;
}
EOF
barriers() { # usage: barriers KERNEL BLOCK BAD [OPTION...]. Expects that both engines give the same results, counts and faults
    name="$*"
    sed -e "s/KERNEL/$1/; s/BLOCK/$2/; s/BAD/$3/" >barriers.yaml <<'EOF'
program: {source: barriers.cl}
buffers:
  data: {type: s32, count: 8192, init: {ramp: {start: 1, step: 7}}}
steps:
  - launch: {entry: KERNEL, grid: [16], block: [BLOCK], args: [data, {local: 2056}, BAD]}
EOF
    shift 3
    agrees barriers.yaml "$@" || { echo "FAIL: barriers, $name"; bad=1; }
}
for width in 4 8 16 32 64; do
    for kernel in ring some; do
        barriers $kernel 128 -1 --warp $width
    done
done
barriers ring 512 -1
barriers some 512 -1
barriers some 100 -1
barriers ring 256 -1 --threads 2
barriers some 256 -1 --policy minpc
barriers ring 256 -1 --quantum 16
for kernel in ring some; do # a fault after a barrier, with one warp per block, so that no other warp runs before the fault
    barriers $kernel 64 333 --warp 64
    grep -q '^status 3' native || { echo "FAIL: barriers: the run does not fault"; bad=1; }
done
barriers ring 256 -1
all=$(sed -n 's/.*"warp_instructions": \([0-9]*\).*/\1/p' native.json)
executed=$(sed -n 's/^native code: .*; \([0-9]*\) warp instructions .*/\1/p' native.err)
[ "${executed:-0}" -ge $((all * 95 / 100)) ] || {
    echo "FAIL: barriers: native code executed ${executed:-no} of $all warp instructions"
    bad=1
}
exit $bad
