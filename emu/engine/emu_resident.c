/* SPDX-License-Identifier: Apache-2.0 */
/* The list of resident blocks in the fixed order (MACHINE 4): which blocks become resident, and which leave. */
#include <stdlib.h>

#include "emu/grid/emu_grid_priv.h"
#include "emu/engine/emu_engine_priv.h"
#include "emu/engine/emu_threads_priv.h"

/* ---- the list --------------------------------------------------------------------------- */

/* Blocks usually leave at the front of the list of resident blocks. Therefore the list may start anywhere in its memory. When
 * there is space for more than count + SLACK elements before the list, the list is moved to the start of the memory. */
enum { SLACK = 64 };

static void to_front(struct emu_functional *f)
{
    if (f->count != 0)
        memmove(f->places, f->resident, f->count * sizeof *f->resident);
    f->resident = f->places;
}
bool emu_resident_capacity(struct emu_functional *f, size_t need)
{
    size_t room = f->place_count, words = (room + 63) / 64;
    bool enough;

    if (f->resident != NULL && need <= (size_t)(f->places + room - f->resident))
        return true;
    to_front(f);
    enough = lw_grow(&f->places, &room, need, sizeof *f->places);
    f->resident = f->places;
    if (enough && (room + 63) / 64 != words) {
        uint64_t *numbers = realloc(f->free_numbers, (room + 63) / 64 * sizeof *numbers);
        if (numbers == NULL)
            return false;
        memset(numbers + words, 0xff, ((room + 63) / 64 - words) * sizeof *numbers);
        f->free_numbers = numbers;
    }
    f->place_count = (unsigned)room;
    return enough;
}

void emu_resident_clear(struct emu_functional *f)
{
    f->count = 0;
    f->low_number = 0;
    memset(f->free_numbers, 0xff, (f->place_count + 63) / 64 * sizeof *f->free_numbers);
}

bool emu_resident_take_number(struct emu_functional *f, struct emu_resident *r, uint64_t number)
{
    if (number >= f->place_count || !(f->free_numbers[number / 64] >> number % 64 & 1))
        return false;
    f->free_numbers[number / 64] &= ~(UINT64_C(1) << number % 64);
    r->number = (unsigned)number;
    return true;
}

/** Gives @r the lowest free slot number. There are as many slot numbers as elements for which the list has memory. */
static void number(struct emu_functional *f, struct emu_resident *r)
{
    unsigned word = f->low_number / 64;

    while (f->free_numbers[word] == 0)
        word++;
    f->low_number = word * 64 + lw_lowest(f->free_numbers[word]);
    (void)emu_resident_take_number(f, r, f->low_number);
}

void emu_resident_insert(struct emu_functional *f, unsigned at, struct emu_grid *grid,
                         uint64_t linear, int slot)
{
    if (f->resident + f->count == f->places + f->place_count)
        to_front(f);
    memmove(&f->resident[at + 1], &f->resident[at], (f->count - at) * sizeof *f->resident);
    f->resident[at] = (struct emu_resident){.grid = grid, .linear = linear, .slot = slot};
    number(f, &f->resident[at]);
    f->count++;
}
void emu_resident_remove(struct emu_functional *f, unsigned at)
{
    struct emu_resident *r = &f->resident[at];

    f->free_numbers[r->number / 64] |= UINT64_C(1) << r->number % 64;
    f->low_number = r->number < f->low_number ? r->number : f->low_number;
    f->count--;
    if (at != 0)
        memmove(r, r + 1, (f->count - at) * sizeof *r);
    else if (++f->resident - f->places > f->count + SLACK)
        to_front(f);
}

/* ---- the order of blocks that the device launches -------------------------------------------------- */

const char *const emu_child_order_names[] = {"lazy", "eager", "lifo", "random", NULL};

/** Returns whether an option other than `lazy`, which is the fixed order, orders blocks now. */
static bool orders_children(const struct emu_functional *f)
{
    return f->base.machine->config.child_order != EMU_CHILD_LAZY && f->base.machine->device_open != 0 && !f->placed;
}

/** Returns a number below @n that depends only on the seed, on the position in the run, and on @salt. So a run that continues from a
 *  snapshot draws the same numbers. */
static unsigned draw(const struct emu_functional *f, unsigned n, uint64_t salt)
{
    uint64_t x = f->base.machine->config.child_seed + f->core->retired * UINT64_C(0x9e3779b97f4a7c15) + salt * UINT64_C(0xd1342543de82ef95);

    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return (unsigned)((x ^ x >> 31) >> 16) % n;
}

/** Returns whether the block was launched by the device and has not begun. */
static bool is_new_child(const struct emu_resident *r)
{
    return r->slot < 0 && r->grid->depth != 0;
}

unsigned emu_resident_next(const struct emu_functional *f, unsigned after, unsigned tries)
{
    const struct emu_resident *best = NULL;

    if (orders_children(f) && f->base.machine->config.child_order == EMU_CHILD_RANDOM)
        return draw(f, f->count, tries);
    for (unsigned i = 0; orders_children(f) && i < f->count; i++) {
        const struct emu_resident *r = &f->resident[i];

        if (is_new_child(r) && (best == NULL || (f->base.machine->config.child_order == EMU_CHILD_LIFO
                                                     ? r->grid->sequence > best->grid->sequence
                                                     : r->grid->depth > best->grid->depth)))
            best = r;
    }
    return best != NULL ? (unsigned)(best - f->resident) : after % f->count;
}

bool emu_resident_gives_way(const struct emu_functional *f)
{
    const struct emu_resident *turn = &f->resident[f->current];

    if (!orders_children(f) || f->base.machine->config.child_order == EMU_CHILD_LIFO || turn->slot < 0)
        return false;
    for (unsigned i = 0; i < f->count; i++) {
        const struct emu_resident *r = &f->resident[i];

        if (is_new_child(r) && r->grid->parent.grid == turn->grid->sequence && r->grid->parent.block == turn->linear)
            return f->base.machine->config.child_order == EMU_CHILD_EAGER || draw(f, 2, 0) != 0;
    }
    return false;
}

/* ---- blocks that become resident, and blocks that leave ------------------------------------------ */

/** Claims the next block that no thread has claimed, unless the run stops at a lower block. */
static void claim_block(struct emu_functional *f)
{
    uint64_t b = __atomic_fetch_add(&f->claims->next, 1, __ATOMIC_RELAXED);

    if (b < f->grid->block_count && b <= __atomic_load_n(&f->claims->limit, __ATOMIC_RELAXED))
        emu_resident_insert(f, f->count, f->grid, b, -1);
}

/** Returns the list index at which block (@grid, @linear) is, or at which it would be inserted. */
static unsigned slot_of(const struct emu_functional *f, uint32_t grid, uint64_t linear)
{
    unsigned low = 0, high = f->count;

    while (low < high) {
        unsigned middle = low + (high - low) / 2;
        const struct emu_resident *r = &f->resident[middle];
        if (r->grid->sequence < grid || (r->grid->sequence == grid && r->linear < linear))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/** Makes the next block of @grid resident. Adjusts f->current so that it is still the index of @turn, which is the running block,
 *  or the block that has just left the list. Returns false if there is no memory. */
static bool make_resident(struct emu_functional *f, struct emu_grid *grid,
                          const struct emu_resident *turn)
{
    uint64_t linear = grid->blocks_placed;
    unsigned at = slot_of(f, grid->sequence, linear);

    if (!emu_resident_capacity(f, f->count + 1u))
        return false;
    grid->blocks_placed++;
    emu_resident_insert(f, at, grid, linear, -1);
    if (turn != NULL && (grid->sequence < turn->grid->sequence ||
                         (grid->sequence == turn->grid->sequence && linear < turn->linear)))
        f->current++;
    return true;
}

/** Space for resident blocks, counted in warps, which take_slot() gives to blocks in ascending order. */
struct places {
    uint64_t room, used;
    uint64_t levels; /* set of the nesting levels that have a resident block, as bits */
    bool full;
};

static bool take_slot(struct places *p, const struct emu_grid *grid)
{
    uint64_t level = UINT64_C(1) << grid->depth;

    if (!p->full && p->used + grid->block_warps <= p->room)
        p->used += grid->block_warps;
    else if (p->full = true, p->levels & level)
        return false;
    p->levels |= level;
    return true;
}

/** Makes blocks resident when the device has launched kernels: the lowest blocks of launches that may start, as many as the
 *  limit config.resident_warps permits. Each level of nesting gets one block in any case, so that a block that waits for its
 *  children, at launch.sync or by polling, does not prevent its children from running. A suspended block does not count against
 *  the limit, unless slots are scarce. Resident blocks remain resident, whether they count against the limit or not. The result
 *  therefore does not depend on how often this function is called between the ends of two blocks. */
static void fill_many(struct emu_functional *f, const struct emu_resident *turn)
{
    struct emu_machine *machine = f->base.machine;
    struct places p = {.room = machine->config.resident_warps};
    const bool rare = f->count + EMU_LAUNCH_NESTING >= emu_fixed_slots(machine);
    struct emu_grid *g = f->grid, *next = machine->first_start;
    unsigned i = 0;

    for (;;) {
        for (; i < f->count && f->resident[i].grid->sequence <= g->sequence; i++) {
            const struct emu_block *b = emu_resident_block(f, &f->resident[i]);
            if (b == NULL || (b->warps_live != 0 && (rare || !emu_block_suspended(b))))
                (void)take_slot(&p, f->resident[i].grid);
        }
        for (; g->blocks_placed < g->block_count; i++) {
            p.full = p.full || f->count + EMU_LAUNCH_NESTING >= emu_fixed_slots(machine);
            if (!take_slot(&p, g) || !make_resident(f, g, turn))
                break;
        }
        if (g->blocks_placed == g->block_count)
            emu_grid_started(machine, g);
        if (next == NULL || (p.full && (machine->start_levels & ~p.levels) == 0))
            return; /* No later block can become resident either. */
        g = next;
        next = g->queue.next;
    }
}
_Static_assert(EMU_LAUNCH_NESTING <= 64, "a bit for each level");

bool emu_resident_prepare_next(struct emu_functional *f)
{
    const struct emu_machine *machine = f->base.machine;

    if (f->placed || f->count == 0 || f->current != 0 || f->resident->slot >= 0)
        return false;
    if (f->claims != NULL && f->count == 1 && emu_resident_capacity(f, 2))
        claim_block(f);
    if (f->count > 1)
        return f->resident[1].grid == f->resident->grid && f->resident[1].slot < 0;
    return f->claims == NULL && machine->device_open == 0 && f->grid->blocks_placed < f->grid->block_count;
}

/** Makes further blocks resident. @turn: the running block, or the block that has just left the list, or NULL if there is no such
 *  block. */
static void fill_residents(struct emu_functional *f, const struct emu_resident *turn)
{
    if (f->claims != NULL) {
        if (f->count == 0)
            claim_block(f);
        return;
    }
    f->launches_seen = f->base.machine->launch_changes;
    if (f->base.machine->device_open != 0) {
        fill_many(f, turn);
        return;
    }
    while (f->count < f->capacity && f->grid->blocks_placed < f->grid->block_count)
        emu_resident_insert(f, f->count, f->grid, f->grid->blocks_placed++, -1);
}

void emu_fixed_refill(struct emu_functional *f)
{
    struct emu_resident turn;

    if (f->placed)
        return;
    if (f->count == 0) {
        fill_residents(f, NULL);
        return;
    }
    turn = f->resident[f->current]; /* a copy, because fill_residents() moves the list element */
    fill_residents(f, &turn);
}

void emu_fixed_new_slice(struct emu_functional *f)
{
    f->turn_left = f->order_free ? UINT64_MAX : EMU_BLOCK_SLICE;
    f->warp_left = 0;
    if (orders_children(f) && f->base.machine->config.child_order == EMU_CHILD_RANDOM)
        f->turn_left = 1 + draw(f, 4096, 1); /* so that blocks are interleaved in many ways */
    if (f->order_free) { /* with order_free, each block has its own hang window */
        f->watch_at = f->core->retired;
        f->tries = 0;
        emu_spin_observer_destroy(f->probe);
        f->probe = NULL;
    }
}

void emu_functional_claim(struct emu_functional *f, struct emu_grid *grid,
                          struct emu_claims *claims)
{
    for (unsigned i = 0; i < f->count; i++)
        if (f->resident[i].slot >= 0)
            emu_core_block_free(f->core, (unsigned)f->resident[i].slot);
    emu_resident_clear(f);
    f->current = 0;
    f->grid = grid;
    f->claims = claims;
    f->order_free = true;
    emu_fixed_new_slice(f);
}

void emu_fixed_take_up(struct emu_functional *f)
{
    f->capacity = f->base.machine->config.resident_warps / f->grid->block_warps;
    if (f->capacity == 0)
        f->capacity = 1;
    f->order_free = emu_kernel_block_order_free(f->grid->launch.program, f->grid->launch.kernel);
}

bool emu_fixed_take_up_next(struct emu_functional *f)
{
    struct emu_machine *machine = f->base.machine;

    if (f->claims != NULL) {
        fill_residents(f, NULL);
        return f->count != 0;
    }
    if (f->placed)
        return f->count != 0;
    if (f->grid != NULL) {
        if (f->launches_seen != machine->launch_changes)
            emu_fixed_refill(f);
        return true;
    }
    f->grid = emu_grid_current(machine);
    if (f->grid == NULL)
        return false;
    emu_fixed_take_up(f);
    f->grid->blocks_placed = 0;
    emu_resident_clear(f);
    f->current = 0;
    fill_residents(f, NULL);
    emu_fixed_new_slice(f);
    return true;
}

enum lw_status emu_fixed_begin(struct emu_functional *f, struct emu_resident *r,
                                  struct emu_block **out, struct lw_error *err)
{
    if (r->slot < 0) {
        unsigned slot;
        enum lw_status status = emu_core_block_start(f->core, r->grid, r->linear, &slot, err);
        if (status != LW_OK)
            return status;
        r->slot = (int)slot;
        struct emu_block *block = emu_core_block(f->core, slot);
        block->next_warp = block->warp_count - 1; /* so that the rotation starts with warp 0 */
    }
    *out = emu_resident_block(f, r);
    if ((*out)->unseen) { /* checkers are not notified again, because they were notified when the block first began */
        (*out)->unseen = false;
        if (f->base.machine->active_hooks != NULL)
            f->base.machine->active_hooks->on_block(f->base.machine->active_hooks, f->core, (*out)->slot, true);
    }
    return LW_OK;
}

void emu_fixed_leave(struct emu_functional *f, unsigned index)
{
    struct emu_resident left = f->resident[index];
    bool turn = index == f->current;

    emu_resident_remove(f, index);
    f->gone++;
    f->gone_at = f->core->retired + 1;
    if (f->placed)
        return;
    if (index < f->current)
        f->current--;
    if (turn)
        emu_fixed_new_slice(f);
    else
        left = f->resident[f->current];
    fill_residents(f, &left);
    if (f->current >= f->count)
        f->current = 0;
    if (turn && f->count != 0)
        f->current = emu_resident_next(f, f->current, 0);
    if (f->claims == NULL && f->count == 0 && emu_grid_complete(f->grid))
        f->grid = NULL;
}

/** Returns whether no slot number below @number is free. */
static bool is_lowest(const struct emu_functional *f, unsigned number)
{
    unsigned word = f->low_number / 64;

    while (word < number / 64 && f->free_numbers[word] == 0)
        word++;
    return word > number / 64 || (word == number / 64 && (f->free_numbers[word] & lw_mask(number % 64)) == 0);
}

bool emu_resident_advance(struct emu_functional *f)
{
    struct emu_resident *const list = f->resident, *const end = list + f->count;
    const unsigned number = list->number;
    const bool more = f->grid->blocks_placed < f->grid->block_count;

    if (f->claims != NULL || f->base.machine->device_open != 0 || f->launches_seen != f->base.machine->launch_changes ||
        f->current != 0 || f->count < 2 || list->grid != f->grid || !is_lowest(f, number) ||
        (more && (f->count != f->capacity || end == f->places + f->place_count)))
        return false;
    f->resident = list + 1;
    f->gone++;
    f->gone_at = f->core->retired + 1;
    f->watch_at = f->core->retired; /* as emu_fixed_new_slice() does */
    f->turn_left = UINT64_MAX;
    f->warp_left = f->tries = 0;
    if (f->probe != NULL) {
        emu_spin_observer_destroy(f->probe);
        f->probe = NULL;
    }
    f->low_number = number;
    if (more) { /* the new block gets the number of the one that leaves */
        *end = (struct emu_resident){.grid = f->grid, .linear = f->grid->blocks_placed++, .slot = -1, .number = number};
    } else {
        f->free_numbers[number / 64] |= UINT64_C(1) << number % 64;
        f->count--;
    }
    return true;
}

void emu_fixed_retire_block(struct emu_functional *f, unsigned index)
{
    emu_core_block_free(f->core, emu_resident_block(f, &f->resident[index])->slot);
    emu_fixed_leave(f, index);
}

void emu_fixed_retire(struct emu_functional *f)
{
    for (unsigned i = 0; !f->placed && f->grid != NULL && i < f->count;) {
        struct emu_block *block = emu_resident_block(f, &f->resident[i]);
        if (block != NULL && block->warps_live == 0)
            emu_fixed_retire_block(f, i);
        else
            i++;
    }
}

struct emu_resident *emu_fixed_find(struct emu_functional *f, uint32_t grid, uint64_t block)
{
    if (!emu_fixed_take_up_next(f))
        return NULL;
    unsigned at = slot_of(f, grid, block);
    if (at == f->count || f->resident[at].linear != block ||
        f->resident[at].grid->sequence != grid)
        return NULL;
    return &f->resident[at];
}
