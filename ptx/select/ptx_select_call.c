/* SPDX-License-Identifier: Apache-2.0 */
/* Selection of calls. Calls that print, check assertions or manage the heap become instructions of our ISA, whose
 * parameters are in local memory, each at its natural alignment. All others are calls by the ABI (docs/reference/abi.md):
 * moves into fixed registers, pins that keep the registers reserved, the call, pins for the results. */
#include <stdlib.h>

#include "ptx/select/ptx_select_priv.h"

enum callee {
    CALL_FUNCTION,
    CALL_VPRINTF, /* vprintf: arguments are format and buffer; returns the result of the print instruction */
    CALL_PRINTF,  /* printf of OpenCL: arguments are format and buffer, or format and values; returns 0 or -1 */
    CALL_ASSERT,  /* __assertfail: arguments are message, file, line, function, size of a character */
    CALL_MALLOC,
    CALL_FREE,
    CALL_LAUNCH /* ptx_select_launch.c */
};
enum { AREA_ALIGN = 16, MOST_PARAMS = 64 };

/** Returns the meaning of a function that has no body in the text. */
static enum callee meaning_of(const char *name)
{
    return strcmp(name, "vprintf") == 0        ? CALL_VPRINTF
           : strcmp(name, "printf") == 0       ? CALL_PRINTF
           : strcmp(name, "_Z6printfPU3AS4Kcz") == 0 ? CALL_PRINTF /* in C++ for OpenCL */
           : strcmp(name, "__assertfail") == 0 ? CALL_ASSERT
           : strcmp(name, "malloc") == 0       ? CALL_MALLOC
           : strcmp(name, "free") == 0         ? CALL_FREE
           : ptx_is_launch(name)               ? CALL_LAUNCH
                                               : CALL_FUNCTION;
}

static enum callee callee_of(const struct ptx_call_parts *call)
{
    return call->callee != NULL && !call->function->has_body ? meaning_of(call->callee->name) : CALL_FUNCTION;
}

bool ptx_select_provides(const char *name)
{
    return meaning_of(name) != CALL_FUNCTION;
}

/** Returns true if the text calls OpenCL's printf in the form of clang before version 19, with a variable number of
 *  arguments. clang 16 passes the arguments after the format as one aggregate, by value, and declares it without a size.
 *  Other versions of clang before 19 pass the arguments one by one. */
static bool is_variadic(const struct ptx_module *module, const struct ptx_call_parts *call)
{
    const struct ptx_function *function = call->function;

    return callee_of(call) == CALL_PRINTF &&
           (function->params.count < 2 ||
            module->symbols.at[function->params.at[1]].size_bytes == 0);
}

/* Returns the name in the source of a mangled name: "convert_half_rtz" for "_Z16convert_half_rtzf". A name that is not
 * mangled, or has a scope, is returned unchanged. */
static const char *in_source(const char *name, char *room, size_t size)
{
    char *end;
    unsigned long n;

    if (strncmp(name, "_Z", 2) != 0 || name[2] < '1' || name[2] > '9')
        return name;
    n = strtoul(name + 2, &end, 10);
    if (n >= size || n > strlen(end))
        return name;
    memcpy(room, end, n);
    room[n] = '\0';
    return room;
}

/* Returns true if the mangled name shows that a function of OpenCL C has a half as parameter or result. */
static bool is_half(const char *name)
{
    char room[64];
    const char *plain = in_source(name, room, sizeof room);

    return plain == room && (strncmp(plain, "convert_half", 12) == 0 ||
                             strstr(name + strlen(plain), "Dh") != NULL);
}

static void refuse(struct ptx_sel *sel, const struct ptx_insn *in, const struct ptx_call_parts *call)
{
    const char *name = call->callee->name;
    char room[128];
    size_t size = strlen(name), end = strlen("_is_not_supported");

    /* Our CUDA C++ headers give this suffix to functions that they declare but do not define. */
    if (size > end && size - end < 64 && strcmp(name + size - end, "_is_not_supported") == 0) {
        char what[64];

        for (size_t i = 0; i < size - end; i++)
            what[i] = name[i] == '_' ? ' ' : name[i];
        what[size - end] = '\0';
        ptx_fail(sel->job, in->line, LW_EUNSUPP, "%s is not supported", what);
    }
    if (strstr(name, "image") != NULL || strstr(name, "sampler") != NULL)
        ptx_fail(sel->job, in->line, LW_EUNSUPP,
                 "call to %s: this function for images is not supported (docs/reference/limitations.md)", name);
    if (call->function->kernel)
        ptx_fail(sel->job, in->line, LW_EINPUT,
                 "call to %s, which is a kernel: call a .func, or launch it", name);
    if (strncmp(name, "__cudaCDP2", 10) == 0 || strncmp(name, "cuda", 4) == 0)
        ptx_fail(sel->job, in->line, LW_EUNSUPP, "call to %s: kernels cannot call this function of the CUDA runtime, "
                                                 "only launches, cudaDeviceSynchronize and streams "
                                                 "(docs/explanation/device-launches.md)", name);
    if (is_half(name))
        ptx_fail(sel->job, in->line, LW_EUNSUPP,
                 "call to %s: this function of half is not supported: convert to float and back (conversions to "
                 "nearest even, vload_half and vstore_half are supported)",
                 in_source(name, room, sizeof room));
    ptx_fail(sel->job, in->line, LW_EUNSUPP,
             "call to %s: the function is declared but not defined in this module: link the module that defines it%s, "
             "or define it in the source", name,
             strncmp(sel->unit->module->producer, "nvcc", 4) == 0
                 ? " (nvcc exports functions to other modules only with -rdc=true)" : "");
}

static const struct ptx_symbol *param_of(struct ptx_sel *sel, const struct ptx_insn *in,
                                         const struct ptx_operand *o)
{
    const struct ptx_symbol *s = o->kind == PTX_O_SYMBOL ? &sel->unit->module->symbols.at[o->symbol]
                                                         : NULL;

    if (s == NULL || s->kind != PTX_SYM_PARAM || s->home == PTX_SPILL_CONST ||
        s->home == PTX_SPILL_POINTER)
        ptx_fail(sel->job, in->line, LW_EUNSUPP,
                 "call: an operand is not a .param variable of this call");
    return s;
}

const struct ptx_symbol *ptx_sel_param_of(struct ptx_sel *sel, const struct ptx_operand *o)
{
    return param_of(sel, &sel->in, o);
}

/* ---- the frame ------------------------------------------------------------------------------------ */

ptx_ref ptx_sel_fixed(struct ptx_sel *sel, unsigned row, unsigned rows)
{
    ptx_ref ref = ptx_sel_temp(sel, rows);
    struct ptx_vreg *v = &sel->unit->vregs.at[ptx_ref_vreg(ref)];

    v->fixed = (uint16_t)(row + 1);
    v->no_spill = true;
    return ref;
}

struct ptx_mi *ptx_sel_local(struct ptx_sel *sel, bool store, ptx_ref ref, uint32_t offset,
                             unsigned rows)
{
    struct ptx_mi *mi = ptx_sel_put(sel, store ? ISA_ST_LOCAL : ISA_LD_LOCAL,
                                    store ? PTX_NO_REF : ref, sel->unit->sp,
                                    store ? ref : PTX_NO_REF, PTX_NO_REF, rows);

    mi->rows[PTX_S_A] = 1;
    mi->in.x = offset << 8;
    isa_mod_set(&mi->in, ISA_MOD_AMODE, ISA_AMODE_32);
    isa_mod_set(&mi->in, ISA_MOD_SIZE, rows == 2 ? ISA_SIZE_B64 : ISA_SIZE_B32);
    return mi;
}

/** Returns @offset in local memory (one register) plus @addend as a value of @rows registers. */
static ptx_ref add_offset(struct ptx_sel *sel, ptx_ref offset, uint64_t addend, unsigned rows)
{
    ptx_ref d = ptx_sel_temp(sel, rows), low = rows == 2 ? ptx_sel_temp(sel, 1) : d;
    struct ptx_mi *mi = ptx_sel_put(sel, ISA_V_ADD_U32, low, offset, PTX_NO_REF, PTX_NO_REF, 1);

    mi->in.xkind = ISA_X_IMM;
    mi->in.x = (uint32_t)addend;
    if (rows == 2) {
        mi = ptx_sel_put(sel, ISA_V_CVT, d, PTX_NO_REF, low, PTX_NO_REF, 1);
        mi->rows[PTX_S_D] = 2;
        isa_mod_set(&mi->in, ISA_MOD_DTYPE, ISA_DT_U64);
        isa_mod_set(&mi->in, ISA_MOD_STYPE, ISA_ST_U32);
    }
    return d;
}

ptx_ref ptx_sel_pointer(struct ptx_sel *sel, const struct ptx_symbol *s, uint64_t addend,
                        unsigned rows)
{
    return add_offset(sel, ptx_ref_of(s->home_vreg, 0), addend, rows);
}

ptx_ref ptx_sel_local_address(struct ptx_sel *sel, uint64_t offset, unsigned rows)
{
    ptx_ref d;

    if (sel->unit->sp != PTX_ZERO)
        return add_offset(sel, sel->unit->sp, offset, rows);
    d = ptx_sel_temp(sel, rows);
    ptx_sel_imm(sel, d, rows, offset);
    return d;
}

/** Returns the value of a scalar. */
ptx_ref ptx_sel_param_value(struct ptx_sel *sel, const struct ptx_symbol *s)
{
    unsigned rows = ptx_param_rows(s);
    struct ptx_mi *mi;
    ptx_ref d;

    if (s->home == PTX_SPILL_REGISTER)
        return ptx_ref_of(s->home_vreg, 0);
    d = ptx_sel_temp(sel, rows);
    mi = ptx_sel_local(sel, false, d, s->offset, rows);
    if (s->size_bytes < 4)
        isa_mod_set(&mi->in, ISA_MOD_SIZE, s->size_bytes == 1 ? ISA_SIZE_U8 : ISA_SIZE_U16);
    return d;
}

void ptx_sel_param_set(struct ptx_sel *sel, const struct ptx_symbol *s, ptx_ref from)
{
    unsigned rows = ptx_param_rows(s);
    struct ptx_mi *mi;

    if (s->home == PTX_SPILL_REGISTER) {
        ptx_sel_move(sel, ptx_ref_of(s->home_vreg, 0), from, rows);
    } else if (s->home == PTX_SPILL_FRAME) {
        mi = ptx_sel_local(sel, true, from, s->offset, rows);
        if (s->size_bytes < 4)
            isa_mod_set(&mi->in, ISA_MOD_SIZE, s->size_bytes == 1 ? ISA_SIZE_U8 : ISA_SIZE_U16);
    }
}

/* ---- arguments without gaps ------------------------------------------------------------------------- */

/** Returns true if the arguments are stored without gaps, as by clang 16 for OpenCL, with vectors element by element.
 *  The format then determines the location of each argument (ptx_printf_args.c). */
static bool is_packed(const struct ptx_module *module, const struct ptx_call_parts *call)
{
    return is_variadic(module, call) && call->function->params.count > 1 && call->arg_count == 2;
}

/* ---- printing and assertions ------------------------------------------------------------------------ */

static bool gathers(const struct ptx_module *module, const struct ptx_call_parts *call)
{
    return callee_of(call) == CALL_ASSERT || is_variadic(module, call);
}

/** Copies bytes of local memory to offset @to of the frame, in units of 1, 2 or 4 bytes of which @to, @from and the size are
 *  multiples. The source bytes are at @from plus the offset in @base, or at offset @from of the frame if @base is
 *  PTX_NO_REF. @align: alignment of @base. */
static void copy_bytes(struct ptx_sel *sel, ptx_ref base, uint32_t align, uint32_t from, uint32_t to, uint32_t bytes)
{
    uint32_t unit = 4;

    while ((from | to | bytes | align) % unit != 0)
        unit /= 2;
    for (uint32_t at = 0; at < bytes; at += unit) {
        ptx_ref word = ptx_sel_temp(sel, 1);

        for (int store = 0; store < 2; store++) {
            struct ptx_mi *mi = ptx_sel_local(sel, store, word, (store ? to : from) + at, 1);

            if (!store && base != PTX_NO_REF)
                mi->ref[PTX_S_A] = base;
            if (unit < 4)
                isa_mod_set(&mi->in, ISA_MOD_SIZE, unit == 1 ? ISA_SIZE_U8 : ISA_SIZE_U16);
        }
    }
}

/** Copies the arguments, each at its natural alignment, to the area from @top on, and returns its end. If @in is NULL,
 *  only computes the end. */
static uint64_t gather(struct ptx_sel *sel, const struct ptx_insn *in, const struct ptx_call_parts *call,
                       unsigned first, uint64_t top)
{
    for (unsigned k = first; k < call->arg_count; k++) {
        const struct ptx_operand *o = &call->args[k];
        const struct ptx_symbol *s = o->kind == PTX_O_SYMBOL
                                         ? &sel->unit->module->symbols.at[o->symbol] : NULL;

        if (in != NULL)
            s = param_of(sel, in, o);
        if (s == NULL)
            continue;
        top = (top + s->align - 1) & ~(uint64_t)(s->align - 1);
        if (top + s->size_bytes > 1u << 22)
            ptx_fail(sel->job, call->callee->line, LW_EUNSUPP, "call: the parameters exceed 4 MiB");
        if (in != NULL && ptx_param_is_scalar(s)) {
            unsigned rows = ptx_param_rows(s);
            ptx_ref value = ptx_sel_param_value(sel, s);
            struct ptx_mi *mi = ptx_sel_local(sel, true, value, (uint32_t)top, rows);

            if (s->size_bytes < 4)
                isa_mod_set(&mi->in, ISA_MOD_SIZE,
                            s->size_bytes == 1 ? ISA_SIZE_U8 : ISA_SIZE_U16);
        } else if (in != NULL) {
            copy_bytes(sel, PTX_NO_REF, 4, s->offset, (uint32_t)top, (uint32_t)s->size_bytes);
        }
        top += s->size_bytes;
    }
    return top;
}

void ptx_sel_call_frame_bytes(struct ptx_sel *sel)
{
    const struct ptx_module *module = sel->unit->module;
    const struct ptx_function *fn = sel->fn;
    uint64_t out = 0, area = 0;

    for (size_t i = 0; i < fn->insns.count; i++) {
        const struct ptx_insn *in = &fn->insns.at[i];
        struct ptx_param_slots places = { .next = PTX_FIRST_ARGUMENT };
        struct ptx_call_parts call;

        if (in->op != PTX_CALL)
            continue;
        ptx_call_split(module, in, &call);
        if (call.target == NULL)
            ptx_fail(sel->job, in->line, LW_EINPUT, "call: the function is missing");
        if (callee_of(&call) != CALL_FUNCTION) {
            uint64_t end = is_packed(module, &call)
                               ? ptx_print_frame_bytes(module, &call.args[1])
                           : gathers(module, &call)
                               ? gather(sel, NULL, &call, is_variadic(module, &call), 0) : 0;

            area = end > area ? end : area;
            continue;
        }
        if (call.function != NULL && (!call.function->has_body || call.function->kernel))
            refuse(sel, in, &call);
        for (unsigned k = 0; k < call.result_count + call.arg_count; k++) {
            bool result = k < call.result_count;
            const struct ptx_operand *o = result ? &call.results[k]
                                                 : &call.args[k - call.result_count];
            const struct ptx_symbol *s = o->kind == PTX_O_SYMBOL ? &module->symbols.at[o->symbol]
                                                                 : NULL;

            if (!result || (s != NULL && !ptx_param_is_scalar(s)))
                (void)ptx_param_location(&places, s != NULL ? ptx_param_rows(s) : 2);
        }
        /* a literal or a register counted as two words, so the size is an upper bound */
        out = places.bytes > out ? places.bytes : out;
    }
    out = (out + AREA_ALIGN - 1) & ~(uint64_t)(AREA_ALIGN - 1);
    sel->call_area = sel->unit->frame_base + (uint32_t)out;
    sel->unit->local_bytes += (uint32_t)((out + area + AREA_ALIGN - 1) & ~(uint64_t)(AREA_ALIGN - 1));
}

/** Returns the generic address of @offset in the frame. */
static ptx_ref generic_local(struct ptx_sel *sel, uint64_t offset)
{
    ptx_ref d = ptx_sel_temp(sel, 2);

    if (sel->unit->sp == PTX_ZERO) {
        ptx_sel_imm(sel, d, 2, ISA_LOCAL_BASE + offset);
        return d;
    }
    ptx_sel_move(sel, d, ptx_sel_local_address(sel, offset, 1), 1);
    ptx_sel_imm(sel, d + 1, 1, ISA_LOCAL_BASE >> 32);
    sel->unit->code.at[sel->unit->code.count - 1].flags |= PTX_MI_PARTIAL;
    return d;
}

static ptx_ref pair_of(struct ptx_sel *sel, const struct ptx_operand *o)
{
    const struct ptx_symbol *s = param_of(sel, &sel->in, o);

    if (s->size_bytes != 8 || !ptx_param_is_scalar(s))
        ptx_sel_fail(sel, LW_EUNSUPP, "parameter or result '%s' has %llu bytes instead of 8", s->name,
                     (unsigned long long)s->size_bytes);
    return ptx_sel_param_value(sel, s);
}

static void print(struct ptx_sel *sel, const struct ptx_call_parts *call)
{
    const struct ptx_module *module = sel->unit->module;
    bool variadic = is_variadic(module, call);
    ptx_ref a, x, d = ptx_sel_temp(sel, 1);

    if (call->arg_count < 1 || (!variadic && call->arg_count != 2) || call->result_count > 1)
        ptx_sel_fail(sel, LW_EUNSUPP, "the call of %s has %u parameters and %u results, which is not supported",
                     call->callee->name,
                     call->arg_count, call->result_count);
    a = pair_of(sel, &call->args[0]);
    if (is_packed(module, call)) {
        const struct ptx_symbol *args = param_of(sel, &sel->in, &call->args[1]);
        size_t count;
        const struct ptx_interval *piece =
            ptx_print_pieces(sel, param_of(sel, &sel->in, &call->args[0]), args, &count);

        for (size_t i = 0; i < count; i++)
            copy_bytes(sel, PTX_NO_REF, 4, args->offset + piece[i].from, sel->call_area + piece[i].to,
                       piece[i].bytes);
        x = generic_local(sel, sel->call_area);
    } else if (variadic) {
        (void)gather(sel, &sel->in, call, 1, sel->call_area);
        x = generic_local(sel, sel->call_area);
    } else {
        x = pair_of(sel, &call->args[1]);
    }
    struct ptx_mi *mi = ptx_sel_put(sel, ISA_VPRINTF, d, a, x, PTX_NO_REF, 2);

    mi->rows[PTX_S_D] = 1;
    if (call->result_count == 0)
        return;
    const struct ptx_symbol *result = param_of(sel, &sel->in, &call->results[0]);

    if (callee_of(call) == CALL_PRINTF) {
        ptx_ref t = ptx_sel_temp(sel, 1);

        ptx_sel_put(sel, ISA_V_MIN_S32, t, d, PTX_ZERO, PTX_NO_REF, 1);
        d = t;
    }
    if (result->size_bytes != 4)
        ptx_sel_fail(sel, LW_EUNSUPP, "parameter or result '%s' has %llu bytes instead of 4", result->name,
                     (unsigned long long)result->size_bytes);
    ptx_sel_param_set(sel, result, d);
}

static void assertion(struct ptx_sel *sel, const struct ptx_call_parts *call)
{
    static const uint8_t sizes[] = { 8, 8, 4, 8, 8 };

    if (call->arg_count != LW_COUNT_OF(sizes) || call->result_count != 0)
        ptx_sel_fail(sel, LW_EUNSUPP, "the call of %s has %u parameters and %u results, which is not supported",
                     call->callee->name,
                     call->arg_count, call->result_count);
    for (unsigned i = 0; i < LW_COUNT_OF(sizes); i++) {
        const struct ptx_symbol *s = param_of(sel, &sel->in, &call->args[i]);

        if (s->size_bytes != sizes[i] || !ptx_param_is_scalar(s))
            ptx_sel_fail(sel, LW_EUNSUPP, "parameter or result '%s' has %llu bytes instead of %u", s->name,
                         (unsigned long long)s->size_bytes, sizes[i]);
    }
    (void)gather(sel, &sel->in, call, 0, sel->call_area);
    ptx_sel_put(sel, ISA_ASSERTFAIL, PTX_NO_REF, generic_local(sel, sel->call_area), PTX_NO_REF,
                PTX_NO_REF, 2);
}

static void heap(struct ptx_sel *sel, const struct ptx_call_parts *call)
{
    bool gives = callee_of(call) == CALL_MALLOC;

    if (call->arg_count != 1 || call->result_count > gives)
        ptx_sel_fail(sel, LW_EUNSUPP, "the call of %s has %u parameters and %u results, which is not supported",
                     call->callee->name,
                     call->arg_count, call->result_count);
    ptx_ref x = pair_of(sel, &call->args[0]), d = gives ? ptx_sel_temp(sel, 2) : PTX_NO_REF;

    ptx_sel_put(sel, gives ? ISA_MALLOC : ISA_FREE, d, PTX_NO_REF, x, PTX_NO_REF, 2);
    if (call->result_count == 0)
        return;
    const struct ptx_symbol *result = param_of(sel, &sel->in, &call->results[0]);

    if (result->size_bytes != 8)
        ptx_sel_fail(sel, LW_EUNSUPP, "parameter or result '%s' has %llu bytes instead of 8", result->name,
                     (unsigned long long)result->size_bytes);
    ptx_sel_param_set(sel, result, d);
}

/* ---- calls by the ABI ------------------------------------------------------------------------------- */

static uint32_t function_of(const struct ptx_module *module, const struct ptx_call_parts *call)
{
    return call->function == NULL ? PTX_NONE : (uint32_t)(call->function - module->functions.at);
}

bool ptx_sel_call_wraps(const struct ptx_sel *sel, const struct ptx_insn *in)
{
    struct ptx_call_parts call;

    ptx_call_split(sel->unit->module, in, &call);
    return callee_of(&call) == CALL_FUNCTION &&
           (call.function == NULL || call.function->calls.recursive ||
            call.function->calls.tree.lossy);
}

unsigned ptx_sel_call_blocks(const struct ptx_sel *sel, const struct ptx_insn *in)
{
    return ptx_sel_call_wraps(sel, in) ? 3 : in->guard != PTX_NONE ? 1 : 0;
}

static void pin(struct ptx_sel *sel, ptx_ref d, ptx_ref a, unsigned rows)
{
    struct ptx_mi *mi = ptx_sel_put(sel, ISA_NOP, d, a, PTX_NO_REF, PTX_NO_REF, rows);

    mi->flags |= PTX_MI_PIN;
}

/** Values that are moved to or from fixed registers together. */
struct passing {
    ptx_ref fixed[MOST_PARAMS * 2];
    unsigned rows[MOST_PARAMS * 2], count;
};

static void pass(struct ptx_sel *sel, struct passing *p, struct ptx_param_slot location, ptx_ref value)
{
    if (location.on_stack) {
        if (value == PTX_ZERO) {
            value = ptx_sel_temp(sel, location.rows);
            ptx_sel_imm(sel, value, location.rows, 0);
        }
        (void)ptx_sel_local(sel, true, value, sel->unit->frame_base + location.offset, location.rows);
        return;
    }
    p->fixed[p->count] = ptx_sel_fixed(sel, location.row, location.rows);
    p->rows[p->count] = location.rows;
    ptx_sel_move(sel, p->fixed[p->count++], value, location.rows);
}

static void pin_all(struct ptx_sel *sel, const struct passing *p, bool written)
{
    for (unsigned i = 0; i < p->count; i++)
        pin(sel, written ? p->fixed[i] : PTX_NO_REF, written ? PTX_NO_REF : p->fixed[i],
            p->rows[i]);
}

/** Returns the value that the call passes for argument @k: a scalar, or the offset of an aggregate in local memory. */
static ptx_ref argument(struct ptx_sel *sel, const struct ptx_call_parts *call, unsigned k, unsigned *rows)
{
    const struct ptx_operand *o = &call->args[k];
    const struct ptx_symbol *formal = NULL;
    enum ptx_type type;

    if (call->function != NULL)
        formal = &sel->unit->module->symbols.at[call->function->params.at[k]];
    if (o->kind == PTX_O_SYMBOL &&
        sel->unit->module->symbols.at[o->symbol].kind == PTX_SYM_PARAM) {
        const struct ptx_symbol *s = param_of(sel, &sel->in, o);

        *rows = ptx_param_rows(s);
        if (formal != NULL && (ptx_param_rows(formal) != *rows ||
                               ptx_param_is_scalar(formal) != ptx_param_is_scalar(s) ||
                               formal->size_bytes > s->size_bytes))
            ptx_sel_fail(sel, LW_EINPUT, "parameter %u of %s has %llu bytes, but '%s' has %llu", k + 1,
                         call->callee->name, (unsigned long long)formal->size_bytes, s->name,
                         (unsigned long long)s->size_bytes);
        if (!ptx_param_is_scalar(s))
            return ptx_sel_local_address(sel, s->offset, 1);
        return ptx_sel_param_value(sel, s);
    }
    if (formal != NULL && !ptx_param_is_scalar(formal))
        ptx_sel_fail(sel, LW_EINPUT, "parameter %u of %s is not a scalar: pass a .param variable",
                     k + 1, call->callee->name);
    if (formal != NULL)
        type = (enum ptx_type)formal->type;
    else if (o->kind == PTX_O_REG && sel->fn->regs.at[o->reg].type != PTX_T_PRED)
        type = (enum ptx_type)sel->fn->regs.at[o->reg].type;
    else
        ptx_sel_fail(sel, LW_EUNSUPP, "parameter %u of an indirect call must be a .param variable, or a register "
                     "other than a predicate", k + 1);
    *rows = ptx_type_rows(type);
    return ptx_sel_value(sel, o, type);
}

static void pass_arguments(struct ptx_sel *sel, const struct ptx_call_parts *call, struct passing *p)
{
    struct ptx_param_slots places = { .next = PTX_FIRST_ARGUMENT };
    ptx_ref value[MOST_PARAMS * 2];
    struct ptx_param_slot location[MOST_PARAMS * 2];
    unsigned count = 0;

    for (unsigned k = 0; k < call->result_count; k++) {
        const struct ptx_operand *o = &call->results[k];

        if (o->kind != PTX_O_SYMBOL)
            continue;
        const struct ptx_symbol *s = param_of(sel, &sel->in, o);

        if (ptx_param_is_scalar(s))
            continue;
        value[count] = ptx_sel_local_address(sel, s->offset, 1);
        location[count++] = ptx_param_location(&places, 1);
    }
    for (unsigned k = 0; k < call->arg_count; k++) {
        unsigned rows;

        value[count] = argument(sel, call, k, &rows);
        location[count++] = ptx_param_location(&places, rows);
    }
    for (unsigned i = 0; i < count; i++) /* stores the arguments on the stack first, so that the fixed registers are live
                                          * for a shorter time */
        if (location[i].on_stack)
            pass(sel, p, location[i], value[i]);
    for (unsigned i = 0; i < count; i++)
        if (!location[i].on_stack)
            pass(sel, p, location[i], value[i]);
}

static enum ptx_type result_type(struct ptx_sel *sel, const struct ptx_operand *o,
                                 const struct ptx_symbol **s)
{
    *s = NULL;
    if (o->kind == PTX_O_REG && sel->fn->regs.at[o->reg].type != PTX_T_PRED)
        return (enum ptx_type)sel->fn->regs.at[o->reg].type;
    if (o->kind == PTX_O_SINK)
        return PTX_T_B32;
    *s = param_of(sel, &sel->in, o);
    return (enum ptx_type)(*s)->type;
}

static void take_results(struct ptx_sel *sel, const struct ptx_call_parts *call)
{
    struct ptx_param_slots places = { .next = PTX_FIRST_ARGUMENT };
    struct passing p = { .count = 0 };
    const struct ptx_operand *to[MOST_PARAMS];

    for (unsigned k = 0; k < call->result_count; k++) {
        const struct ptx_symbol *s;
        enum ptx_type type = result_type(sel, &call->results[k], &s);
        struct ptx_param_slot location;

        if (s != NULL && !ptx_param_is_scalar(s))
            continue;
        location = ptx_param_location(&places, ptx_type_rows(type));
        if (location.on_stack)
            ptx_sel_fail(sel, LW_EUNSUPP, "the results do not fit into registers v4 to v31");
        to[p.count] = &call->results[k];
        p.fixed[p.count] = ptx_sel_fixed(sel, location.row, location.rows);
        p.rows[p.count++] = location.rows;
    }
    pin_all(sel, &p, true);
    for (unsigned i = 0; i < p.count; i++) {
        const struct ptx_symbol *s;
        enum ptx_type type = result_type(sel, to[i], &s);

        if (s != NULL)
            ptx_sel_param_set(sel, s, p.fixed[i]);
        else if (to[i]->kind == PTX_O_REG)
            ptx_sel_move(sel, ptx_sel_dest(sel, to[i], type), p.fixed[i], p.rows[i]);
    }
}

static void check_call(struct ptx_sel *sel, const struct ptx_call_parts *call)
{
    const struct ptx_module *module = sel->unit->module;

    if (call->arg_count > MOST_PARAMS || call->result_count > MOST_PARAMS)
        ptx_sel_fail(sel, LW_EUNSUPP, "the call has more than %d parameters", MOST_PARAMS);
    if (call->function == NULL) {
        if (call->target->kind != PTX_O_REG ||
            ptx_type_bytes((enum ptx_type)sel->fn->regs.at[call->target->reg].type) != 8)
            ptx_sel_fail(sel, LW_EINPUT, "expected a function or a 64-bit register");
        return;
    }
    if (call->arg_count != call->function->params.count ||
        call->result_count != call->function->results.count)
        ptx_sel_fail(sel, LW_EINPUT, "%s has %zu parameters and %zu results, but the call has %u and %u",
                     call->callee->name, call->function->params.count,
                     call->function->results.count, call->arg_count, call->result_count);
    for (unsigned k = 0; k < call->result_count; k++) {
        const struct ptx_symbol *have, *want = &module->symbols.at[call->function->results.at[k]];
        enum ptx_type type = result_type(sel, &call->results[k], &have);
        unsigned rows = have != NULL ? ptx_param_rows(have) : ptx_type_rows(type);

        if (rows != ptx_param_rows(want) ||
            (have == NULL || ptx_param_is_scalar(have)) != ptx_param_is_scalar(want) ||
            (have != NULL && have->size_bytes < want->size_bytes))
            ptx_sel_fail(sel, LW_EINPUT, "result %u of %s has %llu bytes, but the operand of the call has another size",
                         k + 1, call->callee->name, (unsigned long long)want->size_bytes);
    }
}

static void call_function(struct ptx_sel *sel, const struct ptx_call_parts *call)
{
    struct ptx_unit *unit = sel->unit;
    const struct ptx_tree *tree = ptx_calls_tree(unit->module, function_of(unit->module, call));
    struct passing p = { .count = 0 };
    struct ptx_mi *mi;
    ptx_ref target = PTX_ZERO;

    check_call(sel, call);
    if (call->function == NULL)
        target = ptx_sel_value(sel, call->target, PTX_T_B64);
    pass_arguments(sel, call, &p);
    if (call->function == NULL) /* v0:1 can have the target's address, because the call overwrites v0:1 */
        ptx_sel_put(sel, ISA_V_MOV_B64, unit->link, PTX_NO_REF, target, PTX_NO_REF, 2);
    pin_all(sel, &p, false);
    mi = ptx_sel_put(sel, call->function == NULL ? ISA_CALLX : ISA_CALL, unit->link,
                     call->function == NULL ? unit->link : PTX_NO_REF, PTX_NO_REF, PTX_NO_REF, 2);
    if (call->function != NULL)
        mi->in.x = function_of(unit->module, call);
    if (tree->waits)
        mi->flags |= PTX_MI_SPIN;
    if (tree->syncs)
        mi->flags |= PTX_MI_SYNCS;
    if (sel->wrap != PTX_NONE) {
        struct ptx_block *b = &unit->blocks.at[sel->current];

        b->count = (uint32_t)unit->code.count - b->first;
        b->end = PTX_END_NEXT;
        b->succ_count = 1;
        b->succ[0] = sel->wrap;
        b->loc = sel->in.loc;
        b->line = sel->in.line;
        sel->current = sel->wrap;
        unit->blocks.at[sel->wrap].first = (uint32_t)unit->code.count;
    }
    take_results(sel, call);
}

void ptx_rule_call(struct ptx_sel *sel)
{
    struct ptx_call_parts call;

    (void)ptx_take(&sel->in, PTX_W_UNI);
    ptx_call_split(sel->unit->module, &sel->in, &call);
    switch (callee_of(&call)) {
    case CALL_ASSERT: assertion(sel, &call); break;
    case CALL_MALLOC:
    case CALL_FREE: heap(sel, &call); break;
    case CALL_LAUNCH: ptx_sel_launch(sel, &call); break;
    case CALL_FUNCTION: call_function(sel, &call); break;
    default: print(sel, &call); break;
    }
}

/* ---- entry and return of a function ------------------------------------------------------------------- */

/* Returns true if parameter @s is a structure of which the function has a copy in its frame. */
static bool is_copied(const struct ptx_symbol *s)
{
    return s->home == PTX_SPILL_FRAME && !ptx_param_is_scalar(s);
}

/* Moves argument @value to the location of parameter @s. */
static void enter_param(struct ptx_sel *sel, const struct ptx_symbol *s, ptx_ref value)
{
    if (s->home == PTX_SPILL_POINTER)
        ptx_sel_move(sel, ptx_ref_of(s->home_vreg, 0), value, 1);
    else if (is_copied(s))
        copy_bytes(sel, value, s->align, 0, s->offset, (uint32_t)s->size_bytes);
    else
        ptx_sel_param_set(sel, s, value);
}

void ptx_sel_enter(struct ptx_sel *sel)
{
    struct ptx_module *module = sel->unit->module;
    const struct ptx_function *fn = sel->fn;
    struct ptx_param_slots places = { .next = PTX_FIRST_ARGUMENT };
    struct passing p = { .count = 0 };
    struct ptx_symbol *to[MOST_PARAMS * 2], *from_stack[MOST_PARAMS * 2];
    struct ptx_param_slot stack[MOST_PARAMS * 2];
    ptx_ref value[MOST_PARAMS * 2];
    unsigned on_stack = 0;
    struct ptx_mi *mi = ptx_sel_put(sel, ISA_NOP, PTX_NO_REF, PTX_NO_REF, PTX_NO_REF, PTX_NO_REF,
                                    1);

    mi->flags |= PTX_MI_PIN | PTX_MI_PROLOGUE;
    if (fn->kernel)
        return;
    if (fn->params.count > MOST_PARAMS || fn->results.count > MOST_PARAMS)
        ptx_fail(sel->job, fn->line, LW_EUNSUPP, "'%s' has more than %d parameters", fn->name,
                 MOST_PARAMS);
    for (size_t i = 0; i < fn->results.count + fn->params.count; i++) {
        bool result = i < fn->results.count;
        struct ptx_symbol *s = &module->symbols.at[result ? fn->results.at[i]
                                                          : fn->params.at[i - fn->results.count]];
        struct ptx_param_slot location;

        if (result && ptx_param_is_scalar(s))
            continue;
        location = ptx_param_location(&places, ptx_param_rows(s));
        if (s->home == PTX_SPILL_NONE)
            continue;
        if (location.on_stack) {
            stack[on_stack] = location;
            from_stack[on_stack++] = s;
            continue;
        }
        to[p.count] = s;
        p.fixed[p.count] = ptx_sel_fixed(sel, location.row, location.rows);
        p.rows[p.count++] = location.rows;
    }
    pin_all(sel, &p, true);
    for (unsigned i = 0; i < p.count; i++) {
        if (is_copied(to[i])) { /* the copy must not delay the moves out of fixed registers */
            value[i] = ptx_sel_temp(sel, 1);
            ptx_sel_move(sel, value[i], p.fixed[i], 1);
        } else {
            enter_param(sel, to[i], p.fixed[i]);
        }
    }
    for (unsigned i = 0; i < p.count; i++)
        if (is_copied(to[i]))
            enter_param(sel, to[i], value[i]);
    for (unsigned i = 0; i < on_stack; i++) {
        ptx_ref passed = ptx_sel_temp(sel, stack[i].rows);

        ptx_sel_local(sel, false, passed, stack[i].offset, stack[i].rows)->flags |= PTX_MI_CFA;
        enter_param(sel, from_stack[i], passed);
    }
}

void ptx_sel_leave(struct ptx_sel *sel)
{
    struct ptx_module *module = sel->unit->module;
    const struct ptx_function *fn = sel->fn;
    struct ptx_param_slots places = { .next = PTX_FIRST_ARGUMENT };
    struct passing p = { .count = 0 };
    ptx_ref value[MOST_PARAMS];
    struct ptx_param_slot location[MOST_PARAMS];
    unsigned count = 0;

    for (size_t i = 0; i < fn->results.count; i++) {
        const struct ptx_symbol *s = &module->symbols.at[fn->results.at[i]];

        if (!ptx_param_is_scalar(s))
            continue;
        location[count] = ptx_param_location(&places, ptx_param_rows(s));
        if (location[count].on_stack)
            ptx_fail(sel->job, fn->line, LW_EUNSUPP,
                     "the results of '%s' do not fit into registers v4 to v31", fn->name);
        if (s->home != PTX_SPILL_NONE)
            value[count++] = ptx_sel_param_value(sel, s);
    }
    for (unsigned i = 0; i < count; i++)
        pass(sel, &p, location[i], value[i]);
    pin_all(sel, &p, false);
}
