/* SPDX-License-Identifier: Apache-2.0 */
/* Finds function, source line and source text of a pc, and prints locations and disassembled code. */
#include "debug/debug_priv.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>

/** A source file, split into lines. If the file cannot be read, `text` is NULL. */
struct dbg_source_file {
    struct dbg_source_file *next;
    const char *name; /* file name in the object */
    char *text;
    char **line;
    size_t count;
};

/* ---- functions and line-table rows ---------------------------------------------- */

static const struct emu_program *program_at(const struct dbg *dbg, uint64_t pc,
                                            uint32_t *index)
{
    const struct emu_program *program = emu_machine_program_at(dbg->machine, pc);

    if (program != NULL)
        *index = (uint32_t)((pc - emu_program_base(program)) / ISA_WORD_BYTES);
    return program;
}

const struct isa_function *dbg_function_at(const struct dbg *dbg, uint64_t pc)
{
    uint32_t index;
    const struct emu_program *program = program_at(dbg, pc, &index);

    return program != NULL ? isa_object_function_at(emu_program_object(program), index) : NULL;
}

/* The function may be a kernel of another program than the current one. The queued launches then have that program. */
uint64_t dbg_function_pc(const struct dbg *dbg, const struct isa_function *function)
{
    const struct emu_grid *grid = emu_grid_current(dbg->machine);
    const struct emu_program *program = dbg_program(dbg);

    for (; grid != NULL; grid = grid->next)
        if (grid->launch.kernel == function)
            program = grid->launch.program;
    return program != NULL
               ? emu_program_base(program) + (uint64_t)function->first * ISA_WORD_BYTES
               : 0;
}

uint64_t dbg_function_body(const struct dbg *dbg, const struct isa_function *function)
{
    const struct emu_program *program = dbg_program(dbg);
    const struct isa_object *object = emu_program_object(program);

    for (unsigned i = 0; i < object->line_count; i++) {
        const struct isa_line *row = &object->lines[i];

        if (row->prologue_end && row->insn >= function->first &&
            row->insn < function->first + function->count)
            return emu_program_base(program) + (uint64_t)row->insn * ISA_WORD_BYTES;
    }
    return dbg_function_pc(dbg, function);
}

bool dbg_row_at(const struct dbg *dbg, uint64_t pc, const struct isa_line **row, bool *start)
{
    uint32_t index;
    const struct emu_program *program = program_at(dbg, pc, &index);

    if (program == NULL)
        return false;
    *row = isa_object_line_at(emu_program_object(program), index);
    if (*row == NULL || (*row)->line == 0)
        return false;
    *start = (*row)->insn == index && (*row)->is_stmt;
    return true;
}

const char *dbg_file_name(const struct isa_object *object, unsigned file)
{
    return file < object->file_count && object->files[file] != NULL ? object->files[file] : "";
}

const char *dbg_base_name(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash != NULL ? slash + 1 : path;
}

bool dbg_source_at(const struct dbg *dbg, uint64_t pc, const char **file, unsigned *line)
{
    const struct isa_line *row;
    bool start;

    if (!dbg_row_at(dbg, pc, &row, &start))
        return false;
    *file = dbg_file_name(emu_program_object(emu_machine_program_at(dbg->machine, pc)), row->file);
    *line = row->line;
    return true;
}

void dbg_print_location(const struct dbg *dbg, uint64_t pc, struct lw_sink *out)
{
    const struct isa_function *function = dbg_function_at(dbg, pc);
    const char *file;
    unsigned line;

    if (function != NULL) {
        uint64_t offset = pc - dbg_function_pc(dbg, function);
        char name[256];

        dbg_function_short_name(dbg, function, name, sizeof name);
        lw_put(out, name);
        if (offset != 0)
            lw_printf(out, "+0x%llx", (unsigned long long)offset);
    } else {
        lw_printf(out, "0x%llx", (unsigned long long)pc);
    }
    if (dbg_source_at(dbg, pc, &file, &line))
        lw_printf(out, " (%s:%u)", dbg_base_name(file), line);
}

/* ---- source text ------------------------------------------------------------------ */

void dbg_sources_free(struct dbg *dbg)
{
    while (dbg->sources != NULL) {
        struct dbg_source_file *file = dbg->sources;

        dbg->sources = file->next;
        free(file->text);
        free(file->line);
        free(file);
    }
}

static bool try_read(struct dbg_source_file *file, const char *folder, const char *path)
{
    char full[4096];
    size_t size;

    if ((size_t)snprintf(full, sizeof full, "%s%s%s", folder, *folder != '\0' ? "/" : "",
                         path) >= sizeof full)
        return false;
    return lw_file_read(full, &file->text, &size, NULL) == LW_OK;
}

/* Splits the text of a file into lines: replaces line ends by null bytes. */
static void cut_lines(struct dbg_source_file *file)
{
    size_t capacity = 0;
    char *at = file->text;

    while (at != NULL && *at != '\0') {
        char *end = strchr(at, '\n');

        if (!lw_grow(&file->line, &capacity, file->count + 1, sizeof *file->line))
            return;
        file->line[file->count++] = at;
        if (end == NULL)
            return;
        *end = '\0';
        if (end > at && end[-1] == '\r')
            end[-1] = '\0';
        at = end + 1;
    }
}

const char *dbg_source_line(struct dbg *dbg, const char *name, unsigned line)
{
    struct dbg_source_file *file = dbg->sources;

    while (file != NULL && strcmp(file->name, name) != 0)
        file = file->next;
    if (file == NULL) {
        const struct emu_program *program = dbg_program(dbg);
        const char *folder = NULL;

        file = calloc(1, sizeof *file);
        if (file == NULL)
            return NULL;
        file->name = name;
        file->next = dbg->sources;
        dbg->sources = file;
        if (program != NULL)
            folder = emu_program_object(program)->comp_dir;
        if (*name == '/' ? try_read(file, "", name)
                         : (folder != NULL && *folder != '\0' && try_read(file, folder, name)) ||
                               try_read(file, "", name))
            cut_lines(file);
        else if (try_read(file, "", dbg_base_name(name)))
            cut_lines(file);
    }
    return line >= 1 && line <= file->count ? file->line[line - 1] : NULL;
}

/* ---- disassembly ---------------------------------------------------------------------- */

static bool symbol(void *context, uint64_t address, char *text, size_t size)
{
    const struct dbg *dbg = context;
    const struct isa_function *function = dbg_function_at(dbg, address);
    char name[256];
    uint64_t offset;

    if (function == NULL)
        return false;
    offset = address - dbg_function_pc(dbg, function);
    dbg_function_short_name(dbg, function, name, sizeof name);
    if (offset == 0)
        snprintf(text, size, "%s", name);
    else
        snprintf(text, size, "%s+0x%llx", name, (unsigned long long)offset);
    return true;
}

bool dbg_insn_print(const struct dbg *dbg, uint64_t pc, struct lw_sink *out)
{
    const struct emu_program *program = emu_machine_program_at(dbg->machine, pc);
    const struct isa_insn *insn = program != NULL ? emu_program_insn(program, pc) : NULL;
    struct isa_insn shown;

    if (insn == NULL)
        return false;
    shown = *insn;
    /* The control fields of an instruction do not affect values, so they are not printed here. `lanewise dis` prints
     * them. */
    shown.control = (struct isa_control){ .write_bar = 7, .read_bar = 7 };
    isa_insn_print(&shown, pc, symbol, (struct dbg *)(uintptr_t)dbg, out);
    return true;
}

void dbg_disassemble(const struct dbg *dbg, uint64_t pc, unsigned count, bool source,
                     struct lw_sink *out)
{
    struct dbg *session = (struct dbg *)(uintptr_t)dbg;
    const struct isa_line *last = NULL, *row;
    struct dbg_thread thread;
    bool focused = dbg_thread_get(dbg, dbg->focus[DBG_FOCUS_VIEW], &thread), start;

    for (unsigned i = 0; i < count; i++, pc += ISA_WORD_BYTES) {
        const struct emu_program *program = emu_machine_program_at(dbg->machine, pc);
        const struct isa_insn *insn = program != NULL ? emu_program_insn(program, pc) : NULL;
        char name[256];

        if (insn == NULL)
            return;
        if (source && dbg_row_at(dbg, pc, &row, &start) &&
            (last == NULL || last->line != row->line || last->file != row->file)) {
            const char *file = dbg_file_name(emu_program_object(program), row->file);
            const char *text = dbg_source_line(session, file, row->line);

            if (text != NULL)
                lw_printf(out, "%u\t%s\n", row->line, text);
            else
                lw_printf(out, "%s:%u\n", dbg_base_name(file), row->line);
            last = row;
        }
        if (!symbol(session, pc, name, sizeof name))
            snprintf(name, sizeof name, "?");
        lw_printf(out, "%s 0x%llx <%s>  ", focused && thread.location.pc == pc ? "=>" : "  ",
                  (unsigned long long)pc, name);
        dbg_insn_print(dbg, pc, out);
        lw_put(out, "\n");
    }
}
