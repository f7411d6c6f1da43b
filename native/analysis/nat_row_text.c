/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the semantics column of isa/insns.def: which kind of expression a row has, and its types. */
#include <string.h>

#include "native/nat_priv.h"

/** Returns the type named by the first @size bytes of @text, or -1. */
static int type_of_text(const char *text, size_t size)
{
    static const struct { const char *name; int type; } types[] = {
        {"u32", NAT_U32}, {"s32", NAT_S32}, {"u64", NAT_U64}, {"s64", NAT_S64}, {"f32", NAT_F32}, {"f64", NAT_F64}};

    for (size_t i = 0; i < LW_COUNT_OF(types); i++)
        if (size == 3 && memcmp(types[i].name, text, 3) == 0)
            return types[i].type;
    return -1;
}

bool nat_row_of(const struct isa_op_info *info, struct nat_row *row)
{
    static const struct {
        const char *name;
        enum nat_semantics semantics;
        uint8_t types;   /* number of type arguments in the text */
        uint8_t use[4];  /* indices of the type arguments that are the types of the result, a, b and c */
        bool scalar;
    } forms[] = {
        {"LANE1", NAT_SEM_LANE, 1, {0, 0, 0, 0}, false}, {"LANE", NAT_SEM_LANE, 1, {0, 0, 0, 0}, false},
        {"ROW1", NAT_SEM_FUNCTION, 1, {0, 0, 0, 0}, false},
        {"LANE3", NAT_SEM_LANE, 1, {0, 0, 0, 0}, false}, {"LANEX1", NAT_SEM_LANE, 2, {0, 1, 1, 1}, false},
        {"LANEX", NAT_SEM_LANE, 3, {0, 1, 2, 2}, false}, {"LANEX3", NAT_SEM_LANE, 4, {0, 1, 2, 3}, false},
        {"LANEW", NAT_SEM_WORDS, 0, {0, 0, 0, 0}, false}, {"LANEW3", NAT_SEM_WORDS, 0, {0, 0, 0, 0}, false},
        {"LANER", NAT_SEM_PICK, 1, {0, 0, 0, 0}, false}, {"COMPARE", NAT_SEM_COMPARE, 1, {0, 0, 0, 0}, false},
        {"SCALAR1", NAT_SEM_LANE, 1, {0, 0, 0, 0}, true}, {"SCALAR", NAT_SEM_LANE, 1, {0, 0, 0, 0}, true},
        {"SCALAR3", NAT_SEM_LANE, 1, {0, 0, 0, 0}, true}, {"SCALARX1", NAT_SEM_LANE, 2, {0, 1, 1, 1}, true},
        {"SCALARX", NAT_SEM_LANE, 3, {0, 1, 2, 2}, true}, {"SCALARR", NAT_SEM_PICK, 1, {0, 0, 0, 0}, true},
        {"SCALAR_COMPARE", NAT_SEM_COMPARE, 1, {0, 0, 0, 0}, true}};
    const char *at = info->semantics;
    size_t left = strlen(at);
    int type[4] = {NAT_U32, NAT_U32, NAT_U32, NAT_U32};

    if (left > 8 && memcmp(at, "SELDOM(", 7) == 0) {
        at += 7;
        left -= 8;
    }
    const char *open = memchr(at, '(', left);
    if (open == NULL)
        return false;
    for (size_t i = 0; i < LW_COUNT_OF(forms); i++) {
        if (strlen(forms[i].name) != (size_t)(open - at) || memcmp(forms[i].name, at, (size_t)(open - at)) != 0)
            continue;
        const char *text = open + 1, *end = at + left - 1;
        for (unsigned k = 0; k < forms[i].types; k++) {
            while (text < end && (*text == ' ' || *text == ','))
                text++;
            if (end - text < 3 || (type[k] = type_of_text(text, 3)) < 0)
                return false;
            text += 3;
        }
        while (text < end && (*text == ' ' || *text == ','))
            text++;
        const uint8_t *use = forms[i].use;
        *row = (struct nat_row){.semantics = forms[i].semantics, .type = (uint8_t)type[use[0]], .a = (uint8_t)type[use[1]],
                                .b = (uint8_t)type[use[2]], .c = (uint8_t)type[use[3]], .scalar = forms[i].scalar,
                                .text = text, .size = (size_t)(end - text)};
        return true;
    }
    return false;
}

bool nat_has_modifiers(const struct isa_insn *insn)
{
    switch (nat_info(insn)->format) {
    case ISA_FMT_FLT: return isa_mod_get(insn, ISA_MOD_RND) != 0;
    case ISA_FMT_MNM: return isa_mod_get(insn, ISA_MOD_MNAN) || isa_mod_get(insn, ISA_MOD_XORSIGN);
    default: return false;
    }
}
