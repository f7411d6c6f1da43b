/* SPDX-License-Identifier: Apache-2.0 */
/* Reads DWARF location expressions of debug sections, in the forms that clang and nvcc write, and converts addresses of module
 * variables to locations of the object. */
#include "ptx/debuginfo/ptx_debug_priv.h"

enum {
    OP_ADDR = 0x03, OP_CONST1U = 0x08, OP_CONST8S = 0x0f, OP_CONSTU = 0x10, OP_CONSTS = 0x11,
    OP_PLUS_UCONST = 0x23, OP_LIT0 = 0x30, OP_LIT31 = 0x4f, OP_REGX = 0x90, OP_STACK_VALUE = 0x9f
};

static bool leb_at(const struct ptx_section *section, uint32_t *at, uint32_t end, bool is_signed,
                   uint64_t *value)
{
    unsigned shift = 0;
    uint8_t byte;

    *value = 0;
    do {
        if (*at >= end || shift > 63)
            return false;
        byte = section->bytes.at[(*at)++];
        *value |= (uint64_t)(byte & 0x7f) << shift;
        shift += 7;
    } while (byte & 0x80);
    if (is_signed && (byte & 0x40) && shift < 64)
        *value |= ~UINT64_C(0) << shift;
    return true;
}

const char *ptx_debug_spelling(struct ptx_name name, char *room, size_t size)
{
    size_t n = 0;

    for (size_t i = 0; i < name.size; i++) {
        bool odd = name.text[i] == '.' || name.text[i] == '@';

        if (n + 4 > size)
            return NULL;
        memcpy(room + n, odd ? "_$_" : name.text + i, odd ? 3 : 1);
        n += odd ? 3 : 1;
    }
    room[n] = '\0';
    return room;
}

bool ptx_debug_read_location_expr(const struct ptx_section *section, uint32_t at, uint32_t size,
                         struct ptx_location_expr *expr)
{
    uint32_t end = at + size;
    uint64_t value = 0;
    unsigned op;

    memset(expr, 0, sizeof *expr);
    if (at >= end)
        return false;
    op = section->bytes.at[at++];
    if (op == OP_ADDR) {
        if (end - at < 8)
            return false;
        expr->address = ptx_debug_fixup(section, at);
        at += 8;
        if (expr->address == NULL || expr->address->minus.size != 0)
            return false;
        expr->offset = (uint64_t)expr->address->addend;
        if (at < end && section->bytes.at[at] == OP_PLUS_UCONST) {
            at++;
            if (!leb_at(section, &at, end, false, &value))
                return false;
            expr->offset += value;
        }
        return at == end;
    }
    if (op == OP_REGX) { /* the number of a register consists of the ASCII characters of its name, the first character in the
                          * highest byte */
        unsigned n = 0;

        if (!leb_at(section, &at, end, false, &value) || at != end)
            return false;
        for (int shift = 56; shift >= 0; shift -= 8) {
            char c = (char)(value >> shift);

            if (c != 0)
                expr->reg[n++] = c;
        }
        return n != 0;
    }
    if (op >= OP_LIT0 && op <= OP_LIT31) {
        expr->offset = op - OP_LIT0;
    } else if (op >= OP_CONST1U && op <= OP_CONST8S) {
        unsigned bytes = 1u << (op - OP_CONST1U) / 2;

        if (end - at < bytes)
            return false;
        expr->offset = ptx_debug_bytes(section, at, bytes);
        if ((op - OP_CONST1U) % 2 == 1 && bytes < 8 && expr->offset >> (8 * bytes - 1))
            expr->offset |= ~UINT64_C(0) << (8 * bytes);
        at += bytes;
    } else if (op == OP_CONSTU || op == OP_CONSTS) {
        if (!leb_at(section, &at, end, op == OP_CONSTS, &expr->offset))
            return false;
    } else {
        return false;
    }
    expr->constant = at + 1 == end && section->bytes.at[at] == OP_STACK_VALUE;
    return expr->constant;
}

bool ptx_debug_variable_location(const struct ptx_symbol *s, uint64_t offset, struct isa_var_location *location)
{
    if (s->external || (s->space != PTX_SP_GLOBAL && s->space != PTX_SP_CONST))
        return false;
    *location = (struct isa_var_location){ .kind = ISA_LOCATION_VARIABLE, .variable = s->variable,
                                 .value = offset };
    return true;
}

const struct ptx_symbol *ptx_debug_symbol(const struct ptx_module *module, const char *name)
{
    const size_t size = strlen(name);
    const uint32_t *own = ptx_map_find(&module->debug->current->variables, name, size), *shared;

    if (own != NULL)
        return &module->symbols.at[*own];
    shared = ptx_map_find(&module->linked, name, size); /* for a name that another module defines, too: its definition is used */
    if (shared == NULL || (*shared & 3) != PTX_NAME_SYMBOL || module->symbols.at[*shared >> 2].kind != PTX_SYM_VARIABLE)
        return NULL;
    return &module->symbols.at[*shared >> 2];
}

bool ptx_debug_module_location(const struct ptx_module *module, const struct ptx_value *value,
                            struct isa_var_location *location, bool *dynamic)
{
    const struct ptx_debug *debug = module->debug;
    char room[3 * PTX_NAME_BYTES];
    const struct ptx_symbol *s;
    const char *name;
    struct ptx_location_expr expr;

    if (value == NULL || value->kind != PTX_V_BLOCK ||
        !ptx_debug_read_location_expr(debug->info, value->at, value->size, &expr) || expr.address == NULL)
        return false;
    name = ptx_debug_spelling(expr.address->name, room, sizeof room);
    s = name != NULL ? ptx_debug_symbol(module, name) : NULL;
    if (s == NULL)
        return false;
    *dynamic = s->space == PTX_SP_SHARED && s->size_bytes == 0;
    if (*dynamic || (s->space == PTX_SP_SHARED && s->placed)) {
        *location = (struct isa_var_location){
            .value = ISA_SHARED_BASE + expr.offset + (*dynamic ? 0 : s->offset)
        };
        return true;
    }
    return ptx_debug_variable_location(s, expr.offset, location);
}
