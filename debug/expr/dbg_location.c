/* SPDX-License-Identifier: Apache-2.0 */
/* Parses the locations that users type: FILE:LINE, FUNCTION, *EXPRESSION. */
#include "debug/expr/dbg_expr_priv.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>

static bool file_matches(const char *have, const char *want)
{
    size_t h = strlen(have), w = strlen(want);

    return h >= w && strcmp(have + h - w, want) == 0 &&
           (h == w || have[h - w - 1] == '/' || *want == '/');
}

/* Finds the pcs of a source line as gdb does: for each scope the lowest pc at which a statement of @line of a file @name
 * starts. Each inlined call and each duplicated block is a scope of its own. If the line has no code, the next line that
 * has code is used. */
static enum lw_status line_parse(const struct dbg *dbg, const char *name, uint64_t line,
                                 uint64_t *pcs, unsigned capacity, unsigned *count,
                                 struct lw_error *err)
{
    const struct emu_program *program = dbg_program(dbg);
    const struct isa_object *object = emu_program_object(program);
    bool file_known = false;
    uint64_t best = UINT64_MAX;

    for (unsigned i = 1; i < object->file_count; i++)
        file_known = file_known || file_matches(dbg_file_name(object, i), name);
    if (!file_known) {
        const char *near = lw_suggest(name, object->files, object->file_count,
                                      sizeof *object->files);

        return LW_FAIL(err, LW_ENOENT, "the program has no source file \"%s\"%s%s%s", name,
                       near != NULL && *near != '\0' ? "; did you mean \"" : "",
                       near != NULL ? near : "", near != NULL && *near != '\0' ? "\"?" : "");
    }
    for (unsigned i = 0; i < object->line_count; i++) {
        const struct isa_line *row = &object->lines[i];

        if (row->is_stmt && row->line >= line && row->line < best &&
            file_matches(dbg_file_name(object, row->file), name))
            best = row->line;
    }
    if (best == UINT64_MAX)
        return LW_FAIL(err, LW_ENOENT, "file %s has no code at line %llu or after it", name,
                       (unsigned long long)line);
    *count = 0;
    for (unsigned f = 0; f < object->function_count; f++) {
        const struct isa_function *function = &object->functions[f];
        unsigned first = *count;

        for (unsigned i = 0; i < object->line_count && *count < capacity; i++) {
            const struct isa_line *row = &object->lines[i];
            bool known = false;

            if (!row->is_stmt || row->line != best || row->insn < function->first ||
                row->insn >= function->first + function->count ||
                !file_matches(dbg_file_name(object, row->file), name))
                continue;
            for (unsigned k = first; k < *count && !known; k++)
                known = dbg_scope_at(program, (uint32_t)((pcs[k] - emu_program_base(program)) / ISA_WORD_BYTES)) ==
                        dbg_scope_at(program, row->insn);
            if (!known) /* line-table rows are sorted by pc, so the first one of a scope has the lowest pc */
                pcs[(*count)++] =
                    emu_program_base(program) + (uint64_t)row->insn * ISA_WORD_BYTES;
        }
    }
    return *count != 0 ? LW_OK
                       : LW_FAIL(err, LW_ENOENT, "line %llu of %s is in no function",
                                 (unsigned long long)line, name);
}

/* Finds the functions that @name denotes, by their symbols or else by their names in the source, and the inlined calls of
 * such functions. */
static enum lw_status function_parse(const struct dbg *dbg, const char *name, uint64_t *pcs,
                                     unsigned capacity, unsigned *count, struct lw_error *err)
{
    const struct isa_object *object = emu_program_object(dbg_program(dbg));
    const char *near = NULL;

    for (unsigned pass = 0; pass < 2 && *count == 0; pass++)
        for (unsigned i = 0; i < object->function_count; i++) {
            const struct isa_function *function = &object->functions[i];

            if (pass == 0 ? strcmp(function->name, name) == 0
                          : dbg_function_is_called(dbg, function, name)) {
                if (*count < capacity)
                    pcs[(*count)++] = dbg_function_body(dbg, function);
            }
        }
    *count = dbg_inlined_calls(dbg, name, pcs, *count, capacity);
    if (*count != 0)
        return LW_OK;
    if (object->function_count != 0)
        near = lw_suggest(name, &object->functions[0].name, object->function_count,
                          sizeof *object->functions);
    if (near != NULL)
        return LW_FAIL(err, LW_ENOENT, "there is no function \"%s\"; did you mean \"%s\"?", name, near);
    return LW_FAIL(err, LW_ENOENT,
                   "there is no function \"%s\"; a location is FILE:LINE, LINE, FUNCTION, *ADDRESS, +N or -N",
                   name);
}

enum lw_status dbg_location_parse(const struct dbg *dbg, const char *text, uint64_t *pcs,
                                  unsigned capacity, unsigned *count, struct lw_error *err)
{
    /* The evaluation of an expression changes only caches of the session, so the cast is safe. */
    struct dbg *session = (struct dbg *)(uintptr_t)dbg;
    const char *file = NULL, *colon = strrchr(text, ':');
    struct dbg_thread thread;
    unsigned here = 0;
    bool focused = dbg_thread_get(dbg, dbg->focus[DBG_FOCUS_VIEW], &thread);
    uint64_t number;
    enum lw_status status;

    *count = 0;
    if (dbg_program(dbg) == NULL)
        return LW_FAIL(err, LW_ESTATE, "no program is loaded");
    if (capacity == 0)
        return LW_OK;
    if (*text == '*') {
        struct dbg_value value;
        const struct emu_program *program;

        status = dbg_eval(session, dbg->focus[DBG_FOCUS_VIEW],
                          focused ? thread.lane : 0, text + 1, &value, err);
        if (status != LW_OK)
            return status;
        program = emu_machine_program_at(dbg->machine, value.bits);
        if (program == NULL || emu_program_insn(program, value.bits) == NULL)
            return LW_FAIL(err, LW_ERANGE, "0x%llx is not the address of an instruction",
                           (unsigned long long)value.bits);
        pcs[0] = value.bits;
        *count = 1;
        return LW_OK;
    }
    if (focused)
        (void)!dbg_source_at(dbg, thread.location.pc, &file, &here);
    if (file == NULL && emu_program_object(dbg_program(dbg))->file_count > 1)
        file = dbg_file_name(emu_program_object(dbg_program(dbg)), 1);
    if (colon != NULL && lw_parse_u64(colon + 1, &number) && colon != text) {
        char name[1024];

        if ((size_t)(colon - text) >= sizeof name)
            return LW_FAIL(err, LW_EUSAGE, "the file name is too long");
        memcpy(name, text, (size_t)(colon - text));
        name[colon - text] = '\0';
        return line_parse(dbg, name, number, pcs, capacity, count, err);
    }
    if (*text == '+' || *text == '-' || isdigit((unsigned char)*text)) {
        int64_t line;

        if (!lw_parse_i64(text, &line))
            return LW_FAIL(err, LW_EUSAGE, "\"%s\" is not a line number", text);
        if (file == NULL)
            return LW_FAIL(err, LW_ENOENT, "the program has no line table: use FUNCTION or *ADDRESS, or compile with -g");
        if (!isdigit((unsigned char)*text))
            line += here;
        if (line < 1)
            return LW_FAIL(err, LW_ERANGE, "there is no line %lld", (long long)line);
        return line_parse(dbg, file, (uint64_t)line, pcs, capacity, count, err);
    }
    return function_parse(dbg, text, pcs, capacity, count, err);
}
