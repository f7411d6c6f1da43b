/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Compact mode: determines, when a program is decoded, which instructions work on tags, that is, compute the base and stride of
 * their result instead of its lanes.
 *
 * All definitions that reach a common use form a web (a phi web of SSA, found by union-find over cells, one for each
 * definition), and must have the same representation. A web is represented by tags if two conditions are true. First, each
 * definition of the web can give U or A, by the tag rules and the representation of its sources. Second, at least one use is
 * profitable: the use is an address, a compare, or a profitable operation on tags. All other webs are represented by lane
 * vectors, and instructions that use only registers of such webs keep their ordinary handlers. Even a register of a tagged web
 * may have no tag at run time, because a write in only some lanes removes it.
 *
 * A tag is written only while all live lanes are in one split. Therefore the decoder knows the state of a register at an
 * instruction, for every path on which a lane can reach the instruction. Where the paths are not known (calls, returns, indirect
 * branches, a debugger that sets the pc) all registers lose their tags.
 */
#include <stdlib.h>

#include "emu/tags/emu_compact_priv.h"
#include "emu/memory/emu_mem_priv.h"

enum { MAX_READS = 8, SET_WORDS = 4 };

/** Set of vector registers v0..v254. */
struct regset {
    uint64_t w[SET_WORDS];
};
static void set_add(struct regset *s, unsigned r)
{
    s->w[r / 64] |= UINT64_C(1) << r % 64;
}
static bool set_has(const struct regset *s, unsigned r)
{
    return s->w[r / 64] >> r % 64 & 1;
}
static unsigned set_count(const struct regset *s)
{
    unsigned n = 0;

    for (unsigned i = 0; i < SET_WORDS; i++)
        n += lw_popcount(s->w[i]);
    return n;
}

/** Effect of an instruction on vector registers. */
struct node {
    uint8_t read[MAX_READS];
    uint8_t read_count;
    uint8_t d, d_words;  /* first register that the instruction writes, and number of these registers */
    bool guarded, boundary, can; /* guarded: the instruction has a guard. boundary: all registers lose their tags at the
                                  * instruction. can: the instruction has a handler that works on tags */
    uint32_t def;        /* cell of the first register that the instruction writes; the cells of its other results follow */
};
struct block {
    uint32_t first, count;
    uint32_t next, target; /* successor blocks: the block after this one, and the branch target; NONE: there is no such
                            * successor */
    uint32_t cells;        /* cell of the first register that is live on entry */
    bool entered;          /* true if control can enter the block on a path that the analysis does not cover */
    struct regset in, use, def, tagged; /* tagged: registers that may have a tag on entry */
};
enum { NONE = UINT32_MAX };
enum { LONG_ROW = 4 }; /* number of host vectors from which on a register row is long */

struct plan {
    struct emu_code *code;
    const struct emu_program *program;
    const struct emu_level *level;
    uint32_t stride, count;
    struct node *node;
    struct block *block;
    uint32_t *block_of, block_count, cell_count;
    uint32_t *web;     /* [cell] union-find structure of the webs */
    uint8_t *kind;     /* [root cell of a web] best representation that all definitions of the web permit, enum emu_tag_kind */
    bool *gains;       /* [root cell of a web] true if some use of the web is profitable */
    bool exec_written, changed;
    bool long_rows;    /* register rows are so long that every operation on tags is cheaper than an operation on lanes */
    bool all;          /* true: webs that can be tagged are tagged even if they are not profitable */
    enum emu_tag_rules rules;
};

/* ---- instructions and blocks -------------------------------------------------------- */

static const struct isa_op_info *info_of(const struct plan *p, uint32_t i)
{
    return isa_op_info((enum isa_op)p->program->insn[i].op);
}
static bool is_guarded(const struct emu_dinsn *di)
{
    return (di->guard & 7) != ISA_PT || di->guard & 8;
}
/** Fills the node of instruction @i. Returns false if the instruction has more operands than a node has space for. */
static bool read_node(struct plan *p, uint32_t i)
{
    const struct isa_insn *insn = &p->program->insn[i];
    const struct emu_dinsn *di = &p->code->insn[i];
    const struct isa_op_info *info = info_of(p, i);
    struct node *n = &p->node[i];
    struct isa_reg_use use[ISA_MAX_USES];
    unsigned count = isa_insn_uses(insn, use);
    bool jumps = info->flags & ISA_F_BRANCH;
    struct emu_handlers h;

    n->guarded = is_guarded(di);
    for (unsigned u = 0; u < count; u++) {
        if (use[u].reg_class == ISA_REG_S && use[u].written &&
            use[u].first + use[u].count > ISA_S_EXEC)
            p->exec_written = true;
        if (use[u].reg_class != ISA_REG_V)
            continue;
        if (use[u].written) {
            n->d = use[u].first;
            n->d_words = use[u].count;
            continue;
        }
        for (unsigned k = 0; k < use[u].count; k++) {
            if (n->read_count == MAX_READS)
                return false;
            n->read[n->read_count++] = (uint8_t)(use[u].first + k);
        }
    }
    n->boundary = info->flags & ISA_F_CALL || (jumps && isa_op_has(info, ISA_TOK_VA2));
    if (n->guarded || info->flags & (ISA_F_CONTROL | ISA_F_CROSS | ISA_F_SCALAR | ISA_F_ATOMIC))
        return true;
    if (info->flags & ISA_F_MEMORY)
        n->can = p->level->tagged_memory(insn, di, false, &h);
    else
        n->can = emu_compact_handlers(insn, di, &p->code->tag[i], &h);
    return true;
}

static bool find_blocks(struct plan *p)
{
    const struct isa_object *object = p->program->object;
    bool *leader = calloc((size_t)p->count + 1, sizeof *leader);
    uint32_t at = 0;

    p->block_of = calloc((size_t)p->count + 1, sizeof *p->block_of);
    if (leader == NULL || p->block_of == NULL) {
        free(leader);
        return false;
    }
    leader[0] = true;
    for (unsigned f = 0; f < object->function_count; f++)
        leader[object->functions[f].first] = true;
    for (uint32_t i = 0; i < p->count; i++) {
        const struct isa_op_info *info = info_of(p, i);
        if (!(info->flags & ISA_F_BRANCH))
            continue;
        leader[i + 1] = true;
        if (isa_op_has(info, ISA_TOK_TG) && !p->node[i].boundary)
            leader[(int64_t)i + p->code->insn[i].delta] = true;
    }
    for (uint32_t i = 0; i < p->count; i++)
        p->block_count += leader[i];
    p->block = calloc(p->block_count ? p->block_count : 1, sizeof *p->block);
    if (p->block == NULL) {
        free(leader);
        return false;
    }
    for (uint32_t i = 0; i < p->count; i++) {
        if (leader[i])
            p->block[at++].first = i;
        p->block[at - 1].count++;
        p->block_of[i] = at - 1;
    }
    p->block_of[p->count] = NONE;
    free(leader);
    return true;
}

static void find_edges(struct plan *p)
{
    const struct isa_object *object = p->program->object;

    for (uint32_t b = 0; b < p->block_count; b++)
        p->block[b].entered = true; /* reset when an edge into the block is found */
    for (uint32_t b = 0; b < p->block_count; b++) {
        struct block *k = &p->block[b];
        uint32_t last = k->first + k->count - 1;
        const struct isa_op_info *info = info_of(p, last);
        const struct node *n = &p->node[last];
        bool falls = true;
        k->next = k->target = NONE;
        if (info->flags & ISA_F_BRANCH) {
            /* even a branch without a guard falls through if no lane is active */
            falls = n->guarded || p->code->insn[last].guard & 16 || p->exec_written;
            if (isa_op_has(info, ISA_TOK_TG) && !n->boundary)
                k->target = p->block_of[(int64_t)last + p->code->insn[last].delta];
        }
        if (falls || info->flags & ISA_F_CALL)
            k->next = p->block_of[last + 1];
        if (k->next != NONE && !(info->flags & ISA_F_CALL))
            p->block[k->next].entered = false;
        if (k->target != NONE)
            p->block[k->target].entered = false;
    }
    p->block[0].entered = true;
    for (unsigned f = 0; f < object->function_count; f++)
        p->block[p->block_of[object->functions[f].first]].entered = true;
    for (uint32_t b = 0; b < p->block_count; b++) { /* instructions after calls are entered when the callee returns */
        uint32_t last = p->block[b].first + p->block[b].count - 1;
        if (info_of(p, last)->flags & ISA_F_CALL && p->block[b].next != NONE)
            p->block[p->block[b].next].entered = true;
    }
}

static void find_live(struct plan *p)
{
    for (uint32_t b = 0; b < p->block_count; b++) {
        struct block *k = &p->block[b];
        for (uint32_t i = k->first; i < k->first + k->count; i++) {
            const struct node *n = &p->node[i];
            for (unsigned r = 0; r < n->read_count; r++)
                if (!set_has(&k->def, n->read[r]))
                    set_add(&k->use, n->read[r]);
            for (unsigned d = 0; d < n->d_words; d++) {
                if (n->guarded && !set_has(&k->def, n->d + d))
                    set_add(&k->use, n->d + d);
                set_add(&k->def, n->d + d);
            }
        }
        k->in = k->use;
    }
    do {
        p->changed = false;
        for (uint32_t b = p->block_count; b-- > 0;) {
            struct block *k = &p->block[b];
            for (unsigned w = 0; w < SET_WORDS; w++) {
                uint64_t out = (k->next != NONE ? p->block[k->next].in.w[w] : 0) |
                               (k->target != NONE ? p->block[k->target].in.w[w] : 0);
                uint64_t in = k->use.w[w] | (out & ~k->def.w[w]);
                p->changed |= in != k->in.w[w];
                k->in.w[w] = in;
            }
        }
    } while (p->changed);
}

/* ---- webs --------------------------------------------------------------------------------- */

static uint32_t find(struct plan *p, uint32_t cell)
{
    while (p->web[cell] != cell) {
        p->web[cell] = p->web[p->web[cell]];
        cell = p->web[cell];
    }
    return cell;
}
static void join(struct plan *p, uint32_t a, uint32_t b)
{
    a = find(p, a);
    b = find(p, b);
    if (a < b)
        p->web[b] = a;
    else
        p->web[a] = b;
}
/** Returns the cell of register @r on entry to block @k, where the register is live. */
static uint32_t cell_in(const struct block *k, unsigned r)
{
    uint32_t cell = k->cells;

    for (unsigned w = 0; w < r / 64; w++)
        cell += lw_popcount(k->in.w[w]);
    return cell + lw_popcount(k->in.w[r / 64] & lw_mask(r % 64));
}
/** Sets cur[r] to the cell of each register r at the start of block @k; NONE: r is not live there. */
static void enter(const struct block *k, uint32_t cur[256])
{
    uint32_t cell = k->cells;

    memset(cur, 0xff, 256 * sizeof *cur);
    for (unsigned w = 0; w < SET_WORDS; w++)
        for (LW_EACH_BIT(bit, k->in.w[w]))
            cur[64 * w + bit] = cell++;
}
/** Sets cur[r] to the new cell of each register r that instruction @n writes. */
static void pass(const struct node *n, uint32_t cur[256])
{
    for (unsigned d = 0; d < n->d_words; d++)
        cur[n->d + d] = n->def + d;
}

static bool make_webs(struct plan *p)
{
    uint32_t cur[256];

    for (uint32_t b = 0; b < p->block_count; b++) {
        p->block[b].cells = p->cell_count;
        p->cell_count += set_count(&p->block[b].in);
    }
    for (uint32_t i = 0; i < p->count; i++) {
        p->node[i].def = p->cell_count;
        p->cell_count += p->node[i].d_words;
    }
    p->web = malloc((p->cell_count + 1u) * sizeof *p->web);
    p->kind = calloc(p->cell_count + 1u, 1);
    p->gains = calloc(p->cell_count + 1u, sizeof *p->gains);
    if (p->web == NULL || p->kind == NULL || p->gains == NULL)
        return false;
    for (uint32_t c = 0; c < p->cell_count; c++)
        p->web[c] = c;
    for (uint32_t b = 0; b < p->block_count; b++) {
        struct block *k = &p->block[b];
        const uint32_t to[2] = {k->next, k->target};
        enter(k, cur);
        for (uint32_t i = k->first; i < k->first + k->count; i++) {
            const struct node *n = &p->node[i];
            for (unsigned d = 0; d < n->d_words; d++) {
                join(p, n->def, n->def + d); /* the words of a 64-bit value must have the same representation */
                if (n->guarded && cur[n->d + d] != NONE)
                    join(p, n->def, cur[n->d + d]);
            }
            pass(n, cur);
        }
        bool call = info_of(p, k->first + k->count - 1)->flags & ISA_F_CALL;
        for (unsigned s = 0; s < 2 && !call; s++) {
            if (to[s] == NONE)
                continue;
            const struct block *next = &p->block[to[s]];
            for (unsigned w = 0; w < SET_WORDS; w++)
                for (LW_EACH_BIT(bit, next->in.w[w]))
                    join(p, cur[64 * w + bit], cell_in(next, 64 * w + (unsigned)bit));
        }
    }
    return true;
}

static void raise(struct plan *p, uint32_t cell, uint8_t kind)
{
    cell = find(p, cell);
    if (p->kind[cell] < kind) {
        p->kind[cell] = kind;
        p->changed = true;
    }
}

/* ---- the best that a definition can be ---------------------------------------------------------- */

/** Returns the best possible kind of tag for a source of @words registers at byte @offset of the register file. */
static uint8_t row_kind(struct plan *p, uint32_t offset, unsigned words, const uint32_t cur[256])
{
    unsigned row = offset / p->stride;
    uint8_t kind = EMU_TAG_U;

    if (row < EMU_ROW_V0)
        return EMU_TAG_U;
    for (unsigned k = 0; k < words; k++) {
        unsigned r = row - EMU_ROW_V0 + k;
        uint8_t is = r < 256 && cur[r] != NONE ? p->kind[find(p, cur[r])] : EMU_TAG_V;
        kind = is > kind ? is : kind;
    }
    return kind;
}

static void source_kinds(struct plan *p, uint32_t i, const uint32_t cur[256], uint8_t kind[3])
{
    const struct emu_dinsn *di = &p->code->insn[i];
    const struct emu_tag_insn *info = &p->code->tag[i];
    const struct emu_prelude *pre =
        di->flags & EMU_D_MODIFIED ? &p->code->prelude[di->aux] : NULL;
    const uint32_t offset[3] = {di->a, di->b, di->c};

    for (unsigned s = 0; s < 3; s++) {
        kind[s] = EMU_TAG_U;
        if (info->words[s] == 0)
            continue;
        if (pre != NULL && pre->source[s].kind != EMU_PRE_NONE) {
            if (pre->source[s].kind == EMU_PRE_ROW)
                kind[s] = row_kind(p, pre->source[s].from, info->words[s], cur);
            if (kind[s] == EMU_TAG_A && pre->is_float)
                kind[s] = EMU_TAG_V;
        } else if (s != 1 || di->ukind == EMU_U_ROW) {
            kind[s] = row_kind(p, offset[s], info->words[s], cur);
        }
    }
}

static uint8_t address_kind(struct plan *p, uint32_t i, const uint32_t cur[256])
{
    return row_kind(p, p->code->insn[i].a,
                    p->code->tag[i].address == 1 + ISA_AMODE_PAIR ? 2 : 1, cur);
}

static uint8_t higher(uint8_t a, uint8_t b)
{
    return a > b ? a : b;
}
static uint8_t product_kind(const struct plan *p, uint8_t a, uint8_t b)
{
    if (a == EMU_TAG_V || b == EMU_TAG_V || (a == EMU_TAG_A && b == EMU_TAG_A))
        return EMU_TAG_V;
    if (p->rules == EMU_TAG_RULES_TABLE && (a != EMU_TAG_U || b != EMU_TAG_U))
        return EMU_TAG_V;
    return higher(a, b);
}
static uint8_t sum_kind(const struct plan *p, uint8_t a, uint8_t b)
{
    if (p->rules == EMU_TAG_RULES_TABLE && a == EMU_TAG_A && b == EMU_TAG_A)
        return EMU_TAG_V;
    return higher(a, b);
}

/** Returns true for a load that gives a uniform result if all lanes read the same address. */
static bool may_load_uniform(const struct plan *p, uint32_t i)
{
    const struct isa_insn *insn = &p->program->insn[i];
    unsigned space = p->code->tag[i].space;
    struct emu_handlers h;

    if (EMU_MOD(insn, MORDER) != ISA_MORDER_WEAK || space == ISA_SPACE_LOCAL)
        return false;
    if (p->rules == EMU_TAG_RULES_TABLE && space != ISA_SPACE_SHARED && space != ISA_SPACE_CONST)
        return false;
    return p->level->tagged_memory(insn, &p->code->insn[i], true, &h);
}

static uint8_t special_kind(const struct plan *p, unsigned sr)
{
    switch (sr) {
    case ISA_SR_TID_X: return p->code->shape & 3;
    case ISA_SR_TID_Y: return p->code->shape >> 2 & 3;
    case ISA_SR_TID_Z: return p->code->shape >> 4 & 3;
    case ISA_SR_LANEID:
        return p->program->machine->config.warp_width <= 32 ? EMU_TAG_A : EMU_TAG_V;
    default: { /* the ordinary handler must read, and record, a value that depends on execution order or on the slot */
        const struct isa_special_info *info = isa_special_info((enum isa_special)sr);
        return info->uniform && info->order == ISA_ORDER_NONE ? EMU_TAG_U : EMU_TAG_V;
    }
    }
}

static uint8_t result_kind(struct plan *p, uint32_t i, const uint32_t cur[256])
{
    const struct emu_dinsn *di = &p->code->insn[i];
    const struct emu_tag_insn *info = &p->code->tag[i];
    uint8_t s[3];

    if (!p->node[i].can)
        return EMU_TAG_V;
    source_kinds(p, i, cur, s);
    switch (info->rule) {
    case ISA_TAG_LOAD:
        return address_kind(p, i, cur) == EMU_TAG_U && may_load_uniform(p, i) ? EMU_TAG_U
                                                                              : EMU_TAG_V;
    case ISA_TAG_SPECIAL: return special_kind(p, di->reg);
    case ISA_TAG_MOV:
    case ISA_TAG_NEG: return s[1];
    case ISA_TAG_NOT:
        return s[1] == EMU_TAG_A && p->rules == EMU_TAG_RULES_TABLE ? EMU_TAG_V : s[1];
    case ISA_TAG_ADD:
    case ISA_TAG_SUB: return sum_kind(p, s[0], s[1]);
    case ISA_TAG_MUL:
    case ISA_TAG_MULWIDE:
    case ISA_TAG_MULWIDE_S: return product_kind(p, s[0], s[1]);
    case ISA_TAG_MAD:
    case ISA_TAG_MADWIDE:
    case ISA_TAG_MADWIDE_S: return sum_kind(p, product_kind(p, s[0], s[1]), s[2]);
    case ISA_TAG_LEA:
    case ISA_TAG_LEA_S: return s[1] == EMU_TAG_U ? sum_kind(p, s[0], s[2]) : EMU_TAG_V;
    case ISA_TAG_SHL: return s[1] == EMU_TAG_U ? s[0] : EMU_TAG_V;
    case ISA_TAG_SHR:
    case ISA_TAG_SHR_S:
        /* with a source that is A, the rule rarely applies, and a try at run time takes time */
        return s[1] == EMU_TAG_U && (s[0] == EMU_TAG_U || p->all) ? s[0] : EMU_TAG_V;
    case ISA_TAG_SELECT: return p->all ? higher(s[0], s[1]) : EMU_TAG_V;
    case ISA_TAG_CVT: {
        unsigned dtype = di->sub & 15, stype = di->sub >> 4;
        bool integers = dtype >= ISA_DT_U32 && dtype <= ISA_DT_S64 && stype >= ISA_ST_U32 &&
                        stype <= ISA_ST_S64 && !(di->reg & 8);
        if (s[1] == EMU_TAG_A && (!integers || p->rules == EMU_TAG_RULES_TABLE))
            return EMU_TAG_V;
        return s[1];
    }
    case ISA_TAG_UNIFORM:
    case ISA_TAG_EVALUATE:
        return higher(s[0], higher(s[1], s[2])) == EMU_TAG_U ? EMU_TAG_U : EMU_TAG_V;
    default: return EMU_TAG_V;
    }
}

static void find_kinds(struct plan *p)
{
    uint32_t cur[256];

    for (uint32_t b = 0; b < p->block_count; b++) {
        uint32_t n = set_count(&p->block[b].in);
        for (uint32_t c = 0; p->block[b].entered && c < n; c++)
            raise(p, p->block[b].cells + c, EMU_TAG_V);
    }
    do {
        p->changed = false;
        for (uint32_t b = 0; b < p->block_count; b++) {
            const struct block *k = &p->block[b];
            enter(k, cur);
            for (uint32_t i = k->first; i < k->first + k->count; i++) {
                if (p->node[i].d_words != 0)
                    raise(p, p->node[i].def, result_kind(p, i, cur));
                pass(&p->node[i], cur);
            }
        }
    } while (p->changed);
}

/* ---- profitable webs --------------------------------------------------------------------------------- */

static bool tagged(struct plan *p, uint32_t cell)
{
    cell = find(p, cell);
    return p->kind[cell] != EMU_TAG_V && p->gains[cell];
}
static bool compares(const struct plan *p, uint32_t i)
{
    return p->code->tag[i].rule == ISA_TAG_CMP || p->code->tag[i].rule == ISA_TAG_CMP_S;
}
/** Returns true if instruction @i is a compare or a memory instruction whose sources have representations on which a handler on
 *  tags can work. */
static bool works(struct plan *p, uint32_t i, const uint32_t cur[256])
{
    uint8_t s[3];

    if (!p->node[i].can)
        return false;
    if (p->code->tag[i].address != 0)
        return address_kind(p, i, cur) != EMU_TAG_V;
    source_kinds(p, i, cur, s);
    return compares(p, i) && s[0] != EMU_TAG_V && s[1] != EMU_TAG_V;
}

static void find_gains(struct plan *p)
{
    uint32_t cur[256];

    if (p->all) {
        memset(p->gains, true, p->cell_count);
        return;
    }
    do {
        p->changed = false;
        for (uint32_t b = p->block_count; b-- > 0;) {
            const struct block *k = &p->block[b];
            enter(k, cur);
            for (uint32_t i = k->first; i < k->first + k->count; i++) {
                const struct node *n = &p->node[i];
                const struct emu_tag_insn *info = &p->code->tag[i];
                unsigned address = p->code->insn[i].a / p->stride - EMU_ROW_V0;
                bool memory = info->address != 0;
                bool gains = memory          ? works(p, i, cur)
                             : compares(p, i) ? p->long_rows && works(p, i, cur)
                                              : n->can && n->d_words != 0 && tagged(p, n->def);
                for (unsigned r = 0; gains && r < n->read_count; r++) {
                    bool of_address = n->read[r] == address ||
                                      (info->address == 1 + ISA_AMODE_PAIR &&
                                       n->read[r] == address + 1);
                    uint32_t cell = cur[n->read[r]] != NONE ? find(p, cur[n->read[r]]) : NONE;
                    if (cell != NONE && (!memory || of_address) && !p->gains[cell]) {
                        p->gains[cell] = true;
                        p->changed = true;
                    }
                }
                pass(n, cur);
            }
        }
    } while (p->changed);
}

/* ---- selection of handlers ----------------------------------------------------------------------------- */

/** Updates @now, the set of registers that may have a tag, by the effect of instruction @i. */
static void follow(struct plan *p, uint32_t i, struct regset *now)
{
    const struct node *n = &p->node[i];

    if (n->boundary) {
        memset(now, 0, sizeof *now);
        return;
    }
    for (unsigned d = 0; d < n->d_words; d++) {
        unsigned r = n->d + d;
        if (tagged(p, n->def))
            set_add(now, r);
        else
            now->w[r / 64] &= ~(UINT64_C(1) << r % 64);
    }
}
/** Finds for each block the registers that may have a tag on entry. Iterates until no block changes. */
static void find_tagged(struct plan *p)
{
    do {
        p->changed = false;
        for (uint32_t b = 0; b < p->block_count; b++) {
            const struct block *k = &p->block[b];
            struct regset now = k->tagged;
            const uint32_t to[2] = {k->next, k->target};
            for (uint32_t i = k->first; i < k->first + k->count; i++)
                follow(p, i, &now);
            for (unsigned s = 0; s < 2; s++) {
                for (unsigned w = 0; to[s] != NONE && w < SET_WORDS; w++) {
                    uint64_t *in = &p->block[to[s]].tagged.w[w];
                    p->changed |= (now.w[w] & ~*in) != 0;
                    *in |= now.w[w];
                }
            }
        }
    } while (p->changed);
}

/** Fills the plan of instruction @i, with its present handlers as the ordinary handlers. */
static void fill_plan(struct plan *p, uint32_t i)
{
    struct emu_plan *out = &p->code->plan[i];
    const struct node *n = &p->node[i];

    out->plain = p->code->insn[i].h;
    out->d = (uint16_t)(EMU_ROW_V0 + n->d);
    out->d_words = n->d_words;
    out->keeps = n->guarded || info_of(p, i)->flags & (ISA_F_MEMORY | ISA_F_CONTROL |
                                                       ISA_F_SCALAR | ISA_F_CROSS);
    memcpy(out->words, p->code->tag[i].words, sizeof out->words);
    for (unsigned r = 0; r < n->read_count; r++)
        out->source[out->source_count++] = (uint16_t)(EMU_ROW_V0 + n->read[r]);
}

static void use_tags(struct plan *p, uint32_t i)
{
    struct emu_dinsn *di = &p->code->insn[i];
    const struct isa_insn *insn = &p->program->insn[i];
    const struct node *n = &p->node[i];
    struct emu_handlers h;

    if (p->code->tag[i].address != 0) {
        bool uniform = n->d_words != 0 && tagged(p, n->def);
        bool write = info_of(p, i)->flags & ISA_F_STORE;
        if (!p->level->tagged_memory(insn, di, uniform, &h))
            return;
        di->ta = (uint16_t)(di->a / p->stride);
        di->td = (uint16_t)((write ? di->b : di->d) / p->stride);
        di->h = h;
        return;
    }
    if (!emu_compact_handlers(insn, di, &p->code->tag[i], &h))
        return;
    di->td = (uint16_t)(di->d / p->stride);
    di->ta = (uint16_t)(di->a / p->stride);
    di->tb = (uint16_t)(di->ukind == EMU_U_ROW ? di->b / p->stride : 0);
    di->tc = (uint16_t)(di->c / p->stride);
    if (di->flags & EMU_D_MODIFIED) {
        p->code->prelude[di->aux].tagged = h;
        h.full = emu_tag_prelude_full;
        h.part = emu_tag_prelude_part;
    }
    di->h = h;
}

static void choose(struct plan *p)
{
    uint32_t cur[256];

    for (uint32_t b = 0; b < p->block_count; b++) {
        const struct block *k = &p->block[b];
        struct regset now = k->tagged;
        enter(k, cur);
        for (uint32_t i = k->first; i < k->first + k->count; i++) {
            const struct node *n = &p->node[i];
            struct emu_dinsn *di = &p->code->insn[i];
            bool on_tags = false, touches = false;
            for (unsigned r = 0; r < n->read_count; r++)
                touches |= cur[n->read[r]] != NONE && tagged(p, cur[n->read[r]]);
            for (unsigned d = 0; d < n->d_words; d++)
                touches |= set_has(&now, n->d + d);
            if (n->can && (p->code->tag[i].address != 0 || compares(p, i)))
                on_tags = (touches || (n->d_words != 0 && tagged(p, n->def))) && works(p, i, cur);
            else if (n->can && n->d_words != 0)
                on_tags = tagged(p, n->def);
            if (n->boundary) {
                fill_plan(p, i);
                di->h.full = emu_boundary_full;
                di->h.part = emu_boundary_part;
            } else if (on_tags) {
                fill_plan(p, i);
                use_tags(p, i);
            } else if (touches) {
                fill_plan(p, i);
                di->h.full = emu_plain_full;
                di->h.part = emu_plain_part;
            }
            follow(p, i, &now);
            pass(n, cur);
        }
    }
}

/** Returns the kind of tag that thread index @axis has in every warp of a block of @size. */
static uint8_t axis_kind(enum emu_tag_rules rules, unsigned width, const uint32_t size[3],
                         unsigned axis)
{
    uint32_t below = 1, threads = size[0] * size[1] * size[2], x = size[0];
    bool folds = rules == EMU_TAG_RULES_FOLD && lw_popcount(x) == 1 && x > 1 && x < width;

    for (unsigned i = 0; i < axis; i++)
        below *= size[i];
    if (size[axis] == 1)
        return EMU_TAG_U;
    if (below == 1) /* the index grows by 1 from lane to lane, at least within a thread row of the block */
        return size[axis] == threads || size[axis] % width == 0 || (axis == 0 && folds)
                   ? EMU_TAG_A
                   : EMU_TAG_V;
    if (below % width == 0)
        return EMU_TAG_U;
    return axis == 1 && folds && (size[2] == 1 || x * size[1] % width == 0) ? EMU_TAG_A
                                                                           : EMU_TAG_V;
}
uint8_t emu_plan_shape(const struct emu_config *config, const uint32_t block[3])
{
    unsigned shape = 0;

    if (config->tags == EMU_TAGS_COMPACT)
        for (unsigned axis = 0; axis < 3; axis++)
            shape |= (unsigned)axis_kind(config->tag_rules, config->warp_width, block, axis)
                     << 2 * axis;
    return (uint8_t)shape;
}

enum lw_status emu_plan_make(struct emu_code *code, const struct emu_level *level,
                             uint32_t stride, struct lw_error *err)
{
    const struct emu_program *program = code->program;
    struct plan p = {.code = code, .program = program, .level = level, .stride = stride,
                     .count = program->count,
                     .long_rows = stride / 4 > LONG_ROW * level->vector_lanes,
                     .all = program->machine->config.tag_plan == EMU_TAG_PLAN_ALL,
                     .rules = program->machine->config.tag_rules};
    enum lw_status status = LW_OK;
    bool fits = true;

    code->plan = calloc((size_t)p.count + 1, sizeof *code->plan);
    p.node = calloc((size_t)p.count + 1, sizeof *p.node);
    if (code->plan == NULL || p.node == NULL) {
        status = LW_FAIL(err, LW_ENOMEM, "the host has no memory for the plan of %u instructions", p.count);
        goto cleanup;
    }
    for (uint32_t i = 0; i < p.count; i++)
        fits = read_node(&p, i) && fits;
    if (!fits || p.count == 0)
        goto cleanup; /* no value would be tagged */
    if (!find_blocks(&p)) {
        status = LW_FAIL(err, LW_ENOMEM, "the host has no memory for the plan of %u instructions", p.count);
        goto cleanup;
    }
    find_edges(&p);
    find_live(&p);
    if (!make_webs(&p)) {
        status = LW_FAIL(err, LW_ENOMEM, "the host has no memory for the plan of %u instructions", p.count);
        goto cleanup;
    }
    find_kinds(&p);
    find_gains(&p);
    find_tagged(&p);
    choose(&p);
cleanup:
    free(p.node);
    free(p.block);
    free(p.block_of);
    free(p.web);
    free(p.kind);
    free(p.gains);
    return status;
}
