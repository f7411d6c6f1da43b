/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The load/store unit of a core. It executes memory instructions in order, one access per cycle. An access is a pass
 * over the banks of shared memory, a line of global, local or texture memory, or a word of the constant cache. If
 * the access of the queue's head finds no MSHR, merge entry, way or crossbar space, the head waits, and so do all
 * instructions after it in the queue.
 *
 * Global stores write through and do not allocate. Local memory is written back; its stores allocate a line without
 * reading it. Atomics and reductions go to L2 and evict the line from L1. A line that arrives serves the accesses
 * that wait for it in the next cycle.
 *
 * A mechanism may order the queue. Then the head is the instruction that the mechanism selects, and the mechanism may
 * replace a head that has made only some of its accesses.
 */

static bool can_send(struct tim_core *core)
{
    if (core->memory->ops->can_send(core->memory, core->index))
        return true;
    core->each[TIM_IDLE_ICNT]++;
    core->no_capacity = true; /* the core must be ticked again when the crossbar has space */
    return false;
}

/* ---- the accesses of an instruction -------------------------------------------------------------- */

/* local_of() returns the address at which caches see the local memory of a warp. Each slot group (core.group) of each core has
 * its own range of addresses. The range consists of local-memory rows, which have one word of every lane of the slot group. */
enum { LOCAL_ALIGN = 256 };

static uint64_t local_of(const struct tim_core *core, const struct tim_op *op)
{
    const struct tim_block *block = &core->block[core->warp[op->warp].block];
    const unsigned group = core->config->core_group, width = core->config->core_warp_width;
    uint64_t bytes = (uint64_t)block->local_bytes * width * group;

    bytes = (bytes + LOCAL_ALIGN - 1) / LOCAL_ALIGN * LOCAL_ALIGN;
    return TIM_LOCAL_BASE + ((uint64_t)core->index * (core->config->core_warps / group) + op->warp / group) * bytes +
           op->warp % group * width * 4u;
}

/** Adds the @count accesses @line to the instruction. Adds to *sectors the number of sectors that these accesses touch.
 *  Returns false if memory is short. */
static bool add_steps(struct tim_op *op, const struct tim_line *line, unsigned count,
                      enum tim_access_kind to, unsigned *sectors)
{
    size_t room = op->line_capacity;

    if (!lw_grow(&op->line, &room, op->line_count + count, sizeof *op->line))
        return false;
    op->line_capacity = (unsigned)room;
    for (unsigned i = 0; i < count; i++) {
        struct tim_step *step = &op->line[op->line_count + i];
        const struct tim_line *from = &line[i];

        /* The copy is word by word, because the caller has just stored single words. A wider load of the host would have
         * to wait for all these stores. */
        step->line.line = from->line;
        for (unsigned w = 0; w < LW_COUNT_OF(from->mask); w++) {
            uint64_t bytes = from->mask[w];

            step->line.mask[w] = bytes;
            if (bytes != 0)
                *sectors += ((uint32_t)bytes != 0) + (bytes >> 32 != 0);
        }
        step->line.lanes = from->lanes;
        step->to = (uint8_t)to;
        step->more = 0;
    }
    op->line_count += count;
    return true;
}

/** Returns the number of 32-byte sectors that have bytes in @with but none in @had. */
static unsigned new_sectors(const uint64_t had[4], const uint64_t with[4])
{
    unsigned sectors = 0;

    for (unsigned i = 0; i < 8; i++) {
        uint64_t half = UINT64_C(0xffffffff) << i % 2 * 32;

        sectors += (had[i / 2] & half) == 0 && (with[i / 2] & half) != 0;
    }
    return sectors;
}

/** Adds an issuing instruction to its packet, if it has one. Returns false if memory is short. */
static bool join_packet(struct tim_core *core, struct tim_op *op)
{
    struct tim_mech *mech = core->mechs.packets;
    bool together = false, first;

    op->packet = mech->row->packet(mech, op->warp, op->what, &together);
    if (op->packet == 0)
        return true;
    if (!tim_packets_join(core->packets, op->packet, (uint32_t)(op - core->op), &first))
        return false;
    op->follower = !first;
    if (first)
        tim_packets_of(core->packets, op->packet)->together = together && op->what->load;
    return true;
}

static unsigned first_byte(const uint64_t mask[4])
{
    unsigned w = 0;

    while (mask[w] == 0)
        w++;
    return w * 64 + lw_lowest(mask[w]);
}

/** Called for @op, a member of a packet. @line has the *count accesses of @op. Removes the accesses that earlier members of
 *  the packet already make, because @op shares ("rides on") those accesses. Adds to *sectors the number of sectors that @op
 *  adds to the shared accesses. Returns false if memory is short. */
static bool ride(struct tim_core *core, struct tim_op *op, struct tim_line *line, unsigned *count, enum tim_access_kind to,
                 unsigned *sectors)
{
    struct tim_packet_entry *packet = tim_packets_of(core->packets, op->packet);
    const uint64_t kind = op->kind | (uint64_t)to << 4 | (uint64_t)op->cached << 8 |
                          (op->kind == EMU_ACCESS_REDUCE ? op->pc << 9 : 0);
    const uint32_t index = (uint32_t)(op - core->op);
    const bool writes = op->kind != EMU_ACCESS_LOAD;
    unsigned left = 0;

    for (unsigned i = 0; i < *count; i++) {
        const unsigned lanes = lw_popcount(line[i].lanes);
        const uint64_t like = to == TIM_TO_CONSTANT ? kind | (uint64_t)first_byte(line[i].mask) << 12 : kind;
        const struct tim_packet_access *access = op->follower ? tim_packets_find(packet, line[i].line, like) : NULL;
        struct tim_op *other = access != NULL && access->op != index ? &core->op[access->op] : NULL;
        struct tim_step *step = other != NULL ? &other->line[access->step] : NULL;

        if (step == NULL || lw_popcount(step->line.lanes) + step->more + lanes > UINT8_MAX) {
            if (!tim_packets_access(packet, line[i].line, like, index, op->line_count + left))
                return false;
            line[left++] = line[i];
            continue;
        }
        if (writes && step->more == 0 && !tim_packets_link(core->packets, &other->ride, access->op, access->step))
            return false; /* the list of receivers includes the instruction that makes the access */
        if (!tim_packets_link(core->packets, &other->ride, index, access->step))
            return false;
        step->more = (uint8_t)(step->more + lanes);
        *sectors += new_sectors(step->line.mask, line[i].mask);
        for (unsigned w = 0; w < LW_COUNT_OF(line[i].mask); w++)
            step->line.mask[w] |= line[i].mask[w];
        if (writes)
            op->rides++;
        else
            op->lines_pending++;
        core->stats->count[TIM_CORE_joined]++;
    }
    *count = left;
    return true;
}

/** Coalesces @access and adds the resulting accesses to lines to the instruction. If they are to global or local memory,
 *  adds their number to *below. Returns false if memory is short. */
static bool add_lines(struct tim_core *core, struct tim_op *op, const struct emu_access *access,
                      unsigned line_bytes, enum tim_access_kind to, unsigned *below)
{
    struct tim_line line[TIM_LINES_MOST];
    unsigned sectors = 0;
    unsigned count = tim_coalesce(core->config, access, line_bytes,
                                  to == TIM_TO_LOCAL ? local_of(core, op) : 0, line);

    if (tim_has_packets(core) && op->packet != 0 && op->kind != EMU_ACCESS_ATOMIC &&
        !ride(core, op, line, &count, to, &sectors))
        return false;
    if (!add_steps(op, line, count, to, &sectors))
        return false;
    for (unsigned i = 0; core->locality != NULL && i < count; i++)
        if (!tim_locality_add(core->locality, line[i].line))
            return false;
    if (to == TIM_TO_GLOBAL || to == TIM_TO_LOCAL) {
        core->stats->count[TIM_CORE_sectors] += sectors;
        core->stats->count[TIM_CORE_accesses] += count;
        *below += count;
    }
    return true;
}

/** Returns whether the instruction is a member of a packet whose members access shared memory and constants together, as
 *  one wide instruction. */
static bool is_wide(const struct tim_core *core, const struct tim_op *op)
{
    return tim_has_packets(core) && op->packet != 0 && core->mechs.packets->row->packets_are_wide;
}

/** Computes the number of passes over shared memory for all members of the packet so far, and adds the increase of that number to
 *  @op. If there is no increase, @op shares the passes of the first member. Returns false if memory is short. */
static bool pass_together(struct tim_core *core, struct tim_op *op, const struct emu_access *access)
{
    const struct tim_config *c = core->config;
    const unsigned lanes = tim_forms(core) ? 0 : c->core_warp_width; /* the members of a formed warp have different lanes */
    const unsigned width = c->core_warp_width * (tim_forms(core) ? 1 : c->issue_schedulers);
    const uint32_t index = (uint32_t)(op - core->op);
    struct tim_packet_banks *banks = tim_packets_banks(tim_packets_of(core->packets, op->packet), access->kind, access->bytes, lanes,
                                                       index);
    uint64_t row[EMU_MAX_LANES];
    const uint64_t *address = access->piece_count != 0 ? tim_access_rows(access, row) : access->address;

    if (banks == NULL)
        return false;
    for (LW_EACH_BIT(l, access->lanes)) {
        /* With core.permute, members of a formed warp may have the same lane of their warps, but never the same lane of the units. */
        const unsigned at = banks->used + (tim_forms(core) ? tim_permuted_lane(c, op->warp, l) : l);

        banks->address[at] = address[l];
        banks->lanes |= UINT64_C(1) << at;
    }
    banks->used += lanes;
    struct emu_access wide = {.space = ISA_SPACE_SHARED, .kind = access->kind, .bytes = access->bytes, .lanes = banks->lanes,
                              .address = banks->address};
    unsigned passes = tim_shared_passes_of(c, &wide, width < EMU_MAX_LANES ? width : EMU_MAX_LANES);
    assert(passes >= banks->passes);
    if (passes != banks->passes) {
        op->passes += passes - banks->passes;
        banks->passes = passes;
        return true;
    }
    core->stats->count[TIM_CORE_joined]++;
    if (access->kind == EMU_ACCESS_LOAD)
        op->lines_pending++;
    else
        op->rides++;
    return tim_packets_link(core->packets, &core->op[banks->op].ride, index, TIM_STEP_BANKS);
}

/** Adds the accesses of a load through the constant cache. The addresses of @access are in the address space of that cache.
 *  Returns false if memory is short. */
static bool add_words(struct tim_core *core, struct tim_op *op, const struct emu_access *access)
{
    struct tim_line line[EMU_MAX_LANES];
    unsigned sectors = 0, count = tim_constant_words(access, core->config->constant_line, line);

    if (is_wide(core, op) && !ride(core, op, line, &count, TIM_TO_CONSTANT, &sectors))
        return false;
    core->stats->count[TIM_CORE_constant_loads]++;
    core->stats->count[TIM_CORE_constant_passes] += count;
    return add_steps(op, line, count, TIM_TO_CONSTANT, &sectors);
}

/** Adds the accesses of a load from constant banks: converts offsets in banks to addresses of the constant cache. */
static bool add_bank(struct tim_core *core, struct tim_op *op, const struct emu_access *access)
{
    const struct emu_grid *grid = core->block[core->warp[op->warp].block].grid;
    struct emu_access part = *access;
    uint64_t address[EMU_MAX_LANES];

    part.address = tim_access_rows(access, address);
    for (LW_EACH_BIT(l, access->lanes))
        address[l] = tim_constant_address(
            grid, (access->piece_count != 0 ? address[l] : access->address[l]) - (UINT64_C(1) << 42));
    part.piece_count = 0;
    part.affine = false;
    return add_words(core, op, &part);
}

/** Returns whether a global load goes through L1. */
static bool is_cached(const struct tim_core *core, const struct emu_access *access)
{
    const struct tim_config *c = core->config;

    if (c->l1_bytes == 0 || c->l1_global == TIM_L1_OFF || access->order != 0)
        return false;
    if (access->cache == ISA_CACHE_CG || access->cache == ISA_CACHE_CV)
        return false;
    if (c->l1_global == TIM_L1_CACHE || access->cache == ISA_CACHE_NC)
        return true;
    struct emu_allocation allocation;
    bool inside;
    uint64_t first = access->piece_count != 0 ? access->piece[0].base
                                              : access->address[lw_lowest(access->lanes)];

    return emu_allocation_at(core->machine, first, &allocation, &inside) && inside &&
           allocation.flags & EMU_ALLOC_READ_ONLY;
}

/** Adds the accesses of lanes whose addresses are all in state space @space. @below is as for add_lines(). */
static bool add_access(struct tim_core *core, struct tim_op *op, const struct emu_access *access,
                       enum isa_space space, unsigned *below)
{
    const struct tim_config *c = core->config;
    uint64_t *count = core->stats->count;
    unsigned line_bytes = c->l1_bytes != 0 ? c->l1_line : c->l2_line;

    switch (space) {
    case ISA_SPACE_SHARED:
        if (!is_wide(core, op))
            op->passes += tim_shared_passes(c, access);
        else if (!pass_together(core, op, access))
            return false;
        count[TIM_CORE_shared_accesses]++;
        count[TIM_CORE_shared_passes] += op->passes;
        tim_histogram_add(&core->stats->histogram[TIM_CORE_H_passes_an_access], op->passes);
        return true;
    case ISA_SPACE_GLOBAL:
        if (op->what->texture)
            return add_lines(core, op, access, core->texture != NULL ? c->texture_line : line_bytes, TIM_TO_TEXTURE, below);
        if (op->what->to_constant)
            return add_words(core, op, access);
        count[TIM_CORE_access_lanes] += tim_count_lanes(core, access->lanes);
        count[access->kind == EMU_ACCESS_LOAD    ? TIM_CORE_global_loads
              : access->kind == EMU_ACCESS_STORE ? TIM_CORE_global_stores
                                                 : TIM_CORE_global_atomics]++;
        return add_lines(core, op, access, line_bytes, TIM_TO_GLOBAL, below);
    case ISA_SPACE_LOCAL:
        count[TIM_CORE_local_accesses]++;
        count[TIM_CORE_access_lanes] += tim_count_lanes(core, access->lanes);
        return add_lines(core, op, access, line_bytes, TIM_TO_LOCAL, below);
    case ISA_SPACE_CONST:
        return add_bank(core, op, access);
    default:
        return true;
    }
}

/** Adds the accesses of lanes whose addresses are in several state spaces, space by space. */
static bool add_by_space(struct tim_core *core, struct tim_op *op, const struct emu_access *access,
                         unsigned *below)
{
    static const enum isa_space order[] = {ISA_SPACE_SHARED, ISA_SPACE_GLOBAL, ISA_SPACE_LOCAL,
                                           ISA_SPACE_CONST};
    uint64_t in[ISA_SPACE_COUNT] = {0};

    for (LW_EACH_BIT(l, access->lanes))
        in[access->lane_space[l]] |= UINT64_C(1) << l;
    for (unsigned i = 0; i < LW_COUNT_OF(order); i++) {
        struct emu_access part = *access;

        if (in[order[i]] == 0)
            continue;
        part.lanes = in[order[i]];
        if (!add_access(core, op, &part, order[i], below))
            return false;
    }
    return true;
}

static bool tim_lsu_issue(struct tim_core *core, struct tim_op *op, const struct emu_event *ev)
{
    unsigned below = 0;

    op->passes = op->line_count = op->line_next = op->lines_pending = 0;
    op->data_at = 0;
    if (tim_has_packets(core) && !join_packet(core, op))
        return false;
    for (unsigned i = 0; i < ev->access_count; i++) {
        const struct emu_access *access = &ev->access[i];

        if (access->kind == EMU_ACCESS_CONSTANT || access->lanes == 0)
            continue;
        op->kind = (uint8_t)access->kind;
        op->cached = is_cached(core, access);
        if (access->lane_space == NULL ? !add_access(core, op, access, access->space, &below)
                                       : !add_by_space(core, op, access, &below))
            return false;
    }
    if (op->what->load && below != 0)
        tim_histogram_add(&core->stats->histogram[TIM_CORE_H_accesses_a_load], below);
    op->bypasses = tim_has_mechanisms(core) && core->mechs.bypasses && op->cached && tim_is_data_load(op->what) &&
                   tim_mechs_bypass(&core->mechs, op->warp, op->pc);
    return true;
}

/* ---- data arrives --------------------------------------------------------------------------------------- */

/** Called when @line has arrived for @op: reports the arrival to all instructions that share the access of @op to the line. */
static void riders_came(struct tim_core *core, uint32_t op, uint64_t line, uint64_t at)
{
    for (unsigned step = 0; step < core->op[op].line_next && core->op[op].ride != TIM_NO_LINK; step++) {
        if (core->op[op].line[step].line.line != line)
            continue;
        uint32_t list = tim_packets_take(core->packets, &core->op[op].ride, step);
        while (list != TIM_NO_LINK)
            tim_op_line_came(core, tim_packets_unlink(core->packets, &list), at);
    }
}

/** Called when a line, or an answer from L2, arrives for an access of @op: reports the arrival to @op and to the instructions
 *  that share the access. */
static void line_came(struct tim_core *core, uint32_t op, uint64_t line, uint64_t at)
{
    if (tim_has_packets(core) && core->op[op].ride != TIM_NO_LINK)
        riders_came(core, op, line, at);
    tim_op_line_came(core, op, at);
}

/** Called when a write packet of @warp has been answered: updates the number of its unanswered packets. */
static void is_written(struct tim_core *core, unsigned warp)
{
    if (--core->warp[warp].writes_out == 0)
        tim_warp_touch(core, warp, TIM_TOUCH_MEMORY);
}

/** Returns whether the access that l1_blocks() recorded remains blocked after line @line has arrived. */
static bool blocks_on(const struct tim_core *core, uint64_t line)
{
    switch (core->l1_answer) {
    case TIM_CACHE_NO_MERGE:
        return line != core->l1_line;
    case TIM_CACHE_NO_WAY:
        return tim_cache_set(core->l1, line) != tim_cache_set(core->l1, core->l1_line);
    default:
        return false;
    }
}

static void tim_lsu_receive(struct tim_core *core, uint64_t now)
{
    struct tim_packet packet = core->packet;

    tim_core_drop_wakes(core, now);
    if (core->has_packet || core->memory->ops->receive(core->memory, core->index, now + core->lag, &packet)) {
        core->has_packet = false;
        core->moved = true;
        uint32_t index = packet.id & lw_mask(28), waiters;
        core->stats->count[TIM_CORE_replies]++;
        tim_histogram_add(&core->stats->histogram[TIM_CORE_H_packet_latency], now - packet.sent);
        if (tim_traces(core))
            tim_trace_packet(core->trace, now + core->lag, TIM_TRACE_REPLIED, core->index, &packet, 0);
        switch (packet.id >> 28) {
        case TIM_CLIENT_L1:
            core->l1_stuck = core->l1_stuck && blocks_on(core, packet.line);
            waiters = tim_cache_fill(core->l1, packet.line, tim_cache_sectors(core->l1, packet.mask),
                                     core->waiters);
            if (core->held != NULL && packet.line < TIM_LOCAL_BASE)
                tim_held_fill(core, core->op[index].warp, packet.line, packet.mask);
            for (uint32_t i = 0; i < waiters; i++)
                line_came(core, core->waiters[i], packet.line, now + 1);
            break;
        case TIM_CLIENT_TEXTURE:
            waiters = tim_cache_fill(core->texture, packet.line,
                                     tim_cache_sectors(core->texture, packet.mask), core->waiters);
            for (uint32_t i = 0; i < waiters; i++)
                line_came(core, core->waiters[i], packet.line, now + 1);
            break;
        case TIM_CLIENT_OP:
            if (core->op[index].kind == EMU_ACCESS_ATOMIC)
                is_written(core, core->op[index].warp);
            line_came(core, index, packet.line, now + 1);
            break;
        case TIM_CLIENT_WRITE:
            is_written(core, index & 0xffff);
            count_answer(core, index);
            break;
        case TIM_CLIENT_JOINED:
            while (index != TIM_NO_LINK) {
                uint32_t of = tim_packets_unlink(core->packets, &index);

                is_written(core, of & 0xffff);
                count_answer(core, of);
            }
            break;
        case TIM_CLIENT_FETCH:
            tim_fetch_filled(core, packet.line, tim_cache_sectors(core->icache, packet.mask));
            break;
        case TIM_CLIENT_CONSTANT:
            tim_constant_filled(core, packet.line, tim_cache_sectors(core->constant, packet.mask),
                                now);
            break;
        case TIM_CLIENT_STATE:
            core->block[index].lines_out--;
            break;
        default: /* TIM_CLIENT_NOBODY: a write-back, whose answer is ignored */
            break;
        }
    }
}

/* ---- one access a cycle ---------------------------------------------------------------------------------- */

/** If an access would evict a dirty line, writes this line back and returns true. The access is then made in a later cycle.
 *  Sets *blocked if the crossbar has no space for the write. */
static bool write_back_first(struct tim_core *core, const struct tim_cache_result *r, uint64_t now,
                             bool *blocked)
{
    if (!r->evicted || !tim_cache_result_is_dirty(r))
        return false;
    *blocked = !can_send(core);
    if (!*blocked) {
        core->moved = true;
        tim_cache_evict(core->l1, r->victim);
        tim_send(core, r->victim, r->dirty, TIM_PACKET_WRITE, tim_packet_id(TIM_CLIENT_NOBODY, 0),
             0xffff, 0, now);
        core->stats->count[TIM_CORE_l1_writebacks]++;
        core->stats->count[TIM_CORE_l1_evictions]++;
        if (tim_has_mechanisms(core))
            tim_mechs_evict(&core->mechs, r->victim, r->victim_owner);
    }
    return true;
}

/** Records that L1 has no MSHR, merge entry or way for the head of the queue. This can change only when a line arrives. */
static void l1_blocks(struct tim_core *core, uint64_t line, enum tim_cache_answer answer)
{
    core->each[TIM_IDLE_L1]++;
    core->l1_stuck = !tim_kind.reference;
    core->l1_line = line;
    core->l1_answer = (uint8_t)answer;
}

/** l1.classes: counts a load of a line through L1 in the counter of its class of locality. */
static void count_class(struct tim_core *core, const struct tim_op *op, const struct tim_line *line,
                        enum tim_cache_answer answer)
{
    static const uint8_t counter[TIM_LOCALITY_CLASSES] = {
        TIM_CORE_l1_hits_thread, TIM_CORE_l1_hits_warp, TIM_CORE_l1_hits_other, TIM_CORE_l1_misses_compulsory,
        TIM_CORE_l1_misses_conflict, TIM_CORE_l1_misses_warp, TIM_CORE_l1_misses_other};

    if (answer == TIM_CACHE_MERGE) {
        tim_locality_merge(core->locality, line->line);
        return;
    }
    unsigned row = counter[tim_locality_access(core->locality, line->line, core->warp[op->warp].age, line->lanes,
                                               answer == TIM_CACHE_HIT)];
    core->stats->count[row] += !op->what->texture; /* the counters are for loads only, but texture fetches may use L1, too */
}

/** Reports to mechanisms an access of L1, unless it is a texture fetch, and the line that it evicts. */
static void report_access(struct tim_core *core, const struct tim_op *op, const struct tim_line *line,
                            const struct tim_cache_result *r)
{
    if (!op->what->texture)
        tim_mechs_access(&core->mechs, &(struct tim_mech_access){
        .warp = op->warp, .pc = op->pc, .code = core->warp[op->warp].code, .line = line->line, .lanes = tim_count_lanes(core, op->lanes),
        .index = op->line_next, .count = op->line_count, .instruction = op->age,
        .hit = r->answer == TIM_CACHE_HIT, .merge = r->answer == TIM_CACHE_MERGE, .owner = r->owner});
    if (r->evicted)
        tim_mechs_evict(&core->mechs, r->victim, r->victim_owner);
}

/** Evicts a line from L1 because of a store or an atomic. */
static void l1_evict(struct tim_core *core, uint64_t line)
{
    tim_cache_evict(core->l1, line);
    if (core->locality != NULL)
        tim_locality_evict(core->locality, line);
    if (tim_has_mechanisms(core))
        tim_mechs_drop(&core->mechs, line);
}

/** Indexes of the counters for loads through a cache. */
struct cache_rows {
    unsigned hits, misses, merges, evictions;
};
static const struct cache_rows l1_rows = {TIM_CORE_l1_hits, TIM_CORE_l1_misses, TIM_CORE_l1_merges,
                                          TIM_CORE_l1_evictions};
static const struct cache_rows constant_rows = {TIM_CORE_constant_hits, TIM_CORE_constant_misses,
                                                TIM_CORE_constant_merges, TIM_CORE_constant_evictions};
static const struct cache_rows texture_rows = {TIM_CORE_texture_hits, TIM_CORE_texture_misses,
                                               TIM_CORE_texture_misses, TIM_CORE_texture_evictions};

/* ---- riders: instructions of a packet that share the next access of @op, which is the head of the queue ---- */

/** Called when the access is a load that hits. The access's riders get their data in cycle @at. */
static void riders_hit(struct tim_core *core, struct tim_op *op, uint64_t at)
{
    uint32_t list = tim_packets_take(core->packets, &op->ride, op->line_next);

    while (list != TIM_NO_LINK)
        tim_op_line_done(core, tim_packets_unlink(core->packets, &list), at);
}

/** Called when the access is a load that misses. The access's riders wait for data from outside the core. */
static void riders_miss(struct tim_core *core, const struct tim_op *op)
{
    for (uint32_t i = op->ride; i != TIM_NO_LINK; i = core->packets->link[i].next)
        if (core->packets->link[i].step == op->line_next)
            core->warp[core->op[core->packets->link[i].value].warp].missing++; /* the caller counts the change */
}

/** Called when the access is a store or reduction: records that its riders have made this access. If @below, the access
 *  goes to memory; the function then returns the packet id, which names the list of the instructions that get the answer. */
static uint32_t riders_written(struct tim_core *core, struct tim_op *op, bool below, uint64_t now)
{
    uint32_t list = tim_packets_take(core->packets, &op->ride, op->line_next), kept = list;

    for (uint32_t i = list; i != TIM_NO_LINK; i = core->packets->link[i].next) {
        struct tim_op *rider = &core->op[core->packets->link[i].value];

        if (below) {
            core->packets->link[i].value = count_write(core, rider);
            core->warp[rider->warp].writes_out++;
        }
        if (rider != op && --rider->rides == 0 && rider->stage == TIM_STAGE_MEMORY)
            finish_accesses(core, rider, now);
    }
    while (!below && list != TIM_NO_LINK)
        (void)tim_packets_unlink(core->packets, &list);
    return tim_packet_id(TIM_CLIENT_JOINED, kept);
}

/** Returns whether the next access of @op has riders. */
static inline bool is_ridden(const struct tim_core *core, const struct tim_op *op)
{
    return tim_has_packets(core) && op->ride != TIM_NO_LINK && op->line[op->line_next].more != 0;
}

/** Returns the id of the packet for the next access of @op, a write to memory for @op and all riders of the access. */
static uint32_t write_id(struct tim_core *core, struct tim_op *op, uint64_t now)
{
    if (is_ridden(core, op))
        return riders_written(core, op, true, now);
    core->warp[op->warp].writes_out++;
    return tim_packet_id(TIM_CLIENT_WRITE, count_write(core, op));
}

/** Loads a line from L2; the load bypasses all caches of the core. Returns true if the access is made. */
static bool send_load(struct tim_core *core, struct tim_op *op, const struct tim_step *step, uint64_t now)
{
    if (!can_send(core))
        return false;
    op->lines_pending++;
    core->warp[op->warp].missing++;
    core->hot.changes += tim_acts();
    if (is_ridden(core, op))
        riders_miss(core, op);
    op->missed |= step->line.lanes;
    tim_send(core, step->line.line, step->line.mask, TIM_PACKET_READ,
             tim_packet_id(TIM_CLIENT_OP, (uint32_t)(op - core->op)), op->warp, 0, now);
    return true;
}

/** Returns whether the next access of @op bypasses L1. @answer: result of its look-up in L1. */
static bool bypasses_l1(const struct tim_core *core, const struct tim_op *op, enum tim_cache_answer answer)
{
    if (op->line[op->line_next].to != TIM_TO_GLOBAL || answer == TIM_CACHE_HIT || answer == TIM_CACHE_MERGE)
        return false;
    return op->bypasses || (core->config->l1_bypass == TIM_BYPASS_STALL && answer == TIM_CACHE_NO_WAY);
}

/** Loads a line through a cache. Returns true if the access is made. */
static bool read_line(struct tim_core *core, struct tim_op *op, struct tim_cache *cache,
                      enum tim_client client, unsigned latency, const struct cache_rows *rows,
                      uint64_t now)
{
    const struct tim_line *line = &op->line[op->line_next].line;
    uint64_t *count = core->stats->count;
    struct tim_cache_result r;
    bool blocked;

    tim_cache_lookup(cache, line->line, line->mask, &r);
    if (client == TIM_CLIENT_L1 && bypasses_l1(core, op, r.answer)) {
        bool sent = send_load(core, op, &op->line[op->line_next], now);

        count[TIM_CORE_l1_bypasses] += sent;
        return sent;
    }
    if (tim_cache_is_blocked(r.answer)) {
        if (client == TIM_CLIENT_L1)
            l1_blocks(core, line->line, r.answer);
        return false;
    }
    if (client == TIM_CLIENT_CONSTANT && r.answer == TIM_CACHE_MERGE &&
        is_others(core, TIM_SHARES_CONSTANTS, line->line))
        return false;
    if (r.answer == TIM_CACHE_MISS && client == TIM_CLIENT_L1 &&
        write_back_first(core, &r, now, &blocked))
        return false;
    bool levels = client == TIM_CLIENT_CONSTANT && tim_has_operands(core); /* a miss of the constant cache goes to the
                                                                            * instruction cache, not to the crossbar */
    if (r.fetch != 0 && r.answer != TIM_CACHE_HIT && !levels && !can_send(core)) {
        core->l1_misses = client == TIM_CLIENT_L1 && !tim_kind.reference;
        return false;
    }
    tim_cache_go(cache, line->line, (uint32_t)(op - core->op), op->warp, &r);
    if (client == TIM_CLIENT_CONSTANT && r.answer == TIM_CACHE_MISS)
        share_request(core, TIM_SHARES_CONSTANTS, line->line);
    if (core->held != NULL && client == TIM_CLIENT_L1 && r.answer == TIM_CACHE_MISS)
        tim_held_miss(core, r.set, r.way, line->line);
    op->lines_pending++;
    if (client == TIM_CLIENT_L1 && core->locality != NULL)
        count_class(core, op, line, r.answer);
    if (client == TIM_CLIENT_L1 && tim_has_mechanisms(core))
        report_access(core, op, line, &r);
    if (r.answer == TIM_CACHE_HIT) {
        count[rows->hits]++;
        if (is_ridden(core, op))
            riders_hit(core, op, now + latency);
        tim_op_line_done(core, (uint32_t)(op - core->op), now + latency + (uint64_t)(int64_t)op->result_after);
        return true;
    }
    if (is_ridden(core, op))
        riders_miss(core, op);
    op->missed |= line->lanes;
    core->warp[op->warp].missing++;
    core->hot.changes += tim_acts();
    count[r.answer == TIM_CACHE_MERGE ? rows->merges : rows->misses]++;
    count[rows->evictions] += r.evicted;
    if (levels && r.fetch != 0)
        tim_front_load(core->front, line->line);
    else if (r.fetch != 0)
        tim_send_read(core, cache, line->line, r.fetch, client, (uint32_t)(op - core->op), op->warp,
                      now);
    return true;
}

/** Stores to a line. Returns true if the access is made. */
static bool write_line(struct tim_core *core, struct tim_op *op, const struct tim_step *step,
                       uint64_t now)
{
    const struct tim_config *c = core->config;
    const struct tim_line *line = &step->line;
    struct tim_cache_result r;
    bool blocked;

    if (step->to == TIM_TO_LOCAL && c->l1_bytes != 0) {
        tim_cache_lookup_write(core->l1, line->line, true, &r);
        if (tim_cache_is_blocked(r.answer)) {
            l1_blocks(core, line->line, r.answer);
            return false;
        }
        if (write_back_first(core, &r, now, &blocked))
            return false;
        tim_cache_write(core->l1, line->line, line->mask, true, true, op->warp, &r);
        core->stats->count[TIM_CORE_l1_evictions] += r.evicted;
        if (r.evicted && tim_has_mechanisms(core))
            tim_mechs_evict(&core->mechs, r.victim, r.victim_owner);
        if (is_ridden(core, op))
            (void)riders_written(core, op, false, now);
        return true;
    }
    if (!can_send(core))
        return false;
    if (c->l1_bytes != 0) {
        if (c->l1_store == TIM_STORE_EVICT)
            l1_evict(core, line->line);
        else
            tim_cache_write(core->l1, line->line, line->mask, false, false, op->warp, &r);
    }
    tim_send(core, line->line, line->mask, TIM_PACKET_WRITE, write_id(core, op, now), op->warp, 0, now);
    return true;
}

static bool atomic_line(struct tim_core *core, struct tim_op *op, const struct tim_step *step,
                        uint64_t now)
{
    bool result = op->kind == EMU_ACCESS_ATOMIC && op->what->write_count != 0;

    if (!can_send(core))
        return false;
    if (core->config->l1_bytes != 0)
        l1_evict(core, step->line.line);
    tim_send(core, step->line.line, step->line.mask, result ? TIM_PACKET_ATOMIC : TIM_PACKET_REDUCE,
         result ? tim_packet_id(TIM_CLIENT_OP, (uint32_t)(op - core->op)) : write_id(core, op, now),
         op->warp, lw_popcount(step->line.lanes) + step->more, now);
    op->lines_pending += result;
    core->warp[op->warp].missing = (uint16_t)(core->warp[op->warp].missing + result);
    core->hot.changes += tim_acts();
    core->warp[op->warp].writes_out += result;
    return true;
}

/** Reads a word of the constant cache. Returns true if the access is made. */
static bool constant_line(struct tim_core *core, struct tim_op *op, uint64_t now)
{
    const struct tim_config *c = core->config;

    if (!c->constant_perfect)
        return read_line(core, op, core->constant, TIM_CLIENT_CONSTANT, c->constant_latency, &constant_rows, now);
    op->lines_pending++;
    if (is_ridden(core, op))
        riders_hit(core, op, now + c->constant_latency);
    tim_op_line_done(core, (uint32_t)(op - core->op), now + c->constant_latency + (uint64_t)(int64_t)op->result_after);
    return true;
}

static bool access_line(struct tim_core *core, struct tim_op *op, uint64_t now)
{
    const struct tim_config *c = core->config;
    const struct tim_step *step = &op->line[op->line_next];

    if (core->l1_stuck) {
        core->each[TIM_IDLE_L1]++;
        return false;
    }
    if (core->l1_misses && !can_send(core)) /* the access is known to miss, and the crossbar still has no space */
        return false;
    core->l1_misses = false;
    if (op->kind == EMU_ACCESS_ATOMIC || op->kind == EMU_ACCESS_REDUCE)
        return atomic_line(core, op, step, now);
    if (op->kind == EMU_ACCESS_STORE)
        return write_line(core, op, step, now);
    switch (step->to) {
    case TIM_TO_CONSTANT:
        return constant_line(core, op, now);
    case TIM_TO_TEXTURE:
        if (core->texture != NULL)
            return read_line(core, op, core->texture, TIM_CLIENT_TEXTURE, c->texture_latency, &texture_rows, now);
        if (core->l1 != NULL)
            return read_line(core, op, core->l1, TIM_CLIENT_L1, c->texture_latency, &texture_rows, now);
        return send_load(core, op, step, now);
    default:
        if (c->l1_bytes != 0 && (step->to == TIM_TO_LOCAL || op->cached))
            return read_line(core, op, core->l1, TIM_CLIENT_L1, c->l1_latency, &l1_rows, now);
        return send_load(core, op, step, now);
    }
}

/** Removes the head of the load/store queue. */
static void dequeue(struct tim_core *core)
{
    core->l1_stuck = core->l1_misses = false;
    core->shared_at = core->now + core->config->lsu_interval;
    core->queued--;
    for (unsigned i = 0; i < core->queued; i++) /* moves the remaining entries: the queue is short */
        core->queue[i] = core->queue[i + 1];
    if (core->queued != 0)
        core->head_at = core->op[core->queue[0]].at;
}

/** Makes the instruction that the mechanism selects the head of the queue. If no instruction has reached the queue yet, the
 *  instruction that will reach it first becomes the head. */
static void tim_lsu_order(struct tim_core *core, uint64_t now)
{
    uint16_t warp[TIM_LSU_QUEUE_MOST], at[TIM_LSU_QUEUE_MOST];
    unsigned count = 0, first = 0, selected;

    for (unsigned i = 0; i < core->queued; i++) {
        const struct tim_op *op = &core->op[core->queue[i]];

        if (op->at <= now) {
            warp[count] = op->warp;
            at[count++] = (uint16_t)i;
        }
        if (op->at < core->op[core->queue[first]].at)
            first = i;
    }
    selected = count == 0 ? first : at[core->mechs.orders->row->orders(core->mechs.orders, warp, count)];
    if (selected == 0)
        return;
    const uint32_t op = core->queue[selected];
    memmove(&core->queue[1], &core->queue[0], selected * sizeof core->queue[0]);
    core->queue[0] = op;
    core->head_at = core->op[op].at;
    core->l1_stuck = core->l1_misses = false;
    core->stats->count[TIM_CORE_mrpb_overtakes] += count != 0;
}

/** Returns whether an earlier instruction of the same warp waits for its replay. */
static bool follows_replay(const struct tim_core *core, const struct tim_op *op)
{
    for (unsigned i = 0; i < core->replays; i++) {
        const struct tim_op *other = &core->op[core->replay[i].op];
        if (other->warp == op->warp && other->age < op->age)
            return true;
    }
    return false;
}

/** Called when @op has made its passes over shared memory. Completes the passes also for the instructions that share them. */
static void riders_passed(struct tim_core *core, struct tim_op *op, uint64_t now)
{
    uint32_t list = tim_packets_take(core->packets, &op->ride, TIM_STEP_BANKS);

    while (list != TIM_NO_LINK) {
        const uint32_t index = tim_packets_unlink(core->packets, &list);
        struct tim_op *rider = &core->op[index];

        if (rider->kind == EMU_ACCESS_LOAD) {
            tim_op_line_done(core, index, op->data_at);
            continue;
        }
        rider->data_at = op->data_at > rider->data_at ? op->data_at : rider->data_at;
        if (--rider->rides == 0 && rider->stage == TIM_STAGE_MEMORY)
            finish_accesses(core, rider, now);
    }
}

/** Makes one pass over the banks of shared memory. */
static void pass_banks(struct tim_core *core, struct tim_op *op, uint64_t now)
{
    core->moved = true;
    if (--op->passes != 0)
        return;
    op->data_at = now + core->config->shared_latency + (uint64_t)(int64_t)op->result_after;
    if (tim_has_packets(core) && op->ride != TIM_NO_LINK)
        riders_passed(core, op, now);
}

/** lsu.separate: makes one access of the head of @side, the queue of shared memory or of scalar loads. */
static void tim_side_tick(struct tim_core *core, struct tim_side *side, uint64_t now)
{
    struct tim_op *op;

    if (side->queued == 0 || side->head_at > now)
        return;
    op = &core->op[side->queue[0]];
    if (op->passes != 0)
        pass_banks(core, op, now);
    else if (op->line_next < op->line_count) {
        if (!constant_line(core, op, now))
            return;
        op->line_next++;
    }
    core->moved = true;
    if (op->passes != 0 || op->line_next < op->line_count)
        return;
    side->queued--;
    side->used--;
    for (unsigned i = 0; i < side->queued; i++) /* moves the remaining entries: the queue is short */
        side->queue[i] = side->queue[i + 1];
    if (side->queued != 0)
        side->head_at = core->op[side->queue[0]].at;
    finish_accesses(core, op, now);
}

static void tim_sides_tick(struct tim_core *core, uint64_t now)
{
    for (unsigned i = 0; i < TIM_SIDES; i++)
        tim_side_tick(core, &core->side[i], now);
}

static bool reexecute_access(struct tim_core *core, struct tim_op *op, uint64_t now);
static void reexecute_move(struct tim_core *core, const struct tim_op *op);
static bool reexecute_first(struct tim_core *core, uint64_t now);

static void tim_lsu_tick(struct tim_core *core, uint64_t now)
{
    const bool reexecutes = tim_acts() && core->mechs.reexecution != NULL;
    bool replays = tim_replays(core), blocked = false, follows = false;
    struct tim_op *op;

    if (replays && core->replays != 0)
        tim_replay_tick(core, now);
    if (reexecutes && reexecute_first(core, now))
        return;
    if (core->queued == 0 || core->head_at > now)
        return;
    op = &core->op[core->queue[0]];
    if (tim_has_packets(core) && op->packet != 0 && tim_mech_is_open(core->mechs.packets, op->packet))
        return; /* more instructions may join the packet */
    if (replays && follows_replay(core, op)) {
        follows = true;
    } else if (op->passes != 0) {
        pass_banks(core, op, now);
    } else if (op->line_next < op->line_count) {
        blocked = reexecutes ? !reexecute_access(core, op, now) : !access_line(core, op, now);
        if (blocked && reexecutes)
            reexecute_move(core, op);
        if (blocked && !replays)
            return;
        op->line_next += !blocked;
    }
    core->moved = true;
    if (op->passes != 0 || op->line_next < op->line_count) {
        if (!replays)
            return;
        core->stats->count[follows           ? TIM_CORE_replays_order
                           : blocked         ? TIM_CORE_replays_blocked
                           : op->passes != 0 ? TIM_CORE_replays_banks
                                             : TIM_CORE_replays_lines]++;
        tim_replay_add(core, core->queue[0], now);
        dequeue(core);
        return;
    }
    dequeue(core);
    core->lsu_used -= !tim_has_local(core) && tim_op_leaves(core, op);
    if (replays)
        count_queued(core, op);
    finish_accesses(core, op, now);
}
