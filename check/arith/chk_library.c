/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Classifies instructions as code of a library function or of the kernel's own source.
 *
 * A compiler inlines a library's bitcode, which has no line information, into its caller, and gives the resulting
 * instructions the line and column of the call. Only these instructions and the instructions of the call itself have
 * that position: an operator of the source has a column of its own, and a function of the source has its own lines.
 * Code at the position of a name before a parenthesis therefore belongs to a library. A use of a macro that the file
 * defines is not a call, so its code belongs to the kernel.
 */
#include "check/arith/chk_library_priv.h"

#include <ctype.h>
#include <stdlib.h>

/** Returns true for characters of names. */
static bool is_word(int c)
{
    return isalnum(c) || c == '_' || c == '$';
}

/** Returns line @line (from 1) of @text; NULL: there is none. */
static const char *line_of(const char *text, uint32_t line)
{
    while (text != NULL && --line != 0) {
        text = strchr(text, '\n');
        text += text != NULL;
    }
    return text;
}

static bool is_macro(const char *text, const char *name, size_t size)
{
    for (const char *at = text; (at = strstr(at, "define")) != NULL;) {
        at += strlen("define");
        at += strspn(at, " \t");
        if (strncmp(at, name, size) == 0 && !is_word((unsigned char)at[size]))
            return true;
    }
    return false;
}

static bool is_keyword(const char *name, size_t size)
{
    static const char *const words[] = {"if", "for", "while", "switch", "return", "sizeof", "do", "else"};

    for (size_t i = 0; i < LW_COUNT_OF(words); i++)
        if (strlen(words[i]) == size && strncmp(words[i], name, size) == 0)
            return true;
    return false;
}

bool chk_library_call_stands(const char *text, uint32_t line, unsigned column)
{
    const char *at = line != 0 ? line_of(text, line) : NULL;
    size_t size = 0;

    if (at == NULL || column == 0 || column > strcspn(at, "\n"))
        return false;
    at += column - 1;
    while (is_word((unsigned char)at[size]))
        size++;
    return size != 0 && !isdigit((unsigned char)at[0]) && at[size + strspn(at + size, " \t")] == '(' &&
           !is_keyword(at, size) && !is_macro(text, at, size);
}

/** Returns the text of file @file of the program; or NULL if the file cannot be read. */
static const char *text_of(struct chk_library *library, unsigned file)
{
    const struct isa_object *object = emu_program_object(library->program);
    struct lw_buffer path;
    size_t size;
    char **text = &library->texts[file];

    if (*text != NULL || library->no_text[file])
        return *text;
    lw_buffer_init(&path);
    if (object->files[file][0] != '/' && object->comp_dir != NULL && object->comp_dir[0] != '\0')
        lw_printf(&path.sink, "%s/", object->comp_dir);
    lw_put(&path.sink, object->files[file]);
    if (path.text == NULL || lw_file_read(path.text, text, &size, NULL) != LW_OK)
        *text = NULL;
    library->no_text[file] = *text == NULL;
    lw_buffer_fini(&path);
    return *text;
}

static bool look(struct chk_library *library, uint32_t index)
{
    const struct isa_object *object = emu_program_object(library->program);
    const struct isa_line *line = isa_object_line_at(object, index);
    const struct isa_function *f = isa_object_function_at(object, index);

    /* If other functions of the program have line information, a function without it is a function of the compiler. */
    if (line == NULL || line->line == 0 || line->file >= object->file_count || object->files[line->file][0] == '\0')
        return object->line_count != 0 && f != NULL && !f->kernel;
    if (chk_is_foreign(object->files[line->file]))
        return true;
    return chk_library_call_stands(text_of(library, line->file), line->line, line->column);
}

static void forget(struct chk_library *library)
{
    for (unsigned i = 0; i < library->file_count; i++)
        free(library->texts[i]);
    free(library->texts);
    free(library->no_text);
    free(library->known);
    *library = (struct chk_library){0};
}

bool chk_library_has(struct chk_library *library, const struct emu_program *program, uint32_t index)
{
    enum { UNKNOWN, OWN, LIBRARY };
    const struct isa_object *object = emu_program_object(program);

    if (library->program != program) {
        forget(library);
        library->known = calloc((size_t)object->text_count + 1, 1);
        library->texts = calloc((size_t)object->file_count + 1, sizeof *library->texts);
        library->no_text = calloc((size_t)object->file_count + 1, sizeof *library->no_text);
        if (library->known == NULL || library->texts == NULL || library->no_text == NULL) {
            forget(library);
            return false; /* if memory is short, the code counts as code of the kernel: an unnecessary finding is better than
                           * a missing one */
        }
        library->program = program;
        library->file_count = object->file_count;
    }
    if (library->known[index] == UNKNOWN)
        library->known[index] = look(library, index) ? LIBRARY : OWN;
    return library->known[index] == LIBRARY;
}

void chk_library_fini(struct chk_library *library)
{
    forget(library);
}
