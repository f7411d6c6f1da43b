/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Uninitialised values: definitions that the files of this folder share.
 *
 *   chk_init.c         the hooks: warps on the fast path, and warps in single steps
 *   chk_init_memory.c  shadow bits of memory: which bits were never written
 *   chk_init_rules.c   propagation: which bits of a result depend on undefined sources
 *   chk_init_args.c    output of printf, and parameters of launches
 *   chk_init_report.c  origins and messages
 *   chk_liveness.c     registers that may be read before they are written
 *
 * A warp whose live registers are all defined runs on the fast path: its loads look up the shadow bits, and its
 * stores mark memory as defined. When a load reads undefined bits, the warp is single-stepped, with a mask of undefined
 * bits for each register, until no live register has undefined bits.
 *
 * A plain load of undefined bits is not a finding. Findings are reported at uses of such bits: in addresses and
 * operands of atomics (on_access of chk_init.c); in guards, branches, barriers and exec (on_step); and in output
 * (chk_init_args.c for printf, init_found_output for buffers that the host reads).
 */
#ifndef CHK_INIT_PRIV_H
#define CHK_INIT_PRIV_H

#include "check/chk_priv.h"

/* ---- registers that may be read before they are written ------------------------------------ */

enum { INIT_SET_WORDS = ISA_REG_NUMBERS / 64 };
struct init_set {
    uint64_t w[INIT_SET_WORDS];
};
static inline bool init_set_has(const struct init_set *set, unsigned number)
{
    return set->w[number / 64] >> number % 64 & 1;
}
/** Returns an array with the live registers for each instruction, and for the position after the last. These are the
 *  registers that a lane at the instruction may read before it writes them. The caller frees the array. Returns NULL if memory
 *  is short. */
struct init_set *chk_live(const struct emu_program *program);

/* ---- memory --------------------------------------------------------------------------------- */

enum { INIT_PAGE = EMU_PAGE_BYTES, INIT_TABLE = 4096 };
/** Undefined bits of a page of global memory. */
struct init_page {
    uint32_t undefined; /* number of bytes with undefined bits */
    struct init_page *next; /* next page in the list of spare pages */
    uint8_t mask[INIT_PAGE];
};
/** A location to which an undefined value was stored. */
struct init_mark {
    uint64_t key; /* key of the location; 0: the entry is free */
    uint32_t from; /* origin of the value */
};
struct init_memory {
    struct chk *chk;
    struct init_page **table[INIT_TABLE]; /* [offset / 16 MiB][page]; NULL: the page is defined */
    struct init_page fresh;               /* represents each page that was never written */
    struct init_page *spare;              /* list of unused pages */
    uint64_t tracked;                     /* number of pages with undefined bits */
    uint32_t in_table[INIT_TABLE];        /* [offset / 16 MiB]: number of pages with undefined bits */
    struct { uint64_t first, end; } there; /* cached range of the live allocation used last */
    struct lw_table marks; /* table of struct init_mark */
};

struct init_warp;
/** Undefined bits of a warp's local memory. */
struct init_local {
    uint32_t low[EMU_MAX_LANES]; /* [lane]: all bytes below this offset are undefined */
    uint8_t mask[];              /* [word][lane][byte]: undefined bits */
};
/** Record of a block slot of a core, and of the block that is resident in it. */
struct init_block {
    struct chk_slot is;
    unsigned warp_count, warp_capacity, width;
    uint32_t grid;
    uint64_t block;
    bool live; /* a block is resident in the slot */
    uint8_t *shared; /* undefined bits of shared memory */
    uint32_t shared_bytes, shared_capacity, shared_undefined; /* shared_undefined: number of bytes with undefined bits;
                                                               * UINT32_MAX until the first access */
    struct init_local **local; /* [warp]: NULL until the first access */
    uint32_t local_bytes, local_capacity;
    struct init_warp **warp; /* [warp]; NULL for a warp that does not execute in single steps */
};

void init_memory_end(struct init_memory *m);
/** Marks global memory [@address, @address + @bytes) as uninitialised or, with @defined, as defined. */
void init_memory_range(struct init_memory *m, uint64_t address, uint64_t bytes, bool defined);
/** Returns the number of bytes of a range that have undefined bits. Sets *@first to the address of the first such byte. */
uint64_t init_memory_count(const struct init_memory *m, uint64_t address, uint64_t bytes,
                           uint64_t *first);
/** Finds a range of defined pages around @address. Returns false if the page of @address is not defined. The pages
 *  remain defined until emu_hooks_invalidate_filters. */
bool init_memory_filtered(const struct init_memory *m, uint64_t address, struct emu_hook_filter *span);
/** Returns the lanes that read undefined bits in an access. @b: the block whose shared and local memory may be accessed. */
uint64_t init_access_undefined(struct init_memory *m, struct init_block *b,
                               const struct emu_hook_access *access);
/** Marks the bytes that the lanes of an access write as defined. */
void init_access_define(struct init_memory *m, struct init_block *b,
                        const struct emu_hook_access *access);
/** Gets the undefined bits of the @bytes bytes that a lane accesses at @address. Returns true if there are any. */
bool init_lane_get(struct init_memory *m, struct init_block *b, unsigned warp, unsigned lane,
                   uint64_t address, unsigned bytes, uint8_t *mask);
/** Sets the undefined bits of the @bytes bytes that a lane accesses at @address to @mask. */
void init_lane_put(struct init_memory *m, struct init_block *b, unsigned warp, unsigned lane,
                   uint64_t address, unsigned bytes, const uint8_t *mask);
/** Returns the origin of the undefined value that was stored at a location, or 0 if no such store is known. */
uint32_t init_mark_get(const struct init_memory *m, uint64_t key);
/** Stores the origin of an undefined value at a location. */
void init_mark_put(struct init_memory *m, uint64_t key, uint32_t from);
/** Returns the key of the location that a lane accesses at @address. */
uint64_t init_mark_key(const struct init_block *b, unsigned warp, unsigned lane, uint64_t address);
/** Marks all of a warp's local memory as undefined. */
void init_local_begin(const struct init_block *b, struct init_local *local);
/** Marks the local memory of @lanes below offset end[lane], which is unused stack, as undefined. */
void init_local_fresh(struct init_block *b, unsigned warp, uint64_t lanes, const uint32_t *end);

/* ---- warps in single steps --------------------------------------------------------------------- */

/** Undefined bits of registers, and their origins. */
struct init_warp {
    unsigned vregs, steps;
    uint32_t (*v)[EMU_MAX_LANES], (*v_from)[EMU_MAX_LANES]; /* [vector register][lane]: undefined bits, and origin */
    uint64_t *v_lanes; /* [vector register]: lanes with undefined bits; v and v_from are valid in these lanes */
    uint32_t s[128], s_from[128]; /* [scalar register] */
    uint64_t p[8]; /* [predicate]: lanes in which the predicate is undefined; p[ISA_PT] is always 0 */
    uint32_t p_from[8][EMU_MAX_LANES];
    uint8_t sp; /* bits of the undefined scalar predicates */
    uint32_t sp_from;
    struct init_set unread; /* registers that were undefined when the warp started; their first read is recorded */
    bool any_unread;
};
/** A source of an instruction. */
struct init_operand {
    uint8_t kind;         /* enum init_operand_kind */
    uint8_t first, words; /* first register and number of 32-bit words */
    bool known;           /* rules may use the operand's value, because the operand has no modifiers */
    uint64_t value;       /* immediate, or address in constant memory */
};
enum init_operand_kind { INIT_NOTHING, INIT_VECTOR, INIT_UNIFORM, INIT_CONSTANT, INIT_IMMEDIATE };
/** Properties of an instruction that the rules need in each execution. */
struct init_plan {
    bool is_built; /* the properties have been determined */
    bool half;    /* the instruction reads only the lower 16 bits */
    uint8_t rule; /* rule for propagation, a value of enum rule in chk_init_rules.c */
    uint8_t read_count;
    struct isa_reg_use read[ISA_MAX_USES]; /* registers that the instruction reads, except the guard */
    struct init_operand source[3]; /* A, X and C; the variant bit swaps X and C */
    uint8_t d, words, s, s_words;  /* registers that the instruction writes; words 0: none */
    uint8_t pred_written, sp_written; /* bits of the predicates and scalar predicates that the instruction writes */
};
/** A program, with cached properties of its instructions. */
struct init_program {
    const struct emu_program *program;
    struct init_set *live;  /* result of chk_live(), owned */
    struct init_plan *plan; /* [instruction], owned */
};
/** Results of an instruction, computed before it is executed. */
struct init_result {
    uint64_t lanes;              /* lanes in which vector registers and predicates are written */
    uint8_t d, words;            /* the instruction writes `words` vector registers from v[d] on; words 0: it writes none */
    uint64_t undefined[4];       /* [word]: lanes with undefined bits; `mask` and `from` are valid in these lanes */
    uint32_t mask[4][EMU_MAX_LANES], from[4][EMU_MAX_LANES]; /* [word][lane]: undefined bits, and origin */
    uint8_t s, s_words;          /* the instruction writes s_words scalar registers from s on */
    uint32_t s_mask[4], s_from;
    uint8_t pred_written;        /* bits of the predicates that are written */
    uint64_t pred[8];            /* [predicate]: lanes in which the predicate becomes undefined */
    uint32_t pred_from[EMU_MAX_LANES];
    uint8_t sp_written, sp;      /* bits of the scalar predicates that are written, and that become undefined */
};

struct chk_init {
    struct init_memory memory; /* its first member is the `struct chk *` that the state of a chk_observer begins with */
    struct chk_slots blocks; /* records of type struct init_block */
    struct init_result result;
    bool pending; /* `result` takes effect when the instruction retires */
    struct init_program *programs;
    size_t program_count, program_capacity;
    struct init_origin *origins; /* [number of the origin]; number 0 means no origin */
    size_t origin_count, origin_capacity;
};

/** Computes the undefined bits of the results of the instruction at @site from the undefined bits of its sources in @w.
 *  The instruction must not be a memory instruction. */
void init_rules_apply(struct chk_init *init, const struct init_warp *w, const struct init_plan *plan,
                      const struct emu_hook_site *site, struct init_result *out);
void init_rules_plan(const struct isa_insn *insn, struct init_plan *out);
bool init_rules_is_shuffle(const struct isa_insn *insn);
/** Returns true if a lane of a shuffle, which is about to execute or to wait for other lanes, reads a lane that does not
 *  participate in the shuffle. */
bool init_rules_reads_absent(const struct init_plan *plan, const struct emu_hook_site *site);

/* ---- origins and findings ------------------------------------------------------------------------ */

/** In init_origin.number, the number of the first register of each class other than vector registers. */
enum init_number { INIT_PREDICATE = 512, INIT_SCALAR = 1024, INIT_SCALAR_PREDICATE = 2048 };
enum init_where { INIT_REGISTER, INIT_GLOBAL, INIT_SHARED, INIT_LOCAL, INIT_LANE };
/** Origin of undefined bits: a location that was never written, and the first instruction that read it. */
struct init_origin {
    uint8_t where; /* enum init_where */
    uint32_t number; /* register (enum init_number), lane that does not participate in a shuffle, or offset in
                      * shared or local memory; a shared variable is one location */
    uint32_t byte;   /* shared variable: offset, in the variable, of the first read */
    uint64_t address; /* global memory: address of the allocation */
    uint64_t pc;      /* pc of the load; for a register, pc of the first read, or 0 before it */
    const struct isa_function *kernel; /* shared and local memory: kernel of the block */
};
uint32_t init_origin_add(struct chk_init *init, const struct init_origin *origin);
/** Reports that the instruction at @site uses undefined bits in @lanes. @use: text for the message that names the use, such as
 *  "the address of a load". @from: the origin of the bits in the lowest lane. @address: the address in the lowest lane, or 0. */
void init_found(struct chk_init *init, enum chk_kind kind, const struct emu_hook_site *site,
                uint64_t lanes, const char *use, uint32_t from, uint64_t address);
/** Returns the origin of the undefined bits that the instruction at @site reads in a lane at address @at. */
uint32_t init_origin_at(struct chk_init *init, struct init_block *b, const struct emu_hook_site *site,
                        unsigned lane, uint64_t at);
/** Checks the arguments of a printf that is about to be executed. */
void init_args_print(struct chk_init *init, struct init_block *b, const struct emu_hook_site *site);
/** Checks the parameters of a launch that is about to be executed. */
void init_args_launch(struct chk_init *init, struct init_block *b, const struct emu_hook_site *site);
/** Reports undefined bits that the host reads in @bytes bytes at @address of global memory, if there are any. */
void init_found_output(struct chk_init *init, uint64_t address, uint64_t bytes);

#endif
