/* SPDX-License-Identifier: Apache-2.0 */
/* Loops of a program, found by backward branches. They approximate the loops that a compiler would mark for the hardware
 * (specification of the warp scheduling thesis, section 5.2). */
#include "timing/decode/tim_static_priv.h"

#include <stdlib.h>

static int by_begin(const void *a, const void *b)
{
    const struct tim_loop *x = a, *y = b;

    if (x->begin != y->begin)
        return x->begin < y->begin ? -1 : 1;
    return x->end > y->end ? -1 : x->end < y->end;
}

/** Adds a loop for each backward branch. Returns false if memory is short. */
static bool add_branches(struct tim_code *code, size_t *room)
{
    const struct isa_object *object = emu_program_object(code->program);

    for (uint32_t i = 0; i < code->count; i++) {
        const struct isa_insn *insn = emu_program_insn(code->program, code->base + (uint64_t)i * ISA_WORD_BYTES);
        const struct isa_function *in;
        int64_t target;

        if (!isa_insn_jumps(insn, i, &target) || target < 0 || target > (int64_t)i)
            continue;
        if (!lw_grow(&code->loop, room, code->loop_count + 1u, sizeof *code->loop))
            return false;
        in = isa_object_function_at(object, i);
        code->loop[code->loop_count++] = (struct tim_loop){
            .begin = code->base + (uint64_t)target * ISA_WORD_BYTES, .end = code->base + (uint64_t)i * ISA_WORD_BYTES,
            .from = code->base + (in != NULL ? (uint64_t)in->first * ISA_WORD_BYTES : 0),
            .called = in != NULL && !in->kernel,
            .to = code->base + (in != NULL ? (uint64_t)in->first + in->count : code->count) * ISA_WORD_BYTES};
    }
    return true;
}

bool tim_loops_fill(struct tim_code *code)
{
    size_t room = 0;
    uint32_t kept = 0;

    code->loop_of = calloc((size_t)code->count + 1, sizeof *code->loop_of);
    if (code->loop_of == NULL || !add_branches(code, &room))
        return false;
    if (code->loop_count != 0)
        qsort(code->loop, code->loop_count, sizeof *code->loop, by_begin);
    for (uint32_t i = 0; i < code->loop_count; i++) /* keeps only the longest of the loops with the same first instruction; the
                                                     * sorted list has it before the others */
        if (kept == 0 || code->loop[kept - 1].begin != code->loop[i].begin)
            code->loop[kept++] = code->loop[i];
    code->loop_count = kept < TIM_LOOPS_MOST ? kept : TIM_LOOPS_MOST;
    for (uint32_t i = 0; i < code->loop_count; i++) { /* the list has an inner loop after the loops that contain it */
        struct tim_loop *loop = &code->loop[i];
        uint32_t around = code->loop_of[(loop->begin - code->base) / ISA_WORD_BYTES];

        while (around != 0 && code->loop[around - 1].end < loop->end)
            around = code->loop[around - 1].parent;
        loop->parent = (uint16_t)around;
        for (uint64_t pc = loop->begin; pc <= loop->end; pc += ISA_WORD_BYTES)
            code->loop_of[(pc - code->base) / ISA_WORD_BYTES] = (uint16_t)(i + 1);
    }
    return true;
}
