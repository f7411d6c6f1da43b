/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the texts of a source and its headers, in which ptx_assigned.c and ptx_initialisers.c search. Blanks replace comments, so
 * that lines keep their numbers. If the source uses the preprocessor, the texts are the output of clang's preprocessor, in
 * which each line is put at the number that debug information has for it. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ptx/compiler/ptx_values_priv.h"
#include "ptx/compiler/source/ptx_source_priv.h"

size_t ptx_src_after_literal(const char *text, size_t size, size_t i)
{
    const char quote = text[i];

    for (i++; i < size && text[i] != quote && text[i] != '\n'; i++)
        i += text[i] == '\\';
    return i < size && text[i] == quote ? i + 1 : i;
}

size_t ptx_src_after_comment(const char *text, size_t size, size_t i)
{
    const char next = i + 1 < size ? text[i + 1] : 0;

    if (text[i] != '/' || (next != '/' && next != '*'))
        return i;
    for (i += 2; next == '*' && i < size; i++) {
        size_t end = i + 1;

        while (text[i] == '*' && end + 1 < size && text[end] == '\\') /* a backslash may continue the line between "*" and "/" */
            end += text[end + 1] == '\r' ? 3 : 2;
        if (text[i] == '*' && end < size && text[end] == '/')
            return end + 1;
    }
    if (next == '*')
        return size;
    while (i < size && (text[i] != '\n' || text[i - 1] == '\\' || (text[i - 1] == '\r' && text[i - 2] == '\\')))
        i++; /* a backslash at the end of a line continues the comment */
    return i;
}

static void blank_comments(char *text, size_t size)
{
    if (size == 0 || memmem(text, size, "R\"", 2) != NULL)
        return;
    for (size_t i = 0; i < size;) {
        const size_t end = ptx_src_after_comment(text, size, i);

        if (end != i) {
            for (; i < end; i++)
                text[i] = text[i] == '\n' ? '\n' : ' ';
        } else if (text[i] == '"' || (text[i] == '\'' && (i == 0 || text[i - 1] < '0' || text[i - 1] > '9'))) {
            i = ptx_src_after_literal(text, size, i); /* a quote after a digit separates digits of a number */
        } else {
            i++;
        }
    }
}

/* Returns true if @word is in the text, and is no part of a longer word. */
static bool has_word(const char *text, size_t size, const char *word, size_t length)
{
    for (const char *p = text, *end = text + size; length != 0 && (p = memmem(p, (size_t)(end - p), word, length)) != NULL; p++)
        if ((p == text || !is_word(p[-1])) && (p + length == end || !is_word(p[length])))
            return true;
    return false;
}

/* ---- files ---------------------------------------------------------------------------------------------- */

enum { MOST_LINES = 1 << 22 }; /* largest sum of the numbers of lines of all files */

/* Reads a file, and replaces comments by blanks. The text is empty if the file cannot be read. Leaves out the first line, which
 * names the source, if ptx_compile_text.c has written it. Returns the name, which the caller frees, or NULL. */
static char *read_file(const char *path, char **text, size_t *size)
{
    static const char first[] = "#line 1 \"";
    struct text rest, line;
    char *name = NULL;

    *text = NULL;
    *size = 0;
    if (lw_file_read(path, text, size, NULL) != LW_OK)
        *size = 0;
    rest = (struct text){*text, *text + *size};
    if (*size >= sizeof first && memcmp(*text, first, sizeof first - 1) == 0) {
        line = take_line(&rest);
        line.at += sizeof first - 1;
        if (line.end > line.at && line.end[-1] == '"')
            name = strndup(line.at, (size_t)(line.end - 1 - line.at));
        *size = (size_t)(rest.end - rest.at);
        memmove(*text, rest.at, *size);
        (*text)[*size] = '\0';
    }
    blank_comments(*text, *size);
    return name;
}

/* Appends a file without text, which takes @name. Returns NULL if the host has too little memory. */
static struct ptx_source_file *add_file(struct ptx_sources *sources, char *name, const char *path)
{
    struct ptx_source_file *file = NULL;
    char *copy = strdup(path);

    if (sources->count == sources->capacity) {
        const size_t capacity = sources->capacity != 0 ? 2 * sources->capacity : 16;
        void *grown = realloc(sources->files, capacity * sizeof *sources->files);

        sources->files = grown != NULL ? grown : sources->files;
        sources->capacity = grown != NULL ? capacity : sources->capacity;
    }
    if (name != NULL && copy != NULL && sources->count < sources->capacity) {
        file = &sources->files[sources->count++];
        *file = (struct ptx_source_file){.name = name, .path = copy, .reached = 1};
        lw_buffer_init(&file->text);
        return file;
    }
    free(name);
    free(copy);
    return NULL;
}

void ptx_sources_read(struct ptx_sources *sources, const char *path, const char *const *argv)
{
    const size_t length = strlen(path);
    struct ptx_source_file *file;
    char *text, *name;
    size_t size;

    *sources = (struct ptx_sources){.is_cpp = length > 3 && strcmp(path + length - 3, ".cu") == 0};
    for (size_t i = 0; argv[i] != NULL; i++)
        sources->is_cpp |= strncmp(argv[i], "-cl-std=", 8) == 0 && strstr(argv[i], "++") != NULL;
    name = read_file(path, &text, &size);
    file = add_file(sources, name != NULL ? name : strdup(path), path);
    if (file != NULL)
        file->text.sink.write(&file->text.sink, text, size);
    free(text);
}

static void forget_files(struct ptx_sources *sources)
{
    for (size_t i = 0; i < sources->count; i++) {
        struct ptx_source_file *file = &sources->files[i];

        if (file->is_ready)
            ptx_assigned_forget(&file->assigned);
        lw_buffer_fini(&file->text);
        free(file->name);
        free(file->path);
        free(file->cuts);
    }
    sources->count = 0;
    for (size_t i = 0; i < LW_COUNT_OF(sources->found); i++) {
        free(sources->found[i].name);
        sources->found[i].name = NULL;
    }
}

void ptx_sources_free(struct ptx_sources *sources)
{
    forget_files(sources);
    free(sources->files);
    *sources = (struct ptx_sources){0};
}

/* Returns true if an option of the compiler may define macros that the option does not name. */
static bool reads_macros(const char *option)
{
    static const char *const options[] = {"-include", "-imacros", "-Wp,", "-Xpreprocessor", "--", "@"};

    for (size_t k = 0; k < LW_COUNT_OF(options); k++)
        if (strncmp(option, options[k], strlen(options[k])) == 0)
            return true;
    return false;
}

bool ptx_sources_are_preprocessed(const struct ptx_sources *sources, const char *const *argv)
{
    static const struct {
        const char *text;
        size_t size;
    } marks[] = {{"#", 1}, {"%:", 2}, {"?\?", 2}, {"\\", 1}, {"", 1}}; /* directives, continued lines, and a zero byte */
    const struct lw_buffer *text = sources->count != 0 ? &sources->files[0].text : NULL;

    if (text == NULL || text->size == 0)
        return true;
    for (size_t i = 0; i < LW_COUNT_OF(marks); i++)
        if (memmem(text->text, text->size, marks[i].text, marks[i].size) != NULL)
            return false;
    for (size_t i = 0; argv[i] != NULL; i++) {
        const char *name = argv[i] + 2;

        if (reads_macros(argv[i]))
            return false;
        if (strncmp(argv[i], "-D", 2) != 0 && strncmp(argv[i], "-U", 2) != 0)
            continue;
        if (*name == '\0')
            name = argv[i + 1] != NULL ? argv[i + 1] : "";
        if (has_word(text->text, text->size, name, strcspn(name, "(=")))
            return false;
    }
    return true;
}

/* ---- the output of the preprocessor ------------------------------------------------------------------------ */

static bool is_empty(struct text line)
{
    while (line.at < line.end && strchr(" \t\r\v\f", *line.at) != NULL)
        line.at++;
    return line.at == line.end;
}

/* Returns true if the line begins a preprocessor directive. */
static bool is_directive(struct text line)
{
    skip_blanks(&line);
    return line.at < line.end && (*line.at == '#' || (*line.at == '%' && line.end - line.at > 1 && line.at[1] == ':'));
}

static bool is_continued(struct text line)
{
    while (line.end > line.at && line.end[-1] == '\r')
        line.end--;
    return line.end > line.at && line.end[-1] == '\\';
}

static struct ptx_source_file *find_file(struct ptx_sources *sources, const char *name, size_t size)
{
    for (size_t i = sources->count; i-- != 0;)
        if (strlen(sources->files[i].name) == size && memcmp(sources->files[i].name, name, size) == 0)
            return &sources->files[i];
    return NULL;
}

/* Reads a line of the output such as `# 12 "k.cl" 2`, which gives the file and the number of the next line. Other directives
 * count as a line. Returns the index of the file, or SIZE_MAX for text that is in no file. */
static size_t take_marker(struct ptx_sources *sources, struct text line, size_t current, unsigned *number)
{
    const struct ptx_source_file *before = current != SIZE_MAX ? &sources->files[current] : NULL, *file;
    char *digits_end;
    const char *name;

    line.at++;
    skip_blanks(&line);
    const unsigned long value = strtoul(line.at, &digits_end, 10);
    const char *quote = memchr(line.at, '"', (size_t)(line.end - line.at));

    if (digits_end == line.at || quote == NULL) {
        ++*number;
        return current;
    }
    *number = value < 1u << 24 ? (unsigned)value : 1u << 24;
    const char *end = line.end;

    name = quote + 1;
    while (line.end > name && line.end[-1] != '"')
        line.end--;
    if (line.end <= name + 1 || *name == '<')
        return SIZE_MAX;
    const size_t size = (size_t)(line.end - 1 - name);

    file = find_file(sources, name, size);
    if (file == NULL) {
        /* A name at the start of a file is from the directive that ptx_compile_text.c has written. */
        char *copy = strndup(name, size);
        const bool renamed = before != NULL && before->text.size == 0 && value == 1 && line.end == end;

        file = add_file(sources, copy, renamed ? before->path : copy != NULL ? copy : "");
    }
    return file != NULL ? (size_t)(file - sources->files) : SIZE_MAX;
}

/* Notes that text of another file is inside the text of a file. */
static void cut(struct ptx_source_file *file)
{
    size_t *grown = (file->cut_count & (file->cut_count - 1)) == 0
                        ? realloc(file->cuts, (2 * file->cut_count + 1) * sizeof *grown)
                        : file->cuts;

    if (grown == NULL) {
        file->is_unknown = true;
        return;
    }
    file->cuts = grown;
    file->cuts[file->cut_count++] = file->text.size;
}

/* Distributes the lines of the output to its files. A file whose lines are not in the order of their numbers has no text. */
static void copy_lines(struct ptx_sources *sources, struct text output)
{
    size_t current = SIZE_MAX;
    unsigned number = 1, lines = 0;

    while (output.at < output.end) {
        const struct text line = take_line(&output);

        if (line.at < line.end && *line.at == '#') {
            const size_t before = current;

            current = take_marker(sources, line, current, &number);
            if (before != current && before != SIZE_MAX)
                cut(&sources->files[before]);
            continue;
        }
        if (!is_empty(line) && current != SIZE_MAX) {
            struct ptx_source_file *file = &sources->files[current];

            file->is_unknown |= number < file->reached || number - file->reached > MOST_LINES - lines;
            for (; file->reached < number && !file->is_unknown; file->reached++, lines++)
                lw_put(&file->text.sink, "\n");
            file->text.sink.write(&file->text.sink, line.at, (size_t)(line.end - line.at));
            lw_put(&file->text.sink, " ");
        }
        number++;
    }
}

/* Returns true if a text contains neither the begin of a statement nor an operator that changes a variable. */
static bool is_plain(const char *at, const char *end)
{
    static const char *const words[] = {"asm",   "__asm__", "break", "case",   "continue", "default", "do",   "else",
                                        "for",   "goto",    "if",    "return", "switch",   "while"};

    for (const char *p = at; p < end; p++) {
        const char next = p + 1 < end ? p[1] : ' ';

        if (strchr(";{}", *p) != NULL && !is_empty((struct text){p + 1, end}))
            return false;
        if ((*p == '=' && next != '=') || (strchr("+-", *p) != NULL && next == *p) || (*p == '&' && next != '&') ||
            (strchr("<>", *p) != NULL && next == *p && end - p > 2 && p[2] == '='))
            return false;
        p += strchr("=<>!&", *p) != NULL && (next == '=' || next == '&'); /* "==", "<=", ">=", "!=", "&&" */
    }
    for (size_t i = 0; i < LW_COUNT_OF(words); i++)
        if (has_word(at, (size_t)(end - at), words[i], strlen(words[i])))
            return false;
    return true;
}

/* Returns true if the preprocessor may have moved a change of a variable, or a statement, to an earlier line. It writes a call of a
 * macro that has several lines, and the text after the call, on the first line of the call. Debug information has this line for the
 * call, too, but not for the text after it. The preprocessor also joins lines that a backslash continues, and lines that a comment
 * separates. @is_cpp: a call may change its arguments. */
static bool has_moved(struct text source, struct text output, bool is_cpp)
{
    bool directive = true; /* directives precede the line, after the last line that is not empty in the output */
    bool continued = false, in_directive = false;

    while (source.at < source.end) {
        const struct text line = take_line(&source), result = take_line(&output);

        in_directive = is_directive(line) || (in_directive && continued);
        continued = is_continued(line);
        directive = in_directive || (directive && is_empty(result));
        if (!directive && is_empty(result) && !is_empty(line) &&
            (!is_plain(line.at, line.end - continued) || (is_cpp && memchr(line.at, '(', (size_t)(line.end - line.at)) != NULL)))
            return true;
    }
    return false;
}

/* Returns true if the source contains a directive @word, or, if @word is NULL, a directive that changes the numbers of lines. */
static bool has_directive(struct text source, const char *word)
{
    while (source.at < source.end) {
        struct text line = take_line(&source);

        if (!is_directive(line))
            continue;
        while (line.at < line.end && strchr("# \t%:", *line.at) != NULL)
            line.at++;
        if (word == NULL && line.at < line.end && isdigit((unsigned char)*line.at))
            return true;
        if (strncmp(line.at, word != NULL ? word : "line", word != NULL ? strlen(word) : 4) == 0)
            return true;
    }
    return false;
}

/* Returns true if the command line may define macros with parameters that the text uses. */
static bool has_calls(const struct lw_buffer *text, const char *const *argv)
{
    for (size_t i = 0; argv[i] != NULL; i++) {
        const char *name = argv[i] + (strncmp(argv[i], "-D", 2) == 0 ? 2 : 0);

        if (reads_macros(argv[i]) ||
            (name[strcspn(name, "(=")] == '(' && has_word(text->text, text->size, name, strcspn(name, "(="))))
            return true;
    }
    return false;
}

void ptx_sources_preprocessed(struct ptx_sources *sources, const char *const *argv, const char *output, size_t size)
{
    if (size == 0) { /* the preprocessor has failed */
        for (size_t i = 0; i < sources->count; i++)
            sources->files[i].is_unknown = true;
        return;
    }
    if (sources->count != 0) {
        const struct lw_buffer *text = &sources->files[0].text;
        const struct text source = {text->text, text->text + text->size};

        sources->had_output = has_directive(source, NULL) && !has_directive(source, "define") && !has_directive(source, "include") &&
                              !has_directive(source, "import") && !has_calls(text, argv);
    }
    forget_files(sources);
    copy_lines(sources, (struct text){output, output + size});
    sources->is_output = true;
}

/* Returns the index of the file whose path ends with @name, or SIZE_MAX if no file or several files have such a path. */
static size_t search_file(const struct ptx_sources *sources, const char *name, size_t size)
{
    size_t file = SIZE_MAX;

    for (size_t i = 0; i < sources->count; i++) { /* debug information may have the last parts of a path */
        const char *whole = sources->files[i].name;
        const size_t length = strlen(whole);

        if (length < size || memcmp(whole + length - size, name, size) != 0 || (length > size && whole[length - size - 1] != '/'))
            continue;
        if (file != SIZE_MAX)
            return SIZE_MAX;
        file = i;
    }
    return file;
}

struct ptx_assigned *ptx_sources_find(struct ptx_sources *sources, const char *name, size_t size)
{
    struct ptx_sources_found *found;
    struct lw_hash hash;

    lw_hash_init(&hash);
    lw_hash_bytes(&hash, name, size);
    found = &sources->found[lw_hash_value(&hash) % LW_COUNT_OF(sources->found)];
    if (found->name == NULL || found->size != size || memcmp(found->name, name, size) != 0) {
        free(found->name);
        *found = (struct ptx_sources_found){ .name = strndup(name, size), .size = size, .file = search_file(sources, name, size) };
    }
    return found->file != SIZE_MAX ? ptx_sources_prepare(sources, &sources->files[found->file]) : NULL;
}

struct ptx_assigned *ptx_sources_prepare(struct ptx_sources *sources, struct ptx_source_file *file)
{
    if (!file->is_ready && sources->is_output && !sources->had_output) {
        const struct text text = {file->text.text, file->text.text + file->text.size};
        size_t size;
        char *source;

        free(read_file(file->path, &source, &size));
        file->is_unknown |= size == 0 || memmem(source, size, "/\\", 2) != NULL ||
                            has_directive((struct text){source, source + size}, NULL) ||
                            has_moved((struct text){source, source + size}, text, sources->is_cpp);
        free(source);
    }
    if (!file->is_ready) {
        const size_t size = file->is_unknown || file->text.is_cut ? 0 : file->text.size;

        ptx_assigned_read(&file->assigned, file->text.text, size, sources->is_cpp);
        for (size_t i = 0; i < file->cut_count && size != 0; i++)
            if (ptx_assigned_is_in_block(&file->assigned, file->cuts[i])) { /* part of the function is in another file */
                ptx_assigned_forget(&file->assigned);
                ptx_assigned_read(&file->assigned, file->text.text, 0, sources->is_cpp);
                break;
            }
        file->is_ready = true;
    }
    return &file->assigned;
}

bool ptx_sources_are_single(const struct ptx_sources *sources, const struct ptx_source_file *file, unsigned line, const char *name,
                            size_t size)
{
    for (size_t i = 0; i < sources->count; i++) {
        const struct lw_buffer *text = &sources->files[i].text;
        struct text rest = {text->text, text->text + text->size}, one = rest;

        if (&sources->files[i] == file || sources->files[i].reached < line)
            continue;
        for (unsigned l = 0; l < line && rest.at < rest.end; l++)
            one = take_line(&rest);
        if (has_word(one.at, (size_t)(one.end - one.at), name, size))
            return false;
    }
    return true;
}
