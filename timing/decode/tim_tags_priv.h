/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What tags of registers change (docs/reference/timing-core.md): who executes an instruction whose sources are uniform or
 * affine, and where such registers are. emu has the tags; the model reads them in events.
 */
#ifndef TIM_TAGS_PRIV_H
#define TIM_TAGS_PRIV_H

#include "timing/decode/tim_static_priv.h"

/** What the tags of an instruction's registers say. */
struct tim_tagged {
    /* enum emu_tag_kind, the worst of: sources; those of an address; results. U: there are none */
    uint8_t sources, address, results;
    uint8_t read_kind[TIM_MAX_ROWS], write_kind[TIM_MAX_WRITES]; /* of each: before, and after */
    uint8_t as; /* enum emu_tag_kind: one lane executes it, the affine unit, all lanes */
    /* rows: those kept as compact entries, by index into row_read and row_write; */
    uint32_t reads, writes;
    uint32_t expands; /* entries that become rows, as some lanes are written: the whole row first */
    int rows;         /* that its results take more than what they replace */
};
/** Of an instruction that has retired. */
void tim_tags_look(const struct tim_config *config, const struct tim_static *what, const struct emu_event *ev,
                   struct tim_tagged *out);
/** Does a register of this tag take a compact entry, and no row? */
static inline bool tim_tag_is_compact(const struct tim_config *config, unsigned kind)
{
    return (config->registers_tags != TIM_REGISTERS_ROWS && kind == EMU_TAG_U) ||
           (config->registers_tags == TIM_REGISTERS_AFFINE && kind == EMU_TAG_A);
}
/** Tagged registers of a warp that are compact entries; *count: all that it has. */
unsigned tim_tags_count(const struct tim_config *config, const struct emu_core *core, unsigned slot, unsigned warp,
                        unsigned *count);
/** What one lane, or the affine unit, does of an instruction; @kind: U or A. */
void tim_tags_variant(const struct tim_config *config, unsigned kind, struct tim_static *insn);
/** Keys by which instructions have such variants. */
static inline bool tim_tags_execute(const struct tim_config *config)
{
    return config->tags_scalar != TIM_SCALAR_OFF || config->tags_affine != TIM_AFFINE_OFF ||
           config->tags_address != TIM_ADDRESS_LANES;
}

/* ---- where compact entries are ------------------------------------------------------------------ */

/** Ports of compact entries. Of a file of their own, by scheduler; or of parts of a bank, each with one entry a cycle,
 *  while none reads or writes the bank's row. */
struct tim_entries {
    struct {
        uint64_t at; /* the cycle, and accesses made in it */
        unsigned used;
    } file[TIM_MAX_SCHEDS];
    unsigned parts;  /* of a bank; 0: a file */
    /** [bank][1 + parts]. ticked: 1 + the last cycle with an entry, and in [1] which parts it used. reserved: the first
     *  cycle in which all parts are free; in which each is. */
    uint64_t *part;
};
/** NULL: no memory. */
struct tim_entries *tim_entries_create(const struct tim_config *config);
void tim_entries_destroy(struct tim_entries *entries);

static inline uint64_t *tim_entries_bank(struct tim_entries *e, unsigned bank)
{
    return &e->part[(size_t)bank * (e->parts + 1)];
}
/** Which part of its bank a register's entry is in. */
static inline unsigned tim_entry_part(const struct tim_config *config, unsigned row)
{
    return row / config->registers_banks % config->registers_parts;
}
/** Ticked: has an entry of the bank been read or written in cycle @now? */
static inline bool tim_entries_in_use(struct tim_entries *e, unsigned bank, uint64_t now)
{
    return e->parts != 0 && *tim_entries_bank(e, bank) == now + 1;
}
/** Ticked: an access to an entry in cycle @now. @row_taken: so is its bank, by a row. *avoids: rows in place of entries would
 *  be in conflict. False: no port. */
bool tim_entries_claim(const struct tim_config *config, struct tim_entries *e, unsigned sched, unsigned bank,
                       unsigned row, bool row_taken, uint64_t now, bool *avoids);
/** Reserved: the first cycle from @from on with a port for an entry, or for the row of a bank; it is taken. @bank_free: the
 *  first cycle in which no row of the bank is read. */
uint64_t tim_entries_reserve(const struct tim_config *config, struct tim_entries *e, unsigned sched, unsigned bank,
                             unsigned row, uint64_t bank_free, uint64_t from);
static inline uint64_t tim_entries_free(struct tim_entries *e, unsigned bank)
{
    return e->parts != 0 ? *tim_entries_bank(e, bank) : 0;
}

#endif
