/* SPDX-License-Identifier: Apache-2.0 */
/* Lanes that a breakpoint has reported: they are not reported there again before they move. */
#include "debug/debug_priv.h"

#include <stdlib.h>

void dbg_reported_lanes_add(struct dbg *dbg, dbg_thread_id id, uint64_t pc, uint64_t lanes)
{
    for (size_t i = 0; i < dbg->arrival_count; i++)
        if (dbg->arrivals[i].id == id && dbg->arrivals[i].pc == pc) {
            dbg->arrivals[i].lanes |= lanes;
            return;
        }
    /* Without memory the point is reported twice: a nuisance, not an error. */
    if (lw_grow(&dbg->arrivals, &dbg->arrival_capacity, dbg->arrival_count + 1,
                sizeof *dbg->arrivals))
        dbg->arrivals[dbg->arrival_count++] = (struct dbg_reported_lanes){id, pc, lanes};
}

void dbg_reported_lanes_moved(struct dbg *dbg, dbg_thread_id id, uint64_t lanes)
{
    size_t kept = 0;

    for (size_t i = 0; i < dbg->arrival_count; i++) {
        struct dbg_reported_lanes arrival = dbg->arrivals[i];

        if (arrival.id == id)
            arrival.lanes &= ~lanes;
        if (arrival.lanes != 0)
            dbg->arrivals[kept++] = arrival;
    }
    dbg->arrival_count = kept;
}

void dbg_reported_lanes_prune(struct dbg *dbg)
{
    size_t kept = 0;

    for (size_t i = 0; i < dbg->arrival_count; i++)
        if (dbg_point_armed(dbg, dbg->arrivals[i].pc))
            dbg->arrivals[kept++] = dbg->arrivals[i];
    dbg->arrival_count = kept;
}

/* A copy for later; without memory a point is reported twice. */
static void arrivals_keep(struct dbg *dbg)
{
    struct dbg_reported_lanes_kept *kept = NULL;

    if (dbg->arrivals_at == UINT64_MAX || dbg->arrival_count == 0)
        return;
    for (unsigned i = 0; i < DBG_REPORTED_LANES_KEPT && kept == NULL; i++)
        if (dbg->arrivals_kept[i].count != 0 && dbg->arrivals_kept[i].at == dbg->arrivals_at)
            kept = &dbg->arrivals_kept[i];
    if (kept == NULL)
        kept = &dbg->arrivals_kept[dbg->arrivals_next++ % DBG_REPORTED_LANES_KEPT];
    kept->count = 0;
    if (!lw_grow(&kept->arrivals, &kept->capacity, dbg->arrival_count, sizeof *kept->arrivals))
        return;
    memcpy(kept->arrivals, dbg->arrivals, dbg->arrival_count * sizeof *kept->arrivals);
    kept->count = dbg->arrival_count;
    kept->at = dbg->arrivals_at;
}

void dbg_reported_lanes_all_moved(struct dbg *dbg, uint64_t at)
{
    if (at == dbg->arrivals_at)
        return;
    arrivals_keep(dbg);
    /* Who stood at a point where nobody looked was not reported there. */
    dbg->arrival_count = 0;
    dbg->arrivals_at = UINT64_MAX;
    for (unsigned i = 0; i < DBG_REPORTED_LANES_KEPT; i++) {
        const struct dbg_reported_lanes_kept *kept = &dbg->arrivals_kept[i];

        if (kept->count == 0 || kept->at != at)
            continue;
        for (size_t n = 0; n < kept->count; n++)
            dbg_reported_lanes_add(dbg, kept->arrivals[n].id, kept->arrivals[n].pc, kept->arrivals[n].lanes);
        dbg->arrivals_at = at;
    }
}

void dbg_reported_lanes_forget(struct dbg *dbg)
{
    for (unsigned i = 0; i < DBG_REPORTED_LANES_KEPT; i++)
        dbg->arrivals_kept[i].count = 0;
    dbg->arrivals_at = UINT64_MAX;
}

void dbg_reported_lanes_free(struct dbg *dbg)
{
    for (unsigned i = 0; i < DBG_REPORTED_LANES_KEPT; i++)
        free(dbg->arrivals_kept[i].arrivals);
    free(dbg->arrivals);
}
