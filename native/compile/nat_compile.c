/* SPDX-License-Identifier: Apache-2.0 */
/* Compiles a kernel to an object file in memory. Runs in the compiler process (nat_process.c). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "native/nat_process_priv.h"

/* Limits that keep the time to compile short (docs/evidence/performance.md has these times). The interpreter executes kernels of
 * more than MOST_INSTRUCTIONS instructions. In kernels of more than MOST_OPTIMISED instructions LLVM does not optimise. */
enum { MOST_INSTRUCTIONS = 4000, MOST_OPTIMISED = 600 };

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
    nat_regions_free(u);
}

/** Adds the function of the kernel to the module of @u, and verifies and simplifies the IR. Returns false if the kernel cannot
 *  be compiled. */
static bool build(struct nat_unit *u, LLVMTargetMachineRef machine)
{
    struct nat_build *b = &u->b;
    const struct nat_llvm *l = b->llvm;
    LLVMTargetDataRef layout = l->CreateTargetDataLayout(machine);
    char *layout_text = l->CopyStringRepOfTargetData(layout), *triple = l->GetTargetMachineTriple(machine);
    LLVMTypeRef parameters[2] = {b->pointer, b->i32};
    char name[NAT_NAME_BYTES];

    l->SetTarget(b->module, triple);
    l->SetDataLayout(b->module, layout_text);
    l->DisposeMessage(triple);
    l->DisposeMessage(layout_text);
    l->DisposeTargetData(layout);
    nat_name(u->job, name);
    u->function = l->AddFunction(b->module, name, l->FunctionType(b->none, parameters, 2, 0));
    nat_wide_vectors(u, u->function);
    if (u->job->listed)
        nat_lines_begin(u);
    u->through = nat_leave_cost(u) > u->job->most_leave_cost;
    u->entry_builder = l->CreateBuilderInContext(b->context);
    bool good = (u->through || nat_regions(u)) && nat_emit(u);
    l->DisposeBuilder(u->entry_builder);
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
        LLVMErrorRef error = l->RunPasses(b->module, "function(mem2reg,early-cse,simplifycfg)", machine, options);
        l->DisposePassBuilderOptions(options);
        good = error == NULL;
        if (!good)
            l->DisposeErrorMessage(l->GetErrorMessage(error));
    }
    return good;
}

/** Compiles the IR of @u to the object file @out->object. Returns false if LLVM fails or memory is short. */
static bool generate(struct nat_unit *u, LLVMTargetMachineRef machine, struct nat_code *out)
{
    const struct nat_llvm *l = u->b.llvm;
    LLVMMemoryBufferRef object;
    char *message = NULL;

    if (u->job->listed) {
        out->assembly = nat_assembly(u, machine);
        out->size.assembly = out->assembly != NULL ? strlen(out->assembly) + 1 : 0;
    }
    if (l->TargetMachineEmitToMemoryBuffer(machine, u->b.module, NAT_OBJECT_FILE, &message, &object) != 0) {
        fprintf(stderr, "lanewise: native code: %s\n", message);
        l->DisposeMessage(message);
        return false;
    }
    out->size.object = l->GetBufferSize(object);
    out->object = malloc(out->size.object);
    if (out->object != NULL)
        memcpy(out->object, l->GetBufferStart(object), out->size.object);
    l->DisposeMemoryBuffer(object);
    return out->object != NULL;
}

/** Compiles the kernel of @u, whose control flow and shapes are known. */
static bool compile(struct nat_compiler *c, struct nat_unit *u, struct nat_code *out)
{
    const struct nat_llvm *l = c->llvm;
    const bool simple = u->count > MOST_OPTIMISED;

    if (c->machine[simple] == NULL)
        c->machine[simple] = nat_llvm_host(l, simple ? NAT_CODEGEN_NONE : NAT_CODEGEN_DEFAULT);
    if (c->machine[simple] == NULL)
        return false;
    LLVMContextRef context = l->ContextCreate();
    u->b = (struct nat_build){.llvm = l, .context = context, .width = u->width,
                              .module = l->ModuleCreateWithNameInContext("kernel", context),
                              .b = l->CreateBuilderInContext(context), .i1 = l->IntTypeInContext(context, 1),
                              .i8 = l->IntTypeInContext(context, 8), .i16 = l->IntTypeInContext(context, 16),
                              .i32 = l->IntTypeInContext(context, 32), .i64 = l->IntTypeInContext(context, 64),
                              .f32 = l->FloatTypeInContext(context), .f64 = l->DoubleTypeInContext(context),
                              .none = l->VoidTypeInContext(context), .pointer = l->PointerTypeInContext(context, 0)};
    const bool good = build(u, c->machine[simple]) && generate(u, c->machine[simple], out);
    l->DisposeBuilder(u->b.b);
    l->DisposeModule(u->b.module);
    l->ContextDispose(context);
    return good;
}

bool nat_compile(struct nat_compiler *c, const struct nat_job *job, const struct isa_insn *insn, struct nat_code *out)
{
    const uint32_t columns = job->block[0] < job->width && job->width % job->block[0] == 0 ? job->block[0] : job->width;
    struct nat_unit u = {.job = job, .insn = insn, .first = job->first, .count = job->count, .width = job->width,
                         .columns = columns, .rows = job->width / columns, .masked = job->masked};

#ifdef __x86_64__
    u.scatters = __builtin_cpu_supports("avx512f");
#endif
    *out = (struct nat_code){.entry = NULL};
    bool good = u.count <= MOST_INSTRUCTIONS && nat_flow(&u) && nat_shapes(&u) && compile(c, &u, out);
    if (good)
        out->entry = calloc(u.count, sizeof *out->entry);
    good = good && out->entry != NULL;
    for (uint32_t n = 0; good && n < u.blocks; n++)
        if (u.block[n].entry != 0 && u.block[n].in->reached && u.kind[u.block[n].first] != NAT_LEAVE)
            out->entry[u.block[n].first] = u.block[n].entry;
    out->site = u.site; /* `out` owns the sites now */
    u.site = NULL;
    out->size.sites = u.sites;
    out->size.windows = u.windows;
    out->size.entries = u.entries;
    out->size.writes = u.writes || u.through;
    unit_free(&u);
    if (!good)
        nat_code_free(out);
    return good;
}

void nat_code_free(struct nat_code *code)
{
    free(code->entry);
    free(code->site);
    free(code->object);
    free(code->assembly);
    *code = (struct nat_code){.entry = NULL};
}

bool nat_code_is_valid(const struct nat_code *code, const struct nat_job *job)
{
    bool good = code->size.sites != 0 && code->size.writes <= 1;

    for (uint32_t i = 0; i < job->count; i++)
        good = good && code->entry[i] <= code->size.entries;
    for (uint32_t i = 1; good && i < code->size.sites; i++) /* site 0 has no instruction */
        good = code->site[i].next - job->first <= job->count && code->site[i].parks <= code->size.entries;
    return good;
}
