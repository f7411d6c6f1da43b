/* SPDX-License-Identifier: Apache-2.0 */
/* Packets from a core to memory, and bytes of lines that the core holds with l1.coherent off. */
#ifndef TIM_SEND_PRIV_H
#define TIM_SEND_PRIV_H

#include "timing/core/tim_core_priv.h"

/* ---- l1.coherent off: core->held is not NULL ---- */
/** Returns false without memory. */
bool tim_held_create(struct tim_core *core) LW_MUST_CHECK;
void tim_held_destroy(struct tim_held *held);
/** Stores bytes @mask of a line that have arrived. @warp requested them. */
void tim_held_fill(struct tim_core *core, unsigned warp, uint64_t line, const uint64_t mask[4]);
/** Assigns way @way of set @set to line @line, which has been requested. */
void tim_held_miss(struct tim_core *core, unsigned set, unsigned way, uint64_t line);
/** Handles an instruction that @warp has executed. If @cached, it loads through L1, and its lanes get the bytes of
 *  L1. */
void tim_held_step(struct tim_core *core, unsigned warp, const struct emu_event *ev, bool cached);
/** tim_held_forget() drops all lines of global memory. tim_held_block() drops those of earlier kernels when a block
 *  of
 *  @grid arrives. */
void tim_held_forget(struct tim_core *core);
void tim_held_block(struct tim_core *core, const struct emu_grid *grid, bool moves_in);
/** Receivers of an answer, part of a packet's id. STATE: the block whose state is transferred. */
enum tim_client { TIM_CLIENT_L1, TIM_CLIENT_OP, TIM_CLIENT_WRITE, TIM_CLIENT_FETCH,
                  TIM_CLIENT_CONSTANT, TIM_CLIENT_TEXTURE, TIM_CLIENT_NOBODY, TIM_CLIENT_STATE,
                  TIM_CLIENT_JOINED }; /* index: a list in core->packets of the receivers */
static inline uint32_t tim_packet_id(enum tim_client client, uint32_t index)
{
    return (uint32_t)client << 28 | index;
}
/** Returns the line size of accesses that bypass the caches. */
static inline unsigned tim_line_bytes(const struct tim_config *config)
{
    return config->l1_bytes != 0 ? config->l1_line : config->l2_line;
}
/** Sends a packet; the crossbar must have space. */
void tim_send(struct tim_core *core, uint64_t line, const uint64_t mask[4],
              enum tim_packet_kind kind, uint32_t id, unsigned warp, unsigned lanes,
              uint64_t now);
/** Sends a read of @sectors of a line; the crossbar must have space. @index: for L1, the op that requests; else 0. */
void tim_send_read(struct tim_core *core, const struct tim_cache *cache, uint64_t line,
                   unsigned sectors, enum tim_client client, uint32_t index, unsigned warp,
                   uint64_t now);

#endif
