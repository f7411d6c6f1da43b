/* SPDX-License-Identifier: Apache-2.0 */
/* Uninitialised values: messages, with origins as text. */
#include "check/init/chk_init_priv.h"

#include <stdlib.h>

uint32_t init_origin_add(struct chk_init *init, const struct init_origin *origin)
{
    for (size_t i = init->origin_count; i-- > 1 && init->origin_count - i < 64;) {
        const struct init_origin *o = &init->origins[i];
        if (o->where == origin->where && o->number == origin->number &&
            o->address == origin->address && o->pc == origin->pc && o->kernel == origin->kernel)
            return (uint32_t)i;
    }
    if (!lw_grow(&init->origins, &init->origin_capacity, init->origin_count + 2,
                 sizeof *init->origins)) {
        init->memory.chk->short_of_memory = true;
        return 0;
    }
    if (init->origin_count == 0)
        init->origins[init->origin_count++] = (struct init_origin){0};
    init->origins[init->origin_count] = *origin;
    return (uint32_t)init->origin_count++;
}

/** Prints the source position of a pc, such as "k.cl:8", or "pc 0x100000040" if the line is not known. */
static void put_location(const struct chk_init *init, uint64_t pc, struct lw_sink *out)
{
    struct chk_location location;

    chk_location_at(init->memory.chk, 0, 0, 0, 0, pc, &location);
    if (location.file[0] != '\0')
        lw_printf(out, "%s:%u", location.file, location.line);
    else
        lw_printf(out, "pc 0x%llx", (unsigned long long)pc);
}

/** Prints "shared 's[5]', declared in line 3" if there is debug information; otherwise "shared 's', byte 20", with the
 *  variable's name from the symbol, without the compiler's prefix. */
static void describe_shared(const struct isa_object *object, const struct isa_variable *v,
                            const struct isa_function *kernel, uint32_t offset, struct lw_sink *out)
{
    const struct isa_debug *d = object->debug;
    const int64_t die = chk_variable_die(object, v, kernel);
    char room[ISA_SYMBOL_BYTES];

    if (die == ISA_NO_DIE) {
        lw_printf(out, "shared '%s'", isa_symbol_text(isa_own_name(v->name), room));
        if (offset != CHK_SOMEWHERE)
            lw_printf(out, ", byte %u", offset);
        return;
    }
    lw_put(out, "shared '");
    chk_put_element(d, die, offset, out);
}

/** Prints an origin, such as "shared 'tile[5]', declared in line 3". @element: prints the element of a shared array that
 *  was read first. Sets *@allocation to a name for suppressions. */
static void describe(const struct chk_init *init, const struct init_origin *o, bool element,
                     struct lw_sink *out, const char **allocation)
{
    const struct emu_program *program = emu_machine_program_at(init->memory.chk->machine, o->pc);
    const struct isa_object *object = program != NULL ? emu_program_object(program) : NULL;
    const struct isa_variable *v;
    struct emu_allocation a;
    uint64_t offset = 0;
    int64_t die;
    const uint32_t index = program != NULL ? chk_pc_index(program, o->pc) : 0;
    bool inside;

    *allocation = "";
    char room[ISA_SYMBOL_BYTES];
    switch ((enum init_where)o->where) {
    case INIT_GLOBAL:
        if (emu_allocation_at(init->memory.chk->machine, o->address, &a, &inside)) {
            *allocation = a.name;
            lw_printf(out, "%s%s%s (%llu bytes at 0x%llx)", a.name[0] ? "'" : "an unnamed allocation",
                      isa_symbol_text(a.name, room), a.name[0] ? "'" : "", (unsigned long long)a.size_bytes,
                      (unsigned long long)a.address);
        } else {
            lw_printf(out, "global memory at 0x%llx", (unsigned long long)o->address);
        }
        return;
    case INIT_SHARED:
        v = object != NULL ? isa_shared_variable(object, o->kernel, o->number) : NULL;
        if (v != NULL)
            describe_shared(object, v, o->kernel, element ? o->byte : CHK_SOMEWHERE, out);
        else
            lw_printf(out, "shared memory at offset %u", o->number);
        *allocation = v != NULL ? v->name : "";
        return;
    case INIT_LOCAL:
        die = object != NULL ? chk_local_die(object, o->kernel, index, o->number, &offset) : ISA_NO_DIE;
        if (die != ISA_NO_DIE) {
            lw_put(out, "local '");
            chk_put_element(object->debug, die, offset, out);
            *allocation = isa_die_name(object->debug, (uint32_t)die);
            return;
        }
        lw_printf(out, "local memory at offset %u", o->number);
        return;
    case INIT_LANE:
        lw_printf(out, "the register of lane %u, which does not execute the shuffle at ", o->number);
        put_location(init, o->pc, out);
        return;
    case INIT_REGISTER:
        die = object == NULL || (o->number >= INIT_PREDICATE && o->number < INIT_SCALAR) ||
                      o->number >= INIT_SCALAR_PREDICATE
                  ? ISA_NO_DIE
                  : chk_register_die(object, index, o->number >= INIT_SCALAR,
                                     o->number >= INIT_SCALAR ? o->number - INIT_SCALAR : o->number);
        if (die != ISA_NO_DIE) {
            lw_put(out, "'");
            chk_put_element(object->debug, die, CHK_SOMEWHERE, out);
            *allocation = isa_die_name(object->debug, (uint32_t)die);
            lw_put(out, ", ");
        }
        if (o->number >= INIT_SCALAR_PREDICATE)
            lw_put(out, "a scalar predicate");
        else if (o->number >= INIT_SCALAR)
            lw_printf(out, "register s%u", o->number - INIT_SCALAR);
        else if (o->number >= INIT_PREDICATE)
            lw_printf(out, "predicate p%u", o->number - INIT_PREDICATE);
        else
            lw_printf(out, "register v%u", o->number);
        return;
    }
}

void init_found(struct chk_init *init, enum chk_kind kind, const struct emu_hook_site *site,
                uint64_t lanes, const char *use, uint32_t from, uint64_t address)
{
    struct chk_finding f = chk_finding_of(kind, lw_popcount(lanes));
    struct init_origin none = {0};
    const struct init_origin *o = from < init->origin_count ? &init->origins[from] : &none;
    char room[ISA_SYMBOL_BYTES];
    struct lw_buffer text;

    if ((init->memory.chk->options.kinds >> kind & 1) == 0)
        return;
    f.address = address;
    chk_location_of(init->memory.chk, site, lanes, &f.location);
    lw_buffer_init(&text);
    lw_printf(&text.sink, "%s depends on an uninitialised value: ", use);
    describe(init, o, true, &text.sink, &f.allocation);
    if (o->pc != 0 && o->pc != f.location.pc && o->where != INIT_LANE) {
        lw_put(&text.sink, ", read at ");
        put_location(init, o->pc, &text.sink);
    }
    /* A buffer that --arg creates without contents is zeroed, but counts as uninitialised. For a counter, users usually
     * want these zeros. */
    if (kind == CHK_UNINIT_ATOMIC && init->memory.chk->options.by_options && o->where == INIT_GLOBAL && f.allocation[0] != '\0')
        lw_printf(&text.sink, "; if the buffer should start with zeros, initialise it: --arg %s=TYPE[COUNT]:0",
                  isa_symbol_text(f.allocation, room));
    (void)chk_add_text(init->memory.chk, &f, &text);
}

void init_found_output(struct chk_init *init, uint64_t address, uint64_t bytes)
{
    struct chk_finding f = chk_finding_of(CHK_UNINIT_OUTPUT, 0);
    struct emu_allocation a;
    bool inside;

    if (!(init->memory.chk->options.kinds >> CHK_UNINIT_OUTPUT & 1))
        return;
    f.count = init_memory_count(&init->memory, address, bytes, &f.address);
    if (f.count == 0 || !emu_allocation_at(init->memory.chk->machine, f.address, &a, &inside))
        return;
    uint32_t from = init_mark_get(&init->memory, init_mark_key(NULL, 0, 0, f.address));
    struct lw_buffer text;
    lw_buffer_init(&text);
    lw_printf(&text.sink, "the host reads %llu byte%s of '%s' that ", (unsigned long long)f.count,
              f.count == 1 ? "" : "s", a.name);
    if (from == 0 || from >= init->origin_count) {
        lw_printf(&text.sink, "%s never written; the first such byte is byte %llu",
                  f.count == 1 ? "was" : "were", (unsigned long long)(f.address - a.address));
    } else {
        const char *unused;
        lw_printf(&text.sink, "%s on an uninitialised value; the first such byte is byte %llu, from ",
                  f.count == 1 ? "depends" : "depend", (unsigned long long)(f.address - a.address));
        describe(init, &init->origins[from], false, &text.sink, &unused);
    }
    if (init->memory.chk->options.caller != NULL) {
        struct chk_call call = {.function = "", .file = ""};

        init->memory.chk->options.caller(init->memory.chk->options.context, &call);
        f.location.function = call.function;
        f.location.file = call.file;
        f.location.line = call.line;
    }
    f.allocation = a.name;
    (void)chk_add_text(init->memory.chk, &f, &text);
}
