/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory instructions: declarations that their files share.
 *
 *   emu_mem_general_body.h  affine rows and gathers within one allocation; compiled once per level
 *   emu_mem_fast_body.h     the common forms in one move, and atomics
 *   emu_mem_slow.c          all other accesses, one lane at a time, and all faults; atomics
 *   emu_address.c           address spaces as a lane and as a debugger see them
 *   emu_texture.c           texels through descriptors in global memory
 *   emu_memory.c            global memory itself
 *
 * An address is *as computed* or *generic*. An address as computed is an offset for shared and local memory, and a
 * generic address for the other spaces and for constant banks.
 */
#ifndef EMU_MEM_PRIV_H
#define EMU_MEM_PRIV_H

#include "emu/emu_machine_priv.h"

/** Bits of emu_memory.dirty. Stores set both bits; history clears only the first. */
enum { EMU_DIRTY_CHANGED = 1, EMU_DIRTY_TOUCHED = 2, EMU_DIRTY_STORE = 3 };

/** Bit of emu_dinsn.flags for loads and stores of global memory outside of loops (emu_decode.c): later warps usually
 *  access memory at a fixed distance, which is prefetched if the addresses of a row are consecutive. */
enum { EMU_D_AHEAD = 4, EMU_AHEAD_BYTES = 1024 };
/** Bit of emu_dinsn.flags for loads that have a struct emu_chain. */
enum { EMU_D_CHAIN = 8 };

/** Handles the first store to a page since the page was clean (emu_memory.c). */
void emu_dirty_first(struct emu_memory *memory, uint64_t page);

/** Prefetch after a load in a loop (EMU_D_CHAIN) whose words are indices of another access. The prefetch reads the
 *  locations that the other access will use with the words that this load gets in the next iteration. bfs takes 0.24 s
 *  with the prefetch and 0.37 s without it. */
struct emu_chain {
    int32_t advance;   /* bytes from this iteration's word to the next iteration's word */
    int32_t disp;      /* displacement of the other access: [s[base]:s[base + 1] + (word << scale) + disp] */
    uint8_t base, scale;
    bool is_signed;
};

/** Cache of an instruction: the allocation that its last scattered access used. */
struct emu_icache {
    uint64_t base, limit; /* guest addresses, [base, limit) */
};
/** Caches an allocation for instruction @index. */
static inline void emu_icache_set(struct emu_code *code, uint32_t index, uint64_t base,
                                  uint64_t limit)
{
    if (code->icache[index].limit == 0)
        code->cached[code->cached_count++] = index;
    code->icache[index] = (struct emu_icache){.base = base, .limit = limit};
}

/** Marks a page before a store to it. The mark is tested before it is set, because cores of other threads share the
 *  cache line. The atomics compile to the same instructions as plain accesses, but their behaviour is defined for
 *  concurrent threads. */
static inline void emu_dirty_mark(struct emu_memory *memory, uint64_t page)
{
    if (__builtin_expect(__atomic_load_n(&memory->dirty[page], __ATOMIC_RELAXED) !=
                             EMU_DIRTY_STORE, 0))
        emu_dirty_first(memory, page);
}

/** Marks the pages of a range, @offset from the start of the arena, @bytes >= 1. */
static inline void emu_memory_touch(struct emu_memory *memory, uint64_t offset, uint64_t bytes)
{
    uint64_t page = offset / EMU_PAGE_BYTES, last = (offset + bytes - 1) / EMU_PAGE_BYTES;

    do
        emu_dirty_mark(memory, page);
    while (page++ < last);
}

/** Allocates memory for device code. This is not a host step, so no log has the allocation. */
enum lw_status emu_memory_alloc(struct emu_machine *machine, uint64_t size_bytes, const char *name,
                                unsigned flags, uint64_t *address, struct lw_error *err)
    LW_MUST_CHECK;
/** Allocates the host's pages of a large allocation that was never used, just before a kernel or a copy uses it. So an
 *  allocation that is freed without use takes no time for its pages. */
void emu_memory_populate(const struct emu_machine *machine, uint64_t address);
/** Marks the parameter buffer at @address as used by a launch that is not complete. */
void emu_memory_give_to_launch(struct emu_machine *machine, uint64_t address);
/** Frees memory that emu_memory_alloc() returned; not a host step. Errors: LW_ENOENT if no live allocation starts at
 *  @address. */
enum lw_status emu_memory_free(struct emu_machine *machine, uint64_t address,
                               struct lw_error *err) LW_MUST_CHECK;

/** Finds the live allocations next to @address: the last allocation that starts at or below @address, and the first
 *  that starts above it; NULL where there is none. */
void emu_memory_neighbours(const struct emu_memory *memory, uint64_t address,
                           const struct emu_alloc_record **below,
                           const struct emu_alloc_record **above);

/* Positions of modifier fields in isa_insn.mod, from the table. */
enum {
#define MOD(id, formats, lsb, bits, deflt, summary)                                           \
    EMU_MOD_##id = (lsb) - 80, EMU_MOD_##id##_MASK = (1 << (bits)) - 1,
#define VALUE(...)
#include "isa/mods.def"
};
#define EMU_MOD(insn, id) ((insn)->mod >> EMU_MOD_##id & (unsigned)EMU_MOD_##id##_MASK)

/** Class of a memory instruction. */
enum emu_mem_class { EMU_MEM_NONE, EMU_MEM_LOAD, EMU_MEM_STORE, EMU_MEM_ATOMIC, EMU_MEM_REDUCE };
struct emu_mem_info {
    uint8_t mem_class; /* enum emu_mem_class */
    uint8_t space;     /* enum isa_space */
    bool scalar;       /* the address is the same for the whole warp */
};
extern const struct emu_mem_info emu_mem_info[ISA_OP_COUNT];

/** Returns the number of bytes that a lane moves by modifier SIZE; 0: there is no such value. */
unsigned emu_size_bytes(unsigned size);
/** Returns the number of bytes that a lane moves by modifier ATYPE; 0: there is no such value, or it is not supported. */
unsigned emu_atype_bytes(unsigned atype);

/** Returns a constant bank of a warp and its size in bytes; NULL when there is none. */
const uint8_t *emu_const_bank(const struct emu_warp *w, unsigned bank, uint32_t *bytes);

static inline uint64_t emu_scalar_pair(const struct emu_warp *w, unsigned reg)
{
    return reg < 127 ? (uint64_t)w->s[reg + 1] << 32 | w->s[reg] : 0; /* sz and higher numbers read as zero */
}

/** Returns the address of a scalar load: the sum of a register pair and an index, or an index in a constant bank. */
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

/** Computes the addresses of the lanes (*as computed*). */
void emu_addresses_raw(const struct emu_warp *w, const struct isa_insn *insn,
                       const struct emu_dinsn *di, uint64_t lanes, uint64_t *address);

/** Host location of one lane's access. */
struct emu_host_address {
    uint8_t *host;
    uint32_t step;  /* bytes from a 4-byte word of the access to the following word */
    uint8_t space;  /* space after resolution */
};
/** Checks one lane's access exactly. @address is as computed for @space. */
enum emu_fault_kind emu_lane_address(const struct emu_warp *w, enum isa_space space,
                                   unsigned lane, uint64_t address, unsigned bytes, bool write,
                                   struct emu_host_address *out);

/** Executes tex. Returns false if it raised a fault; in that case no state was changed. */
bool emu_texture_fetch(struct emu_warp *w, const struct emu_dinsn *di, uint64_t lanes);
/** Returns the lanes of @lanes that fetch a texel, and gets their addresses and the bytes of a texel. */
uint64_t emu_texture_addresses(const struct emu_warp *w, const struct isa_insn *insn,
                               const struct emu_dinsn *di, uint64_t lanes, uint64_t *address,
                               unsigned *bytes);
/** Returns NULL, or a clause that says why the fetch is not supported. */
const char *emu_texture_refused(const struct isa_insn *insn);

/** Executes the load or store @di for @lanes, one lane after the other; exact. Returns false if it raised a
 *  fault: then nothing was changed. */
bool emu_mem_slow(struct emu_warp *w, const struct emu_dinsn *di, uint64_t lanes);
/** Executes the atomic or reduction @di for @lanes, one lane after the other, as emu_mem_slow() does for loads. */
bool emu_atomic(struct emu_warp *w, const struct emu_dinsn *di, uint64_t lanes);
/** Executes an atomic for lanes that were checked, with their pages marked: lane l's location is host +
 *  (off[l] ^ flip). @global: in global memory, which other threads may access. */
void emu_atomic_rows(struct emu_warp *w, const struct emu_dinsn *di, uint64_t lanes,
                     uint8_t *host, const uint32_t *off, uint32_t flip, bool global);

/** Sets @space to the space of a lane's generic address. Returns EMU_FAULT_NONE, or the fault that an access
 *  causes. */
enum emu_fault_kind emu_resolve(const struct emu_warp *w, unsigned lane, uint64_t address,
                                unsigned bytes, bool write, enum isa_space *space);
/** Copies to or from any mapped memory of a lane, byte by byte where necessary. Returns the number of bytes. */
uint64_t emu_lane_copy(struct emu_warp *w, unsigned lane, uint64_t address, void *data,
                       uint64_t size_bytes, bool write);
/** Computes the generic addresses of the lanes of @lanes of a memory instruction, one lane at a time, for
 *  events and faults. */
void emu_addresses(const struct emu_warp *w, const struct isa_insn *insn,
                   const struct emu_dinsn *di, uint64_t lanes, uint64_t *address);
/** Formats a clause for a memory fault of @kind: the nearest allocation and its distance, or the name of the allocation
 *  that was freed or is read-only. @address is as in emu_raise_memory: an offset in its space for shared and local,
 *  otherwise a generic address. */
void emu_describe_address(const struct emu_warp *w, enum emu_fault_kind kind,
                          enum isa_space space, uint64_t address, unsigned bytes, bool write,
                          char *text, size_t text_size);

#endif
