#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Tests that SPIR-V modules give the same results as the OpenCL C from which clang-15 and llvm-spirv-15 make them: the sample
# kernels, and kernels with what differs between LLVM IR for SPIR and for PTX. Also tests a module that was written by hand, damaged
# modules, the cache, debug information, and what is reported if a program is missing.
set -u
src=$(cd "${srcdir:-.}" && pwd)
lanewise=${LANEWISE:-$(pwd)/lanewise}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failures=0
compared=0
export LANEWISE_CACHE=off

fail() {
    echo "FAIL: $*"
    failures=$((failures + 1))
}

# usage: refuse MESSAGE COMMAND... . Runs `lanewise COMMAND...`, and expects status 2 and one line with the message
refuse() {
    message=$1
    shift
    timeout 120 "$lanewise" "$@" >out 2>&1
    got=$?
    [ $got = 2 ] && [ "$(wc -l <out)" = 1 ] && grep -q -- "$message" out || {
        fail "$*: exit status $got, expected 2 and '$message'"
        head -n 3 out
    }
}

for tool in clang-15 llvm-spirv-15 spirv-as; do
    command -v $tool >/dev/null || { echo "skipped: $tool is not installed"; exit 77; }
done
clangs=
for clang in clang-19 clang-16 clang-15; do
    command -v $clang >/dev/null && clangs="$clangs $clang"
done
newest=${clangs# }
newest=${newest%% *}

# usage: offline SOURCE MODULE OPTIONS... . Makes a module of a source
offline() {
    source=$1
    module=$2
    shift 2
    clang-15 -target spir64 "$@" -c -emit-llvm -o module.bc "$source" 2>offline && llvm-spirv-15 module.bc -o "$module" 2>offline
}

sh "$src/kernels/prepare" "$work/k" || exit 1
cd "$work/k" || exit 1
plain='-O0 -Xclang -disable-O0-optnone'

# The sample kernels, with and without optimisation by the offline compiler. The kernel of enqueue.cl launches kernels.
for launch in *.yaml; do
    source=$(sed -n 's/.*source: *\([a-z_]*\.cl\).*/\1/p' "$launch" | head -n 1)
    [ -n "$source" ] && [ "$source" != enqueue.cl ] || continue
    options=$(sed -n 's/.*options: *\[\(.*\)\].*/\1/p' "$launch" | tr -d '",')
    module=${source%.cl}.spv
    # shellcheck disable=SC2086
    offline "$source" "$module" -cl-std=CL2.0 $options $plain || { fail "$launch: no module: $(head -n 1 offline)"; continue; }
    sed "s/$source/$module/; s/options: *\[[^]]*\]/options: []/" "$launch" >other.yml
    "$lanewise" run --hash --compiler "$newest" "$launch" >expected 2>&1
    "$lanewise" run --hash --compiler "$newest" other.yml >got 2>&1
    for what in hash_mem ok:; do
        grep "^$what" expected | sed 's/, [0-9.]* [M]* *thread.*//; s/, [0-9]* thread.*//' >a
        grep "^$what" got | sed 's/, [0-9.]* [M]* *thread.*//; s/, [0-9]* thread.*//' >b
        [ -s a ] && cmp -s a b || { fail "$launch: $what differs"; tail -n 3 got; }
    done
    compared=$((compared + 1))
done

# The module of a kernel that launches kernels is refused.
# shellcheck disable=SC2086
offline enqueue.cl enqueue.spv -cl-std=CL2.0 $plain || fail 'enqueue.cl: no module'
refuse 'enqueue.spv: the SPIR-V module needs the capability DeviceEnqueue, which is not supported$' compile enqueue.spv

# Kernels with what differs between LLVM IR for SPIR and for PTX, for each clang, and for an offline compiler that optimises.
cp "$src"/tests/ptx/spirv/* .
cat >pieces.yaml <<'EOF'
program: {source: pieces.cl, options: [-cl-std=CL3.0]}
buffers:
  x: {type: f32, count: 128, init: {ramp: {start: -7, step: 0.3}}}
  out: {type: s32, count: 128, init: 0}
  weights: {type: s32, count: 4, init: {values: [1, 20, 300, 4000]}}
  sum: {type: s32, count: 1, init: 0}
  to: {type: f32, count: 32, init: 0}
steps:
  - launch: {entry: pieces, grid: [2], block: [64], args: [x, out, weights, {local: 1024}, {struct: [{s32: 1}, {f32: [1, 2.5, 0]}]}, sum]}
  - launch: {entry: caller, grid: [2], block: [64], args: [out]}
  - launch: {entry: copies, grid: [1], block: [32], args: [x, to, {local: 128}]}
EOF
for clang in $clangs; do
    "$lanewise" run --hash --compiler "$clang" pieces.yaml >out 2>&1 || { fail "pieces.cl with $clang"; head -n 5 out; }
    grep -v hash_state out | sed 's/, [0-9]* thread.*//' >expected
    for level in "$plain" -O1; do
        # shellcheck disable=SC2086
        offline pieces.cl pieces.spv -cl-std=CL3.0 $level || fail "pieces.cl with $level: $(head -n 1 offline)"
        sed 's/pieces.cl.*/pieces.spv}/' pieces.yaml >other.yml
        "$lanewise" run --hash --compiler "$clang" other.yml 2>&1 | grep -v hash_state | sed 's/, [0-9]* thread.*//' >got
        cmp -s expected got || { fail "pieces.spv with $clang and $level"; diff expected got | head -n 6; }
        compared=$((compared + 1))
    done
done

# A module that was written by hand, in both orders of bytes
cat >written.yaml <<'EOF'
program: {source: written.spv}
buffers:
  out: {type: u32, count: 64, init: 0}
steps:
  - launch: {entry: add, grid: [2], block: [32], args: [out]}
  - check: {buffer: out, values: [120, 121, 122, 123, 124, 125, 126, 127, 128, 129, 130, 131, 132, 133, 134, 135, 136, 137, 138, 139, 140, 141, 142, 143, 144, 145, 146, 147, 148, 149, 150, 151, 152, 153, 154, 155, 156, 157, 158, 159, 160, 161, 162, 163, 164, 165, 166, 167, 168, 169, 170, 171, 172, 173, 174, 175, 176, 177, 178, 179, 180, 181, 182, 183]}
EOF
spirv-as --target-env spv1.0 written.spvasm -o written.spv || fail 'written.spvasm'
cp written.spv kept.spv
"$lanewise" run written.yaml >out 2>&1 || { fail 'written.spv'; head -n 3 out; }
# shellcheck disable=SC2059
od -An -v -t o1 -w4 kept.spv | while read -r a b c d; do printf "\\$d\\$c\\$b\\$a"; done >written.spv
"$lanewise" run written.yaml >out 2>&1 || { fail 'written.spv, big-endian'; head -n 3 out; }
sed 's/block: \[32\]/block: [16]/' written.yaml >other.yml
"$lanewise" run other.yml >out 2>&1 && fail 'a launch with another size of work-groups succeeded'

# Damaged modules, other addressing models, and other files
head -c 400 kept.spv >cut.spv
refuse 'cut.spv: the SPIR-V module is damaged: the instruction at word' compile cut.spv
head -c 398 kept.spv >odd.spv
refuse 'odd.spv: this is not a SPIR-V module$' compile odd.spv
echo 'kernel void k(void) {}' >text.spv
refuse 'text.spv: this is not a SPIR-V module$' compile text.spv
: >empty.spv
refuse 'empty.spv: this is not a SPIR-V module$' compile empty.spv
sed 's/Physical64/Physical32/' written.spvasm >other.spvasm
spirv-as --target-env spv1.0 other.spvasm -o narrow.spv || fail 'other.spvasm'
refuse 'narrow.spv: the addressing model of the SPIR-V module is not Physical64' compile narrow.spv
sed 's/OpLoad %uint %pointer/OpLoad %uint %number/' written.spvasm >other.spvasm
spirv-as --target-env spv1.0 other.spvasm -o wrong.spv || fail 'other.spvasm'
refuse 'wrong.spv: ' compile wrong.spv
for at in 60 100 200 300 500; do
    { head -c $at kept.spv; printf '\377\001'; tail -c +$((at + 3)) kept.spv; } >wrong.spv
    timeout 120 "$lanewise" compile wrong.spv -o wrong.lwo >out 2>&1
    [ $? -le 2 ] || fail "a module with a wrong word at $at"
done

# The cache: the second compilation does not run the translator
cat >counting <<EOF
#!/bin/sh
echo run >>"$work/runs"
exec llvm-spirv-15 "\$@"
EOF
chmod +x counting
cp kept.spv written.spv
for i in 1 2; do
    LANEWISE_CACHE=on XDG_CACHE_HOME=$work/cache LANEWISE_LLVM_SPIRV=./counting "$lanewise" run written.yaml >out 2>&1 ||
        { fail "run $i with a cache"; head -n 3 out; }
done
[ "$(wc -l <"$work/runs")" = 1 ] || fail "the translator ran $(wc -l <"$work/runs") times"

# Lines and variables
if command -v gdb >/dev/null; then
    cat >lines.cl <<'EOF'
kernel void lines(global int *out, int n)
{
    int square = n * n;
    local int shared;

    shared = square + 1;
    out[get_global_id(0)] = shared;
}
EOF
    # shellcheck disable=SC2086
    offline lines.cl lines.spv -cl-std=CL2.0 -g $plain || fail 'lines.cl'
    printf 'program: {source: lines.spv}\nbuffers: {out: {type: s32, count: 4}}\nsteps:\n- launch: {entry: lines, grid: 1, block: 4, args: [out, 7]}\n' >lines.yaml
    timeout 120 "$lanewise" gdb -g lines.yaml -- -batch -ex 'break 7' -ex continue -ex 'info locals' -ex 'info args' >out 2>&1
    for line in 'lines.cl:7' 'shared = 50' 'square = 49' 'n = 7'; do
        grep -q "$line" out || { fail "gdb does not show '$line'"; tail -n 8 out; }
    done
fi

# Programs that are missing
LANEWISE_LLVM_SPIRV=/no/llvm-spirv refuse 'LANEWISE_LLVM_SPIRV: /no/llvm-spirv: the program was not found$' compile written.spv
if command -v clang-14 >/dev/null; then
    refuse 'SPIR-V needs clang 15 or later, and .*clang-14 is clang 14$' compile --compiler clang-14 written.spv
fi
mkdir only
ln -s "$(command -v "$newest")" only/
PATH=$work/k/only "$lanewise" compile written.spv >out 2>&1
grep -q 'SPIR-V needs the program llvm-spirv (Debian package llvm-spirv-15), which was not found' out || fail "without llvm-spirv: $(head -n 2 out)"

[ $compared -ge 18 ] || fail "only $compared comparisons"
printf '%d comparisons, %d failures\n' "$compared" "$failures"
[ "$failures" = 0 ]
