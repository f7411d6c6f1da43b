/* SPDX-License-Identifier: Apache-2.0 */
/* Writes findings as text, JSON, JUnit XML and SARIF 2.1.0. chk_baseline.c writes baselines. */
#include "check/chk_priv.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <strings.h>

/** Prints text of an XML attribute or element. Characters that XML 1.0 cannot represent become "?". */
static void put_xml(struct lw_sink *out, const char *text)
{
    while (*text != '\0') {
        const unsigned bytes = lw_utf8(text);
        const unsigned char c = (unsigned char)*text;

        if (c == '<')
            lw_put(out, "&lt;");
        else if (c == '&')
            lw_put(out, "&amp;");
        else if (c == '"')
            lw_put(out, "&quot;");
        else if (c == '>')
            lw_put(out, "&gt;");
        else if (bytes == 0 || c < ' ' || c == 0x7f || strncmp(text, "\xef\xbf\xbe", 3) == 0 ||
                 strncmp(text, "\xef\xbf\xbf", 3) == 0)
            lw_put(out, "?");
        else
            lw_printf(out, "%.*s", (int)bytes, text);
        text += bytes != 0 ? bytes : 1;
    }
}

/** Returns the location that reports show first, as chk_report_location() does, but with the file named as in the program. */
static struct chk_call shown(const struct chk_location *location)
{
    if (location->line == 0 || chk_is_foreign(location->file))
        for (unsigned i = 0; i < location->call_count; i++)
            if (location->calls[i].line != 0 && !chk_is_foreign(location->calls[i].file))
                return location->calls[i];
    return (struct chk_call){"", location->file, location->line, false};
}

/** Returns true if a location is in a file of the system or a compiler, and reports show another line first. */
static bool is_in_header(const struct chk_location *p)
{
    const struct chk_call first = shown(p);

    return p->line != 0 && (first.line != p->line || strcmp(first.file, p->file) != 0);
}

/** Prints a location. @other: the name for the second location of a finding; NULL: this is the first location, whose line is
 *  already printed. @whole: prints block, warp and lanes, too; otherwise the location is common to all warps that executed
 *  the instruction. */
static void put_location(const struct chk_location *p, const char *other, bool whole, struct lw_sink *out)
{
    const struct chk_call first = shown(p);
    const char *separator = ";"; /* before the first call */
    char room[ISA_SYMBOL_BYTES];

    if (p->kernel[0] == '\0')
        return;
    if (other != NULL && first.line != 0) {
        lw_printf(out, "; %s at %s:%u", other, first.file, first.line);
        separator = "";
    }
    if (is_in_header(p)) {
        lw_printf(out, "%s at %s:%u", other != NULL ? "," : ";", p->file, p->line);
        separator = "";
    }
    for (unsigned i = 0; i < p->call_count; i++)
        lw_printf(out, "%s in %s, %s at %s:%u", i != 0 ? "," : separator,
                  p->calls[i].function[0] != '\0' ? isa_symbol_text(p->calls[i].function, room) : "a function",
                  p->calls[i].called ? "called" : "inlined", p->calls[i].file, p->calls[i].line);
    lw_printf(out, "; kernel %s", isa_symbol_text(p->kernel, room));
    if (whole)
        lw_printf(out, ", block (%u,%u,%u), warp %u, lanes 0x%" PRIx64, p->block[0], p->block[1],
                  p->block[2], p->warp, p->lanes);
    lw_printf(out, ", pc 0x%" PRIx64, p->pc);
    if (p->function[0] != '\0' && strcmp(p->function, p->kernel) != 0)
        lw_printf(out, " in %s", isa_symbol_text(p->function, room));
}

/** Prints a finding in one line, without newline, and without the file and line with which chk_print() begins. */
static void put_line(const struct chk_finding *f, struct lw_sink *out)
{
    const bool warp = chk_kinds[f->kind].group != CHK_CLASS_PERFORMANCE;

    lw_printf(out, "%s: %s", chk_kinds[f->kind].name, f->message);
    put_location(&f->location, NULL, warp, out);
    put_location(&f->other, chk_kinds[f->kind].group == CHK_CLASS_RACES ? "previous access" : "other location", warp, out);
    if (f->count > 1)
        lw_printf(out, "; %" PRIu64 " times", f->count);
}

/** Prints the values of variables of a finding, after @before, or nothing if there are none. */
static void put_values(const struct chk_finding *f, const char *before, struct lw_sink *out)
{
    for (unsigned i = 0; i < f->value_count; i++) {
        if (i == 0)
            lw_printf(out, "%slane %u: ", before, f->value_lane);
        lw_printf(out, "%s%s = %s", i != 0 ? ", " : "", f->values[i].name, f->values[i].text);
    }
}

void chk_print(const struct chk_finding *f, struct lw_sink *out)
{
    const struct chk_call first = shown(&f->location);
    struct lw_buffer text;

    lw_buffer_init(&text);
    if (first.line != 0)
        lw_printf(&text.sink, "%s:%u: ", first.file, first.line);
    else if (f->location.kernel[0] == '\0' && f->location.file[0] != '\0') /* the finding is at a host step that has
                                                                            * no line */
        lw_printf(&text.sink, "%s: ", f->location.file);
    put_line(f, &text.sink);
    lw_put_relative(out, lw_buffer_text(&text), NULL);
    lw_buffer_fini(&text);
}

void chk_print_values(const struct chk_finding *f, struct lw_sink *out)
{
    chk_print(f, out);
    put_values(f, "\n    ", out);
}

/* text for reports: findings were dropped because of the limit --max-findings */
#define BEYOND "findings above the limit were dropped (occurrences, counted by lane: %u); a larger --max-findings keeps them"

static void put_text(const struct chk *chk, const char *run, bool how_ended, struct lw_sink *out)
{
    const struct chk_finding *f;
    unsigned n = chk_count(chk);

    for (unsigned i = 0; (f = chk_get(chk, i)) != NULL; i++) {
        if (f->suppressed)
            continue;
        chk_print_values(f, out);
        lw_put(out, "\n");
    }
    if (chk->ended_kind != NULL && how_ended) {
        lw_put_relative(out, chk->ended, NULL);
        lw_put(out, "\n");
    }
    lw_printf(out, "%s: %u finding%s", run, n, n == 1 ? "" : "s");
    if (chk->suppressed != 0)
        lw_printf(out, ", %u suppressed", chk->suppressed);
    if (chk->beyond != 0)
        lw_printf(out, "; " BEYOND, chk->beyond);
    lw_put(out, "\n");
}

static void write_text(const struct chk *chk, const char *run, const char *version,
                       struct lw_sink *out)
{
    (void)version;
    put_text(chk, run, true, out);
}

void chk_print_all(const struct chk *chk, const char *run, struct lw_sink *out)
{
    put_text(chk, run, false, out);
}

/** Calls @put to print a message, with files named as in reports. */
static void put_message(const struct chk *chk, const char *text, void (*put)(struct lw_sink *, const char *), struct lw_sink *out)
{
    struct lw_buffer room;

    lw_buffer_init(&room);
    chk_report_text(chk, text, &room.sink);
    put(out, lw_buffer_text(&room));
    lw_buffer_fini(&room);
}

/** Prints the line of put_line() and the values of variables by @put, with files named as in reports. */
static void put_finding(const struct chk *chk, const struct chk_finding *f, void (*put)(struct lw_sink *, const char *),
                        struct lw_sink *out)
{
    struct lw_buffer text;

    lw_buffer_init(&text);
    put_line(f, &text.sink);
    put_values(f, "; ", &text.sink);
    put_message(chk, lw_buffer_text(&text), put, out);
    lw_buffer_fini(&text);
}

/** Prints the symbol of a function as @key, and its name in the source as @key with the suffix "_name". */
static void json_name(const char *key, const char *name, struct lw_sink *out)
{
    char room[ISA_SYMBOL_BYTES];

    lw_printf(out, "\"%s\": ", key);
    lw_put_json(out, name);
    lw_printf(out, ", \"%s_name\": ", key);
    lw_put_json(out, isa_symbol_text(name, room));
}

static void json_location(const struct chk *chk, const struct chk_location *p, struct lw_sink *out)
{
    lw_put(out, "{");
    json_name("kernel", p->kernel, out);
    lw_put(out, ", ");
    json_name("function", p->function, out);
    lw_put(out, ", \"file\": ");
    lw_put_json(out, chk_report_file(chk, p->file));
    lw_printf(out, ", \"line\": %u, \"pc\": \"0x%" PRIx64 "\", \"grid\": %u, "
                   "\"block\": [%u, %u, %u], \"warp\": %u, \"lanes\": [",
              p->line, p->pc, p->grid, p->block[0], p->block[1], p->block[2], p->warp);
    const char *comma = "";
    for (LW_EACH_BIT(l, p->lanes)) {
        lw_printf(out, "%s%u", comma, (unsigned)l);
        comma = ", ";
    }
    lw_put(out, "], \"inlined\": [");
    for (unsigned i = 0; i < p->call_count; i++) {
        lw_put(out, i == 0 ? "{\"function\": " : ", {\"function\": ");
        lw_put_json(out, p->calls[i].function);
        lw_put(out, ", \"file\": ");
        lw_put_json(out, chk_report_file(chk, p->calls[i].file));
        lw_printf(out, ", \"line\": %u}", p->calls[i].line);
    }
    lw_put(out, "]}");
}

static void json_values(const struct chk_finding *f, struct lw_sink *out)
{
    if (f->value_count == 0)
        return;
    lw_printf(out, ",\n     \"variables\": {\"lane\": %u, \"values\": [", f->value_lane);
    for (unsigned i = 0; i < f->value_count; i++) {
        lw_put(out, i == 0 ? "{\"name\": " : ", {\"name\": ");
        lw_put_json(out, f->values[i].name);
        lw_put(out, ", \"value\": ");
        lw_put_json(out, f->values[i].text);
        lw_put(out, "}");
    }
    lw_put(out, "]}");
}

#define NOT_REACHED "the run ended before this check"

static void write_json(const struct chk *chk, const char *run, const char *version,
                       struct lw_sink *out)
{
    const struct chk_finding *f;

    lw_put(out, "{\n  \"format_version\": 3,\n  \"version\": ");
    lw_put_json(out, version);
    lw_put(out, ",\n  \"run\": ");
    lw_put_json(out, run);
    lw_put(out, ",\n  \"ended\": ");
    if (chk->ended != NULL)
        put_message(chk, chk->ended, lw_put_json, out);
    else
        lw_put(out, "null");
    lw_put(out, ",\n  \"signal\": ");
    if (chk->signal != NULL)
        lw_put_json(out, chk->signal);
    else
        lw_put(out, "null");
    lw_printf(out, ",\n  \"count\": %u,\n  \"suppressed\": %u,\n  \"dropped\": %u,\n"
                   "  \"findings\": [",
              chk_count(chk), chk->suppressed, chk->beyond);
    for (unsigned i = 0; (f = chk_get(chk, i)) != NULL; i++) {
        lw_printf(out, "%s\n    {\"kind\": \"%s\", \"class\": \"%s\", \"message\": ",
                  i == 0 ? "" : ",", chk_kinds[f->kind].name,
                  chk_class_names[chk_kinds[f->kind].group]);
        put_message(chk, f->message, lw_put_json, out);
        lw_put(out, ",\n     \"place\": ");
        json_location(chk, &f->location, out);
        if (f->other.kernel[0] != '\0') {
            lw_put(out, ",\n     \"other\": ");
            json_location(chk, &f->other, out);
        }
        json_values(f, out);
        lw_printf(out, ",\n     \"address\": \"0x%" PRIx64 "\", ", f->address);
        json_name("allocation", f->allocation, out);
        for (unsigned k = 0; k < f->related_count; k++) {
            lw_put(out, k == 0 ? ",\n     \"related\": [{\"message\": " : ", {\"message\": ");
            lw_put_json(out, f->related[k].what);
            lw_put(out, ", \"file\": ");
            lw_put_json(out, chk_report_file(chk, f->related[k].file));
            lw_printf(out, ", \"line\": %u}%s", f->related[k].line, k + 1 == f->related_count ? "]" : "");
        }
        lw_printf(out, ", \"count\": %" PRIu64 ", \"suppressed\": %s}", f->count,
                  f->suppressed ? "true" : "false");
    }
    lw_put(out, "\n  ],\n  \"checks\": [");
    for (size_t i = 0; i < chk->check_count; i++) {
        const struct chk_check *c = &chk->checks[i];

        lw_put(out, i == 0 ? "\n    {\"file\": " : ",\n    {\"file\": ");
        lw_put_json(out, chk_report_file(chk, c->file));
        lw_printf(out, ", \"line\": %u, \"passed\": %s, \"message\": ", c->line,
                  !c->came ? "null" : c->failed == NULL ? "true" : "false");
        put_message(chk, !c->came ? NOT_REACHED : c->failed != NULL ? c->failed : "", lw_put_json, out);
        lw_put(out, "}");
    }
    lw_put(out, "\n  ]\n}\n");
}

/* Prints each check by the host as a test case. */
static void junit_checks(const struct chk *chk, struct lw_sink *out)
{
    for (size_t i = 0; i < chk->check_count; i++) {
        const struct chk_check *c = &chk->checks[i];

        lw_put(out, "    <testcase classname=\"check\" name=\"");
        put_xml(out, chk_report_file(chk, c->file));
        lw_printf(out, c->line != 0 ? ":%u\"" : "%.0u\"", c->line); /* line 0: the check comes from an option, not from a
                                                                     * file */
        if (!c->came) {
            lw_put(out, ">\n      <skipped message=\"" NOT_REACHED "\"/>\n    </testcase>\n");
        } else if (c->failed == NULL) {
            lw_put(out, "/>\n");
        } else {
            lw_put(out, ">\n      <failure type=\"check\" message=\"");
            put_message(chk, c->failed, put_xml, out);
            lw_put(out, "\"/>\n    </testcase>\n");
        }
    }
}

static unsigned count_checks(const struct chk *chk, bool failed, bool came)
{
    unsigned n = 0;

    for (size_t i = 0; i < chk->check_count; i++)
        n += (chk->checks[i].failed != NULL) == failed && chk->checks[i].came == came;
    return n;
}

struct chk_call chk_report_location(const struct chk *chk, const struct chk_location *location)
{
    struct chk_call at = shown(location);

    at.file = chk_report_file(chk, at.file);
    return at;
}

/** A finding, its index in the list of findings, and its number, from 0, among those with equal kind, kernel and
 *  location. */
struct numbered {
    const struct chk_finding *f;
    unsigned index, number;
};
static int by_name(const void *a, const void *b)
{
    const struct numbered *x = a, *y = b;
    const struct chk_call p = shown(&x->f->location), q = shown(&y->f->location);
    int order = (x->f->kind > y->f->kind) - (x->f->kind < y->f->kind);

    if (order == 0)
        order = (p.line > q.line) - (p.line < q.line);
    if (order == 0)
        order = strcmp(p.file, q.file);
    return order != 0 ? order : strcmp(x->f->location.kernel, y->f->location.kernel);
}
static int by_name_and_index(const void *a, const void *b)
{
    const struct numbered *x = a, *y = b;
    const int order = by_name(a, b);

    return order != 0 ? order : (x->index > y->index) - (x->index < y->index);
}
static int by_index(const void *a, const void *b)
{
    const struct numbered *x = a, *y = b;

    return (x->index > y->index) - (x->index < y->index);
}
/** Returns all findings in their order, or NULL if memory is short. The caller frees them. */
static struct numbered *numbers_of(const struct chk *chk)
{
    struct numbered *all = malloc((chk->count + 1) * sizeof *all);

    if (all == NULL)
        return NULL;
    for (unsigned i = 0; i < chk->count; i++)
        all[i] = (struct numbered){&chk->findings[i], i, 0};
    qsort(all, chk->count, sizeof *all, by_name_and_index);
    for (size_t i = 1; i < chk->count; i++)
        all[i].number = by_name(&all[i - 1], &all[i]) == 0 ? all[i - 1].number + 1 : 0;
    qsort(all, chk->count, sizeof *all, by_index);
    return all;
}

/* Writes a passed test case for each enabled kind without findings, and a failed test case for each finding. A kind with
 * several findings has several test cases, because a test case may have only one failure. */
static void write_junit(const struct chk *chk, const char *run, const char *version,
                        struct lw_sink *out)
{
    const struct chk_finding *f;
    uint64_t without_finding = chk->options.kinds & ~chk->beyond_kinds;
    unsigned failures = chk_count(chk);

    (void)version;
    for (unsigned i = 0; (f = chk_get(chk, i)) != NULL; i++)
        if (!f->suppressed)
            without_finding &= ~(UINT64_C(1) << f->kind);
    lw_put(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n  <testsuite name=\"");
    put_xml(out, run);
    lw_printf(out, "\" tests=\"%u\" failures=\"%u\" errors=\"%u\" skipped=\"%u\">\n",
              failures + lw_popcount(without_finding) + (unsigned)chk->check_count + (chk->ended_kind != NULL),
              failures + count_checks(chk, true, true), chk->ended_kind != NULL, count_checks(chk, false, false));
    junit_checks(chk, out);
    if (chk->ended_kind != NULL) {
        lw_printf(out, "    <testcase classname=\"run\" name=\"end\">\n      <error type=\"%s\" message=\"",
                  chk->ended_kind);
        put_message(chk, chk->ended, put_xml, out);
        lw_put(out, "\"/>\n    </testcase>\n");
    }
    for (LW_EACH_BIT(k, without_finding))
        lw_printf(out, "    <testcase classname=\"%s\" name=\"%s\"/>\n",
                  chk_class_names[chk_kinds[k].group], chk_kinds[k].name);
    /* readers of JUnit files merge test cases with equal names */
    struct numbered *all = numbers_of(chk);
    for (unsigned i = 0; (f = chk_get(chk, i)) != NULL; i++) {
        char room[ISA_SYMBOL_BYTES];

        if (f->suppressed)
            continue;
        lw_printf(out, "    <testcase classname=\"%s\" name=\"%s",
                  chk_class_names[chk_kinds[f->kind].group], chk_kinds[f->kind].name);
        if (f->location.kernel[0] != '\0') {
            lw_put(out, " in ");
            put_xml(out, isa_symbol_text(f->location.kernel, room));
        }
        if (shown(&f->location).line != 0) {
            lw_put(out, " at ");
            put_xml(out, chk_report_file(chk, shown(&f->location).file));
            lw_printf(out, ":%u", shown(&f->location).line);
        }
        if (all != NULL && all[i].number != 0)
            lw_printf(out, " (%u)", all[i].number + 1);
        lw_printf(out, "\">\n      <failure type=\"%s\" message=\"", chk_kinds[f->kind].name);
        put_message(chk, f->message, put_xml, out);
        lw_put(out, "\">");
        put_finding(chk, f, put_xml, out);
        lw_put(out, "</failure>\n    </testcase>\n");
    }
    free(all);
    if (chk->beyond != 0)
        lw_printf(out, "    <system-out>" BEYOND "</system-out>\n", chk->beyond);
    lw_put(out, "  </testsuite>\n</testsuites>\n");
}

/** Prints the name of a file as a URI reference (RFC 3986): all characters except unreserved ones and "/" are escaped. */
static void put_uri(struct lw_sink *out, const char *path)
{
    static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~/";

    lw_put(out, path[0] == '/' ? "\"file://" : "\"");
    for (const unsigned char *p = (const unsigned char *)path; *p != '\0'; p++)
        lw_printf(out, strchr(plain, *p) != NULL ? "%c" : "%%%02X", *p);
    lw_put(out, "\"");
}

static void put_physical(const struct chk *chk, const char *file, uint32_t line, struct lw_sink *out)
{
    const char *name = chk_report_file(chk, file);

    lw_put(out, "{\"physicalLocation\": {\"artifactLocation\": {\"uri\": ");
    put_uri(out, name);
    if (chk_report_is_below(chk, name))
        lw_put(out, ", \"uriBaseId\": \"%SRCROOT%\"");
    lw_printf(out, "}, \"region\": {\"startLine\": %u}}", line);
}

/** Appends the location in @one to the list @related, unless the list already contains it, because SARIF requires unique
 *  locations. Empties @one. */
static void put_new(struct lw_buffer *one, struct lw_buffer *related)
{
    const bool any = related->text != NULL && related->text[0] != '\0';

    /* A JSON object cannot be found inside a string of another object by mistake, because quotes are escaped there. */
    if (one->text != NULL && (!any || strstr(related->text, one->text) == NULL))
        lw_printf(&related->sink, "%s%s", any ? ", " : "", one->text);
    lw_buffer_fini(one);
}

/** Adds the source line of @location, with the message @what, to the related locations of a SARIF result. */
static void add_line(const struct chk *chk, const struct chk_location *location, const char *what,
                     struct lw_buffer *related)
{
    struct lw_buffer one;

    if (location->line == 0)
        return;
    lw_buffer_init(&one);
    put_physical(chk, location->file, location->line, &one.sink);
    lw_printf(&one.sink, ", \"message\": {\"text\": \"%s\"}}", what);
    put_new(&one, related);
}

/** Adds the host program's locations of a finding to the related locations of a SARIF result. */
static void add_host(const struct chk *chk, const struct chk_finding *f, struct lw_buffer *related)
{
    for (unsigned i = 0; i < f->related_count; i++) {
        struct lw_buffer one;

        if (f->related[i].line == 0)
            continue;
        lw_buffer_init(&one);
        put_physical(chk, f->related[i].file, f->related[i].line, &one.sink);
        lw_put(&one.sink, ", \"message\": {\"text\": ");
        lw_put_json(&one.sink, f->related[i].what);
        lw_put(&one.sink, "}}");
        put_new(&one, related);
    }
}

/** Adds the inlined calls that contain a location to the related locations of a SARIF result. */
static void add_calls(const struct chk *chk, const struct chk_location *location, struct lw_buffer *related)
{
    for (unsigned i = 0; i < location->call_count; i++) {
        const struct chk_call *call = &location->calls[i];
        struct lw_buffer one;
        char room[ISA_SYMBOL_BYTES];

        if (call->line == 0)
            continue;
        lw_buffer_init(&one);
        put_physical(chk, call->file, call->line, &one.sink);
        lw_put(&one.sink, ", \"message\": {\"text\": ");
        lw_printf_json(&one.sink, "%s is %s at this line",
                       call->function[0] != '\0' ? isa_symbol_text(call->function, room) : "a function",
                       call->called ? "called" : "inlined");
        lw_put(&one.sink, "}}");
        put_new(&one, related);
    }
}

/** Prints the second location of a finding (of a race, the previous access), the inlined calls that contain both
 *  locations, and locations in the host program. */
static void put_related(const struct chk *chk, const struct chk_finding *f, struct lw_sink *out)
{
    struct lw_buffer related;

    lw_buffer_init(&related);
    if (is_in_header(&f->location))
        add_line(chk, &f->location, "the line of the header that contains the access", &related);
    add_line(chk, &f->other, chk_kinds[f->kind].group == CHK_CLASS_PROGRESS ? "the other location" : "the other access", &related);
    add_calls(chk, &f->location, &related);
    add_calls(chk, &f->other, &related);
    add_host(chk, f, &related);
    if (related.text != NULL && related.text[0] != '\0')
        lw_printf(out, ",\n       \"relatedLocations\": [%s]", related.text);
    lw_buffer_fini(&related);
}

static void write_sarif(const struct chk *chk, const char *run, const char *version,
                        struct lw_sink *out)
{
    const struct chk_finding *f;

    lw_put(out, "{\n  \"$schema\": \"https://json.schemastore.org/sarif-2.1.0.json\",\n"
                "  \"version\": \"2.1.0\",\n  \"runs\": [{\n"
                "    \"tool\": {\"driver\": {\"name\": \"lanewise\", \"version\": ");
    lw_put_json(out, version);
    lw_put(out, ", \"rules\": [");
    for (unsigned k = 0; k < CHK_KIND_COUNT; k++) {
        lw_printf(out, "%s\n      {\"id\": \"%s\", \"shortDescription\": {\"text\": ",
                  k == 0 ? "" : ",", chk_kinds[k].name);
        lw_put_json(out, chk_kinds[k].summary);
        lw_put(out, "}");
        if (chk_former_names[k] != NULL)
            lw_printf(out, ", \"deprecatedIds\": [\"%s\"]", chk_former_names[k]);
        lw_put(out, ",\n       \"help\": {\"text\": ");
        lw_printf_json(out, "Wrong: %s\nRight: %s", chk_kinds[k].wrong, chk_kinds[k].right);
        lw_put(out, "}}");
    }
    if (count_checks(chk, true, true) != 0)
        lw_put(out, ",\n      {\"id\": \"check\", \"shortDescription\": {\"text\": "
                    "\"a check of the launch file has failed\"}}");
    lw_put(out, "\n    ]}},\n");
    if (chk->options.base != NULL) {
        struct lw_buffer folder;

        lw_buffer_init(&folder);
        lw_printf(&folder.sink, "%s/", chk->options.base);
        lw_put(out, "    \"originalUriBaseIds\": {\"%SRCROOT%\": {\"uri\": ");
        put_uri(out, folder.text != NULL ? folder.text : "/");
        lw_put(out, "}},\n");
        lw_buffer_fini(&folder);
    }
    /* Code scanning services require different categories for several SARIF files of one commit. The category is the id
     * without the part after its last "/". */
    lw_put(out, "    \"automationDetails\": {\"id\": ");
    lw_printf_json(out, "lanewise/%s/", chk_report_file(chk, run));
    lw_put(out, "},\n");
    lw_printf(out, "    \"invocations\": [{\"executionSuccessful\": %s",
              chk->ended == NULL ? "true" : "false");
    if (chk->signal != NULL) {
        lw_put(out, ", \"exitSignalName\": ");
        lw_put_json(out, chk->signal);
        lw_printf(out, ", \"exitSignalNumber\": %d", chk->signal_number);
    }
    if (chk->ended != NULL || chk->beyond != 0)
        lw_put(out, ", \"toolExecutionNotifications\": [");
    if (chk->ended != NULL) {
        lw_put(out, "{\"level\": \"error\", \"message\": {\"text\": ");
        put_message(chk, chk->ended, lw_put_json, out);
        lw_put(out, "}");
        if (chk->ended_at.line != 0) {
            lw_put(out, ", \"locations\": [");
            put_physical(chk, chk->ended_at.file, chk->ended_at.line, out);
            lw_put(out, "}]");
        }
        lw_put(out, "}");
    }
    if (chk->beyond != 0)
        lw_printf(out, "%s{\"level\": \"warning\", \"message\": {\"text\": \"" BEYOND "\"}}",
                  chk->ended != NULL ? ", " : "", chk->beyond);
    if (chk->ended != NULL || chk->beyond != 0)
        lw_put(out, "]");
    lw_put(out, "}],\n    \"results\": [");
    for (unsigned i = 0; (f = chk_get(chk, i)) != NULL; i++) {
        lw_printf(out, "%s\n      {\"ruleId\": \"%s\", \"ruleIndex\": %u, \"level\": \"%s\", "
                       "\"message\": {\"text\": ",
                  i == 0 ? "" : ",", chk_kinds[f->kind].name, (unsigned)f->kind,
                  chk_kinds[f->kind].group == CHK_CLASS_PERFORMANCE ? "warning" : "error");
        put_finding(chk, f, lw_put_json, out);
        lw_put(out, "}");
        if (shown(&f->location).line != 0) {
            lw_put(out, ",\n       \"locations\": [");
            put_physical(chk, shown(&f->location).file, shown(&f->location).line, out);
            lw_put(out, "}]");
        }
        put_related(chk, f, out);
        if (f->suppressed)
            lw_put(out, ", \"suppressions\": [{\"kind\": \"external\"}]");
        lw_printf(out, ", \"occurrenceCount\": %" PRIu64 "}", f->count == 0 ? 1 : f->count);
    }
    const char *comma = chk_get(chk, 0) != NULL ? "," : "";
    for (size_t i = 0; i < chk->check_count; i++) {
        const struct chk_check *c = &chk->checks[i];

        if (c->failed == NULL)
            continue;
        lw_printf(out, "%s\n      {\"ruleId\": \"check\", \"ruleIndex\": %u, \"level\": \"error\", "
                       "\"message\": {\"text\": ", comma, (unsigned)CHK_KIND_COUNT);
        put_message(chk, c->failed, lw_put_json, out);
        lw_put(out, "},\n       \"locations\": [");
        if (c->line != 0) {
            put_physical(chk, c->file, c->line, out);
            lw_put(out, "}");
        }
        lw_put(out, "]}");
        comma = ",";
    }
    lw_put(out, "\n    ]\n  }]\n}\n");
}

static const struct chk_format formats[] = {
    {"text", ".txt", write_text},
    {"JSON", ".json", write_json},
    {"JUnit XML", ".xml", write_junit},
    {"SARIF", ".sarif", write_sarif},
    {"suppressions", ".yaml", chk_write_baseline},
    {"suppressions", ".yml", chk_write_baseline},
};

const struct chk_format *chk_format_for(const char *path)
{
    size_t n = strlen(path);

    for (size_t i = 0; i < LW_COUNT_OF(formats); i++) {
        size_t m = strlen(formats[i].suffix);

        if (n >= m && strcasecmp(path + n - m, formats[i].suffix) == 0)
            return &formats[i];
    }
    return &formats[0];
}

const char *chk_format_suggest(const char *path)
{
    const char *file = strrchr(path, '/'), *dot = strrchr(file != NULL ? file : path, '.');
    const char *names[LW_COUNT_OF(formats)], *near;
    char suffix[16];

    if (dot == NULL || strlen(dot) > sizeof suffix)
        return NULL;
    for (size_t i = 0; i < LW_COUNT_OF(formats); i++) {
        if (strcasecmp(dot, formats[i].suffix) == 0)
            return NULL;
        names[i] = formats[i].suffix + 1;
    }
    for (size_t i = 0; i == 0 || suffix[i - 1] != '\0'; i++)
        suffix[i] = (char)tolower((unsigned char)dot[1 + i]);
    near = lw_suggest(suffix, names, LW_COUNT_OF(names), sizeof names[0]);
    return near != NULL ? near - 1 : NULL;
}
