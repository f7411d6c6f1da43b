/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Race checker: loads with which a loop waits for a value. The shortest path around such a loop has no store and no
 * barrier, reads the same location again, and repeats or leaves the loop depending on the value. A thread that waits
 * for another lane in this way does not rely on lockstep: in lockstep the loop would never end.
 */
#include "check/race/chk_race_priv.h"

#include <stdlib.h>

enum { MOST = 96, WORDS = (ISA_REG_NUMBERS + 63) / 64 };
/** A set of registers, and of values stored in local memory. */
struct set {
    uint64_t reg[WORDS];
    bool local;
};
/** The instructions of a loop, starting with the load. */
struct way {
    const struct emu_program *program;
    unsigned count;
    uint32_t at[MOST];
};

static bool set_arrivals(const struct set *set, const struct isa_reg_use *use)
{
    const unsigned first = isa_reg_number(use);
    bool any = false;

    for (unsigned i = first; i < first + use->count; i++)
        any |= set->reg[i / 64] >> i % 64 & 1;
    return any;
}

static void set_put(struct set *set, const struct isa_reg_use *use, bool in)
{
    const unsigned first = isa_reg_number(use);

    for (unsigned i = first; i < first + use->count; i++) {
        set->reg[i / 64] &= ~(UINT64_C(1) << i % 64);
        set->reg[i / 64] |= (uint64_t)in << i % 64;
    }
}

/** Finds the shortest path from an instruction back to itself. Returns false if the instruction is not in a small loop
 *  of its function. */
static bool way_find(struct way *way, const struct emu_program *program, uint32_t index)
{
    const uint64_t text = emu_program_object(program)->text_count;
    uint32_t seen[MOST];
    int from[MOST], last = -1;
    unsigned count = 1;

    seen[0] = index;
    from[0] = -1;
    for (unsigned k = 0; k < count && last < 0; k++) {
        const struct isa_insn *insn = chk_insn_at(program, seen[k]);
        int64_t next[2];
        unsigned n = 0;

        if (isa_op_info((enum isa_op)insn->op)->flags & ISA_F_CALL)
            continue;
        if (!isa_insn_ends(insn))
            next[n++] = (int64_t)seen[k] + 1;
        n += isa_insn_jumps(insn, seen[k], &next[n]);
        for (unsigned i = 0; i < n; i++) {
            unsigned old = 0;

            if (next[i] < 0 || (uint64_t)next[i] >= text)
                continue;
            if (next[i] == index) {
                last = (int)k;
                break;
            }
            while (old < count && seen[old] != next[i])
                old++;
            if (old < count || count == MOST)
                continue;
            seen[count] = (uint32_t)next[i];
            from[count++] = (int)k;
        }
    }
    way->program = program;
    way->count = 0;
    for (int k = last; k >= 0; k = from[k])
        way->count++;
    for (int k = last, i = (int)way->count; k >= 0; k = from[k])
        way->at[--i] = seen[k];
    return last >= 0;
}

/** Propagates @set along the path: adds registers whose values are computed from members of the set. @begins: the set already
 *  contains the register of the loaded value. Returns true if a branch depends on a member of the set. */
static bool follow(const struct way *way, struct set *set, bool begins)
{
    bool is_tested = false;

    for (unsigned k = 0; k < way->count; k++) {
        const struct isa_insn *insn = chk_insn_at(way->program, way->at[k]);
        struct isa_reg_use uses[ISA_MAX_USES];
        const unsigned count = isa_insn_uses(insn, uses);
        enum isa_space space = ISA_SPACE_GLOBAL;
        const enum isa_access access = isa_op_access((enum isa_op)insn->op, &space);
        const bool some = insn->guard != ISA_PT || insn->guard_neg; /* with a guard, registers remain unchanged in some
                                                                     * lanes */
        const bool local = space == ISA_SPACE_LOCAL;
        int64_t target;
        bool in = (k == 0 && begins) || (local && access == ISA_ACCESS_LOAD && set->local);

        for (unsigned u = 0; u < count; u++)
            in |= !uses[u].written && set_arrivals(set, &uses[u]);
        is_tested |= in && isa_insn_jumps(insn, way->at[k], &target);
        set->local |= in && local && access == ISA_ACCESS_STORE;
        for (unsigned u = 0; u < count; u++)
            if (uses[u].written && (in || !some))
                set_put(set, &uses[u], in);
    }
    return is_tested;
}

/** Returns true if the path has no store and no barrier. */
static bool is_idle(const struct way *way)
{
    for (unsigned k = 0; k < way->count; k++) {
        const struct isa_insn *insn = chk_insn_at(way->program, way->at[k]);
        enum isa_space space = ISA_SPACE_GLOBAL;
        const enum isa_access access = isa_op_access((enum isa_op)insn->op, &space);
        const unsigned flags = isa_op_info((enum isa_op)insn->op)->flags;

        if ((flags & ISA_F_SYNC) != 0 || insn->op == ISA_WARPSYNC || insn->op == ISA_BAR_SYNC ||
            insn->op == ISA_BAR_ARRIVE || insn->op == ISA_BAR_RED_POPC || insn->op == ISA_BAR_RED_AND ||
            insn->op == ISA_BAR_RED_OR ||
            ((flags & ISA_F_MEMORY) != 0 && access != ISA_ACCESS_LOAD && space != ISA_SPACE_LOCAL))
            return false;
    }
    return true;
}

/** Returns true if the load's address changes in each iteration. */
static bool moves(const struct way *way)
{
    struct set written = {{0}, false}, carried = {{0}, false};
    struct isa_reg_use uses[ISA_MAX_USES];

    /* collects the registers that the path reads before it writes them */
    for (unsigned k = 0; k < way->count; k++) {
        const struct isa_insn *insn = chk_insn_at(way->program, way->at[k]);
        const unsigned count = isa_insn_uses(insn, uses);
        enum isa_space space = ISA_SPACE_GLOBAL;

        for (unsigned u = 0; u < count; u++)
            if (!uses[u].written && !set_arrivals(&written, &uses[u]))
                set_put(&carried, &uses[u], true);
        for (unsigned u = 0; u < count; u++)
            if (uses[u].written)
                set_put(&written, &uses[u], true);
        carried.local |= isa_op_access((enum isa_op)insn->op, &space) == ISA_ACCESS_STORE && space == ISA_SPACE_LOCAL;
    }
    for (unsigned i = 0; i < WORDS; i++)
        carried.reg[i] &= written.reg[i];
    (void)follow(way, &carried, false);
    const unsigned count = isa_insn_uses(chk_insn_at(way->program, way->at[0]), uses);
    for (unsigned u = 0; u < count; u++)
        if (!uses[u].written && set_arrivals(&carried, &uses[u]))
            return true;
    return false;
}

bool race_waits_for(struct chk_race *race, uint32_t site)
{
    enum { UNKNOWN, NO, YES };
    const uint64_t number = site & lw_mask(RACE_SITE_BITS);
    const uint64_t index = number - 1 - (race->sites.program_base - ISA_CODE_BASE) / ISA_WORD_BYTES;
    const uint64_t text = emu_program_object(race->sites.program)->text_count;
    struct way way;
    struct set loaded = {{0}, false};

    if (number == 0 || index >= text)
        return false; /* the site is of another program */
    if (race->sites.spin_program != race->sites.program) {
        free(race->sites.spin);
        race->sites.spin = calloc(text, sizeof *race->sites.spin);
        race->sites.spin_program = race->sites.spin != NULL ? race->sites.program : NULL;
        race->chk->short_of_memory |= race->sites.spin == NULL;
    }
    if (race->sites.spin != NULL && race->sites.spin[index] != UNKNOWN)
        return race->sites.spin[index] == YES;
    const bool is = way_find(&way, race->sites.program, (uint32_t)index) && is_idle(&way) && !moves(&way) &&
                    follow(&way, &loaded, true);
    if (race->sites.spin != NULL)
        race->sites.spin[index] = is ? YES : NO;
    return is;
}
