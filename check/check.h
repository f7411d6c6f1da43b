/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Public interface of check/, which reports errors of kernels as findings. A checker observes a machine by hooks
 * (emu/emu_hooks.h), a listener and a fault filter. After a finding the run continues if possible.
 * docs/reference/check-kinds.md
 */
#ifndef CHECK_H
#define CHECK_H

#include "emu/emu.h"

enum chk_kind {
#define KIND(id, ...) CHK_##id,
#include "check/kinds.def"
    CHK_KIND_COUNT
};
enum chk_class { CHK_CLASS_MEMORY, CHK_CLASS_PROGRESS, CHK_CLASS_RACES, CHK_CLASS_UNINITIALISED,
                 CHK_CLASS_PERFORMANCE, CHK_CLASS_ARITHMETIC, CHK_CLASS_API, CHK_CLASS_COUNT };

/** A kind of findings, from a table row of kinds.def. */
struct chk_kind_info {
    const char *name;
    enum chk_class group;
    bool on;            /* the kind is enabled if a list names its class */
    const char *summary; /* begins without a capital and ends without a full stop */
    const char *wrong, *right; /* source code of a kernel with the error, and of a corrected kernel */
};
extern const struct chk_kind_info chk_kinds[CHK_KIND_COUNT];
extern const char *const chk_class_names[CHK_CLASS_COUNT];

/**
 * Parses a list of kinds such as "memory,-misaligned": names of kinds and classes, "all", or "default". NULL
 * and "default" select the classes whose checks do not slow the run down, except the kinds that must be selected by name. "-"
 * before a word removes the kinds of the word. Bit k of @kinds is kind k.
 * Errors: LW_EUSAGE; the message proposes the nearest name.
 */
enum lw_status chk_select(const char *list, uint64_t *kinds, struct lw_error *err) LW_MUST_CHECK;
/** For each former name of a kind in @list, prints a line: @before, the former name, and the name that has replaced it. */
void chk_put_formers(const char *list, const char *before, struct lw_sink *out);
/** Explains kind @name, with a kernel that has the finding and a corrected kernel. For a class, "default" or "all" (or NULL),
 *  lists the kinds, each with the option that enables it. Errors: LW_ENOENT; the message proposes the nearest name. */
enum lw_status chk_explain(const char *name, struct lw_sink *out, struct lw_error *err)
    LW_MUST_CHECK;

/** A call through which execution reached the location of a finding: an inlined call, or an executed call of a function that
 *  is declared in a compiler's header. */
struct chk_call {
    const char *function; /* name of the called function, or "" if it is not known */
    const char *file;     /* file that contains the call, or "" if it is not known */
    uint32_t line;        /* line of the call, or 0 if it is not known */
    bool called;          /* the call was executed, not inlined */
};
/** Location of an event, for example of one of the two accesses of a race. */
struct chk_location {
    const char *kernel;   /* "" if the host caused the event */
    const char *function; /* function that contains the pc, or "" if it is not known */
    const char *file;     /* "" if it is not known */
    uint32_t line;        /* 0 if it is not known */
    const struct chk_call *calls; /* inlined calls that contain the line, innermost first; set only in findings */
    unsigned call_count;
    uint64_t pc;
    uint64_t caller;      /* if `pc` is in a function of the compiler: address of the call in other code from which execution
                           * reached `pc`; 0: not known */
    uint32_t grid;        /* sequence number of the launch */
    uint32_t block[3];
    uint64_t block_number; /* linear index */
    unsigned warp;        /* index in the block */
    uint64_t lanes;
};
/** A location in the host program that belongs to a finding. */
struct chk_related {
    const char *what; /* description, such as "launched by main" */
    const char *file; /* "" if it is not known */
    uint32_t line;    /* 0 if it is not known */
};
enum { CHK_MOST_RELATED = 4 };
/** A variable of the source with its value as a debugger prints it. */
struct chk_value {
    const char *name, *text;
};
/** A finding. All occurrences at a site are one finding. A site is a kind and a pc or, for races, a kind and two pcs. Sites
 *  whose instructions have the same opcode, source line and inlined calls, and access the same allocation, are one finding,
 *  too, except for performance findings. Location and message are those of the first occurrence. Strings belong to the
 *  checker. */
struct chk_finding {
    enum chk_kind kind;
    const char *message;    /* ends without a full stop */
    struct chk_location location;
    struct chk_location other; /* second location, such as the previous access of a race; if there is no second location, its
                                * kernel is "" */
    uint64_t address;       /* generic address, or 0 if there is none */
    const char *allocation; /* name of the nearest allocation at or below `address`, or "" if there is none */
    uint64_t count;         /* number of lanes, summed over all occurrences */
    bool suppressed;
    bool stopped; /* the lanes of `location` are stopped before its instruction while the finding is recorded. If it is false,
                   * they may be there only if a hook was called for the instruction */
    unsigned value_lane, value_count;
    const struct chk_value *values; /* variables of lane `value_lane` before the instruction, which is the lowest lane of the first
                                     * occurrence; variables that the source line names come first */
    unsigned related_count;
    struct chk_related related[CHK_MOST_RELATED]; /* locations that chk_relate() has added */
};

struct chk_suppressions;
/** Adds a file of suppressions (docs/reference/check-reports.md) to *@list, which is created if it is NULL.
 *  Errors: "file:line: message"; *@list does not change. */
enum lw_status chk_suppressions_load(const char *path, struct chk_suppressions **list,
                                     struct lw_error *err) LW_MUST_CHECK;
void chk_suppressions_destroy(struct chk_suppressions *suppressions);
/** For each suppression whose pattern matches a kind only by its former name, prints a line: @before, file and line of
 *  the suppression, the former name, and the name that has replaced it. */
void chk_suppressions_put_formers(const struct chk_suppressions *suppressions, const char *before,
                                  struct lw_sink *out);

/** A bit that chk_select sets in addition to the bits of the kinds, if the list has "all" or the name of kind
 *  CHK_BARRIER_EXITED. Without this bit, findings of that kind are reported only for kernels in OpenCL C, which forbids
 *  that threads end before a barrier of their block. */
#define CHK_EXITED_ANYWHERE (UINT64_C(1) << 63)
/** Counts to collect in addition to those that findings need. */
enum chk_counting { CHK_COUNT_NOTHING, CHK_COUNT_RUNS, CHK_COUNT_REQUESTS /* executions and memory requests */ };
struct chk_options {
    enum chk_counting counting;
    uint64_t kinds;        /* result of chk_select */
    unsigned max_findings; /* maximum number of recorded findings that are not suppressed; at least 1 */
    const struct chk_suppressions *suppressions; /* borrowed; may be NULL */
    /** Absolute name of a folder, without a trailing "/". JSON, JUnit and SARIF reports name files in this folder
     *  relative to it; suppressions may name files in the same way. Borrowed; NULL: files are named as in the program. */
    const char *base;
    /** Absolute name of the folder to which relative file names refer. Borrowed; NULL: the same folder as `base`. */
    const char *here;
    /** Called before or during the execution of an instruction, or during a host step, when a finding at a new location is
     *  recorded and not suppressed. The callback must not change the state of the machine. The callback is called only for kinds
     *  with stops enabled (chk_stops_for). NULL: no finding stops the run; the caller prints all findings at the end of the run
     *  (chk_print_all). */
    void (*found)(void *context, unsigned index);
    /** Sets *@out to the step or call of the host program that accesses memory now. Texts must last until the next call of this
     *  callback. The callback is called when a finding about such an access is made. NULL: the location is not known. */
    void (*caller)(void *context, struct chk_call *out);
    /** Receives a message for people, without a full stop. The member may be NULL. */
    void (*note)(void *context, const char *message);
    void *context;
    uint32_t read_poison; /* value that a skipped load writes to each 32-bit register of its result */
    bool by_launch;       /* counts are also collected for each launch separately */
    bool by_options;      /* buffers are created by --arg, so messages say how --arg initialises a buffer */
};
struct chk;
/** Creates a checker that observes @machine from now on. While the checker exists, the machine runs on one host thread, even
 *  if it is configured for more. The machine is borrowed and must outlive the checker. Errors: LW_ENOMEM; LW_ESTATE if the
 *  machine has executed instructions and a selected kind observes instructions. */
enum lw_status chk_create(struct emu_machine *machine, const struct chk_options *options,
                          struct chk **out, struct lw_error *err) LW_MUST_CHECK;
void chk_destroy(struct chk *chk);
/** Marks global memory as uninitialised. The memory was allocated before the checker was created. */
void chk_mark_uninitialised(struct chk *chk, uint64_t address, uint64_t bytes);
/** Declares that the host will check a result if the run reaches @line of @file. */
void chk_declare_host_check(struct chk *chk, const char *file, uint32_t line);
/** Records a check of a result by the host at @line of @file. @failed: the message of a failed check; NULL: the check
 *  passed. Reports list the check once for each line of @file. A check is not a finding. */
void chk_record_host_check(struct chk *chk, const char *file, uint32_t line, const char *failed);
/** A finding about a call that the host program made. Texts are "" and the line is 0 if they are not known. */
struct chk_host_finding {
    enum chk_kind kind; /* kind of the finding, of the class API */
    const char *message;
    const char *function, *file;
    uint32_t line;
    uint64_t count; /* number of occurrences */
};
/** Records a finding about the host program, if its kind is enabled. Texts are copied. The finding does not stop a
 *  debugger. The function must be called before chk_finish. Errors: LW_ENOMEM. */
enum lw_status chk_add_host(struct chk *chk, const struct chk_host_finding *finding, struct lw_error *err) LW_MUST_CHECK;
/** Forbids that kernels load from memory (@loads) or store to it (@stores), until chk_permit() with the same @address, @bytes and
 *  @why, or until the memory is freed. Such accesses are executed, and become findings of kind CHK_API_BUFFER if it is enabled.
 *  @why: a clause for the message, such as "the buffer is mapped". Errors: LW_ENOMEM. */
enum lw_status chk_forbid(struct chk *chk, uint64_t address, uint64_t bytes, bool loads, bool stores, const char *why,
                          struct lw_error *err) LW_MUST_CHECK;
void chk_permit(struct chk *chk, uint64_t address, uint64_t bytes, const char *why);
/** Returns true if findings of a kind are recorded. */
bool chk_wants(const struct chk *chk, enum chk_kind kind);
/** Gets the kind with a name or former name. Returns false if there is none. */
bool chk_kind_find(const char *name, enum chk_kind *kind);
/**
 * Finishes the checker after the end of the run. If any kind is enabled, a fault or hang that ended the run becomes a
 * finding, even if its own kind is not enabled. Then the checks that need a complete run are made. Sorts findings by file,
 * line, kind, pc. The function must be called once.
 * Errors: LW_ENOMEM; also returned if memory was short for an earlier finding.
 */
enum lw_status chk_finish(struct chk *chk, const struct emu_stop *stop, struct lw_error *err)
    LW_MUST_CHECK;
/** Records that a signal of the host, such as "SIGTERM", ended the run. This function must be called before chk_finish.
 *  Reports contain the signal's name and number. */
void chk_ended_by(struct chk *chk, const char *name, int number);
/** Records that the run has stopped before its end, because of a fault, a hang or a limit. Reports that are written
 *  before chk_finish then say that the run was ended early. */
void chk_broke_off(struct chk *chk);
/** Returns the number of recorded findings that are not suppressed. */
unsigned chk_count(const struct chk *chk);
/** Returns the number of occurrences, counted by lane, of findings that were dropped because max_findings was reached. */
unsigned chk_dropped_count(const struct chk *chk);
unsigned chk_suppressed_count(const struct chk *chk); /* returns the number of suppressed findings */
/** Prints a line for each suppression that matches no finding although a kind to which it applies was enabled. This function
 *  must be called after chk_finish, for a run that reached its end. */
void chk_print_unused_suppressions(const struct chk *chk, struct lw_sink *out);
/** Returns finding @index of all recorded findings, including suppressed ones; NULL past the last. The findings are
 *  sorted after chk_finish. */
const struct chk_finding *chk_get(const struct chk *chk, unsigned index);
/** Adds a location in the host program to @finding of @chk, for JSON and SARIF reports. Texts are copied. Errors:
 *  LW_ENOMEM; LW_ERANGE if the finding has CHK_MOST_RELATED locations already. */
enum lw_status chk_relate(struct chk *chk, const struct chk_finding *finding, const struct chk_related *related,
                          struct lw_error *err) LW_MUST_CHECK;
/** Returns true if a debugger currently stops for findings of this kind. */
bool chk_stops_for(const struct chk *chk, const struct chk_finding *finding);

/** Prints a finding as one line such as "k.cl:3: race: ...", without newline. Names of files are relative to the current
 *  folder. */
void chk_print(const struct chk_finding *finding, struct lw_sink *out);
/** Prints a finding as chk_print() does, followed by a line with the values of variables, if they are known. */
void chk_print_values(const struct chk_finding *finding, struct lw_sink *out);
/** Returns true for a file of the system, a compiler or a toolkit, which is not part of the user's source. Findings about
 *  code in such a file name the call in the user's source first. */
bool chk_is_foreign(const char *file);
/** Prints all findings and their number. The caller prints how the run ended. */
void chk_print_all(const struct chk *chk, const char *run, struct lw_sink *out);

/** Context of chk_commands: the checker of a debugger. */
struct chk_view {
    struct chk *chk;
    /** Returns the instruction count before the instruction at which chk_options.found was called for finding @index,
     *  or UINT64_MAX if it is not known. */
    uint64_t (*when)(void *context, unsigned index);
    void *context;
};
/** Debugger commands that select which findings stop the run, and list the findings. */
extern const struct lw_command chk_commands[];
extern const size_t chk_command_count;
/** Emits the rows of the table of findings, with the columns number, kind, times, instruction, at, finding. */
void chk_rows(const struct chk_view *view,
              void (*row)(void *context, const char *const *cells, unsigned count), void *context);

/** A file format for the list of findings. */
struct chk_format {
    const char *name, *suffix; /* suffix: the end of file names in this format, such as ".sarif" */
    /** Writes the findings. @run is the launch file's name, @version the version of the program. */
    void (*write)(const struct chk *chk, const char *run, const char *version,
                  struct lw_sink *out);
};
/** Returns the format whose suffix a file name has, or the text format. */
const struct chk_format *chk_format_for(const char *path);
/** Returns the suffix of a format that is similar to the suffix of @path: ".sarif" for ".sarrif". Returns NULL if the
 *  suffix of @path is already the suffix of a format, or is not similar to any. */
const char *chk_format_suggest(const char *path);

/* ---- number of executions of each line (docs/howto/coverage.md) ------------------------------------------- */

/** Writes coverage of lines, branches and functions in lcov's tracefile format, for all objects whose kernels ran.
 *  Counts are numbers of lanes. The function needs options.counting CHK_COUNT_RUNS or more. Errors: LW_ENOMEM, also if memory
 *  was short earlier in the run. */
enum lw_status chk_write_coverage(const struct chk *chk, struct lw_sink *out, struct lw_error *err)
    LW_MUST_CHECK;
/** Writes the source with the counts of each line; if options.by_launch is set, once for each launch instead of once for
 *  the run. @run is the launch file's name. The function needs options.counting CHK_COUNT_REQUESTS. Errors: those of
 *  chk_write_coverage. */
enum lw_status chk_write_profile(const struct chk *chk, const char *run, struct lw_sink *out,
                                 struct lw_error *err) LW_MUST_CHECK;
/** Gets the number of warp instructions of a source line from @profile, a text that chk_write_profile() wrote. Returns false if
 *  the text has no count for the line. */
bool chk_profile_count(const char *profile, const char *file, uint32_t line, uint64_t *count);

#endif
