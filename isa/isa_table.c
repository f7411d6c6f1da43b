/* SPDX-License-Identifier: Apache-2.0 */
/* The tables that are made from insns.def, mods.def, specials.def and tokens.def, and the functions that look up properties of
 * decoded instructions in them. */
#include "isa/isa_priv.h"

/* ---- rows ------------------------------------------------------------------ */

/* Turns tokens such as (VD, VA) into a struct isa_operands. Nine tokens make the count invalid. */
#define OPERANDS(...) OPERANDS_9(__VA_ARGS__, NONE, NONE, NONE, NONE, NONE, NONE, NONE, NONE, NONE)
#define OPERANDS_9(a, b, c, d, e, f, g, h, i, ...)                                         \
    { { ISA_TOK_##a, ISA_TOK_##b, ISA_TOK_##c, ISA_TOK_##d, ISA_TOK_##e, ISA_TOK_##f,      \
        ISA_TOK_##g, ISA_TOK_##h },                                                        \
      IS(a) + IS(b) + IS(c) + IS(d) + IS(e) + IS(f) + IS(g) + IS(h) + 99 * IS(i) }
#define IS(id) (ISA_TOK_##id != ISA_TOK_NONE)

static const struct isa_op_info op_infos[ISA_OP_COUNT] = {
#define INSN(id, mnemonic, format, opcode, unit, order, tag, flags, operands, semantics)  \
    [ISA_##id] = { #id,           mnemonic,           ISA_FMT_##format, opcode,           \
                   ISA_UNIT_##unit, ISA_ORDER_##order, ISA_TAG_##tag,   flags,            \
                   OPERANDS operands, #semantics },
#include "isa/insns.def"
};

static const uint16_t op_by_opcode[1024] = {
#define INSN(id, mnemonic, format, opcode, ...) [opcode] = ISA_##id,
#include "isa/insns.def"
};

/* Kind of memory access of an instruction, according to its semantics column. `refused` is for instructions that Lanewise does
 * not execute. Instructions with semantics that are not listed access no memory. */
struct access_row {
    uint8_t access, space;
    const char *refused;
};
static const struct access_row op_access[ISA_OP_COUNT] = {
#define LOAD(space) { ISA_ACCESS_LOAD, ISA_SPACE_##space, NULL }
#define STORE(space) { ISA_ACCESS_STORE, ISA_SPACE_##space, NULL }
#define ATOMIC(space) { ISA_ACCESS_ATOMIC, ISA_SPACE_##space, NULL }
#define REDUCE(space) { ISA_ACCESS_REDUCE, ISA_SPACE_##space, NULL }
#define FETCH(what) { ISA_ACCESS_LOAD, ISA_SPACE_GLOBAL, NULL }
#define NOWHERE(...) { ISA_ACCESS_NONE, ISA_SPACE_GENERIC, NULL }
#define REFUSED(what) { ISA_ACCESS_NONE, ISA_SPACE_GENERIC, what }
#define LANE1 NOWHERE
#define ROW1 NOWHERE
#define LANE NOWHERE
#define LANE3 NOWHERE
#define LANEX1 NOWHERE
#define LANEX NOWHERE
#define LANEX3 NOWHERE
#define LANEW NOWHERE
#define LANEW3 NOWHERE
#define LANER NOWHERE
#define COMPARE NOWHERE
#define SCALAR1 NOWHERE
#define SCALAR NOWHERE
#define SCALARX1 NOWHERE
#define SCALARX NOWHERE
#define SCALAR3 NOWHERE
#define SCALARR NOWHERE
#define SCALAR_COMPARE NOWHERE
#define SCALAR_LOAD NOWHERE
#define CALL NOWHERE
#define SELDOM NOWHERE
#define CONTROL NOWHERE
#define INSN(id, mnemonic, format, opcode, unit, order, tag, flags, operands, semantics)  \
    [ISA_##id] = semantics,
#include "isa/insns.def"
#undef LOAD
#undef STORE
#undef ATOMIC
#undef REDUCE
#undef FETCH
#undef LANE1
#undef ROW1
#undef LANE
#undef LANE3
#undef LANEX1
#undef LANEX
#undef LANEX3
#undef LANEW
#undef LANEW3
#undef LANER
#undef COMPARE
#undef SCALAR1
#undef SCALAR
#undef SCALARX1
#undef SCALARX
#undef SCALAR3
#undef SCALARR
#undef SCALAR_COMPARE
#undef SCALAR_LOAD
#undef CALL
#undef SELDOM
#undef CONTROL
#undef REFUSED
};

const struct isa_op_info *isa_op_info(enum isa_op op)
{
    return op > ISA_OP_NONE && op < ISA_OP_COUNT ? &op_infos[op] : NULL;
}

enum isa_op isa_op_by_opcode(unsigned opcode)
{
    return opcode < LW_COUNT_OF(op_by_opcode) ? (enum isa_op)op_by_opcode[opcode] : ISA_OP_NONE;
}

enum isa_op isa_op_find(const char *mnemonic, size_t size)
{
    for (unsigned op = 1; op < ISA_OP_COUNT; op++) {
        const char *name = op_infos[op].mnemonic;

        if (strncmp(name, mnemonic, size) == 0 && name[size] == '\0')
            return (enum isa_op)op;
    }
    return ISA_OP_NONE;
}

enum isa_access isa_op_access(enum isa_op op, enum isa_space *space)
{
    *space = (enum isa_space)op_access[op].space;
    return (enum isa_access)op_access[op].access;
}

const char *isa_op_refused(enum isa_op op)
{
    return (unsigned)op < ISA_OP_COUNT ? op_access[op].refused : NULL;
}

const char *isa_unit_name(enum isa_unit unit)
{
    static const char *const names[ISA_UNIT_COUNT] = {
        [ISA_UNIT_INT] = "int",   [ISA_UNIT_FP] = "fp",         [ISA_UNIT_DP] = "dp",
        [ISA_UNIT_SFU] = "sfu",   [ISA_UNIT_CVT] = "cvt",       [ISA_UNIT_MEM] = "mem",
        [ISA_UNIT_WARP] = "warp", [ISA_UNIT_SCALAR] = "scalar", [ISA_UNIT_CTRL] = "ctrl",
        [ISA_UNIT_SYNC] = "sync", [ISA_UNIT_TEX] = "tex",       [ISA_UNIT_MATRIX] = "matrix",
    };

    return (unsigned)unit < ISA_UNIT_COUNT ? names[unit] : "?";
}

const char *isa_space_name(enum isa_space space)
{
    static const char *const names[ISA_SPACE_COUNT] = {
        [ISA_SPACE_GENERIC] = "generic", [ISA_SPACE_GLOBAL] = "global",
        [ISA_SPACE_SHARED] = "shared",   [ISA_SPACE_LOCAL] = "local",
        [ISA_SPACE_CONST] = "const",
    };

    return (unsigned)space < ISA_SPACE_COUNT ? names[space] : "?";
}

/* ---- special registers ------------------------------------------------------ */

static const struct isa_special_info specials[ISA_SR_COUNT] = {
#define SPECIAL(id, name, width, uniform, order, summary)                                  \
    [ISA_SR_##id] = { name, width, uniform, ISA_ORDER_##order, summary },
#include "isa/specials.def"
};

const struct isa_special_info *isa_special_info(enum isa_special sr)
{
    return (unsigned)sr < ISA_SR_COUNT ? &specials[sr] : NULL;
}

int isa_special_find(const char *name, size_t size)
{
    for (unsigned sr = 0; sr < ISA_SR_COUNT; sr++) {
        if (strncmp(specials[sr].name, name, size) == 0 && specials[sr].name[size] == '\0')
            return (int)sr;
    }
    return -1;
}

/* ---- operand tokens ---------------------------------------------------------- */

static const struct isa_token tokens[] = {
#define TOKEN(id, name, kind, classes, count, flags, summary)                              \
    { name, ISA_TK_##kind, classes, ISA_##count, flags, summary },
#include "isa/tokens.def"
};

const struct isa_token *isa_token_info(unsigned tok)
{
    return &tokens[tok];
}

int isa_operands_find(const struct isa_operands *operands, enum isa_tok_kind kind)
{
    for (unsigned i = 0; i < operands->count; i++) {
        if (tokens[operands->tok[i]].kind == kind)
            return (int)i;
    }
    return -1;
}

static bool cvt_type_is_wide(unsigned type)
{
    return type == ISA_DT_U64 || type == ISA_DT_S64 || type == ISA_DT_F64;
}

/* Number of registers and of bytes, by access size (SIZE) and by type of an atomic (ATYPE). */
static const struct {
    uint8_t regs, bytes;
} size_info[] = {
    [ISA_SIZE_U8] = { 1, 1 },    [ISA_SIZE_S8] = { 1, 1 },    [ISA_SIZE_U16] = { 1, 2 },
    [ISA_SIZE_S16] = { 1, 2 },   [ISA_SIZE_B32] = { 1, 4 },   [ISA_SIZE_B64] = { 2, 8 },
    [ISA_SIZE_V2B32] = { 2, 8 }, [ISA_SIZE_V4B32] = { 4, 16 }, [ISA_SIZE_V2B64] = { 4, 16 },
}, atype_info[] = {
    [ISA_ATYPE_U32] = { 1, 4 },   [ISA_ATYPE_S32] = { 1, 4 },    [ISA_ATYPE_U64] = { 2, 8 },
    [ISA_ATYPE_S64] = { 2, 8 },   [ISA_ATYPE_B32] = { 1, 4 },    [ISA_ATYPE_B64] = { 2, 8 },
    [ISA_ATYPE_F32] = { 1, 4 },   [ISA_ATYPE_F64] = { 2, 8 },    [ISA_ATYPE_F16X2] = { 1, 4 },
    [ISA_ATYPE_BF16X2] = { 1, 4 }, [ISA_ATYPE_B16] = { 1, 2 },   [ISA_ATYPE_F16] = { 1, 2 },
    [ISA_ATYPE_BF16] = { 1, 2 },
};

/* Number of registers of a matrix multiply, by MFORM: for D and C, for A, and for B. */
static const struct {
    uint8_t d, a, b;
} form_info[] = {
    [ISA_MFORM_1688_F16] = { 2, 2, 1 },    [ISA_MFORM_1688_F32_F16] = { 4, 2, 1 },
    [ISA_MFORM_16816_F16] = { 2, 4, 2 },   [ISA_MFORM_16816_F32_F16] = { 4, 4, 2 },
    [ISA_MFORM_1688_BF16] = { 4, 2, 1 },   [ISA_MFORM_16816_BF16] = { 4, 4, 2 },
    [ISA_MFORM_1684_TF32] = { 4, 2, 1 },   [ISA_MFORM_1688_TF32] = { 4, 4, 2 },
    [ISA_MFORM_16816_U8U8] = { 4, 2, 1 },  [ISA_MFORM_16816_U8S8] = { 4, 2, 1 },
    [ISA_MFORM_16816_S8U8] = { 4, 2, 1 },  [ISA_MFORM_16816_S8S8] = { 4, 2, 1 },
    [ISA_MFORM_16832_U8U8] = { 4, 4, 2 },  [ISA_MFORM_16832_U8S8] = { 4, 4, 2 },
    [ISA_MFORM_16832_S8U8] = { 4, 4, 2 },  [ISA_MFORM_16832_S8S8] = { 4, 4, 2 },
    [ISA_MFORM_884_F64] = { 4, 2, 2 },
};

/* Number of registers for a texture's coordinates, and of its dimensions, by TGEOM or TGATHER. */
static const struct {
    uint8_t regs, dims;
} geom_info[] = {
    [ISA_TGEOM_1D] = { 1, 1 },   [ISA_TGEOM_2D] = { 2, 2 },    [ISA_TGEOM_3D] = { 4, 3 },
    [ISA_TGEOM_A1D] = { 2, 1 },  [ISA_TGEOM_A2D] = { 4, 2 },   [ISA_TGEOM_CUBE] = { 4, 3 },
    [ISA_TGEOM_ACUBE] = { 4, 3 }, [ISA_TGEOM_2DMS] = { 4, 2 }, [ISA_TGEOM_A2DMS] = { 4, 2 },
};

static unsigned mma_regs(const struct isa_insn *insn, enum isa_tok_count which)
{
    unsigned form = isa_mod_get(insn, ISA_MOD_MFORM);

    if (form >= LW_COUNT_OF(form_info))
        return 1;
    return which == ISA_NMATD   ? form_info[form].d
           : which == ISA_NMATA ? form_info[form].a
                                : form_info[form].b;
}

static unsigned texture_regs(const struct isa_insn *insn, enum isa_tok_count which)
{
    bool gather = isa_op_info(insn->op)->format == ISA_FMT_TLD;
    unsigned geom = isa_mod_get(insn, gather ? ISA_MOD_TGATHER : ISA_MOD_TGEOM), words = 0, regs;

    if (geom >= LW_COUNT_OF(geom_info))
        return 1;
    if (which == ISA_NCOORD)
        return geom_info[geom].regs;
    if (!gather) {
        unsigned lod = isa_mod_get(insn, ISA_MOD_TLOD);

        words = lod == ISA_TLOD_NONE ? 0 : lod == ISA_TLOD_GRAD ? 2u * geom_info[geom].dims : 1;
    }
    words += isa_mod_get(insn, ISA_MOD_TDC);
    for (regs = words != 0; regs < words;)
        regs *= 2; /* the number of registers of a tuple is 1, 2, 4 or 8 */
    return regs;
}

static unsigned cvt_regs(const struct isa_insn *insn, enum isa_mod mod)
{
    return cvt_type_is_wide(isa_mod_get(insn, mod)) ? 2 : 1;
}

unsigned isa_mem_bytes(const struct isa_insn *insn)
{
    const struct isa_op_info *info = isa_op_info(insn->op);

    if (info == NULL)
        return 0;
    if (info->format == ISA_FMT_MEM || info->format == ISA_FMT_SMEM) {
        unsigned size = isa_mod_get(insn, ISA_MOD_SIZE); /* modifier SSIZE has the same encoding as SIZE */
        return size < LW_COUNT_OF(size_info) ? size_info[size].bytes : 0;
    }
    if (info->format == ISA_FMT_ATOM) {
        unsigned type = isa_mod_get(insn, ISA_MOD_ATYPE);
        return type < LW_COUNT_OF(atype_info) ? atype_info[type].bytes : 0;
    }
    if (info->format == ISA_FMT_LDM)
        return 16; /* bytes of one row of a matrix */
    if (info->format == ISA_FMT_TEX)
        return 16; /* bytes of the largest texel */
    return 0;
}

unsigned isa_mem_regs(const struct isa_insn *insn)
{
    const struct isa_op_info *info = isa_op_info(insn->op);

    if (info == NULL)
        return 0;
    if (info->format == ISA_FMT_MEM || info->format == ISA_FMT_SMEM) {
        unsigned size = isa_mod_get(insn, ISA_MOD_SIZE); /* modifier SSIZE has the same encoding as SIZE */
        return size < LW_COUNT_OF(size_info) ? size_info[size].regs : 1;
    }
    if (info->format == ISA_FMT_ATOM) {
        unsigned type = isa_mod_get(insn, ISA_MOD_ATYPE);
        return type < LW_COUNT_OF(atype_info) ? atype_info[type].regs : 1;
    }
    if (info->format == ISA_FMT_LDM)
        return 1u << isa_mod_get(insn, ISA_MOD_MLDN);
    if (info->format == ISA_FMT_TEX)
        return 4; /* one register for each component of a texel */
    return 0;
}

unsigned isa_token_regs(unsigned tok, const struct isa_insn *insn)
{
    switch ((enum isa_tok_count)tokens[tok].count) {
    case ISA_N1:
        return 1;
    case ISA_N2:
        return 2;
    case ISA_N4:
        return 4;
    case ISA_NSIZE:
    case ISA_NATYPE:
    case ISA_NMLD:
        return isa_mem_regs(insn);
    case ISA_NHANDLE:
        return isa_mod_get(insn, ISA_MOD_TSAMP) == ISA_TSAMP_ON ? 4 : 2;
    case ISA_NCOORD:
    case ISA_NTEX:
        return texture_regs(insn, (enum isa_tok_count)tokens[tok].count);
    case ISA_NMATD:
    case ISA_NMATA:
    case ISA_NMATB:
        return mma_regs(insn, (enum isa_tok_count)tokens[tok].count);
    case ISA_NDTYPE:
        return cvt_regs(insn, ISA_MOD_DTYPE);
    case ISA_NSTYPE:
        return cvt_regs(insn, ISA_MOD_STYPE);
    }
    return 1;
}

bool isa_operands_swappable(const struct isa_operands *operands)
{
    return isa_operands_find(operands, ISA_TK_X) >= 0 &&
           isa_operands_find(operands, ISA_TK_C) >= 0;
}

unsigned isa_operand_regs(const struct isa_operands *operands, unsigned index,
                          const struct isa_insn *insn)
{
    unsigned tok = operands->tok[index];

    if (insn->variant && isa_operands_swappable(operands)) {
        if (tokens[tok].kind == ISA_TK_X)
            tok = operands->tok[isa_operands_find(operands, ISA_TK_C)];
        else if (tokens[tok].kind == ISA_TK_C)
            tok = operands->tok[isa_operands_find(operands, ISA_TK_X)];
    }
    return isa_token_regs(tok, insn);
}

/* In the text, source b precedes source c. Field X holds the source that field C cannot hold, which is a constant or immediate;
 * if both sources are registers, X holds the scalar one. The variant bit means that X holds c. The bit is therefore needed if c
 * is a constant or immediate, or if only c is scalar. */
bool isa_insn_natural_variant(const struct isa_insn *insn)
{
    if (insn->xkind == ISA_X_CONST || insn->xkind == ISA_X_IMM)
        return insn->variant;
    bool b_scalar = insn->variant ? insn->c_scalar : insn->xkind == ISA_X_SCALAR;
    bool c_scalar = insn->variant ? insn->xkind == ISA_X_SCALAR : insn->c_scalar;

    return c_scalar && !b_scalar;
}

/* ---- modifiers ---------------------------------------------------------------- */

#define MOD(id, ...) static const struct isa_mod_value mod_values_##id[] = {
#define VALUE(id, value, suffix) { #id, value, suffix },
#define MOD_END(id) };
#include "isa/mods.def"

static const struct isa_mod_info mod_infos[ISA_MOD_COUNT] = {
#define F(x) (1u << ISA_FMT_##x)
#define MOD(id, formats, lsb, bits, deflt, summary)                                        \
    [ISA_MOD_##id] = { #id,   formats, lsb, bits, deflt, summary, mod_values_##id,         \
                       LW_COUNT_OF(mod_values_##id) },
#define VALUE(id, value, suffix)
#include "isa/mods.def"
};

const struct isa_mod_info *isa_mod_info(enum isa_mod mod)
{
    return &mod_infos[mod];
}

bool isa_mod_applies(enum isa_mod mod, const struct isa_op_info *info)
{
    if (!(mod_infos[mod].formats >> info->format & 1))
        return false;
    if (mod == ISA_MOD_CONSTANT) /* only loads of global memory have this modifier group, for arrays in constant space, which are
                                  * in global memory. Scalar loads always use the constant cache */
        return info == &op_infos[ISA_LD_GLOBAL];
    if (mod_infos[mod].deflt != MOD_HIDDEN)
        return true;
    return isa_operands_find(&info->operands, ISA_TK_ADDR) >= 0; /* modifier groups without suffixes are parts of an address */
}

static void mod_put(struct isa_insn *insn, unsigned shift, unsigned bits, unsigned value)
{
    uint32_t mask = (uint32_t)lw_mask(bits) << shift;

    insn->mod = (insn->mod & ~mask) | (value << shift & mask);
}

unsigned isa_mod_get(const struct isa_insn *insn, enum isa_mod mod)
{
    const struct isa_mod_info *info = &mod_infos[mod];

    return insn->mod >> (info->lsb - 80) & (uint32_t)lw_mask(info->bits);
}

void isa_mod_set(struct isa_insn *insn, enum isa_mod mod, unsigned value)
{
    mod_put(insn, mod_infos[mod].lsb - 80u, mod_infos[mod].bits, value);
}

void isa_insn_set_p(struct isa_insn *insn, unsigned p)
{
    mod_put(insn, 6, 3, p);
}

void isa_insn_set_q(struct isa_insn *insn, unsigned q)
{
    mod_put(insn, 9, 3, q);
}

void isa_insn_set_r(struct isa_insn *insn, unsigned r, bool negate)
{
    mod_put(insn, 12, 4, (r & 7) | (negate ? 8u : 0));
}

void isa_insn_set_ra(struct isa_insn *insn, unsigned ra, bool negate)
{
    mod_put(insn, 16, 4, (ra & 7) | (negate ? 8u : 0));
}

void isa_insn_set_rb(struct isa_insn *insn, unsigned rb, bool negate)
{
    mod_put(insn, 20, 4, (rb & 7) | (negate ? 8u : 0));
}

void isa_insn_set_lut(struct isa_insn *insn, unsigned table)
{
    mod_put(insn, 16, 8, table);
}

void isa_insn_set_srcmod(struct isa_insn *insn, unsigned source, unsigned bits)
{
    mod_put(insn, 2 * source, 2, bits);
}

int isa_insn_bo(const struct isa_insn *insn)
{
    const struct isa_op_info *info = isa_op_info(insn->op);

    if (info == NULL || !insn->variant)
        return -1;
    if (isa_operands_find(&info->operands, ISA_TK_BOPT) < 0)
        return -1;
    return (isa_operands_find(&info->operands, ISA_TK_D) >= 0 ? insn->c : insn->d) & 15;
}

void isa_insn_set_bo(struct isa_insn *insn, unsigned barrier)
{
    const struct isa_op_info *info = isa_op_info(insn->op);

    if (info == NULL)
        return;
    insn->variant = true;
    if (isa_operands_find(&info->operands, ISA_TK_D) >= 0)
        insn->c = (uint8_t)(barrier & 15);
    else
        insn->d = (uint8_t)(barrier & 15);
}

void isa_insn_init(struct isa_insn *insn, enum isa_op op)
{
    const struct isa_op_info *info = isa_op_info(op);

    *insn = (struct isa_insn){ .op = (uint16_t)op, .guard = ISA_PT };
    insn->control.write_bar = 7;
    insn->control.read_bar = 7;
    if (info == NULL)
        return;

    for (unsigned i = 0; i < info->operands.count; i++) {
        switch ((enum isa_tok_kind)tokens[info->operands.tok[i]].kind) {
        case ISA_TK_P:
        case ISA_TK_SP:
            isa_insn_set_p(insn, ISA_PT);
            break;
        case ISA_TK_Q:
            isa_insn_set_q(insn, ISA_PT);
            break;
        case ISA_TK_R:
        case ISA_TK_RS:
            isa_insn_set_r(insn, ISA_PT, false);
            break;
        case ISA_TK_SADDR:
            insn->x |= ISA_SZ; /* there is no index register */
            break;
        case ISA_TK_RA:
            isa_insn_set_ra(insn, ISA_PT, false);
            break;
        case ISA_TK_RB:
            isa_insn_set_rb(insn, ISA_PT, false);
            break;
        case ISA_TK_MEMBER:
            insn->x |= 0xff000000u; /* all lanes are members */
            break;
        case ISA_TK_X:
            if (!(tokens[info->operands.tok[i]].classes & C_V))
                insn->xkind = ISA_X_SCALAR;
            break;
        default:
            break;
        }
    }
    for (unsigned mod = 0; mod < ISA_MOD_COUNT; mod++) {
        if (isa_mod_applies(mod, info) && mod_infos[mod].deflt > 0)
            isa_mod_set(insn, mod, (unsigned)mod_infos[mod].deflt);
        else if (isa_mod_applies(mod, info) && mod_infos[mod].values[0].value != 0)
            isa_mod_set(insn, mod, mod_infos[mod].values[0].value); /* the modifier group has no value 0 */
    }
    isa_insn_normalise(insn);
}

/* ---- order ---------------------------------------------------------------------- */

static bool atomic_is_commutative(const struct isa_insn *insn)
{
    unsigned type = isa_mod_get(insn, ISA_MOD_ATYPE);

    if (type == ISA_ATYPE_F32 || type == ISA_ATYPE_F64 || type == ISA_ATYPE_F16 ||
        type == ISA_ATYPE_F16X2 || type == ISA_ATYPE_BF16X2 || type == ISA_ATYPE_BF16)
        return false;
    unsigned order = isa_mod_get(insn, ISA_MOD_MORDER);

    if (order != ISA_MORDER_WEAK && order != ISA_MORDER_RELAXED)
        return false; /* acquire and release also order other accesses */
    switch (isa_mod_get(insn, ISA_MOD_AOP)) {
    case ISA_AOP_ADD:
    case ISA_AOP_MIN:
    case ISA_AOP_MAX:
    case ISA_AOP_AND:
    case ISA_AOP_OR:
    case ISA_AOP_XOR:
        return true;
    default:
        return false;
    }
}

enum isa_order isa_insn_order(const struct isa_insn *insn)
{
    const struct isa_op_info *info = isa_op_info(insn->op);
    enum isa_space space;

    if (info == NULL)
        return ISA_ORDER_NONE;
    if (info->order != ISA_ORDER_ACCESS) {
        if (isa_operands_find(&info->operands, ISA_TK_SPECIAL) >= 0 && insn->x < ISA_SR_COUNT &&
            specials[insn->x].order != ISA_ORDER_NONE)
            return specials[insn->x].order;
        return info->order;
    }
    enum isa_access access = isa_op_access(insn->op, &space);
    enum isa_order observes = space == ISA_SPACE_SHARED ? ISA_ORDER_BLOCK : ISA_ORDER_GRID;

    switch (access) {
    case ISA_ACCESS_LOAD:
    case ISA_ACCESS_STORE:
        if (space == ISA_SPACE_LOCAL || space == ISA_SPACE_CONST ||
            isa_mod_get(insn, ISA_MOD_MORDER) == ISA_MORDER_WEAK)
            return ISA_ORDER_NONE;
        return observes;
    case ISA_ACCESS_ATOMIC: /* an atomic whose result is dropped is a reduction */
        if (insn->d == ISA_VZ && atomic_is_commutative(insn))
            return ISA_ORDER_COMMUTES;
        return observes;
    case ISA_ACCESS_REDUCE:
        return atomic_is_commutative(insn) ? ISA_ORDER_COMMUTES : observes;
    case ISA_ACCESS_NONE:
        break;
    }
    return ISA_ORDER_NONE;
}

unsigned isa_insn_x_bytes(const struct isa_insn *insn)
{
    const struct isa_op_info *info = isa_op_info((enum isa_op)insn->op);
    int index;

    if (info == NULL)
        return 0;
    index = isa_operands_find(&info->operands, ISA_TK_X);
    return index < 0 ? 0 : 4 * isa_operand_regs(&info->operands, (unsigned)index, insn);
}

bool isa_insn_is_partial(const struct isa_insn *insn)
{
    const struct isa_op_info *info = isa_op_info((enum isa_op)insn->op);

    if (info == NULL || !(info->flags & ISA_F_PARTIAL))
        return false;
    if (insn->op == ISA_V_CVT) /* every integer is in the range of all float types except f16; a saturating conversion always has
                                * a defined result */
        return isa_mod_get(insn, ISA_MOD_CSAT) == 0 && (isa_mod_get(insn, ISA_MOD_STYPE) >= ISA_DT_F16 ||
                                                        isa_mod_get(insn, ISA_MOD_DTYPE) == ISA_DT_F16);
    if (info->flags & ISA_F_FLOAT || insn->xkind != ISA_X_IMM)
        return true;
    if (info->unit == ISA_UNIT_SFU) /* X is the divisor of a division, otherwise the shift amount */
        return insn->x == 0;
    return insn->x >= (isa_op_has(info, ISA_TOK_VD2) || isa_op_has(info, ISA_TOK_SD2) ? 64 : 32);
}

/* ---- flow ------------------------------------------------------------------------------ */

bool isa_insn_ends(const struct isa_insn *insn)
{
    const struct isa_op_info *info = isa_op_info((enum isa_op)insn->op);

    return insn->guard == ISA_PT && !insn->guard_neg && info != NULL &&
           (info->flags & ISA_F_ENDS) != 0;
}

bool isa_insn_target(const struct isa_insn *insn, uint32_t index, int64_t *target)
{
    const struct isa_op_info *info = isa_op_info((enum isa_op)insn->op);

    if (info == NULL || !(info->flags & ISA_F_CONTROL))
        return false;
    if (isa_operands_find(&info->operands, ISA_TK_TARGET) < 0)
        return false;
    *target = (int64_t)index + 1 + (int32_t)insn->x;
    return true;
}

bool isa_insn_jumps(const struct isa_insn *insn, uint32_t index, int64_t *target)
{
    const struct isa_op_info *info = isa_op_info((enum isa_op)insn->op);

    return info != NULL && (info->flags & (ISA_F_BRANCH | ISA_F_CALL)) == ISA_F_BRANCH &&
           isa_insn_target(insn, index, target);
}

bool isa_op_is_indirect(enum isa_op op)
{
    const struct isa_op_info *info = isa_op_info(op);

    return info != NULL && info->flags & ISA_F_BRANCH && isa_op_has(info, ISA_TOK_VA2);
}

/* ---- registers read and written ---------------------------------------------------- */

struct use_list {
    struct isa_reg_use *uses;
    unsigned count;
};

static void use_add(struct use_list *list, enum isa_reg_class reg_class, unsigned first,
                    unsigned count, bool written)
{
    if ((reg_class == ISA_REG_V && first == ISA_VZ) ||
        (reg_class == ISA_REG_S && first == ISA_SZ) ||
        ((reg_class == ISA_REG_P || reg_class == ISA_REG_SP) && first == ISA_PT) ||
        list->count == ISA_MAX_USES)
        return;
    list->uses[list->count++] = (struct isa_reg_use){ .reg_class = (uint8_t)reg_class,
                                                      .first = (uint8_t)first,
                                                      .count = (uint8_t)count,
                                                      .written = written };
}

static void use_x(struct use_list *list, const struct isa_insn *insn, unsigned regs)
{
    if (insn->xkind == ISA_X_VECTOR)
        use_add(list, ISA_REG_V, isa_x_reg(insn->x), regs, false);
    else if (insn->xkind == ISA_X_SCALAR)
        use_add(list, ISA_REG_S, isa_x_reg(insn->x), regs, false);
}

unsigned isa_insn_uses(const struct isa_insn *insn, struct isa_reg_use *uses)
{
    const struct isa_op_info *info = isa_op_info(insn->op);
    struct use_list list = { uses, 0 };

    if (info == NULL)
        return 0;
    use_add(&list, insn->guard_scalar ? ISA_REG_SP : ISA_REG_P, insn->guard, 1, false);
    for (unsigned i = 0; i < info->operands.count; i++) {
        const struct isa_token *token = &tokens[info->operands.tok[i]];
        unsigned regs = isa_operand_regs(&info->operands, i, insn);
        enum isa_reg_class a_class = insn->a_scalar ? ISA_REG_S : ISA_REG_V;
        enum isa_reg_class c_class = insn->c_scalar ? ISA_REG_S : ISA_REG_V;

        switch ((enum isa_tok_kind)token->kind) {
        case ISA_TK_D:
            use_add(&list, token->classes & C_S ? ISA_REG_S : ISA_REG_V, insn->d, regs, true);
            break;
        case ISA_TK_A:
            use_add(&list, a_class, insn->a, regs, false);
            break;
        case ISA_TK_X:
        case ISA_TK_XREG:
        case ISA_TK_CTABAR:
            use_x(&list, insn, regs);
            break;
        case ISA_TK_TEXARG:
            if (regs != 0)
                use_x(&list, insn, regs);
            break;
        case ISA_TK_LANE:
            use_x(&list, insn, regs);
            if (insn->variant)
                use_add(&list, c_class, insn->c, 1, false);
            break;
        case ISA_TK_C:
            use_add(&list, c_class, insn->c, regs, false);
            break;
        case ISA_TK_SWAP:
            if (isa_mod_get(insn, ISA_MOD_AOP) == ISA_AOP_CAS)
                use_add(&list, ISA_REG_V, insn->c, regs, false);
            break;
        case ISA_TK_COUNT:
            if (insn->variant)
                use_add(&list, ISA_REG_V, insn->c, 1, false);
            break;
        case ISA_TK_P:
            use_add(&list, ISA_REG_P, isa_insn_p(insn), 1, true);
            break;
        case ISA_TK_Q:
            use_add(&list, ISA_REG_P, isa_insn_q(insn), 1, true);
            break;
        case ISA_TK_SP:
            use_add(&list, ISA_REG_SP, isa_insn_p(insn), 1, true);
            break;
        case ISA_TK_R:
            use_add(&list, ISA_REG_P, isa_insn_r(insn), 1, false);
            break;
        case ISA_TK_RS:
            use_add(&list, ISA_REG_SP, isa_insn_r(insn), 1, false);
            break;
        case ISA_TK_RA:
            use_add(&list, ISA_REG_P, isa_insn_ra(insn), 1, false);
            break;
        case ISA_TK_RB:
            use_add(&list, ISA_REG_P, isa_insn_rb(insn), 1, false);
            break;
        case ISA_TK_ALLP:
            use_add(&list, token->classes & C_S ? ISA_REG_SP : ISA_REG_P, 0, ISA_PRED_COUNT,
                    token->flags & T_WRITE);
            break;
        case ISA_TK_ADDR: {
            unsigned mode = isa_mod_get(insn, ISA_MOD_AMODE);

            use_add(&list, ISA_REG_V, insn->a, mode == ISA_AMODE_PAIR ? 2 : 1, false);
            if (mode == ISA_AMODE_SU32 || mode == ISA_AMODE_SS32)
                use_add(&list, ISA_REG_S, insn->c, 2, false);
            break;
        }
        case ISA_TK_CADDR:
            use_add(&list, a_class, insn->a, 1, false);
            break;
        case ISA_TK_SADDR:
            use_add(&list, ISA_REG_S, insn->a, 2, false);
            use_add(&list, ISA_REG_S, isa_x_reg(insn->x), 1, false);
            break;
        case ISA_TK_BREG: /* bssy and bbreak only write the barrier register, and bsync reads and writes it. All three
                           * instructions count as reads and writes of the register */
            use_add(&list, ISA_REG_B, insn->d & 15, 1, false);
            use_add(&list, ISA_REG_B, insn->d & 15, 1, true);
            break;
        case ISA_TK_BOPT:
            if (insn->variant)
                use_add(&list, ISA_REG_B, (unsigned)isa_insn_bo(insn), 1, false);
            break;
        case ISA_TK_XBREG:
            use_add(&list, ISA_REG_B, insn->x & 15, 1, false);
            use_add(&list, ISA_REG_B, insn->x & 15, 1, true);
            break;
        case ISA_TK_MEMBER:
            use_add(&list, ISA_REG_V, isa_x_member(insn->x), 1, false);
            break;
        case ISA_TK_TARGET:
        case ISA_TK_IMM:
        case ISA_TK_SPECIAL:
        case ISA_TK_LUT:
        case ISA_TK_LUTX:
        case ISA_TK_DEPBAR:
        case ISA_TK_WAITCNT:
        case ISA_TK_SOFT:
        case ISA_TK_TEXEL:
            break;
        }
    }
    return list.count;
}

void isa_insn_example(struct isa_insn *insn, enum isa_op op)
{
    const struct isa_op_info *info = isa_op_info(op);

    isa_insn_init(insn, op);
    for (unsigned mod = 0; mod < ISA_MOD_COUNT; mod++) {
        if (isa_mod_applies((enum isa_mod)mod, info) && mod_infos[mod].deflt == -1)
            isa_mod_set(insn, (enum isa_mod)mod, mod_infos[mod].values[0].value);
    }
}
