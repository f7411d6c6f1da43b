/* SPDX-License-Identifier: Apache-2.0 */
/* Internals of cmd/: commands, options, and exit statuses. */
#ifndef CMD_PRIV_H
#define CMD_PRIV_H

#include <stdio.h>

#include "check/check.h"
#include "debug/debug.h"
#include "launch/launch.h"
#include "timing/timing.h"

/** Exit statuses. If several apply, the first of 2, 4, 3, 1 is returned (docs/howto/run-and-verify.md). */
enum cmd_exit { CMD_FINE, CMD_WRONG, CMD_USAGE, CMD_FAULT, CMD_HANG };

/** One option; @operand: NULL: no operand; "[X]": optional operand. */
struct cmd_option {
    const char *name; /* without leading dashes */
    char letter;      /* its short form; 0: none */
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

/** Processes an option, given by its index in cmd->options. */
typedef enum lw_status (*cmd_take_fn)(void *context, unsigned option, const char *value,
                                      struct lw_error *err);
/** Parses @argv: calls @take for each option with its index in cmd->options, and moves the operands to the front of
 *  argv[1..]. Returns the number of operands, or -1 after an error message (or after help; *status is 0 then). */
int cmd_parse(const struct cmd *cmd, int argc, char **argv, cmd_take_fn take, void *context,
              int *status);
/** Prints "lanewise: " and the message to stderr; returns CMD_USAGE. */
int cmd_error(const struct lw_error *err);
/** Does what cmd_error() does. An error about the program of --compiler names that option. */
int cmd_open_error(struct lw_error *err, const char *clang);
int cmd_wrong_usage(const struct cmd *cmd, const char *fmt, ...) LW_PRINTF(2, 3);
/** Returns true if the stream is a terminal that shows colours. */
bool cmd_colour(int fd);
/** Options for the compiler of a source, from -D, -I and -X of several commands. A structure of zeros has no
 *  options. */
struct cmd_flags {
    const char *flag[256];
    unsigned count;
    struct lw_arena arena; /* owns their texts */
};
/** Handles one of these options ("define", "include", "option"); returns false for another option. */
bool cmd_flags_take(struct cmd_flags *flags, const char *name, const char *value,
                    enum lw_status *status, struct lw_error *err);
/** Writes data to a file, or to standard output if @path is NULL or "-". */
int cmd_write(const char *path, const void *data, size_t size);

/* ---- the timing model (cmd_timing.c) ------------------------------------------------ */

enum { CMD_MAX_SETS = 256 };
/** Values of --timing and related options. */
struct cmd_timing {
    const char *machine; /* a built-in GPU model or a file; NULL: no timing */
    const char *set[CMD_MAX_SETS];
    unsigned set_count;
    const char *mechanisms; /* separated by commas; NULL: only those of the GPU model */
    const char *profile;    /* a timing report with loads; NULL: none */
    bool reference;
    const char *report, *trace, *window, *events, *sample;
    const char *first; /* the first of these options, for messages; NULL: none */
};
/** Handles one of these options; @name has no leading dashes. */
enum lw_status cmd_timing_take(struct cmd_timing *t, const char *name, const char *value,
                               struct lw_error *err) LW_MUST_CHECK;
/** Returns the checked GPU model of the options, which the caller owns; NULL without --timing. */
enum lw_status cmd_timing_config(const struct cmd_timing *t, struct tim_config **out,
                                 struct lw_error *err) LW_MUST_CHECK;
/** Returns the options for tim_engine_create(). */
enum lw_status cmd_timing_options(const struct cmd_timing *t, struct tim_options *out,
                                  struct lw_error *err) LW_MUST_CHECK;
/** Called before a timing model is created: places later heap memory on large pages if the host permits it. The state
 *  of the cores is some MiB that are accessed in turn, and should not cause TLB misses. */
void cmd_timing_heap(void);
/** Reports once if the object has wrong control fields and the GPU model issues instructions by them. */
void cmd_timing_note(const struct cmd_timing *t, const struct tim_config *config, const struct isa_object *object);
/** Checks that the files can be written, for callers that write them after long work. */
enum lw_status cmd_timing_try(const struct cmd_timing *t, struct lw_error *err) LW_MUST_CHECK;
/** Writes the requested report and trace. Returns an exit status. */
int cmd_timing_write(const struct cmd_timing *t, const struct emu_engine *engine, FILE *out);

/* ---- a launch file, its machine and engine, wired (cmd_machine.c) ---------------- */

enum { CMD_MAX_ARGS = 256 };
/** Machine options of a command line, which override the launch file; 0 or NULL: not given. */
struct cmd_machine_options {
    const char *warp, *reconv, *push_order, *policy, *quantum, *fairness_limit, *hang_limit, *level, *clang;
    const char *tags, *tag_rules, *tag_expansion, *tag_plan;
    const char *gdb_arch, *gdb_file; /* for --gdb */
    const char *seed;     /* seed of random contents, combined with those of the launch file */
    const char *history;  /* MiB of history for a debugger */
    const char *log, *replay;
    const char *resume; /* checkpoint from which the run continues */
    bool debuggable; /* -g: compile for debuggers */
    bool no_values;   /* neither a debugger nor a check reads variables */
    bool keep_values; /* --values: optimised code keeps values of variables */
    bool lat_barriers; /* --lat-barriers: explicit barriers of dynamic warp resizing */
    bool silent;      /* warnings of the compiler are printed only if it fails */
    struct lnc_direct direct; /* options that describe the launch of a kernel's file without a launch file: grid, block,
                               * arguments */
    const char *args[CMD_MAX_ARGS]; /* arguments of --arg */
    const char *expects[CMD_MAX_ARGS]; /* operands of --expect: expected results */
    const char *direct_option; /* the first of these options, for a message; NULL: none */
    const char *save_launch;
    struct cmd_flags flags; /* the owner of this structure frees its arena */
    struct cmd_timing timing;
};
struct cmd_machine {
    struct emu_config config;
    struct lnc_file *file;
    bool direct; /* the file was built from options */
    struct emu_machine *machine;
    struct emu_engine *engine;
    struct lnc_session *session;
    struct emu_log *log; /* log of --log or --replay, else NULL */
    const char *log_path; /* file of --log */
    struct tim_config *timing; /* GPU model of --timing, else NULL */
    struct tim_view view;      /* context of the timing model's commands */
};
/** Handles one of the options that describe a launch; returns false for another option. */
bool cmd_direct_take(struct cmd_machine_options *options, const char *name, const char *value, enum lw_status *status,
                     struct lw_error *err);
/** For commands that debug: -g with a compiler option for optimisation means --values. */
void cmd_debuggable_resolve(struct cmd_machine_options *options);
/** Parses the value of an option that is a number in [low, high]; does nothing if @text is NULL. */
enum lw_status cmd_number(const char *option, const char *text, uint64_t low, uint64_t high,
                          unsigned *out, struct lw_error *err) LW_MUST_CHECK;
enum lw_status cmd_machine_open(const char *path, const struct cmd_machine_options *options,
                                struct lw_sink *print, struct lw_sink *messages,
                                struct cmd_machine *out, struct lw_error *err) LW_MUST_CHECK;
void cmd_machine_close(struct cmd_machine *m);
/** Reports that a command which runs a launch file got @count operands instead of one. Returns CMD_USAGE. */
int cmd_wrong_operands(const struct cmd *cmd, int count, char **operand, const struct cmd_machine_options *options);
/** At the end of a run: writes the log of --log, and checks that --replay reached the end of its log. @whole: the run
 *  ended regularly. */
enum lw_status cmd_machine_finish(struct cmd_machine *m, bool whole, struct lw_error *err)
    LW_MUST_CHECK;
/** Writes a checkpoint of the run's current state. */
enum lw_status cmd_machine_save(struct cmd_machine *m, const char *path, struct lw_error *err)
    LW_MUST_CHECK;
/** dbg_next_fn that calls lnc_session_next(); @context is a struct cmd_machine. */
enum lw_status cmd_machine_next(void *context, bool *more, struct lw_error *err);

/* ---- what ends a run in its middle: signals, limits (cmd_end.c) ------------------- */

/** Installs signal handlers: the first signal that ends a program (SIGINT, SIGTERM, SIGHUP, SIGXCPU) makes the engine's
 *  run return, a second one ends the program. @engine may be NULL. @quickly is called at the second signal and must be
 *  safe in a signal handler; NULL: nothing to clean up. */
void cmd_end_catch(struct emu_engine *engine, void (*quickly)(void));
/** Does what cmd_end_catch() does, for the shell, where SIGINT stops a command. Reads from the terminal or a pipe are
 *  interrupted. */
void cmd_end_catch_in_shell(struct emu_engine *engine);
/** Sets the running engine; NULL: none. */
void cmd_end_engine(struct emu_engine *engine);
/** Returns the signal that was received; 0: none. */
int cmd_end_signal(void);
/** Returns a file descriptor that is readable after a signal was received; -1: there is none. */
int cmd_end_fd(void);
const char *cmd_end_signal_name(int number); /* such as "SIGTERM" */
/** Ends the process by the received signal, after all output is written. If no signal was received, the function
 *  returns. */
void cmd_end_die(void);
/** Makes the engine's run return after @first seconds and then every @every seconds (0: once); @first 0: stops the
 *  timer. */
void cmd_end_tick(double first, double every);
/** Returns true if a signal or a limit ends the run, and sets @stop to EMU_STOP_INTERRUPTED or EMU_STOP_LIMIT with the
 *  location of all lanes in stop->hang. @seconds: time since the start. */
bool cmd_end_due(const struct lnc_limits *limits, const struct cmd_machine *m, double seconds, struct emu_stop *stop);

/** gdb as a child process (cmd_gdb.c). */
struct cmd_gdb {
    const char *program; /* program of --gdb-program; NULL: $GDB, or gdb */
    char **options;      /* arguments after "--" */
    int option_count;
    bool aarch64;
    bool served;         /* the server is another process, and has the program */
    char folder[128];    /* private folder with the program and the socket; "": none */
    char program_file[160], address[160];
    int child;           /* process id; 0: none */
    int exited_fd;       /* readable when gdb has exited; -1: no child, or an old kernel */
};
/** Returns true if gdb reads commands from a user: it was not given -batch. */
bool cmd_gdb_is_interactive(const struct cmd_gdb *gdb);
/** Creates a folder that no other user can enter, and sets the server's address and the program's name in it. Errors:
 *  LW_EIO. */
enum lw_status cmd_gdb_prepare(struct cmd_gdb *gdb, struct lw_error *err) LW_MUST_CHECK;
/** Starts gdb in this terminal and connects it to gdb->address; while it runs, Ctrl-C is sent to it. Errors: LW_EIO if
 *  it cannot be started. */
enum lw_status cmd_gdb_start(struct cmd_gdb *gdb, const char *launch_file, struct lw_error *err)
    LW_MUST_CHECK;
/** Waits until gdb has exited, if there is one, and removes the folder. */
void cmd_gdb_wait(struct cmd_gdb *gdb);
/** For cmd_end_catch(): ends gdb and removes the folder. */
void cmd_gdb_quickly(void);

/** Messages for options that need --gdb. */
#define CMD_GDB_ARCH_ALONE "--gdb-arch has no effect, as this run does not wait for gdb: add --gdb"
#define CMD_GDB_FILE_ALONE "--gdb-file has no effect, as this run does not wait for gdb: add --gdb"
/** Message for --history without a debugger. */
#define CMD_HISTORY_ALONE "--history has an effect only in a debugger: add --gdb, or use \"lanewise debug\""
/** Starts recording history for a debugger, by the value of --history (NULL: emu's default size; "0": none). */
enum lw_status cmd_history_start(struct cmd_machine *m, const char *mib, struct dbg *dbg,
                                 struct lw_error *err) LW_MUST_CHECK;
/** Parameters of cmd_serve_gdb(). */
struct cmd_serve {
    const char *launch_file;
    const char *address; /* address to serve at; NULL: a free port of this host */
    const struct cmd_machine_options *options; /* all options, with which gdb's `run` restarts */
    struct lw_sink *print, *messages;          /* sinks as for cmd_machine_open() */
    struct cmd_check *check; /* checker of this run; gdb's `run` creates another one */
    bool once;           /* false: after a detach another gdb may connect */
    struct cmd_gdb *gdb; /* started when its port is known; NULL: the user starts gdb */
};
/** Serves gdb until it disconnects or the run has ended (cmd_debug.c). @stop is the state of the run: EMU_STOP_IDLE at
 *  its end, a fault, a hang, or EMU_STOP_NONE if gdb disconnected before. *detached: gdb used `detach`, so the run may
 *  continue alone. */
enum lw_status cmd_serve_gdb(struct cmd_machine *m, const struct cmd_serve *how,
                             struct emu_stop *stop, bool *detached, struct lw_error *err)
    LW_MUST_CHECK;
/** Returns the exit status of a run that stopped at @stop. */
enum cmd_exit cmd_exit_status(const struct cmd_machine *m, const struct emu_stop *stop);

/* ---- checkpoints of a run (cmd_checkpoint.c) --------------------------------------- */

enum { CMD_MAX_CHECKPOINTS = 64 };
/** Values of --checkpoint, --checkpoint-at and --checkpoint-every. */
struct cmd_checkpoint {
    const char *path;                 /* "%n" stands for the count; NULL: no checkpoint */
    uint64_t at[CMD_MAX_CHECKPOINTS]; /* counts of --checkpoint-at, ascending */
    unsigned at_count, done;          /* at_count: number of counts in `at`; done: for how many of them the checkpoint has
                                       * been written */
    uint64_t every;                   /* interval of --checkpoint-every; 0: not given */
    bool due;                         /* the run has reached the next checkpoint */
    bool failed;                      /* a checkpoint could not be written */
};
/** Handles one of these options; @name has no leading dashes. */
enum lw_status cmd_checkpoint_take(struct cmd_checkpoint *c, const char *name, const char *value,
                                   struct lw_error *err) LW_MUST_CHECK;
/** Checks the combination of options, and that the file can be written. */
enum lw_status cmd_checkpoint_check(struct cmd_checkpoint *c, struct lw_error *err) LW_MUST_CHECK;
/** Checks that all checkpoints are later than @now, the instruction count at which the run starts. */
enum lw_status cmd_checkpoint_begin(const struct cmd_checkpoint *c, uint64_t now,
                                    struct lw_error *err) LW_MUST_CHECK;
/** Returns the instruction count at which the run must stop for the next checkpoint; UINT64_MAX: none. */
uint64_t cmd_checkpoint_next(const struct cmd_checkpoint *c, uint64_t now);
/** Writes the checkpoint that was reached. A failure is reported and does not end the run. */
void cmd_checkpoint_write(struct cmd_checkpoint *c, struct cmd_machine *m);
/** Called at the end of a run. Writes the file if no count was given. Returns false, after a message, if requested
 *  checkpoints were not written. If no multiple of `every` was reached, it only prints a message, because the length of
 *  a run need not be known. */
bool cmd_checkpoint_end(struct cmd_checkpoint *c, struct cmd_machine *m);

/* ---- findings (cmd_check.c) ---------------------------------------------------------- */

/** Values of --check and related options, --coverage and --profile. */
struct cmd_check {
    bool enabled;
    uint64_t kinds;
    const char *list; /* text of the list of kinds; NULL: not given */
    const char *suppress[16], *files[16];
    const char *base_given; /* base folder of the option; NULL: not given */
    char *base;             /* base folder of file names in reports, owned; NULL: none */
    char *here;             /* current folder, owned; NULL: unknown or not needed */
    unsigned suppress_count, file_count, most; /* most: limit of findings; 0: not given */
    struct chk_suppressions *suppressions;
    const char *coverage, *profile; /* files, "-" is standard output; NULL: not requested */
    struct chk *chk; /* NULL: no checks and no counts are enabled */
    bool by_launch;  /* the profile is per launch */
    bool by_options; /* the launch is built from options, so messages name --arg; set before cmd_check_begin() */
    const char *poison_given; /* value of the option; NULL: not given */
    uint32_t read_poison;
    bool silent;      /* do not report unused suppressions and former names */
    bool debugged;   /* the run has a debugger, which may enable kinds later and stops at findings */
    bool replayed;   /* the run replays a log, which may contain a debugger's edits */
    struct dbg *dbg; /* the debugger, or NULL */
    struct chk_view view;
};
/** Handles one of these options; @name has no leading dashes. */
enum lw_status cmd_check_take(struct cmd_check *c, const char *name, const char *value,
                              struct lw_error *err) LW_MUST_CHECK;
/** Checks the combination of options and @launch_file, reads the suppressions, and checks that the files can be
 *  written. */
enum lw_status cmd_check_prepare(struct cmd_check *c, const char *command, const char *launch_file,
                                 struct lw_error *err) LW_MUST_CHECK;
enum lw_status cmd_check_begin(struct cmd_check *c, struct emu_machine *machine,
                               struct lnc_session *session,
                               struct lw_error *err) LW_MUST_CHECK;
/** Reports a failure of cmd_check_begin(); @resume: the requested checkpoint, or NULL. Returns an exit status. */
int cmd_check_begin_error(const struct cmd_check *c, const char *command, const char *resume,
                          struct lw_error *err);
/** Makes findings stops of @dbg from now on; NULL: no stops. */
void cmd_check_attach(struct cmd_check *c, struct dbg *dbg);
/** Callbacks with which a debugger reads findings (struct dbg_config); @context is a struct cmd_check. */
void cmd_check_finding(void *context, unsigned number, struct dbg_finding *out,
                       struct lw_sink *text);
void cmd_check_rows(void *context, dbg_row_fn row, void *row_context);
/** Reports the findings of a run that stopped at @stop to stderr, and writes the files; stores their number in @found.
 *  @run: the launch file. Returns an exit status. */
int cmd_check_end(struct cmd_check *c, const struct emu_stop *stop, const char *run,
                  unsigned *found);
/** Returns the number of suppressed findings. */
unsigned cmd_check_suppressed(const struct cmd_check *c);
/** Returns true if only the kinds of the default list are enabled. */
bool cmd_check_is_usual(const struct cmd_check *c);
/** Returns true if --check selects `stale`, but not all kinds. */
bool cmd_check_wants_stale(const struct cmd_check *c);
/** Must be called before the machine is destroyed. */
void cmd_check_close(struct cmd_check *c);
int cmd_explain(const struct cmd *cmd, int argc, char **argv);

/* ---- statistics (cmd_stats.c) ------------------------------------------------------ */

struct cmd_outcome {
    enum cmd_exit exit;
    struct emu_stop stop;
    struct lnc_result result;
    double load_seconds, run_seconds;
    double launch_seconds; /* time in kernels, without host steps */
    bool hashed;
    unsigned found, suppressed; /* findings of --check */
    bool looked;                /* --check was given */
    bool usual;                 /* only the kinds of the default list are enabled */
    bool unread;                /* uninitialised-output is enabled, but the host reads no buffer */
    uint64_t hash_mem, hash_state;
};
int cmd_stats_write(const char *path, const char *launch_file, const struct cmd_machine *m,
                    const struct cmd_outcome *outcome);

/** Gets the folder with @file of @name: in the folder of this program, as built, or where it is installed. Returns false if
 *  there is none; @folder is the last one that was tried. */
bool cmd_find_folder(const char *name, const char *file, char *folder, size_t room);
int cmd_app(const struct cmd *cmd, int argc, char **argv);
int cmd_run(const struct cmd *cmd, int argc, char **argv);
/** As cmd_run(); @gdb is our own gdb, NULL: none. */
int cmd_run_with(const struct cmd *cmd, int argc, char **argv, struct cmd_gdb *gdb);
int cmd_gdb(const struct cmd *cmd, int argc, char **argv);
int cmd_debug(const struct cmd *cmd, int argc, char **argv);
int cmd_cc(const struct cmd *cmd, int argc, char **argv);
int cmd_compile(const struct cmd *cmd, int argc, char **argv);
int cmd_template(const struct cmd *cmd, int argc, char **argv);
int cmd_asm(const struct cmd *cmd, int argc, char **argv);
int cmd_timing(const struct cmd *cmd, int argc, char **argv);
int cmd_dis(const struct cmd *cmd, int argc, char **argv);

#endif
