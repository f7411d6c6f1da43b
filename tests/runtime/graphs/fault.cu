// SPDX-License-Identifier: Apache-2.0
// A kernel of a graph fails: the nodes after it are not executed, and later calls return the error until cudaDeviceReset.
#include <cstdio>
#include <cuda_runtime.h>
__global__ void past(int *p) { p[threadIdx.x + 100000] = 1; }
static int wrong, called;
#define EXPECT(x) do { if (!(x)) { printf("line %d: %s\n", __LINE__, #x); wrong = 1; } } while (0)

int main()
{
    int *d;
    cudaStream_t s;
    cudaGraph_t g;
    cudaGraphExec_t e;

    EXPECT(cudaMalloc(&d, 64) == 0 && cudaStreamCreate(&s) == 0);
    EXPECT(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal) == 0);
    past<<<1, 32, 0, s>>>(d);
    EXPECT(cudaLaunchHostFunc(s, [](void *) { called++; }, nullptr) == 0);
    EXPECT(cudaStreamEndCapture(s, &g) == 0 && cudaGraphInstantiate(&e, g, 0) == 0);
    EXPECT(cudaGraphLaunch(e, s) == 0);
    EXPECT(called == 0 && cudaStreamSynchronize(s) == cudaErrorIllegalAddress);
    EXPECT(cudaGraphLaunch(e, s) == cudaErrorIllegalAddress && cudaDeviceReset() == 0);
    EXPECT(cudaGraphLaunch(e, nullptr) == cudaErrorInvalidValue && called == 0); // the reset has destroyed it
    puts(wrong ? "wrong" : "all right");
    return wrong;
}
