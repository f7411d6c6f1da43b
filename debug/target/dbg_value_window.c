/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Debug address range 0xFC: shows a variable as contiguous bytes if its pieces are in different registers or memory, or if
 * its value is computed. The variable's location expression (isa_expression.c) is evaluated for the lane of the address.
 *
 *   FC | warp<<40 | lane<<32 | location<<9 | byte
 *
 * warp: slot number of the warp. location: index of the variable's location in the debug information of the object that
 * the lane runs. byte: offset in the variable.
 */
#include "debug/debug_priv.h"

/* Distance between two debug addresses of a frame: of its return address in range 0xF4, and of its CFA in range 0xFA. */
#define STACK_TO_FRAMES ((UINT64_C(0xFA) - 0xF4) << 56)

enum { WINDOW = 0xFC, LOCATION_BITS = 32 - ISA_VALUE_BITS };

static bool read_memory(void *context, uint64_t address, void *out, unsigned bytes)
{
    const struct dbg_value_lane *l = context;

    /* An address in this range itself is refused: in a malformed object the evaluation might not end. */
    return address >> 56 != WINDOW && dbg_mem_access(l->dbg, l->id, l->lane, address, out, bytes, false) == bytes;
}

static bool find_frame(void *context, uint64_t *address)
{
    const struct dbg_value_lane *l = context;
    struct dbg_frame frame;
    uint8_t raw[8];

    if (!dbg_frame_at(l->dbg, l->id, l->lane, l->frame, &frame) || !read_memory(context, frame.cfa - 8 + STACK_TO_FRAMES, raw, 8))
        return false;
    *address = lw_get64(raw);
    return true;
}

struct isa_expression_reader dbg_value_reader(struct dbg_value_lane *lane)
{
    return (struct isa_expression_reader){read_memory, find_frame, lane};
}

uint64_t dbg_value_address(struct dbg *dbg, dbg_thread_id id, unsigned lane, uint32_t location)
{
    struct dbg_warp warp;

    if (location >> LOCATION_BITS != 0 || !dbg_warp_locate(dbg, id, &warp))
        return 0;
    return (uint64_t)WINDOW << 56 | (uint64_t)dbg_warp_slot(dbg, &warp) << 40 | (uint64_t)lane << 32 |
           (uint64_t)location << ISA_VALUE_BITS;
}

/* Returns the offset in the variable that an address of the range contains. */
static unsigned byte_of(uint64_t address)
{
    return (unsigned)(address & lw_mask(ISA_VALUE_BITS));
}

/* Finds the lane and the variable's location that an address of the range contains. Returns false if the lane is not resident,
 * or if the location does not exist or is no expression. */
static bool locate(struct dbg *dbg, uint64_t address, struct dbg_value_lane *lane, const struct isa_debug **debug,
                   const struct isa_var_location **location)
{
    const uint32_t index = (uint32_t)(address >> ISA_VALUE_BITS & lw_mask(LOCATION_BITS));
    struct emu_split_view split;
    struct dbg_where where;
    struct dbg_warp warp;

    *lane = (struct dbg_value_lane){.dbg = dbg, .lane = (unsigned)(address >> 32 & 0xff)};
    if (!dbg_warp_by_slot(dbg, address >> 40 & 0xffff, &warp) ||
        !emu_lane_where(DBG_AT(&warp), lane->lane, &split) || !dbg_where_is(dbg, split.pc, &where))
        return false;
    lane->id = dbg_thread_id_of(dbg, warp.grid->sequence, warp.block, warp.warp);
    *debug = where.object->debug;
    if (*debug == NULL || index >= (*debug)->location_count)
        return false;
    *location = &(*debug)->locations[index];
    return (*location)->kind == ISA_LOCATION_EXPRESSION;
}

bool dbg_value_piece(struct dbg *dbg, uint64_t address, struct isa_piece *piece, dbg_thread_id *id, unsigned *lane)
{
    const struct isa_var_location *location;
    const struct isa_debug *debug;
    struct dbg_value_lane l;

    if (!locate(dbg, address, &l, &debug, &location))
        return false;
    const struct isa_expression_reader reader = dbg_value_reader(&l);

    *id = l.id;
    *lane = l.lane;
    return isa_expression_find(debug, location, byte_of(address), &reader, piece) &&
           (piece->kind == ISA_PIECE_VALUE || piece->value >> 56 != WINDOW);
}

bool dbg_value_is_missing(struct dbg *dbg, uint64_t address)
{
    struct isa_piece piece;
    dbg_thread_id id;
    unsigned lane;

    return address >> 56 == WINDOW && !dbg_value_piece(dbg, address, &piece, &id, &lane);
}

uint64_t dbg_value_access(struct dbg *dbg, uint64_t address, uint8_t *data, uint64_t size, bool write)
{
    uint64_t done = 0;

    while (done < size && byte_of(address) + done < ISA_EXPRESSION_BYTES) {
        struct isa_piece piece;
        uint64_t in, count;
        dbg_thread_id id;
        unsigned lane;

        if (!dbg_value_piece(dbg, address + done, &piece, &id, &lane))
            break;
        in = byte_of(address + done) - piece.offset;
        count = piece.bytes - in < size - done ? piece.bytes - in : size - done;
        if (piece.kind == ISA_PIECE_MEMORY) {
            uint64_t got = dbg_mem_access(dbg, id, lane, piece.value + in, data + done, count, write);

            done += got;
            if (got != count)
                break;
        } else {
            uint8_t raw[8];

            if (write || in >= 8)
                break;
            if (count > 8 - in)
                count = 8 - in;
            lw_put64(raw, piece.value);
            memcpy(data + done, raw + in, count);
            done += count;
        }
    }
    return done;
}
