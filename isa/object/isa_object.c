/* SPDX-License-Identifier: Apache-2.0 */
/* Objects in memory: creation and destruction, the rules for valid objects, and look-up by instruction. */
#include <stdlib.h>

#include "isa/object/isa_elf_priv.h"

struct isa_object *isa_object_create(void)
{
    struct isa_object *object = calloc(1, sizeof *object);

    if (object == NULL)
        return NULL;
    lw_arena_init(&object->arena);
    object->files = lw_arena_alloc(&object->arena, sizeof *object->files);
    if (object->files == NULL) {
        isa_object_destroy(object);
        return NULL;
    }
    object->files[0] = "";
    object->file_count = 1;
    return object;
}

void isa_object_destroy(struct isa_object *object)
{
    if (object == NULL)
        return;
    lw_arena_fini(&object->arena);
    free(object);
}

bool isa_object_keeps_values(const struct isa_object *object)
{
    const size_t size = object->producer != NULL ? strlen(object->producer) : 0, end = sizeof ISA_KEEPS_VALUES - 1;

    return size >= end && strcmp(object->producer + size - end, ISA_KEEPS_VALUES) == 0;
}

const struct isa_function *isa_object_function_at(const struct isa_object *object,
                                                  uint32_t index)
{
    unsigned low = 0, high = object->function_count;

    while (low < high) { /* the functions are sorted by `first`, as isa_object_check() ensures */
        unsigned middle = low + (high - low) / 2;

        if (object->functions[middle].first <= index)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == 0)
        return NULL;

    const struct isa_function *function = &object->functions[low - 1];

    return index - function->first < function->count ? function : NULL;
}

const struct isa_line *isa_object_line_at(const struct isa_object *object, uint32_t index)
{
    unsigned low = 0, high = object->line_count;
    const struct isa_function *function;
    const struct isa_line *row;

    while (low < high) {
        unsigned middle = low + (high - low) / 2;

        if (object->lines[middle].insn <= index)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == 0)
        return NULL;
    row = &object->lines[low - 1];
    function = isa_object_function_at(object, index);
    return function != NULL && row->insn < function->first ? NULL : row;
}

/* ---- the rules for valid objects ---------------------------------------------- */

enum { MAX_TEXT = 1 << 26, MAX_ALIGN = 4096, MAX_FILES = 65535 };
#define MAX_VARIABLE_BYTES (UINT64_C(1) << 40)

static bool name_ok(const char *name)
{
    if (name == NULL || *name == '\0' || strlen(name) > ISA_NAME_BYTES)
        return false;
    for (; *name != '\0'; name++) {
        if ((unsigned char)*name < ' ' || *name == 127)
            return false;
    }
    return true;
}

static bool align_ok(uint32_t align)
{
    return align != 0 && (align & (align - 1)) == 0 && align <= MAX_ALIGN;
}

static enum lw_status check_param(const struct isa_function *function, unsigned index,
                                  struct lw_error *err)
{
    const struct isa_param *param = &function->params[index];

    if (!name_ok(param->name))
        return LW_FAIL(err, LW_EFORMAT, "kernel %s: parameter %u has a name that is empty, too long, or has control characters",
                       function->name, index);
    if (param->kind >= ISA_PARAM_KIND_COUNT || param->space >= ISA_SPACE_COUNT ||
        (param->kind != ISA_PARAM_POINTER && param->space != 0))
        return LW_FAIL(err, LW_EFORMAT, "kernel %s: parameter %s cannot have kind %u and space %u",
                       function->name, param->name, param->kind, param->space);
    if ((param->kind == ISA_PARAM_FLOAT && param->size_bytes != 4 && param->size_bytes != 8) ||
        (param->kind == ISA_PARAM_INTEGER && param->size_bytes != 1 && param->size_bytes != 2 &&
         param->size_bytes != 4 && param->size_bytes != 8))
        return LW_FAIL(err, LW_EFORMAT, "kernel %s: parameter %s is %s with a wrong size of %u bytes",
                       function->name, param->name,
                       param->kind == ISA_PARAM_FLOAT ? "a float" : "an integer",
                       param->size_bytes);
    if (!align_ok(param->align) || param->size_bytes == 0 ||
        param->offset > function->param_bytes ||
        param->size_bytes > function->param_bytes - param->offset)
        return LW_FAIL(err, LW_EFORMAT,
                       "kernel %s: parameter %s (%u bytes at %u, aligned to %u) does not fit the "
                       "%u bytes of parameters", function->name, param->name, param->size_bytes,
                       param->offset, param->align, function->param_bytes);
    return LW_OK;
}

static enum lw_status check_kernel(const struct isa_function *function, struct lw_error *err)
{
    if (function->param_bytes > ISA_CONST_BANK_BYTES ||
        function->param_count > function->param_bytes)
        return LW_FAIL(err, LW_EFORMAT, "kernel %s: %u parameters in %u bytes are too many",
                       function->name, function->param_count, function->param_bytes);
    for (unsigned i = 0; i < function->param_count; i++) {
        enum lw_status status = check_param(function, i, err);

        if (status != LW_OK)
            return status;
    }
    if (function->vreg_count > ISA_VREG_COUNT || function->sreg_count > ISA_SREG_COUNT ||
        function->breg_count > ISA_BREG_COUNT)
        return LW_FAIL(err, LW_EFORMAT,
                       "kernel %s: %u vector, %u scalar and %u barrier registers are too many",
                       function->name, function->vreg_count, function->sreg_count,
                       function->breg_count);
    if (function->needs_warp != 0 && function->needs_warp != 32)
        return LW_FAIL(err, LW_EFORMAT, "kernel %s needs warps of %u lanes: only 32 is supported",
                       function->name, function->needs_warp);
    return LW_OK;
}

static bool kernel_fields_empty(const struct isa_function *function)
{
    return function->param_count == 0 && function->param_bytes == 0 &&
           function->shared_bytes == 0 && function->local_bytes == 0 &&
           function->max_threads == 0 && function->required_block[0] == 0 &&
           function->required_block[1] == 0 && function->required_block[2] == 0 &&
           !function->dynamic_shared;
}

static enum lw_status check_functions(const struct isa_object *object, struct lw_error *err)
{
    uint64_t end = 0;

    for (unsigned i = 0; i < object->function_count; i++) {
        const struct isa_function *function = &object->functions[i];
        enum lw_status status;

        if (!name_ok(function->name))
            return LW_FAIL(err, LW_EFORMAT, "function %u has a name that is empty, too long, or has control characters", i);
        if (function->count == 0)
            return LW_FAIL(err, LW_EFORMAT, "function %s has no instructions", function->name);
        if (function->first < end ||
            (uint64_t)function->first + function->count > object->text_count)
            return LW_FAIL(err, LW_EFORMAT,
                           "function %s (instructions %u to %u) overlaps its predecessor, is out of order or exceeds "
                           "the text of %u instructions", function->name, function->first,
                           function->first + function->count - 1, object->text_count);
        end = (uint64_t)function->first + function->count;
        if (function->file >= object->file_count)
            return LW_FAIL(err, LW_EFORMAT, "function %s: there is no file %u", function->name,
                           function->file);
        if (!function->kernel && !kernel_fields_empty(function))
            return LW_FAIL(err, LW_EFORMAT, "function %s is not a kernel, but has parameters, memory or a block size of a kernel",
                           function->name);
        status = check_kernel(function, err);
        if (status != LW_OK)
            return status;
    }
    return LW_OK;
}

static enum lw_status check_variables(const struct isa_object *object, struct lw_error *err)
{
    for (unsigned i = 0; i < object->variable_count; i++) {
        const struct isa_variable *variable = &object->variables[i];
        bool shared = variable->space == ISA_SPACE_SHARED;

        if (!name_ok(variable->name))
            return LW_FAIL(err, LW_EFORMAT, "variable %u has a name that is empty, too long, or has control characters", i);
        if (variable->space != ISA_SPACE_GLOBAL && variable->space != ISA_SPACE_CONST && !shared)
            return LW_FAIL(err, LW_EFORMAT, "variable %s cannot be in space %u",
                           variable->name, variable->space);
        if (!align_ok(variable->align) || variable->size_bytes > MAX_VARIABLE_BYTES)
            return LW_FAIL(err, LW_EFORMAT,
                           "variable %s: %llu bytes aligned to %u are not possible",
                           variable->name, (unsigned long long)variable->size_bytes,
                           variable->align);
        if (variable->init != NULL && variable->size_bytes > ISA_MAX_INIT_BYTES)
            return LW_FAIL(err, LW_EFORMAT, "variable %s: %llu initialised bytes are too many",
                           variable->name, (unsigned long long)variable->size_bytes);
        if ((!shared && variable->shared_offset != 0) || (shared && variable->init != NULL) ||
            (shared && variable->size_bytes > UINT32_MAX - variable->shared_offset))
            return LW_FAIL(err, LW_EFORMAT,
                           "variable %s has an initial value or offset that its space forbids",
                           variable->name);
    }
    return LW_OK;
}

/* Comparison function with which names are sorted; equal names are then neighbours. */
static int compare_names(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static enum lw_status check_unique(const char **names, size_t count, const char *where,
                                   struct lw_error *err)
{
    if (count != 0)
        qsort(names, count, sizeof *names, compare_names);
    for (size_t i = 1; i < count; i++) {
        if (strcmp(names[i - 1], names[i]) == 0)
            return LW_FAIL(err, LW_EFORMAT, "%s%s is defined twice", where, names[i]);
    }
    return LW_OK;
}

static enum lw_status check_names(const struct isa_object *object, struct lw_error *err)
{
    size_t count = (size_t)object->function_count + object->variable_count;
    enum lw_status status = LW_OK;
    const char **names;

    for (unsigned i = 0; i < object->function_count; i++) {
        if (object->functions[i].param_count > count)
            count = object->functions[i].param_count;
    }
    names = malloc((count + 1) * sizeof *names);
    if (names == NULL)
        return LW_FAIL(err, LW_ENOMEM, "the host has no memory for %zu names", count);
    for (unsigned i = 0; i < object->function_count && status == LW_OK; i++) {
        const struct isa_function *function = &object->functions[i];

        for (unsigned k = 0; k < function->param_count; k++)
            names[k] = function->params[k].name;
        status = check_unique(names, function->param_count, "parameter ", err);
    }
    for (unsigned i = 0; i < object->function_count; i++)
        names[i] = object->functions[i].name;
    for (unsigned i = 0; i < object->variable_count; i++)
        names[object->function_count + i] = object->variables[i].name;
    if (status == LW_OK)
        status = check_unique(names, (size_t)object->function_count + object->variable_count, "",
                              err);
    free(names);
    return status;
}

static bool reloc_location_ok(const struct isa_object *object, const struct isa_reloc *reloc)
{
    if (reloc->insn == UINT32_MAX) {
        if (reloc->high || reloc->in >= object->variable_count)
            return false;

        const struct isa_variable *in = &object->variables[reloc->in];

        return in->init != NULL && in->size_bytes >= 8 && reloc->offset <= in->size_bytes - 8;
    }
    if (reloc->insn >= object->text_count || reloc->in != 0 || reloc->offset != 0)
        return false;

    struct isa_insn insn;
    if (!isa_insn_decode(object->text[reloc->insn], &insn))
        return false;
    return insn.xkind == ISA_X_IMM &&
           isa_operands_find(&isa_op_info(insn.op)->operands, ISA_TK_X) >= 0;
}

static enum lw_status check_relocs(const struct isa_object *object, struct lw_error *err)
{
    for (unsigned i = 0; i < object->reloc_count; i++) {
        const struct isa_reloc *reloc = &object->relocs[i];

        if (!reloc_location_ok(object, reloc))
            return LW_FAIL(err, LW_EFORMAT,
                           "relocation %u: instruction %u (variable %u, offset %u) cannot hold an "
                           "address", i, reloc->insn, reloc->in, reloc->offset);
        if (reloc->to >= (reloc->to_function ? object->function_count : object->variable_count))
            return LW_FAIL(err, LW_EFORMAT, "relocation %u: %s %u does not exist", i,
                           reloc->to_function ? "function" : "variable", reloc->to);
    }
    return LW_OK;
}

/* Checks that no two relocations write the same bytes. */
static enum lw_status check_reloc_overlap(const struct isa_object *object, struct lw_error *err)
{
    size_t count = object->reloc_count;
    struct isa_reloc *sorted = malloc((count + 1) * sizeof *sorted);
    enum lw_status status = LW_OK;

    if (sorted == NULL)
        return LW_FAIL(err, LW_ENOMEM, "the host has no memory for %zu relocations", count);
    if (count != 0)
        memcpy(sorted, object->relocs, count * sizeof *sorted);
    isa_relocs_sort(sorted, count);
    for (size_t i = 1; i < count && status == LW_OK; i++) {
        const struct isa_reloc *a = &sorted[i - 1], *b = &sorted[i];

        if (a->insn == b->insn &&
            (a->insn != UINT32_MAX || (a->in == b->in && b->offset - a->offset < 8)))
            status = LW_FAIL(err, LW_EFORMAT, "two relocations fill instruction %u (variable %u, "
                             "offset %u)", b->insn, b->in, b->offset);
    }
    free(sorted);
    return status;
}

static enum lw_status check_lines(const struct isa_object *object, struct lw_error *err)
{
    uint32_t last = 0;

    if (object->file_count == 0 || object->file_count > MAX_FILES)
        return LW_FAIL(err, LW_EFORMAT, "the object has %u source files, but must have 1 to %d",
                       object->file_count, MAX_FILES);
    for (unsigned i = 1; i < object->file_count; i++) {
        if (!name_ok(object->files[i]))
            return LW_FAIL(err, LW_EFORMAT, "source file %u has a name that is empty, too long, or has control characters", i);
    }
    for (unsigned i = 0; i < object->line_count; i++) {
        const struct isa_line *line = &object->lines[i];

        if (line->insn < last || line->insn >= object->text_count || line->file == 0 ||
            line->file >= object->file_count)
            return LW_FAIL(err, LW_EFORMAT,
                           "line-table row %u (instruction %u, file %u) is out of order or out of range", i,
                           line->insn, line->file);
        last = line->insn;
    }
    return LW_OK;
}

enum lw_status isa_object_check(const struct isa_object *object, struct lw_error *err)
{
    enum lw_status status;

    if (object->text_count > MAX_TEXT)
        return LW_FAIL(err, LW_EFORMAT, "the text has %u instructions, which are too many",
                       object->text_count);
    if (object->const_bank_bytes > ISA_CONST_BANK_BYTES ||
        (object->const_bank == NULL && object->const_bank_bytes != 0))
        return LW_FAIL(err, LW_EFORMAT, "a constant bank cannot have %u bytes",
                       object->const_bank_bytes);
    for (uint32_t i = 0; i < object->text_count; i++) {
        struct isa_insn insn;

        if (!isa_insn_decode(object->text[i], &insn))
            return LW_FAIL(err, LW_EFORMAT, "word %u (0x%016llx%016llx) is not an instruction", i,
                           (unsigned long long)object->text[i].hi,
                           (unsigned long long)object->text[i].lo);
    }
    status = check_lines(object, err); /* checked first, because functions refer to files */
    if (status == LW_OK)
        status = check_functions(object, err);
    if (status == LW_OK)
        status = check_variables(object, err);
    if (status == LW_OK)
        status = check_names(object, err);
    if (status == LW_OK)
        status = check_relocs(object, err);
    if (status == LW_OK)
        status = check_reloc_overlap(object, err);
    if (status == LW_OK)
        status = isa_debug_check(object, err);
    if (status == LW_OK)
        status = isa_loops_check(object, err);
    if (status == LW_OK)
        status = isa_bounds_check(object, err);
    if (status == LW_OK)
        status = isa_slices_check(object, err);
    return status;
}

static int compare_relocs(const void *a, const void *b)
{
    const struct isa_reloc *x = a, *y = b;

    if (x->insn != y->insn)
        return x->insn < y->insn ? -1 : 1;
    if (x->in != y->in)
        return x->in < y->in ? -1 : 1;
    return x->offset < y->offset ? -1 : x->offset > y->offset;
}

void isa_relocs_sort(struct isa_reloc *relocs, size_t count)
{
    if (count != 0)
        qsort(relocs, count, sizeof *relocs, compare_relocs);
}

char *isa_source_read(const struct isa_object *object, const char *file)
{
    const char *dir = object->comp_dir;
    struct lw_error err;
    struct lw_buffer path;
    char *data = NULL;
    size_t size;

    lw_buffer_init(&path);
    if (file[0] != '/' && dir != NULL && dir[0] != '\0')
        lw_printf(&path.sink, "%s/", dir);
    lw_put(&path.sink, file);
    if (path.text == NULL ||
        (lw_file_read(path.text, &data, &size, &err) != LW_OK && lw_file_read(file, &data, &size, &err) != LW_OK))
        data = NULL;
    lw_buffer_fini(&path);
    return data;
}
