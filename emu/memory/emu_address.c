/* SPDX-License-Identifier: Apache-2.0 */
/* Address spaces: the memory to which a lane's generic address refers, clauses for messages of faults that describe addresses,
 * and copies for debuggers. */
#include "emu/lane/emu_semantics_priv.h"
#include "emu/log/emu_log_priv.h"
#include "emu/memory/emu_mem_priv.h"

#include <stdio.h>

/* ---- the map ------------------------------------------------------------------ */

const uint8_t *emu_const_bank(const struct emu_warp *w, unsigned bank, uint32_t *bytes)
{
    const uint8_t *data = NULL;

    *bytes = 0;
    if (bank == 0) {
        data = (const uint8_t *)w->ubase[EMU_U_BANK0];
        *bytes = w->block->grid->bank0_valid;
    } else if (bank == 1) {
        data = (const uint8_t *)w->ubase[EMU_U_BANK1];
        *bytes = ISA_CONST_BANK_BYTES;
    }
    if (data == NULL)
        *bytes = 0;
    return data;
}

/** Splits a generic address into its space and the offset in this space; for the constant space also gets the bank. An address
 *  outside all other spaces is global. */
static enum isa_space split_generic(uint64_t address, uint64_t *offset, unsigned *bank)
{
    *offset = address;
    *bank = 0;
    if (address - ISA_SHARED_BASE < ISA_APERTURE_BYTES) {
        *offset = address - ISA_SHARED_BASE;
        return ISA_SPACE_SHARED;
    }
    if (address - ISA_LOCAL_BASE < ISA_APERTURE_BYTES) {
        *offset = address - ISA_LOCAL_BASE;
        return ISA_SPACE_LOCAL;
    }
    if (address - ISA_CONST_BASE < ISA_CONST_STRIDE * ISA_CONST_BANK_COUNT) {
        *bank = (unsigned)((address - ISA_CONST_BASE) / ISA_CONST_STRIDE);
        *offset = (address - ISA_CONST_BASE) % ISA_CONST_STRIDE;
        return ISA_SPACE_CONST;
    }
    return ISA_SPACE_GLOBAL;
}

/** Returns the kind of fault of a global access for which emu_global_ok returned false. */
static enum emu_fault_kind global_fault(const struct emu_memory *memory, uint64_t address,
                                        unsigned bytes, bool write)
{
    const struct emu_alloc_record *record;

    if (address < EMU_PAGE_BYTES)
        return EMU_FAULT_NULL_PAGE;
    if (write && emu_global_ok(memory, memory->load_valid, address, bytes))
        return EMU_FAULT_READ_ONLY;
    record = emu_memory_find(memory, address);
    if (record == NULL && bytes > 1)
        record = emu_memory_find(memory, address + bytes - 1);
    return record != NULL && (record->flags & (EMU_ALLOC_FREED | EMU_ALLOC_RESERVED)) == EMU_ALLOC_FREED ? EMU_FAULT_FREED
                                                                                                         : EMU_FAULT_OUT_OF_BOUNDS;
}

enum emu_fault_kind emu_lane_address(const struct emu_warp *w, enum isa_space space,
                                  unsigned lane, uint64_t address, unsigned bytes, bool write,
                                  struct emu_host_address *out)
{
    const struct emu_memory *memory = &w->core->machine->memory;
    uint64_t offset = address;
    unsigned bank = 0;
    uint32_t limit;

    out->step = 4;
    out->host = NULL;
    if (space == ISA_SPACE_GENERIC || space == ISA_SPACE_CONST) {
        enum isa_space real = split_generic(address, &offset, &bank);
        if (space == ISA_SPACE_CONST && real != ISA_SPACE_CONST)
            return EMU_FAULT_OUT_OF_BOUNDS; /* the address is below constant bank 0, because the offset was negative */
        space = real;
    }
    out->space = (uint8_t)space;
    if (space == ISA_SPACE_GLOBAL) {
        if (!emu_global_ok(memory, write ? memory->store_valid : memory->load_valid, address,
                           bytes))
            return global_fault(memory, address, bytes, write);
        out->host = memory->host + (address - ISA_GLOBAL_BASE);
        return EMU_FAULT_NONE;
    }
    const uint8_t *data = w->block->shared;
    if (space == ISA_SPACE_SHARED)
        limit = w->block->shared_bytes;
    else if (space == ISA_SPACE_LOCAL)
        limit = w->local_bytes;
    else
        data = emu_const_bank(w, bank, &limit);
    if (offset >= limit || bytes > limit - offset)
        return EMU_FAULT_OUT_OF_BOUNDS;
    if (space == ISA_SPACE_CONST && write)
        return EMU_FAULT_READ_ONLY;
    if (space == ISA_SPACE_LOCAL) {
        data = w->local;
        offset = (offset / 4 * w->n + lane) * 4 + offset % 4;
        out->step = w->n * 4;
    }
    out->host = (uint8_t *)(uintptr_t)data + offset; /* the cast removes const; constant data is nevertheless only read */
    return EMU_FAULT_NONE;
}

enum emu_fault_kind emu_resolve(const struct emu_warp *w, unsigned lane, uint64_t address,
                                unsigned bytes, bool write, enum isa_space *space)
{
    struct emu_host_address target;
    enum emu_fault_kind kind =
        emu_lane_address(w, ISA_SPACE_GENERIC, lane, address, bytes, write, &target);

    *space = (enum isa_space)target.space;
    return kind;
}

/* ---- addresses of an instruction ------------------------------------------------- */

/* texture fetches have no entry, because emu_texture.c computes their addresses */
#define KIND_LOAD EMU_IS(EMU_MEM_LOAD)
#define KIND_SCALAR_LOAD EMU_IS(EMU_MEM_LOAD)
#define KIND_STORE EMU_IS(EMU_MEM_STORE)
#define KIND_ATOMIC EMU_IS(EMU_MEM_ATOMIC)
#define KIND_REDUCE EMU_IS(EMU_MEM_REDUCE)
#define SPACE_LOAD(s) EMU_IS(ISA_SPACE_##s)
#define SPACE_SCALAR_LOAD SPACE_LOAD
#define SPACE_STORE SPACE_LOAD
#define SPACE_ATOMIC SPACE_LOAD
#define SPACE_REDUCE SPACE_LOAD
#define SPACE_FETCH SPACE_LOAD
#define INSN(id, mnemonic, format, opcode, unit, order, tag, flags, operands, semantics)           \
    [ISA_##id] = {EMU_BY_GROUP(KIND_, EMU_GROUP_##semantics, EMU_MEM_NONE), EMU_SECOND(SPACE_##semantics, 0, ~), \
                  ((flags) & ISA_F_SCALAR) != 0},
const struct emu_mem_info emu_mem_info[ISA_OP_COUNT] = {
#include "isa/insns.def"
};

unsigned emu_size_bytes(unsigned size)
{
    static const uint8_t bytes[] = {
        [ISA_SIZE_U8] = 1,   [ISA_SIZE_S8] = 1,    [ISA_SIZE_U16] = 2,
        [ISA_SIZE_S16] = 2,  [ISA_SIZE_B32] = 4,   [ISA_SIZE_B64] = 8,
        [ISA_SIZE_V2B32] = 8, [ISA_SIZE_V4B32] = 16, [ISA_SIZE_V2B64] = 16,
    };
    return size < LW_COUNT_OF(bytes) ? bytes[size] : 0;
}

void emu_addresses_raw(const struct emu_warp *w, const struct isa_insn *insn,
                       const struct emu_dinsn *di, uint64_t lanes, uint64_t *address)
{
    if (emu_mem_info[insn->op].scalar) {
        for (LW_EACH_BIT(l, lanes))
            address[l] = emu_scalar_address(w, di);
        return;
    }
    const uint32_t *low = emu_row(w, di->a), *high = emu_row(w, di->a + w->stride);
    enum isa_space space = (enum isa_space)emu_mem_info[insn->op].space;
    unsigned mode = EMU_MOD(insn, AMODE);
    uint64_t base = (uint64_t)(int64_t)di->disp;

    if (space == ISA_SPACE_CONST) {
        mode = ISA_AMODE_32;
        base += ISA_CONST_BASE + di->reg * ISA_CONST_STRIDE;
    }
    unsigned scale = 0;
    if (mode == ISA_AMODE_SU32 || mode == ISA_AMODE_SS32) {
        base += emu_scalar_pair(w, di->reg);
        scale = EMU_MOD(insn, ASCALE);
    }
    for (LW_EACH_BIT(l, lanes)) {
        uint64_t at = mode == ISA_AMODE_PAIR   ? (uint64_t)high[l] << 32 | low[l]
                      : mode == ISA_AMODE_SS32 ? (uint64_t)(int64_t)(int32_t)low[l]
                                               : low[l];
        address[l] = base + (at << scale);
    }
    /* Addresses in shared and local memory have 32 bits, and their sums wrap, because code from nvcc relies on this. */
    if (mode == ISA_AMODE_32 && (space == ISA_SPACE_SHARED || space == ISA_SPACE_LOCAL))
        for (LW_EACH_BIT(l, lanes))
            address[l] = (uint32_t)address[l];
}

void emu_addresses(const struct emu_warp *w, const struct isa_insn *insn,
                   const struct emu_dinsn *di, uint64_t lanes, uint64_t *address)
{
    enum isa_space space = (enum isa_space)emu_mem_info[insn->op].space;

    emu_addresses_raw(w, insn, di, lanes, address);
    if (space == ISA_SPACE_SHARED || space == ISA_SPACE_LOCAL)
        for (LW_EACH_BIT(l, lanes))
            address[l] += space == ISA_SPACE_SHARED ? ISA_SHARED_BASE : ISA_LOCAL_BASE;
}

/* ---- text of messages --------------------------------------------------------------- */

static const char *plural(uint64_t n)
{
    return n == 1 ? "" : "s";
}

/** Formats "'name' (13 bytes at 0x...)", or "an allocation (13 bytes at 0x...)" if the allocation has no name. */
static void name_allocation(const struct emu_alloc_record *record, char *text, size_t text_size)
{
    char room[ISA_SYMBOL_BYTES];

    snprintf(text, text_size, "%s%.60s%s (%llu byte%s at 0x%llx)",
             record->name[0] ? "'" : "an allocation", isa_symbol_text(record->name, room),
             record->name[0] ? "'" : "", (unsigned long long)record->size_bytes,
             plural(record->size_bytes), (unsigned long long)record->address);
}

/** Returns true if an address at this distance from an allocation probably belongs to it, so that the message names it. */
static bool is_near(const struct emu_alloc_record *record, uint64_t distance)
{
    return distance <= 1 << 20 || distance <= record->size_bytes;
}

/** Returns the allocation that the message of a fault names: the one that contains the first byte, or else the nearest one. Returns
 *  NULL if none is near. */
static const struct emu_alloc_record *subject_of(const struct emu_memory *memory, enum emu_fault_kind kind, uint64_t address, unsigned bytes)
{
    const struct emu_alloc_record *below, *above, *record = emu_memory_find(memory, address);
    uint64_t after = 0;

    if (record == NULL && kind == EMU_FAULT_FREED)
        record = emu_memory_find(memory, address + bytes - 1);
    if (record != NULL && (kind == EMU_FAULT_FREED || kind == EMU_FAULT_READ_ONLY || (record->flags & EMU_ALLOC_RESERVED) != 0))
        return record;
    emu_memory_neighbours(memory, address, &below, &above);
    if (below != NULL && address - below->address < below->size_bytes)
        return below;
    if (below != NULL)
        after = address - (below->address + below->size_bytes);
    if (above != NULL && is_near(above, above->address - address) && (below == NULL || above->address - address < after))
        return above;
    return below != NULL && is_near(below, after) ? below : NULL;
}

bool emu_fault_allocation(const struct emu_machine *machine, const struct emu_fault *fault, struct emu_allocation *out)
{
    const struct emu_alloc_record *record = NULL;
    bool inside;

    if (fault->bytes != 0 && (fault->space == ISA_SPACE_GLOBAL || fault->space == ISA_SPACE_GENERIC))
        record = subject_of(&machine->memory, fault->kind, fault->address, fault->bytes);
    return record != NULL && emu_allocation_at(machine, record->address, out, &inside);
}

static void describe_global(const struct emu_memory *memory, enum emu_fault_kind kind,
                            uint64_t address, unsigned bytes, char *text, size_t text_size)
{
    const struct emu_alloc_record *record = subject_of(memory, kind, address, bytes), *below, *above;
    char name[140];

    if (record == NULL) {
        emu_memory_neighbours(memory, address, &below, &above);
        snprintf(text, text_size, below == NULL && above == NULL ? "no memory is allocated" : "no allocation is near this address");
        return;
    }
    name_allocation(record, name, sizeof name);
    const bool contains = address - record->address < record->size_bytes;
    if (contains && (kind == EMU_FAULT_READ_ONLY || kind == EMU_FAULT_FREED)) {
        snprintf(text, text_size, "byte %llu of %s, which %s", (unsigned long long)(address - record->address), name,
                 kind == EMU_FAULT_FREED ? "was freed" : "is read-only for kernels");
        return;
    }
    if (contains && (record->flags & EMU_ALLOC_RESERVED) != 0) {
        snprintf(text, text_size, "reserved address to which no memory is mapped");
        return;
    }
    if (address < record->address) {
        uint64_t before = record->address - address;
        snprintf(text, text_size, "%llu byte%s before %s", (unsigned long long)before, plural(before), name);
    } else if (contains) {
        uint64_t outside = bytes - (record->size_bytes - (address - record->address));
        snprintf(text, text_size, "the last %llu byte%s of the access lie%s past the end of %s",
                 (unsigned long long)outside, plural(outside), outside == 1 ? "s" : "", name);
    } else {
        uint64_t after = address - (record->address + record->size_bytes);
        snprintf(text, text_size, "%llu byte%s past the end of %s", (unsigned long long)after, plural(after), name);
    }
}

#define STACK_REACH (UINT64_C(1) << 24) /* a number of bytes larger than any frame */

/** Returns true if an offset in local memory is below 0, as are a stack pointer and addresses relative to it after a stack
 *  overflow. The offset is a sum that is not reduced to 32 bits, so the result is also true if the base is below 0 and the sum
 *  modulo 2^32 would be in local memory. */
static bool is_below(uint64_t offset)
{
    return offset >= ISA_APERTURE_BYTES - STACK_REACH && offset < ISA_APERTURE_BYTES + STACK_REACH;
}

bool emu_fault_is_full_stack(const struct emu_machine *machine, const struct emu_fault *fault)
{
    const struct emu_program *program = emu_machine_program_at(machine, fault->pc);
    const struct isa_function *f;
    uint64_t offset = fault->address;
    unsigned bank;

    if (program == NULL || fault->kind != EMU_FAULT_OUT_OF_BOUNDS)
        return false;
    f = isa_object_function_at(emu_program_object(program),
                               (uint32_t)((fault->pc - emu_program_base(program)) / ISA_WORD_BYTES));
    if (f == NULL || f->kernel) /* a kernel's own frame always has memory */
        return false;
    if (fault->space == ISA_SPACE_LOCAL)
        return is_below(offset);
    return fault->space == ISA_SPACE_GENERIC && split_generic(fault->address, &offset, &bank) == ISA_SPACE_LOCAL &&
           is_below(offset);
}

static const char *stack_advice(const struct emu_machine *machine)
{
    return machine->stack_advice != NULL ? machine->stack_advice : "stack: in the launch file's program, or compile --stack";
}

void emu_describe_address(const struct emu_warp *w, enum emu_fault_kind kind,
                          enum isa_space space, uint64_t address, unsigned bytes, bool write,
                          char *text, size_t text_size)
{
    uint64_t offset = address;
    unsigned bank = 0;
    uint32_t limit = 0;

    if (space == ISA_SPACE_GENERIC || space == ISA_SPACE_CONST) {
        enum isa_space real = split_generic(address, &offset, &bank);
        space = space == ISA_SPACE_CONST ? ISA_SPACE_CONST : real;
    }
    if (kind == EMU_FAULT_MISALIGNED) {
        snprintf(text, text_size, "the address must be a multiple of %u, the access size", bytes);
        return;
    }
    if (kind == EMU_FAULT_NULL_PAGE) {
        snprintf(text, text_size, "the address is in the first %d bytes of memory: probably a null pointer",
                 EMU_PAGE_BYTES);
        return;
    }
    switch (space) {
    case ISA_SPACE_SHARED:
        snprintf(text, text_size, "the block has %u byte%s of shared memory%s", w->block->shared_bytes,
                 plural(w->block->shared_bytes),
                 w->block->shared_bytes == 0 ? ": request dynamic shared memory at the launch (the third value in <<<...>>>, clSetKernelArg with a "
                                               "size and NULL, or --shared BYTES)" : "");
        return;
    case ISA_SPACE_LOCAL:
        if (offset >= ISA_APERTURE_BYTES - STACK_REACH && offset < ISA_APERTURE_BYTES)
            snprintf(text, text_size,
                     "stack overflow: the address is %llu bytes below the local memory of the lane, which has %u "
                     "bytes; for recursion, set a larger stack (%s)",
                     (unsigned long long)(ISA_APERTURE_BYTES - offset), w->local_bytes, stack_advice(w->core->machine));
        else if (is_below(offset))
            snprintf(text, text_size,
                     "stack overflow: the base address is below the local memory of the lane, which has %u bytes; for "
                     "recursion, set a larger stack (%s)", w->local_bytes, stack_advice(w->core->machine));
        else
            snprintf(text, text_size, "each lane has %u byte%s of local memory", w->local_bytes,
                     plural(w->local_bytes));
        return;
    case ISA_SPACE_CONST:
        (void)emu_const_bank(w, bank, &limit);
        if (kind == EMU_FAULT_READ_ONLY)
            snprintf(text, text_size, "constant banks are read-only");
        else if (address - ISA_CONST_BASE >= ISA_CONST_STRIDE * ISA_CONST_BANK_COUNT)
            snprintf(text, text_size, "the offset into the constant bank is negative");
        else
            snprintf(text, text_size, "the access at offset %llu runs past the end: constant bank %u has %u byte%s",
                     (unsigned long long)offset, bank, limit, plural(limit));
        return;
    default:
        if (emu_machine_program_at(w->core->machine, address) != NULL)
            snprintf(text, text_size, "the address is in the program's code, which kernels cannot %s",
                     write ? "write" : "read");
        else
            describe_global(&w->core->machine->memory, kind, address, bytes, text, text_size);
    }
}

/* ---- copies by generic address ---------------------------------------------------------- */

enum copy_kind { COPY_READ, COPY_WRITE, COPY_FORCE /* COPY_FORCE: a write by a debugger, which may change read-only memory */ };

/** Copies code to @data, for debuggers only. */
static uint64_t copy_code(const struct emu_machine *machine, uint64_t address, uint8_t *data,
                          uint64_t size_bytes)
{
    for (const struct emu_program *p = machine->programs; p != NULL; p = p->next) {
        uint64_t offset = address - p->base, bytes = (uint64_t)p->count * ISA_WORD_BYTES;
        if (offset >= bytes)
            continue;
        uint64_t n = size_bytes < bytes - offset ? size_bytes : bytes - offset;
        memcpy(data, (const uint8_t *)p->object->text + offset, n);
        return n;
    }
    return 0;
}

/** Copies bytes of a global range from its start up to the first byte that is not accessible. Returns the number of bytes
 *  copied. */
static uint64_t copy_global(struct emu_memory *memory, uint64_t address, uint8_t *data,
                            uint64_t size_bytes, enum copy_kind kind)
{
    const uint16_t *valid = kind == COPY_WRITE ? memory->store_valid : memory->load_valid;
    uint64_t offset = address - ISA_GLOBAL_BASE, done = 0;

    while (done < size_bytes && offset < memory->bytes) {
        uint64_t in = offset % EMU_PAGE_BYTES, n = valid[offset / EMU_PAGE_BYTES];
        if (in >= n)
            break;
        n = n - in < size_bytes - done ? n - in : size_bytes - done;
        if (kind == COPY_READ) {
            memcpy(data + done, memory->host + offset, n);
        } else {
            memcpy(memory->host + offset, data + done, n);
            emu_memory_touch(memory, offset, n);
        }
        done += n;
        offset += n;
    }
    return done;
}

/** Copies a range of generic memory. @w NULL: only global memory and code are accessible. */
static uint64_t copy_generic(struct emu_machine *machine, const struct emu_warp *w,
                             unsigned lane, uint64_t address, uint8_t *data,
                             uint64_t size_bytes, enum copy_kind kind)
{
    uint64_t offset;
    unsigned bank;
    enum isa_space space = split_generic(address, &offset, &bank);
    uint32_t limit;

    if (space == ISA_SPACE_GLOBAL) {
        if (address >= ISA_GLOBAL_BASE)
            return copy_global(&machine->memory, address, data, size_bytes, kind);
        return kind == COPY_READ ? copy_code(machine, address, data, size_bytes) : 0;
    }
    if (w == NULL)
        return 0;
    if (space == ISA_SPACE_SHARED)
        limit = w->block->shared_bytes;
    else if (space == ISA_SPACE_LOCAL)
        limit = lane < w->width ? w->local_bytes : 0;
    else
        (void)emu_const_bank(w, bank, &limit);
    if (offset >= limit)
        return 0;
    if (size_bytes > limit - offset)
        size_bytes = limit - offset;
    if (space == ISA_SPACE_LOCAL) {
        for (uint64_t i = 0; i < size_bytes; i++) {
            uint64_t at = offset + i;
            uint8_t *host = w->local + (at / 4 * w->n + lane) * 4 + at % 4;
            if (kind == COPY_READ)
                data[i] = *host;
            else
                *host = data[i];
        }
    } else if (space == ISA_SPACE_SHARED) {
        if (kind == COPY_READ)
            memcpy(data, w->block->shared + offset, size_bytes);
        else
            memcpy(w->block->shared + offset, data, size_bytes);
    } else {
        if (kind != COPY_READ)
            return 0;
        memcpy(data, emu_const_bank(w, bank, &limit) + offset, size_bytes);
    }
    return size_bytes;
}

uint64_t emu_lane_copy(struct emu_warp *w, unsigned lane, uint64_t address, void *data,
                       uint64_t size_bytes, bool write)
{
    return copy_generic(w->core->machine, w, lane, address, data, size_bytes,
                        write ? COPY_WRITE : COPY_READ);
}

uint64_t emu_mem_peek(const struct emu_core *core, unsigned slot, unsigned warp, unsigned lane,
                      uint64_t address, void *data, uint64_t size_bytes)
{
    return copy_generic(core->machine, emu_warp_at(core, slot, warp), lane, address, data,
                        size_bytes, COPY_READ);
}

uint64_t emu_mem_poke(struct emu_core *core, unsigned slot, unsigned warp, unsigned lane,
                      uint64_t address, const void *data, uint64_t size_bytes)
{
    const struct emu_warp *w = emu_warp_at(core, slot, warp);
    struct emu_machine *machine = core->machine;
    /* The cast removes const; with COPY_FORCE, @data is only read. */
    uint64_t done = copy_generic(machine, w, lane, address, (uint8_t *)(uintptr_t)data, size_bytes,
                                 COPY_FORCE);
    struct emu_log_entry e = {.kind = EMU_LOG_MEMORY, .address = address, .size = done,
                              .bytes = data};

    if (done == 0 || !emu_log_is_recording(machine))
        return done;
    if (w != NULL)
        e.place = (struct emu_thread_ref){.grid = w->block->grid->sequence,
                                     .block = w->block->linear,
                                     .warp = warp,
                                     .split = lane};
    emu_log_add(machine->log, &e);
    return done;
}
