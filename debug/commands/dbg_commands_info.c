/* SPDX-License-Identifier: Apache-2.0 */
/* Commands on debug information (types, lines, symbols), the command `info`, and the search in memory. */
#include "debug/commands/dbg_commands_priv.h"
#include "debug/expr/dbg_expr_priv.h"

#include <ctype.h>
#include <stdlib.h>

enum { MAX_LOCATIONS = 32, FIND_CHUNK = 1 << 16, MAX_FOUND = 100, MAX_FIND = 1 << 30, MAX_PATTERN = 256 };

/* ---- types --------------------------------------------------------------------------- */

enum { TYPE_NAME, TYPE_WHOLE };

static enum lw_status do_type(const struct lw_call *call, struct lw_error *err)
{
    struct dbg *dbg = call->context;
    dbg_thread_id id = dbg_focus_get(dbg, DBG_FOCUS_VIEW);
    char text[1024];

    if (call->argc < 2)
        return LW_FAIL(err, LW_EUSAGE, "%s takes an expression or the name of a type", call->argv[0]);
    if (!lw_args_join(call->argc, call->argv, 1, text, sizeof text))
        return dbg_too_long(err);
    return dbg_print_type(dbg, id, dbg_lane_get(dbg, id), text, call->what == TYPE_WHOLE,
                          call->out, err);
}

/* ---- find ------------------------------------------------------------------------------ */

/* Splits "A, B, C" at commas that are not in brackets, by replacing the commas by null bytes. Returns the number of parts. */
static unsigned cut(char *text, char **parts, unsigned capacity)
{
    unsigned count = 0;
    int depth = 0;

    parts[count++] = text;
    for (; *text != '\0'; text++) {
        if (*text == '(' || *text == '[')
            depth++;
        else if (*text == ')' || *text == ']')
            depth--;
        else if (*text == ',' && depth == 0 && count < capacity) {
            *text = '\0';
            parts[count++] = text + 1;
        }
    }
    return count;
}

/* State of the command `find`: a search for a pattern of bytes in memory. */
struct search {
    uint64_t address, bytes; /* start and size of the memory that is searched */
    uint8_t pattern[MAX_PATTERN];
    unsigned size, step;     /* size of the pattern; distance between consecutive addresses at which the pattern is compared */
};

/* Evaluates the expressions @values and appends the bytes of their values to the pattern. @size: letter of the size of each
 * value, or '\0' to derive the size from its type. */
static enum lw_status find_pattern(struct dbg *dbg, char **values, unsigned count, char size,
                                   struct search *search, struct lw_error *err)
{
    dbg_thread_id id = dbg_focus_get(dbg, DBG_FOCUS_VIEW);

    for (unsigned i = 0; i < count; i++) {
        struct dbg_value value;
        uint8_t raw[8];
        unsigned bytes;
        enum lw_status status = dbg_eval(dbg, id, dbg_lane_get(dbg, id), values[i], &value, err);

        if (status != LW_OK)
            return status;
        bytes = size == 'b' ? 1 : size == 'h' ? 2 : size == 'w' ? 4 : size == 'g' ? 8
                : value.type == DBG_U64 || value.type == DBG_S64 || value.type == DBG_F64 ? 8 : 4;
        /* A number such as 2.5 has type f64. The command searches for it as f32, because most buffers of floats contain f32. */
        if (value.type == DBG_F64 && size != 'g') {
            value = dbg_value_f32((float)dbg_value_double(&value));
            bytes = 4;
        }
        if (search->size + bytes > MAX_PATTERN)
            return LW_FAIL(err, LW_EUSAGE, "the values to find are longer than %d bytes", MAX_PATTERN);
        if (search->step == 0)
            search->step = bytes;
        lw_put64(raw, value.bits);
        memcpy(search->pattern + search->size, raw, bytes);
        search->size += bytes;
    }
    return LW_OK;
}

static enum lw_status find_run(struct dbg *dbg, const struct search *search, uint64_t *count,
                               struct lw_sink *out, struct lw_error *err)
{
    dbg_thread_id id = dbg_focus_get(dbg, DBG_FOCUS_VIEW);
    uint8_t *data = malloc(FIND_CHUNK + MAX_PATTERN);
    uint64_t done = 0;
    enum lw_status status = LW_OK;

    *count = 0;
    if (data == NULL)
        return LW_FAIL(err, LW_ENOMEM, "the host has no memory for the search");
    while (search->bytes - done >= search->size && *count < MAX_FOUND) {
        uint64_t want = search->bytes - done, i;

        if (want > FIND_CHUNK)
            want = FIND_CHUNK;
        if (dbg_mem_read(dbg, id, search->address + done, data, want) != want) {
            status = LW_FAIL(err, LW_ERANGE, "cannot read memory at 0x%llx: the focus lane has no memory there",
                             (unsigned long long)(search->address + done));
            break;
        }
        for (i = 0; i + search->size <= want && *count < MAX_FOUND; i += search->step)
            if (memcmp(data + i, search->pattern, search->size) == 0) {
                lw_printf(out, "0x%llx\n", (unsigned long long)(search->address + done + i));
                ++*count;
            }
        done += i;
        if (dbg->engine->interrupted)
            break;
    }
    free(data);
    return status;
}

static enum lw_status do_find(const struct lw_call *call, struct lw_error *err)
{
    struct dbg *dbg = call->context;
    dbg_thread_id id = dbg_focus_get(dbg, DBG_FOCUS_VIEW);
    unsigned lane = dbg_lane_get(dbg, id), count, first_value = 2;
    char text[1024], *parts[34], size = 0;
    struct emu_allocation allocation;
    struct search search = {0};
    struct dbg_value value;
    uint64_t found;
    bool inside;
    enum lw_status status;
    int first = 1;

    if (call->argc > 1 && call->argv[1][0] == '/') {
        if (strlen(call->argv[1]) != 2 || strchr("bhwg", call->argv[1][1]) == NULL)
            return LW_FAIL(err, LW_EUSAGE, "\"%s\" is not a size: use /b /h /w or /g (1, 2, 4 or 8 bytes)",
                           call->argv[1]);
        size = call->argv[1][1];
        first = 2;
    }
    if (!lw_args_join(call->argc, call->argv, first, text, sizeof text))
        return dbg_too_long(err);
    count = cut(text, parts, LW_COUNT_OF(parts));
    if (count < 2)
        return LW_FAIL(err, LW_EUSAGE, "find takes an address, bytes and values, as in "
                                       "`find y, 64, 7`, or a buffer and values, as in `find y, 7`");
    status = dbg_eval(dbg, id, lane, parts[0], &value, err);
    if (status != LW_OK)
        return status;
    search.address = value.bits;
    if (count == 2) {
        if (!emu_allocation_at(dbg->machine, search.address, &allocation, &inside) || !inside)
            return LW_FAIL(err, LW_EUSAGE, "give the number of bytes: 0x%llx is not inside an allocation",
                           (unsigned long long)search.address);
        search.bytes = allocation.address + allocation.size_bytes - search.address;
        first_value = 1;
    } else {
        status = dbg_eval(dbg, id, lane, parts[1], &value, err);
        if (status != LW_OK)
            return status;
        search.bytes = value.bits;
    }
    if (search.bytes > MAX_FIND)
        return LW_FAIL(err, LW_EUSAGE, "find searches at most %d bytes: give a smaller size", MAX_FIND);
    status = find_pattern(dbg, parts + first_value, count - first_value, size, &search, err);
    if (status == LW_OK)
        status = find_run(dbg, &search, &found, call->out, err);
    if (status == LW_OK && found == MAX_FOUND)
        lw_printf(call->out, "only the first %llu matches are shown\n", (unsigned long long)found);
    else if (status == LW_OK && found == 0)
        lw_put(call->out, "not found\n");
    return status;
}

/* ---- addresses, lines and files ----------------------------------------------------------- */

static enum lw_status show_symbol(const struct lw_call *call, struct lw_error *err)
{
    struct dbg *dbg = call->context;
    dbg_thread_id id = dbg_focus_get(dbg, DBG_FOCUS_VIEW);
    struct emu_allocation allocation;
    struct dbg_value value;
    char text[1024];
    bool inside;
    enum lw_status status;

    if (call->argc < 2 || !lw_args_join(call->argc, call->argv, 1, text, sizeof text))
        return LW_FAIL(err, LW_EUSAGE, "info symbol takes an address, as in `info symbol y + 8`");
    status = dbg_eval(dbg, id, dbg_lane_get(dbg, id), text, &value, err);
    if (status != LW_OK)
        return status;
    lw_printf(call->out, "0x%llx is ", (unsigned long long)value.bits);
    if (dbg_function_at(dbg, value.bits) != NULL)
        dbg_print_location(dbg, value.bits, call->out);
    else if (emu_allocation_at(dbg->machine, value.bits, &allocation, &inside) && inside)
        lw_printf(call->out, "byte %llu of %s, %llu byte%s at 0x%llx%s",
                  (unsigned long long)(value.bits - allocation.address),
                  allocation.name != NULL && *allocation.name != '\0' ? allocation.name
                                                                     : "an allocation",
                  (unsigned long long)allocation.size_bytes, allocation.size_bytes == 1 ? "" : "s",
                  (unsigned long long)allocation.address,
                  allocation.flags & EMU_ALLOC_FREED ? ", freed" : "");
    else if (value.bits >= ISA_SHARED_BASE && value.bits < ISA_LOCAL_BASE)
        lw_printf(call->out, "byte %llu of the block's shared memory",
                  (unsigned long long)(value.bits - ISA_SHARED_BASE));
    else if (value.bits >= ISA_LOCAL_BASE && value.bits < ISA_CONST_BASE)
        lw_printf(call->out, "byte %llu of the lane's local memory",
                  (unsigned long long)(value.bits - ISA_LOCAL_BASE));
    else
        lw_put(call->out, "not inside a function or an allocation");
    lw_put(call->out, "\n");
    return LW_OK;
}

static enum lw_status show_line(const struct lw_call *call, struct lw_error *err)
{
    struct dbg *dbg = call->context;
    uint64_t pcs[MAX_LOCATIONS];
    unsigned count = 1;
    struct dbg_thread thread;
    char text[1024];
    enum lw_status status;

    if (!lw_args_join(call->argc, call->argv, 1, text, sizeof text))
        return dbg_too_long(err);
    if (call->argc == 1) {
        status = dbg_view(dbg, &thread, err);
        if (status == LW_OK)
            pcs[0] = thread.location.pc;
    } else {
        status = dbg_location_parse(dbg, text, pcs, MAX_LOCATIONS, &count, err);
    }
    for (unsigned i = 0; i < count && status == LW_OK; i++) {
        const struct isa_line *row, *at;
        uint64_t low = pcs[i], high = pcs[i];
        bool start;

        if (!dbg_row_at(dbg, pcs[i], &row, &start)) {
            lw_printf(call->out, "no source line is known for address 0x%llx\n", (unsigned long long)pcs[i]);
            continue;
        }
        while (dbg_row_at(dbg, low - ISA_WORD_BYTES, &at, &start) && at->line == row->line &&
               at->file == row->file)
            low -= ISA_WORD_BYTES;
        while (dbg_row_at(dbg, high, &at, &start) && at->line == row->line &&
               at->file == row->file)
            high += ISA_WORD_BYTES;
        lw_printf(call->out, "line %u has the addresses 0x%llx to 0x%llx, ", row->line, (unsigned long long)low,
                  (unsigned long long)high);
        dbg_print_location(dbg, low, call->out);
        lw_put(call->out, "\n");
    }
    return status;
}

static const struct isa_object *object_of(const struct dbg *dbg)
{
    return dbg_program(dbg) != NULL ? emu_program_object(dbg_program(dbg)) : NULL;
}

static enum lw_status show_source(const struct lw_call *call, struct lw_error *err)
{
    struct dbg *dbg = call->context;
    const struct isa_object *object = object_of(dbg);
    struct dbg_thread thread;
    const char *file = NULL;
    unsigned line = 0;

    if (object == NULL)
        return LW_FAIL(err, LW_ESTATE, "no program is loaded");
    if (dbg_view(dbg, &thread, NULL) == LW_OK)
        (void)!dbg_source_at(dbg, thread.location.pc, &file, &line);
    for (unsigned i = 1; i < object->file_count; i++) {
        const char *name = object->files[i];

        if (name == NULL || *name == '\0')
            continue;
        lw_printf(call->out, "%s %s%s\n", file != NULL && strcmp(file, name) == 0 ? "=>" : "  ", name,
                  dbg_source_line(dbg, name, 1) == NULL ? "  (cannot be read)" : "");
    }
    if (object->comp_dir != NULL && *object->comp_dir != '\0')
        lw_printf(call->out, "compiled in %s\n", object->comp_dir);
    lw_printf(call->out, "debug information of variables: %s\n",
              object->debug != NULL ? "known" : "none: compile with -g");
    return LW_OK;
}

static enum lw_status show_functions(const struct lw_call *call, struct lw_error *err)
{
    struct dbg *dbg = call->context;
    const struct isa_object *object = object_of(dbg);
    char name[512];

    if (call->argc > 2)
        return LW_FAIL(err, LW_EUSAGE, "info functions takes at most one operand, a part of a name");
    for (unsigned i = 0; object != NULL && i < object->function_count; i++) {
        const struct isa_function *function = &object->functions[i];

        dbg_function_source_name(dbg, function, name, sizeof name);
        if (call->argc == 2 && strstr(function->name, call->argv[1]) == NULL &&
            strstr(name, call->argv[1]) == NULL)
            continue;
        lw_printf(call->out, "0x%llx  %-6s  %s", (unsigned long long)dbg_function_pc(dbg, function),
                  function->kernel ? "kernel" : "", name);
        if (strcmp(name, function->name) != 0)
            lw_printf(call->out, "  (%s)", function->name);
        lw_put(call->out, "\n");
    }
    return LW_OK;
}

/* ---- tables of the whole machine, which gdb shows with `info os` ------------------------------- */

void dbg_layout_row(void *context, const char *const *cells, unsigned count)
{
    struct dbg_layout *layout = context;

    for (unsigned i = 0; i < count && i < LW_COUNT_OF(layout->width); i++) {
        if (layout->out == NULL && strlen(cells[i]) > layout->width[i])
            layout->width[i] = strlen(cells[i]);
        if (layout->out != NULL && i + 1 < count)
            lw_printf(layout->out, "%-*s  ", (int)layout->width[i], cells[i]);
        else if (layout->out != NULL)
            lw_printf(layout->out, "%s\n", cells[i]);
    }
}

static enum lw_status do_table(const struct lw_call *call, struct lw_error *err)
{
    struct dbg *dbg = call->context;
    const struct dbg_table *table;

    if (call->argc > 2)
        return LW_FAIL(err, LW_EUSAGE, "table takes at most one name: remove \"%s\"", call->argv[2]);
    for (unsigned i = 0; (table = dbg_table_at(i)) != NULL; i++) {
        struct dbg_layout layout = {0};
        unsigned columns = 0;

        if (call->argc == 1) {
            lw_printf(call->out, "%-12s  %s\n", table->name, table->summary);
            continue;
        }
        if (strcmp(table->name, call->argv[1]) != 0)
            continue;
        while (table->columns[columns] != NULL)
            columns++;
        dbg_layout_row(&layout, table->columns, columns);
        dbg_table_rows(dbg, i, dbg_layout_row, &layout);
        layout.out = call->out;
        dbg_layout_row(&layout, table->columns, columns);
        dbg_table_rows(dbg, i, dbg_layout_row, &layout);
        return LW_OK;
    }
    return call->argc == 1 ? LW_OK
                           : LW_FAIL(err, LW_ENOENT, "there is no table \"%s\": `table` lists the tables",
                                     call->argv[1]);
}

/* ---- info --------------------------------------------------------------------------------- */

static enum lw_status show_arguments(const struct lw_call *call, struct lw_error *err)
{
    struct dbg *dbg = call->context;
    const struct isa_function *function;
    const struct emu_grid *grid;
    struct dbg_thread thread;
    enum lw_status status = dbg_view(dbg, &thread, err);

    if (status != LW_OK)
        return status;
    grid = dbg_thread_grid(dbg, thread.id);
    function = dbg_function_at(dbg, thread.location.pc);
    if (dbg_program(dbg) == NULL || emu_program_object(dbg_program(dbg))->debug != NULL ||
        grid == NULL || function != grid->launch.kernel)
        return dbg_parameters_print(dbg, thread.id, thread.lane, call->out, err);
    /* Without debug information, the object still has the names of a kernel's parameters, from its .param lines. */
    for (unsigned i = 0; i < function->param_count; i++) {
        struct dbg_value value;

        if (function->params[i].name == NULL)
            continue;
        lw_printf(call->out, "%s = ", function->params[i].name);
        if (dbg_eval(dbg, thread.id, thread.lane, function->params[i].name, &value, NULL) == LW_OK)
            dbg_value_print(&value, value.type == DBG_U64 ? 'x' : 0, call->out);
        else
            lw_printf(call->out, "{%u byte%s}", function->params[i].size_bytes, function->params[i].size_bytes == 1 ? "" : "s");
        lw_put(call->out, "\n");
    }
    if (function->param_count == 0)
        lw_put(call->out, "this function has no parameters\n");
    return LW_OK;
}

/* Executes `info cuda`, as in `info cuda threads block 3`. */
static enum lw_status show_cuda_topic(const struct lw_call *call, struct lw_error *err)
{
    const char *topic = call->argc < 2 ? NULL : call->argv[1];
    struct lw_call own = *call;

    if (topic == NULL || !dbg_info_cuda_topic(topic))
        return LW_FAIL(err, LW_EUSAGE, "info cuda takes devices, sms, warps, lanes, kernels, blocks or threads%s%.40s%s",
                       topic == NULL ? "" : ", not \"", topic == NULL ? "" : topic, topic == NULL ? "" : "\"");
    own.argc--;
    own.argv++;
    return dbg_info_cuda(&own, err);
}

static enum lw_status do_info(const struct lw_call *call, struct lw_error *err)
{
    /* Topics of `info`. `command` is the command that shows the topic (`info breakpoints` executes `points`). If it is NULL,
     * the function `run` shows the topic. */
    static const struct {
        const char *topic, *command;
        enum lw_status (*run)(const struct lw_call *call, struct lw_error *err);
        unsigned does;
    } topics[] = {
        {"breakpoints", "points", NULL, 0}, {"points", "points", NULL, 0},
        {"watchpoints", "points", NULL, 0},
        {"warps", "warps", NULL, 0},        {"lanes", "lanes", NULL, 0},
        {"splits", "splits", NULL, 0},      {"barriers", "barriers", NULL, 0},
        {"registers", "registers", NULL, 0}, {"status", "status", NULL, 0},
        {"tags", "tags", NULL, 0},          {"allocations", "allocations", NULL, 0},
        {"launches", "launches", NULL, 0},  {"history", "history", NULL, 0},
        {"grids", "launches", NULL, 0},     /* with a GPU model, the command `grids` shows its queues as well */
        {"locals", "locals", NULL, 0},      {"args", NULL, show_arguments, LW_COMMAND_BARE},
        {"display", "display", NULL, 0},    {"frame", NULL, dbg_info_frame, LW_COMMAND_BARE},
        {"kernels", NULL, dbg_info_cuda, 0}, {"blocks", NULL, dbg_info_cuda, 0},
        {"threads", NULL, dbg_info_cuda, 0}, {"cuda", NULL, show_cuda_topic, 0},
        {"line", NULL, show_line, 0},       {"symbol", NULL, show_symbol, 0},
        {"source", NULL, show_source, LW_COMMAND_BARE}, {"functions", NULL, show_functions, 0},
    };
    size_t found = LW_COUNT_OF(topics);
    struct lw_command_set set = {0};
    struct lw_call own = *call;
    struct lw_command topic;
    const struct lw_command *command = &topic;

    for (size_t i = 0; call->argc >= 2 && i < LW_COUNT_OF(topics); i++) {
        if (strncmp(topics[i].topic, call->argv[1], strlen(call->argv[1])) != 0)
            continue;
        if (found == LW_COUNT_OF(topics) || strcmp(topics[i].topic, call->argv[1]) == 0)
            found = i;
    }
    if (found == LW_COUNT_OF(topics))
        return LW_FAIL(err, LW_EUSAGE,
                       "info takes a topic: breakpoints, kernels, blocks, threads, warps, lanes, splits, "
                       "barriers, registers, frame, args, locals, tags, allocations, launches, grids, history, "
                       "line, symbol, source, functions, cuda or status");
    own.argc--;
    own.argv++;
    own.argv[0] = (char *)(uintptr_t)topics[found].topic; /* replaces an abbreviation by the full name of the topic */
    topic = (struct lw_command){.run = topics[found].run, .does = topics[found].does};
    if (topics[found].command != NULL) {
        dbg_register_commands(call->context, &set);
        command = lw_command_find(&set, topics[found].command, &own.context, err);
    }
    return command == NULL ? LW_ENOENT : lw_command_call(command, &own, err);
}

/* clang-format off */
static const struct lw_command rows[] = {
    /* name        abbrev.  operands                      summary                                                       example, does */
    {"whatis",      "wha",  "<expression|type>",          "Show the type of an expression",                                      "whatis v0 + 1", do_type, LW_COMMAND_READONLY | LW_COMMAND_AS(TYPE_NAME)},
    {"ptype",       "pt",   "<expression|type>",          "Show the type of an expression, with the members of structures",      "ptype float", do_type, LW_COMMAND_READONLY | LW_COMMAND_AS(TYPE_WHOLE)},
    {"find",        "find", "[/size] <address>, <bytes>, <expression>, ...", "Search memory for consecutive values; the number of bytes may be omitted if the address is in a buffer and there is one value", "find 0x200000000000, 64, 7", do_find, LW_COMMAND_READONLY},
    {"table",       "tab",  "[name]",                     "Show a table of the machine's state; without a name, list the tables", "table splits", do_table, LW_COMMAND_READONLY},
    {"info",        "i",    "<topic>",                    "Show information about a topic: breakpoints, kernels, blocks, threads, warps, lanes, splits, barriers, registers, frame, args, locals, tags, allocations, launches, grids, history, line, symbol, source, functions, cuda, status", "info breakpoints", do_info, LW_COMMAND_READONLY},
};
/* clang-format on */
const struct lw_command_table dbg_commands_info = {rows, LW_COUNT_OF(rows), NULL};
