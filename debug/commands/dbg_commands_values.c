/* SPDX-License-Identifier: Apache-2.0 */
/* Commands that show values, memory, instructions and source lines, and `set`, which changes values. */
#include "debug/commands/dbg_commands_priv.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>

enum { MAX_LOCATIONS = 32, MAX_COUNT = 1000000, LIST_LINES = 10, DISASSEMBLE_COUNT = 8 };

/* Parses an operand such as "/x" or "/8xw": count, format and size. If operand number *@next is such an operand, *@next is
 * moved past it. */
static enum lw_status format_parse(const struct lw_call *call, int *next, uint64_t *count,
                                   char *format, char *size, struct lw_error *err)
{
    const char *text;

    if (*next >= call->argc || call->argv[*next][0] != '/')
        return LW_OK;
    text = call->argv[*next] + 1;
    if (isdigit((unsigned char)*text)) {
        char *last;

        *count = strtoul(text, &last, 10);
        text = last;
        if (*count == 0 || *count > 65536)
            return LW_FAIL(err, LW_EUSAGE, "the count must be from 1 to 65536");
    }
    for (; *text != '\0'; text++) {
        if (strchr("xduoftcazis", *text) != NULL)
            *format = *text;
        else if (strchr("bhwg", *text) != NULL)
            *size = *text;
        else
            return LW_FAIL(err, LW_EUSAGE,
                           "\"%c\" is not a format: the formats are x d u o t f c a z s i, the sizes b h w g",
                           *text);
    }
    ++*next;
    return LW_OK;
}

static enum lw_status do_print(const struct lw_call *call, struct lw_error *err)
{
    struct dbg *dbg = call->context;
    dbg_thread_id id = dbg_focus_get(dbg, DBG_FOCUS_VIEW);
    struct dbg_value value;
    char text[1024], format = 0, size = 0;
    uint64_t count = 1;
    int next = 1;
    enum lw_status status = format_parse(call, &next, &count, &format, &size, err);

    if (status == LW_OK)
        status = dbg_operand_text(call, next, text, sizeof text, "print takes an expression, as in `print v0 + 1`", err);
    if (status != LW_OK)
        return status;
    if (dbg_print_source(dbg, id, dbg_lane_get(dbg, id), text, format, false, call->out))
        return LW_OK;
    status = dbg_eval(dbg, id, dbg_lane_get(dbg, id), text, &value, err);
    if (status != LW_OK)
        return status;
    lw_printf(call->out, "%s = ", text);
    dbg_value_print(&value, format, call->out);
    if (format == 'a' && dbg_function_at(dbg, value.bits) != NULL) {
        lw_put(call->out, "  ");
        dbg_print_location(dbg, value.bits, call->out);
    }
    lw_put(call->out, "\n");
    return LW_OK;
}

static enum lw_status do_locals(const struct lw_call *call, struct lw_error *err)
{
    struct dbg *dbg = call->context;
    dbg_thread_id id = dbg_focus_get(dbg, DBG_FOCUS_VIEW);

    return dbg_locals_print(dbg, id, dbg_lane_get(dbg, id), call->out, err);
}

static enum lw_status do_plane(const struct lw_call *call, struct lw_error *err)
{
    struct dbg *dbg = call->context;
    struct dbg_thread thread;
    char text[1024];
    enum lw_status status = dbg_view(dbg, &thread, err);

    if (status == LW_OK)
        status = dbg_operand_text(call, 1, text, sizeof text, "plane takes an expression, as in `plane v0`", err);
    return status != LW_OK ? status : dbg_print_lanes(dbg, thread.id, text, dbg->colour, call->out, err);
}

static enum lw_status do_set(const struct lw_call *call, struct lw_error *err)
{
    struct dbg *dbg = call->context;
    struct dbg_thread thread;
    char text[1024];
    int first = call->argc > 1 && strcmp(call->argv[1], "var") == 0 ? 2 : 1;
    enum lw_status status = dbg_view(dbg, &thread, err);

    if (status == LW_OK)
        status = dbg_operand_text(call, first, text, sizeof text, "set takes an assignment, as in `set v0 = 7`", err);
    return status != LW_OK ? status : dbg_assign(dbg, thread.id, thread.lane, text, err);
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
            return LW_FAIL(err, LW_ERANGE, "cannot read memory at 0x%llx: the focus lane has no memory there",
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

/* Prints @count consecutive strings, each up to its terminating zero. */
static enum lw_status examine_text(struct dbg *dbg, dbg_thread_id id, uint64_t address,
                                   uint64_t count, struct lw_sink *out, struct lw_error *err)
{
    for (uint64_t i = 0; i < count; i++) {
        uint8_t c = 1;

        if (dbg_mem_read(dbg, id, address, &c, 1) != 1)
            return LW_FAIL(err, LW_ERANGE, "cannot read memory at 0x%llx: the focus lane has no memory there",
                           (unsigned long long)address);
        dbg_print_text(dbg, id, dbg_lane_get(dbg, id), address, out);
        lw_put(out, "\n");
        for (unsigned size = 0; c != 0 && size < MAX_COUNT; size++, address++)
            if (dbg_mem_read(dbg, id, address, &c, 1) != 1)
                return LW_OK;
        if (dbg->engine->interrupted)
            return LW_OK;
    }
    return LW_OK;
}

static enum lw_status do_x(const struct lw_call *call, struct lw_error *err)
{
    struct dbg *dbg = call->context;
    dbg_thread_id id = dbg_focus_get(dbg, DBG_FOCUS_VIEW);
    struct dbg_value value;
    char text[1024], format = 'x', size = 'w';
    uint64_t count = 1;
    int next = 1;
    enum lw_status status = format_parse(call, &next, &count, &format, &size, err);
    unsigned bytes;

    if (status == LW_OK)
        status = dbg_operand_text(call, next, text, sizeof text, "x takes an address, as in `x /8xw 0x200000000000`", err);
    if (status == LW_OK)
        status = dbg_eval(dbg, id, dbg_lane_get(dbg, id), text, &value, err);
    if (status != LW_OK)
        return status;
    if (format == 's')
        return examine_text(dbg, id, value.bits, count, call->out, err);
    if (format == 'i') {
        uint8_t word[ISA_WORD_BYTES];

        if (dbg_mem_read(dbg, id, value.bits, word, sizeof word) != sizeof word ||
            dbg_function_at(dbg, value.bits) == NULL)
            return LW_FAIL(err, LW_ERANGE, "0x%llx is not the address of an instruction",
                           (unsigned long long)value.bits);
        dbg_disassemble(dbg, value.bits, (unsigned)count, false, call->out);
        return LW_OK;
    }
    bytes = size == 'b' ? 1 : size == 'h' ? 2 : size == 'g' ? 8 : 4;
    if (format == 'f' && bytes < 4)
        return LW_FAIL(err, LW_EUSAGE, "format f needs 4 or 8 bytes: add size w or g");
    return examine(dbg, id, value.bits, count, format, bytes, call->out, err);
}

/* ---- source ---------------------------------------------------------------------------------- */

static enum lw_status do_disassemble(const struct lw_call *call, struct lw_error *err)
{
    struct dbg *dbg = call->context;
    struct dbg_thread thread;
    uint64_t pcs[MAX_LOCATIONS], count = DISASSEMBLE_COUNT;
    unsigned locations;
    bool source = false;
    int next = 1;
    enum lw_status status;

    if (next < call->argc && strcmp(call->argv[next], "/s") == 0) {
        source = true;
        next++;
    }
    if (next == call->argc) {
        status = dbg_view(dbg, &thread, err);
        if (status != LW_OK)
            return status;
        pcs[0] = thread.location.pc;
    } else {
        const struct isa_function *function;

        status = dbg_location_parse(dbg, call->argv[next], pcs, MAX_LOCATIONS, &locations, err);
        if (status != LW_OK)
            return status;
        function = dbg_function_at(dbg, pcs[0]);
        if (function != NULL && strcmp(function->name, call->argv[next]) == 0) {
            pcs[0] = dbg_function_pc(dbg, function);
            count = function->count;
        }
        next++;
    }
    if (next < call->argc && (!lw_parse_u64(call->argv[next], &count) || count == 0 || count > MAX_COUNT))
        return LW_FAIL(err, LW_EUSAGE, "disassemble takes /s, a location and a count, not \"%s\"",
                       call->argv[next]);
    dbg_disassemble(dbg, pcs[0], (unsigned)count, source, call->out);
    return LW_OK;
}

/* Returns the lanes of the focus warp that are on a source line; 0 if the warp has only one split. */
static uint64_t lanes_on(struct dbg *dbg, const struct dbg_thread *thread, const char *file,
                         uint64_t line)
{
    struct emu_split_view splits[EMU_MAX_LANES];
    struct dbg_warp warp;
    uint64_t lanes = 0;
    unsigned count, at;
    const char *name;

    if (!dbg_warp_locate(dbg, thread->id, &warp))
        return 0;
    count = emu_split_views(DBG_AT(&warp), splits, EMU_MAX_LANES);
    if (count < 2 || count > EMU_MAX_LANES)
        return 0;
    for (unsigned i = 0; i < count; i++)
        if (dbg_source_at(dbg, splits[i].pc, &name, &at) && at == line &&
            strcmp(name, file) == 0)
            lanes |= splits[i].lanes;
    return lanes;
}

static enum lw_status list_lines(struct dbg *dbg, const char *file, uint64_t first, uint64_t end,
                                 struct lw_sink *out, struct lw_error *err)
{
    const char *here_file = NULL;
    unsigned here = 0;
    struct dbg_thread thread;
    bool any = false, focused = dbg_view(dbg, &thread, NULL) == LW_OK;

    if (focused)
        (void)!dbg_source_at(dbg, thread.location.pc, &here_file, &here);
    for (uint64_t line = first; line < end; line++) {
        const char *text = line <= UINT32_MAX ? dbg_source_line(dbg, file, (unsigned)line)
                                              : NULL;
        bool mark = here == line && here_file != NULL && strcmp(here_file, file) == 0;

        if (text == NULL)
            break;
        lw_printf(out, "%s %llu", mark ? "=>" : "  ", (unsigned long long)line);
        if (focused && lanes_on(dbg, &thread, file, line) != 0) {
            lw_put(out, " ");
            dbg_show_mask(dbg, lanes_on(dbg, &thread, file, line), out);
        }
        lw_printf(out, "\t%s\n", text);
        any = true;
    }
    if (!any && dbg_source_line(dbg, file, 1) == NULL)
        return LW_FAIL(err, LW_ENOENT, "the source file %s cannot be read", file);
    if (!any)
        return LW_FAIL(err, LW_ERANGE, "%s has no line %llu", file, (unsigned long long)first);
    dbg->list_first = first;
    dbg->list_next = end;
    return LW_OK;
}

static enum lw_status do_list(const struct lw_call *call, struct lw_error *err)
{
    struct dbg *dbg = call->context;
    struct dbg_thread thread = {0};
    const char *file;
    char *copy;
    unsigned line, count;
    uint64_t pcs[MAX_LOCATIONS], pc;
    enum lw_status status;
    bool before = call->argc == 2 && strcmp(call->argv[1], "-") == 0;

    if (call->argc > 2)
        return LW_FAIL(err, LW_EUSAGE, "list takes at most one location: remove \"%s\"", call->argv[2]);
    (void)!dbg_view(dbg, &thread, NULL);
    pc = thread.location.pc;
    if (before && dbg->list_file != NULL && dbg->listed_pc == pc) {
        if (dbg->list_first <= 1)
            return LW_FAIL(err, LW_ERANGE, "the listing is at line 1: there are no lines before it");
        return list_lines(dbg, dbg->list_file,
                          dbg->list_first > LIST_LINES ? dbg->list_first - LIST_LINES : 1,
                          dbg->list_first, call->out, err);
    }
    if (call->argc == 2 && !before) {
        status = dbg_location_parse(dbg, call->argv[1], pcs, MAX_LOCATIONS, &count, err);
        if (status != LW_OK)
            return status;
        pc = pcs[0];
    } else if (dbg->list_file != NULL && dbg->listed_pc == pc) {
        return list_lines(dbg, dbg->list_file, dbg->list_next, dbg->list_next + LIST_LINES, call->out, err);
    }
    if (!dbg_source_at(dbg, pc, &file, &line))
        return LW_FAIL(err, LW_ENOENT, "no source line is known for address 0x%llx: compile with -g",
                       (unsigned long long)pc);
    copy = strdup(file);
    free(dbg->list_file);
    dbg->list_file = copy;
    dbg->listed_pc = thread.location.pc;
    line = line > LIST_LINES / 2 ? line - LIST_LINES / 2 : 1;
    return list_lines(dbg, file, line, line + LIST_LINES, call->out, err);
}
/* clang-format off */
static const struct lw_command rows[] = {
    /* name        abbrev.  operands                      summary                                                       example, does */
    {"print",       "p",    "[/format] <expression>",     "Show the value of an expression for the focus lane",                  "print /x v0 + 1", do_print, LW_COMMAND_READONLY},
    {"locals",      "lo",   "",                           "Show the source variables in scope, with their values in the focus lane",              "locals", do_locals, LW_COMMAND_READONLY},
    {"plane",       "pl",   "[/format] <expression>",     "Show the value of an expression for every lane of the focus warp",    "plane v0", do_plane, LW_COMMAND_READONLY},
    {"set",         "se",   "<target> = <expression>",    "Assign a value to a register, the pc, a variable or memory",               "set v1 = v0 * 2", do_set, LW_COMMAND_CHANGES},
    {"x",           "x",    "[/count format size] <address>", "Show memory as the focus lane sees it",                       "x /4xw 0x200000000000", do_x, LW_COMMAND_READONLY},
    {"disassemble", "disas","[/s] [location] [count]",    "Show instructions; with /s, source lines as well",                     "disassemble /s saxpy", do_disassemble, LW_COMMAND_READONLY},
    {"list",        "l",    "[location]",                 "Show source lines; the next list shows the lines after them, and list - the lines before them", "list saxpy", do_list, LW_COMMAND_REPEATS},
};
/* clang-format on */
const struct lw_command_table dbg_commands_values = {rows, LW_COUNT_OF(rows), NULL};
