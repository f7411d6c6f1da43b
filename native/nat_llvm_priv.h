/* SPDX-License-Identifier: Apache-2.0 */
/*
 * LLVM's C interface. The library is loaded at run time, so that programs that compile no kernel need not load it. The
 * types and functions are those of llvm-c/ in LLVM 19 (Debian: libllvm19). Each function is a member of struct nat_llvm,
 * without its prefix `LLVM`.
 */
#ifndef NAT_LLVM_PRIV_H
#define NAT_LLVM_PRIV_H

#include <stddef.h>

#include "base/lw.h"

typedef struct nat_opaque_context *LLVMContextRef;
typedef struct nat_opaque_module *LLVMModuleRef;
typedef struct nat_opaque_type *LLVMTypeRef;
typedef struct nat_opaque_value *LLVMValueRef;
typedef struct nat_opaque_block *LLVMBasicBlockRef;
typedef struct nat_opaque_builder *LLVMBuilderRef;
typedef struct nat_opaque_attribute *LLVMAttributeRef;
typedef struct nat_opaque_target *LLVMTargetRef;
typedef struct nat_opaque_machine *LLVMTargetMachineRef;
typedef struct nat_opaque_pass_options *LLVMPassBuilderOptionsRef;
typedef struct nat_opaque_error *LLVMErrorRef;
typedef struct nat_opaque_layout *LLVMTargetDataRef;
typedef struct nat_opaque_buffer *LLVMMemoryBufferRef;
typedef struct nat_opaque_metadata *LLVMMetadataRef;
typedef struct nat_opaque_debug_builder *LLVMDIBuilderRef;
typedef struct nat_opaque_jit *LLVMOrcLLJITRef;
typedef struct nat_opaque_jit_builder *LLVMOrcLLJITBuilderRef;
typedef struct nat_opaque_dylib *LLVMOrcJITDylibRef;

/* Values of llvm-c's enumerations that we use. */
enum { NAT_INT_EQ = 32, NAT_INT_NE, NAT_INT_UGT, NAT_INT_UGE, NAT_INT_ULT, NAT_INT_ULE, NAT_INT_SGT, NAT_INT_SGE,
       NAT_INT_SLT, NAT_INT_SLE };
enum { NAT_REAL_OEQ = 1, NAT_REAL_OGT, NAT_REAL_OGE, NAT_REAL_OLT, NAT_REAL_OLE, NAT_REAL_ONE, NAT_REAL_ORD,
       NAT_REAL_UNO, NAT_REAL_UEQ, NAT_REAL_UGT, NAT_REAL_UGE, NAT_REAL_ULT, NAT_REAL_ULE, NAT_REAL_UNE };
enum { NAT_CODEGEN_NONE = 0, NAT_CODEGEN_DEFAULT = 2, NAT_RELOC_DEFAULT = 0, NAT_RELOC_PIC = 2, NAT_MODEL_SMALL = 3,
       NAT_LINKAGE_INTERNAL = 8, NAT_ASSEMBLY_FILE = 0, NAT_OBJECT_FILE = 1, NAT_CONVENTION_PRESERVE_MOST = 14,
       NAT_RMW_ADD = 1, NAT_RMW_AND = 3, NAT_RMW_OR = 5, NAT_RMW_XOR, NAT_RMW_MAX, NAT_RMW_MIN, NAT_RMW_UMAX, NAT_RMW_UMIN,
       NAT_ORDER_SEQUENTIAL = 7, NAT_FLAG_WARNING = 1, NAT_LANGUAGE_C99 = 11, NAT_LINE_TABLES_ONLY = 2 };

/* F(result, name without its prefix, (parameters)) */
#define NAT_LLVM_FUNCTIONS(F)                                                                                   \
    F(LLVMContextRef, ContextCreate, (void))                                                                    \
    F(void, ContextDispose, (LLVMContextRef))                                                                   \
    F(void, DisposeMessage, (char *))                                                                           \
    F(LLVMModuleRef, ModuleCreateWithNameInContext, (const char *, LLVMContextRef))                             \
    F(void, DisposeModule, (LLVMModuleRef))                                                                     \
    F(void, SetTarget, (LLVMModuleRef, const char *))                                                           \
    F(void, SetDataLayout, (LLVMModuleRef, const char *))                                                       \
    F(char *, PrintModuleToString, (LLVMModuleRef))                                                             \
    F(LLVMTypeRef, IntTypeInContext, (LLVMContextRef, unsigned))                                                \
    F(LLVMTypeRef, FloatTypeInContext, (LLVMContextRef))                                                        \
    F(LLVMTypeRef, DoubleTypeInContext, (LLVMContextRef))                                                       \
    F(LLVMTypeRef, VoidTypeInContext, (LLVMContextRef))                                                         \
    F(LLVMTypeRef, PointerTypeInContext, (LLVMContextRef, unsigned))                                            \
    F(LLVMTypeRef, VectorType, (LLVMTypeRef, unsigned))                                                         \
    F(LLVMTypeRef, FunctionType, (LLVMTypeRef, LLVMTypeRef *, unsigned, int))                                   \
    F(LLVMTypeRef, TypeOf, (LLVMValueRef))                                                                      \
    F(LLVMValueRef, AddFunction, (LLVMModuleRef, const char *, LLVMTypeRef))                                    \
    F(void, SetLinkage, (LLVMValueRef, int))                                                                    \
    F(void, SetFunctionCallConv, (LLVMValueRef, unsigned))                                                      \
    F(void, SetInstructionCallConv, (LLVMValueRef, unsigned))                                                   \
    F(unsigned, GetMDKindIDInContext, (LLVMContextRef, const char *, unsigned))                                 \
    F(LLVMValueRef, MDStringInContext, (LLVMContextRef, const char *, unsigned))                                \
    F(LLVMValueRef, MDNodeInContext, (LLVMContextRef, LLVMValueRef *, unsigned))                                \
    F(void, SetMetadata, (LLVMValueRef, unsigned, LLVMValueRef))                                                \
    F(LLVMValueRef, GetParam, (LLVMValueRef, unsigned))                                                         \
    F(LLVMBasicBlockRef, AppendBasicBlockInContext, (LLVMContextRef, LLVMValueRef, const char *))               \
    F(LLVMBuilderRef, CreateBuilderInContext, (LLVMContextRef))                                                 \
    F(void, DisposeBuilder, (LLVMBuilderRef))                                                                   \
    F(void, PositionBuilderAtEnd, (LLVMBuilderRef, LLVMBasicBlockRef))                                          \
    F(LLVMBasicBlockRef, GetInsertBlock, (LLVMBuilderRef))                                                      \
    F(LLVMValueRef, ConstInt, (LLVMTypeRef, unsigned long long, int))                                           \
    F(LLVMValueRef, ConstReal, (LLVMTypeRef, double))                                                           \
    F(LLVMValueRef, ConstVector, (LLVMValueRef *, unsigned))                                                    \
    F(LLVMValueRef, ConstNull, (LLVMTypeRef))                                                                   \
    F(LLVMValueRef, GetUndef, (LLVMTypeRef))                                                                    \
    F(LLVMValueRef, IsAConstantInt, (LLVMValueRef))                                                             \
    F(unsigned long long, ConstIntGetZExtValue, (LLVMValueRef))                                                 \
    F(LLVMValueRef, BuildAdd, (LLVMBuilderRef, LLVMValueRef, LLVMValueRef, const char *))                       \
    F(LLVMValueRef, BuildSub, (LLVMBuilderRef, LLVMValueRef, LLVMValueRef, const char *))                       \
    F(LLVMValueRef, BuildMul, (LLVMBuilderRef, LLVMValueRef, LLVMValueRef, const char *))                       \
    F(LLVMValueRef, BuildUDiv, (LLVMBuilderRef, LLVMValueRef, LLVMValueRef, const char *))                      \
    F(LLVMValueRef, BuildSDiv, (LLVMBuilderRef, LLVMValueRef, LLVMValueRef, const char *))                      \
    F(LLVMValueRef, BuildURem, (LLVMBuilderRef, LLVMValueRef, LLVMValueRef, const char *))                      \
    F(LLVMValueRef, BuildSRem, (LLVMBuilderRef, LLVMValueRef, LLVMValueRef, const char *))                      \
    F(LLVMValueRef, BuildFAdd, (LLVMBuilderRef, LLVMValueRef, LLVMValueRef, const char *))                      \
    F(LLVMValueRef, BuildFSub, (LLVMBuilderRef, LLVMValueRef, LLVMValueRef, const char *))                      \
    F(LLVMValueRef, BuildFMul, (LLVMBuilderRef, LLVMValueRef, LLVMValueRef, const char *))                      \
    F(LLVMValueRef, BuildFDiv, (LLVMBuilderRef, LLVMValueRef, LLVMValueRef, const char *))                      \
    F(LLVMValueRef, BuildAnd, (LLVMBuilderRef, LLVMValueRef, LLVMValueRef, const char *))                       \
    F(LLVMValueRef, BuildOr, (LLVMBuilderRef, LLVMValueRef, LLVMValueRef, const char *))                        \
    F(LLVMValueRef, BuildXor, (LLVMBuilderRef, LLVMValueRef, LLVMValueRef, const char *))                       \
    F(LLVMValueRef, BuildShl, (LLVMBuilderRef, LLVMValueRef, LLVMValueRef, const char *))                       \
    F(LLVMValueRef, BuildLShr, (LLVMBuilderRef, LLVMValueRef, LLVMValueRef, const char *))                      \
    F(LLVMValueRef, BuildAShr, (LLVMBuilderRef, LLVMValueRef, LLVMValueRef, const char *))                      \
    F(LLVMValueRef, BuildNot, (LLVMBuilderRef, LLVMValueRef, const char *))                                     \
    F(LLVMValueRef, BuildICmp, (LLVMBuilderRef, int, LLVMValueRef, LLVMValueRef, const char *))                 \
    F(LLVMValueRef, BuildFCmp, (LLVMBuilderRef, int, LLVMValueRef, LLVMValueRef, const char *))                 \
    F(LLVMValueRef, BuildSelect, (LLVMBuilderRef, LLVMValueRef, LLVMValueRef, LLVMValueRef, const char *))      \
    F(LLVMValueRef, BuildZExt, (LLVMBuilderRef, LLVMValueRef, LLVMTypeRef, const char *))                       \
    F(LLVMValueRef, BuildSExt, (LLVMBuilderRef, LLVMValueRef, LLVMTypeRef, const char *))                       \
    F(LLVMValueRef, BuildTrunc, (LLVMBuilderRef, LLVMValueRef, LLVMTypeRef, const char *))                      \
    F(LLVMValueRef, BuildBitCast, (LLVMBuilderRef, LLVMValueRef, LLVMTypeRef, const char *))                    \
    F(LLVMValueRef, BuildUIToFP, (LLVMBuilderRef, LLVMValueRef, LLVMTypeRef, const char *))                     \
    F(LLVMValueRef, BuildSIToFP, (LLVMBuilderRef, LLVMValueRef, LLVMTypeRef, const char *))                     \
    F(LLVMValueRef, BuildFPToSI, (LLVMBuilderRef, LLVMValueRef, LLVMTypeRef, const char *))                     \
    F(LLVMValueRef, BuildFPToUI, (LLVMBuilderRef, LLVMValueRef, LLVMTypeRef, const char *))                     \
    F(LLVMValueRef, BuildFPExt, (LLVMBuilderRef, LLVMValueRef, LLVMTypeRef, const char *))                      \
    F(LLVMValueRef, BuildFPTrunc, (LLVMBuilderRef, LLVMValueRef, LLVMTypeRef, const char *))                    \
    F(LLVMValueRef, BuildAlloca, (LLVMBuilderRef, LLVMTypeRef, const char *))                                   \
    F(LLVMValueRef, BuildLoad2, (LLVMBuilderRef, LLVMTypeRef, LLVMValueRef, const char *))                      \
    F(LLVMValueRef, BuildStore, (LLVMBuilderRef, LLVMValueRef, LLVMValueRef))                                   \
    F(LLVMValueRef, BuildAtomicRMW, (LLVMBuilderRef, int, LLVMValueRef, LLVMValueRef, int, int))                \
    F(void, SetAlignment, (LLVMValueRef, unsigned))                                                             \
    F(LLVMValueRef, BuildGEP2, (LLVMBuilderRef, LLVMTypeRef, LLVMValueRef, LLVMValueRef *, unsigned, const char *)) \
    F(LLVMValueRef, BuildExtractElement, (LLVMBuilderRef, LLVMValueRef, LLVMValueRef, const char *))            \
    F(LLVMValueRef, BuildInsertElement, (LLVMBuilderRef, LLVMValueRef, LLVMValueRef, LLVMValueRef, const char *)) \
    F(LLVMValueRef, BuildShuffleVector, (LLVMBuilderRef, LLVMValueRef, LLVMValueRef, LLVMValueRef, const char *)) \
    F(LLVMValueRef, BuildCall2, (LLVMBuilderRef, LLVMTypeRef, LLVMValueRef, LLVMValueRef *, unsigned, const char *)) \
    F(LLVMValueRef, BuildBr, (LLVMBuilderRef, LLVMBasicBlockRef))                                               \
    F(LLVMValueRef, BuildCondBr, (LLVMBuilderRef, LLVMValueRef, LLVMBasicBlockRef, LLVMBasicBlockRef))          \
    F(LLVMValueRef, BuildPhi, (LLVMBuilderRef, LLVMTypeRef, const char *))                                      \
    F(void, AddIncoming, (LLVMValueRef, LLVMValueRef *, LLVMBasicBlockRef *, unsigned))                         \
    F(LLVMValueRef, BuildSwitch, (LLVMBuilderRef, LLVMValueRef, LLVMBasicBlockRef, unsigned))                   \
    F(void, AddCase, (LLVMValueRef, LLVMValueRef, LLVMBasicBlockRef))                                           \
    F(LLVMValueRef, BuildRet, (LLVMBuilderRef, LLVMValueRef))                                                   \
    F(LLVMValueRef, BuildRetVoid, (LLVMBuilderRef))                                                             \
    F(LLVMValueRef, BuildUnreachable, (LLVMBuilderRef))                                                         \
    F(unsigned, LookupIntrinsicID, (const char *, size_t))                                                      \
    F(LLVMValueRef, GetIntrinsicDeclaration, (LLVMModuleRef, unsigned, LLVMTypeRef *, size_t))                  \
    F(LLVMTypeRef, IntrinsicGetType, (LLVMContextRef, unsigned, LLVMTypeRef *, size_t))                         \
    F(LLVMAttributeRef, CreateStringAttribute, (LLVMContextRef, const char *, unsigned, const char *, unsigned)) \
    F(void, AddAttributeAtIndex, (LLVMValueRef, unsigned, LLVMAttributeRef))                                    \
    F(int, VerifyModule, (LLVMModuleRef, int, char **))                                                         \
    F(char *, GetHostCPUName, (void))                                                                           \
    F(char *, GetHostCPUFeatures, (void))                                                                       \
    F(char *, GetDefaultTargetTriple, (void))                                                                   \
    F(int, GetTargetFromTriple, (const char *, LLVMTargetRef *, char **))                                       \
    F(LLVMTargetMachineRef, CreateTargetMachine, (LLVMTargetRef, const char *, const char *, const char *, int, int, int)) \
    F(void, DisposeTargetMachine, (LLVMTargetMachineRef))                                                       \
    F(LLVMTargetDataRef, CreateTargetDataLayout, (LLVMTargetMachineRef))                                        \
    F(char *, CopyStringRepOfTargetData, (LLVMTargetDataRef))                                                   \
    F(void, DisposeTargetData, (LLVMTargetDataRef))                                                             \
    F(char *, GetTargetMachineTriple, (LLVMTargetMachineRef))                                                   \
    F(int, TargetMachineEmitToMemoryBuffer, (LLVMTargetMachineRef, LLVMModuleRef, int, char **, LLVMMemoryBufferRef *))\
    F(const char *, GetBufferStart, (LLVMMemoryBufferRef))                                                      \
    F(size_t, GetBufferSize, (LLVMMemoryBufferRef))                                                             \
    F(void, DisposeMemoryBuffer, (LLVMMemoryBufferRef))                                                         \
    F(LLVMMemoryBufferRef, CreateMemoryBufferWithMemoryRangeCopy, (const char *, size_t, const char *))         \
    F(LLVMPassBuilderOptionsRef, CreatePassBuilderOptions, (void))                                              \
    F(void, DisposePassBuilderOptions, (LLVMPassBuilderOptionsRef))                                             \
    F(LLVMErrorRef, RunPasses, (LLVMModuleRef, const char *, LLVMTargetMachineRef, LLVMPassBuilderOptionsRef))  \
    F(char *, GetErrorMessage, (LLVMErrorRef))                                                                  \
    F(void, DisposeErrorMessage, (char *))                                                                      \
    F(LLVMModuleRef, CloneModule, (LLVMModuleRef))                                                             \
    F(LLVMMetadataRef, ValueAsMetadata, (LLVMValueRef))                                                        \
    F(void, AddModuleFlag, (LLVMModuleRef, int, const char *, size_t, LLVMMetadataRef))                        \
    F(LLVMDIBuilderRef, CreateDIBuilder, (LLVMModuleRef))                                                      \
    F(void, DisposeDIBuilder, (LLVMDIBuilderRef))                                                              \
    F(void, DIBuilderFinalize, (LLVMDIBuilderRef))                                                             \
    F(LLVMMetadataRef, DIBuilderCreateFile, (LLVMDIBuilderRef, const char *, size_t, const char *, size_t))    \
    F(LLVMMetadataRef, DIBuilderCreateCompileUnit, (LLVMDIBuilderRef, int, LLVMMetadataRef, const char *, size_t, int, const char *,\
      size_t, unsigned, const char *, size_t, int, unsigned, int, int, const char *, size_t, const char *, size_t))\
    F(LLVMMetadataRef, DIBuilderCreateSubroutineType, (LLVMDIBuilderRef, LLVMMetadataRef, LLVMMetadataRef *, unsigned, int))\
    F(LLVMMetadataRef, DIBuilderCreateFunction, (LLVMDIBuilderRef, LLVMMetadataRef, const char *, size_t, const char *, size_t,\
      LLVMMetadataRef, unsigned, LLVMMetadataRef, int, int, unsigned, int, int))                               \
    F(LLVMMetadataRef, DIBuilderCreateDebugLocation, (LLVMContextRef, unsigned, unsigned, LLVMMetadataRef, LLVMMetadataRef))\
    F(void, SetSubprogram, (LLVMValueRef, LLVMMetadataRef))                                                    \
    F(void, SetCurrentDebugLocation2, (LLVMBuilderRef, LLVMMetadataRef))                                       \
    F(LLVMMetadataRef, GetCurrentDebugLocation2, (LLVMBuilderRef))                                             \
    F(LLVMErrorRef, OrcCreateLLJIT, (LLVMOrcLLJITRef *, LLVMOrcLLJITBuilderRef))                                \
    F(LLVMErrorRef, OrcDisposeLLJIT, (LLVMOrcLLJITRef))                                                         \
    F(LLVMOrcJITDylibRef, OrcLLJITGetMainJITDylib, (LLVMOrcLLJITRef))                                           \
    F(LLVMErrorRef, OrcLLJITAddObjectFile, (LLVMOrcLLJITRef, LLVMOrcJITDylibRef, LLVMMemoryBufferRef))          \
    F(LLVMErrorRef, OrcLLJITLookup, (LLVMOrcLLJITRef, uint64_t *, const char *))

struct nat_llvm {
    void *library;
#define NAT_MEMBER(result, name, parameters) result(*name) parameters;
    NAT_LLVM_FUNCTIONS(NAT_MEMBER)
#undef NAT_MEMBER
};

/** Loads the library and sets up code generation for this host. Errors: LW_EUNSUPP if LLVM is not installed, or is not
 *  version 19. */
enum lw_status nat_llvm_load(struct nat_llvm *llvm, struct lw_error *err) LW_MUST_CHECK;
void nat_llvm_unload(struct nat_llvm *llvm);
/** Returns a target machine for this host's processor, or NULL. @level: NAT_CODEGEN_... */
LLVMTargetMachineRef nat_llvm_host(const struct nat_llvm *llvm, int level);

#endif
