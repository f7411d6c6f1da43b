/* SPDX-License-Identifier: Apache-2.0 */
/* The corpus of tests/native/fuzz_native.c, and random changes of its kernels. */
#ifndef FUZZ_NATIVE_MUTATE_H
#define FUZZ_NATIVE_MUTATE_H

#include <glob.h>

#include "tests/isa/prop_isa_random.h"
#include "tests/native/fuzz_native_kernels.h"

enum {
    PARAMS = 256,            /* most bytes of a kernel's parameters */
    MOST_INSTRUCTIONS = 400, /* larger kernels are not used */
    MOST_EDITS = 6, MOST_TRIES = 20
};

/** A kernel before it is changed. */
struct sample {
    struct isa_object *object;
    struct isa_function *kernel;
    struct isa_word *words; /* [object->text_count] the text of the object */
};
static struct sample *samples;
static size_t sample_count, sample_capacity, built_in;

static uint64_t rejected_words; /* number of changed words that were no instructions */

/* ---- corpus ------------------------------------------------------------------------------------- */

static inline void require(bool condition, const char *what)
{
    if (condition)
        return;
    fprintf(stderr, "fuzz_native: %s\n", what);
    exit(99);
}

/** Adds the kernels of an assembly file. */
static inline void add_samples(const char *name, const char *text, size_t size)
{
    struct lw_error err;
    struct isa_object *object;

    if (isa_assemble(name, text, size, &object, &err) != LW_OK)
        require(false, err.text);
    object->line_count = 0; /* describe() shows no lines */
    const size_t bytes = object->text_count * sizeof(struct isa_word);
    struct isa_word *words = malloc(bytes);
    require(words != NULL, "no memory");
    memcpy(words, object->text, bytes);
    for (unsigned f = 0; f < object->function_count; f++) {
        struct isa_function *fn = &object->functions[f];
        if (!fn->kernel || fn->count > MOST_INSTRUCTIONS || fn->param_bytes > PARAMS)
            continue;
        require(lw_grow(&samples, &sample_capacity, sample_count + 1, sizeof *samples), "no memory");
        samples[sample_count++] = (struct sample){object, fn, words};
    }
}

static inline void add_file(const char *path)
{
    struct lw_error err;
    char *text;
    size_t size;

    if (lw_file_read(path, &text, &size, &err) != LW_OK)
        require(false, err.text);
    add_samples(path, text, size);
    free(text);
}

static inline void make_corpus(int count, char **files)
{
    const char *folder = getenv("srcdir");
    char pattern[4096];
    glob_t found;

    for (size_t i = 0; i < LW_COUNT_OF(fuzz_kernels); i++)
        add_samples("built-in", fuzz_kernels[i], strlen(fuzz_kernels[i]));
    built_in = sample_count;
    for (int i = 0; i < count; i++)
        add_file(files[i]);
    snprintf(pattern, sizeof pattern, "%s/kernels/*.s", folder != NULL ? folder : ".");
    if (count != 0 || glob(pattern, 0, NULL, &found) != 0)
        return;
    for (size_t i = 0; i < found.gl_pathc; i++)
        add_file(found.gl_pathv[i]);
    globfree(&found);
}

/* ---- mutation ----------------------------------------------------------------------------------- */

static inline uint32_t number(struct prop_random *r)
{
    static const uint32_t numbers[] = {0, 1, 2, 3, 4, 5, 7, 8, 12, 15, 16, 24, 31, 32, 33, 48, 63, 64, 65, 127, 255, 256, 0x1000,
                                       0xffff, 0x3f800000, 0x40490fdb, 0x7f800000, 0x7fc00000, 0xff800000, 0x7fffffff,
                                       0x80000000, 0x80000001, 0xfffffff0, 0xfffffffe, 0xffffffff};

    return prop_below(r, 8) != 0 ? numbers[prop_below(r, LW_COUNT_OF(numbers))] : (uint32_t)prop_next(r);
}

/** Returns a register that kernels of the corpus are likely to use. */
static inline uint8_t low_register(struct prop_random *r)
{
    return prop_below(r, 12) == 0 ? ISA_VZ : (uint8_t)prop_below(r, 18);
}

/** Replaces a register, or the registers of all operands. */
static inline void change_register(struct prop_random *r, struct isa_insn *insn, bool all)
{
    const struct isa_operands *operands = &isa_op_info((enum isa_op)insn->op)->operands;
    const unsigned one = prop_below(r, 4);

    if ((all || one == 0) && isa_operands_find(operands, ISA_TK_D) >= 0)
        insn->d = low_register(r);
    if (all || one == 1)
        insn->a = insn->a != 0 || all ? low_register(r) : insn->a;
    if (all || one == 2)
        insn->c = insn->c != 0 || all ? low_register(r) : insn->c;
    if ((all || one == 3) && (insn->xkind <= ISA_X_SCALAR || isa_operands_find(operands, ISA_TK_XREG) >= 0))
        insn->x = (insn->x & ~0xffu) | low_register(r);
    prop_align_groups(insn);
}

/** Makes @insn, which is zero, a random instruction with operands that occur in kernels. */
static inline void random_instruction(struct prop_random *r, struct isa_insn *insn)
{
    prop_insn(r, (enum isa_op)(1 + prop_below(r, ISA_OP_COUNT - 1)), insn);
    const struct isa_operands *operands = &isa_op_info((enum isa_op)insn->op)->operands;

    if (prop_below(r, 2)) {
        insn->guard = ISA_PT;
        insn->guard_neg = insn->guard_scalar = false;
    }
    if (insn->xkind == ISA_X_CONST)
        insn->x = 4 * prop_below(r, 10);
    else if (insn->xkind == ISA_X_IMM && isa_operands_find(operands, ISA_TK_X) >= 0)
        insn->x = number(r);
    else if (isa_operands_find(operands, ISA_TK_ADDR) >= 0 || isa_operands_find(operands, ISA_TK_SADDR) >= 0)
        insn->x = (insn->x & 0xff) | 4 * prop_below(r, 8) << 8;
    change_register(r, insn, true);
    if (isa_operands_find(operands, ISA_TK_A) < 0 && isa_operands_find(operands, ISA_TK_ADDR) < 0)
        insn->a = 0;
    if (isa_operands_find(operands, ISA_TK_C) < 0 && isa_operands_find(operands, ISA_TK_ADDR) < 0)
        insn->c = 0;
}

/** Changes one field of an instruction. Returns false if the result cannot be encoded. */
static inline bool change_field(struct prop_random *r, struct isa_word *word, uint32_t at, uint32_t count)
{
    const struct isa_op_info *info;
    struct isa_insn insn;
    int64_t target;

    if (!isa_insn_decode(*word, &insn))
        return false;
    info = isa_op_info((enum isa_op)insn.op);
    switch (prop_below(r, 5)) {
    case 0:
    case 1: change_register(r, &insn, false); break;
    case 2: /* an immediate, an offset, or a target */
        if (isa_insn_jumps(&insn, at, &target) || insn.op == ISA_BSSY)
            insn.x = prop_below(r, count) - at - 1;
        else if (isa_operands_find(&info->operands, ISA_TK_ADDR) >= 0)
            insn.x = (insn.x & 0xff) | (number(r) & 0xfff) << 8;
        else
            insn.x = insn.xkind == ISA_X_IMM ? number(r) : insn.x;
        break;
    case 3:
        insn.guard = (uint8_t)(prop_below(r, 3) ? prop_below(r, 4) : ISA_PT);
        insn.guard_neg = insn.guard != ISA_PT && prop_below(r, 2);
        insn.guard_scalar = insn.guard != ISA_PT && prop_below(r, 6) == 0;
        break;
    default:
        for (unsigned mod = prop_below(r, ISA_MOD_COUNT), k = 0; k < ISA_MOD_COUNT; k++, mod = (mod + 1) % ISA_MOD_COUNT)
            if (isa_mod_applies(mod, info)) {
                prop_mod(r, &insn, info, mod);
                break;
            }
    }
    return isa_insn_encode(&insn, word, NULL) == LW_OK;
}

/** Changes the @count words of a kernel once. Returns false if a changed word is no instruction. */
static inline bool edit(struct prop_random *r, struct isa_word *text, uint32_t count)
{
    const uint32_t at = prop_below(r, count), other = prop_below(r, count);
    const struct sample *from = &samples[prop_below(r, (unsigned)sample_count)];
    const unsigned bit = prop_below(r, 108);
    struct isa_insn insn = {0};

    switch (prop_below(r, 8)) {
    case 0: /* flips a bit, but not in the control field */
        *(bit < 64 ? &text[at].lo : &text[at].hi) ^= UINT64_C(1) << bit % 64;
        break;
    case 1: text[at] = text[other]; break;
    case 2: { /* copies instructions of any kernel */
        const uint32_t first = from->kernel->first + prop_below(r, from->kernel->count);
        for (uint32_t k = 0, n = 1 + prop_below(r, 5); k < n && at + k < count && first + k < from->object->text_count; k++)
            text[at + k] = from->words[first + k];
        break;
    }
    case 3: {
        const struct isa_word word = text[at];
        text[at] = text[other];
        text[other] = word;
        break;
    }
    case 4:
        random_instruction(r, &insn);
        if (isa_insn_encode(&insn, &text[at], NULL) != LW_OK)
            return false;
        break;
    default:
        if (!change_field(r, &text[at], at, count))
            return false;
    }
    return isa_insn_decode(text[at], &insn);
}

/** Keeps branches inside the kernel, because copied ones may leave it. */
static inline void repair_targets(struct prop_random *r, struct isa_word *text, uint32_t count)
{
    struct isa_insn insn;
    int64_t target;

    for (uint32_t i = 0; i < count; i++) {
        if (!isa_insn_decode(text[i], &insn) || insn.op == ISA_CALL || i + 1 + insn.x < count ||
            !(isa_insn_jumps(&insn, i, &target) || insn.op == ISA_BSSY))
            continue;
        insn.x = prop_below(r, count) - i - 1;
        require(isa_insn_encode(&insn, &text[i], NULL) == LW_OK, "a branch cannot be encoded");
    }
}

static inline void restore(const struct sample *sample)
{
    memcpy(sample->object->text, sample->words, sample->object->text_count * sizeof *sample->words);
}

/** Changes the kernel of @sample at random. Returns false if the result is no object. */
static inline bool mutate(struct prop_random *r, const struct sample *sample)
{
    const uint32_t count = sample->kernel->count;
    struct isa_word *text = sample->object->text + sample->kernel->first, *before = malloc(count * sizeof *before);

    require(before != NULL, "no memory");
    restore(sample);
    for (unsigned n = 1 + prop_below(r, 1 + prop_below(r, MOST_EDITS)), tries = 0; n > 0 && tries < MOST_TRIES; tries++) {
        memcpy(before, text, count * sizeof *before);
        if (edit(r, text, count)) {
            n--;
        } else {
            memcpy(text, before, count * sizeof *before);
            rejected_words++;
        }
    }
    free(before);
    repair_targets(r, text, count);
    return isa_object_check(sample->object, NULL) == LW_OK;
}

#endif
