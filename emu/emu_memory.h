/* SPDX-License-Identifier: Apache-2.0 */
/* Global memory from the host's side: allocations, copies, textures. */
#ifndef EMU_MEMORY_H
#define EMU_MEMORY_H

#include "emu/emu_machine.h"

enum emu_alloc_flag {
    EMU_ALLOC_READ_ONLY = 1 << 0, /* guest stores fault; used for .const variables */
    EMU_ALLOC_WATCHED = 1 << 1,
    EMU_ALLOC_FREED = 1 << 2,
    EMU_ALLOC_MODULE = 1 << 3, /* the allocation is a module variable */
    EMU_ALLOC_PARAMETERS = 1 << 4, /* the allocation is a parameter buffer that a kernel requested */
    EMU_ALLOC_HEAP = 1 << 5,       /* the allocation was made by a kernel's malloc */
    EMU_ALLOC_LAUNCHED = 1 << 6,   /* the allocation is the parameter buffer of a launch that is not complete */
    EMU_ALLOC_RESERVED = 1 << 7,   /* with EMU_ALLOC_FREED: addresses that emu_reserve() has reserved, to which no memory is mapped */
    EMU_ALLOC_MAPPED = 1 << 8      /* memory that emu_map() has mapped to reserved addresses */
};
enum { EMU_RESERVE_BYTES = 1 << 21 };
/** A live or freed allocation, in the form in which users see it. */
struct emu_allocation {
    uint64_t address, size_bytes;
    unsigned flags;
    const char *name; /* owned by the machine; "": the allocation has no name */
};
/** Allocates zeroed global memory. An allocation starts at the beginning of a page, and the page after it stays free. A size of 0
 *  is allowed: the allocation then takes one page, in which no byte may be accessed. Errors: LW_ENOMEM when the arena is full. */
enum lw_status emu_alloc(struct emu_machine *machine, uint64_t size_bytes, const char *name,
                         unsigned flags, uint64_t *address, struct lw_error *err) LW_MUST_CHECK;
/** Allocates as emu_alloc() does, at @address. The pages of the allocation, and the page after them, must be free. With
 *  EMU_ALLOC_HEAP in @flags, kernels can free the allocation. Errors: LW_ERANGE if @address is not the start of a page in global
 *  memory, or the space is not free; LW_ENOMEM. */
enum lw_status emu_alloc_at(struct emu_machine *machine, uint64_t address, uint64_t size_bytes, const char *name, unsigned flags,
                            struct lw_error *err) LW_MUST_CHECK;
/** Returns the address above all allocations that were ever made, where the next one begins while there is space. */
uint64_t emu_alloc_end(const struct emu_machine *machine);
/** Returns the part of the limit emu_config.heap_bytes that live objects from kernels' malloc occupy. */
uint64_t emu_heap_used(const struct emu_machine *machine);
/** Lets later allocations begin at @address or above it, while there is space. Has no effect if emu_alloc_end() is above @address.
 *  Errors: LW_ERANGE if @address is not the start of a page in global memory. */
enum lw_status emu_alloc_from(struct emu_machine *machine, uint64_t address, struct lw_error *err) LW_MUST_CHECK;
/** Frees an allocation. Errors: LW_ENOENT when @address is not the start of a live allocation. */
enum lw_status emu_free(struct emu_machine *machine, uint64_t address, struct lw_error *err)
    LW_MUST_CHECK;
/** Reserves a range of addresses, to which emu_map() can map memory. No other allocation uses these addresses. @size_bytes must be a
 *  multiple of EMU_RESERVE_BYTES, and so is *@address. Errors: LW_ERANGE for another size; LW_ENOMEM when the arena is full. */
enum lw_status emu_reserve(struct emu_machine *machine, uint64_t size_bytes, uint64_t *address, struct lw_error *err) LW_MUST_CHECK;
/** Ends a reservation. Errors: LW_ENOENT if no reservation starts at @address; LW_ESTATE if memory is mapped to its addresses. */
enum lw_status emu_unreserve(struct emu_machine *machine, uint64_t address, struct lw_error *err) LW_MUST_CHECK;
/** Maps zeroed memory to reserved addresses. The memory is an allocation of its own, which emu_free() unmaps. Other
 *  mapped memory may follow its last page without a gap. @flags: 0 or EMU_ALLOC_READ_ONLY. Errors: LW_ERANGE if @address is not the
 *  beginning of a page, or the range is not in one reservation, or memory is mapped to a part of it. */
enum lw_status emu_map(struct emu_machine *machine, uint64_t address, uint64_t size_bytes, const char *name, unsigned flags,
                       struct lw_error *err) LW_MUST_CHECK;
/** Copies @size_bytes from global memory at @address to @data. All bytes must be in one live allocation, or in mapped memory
 *  without a gap. Errors: LW_ERANGE, with the address in the message. */
enum lw_status emu_global_read(const struct emu_machine *machine, uint64_t address, void *data,
                               uint64_t size_bytes, struct lw_error *err) LW_MUST_CHECK;
/** Copies as emu_global_read() does, but listeners are not notified, because the host does not use the data as a result. */
enum lw_status emu_global_peek(const struct emu_machine *machine, uint64_t address, void *data,
                               uint64_t size_bytes, struct lw_error *err) LW_MUST_CHECK;
/** Copies @size_bytes from @data to global memory at @address. All bytes must be in one live allocation, which may be
 *  read-only for guests. Errors: LW_ERANGE, with the address in the message. */
enum lw_status emu_global_write(struct emu_machine *machine, uint64_t address, const void *data,
                                uint64_t size_bytes, struct lw_error *err) LW_MUST_CHECK;
/** Returns the number of bytes from @address on that the host may access: up to the end of the live allocation that contains @address,
 *  and of mapped memory that follows it without a gap. Returns 0 if there is no such allocation. */
uint64_t emu_global_bytes(const struct emu_machine *machine, uint64_t address);
/** Finds the live or freed allocation that contains @address, and sets *inside to true. If no allocation contains @address, finds
 *  the nearest allocation below @address, and sets *inside to false. Returns false if there is no allocation at or below
 *  @address. */
bool emu_allocation_at(const struct emu_machine *machine, uint64_t address,
                       struct emu_allocation *out, bool *inside);
unsigned emu_allocation_count(const struct emu_machine *machine);
bool emu_allocation_get(const struct emu_machine *machine, unsigned index,
                        struct emu_allocation *out);

/** Lets the host access an allocation directly, at the same address that the device uses. Returns the start of the live
 *  allocation that contains @address. From now on the pages of the allocation count as written. Listeners are notified once, of a
 *  write to the whole allocation, and not of the host's accesses. Returns NULL if no live allocation contains @address, or if the host address of this machine's memory
 *  differs from its device address (both addresses are equal in only one machine of a process). */
void *emu_global_share(struct emu_machine *machine, uint64_t address);
/** Copies within global memory, as a host step; the ranges may overlap. Errors: LW_ERANGE, with the address in the message. */
enum lw_status emu_global_copy(struct emu_machine *machine, uint64_t to, uint64_t from,
                               uint64_t size_bytes, struct lw_error *err) LW_MUST_CHECK;

/** Sets the limit of the memory that kernels get from malloc (emu_config.heap_bytes). Objects that kernels have allocated remain,
 *  so the limit is at least their size. The new limit is not recorded in a log. */
void emu_heap_limit(struct emu_machine *machine, uint32_t bytes);

/** Sets what the message of a stack overflow names as the means to set a larger stack. At first it is a key of launch files and an
 *  option. The text is borrowed. */
void emu_stack_advise(struct emu_machine *machine, const char *advice);

/** Type of a texel's components. */
enum emu_texel_kind { EMU_TEXEL_UNSIGNED, EMU_TEXEL_SIGNED, EMU_TEXEL_FLOAT };
/** Edge modes: the value of a fetch with a float coordinate outside the texture. WRAP and MIRROR apply only to normalised
 *  coordinates; for other coordinates they act as CLAMP. BORDER reads zeros. */
enum emu_texture_edge {
    EMU_TEXTURE_WRAP, EMU_TEXTURE_CLAMP, EMU_TEXTURE_MIRROR, EMU_TEXTURE_BORDER
};
enum { EMU_TEXTURE_AXES = 3, EMU_TEXTURE_MAX_DEPTH = 65535 };
/** Texture in global memory, from which `tex` fetches texels (docs/reference/memory.md). Planes follow one another without a
 *  gap: a plane has `height` rows, or one row if the height is 0. */
struct emu_texture {
    uint64_t address;         /* address of the first texel */
    uint32_t width, height;   /* size in texels; height 0: a plane has one dimension */
    uint32_t depth;           /* number of planes; 0: the texture is one plane */
    uint32_t pitch_bytes;     /* bytes from the start of a row of texels to the start of the next row */
    bool layers;              /* planes, or the cubes of six planes, are layers, which a fetch selects by a number */
    bool cube;                /* six planes are the faces of a cube */
    bool linear;              /* a fetch interpolates between texels */
    uint8_t bits, components; /* bits of a component, 8, 16 or 32; components of a texel, 1, 2 or 4 */
    enum emu_texel_kind kind;
    bool normalized_values; /* integers are read as floats: unsigned values as 0 to 1, signed values as -1 to 1 */
    bool normalized_coords; /* float coordinates range from 0 to 1 */
    enum emu_texture_edge edge[EMU_TEXTURE_AXES];
};
enum { EMU_TEXTURE_BYTES = 32 };
/** Writes the descriptor of @texture, EMU_TEXTURE_BYTES, to global memory at @handle, which is a multiple of 8. If @texture is
 *  NULL, writes a descriptor that means "no texture". The write is a host step, as emu_global_write is. The addresses in the
 *  descriptor are checked when a kernel fetches. Errors: LW_EINPUT for an invalid texture; LW_ERANGE. */
enum lw_status emu_texture_bind(struct emu_machine *machine, uint64_t handle,
                                const struct emu_texture *texture, struct lw_error *err)
    LW_MUST_CHECK;
/** Reads the descriptor at @handle. Returns false if there is no descriptor, or if the descriptor means "no texture". */
bool emu_texture_get(const struct emu_machine *machine, uint64_t handle, struct emu_texture *out);

/** Computes hash_mem of MACHINE 4: a hash of the live global allocations, in address order, and of the printed text. */
uint64_t emu_hash_mem(const struct emu_machine *machine);

#endif
