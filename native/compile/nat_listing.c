/* SPDX-License-Identifier: Apache-2.0 */
/* Writes a listing from LLVM's assembly, in which directives `.loc` name the kernel's instructions (emit/nat_lines.c). */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "native/nat_process_priv.h"

/** Source files that the listing has read. */
struct file {
    const char *name; /* a file name of the object */
    char *text;       /* owned; NULL: the file cannot be read */
};
struct writer {
    const struct nat_listing *listing;
    const struct isa_object *object;
    const struct nat_job *job;
    const struct isa_insn *insn; /* [job->count] */
    struct file file[16];
    unsigned files;
    const struct isa_line *line; /* source line that was printed last, or NULL */
    uint32_t at;                 /* 1 + index of the instruction whose host code is being listed; 0: none */
    bool printed;                /* instruction `at` has been printed */
};
enum { LEFT_COLUMN = 52 };

static const char *text_of(struct writer *w, const char *name)
{
    for (unsigned i = 0; i < w->files; i++)
        if (w->file[i].name == name)
            return w->file[i].text;
    if (w->files == LW_COUNT_OF(w->file))
        return NULL;
    w->file[w->files] = (struct file){name, isa_source_read(w->object, name)};
    return w->file[w->files++].text;
}

static void put_source(struct writer *w, const struct isa_line *line)
{
    const char *name = w->object->files[line->file], *text = text_of(w, name);
    struct lw_sink *out = w->listing->out;
    uint64_t count;

    for (uint32_t n = 1; text != NULL && n < line->line; n++)
        text = (text = strchr(text, '\n')) != NULL ? text + 1 : NULL;
    lw_printf(out, "\n%s:%" PRIu32 ":", name, line->line);
    if (w->listing->count != NULL && w->listing->count(w->listing->context, name, line->line, &count))
        lw_printf(out, " [%" PRIu64 " warp instructions]", count);
    if (text != NULL)
        lw_printf(out, " %.*s", (int)strcspn(text, "\r\n"), text);
    lw_put(out, "\n");
}

static bool put_offset(void *context, uint64_t address, char *text, size_t size)
{
    (void)context;
    snprintf(text, size, "+0x%" PRIx64, address);
    return true;
}

/** Prints a line of assembly, and before it the instruction to which the line belongs, unless that is printed already. */
static void put_host(struct writer *w, const char *text, size_t size)
{
    struct lw_buffer left;

    lw_buffer_init(&left);
    if (w->at != 0 && !w->printed) {
        const uint32_t i = w->at - 1;
        const struct isa_line *line = isa_object_line_at(w->object, w->job->first + i);
        if (line != NULL && (w->line == NULL || line->line != w->line->line || line->file != w->line->file)) {
            put_source(w, line);
            w->line = line;
        }
        lw_printf(&left.sink, "+0x%04" PRIx32 "  ", i * (uint32_t)sizeof(struct isa_word));
        isa_insn_print(&w->insn[i], i * sizeof(struct isa_word), put_offset, NULL, &left.sink);
        w->printed = true;
    } else if (w->at == 0 && !w->printed) {
        lw_put(&left.sink, "(code of no single instruction)");
        w->printed = true;
    }
    if (left.size > LEFT_COLUMN) { /* a long instruction has a line of its own */
        lw_printf(w->listing->out, "%s\n", lw_buffer_text(&left));
        left.size = 0;
    }
    lw_printf(w->listing->out, "%-*s | ", LEFT_COLUMN, left.size != 0 ? lw_buffer_text(&left) : "");
    for (size_t i = 0; i < size; i++)
        lw_printf(w->listing->out, "%c", text[i] == '\t' ? ' ' : text[i]);
    lw_put(w->listing->out, "\n");
    lw_buffer_fini(&left);
}

/** Lists one line of LLVM's assembly. */
static void put_line(struct writer *w, const char *text, size_t size)
{
    static const char loc[] = "\t.loc\t", label[] = ".LBB";
    char *end;

    if (size > sizeof loc && memcmp(text, loc, sizeof loc - 1) == 0) {
        (void)strtoul(text + sizeof loc - 1, &end, 10); /* the number of the file */
        const unsigned long line = strtoul(end, NULL, 10);
        if (line <= w->job->count && line != w->at) {
            w->at = (uint32_t)line;
            w->printed = false;
        }
    } else if (size > sizeof label && memcmp(text, label, sizeof label - 1) == 0) {
        put_host(w, text, strcspn(text, ":") + 1);
    } else if (size > 1 && text[0] == '\t' && text[1] != '.' && text[1] != '#') {
        put_host(w, text + 1, size - 1);
    }
}

void nat_listing_write(const struct nat_listing *listing, const struct isa_object *object, const char *kernel, const struct nat_job *job,
                       const struct isa_insn *insn, const char *assembly)
{
    struct writer w = {.listing = listing, .object = object, .job = job, .insn = insn};
    struct lw_sink *out = listing->out;

    lw_printf(out, "kernel %s, block %" PRIu32 " x %" PRIu32 " x %" PRIu32 ", warps of %u lanes: %s\n", kernel, job->block[0],
              job->block[1], job->block[2], job->width, job->masked ? "code for some lanes of a warp" : "code for whole warps");
    for (const char *end; *assembly != '\0'; assembly = *end != '\0' ? end + 1 : end) {
        end = assembly + strcspn(assembly, "\n");
        if (strncmp(assembly, "\t.section\t.debug", 16) == 0)
            break;
        if (strncmp(assembly, "\t.cfi_startproc", 15) == 0) { /* a function begins */
            w.at = 0;
            w.printed = false;
            lw_put(out, "\n");
        }
        put_line(&w, assembly, (size_t)(end - assembly));
    }
    lw_put(out, "\n");
    for (unsigned i = 0; i < w.files; i++)
        free(w.file[i].text);
}
