/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tags of registers at issue: counts them, chooses the unit that executes the instruction, and counts the rows of the
 * register file that are in use. Section "Tagged registers" of docs/reference/timing-core.md has the rules.
 */

/** Recounts the warp's register rows and compact entries from emu's tags. Returns the increase of the number of register rows. */
static int tags_recount(struct tim_core *core, struct tim_warp *w)
{
    unsigned all, saved = tim_tags_count(core->config, core->emu, core->block[w->block].slot, w->index, &all);
    int more = (int)(all - saved) - w->rows;

    core->rows += (unsigned)more;
    core->rows_saved += saved - w->rows_saved;
    w->rows = (uint16_t)(all - saved);
    w->rows_saved = (uint16_t)saved;
    return more;
}

/* Counters indexed by enum emu_tag_kind. */
static const uint8_t tags_of_reads[] = {TIM_CORE_tag_reads_uniform, TIM_CORE_tag_reads_affine, TIM_CORE_tag_reads_vector};
static const uint8_t tags_of_writes[] = {TIM_CORE_tag_writes_uniform, TIM_CORE_tag_writes_affine,
                                         TIM_CORE_tag_writes_vector};
static const uint8_t tags_of_instructions[] = {TIM_CORE_tag_instructions_uniform, TIM_CORE_tag_instructions_affine,
                                               TIM_CORE_tag_instructions_vector};
static const uint8_t tags_of_addresses[] = {TIM_CORE_tag_addresses_uniform, TIM_CORE_tag_addresses_affine,
                                            TIM_CORE_tag_addresses_vector};
_Static_assert(EMU_TAG_U == 0 && EMU_TAG_A == 1 && EMU_TAG_V == 2 && TIM_CORE_COUNT <= 256, "indexes of counters");

static void tags_count(struct tim_core *core, const struct tim_static *what, const struct emu_event *ev,
                       const struct tim_tagged *t)
{
    uint64_t *count = core->stats->count;

    count[TIM_CORE_tag_expansions] += ev->expansions;
    for (unsigned k = 0; k < what->row_reads; k++)
        count[tags_of_reads[t->read_kind[k]]]++;
    if (ev->effective == 0 || (what->row_reads == 0 && what->row_writes == 0))
        return;
    for (unsigned k = 0; k < what->row_writes; k++)
        count[tags_of_writes[t->write_kind[k]]]++;
    count[tags_of_instructions[t->sources]]++;
    if (what->address_rows != 0)
        count[tags_of_addresses[t->address]]++;
}

/** Updates the counters for instruction @what of warp @w, which has retired. Returns the variant of @what for the unit that
 *  executes it: one lane, the affine unit or all lanes. Sets *t to the summary of its tags. Sets *eager to the number of compact
 *  entries that tags.expansion eager has expanded to register rows because of a divergent branch. */
static const struct tim_static *tim_tags_issue(struct tim_core *core, struct tim_warp *w, const struct tim_static *what,
                                               const struct emu_event *ev, struct tim_tagged *t, unsigned *eager)
{
    static const uint8_t counter[] = {TIM_CORE_scalar_executed, TIM_CORE_affine_executed};
    uint64_t *count = core->stats->count;

    *eager = 0;
    tim_tags_look(core->config, what, ev, t);
    tags_count(core, what, ev, t);
    if (what->flow) { /* a call or a branch may change the tags of any register */
        int more = tags_recount(core, w);

        *eager = core->config->tags_expansion == EMU_TAG_EAGER && ev->expansions != 0 && more > 0 ? (unsigned)more : 0;
        if (more != 0)
            tim_count_rows(core);
    } else if (t->rows != 0) {
        core->rows += (unsigned)t->rows;
        core->rows_saved -= (unsigned)t->rows;
        w->rows = (uint16_t)(w->rows + t->rows);
        w->rows_saved = (uint16_t)(w->rows_saved - t->rows);
        tim_count_rows(core);
    }
    if (t->as == EMU_TAG_V)
        return what;
    count[what->tag_rule == TIM_TAG_ADDRESS ? TIM_CORE_addresses_once : counter[t->as]]++;
    unsigned lanes = lw_popcount(ev->effective), cost = t->as == EMU_TAG_U ? 1 : 2;
    count[TIM_CORE_lane_operations_saved] += lanes > cost ? lanes - cost : 0;
    return &w->code->tagged[t->as][what - w->code->insn];
}

/* ---- ports of compact entries ------------------------------------------------------------------- */

/** Reads (@reads) or writes register @row of @op as a compact entry in cycle @now. Returns false if no port is free. */
static bool claim_entry(struct tim_core *core, const struct tim_op *op, unsigned bank, unsigned row, bool reads,
                        uint64_t now)
{
    if (tim_windowed(core)) {
        bool claimed = window_claim_entry(core, op, row, now);

        core->stats->count[TIM_CORE_compact_conflicts] += !claimed;
        return claimed;
    }
    bool avoids = false, done = tim_entries_claim(core->config, core->entries, op->sched, bank, row,
                                                  core->bank_at[bank] == now + 1, now, &avoids);

    if (!done) {
        core->stats->count[TIM_CORE_compact_conflicts]++;
        return false;
    }
    core->moved = true;
    core->stats->count[reads ? TIM_CORE_register_reads_compact : TIM_CORE_register_writes_compact]++;
    core->stats->count[TIM_CORE_conflicts_avoided] += reads && avoids;
    return true;
}

/** Collector `reserved`: reserves a port for the read of register @row of @op as a compact entry. Returns the cycle of
 *  the read, which is @from or later. */
static uint64_t reserve_entry(struct tim_core *core, const struct tim_op *op, unsigned bank, unsigned row, uint64_t from)
{
    uint64_t at = tim_entries_reserve(core->config, core->entries, op->sched, bank, row, core->bank_free[bank], from);

    core->stats->count[TIM_CORE_register_reads_compact]++;
    core->stats->count[TIM_CORE_compact_conflicts] += at - from;
    core->stats->count[TIM_CORE_conflicts_avoided] += core->bank_free[bank] > at;
    return at;
}
