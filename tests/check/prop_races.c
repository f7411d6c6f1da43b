/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests the race checker with random kernels against a simple model. The model processes accesses, barriers, fences and
 * atomics with a vector clock for each thread and a list of all accesses. The model neither drops nor merges accesses. Each
 * reported race must be a race of the model. If the model has a race, at least one race must be reported. A second form of
 * kernels has a large buffer, whose words may have the packed shadow, and several launches. For these kernels each racing
 * pair of accesses must be reported, unless a later access of the same thread to the same location has replaced an access of
 * the pair.
 *
 * prop_races [SEED [COUNT]]
 */
#include <stdarg.h>

#include "check/check.h"
#include "tests/emu/exec/emu_fixture.h"

enum { BLOCKS = 2, MOST_BLOCKS = 4, MOST = 128, COUNTED = 32, KEYS = 8, BARRIERS = 16, ACCESSES = 8192, PAIRS = 256 };

struct clocks {
    uint32_t at[MOST];
};
struct past {
    unsigned thread, bytes;
    uint32_t clock;
    uint64_t address, pc; /* address: shared memory of each block has addresses in the same array as global memory */
    bool write, strong, cta;
};
struct pair {
    uint64_t a, b;
    bool strict; /* true if the pair races even when relaxed reads order accesses */
    bool open;   /* the accesses are ordered, but the location has another race, so that a report is permitted */
    bool kept;   /* true if, at least once when the pair raced, no later access of the thread had replaced the first access */
    bool told;   /* true if the checker has reported the pair */
};
struct variable {
    uint64_t address;
    struct clocks gpu, cta;
    unsigned block;
};
struct model {
    struct emu_observer observer;
    unsigned width, threads; /* warp width, and threads of a block */
    unsigned count[BARRIERS]; /* for each barrier from 2 on, the number of threads for which the barrier waits */
    struct clocks own[MOST], pending[2][MOST], fence[2][MOST], fenced[MOST];
    bool has_fence[2][MOST];
    uint64_t waits[MOST_BLOCKS][BARRIERS], exited[MOST_BLOCKS]; /* by barrier: threads that wait at the barrier; threads that
                                                                 * have ended */
    unsigned left[MOST_BLOCKS][BARRIERS]; /* number of threads that have arrived at the barrier and continued */
    /* vector clock that arriving threads have merged into the barrier, and their clocks from relaxed reads */
    struct clocks brought[MOST_BLOCKS][BARRIERS][3];
    uint64_t arrives[MOST]; /* by warp: the lanes that wait at a warpsync */
    uint64_t mask[MOST];  /* for each thread that waits at a warpsync its mask, whose bits are lanes of a 32-lane warp */
    struct variable variable[KEYS];
    struct past past[ACCESSES];
    unsigned past_count;
    struct pair pair[PAIRS];
    unsigned pair_count;
    bool full;
};

/* ---- the model ------------------------------------------------------------------------------- */

static void join(struct clocks *a, const struct clocks *b)
{
    for (unsigned i = 0; i < MOST; i++)
        a->at[i] = a->at[i] > b->at[i] ? a->at[i] : b->at[i];
}

/** Join the clocks of threads @first + t, for each t in @set: these threads have completed a barrier together. */
static void meet(struct model *m, unsigned first, uint64_t set)
{
    struct clocks all = {{0}}, pending[2] = {{{0}}};

    for (LW_EACH_BIT(t, set)) {
        join(&all, &m->own[first + t]);
        for (unsigned k = 0; k < 2; k++)
            join(&pending[k], &m->pending[k][first + t]);
    }
    for (LW_EACH_BIT(t, set)) {
        m->own[first + t] = all;
        m->own[first + t].at[first + t]++;
        for (unsigned k = 0; k < 2; k++)
            m->pending[k][first + t] = pending[k];
    }
}

static void block_barrier(struct model *m, unsigned block)
{
    unsigned first = block * m->threads;
    uint64_t live = lw_mask(m->threads) & ~m->exited[block];

    if (m->waits[block][0] != 0 && (live & ~m->waits[block][0]) == 0) {
        struct clocks fenced = {{0}};

        for (LW_EACH_BIT(t, live))
            if (m->has_fence[0][first + t])
                fenced.at[first + t] = m->fence[0][first + t].at[first + t];
        meet(m, first, m->waits[block][0] | m->exited[block]); /* a thread that has ended counts as arrived */
        for (LW_EACH_BIT(t, live))
            join(&m->fenced[first + t], &fenced);
        m->waits[block][0] = 0;
    }
}

static void counted_barrier(struct model *m, unsigned block, unsigned id, unsigned count)
{
    unsigned first = block * m->threads;
    struct clocks *brought = m->brought[block][id];
    uint64_t waits = m->waits[block][id];

    if (lw_popcount(waits) + m->left[block][id] != count)
        return;
    for (LW_EACH_BIT(t, waits)) {
        join(&m->own[first + t], &brought[0]);
        join(&m->pending[0][first + t], &brought[1]);
        join(&m->pending[1][first + t], &brought[2]);
    }
    meet(m, first, waits);
    m->waits[block][id] = m->left[block][id] = 0;
    memset(brought, 0, sizeof m->brought[block][id]);
}

static void arrive(struct model *m, unsigned block, unsigned id, unsigned t)
{
    join(&m->brought[block][id][0], &m->own[t]);
    join(&m->brought[block][id][1], &m->pending[0][t]);
    join(&m->brought[block][id][2], &m->pending[1][t]);
    m->own[t].at[t]++;
    m->left[block][id]++;
}

static void warp_barrier(struct model *m, unsigned warp)
{
    unsigned first = warp * m->width, block = first / m->threads;
    uint64_t live = ~m->exited[block] >> (first % m->threads) & lw_mask(m->width);

    for (LW_EACH_BIT(l, m->arrives[warp])) {
        uint64_t mask = m->mask[first + l];
        uint64_t same = 0;

        for (LW_EACH_BIT(k, m->arrives[warp]))
            same |= (uint64_t)(m->mask[first + k] == mask) << k;
        if ((mask & live & ~same) != 0)
            continue;
        meet(m, first, same);
        m->arrives[warp] &= ~same;
        l_rest &= ~same | UINT64_C(1) << l;
    }
}

static void fence(struct model *m, unsigned t, bool gpu)
{
    for (unsigned k = gpu ? 0 : 1; k < 2; k++)
        join(&m->own[t], &m->pending[k][t]);
    for (unsigned k = gpu ? 0 : 1; k < 2; k++) {
        m->fence[k][t] = m->own[t];
        m->has_fence[k][t] = true;
    }
    m->own[t].at[t]++;
}

static void atomic(struct model *m, unsigned t, uint64_t address, bool cta)
{
    struct variable *v = m->variable;
    unsigned block = t / m->threads;

    while (v->address != 0 && v->address != address)
        v++;
    assert_true(v < m->variable + KEYS);
    v->address = address;
    if (!cta)
        join(&m->pending[0][t], &v->gpu);
    if (v->block == block + 1)
        join(&m->pending[1][t], &v->cta);
    if (!m->has_fence[1][t])
        return;
    if (!cta && m->has_fence[0][t]) {
        join(&v->gpu, &m->fence[0][t]);
        join(&v->gpu, &m->fenced[t]);
    }
    if (v->block != block + 1)
        v->cta = (struct clocks){{0}};
    v->block = block + 1;
    join(&v->cta, &m->fence[1][t]);
}

static void pair_add(struct model *m, uint64_t a, uint64_t b, bool strict, bool open, bool kept)
{
    uint64_t low = a < b ? a : b, high = a < b ? b : a;

    for (unsigned i = 0; i < m->pair_count; i++)
        if (m->pair[i].a == low && m->pair[i].b == high) {
            m->pair[i].strict |= strict && !open;
            m->pair[i].open |= open;
            m->pair[i].kept |= kept;
            return;
        }
    assert_true(m->pair_count < PAIRS);
    m->pair[m->pair_count++] = (struct pair){.a = low, .b = high, .strict = strict && !open, .open = open,
                                             .kept = kept};
}

/** Return true if the thread of access @m->past[@i] has not accessed the location again. A later access would replace this
 *  one in the checker. */
static bool is_last(const struct model *m, unsigned i)
{
    const struct past *last = &m->past[i];

    for (unsigned k = i + 1; k < m->past_count; k++)
        if (m->past[k].thread == last->thread && m->past[k].address < last->address + last->bytes &&
            last->address < m->past[k].address + m->past[k].bytes)
            return false;
    return true;
}

/** Return true if PTX's observation order puts access @now after @m->past[@i]. This is the case if a chain of atomics after
 *  that access has read its value, with each atomic in the scope of the preceding one, and if the thread of @now is ordered
 *  after one of these atomics. Set *@amid if this holds for only some of the atomics, or if blocks accessed the location with
 *  scopes of both kinds. In both cases a report is permitted; in the first case, the location has a race anyway. */
static bool was_observed(const struct model *m, unsigned i, const struct past *now, bool *amid)
{
    const struct past *last = &m->past[i];
    bool known = false, cta = false, blocks = false;

    *amid = false;
    if (!last->strong)
        return false;
    for (unsigned k = 0; k < m->past_count; k++) {
        const struct past *p = &m->past[k];

        if (!p->write || p->address >= last->address + last->bytes ||
            last->address >= p->address + p->bytes)
            continue;
        cta |= p->cta;
        blocks |= p->thread / m->threads != last->thread / m->threads;
        if (k <= i)
            continue;
        *amid = !p->strong ||
                ((p->cta || last->cta) && p->thread / m->threads != last->thread / m->threads);
        if (*amid)
            return known;
        *amid = p->clock > m->own[now->thread].at[p->thread];
        known |= !*amid;
        last = p;
    }
    *amid |= cta && blocks;
    return known;
}

static void access_one(struct model *m, const struct past *now)
{
    struct clocks more = m->own[now->thread];

    join(&more, &m->pending[0][now->thread]);
    join(&more, &m->pending[1][now->thread]);
    for (unsigned i = 0; i < m->past_count; i++) {
        const struct past *p = &m->past[i];

        if (p->thread == now->thread || !(p->write || now->write) || (p->strong && now->strong) ||
            p->address >= now->address + now->bytes || now->address >= p->address + p->bytes ||
            p->clock <= m->own[now->thread].at[p->thread])
            continue;
        bool amid, observed = was_observed(m, i, now, &amid);
        if (!observed || amid)
            pair_add(m, p->pc, now->pc, p->clock > more.at[p->thread], observed, is_last(m, i));
    }
    if (m->past_count == ACCESSES)
        m->full = true;
    else
        m->past[m->past_count++] = *now;
}

static bool on_event(struct emu_observer *observer, const struct emu_event *ev)
{
    struct model *m = (struct model *)(void *)observer;
    unsigned block = (unsigned)ev->block, warp = block * m->threads / m->width + ev->warp;
    unsigned first = warp * m->width, inside = first % m->threads;
    uint64_t lanes = ev->split_lanes & ev->guard;

    for (unsigned i = 0; i < ev->access_count; i++) {
        const struct emu_access *a = &ev->access[i];

        if (a->kind == EMU_ACCESS_CONSTANT)
            continue;
        for (LW_EACH_BIT(l, a->lanes)) {
            unsigned t = first + (unsigned)l;
            bool shared = a->address[l] < ISA_LOCAL_BASE;
            uint64_t address = a->address[l] + (shared ? (uint64_t)block << 50 : 0);

            access_one(m, &(struct past){t, a->bytes, m->own[t].at[t], address, ev->pc,
                                         a->kind != EMU_ACCESS_LOAD, a->kind >= EMU_ACCESS_ATOMIC,
                                         a->scope == ISA_SCOPE_CTA});
            if (a->kind >= EMU_ACCESS_ATOMIC)
                atomic(m, t, address, a->scope == ISA_SCOPE_CTA);
        }
    }
    switch (ev->insn->op) {
    case ISA_FENCE:
        for (LW_EACH_BIT(l, lanes))
            fence(m, first + (unsigned)l, isa_mod_get(ev->insn, ISA_MOD_FSCOPE) != ISA_FSCOPE_CTA);
        break;
    case ISA_BAR_ARRIVE:
        for (LW_EACH_BIT(l, lanes))
            arrive(m, block, ev->insn->x, first + (unsigned)l);
        counted_barrier(m, block, ev->insn->x, ev->insn->x == 1 ? COUNTED : m->count[ev->insn->x]);
        break;
    case ISA_BAR_SYNC:
        m->waits[block][ev->insn->x] |= lanes << inside;
        if (ev->insn->x == 0)
            block_barrier(m, block);
        else
            counted_barrier(m, block, ev->insn->x, ev->insn->x == 1 ? COUNTED : m->count[ev->insn->x]);
        break;
    case ISA_WARPSYNC:
        m->arrives[warp] |= lanes;
        for (LW_EACH_BIT(l, lanes))
            m->mask[first + l] = (ev->insn->x & lw_mask(m->width < 32 ? m->width : 32)) << (l & 32);
        warp_barrier(m, warp);
        break;
    case ISA_EXIT:
        m->exited[block] |= lanes << inside;
        block_barrier(m, block);
        break;
    default:
        break;
    }
    return false;
}

/* ---- random kernels --------------------------------------------------------------------------- */

struct random {
    uint64_t state;
};
static unsigned draw(struct random *r, unsigned below)
{
    r->state = r->state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (unsigned)(r->state >> 33) % below;
}

/** Emit code that sets v10 to a word index: in [0, 32) for global memory, or in [0, 16) for shared memory. The pattern of
 *  the indices is random. */
static void put_word(struct random *r, bool shared, unsigned threads, struct lw_sink *out)
{
    switch (draw(r, 6)) {
    case 0: /* the word of a neighbouring thread */
        lw_printf(out, "v_xor_b32 v10, v0, %u\n", 1u << draw(r, threads > COUNTED ? 6 : 2));
        break;
    case 1: /* one word for all threads */
        lw_printf(out, "v_mov_b32 v10, %u\n", draw(r, 4));
        break;
    case 2: /* the word of the same thread of the other block */
        lw_put(out, "v_xor_b32 v10, v1, 1\n");
        lw_printf(out, "v_mul_u32 v10, v10, %u\nv_add_u32 v10, v10, v0\n", shared ? 0 : threads);
        return;
    default: /* the thread's own word */
        lw_put(out, "v_mov_b32 v10, v0\n");
        break;
    }
    if (!shared)
        lw_printf(out, "v_mul_u32 v11, v1, %u\nv_add_u32 v10, v10, v11\n", threads);
}

static void put_access(struct random *r, unsigned threads, const char *guard, struct lw_sink *out)
{
    static const char *const how[] = {"ld.%s.b32%s v20, [%s]\n", "st.%s.b32%s [%s], v21\n",
                                      "ld.%s.u8%s v20, [%s]\n", "st.%s.u8%s [%s], v21\n"};
    bool shared = draw(r, 2) == 0;
    unsigned k = draw(r, 8);
    char text[64];

    put_word(r, shared, threads, out);
    bool bytes = k >= 6;
    if (shared)
        lw_printf(out, "v_mul_u32 v14, v10, %u\n", bytes ? 1 : 4);
    else
        lw_printf(out, "v_madwide_u32 v12:13, v10, %u, v8:9\n", bytes ? 1 : 4);
    lw_printf(out, "v_add_u32 v21, v0, %u\n", 1 + draw(r, 50));
    snprintf(text, sizeof text, how[(bytes ? 2 : 0) + (k & 1)], shared ? "shared" : "global", "",
             shared ? "v14" : "v12:13");
    lw_printf(out, "%s%s", guard, text);
}

/** Emit a barrier at which one half of the threads waits, after the other half has ended. With @counted the barrier has the
 *  count of the waiting half. */
static void put_half_arrives(unsigned threads, bool counted, unsigned id, unsigned *count, struct lw_sink *out)
{
    count[id] = threads / 2;
    lw_printf(out, "v_mov_b32 v5, %u\nbar.sync %u%s\n", count[id], counted ? id : 0, counted ? ", v5" : "");
}

/** Emit a barrier for the threads whose number has bit @bit, or a barrier for all threads at which some threads only
 *  arrive. */
static void put_part(struct random *r, unsigned threads, unsigned id, unsigned *count, struct lw_sink *out)
{
    const unsigned bit = draw(r, threads > COUNTED ? 6 : 5);
    const char *no = draw(r, 2) == 0 ? "!" : "";

    lw_printf(out, "v_and_b32 v4, v0, %u\nv_setp_u32.ne p3, v4, 0\n", 1u << bit);
    *count = draw(r, 2) == 0 ? threads / 2 : threads;
    lw_printf(out, "v_mov_b32 v5, %u\n", *count);
    if (*count == threads)
        lw_printf(out, "@%sp3 bar.arrive %u, v5\n", *no ? "" : "!", id);
    if (draw(r, 3) == 0)
        put_access(r, threads, "", out);
    lw_printf(out, "@%sp3 bar.sync %u, v5\n", no, id);
}

/** Create a kernel for blocks of @threads threads in warps of @width lanes. Set count[barrier] for barriers at which only
 *  some threads wait. */
static void put_kernel(struct random *r, unsigned width, unsigned threads, unsigned *count, struct lw_sink *out)
{
    unsigned id = 2;

    unsigned steps = 4 + draw(r, 14), calm = 1 + draw(r, 3);

    lw_put(out, ".kernel k\n.param ptr.global out\n.shared tile 512\nv_s2r v0, %tid.x\n"
                "v_s2r v1, %ctaid.x\nv_mov_b64 v8:9, c[out]\n");
    lw_printf(out, "v_mov_b32 v3, 32\nv_setp_u32.lt p1, v0, v3\nv_and_b32 v2, v0, %u\nv_setp_u32.lt p2, v2, 2\n",
              width - 1);
    for (unsigned i = 0; i < steps; i++) {
        switch (draw(r, 10)) {
        case 0:
        case 1:
            lw_put(out, "bar.sync 0\n");
            break;
        case 2:
            lw_put(out, draw(r, 3) == 0 ? "@p2 warpsync 3\n" : "warpsync -1\n");
            break;
        case 3:
            if (threads >= COUNTED && draw(r, 2) == 0 && id < BARRIERS - 1) {
                put_part(r, threads, id, &count[id], out);
                id++;
                break;
            }
            lw_put(out, threads > COUNTED && draw(r, 2) == 0 ? "@p1 bar.sync 1, v3\n" : "nop\n");
            break;
        case 4: /* a fence and an atomic, in all threads or in one thread of a block */
            lw_put(out, draw(r, 4) == 0 ? "fence.cta\n" : "fence\n");
            if (draw(r, 3) == 0)
                lw_put(out, "bar.sync 0\n");
            lw_printf(out, "v_setp_u32.lt p0, v0, %u\n", draw(r, 2) == 0 ? 1 : threads);
            lw_printf(out, "@p0 atom.global.add.u32%s v22, [v8:9+%u], v1\n",
                      draw(r, 5) == 0 ? ".cta" : "", 2048 + 4 * draw(r, 2));
            if (draw(r, 3) != 0)
                lw_put(out, "fence\n");
            if (draw(r, 2) != 0)
                lw_put(out, "bar.sync 0\n");
            break;
        case 9: /* a plain access to memory that atomics access */
            lw_printf(out, "v_setp_u32.lt p0, v0, %u\n", draw(r, 2) == 0 ? 1 : threads);
            lw_printf(out, draw(r, 2) == 0 ? "@p0 ld.global.b32 v20, [v8:9+%u]\n"
                                           : "@p0 st.global.b32 [v8:9+%u], v1\n",
                      2048 + 4 * draw(r, 2));
            break;
        case 5: /* an access by the lanes that do not take a branch */
            lw_printf(out, "v_setp_u32.lt p0, v2, %u\nbssy b0, l%u\n@p0 bra l%u\n",
                      1 + draw(r, width), i, i);
            put_access(r, threads, "", out);
            lw_printf(out, "l%u:\nbsync b0\n", i);
            break;
        case 6: /* an access by the lanes that a guard selects */
            lw_printf(out, "v_setp_u32.lt p0, v0, %u\n", 1 + draw(r, threads));
            put_access(r, threads, "@p0 ", out);
            break;
        default:
            put_access(r, threads, "", out);
            break;
        }
        for (unsigned k = draw(r, 4); k < calm; k++)
            lw_put(out, "bar.sync 0\n");
    }
    if (threads >= COUNTED && draw(r, 2) == 0) { /* some threads end, and the others wait at a barrier */
        const unsigned bit = draw(r, threads > COUNTED ? 6 : 5);

        lw_printf(out, "v_and_b32 v4, v0, %u\nv_setp_u32.ne p3, v4, 0\n@p3 exit\n", 1u << bit);
        put_half_arrives(threads, draw(r, 3) != 0, id, count, out);
        put_access(r, threads, "", out);
    }
    lw_put(out, "exit\n.end\n");
}

/** Create a kernel whose threads write their own words, and read words of other threads after barriers of some threads, of
 *  the lanes of a warp, or of all live threads. Each word is used in only one step, so that all races are found. */
static void put_barriers(struct random *r, unsigned width, unsigned threads, unsigned *count, struct lw_sink *out)
{
    const unsigned steps = 2 + draw(r, 6), bits = threads > COUNTED ? 6 : 5;
    unsigned id = 2;

    lw_put(out, ".kernel k\n.param ptr.global out\n.shared tile 4096\nv_s2r v0, %tid.x\nv_mul_u32 v6, v0, 4\n");
    for (unsigned i = 0; i < steps; i++) {
        /* threads read words of this step, or read words of the previous step again */
        const bool again = i != 0 && draw(r, 3) == 0;
        const unsigned tile = i * threads * 4, read = again ? (i - 1) * threads * 4 : tile;
        const unsigned other = 1u << draw(r, bits), bit = draw(r, bits);

        lw_printf(out, "st.shared.b32 [v6+%u], v0\nv_xor_b32 v7, v0, %u\nv_mul_u32 v7, v7, 4\n", tile, other);
        lw_printf(out, "v_and_b32 v4, v0, %u\nv_setp_u32.ne p3, v4, 0\n", 1u << bit);
        switch (draw(r, 6)) {
        case 0:
            lw_put(out, "bar.sync 0\n");
            break;
        case 1:
            lw_put(out, width < 32 && draw(r, 2) == 0 ? "warpsync -1\n" : "nop\n");
            break;
        case 2: /* only one half of the threads waits at a barrier */
            count[id] = threads / 2;
            lw_printf(out, "v_mov_b32 v5, %u\n@p3 bar.sync %u, v5\n", count[id], id);
            id++;
            break;
        case 3: /* each half of the threads waits at its own barrier */
            count[id] = count[id + 1] = threads / 2;
            lw_printf(out, "v_mov_b32 v5, %u\n@p3 bar.sync %u, v5\n@!p3 bar.sync %u, v5\n", count[id], id, id + 1);
            id += 2;
            break;
        case 4: /* in the last step one half ends, and the other waits at a barrier */
            if (i + 1 == steps) {
                lw_put(out, "@!p3 exit\n");
                put_half_arrives(threads, draw(r, 4) != 0, id, count, out);
                break;
            } /* fall through */
        default: /* one half of the threads arrives at the barrier and continues, and the other half waits */
            count[id] = threads;
            lw_printf(out, "v_mov_b32 v5, %u\n@p3 bar.arrive %u, v5\n", count[id], id);
            lw_printf(out, "st.shared.b32 [v6+%u], v0\n@!p3 bar.sync %u, v5\n", tile + 2048, id);
            id++;
            break;
        }
        lw_printf(out, "%sld.shared.b32 v20, [v7+%u]\n", draw(r, 3) == 0 ? "@!p3 " : "", read);
        if (draw(r, 3) == 0)
            lw_printf(out, "ld.shared.b32 v20, [v7+%u]\n", read + 2048);
        if (draw(r, 4) == 0)
            lw_put(out, "fence.cta\n");
    }
    lw_put(out, "exit\n.end\n");
}

/** Create a kernel of steps with two accesses each. Each step uses its own words of a buffer, so that all races are found.
 *  The buffer may have the packed shadow. In most steps the first stores are scattered, and accesses before them may be
 *  deferred. c[n] counts launches, so that each stored value is different. */
static void put_apart(struct random *r, unsigned width, unsigned blocks, unsigned threads, struct lw_sink *out)
{
    enum { TILE = 4096, MOST_STEPS = 8 }; /* words of a step, and the greatest number of steps */
    static const unsigned scales[] = {1, 2, 5, 6, 30};
    const unsigned steps = 2 + draw(r, MOST_STEPS - 2), bits = lw_lowest(threads);
    const bool odd = draw(r, 4) == 0, fences = draw(r, 12) == 0, arrives = draw(r, 4) == 0;

    lw_put(out, ".kernel k\n.param ptr.global out\n.param u32 n\nv_s2r v0, %tid.x\nv_s2r v1, %ctaid.x\n"
                "v_mov_b64 v8:9, c[out]\nv_mov_b32 v3, c[n]\n");
    lw_printf(out, "v_mul_u32 v2, v1, %u\nv_add_u32 v2, v2, v0\n", threads);
    for (unsigned i = 0; i < steps; i++) {
        const unsigned scale = scales[draw(r, sizeof scales / sizeof scales[0])], at = i * TILE + 2 * draw(r, 128);

        for (unsigned k = 0; k < 2; k++) {
            const bool write = draw(r, 2) == 0, guard = draw(r, 3) == 0;
            const bool wide = odd && scale % 2 == 0 && draw(r, 3) == 0;

            const unsigned lane_ref = draw(r, write ? 4 : 6);
            switch (k != 0 || lane_ref >= 4 ? lane_ref : 0) {
            case 0:
                lw_put(out, "v_mov_b32 v10, v2\n");
                break;
            case 1: /* the word of a thread of another block */
                lw_printf(out, "v_xor_b32 v10, v2, %u\n", threads << draw(r, blocks / 2));
                break;
            /* All lanes of a warp, or some of them, access one word. Of several writes only the last would be reported. */
            case 4:
                lw_printf(out, "v_and_b32 v10, v2, %u\n", ~(uint32_t)lw_mask(draw(r, bits + 2)));
                break;
            default:
                lw_printf(out, "v_xor_b32 v10, v2, %u\n", 1u << draw(r, bits));
                break;
            }
            lw_printf(out, "v_mul_u32 v10, v10, %u\nv_madwide_u32 v12:13, v10, 4, v8:9\n", scale);
            lw_printf(out, "v_and_b32 v4, v0, %u\nv_setp_u32.ne p3, v4, 0\n", 1u << draw(r, bits));
            lw_printf(out, "v_mad_u32 v21, v3, 65536, v2\nv_add_u32 v21, v21, %u\n", 1 + (2 * i + k) * MOST);
            lw_printf(out, "v_mov_b32 v20, v21\n%s", guard ? "@p3 " : "");
            if (write)
                lw_printf(out, "st.global.b%u [v12:13+%u], v20%s\n", wide ? 64 : 32, 4 * at, wide ? ":21" : "");
            else
                lw_printf(out, "ld.global.b%u v20%s, [v12:13+%u]\n", wide ? 64 : 32, wide ? ":21" : "", 4 * at);
            if (k != 0)
                continue;
            switch (draw(r, 5)) {
            case 0:
                lw_put(out, fences ? "fence\n" : arrives ? "warpsync -1\n" : "nop\n");
                break;
            case 1:
            case 2:
                lw_put(out, "bar.sync 0\n");
                break;
            case 3: /* lanes diverge and reconverge, which orders no accesses */
                lw_printf(out, "v_setp_u32.lt p0, v0, %u\nbssy b0, l%u\n@p0 bra l%u\nnop\nl%u:\nbsync b0\n",
                          1 + draw(r, width), i, i, i);
                break;
            default:
                break;
            }
        }
        if (draw(r, 3) == 0)
            lw_put(out, "bar.sync 0\n");
    }
    lw_put(out, "exit\n.end\n");
}

/** Update the model at the end of a host launch: the next launch is ordered after all earlier accesses. */
static void launch_over(struct model *m)
{
    struct clocks all = {{0}};

    for (unsigned t = 0; t < MOST; t++)
        join(&all, &m->own[t]);
    memset(m->pending, 0, sizeof m->pending);
    memset(m->has_fence, 0, sizeof m->has_fence);
    memset(m->fenced, 0, sizeof m->fenced);
    memset(m->waits, 0, sizeof m->waits);
    memset(m->exited, 0, sizeof m->exited);
    memset(m->arrives, 0, sizeof m->arrives);
    for (unsigned t = 0; t < MOST; t++) {
        m->own[t] = all;
        m->own[t].at[t]++;
    }
    m->past_count = 0;
}

/* ---- the comparison ------------------------------------------------------------------------------ */

static unsigned racy, calm;

/** Check that each finding is a race of the model. With @every, also check that each race of the model is reported, unless
 *  in all cases a later access of the same thread has replaced the earlier access of the race. */
static void compare(struct model *m, struct chk *chk, uint64_t seed, const char *text, bool every)
{
    const struct chk_finding *f;
    unsigned strict = 0, found = 0;

    for (unsigned i = 0; i < m->pair_count; i++)
        strict += m->pair[i].strict;
    for (unsigned i = 0; !m->full && (f = chk_get(chk, i)) != NULL; i++) {
        uint64_t low = f->location.pc < f->other.pc ? f->location.pc : f->other.pc;
        uint64_t high = f->location.pc < f->other.pc ? f->other.pc : f->location.pc;
        bool pending = f->kind == CHK_MISSING_ACQUIRE, known = f->kind == CHK_ATOMIC_SCOPE;

        found += !pending && f->kind != CHK_ATOMIC_SCOPE;
        for (unsigned k = 0; k < m->pair_count; k++) {
            m->pair[k].told |= m->pair[k].a == low && m->pair[k].b == high;
            known |= m->pair[k].a == low && m->pair[k].b == high &&
                     (pending || m->pair[k].strict || m->pair[k].open);
        }
        if (!known) {
            fprintf(stderr, "%s%s; width %u, threads %u\n", text, f->message, m->width,
                    m->threads);
            fail_msg("seed %llu: %s at lines %u and %u is no race of the model", (unsigned long long)seed,
                     chk_kinds[f->kind].name, f->location.line, f->other.line);
        }
    }
    if (!m->full && strict != 0 && found == 0) {
        fputs(text, stderr);
        for (unsigned i = 0; i < m->pair_count; i++)
            fprintf(stderr, "0x%llx and 0x%llx%s\n", (unsigned long long)m->pair[i].a,
                    (unsigned long long)m->pair[i].b, m->pair[i].strict ? "" : " (relaxed)");
        fail_msg("seed %llu: %u pairs race, but none is reported", (unsigned long long)seed, strict);
    }
    for (unsigned i = 0; every && !m->full && i < m->pair_count; i++) {
        if (m->pair[i].told || !m->pair[i].kept)
            continue;
        fputs(text, stderr);
        fail_msg("seed %llu: 0x%llx and 0x%llx race and are not reported; width %u, threads %u", (unsigned long long)seed,
                 (unsigned long long)m->pair[i].a, (unsigned long long)m->pair[i].b, m->width, m->threads);
    }
    racy += strict != 0;
    calm += m->pair_count == 0 && m->past_count != 0;
}

static void run_one(uint64_t seed)
{
    struct random r = {seed * 7919 + 1};
    struct model *m = calloc(1, sizeof *m);
    struct lw_buffer text;
    struct lw_error err;
    struct chk *chk;
    struct chk_options options = {.max_findings = 1000};

    draw(&r, 2);
    m->width = 4 << draw(&r, 2);
    m->threads = m->width << draw(&r, 2);
    m->threads = m->threads > 16 ? 16 : m->threads;
    if (draw(&r, 12) == 0) /* enough threads for barriers at which only some warps arrive */
        m->threads = 2 * COUNTED;
    else if (draw(&r, 6) == 0) /* enough threads for barriers at which only parts of warps arrive */
        m->threads = COUNTED;
    m->observer.on_event = on_event;
    for (unsigned t = 0; t < MOST; t++)
        m->own[t].at[t] = 1;
    lw_buffer_init(&text);
    const bool barriers = draw(&r, 4) == 0;
    if (barriers) {
        m->threads = COUNTED << draw(&r, 2);
        m->width = 4 << draw(&r, m->threads > COUNTED ? 5 : 4);
        put_barriers(&r, m->width, m->threads, m->count, &text.sink);
    } else {
        put_kernel(&r, m->width, m->threads, m->count, &text.sink);
    }
    struct fix *fix = fix_new(m->width);
    fix->config.warp_quantum = 1 + draw(&r, 20); /* time slices of warps may end at any instruction */
    fix_load_grid(fix, text.text, BLOCKS, m->threads);
    fix_check(chk_select("races,benign-race,volatile-race,missing-acquire", &options.kinds, &err),
              &err);
    fix_check(chk_create(fix->machine, &options, &chk, &err), &err);
    emu_observer_add(fix->engine, &m->observer);
    fix_go(fix);
    if (fix->stop.kind != EMU_STOP_IDLE)
        fail_msg("seed %llu: stop %d: %s%s\n%s", (unsigned long long)seed, fix->stop.kind,
                 fix->stop.kind == EMU_STOP_FAULT ? fix->stop.fault.detail : "",
                 fix->stop.kind == EMU_STOP_HANG ? fix->stop.hang.detail : "", text.text);
    fix_check(chk_finish(chk, &fix->stop, &err), &err);
    compare(m, chk, seed, text.text, barriers);
    chk_destroy(chk);
    fix_free(fix);
    lw_buffer_fini(&text);
    free(m);
}

/** The same test with a large buffer that the host has initialised. */
static void run_large(uint64_t seed)
{
    enum { BYTES = 1 << 17 };
    struct random r = {seed * 7919 + 5};
    struct model *m = calloc(1, sizeof *m);
    struct fix *fix = calloc(1, sizeof *fix);
    struct lw_buffer text;
    struct lw_error err;
    struct chk *chk;
    struct chk_options options = {.max_findings = 1000};
    uint64_t params[2], before;

    draw(&r, 2);
    assert_non_null(fix);
    m->width = 4 << draw(&r, 5);
    const unsigned blocks = draw(&r, 2) == 0 ? MOST_BLOCKS : BLOCKS, most = MOST / blocks;
    m->width = m->width < most ? m->width : most;
    m->threads = m->width << draw(&r, 3);
    m->threads = m->threads < most ? m->threads : most;
    const unsigned launches = 1 + draw(&r, 3);
    m->observer.on_event = on_event;
    for (unsigned t = 0; t < MOST; t++)
        m->own[t].at[t] = 1;
    lw_buffer_init(&text);
    put_apart(&r, m->width, blocks, m->threads, &text.sink);
    emu_config_default(&fix->config);
    fix->config.warp_width = m->width;
    fix->config.arena_bytes = 1 << 24;
    fix->config.warp_quantum = 1 + draw(&r, 20);
    fix_check(emu_machine_create(&fix->config, &fix->machine, &err), &err);
    fix_check(isa_assemble("test.s", text.text, strlen(text.text), &fix->object, &err), &err);
    fix_check(emu_program_load(fix->machine, fix->object, &fix->program, &err), &err);
    fix_check(emu_alloc(fix->machine, 256 << draw(&r, 6), "before", 0, &before, &err), &err);
    fix_check(emu_alloc(fix->machine, BYTES, "out", 0, &fix->out, &err), &err);
    fix_check(emu_engine_functional_create(fix->machine, &fix->engine, &err), &err);
    fix_check(chk_select(draw(&r, 4) == 0 ? "races,benign-race,missing-acquire" : "races,missing-acquire",
                         &options.kinds, &err), &err);
    fix_check(chk_create(fix->machine, &options, &chk, &err), &err);
    emu_observer_add(fix->engine, &m->observer);
    for (unsigned i = 0; i < launches; i++) {
        const struct emu_launch launch = {.program = fix->program, .kernel = &fix->object->functions[0],
                                          .grid = {blocks, 1, 1}, .block = {m->threads, 1, 1},
                                          .work_dim = 1, .params = params};
        params[0] = fix->out;
        params[1] = i;
        launch_over(m);
        fix_check(emu_grid_launch(fix->machine, &launch, NULL, &err), &err);
        fix_go(fix);
        if (fix->stop.kind != EMU_STOP_IDLE)
            fail_msg("seed %llu: stop %d: %s\n%s", (unsigned long long)seed, fix->stop.kind,
                     fix->stop.kind == EMU_STOP_FAULT ? fix->stop.fault.detail : "", text.text);
    }
    fix_check(chk_finish(chk, &fix->stop, &err), &err);
    compare(m, chk, seed, text.text, true);
    chk_destroy(chk);
    fix_free(fix);
    lw_buffer_fini(&text);
    free(m);
}

static uint64_t first_seed = 1, seed_count = 1500, large_count = 300;

static void findings_are_those_of_plain_vector_clocks(void **state)
{
    (void)state;
    for (uint64_t s = 0; s < seed_count; s++)
        run_one(first_seed + s);
    if (seed_count >= 500) { /* With this many seeds, races and race-free kernels must both have occurred often. */
        assert_true(racy > seed_count / 10);
        assert_true(calm > seed_count / 50);
    }
}

static void so_they_are_in_large_buffers(void **state)
{
    (void)state;
    for (uint64_t s = 0; s < large_count; s++)
        run_large(first_seed + s);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(so_they_are_in_large_buffers),
        cmocka_unit_test(findings_are_those_of_plain_vector_clocks),
    };

    if (argc > 1)
        first_seed = strtoull(argv[1], NULL, 0);
    if (argc > 2 || argc == 2)
        seed_count = large_count = argc > 2 ? strtoull(argv[2], NULL, 0) : 1;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
