/* SPDX-License-Identifier: Apache-2.0 */
/* Internals of instruction selection, shared by ptx_select*.c: each PTX instruction becomes machine instructions on
 * virtual registers. */
#ifndef PTX_SELECT_PRIV_H
#define PTX_SELECT_PRIV_H

#include "ptx/ptx_priv.h"

struct ptx_sel {
    struct ptx_unit *unit;
    struct ptx_job *job;
    struct ptx_function *fn;
    struct ptx_insn in; /* a copy of the PTX instruction, from which rules remove the modifiers that they handle */
    uint32_t first_temp; /* virtual registers with this number or a higher one are temporaries of the instruction */
    uint32_t *block_at;  /* by PTX instruction: number of the block that starts there */
    uint32_t *call_at;   /* by PTX instruction: first of the further blocks that a call or branch table needs, or PTX_NONE */
    uint32_t current;    /* block that receives instructions */
    const struct ptx_reg *local; /* address register of the access if the register has the address of a local variable,
                                  * otherwise NULL */
    uint32_t wrap;       /* block in which lanes reconverge after the current call; PTX_NONE: lanes need not reconverge */
    uint32_t call_area;  /* offset in the frame of the arguments of print and assertion instructions */
    uint32_t *definition; /* by register: 1 + index of a mov or cvta that defines the register (ptx_printf_args.c), or 0 if
                           * there is none */
};
typedef void (*ptx_rule_fn)(struct ptx_sel *sel);

/** Returns the function that selects an operation, or NULL if the operation is not supported. */
ptx_rule_fn ptx_rule(enum ptx_op op);

_Noreturn void ptx_sel_fail(struct ptx_sel *sel, enum lw_status status, const char *fmt, ...)
    LW_PRINTF(3, 4);
void ptx_sel_operands(struct ptx_sel *sel, unsigned low, unsigned high);
enum ptx_type ptx_sel_type(struct ptx_sel *sel, unsigned index);

/** Returns the virtual register of a register of the text. */
ptx_ref ptx_sel_reg(struct ptx_sel *sel, uint32_t reg);
/** Creates a virtual register of @rows 32-bit registers (0: a predicate). */
ptx_ref ptx_sel_temp(struct ptx_sel *sel, unsigned rows);
/** Emits the move of a 32-bit constant to a new virtual register and returns the register. */
ptx_ref ptx_sel_literal(struct ptx_sel *sel, uint32_t value);
/** Removes the modifier .rn, .rz, .rm or .rp, if @integral also .rni, .rzi, .rmi or .rpi. Returns its ISA_CRND_... value, or
 *  @none if the instruction has no such modifier. */
unsigned ptx_take_rounding(struct ptx_insn *in, bool integral, unsigned none);
struct ptx_mi *ptx_sel_emit(struct ptx_sel *sel, enum isa_op op);
/** Emits an instruction with D, A, X and C; PTX_NO_REF: the operand is not used. @rows applies to every operand. */
struct ptx_mi *ptx_sel_put(struct ptx_sel *sel, enum isa_op op, ptx_ref d, ptx_ref a, ptx_ref x,
                           ptx_ref c, unsigned rows);
/** Emits d = value as an instruction that later passes fold into its uses if possible. */
void ptx_sel_imm(struct ptx_sel *sel, ptx_ref d, unsigned rows, uint64_t value);
void ptx_sel_move(struct ptx_sel *sel, ptx_ref d, ptx_ref s, unsigned rows);

/** Returns the register with the value of operand @index, which must have @type; PTX_ZERO if the value is zero. */
ptx_ref ptx_sel_source(struct ptx_sel *sel, unsigned index, enum ptx_type type);
ptx_ref ptx_sel_value(struct ptx_sel *sel, const struct ptx_operand *operand,
                      enum ptx_type type);
/** Does what ptx_sel_source() does, and extends a value below 32 bits to 32 bits by its type. */
ptx_ref ptx_sel_extended(struct ptx_sel *sel, unsigned index, enum ptx_type type);
ptx_ref ptx_sel_extend(struct ptx_sel *sel, ptx_ref ref, enum ptx_type type);
/** Does what ptx_sel_value() does, for ld, st and cvt, whose registers may have more bits than the type. */
ptx_ref ptx_sel_value_wide(struct ptx_sel *sel, const struct ptx_operand *operand,
                           enum ptx_type type);
/** Returns the register of a destination of @type. */
ptx_ref ptx_sel_dest(struct ptx_sel *sel, const struct ptx_operand *operand, enum ptx_type type);
/** Does what ptx_sel_dest() does, for a virtual register of @rows 32-bit registers, which may have more bits than @type. */
ptx_ref ptx_sel_dest_wide(struct ptx_sel *sel, const struct ptx_operand *operand,
                          enum ptx_type type, unsigned rows);
unsigned ptx_sel_reg_bytes(const struct ptx_sel *sel, const struct ptx_operand *operand);
/** Refuses an instruction whose modifiers contradict each other or the types, or that lacks a mandatory modifier. */
void ptx_sel_check(struct ptx_sel *sel);
/** Refuses types and modifiers that the operation does not have (ptx_verify_types.c). */
void ptx_verify_types(struct ptx_sel *sel);
/** Refuses features that are newer than the module's .version or .target (ptx_verify_version.c). */
void ptx_verify_version(struct ptx_sel *sel);
/** Returns true if the modifier is a cache hint, which has no effect in Lanewise. */
bool ptx_is_hint(enum ptx_word word);
/** Returns the predicate register of an operand. */
ptx_ref ptx_sel_pred(struct ptx_sel *sel, const struct ptx_operand *operand);
/** Returns the predicate that an operand writes; PTX_NO_REF for the operand `_`. */
ptx_ref ptx_sel_pred_dest(struct ptx_sel *sel, const struct ptx_operand *operand);
/** Makes @mi read the predicate of an operand, in @slot. */
void ptx_sel_pred_read(struct ptx_sel *sel, struct ptx_mi *mi, enum ptx_slot slot,
                       const struct ptx_operand *operand);
/** Returns true if the operand's value is known: a literal, or a register whose only definition is a literal. */
bool ptx_sel_known(const struct ptx_sel *sel, const struct ptx_operand *operand, uint64_t *value);
/** Returns the address of a variable as a value. */
ptx_ref ptx_sel_symbol(struct ptx_sel *sel, uint32_t symbol, int64_t addend, unsigned rows);
/** Removes the modifiers of cache, memory order and scope from the PTX instruction and sets them in @mi, which accesses
 *  memory. */
void ptx_sel_order(struct ptx_sel *sel, struct ptx_mi *mi);

/** Creates a virtual register for a value that a call passes. The virtual register is assigned to the @rows vector registers
 *  from number @row on. */
ptx_ref ptx_sel_fixed(struct ptx_sel *sel, unsigned row, unsigned rows);
/** Emits a load or store of a register or pair at @offset of the frame; the caller may change the offset. */
struct ptx_mi *ptx_sel_local(struct ptx_sel *sel, bool store, ptx_ref ref, uint32_t offset,
                             unsigned rows);
/** Returns the offset in local memory of an aggregate that the caller passed, plus @addend. */
ptx_ref ptx_sel_pointer(struct ptx_sel *sel, const struct ptx_symbol *s, uint64_t addend,
                        unsigned rows);
/** Returns the offset in local memory of @offset in the frame, as a value of @rows registers. */
ptx_ref ptx_sel_local_address(struct ptx_sel *sel, uint64_t offset, unsigned rows);

/* ---- parameters (ptx_param.c) ------------------------------------------------ */

enum { PTX_FIRST_ARGUMENT = 4, PTX_LAST_ARGUMENT = 31 };
/** Location of a parameter in a call. */
struct ptx_param_slot {
    unsigned row, rows;
    bool on_stack;
    uint32_t offset; /* relative to the caller's v2 */
};
struct ptx_param_slots {
    unsigned next;
    uint32_t bytes;
};
struct ptx_param_slot ptx_param_location(struct ptx_param_slots *places, unsigned rows);
bool ptx_param_is_scalar(const struct ptx_symbol *s);
/** Returns the number of registers in which a call passes the value; for an aggregate, those of its offset in memory. */
unsigned ptx_param_rows(const struct ptx_symbol *s);
/** Returns how many bytes of results and parameters a call passes on the stack. */
uint32_t ptx_param_stack(const struct ptx_module *module, const uint32_t *results,
                         size_t result_count, const uint32_t *params, size_t param_count);
/** Assigns a location to every .param variable of the function.
 *  @target   by instruction: whether a branch targets it
 *  @stepped  whether the function is compiled for debuggers; if so, parameters that are structures get a copy in the
 *            function's frame */
void ptx_param_homes(struct ptx_sel *sel, const uint8_t *target, bool stepped);
/** Finds registers whose only value is the address of a local variable. Code for debuggers (-O0, -G) has many. */
void ptx_find_locals(struct ptx_sel *sel);
/** Selects a load or store of a .param variable in a register; returns false if the variable is not in a register. */
bool ptx_param_load(struct ptx_sel *sel);
bool ptx_param_store(struct ptx_sel *sel);

/* ---- calls (ptx_select_call.c) ----------------------------------------------- */

/** Reserves space at the frame's start for arguments on the stack and for the arguments of print and
 *  assertion instructions. */
void ptx_sel_call_frame_bytes(struct ptx_sel *sel);
/** Returns the number of blocks that a call needs. A guarded call needs a branch around it. If lanes may return at different
 *  times, they need a block after the call in which they reconverge. */
unsigned ptx_sel_call_blocks(const struct ptx_sel *sel, const struct ptx_insn *in);
bool ptx_sel_call_wraps(const struct ptx_sel *sel, const struct ptx_insn *in);
/** Emits the moves of a function's parameters to the parameters' registers, at the function's entry. */
void ptx_sel_enter(struct ptx_sel *sel);
/** Emits the moves of a function's results to the registers in which they are returned, before a return. */
void ptx_sel_leave(struct ptx_sel *sel);

/** Returns the .param variable that an operand of a call names. */
const struct ptx_symbol *ptx_sel_param_of(struct ptx_sel *sel, const struct ptx_operand *o);
/** Returns the registers with the value of a scalar .param variable. */
ptx_ref ptx_sel_param_value(struct ptx_sel *sel, const struct ptx_symbol *s);
/** Sets a .param variable to the value of registers @from. */
void ptx_sel_param_set(struct ptx_sel *sel, const struct ptx_symbol *s, ptx_ref from);
/** Returns whether function @name, which no module defines, launches kernels (ptx_select_launch.c). */
bool ptx_is_launch(const char *name);
/** Selects the call of a function that launches kernels. */
void ptx_sel_launch(struct ptx_sel *sel, const struct ptx_call_parts *call);

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
/** Selects add, min and max of u16x2 and s16x2. */
void ptx_rule_packed_integers(struct ptx_sel *sel);
/** Selects add, sub, mul and fma of f32x2. */
void ptx_rule_packed_floats(struct ptx_sel *sel);
/** Selects cvt to and from pairs of floats of 8 bits. */
void ptx_rule_cvt_fp8(struct ptx_sel *sel);
/** Selects cvt.pack. */
void ptx_rule_cvt_pack(struct ptx_sel *sel);
/** Selects cvt with a type of 16-bit floats. */
void ptx_rule_cvt_half(struct ptx_sel *sel);

/** Move of @bytes of an argument from where the compiler stored it to its natural alignment. */
struct ptx_interval {
    uint32_t from, to, bytes;
};
/** For a printf call whose arguments @args are stored without gaps: returns the moves to their natural alignment,
 *  according to the format to which parameter @format points. */
const struct ptx_interval *ptx_print_pieces(struct ptx_sel *sel, const struct ptx_symbol *format,
                                         const struct ptx_symbol *args, size_t *count);
/** Returns an upper bound of the bytes that the arguments of a printf call occupy after the moves of ptx_print_pieces(). */
uint64_t ptx_print_frame_bytes(const struct ptx_module *module, const struct ptx_operand *args);

#endif
