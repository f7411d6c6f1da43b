/* SPDX-License-Identifier: Apache-2.0 */
/* Values that were never written: origins in words. */
#include "check/chk_init_priv.h"

#include <stdlib.h>

uint32_t init_origin_add(struct chk_init *init, const struct init_origin *origin)
{
    for (size_t i = init->origin_count; i-- > 1 && init->origin_count - i < 64;) {
        const struct init_origin *o = &init->origins[i];
        if (o->where == origin->where && o->number == origin->number &&
            o->address == origin->address && o->pc == origin->pc && o->kernel == origin->kernel)
            return (uint32_t)i;
    }
    if (!lw_grow(&init->origins, &init->origin_room, init->origin_count + 2,
                 sizeof *init->origins)) {
        init->memory.short_of_memory = true;
        return 0;
    }
    if (init->origin_count == 0)
        init->origins[init->origin_count++] = (struct init_origin){0};
    init->origins[init->origin_count] = *origin;
    return (uint32_t)init->origin_count++;
}

static const struct isa_line *line_at(const struct isa_object *object, const struct emu_program *program,
                                      uint64_t pc, uint32_t *index)
{
    *index = (uint32_t)((pc - emu_program_base(program)) / ISA_WORD_BYTES);
    return isa_object_line_at(object, *index);
}

/** Is a compiler's name of a shared variable one of a function's own: kernel_$_s, _ZZ6kernelPiE1s? */
static bool is_of(const char *name, const char *function)
{
    const size_t n = strlen(function);
    char *end;

    if (strncmp(name, function, n) == 0 && (strncmp(name + n, "_$_", 3) == 0 || name[n] == '.'))
        return true;
    if (strncmp(name, "_ZZ", 3) != 0)
        return false;
    if (strncmp(function, "_Z", 2) == 0)
        return strncmp(name + 3, function + 2, n - 2) == 0 && name[n + 1] == 'E';
    return strtoul(name + 3, &end, 10) == n && strncmp(end, function, n) == 0;
}

const struct isa_variable *init_shared_variable(const struct isa_object *object,
                                                const struct isa_function *kernel, uint32_t offset)
{
    const struct isa_variable *found = NULL;
    bool several = false;

    if (kernel != NULL && offset >= kernel->shared_bytes)
        return NULL; /* dynamic: that other kernels have variables there says nothing */
    for (unsigned i = 0; i < object->variable_count; i++) {
        const struct isa_variable *v = &object->variables[i];
        bool foreign = false;

        if (v->space != ISA_SPACE_SHARED || offset - v->shared_offset >= v->size_bytes)
            continue;
        if (kernel != NULL && is_of(v->name, kernel->name))
            return v;
        for (unsigned f = 0; f < object->function_count && !foreign; f++)
            foreign = object->functions[f].kernel && is_of(v->name, object->functions[f].name);
        several |= !foreign && found != NULL;
        if (!foreign)
            found = v;
    }
    return several ? NULL : found;
}

/** Bytes of a type; 0: not known. */
static uint64_t type_bytes(const struct isa_debug *d, uint32_t die, unsigned depth)
{
    const struct isa_attr *size = isa_die_attr(d, die, ISA_AT_BYTE_SIZE);
    const struct isa_attr *type = isa_die_attr(d, die, ISA_AT_TYPE);
    uint64_t bytes, count = 1;

    if (size != NULL)
        return size->value;
    if (type == NULL || depth == 0)
        return 0;
    bytes = type_bytes(d, (uint32_t)type->value, depth - 1);
    if (d->dies[die].tag != ISA_TAG_ARRAY)
        return bytes;
    for (uint32_t c = die + 1; c < d->dies[die].end; c = d->dies[c].end) {
        const struct isa_attr *n = isa_die_attr(d, c, ISA_AT_COUNT);
        const struct isa_attr *upper = isa_die_attr(d, c, ISA_AT_UPPER_BOUND);
        count *= n != NULL ? n->value : upper != NULL ? upper->value + 1 : 1;
    }
    return bytes * count;
}

/** How many elements a dimension of an array has; 0: not known. */
static uint64_t dimension(const struct isa_debug *d, uint32_t die)
{
    const struct isa_attr *n = isa_die_attr(d, die, ISA_AT_COUNT);
    const struct isa_attr *upper = isa_die_attr(d, die, ISA_AT_UPPER_BOUND);

    return n != NULL ? n->value : upper != NULL ? upper->value + 1 : 0;
}

/** The entry of a shared variable in the source, or d->die_count: of several at one place that of the
 *  kernel, or else of the same name. */
static uint32_t shared_die(const struct isa_object *object, const struct isa_variable *v,
                           const struct isa_function *kernel)
{
    const struct isa_debug *d = object->debug;
    uint32_t owner_end = 0, found = d->die_count;
    bool owned = false;

    for (uint32_t i = 0; i < d->die_count; i++) {
        const struct isa_attr *place = isa_die_attr(d, i, ISA_AT_LOCATION);
        const struct isa_attr *name = isa_die_attr(d, i, ISA_AT_NAME);

        if (d->dies[i].tag == ISA_TAG_SUBPROGRAM) {
            const struct isa_attr *low = isa_die_attr(d, i, ISA_AT_LOW_PC);
            owned = low != NULL && &object->functions[low->value] == kernel;
            owner_end = d->dies[i].end;
        }
        if (d->dies[i].tag != ISA_TAG_VARIABLE || place == NULL || place->count == 0 || name == NULL)
            continue;
        const struct isa_place *p = &d->places[place->value];
        const size_t all = strlen(v->name), n = strlen(name->text);
        if (p->kind == ISA_PLACE_VARIABLE) {
            if (&object->variables[p->variable] == v)
                return i;
        } else if (p->kind == ISA_PLACE_ADDRESS && p->value == ISA_SHARED_BASE + v->shared_offset &&
                   n <= all && strcmp(v->name + all - n, name->text) == 0) {
            if (owned && i < owner_end)
                return i;
            if (found == d->die_count)
                found = i;
        }
    }
    return found;
}

/** For an offset in a variable: which is of no interest. */
#define SOMEWHERE UINT32_MAX

/** "s[5]', byte 2, declared in line 3": the variable @die of the source at @offset in it. */
static void put_variable(const struct isa_debug *d, uint32_t die, uint64_t offset,
                         struct lw_sink *out)
{
    const struct isa_attr *type = isa_die_attr(d, die, ISA_AT_TYPE);
    const struct isa_attr *decl = isa_die_attr(d, die, ISA_AT_DECL_LINE);
    const uint32_t array = type != NULL ? (uint32_t)type->value : 0;
    uint64_t bytes = 0, step;

    lw_put(out, isa_die_attr(d, die, ISA_AT_NAME)->text);
    if (type != NULL && d->dies[array].tag == ISA_TAG_ARRAY &&
        isa_die_attr(d, array, ISA_AT_TYPE) != NULL)
        bytes = type_bytes(d, (uint32_t)isa_die_attr(d, array, ISA_AT_TYPE)->value, 6);
    step = type_bytes(d, array, 6);
    if (offset == SOMEWHERE)
        bytes = offset = 0;
    for (uint32_t c = array + 1; bytes != 0 && c < d->dies[array].end; c = d->dies[c].end) {
        const uint64_t count = dimension(d, c);

        if (count == 0 || step / count == 0)
            break;
        step /= count;
        lw_printf(out, "[%llu]", (unsigned long long)(offset / step));
        offset %= step;
    }
    lw_put(out, "'");
    if (offset != 0)
        lw_printf(out, ", byte %llu", (unsigned long long)offset);
    if (decl != NULL)
        lw_printf(out, ", declared in line %llu", (unsigned long long)decl->value);
}

/** "shared 's[5]', declared in line 3" where the source is known; else "shared 's', byte 20": of a
 *  compiler's own name, kernel_$_s, the source's part. */
static void describe_shared(const struct isa_object *object, const struct isa_variable *v,
                            const struct isa_function *kernel, uint32_t offset, struct lw_sink *out)
{
    const struct isa_debug *d = object->debug;
    const uint32_t die = d != NULL ? shared_die(object, v, kernel) : 0;
    const char *name = v->name;

    for (const char *at = name; (at = strstr(at, "_$_")) != NULL;)
        name = at += 3;
    if (d == NULL || die == d->die_count) {
        lw_printf(out, "shared '%s'", name);
        if (offset != SOMEWHERE)
            lw_printf(out, ", byte %u", offset);
        return;
    }
    lw_put(out, "shared '");
    put_variable(d, die, offset, out);
}

/** The kernel's variable of the source that holds @offset of local memory while instruction @index runs,
 *  and where in it; the number of entries: none. Kernels have their variables at fixed addresses. */
static uint32_t local_die(const struct isa_object *object, const struct isa_function *kernel,
                          uint32_t index, uint32_t offset, uint64_t *inside)
{
    const struct isa_debug *d = object->debug;
    const uint64_t address = ISA_LOCAL_BASE + offset;
    uint32_t end = 0;

    *inside = 0;
    for (uint32_t i = 0; i < d->die_count; i++) {
        const struct isa_attr *place = isa_die_attr(d, i, ISA_AT_LOCATION);
        const struct isa_attr *low = isa_die_attr(d, i, ISA_AT_LOW_PC);

        if (d->dies[i].tag == ISA_TAG_SUBPROGRAM && low != NULL &&
            &object->functions[low->value] == kernel)
            end = d->dies[i].end;
        const struct isa_attr *origin = isa_die_attr(d, i, ISA_AT_ABSTRACT_ORIGIN);
        const uint32_t source = origin != NULL ? (uint32_t)origin->value : i; /* of what is inlined */
        if (i >= end || place == NULL || isa_die_attr(d, source, ISA_AT_NAME) == NULL)
            continue;
        for (uint32_t k = 0; k < place->count; k++) {
            const struct isa_place *p = &d->places[place->value + k];
            const struct isa_attr *type = isa_die_attr(d, source, ISA_AT_TYPE);

            *inside = address - p->value;
            if (p->kind == ISA_PLACE_ADDRESS && p->value <= address && type != NULL &&
                *inside < type_bytes(d, (uint32_t)type->value, 6) &&
                (p->to == 0 || (index >= p->from && index < p->to)))
                return source;
        }
    }
    return d->die_count;
}

/** "'tile' in shared memory", ... ; @element: which of a shared array was read
 *  first; @allocation gets a name for suppressions. */
static void describe(const struct chk_init *init, const struct init_origin *o, bool element,
                     struct lw_sink *out, const char **allocation)
{
    const struct emu_program *program = emu_machine_program_at(init->chk->machine, o->pc);
    const struct isa_object *object = program != NULL ? emu_program_object(program) : NULL;
    const struct isa_variable *v;
    struct emu_allocation a;
    uint64_t offset = 0;
    uint32_t index = 0, die;
    bool inside;

    *allocation = "";
    if (object != NULL)
        (void)line_at(object, program, o->pc, &index);
    switch ((enum init_where)o->where) {
    case INIT_GLOBAL:
        if (emu_allocation_at(init->chk->machine, o->address, &a, &inside)) {
            *allocation = a.name;
            lw_printf(out, "%s%s%s (%llu bytes at 0x%llx)", a.name[0] ? "'" : "an allocation",
                      a.name, a.name[0] ? "'" : "", (unsigned long long)a.size_bytes,
                      (unsigned long long)a.address);
        } else {
            lw_printf(out, "global memory at 0x%llx", (unsigned long long)o->address);
        }
        return;
    case INIT_SHARED:
        v = object != NULL ? init_shared_variable(object, o->kernel, o->number) : NULL;
        if (v != NULL)
            describe_shared(object, v, o->kernel, element ? o->byte : SOMEWHERE, out);
        else
            lw_printf(out, "shared memory at offset %u", o->number);
        *allocation = v != NULL ? v->name : "";
        return;
    case INIT_LOCAL:
        die = object != NULL && object->debug != NULL
                  ? local_die(object, o->kernel, index, o->number, &offset) : 0;
        if (object != NULL && object->debug != NULL && die != object->debug->die_count) {
            lw_put(out, "local '");
            put_variable(object->debug, die, offset, out);
            *allocation = isa_die_attr(object->debug, die, ISA_AT_NAME)->text;
            return;
        }
        lw_printf(out, "local memory at offset %u", o->number);
        return;
    case INIT_REGISTER:
        if (o->number >= 512)
            lw_put(out, "a predicate or scalar register");
        else
            lw_printf(out, "register v%u", o->number);
        return;
    }
}

void init_found(struct chk_init *init, enum chk_kind kind, const struct emu_tap_site *site,
                uint64_t lanes, const char *use, uint32_t from, uint64_t address)
{
    const uint64_t pc = emu_program_base(site->program) + (uint64_t)site->index * ISA_WORD_BYTES;
    struct chk_finding f = {.kind = kind, .other = {.kernel = "", .function = "", .file = ""},
                            .allocation = "", .address = address, .count = lw_popcount(lanes)};
    struct init_origin none = {0};
    const struct init_origin *o = from < init->origin_count ? &init->origins[from] : &none;
    struct lw_buffer text;

    if ((init->chk->options.kinds >> kind & 1) == 0)
        return;
    chk_place_at(init->chk, site->grid->sequence, site->block, site->warp, lanes, pc, &f.place);
    lw_buffer_init(&text);
    lw_printf(&text.sink, "%s depends on what was never written: ", use);
    describe(init, o, true, &text.sink, &f.allocation);
    if (o->pc != 0 && o->pc != pc) {
        const struct emu_program *program = emu_machine_program_at(init->chk->machine, o->pc);
        uint32_t index;
        const struct isa_line *line =
            program != NULL ? line_at(emu_program_object(program), program, o->pc, &index) : NULL;
        if (line != NULL && line->file < emu_program_object(program)->file_count)
            lw_printf(&text.sink, ", read at %s:%u", emu_program_object(program)->files[line->file],
                      line->line);
        else
            lw_printf(&text.sink, ", read at pc 0x%llx", (unsigned long long)o->pc);
    }
    f.sentence = text.text != NULL ? text.text : "";
    (void)chk_add(init->chk, &f);
    lw_buffer_fini(&text);
}

void init_found_output(struct chk_init *init, uint64_t address, uint64_t bytes)
{
    struct chk_finding f = {.kind = CHK_UNINIT_OUTPUT,
                            .place = {.kernel = "", .function = "", .file = init->chk->host_file,
                                      .line = init->chk->host_line},
                            .other = {.kernel = "", .function = "", .file = ""}};
    struct emu_allocation a;
    bool inside;

    if (!(init->chk->options.kinds >> CHK_UNINIT_OUTPUT & 1))
        return;
    f.count = init_memory_count(&init->memory, address, bytes, &f.address);
    if (f.count == 0 || !emu_allocation_at(init->chk->machine, f.address, &a, &inside))
        return;
    uint32_t from = init_mark_get(&init->memory, init_mark_key(NULL, 0, 0, f.address));
    struct lw_buffer text;
    lw_buffer_init(&text);
    lw_printf(&text.sink, "the host reads %llu byte%s of '%s' that ", (unsigned long long)f.count,
              f.count == 1 ? "" : "s", a.name);
    if (from == 0 || from >= init->origin_count) {
        lw_printf(&text.sink, "nothing has written; the first is byte %llu",
                  (unsigned long long)(f.address - a.address));
    } else {
        const char *unused;
        lw_printf(&text.sink, "depend on what was never written; the first is byte %llu, from ",
                  (unsigned long long)(f.address - a.address));
        describe(init, &init->origins[from], false, &text.sink, &unused);
    }
    f.allocation = a.name;
    f.sentence = text.text != NULL ? text.text : "";
    (void)chk_add(init->chk, &f);
    lw_buffer_fini(&text);
}
