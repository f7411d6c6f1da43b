/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Table of reconvergence engines, and the program analysis that finds reconvergence pcs: the reconvergence pc of a branch that
 * names a barrier register is the target of the bssy of this register that reaches the branch (MACHINE 7).
 */
#include <stdlib.h>

#include "emu/simt/emu_split_priv.h"

/* ---- rows of the table of engines --------------------------------------------------- */

static const struct emu_reconv *const engines[] = {&emu_reconv_cbar, &emu_reconv_stack, &emu_reconv_frontier, &emu_reconv_multipath,
                                                  &emu_reconv_early, &emu_reconv_likely, &emu_reconv_dualpath};

const char *const emu_reconv_names[] = {"cbar", "stack", "frontier", "multipath", "early", "likely", "dualpath", NULL};
_Static_assert(LW_COUNT_OF(emu_reconv_names) == LW_COUNT_OF(engines) + 1, "one name a row");

const char *const emu_push_order_names[] = {"smaller", "larger", "fall_through", NULL};

const struct emu_reconv *emu_reconv_find(const char *name)
{
    for (unsigned i = 0; i < LW_COUNT_OF(engines); i++)
        if (strcmp(engines[i]->name, name) == 0)
            return engines[i];
    return NULL;
}

bool emu_reconv_has_push_order(const char *name)
{
    const struct emu_reconv *engine = emu_reconv_find(name);

    return engine != NULL && engine->room != NULL;
}

bool emu_reconv_is_stack(const char *name)
{
    const struct emu_reconv *engine = emu_reconv_find(name);

    return engine != NULL && (engine->one_path || engine->two_paths);
}

int emu_push_order_find(const char *name)
{
    if (name == NULL)
        return EMU_PUSH_SMALLER;
    for (int i = 0; emu_push_order_names[i] != NULL; i++)
        if (strcmp(emu_push_order_names[i], name) == 0)
            return i;
    return -1;
}

/* ---- which bssy reaches a branch ---------------------------------------------------- */

enum { NOTHING = 0, SEVERAL = UINT32_MAX }; /* other values: 1 + the target of the bssy */

/** For each barrier register, the bssy that reaches the start of an instruction. */
struct reach {
    uint32_t from[ISA_BREG_COUNT];
};

struct flow {
    const struct emu_program *program;
    uint32_t first, count;
    struct reach *at;     /* [count] state at the start of the instruction */
    bool *reached;        /* [count]: control flow reaches the instruction */
    bool *waiting;        /* [count]: the instruction is in work[] and must be propagated */
    uint32_t *work;       /* [count] stack of instructions whose state must be propagated */
    uint32_t work_count;
    bool *taken;          /* [count]: indirect branches may target the instruction */
};

static bool always(const struct isa_insn *insn)
{
    return insn->guard == ISA_PT && !insn->guard_neg;
}

static bool names_barrier(const struct isa_insn *insn)
{
    return isa_op_info((enum isa_op)insn->op)->flags & ISA_F_BRANCH && isa_insn_bo(insn) >= 0;
}

/** Merges state @in into the state of instruction @to. */
static void flow_to(struct flow *f, int64_t to, const struct reach *in)
{
    bool changed;

    if (to < 0 || to >= (int64_t)f->count)
        return;
    changed = !f->reached[to];
    f->reached[to] = true;
    for (unsigned b = 0; b < ISA_BREG_COUNT; b++) {
        uint32_t old = f->at[to].from[b], now = in->from[b];
        if (now == NOTHING || old == now || old == SEVERAL)
            continue;
        f->at[to].from[b] = old == NOTHING ? now : SEVERAL;
        changed = true;
    }
    if (changed && !f->waiting[to]) {
        f->waiting[to] = true;
        f->work[f->work_count++] = (uint32_t)to;
    }
}

/** Propagates the states of the instructions in work[] until work[] is empty. */
static void follow(struct flow *f)
{
    while (f->work_count > 0) {
        uint32_t i = f->work[--f->work_count];
        const struct isa_insn *insn = &f->program->insn[f->first + i];
        int64_t target = (int64_t)i + 1 + (int32_t)insn->x;
        struct reach in = f->at[i];

        f->waiting[i] = false;
        switch (insn->op) {
        case ISA_BSSY:
            if (always(insn))
                in.from[insn->d & 15] = f->first + (uint32_t)target + 1;
            else if (in.from[insn->d & 15] != f->first + (uint32_t)target + 1)
                in.from[insn->d & 15] = in.from[insn->d & 15] == NOTHING
                                            ? f->first + (uint32_t)target + 1
                                            : SEVERAL;
            break;
        case ISA_BSYNC:
        case ISA_BBREAK:
            if (always(insn))
                in.from[insn->d & 15] = NOTHING;
            break;
        case ISA_BRX:
            for (uint32_t k = 0; k < f->count; k++)
                if (f->taken[k])
                    flow_to(f, k, &in);
            break;
        default:
            break;
        }
        if (isa_insn_jumps(insn, i, &target))
            flow_to(f, target, &in);
        if (!isa_insn_ends(insn)) /* also true for a call, after which control continues here when it returns */
            flow_to(f, (int64_t)i + 1, &in);
    }
}

/** Finds possible targets of indirect branches: code whose address a relocation contains, and code that no other control flow
 *  reaches. Returns false if no indirect branch is reachable. */
static bool find_taken(struct flow *f)
{
    const struct emu_program *p = f->program;
    const struct isa_object *o = p->object;
    bool any = false;

    for (uint32_t i = 0; i < f->count; i++)
        any = any || (f->reached[i] && p->insn[f->first + i].op == ISA_BRX);
    if (!any)
        return false;
    for (unsigned r = 0; o != NULL && r < o->reloc_count; r++) {
        const struct isa_reloc *reloc = &o->relocs[r];
        if (!reloc->to_function || reloc->to >= o->function_count)
            continue;
        int64_t at = (int64_t)o->functions[reloc->to].first + reloc->addend / ISA_WORD_BYTES -
                     f->first;
        if (at > 0 && at < f->count)
            f->taken[at] = true;
    }
    for (uint32_t i = 1; i < f->count; i++) {
        if (!f->reached[i] && isa_insn_ends(&p->insn[f->first + i - 1]))
            f->taken[i] = true;
    }
    return true;
}

static enum lw_status read_result(const struct flow *f, struct lw_error *err)
{
    struct emu_program *p = (struct emu_program *)(uintptr_t)f->program;
    char text[300];

    for (uint32_t i = 0; i < f->count; i++) {
        const struct isa_insn *insn = &p->insn[f->first + i];
        if (!f->reached[i] || !names_barrier(insn))
            continue;
        unsigned b = (unsigned)isa_insn_bo(insn) & 15;
        uint32_t from = f->at[i].from[b];
        if (from != NOTHING && from != SEVERAL) {
            p->rpc[f->first + i] = from - 1;
            continue;
        }
        (void)emu_program_location(p->object, f->first + i, text, sizeof text);
        if (from == NOTHING)
            return LW_FAIL(err, LW_EFORMAT, "%s: %s uses convergence barrier b%u, but no bssy b%u reaches it: add a "
                                            "bssy before it, or remove b%u", text,
                           isa_op_info((enum isa_op)insn->op)->mnemonic, b, b, b);
        return LW_FAIL(err, LW_EFORMAT, "%s: %s uses convergence barrier b%u, but several bssy b%u with different "
                                        "targets reach it: use one barrier for each target", text,
                       isa_op_info((enum isa_op)insn->op)->mnemonic, b, b);
    }
    return LW_OK;
}

enum lw_status emu_reconv_resolve(struct emu_program *program, uint32_t first, uint32_t count,
                                  struct lw_error *err)
{
    struct flow f = {.program = program, .first = first, .count = count};
    struct reach nothing = {{NOTHING}};
    enum lw_status status = LW_OK;
    bool any = false;

    for (uint32_t i = first; i < first + count && !any; i++)
        any = names_barrier(&program->insn[i]);
    if (!any)
        return LW_OK;
    f.at = calloc(count, sizeof *f.at);
    f.reached = calloc(count, sizeof *f.reached);
    f.waiting = calloc(count, sizeof *f.waiting);
    f.taken = calloc(count, sizeof *f.taken);
    f.work = calloc(count, sizeof *f.work);
    if (f.at == NULL || f.reached == NULL || f.waiting == NULL || f.taken == NULL ||
        f.work == NULL) {
        status = LW_FAIL(err, LW_ENOMEM, "the host has no memory for the program of %u instructions", count);
    } else {
        flow_to(&f, 0, &nothing);
        follow(&f);
        if (find_taken(&f)) {
            for (uint32_t i = 0; i < count; i++) { /* Propagates again, now also to the targets of indirect branches. */
                if (f.reached[i] && program->insn[first + i].op == ISA_BRX && !f.waiting[i]) {
                    f.waiting[i] = true;
                    f.work[f.work_count++] = i;
                }
            }
            follow(&f);
        }
        status = read_result(&f, err);
    }
    free(f.at);
    free(f.reached);
    free(f.waiting);
    free(f.taken);
    free(f.work);
    return status;
}
