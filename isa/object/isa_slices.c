/* SPDX-License-Identifier: Apache-2.0 */
/* Address slices of an object: the section .lanewise.slices that stores them (docs/reference/object.md), and the instructions
 * that may be nodes of a slice. Nodes may be integer instructions that compute the result of a lane only from operands of the
 * same lane, which the semantics column shows. */
#include "isa/object/isa_elf_priv.h"

static const uint8_t slices_magic[8] = { 'L', 'W', 'S', 'L', 'C', 0, 0, 1 };

/* ---- instructions that may be nodes --------------------------------------------------- */

#define INTEGER_u32 true
#define INTEGER_s32 true
#define INTEGER_u64 true
#define INTEGER_s64 true
#define INTEGER_f32 false
#define INTEGER_f64 false
#define INTEGER_f16 false
#define INTEGER_bf16 false
#define OF_LANE1(T, e) INTEGER_##T
#define OF_ROW1(T, f) INTEGER_##T
#define OF_LANE(T, e) INTEGER_##T
#define OF_LANE3(T, e) INTEGER_##T
#define OF_LANEX1(TD, TB, e) (INTEGER_##TD && INTEGER_##TB)
#define OF_LANEX(TD, TA, TB, e) (INTEGER_##TD && INTEGER_##TA && INTEGER_##TB)
#define OF_LANEX3(TD, TA, TB, TC, e) (INTEGER_##TD && INTEGER_##TA && INTEGER_##TB && INTEGER_##TC)
#define OF_LANEW(lo, hi) true
#define OF_LANEW3(lo, hi) true
#define OF_LANER(T, e) INTEGER_##T
#define OF_COMPARE(T) INTEGER_##T
#define OF_SELDOM(semantics) OF_##semantics
#define OF_SCALAR1(T, e) INTEGER_##T
#define OF_SCALAR(T, e) INTEGER_##T
#define OF_SCALAR3(T, e) INTEGER_##T
#define OF_SCALARX1(TD, TB, e) (INTEGER_##TD && INTEGER_##TB)
#define OF_SCALARX(TD, TA, TB, e) (INTEGER_##TD && INTEGER_##TA && INTEGER_##TB)
#define OF_SCALARR(T, e) INTEGER_##T
#define OF_SCALAR_COMPARE(T) INTEGER_##T
#define OF_HALF1(...) false
#define OF_HALF(...) false
#define OF_HALF3(...) false
#define OF_PACKED1(...) false
#define OF_PACKED(...) false
#define OF_PACKED3(...) false
#define OF_LOAD(...) false
#define OF_STORE(...) false
#define OF_ATOMIC(...) false
#define OF_REDUCE(...) false
#define OF_FETCH(...) false
#define OF_SCALAR_LOAD(...) false
#define OF_CALL(f) false
#define OF_CONTROL(f) false
#define OF_REFUSED(...) false

static const bool is_integer[ISA_OP_COUNT] = {
#define INSN(id, mnemonic, format, opcode, unit, order, tag, flags, operands, semantics) [ISA_##id] = OF_##semantics,
#include "isa/insns.def"
};

unsigned isa_slice_sources(enum isa_op op)
{
    const struct isa_op_info *info = isa_op_info(op);

    switch (op) {
    case ISA_V_PLOP3: return ISA_SLICE_A | ISA_SLICE_B | ISA_SLICE_R;
    case ISA_V_CVT: case ISA_V_LOP3_B32: case ISA_V_ADDC_U32: case ISA_V_SUBC_U32: case ISA_V_SP2P: break;
    default:
        if (info == NULL || !is_integer[op] || info->flags & (ISA_F_FLOAT | ISA_F_HALF) || info->unit == ISA_UNIT_FP ||
            info->unit == ISA_UNIT_DP)
            return 0; /* Float instructions that only change a sign have integer semantics, but are not nodes, because their
                       * immediates are encoded as floats. */
    }
    unsigned a = isa_op_words(info, ISA_TOK_VA, ISA_TOK_VA2) | isa_op_words(info, ISA_TOK_SA, ISA_TOK_SA2);
    unsigned b = isa_op_words(info, ISA_TOK_XB, ISA_TOK_XB2) | isa_op_words(info, ISA_TOK_SX, ISA_TOK_SX2);
    unsigned c = isa_op_words(info, ISA_TOK_VC, ISA_TOK_VC2) | isa_op_words(info, ISA_TOK_SC, ISA_TOK_SC);
    bool r = isa_op_has(info, ISA_TOK_RR) || isa_op_has(info, ISA_TOK_RS);

    return (a != 0 ? ISA_SLICE_A : 0) | (b != 0 || op == ISA_V_CVT ? ISA_SLICE_B : 0) | (c != 0 ? ISA_SLICE_C : 0) |
           (r ? ISA_SLICE_R : 0);
}

/** Returns the size, in bits, of a register of an integer type of a conversion, or 0 for a float type. */
static unsigned type_bits(unsigned type)
{
    return type > ISA_DT_S64 ? 0 : type >= ISA_DT_U64 ? 64 : 32;
}

unsigned isa_slice_row_bits(enum isa_op op, uint32_t mod, unsigned part)
{
    const struct isa_op_info *info = isa_op_info(op);
    const struct isa_insn insn = { .op = (uint16_t)op, .mod = mod };

    if (isa_slice_sources(op) == 0)
        return 0;
    if (part == ISA_SLICE_P)
        return isa_op_has(info, ISA_TOK_PD) || isa_op_has(info, ISA_TOK_SPD);
    if (part == ISA_SLICE_Q)
        return isa_op_has(info, ISA_TOK_QD);
    if (op == ISA_V_CVT)
        return type_bits(isa_mod_get(&insn, ISA_MOD_STYPE)) != 0 ? type_bits(isa_mod_get(&insn, ISA_MOD_DTYPE)) : 0;
    return 32 * (isa_op_words(info, ISA_TOK_VD, ISA_TOK_VD2) | isa_op_words(info, ISA_TOK_SD, ISA_TOK_SD2));
}

const char *isa_slice_reject_name(unsigned reject)
{
    static const char *const names[ISA_SLICE_REJECT_COUNT] = {
        [ISA_SLICE_ACCEPTED] = "accepted", [ISA_SLICE_MERGE] = "merge",  [ISA_SLICE_LOADED] = "data-dependent",
        [ISA_SLICE_ARRAY] = "array",       [ISA_SLICE_OPERATION] = "operation", [ISA_SLICE_START] = "start",
        [ISA_SLICE_FLOW] = "flow",         [ISA_SLICE_EXEC] = "exec",    [ISA_SLICE_SIZE] = "size",
        [ISA_SLICE_MANY] = "arrays",
    };

    return reject < ISA_SLICE_REJECT_COUNT ? names[reject] : "?";
}

unsigned isa_slice_links(const struct isa_slice_node *n)
{
    switch (n->kind) {
    case ISA_SLICE_ROW: return isa_slice_sources((enum isa_op)n->op);
    case ISA_SLICE_PAIR: case ISA_SLICE_INDUCTION: return ISA_SLICE_A | ISA_SLICE_B;
    case ISA_SLICE_LOW: case ISA_SLICE_HIGH: case ISA_SLICE_NOT: return ISA_SLICE_A;
    case ISA_SLICE_SELECT: return ISA_SLICE_A | ISA_SLICE_B | ISA_SLICE_R;
    default: return 0;
    }
}

const struct isa_slices *isa_object_slices_of(const struct isa_object *object, const struct isa_function *function)
{
    for (uint32_t i = 0; i < object->slice_count; i++)
        if (&object->functions[object->slices[i].function] == function)
            return &object->slices[i];
    return NULL;
}

/* ---- writing ---------------------------------------------------------------------------- */

enum { SITE_STORE = 1, SITE_GUARDED = 2, LOOP_TESTED = 1, LOOP_ENDS = 2, LOOP_ONLY = 4 };

static unsigned bits_code(unsigned bits)
{
    return bits == 64 ? 2 : bits == 32 ? 1 : 0;
}

static void put_node(const struct isa_slice_node *n, uint32_t number, struct isa_bytes *out)
{
    const uint32_t link[4] = { n->a, n->b, n->c, n->r };

    isa_bytes_uleb(out, n->kind * 4u + bits_code(n->bits));
    if (n->kind == ISA_SLICE_PARAM)
        isa_bytes_uleb(out, n->part);
    if (n->kind == ISA_SLICE_VARIABLE)
        isa_bytes_uleb(out, n->op);
    if (n->kind == ISA_SLICE_ROW) {
        isa_bytes_uleb(out, isa_op_info((enum isa_op)n->op)->opcode * 4u + n->part);
        isa_bytes_uleb(out, n->mod);
    } else if (n->kind <= ISA_SLICE_VARIABLE || n->kind == ISA_SLICE_INDUCTION) {
        isa_bytes_uleb(out, n->value);
    }
    for (unsigned k = 0; k < 4; k++)
        if (isa_slice_links(n) >> k & 1)
            isa_bytes_uleb(out, number - link[k]);
}

static void put_loop(const struct isa_slice_loop *l, struct isa_bytes *out)
{
    isa_bytes_uleb(out, l->header);
    isa_bytes_uleb(out, l->outer == UINT32_MAX ? 0 : l->outer + UINT64_C(1));
    isa_bytes_uleb(out, LOOP_TESTED * l->tested + LOOP_ENDS * l->ends + LOOP_ONLY * l->only);
    isa_bytes_uleb(out, l->test);
    isa_bytes_uleb(out, l->latch_count);
    for (uint32_t k = 0; k < l->latch_count; k++)
        isa_bytes_uleb(out, l->latches[k]);
}

static void put_site(const struct isa_slice_site *s, struct isa_bytes *out)
{
    isa_bytes_uleb(out, s->insn);
    isa_bytes_uleb(out, s->bytes);
    isa_bytes_uleb(out, SITE_STORE * s->store + SITE_GUARDED * s->guarded);
    isa_bytes_uleb(out, s->reject);
    if (s->reject != ISA_SLICE_ACCEPTED) {
        isa_bytes_uleb(out, s->culprit == UINT32_MAX ? 0 : s->culprit + UINT64_C(1));
        return;
    }
    isa_bytes_uleb(out, s->array);
    isa_bytes_uleb(out, s->node);
    isa_bytes_uleb(out, s->loops);
    isa_bytes_uleb(out, s->after);
}

void isa_slices_write(const struct isa_object *object, struct isa_bytes *out)
{
    if (object->slice_count == 0)
        return;
    isa_bytes_put(out, slices_magic, sizeof slices_magic);
    isa_bytes_uleb(out, object->slice_count);
    for (uint32_t i = 0; i < object->slice_count; i++) {
        const struct isa_slices *s = &object->slices[i];

        isa_bytes_uleb(out, s->function);
        isa_bytes_uleb(out, s->node_count);
        for (uint32_t k = 0; k < s->node_count; k++)
            put_node(&s->nodes[k], k, out);
        isa_bytes_uleb(out, s->loop_count);
        for (uint32_t k = 0; k < s->loop_count; k++)
            put_loop(&s->loops[k], out);
        isa_bytes_uleb(out, s->array_count);
        for (uint32_t k = 0; k < s->array_count; k++) {
            isa_bytes_uleb(out, s->arrays[k].which * UINT64_C(2) + s->arrays[k].variable);
            isa_bytes_uleb(out, s->arrays[k].sites);
        }
        isa_bytes_uleb(out, s->site_count);
        for (uint32_t k = 0; k < s->site_count; k++)
            put_site(&s->sites[k], out);
    }
}

/* ---- reading ------------------------------------------------------------------------------ */

static void get_node(struct isa_reader *r, struct isa_slice_node *n, uint32_t number)
{
    static const uint8_t bits[4] = { 1, 32, 64, 0 };
    uint64_t head = isa_reader_number(r, ISA_SLICE_KIND_COUNT * 4 - 1, "kind of a value");
    uint32_t *link[4] = { &n->a, &n->b, &n->c, &n->r };

    n->kind = (uint8_t)(head / 4);
    n->bits = bits[head & 3];
    if (n->kind == ISA_SLICE_PARAM)
        n->part = (uint8_t)isa_reader_number(r, 255, "width of a parameter");
    if (n->kind == ISA_SLICE_VARIABLE)
        n->op = (uint16_t)isa_reader_number(r, UINT16_MAX, "variable of a value");
    if (n->kind == ISA_SLICE_ROW) {
        uint64_t row = isa_reader_number(r, 4 * 1024 - 1, "row of a value");

        n->op = (uint16_t)isa_op_by_opcode((unsigned)(row / 4));
        n->part = row & 3;
        n->mod = (uint32_t)isa_reader_number(r, UINT32_MAX, "modifiers of a value");
    } else if (n->kind <= ISA_SLICE_VARIABLE || n->kind == ISA_SLICE_INDUCTION) {
        n->value = isa_reader_number(r, UINT64_MAX, "number of a value");
    }
    for (unsigned k = 0; k < 4; k++)
        if (isa_slice_links(n) >> k & 1)
            *link[k] = number - (uint32_t)isa_reader_number(r, number, "source of a value");
}

static void get_loop(struct isa_reader *r, struct isa_slice_loop *l)
{
    uint64_t outer, flags;

    l->header = (uint32_t)isa_reader_number(r, UINT32_MAX, "header of a slice's loop");
    outer = isa_reader_number(r, ISA_SLICE_LOOPS, "outer loop of a slice's loop");
    l->outer = outer == 0 ? UINT32_MAX : (uint32_t)(outer - 1);
    flags = isa_reader_number(r, LOOP_TESTED | LOOP_ENDS | LOOP_ONLY, "flags of a slice's loop");
    l->tested = flags & LOOP_TESTED;
    l->ends = flags & LOOP_ENDS;
    l->only = flags & LOOP_ONLY;
    l->test = (uint32_t)isa_reader_number(r, UINT32_MAX, "test of a slice's loop");
    size_t count = isa_reader_count(r, 1, "latches of a slice's loop");
    l->latches = isa_reader_capacity(r, count, sizeof *l->latches);
    for (size_t i = 0; i < count && r->status == LW_OK; i++) {
        l->latches[i] = (uint32_t)isa_reader_number(r, UINT32_MAX, "latch of a slice's loop");
        l->latch_count = (uint32_t)i + 1;
    }
}

static void get_site(struct isa_reader *r, struct isa_slice_site *s)
{
    uint64_t flags, culprit;

    s->insn = (uint32_t)isa_reader_number(r, UINT32_MAX, "instruction of a site");
    s->bytes = (uint8_t)isa_reader_number(r, 16, "bytes of a site");
    flags = isa_reader_number(r, SITE_STORE | SITE_GUARDED, "flags of a site");
    s->store = flags & SITE_STORE;
    s->guarded = flags & SITE_GUARDED;
    s->reject = (uint8_t)isa_reader_number(r, ISA_SLICE_REJECT_COUNT - 1, "reason of a site");
    s->culprit = UINT32_MAX;
    if (s->reject != ISA_SLICE_ACCEPTED) {
        culprit = isa_reader_number(r, UINT32_MAX, "culprit of a site");
        s->culprit = culprit == 0 ? UINT32_MAX : (uint32_t)(culprit - 1);
        return;
    }
    s->array = (uint8_t)isa_reader_number(r, ISA_SLICE_ARRAYS - 1, "array of a site");
    s->node = (uint32_t)isa_reader_number(r, UINT32_MAX, "address of a site");
    s->loops = isa_reader_number(r, UINT64_MAX, "loops of a site");
    s->after = isa_reader_number(r, UINT64_MAX, "loops of a site");
}

static void get_slices(struct isa_reader *r, struct isa_slices *s)
{
    size_t count;

    s->function = (uint32_t)isa_reader_number(r, UINT32_MAX, "kernel of slices");
    count = isa_reader_count(r, 2, "values of slices");
    s->nodes = isa_reader_capacity(r, count, sizeof *s->nodes);
    for (size_t i = 0; i < count && r->status == LW_OK; i++) {
        get_node(r, &s->nodes[i], (uint32_t)i);
        s->node_count = (uint32_t)i + 1;
    }
    count = isa_reader_count(r, 5, "loops of slices");
    s->loops = isa_reader_capacity(r, count, sizeof *s->loops);
    for (size_t i = 0; i < count && r->status == LW_OK; i++) {
        get_loop(r, &s->loops[i]);
        s->loop_count = (uint32_t)i + 1;
    }
    s->array_count = (uint32_t)isa_reader_number(r, ISA_SLICE_ARRAYS, "arrays of slices");
    for (uint32_t i = 0; i < s->array_count; i++) {
        uint64_t which = isa_reader_number(r, UINT64_C(2) * UINT32_MAX + 1, "array of slices");

        s->arrays[i] = (struct isa_slice_array){ .variable = which & 1, .which = (uint32_t)(which >> 1),
                           .sites = (uint32_t)isa_reader_number(r, UINT32_MAX, "sites of an array") };
    }
    count = isa_reader_count(r, 5, "sites of slices");
    s->sites = isa_reader_capacity(r, count, sizeof *s->sites);
    for (size_t i = 0; i < count && r->status == LW_OK; i++) {
        get_site(r, &s->sites[i]);
        s->site_count = (uint32_t)i + 1;
    }
}

enum lw_status isa_slices_read(const uint8_t *data, size_t size, struct isa_object *object, struct lw_error *err)
{
    struct isa_reader r = isa_reader_begin(".lanewise.slices", slices_magic, data, size, object, err);
    size_t count;

    if (r.status != LW_OK)
        return r.status;
    count = isa_reader_count(&r, 5, "kernels with slices");
    object->slices = isa_reader_capacity(&r, count, sizeof *object->slices);
    for (size_t i = 0; i < count && r.status == LW_OK; i++) {
        get_slices(&r, &object->slices[i]);
        object->slice_count = (uint32_t)i + 1;
    }
    return isa_reader_end(&r, "slice");
}

/* ---- rules ---------------------------------------------------------------------------------- */

static bool predicate_wanted(const struct isa_slice_node *n, unsigned k)
{
    return k == 3 || n->kind == ISA_SLICE_NOT || (n->kind == ISA_SLICE_ROW && n->op == ISA_V_PLOP3);
}

static bool node_ok(const struct isa_object *object, const struct isa_slices *s, uint32_t i)
{
    const struct isa_slice_node *n = &s->nodes[i];
    const uint32_t link[4] = { n->a, n->b, n->c, n->r };
    const struct isa_slice_node *from[4] = { NULL };

    for (unsigned k = 0; k < 4; k++) {
        if (!(isa_slice_links(n) >> k & 1))
            continue;
        if (link[k] >= i)
            return false;
        from[k] = &s->nodes[link[k]];
        if ((from[k]->bits == 1) != predicate_wanted(n, k) &&
            !(k < 2 && (n->kind == ISA_SLICE_SELECT || n->kind == ISA_SLICE_INDUCTION)))
            return false;
    }
    switch (n->kind) {
    case ISA_SLICE_IMMEDIATE: return n->bits == 64 || (n->bits != 0 && n->value >> n->bits == 0);
    case ISA_SLICE_SPECIAL:
        return n->bits == 32 && (n->value <= ISA_SR_WORKDIM || n->value == ISA_SR_LANEID || n->value == ISA_SR_WARPWIDTH);
    case ISA_SLICE_PARAM:
        return (n->bits == 32 || n->bits == 64) && n->value < ISA_CONST_BANK_BYTES &&
               (n->part == 0 || (n->bits == 32 && ((n->part & 127) == 8 || (n->part & 127) == 16)));
    case ISA_SLICE_VARIABLE:
        return n->bits == 64 && n->op < object->variable_count &&
               object->variables[n->op].space != ISA_SPACE_SHARED;
    case ISA_SLICE_ROW: return n->bits != 0 && n->bits == isa_slice_row_bits((enum isa_op)n->op, n->mod, n->part);
    case ISA_SLICE_PAIR: return n->bits == 64 && from[0]->bits == 32 && from[1]->bits == 32;
    case ISA_SLICE_LOW: case ISA_SLICE_HIGH: return n->bits == 32 && from[0]->bits == 64;
    case ISA_SLICE_NOT: return n->bits == 1;
    case ISA_SLICE_SELECT: return n->bits != 0 && from[0]->bits == n->bits && from[1]->bits == n->bits;
    case ISA_SLICE_INDUCTION:
        return n->bits >= 32 && from[0]->bits == n->bits && from[1]->bits == n->bits && n->value < s->loop_count;
    default: return false;
    }
}

static bool in_function(const struct isa_function *f, uint32_t insn)
{
    return insn >= f->first && insn - f->first < f->count;
}

static enum lw_status check_one(const struct isa_object *object, const struct isa_slices *s, struct lw_error *err)
{
    const struct isa_function *f = &object->functions[s->function];
    uint64_t loops = s->loop_count == 64 ? UINT64_MAX : (UINT64_C(1) << (s->loop_count & 63)) - 1;

    if (s->node_count > ISA_SLICE_NODES || s->loop_count > ISA_SLICE_LOOPS)
        return LW_FAIL(err, LW_EFORMAT, "address slices of %s: %u values and %u loops are too many", f->name, s->node_count,
                       s->loop_count);
    for (uint32_t i = 0; i < s->node_count; i++)
        if (!node_ok(object, s, i))
            return LW_FAIL(err, LW_EFORMAT, "address slices of %s: value %u is invalid", f->name, i);
    for (uint32_t i = 0; i < s->loop_count; i++) {
        const struct isa_slice_loop *l = &s->loops[i];
        bool ok = in_function(f, l->header) && (l->outer == UINT32_MAX || l->outer < i) &&
                  (l->tested ? l->test < s->node_count && s->nodes[l->test].bits == 1 : l->test == 0 && !l->ends);

        for (uint32_t k = 0; k < l->latch_count; k++)
            ok &= in_function(f, l->latches[k]) && (k == 0 || l->latches[k] > l->latches[k - 1]);
        if (!ok)
            return LW_FAIL(err, LW_EFORMAT, "address slices of %s: loop %u is invalid", f->name, i);
    }
    for (uint32_t i = 0; i < s->array_count; i++)
        if (s->arrays[i].which >= (s->arrays[i].variable ? object->variable_count : f->param_count))
            return LW_FAIL(err, LW_EFORMAT, "address slices of %s: there is no array %u", f->name, i);
    for (uint32_t i = 0; i < s->site_count; i++) {
        const struct isa_slice_site *at = &s->sites[i];
        bool accepted = at->reject == ISA_SLICE_ACCEPTED;

        if (!in_function(f, at->insn) || (i != 0 && at->insn <= s->sites[i - 1].insn) || at->bytes == 0 ||
            (accepted ? at->node >= s->node_count || s->nodes[at->node].bits != 64 || at->array >= s->array_count ||
                            (at->loops & ~loops) != 0 || (at->after & ~at->loops) != 0
                      : at->culprit != UINT32_MAX && !in_function(f, at->culprit)))
            return LW_FAIL(err, LW_EFORMAT, "address slices of %s: site %u is invalid", f->name, i);
    }
    return LW_OK;
}

enum lw_status isa_slices_check(const struct isa_object *object, struct lw_error *err)
{
    for (uint32_t i = 0; i < object->slice_count; i++) {
        const struct isa_slices *s = &object->slices[i];
        enum lw_status status = LW_OK;

        if (s->function >= object->function_count || !object->functions[s->function].kernel ||
            (i != 0 && s->function <= object->slices[i - 1].function))
            return LW_FAIL(err, LW_EFORMAT, "address slices %u: function %u is not a kernel, or out of order", i, s->function);
        status = check_one(object, s, err);
        if (status != LW_OK)
            return status;
    }
    return LW_OK;
}
