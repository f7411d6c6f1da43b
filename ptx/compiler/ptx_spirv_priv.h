/* SPDX-License-Identifier: Apache-2.0 */
/* Translation of SPIR-V modules: llvm-spirv makes LLVM IR for SPIR of them, which is rewritten for PTX. */
#ifndef PTX_SPIRV_PRIV_H
#define PTX_SPIRV_PRIV_H

#include "ptx/compiler/ptx_compile_priv.h"

/** Returns the address space in LLVM IR for PTX of address space @space in LLVM IR for SPIR. */
static inline unsigned ptx_spirv_space(unsigned space)
{
    enum { GLOBAL = 1, CONSTANT = 2, LOCAL = 3, PTX_CONSTANT = 4 };

    /* 5 and 6 are parts of global memory, in extensions; all others are generic on PTX */
    return space == GLOBAL || space == LOCAL ? space : space == CONSTANT ? PTX_CONSTANT : space == 5 || space == 6 ? GLOBAL : 0;
}

enum { PTX_SPIRV_DEBUG_GLOBAL = 5 };
/** Returns the address space in debug information for PTX of address space @space of SPIR, or 0 for generic pointers. */
static inline unsigned ptx_spirv_debug_space(unsigned space)
{
    enum { GLOBAL = 1, CONSTANT = 2, LOCAL = 3, DEBUG_CONSTANT = 4, DEBUG_LOCAL = 8 };

    return space == GLOBAL     ? PTX_SPIRV_DEBUG_GLOBAL
           : space == CONSTANT ? DEBUG_CONSTANT
           : space == LOCAL    ? DEBUG_LOCAL
                               : 0;
}

/** Rewrites LLVM IR for SPIR, a text with opaque pointers, to LLVM IR for PTX. @name: of the module, for messages. */
enum lw_status ptx_spirv_rewrite(const char *name, const char *ir, struct lw_buffer *out, struct lw_error *err) LW_MUST_CHECK;

#endif
