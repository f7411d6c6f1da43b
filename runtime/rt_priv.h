/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The core of the runtimes: one device (a machine of lanewise.h) for the process, and queues of commands with
 * events. OpenCL's driver and CUDA's runtime are front ends over it. Each of the three is a shared object, so that a program
 * which uses both interfaces has one device.
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

/* Each front end is a shared object, and the core another one, so the functions below are exported. */
#pragma GCC visibility push(default)

/* ---- device -------------------------------------------------------------------------------------------------- */

/** Takes and releases the lock. The lock is recursive, because destructors of objects call functions of the user, and
 *  these call functions of the front end. */
void rt_lock(void);
/** Takes the lock if no other thread has it. */
bool rt_try_lock(void);
void rt_unlock(void);
/** Returns the machine of the process. The first call creates it with the options of the environment variable
 *  LANEWISE_OPTIONS. Returns NULL if the machine could not be created; the reason was printed to standard error.
 *  Locked. */
lanewise_machine *rt_machine(void);
/** Runs the queued launches to their end, and prints new findings, faults and hangs to standard error. Returns false if
 *  the machine stopped; then it accepts no further launch. Locked. */
bool rt_run(void);
/** Makes a machine that stopped at a fault or a hang usable again; launches that have not ended are dropped; locked.
 *  Returns false if the machine stays stopped, because it has reached a limit or the program is ending. */
bool rt_recover(void);
/** Returns true if the machine stopped at a fault, a hang or a limit; locked. */
bool rt_stopped(void);
/** Prints lanewise_error() of the machine to the standard error, after "lanewise: " and @what; locked. */
void rt_complain(const char *what);
/**
 * Splits @text into words as a shell does: spaces separate, quotes of both kinds and backslashes protect.
 * Returns an array that is terminated by NULL, in one block that the caller frees; NULL: memory is short.
 */
char **rt_words(const char *text);
/** Returns the time of the device's clock in nanoseconds: with a GPU model, the cycles so far at its clock rate; else
 *  host time; locked. */
uint64_t rt_now_ns(void);
/** Returns the number of lanes of a warp; locked. */
unsigned rt_warp_width(void);
/** Returns the size of the device's memory in bytes: half of the host's memory, but at most what the machine reserves. */
uint64_t rt_memory_bytes(void);
/** Returns the rate of the device's clock in megahertz. */
unsigned rt_clock_mhz(void);

/* ---- calls of the program (rt_site.c) ------------------------------------------------------------------------ */

enum { RT_SITE_FRAMES = 8 };
/** A call of the program: return addresses, the innermost first. */
struct rt_site {
    void *frame[RT_SITE_FRAMES];
    unsigned count;
};
/** Stores the call of the program that is being executed. */
void rt_site_take(struct rt_site *site);
/** Records the present call as the one that creates the next buffer, which the machine names "buffer N"; locked. */
void rt_site_of_buffer(void);
/** Returns where a buffer was created, by its name; NULL: not known. Locked. */
const struct rt_site *rt_site_find_buffer(const char *name);
/** A call of the program in words, as its debug information describes it. */
struct rt_call {
    char function[120]; /* "the program" if the name is not known */
    char file[1000];    /* source file, or without a line the file of the program or library; "": not known */
    uint32_t line;      /* 0: not known */
    uint64_t offset;    /* offset in a file without line table; 0: not known */
};
/** Finds the call of the program's own code. @stub: name of a function that belongs to the call, such as the stub of a
 *  kernel by nvcc; or NULL. Returns false if there is none. */
bool rt_site_find(const struct rt_site *site, const char *stub, struct rt_call *out);

/** A finding in the program's calls. */
struct rt_finding {
    const char *kind, *message; /* as in lanewise_finding_add() */
    const struct rt_site *at;
    uint64_t count;
    struct {
        const char *what; /* "released": printed as "released by main (vadd.c:57)"; NULL: none */
        const struct rt_site *site;
    } related[2];
};
/** Returns true if findings of @kind are enabled; locked. */
bool rt_wants_finding(const char *kind);
/** Adds a finding, and prints it if it is new; locked. */
void rt_report(const struct rt_finding *finding);
/** Registers @report, which is called with the lock at the end of the program, before reports are written. A second
 *  registration has no effect. */
void rt_at_end(void (*report)(void));

/** Allocates memory of the device, and records the present call as its creator; locked. */
int rt_alloc(uint64_t bytes, uint64_t *address);
/** Queues a kernel that the program launched at @site; locked. */
int rt_launch(const lanewise_kernel *kernel, const lanewise_shape *shape, const void *const *arguments, const struct rt_site *site);

/* ---- sources (rt_source.c) ----------------------------------------------------------------------------------- */

/** Sets the folder in which sources are kept: created if necessary. NULL: a temporary folder, which is removed at the
 *  end. Locked. Returns false with a message printed. */
bool rt_sources_keep(const char *folder);
/** Returns the name with which a source is compiled: the file that has its text, if sources are kept, else
 *  "program.cl". Valid until the next call; locked. */
const char *rt_source_name(const char *text);
/** Removes the temporary folder, if there is one; locked. */
void rt_sources_forget(void);

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
/** An event: the completion of a command, or an event that the user completes. Part of a front end's object. */
struct rt_event {
    enum rt_state state;
    int error;              /* result of a complete event: 0, or a negative error */
    uint64_t times_ns[4];   /* when each state was reached; index: enum rt_state */
    struct rt_callback *callbacks;
    /** Increment and decrement the references to the front end's object that contains the event. Locked. */
    void (*retain)(struct rt_event *event);
    void (*release)(struct rt_event *event);
};
/** Sets state and its time; the caller has set retain and release. */
void rt_event_init(struct rt_event *event, enum rt_state state);
/** Frees the callbacks of an event that has no references left. */
void rt_event_fini(struct rt_event *event);
/** Registers a callback. If its state has already been reached, the next rt_progress() calls it. Returns false if
 *  memory is short. @context is allocated by malloc; @notify frees it, or the event frees it at its end. Locked. */
bool rt_event_on(struct rt_event *event, enum rt_state state, rt_notify_fn notify, void *context);
/** Completes a user event. The next rt_progress() runs the commands that waited for it. Locked. */
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
    /** Frees the command and everything that it holds. Called once, after `run`, or without it. Locked. */
    void (*drop)(struct rt_command *command);
};
struct rt_queue {
    struct rt_queue *next, **link; /* links in the list of all queues of the process */
    bool out_of_order;
    struct rt_command *first, **last;
    int wait_error; /* error code of the front end for a command that waited for an event with an error */
};
void rt_queue_init(struct rt_queue *queue, bool out_of_order, int wait_error);
/** Removes an empty queue. */
void rt_queue_fini(struct rt_queue *queue);
/** Appends a command, which the queue then owns; locked. */
void rt_queue_add(struct rt_queue *queue, struct rt_command *command);
/** Runs all commands that are ready, of all queues, and calls the callbacks that are due. Called without the lock. */
void rt_progress(void);
/** Waits until @event is complete. Called without the lock; the caller has a reference. */
void rt_event_wait(struct rt_event *event);
/** Waits until @queue is empty. Called without the lock. */
void rt_queue_wait(struct rt_queue *queue);

#pragma GCC visibility pop

#endif
