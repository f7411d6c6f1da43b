/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Declarations shared by the files that execute memory instructions.
 *
 *   emu_mem_general_body.h  affine addresses, and scattered addresses in one allocation; compiled once per level
 *   emu_mem_fast_body.h     the common address layouts, each by one copy; atomics
 *   emu_mem_slow.c          all other accesses, lane by lane, and all faults; atomics
 *   emu_address.c           address spaces, as a lane and as a debugger see them
 *   emu_texture.c           texels, through descriptors in global memory
 *   emu_texture_sample.c    coordinates and weights of texels
 *   emu_memory.c            global memory itself
 *
 * An address is either *as computed* or *generic*. As computed by an instruction, an address in shared or local memory is an
 * offset; in the other spaces, and in constant banks, it is a generic address.
 */
#ifndef EMU_MEM_PRIV_H
#define EMU_MEM_PRIV_H

#include "emu/emu_machine_priv.h"

/** Bits of emu_memory.dirty for a page. A store sets both bits. History clears CHANGED, but not TOUCHED. */
enum { EMU_DIRTY_CHANGED = 1, EMU_DIRTY_TOUCHED = 2, EMU_DIRTY_STORE = 3 };

/** Bit of emu_dinsn.flags for loads and stores of global memory outside of loops (emu_decode.c). Later warps usually access
 *  memory at a fixed distance from this warp. If the addresses of an access are consecutive, the handler therefore prefetches the
 *  memory EMU_AHEAD_BYTES past the access. */
enum { EMU_D_AHEAD = 4, EMU_AHEAD_BYTES = 1024 };
/** Bit of emu_dinsn.flags for loads that have a struct emu_chain. */
enum { EMU_D_CHAIN = 8 };

/** Prepares a clean page for its first store (emu_memory.c). */
void emu_dirty_first(struct emu_memory *memory, uint64_t page);

/** Prefetch at a load in a loop (EMU_D_CHAIN) whose words are the indices of another access. The words that the load will get in
 *  the next iteration are already used to prefetch the locations of the other access. The benchmark bfs takes 0.24 s with this
 *  prefetch and 0.37 s without it. */
struct emu_chain {
    int32_t advance;   /* bytes from the word that the load gets in one iteration to the word that it gets in the next one */
    int32_t disp;      /* displacement of the other access: [s[base]:s[base + 1] + (word << scale) + disp] */
    uint8_t base, scale;
    bool is_signed;
};

/** Cache of an instruction: the allocation that its last scattered access used, as guest addresses [base, limit). */
struct emu_icache {
    uint64_t base, limit; /* limit 0: the cache is empty */
};
/** Sets the allocation cache of instruction @index. */
static inline void emu_icache_set(struct emu_code *code, uint32_t index, uint64_t base,
                                  uint64_t limit)
{
    if (code->icache[index].limit == 0)
        code->cached[code->cached_count++] = index;
    code->icache[index] = (struct emu_icache){.base = base, .limit = limit};
}

/** Marks a page before a store to it. The mark is tested before it is set, because other host threads use its cache line, too.
 *  The atomic accesses compile to plain ones, and make concurrent use well-defined in C. */
static inline void emu_dirty_mark(struct emu_memory *memory, uint64_t page)
{
    if (__builtin_expect(__atomic_load_n(&memory->dirty[page], __ATOMIC_RELAXED) !=
                             EMU_DIRTY_STORE, 0))
        emu_dirty_first(memory, page);
}

/** Marks the pages of a range, which starts at offset @offset of the arena. @bytes is at least 1. */
static inline void emu_memory_touch(struct emu_memory *memory, uint64_t offset, uint64_t bytes)
{
    uint64_t page = offset / EMU_PAGE_BYTES, last = (offset + bytes - 1) / EMU_PAGE_BYTES;

    do
        emu_dirty_mark(memory, page);
    while (page++ < last);
}

/** Allocates memory at the request of device code. The allocation is no host step, so it is not recorded in a log. */
enum lw_status emu_memory_alloc(struct emu_machine *machine, uint64_t size_bytes, const char *name,
                                unsigned flags, uint64_t *address, struct lw_error *err)
    LW_MUST_CHECK;
/** Lets the host allocate all pages of a large allocation that was never used, immediately before a kernel or a copy uses it. An
 *  earlier allocation of the pages would take time even if the memory is freed unused. */
void emu_memory_populate(const struct emu_machine *machine, uint64_t address);
/** Marks the parameter buffer at @address as used by a launch that is not complete. */
void emu_memory_give_to_launch(struct emu_machine *machine, uint64_t address);
/** Frees memory that emu_memory_alloc() returned; not a host step. Errors: LW_ENOENT if no live allocation starts at
 *  @address. */
enum lw_status emu_memory_free(struct emu_machine *machine, uint64_t address,
                               struct lw_error *err) LW_MUST_CHECK;

/** Finds the live allocations around @address: *@below is the last allocation that starts at or below @address, *@above the first
 *  allocation that starts above it. If there is no such allocation, *@below or *@above is NULL. */
void emu_memory_neighbours(const struct emu_memory *memory, uint64_t address,
                           const struct emu_alloc_record **below,
                           const struct emu_alloc_record **above);

/* Position and mask in isa_insn.mod of each field of modifiers, from the instruction table. */
enum {
#define MOD(id, formats, lsb, bits, deflt, summary)                                           \
    EMU_MOD_##id = (lsb) - 80, EMU_MOD_##id##_MASK = (1 << (bits)) - 1,
#define VALUE(...)
#include "isa/mods.def"
};
#define EMU_MOD(insn, id) ((insn)->mod >> EMU_MOD_##id & (unsigned)EMU_MOD_##id##_MASK)

/** How an instruction accesses memory. */
enum emu_mem_class { EMU_MEM_NONE, EMU_MEM_LOAD, EMU_MEM_STORE, EMU_MEM_ATOMIC, EMU_MEM_REDUCE };
struct emu_mem_info {
    uint8_t mem_class; /* enum emu_mem_class */
    uint8_t space;     /* enum isa_space */
    bool scalar;       /* the instruction has one address for the whole warp */
};
extern const struct emu_mem_info emu_mem_info[ISA_OP_COUNT];

/** Returns the number of bytes that each lane accesses, for a value of modifier SIZE, or 0 if the value is invalid. */
unsigned emu_size_bytes(unsigned size);
/** Returns the number of bytes that each lane accesses, for a value of modifier ATYPE, or 0 if the value is invalid or not
 *  supported. */
unsigned emu_atype_bytes(unsigned atype);

/** Returns the host address of a constant bank of a warp, and gets its size in bytes. Returns NULL if the bank does not exist. */
const uint8_t *emu_const_bank(const struct emu_warp *w, unsigned bank, uint32_t *bytes);

static inline uint64_t emu_scalar_pair(const struct emu_warp *w, unsigned reg)
{
    return reg < 127 ? (uint64_t)w->s[reg + 1] << 32 | w->s[reg] : 0; /* sz and all higher register numbers read as zero */
}

/** Returns the address of a scalar load: a register pair plus an index, or an index in a constant bank. */
static inline uint64_t emu_scalar_address(const struct emu_warp *w, const struct emu_dinsn *di)
{
    uint64_t base = (uint64_t)(int64_t)di->disp;

    if (emu_mem_info[di->op].space == ISA_SPACE_CONST)
        return base + ISA_CONST_BASE + di->q * ISA_CONST_STRIDE + (di->p < 128 ? w->s[di->p] : 0);
    return base + emu_scalar_pair(w, di->p) + (di->c < 128 ? w->s[di->c] : 0);
}

static inline const struct isa_insn *emu_insn_of(const struct emu_warp *w,
                                                 const struct emu_dinsn *di)
{
    return &w->code->program->insn[di->index];
}

/** Computes the addresses of the lanes @lanes of a memory instruction, *as computed*. */
void emu_addresses_raw(const struct emu_warp *w, const struct isa_insn *insn,
                       const struct emu_dinsn *di, uint64_t lanes, uint64_t *address);

/** Location in host memory of one lane's access. */
struct emu_host_address {
    uint8_t *host;
    uint32_t step;  /* distance in bytes from a 4-byte word of the access to the next word */
    uint8_t space;  /* enum isa_space; a generic address is resolved */
};
/** Checks the access of one lane exactly, and gets its host address. @address is *as computed* for @space. */
enum emu_fault_kind emu_lane_address(const struct emu_warp *w, enum isa_space space,
                                   unsigned lane, uint64_t address, unsigned bytes, bool write,
                                   struct emu_host_address *out);

/** Executes tex for @lanes. Returns false if a fault was raised; nothing has then changed. */
bool emu_texture_fetch(struct emu_warp *w, const struct emu_dinsn *di, uint64_t lanes);
/** Returns those lanes of @lanes that fetch a texel, and gets their addresses and the size of a texel. */
uint64_t emu_texture_addresses(const struct emu_warp *w, const struct isa_insn *insn,
                               const struct emu_dinsn *di, uint64_t lanes, uint64_t *address,
                               unsigned *bytes);
/** Returns a clause that states why the form of texture fetch is not supported, or NULL if it is supported. */
const char *emu_texture_refused(const struct isa_insn *insn);

/** Executes the load or store @di for @lanes, one lane after the other, with exact checks. Returns false if a fault was raised;
 *  nothing has then changed. */
bool emu_mem_slow(struct emu_warp *w, const struct emu_dinsn *di, uint64_t lanes);
/** Executes the atomic or reduction @di for @lanes, one lane after the other. Returns false if a fault was raised; nothing has
 *  then changed. */
bool emu_atomic(struct emu_warp *w, const struct emu_dinsn *di, uint64_t lanes);
/** Executes an atomic for lanes whose addresses are already checked and whose pages are marked. Lane l accesses host + (off[l] ^
 *  flip). @global: the memory is global, so that other host threads may access it. */
void emu_atomic_rows(struct emu_warp *w, const struct emu_dinsn *di, uint64_t lanes,
                     uint8_t *host, const uint32_t *off, uint32_t flip, bool global);

/** Sets @space to the space of a lane's generic address. Returns EMU_FAULT_NONE, or the kind of fault that an access would
 *  raise. */
enum emu_fault_kind emu_resolve(const struct emu_warp *w, unsigned lane, uint64_t address,
                                unsigned bytes, bool write, enum isa_space *space);
/** Copies between @data and any memory that a lane can access. Returns the number of bytes copied, from the start of the range
 *  on. */
uint64_t emu_lane_copy(struct emu_warp *w, unsigned lane, uint64_t address, void *data,
                       uint64_t size_bytes, bool write);
/** Computes the generic addresses of lanes @lanes of a memory instruction, for events and faults. */
void emu_addresses(const struct emu_warp *w, const struct isa_insn *insn,
                   const struct emu_dinsn *di, uint64_t lanes, uint64_t *address);
/** Formats a clause for the message of a memory fault of @kind. The clause names the nearest allocation and its distance, or the
 *  allocation that was freed or is read-only. @address is, as for emu_raise_memory(), an offset in shared and local memory,
 *  otherwise a generic address. */
void emu_describe_address(const struct emu_warp *w, enum emu_fault_kind kind,
                          enum isa_space space, uint64_t address, unsigned bytes, bool write,
                          char *text, size_t text_size);

#endif
