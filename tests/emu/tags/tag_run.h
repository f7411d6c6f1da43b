/* SPDX-License-Identifier: Apache-2.0 */
/* Fixture for the tests of tags and of compact mode. The fixture runs a kernel and records the tag that each instruction of
 * one warp gives its result. An error in the fixture fails the test. */
#ifndef TAG_RUN_H
#define TAG_RUN_H

#include "emu/tags/emu_tags_priv.h"

enum { U = EMU_TAG_U, A = EMU_TAG_A, V = EMU_TAG_V, STEPS = 400 };

/** One executed instruction of the warp, with the tag of the register that it wrote. */
struct step {
    uint32_t index; /* index of the instruction */
    struct emu_tag tag;
    unsigned expansions;
    uint64_t effective, p0;
};
struct run {
    struct emu_machine *machine;
    struct emu_engine *engine;
    struct emu_program *program;
    struct isa_object *object;
    struct emu_observer observer;
    struct emu_stop stop;
    struct emu_stats stats;
    uint64_t base, out;
    /* the recorded steps are steps of warp @warp in block @block */
    uint64_t block;
    unsigned warp, count;
    struct step step[STEPS];
    uint32_t word[1024];
};

/** Fail the test with the message of @err unless @status is LW_OK. */
void check(enum lw_status status, const struct lw_error *err);
/** Configure tags in shadow mode with @rules. */
struct emu_config shadow(enum emu_tag_rules rules);
/** Run a kernel "k" with parameters out, u64 and u32, and record the instructions of one warp. */
struct run *run_kernel(const struct emu_config *config, const char *text, const uint32_t grid[3],
                       const uint32_t block[3], uint64_t linear, unsigned warp, uint64_t a,
                       uint32_t b);
/** Do what run_kernel() does, for a grid of one block with one full warp. */
struct run *run_one(const struct emu_config *config, const char *text);
void end(struct run *r);
/** Return the tag that instruction @index wrote at its first execution. */
struct emu_tag tag_at(const struct run *r, uint32_t index);
void expect(const struct run *r, uint32_t index, unsigned kind, uint32_t base, int32_t stride);
void expect_pair(const struct run *r, uint32_t index, uint64_t base, int64_t stride);

#define KERNEL ".kernel k\n.param ptr.global out\n.param u64 a\n.param u32 b\n"
#define END "exit\n.end\n"

#endif
