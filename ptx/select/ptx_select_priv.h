/* SPDX-License-Identifier: Apache-2.0 */
/* Instruction selection, shared by ptx_select*.c: one PTX instruction at a time becomes
 * machine instructions on virtual registers. */
#ifndef PTX_SELECT_PRIV_H
#define PTX_SELECT_PRIV_H

#include "ptx/ptx_priv.h"

struct ptx_sel {
    struct ptx_unit *unit;
    struct ptx_job *job;
    struct ptx_function *fn;
    struct ptx_insn in; /* a copy; words are taken from it as they are honoured */
    uint32_t first_temp; /* virtual registers from here on are this instruction's own */
    uint32_t *block_at;  /* by PTX instruction: its block, where one starts */
    uint32_t *call_at;   /* by PTX instruction: the first block of a call, or PTX_NONE */
    uint32_t current;    /* block being filled */
    const struct ptx_reg *local; /* an access's register, if it points to a local variable */
    uint32_t wrap;       /* block of a call's results, PTX_NONE: the same */
    uint32_t call_area;  /* in the frame: arguments of print and assertion rows */
    uint32_t *definition; /* by register: the mov or cvta that defines it + 1 (ptx_printf_args.c) */
};
typedef void (*ptx_rule_fn)(struct ptx_sel *sel);

/** The rule of an instruction, NULL: refused by name. */
ptx_rule_fn ptx_rule(enum ptx_op op);

_Noreturn void ptx_sel_fail(struct ptx_sel *sel, enum lw_status status, const char *fmt, ...)
    LW_PRINTF(3, 4);
void ptx_sel_operands(struct ptx_sel *sel, unsigned low, unsigned high);
enum ptx_type ptx_sel_type(struct ptx_sel *sel, unsigned index);

/** The virtual register of a register of the text. */
ptx_ref ptx_sel_reg(struct ptx_sel *sel, uint32_t reg);
/** A fresh virtual register of @rows rows (0: a predicate). */
ptx_ref ptx_sel_temp(struct ptx_sel *sel, unsigned rows);
/** A value of 32 bits in a register of its own. */
ptx_ref ptx_sel_literal(struct ptx_sel *sel, uint32_t value);
/** Take .rn .rz .rm .rp, with @integral also .rni .rzi .rmi .rpi: ISA_CRND_RN ..., or @none. */
unsigned ptx_take_rounding(struct ptx_insn *in, bool integral, unsigned none);
struct ptx_mi *ptx_sel_emit(struct ptx_sel *sel, enum isa_op op);
/** D, A, X and C in one call; PTX_NO_REF leaves a slot out; rows are those of the slot. */
struct ptx_mi *ptx_sel_put(struct ptx_sel *sel, enum isa_op op, ptx_ref d, ptx_ref a, ptx_ref x,
                           ptx_ref c, unsigned rows);
/** d = value, as an instruction that later passes fold away where they can. */
void ptx_sel_imm(struct ptx_sel *sel, ptx_ref d, unsigned rows, uint64_t value);
void ptx_sel_move(struct ptx_sel *sel, ptx_ref d, ptx_ref s, unsigned rows);

/** An operand as a source of type @type (PTX_ZERO for zero); a register of another type is
 *  refused. */
ptx_ref ptx_sel_source(struct ptx_sel *sel, unsigned index, enum ptx_type type);
ptx_ref ptx_sel_value(struct ptx_sel *sel, const struct ptx_operand *operand,
                      enum ptx_type type);
/** The same, extended to 32 bits by its type if it has fewer. */
ptx_ref ptx_sel_extended(struct ptx_sel *sel, unsigned index, enum ptx_type type);
ptx_ref ptx_sel_extend(struct ptx_sel *sel, ptx_ref ref, enum ptx_type type);
/** The same where PTX lets the register have more bits than the type: ld, st, cvt. */
ptx_ref ptx_sel_value_wide(struct ptx_sel *sel, const struct ptx_operand *operand,
                           enum ptx_type type);
/** A destination of type @type; _wide: or of more bits, in exactly @rows rows. */
ptx_ref ptx_sel_dest(struct ptx_sel *sel, const struct ptx_operand *operand, enum ptx_type type);
ptx_ref ptx_sel_dest_wide(struct ptx_sel *sel, const struct ptx_operand *operand,
                          enum ptx_type type, unsigned rows);
unsigned ptx_sel_reg_bytes(const struct ptx_sel *sel, const struct ptx_operand *operand);
/** Refuse modifiers that contradict each other or the types, and mandatory ones that are missing. */
void ptx_sel_check(struct ptx_sel *sel);
/** Refuse types and modifiers that the operation does not have (ptx_verify_types.c). */
void ptx_verify_types(struct ptx_sel *sel);
/** Refuse what came later than the module's .version or .target (ptx_verify_version.c). */
void ptx_verify_version(struct ptx_sel *sel);
/** Advice for caches, which nothing here takes. */
bool ptx_is_hint(enum ptx_word word);
/** The predicate register that an operand is. */
ptx_ref ptx_sel_pred(struct ptx_sel *sel, const struct ptx_operand *operand);
/** A predicate written (PTX_NO_REF for _) or read. */
ptx_ref ptx_sel_pred_dest(struct ptx_sel *sel, const struct ptx_operand *operand);
void ptx_sel_pred_read(struct ptx_sel *sel, struct ptx_mi *mi, enum ptx_slot slot,
                       const struct ptx_operand *operand);
/** True when the operand's value is known: a literal, or a register set once to one. */
bool ptx_sel_known(const struct ptx_sel *sel, const struct ptx_operand *operand, uint64_t *value);
/** The address of a variable as a value. */
ptx_ref ptx_sel_symbol(struct ptx_sel *sel, uint32_t symbol, int64_t addend, unsigned rows);
/** Take whatever cache, order and scope words there are, for @mi, which accesses memory. */
void ptx_sel_order(struct ptx_sel *sel, struct ptx_mi *mi);

/** A register with a fixed row, for what a call passes. */
ptx_ref ptx_sel_fixed(struct ptx_sel *sel, unsigned row, unsigned rows);
/** Load or store of a register or pair at @offset of the frame; may be given other offsets. */
struct ptx_mi *ptx_sel_local(struct ptx_sel *sel, bool store, ptx_ref ref, uint32_t offset,
                             unsigned rows);
/** The offset of what is @addend past the start of an aggregate that the caller passed. */
ptx_ref ptx_sel_pointer(struct ptx_sel *sel, const struct ptx_symbol *s, uint64_t addend,
                        unsigned rows);
/** The offset in local memory of @offset of the frame, in @rows rows. */
ptx_ref ptx_sel_local_address(struct ptx_sel *sel, uint64_t offset, unsigned rows);

/* ---- parameters (ptx_param.c) ------------------------------------------------ */

enum { PTX_FIRST_ARGUMENT = 4, PTX_LAST_ARGUMENT = 31 };
/** Where a parameter travels. */
struct ptx_param_slot {
    unsigned row, rows;
    bool on_stack;
    uint32_t offset; /* from the caller's v2 */
};
struct ptx_param_slots {
    unsigned next;
    uint32_t bytes;
};
struct ptx_param_slot ptx_param_location(struct ptx_param_slots *places, unsigned rows);
bool ptx_param_is_scalar(const struct ptx_symbol *s);
/** Rows that travel: of an aggregate, those of its offset. */
unsigned ptx_param_rows(const struct ptx_symbol *s);
/** Bytes on the stack of a call. */
uint32_t ptx_param_stack(const struct ptx_module *module, const uint32_t *results,
                         size_t result_count, const uint32_t *params, size_t param_count);
/** Give every .param variable of the function its home; @target by instruction: branches go
 *  there. */
void ptx_param_homes(struct ptx_sel *sel, const uint8_t *target);
/** Registers that hold nothing but the address of a local variable, as debuggable code has them. */
void ptx_find_locals(struct ptx_sel *sel);
/** A load or store of a .param variable that lives in a register; false: it does not. */
bool ptx_param_load(struct ptx_sel *sel);
bool ptx_param_store(struct ptx_sel *sel);

/* ---- calls (ptx_select_call.c) ----------------------------------------------- */

/** Room at the frame's start for what calls pass on the stack, and for rows that print. */
void ptx_sel_call_frame_bytes(struct ptx_sel *sel);
/** Blocks that a call needs of its own: guarded ones are branched around, and lanes that may
 *  return apart reconverge after it. */
unsigned ptx_sel_call_blocks(const struct ptx_sel *sel, const struct ptx_insn *in);
bool ptx_sel_call_wraps(const struct ptx_sel *sel, const struct ptx_insn *in);
/** A function's parameters at its entry, its results before it returns. */
void ptx_sel_enter(struct ptx_sel *sel);
void ptx_sel_leave(struct ptx_sel *sel);

void ptx_rule_call(struct ptx_sel *sel);
void ptx_rule_ld(struct ptx_sel *sel);
void ptx_rule_st(struct ptx_sel *sel);
void ptx_rule_atom(struct ptx_sel *sel);
void ptx_rule_red(struct ptx_sel *sel);
void ptx_rule_cvta(struct ptx_sel *sel);
void ptx_rule_isspacep(struct ptx_sel *sel);
void ptx_rule_hint(struct ptx_sel *sel);
void ptx_rule_cp(struct ptx_sel *sel);
void ptx_rule_tex(struct ptx_sel *sel);
void ptx_rule_match(struct ptx_sel *sel);
void ptx_rule_redux(struct ptx_sel *sel);
void ptx_rule_elect(struct ptx_sel *sel);
void ptx_rule_mov(struct ptx_sel *sel);
void ptx_rule_cvt(struct ptx_sel *sel);
void ptx_rule_setp(struct ptx_sel *sel);
void ptx_rule_set(struct ptx_sel *sel);
void ptx_rule_selp(struct ptx_sel *sel);
void ptx_rule_slct(struct ptx_sel *sel);
void ptx_rule_bit(struct ptx_sel *sel);
void ptx_rule_bfe(struct ptx_sel *sel);
void ptx_rule_bfi(struct ptx_sel *sel);
void ptx_rule_bfind(struct ptx_sel *sel);
void ptx_rule_shf(struct ptx_sel *sel);
void ptx_rule_lop3(struct ptx_sel *sel);
void ptx_rule_prmt(struct ptx_sel *sel);
void ptx_rule_shfl(struct ptx_sel *sel);
void ptx_rule_vote(struct ptx_sel *sel);
void ptx_rule_activemask(struct ptx_sel *sel);
void ptx_rule_bar(struct ptx_sel *sel);
void ptx_rule_fence(struct ptx_sel *sel);
void ptx_rule_nanosleep(struct ptx_sel *sel);
void ptx_rule_trap(struct ptx_sel *sel);
void ptx_rule_negabs(struct ptx_sel *sel);
void ptx_rule_alu(struct ptx_sel *sel);
void ptx_rule_addsub(struct ptx_sel *sel);
void ptx_rule_mixed(struct ptx_sel *sel);
void ptx_rule_cvt_tf32(struct ptx_sel *sel);
void ptx_rule_mulmad(struct ptx_sel *sel);
void ptx_rule_mul24(struct ptx_sel *sel);
void ptx_rule_sad(struct ptx_sel *sel);
void ptx_rule_dot(struct ptx_sel *sel);
void ptx_rule_minmax(struct ptx_sel *sel);
void ptx_rule_mask(struct ptx_sel *sel);
void ptx_rule_fns(struct ptx_sel *sel);
void ptx_rule_reciprocal(struct ptx_sel *sel);
void ptx_rule_testp(struct ptx_sel *sel);
void ptx_rule_vabsdiff(struct ptx_sel *sel);
/** add, min and max of u16x2 and s16x2; f32x2; cvt.pack. */
void ptx_rule_packed_integers(struct ptx_sel *sel);
void ptx_rule_packed_floats(struct ptx_sel *sel);
void ptx_rule_cvt_pack(struct ptx_sel *sel);
void ptx_rule_cvt_half(struct ptx_sel *sel);

/** @bytes of an argument, from where the compiler has laid it to where it belongs. */
struct ptx_interval {
    uint32_t from, to, bytes;
};
/** Of a call of printf whose arguments @args lie without gaps: where they belong, by the format
 *  that the parameter @format points to. */
const struct ptx_interval *ptx_print_pieces(struct ptx_sel *sel, const struct ptx_symbol *format,
                                         const struct ptx_symbol *args, size_t *count);
/** The bytes they have room in then. */
uint64_t ptx_print_frame_bytes(const struct ptx_module *module, const struct ptx_operand *args);

#endif
