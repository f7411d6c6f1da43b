/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Race checker: redundant-access filter for shared memory, by barrier interval (GPUVerify).
 *
 * Loads in a barrier interval in which no thread can write shared memory call no hook. Without the filter, `gemm_tiled`
 * executes 8.3 times as many instructions (docs/explanation/race-detection.md).
 *
 * A barrier interval begins when all threads of a block start, or have arrived at one instruction. Until all of these threads
 * arrive at a barrier again, they execute only code that can be reached from the start of the interval without a barrier of
 * the whole block. If no reachable store or atomic can access shared memory, loads of shared memory cannot race: the first
 * barrier orders earlier writes, and the next barrier orders later ones. If no other check observes accesses, these loads
 * have no hook.
 */
#include "check/race/chk_race_priv.h"

#include <stdlib.h>

enum write_free { NOT_WRITE_FREE, WRITE_FREE, WRITE_FREE_NO_HOOK /* write-free, and the hook of the load is disabled */ };
/** Result of the analysis of a program: the loads that can be reached only in barrier intervals without a write. */
struct race_phases {
    const struct emu_program *program;
    uint32_t count, alone_count; /* numbers of instructions, and of loads whose hook is disabled */
    uint8_t write_free[]; /* [instruction] */
};

enum { DIRTY = 1, REACHED = 2, WRITES = 4, SYNCHRONISES = 8, RETURNED_TO = 16 };

struct flow {
    const struct isa_object *object;
    const struct emu_program *program;
    uint32_t count;
    bool falls; /* exec is written: after a branch, some lanes may continue with the next instruction */
    uint8_t *mark; /* [instruction]: DIRTY etc. */
};

static const struct isa_insn *insn_at(const struct flow *f, uint32_t index)
{
    return chk_insn_at(f->program, index);
}

static uint8_t what_does(const struct isa_insn *insn)
{
    enum isa_space space = ISA_SPACE_GLOBAL;

    switch (insn->op) {
    case ISA_BAR_SYNC:
    case ISA_BAR_RED_POPC:
    case ISA_BAR_RED_AND:
    case ISA_BAR_RED_OR:
        return isa_mod_get(insn, ISA_MOD_BMEM) == ISA_BMEM_ALL || isa_mod_get(insn, ISA_MOD_BMEM) == ISA_BMEM_SHARED ? SYNCHRONISES : 0;
    default: break;
    }
    if (!(isa_op_info((enum isa_op)insn->op)->flags & ISA_F_MEMORY))
        return 0;
    const enum isa_access access = isa_op_access((enum isa_op)insn->op, &space);
    return (access == ISA_ACCESS_STORE || access == ISA_ACCESS_ATOMIC || access == ISA_ACCESS_REDUCE) &&
                   (space == ISA_SPACE_SHARED || space == ISA_SPACE_GENERIC)
               ? WRITES
               : 0;
}

/** Returns true for a barrier that no thread passes before all threads have arrived: it has no count, and no lane skips
 *  it. */
static bool all_arrived(const struct flow *f, uint32_t index)
{
    const struct isa_insn *insn = insn_at(f, index);

    return (f->mark[index] & SYNCHRONISES) != 0 && !insn->variant && insn->guard == ISA_PT && !insn->guard_neg &&
           !f->falls;
}

/** Analyses the control flow. Returns false if control may reach any instruction, or if there is no memory. */
static bool flow_read(struct flow *f)
{
    for (uint32_t i = 0; i < f->count; i++) {
        const struct isa_insn *insn = insn_at(f, i);
        const unsigned flags = isa_op_info((enum isa_op)insn->op)->flags;
        struct isa_reg_use uses[ISA_MAX_USES];
        const unsigned n = isa_insn_uses(insn, uses);
        int64_t target;

        for (unsigned k = 0; k < n; k++)
            f->falls |= uses[k].written && uses[k].reg_class == ISA_REG_S &&
                        uses[k].first + uses[k].count > ISA_S_EXEC;
        f->mark[i] |= what_does(insn);
        if (flags & ISA_F_CALL) {
            if (!isa_insn_target(insn, i, &target))
                return false;
            f->mark[i + 1] |= RETURNED_TO;
        } else if (isa_op_is_indirect((enum isa_op)insn->op) && insn->op != ISA_RET) {
            return false;
        }
    }
    return true;
}

/** Adds a mark to instruction @to of the function. Returns true if the mark is new, so that another pass over the
 *  function is needed. */
static bool reach(struct flow *f, int64_t to, uint8_t mark)
{
    if (to < 0 || to >= f->count || (f->mark[to] & mark) != 0)
        return false;
    f->mark[to] |= mark;
    return true;
}

/** Gets the successors of @i in the same barrier interval. The successors of a return depend on the caller. */
static unsigned flow_next(const struct flow *f, uint32_t i, int64_t *next)
{
    const struct isa_insn *insn = insn_at(f, i);
    unsigned count = 0;

    if (all_arrived(f, i))
        return 0;
    if (!isa_insn_ends(insn) || f->falls)
        next[count++] = (int64_t)i + 1;
    if (isa_insn_jumps(insn, i, &next[count]))
        count++;
    if (isa_op_info((enum isa_op)insn->op)->flags & ISA_F_CALL && isa_insn_target(insn, i, &next[count]))
        count++;
    return count;
}

/** Marks with DIRTY the instructions from which a write can be reached. */
static void flow_back(struct flow *f)
{
    bool changed = true, returns = false; /* returns: a write can be reached after the return from some call */

    while (changed) {
        changed = false;
        for (uint32_t i = f->count; i-- > 0;) {
            int64_t next[3];
            const unsigned count = flow_next(f, i, next);
            bool dirty = (f->mark[i] & WRITES) != 0;

            for (unsigned k = 0; k < count; k++)
                dirty |= next[k] >= 0 && next[k] < f->count && (f->mark[next[k]] & DIRTY) != 0;
            dirty |= insn_at(f, i)->op == ISA_RET && returns;
            changed |= dirty && reach(f, i, DIRTY);
            returns |= (f->mark[i] & (DIRTY | RETURNED_TO)) == (DIRTY | RETURNED_TO);
        }
    }
}

/** Marks with REACHED the instructions of intervals with a write. */
static void flow_forth(struct flow *f)
{
    bool changed = true, returned = false;

    for (unsigned k = 0; k < f->object->function_count; k++) {
        const uint32_t first = f->object->functions[k].first;
        if (f->object->functions[k].kernel && first < f->count && f->mark[first] & DIRTY)
            f->mark[first] |= REACHED;
    }
    for (uint32_t i = 0; i + 1 < f->count; i++)
        if (f->mark[i] & SYNCHRONISES && f->mark[i + 1] & DIRTY)
            f->mark[i + 1] |= REACHED;
    while (changed) {
        changed = false;
        for (uint32_t i = 0; i < f->count; i++) {
            int64_t next[3];

            if (returned && f->mark[i] & RETURNED_TO)
                changed |= reach(f, i, REACHED);
            if (!(f->mark[i] & REACHED))
                continue;
            if (insn_at(f, i)->op == ISA_RET && !returned)
                returned = changed = true;
            const unsigned count = flow_next(f, i, next);
            for (unsigned k = 0; k < count; k++)
                changed |= reach(f, next[k], REACHED);
        }
    }
}

/** Analyses a program. Returns NULL if memory is short. */
static struct race_phases *phases_make(const struct emu_program *program)
{
    struct flow f = {.object = emu_program_object(program), .program = program};

    f.count = (uint32_t)f.object->text_count;
    f.mark = calloc((size_t)f.count + 1, sizeof *f.mark);
    struct race_phases *p = calloc(1, sizeof *p + f.count * sizeof p->write_free[0]);
    if (p != NULL && f.mark != NULL && flow_read(&f)) {
        flow_back(&f);
        flow_forth(&f);
        for (uint32_t i = 0; i < f.count; i++) {
            enum isa_space space = ISA_SPACE_GLOBAL;
            const struct isa_insn *insn = insn_at(&f, i);
            const enum isa_access access = isa_op_access((enum isa_op)insn->op, &space);

            if (!(f.mark[i] & REACHED) && access == ISA_ACCESS_LOAD &&
                (space == ISA_SPACE_SHARED || space == ISA_SPACE_GENERIC))
                p->write_free[i] = WRITE_FREE;
        }
    }
    if (p != NULL) {
        p->program = program;
        p->count = f.count;
    }
    free(f.mark);
    return p;
}

static struct race_phases *phases_of(struct chk_race *race, const struct emu_program *program)
{
    struct race_phases *p;

    if (race->filter.last_phases != NULL && race->filter.last_phases->program == program)
        return race->filter.last_phases;
    for (size_t i = 0; i < race->filter.phases_count; i++)
        if (race->filter.phases[i]->program == program)
            return race->filter.last_phases = race->filter.phases[i];
    p = phases_make(program);
    if (p == NULL || !lw_grow(&race->filter.phases, &race->filter.phases_capacity, race->filter.phases_count + 1, sizeof *race->filter.phases)) {
        free(p);
        race->filter.threads_diverged = true; /* Without barrier intervals all accesses must be reported. */
        return NULL;
    }
    race->filter.phases[race->filter.phases_count++] = p;
    return race->filter.last_phases = p;
}

void race_phases_destroy(struct chk_race *race)
{
    for (size_t i = 0; i < race->filter.phases_count; i++)
        free(race->filter.phases[i]);
    free(race->filter.phases);
}

static bool is_shared(uint64_t address)
{
    return address - ISA_SHARED_BASE < ISA_APERTURE_BYTES;
}

bool race_filter_shared_write_free(struct chk_race *race, const struct emu_hook_access *access)
{
    const uint32_t index = access->at.index;

    if (access->kind != EMU_ACCESS_LOAD || race->filter.threads_diverged)
        return false;
    struct race_phases *p = phases_of(race, access->at.program);
    if (p == NULL || p->write_free[index] == NOT_WRITE_FREE)
        return false;
    for (unsigned k = 0; k < access->piece_count; k++) /* An address may be generic. All addresses of a segment are
                                                        * in one state space. */
        if (!is_shared(access->piece[k].address))
            return false;
    for (LW_EACH_BIT(l, access->piece_count == 0 ? access->at.lanes : 0))
        if (!is_shared(access->address[l]))
            return false;
    *access->filter = (struct emu_hook_filter){.first = ISA_SHARED_BASE, .end = ISA_SHARED_BASE + ISA_APERTURE_BYTES,
                                          .ignore_split = true};
    if (p->write_free[index] == WRITE_FREE && access->space == ISA_SPACE_SHARED &&
        chk_looks_alone(race->chk, race, p->program, index)) {
        p->write_free[index] = WRITE_FREE_NO_HOOK;
        p->alone_count++;
        emu_hooks_enable_site(p->program, index, false);
    }
    return true;
}

void race_phases_end(struct chk_race *race)
{
    if (race->filter.threads_diverged)
        return;
    race->filter.threads_diverged = true;
    for (size_t k = 0; k < race->filter.phases_count; k++) {
        struct race_phases *p = race->filter.phases[k];

        for (uint32_t i = 0; p->alone_count != 0 && i < p->count; i++) {
            if (p->write_free[i] != WRITE_FREE_NO_HOOK)
                continue;
            p->write_free[i] = WRITE_FREE;
            p->alone_count--;
            emu_hooks_enable_site(p->program, i, true);
        }
    }
    emu_hooks_invalidate_filters(race->machine);
}

void race_filter_shared_begin(struct chk_race *race, bool one_pc)
{
    if (!race->filter.threads_diverged && !one_pc)
        race_phases_end(race);
}
