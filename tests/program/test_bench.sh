#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Tests bench/run with small sizes. It must run all eight cases, alternate between lanewise and the reference, and report wrong
# results of both. The reference of this test is a script that prints what bench/reference.c would print. If there is an OpenCL
# device, the test also runs bench/reference.c.
. "${srcdir:-.}/tests/lib/cli_lib.sh"
export LANEWISE="$lanewise"
all='vecadd gemm gemm_tiled reduce mandel nbody bfs hist'

bench() { # usage: bench STATUS ARGUMENT... . Runs bench/run and expects its exit status
    want=$1
    shift
    cases=$((cases + 1))
    timeout 300 "$src/bench/run" --small "$@" >out 2>err
    got=$?
    [ $got = "$want" ] || fail "bench/run --small $*: exit status $got, expected $want"
}

# Without a reference all eight cases run, and their lines have no ratio.
bench 0 --repeats 1 --no-reference --json alone.json
[ "$(awk '$7 == "-" { printf "%s ", $1 }' out)" = "$all " ] || fail "without a reference a case is missing or has a ratio"
[ ! -s err ] || fail "a result of lanewise is reported as wrong"
! command -v python3 >/dev/null || python3 -c 'import json; d = json.load(open("alone.json")); assert len(d["cases"]) == 8 and d["cases"][0]["ratio"] is None' ||
    fail "alone.json is not JSON with 8 cases without ratios"

# If the kernels of all cases are wrong, each wrong result must be reported.
mkdir wrong
cp "$src"/bench/run "$src"/bench/*.yaml "$src"/bench/*.c "$src"/bench/*.h "$src"/bench/*.sh wrong
sed 's/c\[i\] = a\[i\] + b\[i\]/c[i] = i == n - 1 ? 0 : a[i] + b[i]/; s/= sum;/= row == 7 \&\& column == 7 ? sum + 0.25f : sum;/
    s/= share\[0\]/= share[0] + (get_group_id(0) == 3)/; s/= k;$/= k + (y == 5);/; s/(ax, ay, az, 0)/(ax, i == 9 ? -ay : ay, az, 0)/
    s/level\[w\] = current + 1/level[w] = w == 600 ? current + 2 : current + 1/; s/atomic_inc(&mine\[data\[i\] & 255\])/atomic_inc(\&mine[data[i] \& 254])/' "$src/bench/bench.cl" >wrong/bench.cl
# Removes the check steps, which would find five of these errors earlier.
sed -i '/- check:/d' wrong/*.yaml
cases=$((cases + 1))
wrong/run --small --repeats 1 --no-reference >out 2>err
[ $? = 1 ] || fail "wrong results of lanewise: the exit status is not 1"
[ ! -s out ] || fail "figures are printed for wrong results of lanewise"
[ "$(sed -n 's/^bench.run: \([a-z_]*\): the result of ours is wrong: element .* is .*, expected .*; [0-9]* of [0-9]* differ$/\1/p' err | tr '\n' ' ')" = "$all " ] ||
    fail "not every wrong result of lanewise is reported: $(cat err)"

# Writes a reference that takes 1, 3 and 2 seconds. Its results are those of lanewise, except for the case $WRONG.
cat >reference <<'END'
#!/bin/sh
while read -r line; do
    echo "$line" >>"$LOG"
    set -- $line "$2"
    case $1 in
    case) name=$2 n=0; echo ready ;;
    run) n=$((n + 1)); case $n in 1) echo 1.0 ;; 2) echo 3.0 ;; *) echo 2.0 ;; esac ;;
    result)
        case $name in vecadd) b=c ;; gemm) b=c ;; gemm_tiled) b=c ;; reduce) b=out ;; mandel) b=steps ;; nbody) b=acceleration ;; bfs) b=level ;; hist) b=bins ;; esac
        "$LANEWISE" run -q "${2%/*}/$name.yaml" --dump "$b=$2" >/dev/null || exit 1
        [ "$name" != "${WRONG:-}" ] || printf '\001\002\003\004' | dd of="$2" bs=4 seek=17 conv=notrunc 2>/dev/null
        if [ "$name" = "${LEAVE:-}" ]; then echo "it has left" >&2; exit 1; fi
        echo written ;;
    esac
done
END
chmod +x reference
export BENCH_REFERENCE="$work/reference" LOG="$work/log"
bench 0 --repeats 1
[ "$(grep -c '^result' log)" = 8 ] && [ "$(awk '$7 > 1' out | wc -l)" = 8 ] || fail "the reference did not run every case"
: >log
bench 0 --repeats 3 --json r.json bfs
[ "$(sed -n '2,5p' log | cut -d ' ' -f 1 | tr '\n' ' ')" = 'run run run result ' ] ||
    fail "the reference does not get three runs and a result as commands"
grep -q '"reference_median_seconds": 2.0\?,' r.json || fail "the median of 1, 3 and 2 seconds is not 2"
# The runs alternate: the reference runs between two runs of lanewise.
cat >ours <<END
#!/bin/sh
echo ours >>"\$LOG"
exec "$lanewise" "\$@"
END
chmod +x ours
: >log
LANEWISE="$work/ours" bench 0 --repeats 2 nbody
[ "$(cut -d ' ' -f 1 log | tr '\n' ' ')" = 'ours case ours run ours run result ours ' ] ||
    fail "the runs do not alternate: $(tr '\n' ' ' <log)"
WRONG=hist bench 1 --repeats 1 bfs hist mandel
grep -q '^bench/run: hist: the result of the reference is wrong: element 17 is .*; 1 of 256 differ$' err ||
    fail "a wrong result of the reference is not reported"
[ "$(awk '$7 == "-" { print $1 }' out)" = hist ] || fail "there is a ratio although the result of the reference is wrong"
LEAVE=reduce bench 1 --repeats 1 gemm reduce mandel
grep -q '^bench/run: the reference has ended: it has left$' err || fail "a reference that ends is not reported"
[ "$(wc -l <out)" = 3 ] || fail "the other cases do not run after the reference has ended"
unset BENCH_REFERENCE

# Runs the real reference if there is an OpenCL device.
if printf '#include <CL/cl.h>\nint main(void) { cl_platform_id p; return clGetPlatformIDs(1, &p, NULL); }\n' >cl.c &&
    ${CC:-cc} cl.c -o cl -DCL_TARGET_OPENCL_VERSION=120 -lOpenCL 2>/dev/null && ./cl; then
    bench 0 --repeats 1
    [ "$(awk '$7 != "-"' out | wc -l)" = 8 ] || fail "not every case has a ratio to the OpenCL device"
fi
printf '%d cases, %d failures\n' "$cases" "$failures"
[ "$failures" = 0 ]
