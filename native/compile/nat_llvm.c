/* SPDX-License-Identifier: Apache-2.0 */
/* Loads LLVM at run time. */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include "native/nat_llvm_priv.h"

#if defined __x86_64__
#define TARGET "X86"
#elif defined __aarch64__
#define TARGET "AArch64"
#endif

enum lw_status nat_llvm_load(struct nat_llvm *llvm, struct lw_error *err)
{
    static const char *const names[] = {"libLLVM.so.19.1", "libLLVM-19.so.1"};
#ifdef TARGET
    static const char *const setup[] = {"LLVMInitialize" TARGET "TargetInfo", "LLVMInitialize" TARGET "Target",
                                        "LLVMInitialize" TARGET "TargetMC", "LLVMInitialize" TARGET "AsmPrinter"};
#else
    static const char *const setup[] = {"LLVMInitializeThisHostIsNotKnown"};
#endif
    void *symbol;

    memset(llvm, 0, sizeof *llvm);
    for (size_t i = 0; i < LW_COUNT_OF(names) && llvm->library == NULL; i++)
        llvm->library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
    if (llvm->library == NULL)
        return LW_FAIL(err, LW_EUNSUPP, "native code needs LLVM 19: install the Debian package libllvm19");
#define LOAD(result, name, parameters)                                                       \
    symbol = dlsym(llvm->library, "LLVM" #name);                                             \
    if (symbol == NULL)                                                                      \
        goto missing;                                                                        \
    memcpy(&llvm->name, &symbol, sizeof symbol);
    NAT_LLVM_FUNCTIONS(LOAD)
#undef LOAD
    for (size_t i = 0; i < LW_COUNT_OF(setup); i++) {
        void (*call)(void);
        symbol = dlsym(llvm->library, setup[i]);
        if (symbol == NULL)
            goto missing;
        memcpy(&call, &symbol, sizeof symbol);
        call();
    }
    return LW_OK;
missing:
    nat_llvm_unload(llvm);
    return LW_FAIL(err, LW_EUNSUPP, "the LLVM library found is not version 19 for this processor: install the Debian package libllvm19");
}

void nat_llvm_unload(struct nat_llvm *llvm)
{
    /* The library is not closed, because its destructors must not run before the program's end. */
    memset(llvm, 0, sizeof *llvm);
}

LLVMTargetMachineRef nat_llvm_host(const struct nat_llvm *llvm, int level)
{
    char *triple = llvm->GetDefaultTargetTriple(), *cpu = llvm->GetHostCPUName(), *features = llvm->GetHostCPUFeatures();
    char *message = NULL;
    LLVMTargetRef target;
    LLVMTargetMachineRef machine = NULL;

    if (llvm->GetTargetFromTriple(triple, &target, &message) == 0)
        machine = llvm->CreateTargetMachine(target, triple, cpu, features, level, NAT_RELOC_PIC, NAT_MODEL_SMALL);
    else
        llvm->DisposeMessage(message);
    llvm->DisposeMessage(triple);
    llvm->DisposeMessage(cpu);
    llvm->DisposeMessage(features);
    return machine;
}
