#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Tests the checks of calls (`lanewise app --check=api`) with programs for CUDA's runtime and driver interface: each wrong call has a
# finding at its line, calls that may fail have none, and reports contain the findings.
. "${srcdir:-.}/tests/runtime/cuda_lib.sh"
# Without libdw, findings name functions instead of lines.
lines=yes
ldd "$(dirname "$lanewise")/liblanewise-runtime.so.0" | grep -q libdw || lines=

build() { # usage: build NAME. Compiles NAME.cu
    name=$1
    "$lanewise" cc --compiler clang-19 -g "$1.cu" -o "$1" -lcuda >log 2>&1 || { fail "$1.cu does not compile"; cat log; return 1; }
}
app() { # usage: app OPTION... . Runs the last program; writes its standard error to the file err
    timeout 120 "$lanewise" app "$@" "./$name" >out 2>err || fail "$name $*: status $?: $(cat out err)"
}
finds() { # usage: finds MARK KIND TEXT. The last program must have a finding of KIND with TEXT at the line with the comment MARK
    line=$(grep -n "/\* $1 \*/" "$name.cu" | cut -d: -f1)
    if [ -n "$lines" ]; then
        grep -q "^lanewise: [^ ]*$name.cu:$line: $2: .*$3" err || fail "$name: there is no '$2: $3' at line $line: $(cat err)"
    else
        grep -q "^lanewise: .*: $2: .*$3" err || fail "$name: no '$2: $3': $(cat err)"
    fi
}
counts() { # usage: counts KIND NUMBER. The last program must have so many findings of KIND
    [ "$(grep -c "^lanewise: .*: $1: " err)" = "$2" ] || fail "$name: expected $2 findings of kind $1: $(cat err)"
}

# Of the two examples of `lanewise explain`, the wrong one must have a finding of its kind, and the right one no finding.
for kind in $("$lanewise" explain api | awk '{print $2}'); do
    "$lanewise" explain "$kind" | grep -q cuda || continue # the example is for OpenCL
    for form in wrong right; do
        text=$("$lanewise" explain "$kind" | sed -n "/^$form:/{n;p}")
        printf '#include <stdio.h>\n__global__ void k(int *p) { p[threadIdx.x] = 1; }\nint main()\n{\n    int *a;\n    cudaMalloc(&a, 64);
            { %s /* here */ }\n    cudaFree(a);\n}\n' "$text" >"${kind//-/_}_$form.cu"
        build "${kind//-/_}_$form" || continue
        app --check=all
        if [ $form = wrong ]; then finds here "$kind" ""; else [ ! -s err ] || fail "$name: a finding: $(cat err)"; fi
    done
done

cat >many.cu <<'END'
#include <stdio.h>
#include <cuda.h>
__global__ void k(int *p) { p[threadIdx.x] = 1; }
__device__ int numbers[4];
static void *make(size_t bytes)
{
    void *p;
    cudaMalloc(&p, bytes); /* made */
    return p;
}
static void fails(int *p)
{
    k<<<1, dim3(2, 1, 65)>>>(p); /* read */
    printf("%s\n", cudaGetErrorName(cudaGetLastError()));
    k<<<1, 2048>>>(p); /* unread */
    for (int i = 0; i < 3; i++)
        k<<<1, 32, 1 << 20>>>(p); /* shared */
}
int main()
{
    int *p = (int *)make(64), *q, h[4] = {0};
    cudaStream_t s;
    cudaEvent_t e, f;
    cudaGraph_t g;
    cudaGraphExec_t x;
    cudaArray_t a;
    cudaChannelFormatDesc d = cudaCreateChannelDesc<float>();

    cudaStreamCreate(&s);
    cudaStreamDestroy(s); /* gone */
    cudaStreamDestroy(s); /* twice */
    for (int i = 0; i < 50; i++) {
        cudaStream_t other;
        cudaStreamCreate(&other);
        if (other == s)
            puts("the handle is used again");
        if (cudaStreamSynchronize(s) == cudaSuccess) /* stream */
            return 1;
        cudaStreamDestroy(other);
    }
    cudaEventCreate(&e);
    cudaEventDestroy(e);
    cudaEventRecord(e, 0); /* event */
    cudaFree(p);
    cudaFree(p); /* free */
    cudaMemcpy(h, p, 16, cudaMemcpyDeviceToHost); /* freed */
    q = (int *)make(128);
    cudaFree(q + 1); /* middle */
    cudaMemcpy(q, h, 300, cudaMemcpyHostToDevice); /* range */
    cudaMemset(h, 0, 4); /* host */
    cudaMemcpy(q, q + 16, 64, cudaMemcpyDeviceToDevice); /* touches */
    cudaMemcpy(q, q + 15, 64, cudaMemcpyDeviceToDevice); /* overlap */
    cudaMemcpy2DAsync(q + 1, 16, q, 16, 12, 2, cudaMemcpyDeviceToDevice); /* rows */
    cudaMemcpyToSymbol(numbers, h, 12, 8); /* symbol */
    void *none[] = {NULL};
    cudaLaunchKernel((void *)k, dim3(1), dim3(1), none, 0, 0); /* argument */
    cudaMemcpy(q, h, 4, (cudaMemcpyKind)9); /* kind */
    cudaStreamSynchronize((cudaStream_t)0x1234); /* number */
    cudaMalloc((void **)0, 4); /* null */
    fails(q);
    for (int i = 0; i < 3; i++)
        cudaEventCreate(&f); /* leak */
    cudaMallocHost((void **)&p, 8); /* pinned */
    cudaGraphCreate(&g, 0); /* graph */
    cudaGraphInstantiate(&x, g, 0); /* exec */
    cudaMallocArray(&a, &d, 4, 4); /* array */
    cuMemFree(0x1000); /* driver */
    CUstream t;
    cuStreamCreate(&t, 0); /* driver stream */
    CUcontext c;
    cuDevicePrimaryCtxRetain(&c, 0);
    return 0;
}
END
if build many; then
    app --check=api --max-findings 1000 --check-file findings.json --check-file findings.sarif
    finds twice api-use-after-release 'cudaStreamDestroy returns cudaErrorInvalidResourceHandle .*a stream that the program has released'
    finds stream api-use-after-release 'cudaStreamSynchronize returns'
    finds event api-use-after-release 'cudaEventRecord returns .*an event that'
    finds free api-use-after-release 'cudaFree returns cudaErrorInvalidValue .*device memory that'
    finds freed api-use-after-release 'cudaMemcpy returns'
    counts api-use-after-release 5
    [ -z "$lines" ] || grep -q "^lanewise:     released by main ([^ ]*many.cu:$(grep -n '/\* gone \*/' many.cu | cut -d: -f1))" err ||
        fail "many: the message does not name the line of the release"
    [ -z "$lines" ] || grep -q "^lanewise:     created by make ([^ ]*many.cu:$(grep -n '/\* made \*/' many.cu | cut -d: -f1))" err ||
        fail "many: the message does not name the line of the creation"
    finds middle api-invalid-call 'cudaFree returns .*is not the start of memory'
    finds range api-invalid-call 'cudaMemcpy returns cudaErrorInvalidValue .*128'
    finds host api-invalid-call 'cudaMemset returns '
    finds overlap api-invalid-call 'cudaMemcpy has an effect that CUDA does not define: source and destination overlap'
    finds rows api-invalid-call 'cudaMemcpy2DAsync has an effect that CUDA does not define: source and destination overlap'
    grep -q 'parameter 1 (p) of 1 has no value' err || fail "many: the parameter without a value: $(cat err)"
    finds symbol api-invalid-call 'cudaMemcpyToSymbol returns cudaErrorInvalidValue .*12 bytes from offset 8 exceed the variable, which has 16 bytes'
    finds kind api-invalid-call 'cudaMemcpy returns cudaErrorInvalidMemcpyDirection'
    finds number api-invalid-call 'cudaStreamSynchronize returns cudaErrorInvalidResourceHandle'
    finds null api-invalid-call 'cudaMalloc returns cudaErrorInvalidValue'
    finds read api-invalid-call 'cudaLaunchKernel returns .*2 x 1 x 65 threads'
    finds unread api-invalid-call 'cudaLaunchKernel returns .*2048 x 1 x 1 threads, of at most 1024'
    finds shared api-invalid-call 'cudaLaunchKernel returns .*1048576 bytes of dynamic shared memory, of at most 49152'
    finds driver api-invalid-call 'cuMemFree returns CUDA_ERROR_INVALID_VALUE'
    counts api-invalid-call 13
    finds unread api-unread-error 'the launch fails with cudaErrorInvalidValue'
    finds shared api-unread-error 'the launch fails with cudaErrorInvalidValue'
    counts api-unread-error 2
    finds made api-leak 'device memory of 128 bytes is not released when the program ends: call cudaFree'
    finds leak api-leak 'an event is not released when the program ends: call cudaEventDestroy'
    finds pinned api-leak 'pinned memory of 8 bytes .*call cudaFreeHost'
    finds graph api-leak 'a graph is not released .*call cudaGraphDestroy'
    finds exec api-leak 'an executable graph is not .*call cudaGraphExecDestroy'
    finds array api-leak 'an array is not .*call cudaFreeArray'
    finds 'driver stream' api-leak 'a stream is not .*call cuStreamDestroy'
    counts api-leak 7
    grep -q 'used again' out && fail "many: a new stream gets the handle of a destroyed one"
    grep -q '"kind": "api-unread-error", "class": "api"' findings.json && grep -q '"count": 3,' findings.json ||
        fail "many: JSON does not contain the findings"
    grep -q '"ruleId": "api-invalid-call"' findings.sarif || fail "many: SARIF does not contain the rule"
    # kinds can be selected one by one
    app --check=api-leak
    counts 'api-[a-z-]*' 7
    app --check=api-invalid-call
    counts 'api-[a-z-]*' 13
    app --check=memory
    counts 'api-[a-z-]*' 0
    echo '- {kind: api-leak}' >known.yaml
    app --check=api --check-suppress known.yaml
    counts api-leak 0
fi

# No finding: calls whose error is an answer, an error that is read, objects that the end of the program or of the device releases.
cat >quiet.cu <<'END'
#include <stdio.h>
#include <cuda.h>
#include <thread>
__global__ void k(int *p) { p[threadIdx.x] = 1; }
struct late {
    cudaStream_t stream;
    ~late() { cudaStreamDestroy(stream); }
} object;
int main()
{
    int *p, can, host;
    cudaPointerAttributes a;
    cudaStream_t s;
    cudaEvent_t e;
    CUdevice device;
    CUmodule module;
    cudaGraph_t graph, clone;

    cudaStreamCreate(&object.stream);
    cudaDeviceCanAccessPeer(&can, 0, 1);
    cudaDeviceEnablePeerAccess(1, 0);
    cudaSetDevice(7);
    cuInit(0);
    cuDeviceGet(&device, 9);
    cuModuleLoad(&module, "/nonexistent");
    cudaPointerGetAttributes(&a, &host);
    cudaOccupancyMaxActiveBlocksPerMultiprocessor(&can, k, -1, 0);
    cudaMalloc(&p, (size_t)1 << 60);
    cudaGetLastError();
    cudaMalloc(&p, 64);
    std::thread([=] { k<<<1, 16>>>(p); cudaDeviceSynchronize(); }).join();
    cudaStreamCreate(&s);
    cudaEventCreate(&e);
    cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal);
    k<<<1, 16, 0, s>>>(p);
    cudaStreamEndCapture(s, &graph);
    cudaGraphClone(&clone, graph);
    cudaGraphDestroy(clone);
    cudaGraphDestroy(graph);
    cudaEventRecord(e, s);
    cudaEventQuery(e);
    cudaEventDestroy(e);
    cudaStreamDestroy(s);
    cudaFree(p);
    CUcontext context; /* its end releases what was created in it */
    CUdeviceptr d;
    CUstream t;
    cuCtxCreate(&context, 0, 0);
    cuMemAlloc(&d, 64);
    cuStreamCreate(&t, 0);
    cuCtxDestroy(context);
    return 0;
}
END
if build quiet; then
    app --check=api
    [ ! -s err ] || fail "quiet: expected no finding: $(cat err)"
fi
sed 's/cudaFree(p);/cudaDeviceReset(); cudaStreamCreate(\&object.stream);/' quiet.cu >reset.cu
if build reset; then
    app --check=api
    counts 'api-[a-z-]*' 0
fi

# A call in a header of the program: each caller has its own finding. Names of functions are those of the source.
cat >box.cuh <<'END'
namespace lib {
struct box {
    int *data;
    explicit box(size_t n) { cudaMalloc(&data, n); } /* header */
};
}
END
cat >callers.cu <<'END'
#include "box.cuh"
__global__ void k(int *p) { p[1000] = 1; }
static int *one() { return lib::box(64).data; } /* one */
static int *two() { return lib::box(64).data; } /* two */
int main()
{
    k<<<1, 1>>>(one());
    return two() == nullptr;
}
END
for level in -O0 -O2; do
    [ -n "$lines" ] && "$lanewise" cc --compiler clang-19 -g $level callers.cu -o callers >log 2>&1 || continue
    name=callers
    app --check=api,memory --check-file callers.json
    counts api-leak 2
    for caller in one two; do
        line=$(grep -n "/\* $caller \*/" callers.cu | cut -d: -f1)
        grep -q "called from $caller ([^ ]*callers.cu:$line)" err && grep -q "called from $caller" callers.json ||
            fail "callers $level: there is no caller $caller: $(cat err)"
    done
    grep -q 'was created by lib::box::box ([^ ]*box.cuh:4)' err || fail "callers $level: the constructor is not named: $(cat err)"
done
# After a fault, calls that release objects fail, so objects that are left are no leaks.
cat >faulted.cu <<'END'
__global__ void k(int *p) { *p = 1; __trap(); }
int main()
{
    int *p;
    cudaMalloc(&p, 16);
    k<<<1, 1>>>(p);
    cudaDeviceSynchronize();
    cudaFree(p);
}
END
if build faulted; then
    "$lanewise" app --check=all ./faulted >out 2>err
    grep -q '^lanewise: fault: trap' err && ! grep -q 'api-leak' err || fail "faulted: $(cat err)"
fi

# Findings name the user's calls, and no code of a header: the launch by a template of the runtime, and the copy that reads bytes.
cat >calls.cu <<'END'
__global__ void k(int *p, int v) { *p = v; }
int main()
{
    int *p, h[4];
    cudaLaunchConfig_t c = {};
    cudaMalloc(&p, 16);
    c.gridDim = 1, c.blockDim = 1;
    cudaLaunchKernelEx(&c, k, p + 4, 1); /* launch */
    cudaDeviceSynchronize();
    cudaMemcpy(h, p, 16, cudaMemcpyDeviceToHost); /* read */
    cudaFree(p); /* freed */
    k<<<1, 1>>>(p, 2);
    cudaDeviceSynchronize();
}
END
for level in -O0 -O2; do
    name=calls
    "$lanewise" cc --compiler clang-19 -g $level calls.cu -o calls >log 2>&1 || { fail "calls.cu does not compile with $level"; cat log; }
    app --check=memory,uninitialised-output
    for mark in launch read freed; do
        line=$(grep -n "/\* $mark \*/" calls.cu | cut -d: -f1)
        [ -z "$lines" ] || grep -q "^lanewise:     ${mark/launch/launched}\( by\) main ([^ ]*calls.cu:$line)" err ||
            fail "calls $level: the call '$mark' is not named: $(cat err)"
    done
done
if [ -n "$lines" ] && [ -f /usr/include/CL/opencl.hpp ]; then # headers of the system are no code of the program
    cat >hpp.cpp <<'END'
#define CL_HPP_TARGET_OPENCL_VERSION 300
#include <CL/opencl.hpp>
int main()
{
    cl::Context c(CL_DEVICE_TYPE_GPU);
    cl::Program p(c, "kernel void k(global int *a) { a[100] = 1; }", true);
    cl::CommandQueue q(c);
    cl::Buffer b(c, CL_MEM_READ_WRITE, 16);
    cl::Kernel k(p, "k");
    k.setArg(0, b);
    q.enqueueNDRangeKernel(k, cl::NullRange, cl::NDRange(1)); /* launch */
    q.finish();
}
END
    if c++ -g hpp.cpp -o hpp -lOpenCL 2>/dev/null; then
        name=hpp
        app --check=memory
        line=$(grep -n '/\* launch \*/' hpp.cpp | cut -d: -f1)
        grep -q "launched by main ([^ ]*hpp.cpp:$line)" err || fail "hpp: the launch is not named: $(cat err)"
    fi
fi
exit $failed
