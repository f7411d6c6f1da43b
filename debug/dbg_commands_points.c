/* SPDX-License-Identifier: Apache-2.0 */
/* Commands on points: where a run stops. */
#include "debug/dbg_commands_priv.h"

enum { MAX_PLACES = 32 };

static enum lw_status add_points(struct dbg *dbg, int argc, char **argv, bool temporary,
                                 struct lw_sink *out, struct lw_error *err)
{
    uint64_t pcs[MAX_PLACES];
    unsigned count = 0, id;
    char condition[1024];
    int next = 1;
    enum lw_status status;
    bool here = argc == 1 || strcmp(argv[1], "if") == 0;

    if (here) {
        struct dbg_thread thread;

        status = dbg_view(dbg, &thread, err);
        if (status != LW_OK)
            return status;
        pcs[0] = thread.place.pc;
        count = 1;
    } else {
        status = dbg_location_parse(dbg, argv[1], pcs, MAX_PLACES, &count, err);
        if (status != LW_OK)
            return status;
        next = 2;
    }
    *condition = '\0';
    if (next < argc) {
        if (strcmp(argv[next], "if") != 0 || next + 1 == argc)
            return LW_FAIL(err, LW_EUSAGE,
                           "behind the place goes `if CONDITION`, \"%s\" was found",
                           argv[next]);
        if (!dbg_args_join(argc, argv, next + 1, condition, sizeof condition))
            return dbg_too_long(err);
    }
    for (unsigned i = 0; i < count; i++) {
        status = dbg_point_add(dbg, DBG_OWNER_SHELL, pcs[i], condition, temporary, &id, err);
        if (status != LW_OK)
            return status;
        lw_printf(out, "%sbreakpoint %u at ", temporary ? "temporary " : "", id);
        dbg_place_print(dbg, pcs[i], out);
        lw_put(out, "\n");
    }
    return LW_OK;
}

static enum lw_status do_break(void *context, int argc, char **argv, struct lw_sink *out,
                               struct lw_error *err)
{
    return add_points(context, argc, argv, false, out, err);
}

static enum lw_status do_tbreak(void *context, int argc, char **argv, struct lw_sink *out,
                                struct lw_error *err)
{
    return add_points(context, argc, argv, true, out, err);
}

enum point_verb { POINT_DELETE, POINT_DISABLE, POINT_ENABLE };

static enum lw_status point_apply(struct dbg *dbg, unsigned id, enum point_verb verb,
                                  struct lw_error *err)
{
    if (verb == POINT_DELETE)
        return dbg_point_remove(dbg, id, err);
    return dbg_point_enable(dbg, id, verb == POINT_ENABLE, err);
}

/* The given points, or all of the shell's; gdb minds its own. */
static enum lw_status points_apply(struct dbg *dbg, int argc, char **argv,
                                   enum point_verb verb, struct lw_error *err)
{
    enum lw_status status = LW_OK;
    struct dbg_point point;

    if (argc == 1) {
        for (unsigned i = dbg_point_count(dbg); i-- > 0 && status == LW_OK;)
            if (dbg_point_at(dbg, i, &point) && point.owner == DBG_OWNER_SHELL)
                status = point_apply(dbg, point.id, verb, err);
        return status;
    }
    for (int i = 1; i < argc && status == LW_OK; i++) {
        uint64_t id;

        if (!lw_parse_u64(argv[i], &id) || id > UINT32_MAX)
            return LW_FAIL(err, LW_EUSAGE, "%s takes breakpoint numbers, not \"%s\"", argv[0],
                           argv[i]);
        status = point_apply(dbg, (unsigned)id, verb, err);
    }
    return status;
}

static enum lw_status do_delete(void *context, int argc, char **argv, struct lw_sink *out,
                                struct lw_error *err)
{
    (void)out;
    return points_apply(context, argc, argv, POINT_DELETE, err);
}

static enum lw_status do_disable(void *context, int argc, char **argv, struct lw_sink *out,
                                 struct lw_error *err)
{
    (void)out;
    return points_apply(context, argc, argv, POINT_DISABLE, err);
}

static enum lw_status do_enable(void *context, int argc, char **argv, struct lw_sink *out,
                                struct lw_error *err)
{
    (void)out;
    return points_apply(context, argc, argv, POINT_ENABLE, err);
}

static enum lw_status do_points(void *context, int argc, char **argv, struct lw_sink *out,
                                struct lw_error *err)
{
    enum lw_status status = dbg_no_operands(argc, argv, err);

    if (status == LW_OK)
        dbg_show_points(context, out);
    return status;
}
/* clang-format off */
static const struct lw_command rows[] = {
    /* name        abbrev.  operands                      summary                                                       example */
    {"break",       "b",    "[location] [if condition]",  "Stop before a place, for lanes where a condition holds",     "break saxpy if lane == 3", do_break},
    {"tbreak",      "tb",   "[location] [if condition]",  "Stop once",                                                  "tbreak saxpy", do_tbreak},
    {"delete",      "d",    "[number] ...",               "Delete breakpoints, without numbers all",                    "delete 1", do_delete},
    {"disable",     "dis",  "[number] ...",               "Keep breakpoints but do not stop there",                     "disable", do_disable},
    {"enable",      "en",   "[number] ...",               "Stop at disabled breakpoints again",                         "enable", do_enable},
    {"points",      "po",   "",                           "List breakpoints",                                           "points", do_points},
};
/* clang-format on */
const struct lw_command_table dbg_commands_points = {rows, LW_COUNT_OF(rows), NULL};
