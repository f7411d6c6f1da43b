/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Effects of register tags (docs/reference/timing-core.md): which unit executes an instruction whose sources are
 * uniform or affine, and where such registers are stored. emu determines the tags, and the model reads them from
 * events.
 */
#ifndef TIM_TAGS_PRIV_H
#define TIM_TAGS_PRIV_H

#include "timing/decode/tim_static_priv.h"

/** Summary of the tags of an instruction's registers. */
struct tim_tagged {
    /* enum emu_tag_kind: the least regular tag of all sources, of the address registers, and of all results (V is the
     * least regular, then A); U if the instruction has no such register */
    uint8_t sources, address, results;
    uint8_t read_kind[TIM_MAX_ROWS], write_kind[TIM_MAX_WRITES]; /* tags of the sources, and of the results after the
                                                                  * instruction */
    uint8_t as; /* enum emu_tag_kind: the instruction executes on one lane (U), on the affine unit (A), on all lanes (V) */
    /* sources and results that are stored as compact entries: sets of indexes into row_read and row_write */
    uint32_t reads, writes;
    uint32_t expands; /* set of results that were compact entries and become register rows, because only some lanes are written;
                       * the expanded entry must be written to the register row before the result */
    int rows;         /* change of the number of register rows in use: -1 for each one that becomes a compact entry, +1 for each
                       * compact entry that becomes a register row */
};
/** Computes the summary *out for an instruction that has retired with event @ev. */
void tim_tags_look(const struct tim_config *config, const struct tim_static *what, const struct emu_event *ev,
                   struct tim_tagged *out);
/** Returns true if a register with this tag is stored as a compact entry instead of a register row. */
static inline bool tim_tag_is_compact(const struct tim_config *config, unsigned kind)
{
    return (config->registers_tags != TIM_REGISTERS_ROWS && kind == EMU_TAG_U) ||
           (config->registers_tags == TIM_REGISTERS_AFFINE && kind == EMU_TAG_A);
}
/** Returns the number of the warp's registers that are stored as compact entries. Sets *count to the number of all its
 *  vector registers. */
unsigned tim_tags_count(const struct tim_config *config, const struct emu_core *core, unsigned slot, unsigned warp,
                        unsigned *count);
/** Changes @insn to the variant that executes on one lane (@kind EMU_TAG_U) or on the affine unit (@kind EMU_TAG_A). */
void tim_tags_variant(const struct tim_config *config, unsigned kind, struct tim_static *insn);
/** Returns true if the model executes any instruction on one lane or on the affine unit. */
static inline bool tim_tags_execute(const struct tim_config *config)
{
    return config->tags_scalar != TIM_SCALAR_OFF || config->tags_affine != TIM_AFFINE_OFF ||
           config->tags_address != TIM_ADDRESS_LANES;
}

/* ---- where compact entries are ------------------------------------------------------------------ */

/** Ports of compact entries. The entries are either in a small file of each scheduler, or in parts of the register banks. A part
 *  makes one access to an entry per cycle, but none in a cycle in which a register row of its bank is read or written. */
struct tim_entries {
    struct {
        uint64_t at;   /* last cycle with an access; collector `ticked`: 1 + that cycle */
        unsigned used; /* number of accesses in that cycle */
    } file[TIM_MAX_SCHEDS];
    unsigned parts;  /* number of parts of a bank; 0: the entries are in a file */
    /** [bank][1 + parts]. Collector `ticked`: element 0 is 1 + the last cycle in which an entry of the bank was accessed;
     *  element 1 is the set of parts that were accessed in that cycle, as a bit mask. Collector `reserved`: element 0 is
     *  the first cycle in which all parts are free; element 1 + p is the first cycle in which part p is free. */
    uint64_t *part;
};
/** Creates the ports. Returns NULL if memory is short. */
struct tim_entries *tim_entries_create(const struct tim_config *config);
void tim_entries_destroy(struct tim_entries *entries);

static inline uint64_t *tim_entries_bank(struct tim_entries *e, unsigned bank)
{
    return &e->part[(size_t)bank * (e->parts + 1)];
}
/** Returns the number of the part of the register's bank that contains the compact entry of vector register @row. */
static inline unsigned tim_entry_part(const struct tim_config *config, unsigned row)
{
    return row / config->registers_banks % config->registers_parts;
}
/** Collector `ticked`: returns true if an entry of the bank has been read or written in cycle @now. */
static inline bool tim_entries_in_use(struct tim_entries *e, unsigned bank, uint64_t now)
{
    return e->parts != 0 && *tim_entries_bank(e, bank) == now + 1;
}
/** Collector `ticked`: accesses the entry of register @row in cycle @now. Returns false if no port is free. @row_taken: a
 *  register row of the bank is accessed in this cycle. Sets *avoids to true if an access to a register row, instead of the
 *  compact entry, would have caused a bank conflict. */
bool tim_entries_claim(const struct tim_config *config, struct tim_entries *e, unsigned sched, unsigned bank,
                       unsigned row, bool row_taken, uint64_t now, bool *avoids);
/** Collector `reserved`: reserves a port for the entry of register @row in the first free cycle from @from on, and returns this
 *  cycle. @bank_free: the first cycle in which no register row of the bank is read. */
uint64_t tim_entries_reserve(const struct tim_config *config, struct tim_entries *e, unsigned sched, unsigned bank,
                             unsigned row, uint64_t bank_free, uint64_t from);
static inline uint64_t tim_entries_free(struct tim_entries *e, unsigned bank)
{
    return e->parts != 0 ? *tim_entries_bank(e, bank) : 0;
}

#endif
