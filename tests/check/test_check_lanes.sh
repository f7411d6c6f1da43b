#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Tests checks of data that passes between lanes, warps and launches: uninitialised values that pass through votes, shuffles,
# reductions and barriers, in warps of 32 lanes and in both halves of warps of 64. Also tests barriers whose number is in a
# register, and a launch that writes memory which another running launch reads by non-coherent loads.
. "${srcdir:-.}/tests/lib/cli_lib.sh"

cat >k.yaml <<'END'
machine: {warp: W}
program: {source: k.lwo}
buffers: {a: {type: i32, count: 64, init: 0}, u: {type: i32, count: 64}}
steps:
  - launch: {entry: k, grid: 1, block: 64, args: [a, u]}
  - check: {buffer: a, constant: 0, tolerance: 1e30}
END

# usage: expect NAME KINDS. Expects that each line of NAME with a mark "find: KIND" has a finding of this kind on all machines,
# and that no other line has one. In optimised code the finding may be at a nearby line
expect() {
    for options in "-X -O0 -X -g" "-X -O2 -X -g"; do
        case $1 in
        *.s) options= ;;
        esac
        # shellcheck disable=SC2086
        "$lanewise" compile $options -o k.lwo "$1" 2>err || { fail "$1 does not compile: $(cat err)"; return; }
        for warp in 32 64; do
            for more in "" "--timing volta --timing-set core.warp_width=$warp" "--tags compact"; do
                sed "s/W/$warp/" k.yaml >run.yaml
                # shellcheck disable=SC2086
                timeout 60 "$lanewise" run -q --check="$2" $more run.yaml >out 2>err
                awk '{ k = ""; if (match($0, /find: [a-z-]*/)) print FNR ": " substr($0, RSTART + 6, RLENGTH - 6) }' "$1" >want
                sed -n "s/^[^ ]*$1:\([0-9]*\): \([a-z-]*\): .*/\1: \2/p" err | sort -n >got
                case $options in
                *O2*) sed -i 's/.*: //' want got ;;
                esac
                cmp -s want got || fail "$1 $options, $warp lanes $more: wanted '$(cat want)', got: $(cat err)"
            done
        done
        [ -n "$options" ] || return
    done
}

cat >vote.cu <<'END'
extern "C" __global__ void k(int *a, int *u)
{
    int i = threadIdx.x;
    int v = i == 5 ? u[i] : i;
    int any = __any_sync(~0u, v == 100); /* the value of lane 5 affects the result of lane 0 */
    if (i == 0)
        if (any) /* find: uninitialised-branch */
            a[0] = 1;
    if (i == 0 && __shfl_sync(1u, i, 0) == 7)
        a[1] = 1;
    int sure = __any_sync(~0u, (v == 100) | (i % 32 == 9)); /* a defined true value decides the result */
    if (i == 0 && sure)
        a[2] = 1;
    int all = __all_sync(~0u, v == 100);
    if (i == 0 && all)
        a[3] = 1;
}
END
expect vote.cu uninitialised

cat >halves.cu <<'END'
extern "C" __global__ void k(int *a, int *u)
{
    int i = threadIdx.x, p;
    int v = i >= 32 ? u[i] : i; /* virtual warps of 32 lanes are independent */
    unsigned m = __match_all_sync(~0u, v, &p);
    unsigned n = __match_any_sync(~0u, v);
    int any = __any_sync(~0u, v == 40);
    unsigned b = __ballot_sync(~0u, v == 3);
    if (i < 32 && (m == 1 || p || n == 100 || any || b == 9))
        a[i] = 1;
    int half = i >> 4 & 1; /* members of two masks are independent, too */
    int w = half ? u[i] : i & 15;
    unsigned mask = half ? 0xffff0000u : 0xffffu;
    unsigned c = __ballot_sync(mask, w & 1);
    int one = __any_sync(mask, w == 1);
    int same = __match_any_sync(mask, w);
    if (!half && (c > 3 || one || same == 7))
        a[i] = 2;
    if (half)
        if (c > 3) /* find: uninitialised-branch */
            a[i] = 3;
}
END
expect halves.cu uninitialised

cat >shuffle.cu <<'END'
extern "C" __global__ void k(int *a, int *u)
{
    int i = threadIdx.x;
    int v = __shfl_sync(~0u, i & 31, u[0]); /* the number of the lane is uninitialised */
    if (v == 40) /* find: uninitialised-branch */
        a[0] = 1;
    int in; /* the predicate depends only on the lane numbers */
    asm("{.reg .pred p; .reg .b32 d; shfl.sync.down.b32 d|p, %1, 1, 31, -1; selp.b32 %0, 1, 0, p;}" : "=r"(in) : "r"(u[i]));
    if (in)
        a[i] = 2;
    unsigned mask = u[0];
    asm volatile("{.reg .b32 d; and.b32 d, %0, 0; sub.u32 d, d, 1; bar.warp.sync d;}" ::"r"(mask));
}
END
expect shuffle.cu uninitialised

cat >reduced.cu <<'END'
extern "C" __global__ void k(int *a, int *u)
{
    int i = threadIdx.x;
    int v = i == 40 ? u[i] : i;
    if (__syncthreads_or(v == 100)) /* find: uninitialised-branch */
        a[i] = 1;
    a[__syncthreads_count(i == 3) & 63] = 2;
}
END
expect reduced.cu uninitialised

cat >decides.cu <<'END'
extern "C" __global__ void k(int *a, int *u)
{
    int i = threadIdx.x, o = 0;
    asm volatile("{.reg .pred p, q, r;\n\tsetp.eq.s32 p, %1, 5;\n\tsetp.gt.and.s32 q|r, %2, 100, p;\n\t@q mov.s32 %0, 1;\n\t"
                 "setp.lt.or.s32 q, %2, 100, p;\n\t@!q mov.s32 %0, 1;}" : "+r"(o) : "r"(u[i]), "r"(i));
    a[i] = o;
}
END
expect decides.cu uninitialised

cat >scalars.s <<'END'
.kernel k
.param ptr.global a
.param ptr.global u
    v_s2r v0, %tid.x
    v_mov_b64 v2:3, c[u]
    v_mov_b64 v6:7, c[a]
    v_madwide_u32 v8:9, v0, 4, v2:3
    ld.global.b32 v4, [v8:9]
    s_mov_b32 s4, 0
    v_readfirstlane_b32 s5, v4
    s_setp_u32.eq sp0, s5, 7
    @sp0 s_bra done                 # find: uninitialised-branch
    v_mov_b32 v10, 5
    v_readlane_b32 s4, v4, 2
    v_readfirstlane_b32 s5, v10     # the value is initialised
    s_setp_u32.eq sp0, s5, 7
    @sp0 s_bra done
    v_readlane_b32 s5, v0, s4       # the number of the lane is uninitialised
    s_setp_u32.eq sp0, s5, 70
    @sp0 s_bra done                 # find: uninitialised-branch
    s_mov_b32 s4, 0
    v_mov_b32 v11, v4
    v_writelane_b32 v11, s4, 1      # initialises one lane only
    v_setp_u32.eq p0, v11, 7
    s_mov_b64 s12:13, exec
    @p0 v_mov_b32 v12, 1            # find: uninitialised-branch
    v_setp_u32.eq p1, v4, 7
    s_ballot s14:15, p1
    s_and_b64 exec, s14:15, exec    # find: uninitialised-branch
    v_mov_b32 v12, v0
    s_mov_b64 exec, s12:13
done:
    exit
.end
END
expect scalars.s uninitialised

cat >named.cu <<'END'
extern "C" __global__ void k(int *a, int *u)
{
    int i = threadIdx.x, which = (a[0] & 0) + 1;
    if (i < 32) {
        asm volatile("barrier.sync %0;" ::"r"(which));
    } else {
        a[i] = 1;
        asm volatile("barrier.sync %0;" ::"r"(which)); /* find: barrier-mismatch */
    }
}
END
"$lanewise" compile -X -O0 -X -g -o k.lwo named.cu || fail "named.cu does not compile"
for warp in 32 64; do
    sed "s/W/$warp/" k.yaml >run.yaml
    "$lanewise" run -q --check=progress run.yaml >out 2>err
    grep -q 'named.cu:[58]: barrier-mismatch' err ||
        fail "a barrier whose number is in a register, $warp lanes: $(cat err)"
done

# Two launches access the same page of memory. const-written must compare only accesses of the same launch.
cat >flight.cu <<'END'
extern "C" __global__ void other(int *a)
{
    for (int i = 0; i < 20; i++)
        a[threadIdx.x + 600] = i;
}
extern "C" __global__ void both(int *a, int *o)
{
    int v = __ldg(&a[threadIdx.x]);
    for (int i = 0; i < 300; i++)
        o[i & 15] = v;
    a[threadIdx.x] = v + 1;
}
END
cat >flight.yaml <<'END'
program: {source: flight.cu, options: [-O0, -g]}
buffers: {a: {type: i32, count: 1024, init: 0}, o: {type: i32, count: 64}}
steps:
  - launch: {entry: both, grid: 1, block: 32, args: [a, o], stream: 1}
  - launch: {entry: other, grid: 1, block: 32, args: [a], stream: 2}
  - repeat: 3
    steps:
      - launch: {entry: other, grid: 1, block: 32, args: [a]}
END
for more in "" "--timing volta" "--policy most_lanes"; do
    # shellcheck disable=SC2086
    "$lanewise" run -q --check=const-written $more flight.yaml >out 2>err
    grep -q 'flight.cu:11: const-written: .*lanes 0xffffffff' err ||
        fail "$more: no const-written names all lanes in line 11: $(cat err)"
    [ "$(grep -c const-written err)" = 1 ] || fail "$more: expected one const-written: $(cat err)"
done

# A misaligned store is skipped, so it does not initialise memory.
cat >bound.cu <<'END'
extern "C" __global__ void k(int *a, int *u)
{
    __shared__ char c[16];
    __shared__ double d[16];
    c[threadIdx.x & 15] = d[threadIdx.x & 15] = 1;
    if (threadIdx.x == 15)
        *(long long *)((char *)c + 12 + a[0]) = 1; /* find: misaligned */
    a[threadIdx.x] = c[3] + (int)d[2];
}
END
expect bound.cu memory

# Components of a texel are checked separately. The kernel has initialised only component y of all texels.
cat >texel.cu <<'END'
texture<uchar4, 1, cudaReadModeNormalizedFloat> pal;
extern "C" __global__ void k(int *o, unsigned char *c)
{
    int i = threadIdx.x;
    c[4 * i + 1] = i;
    __syncthreads();
    float4 g = tex1Dfetch(pal, i);
    if (g.y > 2.f)
        o[1] = 1;
    if (g.z > 2.f)
        o[2] = 1;
}
END
cat >texel.yaml <<'END'
program: {source: texel.cu, options: [-O0, -g]}
buffers: {o: {type: i32, count: 64, init: 0}, c: {type: u8, count: 256}}
textures: {pal: {buffer: c, type: u8, components: 4, normalized: true}}
steps:
  - launch: {entry: k, grid: 1, block: 64, args: [o, c]}
END
"$lanewise" run -q --check=uninitialised texel.yaml >out 2>err
grep -q "texel.cu:10: uninitialised-branch: .* 'c' .*; 64 times" err && [ "$(grep -c uninitialised err)" = 1 ] ||
    fail "expected one finding of an uninitialised component of a texel: $(cat err)"

# A stack overflow is a finding that ends the run, because the return address of the function cannot be stored.
cat >deep.cu <<'END'
__device__ __noinline__ int r(int n, volatile int *p)
{
    volatile int own[20];
    own[n % 20] = n;
    return n == 0 ? own[0] : r(n - 1, own) + own[n % 20];
}
extern "C" __global__ void k(int *a, int *u)
{
    int v = 3;
    a[0] = r(threadIdx.x == 5 ? 1000 : 3, &v);
    int t[4];
    t[a[0] - 9000] = 1; /* an access below local memory that is no stack overflow: the run continues */
    a[1] = t[a[0] & 3];
}
END
for options in -O0 -O2; do
    "$lanewise" compile -X $options -X -g -o k.lwo deep.cu || fail "deep.cu does not compile"
    for more in "" --timing=volta; do
        sed "s/W/32/" k.yaml >run.yaml
        # shellcheck disable=SC2086
        timeout 60 "$lanewise" run -q --check $more run.yaml >out 2>err
        [ $? = 3 ] && [ "$(grep -c 'deep.cu.*out-of-bounds: .*stack overflow' err)" = 1 ] &&
            [ "$(grep -c 'deep.cu:12: out-of-bounds' err)" = 1 ] && grep -q '^run.yaml: 2 findings$' err ||
            fail "$options $more: expected two findings, one of them the stack overflow: $(cat err)"
    done
done

# The message of a race names the memory, and the chain of callers of both accesses.
cat >names.cu <<'END'
__shared__ float tile[4][32];
__device__ __noinline__ void put(float *to, float v) { *to = v; }
__device__ __noinline__ void twice(float *to, float v) { put(to, v * 2); }
__device__ __noinline__ float get(const float *from) { return *from; }
extern "C" __global__ void k(int *a, int *u)
{
    int i = threadIdx.x;
    twice(&tile[1][i & 31], i);
    put(&tile[3][i & 31], i);
    a[i] = get(&tile[1][5]);
    a[64 - 1 - i] = 1;
    *(int *)((char *)a + 2) = 5;
}
END
"$lanewise" compile -X -O0 -X -g -o k.lwo names.cu || fail "names.cu does not compile"
sed "s/W/32/" k.yaml >run.yaml
"$lanewise" run -q --check=memory,races --check-file n.json run.yaml >out 2>err
grep -q "names.cu:2: race: .*, in 'tile\[1\]\[0\]', declared in line 1: .*; in put, called at [^ ]*names.cu:3, in twice, called at [^ ]*names.cu:8; kernel k" err ||
    fail "the message has no chain of calls: $(cat err)"
grep -q "names.cu:2: race: .*, in 'tile\[3\]\[0\]', .*; in put, called at [^ ]*names.cu:9; kernel k" err || grep -q "names.cu:2: race: .* 64 times" err ||
    fail "the message does not name the call of the previous access: $(cat err)"
grep -q "names.cu:4: [a-z-]*: .*; in get, called at [^ ]*names.cu:10; kernel k" err ||
    fail "the message does not name the call of the read: $(cat err)"
grep -q "names.cu:11: race: global store of 4 bytes at 0x[0-9a-f]*, byte [0-9]* of 'a': " err ||
    fail "the message does not name the buffer: $(cat err)"
grep -q "names.cu:12: misaligned: generic store of 4 bytes at 0x[0-9a-f]*, byte 2 of 'a': " err ||
    fail "the message of misaligned does not name the buffer: $(cat err)"
grep -q '"allocation": "tile"' n.json || fail "JSON has no name of a shared variable: $(cat n.json)"

# If two readers were recorded, and the message says "another warp", it must name the reader of that warp.
cat >rows.cl <<'END'
kernel void k(global int *o, global int *u)
{
    local int b[16][16];
    int x = get_local_id(0) & 15, y = get_local_id(0) / 16;
    b[y][x] = x + 16 * y;
    barrier(CLK_LOCAL_MEM_FENCE);
    int s = b[1][x];
    b[y][x] = 7;
    o[get_local_id(0) & 63] = s;
}
END
"$lanewise" compile -X -O0 -X -g -o k.lwo rows.cl || fail "rows.cl does not compile"
sed 's/W/32/; s/block: 64/block: 256/' k.yaml >run.yaml
for more in "" "--timing=volta" "--policy most_lanes"; do
    # shellcheck disable=SC2086
    "$lanewise" run -q --check=races $more run.yaml >out 2>err
    sed -n 's/.*rows.cl:8: race: .*by another warp of the block.*, warp \([0-9]*\), lanes.* previous access at .*rows.cl:7; .*, warp \([0-9]*\), lanes.*/\1 \2/p' err >sides
    read -r mine theirs <sides && [ "$mine" != "$theirs" ] ||
        fail "the message does not name two different warps $more: $(cat err)"
done

# Findings in the copies of an unrolled loop have one location. A line that reads one buffer and writes another has two.
cat >unrolled.cl <<'END'
kernel void k(global int *a, global int *u)
{
    local int s[64];
    int i = get_local_id(0), sum = 0;
    s[i] = i;
#pragma unroll
    for (int j = 0; j < 16; j++)
        sum += s[(i + j * 2 + 32) & 63];
    a[i] = sum;
    a[i + 4000] = u[i + 5000];
}
END
"$lanewise" compile -X -O2 -X -g -o k.lwo unrolled.cl || fail "unrolled.cl does not compile"
sed 's/W/32/' k.yaml >run.yaml
"$lanewise" run -q --check=memory,races run.yaml >out 2>err
[ "$(grep -c 'unrolled.cl:5: race: .*unrolled.cl:8' err)" = 1 ] && [ "$(grep -c 'unrolled.cl:10: out-of-bounds' err)" = 2 ] ||
    fail "findings in an unrolled loop have wrong lines or counts: $(cat err)"

[ $failures = 0 ] || exit 1
