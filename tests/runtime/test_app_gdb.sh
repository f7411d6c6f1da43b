#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Tests gdb for the kernels of programs: lanewise app --gdb and --debug, launches of several modules, detach, kill, and a second
# gdb for the host code. Also tests that findings name the calls of the host, that launches are recorded as launch files, and
# that a device can be used after a fault.
. "${srcdir:-.}/tests/runtime/cuda_lib.sh"
src=$src/debug
has() { # usage: has FILE TEXT WHAT
    grep -qF -- "$2" "$1" || { fail "$3: expected \"$2\", found:"; cat "$1"; }
}
command -v gdb >/dev/null || { echo "gdb is not installed"; exit 99; }
TMPDIR=$scratch/tmp
export TMPDIR
mkdir tmp
"$lanewise" cc -G -g "$src/first.cu" "$src/second.cu" -o both >log 2>&1 ||
    { fail "the program both cannot be built"; cat log; exit 1; }
[ -z "$(ls tmp)" ] || fail "lanewise cc does not remove its temporary files: $(ls tmp)"

debug() { # usage: debug OPTION... PROGRAM <COMMANDS. Runs lanewise app --debug with the commands of gdb
    timeout 120 "$lanewise" app --debug "$@" >out 2>err
    status=$?
    cat out err >session
    [ -z "$(ls tmp)" ] || { fail "$*: files remain in TMPDIR: $(ls tmp)"; rm -rf tmp/*; }
}

# gdb stops in the first launch: tests variables, lanes, and reverse execution in the launch. Later launches run to the
# breakpoint.
debug ./both <<'END'
break first.cu:12
continue
print x
print $lane
lane 7
print x
print a.by
next
reverse-continue
print x
delete
tbreak first.cu:11 if a.by == 5
continue
print t
print factor
continue
END
[ $status = 0 ] || fail "a session: exit status $status, expected 0"
has session 'first (a=' "a session"
has session '$1 = 0' "a session"
has session '$3 = 14' "the lane"
has session '$4 = 1' "the lane"
has session '$5 = 14' "reverse-continue"
has session '$7 = 3' "the third launch sees the variable as the host has set it"
has session 'host: 35 81 151' "the host goes on"
has session 'exited normally' "the end"

# The timing model places the first block of a launch in a later cycle. gdb stops there in each launch.
debug --timing volta ./both <<'END'
break first.cu:12
continue
print x
monitor why
delete
tbreak first.cu:11 if a.by == 5
continue
print factor
continue
END
[ $status = 0 ] || fail "--timing: exit status $status, expected 0"
has session 'first (a=' "--timing"
has session '$1 = 0' "--timing"
has session 'the warp can issue' "--timing: monitor why"
has session '$2 = 3' "--timing: the third launch"
has session 'host: 35 81 151' "--timing: the host goes on"

# gdb stops in a kernel of another module, which is selected by name. Tests detach.
debug --gdb-kernel second ./both <<'END'
break second.cu:6
continue
print t
backtrace
detach
END
[ $status = 0 ] || fail "--gdb-kernel: exit status $status, expected 0"
has session 'second.cu:6' "--gdb-kernel"
has session '#0  second' "--gdb-kernel"
has session 'host: 35 81 151' "the host goes on after detach"

# `kill` ends the program, and reports are written.
debug --stats stats.json ./both <<'END'
break first.cu:12
continue
kill
END
[ $status = 137 ] || fail "kill: exit status $status, expected 137"
has session 'gdb has killed the program' "kill"
grep -q '"grids": 1' stats.json || fail "kill: the statistics lack the launch"
grep -q 'host:' out && fail "kill: the program continues"

# Where variables have no values, a note names options that programs can use.
cat >optimised.cu <<'END'
__global__ void k(int *p, int n)
{
    int t = threadIdx.x, square = p[t] * p[t] * n;
    int unused = square + t;
    p[t] = t * n;
}
int main()
{
    int *p;
    cudaMalloc(&p, 128);
    k<<<1, 32>>>(p, 4);
    return cudaDeviceSynchronize();
}
END
"$lanewise" cc -g optimised.cu -o optimised >log 2>&1 || { fail "optimised.cu does not compile"; cat log; }
printf 'break optimised.cu:5\ncontinue\nprint unused\n' | sed '$a kill' >commands
debug ./optimised <commands
has session '= <optimized out>' "a variable without a value"
has session 'out here; compile with lanewise cc -G or nvcc -G, or run OpenCL programs with lanewise app -g, to see all variables' "a variable without a value"

# Kernels of three files are linked. The functions of each file have their own variables, types and file names, also those whose names
# another file uses for something else.
nvcc=$(command -v nvcc || echo /usr/local/cuda/bin/nvcc)
for compiler in clang-14 clang-19 nvcc "$nvcc"; do # also nvcc without lanewise cc
    set -- "$lanewise" cc --compiler "$compiler"
    case $compiler in
    *nvcc)
        [ -x "$nvcc" ] || continue
        [ "$compiler" = nvcc ] || set -- "$nvcc" --cudart shared -gencode arch=compute_80,code=compute_80
        ;;
    *) command -v "$compiler" >/dev/null || { fail "$compiler is not installed"; continue; } ;;
    esac
    rm -f modules
    "$@" -G -g -rdc=true "$src/modules_main.cu" "$src/modules_device.cu" "$src/modules_other.cu" -o modules >log 2>&1 ||
        { fail "$compiler: modules_main.cu does not compile"; cat log; continue; }
    debug ./modules <<'END'
set width 0
break modules_main.cu:14
break modules_device.cu:17
break modules_device.cu:11
break modules_main.cu:22
break modules_other.cu:11
continue
info args
info locals
ptype own
print hidden + 1000
print total
continue
info args
info locals
print *s
ptype s
print hidden + 2000
print calls
print s->sides[1] + total
up
print own
print hidden + 3000
continue
info locals
ptype own
print sizeof(struct item)
print FAST
print hidden + 4000
finish
delete 1 2 3
continue
info args
info locals
continue
info args
info locals
ptype own
print hidden + 5000
print 'modules_device.cu'::hidden + 6000
print table
delete
tbreak doubled
continue
backtrace
next
print twice
lane 7
print x + total
continue
END
    [ $status = 0 ] || fail "$compiler -rdc=true: exit status $status, expected 0"
    for text in 'fill (s=0x200000000000, n=3) at' 'modules_main.cu:14' 'own = {number = 11}' 'int number;' '= 1011' '= 5' \
        'blend (s=0x200000000000, by=0.5) at' 'modules_device.cu:17' 'mixed = 5.5' 'local = {11, 8}' \
        '= {width = 11, weight = 0, sides = {0, 0, 0}}' 'int sides[3];' '= 2022' '= 40' '= {number = 11}' '= 3011' \
        'deeper (in=0.5, how=FAST) at' 'own = {part = 4.5, how = FAST}' 'double part;' '= 16' '= FAST' '= 4022' 'Value returned is $12 = 26.5' \
        'scale (s=0x200000000000, by=2) at' 'modules_main.cu:22' 'scaled = 64' \
        'spread (s=0x200000000000, where=7) at' 'modules_other.cu:11' "own = {letter = 103 'g', position = 7}" 'long position;' \
        '= 5033' '= 6022' '= {2, 4, 6, 8}' 'doubled (x=7) at' 'modules.cuh:15' '#1  0x' 'in spread (s=0x200000000000, where=7)' '$16 = 14' '$17 = 10' \
        'host: 23 76 47' 'exited normally'; do
        has session "$text" "$compiler -rdc=true"
    done
    command -v lldb-19 >/dev/null || { fail "lldb-19 is not installed"; continue; }
    rm -f socket
    "$lanewise" app --gdb unix:socket ./modules >host 2>&1 </dev/null &
    n=0
    while [ ! -S socket ] && [ $n -lt 600 ]; do sleep 0.1; n=$((n + 1)); done
    timeout 120 lldb-19 -X -x -b -o "process connect unix-connect://$PWD/socket" -o 'breakpoint set -f modules_device.cu -l 17' \
        -o 'breakpoint set -f modules_other.cu -l 11' -o continue -o 'frame variable' -o 'print *s' -o 'print hidden' -o 'target variable calls' -o 'frame select 1' \
        -o 'frame variable' -o 'print hidden' -o 'breakpoint disable 1' -o continue -o 'frame variable' -o 'print hidden' -o 'breakpoint disable 2' -o continue \
        </dev/null >session 2>&1
    wait
    for text in 'blend(s=0x0000200000000000, by=0.5) at modules_device.cu:17' '(float) mixed = 5.5' '(int[2]) local = ([0] = 11, [1] = 8)' 'width = 11' \
        '(int) 22' '(int) calls = 40' '(item) own = (number = 11)' '(int) 11' 'at modules_other.cu:11' "(item) own = (letter = 'g', position = 7)" '(int) 33'; do
        has session "$text" "$compiler -rdc=true, lldb"
    done
    has host 'host: 23 76 47' "$compiler -rdc=true, lldb"
done

# If only some files are compiled with -G, the note about a variable without a value depends on the file.
"$lanewise" cc -dc -G -g "$src/modules_main.cu" "$src/modules_other.cu" >log 2>&1 && "$lanewise" cc -dc -O2 -g "$src/modules_device.cu" >>log 2>&1 &&
    "$lanewise" cc modules_main.o modules_device.o modules_other.o -o modules >>log 2>&1 || { fail "modules_device.o does not compile without -G"; cat log; }
debug ./modules <<'END'
break modules_main.cu:14
break modules_device.cu:17
continue
print own
continue
print by
print mixed
up
print own
delete
continue
END
for text in '= {number = 11}' '= 0.5' '= <optimized out>' 'out here; compile with lanewise cc -G' 'host: 23 76 47'; do
    has session "$text" "a file without -G"
done

# When gdb quits, the program for which it was started ends.
printf 'break first.cu:12\ncontinue\n' | sed '$a quit' >commands
debug ./both <commands
grep -q 'host: 35' out && fail "quit: the program continues"

# Tests a kernel that is never launched, the exit status of the program, and options that exclude each other.
debug --gdb-kernel nothing ./both </dev/null
[ $status = 0 ] || fail "a kernel that is never launched: exit status $status"
has session 'without launching a matching kernel' "no such kernel"
debug sh -c 'exit 7' </dev/null
[ $status = 7 ] || fail "lanewise app does not return the exit status of the program, but $status"
debug ./no-such-program </dev/null
[ $status = 2 ] || fail "a program that does not exist: exit status $status"
debug --gdb 0 ./both </dev/null
has session 'leave --gdb out' "--debug with --gdb"

# Another gdb debugs the host code at the same time.
"$lanewise" app --gdb unix:socket gdb -q -nx -batch -ex 'break first.cu:30' -ex run -ex 'print h[10]' -ex continue ./both >host 2>&1 </dev/null &
n=0
while [ ! -S socket ] && [ $n -lt 600 ]; do sleep 0.1; n=$((n + 1)); done
timeout 120 gdb -q -nx -batch -ex 'target remote socket' -ex 'break first.cu:12 if a.by == 5' -ex continue -ex 'print factor' -ex delete -ex continue >session 2>&1 </dev/null
wait
has session '= 3' "a gdb on the device"
has session 'exited normally' "a gdb on the device"
has host '= 35' "a gdb on the host"
has host 'exited normally' "a gdb on the host"

# --record writes a launch file for each launch. The checks in these files must pass.
(mkdir elsewhere && cd elsewhere && "$lanewise" app --record ../record ../both >../out 2>../err) || fail "--record: status $?"
[ "$(cd record && echo *.yaml)" = "0001-first.yaml 0002-second.yaml 0003-first.yaml" ] || fail "--record: $(ls record)"
ls record/*.tmp >/dev/null 2>&1 && fail "--record: a temporary file was left"
for file in record/*.yaml; do
    "$lanewise" run "$file" >out 2>&1 || { fail "the run of $file fails"; cat "$file" out; }
done
grep -q 'index: 200' record/0002-second.yaml ||
    { fail "--record: wrong argument for a pointer into a buffer"; cat record/0002-second.yaml; }
grep -q 'struct: \[b[0-9]*, {u8' record/0001-first.yaml ||
    { fail "--record: wrong argument for a pointer in a structure"; cat record/0001-first.yaml; }
# The recorded launch files check the results: after a change of an argument the check must fail.
sed 's/{u8: \[5, 0, 0, 0/{u8: [6, 0, 0, 0/' record/0003-first.yaml >record/changed.yaml
cmp -s record/changed.yaml record/0003-first.yaml && fail "--record: the argument is not in the launch file"
"$lanewise" run record/changed.yaml >out 2>&1 && fail "--record: the check does not find a wrong result"
# A recorded launch has the size of the heap, and the descriptors of textures.
"$lanewise" cc "$src/kept.cu" -o heap >out 2>&1 || { fail "kept.cu does not compile"; cat out; }
"$lanewise" app --record kept-record ./heap >out 2>err || fail "--record, kept: status $?"
[ "$(cd kept-record && echo *.yaml)" = "0001-takes.yaml 0002-fetches.yaml" ] || { fail "--record, kept: $(ls kept-record)"; cat err; }
"$lanewise" run kept-record/0001-takes.yaml >out 2>&1 || { fail "--record: the heap of a launch is not recorded"; cat out; }
"$lanewise" run kept-record/0002-fetches.yaml >out 2>&1 || { fail "--record: the texture of a launch is not recorded"; cat out; }

# Findings name the calls of the host. The recorded launch file of a launch with a finding has a comment on it, and a run of the
# launch file reports the finding.
for options in "-g -O0" "-g -O2" "--compiler nvcc -g"; do
    case $options in *nvcc*) command -v nvcc >/dev/null || [ -x /usr/local/cuda/bin/nvcc ] || continue ;; esac
    # shellcheck disable=SC2086
    "$lanewise" cc $options "$src/past.cu" -o past >log 2>&1 ||
        { fail "past.cu does not compile with $options"; cat log; continue; }
    rm -rf record
    "$lanewise" app --record record ./past >out 2>err || fail "past $options: the program ends with exit status $?"
    has err 'out-of-bounds' "past $options"
    if ldd "$(dirname "$lanewise")/lanewise-cuda/libcudart.so.13" | grep -q libdw; then
        has err 'past.cu:7)' "past $options: the launch"
        has err 'buffer 1 was created by main (' "past $options: the buffer"
        has err 'past.cu:13)' "past $options: the buffer"
        "$lanewise" app --strict ./past >out 2>err
        has err 'buffer 1 was created by main (' "past $options: the buffer, with --strict"
        "$lanewise" app ./past before >out 2>err
        has err "160 bytes before 'buffer 1'" "past $options: before the buffer"
        has err 'buffer 1 was created by main (' "past $options: before the buffer"
        for report in calls.json calls.sarif; do
            "$lanewise" app --check-file $report ./past >out 2>err || fail "past $options: the program ends with exit status $?"
            python3 -m json.tool $report >/dev/null || fail "past $options: $report is not JSON"
        done
        grep -q '"related": \[{"message": "launched by .*", "file": ".*past.cu", "line": 7}, .*"line": 13}\]' calls.json ||
            fail "past $options: JSON does not contain the calls"
        grep -q '"relatedLocations": .*"startLine": 7}}, "message": {"text": "launched by .*"startLine": 13}}' calls.sarif ||
            fail "past $options: SARIF does not contain the calls"
    else
        has err 'launched by' "past $options: the launch"
    fi
done
"$lanewise" run record/0001-past.yaml >out 2>&1
[ $? = 3 ] || fail "the recorded launch does not fault"
has record/0001-past.yaml 'It had findings' "a launch with a finding"

# After a fault, a CUDA program gets errors from calls, and can use the device again after cudaDeviceReset().
"$lanewise" cc "$src/recover.cu" -o recover >log 2>&1 || { fail "the program recover cannot be built"; cat log; }
for options in "" "--timing fermi" "--threads 2"; do
    # shellcheck disable=SC2086
    "$lanewise" app --strict $options ./recover >out 2>err || { fail "recover $options: the program fails"; cat out err; }
done
grep -q '^lanewise: fault: ' err || fail "recover: the fault is not reported"

# In OpenCL, the context remains usable after a failed command. The driver writes sources to temporary files, as long as a
# debugger or a message may show them.
if [ -f "$(dirname "$lanewise")/liblanewise-opencl.so" ] && cc -g "$src/queue.c" -o queue -lOpenCL 2>log; then
    "$lanewise" app --strict ./queue >out 2>err
    has out '0 -5 0 45 567' "OpenCL after a fault"
    has err 'launched by run (' "OpenCL: the call"
    "$lanewise" app ./queue >out 2>err
    has out '0 0 0 45 567' "OpenCL with findings"
    has err 'lanewise: program.cl:11: out-of-bounds' "OpenCL: the source"
    debug -g ./queue <<'END'
break 5
continue
print x
list 5,5
lane 9
print x
continue
END
    has session '5	    x = x * by;' "OpenCL: the source in gdb"
    has session '= 9' "OpenCL: a lane"
    "$lanewise" app --sources kept ./queue >out 2>err
    has err "kept/program-" "--sources: a finding's file"
    grep -q 'x = x \* by' kept/program-*.cl || fail "--sources does not write the source"
    "$lanewise" app --profile - ./queue >out 2>err
    has out 'x = x * by' "the profile's source"
    rm -rf record
    "$lanewise" app --record record ./queue >out 2>err
    "$lanewise" run record/0001-scale.yaml >out 2>&1 && "$lanewise" run record/0003-scale.yaml >out 2>&1 ||
        { fail "--record with OpenCL: the recorded launch files do not run"; cat out record/0001*; }
    grep -q 'local: 128' record/0001-scale.yaml || fail "--record: the launch file has no argument of 128 bytes of local memory"
    # Images: findings name them, a launch with images can be recorded, and gdb shows the descriptor.
    cc -g "$src/images.c" -o images -lOpenCL >log 2>&1 || { fail "the program images cannot be built"; cat log; }
    "$lanewise" app --check=default,races ./images >out 2>err
    has out '100 131' "images: the result"
    has err "program.cl:5: race: " "images: the race"
    has err "byte 164 of 'image 2'" "images: the name of the image"
    has err 'image 2 was created by image_of (' "images: the call that created the image"
    rm -rf record
    "$lanewise" app --record record ./images >out 2>err
    "$lanewise" run record/0001-copy.yaml >out 2>&1 && "$lanewise" run record/0003-copy.yaml >out 2>&1 ||
        { fail "images: a recorded launch does not run"; cat out record/*.yaml; }
    debug ./images <<'END'
info args
x/6dw (char *)in + 24
continue
END
    has session 's = 0x14' "images: a sampler in gdb"
    has session ':	8	4	1	4' "images: a descriptor in gdb"
    # CUDA and OpenCL in one program use the same device, so that the statistics include both launches.
    "$lanewise" cc "$src/both.cu" -o two-interfaces -lOpenCL >log 2>&1 ||
        { fail "both interfaces: the program cannot be built"; cat log; }
    "$lanewise" app --stats stats.json ./two-interfaces >out 2>err
    has out '7 12' "both interfaces"
    grep -q '"grids": 2' stats.json || { fail "both interfaces: they do not use the same device"; cat stats.json err; }
    [ -z "$(ls tmp)" ] || fail "OpenCL: files remain in TMPDIR: $(ls tmp)"
fi

# If the folder for --record cannot be created, the command fails before the program runs.
"$lanewise" app --record none/record ./both >out 2>err
grep -q 'none/record' err && ! grep -q 'host: 35' out ||
    { fail "--record with a folder that cannot be created: no message, or the program runs"; cat out err; }
exit $failed
