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
    /* enum emu_tag_kind: the least regular tag of the sources, of the registers of an address, and of the results; U if
     * there are none */
    uint8_t sources, address, results;
    uint8_t read_kind[TIM_MAX_ROWS], write_kind[TIM_MAX_WRITES]; /* tag of each register before and after the
                                                                  * instruction */
    uint8_t as; /* enum emu_tag_kind: executed by one lane (U), by the affine unit (A), by all lanes (V) */
    /* registers stored as compact entries, as bit masks by index into row_read and row_write */
    uint32_t reads, writes;
    uint32_t expands; /* results whose entries become rows because the instruction writes only some lanes; the whole row
                       * is written first */
    int rows;         /* number of rows that its results take, minus the rows that they replace */
};
/** Evaluates an instruction that has retired. */
void tim_tags_look(const struct tim_config *config, const struct tim_static *what, const struct emu_event *ev,
                   struct tim_tagged *out);
/** Returns true if a register with this tag is stored as a compact entry instead of a row. */
static inline bool tim_tag_is_compact(const struct tim_config *config, unsigned kind)
{
    return (config->registers_tags != TIM_REGISTERS_ROWS && kind == EMU_TAG_U) ||
           (config->registers_tags == TIM_REGISTERS_AFFINE && kind == EMU_TAG_A);
}
/** Returns the number of a warp's tagged registers that are compact entries; *count is set to the number of all its
 *  tagged registers. */
unsigned tim_tags_count(const struct tim_config *config, const struct emu_core *core, unsigned slot, unsigned warp,
                        unsigned *count);
/** Changes @insn to the variant executed by one lane or the affine unit; @kind: U or A. */
void tim_tags_variant(const struct tim_config *config, unsigned kind, struct tim_static *insn);
/** Returns true if the model executes instructions on tagged registers by one lane or by the affine unit. */
static inline bool tim_tags_execute(const struct tim_config *config)
{
    return config->tags_scalar != TIM_SCALAR_OFF || config->tags_affine != TIM_AFFINE_OFF ||
           config->tags_address != TIM_ADDRESS_LANES;
}

/* ---- where compact entries are ------------------------------------------------------------------ */

/** Ports of compact entries. The entries are either in a file of their own for each scheduler, or in parts of the
 *  banks. A part does one access to an entry per cycle, while no row of its bank is read or written. */
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
/** Creates the ports. NULL: no memory. */
struct tim_entries *tim_entries_create(const struct tim_config *config);
void tim_entries_destroy(struct tim_entries *entries);

static inline uint64_t *tim_entries_bank(struct tim_entries *e, unsigned bank)
{
    return &e->part[(size_t)bank * (e->parts + 1)];
}
/** Returns the part of the register's bank that has the register's entry. */
static inline unsigned tim_entry_part(const struct tim_config *config, unsigned row)
{
    return row / config->registers_banks % config->registers_parts;
}
/** Ticked: returns true if an entry of the bank has been read or written in cycle @now. */
static inline bool tim_entries_in_use(struct tim_entries *e, unsigned bank, uint64_t now)
{
    return e->parts != 0 && *tim_entries_bank(e, bank) == now + 1;
}
/** Ticked: accesses an entry in cycle @now. @row_taken: a row access uses its bank. *avoids is set if an access to a
 *  row instead of the entry would conflict. Returns false if no port is free. */
bool tim_entries_claim(const struct tim_config *config, struct tim_entries *e, unsigned sched, unsigned bank,
                       unsigned row, bool row_taken, uint64_t now, bool *avoids);
/** Reserved: reserves a port for an entry, or for the row of a bank, in the first free cycle from @from on, and returns
 *  this cycle. @bank_free: the first cycle in which no row of the bank is read. */
uint64_t tim_entries_reserve(const struct tim_config *config, struct tim_entries *e, unsigned sched, unsigned bank,
                             unsigned row, uint64_t bank_free, uint64_t from);
static inline uint64_t tim_entries_free(struct tim_entries *e, unsigned bank)
{
    return e->parts != 0 ? *tim_entries_bank(e, bank) : 0;
}

#endif
