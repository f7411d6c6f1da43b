/* SPDX-License-Identifier: Apache-2.0 */
/* Makes a run stop for the findings of a checker. */
#include "debug/reverse/dbg_history_priv.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/* Values of dbg_findings.at that are not instruction counts. WAITS: the finding is pending; the instruction count is
 * stored when its stop is made. UNKNOWN: the finding was never passed to dbg_finding(), or an edit has changed the
 * history in which it occurred. */
#define WAITS UINT64_MAX
#define UNKNOWN (UINT64_MAX - 1)

struct dbg_findings {
    bool pending;
    unsigned number, more; /* number of the first pending finding; count of the pending findings after it */
    unsigned first_unreported; /* lowest number that a pending finding can have */
    uint64_t *at;          /* at[number]: instruction count before the instruction that caused the finding, WAITS or
                            * UNKNOWN */
    size_t count, capacity; /* number of elements of `at`, and its capacity */
    uint64_t next;         /* instruction count of the next recorded finding, at which a replay stops, or UINT64_MAX if none */
    bool stop_at;          /* true: the engine's stop_at has been set to `next` and must be reset */
};

/* Returns true if an element of dbg_findings.at is an instruction count, and neither WAITS nor UNKNOWN. */
static bool happened(uint64_t at)
{
    return at < UNKNOWN;
}

bool dbg_finding_pending(const struct dbg *dbg)
{
    const struct dbg_findings *n = dbg->findings;

    return n != NULL && (n->pending || (n->next != UINT64_MAX && dbg_history_now(dbg) >= n->next));
}

void dbg_finding(struct dbg *dbg, unsigned number)
{
    struct dbg_findings *n = dbg->findings;

    if (n == NULL && (n = dbg->findings = calloc(1, sizeof *n)) == NULL)
        return; /* Without memory the finding makes no stop. The checker still reports it at the end. */
    if (n->count == 0)
        n->next = UINT64_MAX;
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

void dbg_finding_record(struct dbg *dbg, const char *text)
{
    dbg_message(dbg, "%s", text);
}

uint64_t dbg_finding_at(const struct dbg *dbg, unsigned number)
{
    return dbg->findings != NULL && number < dbg->findings->count && dbg->findings->at[number] < UNKNOWN
               ? dbg->findings->at[number]
               : UINT64_MAX;
}

/* Stores the instruction count of the pending findings, and makes them no longer pending. The findings were caused by the last
 * instruction or, if @host, by a host step after it. */
static void answer(struct dbg *dbg, bool host)
{
    struct dbg_findings *n = dbg->findings;
    uint64_t now = dbg->engine->ops->instructions(dbg->engine);

    emu_machine_halt(dbg->machine, false);
    n->pending = false;
    for (size_t i = n->first_unreported; i < n->count; i++)
        if (n->at[i] == WAITS)
            n->at[i] = now - (!host && now != 0);
    n->first_unreported = (unsigned)n->count;
}

/* Formats finding @number as @text, and fills @out. @more is the count of further findings of the same instruction, which
 * the text states. Returns the thread that caused the finding; 0: the host caused it. */
static dbg_thread_id describe(struct dbg *dbg, unsigned number, unsigned more,
                              struct dbg_finding *out, char *text, size_t size)
{
    struct lw_buffer words;
    int used;

    *out = (struct dbg_finding){0};
    lw_buffer_init(&words);
    if (dbg->config.finding != NULL)
        dbg->config.finding(dbg->config.findings_context, number, out, &words.sink);
    used = snprintf(text, size, "finding %u: %s", number + 1, words.text != NULL ? words.text : "");
    lw_buffer_fini(&words);
    if (more != 0 && used >= 0 && (size_t)used < size)
        snprintf(text + used, size - (size_t)used, "; %u more finding%s here: `findings` lists all", more,
                 more == 1 ? "" : "s");
    return out->grid != 0 ? dbg_thread_id_of(dbg, out->grid, out->block, out->warp) : 0;
}

/* Returns true if finding @number makes a stop in the past: a kernel caused it, and the user has not disabled stops for
 * findings of its kind. */
static bool wanted(struct dbg *dbg, unsigned number)
{
    struct dbg_finding what;
    char text[512];

    (void)describe(dbg, number, 0, &what, text, sizeof text);
    return !what.no_stop && what.grid != 0;
}

/* Finds the last finding before instruction count @from that makes a stop, or (@forwards) the first one after @from.
 * *@more is set to the count of further findings of the same instruction. Returns false if there is no such finding. */
static bool neighbour(struct dbg *dbg, uint64_t from, bool forwards, unsigned *number, unsigned *more)
{
    const struct dbg_findings *n = dbg->findings;
    bool found = false;

    for (unsigned i = 0; n != NULL && i < n->count; i++) {
        uint64_t at = n->at[i];

        if (!happened(at) || (forwards ? at <= from : at >= from) ||
            (found && (forwards ? at > n->at[*number] : at < n->at[*number])) || !wanted(dbg, i))
            continue;
        *more = found && at == n->at[*number] ? *more + 1 : 0;
        if (*more == 0)
            *number = i;
        found = true;
    }
    return found;
}

void dbg_finding_begin(struct dbg *dbg)
{
    struct dbg_findings *n = dbg->findings;
    struct emu_history_info info;
    unsigned number = 0, more;

    if (n == NULL)
        return;
    n->next = UINT64_MAX;
    if (!dbg_history_info(dbg, &info) || !info.in_past || !neighbour(dbg, info.now, true, &number, &more))
        return;
    n->next = n->at[number];
    n->stop_at = dbg->engine->stop_at == UINT64_MAX;
    if (n->stop_at)
        dbg->engine->stop_at = n->next;
}

void dbg_finding_end(struct dbg *dbg)
{
    struct dbg_findings *n = dbg->findings;

    if (n == NULL)
        return;
    if (n->stop_at)
        dbg->engine->stop_at = UINT64_MAX;
    n->stop_at = false;
    n->next = UINT64_MAX;
}

void dbg_finding_changed(struct dbg *dbg, uint64_t from)
{
    struct dbg_findings *n = dbg->findings;

    for (size_t i = 0; n != NULL && i < n->count; i++)
        if (happened(n->at[i]) && n->at[i] >= from)
            n->at[i] = UNKNOWN;
}

void dbg_finding_print(struct dbg *dbg)
{
    struct dbg_finding what;
    char text[512];
    bool host;

    if (dbg->findings == NULL || !dbg->findings->pending)
        return;
    host = describe(dbg, dbg->findings->number, dbg->findings->more, &what, text, sizeof text) == 0;
    answer(dbg, host);
    dbg_message(dbg, "%s", text);
}

/* Moves the machine to before the instruction of finding @number and fills @stop. Returns false if history before that
 * instruction is not recorded, or if the finding's lane is then not resident or at another pc. With @waits another pc is
 * accepted, because the lane may wait at a barrier that an instruction of another warp completes. */
static bool stop_before(struct dbg *dbg, unsigned number, unsigned more, bool waits, struct dbg_stop *stop)
{
    uint64_t at = dbg->findings->at[number], lanes;
    struct dbg_thread thread;
    struct dbg_finding what;
    char text[sizeof stop->text];
    struct dbg_lane_ref lane_ref;

    if (dbg_history_move(dbg, at, NULL) != LW_OK)
        return false;
    lane_ref.id = describe(dbg, number, more, &what, text, sizeof text);
    if (!dbg_thread_get(dbg, lane_ref.id, &thread))
        return false;
    lanes = what.lanes & thread.live;
    lane_ref.lane = lanes == 0 || lanes >> thread.lane & 1 ? thread.lane : lw_lowest(lanes);
    dbg_lane_pin(dbg, lane_ref.id, lane_ref.lane);
    if (!dbg_thread_get(dbg, lane_ref.id, &thread) || (!waits && thread.location.pc != what.pc))
        return false;
    memset(stop, 0, sizeof *stop);
    dbg_stop_on(dbg, stop, DBG_STOP_FINDING, lane_ref.id, lane_ref.lane);
    stop->hit_lanes = what.lanes;
    stop->writer_pc = what.pc;
    snprintf(stop->text, sizeof stop->text, "%s", text);
    return true;
}

bool dbg_finding_go_back(struct dbg *dbg, uint64_t *at)
{
    unsigned number = 0, more;

    if (!neighbour(dbg, dbg_history_now(dbg), false, &number, &more))
        return false;
    *at = dbg->findings->at[number];
    return true;
}

enum lw_status dbg_finding_seek(struct dbg *dbg, uint64_t at, struct dbg_stop *stop, struct lw_error *err)
{
    unsigned number = 0, more = 0;

    if (neighbour(dbg, at + 1, false, &number, &more) && dbg->findings->at[number] == at &&
        (stop_before(dbg, number, more, false, stop) || stop_before(dbg, number, more, true, stop)))
        return LW_OK;
    return LW_FAIL(err, LW_ESTATE, "finding %u did not occur again at instruction %" PRIu64 " in the replay", number + 1, at);
}

/* Makes the stop for a finding after its instruction, when recorded history does not contain the instruction. */
static enum lw_status stand_after(struct dbg *dbg, unsigned number, unsigned more, struct dbg_stop *stop,
                                  struct lw_error *err)
{
    struct dbg_finding what;
    char text[sizeof stop->text];
    dbg_thread_id id = describe(dbg, number, more, &what, text, sizeof text);
    struct dbg_thread thread;
    enum lw_status status = LW_OK;

    if (id != 0 && dbg_thread_get(dbg, id, &thread)) {
        uint64_t lanes = what.lanes & thread.live;

        dbg_watch_stand(dbg, id,
                        lanes == 0 || lanes >> thread.lane & 1 ? thread.lane : lw_lowest(lanes),
                        stop);
    } else { /* the instruction ended the warp, or the host caused the finding: the stop shows the current focus */
        status = dbg_finish_stop(dbg, DBG_STOP_FINDING, stop, err);
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

/* Gets the finding to stop for: the first pending finding, or the recorded finding that a replay has reached. Makes the
 * finding no longer pending. Returns true if the host caused it. */
static bool take(struct dbg *dbg, unsigned *number, unsigned *more)
{
    struct dbg_findings *n = dbg->findings;
    struct dbg_finding what;
    char text[512];
    bool host;

    if (!n->pending) {
        uint64_t next = n->next;

        n->next = UINT64_MAX;
        (void)neighbour(dbg, next + 1, false, number, more);
        return false;
    }
    *number = n->number;
    *more = n->more;
    host = describe(dbg, *number, *more, &what, text, sizeof text) == 0;
    answer(dbg, host);
    return host;
}

enum lw_status dbg_stop_on_finding(struct dbg *dbg, struct dbg_stop *stop, struct lw_error *err)
{
    struct dbg_findings *n = dbg->findings;
    struct emu_history_info info;
    unsigned number = 0, more = 0;
    bool host = take(dbg, &number, &more);

    if (host || !dbg_history_info(dbg, &info) || !info.kept || !happened(n->at[number]) ||
        n->at[number] < info.earliest)
        return stand_after(dbg, number, more, stop, err);
    /* After the run has stopped, dbg_run_end() moves to before the finding's instruction. Until then stop->point and
     * stop->watch_bytes hold the arguments of dbg_finding_finish_stop(). */
    stop->kind = DBG_STOP_FINDING;
    stop->point = number + 1;
    stop->watch_bytes = more;
    return LW_OK;
}

enum lw_status dbg_finding_finish_stop(struct dbg *dbg, struct dbg_stop *stop, struct lw_error *err)
{
    unsigned number = stop->point - 1, more = stop->watch_bytes;
    struct emu_history_info info = {0};
    enum lw_status status = LW_OK;

    if (stop->kind != DBG_STOP_FINDING || stop->point == 0)
        return LW_OK;
    (void)dbg_history_info(dbg, &info);
    if (stop_before(dbg, number, more, false, stop))
        return LW_OK;
    memset(stop, 0, sizeof *stop);
    status = dbg_history_move(dbg, info.in_past ? info.now : UINT64_MAX, err);
    return status != LW_OK ? status : stand_after(dbg, number, more, stop, err);
}

void dbg_finding_free(struct dbg *dbg)
{
    if (dbg->findings != NULL)
        free(dbg->findings->at);
    free(dbg->findings);
    dbg->findings = NULL;
}
