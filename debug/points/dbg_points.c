/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stoppoints: their list, their conditions and the hits of breakpoints. A lane that arrives at a breakpoint hits it once. After
 * the stop the lane is a reported lane until it leaves that pc: a resume steps it over the breakpoint without another stop.
 */
#include "debug/debug_priv.h"

#include <stdio.h>
#include <stdlib.h>

struct dbg_stoppoint_record *dbg_stoppoint_find(const struct dbg *dbg, unsigned id)
{
    for (size_t i = 0; i < dbg->point_count; i++)
        if (dbg->points[i].pub.id == id)
            return &dbg->points[i];
    return NULL;
}

bool dbg_stoppoint_is_gdb(const struct dbg *dbg, unsigned id)
{
    const struct dbg_stoppoint_record *point = dbg_stoppoint_find(dbg, id);

    return point != NULL && point->pub.owner == DBG_OWNER_GDB;
}

bool dbg_breakpoint_inserted(const struct dbg *dbg, uint64_t pc)
{
    for (size_t i = 0; i < dbg->point_count; i++)
        if (dbg->points[i].pub.kind == DBG_STOPPOINT_BREAK && dbg->points[i].pub.enabled &&
            dbg->points[i].pub.pc == pc)
            return true;
    return false;
}

/* Applies a change of a stoppoint to the machine: for a breakpoint, inserts or removes the machine's breakpoint at @pc; for
 * another kind of stoppoint, marks the tables of watchpoints as outdated. */
static enum lw_status point_arm(struct dbg *dbg, enum dbg_stoppoint_kind kind, uint64_t pc,
                                struct lw_error *err)
{
    if (kind == DBG_STOPPOINT_BREAK)
        return emu_breakpoint_set(dbg->machine, pc, dbg_breakpoint_inserted(dbg, pc), err);
    dbg_watch_changed(dbg);
    return LW_OK;
}

void dbg_stoppoint_free(struct dbg_stoppoint_record *point)
{
    if (point->release != NULL)
        point->release(point->fn_context);
    free(point->condition);
    free(point->text);
    if (point->watched != NULL)
        free(point->watched->operand);
    free(point->watched);
}

enum lw_status dbg_stoppoint_copy_condition(struct dbg *dbg, const char *condition, uint64_t pc, char **copy,
                                        struct lw_error *err)
{
    enum lw_status status;

    *copy = NULL;
    if (condition == NULL || *condition == '\0')
        return LW_OK;
    status = dbg_expr_check(dbg, condition, pc, err);
    if (status != LW_OK)
        return lw_error_prefix(err, "condition \"%s\"", condition);
    *copy = strdup(condition);
    return *copy != NULL ? LW_OK : LW_FAIL(err, LW_ENOMEM, "the host has no memory for a condition");
}

enum lw_status dbg_stoppoint_insert(struct dbg *dbg, struct dbg_stoppoint_record *point, unsigned *id,
                                struct lw_error *err)
{
    enum lw_status status;

    point->pub.id = dbg->last_point + 1;
    point->pub.condition = point->condition;
    point->pub.text = point->text;
    if (!lw_grow(&dbg->points, &dbg->point_capacity, dbg->point_count + 1,
                 sizeof *dbg->points)) {
        dbg_stoppoint_free(point);
        return LW_FAIL(err, LW_ENOMEM, "the host has no memory for another breakpoint, watchpoint or catchpoint");
    }
    dbg->points[dbg->point_count++] = *point;
    dbg_hits_forget(dbg);
    status = point_arm(dbg, point->pub.kind, point->pub.pc, err);
    if (status != LW_OK) {
        dbg->point_count--;
        dbg_stoppoint_free(point);
        return status;
    }
    dbg->last_point++;
    if (id != NULL)
        *id = point->pub.id;
    return LW_OK;
}

static struct dbg_tally *tally_find(const struct dbg *dbg, uint64_t pc)
{
    for (size_t i = 0; i < dbg->tally_count; i++)
        if (dbg->tallies[i].pc == pc)
            return &dbg->tallies[i];
    return NULL;
}

/* Saves the counts of a breakpoint that gdb removes. If the host has no memory, the counts are lost. Hits of a breakpoint without
 * a condition do not count, because gdb may insert one with a condition next. */
static void tally_put(struct dbg *dbg, const struct dbg_stoppoint *point)
{
    struct dbg_tally *tally = tally_find(dbg, point->pc);

    if (point->tested == 0)
        return;
    if (tally == NULL && lw_grow(&dbg->tallies, &dbg->tally_capacity, dbg->tally_count + 1, sizeof *dbg->tallies))
        tally = &dbg->tallies[dbg->tally_count++];
    if (tally != NULL)
        *tally = (struct dbg_tally){point->pc, point->hits, point->tested};
}

enum lw_status dbg_breakpoint_add(struct dbg *dbg, enum dbg_owner owner, uint64_t pc,
                             const char *condition, bool temporary, unsigned *id,
                             struct lw_error *err)
{
    struct dbg_stoppoint_record point = {.pub = {.owner = owner, .pc = pc, .enabled = true, .temporary = temporary}};
    const struct dbg_tally *tally = owner == DBG_OWNER_GDB ? tally_find(dbg, pc) : NULL;
    enum lw_status status = dbg_stoppoint_copy_condition(dbg, condition, pc, &point.condition, err);

    if (tally != NULL) {
        point.pub.hits = tally->hits;
        point.pub.tested = tally->tested;
    }
    return status != LW_OK ? status : dbg_stoppoint_insert(dbg, &point, id, err);
}

static enum lw_status no_point(unsigned id, struct lw_error *err)
{
    return LW_FAIL(err, LW_ENOENT, "there is no breakpoint, watchpoint or catchpoint %u: `points` lists them", id);
}

enum lw_status dbg_stoppoint_remove(struct dbg *dbg, unsigned id, struct lw_error *err)
{
    struct dbg_stoppoint_record *point = dbg_stoppoint_find(dbg, id);
    enum dbg_stoppoint_kind kind;
    uint64_t pc;

    if (point == NULL)
        return no_point(id, err);
    pc = point->pub.pc;
    kind = point->pub.kind;
    if (kind == DBG_STOPPOINT_BREAK && point->pub.owner == DBG_OWNER_GDB)
        tally_put(dbg, &point->pub);
    dbg_hits_forget(dbg);
    dbg_watch_removed(dbg, point);
    dbg_stoppoint_free(point);
    dbg->point_count--;
    memmove(point, point + 1,
            (size_t)(dbg->points + dbg->point_count - point) * sizeof *point);
    dbg_watch_changed(dbg); /* the tables of dbg->watch refer to stoppoints by index */
    return point_arm(dbg, kind, pc, err);
}

enum lw_status dbg_stoppoint_enable(struct dbg *dbg, unsigned id, bool on, struct lw_error *err)
{
    struct dbg_stoppoint_record *point = dbg_stoppoint_find(dbg, id);

    if (point == NULL)
        return no_point(id, err);
    point->pub.enabled = on;
    dbg_hits_forget(dbg);
    return point_arm(dbg, point->pub.kind, point->pub.pc, err);
}

enum lw_status dbg_stoppoint_ignore(struct dbg *dbg, unsigned id, uint64_t count,
                                struct lw_error *err)
{
    struct dbg_stoppoint_record *point = dbg_stoppoint_find(dbg, id);

    if (point == NULL)
        return no_point(id, err);
    point->pub.ignore = count;
    return LW_OK;
}

enum lw_status dbg_stoppoint_condition(struct dbg *dbg, unsigned id, const char *condition,
                                   struct lw_error *err)
{
    struct dbg_stoppoint_record *point = dbg_stoppoint_find(dbg, id);
    char *copy;
    enum lw_status status;

    if (point == NULL)
        return no_point(id, err);
    status = dbg_stoppoint_copy_condition(dbg, condition, point->pub.pc, &copy, err);
    if (status != LW_OK)
        return status;
    dbg_hits_forget(dbg);
    free(point->condition);
    point->condition = copy;
    point->pub.condition = copy;
    return LW_OK;
}

unsigned dbg_stoppoint_count(const struct dbg *dbg)
{
    return (unsigned)dbg->point_count;
}

bool dbg_stoppoint_at(const struct dbg *dbg, unsigned index, struct dbg_stoppoint *out)
{
    if (index >= dbg->point_count)
        return false;
    *out = dbg->points[index].pub;
    return true;
}

enum lw_status dbg_stoppoint_set_condition(struct dbg *dbg, unsigned id, dbg_condition_fn fn,
                                       void *context, void (*release)(void *context),
                                       struct lw_error *err)
{
    struct dbg_stoppoint_record *point = dbg_stoppoint_find(dbg, id);

    if (point == NULL)
        return no_point(id, err);
    if (point->release != NULL)
        point->release(point->fn_context);
    dbg_hits_forget(dbg);
    point->fn = fn;
    point->fn_context = context;
    point->release = release;
    return LW_OK;
}

void dbg_stoppoint_acts(struct dbg *dbg, unsigned id)
{
    struct dbg_stoppoint_record *point = dbg_stoppoint_find(dbg, id);

    if (point != NULL)
        point->pub.acts = true;
}

/* Returns true if the condition of @point was evaluated and was never true. */
static bool is_untrue(const struct dbg_stoppoint_record *point)
{
    return point->pub.kind == DBG_STOPPOINT_BREAK && point->pub.enabled && !point->pub.acts && point->pub.tested != 0 &&
           point->pub.hits == 0;
}

void dbg_note_untrue(const struct dbg *dbg)
{
    for (size_t i = 0; i < dbg->point_count; i++) {
        const struct isa_object *object = NULL;
        uint64_t tested = 0;
        bool all = is_untrue(&dbg->points[i]);
        unsigned line, other_line;
        const char *file, *other;
        struct dbg_where where;

        if (!all || !dbg_source_at(dbg, dbg->points[i].pub.pc, &file, &line))
            continue;
        /* A line can have several breakpoints, and one note. If one of them was hit, the line has no note. */
        for (size_t k = 0; k < dbg->point_count && all; k++) {
            const struct dbg_stoppoint *point = &dbg->points[k].pub;

            if (point->kind != DBG_STOPPOINT_BREAK || !dbg_source_at(dbg, point->pc, &other, &other_line) ||
                other_line != line || strcmp(other, file) != 0)
                continue;
            all = point->hits == 0 && (k >= i || !is_untrue(&dbg->points[k]));
            tested += is_untrue(&dbg->points[k]) ? point->tested : 0;
        }
        if (!all)
            continue;
        if (dbg_where_is(dbg, dbg->points[i].pub.pc, &where))
            object = where.object;
        dbg_message(dbg, "note: %s:%u: the condition of the breakpoint was evaluated %llu time%s, and was never true%s",
                    dbg_base_name(file), line, (unsigned long long)tested, tested == 1 ? "" : "s",
                    object == NULL || object->debug == NULL || object->debug->die_count == 0 || dbg_unit_is_debuggable(&where)
                        ? ""
                        : "; optimised code has no stop for some executions of a line: compile with -g");
    }
}

uint64_t dbg_executing_lanes(const struct dbg *dbg, dbg_thread_id id, uint64_t pc, uint64_t lanes)
{
    const struct emu_program *program = emu_machine_program_at(dbg->machine, pc);
    const struct isa_insn *insn = program != NULL ? emu_program_insn(program, pc) : NULL;
    uint64_t guard = UINT64_MAX;
    struct emu_warp_view view;
    struct dbg_warp warp;

    if (insn == NULL || isa_op_info(insn->op)->flags & ISA_F_CONTROL || !dbg_warp_view(dbg, id, &warp, &view))
        return lanes;
    if (insn->guard != ISA_PT && insn->guard_scalar) {
        (void)!emu_reg_read(DBG_AT(&warp), ISA_REG_SP, insn->guard, 0, &guard);
        guard = guard & 1 ? UINT64_MAX : 0;
    } else if (insn->guard != ISA_PT) {
        (void)!emu_reg_read(DBG_AT(&warp), ISA_REG_P, insn->guard, 0, &guard);
    }
    return lanes & (insn->guard_neg ? ~guard : guard);
}

uint64_t dbg_stoppoint_lanes(struct dbg *dbg, size_t index, dbg_thread_id id, uint64_t lanes)
{
    uint64_t hit = 0;
    unsigned focus = dbg_lane_get(dbg, id), frame = dbg->frame.index;
    bool is_reported = false;

    /* A breakpoint without a condition stops also if the guard is false. Debuggers set such breakpoints for their own purposes,
     * for example at the end of a call, and must not miss a stop there. */
    if (dbg->points[index].pub.kind == DBG_STOPPOINT_BREAK &&
        (dbg->points[index].fn != NULL || dbg->points[index].condition != NULL))
        lanes = dbg_executing_lanes(dbg, id, dbg->points[index].pub.pc, lanes);
    if (dbg->points[index].pub.kind == DBG_STOPPOINT_BREAK && !dbg->looks_back &&
        (dbg->points[index].fn != NULL || dbg->points[index].condition != NULL))
        dbg->points[index].pub.tested += lw_popcount(lanes);
    dbg->frame.index = 0; /* a condition refers to the innermost frame, whichever frame the user has selected */

    for (LW_EACH_BIT(lane, lanes)) {
        struct dbg_stoppoint_record *point = &dbg->points[index];
        bool yes = true;

        if (point->fn != NULL) {
            /* The condition function evaluates its condition in the warp's focus lane. Each lane is therefore the focus lane
             * during its call. */
            dbg_lane_pin(dbg, id, (unsigned)lane);
            yes = point->fn(point->fn_context, dbg, id, (unsigned)lane);
            dbg_lane_pin(dbg, id, focus);
        }
        if (yes && point->condition != NULL) {
            struct dbg_value value;
            struct lw_error err;

            if (dbg_eval(dbg, id, (unsigned)lane, point->condition, &value, &err) != LW_OK) {
                /* The failure is printed for one lane only. A reverse search prints it at its stop. */
                if (!is_reported && !dbg->looks_back)
                    dbg_message(dbg, "the condition of breakpoint or watchpoint %u cannot be evaluated: \"%s\": %s", point->pub.id,
                                point->condition, err.text);
                is_reported = true;
            } else {
                yes = dbg_value_true(&value);
            }
        }
        if (yes)
            hit |= UINT64_C(1) << lane;
    }
    dbg->frame.index = frame;
    return hit;
}

static uint64_t reported_lanes(const struct dbg *dbg, dbg_thread_id id, uint64_t pc)
{
    uint64_t lanes = 0;

    for (size_t i = 0; i < dbg->reported_count; i++)
        if (dbg->reported[i].id == id && dbg->reported[i].pc == pc)
            lanes |= dbg->reported[i].lanes;
    return lanes;
}

bool dbg_stoppoint_count_hit(struct dbg_stoppoint_record *point)
{
    point->pub.hits++;
    if (point->pub.ignore == 0)
        return true;
    point->pub.ignore--;
    return false;
}

unsigned dbg_breakpoint_hit(struct dbg *dbg, dbg_thread_id id, uint64_t pc, uint64_t active,
                       uint64_t *lanes, char *text, size_t capacity)
{
    uint64_t fresh = active & ~reported_lanes(dbg, id, pc), all = 0;
    unsigned first = 0, report_count = 0;
    struct lw_buffer hits;

    lw_buffer_init(&hits);

    for (size_t i = 0; i < dbg->point_count;) {
        struct dbg_stoppoint_record *point = &dbg->points[i];
        unsigned number = point->pub.id;
        uint64_t hit;

        i++;
        if (point->pub.kind != DBG_STOPPOINT_BREAK || !point->pub.enabled || point->pub.pc != pc)
            continue;
        /* dbg_create() has recorded the first warp at the entry as reported, because the shell shows it. gdb shows
         * nothing before its first stop, so until then a gdb breakpoint stops for these lanes, too. */
        hit = dbg_stoppoint_lanes(dbg, i - 1, id,
                              point->pub.owner == DBG_OWNER_GDB && dbg->stop.kind == DBG_STOP_NONE ? active : fresh);
        if (hit == 0 || !dbg_stoppoint_count_hit(&dbg->points[i - 1]))
            continue;
        all |= hit;
        if (first == 0)
            first = number;
        /* The user knows gdb's breakpoints by gdb's own numbers, so they are not listed here by the debugger's numbers. */
        if (dbg->points[i - 1].pub.owner != DBG_OWNER_GDB) {
            lw_printf(&hits.sink, "%sbreakpoint %u, lanes ", report_count++ != 0 ? "; " : "", number);
            dbg_show_mask(dbg, hit, &hits.sink);
        }
        if (dbg->points[i - 1].pub.temporary) {
            (void)!dbg_stoppoint_remove(dbg, number, NULL);
            i--;
        }
    }
    if (report_count > 1 && hits.text != NULL)
        snprintf(text, capacity, "%s", hits.text);
    lw_buffer_fini(&hits);
    *lanes = all;
    return first;
}

unsigned dbg_breakpoint_peek(struct dbg *dbg, dbg_thread_id id, uint64_t pc, uint64_t active,
                        uint64_t *lanes)
{
    unsigned first = 0;

    *lanes = 0;
    for (size_t i = 0; i < dbg->point_count; i++) {
        const struct dbg_stoppoint *point = &dbg->points[i].pub;
        uint64_t hit;

        if (point->kind != DBG_STOPPOINT_BREAK || !point->enabled || point->pc != pc)
            continue;
        hit = dbg_stoppoint_lanes(dbg, i, id, active);
        if (hit != 0 && first == 0)
            first = dbg->points[i].pub.id;
        *lanes |= hit;
    }
    return first;
}

