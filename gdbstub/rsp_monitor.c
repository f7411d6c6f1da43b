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
    if (thread->id == listing->focus[DBG_FOCUS_RUN] ||
        thread->id == listing->focus[DBG_FOCUS_VIEW])
        return true;
    if (listing->limit != 0 && index >= listing->limit)
        return false;
    return !listing->one_block ||
           memcmp(listing->block, thread->block_index, sizeof listing->block) == 0;
}

void rsp_listing_begin(struct rsp *rsp)
{
    rsp->listing.focus[DBG_FOCUS_RUN] = dbg_focus_get(rsp->dbg, DBG_FOCUS_RUN);
    rsp->listing.focus[DBG_FOCUS_VIEW] = dbg_focus_get(rsp->dbg, DBG_FOCUS_VIEW);
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

/*
 * gdb does not say which thread is selected before it sends a command, and Hg names each thread that
 * `info threads` looks at. What tells: the thread of a stop; a question whether a thread is alive, which
 * `thread N` asks of that one and `thread apply all`, right behind the list of threads, of each of them in
 * their order; and that registers were written.
 */
void rsp_chosen_ask(struct rsp *rsp, dbg_thread_id id)
{
    struct rsp_chosen *chosen = &rsp->chosen;
    struct dbg_thread first;

    chosen->alone = chosen->was_listed;
    if (chosen->was_listed) {
        chosen->sweep = true;
        chosen->down = !dbg_thread_at(rsp->dbg, 0, &first) || first.id != id;
    } else if (!chosen->sweep || (chosen->down ? id >= chosen->swept : id <= chosen->swept)) {
        chosen->sweep = false;
        chosen->id = id;
    }
    chosen->swept = id;
}

void rsp_chosen_written(struct rsp *rsp)
{
    if (!rsp->chosen.sweep && !rsp->view_parked)
        rsp->chosen.id = dbg_focus_get(rsp->dbg, DBG_FOCUS_VIEW);
}

dbg_thread_id rsp_chosen(const struct rsp *rsp)
{
    return rsp->chosen.sweep && rsp->chosen.alone ? rsp->chosen.swept : rsp->chosen.id;
}

/* To the thread of a command; returns the one that gdb named last, or 0 where it is that. */
static dbg_thread_id choose(struct rsp *rsp)
{
    dbg_thread_id named = dbg_focus_get(rsp->dbg, DBG_FOCUS_VIEW), id = rsp->chosen.id;
    struct dbg_thread thread;

    if (rsp->lldb || !rsp_has(rsp, RSP_F_MONITOR_THREAD) || id == 0 || id == named ||
        !dbg_thread_get(rsp->dbg, id, &thread) ||
        dbg_focus_set(rsp->dbg, DBG_FOCUS_VIEW, id, NULL) != LW_OK)
        return 0;
    return named;
}

/* Back to that one: it is whose registers gdb reads next. A command may have gone to another thread. */
static void unchoose(struct rsp *rsp, dbg_thread_id named)
{
    dbg_thread_id now = dbg_focus_get(rsp->dbg, DBG_FOCUS_VIEW);
    struct dbg_thread thread;

    if (now != rsp->chosen.id)
        rsp->chosen = (struct rsp_chosen){.id = now};
    else if (named != 0 && dbg_thread_get(rsp->dbg, named, &thread))
        (void)!dbg_focus_set(rsp->dbg, DBG_FOCUS_VIEW, named, NULL); /* it is resident */
}

/* ---- monitor -------------------------------------------------------------------------- */

struct place {
    dbg_thread_id id;
    unsigned lane;
    uint64_t pc;
    bool ended;
};

static struct place where(const struct rsp *rsp)
{
    struct place place = {.id = dbg_focus_get(rsp->dbg, DBG_FOCUS_VIEW),
                          .ended = dbg_ended(rsp->dbg)};
    struct dbg_thread thread;

    if (dbg_thread_get(rsp->dbg, place.id, &thread)) {
        place.lane = thread.lane;
        place.pc = thread.place.pc;
    }
    return place;
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

void rsp_do_monitor(struct rsp *rsp, const struct rsp_args *args)
{
    dbg_thread_id named = choose(rsp);
    struct place before = where(rsp), after;
    struct lw_error err = {0};
    struct lw_command_set set;
    size_t size = args->rest_size / 2;
    bool changed = false;
    char line[4096];

    if (size >= sizeof line || !rsp_hex_decode(args->rest, args->rest_size, (uint8_t *)line)) {
        lw_put(&rsp->reply.sink, "E01");
        return;
    }
    line[size] = '\0';
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
    /* Only `set $lane` makes gdb forget registers and frames by itself, and the Python file's hook. */
    if (!rsp->python && (changed || before.id != after.id || before.lane != after.lane ||
                         before.pc != after.pc || before.ended != after.ended))
        lw_put(&rsp->messages, "note: gdb still shows the state before this command; "
                               "`maint flush dcache` and `maint flush register-cache` make it look again\n");
    if (before.id != after.id || before.lane != after.lane || before.pc != after.pc ||
        before.ended != after.ended)
        rsp->moved = true;
    unchoose(rsp, named);
    rsp_run_end(rsp);
    rsp->in_monitor = false;
    lw_put(&rsp->reply.sink, "OK");
}
