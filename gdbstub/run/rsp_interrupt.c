/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Interrupt listener, a host thread. While the target runs, the thread of the debugger reads no packets. The interrupt listener
 * checks every few milliseconds whether the client has sent Ctrl-C or has disconnected. If so, it calls dbg_interrupt, the only
 * function of debug/ that may be called from another thread.
 */
#include "gdbstub/rsp_priv.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <time.h>

enum {
    POLL_MS = 5,
    IDLE_POLLS = 20 /* number of polls without a run after which the interrupt listener sleeps. It does not sleep immediately:
                     * during many short steps, waking it at each step would take longer than the steps */
};

struct rsp_interrupt_listener {
    struct dbg *dbg;
    bool (*interrupted)(void *context);
    void *context;
    pthread_t thread;
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    unsigned idle; /* number of polls since the last run */
    bool running, requested, sleeping, quit;
};

static void deadline(struct timespec *at)
{
    clock_gettime(CLOCK_MONOTONIC, at);
    at->tv_nsec += POLL_MS * 1000000L;
    if (at->tv_nsec >= 1000000000L) {
        at->tv_nsec -= 1000000000L;
        at->tv_sec++;
    }
}

static void *listener_main(void *argument)
{
    struct rsp_interrupt_listener *listener = argument;

    pthread_mutex_lock(&listener->mutex);
    while (!listener->quit) {
        struct timespec at;

        if (!listener->running && listener->idle >= IDLE_POLLS) {
            listener->sleeping = true;
            pthread_cond_wait(&listener->changed, &listener->mutex);
            listener->sleeping = false;
            continue;
        }
        deadline(&at);
        if (pthread_cond_timedwait(&listener->changed, &listener->mutex, &at) != ETIMEDOUT || listener->quit)
            continue;
        listener->idle++;
        if (!listener->running)
            continue;
        /* The lock is held during the poll function, so that no call of the poll function is in progress after rsp_listener_end().
         * After an interrupt, dbg_interrupt is called at each poll until rsp_listener_end(), because its first call may precede
         * the start of the run. */
        if (!listener->requested)
            listener->requested = listener->interrupted(listener->context);
        if (listener->requested)
            dbg_interrupt(listener->dbg);
    }
    pthread_mutex_unlock(&listener->mutex);
    return NULL;
}

enum lw_status rsp_listener_create(struct dbg *dbg, bool (*interrupted)(void *context),
                                void *context, struct rsp_interrupt_listener **out)
{
    struct rsp_interrupt_listener *listener = calloc(1, sizeof *listener);
    pthread_condattr_t attr;

    if (listener == NULL)
        return LW_ENOMEM;
    listener->dbg = dbg;
    listener->interrupted = interrupted;
    listener->context = context;
    listener->idle = IDLE_POLLS;
    pthread_mutex_init(&listener->mutex, NULL);
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_cond_init(&listener->changed, &attr);
    pthread_condattr_destroy(&attr);
    if (pthread_create(&listener->thread, NULL, listener_main, listener) != 0) {
        pthread_cond_destroy(&listener->changed);
        pthread_mutex_destroy(&listener->mutex);
        free(listener);
        return LW_EIO;
    }
    *out = listener;
    return LW_OK;
}

void rsp_listener_destroy(struct rsp_interrupt_listener *listener)
{
    if (listener == NULL)
        return;
    pthread_mutex_lock(&listener->mutex);
    listener->quit = true;
    pthread_cond_signal(&listener->changed);
    pthread_mutex_unlock(&listener->mutex);
    pthread_join(listener->thread, NULL);
    pthread_cond_destroy(&listener->changed);
    pthread_mutex_destroy(&listener->mutex);
    free(listener);
}

void rsp_listener_begin(struct rsp_interrupt_listener *listener)
{
    if (listener == NULL)
        return;
    pthread_mutex_lock(&listener->mutex);
    listener->running = true;
    listener->requested = false;
    listener->idle = 0;
    if (listener->sleeping)
        pthread_cond_signal(&listener->changed);
    pthread_mutex_unlock(&listener->mutex);
}

void rsp_listener_change(struct rsp_interrupt_listener *listener, struct dbg *dbg)
{
    if (listener == NULL)
        return;
    pthread_mutex_lock(&listener->mutex);
    listener->dbg = dbg;
    pthread_mutex_unlock(&listener->mutex);
}

void rsp_listener_end(struct rsp_interrupt_listener *listener)
{
    if (listener == NULL)
        return;
    pthread_mutex_lock(&listener->mutex);
    listener->running = false;
    pthread_mutex_unlock(&listener->mutex);
}

bool rsp_listener_ask(struct rsp_interrupt_listener *listener)
{
    bool requested;

    if (listener == NULL)
        return false;
    pthread_mutex_lock(&listener->mutex);
    requested = listener->interrupted(listener->context);
    pthread_mutex_unlock(&listener->mutex);
    return requested;
}
