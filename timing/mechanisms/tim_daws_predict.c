/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What loops need of L1. In each loop one warp is sampled: do its loads hit lines that it brought itself, or lost? If
 * so, are they diverged, and which of them touch the same lines in an iteration?
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
        if (first) /* a group of loads once */
            lines += active == 1 ? 1 : div ? active : 2;
    }
    return lines < 1023 ? lines : 1023;
}

/* ---- sampling ---------------------------------------------------------------------------------- */

/** What it touched in its iteration is forgotten. */
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

/* ---- classification ---------------------------------------------------------------------------- */

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

static int8_t saturate(int value)
{
    return (int8_t)(value > INT8_MAX ? INT8_MAX : value < INT8_MIN ? INT8_MIN : value);
}

/** The load at @pc, of sampling warp @warp, touches the line: another load that did in this iteration has the same
 *  number from now on. */
static void find_repeat(struct tim_daws_tables *t, uint64_t loop, uint64_t pc, unsigned warp, uint64_t line)
{
    unsigned sets = t->config->daws_repeats / TIM_DAWS_WAYS, way = 0;
    uint64_t number = line / t->config->l1_line;
    struct tim_daws_repeat *set = t->repeat + (number & (sets - 1)) * TIM_DAWS_WAYS, found = {number + 1, pc, (int)warp};

    while (way < TIM_DAWS_WAYS && (set[way].tag != number + 1 || set[way].warp != (int)warp))
        way++;
    if (way == TIM_DAWS_WAYS) {
        way = 0; /* an empty one, or the oldest */
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
    for (unsigned i = 0; i < a->count; i++)
        find_repeat(t, loop, a->pc, a->warp, s->line[i]);
}
