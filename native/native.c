/* SPDX-License-Identifier: Apache-2.0 */
/* Gets native code of kernels from the cache or the compiler process on request, and stores the code for later requests. */
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "native/nat_process_priv.h"

/* If nat_leave_cost() of a kernel exceeds this limit, its code stores each register where the register is written. The measured
 * kernels compiled fastest with this limit. */
enum { MOST_LEAVE_COST = 1000 };

/** Code of a kernel, and the parameters for which it was compiled: block shape, warp width and others. */
struct nat_kernel {
    struct emu_native_kernel code; /* `count` is 0 if the kernel could not be compiled */
    struct isa_word *text; /* [count] instructions of the kernel, before relocation; owned */
    uint32_t *x;           /* [count] member `x` of the instructions after relocation, which may contain addresses; owned */
    char *name;            /* owned */
    struct nat_job job;
    enum nat_progress { NAT_NEW, NAT_SENT, NAT_DONE } progress; /* NAT_SENT: the process compiles the kernel */
    struct nat_kernel *same; /* the oldest struct nat_kernel with the same instructions; its `work` is the sum for all code forms
                              * and block shapes of them */
    struct nat_work work; /* sum of what requests have reported */
    bool cached;       /* the code came from the cache */
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
    const struct nat_listing *listing; /* or NULL; borrowed */
    pthread_mutex_t lock;
    struct lw_buffer compiler; /* text of nat_cache_put_compiler() */
    bool cached;               /* the cache is used */
    bool always;               /* each kernel is compiled; false: a kernel is compiled only if this pays */
    bool waits;                /* a request waits for the code */
    struct nat_kernel *sent;   /* the kernel that the process compiles, or NULL */
    struct nat_kernel *last;   /* `same` of the last request's kernel */
    uint64_t most_leave_cost;
    double seconds;
};

const char *const nat_engine_names[] = {[NAT_INTERPRETER] = "interpreter", [NAT_NATIVE] = "native", [NAT_AUTO] = "auto",
                                        [NAT_AUTO_UNSHARED] = "auto-unshared", NULL};

void nat_name(const struct nat_job *job, char *out)
{
    snprintf(out, NAT_NAME_BYTES, "kernel%016" PRIx64, job->number);
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

/** Creates the linker if there is none yet. */
static void start_linker(struct translator *t)
{
    if (t->jit == NULL && failed(&t->llvm, t->llvm.OrcCreateLLJIT(&t->jit, NULL)))
        t->jit = NULL;
}

/** Gets the code of @k from the cache. Returns false if the cache does not have it, or has an entry that is not used. */
static bool take_cached(struct translator *t, const struct lw_cache_key *key, struct nat_kernel *k, struct nat_code *code)
{
    struct lw_error err;
    enum lw_status status = nat_cache_read(key, &k->job, code, &err);

    if (status == LW_OK) {
        start_linker(t);
        if (link_code(t, code, k))
            return true;
        status = LW_FAIL(&err, LW_EFORMAT, "LLVM cannot link %s", key->path);
        (void)unlink(key->path); /* deletes the entry, so that the next run compiles the kernel again */
        nat_code_free(code);
    }
    if (t->sink != NULL && status != LW_ENOENT)
        lw_printf(t->sink, "native code: the cached code of kernel %s is not used: %s\n", k->name, err.text);
    return false;
}

/** Reports a kernel that was not compiled. */
static void report(struct translator *t, const char *kernel, enum nat_outcome outcome)
{
    if (t->sink == NULL || outcome == NAT_UNSUPPORTED)
        return;
    if (outcome == NAT_TOO_LONG)
        lw_printf(t->sink, "native code: the compilation of kernel %s exceeded %g s: the interpreter executes the kernel\n",
                  kernel, t->seconds);
    else
        lw_printf(t->sink, "native code: LLVM failed to compile kernel %s: the interpreter executes the kernel\n", kernel);
}

/** If @outcome is NAT_COMPILED, moves the code from @code to @k. Counts the kernel in any case. */
static void take_code(struct translator *t, struct nat_kernel *k, enum nat_outcome outcome, struct nat_code *code)
{
    k->progress = NAT_DONE;
    if (outcome == NAT_COMPILED) {
        k->code.entry = k->entry = code->entry; /* `k` owns the entries and sites now */
        k->code.site = k->site = code->site;
        code->entry = NULL;
        code->site = NULL;
        k->code.first = k->job.first;
        k->code.count = k->job.count;
        k->code.windows = code->size.windows;
        k->code.entries = code->size.entries;
        k->code.writes = code->size.writes != 0;
    }
    nat_code_free(code);
    t->stats.kernels += outcome == NAT_COMPILED && !k->cached;
    t->stats.cached += k->cached;
    t->stats.refused += outcome != NAT_COMPILED;
    t->stats.too_long += outcome == NAT_TOO_LONG;
    if (outcome != NAT_COMPILED)
        report(t, k->name, outcome);
}

/** Sends @k to the compiler process, and starts a new process if there is none, or if it has ended while it was idle. Returns
 *  false if that fails. */
static bool send_kernel(struct translator *t, const struct emu_native_request *request, const struct nat_kernel *k)
{
    for (unsigned attempt = 0; attempt < 2; attempt++) {
        if (t->process.owner == 0 && !nat_process_start(&t->process))
            return false;
        if (nat_process_send(&t->process, &k->job, request->insn + k->job.first))
            return true;
        nat_process_end(&t->process);
    }
    return false;
}

/** Gets the code of @k from the cache, or sends the kernel to the compiler process. */
static void begin(struct translator *t, const struct emu_native_request *request, struct nat_kernel *k)
{
    struct lw_cache_key *key = malloc(sizeof *key);
    struct nat_code code = {.entry = NULL};

    if (key == NULL) {
        take_code(t, k, NAT_CRASHED, &code);
        return;
    }
    k->cached = nat_cache_key(&t->compiler, &k->job, k->text, k->x, key) && t->cached && take_cached(t, key, k, &code);
    lw_buffer_fini(&key->text);
    free(key);
    if (k->cached) {
        take_code(t, k, NAT_COMPILED, &code);
    } else if (!send_kernel(t, request, k)) {
        take_code(t, k, NAT_CRASHED, &code);
    } else {
        start_linker(t); /* while the process compiles */
        k->progress = NAT_SENT;
        t->sent = k;
    }
}

/** Receives the code of the kernel that the process compiles. @request: if the code is listed, the request for the kernel. */
static void finish(struct translator *t, const struct emu_native_request *request)
{
    struct lw_cache_key *key = malloc(sizeof *key);
    struct nat_kernel *k = t->sent;
    struct nat_code code;
    enum nat_outcome outcome = nat_process_receive(&t->process, &k->job, &code);

    if (outcome == NAT_COMPILED && !link_code(t, &code, k))
        outcome = NAT_UNSUPPORTED;
    if (outcome == NAT_COMPILED && t->listing != NULL && code.assembly == NULL)
        lw_printf(t->listing->out, "kernel %s: LLVM has not written its assembly\n", k->name);
    else if (outcome == NAT_COMPILED && t->listing != NULL)
        nat_listing_write(t->listing, request->object, k->name, &k->job, request->insn + k->job.first, code.assembly);
    if (key != NULL && outcome == NAT_COMPILED && t->cached) {
        if (nat_cache_key(&t->compiler, &k->job, k->text, k->x, key))
            nat_cache_write(key, &k->job, &code);
        lw_buffer_fini(&key->text);
    }
    free(key);
    take_code(t, k, outcome, &code);
    t->sent = NULL;
}

/** Returns true if @k has the instructions of @request, with the same addresses of variables and functions. */
static bool is_same_kernel(const struct nat_kernel *k, const struct emu_native_request *request)
{
    const struct isa_function *kernel = request->kernel;

    if (k->job.first != kernel->first || k->job.count != kernel->count ||
        memcmp(k->text, request->object->text + kernel->first, kernel->count * sizeof *k->text) != 0)
        return false;
    for (uint32_t i = 0; i < kernel->count; i++)
        if (k->x[i] != request->insn[kernel->first + i].x)
            return false;
    return true;
}

static bool is_code_for(const struct nat_kernel *k, const struct emu_native_request *request)
{
    const struct nat_job *job = &k->job;

    return job->width == request->width && job->stride == request->stride && job->vregs == request->vregs &&
           job->masked == request->masked && memcmp(job->block, request->block, sizeof job->block) == 0 && is_same_kernel(k, request);
}

/** Returns the kernel of @request, and adds it to the list of kernels if it is new. Returns NULL if memory is short. */
static struct nat_kernel *find(struct translator *t, const struct emu_native_request *request)
{
    const struct isa_function *kernel = request->kernel;
    struct nat_kernel *k = t->kernels;

    while (k != NULL && !is_code_for(k, request))
        k = k->next;
    if (k != NULL)
        return k;
    const size_t bytes = kernel->count * sizeof *k->text;
    k = calloc(1, sizeof *k);
    struct isa_word *text = malloc(bytes != 0 ? bytes : 1);
    uint32_t *x = malloc((kernel->count + 1) * sizeof *x);
    char *name = strdup(kernel->name);
    if (k == NULL || text == NULL || x == NULL || name == NULL) {
        free(k);
        free(text);
        free(x);
        free(name);
        return NULL;
    }
    memcpy(text, request->object->text + kernel->first, bytes);
    for (uint32_t i = 0; i < kernel->count; i++)
        x[i] = request->insn[kernel->first + i].x;
    k->text = text;
    k->x = x;
    k->name = name;
    k->job = (struct nat_job){
        .first = kernel->first, .count = kernel->count, .width = request->width, .stride = request->stride,
        .first_row = request->first_row, .vregs = request->vregs, .masked = request->masked,
        .most_leave_cost = t->most_leave_cost, .seconds = t->seconds, .listed = t->listing != NULL};
    memcpy(k->job.block, request->block, sizeof k->job.block);
    k->same = k;
    for (struct nat_kernel *other = t->kernels; other != NULL && k->same == k; other = other->next)
        if (is_same_kernel(other, request))
            k->same = other->same;
    k->next = t->kernels;
    t->kernels = k;
    return k;
}

/** Adds the numbers that @request for kernel @k reports. Its `executed` is added to the kernel of the previous request, which
 *  executed these instructions. */
static void add_work(struct translator *t, const struct emu_native_request *request, struct nat_kernel *k)
{
    if (t->last != NULL)
        t->last->work.executed += request->executed;
    if (request->seconds > 0) {
        k->work.timed += request->executed;
        k->work.seconds += request->seconds;
    }
    k->work.rest = request->rest;
    t->last = k;
}

/** Loads LLVM if it is not loaded yet. */
static enum lw_status load(struct translator *t, struct lw_error *err)
{
    enum lw_status status = t->llvm.library != NULL ? LW_OK : nat_llvm_load(&t->llvm, err);

    if (status == LW_OK && t->compiler.size == 0)
        t->compiler.is_cut = !nat_cache_put_compiler(&t->llvm, &t->compiler.sink);
    return status;
}

static const struct emu_native_kernel *kernel_of(struct emu_native *native, const struct emu_native_request *request, bool *later)
{
    struct translator *t = (struct translator *)native;
    struct timespec start, end;
    struct lw_error err;

    pthread_mutex_lock(&t->lock);
    struct nat_kernel *k = find(t, request);
    if (k != NULL)
        add_work(t, request, k->same);
    const bool works = t->sent != NULL || (k != NULL && k->progress != NAT_DONE);
    if (works) /* without work there are no system calls, because programs may launch many short kernels */
        clock_gettime(CLOCK_MONOTONIC, &start);
    if (works && !nat_process_is_ours(&t->process) && t->sent != NULL) {
        t->sent->progress = NAT_NEW;
        t->sent = NULL;
    }
    if (t->sent != NULL && nat_process_is_ready(&t->process))
        finish(t, request);
    if (k != NULL && k->progress == NAT_NEW && t->sent == NULL &&
        (t->always || nat_pays(&k->same->work, k->job.count, t->llvm.library != NULL, t->waits))) {
        if (load(t, &err) == LW_OK) {
            begin(t, request, k);
        } else {
            if (t->stats.refused++ == 0 && t->sink != NULL)
                lw_printf(t->sink, "%s\n", err.text);
            k->progress = NAT_DONE;
        }
    }
    if (t->sent != NULL && t->waits)
        finish(t, request);
    if (works) {
        clock_gettime(CLOCK_MONOTONIC, &end);
        t->stats.seconds += (double)(end.tv_sec - start.tv_sec) + 1e-9 * (double)(end.tv_nsec - start.tv_nsec);
    }
    *later = k != NULL && k->progress != NAT_DONE;
    const struct emu_native_kernel *code = k != NULL && k->code.count != 0 ? &k->code : NULL;
    pthread_mutex_unlock(&t->lock);
    return code;
}

enum lw_status nat_create(enum nat_engine engine, struct emu_native **out, struct lw_error *err)
{
    const bool waits = engine == NAT_NATIVE; /* LLVM is loaded now, and requests wait for the code */
    struct translator *t = calloc(1, sizeof *t);
    enum lw_status status = LW_OK;

    if (t == NULL)
        return LW_FAIL(err, LW_ENOMEM, "the host has no memory for native code");
    t->native.kernel = kernel_of;
    t->native.masked_after = 64;
    t->native.timed = !waits;
    t->native.unshared = engine == NAT_AUTO_UNSHARED;
    t->most_leave_cost = MOST_LEAVE_COST;
    t->seconds = NAT_SECONDS;
    t->always = t->waits = waits;
    pthread_mutex_init(&t->lock, NULL);
    lw_buffer_init(&t->compiler);
    if (waits)
        status = load(t, err);
    if (waits && status == LW_OK) {
        LLVMTargetMachineRef machine = nat_llvm_host(&t->llvm, NAT_CODEGEN_DEFAULT);
        if (machine == NULL)
            status = LW_FAIL(err, LW_EUNSUPP, "LLVM cannot generate code for this processor");
        else
            t->llvm.DisposeTargetMachine(machine);
    }
    if (status != LW_OK)
        nat_destroy(&t->native);
    else
        *out = &t->native;
    return status;
}

void nat_destroy(struct emu_native *native)
{
    struct translator *t = (struct translator *)native;

    if (t == NULL)
        return;
    if (nat_process_is_ours(&t->process))
        nat_process_end(&t->process);
    if (t->jit != NULL)
        (void)failed(&t->llvm, t->llvm.OrcDisposeLLJIT(t->jit));
    for (struct nat_kernel *k = t->kernels, *next; k != NULL; k = next) {
        next = k->next;
        free(k->entry);
        free(k->site);
        free(k->text);
        free(k->x);
        free(k->name);
        free(k);
    }
    pthread_mutex_destroy(&t->lock);
    lw_buffer_fini(&t->compiler);
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

void nat_set_steady(struct emu_native *native)
{
    ((struct translator *)native)->waits = true;
    native->timed = false;
}

void nat_set_cached(struct emu_native *native, bool cached)
{
    ((struct translator *)native)->cached = cached && getenv("LANEWISE_NATIVE_DUMP") == NULL; /* if a dump is requested, every
                                                                                               * kernel is compiled, because the
                                                                                               * compiler writes the dump */
}

void nat_set_sink(struct emu_native *native, struct lw_sink *sink)
{
    ((struct translator *)native)->sink = sink;
}

void nat_set_listing(struct emu_native *native, const struct nat_listing *listing)
{
    struct translator *t = (struct translator *)native;

    t->listing = listing;
    t->waits = true;
    t->cached = false;
}

void nat_get_stats(const struct emu_native *native, struct nat_stats *out)
{
    *out = ((const struct translator *)native)->stats;
}
