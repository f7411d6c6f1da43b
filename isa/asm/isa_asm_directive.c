/* SPDX-License-Identifier: Apache-2.0 */
/* The directives of assembly (docs/reference/assembly.md), and the names that they define. */
#include <stdio.h>
#include <stdlib.h>

#include "isa/asm/isa_asm_priv.h"

/* ---- names of the program ------------------------------------------------------ */

struct asm_function *asm_current(struct asm_state *as)
{
    return as->in_function ? &as->functions[as->function_count - 1] : NULL;
}

bool asm_param_offset(struct asm_state *as, const char *name, uint32_t *offset)
{
    const struct name_slot *slot =
        name_map_get(&as->param_names, name, (uint32_t)as->function_count);

    if (!as->in_function || slot == NULL)
        return false;
    *offset = as->params[slot->value].offset;
    return true;
}

bool asm_shared_offset(struct asm_state *as, const char *name, uint32_t *offset)
{
    const struct name_slot *slot = name_map_get(&as->symbols, name, 0);

    if (slot == NULL || !(slot->value & ASM_VARIABLE))
        return false;

    const struct isa_variable *variable = &as->variables[slot->value & ~ASM_VARIABLE];

    if (variable->space != ISA_SPACE_SHARED)
        return false;
    *offset = variable->shared_offset;
    return true;
}

static enum lw_status define_symbol(struct asm_state *as, const char *name, uint32_t value)
{
    if (name_map_get(&as->symbols, name, 0) != NULL)
        return asm_fail(as, "%s is defined twice", name);
    return name_map_put(&as->symbols, name, 0, value) ? LW_OK : asm_no_memory(as);
}

enum lw_status asm_define_label(struct asm_state *as, const char *name)
{
    uint32_t scope = as->in_function ? (uint32_t)as->function_count : 0;

    if (name_map_get(&as->labels, name, scope) != NULL)
        return asm_fail(as, "the label %s is defined twice", name);
    return name_map_put(&as->labels, name, scope, (uint32_t)as->text_count) ? LW_OK
                                                                            : asm_no_memory(as);
}

/* ---- directives for functions ------------------------------------------------------ */

static enum lw_status need_function(struct asm_state *as, const char *directive, bool kernel)
{
    if (!as->in_function)
        return asm_fail(as, "%s is allowed only between .kernel%s and .end", directive,
                        kernel ? "" : " or .func");
    if (kernel && !asm_current(as)->out.kernel)
        return asm_fail(as, "%s is allowed only in a kernel, not in a .func", directive);
    return LW_OK;
}

static enum lw_status begin_function(struct asm_state *as, struct cursor *c, bool kernel)
{
    struct asm_function *function;
    const char *name;
    enum lw_status status;

    if (as->in_function)
        return asm_fail(as, "the function %s is not closed: add .end first",
                        asm_current(as)->out.name);
    name = cursor_name(as, c, NULL);
    if (name == NULL)
        return as->status;
    status = define_symbol(as, name, (uint32_t)as->function_count);
    if (status != LW_OK)
        return status;
    function = ASM_PUSH(as->functions, as->function_count, as->function_capacity);
    if (function == NULL)
        return asm_no_memory(as);
    function->out.name = name;
    function->out.first = (uint32_t)as->text_count;
    function->out.kernel = kernel;
    function->out.line = as->line; /* the line of .kernel or .func, unless .decl gives another line */
    function->param_first = as->param_count;
    function->shared_next = as->module_shared;
    as->in_function = true;
    return LW_OK;
}

static enum lw_status end_function(struct asm_state *as)
{
    struct asm_function *function = asm_current(as);
    struct isa_function *out;

    if (function == NULL)
        return asm_fail(as, "there is no .kernel or .func before .end");
    out = &function->out;
    out->count = (uint32_t)as->text_count - out->first;
    out->param_count = (unsigned)(as->param_count - function->param_first);
    if (out->count == 0)
        return asm_fail(as, "%s has no instructions", out->name);
    if (out->kernel && function->shared_given && out->shared_bytes < function->shared_next &&
        function->shared_next > as->module_shared)
        return asm_fail(as, "%s: .shared reserves %u bytes, but the kernel's variables need %u",
                        out->name, out->shared_bytes, function->shared_next);
    if (out->kernel && !function->shared_given)
        out->shared_bytes = function->shared_next;
    as->in_function = false;
    return LW_OK;
}

/* ---- directives for parameters -------------------------------------------------------- */

static const struct {
    const char *name;
    uint8_t bytes, kind; /* enum isa_param_kind */
} value_types[] = {
    { "u8", 1, ISA_PARAM_INTEGER },  { "s8", 1, ISA_PARAM_INTEGER },  { "b8", 1, ISA_PARAM_VALUE },
    { "u16", 2, ISA_PARAM_INTEGER }, { "s16", 2, ISA_PARAM_INTEGER }, { "b16", 2, ISA_PARAM_VALUE },
    { "u32", 4, ISA_PARAM_INTEGER }, { "s32", 4, ISA_PARAM_INTEGER }, { "b32", 4, ISA_PARAM_VALUE },
    { "u64", 8, ISA_PARAM_INTEGER }, { "s64", 8, ISA_PARAM_INTEGER }, { "b64", 8, ISA_PARAM_VALUE },
    { "f32", 4, ISA_PARAM_FLOAT },   { "f64", 8, ISA_PARAM_FLOAT },   { "f16", 2, ISA_PARAM_VALUE },
};

static enum lw_status parse_param_type(struct asm_state *as, struct cursor *c,
                                       struct isa_param *out)
{
    int64_t value;

    if (cursor_take(c, "ptr")) {
        out->kind = ISA_PARAM_POINTER;
        out->size_bytes = 8;
        if (!cursor_take(c, "."))
            return LW_OK;
        for (unsigned space = 0; space < ISA_SPACE_COUNT; space++) {
            if (cursor_word(c, isa_space_name((enum isa_space)space))) {
                out->space = (uint8_t)space;
                return LW_OK;
            }
        }
        return asm_fail(as, ".param: expected ptr, ptr.global, ptr.shared, ptr.local or "
                            "ptr.const");
    }
    if (cursor_word(c, "bytes")) {
        enum lw_status status = cursor_int(as, c, "the size", 1, ISA_CONST_BANK_BYTES, &value);

        out->size_bytes = status == LW_OK ? (uint32_t)value : 0;
        out->align = 1;
        return status;
    }
    for (size_t i = 0; i < LW_COUNT_OF(value_types); i++) {
        if (cursor_word(c, value_types[i].name)) {
            out->size_bytes = value_types[i].bytes;
            out->kind = value_types[i].kind;
            return LW_OK;
        }
    }
    return asm_fail(as, ".param: expected a type such as u32, f32, u64, bytes N or ptr.global, "
                        "found '%.20s'", c->p);
}

/* Parses .param TYPE NAME [size=N] [align=N] [offset=N]. */
static enum lw_status directive_param(struct asm_state *as, struct cursor *c)
{
    struct isa_param param = { 0 }, *slot;
    struct asm_function *function;
    enum lw_status status = need_function(as, ".param", true);
    int64_t offset = -1, value;

    if (status == LW_OK)
        status = parse_param_type(as, c, &param);
    if (status != LW_OK)
        return status;
    param.name = cursor_name(as, c, NULL);
    if (param.name == NULL)
        return as->status;
    while (status == LW_OK && !cursor_end(c)) {
        if (cursor_take(c, "size=")) {
            status = cursor_int(as, c, "the size", 1, ISA_CONST_BANK_BYTES, &value);
            if (status == LW_OK)
                param.size_bytes = (uint32_t)value;
            if (param.kind != ISA_PARAM_POINTER) /* with size=, the type of a parameter that is no pointer is unknown */
                param.kind = ISA_PARAM_VALUE;
        } else if (cursor_take(c, "align=")) {
            status = cursor_int(as, c, "the alignment", 1, 4096, &value);
            if (status == LW_OK)
                param.align = (uint32_t)value;
        } else if (cursor_take(c, "offset=")) {
            status = cursor_int(as, c, "the offset", 0, ISA_CONST_BANK_BYTES - 1, &offset);
        } else {
            return asm_fail(as, ".param: expected size=, align= or offset=, found '%.20s'", c->p);
        }
    }
    if (status != LW_OK)
        return status;
    if (param.align == 0)
        param.align = param.size_bytes;
    if ((param.align & (param.align - 1)) != 0)
        return asm_fail(as, ".param %s: the alignment %u is not a power of two", param.name,
                        param.align);
    function = asm_current(as);
    if (name_map_get(&as->param_names, param.name, (uint32_t)as->function_count) != NULL)
        return asm_fail(as, "the parameter %s is defined twice", param.name);
    param.offset = offset >= 0 ? (uint32_t)offset
                               : (function->out.param_bytes + param.align - 1) &
                                     ~(param.align - 1);
    if (param.offset + param.size_bytes > ISA_CONST_BANK_BYTES)
        return asm_fail(as, ".param %s: the parameters need more than %d bytes", param.name,
                        ISA_CONST_BANK_BYTES);
    if (!function->params_given && param.offset + param.size_bytes > function->out.param_bytes)
        function->out.param_bytes = param.offset + param.size_bytes;
    if (param.offset + param.size_bytes > function->out.param_bytes)
        return asm_fail(as, ".param %s: the parameter ends after the %u bytes that .parambytes reserves", param.name,
                        function->out.param_bytes);
    slot = ASM_PUSH(as->params, as->param_count, as->param_capacity);
    if (slot == NULL ||
        !name_map_put(&as->param_names, param.name, (uint32_t)as->function_count,
                      (uint32_t)as->param_count - 1))
        return asm_no_memory(as);
    *slot = param;
    return LW_OK;
}

/* ---- directives for properties of kernels ------------------------------------------------ */

static enum lw_status directive_regs(struct asm_state *as, struct cursor *c)
{
    struct asm_function *function = asm_current(as);
    enum lw_status status = need_function(as, ".regs", true);

    if (status == LW_OK)
        function->regs_given = true;
    while (status == LW_OK && !cursor_end(c)) {
        static const struct {
            const char *text;
            int64_t limit;
        } files[] = { { "v=", ISA_VREG_COUNT }, { "s=", ISA_SREG_COUNT },
                      { "b=", ISA_BREG_COUNT } };
        uint16_t *const counts[] = { &function->out.vreg_count, &function->out.sreg_count,
                                     &function->out.breg_count };
        size_t i = 0;
        int64_t value;

        while (i < LW_COUNT_OF(files) && !cursor_take(c, files[i].text))
            i++;
        if (i == LW_COUNT_OF(files))
            return asm_fail(as, ".regs: expected v=N, s=N or b=N, found '%.20s'", c->p);
        status = cursor_int(as, c, "the register count", 0, files[i].limit, &value);
        if (status == LW_OK)
            *counts[i] = (uint16_t)value;
        cursor_take(c, ",");
    }
    return status;
}

static enum lw_status kernel_number(struct asm_state *as, struct cursor *c, const char *directive,
                                    int64_t high, uint32_t *out)
{
    enum lw_status status = need_function(as, directive, true);
    int64_t value = 0;

    if (status == LW_OK)
        status = cursor_int(as, c, directive, 0, high, &value);
    if (status == LW_OK)
        *out = (uint32_t)value;
    return status;
}

static enum lw_status directive_reqblock(struct asm_state *as, struct cursor *c)
{
    enum lw_status status = need_function(as, ".reqblock", true);

    for (unsigned i = 0; i < 3 && status == LW_OK; i++) {
        int64_t value = 1;

        if (i == 0 || !cursor_end(c))
            status = cursor_int(as, c, ".reqblock", 0, UINT32_MAX, &value);
        cursor_take(c, ",");
        if (status == LW_OK)
            asm_current(as)->out.required_block[i] = (uint32_t)value;
    }
    return status;
}

static enum lw_status directive_decl(struct asm_state *as, struct cursor *c)
{
    enum lw_status status = need_function(as, ".decl", false);
    int64_t file = 0, line = 0;

    if (status == LW_OK)
        status = cursor_int(as, c, "the file", 0, (int64_t)as->file_count - 1, &file);
    if (status == LW_OK)
        status = cursor_int(as, c, "the line", 0, UINT32_MAX, &line);
    if (status == LW_OK) {
        asm_current(as)->decl_given = true;
        asm_current(as)->out.file = (uint16_t)file;
        asm_current(as)->out.line = (uint32_t)line;
        as->own_lines = false;
    }
    return status;
}

/* ---- directives for variables --------------------------------------------------------------- */

enum lw_status asm_flush_init(struct asm_state *as)
{
    struct isa_variable *variable;
    uint8_t *bytes;

    if (as->init.size == 0)
        return LW_OK;
    variable = &as->variables[as->variable_count - 1];
    if (variable->size_bytes > ISA_MAX_INIT_BYTES)
        return asm_fail(as, "%s: a variable with initial values has at most %d bytes",
                        variable->name, ISA_MAX_INIT_BYTES);
    bytes = lw_arena_alloc(&as->object->arena, variable->size_bytes);
    if (bytes == NULL)
        return asm_no_memory(as);
    memcpy(bytes, as->init.bytes, as->init.size);
    variable->init = bytes;
    as->init.size = 0;
    return LW_OK;
}

static enum lw_status put_int(struct asm_state *as, struct cursor *c, struct asm_init *init,
                              unsigned bytes, bool is_signed)
{
    struct number n;
    enum lw_status status = cursor_number(as, c, &n);
    uint64_t value;
    bool fits;

    if (status != LW_OK)
        return status;
    if (n.kind != NUMBER_INT)
        return asm_fail(as, "expected an integer");
    value = n.negative ? 0 - n.magnitude : n.magnitude;
    if (n.negative)
        fits = n.magnitude <= UINT64_C(1) << (8 * bytes - 1);
    else
        fits = bytes == 8 || n.magnitude <= lw_mask(8 * bytes);
    if (!fits || (n.negative && !is_signed && n.magnitude != 0))
        return asm_fail(as, "the value %s%llu does not fit its type", n.negative ? "-" : "",
                        (unsigned long long)n.magnitude);
    return asm_init_put(init, &value, bytes) ? LW_OK : asm_no_memory(as);
}

static enum lw_status put_float(struct asm_state *as, struct cursor *c, struct asm_init *init,
                                unsigned bytes)
{
    struct number n;
    enum lw_status status = cursor_number(as, c, &n);

    if (status != LW_OK)
        return status;

    float single = number_f32(&n);
    double wide = number_f64(&n);

    if (n.kind == (bytes == 4 ? NUMBER_BITS64 : NUMBER_BITS32))
        return asm_fail(as, "the hexadecimal digits of the float do not match the size of the type: use 0f with 8 digits "
                            "for f32, 0d with 16 digits for f64");
    if (n.kind == NUMBER_BITS32 || n.kind == NUMBER_BITS64)
        return asm_init_put(init, &n.magnitude, bytes) ? LW_OK : asm_no_memory(as);
    return asm_init_put(init, bytes == 4 ? (void *)&single : (void *)&wide, bytes)
               ? LW_OK
               : asm_no_memory(as);
}

static enum lw_status put_hex(struct asm_state *as, struct cursor *c, struct asm_init *init)
{
    cursor_space(c);

    const char *start = c->p;

    for (; *c->p != '\0' && strchr("0123456789abcdefABCDEF", *c->p) != NULL; c->p += 2) {
        char pair[3] = { c->p[0], c->p[1], '\0' };
        uint8_t byte;

        if (pair[1] == '\0' || strchr("0123456789abcdefABCDEF", pair[1]) == NULL)
            return asm_fail(as, "each hex byte needs two digits");
        byte = (uint8_t)strtoul(pair, NULL, 16);
        if (!asm_init_put(init, &byte, 1))
            return asm_no_memory(as);
    }
    return c->p == start ? asm_fail(as, "expected hex bytes, found '%.20s'", c->p) : LW_OK;
}

/* Parses addr NAME[+N], which stands for eight bytes that the loader sets. */
static enum lw_status put_address(struct asm_state *as, struct cursor *c, struct asm_init *init)
{
    static const uint8_t zero[8];
    struct pending_reloc reloc = { 0 }, *slot;
    enum lw_status status;

    reloc.name = cursor_name(as, c, NULL);
    if (reloc.name == NULL)
        return as->status;
    status = cursor_addend(as, c, &reloc.reloc.addend);
    if (status != LW_OK)
        return status;
    reloc.reloc.insn = UINT32_MAX;
    reloc.reloc.in = (uint32_t)as->variable_count - 1;
    reloc.reloc.offset = (uint32_t)init->size;
    reloc.line = as->line;
    slot = ASM_PUSH(as->relocs, as->reloc_count, as->reloc_capacity);
    if (slot == NULL || !asm_init_put(init, zero, sizeof zero))
        return asm_no_memory(as);
    *slot = reloc;
    return LW_OK;
}

enum value_kind { VALUE_NONE, VALUE_HEX, VALUE_STRING, VALUE_ADDRESS, VALUE_INT, VALUE_FLOAT };
struct value_type {
    enum value_kind kind;
    unsigned bytes;
    bool is_signed;
};

/* Parses a type at the cursor, if there is a type. If there is no type, the type of the preceding value is used again. */
static void take_value_type(struct cursor *c, bool addresses, struct value_type *type)
{
    if (cursor_word(c, "hex")) {
        type->kind = VALUE_HEX;
    } else if (cursor_word(c, "str")) {
        type->kind = VALUE_STRING;
    } else if (addresses && cursor_word(c, "addr")) {
        type->kind = VALUE_ADDRESS;
    } else {
        for (size_t i = 0; i < LW_COUNT_OF(value_types); i++) {
            const char *name = value_types[i].name;

            if (!cursor_word(c, name))
                continue;
            type->bytes = value_types[i].bytes;
            type->is_signed = name[0] == 's';
            type->kind = name[0] == 'f' && type->bytes >= 4 ? VALUE_FLOAT : VALUE_INT;
            return;
        }
    }
}

/* Parses values with types, such as u32 1, 2, f32 1.5, and appends their bytes to @init. */
static enum lw_status parse_values(struct asm_state *as, struct cursor *c, struct asm_init *init,
                                   bool addresses)
{
    struct value_type type = { VALUE_NONE, 0, false };

    do {
        enum lw_status status = LW_OK;

        take_value_type(c, addresses, &type);
        switch (type.kind) {
        case VALUE_NONE:
            status = asm_fail(as, "expected values such as u32 1, 2 or f32 1.5 or str \"text\" "
                                  "or hex 00ff, found '%.20s'", c->p);
            break;
        case VALUE_HEX:
            status = put_hex(as, c, init);
            break;
        case VALUE_STRING:
            status = cursor_string(as, c, init);
            break;
        case VALUE_ADDRESS:
            status = put_address(as, c, init);
            break;
        case VALUE_INT:
            status = put_int(as, c, init, type.bytes, type.is_signed);
            break;
        case VALUE_FLOAT:
            status = put_float(as, c, init, type.bytes);
            break;
        }
        if (status != LW_OK)
            return status;
    } while (cursor_take(c, ","));
    return LW_OK;
}

static enum lw_status parse_init(struct asm_state *as, struct cursor *c)
{
    enum lw_status status;
    const struct isa_variable *variable;

    if (as->variable_count == 0 ||
        as->variables[as->variable_count - 1].space == ISA_SPACE_SHARED)
        return asm_fail(as, "initial values are allowed only after a .global or .const variable");
    status = parse_values(as, c, &as->init, true);
    variable = &as->variables[as->variable_count - 1];
    if (status == LW_OK && as->init.size > variable->size_bytes)
        return asm_fail(as, "the initial values are larger than the %llu bytes of %s",
                        (unsigned long long)variable->size_bytes, variable->name);
    return status;
}

/* Parses NAME BYTES [ALIGN] [managed], and defines the variable. */
static enum lw_status parse_variable(struct asm_state *as, struct cursor *c, enum isa_space space,
                                     int64_t limit)
{
    struct isa_variable variable = { .space = (uint8_t)space }, *slot;
    int64_t value;
    enum lw_status status = asm_flush_init(as);

    if (status != LW_OK)
        return status;
    variable.name = cursor_name(as, c, NULL);
    if (variable.name == NULL)
        return as->status;
    status = cursor_int(as, c, "the size", 0, limit, &value);
    if (status != LW_OK)
        return status;
    variable.size_bytes = (uint64_t)value;
    variable.align = value >= 16 ? 16 : value >= 8 ? 8 : 4;
    if (cursor_at_number(c)) {
        status = cursor_int(as, c, "the alignment", 1, 4096, &value);
        if (status != LW_OK)
            return status;
        variable.align = (uint32_t)value;
    }
    if ((variable.align & (variable.align - 1)) != 0)
        return asm_fail(as, "%s: the alignment %u is not a power of two", variable.name,
                        variable.align);
    variable.managed = space == ISA_SPACE_GLOBAL && cursor_take(c, "managed");
    status = define_symbol(as, variable.name, (uint32_t)as->variable_count | ASM_VARIABLE);
    if (status != LW_OK)
        return status;
    slot = ASM_PUSH(as->variables, as->variable_count, as->variable_capacity);
    if (slot == NULL)
        return asm_no_memory(as);
    *slot = variable;
    return LW_OK;
}

static enum lw_status directive_global(struct asm_state *as, struct cursor *c,
                                       enum isa_space space)
{
    enum lw_status status = parse_variable(as, c, space, INT64_C(1) << 40);

    if (status == LW_OK && cursor_take(c, "="))
        status = parse_init(as, c);
    return status;
}

/* Parses .shared BYTES, or .shared NAME BYTES [ALIGN] [OFFSET]. */
static enum lw_status directive_shared(struct asm_state *as, struct cursor *c)
{
    enum lw_status status;
    uint32_t *next = as->in_function ? &asm_current(as)->shared_next : &as->module_shared;
    struct isa_variable *variable;
    int64_t offset;

    if (cursor_at_number(c)) {
        status = kernel_number(as, c, ".shared", INT32_MAX, as->in_function
                               ? &asm_current(as)->out.shared_bytes : NULL);
        if (status == LW_OK)
            asm_current(as)->shared_given = true;
        return status;
    }
    status = parse_variable(as, c, ISA_SPACE_SHARED, INT32_MAX);
    if (status != LW_OK)
        return status;
    variable = &as->variables[as->variable_count - 1];
    offset = ((int64_t)*next + variable->align - 1) & ~(int64_t)(variable->align - 1);
    if (cursor_at_number(c)) {
        status = cursor_int(as, c, "the offset", 0, INT32_MAX, &offset);
        if (status != LW_OK)
            return status;
    }
    if (offset + (int64_t)variable->size_bytes > INT32_MAX)
        return asm_fail(as, "%s: the variable ends after the first 2 GiB of shared memory, which is the limit", variable->name);
    variable->shared_offset = (uint32_t)offset;
    if ((uint32_t)offset + (uint32_t)variable->size_bytes > *next)
        *next = (uint32_t)offset + (uint32_t)variable->size_bytes;
    return LW_OK;
}

static enum lw_status directive_bank(struct asm_state *as, struct cursor *c)
{
    enum lw_status status = parse_values(as, c, &as->bank, false);

    if (status == LW_OK && as->bank.size > ISA_CONST_BANK_BYTES)
        return asm_fail(as, ".bank: the values do not fit into the constant bank, which has %d bytes", ISA_CONST_BANK_BYTES);
    return status;
}

/* ---- directives for source files and lines ----------------------------------------------------- */

static const char *parse_text(struct asm_state *as, struct cursor *c)
{
    struct asm_init bytes = { 0 };
    const char *text = NULL;

    if (cursor_string(as, c, &bytes) == LW_OK) {
        if (bytes.size == 0 || bytes.size > ISA_NAME_BYTES ||
            memchr(bytes.bytes, 0, bytes.size) != NULL) {
            asm_fail(as, "the text must have 1 to %d characters and no zero byte", ISA_NAME_BYTES);
        } else {
            text = lw_arena_strndup(&as->object->arena, (const char *)bytes.bytes, bytes.size);
            if (text == NULL)
                asm_no_memory(as);
        }
    }
    free(bytes.bytes);
    return text;
}

static enum lw_status directive_file(struct asm_state *as, struct cursor *c)
{
    int64_t number = 0;
    const char **slot;
    enum lw_status status = cursor_int(as, c, "the file number", 1, 65534, &number);

    if (status != LW_OK)
        return status;
    if ((size_t)number != as->file_count)
        return asm_fail(as, ".file %lld: file numbers must be in order: the next is %zu", (long long)number,
                        as->file_count);
    slot = (const char **)ASM_PUSH(as->files, as->file_count, as->file_capacity);
    if (slot == NULL)
        return asm_no_memory(as);
    as->own_lines = false;
    *slot = parse_text(as, c);
    return *slot != NULL ? LW_OK : as->status;
}

/* Parses .loc FILE LINE [COLUMN] [nostmt] [prologue_end]. */
static enum lw_status directive_loc(struct asm_state *as, struct cursor *c)
{
    int64_t file = 0, line = 0, column = 0;
    struct isa_line *row;
    enum lw_status status = cursor_int(as, c, "the file", 0, (int64_t)as->file_count - 1, &file);

    if (status == LW_OK && file == 0)
        return asm_fail(as, ".loc: file 0 does not exist; declare .file 1 \"name\" first");
    if (status == LW_OK)
        status = cursor_int(as, c, "the line", 0, UINT32_MAX, &line);
    if (status == LW_OK && cursor_at_number(c))
        status = cursor_int(as, c, "the column", 0, UINT16_MAX, &column);
    if (status != LW_OK)
        return status;
    row = ASM_PUSH(as->rows, as->row_count, as->row_capacity);
    if (row == NULL)
        return asm_no_memory(as);
    row->insn = (uint32_t)as->text_count;
    row->file = (uint16_t)file;
    row->line = (uint32_t)line;
    row->column = (uint16_t)column;
    row->is_stmt = !cursor_word(c, "nostmt");
    row->prologue_end = cursor_word(c, "prologue_end");
    as->own_lines = false;
    return LW_OK;
}

/* ---- the table of directives -------------------------------------------------------------------- */

enum directive_id {
    DIR_KERNEL, DIR_FUNC, DIR_END, DIR_PARAM, DIR_PARAMBYTES, DIR_SHARED, DIR_LOCAL, DIR_REGS,
    DIR_MAXTHREADS, DIR_REQBLOCK, DIR_NEEDSWARP, DIR_DYNSHARED, DIR_DECL, DIR_GLOBAL, DIR_CONST, DIR_INIT,
    DIR_BANK, DIR_FILE, DIR_LOC, DIR_NOLINES, DIR_PRODUCER, DIR_COMPDIR, DIR_COUNT
};
static const char *const directive_names[DIR_COUNT] = {
    [DIR_KERNEL] = ".kernel",         [DIR_FUNC] = ".func",
    [DIR_END] = ".end",               [DIR_PARAM] = ".param",
    [DIR_PARAMBYTES] = ".parambytes", [DIR_SHARED] = ".shared",
    [DIR_LOCAL] = ".local",           [DIR_REGS] = ".regs",
    [DIR_MAXTHREADS] = ".maxthreads", [DIR_REQBLOCK] = ".reqblock",
    [DIR_NEEDSWARP] = ".needswarp",   [DIR_DYNSHARED] = ".dynshared",
    [DIR_DECL] = ".decl",             [DIR_GLOBAL] = ".global",
    [DIR_CONST] = ".const",           [DIR_INIT] = ".init",
    [DIR_BANK] = ".bank",             [DIR_FILE] = ".file",
    [DIR_LOC] = ".loc",               [DIR_NOLINES] = ".nolines",
    [DIR_PRODUCER] = ".producer",     [DIR_COMPDIR] = ".compdir",
};

static enum lw_status run_id(struct asm_state *as, unsigned id, struct cursor *c)
{
    struct asm_function *function = asm_current(as);
    uint32_t *const none = NULL;
    uint32_t warp = 0;
    enum lw_status status;

    switch ((enum directive_id)id) {
    case DIR_KERNEL:
    case DIR_FUNC:
        return begin_function(as, c, id == DIR_KERNEL);
    case DIR_END:
        return end_function(as);
    case DIR_PARAM:
        return directive_param(as, c);
    case DIR_PARAMBYTES:
        status = kernel_number(as, c, ".parambytes", ISA_CONST_BANK_BYTES,
                               function ? &function->out.param_bytes : none);
        if (status == LW_OK && as->param_count != function->param_first)
            return asm_fail(as, ".parambytes must be before the parameters");
        if (status == LW_OK)
            function->params_given = true;
        return status;
    case DIR_SHARED:
        return directive_shared(as, c);
    case DIR_LOCAL:
        return kernel_number(as, c, ".local", INT32_MAX,
                             function ? &function->out.local_bytes : none);
    case DIR_REGS:
        return directive_regs(as, c);
    case DIR_MAXTHREADS:
        return kernel_number(as, c, ".maxthreads", UINT32_MAX,
                             function ? &function->out.max_threads : none);
    case DIR_REQBLOCK:
        return directive_reqblock(as, c);
    case DIR_NEEDSWARP:
        status = kernel_number(as, c, ".needswarp", 32, &warp);
        if (status == LW_OK && warp != 32)
            return asm_fail(as, ".needswarp: only 32 is supported");
        if (status == LW_OK)
            function->out.needs_warp = (uint8_t)warp;
        return status;
    case DIR_DYNSHARED:
        if (function == NULL || !function->out.kernel)
            return asm_fail(as, ".dynshared is allowed only between .kernel and .end");
        function->out.dynamic_shared = true;
        return LW_OK;
    case DIR_DECL:
        return directive_decl(as, c);
    case DIR_GLOBAL:
        return directive_global(as, c, ISA_SPACE_GLOBAL);
    case DIR_CONST:
        return directive_global(as, c, ISA_SPACE_CONST);
    case DIR_INIT:
        return parse_init(as, c);
    case DIR_BANK:
        return directive_bank(as, c);
    case DIR_FILE:
        return directive_file(as, c);
    case DIR_LOC:
        return directive_loc(as, c);
    case DIR_NOLINES:
        as->own_lines = false;
        return LW_OK;
    case DIR_PRODUCER:
        as->producer_given = true;
        if (cursor_take(c, "\"\""))
            return LW_OK; /* .producer "" states that the object has no producer */
        as->object->producer = parse_text(as, c);
        return as->object->producer != NULL ? LW_OK : as->status;
    case DIR_COMPDIR:
        as->object->comp_dir = parse_text(as, c);
        return as->object->comp_dir != NULL ? LW_OK : as->status;
    case DIR_COUNT:
        break;
    }
    return LW_OK;
}

enum lw_status asm_directive(struct asm_state *as, struct cursor *c)
{
    const char *near;
    char name[64];

    for (unsigned id = 0; id < DIR_COUNT; id++) {
        if (cursor_word(c, directive_names[id])) {
            enum lw_status status = run_id(as, id, c);

            return status == LW_OK ? cursor_finish(as, c) : status;
        }
    }
    snprintf(name, sizeof name, "%.*s", (int)strcspn(c->p, " \t\r"), c->p);
    near = lw_suggest(name, directive_names, DIR_COUNT, sizeof directive_names[0]);
    return asm_fail(as, "%s: unknown directive%s%s%s", name,
                    near ? " (did you mean " : "",
                    near ? near : ": docs/reference/assembly.md lists the directives", near ? "?)" : "");
}
