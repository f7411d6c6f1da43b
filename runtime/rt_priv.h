/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The core of the runtimes: the one device of the process (a machine of lanewise.h), and queues of commands with
 * events. OpenCL's driver and CUDA's runtime are front ends that call this core. Each of the three is a shared object, so
 * that a program which uses both interfaces has one device.
 *
 * Locking: one lock, rt_lock(), protects all state. A function whose comment says "locked" must be called with the lock
 * held. A command is executed by the thread that finds it ready, with the lock held; callbacks of users are called without
 * the lock. fork() takes the lock, so that the child inherits a consistent state. The child has a copy of the device.
 */
#ifndef RT_PRIV_H
#define RT_PRIV_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "host/lanewise.h"

/* The functions below are exported, because the front ends call them from other shared objects. */
#pragma GCC visibility push(default)

/* ---- device -------------------------------------------------------------------------------------------------- */

/** Takes or releases the lock. The lock is recursive, because destructors of objects call the user's callbacks, and
 *  these may call functions of the front end. */
void rt_lock(void);
/** Takes the lock if no other thread has it. Returns false if another thread has it. */
bool rt_try_lock(void);
void rt_unlock(void);
/** Returns the machine of the process. The first call creates it with the options of the environment variable
 *  LANEWISE_OPTIONS. Returns NULL if the machine could not be created; the reason was printed to standard error.
 *  The lock must be held ("locked"). */
lanewise_machine *rt_machine(void);
/** Runs the queued launches to their end, and prints new findings, faults and hangs to standard error. Returns false if
 *  the machine stopped; in this case it accepts no further launch. Locked. */
bool rt_run(void);
/** Returns how long the host may wait for something that only the program can do before the wait is reported: 5 s, which --hang-limit
 *  changes in proportion. Locked. */
uint64_t rt_wait_limit_ms(void);
/** Makes a machine that stopped at a fault or a hang usable again, and drops the launches that have not ended. Returns
 *  false if that is not possible, because the machine has reached a limit or the program is ending. Locked. */
bool rt_recover(void);
/** Called in a child after fork(). If launches wait for gdb, whose thread the child does not have, later launches of the child fail.
 *  Locked. */
void rt_forked(void);
/** Returns true if the process ends, so that a loop that holds the lock must end. */
bool rt_ending(void);
/** Returns true if the machine exists. */
bool rt_begun(void);
/** Returns true if the machine stopped at a fault, a hang or a limit; locked. */
bool rt_stopped(void);
/** Returns the kind of the fault at which the machine stopped, if it did not stop at something else; locked. */
enum lanewise_fault rt_fault(void);
/** Prints the machine's last error message, lanewise_error(), to standard error, after "lanewise: " and @what; locked. */
void rt_complain(const char *what);
/** Prints the reason if kernel @name of a module was not translated. */
void rt_complain_refused(const lanewise_module *module, const char *name);
/**
 * Splits @text into words as a shell does, at white space that is not protected by quotes or a backslash. Returns an array
 * that ends with NULL, in one block that the caller frees. Returns NULL if the host has no memory.
 */
char **rt_words(const char *text);
/** Returns the time of the device's clock in nanoseconds: with a GPU model, the number of cycles divided by its clock
 *  rate; else the time of the host. Locked. */
uint64_t rt_now_ns(void);
/** Returns the number of lanes of a warp; locked. */
/** Returns true if SPIR-V modules can be compiled. Does not create the machine. Locked. */
bool rt_has_spirv(void);
unsigned rt_warp_width(void);
/** Returns the size of the device's memory in bytes: half of the host's memory, but at most 60 GiB. */
uint64_t rt_memory_bytes(void);
/** Returns the clock rate of the device in megahertz. */
unsigned rt_clock_mhz(void);

/* ---- calls of the program (rt_site.c) ------------------------------------------------------------------------ */

enum { RT_SITE_FRAMES = 14 };
/** A call of the program, stored as return addresses, the innermost first. */
struct rt_site {
    void *frame[RT_SITE_FRAMES];
    unsigned count;
};
/** Stores the present call of the program in *@site. */
void rt_site_take(struct rt_site *site);
/** Returns true if two sites are the same call of the program. The first @own frames, which may be in a front end, are not
 *  compared. */
bool rt_site_is_same(const struct rt_site *a, const struct rt_site *b, unsigned own);
/** Records the present call as the one that has created the newest buffer, whose name is "buffer N" or "image N". Returns the
 *  N of the next buffer. N counts the calls of this function. Locked. */
unsigned rt_site_of_buffer(void);
/** Returns the call that created the buffer or image with this name, or NULL if it is not known. Locked. */
const struct rt_site *rt_site_find_buffer(const char *name);
/** Prints the calls that created the buffers which the message of a finding names, without the buffer that is accessed. @index: of the
 *  finding. Locked. */
void rt_site_print_buffers(const lanewise_finding *finding, int index);
/** Records the present call as the one that has freed memory of the device. Only the latest such calls are kept. Locked. */
void rt_site_of_free(uint64_t address, uint64_t bytes);
/** Returns the call that has freed the memory at @address, or NULL if it is not known. Locked. */
const struct rt_site *rt_site_find_free(uint64_t address);
/** Function, file and line of a call of the program, from its debug information. */
struct rt_call {
    char function[120]; /* function that contains the call; "the program" if its name is not known */
    char file[1000];    /* source file; if the line is not known, file of the program or library, or "" if it is not known */
    uint32_t line;      /* line of the call, or 0 if it is not known */
    uint64_t offset;    /* offset of the call in a file without line table, or 0 if it is not known */
};
/**
 * Finds the innermost call of @site that is in the program's own code, which does not include headers of the system. Returns false
 * if there is no such call.
 * @stub    name of a function that is skipped, because a compiler has generated it for a launch; or NULL
 * @caller  if the call is in a header of the program, set to the call that led to it from another file; its function is "" if
 *          there is none. May be NULL
 */
bool rt_site_find(const struct rt_site *site, const char *stub, struct rt_call *out, struct rt_call *caller);

/** A finding about calls of the program. */
struct rt_finding {
    const char *kind, *message; /* kind and message, as in lanewise_finding_add() */
    const struct rt_site *at;   /* call that the finding is about */
    uint64_t count;             /* number of occurrences */
    const char *stub;           /* @stub of rt_site_find() for the call @at, or NULL */
    struct {
        const char *what; /* what the call did: "released" is printed as "released by main (vadd.c:57)", or NULL if none */
        const struct rt_site *site;
    } related[2];         /* other calls that the finding names */
};
/** Returns true if findings of @kind are enabled; locked. */
bool rt_wants_finding(const char *kind);
/** Adds a finding, and prints it if it is new; locked. */
void rt_report(const struct rt_finding *finding);
/** Prints a line with a call, such as "launched by main (vadd.c:57)", where @what is "launched". Also adds the call to the finding with
 *  index @finding; for -1, to no finding. Locked. */
void rt_print_site(const struct rt_site *site, const char *what, int finding);
/** Registers a function that is called at the end of the program, with the lock held, before reports are written. Each front end
 *  registers at most one. */
void rt_at_end(void (*report)(void));

/** Allocates memory of the device, and records the present call as the one that has created it; locked. */
int rt_alloc(uint64_t bytes, uint64_t *address);
/** Allocates memory of the device as rt_alloc() does. Its name in findings is @what and a number, such as "image 3". Locked. */
int rt_alloc_as(const char *what, uint64_t bytes, uint64_t *address);
/** Prints why rt_alloc() or rt_alloc_as() has failed in @function. */
void rt_complain_memory(const char *function, uint64_t bytes);
/** Frees memory that rt_alloc() or rt_alloc_as() has allocated. Errors: as lanewise_free(). Locked. */
int rt_free(uint64_t address);
/** Counts memory of the device as in use, for memory that is not from rt_alloc(). Returns false, and counts nothing, if the device has
 *  less memory left. Locked, as the next two functions. */
bool rt_memory_take(uint64_t bytes);
void rt_memory_return(uint64_t bytes);
/** Returns the number of bytes that are in use. */
uint64_t rt_memory_used(void);
/** Maps memory to addresses that lanewise_reserve() has reserved, and records the present call as rt_alloc() does; locked. */
int rt_map(uint64_t address, uint64_t bytes, bool read_only);
/** Reads memory of the device as lanewise_read() does. Findings about the bytes name the call @site that reads them; NULL: the
 *  present call. Locked. */
int rt_read(uint64_t address, void *data, size_t bytes, const struct rt_site *site);
/** Queues the launch of a kernel by the program's call @site; locked. */
int rt_launch(const lanewise_kernel *kernel, const lanewise_shape *shape, const void *const *arguments, const struct rt_site *site);

/** Returns the options with which OpenCL sources are compiled, in addition to those of the program; *@count is set to their number.
 *  Locked. */
const char *const *rt_flags(unsigned *count);

/* ---- files of reports (rt_report.c) -------------------------------------------------------------------------- */

/** Returns a copy of the name of a file or folder in which the process id replaces "%p", and "%" replaces "%%". The caller frees
 *  the copy. Returns NULL if the host has no memory. */
char *rt_expand(const char *name);
/** Returns false after printing an error if a report cannot be written to @path. */
bool rt_report_try(const char *path);
/** Writes @text to @path, completely or not at all; "-" is standard output. If a file with this name exists, writes to a file whose
 *  name also has the process id, and prints the name. */
void rt_report_write(const char *path, const char *text);
/** As rt_report_write(), for a file that @save writes. It returns false after printing an error. */
void rt_report_save(const char *path, bool (*save)(const char *path));

/* ---- sources (rt_source.c) ----------------------------------------------------------------------------------- */

/** Makes rt_source_name() write sources to files in @folder, which is created if necessary. NULL: a temporary folder,
 *  which rt_sources_forget() removes, unless a folder was given. Returns false after printing an error. Locked. */
bool rt_sources_keep(const char *folder);
/** Returns the file name with which a source is compiled. If sources are kept, writes the source to that file; else the
 *  name is "program.cl". The result is valid until the next call. Locked. */
const char *rt_source_name(const char *text);
/** Removes the temporary folder, and returns true, if there is one; locked. */
bool rt_sources_forget(void);

/* ---- commands ------------------------------------------------------------------------------------------------ */

enum rt_state { RT_QUEUED, RT_SUBMITTED, RT_RUNNING, RT_COMPLETE };
struct rt_event;
/** Function that is called when an event has reached @state, without the lock. @error: 0, or the front end's error code. */
typedef void (*rt_notify_fn)(struct rt_event *event, enum rt_state state, int error, void *context);
struct rt_callback {
    struct rt_callback *next;
    enum rt_state state;
    rt_notify_fn notify;
    void *context;
};
/** An event: the state of a command, or an event that the user completes. The structure is part of an object of a front end. */
struct rt_event {
    enum rt_state state;
    int error;              /* result of a complete event: 0, or a negative error code of the front end */
    uint64_t times_ns[4];   /* time at which each state was reached, by enum rt_state */
    struct rt_callback *callbacks;
    /** Functions of the front end that add (retain) or release a reference to the object that contains the event. Locked. */
    void (*retain)(struct rt_event *event);
    void (*release)(struct rt_event *event);
};
/** Sets the state of a new event, and the time at which it was reached; the caller sets retain and release. */
void rt_event_init(struct rt_event *event, enum rt_state state);
/** Frees the callbacks of an event that has no references left. */
void rt_event_fini(struct rt_event *event);
/** Registers a callback. If its state has already been reached, the next rt_progress() calls it. @context is allocated by
 *  malloc; @notify frees it, or, if @notify is never called, rt_event_fini() does. Returns false if the host has no memory.
 *  Locked. */
bool rt_event_on(struct rt_event *event, enum rt_state state, rt_notify_fn notify, void *context);
/** Completes a user event. The next rt_progress() executes the commands that have waited for it. Locked. */
void rt_event_complete(struct rt_event *event, int error);

struct rt_queue;
struct rt_command {
    struct rt_command *next;
    struct rt_event *event;  /* event of the command, to which it has a reference */
    struct rt_event **waits; /* events for which the command waits; the command owns the array and a reference to each event */
    unsigned wait_count;
    bool barrier;            /* later commands of an out-of-order queue wait for this command */
    bool follows_all;        /* the command waits for all earlier commands of its queue */
    struct rt_site site;     /* call of the program that enqueued the command */
    /** Executes the command. Returns 0 or a negative error code of the front end. Locked. */
    int (*run)(struct rt_command *command);
    /** Frees the command, and releases what it refers to. Called once, whether or not the command was executed. Locked. */
    void (*drop)(struct rt_command *command);
};
struct rt_queue {
    struct rt_queue *next, **link; /* neighbours in the list of all queues of the process */
    bool out_of_order;
    struct rt_command *first, **last;
    struct rt_command **untested; /* link to the first command that was not tested since the event number `tested_at` has completed; the
                                   * commands before it are not ready */
    uint64_t tested_at;
    int wait_error; /* the front end's error code for a command that is not executed, because an event for which it waited
                     * has an error */
};
/** Calls a function of the program in a thread of its own, after the functions of earlier calls. Waits a moment for its end. Returns a
 *  number for the functions below; a larger number is of a later call, and 0 of a call that has ended. None of these functions is
 *  called with the lock. */
uint64_t rt_call(void (*function)(void *context), void *context);
bool rt_call_ended(uint64_t number);
/** Waits for the end of a call and of all earlier ones. Does not wait in the thread that makes the calls. */
void rt_call_wait(uint64_t number);
/** Returns the number of the latest call, or 0. */
uint64_t rt_call_last(void);
/** Called in a child after fork(). */
void rt_calls_forked(void);

void rt_queue_init(struct rt_queue *queue, bool out_of_order, int wait_error);
/** Removes an empty queue from the list of all queues. */
void rt_queue_fini(struct rt_queue *queue);
/** Appends a command, which the queue then owns; locked. */
void rt_queue_add(struct rt_queue *queue, struct rt_command *command);
/** Executes all commands that are ready, of all queues, and calls the callbacks that are due. Called without the lock. */
void rt_progress(void);
/** Waits until @event is complete. Called without the lock; the caller has a reference. */
void rt_event_wait(struct rt_event *event);
/** Waits until @queue is empty. Called without the lock. */
void rt_queue_wait(struct rt_queue *queue);

#pragma GCC visibility pop

#endif
