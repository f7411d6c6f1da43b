/* SPDX-License-Identifier: Apache-2.0 */
/* Selection of memory instructions, fences and hints. */
#include "ptx/select/ptx_select_priv.h"

/* ---- words --------------------------------------------------------------- */

static enum ptx_space take_space(struct ptx_sel *sel)
{
    static const struct {
        uint8_t word, space;
    } spaces[] = {
        { PTX_W_GLOBAL, PTX_SP_GLOBAL },       { PTX_W_SHARED, PTX_SP_SHARED },
        { PTX_W_SHARED_CTA, PTX_SP_SHARED },
        { PTX_W_SHARED_CLUSTER, PTX_SP_SHARED }, /* in Lanewise each cluster is one block */
        { PTX_W_LOCAL, PTX_SP_LOCAL },
        { PTX_W_CONST, PTX_SP_CONST },         { PTX_W_PARAM, PTX_SP_PARAM },
        { PTX_W_PARAM_ENTRY, PTX_SP_PARAM },   { PTX_W_PARAM_FUNC, PTX_SP_PARAM },
    };

    for (unsigned i = 0; i < LW_COUNT_OF(spaces); i++) {
        if (ptx_take(&sel->in, (enum ptx_word)spaces[i].word))
            return (enum ptx_space)spaces[i].space;
    }
    return PTX_SP_GENERIC;
}

/** Returns the space of an access through operand @index. This is local memory for a .param access if the parameter is in local
 *  memory, as parameters of calls and functions may be. Otherwise it is @space. */
static enum ptx_space param_space(const struct ptx_sel *sel, unsigned index, enum ptx_space space)
{
    const struct ptx_operand *o = &sel->in.operand[index];
    const struct ptx_symbol *s = o->kind == PTX_O_ADDRESS && o->symbol != PTX_NONE
                                     ? &sel->unit->module->symbols.at[o->symbol] : NULL;

    if (space != PTX_SP_PARAM || o->kind != PTX_O_ADDRESS)
        return space;
    if (s == NULL)
        return sel->fn->kernel ? space : PTX_SP_LOCAL;
    return s->kind == PTX_SYM_PARAM &&
                   (s->home == PTX_SPILL_FRAME || s->home == PTX_SPILL_POINTER)
               ? PTX_SP_LOCAL : space;
}

/** Returns the space of an access through operand @index: local if the operand's register is known to contain the address
 *  of a local variable; otherwise @space. */
static enum ptx_space access_space(struct ptx_sel *sel, unsigned index, enum ptx_space space)
{
    const struct ptx_operand *o = &sel->in.operand[index];
    const struct ptx_reg *r = o->kind == PTX_O_ADDRESS && o->reg != PTX_NONE
                                  ? &sel->fn->regs.at[o->reg] : NULL;

    sel->local = r != NULL && r->local != 0 &&
                         space == (r->local_generic ? PTX_SP_GENERIC : PTX_SP_LOCAL)
                     ? r : NULL;
    return sel->local != NULL ? PTX_SP_LOCAL : space;
}

void ptx_sel_order(struct ptx_sel *sel, struct ptx_mi *mi)
{
    static const struct {
        uint8_t word, mod, value;
    } words[] = {
        { PTX_W_VOLATILE, ISA_MOD_MORDER, ISA_MORDER_VOLATILE },
        { PTX_W_RELAXED, ISA_MOD_MORDER, ISA_MORDER_RELAXED },
        { PTX_W_ACQUIRE, ISA_MOD_MORDER, ISA_MORDER_ACQUIRE },
        { PTX_W_RELEASE, ISA_MOD_MORDER, ISA_MORDER_RELEASE },
        { PTX_W_ACQ_REL, ISA_MOD_MORDER, ISA_MORDER_ACQREL },
        { PTX_W_WEAK, ISA_MOD_MORDER, ISA_MORDER_WEAK },
        { PTX_W_CTA, ISA_MOD_SCOPE, ISA_SCOPE_CTA },
        { PTX_W_GPU, ISA_MOD_SCOPE, ISA_SCOPE_GPU },
        { PTX_W_SYS, ISA_MOD_SCOPE, ISA_SCOPE_SYS },
        { PTX_W_CLUSTER, ISA_MOD_SCOPE, ISA_SCOPE_CLUSTER },
        { PTX_W_CA, ISA_MOD_CACHE, ISA_CACHE_CA },
        { PTX_W_CG, ISA_MOD_CACHE, ISA_CACHE_CG },
        { PTX_W_CS, ISA_MOD_CACHE, ISA_CACHE_CS },
        { PTX_W_LU, ISA_MOD_CACHE, ISA_CACHE_LU },
        { PTX_W_CV, ISA_MOD_CACHE, ISA_CACHE_CV },
        { PTX_W_WT, ISA_MOD_CACHE, ISA_CACHE_WT },
        { PTX_W_NC, ISA_MOD_CACHE, ISA_CACHE_NC },
        { PTX_W_WB, ISA_MOD_CACHE, ISA_CACHE_NONE },
    };

    (void)ptx_take(&sel->in, PTX_W_MMIO); /* .mmio has no effect: it requires that the access is performed exactly once,
                                           * which Lanewise guarantees for all accesses */

    for (unsigned i = 0; i < LW_COUNT_OF(words); i++) {
        if (ptx_take(&sel->in, (enum ptx_word)words[i].word))
            isa_mod_set(&mi->in, (enum isa_mod)words[i].mod, words[i].value);
    }
}

static void drop_policy(struct ptx_sel *sel);

/* ---- addresses ----------------------------------------------------------- */

static const char number_address[] = "only .local allows a number as an address: move the number into a register";

static bool fits_disp(int64_t v)
{
    return v >= -(1 << 23) && v < (1 << 23);
}

/* Address of an access: base register A, its size, and the offset. address() computes it from an operand and may emit
 * code, so it is called before the access is emitted. */
struct location {
    ptx_ref base;
    unsigned rows;
    int32_t disp;
};
static _Noreturn void wrong_space(struct ptx_sel *sel, const struct ptx_symbol *s,
                                  enum ptx_space space)
{
    static const char *const names[] = { [PTX_SP_GENERIC] = "generic", [PTX_SP_GLOBAL] = "global",
                                         [PTX_SP_SHARED] = "shared",   [PTX_SP_LOCAL] = "local",
                                         [PTX_SP_CONST] = "const",     [PTX_SP_PARAM] = "param" };

    if (s->kind == PTX_SYM_FUNCTION)
        ptx_sel_fail(sel, LW_EINPUT, "'%s' is a function, which is not in .%s", s->name, names[space]);
    ptx_sel_fail(sel, LW_EINPUT, "'%s' is in .%s, not in .%s%s", s->name,
                 s->space < LW_COUNT_OF(names) ? names[s->space] : "reg", names[space],
                 s->kind == PTX_SYM_PARAM ? ": use ld.param to read its value" : "");
}

static struct location address(struct ptx_sel *sel, unsigned index, enum ptx_space space)
{
    const struct ptx_operand *o = &sel->in.operand[index];
    struct location p = { .rows = 1, .base = PTX_ZERO };
    int64_t disp = (int64_t)o->imm;

    if (o->kind != PTX_O_ADDRESS)
        ptx_sel_fail(sel, LW_EINPUT, "operand %u is not an address in brackets", index + 1);
    if (o->symbol != PTX_NONE) {
        const struct ptx_symbol *s = &sel->unit->module->symbols.at[o->symbol];
        bool offset = s->kind != PTX_SYM_FUNCTION &&
                      (s->space == PTX_SP_SHARED || s->space == PTX_SP_LOCAL ||
                       s->space == PTX_SP_PARAM);

        if (space == PTX_SP_LOCAL && s->kind == PTX_SYM_PARAM && s->home == PTX_SPILL_POINTER) {
            p.base = ptx_ref_of(s->home_vreg, 0);
            p.disp = (int32_t)disp;
            if (!fits_disp(disp))
                ptx_sel_fail(sel, LW_EINPUT, "the offset is past the end of '%s'", s->name);
            return p;
        }
        if (space != PTX_SP_GENERIC && s->space != space)
            wrong_space(sel, s, space);
        if (space == PTX_SP_GENERIC && offset)
            ptx_sel_fail(sel, LW_EUNSUPP, "a generic access to '%s' needs its address from cvta", s->name);
        if (!offset) {
            p.base = ptx_sel_symbol(sel, o->symbol, disp, 2);
            p.rows = 2;
            return p;
        }
        /* addresses in this space have 32 bits, so a larger offset could wrap around to the variable */
        if (disp < INT32_MIN || disp > INT32_MAX)
            ptx_sel_fail(sel, LW_EINPUT, "the offset is past the end of '%s': %+lld", s->name, (long long)disp);
        disp += s->offset;
        if (s->kind == PTX_SYM_PARAM && s->home != PTX_SPILL_CONST && s->home != PTX_SPILL_FRAME)
            ptx_sel_fail(sel, LW_EUNSUPP, "'%s' is a parameter of a call", s->name);
        if (s->space == PTX_SP_LOCAL)
            p.base = sel->unit->sp;
    } else if (o->reg != PTX_NONE && sel->local == &sel->fn->regs.at[o->reg]) {
        const struct ptx_reg *r = sel->local;

        p.base = sel->unit->sp;
        disp = (int64_t)((uint64_t)disp + (uint64_t)r->local_offset +
                         sel->unit->module->symbols.at[r->local - 1].offset);
    } else if (o->reg != PTX_NONE) {
        const struct ptx_operand base = { .kind = PTX_O_REG, .reg = o->reg, .symbol = PTX_NONE };

        p.rows = ptx_sel_reg_bytes(sel, &base) > 4 ? 2 : 1;
        p.base = ptx_sel_value(sel, &base, p.rows == 2 ? PTX_T_U64 : PTX_T_U32);
    } else if (space != PTX_SP_LOCAL) {
        ptx_sel_fail(sel, LW_EINPUT, number_address);
    }
    if (!fits_disp(disp)) {
        ptx_ref far = ptx_sel_temp(sel, p.rows), sum = far;

        if (p.base == PTX_ZERO) {
            p.rows = 2;
            far = sum = ptx_sel_temp(sel, 2);
        }
        ptx_sel_imm(sel, far, p.rows, (uint64_t)disp);
        if (p.base != PTX_ZERO) {
            sum = ptx_sel_temp(sel, p.rows);
            ptx_sel_put(sel, p.rows == 2 ? ISA_V_ADD_U64 : ISA_V_ADD_U32, sum, p.base, far,
                        PTX_NO_REF, p.rows);
        }
        p.base = sum;
        disp = 0;
    }
    p.disp = (int32_t)disp;
    return p;
}

static struct ptx_mi *put_memory(struct ptx_sel *sel, enum isa_op op, struct location location, ptx_ref d,
                                 ptx_ref x, ptx_ref c, unsigned rows)
{
    struct ptx_mi *mi = ptx_sel_put(sel, op, d, location.base, x, c, rows);

    mi->rows[PTX_S_A] = (uint8_t)location.rows;
    mi->in.x = (uint32_t)location.disp << 8;
    isa_mod_set(&mi->in, ISA_MOD_AMODE, location.rows == 2 ? ISA_AMODE_PAIR : ISA_AMODE_32);
    return mi;
}

/* ---- ld, st -------------------------------------------------------------- */

static unsigned size_of(enum ptx_type type)
{
    switch (ptx_type_bytes(type)) {
    case 1: return type == PTX_T_S8 ? ISA_SIZE_S8 : ISA_SIZE_U8;
    case 2: return type == PTX_T_S16 ? ISA_SIZE_S16 : ISA_SIZE_U16;
    case 4: return ISA_SIZE_B32;
    default: return ISA_SIZE_B64;
    }
}

static unsigned take_vector(struct ptx_sel *sel, const struct ptx_operand *o)
{
    unsigned n = ptx_take(&sel->in, PTX_W_V2)   ? 2
                 : ptx_take(&sel->in, PTX_W_V4) ? 4
                 : ptx_take(&sel->in, PTX_W_V8) ? 8
                                                : 1;

    if (n == 1 && o->kind == PTX_O_VECTOR && o->count == 1)
        return 1;
    if (n == 1 ? o->kind == PTX_O_VECTOR : o->kind != PTX_O_VECTOR || o->count != n)
        ptx_sel_fail(sel, LW_EINPUT, "the operand does not match .v%u", n);
    return n;
}

static const struct ptx_operand *element(const struct ptx_operand *o, unsigned i)
{
    return o->kind == PTX_O_VECTOR ? &o->element[i] : o;
}

/* Moves a loaded value of @type to destination @to. If the register is wider than the type, the value is extended. */
static void deliver(struct ptx_sel *sel, const struct ptx_operand *to, ptx_ref from,
                    enum ptx_type type)
{
    unsigned rows = ptx_type_rows(type);
    ptx_ref d;

    if (to->kind == PTX_O_SINK)
        return;
    d = ptx_sel_dest_wide(sel, to, type, ptx_sel_reg_bytes(sel, to) == 8 ? 2 : rows);
    if (rows == 1 && ptx_sel_reg_bytes(sel, to) == 8) {
        bool is_signed = type == PTX_T_S8 || type == PTX_T_S16 || type == PTX_T_S32;
        struct ptx_mi *mi = ptx_sel_put(sel, ISA_V_CVT, d, PTX_NO_REF, from, PTX_NO_REF, 1);

        mi->rows[PTX_S_D] = 2;
        isa_mod_set(&mi->in, ISA_MOD_DTYPE, is_signed ? ISA_DT_S64 : ISA_DT_U64);
        isa_mod_set(&mi->in, ISA_MOD_STYPE, is_signed ? ISA_ST_S32 : ISA_ST_U32);
    } else if (d != from) {
        ptx_sel_move(sel, d, from, rows);
    }
}

/* Loads a kernel parameter from constant bank 0 by a move, which later passes fold into its use. */
static void load_param(struct ptx_sel *sel, enum ptx_type type, unsigned n)
{
    unsigned bytes = ptx_type_bytes(type), rows = ptx_type_rows(type);
    struct location location = address(sel, 1, PTX_SP_PARAM);

    /* For a named parameter, a base other than PTX_ZERO means that the offset is too large for the instruction. Such an offset
     * is past all parameters. */
    if (location.base == PTX_ZERO
            ? location.disp < 0 || (uint32_t)location.disp + bytes * n > sel->fn->param_bytes
            : sel->in.operand[1].symbol != PTX_NONE)
        ptx_sel_fail(sel, LW_EINPUT, "the access is past the %u bytes of parameters",
                     sel->fn->param_bytes);
    for (unsigned i = 0; i < n; i++) {
        const struct ptx_operand *to = element(&sel->in.operand[0], i);
        int32_t at = location.disp + (int32_t)(i * bytes);
        bool direct = bytes >= 4 && location.base == PTX_ZERO;
        bool widen = rows == 1 && to->kind == PTX_O_REG && ptx_sel_reg_bytes(sel, to) == 8;
        ptx_ref d = widen || to->kind == PTX_O_SINK ? ptx_sel_temp(sel, rows)
                                                    : ptx_sel_dest_wide(sel, to, type, rows);
        struct ptx_mi *mi;

        if (direct) {
            mi = ptx_sel_put(sel, rows == 2 ? ISA_V_MOV_B64 : ISA_V_MOV_B32, d, PTX_NO_REF,
                             PTX_NO_REF, PTX_NO_REF, rows);
            mi->in.xkind = ISA_X_CONST;
            mi->in.x = (uint32_t)at; /* offset of the value in constant bank 0 */
        } else {
            /* addresses in parameter space have 32 bits, so the low word of the base is enough */
            mi = ptx_sel_put(sel, ISA_LD_CONST, d, location.base, PTX_NO_REF, PTX_NO_REF, rows);
            mi->rows[PTX_S_A] = 1;
            mi->in.x = (uint32_t)at << 8;
            isa_mod_set(&mi->in, ISA_MOD_SIZE, size_of(type));
        }
        if (widen)
            deliver(sel, to, d, type);
    }
}

static enum isa_op load_op(enum ptx_space space)
{
    switch (space) {
    case PTX_SP_GLOBAL: case PTX_SP_CONST: return ISA_LD_GLOBAL; /* .const is read-only global memory */
    case PTX_SP_SHARED: return ISA_LD_SHARED;
    case PTX_SP_LOCAL: return ISA_LD_LOCAL;
    default: return ISA_LD_GENERIC;
    }
}

/* Sets memory order, scope and cache hint of @mi, and marks an access to .const variables. */
static void put_order(struct ptx_sel *sel, struct ptx_mi *mi, enum ptx_space space)
{
    ptx_sel_order(sel, mi);
    if (space == PTX_SP_CONST)
        isa_mod_set(&mi->in, ISA_MOD_CONSTANT, ISA_CONSTANT_ON);
}

/* Marks loads of constants, and loads with .nc, which promises that no thread stores to the location while the kernel
 * runs. */
static void mark_readonly(struct ptx_mi *mi, enum ptx_space space)
{
    if (space == PTX_SP_CONST || isa_mod_get(&mi->in, ISA_MOD_CACHE) == ISA_CACHE_NC)
        mi->flags |= PTX_MI_READONLY;
}

/* Loads vectors of 8-bit and 16-bit elements in whole registers; element i is at byte @bytes * i. */
static void load_small(struct ptx_sel *sel, enum ptx_space space, enum ptx_type type, unsigned n)
{
    unsigned bytes = ptx_type_bytes(type), total = bytes * n;
    unsigned rows = total > 4 ? total / 4 : 1;
    struct location location = address(sel, 1, space);
    ptx_ref group = ptx_sel_temp(sel, rows);
    struct ptx_mi *mi = put_memory(sel, load_op(space), location, group, PTX_NO_REF, PTX_NO_REF, rows);
    bool is_signed = type == PTX_T_S8 || type == PTX_T_S16;

    isa_mod_set(&mi->in, ISA_MOD_SIZE,
                total == 2 ? ISA_SIZE_U16 : total == 4 ? ISA_SIZE_B32
                : total == 8 ? ISA_SIZE_V2B32 : ISA_SIZE_V4B32);
    put_order(sel, mi, space);
    for (unsigned i = 0; i < n; i++) {
        const struct ptx_operand *to = element(&sel->in.operand[0], i);
        unsigned at = i * bytes % 4;
        ptx_ref row = group + i * bytes / 4, d, selector;
        uint32_t pick;

        if (to->kind == PTX_O_SINK)
            continue;
        if (ptx_sel_reg_bytes(sel, to) == 8)
            ptx_sel_fail(sel, LW_EUNSUPP, "vectors of .%s in 64-bit registers are not supported",
                         ptx_type_name(type));
        d = ptx_sel_dest_wide(sel, to, type, 1);
        /* prmt's bytes 4 to 7 are zero bytes, those of vz; bit 3 of a digit replicates the sign of the selected byte */
        if (bytes == 1)
            pick = is_signed ? (8u | at) * 0x1110u | at : 0x4440u | at;
        else
            pick = (is_signed ? (8u | (at + 1)) * 0x1100u : 0x4400u) | (at + 1) << 4 | at;
        selector = ptx_sel_temp(sel, 1);
        ptx_sel_imm(sel, selector, 1, pick);
        ptx_sel_put(sel, ISA_V_PRMT_B32, d, row, selector, PTX_ZERO, 1);
    }
}

void ptx_rule_ld(struct ptx_sel *sel)
{
    enum ptx_type type = ptx_sel_type(sel, 0);
    enum ptx_space space = take_space(sel);
    unsigned bytes = ptx_type_bytes(type), rows = ptx_type_rows(type), n, size;
    struct ptx_mi *mi;

    drop_policy(sel);
    ptx_sel_operands(sel, 2, 2);
    if (bytes == 0)
        ptx_sel_fail(sel, LW_EINPUT, "type .pred cannot be loaded");
    n = take_vector(sel, &sel->in.operand[0]);
    if (bytes * n > 16)
        ptx_sel_fail(sel, LW_EUNSUPP, "an access of %u bytes is not supported", bytes * n);
    if (space == PTX_SP_PARAM) { /* removes the cache modifiers, because parameter space has no cache */
        static const uint8_t words[] = { PTX_W_WEAK, PTX_W_CA, PTX_W_CG, PTX_W_CS, PTX_W_LU,
                                         PTX_W_CV };

        for (unsigned i = 0; i < LW_COUNT_OF(words); i++)
            (void)ptx_take(&sel->in, (enum ptx_word)words[i]);
    }
    if (space == PTX_SP_PARAM && n == 1 && ptx_param_load(sel))
        return;
    space = param_space(sel, 1, space);
    if (space == PTX_SP_PARAM) {
        load_param(sel, type, n);
        return;
    }
    if (space == PTX_SP_GENERIC && ptx_has(&sel->in, PTX_W_NC))
        ptx_sel_fail(sel, LW_EINPUT, "'.nc' needs '.global'");
    space = access_space(sel, 1, space);
    if (n > 1 && bytes < 4) {
        load_small(sel, space, type, n);
        return;
    }
    struct location location = address(sel, 1, space);

    if (n == 1) {
        const struct ptx_operand *to = element(&sel->in.operand[0], 0);
        bool direct = to->kind == PTX_O_REG &&
                      (ptx_sel_reg_bytes(sel, to) == 8) == (rows == 2);
        ptx_ref d = direct ? ptx_sel_dest_wide(sel, to, type, rows) : ptx_sel_temp(sel, rows);

        if (to->kind != PTX_O_REG && to->kind != PTX_O_SINK)
            ptx_sel_fail(sel, LW_EINPUT, "the destination is not a register");
        mi = put_memory(sel, load_op(space), location, d, PTX_NO_REF, PTX_NO_REF, rows);
        isa_mod_set(&mi->in, ISA_MOD_SIZE, size_of(type));
        put_order(sel, mi, space);
        mark_readonly(mi, space);
        if (!direct)
            deliver(sel, to, d, type);
        return;
    }
    ptx_ref group = ptx_sel_temp(sel, rows * n);

    size = rows == 2 ? ISA_SIZE_V2B64 : n == 2 ? ISA_SIZE_V2B32 : ISA_SIZE_V4B32;
    mi = put_memory(sel, load_op(space), location, group, PTX_NO_REF, PTX_NO_REF, rows * n);
    isa_mod_set(&mi->in, ISA_MOD_SIZE, size);
    put_order(sel, mi, space);
    mark_readonly(mi, space);
    for (unsigned i = 0; i < n; i++)
        deliver(sel, element(&sel->in.operand[0], i), group + i * rows, type);
}

/* Returns true for a store to a .param variable at an offset that is no multiple of the store's size. clang 16 writes
 * such stores for the arguments of printf, which it places without gaps. The caller splits the store into pieces of at
 * most a word. */
static bool is_odd_param(const struct ptx_sel *sel, unsigned bytes)
{
    const struct ptx_operand *o = &sel->in.operand[0];
    const struct ptx_symbol *s = o->kind == PTX_O_ADDRESS && o->symbol != PTX_NONE
                                     ? &sel->unit->module->symbols.at[o->symbol] : NULL;

    return s != NULL && s->kind == PTX_SYM_PARAM && s->home == PTX_SPILL_FRAME &&
           o->imm % bytes != 0;
}

static void store_pieces(struct ptx_sel *sel, struct location location, ptx_ref x, unsigned bytes)
{
    uint32_t disp = (uint32_t)location.disp;
    unsigned unit = disp % 4 == 0 && bytes >= 4 ? 4 : disp % 2 == 0 ? 2 : 1;

    for (unsigned at = 0; at < bytes; at += unit) {
        ptx_ref piece = x + at / 4;

        if (at % 4 != 0) {
            piece = ptx_sel_temp(sel, 1);
            ptx_sel_put(sel, ISA_V_SHR_U32, piece, x + at / 4, ptx_sel_literal(sel, at % 4 * 8),
                        PTX_NO_REF, 1);
        }
        struct ptx_mi *mi = put_memory(sel, ISA_ST_LOCAL, location, PTX_NO_REF, piece, PTX_NO_REF, 1);

        isa_mod_set(&mi->in, ISA_MOD_SIZE,
                    unit == 4 ? ISA_SIZE_B32 : unit == 2 ? ISA_SIZE_U16 : ISA_SIZE_U8);
        ptx_sel_order(sel, mi);
        location.disp += (int32_t)unit;
    }
}

void ptx_rule_st(struct ptx_sel *sel)
{
    enum ptx_type type = ptx_sel_type(sel, 0);
    enum ptx_space space = take_space(sel);
    unsigned bytes = ptx_type_bytes(type), rows = ptx_type_rows(type), n, total, size;
    struct ptx_mi *mi;
    ptx_ref x, part[8];

    drop_policy(sel);
    ptx_sel_operands(sel, 2, 2);
    if (space == PTX_SP_PARAM && bytes != 0 && !ptx_has(&sel->in, PTX_W_V2) &&
        !ptx_has(&sel->in, PTX_W_V4) && ptx_param_store(sel))
        return;
    space = param_space(sel, 0, space);
    space = access_space(sel, 0, space);
    enum isa_op op = space == PTX_SP_GLOBAL   ? ISA_ST_GLOBAL
                     : space == PTX_SP_SHARED ? ISA_ST_SHARED
                     : space == PTX_SP_LOCAL  ? ISA_ST_LOCAL
                                              : ISA_ST_GENERIC;
    if (space == PTX_SP_PARAM || space == PTX_SP_CONST)
        ptx_sel_fail(sel, LW_EUNSUPP, "this state space is read-only");
    if (bytes == 0)
        ptx_sel_fail(sel, LW_EINPUT, "type .pred cannot be stored");
    n = take_vector(sel, &sel->in.operand[1]);
    total = bytes * n;
    if (total > 16)
        ptx_sel_fail(sel, LW_EUNSUPP, "an access of %u bytes is not supported", total);
    for (unsigned i = 0; i < n; i++)
        part[i] = ptx_sel_value_wide(sel, element(&sel->in.operand[1], i), type);
    struct location location = address(sel, 0, space);

    if (n == 1 && is_odd_param(sel, bytes)) {
        store_pieces(sel, location, part[0], bytes);
        return;
    }
    if (n == 1) {
        x = part[0];
        size = size_of(type);
        if (size == ISA_SIZE_S8 || size == ISA_SIZE_S16) /* a store does not extend a value, so stores have no signed sizes */
            size = size == ISA_SIZE_S8 ? ISA_SIZE_U8 : ISA_SIZE_U16;
    } else {
        unsigned group_rows = total > 4 ? total / 4 : 1, per_row = bytes < 4 ? 4 / bytes : 1;

        if (per_row > n)
            per_row = n;
        x = ptx_sel_temp(sel, group_rows);
        for (unsigned i = 0; i < n; i += per_row) {
            ptx_ref v = part[i], d = x + i * bytes / 4;

            for (unsigned k = 1; k < per_row; k++) {
                ptx_ref selector = ptx_sel_temp(sel, 1), t = ptx_sel_temp(sel, 1);
                static const uint16_t bytes_pick[4] = { 0, 0x3240, 0x3410, 0x4210 };
                uint32_t pick = bytes == 2 ? 0x5410u : bytes_pick[k & 3];

                ptx_sel_imm(sel, selector, 1, pick);
                ptx_sel_put(sel, ISA_V_PRMT_B32, t, v, selector, part[i + k], 1);
                v = t;
            }
            ptx_sel_move(sel, d, v, rows);
            if (i != 0)
                sel->unit->code.at[sel->unit->code.count - 1].flags |= PTX_MI_PARTIAL;
        }
        size = total == 2   ? ISA_SIZE_U16
               : total == 4 ? ISA_SIZE_B32
               : rows == 2  ? ISA_SIZE_V2B64
               : total == 8 ? ISA_SIZE_V2B32
                            : ISA_SIZE_V4B32;
        rows = group_rows;
    }
    mi = put_memory(sel, op, location, PTX_NO_REF, x, PTX_NO_REF, rows);
    isa_mod_set(&mi->in, ISA_MOD_SIZE, size);
    ptx_sel_order(sel, mi);
}

/* ---- atomics ------------------------------------------------------------- */

#define T(x) (1u << PTX_T_##x)
static const struct {
    uint8_t word, aop;
    uint32_t types;
} atomics[] = {
    { PTX_W_ADD, ISA_AOP_ADD,
      T(U32) | T(S32) | T(U64) | T(S64) | T(F32) | T(F64) | T(F16) | T(F16X2) | T(BF16) | T(BF16X2) },
    { PTX_W_MIN, ISA_AOP_MIN, T(U32) | T(S32) | T(U64) | T(S64) },
    { PTX_W_MAX, ISA_AOP_MAX, T(U32) | T(S32) | T(U64) | T(S64) },
    { PTX_W_INC, ISA_AOP_INC, T(U32) },
    { PTX_W_DEC, ISA_AOP_DEC, T(U32) },
    { PTX_W_AND, ISA_AOP_AND, T(B32) | T(B64) },
    { PTX_W_OR, ISA_AOP_OR, T(B32) | T(B64) },
    { PTX_W_XOR, ISA_AOP_XOR, T(B32) | T(B64) },
    { PTX_W_EXCH, ISA_AOP_EXCH,
      T(B32) | T(B64) | T(U32) | T(S32) | T(U64) | T(S64) | T(F32) | T(F64) },
    { PTX_W_CAS, ISA_AOP_CAS, T(B16) | T(B32) | T(B64) | T(U32) | T(S32) | T(U64) | T(S64) },
};

static unsigned atomic_type(unsigned aop, enum ptx_type type)
{
    unsigned bits = ptx_type_rows(type) == 2;

    if (aop == ISA_AOP_EXCH || aop == ISA_AOP_CAS)
        return bits ? ISA_ATYPE_B64 : type == PTX_T_B16 ? ISA_ATYPE_B16 : ISA_ATYPE_B32;
    switch (type) {
    case PTX_T_U32: return ISA_ATYPE_U32;
    case PTX_T_S32: return ISA_ATYPE_S32;
    case PTX_T_U64: return ISA_ATYPE_U64;
    case PTX_T_S64: return ISA_ATYPE_S64;
    case PTX_T_B32: return ISA_ATYPE_B32;
    case PTX_T_F32: return ISA_ATYPE_F32;
    case PTX_T_F64: return ISA_ATYPE_F64;
    case PTX_T_F16: return ISA_ATYPE_F16;
    case PTX_T_BF16: return ISA_ATYPE_BF16;
    case PTX_T_F16X2: return ISA_ATYPE_F16X2;
    case PTX_T_BF16X2: return ISA_ATYPE_BF16X2;
    default: return ISA_ATYPE_B64;
    }
}

/* Emits one atomic operation on the memory at @location, with sources @x and @c. @d receives the old value. */
static void put_atomic(struct ptx_sel *sel, enum isa_op op, struct location location, ptx_ref d,
                       ptx_ref x, ptx_ref c, unsigned aop, enum ptx_type type)
{
    struct ptx_mi *mi = put_memory(sel, op, location, d, x, c, ptx_type_rows(type));

    isa_mod_set(&mi->in, ISA_MOD_AOP, aop);
    isa_mod_set(&mi->in, ISA_MOD_ATYPE, atomic_type(aop, type));
    ptx_sel_order(sel, mi);
}

/* Selects an atomic on a vector of floats as one atomic operation for each element, as PTX specifies. */
static void atomic_vector(struct ptx_sel *sel, bool result, enum isa_op op, unsigned aop,
                          enum ptx_type type, unsigned n)
{
    unsigned k = result ? 1 : 0, rows = ptx_type_rows(type);
    const struct ptx_operand *from = &sel->in.operand[k + 1];
    ptx_ref x[8], d[8];
    uint64_t words[3];

    if (ptx_type_class(type) != PTX_CLASS_FLOAT || n > LW_COUNT_OF(x) || rows != 1)
        ptx_sel_fail(sel, LW_EUNSUPP, "vectors of .%s are not supported", ptx_type_name(type));
    if (result && (sel->in.operand[0].kind != PTX_O_VECTOR || sel->in.operand[0].count != n))
        ptx_sel_fail(sel, LW_EINPUT, "the destination does not match .v%u", n);
    for (unsigned i = 0; i < n; i++)
        x[i] = ptx_sel_value(sel, element(from, i), type);
    struct location location = address(sel, k, op == ISA_ATOM_GLOBAL || op == ISA_RED_GLOBAL
                                             ? PTX_SP_GLOBAL : PTX_SP_GENERIC);

    memcpy(words, sel->in.words, sizeof words);
    for (unsigned i = 0; i < n; i++) {
        memcpy(sel->in.words, words, sizeof words);
        d[i] = result ? ptx_sel_temp(sel, rows) : PTX_NO_REF;
        put_atomic(sel, op, location, d[i], x[i], PTX_NO_REF, aop, type);
        location.disp += (int32_t)ptx_type_bytes(type);
        if (!fits_disp(location.disp))
            ptx_sel_fail(sel, LW_EUNSUPP, "the offset of the address is too large for a vector");
    }
    for (unsigned i = 0; i < n && result; i++)
        deliver(sel, element(&sel->in.operand[0], i), d[i], type);
}

static void atomic(struct ptx_sel *sel, bool result)
{
    enum ptx_type type = ptx_sel_type(sel, 0);
    enum ptx_space space = take_space(sel);
    unsigned k = result ? 1 : 0, rows = ptx_type_rows(type), row = LW_COUNT_OF(atomics), n;
    enum isa_op op;
    ptx_ref d = PTX_NO_REF, x, c = PTX_NO_REF;

    drop_policy(sel);
    for (unsigned i = 0; i < LW_COUNT_OF(atomics); i++) {
        if (ptx_take(&sel->in, (enum ptx_word)atomics[i].word)) {
            row = i;
            break;
        }
    }
    if (row == LW_COUNT_OF(atomics))
        ptx_sel_fail(sel, LW_EUNSUPP, "this atomic operation is not supported");
    bool cas = atomics[row].aop == ISA_AOP_CAS, exch = atomics[row].aop == ISA_AOP_EXCH;

    if (!(atomics[row].types >> type & 1) || (!result && (cas || exch)))
        ptx_sel_fail(sel, LW_EUNSUPP, ".%s of type .%s is not supported",
                     ptx_word_text((enum ptx_word)atomics[row].word), ptx_type_name(type));
    (void)ptx_take(&sel->in, PTX_W_NOFTZ); /* .noftz has no effect, because our atomic additions never flush denormals */
    ptx_sel_operands(sel, k + 2 + cas, k + 2 + cas);
    if (space == PTX_SP_GLOBAL)
        op = result ? ISA_ATOM_GLOBAL : ISA_RED_GLOBAL;
    else if (space == PTX_SP_SHARED)
        op = result ? ISA_ATOM_SHARED : ISA_RED_SHARED;
    else if (space == PTX_SP_GENERIC)
        op = result ? ISA_ATOM_GENERIC : ISA_RED_GENERIC;
    else
        ptx_sel_fail(sel, LW_EUNSUPP, "this state space has no atomics");
    n = take_vector(sel, &sel->in.operand[k + 1]);
    if (n > 1) {
        if (space == PTX_SP_SHARED)
            ptx_sel_fail(sel, LW_EUNSUPP, "atomics on vectors need global memory");
        atomic_vector(sel, result, op, atomics[row].aop, type, n);
        return;
    }
    x = ptx_sel_source(sel, k + 1, type);
    if (cas)
        c = ptx_sel_source(sel, k + 2, type);
    struct location location = address(sel, k, space);

    if (result && sel->in.operand[0].kind != PTX_O_SINK)
        d = ptx_sel_dest(sel, &sel->in.operand[0], type);
    else if (result)
        d = ptx_sel_temp(sel, rows);
    put_atomic(sel, op, location, d, x, c, atomics[row].aop, type);
}

void ptx_rule_atom(struct ptx_sel *sel)
{
    atomic(sel, true);
}

void ptx_rule_red(struct ptx_sel *sel)
{
    atomic(sel, false);
}

/* ---- cp.async ------------------------------------------------------------------- */

/* Returns a predicate that is true where the comparison of @n with @least and the instruction's guard are true. */
static ptx_ref at_least(struct ptx_sel *sel, ptx_ref n, uint32_t least, unsigned comparison)
{
    ptx_ref limit = ptx_sel_temp(sel, 1), p = ptx_sel_temp(sel, 0);
    struct ptx_mi *mi;

    ptx_sel_imm(sel, limit, 1, least);
    mi = ptx_sel_put(sel, ISA_V_SETP_U32, PTX_NO_REF, n, limit, PTX_NO_REF, 1);
    isa_mod_set(&mi->in, ISA_MOD_CMP, comparison);
    mi->ref[PTX_S_P] = p;
    mi->ref[PTX_S_R] = PTX_ZERO;
    if (sel->in.guard != PTX_NONE) {
        const struct ptx_operand guard = { .kind = PTX_O_REG, .reg = sel->in.guard,
                                           .negated = sel->in.guard_neg, .symbol = PTX_NONE };

        isa_mod_set(&mi->in, ISA_MOD_BOOL, ISA_BOOL_AND);
        ptx_sel_pred_read(sel, mi, PTX_S_R, &guard);
    }
    return p;
}

/* Loads an element of @size (ISA_SIZE_...) into register @d in lanes where @p is true. Other lanes keep the value of @d. */
static void load_where(struct ptx_sel *sel, struct location from, unsigned offset, ptx_ref d,
                       unsigned size, ptx_ref p)
{
    struct ptx_mi *mi;

    from.disp += (int32_t)offset;
    mi = put_memory(sel, ISA_LD_GLOBAL, from, d, PTX_NO_REF, PTX_NO_REF, 1);
    isa_mod_set(&mi->in, ISA_MOD_SIZE, size);
    mi->ref[PTX_S_GUARD] = p;
    mi->flags |= PTX_MI_PARTIAL | PTX_MI_NO_GUARD;
}

/* Loads the first @n of @bytes bytes into the register tuple @group. The other bytes of @group become zero. */
static void load_part(struct ptx_sel *sel, struct location from, ptx_ref group, unsigned bytes,
                      ptx_ref n)
{
    for (unsigned w = 0; w < bytes / 4; w++) {
        ptx_ref d = group + w;

        ptx_sel_imm(sel, d, 1, 0);
        if (w != 0)
            sel->unit->code.at[sel->unit->code.count - 1].flags |= PTX_MI_PARTIAL;
        /* loads single bytes, and then the whole word if all its bytes are read */
        for (unsigned k = 0; k < 3; k++) {
            ptx_ref byte = ptx_sel_temp(sel, 1), by = ptx_sel_temp(sel, 1);
            ptx_ref shifted = ptx_sel_temp(sel, 1);

            ptx_sel_imm(sel, byte, 1, 0);
            load_where(sel, from, 4 * w + k, byte, ISA_SIZE_U8,
                       at_least(sel, n, 4 * w + k + 1, ISA_CMP_GE));
            ptx_sel_imm(sel, by, 1, 8 * k);
            ptx_sel_put(sel, ISA_V_SHL_B32, shifted, byte, by, PTX_NO_REF, 1);
            ptx_sel_put(sel, ISA_V_OR_B32, d, d, shifted, PTX_NO_REF, 1);
            sel->unit->code.at[sel->unit->code.count - 1].flags |= PTX_MI_PARTIAL;
        }
        load_where(sel, from, 4 * w, d, ISA_SIZE_B32, at_least(sel, n, 4 * w + 4, ISA_CMP_GE));
    }
}

/* Selects cp.async. A copy completes when it is issued, so waits for copy groups (PTX: cp.async-groups) need no instruction. */
void ptx_rule_cp(struct ptx_sel *sel)
{
    uint64_t bytes, part;
    unsigned rows;

    if (!ptx_take(&sel->in, PTX_W_ASYNC) || ptx_has(&sel->in, PTX_W_BULK))
        ptx_sel_fail(sel, LW_EUNSUPP, "only cp.async without .bulk is supported");
    if (ptx_take(&sel->in, PTX_W_COMMIT_GROUP) || ptx_take(&sel->in, PTX_W_WAIT_ALL)) {
        ptx_sel_operands(sel, 0, 0);
        return;
    }
    if (ptx_take(&sel->in, PTX_W_WAIT_GROUP)) {
        ptx_sel_operands(sel, 1, 1);
        if (!ptx_sel_known(sel, &sel->in.operand[0], &part))
            ptx_sel_fail(sel, LW_EINPUT, "the number of copy groups must be a constant");
        return;
    }
    if (!ptx_take(&sel->in, PTX_W_SHARED) && !ptx_take(&sel->in, PTX_W_SHARED_CTA))
        ptx_sel_fail(sel, LW_EINPUT, "the destination must be in .shared");
    if (!ptx_take(&sel->in, PTX_W_GLOBAL))
        ptx_sel_fail(sel, LW_EINPUT, "the source must be in .global");
    bool past_l1 = ptx_take(&sel->in, PTX_W_CG);

    if (!past_l1 && !ptx_take(&sel->in, PTX_W_CA))
        ptx_sel_fail(sel, LW_EINPUT, "expected .ca or .cg");
    drop_policy(sel);
    ptx_sel_operands(sel, 3, 4);
    if (!ptx_sel_known(sel, &sel->in.operand[2], &bytes) ||
        (bytes != 4 && bytes != 8 && bytes != 16))
        ptx_sel_fail(sel, LW_EINPUT, "the size of the copy must be 4, 8 or 16 bytes");
    if (past_l1 && bytes != 16)
        ptx_sel_fail(sel, LW_EINPUT, "the size of the copy must be 16 bytes for '.cg', and 4, 8 or 16 bytes for '.ca'");
    rows = (unsigned)bytes / 4;
    struct location to = address(sel, 0, PTX_SP_SHARED), from = address(sel, 1, PTX_SP_GLOBAL);
    ptx_ref group = ptx_sel_temp(sel, rows);
    unsigned size = rows == 1 ? ISA_SIZE_B32 : rows == 2 ? ISA_SIZE_V2B32 : ISA_SIZE_V4B32;
    const struct ptx_operand *last = sel->in.operand_count > 3 ? &sel->in.operand[3] : NULL;
    struct ptx_mi *mi;

    if (last != NULL && last->kind == PTX_O_IMM && last->imm > bytes)
        ptx_sel_fail(sel, LW_EINPUT, "the number of source bytes must be from 0 to %u", (unsigned)bytes);
    if (last == NULL || (ptx_sel_known(sel, last, &part) && part == bytes)) {
        mi = put_memory(sel, ISA_LD_GLOBAL, from, group, PTX_NO_REF, PTX_NO_REF, rows);
        isa_mod_set(&mi->in, ISA_MOD_SIZE, size);
    } else {
        ptx_ref n;

        if (!fits_disp((int64_t)from.disp + 16))
            ptx_sel_fail(sel, LW_EUNSUPP, "the offset of the address is too large");
        if (last->kind == PTX_O_REG && sel->fn->regs.at[last->reg].type == PTX_T_PRED) {
            ptx_ref all = ptx_sel_temp(sel, 1); /* if the predicate is true, the copy reads nothing and writes zeros */

            n = ptx_sel_temp(sel, 1);
            ptx_sel_imm(sel, all, 1, bytes);
            mi = ptx_sel_put(sel, ISA_V_SELP_B32, n, PTX_ZERO, all, PTX_NO_REF, 1);
            ptx_sel_pred_read(sel, mi, PTX_S_R, last);
        } else {
            n = ptx_sel_value(sel, last, PTX_T_U32);
        }
        load_part(sel, from, group, (unsigned)bytes, n);
    }
    mi = put_memory(sel, ISA_ST_SHARED, to, PTX_NO_REF, group, PTX_NO_REF, rows);
    isa_mod_set(&mi->in, ISA_MOD_SIZE, size);
}

/* ---- address spaces ------------------------------------------------------ */

/* Selects cvta. Generic addresses of shared and local memory have a fixed high word, and generic addresses of global
 * memory equal the global ones. */
void ptx_rule_cvta(struct ptx_sel *sel)
{
    bool to = ptx_take(&sel->in, PTX_W_TO);
    enum ptx_space space = take_space(sel);
    enum ptx_type type = ptx_sel_type(sel, 0);
    ptx_ref s, d;
    uint64_t base = 0;

    ptx_sel_operands(sel, 2, 2);
    if (type != PTX_T_U64)
        ptx_sel_fail(sel, LW_EUNSUPP, "type .%s is not supported", ptx_type_name(type));
    switch (space) {
    case PTX_SP_GLOBAL: case PTX_SP_CONST: break;
    case PTX_SP_SHARED: base = ISA_SHARED_BASE; break;
    case PTX_SP_LOCAL: base = ISA_LOCAL_BASE; break;
    case PTX_SP_PARAM: base = ISA_CONST_BASE; break;
    default: ptx_sel_fail(sel, LW_EINPUT, "the state space is missing");
    }
    s = ptx_sel_source(sel, 1, type);
    d = ptx_sel_dest(sel, &sel->in.operand[0], type);
    if (base == 0) {
        ptx_sel_move(sel, d, s, 2);
        return;
    }
    ptx_ref t = ptx_sel_temp(sel, 2);

    ptx_sel_move(sel, t, s, 1);
    ptx_sel_imm(sel, t + 1, 1, to ? 0 : base >> 32);
    sel->unit->code.at[sel->unit->code.count - 1].flags |= PTX_MI_PARTIAL;
    ptx_sel_move(sel, d, t, 2);
}

/* For each .const variable of the module, compares the offset of address @s from the variable with the variable's size, and
 * combines the result with predicate @p by the operation @with. .const variables are in global memory. */
static void put_in_const(struct ptx_sel *sel, ptx_ref s, ptx_ref p, unsigned comparison,
                         unsigned with)
{
    struct ptx_unit *unit = sel->unit;

    for (uint32_t i = 0; i < unit->module->symbols.count; i++) {
        struct ptx_symbol *v = &unit->module->symbols.at[i];
        ptx_ref from, to;
        struct ptx_mi *mi;

        if (v->kind != PTX_SYM_VARIABLE || v->space != PTX_SP_CONST || v->external ||
            v->size_bytes == 0)
            continue;
        v->used = true;
        from = ptx_sel_temp(sel, 2);
        to = ptx_sel_temp(sel, 2);
        ptx_sel_put(sel, ISA_V_SUB_U64, from, s, ptx_sel_symbol(sel, i, 0, 2), PTX_NO_REF, 2);
        ptx_sel_imm(sel, to, 2, v->size_bytes);
        mi = ptx_sel_put(sel, ISA_V_SETP_U64, PTX_NO_REF, from, to, PTX_NO_REF, 2);
        isa_mod_set(&mi->in, ISA_MOD_CMP, comparison);
        isa_mod_set(&mi->in, ISA_MOD_BOOL, with);
        mi->ref[PTX_S_P] = p;
        mi->ref[PTX_S_R] = p;
    }
}

void ptx_rule_isspacep(struct ptx_sel *sel)
{
    enum ptx_space space = take_space(sel);
    ptx_ref p, s, word;
    struct ptx_mi *mi;
    uint64_t high;

    ptx_sel_operands(sel, 2, 2);
    switch (space) {
    case PTX_SP_CONST: high = 1; break; /* the high word of code addresses, which no address of data has */
    case PTX_SP_GLOBAL: high = ISA_CONST_BASE >> 32; break; /* addresses of kernel parameters count as global addresses, too */
    case PTX_SP_SHARED: high = ISA_SHARED_BASE >> 32; break;
    case PTX_SP_LOCAL: high = ISA_LOCAL_BASE >> 32; break;
    case PTX_SP_PARAM: high = ISA_CONST_BASE >> 32; break;
    default: ptx_sel_fail(sel, LW_EUNSUPP, "this state space is not supported");
    }
    s = ptx_sel_source(sel, 1, PTX_T_U64);
    p = ptx_sel_pred_dest(sel, &sel->in.operand[0]);
    word = ptx_sel_temp(sel, 1);
    ptx_sel_imm(sel, word, 1, high);
    mi = ptx_sel_put(sel, ISA_V_SETP_U32, PTX_NO_REF, s == PTX_ZERO ? s : s + 1, word,
                     PTX_NO_REF, 1);
    isa_mod_set(&mi->in, ISA_MOD_CMP, space == PTX_SP_GLOBAL ? ISA_CMP_GE : ISA_CMP_EQ);
    mi->ref[PTX_S_P] = p;
    mi->ref[PTX_S_R] = PTX_ZERO;
    if (p != PTX_NO_REF && space == PTX_SP_CONST)
        put_in_const(sel, s, p, ISA_CMP_LT, ISA_BOOL_OR);
    else if (p != PTX_NO_REF && space == PTX_SP_GLOBAL)
        put_in_const(sel, s, p, ISA_CMP_GE, ISA_BOOL_AND);
}

/* Selects hints for caches, profilers and schedulers, which have no effect. A cache policy becomes 0, because only hints
 * read it. */
void ptx_rule_hint(struct ptx_sel *sel)
{
    static const uint8_t words[] = { PTX_W_L1, PTX_W_L2, PTX_W_FRACTIONAL, PTX_W_RANGE, PTX_W_CVT,
                                     PTX_W_MASK, PTX_W_LAUNCH_DEPENDENTS, PTX_W_WAIT };

    for (unsigned i = 0; i < sel->in.operand_count; i++) {
        const struct ptx_operand *o = &sel->in.operand[i];

        if (o->kind == PTX_O_ADDRESS && o->reg == PTX_NONE && o->symbol == PTX_NONE &&
            !ptx_has(&sel->in, PTX_W_LOCAL))
            ptx_sel_fail(sel, LW_EINPUT, number_address);
    }
    (void)take_space(sel);
    for (unsigned i = 0; i < LW_COUNT_OF(words); i++)
        (void)ptx_take(&sel->in, (enum ptx_word)words[i]);
    if (sel->in.op == PTX_CREATEPOLICY) {
        ptx_sel_operands(sel, 1, 4);
        ptx_sel_imm(sel, ptx_sel_dest(sel, &sel->in.operand[0], PTX_T_B64), 2, 0);
    }
}

/** Removes the last operand of an access with .cache_hint, which is a cache policy and has no effect. */
static void drop_policy(struct ptx_sel *sel)
{
    if (!ptx_take(&sel->in, PTX_W_CACHE_HINT))
        return;
    if (sel->in.operand_count < 2)
        ptx_sel_fail(sel, LW_EINPUT, "the cache policy is missing");
    (void)ptx_sel_source(sel, sel->in.operand_count - 1u, PTX_T_B64);
    sel->in.operand_count--;
}

/* ---- fences ------------------------------------------------------ */

/* Checks the operands of fence.proxy.tensormap::generic.acquire [a], 128. Tensor maps are not supported, so the
 * instruction is an ordinary fence. */
static void check_tensormap_fence(struct ptx_sel *sel)
{
    const struct ptx_operand *o = sel->in.operand;
    uint64_t bytes;

    ptx_sel_operands(sel, 2, 2);
    if (o[0].kind != PTX_O_ADDRESS || !ptx_sel_known(sel, &o[1], &bytes) || bytes != 128)
        ptx_sel_fail(sel, LW_EINPUT, "expected the address of a tensor map, and 128 for its bytes");
    if (o[0].reg != PTX_NONE)
        (void)ptx_sel_value(sel, &(struct ptx_operand){ .kind = PTX_O_REG, .reg = o[0].reg,
                                                        .symbol = PTX_NONE }, PTX_T_U64);
}

void ptx_rule_fence(struct ptx_sel *sel)
{
    struct ptx_mi *mi;
    unsigned scope = ISA_FSCOPE_GPU;

    if (ptx_has(&sel->in, PTX_W_TENSORMAP_GENERIC) && ptx_has(&sel->in, PTX_W_ACQUIRE))
        check_tensormap_fence(sel);
    else
        ptx_sel_operands(sel, 0, 0);
    (void)ptx_take(&sel->in, PTX_W_MBARRIER_INIT); /* this modifier has no effect, because accesses to barrier objects
                                                    * are sequentially consistent, too */
    (void)ptx_take(&sel->in, PTX_W_SC); /* this modifier has no effect, because all accesses are sequentially consistent in
                                         * order of issue */
    (void)ptx_take(&sel->in, PTX_W_ACQ_REL);
    if (ptx_take(&sel->in, PTX_W_ACQUIRE) || ptx_take(&sel->in, PTX_W_RELEASE)) {
        (void)ptx_take(&sel->in, PTX_W_RESTRICT_CTA); /* this modifier has no effect, because it only permits a weaker fence */
        (void)ptx_take(&sel->in, PTX_W_RESTRICT_CLUSTER);
    }
    if (ptx_take(&sel->in, PTX_W_PROXY)) { /* Lanewise has only one path to memory */
        static const uint8_t words[] = { PTX_W_ALIAS, PTX_W_ASYNC, PTX_W_GLOBAL, PTX_W_SHARED_CTA,
                                         PTX_W_SHARED_CLUSTER, PTX_W_TENSORMAP_GENERIC,
                                         PTX_W_ASYNC_GENERIC };

        for (unsigned i = 0; i < LW_COUNT_OF(words); i++)
            (void)ptx_take(&sel->in, (enum ptx_word)words[i]);
    }
    if (ptx_take(&sel->in, PTX_W_CTA))
        scope = ISA_FSCOPE_CTA;
    else if (ptx_take(&sel->in, PTX_W_SYS))
        scope = ISA_FSCOPE_SYS;
    else if (ptx_take(&sel->in, PTX_W_CLUSTER))
        scope = ISA_FSCOPE_CLUSTER;
    else if (!ptx_take(&sel->in, PTX_W_GL))
        (void)ptx_take(&sel->in, PTX_W_GPU);
    mi = ptx_sel_emit(sel, ISA_FENCE);
    isa_mod_set(&mi->in, ISA_MOD_FSCOPE, scope);
}
