/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds loads that can share one address check (struct emu_addr_check).
 *
 * Each load compares its vector of addresses with the addresses that it would have if each half of the vector were uniform or
 * contiguous. Within a straight-line run, the result of this check is the same for two kinds of other loads: loads through the
 * same registers, if these were not written in between, and loads through the sum of such a register and a value that is the same
 * in all lanes. The result of a check is valid for one run, because w->proved is cleared when a run is counted. If a slice ends
 * in the middle of a run because its quantum is used up, the results about uniform and contiguous halves stay valid, because they
 * depend only on the warp. Host addresses that a check has computed do not stay valid.
 *
 * The technique is the elimination of redundant bounds checks within a basic block. A load that shares a check takes 25 host
 * instructions if its host address is known, and 60 if only the layout of its addresses is known. A load that shares no check
 * takes 100 host instructions.
 */
#include <stdlib.h>
#include <string.h>

#include "emu/interp/emu_control_priv.h"
#include "emu/program/emu_decode_priv.h"
#include "emu/simt/emu_split_priv.h"

/** A load that makes an address check, and whether later loads can share this check. */
struct opening {
    uint32_t at;
    bool open;
    bool lies;         /* true while no instruction has written the load's address registers or scalar base */
    int slot;          /* index of the check in w->proof; -1: no later load shares the check yet */
    uint32_t below, above;
    uint64_t alike[4]; /* set of the vector registers that differ from the load's address register by the same value in all
                        * lanes */
};

enum { OPENINGS = 8, EXEC_END = ISA_S_EXEC + 2 };

static bool overlaps(unsigned first, unsigned count, unsigned other, unsigned other_count)
{
    return first < other + other_count && other < first + count;
}

static bool is_pair(const struct isa_insn *insn)
{
    return isa_mod_get(insn, ISA_MOD_AMODE) == ISA_AMODE_PAIR;
}

/** Returns true for a load of 32-bit words from global or shared memory that has no guard, is executed by all lanes, and takes
 *  its addresses from vector registers. */
static bool may_share(const struct isa_insn *insn, const struct emu_dinsn *di)
{
    const struct isa_op_info *info = isa_op_info((enum isa_op)insn->op);

    return (insn->op == ISA_LD_GLOBAL || insn->op == ISA_LD_SHARED) &&
           !(info->flags & (ISA_F_SCALAR | ISA_F_STORE | ISA_F_ATOMIC)) && di->flags == 0 &&
           di->aux == 0 && (di->guard & 15) == ISA_PT && !insn->a_scalar && insn->a < 254 &&
           isa_mod_get(insn, ISA_MOD_SIZE) == ISA_SIZE_B32;
}

/** Returns true if @insn computes its addresses from its registers as @first does, and its registers equal those of @first or
 *  differ from them by the same value in all lanes. */
static bool follows(const struct opening *o, const struct isa_insn *first,
                    const struct isa_insn *insn)
{
    return o->open && insn->op == first->op &&
           isa_mod_get(insn, ISA_MOD_AMODE) == isa_mod_get(first, ISA_MOD_AMODE) &&
           isa_mod_get(insn, ISA_MOD_ASCALE) == isa_mod_get(first, ISA_MOD_ASCALE) &&
           (is_pair(insn) ? o->lies && insn->a == first->a
                          : (o->alike[insn->a / 64] >> insn->a % 64 & 1) != 0);
}

/** Returns true, and records the distance, if @insn loads words at a known distance @above from the words that @first loads. */
static bool lies(struct opening *o, const struct isa_insn *first, const struct isa_insn *insn,
                 int32_t above)
{
    const unsigned mode = isa_mod_get(insn, ISA_MOD_AMODE);
    uint32_t up = above > 0 ? (uint32_t)above : 0, down = above < 0 ? (uint32_t)-above : 0;

    if (!o->lies || insn->a != first->a || above % 4 != 0 ||
        ((mode == ISA_AMODE_SU32 || mode == ISA_AMODE_SS32) && insn->c != first->c))
        return false;
    up = up > o->above ? up : o->above;
    down = down > o->below ? down : o->below;
    if (up + down > EMU_ADDR_CHECK_REACH)
        return false;
    o->above = up;
    o->below = down;
    return true;
}

/** Returns the source register from which the destination of @insn differs by the same value in all lanes, or -1 if there is no
 *  such source. */
static int alike_to(const struct isa_insn *insn, const struct emu_dinsn *di)
{
    return (insn->op == ISA_V_ADD_U32 || insn->op == ISA_V_SUB_U32) && di->flags == 0 &&
                   (di->guard & 15) == ISA_PT && di->ukind < EMU_U_ROW && !insn->a_scalar &&
                   insn->a < 254
               ? insn->a
               : -1;
}

static void note_writes(struct opening *o, const struct isa_insn *first,
                        const struct isa_reg_use *use, unsigned uses, int alike, unsigned d)
{
    const bool is_alike = alike >= 0 && (o->alike[alike / 64] >> alike % 64 & 1) != 0;
    const unsigned mode = isa_mod_get(first, ISA_MOD_AMODE);

    for (unsigned u = 0; u < uses; u++) {
        if (!use[u].written)
            continue;
        if (use[u].reg_class == ISA_REG_V) {
            for (unsigned r = use[u].first; r < use[u].first + (unsigned)use[u].count; r++)
                o->alike[r / 64 & 3] &= ~(UINT64_C(1) << r % 64);
            if (overlaps(use[u].first, use[u].count, first->a, is_pair(first) ? 2 : 1))
                o->lies = false;
        } else if (use[u].reg_class == ISA_REG_S) {
            if (overlaps(use[u].first, use[u].count, ISA_S_EXEC, EXEC_END - ISA_S_EXEC))
                o->open = false; /* the instruction writes exec, so that other lanes may execute the instructions after it */
            if ((mode == ISA_AMODE_SU32 || mode == ISA_AMODE_SS32) &&
                overlaps(use[u].first, use[u].count, first->c, 2))
                o->lies = false;
        }
    }
    if (is_alike)
        o->alike[d / 64] |= UINT64_C(1) << d % 64;
}

/** Returns true if @insn increments the address register of @first by a value that is the same in all lanes. */
static bool advances(const struct isa_insn *first, const struct isa_insn *insn,
                     const struct emu_dinsn *di)
{
    return insn->op == (is_pair(first) ? ISA_V_ADD_U64 : ISA_V_ADD_U32) && insn->d == first->a &&
           insn->a == first->a && !insn->a_scalar && di->flags == 0 && (di->guard & 15) == ISA_PT &&
           di->ukind < EMU_U_ROW;
}

/** Returns true if the instructions of a loop, from @from to the branch @last, do not change the layout of load @at's addresses:
 *  uniform halves stay uniform, and contiguous halves stay contiguous. */
static bool keeps_form(const struct emu_code *code, uint32_t from, uint32_t last, uint32_t at)
{
    const struct isa_insn *first = &code->program->insn[at];

    for (uint32_t i = from; i < last; i++) {
        const struct isa_insn *insn = &code->program->insn[i];
        struct isa_reg_use use[ISA_MAX_USES];
        const unsigned uses = isa_insn_uses(insn, use);
        const bool advance = advances(first, insn, &code->insn[i]);
        for (unsigned u = 0; u < uses; u++) {
            if (!use[u].written)
                continue;
            if (use[u].reg_class == ISA_REG_V && !advance &&
                overlaps(use[u].first, use[u].count, first->a, is_pair(first) ? 2 : 1))
                return false;
            if (use[u].reg_class == ISA_REG_S &&
                overlaps(use[u].first, use[u].count, ISA_S_EXEC, EXEC_END - ISA_S_EXEC))
                return false;
        }
    }
    return true;
}

/** If branch @last closes a loop that is one straight-line run, makes the branch keep the results of address checks
 *  (EMU_PROVED_EQUAL, EMU_PROVED_RUN) for the loads of the next iteration. */
static void mark_loop(struct emu_code *code, const struct opening *opening, uint32_t last)
{
    struct emu_dinsn *di = &code->insn[last];
    uint8_t keep[EMU_ADDR_CHECKS] = {0};
    bool any = false;
    uint32_t from;

    if ((di->op != ISA_BRA && di->op != ISA_S_BRA) || di->delta >= 0 || di->aux != 0 ||
        di->flags != EMU_D_ENDS_RUN)
        return;
    from = last - (uint32_t)-di->delta;
    for (uint32_t i = from; i < last; i++)
        if (code->insn[i].flags & EMU_D_ENDS_RUN ||
            isa_op_info((enum isa_op)code->insn[i].op)->flags & ISA_F_CONTROL)
            return;
    for (const struct opening *o = opening; o < opening + OPENINGS; o++)
        if (o->open && o->slot >= 0 && o->at >= from && keeps_form(code, from, last, o->at))
            any = true, keep[o->slot] = EMU_PROVED_EQUAL | EMU_PROVED_RUN;
    if (any) {
        memcpy(&di->aux, keep, sizeof keep);
        di->h.full = emu_loop_handler;
    }
}

void emu_addr_cache_mark(struct emu_code *code)
{
    const struct emu_program *program = code->program;
    struct opening opening[OPENINGS] = {{0}};
    unsigned next = 0, slots = 0;
    bool any = false;

    for (uint32_t i = 0; i < program->count; i++) {
        const struct isa_insn *insn = &program->insn[i];
        struct emu_dinsn *di = &code->insn[i];
        struct isa_reg_use use[ISA_MAX_USES];

        if (may_share(insn, di)) {
            struct opening *o = opening;
            while (o < opening + OPENINGS && !follows(o, &program->insn[o->at], insn))
                o++;
            if (o == opening + OPENINGS) {
                o = &opening[next];
                next = (next + 1) % OPENINGS;
                memset(o, 0, sizeof *o);
                *o = (struct opening){.at = i, .open = true, .lies = true, .slot = -1};
                o->alike[insn->a / 64] |= UINT64_C(1) << insn->a % 64;
                any = true;
            } else if (o->slot >= 0 || slots < EMU_ADDR_CHECKS) {
                const struct isa_insn *first = &program->insn[o->at];
                const int32_t above = di->disp - code->insn[o->at].disp;
                const bool known = lies(o, first, insn, above);
                if (o->slot < 0)
                    o->slot = (int)slots++;
                di->aux = (known ? EMU_ADDR_CHECK_IN_RANGE : EMU_ADDR_CHECK_FOLLOWS) |
                          (uint64_t)o->slot << EMU_ADDR_CHECK_SLOT |
                          (known ? (uint64_t)(uint32_t)above << EMU_ADDR_CHECK_ABOVE : 0);
                code->insn[o->at].aux = EMU_ADDR_CHECK_OPENS | (uint64_t)o->slot << EMU_ADDR_CHECK_SLOT |
                                        (uint64_t)o->below << EMU_ADDR_CHECK_BELOW |
                                        (uint64_t)o->above << EMU_ADDR_CHECK_ABOVE;
            }
        }
        if (any) {
            const unsigned uses = isa_insn_uses(insn, use);
            for (unsigned k = 0; k < OPENINGS; k++)
                if (opening[k].open)
                    note_writes(&opening[k], &program->insn[opening[k].at], use, uses,
                                alike_to(insn, di), insn->d);
        }
        if (any)
            mark_loop(code, opening, i);
        if (di->flags & EMU_D_ENDS_RUN || isa_op_info((enum isa_op)insn->op)->flags & ISA_F_CONTROL) {
            memset(opening, 0, sizeof opening);
            any = false;
            if (di->flags & EMU_D_ENDS_RUN)
                slots = 0; /* the straight-line run ends, after which the results of its checks are not valid any more */
        }
    }
}
