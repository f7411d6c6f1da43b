/* SPDX-License-Identifier: Apache-2.0 */
/* What a checker found, as stops of the run. */
#include "debug/dbg_run_priv.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/* In dbg_notices.at: it waits for its answer; it did not stop, so that nobody knows. */
#define WAITS UINT64_MAX
#define UNKNOWN (UINT64_MAX - 1)

struct dbg_notices {
    bool pending;
    unsigned number, more; /* the first that is pending, and how many came behind it */
    unsigned first_untold; /* numbers from here on have no place in @at yet */
    uint64_t *at;          /* [number] instructions before it */
    size_t count, capacity;
};

bool dbg_notice_pending(const struct dbg *dbg)
{
    return dbg->notices != NULL && dbg->notices->pending;
}

void dbg_notice(struct dbg *dbg, unsigned number)
{
    struct dbg_notices *n = dbg->notices;

    if (n == NULL && (n = dbg->notices = calloc(1, sizeof *n)) == NULL)
        return; /* the checker has it all the same */
    while (n->count <= number) {
        if (!lw_grow(&n->at, &n->capacity, n->count + 1, sizeof *n->at))
            return;
        n->at[n->count++] = UNKNOWN;
    }
    n->at[number] = WAITS;
    emu_machine_halt(dbg->machine, true);
    n->more = n->pending ? n->more + 1 : 0;
    n->number = n->pending ? n->number : number;
    n->pending = true;
}

void dbg_notice_note(struct dbg *dbg, const char *text)
{
    dbg_message(dbg, "%s", text);
}

uint64_t dbg_notice_at(const struct dbg *dbg, unsigned number)
{
    return dbg->notices != NULL && number < dbg->notices->count && dbg->notices->at[number] < UNKNOWN
               ? dbg->notices->at[number]
               : UINT64_MAX;
}

/* What is pending is answered: it happened at the last instruction, or (@host) behind it. */
static void answer(struct dbg *dbg, bool host)
{
    struct dbg_notices *n = dbg->notices;
    uint64_t now = dbg->engine->ops->instructions(dbg->engine);

    emu_machine_halt(dbg->machine, false);
    n->pending = false;
    for (size_t i = n->first_untold; i < n->count; i++)
        if (n->at[i] == WAITS)
            n->at[i] = now - (!host && now != 0);
    n->first_untold = (unsigned)n->count;
}

/* What is pending, in words; its thread, 0: the host's. */
static dbg_thread_id describe(struct dbg *dbg, struct dbg_notice *out, char *text, size_t size)
{
    const struct dbg_notices *n = dbg->notices;
    struct lw_buffer words;
    int used;

    *out = (struct dbg_notice){0};
    lw_buffer_init(&words);
    if (dbg->config.finding != NULL)
        dbg->config.finding(dbg->config.findings_context, n->number, out, &words.sink);
    used = snprintf(text, size, "finding %u: %s", n->number + 1,
                    words.text != NULL ? words.text : "");
    lw_buffer_fini(&words);
    if (n->more != 0 && used >= 0 && (size_t)used < size)
        snprintf(text + used, size - (size_t)used, "; and %u more: `findings` lists them", n->more);
    return out->grid != 0 ? dbg_place_id(dbg, out->grid, out->block, out->warp) : 0;
}

void dbg_notice_tell(struct dbg *dbg)
{
    struct dbg_notice what;
    char text[512];
    bool host;

    if (!dbg_notice_pending(dbg))
        return;
    host = describe(dbg, &what, text, sizeof text) == 0;
    answer(dbg, host);
    dbg_message(dbg, "%s", text);
}

enum lw_status dbg_notice_stop(struct dbg *dbg, struct dbg_stop *stop, struct lw_error *err)
{
    struct dbg_notice what;
    char text[sizeof stop->text];
    dbg_thread_id id = describe(dbg, &what, text, sizeof text);
    struct dbg_thread thread;
    enum lw_status status = LW_OK;

    answer(dbg, id == 0);
    if (id != 0 && dbg_thread_get(dbg, id, &thread)) {
        uint64_t lanes = what.lanes & thread.live;

        dbg_watch_stand(dbg, id,
                        lanes == 0 || lanes >> thread.lane & 1 ? thread.lane : lw_lowest(lanes),
                        stop);
    } else { /* the warp has ended by it, or it is the host's: then what follows is shown */
        status = dbg_settle(dbg, DBG_STOP_FINDING, stop, err);
        if (status == LW_OK && stop->kind == DBG_STOP_ENDED)
            dbg_message(dbg, "%s", text);
        if (status != LW_OK || stop->kind == DBG_STOP_ENDED)
            return status;
    }
    stop->kind = DBG_STOP_FINDING;
    stop->hit_lanes = what.lanes;
    stop->writer_pc = what.pc;
    snprintf(stop->text, sizeof stop->text, "%s", text);
    return status;
}

void dbg_notice_free(struct dbg *dbg)
{
    if (dbg->notices != NULL)
        free(dbg->notices->at);
    free(dbg->notices);
    dbg->notices = NULL;
}
