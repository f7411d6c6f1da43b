/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Compact mode: a register whose tag is U or A has no register row until an instruction or a debugger needs one.
 *
 *  emu_tag_plan.c      determines, when a program is decoded, which instructions work on tags: these instructions compute the
 *                      base and stride of their result instead of its lanes
 *  emu_compact.c       handlers of these instructions, and functions that materialise registers for ordinary handlers
 *  emu_compact_body.h  materialisation, and memory accesses whose address register has a tag; compiled once per level
 *
 * Each register of a warp's register file has a state and a tag, found by register index (offset divided by stride). Handlers
 * that work on tags require that all live lanes execute the instruction. They test the states of their source registers, and
 * call emu_plain_full or emu_plain_part in the cases that they cannot handle. emu_plain_full and emu_plain_part materialise the
 * sources, drop the tag of the destination, and execute the ordinary handler, which works on lanes. An instruction all of whose
 * registers have register rows according to the plan has only its ordinary handler.
 */
#ifndef EMU_COMPACT_PRIV_H
#define EMU_COMPACT_PRIV_H

#include "emu/bytes/emu_bytes_priv.h"
#include "emu/emu_warp_priv.h"
#include "emu/tags/emu_tags_priv.h"

/** Tag of a register. The register is uniform (U) if stride and rise are 0, otherwise affine (A). Both registers of a 64-bit
 *  value have the same tag. In the tag of a 32-bit value, the upper half of the base is undefined. */
typedef uint32_t emu_tag_words __attribute__((vector_size(16)));
typedef uint64_t emu_tag_halves __attribute__((vector_size(16)));
struct emu_ctag {
    union {
        struct {
            uint64_t base;
            int32_t stride, rise;
        };
        emu_tag_words words; /* elements: low word of the base, high word of the base, stride, rise */
        emu_tag_halves halves;
    };
};
_Static_assert(sizeof(struct emu_ctag) == 16, "one vector of the host");
enum {
    EMU_C_VECTOR = 1, /* the register has no tag; only its register row is valid */
    EMU_C_HIGH = 2,   /* high half of a 64-bit value, which the tag describes as a whole */
    EMU_C_LOW = 4,    /* low half of a 64-bit value, if the next register has EMU_C_HIGH */
    EMU_C_STALE = 8   /* the register row is not up to date with the tag */
};

/** Registers that emu_plain_full and emu_plain_part materialise or change before they execute an ordinary handler. */
struct emu_plan {
    struct emu_handlers plain;
    uint16_t source[8]; /* register indices */
    uint16_t d;
    uint8_t source_count, d_words;
    uint8_t words[3];   /* number of words of the sources a, b and c */
    bool keeps;         /* the instruction may fault, or may leave some lanes of the destination register unchanged */
};

/** Selects the handlers of a memory instruction whose address register has a tag. @uniform: the result of the load may be stored
 *  as a tag U. Returns false if the level has no such handlers. */
typedef bool emu_tagged_memory_fn(const struct isa_insn *insn, const struct emu_dinsn *di,
                                  bool uniform, struct emu_handlers *out);

/** Returns the property of blocks of shape @block on which a plan depends: two bits for each of tid.x, tid.y and tid.z, which
 *  state whether this index is U, A or V in all warps. Returns 0 outside compact mode. */
uint8_t emu_plan_shape(const struct emu_config *config, const uint32_t block[3]);
/** Selects the handlers of all instructions of @code, which are decoded and have their ordinary handlers. Errors: LW_ENOMEM. */
enum lw_status emu_plan_make(struct emu_code *code, const struct emu_level *level,
                             uint32_t stride, struct lw_error *err) LW_MUST_CHECK;
/** Selects the handlers that execute an instruction on tags; not for memory instructions. Returns false if there are no such
 *  handlers. */
bool emu_compact_handlers(const struct isa_insn *insn, const struct emu_dinsn *di,
                          const struct emu_tag_insn *info, struct emu_handlers *out);
emu_handler_fn emu_plain_full, emu_plain_part;
/** Handlers that run before calls, returns and indirect branches: all registers get register rows and lose their tags. */
emu_handler_fn emu_boundary_full, emu_boundary_part;
/** Handlers that execute a prelude on tags: they compute the tags of the scratch registers from the tags of the instruction's
 *  sources. */
emu_handler_fn emu_tag_prelude_full, emu_tag_prelude_part;

/** Returns how many bytes the states and tags of a warp with @rows registers take. */
size_t emu_compact_bytes(unsigned rows);
/** Initialises the states and tags of a warp in @memory, which has emu_compact_bytes() bytes. */
void emu_compact_init(struct emu_warp *w, void *memory, unsigned rows);
/** Materialises all tagged registers, which keep their tags. */
void emu_compact_rows(struct emu_warp *w);
/** Materialises all tagged registers for an observer: states and counts do not change. */
void emu_compact_show(struct emu_warp *w);
/** Materialises all tagged registers and drops their tags. */
void emu_compact_forget(struct emu_warp *w);
/** Drops all tags. Called when the register rows of all registers were written without the tags. */
void emu_compact_reset(struct emu_warp *w);
/** Materialises one register, if it is tagged, and drops its tag. */
void emu_compact_vector(struct emu_warp *w, unsigned index);
/** Materialises the sources of an instruction, for an observer that reads them before the instruction is executed. */
void emu_compact_sources(struct emu_warp *w, const struct emu_dinsn *di);
/** Save and load the tags of a warp, in compact or shadow mode. If @trusted is set, the bytes are from a snapshot of this
 *  machine; otherwise loading drops all tags. Returns false if the bytes are invalid. */
void emu_tags_save(const struct emu_warp *w, struct emu_bytes *out);
bool emu_tags_load(struct emu_warp *w, struct emu_reader *in, bool trusted);
/** Returns the value of lane @lane in register @index. */
uint32_t emu_compact_lane(const struct emu_warp *w, unsigned index, unsigned lane);
/** Returns the tag of register @index, as the public interface describes tags. */
struct emu_tag emu_compact_tag(const struct emu_warp *w, unsigned index);
/** Adds a warp's counts of operations on tags to @stats. */
void emu_compact_count(const struct emu_warp *w, struct emu_tag_stats *stats);

/** Writes a tag by a single store. The next instructions load parts of different sizes from the tag, and the host can forward a
 *  store to a load only if the load reads nothing but bytes of this store. */
static inline void emu_ctag_put(struct emu_ctag *t, uint64_t base, uint64_t stride,
                                uint64_t rise)
{
    t->halves = (emu_tag_halves){base, (uint32_t)stride | rise << 32};
}
/** Returns true if registers @index and @index + 1 are the halves of one 64-bit value with a tag. */
static inline bool emu_ctag_paired(const struct emu_warp *w, unsigned index)
{
    return w->cstate[index] & EMU_C_LOW && w->cstate[index + 1] & EMU_C_HIGH;
}
/** Gets how far the values of the lanes are from the base of a 32-bit value: the lowest and the highest difference. */
static inline void emu_ctag_reach(const struct emu_warp *w, const struct emu_ctag *t,
                                  int64_t *below, int64_t *above)
{
    int64_t x = (int64_t)t->stride * w->last_column, y = (int64_t)t->rise * w->last_row;

    *below = (x < 0 ? x : 0) + (y < 0 ? y : 0);
    *above = (x > 0 ? x : 0) + (y > 0 ? y : 0);
}
/** Returns true if the value of a 32-bit tag is in the range of the type in all lanes. */
static inline bool emu_ctag_fits32(const struct emu_warp *w, const struct emu_ctag *t,
                                   bool is_signed)
{
    int64_t base = is_signed ? (int32_t)t->base : (int64_t)(uint32_t)t->base, below, above;
    int64_t most = is_signed ? INT32_MAX : (int64_t)UINT32_MAX;

    if (__builtin_expect(t->stride >= 0 && t->rise >= 0, 1))
        return base + (int64_t)t->stride * w->last_column + (int64_t)t->rise * w->last_row <=
               most;
    emu_ctag_reach(w, t, &below, &above);
    return base + below >= (is_signed ? INT32_MIN : 0) && base + above <= most;
}

#endif
