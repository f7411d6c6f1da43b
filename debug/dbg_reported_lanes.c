/* SPDX-License-Identifier: Apache-2.0 */
/* Reported lanes: lanes that a stop has shown at a pc. A breakpoint at that pc does not stop for them again before they
 * move. */
#include "debug/debug_priv.h"

#include <stdlib.h>

void dbg_reported_lanes_add(struct dbg *dbg, dbg_thread_id id, uint64_t pc, uint64_t lanes)
{
    for (size_t i = 0; i < dbg->reported_count; i++)
        if (dbg->reported[i].id == id && dbg->reported[i].pc == pc) {
            dbg->reported[i].lanes |= lanes;
            return;
        }
    /* If the host has no memory, a breakpoint stops for these lanes a second time, which is not an error. */
    if (lw_grow(&dbg->reported, &dbg->reported_capacity, dbg->reported_count + 1,
                sizeof *dbg->reported))
        dbg->reported[dbg->reported_count++] = (struct dbg_reported_lanes){id, pc, lanes};
}

void dbg_reported_lanes_moved(struct dbg *dbg, dbg_thread_id id, uint64_t lanes)
{
    size_t kept = 0;

    for (size_t i = 0; i < dbg->reported_count; i++) {
        struct dbg_reported_lanes arrival = dbg->reported[i];

        if (arrival.id == id)
            arrival.lanes &= ~lanes;
        if (arrival.lanes != 0)
            dbg->reported[kept++] = arrival;
    }
    dbg->reported_count = kept;
}

void dbg_reported_lanes_prune(struct dbg *dbg)
{
    size_t kept = 0;

    for (size_t i = 0; i < dbg->reported_count; i++)
        if (dbg_breakpoint_inserted(dbg, dbg->reported[i].pc))
            dbg->reported[kept++] = dbg->reported[i];
    dbg->reported_count = kept;
}

/* Saves the reported lanes of instruction count dbg->reported_at. If the host has no memory, a breakpoint stops for them
 * a second time. */
static void reported_save(struct dbg *dbg)
{
    struct dbg_reported_lanes_saved *kept = NULL;

    if (dbg->reported_at == UINT64_MAX || dbg->reported_count == 0)
        return;
    for (unsigned i = 0; i < DBG_REPORTED_LANES_SAVED && kept == NULL; i++)
        if (dbg->reported_saved[i].count != 0 && dbg->reported_saved[i].at == dbg->reported_at)
            kept = &dbg->reported_saved[i];
    if (kept == NULL)
        kept = &dbg->reported_saved[dbg->reported_next++ % DBG_REPORTED_LANES_SAVED];
    kept->count = 0;
    if (!lw_grow(&kept->reported, &kept->capacity, dbg->reported_count, sizeof *kept->reported))
        return;
    memcpy(kept->reported, dbg->reported, dbg->reported_count * sizeof *kept->reported);
    kept->count = dbg->reported_count;
    kept->at = dbg->reported_at;
}

void dbg_reported_lanes_all_moved(struct dbg *dbg, uint64_t at)
{
    if (at == dbg->reported_at)
        return;
    reported_save(dbg);
    /* Only the lanes that stops have shown at count @at become reported lanes. Every other lane that is at a breakpoint at
     * that count still hits the breakpoint. */
    dbg->reported_count = 0;
    dbg->reported_at = UINT64_MAX;
    for (unsigned i = 0; i < DBG_REPORTED_LANES_SAVED; i++) {
        const struct dbg_reported_lanes_saved *kept = &dbg->reported_saved[i];

        if (kept->count == 0 || kept->at != at)
            continue;
        for (size_t n = 0; n < kept->count; n++)
            dbg_reported_lanes_add(dbg, kept->reported[n].id, kept->reported[n].pc, kept->reported[n].lanes);
        dbg->reported_at = at;
    }
}

void dbg_reported_lanes_forget(struct dbg *dbg)
{
    for (unsigned i = 0; i < DBG_REPORTED_LANES_SAVED; i++)
        dbg->reported_saved[i].count = 0;
    dbg->reported_at = UINT64_MAX;
}

void dbg_reported_lanes_free(struct dbg *dbg)
{
    for (unsigned i = 0; i < DBG_REPORTED_LANES_SAVED; i++)
        free(dbg->reported_saved[i].reported);
    free(dbg->reported);
}
