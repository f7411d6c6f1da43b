/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Conditions of gdb's watchpoints. gdb sends the conditions of breakpoints to the stub, but evaluates the conditions of
 * watchpoints itself, at each hit, with some ten packets. The Python file compiles them, as gdb does for breakpoints, and
 * sends them, so that the stub reports only hits with a true condition. gdb still evaluates the condition at each
 * reported hit, and prints as the old value the value that it read at the last reported hit. To make that value right, the
 * stub first reports the last hit with a false condition, if there was one: gdb reads the value, finds the condition false and
 * continues.
 */
#include "gdbstub/rsp_priv.h"

#include <inttypes.h>
#include <stdlib.h>

enum { WATCHED_BYTES = 64, MOST_TESTS = 256, NOTE_SILENT = 4096 };
/* How the conditions of a watchpoint are evaluated. FORGET: there is no condition; CLIENT: gdb evaluates them; HERE: the stub
 * evaluates them. */
enum mode { MODE_FORGET, MODE_CLIENT, MODE_HERE };

/** Bytecode of a condition. [low, high) is the code of the block that declares its variables; high is 0 if the condition
 *  can be evaluated at any pc. */
struct condition {
    struct condition *next;
    uint64_t low, high;
    size_t size;
    uint8_t code[];
};

/* Conditions of the watchpoints of one range and type. */
struct rsp_test {
    struct rsp *rsp;
    uint64_t address, size;
    unsigned type;
    enum mode mode;
    bool unheard; /* gdb has continued from the last hit without showing it */
    struct condition *conditions;
    uint8_t seen[WATCHED_BYTES]; /* value of the range that gdb takes for the old value at the next hit */
    struct dbg_passed passed, before; /* last and second to last hit with a false condition during forward execution */
};

static void conditions_free(struct condition *c)
{
    while (c != NULL) {
        struct condition *next = c->next;

        free(c);
        c = next;
    }
}

void rsp_tests_free(struct rsp *rsp)
{
    for (size_t i = 0; i < rsp->test_count; i++) {
        conditions_free(rsp->tests[i]->conditions);
        free(rsp->tests[i]);
    }
    free(rsp->tests);
}

static struct rsp_test *test_find(const struct rsp *rsp, uint64_t address, uint64_t size, unsigned type)
{
    for (size_t i = 0; i < rsp->test_count; i++) {
        struct rsp_test *test = rsp->tests[i];

        if (test->address == address && test->size == size && test->type == type)
            return test;
    }
    return NULL;
}

static struct rsp_test *test_of(const struct rsp *rsp, const struct rsp_point *point)
{
    return point != NULL && point->size != 0 ? test_find(rsp, point->address, point->size, point->type) : NULL;
}

static struct rsp_test *test_make(struct rsp *rsp, uint64_t address, uint64_t size, unsigned type)
{
    struct rsp_test *test = test_find(rsp, address, size, type);

    if (test != NULL || rsp->test_count == MOST_TESTS ||
        !lw_grow(&rsp->tests, &rsp->test_capacity, rsp->test_count + 1, sizeof *rsp->tests))
        return test;
    test = calloc(1, sizeof *test);
    if (test == NULL)
        return NULL;
    *test = (struct rsp_test){.rsp = rsp, .address = address, .size = size, .type = type};
    rsp->tests[rsp->test_count++] = test;
    return test;
}

/* ---- evaluation of conditions -------------------------------------------------------------- */

struct view {
    struct rsp *rsp;
    dbg_thread_id id;
    bool above; /* true: the condition is evaluated in a caller of the innermost frame; the following members are the caller's
                 * pc and sp */
    uint64_t pc, sp;
};

static bool view_reg(void *context, unsigned number, uint64_t *value)
{
    const struct view *view = context;
    const struct rsp_target *target = &view->rsp->target;
    uint8_t data[RSP_REG_BYTES] = {0};

    if (number >= target->count || target->regs[number].bytes > 8)
        return false;
    if (view->above && target->regs[number].role != RSP_ROLE_DEBUG) {
        *value = number == target->arch->pc ? view->pc : view->sp;
        return number == target->arch->pc || target->regs[number].role == RSP_ROLE_SP;
    }
    if (rsp_reg_read(target, view->rsp->dbg, view->id, number, data, NULL) != LW_OK)
        return false;
    *value = lw_get64(data);
    return true;
}

static bool view_memory(void *context, uint64_t address, void *data, unsigned bytes)
{
    const struct view *view = context;

    return rsp_mem_read(view->rsp, view->id, address, data, bytes) == bytes;
}

/* Finds the frame in which gdb would evaluate the condition: the lane's innermost frame whose pc is in the condition's
 * block. Returns false if there is no such frame, and true without a frame if the condition can be evaluated at any pc. */
static bool find_frame(struct view *view, const struct condition *c, unsigned lane)
{
    struct dbg_frame frame;

    for (unsigned i = 0; c->high != 0; i++) {
        if (!dbg_frame_at(view->rsp->dbg, view->id, lane, i, &frame))
            return false;
        if (frame.pc - (i != 0) < c->low || frame.pc - (i != 0) >= c->high)
            continue;
        view->above = i != 0;
        view->pc = frame.pc;
        view->sp = frame.cfa - 8;
        return true;
    }
    return true;
}

/* Returns true if a condition is true, or cannot be evaluated here. In both cases the hit is reported, and gdb evaluates the
 * condition again. */
static bool holds(const struct rsp_test *test, dbg_thread_id id, unsigned lane)
{
    static const struct rsp_agent_ops ops = {.reg = view_reg, .memory = view_memory};

    for (const struct condition *c = test->conditions; c != NULL; c = c->next) {
        struct view view = {.rsp = test->rsp, .id = id};
        uint64_t value = 0;

        if (!find_frame(&view, c, lane) || !rsp_agent_eval(c->code, c->size, &ops, &view, &value) || value != 0)
            return true;
    }
    return false;
}

static bool test_stops(void *context, struct dbg *dbg, dbg_thread_id id, unsigned lane)
{
    struct rsp_test *test = context;
    struct emu_history_info info;

    /* Without history the machine cannot go back to an earlier hit, so all hits are reported. */
    if (test->mode != MODE_HERE || !dbg_history_info(dbg, &info) || !info.kept || holds(test, id, lane))
        return true;
    if (!dbg_is_searching_back(dbg)) {
        if (!test->passed.there || test->passed.at != info.now - 1)
            test->before = test->passed;
        test->passed = (struct dbg_passed){info.now - 1, id, lane, true};
    }
    return false;
}

void rsp_test_attach(struct rsp *rsp, const struct rsp_point *point)
{
    struct rsp_test *test = test_of(rsp, point);
    bool here = test != NULL && test->mode == MODE_HERE;

    if (point->size != 0)
        (void)!dbg_stoppoint_set_condition(rsp->dbg, point->id, here ? test_stops : NULL, here ? test : NULL, NULL,
                                       NULL); /* cannot fail, because the stoppoint exists */
}

/* ---- the packet ------------------------------------------------------------------------------ */

/* Parses conditions of the form ";LOW,HIGH,HEX". Returns false if the text is empty or malformed, or if the host has no
 * memory. */
static bool parse(const char *text, const char *end, struct condition **out)
{
    struct condition *first = NULL, **tail = &first;

    while (text < end) {
        uint64_t low, high;
        struct condition *c;
        const char *code;
        size_t digits;

        if (*text++ != ';' || !rsp_hex_number(&text, end, &low) || text == end || *text++ != ',' ||
            !rsp_hex_number(&text, end, &high) || text == end || *text++ != ',')
            break;
        for (code = text; text < end && *text != ';'; text++)
            continue;
        digits = (size_t)(text - code);
        if (digits == 0 || (c = calloc(1, sizeof *c + digits / 2)) == NULL)
            break;
        *c = (struct condition){.low = low, .high = high, .size = digits / 2};
        *tail = c;
        tail = &c->next;
        if (!rsp_hex_decode(code, digits, c->code))
            break;
        if (text == end) {
            *out = first;
            return true;
        }
    }
    conditions_free(first);
    return false;
}

/* Handles qGpuWatchIf:ADDRESS,SIZE,TYPE;MODE[;LOW,HIGH,CODE]... MODE 2: a hit of this watchpoint is reported if one of
 * the conditions is true. MODE 1: gdb evaluates the conditions itself, and has not sent them. MODE 0: there is no condition. */
void rsp_do_watch_if(struct rsp *rsp, const struct rsp_args *args)
{
    struct condition *conditions = NULL;
    struct rsp_test *test;

    if (args->n[1] == 0 || args->n[1] > WATCHED_BYTES || args->n[2] < 2 || args->n[2] > 4 || args->n[3] > MODE_HERE ||
        (args->n[3] == MODE_HERE) != (args->rest_size != 0) ||
        (args->rest_size != 0 && !parse(args->rest, args->rest + args->rest_size, &conditions)) ||
        (test = test_make(rsp, args->n[0], args->n[1], (unsigned)args->n[2])) == NULL) {
        conditions_free(conditions);
        lw_put(&rsp->reply.sink, "E01");
        return;
    }
    if (test->mode != MODE_HERE) /* gdb has read the present value, because each hit was reported until now */
        (void)dbg_mem_read(rsp->dbg, dbg_focus_get(rsp->dbg, DBG_FOCUS_VIEW), test->address, test->seen, test->size);
    conditions_free(test->conditions);
    test->conditions = conditions;
    test->mode = (enum mode)args->n[3];
    test->unheard = test->passed.there = test->before.there = false;
    for (size_t i = 0; i < rsp->point_count; i++)
        if (test_of(rsp, &rsp->points[i]) == test)
            rsp_test_attach(rsp, &rsp->points[i]);
    lw_put(&rsp->reply.sink, "OK");
}

/* ---- stops ----------------------------------------------------------------------------------- */

/** Position that the stub may report before the hit, so that gdb reads the value there and finds the condition false. */
struct candidate {
    struct dbg_passed passed; /* lane to show at the position */
    uint64_t at;              /* instruction count of the position */
    bool there;               /* the candidate exists */
};

/* Moves the machine to a candidate. Returns true if the watched bytes have @value there and the condition is false. */
static bool show_passed(struct rsp *rsp, const struct rsp_test *test, const struct rsp_point *point,
                        const struct candidate *candidate, const uint8_t *value)
{
    const struct dbg_passed *passed = &candidate->passed;
    struct dbg_thread thread;
    struct dbg_stop there;
    uint8_t now[WATCHED_BYTES] = {0};

    return dbg_goto(rsp->dbg, candidate->at, &there, NULL) == LW_OK && there.kind == DBG_STOP_STEP &&
           dbg_thread_get(rsp->dbg, passed->thread, &thread) && (thread.live >> passed->lane & 1) != 0 &&
           dbg_lane_set(rsp->dbg, passed->thread, passed->lane, NULL) == LW_OK &&
           dbg_mem_read(rsp->dbg, passed->thread, point->location, now, point->size) == point->size &&
           memcmp(now, value, point->size) == 0 && !holds(test, passed->thread, passed->lane);
}

/* Returns the last hit with a false condition during forward execution, except a hit at instruction @at itself. */
static struct dbg_passed last_passed(const struct rsp_test *test, uint64_t at)
{
    return test->passed.at != at ? test->passed : test->before;
}

bool rsp_test_before(struct rsp *rsp, bool back, uint64_t began, struct dbg_stop *stop)
{
    const struct rsp_point *point = stop->kind == DBG_STOP_WATCH ? rsp_point_find(rsp, stop->point) : NULL;
    struct rsp_test *test = test_of(rsp, point);
    struct emu_history_info info;
    struct dbg_stop moved;
    const uint8_t *before, *after;

    if (test == NULL || test->mode != MODE_HERE || !rsp_point_watches(point) || stop->watch_bytes != point->size ||
        !dbg_history_info(rsp->dbg, &info) || !info.kept)
        return false;
    before = back ? stop->new_bytes : stop->old_bytes;
    after = back ? stop->old_bytes : stop->new_bytes;
    if (memcmp(test->seen, before, point->size) != 0) {
        struct candidate candidates[3] = {{.passed = back ? stop->passed : last_passed(test, info.now - 1)}};
        bool dropped = memcmp(test->seen, after, point->size) == 0;

        candidates[0].at = candidates[0].passed.at + !back;
        candidates[0].there = candidates[0].passed.there && (back ? candidates[0].at > info.now && candidates[0].at <= began
                                                                  : candidates[0].at < info.now && candidates[0].at > began);
        /* If there was no such hit since the command began, two positions are tried: before the instruction of the hit, and at
         * the start of the command. If a lane is at a breakpoint at one of these positions, it hits this breakpoint again when
         * it runs. On the way forward, these two positions are therefore used only if gdb would otherwise ignore the hit,
         * because the value that gdb has read equals the new value. */
        candidates[1] = (struct candidate){{0, stop->thread, stop->lane, true}, info.now + back - !back, back || dropped};
        candidates[2] = (struct candidate){candidates[1].passed, began, back || dropped};
        for (unsigned i = 0; i < LW_COUNT_OF(candidates); i++)
            if (candidates[i].there && candidates[i].at != info.now &&
                show_passed(rsp, test, point, &candidates[i], before)) {
                memcpy(test->seen, before, point->size);
                stop->thread = candidates[i].passed.thread;
                stop->lane = candidates[i].passed.lane;
                stop->text[0] = '\0';
                return true;
            }
        /* No candidate is suitable, so the machine returns to the hit, and the hit is reported. */
        (void)!dbg_goto(rsp->dbg, info.now, &moved, NULL);
        (void)!dbg_lane_set(rsp->dbg, stop->thread, stop->lane, NULL);
    }
    memcpy(test->seen, after, point->size);
    return false;
}

void rsp_test_reported(struct rsp *rsp, const struct dbg_stop *stop)
{
    const struct rsp_point *point = stop->kind == DBG_STOP_WATCH ? rsp_point_find(rsp, stop->point) : NULL;

    rsp->last_watch = point != NULL ? (struct rsp_watch_report){point->address, point->size, point->type} : (struct rsp_watch_report){0};
}

bool rsp_test_is_silent(const struct rsp *rsp, const struct dbg_stop *stop)
{
    const struct rsp_test *test =
        stop->kind == DBG_STOP_WATCH ? test_of(rsp, rsp_point_find(rsp, stop->point)) : NULL;

    return test != NULL && (test->mode == MODE_CLIENT || (test->mode == MODE_FORGET && test->unheard));
}

void rsp_test_resumes(struct rsp *rsp)
{
    struct rsp_test *test;

    if (rsp->shown || rsp->lldb)
        rsp->silent = 0;
    if (rsp->last_watch.size == 0 || rsp->lldb)
        return;
    test = rsp->shown ? test_find(rsp, rsp->last_watch.address, rsp->last_watch.size, rsp->last_watch.type)
                      : test_make(rsp, rsp->last_watch.address, rsp->last_watch.size, rsp->last_watch.type);
    if (test != NULL)
        test->unheard = !rsp->shown;
    if (!rsp->shown)
        rsp->silent++;
    rsp->last_watch.size = 0;
}

void rsp_test_progress(struct rsp *rsp)
{
    struct emu_history_info info;

    if (rsp->silent == 0 || rsp->silent % NOTE_SILENT != 0 || !dbg_history_info(rsp->dbg, &info))
        return;
    lw_printf(&rsp->messages, "gdb has continued after %u watchpoint hits with a false condition, up to instruction %" PRIu64 "; Ctrl-C stops it%s\n", rsp->silent, info.now,
              rsp->python ? "" : "; `monitor watch EXPR if CONDITION` is faster, as Lanewise tests the condition");
}
