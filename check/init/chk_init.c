/* SPDX-License-Identifier: Apache-2.0 */
/* Uninitialised values: the hooks, for warps on the fast path and for warps in single steps. */
#include "check/init/chk_init_priv.h"

#include <stdio.h>
#include <stdlib.h>

/* ---- blocks and warps -------------------------------------------------------------------- */

static struct init_block *block_at(struct chk_init *init, const struct emu_core *core, unsigned slot)
{
    struct init_block *b = chk_slot_at(&init->blocks, core, slot, 0);

    return b != NULL && b->live ? b : NULL;
}

static void warp_free(struct init_warp *w)
{
    if (w != NULL) {
        free(w->v);
        free(w->v_lanes);
    }
    free(w);
}

static void block_fini(struct init_block *b)
{
    for (unsigned i = 0; i < b->warp_capacity; i++) {
        free(b->local[i]);
        warp_free(b->warp[i]);
    }
    free(b->local);
    free(b->warp);
    free(b->shared);
    free(b);
}

/** Returns the struct init_program of a program, created if needed, or NULL if memory is short. */
static const struct init_program *program_of(struct chk_init *init, const struct emu_program *program)
{
    struct init_program *p;

    for (size_t i = 0; i < init->program_count; i++)
        if (init->programs[i].program == program)
            return &init->programs[i];
    if (!lw_grow(&init->programs, &init->program_capacity, init->program_count + 1, sizeof *init->programs))
        goto lost;
    p = &init->programs[init->program_count];
    *p = (struct init_program){.program = program, .live = chk_live(program),
                               .plan = calloc(emu_program_object(program)->text_count + 1, sizeof *p->plan)};
    if (p->live != NULL && p->plan != NULL) {
        init->program_count++;
        return p;
    }
    free(p->live);
    free(p->plan);
lost:
    init->memory.chk->short_of_memory = true;
    return NULL;
}
/** Returns the live registers for each instruction of a program, or NULL if memory is short. */
static const struct init_set *live_of(struct chk_init *init, const struct emu_program *program)
{
    const struct init_program *p = program_of(init, program);

    return p == NULL ? NULL : p->live;
}
/** Returns the plan (struct init_plan) of the instruction at @site, or NULL if memory is short. */
static const struct init_plan *plan_of(struct chk_init *init, const struct emu_hook_site *site)
{
    const struct init_program *p = program_of(init, site->program);

    if (p == NULL)
        return NULL;
    if (!p->plan[site->index].is_built)
        init_rules_plan(site->insn, &p->plan[site->index]);
    return &p->plan[site->index];
}

/** Returns the record of a warp that executes in single steps. When the warp begins to do so, creates the record, with
 *  all registers of the warp marked as defined. Returns NULL if memory is short. */
static struct init_warp *warp_track(struct chk_init *init, struct init_block *b,
                                    const struct emu_core *core, unsigned warp)
{
    struct emu_warp_view view;
    struct init_warp *w = b->warp[warp];

    if (w != NULL)
        return w;
    if (!emu_warp_view(core, b->is.slot, warp, &view) || (w = calloc(1, sizeof *w)) == NULL)
        goto lost;
    w->vregs = view.vreg_count;
    w->v = calloc(2 * ((size_t)w->vregs + 1), sizeof *w->v);
    if (w->v == NULL)
        goto lost;
    w->v_from = w->v + w->vregs + 1;
    w->v_lanes = calloc((size_t)w->vregs + 1, sizeof *w->v_lanes);
    if (w->v_lanes == NULL)
        goto lost;
    b->warp[warp] = w;
    return w;
lost:
    warp_free(w);
    init->memory.chk->short_of_memory = true;
    return NULL;
}

static uint32_t unread_register(struct chk_init *init, unsigned number)
{
    return init_origin_add(init, &(struct init_origin){.where = INIT_REGISTER, .number = number});
}

/** Called when a block starts. If a kernel may read registers before it writes them, marks these registers as undefined, and
 *  makes all warps execute in single steps. */
static void begin_warps(struct chk_init *init, struct init_block *b, struct emu_core *core,
                        const struct emu_grid *grid)
{
    const struct init_set *live = live_of(init, grid->launch.program);
    const struct isa_function *kernel = grid->launch.kernel;
    bool any = false;

    if (live == NULL)
        return;
    for (unsigned i = 0; i < INIT_SET_WORDS; i++)
        any |= live[kernel->first].w[i] != 0;
    for (unsigned i = 0; any && i < b->warp_count; i++) {
        struct init_warp *w = warp_track(init, b, core, i);
        struct isa_reg_use one = {.count = 1};

        if (w == NULL)
            return;
        w->unread = live[kernel->first];
        w->any_unread = true;
        for (unsigned r = 0; r < w->vregs; r++) {
            one = (struct isa_reg_use){.reg_class = ISA_REG_V, .first = (uint8_t)r, .count = 1};
            if (!init_set_has(&live[kernel->first], isa_reg_number(&one)))
                continue;
            uint32_t from = unread_register(init, r);
            for (unsigned l = 0; l < EMU_MAX_LANES; l++) {
                w->v[r][l] = ~0u;
                w->v_from[r][l] = from;
            }
            w->v_lanes[r] = ~UINT64_C(0);
        }
        for (unsigned p = 0; p < ISA_PT; p++) {
            const uint32_t from = unread_register(init, INIT_PREDICATE + p);
            one = (struct isa_reg_use){.reg_class = ISA_REG_P, .first = (uint8_t)p, .count = 1};
            if (init_set_has(&live[kernel->first], isa_reg_number(&one)))
                w->p[p] = ~UINT64_C(0);
            for (unsigned l = 0; l < EMU_MAX_LANES; l++)
                w->p_from[p][l] = from;
            one.reg_class = ISA_REG_SP;
            if (init_set_has(&live[kernel->first], isa_reg_number(&one)))
                w->sp |= (uint8_t)(1u << p);
        }
        w->sp_from = unread_register(init, INIT_SCALAR_PREDICATE);
        for (unsigned s = 0; s < 126; s++) {
            one = (struct isa_reg_use){.reg_class = ISA_REG_S, .first = (uint8_t)s, .count = 1};
            w->s[s] = init_set_has(&live[kernel->first], isa_reg_number(&one)) ? ~0u : 0;
            w->s_from[s] = w->s[s] != 0 ? unread_register(init, INIT_SCALAR + s) : 0;
        }
        emu_hooks_single_step(core, b->is.slot, i, true);
    }
}

static void on_block(void *state, struct emu_core *core, unsigned slot, bool begins)
{
    struct chk_init *init = state;
    struct emu_block_view view;
    struct init_block *b = chk_slot_at(&init->blocks, core, slot, sizeof *b);

    if (b == NULL || !emu_block_view(core, slot, &view)) {
        init->memory.chk->short_of_memory |= b == NULL;
        return;
    }
    for (unsigned i = 0; i < b->warp_capacity; i++) {
        warp_free(b->warp[i]);
        b->warp[i] = NULL;
    }
    b->live = begins;
    if (!begins)
        return;
    b->width = emu_machine_config(init->memory.chk->machine)->warp_width;
    if (b->warp_capacity < view.warp_count) {
        struct init_warp **warps = calloc(view.warp_count, sizeof(struct init_warp *));
        struct init_local **locals = calloc(view.warp_count, sizeof *locals);
        if (warps == NULL || locals == NULL) {
            free(warps);
            free(locals);
            b->live = false;
            init->memory.chk->short_of_memory = true;
            return;
        }
        for (unsigned i = 0; i < b->warp_capacity; i++)
            free(b->local[i]);
        free(b->warp);
        free(b->local);
        b->warp = warps;
        b->local = locals;
        b->warp_capacity = view.warp_count;
        b->local_capacity = 0;
    }
    b->grid = view.grid->sequence;
    b->block = view.block;
    b->warp_count = view.warp_count;
    b->shared_bytes = view.shared_bytes;
    b->shared_undefined = view.shared_bytes == 0 ? 0 : UINT32_MAX; /* the shadow is allocated at the first access */
    for (unsigned i = 0; i < b->warp_capacity; i++) {
        if (b->local[i] == NULL)
            continue;
        if (view.local_bytes != b->local_bytes) {
            free(b->local[i]);
            b->local[i] = NULL;
        } else {
            init_local_begin(b, b->local[i]);
        }
    }
    b->local_bytes = view.local_bytes;
    begin_warps(init, b, core, view.grid);
}

/** Handles the end of replay: warps that were in single steps continue in single steps. */
static void on_replay_end(void *state, bool same)
{
    struct chk_init *init = state;

    for (size_t i = 0; same && i < init->blocks.count; i++) {
        const struct init_block *b = (const struct init_block *)init->blocks.at[i];

        for (unsigned w = 0; b->live && w < b->warp_count; w++)
            if (b->warp[w] != NULL)
                emu_hooks_single_step((struct emu_core *)(uintptr_t)b->is.core, b->is.slot, w, true);
    }
}

/* ---- memory ------------------------------------------------------------------------------------ */

uint32_t init_origin_at(struct chk_init *init, struct init_block *b, const struct emu_hook_site *site,
                        unsigned lane, uint64_t at)
{
    uint32_t from = init_mark_get(&init->memory, init_mark_key(b, site->warp, lane, at));
    struct init_origin o = {.pc = chk_site_pc(site)};
    struct emu_allocation allocation;
    bool inside;

    if (from != 0)
        return from;
    if (at >= ISA_GLOBAL_BASE) {
        o.where = INIT_GLOBAL;
        o.address = emu_allocation_at(init->memory.chk->machine, at, &allocation, &inside)
                        ? allocation.address
                        : at;
    } else if (at >= ISA_LOCAL_BASE) {
        o.where = INIT_LOCAL;
        o.kernel = site->grid->launch.kernel;
        o.number = (uint32_t)(at - ISA_LOCAL_BASE);
    } else {
        const struct isa_object *object = emu_program_object(site->program);
        o.where = INIT_SHARED;
        o.number = (uint32_t)(at - ISA_SHARED_BASE);
        const struct isa_variable *v;
        o.kernel = site->grid->launch.kernel;
        v = isa_shared_variable(object, o.kernel, o.number);
        if (v != NULL) { /* the elements of a variable are treated as one location */
            o.byte = o.number - v->shared_offset; /* byte of the first occurrence within the variable */
            o.number = v->shared_offset;
        }
    }
    return init_origin_add(init, &o);
}

static uint32_t origin_of(struct chk_init *init, struct init_block *b,
                          const struct emu_hook_access *a, unsigned lane, uint64_t at)
{
    return init_origin_at(init, b, &a->at, lane, at);
}

/** Returns the lanes with undefined bits in vector registers [@r, @r + @n), and marks the registers as defined in these
 *  lanes, so that later uses are not reported. */
static uint64_t take_vector(struct init_warp *w, unsigned r, unsigned n, uint64_t lanes,
                            uint32_t *from)
{
    uint64_t found = 0;

    for (unsigned i = r; i < r + n && i < w->vregs; i++) {
        const uint64_t here = w->v_lanes[i] & lanes;

        if (here != 0 && found == 0)
            *from = w->v_from[i][lw_lowest(here)];
        for (LW_EACH_BIT(l, here))
            w->v[i][l] = 0;
        w->v_lanes[i] &= ~here;
        found |= here;
    }
    return found;
}
/** Returns true if scalar registers [@s, @s + @n) have undefined bits, and marks the registers as defined. */
static bool take_scalar(struct init_warp *w, unsigned s, unsigned n, uint32_t *from)
{
    bool found = false;

    for (unsigned i = s; i < s + n && i < 126; i++) {
        if (w->s[i] == 0)
            continue;
        *from = w->s_from[i];
        w->s[i] = 0;
        found = true;
    }
    return found;
}

static void check_address(struct chk_init *init, struct init_warp *w, const struct emu_hook_access *a)
{
    const struct isa_insn *insn = a->at.insn;
    const struct isa_op_info *info = isa_op_info((enum isa_op)insn->op);
    const unsigned mode = info->flags & ISA_F_SCALAR || insn->op == ISA_TEX ||
                                  a->space == ISA_SPACE_CONST
                              ? ISA_AMODE_32
                              : isa_mod_get(insn, ISA_MOD_AMODE);
    char use[64];
    uint32_t from = 0;
    uint64_t lanes = 0;

    if (info->flags & ISA_F_SCALAR) {
        struct isa_reg_use uses[ISA_MAX_USES];
        unsigned n = isa_insn_uses(insn, uses);
        for (unsigned i = 0; i < n; i++)
            if (!uses[i].written && uses[i].reg_class == ISA_REG_S &&
                take_scalar(w, uses[i].first, uses[i].count, &from))
                lanes = a->at.lanes;
    } else if (insn->op == ISA_TEX) {
        struct isa_reg_use uses[ISA_MAX_USES];
        unsigned n = isa_insn_uses(insn, uses);
        for (unsigned i = 0; i < n; i++)
            if (!uses[i].written && uses[i].reg_class == ISA_REG_V)
                lanes |= take_vector(w, uses[i].first, uses[i].count, a->at.lanes, &from);
    } else {
        lanes = take_vector(w, insn->a, mode == ISA_AMODE_PAIR ? 2 : 1, a->at.lanes, &from);
        if ((mode == ISA_AMODE_SU32 || mode == ISA_AMODE_SS32) && take_scalar(w, insn->c, 2, &from))
            lanes = a->at.lanes;
    }
    if (lanes == 0)
        return;
    snprintf(use, sizeof use, "the address of %s %s",
             chk_access_names[a->kind][0] == 'a' ? "an" : "a", chk_access_names[a->kind]);
    init_found(init, CHK_UNINIT_ADDRESS, &a->at, lanes, use, from,
               chk_hook_address(a, lw_lowest(lanes)));
}

/** Computes the undefined bits of a texel's components from @mask, the undefined bits of the texel's bytes. */
static void texel(const struct chk_init *init, const struct emu_hook_access *a, unsigned lane, const uint8_t *mask,
                  uint32_t word[4])
{
    const struct emu_hook_site *at = &a->at;
    const enum isa_reg_class c = at->insn->c_scalar ? ISA_REG_S : ISA_REG_V;
    struct emu_texture texture;
    uint64_t low = 0, high = 0;
    unsigned bytes;

    (void)emu_reg_read(at->core, at->slot, at->warp, c, at->insn->c, lane, &low);
    (void)emu_reg_read(at->core, at->slot, at->warp, c, at->insn->c + 1u, lane, &high);
    if (!emu_texture_get(init->memory.chk->machine, high << 32 | (uint32_t)low, &texture))
        return; /* the fetch causes a fault */
    bytes = texture.bits / 8;
    for (unsigned k = 0; k < 4; k++) {
        word[k] = 0; /* components that the texel lacks have the defined value 0 or 1 */
        for (unsigned i = 0; k < texture.components && i < bytes; i++)
            word[k] |= mask[k * bytes + i] != 0 ? ~0u : 0;
    }
}

/** Computes the undefined bits of the value that a lane loads, as one mask in @word for each 32-bit register. @sign:
 *  the value is sign-extended. Returns the origin of these bits. */
static uint32_t lane_load(struct chk_init *init, struct init_block *b, const struct emu_hook_access *a, unsigned lane,
                          uint64_t at, bool sign, uint32_t word[4])
{
    uint8_t mask[16] = {0};
    unsigned first = 0;

    (void)init_lane_get(&init->memory, b, a->at.warp, lane, at, a->bytes, mask);
    while (first < a->bytes && mask[first] == 0)
        first++;
    for (unsigned k = 0; k < 4; k++)
        word[k] = lw_get32(mask + 4 * k);
    if (a->at.insn->op == ISA_TEX) /* the conversion of a component's bytes depends on its type */
        texel(init, a, lane, mask, word);
    if (sign && word[0] >> (8 * a->bytes - 1) & 1)
        word[0] |= ~(uint32_t)lw_mask(8 * a->bytes);
    return origin_of(init, b, a, lane, at + first);
}

static void load(struct chk_init *init, struct init_block *b, const struct emu_hook_access *a)
{
    const struct isa_insn *insn = a->at.insn;
    const bool is_scalar = isa_op_info((enum isa_op)insn->op)->flags & ISA_F_SCALAR;
    struct init_result *r = &init->result;
    const struct init_plan *plan = plan_of(init, &a->at);

    memset(r->undefined, 0, sizeof r->undefined);
    memset(r->s_mask, 0, sizeof r->s_mask);
    r->lanes = a->at.lanes;
    r->pred_written = r->sp_written = 0;
    r->d = plan != NULL ? plan->d : 0;
    r->words = plan != NULL ? plan->words : 0;
    r->s = plan != NULL ? plan->s : 0;
    r->s_words = plan != NULL ? plan->s_words : 0;
    init->pending = true;
    uint64_t undefined = init_access_undefined(&init->memory, b, a);
    const bool sign = !is_scalar && insn->op != ISA_TEX &&
                      (isa_mod_get(insn, ISA_MOD_SIZE) == ISA_SIZE_S8 ||
                       isa_mod_get(insn, ISA_MOD_SIZE) == ISA_SIZE_S16);
    uint64_t last = 0; /* address 0 belongs to no allocation */
    uint32_t word[4], from = 0;
    for (LW_EACH_BIT(l, undefined)) {
        const uint64_t at = chk_hook_address(a, (unsigned)l);
        if (at != last || at < ISA_GLOBAL_BASE)
            from = lane_load(init, b, a, (unsigned)l, at, sign, word);
        last = at;
        for (unsigned k = 0; k < 4; k++) {
            if (is_scalar) {
                r->s_mask[k] = word[k];
                r->s_from = from;
            } else {
                r->mask[k][l] = word[k];
                r->from[k][l] = from;
                r->undefined[k] |= (uint64_t)(word[k] != 0) << l;
            }
        }
    }
}

static void store(struct chk_init *init, struct init_block *b, struct init_warp *w,
                  const struct emu_hook_access *a)
{
    const unsigned data = isa_x_reg(a->at.insn->x), words = (a->bytes + 3) / 4;
    uint64_t undefined = 0;

    for (unsigned i = data; i < data + words && i < w->vregs; i++)
        undefined |= w->v_lanes[i] & a->at.lanes;
    if (undefined == 0) {
        init_access_define(&init->memory, b, a);
        return;
    }
    for (LW_EACH_BIT(l, a->at.lanes)) {
        const uint64_t at = chk_hook_address(a, (unsigned)l);
        uint8_t mask[16] = {0};
        for (unsigned i = 0; i < a->bytes && data + i / 4 < w->vregs; i++)
            mask[i] = (uint8_t)(w->v[data + i / 4][l] >> 8 * (i % 4));
        init_lane_put(&init->memory, b, a->at.warp, (unsigned)l, at, a->bytes, mask);
        for (unsigned i = 0; i < words && data + i < w->vregs; i++)
            if (w->v[data + i][l] != 0)
                init_mark_put(&init->memory, init_mark_key(b, a->at.warp, (unsigned)l, at + 4 * i),
                              w->v_from[data + i][l]);
    }
}

/** Reports an atomic that reads uninitialised memory. The atomic must not be an exchange, which only copies the value. */
static void atomic_memory(struct chk_init *init, struct init_block *b, const struct emu_hook_access *a)
{
    uint64_t undefined = init_access_undefined(&init->memory, b, a);

    if (undefined == 0)
        return;
    unsigned low = lw_lowest(undefined);
    uint64_t at = chk_hook_address(a, low);
    init_found(init, CHK_UNINIT_ATOMIC, &a->at, undefined, "the result of an atomic", origin_of(init, b, a, low, at), at);
    init_access_define(&init->memory, b, a);
}

static void atomic(struct chk_init *init, struct init_block *b, struct init_warp *w,
                   const struct emu_hook_access *a)
{
    const struct isa_insn *insn = a->at.insn;
    const bool swaps = isa_mod_get(insn, ISA_MOD_AOP) == ISA_AOP_CAS;
    const unsigned words = (a->bytes + 3) / 4;
    uint32_t from = 0;
    uint64_t lanes = take_vector(w, isa_x_reg(insn->x), words, a->at.lanes, &from);

    if (swaps)
        lanes |= take_vector(w, insn->c, words, a->at.lanes, &from);
    if (lanes != 0)
        init_found(init, CHK_UNINIT_ATOMIC, &a->at, lanes, "an operand of an atomic", from,
                   chk_hook_address(a, lw_lowest(lanes)));
    if (isa_mod_get(insn, ISA_MOD_AOP) == ISA_AOP_EXCH && a->kind == EMU_ACCESS_ATOMIC) {
        load(init, b, a);
        init_access_define(&init->memory, b, a);
        return;
    }
    atomic_memory(init, b, a);
    load(init, b, a); /* makes the loaded value defined, because atomic_memory() has marked the memory as defined */
}

static void on_access(void *state, const struct emu_hook_access *a)
{
    struct chk_init *init = state;
    struct init_block *b = block_at(init, a->at.core, a->at.slot);
    struct init_warp *w = b != NULL && a->at.warp < b->warp_count ? b->warp[a->at.warp] : NULL;
    bool loads = false;

    if (b == NULL)
        return;
    if (w != NULL) {
        init->memory.chk->look = CHK_LOOK_STEPS;
        check_address(init, w, a);
        switch (a->kind) {
        case EMU_ACCESS_STORE: store(init, b, w, a); break;
        case EMU_ACCESS_ATOMIC:
        case EMU_ACCESS_REDUCE: atomic(init, b, w, a); break;
        default: load(init, b, a); break;
        }
        return;
    }
    switch (a->kind) {
    case EMU_ACCESS_STORE: init_access_define(&init->memory, b, a); break;
    case EMU_ACCESS_ATOMIC:
    case EMU_ACCESS_REDUCE:
        loads = isa_mod_get(a->at.insn, ISA_MOD_AOP) == ISA_AOP_EXCH &&
                a->kind == EMU_ACCESS_ATOMIC;
        if (!loads)
            atomic_memory(init, b, a);
        break;
    default: loads = true; break;
    }
    if (loads && init_access_undefined(&init->memory, b, a) != 0) {
        if (warp_track(init, b, a->at.core, a->at.warp) != NULL)
            init->memory.chk->look = CHK_LOOK_REPEATED;
        return;
    }
    /* Later accesses to this page need no hook: a warp without undefined registers stores only defined values, so the
     * page remains defined. */
    (void)init_memory_filtered(&init->memory, chk_hook_address(a, lw_lowest(a->at.lanes)), a->filter);
}

/* ---- single steps -------------------------------------------------------------------------------- */

/** Reports a guard that is an undefined predicate. */
static void check_guard(struct chk_init *init, struct init_warp *w, const struct emu_hook_site *site)
{
    const struct isa_insn *insn = site->insn;
    const bool branch = isa_op_info((enum isa_op)insn->op)->flags & ISA_F_BRANCH;
    struct emu_warp_view view;
    uint64_t lanes;
    uint32_t from;

    if (insn->guard >= ISA_PT || !emu_warp_view(site->core, site->slot, site->warp, &view))
        return;
    if (insn->guard_scalar) {
        lanes = w->sp >> insn->guard & 1 ? site->split_lanes : 0;
        from = w->sp_from;
        w->sp &= (uint8_t)~(1u << insn->guard);
    } else {
        lanes = w->p[insn->guard] & site->split_lanes & view.exec;
        from = lanes != 0 ? w->p_from[insn->guard][lw_lowest(lanes)] : 0;
        w->p[insn->guard] &= ~lanes;
    }
    if (lanes != 0)
        init_found(init, CHK_UNINIT_BRANCH, site, lanes, branch ? "a branch" : "a guard", from, 0);
}

/** Checks the operands of a control instruction, such as the target, a member mask, a count or a pointer. */
static void check_control(struct chk_init *init, struct init_warp *w, const struct emu_hook_site *site)
{
    const struct isa_insn *insn = site->insn;
    const struct isa_op_info *info = isa_op_info((enum isa_op)insn->op);
    const bool jumps = info->flags & ISA_F_BRANCH;
    struct isa_reg_use uses[ISA_MAX_USES];
    unsigned n = isa_insn_uses(insn, uses);
    uint64_t lanes = 0;
    uint32_t from = 0;

    if (info->flags & ISA_F_CROSS) { /* the exchanged values are only copied, so only the member mask is checked */
        const unsigned member = isa_x_member(insn->x);
        if (member != ISA_VZ)
            lanes = take_vector(w, member, 1, site->lanes, &from);
        if (lanes != 0)
            init_found(init, CHK_UNINIT_BRANCH, site, lanes, "the mask of participating lanes", from, 0);
        return;
    }
    for (unsigned i = 0; i < n; i++)
        if (!uses[i].written && uses[i].reg_class == ISA_REG_V)
            lanes |= take_vector(w, uses[i].first, uses[i].count, site->lanes, &from);
    if (isa_op_has(info, ISA_TOK_RR)) { /* The instruction combines the predicate with predicates of other warps. */
        const unsigned r = isa_insn_r(insn);
        const uint64_t unsure = r < ISA_PT ? w->p[r] & site->lanes : 0;
        if (unsure != 0 && lanes == 0)
            from = w->p_from[r][lw_lowest(unsure)];
        lanes |= unsure;
        if (unsure != 0)
            w->p[r] &= ~unsure;
    }
    if (lanes == 0)
        return;
    if (info->unit == ISA_UNIT_SYNC || jumps)
        init_found(init, CHK_UNINIT_BRANCH, site, lanes,
                   jumps ? "the target of a branch" : "an operand of a barrier", from, 0);
    else
        init_found(init, CHK_UNINIT_ADDRESS, site, lanes, "a pointer or size", from, 0);
}

/** Checks a write of exec, whose bits guard all later instructions. */
static void check_exec(struct chk_init *init, const struct emu_hook_site *site, const struct init_result *r)
{
    uint64_t lanes = 0;

    for (unsigned i = 0; i < r->s_words && i < 4; i++)
        if (r->s + i == 126 || r->s + i == 127)
            lanes |= (uint64_t)r->s_mask[i] << 32 * (r->s + i - 126);
    lanes &= site->split_lanes;
    if (lanes != 0)
        init_found(init, CHK_UNINIT_BRANCH, site, lanes, "the mask of active lanes", r->s_from, 0);
}

/** If origin *@from is a register without the pc of a first read, replaces it by an origin with @pc. */
static void note_read(struct chk_init *init, uint32_t *from, uint64_t pc)
{
    struct init_origin o;

    if (*from >= init->origin_count)
        return;
    o = init->origins[*from];
    if (o.where != INIT_REGISTER || o.pc != 0 || *from == 0)
        return;
    o.pc = pc;
    *from = init_origin_add(init, &o);
}

/** Records the pc of this instruction in the origins of the never-written registers that it is the first to read. */
static void note_reads(struct chk_init *init, struct init_warp *w, const struct emu_hook_site *site)
{
    const struct isa_insn *insn = site->insn;
    const uint64_t pc = chk_site_pc(site);
    struct isa_reg_use use[ISA_MAX_USES + 1];
    unsigned count = isa_insn_uses(insn, use);

    if (insn->guard < ISA_PT)
        use[count++] = (struct isa_reg_use){.reg_class = insn->guard_scalar ? ISA_REG_SP : ISA_REG_P,
                                            .first = insn->guard, .count = 1};
    for (unsigned u = 0; u < count; u++) {
        for (unsigned k = 0; k < use[u].count && !use[u].written; k++) {
            struct isa_reg_use one = {.reg_class = use[u].reg_class, .first = (uint8_t)(use[u].first + k), .count = 1};
            const bool guard = u == count - 1 && insn->guard < ISA_PT;

            if (one.reg_class == ISA_REG_B || !init_set_has(&w->unread, isa_reg_number(&one)))
                continue;
            if (one.reg_class == ISA_REG_V && one.first < w->vregs) {
                for (LW_EACH_BIT(l, site->lanes & w->v_lanes[one.first]))
                    note_read(init, &w->v_from[one.first][l], pc);
            } else if (one.reg_class == ISA_REG_P) {
                for (LW_EACH_BIT(l, w->p[one.first] & (guard ? site->split_lanes : site->lanes)))
                    note_read(init, &w->p_from[one.first][l], pc);
            } else if (one.reg_class == ISA_REG_S && w->s[one.first] != 0) {
                note_read(init, &w->s_from[one.first], pc);
            } else if (one.reg_class == ISA_REG_SP && w->sp >> one.first & 1) {
                note_read(init, &w->sp_from, pc);
            }
        }
    }
}

static void on_step(void *state, const struct emu_hook_site *site)
{
    struct chk_init *init = state;
    struct init_block *b = block_at(init, site->core, site->slot);
    struct init_warp *w = b != NULL && site->warp < b->warp_count ? b->warp[site->warp] : NULL;
    const unsigned flags = isa_op_info((enum isa_op)site->insn->op)->flags;
    const struct init_plan *plan;

    init->pending = false;
    if (w == NULL)
        return;
    if (w->any_unread)
        note_reads(init, w, site);
    check_guard(init, w, site);
    if (flags & ISA_F_MEMORY)
        return;
    if (flags & ISA_F_CONTROL && site->insn->op != ISA_V_MOV_GIVE_B)
        check_control(init, w, site);
    if ((plan = plan_of(init, site)) == NULL)
        return;
    init_rules_apply(init, w, plan, site, &init->result);
    check_exec(init, site, &init->result);
    init->pending = true;
}

static void commit(struct init_warp *w, const struct init_result *r)
{
    for (unsigned i = 0; i < r->words && r->d + i < w->vregs; i++) {
        uint64_t *lanes = &w->v_lanes[r->d + i];
        const uint64_t now = r->undefined[i] & r->lanes;

        for (LW_EACH_BIT(l, *lanes & r->lanes & ~now))
            w->v[r->d + i][l] = 0;
        for (LW_EACH_BIT(l, now)) {
            w->v[r->d + i][l] = r->mask[i][l];
            w->v_from[r->d + i][l] = r->from[i][l];
        }
        *lanes = (*lanes & ~r->lanes) | now;
    }
    for (unsigned i = 0; i < r->s_words && r->s + i < 126; i++) {
        w->s[r->s + i] = r->s_mask[i];
        w->s_from[r->s + i] = r->s_from;
    }
    for (LW_EACH_BIT(p, (uint64_t)r->pred_written & 0x7f)) {
        w->p[p] = (w->p[p] & ~r->lanes) | (r->pred[p] & r->lanes);
        for (LW_EACH_BIT(l, r->lanes & r->pred[p]))
            w->p_from[p][l] = r->pred_from[l];
    }
    if (r->sp_written != 0) {
        w->sp = (uint8_t)((w->sp & ~r->sp_written) | (r->sp & r->sp_written));
        w->sp_from = r->s_from;
    }
}

/** Returns true if no live register of the warp has undefined bits. */
static bool is_clean(struct chk_init *init, const struct init_warp *w, const struct emu_hook_site *site)
{
    struct emu_split_view split[EMU_MAX_LANES];
    struct emu_warp_view view;
    const struct init_set *live = live_of(init, site->program);
    const uint64_t base = emu_program_base(site->program);
    unsigned n = emu_split_views(site->core, site->slot, site->warp, split, EMU_MAX_LANES);
    struct init_set may = {{0}};

    if (live == NULL || !emu_warp_view(site->core, site->slot, site->warp, &view))
        return true;
    for (unsigned i = 0; i < n; i++) {
        uint64_t index = (split[i].pc - base) / ISA_WORD_BYTES;
        for (unsigned k = 0; k < INIT_SET_WORDS; k++)
            may.w[k] |= live[index].w[k];
    }
    for (unsigned r = 0; r < w->vregs; r++) {
        const struct isa_reg_use one = {.reg_class = ISA_REG_V, .first = (uint8_t)r, .count = 1};
        if ((w->v_lanes[r] & view.live) != 0 && init_set_has(&may, isa_reg_number(&one)))
            return false;
    }
    for (unsigned p = 0; p < ISA_PT; p++) {
        const struct isa_reg_use one = {.reg_class = ISA_REG_P, .first = (uint8_t)p, .count = 1};
        const struct isa_reg_use two = {.reg_class = ISA_REG_SP, .first = (uint8_t)p, .count = 1};
        if ((w->p[p] & view.live) != 0 && init_set_has(&may, isa_reg_number(&one)))
            return false;
        if (w->sp >> p & 1 && init_set_has(&may, isa_reg_number(&two)))
            return false;
    }
    for (unsigned s = 0; s < 126; s++) {
        const struct isa_reg_use one = {.reg_class = ISA_REG_S, .first = (uint8_t)s, .count = 1};
        if (w->s[s] != 0 && init_set_has(&may, isa_reg_number(&one)))
            return false;
    }
    return true;
}

enum { LOOK_EVERY = 8 };

static bool on_stepped(void *state, const struct emu_hook_site *site, bool retired)
{
    struct chk_init *init = state;
    struct init_block *b = block_at(init, site->core, site->slot);
    struct init_warp *w = b != NULL && site->warp < b->warp_count ? b->warp[site->warp] : NULL;

    if (w == NULL)
        return true;
    if (retired && init->pending)
        commit(w, &init->result);
    init->pending = false;
    if (++w->steps % LOOK_EVERY != 0 || !is_clean(init, w, site))
        return false;
    warp_free(w);
    b->warp[site->warp] = NULL;
    return true;
}

/* ---- calls, shuffles, copies by the host ----------------------------------------------------------- */

static inline bool wants(void *state, const struct emu_program *program, uint32_t index, const struct isa_insn *insn)
{
    (void)state, (void)program, (void)index;
    return isa_op_info((enum isa_op)insn->op)->flags & (ISA_F_MEMORY | ISA_F_CALL) || init_rules_is_shuffle(insn) ||
           insn->op == ISA_VPRINTF || insn->op == ISA_LAUNCH_KERNEL || insn->op == ISA_LAUNCH_GROUP;
}

/** Handles a call: marks local memory below the stack pointer as undefined, because no stack frame uses it yet. */
static void call(struct init_block *b, const struct emu_hook_site *site)
{
    enum { STACK_POINTER = 2 };
    uint32_t end[EMU_MAX_LANES] = {0};

    if (site->warp >= b->warp_count || b->local[site->warp] == NULL)
        return;
    for (LW_EACH_BIT(l, site->lanes)) {
        uint64_t value = 0;
        (void)emu_reg_read(site->core, site->slot, site->warp, ISA_REG_V, STACK_POINTER, (unsigned)l,
                           &value);
        end[l] = (uint32_t)value;
    }
    init_local_fresh(b, site->warp, site->lanes, end);
}

/** Handles a shuffle on the fast path. If the shuffle reads a lane that does not participate, its result is undefined. The
 *  warp then executes in single steps from this shuffle on. */
static void shuffle(struct chk_init *init, struct init_block *b, const struct emu_hook_site *site)
{
    const struct init_plan *plan = plan_of(init, site);

    if (plan != NULL && site->warp < b->warp_count && b->warp[site->warp] == NULL &&
        init_rules_reads_absent(plan, site) && warp_track(init, b, site->core, site->warp) != NULL) {
        emu_hooks_single_step(site->core, site->slot, site->warp, true);
        init->memory.chk->look = CHK_LOOK_REPEATED;
    }
}

static void on_insn(void *state, const struct emu_hook_site *site)
{
    struct chk_init *init = state;
    struct init_block *b = block_at(init, site->core, site->slot);

    if (b == NULL || !wants(state, site->program, site->index, site->insn))
        return;
    if (init_rules_is_shuffle(site->insn))
        shuffle(init, b, site);
    else if (site->insn->op == ISA_VPRINTF)
        init_args_print(init, b, site);
    else if (site->insn->op == ISA_LAUNCH_KERNEL || site->insn->op == ISA_LAUNCH_GROUP)
        init_args_launch(init, b, site);
    else
        call(b, site);
}

/** Copies undefined bits and origins for a copy by the host. The two ranges may overlap. */
static void copied(struct chk_init *init, uint64_t to, uint64_t from, uint64_t bytes)
{
    enum { PIECE = 1024 };
    struct init_memory *m = &init->memory;
    uint8_t mask[PIECE];
    uint32_t origin[PIECE / 4];

    for (uint64_t done = 0, n; done < bytes; done += n) {
        n = bytes - done < PIECE ? bytes - done : PIECE;
        const uint64_t offset = to > from ? bytes - done - n : done;
        const uint64_t in = from + offset, out = to + offset;

        if (m->tracked == 0 || !init_lane_get(m, NULL, 0, 0, in, (unsigned)n, mask)) {
            init_memory_range(m, out, n, true);
            continue;
        }
        for (unsigned k = 0; k < n; k += 4) { /* a word has one origin */
            struct init_origin o = {.where = INIT_GLOBAL, .address = in};
            struct emu_allocation a;
            bool inside;
            origin[k / 4] = init_mark_get(m, init_mark_key(NULL, 0, 0, in + k));
            if (origin[k / 4] != 0)
                continue;
            if (emu_allocation_at(init->memory.chk->machine, in, &a, &inside))
                o.address = a.address;
            origin[k / 4] = init_origin_add(init, &o);
        }
        init_lane_put(m, NULL, 0, 0, out, (unsigned)n, mask);
        for (unsigned k = 0; k < n; k++)
            if (mask[k] != 0)
                init_mark_put(m, init_mark_key(NULL, 0, 0, out + k), origin[k / 4]);
    }
}

static void on_machine_event(void *state, const struct emu_machine_event *event)
{
    struct chk_init *init = state;
    struct emu_allocation a;
    bool inside;

    init->memory.there.end = 0;
    switch (event->kind) {
    case EMU_MACHINE_ALLOC:
        /* not marked as uninitialised, because variables of a module have initial values */
        if (emu_allocation_at(init->memory.chk->machine, event->address, &a, &inside) && inside &&
            (a.flags & (EMU_ALLOC_MODULE | EMU_ALLOC_READ_ONLY)) == 0)
            init_memory_range(&init->memory, event->address, event->size_bytes, false);
        break;
    case EMU_MACHINE_FREE: init_memory_range(&init->memory, event->address, event->size_bytes, true); break;
    case EMU_MACHINE_HOST_WRITE:
        if (event->from != 0)
            copied(init, event->address, event->from, event->size_bytes);
        else
            init_memory_range(&init->memory, event->address, event->size_bytes, true);
        break;
    case EMU_MACHINE_HOST_READ: init_found_output(init, event->address, event->size_bytes); break;
    default: break;
    }
}

static void mark_uninitialised(void *state, uint64_t address, uint64_t bytes)
{
    init_memory_range(&((struct chk_init *)state)->memory, address, bytes, false);
}

static void end(void *state)
{
    struct chk_init *init = state;

    for (size_t i = 0; i < init->blocks.count; i++)
        block_fini((struct init_block *)init->blocks.at[i]);
    free(init->blocks.at);
    for (size_t i = 0; i < init->program_count; i++) {
        free(init->programs[i].live);
        free(init->programs[i].plan);
    }
    free(init->programs);
    free(init->origins);
    init_memory_end(&init->memory);
}

const struct chk_observer chk_init_observer = {
    .classes = 1u << CHK_CLASS_UNINITIALISED, .past = CHK_PAST_NOTED, .state_bytes = sizeof(struct chk_init),
    .end = end, .wants = wants, .on_insn = on_insn, .on_access = on_access, .on_step = on_step,
    .on_stepped = on_stepped, .on_block = on_block, .on_replay_end = on_replay_end,
    .on_machine_event = on_machine_event, .mark_uninitialised = mark_uninitialised};
