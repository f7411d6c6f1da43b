/* SPDX-License-Identifier: Apache-2.0 */
/* Evaluation of the address slices of one launch. Nodes that depend on no id are computed once; the other nodes are computed for
 * each requested thread. */
#include "emu/lane/emu_predict_priv.h"

#include <stdlib.h>

/* ---- values ------------------------------------------------------------------------ */

static uint64_t special(const struct emu_predict *p, enum isa_special sr, const struct emu_predict_thread *thread)
{
    const struct emu_predict_launch *l = &p->launch;
    const uint32_t *t = thread->tid, width = l->warp_width > 32 ? 32 : l->warp_width;

    switch (sr) {
    case ISA_SR_TID_X: case ISA_SR_TID_Y: case ISA_SR_TID_Z: return t[sr - ISA_SR_TID_X];
    case ISA_SR_NTID_X: case ISA_SR_NTID_Y: case ISA_SR_NTID_Z: return l->block[sr - ISA_SR_NTID_X];
    case ISA_SR_CTAID_X: case ISA_SR_CTAID_Y: case ISA_SR_CTAID_Z: return thread->ctaid[sr - ISA_SR_CTAID_X];
    case ISA_SR_NCTAID_X: case ISA_SR_NCTAID_Y: case ISA_SR_NCTAID_Z: return l->grid[sr - ISA_SR_NCTAID_X];
    case ISA_SR_OFFSET_X: case ISA_SR_OFFSET_Y: case ISA_SR_OFFSET_Z: return l->offset[sr - ISA_SR_OFFSET_X];
    case ISA_SR_WORKDIM: return l->work_dim;
    case ISA_SR_LANEID: return (((uint64_t)t[2] * l->block[1] + t[1]) * l->block[0] + t[0]) % width;
    case ISA_SR_WARPWIDTH: return width;
    default: return 0;
    }
}

static uint64_t param(const struct emu_predict_launch *l, const struct isa_slice_node *n)
{
    unsigned bytes = n->part != 0 ? (n->part & 127) / 8u : n->bits / 8u;
    uint8_t at[8] = { 0 };

    for (unsigned k = 0; k < bytes; k++)
        at[k] = n->value + k < l->param_bytes ? l->params[n->value + k] : 0;
    uint64_t value = lw_get64(at);
    if (n->part == 128 + 8)
        return (uint32_t)(int32_t)(int8_t)value;
    return n->part == 128 + 16 ? (uint32_t)(int32_t)(int16_t)value : value;
}

static uint64_t compute(const struct emu_predict *p, uint32_t node, const struct emu_predict_thread *thread)
{
    const struct isa_slice_node *n = &p->slices->nodes[node];
    const uint64_t *v = p->value;
    uint64_t r;

    switch (n->kind) {
    case ISA_SLICE_IMMEDIATE: return n->value;
    case ISA_SLICE_SPECIAL: return special(p, (enum isa_special)n->value, thread);
    case ISA_SLICE_PARAM: return param(&p->launch, n);
    case ISA_SLICE_VARIABLE: return (p->launch.variables != NULL ? p->launch.variables[n->op] : 0) + n->value;
    case ISA_SLICE_ROW: return emu_predict_row(n, v[n->a], v[n->b], v[n->c], v[n->r] != 0);
    case ISA_SLICE_PAIR: return (uint32_t)v[n->a] | v[n->b] << 32;
    case ISA_SLICE_LOW: return (uint32_t)v[n->a];
    case ISA_SLICE_HIGH: return v[n->a] >> 32;
    case ISA_SLICE_NOT: return v[n->a] == 0;
    case ISA_SLICE_SELECT: return v[n->r] != 0 ? v[n->a] : v[n->b];
    default:
        r = v[n->a] + v[n->b] * (thread->iteration != NULL ? thread->iteration[n->value] : 0);
        return n->bits == 64 ? r : (uint32_t)r;
    }
}

static unsigned depends_on(const struct emu_predict *p, uint32_t node)
{
    const struct isa_slice_node *n = &p->slices->nodes[node];
    const uint32_t link[4] = { n->a, n->b, n->c, n->r };
    unsigned links = isa_slice_links(n), all = n->kind == ISA_SLICE_INDUCTION ? EMU_PREDICT_ITERATION : 0;

    for (unsigned k = 0; k < 4; k++)
        all |= links >> k & 1 ? p->depends[link[k]] : 0;
    if (n->kind != ISA_SLICE_SPECIAL)
        return all;
    switch (n->value) {
    case ISA_SR_CTAID_X: case ISA_SR_CTAID_Y: case ISA_SR_CTAID_Z: return EMU_PREDICT_BLOCK;
    case ISA_SR_TID_X: case ISA_SR_TID_Y: case ISA_SR_TID_Z: case ISA_SR_LANEID: return EMU_PREDICT_THREAD;
    default: return 0;
    }
}

/** Makes the list of the nodes on which @node depends and that are not constant in the launch. Returns false if there is no
 *  memory. */
static bool make_list(struct emu_predict *p, uint32_t node, struct emu_predict_list *list)
{
    uint32_t count = 0;

    memset(p->needed, 0, (size_t)node + 1);
    p->needed[node] = 1;
    for (uint32_t i = node + 1; i-- > 0;) {
        const struct isa_slice_node *n = &p->slices->nodes[i];
        const uint32_t link[4] = { n->a, n->b, n->c, n->r };

        if (!p->needed[i] || p->depends[i] == 0)
            continue;
        count++;
        for (unsigned k = 0; k < 4; k++)
            if (isa_slice_links(n) >> k & 1)
                p->needed[link[k]] = 1;
    }
    list->node = calloc((size_t)count + 1, sizeof *list->node);
    if (list->node == NULL)
        return false;
    for (uint32_t i = 0; i <= node; i++)
        if (p->needed[i] && p->depends[i] != 0)
            list->node[list->count++] = i;
    return list->ready = true;
}

uint64_t emu_predict_node(struct emu_predict *p, uint32_t node, const struct emu_predict_thread *thread,
                          struct emu_predict_list *list)
{
    p->evaluations++;
    if (list->ready || make_list(p, node, list)) {
        for (uint32_t i = 0; i < list->count; i++)
            p->value[list->node[i]] = compute(p, list->node[i], thread);
    } else { /* Without memory for the list, all nodes up to @node are computed. The value of @node is the same, but its
              * computation takes longer. */
        for (uint32_t i = 0; i <= node; i++)
            p->value[i] = compute(p, i, thread);
    }
    return p->value[node];
}

uint64_t emu_predict_address(struct emu_predict *predict, uint32_t site, const struct emu_predict_thread *thread)
{
    return emu_predict_node(predict, predict->slices->sites[site].node, thread, &predict->list[site]);
}

unsigned emu_predict_depends(const struct emu_predict *predict, uint32_t site)
{
    return predict->depends[predict->slices->sites[site].node];
}

uint64_t emu_predict_evaluations(const struct emu_predict *predict)
{
    return predict->evaluations;
}

/* ---- iterations --------------------------------------------------------------------- */

/** Returns true if @node is an induction variable of @loop, or such a variable plus or minus a value that is the same in all
 *  iterations. */
static bool is_linear(const struct isa_slices *s, uint32_t node, uint32_t loop, unsigned depth)
{
    const struct isa_slice_node *n = &s->nodes[node];

    if (n->kind == ISA_SLICE_INDUCTION)
        return n->value == loop;
    if (n->kind != ISA_SLICE_ROW || depth == 16)
        return false;
    switch (n->op) {
    case ISA_V_ADD_U32: case ISA_V_ADD_U64: case ISA_S_ADD_U32: case ISA_S_ADD_U64:
        return is_linear(s, n->a, loop, depth + 1) || is_linear(s, n->b, loop, depth + 1);
    case ISA_V_SUB_U32: case ISA_V_SUB_U64: case ISA_S_SUB_U32: case ISA_S_SUB_U64:
        return is_linear(s, n->a, loop, depth + 1);
    default: return false;
    }
}

/** Finds the first k for which (x + k * step) mod 2^bits is in [low, high]. x itself must be outside. Returns false if there is
 *  no such k, or if the values step over the range the first time that they pass it. */
static bool first_within(uint64_t x, uint64_t step, uint64_t low, uint64_t high, unsigned bits, uint64_t *k)
{
    typedef unsigned __int128 wide;
    const wide all = (wide)1 << bits;
    bool down = step >> (bits - 1) & 1;
    wide by = down ? all - step : step, way;

    if (low > high || by == 0)
        return false;
    if (!down)
        way = x < low ? (wide)low - x : all - x + low;
    else
        way = x > high ? (wide)x - high : (wide)x + all - high;
    way = (way + by - 1) / by;
    if (way >> 64)
        return false;
    *k = (uint64_t)way;
    uint64_t there = (x + *k * step) & (uint64_t)(all - 1);
    return there >= low && there <= high;
}

/** Finds the first k with (x + k * step) mod 2^bits == y. Returns false if there is no such k. */
static bool first_equal(uint64_t x, uint64_t step, uint64_t y, unsigned bits, uint64_t *k)
{
    uint64_t all = bits == 64 ? UINT64_MAX : (UINT64_C(1) << bits) - 1, way = (y - x) & all, odd, inverse = 1;

    if (step == 0)
        return false;
    unsigned twos = (unsigned)__builtin_ctzll(step);
    if (twos >= bits || (way & ((UINT64_C(1) << twos) - 1)) != 0)
        return false;
    odd = step >> twos;
    for (unsigned i = 0; i < 6; i++) /* each step of Newton's iteration doubles the number of correct bits of the inverse */
        inverse *= 2 - odd * inverse;
    *k = ((way >> twos) * inverse) & (all >> twos);
    return true;
}

/** Finds the first iteration after 0 in which x, which grows by @step in each iteration, has one of the relations in the set
 *  @wanted to y. Bits of @wanted: 1 less, 2 equal, 4 greater. */
static bool first_compared(unsigned wanted, uint64_t x, uint64_t step, uint64_t y, unsigned bits, bool is_signed, uint64_t *k)
{
    uint64_t all = bits == 64 ? UINT64_MAX : (UINT64_C(1) << bits) - 1, top = is_signed ? UINT64_C(1) << (bits - 1) : 0;

    x = (x ^ top) & all;
    y = (y ^ top) & all;
    switch (wanted) {
    case 1: return y != 0 && first_within(x, step, 0, y - 1, bits, k);
    case 2: return first_equal(x, step, y, bits, k);
    case 3: return first_within(x, step, 0, y, bits, k);
    case 4: return y != all && first_within(x, step, y + 1, all, bits, k);
    case 5:
        *k = 1;
        return step != 0;
    case 6: return first_within(x, step, y, all, bits, k);
    default: return false;
    }
}

static bool compare_row(unsigned op, unsigned *bits, bool *is_signed)
{
    *is_signed = op == ISA_V_SETP_S32 || op == ISA_V_SETP_S64 || op == ISA_S_SETP_S32 || op == ISA_S_SETP_S64;
    *bits = op == ISA_V_SETP_U64 || op == ISA_V_SETP_S64 || op == ISA_S_SETP_U64 || op == ISA_S_SETP_S64 ? 64 : 32;
    return *is_signed || *bits == 64 || op == ISA_V_SETP_U32 || op == ISA_S_SETP_U32;
}

/** Gets the number of the iteration in which the exit test of @loop ends the loop. Returns false if the number is not known. */
static bool last_iteration(struct emu_predict *p, uint32_t loop, const struct emu_predict_thread *thread, uint64_t *k)
{
    static const uint8_t relations[16] = { [ISA_CMP_EQ] = 2, [ISA_CMP_NE] = 5, [ISA_CMP_LT] = 1, [ISA_CMP_LE] = 3,
                                           [ISA_CMP_GT] = 4, [ISA_CMP_GE] = 6 };
    const struct isa_slices *s = p->slices;
    const struct isa_slice_loop *l = &s->loops[loop];
    const struct isa_slice_node *n = &s->nodes[l->test];
    const struct isa_insn insn = { .op = n->op, .mod = n->mod };
    struct emu_predict_list *list = &p->list[s->site_count + loop];
    uint64_t iteration[ISA_SLICE_LOOPS] = { 0 }, first[2], second[2];
    struct emu_predict_thread at = *thread;
    unsigned bits;
    bool is_signed;

    if (!l->tested || n->kind != ISA_SLICE_ROW || !compare_row(n->op, &bits, &is_signed) ||
        isa_mod_get(&insn, ISA_MOD_BOOL) != ISA_BOOL_NONE)
        return false;
    if (thread->iteration != NULL)
        memcpy(iteration, thread->iteration, s->loop_count * sizeof *iteration);
    at.iteration = iteration;
    for (unsigned i = 0; i < 2; i++) {
        iteration[loop] = i;
        bool ended = (emu_predict_node(p, l->test, &at, list) != 0) == l->ends;

        (i == 0 ? first : second)[0] = p->value[n->a];
        (i == 0 ? first : second)[1] = p->value[n->b];
        if (i == 0 && ended) {
            *k = 0;
            return true;
        }
    }
    unsigned wanted = relations[isa_mod_get(&insn, ISA_MOD_CMP) & 15];
    wanted = (n->part == ISA_SLICE_Q) == l->ends ? wanted ^ 7 : wanted;
    bool swapped = is_linear(s, n->b, loop, 0);
    if (swapped == is_linear(s, n->a, loop, 0) || first[!swapped] != second[!swapped])
        return false;
    if (swapped)
        wanted = (wanted & 2) | (wanted & 1) << 2 | wanted >> 2;
    uint64_t step = second[swapped] - first[swapped];
    return first_compared(wanted, first[swapped], bits == 64 ? step : (uint32_t)step, first[!swapped], bits, is_signed, k);
}

bool emu_predict_iterations(struct emu_predict *predict, uint32_t site, uint32_t loop, const struct emu_predict_thread *thread,
                            uint64_t *count)
{
    uint64_t k;

    if (!last_iteration(predict, loop, thread, &k))
        return false;
    bool after = predict->slices->sites[site].after >> loop & 1;
    *count = after ? k : k == UINT64_MAX ? k : k + 1;
    return true;
}

/* ---- creation and destruction ------------------------------------------------------------- */

void emu_predict_destroy(struct emu_predict *predict)
{
    if (predict == NULL)
        return;
    for (uint32_t i = 0; predict->list != NULL && i < predict->slices->site_count + predict->slices->loop_count; i++)
        free(predict->list[i].node);
    free(predict->list);
    free(predict->value);
    free(predict->depends);
    free(predict->needed);
    free(predict->variables);
    free(predict->params);
    free(predict->affine);
    free(predict);
}

enum lw_status emu_predict_create(const struct emu_predict_launch *launch, struct emu_predict **out, struct lw_error *err)
{
    const struct isa_slices *s = launch->slices;
    const struct emu_predict_thread nowhere = { .iteration = NULL };
    struct emu_predict *p = calloc(1, sizeof *p);

    if (p == NULL)
        return LW_FAIL(err, LW_ENOMEM, "the host has no memory to predict addresses of a launch");
    p->slices = s;
    p->launch = *launch;
    p->value = calloc((size_t)s->node_count + 1, sizeof *p->value);
    p->depends = calloc((size_t)s->node_count + 1, 1);
    p->needed = calloc((size_t)s->node_count + 1, 1);
    p->list = calloc((size_t)s->site_count + s->loop_count + 1, sizeof *p->list);
    if (p->value == NULL || p->depends == NULL || p->needed == NULL || p->list == NULL) {
        emu_predict_destroy(p);
        return LW_FAIL(err, LW_ENOMEM, "the host has no memory to predict addresses of a launch from %u values", s->node_count);
    }
    for (uint32_t i = 0; i < s->node_count; i++) {
        p->depends[i] = (uint8_t)depends_on(p, i);
        if (p->depends[i] == 0)
            p->value[i] = compute(p, i, &nowhere);
    }
    *out = p;
    return LW_OK;
}
