/* SPDX-License-Identifier: Apache-2.0 */
#include "emu/simt/emu_split_priv.h"
#include "emu/inspect/emu_spin_observer_priv.h"
#include "emu/bytes/emu_state_priv.h"

#include <stdlib.h>

enum { MAX_POLLS = 4096, LEAST_SEEN = 1024, MOST_SEEN = 1 << 16, SEEN_PER_SPLIT = 256 };

static struct emu_poll *poll_of(struct emu_spin_observer *probe, const struct emu_event *ev)
{
    for (size_t i = 0; i < probe->count; i++) {
        struct emu_poll *p = &probe->poll[i];
        if (p->pc == ev->pc && p->warp == ev->warp && p->block == ev->block &&
            p->grid == ev->grid->sequence)
            return p;
    }
    if (probe->count == MAX_POLLS || !lw_grow(&probe->poll, &probe->capacity, probe->count + 1,
                                              sizeof *probe->poll)) {
        probe->incomplete = true;
        return NULL;
    }
    struct emu_poll *p = &probe->poll[probe->count++];
    memset(p, 0, sizeof *p);
    p->grid = ev->grid->sequence;
    p->block = ev->block;
    p->warp = ev->warp;
    p->pc = ev->pc;
    return p;
}

/** Returns true for addresses in local memory, which only the lane itself can write, and in constant banks, which never change:
 *  no lane can wait for a change of a value there. */
static bool is_private(uint64_t address)
{
    return address >= ISA_LOCAL_BASE && address < ISA_GLOBAL_BASE;
}

static void note(struct emu_spin_observer *probe, const struct emu_event *ev,
                 const struct emu_access *access)
{
    uint64_t lanes = access->lanes;
    unsigned bytes = access->bytes < 16 ? access->bytes : 16;
    struct emu_poll *p;

    for (LW_EACH_BIT(l, lanes))
        if (is_private(access->address[l]))
            lanes &= ~(UINT64_C(1) << l);
    if (lanes == 0 || (p = poll_of(probe, ev)) == NULL)
        return;
    p->kind = access->kind;
    p->bytes = access->bytes;
    p->ordered = access->kind >= EMU_ACCESS_ATOMIC || access->order != ISA_MORDER_WEAK;
    for (LW_EACH_BIT(l, lanes)) {
        uint64_t bit = UINT64_C(1) << l;
        if (p->lanes & bit) {
            p->again |= bit;
            if (p->address[l] != access->address[l])
                p->moved |= bit;
            else if (access->old_value != NULL &&
                     memcmp(p->value[l], access->old_value[l], bytes) != 0)
                p->changed |= bit;
        }
        p->address[l] = access->address[l];
        if (access->old_value != NULL)
            memcpy(p->value[l], access->old_value[l], bytes);
    }
    p->lanes |= lanes;
}

/* ---- proofs ---------------------------------------------------------------------------------- */

/* Number of a warp's steps that an observation inspects: a fixed fraction of the hang window that precedes the observation, so
 * that observations take a fixed fraction of the time of long computations. */
enum { WINDOW_SHIFT = 12, LEAST_STEPS = 1 << 12, MOST_STEPS = 1 << 20 };

static uint64_t steps_to_see(uint64_t window, unsigned tries)
{
    uint64_t steps = window >> WINDOW_SHIFT;

    steps = steps < LEAST_STEPS ? LEAST_STEPS : steps;
    return steps > (uint64_t)MOST_STEPS >> (tries < 20 ? tries : 20) ? MOST_STEPS : steps << tries;
}

static struct emu_cycle *find_cycle(const struct emu_spin_observer *probe, const struct emu_warp *w)
{
    const uint32_t i = w->cycle;
    struct emu_cycle *c = i < probe->cycle_count ? &probe->cycle[i] : NULL;

    return c != NULL && c->warp == w->index && c->block == w->block->linear &&
                   c->grid == w->block->grid->sequence
               ? c
               : NULL;
}

static struct emu_cycle *add_cycle(struct emu_spin_observer *probe, struct emu_warp *w)
{
    struct emu_cycle *c;

    if (!lw_grow(&probe->cycle, &probe->cycle_capacity, probe->cycle_count + 1, sizeof *probe->cycle))
        return NULL;
    w->cycle = (uint32_t)probe->cycle_count;
    c = &probe->cycle[probe->cycle_count++];
    *c = (struct emu_cycle){.grid = w->block->grid->sequence, .block = w->block->linear, .warp = w->index};
    return c;
}

/** Observes a step of a warp for which there is no proof yet. */
static void see(struct emu_spin_observer *probe, struct emu_warp *w, const struct emu_event *ev)
{
    struct emu_cycle *c = find_cycle(probe, w);
    struct emu_block *block = w->block;
    uint32_t waits = 0;

    if (c == NULL && (c = add_cycle(probe, w)) == NULL) {
        probe->failed = true;
        return;
    }
    switch (emu_cycle_see(c, w, ev, probe->most, (enum emu_order)probe->order, &waits)) {
    case EMU_CYCLE_MORE:
        break;
    case EMU_CYCLE_GIVEN_UP:
        probe->failed = true;
        break;
    case EMU_CYCLE_PROVED:
        if (block->look != probe->serial)
            block->look_arrives = block->look_waits = 0;
        block->look = w->look = probe->serial;
        block->look_arrives |= c->arrives;
        block->look_waits |= waits;
        c->over = true;
        emu_cycle_fini(c);
        break;
    }
}

static uint64_t running(const struct emu_warp *w)
{
    return w->split_in[EMU_SPLIT_READY] | w->split_in[EMU_SPLIT_YIELDED] |
           w->split_in[EMU_SPLIT_SLEEPING];
}

bool emu_spin_observer_has_proof(const struct emu_spin_observer *probe, struct emu_block *block)
{
    uint32_t waits = 0, arrives = 0;

    if (block->look == probe->serial) {
        waits = block->look_waits;
        arrives = block->look_arrives;
    }
    for (unsigned i = 0; i < block->warp_count; i++) {
        const struct emu_warp *w = &block->warp[i];
        if (w->live == 0 || w->look == probe->serial)
            continue;
        if (running(w) != 0)
            return false;
        for (LW_EACH_BIT(id, w->split_in[EMU_SPLIT_CTA]))
            waits |= 1u << (w->split[id].barrier & 15);
    }
    /* A looping warp that arrives at a barrier at which lanes wait could release these lanes. */
    return (waits & arrives) == 0;
}

bool emu_spin_observer_wants(const struct emu_spin_observer *probe, const struct emu_warp *w)
{
    if (!probe->attached)
        return false;
    if (w->look == probe->serial) /* reads of a proved warp are recorded only after all warps of the block are proved */
        return emu_spin_observer_has_proof(probe, w->block);
    if (find_cycle(probe, w) != NULL)
        return true;
    for (size_t i = probe->cycle_count; i-- > 0;) {
        const struct emu_cycle *c = &probe->cycle[i];
        if (c->block != w->block->linear || c->grid != w->block->grid->sequence)
            break;
        if (!c->over && c->warp < w->block->warp_count && running(&w->block->warp[c->warp]) != 0)
            return false;
    }
    return true;
}

static bool on_event(struct emu_observer *observer, const struct emu_event *ev)
{
    struct emu_spin_observer *probe = (struct emu_spin_observer *)(void *)observer;
    struct emu_block *block = emu_core_block(ev->core, ev->slot);

    if (probe->failed || !block->in_use || ev->warp >= block->warp_count)
        return false;
    if (block->warp[ev->warp].look != probe->serial) {
        see(probe, &block->warp[ev->warp], ev);
        return false;
    }
    for (unsigned i = 0; i < ev->access_count; i++) /* records the accesses of a warp that is proved to loop for ever */
        if (ev->access[i].kind != EMU_ACCESS_CONSTANT && ev->kind == EMU_EV_RETIRED)
            note(probe, ev, &ev->access[i]);
    for (unsigned i = 0; i < probe->block_count; i++)
        if (probe->block[i].linear == ev->block && probe->block[i].grid == ev->grid->sequence &&
            probe->block[i].left > 0)
            probe->block[i].left--;
    return false;
}

struct emu_spin_observer *emu_spin_observer_begin(struct emu_machine *machine, unsigned tries)
{
    struct emu_spin_observer *probe = calloc(1, sizeof *probe);

    if (probe == NULL)
        return NULL;
    probe->observer.on_event = on_event;
    probe->serial = __atomic_add_fetch(&machine->looks, 1, __ATOMIC_RELAXED);
    probe->most = steps_to_see(machine->config.hang_window, tries);
    return probe;
}

struct emu_spin_observer *emu_spin_observer_create(struct emu_machine *machine, unsigned tries, bool chosen)
{
    struct emu_spin_observer *probe = emu_spin_observer_begin(machine, tries);

    if (probe == NULL)
        return NULL;
    probe->order = chosen ? EMU_ORDER_CHOSEN : EMU_ORDER_ANY;
    if (chosen) /* A debugger's user waits for the result, so the observation is short. */
        probe->most = steps_to_see(0, tries);
    return probe;
}

void emu_spin_observer_destroy(struct emu_spin_observer *probe)
{
    if (probe == NULL)
        return;
    for (size_t i = 0; i < probe->cycle_count; i++)
        emu_cycle_fini(&probe->cycle[i]);
    free(probe->cycle);
    free(probe->poll);
    free(probe);
}

struct emu_observer *emu_spin_observer_events(struct emu_spin_observer *probe)
{
    return &probe->observer;
}

/** Returns the index of @block in probe->block[], or block_count if it is not there. */
static unsigned find(const struct emu_spin_observer *probe, const struct emu_block *block)
{
    uint32_t grid = block->grid != NULL ? block->grid->sequence : 0;
    unsigned i = 0;

    while (i < probe->block_count &&
           (probe->block[i].linear != block->linear || probe->block[i].grid != grid))
        i++;
    return i;
}

bool emu_spin_observer_has_block(const struct emu_spin_observer *probe, const struct emu_block *block)
{
    unsigned i = find(probe, block);

    return i < probe->block_count && probe->block[i].left == 0;
}

bool emu_spin_observer_saw_reads(struct emu_spin_observer *probe, const struct emu_block *block)
{
    uint64_t splits = 0, left;
    unsigned known = find(probe, block);

    if (known < probe->block_count)
        return probe->block[known].left == 0;
    if (probe->block_count == EMU_SPIN_OBSERVER_BLOCKS)
        return true;
    for (unsigned i = 0; i < block->warp_count; i++) {
        const struct emu_warp *w = &block->warp[i];
        splits += lw_popcount(w->split_in[EMU_SPLIT_READY] | w->split_in[EMU_SPLIT_YIELDED] |
                              w->split_in[EMU_SPLIT_SLEEPING]);
    }
    left = splits * SEEN_PER_SPLIT;
    left = left < LEAST_SEEN ? LEAST_SEEN : left > MOST_SEEN ? MOST_SEEN : left;
    probe->block[probe->block_count].grid = block->grid != NULL ? block->grid->sequence : 0;
    probe->block[probe->block_count].linear = block->linear;
    probe->block[probe->block_count++].left = left;
    return false;
}

bool emu_core_probed(const struct emu_core *core, unsigned slot, struct emu_spin_observer *probe)
{
    struct emu_block *block = emu_core_block(core, slot);

    return block->warps_live == 0 || !emu_block_can_run(block) ||
           (emu_spin_observer_has_proof(probe, block) && emu_spin_observer_saw_reads(probe, block));
}

bool emu_spin_observer_gave_up(const struct emu_spin_observer *probe)
{
    return probe->failed;
}

bool emu_core_has_cycle(const struct emu_core *core, unsigned slot, unsigned warp, const struct emu_spin_observer *probe)
{
    const struct emu_block *block = emu_core_block(core, slot);

    return warp < block->warp_count && block->warp[warp].look == probe->serial;
}

static bool overlap(uint64_t a, unsigned a_bytes, uint64_t b, unsigned b_bytes)
{
    return a < b + b_bytes && b < a + a_bytes;
}

bool emu_spin_observer_is_written(const struct emu_spin_observer *probe, const struct emu_poll *poll, unsigned lane)
{
    uint64_t at = poll->address[lane];
    bool shared = at >= ISA_SHARED_BASE && at < ISA_LOCAL_BASE;

    for (size_t i = 0; i < probe->count; i++) {
        const struct emu_poll *p = &probe->poll[i];
        if (p->kind == EMU_ACCESS_LOAD || (shared && (p->grid != poll->grid || p->block != poll->block)))
            continue;
        /* An atomic that changes a byte is progress, and ends the observation. Recorded atomics have therefore changed nothing,
         * and count as reads if their address stays the same. */
        const bool stores = p->kind == EMU_ACCESS_STORE;
        for (LW_EACH_BIT(l, p->lanes))
            if ((p->moved >> l & 1) || (stores && overlap(at, poll->bytes, p->address[l], p->bytes)))
                return true; /* a store whose address changes may write the location later */
    }
    return false;
}

/* ---- as bytes ------------------------------------------------------------------------- */

static void save_poll(const struct emu_poll *p, struct emu_bytes *out)
{
    EMU_SAVE(EMU_STATE_POLL, p, out);
    for (LW_EACH_BIT(l, p->lanes)) {
        emu_put_number(out, p->address[l]);
        emu_put(out, p->value[l], sizeof p->value[l]);
    }
}

static bool load_poll(struct emu_poll *p, struct emu_reader *in)
{
    memset(p, 0, sizeof *p);
    EMU_LOAD(EMU_STATE_POLL, p, in);
    for (LW_EACH_BIT(l, p->lanes)) {
        p->address[l] = emu_get_number(in);
        const uint8_t *value = emu_get(in, sizeof p->value[l]);
        if (value != NULL)
            memcpy(p->value[l], value, sizeof p->value[l]);
    }
    return !in->bad && p->kind <= EMU_ACCESS_CONSTANT && p->bytes <= sizeof p->value[0];
}

void emu_spin_observer_save(const struct emu_spin_observer *p, struct emu_bytes *out)
{
    emu_put_number(out, p != NULL);
    if (p == NULL)
        return;
    EMU_SAVE(EMU_STATE_PROBE, p, out);
    emu_put_number(out, p->cycle_count);
    for (size_t i = 0; i < p->cycle_count; i++)
        emu_cycle_save(&p->cycle[i], out);
    emu_put_number(out, p->block_count);
    for (unsigned i = 0; i < p->block_count; i++) {
        emu_put_number(out, p->block[i].grid);
        emu_put_number(out, p->block[i].linear);
        emu_put_number(out, p->block[i].left);
    }
    emu_put_number(out, p->count);
    for (size_t i = 0; i < p->count; i++)
        save_poll(&p->poll[i], out);
}

static enum lw_status load(struct emu_spin_observer *p, struct emu_reader *in, struct lw_error *err)
{
    EMU_LOAD(EMU_STATE_PROBE, p, in);
    const size_t cycles = (size_t)emu_get_number(in);
    for (size_t i = 0; i < cycles && !in->bad; i++) {
        if (!lw_grow(&p->cycle, &p->cycle_capacity, i + 1, sizeof *p->cycle))
            return LW_FAIL(err, LW_ENOMEM, "the host has no memory to observe loops without progress");
        p->cycle_count++;
        if (!emu_cycle_load(&p->cycle[i], in))
            return emu_state_bad(err, "the observed loops");
    }
    p->block_count = (unsigned)emu_get_limited(in, EMU_SPIN_OBSERVER_BLOCKS);
    for (unsigned i = 0; i < p->block_count; i++) {
        p->block[i].grid = (uint32_t)emu_get_limited(in, UINT32_MAX);
        p->block[i].linear = emu_get_number(in);
        p->block[i].left = emu_get_number(in);
    }
    size_t count = (size_t)emu_get_limited(in, MAX_POLLS);
    if (in->bad)
        return emu_state_bad(err, "the observed loops");
    if (!lw_grow(&p->poll, &p->capacity, count, sizeof *p->poll))
        return LW_FAIL(err, LW_ENOMEM, "the host has no memory to observe loops without progress");
    for (; p->count < count; p->count++)
        if (!load_poll(&p->poll[p->count], in))
            return emu_state_bad(err, "the observed loops");
    return LW_OK;
}

enum lw_status emu_spin_observer_load(struct emu_machine *machine, struct emu_spin_observer **probe,
                              struct emu_reader *in, struct lw_error *err)
{
    enum lw_status status;

    emu_spin_observer_destroy(*probe);
    *probe = NULL;
    if (emu_get_limited(in, 1) == 0)
        return in->bad ? emu_state_bad(err, "the observed loops") : LW_OK;
    *probe = emu_spin_observer_begin(machine, 0);
    if (*probe == NULL)
        return LW_FAIL(err, LW_ENOMEM, "the host has no memory to observe loops without progress");
    status = load(*probe, in, err);
    if (machine->looks < (*probe)->serial) /* the observation may have been loaded from another machine's file; its number must
                                            * not be used again */
        machine->looks = (*probe)->serial;
    if (status != LW_OK) {
        emu_spin_observer_destroy(*probe);
        *probe = NULL;
    }
    return status;
}
