/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The thread to which a packet refers. The client names a thread by Hg, Hc, a suffix or vCont, and every reply refers to
 * that thread, or is an error. Packets do not refer to the focus of the debugger core, because commands of `monitor`
 * move that focus. The file also tracks the client's view of threads: the thread that the client's user has selected, the
 * number that the client shows for a thread, and the position of a thread that the client has read.
 */
#include "gdbstub/rsp_priv.h"

#include <stdio.h>
#include <stdlib.h>

bool rsp_resident(const struct rsp *rsp, dbg_thread_id id)
{
    struct dbg_thread thread;

    return id != 0 && dbg_thread_get(rsp->dbg, id, &thread);
}

/* ---- Hg and Hc ------------------------------------------------------------------------ */

dbg_thread_id rsp_view(const struct rsp *rsp)
{
    return rsp->named.view != 0 ? rsp->named.view : rsp_focus(rsp);
}

bool rsp_view_exited(const struct rsp *rsp)
{
    return rsp->exited != 0 && rsp->named.view == rsp->exited;
}

bool rsp_view_is_exited(const struct rsp *rsp)
{
    return rsp_view_exited(rsp) || !rsp_resident(rsp, rsp_view(rsp));
}

void rsp_view_set(struct rsp *rsp, dbg_thread_id id)
{
    rsp->named.view = id;
}

dbg_thread_id rsp_focus(const struct rsp *rsp)
{
    return dbg_focus_get(rsp->dbg, DBG_FOCUS_RUN);
}

void rsp_focus_on(struct rsp *rsp, dbg_thread_id id)
{
    struct lw_error err;

    if (!rsp_resident(rsp, id))
        return;
    (void)!dbg_focus_set(rsp->dbg, DBG_FOCUS_RUN, id, &err); /* cannot fail, because the thread is resident */
    (void)!dbg_focus_set(rsp->dbg, DBG_FOCUS_VIEW, id, &err);
}

static bool is_any(dbg_thread_id id)
{
    return id == 0 || id == UINT64_MAX;
}

/* Replies to a packet that names a thread. The view changes even if the reply is an error: clients ignore this error, and
 * would otherwise show registers of the previous thread as those of the named one. */
static void answer_named(struct rsp *rsp, dbg_thread_id id)
{
    lw_put(&rsp->reply.sink,
           is_any(id) || id == rsp->exited || rsp_resident(rsp, id) ? "OK" : "E01");
}

void rsp_do_thread_view(struct rsp *rsp, const struct rsp_args *args)
{
    /* 0 means any thread, -1 all threads. In both cases, the view changes only if the view thread has ended. */
    if (is_any(args->n[0]) && rsp->named.view != rsp->exited && !rsp_resident(rsp, rsp->named.view))
        rsp->named.view = rsp->named.there;
    if (!is_any(args->n[0]) && rsp_has(rsp, RSP_F_THREAD_FOCUS))
        rsp->named.view = args->n[0];
    if (rsp_resident(rsp, rsp->named.view)) {
        rsp->named.there = rsp->named.view;
        /* This fixes the focus lane of the thread, which would otherwise change when its lanes diverge. */
        (void)!dbg_lane_set(rsp->dbg, rsp->named.view, dbg_lane_get(rsp->dbg, rsp->named.view), NULL);
    }
    answer_named(rsp, args->n[0]);
}

void rsp_do_thread_run(struct rsp *rsp, const struct rsp_args *args)
{
    rsp->named.run = is_any(args->n[0]) ? 0 : args->n[0];
    answer_named(rsp, args->n[0]);
}

void rsp_do_thread_alive(struct rsp *rsp, const struct rsp_args *args)
{
    bool alive = rsp_has_process(rsp) && rsp_resident(rsp, args->n[0]);

    if (alive)
        rsp_chosen_ask(rsp, args->n[0]);
    lw_put(&rsp->reply.sink,
           alive || (rsp->exited != 0 && rsp->exited == args->n[0]) ? "OK" : "E01");
}

void rsp_do_current(struct rsp *rsp, const struct rsp_args *args)
{
    (void)args;
    lw_printf(&rsp->reply.sink, "QC%llx",
              (unsigned long long)(rsp_view_is_exited(rsp) ? rsp_focus(rsp) : rsp_view(rsp)));
}

/* ---- the thread that the client's user has selected ---------------------------------------------------------- */

/*
 * Derives the selected thread from a query whether a thread is alive. No packet of gdb states which thread is selected: Hg
 * names also each thread that `info threads` reads. The stub therefore derives the selection from three kinds of packets. A
 * stop reply selects its thread, a register write selects the thread that is written, and a query whether a thread is alive
 * selects that thread. gdb sends this query for `thread N`. gdb sends the same query for each thread of `thread apply all`,
 * immediately after the thread list. These queries must not change the selection. Only a client with the Python file sends the
 * selected thread (qGpuShown).
 */
void rsp_chosen_ask(struct rsp *rsp, dbg_thread_id id)
{
    struct rsp_chosen *chosen = &rsp->chosen;
    struct dbg_thread first;

    chosen->alone = chosen->was_listed;
    if (chosen->was_listed) {
        chosen->apply_all = true;
        chosen->down = !dbg_thread_at(rsp->dbg, 0, &first) || first.id != id;
    } else if (!chosen->apply_all || (chosen->down ? id >= chosen->apply_at : id <= chosen->apply_at)) {
        chosen->apply_all = false;
        chosen->id = id;
        chosen->shell = 0;
    }
    chosen->apply_at = id;
}

void rsp_chosen_written(struct rsp *rsp)
{
    if (rsp->chosen.apply_all || rsp_view_is_exited(rsp))
        return;
    rsp->chosen.id = rsp_view(rsp);
    rsp->chosen.shell = 0;
}

dbg_thread_id rsp_chosen(const struct rsp *rsp)
{
    return rsp->chosen.apply_all && rsp->chosen.alone ? rsp->chosen.apply_at : rsp->chosen.id;
}

void rsp_chosen_set(struct rsp *rsp, dbg_thread_id id)
{
    rsp->chosen = (struct rsp_chosen){.id = id};
}

/* Handles qGpuShown:THREAD, which names the thread that is selected in the client (0 if it is not given). The reply is the thread
 * that the last `monitor` command selected, or 0 if it selected none. */
void rsp_do_shown(struct rsp *rsp, const struct rsp_args *args)
{
    char text[24];

    rsp->python = true; /* only the Python file sends this packet */
    if (args->n[0] != 0)
        rsp_chosen_set(rsp, args->n[0]);
    snprintf(text, sizeof text, "%llx",
             (unsigned long long)(rsp_resident(rsp, rsp->chosen.shell) ? rsp->chosen.shell : 0));
    rsp_put_hex(&rsp->reply, text, strlen(text));
}

/* Finds a thread id by binary search in an array whose elements are sorted by their first member, the id. Sets *@at to
 * the index of the element, or to the index at which to insert it. Returns NULL if no element has the id. */
static void *find_by_id(void *rows, size_t count, size_t row_bytes, dbg_thread_id id, size_t *at)
{
    size_t low = 0, high = count;
    dbg_thread_id found = 0;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        memcpy(&found, (char *)rows + middle * row_bytes, sizeof found);
        if (found < id)
            low = middle + 1;
        else
            high = middle;
    }
    *at = low;
    if (low == count)
        return NULL;
    memcpy(&found, (char *)rows + low * row_bytes, sizeof found);
    return found == id ? (char *)rows + low * row_bytes : NULL;
}

/* ---- gdb's numbers of threads --------------------------------------------------------------- */

/*
 * Finds gdb's number of a thread. gdb numbers threads in the order in which it first receives their ids, in the thread
 * list or in stop replies. A thread that has left the list and returns gets a new number.
 */
static struct rsp_number *number_find(const struct rsp *rsp, dbg_thread_id id, size_t *at)
{
    return find_by_id(rsp->numbers, rsp->number_count, sizeof *rsp->numbers, id, at);
}

static void number_add(struct rsp *rsp, dbg_thread_id id)
{
    size_t at;

    if (rsp->numbers_lost || number_find(rsp, id, &at) != NULL)
        return;
    if (!lw_grow(&rsp->numbers, &rsp->number_capacity, rsp->number_count + 1, sizeof *rsp->numbers)) {
        rsp->numbers_lost = true;
        return;
    }
    memmove(rsp->numbers + at + 1, rsp->numbers + at, (rsp->number_count++ - at) * sizeof *rsp->numbers);
    rsp->numbers[at] = (struct rsp_number){id, ++rsp->last_number};
}

void rsp_numbers_forget(struct rsp *rsp)
{
    rsp->number_count = 0;
    rsp->last_number = 0;
    rsp->numbers_lost = false;
    memset(rsp->stops, 0, sizeof rsp->stops);
}

void rsp_numbers_stop(struct rsp *rsp, dbg_thread_id id)
{
    unsigned at = 0;

    if (rsp->last_number == 0) /* gdb has not read its first thread list yet, so it has numbered no thread */
        return;
    number_add(rsp, id);
    while (at < LW_COUNT_OF(rsp->stops) && rsp->stops[at].id != id)
        at++;
    if (at == LW_COUNT_OF(rsp->stops))
        at = rsp->stop_next++ % LW_COUNT_OF(rsp->stops);
    rsp->stops[at] = (struct rsp_number){id, rsp_number(rsp, id)};
}

unsigned rsp_number_before(const struct rsp *rsp, dbg_thread_id id, unsigned *now)
{
    if (rsp->numbers_lost || rsp->lldb || rsp->last_number == 0 || rsp_number(rsp, id) != 0)
        return 0;
    *now = rsp->last_number + 1;
    for (unsigned i = 0; i < LW_COUNT_OF(rsp->stops); i++)
        if (rsp->stops[i].id == id)
            return rsp->stops[i].number;
    return 0;
}

static int by_id(const void *a, const void *b)
{
    dbg_thread_id left = *(const dbg_thread_id *)a, right = *(const dbg_thread_id *)b;

    return left < right ? -1 : left > right;
}

void rsp_numbers_list(struct rsp *rsp, const dbg_thread_id *ids, size_t count)
{
    dbg_thread_id *sorted;
    size_t kept = 0, at = 0;

    /* Fast path: at most stops the thread list is unchanged. */
    while (at < count && count == rsp->number_count && rsp->numbers[at].id == ids[at])
        at++;
    if (at == count && count == rsp->number_count)
        return;
    sorted = malloc((count + 1) * sizeof *sorted);
    if (sorted == NULL) {
        rsp->numbers_lost = true;
        return;
    }
    memcpy(sorted, ids, count * sizeof *sorted);
    qsort(sorted, count, sizeof *sorted, by_id);
    at = 0;
    for (size_t i = 0; i < rsp->number_count; i++) {
        while (at < count && sorted[at] < rsp->numbers[i].id)
            at++;
        if (at < count && sorted[at] == rsp->numbers[i].id)
            rsp->numbers[kept++] = rsp->numbers[i];
    }
    free(sorted);
    rsp->number_count = kept;
    for (size_t i = 0; i < count; i++)
        number_add(rsp, ids[i]);
}

unsigned rsp_numbers_new(const struct rsp *rsp)
{
    struct dbg_thread thread;
    unsigned count = 0, resident = dbg_thread_count(rsp->dbg);
    size_t at;

    if (rsp->last_number == 0 || rsp->numbers_lost || rsp->lldb)
        return 0;
    for (unsigned i = 0; i < resident; i++)
        count += dbg_thread_at(rsp->dbg, i, &thread) && rsp_thread_listed(rsp, i, &thread) &&
                 number_find(rsp, thread.id, &at) == NULL;
    return count;
}

unsigned rsp_number(const struct rsp *rsp, dbg_thread_id id)
{
    size_t at;
    const struct rsp_number *number = rsp->numbers_lost || rsp->lldb ? NULL : number_find(rsp, id, &at);

    return number != NULL ? number->number : 0;
}

void rsp_warp_print(const struct rsp *rsp, dbg_thread_id id, struct lw_sink *out)
{
    struct dbg_thread thread;
    struct lw_buffer name;

    if (!dbg_thread_get(rsp->dbg, id, &thread)) {
        lw_put(out, "a warp that has ended");
        return;
    }
    lw_buffer_init(&name);
    dbg_thread_name(rsp->dbg, &thread, &name.sink);
    if (name.text != NULL && strstr(name.text, " lane ") != NULL)
        *strstr(name.text, " lane ") = '\0';
    lw_put(out, name.text != NULL ? name.text : "another warp");
    lw_buffer_fini(&name);
}

/* ---- positions of threads that the client has read ---------------------------------------------- */

static struct rsp_known *known_find(const struct rsp *rsp, dbg_thread_id id, size_t *at)
{
    return find_by_id(rsp->known, rsp->known_count, sizeof *rsp->known, id, at);
}

void rsp_known_record(struct rsp *rsp, dbg_thread_id id)
{
    struct dbg_thread thread;
    struct rsp_known *known;
    size_t at;

    if (rsp->lldb || !dbg_thread_get(rsp->dbg, id, &thread))
        return;
    known = known_find(rsp, id, &at);
    if (known == NULL) {
        /* If the host has no memory, an outdated position is not noticed later, and a step from it is executed. */
        if (!lw_grow(&rsp->known, &rsp->known_capacity, rsp->known_count + 1, sizeof *rsp->known))
            return;
        known = &rsp->known[at];
        memmove(known + 1, known, (rsp->known_count++ - at) * sizeof *known);
    }
    *known = (struct rsp_known){id, thread.location.pc, thread.retired, thread.lane};
}

void rsp_known_forget(struct rsp *rsp)
{
    rsp->known_count = 0;
}

bool rsp_known_wrong(const struct rsp *rsp, dbg_thread_id id)
{
    struct dbg_thread thread;
    const struct rsp_known *known;
    size_t at;

    known = known_find(rsp, id, &at);
    return known != NULL && rsp_has(rsp, RSP_F_GONE_STEP) &&
           (!dbg_thread_get(rsp->dbg, id, &thread) || thread.location.pc != known->pc ||
            thread.lane != known->lane || thread.retired != known->retired);
}
