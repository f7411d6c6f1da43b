/* SPDX-License-Identifier: Apache-2.0 */
/* Shadow of uninitialised memory, with a bit for each bit of memory: pages of global memory, and shared and local memory
 * of resident blocks. Pages that are fully defined have no shadow. */
#include "check/init/chk_init_priv.h"

#include <stdlib.h>

/* ---- pages of global memory --------------------------------------------------------------- */

void init_memory_end(struct init_memory *m)
{
    for (unsigned t = 0; t < INIT_TABLE; t++) {
        for (unsigned i = 0; m->table[t] != NULL && i < INIT_TABLE; i++)
            if (m->table[t][i] != &m->fresh)
                free(m->table[t][i]);
        free(m->table[t]);
    }
    while (m->spare != NULL) {
        struct init_page *next = m->spare->next;
        free(m->spare);
        m->spare = next;
    }
    free(m->marks.rows);
}

/** Returns the entry of a page in m->table; NULL: there is no entry, so the page is defined. */
static inline struct init_page **location_of(const struct init_memory *m, uint64_t address)
{
    uint64_t page = (address - ISA_GLOBAL_BASE) / INIT_PAGE;
    struct init_page **table = page < (uint64_t)INIT_TABLE * INIT_TABLE
                                   ? m->table[page / INIT_TABLE]
                                   : NULL;

    return table == NULL ? NULL : &table[page % INIT_TABLE];
}
/** Returns the page at @address; NULL: the page is defined. */
static inline struct init_page *page_of(const struct init_memory *m, uint64_t address)
{
    struct init_page **location = location_of(m, address);

    return location == NULL ? NULL : *location;
}

static void drop(struct init_memory *m, uint64_t address)
{
    struct init_page **location = location_of(m, address);

    if (*location == NULL)
        return;
    m->tracked--;
    m->in_table[(address - ISA_GLOBAL_BASE) / INIT_PAGE / INIT_TABLE]--;
    if (*location != &m->fresh) {
        (*location)->next = m->spare;
        m->spare = *location;
    }
    *location = NULL;
}

/** Returns the number of bytes, from the start of the page at @base, that kernels may access. */
static unsigned valid_bytes(const struct init_memory *m, uint64_t base)
{
    struct emu_allocation a;
    bool inside;

    if (!emu_allocation_at(m->chk->machine, base, &a, &inside) || !inside)
        return 0;
    uint64_t left = a.address + a.size_bytes - base;
    return left < INIT_PAGE ? (unsigned)left : INIT_PAGE;
}

/** Returns the page in *@location. If the page was never written, first allocates a mask for it. If memory is short, marks
 *  the page as defined and returns NULL. */
static struct init_page *make(struct init_memory *m, struct init_page **location, uint64_t address)
{
    struct init_page *p = *location;

    if (p != &m->fresh)
        return p;
    p = m->spare;
    if (p != NULL)
        m->spare = p->next;
    else
        p = malloc(sizeof *p);
    if (p == NULL) {
        m->chk->short_of_memory = true;
        drop(m, address);
        return NULL;
    }
    p->undefined = valid_bytes(m, address / INIT_PAGE * INIT_PAGE);
    memset(p->mask, 0xff, p->undefined);
    memset(p->mask + p->undefined, 0, INIT_PAGE - p->undefined);
    *location = p;
    return p;
}

/** Marks the page of @address as never written. */
static void set_fresh(struct init_memory *m, uint64_t address)
{
    uint64_t page = (address - ISA_GLOBAL_BASE) / INIT_PAGE, t = page / INIT_TABLE;

    if (t >= INIT_TABLE)
        return;
    if (m->table[t] == NULL)
        m->table[t] = calloc(INIT_TABLE, sizeof *m->table[t]);
    if (m->table[t] == NULL) {
        m->chk->short_of_memory = true;
        return;
    }
    if (m->table[t][page % INIT_TABLE] == NULL)
        emu_hooks_invalidate_filters(m->chk->machine);
    drop(m, address);
    m->table[t][page % INIT_TABLE] = &m->fresh;
    m->tracked++;
    m->in_table[t]++;
}

/** Returns true if all pages in entry @t of m->table are defined. */
static inline bool is_filtered(const struct init_memory *m, uint64_t t)
{
    return m->in_table[t] == 0;
}

bool init_memory_filtered(const struct init_memory *m, uint64_t address, struct emu_hook_filter *span)
{
    enum { MOST_PAGES = 512, MOST_TABLES = 64 };
    const uint64_t page = (address - ISA_GLOBAL_BASE) / INIT_PAGE, t = page / INIT_TABLE;
    uint64_t first = page, end = page + 1;

    if (address < ISA_GLOBAL_BASE || t >= INIT_TABLE || page_of(m, address) != NULL)
        return false;
    if (is_filtered(m, t)) {
        uint64_t low = t, high = t + 1;
        while (low > 0 && t - low < MOST_TABLES && is_filtered(m, low - 1))
            low--;
        while (high < INIT_TABLE && high - t < MOST_TABLES && is_filtered(m, high))
            high++;
        first = low * INIT_TABLE;
        end = high * INIT_TABLE;
    } else {
        struct init_page *const *table = m->table[t];
        while (first % INIT_TABLE != 0 && page - first < MOST_PAGES &&
               table[(first - 1) % INIT_TABLE] == NULL)
            first--;
        while (end % INIT_TABLE != 0 && end - page < MOST_PAGES && table[end % INIT_TABLE] == NULL)
            end++;
    }
    *span = (struct emu_hook_filter){.first = ISA_GLOBAL_BASE + first * INIT_PAGE,
                                  .end = ISA_GLOBAL_BASE + end * INIT_PAGE};
    return true;
}

/** Zeroes @mask. Returns the number of bytes of @mask that were not 0. */
static inline unsigned clear(uint8_t *mask, unsigned bytes)
{
    unsigned n = 0;

    for (; bytes >= 8; bytes -= 8, mask += 8) {
        uint64_t word;
        memcpy(&word, mask, 8);
        if (word == 0)
            continue;
        if (word == UINT64_MAX)
            n += 8;
        else
            for (unsigned k = 0; k < 8; k++)
                n += (word >> 8 * k & 0xff) != 0;
        memset(mask, 0, 8);
    }
    for (; bytes > 0; bytes--, mask++) {
        n += *mask != 0;
        *mask = 0;
    }
    return n;
}
/** Returns true if a byte of @mask is not 0. */
static inline bool any(const uint8_t *mask, unsigned bytes)
{
    uint64_t all = 0, word;

    for (; bytes >= 8; bytes -= 8, mask += 8) {
        memcpy(&word, mask, 8);
        all |= word;
    }
    for (; bytes > 0; bytes--, mask++)
        all |= *mask;
    return all != 0;
}

/** Marks global memory [address, address + bytes) as defined. */
static void define(struct init_memory *m, uint64_t address, uint64_t bytes)
{
    while (bytes != 0) {
        uint64_t in = address % INIT_PAGE;
        unsigned n = (unsigned)(bytes < INIT_PAGE - in ? bytes : INIT_PAGE - in);
        struct init_page **location = location_of(m, address), *p;

        if (location != NULL && *location != NULL) {
            if (in == 0 && n == INIT_PAGE) {
                drop(m, address);
            } else if ((p = make(m, location, address)) != NULL) {
                p->undefined -= clear(p->mask + in, n);
                if (p->undefined == 0)
                    drop(m, address);
            }
        }
        address += n;
        bytes -= n;
    }
}

void init_memory_range(struct init_memory *m, uint64_t address, uint64_t bytes, bool defined)
{
    if (defined) {
        define(m, address, bytes);
        return;
    }
    if (address % INIT_PAGE == 0) {
        for (uint64_t at = 0; at < bytes; at += INIT_PAGE)
            set_fresh(m, address + at);
        return;
    }
    /* The object is one of several small objects of malloc that share a page. */
    for (uint64_t at = 0; at < bytes; at++) {
        uint8_t mask = 0xff;
        init_lane_put(m, NULL, 0, 0, address + at, 1, &mask);
    }
}

uint64_t init_memory_count(const struct init_memory *m, uint64_t address, uint64_t bytes,
                           uint64_t *first)
{
    uint64_t count = 0;

    while (bytes != 0) {
        uint64_t in = address % INIT_PAGE;
        unsigned n = (unsigned)(bytes < INIT_PAGE - in ? bytes : INIT_PAGE - in);
        const struct init_page *p = page_of(m, address);

        for (unsigned k = 0; p != NULL && k < n; k++) {
            if (p != &m->fresh && p->mask[in + k] == 0)
                continue;
            if (count++ == 0)
                *first = address + k;
        }
        address += n;
        bytes -= n;
    }
    return count;
}

/* ---- shared and local memory ------------------------------------------------------------------ */

/** Returns the undefined bits of @bytes bytes of shared memory; or NULL if the address is invalid or host memory is short. */
static uint8_t *shared_at(struct init_memory *m, struct init_block *b, uint64_t address,
                          unsigned bytes)
{
    uint64_t offset = address - ISA_SHARED_BASE;

    if (b == NULL)
        return NULL;
    if (b->shared_undefined == UINT32_MAX) { /* the first access to the block's shared memory */
        if (b->shared_capacity < b->shared_bytes) {
            free(b->shared);
            b->shared = malloc(b->shared_bytes);
            b->shared_capacity = b->shared != NULL ? b->shared_bytes : 0;
        }
        if (b->shared == NULL) {
            m->chk->short_of_memory |= b->shared_bytes != 0;
            b->shared_bytes = 0;
        } else {
            memset(b->shared, 0xff, b->shared_bytes);
        }
        b->shared_undefined = b->shared_bytes;
    }
    return offset < b->shared_bytes && bytes <= b->shared_bytes - offset ? b->shared + offset
                                                                         : NULL;
}

static size_t local_capacity(const struct init_block *b)
{
    return (size_t)(b->local_bytes + 15) / 16 * 16 * b->width;
}

void init_local_begin(const struct init_block *b, struct init_local *local)
{
    for (unsigned l = 0; l < EMU_MAX_LANES; l++)
        local->low[l] = UINT32_MAX;
    memset(local->mask, 0xff, local_capacity(b));
}

/** Returns the shadow of a warp's local memory; or NULL if @offset is outside local memory or host memory is short. */
static struct init_local *local_of(struct init_memory *m, struct init_block *b, unsigned warp, uint64_t offset)
{
    if (b == NULL || offset >= b->local_bytes || warp >= b->warp_count)
        return NULL;
    if (b->local[warp] == NULL) {
        b->local[warp] = malloc(sizeof *b->local[warp] + local_capacity(b));
        if (b->local[warp] == NULL) {
            m->chk->short_of_memory = true;
            return NULL;
        }
        init_local_begin(b, b->local[warp]);
    }
    return b->local[warp];
}

/** Returns the undefined bits of the word that contains byte @offset of a lane's local memory; or NULL in the same cases as
 *  local_of(). */
static uint8_t *local_at(struct init_memory *m, struct init_block *b, unsigned warp, unsigned lane,
                         uint64_t offset)
{
    struct init_local *local = local_of(m, b, warp, offset);

    return local == NULL ? NULL : local->mask + (offset / 4 * b->width + lane) * 4;
}

/** Lowers init_local.low of @lanes to the word that contains @offset, in lanes in which it is above that word, because
 *  bytes of the word may be defined. */
static void local_lower(struct init_local *local, uint64_t lanes, uint64_t offset)
{
    const uint32_t word = (uint32_t)offset & ~3u;

    for (LW_EACH_BIT(l, lanes))
        if (local->low[l] > word)
            local->low[l] = word;
}

void init_local_fresh(struct init_block *b, unsigned warp, uint64_t lanes, const uint32_t *end)
{
    struct init_local *local = b->local[warp];

    if (local == NULL)
        return;
    for (LW_EACH_BIT(l, lanes)) {
        const uint32_t below = end[l] < b->local_bytes ? end[l] : b->local_bytes;
        for (uint32_t at = local->low[l]; at < below; at += 4)
            memset(local->mask + ((size_t)at / 4 * b->width + l) * 4, 0xff, 4);
        if (local->low[l] < below)
            local->low[l] = below & ~3u;
    }
}

/* ---- one lane ------------------------------------------------------------------------------------ */

static inline enum isa_space space_of(uint64_t address)
{
    return address >= ISA_GLOBAL_BASE    ? ISA_SPACE_GLOBAL
           : address >= ISA_CONST_BASE   ? ISA_SPACE_CONST
           : address >= ISA_LOCAL_BASE   ? ISA_SPACE_LOCAL
           : address >= ISA_SHARED_BASE  ? ISA_SPACE_SHARED
                                         : ISA_SPACE_CONST; /* addresses of code, and the null page */
}

/** Returns true if the whole range is in one live allocation. Otherwise an access to the range faults, and the range has no
 *  shadow. */
static bool is_there(struct init_memory *m, uint64_t address, unsigned bytes)
{
    struct emu_allocation a;
    bool inside;

    if (address >= m->there.first && address < m->there.end)
        return m->there.end - address >= bytes;
    if (!emu_allocation_at(m->chk->machine, address, &a, &inside) || !inside || a.flags & EMU_ALLOC_FREED)
        return false;
    m->there.first = a.address;
    m->there.end = a.address + a.size_bytes;
    return m->there.end - address >= bytes;
}

bool init_lane_get(struct init_memory *m, struct init_block *b, unsigned warp, unsigned lane,
                   uint64_t address, unsigned bytes, uint8_t *mask)
{
    uint8_t *at;

    switch (space_of(address)) {
    case ISA_SPACE_GLOBAL:
        if ((page_of(m, address) == NULL && page_of(m, address + bytes - 1) == NULL) ||
            !is_there(m, address, bytes)) {
            memset(mask, 0, bytes);
            return false;
        }
        if (address % INIT_PAGE + bytes <= INIT_PAGE) {
            const struct init_page *p = page_of(m, address);
            if (p == &m->fresh)
                memset(mask, 0xff, bytes);
            else
                memcpy(mask, p->mask + address % INIT_PAGE, bytes);
            break;
        }
        for (unsigned k = 0; k < bytes; k++) {
            const struct init_page *p = page_of(m, address + k);
            mask[k] = p == NULL ? 0 : p == &m->fresh ? 0xff : p->mask[(address + k) % INIT_PAGE];
        }
        break;
    case ISA_SPACE_SHARED:
        at = shared_at(m, b, address, bytes);
        if (at != NULL)
            memcpy(mask, at, bytes);
        else
            memset(mask, 0, bytes);
        break;
    case ISA_SPACE_LOCAL:
        for (unsigned k = 0, step; k < bytes; k += step) {
            const uint64_t offset = address - ISA_LOCAL_BASE + k;
            step = (offset | (bytes - k)) % 4 == 0 ? 4 : 1;
            at = local_at(m, b, warp, lane, offset);
            if (step == 4)
                lw_put32(mask + k, at != NULL ? lw_get32(at) : 0);
            else
                mask[k] = at != NULL ? at[offset % 4] : 0;
        }
        break;
    default: memset(mask, 0, bytes); break;
    }
    return any(mask, bytes);
}

void init_lane_put(struct init_memory *m, struct init_block *b, unsigned warp, unsigned lane,
                   uint64_t address, unsigned bytes, const uint8_t *mask)
{
    uint8_t *at;

    switch (space_of(address)) {
    case ISA_SPACE_GLOBAL:
        if (!any(mask, bytes)) {
            if (m->tracked != 0)
                define(m, address, bytes);
            return;
        }
        if (!is_there(m, address, bytes))
            return;
        for (unsigned k = 0; k < bytes; k++) {
            struct init_page **location = location_of(m, address + k), *p;
            if (location == NULL || *location == NULL) { /* A defined page has no mask, so the page gets a mask of zeros. */
                set_fresh(m, address + k);
                location = location_of(m, address + k);
                if (location == NULL || *location == NULL || (p = make(m, location, address + k)) == NULL)
                    return;
                memset(p->mask, 0, sizeof p->mask);
                p->undefined = 0;
            }
            if ((p = make(m, location, address + k)) == NULL)
                return;
            uint8_t *byte = &p->mask[(address + k) % INIT_PAGE];
            p->undefined = p->undefined + (mask[k] != 0) - (*byte != 0);
            *byte = mask[k];
            if (p->undefined == 0)
                drop(m, address + k);
        }
        break;
    case ISA_SPACE_SHARED:
        at = shared_at(m, b, address, bytes);
        for (unsigned k = 0; at != NULL && k < bytes; k++) {
            b->shared_undefined = b->shared_undefined + (mask[k] != 0) - (at[k] != 0);
            at[k] = mask[k];
        }
        break;
    case ISA_SPACE_LOCAL:
        for (unsigned k = 0, step; k < bytes; k += step) {
            const uint64_t offset = address - ISA_LOCAL_BASE + k;
            step = (offset | (bytes - k)) % 4 == 0 ? 4 : 1;
            at = local_at(m, b, warp, lane, offset);
            if (at == NULL)
                continue;
            if (step == 4)
                lw_put32(at, lw_get32(mask + k));
            else
                at[offset % 4] = mask[k];
            local_lower(b->local[warp], UINT64_C(1) << lane, offset);
        }
        break;
    default: break;
    }
}

/* ---- accesses of a warp ------------------------------------------------------------------------------ */

/** Returns the lanes of @piece that access memory: in a contiguous segment with gaps some lanes do not. */
static inline uint64_t lanes_of(const struct emu_hook_access *a, const struct emu_addr_segment *piece)
{
    return a->at.lanes & lw_mask(piece->last + 1u) & ~lw_mask(piece->first);
}
/** Returns the number of bytes from the first byte of @piece to the last. */
static inline unsigned span_of(const struct emu_hook_access *a, const struct emu_addr_segment *piece)
{
    return (piece->run ? (unsigned)(piece->last - piece->first) * a->bytes : 0) + a->bytes;
}

/** Returns whether a lane of a segment may read undefined bits. The result is false only if certainly no lane does. */
static bool piece_may(struct init_memory *m, struct init_block *b, const struct emu_hook_access *a,
                      const struct emu_addr_segment *piece)
{
    const uint64_t at = piece->address;
    const unsigned span = span_of(a, piece);

    switch (space_of(at)) {
    case ISA_SPACE_GLOBAL: {
        const struct init_page *p = page_of(m, at), *q = p;
        if (at % INIT_PAGE + span > INIT_PAGE)
            q = page_of(m, at + span - 1);
        if (p == NULL && q == NULL)
            return false;
        return p != q || p == &m->fresh || any(p->mask + at % INIT_PAGE, span);
    }
    case ISA_SPACE_SHARED: {
        const uint8_t *mask;
        if (b == NULL || b->shared_undefined == 0)
            return false;
        mask = shared_at(m, b, at, span);
        return mask == NULL || any(mask, span);
    }
    case ISA_SPACE_LOCAL: {
        const uint8_t *mask = local_at(m, b, a->at.warp, 0, at - ISA_LOCAL_BASE);
        if (mask == NULL || piece->run || a->bytes < 4 || at % 4 != 0)
            return mask != NULL;
        uint64_t words = (at - ISA_LOCAL_BASE + a->bytes <= b->local_bytes) ? a->bytes / 4 : 0;
        return words != 0 && any(mask, (unsigned)words * b->width * 4);
    }
    default: return false;
    }
}

uint64_t init_access_undefined(struct init_memory *m, struct init_block *b,
                               const struct emu_hook_access *a)
{
    uint64_t look = a->piece_count == 0 ? a->at.lanes : 0, found = 0, last = 0;
    bool last_found = false;
    uint8_t mask[16];

    if (a->space == ISA_SPACE_GLOBAL && m->tracked == 0)
        return 0;
    for (unsigned k = 0; k < a->piece_count; k++)
        if (piece_may(m, b, a, &a->piece[k]))
            look |= lanes_of(a, &a->piece[k]);
    for (LW_EACH_BIT(l, look)) {
        uint64_t at = chk_hook_address(a, (unsigned)l);
        if (at == last && space_of(at) != ISA_SPACE_LOCAL) {
            found |= (uint64_t)last_found << l;
            continue;
        }
        last = at;
        last_found = false;
        if (at >= ISA_GLOBAL_BASE && page_of(m, at) == NULL && page_of(m, at + a->bytes - 1) == NULL)
            continue;
        last_found = init_lane_get(m, b, a->at.warp, (unsigned)l, at, a->bytes, mask);
        found |= (uint64_t)last_found << l;
    }
    return found;
}

void init_access_define(struct init_memory *m, struct init_block *b, const struct emu_hook_access *a)
{
    static const uint8_t zeros[16] = {0};
    uint64_t rest = a->at.lanes;

    if (a->space == ISA_SPACE_GLOBAL && m->tracked == 0)
        return;
    for (unsigned k = 0; k < a->piece_count; k++) {
        const struct emu_addr_segment *p = &a->piece[k];
        const unsigned span = span_of(a, p);
        const uint64_t lanes = lanes_of(a, p);
        bool whole = !p->run || lanes == (lw_mask(p->last + 1u) & ~lw_mask(p->first));

        if (!whole)
            continue;
        switch (space_of(p->address)) {
        case ISA_SPACE_GLOBAL: {
            struct init_page *first = page_of(m, p->address), *last = page_of(m, p->address + span - 1);
            if (first != NULL || last != NULL)
                define(m, p->address, span);
            rest &= ~lanes;
            break;
        }
        case ISA_SPACE_SHARED: {
            uint8_t *mask = b != NULL && b->shared_undefined != 0 ? shared_at(m, b, p->address, span)
                                                                  : NULL;
            if (mask != NULL)
                b->shared_undefined -= clear(mask, span);
            if (mask != NULL || (b != NULL && b->shared_undefined == 0))
                rest &= ~lanes;
            break;
        }
        case ISA_SPACE_LOCAL: {
            uint64_t offset = p->address - ISA_LOCAL_BASE;
            uint8_t *mask = local_at(m, b, a->at.warp, 0, offset);
            if (mask != NULL && !p->run && a->bytes >= 4 && offset % 4 == 0 &&
                lanes == lw_mask(b->width) && offset + a->bytes <= b->local_bytes) {
                memset(mask, 0, (size_t)a->bytes * b->width);
                local_lower(b->local[a->at.warp], lanes, offset);
                rest &= ~lanes;
            }
            break;
        }
        default: rest &= ~lanes; break;
        }
    }
    for (LW_EACH_BIT(l, rest)) {
        uint64_t at = chk_hook_address(a, (unsigned)l);
        if (at < ISA_GLOBAL_BASE || page_of(m, at) != NULL || page_of(m, at + a->bytes - 1) != NULL)
            init_lane_put(m, b, a->at.warp, (unsigned)l, at, a->bytes, zeros);
    }
}

/* ---- origins of stored undefined values -------------------------------------------------------------- */

enum { MOST_MARKS = 3 << 18 };

uint64_t init_mark_key(const struct init_block *b, unsigned warp, unsigned lane, uint64_t address)
{
    uint64_t word = address / 4;

    if (address >= ISA_GLOBAL_BASE || b == NULL)
        return word;
    uint64_t key = (uint64_t)b->grid * 0x9E3779B97F4A7C15u + b->block;
    if (address >= ISA_LOCAL_BASE)
        key = key * 4096 + warp * EMU_MAX_LANES + lane + 1;
    return (word ^ (key * 0xC2B2AE3D27D4EB4Fu)) | UINT64_C(1) << 63;
}

uint32_t init_mark_get(const struct init_memory *m, uint64_t key)
{
    const struct init_mark *mark = lw_table_find(&m->marks, sizeof *mark, key);

    return mark == NULL ? 0 : mark->from;
}

void init_mark_put(struct init_memory *m, uint64_t key, uint32_t from)
{
    bool is_new;
    struct init_mark *mark = m->marks.count < MOST_MARKS ? lw_table_add(&m->marks, sizeof *mark, key, &is_new) : NULL;

    if (mark != NULL) /* without a mark, findings name this location as the origin of the value */
        mark->from = from;
}
