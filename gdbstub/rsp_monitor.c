/* SPDX-License-Identifier: Apache-2.0 */
/* gdb's `monitor`: the debugger's commands, and those that are about the connection. */
#include "gdbstub/rsp_priv.h"

#include <stdio.h>
#include <stdlib.h>

/* ---- which threads are listed ------------------------------------------------------- */

bool rsp_thread_listed(const struct rsp *rsp, unsigned index, const struct dbg_thread *thread)
{
    const struct rsp_listing *listing = &rsp->listing;

    if (listing->limit == 0 && !listing->one_block)
        return true;
    /* gdb must find the one that it is told of in a stop. */
    if (thread->id == listing->focus[0] || thread->id == listing->focus[1])
        return true;
    if (listing->limit != 0 && index >= listing->limit)
        return false;
    return !listing->one_block ||
           memcmp(listing->block, thread->block_index, sizeof listing->block) == 0;
}

void rsp_listing_begin(struct rsp *rsp)
{
    rsp->listing.focus[0] = rsp_focus(rsp);
    rsp->listing.focus[1] = rsp_view(rsp);
}

static enum lw_status cmd_threads(void *context, int argc, char **argv, struct lw_sink *out,
                                  struct lw_error *err)
{
    struct rsp *rsp = context;
    struct rsp_listing listing = {.limit = 0};
    uint64_t count;

    if (argc == 3 && strcmp(argv[1], "block") == 0 &&
        sscanf(argv[2], "%u,%u,%u", &listing.block[0], &listing.block[1], &listing.block[2]) >= 1)
        listing.one_block = true;
    else if (argc == 2 && lw_parse_u64(argv[1], &count) && count != 0 && count <= UINT32_MAX)
        listing.limit = (unsigned)count;
    else if (argc > 2 || (argc == 2 && strcmp(argv[1], "all") != 0))
        return LW_FAIL(err, LW_EUSAGE,
                       "threads: expected all, a count or \"block X,Y,Z\", found \"%.80s\"",
                       argv[1]);
    if (argc > 1) {
        rsp->listing = listing;
        rsp->threads_valid = false;
    }
    lw_printf(out, "%u warps are resident; gdb is told of ", dbg_thread_count(rsp->dbg));
    if (rsp->listing.limit != 0)
        lw_printf(out, "the first %u and the one in focus\n", rsp->listing.limit);
    else if (rsp->listing.one_block)
        lw_printf(out, "those of block (%u,%u,%u) and the one in focus\n",
                  rsp->listing.block[0], rsp->listing.block[1], rsp->listing.block[2]);
    else
        lw_put(out, "all\n");
    return LW_OK;
}

static enum lw_status cmd_at_end(void *context, int argc, char **argv, struct lw_sink *out,
                                 struct lw_error *err)
{
    struct rsp *rsp = context;
    bool stop = argc == 2 && strcmp(argv[1], "stop") == 0;

    if (argc > 2 || (argc == 2 && !stop && strcmp(argv[1], "exit") != 0))
        return LW_FAIL(err, LW_EUSAGE, "at-end: expected stop or exit, found \"%.80s\"", argv[1]);
    if (argc == 2)
        rsp->config.stop_at_end = stop;
    lw_put(out, rsp->config.stop_at_end
                    ? "the end of the run is a stop before it, to go back from, where history is kept\n"
                    : "the end of the run is the program's exit: there is no way back from it\n");
    return LW_OK;
}

/* The debugger that this command came through ends then: rsp_do_monitor() does it behind it. */
static enum lw_status cmd_reset(void *context, int argc, char **argv, struct lw_sink *out,
                                struct lw_error *err)
{
    struct rsp *rsp = context;

    (void)out;
    if (argc > 1)
        return LW_FAIL(err, LW_EUSAGE, "reset takes no operands, found \"%.80s\"", argv[1]);
    rsp->reset = true;
    return LW_OK;
}

static const struct lw_command commands[] = {
    {"at-end", NULL, "[stop|exit]", "Whether there is a way back from the end of the run",
     "at-end stop", cmd_at_end, 0},
    {"reset", NULL, "", "Begin the run again, from its launch file", "reset", cmd_reset,
     LW_COMMAND_CHANGES},
    {"threads", NULL, "[all|count|block X,Y,Z]", "Which warps gdb lists as threads",
     "threads all", cmd_threads, 0},
};

/* The debugger's, and ours behind them. */
static struct lw_command_set joined(struct rsp *rsp)
{
    struct lw_command_set set = {.count = 0};

    if (rsp->config.monitor != NULL)
        set = *rsp->config.monitor;
    if (set.count < LW_COUNT_OF(set.tables)) {
        set.themes[set.count] = "This connection";
        set.tables[set.count++] =
            (struct lw_command_table){commands, LW_COUNT_OF(commands), rsp};
    }
    return set;
}

/* ---- whose commands -------------------------------------------------------------------- */

/* The thread that a command is about: the one that the last command went to, until the client's user
 * selects one; else that. To it goes the core's focus. */
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

/* What gdb may have read: of the thread that its user sees, and whether the machine ran. */
struct place {
    dbg_thread_id focus;
    dbg_thread_id id;
    struct dbg_thread thread;
    bool there, ended;
};

static struct place where(const struct rsp *rsp)
{
    struct place place = {.focus = rsp_focus(rsp), .id = rsp_chosen(rsp), .ended = dbg_ended(rsp->dbg)};

    if (place.id == 0)
        place.id = rsp_view(rsp);
    place.there = dbg_thread_get(rsp->dbg, place.id, &place.thread);
    return place;
}

static bool same_place(const struct place *a, const struct place *b)
{
    return a->there == b->there && a->ended == b->ended &&
           (!a->there || (a->thread.lane == b->thread.lane && a->thread.place.pc == b->thread.place.pc &&
                          a->thread.retired == b->thread.retired));
}

/* Commands that change what gdb has read, or that run the machine and may come to a place that
 * looks the same: in another round of a loop the warp, the lane and the pc are equal. */
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
 * Only `set $lane` makes gdb forget registers and frames by itself, and only its user selects a thread of
 * it. The Python file does both behind each `monitor`. To others it is told what to type.
 */
static void advise(struct rsp *rsp, const struct place *before, const struct place *after, bool changed)
{
    bool away = after->focus != 0 && after->focus != after->id && after->focus != before->focus;
    bool stale = changed || !same_place(before, after);
    unsigned number = rsp_number(rsp, after->focus);
    struct lw_sink *out = &rsp->messages;

    if (rsp->python || (!away && !stale))
        return;
    lw_put(out, "note: gdb still shows ");
    if (stale)
        lw_put(out, "the state before this command; `maint flush dcache` and `maint flush register-cache` make it look "
                    "again");
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
    struct place before, after;
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
            lw_put(&rsp->messages, "the run begins again\n");
    }
    after = where(rsp);
    if (after.focus != began)
        rsp->chosen.shell = after.focus;
    advise(rsp, &before, &after, changed);
    rsp_run_end(rsp);
    rsp->in_monitor = false;
    lw_put(&rsp->reply.sink, "OK");
}
