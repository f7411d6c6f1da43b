/* SPDX-License-Identifier: Apache-2.0 */
/* Public interface of native/: translates kernels to the host's vector instructions with LLVM. */
#ifndef NATIVE_H
#define NATIVE_H

#include "emu/emu.h"

/** Counts of a translator, for reports. */
struct nat_stats {
    unsigned kernels;  /* number of kernels that were compiled */
    unsigned cached;   /* number of kernels whose code came from the cache */
    unsigned refused;  /* number of kernels that could not be compiled, so that only the interpreter executes them */
    unsigned too_long; /* number of the refused kernels whose compilation exceeded the time limit */
    double seconds;    /* time spent in the translator */
};

/** Limit of the processor time for the compilation of one kernel, in seconds, unless nat_set_limit() sets another limit. */
enum { NAT_SECONDS = 10 };

/** Values of the option `engine`. With NAT_AUTO each kernel begins in the interpreter. The translator compiles a kernel only if
 *  this pays, loads LLVM when it first compiles, and lets machines use the code when it is ready. NAT_AUTO_UNSHARED is the same for
 *  kernels without shared memory and barriers, and leaves others to the interpreter (emu_native.unshared). */
enum nat_engine { NAT_INTERPRETER, NAT_NATIVE, NAT_AUTO, NAT_AUTO_UNSHARED };
extern const char *const nat_engine_names[]; /* by enum nat_engine; the last one is NULL */

/** Creates a translator for emu_machine_set_native(). Several machines may use the same translator. @engine: not
 *  NAT_INTERPRETER. Errors: LW_ENOMEM; with NAT_NATIVE, LW_EUNSUPP if LLVM 19 is not installed or cannot generate code for this host.
 *  With the others, LLVM is loaded later, and if that fails the interpreter executes all kernels. The translator starts a process
 *  when it first compiles a kernel. This process compiles all kernels. It is not a child of the program, and gets no copy of the
 *  program's memory. */
enum lw_status nat_create(enum nat_engine engine, struct emu_native **out, struct lw_error *err) LW_MUST_CHECK;
/** Destroys the translator and its code. No machine may still use them. @native may be NULL. */
void nat_destroy(struct emu_native *native);
/** Sets the limit of nat_leave_cost() above which a kernel's code stores each register where it is written; with limit 0, the
 *  code of all kernels does so. Only tests set it, because the default compiles fastest. */
void nat_set_most_leave_cost(struct emu_native *native, uint64_t most);
/** Sets the limit of the processor time for the compilation of one kernel. If the limit is exceeded, only the interpreter
 *  executes the kernel. */
void nat_set_limit(struct emu_native *native, double seconds);
/** For NAT_AUTO and NAT_AUTO_UNSHARED: native code executes the same instructions in each run. The translator decides by counts of
 *  instructions, and a request waits until the kernel is compiled or its limit of time is exceeded. */
void nat_set_steady(struct emu_native *native);
/** @cached: the translator reads code of kernels from the cache, and stores code there. */
void nat_set_cached(struct emu_native *native, bool cached);
/** Sets the sink that receives a line for each kernel whose compilation LLVM did not complete, and for each entry of the cache
 *  that is not used; NULL: no lines are written. */
void nat_set_sink(struct emu_native *native, struct lw_sink *sink);
/** Where the host code of kernels is listed. */
struct nat_listing {
    struct lw_sink *out;
    /** Gets the number of warp instructions that a profile has for a source line. Returns false if it has none. May be NULL. */
    bool (*count)(void *context, const char *file, uint32_t line, uint64_t *count);
    void *context;
};
/** For each kernel that is compiled from now on, the translator writes source lines, instructions and their host code to
 *  @listing, which is borrowed. A request waits for the compilation, and the cache is not used. Call it after nat_set_cached(). */
void nat_set_listing(struct emu_native *native, const struct nat_listing *listing);
void nat_get_stats(const struct emu_native *native, struct nat_stats *out);

#endif
