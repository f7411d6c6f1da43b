/* SPDX-License-Identifier: Apache-2.0 */
/* Decoding of programs for one layout of the register file and one x86-64 level. */
#ifndef EMU_DECODE_PRIV_H
#define EMU_DECODE_PRIV_H

#include "emu/emu_code_priv.h"

/** Layout of a warp's register file: four registers that are always zero; four to which results are written that nothing reads;
 *  two scratch registers for each of three sources; and, from EMU_ROW_V0 on, v0 and the following registers. */
struct emu_layout {
    uint32_t stride;
    uint32_t row_zero, row_sink, row_a, row_b, row_c;
};
/** Computes the layout for warps of @width lanes. Registers are padded to whole host vectors. */
void emu_layout_make(struct emu_layout *layout, unsigned width, const struct emu_level *level);

struct emu_decoder {
    struct emu_program *program;
    struct emu_code *code;
    const struct emu_layout *layout;
    const struct emu_level *level;
    size_t imm_capacity, prelude_capacity;
};
enum lw_status emu_decode(struct emu_decoder *dec, uint32_t index, struct emu_dinsn *di,
                          struct lw_error *err) LW_MUST_CHECK;
/** Decodes a program, and sets its breakpoints in the decoded copy. @shape: shape of the blocks that will execute the copy
 *  (emu_plan_shape); @shape is NULL if the copy will not be executed. */
enum lw_status emu_code_create(struct emu_program *program, const struct emu_layout *layout,
                               const struct emu_level *level, const uint8_t *shape,
                               struct emu_code *code, struct lw_error *err) LW_MUST_CHECK;
void emu_code_destroy(struct emu_code *code);
/** Finds loads that can share an address check (enum emu_addr_check_role), and sets their emu_dinsn.aux. Must not be used with
 *  tags, because the register rows of tagged registers may be out of date. The instructions' flags must be complete, up to the
 *  end of each run. */
void emu_addr_cache_mark(struct emu_code *code);
/** Decodes the program once for the machine's level, so that a program which cannot be executed is refused when it is loaded. */
enum lw_status emu_program_try_decode(struct emu_machine *machine, struct emu_program *program,
                                      struct lw_error *err) LW_MUST_CHECK;
/** Properties of an instruction that a reduced-detail step needs. */
struct emu_form {
    uint8_t flags;              /* EMU_FORM_* */
    uint8_t kind, bytes, space; /* for memory instructions: members of struct emu_access; space is that of the instruction, and
                                 * may be generic */
    uint8_t order, scope, cache;
    uint8_t mode;               /* addressing mode ISA_AMODE_*, and scale << 4 */
};
enum {
    EMU_FORM_MEMORY = 1, EMU_FORM_SCALAR = 2, EMU_FORM_TEXTURE = 4,
    EMU_FORM_FLOW = 16 /* the instruction changes the split: it is a branch, exit or barrier operation */
};
/** Sets @form for @insn (emu_step_addresses.c). */
void emu_form_fill(const struct isa_insn *insn, struct emu_form *form);
/** Returns true if an instruction of the program launches kernels or block groups. */
bool emu_program_launches(const struct emu_program *program);
/** Returns the kind of access of a memory instruction. */
enum emu_access_kind emu_access_kind_of(enum isa_op op);
void emu_programs_destroy(struct emu_machine *machine);
/** Numbers of registers that a warp of a kernel needs, because the kernel declares these registers, or because code reachable
 *  from the kernel uses them. */
struct emu_kernel_use {
    uint16_t vregs;   /* number of vector registers, counted from v0 */
    uint16_t bregs;   /* set of the convergence registers, as bits */
    uint8_t scalars;  /* number of scalar registers, counted from s0, without exec */
};
const struct emu_kernel_use *emu_kernel_use(const struct emu_program *program,
                                            const struct isa_function *kernel);
static inline unsigned emu_kernel_vregs(const struct emu_program *program,
                                        const struct isa_function *kernel)
{
    return emu_kernel_use(program, kernel)->vregs;
}

#endif
