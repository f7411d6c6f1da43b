/* SPDX-License-Identifier: Apache-2.0 */
/* Calls that a compiler has put into their callers, around a place: what the source calls frames. */
#include "check/chk_priv.h"

static bool holds(const struct isa_object *object, uint32_t die, uint32_t insn)
{
    const struct isa_debug *debug = object->debug;
    const struct isa_attr *attr = isa_die_attr(debug, die, ISA_AT_LOW_PC);

    if (attr != NULL) {
        const struct isa_function *function = &object->functions[attr->value];

        return insn >= function->first && insn - function->first < function->count;
    }
    attr = isa_die_attr(debug, die, ISA_AT_RANGES);
    for (uint32_t i = 0; attr != NULL && i < attr->count; i++) {
        const struct isa_span *span = &debug->spans[attr->value + i];

        if (insn >= span->from && insn < span->to)
            return true;
    }
    return false;
}

/** Its own, or its origin's. */
static const char *name_of(const struct isa_debug *debug, uint32_t die)
{
    const struct isa_attr *attr = isa_die_attr(debug, die, ISA_AT_NAME);

    if (attr == NULL) {
        const struct isa_attr *origin = isa_die_attr(debug, die, ISA_AT_ABSTRACT_ORIGIN);

        attr = origin != NULL ? isa_die_attr(debug, (uint32_t)origin->value, ISA_AT_NAME) : NULL;
    }
    return attr != NULL && attr->text != NULL ? attr->text : "";
}

static uint32_t number_of(const struct isa_debug *debug, uint32_t die, enum isa_dw_at name)
{
    const struct isa_attr *attr = isa_die_attr(debug, die, name);

    return attr != NULL ? (uint32_t)attr->value : 0;
}

unsigned chk_inline_collect(const struct chk *chk, const struct chk_place *place,
                            struct chk_call *out)
{
    const struct emu_program *program = emu_machine_program_at(chk->machine, place->pc);
    const struct isa_object *object = program != NULL ? emu_program_object(program) : NULL;
    struct chk_call call[CHK_MOST_CALLS];
    unsigned count = 0;

    if (object == NULL || object->debug == NULL)
        return 0;
    const struct isa_debug *debug = object->debug;
    const uint32_t insn = (uint32_t)((place->pc - emu_program_base(program)) / ISA_WORD_BYTES);
    for (uint32_t i = 0, end = debug->die_count; i < end;) {
        const unsigned tag = debug->dies[i].tag;

        if (tag == ISA_TAG_NAMESPACE) {
            i++;
            continue;
        }
        if ((tag != ISA_TAG_SUBPROGRAM && tag != ISA_TAG_BLOCK && tag != ISA_TAG_INLINED) ||
            !holds(object, i, insn)) {
            i = debug->dies[i].end;
            continue;
        }
        if (tag == ISA_TAG_INLINED) {
            const uint32_t file = number_of(debug, i, ISA_AT_CALL_FILE);

            if (count == CHK_MOST_CALLS)
                memmove(call, call + 1, --count * sizeof call[0]);
            call[count++] = (struct chk_call){
                name_of(debug, i), file < object->file_count ? object->files[file] : "",
                number_of(debug, i, ISA_AT_CALL_LINE)};
        }
        end = debug->dies[i++].end; /* its scopes are all that is left */
    }
    for (unsigned i = 0; i < count; i++)
        out[i] = call[count - 1 - i];
    return count;
}

bool chk_inline_calls(struct chk *chk, struct chk_place *place)
{
    struct chk_call call[CHK_MOST_CALLS];
    const unsigned count = place->calls == NULL ? chk_inline_collect(chk, place, call) : 0;

    if (count == 0)
        return true;
    struct chk_call *calls = lw_arena_alloc(&chk->strings, count * sizeof *calls);
    if (calls == NULL)
        return false;
    memcpy(calls, call, count * sizeof *calls);
    place->calls = calls;
    place->call_count = count;
    return true;
}
