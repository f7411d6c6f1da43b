/* SPDX-License-Identifier: Apache-2.0 */
/* Reports of an engine: what it counted, and its trace. */
#include "timing/tim_engine_priv.h"

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

uint64_t tim_counts_hash(const struct emu_engine *engine)
{
    struct tim_totals totals;

    tim_engine_totals(self(engine), &totals);
    return tim_totals_hash(&totals);
}

void tim_trace_print(const struct emu_engine *engine, struct lw_sink *out)
{
    const struct tim_trace *trace = self(engine)->trace;

    if (trace != NULL)
        tim_trace_json(trace, out);
    else
        lw_put(out, "{\"traceEvents\": []}\n");
}
