/* SPDX-License-Identifier: Apache-2.0 */
/* Implements option `--values`: keeps registers that hold source variables live as long as notes of the PTX refer to the
 * registers. The pass runs just before register allocation, after all passes that change the code. Therefore the option
 * changes only moves and spills of the allocator, and the number of registers. A pin is a pseudo-instruction that reads a
 * register and emits no code. The pass inserts a pin in each basic block before the last instruction at which a variable has
 * its value in the register. */
#include "ptx/debuginfo/notes/ptx_debug_notes_priv.h"

#include <stdlib.h>

/* A virtual register that has the value of a variable before the statements [from, to). */
struct need {
    uint32_t vreg, from, to;
};
struct keeping {
    struct ptx_placing *pl;
    uint32_t *vreg_of; /* by PTX register: 1 + the only virtual register by which the code writes the PTX register; 0 if no
                        * virtual register writes it, PTX_NONE if several do */
    PTX_LIST(struct need) needs;
};
/* A pin of register @vreg before instruction @before. */
struct pin {
    uint32_t before, vreg;
};

/* Returns whether an element of vreg_of is a virtual register that contains a parameter of a called function. */
static bool is_parameter(const struct keeping *k, uint32_t written)
{
    return written != PTX_NONE && k->pl->unit->vregs.at[written - 1].origin == PTX_NONE;
}

static void find_written(struct keeping *k)
{
    const struct ptx_unit *unit = k->pl->unit;
    const uint32_t *origins = ptx_debug_origins(k->pl);

    k->vreg_of = PTX_ARRAY(k->pl->job, uint32_t, k->pl->fn->regs.count + 1);
    for (size_t i = 0; i < unit->code.count; i++)
        for (unsigned s = 0; s < PTX_S_M; s++) {
            const struct ptx_mi *mi = &unit->code.at[i];
            const uint32_t v = ptx_mi_writes(mi, (enum ptx_slot)s) ? ptx_ref_vreg(mi->ref[s]) : PTX_NONE;
            const uint32_t origin = v != PTX_NONE ? origins[v] : PTX_NONE;

            if (origin >= k->pl->fn->regs.count || unit->vregs.at[v].rows == 0 || k->vreg_of[origin] == v + 1)
                continue;
            if (k->vreg_of[origin] != 0 && unit->vregs.at[v].origin == PTX_NONE)
                continue; /* the virtual register of a parameter, whose value has been copied */
            k->vreg_of[origin] = k->vreg_of[origin] == 0 || is_parameter(k, k->vreg_of[origin]) ? v + 1 : PTX_NONE;
        }
}

/* Returns the virtual register that has the value of a PTX register, or of another PTX register of which this one is a copy.
 * Returns PTX_NONE if no virtual register, or more than one, has the value. */
static uint32_t vreg_for(const struct keeping *k, uint32_t reg)
{
    for (; reg != PTX_NONE; reg = ptx_debug_copied_from(k->pl, reg))
        if (k->vreg_of[reg] != 0)
            return k->vreg_of[reg] != PTX_NONE ? k->vreg_of[reg] - 1 : PTX_NONE;
    return PTX_NONE;
}

static void need_values(struct keeping *k, const struct ptx_noting *noting, const struct ptx_noted_pieces *pieces)
{
    for (size_t r = 0; r < pieces->ranges.count; r++) {
        const struct ptx_noted_range *range = &pieces->ranges.at[r];

        for (uint32_t p = 0; p < pieces->count; p++) {
            const uint32_t value = range->value[p * PTX_NOTE_SAME];
            const struct ptx_noted_value *v = value < noting->values.count ? &noting->values.at[value] : NULL;

            for (unsigned o = 0; v != NULL && o < v->operand_count && !v->is_launch && ptx_spend(k->pl, 1); o++) {
                const uint32_t vreg = v->operand[o].kind == PTX_NOTE_REG ? vreg_for(k, v->operand[o].reg) : PTX_NONE;

                if (vreg != PTX_NONE)
                    *PTX_PUSH(k->pl->job, k->needs) = (struct need){vreg, range->from, range->to};
            }
        }
    }
}

static int compare_needs(const void *a, const void *b)
{
    const struct need *x = a, *y = b;

    if (x->from != y->from)
        return x->from < y->from ? -1 : 1;
    return x->vreg < y->vreg ? -1 : x->vreg > y->vreg;
}

static int compare_pins(const void *a, const void *b)
{
    const struct pin *x = a, *y = b;

    if (x->before != y->before)
        return x->before < y->before ? -1 : 1;
    return x->vreg < y->vreg ? -1 : x->vreg > y->vreg;
}

static void put_pins(struct ptx_unit *unit, const struct pin *pins, size_t count)
{
    PTX_LIST(struct ptx_mi) code = {0};
    size_t next = 0;

    for (size_t b = 0; b < unit->blocks.count; b++) {
        struct ptx_block *block = &unit->blocks.at[b];
        const uint32_t first = (uint32_t)code.count;

        for (uint32_t i = block->first; i < block->first + block->count; i++) {
            for (; next < count && pins[next].before == i; next++) {
                struct ptx_mi *mi = PTX_PUSH(unit->job, code);

                ptx_mi_init(mi, ISA_NOP, unit->code.at[i].loc, unit->code.at[i].line);
                mi->flags |= PTX_MI_PIN;
                mi->ref[PTX_S_A] = ptx_ref_of(pins[next].vreg, 0);
                mi->rows[PTX_S_A] = unit->vregs.at[pins[next].vreg].rows;
            }
            *PTX_PUSH(unit->job, code) = unit->code.at[i];
        }
        block->first = first;
        block->count = (uint32_t)code.count - first;
    }
    unit->code.at = code.at;
    unit->code.count = code.count;
    unit->code.capacity = code.capacity;
}

/* Inserts a pin in each basic block for each register that is needed there, before the last instruction at which the register
 * is needed. */
static void pin(struct keeping *k)
{
    struct ptx_unit *unit = k->pl->unit;
    const struct ptx_function *fn = k->pl->fn;
    uint32_t *last = PTX_ARRAY(k->pl->job, uint32_t, unit->vregs.count + 1);
    PTX_LIST(struct pin) pins = {0};

    qsort(k->needs.at, k->needs.count, sizeof *k->needs.at, compare_needs);
    for (size_t b = 0; b < unit->blocks.count; b++) {
        const struct ptx_block *block = &unit->blocks.at[b];

        for (uint32_t i = block->first + block->count; i-- > block->first;) {
            const struct ptx_mi *mi = &unit->code.at[i];
            const uint32_t s = ptx_debug_statements_before(fn, mi->line + 1) - 1;

            if (s >= fn->insns.count || mi->flags & (PTX_MI_PIN | PTX_MI_PROLOGUE))
                continue;
            for (size_t n = 0; n < k->needs.count && k->needs.at[n].from <= s && ptx_spend(k->pl, 1); n++) {
                const struct need *need = &k->needs.at[n];

                if (s >= need->to || last[need->vreg] == b + 1)
                    continue;
                last[need->vreg] = (uint32_t)b + 1;
                *PTX_PUSH(k->pl->job, pins) = (struct pin){i, need->vreg};
            }
        }
    }
    if (pins.count == 0)
        return;
    qsort(pins.at, pins.count, sizeof *pins.at, compare_pins);
    put_pins(unit, pins.at, pins.count);
}

void ptx_debug_keep_values(struct ptx_unit *unit)
{
    struct ptx_debug *debug = unit->module->debug;
    struct ptx_placing pl = {.unit = unit, .job = unit->job, .module = unit->module, .debug = debug, .fn = unit->function,
                             .function = unit->function->copy_of != 0 ? unit->function->copy_of - 1
                                                                      : (uint32_t)(unit->function - unit->module->functions.at)};
    struct keeping keeping = {.pl = &pl};
    struct ptx_noting *noting;
    uint32_t root;

    if (debug == NULL || debug->dies.count == 0)
        return;
    ptx_debug_look_at(debug, unit->function->source);
    root = debug->subprogram[unit->function - unit->module->functions.at];
    if (root == PTX_NONE)
        return;
    ptx_debug_find_moves(&pl);
    noting = ptx_debug_notes_read(&pl);
    if (noting == NULL)
        return;
    ptx_debug_notes_match(&pl, noting, root);
    find_written(&keeping);
    for (uint32_t i = root + 1; i < debug->dies.at[root].end; i++) {
        struct ptx_noted_pieces pieces = {0};
        const struct ptx_noted_variable *variable = NULL;

        if ((debug->dies.at[i].tag == ISA_TAG_VARIABLE || debug->dies.at[i].tag == ISA_TAG_PARAMETER) &&
            ptx_debug_value(debug, i, ISA_AT_LOCATION) == NULL)
            variable = ptx_debug_noted(&pl, noting, root, i);
        if (variable != NULL && ptx_debug_notes_follow(&pl, noting, variable, i, ptx_debug_param(&pl, root, i), &pieces) ==
                                    PTX_NOTED_RANGES)
            need_values(&keeping, noting, &pieces);
    }
    if (keeping.needs.count != 0)
        pin(&keeping);
}
