/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A thread that calls functions of the program, such as CUDA's host functions. A program may hold a lock, or may not have sent a signal
 * yet, for which such a function waits, so the function must not run within the program's call. The functions run one after the
 * other. The program's call waits a moment for the end of the function. Almost all functions end in this time, so that a program does
 * the same in each run.
 */
#include "runtime/rt_priv.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <time.h>

enum { MOMENT_MS = 20 };

struct call {
    struct call *next;
    void (*function)(void *context);
    void *context;
};
/* This state is global, because a process has one device. The mutex is not the lock of the runtimes. It is never held while a function
 * runs. */
static struct {
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    struct call *first, **last;
    _Atomic uint64_t posted, done; /* numbers of calls that were requested, and that have ended */
    bool started;
    pthread_t thread;
} calls = {.mutex = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER, .last = &calls.first};

static void *serve(void *unused)
{
    (void)unused;
    pthread_mutex_lock(&calls.mutex);
    for (;;) {
        while (calls.first == NULL)
            pthread_cond_wait(&calls.changed, &calls.mutex);
        struct call *call = calls.first;
        calls.first = call->next;
        if (calls.first == NULL)
            calls.last = &calls.first;
        pthread_mutex_unlock(&calls.mutex);
        call->function(call->context);
        free(call);
        pthread_mutex_lock(&calls.mutex);
        calls.done++;
        pthread_cond_broadcast(&calls.changed);
    }
    return NULL;
}

/** Starts the thread if it does not run yet. Its signals are blocked, because the program expects them in its own threads. */
static bool start(void)
{
    sigset_t all, before;

    if (calls.started)
        return true;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    calls.started = pthread_create(&calls.thread, NULL, serve, NULL) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (calls.started)
        (void)pthread_detach(calls.thread);
    return calls.started;
}

static bool is_ours(void)
{
    return calls.started && pthread_equal(pthread_self(), calls.thread);
}

uint64_t rt_call(void (*function)(void *context), void *context)
{
    struct call *call = calloc(1, sizeof *call);
    struct timespec until;

    pthread_mutex_lock(&calls.mutex);
    if (call == NULL || is_ours() || !start()) { /* a function that itself requests a call, or the host has no memory or thread */
        pthread_mutex_unlock(&calls.mutex);
        free(call);
        function(context);
        return 0;
    }
    *call = (struct call){.function = function, .context = context};
    *calls.last = call;
    calls.last = &call->next;
    const uint64_t number = ++calls.posted;
    pthread_cond_broadcast(&calls.changed);
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += MOMENT_MS * 1000000;
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    while (calls.done < number && pthread_cond_timedwait(&calls.changed, &calls.mutex, &until) == 0)
        ;
    pthread_mutex_unlock(&calls.mutex);
    return number;
}

bool rt_call_ended(uint64_t number)
{
    return calls.done >= number;
}

void rt_call_wait(uint64_t number)
{
    if (rt_call_ended(number))
        return;
    pthread_mutex_lock(&calls.mutex);
    while (calls.done < number && !is_ours())
        pthread_cond_wait(&calls.changed, &calls.mutex);
    pthread_mutex_unlock(&calls.mutex);
}

uint64_t rt_call_last(void)
{
    return calls.posted;
}

void rt_calls_forked(void)
{
    calls.mutex = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
    calls.changed = (pthread_cond_t)PTHREAD_COND_INITIALIZER;
    calls.first = NULL; /* the parent's thread makes these calls */
    calls.last = &calls.first;
    calls.done = calls.posted;
    calls.started = false;
}
