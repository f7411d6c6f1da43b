/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Selection of calls. Only those of printing and assertions are known: their parameters lie in
 * local memory, each at its natural alignment, as the rows vprintf and assertfail want them.
 */
#include "ptx/ptx_select_priv.h"

enum callee {
    CALL_NONE,
    CALL_VPRINTF, /* format and buffer; returns what the row gives */
    CALL_PRINTF,  /* OpenCL: format and buffer, or format and arguments; returns 0 or -1 */
    CALL_ASSERT   /* message, file, line, function, size of a character */
};
enum { AREA_ALIGN = 16 };

/** The parts of a call; lists are NULL where it has none. */
struct call {
    const struct ptx_symbol *callee;
    const struct ptx_operand *results, *args;
    unsigned result_count, arg_count;
};

static void split_call(const struct ptx_sel *sel, const struct ptx_insn *in, struct call *out)
{
    *out = (struct call){ 0 };
    for (unsigned k = 0; k < in->operand_count; k++) {
        const struct ptx_operand *o = &in->operand[k];

        if (o->kind == PTX_O_SYMBOL && out->callee == NULL)
            out->callee = &sel->unit->module->symbols.at[o->symbol];
        if (o->kind != PTX_O_LIST)
            continue;
        if (out->callee == NULL) {
            out->results = o->element;
            out->result_count = o->count;
        } else {
            out->args = o->element;
            out->arg_count = o->count;
        }
    }
    if (out->callee != NULL && out->callee->kind != PTX_SYM_FUNCTION)
        out->callee = NULL;
}

static enum callee callee_of(const struct call *call)
{
    const char *name = call->callee != NULL ? call->callee->name : "";

    return strcmp(name, "vprintf") == 0        ? CALL_VPRINTF
           : strcmp(name, "printf") == 0       ? CALL_PRINTF
           : strcmp(name, "__assertfail") == 0 ? CALL_ASSERT
                                               : CALL_NONE;
}

/** clang before 19 passes OpenCL's arguments one by one. */
static bool is_variadic(const struct ptx_sel *sel, const struct call *call)
{
    return callee_of(call) == CALL_PRINTF &&
           sel->unit->module->functions.at[call->callee->function].params.count < 2;
}

static void refuse(struct ptx_sel *sel, const struct ptx_insn *in, const struct call *call)
{
    const char *name = call->callee != NULL ? call->callee->name : "a function pointer";

    if (strstr(name, "image") != NULL || strstr(name, "sampler") != NULL)
        ptx_fail(sel->job, in->line, LW_EUNSUPP,
                 "call to %s: images are not supported yet, use a buffer", name);
    ptx_fail(sel->job, in->line, LW_EUNSUPP,
             "call to %s: device functions are not supported yet, compile with -O2 so that "
             "they are inlined",
             name);
}

/** Give a parameter its place; @*top is the first free byte. */
static void place(struct ptx_sel *sel, const struct ptx_insn *in, const struct ptx_operand *o,
                  uint64_t *top)
{
    struct ptx_symbol *s = o->kind == PTX_O_SYMBOL ? &sel->unit->module->symbols.at[o->symbol]
                                                   : NULL;

    if (s == NULL || s->kind != PTX_SYM_PARAM || (s->placed && s->space != PTX_SP_LOCAL))
        ptx_fail(sel->job, in->line, LW_EUNSUPP,
                 "call: an operand is not a .param variable of this call");
    if (s->placed)
        return; /* of an earlier call: the same places */
    *top = (*top + s->align - 1) & ~(uint64_t)(s->align - 1);
    if (*top + s->size_bytes > 1u << 22)
        ptx_fail(sel->job, in->line, LW_EUNSUPP, "call: parameters larger than 4 MiB");
    s->space = PTX_SP_LOCAL; /* from here on its loads and stores are those of a local variable */
    s->offset = (uint32_t)*top;
    s->placed = true;
    *top += s->size_bytes;
}

void ptx_sel_place_calls(struct ptx_sel *sel)
{
    const struct ptx_function *fn = sel->fn;
    uint64_t base = ((uint64_t)sel->unit->local_bytes + AREA_ALIGN - 1) / AREA_ALIGN * AREA_ALIGN;

    for (size_t i = 0; i < fn->insns.count; i++) {
        const struct ptx_insn *in = &fn->insns.at[i];
        struct call call;
        uint64_t top = base;

        if (in->op != PTX_CALL)
            continue;
        split_call(sel, in, &call);
        if (callee_of(&call) == CALL_NONE)
            refuse(sel, in, &call);
        bool variadic = is_variadic(sel, &call);

        for (unsigned k = 0; k < call.arg_count; k++) {
            place(sel, in, &call.args[k], &top);
            if (k == 0 && variadic) /* arguments are aligned from the first one on */
                top = base + AREA_ALIGN;
        }
        for (unsigned k = 0; k < call.result_count; k++)
            place(sel, in, &call.results[k], &top);
        if (sel->unit->local_bytes < top)
            sel->unit->local_bytes = (uint32_t)top;
    }
}

/** Load or store of a parameter's register or pair. */
static void move_param(struct ptx_sel *sel, enum isa_op op, ptx_ref ref, uint32_t offset,
                       unsigned rows)
{
    struct ptx_mi *mi = ptx_sel_put(sel, op, op == ISA_LD_LOCAL ? ref : PTX_NO_REF, PTX_ZERO,
                                    op == ISA_LD_LOCAL ? PTX_NO_REF : ref, PTX_NO_REF, rows);

    mi->rows[PTX_S_A] = 1;
    mi->in.x = offset << 8;
    isa_mod_set(&mi->in, ISA_MOD_AMODE, ISA_AMODE_32);
    isa_mod_set(&mi->in, ISA_MOD_SIZE, rows == 2 ? ISA_SIZE_B64 : ISA_SIZE_B32);
}

static const struct ptx_symbol *param_of(struct ptx_sel *sel, const struct ptx_operand *o,
                                         uint64_t size_bytes)
{
    const struct ptx_symbol *s = &sel->unit->module->symbols.at[o->symbol];

    if (s->size_bytes != size_bytes)
        ptx_sel_fail(sel, LW_EUNSUPP, "'%s' has %llu bytes instead of %llu", s->name,
                     (unsigned long long)s->size_bytes, (unsigned long long)size_bytes);
    if (s->offset >= 1u << 23)
        ptx_sel_fail(sel, LW_EUNSUPP, "local memory larger than 8 MiB");
    return s;
}

static ptx_ref load_pair(struct ptx_sel *sel, const struct ptx_operand *o)
{
    const struct ptx_symbol *s = param_of(sel, o, 8);
    ptx_ref d = ptx_sel_temp(sel, 2);

    move_param(sel, ISA_LD_LOCAL, d, s->offset, 2);
    return d;
}

static void print(struct ptx_sel *sel, const struct call *call)
{
    bool variadic = is_variadic(sel, call);
    ptx_ref a, x, d = ptx_sel_temp(sel, 1);

    if (call->arg_count < 1 || (!variadic && call->arg_count != 2) || call->result_count > 1)
        ptx_sel_fail(sel, LW_EUNSUPP, "%s with %u parameters and %u results", call->callee->name,
                     call->arg_count, call->result_count);
    a = load_pair(sel, &call->args[0]);
    if (variadic) {
        const struct ptx_symbol *first = param_of(sel, &call->args[0], 8);

        x = ptx_sel_temp(sel, 2);
        ptx_sel_imm(sel, x, 2, ISA_LOCAL_BASE + first->offset + AREA_ALIGN);
    } else {
        x = load_pair(sel, &call->args[1]);
    }
    struct ptx_mi *mi = ptx_sel_put(sel, ISA_VPRINTF, d, a, x, PTX_NO_REF, 2);

    mi->rows[PTX_S_D] = 1;
    if (call->result_count == 0)
        return;
    const struct ptx_symbol *result = param_of(sel, &call->results[0], 4);

    if (callee_of(call) == CALL_PRINTF) {
        ptx_ref t = ptx_sel_temp(sel, 1);

        ptx_sel_put(sel, ISA_V_MIN_S32, t, d, PTX_ZERO, PTX_NO_REF, 1);
        d = t;
    }
    move_param(sel, ISA_ST_LOCAL, d, result->offset, 1);
}

static void assertion(struct ptx_sel *sel, const struct call *call)
{
    static const uint8_t sizes[] = { 8, 8, 4, 8, 8 };
    ptx_ref a;

    if (call->arg_count != LW_COUNT_OF(sizes) || call->result_count != 0)
        ptx_sel_fail(sel, LW_EUNSUPP, "%s with %u parameters and %u results", call->callee->name,
                     call->arg_count, call->result_count);
    for (unsigned i = 0; i < LW_COUNT_OF(sizes); i++)
        (void)param_of(sel, &call->args[i], sizes[i]);
    a = ptx_sel_temp(sel, 2);
    ptx_sel_imm(sel, a, 2, ISA_LOCAL_BASE + param_of(sel, &call->args[0], 8)->offset);
    ptx_sel_put(sel, ISA_ASSERTFAIL, PTX_NO_REF, a, PTX_NO_REF, PTX_NO_REF, 2);
}

void ptx_rule_call(struct ptx_sel *sel)
{
    struct call call;

    (void)ptx_take(&sel->in, PTX_W_UNI);
    split_call(sel, &sel->in, &call);
    if (callee_of(&call) == CALL_ASSERT)
        assertion(sel, &call);
    else
        print(sel, &call);
}
