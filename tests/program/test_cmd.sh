#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Tests lanewise from the command line: exit statuses, messages, and the files that it writes. Most kernels are in assembly, which
# needs no compiler. LANEWISE names the program (default: ./lanewise).
. "${srcdir:-.}/tests/lib/cli_lib.sh"

cat >k.s <<'END'
.kernel add
.param ptr.global x
.param ptr.global y
.param u32 n
    v_s2r v0, %ctaid.x
    v_s2r v1, %ntid.x
    v_s2r v2, %tid.x
    v_mad_u32 v0, v0, v1, v2
    v_setp_u32.ge p0, v0, c[n]
    @p0 exit
    v_mulwide_u32 v4:5, v0, 4
    v_mov_b64 v6:7, c[x]
    v_add_u64 v6:7, v6:7, v4:5
    ld.global.b32 v2, [v6:7]
    v_add_u32 v2, v2, 1
    v_mov_b64 v6:7, c[y]
    v_add_u64 v6:7, v6:7, v4:5
    st.global.b32 [v6:7], v2
    exit
.end
.kernel stop
    trap 3
    exit
.end
.kernel forever
top:
    bra top
.end
END
# usage: launch FILE N WANT. Writes a launch file that adds N of 100 elements and expects the results WANT
launch() {
    cat >"$1" <<END
program: {source: k.s}
buffers:
  x: {type: u32, count: 100, init: {ramp: {start: 5}}}
  y: {type: u32, count: 100}
steps:
  - launch: {entry: add, grid: 4, block: 32, args: [x, y, $2]}
  - check: {buffer: y, values: [$3, 7, 8]}
  - check: {buffer: y, index: 99, constant: 105}
END
}
launch good.yaml 100 6
launch wrong.yaml 100 4
launch wild.yaml 101 6
cat >trap.yaml <<'END'
program: {source: k.s}
steps: [launch: {entry: stop, grid: 2, block: 40}]
END
cat >hang.yaml <<'END'
machine: {hang_window: 100000}
program: {source: k.s}
steps: [launch: {entry: forever, grid: 1, block: 32}]
END

# ---- exit statuses
expect 0 '^ok: 2 checks passed, 1 launch, [0-9]* thread instructions, [0-9.]* s$' run good.yaml
[ ! -s err ] || fail "a successful run writes to standard error"
expect 1 'wrong.yaml:7: check failed: y\[0\] is 6, expected 4; 1 of 3 elements differ' run wrong.yaml
grep -q '^failed: 1 of 2 checks failed' out || fail "the failed run has no summary"
expect 3 'out-of-bounds' run wild.yaml
for part in 'global load of 4 bytes at 0x2[0-9a-f]*' "0 bytes past the end of 'x'" 'kernel add' \
    'block (3,0,0)' 'warp 0' 'lanes 0x10,' 'pc 0x1000000[0-9a-f]* (.*k.s:14)'; do
    grep -q "$part" err || fail "the message of the fault lacks: $part"
done
cat >inlined.cl <<'END'
static void put(global int *to, int i)
{
    to[i] = i;
}
kernel void k(global int *to, int n)
{
    put(to, n);
}
END
expect 3 'out-of-bounds' run inlined.cl --grid 1 --block 1 --arg 'to=i32[4]' --arg n=100
grep -q 'pc 0x1000000[0-9a-f]* (.*inlined.cl:3 in put, inlined at .*inlined.cl:7)' err || fail "a fault in an inlined function does not name the call: $(cat err)"
expect 3 'trap' run trap.yaml
expect 4 '^hang: ' run hang.yaml
grep -q "warp 0 lanes 0-31.*k.s:[0-9]" err || fail "the hang report does not say which lanes are where"
expect 0 'hash_mem' run good.yaml --hash -q
[ "$(wc -l <out)" = 2 ] || fail "--hash -q prints more than two lines"
grep -Eq '^hash_mem [0-9a-f]{16}$' out || fail "there is no line hash_mem"
grep -Eq '^hash_state [0-9a-f]{16}$' out || fail "there is no line hash_state"
cp out first
expect 0 hash run good.yaml --hash --quiet
cmp -s out first || fail "two runs have different hashes"
for w in 4 8 16 64; do
    expect 0 "$(head -n 1 first)" run good.yaml --hash --warp $w --policy minpc
done
for t in compact shadow; do
    for r in table exact fold; do
        expect 0 "$(head -n 1 first)" run good.yaml --hash --tags $t --tag-rules $r --tag-expansion eager
        grep -q "$(tail -n 1 first)" out || fail "--tags $t changes hash_state"
    done
done
grep -q '^tags: instructions U [0-9.]*, A [0-9.]*, V [0-9.]* %; reads' out || fail "there is no line about tags"
expect 3 'out-of-bounds' run wild.yaml --hash
grep -q hash_ out && fail "a run that ended in a fault prints hashes"

# ---- files
expect 0 ok run good.yaml --dump y=y.bin --stats s.json -d x=x.bin
[ "$(od -An -tu4 -N8 y.bin | tr -s ' ')" = ' 6 7' ] || fail "the dump of y is not 6, 7, ..."
[ "$(wc -c <x.bin)" = 400 ] || fail "the dump of x does not have 400 bytes"
for key in '"status": "ok"' '"exit_status": 0' '"launches": 1' '"checks": 2' '"warp": 32' \
    '"launch_seconds": 0\.' '"thread_instructions": [1-9]'; do
    grep -q "$key" s.json || fail "the statistics lack $key"
done
expect 3 'out-of-bounds' run wild.yaml --stats s.json
grep -q '"status": "fault"' s.json || fail "the statistics do not contain the fault"
grep -q '"lanes": "0x10"' s.json || fail "the statistics do not contain the lanes"
sed 's/^program/machine: {tags: shadow, tag_rules: fold, tag_expansion: eager}\nprogram/' good.yaml >tags.yaml
expect 0 ok run tags.yaml --stats s.json
for key in '"tags": "shadow", "tag_rules": "fold", "tag_expansion": "eager"' '"mismatches": 0' \
    '"lane_operations_done": [1-9]'; do
    grep -q "$key" s.json || fail "the statistics lack $key"
done
sed 's/shadow/off/' tags.yaml >off.yaml
expect 0 ok run off.yaml
sed 's/shadow/shade/' tags.yaml >bad.yaml
refuse 'bad.yaml:1: tags: unknown name "shade"' run bad.yaml
expect 0 '"status": "ok"' run good.yaml --hash --stats -
grep -q '^ok: ' err || fail "with statistics on standard output, the summary is not on standard error"
grep -q '^hash_mem ' err || fail "with statistics on standard output, the hashes are not on standard error"
if command -v python3 >/dev/null; then
    python3 -c 'import json, sys; json.load(open("out")); json.load(open("s.json"))' ||
        fail "the statistics are not JSON"
fi
refuse 'there is no buffer "yy"; did you mean "y"?' run good.yaml --dump yy=none.bin
[ ! -e none.bin ] || fail "a refused dump left a file"
refuse 'expected BUFFER=FILE' run good.yaml --dump y
refuse 'no/such/y.bin: cannot be written' run good.yaml --dump y=no/such/y.bin
refuse 'no/such/s.json' run good.yaml -q --stats no/such/s.json
# The option is refused before the launch file runs. Otherwise the failed check would be reported, too.
refuse '--dump y: no/such/y.bin: cannot be written' run wrong.yaml --dump y=no/such/y.bin
refuse '--stats: no/such/s.json: cannot be written' run wrong.yaml --stats no/such/s.json
refuse '--log: no/such/log: cannot be written' run wrong.yaml --log no/such/log
refuse '--log: no/such/log: cannot be written' debug wrong.yaml --log no/such/log --batch -c continue
refuse 'irectory' run wrong.yaml --stats .
expect 0 '"status": "ok"' run good.yaml -q --stats /dev/stdout

# ---- usage
refuse 'there is no command "rum"; did you mean "run"?' rum
refuse 'there is no command "x"; "lanewise help" lists the commands' x
refuse 'there is no command "frobnicate"; "lanewise help" lists the commands' frobnicate
refuse 'expected a launch file or a kernel' run
refuse 'expected only one launch file' run good.yaml wrong.yaml
refuse 'unknown option "--stast"; did you mean "--stats"?' run good.yaml --stast x
refuse 'unknown option "-Z"' run -Z good.yaml
refuse 'option "--stats" needs an operand' run good.yaml --stats
refuse 'option "--hash" takes no operand' run good.yaml --hash=1
refuse '--warp: expected 4, 8, 16, 32 or 64, found "12"' run good.yaml --warp 12
refuse '--warp: expected an integer from 4 to 64, found "x"' run good.yaml --warp x
refuse 'did you mean "minpc_step"?' run good.yaml --policy minpc_stpe
refuse 'did you mean "shadow"?' run good.yaml --tags shadwo
refuse 'did you mean "exact"?' debug good.yaml --tag-rules exakt
refuse 'the names are lazy, eager' run good.yaml --tag-expansion 1
refuse 'the names are cbar, stack, frontier, multipath, early, likely, dualpath' run good.yaml --reconv banana
refuse '--tag-rules has no effect without tags' run good.yaml --tag-rules exact
refuse '--tag-rules has no effect without tags' debug good.yaml --tag-rules exact
refuse '--tag-expansion has no effect without tags' run good.yaml --tag-expansion lazy
refuse '--tag-plan has an effect only on compact tags' run good.yaml --tags shadow --tag-plan all
refuse 'the names are gain, all' run good.yaml --tags compact --tag-plan some
refuse '--push-order: the reconvergence engine cbar of this run has no push order' run good.yaml --push-order larger
refuse '--gdb-arch has no effect, as this run does not wait for gdb' run good.yaml --gdb-arch aarch64
refuse '--gdb-arch has no effect, as this run does not wait for gdb' debug good.yaml --gdb-arch aarch64
refuse '--gdb-file has no effect, as this run does not wait for gdb' run good.yaml --gdb-file x.lwo
refuse '--gdb-file has no effect, as this run does not wait for gdb' debug good.yaml --gdb-file x.lwo
refuse 'did you mean "smaller"' run good.yaml --push-order smalle
expect 0 ok run good.yaml --reconv stack --push-order larger
refuse '--threads: expected an integer of 1 or more' run good.yaml --threads 0
refuse '--threads: expected at most 1024' run good.yaml --threads 5000
expect 0 ok run good.yaml --threads 8
expect 0 'up to 1 host thread' run good.yaml --threads 1 -v
for pair in local=block jobs=threads kernel=entry warp-size=warp; do # option names of other programs
    refuse "unknown option \"--${pair%=*}\"; did you mean \"--${pair#*=}\"?" run good.yaml --${pair%=*} 64
done
refuse 'give options of the compiler after -X, as in -X -cl-std=CL2.0' run good.yaml -cl-std=CL2.0
refuse 'give options of the compiler after -X, as in -X -std=c++17' run good.yaml -std=c++17
[ ! -e 'td=c++17' ] || fail "-std=c++17 is parsed as option -s"
expect 0 'the schedule is logged: blocks run in the fixed order' run good.yaml --threads 2 --log x.log
refuse '--seed: expected an integer of 0 or more, found "x"' run good.yaml --seed=x
refuse '--seed: ' debug good.yaml --seed=-1
refuse "coverage and --gdb" run good.yaml --coverage x --gdb
refuse '--max-findings has no effect, as no checks are enabled' run good.yaml --max-findings 3
refuse 'did you mean "misaligned"' run good.yaml --check=misalined
refuse 'k.s has 3 kernels: choose one with --entry NAME: add, stop, forever' run k.s
refuse 'none.yaml: cannot be read: No such file' run none.yaml
expect 0 'exit status' help
grep -q '^  timing \[MACHINE|FILE|compare A.json B.json\]$' out && grep -q '^  run .*LAUNCH.yaml|KERNEL   *[a-z]' out && [ "$(grep -c '^  *list the GPU models of ' out)" = 1 ] ||
    { cases=$((cases + 1)); fail "help truncates a line"; }
expect 0 '--stats FILE' help run
expect 0 '--stats FILE' run --help
expect 0 '^lanewise [0-9]' version
expect 0 '^lanewise [0-9]' --version
expect 0 'v_add_u32' manual
expect 2 'usage' # without arguments the list of commands is printed, with exit status 2

# ---- input
sed 's/ramp/rmap/' good.yaml >bad.yaml
refuse 'bad.yaml:3: unknown key "rmap"; did you mean "ramp"?' run bad.yaml
sed 's/entry: add/entry: ad/' good.yaml >bad.yaml
refuse 'bad.yaml:6: entry: k.s has no kernel "ad"; did you mean "add"?' run bad.yaml
sed 's/k.s/none.s/' good.yaml >bad.yaml
refuse 'bad.yaml:1: none.s: cannot be read' run bad.yaml
sed 's/k.s/k.cu/' good.yaml >bad.yaml
refuse 'k.cu: No such file' run bad.yaml
sed 's/v_mad_u32/v_mda_u32/' k.s >bad.s
refuse 'bad.s:8: ' asm bad.s
[ ! -e bad.lwo ] || fail "a failed assembly left a file"
launch bad.yaml 99.5 6
refuse 'bad.yaml:6: argument 3 .n. (integer of 4 bytes) of kernel .add.: "99.5" is not an integer of 4 bytes$' run bad.yaml
printf '.func f\n    exit\n.end\n# loose:\n    v_mov_b32 v0, 1\n' >bad.s
refuse 'bad.s:5: code outside any function: write .kernel' asm bad.s
printf '    exit\n.func f\n    exit\n.end\n' >bad.s
refuse 'bad.s:1: code outside any function' asm bad.s
: >bad.s
refuse 'bad.s:1: the file is empty' asm bad.s
: >bad.ptx
refuse 'bad.ptx:1: the file is empty' compile bad.ptx
printf 'fr\033[31mob\n' >bad.s
refuse 'bad.s:1: fr\\x1b\[31mob: unknown instruction' asm bad.s
printf 'a: [1\n' >bad.yaml
refuse 'bad.yaml:2: ' run bad.yaml

# ---- objects
expect 0 '' asm k.s
[ -s k.lwo ] || fail "asm did not write k.lwo"
expect 0 '' asm k.s -o again.lwo
cmp -s k.lwo again.lwo || fail "asm is not reproducible"
expect 0 '\.kernel add' dis k.lwo
expect 0 '' dis k.lwo -o back.s
expect 0 '' asm back.s -o back.lwo
expect 0 '' dis back.lwo -o back2.s
cmp -s back.s back2.s || fail "after dis, asm and dis the text differs"
sed 's/k.s/k.lwo/' good.yaml >object.yaml
expect 0 "$(head -n 1 first)" run object.yaml --hash
# The assembler fills in the control fields of a function that has none. It does not change a function that has some control
# fields, nor the disassembly of an object.
printf '.kernel a\n  v_add_u32 v1, v1, v1\n  v_add_u32 v1, v1, v1\n  exit\n.end\n' >fields.s
expect 0 '{st=4}' dis fields.s
expect 0 '^fields.s: no instruction can issue before the values that it reads are ready$' dis --check-control fields.s
expect 0 '' asm --control keep fields.s -o kept.lwo
expect 1 '^fields.s:3: a+0x10: v_add_u32: the stall counts before this instruction are too short for v1$' dis --check-control kept.lwo
expect 0 'v_add_u32 v1, v1, v1 {}$' dis kept.lwo
cp out kept.s
for control in auto keep; do
    expect 0 '' asm --control=$control kept.s -o again.lwo
    cmp -s kept.lwo again.lwo || fail "asm --control $control changes the disassembly of an object"
done
refuse 'asm: --control: expected auto or keep, found "keeps"' asm --control keeps fields.s
for file in "$src"/kernels/*.s "$src"/tests/kernels/*.s; do
    if [ -f "$file" ] && ! grep -q '{' "$file"; then
        expect 0 'no instruction can issue before' dis --check-control "$file"
    fi
done
head -c 200 k.lwo >cut.lwo
refuse 'cut.lwo: the object is truncated: its header says [0-9]* bytes, but it has 200' dis cut.lwo
refuse 'expected a .s file' asm k.lwo
refuse 'expected obj, ptx, asm or cfg, found "oj"; did you mean "obj"?' compile k.s --emit oj
refuse 'needs a .cl, .cu, .spv or .ptx file' compile k.s --emit ptx
refuse 'expected .cl, .cu, .spv, .ptx, .s or .lwo' compile good.yaml
echo '__kernel void empty(void) {}' >k.cl
refuse '--compiler: no-such-clang: ' compile k.cl --clang no-such-clang
sed 's/k.s/k.cl/' good.yaml >cl.yaml
refuse '--compiler: no-such-clang: ' run cl.yaml --clang no-such-clang
refuse '--compiler: no-such-clang: ' debug cl.yaml --clang no-such-clang
expect 0 '\.kernel add' dis k.s
refuse 'no/such/k.lwo' asm k.s -o no/such/k.lwo

for c in run debug gdb; do refuse 'option "-DN=1" is for the compiler of .cl and .cu sources, but k.s is not compiled' $c good.yaml -D N=1; done
refuse '--define: too many options for the compiler: at most 256 are allowed' run good.yaml $(yes -- -DN | head -n 257)
refuse 'option "-X" needs an operand' run good.yaml -X

# ---- files of other tools are recognised by their contents
printf '\177ELF\002\001\001\063\007\0\0\0\0\0\0\0\002\0\276\0\001\0\0\0' >gpu.cubin
printf '\120\355\125\272\001\0\020\0\0\0\0\0\0\0\0\0\0\0\0\0' >gpu.fatbin
printf '\177ELF\002\001\001\0\0\0\0\0\0\0\0\0\001\0\076\0\001\0\0\0' >host.o
for c in run debug gdb compile template; do
    refuse 'gpu.cubin: this file is a cubin with machine code of an NVIDIA GPU, which Lanewise cannot run: give its .cu source or its PTX' $c gpu.cubin
    refuse 'gpu.fatbin: this file is a fatbin .*: give its .cu source' $c gpu.fatbin
    refuse 'host.o: this file is a host object file, .*: give its .cu source' $c host.o
    refuse ': this file is a program or library of the host' $c "$lanewise"
done
sed 's/k\.s/gpu.cubin/' good.yaml >cubin.yaml
refuse '^lanewise: cubin.yaml:1: gpu.cubin: this file is a cubin' run cubin.yaml
printf 'program: {source: k.s}\nsteps:\n\t- launch: {entry: stop, grid: 1, block: 1}\n' >tab.yaml
refuse '^lanewise: tab.yaml:3: a tab cannot be used for indentation in YAML: use blanks$' run tab.yaml

# ---- --scalar and --no-scalar: addresses are computed on the scalar unit or not, as the scalar registers in the object show
cp "$src/tests/ptx/data/gemm_clang19.ptx" gemm.ptx
cat >gemm.yaml <<'END'
program: {source: gemm.lwo}
buffers:
  a: {type: f32, count: 256, init: {ramp: {step: 0.5, modulo: 7}}}
  b: {type: f32, count: 256, init: {ramp: {start: -3, modulo: 11}}}
  c: {type: f32, count: 256}
steps: [launch: {entry: gemm, grid: [2, 2], block: [8, 8], args: [a, b, c, 16]}]
END
expect 0 '' compile gemm.ptx
expect 0 '^\.regs v=[0-9]* s=[1-9]' dis gemm.lwo
grep -q 'ld\.global\.b32 v[0-9]*, \[s0:1+v[0-9]*\.s\*4\]' out || fail "no load has a scalar base address"
expect 0 hash_mem run gemm.yaml --hash --quiet --dump c=scalar.bin
head -n 1 out >scalar
expect 0 '' compile gemm.ptx --no-scalar
expect 0 '^\.regs v=[0-9]* s=0 ' dis gemm.lwo
grep -Eq '(\[|[ ,])s[0-9]+(:|,|\+|$)' out && fail "the object uses scalar registers with --no-scalar"
expect 0 "$(cat scalar)" run gemm.yaml --hash --quiet --dump c=vector.bin
cmp -s scalar.bin vector.bin || fail "--no-scalar changes the result"
[ "$(tr -d '\0' <scalar.bin | wc -c)" -gt 256 ] || fail "the results of gemm are mostly zero"

# ---- options and messages of `lanewise debug`
expect 0 'add' debug good.yaml --batch -c 'break add' -c continue
expect 2 'frobnicate' debug good.yaml --batch -c frobnicate
expect 3 'out-of-bounds' debug wild.yaml --batch -c continue
expect 1 'check failed' debug wrong.yaml --batch -c continue
expect 7 '' debug good.yaml --batch -c 'quit 7'
refuse 'is not an address' run good.yaml --gdb=nowhere:x
refuse '99999x.*is not an address' run --gdb 99999x good.yaml
refuse '99999x.*is not an address' run good.yaml --gdb 99999x
refuse 'none.yaml: cannot be read' run --gdb none.yaml

# ---- demo.sh prints its purpose before it installs or builds anything
text=$("$src/demo.sh" --help) && [ "$(echo "$text" | head -n 1)" = 'Builds Lanewise, stops an OpenCL C kernel in stock gdb, runs the kernel to its end, and compares' ] &&
    [ "$(echo "$text" | tail -n 1)" = 'The build folder is build/. The exit status is 0 if the result is right.' ] ||
    { cases=$((cases + 1)); fail "demo.sh --help says: $text"; }
text=$("$src/demo.sh" --frobnicate 2>&1)
[ "$?: $text" = "2: demo.sh: unknown argument '--frobnicate'; see ./demo.sh --help" ] ||
    { cases=$((cases + 1)); fail "demo.sh --frobnicate says: $text"; }
grep -q '^echo "== build.*build/make.log' "$src/demo.sh" && tail -n 1 "$src/demo.sh" | grep -q 'Next: export PATH=.*, then docs/tutorial/' ||
    { cases=$((cases + 1)); fail "demo.sh does not name the log of its build, or the next step"; }
grep -q '^make -s -j "$(nproc)" >make.log' "$src/demo.sh" || # the tutorials also need the runtimes
    { cases=$((cases + 1)); fail "demo.sh does not build everything"; }

# ---- the manual page and the completion contain every option
for c in run debug compile asm dis; do
    for o in $("$lanewise" help $c | sed -n 's/^  [^-]*\(-., \)\{0,1\}--\([a-z-]*\).*/\2/p'); do
        [ "$o" = help ] && continue
        sed 's/\\-/-/g' "$src/docs/reference/lanewise.1" | grep -q -- "--$o" ||
            { cases=$((cases + 1)); fail "docs/reference/lanewise.1 does not contain option --$o of $c"; }
    done
done
# The manual page also contains every key of launch files and of suppression files.
sed -n '/^\.SH LAUNCH FILES/,/^\.SH EXIT/p' "$src/docs/reference/lanewise.1" | sed 's/\\-/-/g' >keys.man
cat "$src"/launch/*.c "$src/check/report/chk_suppress.c" | tr '\n' ' ' | grep -o 'known\[\] = {[^}]*}' | grep -o '"[a-z_]*"' | tr -d '"' | sort -u >keys
[ "$(wc -l <keys)" -ge 80 ] || { cases=$((cases + 1)); fail "the list of keys was not found"; }
while read -r key; do
    grep -qw -- "$key" keys.man || { cases=$((cases + 1)); fail "docs/reference/lanewise.1 does not contain the key $key"; }
done <keys
! command -v groff >/dev/null || [ -z "$(groff -man -ww -Tutf8 "$src/docs/reference/lanewise.1" 2>&1 >/dev/null)" ] ||
    { cases=$((cases + 1)); fail "groff warns about lanewise.1: $(groff -man -ww -Tutf8 "$src/docs/reference/lanewise.1" 2>&1 >/dev/null)"; }
twice=$(sed -n '/^    case \$prev in$/,/^    esac$/s/^    \(-[^)]*\)).*/\1/p' "$src/cmd/lanewise.bash" | tr -d ' ' | tr '|' '\n' | sort | uniq -d)
[ -z "$twice" ] || { cases=$((cases + 1)); fail "cmd/lanewise.bash contains the values of $twice twice"; }
if command -v bash >/dev/null; then
    reply=$(bash -c '. "$1/cmd/lanewise.bash"; COMP_WORDS=("$2" run --st) COMP_CWORD=2
        _lanewise; echo "${COMPREPLY[@]}"' - "$src" "$lanewise")
    [ "$reply" = --stats ] || fail "completion of --st gives '$reply'"
    # The completion of --reconv must have all engines that the help names.
    names=$("$lanewise" run --help | sed -n 's/^ *--reconv NAME *reconvergence engine: \(.*\)/\1/p' | sed 's/ or /, /; s/,//g')
    reply=$(bash -c '. "$1/cmd/lanewise.bash"; COMP_WORDS=("$2" run --reconv "") COMP_CWORD=3
        _lanewise; echo "${COMPREPLY[*]}"' bash "$src" "$lanewise")
    cases=$((cases + 1))
    [ -n "$names" ] && [ "$reply" = "$names" ] || fail "completion of --reconv: $reply, expected $names"
    reply=$(bash -c '. "$1/cmd/lanewise.bash"; COMP_WORDS=("$2" timing com) COMP_CWORD=2
        _lanewise; echo "${COMPREPLY[*]}"' bash "$src" "$lanewise")
    [ "$reply" = compare ] || { cases=$((cases + 1)); fail "completion of timing com is not compare: $reply"; }
    reply=$(bash -c '. "$1/cmd/lanewise.bash"; COMP_WORDS=("$2" ru) COMP_CWORD=1
        _lanewise; echo "${COMPREPLY[@]}"' - "$src" "$lanewise")
    [ "$reply" = run ] || fail "completion of ru gives '$reply'"
    reply=$(bash -c '. "$1/cmd/lanewise.bash"; COMP_WORDS=("$2" run --check = memory,-barrier-e) COMP_CWORD=4
        _lanewise; echo "${COMPREPLY[@]}"' - "$src" "$lanewise")
    [ "$reply" = memory,-barrier-exited ] || fail "completion of --check=memory,-barrier-e gives '$reply'"
    cp good.yaml racy.yaml
    cp good.yaml racy.yml
    mkdir racks
    for case in 'rac|race racks/ racy.yaml racy.yml' 'memory,unini|memory,uninitialised memory,uninitialised-address' 'def|default' '--check-su|--check-suppress'; do
        reply=$(bash -c '. "$1/cmd/lanewise.bash"; COMP_WORDS=("$2" run --check "$3") COMP_CWORD=3
            _lanewise; printf "%s\n" "${COMPREPLY[@]}"' - "$src" "$lanewise" "${case%%|*}")
        for word in ${case#*|}; do
            echo "$reply" | grep -qx -- "$word" || fail "completion of --check ${case%%|*} lacks $word: $reply"
        done
    done
    reply=$(bash -c '. "$1/cmd/lanewise.bash"; COMP_WORDS=("$2" run racy) COMP_CWORD=2
        _lanewise; printf "%s\n" "${COMPREPLY[@]}" | LC_ALL=C sort | paste -sd " " -' - "$src" "$lanewise")
    [ "$reply" = 'racy.yaml racy.yml' ] || fail "completion of run racy gives '$reply'"
    cat >flow.yaml <<'END'
program: {source: k.s}
buffers: {input: {type: u32, count: 4}, output: {type: u32, init: {values: [1]},
    count: 1}, index: {type: u8, count: 1}}
steps: [fill: {buffer: input, value: 0}]
END
    for case in 'good.yaml: x= y=' 'flow.yaml:in input= index=' 'flow.yaml: input= output= index=' 'gemm.yaml: a= b= c='; do
        reply=$(bash -c '. "$1/cmd/lanewise.bash"; COMP_WORDS=("$2" run "$3" --dump "$4") COMP_CWORD=4
            _lanewise; echo "${COMPREPLY[@]}"' - "$src" "$lanewise" "${case%%:*}" "$(echo "${case#*:}" | cut -d ' ' -f 1)")
        [ "$reply" = "${case#* }" ] || fail "completion of --dump with $case gives '$reply'"
    done
    reply=$(bash -c '. "$1/cmd/lanewise.bash"; COMP_WORDS=("$2" run good.yaml --dump x = k.lw) COMP_CWORD=6
        _lanewise; echo "${COMPREPLY[@]}"' - "$src" "$lanewise")
    [ "$reply" = k.lwo ] || fail "completion of --dump x=k.lw gives '$reply'"
    reply=$(bash -c '. "$1/cmd/lanewise.bash"; COMP_WORDS=("$2" explain variable) COMP_CWORD=2
        _lanewise; echo "${COMPREPLY[@]}"' - "$src" "$lanewise")
    [ "$reply" = variable-bounds ] || fail "completion of explain variable gives '$reply'"
fi

# --seed N gives the same data as a launch file whose seeds are higher by N, in buffers and in steps.
printf '.kernel none\n exit\n.end\n' >none.s
random() { # usage: random SEED OTHER. Prints a launch file with these seeds, in a buffer and in a step
    printf 'program: {source: none.s}\nbuffers: {a: {type: f32, count: 9, init: {random: %s}}, b: {type: s32, count: 9}}\nsteps:\n' "$1"
    printf '%s\n' '  - launch: {entry: none, grid: 1, block: 1, args: []}' "  - fill: {buffer: b, value: {random: {seed: $2, low: 0, high: 99}}}"
}
random 5 6 >five.yaml
random 7 8 >seven.yaml
expect 0 ok run five.yaml --dump a=five.a --dump b=five.b
expect 0 ok run five.yaml --seed 2 --dump a=plus.a --dump b=plus.b
expect 0 ok run seven.yaml --dump a=seven.a --dump b=seven.b
cmp -s plus.a seven.a && cmp -s plus.b seven.b && ! cmp -s plus.a five.a && ! cmp -s plus.b five.b ||
    fail "--seed 2 does not raise the seeds by two"

# A check step accepts a file that --dump wrote, as text or as bytes.
for name in a.txt a.bin a.raw a; do
    expect 0 ok run five.yaml --dump a=dumped.$name
    { sed '$d' five.yaml; echo "  - check: {buffer: a, file: dumped.$name}"; } >reads.yaml
    expect 0 'ok: 1 check passed' run reads.yaml
done
[ "$(wc -l <dumped.a.txt)" = 9 ] && cmp -s dumped.a dumped.a.txt && [ "$(wc -c <dumped.a.bin)" = 36 ] && cmp -s dumped.a.bin dumped.a.raw ||
    fail "--dump writes another format than the suffix of the file says"

# If the address space is limited, the machine reserves less memory, unless the user sets the size. Results are the same.
if ! nm "$lanewise" 2>/dev/null | grep -q '__asan_init'; then # the address sanitizer needs terabytes of address space
    printf '.kernel k\n.param ptr.global a\n v_s2r v0, %%tid.x\n s_mov_b64 s0:1, c[0][0x0]\n st.global.b32 [s0:1+v0*4], v0\n exit\n.end\n' >small.s
    printf 'program: {source: small.s}\nbuffers: {a: {type: u32, count: 32}}\nsteps: [{launch: {entry: k, grid: 1, block: 32, args: [a]}}]\n' >small.yaml
    sed '1a machine: {memory: 8589934592}' small.yaml >named.yaml
    "$lanewise" run --hash small.yaml >all 2>&1 || fail "small.yaml does not run: $(cat all)"
    (ulimit -v 4000000 && "$lanewise" run --hash small.yaml) >less 2>&1 ||
        fail "the run fails with 4 GB of address space: $(cat less)"
    (ulimit -v 4000000 && "$lanewise" run -q --stats - small.yaml) | grep -q '"memory": 2147483648}' &&
        "$lanewise" run -q --stats - small.yaml | grep -q '"memory": 68719476736}' ||
            fail "the statistics do not contain the size of memory"
    [ "$(grep hash all)" = "$(grep hash less)" ] || fail "results differ with limited memory: $(cat less)"
    (ulimit -v 4000000 && "$lanewise" run named.yaml) >out 2>&1
    [ $? = 2 ] && grep -q 'cannot reserve 8192 MiB .*ulimit -v.*set a smaller size' out ||
        fail "8 GiB of memory with 4 GB of address space are not refused: $(cat out)"
fi

# With a dump to standard output, only the bytes of the buffer are written there.
cat >out.cl <<'END'
kernel void k(global uint *a) { a[get_global_id(0)] = get_global_id(0) + 0x01020300u; printf("text\n"); }
END
cat >out.yaml <<'END'
program: {source: out.cl}
buffers: {a: {type: u32, count: 64}}
steps:
  - launch: {entry: k, grid: 2, block: 32, args: [a]}
END
if command -v clang-19 >/dev/null || command -v clang-14 >/dev/null; then
    expect 0 '' run --dump a=a.bin out.yaml
    expect 0 '^ok: ' run --dump a=- --hash out.yaml
    cmp -s out a.bin || fail "the dump on standard output differs from the dump in a file"
    grep -q '^hash_mem' err && grep -q '^text' err || fail "text is not on standard error"
    (echo first; "$lanewise" run -q -d a=- out.yaml) >both 2>err
    [ "$(wc -c <both)" = 262 ] || fail "a dump truncates the file to which standard output is redirected"
    refuse '--stats and --dump both write to standard output' run --dump a=- --stats - out.yaml
    expect 2 '--dump a=- and --gdb' run --dump a=- --gdb out.yaml
    # if a grid is too large, the message names the value and the limit
    sed 's/grid: 2/grid: 4000000000/' out.yaml >grid.yaml
    refuse 'grid.yaml:4: grid: expected an integer from 1 to 2147483647, found "4000000000"' run grid.yaml
    sed 's/grid: 2/grid: [2000000, 2000000]/' out.yaml >grid.yaml
    refuse 'grid.yaml:4: kernel k: the grid has 2000000 x 2000000 x 1 blocks: at most 2^40 in total are allowed' run grid.yaml
    sed 's/grid: 2/grid: [2147483647, 2147483647, 2147483647]/' out.yaml >grid.yaml
    refuse 'grid.yaml:4: kernel k: the grid has 2147483647 x .* at most 2^40 in total' run grid.yaml
    sed 's/grid: 2/global: 256000000000/' out.yaml >grid.yaml
    refuse 'grid.yaml:4: global: 256000000000 threads are 8000000000 blocks of 32 threads: at most 2147483647' run grid.yaml
    sed 's/grid: 2/global: [64000000000]/' out.yaml >grid.yaml
    expect 3 'block (2,0,0)' run --max-instructions 10000 grid.yaml
    sed 's/grid: 2/grid: [1, 70000]/' out.yaml >grid.yaml
    expect 0 'results were not checked (no "check" step)' run grid.yaml
fi

# On a terminal, a slow run shows small counts exactly, not as 0 M.
cat >slow.s <<'END'
.kernel slow
loop:
    bra loop
.end
END
cases=$((cases + 1))
python3 -c 'import pty, sys; sys.exit(pty.spawn(sys.argv[1:]) >> 8)' "$lanewise" run slow.s --grid 1 --block 1 --timing volta \
    --timing-reference --timeout 1.5 >out 2>err </dev/null
tr '\r' '\n' <out | grep -aq ' % .* [0-9]\{1,6\} thread instructions  [0-9.]* s  [0-9]\{1,6\} cycles' || fail "the progress line has no small counts"
grep -aq ' 0 M ' out && fail "the progress line has 0 M"

echo "$cases cases, $failures failures"
[ $failures = 0 ]
