/* SPDX-License-Identifier: Apache-2.0 */
/* Runs the lanes of a block one by one in a random order, with barriers. */
#include <stdlib.h>

#include "tests/model/ref_lane.h"

enum { BARRIERS = ISA_CTA_BARRIER_COUNT };

struct block {
    struct ref_lane *lane;
    unsigned threads, live;
    struct {
        bool open, counted;
        unsigned count;
        bool *here;          /* [threads]: whether the thread has arrived */
    } bar[BARRIERS];
    /* event for which each lane waits: 0: no event; 1 + i: barrier i; -1: the other lanes of the lane's mask at a warpsync */
    int *waits;
    uint64_t *mask;          /* lanes of the warp that must arrive before the lane continues */
    const char **why;
};

static uint32_t x_of(const struct ref_lane *t, const struct isa_insn *i)
{
    return i->xkind == ISA_X_VECTOR ? ((i->x & 255) == 255 ? 0 : t->v[i->x & 255]) : i->x;
}

/* If the last 32 threads of a block are incomplete, positions without a thread arrive together with the first of these
 * threads. */
static unsigned arrivals(const struct block *b, unsigned id)
{
    unsigned n = 0, rest = b->threads % 32, first = b->threads - rest;

    for (unsigned t = 0; t < b->threads; t++)
        n += b->bar[id].here[t];
    return n + (rest != 0 && b->bar[id].here[first] ? 32 - rest : 0);
}

static bool complete(const struct block *b, unsigned id)
{
    if (b->bar[id].counted)
        return arrivals(b, id) == b->bar[id].count;
    for (unsigned t = 0; t < b->threads; t++)
        if (!b->lane[t].exited && !b->bar[id].here[t])
            return false;
    return true;
}

static bool arrive(struct block *b, unsigned t, const struct isa_insn *i)
{
    uint32_t id = x_of(&b->lane[t], i), count = i->variant ? b->lane[t].v[i->c] : 0;

    if (id >= BARRIERS) {
        *b->why = "the barrier does not exist";
        return false;
    }
    if (b->bar[id].open && (b->bar[id].counted != i->variant || b->bar[id].count != count ||
                            b->bar[id].here[t])) {
        *b->why = "misuse of a barrier";
        return false;
    }
    b->bar[id].open = true;
    b->bar[id].counted = i->variant;
    b->bar[id].count = count;
    b->bar[id].here[t] = true;
    if (i->variant && arrivals(b, id) > count) {
        *b->why = "too many threads at a barrier";
        return false;
    }
    if (i->op == ISA_BAR_SYNC)
        b->waits[t] = 1 + (int)id;
    return true;
}

static bool meet(struct block *b, unsigned t, const struct isa_insn *i)
{
    const struct ref_lane *l = &b->lane[t];
    uint64_t m = x_of(l, i);

    m = l->lane >= 32 ? m << 32 : m; /* the mask is for the virtual warp of 32 lanes that contains the lane */
    m &= lw_mask(l->width);
    if (!(m >> l->lane & 1)) {
        *b->why = "the mask of warpsync lacks the bit of the lane itself";
        return false;
    }
    b->waits[t] = -1;
    b->mask[t] = m;
    return true;
}

static bool all_arrived(const struct block *b, unsigned t)
{
    unsigned base = t - b->lane[t].lane;

    for (unsigned l = 0; l < b->lane[t].width; l++) {
        unsigned o = base + l;
        if ((b->mask[t] >> l & 1) && o < b->threads && !b->lane[o].exited &&
            (b->waits[o] != -1 || b->mask[o] != b->mask[t]))
            return false;
    }
    return true;
}

/* Release the lanes whose barriers are complete, after other lanes have arrived or exited. */
static void release(struct block *b)
{
    for (unsigned id = 0; id < BARRIERS; id++) {
        if (!b->bar[id].open || !complete(b, id))
            continue;
        b->bar[id].open = false;
        for (unsigned t = 0; t < b->threads; t++) {
            b->bar[id].here[t] = false;
            if (b->waits[t] == 1 + (int)id)
                b->waits[t] = 0;
        }
    }
    for (unsigned t = 0; t < b->threads; t++) {
        if (b->waits[t] != -1 || !all_arrived(b, t))
            continue;
        unsigned base = t - b->lane[t].lane;
        uint64_t m = b->mask[t];
        for (unsigned l = 0; l < b->lane[t].width; l++)
            if ((m >> l & 1) && base + l < b->threads)
                b->waits[base + l] = 0;
    }
}

static enum ref_end run(struct block *b, const struct isa_insn *code, uint32_t count,
                        uint64_t seed, unsigned long limit)
{
    unsigned long steps = 0;

    while (b->live > 0) {
        unsigned ready = 0, t = 0;
        for (unsigned k = 0; k < b->threads; k++)
            ready += !b->lane[k].exited && b->waits[k] == 0;
        if (ready == 0)
            return REF_STUCK;
        seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        for (unsigned skip = (unsigned)((seed >> 33) % ready);; t++)
            if (!b->lane[t].exited && b->waits[t] == 0 && skip-- == 0)
                break;
        /* execute several steps of a lane in a row, which is faster and as fair */
        for (unsigned burst = 1 + (unsigned)(seed >> 60); burst > 0; burst--) {
            enum ref_step got = ref_step(&b->lane[t], code, count, b->why);
            const struct isa_insn *i;
            if (++steps > limit)
                return REF_LIMIT;
            if (got == REF_NEXT)
                continue;
            if (got == REF_UNKNOWN)
                return REF_FAULT;
            i = &code[b->lane[t].pc - 1];
            if (got == REF_EXITED)
                b->live--;
            else if (i->op == ISA_WARPSYNC ? !meet(b, t, i) : !arrive(b, t, i))
                return REF_FAULT;
            release(b);
            if (got == REF_EXITED || b->waits[t] != 0)
                break;
        }
    }
    return REF_ENDS;
}

enum ref_end ref_block(struct ref_lane *lane, unsigned threads, const struct isa_insn *code,
                       uint32_t count, uint64_t seed, unsigned long limit, const char **why)
{
    struct block b = {.lane = lane, .threads = threads, .live = threads, .why = why};
    enum ref_end end = REF_FAULT;
    bool *here = calloc((size_t)threads * BARRIERS, sizeof *here);

    b.waits = calloc(threads, sizeof *b.waits);
    b.mask = calloc(threads, sizeof *b.mask);
    *why = "no memory";
    if (here != NULL && b.waits != NULL && b.mask != NULL) {
        for (unsigned id = 0; id < BARRIERS; id++)
            b.bar[id].here = here + (size_t)id * threads;
        end = run(&b, code, count, seed, limit);
    }
    free(here);
    free(b.waits);
    free(b.mask);
    return end;
}
