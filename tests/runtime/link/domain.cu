// SPDX-License-Identifier: Apache-2.0
// With domain_number.cu, a program and its shared libraries, whose device code has equal names and different values. Macro FACTOR
// differs between them, and FUNCTION is the name of the function that uses the device code. The program (PROGRAM) is linked with one
// of the libraries, and opens those in its arguments twice.
#include <cstdio>

__device__ int number(int x);
__device__ int state = FACTOR;
inline __device__ int multiply(int x) { return x * FACTOR; }
static __global__ void own(int *p) { p[0] = multiply(number(1)) + state++; }
template <int N> __global__ void of_template(int *p) { p[1] = multiply(number(N)) + state++; }
__global__ void named(int *p) { p[2] = multiply(number(3)) + state++; }

/** Returns whether the kernels of this library use its own device code. */
extern "C" bool FUNCTION()
{
    int *p, value = 0;
    bool good = cudaMallocManaged(&p, 3 * sizeof *p) == cudaSuccess;

    own<<<1, 1>>>(p);
    of_template<2><<<1, 1>>>(p);
    named<<<1, 1>>>(p);
    good &= cudaGetLastError() == cudaSuccess && cudaDeviceSynchronize() == cudaSuccess;
    good &= cudaMemcpyFromSymbol(&value, state, sizeof value) == cudaSuccess && value == FACTOR + 3;
    for (int i = 0; i < 3; i++)
        if (p[i] != FACTOR * (10 * FACTOR + i + 1) + FACTOR + i) {
            printf("kernel %d with factor %d: the result %d is wrong\n", i, FACTOR, p[i]);
            good = false;
        }
    return good;
}

#ifdef PROGRAM
#include <dlfcn.h>

extern "C" bool run_linked();

int main(int argc, char **argv)
{
    bool good = FUNCTION() && run_linked();

    for (int i = 1; i < argc; i++)
        for (int turn = 0; turn < 2; turn++) {
            void *library = dlopen(argv[i], RTLD_NOW | RTLD_LOCAL);
            bool (*run)() = library != NULL ? (bool (*)())dlsym(library, "run_opened") : NULL;

            good &= run != NULL && run();
            if (library != NULL && (i == 1 || turn == 0)) /* the second one stays open */
                good &= dlclose(library) == 0;
        }
    puts(good ? "all right" : "wrong");
    return !good;
}
#endif
