/* SPDX-License-Identifier: Apache-2.0 */
/* Reports of an engine: its counters and its trace. */
#include "timing/grid/tim_blocks_priv.h"
#include "timing/tim_engine_priv.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

static const struct tim_engine *self(const struct emu_engine *engine)
{
    return (const struct tim_engine *)(const void *)engine;
}

void tim_report_print(const struct emu_engine *engine, struct lw_sink *out)
{
    struct tim_totals totals;

    tim_engine_totals(self(engine), &totals);
    tim_totals_print(&totals, out);
}

void tim_report_json(const struct emu_engine *engine, struct lw_sink *out)
{
    struct tim_totals totals;

    tim_engine_totals(self(engine), &totals);
    tim_totals_json(&totals, out);
}

void tim_engine_ended(struct emu_engine *engine, const char *why)
{
    struct tim_engine *e = (struct tim_engine *)(void *)engine;

    snprintf(e->ended, sizeof e->ended, "%.*s", (int)strcspn(why, "\n"), why);
}

uint64_t tim_counts_hash(const struct emu_engine *engine)
{
    struct tim_totals totals;

    tim_engine_totals(self(engine), &totals);
    return tim_totals_hash(&totals);
}

bool tim_trace_size(const struct emu_engine *engine, struct tim_extent *out)
{
    const struct tim_engine *e = self(engine);

    if (e->trace != NULL)
        tim_trace_extent(e->trace, e->gpu[TIM_GPU_cycles], out);
    return e->trace != NULL;
}

void tim_trace_print(const struct emu_engine *engine, struct lw_sink *out)
{
    const struct tim_engine *e = self(engine);

    if (e->trace != NULL)
        tim_trace_json(e->trace, e->gpu[TIM_GPU_cycles], out);
    else
        lw_put(out, "{\"traceEvents\": []}\n");
}

void tim_engine_account(const struct tim_engine *e)
{
    for (unsigned c = 0; c < e->config.core_count; c++) { /* cores before at.core have completed this cycle */
        const uint64_t over = e->now + (e->at.phase != TIM_AT_BEGIN && c < e->at.core), own = tim_core_own(e->core[c], over);

        tim_core_account(e->core[c], own == 0 ? 0 : own - 1);
        if (e->clocked)
            tim_domain_account(e->core[c], over);
    }
    if (e->clocked)
        tim_dvfs_account(&e->grid, e->now);
}

/** Prints the report section of each mechanism as a table or, if @json, as a member of the JSON report. If the device made
 *  launches, then prints the device memory that is reserved for them. In JSON, member `launches` is the number of bytes for
 *  pending launches, and member `levels` the number of bytes for nesting levels. */
static void put_mechanisms(const void *context, bool json, struct lw_sink *out)
{
    const struct tim_engine *e = context;
    const unsigned cores = e->config.core_count;
    struct tim_mech **of_cores = malloc(cores * sizeof(struct tim_mech *));

    for (unsigned i = 0; of_cores != NULL && i < e->core[0]->mechs.count; i++) {
        const struct tim_mechanism *row = e->core[0]->mechs.mech[i]->row;

        if (row->report == NULL)
            continue;
        for (unsigned c = 0; c < cores; c++)
            of_cores[c] = e->core[c]->mechs.mech[i];
        lw_put(out, json ? ",\n  " : "\n");
        row->report(of_cores, cores, json, out);
    }
    free(of_cores);
    if (e->gpu[TIM_GPU_device_launches] == 0)
        return;
    const struct emu_config *machine = emu_machine_config(e->base.machine);
    const struct tim_launch_memory r = tim_grid_memory(&e->config, machine->pending_launches, machine->launch_depth);
    if (json)
        lw_printf(out, ",\n  \"reserved\": {\"pending_launches\": %u, \"launches\": %" PRIu64 ", \"launch_depth\": %u, \"levels\": %" PRIu64 "}",
                  machine->pending_launches, r.launches, machine->launch_depth, r.levels);
    else
        lw_printf(out, "\ndevice memory reserved for launches by the device: %.0f MB for %u pending launches, %.0f "
                       "MB for %u levels of nesting\n", (double)r.launches / (1 << 20), machine->pending_launches, (double)r.levels / (1 << 20),
                  machine->launch_depth);
}

void tim_engine_totals(const struct tim_engine *e, struct tim_totals *out)
{
    tim_engine_account(e);
    *out = (struct tim_totals){.config = &e->config, .core = e->stats, .slice = e->slice,
                               .channel = e->channel, .kernel = e->kernel,
                               .kernel_count = e->kernel_count, .sample = e->samples.sample,
                               .sample_count = e->samples.count,
                               .sample_cycles = e->samples.every,
                               .ended = e->ended[0] != '\0' ? e->ended : NULL,
                               .more = put_mechanisms, .context = e};
    memcpy(out->gpu, e->gpu, sizeof out->gpu);
}
