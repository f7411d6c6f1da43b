/* SPDX-License-Identifier: Apache-2.0 */
/* Commands about findings, for the shell and gdb's monitor; their context is a chk_view. */
#include "check/chk_priv.h"

#include <inttypes.h>
#include <stdio.h>

/** Returns the kinds whose checks observe instructions. These kinds can be enabled only at the start of the run. */
static uint64_t looking(void)
{
    uint64_t kinds = 0;

    for (unsigned k = 0; k < CHK_KIND_COUNT; k++)
        if (chk_origins[k].from == CHK_FROM_WATCH ||
            chk_kinds[k].group == CHK_CLASS_PERFORMANCE)
            kinds |= UINT64_C(1) << k;
    return kinds;
}

/** Returns the kinds of all classes that contain at least one kind of @some. */
static uint64_t beside(uint64_t some)
{
    uint64_t kinds = 0;

    for (LW_EACH_BIT(k, some))
        kinds |= chk_class_kinds(chk_kinds[k].group);
    return kinds;
}

static void put_kinds(uint64_t kinds, struct lw_sink *out)
{
    const char *comma = " ";

    for (LW_EACH_BIT(k, kinds)) {
        lw_printf(out, "%s%s", comma, chk_kinds[k].name);
        comma = ", ";
    }
    lw_put(out, kinds == 0 ? " nothing\n" : "\n");
}

static enum lw_status do_check(const struct lw_call *call, struct lw_error *err)
{
    struct chk *chk = ((struct chk_view *)call->context)->chk;
    uint64_t kinds = chk->options.kinds;

    if (call->argc > 2)
        return LW_FAIL(err, LW_EUSAGE, "check takes at most one LIST: remove \"%.40s\"", call->argv[2]);
    if (call->argc == 2 && strcmp(call->argv[1], "off") == 0) {
        chk->stops = 0;
    } else if (call->argc == 2 && strcmp(call->argv[1], "on") == 0) {
        chk->stops = kinds;
    } else if (call->argc == 2) {
        uint64_t by_name, late, left_out;
        enum lw_status status = chk_select_named(call->argv[1], &kinds, &by_name, err);

        if (status != LW_OK)
            return lw_error_prefix(err, "check");
        chk_put_formers(call->argv[1], "", call->out);
        chk->exited_anywhere |= (kinds & CHK_EXITED_ANYWHERE) != 0;
        kinds &= ~CHK_EXITED_ANYWHERE;
        by_name &= ~CHK_EXITED_ANYWHERE;
        late = kinds & looking() & ~chk->options.kinds;
        left_out = late & ~by_name & beside(kinds & ~late);
        late &= ~left_out;
        if (late != 0)
            return LW_FAIL(err, LW_ESTATE, "check: %s can be enabled only at the start of a run: restart with "
                                           "--check=%.200s", chk_kinds[lw_lowest(late)].name,
                           call->argv[1]);
        if (left_out != 0) {
            lw_put(call->out, "these checks are not enabled, because they need the option --check at the start of a "
                              "run:");
            put_kinds(left_out, call->out);
        }
        kinds &= ~left_out;
        chk->options.kinds |= kinds;
        chk->stops = kinds;
    }
    lw_put(call->out, "enabled checks:");
    put_kinds(chk->options.kinds, call->out);
    lw_put(call->out, "checks that stop the run:");
    put_kinds(chk->stops, call->out);
    return LW_OK;
}

void chk_rows(const struct chk_view *view,
              void (*row)(void *context, const char *const *cells, unsigned count), void *context)
{
    const struct chk_finding *f;

    for (unsigned i = 0; (f = chk_get(view->chk, i)) != NULL; i++) {
        const uint64_t at = view->when != NULL ? view->when(view->context, i) : UINT64_MAX;
        char number[16], times[24], when[24] = "", location[300] = "";
        const char *cells[] = {number, chk_kinds[f->kind].name, times, when, location, f->message};

        if (f->suppressed)
            continue;
        snprintf(number, sizeof number, "%u", i + 1);
        snprintf(times, sizeof times, "%" PRIu64, f->count);
        if (at != UINT64_MAX)
            snprintf(when, sizeof when, "%" PRIu64, at);
        if (f->location.line != 0)
            snprintf(location, sizeof location, "%s:%u", f->location.file, f->location.line);
        row(context, cells, LW_COUNT_OF(cells));
    }
}

static enum lw_status do_findings(const struct lw_call *call, struct lw_error *err)
{
    const struct chk_view *view = call->context;
    const struct chk_finding *f;
    uint64_t only = 0;

    if (call->argc > 2 || (call->argc == 2 && (!lw_parse_u64(call->argv[1], &only) || only == 0)))
        return LW_FAIL(err, LW_EUSAGE, "findings: expected the number of a finding or no operand, found \"%.40s\"",
                       call->argv[call->argc - 1]);
    for (unsigned i = 0; (f = chk_get(view->chk, i)) != NULL; i++) {
        const uint64_t at = view->when != NULL ? view->when(view->context, i) : UINT64_MAX;

        if (f->suppressed || (only != 0 && i + 1 != only))
            continue;
        lw_printf(call->out, "%u  ", i + 1);
        chk_print(f, call->out);
        if (at != UINT64_MAX)
            lw_printf(call->out, "; `goto %" PRIu64 "` goes back to just before it", at);
        lw_put(call->out, "\n");
        if (only != 0)
            return LW_OK;
    }
    if (only != 0)
        return LW_FAIL(err, LW_ENOENT, "findings: there is no finding number %" PRIu64, only);
    if (chk_count(view->chk) == 0)
        lw_put(call->out, chk_dropped_count(view->chk) != 0 || view->chk->options.kinds != 0
                              ? "there are no findings\n"
                              : "no checks are enabled: restart with --check, or use `check LIST`\n");
    return LW_OK;
}

const struct lw_command chk_commands[] = {
    {"check", "check", "[LIST|on|off]", "Show the enabled checks; LIST enables checks whose findings stop the run; off lets the run continue after findings; on lets findings stop the run again", "check memory",
     do_check, 0},
    {"findings", "findin", "[number]", "List the findings so far, or show one finding by its number", "findings", do_findings,
     LW_COMMAND_READONLY},
};
const size_t chk_command_count = LW_COUNT_OF(chk_commands);
