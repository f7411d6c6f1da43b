/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Compact mode: a register whose tag is U or A has no row until an instruction or a debugger reads its row.
 *
 *   emu_tag_plan.c      decides at decoding which instructions work on tags
 *   emu_compact.c       their handlers, and the bridge to ordinary handlers
 *   emu_compact_body.h  conversion of tags to rows, memory at tagged addresses; compiled once per level
 *
 * Every row of a warp's register file has a state and a tag, by row index (its offset divided by the stride).
 * Handlers that work on tags require that all live lanes execute. They inspect the states of their sources, and pass
 * other cases to emu_plain_full and emu_plain_part. These materialise the rows of the sources, make the destination a
 * vector, and run the ordinary handler. If the plan proves that all registers of an instruction are vectors, the
 * instruction has only the ordinary handler.
 */
#ifndef EMU_COMPACT_PRIV_H
#define EMU_COMPACT_PRIV_H

#include "emu/bytes/emu_bytes_priv.h"
#include "emu/emu_warp_priv.h"
#include "emu/tags/emu_tags_priv.h"

/** Tag: U when stride and rise are 0. Both halves of a 64-bit value have a copy; the upper half of a 32-bit
 *  value's base is undefined. */
typedef uint32_t emu_tag_words __attribute__((vector_size(16)));
typedef uint64_t emu_tag_halves __attribute__((vector_size(16)));
struct emu_ctag {
    union {
        struct {
            uint64_t base;
            int32_t stride, rise;
        };
        emu_tag_words words; /* low and high word of the base, stride, rise */
        emu_tag_halves halves;
    };
};
_Static_assert(sizeof(struct emu_ctag) == 16, "one vector of the host");
enum {
    EMU_C_VECTOR = 1, /* no tag: only the row is valid */
    EMU_C_HIGH = 2,   /* high half of a 64-bit value: the tag describes the whole */
    EMU_C_LOW = 4,    /* low half; the next row is the high half if it has EMU_C_HIGH */
    EMU_C_STALE = 8   /* the row does not have the values of the tag */
};

/** Parameters of emu_plain_full and emu_plain_part: what they do with rows before they call an ordinary handler. */
struct emu_plan {
    struct emu_handlers plain;
    uint16_t source[8]; /* row indices */
    uint16_t d;
    uint8_t source_count, d_words;
    uint8_t words[3];   /* words of the sources a, b, c */
    bool keeps;         /* the instruction may leave lanes of the destination unchanged, or fault */
};

/** Selects the handlers of a memory instruction whose address is tagged; @uniform: its result may be uniform,
 *  too. Returns false if the level has none. */
typedef bool emu_tagged_memory_fn(const struct isa_insn *insn, const struct emu_dinsn *di,
                                  bool uniform, struct emu_handlers *out);

/** Returns the properties of blocks that the plan depends on: the tags of tid.x, tid.y and tid.z in all
 *  warps, two bits each. 0 in other modes. */
uint8_t emu_plan_shape(const struct emu_config *config, const uint32_t block[3]);
/** Chooses handlers for all instructions of @code, which are decoded and have ordinary ones. Errors:
 *  LW_ENOMEM. */
enum lw_status emu_plan_make(struct emu_code *code, const struct emu_level *level,
                             uint32_t stride, struct lw_error *err) LW_MUST_CHECK;
/** Selects the handlers of an instruction on tags, for rules other than memory. Returns false if there are
 *  none. */
bool emu_compact_handlers(const struct isa_insn *insn, const struct emu_dinsn *di,
                          const struct emu_tag_insn *info, struct emu_handlers *out);
emu_handler_fn emu_plain_full, emu_plain_part;
/** Handlers before calls, returns and indirect branches: all registers become vectors. */
emu_handler_fn emu_boundary_full, emu_boundary_part;
/** Handlers that run before an instruction with source modifiers, and that give the scratch registers the tags of the
 *  instruction's sources. */
emu_handler_fn emu_tag_prelude_full, emu_tag_prelude_part;

/** Returns the number of bytes for the states and tags of a warp with @rows rows. */
size_t emu_compact_bytes(unsigned rows);
/** Initialises the states and tags of a warp in @memory, of emu_compact_bytes() bytes. */
void emu_compact_init(struct emu_warp *w, void *memory, unsigned rows);
/** Materialises all rows; the tags remain. */
void emu_compact_rows(struct emu_warp *w);
/** Materialises all rows for an observer: states and counts do not change. */
void emu_compact_show(struct emu_warp *w);
/** Makes all registers vectors. */
void emu_compact_forget(struct emu_warp *w);
/** Marks all registers as vectors, after something has written all rows. */
void emu_compact_reset(struct emu_warp *w);
/** Makes one register a vector. */
void emu_compact_vector(struct emu_warp *w, unsigned index);
/** Materialises the sources of an instruction for a reader before its execution. */
void emu_compact_sources(struct emu_warp *w, const struct emu_dinsn *di);
/** Save and load a warp's tags, in any mode. Loading drops the tags unless @trusted: the bytes are from a snapshot of
 *  this machine. Returns false if the bytes are invalid. */
void emu_tags_save(const struct emu_warp *w, struct emu_bytes *out);
bool emu_tags_load(struct emu_warp *w, struct emu_reader *in, bool trusted);
/** Returns the value of lane @lane of row @index. */
uint32_t emu_compact_lane(const struct emu_warp *w, unsigned index, unsigned lane);
/** Returns the tag of row @index in the form of the public interface. */
struct emu_tag emu_compact_tag(const struct emu_warp *w, unsigned index);
/** Adds the operations that a warp has executed on tags to the counts. */
void emu_compact_count(const struct emu_warp *w, struct emu_tag_stats *stats);

/** Writes a tag in one store: later code reads other parts of the tag, and hosts can forward only whole stores. */
static inline void emu_ctag_put(struct emu_ctag *t, uint64_t base, uint64_t stride,
                                uint64_t rise)
{
    t->halves = (emu_tag_halves){base, (uint32_t)stride | rise << 32};
}
/** Returns true if two rows are the halves of one tagged value. */
static inline bool emu_ctag_paired(const struct emu_warp *w, unsigned index)
{
    return w->cstate[index] & EMU_C_LOW && w->cstate[index + 1] & EMU_C_HIGH;
}
/** Gets the largest amounts by which lanes of a 32-bit value are below and above its base. */
static inline void emu_ctag_reach(const struct emu_warp *w, const struct emu_ctag *t,
                                  int64_t *below, int64_t *above)
{
    int64_t x = (int64_t)t->stride * w->last_column, y = (int64_t)t->rise * w->last_row;

    *below = (x < 0 ? x : 0) + (y < 0 ? y : 0);
    *above = (x > 0 ? x : 0) + (y > 0 ? y : 0);
}
/** Returns true if no lane of a 32-bit value leaves the range of the type. */
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
