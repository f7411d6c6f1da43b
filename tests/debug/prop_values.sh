#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Tests that values shown in optimised code equal those at -O0: runs tests/debug/prop_values.c on random kernels and on the
# kernels of kernels/.
. "${srcdir:-.}/tests/lib/cli_lib.sh"
program=$build/tests/debug/prop_values
sh "$src/kernels/prepare" "$work" || exit 1
files=
for f in *.yaml; do
    grep -q 'source: .*\.c[lu]' "$f" && files="$files $f"
done
# Both kinds of kernels run at the same time, because most hosts have at least two processors.
# shellcheck disable=SC2086
"$program" $files >files.txt 2>&1 &
"$program"
random=$?
if [ -z "${LW_VALUES_MODE:-}${LW_SEED:-}" ]; then
    LW_VALUES_MODE=memory "$program" || random=1
    LW_VALUES_MODE=macros "$program" || random=1
    LW_VALUES_MODE=idioms "$program" || random=1
fi
wait $!
other=$?
cat files.txt
seeds=0
# usage: kept SEED CLANG. Runs a random kernel in which an earlier version showed a wrong value. In the comments below, a note is
# a record of the object that says where the value of a variable is. With LW_SLOW, every fifth of these kernels runs.
kept() {
    command -v "$2" >/dev/null || return 0
    seeds=$((seeds + 1))
    [ -z "${LW_SLOW:-}" ] || [ $((seeds % 5)) = 0 ] || return 0
    LW_SEED=$1 LW_RANDOM_COUNT=1 LW_VALUES_CLANG=$2 "$program" >kept.txt 2>&1 || { cat kept.txt; random=1; }
}
# usage: memory SEED CLANG. Runs a random kernel with variables in memory, for which an earlier version showed wrong values.
memory() {
    command -v "$2" >/dev/null || return 0
    LW_VALUES_MODE=memory LW_SEED=$1 LW_RANDOM_COUNT=1 LW_VALUES_CLANG=$2 "$program" >kept.txt 2>&1 || { cat kept.txt; random=1; }
}
# usage: idioms SEED CLANG. Runs a random kernel with idioms, for which an earlier version showed wrong values.
idioms() {
    command -v "$2" >/dev/null || return 0
    LW_VALUES_MODE=idioms LW_SEED=$1 LW_RANDOM_COUNT=1 LW_VALUES_CLANG=$2 "$program" >kept.txt 2>&1 || { cat kept.txt; random=1; }
}
# usage: free SEED CLANG. Runs a random kernel that does not store each value, and for which an earlier version showed wrong values.
free() {
    command -v "$2" >/dev/null || return 0
    LW_VALUES_MODE=free LW_SEED=$1 LW_RANDOM_COUNT=1 LW_VALUES_CLANG=$2 "$program" >kept.txt 2>&1 || { cat kept.txt; random=1; }
}
# Kernels with a loop that clang unrolls whole, and that calls a function with several returns. clang 14 to 16 move the notes of the
# loop's counter before all iterations.
for step in 'k = -2; k <= 2; k += 1' 'k = 3; k >= -3; k += -1'; do
    cat >unrolled.cl <<END
static inline int clampi(int i, int n) { if (i < 0) return 0; if (i >= n) return n - 1; return i; }
kernel void unrolled(global const int *in, global int *out, int n)
{
    int x = get_global_id(0);
    int best = -1000, acc = 0;
    #pragma unroll
    for (int $step) {
        int at = clampi(x + k, n);
        int v = in[at];
        acc += v * (k + 5);
        if (v > best)
            best = v;
    }
    out[x] = acc + best;
}
END
    cat >unrolled.yaml <<'END'
program: {source: unrolled.cl}
buffers:
  in: {type: s32, count: 64, init: {random: {seed: 9, low: -20, high: 20}}}
  out: {type: s32, count: 64}
steps:
  - launch: {entry: unrolled, grid: [2], block: [32], args: [in, out, 64]}
END
    for clang in clang-14 clang-15 clang-16 clang-19; do
        command -v $clang >/dev/null || continue
        LW_VALUES_CLANG=$clang "$program" unrolled.yaml >kept.txt 2>&1 || { cat kept.txt; random=1; }
    done
done
if [ -z "${LW_SEED:-}${LW_RANDOM_COUNT:-}" ]; then
    free 4767111811540687094 clang-14 # the exit test of a `for` shows the counter after its increment
    free 4767111811540687104 clang-14 # a loop whose assignments have no code: the value of the second iteration was shown in the first
    free 4767111811540687116 clang-14 # clang removed iterations of a loop, and the value of the first iteration was shown after it
    free 4767133731871201550 clang-14 # the note of an assignment repeats the register of the old value with another width
    free 4767136680949331914 clang-19 # the assignment of the next iteration is before the test that ends the loop
    memory 203 clang-14
    memory 205 clang-16
    memory 205 clang-19
    memory 471500036 clang-15 # the store of one assignment was combined with stores of a later assignment
    memory 471500055 clang-15
    idioms 2007 clang-14      # an inlined call assigns to the caller's variable through a reference
    idioms 2050 clang-14
    idioms 2065 clang-14      # the note of a branch side is before the minimum and the maximum that replace the branch
    idioms 3603 clang-16      # two notes belong to one line whose branch is replaced
    idioms 12057 clang-14     # an unrolled loop repeats the note of a branch side that is never executed
    idioms 480014081 clang-14 # the note of a selection is late, in another block
    idioms 480019235 clang-19 # clang gives no note for a member of a structure that is assigned as a whole
    idioms 480015427 clang-15 # the note of a branch side is in the code of the line, before the minimum
    idioms 480019466 clang-19 # the only note of a line with a replaced branch is that of the branch side
    idioms 500014160 clang-14 # an exchange in a loop on one line always assigns
    idioms 500016344 clang-16 # the note of a branch side is before the branch on the same line
    idioms 510019526 clang-19 # clang replaced a loop's counter by a register with an offset
    kept 4767018319658750850 clang-14 # the line of a closing brace has code of a return before the declaration
    kept 4767070166098032869 clang-16 # a block at the end of the function has no line, and the path goes back from the block
    kept 4767052925537765558 clang-14 # in an unrolled loop, a store of the second iteration has no line in the middle of a block
    kept 4767018364784158957 clang-19 # at the head of a loop, the debug value of the join was taken for that of the assignment
    kept 57 clang-16  # the register from which a value is computed is also the register of the result
    kept 198 clang-16 # code without a line number at the end of a block belongs to the line of the next block
    kept 252 clang-16 # the debugger showed the value of a branch side that is never executed
    kept 287 clang-19 # a parameter was shown with the value of the launch: the analysis of its notes exceeded the limit of steps
    kept 394 clang-14 # the thread left the scope and entered it again, and the value shown was that of the previous execution
    kept 405 clang-19 # clang narrowed a variable of 64 bits, and its debug value sign-extends the variable
    kept 429 clang-19 # code of an inlined call is outside of the call's range, and the test counted visits wrongly
    kept 443 clang-16 # there is one note for two assignments in straight-line code
    kept 465 clang-16 # there is one note for two assignments, in code without a line after a branch
    kept 465 clang-19 # at the head of a loop, the note of the counter's increment was one line too late
    kept 83000105 clang-14            # of the notes of two assignments, clang has moved the second up and omitted the first
    kept 84000008 clang-14            # an unknown value was taken for the value of the launch
    kept 84000093 clang-19            # the note of one assignment is at the position of another assignment's note
    kept 84000123 clang-14            # an assignment on a branch side is before the branch, on the block's first line
    kept 82000038 clang-19            # clang preserves only the bits that are used later
    kept 85000116 clang-16            # moved-up code was taken for an iteration of a loop
    kept 85000149 clang-19            # code of an assignment has the number of the next line
    kept 86000022 clang-14            # the notes of two assignments are before the branch to them, and one note is missing
    kept 90000124 clang-19            # a piece of a variable is a copy of a loop counter that clang has replaced
    kept 90000181 clang-14
    kept 91000001 clang-14            # at the head of a loop, the debug value is that before the increment
    kept 91000005 clang-19            # code of one side of an if-converted branch overwrites the register of other lanes
    kept 94000183 clang-14            # the code of an assignment on a branch side is before code that has the line of the branch
    kept 95000079 clang-14            # code of a branch side is before code of lines that precede the branch side in the source
    kept 97000171 clang-19
    kept 97000337 clang-14            # the value of an assignment was shown in the inlined call before the assignment
    kept 97000337 clang-19
    kept 97000429 clang-14            # the source assigns to a parameter whose only note has the value of the launch
    kept 97000693 clang-14            # the note of a counter's copy was taken for the note of the counter's increment
    kept 99000178 clang-19            # clang replaced a variable by an expression of it, before the assignment in a loop
    kept 4766968734798733882 clang-16 # no note gave the end of a variable's scope, and its range of labels contained other code
    kept 4766974879817520809 clang-16 # the register of a loop counter has the initial value's constant on entry, which is no new value
    kept 100000189 clang-14           # the note of a counter's copy is after the copies at the head of a loop
    kept 100000402 clang-14           # code of a branch side is between instructions of the branch's line
    kept 100000484 clang-14           # there is one note for two assignments, before the branch to the assignments
    kept 101000084 clang-19           # code of an inlined call is in the range of a later call, so its outer frame is wrong
    kept 101000088 clang-14           # code of a loop's line is before code of an earlier line, in another iteration
    kept 101000118 clang-14           # a jump follows a copy without code, which has overwritten the register
    kept 101000118 clang-19
    kept 101000140 clang-14           # a loop head's note of a converted counter was taken for that of the increment
    kept 104000145 clang-14
    kept 104000145 clang-19
    kept 104000307 clang-14           # code without a line, after a label, was taken for code of the line before the label
    kept 104000630 clang-14           # a value is computed from a register that a preceding block has updated
    kept 104000630 clang-19
    kept 4766258808608889740 clang-14 # code of a line is moved up, and the test counted visits wrongly
    kept 4766258808608889788 clang-14 # code of a loop is before the loop
    kept 4766258808608889821 clang-14 # the code of an assignment on a branch side is before the branch
    kept 4766258808608889890 clang-19 # there are notes before the declaration
    kept 311400399 clang-14           # code after a switch is moved before it, to another block
    kept 311600115 clang-16           # code after a loop is moved before it, to another block
    kept 311501603 clang-15           # lanes execute code of a branch side that they do not take
    kept 311901796 clang-19           # the test did not count a branch that is not taken
    kept 331400562 clang-14           # a late note was taken for the note of the next assignment
    kept 331900016 clang-19           # before an assignment, a note has a register that already has the value of another variable
    kept 331401130 clang-14           # stores of several lines are one store without a line
    kept 341900676 clang-19           # LLVM describes a variable by an expression of it, up to the line that assigns to it
    kept 341901422 clang-19           # code without a line, at the head of a loop, was taken for code of the line after it
    kept 351600715 clang-16           # between two lines are a note without a value, code without a line, and a note with a value
    kept 341600478 clang-16           # a note without a value belongs to an assignment
    kept 371601171 clang-16           # a jump after the guarded code of a branch had the values of the branch
    kept 411900992 clang-19           # a second note of a parameter's register was taken for the note of an assignment
    kept 401401095 clang-14           # at the head of a loop, code without a line was taken for code of the line after it
    kept 391500948 clang-15           # the only note after two assignments was taken for the note of the second
    kept 521502225 clang-15           # nothing reads the register of an argument any more, and another variable has overwritten it
    kept 381400682 clang-14           # the assignment of the next iteration is before the branch that ends the loop
    kept 381400808 clang-14           # lanes execute code of two lines that they do not reach
    kept 491500049 clang-15           # a value was computed from a register that a statement without words had overwritten
    kept 421900173 clang-19           # the first iteration of a loop was taken for code that is moved up, and its assignment was ignored
fi
# Tests a parameter to which the source assigns 5, but for which clang 19 writes no debug value: the debugger must not show the
# value of the launch, 111.
cat >lost.cl <<'END'
kernel void lost(global uint *out, global const uint *in, uint n, ulong big, float scale, uchar small)
{
    uint gid = get_global_id(0);
    small = (uchar)(in[(uint)(big >> 4) & 63u] >> 3u);
    uint n4 = ((uint)scale & 1u) + 1u;
    do {
        n4 -= 1u;
        big = ((ulong)((uint)small % (in[(uint)scale & 63u] | 1u)) << 11) + 96u;
    } while (n4 != 0u);
    out[gid] = (uint)scale * 17u;
    out[gid] += n;
}
END
for clang in clang-14 clang-15 clang-16 clang-19; do
    command -v $clang >/dev/null || continue
    for level in -O1 -O2 -O3; do
        timeout 60 "$lanewise" debug lost.cl --compiler $clang -X $level --entry lost --grid 1 --block 32 --arg 'out=u32[64]' --arg 'in=u32[64]:ramp' \
            --arg n=44 --arg big=700 --arg scale=2.5 --arg small=111 -b -c 'break lost.cl:10' -c continue -c 'p n' -c 'p small' >out 2>&1 </dev/null
        grep -q '^small = 5$\|^5$\|small has no value here' out && grep -q '\b44$' out ||
            fail "$clang $level: expected 5 or no value for the assigned parameter small, and 44 for n: $(cat out)"
    done
done
# Tests variables in memory: each member or element that is shown must have the value that the source assigns. clang omits some
# stores to `r.a`, `r.b` and `list[2]`.
cat >mixed.cl <<'END'
struct mixed { uint a; uint b; uint arr[4]; };
static void bump(struct mixed *to, uint by)
{
    to->a += by;
    to->arr[by & 3u] = by;
}
kernel void mixed(global uint *out, global const uint *in, uint n)
{
    uint gid = get_global_id(0);
    struct mixed r = {1u, 2u, {3u, 4u, 5u, 6u}};
    r.a = in[gid & 63u] + 100u;
    r.arr[in[1] & 3u] = r.a + 1u;
    r.b = r.a * 5u;
    uint list[4] = {1u, 2u, 3u, 4u};
    list[in[2] & 3u] = n;
    list[1] = 9u;
    uint s = list[in[3] & 3u];
    list[2] = 7u;
    r.a = 77u;
    out[gid] = r.arr[in[4] & 3u] + s + r.b;
    bump(&r, in[gid + 1]);
    out[gid + 32] = s + r.arr[in[5] & 3u];
}
END
# usage: shows LINE EXPRESSION VALUE [NONE]. Checks that EXPRESSION is VALUE on LINE. With NONE, the debugger may also show no
# value.
shows() {
    timeout 60 "$lanewise" debug mixed.cl --compiler $clang -X $level --entry mixed --grid 1 --block 32 --arg 'out=u32[64]' --arg 'in=u32[64]:ramp' \
        --arg n=44 -b -c "break mixed.cl:$1" -c continue -c "p $2" >out 2>&1 </dev/null
    tail -n 1 out >last
    grep -qxF "$2 = $3" last || { [ -n "${4:-}" ] && ! grep -qF "$2 = " last; } || fail "$clang $level: line $1: $2 is not $3: $(cat last)"
}
for clang in clang-14 clang-15 clang-16 clang-19; do
    command -v $clang >/dev/null || continue
    for level in -O1 -O3; do
        shows 11 'r.arr[3]' 6
        shows 13 'r.arr[1]' 101
        shows 16 'list[3]' 4
        shows 17 'list[1]' 9
        shows 17 'list[2]' 44 none
        shows 13 r.a 100 none
        shows 14 r.b 500 none
        shows 20 r.a 77 none
        shows 20 'list[2]' 7 none
        shows 22 r.a 78 none
    done
done
# Tests unrolled loops in which clang moves code of an iteration down, after debug values of the next iteration: values that are
# shown together must be those of one iteration. In `sorted`, the code of all iterations is in the block after the last inner loop,
# and the debug values are in other blocks.
cat >rounds.cl <<'END'
kernel void rounds(global int *out, global const int *in, int n)
{
    int lid = get_local_id(0);
    int wide = 0;
    for (int round = 0; round < 2; round++) {
        int low = in[lid + round * 8];
        int high = in[lid + round * 8 + 4];
        for (int k = 0; k < low && in[k] > 20; k++)
            ;
        int distance = high - low;
        if (distance > 50)
            wide++;
    }
    out[lid] = wide + n;
}
END
cat >sorted.cl <<'END'
static void sort(int *list)
{
    for (int i = 1; i < 5; i++) {
        int x = list[i];
        int j = i - 1;
        while (j >= 0 && list[j] > x) {
            list[j + 1] = list[j];
            j--;
        }
        list[j + 1] = x;
    }
}
kernel void sorted(global int *out, global const int *in, int n)
{
    int lid = get_local_id(0);
    int list[5];
    int sum = n;
    for (int round = 0; round < 3; round++) {
        for (int k = 0; k < 5; k++)
            list[k] = in[(lid * 5 + round * 3 + k) & 63];
        sort(list);
        int middle = list[2];
        int distance = list[4] - list[0];
        if (distance > 150)
            sum += 7;
        else
            sum += middle;
    }
    out[lid] = sum;
}
END
# A loop on one line of a branch side, as macros contain it, whose assignment to `c` has no code there: the selection is after the
# loop over `tries`, and `c` has no value before.
cat >swapped.cl <<'END'
kernel void swapped(global int *out, global const int *in, int n)
{
    int gid = get_global_id(0);
    int c = (int)((uint)in[gid & 63] % 17u);
    int m = in[gid & 31] * 3;
    if (m & 1) {
        int a = m + 3;
        do { int t = a; a = c; c = t; } while (0);
        m ^= a;
    }
    int tries = 0;
    do {
        tries++;
        m = m * 3 + 5;
    } while ((m & 7) != 5 && tries < 9);
    out[gid] = m;
    if (m & 2)
        return;
    out[gid + 8] = c;
}
END
# Exchanges of two variables by a macro with a loop on one line: in `median5`, the last values of `a`, `d` and `e` have no code and
# no debug value.
cat >exchanged.cl <<'END'
#define EXCHANGE(x, y) do { if ((x) > (y)) { int t_ = (x); (x) = (y); (y) = t_; } } while (0)
static int median5(int a, int b, int c, int d, int e)
{
    EXCHANGE(a, b); EXCHANGE(d, e);
    EXCHANGE(a, c);
    EXCHANGE(b, c);
    EXCHANGE(a, d);
    EXCHANGE(c, d);
    EXCHANGE(b, e);
    EXCHANGE(b, c);
    return c;
}
kernel void exchanged(global int *out, global const int *in, int n)
{
    int gid = get_global_id(0);
    int a = in[gid & 63], b = in[(gid + 9) & 63], c = in[(gid + 17) & 63];
    EXCHANGE(a, b);
    EXCHANGE(b, c);
    EXCHANGE(a, b);
    int med = median5(a, b, c, gid, n);
    int span = c - a;
    int weight = 1;
    if (span > 50)
        weight = 2;
    out[gid] = med * weight;
    out[gid + 8] = c - a;
}
END
# A structure that is an argument of an inlined call: at -O2, clang 15 and 16 give it the debug values of the caller's `best`.
cat >passed.cl <<'END'
typedef struct { int key; float val; } item;
static bool less_than(item a, item b) { return a.key < b.key || (a.key == b.key && a.val < b.val); }
static item best_of(global const int *k, int from, int to)
{
    item best = { 1 << 30, 0.0f };
    for (int i = from; i < to; i++) {
        item it = { k[i & 63], (float)i };
        bool better = less_than(it, best);
        if (better)
            best = it;
    }
    return best;
}
kernel void passed(global int *out, global const int *in, int n)
{
    int gid = get_global_id(0);
    item a = best_of(in, gid, gid + n), b = best_of(in, gid + 7, gid + 9);
    int steps = 0;
    do {
        n = n & 1 ? n * 3 + 1 : n >> 1;
        steps++;
    } while (n > 1 && steps < 20 + (gid & 3));
    int mx = a.key > b.key ? a.key : b.key;
    out[gid] = mx * 3 + min(a.key, b.key) + (int)a.val;
    out[gid + 8] = steps;
}
END
# Functions that assign to arguments by reference: the selections that clang makes of them have no debug value.
cat >swaps.cu <<'END'
template <class T> __device__ void exchange(T &a, T &b) { T t = a; a = b; b = t; }
extern "C" __global__ void swaps(int *out, const int *in, int n)
{
    int gid = threadIdx.x;
    auto order = [](int &low, int &high) { int t = low; if (high < low) { low = high; high = t; } };
    int a = in[gid & 63], b = in[(gid + 9) & 63], c = gid;
    if (a > b) exchange(a, b);
    if (b > c) exchange(b, c);
    if (a > b) exchange<int>(a, b);
    int m = a + 2 * b;
    order(m, n);
    out[gid] = m + c;
    out[gid + 8] = n;
}
END
# A variable to which the source assigns through a local reference has no value.
cat >aliases.cu <<'END'
extern "C" __global__ void aliases(int *out, const int *in, int n)
{
    int gid = blockIdx.x * blockDim.x + threadIdx.x;
    int x = in[gid & 63], y = in[(gid + 5) & 63];
    int &r = x;
    int z = in[3];
    if (y > 50)
        r = y + 1;
    int w = x + z;
    int &s = w > 100 ? y : z;
    s += 7;
    auto bump = [&]() { if (z > 30) z -= 10; w++; };
    bump();
    int v = z + w;
    bump();
    if (v & 1) r = v;
    out[gid] = x + y;
    if (v & 4) return;
    out[gid + 8] = z + w;
}
END
# clang replaces a masked value by the value before the mask, because the code tests only the bits of the mask. `tid` has a register of
# which the code uses all bits.
cat >lanes.cl <<'END'
kernel void lanes(global int *out, global const int *in, int n)
{
    int tid = get_local_id(0);
    int lane = tid & 5, w = in[get_local_id(0) + 8];
    int acc = 0;
    for (int b = 1; b < 8; b <<= 1) {
        if (lane & b)
            acc += w;
        w = w * 3 + 1;
    }
    out[tid] = acc;
}
END
# The same for an argument of an inlined call, and for other operations than a mask.
cat >masked.cl <<'END'
static uint spread(uint x)
{
    uint r = 0;
    for (int i = 0; i < 4; i++)
        r |= (x & 1u << i) << i;
    return r;
}
kernel void masked(global int *out, global const int *in, int n)
{
    int gid = get_global_id(0);
    uint b = in[gid & 63];
    uint m = spread(b & 15);
    uint hi = b | 0xf0;
    int flip = b ^ 64;
    int r = 0, s = 0;
    for (int i = 0; i < 4; i++) {
        r = r * 2 + (hi >> i & 1);
        s ^= (flip >> i & 1) << (3 - i);
    }
    out[gid] = m + r * 256 + s * 4096;
    out[gid + 8] = b;
}
END
cat >butterfly.cu <<'END'
extern "C" __global__ void butterfly(int *out, const int *in, int n)
{
    unsigned lane = threadIdx.x % 4;
    int v = in[threadIdx.x];
#pragma unroll
    for (int d = 1; d < 4; d <<= 1) {
        int o = __shfl_xor_sync(0xff, v, d);
        bool upper = lane & d;
        v = upper ? o - v : o + v;
    }
    out[threadIdx.x] = v;
}
END
for source in rounds.cl sorted.cl swapped.cl exchanged.cl passed.cl swaps.cu aliases.cu lanes.cl masked.cl butterfly.cu; do
    name=${source%.*}
    cat >$name.yaml <<END
program: {source: $source}
buffers:
  in: {type: s32, count: 64, init: {random: {seed: 5, low: 0, high: 200}}}
  out: {type: s32, count: 64}
steps:
  - launch: {entry: $name, grid: [1], block: [8], args: [out, in, 13]}
END
done
for clang in clang-14 clang-15 clang-16 clang-19; do
    command -v $clang >/dev/null || continue
    for level in -O2 -O3; do
        (unset LW_RANDOM_DIVISOR && LW_VALUES_CLANG=$clang LW_VALUES_LEVEL=$level "$program" rounds.yaml sorted.yaml swapped.yaml exchanged.yaml passed.yaml swaps.yaml aliases.yaml lanes.yaml masked.yaml butterfly.yaml) >out 2>&1 ||
            fail "$clang $level: $(cat out)"
    done
done
[ $failures = 0 ] || random=1
[ $other = 0 ] && exit $random
exit $other
