/* SPDX-License-Identifier: Apache-2.0 */
/* The assembler: lines and labels, and the work after the last line: branch targets, relocations, register counts of functions
 * including their callees, and the line table. */
#include <stdio.h>
#include <stdlib.h>

#include "isa/asm/isa_asm_priv.h"

/* ---- lines -------------------------------------------------------------------------------------------- */

static enum lw_status own_row(struct asm_state *as, uint32_t insn)
{
    struct isa_line *row = ASM_PUSH(as->own_rows, as->own_count, as->own_capacity);

    if (row == NULL)
        return asm_no_memory(as);
    row->insn = insn;
    row->file = 1;
    row->line = as->line;
    row->is_stmt = true;
    return LW_OK;
}

/* Returns true if the line begins with a label: a name, then a colon that does not belong to a register pair. */
static bool at_label(struct cursor c)
{
    cursor_space(&c);
    if (*c.p == '"') {
        for (c.p++; *c.p != '\0' && *c.p != '"'; c.p++) {
            if (*c.p == '\\' && c.p[1] != '\0')
                c.p++;
        }
        if (*c.p == '\0')
            return false;
        c.p++;
    } else {
        size_t size = strspn(c.p, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_.$"
                                  "0123456789");

        if (size == 0 || (*c.p >= '0' && *c.p <= '9'))
            return false;
        c.p += size;
    }
    cursor_space(&c);
    return *c.p == ':';
}

static enum lw_status one_line(struct asm_state *as, struct cursor *c)
{
    enum lw_status status;

    while (at_label(*c)) {
        bool quoted;
        const char *name = cursor_name(as, c, &quoted);

        if (name == NULL)
            return as->status;
        if (quoted)
            return asm_fail(as, "a label cannot have quotes: only names of functions and variables can");
        cursor_take(c, ":");
        status = asm_define_label(as, name);
        if (status != LW_OK)
            return status;
    }
    if (cursor_end(c))
        return LW_OK;
    if (*c->p == '.')
        return asm_directive(as, c);

    uint32_t index = (uint32_t)as->text_count;

    status = asm_instruction(as, c);
    return status == LW_OK ? own_row(as, index) : status;
}

/* Removes a comment from a line. A comment starts at # or // outside quotes. */
static void cut_comment(char *text)
{
    bool quoted = false;

    for (char *s = text; *s != '\0'; s++) {
        if (quoted && *s == '\\' && s[1] != '\0') {
            s++;
        } else if (*s == '"') {
            quoted = !quoted;
        } else if (!quoted && (*s == '#' || (*s == '/' && s[1] == '/'))) {
            *s = '\0';
            return;
        }
    }
}

static enum lw_status all_lines(struct asm_state *as, const char *text, size_t size)
{
    size_t capacity = 0;
    char *buffer = NULL;
    enum lw_status status = LW_OK;

    for (size_t at = 0; at < size && status == LW_OK;) {
        const char *end = memchr(text + at, '\n', size - at);
        size_t length = end != NULL ? (size_t)(end - (text + at)) : size - at;

        as->line++;
        if (!lw_grow(&buffer, &capacity, length + 1, 1)) {
            status = asm_no_memory(as);
            break;
        }
        memcpy(buffer, text + at, length);
        buffer[length] = '\0';
        if (memchr(buffer, '\0', length) != NULL) {
            status = asm_fail(as, "the line contains a zero byte: the file is not assembly text");
            break;
        }
        cut_comment(buffer);

        struct cursor c = { buffer };

        status = one_line(as, &c);
        at += length + 1;
    }
    free(buffer);
    if (status == LW_OK && as->in_function)
        status = asm_fail(as, "the function %s is not closed: add .end",
                          asm_current(as)->out.name);
    return status;
}

/* ---- after the last line ------------------------------------------------------------------------------ */

static enum lw_status resolve_targets(struct asm_state *as)
{
    for (size_t i = 0; i < as->fixup_count; i++) {
        const struct fixup *fixup = &as->fixups[i];
        const struct name_slot *slot = NULL;
        int64_t index;

        as->line = fixup->line;
        if (!fixup->quoted)
            slot = name_map_get(&as->labels, fixup->name, fixup->scope);
        if (slot != NULL) {
            index = slot->value;
        } else {
            slot = name_map_get(&as->symbols, fixup->name, 0);
            if (slot == NULL || (slot->value & ASM_VARIABLE))
                return asm_fail(as, "there is no label or function %s", fixup->name);
            index = as->functions[slot->value].out.first;
        }
        if (fixup->addend % ISA_WORD_BYTES != 0)
            return asm_fail(as, "the offset of %s is not a multiple of %d", fixup->name,
                            ISA_WORD_BYTES);
        index += fixup->addend / ISA_WORD_BYTES - ((int64_t)fixup->insn + 1);
        if (index < INT32_MIN || index > INT32_MAX)
            return asm_fail(as, "the branch target %s is too far away", fixup->name);

        struct isa_word *word = &as->text[fixup->insn];

        word->lo = (word->lo & UINT32_MAX) | (uint64_t)(uint32_t)(int32_t)index << 32;
    }
    return LW_OK;
}

/* Raises the register counts of a function to those of a function that it calls. Returns true if a count grew. A kernel's counts
 * include all functions that it may call; an indirect call may call any function. As calls may be recursive, the caller repeats
 * this until no count grows. */
static bool absorb(struct asm_function *into, const struct asm_function *from)
{
    struct asm_function before = *into;

    into->v = from->v > into->v ? from->v : into->v;
    into->s = from->s > into->s ? from->s : into->s;
    into->b = from->b > into->b ? from->b : into->b;
    return before.v != into->v || before.s != into->s || before.b != into->b;
}

static struct asm_function *function_at(struct asm_state *as, int64_t index)
{
    size_t low = 0, high = as->function_count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (as->functions[middle].out.first <= index)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == 0 || index >= (int64_t)as->functions[low - 1].out.first +
                                 as->functions[low - 1].out.count)
        return NULL;
    return &as->functions[low - 1];
}

static bool absorb_calls(struct asm_state *as, struct asm_function *function)
{
    bool grown = false;

    for (uint32_t i = 0; i < function->out.count; i++) {
        uint32_t index = function->out.first + i;
        struct isa_insn insn;

        /* a branch to another function is a tail call, and counts as a call */
        if (!isa_insn_decode(as->text[index], &insn) ||
            !(isa_op_info(insn.op)->flags & ISA_F_BRANCH))
            continue;

        if (isa_operands_find(&isa_op_info(insn.op)->operands, ISA_TK_TARGET) >= 0) {
            const struct asm_function *callee =
                function_at(as, (int64_t)index + 1 + (int32_t)insn.x);

            if (callee != NULL && callee != function)
                grown |= absorb(function, callee);
        } else if (isa_op_info(insn.op)->flags & ISA_F_CALL) {
            for (size_t f = 0; f < as->function_count; f++) {
                if (!as->functions[f].out.kernel)
                    grown |= absorb(function, &as->functions[f]);
            }
        }
    }
    return grown;
}

static void count_call_trees(struct asm_state *as)
{
    bool grown;

    do {
        grown = false;
        for (size_t f = 0; f < as->function_count; f++)
            grown |= absorb_calls(as, &as->functions[f]);
    } while (grown);
    for (size_t f = 0; f < as->function_count; f++) {
        struct asm_function *function = &as->functions[f];

        if (!function->out.kernel || function->regs_given)
            continue;
        function->out.vreg_count = function->v;
        function->out.sreg_count = function->s;
        function->out.breg_count = function->b;
    }
}

/* Copies an array of the assembler's state into the object's arena; *@out is set to NULL if the array is empty. Returns false if
 * there is no memory. */
static bool keep(struct asm_state *as, void *out, const void *array, size_t count, size_t size)
{
    void *copy = NULL;

    if (count != 0) {
        copy = lw_arena_alloc(&as->object->arena, count * size);
        if (copy == NULL)
            return false;
        memcpy(copy, array, count * size);
    }
    memcpy(out, &copy, sizeof copy);
    return true;
}

static enum lw_status finish_relocs(struct asm_state *as)
{
    struct isa_object *object = as->object;

    object->reloc_count = (unsigned)as->reloc_count;
    object->relocs = lw_arena_alloc(&object->arena, as->reloc_count * sizeof *object->relocs);
    if (object->relocs == NULL)
        return asm_no_memory(as);
    for (size_t i = 0; i < as->reloc_count; i++) {
        const struct name_slot *slot = name_map_get(&as->symbols, as->relocs[i].name, 0);

        as->line = as->relocs[i].line;
        if (slot == NULL)
            return asm_fail(as, "there is no variable or function %s", as->relocs[i].name);
        object->relocs[i] = as->relocs[i].reloc;
        object->relocs[i].to_function = !(slot->value & ASM_VARIABLE);
        object->relocs[i].to = slot->value & ~ASM_VARIABLE;
    }
    isa_relocs_sort(object->relocs, as->reloc_count);
    return LW_OK;
}

/** Computes the control fields of a function in whose assembly text no instruction has a control field. */
static enum lw_status fill_control(struct asm_state *as, const struct isa_function *f)
{
    struct isa_insn *insn = calloc((size_t)f->count + 1, sizeof *insn);
    bool fine = insn != NULL;

    for (uint32_t i = 0; fine && i < f->count; i++)
        fine = isa_insn_decode(as->text[f->first + i], &insn[i]); /* cannot fail, because the assembler has encoded the word */
    fine = fine && isa_control_fill(insn, f->count);
    for (uint32_t i = 0; fine && i < f->count; i++)
        fine = isa_insn_encode(&insn[i], &as->text[f->first + i], NULL) == LW_OK;
    free(insn);
    return fine ? LW_OK : asm_no_memory(as);
}

static enum lw_status finish(struct asm_state *as)
{
    struct isa_object *object = as->object;
    enum lw_status status = resolve_targets(as);

    for (size_t i = 0; as->control == ISA_ASM_AUTO && i < as->function_count && status == LW_OK; i++)
        if (!as->functions[i].control_given)
            status = fill_control(as, &as->functions[i].out);
    struct isa_line *rows = as->own_lines ? as->own_rows : as->rows;
    size_t row_count = as->own_lines ? as->own_count : as->row_count;

    if (status == LW_OK)
        status = finish_relocs(as);
    if (status == LW_OK)
        status = asm_flush_init(as);
    if (status != LW_OK)
        return status;
    if (as->own_lines) {
        const char **slot = (const char **)ASM_PUSH(as->files, as->file_count, as->file_capacity);

        if (slot == NULL)
            return asm_no_memory(as);
        *slot = lw_arena_strdup(&object->arena, *as->name != '\0' ? as->name : "-");
        if (*slot == NULL)
            return asm_no_memory(as);
    }
    while (row_count > 0 && rows[row_count - 1].insn >= as->text_count)
        row_count--; /* drops line-table rows from a .loc after the last instruction */
    for (size_t i = 0; i < as->function_count; i++) {
        struct isa_function *function = &as->functions[i].out;
        size_t first = as->functions[i].param_first;

        if (as->own_lines)
            function->file = 1;
        else if (!as->functions[i].decl_given)
            function->line = 0;
        if (function->param_count != 0 &&
            !keep(as, &function->params, &as->params[first], function->param_count,
                  sizeof *as->params))
            return asm_no_memory(as);
    }
    count_call_trees(as);
    object->functions =
        lw_arena_alloc(&object->arena, as->function_count * sizeof *object->functions);
    if (object->functions == NULL)
        return asm_no_memory(as);
    for (size_t i = 0; i < as->function_count; i++)
        object->functions[i] = as->functions[i].out;
    if (!keep(as, &object->text, as->text, as->text_count, sizeof *as->text) ||
        !keep(as, &object->variables, as->variables, as->variable_count,
              sizeof *as->variables) ||
        !keep(as, &object->lines, rows, row_count, sizeof *rows) ||
        !keep(as, &object->files, as->files, as->file_count, sizeof *as->files) ||
        !keep(as, &object->const_bank, as->bank.bytes, as->bank.size, 1))
        return asm_no_memory(as);
    object->text_count = (uint32_t)as->text_count;
    object->function_count = (unsigned)as->function_count;
    object->variable_count = (unsigned)as->variable_count;
    object->line_count = (unsigned)row_count;
    object->file_count = (unsigned)as->file_count;
    object->const_bank_bytes = (uint32_t)as->bank.size;
    if (!as->producer_given)
        object->producer = "lanewise assembler";
    status = isa_object_check(object, as->err);
    if (status != LW_OK)
        lw_error_prefix(as->err, "%s", as->name);
    return status;
}

static void state_fini(struct asm_state *as)
{
    free(as->text);
    free(as->functions);
    free(as->params);
    free(as->variables);
    free(as->rows);
    free(as->own_rows);
    free(as->files);
    free(as->fixups);
    free(as->relocs);
    free(as->init.bytes);
    free(as->bank.bytes);
    name_map_fini(&as->labels);
    name_map_fini(&as->symbols);
    name_map_fini(&as->param_names);
}

enum lw_status isa_assemble(const char *name, const char *text, size_t size,
                            struct isa_object **out, struct lw_error *err)
{
    return isa_assemble_as(name, text, size, ISA_ASM_KEEP, out, err);
}

enum lw_status isa_assemble_as(const char *name, const char *text, size_t size, enum isa_asm_control control,
                               struct isa_object **out, struct lw_error *err)
{
    struct asm_state as = { .name = name, .err = err, .control = control, .own_lines = true };
    enum lw_status status;
    const char **slot;

    as.object = isa_object_create();
    slot = (const char **)ASM_PUSH(as.files, as.file_count, as.file_capacity);
    if (as.object == NULL || slot == NULL) {
        status = asm_no_memory(&as);
        goto cleanup;
    }
    *slot = "";
    if (size >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0) { /* skips a byte order mark */
        text += 3;
        size -= 3;
    }
    status = all_lines(&as, text, size);
    if (status == LW_OK)
        status = finish(&as);
    if (status != LW_OK)
        goto cleanup;
    *out = as.object;
    as.object = NULL; /* the caller now owns the object */
cleanup:
    isa_object_destroy(as.object);
    state_fini(&as);
    return status;
}
