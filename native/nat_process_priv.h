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
        uint32_t writes;           /* 0 or 1: as in struct emu_native_kernel */
        size_t object;             /* bytes of the object file */
        size_t assembly;           /* bytes of the assembly */
    } size;
    uint16_t *entry;               /* [job->count] as in struct emu_native_kernel; owned */
    struct emu_native_site *site;  /* [size.sites] owned */
    char *object;                  /* [size.object] object file with the function nat_name(); owned */
    char *assembly;                /* [size.assembly] with a final 0, for a job that is listed; else NULL; owned */
};
void nat_code_free(struct nat_code *code);
/** Returns true if all numbers in the code are in their ranges. The code comes from another process, or from a file. */
bool nat_code_is_valid(const struct nat_code *code, const struct nat_job *job);

/** Objects of LLVM that the compiler uses for all kernels. */
struct nat_compiler {
    const struct nat_llvm *llvm;
    LLVMTargetMachineRef machine[2]; /* [0]: for optimised code; [1]: for simple code; created when first needed */
};
/** Compiles the kernel @insn of @job. Returns false, and no code, if the kernel cannot be compiled. */
bool nat_compile(struct nat_compiler *compiler, const struct nat_job *job, const struct isa_insn *insn, struct nat_code *out);

/** Writes the listing of a kernel. @insn: the instructions of @job; @assembly: as in struct nat_code. */
void nat_listing_write(const struct nat_listing *listing, const struct isa_object *object, const char *kernel, const struct nat_job *job,
                       const struct isa_insn *insn, const char *assembly);

/** A process that compiles kernels. It is not a child of the program. */
struct nat_process {
    pid_t owner; /* id of the process that has started the compiler process; forks of this process must not use the socket. 0:
                  * there is no compiler process */
    int socket;
};
enum nat_outcome {
    NAT_COMPILED,
    NAT_UNSUPPORTED, /* the kernel has something that native code does not support */
    NAT_TOO_LONG,    /* the compilation exceeded its time limit */
    NAT_CRASHED      /* the process ended because of an error of LLVM, or could not be started */
};
/** Starts the process, which loads LLVM when it gets the first kernel. Returns false if the host has no process or memory
 *  for it. */
bool nat_process_start(struct nat_process *process);
/** Returns false if this process is a fork of the process that has started the compiler process. In this case @process afterwards
 *  refers to no process, and the compiler process continues to serve the other process. Otherwise returns true. */
bool nat_process_is_ours(struct nat_process *process);
/** Sends a kernel to the process, which starts to compile it. */
bool nat_process_send(struct nat_process *process, const struct nat_job *job, const struct isa_insn *insn);
/** Returns true if nat_process_receive() will not wait for a compilation. */
bool nat_process_is_ready(const struct nat_process *process);
/** Waits until the kernel that was sent last is compiled. If the outcome is NAT_TOO_LONG or NAT_CRASHED, the process has
 *  ended. */
enum nat_outcome nat_process_receive(struct nat_process *process, const struct nat_job *job, struct nat_code *out);
/** Ends the compiler process, even during a compilation. Does nothing if there is no such process. */
void nat_process_end(struct nat_process *process);

/* ---- the model of --engine auto (nat_pays.c) ---------------------------------------------------- */

/** How much the interpreter has executed of a kernel, and how much remains. */
struct nat_work {
    uint64_t executed; /* warp instructions that the interpreter has executed */
    uint64_t timed;    /* number of these instructions whose processor time is known; `seconds` is their processor time */
    double seconds;
    uint64_t rest;     /* estimate of the warp instructions that remain in the grid; 0: unknown */
};
/** Returns true if it pays to compile a kernel of @count instructions. @loaded: LLVM is loaded. @waits: the emulator waits for the
 *  compilation. */
bool nat_pays(const struct nat_work *work, uint32_t count, bool loaded, bool waits);

/* ---- the cache (nat_cache.c) -------------------------------------------------------------------- */

/** Writes everything that identifies the compiler: the builds of Lanewise and of LLVM, and the processor for which LLVM generates
 *  code. Returns false if one of the builds has no build id. */
bool nat_cache_put_compiler(const struct nat_llvm *llvm, struct lw_sink *out);
/** Makes the key of the code of @job, and sets job->number. @compiler: text of nat_cache_put_compiler(); @text: instructions of
 *  the kernel before relocation; @x: their members `x` after relocation. Returns false if there is no cache. The caller frees
 *  key->text, also after false. */
bool nat_cache_key(const struct lw_buffer *compiler, struct nat_job *job, const struct isa_word *text, const uint32_t *x,
                   struct lw_cache_key *key);
/** Reads code from the cache. Errors: as lw_cache_read(); LW_ENOMEM. */
enum lw_status nat_cache_read(const struct lw_cache_key *key, const struct nat_job *job, struct nat_code *out,
                              struct lw_error *err) LW_MUST_CHECK;
void nat_cache_write(const struct lw_cache_key *key, const struct nat_job *job, const struct nat_code *code);

#endif
