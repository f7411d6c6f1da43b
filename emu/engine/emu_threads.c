/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs a grid on several host threads. The engine's own thread runs blocks, too; the other threads sleep between grids. A block
 * accesses only its own state and the machine's memory, and a block-order-free kernel cannot observe which other blocks run.
 * Therefore all results are the same on several threads as on one. The counts of all threads are added up when the grid ends. A
 * block that faults or hangs stops the run. All blocks with lower numbers still run to their ends, because one of them may stop
 * the run, too. The stop of the block with the lowest number is reported.
 */
#include "emu/engine/emu_threads_priv.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

struct worker {
    struct emu_functional *f;
    struct emu_pool *pool;
    pthread_t thread;
    bool done; /* the thread has finished its work for the grid: no block is left, or a stop or an error has occurred */
    struct emu_stop stop;
    enum lw_status status;
    struct lw_error error;
};

struct emu_pool {
    pthread_mutex_t lock;
    pthread_cond_t go, back;
    uint64_t turn;     /* incremented when the threads must begin to run */
    unsigned running;  /* number of threads that still work on the grid */
    bool quit;
    struct worker **worker; /* [0] is the engine's own thread */
    unsigned count, capacity;
    struct emu_claims claims;
    bool under_way;
    pid_t owner; /* process that has created the threads; its forks have none */
    const struct worker *found; /* the worker whose block stopped the run, or NULL if no block has stopped it */
};

/* ---- one thread ------------------------------------------------------------------- */

static void lower_limit(struct emu_claims *claims, uint64_t block)
{
    uint64_t limit = __atomic_load_n(&claims->limit, __ATOMIC_RELAXED);

    while (block < limit && !__atomic_compare_exchange_n(&claims->limit, &limit, block, true,
                                                         __ATOMIC_RELAXED, __ATOMIC_RELAXED))
        ;
}

static void work(struct worker *w)
{
    if (w->done)
        return;
    w->status = w->f->base.ops->run(&w->f->base, &w->stop, &w->error);
    w->done = w->status != LW_OK || w->stop.kind != EMU_STOP_INTERRUPTED;
    if (w->status != LW_OK)
        lower_limit(&w->pool->claims, 0);
    else if (w->stop.kind == EMU_STOP_FAULT || w->stop.kind == EMU_STOP_HANG)
        lower_limit(&w->pool->claims, w->stop.place.block);
}

static void *thread_main(void *context)
{
    struct worker *w = context;
    struct emu_pool *pool = w->pool;
    uint64_t seen = 0;

    pthread_mutex_lock(&pool->lock);
    for (;;) {
        while (!pool->quit && pool->turn == seen)
            pthread_cond_wait(&pool->go, &pool->lock);
        if (pool->quit)
            break;
        seen = pool->turn;
        pthread_mutex_unlock(&pool->lock);
        work(w);
        pthread_mutex_lock(&pool->lock);
        if (--pool->running == 0)
            pthread_cond_signal(&pool->back);
    }
    pthread_mutex_unlock(&pool->lock);
    return NULL;
}

/* ---- the threads ---------------------------------------------------------------------- */

static struct emu_pool *pool_create(struct emu_functional *f)
{
    struct emu_pool *pool = calloc(1, sizeof *pool);

    if (pool == NULL)
        return NULL;
    pool->worker = calloc(f->base.threads, sizeof *pool->worker);
    struct worker *own = calloc(1, sizeof *own);
    if (pool->worker == NULL || own == NULL) {
        free(pool->worker);
        free(own);
        free(pool);
        return NULL;
    }
    pool->capacity = f->base.threads;
    own->f = f;
    own->pool = pool;
    pool->owner = getpid();
    pool->worker[pool->count++] = own;
    pthread_mutex_init(&pool->lock, NULL);
    pthread_cond_init(&pool->go, NULL);
    pthread_cond_init(&pool->back, NULL);
    return pool;
}

/** Starts the thread of a worker. Returns false on failure. */
static bool start_thread(struct worker *w)
{
    sigset_t all, old;
    int failed;

    sigfillset(&all); /* signals are handled by the first thread only */
    pthread_sigmask(SIG_SETMASK, &all, &old);
    failed = pthread_create(&w->thread, NULL, thread_main, w);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    return failed == 0;
}

/** Makes the lock and the conditions new in a fork of the process that has the threads, because they remember these threads. */
static void forget_threads(struct emu_pool *pool)
{
    pthread_mutex_init(&pool->lock, NULL);
    pthread_cond_init(&pool->go, NULL);
    pthread_cond_init(&pool->back, NULL);
    pool->owner = getpid();
    pool->turn = 0;
}

/** Starts the threads again in a fork. The workers without a thread are left out. */
static void restart_threads(struct emu_pool *pool)
{
    unsigned count = 1;

    forget_threads(pool);
    while (count < pool->count && start_thread(pool->worker[count]))
        count++;
    pool->count = count;
}

/** Adds a thread with its own engine and core. Returns false on failure. */
static bool add_worker(struct emu_pool *pool)
{
    struct emu_machine *machine = pool->worker[0]->f->base.machine;
    struct worker *w = calloc(1, sizeof *w);

    if (w == NULL)
        return false;
    w->pool = pool;
    w->f = emu_functional_helper(machine);
    if (w->f == NULL) {
        free(w);
        return false;
    }
    if (!start_thread(w)) {
        emu_engine_destroy(&w->f->base);
        free(w);
        return false;
    }
    pool->worker[pool->count++] = w;
    return true;
}

void emu_threads_destroy(struct emu_pool *pool)
{
    if (pool == NULL)
        return;
    const bool own = pool->owner == getpid();
    if (!own)
        forget_threads(pool);
    pthread_mutex_lock(&pool->lock);
    pool->quit = true;
    pthread_cond_broadcast(&pool->go);
    pthread_mutex_unlock(&pool->lock);
    for (unsigned i = 1; i < pool->count; i++) {
        if (own)
            pthread_join(pool->worker[i]->thread, NULL);
        emu_engine_destroy(&pool->worker[i]->f->base);
        free(pool->worker[i]);
    }
    free(pool->worker[0]);
    free(pool->worker);
    pthread_cond_destroy(&pool->back);
    pthread_cond_destroy(&pool->go);
    pthread_mutex_destroy(&pool->lock);
    free(pool);
}

/* ---- a grid ------------------------------------------------------------------------------ */

bool emu_threads_are_running(const struct emu_functional *f)
{
    return f->pool != NULL && f->pool->under_way;
}

bool emu_threads_wanted(const struct emu_functional *f)
{
    const struct emu_machine *machine = f->base.machine;

    if (emu_threads_are_running(f))
        return true;
    return f->base.threads > 1 && f->order_free && f->grid->block_count > 1 &&
           f->grid->blocks_started == 0 && f->base.observers == NULL &&
           f->base.stop_at == UINT64_MAX && machine->breakpoint_count == 0 &&
           machine->listeners == NULL && machine->log == NULL && !machine->text.immediate &&
           machine->config.scalar_rule != EMU_SCALAR_WARN;
}

/** Begins a grid on threads. Returns false if there is no memory for the thread pool. */
static bool begin(struct emu_functional *f)
{
    uint64_t most = f->base.threads;
    struct emu_pool *pool = f->pool != NULL ? f->pool : pool_create(f);

    f->pool = pool;
    if (pool == NULL)
        return false;
    if (pool->owner != getpid())
        restart_threads(pool);
    if (most > f->grid->block_count)
        most = f->grid->block_count;
    while (pool->count < most && pool->count < pool->capacity && add_worker(pool))
        ;
    pool->claims = (struct emu_claims){.limit = UINT64_MAX, .engine = &f->base};
    for (unsigned i = 0; i < pool->count; i++) {
        struct worker *w = pool->worker[i];
        w->done = false;
        emu_functional_claim(w->f, f->grid, &pool->claims);
    }
    if (f->base.machine->threads_used < pool->count)
        f->base.machine->threads_used = pool->count;
    pool->under_way = true;
    return true;
}

/** Adds the counts of the cores of the additional threads to those of the engine's own core. */
static void fold_counts(struct emu_pool *pool)
{
    struct emu_core *own = pool->worker[0]->f->core;

    for (unsigned i = 1; i < pool->count; i++)
        emu_core_counts_move(pool->worker[i]->f->core, own);
}

static void end(struct emu_pool *pool)
{
    for (unsigned i = 0; i < pool->count; i++)
        emu_functional_claim(pool->worker[i]->f, NULL, NULL);
    fold_counts(pool);
    pool->under_way = false;
}

enum lw_status emu_threads_run(struct emu_functional *f, struct emu_stop *stop,
                               struct lw_error *err)
{
    struct emu_machine *machine = f->base.machine;
    struct emu_pool *pool;
    const struct worker *found = NULL;
    bool all_done = true;

    if (!emu_threads_are_running(f) && !begin(f))
        return LW_FAIL(err, LW_ENOMEM, "the host has no memory for host threads");
    pool = f->pool;
    f->claims = &pool->claims; /* f->claims is set only during this call: in other calls the engine acts for its user, and not as
                                * one of the threads. */
    machine->threaded = true;
    pthread_mutex_lock(&pool->lock);
    pool->running = pool->count - 1;
    pool->turn++;
    pthread_cond_broadcast(&pool->go);
    pthread_mutex_unlock(&pool->lock);
    work(pool->worker[0]);
    pthread_mutex_lock(&pool->lock);
    while (pool->running != 0)
        pthread_cond_wait(&pool->back, &pool->lock);
    pthread_mutex_unlock(&pool->lock);
    machine->threaded = false;
    f->claims = NULL;

    for (unsigned i = 0; i < pool->count; i++) {
        const struct worker *w = pool->worker[i];
        all_done = all_done && w->done;
        if (w->status != LW_OK) {
            if (err != NULL)
                *err = w->error;
            return w->status;
        }
        if ((w->stop.kind == EMU_STOP_FAULT || w->stop.kind == EMU_STOP_HANG) && w->done &&
            (found == NULL || w->stop.place.block < found->stop.place.block))
            found = w;
    }
    if (!all_done) {
        __atomic_store_n(&f->base.interrupted, 0, __ATOMIC_RELAXED);
        stop->kind = EMU_STOP_INTERRUPTED;
        return LW_OK;
    }
    if (found != NULL) { /* pool->found remains set, so that a run which is continued stops again. */
        pool->found = found;
        *stop = found->stop;
        emu_text_stopped(machine, stop->place.grid, stop->place.block, true);
        return LW_OK;
    }
    end(pool);
    stop->kind = EMU_STOP_NONE;
    return LW_OK;
}

/* ---- views --------------------------------------------------------------------------------- */

struct emu_functional *emu_threads_view(struct emu_functional *f)
{
    return f->pool != NULL && f->pool->found != NULL ? f->pool->found->f : f;
}

uint64_t emu_threads_instructions(const struct emu_functional *f)
{
    uint64_t n = f->core->retired;

    for (unsigned i = 1; f->pool != NULL && i < f->pool->count; i++)
        n += f->pool->worker[i]->f->core->retired;
    return n;
}
