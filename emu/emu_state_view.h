/* SPDX-License-Identifier: Apache-2.0 */
/* Views and edits of the state, for debuggers and tests: part of the public interface. */
#ifndef EMU_STATE_VIEW_H
#define EMU_STATE_VIEW_H

#include "emu/emu_core.h"

/* ---- views and edits, for debuggers and tests ------------------------------------------- */

enum emu_split_state {
    EMU_SPLIT_READY, EMU_SPLIT_BLOCKED, EMU_SPLIT_YIELDED, EMU_SPLIT_WARPSYNC,
    EMU_SPLIT_CTA, EMU_SPLIT_SLEEPING, EMU_SPLIT_SUSPENDED,
    EMU_SPLIT_STACKED, /* below the top of the warp's SIMT stack, or waits for other lanes at a reconvergence pc */
    EMU_SPLIT_LAUNCH   /* waits at launch.sync until the kernels that its block launched are complete */
};
enum { EMU_SPLIT_STATE_COUNT = EMU_SPLIT_LAUNCH + 1 };
const char *emu_split_state_name(enum emu_split_state state);
struct emu_split_view {
    unsigned id;
    uint64_t pc, lanes;
    enum emu_split_state state;
    uint8_t barrier; /* state BLOCKED: convergence register; state CTA: barrier */
    bool soft, running; /* running: the split has the time slice */
};
struct emu_warp_view {
    uint64_t launched, live, exec; /* lane masks */
    unsigned split_count;
    unsigned vreg_count, sreg_count, breg_count;
    uint64_t retired;
};
struct emu_block_view {
    const struct emu_grid *grid;
    uint64_t block;
    uint32_t index[3];
    unsigned warp_count;
    uint32_t shared_bytes, local_bytes;
    uint64_t retired;
    bool ended;
};
bool emu_block_view(const struct emu_core *core, unsigned slot, struct emu_block_view *out);
bool emu_warp_view(const struct emu_core *core, unsigned slot, unsigned warp,
                   struct emu_warp_view *out);
/** State of CTA barrier @id when lanes[warp] complete it. */
struct emu_barrier_arrivals {
    bool all;     /* all live lanes of the block have arrived */
    bool one_pc;  /* all lanes wait at one pc */
    bool counted; /* the barrier has an arrival count */
    bool orders_shared, orders_global; /* every instruction at which lanes wait orders this memory space */
    uint64_t pc;  /* pc of one of these instructions */
};
void emu_block_barrier_arrivals(const struct emu_core *core, unsigned slot, unsigned id, const uint64_t *lanes,
                     struct emu_barrier_arrivals *out);
/** Gets the splits in id order. Returns their number, of which at most @room are filled. */
unsigned emu_split_views(const struct emu_core *core, unsigned slot, unsigned warp,
                         struct emu_split_view *out, unsigned room);
/** Entry of a warp's SIMT stack: lanes that continue at @pc, together until @rpc. */
struct emu_stack_view {
    uint64_t pc, rpc; /* rpc 0: no reconvergence pc */
    uint64_t lanes;
    int depth;        /* number of calls around the entry, counted from the kernel */
};
/** Gets the entries of the warp's SIMT stack, bottom first, or of its table. Returns the number of entries, of which at
 *  most @room are filled in; 0 under engines without entries. */
unsigned emu_stack_views(const struct emu_core *core, unsigned slot, unsigned warp,
                         struct emu_stack_view *out, unsigned room);
/** Gets pc and split of a lane. Returns false when the lane is not live. */
bool emu_lane_where(const struct emu_core *core, unsigned slot, unsigned warp, unsigned lane,
                    struct emu_split_view *out);
/** Returns the lanes whose barrier register @reg holds the same group as the register of @lane; 0: there are none. */
uint64_t emu_barrier_group(const struct emu_core *core, unsigned slot, unsigned warp,
                           unsigned reg, unsigned lane, uint64_t *number);

/** Read and write registers. The value of a V register is the word of the lane, of an S register the word of the warp,
 *  of a P register a mask of lanes, and of an SP register one bit. exec is S 126:127. The functions return false if
 *  there is no such register or lane. Registers of dead lanes may be read. */
bool emu_reg_read(const struct emu_core *core, unsigned slot, unsigned warp,
                  enum isa_reg_class reg_class, unsigned number, unsigned lane,
                  uint64_t *value);
/** Gets the tag of a vector register; V if tags are off. Returns false when there is no such register. */
bool emu_reg_tag(const struct emu_core *core, unsigned slot, unsigned warp, unsigned number,
                 struct emu_tag *out);
bool emu_reg_write(struct emu_core *core, unsigned slot, unsigned warp,
                   enum isa_reg_class reg_class, unsigned number, unsigned lane,
                   uint64_t value, struct lw_error *err);
/** Reads a special register of a lane (tid.x ...). */
bool emu_special_read(const struct emu_core *core, unsigned slot, unsigned warp,
                      enum isa_special sr, unsigned lane, uint64_t *value);
/**
 * Moves a lane to @pc, an instruction of its current function, for a debugger. If @alone is set, moves only this lane,
 * which becomes a split of its own if it ran with others. Otherwise moves its whole split.
 * Errors: LW_ERANGE for a lane that is not live, or a @pc that is not an instruction of its function; LW_ESTATE if the
 *         lane waits, or if it would move alone while exec does not cover the live lanes; LW_EUNSUPP for a single lane
 *         on an engine that keeps the lanes of a split together. On an error nothing has moved.
 */
enum lw_status emu_pc_write(struct emu_core *core, unsigned slot, unsigned warp, unsigned lane,
                            bool alone, uint64_t pc, struct lw_error *err);
/** Reads generic memory as a lane of a warp sees it. Addresses in the shared and local apertures are those of the lane's
 *  block and of the lane; constant banks and code can be read. Returns the number of bytes copied from the start: fewer
 *  than @size_bytes where memory ends, 0 in the null page and in debug address ranges. */
uint64_t emu_mem_peek(const struct emu_core *core, unsigned slot, unsigned warp, unsigned lane,
                      uint64_t address, void *data, uint64_t size_bytes);
uint64_t emu_mem_poke(struct emu_core *core, unsigned slot, unsigned warp, unsigned lane,
                      uint64_t address, const void *data, uint64_t size_bytes);
/** An argument of printf: its offset from the first argument. */
struct emu_argument {
    uint32_t offset, size_bytes;
};
/**
 * Lists the arguments that printf would read, in order: also widths and precisions of `*`; a vector is one argument,
 * and a string is its pointer without its bytes.
 * @format, @args generic addresses as the lane sees them
 * @out            capacity @limit
 * Returns their number. Arguments after the first @limit arguments, or after an argument that cannot be read, are left
 * out. The rules are emu_format's (docs/reference/printf.md).
 */
unsigned emu_print_arguments(const struct emu_core *core, unsigned slot, unsigned warp,
                             unsigned lane, uint64_t format, uint64_t args,
                             struct emu_argument *out, unsigned limit);
/** Computes hash_state of MACHINE 4 over all resident blocks and the memory hash. */
uint64_t emu_hash_state(const struct emu_machine *machine);

#endif
