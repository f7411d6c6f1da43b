/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds the result of a function from which a lane has just returned (docs/reference/abi.md). A scalar is in v4 or v4:5.
 * An aggregate is in the caller's frame, and the caller has passed its address to the function in v4, as a hidden argument.
 * After the return v4 may have any value, so the address is computed from the caller's instructions before the call.
 */
#include "debug/expr/dbg_expr_priv.h"

enum {
    REG_STACK = 2,
    REG_RESULT = 4,
    REG_PRESERVED = 96, /* first register that callees save */
    MAX_LOOK = 64  /* number of instructions before the call in which the write to v4 is searched for */
};

static const struct isa_insn *insn_at(const struct dbg *dbg, uint64_t pc)
{
    const struct emu_program *program = emu_machine_program_at(dbg->machine, pc);

    return program != NULL ? emu_program_insn(program, pc) : NULL;
}

static bool read_reg(const struct dbg *dbg, dbg_thread_id id, unsigned lane, unsigned number,
                     uint64_t *value)
{
    struct dbg_warp warp;

    *value = 0;
    return dbg_warp_locate(dbg, id, &warp) &&
           emu_reg_read(DBG_AT(&warp), ISA_REG_V, number, lane, value);
}

static bool writes(const struct isa_insn *insn, unsigned number)
{
    struct isa_reg_use uses[ISA_MAX_USES];
    unsigned count = isa_insn_uses(insn, uses);

    for (unsigned i = 0; i < count; i++)
        if (uses[i].written && uses[i].reg_class == ISA_REG_V && uses[i].first <= number &&
            number < uses[i].first + uses[i].count)
            return true;
    return false;
}

/* Reads a register that a call preserves: the stack pointer, or a register that a called function saves. Returns false for any
 * other register. */
static bool read_preserved(const struct dbg *dbg, dbg_thread_id id, unsigned lane, unsigned number,
                      uint64_t *value)
{
    return (number == REG_STACK || number >= REG_PRESERVED) && read_reg(dbg, id, lane, number, value);
}

/* Computes the value that @insn has written to v4 before the call. Returns false if this value cannot be computed after the
 * call. */
static bool put_there(const struct dbg *dbg, dbg_thread_id id, unsigned lane,
                      const struct isa_insn *insn, uint64_t *value)
{
    uint64_t base;

    if (insn->d != REG_RESULT)
        return false;
    if (insn->op == ISA_V_MOV_B32 && insn->xkind == ISA_X_IMM)
        *value = insn->x;
    else if (insn->op == ISA_V_MOV_B32 && insn->xkind == ISA_X_VECTOR)
        return read_preserved(dbg, id, lane, isa_x_reg(insn->x), value);
    else if (insn->op == ISA_V_ADD_U32 && insn->xkind == ISA_X_IMM && !insn->a_scalar &&
             read_preserved(dbg, id, lane, insn->a, &base))
        *value = base + insn->x;
    else
        return false;
    *value = (uint32_t)*value;
    return true;
}

/* Finds the hidden argument of the call before @pc: the offset in local memory at which the result is. Returns false if
 * the argument cannot be computed. */
static bool hidden_argument(const struct dbg *dbg, dbg_thread_id id, unsigned lane, uint64_t pc,
                            uint64_t *offset)
{
    const struct isa_function *function = dbg_function_at(dbg, pc - ISA_WORD_BYTES);
    uint64_t at = pc - ISA_WORD_BYTES, entry;

    if (function == NULL)
        return false;
    entry = dbg_function_pc(dbg, function);
    for (unsigned i = 0; i < MAX_LOOK && at > entry; i++) {
        const struct isa_insn *insn = insn_at(dbg, at -= ISA_WORD_BYTES);
        int64_t target;

        if (insn == NULL || isa_insn_jumps(insn, 0, &target) || isa_insn_ends(insn) ||
            (isa_op_info(insn->op)->flags & ISA_F_CALL) != 0)
            return false;
        if (writes(insn, REG_RESULT))
            return put_there(dbg, id, lane, insn, offset);
    }
    return false;
}

/* Returns the function that the instruction before @pc calls; or NULL if that instruction is not a direct call. */
static const struct isa_function *called(const struct dbg *dbg, uint64_t pc)
{
    const struct emu_program *program = emu_machine_program_at(dbg->machine, pc - ISA_WORD_BYTES);
    const struct isa_insn *insn = insn_at(dbg, pc - ISA_WORD_BYTES);
    int64_t target;
    uint32_t index;

    if (program == NULL || insn == NULL || insn->op != ISA_CALL)
        return NULL;
    index = (uint32_t)((pc - ISA_WORD_BYTES - emu_program_base(program)) / ISA_WORD_BYTES);
    return isa_insn_target(insn, index, &target)
               ? dbg_function_at(dbg, emu_program_base(program) +
                                          (uint64_t)target * ISA_WORD_BYTES)
               : NULL;
}

bool dbg_returned(struct dbg *dbg, dbg_thread_id id, unsigned lane,
                  const struct isa_function *function, struct dbg_operand *out)
{
    struct emu_split_view split;
    struct dbg_warp warp;
    enum dbg_type type;
    unsigned bytes;
    uint64_t low, high = 0, offset;
    const struct isa_debug *debug;
    int64_t die;

    if (!dbg_lane_locate(dbg, id, lane, &warp, &split))
        return false;
    if (function == NULL)
        function = called(dbg, split.pc);
    if (function == NULL ||
        !dbg_result_type(dbg, dbg_function_pc(dbg, function), &debug, &die))
        return false;
    memset(out, 0, sizeof *out);
    out->debug = debug;
    out->type = die;
    if (dbg_type_scalar(debug, die, &type, &bytes)) {
        if (!read_reg(dbg, id, lane, REG_RESULT, &low) ||
            (bytes == 8 && !read_reg(dbg, id, lane, REG_RESULT + 1, &high)))
            return false;
        out->value = dbg_scalar(type, bytes, (uint32_t)low | high << 32);
        return true;
    }
    if (!hidden_argument(dbg, id, lane, split.pc, &offset))
        return false;
    out->in_memory = true;
    out->address = ISA_LOCAL_BASE + offset;
    out->value = dbg_value_make(DBG_U64, out->address);
    return true;
}

/* ---- classification by the ABI of x86-64 --------------------------------------------------------------------- */

enum word_class { CLASS_NONE, CLASS_REAL, CLASS_INTEGER, CLASS_MEMORY };

/* Classifies a value of @type at @offset of a result, by section 3.2.3 of the System V ABI for x86-64. @out has the class of each
 * eightbyte, which is 8 aligned bytes. An eightbyte with an integer and a float has class INTEGER, and a field that is not
 * aligned makes the result class MEMORY. */
static void classify(const struct isa_debug *debug, int64_t type, uint64_t offset,
                     enum word_class out[2], unsigned depth)
{
    enum dbg_type scalar;
    unsigned bytes;
    enum word_class one;

    type = isa_type_plain(debug, type, NULL);
    if (type == ISA_NO_DIE || offset >= 16 || depth > 16) {
        out[0] = CLASS_MEMORY;
        return;
    }
    if (dbg_type_scalar(debug, type, &scalar, &bytes)) {
        one = offset % bytes != 0                            ? CLASS_MEMORY
              : scalar == DBG_F32 || scalar == DBG_F64 ? CLASS_REAL
                                                             : CLASS_INTEGER;
        if (one == CLASS_MEMORY)
            out[0] = one;
        else if (one > out[offset / 8])
            out[offset / 8] = one;
    } else if (debug->dies[type].tag == ISA_TAG_ARRAY) {
        uint64_t each, total = isa_type_bytes(debug, type, 0);
        int64_t element = isa_die_type(debug, (uint32_t)type);

        each = isa_type_bytes(debug, element, 0);
        if (each == 0 || total > 16)
            out[0] = CLASS_MEMORY;
        else
            for (uint64_t at = 0; at < total; at += each)
                classify(debug, element, offset + at, out, depth + 1);
    } else if (dbg_tag_is_structure(debug->dies[type].tag)) {
        for (uint32_t i = (uint32_t)type + 1; i < debug->dies[type].end; i = debug->dies[i].end)
            if ((debug->dies[i].tag == ISA_TAG_MEMBER ||
                 debug->dies[i].tag == ISA_TAG_INHERITANCE) &&
                isa_die_attr(debug, i, ISA_AT_EXTERNAL) == NULL) /* not a static member, which has DW_AT_external */
                classify(debug, isa_die_type(debug, i),
                         offset + isa_die_number(debug, i, ISA_AT_MEMBER_LOCATION, 0), out,
                         depth + 1);
    } else {
        out[0] = CLASS_MEMORY;
    }
}

bool dbg_returned_words(struct dbg *dbg, dbg_thread_id id, unsigned lane,
                        struct dbg_return_words *out)
{
    enum word_class classes[2] = {CLASS_NONE, CLASS_NONE};
    struct dbg_operand o;
    uint8_t raw[16] = {0};
    uint64_t bytes;

    memset(out, 0, sizeof *out);
    if (!dbg_returned(dbg, id, lane, NULL, &o))
        return false;
    bytes = isa_type_bytes(o.debug, o.type, 0);
    if (bytes <= sizeof raw)
        classify(o.debug, o.type, 0, classes, 0);
    if (bytes == 0 || bytes > sizeof raw || classes[0] == CLASS_MEMORY) {
        out->address = o.address;
        return o.in_memory;
    }
    if (!o.in_memory)
        out->word[0] = o.value.bits;
    else if (dbg_mem_access(dbg, id, lane, o.address, raw, bytes, false) != bytes)
        return false;
    for (unsigned i = 0; i < 2; i++) {
        if (o.in_memory)
            out->word[i] = lw_get64(raw + 8 * (size_t)i);
        out->real[i] = classes[i] == CLASS_REAL;
    }
    out->count = (unsigned)((bytes + 7) / 8);
    return true;
}
