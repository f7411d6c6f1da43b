#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Tests the check for uninitialised values with tests/check/bug_corpus/. Each kernel NAME_bad must have the finding that the
# comment above it names, at this line and lanes, and NAME_good must have none. Kernels are compiled with and without
# optimisation, and run on several machines and with --timing.
. "${srcdir:-.}/tests/lib/cli_lib.sh"
zoo=$src/tests/check/bug_corpus
pairs=0

# usage: launches SOURCE. Prints a launch file that launches each kernel of object.lwo with its own buffers, which the host reads
launches() {
    names=$(sed -n 's/.*void \([a-z_]*\)(.*\*raw)$/\1/p' "$1")
    echo "program: {source: object.lwo}"
    echo "buffers:"
    for n in $names; do
        echo "  g_$n: {type: i32, count: 128, init: {constant: 0}}"
        echo "  in_$n: {type: i32, count: 128, init: {ramp: {start: 0}}}"
        echo "  raw_$n: {type: i32, count: 128}"
    done
    echo "steps:"
    for n in $names; do
        echo "  - launch: {entry: $n, grid: 2, block: 64, args: [g_$n, in_$n, raw_$n]}"
        echo "  - check: {buffer: g_$n, constant: 0, tolerance: 1e30}"
    done
}

# usage: verify SOURCE OPTIONS ARGUMENT... . If the variable WIDTH is "other", lanes are not compared, because they depend on the
# warp width
verify() {
    source=$1
    options=$2
    shift 2
    base=$(basename "$source")
    # shellcheck disable=SC2086
    "$lanewise" compile $options -o object.lwo "$source" 2>err || {
        fail "$base $options does not compile"
        return
    }
    launches "$source" >k.yaml
    timeout 100 "$lanewise" run --check=uninitialised --max-findings 1000 "$@" k.yaml >out 2>err
    got=$?
    [ $got = 1 ] || fail "$base $options $*: exit status $got, expected 1: $(head -n 1 err)"
    if grep -q '_good' err; then
        fail "$base $options $*: a correct kernel has a finding: $(grep '_good' err | head -n 2)"
    fi
    awk '/find:/ { sub(".*find: ", ""); sub(" \\*/.*", ""); want = $0 }
         /void [a-z0-9_]*_bad/ { sub(".*void ", ""); sub("\\(.*", ""); print $0, want }' "$source" >wanted
    while read -r name kind mark lanes; do
        pairs=$((pairs + 1))
        [ "${WIDTH:-}" != other ] || [ "$lanes" = - ] || lanes='0x[0-9a-f]*'
        if [ "$lanes" = - ]; then # the finding has no lanes, because the host reads the value
            step=$(grep -n "check: {buffer: g_$name," k.yaml | cut -d: -f1)
            pattern="^k.yaml:$step: $kind: .* of 'g_$name' .* from 'raw_$name'"
        else
            line=$(grep -n "/\* $mark \*/" "$source" | cut -d: -f1)
            pattern="$base:$line: $kind: .*kernel $name, .*lanes $lanes,"
        fi
        grep -q -- "$pattern" err || fail "$base $options $*: $name: no '$pattern': $(grep "$name" err)"
    done <wanted
    # the message names the element that the kernel does not write
    [ "$base" != uninitialised.cl ] || grep -q "shared 's\[4\]', declared in line 9, .*kernel hole_bad" err ||
        fail "$base $options $*: the message does not name s[4]: $(grep hole_bad err)"
    # the message names the variable of this kernel, although the variables of all kernels start at offset 0
    [ "$base" != uninitialised.cl ] || grep -q "shared 'sum', declared in line 59; kernel sum_bad" err ||
        fail "$base $options $*: the message does not name sum: $(grep sum_bad err)"
    # the uninitialised value is argument 3 of "%5d %.*f %s", because the precision * is an argument, too
    [ "$base" != uninitialised.cl ] || grep -q "argument 3 of printf" err ||
        fail "$base $options $*: the message does not name argument 3: $(grep printf err)"
    # without optimisation, the local variables of a kernel are in memory
    case $base$options in
    uninitialised.cl*-O0*)
        grep -q "local 't\[[0-7]\]', declared in line 89, .*kernel [a-z_]*_bad" err ||
            fail "$base $options $*: no finding names an element of t: $(grep ' local ' err)"
        grep -q "local memory at" err && fail "$base $options $*: a local variable without a name: $(grep 'local memory at' err)"
        ;;
    esac
}

# If a block does not fill its warp, the sum reads lanes that do not exist.
tail_lanes() {
    cat >tail.cu <<'END'
extern "C" __global__ void tail(int *a)
{
    int v = threadIdx.x + 1;
    for (int d = 16; d; d /= 2)
        v += __shfl_down_sync(~0u, v, d);
    if (threadIdx.x == 0)
        a[0] = v;
}
END
    for block in 24 32; do
        cat >tail.yaml <<END
program: {source: tail.cu, options: [$1]}
buffers: {a: {type: i32, count: 1, init: 0}}
steps:
  - launch: {entry: tail, grid: 1, block: $block, args: [a]}
  - check: {buffer: a, constant: 0, tolerance: 1e30}
END
        "$lanewise" run -q --check=uninitialised tail.yaml 2>err
        case $?:$block in 1:24 | 0:32) ;; *) fail "tail.cu $1: wrong exit status, blocks of $block threads: $(cat err)" ;; esac
        [ $block = 32 ] ||
            grep -q '^tail.yaml:5: uninitialised-output: .* byte 0, from the register of lane [23][0-9], which does not execute the shuffle at [^ ]*tail.cu:5' err ||
            fail "tail.cu $1: the message does not name the lane: $(cat err)"
    done
}
tail_lanes -O3
tail_lanes "-O0, -g"

for source in "$zoo/uninitialised.cl" "$zoo/uninitialised.cu"; do
    verify "$source" "-X -O3"
    verify "$source" "-X -O0 -X -g"
    verify "$source" "-X -O3" --tags compact
    verify "$source" "-X -O3" --timing
    verify "$source" "-X -O3" --reconv stack
done
WIDTH=other verify "$zoo/uninitialised.cl" "-X -O3" --warp 8
WIDTH=other verify "$zoo/uninitialised.cl" "-X -O3" --warp 64 --tags shadow

# A scalar load does not depend on lanes, so its value is tracked even if exec is 0.
cat >scalar.s <<'END'
.kernel scalar
.param ptr.global g
    s_mov_b64 s0:1, c[0][0x0]
    s_mov_b64 exec, 0
    s_ld.global.b32 s2, [s0:1]
    s_mov_b64 exec, -1
    s_setp_u32.lt sp0, s2, 4
    @sp0 s_bra .L
.L:
    exit
.end
END
cat >scalar.yaml <<'END'
program: {source: scalar.s}
buffers: {a: {type: u32, count: 8}}
steps: [{launch: {entry: scalar, grid: 1, block: 32, args: [a]}}]
END
"$lanewise" run -q --check=uninitialised scalar.yaml 2>err
[ $? = 1 ] && grep -q "^[^ ]*scalar.s:8: uninitialised-branch: .*'a' .* read at [^ ]*scalar.s:5" err ||
    fail "a scalar load while exec is 0: $(cat err)"

# Copies and fills by the host initialise memory. A read of memory that was never written is reported.
cat >host.s <<'END'
.kernel none
.param ptr.global g
    exit
.end
END
cat >host.yaml <<'END'
program: {source: host.s}
buffers:
  a: {type: u8, count: 5000}
  b: {type: u8, count: 5000, init: {constant: 1}}
  c: {type: u8, count: 5000, init: {constant: 1}}
steps:
  - launch: {entry: none, grid: 1, block: 1, args: [a]}
  - copy: {from: b, to: a, count: 4999}
  - check: {buffer: a, constant: 0, tolerance: 1e30}
  - copy: {from: a, from_index: 100, to: c, count: 4900}
  - copy: {from: c, to: b, to_index: 50, count: 4950}
  - copy: {from: b, to: b, to_index: 7, count: 4993}
  - check: {buffer: c, constant: 0, tolerance: 1e30}
  - check: {buffer: b, constant: 0, tolerance: 1e30}
  - copy: {from: a, from_index: 0, to: b, to_index: 4000, count: 1000}
  - check: {buffer: b, constant: 0, tolerance: 1e30}
END
"$lanewise" run -q --check=uninitialised host.yaml 2>err
[ $? = 1 ] && grep -q "^host.yaml:9: uninitialised-output: the host reads 1 byte of 'a' that was never written; the first such byte is byte 4999" err ||
    fail "the byte that no copy initialised is not reported: $(cat err)"
# A copy between buffers also copies the state of each byte, uninitialised or not, and its origin.
grep -q "^host.yaml:13: uninitialised-output: the host reads 1 byte of 'c' that depends on .*; the first such byte is byte 4899, from 'a'" err &&
    grep -q "^host.yaml:14: uninitialised-output: the host reads 1 byte of 'b' that depends on .*; the first such byte is byte 4956, from 'a'" err ||
    fail "copied uninitialised bytes are not reported with their origin: $(cat err)"
[ "$(grep -c uninitialised-output err)" = 3 ] ||
    fail "expected three uninitialised-output, none for overwritten bytes: $(cat err)"
sed -i 's/count: 4999/count: 5000/' host.yaml
"$lanewise" run -q --check=uninitialised host.yaml 2>err ||
    fail "there is a finding although all bytes are initialised: $(cat err)"

# In assembly: an uninitialised register, and a guarded instruction while exec excludes some lanes.
cat >reg.s <<'END'
.kernel reg
.param ptr.global g
    v_s2r v0, %tid.x
    v_shl_b32 v1, v0, 2
    v_setp_u32.lt p0, v0, 8
    @p0 v_mov_b32 v2, 1
    v_setp_u32.eq p1, v2, 1
    @p1 v_mov_b32 v3, 7
    v_and_b32 v2, v2, 0
    s_mov_b64 s2:3, c[g]
    st.global.b32 [s2:3+v1], v2
    exit
.end
END
cat >reg.yaml <<'END'
program: {source: reg.s}
buffers: {g: {type: u32, count: 32}, h: {type: u32, count: 32}}
steps:
  - launch: {entry: reg, grid: 1, block: 32, args: [g]}
  - check: {buffer: g, constant: 0, tolerance: 1e30}
END
for tags in off compact shadow; do
    "$lanewise" run -q --check=uninitialised --tags $tags reg.yaml 2>err
    [ "$(wc -l <err)" = 2 ] && grep -q "reg.s:8: uninitialised-branch: a guard depends on an uninitialised value: register v2, read at [^ ]*reg.s:7;.*lanes 0xffffff00," err ||
        fail "tags $tags: expected one finding, of register v2: $(cat err)"
done

# A kernel launches a kernel with three parameters. It never stores the second one, and the third one depends on an
# uninitialised value.
cat >launch.s <<'END'
.const child_d 40 8 = addr child, u32 1, 1, 1, 1, 1, 1, 0, 0
.kernel child
.param ptr.global a
.param u32 b
.param u32 c
.param u64 d
    exit
.end
.kernel parent
.param ptr.global a
    s_mov_b64 s2:3, c[a]
    v_mov_b64 v2:3, c[a]
    v_mov_b32 v4, lo(child_d)
    v_mov_b32 v5, hi(child_d)
    ld.global.b32 v9, [v2:3]
    launch.buffer v6:7, 24
    st.global.b64 [v6:7], v2:3
    st.global.b32 [v6:7+12], v9
    st.global.b64 [v6:7+16], v2:3
    launch.kernel v8, v4:5, v6:7, vz
    exit
.end
END
cat >launch.yaml <<'END'
program: {source: launch.s}
buffers: {a: {type: u32, count: 32}}
steps:
  - launch: {entry: parent, grid: 1, block: 1, args: [a]}
END
"$lanewise" run -q --check=uninitialised launch.yaml 2>err
grep -q "^launch.s:20: uninitialised-output: parameter 2 of the launch of child depends on .*'parameters' (24 bytes .*kernel parent, .*; 2 times" err ||
    fail "the uninitialised parameter of a launch is not reported: $(cat err)"
sed -i 's/a: {type: u32, count: 32/&, init: {constant: 0}/' launch.yaml
sed -i 's/st.global.b32 \[v6:7+12\], v9/st.global.b64 [v6:7+8], v2:3/' launch.s
"$lanewise" run -q --check=uninitialised launch.yaml 2>err ||
    fail "there is a finding although all parameters are initialised: $(cat err)"
# The sizes of a device launch are checked, too.
cat >>launch.s <<'END'
.kernel sized
.param ptr.global a
.param ptr.global d
    v_mov_b64 v2:3, c[a]
    v_mov_b64 v4:5, c[d]
    v_mov_b32 v10, lo(child)
    v_mov_b32 v11, hi(child)
    st.global.b64 [v4:5], v10:11
    ld.global.b32 v9, [v2:3]
    v_add_u32 v9, v9, 1
    st.global.b32 [v4:5+8], v9
    launch.buffer v6:7, 24
    st.global.b64 [v6:7], v2:3
    st.global.b64 [v6:7+8], v2:3
    st.global.b64 [v6:7+16], v2:3
    launch.kernel v8, v4:5, v6:7, vz
    exit
.end
END
cat >sized.yaml <<'END'
program: {source: launch.s}
buffers: {a: {type: u32, count: 32}, d: {type: u32, count: 10, init: [0, 0, 1, 1, 1, 1, 1, 1, 0, 0]}}
steps:
  - launch: {entry: sized, grid: 1, block: 1, args: [a, d]}
END
"$lanewise" run -q --check=uninitialised sized.yaml 2>err
grep -q "^launch.s:38: uninitialised-address: the grid size of a device-side launch depends on .*: 'a' (128 bytes .*, read at launch.s:31; kernel sized" err ||
    fail "the uninitialised grid size of a launch is not reported: $(cat err)"
sed -i 's/a: {type: u32, count: 32/&, init: {constant: 0}/' sized.yaml
"$lanewise" run -q --check=uninitialised sized.yaml 2>err ||
    fail "there is a finding although all sizes are initialised: $(cat err)"

# The message names a shared variable of an inlined function, even if other functions have variables at the same offset.
cat >inlined.cu <<'END'
__device__ int part(int i) { __shared__ int tq[64]; if (i < 32) tq[i] = i; __syncthreads(); return tq[i & 63]; }
__device__ int other(int i) { __shared__ int tr[64]; if (i < 32) tr[i] = i; __syncthreads(); return tr[i & 63]; }
extern "C" __global__ void one(int *a) { if (part(threadIdx.x)) a[threadIdx.x] = 1; }
extern "C" __global__ void two(int *a) { if (other(threadIdx.x)) a[threadIdx.x] = 1; }
END
cat >inlined.yaml <<'END'
program: {source: inlined.cu, options: [-O2, -g]}
buffers: {a: {type: u32, count: 64, init: {constant: 0}}}
steps:
  - launch: {entry: one, grid: 1, block: 64, args: [a]}
  - launch: {entry: two, grid: 1, block: 64, args: [a]}
END
"$lanewise" run -q --check=uninitialised inlined.yaml 2>err
grep -q "inlined.cu:3: uninitialised-branch: .*: shared 'tq', byte 128, read at .*inlined.cu:1; kernel one," err &&
    grep -q "inlined.cu:4: uninitialised-branch: .*: shared 'tr', byte 128, read at .*inlined.cu:2; kernel two," err ||
    fail "findings do not name the shared variables of inlined functions: $(cat err)"

# The offset of dynamic shared memory is that of a variable of a function that the kernel does not call; the message must not
# name this variable.
cat >dynamic.cu <<'END'
extern __shared__ int dyn[];
__device__ __noinline__ int helper(int i)
{
    __shared__ int cache[64];
    cache[i] = i;
    __syncthreads();
    return cache[i ^ 1];
}
__global__ void other(int *o) { o[threadIdx.x] = helper(threadIdx.x); }
extern "C" __global__ void mine(int *o)
{
    if (dyn[threadIdx.x] > 3)
        o[threadIdx.x] = 1;
}
END
cat >dynamic.yaml <<'END'
program: {source: dynamic.cu}
buffers: {o: {type: s32, count: 32}}
steps:
  - launch: {entry: mine, grid: 1, block: 32, shared: 256, args: [o]}
  - check: {buffer: o, index: 5, count: 1, constant: 0}
  - check: {buffer: o, index: 9, count: 2, constant: 0}
END
"$lanewise" run -q --check=uninitialised dynamic.yaml 2>err
grep -q 'dynamic.cu:12: uninitialised-branch: .*: shared memory at offset 0, read' err ||
    fail "no finding names dynamic shared memory: $(cat err)"
# Each step of the launch file that reads uninitialised bytes has its own finding.
for line in 5 6; do
    grep -q "^dynamic.yaml:$line: uninitialised-output" err ||
        fail "line $line of the launch file: expected uninitialised-output: $(cat err)"
done

# The message names variables that nvcc keeps in registers.
if command -v "${LANEWISE_NVCC:-nvcc}" >/dev/null || [ -x /usr/local/cuda/bin/nvcc ]; then
    cat >best.cu <<'END'
__device__ int pick(int n)
{
    int chosen;
    if (n > 50)
        chosen = n;
    return chosen;
}
__global__ void choose(int *p, int n)
{
    int best;
    double weight;
    if (n > 40)
        best = n;
    if (p[threadIdx.x] > 3)
        weight = 2.5;
    if (best > 3)
        p[0] = 1;
    if (pick(n) > 7)
        p[1] = 1;
    p[2 + threadIdx.x] = weight * 2;
}
END
    cat >best.yaml <<'END'
program: {source: best.cu, compiler: nvcc, options: [-G]}
buffers: {p: {type: s32, count: 100, init: 0}}
steps:
  - launch: {entry: choose, grid: 1, block: 32, args: [p, 0]}
  - check: {buffer: p, index: 5, count: 1, constant: 0}
END
    "$lanewise" run -q --check=uninitialised best.yaml 2>err
    grep -q "best.cu:16: uninitialised-branch: .*: 'best', declared in line 10, register [sv][0-9]*, read at [^ ]*best.cu:[0-9]*;" err ||
        fail "no finding names 'best': $(cat err)"
    grep -q "uninitialised-branch: .*: 'chosen', declared in line 3, register [sv][0-9]*, read" err ||
        fail "no finding names 'chosen': $(cat err)"
    grep -q "best.yaml:5: uninitialised-output: .* from 'weight', declared in line 11, register v[0-9]*;" err ||
        fail "no finding names 'weight': $(cat err)"
    echo '- {allocation: best}' >known.yaml
    "$lanewise" run -q --check=uninitialised best.yaml --check-suppress known.yaml 2>err
    grep -q 'best.cu:16' err && fail "'best' is not suppressed"
fi

[ $failures = 0 ] || exit 1
echo "$pairs pairs"
