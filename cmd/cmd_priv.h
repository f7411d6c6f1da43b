/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of cmd/ share: the commands, their options, and exit statuses. */
#ifndef CMD_PRIV_H
#define CMD_PRIV_H

#include <stdio.h>

#include "check/check.h"
#include "debug/debug.h"
#include "launch/launch.h"
#include "timing/timing.h"

/** Of several the first of 2, 4, 3, 1 (docs/howto/run-and-verify.md). */
enum cmd_exit { CMD_FINE, CMD_WRONG, CMD_USAGE, CMD_FAULT, CMD_HANG };

/** One option; @operand NULL: takes none; "[X]": may take one. */
struct cmd_option {
    const char *name; /* without the dashes */
    char letter;      /* 0: none */
    const char *operand;
    const char *help;
};
struct cmd {
    const char *name;
    const char *operands;
    const char *summary;
    const struct cmd_option *options;
    size_t option_count;
    int (*run)(const struct cmd *cmd, int argc, char **argv);
};
extern const struct cmd cmd_table[];
extern const size_t cmd_count;
void cmd_help(const struct cmd *cmd, struct lw_sink *out);

/** Gets an option by its index in cmd->options. */
typedef enum lw_status (*cmd_take_fn)(void *context, unsigned option, const char *value,
                                      struct lw_error *err);
/** Walk @argv: each option is given to @take with its index in cmd->options; the operands
 *  are moved to the front of argv[1..]. Returns their number, or -1 after an error message
 *  (or help: then *status is 0). */
int cmd_parse(const struct cmd *cmd, int argc, char **argv, cmd_take_fn take, void *context,
              int *status);
/** Print "lanewise: sentence" on stderr; returns CMD_USAGE. */
int cmd_error(const struct lw_error *err);
/** The same; an error about the program of --compiler names the option. */
int cmd_open_error(struct lw_error *err, const char *clang);
int cmd_wrong_usage(const struct cmd *cmd, const char *fmt, ...) LW_PRINTF(2, 3);
/** Is this stream a terminal that shows colours? */
bool cmd_colour(int fd);
/** Options for the compiler of a source: -D, -I and -X of several commands. All zero: none. */
struct cmd_flags {
    const char *flag[256];
    unsigned count;
    struct lw_arena arena; /* has their texts */
};
/** One of them ("define", "include", "option"); false: another option. */
bool cmd_flags_take(struct cmd_flags *flags, const char *name, const char *value,
                    enum lw_status *status, struct lw_error *err);
/** Text to a file, or to standard output for NULL and "-". */
int cmd_write(const char *path, const void *data, size_t size);

/* ---- the timing model (cmd_timing.c) ------------------------------------------------ */

enum { CMD_MAX_SETS = 256 };
/** The values of --timing and its other options. */
struct cmd_timing {
    const char *machine; /* a shipped one or a file; NULL: no timing */
    const char *set[CMD_MAX_SETS];
    unsigned set_count;
    const char *mechanisms; /* by commas; NULL: none but the machine's own */
    const char *profile;    /* a timing report with loads; NULL: none */
    bool reference;
    const char *report, *trace, *window, *events, *sample;
    const char *first; /* the first of these options, for a message; NULL: none */
};
/** One of these options; @name is the one without the dashes. */
enum lw_status cmd_timing_take(struct cmd_timing *t, const char *name, const char *value,
                               struct lw_error *err) LW_MUST_CHECK;
/** The machine that they ask for, checked; NULL without --timing. The caller owns it. */
enum lw_status cmd_timing_config(const struct cmd_timing *t, struct tim_config **out,
                                 struct lw_error *err) LW_MUST_CHECK;
/** For tim_engine_create. */
enum lw_status cmd_timing_options(const struct cmd_timing *t, struct tim_options *out,
                                  struct lw_error *err) LW_MUST_CHECK;
/** Before a timing model is made: its cores' state, some MiB that are looked at in turn, is not to wait
 *  for look-ups of small pages. What the heap gives next is on large ones, where the host allows it. */
void cmd_timing_heap(void);
/** Says so, once, if control fields decide when instructions issue on that GPU model and the object has wrong ones. */
void cmd_timing_note(const struct cmd_timing *t, const struct tim_config *config, const struct isa_object *object);
/** Can the files be written? For those who write at the end of long work. */
enum lw_status cmd_timing_try(const struct cmd_timing *t, struct lw_error *err) LW_MUST_CHECK;
/** Report and trace, where they were requested. Returns an exit status. */
int cmd_timing_write(const struct cmd_timing *t, const struct emu_engine *engine, FILE *out);

/* ---- a launch file, its machine and engine, wired (cmd_machine.c) ---------------- */

enum { CMD_MAX_ARGS = 256 };
/** Machine options of a command line, over those of the launch file; 0 or NULL: not given. */
struct cmd_machine_options {
    const char *warp, *reconv, *push_order, *policy, *quantum, *fairness_limit, *hang_limit, *level, *clang;
    const char *tags, *tag_rules, *tag_expansion, *tag_plan;
    const char *gdb_arch, *gdb_file; /* of --gdb */
    const char *seed;     /* of random contents, in addition to those of the launch file */
    const char *history;  /* MiB, of a debugger */
    const char *log, *replay;
    const char *resume; /* a checkpoint from which to continue */
    bool debuggable; /* -g: compile for a debugger */
    bool no_values;   /* no debugger and no check reads variables */
    bool keep_values; /* --values: optimised code keeps values of variables */
    bool silent;      /* no warnings of the compiler, but where it fails */
    struct lnc_direct direct; /* of a kernel's file in place of a launch file: grid, block, arguments */
    const char *args[CMD_MAX_ARGS]; /* its arguments */
    const char *expects[CMD_MAX_ARGS]; /* what must come out */
    const char *direct_option; /* the first of these options, for a message; NULL: none */
    const char *save_launch;
    struct cmd_flags flags; /* the owner of this gives its arena back */
    struct cmd_timing timing;
};
struct cmd_machine {
    struct emu_config config;
    struct lnc_file *file;
    bool direct; /* the file is made of options */
    struct emu_machine *machine;
    struct emu_engine *engine;
    struct lnc_session *session;
    struct emu_log *log; /* of --log or --replay, else NULL */
    const char *log_path; /* of --log */
    struct tim_config *timing; /* of --timing, else NULL */
    struct tim_view view;      /* for the commands of the timing model */
};
/** One of the options that describe a launch; false: another option. */
bool cmd_direct_take(struct cmd_machine_options *options, const char *name, const char *value, enum lw_status *status,
                     struct lw_error *err);
/** For commands that debug: -g with an option of the compiler that asks for optimisation is --values. */
void cmd_debuggable_resolve(struct cmd_machine_options *options);
/** The value of an option that is a number in [low, high]; nothing for a NULL @text. */
enum lw_status cmd_number(const char *option, const char *text, uint64_t low, uint64_t high,
                          unsigned *out, struct lw_error *err) LW_MUST_CHECK;
enum lw_status cmd_machine_open(const char *path, const struct cmd_machine_options *options,
                                struct lw_sink *print, struct lw_sink *messages,
                                struct cmd_machine *out, struct lw_error *err) LW_MUST_CHECK;
void cmd_machine_close(struct cmd_machine *m);
/** Not one operand, but @count, of a command that runs a launch file: says what is wrong. Returns CMD_USAGE. */
int cmd_wrong_operands(const struct cmd *cmd, int count, char **operand, const struct cmd_machine_options *options);
/** At the end of a run: write the log of --log; did --replay reach the log's end? @whole: the
 *  run reached its own. */
enum lw_status cmd_machine_finish(struct cmd_machine *m, bool whole, struct lw_error *err)
    LW_MUST_CHECK;
/** A checkpoint of the current state of the run. */
enum lw_status cmd_machine_save(struct cmd_machine *m, const char *path, struct lw_error *err)
    LW_MUST_CHECK;
/** A dbg_next_fn over lnc_session_next; @context is a struct cmd_machine. */
enum lw_status cmd_machine_next(void *context, bool *more, struct lw_error *err);

/* ---- what ends a run in its middle: signals, limits (cmd_end.c) ------------------- */

/** From now on a signal that ends a program (SIGINT, SIGTERM, SIGHUP, SIGXCPU) lets the engine's run come back, once.
 *  A second one ends the program. @engine: may be NULL. @quickly: what the second has to clean up, safe in a handler
 *  of signals; NULL: nothing. */
void cmd_end_catch(struct emu_engine *engine, void (*quickly)(void));
/** The same for the shell, where SIGINT stops a command. A read from the terminal or a pipe is interrupted. */
void cmd_end_catch_in_shell(struct emu_engine *engine);
/** Another engine runs now; NULL: none. */
void cmd_end_engine(struct emu_engine *engine);
/** The signal that came, or 0; readable when it has: a file descriptor, or -1. */
int cmd_end_signal(void);
int cmd_end_fd(void);
const char *cmd_end_signal_name(int number); /* "SIGTERM" */
/** All is written: end as that signal wants it. Returns if none came. */
void cmd_end_die(void);
/** The engine's run comes back in @first seconds, and then all @every seconds (0: never); @first 0: no more. */
void cmd_end_tick(double first, double every);
/** Is the run at its end, by a signal or a limit? Then @stop says so: EMU_STOP_INTERRUPTED or EMU_STOP_LIMIT, with
 *  the location of all lanes in stop->hang. @seconds: since it began. */
bool cmd_end_due(const struct lnc_limits *limits, const struct cmd_machine *m, double seconds, struct emu_stop *stop);

/** gdb as our child (cmd_gdb.c). */
struct cmd_gdb {
    const char *program; /* of --gdb-program; NULL: $GDB, or gdb */
    char **options;      /* after "--" */
    int option_count;
    bool aarch64;
    char folder[128];    /* ours alone, with the program and the socket; "": none */
    char program_file[160], address[160];
    int child;           /* 0: none */
    int exited_fd;       /* readable when it has exited; -1: no child, or an old kernel */
};
/** Somebody types into it: it was not given -batch. */
bool cmd_gdb_is_interactive(const struct cmd_gdb *gdb);
/** A folder that no other user can enter, the address to serve at and a name for the program in it.
 *  Errors: LW_EIO. */
enum lw_status cmd_gdb_prepare(struct cmd_gdb *gdb, struct lw_error *err) LW_MUST_CHECK;
/** Start gdb in this terminal and let it connect to gdb->address; while it lives Ctrl-C is its.
 *  Errors: LW_EIO, it cannot be started. */
enum lw_status cmd_gdb_start(struct cmd_gdb *gdb, const char *launch_file, struct lw_error *err)
    LW_MUST_CHECK;
/** Until it has exited; immediately when there is none. The folder goes. */
void cmd_gdb_wait(struct cmd_gdb *gdb);
/** For cmd_end_catch: it, and the folder, must not outlive us. */
void cmd_gdb_quickly(void);

/** Why --gdb-arch is refused where no gdb is served. */
#define CMD_GDB_ARCH_ALONE "--gdb-arch: this run does not wait for gdb: add --gdb"
#define CMD_GDB_FILE_ALONE "--gdb-file: this run does not wait for gdb: add --gdb"
/** Why --history is refused there, too. */
#define CMD_HISTORY_ALONE "--history: only a debugger goes back in time: add --gdb, or use debug"
/** Keep history for a debugger as --history says (@mib NULL: as much as emu likes; "0": none). */
enum lw_status cmd_history_start(struct cmd_machine *m, const char *mib, struct dbg *dbg,
                                 struct lw_error *err) LW_MUST_CHECK;
/** How cmd_serve_gdb() serves. */
struct cmd_serve {
    const char *launch_file;
    const char *address; /* NULL: a free port of this machine */
    const struct cmd_machine_options *options; /* all: `run` in gdb begins again with them */
    struct lw_sink *print, *messages;          /* as for cmd_machine_open */
    struct cmd_check *check; /* of this run; `run` in gdb begins another one's */
    bool once;           /* false: after a detach the next gdb may come */
    struct cmd_gdb *gdb; /* it is started when its port is known; NULL: somebody else does */
};
/** Serve gdb until it leaves or all has run (cmd_debug.c). @stop is where the run is:
 *  EMU_STOP_IDLE at its end, a fault, a hang, or EMU_STOP_NONE when gdb left in the middle;
 *  *detached: by `detach`, so the run may continue alone. */
enum lw_status cmd_serve_gdb(struct cmd_machine *m, const struct cmd_serve *how,
                             struct emu_stop *stop, bool *detached, struct lw_error *err)
    LW_MUST_CHECK;
/** Exit status of a run that is at @stop. */
enum cmd_exit cmd_exit_status(const struct cmd_machine *m, const struct emu_stop *stop);

/* ---- checkpoints of a run (cmd_checkpoint.c) --------------------------------------- */

enum { CMD_MAX_CHECKPOINTS = 64 };
/** What --checkpoint, --checkpoint-at and --checkpoint-every ask for. */
struct cmd_checkpoint {
    const char *path;                 /* "%n" stands for the count; NULL: none */
    uint64_t at[CMD_MAX_CHECKPOINTS]; /* ascending */
    unsigned at_count, done;          /* done: of those */
    uint64_t every;                   /* 0: not given */
    bool due;                         /* the run has reached a place */
    bool failed;                      /* one was not written */
};
/** One of these options; @name is the one without the dashes. */
enum lw_status cmd_checkpoint_take(struct cmd_checkpoint *c, const char *name, const char *value,
                                   struct lw_error *err) LW_MUST_CHECK;
/** All options are known: do they fit each other? Can the file be written? */
enum lw_status cmd_checkpoint_check(struct cmd_checkpoint *c, struct lw_error *err) LW_MUST_CHECK;
/** The run begins at @now instructions: are all places still to come? */
enum lw_status cmd_checkpoint_begin(const struct cmd_checkpoint *c, uint64_t now,
                                    struct lw_error *err) LW_MUST_CHECK;
/** Where the run is to stop next for one: a count of instructions; UINT64_MAX: nowhere. */
uint64_t cmd_checkpoint_next(const struct cmd_checkpoint *c, uint64_t now);
/** It is there: write the file. One that cannot be written is reported and does not end a run. */
void cmd_checkpoint_write(struct cmd_checkpoint *c, struct cmd_machine *m);
/** The run has reached its end, whatever that is: without a place the file is written here.
 *  False, and reported: some that were requested are not written. That no place of `every` was reached
 *  is only reported: where a run ends need not be known before. */
bool cmd_checkpoint_end(struct cmd_checkpoint *c, struct cmd_machine *m);

/* ---- findings (cmd_check.c) ---------------------------------------------------------- */

/** The values of --check and its other options, --coverage and --profile. */
struct cmd_check {
    bool enabled;
    uint64_t kinds;
    const char *list; /* that they are of; NULL: it was not given */
    const char *suppress[16], *files[16];
    const char *base_given; /* NULL: not given */
    char *base;             /* of files in reports, owned; NULL: none */
    char *here;             /* the current folder, owned; NULL: not known, or not needed */
    unsigned suppress_count, file_count, most; /* most 0: not given */
    struct chk_suppressions *suppressions;
    const char *coverage, *profile; /* files, "-" is standard output; NULL: not asked */
    struct chk *chk; /* NULL: no checks are enabled, and nothing is counted */
    bool by_launch;  /* the profile */
    bool by_options; /* the launch: messages name --arg; set before cmd_check_begin */
    const char *poison_given; /* NULL: not given */
    uint32_t read_poison;
    bool silent;      /* no word of rows that fit nothing, and of former names */
    bool debugged;   /* a debugger is there: it may ask for kinds later, and stops at findings */
    bool replayed;   /* what runs is a log's, which may have a debugger's edits */
    struct dbg *dbg; /* that one, or NULL */
    struct chk_view view;
};
/** One of these options; @name is the one without the dashes. */
enum lw_status cmd_check_take(struct cmd_check *c, const char *name, const char *value,
                              struct lw_error *err) LW_MUST_CHECK;
/** All options are known: do they fit each other, and @launch_file? Reads the suppressions, tries the files. */
enum lw_status cmd_check_prepare(struct cmd_check *c, const char *command, const char *launch_file,
                                 struct lw_error *err) LW_MUST_CHECK;
enum lw_status cmd_check_begin(struct cmd_check *c, struct emu_machine *machine,
                               struct lnc_session *session,
                               struct lw_error *err) LW_MUST_CHECK;
/** That failed; @resume: the checkpoint that was requested, or NULL. Returns an exit status. */
int cmd_check_begin_error(const struct cmd_check *c, const char *command, const char *resume,
                          struct lw_error *err);
/** Findings are stops of @dbg from now on; NULL: no stops. */
void cmd_check_attach(struct cmd_check *c, struct dbg *dbg);
/** A debugger's questions about findings (struct dbg_config); @context is a struct cmd_check. */
void cmd_check_finding(void *context, unsigned number, struct dbg_finding *out,
                       struct lw_sink *text);
void cmd_check_rows(void *context, dbg_row_fn row, void *row_context);
/** The run is at @stop: report the findings to stderr, write the files; @found: how many.
 *  @run: the launch file. Returns an exit status. */
int cmd_check_end(struct cmd_check *c, const struct emu_stop *stop, const char *run,
                  unsigned *found);
/** Findings that were found, and are known. */
unsigned cmd_check_suppressed(const struct cmd_check *c);
/** --check looks for the kinds of the default list alone. */
bool cmd_check_is_usual(const struct cmd_check *c);
/** --check names stale; with "all" kinds it is one of many. */
bool cmd_check_wants_stale(const struct cmd_check *c);
/** Before the machine goes. */
void cmd_check_close(struct cmd_check *c);
int cmd_explain(const struct cmd *cmd, int argc, char **argv);

/* ---- statistics (cmd_stats.c) ------------------------------------------------------ */

struct cmd_outcome {
    enum cmd_exit exit;
    struct emu_stop stop;
    struct lnc_result result;
    double load_seconds, run_seconds;
    double launch_seconds; /* of the run: kernels only, without host steps */
    bool hashed;
    unsigned found, suppressed; /* findings of --check */
    bool looked;                /* --check is given */
    bool usual;                 /* for those of the default list alone */
    bool unread;                /* uninitialised-output is enabled, and the host reads nothing */
    uint64_t hash_mem, hash_state;
};
int cmd_stats_write(const char *path, const char *launch_file, const struct cmd_machine *m,
                    const struct cmd_outcome *outcome);

int cmd_app(const struct cmd *cmd, int argc, char **argv);
int cmd_run(const struct cmd *cmd, int argc, char **argv);
/** cmd_run, with a gdb of ours unless @gdb is NULL. */
int cmd_run_with(const struct cmd *cmd, int argc, char **argv, struct cmd_gdb *gdb);
int cmd_gdb(const struct cmd *cmd, int argc, char **argv);
int cmd_debug(const struct cmd *cmd, int argc, char **argv);
int cmd_compile(const struct cmd *cmd, int argc, char **argv);
int cmd_template(const struct cmd *cmd, int argc, char **argv);
int cmd_asm(const struct cmd *cmd, int argc, char **argv);
int cmd_timing(const struct cmd *cmd, int argc, char **argv);
int cmd_dis(const struct cmd *cmd, int argc, char **argv);

#endif
