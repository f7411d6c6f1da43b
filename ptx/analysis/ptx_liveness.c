/* SPDX-License-Identifier: Apache-2.0 */
/* Liveness: for each use without an earlier definition in its block, follows predecessors back to the definitions. The
 * time is proportional to the size of the result, not to registers times blocks. */
#include "ptx/ptx_priv.h"

struct walk {
    struct ptx_unit *unit;
    uint32_t *use_first, *use_block; /* by vreg: blocks that use the vreg before they define the vreg */
    uint32_t *def_first, *def_block; /* by vreg: blocks that define the vreg */
};

/* Lists uses and definitions. The first call counts them, the second (@fill) stores them. */
static void scan(struct walk *walk, uint32_t *defined, uint32_t *exposed, bool fill)
{
    struct ptx_unit *unit = walk->unit;

    memset(defined, 0, (unit->vregs.count + 1) * sizeof *defined);
    memset(exposed, 0, (unit->vregs.count + 1) * sizeof *exposed);
    for (uint32_t k = 0; k < unit->rpo_count; k++) {
        uint32_t bi = unit->rpo[k], mark = k + 1;
        const struct ptx_block *b = &unit->blocks.at[bi];

        for (uint32_t i = b->first; i <= b->first + b->count; i++) {
            bool end = i == b->first + b->count;
            const struct ptx_mi *mi = end ? NULL : &unit->code.at[i];

            if (end && b->end != PTX_END_BRANCH)
                break;
            for (unsigned s = 0; s < (end ? 1u : PTX_SLOT_COUNT); s++) {
                ptx_ref ref = end ? b->guard : mi->ref[s];
                uint32_t v = ptx_ref_vreg(ref);

                if (!(end ? ptx_ref_is_vreg(ref) : ptx_mi_reads(mi, (enum ptx_slot)s)) ||
                    defined[v] == mark || exposed[v] == mark)
                    continue;
                exposed[v] = mark;
                if (fill)
                    walk->use_block[walk->use_first[v]++] = bi;
                else
                    walk->use_first[v + 1]++;
            }
            for (unsigned s = 0; !end && s < PTX_SLOT_COUNT; s++) {
                uint32_t v = ptx_ref_vreg(mi->ref[s]);

                if (!ptx_mi_writes(mi, (enum ptx_slot)s) || defined[v] == mark)
                    continue;
                defined[v] = mark;
                if (fill)
                    walk->def_block[walk->def_first[v]++] = bi;
                else
                    walk->def_first[v + 1]++;
            }
        }
    }
}

void ptx_liveness(struct ptx_unit *unit)
{
    struct walk walk = { .unit = unit };
    size_t n = unit->vregs.count, blocks = unit->blocks.count;
    uint32_t *defined = PTX_ARRAY(unit->job, uint32_t, n + 1);
    uint32_t *exposed = PTX_ARRAY(unit->job, uint32_t, n + 1);
    uint32_t *def_mark = PTX_ARRAY(unit->job, uint32_t, blocks + 1);
    uint32_t *in_mark = PTX_ARRAY(unit->job, uint32_t, blocks + 1);
    PTX_LIST(uint32_t) work = { 0 };

    walk.use_first = PTX_ARRAY(unit->job, uint32_t, n + 2);
    walk.def_first = PTX_ARRAY(unit->job, uint32_t, n + 2);
    scan(&walk, defined, exposed, false);
    for (size_t v = 0; v < n; v++) {
        walk.use_first[v + 1] += walk.use_first[v];
        walk.def_first[v + 1] += walk.def_first[v];
    }
    walk.use_block = PTX_ARRAY(unit->job, uint32_t, walk.use_first[n] + 1);
    walk.def_block = PTX_ARRAY(unit->job, uint32_t, walk.def_first[n] + 1);
    scan(&walk, defined, exposed, true);
    /* the second call has moved the start of each list to the start of the next list */
    unit->live_in = ptx_new(unit->job, blocks + 1, sizeof *unit->live_in);
    for (uint32_t v = 0; v < n; v++) {
        uint32_t use = v == 0 ? 0 : walk.use_first[v - 1], def = v == 0 ? 0 : walk.def_first[v - 1];

        if (use == walk.use_first[v])
            continue;
        for (; def < walk.def_first[v]; def++)
            def_mark[walk.def_block[def]] = v + 1;
        for (; use < walk.use_first[v]; use++) {
            in_mark[walk.use_block[use]] = v + 1;
            *PTX_PUSH(unit->job, work) = walk.use_block[use];
        }
        while (work.count != 0) {
            uint32_t b = work.at[--work.count];
            const struct ptx_block *block = &unit->blocks.at[b];

            *PTX_PUSH(unit->job, unit->live_in[b]) = v;
            for (uint32_t k = 0; k < block->pred_count; k++) {
                uint32_t p = block->pred[k];

                if (def_mark[p] == v + 1 || in_mark[p] == v + 1)
                    continue;
                in_mark[p] = v + 1;
                *PTX_PUSH(unit->job, work) = p;
            }
        }
    }
}
