#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Compares a kernel in gdb with the same C code compiled for the host. Both must stop at the same lines: at
# breakpoints on all lines of a function with many loops, and after `next` and `step`. Kernels are in OpenCL C and CUDA C++,
# compiled by clang without optimisation. Eight lanes of the kernel diverge; the compared lines are those of lane 0.
. "${srcdir:-.}/tests/clients/gdb_lib.sh"
need gdb
command -v clang-19 >/dev/null || { echo "skipped: clang-19 is not installed"; exit 77; }
cp "$src/tests/clients/golden/beside.inc" "$work/beside.cl"
cp "$src/tests/clients/golden/beside.inc" "$work/beside.cu"
{
    cat "$work/beside.cl"
    echo 'int main(void) { int out[8]; beside(out, 3); return 0; }'
} >"$work/beside.c"
for form in 'cl, options: [-O0, -g, -cl-opt-disable]' 'cu, options: [-O0, -g, --cuda-noopt-device-debug]'; do
    cat >"$work/beside_${form%%,*}.yaml" <<END
program: {source: beside.$form}
buffers: {out: {type: s32, count: 8}}
steps:
  - launch: {entry: beside, grid: [1], block: [8], args: [out, 3]}
END
done
clang-19 -O0 -g -o "$work/native" "$work/beside.c" || { fail "beside.c does not compile"; exit 1; }
# usage: lines(FILE, COMMAND, CONDITION). Writes each line at which the command stops to FILE.COMMAND
cat >"$work/lines.py" <<'END'
import gdb
def lines(file, command, condition):
    with open("%s.%s" % (file, command), "w") as out:
        if command == "continue":
            count = sum(1 for line in open("beside.cl"))
            for n in range(1, count + 1):
                try:
                    point = gdb.Breakpoint("%s:%d" % (file, n))
                except gdb.error:
                    continue  # there is no further line with code
                point.condition = condition
                table = gdb.execute("info breakpoints %d" % point.number, False, True)
                out.write("%d: %d places\n" % (n, max(1, table.count("\n%d." % point.number))))
        else:
            gdb.Breakpoint("beside", temporary=True)
        gdb.execute("run" if file == "beside.c" else "continue", False, True)
        for i in range(5000):
            try:
                frame = gdb.selected_frame()
            except gdb.error:
                break
            if frame.name() not in ("beside", "device"):
                break
            out.write("%s %d\n" % (frame.name(), frame.find_sal().line))
            gdb.execute(command, False, True)
END
# lines_of FILE COMMAND CONDITION ARGUMENT...
lines_of() {
    lines_file=$1 lines_command=$2 lines_condition=$3
    shift 3
    (cd "$work" && timeout 300 gdb -nx -batch -iex 'set debuginfod enabled off' -iex 'set confirm off' \
        -x lines.py "$@" -ex "python lines('$lines_file', '$lines_command', $lines_condition)" -ex kill \
        </dev/null >"$work/said" 2>&1)
}
for command in continue next step; do
    lines_of beside.c $command None native
    [ "$(grep -c '^beside ' "$work/beside.c.$command")" -gt 200 ] || {
        tail -n 3 "$work/said"
        echo "skipped: gdb cannot run a program of this host"
        exit 77
    }
    for form in cl cu; do
        serve "$lanewise" run beside_$form.yaml --gdb 127.0.0.1:0
        lines_of beside.$form $command "'\$lane == 0'" -ex "target remote :$port"
        stop_server
        # the native program also stops in main, after the last line of the function
        if diff "$work/beside.c.$command" "$work/beside.$form.$command" >"$work/diff"; then
            echo "ok: $command stops at the same lines in .$form and natively," \
                "$(grep -c '^[bd]' "$work/beside.$form.$command") times"
        else
            fail ".$form: $command does not stop at the same lines as natively (<)"
            head -n 40 "$work/diff"
        fi
    done
done
[ $failures -eq 0 ]
