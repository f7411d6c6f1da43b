#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Tests `lanewise run --host-code`: the listing has source lines, instructions and their host code, for code of whole warps and masked
# code; the results are the same as without a listing; and --host-profile adds the counts of a profile.
. "${srcdir:-.}/tests/lib/cli_lib.sh"
. "$src/tests/native/native_lib.sh"
work_kernel >kernel.s
cat >k.yaml <<'END2'
program: {source: kernel.s}
buffers:
  out: {type: u32, count: 4096}
steps:
  - launch: {entry: work, grid: [40], block: [128], args: [out, 3]}
END2
"$lanewise" run --hash -q --engine interpreter --profile profile.txt k.yaml >one 2>&1 || fail "the run in the interpreter"
expect 0 '' run --hash -q --threads 1 --host-code code.txt k.yaml
cmp -s one out || fail "--host-code changes the result"
grep -q '^kernel work, block 128 x 1 x 1, warps of 32 lanes: code for whole warps$' code.txt || fail "no code for whole warps"

# Each instruction of the arithmetic loop has host code, and each source line precedes its instructions.
for text in 'v_mad_u32 v1, v1, 3, v6' 'v_add_u32 v6, v6, 1' 'v_setp_u32.lt p2, v6, 25' 'v_rem_u32 v3, v0, 7' 'red.global.add.u32'; do
    grep -F -q "$text" code.txt || fail "the listing has no instruction $text"
    awk -v text="$text" 'index($0, "+0x") == 1 && index($0, text) { split($0, part, " [|] "); if (part[2] ~ /^[a-z]/) found = 1 }
        END { exit !found }' code.txt || awk -v text="$text" 'before && /^ *[|] [a-z]/ { found = 1 }
        { before = index($0, "+0x") == 1 && index($0, text) } END { exit !found }' code.txt || fail "no host code for $text"
done
line=$(grep -n -F 'v_mad_u32 v1, v1, 3, v6' kernel.s | cut -d: -f1)
grep -E -q "kernel\.s:$line: +v_mad_u32 v1, v1, 3, v6\$" code.txt || fail "source line $line is not in the listing"

# The host executes what the listing has: without the multiplication in the source the listing has fewer host instructions.
host_lines() { grep -c '[|] [a-z]' "$1"; }
sed 's/v_mad_u32 v1, v1, 3, v6/v_add_u32 v1, v1, v6/' kernel.s >other.s
sed 's/kernel\.s/other.s/' k.yaml >other.yaml
expect 0 '' run -q --threads 1 --host-code - other.yaml
grep -q 'v_mad_u32 v1, v1, 3, v6' out && fail "the listing has an instruction of another kernel"
[ "$(host_lines out)" -lt "$(host_lines code.txt)" ] || fail "a simpler kernel has as much host code"

# Counts: those of the profile, which the interpreter has counted.
expect 0 '' run -q --threads 1 --host-code counted.txt --host-profile profile.txt k.yaml
count=$(grep -F 'v_mad_u32 v1, v1, 3, v6' profile.txt | awk '{ print $1; exit }')
[ "$count" = 12000 ] || fail "the profile has $count instructions, not 40 blocks x 4 warps x 3 rounds x 25 turns"
grep -E -q "kernel\.s:$line: \[$count warp instructions\]" counted.txt || fail "the listing does not have the count $count"

# Blocks that are not whole warps run masked code.
sed 's/block: \[128\]/block: [100]/' k.yaml >part.yaml
expect 0 '' run -q --threads 1 --host-code part.txt part.yaml
grep -q 'block 100 x 1 x 1, warps of 32 lanes: code for some lanes of a warp$' part.txt || fail "no masked code"

refuse 'host-code lists native code, and --engine interpreter uses none' run --engine interpreter --host-code - k.yaml
refuse 'host-profile adds counts to the listing of --host-code' run --host-profile profile.txt k.yaml
refuse 'none.txt: cannot be read' run --host-code - --host-profile none.txt k.yaml
refuse 'the output would overwrite the launch file' run --host-code k.yaml k.yaml
refuse 'none/code.txt: ' run --host-code none/code.txt k.yaml
[ $failures = 0 ]
