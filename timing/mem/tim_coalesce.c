/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The coalescer turns the lanes' addresses of a memory instruction into accesses to lines. There are three rules (lsu.coalesce).
 * line: one access for each line and coalescing group, which is lsu.coalesce_lanes lanes (compute capability 2.0 and later).
 * half_strict (1.0) and half_segment (1.2): each half warp of 16 lanes makes transactions of memory segments, of 32 to 128 bytes.
 */
#include "timing/tim_priv.h"

#include <assert.h>
#include <string.h>

/** State of the coalescer for one instruction. A coalescing group, here called group, is the lanes whose accesses may be
 *  combined. */
struct making {
    struct tim_line *out;
    unsigned count;
    unsigned from; /* index, in `out`, of the first access of the current group */
    unsigned last; /* index of the latest access to which bytes of a lane were added */
    unsigned line_bytes;
    bool write; /* for a write, masks contain only bytes that lanes write, even with half_strict and half_segment */
    /** Hash table of the current group: index of the first access whose line has this hash, or NOT_SEEN if there is none.
     *  Valid only if the group has more than FEW accesses; fewer accesses are searched one by one. */
    uint8_t slot[64];
};
/* Values of a slot that are not an index. NOT_CACHED: the index is too large for the slot. */
enum { NOT_SEEN = 0xff, NOT_CACHED = 0xfe };
enum { FEW = 6 };

/** Begins a new group of lanes, whose bytes are not added to earlier accesses. */
static void begin_group(struct making *m)
{
    m->from = m->last = m->count;
}

/** Sets bits [@at, @at + @bytes) of the mask of a line. */
static inline void add_bytes(uint64_t mask[4], unsigned at, unsigned bytes)
{
    while (bytes > 0) { /* The access of an aligned lane needs one iteration. */
        unsigned n = 64 - at % 64 < bytes ? 64 - at % 64 : bytes;

        mask[at / 64] |= lw_mask(n) << at % 64;
        at += n;
        bytes -= n;
    }
}

static inline struct tim_line *new_line(struct making *m, uint64_t line)
{
    assert(m->count < TIM_LINES_MOST);
    m->out[m->count] = (struct tim_line){.line = line};
    return &m->out[m->count++];
}

static inline uint8_t *slot_of(struct making *m, uint64_t line)
{
    return &m->slot[(line >> lw_lowest(m->line_bytes)) * UINT64_C(0x9e3779b97f4a7c15) >> 58];
}

/** Enters access @i in the hash table, unless an earlier access of the group has the same hash. */
static inline void enter_slot(struct making *m, unsigned i)
{
    uint8_t *slot = slot_of(m, m->out[i].line);

    if (*slot == NOT_SEEN)
        *slot = (uint8_t)(i < NOT_CACHED ? i : NOT_CACHED);
}

/** Returns the index of the group's access to @line, or the number of all accesses if there is none. */
static unsigned search_line(struct making *m, uint64_t line)
{
    unsigned i = m->from;

    if (m->count - m->from > FEW) {
        const unsigned slot = *slot_of(m, line);

        if (slot == NOT_SEEN)
            return m->count;
        if (slot < m->count && m->out[slot].line == line)
            return slot;
    }
    while (i < m->count && m->out[i].line != line)
        i++;
    return i;
}

/** Returns the group's access to @line. Adds the access if there is none. */
static struct tim_line *find_line(struct making *m, uint64_t line)
{
    const unsigned i = search_line(m, line);

    m->last = i;
    if (i != m->count)
        return &m->out[i];
    (void)new_line(m, line);
    if (m->count - m->from == FEW + 1) {
        memset(m->slot, NOT_SEEN, sizeof m->slot);
        for (unsigned k = m->from; k < i; k++)
            enter_slot(m, k);
    }
    if (m->count - m->from > FEW)
        enter_slot(m, i);
    return &m->out[i];
}

/** Adds bytes [@address, @address + @bytes), which lanes @lanes access. The bytes are in one line, because accesses are
 *  aligned. */
static inline void add_piece(struct making *m, uint64_t address, unsigned bytes, uint64_t lanes)
{
    uint64_t line = address & ~(uint64_t)(m->line_bytes - 1);
    unsigned at = (unsigned)(address - line);
    struct tim_line *to;

    if (m->last < m->count && m->out[m->last].line == line) /* adjacent lanes usually share a line */
        to = &m->out[m->last];
    else
        to = find_line(m, line);
    to->lanes |= lanes;
    add_bytes(to->mask, at, bytes < m->line_bytes - at ? bytes : m->line_bytes - at);
}

/** half_strict, half_segment: adds a transaction of the segment [@address, @address + @bytes) for @lanes, as an access for
 *  each line of the segment. Other transactions do not share these accesses. */
static void add_transaction(struct making *m, const struct emu_access *a, uint64_t address,
                            unsigned bytes, uint64_t lanes)
{
    begin_group(m);
    while (!m->write && bytes > 0) {
        unsigned room = m->line_bytes - (unsigned)(address & (m->line_bytes - 1));
        unsigned n = room < bytes ? room : bytes;

        add_piece(m, address, n, 0);
        address += n;
        bytes -= n;
    }
    for (LW_EACH_BIT(l, lanes))
        add_piece(m, a->address[l], a->bytes, UINT64_C(1) << l);
}

/** Returns the number of lanes in a local-memory row: the lanes of a slot group. */
static inline uint64_t row_lanes(const struct tim_config *config)
{
    return (uint64_t)config->core_warp_width * config->core_group;
}

/** Adds the access of one lane to local memory, word by word. A local-memory row consists of the same word of all lanes of a slot
 *  group. */
static void add_local(struct making *m, const struct tim_config *config, uint64_t local_base,
                      uint64_t offset, unsigned bytes, unsigned lane)
{
    while (bytes > 0) {
        unsigned n = 4 - (unsigned)(offset & 3) < bytes ? 4 - (unsigned)(offset & 3) : bytes;

        add_piece(m, local_base + (offset / 4 * row_lanes(config) + lane) * 4 + (offset & 3),
                  n, UINT64_C(1) << lane);
        offset += n;
        bytes -= n;
    }
}

/** Adds the accesses of a half warp by the rule of compute capability 1.0 and 1.1. If lane k accesses element k of an
 *  aligned block of 16 elements, the block is one transaction, or two of 128 bytes; otherwise each lane has a transaction
 *  of 32 bytes. */
static void half_strict(struct making *m, const struct emu_access *a, uint64_t lanes)
{
    unsigned first = lw_lowest(lanes);
    uint64_t base = a->address[first] - (uint64_t)(first % 16) * a->bytes;
    unsigned block = 16u * a->bytes;
    bool strict = a->bytes >= 4 && base % block == 0;

    for (LW_EACH_BIT(l, lanes))
        strict = strict && a->address[l] == base + (uint64_t)(l % 16) * a->bytes;
    if (!strict) {
        for (LW_EACH_BIT(l, lanes))
            add_transaction(m, a, a->address[l] & ~UINT64_C(31), 32, UINT64_C(1) << l);
        return;
    }
    if (block <= 128) {
        add_transaction(m, a, base, block, lanes);
        return;
    }
    for (unsigned half = 0; half < 2; half++) {
        uint64_t mine = lanes & (UINT64_C(0xff) << (first & ~15u) << 8 * half);

        if (mine != 0)
            add_transaction(m, a, base + 128 * half, 128, mine);
    }
}

/** Adds the accesses of a half warp by the rule of compute capability 1.2 and 1.3. A transaction reads or writes the
 *  segment of the lowest remaining lane, and serves all lanes with addresses in this segment. While one half of the segment
 *  contains the addresses of all these lanes and has at least 32 bytes, the segment is reduced to this half. */
static void half_segment(struct making *m, const struct emu_access *a, uint64_t lanes)
{
    unsigned most = a->bytes == 1 ? 32 : a->bytes == 2 ? 64 : 128;

    while (lanes != 0) {
        unsigned bytes = most;
        uint64_t start = a->address[lw_lowest(lanes)] & ~(uint64_t)(bytes - 1);
        uint64_t served = 0, low = UINT64_MAX, high = 0;

        for (LW_EACH_BIT(l, lanes)) {
            if (a->address[l] - start >= bytes)
                continue;
            served |= UINT64_C(1) << l;
            low = a->address[l] < low ? a->address[l] : low;
            high = a->address[l] + a->bytes - 1 > high ? a->address[l] + a->bytes - 1 : high;
        }
        while (bytes > 32) {
            if (high < start + bytes / 2)
                bytes /= 2;
            else if (low >= start + bytes / 2)
                start += bytes /= 2;
            else
                break;
        }
        add_transaction(m, a, start, bytes, served);
        lanes &= ~served;
    }
}

/* ---- accesses in closed form -------------------------------------------------------------- */

uint64_t *tim_access_rows(const struct emu_access *access, uint64_t *address)
{
    for (unsigned k = 0; k < access->piece_count; k++) {
        const struct emu_event_segment *p = &access->piece[k];
        unsigned first = lw_lowest(p->lanes);

        for (LW_EACH_BIT(l, p->lanes))
            address[l] = p->base + (uint64_t)p->stride * (l - first);
    }
    return address;
}

/** Adds the accesses of @count lanes, from @lane on, to consecutive elements of @bytes bytes at @address, which is a
 *  multiple of @bytes. @alone: no other lane of the group accesses memory, so each line is new. */
static inline void add_dense(struct making *m, uint64_t address, unsigned bytes, unsigned lane,
                             unsigned count, bool alone)
{
    while (count > 0) {
        unsigned at = (unsigned)(address & (m->line_bytes - 1));
        unsigned room = m->line_bytes - at;
        unsigned n = count * bytes <= room ? count : room / bytes;
        struct tim_line *to = alone ? new_line(m, address - at) : find_line(m, address - at);

        to->lanes |= lw_mask(n) << lane;
        add_bytes(to->mask, at, n * bytes);
        address += (uint64_t)n * bytes;
        lane += n;
        count -= n;
    }
}

/** Returns whether @address is a multiple of @bytes, without a division where possible. */
static inline bool is_multiple(uint64_t address, unsigned bytes)
{
    return (bytes & (bytes - 1)) == 0 ? (address & (bytes - 1)) == 0 : address % bytes == 0;
}

/** Returns whether lanes with addresses @base + @stride * (l - lowest lane of @lanes) access consecutive elements. */
static inline bool is_dense(const struct making *m, uint64_t base, int64_t stride, unsigned bytes, uint64_t lanes)
{
    return stride == bytes && is_multiple(base, bytes) && bytes <= m->line_bytes &&
           lanes >> lw_lowest(lanes) == lw_mask(lw_popcount(lanes));
}

/** Adds the accesses of lanes l with addresses @base + @stride * (l - lowest lane of @lanes). */
static void add_run(struct making *m, uint64_t base, int64_t stride, unsigned bytes, uint64_t lanes)
{
    unsigned first = lw_lowest(lanes);

    if (stride == 0)
        add_piece(m, base, bytes, lanes);
    else if (is_dense(m, base, stride, bytes, lanes))
        add_dense(m, base, bytes, first, lw_popcount(lanes), false);
    else
        for (LW_EACH_BIT(l, lanes))
            add_piece(m, base + (uint64_t)stride * (l - first), bytes, UINT64_C(1) << l);
}

/** Adds the accesses of lanes @lanes, which are lanes of the segment @piece. */
static void add_some(struct making *m, const struct tim_config *config,
                     const struct emu_access *access, uint64_t local_base,
                     const struct emu_event_segment *piece, uint64_t lanes)
{
    unsigned first = lw_lowest(lanes);
    uint64_t base = piece->base + (uint64_t)piece->stride * (first - lw_lowest(piece->lanes));

    if (access->space != ISA_SPACE_LOCAL) {
        add_run(m, base, piece->stride, access->bytes, lanes);
        return;
    }
    base -= ISA_LOCAL_BASE;
    if (piece->stride == 0 && access->bytes == 4 && base % 4 == 0) { /* all lanes access one local-memory row */
        add_run(m, local_base + (base / 4 * row_lanes(config) + first) * 4, 4, 4, lanes);
        return;
    }
    for (LW_EACH_BIT(l, lanes))
        add_local(m, config, local_base, base + (uint64_t)piece->stride * (l - first),
                  access->bytes, (unsigned)l);
}

/** If the access has a single segment that is uniform or dense, and all its lanes are in the first group, adds it without
 *  a search for lines. Otherwise returns false. */
static inline bool add_plain(struct making *m, const struct tim_config *config, const struct emu_access *access)
{
    const struct emu_event_segment *piece = &access->piece[0];
    const unsigned group = config->lsu_coalesce_lanes, bytes = access->bytes;

    if (access->piece_count != 1 || access->space == ISA_SPACE_LOCAL || piece->lanes != access->lanes ||
        (piece->lanes & ~lw_mask(group)) != 0)
        return false;
    if (piece->stride == 0) {
        const unsigned at = (unsigned)(piece->base & (m->line_bytes - 1)), room = m->line_bytes - at;
        struct tim_line *to = new_line(m, piece->base - at);

        to->lanes = piece->lanes;
        add_bytes(to->mask, at, bytes < room ? bytes : room);
        return true;
    }
    if (!is_dense(m, piece->base, piece->stride, bytes, piece->lanes))
        return false;
    add_dense(m, piece->base, bytes, lw_lowest(piece->lanes), lw_popcount(piece->lanes), true);
    return true;
}

/** Adds the accesses of all segments, group by group. Computes the addresses of single lanes only where necessary. */
static void add_pieces(struct making *m, const struct tim_config *config,
                       const struct emu_access *access, uint64_t local_base)
{
    unsigned group = config->lsu_coalesce_lanes;

    for (unsigned start = 0; start < EMU_MAX_LANES; start += group) {
        uint64_t lanes = access->lanes & lw_mask(group) << start;

        if (lanes == 0)
            continue;
        begin_group(m);
        for (unsigned k = 0; k < access->piece_count; k++)
            if ((access->piece[k].lanes & lanes) != 0)
                add_some(m, config, access, local_base, &access->piece[k],
                         access->piece[k].lanes & lanes);
    }
}

unsigned tim_constant_words(const struct emu_access *access, unsigned line_bytes, struct tim_line *out)
{
    uint64_t row[EMU_MAX_LANES], words[EMU_MAX_LANES], rest = access->lanes;
    const uint64_t *address = access->piece_count != 0 ? tim_access_rows(access, row) : access->address;
    unsigned bytes = access->bytes > 4 ? access->bytes : 4, count = 0;

    for (unsigned last = 0; rest != 0; rest &= rest - 1) {
        unsigned l = lw_lowest(rest), i = last;
        uint64_t word = address[l] & ~(uint64_t)(bytes - 1);

        if (count == 0 || words[i] != word) /* adjacent lanes usually share a word */
            for (i = 0; i < count && words[i] != word; i++)
                continue;
        if (i == count) {
            words[count] = word;
            out[count++] = (struct tim_line){.line = word & ~(uint64_t)(line_bytes - 1)};
            add_bytes(out[i].mask, (unsigned)(word & (line_bytes - 1)), bytes);
        }
        out[i].lanes |= UINT64_C(1) << l;
        last = i;
    }
    return count;
}

unsigned tim_coalesce(const struct tim_config *config, const struct emu_access *access,
                      unsigned line_bytes, uint64_t local_base, struct tim_line *out)
{
    struct making m; /* begin_group() sets `from` and `last`; find_line() initialises `slot` */
    bool halves = config->lsu_coalesce != TIM_COALESCE_LINE;
    unsigned group = halves ? 16 : config->lsu_coalesce_lanes;
    uint64_t address[EMU_MAX_LANES];
    struct emu_access rows;

    m.out = out;
    m.count = 0;
    m.line_bytes = line_bytes;
    m.write = access->kind != EMU_ACCESS_LOAD;
    if (access->piece_count != 0) {
        if (access->space == ISA_SPACE_SHARED)
            return 0;
        if (!halves) {
            if (!add_plain(&m, config, access))
                add_pieces(&m, config, access, local_base);
            return m.count;
        }
        rows = *access;
        rows.address = tim_access_rows(access, address);
        access = &rows;
    }
    for (unsigned start = 0; start < EMU_MAX_LANES; start += group) {
        uint64_t lanes = access->lanes & lw_mask(group) << start, global = 0;

        if (lanes == 0)
            continue;
        begin_group(&m);
        for (LW_EACH_BIT(l, lanes)) {
            enum isa_space space = access->lane_space != NULL
                                       ? (enum isa_space)access->lane_space[l] : access->space;

            if (space == ISA_SPACE_SHARED)
                continue;
            if (space == ISA_SPACE_LOCAL)
                add_local(&m, config, local_base, access->address[l] - ISA_LOCAL_BASE,
                          access->bytes, (unsigned)l);
            else if (halves)
                global |= UINT64_C(1) << l;
            else
                add_piece(&m, access->address[l], access->bytes, UINT64_C(1) << l);
        }
        if (global == 0)
            continue;
        if (config->lsu_coalesce == TIM_COALESCE_HALF_STRICT)
            half_strict(&m, access, global);
        else
            half_segment(&m, access, global);
    }
    return m.count;
}
