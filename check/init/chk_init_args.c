/* SPDX-License-Identifier: Apache-2.0 */
/* Uninitialised values: checks arguments of printf, and parameters of device launches. */
#include "check/init/chk_init_priv.h"

#include <stdio.h>

enum { MOST_ARGUMENTS = 32 };

/** Returns the 64-bit value of registers @reg and @reg + 1 of a lane. */
static uint64_t pair(const struct emu_hook_site *site, enum isa_reg_class reg_class, unsigned reg,
                     unsigned lane)
{
    uint64_t low = 0, high = 0;

    (void)emu_reg_read(site->core, site->slot, site->warp, reg_class, reg, lane, &low);
    (void)emu_reg_read(site->core, site->slot, site->warp, reg_class, reg + 1, lane, &high);
    return high << 32 | (low & UINT32_MAX);
}
/** Returns the 64-bit value that the instruction's operand X has in a lane, or 0 if X is not a register. */
static uint64_t operand(const struct emu_hook_site *site, unsigned lane)
{
    const struct isa_insn *insn = site->insn;

    if (insn->xkind != ISA_X_VECTOR && insn->xkind != ISA_X_SCALAR)
        return 0; /* compilers generate no other kinds of operands for addresses */
    return pair(site, insn->xkind == ISA_X_SCALAR ? ISA_REG_S : ISA_REG_V, isa_x_reg(insn->x), lane);
}

void init_args_print(struct chk_init *init, struct init_block *b, const struct emu_hook_site *site)
{
    struct emu_argument list[MOST_ARGUMENTS];
    uint64_t found[MOST_ARGUMENTS] = {0}, first[MOST_ARGUMENTS] = {0}, last = 0;
    unsigned count = 0;
    uint8_t mask[16 * 8];
    char use[48];

    for (LW_EACH_BIT(l, site->lanes)) {
        const uint64_t format = pair(site, ISA_REG_V, site->insn->a, (unsigned)l);
        const uint64_t args = operand(site, (unsigned)l);

        if (format == 0 || args == 0)
            continue;
        if (format != last)
            count = emu_print_arguments(site->core, site->slot, site->warp, (unsigned)l, format,
                                        args, list, MOST_ARGUMENTS);
        last = format;
        for (unsigned k = 0; k < count; k++) {
            if (!init_lane_get(&init->memory, b, site->warp, (unsigned)l, args + list[k].offset,
                               list[k].size_bytes, mask))
                continue;
            if (found[k] == 0)
                for (first[k] = args + list[k].offset; mask[first[k] - args - list[k].offset] == 0;)
                    first[k]++;
            found[k] |= UINT64_C(1) << l;
        }
    }
    for (unsigned k = 0; k < MOST_ARGUMENTS; k++) {
        if (found[k] == 0)
            continue;
        snprintf(use, sizeof use, "argument %u of printf", k + 1);
        init_found(init, CHK_UNINIT_OUTPUT, site, found[k], use,
                   init_origin_at(init, b, site, lw_lowest(found[k]), first[k]), 0);
    }
}

/** Checks the kernel address, the sizes and the shared memory in a launch descriptor
 *  (docs/explanation/device-launches.md). */
static void look_at_descriptor(struct chk_init *init, struct init_block *b,
                               const struct emu_hook_site *site, unsigned lane, uint64_t descriptor)
{
    uint8_t mask[36];
    unsigned k = 0;

    if (!init_lane_get(&init->memory, b, site->warp, lane, descriptor, sizeof mask, mask))
        return;
    while (mask[k] == 0)
        k++;
    init_found(init, CHK_UNINIT_ADDRESS, site, UINT64_C(1) << lane,
               k < 8    ? "the kernel address of a device-side launch"
               : k < 20 ? "the grid size of a device-side launch"
               : k < 32 ? "the block size of a device-side launch"
                        : "the dynamic shared memory of a device-side launch",
               init_origin_at(init, b, site, lane, descriptor + k), 0);
}

void init_args_launch(struct chk_init *init, struct init_block *b, const struct emu_hook_site *site)
{
    for (LW_EACH_BIT(l, site->lanes)) {
        const uint64_t descriptor = pair(site, ISA_REG_V, site->insn->a, (unsigned)l);
        const uint64_t buffer = operand(site, (unsigned)l);
        uint8_t bytes[8];

        if (emu_mem_peek(site->core, site->slot, site->warp, (unsigned)l, descriptor, bytes,
                         sizeof bytes) != sizeof bytes)
            continue;
        look_at_descriptor(init, b, site, (unsigned)l, descriptor);
        const uint64_t entry = lw_get64(bytes);
        const struct emu_program *program = emu_machine_program_at(init->memory.chk->machine, entry);
        const struct isa_function *f =
            program == NULL ? NULL : isa_object_function_at(emu_program_object(program), chk_pc_index(program, entry));
        for (unsigned k = 0; f != NULL && f->kernel && k < f->param_count; k++) {
            const struct isa_param *p = &f->params[k];
            uint64_t first;
            char use[160], room[ISA_SYMBOL_BYTES];

            /* Parameters of other types may be structures, whose padding may be uninitialised. */
            if ((p->kind != ISA_PARAM_POINTER && p->kind != ISA_PARAM_INTEGER &&
                 p->kind != ISA_PARAM_FLOAT) ||
                init_memory_count(&init->memory, buffer + p->offset, p->size_bytes, &first) == 0)
                continue;
            snprintf(use, sizeof use, "parameter %u of the launch of %.100s", k + 1, isa_symbol_text(f->name, room));
            init_found(init, CHK_UNINIT_OUTPUT, site, UINT64_C(1) << l, use,
                       init_origin_at(init, b, site, (unsigned)l, first), 0);
        }
    }
}
