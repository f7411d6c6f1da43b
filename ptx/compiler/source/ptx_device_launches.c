/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Replaces what clang refuses in CUDA C++, in the text that clang reads. The replacement has the lines of the original, and a virtual
 * file system of clang gives it the name of the user's file, so messages and debug information show the user's file. The bodies of
 * macros are not changed.
 * - Launches in kernels and device functions: a macro of lanewise_launch.h replaces `child<<<grid, block>>>(x)`:
 *   `LANEWISE_LAUNCH(child)(grid, block)(x)`.
 * - `alignas(...)` after a word such as __shared__, which is an attribute in the syntax of GNU: this syntax replaces it.
 * - Inline assembly of device code: nvcc accepts names of registers such as %laneid in a template with operands, where clang demands
 *   %%laneid, so the percent sign is doubled. The reference of an operand has at most one letter: %0, %c0, %[x].
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "ptx/compiler/source/ptx_source_priv.h"

enum { MOST_FILES = 256, MOST_IFS = 64 };

/* ---- the text of a file --------------------------------------------------------------------------------- */

/** Position in a text, and the blocks that contain it. */
struct scan {
    const char *text;
    size_t size, at;
    unsigned braces, brackets; /* numbers of open braces and parentheses */
    bool device, host;         /* the declaration has __device__ or __global__; it has __host__ */
    unsigned declared;         /* `brackets` at __device__ or __global__ */
    bool inside, refuses;      /* `at` is in the body of device code; the code is host code, too */
    unsigned body;             /* `braces` outside this body */
};

static bool is_at(const struct scan *s, size_t i, const char *word)
{
    const size_t size = strlen(word);

    return i + size <= s->size && memcmp(s->text + i, word, size) == 0;
}

/** Returns the index after the comment, literal or preprocessor directive at @i, or @i if there is none. */
static size_t skipped(const struct scan *s, size_t i)
{
    const char *text = s->text;
    size_t line = i, end;

    if (text[i] == '"' && i != 0 && text[i - 1] == 'R') { /* a raw string: R"x(...)x" */
        const char *open = memchr(text + i, '(', s->size - i), *close;
        char delimiter[24];
        const size_t size = open != NULL ? (size_t)(open - text) - i - 1 : SIZE_MAX;

        if (size > sizeof delimiter - 3)
            return i + 1;
        snprintf(delimiter, sizeof delimiter, ")%.*s\"", (int)size, text + i + 1);
        close = memmem(open, s->size - (size_t)(open - text), delimiter, size + 2);
        return close != NULL ? (size_t)(close - text) + size + 2 : s->size;
    }
    if (text[i] == '"' || (text[i] == '\'' && (i == 0 || !ptx_src_is_word(text[i - 1]))))
        return ptx_src_after_literal(text, s->size, i);
    end = ptx_src_after_comment(text, s->size, i);
    if (end != i || text[i] != '#')
        return end;
    while (line != 0 && (text[line - 1] == ' ' || text[line - 1] == '\t'))
        line--;
    if (line != 0 && text[line - 1] != '\n')
        return i;
    while (end < s->size && (text[end] != '\n' || text[end - 1] == '\\'))
        end++;
    return end;
}

static size_t before_blanks(const struct scan *s, size_t i)
{
    while (i != 0 && ptx_src_is_blank(s->text[i - 1]))
        i--;
    return i;
}

/** Returns the index before the template arguments "<...>" that end at @i, or @i if there are none. */
static size_t before_arguments(const struct scan *s, size_t i)
{
    unsigned angles = 0, brackets = 0;

    for (size_t k = i; k != 0; k--) {
        const char c = s->text[k - 1];

        brackets += c == ')' || c == ']';
        if ((c == '(' || c == '[') && brackets-- == 0)
            return i;
        if (brackets == 0 && (c == ';' || c == '{' || c == '}'))
            return i;
        angles += brackets == 0 && c == '>';
        if (brackets == 0 && c == '<' && --angles == 0)
            return k - 1;
        if (angles == 0 && brackets == 0)
            return i;
    }
    return i;
}

/** Returns the index of the name of a kernel that ends before @i, such as "scan::child<4>", or @i if there is no name. */
static size_t name_before(const struct scan *s, size_t i)
{
    size_t from = i;

    for (;;) {
        size_t k = before_blanks(s, before_arguments(s, before_blanks(s, from))), begin = k;

        while (begin != 0 && ptx_src_is_word(s->text[begin - 1]))
            begin--;
        if (begin == k)
            return from;
        from = begin;
        k = before_blanks(s, from);
        if (k < 2 || memcmp(s->text + k - 2, "::", 2) != 0)
            return from;
        from = k - 2; /* the name may begin with "::" */
    }
}

/** Returns the index of the ">>>" after the "<<<" at @i, or 0 if the text is no launch. */
static size_t end_of_configuration(const struct scan *s, size_t i)
{
    unsigned brackets = 0;

    for (i += 3; i < s->size; i++) {
        const size_t next = skipped(s, i);
        const char c = s->text[i];

        if (next != i) {
            i = next - 1;
            continue;
        }
        if (brackets == 0 && is_at(s, i, ">>>"))
            return i;
        brackets += c == '(' || c == '[' || c == '{';
        if (((c == ')' || c == ']' || c == '}') && brackets-- == 0) || (c == ';' && brackets == 0))
            return 0;
    }
    return 0;
}

/** Reads the word at s->at, and moves s->at to its end. */
static void read_word(struct scan *s)
{
    const size_t from = s->at;

    while (s->at < s->size && ptx_src_is_word(s->text[s->at]))
        s->at++;
    if (s->inside)
        return;
    if ((s->at - from == 10 && is_at(s, from, "__global__")) || (s->at - from == 10 && is_at(s, from, "__device__"))) {
        s->device = true;
        s->declared = s->brackets;
    }
    s->host |= s->at - from == 8 && is_at(s, from, "__host__");
}

/** Follows braces, parentheses and the ends of declarations. */
static void read_sign(struct scan *s)
{
    switch (s->text[s->at]) {
    case '(': s->brackets++; break;
    case ')': s->brackets -= s->brackets != 0; break;
    case ';':
        if (!s->inside && s->brackets == s->declared)
            s->device = s->host = false;
        break;
    case '{':
        if (!s->inside && s->device && s->brackets == s->declared) {
            s->inside = true;
            s->refuses = s->host;
            s->body = s->braces;
        }
        s->braces++;
        break;
    case '}':
        s->braces -= s->braces != 0;
        if (!s->inside || s->braces == s->body)
            s->inside = s->device = s->host = false;
        break;
    default: break;
    }
    s->at++;
}

/** Follows a directive: each branch of an #if begins with the blocks that are open at the #if. @ifs: the positions at the #ifs that
 *  are open, of which *count exist; deeper ones are not followed. */
static void read_directive(struct scan *s, struct scan *ifs, unsigned *count)
{
    const size_t at = s->at;
    size_t word = at + 1;

    while (s->text[word] == ' ' || s->text[word] == '\t')
        word++;
    if (is_at(s, word, "if") && ++*count <= MOST_IFS) {
        ifs[*count - 1] = *s;
    } else if (is_at(s, word, "el") && *count != 0 && *count <= MOST_IFS) {
        *s = ifs[*count - 1];
        s->at = at;
    } else if (is_at(s, word, "endif") && *count != 0) {
        --*count;
    }
}

/** Returns the index after an `alignas(...)` at @i that follows a word such as __shared__, and sets *@open to the index of its
 *  parenthesis. Returns 0 if there is none. */
static size_t end_of_alignment(const struct scan *s, size_t i, size_t *open)
{
    static const char *const spaces[] = {"__shared__", "__device__", "__constant__", "__managed__"};
    const size_t before = before_blanks(s, i);
    unsigned brackets = 0;
    bool follows = false;

    for (size_t k = 0; k < LW_COUNT_OF(spaces); k++)
        follows |= before >= strlen(spaces[k]) && is_at(s, before - strlen(spaces[k]), spaces[k]);
    if (!follows || !is_at(s, i, "alignas"))
        return 0;
    for (i += strlen("alignas"); i < s->size && ptx_src_is_blank(s->text[i]);)
        i++;
    if (!is_at(s, i, "("))
        return 0;
    for (*open = i; i < s->size; i++) {
        brackets += s->text[i] == '(';
        if (s->text[i] == ')' && --brackets == 0)
            return i + 1;
    }
    return 0;
}

static bool is_letter(char c)
{
    return ptx_src_is_word(c) && !(c >= '0' && c <= '9');
}

/** Returns the index after the strings of the template of inline assembly whose keyword ends at @i, or 0 if the template has no
 *  operands, or is not made of strings alone. Sets *begin to the index of the first string. */
static size_t template_after(const struct scan *s, size_t i, size_t *begin)
{
    *begin = 0;
    for (size_t next; i < s->size; i = next) {
        const char c = s->text[i];

        next = skipped(s, i);
        if (c == ':' && *begin != 0)
            return i;
        if (c == '(' && *begin == 0)
            *begin = i + 1;
        else if (next == i && *begin == 0 && !ptx_src_is_word(c) && !ptx_src_is_blank(c))
            return 0;
        else if (next == i && *begin != 0 && !ptx_src_is_blank(c) && !(c == 'R' && s->text[i + 1] == '"'))
            return 0;
        next = next != i ? next : i + 1;
    }
    return 0;
}

/** Doubles the percent signs of registers in the template of inline assembly whose keyword ends at @i. Writes the text from *copied
 *  to the end of the template to @out, and moves *copied there. Returns the number of doubled signs; if it is 0, nothing is written. */
static unsigned double_percents(const struct scan *s, size_t i, size_t *copied, struct lw_sink *out)
{
    size_t at, end = template_after(s, i, &at);
    unsigned count = 0;

    for (; end != 0 && at + 2 < end; at++) {
        if (s->text[at] != '%')
            continue;
        if (is_letter(s->text[at + 1]) && is_letter(s->text[at + 2])) {
            out->write(out, s->text + *copied, at - *copied);
            lw_put(out, "%");
            *copied = at;
            count++;
        } else if (s->text[at + 1] == '%') {
            at++;
        }
    }
    return count;
}

static bool is_asm(const struct scan *s, size_t from)
{
    static const char *const words[] = {"asm", "__asm__", "__asm"};

    for (size_t i = 0; i < LW_COUNT_OF(words); i++)
        if (s->at - from == strlen(words[i]) && is_at(s, from, words[i]))
            return s->inside;
    return false;
}

/** Writes the text with replaced launches, alignments and assembly to @out. Returns the number of replacements, or 0 if braces are
 *  left open at the end of the text: it is then uncertain which code is device code. */
static unsigned replace_all(const char *text, size_t size, struct lw_sink *out)
{
    struct scan s = {.text = text, .size = size}, ifs[MOST_IFS];
    unsigned count = 0, if_count = 0;
    size_t copied = 0;

    while (s.at < size) {
        const size_t next = skipped(&s, s.at);
        size_t name, end, open;

        if (next != s.at) {
            if (text[s.at] == '#')
                read_directive(&s, ifs, &if_count);
            s.at = next;
        } else if ((end = end_of_alignment(&s, s.at, &open)) != 0) {
            out->write(out, text + copied, s.at - copied);
            lw_put(out, "__attribute__((aligned(lanewise_alignment<");
            out->write(out, text + open + 1, end - open - 2);
            lw_put(out, ">())))");
            copied = s.at = end;
            count++;
        } else if (ptx_src_is_word(text[s.at])) {
            name = s.at;
            read_word(&s);
            if (is_asm(&s, name))
                count += double_percents(&s, s.at, &copied, out);
        } else if (!s.inside || s.refuses || !is_at(&s, s.at, "<<<") || (name = name_before(&s, s.at)) == s.at || name < copied ||
                   (end = end_of_configuration(&s, s.at)) == 0) {
            read_sign(&s);
        } else {
            out->write(out, text + copied, name - copied);
            lw_put(out, "LANEWISE_LAUNCH(");
            out->write(out, text + name, s.at - name);
            lw_put(out, ")(");
            out->write(out, text + s.at + 3, end - s.at - 3);
            lw_put(out, ")");
            copied = s.at = end + 3;
            count++;
        }
    }
    out->write(out, text + copied, size - copied);
    return s.braces == 0 ? count : 0;
}

/* ---- the files of a source ------------------------------------------------------------------------------ */

/** The files that clang may read instead of the user's. */
struct overlay {
    struct ptx_job *job;
    char *seen[MOST_FILES]; /* absolute names of files that were read */
    size_t count;
    unsigned replaced;      /* number of files in `text` */
    struct lw_buffer text;  /* description of the virtual file system: members of "roots" */
};

static void put_quoted(struct lw_sink *out, const char *text)
{
    lw_put(out, "\"");
    for (; *text != '\0'; text++)
        lw_printf(out, *text == '"' || *text == '\\' ? "\\%c" : "%c", *text);
    lw_put(out, "\"");
}

/** Returns @name in @folder as an absolute path without "." and "..", which the caller frees, or NULL. */
static char *absolute(const char *folder, const char *name)
{
    char here[PATH_MAX] = "", *path, *to;

    if (*name != '/' && *folder != '/' && getcwd(here, sizeof here) == NULL)
        return NULL;
    if (*name == '/' ? (path = strdup(name)) == NULL : asprintf(&path, "%s/%s/%s", here, folder, name) < 0)
        return NULL;
    to = path;
    for (const char *from = path; *from != '\0';) {
        const char *begin = from + (*from == '/');
        const size_t size = strcspn(begin, "/");

        if (size == 2 && memcmp(begin, "..", 2) == 0) {
            while (to != path && *--to != '/')
                continue;
        } else if (size != 0 && !(size == 1 && *begin == '.')) {
            *to++ = '/';
            memmove(to, begin, size);
            to += size;
        }
        from = begin + size;
    }
    *to = '\0';
    return path;
}

static enum lw_status add_file(struct overlay *o, const char *folder, const char *name, bool must_exist, struct lw_error *err);

/** Adds the files that the text includes by names in quotes, if they are in the folder of the including file. */
static enum lw_status add_included(struct overlay *o, const char *path, const char *text, struct lw_error *err)
{
    const char *slash = strrchr(path, '/');
    char *folder = strndup(path, (size_t)(slash - path));
    enum lw_status status = folder != NULL ? LW_OK : LW_FAIL(err, LW_ENOMEM, "the host has no memory for the name of %s", path);

    for (const char *p = text; status == LW_OK && (p = strstr(p, "include")) != NULL; p += 7) {
        const char *quote = p + 7 + strspn(p + 7, " \t"), *end;
        const char *sharp = p;

        while (sharp != text && (sharp[-1] == ' ' || sharp[-1] == '\t'))
            sharp--;
        if (sharp == text || sharp[-1] != '#' || *quote != '"' || (end = strpbrk(quote + 1, "\"\n")) == NULL || *end != '"')
            continue;
        char *name = strndup(quote + 1, (size_t)(end - quote - 1));

        status = name != NULL ? add_file(o, folder, name, false, err)
                              : LW_FAIL(err, LW_ENOMEM, "the host has no memory for the name of a file that %s includes", path);
        free(name);
    }
    free(folder);
    return status;
}

/** Reads a file once, with those that it includes, and adds it to the overlay if something in it is replaced. */
static enum lw_status add_file(struct overlay *o, const char *folder, const char *name, bool must_exist, struct lw_error *err)
{
    char *path = absolute(folder, name), *text = NULL, copy[PTX_PATH_BYTES + 32];
    enum lw_status status = LW_OK;
    struct lw_buffer out;
    size_t size = 0;

    if (path == NULL)
        return LW_FAIL(err, LW_ENOMEM, "the host has no memory for the name of %s", name);
    for (size_t i = 0; i < o->count; i++)
        if (strcmp(o->seen[i], path) == 0) {
            free(path);
            return LW_OK;
        }
    if (o->count == MOST_FILES || (status = lw_file_read(path, &text, &size, must_exist ? err : NULL)) != LW_OK) {
        free(path);
        return must_exist ? status : LW_OK;
    }
    o->seen[o->count++] = path;
    lw_buffer_init(&out);
    if ((memmem(text, size, "<<<", 3) != NULL || memmem(text, size, "alignas", 7) != NULL || memmem(text, size, "asm", 3) != NULL) &&
        replace_all(text, size, &out.sink) != 0) {
        snprintf(copy, sizeof copy, "%s/launches%u.cu", o->job->scratch, o->replaced);
        status = out.text != NULL ? lw_file_write(copy, out.text, out.size, err)
                                  : LW_FAIL(err, LW_ENOMEM, "the host has no memory for the text of %s", path);
        lw_put(&o->text.sink, o->replaced++ != 0 ? ",\n" : "");
        lw_put(&o->text.sink, "{\"type\": \"file\", \"name\": ");
        put_quoted(&o->text.sink, path);
        lw_put(&o->text.sink, ", \"external-contents\": ");
        put_quoted(&o->text.sink, copy);
        lw_put(&o->text.sink, "}");
    }
    lw_buffer_fini(&out);
    if (status == LW_OK)
        status = add_included(o, path, text, err);
    free(text);
    return status;
}

enum lw_status ptx_device_launches(struct ptx_job *job, const char *path, struct lw_error *err)
{
    struct overlay *o = calloc(1, sizeof *o);
    enum lw_status status;
    struct lw_buffer text;

    job->overlay[0] = '\0';
    if (o == NULL)
        return LW_FAIL(err, LW_ENOMEM, "the host has no memory for the files of %s", path);
    o->job = job;
    lw_buffer_init(&o->text);
    lw_buffer_init(&text);
    status = add_file(o, ".", path, true, err);
    if (status == LW_OK && o->replaced != 0) {
        lw_put(&text.sink, "{\"version\": 0, \"use-external-names\": false, \"roots\": [\n");
        lw_put(&text.sink, lw_buffer_text(&o->text));
        lw_put(&text.sink, "]}\n");
        snprintf(job->overlay, sizeof job->overlay, "%s/overlay.yaml", job->scratch);
        status = lw_file_write(job->overlay, lw_buffer_text(&text), text.size, err);
    }
    for (size_t i = 0; i < o->count; i++)
        free(o->seen[i]);
    lw_buffer_fini(&o->text);
    lw_buffer_fini(&text);
    free(o);
    return status;
}
