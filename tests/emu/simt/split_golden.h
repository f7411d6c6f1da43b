/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reader of golden traces of splits. The traces were printed by an executable model: a program that follows the rules of splits
 * and reconvergence engines, and is not part of Lanewise. A file has cases, each in this form:
 *
 *   == NAME policy=P lanes=W threads=N quantum=Q window=N merge=on|off limit=N hang=N [order=O]
 *   (with order=O the engine is `stack`; policy, quantum, window, merge and limit then have no effect)
 *   the program (syntax: tests/emu/simt/split_machine.h)
 *   --
 *   one line for each step: number, warp if there are several, pc, mnemonic, lanes, split table and convergence groups
 *   lines with hang, totals, memory and registers
 */
#ifndef SPLIT_GOLDEN_H
#define SPLIT_GOLDEN_H

#include "tests/emu/simt/split_machine.h"

/** One case of a file. The texts of the case point into the text of the file. */
struct golden_case {
    char name[160], policy[24], order[24];
    struct sm_options options; /* the reader sets options.policy to `policy` */
    const char *text, *trace;
    size_t text_size, trace_size;
};
/** Read the case at *@at and advance *@at past the case. Return false at the end of the file. */
bool golden_next(const char **at, const char *end, struct golden_case *out);

struct golden_result {
    unsigned cases, failures;
    uint64_t steps;
    char first[2000]; /* message of the first failure, or "" if there is none */
};
/** Run every case of a file, in single steps and in whole time slices, and compare both with the file. */
struct golden_result golden_run(const char *path);

#endif
