/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the scopes of the source that contain an instruction: functions, blocks and inlined calls. */
#include "debug/debug_priv.h"

bool dbg_where_is(const struct dbg *dbg, uint64_t pc, struct dbg_where *out)
{
    *out = (struct dbg_where){.program = emu_machine_program_at(dbg->machine, pc),
                          .inner = ISA_NO_DIE};
    if (out->program == NULL)
        return false;
    out->object = emu_program_object(out->program);
    out->insn = (uint32_t)((pc - emu_program_base(out->program)) / ISA_WORD_BYTES);
    return true;
}

unsigned dbg_find_scopes(const struct dbg_where *at, uint32_t *scopes, unsigned capacity)
{
    return isa_scopes_find(at->object, at->insn, at->inner, scopes, capacity);
}

uint32_t dbg_scope_at(const struct emu_program *program, uint32_t insn)
{
    struct dbg_where at = {.program = program, .object = emu_program_object(program), .insn = insn,
                       .inner = ISA_NO_DIE};
    uint32_t scopes[64];
    unsigned count =
        at.object->debug != NULL ? dbg_find_scopes(&at, scopes, LW_COUNT_OF(scopes)) : 0;

    return count != 0 ? scopes[count - 1] : UINT32_MAX;
}

unsigned dbg_inlined_at(const struct dbg *dbg, uint64_t pc, struct dbg_inlined *out,
                        unsigned capacity)
{
    uint32_t scopes[64];
    struct dbg_where at;
    const struct isa_debug *debug;
    unsigned count = 0;

    if (!dbg_where_is(dbg, pc, &at) || at.object->debug == NULL)
        return 0;
    debug = at.object->debug;
    for (unsigned n = dbg_find_scopes(&at, scopes, LW_COUNT_OF(scopes)); n-- > 0 && count < capacity;) {
        if (debug->dies[scopes[n]].tag != ISA_TAG_INLINED)
            continue;
        out[count].die = scopes[n];
        out[count].name = isa_die_name(debug, scopes[n]);
        out[count].line = (unsigned)isa_die_number(debug, scopes[n], ISA_AT_CALL_LINE, 0);
        out[count++].file = (unsigned)isa_die_number(debug, scopes[n], ISA_AT_CALL_FILE, 0);
    }
    return count;
}
