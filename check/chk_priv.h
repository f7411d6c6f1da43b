/* SPDX-License-Identifier: Apache-2.0 */
/* Internal interface of check/. */
#ifndef CHK_PRIV_H
#define CHK_PRIV_H

#include "check/check.h"

enum chk_from { CHK_FROM_FAULT, CHK_FROM_HANG, CHK_FROM_END, CHK_FROM_WATCH, CHK_FROM_HOST };
enum chk_optimised { CHK_OPTIMISED_SAME, CHK_OPTIMISED_ELIMINATED, CHK_OPTIMISED_SPECULATED };
/** Columns of kinds.def that only check/ reads. */
struct chk_origin {
    uint8_t from, value, optimised;
};
extern const struct chk_origin chk_origins[CHK_KIND_COUNT];
/** Returns the kind whose origin (columns `from` and `value` of kinds.def) is @from and @value, or -1 if there is none. */
int chk_kind_of(enum chk_from from, unsigned value);
/** Former name of each kind, which --check, suppressions and `explain` still accept, or NULL if there is none. */
extern const char *const chk_former_names[CHK_KIND_COUNT];
/** Prints one line, such as "nan-made was renamed to nan-generated: ...". */
void chk_put_former(const char *former, const char *now, struct lw_sink *out);
/** Returns a kind by name or former name, or -1 if there is none. */
int chk_kind_named(const char *name);
uint64_t chk_class_kinds(enum chk_class group);
/** Reads a list of kinds as chk_select does. Sets *@by_name to the kinds that the list selects by their own names, not by
 *  the names of their classes. */
enum lw_status chk_select_named(const char *list, uint64_t *kinds, uint64_t *by_name,
                                struct lw_error *err) LW_MUST_CHECK;

/** Returns instruction @index of a program; NULL past the last instruction. */
static inline const struct isa_insn *chk_insn_at(const struct emu_program *program, uint32_t index)
{
    return emu_program_insn(program, emu_program_base(program) + (uint64_t)index * ISA_WORD_BYTES);
}

/** Returns the index of the instruction at @pc. */
static inline uint32_t chk_pc_index(const struct emu_program *program, uint64_t pc)
{
    return (uint32_t)((pc - emu_program_base(program)) / ISA_WORD_BYTES);
}
/** Returns the file of a line, or "" if it is not known. */
static inline const char *chk_line_file(const struct isa_object *object, const struct isa_line *line)
{
    return line != NULL && line->file < object->file_count ? object->files[line->file] : "";
}
/** Returns true for a store or atomic that may access global memory. */
bool chk_stores_global(const struct isa_insn *insn);

/** All comparisons that the host makes at one line of its source. */
struct chk_check {
    const char *file;
    uint32_t line;
    bool came; /* the run has reached the line */
    const char *failed; /* message of the first failed comparison, or NULL if there is none */
};
/** A site at which a finding occurred. Several sites share one finding if their instructions have the same opcode, source
 *  line and inlined calls, and access the same allocation. */
struct chk_site {
    enum chk_kind kind;
    uint64_t pc, other, caller; /* location.pc, other.pc and location.caller of the finding */
    uint64_t line[2];           /* keys of the source lines of `pc` and `other`: hashes of opcode, function, line and
                                 * inlined calls; 0: there is no line */
    int finding;                /* index of the finding, or CHK_DROPPED */
};
/** First member of a check's record for one block slot of a core. Different blocks use the same slot one after the other. */
struct chk_slot {
    const struct emu_core *core;
    unsigned slot;
};
/** A check's records for the slots that blocks have used; owned. */
struct chk_slots {
    struct chk_slot **at;
    size_t count, room;
    struct chk_slot *last; /* record that was requested last */
};
/** Returns the record of a slot. If there is none, creates one of @bytes, zeroed; with @bytes 0, or without
 *  memory, returns NULL. */
void *chk_slot_find(struct chk_slots *slots, const struct emu_core *core, unsigned slot, size_t bytes);
static inline void *chk_slot_at(struct chk_slots *slots, const struct emu_core *core, unsigned slot, size_t bytes)
{
    struct chk_slot *s = slots->last;

    return s != NULL && s->core == core && s->slot == slot ? s : chk_slot_find(slots, core, slot, bytes);
}

/** Result of the checks, which a hook returns to the interpreter. A check that makes a warp execute in single steps stores its
 *  result in chk->look. */
enum chk_look {
    CHK_LOOK_DONE,
    CHK_LOOK_STEPS, /* the warp already executes in single steps */
    CHK_LOOK_REPEATED /* The warp executes in single steps from this instruction on. The hook is called for this instruction
                       * again. In that call, the checks after the one that set this value evaluate the instruction. */
};
/** Whether a check uses records of earlier instructions. If so, the check is disabled after a debugger has changed a value in
 *  the past. */
enum chk_past { CHK_PAST_UNUSED, CHK_PAST_NEEDED, CHK_PAST_NOTED /* needed, and the user is notified when the check is
                                                                  * disabled */ };
/**
 * A check that observes execution, with its functions for each event (struct emu_hooks, chk_hooks.c). A function that is
 * NULL is not called; `end` is never NULL. @state: the memory of the check, which has state_bytes, begins with a
 * `struct chk *`, and is otherwise zeroed at first.
 */
struct chk_observer {
    uint64_t kinds;   /* bits of enum chk_kind; the check is active if one of these kinds is enabled */
    unsigned classes; /* bits of enum chk_class; the check is also active if a kind of one of these classes is enabled */
    enum chk_past past;
    size_t state_bytes;
    bool (*begin)(void *state); /* returns false if memory is short; in this case `end` is not called */
    void (*end)(void *state);   /* frees what the state owns */
    /** Returns true if the check observes an instruction: memory instructions by on_access, others by
     *  on_insn. NULL: the check observes all instructions. */
    bool (*wants)(void *state, const struct emu_program *program, uint32_t index, const struct isa_insn *insn);
    /* Called for each instruction that some check observes. In on_access each check may set access->filter. The hook's
     * filter is then the intersection of these filters, so that an access skips the hook only if no check needs it. */
    void (*on_insn)(void *state, const struct emu_hook_site *site);
    void (*on_access)(void *state, const struct emu_hook_access *access);
    void (*on_alone)(void *state); /* called when this check becomes the only one that observes accesses */
    void (*on_step)(void *state, const struct emu_hook_site *site);
    bool (*on_stepped)(void *state, const struct emu_hook_site *site, bool retired);
    void (*on_block)(void *state, struct emu_core *core, unsigned slot, bool begins);
    void (*on_cta)(void *state, struct emu_core *core, unsigned slot, unsigned id, const uint64_t *lanes);
    void (*on_warpsync)(void *state, struct emu_core *core, unsigned slot, unsigned warp, uint64_t lanes);
    void (*on_pc_edited)(void *state);
    void (*on_replay_end)(void *state, bool same);
    void (*on_machine_event)(void *state, const struct emu_machine_event *event);
    void (*mark_uninitialised)(void *state, uint64_t address, uint64_t bytes); /* implements chk_mark_uninitialised */
};
static inline struct chk *chk_of_state(void *state)
{
    return *(struct chk **)state;
}
enum { CHK_OBSERVER_COUNT = 10 };
struct chk_active {
    const struct chk_observer *is;
    void *state; /* owned */
};
/** The checks: uninitialised values (chk_init.c), arithmetic (chk_arith.c), accesses outside their variable
 *  (chk_bounds.c), execution counts (chk_count.c), barriers and cross-lane operations (chk_barrier.c), races
 *  (chk_race_order.c), writes to memory that loads declare as constant (chk_readonly_load.c), loads of stale
 *  cache contents (chk_stale.c), objects of malloc (chk_leak.c), accesses that the host forbids (chk_buffer_use.c). */
extern const struct chk_observer chk_init_observer, chk_arith_observer, chk_bounds_observer, chk_count_observer,
    chk_barrier_observer, chk_race_observer, chk_const_observer, chk_stale_observer, chk_leak_observer,
    chk_buffer_use_observer;

struct chk {
    struct emu_machine *machine;
    struct emu_fault_filter filter;
    struct emu_machine_listener listener;
    struct emu_hooks hooks;
    const struct emu_hook_site *at; /* the instruction about to be executed, while checks evaluate it; otherwise NULL */
    struct chk_active active[CHK_OBSERVER_COUNT]; /* the enabled checks that observe execution */
    unsigned active_count;
    /* at_insn: the active checks with function on_insn. at_access: those with function on_access. In the last entry of each
     * array, `is` is NULL. */
    struct chk_active at_insn[CHK_OBSERVER_COUNT + 1], at_access[CHK_OBSERVER_COUNT + 1];
    enum chk_look look; /* result of the current call of a hook */
    struct chk_options options;
    struct chk_files *files;
    bool exited_anywhere;  /* CHK_EXITED_ANYWHERE, which options.kinds does not contain */
    uint64_t stops; /* kinds whose findings are passed to options.found */
    bool finished;
    bool broken_off;        /* the run has stopped before its end */
    const char *ended;      /* NULL: the run reached its end; otherwise one line about the fault, hang, limit or signal */
    const char *ended_kind; /* what ended the run: the name of a kind or fault, "limit" or "signal"; NULL: a finding
                             * describes the end, or the run reached its end */
    struct chk_location ended_at; /* location of the lanes at which the run ended; line 0: not known */
    const char *signal;     /* signal that ended the run, or NULL if there is none */
    int signal_number;
    struct lw_arena strings;
    struct chk_check *checks; /* comparisons by the host, one entry for each line */
    size_t check_count, check_capacity;
    struct chk_finding *findings;
    size_t count, room;
    struct chk_site *sites; /* sites of findings, including dropped findings */
    size_t site_count, site_capacity;
    unsigned suppressed, beyond; /* suppressed: number of suppressed findings; beyond: number of dropped occurrences, by lane */
    uint64_t beyond_kinds; /* set of kinds with dropped occurrences */
    bool short_of_memory;
};

/** Returns true if the kernel of a grid is written in OpenCL C, according to its line table. */
bool chk_is_opencl(const struct chk *chk, uint32_t sequence);
/** Fills @out for an event at @pc in @lanes of a warp. If the machine no longer has grid @sequence, the name of the kernel
 *  and the coordinates of the block remain empty. */
void chk_location_at(const struct chk *chk, uint32_t sequence, uint64_t block, unsigned warp,
                  uint64_t lanes, uint64_t pc, struct chk_location *out);
/** Fills @out for the instruction at @site, for which a hook was called, in @lanes. */
void chk_location_of(const struct chk *chk, const struct emu_hook_site *site, uint64_t lanes, struct chk_location *out);
static inline uint64_t chk_site_pc(const struct emu_hook_site *site)
{
    return emu_program_base(site->program) + (uint64_t)site->index * ISA_WORD_BYTES;
}
enum { CHK_MOST_FRAMES = 16 };
/** Gets the addresses of the calls that led a lane to @location, innermost first, from the stack frames of the ABI. Returns
 *  the number of known calls, or 0 if the lane is no longer at @location. */
unsigned chk_frames(const struct chk *chk, const struct chk_location *location, uint64_t *calls, unsigned most);
/** Returns the first call of chk_frames() that is not in a header of a compiler or the system, or 0 if it is not known. */
uint64_t chk_caller(const struct chk *chk, const struct chk_location *location);
/** Returns true if a hook was called because the lane is about to execute the instruction at @pc. In this case, the stored pc
 *  of the lane's split may be older, because the interpreter executes many instructions in one batch. */
bool chk_lane_is_at(const struct chk *chk, const struct emu_core *core, unsigned slot, unsigned warp, unsigned lane, uint64_t pc);
enum { CHK_MOST_SCOPES = 64 }; /* maximum number of nested scopes; further inner scopes are omitted */
enum { CHK_MOST_CALLS = 16 }; /* maximum number of inlined calls; further outer calls are omitted */
/** Gets the inlined calls that contain a location, innermost first, into @out[CHK_MOST_CALLS]. Returns their
 *  number. */
unsigned chk_inline_collect(const struct chk *chk, const struct chk_location *location,
                            struct chk_call *out);
/** Returns a hash of the chain of inlined calls that contain instruction @insn. */
uint64_t chk_inline_key(const struct isa_object *object, uint32_t insn);
/** Fills in the inlined calls of a location, unless this has been done. Returns false if memory is short. */
bool chk_inline_calls(struct chk *chk, struct chk_location *location);
enum { CHK_DROPPED = -1, CHK_LOST = -2 };
/** Records @finding, or adds its count to an earlier finding at its site. First checks the accesses in the log of the race
 *  checker. Copies the message. Returns the index of the finding, CHK_DROPPED if there are too many findings, or CHK_LOST if
 *  memory is short. */
int chk_add(struct chk *chk, struct chk_finding *finding);
/** Records a finding as chk_add() does, with the message in @text, which is freed. */
int chk_add_text(struct chk *chk, struct chk_finding *finding, struct lw_buffer *text);
/** Returns a finding of kind @kind with count @count, in which all names are empty. */
struct chk_finding chk_finding_of(enum chk_kind kind, uint64_t count);
/** Returns the name of the nearest allocation at or below @address, or "" if there is none. */
const char *chk_allocation_name(const struct chk *chk, uint64_t address);
/** Checks the accesses in the log of the race checker. */
void chk_race_flush(const struct chk *chk);
/** Names of accesses in messages, by enum emu_access_kind. A reduction is called an atomic, as in the source. */
extern const char *const chk_access_names[];

/* ---- barriers (chk_barrier.c) ---- */
/** Reports threads of a hanging block that wait at a barrier for threads that took another path at a branch. Returns
 *  true if there are such threads. */
bool chk_barrier_hang(const struct chk *chk, const struct emu_hang *hang);

/* ---- files of the source (chk_paths.c) ---- */
struct chk_files;
struct chk_files *chk_files_create(void);
void chk_files_destroy(struct chk_files *files);
/** Returns @file without "." and "..". The text is valid as long as the checker. If memory is short, returns @file. */
const char *chk_file_plain(const struct chk *chk, const char *file);
/** Returns @file as reports show it: relative to options.base, if it is in that folder. Otherwise, or if memory is
 *  short, returns the result of chk_file_plain(). */
const char *chk_report_file(const struct chk *chk, const char *file);
/** Returns true if @name, a result of chk_report_file, is relative to options.base. */
bool chk_report_is_below(const struct chk *chk, const char *name);
/** Prints a message in which files have the names that chk_report_file() returns. */
void chk_report_text(const struct chk *chk, const char *text, struct lw_sink *out);

/* ---- hooks (chk_hooks.c) ---- */
/** Installs the hooks, if a kind is enabled whose check observes instructions. */
enum lw_status chk_hooks_begin(struct chk *chk, struct lw_error *err) LW_MUST_CHECK;
void chk_hooks_end(struct chk *chk);
void chk_hooks_machine_event(struct chk *chk, const struct emu_machine_event *event);
/** Returns the state of a check; NULL: it is not active. */
void *chk_state(const struct chk *chk, const struct chk_observer *is);
/** Returns true if only the check with this @state observes accesses of this instruction. */
bool chk_looks_alone(const struct chk *chk, const void *state, const struct emu_program *program, uint32_t index);

/* ---- variables of the source (chk_values.c, chk_variable_names.c) ---- */
/** Sets the values of variables of a finding that is recorded for the first time, if its first lane is still at its
 *  instruction. */
void chk_values_collect(struct chk *chk, struct chk_finding *finding);
/** Returns the debug entry of a variable of the object, or ISA_NO_DIE. If several variables have this address, the
 *  kernel's variable is chosen, or else a variable of the same name. */
int64_t chk_variable_die(const struct isa_object *object, const struct isa_variable *v,
                         const struct isa_function *kernel);
/** Returns the source variable of the kernel that contains @offset of local memory while instruction @index executes,
 *  and sets *@inside to the offset in the variable. Returns ISA_NO_DIE if there is no such variable. */
int64_t chk_local_die(const struct isa_object *object, const struct isa_function *kernel,
                      uint32_t index, uint32_t offset, uint64_t *inside);
/** If a source variable of the kernel ends before @offset of local memory, prints the last such variable: ", and the access is 0
 *  bytes past the end of 'list' (32 bytes, declared in line 3)". @index: instruction of the access. */
void chk_put_local_before(const struct isa_object *object, const struct isa_function *kernel, uint32_t index, uint64_t offset,
                          struct lw_sink *out);
/** Prints the name, size and line of a variable's debug entry: "'list' (32 bytes, declared in line 3)". */
void chk_put_sized(const struct isa_debug *d, int64_t die, uint64_t bytes, struct lw_sink *out);
/** Returns the source variable that is in register @number while instruction @index reads the register, or ISA_NO_DIE.
 *  @scalar: a scalar register; otherwise a vector register. */
int64_t chk_register_die(const struct isa_object *object, uint32_t index, bool scalar, uint32_t number);
/** Prints the allocation or variable that contains @address: ", byte 84 of 'o'" for global memory, ", in 's[5]', declared
 *  in line 3" for shared memory of a block of @kernel. Prints nothing if there is no name. Sets *@name to the name, or
 *  "". */
void chk_put_where(const struct emu_machine *machine, const struct isa_object *object, const struct isa_function *kernel,
                   uint64_t address, struct lw_sink *out, const char **name);
/** Value for parameter @offset of chk_put_element(), with which the function prints the variable without an element. */
#define CHK_SOMEWHERE UINT32_MAX
/** Prints the element at @offset in variable @die: "s[5]', byte 2, declared in line 3". The caller prints the opening
 *  quote. */
void chk_put_element(const struct isa_debug *d, int64_t die, uint64_t offset, struct lw_sink *out);

/* ---- accesses outside of their variable (chk_bounds.c) ---- */
/** The leader of an instruction: the instruction whose check is sufficient for it (chk_bounds_dominated.c). */
struct chk_bounds_lead {
    uint32_t lead, last;  /* lead: index of the leader, or of the instruction itself if it needs its own check. last: index of
                           * the last instruction whose leader is this instruction */
    int32_t below, above; /* bytes by which the accesses of the instructions with this leader extend beyond the leader's
                           * access: below it (a negative number), and above it */
};
/** Returns an array with an element for each instruction, which the caller frees, or NULL if memory is short. */
struct chk_bounds_lead *chk_bounds_leads(const struct emu_program *program);

/** Adds the performance findings that follow from the counts (chk_performance.c). */
void chk_lint(struct chk *chk);
/* ---- arithmetic (chk_arith.c) ---- */
/** Returns the outcome of the v_setp comparison @insn, which must not have source modifiers, for the values @a and @b. */
bool chk_compare(const struct isa_insn *insn, uint64_t a, uint64_t b);

/* ---- objects of malloc (chk_leak.c) ---- */
/** Adds a finding for each malloc in a kernel whose objects are live at the end of the run. */
void chk_leaks_add(struct chk *chk);

/** Returns the location that reports show first, with the file named as in reports. The result is the location's own line or,
 *  if that is in a header of a compiler or the system, the innermost call that is in another file. */
struct chk_call chk_report_location(const struct chk *chk, const struct chk_location *location);
/** Writes the findings as a list of suppressions for chk_suppressions_load(). Implements chk_format.write. */
void chk_write_baseline(const struct chk *chk, const char *run, const char *version, struct lw_sink *out);
bool chk_suppressed(const struct chk *chk, const struct chk_finding *finding);
/** Returns the address that a lane accesses. */
static inline uint64_t chk_hook_address(const struct emu_hook_access *a, unsigned lane)
{
    const struct emu_addr_segment *p = &a->piece[a->piece_count == 2 && lane >= a->piece[1].first];

    if (a->piece_count == 0)
        return a->address[lane];
    return p->address + (p->run ? (uint64_t)(lane - p->first) * a->bytes : 0);
}
/** Returns the result of a floating-point comparison by its code (ISA_CMP_*). */
bool chk_ordered(unsigned how, double a, double b);

#endif
