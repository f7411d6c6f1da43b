/* SPDX-License-Identifier: Apache-2.0 */
/* Expansion of PTX instructions that have no counterpart in our ISA into several PTX instructions. The parser replaces the
 * statement by the text of a block in braces, which declares the registers that it needs. All these names begin with
 * "%lw_" or "$lw_". */
#ifndef PTX_EXPAND_PRIV_H
#define PTX_EXPAND_PRIV_H

#include "ptx/ptx_priv.h"

enum { PTX_EXPAND_MODIFIERS = 20, PTX_EXPAND_OPERANDS = 8, PTX_EXPAND_PARTS = 16 };

/** Operand of the statement as text: a name or number, {a, b, ...}, or [address] or [handle, {a, b, ...}]. */
struct ptx_expand_operand {
    char bracket;              /* '[', '{', or 0 for a name or a number */
    struct ptx_name all;       /* the text of the operand, including its brackets */
    struct ptx_name first;     /* the text of an address or handle without brackets */
    unsigned count;            /* elements in braces */
    struct ptx_name part[PTX_EXPAND_PARTS]; /* these elements */
};
struct ptx_expansion {
    struct ptx_parser *parser;
    enum ptx_op op;
    struct ptx_name modifier[PTX_EXPAND_MODIFIERS]; /* modifiers and types, in the order of the statement */
    bool taken[PTX_EXPAND_MODIFIERS];
    unsigned modifier_count, next, line;
    struct ptx_expand_operand operand[PTX_EXPAND_OPERANDS];
    unsigned operand_count;
    bool newer;    /* the instruction may be newer than the module's .version */
    bool is_empty; /* the instruction does nothing */
    char *text;
    size_t size, capacity;
};

/** Returns true if ptx_expand_statement() replaces the statement that begins with instruction @op, whose name has just been
 *  read. */
bool ptx_expands(const struct ptx_parser *parser, enum ptx_op op);
/** Replaces instruction @insn, whose name has just been read, by other instructions, up to the end of the statement. */
void ptx_expand_statement(struct ptx_parser *parser, struct ptx_insn *insn);
/** Parses statements up to the brace after which braces are nested as deeply as @outer_depth. */
void ptx_parse_statements(struct ptx_parser *parser, const struct ptx_scope *function_scope, unsigned outer_depth);
/** Ends the translation with a message that begins with the name of the instruction. */
_Noreturn void ptx_expand_fail(struct ptx_expansion *x, enum lw_status status, const char *fmt, ...) LW_PRINTF(3, 4);
/** Appends to the text. */
void ptx_put(struct ptx_expansion *x, const char *fmt, ...) LW_PRINTF(2, 3);
/** Removes a modifier, if the statement has it. */
bool ptx_expand_take(struct ptx_expansion *x, const char *word);
/** Removes one of the modifiers in @words, which ends with NULL, and returns its index, or -1 if the statement has none. */
int ptx_expand_take_one(struct ptx_expansion *x, const char *const *words);
/** Removes and returns the first modifier that is left, or a name without text if there is none. */
struct ptx_name ptx_expand_take_next(struct ptx_expansion *x);
/** Refuses the modifiers that are left. */
void ptx_expand_leftovers(struct ptx_expansion *x);
/** Refuses the statement unless it has from @low to @high operands. */
void ptx_expand_operands(struct ptx_expansion *x, unsigned low, unsigned high);
/** Returns operand @index, which must be an address in brackets. */
const struct ptx_expand_operand *ptx_expand_address(struct ptx_expansion *x, unsigned index);
/** Returns operand @index, which must be a register, or @count registers in braces. */
const struct ptx_expand_operand *ptx_expand_vector(struct ptx_expansion *x, unsigned index, unsigned count);
/** Puts code that declares a register @name of 64 bits and writes @address into it. */
void ptx_expand_put_address(struct ptx_expansion *x, const struct ptx_expand_operand *address, const char *name);
/** Refuses the statement if the module has a lower version or target: 70 means 7.0, 80 means sm_80. */
void ptx_expand_need(struct ptx_expansion *x, unsigned version, unsigned target);
/** Puts the completion of @bytes of the present phase of barrier object @object, in shared memory. */
void ptx_expand_put_complete(struct ptx_expansion *x, const struct ptx_expand_operand *object, struct ptx_name bytes);

void ptx_expand_suld(struct ptx_expansion *x);
void ptx_expand_sust(struct ptx_expansion *x);
void ptx_expand_sured(struct ptx_expansion *x);
void ptx_expand_query(struct ptx_expansion *x);
void ptx_expand_mbarrier(struct ptx_expansion *x);
void ptx_expand_copy_arrive(struct ptx_expansion *x);
void ptx_expand_copy_bulk(struct ptx_expansion *x);
void ptx_expand_wmma(struct ptx_expansion *x);
void ptx_expand_mma(struct ptx_expansion *x);
void ptx_expand_ldmatrix(struct ptx_expansion *x);

/* Format and argument of a name in ptx_put(). */
#define PTX_NAME_FMT "%.*s"
#define PTX_NAME_ARG(name) (int)(name).size, (name).text

#endif
