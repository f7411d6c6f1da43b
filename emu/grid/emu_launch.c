/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Handlers of launch instructions: parameter buffers, streams, kernels, block groups. A launch is only queued here; the engine
 * decides when and where it runs. Lanes launch in ascending order. If the launch of one lane is refused, no lane launches.
 */
#include <stdio.h>

#include "emu/grid/emu_grid_priv.h"
#include "emu/lane/emu_lane_ops_priv.h"
#include "emu/memory/emu_mem_priv.h"
#include "emu/emu_next_priv.h"

enum { DESCRIPTOR_BYTES = 40, HEADER_BYTES = 64, STREAM_BITS = 20, STATUS_MEMORY = 2 };
/* Handles of streams. With STREAM_FORGET (CUDA's cudaStreamFireAndForget), each launch has its own stream. With STREAM_AFTER,
 * each launch has its own stream, too, and begins after all blocks of the launching kernel have ended. STREAM_TAIL
 * (cudaStreamTailLaunch) is not supported. */
enum { STREAM_TAIL = 3, STREAM_FORGET = 4, STREAM_AFTER = 5 };

/* ---- parameter buffers -------------------------------------------------------------- */

/** Executes launch.buffer for lanes @on: allocates parameter buffers. Returns false if a fault was raised. */
static __attribute__((noinline)) bool make_buffers(struct emu_warp *w, const struct emu_dinsn *di,
                                                   uint64_t on)
{
    struct emu_machine *machine = w->core->machine;
    bool row = di->ukind == EMU_U_ROW;
    uint64_t bad = 0;

    for (LW_EACH_BIT(l, on))
        if ((row ? emu_row(w, di->b)[l] : emu_uniform32(w, di)) > ISA_CONST_BANK_BYTES)
            bad |= UINT64_C(1) << l;
    if (bad != 0) {
        emu_raise(w, di, EMU_FAULT_LAUNCH_BUFFER, bad, "lane %u requests a parameter buffer of %u bytes: at most %u "
                                                       "are allowed", lw_lowest(bad),
                  row ? emu_row(w, di->b)[lw_lowest(bad)] : emu_uniform32(w, di),
                  ISA_CONST_BANK_BYTES);
        return false;
    }
    for (LW_EACH_BIT(l, on)) {
        uint64_t bytes = row ? emu_row(w, di->b)[l] : emu_uniform32(w, di), address = 0;
        if (emu_memory_alloc(machine, bytes, "parameters", EMU_ALLOC_PARAMETERS, &address,
                             NULL) != LW_OK)
            address = 0; /* global memory is full, and the kernel gets address 0 */
        emu_lane_pair_put(w, di, (unsigned)l, address);
    }
    return true;
}

/** Returns the kernel whose first instruction is at @entry, or NULL. */
static const struct isa_function *kernel_at(const struct emu_machine *machine, uint64_t entry,
                                            const struct emu_program **program)
{
    *program = emu_machine_program_at(machine, entry);
    if (*program == NULL || (entry - (*program)->base) % ISA_WORD_BYTES != 0)
        return NULL;
    uint32_t index = (uint32_t)((entry - (*program)->base) / ISA_WORD_BYTES);
    const struct isa_function *f = isa_object_function_at((*program)->object, index);
    return f != NULL && f->kernel && f->first == index ? f : NULL;
}

/** Executes launch.buffer_of for lanes @on: allocates buffers with a header, the parameters of a kernel, and additional bytes.
 *  Returns false if a fault was raised. */
static __attribute__((noinline)) bool make_buffers_of(struct emu_warp *w, const struct emu_dinsn *di, uint64_t on)
{
    struct emu_machine *machine = w->core->machine;
    const struct isa_function *kernel[EMU_MAX_LANES];
    const struct emu_program *program;
    bool row = di->ukind == EMU_U_ROW;
    uint64_t strange = 0, large = 0;

    for (LW_EACH_BIT(l, on)) {
        kernel[l] = kernel_at(machine, emu_lane_pair(w, di->a, (unsigned)l), &program);
        if (kernel[l] == NULL)
            strange |= UINT64_C(1) << l;
        if ((row ? emu_row(w, di->b)[l] : emu_uniform32(w, di)) > ISA_CONST_BANK_BYTES)
            large |= UINT64_C(1) << l;
    }
    if (strange != 0)
        emu_raise(w, di, EMU_FAULT_LAUNCH, strange, "lane %u requests a parameter buffer for address 0x%llx, which is "
                                                    "not the entry of a kernel", lw_lowest(strange),
                  (unsigned long long)emu_lane_pair(w, di->a, lw_lowest(strange)));
    else if (large != 0)
        emu_raise(w, di, EMU_FAULT_LAUNCH_BUFFER, large, "lane %u requests a parameter buffer with %u additional "
                                                         "bytes: at most %u are allowed",
                                                         lw_lowest(large), row ? emu_row(w, di->b)[lw_lowest(large)] : emu_uniform32(w, di),
                  ISA_CONST_BANK_BYTES);
    if ((strange | large) != 0)
        return false;
    for (LW_EACH_BIT(l, on)) {
        uint64_t bytes = HEADER_BYTES + (kernel[l]->param_bytes + 16) / 16 * 16, address = 0;

        bytes += row ? emu_row(w, di->b)[l] : emu_uniform32(w, di);
        if (emu_memory_alloc(machine, bytes, "parameters", EMU_ALLOC_PARAMETERS, &address, NULL) != LW_OK)
            address = 0;
        emu_lane_pair_put(w, di, (unsigned)l, address != 0 ? address + HEADER_BYTES : 0);
    }
    return true;
}

void emu_c_launch_buffer_of(struct emu_warp *w, const struct emu_dinsn *di)
{
    uint64_t on = w->e & emu_guard(w, di);

    if (on == 0 || make_buffers_of(w, di, on))
        EMU_GO(w, di + 1);
}

void emu_c_launch_buffer(struct emu_warp *w, const struct emu_dinsn *di)
{
    uint64_t on = w->e & emu_guard(w, di);

    if (on == 0 || make_buffers(w, di, on))
        EMU_GO(w, di + 1);
}

/* ---- streams ---------------------------------------------------------------------------- */

/** Returns a number that identifies a block. A stream belongs to a block, so the handle of a stream contains the number of the
 *  block, in the bits above the stream's number. */
static uint64_t mark_of(const struct emu_block *block)
{
    uint64_t x = (uint64_t)block->grid->sequence << 40 ^ (block->linear + 1);

    x *= UINT64_C(0x9e3779b97f4a7c15);
    x ^= x >> 29;
    x *= UINT64_C(0xbf58476d1ce4e5b9);
    return (x >> STREAM_BITS | 1) << STREAM_BITS;
}

static bool is_own_stream(uint64_t handle)
{
    return handle == STREAM_FORGET || handle == STREAM_AFTER;
}

static bool is_stream(const struct emu_block *block, uint64_t handle)
{
    uint64_t number = handle & lw_mask(STREAM_BITS);

    return handle == 0 || is_own_stream(handle) || (number != 0 && number <= block->streams &&
                           handle - number == mark_of(block));
}

static __attribute__((noinline)) bool make_streams(struct emu_warp *w, const struct emu_dinsn *di,
                                                   uint64_t on)
{
    struct emu_block *block = w->block;

    if (block->streams + lw_popcount(on) > lw_mask(STREAM_BITS)) {
        emu_raise(w, di, EMU_FAULT_LAUNCH, on, "a block can create at most %llu streams",
                  (unsigned long long)lw_mask(STREAM_BITS));
        return false;
    }
    for (LW_EACH_BIT(l, on))
        emu_lane_pair_put(w, di, (unsigned)l, mark_of(block) | ++block->streams);
    return true;
}

void emu_c_launch_stream(struct emu_warp *w, const struct emu_dinsn *di)
{
    uint64_t on = w->e & emu_guard(w, di);

    if (on == 0 || make_streams(w, di, on))
        EMU_GO(w, di + 1);
}

/* ---- launches ----------------------------------------------------------------------------- */

/** The launch that one lane requests. */
struct lane_launch {
    struct emu_launch launch;
    uint64_t buffer, stream;
    uint64_t owned; /* address of the allocation that is freed when the launch is complete; 0: the launch instruction itself frees
                     * the allocation at `buffer` */
};
/** Reason why the launch of a lane is refused. */
struct refusal {
    enum emu_fault_kind fault;
    uint64_t address; /* address of a memory fault, for which `why` is empty */
    char why[160];
};

static bool refuse(struct refusal *no, enum emu_fault_kind fault, const char *fmt, ...)
    LW_PRINTF(3, 4);
static bool refuse(struct refusal *no, enum emu_fault_kind fault, const char *fmt, ...)
{
    va_list args;

    no->fault = fault;
    va_start(args, fmt);
    vsnprintf(no->why, sizeof no->why, fmt, args);
    va_end(args);
    return false;
}

/** Reads the launch descriptor at @address of a lane. Returns false, and sets @no, if the launch is refused. */
static bool read_descriptor(const struct emu_warp *w, unsigned lane, uint64_t address,
                            struct lane_launch *l, struct refusal *no)
{
    const struct emu_machine *machine = w->core->machine;
    uint8_t bytes[DESCRIPTOR_BYTES];

    for (unsigned at = 0; at < DESCRIPTOR_BYTES; at += 8) {
        struct emu_host_address target;
        no->address = address + at;
        no->fault = emu_lane_address(w, ISA_SPACE_GENERIC, lane, no->address, 8, false, &target);
        if (no->fault != EMU_FAULT_NULL_PAGE && address % 8 != 0)
            no->fault = EMU_FAULT_MISALIGNED;
        if (no->fault != EMU_FAULT_NONE)
            return false;
        memcpy(bytes + at, target.host, 4);
        memcpy(bytes + at + 4, target.host + target.step, 4);
    }
    uint64_t entry = lw_get64(bytes);
    const struct emu_program *program;
    const struct isa_function *f = kernel_at(machine, entry, &program);
    if (f == NULL)
        return refuse(no, EMU_FAULT_LAUNCH, "lane %u launches address 0x%llx, which is not the entry of a kernel",
                      lane, (unsigned long long)entry);
    if (lw_get32(bytes + 36) != 0)
        return refuse(no, EMU_FAULT_LAUNCH, "the last word of lane %u's launch descriptor is 0x%x, but must be 0",
                      lane, lw_get32(bytes + 36));
    l->launch.program = program;
    l->launch.kernel = f;
    l->launch.work_dim = 1;
    for (unsigned i = 0; i < 3; i++) {
        l->launch.grid[i] = lw_get32(bytes + 8 + 4 * i);
        l->launch.block[i] = lw_get32(bytes + 20 + 4 * i);
        if (l->launch.grid[i] > 1)
            l->launch.work_dim = i + 1;
        if (l->launch.block[i] > 1)
            l->launch.work_dim = i + 1;
    }
    l->launch.dynamic_shared_bytes = lw_get32(bytes + 32);
    return true;
}

/** Checks the buffer that contains the parameters of a lane's launch. Returns false, and sets @no, if the launch is refused. */
static bool check_buffer(const struct emu_warp *w, unsigned lane, struct lane_launch *l,
                         struct refusal *no)
{
    const struct emu_memory *memory = &w->core->machine->memory;
    struct emu_allocation a = {0};
    bool inside = false;
    uint32_t wanted = l->launch.kernel->param_bytes;
    char room[ISA_SYMBOL_BYTES];
    bool headed;

    if (l->buffer == 0 && wanted == 0)
        return true;
    if (l->buffer == 0)
        return refuse(no, EMU_FAULT_LAUNCH_BUFFER, "lane %u launches %s without a parameter buffer, but the kernel has "
                                                   "%u bytes of parameters", lane,
                      isa_symbol_text(l->launch.kernel->name, room), wanted);
    if (!emu_allocation_at(w->core->machine, l->buffer, &a, &inside) ||
        !(a.flags & EMU_ALLOC_PARAMETERS) ||
        (a.address != l->buffer && !(inside && (a.flags & EMU_ALLOC_FREED || l->buffer - a.address == HEADER_BYTES))))
        return refuse(no, EMU_FAULT_LAUNCH_BUFFER, "lane %u launches with 0x%llx, which is not a parameter buffer that "
                                                   "launch.buffer returned", lane, (unsigned long long)l->buffer);
    if (a.flags & (EMU_ALLOC_FREED | EMU_ALLOC_LAUNCHED))
        return refuse(no, EMU_FAULT_LAUNCH_BUFFER, "the parameter buffer of lane %u at 0x%llx was used by an earlier "
                                                   "launch: each launch needs a new one",
                                                   lane, (unsigned long long)l->buffer);
    headed = a.address != l->buffer;
    a.size_bytes -= headed ? HEADER_BYTES : 0;
    if (headed ? a.size_bytes < wanted : a.size_bytes != wanted)
        return refuse(no, EMU_FAULT_LAUNCH_BUFFER, "the parameter buffer of lane %u has %llu bytes, but the parameters "
                                                   "of %s need %u", lane, (unsigned long long)a.size_bytes,
                      isa_symbol_text(l->launch.kernel->name, room), wanted);
    l->launch.params = memory->host + (l->buffer - ISA_GLOBAL_BASE);
    l->owned = headed ? a.address : 0;
    return true;
}

/** Checks the launch of one lane. @ahead: number of lanes that launch before this lane in the same instruction. Returns false,
 *  and sets @no, if the launch is refused. */
static bool check_lane(const struct emu_warp *w, const struct emu_dinsn *di, unsigned lane,
                       unsigned ahead, bool group, struct lane_launch *l, struct refusal *no)
{
    const struct emu_machine *machine = w->core->machine;
    const struct emu_grid *grid = w->block->grid;
    uint32_t pending = machine->pending;
    struct lw_error why;

    no->why[0] = '\0';
    *l = (struct lane_launch){.buffer = emu_lane_pair(w, di->b, lane)};
    if (!read_descriptor(w, lane, emu_lane_pair(w, di->a, lane), l, no))
        return false;
    if (emu_grid_check(machine, &l->launch, &why) != LW_OK)
        return refuse(no, EMU_FAULT_LAUNCH, "lane %u: %.150s", lane, why.text);
    if (!check_buffer(w, lane, l, no))
        return false;
    l->stream = group ? 0 : emu_lane_pair(w, di->c, lane);
    if (l->stream == STREAM_TAIL)
        return refuse(no, EMU_FAULT_LAUNCH, "lane %u launches into the stream of tail launches (cudaStreamTailLaunch), "
                      "which is not supported", lane);
    if (!is_stream(w->block, l->stream))
        return refuse(no, EMU_FAULT_LAUNCH, "lane %u launches into the stream 0x%llx, which its block has not created",
                      lane, (unsigned long long)l->stream);
    if (is_own_stream(l->stream) && w->block->streams + ahead >= lw_mask(STREAM_BITS))
        return refuse(no, EMU_FAULT_LAUNCH, "a block can create at most %llu streams",
                      (unsigned long long)lw_mask(STREAM_BITS));
    if (grid->depth + 1 >= EMU_LAUNCH_NESTING)
        return refuse(no, EMU_FAULT_LAUNCH_DEPTH, "this launch is nested %u deep, which is the limit (option "
                                                  "launch_depth)", grid->depth);
    /* The grid of this lane is running, but may still be counted as pending, because a grid is recorded as started only at the
     * end of its first time slice or step. */
    pending -= emu_grid_of_device(grid) && !grid->started;
    if (pending + ahead >= machine->config.pending_launches)
        return refuse(no, EMU_FAULT_LAUNCH_PENDING, "%u launches have not started when lane %u launches another: at "
                                                    "most %u may wait (option pending_launches)", pending + ahead, lane,
                      machine->config.pending_launches);
    return true;
}

/** Checks the launches of lanes @on, and stores them in @all, by lane. Returns false if a fault was raised. */
static bool check_lanes(struct emu_warp *w, const struct emu_dinsn *di, uint64_t on, bool group,
                        struct lane_launch *all)
{
    struct refusal no, first = {.fault = EMU_FAULT_NONE};
    uint64_t bad = 0;
    unsigned ahead = 0;

    for (LW_EACH_BIT(k, on)) {
        bool ok = check_lane(w, di, (unsigned)k, ahead++, group, &all[k], &no);
        for (LW_EACH_BIT(o, on & lw_mask((unsigned)k)))
            if (ok && all[k].buffer != 0 && all[o].buffer == all[k].buffer)
                ok = refuse(&no, EMU_FAULT_LAUNCH_BUFFER, "lanes %u and %u launch with the same parameter buffer at "
                                                          "0x%llx: each launch needs its own", (unsigned)o, (unsigned)k,
                            (unsigned long long)all[k].buffer);
        if (ok || (bad != 0 && no.fault != first.fault))
            continue;
        if (bad == 0)
            first = no;
        bad |= UINT64_C(1) << k;
    }
    if (bad == 0)
        return true;
    if (first.why[0] != '\0')
        emu_raise(w, di, first.fault, bad, "%s", first.why);
    else
        emu_raise_memory(w, di, first.fault, bad, ISA_SPACE_GENERIC, first.address, 8, false);
    return false;
}

bool emu_launch_lanes(struct emu_warp *w, const struct emu_dinsn *di, uint64_t on, bool group)
{
    struct emu_machine *machine = w->core->machine;
    uint32_t *d = emu_row(w, di->d);
    struct lane_launch all[EMU_MAX_LANES];

    if (!check_lanes(w, di, on, group, all))
        return false;
    for (LW_EACH_BIT(k, on)) {
        struct emu_grid *grid;
        struct emu_device_launch how = {.block = w->block, .warp = w->index, .lane = (unsigned)k,
                                        .pc = w->code->program->base + (uint64_t)di->index * ISA_WORD_BYTES,
                                        .group = group, .stream = all[k].stream,
                                        .after = all[k].stream == STREAM_AFTER};
        if (is_own_stream(how.stream))
            how.stream = mark_of(w->block) | ++w->block->streams;
        d[k] = 0;
        if (emu_grid_launch_device(machine, &all[k].launch, &how, &grid, NULL) == LW_OK) {
            w->block->progress++;
            grid->buffer = all[k].owned;
            if (grid->buffer != 0)
                emu_memory_give_to_launch(machine, grid->buffer);
        } else {
            d[k] = STATUS_MEMORY;
            all[k].buffer = 0; /* the buffer of a refused launch is not freed */
        }
    }
    for (LW_EACH_BIT(k, on)) /* frees the buffers, because each launch has its own copy of the parameters */
        if (all[k].buffer != 0 && all[k].owned == 0)
            (void)!emu_memory_free(machine, all[k].buffer, NULL);
    return true;
}
