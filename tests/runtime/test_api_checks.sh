#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Tests the checks of a program's API calls (`lanewise app --check=api`) with the examples of `lanewise explain` for each kind,
# and with programs that have several findings. Each finding must name the line of the call, also in reports.
set -u
src=$(cd "${srcdir:-.}" && pwd)
lanewise=${LANEWISE:-$(pwd)/lanewise}
case $lanewise in /*) ;; *) lanewise=$(pwd)/$lanewise ;; esac
scratch=$(mktemp -d) || exit 99
trap 'rm -rf "$scratch"' EXIT
failed=0
fail() { echo "FAIL: $*"; failed=1; }
if nm -D "$(dirname "$lanewise")/liblanewise-opencl.so" 2>/dev/null | grep -q '__asan_init'; then
    echo "skipped: programs cannot load a runtime that is built with the address sanitizer"
    exit 77
fi
work=$scratch
. "$src/tests/lib/compile_once.sh"
cd "$scratch" || exit 99
# Without libdw, findings name functions instead of lines.
lines=yes
ldd "$(dirname "$lanewise")/liblanewise-runtime.so.0" | grep -q libdw || lines=

# usage: build NAME. Compiles the program NAME from NAME.c
build() {
    ${CC:-cc} -g -O0 -rdynamic -DCL_TARGET_OPENCL_VERSION=120 "$1.c" -lOpenCL -o "$1" 2>cc.err || { fail "$1.c does not compile: $(head -n 5 cc.err)"; return 1; }
}

# usage: app NAME OPTION... . Runs a program under lanewise app; writes its standard error to the file err
app() {
    name=$1
    shift
    timeout 120 "$lanewise" app "$@" "./$name" >out 2>err || fail "$name $*: status $?: $(cat err)"
}

# usage: finds MARK KIND TEXT. The last program must have a finding of KIND with TEXT at the line that contains the comment MARK
finds() {
    line=$(grep -n "/\* $1 \*/" "$name.c" | cut -d: -f1)
    if [ -n "$lines" ]; then
        grep -q "^lanewise: [^ ]*$name.c:$line: $2: .*$3" err || fail "$name: there is no '$2: $3' at line $line: $(cat err)"
    else
        grep -q "^lanewise: .*: $2: .*$3" err || fail "$name: no '$2: $3': $(cat err)"
    fi
}

cat >frame.h <<'END'
#include <CL/cl.h>
#include <stdio.h>
static const char *good_source = "__kernel void k(__global int *a) { a[get_global_id(0)] = 1; }";
static const char *bad_source = "__kernel void k(__global int *a) { a[0] = nothing; }";
static cl_platform_id platform;
static cl_device_id device;
static cl_context context;
static cl_command_queue queue;
static cl_program program, wrong;
static cl_kernel kernel;
static void begin(void)
{
    clGetPlatformIDs(1, &platform, NULL);
    clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL);
    context = clCreateContext(NULL, 1, &device, NULL, NULL, NULL);
    queue = clCreateCommandQueue(context, device, 0, NULL);
    program = clCreateProgramWithSource(context, 1, &good_source, NULL, NULL);
    clBuildProgram(program, 0, NULL, NULL, NULL, NULL);
    wrong = clCreateProgramWithSource(context, 1, &bad_source, NULL, NULL);
    kernel = clCreateKernel(program, "k", NULL);
}
static void end(void)
{
    clReleaseKernel(kernel);
    clReleaseProgram(wrong);
    clReleaseProgram(program);
    clReleaseCommandQueue(queue);
    clReleaseContext(context);
}
END

# Of the two examples of `lanewise explain`, the wrong one must have only the finding of its kind, and the right one no finding.
kinds=$("$lanewise" explain api | awk '{print $2}')
[ "$(echo "$kinds" | wc -w)" -ge 4 ] || fail "explain api lists fewer than 4 kinds"
for kind in $kinds; do
    "$lanewise" explain "$kind" | grep -q cuda && continue # tests/runtime/test_cuda_checks.sh
    for form in wrong right; do
        name=${kind//-/_}_$form
        text=$("$lanewise" explain "$kind" | sed -n "/^$form:/{n;p}")
        printf '#include "frame.h"\nint main(void)\n{\n    begin();\n    { %s /* here */ }\n    end();\n    return 0;\n}\n' "$text" >"$name.c"
        build "$name" || continue
        if [ $form = wrong ]; then
            # kinds that are not selected must not be reported. Skips api-use-after-release, because the loader would read the
            # memory of a released object
            [ "$kind" = api-use-after-release ] || { app "$name" --check=memory; [ ! -s err ] ||
                fail "$name: a kind that was not selected is reported: $(cat err)"; }
            app "$name" --check=all --check-file findings.json --stats stats.json
            grep -q "\"kind\": \"$kind\"" findings.json && grep -q '"thread_instructions"' stats.json ||
                fail "$name: findings.json lacks the finding, or stats.json lacks thread_instructions"
            if [ "$kind" = api-buffer-use ]; then # its findings have the line in the kernel
                grep -q "^lanewise: program.cl:1: $kind: store of 4 bytes at .*, although the buffer was created with CL_MEM_READ_ONLY; kernel k, " err &&
                    grep -q "^lanewise:     launched by main ($name" err || fail "$name: there is no '$kind': $(cat err)"
            else
                finds here "$kind" ""
            fi
            [ "$(grep -c '^lanewise: .*: api-' err)" = 1 ] || fail "$name: expected one finding: $(cat err)"
        else
            app "$name" --check=all
            [ ! -s err ] || fail "$name: a finding: $(cat err)"
        fi
    done
done

# Kernels must not use buffers that are mapped, or load from buffers for writing. After the unmapping they may.
cat >mapped.c <<'END'
#include "frame.h"
static void run(cl_mem b)
{
    size_t n = 1;

    clSetKernelArg(kernel, 0, sizeof b, &b);
    clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &n, NULL, 0, NULL, NULL);
}
int main(void)
{
    static const char *text = "kernel void k(global int *a) { a[0] = 1; }\n" "kernel void sum(global int *a) { atomic_add(a, 1); }\n"
                              "kernel void load(global int *a, global int *b) { b[0] = a[0]; }";
    cl_mem b, only;
    void *p;

    begin();
    clReleaseKernel(kernel);
    clReleaseProgram(program);
    program = clCreateProgramWithSource(context, 1, &text, NULL, NULL);
    clBuildProgram(program, 0, NULL, NULL, NULL, NULL);
    kernel = clCreateKernel(program, "k", NULL);
    b = clCreateBuffer(context, 0, 64, NULL, NULL);
    only = clCreateBuffer(context, CL_MEM_WRITE_ONLY, 64, NULL, NULL);
    p = clEnqueueMapBuffer(queue, b, CL_TRUE, CL_MAP_READ, 0, 4, 0, NULL, NULL, NULL);
    run(b); /* reading */
    clEnqueueUnmapMemObject(queue, b, p, 0, NULL, NULL);
    run(b);
    p = clEnqueueMapBuffer(queue, b, CL_TRUE, CL_MAP_READ, 4, 60, 0, NULL, NULL, NULL); /* other bytes */
    run(b);
    clEnqueueUnmapMemObject(queue, b, p, 0, NULL, NULL);
    run(only);
    clReleaseKernel(kernel);
    kernel = clCreateKernel(program, "sum", NULL);
    p = clEnqueueMapBuffer(queue, b, CL_TRUE, CL_MAP_WRITE, 0, 64, 0, NULL, NULL, NULL);
    run(b); /* writing */
    clEnqueueUnmapMemObject(queue, b, p, 0, NULL, NULL);
    clReleaseKernel(kernel);
    kernel = clCreateKernel(program, "load", NULL);
    clSetKernelArg(kernel, 1, sizeof b, &b);
    run(only); /* only */
    clFinish(queue);
    clReleaseMemObject(only);
    only = clCreateBuffer(context, 0, 64, NULL, NULL); /* perhaps at the same address */
    run(only);
    clFinish(queue);
    clReleaseMemObject(only);
    clReleaseMemObject(b);
    end();
    return 0;
}
END
build mapped && {
    app mapped --check=api-buffer-use,memory
    grep -q '^lanewise: program.cl:1: api-buffer-use: store of 4 bytes at .* although this range of the buffer is mapped: unmap it before' err &&
        grep -q '^lanewise: program.cl:2: api-buffer-use: atomic of 4 bytes at .* although this range of the buffer is mapped for writing: unmap' err &&
        grep -q '^lanewise: program.cl:3: api-buffer-use: load of 4 bytes at .* although the buffer was created with CL_MEM_WRITE_ONLY' err &&
        [ "$(grep -c ': api-buffer-use: ' err)" = 3 ] && ! grep -q '; 2 times' err || fail "mapped: $(cat err)"
    app mapped --check=api,memory
    grep -q api-buffer-use err && fail "mapped: a kind that is not in the class is reported: $(cat err)"
}

# Tests every kind of object, several objects that one line creates, references, released objects as arguments and in lists,
# objects that are released twice, and an object in a global variable that is released after main().
cat >many.c <<'END'
#include "frame.h"
static cl_mem late;
__attribute__((destructor)) static void release(void)
{
    clReleaseMemObject(late);
    end();
}
static cl_mem make(size_t bytes)
{
    return clCreateBuffer(context, CL_MEM_READ_WRITE, bytes, NULL, NULL); /* made */
}
int main(void)
{
    size_t size = 4;
    cl_mem some[10], gone, twice, argument;
    cl_event event, marker, left;
    int zero = 0;

    begin();
    late = make(16);
    for (int i = 0; i < 10; i++)
        some[i] = clCreateBuffer(context, CL_MEM_READ_WRITE, 64, NULL, NULL); /* loop */
    clRetainMemObject(some[0]);
    clEnqueueWriteBuffer(queue, some[1], CL_TRUE, 0, 4, &zero, 0, NULL, NULL);
    gone = make(64);
    clReleaseMemObject(gone); /* released */
    if (clEnqueueWriteBuffer(queue, gone, CL_TRUE, 0, 4, &zero, 0, NULL, NULL) != CL_INVALID_MEM_OBJECT) /* use */
        return 1;
    for (int i = 0; i < 100; i++)
        make(64) == gone ? puts("the handle is used again") : 0; /* as many */
    twice = make(64);
    clReleaseMemObject(twice);
    if (clReleaseMemObject(twice) != CL_INVALID_MEM_OBJECT) /* twice */
        return 2;
    argument = make(64);
    clSetKernelArg(kernel, 0, sizeof argument, &argument);
    clReleaseMemObject(argument);
    clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &size, NULL, 0, NULL, NULL); /* launch */
    event = clCreateUserEvent(context, NULL);
    clSetUserEventStatus(event, CL_COMPLETE);
    clReleaseEvent(event);
    if (clEnqueueMarkerWithWaitList(queue, 1, &event, &marker) != CL_INVALID_EVENT_WAIT_LIST) /* list */
        return 3;
    clEnqueueMarkerWithWaitList(queue, 0, NULL, &left); /* event */
    clCreateContext(NULL, 1, &device, NULL, NULL, NULL); /* context */
    clCreateCommandQueue(context, device, 0, NULL); /* queue */
    clCreateProgramWithSource(context, 1, &good_source, NULL, NULL); /* program */
    clCreateKernel(program, "k", NULL); /* kernel */
    clBuildProgram(wrong, 0, NULL, NULL, NULL, NULL); /* build */
    return 0;
}
END
if build many; then
    app many --check=api --max-findings 1000 --check-file findings.json --check-file findings.sarif
    [ ! -s out ] || fail "many: expected no output on stdout: $(cat out)"
    finds loop api-leak 'a buffer of 64 bytes is not released when the program ends: call clReleaseMemObject for each of its 2 references'
    finds use api-use-after-release 'a buffer that the program has released'
    [ -z "$lines" ] || grep -q "^lanewise:     released by main ([^ ]*many.c:$(grep -n '/\* released \*/' many.c | cut -d: -f1))" err ||
        fail "many: the message does not name the line of the release"
    [ -z "$lines" ] || grep -q "^lanewise:     created by make ([^ ]*many.c:$(grep -n '/\* made \*/' many.c | cut -d: -f1))" err ||
        fail "many: the message does not name the line of the creation"
    finds twice api-use-after-release 'a buffer that'
    finds launch api-use-after-release 'a buffer that'
    finds list api-use-after-release 'an event that'
    finds event api-leak 'an event is not released'
    finds context api-leak 'a context is not released'
    finds queue api-leak 'a command queue is not released'
    finds program api-leak 'a program is not released'
    finds kernel api-leak 'a kernel is not released'
    finds build api-unread-log 'the build failed.*nothing'
    grep -q '16 bytes is not released' err && fail "many: a buffer that a destructor releases is reported as a leak"
    [ "$(grep -c 'api-use-after-release' err)" = 4 ] || fail "many: expected four uses after release: $(cat err)"
    grep -q '"kind": "api-leak", "class": "api"' findings.json && grep -q '"count": 10,' findings.json ||
        fail "many: JSON does not contain the leaks"
    grep -q '"ruleId": "api-use-after-release"' findings.sarif || fail "many: SARIF does not contain the rule"
    echo '- {kind: api-leak}' >known.yaml
    app many --check=api --check-suppress known.yaml
    grep -q 'api-leak' err && fail "many: suppressed leaks are reported: $(cat err)"
    grep -q 'api-use-after-release' err || fail "many: all findings are suppressed"
    # kinds can be selected one by one
    app many --check=api-unread-log
    [ "$(grep -c '^lanewise: .*: api-' err)" = 1 ] || fail "many: expected one finding: $(cat err)"
fi

# Calls with wrong arguments: one finding for each call of the source, none for questions and for results of builds. Shared virtual
# memory that is freed twice or not at all.
cat >calls.c <<'END'
#define CL_TARGET_OPENCL_VERSION 200
#include "frame.h"
int main(void)
{
    const size_t one = 1, big = 4096;
    char text[4];
    cl_device_id none;
    cl_context second;
    cl_mem b, foreign;
    cl_int error;
    void *svm;

    begin();
    second = clCreateContext(NULL, 1, &device, NULL, NULL, NULL);
    foreign = clCreateBuffer(second, 0, 64, NULL, NULL);
    b = clCreateBuffer(context, 0, 64, NULL, NULL);
    for (int i = 0; i < 3; i++)
        clEnqueueFillBuffer(queue, b, &one, 4, 64, 4, 0, NULL, NULL); /* offset */
    clEnqueueCopyBuffer(queue, b, b, 0, 8, 16, 0, NULL, NULL); /* overlap */
    clEnqueueCopyBuffer(queue, b, foreign, 0, 8, 16, 0, NULL, NULL); /* context */
    clSetKernelArg(kernel, 0, sizeof foreign, &foreign); /* argument */
    clSetKernelArg(kernel, 0, 4, &b); /* size */
    clSetKernelArg(kernel, 7, sizeof b, &b); /* index */
    clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &one, NULL, 0, NULL, NULL); /* unset */
    clSetKernelArg(kernel, 0, sizeof b, &b);
    clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &big, &big, 0, NULL, NULL); /* limit */
    if (clCreateSubBuffer(b, 0, CL_BUFFER_CREATE_TYPE_REGION, &(cl_buffer_region){4, 4}, &error) != NULL) /* sub */
        return 1;
    if (clCreateBuffer(context, CL_MEM_READ_ONLY | CL_MEM_WRITE_ONLY, 64, NULL, NULL) != NULL) /* flags */
        return 2;
    svm = clSVMAlloc(context, 0, 64, 0);
    clSVMFree(context, svm);
    clSVMFree(context, svm); /* twice */
    clSVMFree(context, text); /* foreign */
    clSVMFree(context, NULL);
    clSVMAlloc(context, 0, 100, 0); /* lost */
    clSVMAlloc(second, 0, 200, 0); /* ended */
    /* no findings: */
    clGetDeviceIDs(platform, CL_DEVICE_TYPE_CPU, 1, &none, NULL);
    clGetDeviceInfo(device, CL_DEVICE_NAME, sizeof text, text, NULL);
    clGetKernelArgInfo(kernel, 0, 0x9999, sizeof text, text, NULL);
    clCreateBuffer(context, 0, 64, NULL, NULL) == NULL ? puts("no buffer") : 0; /* leak */
    clBuildProgram(wrong, 0, NULL, NULL, NULL, NULL); /* build */
    clReleaseMemObject(b);
    clReleaseMemObject(foreign);
    clReleaseContext(second);
    end();
    return 0;
}
END
sed -i '1i #undef CL_TARGET_OPENCL_VERSION' calls.c
if build calls; then
    app calls --check=api --check-file findings.json
    for row in offset:clEnqueueFillBuffer:VALUE overlap:clEnqueueCopyBuffer:OVERLAP context:clEnqueueCopyBuffer:CONTEXT \
        argument:clSetKernelArg:CONTEXT size:clSetKernelArg:ARG_SIZE index:clSetKernelArg:ARG_INDEX \
        unset:clEnqueueNDRangeKernel:KERNEL_ARGS limit:clEnqueueNDRangeKernel:WORK_ITEM_SIZE sub:clCreateSubBuffer:SUB_BUFFER_OFFSET \
        flags:clCreateBuffer:VALUE; do
        finds "${row%%:*}" api-invalid-call "$(echo "$row" | cut -d: -f2) returns CL_.*${row##*:}: "
    done
    # the reasons have the values of the call
    finds size api-invalid-call 'argument 0 (a) of kernel k has 8 bytes, and the call gives 4'
    finds index api-invalid-call 'kernel k has 1 parameter, so it has no argument 7'
    finds unset api-invalid-call 'argument 0 (a) of kernel k is not set'
    finds limit api-invalid-call 'the local size in dimension 0 is [0-9]*, of at most 1024'
    finds foreign api-invalid-call 'frees memory that is not shared virtual memory of the context'
    finds twice api-use-after-release 'shared virtual memory that the program has freed'
    finds lost api-leak 'shared virtual memory of 100 bytes is not freed when the program ends'
    finds ended api-leak 'shared virtual memory of 200 bytes is not freed when its context ends'
    finds build api-unread-log 'the build failed'
    finds leak api-leak 'a buffer of 64 bytes'
    [ "$(grep -c '^lanewise: .*: api-' err)" = 16 ] || fail "calls: expected 16 findings: $(cat err)"
    app calls --check=api,-api-invalid-call
    [ "$(grep -c '^lanewise: .*: api-' err)" = 5 ] || fail "calls: expected 5 findings: $(cat err)"
fi

cat >values.c <<'END'
#include "frame.h"
int main(void)
{
    size_t global = 100, local[2] = {48, 0}, many[2] = {64, 32};
    cl_mem b;

    begin();
    b = clCreateBuffer(context, 0, 64, NULL, NULL);
    if (clCreateKernel(program, "kk", NULL) != NULL) /* name */
        return 1;
    clSetKernelArg(kernel, 0, sizeof b, &b);
    clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &global, local, 0, NULL, NULL); /* divides */
    clEnqueueNDRangeKernel(queue, kernel, 2, NULL, many, many, 0, NULL, NULL); /* large */
    clReleaseMemObject(b);
    end();
    return 0;
}
END
build values && {
    app values --check=api
    finds name api-invalid-call 'returns CL_INVALID_KERNEL_NAME: the program has no kernel "kk"; its kernels are: k$'
    finds divides api-invalid-call 'the local size in dimension 0, 48, does not divide the global size 100'
    finds large api-invalid-call 'a work-group of 64 x 32 x 1 work-items, of at most 1024'
}

# Findings that are made at the end of the program are sorted between the earlier ones in reports. Each finding is printed once.
cat >order.c <<'END'
#include "frame.h"
int main(void)
{
    const char *source = "__kernel void k(__global int *a, __global int *b) {\n"
                         "    b[0] = a[get_global_id(0) * 32];\n    a[1000000] = 1;\n}\n";
    size_t size = 64;
    cl_mem a, b;

    begin();
    cl_program p = clCreateProgramWithSource(context, 1, &source, NULL, NULL);
    clBuildProgram(p, 0, NULL, NULL, NULL, NULL);
    cl_kernel k = clCreateKernel(p, "k", NULL);
    a = clCreateBuffer(context, CL_MEM_READ_WRITE, 8192 * 4, NULL, NULL);
    b = clCreateBuffer(context, CL_MEM_READ_WRITE, 64, NULL, NULL);
    clSetKernelArg(k, 0, sizeof a, &a);
    clSetKernelArg(k, 1, sizeof b, &b);
    clEnqueueNDRangeKernel(queue, k, 1, NULL, &size, NULL, 0, NULL, NULL);
    clFinish(queue);
    return 0;
}
END
if build order; then
    app order --check=memory,performance
    [ "$(grep -c ': out-of-bounds: ' err)" = 1 ] || fail "order: expected one out-of-bounds access: $(cat err)"
    [ "$(grep -c ': uncoalesced: ' err)" = 1 ] || fail "order: expected one uncoalesced load: $(cat err)"
fi

# No finding: a buffer is mapped for writing only; the host writes shared virtual memory; printf gets a vector of three elements.
cat >quiet.c <<'END'
#include "frame.h"
#include <string.h>
typedef struct node { int value, next; } node;
int main(void)
{
    const char *source = "__kernel void k(__global int *a, __global int2 *n, __global int *o) {\n"
                         "    int i = get_global_id(0), at = i, sum = 0;\n"
                         "    while (at >= 0) { sum += n[at].x; at = n[at].y; }\n"
                         "    o[i] = a[i] + sum;\n"
                         "    if (i == 1) printf(\"%v3d\\n\", (int3)(i, sum, a[i]));\n}\n";
    size_t size = 16;
    int i, out[16];

    begin();
    cl_program p = clCreateProgramWithSource(context, 1, &source, NULL, NULL);
    clBuildProgram(p, 0, NULL, "-cl-std=CL1.2", NULL, NULL);
    cl_kernel k = clCreateKernel(p, "k", NULL);
    cl_mem a = clCreateBuffer(context, CL_MEM_READ_WRITE, 64, NULL, NULL);
    cl_mem o = clCreateBuffer(context, CL_MEM_READ_WRITE, 64, NULL, NULL);
    node *n = clSVMAlloc(context, CL_MEM_READ_WRITE | CL_MEM_SVM_FINE_GRAIN_BUFFER, 16 * sizeof *n, 0);
    int *m = clEnqueueMapBuffer(queue, a, CL_TRUE, CL_MAP_WRITE, 0, 64, 0, NULL, NULL, NULL);

    for (i = 0; i < 16; i++) {
        m[i] = 100 * i;
        n[i].value = i + 1;
        n[i].next = i - 1;
    }
    clEnqueueUnmapMemObject(queue, a, m, 0, NULL, NULL);
    m = clEnqueueMapBuffer(queue, a, CL_TRUE, CL_MAP_WRITE, 0, 64, 0, NULL, NULL, NULL); /* has the contents of the buffer */
    m[3] += 7;
    clEnqueueUnmapMemObject(queue, a, m, 0, NULL, NULL);
    clSetKernelArg(k, 0, sizeof a, &a);
    clSetKernelArgSVMPointer(k, 1, n);
    clSetKernelArg(k, 2, sizeof o, &o);
    clEnqueueNDRangeKernel(queue, k, 1, NULL, &size, NULL, 0, NULL, NULL);
    clEnqueueReadBuffer(queue, o, CL_TRUE, 0, 64, out, 0, NULL, NULL);
    for (i = 0; i < 16; i++)
        if (out[i] != 100 * i + (i + 1) * (i + 2) / 2 + (i == 3 ? 7 : 0))
            return 1;
    clSVMFree(context, n);
    return 0;
}
END
sed -i 's/^#include "frame.h"/#undef CL_TARGET_OPENCL_VERSION\n#define CL_TARGET_OPENCL_VERSION 200\n#include "frame.h"/' quiet.c
if build quiet; then
    app quiet --check=uninitialised-output,uninitialised-address,uninitialised-branch
    grep -q '^1,3,100$' out && [ ! -s err ] || fail "quiet: expected no finding: $(cat out err)"
fi

# A finding about bytes that the host reads names the call that reads them, also if the command runs in a later call.
cat >unread.c <<'END'
#include "frame.h"
static cl_mem make(void) { return clCreateBuffer(context, CL_MEM_READ_WRITE, 64, NULL, NULL); }
int main(void)
{
    cl_mem a[4];
    int out[16];
    cl_event gate;
    size_t origin[3] = {0}, region[3] = {8, 2, 1};

    begin();
    for (int i = 0; i < 4; i++)
        a[i] = make();
    clEnqueueReadBuffer(queue, a[0], CL_TRUE, 0, 64, out, 0, NULL, NULL); /* read */
    gate = clCreateUserEvent(context, NULL);
    clEnqueueReadBuffer(queue, a[1], CL_FALSE, 0, 32, out, 1, &gate, NULL); /* later */
    clSetUserEventStatus(gate, CL_COMPLETE);
    clFinish(queue);
    clEnqueueReadBufferRect(queue, a[2], CL_TRUE, origin, origin, region, 0, 0, 0, 0, out, 0, NULL, NULL); /* rows */
    clEnqueueMapBuffer(queue, a[3], CL_TRUE, CL_MAP_READ, 0, 64, 0, NULL, NULL, NULL); /* map */
    return 0;
}
END
if build unread; then
    app unread --check=uninitialised-output --check-file unread.sarif
    [ "$(grep -c 'uninitialised-output: the host reads' err)" = 4 ] || fail "unread: expected 4 findings: $(cat err)"
    for mark in read later rows map; do
        line=$(grep -n "/\* $mark \*/" unread.c | cut -d: -f1)
        if [ -n "$lines" ]; then
            grep -q "^lanewise: [^ ]*unread.c:$line: uninitialised-output: the host reads" err ||
                fail "unread: the finding about '$mark' is not at its line: $(cat err)"
            grep -A3 '"locations"' unread.sarif | grep -q "\"startLine\": $line}" || fail "unread: the report has no location for '$mark'"
            grep -q "^lanewise:     read by main ([^ ]*unread.c:$line)" err || fail "unread: the call '$mark' is not named: $(cat err)"
            grep -q "\"startLine\": $line}}, \"message\": {\"text\": \"read by main\"" unread.sarif || fail "unread: the report lacks the call '$mark'"
        fi
    done
    line=$(grep -n "/\* rows \*/" unread.c | cut -d: -f1)
    printf -- '- {kind: uninitialised-output, file: unread.c, line: %s}\n' "$line" >unread.yaml
    if [ -n "$lines" ]; then
        app unread --check=uninitialised-output --check-suppress unread.yaml
        [ "$(grep -c 'uninitialised-output: the host reads' err)" = 3 ] || fail "unread: the suppression of line $line has no effect: $(cat err)"
    fi
fi

# A finding names the calls that created both buffers: the one that is read, and the one from which the value came.
cat >copied.c <<'END'
#include "frame.h"
int main(void)
{
    cl_mem from, to;
    int out[16];

    begin();
    from = clCreateBuffer(context, CL_MEM_READ_WRITE, 64, NULL, NULL); /* from */
    to = clCreateBuffer(context, CL_MEM_READ_WRITE, 64, NULL, NULL); /* to */
    clEnqueueCopyBuffer(queue, from, to, 0, 0, 64, 0, NULL, NULL);
    clEnqueueReadBuffer(queue, to, CL_TRUE, 0, 64, out, 0, NULL, NULL);
    return 0;
}
END
if build copied; then
    app copied --check=uninitialised-output --check-file copied.sarif
    for mark in from to; do
        line=$(grep -n "/\* $mark \*/" copied.c | cut -d: -f1)
        [ -z "$lines" ] || { grep -q "^lanewise:     buffer [0-9] was created by main (copied.c:$line)" err && grep -q "\"startLine\": $line}" copied.sarif; } ||
            fail "copied: the call that created '$mark' is not named: $(cat err)"
    done
fi

# The coverage names the sources of OpenCL programs, which --sources keeps.
app quiet --coverage quiet.info
grep -q 'give --sources FOLDER' err || fail "the coverage names sources that are deleted, without a message: $(cat err)"
app quiet --coverage quiet.info --sources kept
grep -q sources err && fail "--sources does not keep the sources: $(cat err)"
[ -s "$(sed -n 's/^SF://p' quiet.info | head -n 1)" ] || fail "the coverage does not name the source: $(grep SF: quiet.info)"

# A call that waits for a user event is reported after a while, and still ends when another thread completes the event.
cat >waits.c <<'END'
#include "frame.h"
#include <pthread.h>
#include <unistd.h>
static void *complete(void *event)
{
    sleep(1);
    clSetUserEventStatus(event, CL_COMPLETE);
    return NULL;
}
int main(void)
{
    cl_event gate;
    pthread_t thread;

    begin();
    gate = clCreateUserEvent(context, NULL);
    clEnqueueMarkerWithWaitList(queue, 1, &gate, NULL); /* marker */
    pthread_create(&thread, NULL, complete, gate);
    return clFinish(queue) == CL_SUCCESS ? 0 : 1; /* finish */
}
END
if build waits; then
    app waits --hang-limit 6710887 # a tenth of the default
    grep -q '^lanewise: a call has waited for 0.5 seconds for an event' err || fail "waits: the wait is not reported: $(cat err)"
    for mark in 'called:finish' 'enqueued:marker'; do
        line=$(grep -n "/\* ${mark#*:} \*/" waits.c | cut -d: -f1)
        [ -z "$lines" ] || grep -q "${mark%:*} by main (waits.c:$line)" err || fail "waits: the call '${mark#*:}' is not named: $(cat err)"
    done
fi
exit $failed
