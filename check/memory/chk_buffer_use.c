/* SPDX-License-Identifier: Apache-2.0 */
/* Reports accesses of kernels that the host program has forbidden, such as stores to a buffer that it created as read-only. The
 * machine executes these accesses. */
#include "check/chk_priv.h"

#include <stdlib.h>

struct rule {
    uint64_t first, end; /* range of addresses */
    bool loads, stores;  /* what is forbidden */
    const char *why;
};
struct chk_buffer_use {
    struct chk *chk;
    struct rule *rules; /* owned */
    size_t count, capacity;
};

static void end(void *state)
{
    free(((struct chk_buffer_use *)state)->rules);
}

static bool wants(void *state, const struct emu_program *program, uint32_t index, const struct isa_insn *insn)
{
    (void)state, (void)program, (void)index, (void)insn;
    return true;
}

/** Returns the rule that an access of @bytes at @at violates, or NULL if there is none. */
static const struct rule *rule_at(const struct chk_buffer_use *c, enum emu_access_kind kind, uint64_t at, unsigned bytes)
{
    for (size_t i = 0; i < c->count; i++) {
        const struct rule *r = &c->rules[i];

        if (at < r->end && at + bytes > r->first && ((r->loads && kind != EMU_ACCESS_STORE) || (r->stores && kind != EMU_ACCESS_LOAD)))
            return r;
    }
    return NULL;
}

static void on_access(void *state, const struct emu_hook_access *a)
{
    const struct chk_buffer_use *c = state;
    const struct rule *rule = NULL;
    uint64_t lanes = 0, first = 0;
    struct chk_finding f;
    struct lw_buffer text;

    if (c->count == 0 || a->kind == EMU_ACCESS_CONSTANT || a->space == ISA_SPACE_SHARED || a->space == ISA_SPACE_LOCAL) {
        *a->filter = (struct emu_hook_filter){.end = INT64_MAX, .ignore_split = true};
        return;
    }
    for (LW_EACH_BIT(l, a->at.lanes)) {
        const uint64_t at = chk_hook_address(a, (unsigned)l);
        const struct rule *r = rule_at(c, a->kind, at, a->bytes);

        if (r == NULL || (rule != NULL && r != rule))
            continue;
        if (rule == NULL)
            first = at;
        rule = r;
        lanes |= UINT64_C(1) << l;
    }
    if (rule == NULL)
        return;
    f = chk_finding_of(CHK_API_BUFFER, lw_popcount(lanes));
    chk_location_of(c->chk, &a->at, lanes, &f.location);
    f.address = first;
    f.allocation = chk_allocation_name(c->chk, first);
    lw_buffer_init(&text);
    lw_printf(&text.sink, "%s of %u byte%s at 0x%llx, in '%s', although %s", chk_access_names[a->kind], a->bytes,
              a->bytes == 1 ? "" : "s", (unsigned long long)first, f.allocation, rule->why);
    (void)chk_add_text(c->chk, &f, &text);
}

/** Removes the rules for memory that is freed. */
static void on_machine_event(void *state, const struct emu_machine_event *event)
{
    struct chk_buffer_use *c = state;
    size_t kept = 0;

    if (event->kind != EMU_MACHINE_FREE)
        return;
    for (size_t i = 0; i < c->count; i++)
        if (c->rules[i].first < event->address || c->rules[i].end > event->address + event->size_bytes)
            c->rules[kept++] = c->rules[i];
    c->count = kept;
}

enum lw_status chk_forbid(struct chk *chk, uint64_t address, uint64_t bytes, bool loads, bool stores, const char *why, struct lw_error *err)
{
    struct chk_buffer_use *c = chk_state(chk, &chk_buffer_use_observer);
    char *copy = c != NULL ? lw_arena_strdup(&chk->strings, why) : NULL;

    if (c == NULL)
        return LW_OK;
    if (copy == NULL || !lw_grow(&c->rules, &c->capacity, c->count + 1, sizeof *c->rules))
        return LW_FAIL(err, LW_ENOMEM, "a rule for accesses to memory");
    if (c->count == 0)
        emu_hooks_invalidate_filters(chk->machine);
    c->rules[c->count++] = (struct rule){address, address + bytes, loads, stores, copy};
    return LW_OK;
}

void chk_permit(struct chk *chk, uint64_t address, uint64_t bytes, const char *why)
{
    struct chk_buffer_use *c = chk_state(chk, &chk_buffer_use_observer);

    for (size_t i = 0; c != NULL && i < c->count; i++)
        if (c->rules[i].first == address && c->rules[i].end == address + bytes && strcmp(c->rules[i].why, why) == 0) {
            c->rules[i] = c->rules[--c->count];
            return;
        }
}

const struct chk_observer chk_buffer_use_observer = {
    .kinds = UINT64_C(1) << CHK_API_BUFFER, .past = CHK_PAST_UNUSED, .state_bytes = sizeof(struct chk_buffer_use), .end = end,
    .wants = wants, .on_access = on_access, .on_machine_event = on_machine_event};
