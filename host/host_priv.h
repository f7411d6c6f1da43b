/* SPDX-License-Identifier: Apache-2.0 */
/* Internal interface of host/: the structures of lanewise.h's handles. */
#ifndef HOST_PRIV_H
#define HOST_PRIV_H

#include "check/check.h"
#include "host/lanewise.h"
#include "launch/launch.h"
#include "timing/timing.h"

enum { HOST_MAX_SETS = 64, HOST_MAX_ARGUMENT_BYTES = ISA_CONST_BANK_BYTES };

/** A kernel and its module: a handle for users. */
struct lanewise_kernel {
    struct lanewise_module *module;
    const struct isa_function *function; /* the kernel's function in the program */
};

struct lanewise_module {
    struct lanewise_machine *machine;
    struct lanewise_module *next;
    char *source; /* name of the source for messages */
    char *log;    /* output of the compiler; owned; NULL: none */
    struct isa_object *object;
    struct emu_program *program;
    struct lanewise_kernel *kernels;
    unsigned kernel_count;
};

/** Sink that passes text of kernels to the user's function. */
struct host_print {
    struct lw_sink sink;
    void (*print)(void *context, const char *text, size_t size);
    void *context;
};

/** Settings of lanewise_set; texts are owned. */
struct host_settings {
    char *timing, *compiler, *mechanisms, *timing_profile;
    char *sets[HOST_MAX_SETS]; /* KEY=VALUE settings of the GPU model */
    unsigned set_count, threads;
    bool reference;
    bool warp, reconv, push_order, tags; /* true: the user has set the option; else a GPU model determines its value */
    struct emu_config config;
    bool check;                /* set by the user */
    uint64_t kinds;
    char *base, *run;          /* settings of checkers' reports, owned; NULL: not set */
    unsigned max_findings;     /* setting of the greatest number of findings; 0: not set */
    uint32_t read_poison;
    bool debuggable; /* sources are compiled for a debugger */
    char *record; /* folder, owned; NULL: not set */
    unsigned coverage, profile, by_launch; /* 1: requested */
    struct lnc_limits limits;
    struct chk_suppressions *suppressions; /* suppressions of findings, or NULL */
};

struct host_gdb;
struct host_record;

struct lanewise_machine {
    struct host_settings settings;
    struct emu_machine *machine; /* the machine; NULL until something is loaded or allocated */
    struct emu_engine *engine;
    struct tim_config *timing;
    struct lanewise_module *modules;
    struct host_print print;
    struct lw_buffer error;
    unsigned buffers; /* number of buffers named so far */
    bool stopped;     /* stopped by a fault or a hang, or lanewise_finish: nothing can run any more */
    struct chk *chk;  /* the checker; NULL: no checks are enabled */
    char *base, *here; /* folders for file names of findings, owned; or NULL */
    struct emu_stop stop;           /* the stop that ended the last run of the engine */
    double seconds;   /* seconds of execution so far */
    unsigned reported_count;                  /* number of findings that a wait has reported */
    bool finished;
    struct emu_stats past;          /* counts of engines before the present one */
    uint64_t past_cycles;
    struct host_gdb *gdb; /* NULL: no debugger */
    struct host_record *record; /* NULL: launches are not recorded */
};

/** Stores the message of @err. Returns LANEWISE_ERROR. */
int host_fail(struct lanewise_machine *m, const struct lw_error *err);
/** Stores a formatted message. Returns LANEWISE_ERROR. */
int host_refuse(struct lanewise_machine *m, const char *fmt, ...) LW_PRINTF(2, 3);
/** Returns LANEWISE_ERROR for a caller of @function that passed NULL for @what; @m may be NULL. */
int host_missing(struct lanewise_machine *m, const char *function, const char *what);
/** Adds a module, which takes ownership of @object, @source and the text of @words; on an error they are freed. */
int host_module_add(struct lanewise_machine *m, char *source, struct isa_object *object, struct lw_buffer *words,
                    lanewise_module **out);
/** Creates the emulator's machine at the first use. */
enum lw_status host_begin(struct lanewise_machine *m, struct lw_error *err) LW_MUST_CHECK;
/** Creates the engine of a machine. */
enum lw_status host_engine_begin(struct lanewise_machine *m, struct lw_error *err) LW_MUST_CHECK;
/** Creates the checker if checks are enabled; the machine must be new. */
enum lw_status host_check_begin(struct lanewise_machine *m, struct lw_error *err) LW_MUST_CHECK;
void host_check_end(struct lanewise_machine *m);
/** Returns LANEWISE_FINDING with a message, if there is a finding that was not reported; else LANEWISE_OK. */
int host_check_report(struct lanewise_machine *m);
/** Returns true if the next run belongs to a debugger. */
bool host_gdb_wants(const struct lanewise_machine *m);
/** Runs the queued launches under the debugger, until all have ended or the debugger has disconnected. *@left: the
 *  debugger has disconnected, and launches may still have to run. Returns LANEWISE_OK, LANEWISE_KILLED or
 *  LANEWISE_ERROR with a message. */
int host_gdb_run(struct lanewise_machine *m, bool *left);
/** Callbacks of the checker: findings are stops of the debugger. @context is the machine. */
void host_gdb_found(void *context, unsigned index);
void host_gdb_note(void *context, const char *message);
/** Ends the debugger's session, if there is one, because the program has ended. */
void host_gdb_end(struct lanewise_machine *m);
/** Ends the debugger's session, and frees the memory of lanewise_gdb(). */
void host_gdb_free(struct lanewise_machine *m);
/** Begins to record launches in a folder, which this function creates. */
enum lw_status host_record_begin(struct lanewise_machine *m, const char *folder, struct lw_error *err) LW_MUST_CHECK;
/** Records a launch that is about to be queued. No other launch may be queued. A launch that cannot be recorded is left
 *  out, with a message (lanewise_record_message). */
void host_record_launch(struct lanewise_machine *m, const lanewise_kernel *kernel, const lanewise_shape *shape,
                        const void *const *arguments);
/** Writes the launch file of the launch that has run to @stop. */
void host_record_ended(struct lanewise_machine *m, const struct emu_stop *stop);
void host_record_free(struct lanewise_machine *m);
/** Frees what lanewise_set and host_begin allocated. */
void host_settings_fini(struct host_settings *settings);

#endif
