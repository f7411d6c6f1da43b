/* SPDX-License-Identifier: Apache-2.0 */
/* Internal interface of cmd/: commands, options, and exit statuses. */
#ifndef CMD_PRIV_H
#define CMD_PRIV_H

#include <stdio.h>

#include "check/check.h"
#include "debug/debug.h"
#include "launch/launch.h"
#include "timing/timing.h"

/** Exit statuses 0 to 4. If several apply, the first of 2, 4, 3, 1 is returned (docs/howto/run-and-verify.md). */
enum cmd_exit { CMD_FINE, CMD_WRONG, CMD_USAGE, CMD_FAULT, CMD_HANG };

/** An option of a command. */
struct cmd_option {
    const char *name; /* without leading dashes */
    char letter;      /* the letter of its short form, or 0 if there is none */
    const char *operand; /* name of the operand, in brackets if it is optional; NULL: the option has no operand */
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
/** Returns the version of the program, such as "0.1.0". */
const char *cmd_version(void);

/** Processes an option; @option is its index in cmd->options. */
typedef enum lw_status (*cmd_take_fn)(void *context, unsigned option, const char *value,
                                      struct lw_error *err);
/** Parses @argv: calls @take for each option, and moves the operands to argv[1] and the following elements. Returns the
 *  number of operands. Returns -1 and sets *status if the command ends here: to CMD_USAGE after an error message, to
 *  CMD_FINE after help. */
int cmd_parse(const struct cmd *cmd, int argc, char **argv, cmd_take_fn take, void *context,
              int *status);
/** Prints "lanewise: " and the message to stderr; returns CMD_USAGE. */
int cmd_error(const struct lw_error *err);
/** Prints an error as cmd_error() does. If the message begins with @clang, the program of option --compiler, prints the
 *  option's name before it. */
int cmd_open_error(struct lw_error *err, const char *clang);
int cmd_wrong_usage(const struct cmd *cmd, const char *fmt, ...) LW_PRINTF(2, 3);
/** Returns true if the stream is a terminal that shows colours. */
bool cmd_colour(int fd);
/** Options for the compiler of kernels, from the options -D, -I and -X. Zeros in all members mean no options. */
struct cmd_flags {
    const char *flag[256];
    unsigned count;
    struct lw_arena arena; /* owns the texts of @flag */
};
/** Handles the options "define", "include" and "option". Returns false for any other option. */
bool cmd_flags_take(struct cmd_flags *flags, const char *name, const char *value,
                    enum lw_status *status, struct lw_error *err);
/** Writes data to a file, or to standard output if @path is NULL or "-". Returns an exit status. */
int cmd_write(const char *path, const void *data, size_t size);

/* ---- the timing model (cmd_timing.c) ------------------------------------------------ */

enum { CMD_MAX_SETS = 256 };
/** Values of --timing and related options. */
struct cmd_timing {
    const char *machine; /* operand of --timing: a built-in GPU model or a file, or NULL if it is not given */
    const char *set[CMD_MAX_SETS];
    unsigned set_count;
    const char *mechanisms; /* names separated by commas; NULL: only the mechanisms of the GPU model */
    const char *profile;    /* file of an earlier timing report, from which loads are predicted, or NULL if none is given */
    bool reference;
    const char *report, *trace, *window, *events, *sample;
    const char *first; /* name of the first option given that needs --timing, for messages, or NULL if there is none */
};
/** Handles one of the options --timing... and --mechanism; @name has no leading dashes. */
enum lw_status cmd_timing_take(struct cmd_timing *t, const char *name, const char *value,
                               struct lw_error *err) LW_MUST_CHECK;
/** Sets *@out to the checked GPU model of the options, which the caller owns, or to NULL without --timing. */
enum lw_status cmd_timing_config(const struct cmd_timing *t, struct tim_config **out,
                                 struct lw_error *err) LW_MUST_CHECK;
/** Sets *@out to the options for tim_engine_create(). */
enum lw_status cmd_timing_options(const struct cmd_timing *t, struct tim_options *out,
                                  struct lw_error *err) LW_MUST_CHECK;
/** Called before a timing model is created: places later heap memory on large pages if the host permits it. The timing
 *  model accesses the state of one core after the other, several MiB in all. On small pages, these accesses would cause
 *  TLB misses. */
void cmd_timing_heap(void);
/** Prints notes on options that have no effect, and, if the GPU model issues by control fields or wait counters, on
 *  instructions of the object that would read registers too early on such hardware. */
void cmd_timing_note(const struct cmd_timing *t, const struct tim_config *config, const struct isa_object *object);
/** Checks that the files of the options can be written, before a run that may take long. */
enum lw_status cmd_timing_try(const struct cmd_timing *t, struct lw_error *err) LW_MUST_CHECK;
/** Writes the requested report and trace. Returns an exit status. */
int cmd_timing_write(const struct cmd_timing *t, const struct emu_engine *engine, FILE *out);

/* ---- a launch file with its machine and engine (cmd_machine.c) -------------------- */

enum { CMD_MAX_ARGS = 256 };
/** Options that override settings of the launch file; 0 or NULL: the option is not given. */
struct cmd_machine_options {
    const char *warp, *reconv, *push_order, *policy, *quantum, *fairness_limit, *hang_limit, *level, *clang;
    const char *tags, *tag_rules, *tag_expansion, *tag_plan;
    const char *gdb_arch, *gdb_file; /* operands of --gdb-arch and --gdb-file */
    const char *seed;     /* number that is added to the seeds of random contents in the launch file */
    const char *history;  /* MiB of memory for a debugger's history */
    const char *log, *replay;
    const char *resume; /* checkpoint file from which the run continues */
    bool debuggable; /* -g: compile for debuggers */
    bool no_values;   /* values of variables need not be kept, because neither a debugger nor a check reads them */
    bool keep_values; /* --values: optimised code keeps values of variables */
    bool lat_barriers; /* --lat-barriers: insert the barriers of explicit dynamic warp resizing */
    bool silent;      /* warnings of the compiler are printed only if it fails */
    struct lnc_direct direct; /* options that describe a launch without a launch file: grid, block, arguments */
    const char *args[CMD_MAX_ARGS]; /* operands of --arg: the kernel's arguments */
    const char *expects[CMD_MAX_ARGS]; /* operands of --expect: expected results */
    const char *direct_option; /* name of the first option given that describes a launch, for a message, or NULL if none */
    const char *save_launch;
    struct cmd_flags flags; /* options for the compiler; the owner of this structure frees their arena */
    struct cmd_timing timing;
};
/** A launch file that was loaded, and the machine, engine and session that run it. */
struct cmd_machine {
    struct emu_config config;
    struct lnc_file *file;
    bool direct; /* @file was built from options, not read from a launch file */
    struct emu_machine *machine;
    struct emu_engine *engine;
    struct lnc_session *session;
    struct emu_log *log; /* log of --log or --replay, else NULL */
    const char *log_path; /* operand of --log, or NULL if it is not given */
    struct tim_config *timing; /* GPU model that --timing selects, or NULL without --timing */
    struct tim_view view;      /* context of the debugger commands of the timing model */
};
/** Handles one of the options that describe a launch; returns false for another option. */
bool cmd_direct_take(struct cmd_machine_options *options, const char *name, const char *value, enum lw_status *status,
                     struct lw_error *err);
/** Called by commands that debug: replaces -g by --values if the compiler gets an option such as -O2. */
void cmd_debuggable_resolve(struct cmd_machine_options *options);
/** Parses the value of an option, a number from @low to @high; does nothing if @text is NULL. */
enum lw_status cmd_number(const char *option, const char *text, uint64_t low, uint64_t high,
                          unsigned *out, struct lw_error *err) LW_MUST_CHECK;
enum lw_status cmd_machine_open(const char *path, const struct cmd_machine_options *options,
                                struct lw_sink *print, struct lw_sink *messages,
                                struct cmd_machine *out, struct lw_error *err) LW_MUST_CHECK;
void cmd_machine_close(struct cmd_machine *m);
/** Prints an error for a command that expects one launch file but got @count operands. Returns CMD_USAGE. */
int cmd_wrong_operands(const struct cmd *cmd, int count, char **operand, const struct cmd_machine_options *options);
/** Called at the end of a run: writes the log of --log; if @whole, checks that the run of --replay reached the end of its
 *  log. @whole: the run was not interrupted. */
enum lw_status cmd_machine_finish(struct cmd_machine *m, bool whole, struct lw_error *err)
    LW_MUST_CHECK;
/** Writes a checkpoint of the run's current state. */
enum lw_status cmd_machine_save(struct cmd_machine *m, const char *path, struct lw_error *err)
    LW_MUST_CHECK;
/** dbg_next_fn that calls lnc_session_next(); @context is a struct cmd_machine. */
enum lw_status cmd_machine_next(void *context, bool *more, struct lw_error *err);

/* ---- early end of a run by a signal or a limit (cmd_end.c) ------------------------ */

/** Installs handlers for SIGINT, SIGTERM, SIGHUP and SIGXCPU: the first of these signals makes the engine's run return, a
 *  second one ends the program. @engine may be NULL. @quickly is called at the second signal, to clean up, and must be
 *  safe in a signal handler; it may be NULL. */
void cmd_end_catch(struct emu_engine *engine, void (*quickly)(void));
/** Installs the handlers of cmd_end_catch(), except for SIGINT, which the shell handles itself. A signal also interrupts reads
 *  from the terminal or a pipe. */
void cmd_end_catch_in_shell(struct emu_engine *engine);
/** Sets the engine that the signal handlers interrupt, or NULL if there is none. */
void cmd_end_engine(struct emu_engine *engine);
/** Returns the first signal that a handler of cmd_end_catch() has received, or 0 if there was none. */
int cmd_end_signal(void);
/** Returns a file descriptor that is readable after a signal was received; -1: the host could not create one. */
int cmd_end_fd(void);
const char *cmd_end_signal_name(int number); /* returns the name of a signal, such as "SIGTERM" */
/** Ends the process by the received signal, after all output is written. Returns only if no signal was received. */
void cmd_end_die(void);
/** Starts a timer that makes the engine's run return after @first seconds, and then every @every seconds (0: only once).
 *  If @first is 0, stops the timer. */
void cmd_end_tick(double first, double every);
/** Returns true if a signal was received or a limit of the run is reached. In this case sets @stop to EMU_STOP_INTERRUPTED or
 *  EMU_STOP_LIMIT, with the location of all lanes in stop->hang. @seconds: time since the start of the run. */
bool cmd_end_due(const struct lnc_limits *limits, const struct cmd_machine *m, double seconds, struct emu_stop *stop);

/** gdb as a child process (cmd_gdb.c). */
struct cmd_gdb {
    const char *program; /* operand of --gdb-program; NULL: use the environment variable GDB, or the default */
    char **options;      /* arguments after "--", which are passed to gdb */
    int option_count;
    bool aarch64;
    bool served;         /* another process is the gdb server, and gdb gets the program from it, not from a file */
    char folder[128];    /* private folder with the program file and the socket, or "" if there is none */
    char program_file[160], address[160]; /* the file for gdb, and the server's address, unix:PATH */
    int child;           /* process id of gdb, or 0 if it is not started */
    int exited_fd;       /* descriptor that is readable when gdb has exited; -1: gdb is not started, or Linux has no pidfd */
};
/** Returns true if gdb reads commands from a user, because its options do not contain -batch. */
bool cmd_gdb_is_interactive(const struct cmd_gdb *gdb);
/** Creates a folder that no other user can enter, and chooses names for the socket and the program file in it. Errors:
 *  LW_EIO. */
enum lw_status cmd_gdb_prepare(struct cmd_gdb *gdb, struct lw_error *err) LW_MUST_CHECK;
/** Starts gdb in this terminal, and makes it connect to gdb->address. While gdb runs, this process ignores SIGINT, so that
 *  only gdb handles Ctrl-C. Errors: LW_EIO if gdb cannot be started. */
enum lw_status cmd_gdb_start(struct cmd_gdb *gdb, const char *launch_file, struct lw_error *err)
    LW_MUST_CHECK;
/** Waits until gdb has exited, if it was started, and removes the folder. */
void cmd_gdb_wait(struct cmd_gdb *gdb);
/** Ends gdb and removes the folder; called by the signal handler of cmd_end_catch(). */
void cmd_gdb_quickly(void);

/** Messages for options that have no effect without --gdb. */
#define CMD_GDB_ARCH_ALONE "--gdb-arch has no effect, as this run does not wait for gdb: add --gdb"
#define CMD_GDB_FILE_ALONE "--gdb-file has no effect, as this run does not wait for gdb: add --gdb"
/** Message for --history without a debugger. */
#define CMD_HISTORY_ALONE "--history has an effect only in a debugger: add --gdb, or use \"lanewise debug\""
/** Starts recording history for a debugger. @mib: value of --history; NULL: the default size of emu/; "0": no history */
enum lw_status cmd_history_start(struct cmd_machine *m, const char *mib, struct dbg *dbg,
                                 struct lw_error *err) LW_MUST_CHECK;
/** Parameters of cmd_serve_gdb(). */
struct cmd_serve {
    const char *launch_file;
    const char *address; /* address at which the server listens; NULL: a free port of this host */
    const struct cmd_machine_options *options; /* options with which gdb's `run` starts the run again */
    struct lw_sink *print, *messages;          /* sinks as for cmd_machine_open() */
    struct cmd_check *check; /* checker of this run; gdb's `run` creates another one */
    bool once;           /* the server ends after a detach; else another gdb may connect */
    struct cmd_gdb *gdb; /* gdb to start when the server listens; NULL: the user starts gdb */
};
/** Serves gdb until it disconnects or the run has ended (cmd_debug.c). Sets @stop to the state of the run: EMU_STOP_IDLE
 *  if it has ended, a fault, a hang, or EMU_STOP_NONE if the debugger disconnected before the end. Sets *detached if gdb has
 *  detached; the caller may then continue the run. */
enum lw_status cmd_serve_gdb(struct cmd_machine *m, const struct cmd_serve *how,
                             struct emu_stop *stop, bool *detached, struct lw_error *err)
    LW_MUST_CHECK;
/** Returns the exit status of a run that stopped at @stop. */
enum cmd_exit cmd_exit_status(const struct cmd_machine *m, const struct emu_stop *stop);

/* ---- checkpoints of a run (cmd_checkpoint.c) --------------------------------------- */

enum { CMD_MAX_CHECKPOINTS = 64 };
/** Values of --checkpoint, --checkpoint-at and --checkpoint-every. */
struct cmd_checkpoint {
    const char *path;                 /* file name, in which "%n" is replaced by the instruction count, or NULL if none */
    uint64_t at[CMD_MAX_CHECKPOINTS]; /* instruction counts of --checkpoint-at, ascending */
    unsigned at_count, done;          /* number of counts in `at`, and how many of them the run has reached */
    uint64_t every;                   /* interval of --checkpoint-every, or 0 if it is not given */
    bool due;                         /* the run has reached at least one checkpoint */
    bool failed;                      /* a checkpoint could not be written */
};
/** Handles one of the options --checkpoint...; @name has no leading dashes. */
enum lw_status cmd_checkpoint_take(struct cmd_checkpoint *c, const char *name, const char *value,
                                   struct lw_error *err) LW_MUST_CHECK;
/** Checks the combination of options, and that the file can be written. */
enum lw_status cmd_checkpoint_check(struct cmd_checkpoint *c, struct lw_error *err) LW_MUST_CHECK;
/** Checks that no checkpoint is earlier than @now, the instruction count at which the run starts. */
enum lw_status cmd_checkpoint_begin(const struct cmd_checkpoint *c, uint64_t now,
                                    struct lw_error *err) LW_MUST_CHECK;
/** Returns the instruction count at which the run must stop for the next checkpoint, or UINT64_MAX if there is none. */
uint64_t cmd_checkpoint_next(const struct cmd_checkpoint *c, uint64_t now);
/** Writes the checkpoint that was reached. A failure is reported and does not end the run. */
void cmd_checkpoint_write(struct cmd_checkpoint *c, struct cmd_machine *m);
/** Called at the end of a run. Writes the checkpoint if neither --checkpoint-at nor --checkpoint-every was given. Returns
 *  false if a requested checkpoint was not written, after a message. A run that ends before the first multiple of `every`
 *  only causes a message, because the user may not know how long the run is. */
bool cmd_checkpoint_end(struct cmd_checkpoint *c, struct cmd_machine *m);

/* ---- findings (cmd_check.c) ---------------------------------------------------------- */

/** Values of --check and related options, --coverage and --profile. */
struct cmd_check {
    bool enabled;
    uint64_t kinds;
    const char *list; /* operand of --check, a list of kinds, or NULL if it is not given */
    const char *suppress[16], *files[16];
    const char *base_given; /* operand of --check-base, or NULL if it is not given */
    char *base;             /* folder to which file names in reports are relative, owned, or NULL if there is none */
    char *here;             /* current folder, owned; NULL: unknown or not needed */
    unsigned suppress_count, file_count, most; /* most: operand of --max-findings, or 0 if it is not given */
    struct chk_suppressions *suppressions;
    const char *coverage, *profile; /* file names of the coverage and the profile; "-": standard output; NULL: not requested */
    struct chk *chk; /* the checker; NULL: neither checks nor counts are enabled */
    const char *step_file; /* file and line of the present step of the launch file, or NULL */
    uint32_t step_line;
    bool by_launch;  /* the profile is separate for each launch */
    bool by_options; /* the launch is built from options, so messages name --arg; set before cmd_check_begin() */
    const char *poison_given; /* operand of --read-poison, or NULL if it is not given */
    uint32_t read_poison;
    bool silent;      /* do not report unused suppressions and former names of kinds */
    bool debugged;   /* the run has a debugger that stops at findings, and whose user may enable kinds later */
    bool replayed;   /* the run replays a log, which may contain a debugger's edits */
    struct dbg *dbg; /* debugger that stops at findings, or NULL */
    struct chk_view view;
};
/** Handles one of the options of struct cmd_check; @name has no leading dashes. */
enum lw_status cmd_check_take(struct cmd_check *c, const char *name, const char *value,
                              struct lw_error *err) LW_MUST_CHECK;
/** Checks the combination of options, reads the suppressions, and checks that the report files can be written and that
 *  none of them is @launch_file or another input. */
enum lw_status cmd_check_prepare(struct cmd_check *c, const char *command, const char *launch_file,
                                 struct lw_error *err) LW_MUST_CHECK;
enum lw_status cmd_check_begin(struct cmd_check *c, struct emu_machine *machine,
                               struct lnc_session *session,
                               struct lw_error *err) LW_MUST_CHECK;
/** Reports a failure of cmd_check_begin(); @resume: the requested checkpoint, or NULL. Returns an exit status. */
int cmd_check_begin_error(const struct cmd_check *c, const char *command, const char *resume,
                          struct lw_error *err);
/** Makes the debugger @dbg stop at findings. If @dbg is NULL, no debugger stops at them. */
void cmd_check_attach(struct cmd_check *c, struct dbg *dbg);
/** Callbacks with which a debugger reads findings (struct dbg_config); @context is a struct cmd_check. */
void cmd_check_finding(void *context, unsigned number, struct dbg_finding *out,
                       struct lw_sink *text);
void cmd_check_rows(void *context, dbg_row_fn row, void *row_context);
/** Called when the run has stopped at @stop. Prints the findings to stderr, sets *@found to their number if there are any,
 *  and writes the report files. @run: the name of the launch file. Returns an exit status. */
int cmd_check_end(struct cmd_check *c, const struct emu_stop *stop, const char *run,
                  unsigned *found);
/** Returns the number of suppressed findings. */
unsigned cmd_check_suppressed(const struct cmd_check *c);
/** Returns true if --check selects exactly the kinds of its default list. */
bool cmd_check_is_usual(const struct cmd_check *c);
/** Returns true if the list of --check names the kind `stale`. */
bool cmd_check_wants_stale(const struct cmd_check *c);
/** Destroys the checker, and frees the other members. Must be called before the machine is destroyed. */
void cmd_check_close(struct cmd_check *c);
int cmd_explain(const struct cmd *cmd, int argc, char **argv);

/* ---- statistics (cmd_stats.c) ------------------------------------------------------ */

/** Outcome of a run, for the summary and for --stats. */
struct cmd_outcome {
    enum cmd_exit exit;
    struct emu_stop stop;
    struct lnc_result result;
    double load_seconds, run_seconds;
    double launch_seconds; /* time in which kernels ran, without host steps */
    bool hashed;           /* hash_mem and hash_state are set */
    unsigned found, suppressed; /* number of reported findings; number of suppressed findings */
    bool looked;                /* --check was given */
    bool usual;                 /* only the kinds of --check's default list are enabled */
    bool unread;                /* uninitialised-output is enabled, but the host reads no buffer */
    uint64_t hash_mem, hash_state;
    const struct emu_native *native; /* the translator to native code, or NULL */
};
int cmd_stats_write(const char *path, const char *launch_file, const struct cmd_machine *m,
                    const struct cmd_outcome *outcome);

/** Finds the folder @name that contains @file: next to this program, in ../lib relative to it, or where libraries are
 *  installed. Returns false if none of them has the file; @folder is then the last one that was tried. */
bool cmd_find_folder(const char *name, const char *file, char *folder, size_t room);
int cmd_app(const struct cmd *cmd, int argc, char **argv);
/** Checks of the options of `lanewise app` (cmd_app_check.c): each option by itself, and then all of them together. */
struct cmd_app_check {
    struct lanewise_machine *machine; /* a machine with these options, which runs nothing */
    bool timing;           /* --timing was given */
    bool profile, by;      /* --profile was given; --profile-by was given */
    const char *of_timing; /* the last option that has no effect without --timing, or NULL */
    const char *files[64]; /* names of report files */
    unsigned file_count;
};
enum lw_status cmd_app_check_begin(struct cmd_app_check *c, struct lw_error *err) LW_MUST_CHECK;
/** Checks one option. @value: its operand, or NULL. The message does not name the option. */
enum lw_status cmd_app_check_option(struct cmd_app_check *c, const char *name, const char *value, struct lw_error *err) LW_MUST_CHECK;
/** Checks all options together. */
enum lw_status cmd_app_check_all(struct cmd_app_check *c, struct lw_error *err) LW_MUST_CHECK;
/** Returns true if the runtime replaces %p and %% in the operand of this option. */
bool cmd_app_check_expands(const char *option);
/** Deletes reports of earlier runs. */
void cmd_app_check_unlink(const struct cmd_app_check *c);
void cmd_app_check_end(struct cmd_app_check *c);
int cmd_run(const struct cmd *cmd, int argc, char **argv);
/** Executes `lanewise run`, as cmd_run() does. @gdb: the gdb to start for the run, or NULL to start none. */
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
