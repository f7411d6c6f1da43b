/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Dependences through registers: the scoreboard (a bit for each register, or the lanes of its pending writes with
 * issue.split_lanes), dependency vectors, the control field, wait counters, and operands that earlier instructions have not
 * read yet. Source: specification of the book, sections 8.3 (dependency vectors), 3.3 (control field) and 9.5 (operands).
 */

/** Checks the registers of @what against the bits of the scoreboard. Returns TIM_STALL_ISSUED if none of them has a pending
 *  write, otherwise the stall reason. */
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

/** Checks the dependence barriers for which the control field makes @what wait. Returns TIM_STALL_ISSUED if there are none,
 *  otherwise the stall reason. */
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

/** Returns whether pending writes of registers are recorded. With issue.dependence control they are not needed. */
static bool keeps_registers(const struct tim_core *core)
{
    return tim_keeps_lanes(core) || tim_dependence(core) != TIM_DEP_CONTROL;
}

/** Does what tim_registers_check() does, for a scoreboard that records the lanes of each pending write. */
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

    if (!head->entered) /* the instruction waits for a free entry */
        return TIM_STALL_RESULT;
    for (unsigned e = 0; e < TIM_MAX_VECTOR; e++)
        if (head->vector >> e & 1)
            return tim_is_by_load(w, w->vector_reg[e]) ? TIM_STALL_LOAD : TIM_STALL_RESULT;
    return TIM_STALL_ISSUED;
}

/* Returns the count of a dependence barrier at which an instruction that would increment the barrier must wait. It is one less
 * than the maximum, because an instruction may increment a barrier twice: for its operands and for its result. */
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
/** Increments barrier @b for a pending result. */
static void bar_add_result(const struct tim_core *core, struct tim_warp *w, unsigned b, bool load)
{
    unsigned bit = 1u << b;

    bar_add(core, w, b);
    w->load_bars = (uint8_t)(load ? w->load_bars | bit : w->load_bars & ~bit);
    w->read_bars &= (uint8_t)~bit;
}
/** Increments barrier @b for pending operand reads. */
static void bar_add_read(const struct tim_core *core, struct tim_warp *w, unsigned b)
{
    unsigned bit = 1u << b;

    if (w->bar[b] == 0) {
        w->load_bars &= (uint8_t)~bit;
        w->read_bars |= (uint8_t)bit;
    }
    bar_add(core, w, b);
}
/** Decrements barrier @b. */
static void bar_take(const struct tim_core *core, struct tim_warp *w, unsigned b)
{
    if (--w->bar[b] == 0)
        w->bars &= (uint8_t)~(1u << b);
    if (w->bar[b] == bar_full(core) - 1)
        w->full_bars &= (uint8_t)~(1u << b);
}
/** Called after barrier @b was decremented. Returns true if the decrement cannot end any wait for the barrier. */
static bool bar_holds_on(const struct tim_core *core, const struct tim_warp *w, unsigned b)
{
    if (w->hold_from != 0 && w->hold_bar == b)
        return false;
    if (tim_control_stage(core) && core->now < w->new_seen && (w->new_write == b || w->new_read == b))
        return false;
    return w->bar[b] != 0 && w->bar[b] != bar_full(core) - 1;
}

/* ---- counters -------------------------------------------------------------------------------- */

/*
 * issue.dependence counters. vmcnt counts vector memory instructions, which complete in order. expcnt counts vector
 * memory stores that have not read their data. lgkmcnt counts shared memory instructions, which complete in order, and
 * scalar loads, which complete in any order. The kernels of Lanewise contain no waitcnt. An instruction that needs a
 * result therefore waits as if the compiler had put a waitcnt right before it. If the producer completes in order, the
 * instruction waits until the producer and all older counted instructions are complete, so registers become free in issue
 * order.
 * If a scalar load is in flight, the instruction waits for lgkmcnt(0), because only this count proves that a result is
 * available. Source: specification of the book, section 8.5; Southern Islands ISA, section 4.4 (what is counted, and until when).
 */

/** Returns whether @what writes a register that an earlier store has not read yet. */
static bool overwrites(const struct tim_counters *c, const struct tim_static *what)
{
    for (uint32_t n = c->exp.first; n != c->exp.next; n++) {
        const struct tim_static *store = c->exp.what[n % TIM_COUNT_MOST];

        for (unsigned r = store->address_rows; r < store->row_reads; r++)
            for (unsigned w = 0; w < what->row_writes; w++)
                if (store->row_read[r] == what->row_write[w])
                    return true;
    }
    return false;
}

/** Returns whether the counter that would count the instruction is at its maximum. */
static bool counter_is_full(const struct tim_config *config, const struct tim_counters *c,
                            const struct tim_static *what)
{
    switch (what->counted) {
    case TIM_COUNTED_VM:
        return tim_count_of(&c->vm) >= config->issue_vm_count ||
               (what->writes && tim_count_of(&c->exp) >= config->issue_exp_count);
    case TIM_COUNTED_SHARED:
    case TIM_COUNTED_SCALAR:
        return tim_lgkm_of(c) >= config->issue_lgkm_count;
    default:
        return false;
    }
}

static enum tim_stall check_counters(const struct tim_core *core, const struct tim_warp *w,
                                     const struct tim_static *what)
{
    const struct tim_counters *c = &core->counters[w - core->warp];
    enum tim_stall reason;

    if (what->waitcnt) {
        if (tim_count_of(&c->vm) > what->vm_most || tim_lgkm_of(c) > what->lgkm_most)
            return TIM_STALL_LOAD;
        if (tim_count_of(&c->exp) > what->exp_most)
            return TIM_STALL_WAR;
    }
    reason = tim_keeps_lanes(core) ? check_lanes(core, w, what) : tim_registers_check(w, what);
    if (reason != TIM_STALL_ISSUED)
        return reason;
    if (overwrites(c, what))
        return TIM_STALL_WAR;
    return counter_is_full(core->config, c, what) ? TIM_STALL_COUNTER : TIM_STALL_ISSUED;
}

/** Records that the register has no pending write. */
static void register_is_free(const struct tim_core *core, struct tim_warp *w, unsigned reg)
{
    if (tim_keeps_lanes(core))
        w->lanes[reg] = 0;
    else
        w->to_come.word[reg / 64] &= ~(UINT64_C(1) << reg % 64);
}

static uint8_t count_on(struct tim_counted_ops *ops, const struct tim_static *what)
{
    uint8_t number = ops->next++ % TIM_COUNT_MOST;

    ops->what[number] = what;
    ops->writes[number] = 0;
    return number;
}

/** Counts a memory instruction that issues. */
static void count_issue(struct tim_core *core, struct tim_op *op)
{
    struct tim_counters *c = &core->counters[op->warp];

    switch (op->what->counted) {
    case TIM_COUNTED_VM:
        op->number = count_on(&c->vm, op->what);
        if (op->what->writes && op->operands != 0)
            op->exp_number = count_on(&c->exp, op->what);
        break;
    case TIM_COUNTED_SHARED:
        op->number = count_on(&c->shared, op->what);
        break;
    case TIM_COUNTED_SCALAR:
        c->scalar++;
        c->mixed = true;
        break;
    default:
        break;
    }
}

/** Removes from the counter the instructions that are complete and have no older incomplete one. Their result registers
 *  become free or, if @holds, are held until lgkmcnt is 0. */
static void count_off(struct tim_core *core, unsigned warp, struct tim_counted_ops *ops, bool holds)
{
    struct tim_warp *w = &core->warp[warp];

    while (ops->first != ops->next && (ops->over >> ops->first % TIM_COUNT_MOST & 1) != 0 &&
           ops->writes[ops->first % TIM_COUNT_MOST] == 0) {
        const struct tim_static *what = ops->what[ops->first % TIM_COUNT_MOST];

        for (unsigned i = 0; i < what->write_count; i++)
            if (holds)
                core->counters[warp].held.word[what->write[i] / 64] |= UINT64_C(1) << what->write[i] % 64;
            else
                register_is_free(core, w, what->write[i]);
        ops->over &= ~(UINT64_C(1) << ops->first % TIM_COUNT_MOST);
        ops->first++;
    }
    tim_warp_touch(core, warp, TIM_TOUCH_RESULT);
}

/** Marks a memory instruction as complete. Its writes may still be unanswered. */
static void count_over(struct tim_core *core, const struct tim_op *op)
{
    struct tim_counters *c = &core->counters[op->warp];
    struct tim_warp *w = &core->warp[op->warp];

    if (op->what->counted == TIM_COUNTED_VM) {
        c->vm.over |= UINT64_C(1) << op->number;
        count_off(core, op->warp, &c->vm, false);
        return;
    }
    if (op->what->counted == TIM_COUNTED_SHARED) {
        c->shared.over |= UINT64_C(1) << op->number;
        count_off(core, op->warp, &c->shared, c->mixed);
    } else {
        c->scalar--;
        for (unsigned i = 0; i < op->what->write_count; i++)
            c->held.word[op->what->write[i] / 64] |= UINT64_C(1) << op->what->write[i] % 64;
    }
    if (tim_lgkm_of(c) != 0 || !c->mixed)
        return;
    c->mixed = false;
    for (unsigned i = 0; i < TIM_REG_WORDS; i++) {
        for (LW_EACH_BIT(b, c->held.word[i]))
            register_is_free(core, w, i * 64 + (unsigned)b);
        c->held.word[i] = 0;
    }
}

/** Called when @op has read its operands. Updates expcnt if @op is a vector memory store. */
static void count_read(struct tim_core *core, const struct tim_op *op)
{
    struct tim_counters *c = &core->counters[op->warp];

    if (op->what->counted != TIM_COUNTED_VM || !op->what->writes)
        return;
    c->exp.over |= UINT64_C(1) << op->exp_number;
    while (c->exp.first != c->exp.next && (c->exp.over >> c->exp.first % TIM_COUNT_MOST & 1) != 0)
        c->exp.over &= ~(UINT64_C(1) << c->exp.first++ % TIM_COUNT_MOST);
    tim_warp_touch(core, op->warp, TIM_TOUCH_RESULT);
}

/** Counts a write packet of @op. Returns the index for the packet's id, which the caller passes to count_answer() when the answer
 *  arrives. */
static uint32_t count_write(struct tim_core *core, const struct tim_op *op)
{
    if (!tim_counts(core) || op->what->counted != TIM_COUNTED_VM)
        return op->warp;
    core->counters[op->warp].vm.writes[op->number]++;
    return op->warp | UINT32_C(1) << 16 | (uint32_t)op->number << 17;
}

/** Handles the answer to a write packet. @index: result of count_write(). */
static void count_answer(struct tim_core *core, uint32_t index)
{
    unsigned warp = index & 0xffff;

    if ((index >> 16 & 1) == 0)
        return;
    core->counters[warp].vm.writes[index >> 17 & 63]--;
    count_off(core, warp, &core->counters[warp].vm, false);
}

/* ---- pending reads of operands ------------------------------------------------------------------- */

static unsigned bloom_bit(unsigned reg, unsigned which)
{
    return which == 0 ? reg & 15 : (reg * 7 + (reg >> 4) + 3) & 15;
}

/** Returns an array with the number of pending reads of each vector register of the warp. */
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
    case TIM_DEP_COUNTERS:
        reason = check_counters(core, w, what);
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

/** Does what tim_depend_check() does, with the usual cases inline. */
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
    op->operands = tim_reads_later(what) ? (1u << what->row_reads) - 1 : 0;
    if (what->path == TIM_PATH_MEMORY && tim_has_local(core) && op->operands == 0)
        op->operands = 1u << TIM_MAX_ROWS; /* a bit that stands for no vector register: the memory unit of
                                            * the scheduler reads other sources with the address, too */
    w->unread += op->operands != 0;
    if (op->operands != 0 && tim_war(core) == TIM_WAR_BLOOM)
        bloom(w, what, 1);
    if (op->operands != 0 && tim_war(core) == TIM_WAR_COUNTERS)
        count_readers(core, w, what, 1);
    if (tim_counts(core))
        count_issue(core, op);
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
    if (tim_acts() && core->mechs.registers)
        tim_mechs_read(&core->mechs, op->warp, op->what);
    if (tim_war(core) == TIM_WAR_BLOOM)
        bloom(w, op->what, -1);
    if (tim_war(core) == TIM_WAR_COUNTERS)
        count_readers(core, w, op->what, -1);
    if (op->read_bar < 6)
        bar_take(core, w, op->read_bar);
    if (tim_counts(core))
        count_read(core, op);
    if (tim_war(core) != TIM_WAR_NONE || (op->read_bar < 6 && !bar_holds_on(core, w, op->read_bar)))
        tim_warp_touch(core, op->warp, TIM_TOUCH_STALL);
    op->read_bar = 7;
}

/** Returns true if the end of @op cannot change the stall reason of the warp, which is the usual case. The caller has
 *  already decremented the dependence barrier of @op. */
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

    if (tim_acts() && core->mechs.registers)
        tim_mechs_write(&core->mechs, op->warp, op->what);
    if (op->write_bar < 6)
        bar_take(core, w, op->write_bar);
    if (!ends_nothing(core, w, op))
        tim_warp_touch(core, op->warp, TIM_TOUCH_RESULT);
    if (op->what->load) /* prefetches the warp's state: the warp may issue soon, but the host's caches may have evicted the
                         * state */
        emu_warp_prefetch(w->state);
    w->in_flight--;
    const bool counted = tim_counts(core) && op->what->counted != TIM_COUNTED_NOT;
    if (counted)
        count_over(core, op);
    for (unsigned i = 0; !counted && keeps_registers(core) && i < op->what->write_count; i++) {
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

/** Called when @op enters the load/store queue or, with replays, has made all its accesses. */
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
        if (need > entries) { /* a result with more registers than there are entries takes one entry for all its registers */
            span = need;
            need = 1;
        }
        if (entries - lw_popcount(w->vector_used) < need)
            return; /* Instructions get entries in order, so later instructions do not get any either. */
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
