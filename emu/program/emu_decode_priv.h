/* SPDX-License-Identifier: Apache-2.0 */
/* Decoding of programs for one register layout and one level. */
#ifndef EMU_DECODE_PRIV_H
#define EMU_DECODE_PRIV_H

#include "emu/emu_code_priv.h"

/** Layout of a warp's register file: four registers of zeros, four that receive dropped writes, two scratch
 *  registers for each source, then from EMU_ROW_V0 on v0... */
struct emu_layout {
    uint32_t stride;
    uint32_t row_zero, row_sink, row_a, row_b, row_c;
};
/** Computes the layout. Registers are padded to whole vectors of the level. */
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
/** Decodes a program; its breakpoints are set in the copy. @shape: shape of the blocks for which the copy is made
 *  (emu_plan_shape), or NULL: the copy will not run. */
enum lw_status emu_code_create(struct emu_program *program, const struct emu_layout *layout,
                               const struct emu_level *level, const uint8_t *shape,
                               struct emu_code *code, struct lw_error *err) LW_MUST_CHECK;
void emu_code_destroy(struct emu_code *code);
/** Marks the loads that share an address check (enum emu_addr_check_role): fills aux. Must not be called with tags,
 *  because the rows of tagged registers may be stale. The function reads the flags of whole runs. */
void emu_addr_cache_mark(struct emu_code *code);
/** Decodes once with the machine's level, so that a program that cannot run is refused when it is loaded. */
enum lw_status emu_program_try_decode(struct emu_machine *machine, struct emu_program *program,
                                      struct lw_error *err) LW_MUST_CHECK;
/** Properties of an instruction for reduced-detail steps. */
struct emu_form {
    uint8_t flags;              /* EMU_FORM_* */
    uint8_t kind, bytes, space; /* memory instructions: as in struct emu_access; the space as computed */
    uint8_t order, scope, cache;
    uint8_t mode;               /* ISA_AMODE_* | scale << 4 */
};
enum {
    EMU_FORM_MEMORY = 1, EMU_FORM_SCALAR = 2, EMU_FORM_TEXTURE = 4,
    EMU_FORM_FLOW = 16 /* the instruction acts on the split */
};
/** Fills @form from @insn (emu_step_addresses.c). */
void emu_form_fill(const struct isa_insn *insn, struct emu_form *form);
/** Returns true if an instruction of the program launches kernels or groups. */
bool emu_program_launches(const struct emu_program *program);
/** Returns the kind of access of a memory instruction. */
enum emu_access_kind emu_access_kind_of(enum isa_op op);
void emu_programs_destroy(struct emu_machine *machine);
/** Registers that reachable code of a kernel names, among the registers that a warp starts with. */
struct emu_kernel_use {
    uint16_t vregs;   /* number of registers from v0 on, with declared registers */
    uint16_t bregs;   /* bit mask of convergence registers */
    uint8_t scalars;  /* number of registers from s0 on, without exec */
};
const struct emu_kernel_use *emu_kernel_use(const struct emu_program *program,
                                            const struct isa_function *kernel);
static inline unsigned emu_kernel_vregs(const struct emu_program *program,
                                        const struct isa_function *kernel)
{
    return emu_kernel_use(program, kernel)->vregs;
}

#endif
