/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Debug locations, for listings. In the IR of a kernel whose code is listed, each instruction of LLVM has a debug location: its line
 * is 1 + the index of the kernel's instruction for which it was emitted. So in the assembly that LLVM writes, a directive `.loc`
 * precedes the host code of an instruction.
 */
#include <string.h>

#include "native/nat_priv.h"

void nat_lines_begin(struct nat_unit *u)
{
    static const char name[] = "kernel", flag[] = "Debug Info Version";
    const struct nat_llvm *l = u->b.llvm;
    const LLVMDIBuilderRef d = l->CreateDIBuilder(u->b.module);
    const LLVMMetadataRef file = l->DIBuilderCreateFile(d, name, sizeof name - 1, "", 0);

    (void)l->DIBuilderCreateCompileUnit(d, NAT_LANGUAGE_C99, file, "", 0, 1, "", 0, 0, "", 0, NAT_LINE_TABLES_ONLY, 0, 0, 0, "", 0, "", 0);
    u->lines = l->DIBuilderCreateFunction(d, file, name, sizeof name - 1, "", 0, file, 0,
                                          l->DIBuilderCreateSubroutineType(d, file, NULL, 0, 0), 0, 1, 0, 0, 1);
    l->SetSubprogram(u->function, u->lines);
    l->AddModuleFlag(u->b.module, NAT_FLAG_WARNING, flag, sizeof flag - 1, l->ValueAsMetadata(l->ConstInt(u->b.i32, 3, 0)));
    l->DIBuilderFinalize(d);
    l->DisposeDIBuilder(d);
}

void nat_line(struct nat_unit *u, uint32_t i)
{
    const struct nat_llvm *l = u->b.llvm;

    if (u->lines != NULL)
        l->SetCurrentDebugLocation2(u->b.b, l->DIBuilderCreateDebugLocation(u->b.context, i + 1, 0, u->lines, NULL));
}

void nat_no_line(struct nat_unit *u)
{
    const struct nat_llvm *l = u->b.llvm;

    if (u->lines != NULL)
        l->SetCurrentDebugLocation2(u->b.b, l->DIBuilderCreateDebugLocation(u->b.context, 0, 0, u->lines, NULL));
}

char *nat_assembly(struct nat_unit *u, LLVMTargetMachineRef machine)
{
    const struct nat_llvm *l = u->b.llvm;
    const LLVMModuleRef copy = l->CloneModule(u->b.module); /* code generation changes the module */
    LLVMMemoryBufferRef text;
    char *message = NULL, *out = NULL;

    if (l->TargetMachineEmitToMemoryBuffer(machine, copy, NAT_ASSEMBLY_FILE, &message, &text) == 0) {
        out = strndup(l->GetBufferStart(text), l->GetBufferSize(text));
        l->DisposeMemoryBuffer(text);
    } else {
        l->DisposeMessage(message);
    }
    l->DisposeModule(copy);
    return out;
}
