/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Prediction of the L1 lines that loops need. One warp is sampled in each loop. The sampling answers three questions. Do the
 * loads of the warp access lines that the warp has requested before, even if L1 has lost these lines? Are these loads
 * divergent? Which of these loads access the same lines in an iteration? With a profile, the first two answers come from the
 * profile (section 5.6 of the source), and loads with the same base address are assumed to access the same lines.
 */
#include "timing/mechanisms/tim_daws_priv.h"

#include <stdlib.h>

bool tim_daws_tables_init(struct tim_daws_tables *t, const struct tim_mech_core *core)
{
    const struct tim_config *config = core->config;

    t->config = config;
    t->count = core->count;
    t->load = calloc(config->daws_loads, sizeof *t->load);
    t->sample = calloc(config->daws_loops, sizeof *t->sample);
    t->repeat = calloc(config->daws_repeats, sizeof *t->repeat);
    return t->load != NULL && t->sample != NULL && t->repeat != NULL;
}

void tim_daws_tables_fini(struct tim_daws_tables *t)
{
    free(t->load);
    free(t->sample);
    free(t->repeat);
}

void tim_daws_tables_clear(struct tim_daws_tables *t)
{
    t->loads = t->samples = t->next_rep = 0;
    memset(t->repeat, 0, t->config->daws_repeats * sizeof *t->repeat);
}

/* ---- prediction -------------------------------------------------------------------------------- */

static const struct tim_daws_sample *sample_of(const struct tim_daws_tables *t, uint64_t loop)
{
    for (unsigned i = 0; i < t->samples; i++)
        if (t->sample[i].loop == loop)
            return &t->sample[i];
    return NULL;
}

bool tim_daws_has_locality(const struct tim_daws_tables *t, uint64_t loop)
{
    const struct tim_daws_sample *sample = sample_of(t, loop);

    return sample != NULL && sample->locality > 0;
}

unsigned tim_daws_predict(const struct tim_daws_tables *t, uint64_t loop, unsigned active)
{
    unsigned lines = 0;

    if (active == 0)
        return 0;
    for (unsigned i = 0; i < t->loads; i++) {
        bool first = true, div = false;

        if (t->load[i].loop != loop)
            continue;
        for (unsigned k = 0; k < t->loads; k++)
            if (t->load[k].loop == loop && t->load[k].rep == t->load[i].rep) {
                first = first && k >= i;
                div |= t->load[k].is_div;
            }
        if (first) /* each load group (loads with the same RepID) counts once */
            lines += active == 1 ? 1 : div ? active : 2;
    }
    return lines < 1023 ? lines : 1023;
}

/* ---- sampling ---------------------------------------------------------------------------------- */

/** Removes from the repetition detector the lines that the warp has accessed in its iteration. */
static void forget_repeats(struct tim_daws_tables *t, unsigned warp)
{
    for (unsigned i = 0; i < t->config->daws_repeats; i++)
        if (t->repeat[i].tag != 0 && t->repeat[i].warp == (int)warp)
            t->repeat[i].tag = 0;
}

void tim_daws_begins(struct tim_daws_tables *t, uint64_t loop, unsigned warp, unsigned lanes, bool enters)
{
    struct tim_daws_sample *sample = (struct tim_daws_sample *)sample_of(t, loop);

    if (sample != NULL && sample->warp == (int)warp && !enters)
        forget_repeats(t, warp);
    if (t->config->profile != NULL)
        return;
    if ((!enters && !t->config->daws_sample_mid) || lanes < t->config->daws_sample_min ||
        (sample != NULL && sample->warp >= 0))
        return;
    if (sample == NULL) {
        if (t->samples == t->config->daws_loops) {
            t->count[TIM_CORE_daws_drops]++;
            return;
        }
        sample = &t->sample[t->samples++];
        *sample = (struct tim_daws_sample){.loop = loop};
    }
    sample->warp = (int)warp;
    t->count[TIM_CORE_daws_samples]++;
}

void tim_daws_leaves(struct tim_daws_tables *t, uint64_t loop, unsigned warp)
{
    for (unsigned i = 0; i < t->samples; i++)
        if ((loop == 0 || t->sample[i].loop == loop) && t->sample[i].warp == (int)warp) {
            t->sample[i].warp = -1;
            forget_repeats(t, warp);
        }
}

bool tim_daws_samples(const struct tim_daws_tables *t, uint64_t loop, unsigned warp)
{
    const struct tim_daws_sample *sample = sample_of(t, loop);

    return sample != NULL && sample->warp == (int)warp;
}

/* ---- loads ------------------------------------------------------------------------------------- */

static struct tim_daws_load *known_load(struct tim_daws_tables *t, uint64_t loop, uint64_t pc)
{
    for (unsigned i = 0; i < t->loads; i++)
        if (t->load[i].loop == loop && t->load[i].pc == pc)
            return &t->load[i];
    return NULL;
}

struct tim_daws_load *tim_daws_find_load(struct tim_daws_tables *t, uint64_t loop, uint64_t pc)
{
    struct tim_daws_load *known = known_load(t, loop, pc);

    if (known != NULL)
        return known;
    if (t->loads == t->config->daws_loads) {
        t->count[TIM_CORE_daws_drops]++;
        return NULL;
    }
    t->load[t->loads] = (struct tim_daws_load){.loop = loop, .pc = pc, .rep = t->next_rep++};
    return &t->load[t->loads++];
}

/* ---- a profile ----------------------------------------------------------------------------------- */

/** Returns whether the loads at @first and @second, in the same loop, have the same base address, and displacements that
 *  differ by less than a line. @second follows @first. */
static bool share_base(const struct tim_code *code, uint64_t first, uint64_t second, unsigned line)
{
    const struct isa_insn *a = emu_program_insn(code->program, first), *b = emu_program_insn(code->program, second);
    const int64_t apart = (int64_t)isa_x_disp(b->x) - isa_x_disp(a->x);
    struct isa_reg_use base[ISA_MAX_USES], use[ISA_MAX_USES];
    const unsigned bases = isa_insn_uses(a, base);

    if (a->op != b->op || a->a != b->a || a->a_scalar != b->a_scalar || a->c != b->c ||
        isa_mod_get(a, ISA_MOD_AMODE) != isa_mod_get(b, ISA_MOD_AMODE) ||
        isa_mod_get(a, ISA_MOD_ASCALE) != isa_mod_get(b, ISA_MOD_ASCALE) || apart >= (int64_t)line || -apart >= (int64_t)line)
        return false;
    /* the base is the same only if no instruction from the first load to the second writes its registers */
    for (uint64_t pc = first; pc < second; pc += ISA_WORD_BYTES) {
        const unsigned uses = isa_insn_uses(emu_program_insn(code->program, pc), use);

        for (unsigned u = 0; u < uses; u++)
            for (unsigned k = 0; k < bases && use[u].written; k++)
                if (!base[k].written && base[k].reg_class == use[u].reg_class &&
                    base[k].first < use[u].first + use[u].count && use[u].first < base[k].first + base[k].count)
                    return false;
    }
    return true;
}

/** If a load that precedes @load in the table has the same loop and base address as @load, gives @load its RepID. */
static void share_number(struct tim_daws_tables *t, const struct tim_code *code, struct tim_daws_load *load)
{
    for (struct tim_daws_load *other = t->load; other < load; other++)
        if (other->loop == load->loop &&
            (other->pc < load->pc ? share_base(code, other->pc, load->pc, t->config->l1_line)
                                  : share_base(code, load->pc, other->pc, t->config->l1_line))) {
            load->rep = other->rep;
            return;
        }
}

void tim_daws_take_profile(struct tim_daws_tables *t, const struct tim_code *code, const struct tim_loop *loop)
{
    const struct tim_profile *profile = t->config->profile;
    uint64_t at, executions = 0, reuses = 0;
    struct tim_daws_sample *sample;
    const char *function;

    if (profile == NULL || sample_of(t, loop->begin) != NULL)
        return;
    if (t->samples == t->config->daws_loops) {
        t->count[TIM_CORE_daws_drops]++;
        return;
    }
    function = tim_code_location(code, loop->begin, &at);
    for (size_t i = 0; i < profile->count; i++)
        if (profile->load[i].loop == at && strcmp(profile->load[i].function, function) == 0) {
            executions += profile->load[i].count[TIM_LOAD_executions];
            reuses += profile->load[i].count[TIM_LOAD_reuses];
        }
    sample = &t->sample[t->samples++];
    *sample = (struct tim_daws_sample){.loop = loop->begin, .warp = -1, .locality = 2 * reuses > executions ? 1 : -1};
    for (size_t i = 0; i < profile->count && sample->locality > 0; i++) {
        const struct tim_profile_load *from = &profile->load[i];
        const uint64_t pc = loop->begin - at + from->offset;
        struct tim_daws_load *load;

        if (from->loop != at || strcmp(from->function, function) != 0 || pc < loop->begin || pc > loop->end ||
            pc % ISA_WORD_BYTES != 0)
            continue;
        load = tim_daws_find_load(t, loop->begin, pc);
        if (load == NULL)
            continue;
        load->is_div = from->count[TIM_LOAD_diverged] != 0 &&
                       from->count[TIM_LOAD_diverged] * 100 >= t->config->daws_diverged * from->count[TIM_LOAD_wide];
        share_number(t, code, load);
    }
}

/* ---- classification ---------------------------------------------------------------------------- */

static int8_t saturate(int value)
{
    return (int8_t)(value > INT8_MAX ? INT8_MAX : value < INT8_MIN ? INT8_MIN : value);
}

/** Records that the load at @pc of sampled warp @warp accesses the line. If another load has accessed the line in this
 *  iteration, both loads get the same RepID. */
static void find_repeat(struct tim_daws_tables *t, uint64_t loop, uint64_t pc, unsigned warp, uint64_t line)
{
    unsigned sets = t->config->daws_repeats / TIM_DAWS_WAYS, way = 0;
    uint64_t number = line / t->config->l1_line;
    struct tim_daws_repeat *set = t->repeat + (number & (sets - 1)) * TIM_DAWS_WAYS, found = {number + 1, pc, (int)warp};

    while (way < TIM_DAWS_WAYS && (set[way].tag != number + 1 || set[way].warp != (int)warp))
        way++;
    if (way == TIM_DAWS_WAYS) {
        way = 0; /* replaces the first empty way, else the oldest one */
        while (way < TIM_DAWS_WAYS - 1 && set[way].tag != 0)
            way++;
    } else {
        found = set[way];
        if (found.pc != pc) {
            const struct tim_daws_load *mine = known_load(t, loop, pc), *other = known_load(t, loop, found.pc);
            uint16_t from = mine != NULL ? mine->rep : 0, to = other != NULL ? other->rep : 0;

            for (unsigned i = 0; mine != NULL && other != NULL && i < t->loads; i++)
                if (t->load[i].loop == loop && t->load[i].rep == from)
                    t->load[i].rep = to;
        }
    }
    memmove(set + 1, set, way * sizeof *set);
    set[0] = found;
}

void tim_daws_access(struct tim_daws_tables *t, uint64_t loop, const struct tim_mech_access *a, bool lost)
{
    struct tim_daws_sample *s = (struct tim_daws_sample *)sample_of(t, loop);
    struct tim_daws_load *load;

    if (s == NULL || s->warp != (int)a->warp)
        return;
    if (s->instruction != a->instruction || a->index == 0)
        s->found = false;
    s->instruction = a->instruction;
    s->found |= lost || (a->hit && a->owner == a->warp);
    t->count[TIM_CORE_daws_lost] += lost;
    s->line[a->index] = a->line;
    if (a->index + 1 != a->count)
        return;
    s->locality = saturate(s->locality + (s->found ? 1 : -1));
    if (s->locality <= 0)
        return;
    load = tim_daws_find_load(t, loop, a->pc);
    if (load == NULL)
        return;
    if (a->lanes >= t->config->daws_sample_min) {
        load->div = saturate(load->div + (a->count > 2 ? 1 : -1));
        load->is_div = load->div > 1;
    }
    const unsigned lines = t->config->daws_repeat_unit == TIM_BY_LOAD ? 1 : a->count;
    for (unsigned i = 0; i < lines; i++)
        find_repeat(t, loop, a->pc, a->warp, s->line[i]);
}
