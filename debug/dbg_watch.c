/* SPDX-License-Identifier: Apache-2.0 */
/* Watchpoints and catchpoints: an observer compares what each instruction did with them. */
#include "debug/debug_priv.h"

enum lw_status dbg_watch_add(struct dbg *dbg, enum dbg_owner owner, dbg_thread_id id,
                             uint64_t address, unsigned size_bytes, unsigned access,
                             const char *condition, const char *text, unsigned *point,
                             struct lw_error *err)
{
    (void)dbg, (void)owner, (void)id, (void)address, (void)size_bytes, (void)access;
    (void)condition, (void)text, (void)point;
    return LW_FAIL(err, LW_EUNSUPP, "watchpoints are not supported");
}

enum lw_status dbg_catch_add(struct dbg *dbg, enum dbg_owner owner, unsigned catches,
                             const char *condition, bool temporary, unsigned *point,
                             struct lw_error *err)
{
    (void)dbg, (void)owner, (void)catches, (void)condition, (void)temporary, (void)point;
    return LW_FAIL(err, LW_EUNSUPP, "catchpoints are not supported");
}
