/* SPDX-License-Identifier: Apache-2.0 */
/* Host functions may wait for what the program does after the call that requests them, and later work of the stream waits for them. */
#include "check.h"

#include <atomic>
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static std::atomic<int> go, order;
static bool signalled;

__global__ void copy(int *out, const int *in) { *out = *in; }

static void wait_for_go(void *to)
{
    while (!go)
        usleep(100);
    *(int *)to = ++order;
}
static void send_signal(cudaStream_t, cudaError_t error, void *)
{
    pthread_mutex_lock(&mutex);
    signalled = error == cudaSuccess;
    pthread_cond_signal(&changed);
    pthread_mutex_unlock(&mutex);
}
static void append(void *to) { *(int *)to = ++order; }

int main()
{
    cudaStream_t a, b, free;
    cudaEvent_t event;
    int first = 0, second = 0, out = 0, *shared, status;

    EQUALS(cudaStreamCreate(&a), cudaSuccess);
    EQUALS(cudaStreamCreate(&b), cudaSuccess);
    EQUALS(cudaStreamCreateWithFlags(&free, cudaStreamNonBlocking), cudaSuccess);
    EQUALS(cudaEventCreate(&event), cudaSuccess);
    EQUALS(cudaMallocManaged(&shared, 2 * sizeof(int)), cudaSuccess);

    /* A callback that needs a lock which the program holds. */
    pthread_mutex_lock(&mutex);
    EQUALS(cudaStreamAddCallback(a, send_signal, nullptr, 0), cudaSuccess);
    while (!signalled)
        pthread_cond_wait(&changed, &mutex);
    pthread_mutex_unlock(&mutex);

    /* A function that waits for the program. Other streams and queries do not wait for it. */
    EQUALS(cudaLaunchHostFunc(a, wait_for_go, shared), cudaSuccess);
    EQUALS(cudaEventRecord(event, a), cudaSuccess);
    EQUALS(cudaStreamQuery(a), cudaErrorNotReady);
    EQUALS(cudaEventQuery(event), cudaErrorNotReady);
    EQUALS(cudaStreamQuery(b), cudaSuccess);
    EQUALS(cudaStreamQuery(0), cudaErrorNotReady); /* the default stream follows the other streams */
    copy<<<1, 1, 0, b>>>(shared + 1, shared);
    EQUALS(cudaStreamSynchronize(b), cudaSuccess);
    CHECK(shared[1] == 0);
    EQUALS(cudaStreamQuery(free), cudaSuccess);
    EQUALS(cudaStreamWaitEvent(free, event, 0), cudaSuccess);
    EQUALS(cudaStreamQuery(free), cudaErrorNotReady);
    go = 1;
    copy<<<1, 1, 0, free>>>(shared + 1, shared); /* waits for the event */
    EQUALS(cudaStreamSynchronize(free), cudaSuccess);
    CHECK(shared[0] == 1 && shared[1] == 1);
    EQUALS(cudaEventSynchronize(event), cudaSuccess);
    EQUALS(cudaStreamQuery(0), cudaSuccess);

    /* Functions of one stream are called in their order, and a copy of the default stream waits for them. */
    go = 0;
    EQUALS(cudaLaunchHostFunc(a, wait_for_go, &first), cudaSuccess);
    EQUALS(cudaLaunchHostFunc(a, append, &second), cudaSuccess);
    go = 1;
    EQUALS(cudaMemcpy(&out, shared, sizeof out, cudaMemcpyDeviceToHost), cudaSuccess);
    CHECK(first == 2 && second == 3 && out == 1);

    /* A child has no pending functions, and calls its own. */
    go = 0;
    EQUALS(cudaLaunchHostFunc(a, wait_for_go, &first), cudaSuccess);
    if (fork() == 0) {
        go = 1;
        EQUALS(cudaDeviceSynchronize(), cudaSuccess);
        EQUALS(cudaLaunchHostFunc(a, append, &second), cudaSuccess);
        EQUALS(cudaDeviceSynchronize(), cudaSuccess);
        _exit(failed || second != 4);
    }
    CHECK(wait(&status) > 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0);
    go = 1;
    EQUALS(cudaDeviceSynchronize(), cudaSuccess);
    CHECK(first == 4);
    EQUALS(cudaFree(shared), cudaSuccess);
    if (!failed)
        printf("all right\n");
    return failed;
}
