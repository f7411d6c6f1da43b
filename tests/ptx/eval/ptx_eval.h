/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A direct, slow evaluator of PTX for tests. The evaluator reads the text with its own small reader, and executes the
 * threads one by one, in fair rotation. The semantics of each instruction were written by hand from the PTX manual. The
 * evaluator shares no code with the translator or the machine, not even a header. The evaluator assumes valid PTX: an
 * instruction that it cannot read or execute is an error with a message.
 */
#ifndef PTX_EVAL_H
#define PTX_EVAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct pe_module;

/** Reads a module. On failure returns NULL, with a message in @why. */
struct pe_module *pe_read(const char *text, char *why, size_t size);
void pe_destroy(struct pe_module *module);

/** One launch. @global is the memory at address @global_base. */
struct pe_launch {
    const char *entry;
    uint32_t grid[3], block[3];
    const void *params;
    size_t param_bytes;
    uint8_t *global;
    uint64_t global_base;
    size_t global_bytes;
    uint32_t dynamic_shared_bytes;
    uint64_t max_steps; /* maximum number of instructions of all threads together, or 0 if there is no limit */
    bool *trapped;      /* if not NULL: a thread that executes trap ends the run and sets this flag */
};
/** Runs the launch to its end. On failure returns false, with a message in @why. */
bool pe_run(struct pe_module *module, const struct pe_launch *launch, char *why, size_t size);

#endif
