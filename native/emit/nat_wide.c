/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Code for several warps together. A short kernel without loops spends most of its instructions on addresses, checks and counts,
 * which are scalars. So code for whole warps has a second copy of such a kernel, for as many neighbouring warps of a block as have
 * 64 lanes. The copy treats them as one wide warp. If one of the warps needs anything else than the straight way through the
 * kernel, such as an exit of some lanes, or if an access is not valid, the copy jumps to the code for one warp, at the kernel's start.
 * That is possible as long as nothing has been stored. Therefore nothing after the copy's first store may leave it. After each jump
 * twice as many warps as before run alone, so that a kernel whose lanes often exit loses little. The order of accesses by
 * different warps does not matter (MACHINE 4).
 */
#include <stdlib.h>
#include <string.h>

#include "native/nat_values_priv.h"

/* MOST_INSTRUCTIONS: largest number of instructions of such a kernel. MOST_VECTORS: largest number of registers that are neither
 * uniform nor affine and that are live at the same time; each takes four vectors of the host, which has 32. With 12 of them, sobel of
 * bench/wide still runs in 0.9 of the time. MOST_ALONE: largest number of warps, or pairs of warps and so on, that run alone
 * before the next try. */
enum { WIDE_LANES = 64, MOST_INSTRUCTIONS = 160, MOST_VECTORS = 12, MOST_ALONE = 1023 };

/** Returns whether instruction @i does in several warps together what it does in each of them. */
static bool is_lanewise(const struct nat_unit *u, uint32_t i)
{
    const struct isa_insn *insn = &u->insn[i];
    const enum isa_special sr = (enum isa_special)insn->x;
    struct nat_set reads, writes;

    nat_uses(u, i, &reads, &writes);
    if ((nat_info(insn)->flags & ISA_F_CROSS) != 0 || insn->op == ISA_V_WRITELANE_B32 || nat_has(&reads, NAT_S + ISA_S_EXEC) ||
        nat_has(&reads, NAT_S + ISA_S_EXEC + 1) || nat_has(&writes, NAT_S + ISA_S_EXEC) || nat_has(&writes, NAT_S + ISA_S_EXEC + 1))
        return false;
    switch (u->kind[i]) {
    case NAT_ROW:
        return (insn->op != ISA_V_S2R && insn->op != ISA_S_S2R) || (sr >= ISA_SR_NTID_X && sr <= ISA_SR_WORKDIM) ||
               (insn->op == ISA_V_S2R && (sr == ISA_SR_TID_X || sr == ISA_SR_TID_Y || sr == ISA_SR_TID_Z));
    case NAT_LOAD: return insn->op == ISA_LD_GLOBAL;
    case NAT_STORE: return insn->op == ISA_ST_GLOBAL;
    case NAT_SCALAR_LOAD:
    case NAT_NOTHING:
    case NAT_EXIT: return true;
    default: return false;
    }
}

/** Returns the index of the exit at the end of the kernel if the kernel is straight and all of its instructions are lanewise; otherwise
 *  0. */
static uint32_t straight_end(const struct nat_unit *u)
{
    for (uint32_t i = 0; i < u->count && i <= MOST_INSTRUCTIONS; i++) {
        if (u->kind[i] == NAT_LEAVE && u->insn[i].op == ISA_EXIT && u->insn[i].guard == ISA_PT && !u->insn[i].guard_neg)
            return i;
        if (!is_lanewise(u, i))
            return 0;
    }
    return 0;
}

/** Returns whether the registers that are live at the same time fit into the host's registers. u->state: the shapes at the start. */
static bool is_small(const struct nat_unit *u, uint32_t end)
{
    struct nat_set *live = calloc(u->count, sizeof *live);
    struct nat_state *state = malloc(sizeof *state);
    bool small = live != NULL && state != NULL;

    for (uint32_t n = 0; small && n < u->blocks && u->block[n].first <= end; n++)
        nat_live_in(u, &u->block[n], &live[u->block[n].first]);
    if (small)
        *state = u->state;
    for (uint32_t i = 0; small && i <= end; i++) {
        unsigned vectors = 0;

        for (unsigned r = 0; r < 255; r++)
            vectors += nat_has(&live[i], NAT_V + r) && state->v[r].kind == NAT_LANES;
        small = vectors <= MOST_VECTORS;
        nat_shape_step(u, state, i);
    }
    free(live);
    free(state);
    return small;
}

/** Emits the instructions before the exit at index @end. Returns false if one of them cannot be executed in several warps together. */
static bool emit_straight(struct nat_unit *u, uint32_t end)
{
    for (uint32_t i = 0; i < end; i++) {
        u->at = i;
        nat_line(u, i);
        u->generic = false;
        nat_generalise(u);
        if (!nat_goes_on(u, i))
            u->covered_count = 0;
        if (u->kind[i] == NAT_ROW) {
            nat_emit_row(u);
        } else if (u->kind[i] == NAT_EXIT) {
            const struct isa_insn *insn = &u->insn[i];
            const struct nat_value guard = nat_get_predicate(u, insn->guard, insn->guard_neg, insn->guard_scalar);
            nat_leave_unless(u, u->b.llvm->BuildNot(u->b.b, guard.vector ? nat_any_lane(u, guard.v) : guard.v, ""));
        } else if (u->kind[i] != NAT_NOTHING && !nat_emit_memory(u)) {
            return false;
        }
        u->wide.stored = u->wide.stored || u->kind[i] == NAT_STORE;
        if (u->generic || u->wide.failed)
            return false;
        nat_shape_step(u, &u->state, i);
    }
    u->at = end;
    return true;
}

/** Emits the end: counts all warps but the last, which then ends as a warp that runs alone does. */
static void emit_end(struct nat_unit *u, unsigned warps)
{
    const struct nat_llvm *l = u->b.llvm;
    const struct emu_native_site here = {u->first + u->at, u->at, u->block_loads, u->block_stores, 0};
    const uint32_t site = nat_add_site(u, here);
    LLVMValueRef ended = l->BuildLoad2(u->b.b, u->b.i64, u->ended, "");
    LLVMValueRef record = nat_address(u, nat_member(u, u->b.pointer, offsetof(struct emu_native_frame, record)),
                                      l->BuildMul(u->b.b, ended, quad(u, sizeof(struct emu_native_record)), ""));

    for (unsigned k = 0; k + 1 < warps; k++) {
        LLVMValueRef at = nat_address(u, record, quad(u, k * sizeof(struct emu_native_record)));
        (void)l->BuildStore(u->b.b, quad(u, (uint64_t)u->at << 32 | site), at);
        (void)l->BuildStore(u->b.b, quad(u, 0), nat_address(u, at, quad(u, offsetof(struct emu_native_record, missing))));
    }
    nat_put_member(u, quad(u, 0), offsetof(struct emu_native_frame, wide_penalty));
    nat_add_to(u, u->loads, (warps - 1) * u->block_loads);
    nat_add_to(u, u->stores, (warps - 1) * u->block_stores);
    (void)l->BuildStore(u->b.b, l->BuildAdd(u->b.b, ended, quad(u, warps - 1), ""), u->ended);
    memset(&u->live[u->at], 0, sizeof u->live[u->at]); /* no register is live before the exit */
    nat_emit_next_warp(u, site);
    nat_leave(u, u->site[site], &u->live[u->at], NULL);
}

void nat_emit_wide(struct nat_unit *u)
{
    const struct nat_llvm *l = u->b.llvm;
    const unsigned warps = WIDE_LANES / u->width;
    const uint32_t *block = u->job->block, threads = block[0] * block[1] * block[2];
    const uint32_t end = straight_end(u);
    struct nat_unit *kept = NULL;
    bool good = false;

    u->wide.start = NULL;
    if (u->ended == NULL || u->through || !u->scatters || warps < 2 || threads % WIDE_LANES != 0 || end == 0 ||
        (u->region_of != NULL && u->region_of[0] != NULL) || (block[0] % WIDE_LANES != 0 && WIDE_LANES % block[0] != 0))
        return;
    for (unsigned r = 0; r < NAT_REGS; r++)
        if (nat_has(&u->block[0].live, r))
            return;
    kept = malloc(sizeof *kept);
    if (kept == NULL) {
        u->failed = true;
        return;
    }
    *kept = *u;
    u->width = u->b.width = WIDE_LANES;
    u->columns = block[0] < WIDE_LANES ? block[0] : WIDE_LANES;
    u->rows = WIDE_LANES / u->columns;
    u->state = *u->block[0].in;
    u->columns_vector = u->rows_vector = u->offsets = u->elements = NULL;
    u->block_first = u->block_loads = u->block_stores = u->covered_count = 0;
    nat_forget_values(u);
    if (is_small(u, end)) {
        u->wide.start = nat_new_block(u);
        u->wide.plain = nat_new_block(u);
        u->wide.active = true;
        u->wide.stored = u->wide.failed = false;
        u->leave = nat_new_block(u);
        u->segment.first = 0;
        u->leave_at = 1;
        position(u, u->leave);
        LLVMValueRef penalty = nat_member(u, u->b.i64, offsetof(struct emu_native_frame, wide_penalty));
        penalty = l->BuildAdd(u->b.b, l->BuildShl(u->b.b, penalty, quad(u, 1), ""), quad(u, 1), "");
        penalty = l->BuildAnd(u->b.b, penalty, quad(u, MOST_ALONE), "");
        nat_put_member(u, penalty, offsetof(struct emu_native_frame, wide_penalty));
        nat_put_member(u, penalty, offsetof(struct emu_native_frame, wide_wait));
        (void)l->BuildBr(u->b.b, u->wide.plain);
        position(u, u->wide.start);
        nat_clear_predicates(u);
        good = emit_straight(u, end);
        if (good) {
            emit_end(u, warps);
        } else { /* nothing jumps to the copy, so LLVM deletes it */
            (void)l->BuildUnreachable(u->b.b);
            position(u, u->wide.plain);
            (void)l->BuildUnreachable(u->b.b);
        }
    }
    u->wide.active = u->wide.stored = false;
    kept->wide = u->wide;
    kept->failed = u->failed;
    kept->site = u->site;
    kept->sites = u->sites;
    kept->sites_room = u->sites_room;
    kept->windows = u->windows;
    memcpy(kept->caller, u->caller, sizeof kept->caller);
    *u = *kept;
    free(kept);
    if (!good)
        u->wide.start = NULL;
}

void nat_choose_wide(struct nat_unit *u)
{
    const struct nat_llvm *l = u->b.llvm;
    const unsigned warps = WIDE_LANES / u->width;
    LLVMValueRef ended = l->BuildLoad2(u->b.b, u->b.i64, u->ended, ""), most = l->BuildLoad2(u->b.b, u->b.i64, u->warps, "");
    LLVMValueRef first = nat_member(u, u->b.i32, offsetof(struct emu_native_frame, first_thread));
    LLVMValueRef thread = l->BuildMul(u->b.b, ended, quad(u, u->width), "");
    thread = l->BuildAnd(u->b.b, l->BuildAdd(u->b.b, thread, l->BuildZExt(u->b.b, first, u->b.i64, ""), ""), quad(u, WIDE_LANES - 1), "");
    LLVMValueRef begins = l->BuildICmp(u->b.b, NAT_INT_EQ, thread, quad(u, 0), "");
    LLVMValueRef all = l->BuildICmp(u->b.b, NAT_INT_ULE, l->BuildAdd(u->b.b, ended, quad(u, warps), ""), most, "");

    LLVMBasicBlockRef may = nat_new_block(u), alone = nat_new_block(u);
    (void)l->BuildCondBr(u->b.b, l->BuildAnd(u->b.b, begins, all, ""), may, u->wide.plain);
    position(u, may);
    LLVMValueRef wait = nat_member(u, u->b.i64, offsetof(struct emu_native_frame, wide_wait));
    (void)l->BuildCondBr(u->b.b, l->BuildICmp(u->b.b, NAT_INT_EQ, wait, quad(u, 0), ""), u->wide.start, alone);
    position(u, alone);
    nat_put_member(u, l->BuildSub(u->b.b, wait, quad(u, 1), ""), offsetof(struct emu_native_frame, wide_wait));
    (void)l->BuildBr(u->b.b, u->wide.plain);
    position(u, u->wide.plain);
}
