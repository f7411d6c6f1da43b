/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Assigns values to the levels of a register file as a compiler would: to the last result file, the operand register file and the
 * main register file. A value is what an instruction writes to a vector register, up to the next write of all its lanes.
 *
 * The code is divided into strands, within which a warp never has to wait for a load that the strand has issued. A strand is
 * a sequence of instructions without branch targets, branches and barriers. It ends before an instruction that needs the
 * result of a load of the strand. The last result file and the operand register file have values only within a strand:
 *
 *   all reads are by the next instruction          last result file
 *   other values that the strand reads             an entry of the operand register file, while one is free, up to the last read
 *   live after the strand, or not read in it       main register file (in addition)
 *
 * Results of loads from outside the core and writes with a guard go to the main register file. Source: specification of the
 * book on GPU architectures, section 13. Our choices: entries are assigned in the order of the code; a value that does not
 * get one when it is written stays in the main register file.
 */
#include "timing/decode/tim_static_priv.h"

#include <assert.h>
#include <stdlib.h>

enum { MOST_ENTRIES = 16 };

bool *tim_code_leaders(const struct tim_code *code)
{
    bool *leads = calloc((size_t)code->count + 1, sizeof *leads);
    const struct isa_object *object = emu_program_object(code->program);

    if (leads == NULL)
        return NULL;
    for (unsigned f = 0; f < object->function_count; f++)
        if (object->functions[f].first < code->count)
            leads[object->functions[f].first] = true;
    for (uint32_t i = 0; i < code->count; i++) {
        int64_t target;

        if (isa_insn_target(tim_insn_at(code, i), i, &target) && target >= 0 && target < (int64_t)code->count)
            leads[target] = true;
        if (code->insn[i].flow || (isa_op_info((enum isa_op)tim_insn_at(code, i)->op)->flags & (ISA_F_BARRIER | ISA_F_CONTROL)) != 0)
            leads[i + 1] = true;
    }
    return leads;
}

/** Returns whether the instruction reads or writes a register of @set. */
static bool needs(const struct tim_static *what, const struct tim_vectors *set)
{
    for (unsigned k = 0; k < what->row_reads; k++)
        if (tim_vectors_has(set, what->row_read[k]))
            return true;
    for (unsigned k = 0; k < what->row_writes; k++)
        if (tim_vectors_has(set, what->row_write[k]))
            return true;
    return false;
}

uint32_t tim_strand_end(const struct tim_code *code, const bool *leads, uint32_t begin)
{
    struct tim_vectors loaded = {{0}};
    uint32_t i = begin;

    do {
        if (i != begin && needs(&code->insn[i], &loaded))
            break;
        for (unsigned k = 0; tim_is_far(&code->insn[i]) && k < code->insn[i].row_writes; k++)
            tim_vectors_add(&loaded, code->insn[i].row_write[k]);
        i++;
    } while (i < code->count && !leads[i]);
    return i;
}

/** Number and positions of the reads of a value in its strand. */
struct reads {
    unsigned count;
    uint32_t first, last;
    bool in_main; /* the value is live after the strand, or an instruction writes only some of its lanes: the main file needs it */
};

static struct reads find_reads(const struct tim_code *code, uint32_t at, unsigned reg, uint32_t end, const struct tim_vectors *after)
{
    struct reads out = {.in_main = tim_vectors_has(after, reg)};

    for (uint32_t i = at + 1; i < end; i++) {
        const struct tim_static *what = &code->insn[i];

        for (unsigned k = 0; k < what->row_reads; k++)
            if (what->row_read[k] == reg) {
                out.first = out.count++ == 0 ? i : out.first;
                out.last = i;
            }
        for (unsigned k = 0; k < what->row_writes; k++)
            if (what->row_write[k] == reg) {
                out.in_main = !tim_writes_all(code, i);
                return out;
            }
    }
    return out;
}

/** Marks the reads of register @reg by instructions @from to @last as reads from the last result file or, if @in_last is not
 *  set, from the operand register file. */
static void mark(struct tim_code *code, unsigned reg, uint32_t from, uint32_t last, bool in_last)
{
    for (uint32_t i = from; i <= last; i++)
        for (unsigned k = 0; k < code->insn[i].row_reads; k++)
            if (code->insn[i].row_read[k] == reg)
                *(in_last ? &code->level[i].read_last : &code->level[i].read_near) |= (uint16_t)(1u << k);
}

static void assign(struct tim_code *code, uint32_t begin, uint32_t end, unsigned entries, bool has_last)
{
    uint32_t busy[MOST_ENTRIES] = {0}; /* by entry: 1 + the instruction that reads its value last */
    struct tim_vectors after = {{0}};

    tim_live_after(code, end - 1, &after);
    code->level[begin].starts = true;
    for (uint32_t i = begin; i < end; i++) {
        const struct tim_static *what = &code->insn[i];
        struct tim_level *level = &code->level[i];

        level->write_main = (uint8_t)((1u << what->row_writes) - 1);
        for (unsigned k = 0; k < what->row_writes && tim_reads_later(what) && !tim_is_far(what) && tim_writes_all(code, i); k++) {
            const unsigned reg = what->row_write[k];
            const struct reads reads = find_reads(code, i, reg, end, &after);
            unsigned e = 0;

            if (reads.count == 0)
                continue;
            if (has_last && what->row_writes == 1 && reads.last == i + 1 && !reads.in_main) {
                level->write_last |= (uint8_t)(1u << k);
                mark(code, reg, i + 1, i + 1, true);
            } else {
                while (e < entries && busy[e] > i + 1)
                    e++;
                if (e == entries)
                    continue;
                busy[e] = reads.last + 1;
                level->write_near |= (uint8_t)(1u << k);
                mark(code, reg, i + 1, reads.last, false);
            }
            if (!reads.in_main)
                level->write_main &= (uint8_t)~(1u << k);
        }
    }
}

bool tim_values_fill(struct tim_code *code, unsigned entries, bool has_last)
{
    bool *leads = tim_code_leaders(code);

    assert(entries <= MOST_ENTRIES);
    code->level = calloc((size_t)code->count + 1, sizeof *code->level);
    for (uint32_t i = 0, end; leads != NULL && code->level != NULL && i < code->count; i = end) {
        end = tim_strand_end(code, leads, i);
        assign(code, i, end, entries, has_last);
    }
    free(leads);
    return leads != NULL && code->level != NULL;
}
