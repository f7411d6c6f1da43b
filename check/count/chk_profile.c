/* SPDX-License-Identifier: Apache-2.0 */
/* Writes the source of kernels with the cost of each line. */
#include "check/count/chk_count_priv.h"
#include "check/chk_priv.h"

#include <inttypes.h>
#include <stdlib.h>

/* ---- the source ------------------------------------------------------------------------------ */

struct source {
    char *data;
    const char *at; /* start of line @line */
    uint32_t line;
};

static void source_open(struct source *s, const char *file, const struct chk_counts *counts)
{
    *s = (struct source){.data = isa_source_read(counts->object, file), .line = 1};
    s->at = s->data;
}

/** Returns the next line, without its newline; NULL past the last line. */
static const char *source_next(struct source *s, size_t *size)
{
    const char *line = s->at;

    if (line == NULL || *line == '\0')
        return NULL;
    *size = strcspn(line, "\n");
    s->at = line + *size + (line[*size] == '\n');
    s->line++;
    *size -= *size != 0 && line[*size - 1] == '\r';
    return line;
}

/* ---- columns ----------------------------------------------------------------------------------- */

static const char head[] =
    "   warp insns      %  lanes   requests  parts/request  ideal |  line\n";
static const char unread[] = " (this file cannot be read: its lines are not shown)";

static void put_line(const struct chk_tally *t, uint64_t all, uint32_t line, const char *text,
                     size_t size, struct lw_sink *out)
{
    const uint64_t requests = t != NULL ? t->global.count + t->shared.count : 0;

    if (t == NULL) {
        lw_printf(out, "%61s | ", "");
    } else {
        lw_printf(out, "%13" PRIu64 " %6.2f", t->times,
                  all != 0 ? 100.0 * (double)t->times / (double)all : 0.0);
        if (t->times != 0)
            lw_printf(out, " %6.2f", (double)(t->lanes + t->others) / (double)t->times);
        else
            lw_printf(out, " %6s", "");
        if (requests != 0)
            lw_printf(out, " %10" PRIu64 " %14.2f %6.2f ", requests,
                      (double)(t->global.parts + t->shared.parts) / (double)requests,
                      (double)(t->global.least + t->shared.least) / (double)requests);
        else
            lw_printf(out, " %10s %14s %6s ", "", "", "");
        lw_put(out, " | ");
    }
    lw_printf(out, "%5" PRIu32 "  %.*s\n", line, (int)size, text);
}


/** Prints one file: all its lines, and the counts of lines with code. */
static void put_file(const struct chk_line_entry *e, size_t from, size_t end, uint64_t all,
                     struct lw_sink *out)
{
    struct source source;
    const char *text;
    size_t at = from, size;

    source_open(&source, e[from].file, e[from].counts);
    lw_printf(out, "\n%s%s\n%s", e[from].file, source.data == NULL ? unread : "", head);
    while (at < end) {
        size_t next = chk_line_end(e, end, at, false);
        struct chk_tally sum = chk_line_sum(e, at, next);

        text = NULL;
        size = 0;
        /* prints the lines without code that precede the next line with counts */
        while (source.line < e[at].line && (text = source_next(&source, &size)) != NULL)
            put_line(NULL, 0, source.line - 1, text, size, out);
        text = source.line == e[at].line ? source_next(&source, &size) : NULL;
        put_line(&sum, all, e[at].line, text != NULL ? text : "", text != NULL ? size : 0, out);
        at = next;
    }
    while ((text = source_next(&source, &size)) != NULL)
        put_line(NULL, 0, source.line - 1, text, size, out);
    free(source.data);
}

/** Prints @title, @note (unless it is NULL), and the source with its counts. @used: prints only files with executed code. */
static enum lw_status put_counters(const struct chk_counters *counters, const char *title, const char *note, bool used,
                                   struct lw_sink *out, struct lw_error *err)
{
    size_t count;
    struct chk_line_entry *e = chk_lines(counters, true, &count);
    uint64_t all = 0, lanes = 0, with_line;

    if (e == NULL || counters->chk->short_of_memory) {
        free(e);
        return LW_FAIL(err, LW_ENOMEM, "the host has no memory for a profile");
    }
    for (size_t i = 0; i < counters->count; i++) {
        const struct chk_counts *c = counters->programs[i];

        for (uint32_t k = 0; k < c->object->text_count && c->tally != NULL; k++) {
            all += c->tally[k].times;
            lanes += c->tally[k].lanes + c->tally[k].others;
        }
    }
    with_line = chk_line_sum(e, 0, count).times;
    lw_printf(out, "%s: %" PRIu64 " warp instructions, %.2f lanes each", title, all,
              all != 0 ? (double)lanes / (double)all : 0.0);
    if (with_line != all)
        lw_printf(out, "; %" PRIu64 " have no source line", all - with_line);
    lw_put(out, "\n");
    if (note != NULL)
        lw_printf(out, "%s\n", note);
    for (size_t file = 0, end; file < count; file = end) {
        end = chk_line_end(e, count, file, true);
        if (!used || chk_line_sum(e, file, end).times != 0)
            put_file(e, file, end, all, out);
    }
    free(e);
    return LW_OK;
}

enum lw_status chk_write_profile(const struct chk *chk, const char *run, struct lw_sink *out,
                                 struct lw_error *err)
{
    const struct chk_counters *counters = chk_state(chk, &chk_count_observer);
    char room[ISA_SYMBOL_BYTES];
    struct lw_buffer title;
    enum lw_status status = LW_OK;

    lw_buffer_init(&title);
    lw_printf(&title.sink, "Profile of %s", run);
    if (!counters->by_launch || counters->chk->short_of_memory)
        status = put_counters(counters, lw_buffer_text(&title), chk->ended, false, out, err);
    else
        lw_printf(out, "%s, by launch: %zu launch%s\n%s%s", lw_buffer_text(&title),
                  counters->launch_count, counters->launch_count == 1 ? "" : "es",
                  chk->ended != NULL ? chk->ended : "", chk->ended != NULL ? "\n" : "");
    for (size_t i = 0; counters->by_launch && i < counters->launch_count && status == LW_OK; i++) {
        const struct chk_launch_counts *l = &counters->launches[i];

        lw_buffer_clear(&title);
        if (l->grid == 0)
            lw_printf(&title.sink, "\nAll later launches");
        else
            lw_printf(&title.sink, "\nLaunch %u, kernel %s, grid (%u,%u,%u), block (%u,%u,%u)", l->grid,
                      isa_symbol_text(l->kernel->name, room), l->size[0], l->size[1], l->size[2], l->block[0],
                      l->block[1], l->block[2]);
        status = put_counters(l->counters, lw_buffer_text(&title), NULL, true, out, err);
    }
    lw_buffer_fini(&title);
    return status;
}

/* ---- reading a profile -------------------------------------------------------------------------- */

bool chk_profile_count(const char *profile, const char *file, uint32_t line, uint64_t *count)
{
    const size_t size = strlen(file);
    bool inside = false, found = false;

    *count = 0;
    for (const char *at = profile, *next; at != NULL; at = next) {
        const char *end = strchr(at, '\n'), *bar;
        char *number;

        next = end != NULL ? end + 1 : NULL;
        if (next != NULL && strncmp(next, head, sizeof head - 1) == 0) { /* this line names the next file */
            inside = strncmp(at, file, size) == 0 && (at + size == end || strncmp(at + size, unread, sizeof unread - 1) == 0);
            continue;
        }
        const uint64_t here = strtoull(at, &number, 10);
        if (!inside || number == at || end == NULL || (bar = memchr(at, '|', (size_t)(end - at))) == NULL ||
            strtoul(bar + 1, NULL, 10) != line)
            continue;
        *count += here;
        found = true;
    }
    return found;
}
