/* SPDX-License-Identifier: Apache-2.0 */
/* Internal interface of host/: the structures that the handles of lanewise.h point to, and functions of one file of host/
 * that another file calls. */
#ifndef HOST_PRIV_H
#define HOST_PRIV_H

#include "check/check.h"
#include "host/lanewise.h"
#include "launch/launch.h"
#include "native/native.h"
#include "timing/timing.h"

enum { HOST_MAX_SETS = 64, HOST_MAX_ARGUMENT_BYTES = ISA_CONST_BANK_BYTES };

/** Handle of a kernel of a module. */
struct lanewise_kernel {
    struct lanewise_module *module;
    const struct isa_function *function; /* the kernel's function in the program */
};

struct lanewise_module {
    struct lanewise_machine *machine;
    struct lanewise_module *next;
    char *source; /* name of the source in messages, owned */
    char *log;    /* output of the compiler, owned, or NULL if there is none */
    struct isa_object *object;
    struct emu_program *program;
    struct lanewise_kernel *kernels;
    unsigned kernel_count;
};

/** Sink that passes the printf text of kernels to the user's function. */
struct host_print {
    struct lw_sink sink;
    void (*print)(void *context, const char *text, size_t size);
    void *context;
};

/** Options that lanewise_set has set. Texts are owned. A text is NULL if it is not set. */
struct host_settings {
    char *timing, *compiler, *mechanisms, *timing_profile;
    char *sets[HOST_MAX_SETS]; /* settings of the GPU model, in the form KEY=VALUE */
    unsigned set_count, threads;
    bool reference; /* the option timing-reference is "yes" */
    /* true: the user has set this option; false: a GPU model may set its value */
    bool warp, reconv, push_order, tags, tag_rules, tag_expansion, tag_plan;
    struct tim_options sampling; /* samples and trace of the timing model */
    unsigned trace;              /* 1: the option timing-trace is "yes" */
    bool window, events, aarch64; /* timing-window or timing-events is set; gdb-arch is aarch64 */
    struct emu_config config;
    bool check;                /* the user has set the option check */
    uint64_t kinds;            /* bits of the kinds of findings that option check enables */
    char *base, *run;          /* options check-base and check-run, for reports */
    unsigned max_findings;     /* maximal number of findings, or 0 if it is not set */
    uint32_t read_poison;
    bool debuggable; /* sources are compiled for a debugger */
    enum nat_engine engine; /* the option engine */
    struct lnc_limits native_limit; /* time limit of the option native-timeout, or 0 if it is not set */
    char *record; /* folder for recorded launches */
    unsigned log; /* 1: the option is "yes" */
    char *replay; /* schedule log to replay */
    unsigned coverage, profile, by_launch; /* 1: the option is "yes"; for by_launch: profile-by is "launch" */
    struct lnc_limits limits;
    struct chk_suppressions *suppressions; /* suppressions of findings, or NULL */
};

struct host_gdb;
struct host_record;

struct lanewise_machine {
    struct host_settings settings;
    struct emu_machine *machine; /* the emulated machine; NULL until its first use */
    struct emu_engine *engine;
    struct tim_config *timing;
    struct emu_native *native; /* translator to native code, or NULL */
    struct lanewise_module *modules;
    struct host_print print;
    uint32_t stack_bytes; /* lanewise_stack_limit(); 0: the default of the translator */
    struct lw_buffer error;
    unsigned buffers; /* number of allocations so far, for the names "buffer 1", ... */
    bool stopped;     /* nothing can run, because of a fault, a hang, a limit, gdb's kill or lanewise_finish */
    struct chk *chk;  /* the checker, or NULL if no checks are enabled */
    void (*caller)(void *context, lanewise_call *out); /* lanewise_caller(), or NULL */
    void *caller_context;
    char *base, *here; /* folders relative to which findings name files: check-base, and the working folder; owned, or NULL */
    struct emu_stop stop;           /* the fault, hang or limit at which the machine has stopped; else EMU_STOP_IDLE */
    double seconds;   /* duration of all runs of the engine so far */
    unsigned reported_count;                  /* number of findings that lanewise_wait or lanewise_finding_add has returned */
    bool finished;    /* lanewise_finish has ended the run */
    struct emu_stats past;          /* counts of the engines that lanewise_recover has destroyed */
    uint64_t past_cycles;
    struct host_gdb *gdb; /* NULL if there is no debugger */
    struct host_record *record; /* NULL: launches are not recorded */
    struct emu_log *log; /* the schedule log that is written or replayed, or NULL */
};

/** Returns the options with which the machine translates PTX. */
struct ptx_options host_translation(const struct lanewise_machine *m);
/** Stores the message of @err for lanewise_error(). Returns LANEWISE_ERROR. */
int host_fail(struct lanewise_machine *m, const struct lw_error *err);
/** Stores a formatted message for lanewise_error(). Returns LANEWISE_ERROR. */
int host_refuse(struct lanewise_machine *m, const char *fmt, ...) LW_PRINTF(2, 3);
/** Returns LANEWISE_ERROR, and stores a message that @what must not be NULL in a call of @function. @m may be NULL. */
int host_missing(struct lanewise_machine *m, const char *function, const char *what);
/** Loads a module, which then owns @source, @object and the text of @words (output of the compiler). In case of an error the
 *  function frees them. */
int host_module_add(struct lanewise_machine *m, char *source, struct isa_object *object, struct lw_buffer *words,
                    lanewise_module **out);
/** Creates the emulated machine, its engine and its checker at the first call; later calls do nothing. */
enum lw_status host_begin(struct lanewise_machine *m, struct lw_error *err) LW_MUST_CHECK;
/** Creates the engine of a machine. */
enum lw_status host_engine_begin(struct lanewise_machine *m, struct lw_error *err) LW_MUST_CHECK;
/** Attaches the schedule log of option "log" or "replay" to the emulated machine. Must be called before a program is loaded. */
enum lw_status host_log_begin(struct lanewise_machine *m, struct lw_error *err) LW_MUST_CHECK;
void host_log_end(struct lanewise_machine *m);
/** Checks that a replay has ended at the end of its log. Returns LANEWISE_OK or, with a message, LANEWISE_ERROR. */
int host_log_check(struct lanewise_machine *m);
/** Creates the checker if checks are enabled. Must be called before a program is loaded or memory is allocated. */
enum lw_status host_check_begin(struct lanewise_machine *m, struct lw_error *err) LW_MUST_CHECK;
void host_check_end(struct lanewise_machine *m);
/** If there are findings that were not reported, stores the message of the first and returns LANEWISE_FINDING. Else returns
 *  LANEWISE_OK. */
int host_check_report(struct lanewise_machine *m);
/** Returns true if the debugger is to control the next run. A launch must be queued. */
bool host_gdb_wants(const struct lanewise_machine *m);
/** Runs the queued launches under the debugger, until all have ended or the debugger's session has ended. *@left is set to
 *  true if the session has ended, so that launches may remain, which then run without a debugger. Returns LANEWISE_OK,
 *  LANEWISE_KILLED or LANEWISE_ERROR, the last two with a message. */
int host_gdb_run(struct lanewise_machine *m, bool *left);
/** Called by the checker for a finding: makes the debugger stop for it. @context is the machine. */
void host_gdb_found(void *context, unsigned index);
/** Called by the checker with a message, which the debugger prints. @context is the machine. */
void host_gdb_note(void *context, const char *message);
/** Ends the debugger's session, if there is one. */
void host_gdb_end(struct lanewise_machine *m);
/** Ends the debugger's session, if there is one, and frees the memory of lanewise_gdb(). */
void host_gdb_free(struct lanewise_machine *m);
/** Starts to record launches in a folder. Creates the folder if it does not exist. */
enum lw_status host_record_begin(struct lanewise_machine *m, const char *folder, struct lw_error *err) LW_MUST_CHECK;
/** Records a launch before it is queued. No other launch may be queued. If the launch cannot be recorded, stores the reason
 *  for lanewise_record_message(). @shape: its number of dimensions is 1 to 3. */
void host_record_launch(struct lanewise_machine *m, const lanewise_kernel *kernel, const lanewise_shape *shape,
                        const void *const *arguments);
/** Removes the launch file of the recorded launch, which could not be queued. */
void host_record_refused(struct lanewise_machine *m);
/** Completes the launch file of the recorded launch, which has run until @stop. */
void host_record_ended(struct lanewise_machine *m, const struct emu_stop *stop);
void host_record_free(struct lanewise_machine *m);
/** Frees the memory that lanewise_set has allocated. */
void host_settings_fini(struct host_settings *settings);

#endif
