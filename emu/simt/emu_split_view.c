/* SPDX-License-Identifier: Apache-2.0 */
/* Views of the split table for debuggers, its hash, and the invariants that tests check after each step. */
#include <stdio.h>

#include "emu/simt/emu_split_priv.h"

/* ---- views -------------------------------------------------------------------------- */

const char *emu_split_state_name(enum emu_split_state state)
{
    static const char *const names[] = {"ready", "blocked",  "yielded",  "warpsync",
                                        "barrier", "sleeping", "suspended", "stacked",
                                        "launch"};

    return (unsigned)state < LW_COUNT_OF(names) ? names[state] : "?";
}

static uint64_t address_of(const struct emu_warp *w, uint32_t index)
{
    return w->code->program->base + (uint64_t)index * ISA_WORD_BYTES;
}

static void view_of(const struct emu_warp *w, unsigned id, struct emu_split_view *out)
{
    const struct emu_split *s = &w->split[id];

    *out = (struct emu_split_view){
        .id = id,
        .pc = address_of(w, emu_split_pc(w, id)),
        .lanes = s->lanes,
        .state = (enum emu_split_state)s->state,
        .barrier = s->barrier,
        .soft = s->flags & EMU_SPLIT_SOFT,
        .running = w->running == (int)id,
    };
}

/** Records which memory the barrier before instruction @next orders. Lanes that wait at the barrier continue at @next. */
static void note_order(const struct emu_program *program, uint32_t next, struct emu_barrier_arrivals *out)
{
    const uint64_t pc = emu_program_base(program) + (uint64_t)next * ISA_WORD_BYTES - ISA_WORD_BYTES;
    const struct isa_insn *insn = emu_program_insn(program, pc);

    if (insn == NULL || isa_op_info((enum isa_op)insn->op)->format != ISA_FMT_BAR)
        return; /* The instruction before @next is no barrier: the split has arrived without waiting, and has continued since. */
    const unsigned orders = isa_mod_get(insn, ISA_MOD_BMEM);
    out->orders_shared = out->orders_shared && (orders == ISA_BMEM_ALL || orders == ISA_BMEM_SHARED);
    out->orders_global = out->orders_global && (orders == ISA_BMEM_ALL || orders == ISA_BMEM_GLOBAL);
    out->pc = pc;
}

void emu_block_barrier_arrivals(const struct emu_core *core, unsigned slot, unsigned id, const uint64_t *lanes,
                     struct emu_barrier_arrivals *out)
{
    const struct emu_program *program = NULL;
    const struct emu_block *block = emu_warp_at(core, slot, 0) != NULL ? &core->block[slot] : NULL;
    const unsigned count = block != NULL ? block->warp_count : 0;
    bool all = true, one_pc = true;
    uint32_t at = 0;

    out->orders_shared = out->orders_global = true;
    out->pc = 0;
    out->counted = block != NULL && block->cta[id].has_count;
    for (unsigned i = 0; i < count; i++) {
        const struct emu_warp *w = &block->warp[i];
        const uint64_t here = lanes[i];

        all = all && (w->live & ~here) == 0;
        for (LW_EACH_BIT(k, w->split_ids)) {
            if ((w->split[k].lanes & here) == 0)
                continue;
            const uint32_t next = emu_split_pc(w, (unsigned)k);
            if (program != NULL && next == at)
                continue;
            one_pc = program == NULL;
            program = w->code->program;
            at = next;
            note_order(program, next, out);
        }
    }
    out->all = all;
    out->one_pc = one_pc;
}

unsigned emu_split_views(const struct emu_core *core, unsigned slot, unsigned warp,
                         struct emu_split_view *out, unsigned room)
{
    const struct emu_warp *w = emu_warp_at(core, slot, warp);
    unsigned count = 0;

    if (w == NULL)
        return 0;
    for (LW_EACH_BIT(id, w->split_ids)) {
        if (count < room)
            view_of(w, (unsigned)id, &out[count]);
        count++;
    }
    return count;
}

bool emu_lane_where(const struct emu_core *core, unsigned slot, unsigned warp, unsigned lane,
                    struct emu_split_view *out)
{
    const struct emu_warp *w = emu_warp_at(core, slot, warp);

    if (w == NULL || lane >= EMU_MAX_LANES)
        return false;
    for (LW_EACH_BIT(id, w->split_ids)) {
        if (w->split[id].lanes >> lane & 1) {
            view_of(w, (unsigned)id, out);
            return true;
        }
    }
    return false;
}

unsigned emu_stack_views(const struct emu_core *core, unsigned slot, unsigned warp,
                         struct emu_stack_view *out, unsigned room)
{
    const struct emu_warp *w = emu_warp_at(core, slot, warp);
    unsigned count = w == NULL ? 0 : w->simt.count, level = 0;

    for (unsigned i = 0; i < count && i < room; i++) {
        const struct emu_simt_entry *e = &emu_simt_entries(w)[i];
        out[i] = (struct emu_stack_view){
            .pc = address_of(w, e->split >= 0 ? emu_split_pc(w, (unsigned)e->split) : e->pc),
            .rpc = e->rpc != EMU_NO_RPC ? address_of(w, e->rpc) : 0,
            .lanes = e->lanes,
            .depth = (int)e->depth,
            .level = level += i > 0 && !e->right,
        };
    }
    return count;
}

/** Returns the live lanes whose barrier register @reg holds group number @number, which is not 0. */
static uint64_t members_of(const struct emu_warp *w, unsigned reg, uint64_t number)
{
    const struct emu_breg_form *b = &w->bform[reg];
    uint64_t lanes = 0;

    if (b->number != 0)
        return b->number == number ? b->lanes & w->live : 0;
    for (LW_EACH_BIT(l, b->lanes & w->live))
        lanes |= (uint64_t)(w->breg[reg][l] == number) << l;
    return lanes;
}

uint64_t emu_barrier_group(const struct emu_core *core, unsigned slot, unsigned warp,
                           unsigned reg, unsigned lane, uint64_t *number)
{
    const struct emu_warp *w = emu_warp_at(core, slot, warp);
    uint64_t n = 0;

    if (w != NULL && reg < w->breg_count && reg < ISA_BREG_COUNT && lane < EMU_MAX_LANES &&
        (w->live >> lane & 1))
        n = emu_breg_number(w, reg, lane);
    if (number != NULL)
        *number = n;
    return n == 0 ? 0 : members_of(w, reg, n);
}

void emu_split_hash(const struct emu_warp *w, struct lw_hash *hash)
{
    lw_hash_u64(hash, w->live);
    for (LW_EACH_BIT(id, w->split_ids)) {
        const struct emu_split *s = &w->split[id];
        bool at_barrier = s->state == EMU_SPLIT_BLOCKED || s->state == EMU_SPLIT_CTA;
        lw_hash_u64(hash, id << 32 | (uint64_t)s->state << 24 |
                              (uint64_t)(at_barrier ? s->barrier : 0) << 16 | s->flags);
        lw_hash_u64(hash, emu_split_pc(w, (unsigned)id));
        lw_hash_u64(hash, s->lanes);
        if (s->state == EMU_SPLIT_SLEEPING)
            lw_hash_u64(hash, s->wake);
        if (s->state == EMU_SPLIT_CTA)
            lw_hash_u64(hash, s->reduction);
        if (s->state == EMU_SPLIT_WARPSYNC)
            for (LW_EACH_BIT(l, s->lanes))
                lw_hash_u64(hash, w->member[l]);
    }
    lw_hash_u64(hash, w->group_counter);
    for (unsigned i = 0; i < w->simt.count; i++) {
        const struct emu_simt_entry *e = &emu_simt_entries(w)[i];
        uint32_t pc = e->split >= 0 ? emu_split_pc(w, (unsigned)e->split) : e->pc;
        lw_hash_u64(hash, (uint64_t)e->rpc << 32 | pc);
        lw_hash_u64(hash, (uint64_t)e->rdepth << 32 | e->depth);
        lw_hash_u64(hash, e->lanes);
        if (e->began != 0 || e->early || e->right)
            lw_hash_u64(hash, (uint64_t)e->right << 33 | (uint64_t)e->early << 32 | e->began);
    }
    for (unsigned reg = 0; reg < ISA_BREG_COUNT; reg++) {
        uint64_t lanes = w->bform[reg].lanes & w->live;
        if (lanes == 0)
            continue;
        lw_hash_u64(hash, reg);
        lw_hash_u64(hash, lanes);
        for (LW_EACH_BIT(l, lanes))
            lw_hash_u64(hash, emu_breg_number(w, reg, (unsigned)l));
    }
}

/* ---- invariants --------------------------------------------------------------------- */

static bool broken(char *why, size_t why_size, const char *what)
{
    snprintf(why, why_size, "%s", what);
    return false;
}

/** Under a reconvergence engine with `lockstep`, the lanes of a split continue together, and so do lanes with the same member
 *  mask. Returns true if, by this rule, each lane that waits at a warpsync must continue together with a lane of @incomplete,
 *  the lanes that wait for lanes that have not arrived. */
static bool all_bound(const struct emu_warp *w, uint64_t incomplete)
{
    uint64_t lanes = emu_split_lanes(w, w->split_in[EMU_SPLIT_WARPSYNC]), bound = incomplete;

    for (unsigned round = 0; round < EMU_MAX_LANES; round++)
        for (LW_EACH_BIT(l, lanes))
            for (LW_EACH_BIT(o, lanes & bound)) {
                bool together = w->member[l] == w->member[o];
                for (LW_EACH_BIT(id, w->split_in[EMU_SPLIT_WARPSYNC]))
                    together |= (w->split[id].lanes >> l & w->split[id].lanes >> o & 1) != 0;
                bound |= (uint64_t)together << l;
            }
    return (lanes & ~bound) == 0;
}

/** Returns true if no lane that waits at a convergence register or warpsync could continue; under an engine with `lockstep`, by
 *  the rule of all_bound(). The result is computed lane by lane, only from group numbers and member masks. */
static bool nothing_releasable(const struct emu_warp *w)
{
    uint64_t past = 0, incomplete = 0;
    bool open = false;

    for (LW_EACH_BIT(id, w->split_ids))
        if (w->split[id].state == EMU_SPLIT_YIELDED || w->split[id].state == EMU_SPLIT_WARPSYNC ||
            w->split[id].state == EMU_SPLIT_CTA)
            past |= w->split[id].lanes;
    for (LW_EACH_BIT(id, w->split_ids)) {
        const struct emu_split *s = &w->split[id];
        uint64_t last = 0; /* group number that was evaluated last */
        for (LW_EACH_BIT(l, s->lanes)) {
            uint64_t need = 0, here = 0;
            bool soft = false;
            if (s->state == EMU_SPLIT_WARPSYNC) {
                need = w->member[l] & w->live;
                for (LW_EACH_BIT(k, w->split_ids))
                    for (LW_EACH_BIT(o, w->split[k].lanes & need))
                        if (w->split[k].state == EMU_SPLIT_WARPSYNC &&
                            w->member[o] == w->member[l])
                            here |= UINT64_C(1) << o;
            } else if (s->state == EMU_SPLIT_BLOCKED) {
                uint64_t number = emu_breg_number(w, s->barrier, (unsigned)l);
                if (number != 0 && number == last)
                    continue;
                last = number;
                need = members_of(w, s->barrier, number);
                for (LW_EACH_BIT(k, w->split_ids))
                    if (w->split[k].state == EMU_SPLIT_BLOCKED &&
                        w->split[k].barrier == s->barrier && w->split[k].lanes & need) {
                        here |= w->split[k].lanes & need;
                        soft = soft || w->split[k].flags & EMU_SPLIT_SOFT;
                    }
                here |= soft ? past : 0;
            } else {
                continue;
            }
            if ((need & ~here) == 0)
                open = true;
            else
                incomplete |= UINT64_C(1) << l;
        }
    }
    return !open || (w->reconv->lockstep && all_bound(w, incomplete));
}

/** Checks the invariants of a SIMT stack or another table of entries. The lanes that are in an entry and in no later entry are
 *  the lanes of the entry's split. On a SIMT stack, only the split of the top entry may run, or wait for events other than
 *  reconvergence. On a dual-path stack, both paths of the top level may run, and other complete entries may wait for such
 *  events. In other tables, all complete entries may run or wait. Before each entry that is removed at an rpc, another entry
 *  waits at this rpc, at call depth rdepth. */
static bool stack_holds(const struct emu_warp *w, char *why, size_t why_size)
{
    const struct emu_simt_entry *e = emu_simt_entries(w);
    uint64_t above = 0, seen = 0;

    for (unsigned i = w->simt.count; i-- > 0;) {
        uint64_t own = e[i].lanes & ~above;
        above |= e[i].lanes;
        if (e[i].lanes == 0 || (own != 0) != (e[i].split >= 0))
            return broken(why, why_size, "a stack entry without lanes or split");
        if (own != 0) {
            const struct emu_split *s = &w->split[e[i].split];
            bool top = w->reconv->one_path    ? i + 1 == w->simt.count
                       : w->reconv->two_paths ? emu_simt_level_end(w, i) == w->simt.count
                                              : own == e[i].lanes;
            if (!(w->split_ids >> e[i].split & 1) || s->lanes != own)
                return broken(why, why_size, "a stack entry's split is not its own lanes");
            if ((s->state == EMU_SPLIT_STACKED) == top &&
                (top || !w->reconv->two_paths || own != e[i].lanes || s->state == EMU_SPLIT_READY))
                return broken(why, why_size, "an entry that may run waits, or one that waits may run");
            seen |= split_bit((unsigned)e[i].split);
        }
        if (e[i].right && (!w->reconv->two_paths || i == 0 || e[i - 1].right || (e[i - 1].lanes & e[i].lanes)))
            return broken(why, why_size, "a second path without a first path");
        if (e[i].rpc == EMU_NO_RPC)
            continue;
        unsigned k = i;
        while (k > 0 && !(e[k - 1].lanes & e[i].lanes))
            k--;
        /* Entry k - 1 is the last entry before i that contains lanes of entry i, apart from entries with the same lanes and the
         * same rpc. */
        if (k == 0 || (e[i].lanes & ~e[k - 1].lanes) || e[k - 1].depth != e[i].rdepth ||
            (e[k - 1].split >= 0 ? w->split[e[k - 1].split].pc : e[k - 1].pc) != e[i].rpc)
            return broken(why, why_size, "no lanes wait where a stack entry ends");
        if (own == e[i].lanes && e[i].depth == e[i].rdepth && w->split[e[i].split].state == EMU_SPLIT_READY &&
            emu_split_pc(w, (unsigned)e[i].split) == e[i].rpc)
            return broken(why, why_size, "an entry should have been removed");
    }
    if (seen != w->split_ids || above != w->live)
        return broken(why, why_size, "lanes outside the stack");
    return true;
}

bool emu_split_check(const struct emu_warp *w, char *why, size_t why_size)
{
    uint64_t lanes = 0, in[EMU_SPLIT_STATE_COUNT] = {0}, blocked[ISA_BREG_COUNT] = {0};
    uint64_t arrived[ISA_BREG_COUNT] = {0};
    unsigned count = 0;

    for (LW_EACH_BIT(id, w->split_ids)) {
        const struct emu_split *s = &w->split[id];
        count++;
        if (s->id != id)
            return broken(why, why_size, "a split is not at the index of its id");
        if (s->lanes == 0 || (s->lanes & lanes) != 0)
            return broken(why, why_size, "splits overlap or are empty");
        lanes |= s->lanes;
        if (s->state >= EMU_SPLIT_STATE_COUNT)
            return broken(why, why_size, "a state that does not exist");
        in[s->state] |= split_bit((unsigned)id);
        if (s->state == EMU_SPLIT_BLOCKED) {
            if (s->barrier >= w->breg_count || s->barrier >= ISA_BREG_COUNT)
                return broken(why, why_size, "blocked at a register that does not exist");
            blocked[s->barrier] |= split_bit((unsigned)id);
            arrived[s->barrier] |= s->lanes;
        }
        if ((s->family & s->lanes) != (s->family != 0 ? s->lanes : 0))
            return broken(why, why_size, "a split outside its family");
    }
    if (lanes != w->live || (w->live & ~w->launched) != 0)
        return broken(why, why_size, "the splits do not partition the live lanes");
    if (count != w->split_count)
        return broken(why, why_size, "the count of splits is wrong");
    if (memcmp(in, w->split_in, sizeof in) != 0)
        return broken(why, why_size, "the sets of splits by state are wrong");
    if (w->running >= 0 && !(w->split_in[EMU_SPLIT_READY] >> w->running & 1))
        return broken(why, why_size, "the split with the turn is not ready");
    if (w->running >= 0 && w->split[w->running].lanes != w->m)
        return broken(why, why_size, "the lanes of the turn are not its split's");
    for (unsigned reg = 0; reg < ISA_BREG_COUNT; reg++) {
        const struct emu_breg_form *b = &w->bform[reg];
        if (b->splits != blocked[reg] || b->arrived != arrived[reg] ||
            (w->breg_blocked >> reg & 1) != (arrived[reg] != 0))
            return broken(why, why_size, "a barrier register does not know who is blocked");
        if (arrived[reg] & ~b->lanes)
            return broken(why, why_size, "blocked without membership");
        for (LW_EACH_BIT(l, b->number != 0 ? 0 : b->lanes & w->live))
            if (w->breg[reg][l] == 0)
                return broken(why, why_size, "a member without a number");
    }
    if (!nothing_releasable(w))
        return broken(why, why_size, "something could be released");
    if (w->simt.count != 0 || w->split_in[EMU_SPLIT_STACKED] != 0)
        return stack_holds(w, why, why_size);
    return true;
}
