/* SPDX-License-Identifier: Apache-2.0 */
/* Gets native code of kernels from the compiler process on request, and stores the code for later requests. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "native/nat_process_priv.h"

/* If nat_leave_cost() exceeds this limit, which was chosen by measurement (docs/evidence/performance.md), registers are stored
 * where they are written. */
enum { MOST_LEAVE_COST = 1000 };

/** Code of a kernel, and the parameters for which it was compiled: block shape, warp width and others. */
struct nat_kernel {
    struct emu_native_kernel code; /* `count` is 0 if the kernel could not be compiled */
    struct isa_word *text; /* [count] instructions of the kernel; owned */
    struct nat_job job;
    uint16_t *entry; /* owned */
    struct emu_native_site *site; /* owned */
    struct nat_kernel *next;
};

struct translator {
    struct emu_native native; /* the first member, because pointers to it are cast to struct translator */
    struct nat_llvm llvm;
    struct nat_process process;
    LLVMOrcLLJITRef jit; /* links the code of kernels; NULL until the first kernel is compiled */
    struct nat_kernel *kernels;
    struct nat_stats stats;
    struct lw_sink *sink;
    pthread_mutex_t lock;
    uint32_t jobs;
    uint64_t most_leave_cost;
    double seconds;
};

void nat_name(const struct nat_job *job, char *out)
{
    snprintf(out, NAT_NAME_BYTES, "kernel%u", job->number);
}

static bool failed(const struct nat_llvm *llvm, LLVMErrorRef error)
{
    if (error == NULL)
        return false;
    char *text = llvm->GetErrorMessage(error);
    if (getenv("LANEWISE_NATIVE_DUMP") != NULL)
        fprintf(stderr, "lanewise: native code: %s\n", text);
    llvm->DisposeErrorMessage(text);
    return true;
}

/** Loads the object file of @code, and gets the address of its function. Returns false if LLVM fails. */
static bool link_code(struct translator *t, const struct nat_code *code, struct nat_kernel *k)
{
    const struct nat_llvm *l = &t->llvm;
    char name[NAT_NAME_BYTES];
    uint64_t address;

    nat_name(&k->job, name);
    if (t->jit == NULL)
        return false;
    LLVMOrcJITDylibRef library = l->OrcLLJITGetMainJITDylib(t->jit);
    LLVMMemoryBufferRef object = l->CreateMemoryBufferWithMemoryRangeCopy(code->object, code->size.object, name);
    if (failed(l, l->OrcLLJITAddObjectFile(t->jit, library, object)) || failed(l, l->OrcLLJITLookup(t->jit, &address, name)))
        return false;
    const uintptr_t at = address;
    memcpy(&k->code.run, &at, sizeof at);
    return true;
}

/** Gets the code of @k from the compiler process. */
static enum nat_outcome translate(struct translator *t, const struct isa_insn *insn, struct nat_kernel *k)
{
    struct nat_process *process = &t->process;
    struct nat_code code;

    if (process->pid == 0 && !nat_process_start(process, &t->llvm)) /* the process has ended, and needs a successor */
        return NAT_CRASHED;
    const bool sent = nat_process_send(process, &k->job, insn);
    if (t->jit == NULL && sent && failed(&t->llvm, t->llvm.OrcCreateLLJIT(&t->jit, NULL))) /* while the process compiles */
        t->jit = NULL;
    enum nat_outcome outcome = nat_process_receive(process, &k->job, &code);
    if (outcome == NAT_COMPILED && !link_code(t, &code, k))
        outcome = NAT_UNSUPPORTED;
    if (outcome == NAT_COMPILED) {
        k->code.entry = k->entry = code.entry; /* `k` owns the entries and sites now */
        k->code.site = k->site = code.site;
        code.entry = NULL;
        code.site = NULL;
        k->code.first = k->job.first;
        k->code.count = k->job.count;
        k->code.windows = code.size.windows;
        k->code.entries = code.size.entries;
    }
    nat_code_free(&code);
    return outcome;
}

/** Reports a kernel that was not compiled. */
static void report(struct translator *t, const struct isa_function *kernel, enum nat_outcome outcome)
{
    if (t->sink == NULL || outcome == NAT_UNSUPPORTED)
        return;
    if (outcome == NAT_TOO_LONG)
        lw_printf(t->sink, "native code: the compilation of kernel %s exceeded %g s: the interpreter executes the kernel\n",
                  kernel->name, t->seconds);
    else
        lw_printf(t->sink, "native code: LLVM failed to compile kernel %s: the interpreter executes the kernel\n", kernel->name);
}

static bool is_code_for(const struct nat_kernel *k, const struct emu_native_request *request)
{
    const struct isa_function *kernel = request->kernel;
    const struct nat_job *job = &k->job;

    return job->first == kernel->first && job->count == kernel->count && job->width == request->width &&
           job->stride == request->stride && job->vregs == request->vregs && job->masked == request->masked &&
           memcmp(job->block, request->block, sizeof job->block) == 0 &&
           memcmp(k->text, request->object->text + kernel->first, kernel->count * sizeof *k->text) == 0;
}

static const struct emu_native_kernel *kernel_of(struct emu_native *native, const struct emu_native_request *request)
{
    struct translator *t = (struct translator *)native;
    const struct isa_function *kernel = request->kernel;
    struct timespec begin, end;
    struct nat_kernel *k;

    pthread_mutex_lock(&t->lock);
    for (k = t->kernels; k != NULL && !is_code_for(k, request); k = k->next)
        ;
    if (k == NULL && (k = calloc(1, sizeof *k)) != NULL) {
        k->text = malloc(kernel->count * sizeof *k->text);
        if (k->text == NULL) {
            free(k);
            pthread_mutex_unlock(&t->lock);
            return NULL;
        }
        memcpy(k->text, request->object->text + kernel->first, kernel->count * sizeof *k->text);
        k->job.first = kernel->first;
        k->job.count = kernel->count;
        k->job.width = request->width;
        k->job.stride = request->stride;
        k->job.first_row = request->first_row;
        k->job.vregs = request->vregs;
        k->job.masked = request->masked;
        memcpy(k->job.block, request->block, sizeof k->job.block);
        k->job.number = t->jobs++;
        k->job.most_leave_cost = t->most_leave_cost;
        k->job.seconds = t->seconds;
        k->next = t->kernels;
        t->kernels = k;
        clock_gettime(CLOCK_MONOTONIC, &begin);
        const enum nat_outcome outcome = translate(t, request->insn + kernel->first, k);
        clock_gettime(CLOCK_MONOTONIC, &end);
        t->stats.seconds += (double)(end.tv_sec - begin.tv_sec) + 1e-9 * (double)(end.tv_nsec - begin.tv_nsec);
        t->stats.kernels += outcome == NAT_COMPILED;
        t->stats.refused += outcome != NAT_COMPILED;
        t->stats.too_long += outcome == NAT_TOO_LONG;
        if (outcome != NAT_COMPILED)
            report(t, kernel, outcome);
    }
    pthread_mutex_unlock(&t->lock);
    return k != NULL && k->code.count != 0 ? &k->code : NULL;
}

enum lw_status nat_create(struct emu_native **out, struct lw_error *err)
{
    struct translator *t = calloc(1, sizeof *t);
    enum lw_status status;

    if (t == NULL)
        return LW_FAIL(err, LW_ENOMEM, "the host has no memory for native code");
    status = nat_llvm_load(&t->llvm, err);
    if (status != LW_OK) {
        free(t);
        return status;
    }
    t->native.kernel = kernel_of;
    t->native.masked_after = 64;
    t->most_leave_cost = MOST_LEAVE_COST;
    t->seconds = NAT_SECONDS;
    pthread_mutex_init(&t->lock, NULL);
    LLVMTargetMachineRef machine = nat_llvm_host(&t->llvm, NAT_CODEGEN_DEFAULT);
    if (machine == NULL) {
        nat_destroy(&t->native);
        return LW_FAIL(err, LW_EUNSUPP, "LLVM cannot generate code for this processor");
    }
    t->llvm.DisposeTargetMachine(machine);
    if (!nat_process_start(&t->process, &t->llvm)) {
        nat_destroy(&t->native);
        return LW_FAIL(err, LW_ENOMEM, "the host has no process for the compilation to native code");
    }
    *out = &t->native;
    return LW_OK;
}

void nat_destroy(struct emu_native *native)
{
    struct translator *t = (struct translator *)native;

    if (t == NULL)
        return;
    nat_process_end(&t->process);
    if (t->jit != NULL)
        (void)failed(&t->llvm, t->llvm.OrcDisposeLLJIT(t->jit));
    for (struct nat_kernel *k = t->kernels, *next; k != NULL; k = next) {
        next = k->next;
        free(k->entry);
        free(k->site);
        free(k->text);
        free(k);
    }
    pthread_mutex_destroy(&t->lock);
    nat_llvm_unload(&t->llvm);
    free(t);
}

void nat_set_most_leave_cost(struct emu_native *native, uint64_t most)
{
    ((struct translator *)native)->most_leave_cost = most;
}

void nat_set_limit(struct emu_native *native, double seconds)
{
    ((struct translator *)native)->seconds = seconds;
}

void nat_set_sink(struct emu_native *native, struct lw_sink *sink)
{
    ((struct translator *)native)->sink = sink;
}

void nat_get_stats(const struct emu_native *native, struct nat_stats *out)
{
    *out = ((const struct translator *)native)->stats;
}
