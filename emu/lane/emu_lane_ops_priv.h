/* SPDX-License-Identifier: Apache-2.0 */
/* Functions that execute the instructions with CALL in the instruction table (emu_lane_ops.c). Each of the functions executes one
 * instruction for @lanes of the running split. The functions neither jump nor end a time slice. */
#ifndef EMU_LANE_OPS_PRIV_H
#define EMU_LANE_OPS_PRIV_H

#include "emu/emu_warp_priv.h"

/** Executes an instruction with CALL in the instruction table for @lanes of the running split. */
typedef void emu_call_fn(struct emu_warp *w, const struct emu_dinsn *di, uint64_t lanes);
/** Value of emu_dinsn.delta in a cross-lane instruction that has no member mask: all lanes of the virtual warp are members. */
#define EMU_NO_MEMBERS (-1)

emu_call_fn emu_x_lop3, emu_x_prmt, emu_x_addc, emu_x_plop3, emu_x_setp_half, emu_x_p2r, emu_x_r2p, emu_x_cvt,
    emu_x_s2r, emu_x_breg_save, emu_x_breg_restore, emu_x_nop, emu_x_shfl, emu_x_vote, emu_x_ballot,
    emu_x_match_any, emu_x_match_all, emu_x_redux, emu_x_readfirstlane, emu_x_readlane, emu_x_writelane,
    emu_x_s_s2r, emu_x_s_ballot, emu_x_s_vote, emu_x_sp2r, emu_x_r2sp, emu_x_sp2p, emu_x_unballot;

/** Handlers of printed text and assertions (emu_print.c). */
emu_handler_fn emu_c_vprintf, emu_c_assertfail;
/** Handlers of malloc and free (emu_heap.c). */
emu_handler_fn emu_c_malloc, emu_c_free;
/** Handlers of device launches (emu_launch.c). */
emu_handler_fn emu_c_launch_buffer, emu_c_launch_buffer_of, emu_c_launch_stream;

/** Read and write a 64-bit value of one lane. The low word is in the vector register at offset @row, or at offset di->d for a
 *  write; the high word is in the next vector register. */
static inline uint64_t emu_lane_pair(const struct emu_warp *w, uint32_t row, unsigned lane)
{
    const uint32_t *low = emu_row(w, row);

    return (uint64_t)low[w->stride / 4 + lane] << 32 | low[lane];
}
static inline void emu_lane_pair_put(const struct emu_warp *w, const struct emu_dinsn *di,
                                     unsigned lane, uint64_t value)
{
    uint32_t *low = emu_row(w, di->d);

    low[lane] = (uint32_t)value;
    low[w->stride / 4 + lane] = (uint32_t)(value >> 32);
}

/** Gets the value of a special register that is the same in all lanes. Returns false for other special registers. */
bool emu_special_uniform(const struct emu_warp *w, enum isa_special sr, uint64_t *value);
/** Gets the value of a special register in every lane of the warp. @low and @high receive the low and the high words; @high may
 *  be NULL. */
void emu_special_rows(const struct emu_warp *w, enum isa_special sr, uint32_t *low,
                      uint32_t *high);

/** [ISA_CMP_*] set of the relations between two numbers for which the comparison is true; bit 0: less, bit 1: equal, bit 2:
 *  greater. */
extern const uint8_t emu_relations[16];

#endif
