/* SPDX-License-Identifier: Apache-2.0 */
/* Queues of commands, and events. */
#include "runtime/rt_priv.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

/* This state is global, because a process has one device, and functions of OpenCL and CUDA have no argument for it. */
static struct {
    pthread_mutex_t mutex;
    unsigned depth; /* number of times that the thread which holds the lock has taken it */
    pthread_cond_t changed; /* signalled when an event has completed */
    uint64_t completed;     /* number of events that have completed */
    struct rt_queue *queues;
    unsigned calling;       /* number of callbacks that run */
    bool told;              /* a call that waits for long was reported */
    struct rt_callback *due; /* list of callbacks to call; each of them is the first member of a struct due */
    struct rt_callback **due_last;
} rt = {.mutex = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP, .changed = PTHREAD_COND_INITIALIZER, .due_last = &rt.due};

/** A callback whose event has reached the requested state, with the arguments of the call. */
struct due {
    struct rt_callback callback; /* must be the first member */
    struct rt_event *event;      /* event, with a reference to it */
    enum rt_state state;
    int error;
};

void rt_lock(void)
{
    pthread_mutex_lock(&rt.mutex);
    rt.depth++;
}

bool rt_try_lock(void)
{
    if (pthread_mutex_trylock(&rt.mutex) != 0)
        return false;
    rt.depth++;
    return true;
}

void rt_unlock(void)
{
    rt.depth--;
    pthread_mutex_unlock(&rt.mutex);
}

/** Reports that the present call has waited for long. All commands that can run have completed, so the call waits for an event that
 *  only the program can complete, such as a user event of OpenCL. */
static void tell_wait(void)
{
    struct rt_site here;

    rt.told = true;
    rt_site_take(&here);
    fprintf(stderr, "lanewise: a call has waited for %.3g seconds for an event that only the program can complete, such as a user event: "
                    "set its status before the call, or in another thread\n", (double)rt_wait_limit_ms() / 1000);
    rt_print_site(&here, "called", -1);
    for (const struct rt_queue *queue = rt.queues; queue != NULL; queue = queue->next)
        if (queue->first != NULL)
            rt_print_site(&queue->first->site, "the first command that cannot begin was enqueued", -1);
}

/** Releases the lock until another thread has completed an event. */
static void wait_for_change(void)
{
    const uint64_t limit_ms = rt_wait_limit_ms();
    struct timespec until;
    bool is_late = false;

    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += (long)(limit_ms % 1000) * 1000000;
    until.tv_sec += (time_t)(limit_ms / 1000) + until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    rt.depth--;
    if (rt.told)
        pthread_cond_wait(&rt.changed, &rt.mutex);
    else
        is_late = pthread_cond_timedwait(&rt.changed, &rt.mutex, &until) != 0;
    rt.depth++;
    if (is_late && !rt.told && rt.calling == 0)
        tell_wait();
}

/* A fork waits until no other thread holds the lock. So the state that the child inherits is consistent. */

/** Called in the child after a fork: makes the lock new, because it remembers a thread of the parent as its owner, and perhaps
 *  threads that wait, and takes it as often as the thread that has called fork() has taken it. */
static void after_fork_in_child(void)
{
    const unsigned depth = rt.depth - 1;

    rt.mutex = (pthread_mutex_t)PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
    rt.changed = (pthread_cond_t)PTHREAD_COND_INITIALIZER;
    rt.depth = 0;
    rt_lock();
    rt_forked();
    rt_calls_forked();
    for (unsigned i = 0; i < depth; i++)
        rt_lock();
    rt_unlock();
}

__attribute__((constructor)) static void watch_forks(void)
{
    (void)pthread_atfork(rt_lock, rt_unlock, after_fork_in_child); /* without memory, only children of threads are at risk */
}

/* ---- events ---------------------------------------------------------------------------------------------------- */

void rt_event_init(struct rt_event *event, enum rt_state state)
{
    event->state = state;
    event->times_ns[state] = rt_now_ns();
}

void rt_event_fini(struct rt_event *event)
{
    while (event->callbacks != NULL) {
        struct rt_callback *callback = event->callbacks;

        event->callbacks = callback->next;
        free(callback->context);
        free(callback);
    }
}

/** Moves the callbacks whose state @event has reached to the list of due callbacks. */
static void collect_due(struct rt_event *event)
{
    struct rt_callback **at = &event->callbacks;

    while (*at != NULL) {
        struct due *due = (struct due *)(void *)*at;

        if (due->callback.state > event->state) {
            at = &(*at)->next;
            continue;
        }
        *at = due->callback.next;
        due->event = event;
        due->state = due->callback.state;
        due->error = event->error;
        event->retain(event);
        due->callback.next = NULL;
        *rt.due_last = &due->callback;
        rt.due_last = &due->callback.next;
    }
}

static void reach(struct rt_event *event, enum rt_state state)
{
    event->state = state;
    event->times_ns[state] = rt_now_ns();
    collect_due(event);
    if (state != RT_COMPLETE)
        return;
    rt.completed++;
    pthread_cond_broadcast(&rt.changed);
}

bool rt_event_on(struct rt_event *event, enum rt_state state, rt_notify_fn notify, void *context)
{
    struct due *due = calloc(1, sizeof *due);
    struct rt_callback **at = &event->callbacks;

    if (due == NULL)
        return false;
    due->callback = (struct rt_callback){.state = state, .notify = notify, .context = context};
    while (*at != NULL)
        at = &(*at)->next;
    *at = &due->callback;
    collect_due(event);
    return true;
}

void rt_event_complete(struct rt_event *event, int error)
{
    event->error = error;
    reach(event, RT_COMPLETE);
}

/* ---- queues ---------------------------------------------------------------------------------------------------- */

void rt_queue_init(struct rt_queue *queue, bool out_of_order, int wait_error)
{
    *queue = (struct rt_queue){.out_of_order = out_of_order, .wait_error = wait_error};
    queue->last = queue->untested = &queue->first;
    queue->next = rt.queues;
    queue->link = &rt.queues;
    if (rt.queues != NULL)
        rt.queues->link = &queue->next;
    rt.queues = queue;
}

void rt_queue_fini(struct rt_queue *queue)
{
    *queue->link = queue->next;
    if (queue->next != NULL)
        queue->next->link = queue->link;
}

void rt_queue_add(struct rt_queue *queue, struct rt_command *command)
{
    command->next = NULL;
    *queue->last = command;
    queue->last = &command->next;
}

/** Returns true if all events for which @command waits are complete. Sets *@failed if one of them has an error. */
static bool waits_over(const struct rt_command *command, bool *failed)
{
    for (unsigned i = 0; i < command->wait_count; i++) {
        if (command->waits[i]->state != RT_COMPLETE)
            return false;
        *failed = *failed || command->waits[i]->error != 0;
    }
    return true;
}

/** Removes from @queue the first command that is ready. Returns this command, or NULL if none is ready. Sets *@failed if an
 *  event for which the command waited has an error. A command becomes ready when an event completes. So if none has completed since
 *  the last call, only the commands that were added since then are tested: programs may add many commands before one is ready. */
static struct rt_command *take_ready(struct rt_queue *queue, bool *failed)
{
    struct rt_command **at = queue->tested_at == rt.completed ? queue->untested : &queue->first, *command;

    queue->tested_at = rt.completed;
    for (; (command = *at) != NULL; at = &command->next) {
        *failed = false;
        if ((!command->follows_all || command == queue->first) && waits_over(command, failed)) {
            *at = command->next;
            if (command->next == NULL)
                queue->last = at;
            break;
        }
        if (!queue->out_of_order || command->barrier) {
            command = NULL;
            break;
        }
    }
    queue->untested = at;
    return command;
}

static void execute(struct rt_queue *queue, struct rt_command *command, bool failed)
{
    struct rt_event *event = command->event;

    event->error = failed ? queue->wait_error : 0;
    reach(event, RT_SUBMITTED);
    reach(event, RT_RUNNING);
    if (!failed)
        event->error = command->run(command);
    for (unsigned i = 0; i < command->wait_count; i++)
        command->waits[i]->release(command->waits[i]);
    free(command->waits);
    command->drop(command);
    reach(event, RT_COMPLETE);
    event->release(event);
}

/** Executes one ready command of any queue. Returns false if no command is ready. */
static bool execute_one(void)
{
    bool failed;

    for (struct rt_queue *queue = rt.queues; queue != NULL; queue = queue->next) {
        struct rt_command *command = take_ready(queue, &failed);

        if (command != NULL) {
            execute(queue, command, failed);
            return true;
        }
    }
    return false;
}

/** Calls one due callback, without the lock. Returns false if no callback is due. */
static bool call_one(void)
{
    struct due *due = (struct due *)(void *)rt.due;

    if (due == NULL)
        return false;
    rt.due = due->callback.next;
    if (rt.due == NULL)
        rt.due_last = &rt.due;
    rt.calling++;
    rt_unlock();
    due->callback.notify(due->event, due->state, due->error, due->callback.context);
    rt_lock();
    rt.calling--;
    due->event->release(due->event);
    free(due);
    return true;
}

/** Executes ready commands and calls due callbacks, until there are none left. Releases the lock only while a callback
 *  runs, never while a command is executed. Locked. */
static void progress(void)
{
    while (execute_one() || call_one())
        ;
}

void rt_progress(void)
{
    rt_lock();
    progress();
    rt_unlock();
}

void rt_event_wait(struct rt_event *event)
{
    rt_lock();
    for (progress(); event->state != RT_COMPLETE; progress())
        wait_for_change();
    rt_unlock();
}

void rt_queue_wait(struct rt_queue *queue)
{
    rt_lock();
    for (progress(); queue->first != NULL; progress())
        wait_for_change();
    rt_unlock();
}
