/* SPDX-License-Identifier: Apache-2.0 */
/* Findings of checks: creates the checker, and returns its findings as structures of lanewise.h. */
#include "host/host_priv.h"

#include <stdlib.h>

enum { FINDINGS_USUAL = 100 };

static void on_caller(void *context, struct chk_call *out)
{
    const struct lanewise_machine *m = context;
    lanewise_call call = {.function = "", .file = ""};

    if (m->caller == NULL)
        return;
    m->caller(m->caller_context, &call);
    *out = (struct chk_call){.function = call.function != NULL ? call.function : "",
                             .file = call.file != NULL ? call.file : "",
                             .line = call.line};
}

void lanewise_caller(lanewise_machine *m, void (*caller)(void *context, lanewise_call *out), void *context)
{
    if (m == NULL)
        return;
    m->caller = caller;
    m->caller_context = context;
}

enum lw_status host_check_begin(struct lanewise_machine *m, struct lw_error *err)
{
    const struct host_settings *s = &m->settings;
    struct chk_options options = {.kinds = s->kinds,
                                  .max_findings = s->max_findings != 0 ? s->max_findings
                                                                       : FINDINGS_USUAL,
                                  .read_poison = s->read_poison,
                                  .by_launch = s->by_launch != 0,
                                  .counting = s->profile != 0    ? CHK_COUNT_REQUESTS
                                              : s->coverage != 0 ? CHK_COUNT_RUNS
                                                                 : CHK_COUNT_NOTHING};

    if (s->by_launch != 0 && s->profile == 0)
        return LW_FAIL(err, LW_EUSAGE, "profile-by has no effect without a profile: also set \"profile\"");
    if (!s->check && options.counting == CHK_COUNT_NOTHING)
        return s->suppressions == NULL && s->max_findings == 0
                   ? LW_OK
                   : LW_FAIL(err, LW_EUSAGE, "%s has no effect without checks: also set \"check\"",
                             s->suppressions != NULL ? "check-suppress" : "max-findings");
    free(m->base);
    m->base = s->base == NULL || s->base[0] != '\0' ? realpath(s->base != NULL ? s->base : ".", NULL) : NULL;
    if (m->base != NULL && strcmp(m->base, "/") == 0)
        m->base[0] = '\0';
    free(m->here);
    m->here = m->base != NULL ? realpath(".", NULL) : NULL;
    options.base = m->base;
    options.here = m->here;
    options.suppressions = s->suppressions;
    options.caller = on_caller;
    options.context = m;
    if (m->gdb != NULL) {
        options.found = host_gdb_found;
        options.note = host_gdb_note;
    }
    return chk_create(m->machine, &options, &m->chk, err);
}

void host_check_end(struct lanewise_machine *m)
{
    chk_destroy(m->chk);
    free(m->base);
    free(m->here);
    m->chk = NULL;
    m->base = m->here = NULL;
}

/** Returns the finding with number @index among those that are not suppressed; NULL: there is none. */
static const struct chk_finding *finding_at(const struct lanewise_machine *m, unsigned index)
{
    const struct chk_finding *f = NULL;

    for (unsigned i = 0; m->chk != NULL && (f = chk_get(m->chk, i)) != NULL; i++)
        if (!f->suppressed && index-- == 0)
            return f;
    return NULL;
}

int host_check_report(struct lanewise_machine *m)
{
    unsigned found = m->chk != NULL ? chk_count(m->chk) : 0;
    const struct chk_finding *f = found > m->reported_count ? finding_at(m, m->reported_count) : NULL;

    m->reported_count = found;
    if (f == NULL)
        return LANEWISE_OK;
    lw_buffer_clear(&m->error);
    chk_print(f, &m->error.sink);
    return LANEWISE_FINDING;
}

unsigned lanewise_finding_count(const lanewise_machine *m)
{
    return m != NULL && m->chk != NULL ? chk_count(m->chk) : 0;
}

static lanewise_location location(const struct chk_location *p)
{
    return (lanewise_location){.kernel = p->kernel,
                            .function = p->function,
                            .file = p->file,
                            .line = p->line,
                            .block = {p->block[0], p->block[1], p->block[2]},
                            .warp = p->warp,
                            .launch = p->grid,
                            .lanes = p->lanes,
                            .pc = p->pc};
}

static int no_finding(lanewise_machine *m, unsigned index)
{
    return host_refuse(m, "finding %u does not exist: there %s %u finding%s%s", index,
                       lanewise_finding_count(m) == 1 ? "is" : "are", lanewise_finding_count(m),
                       lanewise_finding_count(m) == 1 ? "" : "s",
                       m->settings.check ? "" : ", as no checks are enabled: set \"check\" before "
                                                "the machine is used");
}

int lanewise_finding_get(lanewise_machine *m, unsigned index, lanewise_finding *out,
                         size_t out_bytes)
{
    const struct chk_finding *f;
    lanewise_finding all;

    if (m == NULL || out == NULL)
        return host_missing(m, "lanewise_finding_get", "the finding");
    f = finding_at(m, index);
    if (f == NULL)
        return no_finding(m, index);
    all = (lanewise_finding){.kind = chk_kinds[f->kind].name,
                             .message = f->message,
                             .location = location(&f->location),
                             .other = location(&f->other),
                             .address = f->address,
                             .allocation = f->allocation,
                             .count = f->count,
                             .call_count = f->location.call_count,
                             .other_call_count = f->other.call_count};
    memset(out, 0, out_bytes); /* zeroes also the members that only a later version of the structure has */
    memcpy(out, &all, out_bytes < sizeof all ? out_bytes : sizeof all);
    return LANEWISE_OK;
}

int lanewise_finding_call(lanewise_machine *m, unsigned index, int other, unsigned number,
                          lanewise_call *out, size_t out_bytes)
{
    const struct chk_finding *f;
    lanewise_call all;

    if (m == NULL || out == NULL)
        return host_missing(m, "lanewise_finding_call", "the call");
    f = finding_at(m, index);
    if (f == NULL)
        return no_finding(m, index);
    const struct chk_location *p = other != 0 ? &f->other : &f->location;
    if (number >= p->call_count)
        return host_refuse(m, "call %u of finding %u does not exist: there %s %u call%s", number, index,
                           p->call_count == 1 ? "is" : "are", p->call_count, p->call_count == 1 ? "" : "s");
    all = (lanewise_call){p->calls[number].function, p->calls[number].file, p->calls[number].line};
    memset(out, 0, out_bytes);
    memcpy(out, &all, out_bytes < sizeof all ? out_bytes : sizeof all);
    return LANEWISE_OK;
}

int lanewise_finding_text(lanewise_machine *m, unsigned index, char **out)
{
    const struct chk_finding *f;
    struct lw_buffer text;

    if (m == NULL || out == NULL)
        return host_missing(m, "lanewise_finding_text", "the text");
    f = finding_at(m, index);
    if (f == NULL)
        return no_finding(m, index);
    lw_buffer_init(&text);
    chk_print_values(f, &text.sink);
    *out = strdup(lw_buffer_text(&text));
    lw_buffer_fini(&text);
    return *out != NULL ? LANEWISE_OK : host_refuse(m, "the host has no memory for the text of a finding");
}

int lanewise_file_is_foreign(const char *file)
{
    return file != NULL && chk_is_foreign(file);
}

int lanewise_finding_relate(lanewise_machine *m, unsigned index, const char *message, const char *file, uint32_t line)
{
    const struct chk_finding *f;
    struct lw_error err;

    if (m == NULL || message == NULL || file == NULL)
        return host_missing(m, "lanewise_finding_relate", message == NULL ? "the message" : "the file");
    f = finding_at(m, index);
    if (f == NULL)
        return no_finding(m, index);
    if (chk_relate(m->chk, f, &(struct chk_related){message, file, line}, &err) != LW_OK)
        return host_refuse(m, "%s", err.text);
    return LANEWISE_OK;
}

int lanewise_finding_add(lanewise_machine *m, const lanewise_host_finding *given, size_t finding_bytes)
{
    struct lanewise_host_finding f = {0};
    struct chk_host_finding finding;
    enum chk_kind kind;
    struct lw_error err;
    unsigned before;

    if (m == NULL || given == NULL)
        return host_missing(m, "lanewise_finding_add", "the finding");
    memcpy(&f, given, finding_bytes < sizeof f ? finding_bytes : sizeof f);
    if (f.kind == NULL || f.message == NULL)
        return host_missing(m, "lanewise_finding_add", f.kind == NULL ? "the kind" : "the message");
    if (!chk_kind_find(f.kind, &kind) || chk_kinds[kind].group != CHK_CLASS_API)
        return host_refuse(m, "\"%.63s\" is not a kind of finding of class api: `lanewise explain api` lists these kinds",
                              f.kind);
    if (m->finished)
        return host_refuse(m, "the machine has finished: create a new machine");
    if (host_begin(m, &err) != LW_OK)
        return host_fail(m, &err);
    if (m->chk == NULL)
        return LANEWISE_OK;
    finding = (struct chk_host_finding){.kind = kind,
                                        .message = f.message,
                                        .function = f.function != NULL ? f.function : "",
                                        .file = f.file != NULL ? f.file : "",
                                        .line = f.line,
                                        .count = f.count != 0 ? f.count : 1};
    before = chk_count(m->chk);
    if (chk_add_host(m->chk, &finding, &err) != LW_OK)
        return host_fail(m, &err);
    if (chk_count(m->chk) == before)
        return LANEWISE_OK;
    if (m->reported_count == before) /* this call returns the finding, so lanewise_wait() need not report it */
        m->reported_count++;
    return LANEWISE_FINDING;
}

int lanewise_finding_wanted(lanewise_machine *m, const char *name)
{
    enum chk_kind kind;
    struct lw_error err;

    return m != NULL && name != NULL && chk_kind_find(name, &kind) && host_begin(m, &err) == LW_OK && m->chk != NULL &&
           chk_wants(m->chk, kind);
}

int lanewise_forbid(lanewise_machine *m, uint64_t address, uint64_t bytes, int loads, int stores, const char *why)
{
    struct lw_error err;

    if (m == NULL || why == NULL)
        return host_missing(m, "lanewise_forbid", "the reason");
    return m->chk == NULL || chk_forbid(m->chk, address, bytes, loads != 0, stores != 0, why, &err) == LW_OK ? LANEWISE_OK
                                                                                                         : host_fail(m, &err);
}

int lanewise_permit(lanewise_machine *m, uint64_t address, uint64_t bytes, const char *why)
{
    if (m == NULL || why == NULL)
        return host_missing(m, "lanewise_permit", "the reason");
    if (m->chk != NULL)
        chk_permit(m->chk, address, bytes, why);
    return LANEWISE_OK;
}

int lanewise_finish(lanewise_machine *m)
{
    struct lw_error err;
    unsigned count;
    int replayed;

    if (m == NULL)
        return LANEWISE_ERROR;
    host_gdb_end(m);
    if (m->chk == NULL)
        return host_log_check(m);
    if (m->machine != NULL && !m->stopped && emu_grid_current(m->machine) != NULL)
        return host_refuse(m, "the launches have not run yet: call lanewise_wait() first");
    replayed = host_log_check(m);
    if (!m->finished && chk_finish(m->chk, &m->stop, &err) != LW_OK)
        return host_fail(m, &err);
    m->finished = m->stopped = true;
    if (replayed != LANEWISE_OK)
        return replayed;
    count = chk_count(m->chk);
    if (count == 0)
        return LANEWISE_OK;
    lw_buffer_clear(&m->error);
    chk_print(finding_at(m, 0), &m->error.sink);
    return LANEWISE_FINDING;
}
