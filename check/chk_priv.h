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
/** A core that blocks have been seen on, in slots below @slots. */
struct chk_core {
    const struct emu_core *core;
    unsigned slots;
};

struct chk {
    struct emu_machine *machine;
    struct chk_core *cores;
    size_t core_count, core_capacity;
    struct emu_fault_filter filter;
    struct emu_machine_listener listener;
    struct emu_hooks hooks;
    const struct emu_hook_site *at; /* what is about to be executed, while it is looked at; else NULL */
    struct chk_race *race; /* NULL: races are not checked */
    struct chk_barrier *barrier; /* NULL: not looked at */
    struct chk_counters *counters; /* NULL: nothing is counted */
    struct chk_leaks *leaks; /* NULL: the owners of objects of malloc are not recorded */
    struct chk_const *constant; /* NULL: writes of what is read as constant are not checked */
    struct chk_stale *stale; /* NULL: loads that give what a cache held are not reported */
    struct chk_bounds *bounds; /* NULL: the variable of an access is not checked */
    bool arithmetic;       /* some kind of it is enabled */
    struct init_set *live; /* chk_live() of the program that arithmetic used last; owned */
    const struct emu_program *live_of;
    struct chk_fp_taint *late; /* NULL: no library has made anything worth following yet */
    struct chk_init *init; /* NULL: uninitialised values are not checked */
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
/** Evaluates the memory accesses in the log; @race may be NULL. */
void chk_race_flush(struct chk_race *race);
/** How a sentence calls an access, by enum emu_access_kind: a reduction is an atomic of the source. */
extern const char *const chk_access_names[];

/* ---- barriers (chk_barrier.c) ---- */
/** A block hangs: threads that wait at a barrier, for others that a branch has sent another way, are reported. True:
 *  some are. */
bool chk_barrier_hang(struct chk_barrier *barrier, const struct emu_hang *hang);

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
/* An access goes to init, bounds, count, race, const, in this order; the filter that emu gets is the
 * intersection of theirs. If init begins single steps, the rest see the access at the second call. */
/** Install hooks for the kinds that observe instructions, if any is enabled. */
enum lw_status chk_hooks_begin(struct chk *chk, struct lw_error *err) LW_MUST_CHECK;
void chk_hooks_end(struct chk *chk);
void chk_hooks_machine_event(struct chk *chk, const struct emu_machine_event *event);
bool chk_hooks_out_of_memory(const struct chk *chk);

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
struct chk_bounds *chk_bounds_create(struct chk *chk);
void chk_bounds_destroy(struct chk_bounds *bounds);
bool chk_bounds_wants(const struct emu_program *program, uint32_t index);
/** A debugger has moved a lane. */
void chk_bounds_pc_edited(struct chk_bounds *bounds);
/** Narrows access->filter to what the instruction may access without a call of the hook. @alone: no other check observes
 *  accesses, so that the hook may be skipped for whole instructions. */
void chk_bounds_access(struct chk_bounds *bounds, const struct emu_hook_access *access, bool alone);
void chk_bounds_block(struct chk_bounds *bounds, const struct emu_core *core, unsigned slot, bool begins);
bool chk_bounds_short_of_memory(const struct chk_bounds *bounds);

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
bool chk_arith_wants(const struct chk *chk, const struct isa_insn *insn);
/** True: the warp is single-stepped from this instruction on, and the hook is called again. */
bool chk_arith_insn(struct chk *chk, const struct emu_hook_site *site);
/** The outcome of a v_setp row's comparison of two values, without modifiers of its sources. */
bool chk_compare(const struct isa_insn *insn, uint64_t a, uint64_t b);

/* ---- objects of malloc (chk_leak.c) ---- */
struct chk_leaks *chk_leaks_create(struct chk *chk);
void chk_leaks_destroy(struct chk_leaks *leaks);
/** A malloc is about to be executed; then its objects are made. */
void chk_leaks_insn(struct chk_leaks *leaks, const struct emu_hook_site *site);
void chk_leaks_alloc(struct chk_leaks *leaks, const struct emu_machine_event *event);
bool chk_leaks_short_of_memory(const struct chk_leaks *leaks);
/** Findings of what lives at the end of the run, one for each malloc; chk->leaks may be NULL. */
void chk_leaks_add(struct chk *chk);

/* ---- writes of what loads declare as constant (chk_readonly_load.c) ---- */
struct chk_const *chk_const_create(struct chk *chk);
void chk_const_destroy(struct chk_const *constant);
bool chk_const_wants(const struct isa_insn *insn);
void chk_const_access(struct chk_const *constant, const struct emu_hook_access *access);
bool chk_const_short_of_memory(const struct chk_const *constant);

/* ---- loads that give what a cache held (chk_stale.c) ---- */
struct chk_stale *chk_stale_create(struct chk *chk);
void chk_stale_destroy(struct chk_stale *stale);
bool chk_stale_wants(const struct isa_insn *insn);
void chk_stale_access(struct chk_stale *stale, const struct emu_hook_access *access);
/** A load was: EMU_MACHINE_STALE. */
void chk_stale_found(struct chk_stale *stale, const struct emu_machine_event *event);
bool chk_stale_short_of_memory(const struct chk_stale *stale);

/* ---- values that were never written (chk_init.c) ---- */
struct chk_init *chk_init_create(struct chk *chk);
void chk_init_destroy(struct chk_init *init);
bool chk_init_wants(const struct isa_insn *insn);
void chk_init_insn(struct chk_init *init, const struct emu_hook_site *site);
/** Does the warp go in single steps already? */
bool chk_init_follows(struct chk_init *init, const struct emu_hook_site *site);
/** Of a load or store. True: the warp is single-stepped from this access on, or was already: it holds undefined bits. */
bool chk_init_access(struct chk_init *init, const struct emu_hook_access *access);
void chk_init_step(struct chk_init *init, const struct emu_hook_site *site);
bool chk_init_stepped(struct chk_init *init, const struct emu_hook_site *site, bool retired);
void chk_init_block(struct chk_init *init, struct emu_core *core, unsigned slot, bool begins);
/** Warps that went in single steps are to do so again. */
void chk_init_replay_end(struct chk_init *init);
void chk_init_mark_uninitialised(struct chk_init *init, uint64_t address, uint64_t bytes);
void chk_init_machine_event(struct chk_init *init, const struct emu_machine_event *event);
bool chk_init_short_of_memory(const struct chk_init *init);

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
