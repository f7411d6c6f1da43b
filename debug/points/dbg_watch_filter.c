/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Static filter of watchpoints. With the filter, a run with watchpoints is nearly as fast as a run without. An observer slows
 * down every instruction, but few instructions can touch a watched location: those that access its memory space or its
 * registers. While all warps run, only these instructions get a breakpoint. At each of these breakpoints the debugger makes
 * one step of the engine with the observer attached. So the order of execution is that of a run without watchpoints. A search
 * through 3 million instructions takes 0.2 s with the filter, and 2.4 s without (docs/evidence/history.md).
 */
#include "debug/points/dbg_watch_priv.h"

#include <stdlib.h>

/* STOP_COST: number of instructions that an observer can inspect in the time that one stop takes (measured on gemm).
 * LOOK_STEPS: number of stops between two checks whether the filter still saves time. */
enum { STOP_COST = 4, LOOK_STEPS = 4096 };

/* Properties by which the filter selects instructions that may touch an enabled watchpoint or catchpoint. */
struct filter {
    unsigned access[ISA_SPACE_COUNT]; /* accesses to a memory space that touch a watchpoint: bits of enum dbg_access */
    unsigned any;           /* the bits of `access` of all spaces together */
    bool registers, writes; /* registers: a register is watched; writes: only writes of registers count */
    unsigned catches;       /* events that a catchpoint waits for: bits of enum dbg_catch */
};

static enum isa_space space_of(uint64_t address)
{
    return address >= ISA_GLOBAL_BASE  ? ISA_SPACE_GLOBAL
           : address >= ISA_CONST_BASE ? ISA_SPACE_CONST
           : address >= ISA_LOCAL_BASE ? ISA_SPACE_LOCAL
                                       : ISA_SPACE_SHARED;
}

bool dbg_pc_edited(const struct dbg *dbg)
{
    return dbg->pc_changed || strcmp(dbg->engine->ops->name, "replay") == 0;
}

/* Computes which instructions the filter must select. Returns false if a catchpoint waits for an event that any
 * instruction can cause, because a filter cannot find such an event. There are two such events. One is a reconvergence with a
 * SIMT stack, which may pop its top entry at any pc. The other is the start of a launch if pcs have been edited: any
 * instruction may then be the first one of the launch. */
static bool filter_make(const struct dbg *dbg, struct filter *filter)
{
    unsigned unseen = 0;

    memset(filter, 0, sizeof *filter);
    if (dbg_pc_edited(dbg))
        unseen |= DBG_CATCH_LAUNCH;
    if (strcmp(emu_machine_config(dbg->machine)->reconv, "cbar") != 0)
        unseen |= DBG_CATCH_RECONVERGE;
    for (size_t i = 0; i < dbg->point_count; i++) {
        const struct dbg_stoppoint_record *point = &dbg->points[i];

        if (!point->pub.enabled || point->pub.kind == DBG_STOPPOINT_BREAK)
            continue;
        if (point->pub.kind == DBG_STOPPOINT_CATCH) {
            if ((point->pub.catches & unseen) != 0)
                return false;
            filter->catches |= point->pub.catches;
        } else if (point->watched->memory) {
            filter->access[space_of(point->watched->low)] |= point->pub.access;
            filter->any |= point->pub.access;
        } else {
            filter->registers = true;
        }
    }
    return true;
}

/* Returns true if the register operand @use may overlap the registers that watchpoint @w covers. */
static bool use_overlaps(const struct dbg_watched *w, const struct isa_reg_use *use)
{
    unsigned bytes = w->bit ? 8 : w->bytes;
    uint64_t first = w->low, last = w->low + bytes - 1;

    switch (w->window) {
    case 0xF0:
    case 0xF2:
        first /= 4, last /= 4;
        if (use->reg_class != (w->window == 0xF0 ? ISA_REG_V : ISA_REG_S))
            return false;
        break;
    case 0xF1:
        first /= 256, last /= 256;
        if (use->reg_class != ISA_REG_V)
            return false;
        break;
    default:
        first /= 8, last /= 8;
        if (first == 16) { /* exec */
            first = ISA_S_EXEC, last = ISA_S_EXEC + 1;
            if (use->reg_class != ISA_REG_S)
                return false;
        } else if (first >= 8) {
            first -= 8, last -= 8;
            if (use->reg_class != ISA_REG_SP)
                return false;
        } else if (use->reg_class != ISA_REG_P) {
            return false;
        }
    }
    return use->first <= last && (uint64_t)use->first + use->count > first;
}

static bool uses_register(const struct dbg *dbg, const struct isa_insn *insn, bool writes)
{
    const struct dbg_watch *watch = dbg->watch;
    struct isa_reg_use uses[ISA_MAX_USES];
    unsigned count = isa_insn_uses(insn, uses);

    for (size_t k = 0; k < watch->register_count; k++) {
        const struct dbg_stoppoint_record *point = &dbg->points[watch->registers[k].point];

        for (unsigned i = 0; i < count; i++)
            if ((uses[i].written || (!writes && (point->pub.access & DBG_ACCESS_READ) != 0)) &&
                use_overlaps(point->watched, &uses[i]))
                return true;
    }
    return false;
}

/* Returns the events of enum dbg_catch that an instruction can cause. */
static unsigned can_happen(const struct isa_insn *insn, const struct isa_op_info *info)
{
    unsigned catches = info->flags & ISA_F_ATOMIC ? DBG_CATCH_ATOMIC : 0;
    bool direct = insn->op == ISA_BRA || insn->op == ISA_CALL;

    if (info->flags & (ISA_F_CONTROL | ISA_F_BRANCH | ISA_F_BARRIER | ISA_F_SYNC))
        catches |= DBG_CATCH_DIVERGE | (direct ? 0 : DBG_CATCH_RECONVERGE);
    if (info->flags & (ISA_F_BARRIER | ISA_F_SYNC))
        catches |= DBG_CATCH_BARRIER | DBG_CATCH_CONVERGENCE;
    /* `exit` ends lanes. Indirect branches and returns are selected as well, to be on the safe side. */
    if (insn->op == ISA_EXIT || ((info->flags & ISA_F_BRANCH) && !direct))
        catches |= DBG_CATCH_EXIT;
    return catches;
}

/* Returns true if an instruction can touch a watchpoint or catchpoint of the filter. */
static bool passes(const struct dbg *dbg, const struct filter *filter, const struct isa_insn *insn)
{
    const struct isa_op_info *info = isa_op_info((enum isa_op)insn->op);
    enum isa_space space = ISA_SPACE_GENERIC;
    unsigned how;

    if (info == NULL)
        return true;
    if (filter->registers && uses_register(dbg, insn, filter->writes))
        return true;
    if ((filter->catches & can_happen(insn, info)) != 0)
        return true;
    if (insn->xkind == ISA_X_CONST && (filter->access[ISA_SPACE_CONST] & DBG_ACCESS_READ))
        return true;
    if (!(info->flags & ISA_F_MEMORY))
        return false;
    how = !(info->flags & ISA_F_STORE)   ? DBG_ACCESS_READ
          : info->flags & ISA_F_ATOMIC   ? DBG_ACCESS_BOTH
                                         : DBG_ACCESS_WRITE;
    /* A generic access can reach any memory space, and the opcode of a scalar load does not state its space. */
    if (isa_op_access((enum isa_op)insn->op, &space) == ISA_ACCESS_NONE ||
        space == ISA_SPACE_GENERIC)
        return (how & filter->any) != 0;
    return (how & filter->access[space]) != 0;
}

/* Returns true if a location of a watched variable in a register begins at the instruction at @pc. */
static bool begins_variable(const struct dbg *dbg, const struct emu_program *program, uint64_t pc)
{
    const struct dbg_watch *watch = dbg->watch;

    for (size_t k = 0; k < watch->register_count; k++) {
        const struct dbg_watched *w = dbg->points[watch->registers[k].point].watched;

        if (w->program == program && dbg_watched_has_variable(w, (uint32_t)((pc - emu_program_base(program)) / ISA_WORD_BYTES), true))
            return true;
    }
    return false;
}

/* Returns true if the instruction at @pc is the first of a kernel, with which a launch starts. */
static bool is_entry(const struct emu_program *program, uint64_t pc)
{
    uint32_t index = (uint32_t)((pc - emu_program_base(program)) / ISA_WORD_BYTES);
    const struct isa_function *function =
        isa_object_function_at(emu_program_object(program), index);

    return function != NULL && function->kernel && function->first == index;
}

static void filter_remove(struct dbg *dbg)
{
    struct dbg_watch *watch = dbg->watch;

    while (watch->filter_count != 0) {
        uint64_t pc = watch->filter[--watch->filter_count];

        (void)!emu_breakpoint_set(dbg->machine, pc, dbg_breakpoint_inserted(dbg, pc), NULL);
    }
}

/* Inserts breakpoints at the selected instructions of a program. If @look has a function `wanted`, that function selects
 * them, else @filter does. Returns false if the host has no memory. */
static bool filter_program(struct dbg *dbg, const struct filter *filter,
                          const struct dbg_watch_filter_search *look, const struct emu_program *program)
{
    struct dbg_watch *watch = dbg->watch;
    const struct isa_insn *insn;

    for (uint64_t pc = emu_program_base(program);
         (insn = emu_program_insn(program, pc)) != NULL; pc += ISA_WORD_BYTES) {
        if (look != NULL && look->wanted != NULL ? !look->wanted(look->context, pc)
                                                 : !passes(dbg, filter, insn) && !begins_variable(dbg, program, pc) &&
                      !((filter->catches & DBG_CATCH_LAUNCH) && is_entry(program, pc)))
            continue;
        if (!lw_grow(&watch->filter, &watch->filter_capacity, watch->filter_count + 1,
                     sizeof *watch->filter) ||
            emu_breakpoint_set(dbg->machine, pc, true, NULL) != LW_OK)
            return false;
        watch->filter[watch->filter_count++] = pc;
    }
    return true;
}

/* Inserts the filter in the current program. Returns false if no complete filter is possible; then no breakpoint of the
 * filter remains. */
static bool filter_insert(struct dbg *dbg)
{
    struct dbg_watch *watch = dbg->watch;
    struct filter filter;

    watch->filtered_program = dbg_program(dbg);
    watch->filter_count = 0;
    if (!filter_make(dbg, &filter))
        return false;
    if (watch->filtered_program == NULL || filter_program(dbg, &filter, NULL, watch->filtered_program))
        return true;
    filter_remove(dbg);
    return false;
}

void dbg_watch_filter_begin(struct dbg *dbg)
{
    struct dbg_watch *watch = dbg->watch;
    struct filter filter;

    if (watch == NULL || !watch->attached || watch->filtering || dbg_program(dbg) == NULL ||
        !filter_make(dbg, &filter))
        return;
    watch->filtering = true;
    watch->filter_steps = 0;
    watch->filter_instructions = dbg->engine->ops->instructions(dbg->engine);
    emu_observer_remove(dbg->engine, &watch->observer);
    if (!filter_insert(dbg))
        dbg_watch_filter_end(dbg);
}

void dbg_watch_filter_next(struct dbg *dbg)
{
    if (dbg->watch == NULL || !dbg->watch->filtering || dbg->watch->filtered_program == dbg_program(dbg))
        return;
    filter_remove(dbg); /* the filter's breakpoints are in the program of the previous launch */
    if (!filter_insert(dbg))
        dbg_watch_filter_end(dbg);
}

void dbg_watch_filter_end(struct dbg *dbg)
{
    struct dbg_watch *watch = dbg->watch;

    if (watch == NULL || !watch->filtering)
        return;
    filter_remove(dbg);
    watch->filtering = false;
    if (watch->attached)
        emu_observer_add(dbg->engine, &watch->observer);
}

enum lw_status dbg_step_engine(struct dbg *dbg, struct emu_stop *es, struct lw_error *err)
{
    struct dbg_watch *watch = dbg->watch;
    bool lent = watch != NULL && watch->filtering;
    enum lw_status status;
    struct emu_event ev;

    if (lent)
        emu_observer_add(dbg->engine, &watch->observer);
    status = dbg->engine->ops->step(dbg->engine, &ev, es, err);
    if (lent)
        emu_observer_remove(dbg->engine, &watch->observer);
    if (lent && ++watch->filter_steps == LOOK_STEPS) {
        uint64_t now = dbg->engine->ops->instructions(dbg->engine);

        if (now - watch->filter_instructions < LOOK_STEPS * STOP_COST)
            dbg_watch_filter_end(dbg); /* stops are so frequent that inspecting every instruction is faster */
        watch->filter_steps = 0;
        watch->filter_instructions = now;
    }
    return status;
}

/* ---- filter of a reverse search, which has its own observer ----------------------------------------- */

/* Inserts the filter in all programs, because a replay of history can enter another program without a stop. Returns
 * false if no complete filter is possible; then no breakpoint of the filter remains. */
static bool filter_insert_all(struct dbg *dbg, const struct dbg_watch_filter_search *look)
{
    const struct emu_program *program = NULL;
    struct filter filter;

    dbg->watch->filter_count = 0;
    if (!filter_make(dbg, &filter) && look->wanted == NULL)
        return false;
    if (look->writes) {
        for (unsigned i = 0; i < LW_COUNT_OF(filter.access); i++)
            filter.access[i] &= DBG_ACCESS_WRITE;
        filter.any &= DBG_ACCESS_WRITE;
        filter.writes = true;
    }
    while ((program = emu_machine_program_next(dbg->machine, program)) != NULL)
        if (!filter_program(dbg, &filter, look, program)) {
            filter_remove(dbg); /* an incomplete filter would miss hits, so every instruction is inspected */
            return false;
        }
    return true;
}

void dbg_watch_filter_search_begin(struct dbg *dbg, struct emu_observer *observer,
                          struct dbg_watch_filter_search *look)
{
    look->observer = observer;
    look->from = dbg->engine->ops->instructions(dbg->engine);
    look->steps = 0;
    look->filtering = !look->dense && !dbg->watch->filtering && filter_insert_all(dbg, look);
    if (!look->filtering)
        emu_observer_add(dbg->engine, observer);
}

enum lw_status dbg_watch_filter_search_step(struct dbg *dbg, struct dbg_watch_filter_search *look,
                                   struct emu_stop *es, struct lw_error *err)
{
    struct emu_event ev;
    enum lw_status status;

    memset(&ev, 0, sizeof ev);
    if (look->filtering)
        emu_observer_add(dbg->engine, look->observer);
    status = dbg->engine->ops->step(dbg->engine, &ev, es, err);
    if (look->filtering && ++look->steps == LOOK_STEPS) {
        uint64_t now = dbg->engine->ops->instructions(dbg->engine);

        look->dense = now - look->from < LOOK_STEPS * STOP_COST;
        look->from = now;
        look->steps = 0;
    }
    if (look->filtering && look->dense) {
        filter_remove(dbg); /* from now on the observer inspects every instruction */
        look->filtering = false;
    } else if (look->filtering) {
        emu_observer_remove(dbg->engine, look->observer);
    }
    return status;
}

void dbg_watch_filter_search_end(struct dbg *dbg, struct dbg_watch_filter_search *look)
{
    if (look->filtering)
        filter_remove(dbg);
    look->filtering = false;
}
