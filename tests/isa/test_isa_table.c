/* SPDX-License-Identifier: Apache-2.0 */
/* Tests that the instruction table is consistent, and tests the queries of the table. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "tests/isa/prop_isa_random.h"

static void every_row_has_an_opcode_and_a_name_of_its_own(void **state)
{
    bool taken[1024] = { false };

    (void)state;
    for (unsigned op = 1; op < ISA_OP_COUNT; op++) {
        const struct isa_op_info *info = isa_op_info((enum isa_op)op);

        assert_in_range(info->opcode & 0x3f, 1, 0x3f);
        assert_true(info->opcode < 1024);
        if (taken[info->opcode])
            fail_msg("%s: opcode 0x%03x is used twice", info->mnemonic, info->opcode);
        taken[info->opcode] = true;
        assert_int_equal(isa_op_by_opcode(info->opcode), op);
        assert_int_equal(isa_op_find(info->mnemonic, strlen(info->mnemonic)), op);
    }
    assert_null(isa_op_info(ISA_OP_NONE));
    assert_null(isa_op_info(ISA_OP_COUNT));
    assert_int_equal(isa_op_find("v_add", 5), ISA_OP_NONE);
}

static void every_operand_column_fits(void **state)
{
    (void)state;
    for (unsigned op = 1; op < ISA_OP_COUNT; op++) {
        const struct isa_op_info *info = isa_op_info((enum isa_op)op);

        if (info->operands.count > ISA_MAX_TOKENS)
            fail_msg("%s has more than %d operands", info->mnemonic, ISA_MAX_TOKENS);
        for (unsigned i = 0; i < ISA_MAX_TOKENS; i++)
            if ((info->operands.tok[i] == ISA_TOK_NONE) != (i >= info->operands.count))
                fail_msg("%s: (NONE) together with other operands", info->mnemonic);
    }
}

static void every_modifier_value_fits_its_group(void **state)
{
    (void)state;
    for (unsigned mod = 0; mod < ISA_MOD_COUNT; mod++) {
        const struct isa_mod_info *group = isa_mod_info((enum isa_mod)mod);
        bool default_known = group->deflt < 0;

        assert_true(group->lsb >= 80 && group->lsb + group->bits <= 108);
        for (unsigned i = 0; i < group->value_count; i++) {
            assert_true(group->values[i].value < 1u << group->bits);
            default_known |= group->values[i].value == group->deflt;
        }
        assert_true(default_known);
    }
}

/* One field of an instruction after the other is set to all ones. No other field may change. */
static void fields_of_a_row_do_not_overlap(void **state)
{
    (void)state;
    for (unsigned op = 1; op < ISA_OP_COUNT; op++) {
        const struct isa_op_info *info = isa_op_info((enum isa_op)op);
        uint32_t seen = 0;

        for (unsigned mod = 0; mod < ISA_MOD_COUNT; mod++) {
            struct isa_insn insn = { .op = (uint16_t)op };

            if (!isa_mod_applies((enum isa_mod)mod, info))
                continue;
            isa_mod_set(&insn, (enum isa_mod)mod, 0xff);
            assert_int_equal(seen & insn.mod, 0);
            seen |= insn.mod;
        }
        for (unsigned i = 0; i < info->operands.count; i++) {
            struct isa_insn insn = { .op = (uint16_t)op };
            enum isa_tok_kind kind = isa_token_info(info->operands.tok[i])->kind;

            if (kind == ISA_TK_P || kind == ISA_TK_SP)
                isa_insn_set_p(&insn, 7);
            else if (kind == ISA_TK_Q)
                isa_insn_set_q(&insn, 7);
            else if (kind == ISA_TK_R || kind == ISA_TK_RS)
                isa_insn_set_r(&insn, 7, true);
            else if (kind == ISA_TK_RA)
                isa_insn_set_ra(&insn, 7, true);
            else if (kind == ISA_TK_RB)
                isa_insn_set_rb(&insn, 7, true);
            else if (kind == ISA_TK_LUT)
                isa_insn_set_lut(&insn, 0xff);
            assert_int_equal(seen & insn.mod, 0);
            seen |= insn.mod;
        }
        for (unsigned source = 0; source < 3 && !(info->flags & ISA_F_NOSRCMOD); source++) {
            struct isa_insn insn = { .op = (uint16_t)op };

            isa_insn_set_srcmod(&insn, source, 3);
            assert_int_equal(seen & insn.mod, 0);
            seen |= insn.mod;
        }
    }
}

/* ---- the layout of instruction words (isa/isa.h, tokens) -------------------------------- */

struct word_bits {
    uint64_t lo, hi;
};

static struct word_bits bits_of(unsigned low, unsigned high)
{
    struct word_bits b = { 0, 0 };

    for (unsigned bit = low; bit <= high; bit++) {
        if (bit < 64)
            b.lo |= UINT64_C(1) << bit;
        else
            b.hi |= UINT64_C(1) << (bit - 64);
    }
    return b;
}

/* Return the bits of an operand. @d_taken means that field D is used by a register. The bits are written here from the
 * specified layout, independent of the encoder. */
static struct word_bits operand_bits(enum isa_tok_kind kind, bool d_taken)
{
    struct word_bits b = { 0, 0 };

#define ADD(low, high)                                                                      \
    (b.lo |= bits_of(low, high).lo, b.hi |= bits_of(low, high).hi)
    switch (kind) {
    case ISA_TK_D: ADD(16, 23); break;
    case ISA_TK_A: ADD(25, 25), ADD(72, 79); break;
    case ISA_TK_X: case ISA_TK_CTABAR: ADD(28, 29), ADD(32, 63); break;
    case ISA_TK_C: ADD(26, 26), ADD(64, 71); break;
    case ISA_TK_SWAP: ADD(64, 71); break;
    case ISA_TK_XREG: case ISA_TK_TEXARG: ADD(28, 29), ADD(32, 39); break;
    case ISA_TK_P: case ISA_TK_SP: ADD(86, 88); break;
    case ISA_TK_Q: ADD(89, 91); break;
    case ISA_TK_R: case ISA_TK_RS: ADD(92, 95); break;
    case ISA_TK_RA: ADD(96, 99); break;
    case ISA_TK_RB: ADD(100, 103); break;
    case ISA_TK_ALLP: break;
    case ISA_TK_ADDR: ADD(40, 63), ADD(72, 79); break; /* field C holds a scalar base, or the operand SWAP */
    case ISA_TK_CADDR: ADD(25, 25), ADD(40, 63), ADD(64, 71), ADD(72, 79); break;
    case ISA_TK_SADDR: ADD(25, 25), ADD(28, 29), ADD(32, 63), ADD(72, 79); break;
    case ISA_TK_TARGET: case ISA_TK_IMM: case ISA_TK_SPECIAL: ADD(32, 63); break;
    case ISA_TK_BREG: ADD(16, 19); break;
    case ISA_TK_BOPT: ADD(30, 30); d_taken ? ADD(64, 67) : ADD(16, 19); break;
    case ISA_TK_XBREG: ADD(32, 35); break;
    case ISA_TK_COUNT: ADD(30, 30), ADD(64, 71); break;
    case ISA_TK_LUT: ADD(96, 103); break;
    case ISA_TK_LUTX: ADD(32, 39); break;
    case ISA_TK_DEPBAR: ADD(32, 34), ADD(40, 45); break;
    case ISA_TK_WAITCNT: ADD(32, 37), ADD(40, 42), ADD(48, 53); break;
    case ISA_TK_LANE: ADD(26, 26), ADD(28, 30), ADD(32, 51), ADD(64, 71); break;
    case ISA_TK_MEMBER: ADD(56, 63); break;
    case ISA_TK_SOFT: ADD(30, 30); break;
    case ISA_TK_TEXEL: ADD(40, 51); break;
    }
#undef ADD
    return b;
}

static void fields_of_every_row_lie_apart_in_the_word(void **state)
{
    (void)state;
    for (unsigned op = 1; op < ISA_OP_COUNT; op++) {
        const struct isa_op_info *info = isa_op_info((enum isa_op)op);
        struct word_bits seen = bits_of(0, 15), reserved = bits_of(27, 27), b;
        seen.lo |= reserved.lo | bits_of(24, 24).lo | bits_of(31, 31).lo;
        seen.hi |= bits_of(108, 127).hi; /* bits of the control field */
        bool d_taken = isa_operands_find(&info->operands, ISA_TK_D) >= 0;
        for (unsigned i = 0; i < info->operands.count; i++) {
            b = operand_bits(isa_token_info(info->operands.tok[i])->kind, d_taken);
            if ((seen.lo & b.lo) != 0 || (seen.hi & b.hi) != 0)
                fail_msg("%s: operand %s overlaps another field", info->mnemonic,
                         isa_token_info(info->operands.tok[i])->name);
            seen.lo |= b.lo;
            seen.hi |= b.hi;
        }
        for (unsigned mod = 0; mod < ISA_MOD_COUNT; mod++) {
            const struct isa_mod_info *group = isa_mod_info((enum isa_mod)mod);

            if (!isa_mod_applies((enum isa_mod)mod, info))
                continue;
            b = bits_of(group->lsb, group->lsb + group->bits - 1u);
            if ((seen.hi & b.hi) != 0)
                fail_msg("%s: modifier %s overlaps another field", info->mnemonic, group->name);
            seen.hi |= b.hi;
        }
        if (info->flags & ISA_F_NOSRCMOD)
            continue;
        b = bits_of(80, 85);
        if ((seen.hi & b.hi) != 0)
            fail_msg("%s: source modifiers overlap another field", info->mnemonic);
    }
}

/* The decoder must not accept a word that has a bit outside the fields of its row. The fields are those of the test above. */
static void random_words_set_no_bit_outside_the_fields_of_their_row(void **state)
{
    struct prop_random r = { 20 };

    (void)state;
    for (unsigned op = 1; op < ISA_OP_COUNT; op++) {
        const struct isa_op_info *info = isa_op_info((enum isa_op)op);
        struct word_bits may = bits_of(0, 26), b;
        may.lo &= ~bits_of(16, 23).lo & ~bits_of(25, 26).lo;
        may.hi = bits_of(108, 127).hi;
        bool d_taken = isa_operands_find(&info->operands, ISA_TK_D) >= 0;
        for (unsigned i = 0; i < info->operands.count; i++) {
            enum isa_tok_kind kind = isa_token_info(info->operands.tok[i])->kind;

            b = operand_bits(kind, d_taken);
            may.lo |= b.lo;
            may.hi |= b.hi;
            if (kind == ISA_TK_IMM || kind == ISA_TK_C)
                may.lo |= bits_of(28, 30).lo; /* the kind of X, and the variant, which exchanges X and C */
            if (kind == ISA_TK_ADDR) {
                may.lo |= bits_of(26, 26).lo | bits_of(30, 30).lo;
                may.hi |= bits_of(64, 71).hi;
            }
        }
        for (unsigned mod = 0; mod < ISA_MOD_COUNT; mod++) {
            const struct isa_mod_info *group = isa_mod_info((enum isa_mod)mod);

            if (isa_mod_applies((enum isa_mod)mod, info))
                may.hi |= bits_of(group->lsb, group->lsb + group->bits - 1u).hi;
        }
        if (!(info->flags & ISA_F_NOSRCMOD))
            may.hi |= bits_of(80, 85).hi;
        for (unsigned i = 0; i < 300; i++) {
            struct isa_insn insn;
            struct isa_word word;
            struct lw_error err;

            prop_insn(&r, (enum isa_op)op, &insn);
            if (isa_insn_encode(&insn, &word, &err) != LW_OK)
                fail_msg("%s", err.text);
            if ((word.lo & ~may.lo) != 0 || (word.hi & ~may.hi) != 0)
                fail_msg("%s: %016llx%016llx sets bits outside its fields", info->mnemonic,
                         (unsigned long long)word.hi, (unsigned long long)word.lo);
        }
    }
}

static void rows_that_nobody_executes_say_what_they_would_do(void **state)
{
    unsigned refused = 0;

    (void)state;
    for (unsigned op = 1; op < ISA_OP_COUNT; op++) {
        const struct isa_op_info *info = isa_op_info((enum isa_op)op);
        bool says = strncmp(info->semantics, "REFUSED", 7) == 0;

        assert_int_equal(isa_op_refused((enum isa_op)op) != NULL, says);
        refused += says;
    }
    assert_true(refused > 0);
    assert_string_equal(isa_op_refused(ISA_TLD4), "texture gathers");
    assert_null(isa_op_refused(ISA_TEX));
    assert_null(isa_op_refused(ISA_V_ADD_U32));
    assert_null(isa_op_refused(ISA_OP_COUNT));
}

static void a_fresh_instruction_of_every_row_can_be_encoded(void **state)
{
    (void)state;
    for (unsigned op = 1; op < ISA_OP_COUNT; op++) {
        struct isa_insn insn, back;
        struct isa_word word;
        struct lw_error err;

        isa_insn_init(&insn, (enum isa_op)op);
        if (isa_insn_encode(&insn, &word, &err) != LW_OK)
            fail_msg("%s", err.text);
        assert_true(isa_insn_decode(word, &back));
        assert_true(prop_insn_equal(&insn, &back));
        assert_int_equal(word.hi >> 44, 0); /* the encoding of no control field is zero */
    }
}

static void reserved_bits_and_unused_fields_are_refused(void **state)
{
    struct isa_insn insn;
    struct isa_word word, changed;
    struct lw_error err;

    (void)state;
    isa_insn_init(&insn, ISA_EXIT);
    assert_int_equal(isa_insn_encode(&insn, &word, &err), LW_OK);
    for (unsigned bit = 0; bit < 128; bit++) {
        bool guard = (bit >= 12 && bit <= 15) || bit == 24, control = bit >= 108;
        bool opcode = bit <= 5 || (bit >= 8 && bit <= 11);

        changed = word;
        if (bit < 64)
            changed.lo ^= UINT64_C(1) << bit;
        else
            changed.hi ^= UINT64_C(1) << (bit - 64);
        if (guard || control)
            assert_true(isa_insn_decode(changed, &insn));
        else if (!opcode)
            assert_false(isa_insn_decode(changed, &insn));
    }
}

static void encode_names_the_field_that_does_not_fit(void **state)
{
    struct isa_insn insn;
    struct isa_word word;
    struct lw_error err;

    (void)state;
    isa_insn_init(&insn, ISA_V_ADD_U64);
    insn.d = 3; /* an odd register, at which no pair may start */
    assert_int_equal(isa_insn_encode(&insn, &word, &err), LW_ERANGE);
    assert_string_equal(err.text, "v_add_u64: field D: a tuple of 2 vector registers must start at a multiple of 2, not at 3");
    insn.d = 254; /* v254:255 does not exist */
    assert_int_equal(isa_insn_encode(&insn, &word, &err), LW_ERANGE);
    assert_string_equal(err.text,
                        "v_add_u64: field D: a tuple of 2 vector registers cannot start at number 254");
    isa_insn_init(&insn, ISA_S_MOV_B32);
    insn.x = 128;
    assert_int_equal(isa_insn_encode(&insn, &word, &err), LW_ERANGE);
    isa_insn_init(&insn, ISA_LD_GLOBAL);
    isa_mod_set(&insn, ISA_MOD_SIZE, 15);
    assert_int_equal(isa_insn_encode(&insn, &word, &err), LW_ERANGE);
    assert_string_equal(err.text, "ld.global: modifier SIZE has no value 15");
    isa_insn_init(&insn, ISA_V_MOV_B32);
    insn.c = 1;
    assert_int_equal(isa_insn_encode(&insn, &word, &err), LW_ERANGE);
    isa_insn_init(&insn, ISA_RED_GLOBAL);
    isa_mod_set(&insn, ISA_MOD_AOP, ISA_AOP_CAS);
    assert_int_equal(isa_insn_encode(&insn, &word, &err), LW_ERANGE);
}

static enum isa_order order_of(enum isa_op op, unsigned aop, unsigned type, unsigned morder,
                               uint8_t d)
{
    struct isa_insn insn;

    isa_insn_init(&insn, op);
    insn.d = d;
    if (isa_op_info(op)->format == ISA_FMT_ATOM) {
        isa_mod_set(&insn, ISA_MOD_AOP, aop);
        isa_mod_set(&insn, ISA_MOD_ATYPE, type);
    }
    isa_mod_set(&insn, ISA_MOD_MORDER, morder);
    return isa_insn_order(&insn);
}

static void the_order_of_accesses_depends_on_space_operation_and_use(void **state)
{
    const unsigned weak = ISA_MORDER_WEAK, relaxed = ISA_MORDER_RELAXED;
    struct isa_insn insn;

    (void)state;
    assert_int_equal(order_of(ISA_LD_GLOBAL, 0, 0, weak, 0), ISA_ORDER_NONE);
    assert_int_equal(order_of(ISA_LD_GLOBAL, 0, 0, ISA_MORDER_VOLATILE, 0), ISA_ORDER_GRID);
    assert_int_equal(order_of(ISA_ST_GENERIC, 0, 0, ISA_MORDER_RELEASE, 0), ISA_ORDER_GRID);
    assert_int_equal(order_of(ISA_LD_SHARED, 0, 0, ISA_MORDER_ACQUIRE, 0), ISA_ORDER_BLOCK);
    assert_int_equal(order_of(ISA_LD_LOCAL, 0, 0, ISA_MORDER_VOLATILE, 0), ISA_ORDER_NONE);
    assert_int_equal(order_of(ISA_RED_GLOBAL, ISA_AOP_ADD, ISA_ATYPE_U32, relaxed, 0),
                     ISA_ORDER_COMMUTES);
    assert_int_equal(order_of(ISA_RED_GLOBAL, ISA_AOP_ADD, ISA_ATYPE_F32, relaxed, 0),
                     ISA_ORDER_GRID);
    assert_int_equal(order_of(ISA_RED_GLOBAL, ISA_AOP_INC, ISA_ATYPE_U32, relaxed, 0),
                     ISA_ORDER_GRID);
    assert_int_equal(order_of(ISA_RED_SHARED, ISA_AOP_EXCH, ISA_ATYPE_B32, weak, 0),
                     ISA_ORDER_BLOCK);
    assert_int_equal(order_of(ISA_ATOM_SHARED, ISA_AOP_MAX, ISA_ATYPE_S32, weak, 3),
                     ISA_ORDER_BLOCK);
    assert_int_equal(order_of(ISA_ATOM_GLOBAL, ISA_AOP_OR, ISA_ATYPE_B32, weak, 3),
                     ISA_ORDER_GRID);
    assert_int_equal(order_of(ISA_ATOM_GLOBAL, ISA_AOP_OR, ISA_ATYPE_B32, weak, ISA_VZ),
                     ISA_ORDER_COMMUTES);
    isa_insn_init(&insn, ISA_V_S2R);
    insn.x = ISA_SR_TID_X;
    assert_int_equal(isa_insn_order(&insn), ISA_ORDER_NONE);
    insn.x = ISA_SR_SMID;
    assert_int_equal(isa_insn_order(&insn), ISA_ORDER_GRID);
    insn.x = ISA_SR_CLOCK;
    assert_int_equal(isa_insn_order(&insn), ISA_ORDER_BLOCK);
}

/* Check the register uses of an instruction, each printed as "class first count rw", in the order of the operands. */
static void assert_uses(const char *text, const char *expected)
{
    static const char *const classes[] = { "v", "s", "p", "sp", "b" };
    struct isa_reg_use uses[ISA_MAX_USES];
    struct isa_object *object = NULL;
    struct lw_buffer out;
    struct lw_error err;
    struct isa_insn insn;

    if (isa_assemble("uses.s", text, strlen(text), &object, &err) != LW_OK)
        fail_msg("%s", err.text);
    assert_true(isa_insn_decode(object->text[0], &insn));
    lw_buffer_init(&out);
    for (unsigned i = 0, n = isa_insn_uses(&insn, uses); i < n; i++)
        lw_printf(&out.sink, "%s%s%u+%u%s", i == 0 ? "" : " ", classes[uses[i].reg_class],
                  uses[i].first, uses[i].count, uses[i].written ? "w" : "");
    assert_string_equal(out.text != NULL ? out.text : "", expected);
    lw_buffer_fini(&out);
    isa_object_destroy(object);
}

static void uses_name_every_register_that_is_read_or_written(void **state)
{
    (void)state;
    assert_uses("@p1 v_add_u32 v3, v4, v5", "p1+1 v3+1w v4+1 v5+1");
    assert_uses("v_add_u64 vz, s4:5, 7", "s4+2");
    assert_uses("v_madwide_u32 v2:3, v9, v8, c[0][0]", "v2+2w v9+1 v8+1");
    assert_uses("v_madwide_u32 v2:3, v9, 5, v10:11", "v2+2w v9+1 v10+2");
    assert_uses("v_setp_f32.lt p0, p1, v2, v3, !p4", "p0+1w p1+1w v2+1 v3+1 p4+1");
    assert_uses("v_plop3 p0, _, p1, !p2, p3, 0x80", "p0+1w p1+1 p2+1 p3+1");
    assert_uses("v_p2r v1", "v1+1w p0+7");
    assert_uses("v_r2p v1", "p0+7w v1+1");
    assert_uses("ld.global.v4.b32 v8:11, [v2:3+16]", "v8+4w v2+2");
    assert_uses("ld.global.b64 v8:9, [s2:3+v5.s]", "v8+2w v5+1 s2+2");
    assert_uses("st.shared.u8 [v5], v7", "v5+1 v7+1");
    assert_uses("atom.global.cas.b64 v2:3, [v4:5], v6:7, v8:9", "v2+2w v4+2 v6+2 v8+2");
    assert_uses("red.shared.add.u32 [64], v1", "v1+1");
    assert_uses("shfl.idx v1, p2, v3, v4, v5, v6", "v1+1w p2+1w v3+1 v4+1 v5+1 v6+1");
    assert_uses("bssy b3, 0x100000000", "b3+1 b3+1w");
    assert_uses("@sp2 bra 0x100000000, b4", "sp2+1 b4+1");
    assert_uses("call v12:13, 0x100000000, b4", "v12+2w b4+1");
    assert_uses("v_cvt.f64.s32 v4:5, s7", "v4+2w s7+1");
    assert_uses("s_setp_u32.lt sp1, s2, s3", "sp1+1w s2+1 s3+1");
    assert_uses("bar.sync 3, v4", "v4+1");
    assert_uses("tex.2d.f32.f32 v4:7, v2:3, s8:9", "v4+4w v2+2 s8+2");
    assert_uses("tex.3d.s32.s32.level v4:7, p2, v8:11, v12:13, v1, (0,0,3)",
                "v4+4w p2+1w v8+4 v12+2 v1+1");
    assert_uses("tex.3d.f32.f32.grad.dc.samp v4:7, v8:11, s12:15, v16:23", "v4+4w v8+4 s12+4 v16+8");
    assert_uses("tld4.a2d.u32.b.dc v4:7, v8:11, s12:13, v3", "v4+4w v8+4 s12+2 v3+1");
    assert_uses("mma.m16n8k8.f16.f16.f16.f16 v2:3, v4:5, v6, v8:9", "v2+2w v4+2 v6+1 v8+2");
    assert_uses("mma.m16n8k32.s32.s8.u8.s32.satfinite v4:7, v8:11, v12:13, vz, v1",
                "v4+4w v8+4 v12+2 v1+1");
    assert_uses("ldmatrix.x2.trans v4:5, [v3+64]", "v4+2w v3+1");
    assert_uses("launch.kernel v1, v2:3, v4:5, v6:7", "v1+1w v2+2 v4+2 v6+2");
    assert_uses("@pt exit", "");
}

static void memory_rows_know_their_bytes_and_registers(void **state)
{
    static const struct {
        enum isa_op op;
        enum isa_mod mod;
        unsigned value, bytes, regs;
    } rows[] = {
        { ISA_LD_GLOBAL, ISA_MOD_SIZE, ISA_SIZE_S8, 1, 1 },
        { ISA_ST_LOCAL, ISA_MOD_SIZE, ISA_SIZE_U16, 2, 1 },
        { ISA_LD_CONST, ISA_MOD_SIZE, ISA_SIZE_B64, 8, 2 },
        { ISA_LD_SHARED, ISA_MOD_SIZE, ISA_SIZE_V4B32, 16, 4 },
        { ISA_LD_SHARED, ISA_MOD_SIZE, ISA_SIZE_V2B64, 16, 4 },
        { ISA_ATOM_GLOBAL, ISA_MOD_ATYPE, ISA_ATYPE_F64, 8, 2 },
        { ISA_RED_SHARED, ISA_MOD_ATYPE, ISA_ATYPE_F16X2, 4, 1 },
        { ISA_ATOM_GENERIC, ISA_MOD_ATYPE, ISA_ATYPE_B16, 2, 1 },
    };

    (void)state;
    for (size_t i = 0; i < LW_COUNT_OF(rows); i++) {
        struct isa_insn insn;

        isa_insn_init(&insn, rows[i].op);
        isa_mod_set(&insn, rows[i].mod, rows[i].value);
        assert_int_equal(isa_mem_bytes(&insn), rows[i].bytes);
        assert_int_equal(isa_mem_regs(&insn), rows[i].regs);
    }
}

static void special_registers_are_found_by_name(void **state)
{
    (void)state;
    assert_int_equal(isa_special_find("tid.x", 5), ISA_SR_TID_X);
    assert_int_equal(isa_special_find("clock64", 7), ISA_SR_CLOCK64);
    assert_int_equal(isa_special_find("clock6", 6), -1);
    assert_int_equal(isa_special_find("", 0), -1);
    assert_null(isa_special_info(ISA_SR_COUNT));
}

static void seeds_are_the_same_each_time_unless_set(void **state)
{
    char *given = getenv("LW_SEED") != NULL ? strdup(getenv("LW_SEED")) : NULL;

    (void)state;
    unsetenv("LW_SEED");
    assert_int_equal(prop_seed(), 1);
    assert_int_equal(prop_count(5, 1), getenv("LW_RANDOM_COUNT") != NULL || getenv("LW_RANDOM_DIVISOR") != NULL ? prop_count(5, 1) : 5);
    setenv("LW_SEED", "0x12", 1);
    assert_int_equal(prop_seed(), 18);
    assert_int_equal(prop_count(5, 18), 1);
    setenv("LW_SEED", "random", 1);
    assert_int_not_equal(prop_seed(), 0);
    assert_int_not_equal(prop_seed(), 1);
    unsetenv("LW_SEED");
    if (given != NULL)
        setenv("LW_SEED", given, 1);
    free(given);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_row_has_an_opcode_and_a_name_of_its_own),
        cmocka_unit_test(every_operand_column_fits),
        cmocka_unit_test(every_modifier_value_fits_its_group),
        cmocka_unit_test(fields_of_a_row_do_not_overlap),
        cmocka_unit_test(fields_of_every_row_lie_apart_in_the_word),
        cmocka_unit_test(random_words_set_no_bit_outside_the_fields_of_their_row),
        cmocka_unit_test(rows_that_nobody_executes_say_what_they_would_do),
        cmocka_unit_test(a_fresh_instruction_of_every_row_can_be_encoded),
        cmocka_unit_test(reserved_bits_and_unused_fields_are_refused),
        cmocka_unit_test(encode_names_the_field_that_does_not_fit),
        cmocka_unit_test(the_order_of_accesses_depends_on_space_operation_and_use),
        cmocka_unit_test(uses_name_every_register_that_is_read_or_written),
        cmocka_unit_test(memory_rows_know_their_bytes_and_registers),
        cmocka_unit_test(special_registers_are_found_by_name),
        cmocka_unit_test(seeds_are_the_same_each_time_unless_set),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
