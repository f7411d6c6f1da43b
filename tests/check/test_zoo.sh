#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Tests the kernels of tests/check/bug_corpus/ with memory faults, wrong arithmetic, hangs and performance bugs. Each kernel
# NAME_bad must have the finding that the comment above it names, at this line and lanes, and NAME_good must have none.
# Kernels are compiled with and without optimisation.
. "${srcdir:-.}/tests/lib/cli_lib.sh"
zoo=$src/tests/check/bug_corpus
pairs=0
any_lanes= # if not empty, lanes are not compared, because they depend on the warp width or on the order of warps

# usage: launch KERNEL... . Prints a launch file for kernels of object.lwo, with buffer a, or with one buffer for each kernel if
# there are several
launch() {
    many=$(($# > 1))
    printf 'machine: {hang_window: 20000}\nprogram: {source: object.lwo}\nbuffers:\n'
    for kernel; do
        [ $many = 0 ] && buffer=a || buffer=a_$kernel
        printf '  %s: {type: i32, count: 200, init: {constant: 0}}\n' "$buffer"
    done
    echo 'steps:'
    for kernel; do
        shared=0
        case $kernel in dynamic_*) shared=512 ;; esac
        [ $many = 0 ] && buffer=a || buffer=a_$kernel
        printf '  - launch: {entry: %s, grid: 2, block: 128, shared: %s, args: [%s, 200]}\n' "$kernel" $shared "$buffer"
    done
}

# usage: run KERNEL KINDS ARGUMENT... . Runs one launch and sets $got to the exit status
run() {
    launch "$1" >k.yaml
    kinds=$2
    shift 2
    "$lanewise" run -q --policy rr_quantum --check="$kinds" "$@" k.yaml >out 2>err </dev/null
    got=$?
}

# usage: goods KINDS ARGUMENT... . Expects that a run of all correct kernels has no finding. If there is one, runs each kernel
# alone to show which has findings
goods() {
    # shellcheck disable=SC2086
    launch $goods >k.yaml
    "$lanewise" run -q --policy rr_quantum --check="$@" k.yaml >out 2>err </dev/null && [ ! -s err ] && return
    before=$failures
    for name in $goods; do
        run "$name" "$@"
        [ $got = 0 ] && [ ! -s err ] || fail "$base $options $*: $name: exit status $got, and prints"
    done
    [ $failures != $before ] || fail "$base $options $*: the correct kernels have a finding only if they run one after the other"
}

# usage: verify SOURCE KINDS OPTIONS ARGUMENT... . OPTIONS are compiler options, ARGUMENTs those of lanewise run
verify() {
    source=$1
    kinds=$2
    options=$3
    shift 3
    base=${source##*/}
    : >err
    # shellcheck disable=SC2086
    "$lanewise" compile $options -o object.lwo "$source" 2>err || { fail "$base $options does not compile"; return; }
    # Prints the kernel and the pattern of each expected finding. Hexadecimal numbers have no leading zeros. The location of a
    # leak without a mark is in a header.
    awk -v base="$base" -v any_lanes="$any_lanes" '
        NR == FNR { for (i = 1; i < NF - 1; i++) if ($i == "/*" && $(i + 2) == "*/") line[$(i + 1)] = FNR; next }
        /find:/ { sub(".*find: ", ""); sub(" \\*/.*", ""); split($0, want, " ") }
        /void [a-z0-9_]*_bad/ {
            sub(".*void ", ""); sub("\\(.*", "")
            at = want[2] in line ? line[want[2]] : ""
            if (want[1] == "heap-leak") pattern = ":" (at == "" ? "[0-9]*" : at) ": heap-leak: "
            else pattern = base ":" at ": " want[1] ": "
            lanes = want[3]
            sub(/^0x0*/, "", lanes)
            if (want[1] == "heap-leak" && lanes == "") pattern = pattern ".*kernel " $0 ", "
            else if (lanes != "" && any_lanes == "") pattern = pattern ".*kernel " $0 ", .*lanes 0x0*" lanes ","
            print $0, pattern
        }' "$source" "$source" >wanted
    goods=
    : >found
    while read -r name pattern; do
        run "$name" "$kinds" "$@"
        printf '@@ %s %s\n' "$got" "$name" >>found
        while IFS= read -r said; do printf '%s\n' "$said"; done <err >>found
        goods="$goods ${name%_bad}_good"
        pairs=$((pairs + 1))
    done <wanted
    awk '
        NR == FNR { pattern[$1] = substr($0, length($1) + 2); next }
        function judge() { if (name != "" && (status == 0 || !found)) { print status, name; bad = 1 } }
        /^@@ / { judge(); status = $2; name = $3; found = 0; next }
        $0 ~ pattern[name] { found = 1 }
        END { judge(); exit bad }' wanted found >missed || while read -r got name; do
        run "$name" "$kinds" "$@"
        fail "$base $options $*: $name: exit status $got, no '$(sed -n "s/^$name //p" wanted)'"
    done <missed
    goods "$kinds" "$@"
}

for options in "-X -O3" "-X -O0 -X -g"; do
    verify "$zoo/memory.cl" memory,heap-leak "$options"
    verify "$zoo/memory.cu" memory,heap-leak,const-written "$options"
    verify "$zoo/variables.cl" memory "$options"
    verify "$zoo/variables.cu" memory "$options"
    verify "$zoo/arithmetic.cl" arithmetic "$options"
    verify "$zoo/arithmetic.cu" arithmetic "$options"
    verify "$zoo/progress.cu" progress,cross-lane-exited "$options"
    verify "$zoo/progress.cl" progress "$options"
    verify "$zoo/barriers.cu" default "$options"
    verify "$zoo/barriers.cl" default "$options"
done
# A finding about barriers names the line of the branch and the lanes that wait on each side. Report files contain the branch as
# a related location.
"$lanewise" compile -X -O3 -o object.lwo "$zoo/barriers.cu" 2>err || fail "barriers.cu does not compile"
branch() { grep -n "/\* branch of @$1 \*/" "$zoo/barriers.cu" | cut -d: -f1; }
line() { grep -n "/\* @$1 \*/" "$zoo/barriers.cu" | cut -d: -f1; }
run some_lanes_bad default --check-file branch.json --check-file branch.sarif
grep -q "barrier-divergence: 10 threads of the block wait at this barrier inside the branch in line $(branch 1), and 118 threads take the other side and end; .*other location at .*barriers.cu:$(branch 1); .*lanes 0xfffffc00" err ||
    fail "the message does not name the branch: $(cat err)"
grep -q "\"other\": .*\"line\": $(branch 1)," branch.json || fail "JSON does not contain the branch: $(cat branch.json)"
grep -q "\"relatedLocations\": .*\"startLine\": $(branch 1)}" branch.sarif ||
    fail "SARIF does not contain the branch: $(cat branch.sarif)"
grep -q '"id": "barrier-divergence"' branch.sarif || fail "SARIF does not contain the rule barrier-divergence"
run others_wait_later_bad default
grep -q "inside the branch in line $(branch 3), and 64 threads take the other side and wait at the barrier in line $(($(line 3) + 4));" err ||
    fail "the message does not say where the other lanes wait: $(cat err)"
[ "$(grep -c ': barrier-' err)" = 1 ] || fail "one branch is reported twice: $(cat err)"
# Other reconvergence engines and widths: on a SIMT stack the lanes of a warp that diverge at the branch hang. The branch is
# reported, too.
any_lanes=1
for engine in "--warp 4" "--warp 16" "--warp 64" "--reconv stack" "--tags compact" "--timing=volta"; do
    # shellcheck disable=SC2086
    verify "$zoo/barriers.cu" barrier-divergence "-X -O3" $engine
done
any_lanes=
# CUDA permits threads to exit before a barrier, which OpenCL C forbids. In CUDA this is reported only if the kind is selected
# by name.
cat >left.cu <<'END'
extern "C" __global__ void left(int *a, int n)
{
    if (threadIdx.x % 3 != 0) return;
    __syncthreads();
    a[threadIdx.x] = 1;
}
END
"$lanewise" compile -X -O0 -X -g -o object.lwo left.cu 2>err || fail "left.cu does not compile"
for kinds in progress default all,-performance barrier-exited; do
    run left "$kinds"
    case $kinds in progress | default) want=0 ;; *) want=1 ;; esac
    [ $got = $want ] || fail "left.cu --check=$kinds: exit status $got, expected $want: $(cat err)"
    [ $want = 0 ] || grep -q 'left.cu:4: barrier-exited: ' err || fail "left.cu --check=$kinds: not reported: $(cat err)"
done
# For optimised code (-O3), all report formats contain the inlined calls, innermost first.
at() { grep -n "/\* $1 \*/" "$zoo/memory.cl" | cut -d: -f1; }
"$lanewise" compile -X -O3 -o object.lwo "$zoo/memory.cl" 2>err || fail "memory.cl does not compile"
run helper_bad memory --check-file calls.json --check-file calls.sarif
inner=$(at "call of element")
outer=$(at "call of next_two")
grep -q "in element, inlined at .*memory.cl:$inner, in next_two, inlined at .*memory.cl:$outer; kernel helper_bad" err ||
    fail "the message does not name the inlined calls: $(cat err)"
grep -q "\"inlined\": \[{\"function\": \"element\", .*\"line\": $inner}, {\"function\": \"next_two\", .*\"line\": $outer}\]" calls.json ||
    fail "JSON does not contain the inlined calls: $(cat calls.json)"
grep -q "\"relatedLocations\": .*\"startLine\": $inner}}, \"message\": {\"text\": \"element is inlined at this line\"}}, .*\"startLine\": $outer}}" calls.sarif ||
    fail "SARIF does not contain the inlined calls: $(cat calls.sarif)"
# A suppression also matches the line of an inlined call. Its file and line must belong to the same location.
for known in "0 memory.cl, line: $inner" "0 memory.cl, line: $outer" "1 memory.cl, line: 1" "1 x.cl, line: $inner"; do
    echo "- {file: ${known#* }}" >known.yaml
    run helper_bad memory --check-suppress known.yaml
    [ $got = "${known%% *}" ] || fail "suppression of file ${known#* }: exit status $got, expected ${known%% *}"
done
# If a finding is in a system header, its first location is the call in the user's file.
cat >header.cl <<'END'
#line 7 "/usr/include/made-up.h"
static inline void put(global int *a) { *a = 1; }
#line 3 "user.cl"
kernel void wild_bad(global int *a, int n)
{
    put(a + 200 + get_global_id(0));
}
END
"$lanewise" compile -X -O3 -o object.lwo header.cl 2>err || fail "header.cl does not compile"
run wild_bad memory --check-file header.sarif
grep -q '"locations": \[{"physicalLocation": {"artifactLocation": {"uri": "user.cl", "uriBaseId": "%SRCROOT%"}, "region": {"startLine": 5}}}\]' header.sarif ||
    fail "the first location is not in the user's file: $(grep -h ocations header.sarif)"
grep -q '"relatedLocations": \[{"physicalLocation": {"artifactLocation": {"uri": "file:///usr/include/made-up.h"}, "region": {"startLine": 7}}, "message": {"text": "the line of the header that contains the access"}}' header.sarif ||
    fail "the header's line is not related: $(grep -h ocations header.sarif)"
# A finding in a function without line information is reported at the call.
cat >nodebug.cl <<'END'
static __attribute__((noinline, nodebug)) void put(global int *a) { *a = 1; }
kernel void once_bad(global int *a, int n)
{
    put(a + 200 + get_global_id(0));
}
kernel void twice_bad(global int *a, int n)
{
    put(a);
    put(a + 200 + get_global_id(0));
}
END
cat >>nodebug.cl <<'END'
static __attribute__((noinline)) void through(global int *a) { put(a); }
kernel void other_good(global int *a, int n) { through(a); } /* calls from this kernel do not affect the others */
END
"$lanewise" compile -X -O0 -X -g -o object.lwo nodebug.cl 2>err || fail "nodebug.cl does not compile"
run once_bad memory
grep -q '^[^ ]*nodebug.cl:4: out-of-bounds: .*; in put, called at [^ ]*nodebug.cl:4; kernel once_bad' err ||
    fail "the finding is not at the only call: $(cat err)"
run twice_bad memory
grep -q '^[^ ]*nodebug.cl:9: out-of-bounds: .*; in put, called at [^ ]*nodebug.cl:9; kernel twice_bad.* in put' err ||
    fail "the finding is not at the call that caused it: $(cat err)"
verify "$zoo/private.cl" memory "-X -O0 -X -g"
verify "$zoo/private.cu" memory "-X -O0 -X -g"
# Nightly tests also use other engines and widths. The warp that reaches a location first depends on the engine. Hangs are
# reported with a GPU model as without one, except for what the lanes wait for.
any_lanes=1
verify "$zoo/progress.cu" progress,cross-lane-exited "-X -O0 -X -g" --timing=volta
any_lanes=
run flag_nobody_sets_bad progress --timing=volta
grep -q 'spin.* until this value changes: a+' err || fail "the message does not name the value for which lanes wait: $(cat err)"
if [ "${LW_ZOO:-}" = all ]; then
    for engine in --timing=volta --timing=fermi "--tags compact" "--reconv stack" "--warp 16" "--warp 64"; do
        case $engine in --warp* | --timing*) any_lanes=1 ;; esac
        for options in "-X -O3" "-X -O0 -X -g"; do
            for suffix in cl cu; do
                # shellcheck disable=SC2086
                for class in memory variables arithmetic progress; do # the other classes have their own tests
                    # These kernels have other hang reports, or other lane masks.
                    case $class.$suffix:$engine in progress.*:--reconv* | progress.cu:--warp\ 16) continue ;; esac
                    case $class.$suffix in
                    variables.*) kinds=memory ;;
                    memory.cl) kinds=memory,heap-leak ;;
                    memory.cu) kinds=memory,heap-leak,const-written ;;
                    *) kinds=$class ;;
                    esac
                    verify "$zoo/$class.$suffix" "$kinds" "$options" $engine
                done
            done
        done
        any_lanes=
    done
fi
verify "$zoo/performance.cl" performance "-X -O3"
# If a line is inlined at several calls, a performance finding names the call that costs time. A finding in a function without
# line information is reported at its only call.
cat >calls.cl <<'END'
static void put(local int *s, int k) { s[k] = k; }
static __attribute__((noinline, nodebug)) void bare(local int *s, int k) { s[k] = k; }
kernel void inlined_bad(global int *a, int n)
{
    local int s[4096];
    int i = get_local_id(0);
    put(s, i);
    barrier(CLK_LOCAL_MEM_FENCE);
    put(s, i * 32);
    barrier(CLK_LOCAL_MEM_FENCE);
    a[i] = s[i];
}
kernel void called_bad(global int *a, int n)
{
    local int s[4096];
    int i = get_local_id(0);
    bare(s, i * 32);
    barrier(CLK_LOCAL_MEM_FENCE);
    a[i] = s[i];
}
END
"$lanewise" compile -X -O3 -o object.lwo calls.cl 2>err || fail "calls.cl does not compile"
run inlined_bad bank-conflict
grep -q '^[^ ]*calls.cl:1: bank-conflict: warps access shared memory 8 times here; an access takes 32.0 passes.* inlined at [^ ]*calls.cl:9; kernel' err &&
    [ "$(grep -c bank-conflict: err)" = 1 ] || fail "the message does not name the call that costs time: $(cat err)"
run called_bad bank-conflict --check-file called.xml
grep -q '^[^ ]*calls.cl:17: bank-conflict: warps access shared memory 8 times here; an access takes 32.0 passes.* in bare, called at' err ||
    fail "the finding in a function without line information is not at its call: $(cat err)"
grep -q 'name="bank-conflict in called_bad at [^ ]*calls.cl:17"' called.xml ||
    fail "JUnit does not name the call: $(cat called.xml)"
verify "$zoo/performance.cu" bank-conflict,uncoalesced "-X -O0 -X -g"
# ---- the wrong kernel that `explain` prints has a finding of the kind, and the correct kernel has none
explained=0
"$lanewise" explain >kinds
: >wrong.cl; : >wrong.cu
while read -r class kind _; do
    [ "$kind" != convergence-deadlock ] || continue # its kernels are in assembly, because compiled code never has this deadlock
    [ "$class" != api ] || continue                 # its examples are programs, which tests/runtime/test_api_checks.sh runs
    echo "@@ $class $kind"
    "$lanewise" explain "$kind"
done <kinds | awk '
    $1 == "@@" { class = $2; kind = $3; next }
    form != "" {
        name = form "-" kind
        gsub("-", "_", name)
        suffix = /__global__/ ? "cu" : "cl"
        sub("__global__", "extern \"C\" __global__")
        sub(/void k\(/, "void " name "(")
        print >>("wrong." suffix)
        print form, class, kind, name, suffix
        form = ""
        next
    }
    /^(wrong|right):/ { form = substr($0, 1, 5) }' >launches.txt
for suffix in cl cu; do
    "$lanewise" compile -X -O0 -X -g -o O0.$suffix.lwo wrong.$suffix 2>err || fail "explain's kernels do not compile: $(head -n 3 err)"
done
"$lanewise" compile -X -O3 -o O3.cl.lwo wrong.cl 2>err || fail "explain's kernels do not compile: $(head -n 3 err)"
while read -r form class kind name suffix; do
    level=O0 grid=1 init=', init: {constant: 0}' machine=
    case $class in performance) level=O3 ;; esac
    case $kind in
    out-of-bounds | atomic-scope) grid=2 ;;
    uninitialised-output) init= ;;
    simt-deadlock) machine='--reconv stack' ;;
    stale) grid=2 machine='--timing=fermi --timing-set l1.coherent=off' ;;
    esac
    printf '%s\n' 'machine: {hang_window: 20000}' "program: {source: $level.$suffix.lwo}" \
        "buffers: {a: {type: i32, count: 64$init}, b: {type: i32, count: 64}}" 'steps:' \
        "  - launch: {entry: $name, grid: $grid, block: 64, args: [a, 64]}" \
        '  - check: {buffer: a, constant: 0, tolerance: 1e30}' >k.yaml
    # shellcheck disable=SC2086
    "$lanewise" run -q --policy rr_quantum $machine --check="$kind" k.yaml >out 2>err </dev/null
    got=$?
    explained=$((explained + 1))
    case $form in
    wrong) [ $got != 0 ] && grep -q "$kind: " err ||
        fail "explain $kind: the wrong kernel does not have the finding: exit status $got" ;;
    right)
        [ $got = 0 ] && [ ! -s err ] || fail "explain $kind: the right kernel has exit status $got"
        # The correct kernel has no finding of any other kind. This is not tested for the classes races and performance: a
        # correct kernel of these may contain a permitted race, which other kinds report.
        # shellcheck disable=SC2086
        case $class in races | performance) ;; *) "$lanewise" run -q --policy rr_quantum $machine --check=all,-performance k.yaml >out 2>err </dev/null ||
            fail "explain $kind: the right kernel has another finding: $(cat err)" ;;
        esac
        ;;
    esac
done <launches.txt
[ $explained -ge 70 ] || fail "only $explained kernels of explain were run"
[ $pairs -ge 50 ] || fail "only $pairs pairs of kernels were run"
[ $failures = 0 ] || exit 1
echo "$pairs pairs"
