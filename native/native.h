/* SPDX-License-Identifier: Apache-2.0 */
/* Native code: translates kernels to the host's vector instructions with LLVM. */
#ifndef NATIVE_H
#define NATIVE_H

#include "emu/emu.h"

/** Counts of a translator, for reports. */
struct nat_stats {
    unsigned kernels;  /* compiled */
    unsigned refused;  /* kernels that only the interpreter executes */
    double seconds;    /* spent compiling */
};

/** Creates a translator for emu_machine_set_native(). The translator may serve several machines. Errors: LW_EUNSUPP:
 *  LLVM is not installed; LW_ENOMEM. */
enum lw_status nat_create(struct emu_native **out, struct lw_error *err) LW_MUST_CHECK;
/** Destroys the translator and its code, which no machine may use any more; may be NULL. */
void nat_destroy(struct emu_native *native);
/** Sets the size of a kernel from which its code stores each register where it is written (nat_leave_cost()); 0: all
 *  kernels. Tests use it: the default is what compiles fastest. */
void nat_set_most_leave_cost(struct emu_native *native, uint64_t most);
void nat_get_stats(const struct emu_native *native, struct nat_stats *out);

#endif
