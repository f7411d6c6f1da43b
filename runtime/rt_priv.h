/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The core of the runtimes: one device (a machine of lanewise.h) for the process, and queues of commands with
 * events. OpenCL's driver and CUDA's runtime are front ends over it.
 *
 * Locking: one lock for everything, rt_lock(). Functions whose comment says "locked" are called with it. A command
 * runs on the thread that finds it ready, with the lock held; callbacks of users run without it.
 */
#ifndef RT_PRIV_H
#define RT_PRIV_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "host/lanewise.h"

/* ---- device -------------------------------------------------------------------------------------------------- */

/** Takes and releases the lock. It is recursive: functions of users that end with an object call the interface. */
void rt_lock(void);
/** Takes the lock if no other thread has it. */
bool rt_try_lock(void);
void rt_unlock(void);
/** Returns the machine of the process, created at the first call by the options of the environment
 *  (LANEWISE_OPTIONS); locked. NULL: it could not be created, and the reason was printed to the standard error. */
lanewise_machine *rt_machine(void);
/** Runs what was launched to its end; prints new findings, faults and hangs to the standard error; locked.
 *  Returns false if the machine stopped: nothing can be launched on it any more. */
bool rt_run(void);
/** Returns true if the machine stopped at a fault, a hang or a limit; locked. */
bool rt_stopped(void);
/** Prints lanewise_error() of the machine to the standard error, after "lanewise: " and @what; locked. */
void rt_complain(const char *what);
/**
 * Splits @text into words as a shell does: spaces separate, quotes of both kinds and backslashes protect.
 * Returns an array that NULL terminates, one block to be freed; NULL: memory is short.
 */
char **rt_words(const char *text);
/** Nanoseconds of the device's clock: with a GPU model the cycles so far at its clock rate, else host time; locked. */
uint64_t rt_now_ns(void);
/** Lanes of a warp; locked. */
unsigned rt_warp_width(void);
/** Bytes of the device's memory: half of the host's, at most what the machine reserves. */
uint64_t rt_memory_bytes(void);
/** Megahertz of the device's clock. */
unsigned rt_clock_mhz(void);

/* ---- commands ------------------------------------------------------------------------------------------------ */

enum rt_state { RT_QUEUED, RT_SUBMITTED, RT_RUNNING, RT_COMPLETE };
struct rt_event;
/** Called when an event reaches @state, without the lock. @error: 0, or the front end's error code. */
typedef void (*rt_notify_fn)(struct rt_event *event, enum rt_state state, int error, void *context);
struct rt_callback {
    struct rt_callback *next;
    enum rt_state state;
    rt_notify_fn notify;
    void *context;
};
/** An event: completion of a command, or set by the user. Part of a front end's object. */
struct rt_event {
    enum rt_state state;
    int error;              /* of a complete one: 0, or negative */
    uint64_t times_ns[4];   /* when each state was reached; index: enum rt_state */
    struct rt_callback *callbacks;
    /** References to the front end's object around the event; locked. */
    void (*retain)(struct rt_event *event);
    void (*release)(struct rt_event *event);
};
/** Sets state and its time; the caller has set retain and release. */
void rt_event_init(struct rt_event *event, enum rt_state state);
/** Frees the callbacks of an event that has no references left. */
void rt_event_fini(struct rt_event *event);
/** Registers a callback; one whose state was already reached is called by the next rt_progress(). Returns false if
 *  memory is short. @context is from malloc: @notify frees it, or the end of the event does. Locked. */
bool rt_event_on(struct rt_event *event, enum rt_state state, rt_notify_fn notify, void *context);
/** Completes a user's event; locked. rt_progress() then runs what waited for it. */
void rt_event_complete(struct rt_event *event, int error);

struct rt_queue;
struct rt_command {
    struct rt_command *next;
    struct rt_event *event;  /* a reference */
    struct rt_event **waits; /* references; owned */
    unsigned wait_count;
    bool barrier;            /* later commands of the queue wait for it */
    bool follows_all;        /* it waits for all earlier commands of the queue */
    /** Executes; returns 0 or the front end's negative error. Locked. */
    int (*run)(struct rt_command *command);
    /** Frees what the command holds, itself included; called once, after run or without it. Locked. */
    void (*drop)(struct rt_command *command);
};
struct rt_queue {
    struct rt_queue *next, **link; /* all queues of the process */
    bool out_of_order;
    struct rt_command *first, **last;
    int wait_error; /* error of a command whose events to wait for failed, as the front end names it */
};
void rt_queue_init(struct rt_queue *queue, bool out_of_order, int wait_error);
/** Removes an empty queue. */
void rt_queue_fini(struct rt_queue *queue);
/** Appends a command, which the queue then owns; locked. */
void rt_queue_add(struct rt_queue *queue, struct rt_command *command);
/** Runs every command that is ready, of all queues, and calls callbacks. Called without the lock. */
void rt_progress(void);
/** Waits until @event is complete. Called without the lock; the caller has a reference. */
void rt_event_wait(struct rt_event *event);
/** Waits until @queue is empty. Called without the lock. */
void rt_queue_wait(struct rt_queue *queue);

#endif
