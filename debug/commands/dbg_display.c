/* SPDX-License-Identifier: Apache-2.0 */
/* The commands display and undisplay: expressions whose values are printed at every stop. */
#include "debug/commands/dbg_commands_priv.h"

#include <stdlib.h>

struct dbg_display {
    unsigned id;
    char *text;
    char format; /* format letter after the slash, such as 'x'; '\0': the value is printed by its type */
    bool lanes;  /* true: the value in every lane of the warp is printed */
};

void dbg_displays_free(struct dbg *dbg)
{
    for (size_t i = 0; i < dbg->display_count; i++)
        free(dbg->displays[i].text);
    free(dbg->displays);
    dbg->displays = NULL;
    dbg->display_count = dbg->display_capacity = 0;
}

static void show(struct dbg *dbg, const struct dbg_display *display, struct lw_sink *out)
{
    struct dbg_thread thread;
    struct dbg_value value;
    struct lw_error err = {0};

    if (dbg_view(dbg, &thread, NULL) != LW_OK)
        return;
    lw_printf(out, "%u: ", display->id);
    if (display->lanes) {
        lw_printf(out, "/lanes %s\n", display->text);
        if (dbg_print_lanes(dbg, thread.id, display->text, dbg->colour, out, &err) != LW_OK)
            lw_printf(out, "<%.*s>\n", (int)strcspn(err.text, ":"), err.text);
        return;
    }
    if (display->format != '\0')
        lw_printf(out, "/%c ", display->format);
    if (dbg_print_source(dbg, thread.id, thread.lane, display->text, display->format, false, out))
        return;
    lw_printf(out, "%s = ", display->text);
    if (dbg_eval(dbg, thread.id, thread.lane, display->text, &value, &err) == LW_OK)
        dbg_value_print(&value, display->format, out);
    else /* The expression has no value at this pc, but may have one elsewhere. Only the first part of the error is printed. */
        lw_printf(out, "<%.*s>", (int)strcspn(err.text, ":"), err.text);
    lw_put(out, "\n");
}

void dbg_displays_show(struct dbg *dbg, struct lw_sink *out)
{
    for (size_t i = 0; i < dbg->display_count; i++)
        show(dbg, &dbg->displays[i], out);
}

static enum lw_status do_display(const struct lw_call *call, struct lw_error *err)
{
    struct dbg *dbg = call->context;
    struct dbg_display display = {.id = dbg->last_display + 1};
    struct dbg_thread thread;
    struct dbg_value value;
    struct lw_buffer shown;
    char text[512];
    int first = 1;
    enum lw_status status;

    if (call->argc == 1) {
        if (dbg->display_count == 0)
            lw_put(call->out, "no expressions are displayed: `display EXPRESSION` adds one\n");
        dbg_displays_show(dbg, call->out);
        return LW_OK;
    }
    if (strcmp(call->argv[1], "/lanes") == 0) {
        display.lanes = true;
        first = 2;
    } else if (call->argv[1][0] == '/') {
        display.format = call->argv[1][1];
        first = 2;
        if (display.format == '\0' || call->argv[1][2] != '\0' ||
            strchr("xduotfcaz", display.format) == NULL)
            return LW_FAIL(err, LW_EUSAGE,
                           "\"%s\" is not a format: use /x /d /u /o /t /f /c /a or /z, or /lanes for the value in "
                           "every lane",
                           call->argv[1]);
    }
    if (first == call->argc)
        return LW_FAIL(err, LW_EUSAGE, "%s %s takes an expression", call->argv[0], call->argv[1]);
    if (!lw_args_join(call->argc, call->argv, first, text, sizeof text))
        return dbg_too_long(err);
    status = dbg_view(dbg, &thread, err);
    /* An expression that cannot be evaluated now is refused, for example because of a syntax error or an unknown name. */
    lw_buffer_init(&shown);
    if (status == LW_OK && !dbg_print_source(dbg, thread.id, thread.lane, text, 0, true, &shown.sink))
        status = dbg_eval(dbg, thread.id, thread.lane, text, &value, err);
    lw_buffer_fini(&shown);
    if (status != LW_OK)
        return status;
    display.text = strdup(text);
    if (display.text == NULL ||
        !lw_grow(&dbg->displays, &dbg->display_capacity, dbg->display_count + 1,
                 sizeof *dbg->displays)) {
        free(display.text);
        return LW_FAIL(err, LW_ENOMEM, "the host has no memory for another expression to display");
    }
    dbg->displays[dbg->display_count++] = display;
    dbg->last_display++;
    show(dbg, &display, call->out);
    return LW_OK;
}

static bool remove_display(struct dbg *dbg, uint64_t id)
{
    for (size_t i = 0; i < dbg->display_count; i++)
        if (dbg->displays[i].id == id) {
            free(dbg->displays[i].text);
            dbg->display_count--;
            memmove(&dbg->displays[i], &dbg->displays[i + 1],
                    (dbg->display_count - i) * sizeof *dbg->displays);
            return true;
        }
    return false;
}

static enum lw_status do_undisplay(const struct lw_call *call, struct lw_error *err)
{
    struct dbg *dbg = call->context;

    if (call->argc == 1) {
        dbg_displays_free(dbg);
        lw_put(call->out, "all displays were removed\n");
    }
    for (int i = 1; i < call->argc; i++) {
        uint64_t id;

        if (!lw_parse_u64(call->argv[i], &id) || !remove_display(dbg, id))
            return LW_FAIL(err, LW_ENOENT, "there is no display with number \"%s\": `display` lists them",
                           call->argv[i]);
    }
    return LW_OK;
}

/* clang-format off */
static const struct lw_command rows[] = {
    /* name        abbrev.  operands                      summary                                                       example, does */
    {"display",     "disp", "[/format | /lanes] [expression]", "Show an expression now and at every stop, for the focus lane or (/lanes) for all lanes; without operands, list the displays", "display /lanes tid.x", do_display, 0},
    {"undisplay",   "und",  "[number] ...",               "Remove displays by number; without numbers, remove all displays",          "undisplay", do_undisplay, 0},
};
/* clang-format on */
const struct lw_command_table dbg_commands_display = {rows, LW_COUNT_OF(rows), NULL};


void dbg_stop_show(struct dbg *dbg, const struct dbg_stop *stop, struct lw_sink *out)
{
    dbg_stop_print(dbg, stop, out);
    if (stop->kind != DBG_STOP_NONE && stop->kind != DBG_STOP_ENDED)
        dbg_displays_show(dbg, out);
}
