/* SPDX-License-Identifier: Apache-2.0 */
/* Decoding of programs for one register layout and one level. */
#ifndef EMU_DECODE_PRIV_H
#define EMU_DECODE_PRIV_H

#include "emu/emu_code_priv.h"

/** Where rows lie in a warp's register file: four rows of zeros, four that take dropped
 *  writes, two scratch rows for each source, then from EMU_ROW_V0 on v0... */
struct emu_layout {
    uint32_t stride;
    uint32_t row_zero, row_sink, row_a, row_b, row_c;
};
/** Rows are padded to whole vectors of the level. */
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
/** A decoded copy; breakpoints of the program are set in it. @shape: of the blocks that it is
 *  for (emu_plan_shape), or NULL: it will not run. */
enum lw_status emu_code_create(struct emu_program *program, const struct emu_layout *layout,
                               const struct emu_level *level, const uint8_t *shape,
                               struct emu_code *code, struct lw_error *err) LW_MUST_CHECK;
void emu_code_destroy(struct emu_code *code);
/** Mark the loads that share what the first of them finds (enum emu_addr_check_role): fills aux. Not
 *  with tags, where rows may be stale. Uses flags of whole runs. */
void emu_addr_cache_mark(struct emu_code *code);
/** Decode once with the machine's level, so that load refuses what cannot run. */
enum lw_status emu_program_try_decode(struct emu_machine *machine, struct emu_program *program,
                                      struct lw_error *err) LW_MUST_CHECK;
/** What reduced-detail steps need to know of an instruction. */
struct emu_form {
    uint8_t flags;              /* EMU_FORM_* */
    uint8_t kind, bytes, space; /* of memory instructions: as in struct emu_access; as computed */
    uint8_t order, scope, cache;
    uint8_t mode;               /* ISA_AMODE_* | scale << 4 */
};
enum {
    EMU_FORM_MEMORY = 1, EMU_FORM_SCALAR = 2, EMU_FORM_TEXTURE = 4,
    EMU_FORM_FLOW = 16 /* acts on the split */
};
/** Fill @form of @insn (emu_step_addresses.c). */
void emu_form_fill(const struct isa_insn *insn, struct emu_form *form);
/** True: an instruction of the program launches kernels or groups. */
bool emu_program_launches(const struct emu_program *program);
/** What a memory instruction does. */
enum emu_access_kind emu_access_kind_of(enum isa_op op);
void emu_programs_destroy(struct emu_machine *machine);
/** Of the registers that a warp of a kernel starts with, those that code that it can reach names. */
struct emu_kernel_use {
    uint16_t vregs;   /* v0.. on, those that it declares included */
    uint16_t bregs;   /* convergence registers, a bit for each */
    uint8_t scalars;  /* s0.. on, exec not counted */
};
const struct emu_kernel_use *emu_kernel_use(const struct emu_program *program,
                                            const struct isa_function *kernel);
static inline unsigned emu_kernel_vregs(const struct emu_program *program,
                                        const struct isa_function *kernel)
{
    return emu_kernel_use(program, kernel)->vregs;
}

#endif
