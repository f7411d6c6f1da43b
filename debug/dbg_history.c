/* SPDX-License-Identifier: Apache-2.0 */
/* Back in time, on emu's history (docs/history.md). */
#include "debug/dbg_commands_priv.h"

enum lw_status dbg_history_start(struct dbg *dbg, uint64_t budget_bytes,
      bool (*save_host)(void *context, void **data, size_t *size),
      void (*load_host)(void *context, const void *data, size_t size),
      void *context, struct lw_error *err)
{
    (void)dbg, (void)budget_bytes, (void)save_host, (void)load_host, (void)context;
    return LW_FAIL(err, LW_ESTATE, "no history is kept");
}

enum lw_status dbg_reverse_step(struct dbg *dbg, dbg_thread_id id, struct dbg_stop *stop,
                                struct lw_error *err)
{
    (void)dbg, (void)id, (void)stop;
    return LW_FAIL(err, LW_ESTATE, "no history is kept");
}

enum lw_status dbg_reverse_step_range(struct dbg *dbg, dbg_thread_id id, uint64_t low,
           uint64_t high, struct dbg_stop *stop,
           struct lw_error *err)
{
    (void)dbg, (void)id, (void)low, (void)high, (void)stop;
    return LW_FAIL(err, LW_ESTATE, "no history is kept");
}

enum lw_status dbg_reverse_step_line(struct dbg *dbg, dbg_thread_id id, bool over,
          struct dbg_stop *stop, struct lw_error *err)
{
    (void)dbg, (void)id, (void)over, (void)stop;
    return LW_FAIL(err, LW_ESTATE, "no history is kept");
}

enum lw_status dbg_reverse_finish(struct dbg *dbg, dbg_thread_id id, struct dbg_stop *stop,
       struct lw_error *err)
{
    (void)dbg, (void)id, (void)stop;
    return LW_FAIL(err, LW_ESTATE, "no history is kept");
}

enum lw_status dbg_reverse_continue(struct dbg *dbg, struct dbg_stop *stop,
         struct lw_error *err)
{
    (void)dbg, (void)stop;
    return LW_FAIL(err, LW_ESTATE, "no history is kept");
}

enum lw_status dbg_goto(struct dbg *dbg, uint64_t instructions, struct dbg_stop *stop,
                        struct lw_error *err)
{
    (void)dbg, (void)instructions, (void)stop;
    return LW_FAIL(err, LW_ESTATE, "no history is kept");
}

bool dbg_history_info(const struct dbg *dbg, struct emu_history_info *out)
{
    (void)dbg, (void)out;
    return false;
}
