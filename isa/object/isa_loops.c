/* SPDX-License-Identifier: Apache-2.0 */
/* The loops of an object, and the section .lanewise.loops that stores them (docs/reference/object.md). */
#include "isa/object/isa_elf_priv.h"

static const uint8_t loops_magic[8] = { 'L', 'W', 'L', 'P', 'S', 0, 0, 1 };
enum { MAX_DEPTH = 4096 };

void isa_loops_write(const struct isa_object *object, struct isa_bytes *out)
{
    if (object->loop_count == 0)
        return;
    isa_bytes_put(out, loops_magic, sizeof loops_magic);
    isa_bytes_uleb(out, object->loop_count);
    for (unsigned i = 0; i < object->loop_count; i++) {
        const struct isa_loop *loop = &object->loops[i];

        isa_bytes_uleb(out, loop->header);
        isa_bytes_uleb(out, loop->depth);
        isa_bytes_uleb(out, loop->parent == UINT32_MAX ? 0 : loop->parent + UINT64_C(1));
        isa_bytes_uleb(out, loop->file);
        isa_bytes_uleb(out, loop->from_line);
        isa_bytes_uleb(out, loop->to_line);
        isa_bytes_uleb(out, loop->latch_count);
        for (uint32_t k = 0; k < loop->latch_count; k++)
            isa_bytes_uleb(out, loop->latches[k]);
        isa_bytes_uleb(out, loop->exit_count);
        for (uint32_t k = 0; k < loop->exit_count; k++)
            isa_bytes_uleb(out, loop->exits[k]);
    }
}

static uint32_t *get_insn_list(struct isa_reader *r, uint32_t *count, const char *what)
{
    size_t n = isa_reader_count(r, 1, what);
    uint32_t *at = isa_reader_capacity(r, n, sizeof *at);

    *count = 0;
    for (size_t i = 0; i < n && r->status == LW_OK; i++) {
        at[i] = (uint32_t)isa_reader_number(r, UINT32_MAX, what);
        *count = (uint32_t)i + 1;
    }
    return at;
}

enum lw_status isa_loops_read(const uint8_t *data, size_t size, struct isa_object *object,
                              struct lw_error *err)
{
    struct isa_reader r = isa_reader_begin(".lanewise.loops", loops_magic, data, size, object, err);
    size_t count;

    if (r.status != LW_OK)
        return r.status;
    count = isa_reader_count(&r, 8, "loop count");
    object->loops = isa_reader_capacity(&r, count, sizeof *object->loops);
    for (size_t i = 0; i < count && r.status == LW_OK; i++) {
        struct isa_loop *loop = &object->loops[i];
        uint64_t parent;

        loop->header = (uint32_t)isa_reader_number(&r, UINT32_MAX, "header of a loop");
        loop->depth = (uint32_t)isa_reader_number(&r, MAX_DEPTH, "depth of a loop");
        parent = isa_reader_number(&r, UINT32_MAX, "parent of a loop");
        loop->parent = parent == 0 ? UINT32_MAX : (uint32_t)(parent - 1);
        loop->file = (uint16_t)isa_reader_number(&r, UINT16_MAX, "file of a loop");
        loop->from_line = (uint32_t)isa_reader_number(&r, UINT32_MAX, "line of a loop");
        loop->to_line = (uint32_t)isa_reader_number(&r, UINT32_MAX, "line of a loop");
        loop->latches = get_insn_list(&r, &loop->latch_count, "latch of a loop");
        loop->exits = get_insn_list(&r, &loop->exit_count, "exit of a loop");
        object->loop_count = (unsigned)i + 1;
    }
    return isa_reader_end(&r, "loop");
}

static enum lw_status check_insn_list(const struct isa_object *object, unsigned i,
                                   const struct isa_function *function, const uint32_t *at,
                                   uint32_t count, const char *what, struct lw_error *err)
{
    for (uint32_t k = 0; k < count; k++) {
        if (at[k] < function->first || at[k] - function->first >= function->count ||
            (k != 0 && at[k] <= at[k - 1]))
            return LW_FAIL(err, LW_EFORMAT, "loop %u: its %s %u is in another function or out of "
                           "order", i, what, at[k]);
    }
    (void)object;
    return LW_OK;
}

enum lw_status isa_loops_check(const struct isa_object *object, struct lw_error *err)
{
    for (unsigned i = 0; i < object->loop_count; i++) {
        const struct isa_loop *loop = &object->loops[i];
        const struct isa_function *function =
            loop->header < object->text_count ? isa_object_function_at(object, loop->header) : NULL;
        const struct isa_loop *parent =
            loop->parent < object->loop_count ? &object->loops[loop->parent] : NULL;
        enum lw_status status;

        if (function == NULL || (i != 0 && loop->header < object->loops[i - 1].header))
            return LW_FAIL(err, LW_EFORMAT, "loop %u: its header %u is not inside a function, or out of order",
                           i, loop->header);
        if ((loop->parent != UINT32_MAX && parent == NULL) ||
            loop->depth != (parent == NULL ? 1 : parent->depth + 1) ||
            (parent != NULL && isa_object_function_at(object, parent->header) != function))
            return LW_FAIL(err, LW_EFORMAT, "loop %u: depth %u does not match the depth of its parent", i,
                           loop->depth);
        if (loop->latch_count == 0)
            return LW_FAIL(err, LW_EFORMAT, "loop %u has no latch", i);
        if (loop->file >= object->file_count || loop->from_line > loop->to_line)
            return LW_FAIL(err, LW_EFORMAT, "loop %u: file %u with lines %u to %u is not possible", i, loop->file,
                           loop->from_line, loop->to_line);
        status = check_insn_list(object, i, function, loop->latches, loop->latch_count, "latch", err);
        if (status == LW_OK)
            status = check_insn_list(object, i, function, loop->exits, loop->exit_count, "exit", err);
        if (status != LW_OK)
            return status;
    }
    return LW_OK;
}

static void print_insn_list(const uint32_t *at, uint32_t count, const char *what, struct lw_sink *out)
{
    if (count != 0)
        lw_printf(out, ", %s", what);
    for (uint32_t k = 0; k < count; k++)
        lw_printf(out, " 0x%llx",
                  (unsigned long long)(ISA_CODE_BASE + (uint64_t)at[k] * ISA_WORD_BYTES));
}

void isa_loop_print(const struct isa_object *object, unsigned index, struct lw_sink *out)
{
    const struct isa_loop *loop = &object->loops[index];

    lw_printf(out, "loop %u at 0x%llx, depth %u", index,
              (unsigned long long)(ISA_CODE_BASE + (uint64_t)loop->header * ISA_WORD_BYTES),
              loop->depth);
    if (loop->parent != UINT32_MAX)
        lw_printf(out, " in %u", loop->parent);
    if (loop->from_line != 0)
        lw_printf(out, ", lines %u-%u", loop->from_line, loop->to_line);
    print_insn_list(loop->latches, loop->latch_count, "latches", out);
    print_insn_list(loop->exits, loop->exit_count, "exits", out);
}
