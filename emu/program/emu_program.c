/* SPDX-License-Identifier: Apache-2.0 */
/* Programs: validation of an object, its addresses on a machine, and the order analysis of its kernels. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

#include "emu/simt/emu_split_priv.h"
#include "emu/program/emu_decode_priv.h"
#include "emu/log/emu_log_priv.h"

enum { CODE_ALIGN_BYTES = 1 << 16 };

static void program_destroy(struct emu_program *p)
{
    if (p == NULL)
        return;
    free(p->insn);
    free(p->bank1);
    free(p->variable_address);
    free(p->breakpoint);
    free(p->use);
    free(p->rpc);
    free(p->lpc);
    free(p->rank);
    free(p->form);
    free(p->order);
    free(p);
}

void emu_programs_destroy(struct emu_machine *machine)
{
    while (machine->programs != NULL) {
        struct emu_program *p = machine->programs;
        machine->programs = p->next;
        program_destroy(p);
    }
}

/* ---- validation ------------------------------------------------------------------- */

/** Checks that no branch leaves its function, and that execution cannot run past the function's end. Otherwise the set of
 *  registers that a kernel can use would not be known. */
static enum lw_status check_flow(const struct emu_program *p, const struct isa_function *f,
                                 struct lw_error *err)
{
    char text[300];

    if (f->first > p->count || f->count > p->count - f->first || f->count == 0)
        return LW_FAIL(err, LW_EFORMAT, "function %s: its instructions are outside the text section",
                       f->name);
    for (uint32_t i = f->first; i < f->first + f->count; i++) {
        const struct isa_insn *insn = &p->insn[i];
        int64_t target;
        if (!isa_insn_target(insn, i, &target))
            continue;
        if (!(isa_op_info((enum isa_op)insn->op)->flags & ISA_F_CALL)) {
            if (target < f->first || target >= (int64_t)f->first + f->count)
                return LW_FAIL(err, LW_EFORMAT, "%s: the branch target is outside function %s",
                               emu_program_location(p->object, i, text, sizeof text), f->name);
        } else {
            const struct isa_function *to =
                target >= 0 && target < p->count
                    ? isa_object_function_at(p->object, (uint32_t)target)
                    : NULL;
            if (to == NULL || to->first != target)
                return LW_FAIL(err, LW_EFORMAT, "%s: the target of the call is not a function",
                               emu_program_location(p->object, i, text, sizeof text));
        }
    }
    if (!isa_insn_ends(&p->insn[f->first + f->count - 1]))
        return LW_FAIL(err, LW_EFORMAT,
                       "%s: execution runs past the end of function %s: end it with exit, ret or bra",
                       emu_program_location(p->object, f->first + f->count - 1, text, sizeof text), f->name);
    return LW_OK;
}

/** Determines the registers that the instructions [first, first + count) use. Sets *@calls if control can leave these
 *  instructions by a call or an indirect jump. */
static struct emu_kernel_use used_in(const struct emu_program *p, uint32_t first, uint32_t count,
                                     bool *calls)
{
    struct isa_reg_use use[ISA_MAX_USES];
    struct emu_kernel_use all = {0};

    for (uint32_t i = first; i < first + count; i++) {
        unsigned n = isa_insn_uses(&p->insn[i], use);
        for (unsigned k = 0; k < n; k++) {
            const unsigned end = use[k].first + (unsigned)use[k].count;
            if (use[k].reg_class == ISA_REG_V && end > all.vregs)
                all.vregs = (uint16_t)end;
            if (use[k].reg_class == ISA_REG_S && use[k].first < ISA_S_EXEC && end > all.scalars)
                all.scalars = (uint8_t)(end < ISA_S_EXEC ? end : ISA_S_EXEC);
            if (use[k].reg_class == ISA_REG_B)
                for (unsigned r = use[k].first; r < end; r++)
                    all.bregs |= (uint16_t)(1u << r % ISA_BREG_COUNT);
        }
        if (isa_op_info((enum isa_op)p->insn[i].op)->flags & ISA_F_CALL ||
            isa_op_is_indirect((enum isa_op)p->insn[i].op))
            *calls = true;
    }
    return all;
}

/** Determines for each kernel whether the order of its threads can affect results. */
static enum lw_status find_order(struct emu_program *p, struct lw_error *err)
{
    p->order = calloc(p->object->function_count + 1, sizeof *p->order);
    if (p->order == NULL)
        return LW_FAIL(err, LW_ENOMEM, "the host has no memory for the program");
    isa_kernel_orders(p->object, p->insn, p->count, p->order);
    return LW_OK;
}

/** Determines how many registers the warps of each kernel need: those that the kernel declares, and those that code reachable
 *  from it uses. */
static enum lw_status count_registers(struct emu_program *p, struct lw_error *err)
{
    bool any = false;
    const struct emu_kernel_use all = used_in(p, 0, p->count, &any);
    _Static_assert(ISA_BREG_COUNT == 16, "emu_kernel_use.bregs has a bit of each");

    p->use = calloc(p->object->function_count + 1, sizeof *p->use);
    if (p->use == NULL)
        return LW_FAIL(err, LW_ENOMEM, "the host has no memory for the program");
    for (unsigned k = 0; k < p->object->function_count; k++) {
        const struct isa_function *f = &p->object->functions[k];
        bool calls = false;
        p->use[k] = used_in(p, f->first, f->count, &calls);
        if (calls)
            p->use[k] = all;
        if (f->vreg_count > p->use[k].vregs)
            p->use[k].vregs = f->vreg_count;
        if (p->use[k].vregs > ISA_VREG_COUNT + 1)
            p->use[k].vregs = ISA_VREG_COUNT + 1;
    }
    return LW_OK;
}

const struct emu_kernel_use *emu_kernel_use(const struct emu_program *program,
                                            const struct isa_function *kernel)
{
    return &program->use[kernel - program->object->functions];
}

/* ---- variables and relocations ---------------------------------------------------------- */

/** Returns the index of the first variable in global or constant memory after variable @i, or of the first such variable of all if @i
 *  is UINT_MAX. Returns the number of variables if there is none. */
static unsigned next_variable(const struct isa_object *o, unsigned i)
{
    do
        i++;
    while (i < o->variable_count && o->variables[i].space == ISA_SPACE_SHARED);
    return i;
}

/** Returns the address that the variable after variable @i has if it follows it, or 0 if there is none. */
static uint64_t following(const struct emu_program *p, unsigned i)
{
    const struct isa_object *o = p->object;
    const unsigned next = next_variable(o, i);
    const uint64_t end = p->variable_address[i] + emu_alloc_pages(o->variables[i].size_bytes) * EMU_PAGE_BYTES;

    return next < o->variable_count ? emu_alloc_next(p->machine, end, o->variables[next].size_bytes) : 0;
}

bool emu_program_layout(const struct emu_program *program, struct emu_program_layout *layout)
{
    const struct isa_object *o = program->object;
    const unsigned first = next_variable(o, UINT_MAX);

    *layout = (struct emu_program_layout){.code = program->base};
    if (first < o->variable_count)
        layout->variables = program->variable_address[first];
    for (unsigned i = first, next; i < o->variable_count; i = next) {
        next = next_variable(o, i);
        if (next < o->variable_count && following(program, i) != program->variable_address[next])
            return false;
    }
    return true;
}

/** Allocates the variables: one after the other from the address @at on, or at free addresses if @at is 0. */
static enum lw_status allocate_variables(struct emu_machine *machine, struct emu_program *p, uint64_t at,
                                         struct lw_error *err)
{
    const struct isa_object *o = p->object;
    const bool fixed = at != 0;

    for (unsigned i = 0; i < o->variable_count; i++) {
        const struct isa_variable *v = &o->variables[i];
        if (v->space == ISA_SPACE_SHARED)
            continue;
        unsigned flags = EMU_ALLOC_MODULE;
        if (v->space == ISA_SPACE_CONST)
            flags |= EMU_ALLOC_READ_ONLY;
        enum lw_status status;
        if (fixed) {
            p->variable_address[i] = at;
            status = emu_alloc_at(machine, at, v->size_bytes, v->name, flags, err); /* fails if there is no address: 0 */
            at = following(p, i);
        } else {
            status = emu_alloc(machine, v->size_bytes, v->name, flags, &p->variable_address[i], err);
        }
        if (status == LW_OK && v->init != NULL)
            status = emu_global_write(machine, p->variable_address[i], v->init, v->size_bytes, err);
        if (status != LW_OK)
            return status;
    }
    return LW_OK;
}

static enum lw_status relocate(struct emu_machine *machine, struct emu_program *p,
                               struct lw_error *err)
{
    const struct isa_object *o = p->object;

    for (unsigned i = 0; i < o->reloc_count; i++) {
        const struct isa_reloc *r = &o->relocs[i];
        uint64_t value;
        if (r->to >= (r->to_function ? o->function_count : o->variable_count))
            return LW_FAIL(err, LW_EFORMAT, "relocation %u refers to a variable or function that does not exist", i);
        if (r->to_function)
            value = p->base + (uint64_t)o->functions[r->to].first * ISA_WORD_BYTES;
        else if (o->variables[r->to].space == ISA_SPACE_SHARED)
            value = o->variables[r->to].shared_offset;
        else
            value = p->variable_address[r->to];
        value += (uint64_t)r->addend;
        if (r->insn != UINT32_MAX) {
            if (r->insn >= p->count)
                return LW_FAIL(err, LW_EFORMAT, "relocation %u is outside the text section", i);
            p->insn[r->insn].x = (uint32_t)(r->high ? value >> 32 : value);
        } else {
            if (r->in >= o->variable_count || p->variable_address[r->in] == 0)
                return LW_FAIL(err, LW_EFORMAT, "relocation %u is not inside a variable", i);
            enum lw_status status = emu_global_write(
                machine, p->variable_address[r->in] + r->offset, &value, sizeof value, err);
            if (status != LW_OK)
                return status;
        }
    }
    return LW_OK;
}

enum lw_status emu_program_load(struct emu_machine *machine, const struct isa_object *object,
                                struct emu_program **out, struct lw_error *err)
{
    return emu_program_load_at(machine, object, &(struct emu_program_layout){0}, out, err);
}

enum lw_status emu_program_load_at(struct emu_machine *machine, const struct isa_object *object, const struct emu_program_layout *layout,
                                   struct emu_program **out, struct lw_error *err)
{
    const uint64_t code_end = ISA_SHARED_BASE / 2; /* far above the code of any programs, and below shared memory */
    enum lw_status status;
    struct emu_program *p = calloc(1, sizeof *p);
    char text[300];

    if (p == NULL)
        return LW_FAIL(err, LW_ENOMEM, "the host has no memory for the program");
    if (layout->code != 0 && (layout->code < machine->next_code || layout->code > code_end || layout->code % CODE_ALIGN_BYTES != 0)) {
        status = LW_FAIL(err, LW_ERANGE, "code cannot begin at 0x%llx: expected a multiple of %d from 0x%llx to 0x%llx",
                         (unsigned long long)layout->code, CODE_ALIGN_BYTES, (unsigned long long)machine->next_code,
                         (unsigned long long)code_end);
        goto cleanup;
    }
    status = machine->log == NULL
                 ? LW_OK
                 : emu_log_host_step(machine,
                                     &(struct emu_log_entry){.kind = EMU_LOG_PROGRAM,
                                                             .value = emu_program_fingerprint(object)},
                                     err);
    if (status != LW_OK)
        goto cleanup;
    p->machine = machine;
    p->object = object;
    p->count = object->text_count;
    p->base = layout->code != 0 ? layout->code : machine->next_code;
    p->insn = calloc((size_t)p->count + 1, sizeof *p->insn);
    p->breakpoint = calloc((size_t)p->count + 1, 1);
    p->form = calloc((size_t)p->count + 1, sizeof *p->form);
    p->variable_address = calloc(object->variable_count + 1, sizeof *p->variable_address);
    p->bank1 = calloc(1, ISA_CONST_BANK_BYTES + 8);
    p->rpc = malloc(((size_t)p->count + 1) * sizeof *p->rpc);
    if (machine->reconv->likely)
        p->lpc = malloc(((size_t)p->count + 1) * sizeof *p->lpc);
    if (p->insn == NULL || p->form == NULL || p->rpc == NULL || (machine->reconv->likely && p->lpc == NULL) || p->breakpoint == NULL || p->variable_address == NULL ||
        p->bank1 == NULL) {
        status = LW_FAIL(err, LW_ENOMEM, "the host has no memory for the program of %u instructions", p->count);
        goto cleanup;
    }
    if (object->const_bank_bytes > ISA_CONST_BANK_BYTES) {
        status = LW_FAIL(err, LW_EFORMAT, "constant bank 1 has %u bytes: at most 65536 are allowed",
                         object->const_bank_bytes);
        goto cleanup;
    }
    if (object->const_bank_bytes != 0)
        memcpy(p->bank1, object->const_bank, object->const_bank_bytes);
    for (uint32_t i = 0; i < p->count; i++) {
        p->rpc[i] = EMU_NO_RPC;
        if (!isa_insn_decode(object->text[i], &p->insn[i])) {
            status = LW_FAIL(err, LW_EFORMAT, "%s: word %u is not an instruction",
                             emu_program_location(object, i, text, sizeof text), i);
            goto cleanup;
        }
        const char *refused = isa_op_refused((enum isa_op)p->insn[i].op);
        if (refused != NULL) {
            status = LW_FAIL(err, LW_EUNSUPP, "%s: %s: this emulator does not execute %s",
                             emu_program_location(object, i, text, sizeof text),
                             isa_op_info((enum isa_op)p->insn[i].op)->mnemonic, refused);
            goto cleanup;
        }
    }
    for (uint32_t i = 0; i < p->count; i++) {
        unsigned op = p->insn[i].op;
        p->prints = p->prints || op == ISA_VPRINTF;
        p->launches = p->launches || op == ISA_LAUNCH_KERNEL || op == ISA_LAUNCH_GROUP;
    }
    if (machine->reconv == &emu_reconv_frontier || machine->reconv->likely || machine->policy == NULL || machine->policy->steady) {
        p->rank = malloc(((size_t)p->count + 1) * sizeof *p->rank);
        if (p->rank == NULL || !isa_object_ranks(object, p->insn, p->rank)) {
            status = LW_FAIL(err, LW_ENOMEM, "the host has no memory for the ranks of %u instructions", p->count);
            goto cleanup;
        }
        p->rank[p->count] = UINT32_MAX;
    }
    for (unsigned i = 0; i < object->function_count; i++) {
        const struct isa_function *fn = &object->functions[i];
        status = check_flow(p, fn, err);
        if (status == LW_OK)
            status = emu_reconv_resolve(p, fn->first, fn->count, err);
        if (status == LW_OK && p->lpc != NULL && !isa_likely_points(p->insn, fn->first, fn->count, p->rank, p->rpc, p->lpc))
            status = LW_FAIL(err, LW_ENOMEM, "the host has no memory for the program of %u instructions", p->count);
        if (status != LW_OK)
            goto cleanup;
    }
    status = count_registers(p, err);
    if (status == LW_OK)
        status = find_order(p, err);
    if (status == LW_OK)
        status = allocate_variables(machine, p, layout->variables, err);
    if (status == LW_OK)
        status = relocate(machine, p, err);
    if (status == LW_OK)
        status = emu_program_try_decode(machine, p, err);
    if (status != LW_OK)
        goto cleanup;
    for (uint32_t i = 0; i < p->count; i++)
        emu_form_fill(&p->insn[i], &p->form[i]);
    uint64_t bytes = (uint64_t)(p->count + 1) * ISA_WORD_BYTES;
    machine->next_code = p->base + (bytes + CODE_ALIGN_BYTES - 1) / CODE_ALIGN_BYTES * CODE_ALIGN_BYTES;
    p->next = machine->programs;
    machine->programs = p;
    *out = p;
    p = NULL;
cleanup:
    program_destroy(p);
    return status;
}

static void hash_text(struct lw_hash *hash, const char *text)
{
    lw_hash_u64(hash, strlen(text));
    lw_hash_bytes(hash, text, strlen(text));
}

uint64_t emu_program_fingerprint(const struct isa_object *object)
{
    struct lw_hash hash;

    lw_hash_init(&hash);
    for (uint32_t i = 0; i < object->text_count; i++)
        lw_hash_bytes(&hash, &object->text[i], sizeof object->text[i]);
    for (unsigned i = 0; i < object->function_count; i++) {
        const struct isa_function *f = &object->functions[i];
        hash_text(&hash, f->name);
        lw_hash_u64(&hash, (uint64_t)f->first << 32 | f->count);
        lw_hash_u64(&hash, (uint64_t)f->kernel << 32 | f->param_bytes);
        lw_hash_u64(&hash, (uint64_t)f->shared_bytes << 32 | f->local_bytes);
    }
    for (unsigned i = 0; i < object->variable_count; i++) {
        const struct isa_variable *v = &object->variables[i];
        hash_text(&hash, v->name);
        lw_hash_u64(&hash, (uint64_t)v->space << 32 | v->shared_offset);
        lw_hash_u64(&hash, v->size_bytes);
        if (v->init != NULL)
            lw_hash_bytes(&hash, v->init, v->size_bytes);
    }
    for (unsigned i = 0; i < object->reloc_count; i++) {
        const struct isa_reloc *r = &object->relocs[i];
        lw_hash_u64(&hash, (uint64_t)r->insn << 32 | r->to);
        lw_hash_u64(&hash, (uint64_t)r->addend);
        lw_hash_u64(&hash, (uint64_t)r->to_function << 32 | r->high);
    }
    lw_hash_u64(&hash, object->const_bank_bytes);
    if (object->const_bank_bytes != 0)
        lw_hash_bytes(&hash, object->const_bank, object->const_bank_bytes);
    return lw_hash_value(&hash);
}

/* ---- look-up by name --------------------------------------------------------------------- */

bool emu_program_launches(const struct emu_program *program)
{
    return program->launches;
}
const struct isa_function *emu_program_kernel(const struct emu_program *program,
                                              const char *name)
{
    for (unsigned i = 0; i < program->object->function_count; i++) {
        const struct isa_function *f = &program->object->functions[i];
        if (f->kernel && strcmp(f->name, name) == 0)
            return f;
    }
    return NULL;
}
uint64_t emu_program_variable(const struct emu_program *program, const char *name,
                              uint64_t *size_bytes)
{
    for (unsigned i = 0; i < program->object->variable_count; i++) {
        const struct isa_variable *v = &program->object->variables[i];
        if (v->space != ISA_SPACE_SHARED && strcmp(v->name, name) == 0) {
            if (size_bytes != NULL)
                *size_bytes = v->size_bytes;
            return program->variable_address[i];
        }
    }
    return 0;
}

/* ---- order (MACHINE 4) --------------------------------------------------------------------- */

const struct isa_order_analysis *emu_kernel_order(const struct emu_program *program,
                                                 const struct isa_function *kernel)
{
    return &program->order[kernel - program->object->functions];
}
bool emu_kernel_block_order_free(const struct emu_program *program,
                                 const struct isa_function *kernel)
{
    return emu_kernel_order(program, kernel)->worst != ISA_ORDER_GRID;
}
