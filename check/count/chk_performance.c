/* SPDX-License-Identifier: Apache-2.0 */
/* Makes performance findings from the counts of each line. */
#include "check/count/chk_count_priv.h"
#include "check/chk_priv.h"

#include <inttypes.h>
#include <stdlib.h>

enum {
    PARTS_TIMES = 2,  /* report if at least this many times the necessary number of sectors or wavefronts was used */
    PARTED_SHARE = 10 /* report if the lanes diverged in at least 1 / PARTED_SHARE of the executions of a branch */
};

static double per(uint64_t a, uint64_t b)
{
    return (double)a / (double)b;
}

static bool uncoalesced(const struct chk_tally *t, struct lw_sink *out)
{
    const struct chk_requests *r = &t->global;

    if (r->parts < PARTS_TIMES * r->least || r->count == 0)
        return false;
    lw_printf(out, "warps access global memory %" PRIu64 " time%s here; an access takes %.1f sectors of 32 bytes, but "
                   "%.1f would be enough if it were contiguous",
              r->count, r->count == 1 ? "" : "s", per(r->parts, r->count), per(r->least, r->count));
    return true;
}

static bool conflicts(const struct chk_tally *t, struct lw_sink *out)
{
    const struct chk_requests *r = &t->shared;

    if (r->parts < PARTS_TIMES * r->least || r->count == 0)
        return false;
    lw_printf(out, "warps access shared memory %" PRIu64 " time%s here; an access takes %.1f passes over the banks "
                   "because of bank conflicts, but %.1f would be enough without them",
              r->count, r->count == 1 ? "" : "s", per(r->parts, r->count), per(r->least, r->count));
    return true;
}

static bool divergent(const struct chk_tally *t, struct lw_sink *out)
{
    if (t->parted == 0 || t->parted * PARTED_SHARE < t->times)
        return false;
    lw_printf(out, "the lanes of a warp diverge here in %" PRIu64 " of %" PRIu64 " executions of the branch", t->parted,
              t->times);
    return true;
}

static bool local(const struct chk_tally *t, struct lw_sink *out)
{
    if (t->local == 0)
        return false;
    lw_printf(out, "%" PRIu64 " bytes of local memory are read or written here: registers are spilled, or a variable "
                              "is in local memory", t->local);
    return true;
}

/** The performance kinds. */
static const struct {
    enum chk_kind kind;
    uint8_t what;   /* CHK_COUNT_* of the instructions that the kind evaluates */
    size_t weight;  /* offset, in struct chk_tally, of the count that serves as weight; an instruction with weight 0 is
                     * ignored */
    bool (*report)(const struct chk_tally *t, struct lw_sink *out); /* prints the message, or returns false if the sum of
                                                                     * a line is below the threshold */
} lints[] = {
    {CHK_UNCOALESCED, CHK_COUNT_MEMORY, offsetof(struct chk_tally, global.count), uncoalesced},
    {CHK_BANK_CONFLICT, CHK_COUNT_MEMORY, offsetof(struct chk_tally, shared.count), conflicts},
    {CHK_DIVERGENT, CHK_COUNT_BRANCH, offsetof(struct chk_tally, times), divergent},
    {CHK_LOCAL_TRAFFIC, CHK_COUNT_MEMORY, offsetof(struct chk_tally, local), local},
};

/** Returns the instruction's weight for a kind; 0: the instruction is ignored. */
static uint64_t weight_of(size_t lint, const struct chk_line_entry *e)
{
    const char *tally = (const char *)&e->counts->tally[e->index];
    uint64_t weight = 0;

    if (e->counts->what[e->index] & lints[lint].what)
        memcpy(&weight, tally + lints[lint].weight, sizeof weight);
    return weight;
}

/** Evaluates one line for one kind. The instructions [from, to) of the line whose inlined calls have the key @calls are
 *  counted together. The finding is at the instruction with the largest weight. */
static void look(struct chk *chk, size_t lint, const struct chk_line_entry *e, size_t from,
                 size_t to, const uint64_t *key, uint64_t calls)
{
    struct chk_tally sum = {0};
    const struct chk_line_entry *most = NULL;
    struct lw_buffer text;

    for (size_t i = from; i < to; i++) {
        const uint64_t weight = key[i] == calls ? weight_of(lint, &e[i]) : 0;

        if (weight == 0)
            continue;
        if (most == NULL || weight > weight_of(lint, most))
            most = &e[i];
        chk_tally_add(&sum, &e[i].counts->tally[e[i].index]);
    }
    if (most == NULL)
        return;
    lw_buffer_init(&text);
    if (lints[lint].report(&sum, &text.sink)) {
        const struct isa_function *fn =
            isa_object_function_at(most->counts->object, most->index);
        struct chk_finding f = chk_finding_of(lints[lint].kind, 1);
        f.location = (struct chk_location){
            .kernel = sum.kernel != NULL ? sum.kernel->name : "", .grid = sum.grid, .function = fn != NULL ? fn->name : "",
            .file = chk_file_plain(chk, e[from].file), .line = e[from].line,
            .pc = emu_program_base(most->counts->program) + (uint64_t)most->index * ISA_WORD_BYTES};
        (void)chk_add_text(chk, &f, &text);
    } else
        lw_buffer_fini(&text);
}

/** Evaluates a line for one kind, with a finding for each chain of inlined calls that contains the line. */
static void look_by_calls(struct chk *chk, size_t lint, const struct chk_line_entry *e, size_t from,
                          size_t to, const uint64_t *key)
{
    uint64_t *seen = NULL;
    size_t count = 0, room = 0;

    for (size_t i = from; i < to; i++) {
        bool is_new = weight_of(lint, &e[i]) != 0;

        for (size_t k = 0; is_new && k < count; k++)
            is_new = seen[k] != key[i];
        if (!is_new)
            continue;
        if (!lw_grow(&seen, &room, count + 1, sizeof *seen)) {
            chk->short_of_memory = true;
            break;
        }
        seen[count++] = key[i];
        look(chk, lint, e, from, to, key, key[i]);
    }
    free(seen);
}

/** Returns the index after the entries of the function to which entry @from belongs. The instructions of a function without
 *  lines are evaluated together, like those of one line. */
static size_t lineless_end(const struct chk_line_entry *e, size_t count, size_t from)
{
    const struct isa_function *f = isa_object_function_at(e[from].counts->object, e[from].index);
    size_t to = from;

    while (to < count && isa_object_function_at(e[to].counts->object, e[to].index) == f)
        to++;
    return to;
}

void chk_lint(struct chk *chk)
{
    const struct chk_counters *counters = chk_state(chk, &chk_count_observer);

    for (unsigned pass = 0; counters != NULL && pass < 2; pass++) {
        size_t count = 0;
        struct chk_line_entry *e = chk_lines(counters, pass == 0, &count);
        uint64_t *key = calloc(count + 1, sizeof *key);

        chk->short_of_memory = chk->short_of_memory || e == NULL || key == NULL;
        for (size_t i = 0; e != NULL && key != NULL && i < count; i++)
            for (size_t k = 0; k < LW_COUNT_OF(lints) && key[i] == 0; k++)
                if (chk->options.kinds >> lints[k].kind & 1 && weight_of(k, &e[i]) != 0)
                    key[i] = chk_inline_key(e[i].counts->object, e[i].index);
        for (size_t at = 0, next; e != NULL && key != NULL && at < count; at = next) {
            next = pass == 0 ? chk_line_end(e, count, at, false) : lineless_end(e, count, at);
            for (size_t k = 0; k < LW_COUNT_OF(lints); k++)
                if (chk->options.kinds >> lints[k].kind & 1)
                    look_by_calls(chk, k, e, at, next, key);
        }
        free(e);
        free(key);
    }
}
