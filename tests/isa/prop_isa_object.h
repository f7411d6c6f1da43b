/* SPDX-License-Identifier: Apache-2.0 */
/* Compares two objects field by field and names the first difference. */
#ifndef PROP_ISA_OBJECT_H
#define PROP_ISA_OBJECT_H

#include "isa/isa.h"

static inline bool prop_text_equal(const char *a, const char *b)
{
    return a == b || (a != NULL && b != NULL && strcmp(a, b) == 0);
}

#define PROP_SAME(what, condition)                                                         \
    do {                                                                                   \
        if (!(condition))                                                                  \
            return what;                                                                   \
    } while (0)

static inline const char *prop_param_difference(const struct isa_param *a,
                                                const struct isa_param *b)
{
    PROP_SAME("name of a parameter", prop_text_equal(a->name, b->name));
    PROP_SAME("kind of a parameter", a->kind == b->kind && a->space == b->space);
    PROP_SAME("place of a parameter", a->offset == b->offset &&
              a->size_bytes == b->size_bytes && a->align == b->align);
    return NULL;
}

static inline const char *prop_function_difference(const struct isa_function *a,
                                                   const struct isa_function *b)
{
    const char *difference = NULL;

    PROP_SAME("name of a function", prop_text_equal(a->name, b->name));
    PROP_SAME("range of a function", a->first == b->first && a->count == b->count);
    PROP_SAME("kernel flag", a->kernel == b->kernel);
    PROP_SAME("line of a function", a->line == b->line && a->file == b->file);
    PROP_SAME("parameter count", a->param_count == b->param_count);
    PROP_SAME("parameter bytes", a->param_bytes == b->param_bytes);
    for (unsigned i = 0; i < a->param_count && difference == NULL; i++)
        difference = prop_param_difference(&a->params[i], &b->params[i]);
    PROP_SAME("shared bytes", a->shared_bytes == b->shared_bytes);
    PROP_SAME("local bytes", a->local_bytes == b->local_bytes);
    PROP_SAME("register counts", a->vreg_count == b->vreg_count &&
              a->sreg_count == b->sreg_count && a->breg_count == b->breg_count);
    PROP_SAME("thread limit", a->max_threads == b->max_threads);
    PROP_SAME("required block", memcmp(a->required_block, b->required_block,
                                       sizeof a->required_block) == 0);
    PROP_SAME("warp width", a->needs_warp == b->needs_warp);
    PROP_SAME("dynamic shared memory", a->dynamic_shared == b->dynamic_shared);
    return difference;
}

/** Return NULL if @a and @b are equal, otherwise a text that names the first difference. */
static inline const char *prop_object_difference(const struct isa_object *a,
                                                 const struct isa_object *b)
{
    PROP_SAME("text", a->text_count == b->text_count &&
              (a->text_count == 0 ||
               memcmp(a->text, b->text, a->text_count * sizeof *a->text) == 0));
    PROP_SAME("function count", a->function_count == b->function_count);
    for (unsigned i = 0; i < a->function_count; i++) {
        const char *difference = prop_function_difference(&a->functions[i], &b->functions[i]);

        if (difference != NULL)
            return difference;
    }
    PROP_SAME("variable count", a->variable_count == b->variable_count);
    for (unsigned i = 0; i < a->variable_count; i++) {
        const struct isa_variable *x = &a->variables[i], *y = &b->variables[i];

        PROP_SAME("name of a variable", prop_text_equal(x->name, y->name));
        PROP_SAME("variable", x->space == y->space && x->align == y->align &&
                  x->size_bytes == y->size_bytes && x->shared_offset == y->shared_offset);
        PROP_SAME("initial value", (x->init == NULL) == (y->init == NULL) &&
                  (x->init == NULL || memcmp(x->init, y->init, x->size_bytes) == 0));
    }
    PROP_SAME("relocation count", a->reloc_count == b->reloc_count);
    for (unsigned i = 0; i < a->reloc_count; i++) {
        const struct isa_reloc *x = &a->relocs[i], *y = &b->relocs[i];

        PROP_SAME("relocation", x->insn == y->insn && x->high == y->high && x->in == y->in &&
                  x->offset == y->offset && x->to_function == y->to_function &&
                  x->to == y->to && x->addend == y->addend);
    }
    PROP_SAME("line count", a->line_count == b->line_count);
    for (unsigned i = 0; i < a->line_count; i++) {
        const struct isa_line *x = &a->lines[i], *y = &b->lines[i];

        PROP_SAME("line-table row", x->insn == y->insn && x->file == y->file && x->line == y->line &&
                  x->column == y->column && x->is_stmt == y->is_stmt &&
                  x->prologue_end == y->prologue_end);
    }
    PROP_SAME("file count", a->file_count == b->file_count);
    for (unsigned i = 0; i < a->file_count; i++)
        PROP_SAME("file", prop_text_equal(a->files[i], b->files[i]));
    PROP_SAME("producer", prop_text_equal(a->producer, b->producer));
    PROP_SAME("compilation directory", prop_text_equal(a->comp_dir, b->comp_dir));
    PROP_SAME("constant bank", a->const_bank_bytes == b->const_bank_bytes &&
              (a->const_bank_bytes == 0 ||
               memcmp(a->const_bank, b->const_bank, a->const_bank_bytes) == 0));
    return NULL;
}

#endif
