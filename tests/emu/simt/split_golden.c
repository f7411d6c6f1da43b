/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <stdlib.h>

#include "tests/emu/simt/split_golden.h"

static void trace_step(struct sm *m, struct emu_warp *w, uint32_t pc, uint64_t lanes)
{
    sm_trace_line(m, w, pc, lanes, m->context);
}

static unsigned number_after(const char *line, const char *end, const char *key)
{
    size_t n = strlen(key);

    for (; line + n < end; line++)
        if (memcmp(line, key, n) == 0)
            return (unsigned)strtoul(line + n, NULL, 10);
    return 0;
}

static const char *line_end(const char *at, const char *end)
{
    while (at < end && *at != '\n')
        at++;
    return at;
}

/** Write a message to @out with the first line in which the texts @got and @want differ. */
static void describe(char *out, size_t size, const char *name, const char *got, const char *want,
                     size_t want_size)
{
    const char *g = got, *w = want, *g_end = got + strlen(got), *w_end = want + want_size;

    while (g < g_end && w < w_end) {
        const char *ge = line_end(g, g_end), *we = line_end(w, w_end);
        if (ge - g != we - w || memcmp(g, w, (size_t)(ge - g)) != 0)
            break;
        g = ge + 1;
        w = we + 1;
    }
    if (g > g_end)
        g = g_end;
    if (w > w_end)
        w = w_end;
    snprintf(out, size, "%s\n  got  %.*s\n  want %.*s\n", name, (int)(line_end(g, g_end) - g), g,
             (int)(line_end(w, w_end) - w), w);
}

bool golden_next(const char **at, const char *end, struct golden_case *out)
{
    const char *head = *at, *head_end = line_end(head, end), *stop, *next, *policy, *order;

    memset(out, 0, sizeof *out);
    out->text = stop = head_end + 1;
    while (stop < end && memcmp(stop, "--\n", 3) != 0)
        stop = line_end(stop, end) + 1;
    if (stop >= end)
        return false;
    out->text_size = (size_t)(stop - out->text);
    out->trace = next = stop + 3;
    while (next < end && memcmp(next, "== ", 3) != 0)
        next = line_end(next, end) + 1;
    if (next > end)
        next = end;
    out->trace_size = (size_t)(next - out->trace);
    *at = next;
    snprintf(out->name, sizeof out->name, "%.*s", (int)(head_end - head), head);
    policy = strstr(out->name, "policy=");
    if (policy == NULL || sscanf(policy, "policy=%23s", out->policy) != 1)
        return false;
    out->options = (struct sm_options){
        .check = true,
        .lanes = number_after(head, head_end, "lanes="),
        .threads = number_after(head, head_end, "threads="),
        .quantum = number_after(head, head_end, "quantum="),
        .window = number_after(head, head_end, "window="),
        .merge_off = strstr(out->name, "merge=off") != NULL,
        .limit = number_after(head, head_end, "limit="),
        .hang = number_after(head, head_end, "hang="),
    };
    if (strstr(out->name, "engine=frontier") != NULL)
        out->options.reconv = "frontier";
    order = strstr(out->name, "order=");
    if (order != NULL && sscanf(order, "order=%23s", out->order) == 1)
        out->options.reconv = "stack"; /* the caller sets push_order, as it sets the policy */
    return true;
}

/** Run one case in single steps or in time slices. Return false with a message in @why if the result differs. */
static bool run_case(const struct golden_case *c, struct sm_program *p, bool chunked,
                     uint64_t *steps, char *why, size_t why_size)
{
    struct sm_options o = c->options;
    struct lw_buffer got;
    struct sm *m;
    bool same;

    o.policy = c->policy;
    o.push_order = c->order[0] != '\0' ? c->order : NULL;
    o.chunked = chunked;
    m = sm_create(p, &o);
    lw_buffer_init(&got);
    m->on_step = trace_step;
    m->context = &got.sink;
    sm_run(m);
    sm_finish(m, &got.sink);
    *steps += m->issues;
    same = m->report != SM_BROKEN && got.size == c->trace_size &&
           memcmp(got.text, c->trace, got.size) == 0;
    if (!same) {
        describe(why, why_size, c->name, got.text, c->trace, c->trace_size);
        size_t n = strlen(why);
        snprintf(why + n, why_size - n, "  %s, %s\n", chunked ? "by turns" : "by steps",
                 m->message);
    }
    lw_buffer_fini(&got);
    sm_destroy(m);
    return same;
}

struct golden_result golden_run(const char *path)
{
    struct golden_result r = {0};
    struct golden_case c;
    struct lw_error err;
    char *data, why[sizeof r.first];
    size_t size;

    if (lw_file_read(path, &data, &size, &err) != LW_OK) {
        r.failures = 1;
        snprintf(r.first, sizeof r.first, "%s", err.text);
        return r;
    }
    for (const char *at = data; golden_next(&at, data + size, &c);) {
        struct sm_program *p = sm_parse(c.text, c.text_size, &err);

        r.cases++;
        if (p == NULL) {
            if (r.failures++ == 0)
                snprintf(r.first, sizeof r.first, "%s: %s\n", c.name, err.text);
            continue;
        }
        for (int chunked = 0; chunked < 2; chunked++)
            if (!run_case(&c, p, chunked, &r.steps, why, sizeof why) && r.failures++ == 0)
                memcpy(r.first, why, sizeof why);
        sm_program_free(p);
    }
    free(data);
    if (r.cases == 0)
        r.failures = 1;
    return r;
}
