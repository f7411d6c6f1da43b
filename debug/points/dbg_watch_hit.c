/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds the watchpoints and catchpoints that one instruction hits. The event of the instruction holds the old and new
 * bytes of its memory accesses. Registers are compared with a saved copy of their values after the previous instruction.
 * Most instructions hit nothing. So the ranges of memory are sorted: one comparison with the lowest start and the highest end
 * excludes most accesses.
 */
#include "debug/points/dbg_watch_priv.h"

#include <stdlib.h>

/* ---- the tables ---------------------------------------------------------------------- */

static int by_start(const void *a, const void *b)
{
    const struct dbg_range *x = a, *y = b;

    return x->start != y->start ? (x->start < y->start ? -1 : 1)
           : x->point != y->point ? (x->point < y->point ? -1 : 1)
                                  : 0;
}

static void add_memory(struct dbg_watch *watch, const struct dbg_watched *w, size_t point)
{
    struct dbg_range *range = &watch->memory[watch->memory_count++];

    *range = (struct dbg_range){w->low, w->low + w->bytes, point};
    if (range->end > watch->memory_end)
        watch->memory_end = range->end;
}

/* Rebuilds the tables of dbg->watch from the stoppoints. watch_capacity() has allocated tables of sufficient size. */
static void build(struct dbg *dbg)
{
    struct dbg_watch *watch = dbg->watch;

    watch->changed = false;
    watch->memory_count = watch->register_count = 0;
    watch->memory_end = 0;
    watch->catches = 0;
    for (size_t i = 0; i < dbg->point_count; i++) {
        const struct dbg_stoppoint_record *point = &dbg->points[i];
        const struct dbg_watched *w = point->watched;

        if (!point->pub.enabled)
            continue;
        watch->catches |= point->pub.kind == DBG_STOPPOINT_CATCH ? point->pub.catches : 0;
        if (w == NULL)
            continue;
        if (w->memory)
            add_memory(watch, w, i);
        else
            watch->registers[watch->register_count++] = (struct dbg_range){w->id, w->id + 1, i};
    }
    qsort(watch->memory, watch->memory_count, sizeof *watch->memory, by_start);
    qsort(watch->registers, watch->register_count, sizeof *watch->registers, by_start);
}

/* ---- registers as bytes ------------------------------------------------------------------ */

/** The warp whose registers are read. */
struct bank {
    const struct emu_core *core;
    unsigned slot, warp;
};

/* Finds the register that the byte at @offset of the debug address range w->window shows. *@lane is set for a vector
 * register. *@shift is 32 for the upper half of a predicate, else 0. Returns false if no register is there. */
static bool register_at(const struct dbg_watched *w, uint64_t offset, enum isa_reg_class *cls,
                        unsigned *number, unsigned *lane, unsigned *shift)
{
    *lane = w->lane;
    *shift = 0;
    switch (w->window) {
    case 0xF0:
        *cls = ISA_REG_V;
        *number = (unsigned)(offset / 4);
        return true;
    case 0xF1:
        *cls = ISA_REG_V;
        *number = (unsigned)(offset / 256);
        *lane = (unsigned)(offset % 256 / 4);
        return true;
    case 0xF2:
        *cls = ISA_REG_S;
        *number = (unsigned)(offset / 4);
        return true;
    default:
        *number = (unsigned)(offset / 8);
        *shift = offset % 8 >= 4 ? 32 : 0;
        *cls = *number < 8 ? ISA_REG_P : ISA_REG_SP;
        if (*number < 8)
            return *number < ISA_PRED_COUNT;
        if (*number == 16) { /* exec */
            *cls = ISA_REG_S;
            *number = ISA_S_EXEC + *shift / 32;
            *shift = 0;
            return true;
        }
        *number -= 8;
        return *number < ISA_PRED_COUNT;
    }
}

static uint32_t read_word(const struct dbg_watched *w, const struct bank *bank, uint64_t offset)
{
    enum isa_reg_class cls;
    unsigned number, lane, shift;
    uint64_t value = 0;

    if (register_at(w, offset, &cls, &number, &lane, &shift))
        (void)!emu_reg_read(DBG_AT(bank), cls, number, lane, &value);
    return (uint32_t)(value >> shift);
}

static void read_registers(const struct dbg_watched *w, const struct bank *bank, uint8_t *out)
{
    if (w->bit) {
        uint64_t mask = read_word(w, bank, w->low);

        mask |= (uint64_t)read_word(w, bank, w->low + 4) << 32;
        out[0] = mask >> w->lane & 1;
        return;
    }
    for (unsigned done = 0; done < w->bytes;) {
        unsigned in = (unsigned)((w->low + done) % 4), count = 4 - in;
        uint8_t raw[4];

        if (count > w->bytes - done)
            count = w->bytes - done;
        lw_put32(raw, read_word(w, bank, w->low + done - in));
        memcpy(out + done, raw + in, count);
        done += count;
    }
}

bool dbg_watched_read(struct dbg *dbg, const struct dbg_watched *w, uint8_t *out)
{
    struct dbg_warp warp;

    if (w->memory && w->scope == DBG_SCOPE_ALL)
        return dbg_mem_access(dbg, 0, 0, w->low, out, w->bytes, false) == w->bytes;
    if (!dbg_warp_locate(dbg, w->id, &warp))
        return false;
    if (w->memory)
        return emu_mem_peek(DBG_AT(&warp), w->lane, w->low, out, w->bytes) ==
               w->bytes;
    read_registers(w, &(struct bank){DBG_AT(&warp)}, out);
    return true;
}

/* Returns the lanes whose part of a watched register has changed. A vector register has a word for each lane, and a predicate
 * has a bit for each lane. For other registers, returns all lanes of the split. */
static uint64_t changed_lanes(const struct dbg_watched *w, const struct emu_event *ev,
                              const uint8_t *before, const uint8_t *after)
{
    uint64_t lanes = 0;

    if (w->scope == DBG_SCOPE_LANE)
        return UINT64_C(1) << w->lane;
    if (w->window == 0xF1)
        for (unsigned i = 0; i < w->bytes; i++)
            if (before[i] != after[i])
                lanes |= UINT64_C(1) << ((w->low + i) % 256 / 4);
    if (w->window == 0xF3 && w->low < 64)
        for (unsigned i = 0; i < w->bytes; i++)
            lanes |= (uint64_t)(before[i] ^ after[i]) << (w->low + i) % 8 * 8;
    return lanes != 0 ? lanes : ev->split_lanes;
}

/* Returns how the instruction's operands access the watched registers: bits of enum dbg_access. *@lanes is set to the
 * lanes that make the access. */
static unsigned operand_access(const struct dbg_watched *w, const struct emu_event *ev,
                               uint64_t *lanes)
{
    struct isa_reg_use uses[ISA_MAX_USES];
    unsigned access = 0, count = isa_insn_uses(ev->insn, uses);

    *lanes = 0;
    for (unsigned done = 0; done < w->bytes; done++) {
        enum isa_reg_class cls;
        unsigned number, lane, shift;
        uint64_t lane_ref;

        if (!register_at(w, w->low + done, &cls, &number, &lane, &shift))
            continue;
        lane_ref = cls == ISA_REG_V ? ev->effective & UINT64_C(1) << lane
              : w->bit         ? ev->split_lanes & UINT64_C(1) << w->lane
                               : ev->split_lanes;
        for (unsigned i = 0; i < count && lane_ref != 0; i++)
            if (uses[i].reg_class == cls && uses[i].first <= number &&
                number < uses[i].first + uses[i].count) {
                access |= uses[i].written ? DBG_ACCESS_WRITE : DBG_ACCESS_READ;
                *lanes |= lane_ref;
            }
    }
    return access;
}

/* Records the value of a vector register that the instruction has not written. If this value is new, a replay has repeated a
 * command of the debugger that wrote the register before the instruction. The instruction is then not the writer. */
static void skip_command(struct dbg_watched *w, const struct emu_event *ev, const uint8_t *now)
{
    uint64_t lanes;

    if ((w->window != 0xF0 && w->window != 0xF1) || memcmp(now, w->last, w->bytes) == 0 ||
        (operand_access(w, ev, &lanes) & DBG_ACCESS_WRITE) != 0)
        return;
    memcpy(w->last, now, w->bytes);
    if (w->shown_known)
        memcpy(w->shown, now, w->bytes);
}

/* ---- one instruction ---------------------------------------------------------------------- */

/* Returns the hit of a stoppoint by the current instruction. Creates the hit at the first call for the stoppoint. */
static struct dbg_watch_hit *touch_of(struct dbg *dbg, size_t point, const struct emu_event *ev,
                                  dbg_thread_id id)
{
    struct dbg_watch *watch = dbg->watch;
    struct dbg_watch_hit *touch;

    for (size_t i = 0; i < watch->touch_count; i++)
        if (watch->touches[i].point == dbg->points[point].pub.id)
            return &watch->touches[i];
    touch = &watch->touches[watch->touch_count];
    watch->touched[watch->touch_count++] = point;
    memset(touch, 0, offsetof(struct dbg_watch_hit, old_bytes));
    touch->point = dbg->points[point].pub.id;
    touch->thread = id;
    touch->pc = ev->pc;
    return touch;
}

static bool in_scope(const struct dbg_watched *w, dbg_thread_id id, unsigned lane)
{
    switch (w->scope) {
    case DBG_SCOPE_ALL: return true;
    case DBG_SCOPE_BLOCK: return id >= w->id && id - w->id < w->warps;
    case DBG_SCOPE_WARP: return id == w->id;
    default: return id == w->id && lane == w->lane;
    }
}

static void look_at_lane(struct dbg *dbg, const struct emu_event *ev,
                         const struct emu_access *access, unsigned lane, dbg_thread_id id,
                         unsigned how)
{
    const struct dbg_watch *watch = dbg->watch;
    uint64_t start = access->address[lane], end = start + access->bytes;
    size_t low;

    /* An atomic that leaves memory unchanged, for example a compare-and-swap that fails, counts as a read. */
    if (how == DBG_ACCESS_BOTH && access->new_value != NULL &&
        memcmp(access->old_value[lane], access->new_value[lane], access->bytes) == 0)
        how = DBG_ACCESS_READ;
    /* Only ranges that start before the end of the access can overlap the access. The loop visits these ranges in descending
     * order of their starts. It ends at a start so low that even a range of the maximal size would end before the access. */
    low = lw_lower_bound(watch->memory, watch->memory_count, sizeof *watch->memory, end);
    while (low-- > 0 && watch->memory[low].start + DBG_WATCH_MAX > start) {
        const struct dbg_range *range = &watch->memory[low];
        const struct dbg_stoppoint_record *point = &dbg->points[range->point];
        unsigned wanted = how & point->pub.access;

        if (range->end <= start || wanted == 0 || !in_scope(point->watched, id, lane))
            continue;
        if (point->pub.access == DBG_ACCESS_WRITE) { /* a watchpoint for writes needs a changed byte */
            uint64_t from = range->start > start ? range->start : start;
            uint64_t to = range->end < end ? range->end : end;

            if (access->new_value == NULL ||
                memcmp(access->old_value[lane] + (from - start),
                       access->new_value[lane] + (from - start), to - from) == 0)
                continue;
        }
        struct dbg_watch_hit *touch = touch_of(dbg, range->point, ev, id);
        touch->access |= how;
        touch->lanes |= UINT64_C(1) << lane;
    }
}

/* Fills the new and the old bytes of a hit of memory. The new bytes are read from memory. The old bytes are computed from the
 * new bytes: the instruction's writes are undone. */
static void memory_values(const struct dbg_watched *w, const struct emu_event *ev,
                          struct dbg_watch_hit *touch)
{
    touch->bytes = w->bytes;
    memset(touch->new_bytes, 0, w->bytes);
    (void)emu_mem_peek(DBG_AT(ev), lw_lowest(touch->lanes), w->low, touch->new_bytes, w->bytes);
    memcpy(touch->old_bytes, touch->new_bytes, w->bytes);
    for (unsigned i = 0; i < ev->access_count; i++) {
        const struct emu_access *access = &ev->access[i];

        if (access->new_value == NULL)
            continue;
        for (LW_EACH_BIT(lane, access->lanes & touch->lanes)) {
            uint64_t start = access->address[lane], end = start + access->bytes;
            uint64_t from = w->low > start ? w->low : start;
            uint64_t to = w->low + w->bytes < end ? w->low + w->bytes : end;

            if (from < to)
                memcpy(touch->old_bytes + (from - w->low),
                       access->old_value[lane] + (from - start), to - from);
        }
    }
}

/* Returns true if an access is affine and all its addresses are outside [low, high). */
static bool is_elsewhere(const struct emu_access *access, uint64_t low, uint64_t high)
{
    uint64_t first = access->base, last;
    unsigned highest;

    if (!access->affine || access->lanes == 0)
        return false;
    highest = 63 - (unsigned)__builtin_clzll(access->lanes);
    last = access->address[highest];
    if (last < first) {
        last = first;
        first = access->address[highest];
    }
    return last + access->bytes <= low || first >= high;
}

static void look_at_memory(struct dbg *dbg, const struct emu_event *ev, dbg_thread_id id)
{
    static const unsigned how[] = {
        [EMU_ACCESS_LOAD] = DBG_ACCESS_READ,    [EMU_ACCESS_STORE] = DBG_ACCESS_WRITE,
        [EMU_ACCESS_ATOMIC] = DBG_ACCESS_BOTH,  [EMU_ACCESS_REDUCE] = DBG_ACCESS_BOTH,
        [EMU_ACCESS_CONSTANT] = DBG_ACCESS_READ};
    const struct dbg_watch *watch = dbg->watch;
    uint64_t low = watch->memory[0].start, high = watch->memory_end;
    size_t before = watch->touch_count;

    for (unsigned i = 0; i < ev->access_count; i++) {
        const struct emu_access *access = &ev->access[i];
        uint64_t lanes = access->lanes;

        if (access->kind == EMU_ACCESS_CONSTANT) /* all lanes read one address, so only the lowest lane is compared */
            lanes &= 0 - lanes;
        else if (is_elsewhere(access, low, high))
            continue;
        for (LW_EACH_BIT(lane, lanes))
            if (access->address[lane] < high && access->address[lane] + access->bytes > low)
                look_at_lane(dbg, ev, access, (unsigned)lane, id, how[access->kind]);
    }
    for (size_t i = before; i < watch->touch_count; i++)
        memory_values(dbg->points[watch->touched[i]].watched, ev, &dbg->watch->touches[i]);
}

/* Returns true if the watched register contains a variable of the watchpoint at the pc of a lane. */
static bool variable_here(struct dbg *dbg, const struct dbg_watched *w, dbg_thread_id id, unsigned lane)
{
    struct emu_split_view split;
    struct dbg_warp warp;
    struct dbg_where at;

    return dbg_lane_locate(dbg, id, lane, &warp, &split) && dbg_where_is(dbg, split.pc, &at) && at.program == w->program &&
           dbg_watched_has_variable(w, at.insn, false);
}

/* Converts an instruction's accesses to a watched register, *@access by lanes *@lanes, to its accesses to the variables in the
 * register. A write counts if the variable is in the register afterwards, and its value differs from the last value that it had
 * in the register. If a location of the variable begins at the instruction, the value counts even if an earlier instruction
 * wrote it. */
static void variable_access(struct dbg *dbg, const struct emu_event *ev, dbg_thread_id id, struct dbg_watched *w,
                            const uint8_t *now, unsigned *access, uint64_t *lanes)
{
    const bool written = memcmp(now, w->last, w->bytes) != 0, other = !w->shown_known || memcmp(now, w->shown, w->bytes) != 0;
    const uint64_t own = w->scope == DBG_SCOPE_LANE ? UINT64_C(1) << w->lane : ev->split_lanes;
    struct dbg_where at;

    if (*access == 0 && (!other || (own & ev->split_lanes) == 0))
        return;
    if (!dbg_where_is(dbg, ev->pc, &at) || at.program != w->program) {
        *access = 0;
        return;
    }
    if ((*access & DBG_ACCESS_READ) != 0 && !dbg_watched_has_variable(w, at.insn, false))
        *access &= ~(unsigned)DBG_ACCESS_READ;
    *access &= ~(unsigned)DBG_ACCESS_WRITE;
    if (!other || !(written || dbg_watched_has_variable(w, at.insn, true)) || !variable_here(dbg, w, id, lw_lowest(own)))
        return;
    if (w->shown_known)
        memcpy(w->last, w->shown, w->bytes); /* the old value of the hit */
    if (w->shown_known || written) {
        *access |= DBG_ACCESS_WRITE;
        *lanes |= own;
    }
    memcpy(w->shown, now, w->bytes);
    w->shown_known = true;
}

static void look_at_registers(struct dbg *dbg, const struct emu_event *ev, dbg_thread_id id)
{
    const struct dbg_watch *watch = dbg->watch;
    struct bank bank = {DBG_AT(ev)};
    size_t low;

    if (id < watch->registers[0].start || id > watch->registers[watch->register_count - 1].start)
        return;
    low = lw_lower_bound(watch->registers, watch->register_count, sizeof *watch->registers, id);
    for (; low < watch->register_count && watch->registers[low].start == id; low++) {
        struct dbg_stoppoint_record *point = &dbg->points[watch->registers[low].point];
        struct dbg_watched *w = point->watched;
        uint8_t now[DBG_WATCH_MAX];
        unsigned access = 0;
        uint64_t lanes = 0;

        read_registers(w, &bank, now);
        skip_command(w, ev, now);
        if (point->pub.access != DBG_ACCESS_WRITE)
            access = operand_access(w, ev, &lanes);
        if (memcmp(now, w->last, w->bytes) != 0) {
            if (point->pub.access & DBG_ACCESS_WRITE)
                lanes |= changed_lanes(w, ev, w->last, now);
            access |= DBG_ACCESS_WRITE;
        }
        if (w->program != NULL)
            variable_access(dbg, ev, id, w, now, &access, &lanes);
        if ((access & point->pub.access) != 0 && lanes != 0) {
            struct dbg_watch_hit *touch = touch_of(dbg, watch->registers[low].point, ev, id);

            touch->access = access;
            touch->lanes = lanes;
            touch->bytes = w->bytes;
            memcpy(touch->old_bytes, w->last, w->bytes);
            memcpy(touch->new_bytes, now, w->bytes);
        }
        memcpy(w->last, now, w->bytes);
    }
}

/* Returns which events of @wanted (bits of enum dbg_catch) happened. *@lanes is set to the lanes that took part. */
static unsigned happened(const struct emu_event *ev, unsigned wanted, uint64_t *lanes)
{
    unsigned catches = 0;

    *lanes = 0;
    if (wanted & DBG_CATCH_DIVERGE)
        for (unsigned i = 1; i < ev->outcome_count; i++)
            if (ev->outcomes[i].pc != ev->outcomes[0].pc) {
                catches |= DBG_CATCH_DIVERGE;
                *lanes |= ev->split_lanes;
            }
    /* Splits reconverge if an instruction releases several lanes and one of them was not in the executing split. */
    if ((wanted & DBG_CATCH_RECONVERGE) && (ev->conv.released & ~ev->split_lanes) != 0 &&
        (ev->conv.released & (ev->conv.released - 1)) != 0) {
        catches |= DBG_CATCH_RECONVERGE;
        *lanes |= ev->conv.released;
    }
    if ((wanted & DBG_CATCH_BARRIER) && ev->cta.used) {
        catches |= DBG_CATCH_BARRIER;
        *lanes |= ev->conv.arrived != 0 ? ev->conv.arrived : ev->split_lanes & ev->guard;
    }
    if ((wanted & DBG_CATCH_CONVERGENCE) && ev->conv.arrived != 0 && !ev->cta.used) {
        catches |= DBG_CATCH_CONVERGENCE;
        *lanes |= ev->conv.arrived;
    }
    if ((wanted & DBG_CATCH_EXIT) && ev->exited != 0) {
        catches |= DBG_CATCH_EXIT;
        *lanes |= ev->exited;
    }
    if ((wanted & DBG_CATCH_LAUNCH) && ev->grid_started) {
        catches |= DBG_CATCH_LAUNCH;
        *lanes |= ev->split_lanes;
    }
    for (unsigned i = 0; (wanted & DBG_CATCH_ATOMIC) && i < ev->access_count; i++)
        if (ev->access[i].lanes != 0 && (ev->access[i].kind == EMU_ACCESS_ATOMIC ||
                                         ev->access[i].kind == EMU_ACCESS_REDUCE)) {
            catches |= DBG_CATCH_ATOMIC;
            *lanes |= ev->access[i].lanes;
        }
    return catches;
}

static void look_at_catches(struct dbg *dbg, const struct emu_event *ev, dbg_thread_id id)
{
    uint64_t lanes;

    if (happened(ev, dbg->watch->catches, &lanes) == 0)
        return;
    for (size_t i = 0; i < dbg->point_count; i++) {
        const struct dbg_stoppoint *point = &dbg->points[i].pub;
        unsigned catches;

        if (point->kind != DBG_STOPPOINT_CATCH || !point->enabled)
            continue;
        catches = happened(ev, point->catches, &lanes);
        if (catches != 0 && lanes != 0) {
            struct dbg_watch_hit *touch = touch_of(dbg, i, ev, id);

            touch->catches = catches;
            touch->lanes = lanes;
        }
    }
}

static int by_point(const void *a, const void *b)
{
    const struct dbg_watch_hit *x = a, *y = b;

    return x->point < y->point ? -1 : x->point > y->point;
}

size_t dbg_watch_was_hit(struct dbg *dbg, const struct emu_event *ev, const struct dbg_watch_hit **touches)
{
    struct dbg_watch *watch = dbg->watch;
    size_t kept = 0;
    dbg_thread_id id;

    if (watch == NULL)
        return 0;
    if (watch->changed)
        dbg_watch_hit_begin(dbg);
    watch->touch_count = 0;
    if (ev->kind == EMU_EV_FAULT)
        return 0;
    id = dbg_grid_thread(ev->grid, ev->block, ev->warp);
    if (watch->memory_count != 0 && ev->access_count != 0 && ev->kind == EMU_EV_RETIRED)
        look_at_memory(dbg, ev, id);
    if (watch->register_count != 0)
        look_at_registers(dbg, ev, id);
    if (watch->catches != 0)
        look_at_catches(dbg, ev, id);
    if (watch->touch_count == 0)
        return 0;
    dbg->looking = true;
    for (size_t i = 0; i < watch->touch_count; i++) {
        const struct dbg_stoppoint_record *point = &dbg->points[watch->touched[i]];
        bool asks = dbg->looks_back && point->pub.owner == DBG_OWNER_GDB && point->fn != NULL;
        uint64_t lanes = watch->touches[i].lanes;

        if (!asks)
            lanes = dbg_stoppoint_lanes(dbg, watch->touched[i], id, lanes);
        if (lanes == 0)
            continue;
        watch->touches[i].asks = asks;
        watch->touches[kept] = watch->touches[i];
        watch->touches[kept++].lanes = lanes;
    }
    dbg->looking = false;
    watch->touch_count = kept;
    qsort(watch->touches, kept, sizeof *watch->touches, by_point);
    *touches = watch->touches;
    return kept;
}

void dbg_watch_hit_begin(struct dbg *dbg)
{
    struct dbg_watch *watch = dbg->watch;

    if (watch == NULL)
        return;
    if (watch->changed)
        build(dbg);
    for (size_t i = 0; i < watch->register_count; i++) {
        struct dbg_watched *w = dbg->points[watch->registers[i].point].watched;
        struct dbg_warp warp;

        memset(w->last, 0, sizeof w->last); /* registers start as zeros in a warp that is not resident yet */
        if (dbg_warp_locate(dbg, w->id, &warp))
            read_registers(w, &(struct bank){DBG_AT(&warp)}, w->last);
        w->shown_known = w->program != NULL && variable_here(dbg, w, w->id, w->lane);
        memcpy(w->shown, w->last, sizeof w->shown);
    }
}
