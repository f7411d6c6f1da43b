/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who may issue, as far as registers go: the scoreboard (a bit for each register, by lanes where
 * splits are to be distinguished), dependency vectors (specs of the book 8.3), the control field (3.3),
 * and operands that earlier instructions have not read yet (9.5).
 */

/** The scoreboard by bits. */
static inline enum tim_stall tim_registers_check(const struct tim_warp *w,
                                                const struct tim_static *what)
{
    uint64_t waits = 0, loads = 0;

    for (LW_EACH_BIT(i, what->need_words))
        waits |= w->to_come.word[i] & what->need.word[i];
    if (waits == 0)
        return TIM_STALL_ISSUED;
    for (LW_EACH_BIT(i, what->need_words))
        loads |= w->to_come.word[i] & what->need.word[i] & w->by_load.word[i];
    return loads != 0 ? TIM_STALL_LOAD : TIM_STALL_RESULT;
}

/** The control field's say. */
static inline enum tim_stall tim_bars_check(const struct tim_core *core, const struct tim_warp *w,
                                            const struct tim_static *what, uint64_t now)
{
    unsigned waits = tim_bars_waited(core, w, what, now);

    if (waits == 0)
        return TIM_STALL_ISSUED;
    if ((waits & w->load_bars) != 0)
        return TIM_STALL_LOAD;
    return (waits & ~(unsigned)w->read_bars) != 0 ? TIM_STALL_RESULT : TIM_STALL_WAR;
}

static bool waits_for(const struct tim_core *core, const struct tim_warp *w, unsigned reg)
{
    return tim_splits_lanes(core) ? (w->lanes[reg] & w->split_lanes) != 0 : w->lanes[reg] != 0;
}

/** Are registers to come kept? Where only the control field is asked they are not. */
static bool keeps_registers(const struct tim_core *core)
{
    return tim_keeps_lanes(core) || tim_dependence(core) != TIM_DEP_CONTROL;
}

/** By lanes. */
static enum tim_stall check_lanes(const struct tim_core *core, const struct tim_warp *w,
                                 const struct tim_static *what)
{
    enum tim_stall reason = TIM_STALL_ISSUED;

    for (unsigned i = 0; i < what->read_count + what->write_count; i++) {
        unsigned reg = i < what->read_count ? what->read[i] : what->write[i - what->read_count];
        if (!waits_for(core, w, reg))
            continue;
        if (tim_is_by_load(w, reg))
            return TIM_STALL_LOAD;
        reason = TIM_STALL_RESULT;
    }
    return reason;
}

static enum tim_stall check_vector(const struct tim_warp *w)
{
    const struct tim_buffered *head = &w->buffer[0];

    if (!head->entered) /* no entry was free */
        return TIM_STALL_RESULT;
    for (unsigned e = 0; e < TIM_MAX_VECTOR; e++)
        if (head->vector >> e & 1)
            return tim_is_by_load(w, w->vector_reg[e]) ? TIM_STALL_LOAD : TIM_STALL_RESULT;
    return TIM_STALL_ISSUED;
}

/* An instruction may take a barrier twice: for its operands and its result. */
static unsigned bar_full(const struct tim_core *core)
{
    return core->config->issue_barrier_count - 1;
}

static void bar_add(const struct tim_core *core, struct tim_warp *w, unsigned b)
{
    w->bars |= (uint8_t)(1u << b);
    if (++w->bar[b] >= bar_full(core))
        w->full_bars |= (uint8_t)(1u << b);
}
/** One more result, or one more instruction's operands, is to come by barrier @b; or one less. */
static void bar_add_result(const struct tim_core *core, struct tim_warp *w, unsigned b, bool load)
{
    unsigned bit = 1u << b;

    bar_add(core, w, b);
    w->load_bars = (uint8_t)(load ? w->load_bars | bit : w->load_bars & ~bit);
    w->read_bars &= (uint8_t)~bit;
}
static void bar_add_read(const struct tim_core *core, struct tim_warp *w, unsigned b)
{
    unsigned bit = 1u << b;

    if (w->bar[b] == 0) {
        w->load_bars &= (uint8_t)~bit;
        w->read_bars |= (uint8_t)bit;
    }
    bar_add(core, w, b);
}
static void bar_take(const struct tim_core *core, struct tim_warp *w, unsigned b)
{
    if (--w->bar[b] == 0)
        w->bars &= (uint8_t)~(1u << b);
    if (w->bar[b] == bar_full(core) - 1)
        w->full_bars &= (uint8_t)~(1u << b);
}
/** Something was taken from it: does no instruction wait for that? */
static bool bar_holds_on(const struct tim_core *core, const struct tim_warp *w, unsigned b)
{
    if (w->hold_from != 0 && w->hold_bar == b)
        return false;
    if (tim_control_stage(core) && core->now < w->new_seen && (w->new_write == b || w->new_read == b))
        return false;
    return w->bar[b] != 0 && w->bar[b] != bar_full(core) - 1;
}

/* ---- operands not yet read ------------------------------------------------------------------- */

static unsigned bloom_bit(unsigned reg, unsigned which)
{
    return which == 0 ? reg & 15 : (reg * 7 + (reg >> 4) + 3) & 15;
}

/** Pending reads of the warp's vector registers. */
static uint8_t *readers_of(const struct tim_core *core, const struct tim_warp *w)
{
    return core->readers + (size_t)(w - core->warp) * 256;
}

static bool may_overtake(const struct tim_core *core, const struct tim_warp *w,
                         const struct tim_static *what)
{
    switch (tim_war(core)) {
    case TIM_WAR_COMMIT:
        return w->in_flight != 0;
    case TIM_WAR_READ:
        return w->unread != 0;
    case TIM_WAR_BLOOM:
        for (unsigned i = 0; i < what->row_writes; i++)
            if (w->bloom[bloom_bit(what->row_write[i], 0)] != 0 &&
                w->bloom[bloom_bit(what->row_write[i], 1)] != 0)
                return true;
        return false;
    case TIM_WAR_COUNTERS:
        for (unsigned i = 0; i < what->row_writes; i++)
            if (readers_of(core, w)[what->row_write[i]] != 0)
                return true;
        for (unsigned i = 0; i < what->row_reads; i++)
            if (readers_of(core, w)[what->row_read[i]] >= core->config->issue_readers)
                return true;
        return false;
    default:
        return false;
    }
}

static void count_readers(struct tim_core *core, const struct tim_warp *w, const struct tim_static *what, int by)
{
    for (unsigned i = 0; i < what->row_reads; i++)
        readers_of(core, w)[what->row_read[i]] += (uint8_t)by;
}

static void bloom(struct tim_warp *w, const struct tim_static *what, int by)
{
    for (unsigned i = 0; i < what->row_reads; i++)
        for (unsigned k = 0; k < 2; k++)
            w->bloom[bloom_bit(what->row_read[i], k)] += (uint8_t)by;
}

/* ---- the interface ------------------------------------------------------------------------------ */

static enum tim_stall tim_depend_check(const struct tim_core *core, const struct tim_warp *w,
                               const struct tim_static *what, uint64_t now)
{
    enum tim_stall reason;

    switch (tim_dependence(core)) {
    case TIM_DEP_VECTOR:
        reason = check_vector(w);
        break;
    case TIM_DEP_CONTROL:
        reason = tim_bars_check(core, w, what, now);
        break;
    default:
        reason = tim_keeps_lanes(core) ? check_lanes(core, w, what) : tim_registers_check(w, what);
        break;
    }
    (void)now;
    if (reason == TIM_STALL_ISSUED && may_overtake(core, w, what))
        reason = TIM_STALL_WAR;
    return reason;
}

/** tim_depend_check, inline in the usual cases. */
static inline enum tim_stall tim_depend_check_fast(const struct tim_core *core,
                                                  const struct tim_warp *w,
                                                  const struct tim_static *what, uint64_t now)
{
    switch (tim_operand_check(core)) {
    case TIM_CHECK_REGISTERS:
        return tim_registers_check(w, what);
    case TIM_CHECK_BARRIERS:
        return tim_bars_check(core, w, what, now);
    default:
        return tim_depend_check(core, w, what, now);
    }
}

static void tim_depend_issue(struct tim_core *core, struct tim_warp *w, struct tim_op *op,
                      const struct tim_buffered *entry, uint64_t now)
{
    const struct tim_static *what = op->what;
    const bool lanes = tim_keeps_lanes(core);

    w->in_flight++;
    for (unsigned i = 0; keeps_registers(core) && i < what->write_count; i++) {
        unsigned reg = what->write[i];
        uint64_t bit = UINT64_C(1) << reg % 64, *by_load = &w->by_load.word[reg / 64];
        if (lanes)
            w->lanes[reg] |= op->lanes;
        else
            w->to_come.word[reg / 64] |= bit;
        *by_load = what->load ? *by_load | bit : *by_load & ~bit;
    }
    op->operands = what->path >= TIM_PATH_COLLECT || what->fixed ? (1u << what->row_reads) - 1 : 0;
    if (what->path == TIM_PATH_MEMORY && tim_has_local(core) && op->operands == 0)
        op->operands = 1u << TIM_MAX_ROWS; /* what it reads is read when its address is there */
    w->unread += op->operands != 0;
    if (op->operands != 0 && tim_war(core) == TIM_WAR_BLOOM)
        bloom(w, what, 1);
    if (op->operands != 0 && tim_war(core) == TIM_WAR_COUNTERS)
        count_readers(core, w, what, 1);
    op->vector = entry->own;
    op->write_bar = op->read_bar = 7;
    if (tim_dependence(core) == TIM_DEP_CONTROL) {
        op->write_bar = what->control.write_bar;
        op->read_bar = what->control.read_bar;
        if (tim_control_stage(core)) {
            w->new_write = op->write_bar;
            w->new_read = op->read_bar;
            w->new_seen = now + 2;
        }
        if (op->write_bar < 6)
            bar_add_result(core, w, op->write_bar, what->load);
        if (op->read_bar < 6)
            bar_add_read(core, w, op->read_bar);
        if (op->read_bar < 6 && op->operands == 0) {
            bar_take(core, w, op->read_bar);
            op->read_bar = w->new_read = 7;
        }
    }
    (void)now;
}

static void tim_depend_read(struct tim_core *core, struct tim_op *op)
{
    struct tim_warp *w = &core->warp[op->warp];

    w->unread--;
    if (tim_war(core) == TIM_WAR_BLOOM)
        bloom(w, op->what, -1);
    if (tim_war(core) == TIM_WAR_COUNTERS)
        count_readers(core, w, op->what, -1);
    if (op->read_bar < 6)
        bar_take(core, w, op->read_bar);
    if (tim_war(core) != TIM_WAR_NONE || (op->read_bar < 6 && !bar_holds_on(core, w, op->read_bar)))
        tim_warp_touch(core, op->warp, TIM_TOUCH_STALL);
    op->read_bar = 7;
}

/** Does the end of @op, whose dependence barrier has been counted, leave its warp's cause as it is?
 *  Most results are not what the warp waits for. */
static inline bool ends_nothing(const struct tim_core *core, const struct tim_warp *w,
                                const struct tim_op *op)
{
    if (tim_operand_check(core) == TIM_CHECK_BARRIERS)
        return op->write_bar >= 6 || bar_holds_on(core, w, op->write_bar);
    if (tim_operand_check(core) == TIM_CHECK_REGISTERS &&
        (w->reason == TIM_STALL_LOAD || w->reason == TIM_STALL_RESULT)) {
        const struct tim_registers *need = &tim_head(w)->need;

        for (unsigned i = 0; i < op->what->write_count; i++)
            if (need->word[op->what->write[i] / 64] >> op->what->write[i] % 64 & 1)
                return false;
        return true;
    }
    return false;
}

static void tim_depend_done(struct tim_core *core, struct tim_op *op)
{
    struct tim_warp *w = &core->warp[op->warp];
    const bool lanes = tim_keeps_lanes(core);

    if (op->write_bar < 6)
        bar_take(core, w, op->write_bar);
    if (!ends_nothing(core, w, op))
        tim_warp_touch(core, op->warp, TIM_TOUCH_RESULT);
    if (op->what->load) /* it waited long, and may issue soon */
        emu_warp_prefetch(w->state);
    w->in_flight--;
    for (unsigned i = 0; keeps_registers(core) && i < op->what->write_count; i++) {
        unsigned reg = op->what->write[i];
        if (lanes)
            w->lanes[reg] &= ~op->lanes;
        else
            w->to_come.word[reg / 64] &= ~(UINT64_C(1) << reg % 64);
    }
    if (op->vector != 0) {
        w->vector_used &= (uint8_t)~op->vector;
        for (unsigned i = 0; i < w->buffered; i++)
            w->buffer[i].vector &= (uint8_t)~op->vector;
    }
    op->write_bar = 7;
}

/** No access of another instruction comes before those of a memory instruction from now on. */
static inline void count_queued(struct tim_core *core, const struct tim_op *op)
{
    if (--core->warp[op->warp].unqueued == 0)
        tim_warp_touch(core, op->warp, TIM_TOUCH_MEMORY);
}

/* ---- dependency vectors ----------------------------------------------------------------------------- */

static void tim_depend_enter(struct tim_core *core, struct tim_warp *w)
{
    unsigned entries = core->config->issue_vector_entries;

    for (unsigned i = 0; i < w->buffered; i++) {
        struct tim_buffered *b = &w->buffer[i];
        const struct tim_static *what = tim_head(w) + i;
        unsigned need = what->write_count;
        if (b->entered)
            continue;
        unsigned span = 1;
        if (need > entries) { /* a wide result takes one entry for all its registers */
            span = need;
            need = 1;
        }
        if (entries - lw_popcount(w->vector_used) < need)
            return; /* in order: what is after it does not enter either */
        b->vector = b->own = 0;
        for (unsigned e = 0; e < entries; e++) {
            bool match = false;
            for (unsigned r = 0; r < what->read_count; r++)
                match |= what->read[r] - w->vector_reg[e] + 0u < w->vector_span[e];
            for (unsigned r = 0; r < what->write_count; r++)
                match |= what->write[r] - w->vector_reg[e] + 0u < w->vector_span[e];
            if (w->vector_used >> e & 1 && match)
                b->vector |= (uint8_t)(1u << e);
        }
        for (unsigned k = 0, e = 0; k < need; e++)
            if (!(w->vector_used >> e & 1)) {
                w->vector_used |= (uint8_t)(1u << e);
                w->vector_reg[e] = what->write[k++];
                w->vector_span[e] = (uint8_t)span;
                b->own |= (uint8_t)(1u << e);
            }
        b->entered = true;
        core->moved = true;
    }
}

static void tim_depend_leave(struct tim_warp *w, unsigned first)
{
    if (w->vector_used == 0)
        return;
    for (unsigned i = first; i < w->buffered; i++) {
        w->vector_used &= (uint8_t)~w->buffer[i].own;
        for (unsigned k = 0; k < first; k++)
            w->buffer[k].vector &= (uint8_t)~w->buffer[i].own;
        w->buffer[i].own = w->buffer[i].vector = 0;
        w->buffer[i].entered = false;
    }
}
