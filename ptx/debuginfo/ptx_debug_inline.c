/* SPDX-License-Identifier: Apache-2.0 */
/* Creates debug information of inlined functions for PTX without .debug_info (nvcc -lineinfo), from directives
 * `.loc ..., function_name LABEL, inlined_at FILE LINE COLUMN`. Builds a tree of inlined calls for each function, and creates
 * debug entries for these calls and for duplicated blocks (ptx_node_split.c). */
#include "ptx/debuginfo/ptx_debug_priv.h"

enum { MAX_INLINE_DEPTH = 100, LOOK_BACK = 64, AT_LANGUAGE = 0x13, LANG_CXX = 4 };

/** An inlined call, with all instruction words of its code. */
struct ptx_inlined {
    uint32_t parent; /* 1 + index of the enclosing inlined call, which has a lower index; 0 if the call is directly in the
                      * function */
    uint32_t depth;
    uint32_t name;   /* offset of the function's name in .debug_str */
    uint32_t file, line, column; /* location of the call */
    struct isa_span *spans;
    uint32_t span_count;
};

/* ---- parsing -------------------------------------------------------------------- */

/* Also searches for the enclosing call: the inlined call has the location of an earlier .loc, and the code of that .loc
 * belongs to the enclosing call, or to the function itself. */
void ptx_debug_inlined_at(struct ptx_parser *parser, struct ptx_loc *loc, uint32_t file,
                          uint32_t line, uint32_t column)
{
    const struct ptx_module *module = parser->module;
    uint32_t count = (uint32_t)module->locs.count;
    uint32_t last = parser->loc < count ? parser->loc : count - 1; /* parser->loc may be PTX_NEXT_LOC, which is no index of
                                                                    * an element */
    uint32_t low = last > LOOK_BACK ? last - LOOK_BACK : 1;

    loc->inlined = true;
    loc->call_file = file;
    loc->call_line = line;
    loc->call_column = (uint16_t)(column > UINT16_MAX ? UINT16_MAX : column);
    for (uint32_t i = last; i >= low && i != 0; i--) {
        const struct ptx_loc *old = &module->locs.at[i];

        if (old->file == file && old->line == line && old->column == loc->call_column) {
            loc->parent = i;
            return;
        }
    }
}

/* ---- inlined calls --------------------------------------------------------------------- */

struct inlining {
    struct ptx_unit *unit;
    struct ptx_job *job;
    struct ptx_module *module;
    PTX_LIST(struct ptx_inlined) calls;
    PTX_LIST(uint32_t) room;     /* by call: capacity of its list of spans */
    struct ptx_map known;        /* maps enclosing call, name and location of a call to 1 + the call's index */
};

/* Returns 1 + the index of the inlined call to which the code of location @loc belongs, or 0 if the code belongs to the function
 * itself. */
static uint32_t instance_of(struct inlining *in, uint32_t loc, unsigned depth)
{
    struct ptx_loc *l = &in->module->locs.at[loc];
    const struct ptx_debug *debug = in->module->debug;
    struct ptx_fixup fixup = { .name = { l->name, l->name_size },
                               .addend = (int64_t)l->name_offset };
    uint32_t *key, *found;
    uint64_t name;

    if (loc == 0 || !l->inlined || depth == MAX_INLINE_DEPTH || l->name_size == 0 ||
        !ptx_debug_target(debug->strings, &fixup, &name))
        return 0;
    if (l->instance != 0 && l->instance_of == in->unit->function)
        return l->instance;
    key = PTX_ARRAY(in->job, uint32_t, 5);
    key[0] = l->parent != 0 ? instance_of(in, l->parent, depth + 1) : 0;
    if (key[0] != 0 && in->calls.at[key[0] - 1].depth >= MAX_INLINE_DEPTH)
        key[0] = 0; /* no real source nests inlined calls this deep, so the call counts as directly in the function */
    key[1] = (uint32_t)name;
    key[2] = l->call_file;
    key[3] = l->call_line;
    key[4] = l->call_column;
    found = ptx_map_find(&in->known, (const char *)key, 5 * sizeof *key);
    if (found == NULL) {
        uint32_t depth = key[0] != 0 ? in->calls.at[key[0] - 1].depth + 1 : 1;

        *PTX_PUSH(in->job, in->calls) = (struct ptx_inlined){
            .parent = key[0], .name = key[1], .file = key[2], .line = key[3], .column = key[4],
            .depth = depth
        };
        *PTX_PUSH(in->job, in->room) = 0;
        ptx_map_put(in->job, &in->known, (const char *)key, 5 * sizeof *key,
                    (uint32_t)in->calls.count);
        l->instance_of = in->unit->function;
        return l->instance = (uint32_t)in->calls.count;
    }
    l->instance_of = in->unit->function;
    return l->instance = *found;
}

static void put_word(struct inlining *in, uint32_t instance, uint32_t word)
{
    for (; instance != 0; instance = in->calls.at[instance - 1].parent) {
        struct ptx_inlined *call = &in->calls.at[instance - 1];

        if (call->span_count != 0 && call->spans[call->span_count - 1].to == word) {
            call->spans[call->span_count - 1].to++;
            continue;
        }
        if (call->span_count == in->room.at[instance - 1]) {
            uint32_t room = call->span_count * 2 + 2;
            struct isa_span *more =
                lw_arena_alloc(&in->unit->object->arena, room * sizeof *more);

            if (more == NULL)
                ptx_fail(in->job, 0, LW_ENOMEM, "the host has no memory for the translation");
            if (call->span_count != 0)
                memcpy(more, call->spans, call->span_count * sizeof *more);
            call->spans = more;
            in->room.at[instance - 1] = room;
        }
        call->spans[call->span_count++] = (struct isa_span){ word, word + 1 };
    }
}

static bool call_site(const void *context, uint32_t instance, struct ptx_call_site *out)
{
    const struct inlining *in = context;
    const struct ptx_inlined *call = instance != 0 ? &in->calls.at[instance - 1] : NULL;

    if (call != NULL)
        *out = (struct ptx_call_site){ call->parent, call->file, call->line, call->column, true };
    return call != NULL;
}

void ptx_debug_inlines(struct ptx_unit *unit, uint32_t base, const uint32_t *index)
{
    struct ptx_debug *debug = unit->module->debug;
    struct inlining in = { .unit = unit, .job = unit->job, .module = unit->module };
    struct ptx_inlined_list *out;
    const uint32_t *copy;
    uint32_t at = 0, *owner;

    if (debug->inlined == NULL || debug->current->dropped != NULL)
        return;
    owner = PTX_ARRAY(unit->job, uint32_t, index[unit->code.count] + 1);
    for (size_t i = 0; i < unit->code.count; i++) {
        if (unit->code.at[i].loc != 0)
            at = unit->code.at[i].loc;
        if (index[i] != index[i + 1])
            put_word(&in, owner[index[i]] = debug->strings != NULL ? instance_of(&in, at, 0) : 0, base + index[i]);
    }
    copy = ptx_debug_find_copies(unit, index, owner, call_site, &in);
    if (debug->strings == NULL && copy == NULL)
        return;
    out = &debug->inlined[unit->function - unit->module->functions.at];
    out->at = lw_arena_alloc(&unit->object->arena, (in.calls.count + 1) * sizeof *out->at);
    if (out->at == NULL)
        ptx_fail(unit->job, 0, LW_ENOMEM, "the host has no memory for the translation");
    if (in.calls.count != 0)
        memcpy(out->at, in.calls.at, in.calls.count * sizeof *out->at);
    out->count = (uint32_t)in.calls.count;
    if (copy == NULL)
        return;
    out->copies =
        lw_arena_alloc(&unit->object->arena, (in.calls.count + 1) * sizeof *out->copies);
    if (out->copies == NULL)
        ptx_fail(unit->job, 0, LW_ENOMEM, "the host has no memory for the translation");
    ptx_debug_copies(unit, base, index, owner, copy, 0, out->copies);
}

/* ---- entries ------------------------------------------------------------------------------ */

struct entries {
    struct ptx_job *job;
    struct ptx_debug *debug;
    uint32_t source, unit;   /* index of the PTX module whose entries are created, and of its unit's entry */
    struct ptx_map abstract; /* maps the name of an inlined function to its abstract entry */
    bool mangled;            /* linkage names are stored, so the unit is declared as C++: debuggers read linkage names only
                              * in C++ units */
};

static uint32_t open_die(struct entries *en, unsigned tag, uint32_t parent)
{
    uint32_t index = (uint32_t)en->debug->dies.count;
    const uint64_t offset = index != 0 ? en->debug->dies.at[index - 1].offset + 1 : 0;

    *PTX_PUSH(en->job, en->debug->dies) = (struct ptx_die){
        .offset = offset, .tag = (uint16_t)tag, .source = (uint16_t)en->source, .parent = parent, .end = index + 1,
        .unit = en->unit, .first = (uint32_t)en->debug->values.count, .function = PTX_NONE,
        .object_function = PTX_NONE, .out = PTX_NONE
    };
    return index;
}

static void put_value(struct entries *en, uint32_t die, unsigned name, unsigned kind,
                      uint64_t number, const char *text)
{
    *PTX_PUSH(en->job, en->debug->values) = (struct ptx_value){
        .name = (uint16_t)name, .kind = (uint8_t)kind, .number = number, .text = text
    };
    en->debug->dies.at[die].count++;
}

/* Returns the readable name of a function: "add" for _Z3addii, and "work" for _ZN4tool4workEi. Other names are unchanged. */
static const char *plain_name(struct ptx_job *job, const char *linkage)
{
    const char *p = linkage, *name = NULL;
    size_t size = 0;
    char *copy;

    if (strncmp(p, "_Z", 2) != 0)
        return linkage;
    p += 2;
    for (bool nested = *p == 'N' && *p++; p[*p == 'L'] >= '0' && p[*p == 'L'] <= '9';) { /* L: the function is internal */
        size_t n = 0;

        p += *p == 'L';
        while (*p >= '0' && *p <= '9' && n < PTX_NAME_BYTES)
            n = n * 10 + (size_t)(*p++ - '0');
        if (n == 0 || n > strnlen(p, n))
            return linkage;
        name = p;
        size = n;
        p += n;
        if (!nested)
            break;
    }
    if (name == NULL)
        return linkage;
    copy = ptx_new(job, size + 1, 1);
    memcpy(copy, name, size);
    return copy;
}

static void put_name(struct entries *en, uint32_t die, const char *linkage)
{
    const char *name = plain_name(en->job, linkage);

    put_value(en, die, ISA_AT_NAME, PTX_V_TEXT, 0, name);
    if (name != linkage && en->mangled)
        put_value(en, die, ISA_AT_LINKAGE_NAME, PTX_V_TEXT, 0, linkage);
}

static uint32_t abstract_of(struct entries *en, uint32_t name)
{
    const struct ptx_section *strings = en->debug->strings;
    const char *text = (const char *)strings->bytes.at + name;
    size_t size = strnlen(text, strings->bytes.count - name);
    const uint32_t *known = ptx_map_find(&en->abstract, text, size);
    char *copy;
    uint32_t die;

    if (known != NULL)
        return *known;
    copy = ptx_new(en->job, size + 1, 1);
    memcpy(copy, text, size);
    die = open_die(en, ISA_TAG_SUBPROGRAM, en->unit);
    put_name(en, die, size != 0 ? copy : "inlined");
    put_value(en, die, ISA_AT_INLINE, PTX_V_NUMBER, 1, NULL);
    ptx_map_put(en->job, &en->abstract, copy, size, die);
    return die;
}

static void put_instances(struct entries *en, const struct ptx_inlined_list *list,
                          const uint32_t *abstract, const uint32_t *first,
                          const uint32_t *next, uint32_t instance, uint32_t parent)
{
    for (uint32_t i = first[instance]; i != 0; i = next[i]) {
        const struct ptx_inlined *call = &list->at[i - 1];
        uint32_t die = open_die(en, ISA_TAG_INLINED, parent);

        en->debug->dies.at[die].spans = call->spans;
        en->debug->dies.at[die].span_count = call->span_count;
        put_value(en, die, ISA_AT_ABSTRACT_ORIGIN, PTX_V_REFERENCE, en->debug->dies.at[abstract[i - 1]].offset, NULL);
        put_value(en, die, ISA_AT_CALL_FILE, PTX_V_NUMBER, call->file, NULL);
        put_value(en, die, ISA_AT_CALL_LINE, PTX_V_NUMBER, call->line, NULL);
        put_value(en, die, ISA_AT_CALL_COLUMN, PTX_V_NUMBER, call->column, NULL);
        if (list->copies != NULL)
            en->debug->dies.at[die].copies = list->copies[i];
        put_instances(en, list, abstract, first, next, i, die);
        en->debug->dies.at[die].end = (uint32_t)en->debug->dies.count;
    }
}

/* Creates the entries of function number @f of the module. */
static void put_function(struct entries *en, const struct ptx_module *module, size_t f)
{
    struct ptx_debug *debug = en->debug;
    const struct ptx_inlined_list *list = &debug->inlined[f];
    const struct isa_function *function = &en->job->object->functions[list->number];
    uint32_t *abstract = PTX_ARRAY(en->job, uint32_t, list->count + 1);
    uint32_t *first = PTX_ARRAY(en->job, uint32_t, list->count + 1), *next = PTX_ARRAY(en->job, uint32_t, list->count + 1), die;

    for (uint32_t i = list->count; i != 0; i--) {
        next[i] = first[list->at[i - 1].parent];
        first[list->at[i - 1].parent] = i;
    }
    for (uint32_t i = 0; i < list->count; i++)
        abstract[i] = abstract_of(en, list->at[i].name);
    die = open_die(en, ISA_TAG_SUBPROGRAM, en->unit);
    debug->dies.at[die].object_function = list->number;
    put_name(en, die, module->functions.at[f].name);
    put_value(en, die, ISA_AT_DECL_FILE, PTX_V_NUMBER, function->file, NULL);
    put_value(en, die, ISA_AT_DECL_LINE, PTX_V_NUMBER, function->line, NULL);
    put_value(en, die, ISA_AT_EXTERNAL, PTX_V_FLAG, 1, NULL);
    if (list->copies != NULL)
        debug->dies.at[die].copies = list->copies[0];
    put_instances(en, list, abstract, first, next, 0, die);
    debug->dies.at[die].end = (uint32_t)debug->dies.count;
}

/* Creates the unit of PTX module @source and its entries, if ptx_debug_inlines() found something in one of its functions. */
static void put_unit(struct ptx_job *job, const struct ptx_module *module, uint32_t source)
{
    struct ptx_debug *debug = module->debug;
    struct entries en = { .job = job, .debug = debug, .source = source, .unit = (uint32_t)debug->dies.count };
    bool any = false;

    for (size_t f = 0; f < module->functions.count; f++) {
        if (module->functions.at[f].source != source)
            continue;
        any = any || debug->inlined[f].count != 0 || debug->inlined[f].copies != NULL;
        en.mangled = en.mangled || debug->inlined[f].count != 0;
    }
    if (!any)
        return;
    ptx_debug_look_at(debug, source);
    (void)open_die(&en, ISA_TAG_UNIT, PTX_NONE);
    if (en.mangled)
        put_value(&en, en.unit, AT_LANGUAGE, PTX_V_NUMBER, LANG_CXX, NULL);
    for (size_t f = 0; f < module->functions.count; f++)
        if (module->functions.at[f].source == source && (debug->inlined[f].count != 0 || debug->inlined[f].copies != NULL))
            put_function(&en, module, f);
    debug->dies.at[en.unit].end = (uint32_t)debug->dies.count;
}

void ptx_debug_make_inlines(struct ptx_job *job, struct ptx_module *module)
{
    for (uint32_t i = 0; i < module->debug->part_count && module->debug->inlined != NULL; i++)
        put_unit(job, module, i);
}
