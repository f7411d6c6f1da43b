/* SPDX-License-Identifier: Apache-2.0 */
/* Programs in an intermediate language: SPIR-V modules and their specialization constants. */
#include "runtime/opencl/cl_priv.h"

#include <stdlib.h>
#include <string.h>

/* Facts of the SPIR-V specification. */
enum {
    MAGIC = 0x07230203, HEADER_WORDS = 5,
    OP_TYPE_BOOL = 20, OP_TYPE_INT = 21, OP_TYPE_FLOAT = 22, OP_SPEC_CONSTANT_TRUE = 48, OP_SPEC_CONSTANT_FALSE = 49,
    OP_SPEC_CONSTANT = 50, OP_DECORATE = 71, DECORATION_SPEC_ID = 1
};
enum { MOST_CONSTANTS = 64 }; /* with one specialization id: for each of them, the whole module is searched */
/* llvm-spirv 15 also reads modules of version 1.4, and crashes at some of the instructions that are new in this version. */
static const cl_name_version versions[] = {
    {CL_MAKE_VERSION(1, 0, 0), "SPIR-V"}, {CL_MAKE_VERSION(1, 1, 0), "SPIR-V"}, {CL_MAKE_VERSION(1, 2, 0), "SPIR-V"},
    {CL_MAKE_VERSION(1, 3, 0), "SPIR-V"}};
static const char version_names[] = "SPIR-V_1.3 SPIR-V_1.2 SPIR-V_1.1 SPIR-V_1.0";

cl_int cl_il_answer_names(size_t room, void *out, size_t *size)
{
    return cl_answer_text(rt_has_spirv() ? version_names : "", room, out, size);
}

cl_int cl_il_answer_versions(size_t room, void *out, size_t *size)
{
    return cl_answer(versions, rt_has_spirv() ? sizeof versions : 0, room, out, size);
}

/* ---- words ----------------------------------------------------------------------------------------------------- */

/** A module, whose words may be in the byte order of another host. */
struct module {
    uint8_t *bytes;
    size_t count; /* number of words */
    bool swapped;
};

static uint32_t word(const struct module *m, size_t at)
{
    uint32_t value;

    memcpy(&value, m->bytes + at * sizeof value, sizeof value);
    return m->swapped ? __builtin_bswap32(value) : value;
}

static void set_word(const struct module *m, size_t at, uint32_t value)
{
    value = m->swapped ? __builtin_bswap32(value) : value;
    memcpy(m->bytes + at * sizeof value, &value, sizeof value);
}

/** Returns true if the bytes begin like a module. */
static bool open_module(struct module *m, void *bytes, size_t size)
{
    *m = (struct module){.bytes = bytes, .count = size / sizeof(uint32_t)};
    if (m->count < HEADER_WORDS || size % sizeof(uint32_t) != 0)
        return false;
    m->swapped = word(m, 0) != MAGIC;
    return word(m, 0) == MAGIC;
}

/** Returns true if the device supports the module's version. */
static bool is_supported(const struct module *m)
{
    for (size_t i = 0; i < sizeof versions / sizeof *versions; i++)
        if (word(m, 1) == (CL_VERSION_MAJOR(versions[i].version) << 16 | CL_VERSION_MINOR(versions[i].version) << 8))
            return true;
    return false;
}

/** Returns the size in words of the instruction at @at, or 0 after the last whole instruction. */
static size_t instruction_words(const struct module *m, size_t at)
{
    const size_t words = at < m->count ? word(m, at) >> 16 : 0;

    return words <= m->count - at ? words : 0;
}

static unsigned opcode(const struct module *m, size_t at)
{
    return word(m, at) & 0xffff;
}

/* ---- specialization constants ------------------------------------------------------------------------------------ */

/** Returns the size of scalars of the type @type in bytes, or 0 if there is no such type. */
static size_t type_bytes(const struct module *m, uint32_t type)
{
    size_t words;

    for (size_t at = HEADER_WORDS; (words = instruction_words(m, at)) != 0; at += words) {
        const unsigned op = opcode(m, at);

        if (words >= 2 && word(m, at + 1) == type && op == OP_TYPE_BOOL)
            return 1;
        if (words >= 3 && word(m, at + 1) == type && (op == OP_TYPE_INT || op == OP_TYPE_FLOAT))
            return word(m, at + 2) / 8;
    }
    return 0;
}

/** Returns the position of the constant with the result id @id, or 0 if there is none. *@bytes: the size of its value. */
static size_t find_constant(const struct module *m, uint32_t id, size_t *bytes)
{
    size_t words;

    for (size_t at = HEADER_WORDS; (words = instruction_words(m, at)) != 0; at += words) {
        const unsigned op = opcode(m, at);

        if ((op != OP_SPEC_CONSTANT && op != OP_SPEC_CONSTANT_TRUE && op != OP_SPEC_CONSTANT_FALSE) || words < 3 ||
            word(m, at + 2) != id)
            continue;
        *bytes = op == OP_SPEC_CONSTANT ? type_bytes(m, word(m, at + 1)) : 1;
        return *bytes != 0 && *bytes <= 8 && (op != OP_SPEC_CONSTANT || words == 3 + (*bytes + 3) / 4) ? at : 0;
    }
    return 0;
}

/** Writes a value to each constant with the specialization id @spec, or only counts these constants if @value is NULL. Returns
 *  CL_INVALID_SPEC_ID if there is no such constant, and CL_INVALID_VALUE if one has another size. */
static cl_int specialize(const struct module *m, uint32_t spec, size_t bytes, const void *value)
{
    cl_int error = CL_INVALID_SPEC_ID;
    unsigned count = 0;
    size_t words;

    for (size_t at = HEADER_WORDS; (words = instruction_words(m, at)) != 0 && count < MOST_CONSTANTS; at += words) {
        size_t constant, wanted = 0;
        uint32_t low = 0, high = 0;

        if (opcode(m, at) != OP_DECORATE || words != 4 || word(m, at + 2) != DECORATION_SPEC_ID || word(m, at + 3) != spec)
            continue;
        count++;
        if ((constant = find_constant(m, word(m, at + 1), &wanted)) == 0)
            continue;
        if (bytes != wanted)
            return CL_INVALID_VALUE;
        error = CL_SUCCESS;
        if (value == NULL)
            continue;
        memcpy(&low, value, bytes < 4 ? bytes : 4);
        if (bytes > 4)
            memcpy(&high, (const uint8_t *)value + 4, bytes - 4);
        if (opcode(m, constant) != OP_SPEC_CONSTANT) {
            set_word(m, constant, (word(m, constant) & 0xffff0000u) |
                                      (low != 0 ? OP_SPEC_CONSTANT_TRUE : OP_SPEC_CONSTANT_FALSE));
        } else {
            set_word(m, constant + 3, low);
            if (bytes > 4)
                set_word(m, constant + 4, high);
        }
    }
    return error;
}

void *cl_il_specialized(const struct _cl_program *program)
{
    void *copy = malloc(program->il_bytes);
    struct module m;

    if (copy == NULL)
        return NULL;
    memcpy(copy, program->il, program->il_bytes);
    if (open_module(&m, copy, program->il_bytes))
        for (unsigned i = 0; i < program->value_count; i++)
            (void)specialize(&m, program->values[i].id, program->values[i].bytes, program->values[i].value);
    return copy;
}

cl_int CL_API_CALL clSetProgramSpecializationConstant(cl_program program, cl_uint id, size_t bytes, const void *value)
{
    cl_int error = CL_INVALID_PROGRAM;
    struct cl_il_value *values;
    struct module m;

    rt_lock();
    if (cl_object_is(program, CL_KIND_PROGRAM))
        error = !rt_has_spirv()   ? CL_INVALID_OPERATION
                : program->il == NULL   ? CL_INVALID_PROGRAM
                : value == NULL         ? CL_INVALID_VALUE
                : open_module(&m, program->il, program->il_bytes) ? specialize(&m, id, bytes, NULL)
                                                                  : CL_INVALID_PROGRAM;
    if (error == CL_SUCCESS) {
        unsigned i = 0;

        while (i < program->value_count && program->values[i].id != id)
            i++;
        values = i == program->value_count ? realloc(program->values, (i + 1u) * sizeof *values) : program->values;
        if (values != NULL) {
            program->values = values;
            program->value_count += i == program->value_count;
            values[i] = (struct cl_il_value){.id = id, .bytes = bytes};
            memcpy(values[i].value, value, bytes);
        } else {
            error = CL_OUT_OF_HOST_MEMORY;
        }
    }
    rt_unlock();
    return error;
}

/* ---- programs -------------------------------------------------------------------------------------------------- */

cl_program CL_API_CALL clCreateProgramWithIL(cl_context context, const void *il, size_t bytes, cl_int *error)
{
    struct _cl_program *program = NULL;
    struct module m;
    cl_int result;
    void *copy = il != NULL && bytes != 0 ? malloc(bytes) : NULL;

    if (copy != NULL)
        memcpy(copy, il, bytes);
    rt_lock();
    if (!cl_object_is(context, CL_KIND_CONTEXT))
        result = CL_INVALID_CONTEXT;
    else if (!rt_has_spirv())
        result = CL_INVALID_OPERATION;
    else if (il == NULL || bytes == 0)
        result = CL_INVALID_VALUE;
    else if (copy == NULL)
        result = CL_OUT_OF_HOST_MEMORY;
    else if (!open_module(&m, copy, bytes) || !is_supported(&m))
        result = CL_INVALID_VALUE;
    else
        program = cl_program_create(context, &result);
    if (program != NULL) {
        program->il = copy;
        program->il_bytes = bytes;
        copy = NULL;
    }
    rt_unlock();
    free(copy);
    cl_put_error(error, result);
    return program;
}
