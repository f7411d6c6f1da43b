/* SPDX-License-Identifier: Apache-2.0 */
/* What a core sends to memory, and what it keeps of lines where l1.coherent is off. */
#ifndef TIM_SEND_PRIV_H
#define TIM_SEND_PRIV_H

#include "timing/core/tim_core_priv.h"

/* ---- l1.coherent off: core->held is not NULL ---- */
/** False: no memory. */
bool tim_held_create(struct tim_core *core) LW_MUST_CHECK;
void tim_held_destroy(struct tim_held *held);
/** Bytes @mask of a line have arrived, for @warp. */
void tim_held_fill(struct tim_core *core, unsigned warp, uint64_t line, const uint64_t mask[4]);
/** A way gets another line, which is requested. */
void tim_held_miss(struct tim_core *core, unsigned set, unsigned way, uint64_t line);
/** @warp has executed an instruction. @cached: it loads through L1; then its lanes have what L1 holds. */
void tim_held_step(struct tim_core *core, unsigned warp, const struct emu_event *ev, bool cached);
/** All lines of global memory go, or (a block of @grid comes) those of earlier kernels. */
void tim_held_forget(struct tim_core *core);
void tim_held_block(struct tim_core *core, const struct emu_grid *grid, bool moves_in);
/** Packet ids: who gets the answer. STATE: the block whose state moves. */
enum tim_client { TIM_CLIENT_L1, TIM_CLIENT_OP, TIM_CLIENT_WRITE, TIM_CLIENT_FETCH,
                  TIM_CLIENT_CONSTANT, TIM_CLIENT_TEXTURE, TIM_CLIENT_NOBODY, TIM_CLIENT_STATE,
                  TIM_CLIENT_JOINED }; /* index: a list of core->packets, of those it is answered to */
static inline uint32_t tim_packet_id(enum tim_client client, uint32_t index)
{
    return (uint32_t)client << 28 | index;
}
/** Bytes of a line that goes to memory past the caches. */
static inline unsigned tim_line_bytes(const struct tim_config *config)
{
    return config->l1_bytes != 0 ? config->l1_line : config->l2_line;
}
/** Send a packet; there is room. */
void tim_send(struct tim_core *core, uint64_t line, const uint64_t mask[4],
              enum tim_packet_kind kind, uint32_t id, unsigned warp, unsigned lanes,
              uint64_t now);
/** Send a read of @sectors of a line; there is room. @index: of L1, the instruction that asks; else 0. */
void tim_send_read(struct tim_core *core, const struct tim_cache *cache, uint64_t line,
                   unsigned sectors, enum tim_client client, uint32_t index, unsigned warp,
                   uint64_t now);

#endif
