/* SPDX-License-Identifier: Apache-2.0 */
/* Objects of kernels' malloc that still live when the run has ended: by the place that got them. */
#include "check/chk_priv.h"

#include <stdlib.h>

/** Who got the object at an address last. */
struct owner {
    uint64_t address; /* 0: free */
    uint64_t pc, block;
    uint32_t grid;
    uint8_t warp, lane;
};
struct chk_leaks {
    struct chk *chk;
    struct owner *owners; /* open addressing, a power of two */
    size_t count, room;
    struct { /* the malloc that is being executed: its lanes are served in ascending order */
        struct owner first;
        struct emu_core *core;
        const struct isa_insn *insn;
        unsigned slot;
        uint64_t lanes; /* not served yet */
    } now;
    bool short_of_memory;
};

struct chk_leaks *chk_leaks_create(struct chk *chk)
{
    struct chk_leaks *leaks = calloc(1, sizeof *leaks);

    if (leaks != NULL)
        leaks->chk = chk;
    return leaks;
}

void chk_leaks_destroy(struct chk_leaks *leaks)
{
    if (leaks != NULL)
        free(leaks->owners);
    free(leaks);
}

bool chk_leaks_short_of_memory(const struct chk_leaks *leaks)
{
    return leaks->short_of_memory;
}

static struct owner *slot_of(struct owner *owners, size_t room, uint64_t address)
{
    size_t i = (size_t)(address * UINT64_C(0x9E3779B97F4A7C15) >> 24) & (room - 1);

    while (owners[i].address != 0 && owners[i].address != address)
        i = (i + 1) & (room - 1);
    return &owners[i];
}

static struct owner *owner_of(struct chk_leaks *leaks, uint64_t address)
{
    if (2 * (leaks->count + 1) > leaks->room) {
        const size_t room = leaks->room != 0 ? 2 * leaks->room : 256;
        struct owner *owners = calloc(room, sizeof *owners);

        if (owners == NULL)
            return NULL;
        for (size_t i = 0; i < leaks->room; i++)
            if (leaks->owners[i].address != 0)
                *slot_of(owners, room, leaks->owners[i].address) = leaks->owners[i];
        free(leaks->owners);
        leaks->owners = owners;
        leaks->room = room;
    }
    struct owner *owner = slot_of(leaks->owners, leaks->room, address);
    leaks->count += owner->address == 0;
    return owner;
}

void chk_leaks_insn(struct chk_leaks *leaks, const struct emu_hook_site *site)
{
    leaks->now.first = (struct owner){
        .pc = emu_program_base(site->program) + (uint64_t)site->index * ISA_WORD_BYTES,
        .block = site->block, .grid = site->grid->sequence, .warp = (uint8_t)site->warp};
    leaks->now.core = site->core;
    leaks->now.slot = site->slot;
    leaks->now.insn = site->insn;
    leaks->now.lanes = site->lanes;
}

/** Bytes that a lane asks for. */
static uint64_t requested_bytes(const struct chk_leaks *leaks, unsigned lane)
{
    const struct isa_insn *insn = leaks->now.insn;
    const unsigned warp = leaks->now.first.warp, reg = isa_x_reg(insn->x);
    const enum isa_reg_class of = insn->xkind == ISA_X_SCALAR ? ISA_REG_S : ISA_REG_V;
    uint64_t low = 0, high = 0;

    if (insn->xkind != ISA_X_VECTOR && insn->xkind != ISA_X_SCALAR)
        return 0; /* all lanes ask for the same */
    (void)emu_reg_read(leaks->now.core, leaks->now.slot, warp, of, reg, lane, &low);
    (void)emu_reg_read(leaks->now.core, leaks->now.slot, warp, of, reg + 1, lane, &high);
    return high << 32 | low;
}

void chk_leaks_alloc(struct chk_leaks *leaks, const struct emu_machine_event *event)
{
    /* a lane that got nothing says nothing: none after it gets what it requested either */
    while (leaks->now.lanes != 0) {
        const unsigned lane = lw_lowest(leaks->now.lanes);
        const uint64_t bytes = requested_bytes(leaks, lane);

        leaks->now.lanes &= leaks->now.lanes - 1;
        if (bytes != 0 && bytes != event->size_bytes)
            continue;
        struct owner *owner = owner_of(leaks, event->address);
        if (owner == NULL) {
            leaks->short_of_memory = true;
            return;
        }
        *owner = leaks->now.first;
        owner->address = event->address;
        owner->lane = (uint8_t)lane;
        return;
    }
}

/** What one malloc got and no kernel freed. */
struct leak {
    struct owner first; /* pc 0: it is not known who */
    uint64_t objects, bytes;
};

static void add_leak(struct chk *chk, const struct leak *leak)
{
    struct chk_finding f = {.kind = CHK_LEAK, .location = {.kernel = "", .function = "", .file = ""},
                            .other = {.kernel = "", .function = "", .file = ""},
                            .allocation = "", .address = leak->first.address, .count = leak->objects};
    char *text = lw_arena_printf(
        &chk->strings, "%llu object%s (%llu bytes in all) allocated by malloc%s and never freed; the %s is at "
        "0x%llx", (unsigned long long)leak->objects, leak->objects == 1 ? "" : "s",
        (unsigned long long)leak->bytes, leak->first.pc != 0 ? " here" : "",
        leak->objects == 1 ? "only one" : "lowest", (unsigned long long)leak->first.address);

    f.message = text != NULL ? text : "";
    chk->short_of_memory = chk->short_of_memory || text == NULL;
    if (leak->first.pc != 0)
        chk_location_at(chk, leak->first.grid, leak->first.block, leak->first.warp,
                     UINT64_C(1) << leak->first.lane, leak->first.pc, &f.location);
    if (f.location.kernel[0] == '\0') /* its launch is over and gone */
        f.location.kernel = f.location.function;
    (void)chk_add(chk, &f);
}

void chk_leaks_add(struct chk *chk)
{
    struct chk_leaks *leaks = chk->leaks;
    struct leak *list = NULL;
    size_t count = 0, room = 0, k;
    struct emu_allocation a;

    for (unsigned i = 0; i < emu_allocation_count(chk->machine); i++) {
        const struct owner unknown = {0}, *owner = &unknown;

        if (!emu_allocation_get(chk->machine, i, &a) || !(a.flags & EMU_ALLOC_HEAP) ||
            (a.flags & EMU_ALLOC_FREED))
            continue;
        if (leaks != NULL && leaks->room != 0)
            owner = slot_of(leaks->owners, leaks->room, a.address);
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
