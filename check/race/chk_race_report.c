/* SPDX-License-Identifier: Apache-2.0 */
/* Race checker: kinds of races, and their messages. */
#include "check/race/chk_race_priv.h"

#include <stdio.h>
#include <stdlib.h>

/** The previous access of a race, as its record describes it. */
struct other {
    uint32_t grid, thread, warp, lane, site;
    uint64_t linear, pc;
    bool same_block, same_warp, same_step, written;
};

/** Gets the address of a lane of the access. Returns false if the lane does not take part in the access. */
static bool address_of(const struct emu_hook_access *a, unsigned lane, uint64_t *at)
{
    if (!(a->at.lanes >> lane & 1))
        return false;
    if (a->piece_count == 0)
        *at = a->address[lane];
    for (unsigned k = 0; k < a->piece_count; k++) {
        const struct emu_addr_segment *p = &a->piece[k];

        if (lane >= p->first && lane <= p->last)
            *at = p->address + (p->run ? (lane - p->first) * a->bytes : 0);
    }
    return true;
}

/** Returns the value that a lane stores, or its first 8 bytes. */
static uint64_t stored(const struct race_access *ctx, unsigned lane)
{
    const struct emu_hook_site *at = &ctx->access->at;
    uint64_t low = 0, high = 0;

    if (ctx->value != NULL)
        return ctx->value[lw_popcount(at->lanes & lw_mask(lane))];

    (void)emu_reg_read(at->core, at->slot, at->warp, ISA_REG_V, isa_x_reg(at->insn->x), lane, &low);
    if (ctx->access->bytes >= 8)
        (void)emu_reg_read(at->core, at->slot, at->warp, ISA_REG_V, isa_x_reg(at->insn->x) + 1,
                           lane, &high);
    low |= high << 32;
    return ctx->access->bytes < 8 ? low & lw_mask(ctx->access->bytes * 8) : low;
}

static bool in_memory(const struct race_access *ctx, unsigned lane, uint64_t address, uint64_t *value)
{
    const struct emu_hook_site *at = &ctx->access->at;
    uint8_t bytes[8] = {0};
    unsigned n = ctx->access->bytes < 8 ? ctx->access->bytes : 8;

    if (ctx->value != NULL) {
        *value = ctx->value[lw_popcount(at->lanes) + lw_popcount(at->lanes & lw_mask(lane))];
        return true;
    }

    if (emu_mem_peek(at->core, at->slot, at->warp, lane, address, bytes, n) != n)
        return false;
    *value = 0;
    for (unsigned i = 0; i < n; i++)
        *value |= (uint64_t)bytes[i] << (8 * i);
    return true;
}

static void describe(const struct race_access *ctx, unsigned lane, uint64_t at, uint32_t tid,
                     uint32_t time, uint32_t site, bool written, struct other *out)
{
    const struct race_block *b = ctx->block;
    const struct race_block_id *block_id = &ctx->race->order.block_ids[tid >> RACE_THREAD_BITS];
    uint64_t address = 0;

    *out = (struct other){.grid = block_id->grid, .linear = block_id->linear, .written = written};
    out->thread = tid & ((1 << RACE_THREAD_BITS) - 1);
    out->warp = out->thread / b->width;
    out->lane = out->thread % b->width;
    out->site = site & (uint32_t)lw_mask(RACE_SITE_BITS);
    if (out->site != 0)
        out->pc = ISA_CODE_BASE + (uint64_t)(out->site - 1) * ISA_WORD_BYTES;
    out->same_block = tid >> RACE_THREAD_BITS == b->block_id;
    out->same_warp = out->same_block && out->warp == ctx->access->at.warp &&
                     site >> RACE_LEVEL_SHIFT <= RACE_WARP;
    out->same_step = out->same_warp && ctx->write && written && out->lane < lane &&
                     time == ctx->race->order.clock &&
                     out->site == (ctx->site & lw_mask(RACE_SITE_BITS)) &&
                     address_of(ctx->access, out->lane, &address) &&
                     address - at + ctx->access->bytes - 1 < 2 * ctx->access->bytes - 1u;
}

/** Returns true if a kernel or the host has written the location to which a lane's access stores. The contents of
 *  uninitialised shared memory, buffers or objects of malloc cannot be relied on. */
static bool was_written(const struct race_access *ctx, uint64_t at)
{
    const uint32_t bytes = ctx->access->bytes;
    struct race_page_shadow *cells = &ctx->block->shared;
    uint32_t before = ctx->block->start; /* records before this clock belong to another block */

    if (at >= ISA_GLOBAL_BASE) {
        if (!race_is_uninitialised(ctx->race, at, bytes))
            return true;
        cells = race_shadow_cached(&ctx->race->shadow, at - ISA_GLOBAL_BASE);
        at = (at - ISA_GLOBAL_BASE) & lw_mask(RACE_PAGE_SHIFT);
        before = 0;
    } else {
        at -= ISA_SHARED_BASE;
    }
    if (cells == NULL || cells->hot == NULL)
        return false;
    for (uint64_t i = at >> cells->shift; i <= (at + bytes - 1) >> cells->shift && i < cells->count; i++)
        if (*race_at(cells, RACE_W + RACE_CLOCK, i) <= before)
            return false;
    return true;
}

/** Returns the instruction of a site, or NULL if it is not known. */
static const struct isa_insn *insn_of(const struct chk_race *race, uint32_t site)
{
    const uint64_t number = site & lw_mask(RACE_SITE_BITS);
    const uint64_t index = number - 1 - (race->sites.program_base - ISA_CODE_BASE) / ISA_WORD_BYTES;

    return number == 0 || index >= emu_program_object(race->sites.program)->text_count /* the site is of another program */
               ? NULL
               : chk_insn_at(race->sites.program, (uint32_t)index);
}

/** Returns the number of bytes that a lane accesses at a site, which is a power of two, or 0 if it is not known. */
static unsigned bytes_of(const struct chk_race *race, uint32_t site)
{
    const struct isa_insn *insn = insn_of(race, site);
    const unsigned bytes = insn != NULL ? isa_mem_bytes(insn) : 0;

    return (bytes & (bytes - 1)) == 0 ? bytes : 0;
}

/** Returns the number of bytes that an atomic of a site changes in one operation, or 0 if it is not known. */
static unsigned atomic_bytes(const struct chk_race *race, uint32_t site)
{
    const struct isa_insn *insn = insn_of(race, site);

    if (insn == NULL || isa_op_info((enum isa_op)insn->op)->format != ISA_FMT_ATOM)
        return 0;
    switch (isa_mod_get(insn, ISA_MOD_ATYPE)) {
    case ISA_ATYPE_F16X2:
    case ISA_ATYPE_BF16X2: return 2; /* each half is a separate atomic */
    default: return isa_mem_bytes(insn);
    }
}

bool race_two_sizes(const struct race_access *ctx, uint32_t site)
{
    if (!(ctx->site & site & RACE_ATOMIC) || ((ctx->site ^ site) & lw_mask(RACE_SITE_BITS)) == 0)
        return false;
    const unsigned mine = atomic_bytes(ctx->race, ctx->site), theirs = atomic_bytes(ctx->race, site);
    return mine != theirs && mine != 0 && theirs != 0;
}

/** Returns true if the memory check skips an access of @bytes at @at. @write: the access is a write. */
static bool is_left_out(const struct race_access *ctx, unsigned lane, uint64_t at, unsigned bytes, bool write)
{
    const struct emu_hook_site *site = &ctx->access->at;
    struct emu_allocation a;
    uint8_t data[64];
    bool inside;

    bytes = bytes < sizeof data ? bytes : sizeof data;
    if (emu_mem_peek(site->core, site->slot, site->warp, lane, at, data, bytes) != bytes)
        return true;
    return write && at >= ISA_GLOBAL_BASE && emu_allocation_at(ctx->race->machine, at, &a, &inside) && inside &&
           (a.flags & EMU_ALLOC_READ_ONLY) != 0;
}

/** Returns true if the memory check skipped one of the two accesses. */
static bool is_one_left_out(const struct race_access *ctx, unsigned lane, uint64_t at, const struct other *other)
{
    const unsigned mine = ctx->freed != 0 ? 1 : ctx->access->bytes, theirs = bytes_of(ctx->race, other->site);

    if (is_left_out(ctx, lane, at, mine, ctx->write || other->written))
        return true;
    /* the previous access is larger and aligned to its size, so its address is known */
    return theirs > mine && is_left_out(ctx, lane, at & ~(uint64_t)(theirs - 1), theirs, other->written);
}

/** Returns true if both accesses write the same value, or if memory already had the written value. */
static bool is_benign(const struct race_access *ctx, unsigned lane, uint64_t at,
                      const struct other *other, uint64_t *mine, uint64_t *theirs)
{
    *mine = stored(ctx, lane);
    if (other->same_step) {
        *theirs = stored(ctx, other->lane);
        return *mine == *theirs;
    }
    return in_memory(ctx, lane, at, theirs) && *mine == *theirs && ctx->access->bytes <= 8 &&
           (other->written || was_written(ctx, at));
}

static const char *verb(bool atomic, bool write)
{
    return chk_access_names[atomic ? EMU_ACCESS_ATOMIC : write ? EMU_ACCESS_STORE : EMU_ACCESS_LOAD];
}

static const char *by_whom(const struct race_access *ctx, const struct other *other)
{
    return other->same_step                     ? "another lane in the same instruction"
           : other->same_warp                   ? "another lane of the warp"
           : other->same_block                  ? "another warp of the block"
           : other->grid == ctx->block->grid ? "another block"
                                                : "another launch";
}

static uint64_t key_of(uint32_t site, uint32_t other, enum chk_kind kind)
{
    uint64_t low = site & lw_mask(RACE_SITE_BITS), high = other & lw_mask(RACE_SITE_BITS);

    return (low < high ? low << RACE_SITE_BITS | high : high << RACE_SITE_BITS | low) << 6 |
           (unsigned)kind;
}

/** Returns the finding for races between weak accesses of this access's site and @site, if an earlier access reported it;
 *  NULL: there is no such finding. */
static struct chk_finding *reported_before(const struct race_access *ctx, uint32_t site)
{
    struct chk_race *race = ctx->race;
    const uint64_t key = key_of(ctx->site, site, CHK_RACE);

    if (race->pairs.last_key == key) /* The pair has been reported, so its further races are only counted. */
        return &race->chk->findings[race->pairs.last_finding];
    const struct race_pair *pair = lw_table_find(&race->pairs.table, sizeof *pair, key);
    if (pair == NULL || pair->key == 0 || pair->finding < 0 || pair->access == race->access_count)
        return NULL;
    race->pairs.last_key = key;
    race->pairs.last_finding = pair->finding;
    return &race->chk->findings[pair->finding];
}

bool race_found_repeat(const struct race_access *ctx, uint32_t site)
{
    struct chk_finding *f = reported_before(ctx, site);

    if (f != NULL)
        f->count++;
    return f != NULL;
}

int race_found_before(const struct race_access *ctx, uint32_t site)
{
    return reported_before(ctx, site) != NULL ? ctx->race->pairs.last_finding : -1;
}

bool race_stores_what_is(const struct race_access *ctx, unsigned lane, uint64_t at)
{
    uint64_t there;

    return !(ctx->race->kinds >> CHK_BENIGN_RACE & 1) && ctx->access->bytes <= 8 &&
           in_memory(ctx, lane, at, &there) && there == stored(ctx, lane) && was_written(ctx, at);
}

bool race_stores_same(const struct race_access *ctx, uint64_t lanes)
{
    if (ctx->race->kinds >> CHK_BENIGN_RACE & 1 || ctx->access->kind != EMU_ACCESS_STORE ||
        ctx->access->bytes > 8)
        return false;
    const uint64_t value = stored(ctx, lw_lowest(lanes));
    for (LW_EACH_BIT(l, lanes & (lanes - 1)))
        if (stored(ctx, (unsigned)l) != value)
            return false;
    return true;
}

/** Returns a barrier that the block has passed since @time, the clock of the previous access, and that does not order the
 *  memory at @at; NULL: there is none. */
static const struct isa_insn *weak_barrier(const struct race_access *ctx, const struct other *other, uint64_t at,
                                           uint32_t time, uint64_t *pc)
{
    const unsigned k = at >= ISA_GLOBAL_BASE;

    if (!other->same_block || time > ctx->block->weak[k].time)
        return NULL;
    *pc = ctx->block->weak[k].pc;
    return *pc != 0 ? emu_program_insn(ctx->access->at.program, *pc) : NULL;
}

/** Prints that the barrier @insn does not order the memory at @at, and the flag that it lacks. */
static void put_weak(struct chk *chk, const struct isa_insn *insn, uint64_t pc, uint64_t at, struct lw_sink *out)
{
    const bool global = at >= ISA_GLOBAL_BASE, none = isa_mod_get(insn, ISA_MOD_BMEM) == ISA_BMEM_NONE;
    struct chk_location location;

    chk_location_at(chk, 0, 0, 0, 0, pc, &location);
    lw_put(out, "; the barrier");
    if (location.line != 0)
        lw_printf(out, " at %s:%u", location.file, location.line);
    lw_printf(out, " %s, which does not order %s memory: add %s",
              none     ? "has no flags"
              : global ? "has only CLK_LOCAL_MEM_FENCE"
                       : "has only CLK_GLOBAL_MEM_FENCE",
              global ? "global" : "local", global ? "CLK_GLOBAL_MEM_FENCE" : "CLK_LOCAL_MEM_FENCE");
}

/** Returns a text that proposes how to order the two accesses. @line: both accesses are in one source line, such as
 *  `*count = *count + 1`. */
static const char *remedy(const struct race_access *ctx, const struct other *other, bool line)
{
    const bool atomics = ((ctx->site | other->site) & RACE_ATOMIC) != 0;

    if (line && !atomics && !other->same_step && other->grid == ctx->block->grid) {
        if (!ctx->write || !other->written)
            return other->same_block ? "one source line reads and writes this memory: use an atomic (atomicAdd, "
                                       "atomic_add), or add a block barrier between the read and the write"
                                     : "one source line reads and writes this memory: use an atomic (atomicAdd, "
                                       "atomic_add), or put the read and the write into two launches";
        return other->same_block ? "use an atomic (atomicAdd, atomic_add), let only one thread write, or add a block "
                                   "barrier between the two stores"
                                 : "use an atomic (atomicAdd, atomic_add), or let only one thread write";
    }
    return other->same_step                     ? "use an atomic, or let only one lane write"
           : other->same_warp                   ? "add a warp or block barrier between the two accesses"
           : other->same_block                  ? "add a block barrier between the two accesses"
           : other->grid == ctx->block->grid   ? "use atomics with fences, or put the two accesses into two launches"
                                                : "let one launch wait for the other (stream or event), or use atomics "
                                                  "with fences";
}

/** Adds a finding. @mine and @theirs: the written values, if both are known. @weak: the result of weak_barrier(). */
static void report(struct race_access *ctx, enum chk_kind kind, unsigned lane, uint64_t at,
                 const struct other *other, bool values, uint64_t mine, uint64_t theirs,
                 const struct isa_insn *weak, uint64_t weak_pc, struct race_pair *pair)
{
    struct chk_race *race = ctx->race;
    const struct emu_hook_access *a = ctx->access;
    struct chk_finding f = chk_finding_of(kind, 1);
    const char *space = at >= ISA_GLOBAL_BASE ? "global" : "shared";
    const struct emu_grid *grid = emu_grid_find(race->machine, ctx->block->grid);
    struct lw_buffer text;

    f.address = at;
    chk_location_at(race->chk, ctx->block->grid, ctx->block->linear, a->at.warp, UINT64_C(1) << lane,
                    race->sites.program_base + (uint64_t)a->at.index * ISA_WORD_BYTES, &f.location);
    chk_location_at(race->chk, other->grid, other->linear, other->warp, UINT64_C(1) << other->lane,
                 other->pc, &f.other);
    if (f.other.kernel[0] == '\0') /* the launch of the other access has left the machine */
        f.other.kernel = f.other.function;
    const bool line = f.location.line != 0 && f.location.line == f.other.line && strcmp(f.location.file, f.other.file) == 0;
    lw_buffer_init(&text);
    if (ctx->freed != 0)
        lw_printf(&text.sink, "free of %llu bytes at 0x%llx", (unsigned long long)ctx->freed_bytes,
                  (unsigned long long)(f.address = ctx->freed));
    else
        lw_printf(&text.sink, "%s %s of %u byte%s at 0x%llx", space,
                  verb((ctx->site & RACE_ATOMIC) != 0, ctx->write), a->bytes, a->bytes == 1 ? "" : "s", (unsigned long long)at);
    chk_put_where(race->machine, emu_program_object(a->at.program), grid != NULL ? grid->launch.kernel : NULL,
                  ctx->freed != 0 ? ctx->freed : at, &text.sink, &f.allocation);
    const char *theirs_is = verb((other->written && (other->site & RACE_ATOMIC)) != 0,
                                 other->written);
    switch (kind) {
    case CHK_WARP_SYNCHRONOUS:
        lw_printf(&text.sink, ": ordered after the %s by %s only if lanes run in lockstep: add a warp barrier "
                  "(__syncwarp; in OpenCL C a block barrier) between the two accesses%s",
                  theirs_is, by_whom(ctx, other),
                  line && ((ctx->site | other->site) & RACE_ATOMIC) == 0 ? ", or use an atomic (atomicAdd, atomic_add)" : "");
        break;
    case CHK_ATOMIC_SCOPE:
        lw_printf(&text.sink, ": not atomic with respect to the access by %s, because one of the two has only block "
                              "scope: use device scope for both", by_whom(ctx, other));
        break;
    case CHK_MISSING_ACQUIRE:
        lw_printf(&text.sink, ": ordered after the %s by %s only by a relaxed load of a flag: add a fence after that "
                              "load, or make it an acquire load", theirs_is, by_whom(ctx, other));
        break;
    default:
        lw_printf(&text.sink, ": data race with the %s by %s: no synchronisation orders them", theirs_is,
                  by_whom(ctx, other));
        if (race_two_sizes(ctx, other->site))
            lw_printf(&text.sink, "; the other access has %u byte%s, and atomics of different sizes are not atomic with "
                                  "respect to each other",
                      bytes_of(race, other->site), bytes_of(race, other->site) == 1 ? "" : "s");
        if (values && kind == CHK_BENIGN_RACE && !other->written)
            lw_printf(&text.sink, "; the store writes 0x%llx, the value that memory already has",
                      (unsigned long long)mine);
        else if (values && kind == CHK_BENIGN_RACE)
            lw_printf(&text.sink, "; both stores write 0x%llx", (unsigned long long)mine);
        else if (values && !other->written && mine == theirs && a->bytes <= 8)
            lw_printf(&text.sink, "; the store writes 0x%llx to uninitialised memory", (unsigned long long)mine);
        else if (values)
            lw_printf(&text.sink, "; the store writes 0x%llx over 0x%llx", (unsigned long long)mine,
                      (unsigned long long)theirs);
        if (weak != NULL)
            put_weak(race->chk, weak, weak_pc, at, &text.sink);
        else if (kind != CHK_BENIGN_RACE && ctx->freed == 0)
            lw_printf(&text.sink, "; %s", remedy(ctx, other, line));
        break;
    }
    pair->finding = chk_add_text(race->chk, &f, &text);
    pair->access = race->access_count;
    pair->counted = race->lane_count;
}

/** Returns true in two cases: the lane of the previous access is in the split of this access, or all live lanes of the warp
 *  formed one split at some time after the previous access. @time: clock of the previous access. */
static bool in_lockstep(const struct race_access *ctx, const struct other *other, uint32_t time)
{
    return (ctx->access->at.split_lanes >> other->lane & 1) != 0 || time < ctx->warp->converged;
}

/** Returns true if a race of volatile accesses is reported like a race of plain accesses. OpenCL C 1.2 guarantees
 *  nothing about volatile accesses, and orders the accesses of a work-group by barriers. OpenCL C 1.2 has no means to order
 *  accesses of different work-groups, so locks and flags between them are volatile or atomic. */
static bool volatile_orders_nothing(const struct race_access *ctx, const struct other *other, uint32_t site)
{
    struct race_block *b = ctx->block;

    if (!other->same_block || ((ctx->site | site) & RACE_ATOMIC) != 0 || !(ctx->race->kinds >> CHK_RACE & 1))
        return false;
    if (!b->opencl_known) {
        b->opencl = chk_is_opencl(ctx->race->chk, b->grid);
        b->opencl_known = true;
    }
    return b->opencl;
}

void race_found(struct race_access *ctx, unsigned lane, uint64_t at, uint32_t tid, uint32_t time,
                uint32_t site, bool written, enum race_order order)
{
    struct chk_race *race = ctx->race;
    enum chk_kind kind = CHK_RACE;
    uint64_t mine = 0, theirs = 0;
    struct other other;
    bool values = false, benign = false, is_new;
    uint64_t weak_pc = 0;

    describe(ctx, lane, at, tid, time, site, written, &other);
    other.site |= site & RACE_ATOMIC;
    const bool sizes = race_two_sizes(ctx, site);
    const bool strong = (ctx->site & site & RACE_STRONG) != 0 && !sizes;
    const bool volatiles = strong && ((ctx->site | site) & RACE_VOLATILE) != 0;
    const struct isa_insn *weak = weak_barrier(ctx, &other, at, time, &weak_pc);
    if (ctx->write && ctx->freed == 0 && ((ctx->site | site) & RACE_ATOMIC) == 0) {
        values = true;
        benign = is_benign(ctx, lane, at, &other, &mine, &theirs);
    }
    if (order == RACE_PENDING && strong && !volatiles)
        return; /* The two accesses are atomics, and the scope of one of them is too narrow. A read between them would be
                 * sufficient to order them. */
    if (order == RACE_PENDING)
        kind = CHK_MISSING_ACQUIRE;
    else if (benign)
        kind = CHK_BENIGN_RACE;
    else if (weak == NULL && other.same_warp && !other.same_step && in_lockstep(ctx, &other, time) &&
             (!volatiles || (at < ISA_LOCAL_BASE && (ctx->site & site & RACE_VOLATILE) != 0 &&
                             ((ctx->write && written) || !race_waits_for(race, ctx->write ? site : ctx->site)))))
        kind = CHK_WARP_SYNCHRONOUS;
    else if (volatiles && !volatile_orders_nothing(ctx, &other, site))
        kind = CHK_VOLATILE_RACE;
    else if (volatiles)
        kind = CHK_RACE;
    else if (strong)
        kind = CHK_ATOMIC_SCOPE;
    if (!(race->kinds >> kind & 1) || is_one_left_out(ctx, lane, at, &other))
        return;
    const uint64_t key = key_of(ctx->site, site, kind);
    struct race_pair *pair = lw_table_add(&race->pairs.table, sizeof(struct race_pair), key, &is_new);
    if (pair == NULL) {
        race->chk->short_of_memory = true;
        return;
    }
    if (is_new) {
        const size_t had = race->chk->count;
        report(ctx, kind, lane, at, &other, values, mine, theirs, weak, weak_pc, pair);
        /* The finding shows the lanes of its first occurrence only. If chk_add() has added this race to an older finding,
         * this race is not the first occurrence, so no lanes are added. */
        pair->other = race->chk->count != had ? (uint64_t)(tid >> RACE_THREAD_BITS) << 32 | other.warp : UINT64_MAX;
        return;
    }
    if (pair->finding < 0) {
        race->chk->beyond += pair->finding == CHK_DROPPED;
        return;
    }
    struct chk_finding *f = &race->chk->findings[pair->finding];
    /* A lane is counted once, even if several of its bytes race. */
    f->count += pair->counted != race->lane_count;
    pair->counted = race->lane_count;
    if (pair->access == race->access_count &&
        pair->other == ((uint64_t)(tid >> RACE_THREAD_BITS) << 32 | other.warp)) {
        f->location.lanes |= UINT64_C(1) << lane;
        f->other.lanes |= UINT64_C(1) << other.lane;
    }
}
