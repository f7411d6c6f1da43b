/* SPDX-License-Identifier: Apache-2.0 */
/* Typed LLVM values, and a compiler of the expressions of isa/insns.def to such values. */
#ifndef NAT_BUILD_PRIV_H
#define NAT_BUILD_PRIV_H

#include "native/nat_llvm_priv.h"

/** C types of the table's expressions. */
enum nat_type { NAT_BOOL, NAT_S32, NAT_U32, NAT_S64, NAT_U64, NAT_F32, NAT_F64 };

/** An LLVM value with its C type: either one value for all lanes, or a vector with a value for each lane. */
struct nat_value {
    LLVMValueRef v;
    uint8_t type; /* enum nat_type */
    bool vector;
};

struct nat_build {
    const struct nat_llvm *llvm;
    LLVMContextRef context;
    LLVMModuleRef module;
    LLVMBuilderRef b;
    unsigned width; /* number of elements of a vector, one for each lane of the warp */
    LLVMTypeRef i1, i8, i16, i32, i64, f32, f64, none, pointer;
};

static inline bool nat_is_float(unsigned type)
{
    return type >= NAT_F32;
}
static inline bool nat_is_signed(unsigned type)
{
    return type == NAT_S32 || type == NAT_S64;
}
static inline bool nat_is_wide(unsigned type)
{
    return type == NAT_S64 || type == NAT_U64 || type == NAT_F64;
}
LLVMTypeRef nat_type_of(const struct nat_build *b, unsigned type, bool vector);
/** Returns an integer constant. */
struct nat_value nat_constant(const struct nat_build *b, unsigned type, uint64_t value);
/** Tells LLVM that branch @branch almost always continues at its first target. */
void nat_likely(const struct nat_build *b, LLVMValueRef branch);
/** Tells LLVM that nothing reads soon what @store stores, so that it need not stay in the host's cache. */
void nat_streams(const struct nat_build *b, LLVMValueRef store);
/** Returns a vector in which every lane has the value @x. */
LLVMValueRef nat_splat(const struct nat_build *b, LLVMValueRef x, unsigned lanes);
struct nat_value nat_vector(const struct nat_build *b, struct nat_value x);
/** Converts the value to @type by the rules of C. */
struct nat_value nat_convert(const struct nat_build *b, struct nat_value x, unsigned type);
/** Returns the bits of @x as a value of @type, which has the same number of bits. */
struct nat_value nat_bits(const struct nat_build *b, struct nat_value x, unsigned type);
struct nat_value nat_select(const struct nat_build *b, struct nat_value c, struct nat_value x, struct nat_value y);
/** Calls the intrinsic @name, which is overloaded on the type of its first argument. */
LLVMValueRef nat_intrinsic(const struct nat_build *b, const char *name, LLVMTypeRef type, LLVMValueRef *args,
                           unsigned count);
LLVMValueRef nat_shuffle(const struct nat_build *b, LLVMValueRef x, LLVMValueRef y, const int *lanes, unsigned count);

/** A name that an expression may use, and its value. */
struct nat_name {
    const char *name;
    struct nat_value value;
};
/** Compiles the C expression of @size bytes at @text. Returns false if the expression has a part that this compiler does not
 *  support. The LLVM instructions that were built before that part remain in the block, unused. */
bool nat_expression(const struct nat_build *b, const char *text, size_t size, const struct nat_name *names,
                    unsigned count, struct nat_value *out);

#endif
