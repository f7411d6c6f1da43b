/* SPDX-License-Identifier: Apache-2.0 */
/* Control flow and liveness of a kernel. */
#include <stdlib.h>
#include <string.h>

#include "native/nat_priv.h"

/** Returns true if native code can execute the load or store. The memory order must be weak, the size must not be V2B64, and
 *  the address and guard must not be in scalar registers. */
static bool plain_access(const struct isa_insn *insn)
{
    return isa_mod_get(insn, ISA_MOD_MORDER) == ISA_MORDER_WEAK && !insn->a_scalar && !insn->guard_scalar &&
           isa_mod_get(insn, ISA_MOD_SIZE) <= ISA_SIZE_V4B32;
}

/** Returns true if native code can execute the red @insn: an operation on integers, whose order does not matter. */
static bool plain_reduction(const struct isa_insn *insn)
{
    const unsigned op = isa_mod_get(insn, ISA_MOD_AOP), type = isa_mod_get(insn, ISA_MOD_ATYPE), order = isa_mod_get(insn, ISA_MOD_MORDER);

    return (op == ISA_AOP_ADD || op == ISA_AOP_MIN || op == ISA_AOP_MAX || op == ISA_AOP_AND || op == ISA_AOP_OR || op == ISA_AOP_XOR) &&
           type <= ISA_ATYPE_B64 && order <= ISA_MORDER_RELAXED && !insn->a_scalar && !insn->guard_scalar;
}

enum nat_kind nat_kind_of(const struct isa_insn *insn)
{
    const struct isa_op_info *info = nat_info(insn);
    const bool never = insn->guard == ISA_PT && insn->guard_neg;
    struct nat_row row;

    if (never && insn->op != ISA_BRA && insn->op != ISA_S_BRA)
        return info->flags & (ISA_F_CONTROL | ISA_F_BRANCH | ISA_F_BARRIER) ? NAT_LEAVE : NAT_GENERIC;
    switch (insn->op) {
    case ISA_BRA:
    case ISA_S_BRA: return NAT_BRANCH;
    case ISA_BSSY: return insn->guard == ISA_PT ? NAT_BSSY : NAT_LEAVE;
    case ISA_BSYNC: return insn->guard == ISA_PT ? NAT_BSYNC : NAT_LEAVE;
    case ISA_EXIT: return insn->guard != ISA_PT ? NAT_EXIT : NAT_LEAVE;
    case ISA_BAR_SYNC:
        return insn->guard == ISA_PT && insn->xkind == ISA_X_IMM && insn->x < ISA_CTA_BARRIER_COUNT && !insn->variant ? NAT_BAR
                                                                                                                   : NAT_LEAVE;
    case ISA_NOP:
    case ISA_DEPBAR_LE:
    case ISA_WAITCNT: return NAT_NOTHING;
    case ISA_LD_GLOBAL:
    case ISA_LD_LOCAL:
    case ISA_LD_SHARED: return plain_access(insn) ? NAT_LOAD : NAT_GENERIC;
    case ISA_ST_GLOBAL:
    case ISA_ST_LOCAL:
    case ISA_ST_SHARED: return plain_access(insn) ? NAT_STORE : NAT_GENERIC;
    case ISA_RED_GLOBAL:
    case ISA_RED_SHARED: return plain_reduction(insn) ? NAT_REDUCE : NAT_GENERIC;
    case ISA_S_LD_CONST:
    case ISA_S_LD_GLOBAL: return insn->guard == ISA_PT ? NAT_SCALAR_LOAD : NAT_GENERIC;
    case ISA_V_S2R:
    case ISA_S_S2R:
    case ISA_V_CVT:
    case ISA_V_LOP3_B32:
    case ISA_V_PRMT_B32:
    case ISA_V_PLOP3: return NAT_ROW;
    default: break;
    }
    if (info->flags & (ISA_F_CONTROL | ISA_F_BRANCH | ISA_F_BARRIER))
        return NAT_LEAVE;
    if (info->flags & ISA_F_CROSS && info->flags & ISA_F_SYNC)
        return NAT_LEAVE;
    return nat_row_of(info, &row) && !nat_has_modifiers(insn) ? NAT_ROW : NAT_GENERIC;
}

void nat_uses(const struct nat_unit *unit, uint32_t i, struct nat_set *reads, struct nat_set *writes)
{
    static const uint16_t base[] = {[ISA_REG_V] = NAT_V, [ISA_REG_S] = NAT_S, [ISA_REG_P] = NAT_P, [ISA_REG_SP] = NAT_SP};
    const struct isa_insn *insn = &unit->insn[i];
    struct isa_reg_use use[ISA_MAX_USES];
    const unsigned count = isa_insn_uses(insn, use);
    const bool part = insn->guard != ISA_PT || insn->guard_neg;

    memset(reads, 0, sizeof *reads);
    memset(writes, 0, sizeof *writes);
    for (unsigned u = 0; u < count; u++) {
        if (use[u].reg_class == ISA_REG_B)
            continue;
        for (unsigned k = 0; k < use[u].count; k++) {
            const unsigned reg = base[use[u].reg_class] + use[u].first + k;
            if (use[u].written)
                nat_add(writes, reg);
            if (!use[u].written || part || insn->op == ISA_V_WRITELANE_B32)
                nat_add(reads, reg);
        }
    }
    if (insn->guard != ISA_PT)
        nat_add(reads, (insn->guard_scalar ? NAT_SP : NAT_P) + insn->guard);
}

static void step_back(const struct nat_unit *unit, uint32_t i, struct nat_set *live)
{
    struct nat_set reads, writes;

    nat_uses(unit, i, &reads, &writes);
    for (unsigned k = 0; k < NAT_SET_WORDS; k++)
        live->word[k] = (live->word[k] & ~writes.word[k]) | reads.word[k];
}

/** Gets the registers that are live after block @b. */
static void live_after(const struct nat_unit *unit, const struct nat_block *b, struct nat_set *live)
{
    const uint32_t last = b->first + b->count - 1;

    memset(live, 0, sizeof *live);
    for (unsigned k = 0; k < 2; k++)
        for (unsigned w = 0; b->next[k] >= 0 && w < NAT_SET_WORDS; w++)
            live->word[w] |= unit->block[b->next[k]].live.word[w];
    /* an interpreter that continues in another function, or at an address in a register, may read all registers */
    if (unit->kind[last] == NAT_LEAVE && (nat_info(&unit->insn[last])->flags & (ISA_F_CALL | ISA_F_BRANCH)) &&
        unit->insn[last].op != ISA_EXIT)
        memset(live, 0xff, sizeof *live);
}

void nat_live_in(const struct nat_unit *unit, const struct nat_block *b, struct nat_set *out)
{
    struct nat_set live;

    live_after(unit, b, &live);
    for (uint32_t k = b->count; k-- > 0; out[k] = live)
        step_back(unit, b->first + k, &live);
}

static void liveness(struct nat_unit *unit)
{
    bool changed = true;

    while (changed) {
        changed = false;
        for (uint32_t n = unit->blocks; n-- > 0;) {
            struct nat_set live;
            const struct nat_block *b = &unit->block[n];
            live_after(unit, b, &live);
            for (uint32_t k = b->first + b->count; k-- > b->first;)
                step_back(unit, k, &live);
            changed = changed || memcmp(&live, &unit->block[n].live, sizeof live) != 0;
            unit->block[n].live = live;
        }
    }
}

/** Returns true if the block ends with instruction @i. */
static bool ends_block(const struct nat_unit *unit, uint32_t i)
{
    const enum nat_kind kind = (enum nat_kind)unit->kind[i];

    return kind == NAT_BRANCH || kind == NAT_LEAVE || kind == NAT_EXIT || kind == NAT_BAR;
}

/** Sets bits of leader[] for each instruction. 1: it is the first of a block; 2: a backward branch targets it; 4: native
 *  code is also entered here for another reason. Returns false if a branch leaves the kernel or has no known target. */
static bool find_leaders(struct nat_unit *unit, uint8_t *leader)
{
    int64_t target;

    leader[0] = 1;
    for (uint32_t i = 0; i < unit->count; i++) {
        const struct isa_insn *insn = &unit->insn[i];
        const bool divides = unit->masked && unit->kind[i] == NAT_BRANCH && insn->guard != ISA_PT && !insn->guard_scalar;
        if (isa_insn_jumps(insn, unit->first + i, &target)) {
            if (target < unit->first || target >= unit->first + unit->count)
                return false;
            leader[target - unit->first] |= (target <= unit->first + i ? 3 : 1) | (divides ? 4 : 0);
        } else if (unit->kind[i] == NAT_BRANCH) {
            return false;
        }
        if (ends_block(unit, i) && i + 1 < unit->count)
            leader[i + 1] |= unit->kind[i] != NAT_BRANCH || divides ? 5 : 1;
        if (unit->kind[i] == NAT_BSYNC && i + 1 < unit->count)
            leader[i + 1] |= 5; /* the lanes have reconverged, so native code can be entered again */
    }
    return true;
}

static void make_blocks(struct nat_unit *unit, const uint8_t *leader)
{
    int64_t target;

    for (uint32_t i = 0; i < unit->count; i++) {
        if (leader[i]) {
            struct nat_block *b = &unit->block[unit->blocks++];
            *b = (struct nat_block){.first = i, .next = {-1, -1}, .head = (leader[i] & 2) != 0};
            if (leader[i] & 6 || i == 0)
                b->entry = (uint16_t)++unit->entries;
        }
        unit->block_of[i] = (int32_t)unit->blocks - 1;
        unit->block[unit->blocks - 1].count++;
    }
    for (uint32_t n = 0; n < unit->blocks; n++) {
        struct nat_block *b = &unit->block[n];
        const uint32_t last = b->first + b->count - 1;
        const struct isa_insn *insn = &unit->insn[last];
        const bool guarded = insn->guard != ISA_PT || insn->guard_neg;
        if (unit->kind[last] == NAT_BRANCH && isa_insn_jumps(insn, unit->first + last, &target))
            b->next[1] = unit->block_of[target - unit->first];
        if ((unit->kind[last] != NAT_BRANCH || guarded) && last + 1 < unit->count)
            b->next[0] = (int32_t)n + 1; /* next[0] is set even after NAT_LEAVE: the interpreter may continue in the next block,
                                          * so liveness must include that block */
        if (insn->op == ISA_EXIT && !guarded)
            b->next[0] = -1;
    }
    for (uint32_t n = unit->blocks, back = n; n-- > 0;) {
        struct nat_block *b = &unit->block[n];
        uint32_t rest = 0;
        if (b->next[1] >= 0 && b->next[1] <= (int32_t)n && (uint32_t)b->next[1] < back)
            back = (uint32_t)b->next[1];
        b->loop = n >= back;
        for (; b->path < b->count; b->path++)
            if (unit->kind[b->first + b->path] == NAT_BSYNC || unit->kind[b->first + b->path] == NAT_LEAVE ||
                unit->kind[b->first + b->path] == NAT_BAR)
                break;
        for (unsigned k = 0; k < 2 && b->path == b->count; k++)
            if (b->next[k] > (int32_t)n && unit->block[b->next[k]].path > rest)
                rest = unit->block[b->next[k]].path;
        b->path += rest;
    }
}

uint64_t nat_leave_cost(const struct nat_unit *unit)
{
    uint64_t cost = 0;

    for (uint32_t n = 0; n < unit->blocks; n++) {
        const struct nat_block *b = &unit->block[n];
        struct nat_set live;
        live_after(unit, b, &live);
        for (uint32_t i = b->first + b->count; i-- > b->first;) {
            const enum nat_kind kind = (enum nat_kind)unit->kind[i];
            unsigned count = 0;
            step_back(unit, i, &live);
            for (unsigned w = 0; w < 4; w++)
                count += lw_popcount(live.word[w]);
            if (kind != NAT_ROW && kind != NAT_NOTHING && !(kind == NAT_BRANCH && unit->insn[i].guard == ISA_PT))
                cost += count;
            if (i == b->first && b->entry != 0)
                cost += count;
        }
    }
    return cost * ((unit->width + 15) / 16);
}

bool nat_flow(struct nat_unit *unit)
{
    uint8_t *leader = calloc(unit->count, 1);

    unit->kind = malloc(unit->count);
    unit->block_of = malloc(unit->count * sizeof *unit->block_of);
    unit->block = calloc(unit->count, sizeof *unit->block);
    bool good = leader != NULL && unit->kind != NULL && unit->block_of != NULL && unit->block != NULL;
    for (uint32_t i = 0; good && i < unit->count; i++) {
        struct isa_reg_use use[ISA_MAX_USES];
        const unsigned uses = isa_insn_uses(&unit->insn[i], use);
        unit->kind[i] = (uint8_t)nat_kind_of(&unit->insn[i]);
        if (unit->kind[i] == NAT_EXIT && i + 1 == unit->count) /* a lane that does not exit would fault, because no code
                                                                * follows */
            unit->kind[i] = NAT_LEAVE;
        for (unsigned u = 0; u < uses; u++) /* a write to exec, which changes the active lanes, is not supported */
            if (use[u].written && use[u].reg_class == ISA_REG_S && use[u].first + use[u].count > ISA_S_EXEC)
                good = false;
    }
    good = good && find_leaders(unit, leader);
    if (good) {
        make_blocks(unit, leader);
        liveness(unit);
    }
    free(leader);
    return good && unit->entries < UINT16_MAX;
}
