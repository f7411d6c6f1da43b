/* SPDX-License-Identifier: Apache-2.0 */
/*
 * registers.collector: window. Instructions of fixed latency pass stages Control and Allocate after issue. In
 * Allocate an instruction reserves a read port for each register that it must read, in the registers.window cycles
 * that follow. If the ports have too few free cycles, the instruction is held in Allocate. The next instruction then
 * stays in Control, and the scheduler issues nothing. Instructions of variable latency pass only Control, and read in
 * cycles that are not reserved. Source: Huerta et al., MICRO 2025, sections 5.1.1 and 5.3.
 *
 * An instruction that issues in cycle t is in Control in t + 1. It is in Allocate from t + 2 on or, if the preceding
 * instruction is still there, from the cycle after that instruction leaves. The cycle in which an instruction leaves Allocate
 * depends only on earlier instructions. All these times are therefore computed at issue, without work in later cycles.
 */

/** Returns whether the instruction passes Allocate. Instructions of fixed latency do. */
static inline bool in_window(const struct tim_core *core, const struct tim_static *what)
{
    return tim_windowed(core) && what->fixed;
}

static inline unsigned window_bank(const struct tim_core *core, unsigned swizzle, unsigned row)
{
    unsigned banks = core->config->registers_banks, bank = row + swizzle;

    return core->bank_mask != 0 ? bank & core->bank_mask : bank % banks;
}

/** Returns the bank of a register. If the register is stored as a compact entry (@entry), returns the file of compact
 *  entries, whose number follows those of the banks. */
static inline unsigned window_bank_of(const struct tim_core *core, unsigned swizzle, unsigned row, bool entry)
{
    return tim_has_entries(core) && entry ? core->config->registers_banks : window_bank(core, swizzle, row);
}
static inline unsigned window_banks(const struct tim_core *core)
{
    return core->config->registers_banks + tim_has_entries(core);
}
static inline unsigned window_ports(const struct tim_core *core, unsigned bank)
{
    return tim_has_entries(core) && bank == core->config->registers_banks ? core->config->registers_compact_ports
                                                                          : core->config->registers_ports;
}

/** Returns the number of reads of bank @bank that are reserved in cycle @at. */
static inline unsigned window_reads(const struct tim_window *win, unsigned bank, uint64_t at)
{
    const struct tim_reserved *r = &win->bank[bank].read[at % TIM_WINDOW_CYCLES];

    return r->cycle == at ? r->count : 0;
}
static inline void window_read(struct tim_window *win, unsigned bank, uint64_t at)
{
    struct tim_reserved *r = &win->bank[bank].read[at % TIM_WINDOW_CYCLES];

    r->count = r->cycle == at ? r->count + 1 : 1;
    r->cycle = at;
}
static inline bool window_writes(const struct tim_window *win, unsigned bank, uint64_t at)
{
    return win->bank[bank].write[at % TIM_WINDOW_CYCLES] == at;
}

/** Counts the read of a compact entry in cycle @at. Also counts whether a read of a register row instead would have had to
 *  wait. */
static void window_count_entry(struct tim_core *core, const struct tim_window *win, unsigned swizzle, unsigned row, uint64_t at)
{
    core->stats->count[TIM_CORE_register_reads_compact]++;
    core->stats->count[TIM_CORE_conflicts_avoided] +=
        window_reads(win, window_bank(core, swizzle, row), at) >= core->config->registers_ports;
}

/* ---- the register-file cache ------------------------------------------------------------------ */

/** Returns the contents of a cell that holds register @row of warp @w. An empty cell contains 0. */
static uint64_t cell_of(const struct tim_warp *w, unsigned row)
{
    return w->age << 8 | row;
}

static bool rfc_hits(const struct tim_core *core, const struct tim_window *win, const struct tim_warp *w,
                     const struct tim_static *what, unsigned swizzle, unsigned k)
{
    return core->config->registers_rfc && what->cached && what->row_operand[k] < TIM_RFC_OPERANDS &&
           win->bank[window_bank(core, swizzle, what->row_read[k])].cell[what->row_operand[k]] ==
               cell_of(w, what->row_read[k]);
}

/** Updates the register-file cache for an instruction. Each look-up of a source empties the cell of the source's bank and
 *  position, even if it hits. If the instruction has the reuse bit of this position, the cell then holds the source. A
 *  register that the instruction writes is removed from all cells. */
static void rfc_update(struct tim_core *core, struct tim_window *win, const struct tim_warp *w,
                       const struct tim_static *what, const struct tim_tagged *tagged, unsigned swizzle)
{
    if (!core->config->registers_rfc)
        return;
    for (unsigned k = 0; what->cached && k < what->row_reads; k++) {
        unsigned operand = what->row_operand[k];

        if (operand >= TIM_RFC_OPERANDS || (tim_has_entries(core) && (tagged->reads >> k & 1) != 0))
            continue; /* the register-file cache does not hold compact entries */
        core->stats->count[TIM_CORE_rfc_requests]++;
        core->stats->count[TIM_CORE_rfc_hits] += rfc_hits(core, win, w, what, swizzle, k);
        win->bank[window_bank(core, swizzle, what->row_read[k])].cell[operand] =
            what->control.reuse >> operand & 1 ? cell_of(w, what->row_read[k]) : 0;
    }
    for (unsigned k = 0; k < what->row_writes; k++) {
        struct tim_window_bank *bank = &win->bank[window_bank(core, swizzle, what->row_write[k])];

        for (unsigned operand = 0; operand < TIM_RFC_OPERANDS; operand++)
            if (bank->cell[operand] == cell_of(w, what->row_write[k]))
                bank->cell[operand] = 0;
    }
}

/* ---- Allocate --------------------------------------------------------------------------------- */

/** A register that an instruction must read in Allocate's window. */
struct window_read {
    uint8_t row, bank;
};
/** Stores to @read, without duplicates, the registers that an instruction must read and that the register-file cache lacks.
 *  Returns their number. */
static unsigned window_needs(const struct tim_core *core, const struct tim_window *win, const struct tim_warp *w,
                             const struct tim_static *what, const struct tim_tagged *tagged, unsigned swizzle,
                             struct window_read *read)
{
    unsigned count = 0;

    for (unsigned k = 0; k < what->row_reads; k++) {
        bool entry = tim_has_entries(core) && (tagged->reads >> k & 1) != 0;
        unsigned i = 0;

        if (!entry && rfc_hits(core, win, w, what, swizzle, k))
            continue;
        while (i < count && read[i].row != what->row_read[k])
            i++;
        read[i] = (struct window_read){what->row_read[k], (uint8_t)window_bank_of(core, swizzle, what->row_read[k], entry)};
        count += i == count;
    }
    return count;
}

/** Sets *bank to the bank of result @k. Returns the number of writes to it: two if a compact entry becomes a register row. */
static inline unsigned window_writes_of(const struct tim_core *core, const struct tim_static *what,
                                        const struct tim_tagged *tagged, unsigned swizzle, unsigned k, unsigned *bank)
{
    *bank = window_bank_of(core, swizzle, what->row_write[k], tim_has_entries(core) && (tagged->writes >> k & 1) != 0);
    return 1 + (tim_has_entries(core) && (tagged->expands >> k & 1) != 0);
}

/** Returns whether the instruction can leave Allocate in cycle @at. For this the ports need enough free cycles for its @reads
 *  reads in the window after @at, and for its results within registers.results cycles. */
static bool window_fits(const struct tim_core *core, const struct tim_window *win, const struct tim_static *what,
                        const struct tim_tagged *tagged, unsigned swizzle, const struct window_read *read, unsigned reads,
                        uint64_t at)
{
    const struct tim_config *c = core->config;
    uint64_t end = at + 4 + what->latency;
    uint8_t need[TIM_MAX_BANKS + 1] = {0}, writes[TIM_MAX_BANKS + 1] = {0};

    for (unsigned i = 0; i < reads; i++)
        need[read[i].bank]++;
    for (unsigned b = 0; reads != 0 && b < window_banks(core); b++) {
        unsigned ports = window_ports(core, b), least = (need[b] + ports - 1) / ports, room = 0;
        unsigned window = c->registers_window > least ? c->registers_window : least;

        for (uint64_t cycle = at + 1; need[b] != 0 && cycle <= at + window; cycle++)
            room += ports - window_reads(win, b, cycle);
        if (room < need[b])
            return false;
    }
    for (unsigned k = 0, bank; k < what->row_writes; k++) {
        unsigned count = window_writes_of(core, what, tagged, swizzle, k, &bank);

        writes[bank] = (uint8_t)(writes[bank] + count);
    }
    for (unsigned b = 0; what->row_writes != 0 && b < window_banks(core); b++) {
        unsigned room = c->registers_results > writes[b] ? c->registers_results : writes[b], taken = writes[b];

        for (unsigned i = 0; writes[b] != 0 && i < room; i++)
            taken += window_writes(win, b, end + i);
        if (taken > room)
            return false;
    }
    return true;
}

/** Reserves ports for the reads and the result writes of an instruction that leaves Allocate in cycle @at. */
static void window_take(struct tim_core *core, struct tim_window *win, const struct tim_static *what,
                        const struct tim_tagged *tagged, unsigned swizzle, const struct window_read *read, unsigned reads,
                        uint64_t at)
{
    const struct tim_config *c = core->config;
    uint64_t end = at + 4 + what->latency;

    for (unsigned i = 0; i < reads; i++) {
        unsigned bank = read[i].bank;
        uint64_t cycle = at + 1;

        while (window_reads(win, bank, cycle) == window_ports(core, bank))
            cycle++;
        window_read(win, bank, cycle);
        if (tim_has_entries(core) && bank == c->registers_banks)
            window_count_entry(core, win, swizzle, read[i].row, cycle);
        else
            core->stats->count[TIM_CORE_register_reads]++;
    }
    for (unsigned k = 0, bank; k < what->row_writes; k++)
        for (unsigned n = window_writes_of(core, what, tagged, swizzle, k, &bank); n > 0; n--) {
            uint64_t cycle = end;

            while (window_writes(win, bank, cycle))
                cycle++;
            win->bank[bank].write[cycle % TIM_WINDOW_CYCLES] = cycle;
        }
}

/** issue.stall_freeze all: no stall count of the scheduler's warps decreases in the cycles [from, to), in which Allocate
 *  holds an instruction. Moves the ends of the stall counts accordingly. */
static void freeze_all(struct tim_core *core, unsigned s, uint64_t from, uint64_t to, uint64_t now)
{
    for (unsigned i = s; i < core->config->core_warps; i += core->config->issue_schedulers) {
        struct tim_warp *w = &core->warp[i];

        for (uint64_t cycle = from; w->used && !w->launching && w->not_before > now && cycle < to; cycle++)
            w->not_before += cycle <= w->not_before;
    }
}

/** Computes the times of instruction @what, which warp @w of scheduler @s issues in cycle @now. @tagged: its registers that
 *  are compact entries. Returns the cycle in which it leaves Allocate, or 0 if it does not pass Allocate. */
static uint64_t tim_window_issue(struct tim_core *core, unsigned s, struct tim_warp *w, const struct tim_static *what,
                                 const struct tim_tagged *tagged, uint64_t now)
{
    struct tim_window *win = &core->window[s];
    unsigned swizzle = core->config->registers_swizzle ? w->place - tim_first(core, s) : 0;
    uint64_t before = win->left_at, first = before + 1 > now + 2 ? before + 1 : now + 2, at = first;
    struct window_read read[TIM_MAX_ROWS];

    win->control_at = now + 1;
    w->staged_until = w->staged_until > now + 1 ? w->staged_until : now + 1;
    if (!what->fixed) {
        rfc_update(core, win, w, what, tagged, swizzle);
        return 0;
    }
    if (before > now + 1)
        win->control_at = before;
    unsigned reads = window_needs(core, win, w, what, tagged, swizzle, read);
    while (!window_fits(core, win, what, tagged, swizzle, read, reads, at)) {
        win->held[at % TIM_WINDOW_CYCLES] = at;
        at++;
    }
    window_take(core, win, what, tagged, swizzle, read, reads, at);
    rfc_update(core, win, w, what, tagged, swizzle);
    win->left_at = at;
    w->staged_until = at;
    core->stats->count[TIM_CORE_allocate_holds] += at - first;
    if (at != first && core->config->issue_stall_freeze == TIM_FREEZE_ALL)
        freeze_all(core, s, first, at, now);
    return at;
}

/** Returns the cycle in which a stall count of @w ends. @until: the cycle in which the stall count would end if Allocate held
 *  no instruction until then. */
static uint64_t tim_window_freeze(const struct tim_core *core, unsigned s, const struct tim_warp *w, uint64_t now,
                                  uint64_t until)
{
    const struct tim_window *win = &core->window[s];
    unsigned rule = core->config->issue_stall_freeze;
    uint64_t last = rule == TIM_FREEZE_ALL ? win->left_at : w->staged_until;

    for (uint64_t cycle = now + 1; rule != TIM_FREEZE_NONE && cycle <= until && cycle <= last; cycle++)
        until += win->held[cycle % TIM_WINDOW_CYCLES] == cycle;
    return until;
}

/* ---- instructions of variable latency ------------------------------------------------------------ */

/** Takes a read port of the bank of register @row in this cycle. Returns false if all ports are reserved. */
static bool window_claim_read(struct tim_core *core, const struct tim_op *op, unsigned row, uint64_t now)
{
    struct tim_window *win = &core->window[op->sched];
    unsigned bank = window_bank(core, op->swizzle, row);

    if (window_reads(win, bank, now) >= core->config->registers_ports)
        return false;
    window_read(win, bank, now);
    core->moved = true;
    return true;
}

/** Takes a read port of the file of compact entries in this cycle. Returns false if all ports are reserved. */
static bool window_claim_entry(struct tim_core *core, const struct tim_op *op, unsigned row, uint64_t now)
{
    struct tim_window *win = &core->window[op->sched];
    unsigned bank = core->config->registers_banks;

    if (window_reads(win, bank, now) >= core->config->registers_compact_ports)
        return false;
    window_read(win, bank, now);
    window_count_entry(core, win, op->swizzle, row, now);
    core->moved = true;
    return true;
}

/** Takes the write ports of the banks of all results in this cycle. Returns false if one of them is reserved, as results
 *  of fixed latency have precedence. If compact entries are expanded, takes only the ports for the expanded entries, which
 *  are written before the results. */
static bool window_claim_writes(struct tim_core *core, const struct tim_op *op, uint64_t now)
{
    struct tim_window *win = &core->window[op->sched];
    bool expands = tim_has_entries(core) && op->expands != 0;
    unsigned bank[TIM_MAX_WRITES], count = 0;

    for (unsigned k = 0; k < op->what->row_writes; k++)
        if (!expands || (op->expands >> k & 1) != 0)
            bank[count++] = window_bank_of(core, op->swizzle, op->what->row_write[k],
                                          tim_has_entries(core) && (op->compact_writes >> k & 1) != 0);
    for (unsigned i = 0; i < count; i++)
        if (window_writes(win, bank[i], now))
            return false;
    for (unsigned i = 0; i < count; i++)
        win->bank[bank[i]].write[now % TIM_WINDOW_CYCLES] = now;
    return true;
}
