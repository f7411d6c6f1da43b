/* SPDX-License-Identifier: Apache-2.0 */
/* Step commands that repeat the step of one instruction: until the pc leaves a range, by line, over a call, and out of a
 * function. */
#include "debug/run/dbg_run_priv.h"

/* ---- other lanes of the split ----------------------------------------------------------- */

/* Returns the lanes of the split that contains the stepped lane; 0 if the lane has exited. */
static uint64_t company(const struct dbg_stepper *s)
{
    struct emu_split_view split;

    return emu_lane_where(DBG_AT(&s->warp), s->lane, &split)
               ? split.lanes
               : 0;
}

/* Lanes that are in the same source line of the same function, called a line part here. */
struct part {
    const struct isa_line *row; /* line-table row of this line; NULL: the line is not known */
    const struct isa_function *function;
    uint64_t pc, lanes;
    bool several; /* the lanes are at different instructions of the line */
};

static bool is_same_location(const struct part *a, const struct part *b)
{
    return a->pc == b->pc || (a->row != NULL && b->row != NULL && a->function == b->function &&
                              a->row->file == b->row->file && a->row->line == b->row->line);
}

/* Prints the location of a line part: "walk+0xb0 (walk.s:18)". If its lanes are at different instructions of the line,
 * prints "walk (walk.s:18)". */
static void put_location(struct dbg *dbg, const struct part *part, struct lw_sink *out)
{
    struct lw_buffer location;
    const char *offset;

    lw_buffer_init(&location);
    dbg_print_location(dbg, part->pc, &location.sink);
    offset = location.text != NULL && part->several ? strstr(location.text, "+0x") : NULL;
    if (offset != NULL)
        lw_printf(out, "%.*s%s", (int)(offset - location.text), location.text, offset + strcspn(offset, " "));
    else
        lw_put(out, location.text != NULL ? location.text : "");
    lw_buffer_fini(&location);
}

/* Adds @lanes, which are all at @pc, to the line part of their source line, or makes a new line part. Returns the new number of
 * line parts. */
static unsigned part_add(struct dbg *dbg, struct part *parts, unsigned count, uint64_t pc, uint64_t lanes)
{
    struct part part = {.pc = pc, .lanes = lanes, .function = dbg_function_at(dbg, pc)};
    bool start;

    if (!dbg_row_at(dbg, pc, &part.row, &start))
        part.row = NULL;
    for (unsigned i = 0; i < count; i++)
        if (is_same_location(&parts[i], &part)) {
            parts[i].lanes |= lanes;
            parts[i].several = parts[i].several || parts[i].pc != pc;
            return count;
        }
    parts[count] = part;
    return count + 1;
}

/* Prints a message about the lanes that have left the stepped lane's split during the step: where they are now. @before:
 * the lanes of that split before the step. */
static void report_lost(const struct dbg_stepper *s, uint64_t before)
{
    uint64_t lost = before & ~company(s), live = 0;
    struct emu_split_view splits[EMU_MAX_LANES];
    struct part parts[EMU_MAX_LANES];
    struct emu_warp_view view;
    struct lw_buffer text;
    unsigned count, part_count = 0;

    /* No message if the stepped lane itself has exited, or if no lane has left its split. */
    if ((lost >> s->lane & 1) != 0 || lost == 0)
        return;
    if (emu_warp_view(DBG_AT(&s->warp), &view))
        live = view.live;
    lw_buffer_init(&text);
    count = emu_split_views(DBG_AT(&s->warp), splits, EMU_MAX_LANES);
    for (unsigned i = 0; i < count && i < EMU_MAX_LANES; i++)
        if ((splits[i].lanes & lost) != 0)
            part_count = part_add(s->dbg, parts, part_count, splits[i].pc, splits[i].lanes & lost);
    for (unsigned i = 0; i < part_count; i++) {
        lw_put(&text.sink, text.size != 0 ? "; lanes " : "lanes ");
        dbg_show_mask(s->dbg, parts[i].lanes, &text.sink);
        lw_put(&text.sink, " are at ");
        put_location(s->dbg, &parts[i], &text.sink);
    }
    if ((lost & ~live) != 0) {
        lw_put(&text.sink, text.size != 0 ? "; lanes " : "lanes ");
        dbg_show_mask(s->dbg, lost & ~live, &text.sink);
        lw_put(&text.sink, " have exited");
    }
    if (text.text != NULL)
        dbg_message(s->dbg, "%s", text.text);
    lw_buffer_fini(&text);
}

/* ---- goals ------------------------------------------------------------------------------- */

/** Condition at which a step command ends, and its parameters. */
struct goal {
    bool (*reached)(const struct dbg_stepper *s, struct goal *goal, uint64_t pc);
    uint64_t low, high;                     /* out_of_range: the command ends at a pc outside [low, high) */
    const struct isa_line *from;            /* on_another_line: it ends at the start of any line except this one */
    bool over;                              /* on_another_line: it does not end inside a called function */
    int into;                               /* on_another_line: value of dbg_stepper.depth in the called function whose
                                             * prologue the lane executes, or 0 if there is none */
    const struct dbg_frame_location *frame; /* out_of_frame: it ends when the lane has left this frame */
};

/* Steps the lane until the goal is reached; @stop then remains empty. Any other stop ends the loop earlier and fills @stop. */
static enum lw_status step_until(struct dbg_stepper *s, struct goal *goal, struct dbg_stop *stop,
                                 struct lw_error *err)
{
    enum lw_status status;
    uint64_t pc = 0;

    do {
        enum dbg_outcome outcome;

        status = dbg_stepper_step(s, &outcome, stop, err);
        if (status == LW_OK)
            status = dbg_stepper_look(s, outcome, &pc, stop, err);
    } while (status == LW_OK && stop->kind == DBG_STOP_NONE && !goal->reached(s, goal, pc));
    return status;
}

/* Calls step_until(), makes the stop, and prints a message about warps that a replay has run. With @lost, prints a message
 * about lanes that have left the stepped lane's split. */
static enum lw_status step_to(struct dbg_stepper *s, struct goal *goal, bool lost, struct dbg_stop *stop,
                              struct lw_error *err)
{
    uint64_t before = company(s);
    enum lw_status status = step_until(s, goal, stop, err);

    if (status == LW_OK && stop->kind == DBG_STOP_NONE)
        status = dbg_finish_stop(s->dbg, DBG_STOP_STEP, stop, err);
    if (status == LW_OK)
        dbg_stepper_report(s);
    if (status == LW_OK && lost)
        report_lost(s, before);
    return status;
}

/* ---- ranges ---------------------------------------------------------------------------- */

static bool out_of_range(const struct dbg_stepper *s, struct goal *goal, uint64_t pc)
{
    (void)s;
    return pc < goal->low || pc >= goal->high;
}

static enum lw_status step_range(struct dbg *dbg, dbg_thread_id id, uint64_t low,
                                 uint64_t high, bool locked, bool completes, struct dbg_stop *stop,
                                 struct lw_error *err)
{
    struct goal goal = {.reached = out_of_range, .low = low, .high = high};
    struct dbg_stepper s;
    enum lw_status status = dbg_stepper_init(&s, dbg, id, locked, err);
    /* After a step of one instruction (an empty range) a message about lanes that have left the split is not wanted. But
     * from a breakpoint, gdb begins `next` and `step` with a step of one instruction, so there the message is printed. */
    bool is_new = low != high || dbg->stop.kind == DBG_STOP_BREAKPOINT;

    s.completes = completes;
    if (status == LW_OK && dbg_watch_pending(dbg))
        return dbg_watch_stop(dbg, stop, err);
    return status != LW_OK ? status : step_to(&s, &goal, is_new, stop, err);
}

enum lw_status dbg_step_range(struct dbg *dbg, dbg_thread_id id, uint64_t low, uint64_t high,
                              bool locked, struct dbg_stop *stop, struct lw_error *err)
{
    enum lw_status status = dbg_run_begin(dbg, stop, err);

    if (status != LW_OK)
        return status;
    return dbg_run_end(dbg, step_range(dbg, id, low, high, locked, false, stop, err), stop, err);
}

enum lw_status dbg_step_out_of_wait(struct dbg *dbg, dbg_thread_id id, uint64_t low, uint64_t high, bool locked,
                                    struct dbg_stop *stop, struct lw_error *err)
{
    enum lw_status status = dbg_run_begin(dbg, stop, err);

    if (status != LW_OK)
        return status;
    return dbg_run_end(dbg, step_range(dbg, id, low, high, locked, true, stop, err), stop, err);
}

enum lw_status dbg_step(struct dbg *dbg, dbg_thread_id id, bool locked, struct dbg_stop *stop,
                        struct lw_error *err)
{
    /* Every pc is outside the empty range [0, 0), so the step ends after one instruction. */
    return dbg_step_range(dbg, id, 0, 0, locked, stop, err);
}

/* ---- lines ------------------------------------------------------------------------------ */

static bool on_another_line(const struct dbg_stepper *s, struct goal *goal, uint64_t pc)
{
    const struct isa_line *row;
    bool start, known = dbg_row_at(s->dbg, pc, &row, &start);

    if (s->depth < 0)
        return true; /* the lane has returned from the function in which the step began */
    if (s->depth > 0) {
        const struct isa_function *function = dbg_function_at(s->dbg, pc);

        if (goal->over || !known || function == NULL || s->depth > 1)
            return false;
        /* A step into a called function ends after the function's prologue. */
        if (goal->into != s->depth && pc == dbg_function_pc(s->dbg, function))
            goal->into = s->depth;
        return goal->into == s->depth && pc >= dbg_function_body(s->dbg, function);
    }
    goal->into = 0;
    return known && start && (row->line != goal->from->line || row->file != goal->from->file);
}

static enum lw_status step_line(struct dbg *dbg, dbg_thread_id id, bool over, bool locked,
                                struct dbg_stop *stop, struct lw_error *err)
{
    struct goal goal = {.reached = on_another_line, .over = over};
    struct dbg_thread thread;
    struct dbg_stepper s;
    enum lw_status status;
    bool start;

    if (!dbg_thread_get(dbg, id, &thread))
        return dbg_exited(dbg, id, err);
    if (!dbg_row_at(dbg, thread.location.pc, &goal.from, &start)) {
        dbg_message(dbg, "no source line is known here: stepped by one instruction");
        return step_range(dbg, id, 0, 0, locked, false, stop, err);
    }
    status = dbg_stepper_init(&s, dbg, id, locked, err);
    return status != LW_OK ? status : step_to(&s, &goal, true, stop, err);
}

enum lw_status dbg_step_line(struct dbg *dbg, dbg_thread_id id, bool over, bool locked,
                             struct dbg_stop *stop, struct lw_error *err)
{
    enum lw_status status = dbg_run_begin(dbg, stop, err);

    if (status != LW_OK)
        return status;
    return dbg_run_end(dbg, step_line(dbg, id, over, locked, stop, err), stop, err);
}

/* ---- calls -------------------------------------------------------------------------------- */

bool dbg_in_call(const struct dbg *dbg, uint64_t pc, int64_t call)
{
    struct dbg_inlined inlined[16];
    unsigned count = dbg_inlined_at(dbg, pc, inlined, LW_COUNT_OF(inlined));

    while (count > 0 && inlined[count - 1].die != call)
        count--;
    return count > 0;
}

static bool out_of_frame(const struct dbg_stepper *s, struct goal *goal, uint64_t pc)
{
    const int depth = -(int)goal->frame->frame;

    return s->depth < depth || (goal->frame->inlined && s->depth == depth &&
                                !dbg_in_call(s->dbg, pc, goal->frame->call));
}

static bool in_no_call(const struct dbg_stepper *s, struct goal *goal, uint64_t pc)
{
    (void)goal;
    (void)pc;
    return s->depth <= 0;
}

static enum lw_status finish(struct dbg *dbg, dbg_thread_id id, struct dbg_stop *stop,
                             struct lw_error *err)
{
    const struct isa_function *function;
    struct dbg_frame_location location = {.call = -1};
    struct dbg_frame frame;
    struct dbg_thread thread;
    struct goal goal = {.reached = out_of_frame, .frame = &location};
    struct dbg_stepper s;
    enum lw_status status;

    if (!dbg_thread_get(dbg, id, &thread))
        return dbg_exited(dbg, id, err);
    /* Finds the frame that the user has selected: the run ends when the lane has returned from it. */
    (void)!dbg_frame_location_at(dbg, id, thread.lane, dbg_frame_number(dbg, id, thread.lane), &location);
    function = dbg_frame_at(dbg, id, thread.lane, location.frame, &frame) ? frame.function : NULL;
    if (function != NULL && function->kernel && !location.inlined) {
        char name[256];

        dbg_function_short_name(dbg, function, name, sizeof name);
        return LW_FAIL(err, LW_ESTATE,
                       "%s is the kernel and has no caller: `continue` runs to its end", name);
    }
    status = dbg_stepper_init(&s, dbg, id, false, err);
    return status != LW_OK ? status : step_to(&s, &goal, true, stop, err);
}

enum lw_status dbg_next_insn(struct dbg *dbg, dbg_thread_id id, struct dbg_stop *stop,
                             struct lw_error *err)
{
    struct goal goal = {.reached = in_no_call};
    struct dbg_stepper s;
    enum lw_status status = dbg_run_begin(dbg, stop, err);

    if (status == LW_OK)
        status = dbg_stepper_init(&s, dbg, id, false, err);
    if (status != LW_OK)
        return status;
    status = step_until(&s, &goal, stop, err);
    if (status == LW_OK)
        dbg_stepper_report(&s);
    if (status == LW_OK && stop->kind == DBG_STOP_NONE)
        status = dbg_finish_stop(dbg, DBG_STOP_STEP, stop, err);
    return dbg_run_end(dbg, status, stop, err);
}

enum lw_status dbg_finish(struct dbg *dbg, dbg_thread_id id, struct dbg_stop *stop,
                          struct lw_error *err)
{
    enum lw_status status = dbg_run_begin(dbg, stop, err);

    return status != LW_OK ? status : dbg_run_end(dbg, finish(dbg, id, stop, err), stop, err);
}
