/* SPDX-License-Identifier: Apache-2.0 */
/* Dominators of any graph that was traversed depth first, in nearly linear time: Georgiadis' "semi-NCA" algorithm. The
 * semidominator of a node N is the lowest-numbered node with a path to N on which all inner nodes have higher numbers than N.
 * To find the immediate dominator of N, the algorithm starts at the parent of N and goes up the chain of immediate dominators,
 * to the first node whose number is not higher than that of the semidominator. */
#include "ptx/ptx_priv.h"

struct ptx_dominators *ptx_dominators_new(struct ptx_job *job, size_t nodes, size_t edges)
{
    struct ptx_dominators *d = PTX_NEW(job, struct ptx_dominators);

    d->parent = PTX_ARRAY(job, uint32_t, nodes + 1);
    d->first = PTX_ARRAY(job, uint32_t, nodes + 2);
    d->from = PTX_ARRAY(job, uint32_t, edges + 1);
    d->idom = PTX_ARRAY(job, uint32_t, nodes + 1);
    d->semi = PTX_ARRAY(job, uint32_t, nodes + 1);
    d->label = PTX_ARRAY(job, uint32_t, nodes + 1);
    d->up = PTX_ARRAY(job, uint32_t, nodes + 1);
    d->stack = PTX_ARRAY(job, uint32_t, nodes + 1);
    return d;
}

/* Goes up the tree from @v to the first node whose number is less than @linked. Returns the node with the lowest semidominator
 * on this path; the last node of the path does not count. Compresses the path. */
static uint32_t lowest_above(struct ptx_dominators *d, uint32_t v, uint32_t linked)
{
    uint32_t depth = 0, best;

    if (d->up[v] < linked)
        return d->label[v];
    do {
        d->stack[depth++] = v;
        v = d->up[v];
    } while (d->up[v] >= linked);
    best = d->label[v];
    while (depth != 0) {
        uint32_t w = d->stack[--depth];

        d->up[w] = d->up[v];
        if (d->semi[best] < d->semi[d->label[w]])
            d->label[w] = best;
        else
            best = d->label[w];
    }
    return best;
}

void ptx_dominators_find(struct ptx_dominators *d)
{
    for (uint32_t i = 0; i < d->count; i++) {
        d->semi[i] = d->label[i] = i;
        d->up[i] = i == 0 ? 0 : d->parent[i];
    }
    for (uint32_t i = d->count; i-- > 1;) {
        d->semi[i] = d->parent[i];
        for (uint32_t k = d->first[i]; k < d->first[i + 1]; k++) {
            uint32_t semi = d->semi[lowest_above(d, d->from[k], i + 1)];

            if (semi < d->semi[i])
                d->semi[i] = semi;
        }
    }
    d->idom[0] = 0;
    for (uint32_t i = 1; i < d->count; i++) {
        uint32_t to = d->parent[i];

        while (to > d->semi[i])
            to = d->idom[to];
        d->idom[i] = to;
    }
}
