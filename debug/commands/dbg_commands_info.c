/* SPDX-License-Identifier: Apache-2.0 */
/* Commands on debug information: types, lines, symbols; info; find in memory. */
#include "debug/commands/dbg_commands_priv.h"

#include <ctype.h>
#include <stdlib.h>

enum { MAX_LOCATIONS = 32, FIND_CHUNK = 1 << 16, MAX_FOUND = 100, MAX_FIND = 1 << 30, MAX_PATTERN = 256 };

/* ---- types --------------------------------------------------------------------------- */

static enum lw_status print_type(struct dbg *dbg, int argc, char **argv, bool whole,
                                 struct lw_sink *out, struct lw_error *err)
{
    dbg_thread_id id = dbg_focus_get(dbg, DBG_FOCUS_VIEW);
    char text[1024];

    if (argc < 2)
        return LW_FAIL(err, LW_EUSAGE, "%s takes an expression or the name of a type", argv[0]);
    if (!lw_args_join(argc, argv, 1, text, sizeof text))
        return dbg_too_long(err);
    return dbg_print_type(dbg, id, dbg_lane_get(dbg, id), text, whole, out, err);
}

static enum lw_status do_whatis(void *context, int argc, char **argv, struct lw_sink *out,
                                struct lw_error *err)
{
    return print_type(context, argc, argv, false, out, err);
}

static enum lw_status do_ptype(void *context, int argc, char **argv, struct lw_sink *out,
                               struct lw_error *err)
{
    return print_type(context, argc, argv, true, out, err);
}

/* ---- find ------------------------------------------------------------------------------ */

/* The parts of "A, B, C": commas inside of brackets do not count. Cuts @text. */
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

struct search {
    uint64_t address, bytes;
    uint8_t pattern[MAX_PATTERN];
    unsigned size, step;
};

/* The bytes of all values, in order. */
static enum lw_status find_pattern(struct dbg *dbg, char **values, unsigned count, char size,
                                   struct search *search, struct lw_error *err)
{
    dbg_thread_id id = dbg_focus_get(dbg, DBG_FOCUS_VIEW);

    for (unsigned i = 0; i < count; i++) {
        struct dbg_value value;
        uint8_t raw[8];
        unsigned bytes;
        enum lw_status status =
            dbg_eval(dbg, id, dbg_lane_get(dbg, id), values[i], &value, err);

        if (status != LW_OK)
            return status;
        bytes = size == 'b' ? 1 : size == 'h' ? 2 : size == 'w' ? 4 : size == 'g' ? 8
                : value.type == DBG_U64 || value.type == DBG_S64 || value.type == DBG_F64 ? 8 : 4;
        /* 2.5 means the float that a buffer of floats holds */
        if (value.type == DBG_F64 && size != 'g') {
            double d;
            float f;
            uint32_t bits;

            memcpy(&d, &value.bits, sizeof d);
            f = (float)d;
            memcpy(&bits, &f, sizeof bits);
            value.bits = bits;
            bytes = 4;
        }
        if (search->size + bytes > MAX_PATTERN)
            return LW_FAIL(err, LW_EUSAGE, "a pattern has at most %d bytes",
                           MAX_PATTERN);
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
        return LW_FAIL(err, LW_ENOMEM, "no memory to search in");
    while (search->bytes - done >= search->size && *count < MAX_FOUND) {
        uint64_t want = search->bytes - done, i;

        if (want > FIND_CHUNK)
            want = FIND_CHUNK;
        if (dbg_mem_read(dbg, id, search->address + done, data, want) != want) {
            status = LW_FAIL(err, LW_ERANGE, "cannot read memory at 0x%llx",
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

static enum lw_status do_find(void *context, int argc, char **argv, struct lw_sink *out,
                              struct lw_error *err)
{
    struct dbg *dbg = context;
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

    if (argc > 1 && argv[1][0] == '/') {
        if (strlen(argv[1]) != 2 || strchr("bhwg", argv[1][1]) == NULL)
            return LW_FAIL(err, LW_EUSAGE, "\"%s\" is no size: /b /h /w /g are", argv[1]);
        size = argv[1][1];
        first = 2;
    }
    if (!lw_args_join(argc, argv, first, text, sizeof text))
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
            return LW_FAIL(err, LW_EUSAGE, "how many bytes? 0x%llx is in no allocation",
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
        return LW_FAIL(err, LW_EUSAGE, "no more than %d bytes can be searched by one command", MAX_FIND);
    status = find_pattern(dbg, parts + first_value, count - first_value, size, &search, err);
    if (status == LW_OK)
        status = find_run(dbg, &search, &found, out, err);
    if (status == LW_OK && found == MAX_FOUND)
        lw_printf(out, "the first %llu are shown\n", (unsigned long long)found);
    else if (status == LW_OK && found == 0)
        lw_put(out, "not found\n");
    return status;
}

/* ---- places ------------------------------------------------------------------------------ */

static enum lw_status show_symbol(struct dbg *dbg, int argc, char **argv, struct lw_sink *out,
                                  struct lw_error *err)
{
    dbg_thread_id id = dbg_focus_get(dbg, DBG_FOCUS_VIEW);
    struct emu_allocation allocation;
    struct dbg_value value;
    char text[1024];
    bool inside;
    enum lw_status status;

    if (argc < 2 || !lw_args_join(argc, argv, 1, text, sizeof text))
        return LW_FAIL(err, LW_EUSAGE, "info symbol takes an address");
    status = dbg_eval(dbg, id, dbg_lane_get(dbg, id), text, &value, err);
    if (status != LW_OK)
        return status;
    lw_printf(out, "0x%llx is ", (unsigned long long)value.bits);
    if (dbg_function_at(dbg, value.bits) != NULL)
        dbg_print_location(dbg, value.bits, out);
    else if (emu_allocation_at(dbg->machine, value.bits, &allocation, &inside) && inside)
        lw_printf(out, "byte %llu of %s, %llu bytes at 0x%llx%s",
                  (unsigned long long)(value.bits - allocation.address),
                  allocation.name != NULL && *allocation.name != '\0' ? allocation.name
                                                                     : "an allocation",
                  (unsigned long long)allocation.size_bytes,
                  (unsigned long long)allocation.address,
                  allocation.flags & EMU_ALLOC_FREED ? ", which is freed" : "");
    else if (value.bits >= ISA_SHARED_BASE && value.bits < ISA_LOCAL_BASE)
        lw_printf(out, "byte %llu of the block's shared memory",
                  (unsigned long long)(value.bits - ISA_SHARED_BASE));
    else if (value.bits >= ISA_LOCAL_BASE && value.bits < ISA_CONST_BASE)
        lw_printf(out, "byte %llu of the lane's local memory",
                  (unsigned long long)(value.bits - ISA_LOCAL_BASE));
    else
        lw_put(out, "in no function and no allocation");
    lw_put(out, "\n");
    return LW_OK;
}

static enum lw_status show_line(struct dbg *dbg, int argc, char **argv, struct lw_sink *out,
                                struct lw_error *err)
{
    uint64_t pcs[MAX_LOCATIONS];
    unsigned count = 1;
    struct dbg_thread thread;
    char text[1024];
    enum lw_status status;

    if (!lw_args_join(argc, argv, 1, text, sizeof text))
        return dbg_too_long(err);
    if (argc == 1) {
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
            lw_printf(out, "no line is known for 0x%llx\n", (unsigned long long)pcs[i]);
            continue;
        }
        while (dbg_row_at(dbg, low - ISA_WORD_BYTES, &at, &start) && at->line == row->line &&
               at->file == row->file)
            low -= ISA_WORD_BYTES;
        while (dbg_row_at(dbg, high, &at, &start) && at->line == row->line &&
               at->file == row->file)
            high += ISA_WORD_BYTES;
        lw_printf(out, "line %u is 0x%llx to 0x%llx, ", row->line, (unsigned long long)low,
                  (unsigned long long)high);
        dbg_print_location(dbg, low, out);
        lw_put(out, "\n");
    }
    return status;
}

static const struct isa_object *object_of(const struct dbg *dbg)
{
    return dbg_program(dbg) != NULL ? emu_program_object(dbg_program(dbg)) : NULL;
}

static enum lw_status show_source(struct dbg *dbg, int argc, char **argv, struct lw_sink *out,
                                  struct lw_error *err)
{
    const struct isa_object *object = object_of(dbg);
    struct dbg_thread thread;
    const char *file = NULL;
    unsigned line = 0;
    enum lw_status status = dbg_no_operands(argc, argv, err);

    if (status != LW_OK)
        return status;
    if (object == NULL)
        return LW_FAIL(err, LW_ESTATE, "no program is loaded");
    if (dbg_view(dbg, &thread, NULL) == LW_OK)
        (void)!dbg_source_at(dbg, thread.location.pc, &file, &line);
    for (unsigned i = 1; i < object->file_count; i++) {
        const char *name = object->files[i];

        if (name == NULL || *name == '\0')
            continue;
        lw_printf(out, "%s %s%s\n", file != NULL && strcmp(file, name) == 0 ? "=>" : "  ", name,
                  dbg_source_line(dbg, name, 1) == NULL ? "  (cannot be read)" : "");
    }
    if (object->comp_dir != NULL && *object->comp_dir != '\0')
        lw_printf(out, "compiled in %s\n", object->comp_dir);
    lw_printf(out, "variables of the source: %s\n",
              object->debug != NULL ? "known" : "not in the debug information");
    return LW_OK;
}

static enum lw_status show_functions(struct dbg *dbg, int argc, char **argv, struct lw_sink *out,
                                     struct lw_error *err)
{
    const struct isa_object *object = object_of(dbg);
    char name[512];

    if (argc > 2)
        return LW_FAIL(err, LW_EUSAGE, "info functions takes a part of a name");
    for (unsigned i = 0; object != NULL && i < object->function_count; i++) {
        const struct isa_function *function = &object->functions[i];

        dbg_function_source_name(dbg, function, name, sizeof name);
        if (argc == 2 && strstr(function->name, argv[1]) == NULL && strstr(name, argv[1]) == NULL)
            continue;
        lw_printf(out, "0x%llx  %-6s  %s", (unsigned long long)dbg_function_pc(dbg, function),
                  function->kernel ? "kernel" : "", name);
        if (strcmp(name, function->name) != 0)
            lw_printf(out, "  (%s)", function->name);
        lw_put(out, "\n");
    }
    return LW_OK;
}

/* ---- tables of the whole machine, those of gdb's `info os` ------------------------------------ */

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

static enum lw_status do_table(void *context, int argc, char **argv, struct lw_sink *out,
                               struct lw_error *err)
{
    struct dbg *dbg = context;
    const struct dbg_table *table;

    if (argc > 2)
        return LW_FAIL(err, LW_EUSAGE, "table takes one name, \"%s\" is too much", argv[2]);
    for (unsigned i = 0; (table = dbg_table_at(i)) != NULL; i++) {
        struct dbg_layout layout = {0};
        unsigned columns = 0;

        if (argc == 1) {
            lw_printf(out, "%-12s  %s\n", table->name, table->summary);
            continue;
        }
        if (strcmp(table->name, argv[1]) != 0)
            continue;
        while (table->columns[columns] != NULL)
            columns++;
        dbg_layout_row(&layout, table->columns, columns);
        dbg_table_rows(dbg, i, dbg_layout_row, &layout);
        layout.out = out;
        dbg_layout_row(&layout, table->columns, columns);
        dbg_table_rows(dbg, i, dbg_layout_row, &layout);
        return LW_OK;
    }
    return argc == 1 ? LW_OK
                     : LW_FAIL(err, LW_ENOENT, "no table \"%s\": `table` lists them", argv[1]);
}

/* ---- info --------------------------------------------------------------------------------- */

typedef enum lw_status (*info_fn)(struct dbg *dbg, int argc, char **argv, struct lw_sink *out,
                                  struct lw_error *err);

static enum lw_status show_arguments(struct dbg *dbg, int argc, char **argv, struct lw_sink *out,
                                     struct lw_error *err)
{
    const struct isa_function *function;
    const struct emu_grid *grid;
    struct dbg_thread thread;
    enum lw_status status = dbg_no_operands(argc, argv, err);

    if (status == LW_OK)
        status = dbg_view(dbg, &thread, err);
    if (status != LW_OK)
        return status;
    grid = dbg_thread_grid(dbg, thread.id);
    function = dbg_function_at(dbg, thread.location.pc);
    if (dbg_program(dbg) == NULL || emu_program_object(dbg_program(dbg))->debug != NULL ||
        grid == NULL || function != grid->launch.kernel)
        return dbg_parameters_print(dbg, thread.id, thread.lane, out, err);
    /* Without debug information a kernel's have the names of its .param lines. */
    for (unsigned i = 0; i < function->param_count; i++) {
        struct dbg_value value;

        if (function->params[i].name == NULL)
            continue;
        lw_printf(out, "%s = ", function->params[i].name);
        if (dbg_eval(dbg, thread.id, thread.lane, function->params[i].name, &value, NULL) == LW_OK)
            dbg_value_print(&value, value.type == DBG_U64 ? 'x' : 0, out);
        else
            lw_printf(out, "{%u bytes}", function->params[i].size_bytes);
        lw_put(out, "\n");
    }
    if (function->param_count == 0)
        lw_put(out, "no parameters here\n");
    return LW_OK;
}

static enum lw_status show_cuda(struct dbg *dbg, int argc, char **argv, struct lw_sink *out,
                                struct lw_error *err)
{
    return dbg_info_cuda(dbg, argc, argv, out, err);
}

/* `info cuda threads block 3` */
static enum lw_status show_cuda_topic(struct dbg *dbg, int argc, char **argv, struct lw_sink *out,
                                      struct lw_error *err)
{
    if (argc < 2 || !dbg_info_cuda_topic(argv[1]))
        return LW_FAIL(err, LW_EUSAGE, "info cuda takes devices, sms, warps, lanes, kernels, blocks or threads%s%.40s%s",
                       argc < 2 ? "" : ", not \"", argc < 2 ? "" : argv[1], argc < 2 ? "" : "\"");
    return dbg_info_cuda(dbg, argc - 1, argv + 1, out, err);
}

static enum lw_status do_info(void *context, int argc, char **argv, struct lw_sink *out,
                              struct lw_error *err)
{
    /* Topics are commands by another name, `info breakpoints` is `points`, or have a function. */
    static const struct {
        const char *topic, *command;
        info_fn fn;
    } topics[] = {
        {"breakpoints", "points", NULL}, {"points", "points", NULL},
        {"watchpoints", "points", NULL},
        {"warps", "warps", NULL},        {"lanes", "lanes", NULL},
        {"splits", "splits", NULL},      {"barriers", "barriers", NULL},
        {"registers", "registers", NULL}, {"status", "status", NULL},
        {"tags", "tags", NULL},          {"allocations", "allocations", NULL},
        {"launches", "launches", NULL},  {"history", "history", NULL},
        {"locals", "locals", NULL},      {"args", NULL, show_arguments},
        {"display", "display", NULL},    {"frame", NULL, dbg_info_frame},
        {"kernels", NULL, show_cuda},    {"blocks", NULL, show_cuda},
        {"threads", NULL, show_cuda},    {"cuda", NULL, show_cuda_topic},
        {"line", NULL, show_line},       {"symbol", NULL, show_symbol},
        {"source", NULL, show_source},   {"functions", NULL, show_functions},
    };
    size_t found = LW_COUNT_OF(topics);
    struct lw_command_set set = {0};
    const struct lw_command *command;
    void *to;

    for (size_t i = 0; argc >= 2 && i < LW_COUNT_OF(topics); i++) {
        if (strncmp(topics[i].topic, argv[1], strlen(argv[1])) != 0)
            continue;
        if (found == LW_COUNT_OF(topics) || strcmp(topics[i].topic, argv[1]) == 0)
            found = i;
    }
    if (found == LW_COUNT_OF(topics))
        return LW_FAIL(err, LW_EUSAGE,
                       "info takes a topic: breakpoints, kernels, blocks, threads, warps, lanes, splits, "
                       "barriers, registers, frame, args, locals, tags, allocations, launches, history, "
                       "line, symbol, source, functions, cuda or status");
    argv[1] = (char *)(uintptr_t)topics[found].topic; /* as it is spelt out */
    if (topics[found].fn != NULL)
        return topics[found].fn(context, argc - 1, argv + 1, out, err);
    dbg_register_commands(context, &set);
    command = lw_command_find(&set, topics[found].command, &to, err);
    return command == NULL ? LW_ENOENT : command->run(to, argc - 1, argv + 1, out, err);
}

/* clang-format off */
static const struct lw_command rows[] = {
    /* name        abbrev.  operands                      summary                                                       example, does */
    {"whatis",      "wha",  "<expression|type>",          "Type of an expression",                                      "whatis v0 + 1", do_whatis, LW_COMMAND_READONLY},
    {"ptype",       "pt",   "<expression|type>",          "Type of an expression, with the members of structures",      "ptype float", do_ptype, LW_COMMAND_READONLY},
    {"find",        "find", "[/size] <address>, <bytes>, <expression>, ...", "Look for values in memory; of a buffer the bytes may be left out", "find 0x200000000000, 64, 7", do_find, LW_COMMAND_READONLY},
    {"table",       "tab",  "[name]",                     "A table of the whole machine, without a name which there are", "table splits", do_table, LW_COMMAND_READONLY},
    {"info",        "i",    "<topic>",                    "breakpoints, kernels, blocks, threads, warps, lanes, splits, barriers, registers, frame, args, locals, tags, allocations, launches, history, line, symbol, source, functions, cuda, status", "info breakpoints", do_info, LW_COMMAND_READONLY},
};
/* clang-format on */
const struct lw_command_table dbg_commands_info = {rows, LW_COUNT_OF(rows), NULL};
