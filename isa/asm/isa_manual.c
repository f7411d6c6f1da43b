/* SPDX-License-Identifier: Apache-2.0 */
/* Prints the instruction manual (docs/reference/isa.md), in Markdown, from the instruction table. */
#include "isa/isa_priv.h"

#include <string.h>

static const struct {
    const char *title, *text;
} formats[ISA_FMT_COUNT] = {
    [ISA_FMT_ALU] = { "Integers, moves, special registers, scalar unit",
                      "An instruction of the scalar unit executes once for a warp and ignores `exec`." },
    [ISA_FMT_FLT] = { "Floats", "A NaN result is the canonical NaN." },
    [ISA_FMT_FUN] = { "Functions of floats", "The result is rounded to nearest even; docs/reference/fp.md states the error bounds." },
    [ISA_FMT_MNM] = { "Minimum and maximum of floats",
                      "If one operand is a NaN, the result is the other operand. -0 is less than +0." },
    [ISA_FMT_HLF] = { "16-bit floats", "Results are rounded to nearest even. A source is in bits 15:0 of its register; bits "
                                       "31:16 of a result are zero. `x2` instructions compute on both halves of a register." },
    [ISA_FMT_CMP] = { "Comparisons", "A comparison writes a cmp b to predicate P and the complement to predicate Q, both combined with predicate R." },
    [ISA_FMT_CVT] = { "Conversions", "A conversion is written `v_cvt.TO.FROM`: the type of the result precedes the type of the source." },
    [ISA_FMT_LUT] = { "Three-input logic", "" },
    [ISA_FMT_PRM] = { "Byte permutation", "" },
    [ISA_FMT_PLUT] = { "Predicate logic", "" },
    [ISA_FMT_MEM] = { "Loads and stores", "" },
    [ISA_FMT_ATOM] = { "Atomics and reductions",
                       "`.add`, `.min` and `.max` require a number type; `.inc` and `.dec` require `.u32` or `.u64`; `.and`, `.or` "
                       "and `.xor` require an integer or bit type. `.cas` accepts every type but floats. For 16-bit types only `.exch`, "
                       "`.cas` and the float operations exist." },
    [ISA_FMT_WARP] = { "Cross-lane operations", "" },
    [ISA_FMT_CTRL] = { "Control flow, barriers, system", "" },
    [ISA_FMT_BAR] = { "CTA barriers", "The suffix of a barrier is the fence flag of OpenCL C's `barrier`. Only the race checker reads the suffix." },
    [ISA_FMT_FNC] = { "Fences", "" },
    [ISA_FMT_TEX] = { "Texture fetches", "" },
    [ISA_FMT_TLD] = { "Texture gathers", "" },
    [ISA_FMT_MMA] = { "Matrix multiplication",
                      "Each lane holds a part of the four matrices, as PTX lays them out." },
    [ISA_FMT_SMEM] = { "Scalar loads", "A scalar load executes once for a warp and writes aligned scalar registers. "
                                       "Scalar loads are intended for read-only memory, but may load from any memory." },
    [ISA_FMT_LDM] = { "Matrix loads", "" },
};

/* Prints text in a table cell. A | is escaped, because it would end the cell. */
static void put_part(const char *text, size_t length, struct lw_sink *out)
{
    for (; length-- != 0; text++) {
        if (*text == '|')
            lw_put(out, "\\|");
        else
            out->write(out, text, 1);
    }
}

static void put_cell(const char *text, struct lw_sink *out)
{
    put_part(text, strlen(text), out);
}

/* Prints the semantics column of an instruction. SELDOM() is left out, because it only determines how handlers are compiled. */
static void put_semantics(const char *text, struct lw_sink *out)
{
    static const char rare[] = "SELDOM(";
    size_t skip = strncmp(text, rare, strlen(rare)) == 0 ? strlen(rare) : 0;

    put_part(text + skip, strlen(text) - skip - (skip != 0), out);
}

static const char *order_name(enum isa_order order)
{
    static const char *const names[] = {
        [ISA_ORDER_NONE] = "",
        [ISA_ORDER_COMMUTES] = "commutes",
        [ISA_ORDER_BLOCK] = "observes (block)",
        [ISA_ORDER_GRID] = "observes (grid)",
        [ISA_ORDER_ACCESS] = "by access",
    };

    return names[order];
}

/* Prints the properties of an instruction: its order, with the names of MACHINE 4, and its flags. */
static void put_properties(const struct isa_op_info *info, struct lw_sink *out)
{
    static const struct {
        unsigned flag;
        const char *name;
    } flags[] = {
        { ISA_F_WHOLE, "whole" },   { ISA_F_SCALAR, "scalar" }, { ISA_F_BRANCH, "branch" },
        { ISA_F_BARRIER, "barrier" }, { ISA_F_CROSS, "cross-lane" }, { ISA_F_SYNC, "sync" },
        { ISA_F_CALL, "call" },     { ISA_F_WARP32, "warp32" }, { ISA_F_ENDS, "ends" },
    };
    const char *separator = info->order == ISA_ORDER_NONE ? "" : ", ";

    lw_put(out, order_name(info->order));
    for (size_t i = 0; i < LW_COUNT_OF(flags); i++) {
        if (info->flags & flags[i].flag) {
            lw_printf(out, "%s%s", separator, flags[i].name);
            separator = ", ";
        }
    }
    if (!(info->flags & ISA_F_NOSRCMOD))
        lw_printf(out, "%s%s", separator, info->flags & ISA_F_FLOAT ? "neg/abs" : "neg/not");
}

static void put_operands(const struct isa_op_info *info, struct lw_sink *out)
{
    for (unsigned i = 0; i < info->operands.count; i++)
        lw_printf(out, "%s%s", i == 0 ? "" : ", ", isa_token_info(info->operands.tok[i])->name);
}

static void put_mods(unsigned format, struct lw_sink *out)
{
    bool any = false;

    for (unsigned mod = 0; mod < ISA_MOD_COUNT; mod++) {
        const struct isa_mod_info *group = isa_mod_info(mod);

        if (!(group->formats >> format & 1))
            continue;
        if (!any)
            lw_put(out, "| modifier | bits | values from 0 (default in brackets) | meaning |\n"
                        "|---|---|---|---|\n");
        any = true;
        lw_printf(out, "| %s | %u:%u |", group->name, group->lsb + group->bits - 1u, group->lsb);
        for (unsigned i = 0; i < group->value_count; i++) {
            const struct isa_mod_value *value = &group->values[i];
            bool is_default = (int)value->value == group->deflt;

            if (group->deflt == MOD_HIDDEN)
                lw_printf(out, " %u", value->value);
            else if (*value->suffix == '\0')
                lw_put(out, " [none]");
            else
                lw_printf(out, is_default ? " [`.%s`]" : " `.%s`", value->suffix);
            if (group->deflt != MOD_HIDDEN && value->value != (i == 0 ? 0 : value[-1].value + 1))
                lw_printf(out, " = %u", value->value);
            if (i + 1 != group->value_count)
                lw_put(out, ",");
        }
        lw_put(out, " | ");
        put_cell(group->summary, out);
        lw_put(out, " |\n");
    }
    if (any)
        lw_put(out, "\n");
}

static void put_format(unsigned format, struct lw_sink *out)
{
    lw_printf(out, "## %s\n\n", formats[format].title);
    if (*formats[format].text != '\0')
        lw_printf(out, "%s\n\n", formats[format].text);
    put_mods(format, out);
    lw_put(out, "| instruction | operands | opcode | unit | properties | semantics |\n"
                "|---|---|---|---|---|---|\n");
    for (unsigned op = 1; op < ISA_OP_COUNT; op++) {
        const struct isa_op_info *info = isa_op_info((enum isa_op)op);

        if (info->format != format)
            continue;
        lw_printf(out, "| `%s` | ", info->mnemonic);
        put_operands(info, out);
        lw_printf(out, " | 0x%03x | %s | ", info->opcode, isa_unit_name(info->unit));
        put_properties(info, out);
        lw_put(out, " | `");
        put_semantics(info->semantics, out);
        lw_put(out, "` |\n");
    }
    lw_put(out, "\n");
}

static void put_specials(struct lw_sink *out)
{
    lw_put(out, "## Special registers\n\n"
                "The instructions `v_s2r`, `v_s2r_b64` and `s_s2r` read special registers.\n\n"
                "| name | bits | equal in a warp | order | meaning |\n|---|---|---|---|---|\n");
    for (unsigned sr = 0; sr < ISA_SR_COUNT; sr++) {
        const struct isa_special_info *info = isa_special_info((enum isa_special)sr);

        lw_printf(out, "| `%%%s` | %u | %s | %s | ", info->name, info->width,
                  info->uniform ? "yes" : "no", order_name(info->order));
        put_cell(info->summary, out);
        lw_put(out, " |\n");
    }
}

void isa_manual_print(struct lw_sink *out)
{
    lw_put(out,
           "<!-- SPDX-License-Identifier: Apache-2.0 -->\n"
           "# The instruction set\n\n"
           "After this page you can read and encode every instruction. [assembly](assembly.md) describes the syntax,\n"
           "[object](object.md) describes the object file. `make golden T=tests/isa/test_isa_manual` generates this page from the tables in `isa/`.\n\n"
           "## Registers\n\n"
           "| name | registers |\n|---|---|\n"
           "| `v0`..`v254`, `vz` | vector registers with 32 bits for each lane. `vz` reads as zero and ignores writes |\n"
           "| `v2:3`, `v4:7` | a pair holds a 64-bit value, with the low word in the first register, which is even. A tuple of four registers begins at a multiple of four |\n"
           "| `s0`..`s125`, `sz` | scalar registers of the warp, with 32 bits each. `s4:5` is a pair |\n"
           "| `exec` | scalar pair 126:127 (`exec_lo`, `exec_hi`) with a bit for each lane. "
           "Vector instructions have an effect only in lanes whose bit is 1 |\n"
           "| `p0`..`p6`, `pt` | predicates, with one bit for each lane. `pt` is always true |\n"
           "| `sp0`..`sp6`, `spt` | scalar predicates of the warp. `spt` is always true |\n"
           "| `b0`..`b15` | convergence barrier registers |\n\n"
           "## The instruction word\n\n"
           "An instruction has 128 bits, in little-endian order. Fields that an instruction does not use must be zero. "
           "The decoder\nrefuses all other words.\n\n"
           "| bits | field | bits | field |\n|---|---|---|---|\n"
           "| 5:0 | opcode low, 0x01..0x3f | 29:28 | X kind: 0 vector, 1 scalar, 2 constant, "
           "3 immediate |\n"
           "| 7:6 | zero | 30 | variant, whose meaning depends on the operands: X is the third source and C the second; "
           "C is a scalar base or a clamp register; the instruction has a barrier or a count; `.soft` |\n"
           "| 11:8 | opcode high | 31 | zero |\n"
           "| 14:12, 15 | guard, negate | 63:32 | X: register 39:32, or imm32, or constant offset "
           "47:32 and bank 52:48 |\n"
           "| 23:16 | D (barrier register 19:16) | 71:64, 79:72 | C, A |\n"
           "| 24, 25, 26 | 1: the guard, A or C is scalar | 85:80 | neg/abs or neg/not of A, X, C |\n"
           "| 27 | zero | 88:86, 91:89, 95:92 | predicates P, Q written (7: none), R read with "
           "negate |\n"
           "| | | 107:96, 127:108 | modifiers; control field, from its lowest bit: stall count (4 bits), yield (1), "
           "write barrier (3), read barrier (3), wait mask (6), reuse (3) |\n\n"
           "Memory instructions have a signed 24-bit offset in bits 63:40, and modifiers in bits 85:80 and 107:89.\n"
           "Cross-lane instructions have the clamp in bits 45:40, the segment in bits 51:46, and the register of the\n"
           "member mask in bits 63:56 (255: all lanes). A branch target is a signed number of instructions, counted from\n"
           "the next instruction. The barrier numbers of the control field are stored inverted, so that 0 means no barrier.\n\n"
           "## Operands\n\n"
           "| token | operand |\n|---|---|\n");
    for (unsigned tok = 0; tok < ISA_TOKEN_COUNT; tok++) {
        lw_printf(out, "| %s | ", isa_token_info(tok)->name);
        put_cell(isa_token_info(tok)->summary, out);
        lw_put(out, " |\n");
    }
    lw_put(out,
           "\nIn the column *semantics* a, b and c are the first, second and third source in the order of the operands, d "
           "the result, and r the lane's\nbit of predicate R. A `LANE` instruction computes the expression in every lane, "
           "and a `SCALAR` instruction computes it once.\n`ROW1` computes its function of b in every lane. `LANEW` and `LANEW3` have two expressions, for the low and "
           "the high word of a 64-bit result. In these expressions al and\nah are the low and the high word of a, likewise bl, bh, "
           "cl and ch, and lo is the low word of the result.\n`COMPARE` writes predicates. `LOAD`, `STORE`, `ATOMIC` and "
           "`REDUCE` name the address space, and `FETCH` the space of the texels.\n`CALL` and `CONTROL` name a function of the "
           "emulator. The assembler accepts `REFUSED` instructions, but a loader refuses them.\n\n"
           "The column *properties* lists the modifiers that the sources may have: *neg/abs* or *neg/not*.\n"
           "[machine](machine.md) defines *commutes*, *observes*, *by access*, *whole*, *sync* and *warp32*. The property "
           "*scalar* means that\nthe instruction executes once for the warp and ignores `exec`, *branch* that it may set the pc, "
           "*barrier* that it may block\nor release lanes, and *cross-lane* that it reads registers of other lanes. The property *ends* means that\n"
           "execution never continues after the instruction if it has no guard.\n\n");
    for (unsigned format = 0; format < ISA_FMT_COUNT; format++)
        put_format(format, out);
    put_specials(out);
}
