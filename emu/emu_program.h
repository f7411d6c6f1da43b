/* SPDX-License-Identifier: Apache-2.0 */
/* Programs: objects loaded on a machine. */
#ifndef EMU_PROGRAM_H
#define EMU_PROGRAM_H

#include "emu/emu_machine.h"

/** Validates an object, assigns an address to its code, and allocates its module variables. The object is borrowed
 *  until the program is destroyed. @machine owns the program. Errors: LW_EFORMAT; LW_EUNSUPP, whose message names the location
 *  and the unsupported construct. */
enum lw_status emu_program_load(struct emu_machine *machine, const struct isa_object *object,
                                struct emu_program **out, struct lw_error *err) LW_MUST_CHECK;
/** Addresses of a program. Both are on a multiple of a page's bytes, and code is on a multiple of 64 KiB. */
struct emu_program_layout {
    uint64_t code;      /* the program's first instruction; 0: the next free address */
    uint64_t variables; /* the first variable in global or constant memory, which the others follow; 0: the next free address */
};
/** Loads a program as emu_program_load() does, at the addresses in @layout. Errors: also LW_ERANGE if they are not free. */
enum lw_status emu_program_load_at(struct emu_machine *machine, const struct isa_object *object, const struct emu_program_layout *layout,
                                   struct emu_program **out, struct lw_error *err) LW_MUST_CHECK;
/** Gets the addresses at which emu_program_load_at() would load the program as it is loaded now. Returns false if there are no such
 *  addresses, because its variables do not follow one another. */
bool emu_program_layout(const struct emu_program *program, struct emu_program_layout *layout);
const struct isa_object *emu_program_object(const struct emu_program *program);
/** Returns a kernel by name, or NULL. */
const struct isa_function *emu_program_kernel(const struct emu_program *program,
                                              const char *name);
/** Returns the guest address of the module variable @name, or 0 if there is no such variable. */
uint64_t emu_program_variable(const struct emu_program *program, const char *name,
                              uint64_t *size_bytes);
/** Returns the program whose code contains @pc, or NULL; code starts at emu_program_base. */
struct emu_program *emu_machine_program_at(const struct emu_machine *machine, uint64_t pc);
/** Iterates over all programs: returns the program after @program, or the first program if @program is NULL. Returns NULL after
 *  the last program. */
const struct emu_program *emu_machine_program_next(const struct emu_machine *machine,
                                                   const struct emu_program *program);
uint64_t emu_program_base(const struct emu_program *program);
/** Returns the decoded instruction at a guest address; NULL outside the code or if misaligned. */
const struct isa_insn *emu_program_insn(const struct emu_program *program, uint64_t pc);
/** Returns true if the kernel is block-order-free (MACHINE 4): no instruction that can be reached from the kernel's entry
 *  observes the order of accesses by different blocks. */
bool emu_kernel_block_order_free(const struct emu_program *program,
                                 const struct isa_function *kernel);
/** Returns the analysis of whether a kernel's results depend on the order of its blocks, with the reason. The result is
 *  borrowed. */
const struct isa_order_analysis *emu_kernel_order(const struct emu_program *program,
                                                 const struct isa_function *kernel);
/** Prints the host code that this machine executes for the first instruction of @object: the code of the handler for all lanes,
 *  and of the masked handler. Errors: as emu_program_load; LW_EUNSUPP if the code of this host processor cannot be printed. */
enum lw_status emu_host_print(const struct isa_object *object, const struct emu_config *config,
                              struct lw_sink *out, struct lw_error *err) LW_MUST_CHECK;

#endif
