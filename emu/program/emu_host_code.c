/* SPDX-License-Identifier: Apache-2.0 */
/* Prints the host code of an instruction's handlers with capstone, for tuning the lane loops. */
#include <capstone/capstone.h>
#include <inttypes.h>

#include "emu/program/emu_decode_priv.h"

enum {
    MAX_HOST_BYTES = 16384, /* limit of the printed host code of a handler */
    MAX_HOST_INSNS = 4096
};

static enum lw_status open_host(csh *handle, struct lw_error *err)
{
#if defined __x86_64__
    cs_err status = cs_open(CS_ARCH_X86, CS_MODE_64, handle);
#elif defined __aarch64__
    cs_err status = cs_open(CS_ARCH_ARM64, CS_MODE_ARM, handle);
#else
    cs_err status = CS_ERR_ARCH;
    *handle = 0;
#endif
    if (status != CS_ERR_OK)
        return LW_FAIL(err, LW_EUNSUPP, "cannot show the host code: %s",
                       cs_strerror(status));
    cs_option(*handle, CS_OPT_DETAIL, CS_OPT_ON);
    return LW_OK;
}

/** Returns the target of a direct jump, or 0 if the instruction is no direct jump. */
static uint64_t jump_target(csh handle, const cs_insn *insn)
{
    if (!cs_insn_group(handle, insn, CS_GRP_JUMP))
        return 0;
#if defined __x86_64__
    const cs_x86 *x86 = &insn->detail->x86;
    return x86->op_count == 1 && x86->operands[0].type == X86_OP_IMM
               ? (uint64_t)x86->operands[0].imm
               : 0;
#elif defined __aarch64__
    const cs_arm64 *arm = &insn->detail->arm64;
    if (insn->id == ARM64_INS_BL) /* capstone 4 counts the call instruction BL among the jumps */
        return 0;
    for (unsigned i = 0; i < arm->op_count; i++)
        if (arm->operands[i].type == ARM64_OP_IMM && i + 1u == arm->op_count)
            return (uint64_t)arm->operands[i].imm;
    return 0;
#else
    return 0;
#endif
}

/** Returns true if execution does not continue after the instruction. */
static bool ends_flow(csh handle, const cs_insn *insn)
{
    if (cs_insn_group(handle, insn, CS_GRP_RET))
        return true;
#if defined __x86_64__
    return insn->id == X86_INS_JMP;
#elif defined __aarch64__
    return insn->id == ARM64_INS_BR || strcmp(insn->mnemonic, "b") == 0; /* conditional branches (b.eq) do not end the flow */
#else
    return true;
#endif
}

/** Returns the length of an instruction that capstone cannot decode, or 0 if the length is unknown. Capstone 4 cannot decode a
 *  few instructions of AVX-512, whose length is determined from the prefix EVEX or VEX. */
static unsigned unknown_bytes(const uint8_t *p)
{
#if defined __x86_64__
    unsigned opcode = p[0] == 0x62 ? 4 : p[0] == 0xc4 ? 3 : p[0] == 0xc5 ? 2 : 0;
    unsigned map = opcode == 4 ? p[1] & 7 : opcode == 3 ? p[1] & 31 : 1;

    if (opcode == 0)
        return 0;
    const uint8_t op = p[opcode], *modrm = p + opcode + 1;
    unsigned n = opcode + 2, mod = *modrm >> 6, rm = *modrm & 7;
    if (mod != 3 && rm == 4) {
        n++;
        n += mod == 0 && (modrm[1] & 7) == 5 ? 4 : 0;
    }
    n += mod == 1 ? 1 : mod == 2 || (mod == 0 && rm == 5) ? 4 : 0;
    n += map == 3 ||
         (map == 1 && ((op >= 0x70 && op <= 0x73) || op == 0xc2 || (op >= 0xc4 && op <= 0xc6)));
    return n;
#else
    (void)p;
    return 4;
#endif
}

/** Prints a handler's host code from its entry on. The code ends at the first instruction that ends the flow and is not before
 *  the target of an earlier jump. */
static void print_handler(csh handle, const char *title, emu_handler_fn *entry,
                          struct lw_sink *out)
{
    const uint64_t start = (uint64_t)(uintptr_t)entry;
    const uint8_t *code = (const uint8_t *)(uintptr_t)start;
    size_t left = MAX_HOST_BYTES;
    uint64_t at = start, furthest = start;
    unsigned count = 0;
    struct lw_buffer text;
    cs_insn *insn = cs_malloc(handle);

    lw_buffer_init(&text);
    while (insn != NULL && count < MAX_HOST_INSNS && left > 16) {
        uint64_t target;

        count++;
        if (!cs_disasm_iter(handle, &code, &left, &at, insn)) {
            unsigned n = unknown_bytes(code);
            if (n == 0)
                break;
            lw_printf(&text.sink, "  %6" PRIx64 "  (unknown)   ", at - start);
            for (unsigned i = 0; i < n; i++)
                lw_printf(&text.sink, " %02x", code[i]);
            lw_put(&text.sink, "\n");
            code += n;
            left -= n;
            at += n;
            continue;
        }
        target = jump_target(handle, insn);
        lw_printf(&text.sink, "  %6" PRIx64 "  %-12s %s\n", insn->address - start, insn->mnemonic,
                  insn->op_str);
        if (target > furthest && target - start < MAX_HOST_BYTES)
            furthest = target;
        if (ends_flow(handle, insn) && at > furthest)
            break;
    }
    lw_printf(out, "%s: %u host instructions, %" PRIu64 " bytes\n", title, count, at - start);
    lw_put(out, text.text != NULL ? text.text : "");
    lw_buffer_fini(&text);
    if (insn != NULL)
        cs_free(insn, 1);
}

enum lw_status emu_host_print(const struct isa_object *object, const struct emu_config *config,
                              struct lw_sink *out, struct lw_error *err)
{
    struct emu_config own = *config;
    struct emu_machine *machine = NULL;
    struct emu_program *program;
    struct emu_layout layout;
    struct emu_code code;
    bool decoded = false;
    csh handle = 0;
    enum lw_status status;

    own.arena_bytes = EMU_PAGE_BYTES * 16;
    own.tags = EMU_TAGS_OFF; /* with tags, the printed handler would be one that works on tags */
    status = emu_machine_create(&own, &machine, err);
    if (status == LW_OK)
        status = emu_program_load(machine, object, &program, err);
    if (status == LW_OK) {
        const struct emu_level *level = emu_level_choose(own.level);
        emu_layout_make(&layout, own.warp_width, level);
        status = emu_code_create(program, &layout, level, NULL, &code, err);
        decoded = status == LW_OK;
        if (decoded)
            status = open_host(&handle, err);
        if (status == LW_OK) {
            const struct emu_dinsn *di = &code.insn[0];
            struct emu_handlers h = di->h;
            lw_printf(out, "%s, warps of %u lanes, registers stored as vectors of %u lanes\n",
                      level->name, own.warp_width,
                      layout.stride / 4);
            if (di->flags & EMU_D_MODIFIED) {
                print_handler(handle, "prelude (prepares the source operands)", h.full, out);
                h = code.prelude[di->aux].base;
            }
            print_handler(handle, "handler for all lanes", h.full, out);
            if (h.part != h.full)
                print_handler(handle, "handler for some lanes", h.part, out);
        }
    }
    if (handle != 0)
        cs_close(&handle);
    if (decoded)
        emu_code_destroy(&code);
    emu_machine_destroy(machine);
    return status;
}
