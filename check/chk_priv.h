/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of check/ share. */
#ifndef CHK_PRIV_H
#define CHK_PRIV_H

#include "check/check.h"

enum chk_from { CHK_FROM_FAULT, CHK_FROM_HANG, CHK_FROM_END, CHK_FROM_WATCH };
enum chk_optimised { CHK_OPTIMISED_SAME, CHK_OPTIMISED_ELIMINATED, CHK_OPTIMISED_SPECULATED };
/** Columns of kinds.def that only check/ reads. */
struct chk_origin {
    uint8_t from, value, optimised;
};
extern const struct chk_origin chk_origins[CHK_KIND_COUNT];
/** The kind of a fault or hang; -1: none has it. */
int chk_kind_of(enum chk_from from, unsigned value);
/** The name before this one, which --check lists, suppressions and `explain` accept; NULL: none. */
extern const char *const chk_former_names[CHK_KIND_COUNT];
/** "nan-made is called nan-generated now; ...": one line. */
void chk_put_former(const char *former, const char *now, struct lw_sink *out);
/** By name or former name; -1: none. */
int chk_kind_named(const char *name);
uint64_t chk_class_kinds(enum chk_class group);
/** As chk_select; @by_name: those that the list names themselves, not their class. */
enum lw_status chk_select_named(const char *list, uint64_t *kinds, uint64_t *by_name,
                                struct lw_error *err) LW_MUST_CHECK;

/** Instruction @index of a program; NULL: it has fewer. */
static inline const struct isa_insn *chk_insn_at(const struct emu_program *program, uint32_t index)
{
    return emu_program_insn(program, emu_program_base(program) + (uint64_t)index * ISA_WORD_BYTES);
}

/** What the host compared, all times. */
struct chk_check {
    const char *file;
    uint32_t line;
    bool came; /* the run has reached it */
    const char *failed; /* the first time that it did; NULL: never */
};
/** Where something was found: instructions of one kind in one line, in the same calls, that meet one allocation, are
 *  one finding. */
struct chk_site {
    enum chk_kind kind;
    uint64_t pc, other, caller; /* as in struct chk_finding */
    uint64_t line[2];           /* of both sides, with the calls that hold them: equal where those are; 0: no line */
    int finding;                /* its index, or CHK_DROPPED */
};
/** What a record of a slot, whose blocks come one after the other, begins with. */
struct chk_slot {
    const struct emu_core *core;
    unsigned slot;
};
/** Records of slots that had blocks; owned. */
struct chk_slots {
    struct chk_slot **at;
    size_t count, room;
    struct chk_slot *last; /* that was requested */
};
/** The record of a slot. If there is none: one of @bytes, zeros; with 0 bytes, and without memory, NULL. */
void *chk_slot_find(struct chk_slots *slots, const struct emu_core *core, unsigned slot, size_t bytes);
static inline void *chk_slot_at(struct chk_slots *slots, const struct emu_core *core, unsigned slot, size_t bytes)
{
    struct chk_slot *s = slots->last;

    return s != NULL && s->core == core && s->slot == slot ? s : chk_slot_find(slots, core, slot, bytes);
}

/** What the hook's caller is to do. A check that single-steps a warp sets it in chk->look. */
enum chk_look {
    CHK_LOOK_DONE,
    CHK_LOOK_STEPS, /* the warp is single-stepped already */
    CHK_LOOK_REPEATED /* it is from this instruction on: the hook is called again, and the checks after this one look then */
};
/** What a check's records are worth after a debugger has changed the past. */
enum chk_past { CHK_PAST_UNUSED, CHK_PAST_NEEDED, CHK_PAST_NOTED /* needed, and the user is notified */ };
/**
 * A check that observes execution: what it does at each event (struct emu_hooks, chk_hooks.c). A function that is NULL
 * does nothing; `end` is there in all. @state: @state_bytes of its own, zeroed, that begin with `struct chk *`.
 */
struct chk_observer {
    uint64_t kinds;   /* bits of enum chk_kind: it is active if one of them is enabled, */
    unsigned classes; /* or one of these classes: bits of enum chk_class */
    enum chk_past past;
    size_t state_bytes;
    bool (*begin)(void *state); /* false: no memory, and there is nothing to end */
    void (*end)(void *state);   /* what the state owns */
    /** Is an instruction looked at: of memory by on_access, else by on_insn? NULL: all are. */
    bool (*wants)(void *state, const struct emu_program *program, uint32_t index, const struct isa_insn *insn);
    /* of any instruction that some check wants; the filter of an access is the intersection of all */
    void (*on_insn)(void *state, const struct emu_hook_site *site);
    void (*on_access)(void *state, const struct emu_hook_access *access);
    void (*on_alone)(void *state); /* no other check looks at accesses from now on */
    void (*on_step)(void *state, const struct emu_hook_site *site);
    bool (*on_stepped)(void *state, const struct emu_hook_site *site, bool retired);
    void (*on_block)(void *state, struct emu_core *core, unsigned slot, bool begins);
    void (*on_cta)(void *state, struct emu_core *core, unsigned slot, unsigned id, const uint64_t *lanes);
    void (*on_warpsync)(void *state, struct emu_core *core, unsigned slot, unsigned warp, uint64_t lanes);
    void (*on_pc_edited)(void *state);
    void (*on_replay_end)(void *state, bool same);
    void (*on_machine_event)(void *state, const struct emu_machine_event *event);
    void (*mark_uninitialised)(void *state, uint64_t address, uint64_t bytes); /* as chk_mark_uninitialised */
};
static inline struct chk *chk_of_state(void *state)
{
    return *(struct chk **)state;
}
enum { CHK_OBSERVER_COUNT = 9 };
struct chk_active {
    const struct chk_observer *is;
    void *state; /* owned */
};
/** Values that were never written (chk_init.c), arithmetic (chk_arith.c), accesses beyond the variable that they are of
 *  (chk_bounds.c), execution counts (chk_count.c), barriers and cross-lane operations (chk_barrier.c), races
 *  (chk_race_order.c), writes of what loads declare as constant (chk_readonly_load.c), loads that give what a cache held
 *  (chk_stale.c), objects of malloc (chk_leak.c). */
extern const struct chk_observer chk_init_observer, chk_arith_observer, chk_bounds_observer, chk_count_observer,
    chk_barrier_observer, chk_race_observer, chk_const_observer, chk_stale_observer, chk_leak_observer;

struct chk {
    struct emu_machine *machine;
    struct chk_slots slots; /* that blocks have been seen in */
    struct emu_fault_filter filter;
    struct emu_machine_listener listener;
    struct emu_hooks hooks;
    const struct emu_hook_site *at; /* what is about to be executed, while it is looked at; else NULL */
    struct chk_active active[CHK_OBSERVER_COUNT]; /* the checks that observe execution */
    unsigned active_count;
    /* those of them that have these functions; after the last one `is` is NULL */
    struct chk_active at_insn[CHK_OBSERVER_COUNT + 1], at_access[CHK_OBSERVER_COUNT + 1];
    enum chk_look look; /* the answer of those that have looked at this instruction */
    struct chk_options options;
    struct chk_files *files;
    bool exited_anywhere;  /* CHK_EXITED_ANYWHERE, which options.kinds is without */
    uint64_t stops; /* kinds that are reported to options.found */
    bool finished;
    bool broken_off;        /* the run stopped before its end */
    const char *ended;      /* NULL: the run reached its end; else the fault, hang, limit or signal, in a line */
    const char *ended_kind; /* its name; NULL: a finding describes it */
    struct chk_location ended_at; /* where its first lanes were; line 0: not known */
    const char *signal;     /* that ended it; NULL: none did */
    int signal_number;
    struct lw_arena strings;
    const char *host_file; /* where the host is; "" not known */
    uint32_t host_line;
    struct chk_check *checks; /* of the host, by line, as they came */
    size_t check_count, check_capacity;
    struct chk_finding *findings;
    size_t count, room;
    struct chk_site *sites; /* instructions with findings, and the findings */
    size_t site_count, site_capacity;
    unsigned suppressed, beyond;
    uint64_t beyond_kinds; /* of which something is beyond */
    bool short_of_memory;
};

/** Is the kernel of a grid in OpenCL C, as its line table says? */
bool chk_is_opencl(const struct chk *chk, uint32_t sequence);
/** The grid @sequence, which may have left the machine: @out is filled as far as is known. */
void chk_location_at(const struct chk *chk, uint32_t sequence, uint64_t block, unsigned warp,
                  uint64_t lanes, uint64_t pc, struct chk_location *out);
/** The same of the instruction of a hook. */
void chk_location_of(const struct chk *chk, const struct emu_hook_site *site, uint64_t lanes, struct chk_location *out);
static inline uint64_t chk_site_pc(const struct emu_hook_site *site)
{
    return emu_program_base(site->program) + (uint64_t)site->index * ISA_WORD_BYTES;
}
/** Calls that led a lane to where it is, innermost first, by the ABI: how many are known. 0 too where it has continued
 *  since. */
enum { CHK_MOST_FRAMES = 16 };
unsigned chk_frames(const struct chk *chk, const struct chk_location *location, uint64_t *calls, unsigned most);
/** The first of them that is in no header of a compiler; 0: not known. */
uint64_t chk_caller(const struct chk *chk, const struct chk_location *location);
/** A block has got slot @slot. */
void chk_stack_block(struct chk *chk, const struct emu_core *core, unsigned slot);
enum { CHK_MOST_CALLS = 16 }; /* deeper ones are left out, the outermost first */
/** A compiler's or a system's own header: no repository has it. */
bool chk_is_foreign(const char *file);
/** The calls that hold a place, innermost first, into @out[CHK_MOST_CALLS]; how many. */
unsigned chk_inline_collect(const struct chk *chk, const struct chk_location *location,
                            struct chk_call *out);
/** The same for instructions of one line that are in the same inlined calls. */
uint64_t chk_inline_key(const struct isa_object *object, uint32_t insn);
/** Fill calls of a place, once. False: no memory. */
bool chk_inline_calls(struct chk *chk, struct chk_location *location);
enum { CHK_DROPPED = -1, CHK_LOST = -2 };
/** Record @finding, or count it at its site; logged accesses are checked first. The message is
 *  borrowed. Returns its index, CHK_DROPPED where there are too many, CHK_LOST without memory. */
int chk_add(struct chk *chk, struct chk_finding *finding);
/** The same with the message in @text, which it ends. */
int chk_add_text(struct chk *chk, struct chk_finding *finding, struct lw_buffer *text);
/** A finding of @count times so far, of which nothing else is known: its names are "". */
struct chk_finding chk_finding_of(enum chk_kind kind, uint64_t count);
/** Of the nearest allocation at or below @address; "": there is none. */
const char *chk_allocation_name(const struct chk *chk, uint64_t address);
/** Evaluates the memory accesses in the log of the race checker. */
void chk_race_flush(const struct chk *chk);
/** How a sentence calls an access, by enum emu_access_kind: a reduction is an atomic of the source. */
extern const char *const chk_access_names[];

/* ---- barriers (chk_barrier.c) ---- */
/** A block hangs: threads that wait at a barrier, for others that a branch has sent another way, are reported. True:
 *  some are. */
bool chk_barrier_hang(const struct chk *chk, const struct emu_hang *hang);

/* ---- files of the source (chk_paths.c) ---- */
struct chk_files;
struct chk_files *chk_files_create(void);
void chk_files_destroy(struct chk_files *files);
/** @file without "." and "..", as long as the checker; or @file. */
const char *chk_file_plain(const struct chk *chk, const char *file);
/** The same as reports have it: from options.base, if it is below that. */
const char *chk_report_file(const struct chk *chk, const char *file);
/** Is @name, which is chk_report_file's, from options.base? */
bool chk_report_is_below(const struct chk *chk, const char *name);
/** A sentence, in which files are named so, too. */
void chk_report_text(const struct chk *chk, const char *text, struct lw_sink *out);

/* ---- hooks (chk_hooks.c) ---- */
/** Install hooks for the kinds that observe instructions, if any is enabled. */
enum lw_status chk_hooks_begin(struct chk *chk, struct lw_error *err) LW_MUST_CHECK;
void chk_hooks_end(struct chk *chk);
void chk_hooks_machine_event(struct chk *chk, const struct emu_machine_event *event);
/** The state of a check; NULL: it is not active. */
void *chk_state(const struct chk *chk, const struct chk_observer *is);
/** Does no check but the one with this @state look at accesses of this instruction? */
bool chk_looks_alone(const struct chk *chk, const void *state, const struct emu_program *program, uint32_t index);

/* ---- variables of the source (chk_variable_names.c) ---- */
/** The shared variable of a kernel at @offset, where kernels of the object have different ones; NULL: not
 *  known. */
const struct isa_variable *chk_shared_variable(const struct isa_object *object,
                                               const struct isa_function *kernel, uint32_t offset);
/** Of a compiler's own name, kernel_$_s, the source's part. */
const char *chk_own_name(const char *name);
/** The entry of a variable of the object in the source, or ISA_NO_DIE. Of several at one place that of the
 *  kernel, or else of the same name. */
int64_t chk_variable_die(const struct isa_object *object, const struct isa_variable *v,
                         const struct isa_function *kernel);
/** The kernel's variable of the source that holds @offset of local memory while instruction @index runs,
 *  and where in it; or ISA_NO_DIE. */
int64_t chk_local_die(const struct isa_object *object, const struct isa_function *kernel,
                      uint32_t index, uint32_t offset, uint64_t *inside);
/** The variable of the source that lives in register v or s (@scalar) @number while instruction @index reads
 *  that, or ISA_NO_DIE. */
int64_t chk_register_die(const struct isa_object *object, uint32_t index, bool scalar, uint32_t number);
/** Where an address is: ", byte 84 of 'o'" of global memory, ", in 's[5]', declared in line 3" of shared memory of a block of
 *  @kernel; nothing where it has no name. *@name gets that of the allocation or variable, or "". */
void chk_put_where(const struct emu_machine *machine, const struct isa_object *object, const struct isa_function *kernel,
                   uint64_t address, struct lw_sink *out, const char **name);
/** For an offset in a variable: which is of no interest. */
#define CHK_SOMEWHERE UINT32_MAX
/** "s[5]', byte 2, declared in line 3": the variable @die at @offset in it. */
void chk_put_element(const struct isa_debug *d, int64_t die, uint64_t offset, struct lw_sink *out);

/* ---- accesses beyond the variable that they are of (chk_bounds.c) ---- */
/** Of an instruction: whose look is enough for it (chk_bounds_dominated.c); itself: its own. */
struct chk_bounds_lead {
    uint32_t lead, last;  /* last: of those that it leads */
    int32_t below, above; /* of its own bytes: what they reach beyond them */
};
/** [instruction], on the heap; NULL: no memory. */
struct chk_bounds_lead *chk_bounds_leads(const struct emu_program *program);

/** Findings about speed (chk_performance.c), from what was counted. */
void chk_lint(struct chk *chk);
/* ---- arithmetic (chk_arith.c) ---- */
/** The outcome of a v_setp row's comparison of two values, without modifiers of its sources. */
bool chk_compare(const struct isa_insn *insn, uint64_t a, uint64_t b);

/* ---- objects of malloc (chk_leak.c) ---- */
/** Findings of what lives at the end of the run, one for each malloc. */
void chk_leaks_add(struct chk *chk);

/** The place that reports show first, its file as they name it: its own line or, of a foreign header, the
 *  innermost call's in another file. */
struct chk_call chk_report_location(const struct chk *chk, const struct chk_location *location);
/** A list that chk_suppressions_load reads (struct chk_format). */
void chk_write_baseline(const struct chk *chk, const char *run, const char *version, struct lw_sink *out);
bool chk_suppressed(const struct chk *chk, const struct chk_finding *finding);
/** The address of a lane. */
static inline uint64_t chk_hook_address(const struct emu_hook_access *a, unsigned lane)
{
    const struct emu_addr_segment *p = &a->piece[a->piece_count == 2 && lane >= a->piece[1].first];

    if (a->piece_count == 0)
        return a->address[lane];
    return p->address + (p->run ? (uint64_t)(lane - p->first) * a->bytes : 0);
}
/** A floating-point comparison by its code (ISA_CMP_*). */
bool chk_ordered(unsigned how, double a, double b);

#endif
