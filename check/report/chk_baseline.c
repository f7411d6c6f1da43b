/* SPDX-License-Identifier: Apache-2.0 */
/* Writes the findings as a list of suppressions. A run with this list reports only new findings. */
#include "check/chk_priv.h"

/** Prints @key and a quoted shell pattern that matches only @text, except that "?" replaces invalid bytes. */
static void put_pattern(const char *key, const char *text, struct lw_sink *out)
{
    struct lw_buffer pattern;

    lw_buffer_init(&pattern);
    while (*text != '\0') {
        const unsigned bytes = lw_utf8(text);

        if (bytes == 0)
            lw_put(&pattern.sink, "?");
        else
            lw_printf(&pattern.sink, "%s%.*s", strchr("\\*?[", *text) != NULL ? "\\" : "", (int)bytes, text);
        text += bytes != 0 ? bytes : 1;
    }
    lw_printf(out, ", %s: ", key);
    lw_put_json(out, lw_buffer_text(&pattern));
    lw_buffer_fini(&pattern);
}

static bool same_row(const struct chk *chk, const struct chk_finding *f, const struct chk_finding *g)
{
    const struct chk_call a = chk_report_location(chk, &f->location), b = chk_report_location(chk, &g->location);

    return f->kind == g->kind && a.line == b.line && strcmp(a.file, b.file) == 0 &&
           strcmp(f->location.kernel, g->location.kernel) == 0 &&
           (a.line != 0 || strcmp(f->allocation, g->allocation) == 0);
}

void chk_write_baseline(const struct chk *chk, const char *run, const char *version, struct lw_sink *out)
{
    const struct chk_finding *f, *before = NULL;
    char room[ISA_SYMBOL_BYTES];

    lw_put(out, "# Suppressed findings of ");
    lw_put_json(out, run); /* a name may contain a newline */
    lw_printf(out, ", written by lanewise %s for --check-suppress. Add a comment that says why a finding is suppressed.\n",
              version);
    if (chk->beyond != 0)
        lw_printf(out, "# Findings above the limit were dropped (occurrences, counted by lane: %u); a larger --max-findings "
                       "keeps them.\n",
                  chk->beyond);
    for (unsigned i = 0; (f = chk_get(chk, i)) != NULL; i++) {
        const struct chk_call at = chk_report_location(chk, &f->location);

        if (f->suppressed || (before != NULL && same_row(chk, before, f)))
            continue;
        before = f;
        lw_printf(out, "- {kind: %s", chk_kinds[f->kind].name);
        if (f->location.kernel[0] != '\0')
            put_pattern("kernel", isa_symbol_text(f->location.kernel, room), out);
        if (at.file[0] != '\0')
            put_pattern("file", at.file, out);
        if (at.line != 0)
            lw_printf(out, ", line: %u", at.line);
        else if (f->allocation[0] != '\0')
            put_pattern("allocation", f->allocation, out);
        lw_put(out, "}\n");
    }
}
