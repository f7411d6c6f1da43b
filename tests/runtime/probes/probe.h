/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Probes of the CUDA interfaces. A probe calls a function, often with wrong arguments, and prints one line "name = result". The
 * same program runs on NVIDIA GPUs and on Lanewise, and the test compares the lines. Functions are found by their names at run
 * time, so that the program needs no header of CUDA, and a function that a library does not have is a result, too.
 */
#ifndef PROBE_H
#define PROBE_H

#include <dlfcn.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef size_t Z;
typedef const void *P;
typedef void *S; /* a stream, an event or another handle */
typedef unsigned U;
enum { NO_FUNCTION = -12345 };
enum { H2H, H2D, D2H, D2D, ANY }; /* kinds of copies */

struct grid {
    unsigned x, y, z;
};
static inline struct grid size_of(unsigned x, unsigned y = 1, unsigned z = 1)
{
    struct grid g = {x, y, z};

    return g;
}

/** Returns the function of the CUDA runtime or driver with this name, or NULL. */
void *find_function(const char *name);

/** Calls a function. The types of the arguments must be exactly those of the function's parameters. */
template <class... A> int F(const char *name, A... a)
{
    void *f = find_function(name);

    return f != NULL ? ((int (*)(A...))f)(a...) : (int)NO_FUNCTION;
}

/** Prints the result of a call of the runtime. If the thread's last error is another one, prints it, too. Clears the last error. */
void R(const char *probe, int error);
/** Prints the result of a call of the driver. */
void D(const char *probe, int result);
/** Prints a number, or text, as the result of a probe. */
void N(const char *probe, long long number);
void T(const char *probe, const char *text);
/** Returns @text in quotes, with escapes for control characters. The result is valid until the next call. */
const char *quoted(const char *text);
/** Redirects the file descriptor @fd to a temporary file. take_output() ends that, and returns what was written. */
void catch_output(int fd);
const char *take_output(void);

/** A group of probes runs in its own process, because some errors end the use of the device or the process. */
struct group {
    const char *name;
    void (*run)(void);
};
extern struct group memory_groups[], call_groups[], launch_groups[], fatal_groups[], driver_groups[];

#endif
