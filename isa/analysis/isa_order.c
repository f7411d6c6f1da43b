/* SPDX-License-Identifier: Apache-2.0 */
/* Order analysis: whether, and how, a kernel can observe the order in which its threads run (MACHINE 4). */
#include <stdlib.h>

#include "isa/isa_priv.h"

/* ---- the functions that a kernel can reach --------------------------------------------- */

struct reach {
    const struct isa_object *object;
    const struct isa_insn *insn;
    uint32_t count;
    bool *seen;      /* [function] true if the kernel can reach the function */
    unsigned *found; /* indices of the functions that the kernel can reach, in the order in which they were found */
    unsigned n_found;
    bool everything; /* control may reach any instruction */
};

static void reach_function(struct reach *r, const struct isa_function *f)
{
    unsigned k = (unsigned)(f - r->object->functions);

    if (!r->seen[k]) {
        r->seen[k] = true;
        r->found[r->n_found++] = k;
    }
}

static void reach_from(struct reach *r, const struct isa_function *f)
{
    for (uint32_t i = f->first; i < f->first + f->count && i < r->count; i++) {
        const struct isa_insn *insn = &r->insn[i];

        const struct isa_op_info *info = isa_op_info((enum isa_op)insn->op);
        int64_t target;

        if (info != NULL && info->flags & ISA_F_CALL && isa_insn_target(insn, i, &target)) {
            const struct isa_function *to =
                target >= 0 && target < (int64_t)r->count
                    ? isa_object_function_at(r->object, (uint32_t)target) : NULL;

            if (to != NULL)
                reach_function(r, to);
            else
                r->everything = true;
        } else if (isa_op_is_indirect((enum isa_op)insn->op) &&
                   (insn->op != ISA_RET || f->kernel)) {
            r->everything = true; /* an indirect return does not require the analysis of the whole text, because it only leads to
                                   * an instruction after a call */
        }
    }
}

/* ---- the instructions of these functions ------------------------------------------------ */

enum { MIX_SIZES = 2, MIX_LOCATIONS = 2 }; /* sizes: 4 and 8 bytes; locations: shared memory, and all other memory */

struct mix {
    unsigned op[MIX_SIZES][MIX_LOCATIONS]; /* 1 + operation of the reductions recorded so far, or 0 if no reduction was
                                            * recorded */
};

/** Records a reduction. Reductions with equal operations commute; reductions with different operations on the same location do
 *  not. Returns true if a different operation was already recorded for this size and memory. */
static bool mixes(struct mix *mix, const struct isa_insn *insn, bool *shared)
{
    enum isa_space space;
    unsigned aop = isa_mod_get(insn, ISA_MOD_AOP), type = isa_mod_get(insn, ISA_MOD_ATYPE);
    bool ordered = aop == ISA_AOP_MIN || aop == ISA_AOP_MAX;
    bool is_signed = ordered && (type == ISA_ATYPE_S32 || type == ISA_ATYPE_S64);
    unsigned key = 1 + 2 * aop + is_signed, *at;

    (void)isa_op_access((enum isa_op)insn->op, &space);
    *shared = space == ISA_SPACE_SHARED;
    at = &mix->op[isa_mem_bytes(insn) == 8][*shared ? 0 : 1];
    if (*at == 0)
        *at = key;
    return *at != key;
}

static void look(const struct isa_insn *insn, uint32_t index, struct mix *mix,
                 struct isa_order_analysis *out)
{
    enum isa_order order = isa_insn_order(insn);
    bool mixed = false, shared;

    if (order == ISA_ORDER_COMMUTES && mixes(mix, insn, &shared)) {
        mixed = true;
        order = shared ? ISA_ORDER_BLOCK : ISA_ORDER_GRID;
    }
    if (order != ISA_ORDER_BLOCK && order != ISA_ORDER_GRID)
        return;
    if (out->worst == ISA_ORDER_GRID || (out->worst == order && out->insn <= index))
        return;
    out->worst = order;
    out->insn = index;
    out->mixed = mixed;
}

/** Analyses the whole text, for kernels in which control may reach any instruction. */
static void look_everywhere(const struct isa_insn *insn, uint32_t count,
                            struct isa_order_analysis *out)
{
    struct mix mix = { 0 };

    *out = (struct isa_order_analysis){ .worst = ISA_ORDER_NONE, .everything = true };
    for (uint32_t i = 0; i < count; i++)
        look(&insn[i], i, &mix, out);
}

static int by_index(const void *a, const void *b)
{
    unsigned x = *(const unsigned *)a, y = *(const unsigned *)b;

    return (x > y) - (x < y);
}

/** Analyses the code that @kernel can reach. All elements of r->seen are false before the call, and again afterwards. */
static void look_from(struct reach *r, const struct isa_function *kernel,
                      struct isa_order_analysis *out)
{
    struct mix mix = { 0 };

    r->n_found = 0;
    r->everything = false;
    reach_function(r, kernel);
    for (unsigned k = 0; k < r->n_found && !r->everything; k++)
        reach_from(r, &r->object->functions[r->found[k]]);
    for (unsigned k = 0; k < r->n_found; k++)
        r->seen[r->found[k]] = false;
    if (r->everything)
        return;
    *out = (struct isa_order_analysis){ .worst = ISA_ORDER_NONE };
    qsort(r->found, r->n_found, sizeof *r->found, by_index); /* in the order of the text, so that the report names the first
                                                              * instruction of the text */
    for (unsigned k = 0; k < r->n_found; k++) {
        const struct isa_function *f = &r->object->functions[r->found[k]];

        for (uint32_t i = f->first; i < f->first + f->count && i < r->count; i++)
            look(&r->insn[i], i, &mix, out);
    }
}

void isa_kernel_orders(const struct isa_object *object, const struct isa_insn *insn,
                       uint32_t count, struct isa_order_analysis *out)
{
    unsigned functions = object->function_count;
    struct reach r = { .object = object, .insn = insn, .count = count };
    struct isa_order_analysis everywhere;
    bool known = false; /* true if `everywhere` contains the analysis of the whole text, which is the same for all kernels that
                         * need it */

    r.seen = calloc((size_t)functions + 1, sizeof *r.seen);
    r.found = calloc((size_t)functions + 1, sizeof *r.found);
    for (unsigned k = 0; k < functions; k++) {
        r.everything = r.seen == NULL || r.found == NULL;
        out[k] = (struct isa_order_analysis){ .worst = ISA_ORDER_NONE };
        if (!object->functions[k].kernel)
            continue;
        if (!r.everything)
            look_from(&r, &object->functions[k], &out[k]);
        if (!r.everything)
            continue;
        if (!known)
            look_everywhere(insn, count, &everywhere);
        known = true;
        out[k] = everywhere;
    }
    free(r.seen);
    free(r.found);
}

struct isa_order_analysis *isa_object_orders(const struct isa_object *object)
{
    struct isa_insn *insn = calloc((size_t)object->text_count + 1, sizeof *insn);
    struct isa_order_analysis *out = calloc((size_t)object->function_count + 1, sizeof *out);

    if (insn == NULL || out == NULL) {
        free(insn);
        free(out);
        return NULL;
    }
    for (uint32_t i = 0; i < object->text_count; i++)
        (void)isa_insn_decode(object->text[i], &insn[i]);
    isa_kernel_orders(object, insn, object->text_count, out);
    free(insn);
    return out;
}

void isa_order_print(const struct isa_object *object, const struct isa_order_analysis *analysis,
                     struct lw_sink *out)
{
    static const char *const words[] = { [ISA_ORDER_NONE] = "order-free",
                                         [ISA_ORDER_BLOCK] = "block-order-free",
                                         [ISA_ORDER_GRID] = "fixed order" };
    const struct isa_line *line;
    const struct isa_function *f;
    struct isa_insn insn;
    char room[ISA_SYMBOL_BYTES];

    lw_put(out, words[analysis->worst]);
    if (analysis->worst == ISA_ORDER_NONE || analysis->insn >= object->text_count ||
        !isa_insn_decode(object->text[analysis->insn], &insn))
        return;
    lw_put(out, ": ");
    isa_insn_print(&insn, ISA_CODE_BASE + (uint64_t)analysis->insn * ISA_WORD_BYTES, NULL, NULL,
                   out);
    line = isa_object_line_at(object, analysis->insn);
    f = isa_object_function_at(object, analysis->insn);
    if (line != NULL && line->file < object->file_count)
        lw_printf(out, " at %s:%u", object->files[line->file], line->line);
    else if (f != NULL)
        lw_printf(out, " at %s+0x%x", isa_symbol_text(f->name, room), (analysis->insn - f->first) * ISA_WORD_BYTES);
    if (analysis->mixed)
        lw_put(out, " (mixed with a different operation of the same size)");
    if (analysis->everything)
        lw_put(out, ", which an indirect jump may reach");
}
