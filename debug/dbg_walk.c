/* SPDX-License-Identifier: Apache-2.0 */
/* Steps by range, by line and out of functions: loops of the step of one instruction. */
#include "debug/dbg_run_priv.h"

static enum lw_status step_range(struct dbg *dbg, dbg_thread_id id, uint64_t low,
                                 uint64_t high, bool locked, struct dbg_stop *stop,
                                 struct lw_error *err)
{
    struct dbg_stepper s;
    enum lw_status status = dbg_stepper_init(&s, dbg, id, locked, err);
    uint64_t pc = 0;

    while (status == LW_OK) {
        enum dbg_outcome outcome;

        status = dbg_stepper_step(&s, &outcome, stop, err);
        if (status == LW_OK)
            status = dbg_stepper_look(&s, outcome, &pc, stop, err);
        if (status != LW_OK || stop->kind != DBG_STOP_NONE)
            return status;
        if (pc < low || pc >= high)
            return dbg_settle(dbg, DBG_STOP_STEP, stop, err);
    }
    return status;
}

enum lw_status dbg_step_range(struct dbg *dbg, dbg_thread_id id, uint64_t low, uint64_t high,
                              bool locked, struct dbg_stop *stop, struct lw_error *err)
{
    enum lw_status status = dbg_run_begin(dbg, stop, err);

    if (status != LW_OK)
        return status;
    return dbg_run_end(dbg, step_range(dbg, id, low, high, locked, stop, err), stop);
}

enum lw_status dbg_step(struct dbg *dbg, dbg_thread_id id, bool locked, struct dbg_stop *stop,
                        struct lw_error *err)
{
    /* Every pc is outside the empty range: one instruction. */
    return dbg_step_range(dbg, id, 0, 0, locked, stop, err);
}

/* ---- lines ------------------------------------------------------------------------------ */

/* Has the step by line come to its end at @pc? */
static bool line_done(struct dbg_stepper *s, const struct isa_line *from, bool over,
                      uint64_t pc, int *into)
{
    const struct isa_line *row;
    bool start, known = dbg_row_at(s->dbg, pc, &row, &start);

    if (s->depth < 0)
        return true; /* returned: another frame */
    if (s->depth > 0) {
        const struct isa_function *function = dbg_function_at(s->dbg, pc);

        if (over || !known || function == NULL || s->depth > 1)
            return false;
        /* Into a function: on to the end of its prologue. */
        if (*into != s->depth && pc == dbg_function_pc(s->dbg, function))
            *into = s->depth;
        return *into == s->depth && pc >= dbg_function_body(s->dbg, function);
    }
    *into = 0;
    return known && start && (row->line != from->line || row->file != from->file);
}

static enum lw_status step_line(struct dbg *dbg, dbg_thread_id id, bool over, bool locked,
                                struct dbg_stop *stop, struct lw_error *err)
{
    const struct isa_line *from;
    struct dbg_thread thread;
    struct dbg_stepper s;
    enum lw_status status;
    bool start;
    uint64_t pc = 0;
    int into = 0;

    if (!dbg_thread_get(dbg, id, &thread))
        return dbg_gone(dbg, id, err);
    if (!dbg_row_at(dbg, thread.place.pc, &from, &start)) {
        dbg_message(dbg, "no line is known here: one instruction was stepped");
        return step_range(dbg, id, 0, 0, locked, stop, err);
    }
    status = dbg_stepper_init(&s, dbg, id, locked, err);
    while (status == LW_OK) {
        enum dbg_outcome outcome;

        status = dbg_stepper_step(&s, &outcome, stop, err);
        if (status == LW_OK)
            status = dbg_stepper_look(&s, outcome, &pc, stop, err);
        if (status != LW_OK || stop->kind != DBG_STOP_NONE)
            return status;
        if (line_done(&s, from, over, pc, &into))
            return dbg_settle(dbg, DBG_STOP_STEP, stop, err);
    }
    return status;
}

enum lw_status dbg_step_line(struct dbg *dbg, dbg_thread_id id, bool over, bool locked,
                             struct dbg_stop *stop, struct lw_error *err)
{
    enum lw_status status = dbg_run_begin(dbg, stop, err);

    if (status != LW_OK)
        return status;
    return dbg_run_end(dbg, step_line(dbg, id, over, locked, stop, err), stop);
}

/* ---- finish, advance -----------------------------------------------------------------------
 */

static enum lw_status finish(struct dbg *dbg, dbg_thread_id id, struct dbg_stop *stop,
                             struct lw_error *err)
{
    const struct isa_function *function;
    struct dbg_thread thread;
    struct dbg_stepper s;
    enum lw_status status;
    uint64_t pc = 0;

    if (!dbg_thread_get(dbg, id, &thread))
        return dbg_gone(dbg, id, err);
    function = dbg_function_at(dbg, thread.place.pc);
    if (function != NULL && function->kernel)
        return LW_FAIL(err, LW_ESTATE,
                       "%s is the kernel: nothing called it; `continue` runs to its end",
                       function->name);
    status = dbg_stepper_init(&s, dbg, id, false, err);
    while (status == LW_OK) {
        enum dbg_outcome outcome;

        status = dbg_stepper_step(&s, &outcome, stop, err);
        if (status == LW_OK)
            status = dbg_stepper_look(&s, outcome, &pc, stop, err);
        if (status != LW_OK || stop->kind != DBG_STOP_NONE)
            return status;
        if (s.depth < 0)
            return dbg_settle(dbg, DBG_STOP_STEP, stop, err);
    }
    return status;
}

enum lw_status dbg_next_insn(struct dbg *dbg, dbg_thread_id id, struct dbg_stop *stop,
                             struct lw_error *err)
{
    struct dbg_stepper s;
    enum lw_status status = dbg_run_begin(dbg, stop, err);
    uint64_t pc = 0;

    if (status == LW_OK)
        status = dbg_stepper_init(&s, dbg, id, false, err);
    if (status != LW_OK)
        return status;
    do {
        enum dbg_outcome outcome;

        status = dbg_stepper_step(&s, &outcome, stop, err);
        if (status == LW_OK)
            status = dbg_stepper_look(&s, outcome, &pc, stop, err);
    } while (status == LW_OK && stop->kind == DBG_STOP_NONE && s.depth > 0);
    if (status == LW_OK && stop->kind == DBG_STOP_NONE)
        status = dbg_settle(dbg, DBG_STOP_STEP, stop, err);
    return dbg_run_end(dbg, status, stop);
}

enum lw_status dbg_finish(struct dbg *dbg, dbg_thread_id id, struct dbg_stop *stop,
                          struct lw_error *err)
{
    enum lw_status status = dbg_run_begin(dbg, stop, err);

    return status != LW_OK ? status : dbg_run_end(dbg, finish(dbg, id, stop, err), stop);
}
