/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the arguments of OpenCL's printf in the form in which clang 16 stores them, consecutive and without gaps. The
 * arguments must be moved to their natural alignment. Only the format determines this alignment, because {float4, double}
 * and {float, float, float, float, double} have the same bytes. */
#include "ptx/select/ptx_select_priv.h"

struct reading {
    struct ptx_job *job;
    const uint8_t *at, *end;
    uint64_t from, to, room; /* from, to: offsets of the next argument before and after the move; room: number of bytes of
                              * all stored arguments */
    PTX_LIST(struct ptx_interval) pieces;
};

static void take(struct reading *rd, unsigned size, unsigned elements)
{
    unsigned room = elements == 3 ? 4 : elements; /* a vector of three is stored like a vector of four */
    uint64_t bytes = (uint64_t)size * elements;

    rd->to = (rd->to + size * room - 1) / (size * room) * (size * room);
    if (rd->from + bytes <= rd->room)
        *PTX_PUSH(rd->job, rd->pieces) =
            (struct ptx_interval){ (uint32_t)rd->from, (uint32_t)rd->to, (uint32_t)bytes };
    rd->from += bytes;
    rd->to += (uint64_t)size * room;
}

static unsigned peek(const struct reading *rd)
{
    return rd->at < rd->end ? *rd->at : 0;
}

static bool accept(struct reading *rd, unsigned c)
{
    bool found = peek(rd) == c;

    rd->at += found;
    return found;
}

static unsigned number(struct reading *rd)
{
    unsigned n = 0;

    for (; peek(rd) >= '0' && peek(rd) <= '9'; rd->at++)
        n = n < 1000 ? n * 10 + (peek(rd) - '0') : n;
    return n;
}

static bool is_one_of(unsigned c, const char *of)
{
    return c != 0 && strchr(of, (int)c) != NULL;
}

/* Reads one conversion of the format after its '%', and adds the moves of the arguments that emu_format() reads for it. */
static void conversion(struct reading *rd)
{
    unsigned vector = 0, length = 4, c;
    bool wide = false, half = false;

    while (is_one_of(peek(rd), "-+ #0'"))
        rd->at++;
    for (bool precision = false;; precision = true) {
        if (accept(rd, '*'))
            take(rd, 4, 1);
        else
            (void)number(rd);
        if (precision || !accept(rd, '.'))
            break;
    }
    if (accept(rd, 'v')) {
        vector = number(rd);
        if (vector != 2 && vector != 3 && vector != 4 && vector != 8 && vector != 16)
            return;
    }
    if (accept(rd, 'h')) {
        half = !accept(rd, 'l');
        length = !half ? 4 : accept(rd, 'h') ? 1 : 2;
    } else if (accept(rd, 'l')) {
        wide = true;
        (void)accept(rd, 'l');
        length = 8;
    } else if (is_one_of(peek(rd), "zjtLq")) {
        wide = true;
        rd->at++;
    }
    c = peek(rd);
    if (c == 0)
        return;
    rd->at++;
    if (vector != 0 && is_one_of(c, "diouxXfFeEgGaA"))
        take(rd, length, vector);
    else if (is_one_of(c, "diouxX"))
        take(rd, wide ? 8 : 4, 1);
    else if (c == 'c')
        take(rd, 4, 1);
    else if (is_one_of(c, "fFeEgGaAspn"))
        take(rd, 8, 1);
}

/* Returns the mov or cvta that defines a register, or NULL if another instruction, or more than one, defines the register. */
static const struct ptx_insn *definition(struct ptx_sel *sel, uint32_t reg)
{
    const struct ptx_function *fn = sel->fn;

    if (sel->definition == NULL) {
        sel->definition = PTX_ARRAY(sel->job, uint32_t, fn->regs.count + 1);
        for (size_t i = 0; i < fn->insns.count; i++) {
            const struct ptx_insn *in = &fn->insns.at[i];

            if ((in->op == PTX_MOV || in->op == PTX_CVTA) && in->operand_count == 2 &&
                in->operand[0].kind == PTX_O_REG)
                sel->definition[in->operand[0].reg] = (uint32_t)i + 1;
        }
    }
    return fn->regs.at[reg].definitions == 1 && sel->definition[reg] != 0
               ? &fn->insns.at[sel->definition[reg] - 1] : NULL;
}

/* Returns the variable whose address is stored in a .param variable. */
static const struct ptx_symbol *variable_of(struct ptx_sel *sel, const struct ptx_symbol *param,
                                            uint64_t *offset)
{
    const struct ptx_insn *in = param->first_use != 0 ? &sel->fn->insns.at[param->first_use - 1]
                                                      : NULL;

    if (in == NULL || in->op != PTX_ST)
        return NULL;
    for (unsigned steps = 0; in != NULL && in->operand_count == 2 && steps < 16; steps++) {
        const struct ptx_operand *value = &in->operand[1];

        if (value->kind == PTX_O_SYMBOL) {
            *offset = value->imm;
            return &sel->unit->module->symbols.at[value->symbol];
        }
        in = value->kind == PTX_O_REG ? definition(sel, value->reg) : NULL;
    }
    return NULL;
}

/* The bound is three times the size, because a gap is smaller than the argument that follows the gap, and a vector of
 * three grows by a third. */
uint64_t ptx_print_frame_bytes(const struct ptx_module *module, const struct ptx_operand *args)
{
    return args->kind == PTX_O_SYMBOL ? 3 * module->symbols.at[args->symbol].size_bytes : 0;
}

const struct ptx_interval *ptx_print_pieces(struct ptx_sel *sel, const struct ptx_symbol *format,
                                         const struct ptx_symbol *args, size_t *count)
{
    uint64_t offset = 0;
    const struct ptx_symbol *text = variable_of(sel, format, &offset);
    struct reading rd = { .job = sel->job, .room = args->size_bytes };

    if (text == NULL || text->kind != PTX_SYM_VARIABLE || text->init == NULL ||
        offset >= text->size_bytes)
        ptx_sel_fail(sel, LW_EUNSUPP,
                     "printf: the format must be a literal with clang 16, which does not describe where the arguments "
                     "are: use a literal, or another clang");
    rd.at = text->init + offset;
    rd.end = memchr(rd.at, 0, text->size_bytes - offset);
    if (rd.end == NULL)
        rd.end = text->init + text->size_bytes;
    while (rd.at < rd.end && (rd.at = memchr(rd.at, '%', (size_t)(rd.end - rd.at))) != NULL) {
        rd.at++;
        if (!accept(&rd, '%'))
            conversion(&rd);
    }
    *count = rd.pieces.count;
    return rd.pieces.at;
}
