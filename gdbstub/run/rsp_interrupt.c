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

static void *watch_main(void *argument)
{
    struct rsp_interrupt_listener *watch = argument;

    pthread_mutex_lock(&watch->mutex);
    while (!watch->quit) {
        struct timespec at;

        if (!watch->running && watch->idle >= IDLE_POLLS) {
            watch->sleeping = true;
            pthread_cond_wait(&watch->changed, &watch->mutex);
            watch->sleeping = false;
            continue;
        }
        deadline(&at);
        if (pthread_cond_timedwait(&watch->changed, &watch->mutex, &at) != ETIMEDOUT || watch->quit)
            continue;
        watch->idle++;
        if (!watch->running)
            continue;
        /* The lock is held during the poll function, so that no call of the poll function is in progress after rsp_watch_end().
         * After an interrupt, dbg_interrupt is called at each poll until rsp_watch_end(), because its first call may precede
         * the start of the run. */
        if (!watch->requested)
            watch->requested = watch->interrupted(watch->context);
        if (watch->requested)
            dbg_interrupt(watch->dbg);
    }
    pthread_mutex_unlock(&watch->mutex);
    return NULL;
}

enum lw_status rsp_watch_create(struct dbg *dbg, bool (*interrupted)(void *context),
                                void *context, struct rsp_interrupt_listener **out)
{
    struct rsp_interrupt_listener *watch = calloc(1, sizeof *watch);
    pthread_condattr_t attr;

    if (watch == NULL)
        return LW_ENOMEM;
    watch->dbg = dbg;
    watch->interrupted = interrupted;
    watch->context = context;
    watch->idle = IDLE_POLLS;
    pthread_mutex_init(&watch->mutex, NULL);
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_cond_init(&watch->changed, &attr);
    pthread_condattr_destroy(&attr);
    if (pthread_create(&watch->thread, NULL, watch_main, watch) != 0) {
        pthread_cond_destroy(&watch->changed);
        pthread_mutex_destroy(&watch->mutex);
        free(watch);
        return LW_EIO;
    }
    *out = watch;
    return LW_OK;
}

void rsp_watch_destroy(struct rsp_interrupt_listener *watch)
{
    if (watch == NULL)
        return;
    pthread_mutex_lock(&watch->mutex);
    watch->quit = true;
    pthread_cond_signal(&watch->changed);
    pthread_mutex_unlock(&watch->mutex);
    pthread_join(watch->thread, NULL);
    pthread_cond_destroy(&watch->changed);
    pthread_mutex_destroy(&watch->mutex);
    free(watch);
}

void rsp_watch_begin(struct rsp_interrupt_listener *watch)
{
    if (watch == NULL)
        return;
    pthread_mutex_lock(&watch->mutex);
    watch->running = true;
    watch->requested = false;
    watch->idle = 0;
    if (watch->sleeping)
        pthread_cond_signal(&watch->changed);
    pthread_mutex_unlock(&watch->mutex);
}

void rsp_watch_change(struct rsp_interrupt_listener *watch, struct dbg *dbg)
{
    if (watch == NULL)
        return;
    pthread_mutex_lock(&watch->mutex);
    watch->dbg = dbg;
    pthread_mutex_unlock(&watch->mutex);
}

void rsp_watch_end(struct rsp_interrupt_listener *watch)
{
    if (watch == NULL)
        return;
    pthread_mutex_lock(&watch->mutex);
    watch->running = false;
    pthread_mutex_unlock(&watch->mutex);
}

bool rsp_watch_ask(struct rsp_interrupt_listener *watch)
{
    bool requested;

    if (watch == NULL)
        return false;
    pthread_mutex_lock(&watch->mutex);
    requested = watch->interrupted(watch->context);
    pthread_mutex_unlock(&watch->mutex);
    return requested;
}
