/* SPDX-License-Identifier: Apache-2.0 */
/* Commands that resume. */
#include "debug/dbg_commands_priv.h"

enum { MAX_PLACES = 32 };

static enum lw_status do_continue(void *context, int argc, char **argv, struct lw_sink *out,
                                  struct lw_error *err)
{
    struct dbg *dbg = context;
    struct dbg_stop stop;
    enum lw_status status = dbg_no_operands(argc, argv, err);

    if (status == LW_OK)
        status = dbg_continue(dbg, &stop, err);
    if (status == LW_OK)
        dbg_stop_print(dbg, &stop, out);
    return status;
}

enum step_verb { STEP_LINE, STEP_NEXT, STEP_INSN, STEP_NEXT_INSN };

static enum lw_status step_times(struct dbg *dbg, int argc, char **argv, enum step_verb verb,
                                 struct lw_sink *out, struct lw_error *err)
{
    struct dbg_stop stop = {0};
    uint64_t count;
    enum lw_status status = dbg_one_count(argc, argv, &count, err);

    if (status == LW_OK && dbg_ended(dbg))
        return LW_FAIL(err, LW_ESTATE, "nothing is running: every launch has ended");
    for (uint64_t i = 0; i < count && status == LW_OK; i++) {
        dbg_thread_id id = dbg_focus_get(dbg, DBG_FOCUS_VIEW);
        unsigned lane = dbg_lane_get(dbg, id);

        /* An interrupt between two steps: the next one would begin by forgetting it. */
        if (i != 0 && dbg->engine->interrupted)
            break;
        if (verb == STEP_INSN)
            status = dbg_step(dbg, id, false, &stop, err);
        else if (verb == STEP_NEXT_INSN)
            status = dbg_next_insn(dbg, id, &stop, err);
        else
            status = dbg_step_line(dbg, id, verb == STEP_NEXT, false, &stop, err);
        /* The rest of the count was meant for this lane. */
        if (stop.kind != DBG_STOP_STEP || stop.thread != id || stop.lane != lane)
            break;
    }
    if (status == LW_OK)
        dbg_stop_print(dbg, &stop, out);
    return status;
}

static enum lw_status do_step(void *context, int argc, char **argv, struct lw_sink *out,
                              struct lw_error *err)
{
    return step_times(context, argc, argv, STEP_LINE, out, err);
}

static enum lw_status do_next(void *context, int argc, char **argv, struct lw_sink *out,
                              struct lw_error *err)
{
    return step_times(context, argc, argv, STEP_NEXT, out, err);
}

static enum lw_status do_stepi(void *context, int argc, char **argv, struct lw_sink *out,
                               struct lw_error *err)
{
    return step_times(context, argc, argv, STEP_INSN, out, err);
}

static enum lw_status do_nexti(void *context, int argc, char **argv, struct lw_sink *out,
                               struct lw_error *err)
{
    return step_times(context, argc, argv, STEP_NEXT_INSN, out, err);
}

static enum lw_status do_until(void *context, int argc, char **argv, struct lw_sink *out,
                               struct lw_error *err)
{
    struct dbg *dbg = context;
    uint64_t pcs[MAX_PLACES];
    struct dbg_stop stop;
    unsigned count;
    enum lw_status status;

    if (argc != 2)
        return LW_FAIL(err, LW_EUSAGE, "until takes one place: %s LOCATION", argv[0]);
    status = dbg_location_parse(dbg, argv[1], pcs, MAX_PLACES, &count, err);
    if (status == LW_OK)
        status = dbg_advance(dbg, dbg_focus_get(dbg, DBG_FOCUS_VIEW), pcs[0], &stop, err);
    if (status == LW_OK)
        dbg_stop_print(dbg, &stop, out);
    return status;
}

static enum lw_status do_finish(void *context, int argc, char **argv, struct lw_sink *out,
                                struct lw_error *err)
{
    struct dbg *dbg = context;
    struct dbg_stop stop;
    enum lw_status status = dbg_no_operands(argc, argv, err);

    if (status == LW_OK)
        status = dbg_finish(dbg, dbg_focus_get(dbg, DBG_FOCUS_VIEW), &stop, err);
    if (status == LW_OK)
        dbg_stop_print(dbg, &stop, out);
    return status;
}
/* clang-format off */
static const struct lw_command rows[] = {
    /* name        abbrev.  operands                      summary                                                       example */
    {"continue",    "c",    "",                           "Run everything until something stops it",                    "continue", do_continue},
    {"step",        "s",    "[count]",                    "Step the focus lane to another source line, into calls",     "step", do_step},
    {"next",        "n",    "[count]",                    "Step the focus lane to another source line, over calls",     "next", do_next},
    {"stepi",       "stepi","[count]",                    "Step the focus lane by one instruction",                     "stepi 2", do_stepi},
    {"nexti",       "nexti","[count]",                    "Step the focus lane by one instruction, over calls",         "nexti", do_nexti},
    {"si",          "si",   "[count]",                    "Short for stepi",                                            "si", do_stepi},
    {"ni",          "ni",   "[count]",                    "Short for nexti",                                            "ni", do_nexti},
    {"until",       "u",    "<location>",                 "Run everything until the focus lane is at a place",          "until +1", do_until},
    {"finish",      "fin",  "",                           "Step the focus lane out of its function",                    "finish", do_finish},
};
/* clang-format on */
const struct lw_command_table dbg_commands_run = {rows, LW_COUNT_OF(rows), NULL};
