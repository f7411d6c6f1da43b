/* SPDX-License-Identifier: Apache-2.0 */
/* gdb's `monitor`: the commands of the debugger core, and commands that concern the connection. */
#include "gdbstub/rsp_priv.h"

#include <stdio.h>
#include <stdlib.h>

/* ---- which threads are listed ------------------------------------------------------- */

enum { FEW_WARPS = 256, FIRST_WARPS = 64, MOST_BLOCK_WARPS = 64 };

static int by_id(const void *a, const void *b)
{
    dbg_thread_id x = *(const dbg_thread_id *)a, y = *(const dbg_thread_id *)b;

    return x < y ? -1 : x > y;
}

bool rsp_thread_listed(const struct rsp *rsp, unsigned index, const struct dbg_thread *thread)
{
    const struct rsp_listing *listing = &rsp->listing;

    if (rsp->some)
        return bsearch(&thread->id, rsp->wanted, rsp->wanted_count, sizeof *rsp->wanted, by_id) != NULL;
    if (listing->limit == 0 && !listing->one_block)
        return true;
    /* Focus threads are always listed, because a stop reply may name one, and gdb must find it in the list. */
    if (thread->id == listing->focus[0] || thread->id == listing->focus[1])
        return true;
    if (listing->limit != 0 && index >= listing->limit)
        return false;
    return !listing->one_block ||
           memcmp(listing->block, thread->block_index, sizeof listing->block) == 0;
}

void rsp_thread_seen(struct rsp *rsp, dbg_thread_id id)
{
    for (unsigned i = 0; i < LW_COUNT_OF(rsp->seen); i++)
        if (rsp->seen[i] == id)
            return;
    rsp->seen[rsp->seen_next++ % LW_COUNT_OF(rsp->seen)] = id;
}

static bool want(struct rsp *rsp, dbg_thread_id id)
{
    struct dbg_thread thread;

    if (id == 0 || !dbg_thread_get(rsp->dbg, id, &thread))
        return true;
    if (!lw_grow(&rsp->wanted, &rsp->wanted_capacity, rsp->wanted_count + 1, sizeof *rsp->wanted))
        return false;
    rsp->wanted[rsp->wanted_count++] = id;
    return true;
}

static void sort_wanted(struct rsp *rsp)
{
    size_t kept = 0;

    if (rsp->wanted_count != 0)
        qsort(rsp->wanted, rsp->wanted_count, sizeof *rsp->wanted, by_id);
    for (size_t i = 0; i < rsp->wanted_count; i++)
        if (kept == 0 || rsp->wanted[kept - 1] != rsp->wanted[i])
            rsp->wanted[kept++] = rsp->wanted[i];
    rsp->wanted_count = kept;
}

/* Chooses the warps to list if there are many: the first warps, the warps of the blocks in focus, and warps that recent
 * stops named. The remaining capacity goes to warps that gdb's present list has, because a thread that leaves the list
 * and returns gets a new number from gdb. Returns false if the host has no memory. */
static bool choose_some(struct rsp *rsp)
{
    struct dbg_thread thread, other;
    bool fine = true;

    rsp->wanted_count = 0;
    for (unsigned i = 0; fine && i < FIRST_WARPS && dbg_thread_at(rsp->dbg, i, &thread); i++)
        fine = want(rsp, thread.id);
    for (unsigned f = 0; f < LW_COUNT_OF(rsp->listing.focus); f++) {
        dbg_thread_id id = rsp->listing.focus[f];

        if (id == 0 || !dbg_thread_get(rsp->dbg, id, &thread))
            continue;
        id -= thread.location.warp;
        for (unsigned w = 0; fine && w < MOST_BLOCK_WARPS; w++)
            if (w == thread.location.warp ||
                (dbg_thread_get(rsp->dbg, id + w, &other) && other.location.grid == thread.location.grid &&
                 other.location.block == thread.location.block))
                fine = want(rsp, id + w);
    }
    for (unsigned i = 0; fine && i < LW_COUNT_OF(rsp->seen); i++)
        fine = want(rsp, rsp->seen[i]);
    sort_wanted(rsp);
    for (size_t i = 0, chosen = rsp->wanted_count; fine && i < rsp->listed_count && rsp->wanted_count < FEW_WARPS; i++)
        if (bsearch(&rsp->listed[i], rsp->wanted, chosen, sizeof *rsp->wanted, by_id) == NULL)
            fine = want(rsp, rsp->listed[i]);
    sort_wanted(rsp);
    return fine;
}

void rsp_listing_begin(struct rsp *rsp)
{
    const struct rsp_listing *listing = &rsp->listing;

    rsp->listing.focus[0] = rsp_focus(rsp);
    rsp->listing.focus[1] = rsp_view(rsp);
    rsp->some = listing->limit == 0 && !listing->one_block && !listing->all && rsp_has_process(rsp) &&
                dbg_thread_count(rsp->dbg) > FEW_WARPS && choose_some(rsp);
}

static enum lw_status cmd_threads(const struct lw_call *call, struct lw_error *err)
{
    struct rsp *rsp = call->context;
    struct rsp_listing listing = {.limit = 0};
    uint64_t count;

    if (call->argc == 3 && strcmp(call->argv[1], "block") == 0 &&
        sscanf(call->argv[2], "%u,%u,%u", &listing.block[0], &listing.block[1], &listing.block[2]) >= 1)
        listing.one_block = true;
    else if (call->argc == 2 && lw_parse_u64(call->argv[1], &count) && count != 0 && count <= UINT32_MAX)
        listing.limit = (unsigned)count;
    else if (call->argc == 2 && strcmp(call->argv[1], "all") == 0)
        listing.all = true;
    else if (call->argc > 2 || (call->argc == 2 && strcmp(call->argv[1], "some") != 0))
        return LW_FAIL(err, LW_EUSAGE,
                       "threads: expected some, all, a count or \"block X,Y,Z\", found \"%.80s\"",
                       call->argv[1]);
    if (call->argc > 1) {
        rsp->listing = listing;
        rsp->threads_valid = false;
    }
    lw_printf(call->out, "%u warp%s resident; `info threads` of gdb lists ", dbg_thread_count(rsp->dbg),
              dbg_thread_count(rsp->dbg) == 1 ? " is" : "s are");
    if (rsp->listing.limit != 0)
        lw_printf(call->out, "the first %u and the warp in focus\n", rsp->listing.limit);
    else if (rsp->listing.one_block)
        lw_printf(call->out, "the warps of block (%u,%u,%u) and the warp in focus\n",
                  rsp->listing.block[0], rsp->listing.block[1], rsp->listing.block[2]);
    else if (!rsp->listing.all && dbg_thread_count(rsp->dbg) > FEW_WARPS)
        lw_printf(call->out, "the first %u, those of the block in focus and those of recent stops; after `monitor "
                             "threads all` it lists all\n", (unsigned)FIRST_WARPS);
    else
        lw_put(call->out, "all\n");
    return LW_OK;
}

static enum lw_status cmd_at_end(const struct lw_call *call, struct lw_error *err)
{
    struct rsp *rsp = call->context;
    bool stop = call->argc == 2 && strcmp(call->argv[1], "stop") == 0;

    if (call->argc > 2 || (call->argc == 2 && !stop && strcmp(call->argv[1], "exit") != 0))
        return LW_FAIL(err, LW_EUSAGE, "at-end: expected stop or exit, found \"%.80s\"", call->argv[1]);
    if (call->argc == 2)
        rsp->config.stop_at_end = stop;
    lw_put(call->out, rsp->config.stop_at_end
                          ? "at the end of the run gdb stops before the last instruction, so that it can go back (if "
                            "history is recorded)\n"
                          : "at the end of the run the program exits, and gdb cannot go back\n");
    return LW_OK;
}

/* Requests a restart. The restart destroys the debugger that runs this command, so rsp_do_monitor() restarts the program after
 * the command has returned. */
static enum lw_status cmd_reset(const struct lw_call *call, struct lw_error *err)
{
    struct rsp *rsp = call->context;

    if (call->argc > 1)
        return LW_FAIL(err, LW_EUSAGE, "reset takes no operands: remove \"%.80s\"", call->argv[1]);
    rsp->reset = true;
    return LW_OK;
}

static const struct lw_command commands[] = {
    {"at-end", NULL, "[stop|exit]", "Show or select what happens at the end of the run: stop (reverse execution remains possible) or exit",
     "at-end stop", cmd_at_end, 0},
    {"reset", NULL, "", "Restart the run from its launch file", "reset", cmd_reset,
     LW_COMMAND_CHANGES},
    {"threads", NULL, "[some|all|count|block X,Y,Z]", "Show or select which warps gdb lists as threads",
     "threads all", cmd_threads, 0},
};

/* Returns the command tables of the debugger core, followed by the table of the stub. */
static struct lw_command_set joined(struct rsp *rsp)
{
    struct lw_command_set set = {.count = 0};

    if (rsp->config.monitor != NULL)
        set = *rsp->config.monitor;
    if (set.count < LW_COUNT_OF(set.tables)) {
        set.themes[set.count] = "This gdb connection";
        set.tables[set.count++] =
            (struct lw_command_table){commands, LW_COUNT_OF(commands), rsp};
    }
    return set;
}

/* ---- the thread of a command ------------------------------------------------------------ */

/* Moves the core's focus to the thread that a command refers to, and returns this thread: the thread of the last monitor
 * command, or the thread that the user has selected since. */
static dbg_thread_id choose(struct rsp *rsp)
{
    dbg_thread_id id = rsp->chosen.id;

    if (rsp->lldb || !rsp_has(rsp, RSP_F_MONITOR_THREAD))
        return rsp_focus(rsp);
    if (rsp_resident(rsp, rsp->chosen.shell))
        id = rsp->chosen.shell;
    rsp_focus_on(rsp, id);
    return rsp_focus(rsp);
}

/* ---- monitor -------------------------------------------------------------------------- */

/* State that gdb may have read: the core's focus, the position of the user's thread, and whether the run has ended. */
struct location {
    dbg_thread_id focus;
    dbg_thread_id id;
    struct dbg_thread thread;
    bool there, ended;
};

static struct location where(const struct rsp *rsp)
{
    struct location location = {.focus = rsp_focus(rsp), .id = rsp_chosen(rsp), .ended = dbg_ended(rsp->dbg)};

    if (location.id == 0)
        location.id = rsp_view(rsp);
    location.there = dbg_thread_get(rsp->dbg, location.id, &location.thread);
    return location;
}

static bool same_location(const struct location *a, const struct location *b)
{
    return a->there == b->there && a->ended == b->ended &&
           (!a->there || (a->thread.lane == b->thread.lane && a->thread.location.pc == b->thread.location.pc &&
                          a->thread.retired == b->thread.retired));
}

/* Returns true for commands that may change state which gdb has read, for example by running the machine. Equal positions
 * before and after a command do not exclude such a change: in another iteration of a loop the warp, the lane and the pc are the
 * same. */
static bool changes(const struct lw_command_set *set, const char *line)
{
    const struct lw_command *command;
    char word[64];
    void *context;

    line += strspn(line, " \t");
    snprintf(word, sizeof word, "%.*s", (int)strcspn(line, " \t/"), line);
    command = lw_command_find(set, word, &context, NULL);
    return command != NULL && (command->does & LW_COMMAND_CHANGES);
}

/*
 * Prints a note that says what to type so that gdb shows the state after a monitor command. By itself gdb rereads
 * registers and frames only after `set $lane`, and it never selects another thread. The Python file does both after
 * each `monitor`; users without it get the note. @changed: the command may have changed state that gdb has read.
 */
static void advise(struct rsp *rsp, const struct location *before, const struct location *after, bool changed)
{
    bool away = after->focus != 0 && after->focus != after->id && after->focus != before->focus;
    bool stale = changed || !same_location(before, after);
    unsigned number = rsp_number(rsp, after->focus);
    struct lw_sink *out = &rsp->messages;

    if (rsp->python || (!away && !stale))
        return;
    lw_put(out, "note: gdb still shows ");
    if (stale)
        lw_put(out, "the state before this command; `maint flush dcache` and `maint flush register-cache` make gdb "
                    "read the new state");
    else
        rsp_warp_print(rsp, after->id, out);
    if (!away) {
        lw_put(out, "\n");
        return;
    }
    if (rsp->lldb)
        lw_put(out, "; `thread list` has the number of ");
    else if (number != 0)
        lw_printf(out, "; `thread %u` shows ", number);
    else
        lw_put(out, "; `info threads` has the number of ");
    rsp_warp_print(rsp, after->focus, out);
    lw_put(out, "\n");
}

void rsp_do_monitor(struct rsp *rsp, const struct rsp_args *args)
{
    struct location before, after;
    struct lw_error err = {0};
    struct lw_command_set set;
    size_t size = args->rest_size / 2;
    dbg_thread_id began;
    bool changed = false;
    char line[4096];

    if (size >= sizeof line || !rsp_hex_decode(args->rest, args->rest_size, (uint8_t *)line)) {
        lw_put(&rsp->reply.sink, "E01");
        return;
    }
    line[size] = '\0';
    began = choose(rsp);
    before = where(rsp);
    rsp->in_monitor = true;
    rsp->reported.id = 0;
    rsp_run_begin(rsp);
    set = joined(rsp);
    if (lw_command_run(&set, line, &rsp->messages, &err) != LW_OK)
        lw_printf(&rsp->messages, "error: %s\n", err.text);
    else
        changed = changes(&set, line);
    if (rsp->reset) {
        rsp->reset = false;
        if (rsp_restart(rsp, "", &err) != LW_OK)
            lw_printf(&rsp->messages, "error: %s\n", err.text);
        else
            lw_put(&rsp->messages, "the run starts again\n");
    }
    after = where(rsp);
    if (after.focus != began) {
        rsp->chosen.shell = after.focus;
        rsp_thread_seen(rsp, after.focus);
    }
    advise(rsp, &before, &after, changed);
    rsp_run_end(rsp);
    rsp->in_monitor = false;
    lw_put(&rsp->reply.sink, "OK");
}
