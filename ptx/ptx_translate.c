/* SPDX-License-Identifier: Apache-2.0 */
/* Entry points of ptx/: translation of modules to an object, and the flow graph as text. */
#include <stdio.h>
#include <stdlib.h>

#include "ptx/ptx_priv.h"
#include "ptx/ptx_provided_priv.h"

void ptx_options_default(struct ptx_options *options)
{
    *options = (struct ptx_options){ .verify = true };
}

void ptx_unit_init(struct ptx_unit *unit, struct ptx_job *job, struct ptx_module *module,
                   struct ptx_function *function, struct isa_object *object)
{
    memset(unit, 0, sizeof *unit);
    unit->job = job;
    unit->module = module;
    unit->function = function;
    unit->object = object;
}

void ptx_unit_analyse(struct ptx_unit *unit)
{
    ptx_calls_begin(unit);
    ptx_select(unit);
    ptx_cfg(unit);
    ptx_narrow(unit);
    ptx_opt(unit);
    ptx_postdominators(unit);
    ptx_divergence(unit);
    ptx_ifconv(unit);
    if (unit->wants_affine)
        ptx_affine(unit);
    ptx_barriers(unit);
    ptx_scalar(unit);
}

/* ---- module ----------------------------------------------------------------------- */

static void *arena_array(struct ptx_job *job, struct isa_object *object, size_t count, size_t size)
{
    void *p = lw_arena_alloc(&object->arena, (count + 1) * size);

    if (p == NULL)
        ptx_fail(job, 0, LW_ENOMEM, "the host has no memory for the translation");
    return p;
}

static const char *arena_text(struct ptx_job *job, struct isa_object *object, const char *text)
{
    char *p = lw_arena_strdup(&object->arena, text);

    if (p == NULL)
        ptx_fail(job, 0, LW_ENOMEM, "the host has no memory for the translation");
    return p;
}

/* Assigns offsets to module-scope shared variables, which are the same in every kernel. */
static void lay_out_shared(struct ptx_job *job, struct ptx_module *module, size_t count)
{
    uint64_t top = 0;

    for (size_t i = 0; i < count; i++) { /* lanewise_local_first is at address 0, so that no other variable has the address
                                          * of a null pointer */
        struct ptx_symbol *s = &module->symbols.at[i];

        if (s->kind != PTX_SYM_VARIABLE || s->space != PTX_SP_SHARED || s->placed || s->size_bytes > 16 ||
            strcmp(s->name, "lanewise_local_first") != 0)
            continue;
        s->offset = 0;
        s->placed = true;
        top = s->size_bytes;
        module->shared_top = (uint32_t)top;
    }
    for (size_t i = 0; i < count; i++) {
        struct ptx_symbol *s = &module->symbols.at[i];

        if (s->kind != PTX_SYM_VARIABLE || s->space != PTX_SP_SHARED || s->placed)
            continue;
        if (s->size_bytes == 0)
            *PTX_PUSH(job, module->dynamic) = (uint32_t)i;
        if (s->size_bytes == 0 || !s->used)
            continue;
        top = (top + s->align - 1) & ~(uint64_t)(s->align - 1);
        if (top + s->size_bytes > 1u << 22)
            ptx_fail(job, s->line, LW_EUNSUPP, "variable '%s' makes the shared memory larger than 4 MiB, which is the maximum",
                     s->name);
        s->offset = (uint32_t)top;
        s->placed = true;
        top += s->size_bytes;
        module->shared_top = (uint32_t)top;
    }
}

/* Marks the shared variables that two kernels use. A marked variable needs the same offset in both kernels, which
 * lay_out_shared() assigns. All other shared variables get their offset when the first function that uses them is selected. */
static void find_common_shared(struct ptx_module *module)
{
    uint32_t *user = ptx_new(module->job, module->symbols.count + 1, sizeof *user);

    for (uint32_t f = 0; f < module->functions.count; f++) {
        const struct ptx_function *fn = &module->functions.at[f];

        for (size_t i = 0; fn->kernel && i < fn->insns.count; i++) {
            const struct ptx_insn *in = &fn->insns.at[i];

            for (unsigned k = 0; k < in->operand_count; k++) {
                const struct ptx_operand *o = &in->operand[k];

                if ((o->kind != PTX_O_SYMBOL && o->kind != PTX_O_ADDRESS) ||
                    o->symbol == PTX_NONE)
                    continue;
                if (user[o->symbol] != 0 && user[o->symbol] != f + 1)
                    module->symbols.at[o->symbol].used = true;
                user[o->symbol] = f + 1;
            }
        }
    }
}

/* Adds @symbol to the set of used symbols and to the @count symbols in @list, unless it is in the set. */
static void add_used(bool *used, uint32_t *list, uint32_t *count, uint32_t symbol)
{
    if (symbol == PTX_NONE || used[symbol])
        return;
    used[symbol] = true;
    list[(*count)++] = symbol;
}

/* Returns, for each symbol, whether the code may use the symbol: an operand of an instruction names it, or the initialiser of a
 * variable that the code may use contains its address. */
static bool *find_used(struct ptx_job *job, const struct ptx_module *module)
{
    bool *used = PTX_ARRAY(job, bool, module->symbols.count + 1);
    uint32_t *list = PTX_ARRAY(job, uint32_t, module->symbols.count + 1), count = 0;

    for (size_t f = 0; f < module->functions.count; f++) {
        const struct ptx_function *fn = &module->functions.at[f];

        for (size_t i = 0; i < fn->insns.count; i++)
            for (unsigned k = 0; k < fn->insns.at[i].operand_count; k++) {
                const struct ptx_operand *o = &fn->insns.at[i].operand[k];

                if (o->kind == PTX_O_SYMBOL || o->kind == PTX_O_ADDRESS)
                    add_used(used, list, &count, o->symbol);
                for (unsigned e = 0; o->element != NULL && e < o->count; e++)
                    if (o->element[e].kind == PTX_O_SYMBOL)
                        add_used(used, list, &count, o->element[e].symbol);
            }
    }
    for (uint32_t i = 0; i < count; i++) {
        const struct ptx_symbol *s = &module->symbols.at[list[i]];

        for (size_t k = 0; k < s->addresses.count; k++)
            add_used(used, list, &count, s->addresses.at[k].symbol);
    }
    return used;
}

static void put_variables(struct ptx_job *job, struct ptx_module *module,
                          struct isa_object *object)
{
    const bool *used = find_used(job, module);
    unsigned count = 0, addresses = 0;

    for (size_t i = 0; i < module->symbols.count; i++) {
        struct ptx_symbol *s = &module->symbols.at[i];

        if (s->kind != PTX_SYM_VARIABLE || s->external ||
            (s->space != PTX_SP_GLOBAL && s->space != PTX_SP_CONST))
            continue;
        s->variable = count++;
        addresses += (unsigned)s->addresses.count;
    }
    object->variables = arena_array(job, object, count, sizeof *object->variables);
    object->variable_count = count;
    object->relocs = arena_array(job, object, addresses, sizeof *object->relocs);
    job->reloc_capacity = addresses + 1;
    for (size_t i = 0; i < module->symbols.count; i++) {
        const struct ptx_symbol *s = &module->symbols.at[i];
        struct isa_variable *v = &object->variables[s->variable];

        if (s->kind != PTX_SYM_VARIABLE || s->external ||
            (s->space != PTX_SP_GLOBAL && s->space != PTX_SP_CONST))
            continue;
        v->name = arena_text(job, object, s->name);
        v->space = s->space == PTX_SP_CONST || s->texture ? ISA_SPACE_CONST : ISA_SPACE_GLOBAL;
        v->align = s->align;
        v->size_bytes = s->size_bytes;
        v->managed = s->managed && v->space == ISA_SPACE_GLOBAL;
        if (s->init != NULL) {
            uint8_t *init = arena_array(job, object, s->size_bytes, 1);

            memcpy(init, s->init, s->size_bytes);
            v->init = init;
        }
        for (size_t k = 0; k < s->addresses.count; k++) {
            const struct ptx_init_address *a = &s->addresses.at[k];
            const struct ptx_symbol *to = &module->symbols.at[a->symbol];

            bool function = to->kind == PTX_SYM_FUNCTION;

            /* clang also writes the constants of host code, with the addresses of functions of the host. Kernels do not use these
             * constants, so the addresses are left out. */
            if (function && !module->functions.at[to->function].has_body && !used[i])
                continue;
            if (function ? !module->functions.at[to->function].has_body
                         : to->kind != PTX_SYM_VARIABLE || to->external)
                ptx_fail(job, s->line, LW_EUNSUPP,
                         "'%s' is initialised with the address of '%s', which is defined in "
                         "another module", s->name, to->name);
            object->relocs[object->reloc_count++] = (struct isa_reloc){
                .insn = UINT32_MAX, .in = s->variable, .offset = (uint32_t)a->offset,
                .to_function = function,
                .to = function ? module->functions.at[to->function].calls.index : to->variable,
                .addend = a->addend
            };
        }
    }
}

/* Makes names in the object unique: variables of two functions or two blocks, and functions of two modules, may have
 * the same name. */
static const char *unique_name(struct ptx_job *job, struct ptx_map *names, const char *name)
{
    uint32_t *used = ptx_map_find(names, name, strlen(name));
    char *longer = NULL;
    uint32_t n;

    if (used == NULL) {
        ptx_map_put(job, names, name, strlen(name), 0);
        return name;
    }
    for (n = *used + 1; longer == NULL; n++) { /* the search for a free number starts after the last number that was used */
        char text[PTX_NAME_BYTES + 16];

        snprintf(text, sizeof text, "%.*s.%u", PTX_NAME_BYTES, name, n);
        if (ptx_map_find(names, text, strlen(text)) != NULL)
            continue;
        longer = lw_arena_strdup(&job->arena, text);
        if (longer == NULL)
            ptx_fail(job, 0, LW_ENOMEM, "the host has no memory for the translation");
    }
    *used = n - 1;
    ptx_map_put(job, names, longer, strlen(longer), 0);
    return longer;
}

static void make_names_unique(struct ptx_job *job, struct isa_object *object)
{
    struct ptx_map names = { 0 };

    for (unsigned i = 0; i < object->function_count; i++) /* launches refer to functions by name */
        if (object->functions[i].kernel)
            ptx_map_put(job, &names, object->functions[i].name,
                        strlen(object->functions[i].name), 0);
    for (unsigned i = 0; i < object->function_count; i++)
        if (!object->functions[i].kernel)
            object->functions[i].name =
                arena_text(job, object, unique_name(job, &names, object->functions[i].name));
    for (unsigned i = 0; i < object->variable_count; i++)
        object->variables[i].name =
            arena_text(job, object, unique_name(job, &names, object->variables[i].name));
}

/* Adds shared variables to the object for debuggers, after their kernels are translated. */
static void put_shared(struct ptx_job *job, struct ptx_module *module, struct isa_object *object)
{
    unsigned count = object->variable_count;
    struct isa_variable *all;

    for (size_t i = 0; i < module->symbols.count; i++) {
        const struct ptx_symbol *s = &module->symbols.at[i];

        count += s->kind == PTX_SYM_VARIABLE && s->space == PTX_SP_SHARED && s->placed;
    }
    all = arena_array(job, object, count, sizeof *all);
    if (object->variable_count != 0)
        memcpy(all, object->variables, object->variable_count * sizeof *all);
    object->variables = all;
    for (size_t i = 0; i < module->symbols.count; i++) {
        struct ptx_symbol *s = &module->symbols.at[i];

        if (s->kind != PTX_SYM_VARIABLE || s->space != PTX_SP_SHARED || !s->placed)
            continue;
        s->variable = object->variable_count;
        all[object->variable_count++] = (struct isa_variable){
            .name = arena_text(job, object, s->name), .space = ISA_SPACE_SHARED,
            .align = s->align, .size_bytes = s->size_bytes, .shared_offset = s->offset
        };
    }
}

static void put_files(struct ptx_job *job, struct ptx_module *module, struct isa_object *object)
{
    size_t count = module->files.count < 1 ? 1 : module->files.count;

    for (size_t i = 1; i < module->locs.count; i++) {
        if (module->locs.at[i].file >= count)
            count = module->locs.at[i].file + 1;
    }
    if (count > UINT16_MAX)
        ptx_fail(job, 0, LW_EUNSUPP, "more than %u source files are not supported", UINT16_MAX);
    object->files = arena_array(job, object, count, sizeof *object->files);
    object->file_count = (unsigned)count;
    for (size_t i = 0; i < count; i++) {
        const char *name = i < module->files.count ? module->files.at[i] : NULL;
        char *copy;

        if (name == NULL || *name == '\0')
            name = "unknown";
        copy = lw_arena_strndup(&object->arena, name, i == 0 ? 0 : strnlen(name, PTX_NAME_BYTES));
        if (copy == NULL)
            ptx_fail(job, 0, LW_ENOMEM, "the host has no memory for the translation");
        object->files[i] = copy;
        for (; *copy != '\0'; copy++) {
            if ((unsigned char)*copy < ' ' || *copy == 127)
                *copy = '?';
        }
    }
}

static uint8_t object_space(unsigned space)
{
    switch (space) {
    case PTX_SP_GLOBAL: return ISA_SPACE_GLOBAL;
    case PTX_SP_SHARED: return ISA_SPACE_SHARED;
    case PTX_SP_LOCAL: return ISA_SPACE_LOCAL;
    case PTX_SP_CONST: return ISA_SPACE_CONST;
    default: return ISA_SPACE_GENERIC;
    }
}

static enum isa_param_kind param_kind(const struct ptx_symbol *s)
{
    enum ptx_type type = (enum ptx_type)s->type;

    if (s->pointer)
        return ISA_PARAM_POINTER;
    if (s->size_bytes != ptx_type_bytes(type)) /* the type of the parameter is a vector or an array */
        return ISA_PARAM_VALUE;
    switch (ptx_type_class(type)) {
    case PTX_CLASS_INTEGER: return ISA_PARAM_INTEGER;
    case PTX_CLASS_FLOAT: return s->size_bytes >= 4 && type != PTX_T_F16X2 && type != PTX_T_BF16X2
                                     ? ISA_PARAM_FLOAT : ISA_PARAM_VALUE;
    default: return ISA_PARAM_VALUE;
    }
}

/* Origin of the values of a 64-bit register: a parameter (1 + its number), FROM_NOTHING (the value is not an address,
 * but for example a product or a widened integer), or FROM_ELSEWHERE (an unknown address or a sum). The origin is a heuristic,
 * which is used only for templates of launch files. ptx_object_bounds.c has a stricter analysis, because a wrong result of that
 * analysis would cause a false finding. */
enum { FROM_NOTHING = 0, FROM_ELSEWHERE = UINT32_MAX };

static uint32_t either(uint32_t a, uint32_t b)
{
    return a == FROM_NOTHING || a == b ? b : b == FROM_NOTHING ? a : FROM_ELSEWHERE;
}

static uint32_t parameter_read(const struct ptx_function *fn, const struct isa_param *params,
                               const struct ptx_operand *address)
{
    for (uint32_t p = 0; p < fn->params.count; p++)
        if (fn->params.at[p] == address->symbol && params[p].size_bytes == 8 && address->imm == 0)
            return p + 1;
    return FROM_ELSEWHERE;
}

static uint32_t origin_of(const struct ptx_operand *o, const uint32_t *from)
{
    return o->kind == PTX_O_REG ? from[o->reg] : o->kind == PTX_O_IMM ? FROM_NOTHING : FROM_ELSEWHERE;
}

/* Returns the origin of the register that an instruction writes. */
static uint32_t origin_written(const struct ptx_function *fn, const struct isa_param *params,
                               const struct ptx_insn *in, const uint32_t *from)
{
    const struct ptx_operand *o = in->operand;

    switch (in->op) {
    case PTX_LD:
        return ptx_has(in, PTX_W_PARAM) && in->operand_count == 2 && o[1].kind == PTX_O_ADDRESS
                   ? parameter_read(fn, params, &o[1])
                   : FROM_ELSEWHERE;
    case PTX_ATOM: return FROM_ELSEWHERE;
    case PTX_MOV:
    case PTX_CVTA: return in->operand_count == 2 ? origin_of(&o[1], from) : FROM_ELSEWHERE;
    case PTX_ADD:
    case PTX_SUB:
    case PTX_AND: /* an `and` rounds an address down */
    case PTX_OR:
    case PTX_XOR:
    case PTX_MIN:
    case PTX_MAX:
    case PTX_SELP: return either(origin_of(&o[1], from), origin_of(&o[2], from));
    case PTX_MAD: return origin_of(&o[3], from);
    default: return FROM_NOTHING;
    }
}

/* Finds 64-bit parameters that are used as pointers although the text does not declare them as pointers. A parameter counts
 * as a pointer if it is converted from a generic to a global address, or if, of the terms of an access's address, it is the
 * only one that may itself be an address. */
static void find_pointers(const struct ptx_unit *unit, struct isa_param *params)
{
    enum { PASSES = 3 }; /* number of passes over the text. In a loop, a value may be written on a later line than its use, so
                          * several passes are needed. Outside of loops a value is usually written before its use, and one pass
                          * is enough */
    const struct ptx_function *fn = unit->function;
    uint32_t *from = PTX_ARRAY(unit->job, uint32_t, fn->regs.count + 1);

    for (unsigned pass = 0; pass < PASSES; pass++) {
        for (size_t i = 0; i < fn->insns.count; i++) {
            const struct ptx_insn *in = &fn->insns.at[i];
            const struct ptx_operand *o = in->operand;

            if (in->operand_count >= 2 && o[0].kind == PTX_O_REG)
                from[o[0].reg] = either(from[o[0].reg], origin_written(fn, params, in, from));
        }
    }
    for (size_t i = 0; i < fn->insns.count; i++) {
        const struct ptx_insn *in = &fn->insns.at[i];
        const struct ptx_operand *o = in->operand;
        uint32_t reg = PTX_NONE;

        if (in->op == PTX_CVTA && ptx_has(in, PTX_W_TO) && ptx_has(in, PTX_W_GLOBAL) &&
            in->operand_count == 2 && o[1].kind == PTX_O_REG) {
            reg = o[1].reg;
        } else if (in->op == PTX_LD || in->op == PTX_ST || in->op == PTX_ATOM || in->op == PTX_RED) {
            for (unsigned k = 0; k < in->operand_count && reg == PTX_NONE; k++)
                if (o[k].kind == PTX_O_ADDRESS)
                    reg = o[k].reg;
        }
        if (reg == PTX_NONE || from[reg] == FROM_NOTHING || from[reg] == FROM_ELSEWHERE ||
            params[from[reg] - 1].kind == ISA_PARAM_FLOAT)
            continue;
        params[from[reg] - 1].kind = ISA_PARAM_POINTER;
    }
}

/* Describes a translated function in the object. ptx_calls_finish() later adds the registers and stack of callees. */
static void put_function(struct ptx_unit *unit, struct isa_function *out)
{
    struct ptx_function *fn = unit->function;
    struct isa_object *object = unit->object;

    out->name = arena_text(unit->job, object, fn->name);
    out->kernel = fn->kernel;
    for (size_t i = 0; i < fn->insns.count && out->line == 0; i++) {
        if (fn->insns.at[i].loc != 0) {
            const struct ptx_loc *loc = &unit->module->locs.at[fn->insns.at[i].loc];

            while (loc->parent != 0) /* finds the location in the function itself, outside of all inlined calls */
                loc = &unit->module->locs.at[loc->parent];
            out->line = loc->line;
            out->file = (uint16_t)loc->file;
        }
    }
    out->sreg_count = (uint16_t)unit->sreg_count;
    out->vreg_count = (uint16_t)unit->vreg_count;
    out->breg_count = (uint16_t)unit->breg_count;
    if (!fn->kernel)
        return;
    out->params = arena_array(unit->job, object, fn->params.count, sizeof *out->params);
    out->param_count = (unsigned)fn->params.count;
    for (size_t i = 0; i < fn->params.count; i++) {
        const struct ptx_symbol *s = &unit->module->symbols.at[fn->params.at[i]];

        out->params[i] = (struct isa_param){
            .name = arena_text(unit->job, object, s->name),
            .kind = (uint8_t)param_kind(s),
            .space = object_space(s->pointer ? s->pointer_space : PTX_SP_GENERIC),
            .offset = s->offset, .size_bytes = (uint32_t)s->size_bytes, .align = s->align
        };
    }
    find_pointers(unit, out->params);
    out->param_bytes = fn->param_bytes;
    out->max_threads = fn->max_threads;
    memcpy(out->required_block, fn->required_block, sizeof out->required_block);
}

/* Translates a function in an arena of its own, which is freed afterwards. The module has no pointers to this arena. */
static void translate_function(struct ptx_job *job, struct ptx_module *module,
                               struct ptx_function *fn)
{
    struct isa_object *object = job->object;
    struct isa_function *out = &object->functions[object->function_count];
    struct ptx_unit unit;

    ptx_job_source(job, fn->source);
    if (fn->refusal != NULL)
        ptx_refuse(job, fn->refusal);
    job->module = job->arena;
    lw_arena_init(&job->arena);
    ptx_unit_init(&unit, job, module, fn, object);
    ptx_unit_analyse(&unit);
    ptx_layout(&unit);
    if (job->options == NULL || job->options->verify)
        ptx_barrier_verify(&unit);
    if (job->options != NULL && job->options->keep_values)
        ptx_debug_keep_values(&unit);
    ptx_alloc(&unit);
    ptx_frame(&unit);
    ptx_emit(&unit, out);
    ptx_calls_end(&unit);
    put_function(&unit, out);
    ptx_debug_number(&unit, object->function_count);
    object->function_count++;
    lw_arena_fini(&job->arena);
    job->arena = job->module;
    lw_arena_init(&job->module);
}

/* Returns true if a function that is already in the object, of the same recursive SCC, calls @fn. */
static bool is_called(const struct ptx_module *module, const struct ptx_function *fn)
{
    uint32_t number = (uint32_t)(fn - module->functions.at);

    for (size_t f = 0; fn->calls.recursive && f < module->functions.count; f++) {
        const struct ptx_calls *calls = &module->functions.at[f].calls;

        for (size_t i = 0; calls->reachable && calls->scc == fn->calls.scc &&
                           calls->index < fn->calls.index && i < calls->callees.count; i++)
            if (calls->callees.at[i] == number)
                return true;
    }
    return false;
}

/* Removes @fn from the object, so that the number of each later function decreases by one. Returns false, and removes
 * nothing, if code or data in the object already refers to @fn. */
static bool leave_out(struct ptx_job *job, struct ptx_module *module, struct ptx_function *fn)
{
    struct isa_object *object = job->object;
    uint32_t number = fn->calls.index;

    if (is_called(module, fn))
        return false;
    for (unsigned i = 0; i < object->reloc_count; i++)
        if (object->relocs[i].to_function && object->relocs[i].to == number)
            return false;
    for (unsigned i = 0; i < object->reloc_count; i++)
        object->relocs[i].to -= object->relocs[i].to_function && object->relocs[i].to > number;
    for (size_t f = 0; f < module->functions.count; f++)
        module->functions.at[f].calls.index -= module->functions.at[f].calls.reachable &&
                                               module->functions.at[f].calls.index > number;
    fn->calls.reachable = false;
    return true;
}

/* Returns the message of a refused function that @fn calls or whose address @fn takes, or NULL if there is none. @fn is
 * then refused with the same message. */
static const char *refusal_below(const struct ptx_module *module, const struct ptx_function *fn)
{
    for (size_t i = 0; i < fn->calls.callees.count; i++)
        if (module->functions.at[fn->calls.callees.at[i]].refusal != NULL)
            return module->functions.at[fn->calls.callees.at[i]].refusal;
    for (size_t i = 0; i < fn->calls.names.count; i++)
        if (module->functions.at[fn->calls.names.at[i]].refusal != NULL)
            return module->functions.at[fn->calls.names.at[i]].refusal;
    return NULL;
}

/* Translates a function. If the function or a callee contains an unsupported construct, removes the translated part of the
 * function from the object, and stores the message. Other kernels of the file can then run. */
static void try_function(struct ptx_job *job, struct ptx_module *module, struct ptx_function *fn)
{
    struct isa_object *object = job->object, before = *object;
    jmp_buf *outer = job->stop, stop;
    struct isa_refusal *refusal;

    if (fn->refusal == NULL)
        fn->refusal = refusal_below(module, fn);
    job->stop = &stop;
    if (setjmp(stop) == 0) {
        translate_function(job, module, fn);
        job->stop = outer;
        return;
    }
    job->stop = outer;
    if (job->status != LW_EUNSUPP)
        longjmp(*outer, 1);
    if (fn->refusal == NULL) { /* frees the function's arena; the module's arena is the current one again */
        lw_arena_fini(&job->arena);
        job->arena = job->module;
        lw_arena_init(&job->module);
    }
    object->text_count = before.text_count;
    object->reloc_count = before.reloc_count;
    object->line_count = before.line_count;
    object->loop_count = before.loop_count;
    object->bound_count = before.bound_count;
    object->function_count = before.function_count;
    fn->refusal = arena_text(job, object, job->err != NULL ? job->err->text : "");
    if (!leave_out(job, module, fn))
        longjmp(*outer, 1);
    job->status = LW_OK;
    if (!fn->kernel)
        return;
    refusal = &object->refusals[object->refusal_count++];
    refusal->name = arena_text(job, object, fn->name);
    refusal->message = fn->refusal;
}

/* Translates all functions. If every kernel is refused, the message of the first kernel becomes the error. */
static void translate_functions(struct ptx_job *job, struct ptx_module *module)
{
    struct isa_object *object = job->object;
    unsigned kernels = 0;

    for (size_t f = 0; f < module->functions.count; f++)
        kernels += module->functions.at[f].calls.reachable && module->functions.at[f].kernel;
    object->refusals = arena_array(job, object, kernels, sizeof *object->refusals);
    for (size_t i = 0; i < module->order.count; i++)
        if (module->order.at[i] != module->functions.count)
            try_function(job, module, &module->functions.at[module->order.at[i]]);
    if (kernels != 0 && object->refusal_count == kernels)
        ptx_refuse(job, object->refusals[0].message);
    for (unsigned i = 0; job->options != NULL && job->options->notes != NULL &&
                         i < object->refusal_count; i++)
        lw_printf(job->options->notes, "warning: kernel %s is not translated: %s\n",
                  object->refusals[i].name, object->refusals[i].message);
}

void ptx_module_translate(struct ptx_job *job, struct ptx_module *module)
{
    struct isa_object *object = job->object;

    if (module->symbols.count == 0 && module->dialects.at[0].version == 0)
        ptx_fail(job, 1, LW_EINPUT,
                 "the file is empty: expected a kernel (.visible .entry ...) after .version, .target and .address_size");
    ptx_calls_find(job, module);
    find_common_shared(module);
    lay_out_shared(job, module, module->symbols.count);
    put_variables(job, module, object);
    put_files(job, module, object);
    ptx_debug_read(job, module);
    object->producer = lw_arena_printf(&object->arena, "%s%s", module->producer,
                                       job->options != NULL && job->options->keep_values ? ISA_KEEPS_VALUES : "");
    if (object->producer == NULL)
        ptx_fail(job, 0, LW_ENOMEM, "the host has no memory for the translation");
    object->comp_dir = arena_text(job, object,
                                  job->options != NULL && job->options->comp_dir != NULL
                                      ? job->options->comp_dir : "");
    object->functions = arena_array(job, object, module->order.count, sizeof *object->functions);
    translate_functions(job, module);
    ptx_job_source(job, 0);
    ptx_calls_finish(job, module);
    put_shared(job, module, object);
    ptx_bounds_finish(job, module);
    ptx_debug_write(job, module);
    make_names_unique(job, object);
}

/* ---- entry points ----------------------------------------------------------------------- */

/* Arguments of run_job()'s @body. ptx_fail() may end the body at any point. */
struct work {
    const struct ptx_source *sources;
    size_t count;
    struct lw_sink *out;
};
static enum lw_status run_job(const struct ptx_options *options,
                              void (*body)(struct ptx_job *, const struct work *),
                              const struct work *work, struct isa_object **object,
                              struct lw_error *err)
{
    struct ptx_job *job = calloc(1, sizeof *job);
    enum lw_status status;

    if (job == NULL)
        return LW_FAIL(err, LW_ENOMEM, "%s: the host has no memory for the translation", work->sources[0].name);
    lw_arena_init(&job->arena);
    lw_arena_init(&job->module);
    job->sources = work->sources;
    job->source_count = work->count;
    job->err = err;
    job->options = options;
    ptx_job_source(job, 0);
    job->object = calloc(1, sizeof *job->object);
    if (job->object == NULL) {
        job->status = LW_FAIL(err, LW_ENOMEM, "%s: the host has no memory for the translation", job->name);
    } else {
        jmp_buf stop;

        lw_arena_init(&job->object->arena);
        job->stop = &stop;
        if (setjmp(stop) == 0)
            body(job, work);
    }
    status = job->status;
    if (status == LW_OK && object != NULL)
        *object = job->object; /* the caller now owns the object */
    else
        isa_object_destroy(job->object);
    lw_arena_fini(&job->arena);
    lw_arena_fini(&job->module);
    free(job);
    return status;
}

static void translate(struct ptx_job *job, const struct work *work)
{
    (void)work;
    ptx_module_translate(job, ptx_parse(job));
}

enum lw_status ptx_translate(const char *name, const char *text, size_t size,
                             const struct ptx_options *options, struct isa_object **out,
                             struct lw_error *err)
{
    const struct ptx_source source = { .name = name, .text = text, .size = size };

    return ptx_translate_all(&source, 1, options, out, err);
}

enum lw_status ptx_translate_all(const struct ptx_source *sources, size_t count,
                                 const struct ptx_options *options, struct isa_object **out,
                                 struct lw_error *err)
{
    const struct work work = { .sources = sources, .count = count };

    if (count == 0 || count > 1000)
        return LW_FAIL(err, LW_EUNSUPP, "%zu modules cannot be linked: at most 1000 can", count);
    return run_job(options, translate, &work, out, err);
}

static void print_block(const struct ptx_unit *unit, uint32_t id, struct lw_sink *out)
{
    const struct ptx_block *b = &unit->blocks.at[id];

    lw_printf(out, "  block %u", id);
    if (b->label != PTX_NONE)
        lw_printf(out, " %s", unit->function->label_names.at[b->label]);
    lw_printf(out, ": %u instructions", b->count);
    for (size_t i = 0; i < b->syncs.count; i++)
        lw_printf(out, ", bsync%s b%u", unit->soft ? ".soft" : "", b->syncs.at[i]);
    for (size_t i = 0; i < b->joins.count; i++)
        lw_printf(out, ", bssy b%u", unit->regions.at[b->joins.at[i]].barrier);
    for (unsigned k = 0; k < b->succ_count; k++) {
        lw_printf(out, " %s %u", k == 0 ? "->" : "|", b->succ[k]);
        if (ptx_is_exit_edge(b, k))
            lw_put(out, " (exit)");
        for (size_t i = 0; i < b->breaks[k].count; i++)
            lw_printf(out, " (bbreak b%u)", b->breaks[k].at[i]);
        if (b->yields[k])
            lw_put(out, " (yield)");
    }
    if (b->ipdom != PTX_NONE && b->end == PTX_END_BRANCH)
        lw_printf(out, ", joins at %u", b->ipdom);
    if (b->may_diverge)
        lw_put(out, ", may diverge");
    if (b->loop != PTX_NONE)
        lw_printf(out, ", in the loop with header %u", unit->loops.at[b->loop].header);
    lw_put(out, "\n");
}

static void print_unit(struct ptx_unit *unit, struct lw_sink *out)
{
    unit->wants_affine = true;
    ptx_unit_analyse(unit);
    lw_printf(out, "%s: %u blocks, %zu loops, %zu regions, %u barrier registers%s\n",
              unit->function->name, unit->rpo_count, unit->loops.count, unit->regions.count,
              unit->breg_count, unit->soft ? ", soft" : "");
    for (size_t i = 0; i < unit->order.count; i++) {
        if (unit->blocks.at[unit->order.at[i]].rpo != PTX_NONE)
            print_block(unit, unit->order.at[i], out);
    }
    ptx_affine_print(unit, out);
}

static void print_module(struct ptx_job *job, const struct work *work)
{
    struct ptx_module *module = ptx_parse(job);

    ptx_calls_find(job, module);
    find_common_shared(module);
    lay_out_shared(job, module, module->symbols.count);
    for (size_t i = 0; i < module->order.count; i++) {
        struct ptx_unit unit;

        if (module->order.at[i] == module->functions.count)
            continue;
        ptx_unit_init(&unit, job, module, &module->functions.at[module->order.at[i]], NULL);
        if (unit.function->refusal != NULL)
            ptx_refuse(job, unit.function->refusal);
        print_unit(&unit, work->out);
        ptx_calls_barriers(&unit);
    }
}

enum lw_status ptx_print_cfg(const char *name, const char *text, size_t size,
                             struct lw_sink *out, struct lw_error *err)
{
    const struct ptx_source source = { .name = name, .text = text, .size = size };
    const struct work work = { .sources = &source, .count = 1, .out = out };

    return run_job(NULL, print_module, &work, NULL, err);
}

bool ptx_is_provided(const char *name)
{
    return ptx_select_provides(name);
}
