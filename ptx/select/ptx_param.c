/* SPDX-License-Identifier: Apache-2.0 */
/* Assigns locations to the variables in the .param space of a function, which are the parameters and results of the function
 * and of its calls. A scalar that is only loaded and stored whole is in a virtual register. All others are local variables.
 * Variables of calls share offsets if the text shows that one is dead before the next is used. The text shows this if the
 * first and the last use are in one straight-line stretch, as in text that compilers write. By the ABI
 * (docs/reference/abi.md) scalars are passed in v4 to v31 and then on the stack; for an aggregate the address of the
 * caller's copy is passed. */
#include "ptx/select/ptx_select_priv.h"

bool ptx_param_is_scalar(const struct ptx_symbol *s)
{
    return s->size_bytes == ptx_type_bytes((enum ptx_type)s->type) && s->size_bytes <= 8;
}

struct ptx_param_slot ptx_param_location(struct ptx_param_slots *places, unsigned rows)
{
    struct ptx_param_slot p = { .rows = rows };

    places->next = (places->next + rows - 1) & ~(rows - 1);
    if (places->next + rows <= PTX_LAST_ARGUMENT + 1) {
        p.row = places->next;
        places->next += rows;
        return p;
    }
    places->next = PTX_LAST_ARGUMENT + 1; /* all parameters after the first one on the stack are also passed on the stack */
    places->bytes = (places->bytes + 4 * rows - 1) & ~(4 * rows - 1);
    p.on_stack = true;
    p.offset = places->bytes;
    places->bytes += 4 * rows;
    return p;
}

unsigned ptx_param_rows(const struct ptx_symbol *s)
{
    return ptx_param_is_scalar(s) ? ptx_type_rows((enum ptx_type)s->type) : 1;
}

uint32_t ptx_param_stack(const struct ptx_module *module, const uint32_t *results,
                         size_t result_count, const uint32_t *params, size_t param_count)
{
    struct ptx_param_slots places = { .next = PTX_FIRST_ARGUMENT };

    for (size_t i = 0; i < result_count; i++) {
        if (!ptx_param_is_scalar(&module->symbols.at[results[i]]))
            (void)ptx_param_location(&places, 1);
    }
    for (size_t i = 0; i < param_count; i++)
        (void)ptx_param_location(&places, ptx_param_rows(&module->symbols.at[params[i]]));
    return places.bytes;
}

/* ---- uses of .param variables ------------------------------------------------------------------- */

struct scan {
    struct ptx_sel *sel;
    uint32_t run; /* number of the current straight-line stretch */
};

static struct ptx_symbol *param_at(const struct scan *scan, uint32_t symbol)
{
    struct ptx_symbol *s = symbol == PTX_NONE ? NULL : &scan->sel->unit->module->symbols.at[symbol];

    return s != NULL && s->kind == PTX_SYM_PARAM && s->home != PTX_SPILL_CONST ? s : NULL;
}

static struct ptx_symbol *note_use(const struct scan *scan, uint32_t symbol, uint32_t insn)
{
    struct ptx_symbol *s = param_at(scan, symbol);

    if (s == NULL)
        return NULL;
    if (s->first_use == 0) {
        s->first_use = insn + 1;
        s->first_run = scan->run;
    }
    s->last_use = insn + 1;
    s->last_run = scan->run;
    return s;
}

static void note_access(const struct scan *scan, const struct ptx_insn *in, uint32_t index)
{
    bool store = in->op == PTX_ST;
    const struct ptx_operand *o = &in->operand[store ? 0 : 1];
    struct ptx_symbol *s = note_use(scan, o->symbol, index);
    unsigned bytes = in->type_count == 0 ? 0 : ptx_type_bytes((enum ptx_type)in->type[0]);
    bool vector = ptx_has(in, PTX_W_V2) || ptx_has(in, PTX_W_V4) || ptx_has(in, PTX_W_V8);

    if (s == NULL)
        return;
    if (vector || o->imm != 0 || bytes > s->size_bytes || o->reg != PTX_NONE)
        s->odd = true;
    if (store) {
        s->narrow = s->narrow == 0 || bytes < s->narrow ? (uint8_t)bytes : s->narrow;
        s->odd |= s->size_bytes > 4 && bytes != s->size_bytes;
    } else if (bytes > s->wide) {
        s->wide = (uint8_t)bytes;
    }
}

static void note_insn(const struct scan *scan, const struct ptx_insn *in, uint32_t index)
{
    unsigned access = in->op == PTX_LD && in->operand_count == 2   ? 1
                      : in->op == PTX_ST && in->operand_count == 2 ? 0
                                                                   : 16;

    for (unsigned k = 0; k < in->operand_count; k++) {
        const struct ptx_operand *o = &in->operand[k];
        struct ptx_symbol *s;

        if (k == access && o->kind == PTX_O_ADDRESS) {
            note_access(scan, in, index);
            continue;
        }
        for (unsigned e = 0; o->element != NULL && e < o->count; e++) {
            s = note_use(scan, o->element[e].kind == PTX_O_SYMBOL ? o->element[e].symbol : PTX_NONE,
                         index);
            if (s != NULL)
                s->odd |= in->op != PTX_CALL || o->kind != PTX_O_LIST;
        }
        if (o->element == NULL && (o->kind == PTX_O_SYMBOL || o->kind == PTX_O_ADDRESS)) {
            s = note_use(scan, o->symbol, index);
            if (s != NULL)
                s->odd = true; /* the instruction takes the address of the variable */
        }
    }
}

static void note_function(struct scan *scan, const uint8_t *target)
{
    const struct ptx_function *fn = scan->sel->fn;

    for (uint32_t i = 0; i < fn->insns.count; i++) {
        const struct ptx_insn *in = &fn->insns.at[i];

        scan->run += target[i];
        note_insn(scan, in, i);
        scan->run += in->op == PTX_BRA || in->op == PTX_BRX || in->op == PTX_RET ||
                     in->op == PTX_EXIT;
    }
}

/* ---- locations of .param variables -------------------------------------------------------------- */

/* Greatest size in bytes of a structure that each call copies for debuggers. The caller has a store for each word of the
 * structure, too. MOST_COPIED_RECURSIVE: for recursive functions, whose stack has a fixed size. */
enum { MOST_COPIED = 64 << 10, MOST_COPIED_RECURSIVE = 1024 };

static bool fits_register(const struct ptx_symbol *s)
{
    return ptx_param_is_scalar(s) && !s->odd && (s->narrow == 0 || s->wide <= s->narrow);
}

static void in_register(struct ptx_sel *sel, struct ptx_symbol *s, enum ptx_spill_home home)
{
    s->home = (uint8_t)home;
    s->home_vreg = ptx_ref_vreg(ptx_sel_temp(sel, ptx_param_rows(s)));
}

static void in_frame(struct ptx_sel *sel, struct ptx_symbol *s, uint64_t *top, unsigned line)
{
    *top = (*top + s->align - 1) & ~(uint64_t)(s->align - 1);
    if (*top + s->size_bytes > 1u << 22)
        ptx_fail(sel->job, line, LW_EUNSUPP, "call: the parameters exceed 4 MiB");
    s->home = PTX_SPILL_FRAME;
    s->space = PTX_SP_LOCAL; /* from now on, loads and stores of the parameter are selected as accesses to local memory */
    s->offset = (uint32_t)*top;
    s->placed = true;
    *top += s->size_bytes;
}

static bool in_one_run(const struct ptx_symbol *s)
{
    return s->first_run == s->last_run;
}

/* Assigns a register to a .param variable that fits one. A variable that fits no register and is used in several
 * straight-line stretches gets its own offset, below the shared offsets that share_slots() assigns to all other variables. */
static void lay_out_param(struct ptx_sel *sel, struct ptx_symbol *s, uint64_t *top, unsigned line)
{
    if (s->home != PTX_SPILL_NONE || s->first_use == 0)
        return;
    if (fits_register(s))
        in_register(sel, s, PTX_SPILL_REGISTER);
    else if (!in_one_run(s))
        in_frame(sel, s, top, line);
}

static void for_params(struct ptx_sel *sel, const struct ptx_insn *in, uint64_t *top,
                       void (*body)(struct ptx_sel *, struct ptx_symbol *, uint64_t *, unsigned))
{
    for (unsigned k = 0; k < in->operand_count; k++) {
        const struct ptx_operand *o = &in->operand[k];
        unsigned n = o->element != NULL ? o->count : 1;

        for (unsigned e = 0; e < n; e++) {
            const struct ptx_operand *one = o->element != NULL ? &o->element[e] : o;
            const struct scan scan = { .sel = sel };
            struct ptx_symbol *s = one->kind == PTX_O_SYMBOL || one->kind == PTX_O_ADDRESS
                                       ? param_at(&scan, one->symbol) : NULL;

            if (s != NULL)
                body(sel, s, top, in->line);
        }
    }
}

struct shared_slots {
    uint64_t base, top, most;
    unsigned active;
};

/* Assigns offsets from `base` upwards to variables that are used in one straight-line stretch. When no variable with such an
 * offset is in use, the next offset is `base` again. */
static void share_slots(struct ptx_sel *sel, struct shared_slots *places)
{
    const struct ptx_function *fn = sel->fn;

    for (uint32_t i = 0; i < fn->insns.count; i++) {
        const struct ptx_insn *in = &fn->insns.at[i];

        for (int done = 0; done < 2; done++) {
            for (unsigned k = 0; k < in->operand_count; k++) {
                const struct ptx_operand *o = &in->operand[k];
                unsigned n = o->element != NULL ? o->count : 1;

                for (unsigned e = 0; e < n; e++) {
                    const struct ptx_operand *one = o->element != NULL ? &o->element[e] : o;
                    const struct scan scan = { .sel = sel };
                    struct ptx_symbol *s = one->kind == PTX_O_SYMBOL || one->kind == PTX_O_ADDRESS
                                               ? param_at(&scan, one->symbol) : NULL;

                    if (s == NULL)
                        continue;
                    if (done == 0 && s->home == PTX_SPILL_NONE) {
                        if (places->active++ == 0)
                            places->top = places->base;
                        in_frame(sel, s, &places->top, in->line);
                        if (places->most < places->top)
                            places->most = places->top;
                    } else if (done == 1 && s->home == PTX_SPILL_FRAME && in_one_run(s) &&
                               s->last_use == i + 1) {
                        s->last_use = 0; /* ensures that the variable is counted as released only once */
                        places->active--;
                    }
                }
            }
        }
    }
}

void ptx_param_homes(struct ptx_sel *sel, const uint8_t *target, bool stepped)
{
    struct ptx_unit *unit = sel->unit;
    struct ptx_module *module = unit->module;
    const struct ptx_function *fn = sel->fn;
    struct scan scan = { .sel = sel, .run = 1 };
    uint64_t top = unit->local_bytes;

    for (size_t i = 0; i < fn->params.count; i++) {
        if (fn->kernel)
            module->symbols.at[fn->params.at[i]].home = PTX_SPILL_CONST;
    }
    const uint64_t most_copied = fn->calls.recursive ? MOST_COPIED_RECURSIVE : MOST_COPIED;

    note_function(&scan, target);
    for (size_t i = 0; !fn->kernel && i < fn->params.count + fn->results.count; i++) {
        struct ptx_symbol *s = &module->symbols.at[i < fn->params.count
                                                       ? fn->params.at[i]
                                                       : fn->results.at[i - fn->params.count]];

        s->placed = false;
        if (s->reg != 0) {
            s->home = PTX_SPILL_REGISTER;
            s->home_vreg = ptx_ref_vreg(ptx_sel_reg(sel, s->reg - 1));
            continue;
        }
        /* a parameter is live from the entry and a result to the end, so its offset must not be shared */
        s->last_run = s->first_run + 1;
        if (stepped && i < fn->params.count && !ptx_param_is_scalar(s) && s->size_bytes <= most_copied)
            in_frame(sel, s, &top, fn->line);
        else if (s->first_use != 0 && !ptx_param_is_scalar(s))
            in_register(sel, s, PTX_SPILL_POINTER);
    }
    for (size_t i = 0; i < fn->insns.count; i++)
        for_params(sel, &fn->insns.at[i], &top, lay_out_param);
    struct shared_slots places = { .base = top, .top = top, .most = top };

    share_slots(sel, &places);
    unit->local_bytes = (uint32_t)places.most;
}

/* ---- addresses of local variables ----------------------------------------------------------------- */

/* Returns true if operand @o is the address of a local variable. Then sets @out to the operand's register or, if @o names the
 * variable, to a register that describes the variable. */
static bool local_of(const struct ptx_sel *sel, const struct ptx_operand *o, struct ptx_reg *out)
{
    const struct ptx_symbol *s;

    if (o->kind == PTX_O_REG) {
        *out = sel->fn->regs.at[o->reg];
        return out->local != 0;
    }
    if (o->kind != PTX_O_SYMBOL)
        return false;
    s = &sel->unit->module->symbols.at[o->symbol];
    *out = (struct ptx_reg){ .local = o->symbol + 1, .local_offset = (int64_t)o->imm };
    return s->kind == PTX_SYM_VARIABLE && s->space == PTX_SP_LOCAL;
}

/* Returns true if an `or` with @imm has the result of an addition, because the address is aligned and @imm is smaller than
 * the alignment. */
static bool or_adds(const struct ptx_sel *sel, const struct ptx_reg *r, uint64_t imm)
{
    return imm < sel->unit->module->symbols.at[r->local - 1].align &&
           ((uint64_t)r->local_offset & imm) == 0;
}

static void find_local(struct ptx_sel *sel, const struct ptx_insn *in)
{
    struct ptx_reg *d, from;
    uint64_t imm = 0;

    if (in->operand_count < 2 || in->operand[0].kind != PTX_O_REG || in->guard != PTX_NONE ||
        in->type_count != 1 || ptx_type_bytes((enum ptx_type)in->type[0]) != 8 ||
        !local_of(sel, &in->operand[1], &from))
        return;
    d = &sel->fn->regs.at[in->operand[0].reg];
    if (d->definitions != 1)
        return;
    switch (in->op) {
    case PTX_MOV:
        break;
    case PTX_CVTA:
        if (!ptx_has(in, PTX_W_LOCAL) || ptx_has(in, PTX_W_TO) != from.local_generic)
            return;
        from.local_generic = !from.local_generic;
        break;
    case PTX_ADD:
    case PTX_OR:
        if (in->operand_count != 3 || !ptx_sel_known(sel, &in->operand[2], &imm) ||
            (in->op == PTX_OR && !or_adds(sel, &from, imm)) || (in->words[0] | in->words[1]) != 0)
            return;
        break;
    default:
        return;
    }
    d->local = from.local;
    d->local_generic = from.local_generic;
    d->local_offset = (int64_t)((uint64_t)from.local_offset + imm);
}

void ptx_find_locals(struct ptx_sel *sel)
{
    for (size_t i = 0; i < sel->fn->insns.count; i++)
        find_local(sel, &sel->fn->insns.at[i]);
}

/* ---- loads and stores of variables that are in registers ------------------------------------------------------ */

static const struct ptx_symbol *in_home(const struct ptx_sel *sel, unsigned index)
{
    const struct ptx_operand *o = &sel->in.operand[index];
    const struct ptx_symbol *s = o->kind == PTX_O_ADDRESS && o->symbol != PTX_NONE
                                     ? &sel->unit->module->symbols.at[o->symbol] : NULL;

    return s != NULL && s->kind == PTX_SYM_PARAM && s->home == PTX_SPILL_REGISTER ? s : NULL;
}

static const struct ptx_operand *one_of(const struct ptx_operand *o)
{
    return o->kind == PTX_O_VECTOR && o->count == 1 ? &o->element[0] : o;
}

/* Selects a load of 4 bytes from a kernel's parameter of 2 bytes. clang 19 writes it for a vector of two bytes, and takes the
 * halves of the result for the two elements. Returns false for other loads. */
static bool load_byte_pair(struct ptx_sel *sel, enum ptx_type type)
{
    const struct ptx_operand *o = &sel->in.operand[1], *to = one_of(&sel->in.operand[0]);
    const struct ptx_symbol *s = o->kind == PTX_O_ADDRESS && o->symbol != PTX_NONE ? &sel->unit->module->symbols.at[o->symbol] : NULL;
    ptx_ref pair, selector;
    struct ptx_mi *mi;

    if (s == NULL || s->kind != PTX_SYM_PARAM || s->home != PTX_SPILL_CONST || s->size_bytes != 2 || o->imm != 0 ||
        (type != PTX_T_B32 && type != PTX_T_U32) || to->kind != PTX_O_REG || ptx_sel_reg_bytes(sel, to) != 4)
        return false;
    pair = ptx_sel_temp(sel, 1);
    selector = ptx_sel_temp(sel, 1);
    mi = ptx_sel_put(sel, ISA_LD_CONST, pair, PTX_ZERO, PTX_NO_REF, PTX_NO_REF, 1);
    mi->in.x = (uint32_t)s->offset << 8;
    isa_mod_set(&mi->in, ISA_MOD_SIZE, ISA_SIZE_U16);
    ptx_sel_imm(sel, selector, 1, 0x4140); /* the bytes 0 and 1, each followed by a zero byte */
    ptx_sel_put(sel, ISA_V_PRMT_B32, ptx_sel_dest_wide(sel, to, type, 1), pair, selector, PTX_ZERO, 1);
    return true;
}

bool ptx_param_load(struct ptx_sel *sel)
{
    const struct ptx_symbol *s = in_home(sel, 1);
    const struct ptx_operand *to = one_of(&sel->in.operand[0]);
    enum ptx_type type = ptx_sel_type(sel, 0);
    ptx_ref d, from;

    if (s == NULL)
        return load_byte_pair(sel, type);
    from = ptx_ref_of(s->home_vreg, 0);
    if (to->kind == PTX_O_SINK)
        return true;
    from = ptx_sel_extend(sel, from, type == PTX_T_B16 || type == PTX_T_F16 || type == PTX_T_BF16
                                         ? PTX_T_U16 : type);
    if (ptx_type_rows(type) == 1 && ptx_sel_reg_bytes(sel, to) == 8) {
        bool is_signed = type == PTX_T_S8 || type == PTX_T_S16 || type == PTX_T_S32;
        struct ptx_mi *mi;

        d = ptx_sel_dest_wide(sel, to, type, 2);
        mi = ptx_sel_put(sel, ISA_V_CVT, d, PTX_NO_REF, from, PTX_NO_REF, 1);
        mi->rows[PTX_S_D] = 2;
        isa_mod_set(&mi->in, ISA_MOD_DTYPE, is_signed ? ISA_DT_S64 : ISA_DT_U64);
        isa_mod_set(&mi->in, ISA_MOD_STYPE, is_signed ? ISA_ST_S32 : ISA_ST_U32);
        return true;
    }
    d = ptx_sel_dest_wide(sel, to, type, ptx_type_rows(type));
    ptx_sel_move(sel, d, from, ptx_type_rows(type));
    return true;
}

bool ptx_param_store(struct ptx_sel *sel)
{
    const struct ptx_symbol *s = in_home(sel, 0);
    enum ptx_type type = ptx_sel_type(sel, 0);

    if (s == NULL)
        return false;
    ptx_sel_move(sel, ptx_ref_of(s->home_vreg, 0),
                 ptx_sel_value_wide(sel, one_of(&sel->in.operand[1]), type), ptx_type_rows(type));
    return true;
}
