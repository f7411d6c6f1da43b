// SPDX-License-Identifier: Apache-2.0
// A program with a thread of its own, which native code must not disturb. `children wait`: a thread waits for any child during the whole
// run. The program has no child, so wait() must never find one. `children lock`: a thread is in the dynamic linker while the device is
// created. Native code must run nevertheless. The second argument is the number of launches.
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cuda_runtime.h>
#include <link.h>
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

enum { THREADS = 1024, ROUNDS = 2000 };
static volatile bool ended, inside, leave;
static volatile int children, signals;
__global__ void work(unsigned *out, unsigned rounds)
{
    unsigned x = blockIdx.x * blockDim.x + threadIdx.x, sum = 0;
    for (unsigned i = 0; i < rounds; i++)
        sum = sum * 5 + (x ^ i);
    out[x] = sum;
}
static void count_signal(int) { signals = signals + 1; }
static void *wait_for_children(void *)
{
    while (!ended)
        if (waitpid(-1, nullptr, WNOHANG) >= 0 || errno != ECHILD)
            children = children + 1;
    return nullptr;
}
static int hold_linker(dl_phdr_info *, size_t, void *)
{
    inside = true;
    for (int ms = 0; !leave && ms < 20000; ms++)
        usleep(1000);
    return 1;
}
static void *enter_linker(void *)
{
    dl_iterate_phdr(hold_linker, nullptr);
    return nullptr;
}

int main(int argc, char **argv)
{
    static unsigned got[THREADS];
    pthread_t thread;
    unsigned *p, wrong = 0;
    int count = 0;
    const bool waits = argc > 1 && strcmp(argv[1], "wait") == 0;
    const int launches = argc > 2 ? atoi(argv[2]) : 0;

    if (waits) {
        signal(SIGCHLD, count_signal);
        pthread_create(&thread, nullptr, wait_for_children, nullptr);
    } else {
        pthread_create(&thread, nullptr, enter_linker, nullptr);
        while (!inside)
            usleep(1000);
    }
    cudaGetDeviceCount(&count); // creates the device
    leave = true;
    cudaMalloc(&p, sizeof got);
    for (int i = 0; i < launches; i++)
        work<<<THREADS / 128, 128>>>(p, ROUNDS);
    cudaMemcpy(got, p, sizeof got, cudaMemcpyDeviceToHost);
    ended = true;
    pthread_join(thread, nullptr);
    for (unsigned x = 0; x < THREADS; x++) {
        unsigned sum = 0;
        for (unsigned i = 0; i < ROUNDS; i++)
            sum = sum * 5 + (x ^ i);
        wrong += sum != got[x];
    }
    printf("%u wrong results, %d children, %d signals\n", wrong, children, signals);
    return 0;
}
