/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/gdbstub/fake_dbg.h"

#include <stdio.h>
#include <stdlib.h>

enum { MAX_WARPS = 4096, MAX_POINTS = 256 };

struct fake_warp {
    uint32_t pc; /* instruction index */
    bool ended;
    unsigned lane;
    uint32_t s[FAKE_SREGS];
    uint32_t v[FAKE_VREGS][FAKE_LANES];
};

struct fake_point {
    struct dbg_stoppoint pub;
    dbg_condition_fn fn;
    void *context;
    void (*release)(void *context);
};

struct dbg {
    struct fake_options options;
    struct fake_warp *warps;
    struct lw_sink *messages;
    dbg_thread_id focus[2];
    struct dbg_stop stop;
    struct fake_point points[MAX_POINTS];
    unsigned point_count, last_point;
    uint8_t memory[FAKE_MEMORY_BYTES];
    volatile int interrupted;
    bool looks_back;
    char trace[64];
    unsigned state_calls;
};

static const struct fake_reg {
    const char *name;
    enum dbg_reg_kind kind;
    unsigned number, bytes;
    const char *group;
    bool writable;
} regs[] = {
    {"pc", DBG_REG_PC, 0, 8, "warp", true},
    {"lane", DBG_REG_LANE, 0, 4, "warp", true},
    {"exec", DBG_REG_EXEC, 0, 8, "warp", false},
    {"block", DBG_REG_BLOCK, 0, 12, "warp", false},
    {"p0", DBG_REG_PRED, 0, 8, "predicate", false},
    {"s0", DBG_REG_SCALAR, 0, 4, "scalar", true},
    {"s1", DBG_REG_SCALAR, 1, 4, "scalar", true},
    {"s2", DBG_REG_SCALAR, 2, 4, "scalar", true},
    {"tid_x", DBG_REG_SPECIAL, 0, 4, "special", false},
    {"tid_y", DBG_REG_SPECIAL, 1, 4, "special", false},
    {"tid_z", DBG_REG_SPECIAL, 2, 4, "special", false},
    {"laneid", DBG_REG_SPECIAL, 3, 4, "special", false},
    {"v0", DBG_REG_VECTOR, 0, 4 * FAKE_LANES, "vector", true},
    {"v1", DBG_REG_VECTOR, 1, 4 * FAKE_LANES, "vector", true},
    {"v2", DBG_REG_VECTOR, 2, 4 * FAKE_LANES, "vector", true},
    {"v3", DBG_REG_VECTOR, 3, 4 * FAKE_LANES, "vector", true},
    {"lane_pcs", DBG_REG_LANE_PCS, 0, 8 * FAKE_LANES, "warp", false},
};

struct dbg *fake_dbg_create(const struct fake_options *options)
{
    struct dbg *dbg = calloc(1, sizeof *dbg);

    if (dbg == NULL || options->warps > MAX_WARPS)
        abort();
    dbg->options = *options;
    dbg->warps = calloc(options->warps + 1, sizeof *dbg->warps);
    if (dbg->warps == NULL)
        abort();
    for (unsigned w = 0; w < options->warps; w++)
        for (unsigned r = 0; r < FAKE_VREGS; r++)
            for (unsigned l = 0; l < FAKE_LANES; l++)
                dbg->warps[w].v[r][l] = w * 1000 + r * 100 + l;
    for (unsigned i = 0; i < FAKE_MEMORY_BYTES; i++)
        dbg->memory[i] = (uint8_t)(i * 7 + i / 256);
    dbg->focus[0] = dbg->focus[1] = options->warps != 0 ? 1 : 0;
    return dbg;
}

void dbg_destroy(struct dbg *dbg)
{
    if (dbg == NULL)
        return;
    for (unsigned i = 0; i < dbg->point_count; i++)
        if (dbg->points[i].release != NULL)
            dbg->points[i].release(dbg->points[i].context);
    free(dbg->warps);
    free(dbg);
}

const char *fake_dbg_trace(const struct dbg *dbg)
{
    return dbg->trace;
}

uint32_t fake_dbg_vector(const struct dbg *dbg, dbg_thread_id id, unsigned r, unsigned lane)
{
    return dbg->warps[id - 1].v[r][lane];
}

unsigned fake_dbg_state_calls(const struct dbg *dbg)
{
    return dbg->state_calls;
}

bool dbg_variable_address(const struct dbg *dbg, const struct isa_object *object, unsigned index,
                          uint64_t *out)
{
    (void)dbg, (void)object, (void)index, (void)out;
    return false;
}

void dbg_set_messages(struct dbg *dbg, struct lw_sink *messages)
{
    dbg->messages = messages;
}

static struct fake_warp *warp_of(const struct dbg *dbg, dbg_thread_id id)
{
    if (id == 0 || id > dbg->options.warps || dbg->warps[id - 1].ended)
        return NULL;
    return &dbg->warps[id - 1];
}

static uint64_t guest_pc(const struct fake_warp *warp)
{
    return ISA_CODE_BASE + (uint64_t)warp->pc * ISA_WORD_BYTES;
}

static enum lw_status gone(dbg_thread_id id, struct lw_error *err)
{
    return LW_FAIL(err, LW_ESTATE, "warp %llu is not resident", (unsigned long long)id);
}

unsigned dbg_thread_count(const struct dbg *dbg)
{
    unsigned n = 0;

    for (unsigned w = 0; w < dbg->options.warps; w++)
        n += !dbg->warps[w].ended;
    return n;
}

bool dbg_thread_get(const struct dbg *dbg, dbg_thread_id id, struct dbg_thread *out)
{
    const struct fake_warp *warp = warp_of(dbg, id);

    if (warp == NULL)
        return false;
    memset(out, 0, sizeof *out);
    out->id = id;
    out->location.grid = 1;
    out->location.warp = (unsigned)id - 1;
    out->location.pc = guest_pc(warp);
    out->location.lanes = out->active = out->live = lw_mask(FAKE_LANES);
    out->lane = warp->lane;
    return true;
}

bool dbg_thread_at(const struct dbg *dbg, unsigned index, struct dbg_thread *out)
{
    for (unsigned w = 0; w < dbg->options.warps; w++)
        if (!dbg->warps[w].ended && index-- == 0)
            return dbg_thread_get(dbg, w + 1, out);
    return false;
}

void dbg_thread_name(const struct dbg *dbg, const struct dbg_thread *thread,
                     struct lw_sink *out)
{
    (void)dbg;
    lw_printf(out, "block(0,0,0) w%u lane %u", thread->location.warp, thread->lane);
}

void dbg_thread_state(const struct dbg *dbg, const struct dbg_thread *thread,
                      struct lw_sink *out)
{
    ((struct dbg *)(uintptr_t)dbg)->state_calls++;
    lw_printf(out, "pc=0x%llx <&\"ready\">", (unsigned long long)thread->location.pc);
}

dbg_thread_id dbg_focus_get(const struct dbg *dbg, enum dbg_focus focus)
{
    return warp_of(dbg, dbg->focus[focus]) != NULL ? dbg->focus[focus] : 0;
}

enum lw_status dbg_focus_set(struct dbg *dbg, enum dbg_focus focus, dbg_thread_id id,
                             struct lw_error *err)
{
    if (warp_of(dbg, id) == NULL)
        return gone(id, err);
    dbg->focus[focus] = id;
    return LW_OK;
}

unsigned dbg_lane_get(const struct dbg *dbg, dbg_thread_id id)
{
    const struct fake_warp *warp = warp_of(dbg, id);

    return warp != NULL ? warp->lane : 0;
}

enum lw_status dbg_lane_set(struct dbg *dbg, dbg_thread_id id, unsigned lane,
                            struct lw_error *err)
{
    struct fake_warp *warp = warp_of(dbg, id);

    if (warp == NULL)
        return gone(id, err);
    if (lane >= FAKE_LANES)
        return LW_FAIL(err, LW_ERANGE, "lane %u does not exist", lane);
    warp->lane = lane;
    return LW_OK;
}

/* ---- stoppoints -------------------------------------------------------------- */

enum lw_status dbg_breakpoint_add(struct dbg *dbg, enum dbg_owner owner, uint64_t pc,
                             const char *condition, bool temporary, unsigned *id,
                             struct lw_error *err)
{
    struct fake_point *point;

    if (pc < ISA_CODE_BASE || pc >= ISA_CODE_BASE + FAKE_INSNS * ISA_WORD_BYTES ||
        pc % ISA_WORD_BYTES != 0)
        return LW_FAIL(err, LW_ERANGE, "0x%llx is not an instruction", (unsigned long long)pc);
    if (dbg->point_count == MAX_POINTS)
        return LW_FAIL(err, LW_ENOMEM, "too many points");
    point = &dbg->points[dbg->point_count++];
    memset(point, 0, sizeof *point);
    point->pub = (struct dbg_stoppoint){.id = ++dbg->last_point, .owner = owner, .pc = pc, .enabled = true, .temporary = temporary,
                                    .condition = condition};
    *id = point->pub.id;
    return LW_OK;
}

static struct fake_point *point_find(struct dbg *dbg, unsigned id)
{
    for (unsigned i = 0; i < dbg->point_count; i++)
        if (dbg->points[i].pub.id == id)
            return &dbg->points[i];
    return NULL;
}

enum lw_status dbg_watch_add(struct dbg *dbg, enum dbg_owner owner, dbg_thread_id id,
                             uint64_t address, unsigned size_bytes, unsigned access,
                             const char *condition, const char *text, unsigned *point,
                             struct lw_error *err)
{
    enum lw_status status;

    (void)id, (void)text;
    if (address < ISA_GLOBAL_BASE || address >= ISA_GLOBAL_BASE + FAKE_MEMORY_BYTES)
        return LW_FAIL(err, LW_ERANGE, "nothing readable is at 0x%llx",
                       (unsigned long long)address);
    status = dbg_breakpoint_add(dbg, owner, ISA_CODE_BASE, condition, false, point, err);
    if (status == LW_OK) {
        struct dbg_stoppoint *pub = &dbg->points[dbg->point_count - 1].pub;

        pub->kind = DBG_STOPPOINT_WATCH;
        pub->pc = 0;
        pub->address = address;
        pub->size_bytes = size_bytes;
        pub->access = access;
    }
    return status;
}

enum lw_status dbg_watch_add_of(struct dbg *dbg, enum dbg_owner owner, const struct dbg_lane_ref *lane_ref,
                                uint64_t address, unsigned size_bytes, unsigned access,
                                unsigned *point, struct lw_error *err)
{
    enum lw_status status = dbg_breakpoint_add(dbg, owner, ISA_CODE_BASE, NULL, false, point, err);
    struct dbg_stoppoint *pub;

    if (status != LW_OK)
        return status;
    pub = &dbg->points[dbg->point_count - 1].pub;
    pub->kind = DBG_STOPPOINT_WATCH;
    pub->pc = 0;
    pub->address = address;
    pub->size_bytes = size_bytes;
    pub->access = access;
    pub->thread = lane_ref->id;
    pub->lane = lane_ref->lane;
    return LW_OK;
}

enum lw_status dbg_stoppoint_remove(struct dbg *dbg, unsigned id, struct lw_error *err)
{
    struct fake_point *point = point_find(dbg, id);

    if (point == NULL)
        return LW_FAIL(err, LW_ENOENT, "there is no breakpoint %u", id);
    if (point->release != NULL)
        point->release(point->context);
    *point = dbg->points[--dbg->point_count];
    return LW_OK;
}

bool dbg_stoppoint_at(const struct dbg *dbg, unsigned index, struct dbg_stoppoint *out)
{
    if (index >= dbg->point_count)
        return false;
    *out = dbg->points[index].pub;
    return true;
}

unsigned fake_dbg_stoppoint_count(const struct dbg *dbg)
{
    return dbg->point_count;
}

enum lw_status dbg_stoppoint_set_condition(struct dbg *dbg, unsigned id, dbg_condition_fn fn,
                                       void *context, void (*release)(void *context),
                                       struct lw_error *err)
{
    struct fake_point *point = point_find(dbg, id);

    if (point == NULL)
        return LW_FAIL(err, LW_ENOENT, "there is no breakpoint %u", id);
    point->fn = fn;
    point->context = context;
    point->release = release;
    return LW_OK;
}

uint64_t dbg_executing_lanes(const struct dbg *dbg, dbg_thread_id id, uint64_t pc, uint64_t lanes)
{
    (void)dbg;
    (void)id;
    (void)pc;
    return lanes;
}

void dbg_stoppoint_acts(struct dbg *dbg, unsigned id)
{
    struct fake_point *point = point_find(dbg, id);

    if (point != NULL)
        point->pub.acts = true;
}

const char *dbg_mem_refusal(struct dbg *dbg, uint64_t address)
{
    (void)dbg;
    (void)address;
    return "the address is not in memory";
}

static unsigned point_hit(struct dbg *dbg, dbg_thread_id id, uint64_t *lanes)
{
    struct fake_warp *warp = &dbg->warps[id - 1];

    for (unsigned i = 0; i < dbg->point_count; i++) {
        struct fake_point *point = &dbg->points[i];

        if (point->pub.kind != DBG_STOPPOINT_BREAK || point->pub.pc != guest_pc(warp))
            continue;
        *lanes = 0;
        for (unsigned lane = 0; lane < FAKE_LANES; lane++) {
            unsigned before = warp->lane;

            warp->lane = lane;
            if (point->fn == NULL || point->fn(point->context, dbg, id, lane))
                *lanes |= UINT64_C(1) << lane;
            warp->lane = before;
        }
        if (*lanes != 0)
            return point->pub.id;
    }
    return 0;
}

/* ---- running -------------------------------------------------------------------- */

static void stop_at(struct dbg *dbg, struct dbg_stop *stop, enum dbg_stop_kind kind,
                    dbg_thread_id id)
{
    memset(stop, 0, sizeof *stop);
    stop->kind = kind;
    stop->thread = id;
    if (warp_of(dbg, id) != NULL) {
        stop->lane = dbg->warps[id - 1].lane;
        stop->pc = guest_pc(&dbg->warps[id - 1]);
        dbg->focus[0] = dbg->focus[1] = id;
    }
}

/* Executes the store of a warp. Returns true if a watchpoint covers it. */
static bool store(struct dbg *dbg, dbg_thread_id id, struct dbg_stop *stop)
{
    struct fake_warp *warp = &dbg->warps[id - 1];
    uint64_t address = ISA_GLOBAL_BASE + FAKE_STORE_OFFSET + 4 * (id - 1);
    unsigned lane = warp->lane;

    lw_put32(dbg->memory + FAKE_STORE_OFFSET + 4 * (id - 1), (uint32_t)id);
    for (unsigned i = 0; i < dbg->point_count; i++) {
        struct fake_point *point = &dbg->points[i];

        if (point->pub.kind != DBG_STOPPOINT_WATCH || (point->pub.access & DBG_ACCESS_WRITE) == 0 ||
            address + 4 <= point->pub.address ||
            address >= point->pub.address + point->pub.size_bytes)
            continue;
        warp->lane = FAKE_STORE_LANE;
        if (point->fn != NULL && !point->fn(point->context, dbg, id, FAKE_STORE_LANE)) {
            warp->lane = lane;
            continue;
        }
        stop_at(dbg, stop, DBG_STOP_WATCH, id);
        stop->point = point->pub.id;
        stop->watch_address = point->pub.address;
        stop->watch_access = DBG_ACCESS_WRITE;
        stop->hit_lanes = UINT64_C(1) << FAKE_STORE_LANE;
        return true;
    }
    return false;
}

static bool execute(struct dbg *dbg, dbg_thread_id id, struct dbg_stop *stop)
{
    struct fake_warp *warp = &dbg->warps[id - 1];

    if ((int)warp->pc == dbg->options.fault_at) {
        stop_at(dbg, stop, DBG_STOP_FAULT, id);
        stop->fault.kind = EMU_FAULT_OUT_OF_BOUNDS;
        stop->fault.address = 0xdeadbeef;
        stop->fault.lanes = 0x80;
        return true;
    }
    if (++warp->pc == FAKE_INSNS) {
        if (dbg->options.endless)
            warp->pc = 0;
        else
            warp->ended = true;
    }
    return warp->pc == FAKE_STORE_AT + 1 && store(dbg, id, stop);
}

enum lw_status dbg_continue(struct dbg *dbg, struct dbg_stop *stop, struct lw_error *err)
{
    (void)err;
    snprintf(dbg->trace, sizeof dbg->trace, "continue");
    for (unsigned n = 0;; n++) {
        bool any = false;

        for (unsigned w = 0; w < dbg->options.warps; w++) {
            uint64_t lanes = 0;
            unsigned id;

            if (dbg->warps[w].ended)
                continue;
            any = true;
            id = n == 0 && w == 0 && dbg->stop.kind == DBG_STOP_BREAKPOINT
                     ? 0
                     : point_hit(dbg, w + 1, &lanes);
            if (id != 0) {
                /* as in the real core, a lane in focus that hits remains in focus */
                if ((lanes >> dbg->warps[w].lane & 1) == 0)
                    dbg->warps[w].lane = lw_lowest(lanes);
                stop_at(dbg, stop, DBG_STOP_BREAKPOINT, w + 1);
                stop->point = id;
                stop->hit_lanes = lanes;
                goto stopped;
            }
            if (execute(dbg, w + 1, stop))
                goto stopped;
        }
        if (dbg->interrupted != 0) {
            dbg->interrupted = 0;
            stop_at(dbg, stop, DBG_STOP_INTERRUPT, dbg->focus[0]);
            goto stopped;
        }
        if (!any) {
            stop_at(dbg, stop, DBG_STOP_ENDED, 0);
            goto stopped;
        }
        if (n == 3)
            lw_put(dbg->messages, "a note\n");
    }
stopped:
    dbg->stop = *stop;
    return LW_OK;
}

unsigned dbg_locals_missing(struct dbg *dbg, dbg_thread_id id, unsigned lane, const char **help)
{
    (void)dbg, (void)id, (void)lane;
    *help = "";
    return 0;
}

const char *dbg_locals_advice(struct dbg *dbg, dbg_thread_id id, unsigned lane)
{
    (void)dbg, (void)id, (void)lane;
    return NULL;
}

enum lw_status dbg_step(struct dbg *dbg, dbg_thread_id id, bool locked, struct dbg_stop *stop,
                        struct lw_error *err)
{
    snprintf(dbg->trace, sizeof dbg->trace, "step %llu%s", (unsigned long long)id,
             locked ? " locked" : "");
    if (warp_of(dbg, id) == NULL)
        return gone(id, err);
    if (!execute(dbg, id, stop))
        stop_at(dbg, stop, dbg_ended(dbg) ? DBG_STOP_ENDED : DBG_STOP_STEP, id);
    dbg->stop = *stop;
    return LW_OK;
}

enum lw_status dbg_step_out_of_wait(struct dbg *dbg, dbg_thread_id id, uint64_t low, uint64_t high, bool locked,
                                    struct dbg_stop *stop, struct lw_error *err)
{
    return dbg_step_range(dbg, id, low, high, locked, stop, err);
}

enum lw_status dbg_step_range(struct dbg *dbg, dbg_thread_id id, uint64_t low, uint64_t high,
                              bool locked, struct dbg_stop *stop, struct lw_error *err)
{
    struct fake_warp *warp = warp_of(dbg, id);

    if (warp == NULL)
        return gone(id, err);
    for (unsigned n = 0; n < FAKE_INSNS; n++) {
        enum lw_status status = dbg_step(dbg, id, locked, stop, err);

        if (status != LW_OK || stop->kind != DBG_STOP_STEP || warp->ended ||
            guest_pc(warp) < low || guest_pc(warp) >= high)
            break;
    }
    snprintf(dbg->trace, sizeof dbg->trace, "range %llu%s", (unsigned long long)id,
             locked ? " locked" : "");
    return LW_OK;
}

uint64_t dbg_code_address(const struct dbg *dbg, const struct isa_object *object)
{
    (void)dbg, (void)object;
    return ISA_CODE_BASE;
}

enum lw_status dbg_reverse_step(struct dbg *dbg, dbg_thread_id id, struct dbg_stop *stop,
                                struct lw_error *err)
{
    struct fake_warp *warp = warp_of(dbg, id);

    snprintf(dbg->trace, sizeof dbg->trace, "back %llu", (unsigned long long)id);
    if (warp == NULL)
        return gone(id, err);
    stop_at(dbg, stop, warp->pc == 0 ? DBG_STOP_HISTORY_BEGIN : DBG_STOP_STEP, id);
    if (warp->pc != 0)
        warp->pc--;
    stop->pc = guest_pc(warp);
    dbg->stop = *stop;
    return LW_OK;
}

/* Reverse steps of this core move only the focus warp. The core records no history whose end could be reported. */
bool dbg_history_info(const struct dbg *dbg, struct emu_history_info *out)
{
    (void)dbg, (void)out;
    return false;
}

enum lw_status dbg_goto(struct dbg *dbg, uint64_t instructions, struct dbg_stop *stop,
                        struct lw_error *err)
{
    (void)dbg, (void)instructions, (void)stop;
    return LW_FAIL(err, LW_ESTATE, "no history is recorded");
}

enum lw_status dbg_reverse_continue(struct dbg *dbg, struct dbg_stop *stop,
                                    struct lw_error *err)
{
    dbg_thread_id id = dbg_focus_get(dbg, DBG_FOCUS_RUN);
    enum lw_status status = LW_OK;
    uint64_t lanes;

    dbg->looks_back = true;
    do {
        status = dbg_reverse_step(dbg, id, stop, err);
        if (status == LW_OK && stop->kind == DBG_STOP_STEP) {
            stop->point = point_hit(dbg, id, &lanes);
            if (stop->point != 0)
                stop->kind = DBG_STOP_BREAKPOINT;
        }
    } while (status == LW_OK && stop->kind == DBG_STOP_STEP);
    dbg->looks_back = false;
    snprintf(dbg->trace, sizeof dbg->trace, "back");
    return status;
}

bool dbg_is_searching_back(const struct dbg *dbg)
{
    return dbg->looks_back;
}

void dbg_interrupt(struct dbg *dbg)
{
    dbg->interrupted = 1;
}

bool dbg_ended(const struct dbg *dbg)
{
    return dbg_thread_count(dbg) == 0;
}

const struct dbg_stop *dbg_last_stop(const struct dbg *dbg)
{
    return &dbg->stop;
}

void dbg_print_location(const struct dbg *dbg, uint64_t pc, struct lw_sink *out)
{
    (void)dbg;
    lw_printf(out, "0x%llx", (unsigned long long)pc);
}

void dbg_stop_print(const struct dbg *dbg, const struct dbg_stop *stop, struct lw_sink *out)
{
    (void)dbg;
    lw_printf(out, "fault: lanes 0x%llx: address 0x%llx\n",
              (unsigned long long)stop->fault.lanes, (unsigned long long)stop->fault.address);
}

/* ---- tables --------------------------------------------------------------------------- */

static const char *const warp_columns[] = {"thread", "at", NULL};
static const struct dbg_table warp_table = {"warps", "Warps of the fake", warp_columns};

const struct dbg_table *dbg_table_at(unsigned index)
{
    return index == 0 ? &warp_table : NULL;
}

void dbg_table_rows(struct dbg *dbg, unsigned index, dbg_row_fn emit, void *context)
{
    struct dbg_thread thread;

    (void)index;
    for (unsigned i = 0; dbg_thread_at(dbg, i, &thread); i++) {
        char id[24];
        const char *cells[] = {id, "<&>"};

        snprintf(id, sizeof id, "%llu", (unsigned long long)thread.id);
        emit(context, cells, 2);
    }
}

/* ---- values ------------------------------------------------------------------------- */

unsigned dbg_reg_count(const struct dbg *dbg)
{
    (void)dbg;
    return LW_COUNT_OF(regs);
}

bool dbg_reg_at(const struct dbg *dbg, unsigned index, struct dbg_reg *out)
{
    (void)dbg;
    if (index >= LW_COUNT_OF(regs))
        return false;
    memset(out, 0, sizeof *out);
    snprintf(out->name, sizeof out->name, "%s", regs[index].name);
    out->kind = regs[index].kind;
    out->number = regs[index].number;
    out->bytes = regs[index].bytes;
    out->group = regs[index].group;
    out->writable = regs[index].writable;
    return true;
}

int dbg_reg_find(const struct dbg *dbg, const char *name)
{
    (void)dbg;
    for (size_t i = 0; i < LW_COUNT_OF(regs); i++)
        if (strcmp(regs[i].name, name) == 0)
            return (int)i;
    return -1;
}

enum lw_status dbg_reg_read(const struct dbg *dbg, dbg_thread_id id, unsigned index,
                            void *data, size_t room, struct lw_error *err)
{
    const struct fake_warp *warp = warp_of(dbg, id);
    uint64_t value = 0;

    if (warp == NULL)
        return gone(id, err);
    if (index >= LW_COUNT_OF(regs) || room < regs[index].bytes)
        return LW_FAIL(err, LW_ERANGE, "register %u", index);
    memset(data, 0, regs[index].bytes);
    switch (regs[index].kind) {
    case DBG_REG_VECTOR:
        memcpy(data, warp->v[regs[index].number], 4 * FAKE_LANES);
        return LW_OK;
    case DBG_REG_LANE_PCS:
        for (unsigned l = 0; l < FAKE_LANES; l++)
            lw_put64((uint8_t *)data + 8 * l, guest_pc(warp));
        return LW_OK;
    case DBG_REG_PC: value = guest_pc(warp); break;
    case DBG_REG_LANE: value = warp->lane; break;
    case DBG_REG_EXEC: value = lw_mask(FAKE_LANES); break;
    case DBG_REG_SCALAR: value = warp->s[regs[index].number]; break;
    case DBG_REG_SPECIAL:
        value = regs[index].number == 0   ? (id - 1) * FAKE_LANES + warp->lane
                : regs[index].number == 3 ? warp->lane
                                          : 0;
        break;
    default: break;
    }
    memcpy(data, &value, regs[index].bytes < 8 ? regs[index].bytes : 8);
    return LW_OK;
}

enum lw_status dbg_reg_write(struct dbg *dbg, dbg_thread_id id, unsigned index,
                             const void *data, size_t size, struct lw_error *err)
{
    struct fake_warp *warp = warp_of(dbg, id);
    uint64_t value = 0;

    if (warp == NULL)
        return gone(id, err);
    if (index >= LW_COUNT_OF(regs) || size != regs[index].bytes || !regs[index].writable)
        return LW_FAIL(err, LW_ERANGE, "register %u cannot be written", index);
    memcpy(&value, data, size < 8 ? size : 8);
    switch (regs[index].kind) {
    case DBG_REG_VECTOR: memcpy(warp->v[regs[index].number], data, size); return LW_OK;
    case DBG_REG_PC:
        if (value < ISA_CODE_BASE || value >= ISA_CODE_BASE + FAKE_INSNS * ISA_WORD_BYTES)
            return LW_FAIL(err, LW_ERANGE, "pc outside the code");
        warp->pc = (uint32_t)((value - ISA_CODE_BASE) / ISA_WORD_BYTES);
        return LW_OK;
    case DBG_REG_LANE: return dbg_lane_set(dbg, id, (unsigned)value, err);
    default: warp->s[regs[index].number] = (uint32_t)value; return LW_OK;
    }
}

static uint64_t clip(uint64_t address, uint64_t size)
{
    uint64_t at = address - ISA_GLOBAL_BASE;

    if (address < ISA_GLOBAL_BASE || at >= FAKE_MEMORY_BYTES)
        return 0;
    return size < FAKE_MEMORY_BYTES - at ? size : FAKE_MEMORY_BYTES - at;
}

uint64_t dbg_mem_read(struct dbg *dbg, dbg_thread_id id, uint64_t address, void *data,
                      uint64_t size_bytes)
{
    const struct fake_warp *warp = warp_of(dbg, id);

    if (address >> 56 == 0xF0 && warp != NULL && (address & lw_mask(56)) < 65536) {
        /* vector registers of the focus lane */
        memset(data, 0, size_bytes);
        for (uint64_t i = 0; i + 4 <= size_bytes; i += 4)
            if ((address & 0xff) / 4 + i / 4 < FAKE_VREGS)
                lw_put32((uint8_t *)data + i, warp->v[(address & 0xff) / 4 + i / 4][warp->lane]);
        return size_bytes;
    }
    if (address == ISA_GLOBAL_BASE + FAKE_WORD_AT || address == ISA_GLOBAL_BASE + FAKE_WORD_NEXT) {
        const uint8_t word[4] = {0x2a};

        size_bytes = size_bytes < sizeof word ? size_bytes : sizeof word;
        memcpy(data, word, size_bytes);
        return size_bytes;
    }
    size_bytes = clip(address, size_bytes);
    if (size_bytes != 0)
        memcpy(data, dbg->memory + (address - ISA_GLOBAL_BASE), size_bytes);
    return size_bytes;
}

uint64_t dbg_mem_write(struct dbg *dbg, dbg_thread_id id, uint64_t address, const void *data,
                       uint64_t size_bytes)
{
    (void)id;
    size_bytes = clip(address, size_bytes);
    if (size_bytes != 0)
        memcpy(dbg->memory + (address - ISA_GLOBAL_BASE), data, size_bytes);
    return size_bytes;
}

bool dbg_returned_words(struct dbg *dbg, dbg_thread_id id, unsigned lane,
                        struct dbg_return_words *out)
{
    (void)dbg, (void)id, (void)lane, (void)out;
    return false; /* returns what the real core returns for a function without debug information */
}

bool dbg_frame_at(struct dbg *dbg, dbg_thread_id id, unsigned lane, unsigned index,
                  struct dbg_frame *out)
{
    const struct fake_warp *warp = warp_of(dbg, id);

    if (warp == NULL || index != 0)
        return false;
    out->pc = guest_pc(warp);
    out->cfa = UINT64_C(0xF4) << 56 | (uint64_t)(id - 1) << 40 | (uint64_t)lane << 32 | 0x1000;
    out->function = NULL;
    out->entry = 0;
    return true;
}

bool dbg_insn_print(const struct dbg *dbg, uint64_t pc, struct lw_sink *out)
{
    (void)dbg;
    if (pc < ISA_CODE_BASE || pc >= ISA_CODE_BASE + FAKE_INSNS * ISA_WORD_BYTES ||
        pc % ISA_WORD_BYTES != 0)
        return false;
    lw_printf(out, "insn * %u", (unsigned)((pc - ISA_CODE_BASE) / ISA_WORD_BYTES));
    return true;
}
