/* SPDX-License-Identifier: Apache-2.0 */
/* Functions with which debuggers and tests read and edit the state: part of the public interface. */
#ifndef EMU_STATE_VIEW_H
#define EMU_STATE_VIEW_H

#include "emu/emu_core.h"

/* ---- views and edits, for debuggers and tests ------------------------------------------- */

enum emu_split_state {
    EMU_SPLIT_READY, EMU_SPLIT_BLOCKED, EMU_SPLIT_YIELDED, EMU_SPLIT_WARPSYNC,
    EMU_SPLIT_CTA, EMU_SPLIT_SLEEPING, EMU_SPLIT_SUSPENDED,
    EMU_SPLIT_STACKED, /* the split is below the top of the warp's SIMT stack, or waits for other lanes at a reconvergence pc */
    EMU_SPLIT_LAUNCH   /* the split waits at launch.sync until the launches by its block are complete */
};
enum { EMU_SPLIT_STATE_COUNT = EMU_SPLIT_LAUNCH + 1 };
const char *emu_split_state_name(enum emu_split_state state);
struct emu_split_view {
    unsigned id;
    uint64_t pc, lanes;
    enum emu_split_state state;
    uint8_t barrier; /* state BLOCKED: number of the convergence register; state CTA: number of the CTA barrier */
    bool soft, running; /* soft: the barrier is a bsync.soft; running: the split has the time slice */
};
struct emu_warp_view {
    uint64_t launched, live, exec; /* masks of the lanes that were launched, of the live lanes, and exec */
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
/** State of CTA barrier @id at the moment when the arrival of the lanes in lanes[warp], for all warps of the block, completes
 *  it. */
struct emu_barrier_arrivals {
    bool all;     /* all live lanes of the block have arrived */
    bool one_pc;  /* all lanes wait at one pc */
    bool counted; /* the barrier has an arrival count */
    bool orders_shared, orders_global; /* every instruction at which lanes wait orders accesses to shared, or global, memory */
    uint64_t pc;  /* pc of one of the instructions at which lanes wait */
};
void emu_block_barrier_arrivals(const struct emu_core *core, unsigned slot, unsigned id, const uint64_t *lanes,
                     struct emu_barrier_arrivals *out);
/** Gets the splits of a warp in the order of their ids. Returns the number of splits; at most @room splits are stored in @out. */
unsigned emu_split_views(const struct emu_core *core, unsigned slot, unsigned warp,
                         struct emu_split_view *out, unsigned room);
/** Entry of a warp's SIMT stack: its lanes continue at @pc and stay together until @rpc. */
struct emu_stack_view {
    uint64_t pc, rpc; /* rpc 0: the entry has no reconvergence pc */
    uint64_t lanes;
    int depth;        /* number of nested calls in which the entry's lanes are; 0 in the kernel itself */
    unsigned level;   /* number of the entry's level; the two paths of a level of a dual-path stack have the same number */
};
/** Gets the entries of the warp's SIMT stack, bottom first, or of the table of another reconvergence engine. Returns the number
 *  of entries, or 0 if the engine has no table; at most @room entries are stored in @out. */
unsigned emu_stack_views(const struct emu_core *core, unsigned slot, unsigned warp,
                         struct emu_stack_view *out, unsigned room);
/** Gets the pc and split of a lane. Returns false when the lane is not live. */
bool emu_lane_where(const struct emu_core *core, unsigned slot, unsigned warp, unsigned lane,
                    struct emu_split_view *out);
/** Returns the lanes whose barrier register @reg holds the same group number as that of @lane, and sets *@number to this group
 *  number. Returns 0 if the register of @lane holds no group number. */
uint64_t emu_barrier_group(const struct emu_core *core, unsigned slot, unsigned warp,
                           unsigned reg, unsigned lane, uint64_t *number);

/** Two functions that read and write a register. The value of a V register is the word of lane @lane; of an S register, the word
 *  of the warp; of a P register, a mask of lanes; of an SP register, one bit. exec is the pair of S registers 126 and 127. The
 *  functions return false if the register or lane does not exist. Registers of dead lanes may be read. */
bool emu_reg_read(const struct emu_core *core, unsigned slot, unsigned warp,
                  enum isa_reg_class reg_class, unsigned number, unsigned lane,
                  uint64_t *value);
/** Gets the tag of a vector register. The tag is V if tags are off. Returns false if the register does not exist. */
bool emu_reg_tag(const struct emu_core *core, unsigned slot, unsigned warp, unsigned number,
                 struct emu_tag *out);
bool emu_reg_write(struct emu_core *core, unsigned slot, unsigned warp,
                   enum isa_reg_class reg_class, unsigned number, unsigned lane,
                   uint64_t value, struct lw_error *err);
/** Reads a special register of a lane, such as tid.x. */
bool emu_special_read(const struct emu_core *core, unsigned slot, unsigned warp,
                      enum isa_special sr, unsigned lane, uint64_t *value);
/**
 * Moves a lane to @pc, for a debugger; @pc is an instruction of the function in which the lane is. If @alone is set, only this
 * lane moves, and becomes a split of its own if its split has other lanes. If @alone is not set, the lane's whole split moves.
 * Errors: LW_ERANGE if the lane is not live, or if @pc is not an instruction of its function; LW_ESTATE if the lane waits, or if
 * it would move alone while exec does not cover the live lanes; LW_EUNSUPP for a single lane under a reconvergence engine that
 * keeps the lanes of a split together. After an error no lane has moved.
 */
enum lw_status emu_pc_write(struct emu_core *core, unsigned slot, unsigned warp, unsigned lane,
                            bool alone, uint64_t pc, struct lw_error *err);
/** Reads generic memory as lane @lane sees it: an address in the shared aperture is in the shared memory of the lane's block, and
 *  an address in the local aperture is in the lane's own local memory. Constant banks and code can be read. Returns the number of
 *  bytes read from @address on: fewer than @size_bytes if memory ends before, 0 in the null page and in debug address ranges. */
uint64_t emu_mem_peek(const struct emu_core *core, unsigned slot, unsigned warp, unsigned lane,
                      uint64_t address, void *data, uint64_t size_bytes);
uint64_t emu_mem_poke(struct emu_core *core, unsigned slot, unsigned warp, unsigned lane,
                      uint64_t address, const void *data, uint64_t size_bytes);
/** An argument of printf: its offset from the first argument, and its size. */
struct emu_argument {
    uint32_t offset, size_bytes;
};
/**
 * Lists the arguments that printf reads for @format, in order. A width or precision given as `*` is an argument; a vector is one
 * argument; the argument of a string is its pointer.
 *  @format, @args  generic addresses, as the lane sees them
 *  @out            has space for @limit arguments
 * Returns the number of arguments listed. The list ends after @limit arguments, and before an argument that cannot be read. The
 * format is interpreted as by emu_format (docs/reference/printf.md).
 */
unsigned emu_print_arguments(const struct emu_core *core, unsigned slot, unsigned warp,
                             unsigned lane, uint64_t format, uint64_t args,
                             struct emu_argument *out, unsigned limit);

/* ---- variables of the source (emu_variable.c) ---------------------------------------------- */

/** Finds the core and slot in which a block is resident. Returns false if the block is not resident. */
bool emu_block_find(const struct emu_machine *machine, uint32_t grid, uint64_t block, const struct emu_core **core,
                    unsigned *slot);
/** Stack frame of a function in a lane. */
struct emu_frame {
    uint64_t pc;    /* address of the instruction that the function executes; in the frame of a caller, the call */
    uint32_t sp;    /* value of v2 before this instruction */
    bool innermost; /* the lane executes this frame's function, so that the return address may still be in v0:1 */
};
/** Gets the innermost frame of a lane that is about to execute the instruction at @pc. The caller knows @pc, because while the
 *  interpreter executes a time slice the pc of the running split is not stored. */
struct emu_frame emu_frame_first(const struct emu_core *core, unsigned slot, unsigned warp, unsigned lane, uint64_t pc);
/** Computes the caller's frame of a function's frame, by the rules of the ABI. @caller may be @frame. The stack pointer of the caller is the canonical
 *  frame address (CFA) of the function. Returns false for a kernel, which has no caller, and if the pc is in no function. */
bool emu_frame_caller(const struct emu_core *core, unsigned slot, unsigned warp, unsigned lane, const struct emu_frame *frame,
                      struct emu_frame *caller);
/** Reads the word at @offset of a lane's built-in variables, which are in debug address range 0xF5. */
uint64_t emu_builtin_read(const struct emu_core *core, unsigned slot, unsigned warp, unsigned lane, uint64_t offset);
enum emu_value_kind { EMU_VALUE_NONE, EMU_VALUE_KNOWN, EMU_VALUE_ADDRESS, EMU_VALUE_EXPRESSION };
/** Location of a variable's value, or the value itself. */
struct emu_value_source {
    enum emu_value_kind kind; /* EMU_VALUE_NONE: the variable has no value */
    uint64_t value;           /* EMU_VALUE_KNOWN: the value; EMU_VALUE_ADDRESS: its address in the debugger's address space */
    const struct isa_var_location *location; /* EMU_VALUE_EXPRESSION: the location, which gives an expression */
};
/** Finds the value of variable @die before instruction @insn of @program. @innermost: the instruction is in the innermost frame,
 *  whose registers are known; an inlined call is part of the frame that contains it. @reader reads the lane. */
void emu_variable_find(const struct emu_program *program, uint32_t insn, uint32_t die, bool innermost,
                       const struct isa_expression_reader *reader, struct emu_value_source *out);
/** Reads the first @bytes bytes of variable @die in a frame of a lane. Returns false if the variable has no value. */
bool emu_lane_variable(const struct emu_core *core, unsigned slot, unsigned warp, unsigned lane, const struct emu_frame *frame,
                       uint32_t die, void *out, unsigned bytes);
/** Computes hash_state of MACHINE 4, from the state of all resident blocks and the hash of memory. */
uint64_t emu_hash_state(const struct emu_machine *machine);

#endif
