/* SPDX-License-Identifier: Apache-2.0 */
/* Private header of the direct PTX evaluator: the data structures that its reader creates and its other files execute. */
#ifndef PTX_EVAL_PRIV_H
#define PTX_EVAL_PRIV_H

#include "tests/ptx/eval/ptx_eval.h"

/* Opcodes and modifiers by name. The suffix _X marks a name that C reserves. */
#define PE_OPS(E)                                                                              \
    E(abs) E(activemask) E(add) E(addc) E(and) E(applypriority) E(atom) E(bar) E(barrier)      \
    E(bfe) E(bfi) E(bfind) E(bmsk) E(bra) E(brev) E(brkpt) E(brx) E(call) E(clz) E(cnot) E(copysign) E(cos) \
    E(cp) E(createpolicy) E(cvt) E(cvta) E(discard) E(div) E(dp2a) E(dp4a) E(elect) E(ex2) E(exit)    \
    E(fence) E(fma) E(fns) E(isspacep) E(ld) E(ldu) E(lg2) E(lop3) E(mad) E(mad24) E(madc) E(match)   \
    E(max) E(membar) E(min) E(mov) E(mul) E(mul24) E(nanosleep) E(neg) E(not) E(or)            \
    E(pmevent) E(popc) E(prefetch) E(prefetchu) E(prmt) E(rcp) E(red) E(redux) E(rem) E(ret) E(rsqrt)   \
    E(sad) E(selp) E(set) E(setp) E(shf) E(shfl) E(shl) E(shr) E(sin) E(slct) E(sqrt) E(st) E(sub)    \
    E(subc) E(szext) E(tanh) E(testp) E(trap) E(vabsdiff2) E(vabsdiff4) E(vote)    \
    E(xor)
#define PE_WORDS(E)                                                                            \
    E(rn) E(rz) E(rm) E(rp) E(rni) E(rzi) E(rmi) E(rpi) E(ftz) E(sat) E(wide) E(hi) E(lo)      \
    E(cc) E(relu) E(satfinite) E(NaN) E(xorsign) E(abs) E(noftz) E(shiftamt) E(eq) E(ne) E(lt) E(le) E(gt)  \
    E(ge) E(ls) E(hs) E(equ) E(neu) E(ltu) E(leu) E(gtu) E(geu) E(num) E(nan) E(and) E(or)     \
    E(xor) E(add) E(min) E(max) E(inc) E(dec) E(exch) E(cas) E(popc) E(sync) E(arrive) E(red)  \
    E(aligned) E(warp) E(up) E(down) E(bfly) E(idx) E(all) E(any) E(uni) E(ballot) E(l) E(r)   \
    E(wrap) E(clamp) E(f4e) E(b4e) E(rc8) E(ecl) E(ecr) E(rc16) E(finite) E(infinite)          \
    E(number) E(notanumber) E(normal) E(subnormal) E(global) E(shared) E(local) E(param)       \
    E(const) E(v2) E(v4) E(to) E(volatile) E(relaxed) E(acquire) E(release) E(acq_rel) E(sc)   \
    E(weak) E(cta) E(gpu) E(sys) E(gl) E(ca) E(cg) E(cs) E(nc) E(lu) E(cv) E(wb) E(wt) E(full) \
    E(approx) E(async) E(commit_group) E(wait_group) E(wait_all) E(L1) E(L2) E(pack) E(fractional)

enum pe_op {
#define E(name) PE_##name,
    PE_OPS(E)
#undef E
    PE_OP_COUNT
};
enum pe_word {
#define E(name) PE_W_##name,
    PE_WORDS(E)
#undef E
    PE_WORD_COUNT
};
/* A type. @kind is 'u', 's', 'b' or 'f' as in PTX, 'g' for bf16, or 'p' for predicates. If @packed is set, the type has two
 * values of @bits bits each. */
struct pe_type {
    char kind;
    uint8_t bits;
    bool packed;
};
enum pe_space { PE_GENERIC, PE_GLOBAL, PE_SHARED, PE_LOCAL, PE_PARAM, PE_CONST };
enum pe_operand_kind {
    PE_O_REG, PE_O_IMM, PE_O_FLOAT, PE_O_SPECIAL, PE_O_VECTOR, PE_O_PAIR, PE_O_LIST, PE_O_ADDRESS,
    PE_O_SYMBOL, PE_O_FUNCTION, PE_O_LABEL, PE_O_SINK
};
struct pe_operand {
    enum pe_operand_kind kind;
    int index;  /* number of the register, special register, symbol, function or label; for an address, of its base register */
    int symbol; /* number of the symbol of an address, or -1 if it has none */
    bool negated;
    uint64_t imm; /* an integer, or the bits of a double */
    int count;
    struct pe_operand *element;
};
struct pe_insn {
    enum pe_op op;
    struct pe_type type[3];
    int type_count;
    uint64_t words[2];
    int guard;
    bool guard_neg;
    int operand_count, line;
    struct pe_operand operand[7];
};
static inline bool pe_has(const struct pe_insn *in, enum pe_word word)
{
    return in->words[word / 64] >> (word % 64) & 1;
}
struct pe_symbol {
    char name[80];
    enum pe_space space;
    bool open, formal;      /* the symbol is an extern array without a size; it is a parameter in the head of its function */
    uint32_t bytes, align, offset;
    struct pe_type type;
    uint8_t *init;
    int reg;                /* for a formal parameter in .reg: number of the register; otherwise -1 */
};
struct pe_reg {
    char name[40];
    struct pe_type type;
};
struct pe_function {
    char name[80];
    bool entry, body;
    struct pe_reg *regs;
    int reg_count;
    struct pe_insn *insns;
    int insn_count;
    int *label_at;
    char (*labels)[64];
    int label_count;
    int params[32], results[4]; /* indices of symbols */
    int param_count, result_count;
    uint32_t param_bytes, local_bytes;
};
struct pe_module {
    struct pe_symbol *symbols;
    int symbol_count;
    struct pe_function *functions;
    int function_count;
    uint32_t shared_bytes, static_bytes; /* size of shared memory, and of global and constant variables */
};

enum pe_special {
    PE_S_TID_X, PE_S_TID_Y, PE_S_TID_Z, PE_S_NTID_X, PE_S_NTID_Y, PE_S_NTID_Z, PE_S_CTAID_X,
    PE_S_CTAID_Y, PE_S_CTAID_Z, PE_S_NCTAID_X, PE_S_NCTAID_Y, PE_S_NCTAID_Z, PE_S_LANEID,
    PE_S_LANEMASK_EQ, PE_S_LANEMASK_LE, PE_S_LANEMASK_LT, PE_S_LANEMASK_GE, PE_S_LANEMASK_GT,
    PE_S_COUNT
};

/** Result of an instruction that accesses registers only. */
struct pe_result {
    uint64_t value, second; /* second: value of a second destination, such as q of setp */
};
/** Computes the result of an instruction that accesses registers only. Returns false for another instruction. @source contains
 *  the operands after the destination, truncated to their types. @carry is the carry flag, which instructions read and change. */
bool pe_compute(const struct pe_insn *in, const uint64_t *source, bool *carry,
                struct pe_result *out);
/** Returns the value of memory after an atomic operation. */
uint64_t pe_atomic(const struct pe_insn *in, struct pe_type type, uint64_t old, uint64_t b,
                   uint64_t c);
/** Returns the bits of a literal, converted to @type. */
uint64_t pe_literal(const struct pe_operand *operand, struct pe_type type);
static inline unsigned pe_type_bits(struct pe_type type)
{
    return type.packed ? type.bits * 2u : type.bits;
}
static inline uint64_t pe_cut(uint64_t value, unsigned bits)
{
    return bits >= 64 ? value : value & ((UINT64_C(1) << bits) - 1);
}
static inline int64_t pe_signed(uint64_t value, unsigned bits)
{
    return bits >= 64 ? (int64_t)value : (int64_t)(value << (64 - bits)) >> (64 - bits);
}

#endif
