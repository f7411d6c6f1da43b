/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A direct, slow evaluator of PTX for tests. It reads the text with a separate small reader and executes the threads
 * one by one, in fair rotation. The semantics of each instruction were written by hand from the PTX manual. It shares
 * no code with the translator or the machine, not even a header. It assumes valid input: an instruction that it
 * cannot read or execute is an error with a message.
 */
#ifndef PTX_EVAL_H
#define PTX_EVAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct pe_module;

/** Read a module. On failure return NULL, with a message in @why. */
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
    uint64_t max_steps; /* maximum number of instructions of all threads together; 0: no limit */
    bool *trapped;      /* not NULL: a thread that reaches trap ends the run and sets this flag */
};
/** Run the launch to its end. On failure return false, with a message in @why. */
bool pe_run(struct pe_module *module, const struct pe_launch *launch, char *why, size_t size);

#endif
