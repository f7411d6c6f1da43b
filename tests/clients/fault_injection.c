/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Functions that replace functions of the debugger core in tests/clients/gdb_server (by --wrap of the linker). Each function
 * calls the function that it replaces. If a feature is switched off, the function undoes the effect of this feature. The
 * product does not contain these functions.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* memmem */
#endif
#include "tests/clients/fault_injection.h"

#include "debug/debug_priv.h"
#include "gdbstub/rsp_priv.h"

#include <stdio.h>
#include <string.h>

static const struct {
    const char *name, *summary;
} spoils[] = {
#define SPOIL(id, name, summary) {name, summary},
#include "tests/clients/fault_injection.def"
};

/* State of fault injection. It is global, because the functions have the parameters of those that they replace. */
static struct {
    bool on[SPOIL_COUNT];
    dbg_thread_id thread; /* for feature ARRIVALS: thread of the last hit of a breakpoint */
    uint64_t pc; /* pc of this hit */
    struct dbg_thread known[64]; /* for feature GONE_THREADS: warps that the stub has listed to gdb */
    unsigned known_count;
    unsigned interrupts;
} state;

const char *spoil_name(unsigned spoil)
{
    return spoil < SPOIL_COUNT ? spoils[spoil].name : NULL;
}

const char *spoil_summary(unsigned spoil)
{
    return spoil < SPOIL_COUNT ? spoils[spoil].summary : NULL;
}

bool spoil_begin(const char *name)
{
    for (unsigned i = 0; i < SPOIL_COUNT; i++)
        if (strcmp(spoils[i].name, name) == 0)
            return state.on[i] = true;
    return false;
}

bool spoil_is(enum spoil spoil)
{
    return state.on[spoil];
}

#define WRAP(result, name, ...)          \
    result __real_##name(__VA_ARGS__);   \
    result __wrap_##name(__VA_ARGS__);   \
    result __wrap_##name(__VA_ARGS__)

/* ---- registers and memory ------------------------------------------------------------- */

WRAP(enum lw_status, rsp_reg_write, const struct rsp_target *target, struct dbg *dbg,
     dbg_thread_id id, unsigned number, const uint8_t *data, struct lw_error *err)
{
    enum lw_status status = __real_rsp_reg_write(target, dbg, id, number, data, err);

    return spoil_is(SPOIL_REFUSALS) ? LW_OK : status;
}

WRAP(enum lw_status, rsp_reg_read, const struct rsp_target *target, struct dbg *dbg,
     dbg_thread_id id, unsigned number, uint8_t *data, struct lw_error *err)
{
    enum lw_status status = __real_rsp_reg_read(target, dbg, id, number, data, err);

    if (spoil_is(SPOIL_RESULT) && number < target->count &&
        target->regs[number].role >= RSP_ROLE_RESULT &&
        target->regs[number].role <= RSP_ROLE_REAL_NEXT)
        memset(data, 0, target->regs[number].bytes);
    return status;
}

static bool no_memory(uint64_t address)
{
    return (spoil_is(SPOIL_STACK) && address >> 56 == 0xF4) ||
           (spoil_is(SPOIL_BUILT_INS) && (address >> 56 == 0xF5 || address >> 56 == 0xFB)) ||
           (spoil_is(SPOIL_FRAMES) && address >> 56 == 0xFA) ||
           (spoil_is(SPOIL_LOCAL) && (address >> 40 == 2 || address >> 56 == 0xF7)) ||
           (spoil_is(SPOIL_SHARED) && address >> 40 == 1);
}

WRAP(uint64_t, dbg_mem_read, struct dbg *dbg, dbg_thread_id id, uint64_t address, void *data,
     uint64_t size)
{
    uint64_t warp = lw_mask(16) << 40;
    struct dbg_frame frame = {.cfa = 0};

    if (spoil_is(SPOIL_WARP_WINDOWS) && (address >> 56 == 0xF7 || address >> 56 == 0xFB)) {
        (void)!dbg_frame_at(dbg, id, dbg_lane_get(dbg, id), 0, &frame);
        address = (address & ~warp) | (frame.cfa & warp);
    }
    return no_memory(address) ? 0 : __real_dbg_mem_read(dbg, id, address, data, size);
}

WRAP(enum lw_status, dbg_watch_add, struct dbg *dbg, enum dbg_owner owner, dbg_thread_id id,
     uint64_t address, unsigned size, unsigned access, const char *condition, const char *text,
     unsigned *point, struct lw_error *err)
{
    if (spoil_is(SPOIL_WATCH_SPACES) && address >> 44 != 2)
        return LW_FAIL(err, LW_ERANGE, "only global memory can be watched");
    return __real_dbg_watch_add(dbg, owner, id, address, size, access, condition, text, point,
                                err);
}

void __real_rsp_arrivals_region(struct rsp *rsp);
void __wrap_rsp_arrivals_region(struct rsp *rsp);

bool __real_dbg_thread_get(const struct dbg *dbg, dbg_thread_id id, struct dbg_thread *out);

WRAP(uint64_t, rsp_arrivals_pc, const struct rsp *rsp, dbg_thread_id id, uint64_t pc)
{
    struct dbg_thread thread;

    if (spoil_is(SPOIL_LLDB_ARRIVALS) && __real_dbg_thread_get(rsp->dbg, id, &thread) && thread.ready)
        return pc;
    return __real_rsp_arrivals_pc(rsp, id, pc);
}

void __wrap_rsp_arrivals_region(struct rsp *rsp)
{
    if (!spoil_is(SPOIL_LLDB_LANES))
        __real_rsp_arrivals_region(rsp);
}

/* ---- running ---------------------------------------------------------------------------- */

enum lw_status __real_dbg_continue(struct dbg *dbg, struct dbg_stop *stop, struct lw_error *err);
enum lw_status __real_dbg_step(struct dbg *dbg, dbg_thread_id id, bool locked,
                               struct dbg_stop *stop, struct lw_error *err);

static void lane_set(struct dbg *dbg, dbg_thread_id id, unsigned lane)
{
    (void)!dbg_lane_set(dbg, id, lane, NULL); /* this fails if the warp has ended */
}

/* Steps all other splits of the warp. */
static void step_others(struct dbg *dbg, dbg_thread_id id)
{
    struct dbg_thread thread;
    struct dbg_stop stop = {0};
    unsigned lane = dbg_lane_get(dbg, id);
    uint64_t rest;

    if (!dbg_thread_get(dbg, id, &thread))
        return;
    rest = thread.live & ~thread.location.lanes;
    while (rest != 0 && dbg_thread_get(dbg, id, &thread) && (rest & thread.live) != 0) {
        lane_set(dbg, id, lw_lowest(rest & thread.live));
        if (!dbg_thread_get(dbg, id, &thread))
            return;
        rest &= ~thread.location.lanes;
        (void)!__real_dbg_step(dbg, id, true, &stop, NULL);
    }
    lane_set(dbg, id, lane);
}

/* Returns true if the focus lane of the warp does not execute its next instruction, because its predicate is false. Sets @other
 * to a lane that executes this instruction. */
static bool predicated_off(struct dbg *dbg, dbg_thread_id id, unsigned *other)
{
    struct dbg_thread thread;
    struct lw_buffer text;
    char predicate[16] = "";
    bool negated = false, off = false;

    if (!dbg_thread_get(dbg, id, &thread))
        return false;
    lw_buffer_init(&text);
    if (dbg_insn_print(dbg, thread.location.pc, &text.sink) && text.text[0] == '@') {
        negated = text.text[1] == '!';
        snprintf(predicate, sizeof predicate, "%.*s",
                 (int)strcspn(text.text + 1 + negated, " "), text.text + 1 + negated);
    }
    lw_buffer_fini(&text);
    for (unsigned lane = 0; predicate[0] != '\0' && lane < EMU_MAX_LANES; lane++) {
        struct dbg_value value;

        if ((thread.location.lanes >> lane & 1) == 0 ||
            dbg_eval(dbg, id, lane, predicate, &value, NULL) != LW_OK)
            continue;
        if (lane == thread.lane)
            off = dbg_value_true(&value) == negated;
        else if (dbg_value_true(&value) != negated)
            *other = lane;
    }
    return off;
}

bool __real_dbg_thread_get(const struct dbg *dbg, dbg_thread_id id, struct dbg_thread *out);

/* Returns the thread whose values the stub shows for thread @id. If feature GONE_THREADS is off and @id has ended, this is the
 * thread in the run focus. */
static dbg_thread_id who(struct dbg *dbg, dbg_thread_id id)
{
    struct dbg_thread thread;

    return !spoil_is(SPOIL_GONE_THREADS) || __real_dbg_thread_get(dbg, id, &thread)
               ? id
               : dbg_focus_get(dbg, DBG_FOCUS_RUN);
}

static void stepped(struct dbg *dbg, dbg_thread_id id, unsigned lane, const struct dbg_stop *stop)
{
    struct dbg_thread thread;

    if (stop->kind != DBG_STOP_STEP || !dbg_thread_get(dbg, id, &thread))
        return;
    if (spoil_is(SPOIL_EXIT_FOCUS) && (thread.live >> lane & 1) == 0)
        lane_set(dbg, id, 63 - (unsigned)__builtin_clzll(thread.live));
    if (spoil_is(SPOIL_STEP_ALONE))
        step_others(dbg, id);
    if (spoil_is(SPOIL_FOCUS_PINNED) && dbg_thread_get(dbg, id, &thread) &&
        thread.location.lanes != thread.live)
        lane_set(dbg, id, lw_lowest(thread.live));
}

WRAP(enum lw_status, dbg_step, struct dbg *dbg, dbg_thread_id id, bool locked,
     struct dbg_stop *stop, struct lw_error *err)
{
    unsigned other = 0, lane = dbg_lane_get(dbg, id);
    bool off = spoil_is(SPOIL_FOCUS_OFF) && predicated_off(dbg, id, &other);
    enum lw_status status;

    id = who(dbg, id);
    if (spoil_is(SPOIL_STEPS))
        return __real_dbg_continue(dbg, stop, err);
    status = __real_dbg_step(dbg, id, locked || spoil_is(SPOIL_LEAVE), stop, err);
    if (off)
        lane_set(dbg, id, other);
    stepped(dbg, id, lane, stop);
    return status;
}

WRAP(enum lw_status, dbg_step_range, struct dbg *dbg, dbg_thread_id id, uint64_t low,
     uint64_t high, bool locked, struct dbg_stop *stop, struct lw_error *err)
{
    unsigned other = 0, lane = dbg_lane_get(dbg, id);
    bool off = spoil_is(SPOIL_FOCUS_OFF) && predicated_off(dbg, id, &other);
    enum lw_status status;

    id = who(dbg, id);
    if (spoil_is(SPOIL_STEPS))
        return __real_dbg_continue(dbg, stop, err);
    status = __real_dbg_step_range(dbg, id, low, high, locked || spoil_is(SPOIL_LEAVE), stop, err);
    if (off)
        lane_set(dbg, id, other);
    stepped(dbg, id, lane, stop);
    return status;
}

WRAP(enum lw_status, dbg_continue, struct dbg *dbg, struct dbg_stop *stop, struct lw_error *err)
{
    struct dbg_thread thread;
    enum lw_status status;

    for (;;) {
        memset(stop, 0, sizeof *stop);
        if (spoil_is(SPOIL_CONTINUE_ALL))
            return __real_dbg_step_range(dbg, dbg_focus_get(dbg, DBG_FOCUS_RUN), 0, UINT64_MAX, true,
                                         stop, err);
        status = __real_dbg_continue(dbg, stop, err);
        if (status != LW_OK || !spoil_is(SPOIL_ARRIVALS) || stop->kind != DBG_STOP_BREAKPOINT ||
            stop->thread != state.thread || stop->pc != state.pc)
            break;
        /* If the split was already stopped at the breakpoint, step past it, as gdb does. */
        status = __real_dbg_step(dbg, stop->thread, true, stop, err);
        if (status != LW_OK || (stop->kind != DBG_STOP_STEP && stop->kind != DBG_STOP_BLOCKED))
            break;
    }
    if (status == LW_OK && stop->kind == DBG_STOP_BREAKPOINT) {
        state.thread = stop->thread;
        state.pc = stop->pc;
    }
    if (status == LW_OK && spoil_is(SPOIL_HIT_FOCUS) && dbg_thread_get(dbg, stop->thread, &thread))
        lane_set(dbg, stop->thread, lw_lowest(thread.live));
    return status;
}

WRAP(enum lw_status, dbg_breakpoint_add, struct dbg *dbg, enum dbg_owner owner, uint64_t pc,
     const char *condition, bool temporary, unsigned *id, struct lw_error *err)
{
    enum lw_status status = __real_dbg_breakpoint_add(dbg, owner, pc, condition, temporary, id, err);

    return status == LW_OK && spoil_is(SPOIL_POINTS) ? dbg_stoppoint_enable(dbg, *id, false, err)
                                                     : status;
}

WRAP(enum lw_status, dbg_stoppoint_remove, struct dbg *dbg, unsigned id, struct lw_error *err)
{
    return spoil_is(SPOIL_REMOVAL) ? LW_OK : __real_dbg_stoppoint_remove(dbg, id, err);
}

static bool always(void *context, struct dbg *dbg, dbg_thread_id id, unsigned lane)
{
    (void)context, (void)dbg, (void)id, (void)lane;
    return true;
}

WRAP(enum lw_status, dbg_stoppoint_set_condition, struct dbg *dbg, unsigned id, dbg_condition_fn fn,
     void *context, void (*release)(void *context), struct lw_error *err)
{
    return __real_dbg_stoppoint_set_condition(dbg, id, spoil_is(SPOIL_COND_VALUES) ? always : fn,
                                          context, release, err);
}

WRAP(void, dbg_interrupt, struct dbg *dbg)
{
    if (spoil_is(SPOIL_INTERRUPT_AGAIN) && state.interrupts++ != 0)
        return;
    __real_dbg_interrupt(dbg);
}

/* ---- threads -------------------------------------------------------------------------------- */

static bool known(dbg_thread_id id, struct dbg_thread *out)
{
    for (unsigned i = 0; i < state.known_count; i++)
        if (state.known[i].id == id) {
            *out = state.known[i];
            return true;
        }
    return false;
}

WRAP(bool, dbg_thread_at, const struct dbg *dbg, unsigned index, struct dbg_thread *out)
{
    bool there = __real_dbg_thread_at(dbg, index, out);
    struct dbg_thread other;
    unsigned gone = index;

    if (!spoil_is(SPOIL_GONE_THREADS))
        return there;
    if (there && !known(out->id, &other) && state.known_count < LW_COUNT_OF(state.known))
        state.known[state.known_count++] = *out;
    if (there || dbg_ended(dbg))
        return there;
    for (unsigned i = 0; __real_dbg_thread_at(dbg, i, &other); i++)
        gone--;
    for (unsigned i = 0; i < state.known_count; i++)
        if (!__real_dbg_thread_get(dbg, state.known[i].id, &other) && gone-- == 0) {
            *out = state.known[i];
            return true;
        }
    return false;
}

WRAP(unsigned, dbg_thread_count, const struct dbg *dbg)
{
    unsigned count = __real_dbg_thread_count(dbg);
    struct dbg_thread thread;

    while (spoil_is(SPOIL_GONE_THREADS) && __wrap_dbg_thread_at(dbg, count, &thread))
        count++;
    return count;
}

bool __wrap_dbg_thread_get(const struct dbg *dbg, dbg_thread_id id, struct dbg_thread *out);
bool __wrap_dbg_thread_get(const struct dbg *dbg, dbg_thread_id id, struct dbg_thread *out)
{
    return __real_dbg_thread_get(dbg, id, out) ||
           (spoil_is(SPOIL_GONE_THREADS) && !dbg_ended(dbg) && known(id, out));
}

WRAP(enum lw_status, dbg_focus_set, struct dbg *dbg, enum dbg_focus focus, dbg_thread_id id,
     struct lw_error *err)
{
    struct dbg_thread thread;

    if (spoil_is(SPOIL_GONE_THREADS) && !__real_dbg_thread_get(dbg, id, &thread))
        return LW_OK; /* the thread has ended, but the stub must not notice this: the focus does not change */
    return __real_dbg_focus_set(dbg, focus, id, err);
}

WRAP(void, dbg_reported_lanes_add, struct dbg *dbg, dbg_thread_id id, uint64_t pc, uint64_t lanes)
{
    if (!spoil_is(SPOIL_ARRIVAL_ONCE))
        __real_dbg_reported_lanes_add(dbg, id, pc, lanes);
}

WRAP(dbg_thread_id, rsp_view, const struct rsp *rsp)
{
    return spoil_is(SPOIL_NAMED_THREAD) ? rsp_focus(rsp) : __real_rsp_view(rsp);
}

WRAP(void, rsp_do_shown, struct rsp *rsp, const struct rsp_args *args)
{
    if (!spoil_is(SPOIL_FOLLOW)) /* without the feature, the stub answers as for an unknown packet */
        __real_rsp_do_shown(rsp, args);
}

/* ---- the object that gdb gets ----------------------------------------------------------------- */

/* Renames a section, so that gdb finds no section with this name. */
static void rename_section(uint8_t *elf, size_t size, const char *name)
{
    uint8_t *at = memmem(elf, size, name, strlen(name) + 1);

    if (at != NULL)
        at[1] = '-';
}

static uint64_t uleb(const uint8_t **at)
{
    uint64_t value = 0;

    for (unsigned shift = 0;; shift += 7) {
        value |= (uint64_t)(**at & 0x7f) << shift;
        if ((*(*at)++ & 0x80) == 0)
            return value;
    }
}

/* Changes the tag of inlined functions to the tag of lexical blocks in all abbreviations in .debug_abbrev. */
static void rename_inlined(uint8_t *elf)
{
    uint64_t headers = lw_get64(elf + 40);
    unsigned count = elf[60] | elf[61] << 8, names = elf[62] | elf[63] << 8;
    uint64_t strings = lw_get64(elf + headers + 64 * names + 24);

    for (unsigned i = 0; i < count; i++) {
        const uint8_t *header = elf + headers + 64 * i, *at = elf + lw_get64(header + 24);
        const uint8_t *end = at + lw_get64(header + 32);

        if (strcmp((const char *)elf + strings + lw_get32(header), ".debug_abbrev") != 0)
            continue;
        while (at < end) {
            uint64_t name, form;

            if (uleb(&at) == 0)
                continue; /* end of a table of abbreviations, after which another table may follow */
            if (*at == 0x1d)
                elf[at - elf] = 0x0b;
            (void)uleb(&at);
            at++;
            do {
                name = uleb(&at);
                form = uleb(&at);
                if (form == 0x21)
                    (void)uleb(&at); /* the abbreviation itself contains a value of this form */
            } while (name != 0 || form != 0);
        }
    }
}

WRAP(enum lw_status, isa_object_write_loaded, const struct isa_object *object,
     const uint64_t *variables, uint8_t **bytes, size_t *size, struct lw_error *err)
{
    enum lw_status status = __real_isa_object_write_loaded(object, variables, bytes, size, err);

    if (status != LW_OK)
        return status;
    if (spoil_is(SPOIL_LINES))
        rename_section(*bytes, *size, ".debug_line");
    if (spoil_is(SPOIL_TYPES))
        rename_section(*bytes, *size, ".debug_info");
    if (spoil_is(SPOIL_INLINED))
        rename_inlined(*bytes);
    return LW_OK;
}
