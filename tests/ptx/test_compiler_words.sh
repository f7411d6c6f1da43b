#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Tests that lanewise shows the output of compilers. For a source with many errors, compile, run and debug must print the whole
# output of the compiler, then one message, and exit with status 2. Messages of lanewise itself must name source locations.
set -u
lanewise=$(realpath "${LANEWISE:-./lanewise}")
srcdir=$(realpath "${srcdir:-..}")
work=$(mktemp -d "${TMPDIR:-/tmp}/lanewise-words.XXXXXX")
trap 'rm -rf "$work"' EXIT
. "$srcdir/tests/lib/compile_once.sh"
cd "$work" || exit 1
bad=0
{
    echo '__kernel void k(__global int *p)'
    echo '{'
    for n in 1 2 3 4 5 6 7; do echo "    p[$n] = missing$n;"; done
    echo '}'
} >k.cl
printf '__kernel void m(__global int *p) { p[0] = 1; }\n' >m.cl
cat >k.yaml <<END
program: {source: k.cl}
buffers: {p: {type: s32, count: 8}}
steps:
  - launch: {entry: k, grid: [1], block: [1], args: [p]}
END
sed 's/source: k.cl/sources: [m.cl, k.cl]/' k.yaml >linked.yaml

# usage: shows ARGUMENTS. Runs lanewise with the source that has errors, and checks its output
shows() {
    "$lanewise" "$@" >out 2>err </dev/null
    status=$?
    last=$(tail -n 1 err)
    if [ $status != 2 ]; then
        echo "FAIL: $*: exit status $status, expected 2"
    elif [ "$(grep -c 'k.cl:[3-9]:[0-9]*: error: ' err)" -lt 8 ] || ! grep -q 'missing7;$' err; then
        echo "FAIL: $*: the compiler's output is not complete"
    elif [ "${last#*missing3}" = "$last" ] || [ "${last#*(and 4 more)}" = "$last" ]; then
        echo "FAIL: $*: the message after the compiler's output is missing or incomplete"
    else
        return
    fi
    sed 's/^/    /' err
    bad=1
}
shows compile k.cl
shows compile m.cl k.cl -o both.lwo
shows run k.yaml
shows run linked.yaml
shows debug k.yaml
# A message about the number of arguments names each parameter with its type, also if the program was compiled without debug
# information.
printf '__kernel void m(__global int *p, int n, __local float *t) { p[0] = n + t[0]; }\n' >m.cl
sed 's/k.cl/m.cl/; s/entry: k/entry: m/' k.yaml >few.yaml
"$lanewise" run few.yaml >out 2>err && bad=1
grep -q "kernel 'm' takes 3 arguments: 'p' (int \*), 'n' (int), 't' (__local float \*); found 1\$" err || {
    echo "FAIL: one argument is missing:"
    cat err
    bad=1
}
# usage: says WHAT MESSAGE ARGUMENTS. Runs lanewise and expects that it fails with the message
says() {
    what=$1 sentence=$2
    shift 2
    "$lanewise" "$@" >out 2>err </dev/null
    status=$?
    { [ $status = 2 ] && grep -q "$sentence" err; } || {
        echo "FAIL: $what: exit status $status, or the expected message is missing"
        sed 's/^/    /' err
        bad=1
    }
}
says "nvcc for OpenCL C" '^lanewise: m.cl: nvcc does not compile OpenCL C: name a clang' \
    compile m.cl --compiler nvcc
sed 's/source: k.cl/source: m.cl, compiler: nvcc/' k.yaml >nvcc.yaml
says "nvcc in a launch file" '^lanewise: nvcc.yaml:1: m.cl: nvcc does not compile' run nvcc.yaml
printf 'program:\n  sources: [m.cl,\n    nope.cl]\n' >nope.yaml
sed 1d k.yaml >>nope.yaml
says "a source that is not there" '^lanewise: nope.yaml:3: nope.cl: No such file' run nope.yaml
# The message for an error in a header names the header and the line.
printf 'int gone(int x);\n\nint wrap(int x)\n{\n    return gone(x);\n}\n' >wrap.h
printf '#include "wrap.h"\n__kernel void w(__global int *p) { p[0] = wrap(p[0]); }\n' >w.cl
says "a call in a header" 'wrap.h:5: call to gone: .*(line [0-9]* of the PTX of w.cl)$' \
    compile w.cl -X -O0
printf '\n\nint gone(int x) { return 1; }\n' >one.cl
printf 'int gone(int x) { return 2; }\n' >two.cl
says "two definitions" "'gone' is defined in one.cl:3 and in two.cl:1: remove one" \
    compile w.cl one.cl two.cl -o x.lwo
# A source may begin with a byte order mark, which some editors write.
printf '\357\273\277__kernel void m(__global int *p) { p[0] = 1; }\n' >mark.cl
"$lanewise" compile mark.cl -o mark.lwo && "$lanewise" compile m.cl --emit ptx >m.ptx &&
    "$lanewise" compile m.ptx --emit asm >m.s &&
    for f in ptx s; do (printf '\357\273\277' && cat m.$f) >mark.$f; done &&
    "$lanewise" compile mark.ptx -o mark.lwo && "$lanewise" asm mark.s -o mark.lwo || {
    echo "FAIL: a source with a byte order mark is refused"
    bad=1
}
sed 's/k.cl/m.ptx/; s/entry: k/entry: m/' k.yaml >ptx.yaml
(printf '\377\376' && cat m.ptx) >wide.ptx
says "UTF-16" '^lanewise: wide.ptx:1: the file is encoded as UTF-16: save it as UTF-8' compile wide.ptx
printf '#include <thrust/sort.h>\n__global__ void k(int *p) { p[0] = 1; }\n' >sort.cu
says "a library that is not here" "sort.cu:1.*'thrust/sort.h' file not found; CUB, Thrust and libcu++ are header libraries .*-I" compile sort.cu
printf '#include <nosuch/sort.h>\n__global__ void k(int *p) { p[0] = 1; }\n' >sort.cu
says "a header that is not here" "'nosuch/sort.h' file not found$" compile sort.cu
# Files that are linked share extern variables and functions, with clang and with nvcc.
printf 'extern __device__ int shared_by; __global__ void k(int *p) { p[0] = shared_by; }\n' >a.cu
printf '__device__ int shared_by = 5;\n' >b.cu
{ command -v "${LANEWISE_NVCC:-nvcc}" || [ -x /usr/local/cuda/bin/nvcc ]; } >/dev/null && nvcc=nvcc || nvcc=
for compiler in '' ${nvcc:+', compiler: nvcc' ', compiler: nvcc, options: [-G]'}; do
    { echo "program: {sources: [a.cu, b.cu]$compiler}"; sed 1d k.yaml; echo '  - check: {buffer: p, values: [5]}'; } >ab.yaml
    "$lanewise" run -q ab.yaml || {
        echo "FAIL: the run with an extern variable in two files fails$compiler"
        bad=1
    }
done
# Compiler options of the command line are passed after those of the launch file. Paths in them are relative to the current
# folder.
mkdir -p there include
echo '#define MORE 5' >include/more.h
cat >there/n.cl <<'END'
#ifdef WITH
#include "more.h"
#else
#define MORE 0
#endif
__kernel void n(__global int *p) { p[0] = N + MORE; }
END
for n in 1 12; do
    cat >there/n$n.yaml <<END
program: {source: n.cl, options: [-DN=1]}
buffers: {p: {type: s32, count: 1}}
steps: [launch: {entry: n, grid: 1, block: 1, args: [p]}, check: {buffer: p, values: [$n]}]
END
done
sed 's/source: n.cl/sources: [n.cl, ..\/m.cl]/' there/n12.yaml >there/linked.yaml
runs() { # usage: runs WHAT ARGUMENTS. Runs lanewise and expects success
    what=$1
    shift
    "$lanewise" "$@" >out 2>err </dev/null || {
        echo "FAIL: $what: exit status $?, expected 0"
        sed 's/^/    /' out err
        bad=1
    }
}
runs "the launch file's options alone" run there/n1.yaml
runs "-D, -I and -X of run" run -DN=7 -D WITH there/n12.yaml -I include -X -O1
runs "of several sources" run -DN=7 -D WITH there/linked.yaml -I include
runs "of debug" debug there/n12.yaml --define N=12 --batch -c continue
! "${GDB:-gdb}" --version >/dev/null 2>&1 ||
    runs "of gdb, and of its run" gdb -q there/n12.yaml --option -DN=12 -- -batch -ex run -ex continue
says "options for a compiler without one" '^lanewise: option "-DN=7" is for the compiler of .cl and .cu sources, but m.ptx is not compiled: remove the option$' \
    run -D N=7 ptx.yaml
# Options -W show only warnings about the user's source. -Werror makes them errors.
cat >maybe.cl <<'END'
__kernel void k(__global int *p)
{
    int level;

    if (p[0] > 3)
        level = 1;
    p[1] = level;
}
END
{ printf '#include <stdio.h>\n#include <cuda_fp16.h>\n'; sed 's/__kernel/__global__/; s/__global int/int/' maybe.cl; } >maybe.cu
for source in maybe.cl maybe.cu; do
    sed "s/k.cl/$source/" k.yaml >maybe.yaml
    set -- "compile $source -o maybe.lwo"
    [ $source = maybe.cu ] ||
        set -- "$@" "compile m.cl $source -o maybe.lwo" 'run maybe.yaml' 'debug maybe.yaml --batch -c continue'
    for command; do
        # shellcheck disable=SC2086
        runs "without -Wall: $command" $command
        # shellcheck disable=SC2086
        runs "with -Wno- alone: $command" $command -X -Wno-unused
        [ ! -s err ] || { echo "FAIL: $command prints something without -Wall:"; cat err; bad=1; }
        # shellcheck disable=SC2086
        runs "with -Wall: $command" $command -X -Wall -X -Wextra
        { grep -q "$source:[0-9]*:[0-9]*: warning: variable 'level' is used uninit" err && [ "$(grep -c warning: err)" = 1 ]; } || {
            echo "FAIL: -Wall: $command: expected one warning:"
            cat err
            bad=1
        }
    done
    says "-Werror, $source" "$source:[0-9]*:[0-9]*: error: variable 'level'" compile $source -X -Wall -X -Werror -o maybe.lwo
    sed "s/source: $source/source: $source, options: [-Wall, -Werror]/" maybe.yaml >error.yaml
    says "-Werror of a launch file, $source" "error: variable 'level'" run error.yaml
done
if [ -n "$nvcc" ]; then
    sed 's/int level;/int level, unused;/' maybe.cu >unused.cu
    runs "nvcc's warnings are off" compile unused.cu --compiler nvcc -o maybe.lwo
    [ ! -s err ] || { echo "FAIL: nvcc prints a warning"; bad=1; }
    says "nvcc's warnings as errors" 'unused.cu' compile unused.cu --compiler nvcc -X -Werror -X all-warnings -o maybe.lwo
fi
# clang's default warnings about the user's source are shown once. The run continues.
cat >warns.cl <<'END'
__kernel void k(__global int *p)
{
    p[1] = 2147483648 * 2;
}
END
{ printf '#include <stdio.h>\n#include <cuda_fp16.h>\n'; sed 's/__kernel/__global__/; s/__global int/int/' warns.cl; } >warns.cu
for source in warns.cl warns.cu; do
    sed "s/k.cl/$source/" k.yaml >warns.yaml
    set -- "compile $source -o warns.lwo" "run -g $source --grid 1 --block 1 --arg s32[4]"
    [ $source = warns.cu ] || set -- "$@" "compile m.cl $source -o warns.lwo" 'run warns.yaml' \
        'debug warns.yaml --batch -c continue' "run $source --grid 1 --block 1 --arg s32[4]"
    for command; do
        # shellcheck disable=SC2086
        runs "clang's own warnings: $command" $command
        { grep -q "$source:[0-9]*:[0-9]*: warning: implicit conversion" err && [ "$(grep -c warning: err)" = 1 ]; } || {
            echo "FAIL: clang's own warnings: $command: expected one warning:"
            cat err
            bad=1
        }
        # shellcheck disable=SC2086
        runs "-w: $command" $command -X -w
        [ ! -s err ] || { echo "FAIL: $command prints something with -w:"; cat err; bad=1; }
    done
    runs "--quiet" run --quiet warns.yaml
    [ ! -s err ] || { echo "FAIL: --quiet: $source: there are warnings:"; cat err; bad=1; }
    says "--quiet, -Werror: $source" 'error: implicit conversion' run --quiet warns.yaml -X -Werror
done
# If a signal ends lanewise while a compiler runs, the compiler is also ended, and its temporary folder is removed.
mkdir folder
printf '#!/bin/sh\necho $$ >%s/pid\nsleep 60\n' "$work" >slow
chmod +x slow
signals='TERM HUP'
# If this script runs under nohup, SIGHUP is ignored, also by child processes, and is not tested.
[ "$(sh -c 'kill -HUP $$; echo ignored' 2>/dev/null)" != ignored ] || signals=TERM
for signal in $signals; do
    rm -f pid
    TMPDIR=$work/folder "$lanewise" compile m.cl --compiler ./slow -o slow.lwo >out 2>err &
    program=$!
    for wait in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do [ -s pid ] && break; sleep 0.1; done
    kill -$signal $program
    wait $program
    status=$?
    { [ $status -gt 128 ] && [ -z "$(ls folder)" ] && ! kill -0 "$(cat pid)" 2>/dev/null; } || {
        echo "FAIL: ended by $signal: status $status, remaining files: $(ls folder)"
        bad=1
    }
done
exit $bad
