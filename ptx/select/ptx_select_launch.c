/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Selection of calls that launch kernels. The callees are functions of CUDA's device runtime, which compilers declare and no
 * module defines, and functions that our headers add for block groups and for OpenCL C. Each call becomes launch instructions
 * (docs/explanation/device-launches.md). A parameter buffer has 64 bytes before the parameters. The call that specifies grid and
 * block writes the launch descriptor there.
 */
#include "ptx/select/ptx_select_priv.h"

enum { HEADER_BYTES = 64, MOST_ARGUMENTS = 9 };

struct launch_call {
    struct ptx_sel *sel;
    const struct ptx_call_parts *call;
    const struct ptx_symbol *arg[MOST_ARGUMENTS];
};
typedef void (*launch_fn)(struct launch_call *l);

/** @args has a letter for the type of each argument: q for 8 bytes, w for 4 bytes, d for three words. @result is the letter
 *  for the type of the result. */
struct launch_function {
    const char *name, *args;
    char result;
    launch_fn make;
};

static ptx_ref value(struct launch_call *l, unsigned i)
{
    return ptx_sel_param_value(l->sel, l->arg[i]);
}

static void give(struct launch_call *l, ptx_ref from)
{
    if (l->call->result_count != 0)
        ptx_sel_param_set(l->sel, ptx_sel_param_of(l->sel, &l->call->results[0]), from);
}

/** Returns the 64-bit sum of @pair and @addend. */
static ptx_ref beside(struct launch_call *l, ptx_ref pair, int64_t addend)
{
    ptx_ref d = ptx_sel_temp(l->sel, 2), by = ptx_sel_temp(l->sel, 2);

    ptx_sel_imm(l->sel, by, 2, (uint64_t)addend);
    ptx_sel_put(l->sel, ISA_V_ADD_U64, d, pair, by, PTX_NO_REF, 2);
    return d;
}

/** Returns word @word of argument @i, which has three words. */
static ptx_ref word_of(struct launch_call *l, unsigned i, unsigned word)
{
    ptx_ref d = ptx_sel_temp(l->sel, 1);

    (void)ptx_sel_local(l->sel, false, d, l->arg[i]->offset + 4 * word, 1);
    return d;
}

/** Stores @rows registers at address @pair + @offset, in lanes where predicate @guard is true. */
static void store(struct launch_call *l, ptx_ref pair, int32_t offset, ptx_ref from, unsigned rows, ptx_ref guard)
{
    struct ptx_mi *mi = ptx_sel_put(l->sel, ISA_ST_GLOBAL, PTX_NO_REF, pair, from, PTX_NO_REF, rows);

    mi->rows[PTX_S_A] = 2;
    mi->in.x = (uint32_t)offset << 8;
    isa_mod_set(&mi->in, ISA_MOD_AMODE, ISA_AMODE_PAIR);
    isa_mod_set(&mi->in, ISA_MOD_SIZE, rows == 2 ? ISA_SIZE_B64 : ISA_SIZE_B32);
    mi->ref[PTX_S_GUARD] = guard;
}

/** Writes the descriptor that precedes the parameters at @buffer: entry, grid, block and shared bytes. Lanes whose buffer
 *  is NULL write nothing. */
static void describe(struct launch_call *l, ptx_ref buffer, ptx_ref entry, const ptx_ref shape[7])
{
    struct ptx_sel *sel = l->sel;
    ptx_ref some = ptx_sel_temp(sel, 0);
    struct ptx_mi *mi = ptx_sel_put(sel, ISA_V_SETP_U64, PTX_NO_REF, buffer, PTX_ZERO, PTX_NO_REF, 2);

    isa_mod_set(&mi->in, ISA_MOD_CMP, ISA_CMP_NE);
    mi->ref[PTX_S_P] = some;
    mi->ref[PTX_S_R] = PTX_ZERO;
    store(l, buffer, -HEADER_BYTES, entry, 2, some);
    for (unsigned i = 0; i < 7; i++)
        store(l, buffer, -HEADER_BYTES + 8 + 4 * (int32_t)i, shape[i], 1, some);
}

/** Returns a buffer for the kernel at @entry, with @extra bytes after the parameters (PTX_NO_REF: none). */
static ptx_ref buffer_of(struct launch_call *l, ptx_ref entry, ptx_ref extra)
{
    ptx_ref d = ptx_sel_temp(l->sel, 2);
    struct ptx_mi *mi = ptx_sel_put(l->sel, ISA_LAUNCH_BUFFER_OF, d, entry, extra == PTX_NO_REF ? PTX_ZERO : extra,
                                    PTX_NO_REF, 2);

    mi->rows[PTX_S_X] = 1;
    return d;
}

static void launch(struct launch_call *l, ptx_ref descriptor, ptx_ref buffer, ptx_ref stream, bool group)
{
    ptx_ref d = ptx_sel_temp(l->sel, 1);
    struct ptx_mi *mi = ptx_sel_put(l->sel, group ? ISA_LAUNCH_GROUP : ISA_LAUNCH_KERNEL, d, descriptor, buffer,
                                    group ? PTX_NO_REF : stream, 2);

    mi->rows[PTX_S_D] = 1;
    give(l, d);
}

/** cudaGetParameterBufferV2(kernel, grid, block, shared) */
static void get_buffer_v2(struct launch_call *l)
{
    ptx_ref entry = value(l, 0), buffer = buffer_of(l, entry, PTX_NO_REF), shape[7];

    for (unsigned i = 0; i < 6; i++)
        shape[i] = word_of(l, 1 + i / 3, i % 3);
    shape[6] = value(l, 3);
    describe(l, buffer, entry, shape);
    give(l, buffer);
}

/** Selects a function that receives the sizes as numbers, and allocates @more bytes after the parameters:
 *  __lanewise_launch_buffer(kernel, grid.x, grid.y, grid.z, block.x, block.y, block.z, shared, more) */
static void get_buffer_plain(struct launch_call *l)
{
    ptx_ref entry = value(l, 0), buffer = buffer_of(l, entry, value(l, 8)), shape[7];

    for (unsigned i = 0; i < 7; i++)
        shape[i] = value(l, 1 + i);
    describe(l, buffer, entry, shape);
    give(l, buffer);
}

/** cudaLaunchDeviceV2(buffer, stream) */
static void launch_v2(struct launch_call *l)
{
    ptx_ref buffer = value(l, 0);

    launch(l, beside(l, buffer, -HEADER_BYTES), buffer, value(l, 1), false);
}

/** __lanewise_launch_group(buffer) */
static void launch_group(struct launch_call *l)
{
    ptx_ref buffer = value(l, 0);

    launch(l, beside(l, buffer, -HEADER_BYTES), buffer, PTX_NO_REF, true);
}

/** cudaGetParameterBuffer(alignment, size): only the launch that follows names the kernel. */
static void get_buffer(struct launch_call *l)
{
    struct ptx_sel *sel = l->sel;
    ptx_ref bytes = ptx_sel_temp(sel, 1), start = ptx_sel_temp(sel, 2), some = ptx_sel_temp(sel, 0), d = ptx_sel_temp(sel, 2);
    struct ptx_mi *mi = ptx_sel_put(sel, ISA_V_ADD_U32, bytes, value(l, 1), PTX_NO_REF, PTX_NO_REF, 1);

    mi->in.xkind = ISA_X_IMM;
    mi->in.x = HEADER_BYTES + 8;
    mi = ptx_sel_put(sel, ISA_LAUNCH_BUFFER, start, PTX_NO_REF, bytes, PTX_NO_REF, 2);
    mi->rows[PTX_S_X] = 1;
    mi = ptx_sel_put(sel, ISA_V_SETP_U64, PTX_NO_REF, start, PTX_ZERO, PTX_NO_REF, 2);
    isa_mod_set(&mi->in, ISA_MOD_CMP, ISA_CMP_NE);
    mi->ref[PTX_S_P] = some;
    mi->ref[PTX_S_R] = PTX_ZERO;
    mi = ptx_sel_put(sel, ISA_V_SELP_B64, d, beside(l, start, HEADER_BYTES), PTX_ZERO, PTX_NO_REF, 2);
    mi->ref[PTX_S_R] = some;
    give(l, d);
}

/** cudaLaunchDevice(kernel, buffer, grid, block, shared, stream) */
static void launch_v1(struct launch_call *l)
{
    ptx_ref entry = value(l, 0), buffer = value(l, 1), shape[7];

    for (unsigned i = 0; i < 6; i++)
        shape[i] = word_of(l, 2 + i / 3, i % 3);
    shape[6] = value(l, 4);
    describe(l, buffer, entry, shape);
    launch(l, beside(l, buffer, -HEADER_BYTES), buffer, value(l, 5), false);
}

static void none(struct launch_call *l)
{
    give(l, ptx_sel_literal(l->sel, 0));
}

static void synchronize(struct launch_call *l)
{
    ptx_sel_put(l->sel, ISA_LAUNCH_SYNC, PTX_NO_REF, PTX_NO_REF, PTX_NO_REF, PTX_NO_REF, 1);
    none(l);
}

/** cudaStreamCreateWithFlags(stream *, flags); a stream of a block never waits for the block's default stream. */
static void create_stream(struct launch_call *l)
{
    ptx_ref d = ptx_sel_temp(l->sel, 2);
    struct ptx_mi *mi;

    ptx_sel_put(l->sel, ISA_LAUNCH_STREAM, d, PTX_NO_REF, PTX_NO_REF, PTX_NO_REF, 2);
    mi = ptx_sel_put(l->sel, ISA_ST_GENERIC, PTX_NO_REF, value(l, 0), d, PTX_NO_REF, 2);
    isa_mod_set(&mi->in, ISA_MOD_AMODE, ISA_AMODE_PAIR);
    isa_mod_set(&mi->in, ISA_MOD_SIZE, ISA_SIZE_B64);
    none(l);
}

/** Selects the creation of a stream, whose handle is the result. */
static void new_stream(struct launch_call *l)
{
    ptx_ref d = ptx_sel_temp(l->sel, 2);

    ptx_sel_put(l->sel, ISA_LAUNCH_STREAM, d, PTX_NO_REF, PTX_NO_REF, PTX_NO_REF, 2);
    give(l, d);
}

/** cudaGetDevice(int *): stores 0, because there is one device. */
static void get_device(struct launch_call *l)
{
    struct ptx_mi *mi = ptx_sel_put(l->sel, ISA_ST_GENERIC, PTX_NO_REF, value(l, 0), PTX_ZERO, PTX_NO_REF, 1);

    mi->rows[PTX_S_A] = 2;
    isa_mod_set(&mi->in, ISA_MOD_AMODE, ISA_AMODE_PAIR);
    isa_mod_set(&mi->in, ISA_MOD_SIZE, ISA_SIZE_B32);
    none(l);
}

/** cudaGraphSetConditional(handle, value): the handle is the address of the condition (runtime/cuda/cu_graph_node.c). */
static void set_condition(struct launch_call *l)
{
    struct ptx_mi *mi = ptx_sel_put(l->sel, ISA_ST_GENERIC, PTX_NO_REF, value(l, 0), value(l, 1), PTX_NO_REF, 1);

    mi->rows[PTX_S_A] = 2;
    isa_mod_set(&mi->in, ISA_MOD_AMODE, ISA_AMODE_PAIR);
    isa_mod_set(&mi->in, ISA_MOD_SIZE, ISA_SIZE_B32);
}

/* CUDA's functions, without their prefix, which is "cuda" or, since CUDA 12, "__cudaCDP2". */
static const struct launch_function functions[] = {
    {"GetParameterBufferV2", "qddw", 'q', get_buffer_v2},
    {"LaunchDeviceV2", "qq", 'w', launch_v2},
    {"GetParameterBuffer", "qq", 'q', get_buffer},
    {"LaunchDevice", "qqddwq", 'w', launch_v1},
    {"StreamCreateWithFlags", "qw", 'w', create_stream},
    {"StreamDestroy", "q", 'w', none},
    {"DeviceSynchronize", "", 'w', synchronize},
    {"GetLastError", "", 'w', none},
    {"PeekAtLastError", "", 'w', none},
    {"GetDevice", "q", 'w', get_device},
    {"GraphSetConditional", "qw", 'w', set_condition},
};
/* Functions of our headers, without the prefix "__lanewise_launch_". */
static const struct launch_function ours[] = {
    {"buffer", "qwwwwwwww", 'q', get_buffer_plain},
    {"group", "q", 'w', launch_group},
    {"stream", "", 'q', new_stream},
    {"sync", "", 'w', synchronize},
};

static const struct launch_function *find(const struct launch_function *list, size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(list[i].name, name) == 0)
            return &list[i];
    return NULL;
}

static const struct launch_function *function_of(const char *name)
{
    if (strncmp(name, "__cudaCDP2", 10) == 0)
        return find(functions, LW_COUNT_OF(functions), name + 10);
    if (strncmp(name, "cuda", 4) == 0)
        return find(functions, LW_COUNT_OF(functions), name + 4);
    if (strncmp(name, "__lanewise_launch_", 18) == 0)
        return find(ours, LW_COUNT_OF(ours), name + 18);
    return NULL;
}

bool ptx_is_launch(const char *name)
{
    return function_of(name) != NULL;
}

static bool fits(const struct ptx_symbol *s, char shape)
{
    uint64_t bytes = shape == 'q' ? 8 : shape == 'w' ? 4 : 12;

    return s->size_bytes == bytes && ptx_param_is_scalar(s) == (shape != 'd');
}

void ptx_sel_launch(struct ptx_sel *sel, const struct ptx_call_parts *call)
{
    const struct launch_function *f = function_of(call->callee->name);
    struct launch_call l = {.sel = sel, .call = call};

    if (call->arg_count != strlen(f->args) || call->result_count > 1)
        ptx_sel_fail(sel, LW_EUNSUPP, "the call of %s has %u parameters and %u results, which is not supported",
                     call->callee->name, call->arg_count,
                     call->result_count);
    for (unsigned i = 0; i < call->arg_count; i++) {
        l.arg[i] = ptx_sel_param_of(sel, &call->args[i]);
        if (!fits(l.arg[i], f->args[i]))
            ptx_sel_fail(sel, LW_EUNSUPP, "parameter %u of %s has another type than the function of this name in CUDA",
                         i + 1, call->callee->name);
    }
    if (call->result_count == 1 && !fits(ptx_sel_param_of(sel, &call->results[0]), f->result))
        ptx_sel_fail(sel, LW_EUNSUPP, "the result of %s has another type than the function of this name in CUDA",
                     call->callee->name);
    f->make(&l);
}
