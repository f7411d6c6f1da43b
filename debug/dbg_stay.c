/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Long stays on the way back. A lane that spins has retired millions of instructions at which a
 * walk along its trail cannot end: of the line that it goes to the beginning of, or none that calls
 * or returns. Only the others get breakpoints, so the past runs at nearly its full speed to the last
 * one that the lane retired, and the walk goes on where the stay began.
 */
#include "debug/dbg_history_priv.h"

#include <assert.h>

/** What a look at the past is told of. */
struct looker {
    struct emu_observer observer;
    struct dbg *dbg;
    const struct dbg_trail *trail;
    const struct isa_line *row;
    uint64_t at; /* of the event, and where it was seen */
    bool found;
};

static bool is_inside(const struct dbg *dbg, const struct isa_line *row, uint64_t pc)
{
    const struct emu_program *program = emu_machine_program_at(dbg->machine, pc);
    const struct isa_insn *insn = program != NULL ? emu_program_insn(program, pc) : NULL;
    const struct isa_function *function;
    const struct isa_line *own;
    bool start;

    if (insn == NULL || insn->op == ISA_RET ||
        (isa_op_info((enum isa_op)insn->op)->flags & ISA_F_CALL) || dbg_point_armed(dbg, pc))
        return false;
    if (row == NULL)
        return true;
    function = dbg_function_at(dbg, pc);
    if (function != NULL && !function->kernel && pc < dbg_function_body(dbg, function))
        return false; /* a prologue ends a walk to a line */
    return !dbg_row_at(dbg, pc, &own, &start) || (own->line == row->line && own->file == row->file);
}

static bool is_outside(const void *context, uint64_t pc)
{
    const struct looker *l = context;

    return !is_inside(l->dbg, l->row, pc);
}

static bool is_own(const struct looker *l, const struct emu_event *ev)
{
    return ev->kind == EMU_EV_RETIRED && (ev->split_lanes >> l->trail->who.lane & 1) != 0 &&
           dbg_event_thread(ev) == l->trail->who.id;
}

/* The last instruction of the lane at which the walk may end. */
static bool on_last(struct emu_observer *observer, const struct emu_event *ev)
{
    struct looker *l = (struct looker *)(void *)observer;

    if (is_own(l, ev) && !is_inside(l->dbg, l->row, ev->pc)) {
        l->at = dbg_history_now(l->dbg) - 1;
        l->found = true;
    }
    return false;
}

/* The first one of the stay behind it, of a known line where the walk is about one. */
static bool on_first(struct emu_observer *observer, const struct emu_event *ev)
{
    struct looker *l = (struct looker *)(void *)observer;
    const struct isa_line *row;
    bool start;

    if (ev->kind != EMU_EV_RETIRED)
        return false;
    if (is_own(l, ev) && (l->row == NULL || dbg_row_at(l->dbg, ev->pc, &row, &start))) {
        l->found = true;
        return true;
    }
    l->at++;
    return false;
}

bool dbg_stay_holds(const struct dbg *dbg, const struct isa_line *row, uint64_t pc)
{
    return is_inside(dbg, row, pc);
}

enum lw_status dbg_stay_skip(struct dbg_trail *trail, const struct isa_line *row,
                             struct lw_error *err)
{
    struct dbg *dbg = trail->dbg;
    struct looker l = {.observer = {.on_event = on_last}, .dbg = dbg, .trail = trail, .row = row};
    struct dbg_sieve_look look = {.wanted = is_outside, .context = &l};
    uint64_t before = trail->search.low;
    enum lw_status status;

    assert(trail->count == 0);
    if (!dbg_watch_ready(dbg))
        return LW_FAIL(err, LW_ENOMEM, "no memory to look back");
    status = dbg_look_back(dbg, before, trail->who.id, &l.observer, &l.found, &look,
                           &trail->search.interrupted, err);
    if (status != LW_OK || trail->search.interrupted)
        return status;
    l.at = l.found ? l.at + 1 : dbg_history_earliest(dbg);
    l.found = false;
    l.observer.on_event = on_first;
    dbg->looks_back = true;
    status = emu_history_walk(dbg->history, l.at, before, &l.observer, err);
    dbg->looks_back = false;
    if (status != LW_OK || !l.found)
        return status;
    trail->search.low = l.at + 1;
    trail->search.size = DBG_FIRST_WINDOW;
    trail->search.idle = false;
    trail->next_pc = 0; /* neither calls nor returns are passed */
    return LW_OK;
}
