/* SPDX-License-Identifier: Apache-2.0 */
/* The command table of the debugger: the shell and gdb's `monitor` run it. */
#include "debug/debug_priv.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>

enum { MAX_PLACES = 32, MAX_COUNT = 1000000, LIST_LINES = 10, DISASSEMBLE_COUNT = 8 };

/* ---- helpers -------------------------------------------------------------------- */

/* The words from @first on, as one text again; false when it is too long. */
static bool join(int argc, char **argv, int first, char *text, size_t size)
{
    size_t used = 0;

    *text = '\0';
    for (int i = first; i < argc; i++) {
        int n = snprintf(text + used, size - used, "%s%s", i > first ? " " : "", argv[i]);

        if (n < 0 || (size_t)n >= size - used)
            return false;
        used += (size_t)n;
    }
    return true;
}

static enum lw_status too_long(struct lw_error *err)
{
    return LW_FAIL(err, LW_EUSAGE, "the command is too long");
}

static enum lw_status no_operands(int argc, char **argv, struct lw_error *err)
{
    return argc == 1 ? LW_OK
                     : LW_FAIL(err, LW_EUSAGE, "%s takes no operands, \"%s\" was given",
                               argv[0], argv[1]);
}

/* A count as the only operand, 1 without. */
static enum lw_status one_count(int argc, char **argv, uint64_t *count, struct lw_error *err)
{
    *count = 1;
    if (argc > 2)
        return LW_FAIL(err, LW_EUSAGE, "%s takes one count, \"%s\" is too much", argv[0],
                       argv[2]);
    if (argc == 2 && (!lw_parse_u64(argv[1], count) || *count == 0 || *count > MAX_COUNT))
        return LW_FAIL(err, LW_EUSAGE, "%s takes a count from 1 to %d, not \"%s\"", argv[0],
                       MAX_COUNT, argv[1]);
    return LW_OK;
}

static void focus_print(struct dbg *dbg, struct lw_sink *out)
{
    struct dbg_thread thread;
    struct dbg_stop stop = {.kind = DBG_STOP_STEP};

    if (dbg_view(dbg, &thread, NULL) != LW_OK)
        return;
    stop.thread = thread.id;
    stop.lane = thread.lane;
    stop.pc = thread.place.pc;
    dbg_stop_print(dbg, &stop, out);
}

/* ---- points ------------------------------------------------------------------------ */

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
        if (!join(argc, argv, next + 1, condition, sizeof condition))
            return too_long(err);
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
    enum lw_status status = no_operands(argc, argv, err);

    if (status == LW_OK)
        dbg_show_points(context, out);
    return status;
}

/* ---- running ------------------------------------------------------------------------- */

static enum lw_status do_continue(void *context, int argc, char **argv, struct lw_sink *out,
                                  struct lw_error *err)
{
    struct dbg *dbg = context;
    struct dbg_stop stop;
    enum lw_status status = no_operands(argc, argv, err);

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
    enum lw_status status = one_count(argc, argv, &count, err);

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
    enum lw_status status = no_operands(argc, argv, err);

    if (status == LW_OK)
        status = dbg_finish(dbg, dbg_focus_get(dbg, DBG_FOCUS_VIEW), &stop, err);
    if (status == LW_OK)
        dbg_stop_print(dbg, &stop, out);
    return status;
}

/* ---- focus ------------------------------------------------------------------------------ */

static enum lw_status focus_on(struct dbg *dbg, dbg_thread_id id, struct lw_error *err)
{
    enum lw_status status = dbg_focus_set(dbg, DBG_FOCUS_RUN, id, err);

    return status != LW_OK ? status : dbg_focus_set(dbg, DBG_FOCUS_VIEW, id, err);
}

static enum lw_status do_focus(void *context, int argc, char **argv, struct lw_sink *out,
                               struct lw_error *err)
{
    struct dbg *dbg = context;
    struct dbg_thread thread;
    enum lw_status status = LW_OK;
    uint64_t id, lane;

    if (argc > 3 || (argc > 1 && !lw_parse_u64(argv[1], &id)) ||
        (argc > 2 && (!lw_parse_u64(argv[2], &lane) || lane >= EMU_MAX_LANES)))
        return LW_FAIL(err, LW_EUSAGE,
                       "focus takes the number of a warp (see `warps`) and a lane");
    if (argc > 1)
        status = focus_on(dbg, id, err);
    if (status == LW_OK && argc > 2)
        status = dbg_lane_set(dbg, id, (unsigned)lane, err);
    if (status == LW_OK)
        status = dbg_view(dbg, &thread, err);
    if (status == LW_OK)
        focus_print(dbg, out);
    return status;
}

static enum lw_status do_lane(void *context, int argc, char **argv, struct lw_sink *out,
                              struct lw_error *err)
{
    struct dbg *dbg = context;
    struct dbg_thread thread;
    uint64_t lane;
    enum lw_status status;

    if (argc != 2 || !lw_parse_u64(argv[1], &lane) || lane > UINT32_MAX)
        return LW_FAIL(err, LW_EUSAGE, "lane takes the number of a lane");
    status = dbg_view(dbg, &thread, err);
    if (status == LW_OK)
        status = dbg_lane_set(dbg, thread.id, (unsigned)lane, err);
    if (status == LW_OK)
        focus_print(dbg, out);
    return status;
}

static enum lw_status do_warp(void *context, int argc, char **argv, struct lw_sink *out,
                              struct lw_error *err)
{
    struct dbg *dbg = context;
    struct dbg_thread thread, other;
    uint64_t warp;
    enum lw_status status;

    if (argc != 2 || !lw_parse_u64(argv[1], &warp))
        return LW_FAIL(err, LW_EUSAGE, "warp takes the number of a warp of the focus block");
    status = dbg_view(dbg, &thread, err);
    if (status != LW_OK)
        return status;
    for (unsigned i = 0; dbg_thread_at(dbg, i, &other); i++)
        if (other.place.grid == thread.place.grid &&
            other.place.block == thread.place.block && other.place.warp == warp) {
            status = focus_on(dbg, other.id, err);
            if (status == LW_OK)
                focus_print(dbg, out);
            return status;
        }
    return LW_FAIL(err, LW_ERANGE, "block(%u,%u,%u) has no live warp %llu",
                   thread.block_index[0], thread.block_index[1], thread.block_index[2],
                   (unsigned long long)warp);
}

static enum lw_status do_block(void *context, int argc, char **argv, struct lw_sink *out,
                               struct lw_error *err)
{
    struct dbg *dbg = context;
    unsigned long index[3] = {0, 0, 0};
    struct dbg_thread other;
    char text[128], *at = text;
    enum lw_status status;

    if (argc < 2 || !join(argc, argv, 1, text, sizeof text))
        return LW_FAIL(err, LW_EUSAGE, "block takes an index as X,Y,Z");
    for (unsigned i = 0; i < 3 && *at != '\0'; i++) {
        char *last;

        if (!isdigit((unsigned char)*at))
            break;
        index[i] = strtoul(at, &last, 10);
        at = last;
        while (*at == ',' || *at == ' ')
            at++;
    }
    if (*at != '\0')
        return LW_FAIL(err, LW_EUSAGE, "block takes an index as X,Y,Z, not \"%s\"", text);
    for (unsigned i = 0; dbg_thread_at(dbg, i, &other); i++)
        if (other.block_index[0] == index[0] && other.block_index[1] == index[1] &&
            other.block_index[2] == index[2]) {
            status = focus_on(dbg, other.id, err);
            if (status == LW_OK)
                focus_print(dbg, out);
            return status;
        }
    return LW_FAIL(err, LW_ERANGE,
                   "block(%lu,%lu,%lu) is not resident: it has ended, not begun or does not "
                   "exist",
                   index[0], index[1], index[2]);
}

/* ---- tables ------------------------------------------------------------------------------- */

static enum lw_status do_warps(void *context, int argc, char **argv, struct lw_sink *out,
                               struct lw_error *err)
{
    if (argc > 2 || (argc == 2 && strcmp(argv[1], "all") != 0))
        return LW_FAIL(err, LW_EUSAGE, "warps takes nothing or `all`");
    return dbg_show_warps(context, argc == 2, out, err);
}

typedef enum lw_status (*show_fn)(struct dbg *dbg, dbg_thread_id id, struct lw_sink *out,
                                  struct lw_error *err);

static enum lw_status show(struct dbg *dbg, int argc, char **argv, show_fn fn,
                           struct lw_sink *out, struct lw_error *err)
{
    struct dbg_thread thread;
    enum lw_status status = no_operands(argc, argv, err);

    if (status == LW_OK)
        status = dbg_view(dbg, &thread, err);
    return status != LW_OK ? status : fn(dbg, thread.id, out, err);
}

static enum lw_status do_lanes(void *context, int argc, char **argv, struct lw_sink *out,
                               struct lw_error *err)
{
    return show(context, argc, argv, dbg_show_lanes, out, err);
}

static enum lw_status do_splits(void *context, int argc, char **argv, struct lw_sink *out,
                                struct lw_error *err)
{
    return show(context, argc, argv, dbg_show_splits, out, err);
}

static enum lw_status do_barriers(void *context, int argc, char **argv, struct lw_sink *out,
                                  struct lw_error *err)
{
    return show(context, argc, argv, dbg_show_barriers, out, err);
}

static enum lw_status do_registers(void *context, int argc, char **argv, struct lw_sink *out,
                                   struct lw_error *err)
{
    struct dbg_thread thread;
    enum lw_status status = dbg_view(context, &thread, err);

    return status != LW_OK
               ? status
               : dbg_show_registers(context, thread.id, argc - 1, argv + 1, out, err);
}

static enum lw_status do_tags(void *context, int argc, char **argv, struct lw_sink *out,
                              struct lw_error *err)
{
    return show(context, argc, argv, dbg_show_tags, out, err);
}

static enum lw_status do_allocations(void *context, int argc, char **argv,
                                     struct lw_sink *out, struct lw_error *err)
{
    enum lw_status status = no_operands(argc, argv, err);

    if (status == LW_OK)
        dbg_show_allocations(context, out);
    return status;
}

static enum lw_status do_launches(void *context, int argc, char **argv, struct lw_sink *out,
                                  struct lw_error *err)
{
    enum lw_status status = no_operands(argc, argv, err);

    if (status == LW_OK)
        dbg_show_launches(context, out);
    return status;
}

static enum lw_status do_status(void *context, int argc, char **argv, struct lw_sink *out,
                                struct lw_error *err)
{
    enum lw_status status = no_operands(argc, argv, err);

    if (status == LW_OK)
        dbg_show_status(context, out);
    return status;
}

static enum lw_status do_where(void *context, int argc, char **argv, struct lw_sink *out,
                               struct lw_error *err)
{
    struct dbg *dbg = context;
    struct dbg_thread thread;
    struct dbg_frame frame;
    enum lw_status status = no_operands(argc, argv, err);

    if (status == LW_OK)
        status = dbg_view(dbg, &thread, err);
    if (status != LW_OK)
        return status;
    for (unsigned i = 0; dbg_frame_at(dbg, thread.id, thread.lane, i, &frame); i++) {
        lw_printf(out, "#%u  ", i);
        if (i == 0)
            dbg_place_print(dbg, frame.pc, out);
        else /* the call, not what it returns to */
            dbg_place_print(dbg, frame.pc - ISA_WORD_BYTES, out);
        lw_put(out, "\n");
    }
    return LW_OK;
}

/* ---- values -------------------------------------------------------------------------------- */

/* "/x" or "/8xw" as the first operand; *next moves behind it. */
static enum lw_status format_parse(int argc, char **argv, int *next, uint64_t *count,
                                   char *format, char *size, struct lw_error *err)
{
    const char *text;

    if (*next >= argc || argv[*next][0] != '/')
        return LW_OK;
    text = argv[*next] + 1;
    if (isdigit((unsigned char)*text)) {
        char *last;

        *count = strtoul(text, &last, 10);
        text = last;
        if (*count == 0 || *count > 65536)
            return LW_FAIL(err, LW_EUSAGE, "a count is from 1 to 65536");
    }
    for (; *text != '\0'; text++) {
        if (strchr("xduoftcazis", *text) != NULL)
            *format = *text;
        else if (strchr("bhwg", *text) != NULL)
            *size = *text;
        else
            return LW_FAIL(err, LW_EUSAGE,
                           "\"%c\" is no format: x d u o t f c a z are, with sizes b h w g",
                           *text);
    }
    ++*next;
    return LW_OK;
}

static enum lw_status do_print(void *context, int argc, char **argv, struct lw_sink *out,
                               struct lw_error *err)
{
    struct dbg *dbg = context;
    dbg_thread_id id = dbg_focus_get(dbg, DBG_FOCUS_VIEW);
    struct dbg_value value;
    char text[1024], format = 0, size = 0;
    uint64_t count = 1;
    int next = 1;
    enum lw_status status = format_parse(argc, argv, &next, &count, &format, &size, err);

    if (status != LW_OK)
        return status;
    if (next >= argc)
        return LW_FAIL(err, LW_EUSAGE, "print takes an expression, as in `print v0 + 1`");
    if (!join(argc, argv, next, text, sizeof text))
        return too_long(err);
    if (dbg_print_source(dbg, id, dbg_lane_get(dbg, id), text, format, out))
        return LW_OK;
    status = dbg_eval(dbg, id, dbg_lane_get(dbg, id), text, &value, err);
    if (status != LW_OK)
        return status;
    lw_printf(out, "%s = ", text);
    dbg_value_print(&value, format, out);
    if (format == 'a' && dbg_function_at(dbg, value.bits) != NULL) {
        lw_put(out, "  ");
        dbg_place_print(dbg, value.bits, out);
    }
    lw_put(out, "\n");
    return LW_OK;
}

static enum lw_status do_locals(void *context, int argc, char **argv, struct lw_sink *out,
                                struct lw_error *err)
{
    struct dbg *dbg = context;
    dbg_thread_id id = dbg_focus_get(dbg, DBG_FOCUS_VIEW);

    (void)argc;
    (void)argv;
    return dbg_locals_print(dbg, id, dbg_lane_get(dbg, id), out, err);
}

static enum lw_status do_plane(void *context, int argc, char **argv, struct lw_sink *out,
                               struct lw_error *err)
{
    struct dbg *dbg = context;
    struct dbg_thread thread;
    char text[1024];
    enum lw_status status = dbg_view(dbg, &thread, err);

    if (status != LW_OK)
        return status;
    if (argc < 2)
        return LW_FAIL(err, LW_EUSAGE, "plane takes an expression, as in `plane v0`");
    if (!join(argc, argv, 1, text, sizeof text))
        return too_long(err);
    return dbg_print_lanes(dbg, thread.id, text, dbg->colour, out, err);
}

static enum lw_status do_set(void *context, int argc, char **argv, struct lw_sink *out,
                             struct lw_error *err)
{
    struct dbg *dbg = context;
    struct dbg_thread thread;
    char text[1024];
    int first = argc > 1 && strcmp(argv[1], "var") == 0 ? 2 : 1;
    enum lw_status status = dbg_view(dbg, &thread, err);

    (void)out;
    if (status != LW_OK)
        return status;
    if (first >= argc)
        return LW_FAIL(err, LW_EUSAGE, "set takes an assignment, as in `set v0 = 7`");
    if (!join(argc, argv, first, text, sizeof text))
        return too_long(err);
    return dbg_assign(dbg, thread.id, thread.lane, text, err);
}

static enum lw_status examine(struct dbg *dbg, dbg_thread_id id, uint64_t address,
                              uint64_t count, char format, unsigned bytes,
                              struct lw_sink *out, struct lw_error *err)
{
    unsigned row = bytes >= 8 ? 2 : bytes == 4 ? 4 : 8;

    for (uint64_t i = 0; i < count; i++, address += bytes) {
        uint8_t raw[8] = {0};
        struct dbg_value value = {bytes == 8 ? DBG_U64 : DBG_U32, 0};

        if (dbg_mem_read(dbg, id, address, raw, bytes) != bytes) {
            if (i % row != 0)
                lw_put(out, "\n");
            return LW_FAIL(err, LW_ERANGE, "cannot read memory at 0x%llx",
                           (unsigned long long)address);
        }
        value.bits = lw_get64(raw);
        if (i % row == 0)
            lw_printf(out, "%s0x%llx:", i != 0 ? "\n" : "", (unsigned long long)address);
        lw_put(out, " ");
        if (format == 'x')
            lw_printf(out, "0x%0*llx", (int)(2 * bytes), (unsigned long long)value.bits);
        else if (format == 'd' && bytes < 4)
            lw_printf(out, "%d", bytes == 1 ? (int)(int8_t)raw[0]
                                            : (int)(int16_t)(uint16_t)value.bits);
        else
            dbg_value_print(&value, format, out);
    }
    lw_put(out, "\n");
    return LW_OK;
}

static enum lw_status do_x(void *context, int argc, char **argv, struct lw_sink *out,
                           struct lw_error *err)
{
    struct dbg *dbg = context;
    dbg_thread_id id = dbg_focus_get(dbg, DBG_FOCUS_VIEW);
    struct dbg_value value;
    char text[1024], format = 'x', size = 'w';
    uint64_t count = 1;
    int next = 1;
    enum lw_status status = format_parse(argc, argv, &next, &count, &format, &size, err);
    unsigned bytes;

    if (status != LW_OK)
        return status;
    if (next >= argc)
        return LW_FAIL(err, LW_EUSAGE, "x takes an address, as in `x /8xw 0x200000000000`");
    if (format == 's')
        return LW_FAIL(err, LW_EUSAGE, "x has no format s: `x /16cb ADDRESS` shows text");
    if (!join(argc, argv, next, text, sizeof text))
        return too_long(err);
    status = dbg_eval(dbg, id, dbg_lane_get(dbg, id), text, &value, err);
    if (status != LW_OK)
        return status;
    if (format == 'i') {
        dbg_disassemble(dbg, value.bits, (unsigned)count, false, out);
        return LW_OK;
    }
    bytes = size == 'b' ? 1 : size == 'h' ? 2 : size == 'g' ? 8 : 4;
    if (format == 'f' && bytes < 4)
        return LW_FAIL(err, LW_EUSAGE, "floats have 4 or 8 bytes: use w or g");
    return examine(dbg, id, value.bits, count, format, bytes, out, err);
}

/* ---- source ---------------------------------------------------------------------------------- */

static enum lw_status do_disassemble(void *context, int argc, char **argv,
                                     struct lw_sink *out, struct lw_error *err)
{
    struct dbg *dbg = context;
    struct dbg_thread thread;
    uint64_t pcs[MAX_PLACES], count = DISASSEMBLE_COUNT;
    unsigned places;
    bool source = false;
    int next = 1;
    enum lw_status status;

    if (next < argc && strcmp(argv[next], "/s") == 0) {
        source = true;
        next++;
    }
    if (next == argc) {
        status = dbg_view(dbg, &thread, err);
        if (status != LW_OK)
            return status;
        pcs[0] = thread.place.pc;
    } else {
        const struct isa_function *function;

        status = dbg_location_parse(dbg, argv[next], pcs, MAX_PLACES, &places, err);
        if (status != LW_OK)
            return status;
        function = dbg_function_at(dbg, pcs[0]);
        if (function != NULL && strcmp(function->name, argv[next]) == 0) {
            pcs[0] = dbg_function_pc(dbg, function);
            count = function->count;
        }
        next++;
    }
    if (next < argc && (!lw_parse_u64(argv[next], &count) || count == 0 || count > MAX_COUNT))
        return LW_FAIL(err, LW_EUSAGE, "disassemble takes /s, a place and a count, not \"%s\"",
                       argv[next]);
    dbg_disassemble(dbg, pcs[0], (unsigned)count, source, out);
    return LW_OK;
}

static enum lw_status list_lines(struct dbg *dbg, const char *file, uint64_t first,
                                 struct lw_sink *out, struct lw_error *err)
{
    const char *here_file = NULL;
    unsigned here = 0;
    struct dbg_thread thread;
    bool any = false;

    if (dbg_view(dbg, &thread, NULL) == LW_OK)
        (void)!dbg_source_at(dbg, thread.place.pc, &here_file, &here);
    for (uint64_t line = first; line < first + LIST_LINES; line++) {
        const char *text = line <= UINT32_MAX ? dbg_source_line(dbg, file, (unsigned)line)
                                              : NULL;
        bool mark = here == line && here_file != NULL && strcmp(here_file, file) == 0;

        if (text == NULL)
            break;
        lw_printf(out, "%s %llu\t%s\n", mark ? "=>" : "  ", (unsigned long long)line, text);
        any = true;
    }
    if (!any && dbg_source_line(dbg, file, 1) == NULL)
        return LW_FAIL(err, LW_ENOENT, "the source file %s cannot be read", file);
    if (!any)
        return LW_FAIL(err, LW_ERANGE, "%s has no line %llu", file, (unsigned long long)first);
    dbg->list_next = first + LIST_LINES;
    return LW_OK;
}

static enum lw_status do_list(void *context, int argc, char **argv, struct lw_sink *out,
                              struct lw_error *err)
{
    struct dbg *dbg = context;
    struct dbg_thread thread = {0};
    const char *file;
    char *copy;
    unsigned line, count;
    uint64_t pcs[MAX_PLACES], pc;
    enum lw_status status;

    if (argc > 2)
        return LW_FAIL(err, LW_EUSAGE, "list takes one place, \"%s\" is too much", argv[2]);
    (void)!dbg_view(dbg, &thread, NULL);
    pc = thread.place.pc;
    if (argc == 2) {
        status = dbg_location_parse(dbg, argv[1], pcs, MAX_PLACES, &count, err);
        if (status != LW_OK)
            return status;
        pc = pcs[0];
    } else if (dbg->list_file != NULL && dbg->listed_pc == pc) {
        return list_lines(dbg, dbg->list_file, dbg->list_next, out, err);
    }
    if (!dbg_source_at(dbg, pc, &file, &line))
        return LW_FAIL(err, LW_ENOENT, "no source line is known for 0x%llx",
                       (unsigned long long)pc);
    copy = strdup(file);
    free(dbg->list_file);
    dbg->list_file = copy;
    dbg->listed_pc = thread.place.pc;
    return list_lines(dbg, file, line > LIST_LINES / 2 ? line - LIST_LINES / 2 : 1, out, err);
}

/* ---- info -------------------------------------------------------------------------------------- */

static enum lw_status do_info(void *context, int argc, char **argv, struct lw_sink *out,
                              struct lw_error *err)
{
    static const struct {
        const char *topic;
        enum lw_status (*run)(void *context, int argc, char **argv, struct lw_sink *out,
                              struct lw_error *err);
    } topics[] = {
        {"breakpoints", do_points}, {"points", do_points},       {"threads", do_warps},
        {"warps", do_warps},        {"lanes", do_lanes},         {"splits", do_splits},
        {"barriers", do_barriers},  {"registers", do_registers}, {"allocations", do_allocations},
        {"status", do_status},      {"tags", do_tags},           {"launches", do_launches},
    };

    for (size_t i = 0; argc >= 2 && i < LW_COUNT_OF(topics); i++)
        if (strncmp(topics[i].topic, argv[1], strlen(argv[1])) == 0)
            return topics[i].run(context, argc - 1, argv + 1, out, err);
    return LW_FAIL(err, LW_EUSAGE,
                   "info takes a topic: breakpoints, warps, lanes, splits, barriers, "
                   "registers, tags, allocations, launches or status");
}

/* clang-format off */
const struct lw_command dbg_commands[] = {
    /* name        abbrev.  operands                      summary                                                       example */
    {"break",       "b",    "[location] [if condition]",  "Stop before a place, for lanes where a condition holds",     "break saxpy if lane == 3", do_break},
    {"tbreak",      "tb",   "[location] [if condition]",  "Stop once",                                                  "tbreak saxpy", do_tbreak},
    {"delete",      "d",    "[number] ...",               "Delete breakpoints, without numbers all",                    "delete 1", do_delete},
    {"disable",     "dis",  "[number] ...",               "Keep breakpoints but do not stop there",                     "disable", do_disable},
    {"enable",      "en",   "[number] ...",               "Stop at disabled breakpoints again",                         "enable", do_enable},
    {"points",      "po",   "",                           "List breakpoints",                                           "points", do_points},
    {"continue",    "c",    "",                           "Run everything until something stops it",                    "continue", do_continue},
    {"step",        "s",    "[count]",                    "Step the focus lane to another source line, into calls",     "step", do_step},
    {"next",        "n",    "[count]",                    "Step the focus lane to another source line, over calls",     "next", do_next},
    {"stepi",       "stepi","[count]",                    "Step the focus lane by one instruction",                     "stepi 2", do_stepi},
    {"nexti",       "nexti","[count]",                    "Step the focus lane by one instruction, over calls",         "nexti", do_nexti},
    {"si",          "si",   "[count]",                    "Short for stepi",                                            "si", do_stepi},
    {"ni",          "ni",   "[count]",                    "Short for nexti",                                            "ni", do_nexti},
    {"until",       "u",    "<location>",                 "Run everything until the focus lane is at a place",          "until +1", do_until},
    {"finish",      "fin",  "",                           "Step the focus lane out of its function",                    "finish", do_finish},
    {"focus",       "f",    "[warp] [lane]",              "Show the focus, or set it by the numbers that warps shows",  "focus 1 3", do_focus},
    {"block",       "bl",   "<x,y,z>",                    "Focus on the first live warp of a block",                    "block 0,0,0", do_block},
    {"warp",        "warp", "<number>",                   "Focus on a warp of the focus block",                         "warp 0", do_warp},
    {"lane",        "lane", "<number>",                   "Focus on a lane of the focus warp",                          "lane 2", do_lane},
    {"warps",       "w",    "[all]",                      "List the resident warps",                                    "warps", do_warps},
    {"lanes",       "la",   "",                           "List the lanes of the focus warp: split, state and pc",      "lanes", do_lanes},
    {"splits",      "sp",   "",                           "List the splits of the focus warp",                          "splits", do_splits},
    {"barriers",    "ba",   "",                           "List barriers in use in the focus warp and block",           "barriers", do_barriers},
    {"print",       "p",    "[/format] <expression>",     "Value of an expression for the focus lane",                  "print /x v0 + 1", do_print},
    {"locals",      "lo",   "",                           "Variables of the source in scope, with values",              "locals", do_locals},
    {"plane",       "pl",   "[/format] <expression>",     "Value of an expression for every lane of the focus warp",    "plane v0", do_plane},
    {"registers",   "r",    "[register|group] ...",       "Registers of the focus lane",                                "registers v0 exec", do_registers},
    {"tags",        "ta",   "",                           "Uniform and affine registers of the focus warp",             "tags", do_tags},
    {"set",         "se",   "<target> = <expression>",    "Assign to a register, to the pc or to memory",               "set v1 = v0 * 2", do_set},
    {"x",           "x",    "[/count format size] <address>", "Memory as the focus lane sees it",                       "x /4xw 0x200000000000", do_x},
    {"disassemble", "disas","[/s] [location] [count]",    "Instructions, with /s and source lines",                     "disassemble /s saxpy", do_disassemble},
    {"list",        "l",    "[location]",                 "Source lines, then the following ones",                      "list saxpy", do_list},
    {"where",       "wh",   "",                           "Frames of the focus lane",                                   "where", do_where},
    {"backtrace",   "back",  "",                           "The same as where",                                          "backtrace", do_where},
    {"bt",          "bt",   "",                           "Short for backtrace",                                        "bt", do_where},
    {"allocations", "al",   "",                           "Global memory: addresses, sizes and names",                  "allocations", do_allocations},
    {"launches",    "lau",  "",                           "Launches that are open, who launched them, what they wait for", "launches", do_launches},
    {"status",      "sta",  "",                           "Machine, launch, focus and counts",                          "status", do_status},
    {"info",        "i",    "<topic>",                    "breakpoints, warps, lanes, splits, barriers, registers, tags, allocations, launches, status", "info breakpoints", do_info},
};
/* clang-format on */
const size_t dbg_command_count = LW_COUNT_OF(dbg_commands);
