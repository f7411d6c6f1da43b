/* SPDX-License-Identifier: Apache-2.0 */
/* The compiler process, and what it receives and returns. */
#ifndef NAT_PROCESS_PRIV_H
#define NAT_PROCESS_PRIV_H

#include <sys/types.h>

#include "native/nat_priv.h"

/** Native code of a kernel, as the compiler returns it. */
struct nat_code {
    struct nat_code_size {
        uint32_t entries, windows, sites;
        size_t object;             /* bytes of the object file */
    } size;
    uint16_t *entry;               /* [job->count] as in struct emu_native_kernel; owned */
    struct emu_native_site *site;  /* [size.sites] owned */
    char *object;                  /* [size.object] object file with the function nat_name(); owned */
};
void nat_code_free(struct nat_code *code);

/** Objects of LLVM that the compiler uses for all kernels. */
struct nat_compiler {
    const struct nat_llvm *llvm;
    LLVMTargetMachineRef machine[2]; /* [0]: for optimised code; [1]: for simple code; created when first needed */
};
/** Compiles the kernel @insn of @job. Returns false, and no code, if the kernel cannot be compiled. */
bool nat_compile(struct nat_compiler *compiler, const struct nat_job *job, const struct isa_insn *insn, struct nat_code *out);

/** A child process that compiles kernels. */
struct nat_process {
    pid_t pid; /* 0: there is no process */
    int socket;
};
enum nat_outcome {
    NAT_COMPILED,
    NAT_UNSUPPORTED, /* the kernel has something that native code does not support */
    NAT_TOO_LONG,    /* the compilation exceeded its time limit */
    NAT_CRASHED      /* the process ended because of an error of LLVM, or could not be started */
};
/** Starts the process. Returns false if the host has no process or memory for it. */
bool nat_process_start(struct nat_process *process, const struct nat_llvm *llvm);
/** Sends a kernel to the process, which starts to compile it. */
bool nat_process_send(struct nat_process *process, const struct nat_job *job, const struct isa_insn *insn);
/** Waits until the kernel that was sent last is compiled. If the outcome is NAT_TOO_LONG or NAT_CRASHED, the process has
 *  ended. */
enum nat_outcome nat_process_receive(struct nat_process *process, const struct nat_job *job, struct nat_code *out);
/** Ends the process, if there is one. */
void nat_process_end(struct nat_process *process);

#endif
