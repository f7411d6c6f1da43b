/* SPDX-License-Identifier: Apache-2.0 */
/* Global memory as the host sees it: allocations, copies, textures. */
#ifndef EMU_MEMORY_H
#define EMU_MEMORY_H

#include "emu/emu_machine.h"

enum emu_alloc_flag {
    EMU_ALLOC_READ_ONLY = 1 << 0, /* guest stores fault; .const variables */
    EMU_ALLOC_WATCHED = 1 << 1,
    EMU_ALLOC_FREED = 1 << 2,
    EMU_ALLOC_MODULE = 1 << 3, /* module variable */
    EMU_ALLOC_PARAMETERS = 1 << 4, /* parameter buffer that a kernel requested */
    EMU_ALLOC_HEAP = 1 << 5,       /* from a kernel's malloc */
    EMU_ALLOC_LAUNCHED = 1 << 6    /* a parameter buffer that belongs to a launch which is not complete */
};
/** A live or freed allocation, as shown to users. */
struct emu_allocation {
    uint64_t address, size_bytes;
    unsigned flags;
    const char *name; /* owned by the machine; "" for none */
};
/** Allocates zeroed global memory, which starts at the beginning of a page; a free page follows it. A size
 *  of 0 is allowed (one page without valid bytes). Errors: LW_ENOMEM when the arena is full. */
enum lw_status emu_alloc(struct emu_machine *machine, uint64_t size_bytes, const char *name,
                         unsigned flags, uint64_t *address, struct lw_error *err) LW_MUST_CHECK;
/** Frees an allocation. Errors: LW_ENOENT when @address is not the start of a live allocation. */
enum lw_status emu_free(struct emu_machine *machine, uint64_t address, struct lw_error *err)
    LW_MUST_CHECK;
/** Copies @size_bytes from global memory at @address to @data. All bytes must be in one live allocation. Errors:
 *  LW_ERANGE, with the address in the message. */
enum lw_status emu_global_read(const struct emu_machine *machine, uint64_t address, void *data,
                               uint64_t size_bytes, struct lw_error *err) LW_MUST_CHECK;
/** Copies @size_bytes from @data to global memory at @address. All bytes must be in one live allocation, which may be
 *  read-only for guests. Errors: LW_ERANGE, with the address in the message. */
enum lw_status emu_global_write(struct emu_machine *machine, uint64_t address, const void *data,
                                uint64_t size_bytes, struct lw_error *err) LW_MUST_CHECK;
/** Finds the allocation, live or freed, that contains @address, or else the nearest allocation below @address (*inside
 *  is then false). Returns false when there is none. */
bool emu_allocation_at(const struct emu_machine *machine, uint64_t address,
                       struct emu_allocation *out, bool *inside);
unsigned emu_allocation_count(const struct emu_machine *machine);
bool emu_allocation_get(const struct emu_machine *machine, unsigned index,
                        struct emu_allocation *out);

/** Returns the allocation that contains @address for direct access by the host, at the address that the device uses.
 *  The pages of the allocation count as written from now on, and no listener is notified of the host's accesses.
 *  Returns NULL if no live allocation contains @address, or if the memory of this machine has other addresses on the
 *  host (only one machine of a process has the same addresses). */
void *emu_global_share(struct emu_machine *machine, uint64_t address);
/** Copies inside global memory, as a host step; the ranges may overlap. Errors: LW_ERANGE with address. */
enum lw_status emu_global_copy(struct emu_machine *machine, uint64_t to, uint64_t from,
                               uint64_t size_bytes, struct lw_error *err) LW_MUST_CHECK;

/** Type of a texel's components. */
enum emu_texel_kind { EMU_TEXEL_UNSIGNED, EMU_TEXEL_SIGNED, EMU_TEXEL_FLOAT };
/** Meaning of a float coordinate outside the texture. WRAP and MIRROR need normalized coordinates; for other
 *  coordinates they have the effect of CLAMP. BORDER reads zeros. */
enum emu_texture_edge {
    EMU_TEXTURE_WRAP, EMU_TEXTURE_CLAMP, EMU_TEXTURE_MIRROR, EMU_TEXTURE_BORDER
};
/** Texture in global memory, as `tex` fetches from it without filtering (docs/reference/memory.md). */
struct emu_texture {
    uint64_t address;         /* address of the first texel */
    uint32_t width, height;   /* size in texels; height 0: one dimension */
    uint32_t pitch_bytes;     /* distance of rows */
    uint8_t bits, components; /* bits 8, 16 or 32; components 1, 2 or 4 */
    enum emu_texel_kind kind;
    bool normalized_values; /* integers are read as floats: unsigned 0..1, signed -1..1 */
    bool normalized_coords; /* float coordinates range from 0 to 1 */
    enum emu_texture_edge edge[2];
};
enum { EMU_TEXTURE_BYTES = 32 };
/** Writes the descriptor of @texture (NULL: of no texture) to EMU_TEXTURE_BYTES of global memory at @handle,
 *  a multiple of 8; a host step like emu_global_write. The addresses in the descriptor are checked when a kernel
 *  fetches. Errors: LW_EINPUT, an invalid texture; LW_ERANGE. */
enum lw_status emu_texture_bind(struct emu_machine *machine, uint64_t handle,
                                const struct emu_texture *texture, struct lw_error *err)
    LW_MUST_CHECK;
/** Reads a descriptor. Returns false if there is no texture at @handle, or if it is not bound. */
bool emu_texture_get(const struct emu_machine *machine, uint64_t handle, struct emu_texture *out);

/** Computes hash_mem of MACHINE 4: live global allocations in address order, and printed text. */
uint64_t emu_hash_mem(const struct emu_machine *machine);

#endif
