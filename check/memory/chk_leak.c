/* SPDX-License-Identifier: Apache-2.0 */
/* Reports objects of kernels' malloc that are live when the run has ended, grouped by the location of the malloc. */
#include "check/chk_priv.h"

#include <stdlib.h>
#include <string.h>

/** The malloc call that allocated the last object at an address. */
struct owner {
    uint64_t address; /* address of the allocation; 0: the entry is free */
    uint64_t pc, block;
    uint32_t grid;
    uint8_t warp, lane;
};
struct chk_leaks {
    struct chk *chk;
    struct lw_table owners; /* table of struct owner */
    struct { /* the malloc that is being executed, which serves its lanes in ascending order */
        struct owner first;
        struct emu_core *core;
        const struct isa_insn *insn;
        unsigned slot;
        uint64_t lanes; /* lanes that the malloc has not served yet */
    } now;
};

static void end(void *state)
{
    struct chk_leaks *leaks = state;

    free(leaks->owners.rows);
}

static bool wants(void *state, const struct emu_program *program, uint32_t index, const struct isa_insn *insn)
{
    (void)state, (void)program, (void)index;
    return insn->op == ISA_MALLOC;
}

/** Records a malloc instruction that is about to be executed. The machine event for each of its objects follows. */
static void on_insn(void *state, const struct emu_hook_site *site)
{
    struct chk_leaks *leaks = state;

    if (site->insn->op != ISA_MALLOC)
        return;
    leaks->now.first = (struct owner){.pc = chk_site_pc(site), .block = site->block, .grid = site->grid->sequence,
                                      .warp = (uint8_t)site->warp};
    leaks->now.core = site->core;
    leaks->now.slot = site->slot;
    leaks->now.insn = site->insn;
    leaks->now.lanes = site->lanes;
}

/** Returns the number of bytes that a lane requests, if lanes may request different numbers; otherwise returns 0. */
static uint64_t requested_bytes(const struct chk_leaks *leaks, unsigned lane)
{
    const struct isa_insn *insn = leaks->now.insn;
    const unsigned warp = leaks->now.first.warp, reg = isa_x_reg(insn->x);
    const enum isa_reg_class of = insn->xkind == ISA_X_SCALAR ? ISA_REG_S : ISA_REG_V;
    uint64_t low = 0, high = 0;

    if (insn->xkind != ISA_X_VECTOR && insn->xkind != ISA_X_SCALAR)
        return 0;
    (void)emu_reg_read(leaks->now.core, leaks->now.slot, warp, of, reg, lane, &low);
    (void)emu_reg_read(leaks->now.core, leaks->now.slot, warp, of, reg + 1, lane, &high);
    return high << 32 | low;
}

static void on_machine_event(void *state, const struct emu_machine_event *event)
{
    struct chk_leaks *leaks = state;

    if (event->kind != EMU_MACHINE_ALLOC)
        return;
    /* A lane whose request fails causes no event. Lanes that requested another size than the object's are therefore
     * skipped. If a request fails, later requests of the same size fail, too, so the first matching lane is the right
     * one. */
    while (leaks->now.lanes != 0) {
        const unsigned lane = lw_lowest(leaks->now.lanes);
        const uint64_t bytes = requested_bytes(leaks, lane);

        leaks->now.lanes &= leaks->now.lanes - 1;
        if (bytes != 0 && bytes != event->size_bytes)
            continue;
        bool is_new;
        struct owner *owner = lw_table_add(&leaks->owners, sizeof *owner, event->address, &is_new);
        if (owner == NULL) {
            leaks->chk->short_of_memory = true;
            return;
        }
        *owner = leaks->now.first;
        owner->address = event->address;
        owner->lane = (uint8_t)lane;
        return;
    }
}

/** Objects of one malloc that no kernel freed. */
struct leak {
    struct owner first; /* owner of the first object; its pc is 0 if the location of the malloc is not known */
    uint64_t objects, bytes;
};

static void add_leak(struct chk *chk, const struct leak *leak)
{
    struct chk_finding f = chk_finding_of(CHK_LEAK, leak->objects);
    char *text = lw_arena_printf(
        &chk->strings, "kernels never freed %llu allocation%s (%llu bytes in total) made by malloc%s; the %s is at "
                       "0x%llx", (unsigned long long)leak->objects, leak->objects == 1 ? "" : "s",
        (unsigned long long)leak->bytes, leak->first.pc != 0 ? " here" : "",
        leak->objects == 1 ? "only one" : "lowest", (unsigned long long)leak->first.address);

    f.address = leak->first.address;
    f.message = text != NULL ? text : "";
    chk->short_of_memory = chk->short_of_memory || text == NULL;
    if (leak->first.pc != 0)
        chk_location_at(chk, leak->first.grid, leak->first.block, leak->first.warp,
                     UINT64_C(1) << leak->first.lane, leak->first.pc, &f.location);
    if (f.location.kernel[0] == '\0') /* the machine no longer has the launch that made the allocation */
        f.location.kernel = f.location.function;
    (void)chk_add(chk, &f);
}

const struct chk_observer chk_leak_observer = {
    .kinds = UINT64_C(1) << CHK_LEAK, .past = CHK_PAST_NEEDED, .state_bytes = sizeof(struct chk_leaks),
    .end = end, .wants = wants, .on_insn = on_insn, .on_machine_event = on_machine_event};

void chk_leaks_add(struct chk *chk)
{
    const struct chk_leaks *leaks = chk_state(chk, &chk_leak_observer);
    struct leak *list = NULL;
    size_t count = 0, room = 0, k;
    struct emu_allocation a;

    for (unsigned i = 0; i < emu_allocation_count(chk->machine); i++) {
        const struct owner unknown = {0}, *owner = &unknown;

        /* a buffer of a launch file that kernels may free has its own name */
        if (!emu_allocation_get(chk->machine, i, &a) || !(a.flags & EMU_ALLOC_HEAP) ||
            (a.flags & EMU_ALLOC_FREED) || strcmp(a.name, "malloc") != 0)
            continue;
        if (leaks != NULL && leaks->owners.count != 0)
            owner = lw_table_find(&leaks->owners, sizeof *owner, a.address);
        for (k = 0; k < count && list[k].first.pc != owner->pc;)
            k++;
        if (k == count) {
            if (!lw_grow(&list, &room, count + 1, sizeof *list)) {
                chk->short_of_memory = true;
                break;
            }
            list[count++] = (struct leak){.first = *owner};
            list[k].first.address = a.address;
        }
        if (a.address < list[k].first.address) {
            list[k].first = *owner;
            list[k].first.address = a.address;
        }
        list[k].objects++;
        list[k].bytes += a.size_bytes;
    }
    for (k = 0; k < count; k++)
        add_leak(chk, &list[k]);
    free(list);
}
