/* SPDX-License-Identifier: Apache-2.0 */
/* Compiles kernels to native code on request, and stores the code for later requests. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "native/nat_priv.h"

/* Limits that were chosen by measurement (docs/evidence/performance.md). The interpreter executes kernels of more than
 * MOST_INSTRUCTIONS instructions. Above MOST_OPTIMISED instructions LLVM does not optimise. If nat_leave_cost() exceeds
 * MOST_LEAVE_COST, registers are stored where they are written. */
enum { MOST_INSTRUCTIONS = 4000, MOST_OPTIMISED = 600, MOST_LEAVE_COST = 1000 };

/** Code of a kernel, and the parameters for which it was compiled: block shape, warp width and others. */
struct nat_kernel {
    struct emu_native_kernel code; /* `count` is 0 if the kernel could not be compiled */
    struct isa_word *text; /* [count] instructions of the kernel; owned */
    uint32_t first, count;
    unsigned width;
    uint32_t block[3], stride;
    unsigned vregs;
    bool masked;
    uint16_t *entry; /* owned */
    struct emu_native_site *site; /* owned */
    struct nat_kernel *next;
};

struct translator {
    struct emu_native native; /* the first member, because pointers to it are cast to struct translator */
    struct nat_llvm llvm;
    LLVMTargetMachineRef machine;
    LLVMOrcLLJITRef jit[2]; /* [0]: for optimised code; [1]: for code without optimisation, created when first needed */
    struct nat_kernel *kernels;
    struct nat_stats stats;
    pthread_mutex_t lock;
    unsigned names;
    uint64_t most_leave_cost;
};

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

static void unit_free(struct nat_unit *u)
{
    for (uint32_t n = 0; u->block != NULL && n < u->blocks; n++)
        free(u->block[n].in);
    free(u->block);
    free(u->block_of);
    free(u->kind);
    free(u->start);
    free(u->live);
    free(u->site);
}

/** Builds the IR of the function @name in a new module, and verifies and simplifies the IR. */
static bool build(struct translator *t, struct nat_unit *u, LLVMContextRef context, const char *name)
{
    const struct nat_llvm *l = &t->llvm;
    struct nat_build *b = &u->b;

    *b = (struct nat_build){.llvm = l, .context = context, .width = u->width,
                            .module = l->ModuleCreateWithNameInContext(name, context),
                            .b = l->CreateBuilderInContext(context), .i1 = l->IntTypeInContext(context, 1),
                            .i8 = l->IntTypeInContext(context, 8), .i16 = l->IntTypeInContext(context, 16),
                            .i32 = l->IntTypeInContext(context, 32), .i64 = l->IntTypeInContext(context, 64),
                            .f32 = l->FloatTypeInContext(context), .f64 = l->DoubleTypeInContext(context),
                            .none = l->VoidTypeInContext(context), .pointer = l->PointerTypeInContext(context, 0)};
    l->SetTarget(b->module, l->OrcLLJITGetTripleString(t->jit[0]));
    l->SetDataLayout(b->module, l->OrcLLJITGetDataLayoutStr(t->jit[0]));
    LLVMTypeRef parameters[2] = {b->pointer, b->i32};
    u->function = l->AddFunction(b->module, name, l->FunctionType(b->none, parameters, 2, 0));
    nat_wide_vectors(u, u->function);
    u->through = nat_leave_cost(u) > t->most_leave_cost;
    u->entry_builder = l->CreateBuilderInContext(context);
    bool good = nat_emit(u);
    l->DisposeBuilder(u->entry_builder);
    l->DisposeBuilder(b->b);
    if (good && getenv("LANEWISE_NATIVE_DUMP") != NULL) {
        char *text = l->PrintModuleToString(b->module);
        fprintf(stderr, "%s", text);
        l->DisposeMessage(text);
    }
    if (good) { /* an operand of a wrong type would make LLVM crash in a later pass */
        char *message = NULL;
        good = l->VerifyModule(b->module, 2, &message) == 0;
        if (!good)
            fprintf(stderr, "lanewise: native code: %s\n", message);
        l->DisposeMessage(message);
    }
    if (good) {
        LLVMPassBuilderOptionsRef options = l->CreatePassBuilderOptions();
        good = !failed(l, l->RunPasses(b->module, "function(mem2reg,early-cse,simplifycfg)", t->machine, options));
        l->DisposePassBuilderOptions(options);
    }
    if (!good)
        l->DisposeModule(b->module);
    return good;
}

/** Returns a JIT compiler, which does not optimise if @simple is true, or NULL. */
static LLVMOrcLLJITRef jit_create(const struct nat_llvm *l, bool simple)
{
    LLVMTargetMachineRef given = nat_llvm_host(l, simple ? NAT_CODEGEN_NONE : NAT_CODEGEN_DEFAULT);
    LLVMOrcLLJITRef jit = NULL;

    if (given == NULL)
        return NULL;
    LLVMOrcLLJITBuilderRef builder = l->OrcCreateLLJITBuilder();
    l->OrcLLJITBuilderSetJITTargetMachineBuilder(builder, l->OrcJITTargetMachineBuilderCreateFromTargetMachine(given));
    return failed(l, l->OrcCreateLLJIT(&jit, builder)) ? NULL : jit; /* LLJIT takes ownership of both builders */
}

/** Compiles the kernel of @u. Returns false if LLVM fails. */
static bool compile(struct translator *t, struct nat_unit *u, struct nat_kernel *k)
{
    const struct nat_llvm *l = &t->llvm;
    LLVMOrcThreadSafeContextRef safe = l->OrcCreateNewThreadSafeContext();
    uint64_t address = 0;
    char name[32];
    LLVMOrcLLJITRef *jit = &t->jit[u->count > MOST_OPTIMISED];

    if (*jit == NULL)
        *jit = jit_create(l, u->count > MOST_OPTIMISED);
    if (*jit == NULL) {
        l->OrcDisposeThreadSafeContext(safe);
        return false;
    }
    snprintf(name, sizeof name, "kernel%u", t->names++);
    bool good = build(t, u, l->OrcThreadSafeContextGetContext(safe), name);
    if (good)
        good = !failed(l, l->OrcLLJITAddLLVMIRModule(*jit, l->OrcLLJITGetMainJITDylib(*jit),
                                                     l->OrcCreateNewThreadSafeModule(u->b.module, safe))) &&
               !failed(l, l->OrcLLJITLookup(*jit, &address, name));
    l->OrcDisposeThreadSafeContext(safe);
    if (good) {
        const uintptr_t at = address;
        memcpy(&k->code.run, &at, sizeof at);
    }
    return good;
}

static void translate(struct translator *t, const struct emu_native_request *request, struct nat_kernel *k)
{
    const uint32_t columns = request->block[0] < request->width && request->width % request->block[0] == 0
                                 ? request->block[0] : request->width;
    struct nat_unit u = {.request = request, .insn = request->insn + request->kernel->first, .first = request->kernel->first,
                         .count = request->kernel->count, .width = request->width, .columns = columns,
                         .rows = request->width / columns, .masked = request->masked};

    if (u.count <= MOST_INSTRUCTIONS && nat_flow(&u) && nat_shapes(&u) && compile(t, &u, k)) {
        k->entry = calloc(u.count, sizeof *k->entry);
        for (uint32_t n = 0; k->entry != NULL && n < u.blocks; n++)
            if (u.block[n].entry != 0 && u.block[n].in->reached && u.kind[u.block[n].first] != NAT_LEAVE)
                k->entry[u.block[n].first] = u.block[n].entry;
        k->code.entry = k->entry;
        k->code.site = k->site = u.site; /* `k` owns the sites now */
        u.site = NULL;
        k->code.first = u.first;
        k->code.count = k->entry != NULL ? u.count : 0;
        k->code.windows = u.windows;
        k->code.entries = u.entries;
    }
    unit_free(&u);
}

static const struct emu_native_kernel *kernel_of(struct emu_native *native, const struct emu_native_request *request)
{
    struct translator *t = (struct translator *)native;
    const struct isa_function *kernel = request->kernel;
    struct timespec begin, end;
    struct nat_kernel *k;

    pthread_mutex_lock(&t->lock);
    for (k = t->kernels; k != NULL; k = k->next)
        if (k->first == kernel->first && k->count == kernel->count && k->width == request->width &&
            k->stride == request->stride && k->vregs == request->vregs && k->masked == request->masked &&
            memcmp(k->block, request->block, sizeof k->block) == 0 &&
            memcmp(k->text, request->object->text + kernel->first, kernel->count * sizeof *k->text) == 0)
            break;
    if (k == NULL && (k = calloc(1, sizeof *k)) != NULL) {
        k->text = malloc(kernel->count * sizeof *k->text);
        if (k->text == NULL) {
            free(k);
            pthread_mutex_unlock(&t->lock);
            return NULL;
        }
        memcpy(k->text, request->object->text + kernel->first, kernel->count * sizeof *k->text);
        k->first = kernel->first;
        k->count = kernel->count;
        k->width = request->width;
        k->stride = request->stride;
        k->vregs = request->vregs;
        k->masked = request->masked;
        memcpy(k->block, request->block, sizeof k->block);
        k->next = t->kernels;
        t->kernels = k;
        clock_gettime(CLOCK_MONOTONIC, &begin);
        translate(t, request, k);
        clock_gettime(CLOCK_MONOTONIC, &end);
        t->stats.seconds += (double)(end.tv_sec - begin.tv_sec) + 1e-9 * (double)(end.tv_nsec - begin.tv_nsec);
        t->stats.kernels += k->code.count != 0;
        t->stats.refused += k->code.count == 0;
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
    const struct nat_llvm *l = &t->llvm;
    t->machine = nat_llvm_host(l, NAT_CODEGEN_DEFAULT);
    t->jit[0] = t->machine != NULL ? jit_create(l, false) : NULL;
    t->native.kernel = kernel_of;
    t->native.masked_after = 64;
    t->most_leave_cost = MOST_LEAVE_COST;
    pthread_mutex_init(&t->lock, NULL);
    if (t->jit[0] == NULL) {
        nat_destroy(&t->native);
        return LW_FAIL(err, LW_EUNSUPP, "LLVM cannot generate code for this processor");
    }
    *out = &t->native;
    return LW_OK;
}

void nat_destroy(struct emu_native *native)
{
    struct translator *t = (struct translator *)native;

    if (t == NULL)
        return;
    for (unsigned i = 0; i < 2; i++)
        if (t->jit[i] != NULL)
            (void)failed(&t->llvm, t->llvm.OrcDisposeLLJIT(t->jit[i]));
    if (t->machine != NULL)
        t->llvm.DisposeTargetMachine(t->machine);
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

void nat_get_stats(const struct emu_native *native, struct nat_stats *out)
{
    *out = ((const struct translator *)native)->stats;
}
