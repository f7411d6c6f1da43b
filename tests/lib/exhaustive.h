/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests a claim for a sample of 32-bit numbers, or with LW_EXHAUSTIVE=1 for all 2^32. The numbers are divided among
 * host processes. Include this file after cmocka.h.
 */
#ifndef EXHAUSTIVE_H
#define EXHAUSTIVE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

/** Return false and store a message in @why if the claim does not hold for @i. */
typedef bool exhaustive_fn(const void *context, uint32_t i, char *why, size_t size);

static inline unsigned each_divisor(void)
{
    const char *text = getenv("LW_RANDOM_DIVISOR");
    return text != NULL && atoi(text) > 0 ? (unsigned)atoi(text) : 1;
}

/** Test all numbers, or every @step-th number. @step is odd, and LW_RANDOM_DIVISOR multiplies it. If the claim does not hold,
 *  fail the test with the first message of any process. */
static inline void all_values(exhaustive_fn *holds, const void *context, const char *what,
                             uint32_t step)
{
    bool all = getenv("LW_EXHAUSTIVE") != NULL;
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    unsigned parts = all ? processors > 0 && processors < 64 ? (unsigned)processors : 1 : 1;
    uint64_t stride = all ? 1 : (uint64_t)step * each_divisor();
    char why[256] = "";
    int pipes[2];

    if (parts == 1) {
        for (uint64_t i = 0; i >> 32 == 0; i += stride)
            if (!holds(context, (uint32_t)i, why, sizeof why))
                fail_msg("%s: %s", what, why);
        return;
    }
    fflush(stdout);
    assert_int_equal(pipe(pipes), 0);
    for (unsigned part = 0; part < parts; part++) {
        pid_t child = fork();
        assert_true(child >= 0);
        if (child != 0)
            continue;
        for (uint64_t i = part; i >> 32 == 0; i += parts)
            if (!holds(context, (uint32_t)i, why, sizeof why)) {
                if (write(pipes[1], why, strlen(why)) < 0)
                    _exit(2);
                _exit(1);
            }
        _exit(0);
    }
    close(pipes[1]);
    ssize_t got = read(pipes[0], why, sizeof why - 1); /* empty, or the message for a number for which the claim fails */
    bool failed = got != 0;
    for (unsigned part = 0; part < parts; part++) {
        int status;
        if (wait(&status) < 0 || status != 0)
            failed = true;
    }
    close(pipes[0]);
    if (failed)
        fail_msg("%s: %.*s", what, (int)(got > 0 ? got : 0), why);
    printf("%s: all 2^32 hold\n", what);
}

#endif
