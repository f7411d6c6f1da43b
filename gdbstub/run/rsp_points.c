/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Z packets: breakpoints, with conditions and commands as agent expressions, and watchpoints. When a warp reaches a
 * breakpoint, debug/ calls point_stops() once for each active lane, and first moves the focus to this lane. A condition thus
 * reads the debug address ranges and registers of that lane, and when the stop is reported, the lane that hit is in focus.
 */
#include "gdbstub/rsp_priv.h"

#include <stdlib.h>


struct expression {
    struct expression *next;
    size_t size;
    uint8_t code[];
};

/* Conditions and commands of a Z packet. */
struct point_code {
    struct rsp *rsp;
    struct expression *conditions; /* a lane hits the breakpoint if any condition is true; NULL: every lane hits it */
    struct expression *commands;   /* commands of dprintf: a lane that hits executes them, and does not stop */
    bool lent;                     /* the conditions are from qGpuBreakIf, and the Z packet had none */
};

/* Conditions from qGpuBreakIf; @text has the conditions in the form of a Z packet. */
struct rsp_break_if {
    uint64_t address;
    char *text;
    size_t size;
};

static void expressions_free(struct expression *e)
{
    while (e != NULL) {
        struct expression *next = e->next;

        free(e);
        e = next;
    }
}

static void code_release(void *context)
{
    struct point_code *code = context;

    if (code == NULL)
        return;
    expressions_free(code->conditions);
    expressions_free(code->commands);
    free(code);
}

struct lane_view {
    struct rsp *rsp;
    dbg_thread_id id;
};

static bool lane_reg(void *context, unsigned number, uint64_t *value)
{
    struct lane_view *view = context;
    const struct rsp_target *target = &view->rsp->target;
    uint8_t data[RSP_REG_BYTES] = {0};

    if (number >= target->count || target->regs[number].bytes > 8 ||
        rsp_reg_read(target, view->rsp->dbg, view->id, number, data, NULL) != LW_OK)
        return false;
    *value = lw_get64(data);
    return true;
}

static bool lane_memory(void *context, uint64_t address, void *data, unsigned bytes)
{
    struct lane_view *view = context;

    return rsp_mem_read(view->rsp, view->id, address, data, bytes) == bytes;
}

static void lane_print(void *context, const char *format, size_t size, const uint64_t *args,
                       unsigned count)
{
    struct lane_view *view = context;

    rsp_format(view->rsp, view->id, format, size, args, count);
}

/* Returns true if at least one condition is true, or if the breakpoint has no condition. Several conditions belong to several
 * breakpoints of gdb at one address. */
static bool holds(const struct point_code *code, struct lane_view *view)
{
    static const struct rsp_agent_ops ops = {.reg = lane_reg, .memory = lane_memory};

    for (const struct expression *e = code->conditions; e != NULL; e = e->next) {
        uint64_t value = 0;

        /* A condition that cannot be evaluated here counts as true: gdb evaluates it again at the stop. */
        if (!rsp_agent_eval(e->code, e->size, &ops, view, &value) || value != 0)
            return true;
    }
    return code->conditions == NULL;
}

static bool condition_holds(const struct rsp_point *point, dbg_thread_id id)
{
    const struct point_code *code = point->code;
    struct lane_view view = {.id = id};

    if (code == NULL || code->conditions == NULL)
        return false;
    view.rsp = code->rsp;
    return holds(code, &view);
}

bool rsp_point_is_unhit(const struct rsp *rsp, dbg_thread_id id, uint64_t pc, const struct dbg_stop *stop)
{
    const struct rsp_point *point;
    struct dbg_thread thread;
    uint64_t lane;

    if (rsp->lldb || stop->kind != DBG_STOP_STEP || stop->thread != id || !rsp_arrivals_is_unset(rsp, pc) ||
        !dbg_thread_get(rsp->dbg, id, &thread) || !thread.ready)
        return false;
    lane = UINT64_C(1) << thread.lane;
    point = rsp_point_at(rsp, thread.location.pc);
    return point != NULL && dbg_executing_lanes(rsp->dbg, id, thread.location.pc, lane) == 0 &&
           condition_holds(point, id);
}

uint64_t rsp_point_others(const struct rsp_point *point, dbg_thread_id id, unsigned lane,
                          uint64_t lanes)
{
    static const struct rsp_agent_ops ops = {.reg = lane_reg, .memory = lane_memory};
    const struct point_code *code = point->code;
    struct lane_view view = {.id = id};
    uint64_t others = 0, value;

    if (code == NULL || code->conditions == NULL || code->conditions->next == NULL)
        return 0;
    view.rsp = code->rsp;
    lanes |= UINT64_C(1) << lane;
    for (const struct expression *e = code->conditions; e != NULL; e = e->next) {
        uint64_t hold = 0;

        for (LW_EACH_BIT(l, lanes)) {
            value = 0;
            if (dbg_lane_set(view.rsp->dbg, id, (unsigned)l, NULL) == LW_OK &&
                (!rsp_agent_eval(e->code, e->size, &ops, &view, &value) || value != 0))
                hold |= UINT64_C(1) << l;
        }
        if ((hold >> lane & 1) == 0)
            others |= hold;
    }
    (void)!dbg_lane_set(view.rsp->dbg, id, lane, NULL); /* cannot fail: a lane that has hit the breakpoint is live */
    return others;
}

static bool point_stops(void *context, struct dbg *dbg, dbg_thread_id id, unsigned lane)
{
    static const struct rsp_agent_ops ops = {
        .reg = lane_reg, .memory = lane_memory, .print = lane_print};
    const struct point_code *code = context;
    struct lane_view view = {.rsp = code->rsp, .id = id};

    if (lane != 0 && code->conditions != NULL && !rsp_has(code->rsp, RSP_F_COND_LANES))
        return false;
    if (!holds(code, &view))
        return false;
    /* During a reverse search, dprintf commands do not print again. */
    for (const struct expression *e = code->commands; e != NULL && !dbg_is_searching_back(dbg);
         e = e->next)
        if (!rsp_agent_eval(e->code, e->size, &ops, &view, NULL))
            lw_put(&code->rsp->messages, "dprintf: an argument cannot be read at this location\n");
    return code->commands == NULL;
}

/* Parses "XSIZE,BYTES" at *@text, both in hex, and appends the expression at **@tail, the end of a list. Advances
 * *@text past the text, and *@tail to the new end. Returns false if the text is malformed, or if the host has no
 * memory. */
static bool expression_parse(const char **text, const char *end, struct expression ***tail)
{
    struct expression *e;
    uint64_t bytes;
    const char *p = *text;

    if (p == end || *p++ != 'X' || !rsp_hex_number(&p, end, &bytes) || p == end ||
        *p++ != ',' || bytes == 0 || bytes > (uint64_t)(end - p) / 2)
        return false;
    e = calloc(1, sizeof *e + (size_t)bytes);
    if (e == NULL)
        return false;
    e->size = (size_t)bytes;
    **tail = e;
    *tail = &e->next;
    if (!rsp_hex_decode(p, e->size * 2, e->code))
        return false;
    *text = p + e->size * 2;
    return true;
}

/* Parses conditions and commands such as ";X10,25f0..X..;cmds:1,X..,X.." into *@out, which is NULL for an empty text.
 * Returns false if the text is malformed. Gdb 13 writes a semicolon only before the first of several expressions, but its
 * manual requires one before each. Both forms are accepted, and also commas between commands. */
static bool code_parse(struct rsp *rsp, const char *text, size_t size, struct point_code **out)
{
    static const char commands[] = "cmds:";
    const char *p = text, *end = text + size;
    struct point_code *code;
    struct expression **tail;
    bool in_commands = false;

    if (size == 0) {
        *out = NULL;
        return true;
    }
    code = calloc(1, sizeof *code);
    if (code == NULL)
        return false;
    code->rsp = rsp;
    tail = &code->conditions;
    while (p < end) {
        p += *p == ';' || (*p == ',' && in_commands);
        if ((size_t)(end - p) >= sizeof commands - 1 &&
            memcmp(p, commands, sizeof commands - 1) == 0) {
            uint64_t persist; /* ignored: breakpoints end with their connection */

            p += sizeof commands - 1;
            if (!rsp_has(rsp, RSP_F_DPRINTF) || in_commands ||
                !rsp_hex_number(&p, end, &persist) || p == end || *p++ != ',' || p == end)
                goto malformed;
            tail = &code->commands;
            in_commands = true;
        } else if (!in_commands && !rsp_has(rsp, RSP_F_CONDITIONS)) {
            goto malformed;
        }
        if (!expression_parse(&p, end, &tail))
            goto malformed;
    }
    *out = code;
    return true;
malformed:
    code_release(code);
    return false;
}

/* If gdb has sent a breakpoint without a condition, attaches to it the conditions that qGpuBreakIf has set for its address, if
 * there are any. */
static void lend(struct rsp *rsp, struct rsp_point *point)
{
    for (size_t i = 0; i < rsp->break_if_count && point->code == NULL && point->type < RSP_Z_WATCH; i++) {
        struct point_code *code = NULL;

        if (rsp->break_ifs[i].address != point->address ||
            !code_parse(rsp, rsp->break_ifs[i].text, rsp->break_ifs[i].size, &code) || code == NULL)
            continue;
        code->lent = true;
        if (dbg_stoppoint_set_condition(rsp->dbg, point->id, point_stops, code, code_release, NULL) == LW_OK)
            point->code = code;
        else
            code_release(code); /* the stoppoint does not exist, because `monitor` has removed it */
    }
}

static void break_ifs_clear(struct rsp *rsp)
{
    for (size_t i = 0; i < rsp->point_count; i++) {
        struct rsp_point *point = &rsp->points[i];
        const struct point_code *code = point->code;

        if (code == NULL || !code->lent)
            continue;
        point->code = NULL;
        (void)!dbg_stoppoint_set_condition(rsp->dbg, point->id, NULL, NULL, NULL, NULL); /* fails, harmlessly, if
                                                                                          * `monitor` has removed it */
    }
    for (size_t i = 0; i < rsp->break_if_count; i++)
        free(rsp->break_ifs[i].text);
    rsp->break_if_count = 0;
}

/* Handles qGpuBreakIf:ADDRESS;X3,220027;X...: sets the conditions, which have the form of a Z packet, for breakpoints that
 * gdb sends at the address without conditions. The packet without an address, qGpuBreakIf:, removes all these conditions. */
void rsp_do_break_if(struct rsp *rsp, const struct rsp_args *args)
{
    enum { MOST = 256 };
    struct point_code *code = NULL;
    struct rsp_break_if lent = {args->n[0], NULL, args->rest_size};
    bool is_sound;

    if (args->rest_size == 0 && args->n[0] == 0) {
        break_ifs_clear(rsp);
        lw_put(&rsp->reply.sink, "OK");
        return;
    }
    is_sound = code_parse(rsp, args->rest, args->rest_size, &code) && code != NULL && code->commands == NULL;
    code_release(code);
    if (!is_sound || rsp->break_if_count == MOST || (lent.text = malloc(lent.size)) == NULL ||
        !lw_grow(&rsp->break_ifs, &rsp->break_if_capacity, rsp->break_if_count + 1, sizeof *rsp->break_ifs)) {
        free(lent.text);
        lw_put(&rsp->reply.sink, "E01");
        return;
    }
    memcpy(lent.text, args->rest, lent.size);
    rsp->break_ifs[rsp->break_if_count++] = lent;
    for (size_t i = 0; i < rsp->point_count; i++)
        lend(rsp, &rsp->points[i]);
    lw_put(&rsp->reply.sink, "OK");
}

const struct rsp_point *rsp_point_find(const struct rsp *rsp, unsigned id)
{
    for (size_t i = 0; i < rsp->point_count; i++)
        if (rsp->points[i].id == id)
            return &rsp->points[i];
    return NULL;
}

const char *rsp_point_reason(const struct rsp *rsp, const struct rsp_point *point)
{
    switch (point->type) {
    case RSP_Z_SOFTWARE: return rsp->swbreak ? "swbreak" : NULL;
    case RSP_Z_HARDWARE: return rsp->hwbreak ? "hwbreak" : NULL;
    case RSP_Z_WATCH: return "watch";
    case RSP_Z_RWATCH: return "rwatch";
    default: return "awatch";
    }
}

static bool point_drop(struct rsp *rsp, const struct rsp_point *like)
{
    for (size_t i = 0; i < rsp->point_count; i++) {
        struct rsp_point *point = &rsp->points[i];

        if (point->address != like->address || point->type != like->type ||
            point->size != like->size)
            continue;
        /* This fails, harmlessly, if `monitor` has already removed the stoppoint. */
        (void)!dbg_stoppoint_remove(rsp->dbg, point->id, NULL);
        *point = rsp->points[--rsp->point_count];
        return true;
    }
    return false;
}

static struct rsp_point point_of(const struct rsp_args *args, unsigned type)
{
    struct rsp_point point = {.address = args->n[0], .type = type};

    /* For a breakpoint, this argument is not a size but a kind of breakpoint instruction of the target architecture. */
    if (type >= RSP_Z_WATCH)
        point.size = args->n[1];
    return point;
}

/* Returns the address of a watchpoint, with the top byte restored from gdb's last read at this address, because gdb may have
 * dropped that byte. */
static uint64_t window_of(const struct rsp *rsp, const struct rsp_point *point)
{
    uint64_t location = point->address, time = 0;

    if (!rsp->target.arch->watch_low || !rsp_has(rsp, RSP_F_WATCH_WINDOWS) || location >> 56 != 0)
        return location;
    for (size_t i = 0; i < LW_COUNT_OF(rsp->windows); i++) {
        uint64_t low = rsp->windows[i].address & lw_mask(56);

        if (rsp->windows[i].time > time && point->address >= low &&
            point->address - low < rsp->windows[i].size &&
            rsp->windows[i].size - (point->address - low) >= point->size) {
            time = rsp->windows[i].time;
            location = rsp->windows[i].address + (point->address - low);
        }
    }
    return location;
}

static const unsigned access_of[] = {[RSP_Z_WATCH] = DBG_ACCESS_WRITE,
                                     [RSP_Z_RWATCH] = DBG_ACCESS_READ,
                                     [RSP_Z_AWATCH] = DBG_ACCESS_BOTH};

/* Returns the last recorded watched lane whose range contains the whole watchpoint, or NULL if there is none. The range
 * may be larger than the watchpoint, because gdb watches only a part of what the user named, for example the bytes of a
 * bit field. */
static const struct rsp_watch_lane *pin_find(const struct rsp *rsp, const struct rsp_point *point)
{
    unsigned count = LW_COUNT_OF(rsp->pins);

    for (unsigned i = 1; i <= count; i++) {
        const struct rsp_watch_lane *pin = &rsp->pins[(rsp->pin_next + count - i) % count];

        if (pin->type == point->type && point->location >= pin->address &&
            point->location - pin->address < pin->size &&
            pin->size - (point->location - pin->address) >= point->size)
            return pin;
    }
    return NULL;
}

/* Handles qGpuWatch:THREAD;ADDRESS,SIZE,TYPE: the focus lane of the thread becomes the watched lane of a watchpoint that is
 * set on this range. The reply names the lane, or the block for shared memory, and is empty for memory that all threads share.
 * With TYPE 0 the packet only queries this name, and no lane becomes a watched lane. */
void rsp_do_watch_lane(struct rsp *rsp, const struct rsp_args *args)
{
    struct rsp_watch_lane pin = {args->n[1], args->n[2], (unsigned)args->n[3],
                          {args->n[0], dbg_lane_get(rsp->dbg, args->n[0])}};
    struct lw_error err = {0};
    struct dbg_thread thread;
    struct lw_buffer text;
    bool is_lanes = pin.address < ISA_SHARED_BASE || pin.address >= ISA_LOCAL_BASE;
    unsigned id;

    if ((pin.type != 0 && args->n[3] < RSP_Z_WATCH) || args->n[3] > RSP_Z_AWATCH || pin.size == 0 || pin.size > 64) {
        lw_put(&rsp->reply.sink, "E01");
        return;
    }
    if ((pin.address >= ISA_CONST_BASE && pin.address >> 56 < 0xF0) ||
        !dbg_thread_get(rsp->dbg, pin.lane_ref.id, &thread))
        return;
    /* The watchpoint is added and removed again, so that an error is reported now, and not when the run resumes. */
    if (dbg_watch_add_of(rsp->dbg, DBG_OWNER_SHELL, &pin.lane_ref, pin.address, (unsigned)pin.size,
                         pin.type != 0 ? access_of[pin.type] : DBG_ACCESS_BOTH, &id, &err) != LW_OK) {
        rsp_put_error(&rsp->reply, err.text);
        return;
    }
    (void)!dbg_stoppoint_remove(rsp->dbg, id, NULL);
    if (pin.type != 0)
        rsp->pins[rsp->pin_next++ % LW_COUNT_OF(rsp->pins)] = pin;
    lw_buffer_init(&text);
    if (is_lanes)
        dbg_thread_name(rsp->dbg, &thread, &text.sink);
    else
        lw_printf(&text.sink, "block(%u,%u,%u)", thread.block_index[0], thread.block_index[1],
                  thread.block_index[2]);
    rsp_put_hex(&rsp->reply, text.text, text.size);
    lw_buffer_fini(&text);
}

static enum lw_status point_make(struct rsp *rsp, struct rsp_point *point, struct lw_error *err)
{
    const struct rsp_watch_lane *pin;

    if (point->type < RSP_Z_WATCH)
        return dbg_breakpoint_add(rsp->dbg, DBG_OWNER_GDB, point->address, NULL, false, &point->id,
                             err);
    if (point->size == 0 || point->size > 64)
        return LW_FAIL(err, LW_ERANGE, "a watchpoint covers 1 to 64 bytes, not %llu",
                       (unsigned long long)point->size);
    point->location = window_of(rsp, point);
    pin = pin_find(rsp, point);
    if (pin != NULL)
        return dbg_watch_add_of(rsp->dbg, DBG_OWNER_GDB, &pin->lane_ref, point->location,
                                (unsigned)point->size, access_of[point->type], &point->id, err);
    /* gdb sends no Hg packet before a Z packet. A watchpoint on memory or registers of one warp is therefore for the thread of
     * the last Hg packet. */
    return dbg_watch_add(rsp->dbg, DBG_OWNER_GDB, rsp_view_is_exited(rsp) ? rsp_focus(rsp) : rsp_view(rsp),
                         point->location, (unsigned)point->size, access_of[point->type], NULL, NULL,
                         &point->id, err);
}

/* Replies with an error and prints the error on the terminal. gdb does not show it: gdb only says that it could not insert a
 * breakpoint, and guesses a reason. */
static void refuse(struct rsp *rsp, unsigned type, const struct lw_error *err)
{
    rsp_put_error(&rsp->reply, err->text);
    if (rsp->config.terminal != NULL)
        lw_printf(rsp->config.terminal, "gdb stub: cannot insert a %s: %s\n",
                  type < RSP_Z_WATCH ? "breakpoint" : "watchpoint", err->text);
}

void rsp_do_point_add(struct rsp *rsp, const struct rsp_args *args, unsigned type)
{
    struct point_code *code = NULL;
    struct lw_error err = {0};
    struct rsp_point point = point_of(args, type);

    if (rsp->point_count == RSP_MAX_POINTS ||
        !code_parse(rsp, args->rest, args->rest_size, &code)) {
        lw_put(&rsp->reply.sink, "E01");
        return;
    }
    /* `until` and `advance` in a kernel insert a breakpoint at the kernel's caller, <launch>. No lane executes there, so
     * debug/ gets no stoppoint. */
    if (type < RSP_Z_WATCH && args->n[0] == DBG_LAUNCH_PC) {
        code_release(code);
        rsp->launch_lifted = false;
        rsp->launch_wanted = true;
        lw_put(&rsp->reply.sink, "OK");
        return;
    }
    rsp_arrivals_lift(rsp, args->n[0], false);
    rsp->reported.id = 0;
    /* If only the condition has changed, gdb sends the Z packet again, without a preceding z packet. */
    point_drop(rsp, &point);
    if (!lw_grow(&rsp->points, &rsp->point_capacity, rsp->point_count + 1,
                 sizeof *rsp->points) ||
        point_make(rsp, &point, &err) != LW_OK) {
        code_release(code);
        refuse(rsp, type, &err);
        return;
    }
    if (code != NULL && dbg_stoppoint_set_condition(rsp->dbg, point.id, point_stops, code,
                                                code_release, &err) != LW_OK) {
        (void)!dbg_stoppoint_remove(rsp->dbg, point.id, NULL);
        code_release(code);
        refuse(rsp, type, &err);
        return;
    }
    if (code != NULL && code->commands != NULL)
        dbg_stoppoint_acts(rsp->dbg, point.id);
    point.code = code;
    rsp->points[rsp->point_count] = point;
    if (code == NULL) {
        rsp_test_attach(rsp, &point);
        lend(rsp, &rsp->points[rsp->point_count]);
    }
    if (type < RSP_Z_WATCH && rsp_arrivals_is_tested(rsp, point.address))
        rsp_arrivals_set_tested(rsp, &rsp->points[rsp->point_count], true);
    rsp->point_count++;
    lw_put(&rsp->reply.sink, "OK");
}

void rsp_do_point_remove(struct rsp *rsp, const struct rsp_args *args, unsigned type)
{
    struct rsp_point point = point_of(args, type);

    rsp->launch_lifted |= type < RSP_Z_WATCH && args->n[0] == DBG_LAUNCH_PC;
    rsp->launch_wanted &= type >= RSP_Z_WATCH || args->n[0] != DBG_LAUNCH_PC;
    rsp_arrivals_lift(rsp, args->n[0], type < RSP_Z_WATCH);
    rsp->reported.id = 0;
    /* It is no error if the stoppoint does not exist: when one insertion fails, gdb removes all its breakpoints. */
    point_drop(rsp, &point);
    lw_put(&rsp->reply.sink, "OK");
}

bool rsp_point_watches(const struct rsp_point *point)
{
    return point->type == RSP_Z_WATCH || point->type == RSP_Z_AWATCH;
}

void rsp_points_clear(struct rsp *rsp)
{
    for (size_t i = 0; i < rsp->point_count; i++)
        (void)!dbg_stoppoint_remove(rsp->dbg, rsp->points[i].id, NULL); /* fails, harmlessly, if `monitor` has removed the
                                                                         * stoppoint */
    rsp->point_count = 0;
    break_ifs_clear(rsp);
}
