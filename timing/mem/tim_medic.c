/* SPDX-License-Identifier: Apache-2.0 */
/*
 * MeDiC (memory divergence correction): L2 and DRAM serve the reads of a warp by the type of the warp. A warp waits for its
 * slowest read. So misses of a warp that nearly always hits are urgent, and hits of a warp that nearly always misses are of
 * no use.
 *
 *   share of hits    0          0 .. miss_boundary   .. hit_boundary   .. 1        1
 *   type             all-miss   mostly-miss          balanced          mostly-hit  all-hit
 *   L2               bypass     bypass               line              line        line
 *   a new line is    oldest     oldest               youngest          youngest    youngest
 *   DRAM             last       last                 last              first       first
 *
 * In each interval the first reads of a warp are its sample, which do not bypass L2. The share of hits in the sample
 * determines the type of the warp, until its next sample is complete. When the miss rate of L2 has risen from one interval to
 * the next, miss_boundary falls; when the miss rate has fallen, it rises. Source: specification of the book on GPU
 * architectures, section 16.6, which states that the boundaries are tuned. Choices of this model: the rule of tuning; all L2
 * slices share the counts; a read has the type that its warp has when the core sends the read; a read that bypasses L2 still
 * hits if L2 has its line; lines of all-miss warps are the oldest, too.
 */
#include "timing/mem/tim_mem_priv.h"

#include <stdlib.h>

/** A warp slot of a core. */
struct sampled {
    uint64_t interval; /* 1 + number of the interval of the sample, or 0 if there is no sample */
    uint32_t reads, hits; /* numbers of reads and hits in the sample so far */
    uint8_t type;      /* enum tim_medic_type, by the latest complete sample */
    bool known;        /* at least one sample is complete, so `type` is valid */
};
struct tim_medic {
    const struct tim_config *config;
    uint64_t interval;      /* number of the interval of `reads` and `misses` */
    uint64_t reads, misses; /* numbers of reads and misses of all warps in the interval */
    uint64_t last_reads, last_misses; /* the same numbers for the latest earlier interval with reads */
    unsigned boundary;      /* per cent of hits up to which a warp is mostly-miss */
    struct sampled *warp;   /* [core * core_warps + slot] */
};

struct tim_medic *tim_medic_create(const struct tim_config *config)
{
    struct tim_medic *medic = calloc(1, sizeof *medic);
    const size_t warps = (size_t)config->core_count * config->core_warps;

    if (medic == NULL)
        return NULL;
    medic->config = config;
    medic->boundary = config->medic_miss_boundary;
    medic->warp = calloc(warps, sizeof *medic->warp);
    if (medic->warp == NULL) {
        free(medic);
        return NULL;
    }
    for (size_t i = 0; i < warps; i++)
        medic->warp[i].type = TIM_MEDIC_BALANCED;
    return medic;
}

void tim_medic_destroy(struct tim_medic *medic)
{
    if (medic != NULL)
        free(medic->warp);
    free(medic);
}

/** Returns the record of the warp that sent the packet, or NULL if no warp did. */
static struct sampled *warp_of(const struct tim_medic *medic, const struct tim_packet *packet)
{
    const struct tim_config *c = medic->config;

    return packet->warp < c->core_warps ? &medic->warp[(size_t)packet->core * c->core_warps + packet->warp] : NULL;
}

/** Changes the boundary at the end of an interval with reads, if the miss rate has changed by more than medic.margin. */
static void tune(struct tim_medic *medic)
{
    const struct tim_config *c = medic->config;
    const uint64_t rate = medic->misses * medic->last_reads * 100, last = medic->last_misses * medic->reads * 100;
    const uint64_t margin = medic->reads * medic->last_reads * c->medic_margin;

    if (rate > last + margin)
        medic->boundary -= medic->boundary < c->medic_step ? medic->boundary : c->medic_step;
    else if (last > rate + margin)
        medic->boundary += c->medic_miss_boundary - medic->boundary < c->medic_step ? c->medic_miss_boundary - medic->boundary : c->medic_step;
}

/** Ends the current interval if cycle @now is in a later one. */
static void advance(struct tim_medic *medic, uint64_t now)
{
    const uint64_t interval = now / medic->config->medic_interval;

    if (interval == medic->interval)
        return;
    if (medic->reads != 0) {
        if (medic->config->medic_tune && medic->last_reads != 0)
            tune(medic);
        medic->last_reads = medic->reads;
        medic->last_misses = medic->misses;
    }
    medic->reads = medic->misses = 0;
    medic->interval = interval;
}

/** Returns whether the sample of the warp in the current interval is complete. */
static bool is_complete(const struct tim_medic *medic, const struct sampled *warp)
{
    return warp->interval == medic->interval + 1 && warp->reads == medic->config->medic_sample;
}

void tim_medic_send(struct tim_medic *medic, struct tim_node *node, uint64_t now)
{
    const struct sampled *warp = warp_of(medic, &node->packet);

    node->type = TIM_MEDIC_BALANCED;
    node->bypasses = false;
    if (warp == NULL || node->packet.kind != TIM_PACKET_READ)
        return;
    advance(medic, now);
    node->type = warp->type;
    node->bypasses = medic->config->medic_bypass && warp->type <= TIM_MEDIC_MOSTLY_MISS && is_complete(medic, warp);
}

static enum tim_medic_type type_of(const struct tim_medic *medic, const struct sampled *warp)
{
    const struct tim_config *c = medic->config;

    if (warp->hits == 0)
        return TIM_MEDIC_ALL_MISS;
    if (warp->hits == warp->reads)
        return TIM_MEDIC_ALL_HIT;
    return warp->hits * 100 <= medic->boundary * warp->reads          ? TIM_MEDIC_MOSTLY_MISS
           : warp->hits * 100 <= c->medic_hit_boundary * warp->reads ? TIM_MEDIC_BALANCED
                                                                      : TIM_MEDIC_MOSTLY_HIT;
}

void tim_medic_looked(struct tim_medic *medic, const struct tim_node *node, bool hit, uint64_t now, uint64_t *count)
{
    static const unsigned counters[] = {TIM_SLICE_medic_all_miss, TIM_SLICE_medic_mostly_miss, TIM_SLICE_medic_balanced, TIM_SLICE_medic_mostly_hit,
                                        TIM_SLICE_medic_all_hit};
    struct sampled *warp = warp_of(medic, &node->packet);

    if (warp == NULL || node->packet.kind != TIM_PACKET_READ)
        return;
    advance(medic, now);
    medic->reads++;
    medic->misses += !hit;
    if (node->bypasses || is_complete(medic, warp))
        return;
    if (warp->interval != medic->interval + 1) {
        warp->interval = medic->interval + 1;
        warp->reads = warp->hits = 0;
    }
    warp->reads++;
    warp->hits += hit;
    if (!is_complete(medic, warp))
        return;
    warp->type = (uint8_t)type_of(medic, warp);
    warp->known = true;
    count[counters[warp->type]]++;
}

void tim_medic_show(const struct tim_medic *medic, struct lw_sink *out)
{
    static const char *const names[] = {"all-miss", "mostly-miss", "balanced", "mostly-hit", "all-hit"};
    unsigned count[LW_COUNT_OF(names)] = {0};

    for (size_t i = 0; i < (size_t)medic->config->core_count * medic->config->core_warps; i++)
        count[medic->warp[i].type] += medic->warp[i].known;
    lw_printf(out, "MeDiC: a warp is mostly-miss up to %u %% of hits; warp slots by type:", medic->boundary);
    for (unsigned i = 0; i < LW_COUNT_OF(names); i++)
        lw_printf(out, "%s %u %s", i == 0 ? "" : ",", count[i], names[i]);
    lw_put(out, "\n");
}
