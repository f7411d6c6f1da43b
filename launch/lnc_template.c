/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes a launch file for users to start from. The launch file launches each kernel of a program, with a buffer for each
 * pointer parameter and a number for each other parameter. Names and types are those of the source if the object has them.
 */
#include "launch/launch_priv.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>

enum { THREADS = 1024, BLOCK = 256, MOST_BYTES = 16 };

/* Encodings of base types in DWARF (DW_ATE_*). */
enum { ENCODING_BOOL = 2, ENCODING_FLOAT = 4, ENCODING_SIGNED = 5, ENCODING_SIGNED_CHAR = 6 };

struct buffer {
    const char *name;
    char type[8];
    uint64_t count;
    bool input; /* kernels may only read the buffer */
};
struct template {
    const struct isa_object *object;
    struct lw_sink *out;
    struct buffer *buffers;
    size_t buffer_count, buffer_capacity;
    unsigned dimensions; /* result of lnc_kernel_dimensions() for the current kernel */
    bool unsure; /* a 64-bit parameter, for which a number is written, may be a pointer */
    struct lw_arena arena;
};

/** Returns true for a 16-bit type with f16 values; bfloat16 has another layout. */
static bool is_half(const struct isa_debug *debug, int64_t type)
{
    static const char *const names[] = {"half", "__half", "__fp16", "_Float16"};
    const struct isa_attr *name = isa_die_attr(debug, (uint32_t)type, ISA_AT_NAME);

    for (unsigned i = 0; name != NULL && name->text != NULL && i < LW_COUNT_OF(names); i++)
        if (strcmp(name->text, names[i]) == 0)
            return true;
    return false;
}

/** Describes a structure of contiguous numbers of one type, such as CUDA's vectors, as an array of that type. Returns
 *  false for any other structure. Pointers do not count as numbers. */
static bool alike(const struct isa_debug *debug, int64_t type, uint64_t bytes, struct lnc_element *out)
{
    struct lnc_element all = {.count = 0};

    for (uint32_t i = (uint32_t)type + 1; i < debug->dies[type].end; i = debug->dies[i].end) {
        struct lnc_element one;
        int64_t is;

        if (debug->dies[i].tag == ISA_TAG_INHERITANCE ||
            isa_die_attr(debug, i, ISA_AT_DATA_BIT_OFFSET) != NULL)
            return false;
        if (debug->dies[i].tag != ISA_TAG_MEMBER || isa_die_attr(debug, i, ISA_AT_EXTERNAL) != NULL)
            continue;
        is = isa_type_plain(debug, isa_die_type(debug, i), NULL);
        if (is != ISA_NO_DIE && isa_tag_is_pointer(debug->dies[is].tag))
            return false;
        lnc_element_of(debug, isa_die_type(debug, i), &one);
        if (one.type[0] == '\0' || (all.count != 0 && strcmp(all.type, one.type) != 0))
            return false;
        memcpy(all.type, one.type, sizeof all.type);
        all.count += one.count;
    }
    if (all.count == 0 || all.count * lnc_element_bytes(&all) != bytes)
        return false;
    memcpy(out->type, all.type, sizeof out->type);
    out->count = all.count;
    return true;
}

void lnc_element_of(const struct isa_debug *debug, int64_t type, struct lnc_element *out)
{
    uint64_t bytes;

    *out = (struct lnc_element){.count = 1};
    type = isa_type_plain(debug, type, &out->is_const);
    if (type == ISA_NO_DIE) { /* void is described as bytes */
        snprintf(out->type, sizeof out->type, "u8");
        return;
    }
    bytes = isa_die_number(debug, (uint32_t)type, ISA_AT_BYTE_SIZE, 0);
    switch (debug->dies[type].tag) {
    case ISA_TAG_BASE: {
        uint64_t encoding = isa_die_number(debug, (uint32_t)type, ISA_AT_ENCODING, 0);
        bool is_float = encoding == ENCODING_FLOAT && (bytes >= 4 || is_half(debug, type));
        bool is_signed = encoding == ENCODING_SIGNED || encoding == ENCODING_SIGNED_CHAR;

        if (bytes == 1 || bytes == 2 || bytes == 4 || bytes == 8)
            snprintf(out->type, sizeof out->type, "%c%u", is_float ? 'f' : is_signed ? 's' : 'u',
                     (unsigned)bytes * 8);
        return;
    }
    case ISA_TAG_ENUMERATION: snprintf(out->type, sizeof out->type, "s32"); return;
    case ISA_TAG_POINTER:
    case ISA_TAG_REFERENCE:
    case ISA_TAG_RVALUE_REFERENCE: snprintf(out->type, sizeof out->type, "u64"); return;
    case ISA_TAG_ARRAY: { /* an array or a vector; a vector of three elements has the size of one of four */
        bool vector = isa_die_attr(debug, (uint32_t)type, ISA_AT_VECTOR) != NULL;
        bool is_const = out->is_const;

        lnc_element_of(debug, isa_die_type(debug, (uint32_t)type), out);
        out->is_const |= is_const;
        for (uint32_t i = (uint32_t)type + 1; i < debug->dies[type].end; i = debug->dies[i].end) {
            uint64_t n = isa_die_number(debug, i, ISA_AT_COUNT, isa_die_number(debug, i, ISA_AT_UPPER_BOUND, 0) + 1);

            if (debug->dies[i].tag == ISA_TAG_SUBRANGE && n <= 1u << 16)
                out->count *= vector && n == 3 ? 4 : n;
        }
        return;
    }
    default:
        if (bytes == 2) { /* CUDA's half and bfloat16 */
            snprintf(out->type, sizeof out->type, is_half(debug, type) ? "f16" : "u16");
            return;
        }
        if (alike(debug, type, bytes, out))
            return;
        snprintf(out->type, sizeof out->type, "u8");
        out->count = bytes != 0 && bytes <= 1u << 16 ? bytes : 1;
    }
}

/** Returns true if YAML reads @text as plain text, without quotes, anywhere in a launch file. */
static bool is_word(const char *text)
{
    if (!isalpha((unsigned char)*text) && *text != '_' && *text != '/' && strncmp(text, "../", 3) != 0)
        return false;
    for (const char *p = text; *p != '\0'; p++)
        if (!isalnum((unsigned char)*p) && *p != '_' && *p != '.' && *p != '-' && *p != '/')
            return false;
    return true;
}

void lnc_put_word(const char *text, struct lw_sink *out)
{
    if (is_word(text)) {
        lw_put(out, text);
        return;
    }
    lw_put(out, "\"");
    for (const char *p = text; *p != '\0'; p++)
        if (*p == '"' || *p == '\\')
            lw_printf(out, "\\%c", *p);
        else if ((unsigned char)*p < ' ')
            lw_printf(out, "\\x%02x", (unsigned char)*p);
        else
            lw_printf(out, "%c", *p);
    lw_put(out, "\"");
}

/** Returns the buffer with name @wanted and the given type and size, and adds it if needed, so that kernels share buffers. If
 *  the buffer with this name has another type or size, the new buffer gets a name with a number. Returns NULL if memory is
 *  short. */
static const struct buffer *buffer_add(struct template *t, const char *wanted,
                                       const struct lnc_element *element)
{
    const char *name = lw_arena_strdup(&t->arena, wanted);
    uint64_t count = element->count * THREADS;

    for (unsigned suffix = 2;; suffix++) {
        struct buffer *b = NULL;

        for (size_t i = 0; name != NULL && i < t->buffer_count && b == NULL; i++)
            if (strcmp(t->buffers[i].name, name) == 0)
                b = &t->buffers[i];
        if (name == NULL || b == NULL)
            break;
        if (strcmp(b->type, element->type) == 0 && b->count == count) {
            b->input = b->input && element->is_const;
            return b;
        }
        name = lw_arena_printf(&t->arena, "%s_%u", wanted, suffix);
    }
    if (name == NULL || !lw_grow(&t->buffers, &t->buffer_capacity, t->buffer_count + 1,
                                 sizeof *t->buffers))
        return NULL;
    struct buffer *b = &t->buffers[t->buffer_count++];

    *b = (struct buffer){.name = name, .count = count, .input = element->is_const};
    memcpy(b->type, element->type, sizeof b->type);
    return b;
}

/* ---- structures by value ------------------------------------------------------------ */

/** Returns a guess for a number. An integer is often the number of a buffer's elements or, in a kernel of two or three
 *  dimensions, the number of rows of a square or cube. */
static const char *guess(const struct template *t, const char *type, uint64_t bytes)
{
    static const char *const extents[] = {"1024", "32", "8"};

    return type[0] == 'f' ? "1.0" : bytes >= 4 ? extents[t->dimensions - 1] : "1";
}

struct template_members {
    struct lnc_members base; /* must be the first member, because put_member() gets a pointer to it */
    struct template *t;
    const char *prefix; /* the parameter's name */
};

/** Writes a member of a structure: the name of a buffer, "PREFIX_data", for a pointer, a guess for a number, and zeros
 *  for an array. Returns false if memory is short. */
static bool put_member(struct lnc_members *members, const char *path, int64_t type, const struct lnc_element *element,
                       struct lw_sink *out)
{
    struct template_members *m = (struct template_members *)(void *)members;
    const struct isa_debug *debug = m->t->object->debug;

    if (type != ISA_NO_DIE && isa_tag_is_pointer(debug->dies[type].tag)) {
        char *wanted = lw_arena_printf(&m->t->arena, "%s_%s", m->prefix, path);
        const struct buffer *b = NULL;
        struct lnc_element pointee;

        for (char *c = wanted; c != NULL && *c != '\0'; c++)
            *c = *c == '.' ? '_' : *c;
        lnc_element_of(debug, isa_die_type(debug, (uint32_t)type), &pointee);
        if (pointee.type[0] == '\0')
            snprintf(pointee.type, sizeof pointee.type, "u8");
        if (wanted != NULL)
            b = buffer_add(m->t, wanted, &pointee);
        if (b != NULL)
            lnc_put_word(b->name, out);
        return b != NULL;
    }
    if (element->count == 1)
        lw_printf(out, "{%s: %s}", element->type, guess(m->t, element->type, lnc_element_bytes(element)));
    else
        lnc_zeros_put(element->type, element->count, out);
    return true;
}

/** Writes an argument that is a structure of @bytes, and the names of its members to @notes. Returns false if launch files
 *  have no form for the structure. */
static bool put_structure_argument(struct template *t, int64_t type, const char *name, uint64_t bytes,
                                   struct lw_sink *out, struct lw_sink *notes)
{
    const size_t buffers = t->buffer_count;
    struct template_members m = {.base = {put_member, &t->arena}, .t = t, .prefix = name};
    struct lw_buffer names;
    bool fine;

    lw_buffer_init(&names);
    fine = lnc_structure_put(t->object->debug, type, bytes, &m.base, out, &names.sink);
    if (fine)
        lw_printf(notes, "  # %s: %s\n", name, names.text != NULL ? names.text : "");
    else
        t->buffer_count = buffers;
    lw_buffer_fini(&names);
    return fine;
}

/** Writes the argument for one parameter. Returns false if memory is short. */
static bool put_argument(struct template *t, const struct isa_param *param, unsigned nth,
                         int64_t kernel, struct lw_sink *out, struct lw_sink *notes)
{
    const struct isa_debug *debug = t->object->debug;
    int64_t die = isa_function_parameter(debug, kernel, nth);
    const struct isa_attr *name =
        die != ISA_NO_DIE ? isa_die_attr(debug, (uint32_t)die, ISA_AT_NAME) : NULL;
    int64_t type = die != ISA_NO_DIE ? isa_die_type(debug, (uint32_t)die) : ISA_NO_DIE;
    struct lnc_element element = {.type = "u32", .count = 1};
    bool is_const = false, pointer = param->kind == ISA_PARAM_POINTER;

    if (die == ISA_NO_DIE && param->kind == ISA_PARAM_INTEGER && param->size_bytes == 8)
        t->unsure = true; /* PTX does not distinguish 64-bit integers from pointers */

    type = type != ISA_NO_DIE ? isa_type_plain(debug, type, &is_const) : type;
    if (type != ISA_NO_DIE && isa_tag_is_pointer(debug->dies[type].tag)) {
        pointer = pointer || param->size_bytes == 8;
        lnc_element_of(debug, isa_die_type(debug, (uint32_t)type), &element);
    } else if (type != ISA_NO_DIE) {
        lnc_element_of(debug, type, &element);
    } else if (pointer) {
        element.count = 4; /* large enough for most types */
    } else if (param->kind != ISA_PARAM_FLOAT) {
        snprintf(element.type, sizeof element.type, "u%u",
                 param->size_bytes <= 8 ? param->size_bytes * 8 : 8);
        element.count = param->size_bytes <= 8 ? 1 : param->size_bytes;
    } else {
        snprintf(element.type, sizeof element.type, "f%u", param->size_bytes == 8 ? 64 : 32);
    }
    if (element.type[0] == '\0')
        snprintf(element.type, sizeof element.type, "u8");
    if (pointer && param->space == ISA_SPACE_SHARED) {
        lw_printf(out, "{local: %llu}", (unsigned long long)(BLOCK * element.count * lnc_element_bytes(&element)));
    } else if (pointer) {
        char generic[32];
        const struct buffer *b;

        element.is_const |= param->space == ISA_SPACE_CONST;
        snprintf(generic, sizeof generic, "p%u", nth);
        b = buffer_add(t, name != NULL          ? name->text
                          : param->name != NULL ? param->name
                                                : generic, &element);
        if (b == NULL)
            return false;
        lnc_put_word(b->name, out);
    } else if (lnc_is_structure(debug, type) && strcmp(element.type, "u8") == 0 && name != NULL &&
               put_structure_argument(t, type, name->text, param->size_bytes, out, notes)) {
        /* put_structure_argument() has written the argument */
    } else if (param->size_bytes > 8 || element.count > 1) {
        uint64_t each = lnc_element_bytes(&element);

        if (param->size_bytes % each != 0) {
            snprintf(element.type, sizeof element.type, "u8");
            each = 1;
        }
        lnc_zeros_put(element.type, param->size_bytes / each, out);
    } else {
        lw_put(out, strcmp(element.type, "f16") == 0 ? "{f16: 1.0}" : guess(t, element.type, param->size_bytes));
    }
    return true;
}

/** Returns how an instruction uses register @reg of a class. 0: it does not use the register. 1: it reads the register as
 *  the upper half of a pair. 2: it uses the register in another way. */
static unsigned use_of(const struct isa_insn *insn, enum isa_reg_class reg_class, unsigned reg)
{
    struct isa_reg_use uses[ISA_MAX_USES];
    unsigned count = isa_insn_uses(insn, uses), found = 0;

    for (unsigned i = 0; i < count; i++) {
        if (uses[i].reg_class != reg_class || reg < uses[i].first ||
            reg >= uses[i].first + uses[i].count)
            continue;
        if (!uses[i].written && uses[i].count == 2 && uses[i].first + 1u == reg)
            return 1;
        found = 2;
    }
    return found;
}

/** Returns true if instruction @i of @f forms a generic address of shared memory, as code without optimisation does. Such an
 *  instruction writes the upper half of the address to a register that is next read as the upper half of a pair. */
static bool makes_shared_address(const struct isa_object *object, const struct isa_function *f,
                                 uint32_t i)
{
    struct isa_insn insn, next;
    unsigned use = 0;

    if (!isa_insn_decode(object->text[i], &insn) ||
        (insn.op != ISA_V_MOV_B32 && insn.op != ISA_S_MOV_B32) || insn.xkind != ISA_X_IMM ||
        insn.x != ISA_SHARED_BASE >> 32)
        return false;
    for (uint32_t k = i + 1; k < f->first + f->count && use == 0; k++)
        if (isa_insn_decode(object->text[k], &next))
            use = use_of(&next, insn.op == ISA_S_MOV_B32 ? ISA_REG_S : ISA_REG_V, insn.d);
    return use == 1;
}

/** Returns true if the instructions of one function access shared memory. Otherwise sets *@calls if the function calls
 *  functions. */
static bool reaches_shared(const struct isa_object *object, const struct isa_function *f,
                           bool *calls)
{
    for (uint32_t i = f->first; i < f->first + f->count; i++) {
        enum isa_space space = ISA_SPACE_GENERIC;
        struct isa_insn insn;

        if (!isa_insn_decode(object->text[i], &insn))
            continue;
        if (isa_op_access((enum isa_op)insn.op, &space) != ISA_ACCESS_NONE &&
            space == ISA_SPACE_SHARED)
            return true;
        if (makes_shared_address(object, f, i))
            return true;
        *calls = *calls || insn.op == ISA_CALL || insn.op == ISA_CALLX;
    }
    return false;
}

/** Returns the number of dimensions as lnc_kernel_dimensions() does, but for the instructions of one function only. Sets
 *  *@calls if the function calls functions. */
static unsigned reads_dimensions(const struct isa_object *object, const struct isa_function *f, bool *calls)
{
    unsigned found = 1;

    for (uint32_t i = f->first; i < f->first + f->count; i++) {
        struct isa_insn insn;

        if (!isa_insn_decode(object->text[i], &insn))
            continue;
        *calls = *calls || insn.op == ISA_CALL || insn.op == ISA_CALLX;
        if (insn.op != ISA_V_S2R && insn.op != ISA_S_S2R)
            continue;
        if (insn.x == ISA_SR_TID_Z || insn.x == ISA_SR_CTAID_Z)
            return 3;
        if (insn.x == ISA_SR_TID_Y || insn.x == ISA_SR_CTAID_Y)
            found = 2;
    }
    return found;
}

unsigned lnc_kernel_dimensions(const struct isa_object *object, const struct isa_function *kernel)
{
    bool calls = false;
    unsigned found = reads_dimensions(object, kernel, &calls);

    for (unsigned i = 0; calls && i < object->function_count; i++) {
        const unsigned more = object->functions[i].kernel ? 1 : reads_dimensions(object, &object->functions[i], &calls);

        found = more > found ? more : found;
    }
    return found;
}

/** Returns true if a kernel has an `extern` array in shared memory. Translated code declares such an array. Other code is
 *  assumed to have one if it accesses shared memory, but has neither a shared variable nor a __local argument. If the kernel
 *  calls functions, an access in any function of the object counts, because an unnecessary `shared` does no harm. */
static bool has_dynamic(const struct isa_object *object, const struct isa_function *kernel)
{
    bool calls = false;

    if (kernel->dynamic_shared)
        return true;
    if (kernel->shared_bytes != 0)
        return false;
    for (unsigned i = 0; i < kernel->param_count; i++)
        if (kernel->params[i].space == ISA_SPACE_SHARED)
            return false;
    if (reaches_shared(object, kernel, &calls))
        return true;
    for (unsigned i = 0; calls && i < object->function_count; i++)
        if (!object->functions[i].kernel && reaches_shared(object, &object->functions[i], &calls))
            return true;
    return false;
}

/** Copies the readable name of a kernel to @name. Returns true if the name identifies only this kernel. */
static bool plain_name(const struct template *t, const struct isa_function *kernel, char *name,
                       size_t room)
{
    char words[ISA_SYMBOL_BYTES];
    unsigned count = 0;

    return (size_t)snprintf(name, room, "%s", isa_symbol_text(kernel->name, words)) < room && lnc_kernel_find(t->object, name, &count) == kernel && count == 1;
}

static bool put_launch(struct template *t, const struct isa_function *kernel, struct lw_sink *out)
{
    int64_t die = isa_function_die(t->object, kernel);
    static const uint32_t blocks[][3] = {{BLOCK, 1, 1}, {16, 16, 1}, {4, 4, 4}}, extents[] = {THREADS, 32, 8};
    uint32_t block[3], threads;
    struct lw_buffer args, notes;
    char name[256];
    bool fine = true;

    t->dimensions = lnc_kernel_dimensions(t->object, kernel);
    memcpy(block, blocks[t->dimensions - 1], sizeof block);
    for (unsigned i = t->dimensions; kernel->max_threads != 0 && i-- > 0;)
        while (block[0] * block[1] * block[2] > kernel->max_threads && block[i] > 1)
            block[i] = i != 0 ? block[i] / 2 : kernel->max_threads;
    if (kernel->required_block[0] != 0)
        for (unsigned i = 0; i < 3; i++)
            block[i] = kernel->required_block[i] != 0 ? kernel->required_block[i] : 1;
    threads = block[0] * block[1] * block[2];
    lw_buffer_init(&args);
    lw_buffer_init(&notes);
    for (unsigned i = 0; i < kernel->param_count && fine; i++) {
        lw_put(&args.sink, i != 0 ? ", " : "");
        fine = put_argument(t, &kernel->params[i], i, die, &args.sink, &notes.sink);
    }
    for (char *c = notes.text; c != NULL && *c != '\0'; c++) /* replaces characters that would end the comment, because names
                                                              * may contain any character */
        if ((unsigned char)*c < ' ' && *c != '\n')
            *c = '?';
    lw_put(out, notes.text != NULL ? notes.text : "");
    lw_buffer_fini(&notes);
    lw_put(out, "  - launch: {entry: ");
    lnc_put_word(plain_name(t, kernel, name, sizeof name) ? name : kernel->name, out);
    for (unsigned i = 0; i < t->dimensions; i++) {
        const uint32_t each = t->dimensions == 1 ? threads : block[i];

        lw_printf(out, "%s%u", i == 0 ? ", grid: [" : ", ", (extents[t->dimensions - 1] + each - 1) / each);
    }
    lw_printf(out, "], block: [%u", block[0]);
    if (block[1] != 1 || block[2] != 1)
        lw_printf(out, ", %u", block[1]);
    if (block[2] != 1)
        lw_printf(out, ", %u", block[2]);
    if (has_dynamic(t->object, kernel))
        lw_printf(out, "], shared: %u, args: [", threads * MOST_BYTES);
    else
        lw_put(out, "], args: [");
    lw_put(out, fine && args.text != NULL ? args.text : "");
    lw_put(out, "]}\n");
    lw_buffer_fini(&args);
    return fine;
}

static void put_buffers(const struct template *t, struct lw_sink *out)
{
    unsigned seed = 1;

    lw_put(out, t->buffer_count != 0 ? "buffers:\n" : "");
    for (size_t i = 0; i < t->buffer_count; i++) {
        const struct buffer *b = &t->buffers[i];

        lw_put(out, "  ");
        lnc_put_word(b->name, out);
        lw_printf(out, ": {type: %s, count: %llu", b->type, (unsigned long long)b->count);
        if (b->input && b->type[0] == 'f')
            lw_printf(out, ", init: {random: %u}", seed++);
        else if (b->input)
            lw_printf(out, ", init: {random: {seed: %u, low: 0, high: %u}}", seed++,
                      strcmp(b->type + 1, "8") == 0 ? 100 : THREADS - 1);
        lw_put(out, "}\n");
    }
}

const char *const *lnc_debug_options(const char *path, const char *compiler)
{
    static const char *const how[][4] = {{"-O0", "-g", "-cl-opt-disable", NULL},
                                         {"-O0", "-g", "--cuda-noopt-device-debug", NULL},
                                         {"-G", NULL},
                                         {NULL}};
    size_t n = strlen(path);

    if (!ptx_is_compiled(path))
        return how[3];
    if (compiler != NULL && ptx_is_nvcc(compiler))
        return how[2];
    return how[n >= 3 && strcmp(path + n - 3, ".cu") == 0];
}

void lnc_check_comment_put(const char *buffer, const char *type, struct lw_sink *out)
{
    lw_put(out, "  # expected results:\n  # - check: {buffer: ");
    lnc_put_word(buffer, out);
    lw_put(out, type[0] != 'f'              ? ", file: expected.bin}\n"
                : strcmp(type, "f16") == 0 ? ", file: expected.bin, tolerance: 1e-3}\n"
                                           : ", file: expected.bin, tolerance: 1e-5}\n");
}

enum lw_status lnc_template_print(const struct isa_object *object, const char *source,
                                  const char *const *options, size_t option_count,
                                  const char *compiler, struct lw_sink *out, struct lw_error *err)
{
    const char *const *debug = lnc_debug_options(source, compiler);
    struct template t = {.object = object, .out = out};
    struct lw_buffer launches;
    enum lw_status status = LW_OK;
    unsigned kernels = 0;

    lw_arena_init(&t.arena);
    lw_buffer_init(&launches);
    for (unsigned i = 0; i < object->function_count && status == LW_OK; i++) {
        if (!object->functions[i].kernel)
            continue;
        kernels++;
        if (lnc_has_image(object, &object->functions[i]))
            lw_printf(&launches.sink, "  # kernel %s has an image as a parameter, which only an OpenCL program can create\n",
                      object->functions[i].name);
        else if (!put_launch(&t, &object->functions[i], &launches.sink))
            status = LW_FAIL(err, LW_ENOMEM, "the host has no memory for the launches of %s", source);
    }
    if (status == LW_OK && kernels == 0)
        status = LW_FAIL(err, LW_ENOENT, "%s: the file has no kernel; a kernel is " LNC_KERNEL_WORDS
                         ", a .kernel in assembly", source);
    if (status == LW_OK) {
        if (t.unsure)
            lw_put(&launches.sink, "  # 64-bit arguments that the kernel does not use as addresses are numbers here: "
                                   "if one is a pointer, give a buffer\n");
        lw_put(out, "# Sizes, numbers and contents are guesses: replace them. `man lanewise` and "
                    "docs/reference/launch-files.md\n# describe all keys; a buffer can be loaded from a file with "
                    "`init: {file: in.bin}`.\n"
                    "program: {source: ");
        lnc_put_word(source, out);
        for (size_t i = 0; i < option_count; i++) {
            lw_put(out, i == 0 ? ", options: [" : ", ");
            lnc_put_word(options[i], out);
        }
        lw_put(out, option_count != 0 ? "]" : "");
        if (compiler != NULL) {
            lw_put(out, ", compiler: ");
            lnc_put_word(compiler, out);
        }
        lw_put(out, "}\n");
        for (unsigned i = 0; debug[i] != NULL; i++)
            lw_printf(out, "%s%s", i == 0 ? "# to debug, compile with options: [" : ", ", debug[i]);
        lw_put(out, debug[0] != NULL ? "]\n" : "");
        put_buffers(&t, out);
        lw_put(out, "steps:\n");
        lw_put(out, launches.text);
        for (size_t i = 0; i < t.buffer_count; i++)
            if (!t.buffers[i].input) {
                lnc_check_comment_put(t.buffers[i].name, t.buffers[i].type, out);
                break;
            }
    }
    lw_buffer_fini(&launches);
    free(t.buffers);
    lw_arena_fini(&t.arena);
    return status;
}
