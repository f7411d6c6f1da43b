/* SPDX-License-Identifier: Apache-2.0 */
/* The programs of a machine: look-ups by address. */
#include "emu/emu_machine_priv.h"

#include <stdio.h>

const struct isa_object *emu_program_object(const struct emu_program *program)
{
    return program->object;
}

struct emu_program *emu_machine_program_at(const struct emu_machine *machine, uint64_t pc)
{
    for (struct emu_program *p = machine->programs; p != NULL; p = p->next)
        if (pc >= p->base && pc - p->base < (uint64_t)p->count * ISA_WORD_BYTES)
            return p;
    return NULL;
}

const struct emu_program *emu_machine_program_next(const struct emu_machine *machine,
                                                   const struct emu_program *program)
{
    return program != NULL ? program->next : machine->programs;
}

uint64_t emu_program_base(const struct emu_program *program)
{
    return program->base;
}

const struct isa_insn *emu_program_insn(const struct emu_program *program, uint64_t pc)
{
    uint64_t offset = pc - program->base;

    if (offset % ISA_WORD_BYTES != 0 || offset / ISA_WORD_BYTES >= program->count)
        return NULL;
    return &program->insn[offset / ISA_WORD_BYTES];
}

const char *emu_program_location(const struct isa_object *object, uint32_t index, char *text,
                              size_t size)
{
    const struct isa_line *line = isa_object_line_at(object, index);
    const struct isa_function *f = isa_object_function_at(object, index);
    char room[ISA_SYMBOL_BYTES];

    if (line != NULL && line->file < object->file_count)
        snprintf(text, size, "%s:%u", object->files[line->file], line->line);
    else
        snprintf(text, size, "%s+0x%x", f != NULL ? isa_symbol_text(f->name, room) : "code",
                 (index - (f != NULL ? f->first : 0)) * ISA_WORD_BYTES);
    return text;
}
