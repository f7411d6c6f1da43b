/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Public interface of check/: what is wrong with kernels, as findings. A checker observes a machine and
 * its engine; a run continues after a finding where it can. docs/reference/check-kinds.md
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
                 CHK_CLASS_PERFORMANCE, CHK_CLASS_ARITHMETIC, CHK_CLASS_COUNT };

/** A row of kinds.def. */
struct chk_kind_info {
    const char *name;
    enum chk_class group;
    bool on;            /* its class enables it */
    const char *summary; /* no capital, no full stop */
    const char *wrong, *right; /* code */
};
extern const struct chk_kind_info chk_kinds[CHK_KIND_COUNT];
extern const char *const chk_class_names[CHK_CLASS_COUNT];

/**
 * Kinds of a list such as "memory,-misaligned": names of kinds and classes, "all", or "default". NULL and
 * "default" are the kinds that are on by default, of the classes that cost no time. "-" before a word
 * removes its kinds. Bit k of @kinds is kind k.
 * Errors: LW_EUSAGE with the nearest name.
 */
enum lw_status chk_select(const char *list, uint64_t *kinds, struct lw_error *err) LW_MUST_CHECK;
/** A line, after @before, for each former name of a kind in the list: what it is called now. */
void chk_put_formers(const char *list, const char *before, struct lw_sink *out);
/** Explains kind @name, with a wrong and a right kernel. For a class, "default" or "all" (NULL, too)
 *  lists the kinds, each with what enables it. Errors: LW_ENOENT with the nearest name. */
enum lw_status chk_explain(const char *name, struct lw_sink *out, struct lw_error *err)
    LW_MUST_CHECK;

/** A call that the compiler has inlined, or an executed call of a function that is in a compiler's
 *  header. */
struct chk_call {
    const char *function; /* that was called; "" not known */
    const char *file;     /* of the call; "" not known */
    uint32_t line;        /* 0 not known */
    bool called;          /* a call that is executed */
};
/** Where something happened: one side of a finding. */
struct chk_location {
    const char *kernel;   /* "" when no kernel did it */
    const char *function; /* that holds the pc; "" not known */
    const char *file;     /* "" not known */
    uint32_t line;        /* 0 not known */
    const struct chk_call *calls; /* around the line, innermost first; of findings only */
    unsigned call_count;
    uint64_t pc;
    uint64_t caller;      /* of a place in a compiler's function: the call that led there; 0: not known */
    uint32_t grid;        /* sequence of the launch */
    uint32_t block[3];
    uint64_t block_number; /* linear */
    unsigned warp;        /* in the block */
    uint64_t lanes;
};
/** One for each site: a kind at a pc, or for races at two pcs. Location and message are those of the
 *  first occurrence. Strings belong to the checker. */
struct chk_finding {
    enum chk_kind kind;
    const char *message;    /* no full stop */
    struct chk_location location;
    struct chk_location other; /* the previous access of a race; its kernel is "" where there is none */
    uint64_t address;       /* generic; 0: none */
    const char *allocation; /* name of the nearest one at or below address; "" none */
    uint64_t count;         /* of lanes, over all occurrences */
    bool suppressed;
};

struct chk_suppressions;
/** Add a file of suppressions (docs/reference/check-reports.md) to *@list, which is made if it is NULL. Errors: "file:line:
 *  message"; *@list does not change. */
enum lw_status chk_suppressions_load(const char *path, struct chk_suppressions **list,
                                     struct lw_error *err) LW_MUST_CHECK;
void chk_suppressions_destroy(struct chk_suppressions *suppressions);
/** The same as chk_put_formers, of what matches a former name alone, with file and line. */
void chk_suppressions_put_formers(const struct chk_suppressions *suppressions, const char *before,
                                  struct lw_sink *out);

/** A bit of chk_select in addition to the kinds: CHK_BARRIER_EXITED was named, or all kinds were. Without it that kind
 *  is reported only for kernels in OpenCL C, whose language does not allow it. */
#define CHK_EXITED_ANYWHERE (UINT64_C(1) << 63)
/** What of a run is counted, in addition to what findings need. */
enum chk_counting { CHK_COUNT_NOTHING, CHK_COUNT_RUNS, CHK_COUNT_REQUESTS /* of memory, too */ };
struct chk_options {
    enum chk_counting counting;
    uint64_t kinds;        /* of chk_select */
    unsigned max_findings; /* sites kept, suppressed ones apart; at least 1 */
    const struct chk_suppressions *suppressions; /* borrowed; may be NULL */
    /** Absolute folder without a trailing "/". JSON, JUnit and SARIF reports name files below it
     *  relative to it; suppressions may, too. Borrowed; NULL: as the program names them. */
    const char *base;
    /** Folder, in the same form, that relative file names start from. Borrowed; NULL: base. */
    const char *here;
    /** Called when a finding at a new location is recorded that is not suppressed: in the middle of
     *  an instruction, or of a step of the host. It must change nothing. It is called only for kinds
     *  that stops are enabled for (chk_stops_for). NULL: nothing stops at findings; the caller prints
     *  all of them at the end of the run (chk_print_all). */
    void (*found)(void *context, unsigned index);
    /** A message for people, without full stop. May be NULL. */
    void (*note)(void *context, const char *message);
    void *context;
    uint32_t read_poison; /* what loads that are dropped read in each 32-bit register */
    bool by_launch;       /* count by launch, too */
    bool by_options;      /* buffers are of --arg: messages say how one is given contents */
};
struct chk;
/** Watch a machine from now on. The machine then runs on one host thread, however many it may use. It is
 *  borrowed and outlives the checker. Errors: LW_ENOMEM; LW_ESTATE when it has run something and a kind
 *  is selected that observes instructions. */
enum lw_status chk_create(struct emu_machine *machine, const struct chk_options *options,
                          struct chk **out, struct lw_error *err) LW_MUST_CHECK;
void chk_destroy(struct chk *chk);
/** Global memory that was allocated before the checker was created and is uninitialised. */
void chk_mark_uninitialised(struct chk *chk, uint64_t address, uint64_t bytes);
/** The next step of the host is at @line of @file. */
void chk_set_host_location(struct chk *chk, const char *file, uint32_t line);
/** The host will compare something if the run reaches @line of @file. */
void chk_declare_host_check(struct chk *chk, const char *file, uint32_t line);
/** The host has compared something, as @line of @file says. @failed: what is wrong; NULL: nothing.
 *  Reports list it once per line of @file; it is not a finding. */
void chk_record_host_check(struct chk *chk, const char *file, uint32_t line, const char *failed);
/**
 * The run is at its end: what ended it becomes a finding if its kind is on, and checks that are
 * possible only now are made. Findings are sorted by file, line, kind, pc. Once.
 * Errors: LW_ENOMEM, also when memory was short for a finding before.
 */
enum lw_status chk_finish(struct chk *chk, const struct emu_stop *stop, struct lw_error *err)
    LW_MUST_CHECK;
/** Before chk_finish: the run was ended by a signal of the host, "SIGTERM". Reports have its name and number. */
void chk_ended_by(struct chk *chk, const char *name, int number);
/** The run has stopped before its end, at a fault, a hang or a limit. Reports that are written before
 *  chk_finish say so. */
void chk_broke_off(struct chk *chk);
/** Findings that are recorded and not suppressed. */
unsigned chk_count(const struct chk *chk);
/** Occurrences at sites that were not recorded, as there were max_findings already. */
unsigned chk_dropped_count(const struct chk *chk);
unsigned chk_suppressed_count(const struct chk *chk); /* suppressed ones */
/** A line for each row of the suppressions that matches no finding, though a kind of it was enabled. After
 *  chk_finish, of a run that reached its end. */
void chk_print_unused_suppressions(const struct chk *chk, struct lw_sink *out);
/** Finding @index of all that are recorded, suppressed ones too; NULL past the last. Sorted after
 *  chk_finish. */
const struct chk_finding *chk_get(const struct chk *chk, unsigned index);
/** Does a debugger stop for findings of its kind now? */
bool chk_stops_for(const struct chk *chk, const struct chk_finding *finding);

/** "k.cl:3: race: ..." as the list of findings has it, without newline. */
void chk_print(const struct chk_finding *finding, struct lw_sink *out);
/** All findings and how many there are. The caller says how the run was ended. */
void chk_print_all(const struct chk *chk, const char *run, struct lw_sink *out);

/** Context of chk_commands: a debugger's checker. */
struct chk_view {
    struct chk *chk;
    /** Instructions of the run before the one for which `found` got @index; UINT64_MAX: not known. */
    uint64_t (*when)(void *context, unsigned index);
    void *context;
};
/** Commands of a debugger: which findings stop the run, and what was found. */
extern const struct lw_command chk_commands[];
extern const size_t chk_command_count;
/** The rows of a table of findings: number, kind, times, instruction, at, finding. */
void chk_rows(const struct chk_view *view,
              void (*row)(void *context, const char *const *cells, unsigned count), void *context);

/** A form of the list of findings. */
struct chk_format {
    const char *name, *suffix; /* ".sarif" */
    /** @run is the launch file's name, @version the program's. */
    void (*write)(const struct chk *chk, const char *run, const char *version,
                  struct lw_sink *out);
};
/** The form that a file's name asks for: by its suffix, else text. */
const struct chk_format *chk_format_for(const char *path);
/** The suffix of a form, ".sarif", that @path's, ".sarrif", may have been meant to be. NULL: it is one, or near none. */
const char *chk_format_suggest(const char *path);

/* ---- how often each line ran (docs/howto/coverage.md) ------------------------------------------- */

/** Coverage of lines, branches and functions as lcov's tracefile, of all objects of which a block
 *  ran. Counts are of lanes. It needs options.counting CHK_COUNT_RUNS or more. Errors: LW_ENOMEM,
 *  also when memory was short before. */
enum lw_status chk_write_coverage(const struct chk *chk, struct lw_sink *out, struct lw_error *err)
    LW_MUST_CHECK;
/** The source with the counts of each line, with by_launch of each launch. @run is the launch file's
 *  name. It needs options.counting CHK_COUNT_REQUESTS. Errors: as above. */
enum lw_status chk_write_profile(const struct chk *chk, const char *run, struct lw_sink *out,
                                 struct lw_error *err) LW_MUST_CHECK;

#endif
