/* SPDX-License-Identifier: Apache-2.0 */
/* Computes the address slices of the kernels of an object: the sites, the arrays that the sites access, and the loops that
 * contain the sites. Source: docs/explanation/address-slices.md. */
#include <stdlib.h>

#include "isa/slice/isa_slice_priv.h"

struct found {
    struct isa_slice_site site;
    bool by_variable;
    uint32_t which;
};

/** Returns true for a site: a global load or store. A load through the constant cache is not a site. */
static bool is_site(const struct isa_insn *insn)
{
    switch (insn->op) {
    case ISA_LD_GLOBAL: return isa_mod_get(insn, ISA_MOD_CONSTANT) == ISA_CONSTANT_OFF;
    case ISA_ST_GLOBAL: case ISA_LD_GENERIC: case ISA_ST_GENERIC: case ISA_S_LD_GLOBAL: return true;
    default: return false;
    }
}

/* ---- arrays ------------------------------------------------------------------------ */

static void add_roots(struct slice_roots *r, const struct slice_roots *more)
{
    bool same = r->count == 1 && more->count == 1 && r->variable == more->variable && r->which == more->which;

    if (r->count == 0)
        *r = *more;
    else if (more->count != 0 && !same)
        r->count = 2;
}

static struct slice_roots param_root(const struct slice_builder *b, const struct isa_slice_node *n)
{
    for (unsigned k = 0; k < b->function->param_count; k++) {
        const struct isa_param *p = &b->function->params[k];

        if (p->kind == ISA_PARAM_POINTER && p->offset == n->value && p->size_bytes == 8 &&
            (p->space == ISA_SPACE_GLOBAL || p->space == ISA_SPACE_GENERIC))
            return (struct slice_roots){ .count = 1, .which = k };
    }
    return (struct slice_roots){ 0 };
}

/** Returns those sources of a node whose value reaches the node's value by additions only, so that a source may be a pointer to
 *  an array. */
static unsigned additive(const struct isa_slice_node *n)
{
    if (n->kind == ISA_SLICE_INDUCTION || n->kind == ISA_SLICE_SELECT)
        return ISA_SLICE_A | ISA_SLICE_B;
    if (n->kind != ISA_SLICE_ROW)
        return 0;
    switch (n->op) {
    case ISA_V_ADD_U64: case ISA_S_ADD_U64: case ISA_V_SELP_B64: case ISA_S_CSELECT_B64: return ISA_SLICE_A | ISA_SLICE_B;
    case ISA_V_SUB_U64: case ISA_S_SUB_U64: return ISA_SLICE_A;
    case ISA_V_LEA_U32: case ISA_V_LEA_S32: case ISA_V_MADWIDE_U32: case ISA_V_MADWIDE_S32: case ISA_V_MAD_U64:
        return ISA_SLICE_C;
    default: return 0;
    }
}

/** Returns the pointers on which a node depends by additions. The pointers on which its sources depend must already be known. */
static struct slice_roots roots_of(const struct slice_builder *b, const struct isa_slice_node *n)
{
    const uint32_t link[3] = { n->a, n->b, n->c };
    struct slice_roots r = { 0 };

    if (n->bits != 64)
        return r;
    if (n->kind == ISA_SLICE_PARAM)
        return param_root(b, n);
    if (n->kind == ISA_SLICE_VARIABLE)
        return (struct slice_roots){ .count = 1, .variable = true, .which = n->op };
    for (unsigned k = 0; k < 3; k++)
        if (additive(n) >> k & 1)
            add_roots(&r, &b->roots[link[k]]);
    return r;
}

static void find_roots(struct slice_builder *b)
{
    if (!lw_grow(&b->roots, &b->root_capacity, b->node_count, sizeof *b->roots)) {
        b->no_memory = true;
        return;
    }
    for (; b->root_count < b->node_count; b->root_count++)
        b->roots[b->root_count] = roots_of(b, &b->node[b->root_count]);
}

/* ---- sites ----------------------------------------------------------------------------- */

static bool writes_exec(const struct slice_builder *b)
{
    return b->def_at[256 + ISA_S_EXEC + 2] != b->def_at[256 + ISA_S_EXEC];
}

static bool jumps_by_register(const struct slice_builder *b)
{
    for (uint32_t i = 0; i < b->count; i++)
        if (b->insn[i].op == ISA_BRX)
            return true;
    return false;
}

/** Returns true if @block is in all loops of the set @loops. */
static bool inside(const struct slice_builder *b, uint64_t loops, uint32_t block)
{
    for (unsigned l = 0; l < b->loop_count; l++)
        if (loops >> l & 1 && !slice_loop_has(&b->loop[l], block))
            return false;
    return true;
}

static void make_site(struct slice_builder *b, uint32_t insn, enum isa_slice_reject all, struct found *out)
{
    const struct isa_insn *in = &b->insn[insn];
    struct isa_slice_site *site = &out->site;

    *out = (struct found){ .site = { .insn = b->function->first + insn, .bytes = (uint8_t)isa_mem_bytes(in),
                                     .store = isa_op_info((enum isa_op)in->op)->flags & ISA_F_STORE,
                                     .guarded = !slice_always(b, insn), .reject = (uint8_t)all,
                                     .culprit = UINT32_MAX } };
    if (all != ISA_SLICE_ACCEPTED || b->dom_first[b->block_of[insn]] == 0)
        return;
    uint32_t node = slice_finish(b, slice_address(b, insn), &site->reject, &site->culprit);
    if (node == 0) {
        if (site->culprit != UINT32_MAX)
            site->culprit += b->function->first;
        return;
    }
    site->node = node - 1;
    site->loops = b->used;
    find_roots(b);
    if (b->no_memory)
        return;
    const struct slice_roots roots = b->roots[site->node];
    out->by_variable = roots.variable;
    out->which = roots.which;
    if (!inside(b, site->loops, b->block_of[insn]))
        site->reject = ISA_SLICE_MERGE; /* the address depends on the last value of a loop that does not contain the site */
    else if (roots.count != 1)
        site->reject = ISA_SLICE_ARRAY;
}

/** Returns the index of a site's array in @all, or @count if the array is not in @all. */
static uint32_t array_of(const struct isa_slice_array *all, uint32_t count, const struct found *site)
{
    uint32_t k = 0;

    while (k < count && (all[k].variable != site->by_variable || all[k].which != site->which))
        k++;
    return k;
}

/** Selects the arrays with the most sites. Of arrays with equally many sites, the arrays that were found first are selected. */
static void choose_arrays(struct slice_builder *b, struct isa_slices *s, struct found *found)
{
    uint32_t most = b->function->param_count + b->object->variable_count, count = 0;
    struct isa_slice_array *all = lw_arena_alloc(&b->arena, ((size_t)most + 1) * sizeof *all);

    b->no_memory |= all == NULL;
    for (uint32_t i = 0; all != NULL && i < s->site_count; i++) {
        uint32_t k = array_of(all, count, &found[i]);

        if (found[i].site.reject != ISA_SLICE_ACCEPTED)
            continue;
        if (k == count)
            all[count++] = (struct isa_slice_array){ .variable = found[i].by_variable, .which = found[i].which };
        all[k].sites++;
    }
    while (s->array_count < ISA_SLICE_ARRAYS && s->array_count < count) {
        uint32_t best = 0;

        for (uint32_t k = 1; k < count; k++)
            best = all[k].sites > all[best].sites ? k : best;
        if (all[best].sites == 0)
            break;
        s->arrays[s->array_count++] = all[best];
        all[best].sites = 0;
    }
    for (uint32_t i = 0; i < s->site_count; i++) {
        if (found[i].site.reject != ISA_SLICE_ACCEPTED)
            continue;
        found[i].site.array = (uint8_t)array_of(s->arrays, s->array_count, &found[i]);
        if (found[i].site.array == s->array_count)
            found[i].site.reject = ISA_SLICE_MANY;
    }
}

/* ---- loops ------------------------------------------------------------------------------ */

struct test {
    uint32_t insn; /* index of the test in the function; SLICE_NONE: the loop has no exit test */
    uint32_t node;
    bool ends, only;
};

/** Returns true if instruction @i of @block can leave the loop, and sets *@ends to the value of its guard at which a thread
 *  leaves the loop. */
static bool leaves_loop(const struct slice_builder *b, const struct slice_loop *loop, uint32_t block, uint32_t i, bool *ends)
{
    const struct isa_block *at = &b->flow.block[block];
    bool out[2];

    if (b->insn[i].op == ISA_EXIT) {
        *ends = true;
        return true;
    }
    if (i != at->first + at->count - 1)
        return false;
    for (unsigned k = 0; k < 2; k++)
        out[k] = at->next[k] != ISA_NO_BLOCK && !slice_loop_has(loop, at->next[k]);
    *ends = out[1];
    return out[0] || out[1];
}

/** Finds the exit test of a loop: the first instruction that can leave the loop, that every iteration executes, and whose guard
 *  has a slice. */
static struct test find_test(struct slice_builder *b, unsigned l)
{
    struct test test = { .insn = SLICE_NONE };
    const struct slice_loop loop = b->loop[l];
    unsigned ways = 0;
    uint8_t why;
    uint32_t culprit;

    for (uint32_t block = 0; block < b->flow.count; block++) {
        const struct isa_block *at = &b->flow.block[block];
        bool always = slice_loop_has(&loop, block), ends;

        if (!always)
            continue;
        for (uint32_t p = b->pred_at[loop.header]; p < b->pred_at[loop.header + 1]; p++)
            always &= !slice_loop_has(&loop, b->pred[p]) || slice_dominates(b, block, b->pred[p]);
        for (uint32_t i = at->first; i < at->first + at->count; i++) {
            if (!leaves_loop(b, &loop, block, i, &ends))
                continue;
            ways++;
            if (!always || test.insn != SLICE_NONE || !slice_has_guard(&b->insn[i]))
                continue;
            uint32_t node = slice_finish(b, slice_guard(b, i), &why, &culprit);
            if (node != 0 && (b->used >> l & 1) && inside(b, b->used, loop.header))
                test = (struct test){ .insn = i, .node = node - 1, .ends = ends };
            while (test.insn == i && b->node[test.node].kind == ISA_SLICE_NOT) {
                test.node = b->node[test.node].a;
                test.ends = !test.ends;
            }
        }
    }
    test.only = ways == 1;
    return test;
}

static uint32_t *find_latches(struct slice_builder *b, struct isa_object *object, unsigned l, uint32_t *count)
{
    uint32_t header = b->loop[l].header, n = b->pred_at[header + 1] - b->pred_at[header];
    uint32_t *out = lw_arena_alloc(&object->arena, (n + 1) * sizeof *out);

    b->no_memory |= out == NULL;
    *count = 0;
    for (uint32_t k = 0; out != NULL && k < n; k++) {
        uint32_t from = b->pred[b->pred_at[header] + k], last = b->flow.block[from].first + b->flow.block[from].count - 1;

        if (slice_loop_has(&b->loop[l], from))
            out[(*count)++] = b->function->first + last;
    }
    return out; /* ascending, because the predecessors of a block are in the order of the code */
}

static void put_loops(struct slice_builder *b, struct isa_object *object, struct isa_slices *s, struct found *found)
{
    struct isa_slice_loop loops[ISA_SLICE_LOOPS] = { 0 };

    for (unsigned l = 0; l < b->loop_count && !b->no_memory; l++) { /* the list of loops may grow during the iteration, because
                                                                     * the exit test of a loop may depend on further loops */
        struct test test = find_test(b, l);

        loops[l] = (struct isa_slice_loop){ .header = b->function->first + b->flow.block[b->loop[l].header].first,
                                            .tested = test.insn != SLICE_NONE, .ends = test.ends, .only = test.only,
                                            .test = test.node, .outer = UINT32_MAX };
        loops[l].latches = find_latches(b, object, l, &loops[l].latch_count);
        for (uint32_t i = 0; i < s->site_count && loops[l].tested; i++) {
            uint32_t at = found[i].site.insn - b->function->first, tested = b->block_of[test.insn];
            bool after = b->block_of[at] == tested ? at > test.insn : slice_dominates(b, tested, b->block_of[at]);

            if (found[i].site.loops >> l & 1 && after)
                found[i].site.after |= UINT64_C(1) << l;
        }
    }
    for (unsigned l = 0; l < b->loop_count; l++) { /* finds the smallest loop that contains loop l */
        for (unsigned k = 0; k < b->loop_count; k++) {
            if (k == l || !slice_loop_has(&b->loop[k], b->loop[l].header))
                continue;
            if (loops[l].outer == UINT32_MAX || slice_loop_has(&b->loop[loops[l].outer], b->loop[k].header))
                loops[l].outer = k;
        }
    }
    s->loop_count = b->loop_count;
    s->loops = lw_arena_alloc(&object->arena, (b->loop_count + 1) * sizeof *s->loops);
    b->no_memory |= s->loops == NULL;
    if (s->loops != NULL)
        memcpy(s->loops, loops, b->loop_count * sizeof *loops);
}

/* ---- the nodes and loops of the result ------------------------------------------------------- */

/** Stores the loops and nodes on which accepted sites depend, numbered so that an outer loop precedes the loops inside it. */
static void put_nodes(struct slice_builder *b, struct isa_object *object, struct isa_slices *s, struct found *found)
{
    uint32_t *number = calloc(b->node_count + 1, sizeof *number), loop_number[ISA_SLICE_LOOPS], loops = 0;
    uint8_t used[ISA_SLICE_LOOPS] = { 0 };
    bool more = true;

    if (number == NULL) {
        b->no_memory = true;
        return;
    }
    for (uint32_t i = 0; i < s->site_count; i++)
        if (found[i].site.reject == ISA_SLICE_ACCEPTED)
            number[found[i].site.node] = 1;
    while (more) { /* repeated, because a stored node may depend on a loop, and the exit test of this loop on further nodes */
        more = false;
        for (size_t i = b->node_count; i-- > 0;) {
            const struct isa_slice_node *n = &b->node[i];
            const uint32_t link[4] = { n->a, n->b, n->c, n->r };

            if (number[i] == 0)
                continue;
            for (unsigned k = 0; k < 4; k++)
                if (isa_slice_links(n) >> k & 1)
                    number[link[k]] = 1;
            if (n->kind == ISA_SLICE_INDUCTION && !used[n->value]) {
                used[n->value] = 1;
                more = true;
                if (s->loops[n->value].tested)
                    number[s->loops[n->value].test] = 1;
            }
        }
    }
    for (uint32_t l = 0; l < s->loop_count; l++) /* if the outer loop of a loop is not stored, the next outer loop takes its
                                                  * place */
        while (s->loops[l].outer != UINT32_MAX && !used[s->loops[l].outer])
            s->loops[l].outer = s->loops[s->loops[l].outer].outer;
    for (uint32_t depth = 0, left = 1; left != 0; depth++) {
        left = 0;
        for (uint32_t l = 0; l < s->loop_count; l++) {
            uint32_t d = 0;

            for (uint32_t o = s->loops[l].outer; o != UINT32_MAX; o = s->loops[o].outer)
                d++;
            left += used[l] && d > depth;
            if (used[l] && d == depth)
                loop_number[l] = loops++;
        }
    }
    for (size_t i = 0; i < b->node_count; i++)
        s->node_count += number[i] != 0;
    s->nodes = lw_arena_alloc(&object->arena, (s->node_count + 1) * sizeof *s->nodes);
    b->no_memory |= s->nodes == NULL;
    s->node_count = 0;
    for (size_t i = 0; s->nodes != NULL && i < b->node_count; i++) {
        struct isa_slice_node n = b->node[i];
        uint32_t *link[4] = { &n.a, &n.b, &n.c, &n.r };

        if (number[i] == 0)
            continue;
        for (unsigned k = 0; k < 4; k++)
            *link[k] = isa_slice_links(&n) >> k & 1 ? number[*link[k]] : 0;
        if (n.kind == ISA_SLICE_INDUCTION)
            n.value = loop_number[n.value];
        number[i] = s->node_count;
        s->nodes[s->node_count++] = n;
    }
    struct isa_slice_loop kept[ISA_SLICE_LOOPS];
    for (uint32_t l = 0; l < s->loop_count; l++) {
        struct isa_slice_loop loop = s->loops[l];

        if (!used[l])
            continue;
        loop.outer = loop.outer == UINT32_MAX ? UINT32_MAX : loop_number[loop.outer];
        loop.test = loop.tested ? number[loop.test] : 0;
        kept[loop_number[l]] = loop;
    }
    for (uint32_t i = 0; i < s->site_count; i++) {
        struct isa_slice_site *site = &found[i].site;
        uint64_t in = 0, after = 0;

        for (uint32_t l = 0; l < s->loop_count; l++) {
            in |= used[l] ? (site->loops >> l & 1) << loop_number[l] : 0;
            after |= used[l] ? (site->after >> l & 1) << loop_number[l] : 0;
        }
        bool accepted = site->reject == ISA_SLICE_ACCEPTED;
        site->loops = accepted ? in : 0;
        site->after = accepted ? after : 0;
        site->node = accepted ? number[site->node] : 0;
    }
    memcpy(s->loops, kept, loops * sizeof *kept);
    s->loop_count = loops;
    free(number);
}

/* ---- kernels ------------------------------------------------------------------------------- */

static bool slice_kernel(struct isa_object *object, const struct isa_reloc *relocs, uint32_t function,
                         struct isa_slices *s)
{
    struct slice_builder *b = calloc(1, sizeof *b);
    struct found *found = NULL;
    uint32_t room = 0;
    bool ok = false;

    if (b == NULL)
        return false;
    b->object = object;
    b->relocs = relocs;
    b->function = &object->functions[function];
    b->count = b->function->count;
    b->changes = 1;
    lw_arena_init(&b->arena);
    *s = (struct isa_slices){ .function = function };
    if (!slice_graph_make(b))
        goto cleanup;
    for (uint32_t i = 0; i < b->count; i++)
        room += is_site(&b->insn[i]);
    found = calloc((size_t)room + 1, sizeof *found);
    s->sites = lw_arena_alloc(&object->arena, ((size_t)room + 1) * sizeof *s->sites);
    (void)slice_reject(b, ISA_SLICE_SIZE, SLICE_NONE); /* makes value 0 a rejected value, because functions return 0 if there is
                                                        * no memory */
    if (found == NULL || s->sites == NULL || b->no_memory)
        goto cleanup;
    enum isa_slice_reject all = writes_exec(b) ? ISA_SLICE_EXEC : jumps_by_register(b) ? ISA_SLICE_FLOW
                                                                                       : ISA_SLICE_ACCEPTED;
    for (uint32_t i = 0; i < b->count && !b->no_memory; i++)
        if (is_site(&b->insn[i]) && b->dom_first[b->block_of[i]] != 0)
            make_site(b, i, all, &found[s->site_count++]);
    choose_arrays(b, s, found);
    put_loops(b, object, s, found);
    if (!b->no_memory)
        put_nodes(b, object, s, found);
    for (uint32_t i = 0; i < s->site_count; i++)
        s->sites[i] = found[i].site;
    ok = !b->no_memory;
cleanup:
    free(found);
    isa_flow_fini(&b->flow);
    free(b->value);
    free(b->memo.rows);
    free(b->node);
    free(b->roots);
    lw_arena_fini(&b->arena);
    free(b);
    return ok;
}

enum lw_status isa_object_slice(struct isa_object *object, struct lw_error *err)
{
    struct isa_slices *all = lw_arena_alloc(&object->arena, ((size_t)object->function_count + 1) * sizeof *all);
    struct isa_reloc *relocs = calloc((size_t)object->reloc_count + 1, sizeof *relocs);
    enum lw_status status = LW_OK;
    uint32_t count = 0;

    object->slices = NULL;
    object->slice_count = 0;
    if (all == NULL || relocs == NULL) {
        free(relocs);
        return LW_FAIL(err, LW_ENOMEM, "the host has no memory for address slices");
    }
    if (object->reloc_count != 0)
        memcpy(relocs, object->relocs, object->reloc_count * sizeof *relocs);
    isa_relocs_sort(relocs, object->reloc_count);
    for (uint32_t i = 0; i < object->function_count && status == LW_OK; i++) {
        if (!object->functions[i].kernel)
            continue;
        if (!slice_kernel(object, relocs, i, &all[count]))
            status = LW_FAIL(err, LW_ENOMEM, "the host has no memory for address slices of kernel %s",
                             object->functions[i].name);
        count++;
    }
    free(relocs);
    if (status == LW_OK) {
        object->slices = all;
        object->slice_count = count;
    }
    return status;
}
