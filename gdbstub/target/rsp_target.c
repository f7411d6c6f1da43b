/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The target description: an architecture that stock gdb supports, with only its mandatory registers, followed
 * by the GPU's registers from the register table of debug/. <osabi>none</osabi> keeps gdb from treating the
 * program as a GNU/Linux one.
 */
#include "gdbstub/rsp_priv.h"

#include <stdio.h>
#include <stdlib.h>

/* ---- target architectures --------------------------------------------------------- */

struct arch_reg {
    const char *name;
    const char *type;
    unsigned bits;
    enum rsp_role role;
};

#define INT64(name) {name, "int64", 64, RSP_ROLE_ZERO}
#define RESULT(name) {name, "int64", 64, RSP_ROLE_RESULT}
#define RESULT_NEXT(name) {name, "int64", 64, RSP_ROLE_RESULT_NEXT}
#define XMM(name, role) {name, "uint128", 128, role}
#define INT32(name) {name, "int32", 32, RSP_ROLE_ZERO}
#define PTR64(name, type, role) {name, type, 64, role}
#define FPU80(name) {name, "i387_ext", 80, RSP_ROLE_ZERO}

static const struct arch_reg x86_64_regs[] = {
    RESULT("rax"), INT64("rbx"), INT64("rcx"), RESULT_NEXT("rdx"), INT64("rsi"), INT64("rdi"),
    PTR64("rbp", "data_ptr", RSP_ROLE_SP), PTR64("rsp", "data_ptr", RSP_ROLE_SP),
    INT64("r8"), INT64("r9"), INT64("r10"), INT64("r11"), INT64("r12"), INT64("r13"),
    INT64("r14"), INT64("r15"), PTR64("rip", "code_ptr", RSP_ROLE_PC),
    INT32("eflags"), INT32("cs"), INT32("ss"), INT32("ds"), INT32("es"), INT32("fs"),
    INT32("gs"),
    FPU80("st0"), FPU80("st1"), FPU80("st2"), FPU80("st3"), FPU80("st4"), FPU80("st5"),
    FPU80("st6"), FPU80("st7"),
    INT32("fctrl"), INT32("fstat"), INT32("ftag"), INT32("fiseg"), INT32("fioff"),
    INT32("foseg"), INT32("fooff"), INT32("fop"),
};

/* Registers in which gdb and lldb look for floating-point results. These registers are not mandatory, so the `g` packet does
 * not have them. */
static const struct arch_reg x86_64_reals[] = {
    XMM("xmm0", RSP_ROLE_REAL), XMM("xmm1", RSP_ROLE_REAL_NEXT), XMM("xmm2", RSP_ROLE_ZERO),
    XMM("xmm3", RSP_ROLE_ZERO), XMM("xmm4", RSP_ROLE_ZERO), XMM("xmm5", RSP_ROLE_ZERO),
    XMM("xmm6", RSP_ROLE_ZERO), XMM("xmm7", RSP_ROLE_ZERO), XMM("xmm8", RSP_ROLE_ZERO),
    XMM("xmm9", RSP_ROLE_ZERO), XMM("xmm10", RSP_ROLE_ZERO), XMM("xmm11", RSP_ROLE_ZERO),
    XMM("xmm12", RSP_ROLE_ZERO), XMM("xmm13", RSP_ROLE_ZERO), XMM("xmm14", RSP_ROLE_ZERO),
    XMM("xmm15", RSP_ROLE_ZERO), INT32("mxcsr"),
};

/* x7 has the value of the stack pointer, too, because the frame rules in the served ELF name DWARF register 7, which is
 * rsp on x86-64 and x7 on aarch64. */
static const struct arch_reg aarch64_regs[] = {
    RESULT("x0"), RESULT_NEXT("x1"), INT64("x2"), INT64("x3"), INT64("x4"), INT64("x5"),
    INT64("x6"), PTR64("x7", "data_ptr", RSP_ROLE_SP), INT64("x8"), INT64("x9"),
    INT64("x10"), INT64("x11"), INT64("x12"), INT64("x13"), INT64("x14"), INT64("x15"),
    INT64("x16"), INT64("x17"), INT64("x18"), INT64("x19"), INT64("x20"), INT64("x21"),
    INT64("x22"), INT64("x23"), INT64("x24"), INT64("x25"), INT64("x26"), INT64("x27"),
    INT64("x28"), PTR64("x29", "data_ptr", RSP_ROLE_SP), INT64("x30"),
    PTR64("sp", "data_ptr", RSP_ROLE_SP), PTR64("pc", "code_ptr", RSP_ROLE_PC),
    INT32("cpsr"),
};

struct arch_row {
    struct rsp_arch_info arch;
    const char *feature;
    const struct arch_reg *regs;
    size_t count;
    const char *real_feature; /* feature that describes the floating-point registers; NULL: the description has none, as
                               * for aarch64, where their names v0, v1, ... are also names of GPU registers */
    const struct arch_reg *reals;
    size_t real_count;
};

static const struct arch_row archs[] = {
    [RSP_X86_64] = {{"i386:x86-64", "x86_64-unknown-unknown", 62, 6, 7, 16, false, false, true},
                    "org.gnu.gdb.i386.core", x86_64_regs, LW_COUNT_OF(x86_64_regs),
                    "org.gnu.gdb.i386.sse", x86_64_reals, LW_COUNT_OF(x86_64_reals)},
    [RSP_AARCH64] = {{"aarch64", "aarch64-unknown-unknown", 183, 29, 31, 32, true, true, false},
                     "org.gnu.gdb.aarch64.core", aarch64_regs, LW_COUNT_OF(aarch64_regs), NULL, NULL,
                    0},
};

/* ---- the description --------------------------------------------------------------- */

static void put_reg(struct rsp_target *target, const char *name, unsigned bits,
                    const char *type, const char *rest)
{
    lw_printf(&target->xml.sink,
              "<reg name=\"%s\" bitsize=\"%u\" type=\"%s\" regnum=\"%zu\"%s/>\n", name, bits,
              type, target->count, rest);
}

static enum lw_status add_reg(struct rsp_target *target, const struct rsp_reg *reg,
                              struct lw_error *err)
{
    if (!lw_grow(&target->regs, &target->capacity, target->count + 1, sizeof *target->regs))
        return LW_FAIL(err, LW_ENOMEM, "target description: the host has no memory for register %s",
                       reg->name);
    target->regs[target->count++] = *reg;
    return LW_OK;
}

static enum lw_status put_arch(struct rsp_target *target, const char *feature,
                                  const struct arch_reg *regs, size_t count,
                                  struct lw_error *err)
{
    lw_printf(&target->xml.sink, "<feature name=\"%s\">\n", feature);
    for (size_t i = 0; i < count; i++) {
        const struct arch_reg *from = &regs[i];
        struct rsp_reg reg = {.role = from->role, .bytes = from->bits / 8};
        enum lw_status status;

        snprintf(reg.name, sizeof reg.name, "%s", from->name);
        put_reg(target, reg.name, from->bits, from->type, "");
        status = add_reg(target, &reg, err);
        if (status != LW_OK)
            return status;
    }
    lw_put(&target->xml.sink, "</feature>\n");
    return LW_OK;
}

static bool name_taken(const struct rsp_target *target, const char *name)
{
    for (size_t i = 0; i < target->count; i++)
        if (strcmp(target->regs[i].name, name) == 0)
            return true;
    return false;
}

/* Converts a register name to letters, digits and _, because gdb would treat a dot in it as a member access. Prefixes lw_
 * to a name that the target architecture already has. */
static void name_for_gdb(const struct rsp_target *target, const char *name, char *out,
                         size_t room)
{
    snprintf(out, room, "%s%.16s", name_taken(target, name) ? "lw_" : "", name);
    for (char *p = out; *p != '\0'; p++)
        if (!(*p >= '0' && *p <= '9') && !(*p >= 'a' && *p <= 'z') &&
            !(*p >= 'A' && *p <= 'Z'))
            *p = '_';
}

/* Returns true if the three registers from @index on have names like "tid_x", "tid_y", "tid_z". In this case sets @stem to
 * their common name, "tid", which is also the name of a register of struct type with these components. */
static bool is_triple(const struct dbg *dbg, unsigned index, char *stem, size_t room)
{
    size_t length = 0;

    for (unsigned i = 0; i < 3; i++) {
        struct dbg_reg reg;

        if (!dbg_reg_at(dbg, index + i, &reg) || reg.bytes != 4)
            return false;
        if (i == 0) {
            length = strlen(reg.name);
            if (length < 3 || length > room)
                return false;
            memcpy(stem, reg.name, length - 2);
            stem[length - 2] = '\0';
        }
        if (strlen(reg.name) != length || strncmp(reg.name, stem, length - 2) != 0 ||
            (reg.name[length - 2] != '_' && reg.name[length - 2] != '.') ||
            reg.name[length - 1] != "xyz"[i])
            return false;
    }
    return true;
}

static bool in_feature(const struct dbg_reg *reg, enum dbg_reg_kind feature)
{
    bool other = reg->kind == DBG_REG_SCALAR || reg->kind == DBG_REG_VECTOR;

    return feature == DBG_REG_LANE ? !other : reg->kind == feature;
}

static const char *type_of(const struct dbg_reg *reg)
{
    switch (reg->kind) {
    case DBG_REG_VECTOR: return "lanes";
    case DBG_REG_LANE_PCS: return "lane_pcs";
    default: break;
    }
    switch (reg->bytes) {
    case 1: return "uint8";
    case 2: return "uint16";
    case 4: return "uint32";
    case 8: return "uint64";
    case 12: return "dim3";
    default: return NULL;
    }
}

/* Returns true if the feature to which this register belongs is on. */
static bool served(const struct rsp_target *target, const struct dbg_reg *reg)
{
    enum rsp_feature feature;

    switch (reg->kind) {
    case DBG_REG_VECTOR: feature = RSP_F_VECTORS; break;
    case DBG_REG_SCALAR: feature = RSP_F_SCALARS; break;
    case DBG_REG_LANE: feature = RSP_F_LANE; break;
    case DBG_REG_HIT_LANES: feature = RSP_F_HIT_LANES; break;
    case DBG_REG_FAULT_CODE:
    case DBG_REG_FAULT_ADDR:
    case DBG_REG_FAULT_LANES: feature = RSP_F_FAULT_REGS; break;
    default: feature = RSP_F_SPECIALS; break;
    }
    return (target->without >> feature & 1) == 0;
}

/* Returns the XML attribute with the encoding of a register for lldb 19. Without it lldb treats a register as one number:
 * it shows wrong values for a register of 12 bytes, and cannot read one of 256 bytes. */
static const char *lldb_encoding(const struct dbg_reg *reg, unsigned bytes)
{
    if (bytes <= 8)
        return "";
    return reg->kind == DBG_REG_LANE_PCS ? " encoding=\"vector\" format=\"vector-uint64\""
                                         : " encoding=\"vector\" format=\"vector-uint32\"";
}

static enum lw_status put_typed(struct rsp_target *target, const struct dbg_reg *from,
                                struct rsp_reg *reg, const char *name, const char *type,
                                struct lw_error *err)
{
    char rest[128], bytes_type[24];
    /* The register group "warp" is renamed, because `info registers warp` would show the register named warp instead of it. */
    const char *group = strcmp(from->group, "warp") == 0 ? "wave" : from->group;

    if (reg->bytes == 0 || reg->bytes > RSP_REG_BYTES)
        return LW_FAIL(err, LW_ERANGE, "target description: register %s has %u bytes, which is not supported", name,
                       reg->bytes);
    name_for_gdb(target, name, reg->name, sizeof reg->name);
    if (type == NULL) {
        snprintf(bytes_type, sizeof bytes_type, "bytes%zu", target->count);
        lw_printf(&target->xml.sink, "<vector id=\"%s\" type=\"uint8\" count=\"%u\"/>\n",
                  bytes_type, reg->bytes);
        type = bytes_type;
    }
    snprintf(rest, sizeof rest, "%s%.24s%s%s%s",
             target->without >> RSP_F_GROUPS & 1 ? "" : " group=\"",
             target->without >> RSP_F_GROUPS & 1 ? "" : group,
             target->without >> RSP_F_GROUPS & 1 ? "" : "\"",
             lldb_encoding(from, reg->bytes),
             from->kind == DBG_REG_SCALAR || from->kind == DBG_REG_VECTOR
                 ? ""
                 : " save-restore=\"no\"");
    put_reg(target, reg->name, reg->bytes * 8, type, rest);
    return add_reg(target, reg, err);
}

/* Adds a register of the GPU. Before the first component of a triple such as tid_x, adds the struct register of the triple,
 * for `print $tid`. The components exist as well, because conditions evaluated in the stub can use integers only. */
static enum lw_status put_debug_reg(struct rsp_target *target, const struct dbg *dbg,
                                    unsigned index, struct lw_error *err)
{
    struct dbg_reg from;
    struct rsp_reg reg = {.role = RSP_ROLE_DEBUG, .first = index, .count = 1};
    char stem[16];

    if (!dbg_reg_at(dbg, index, &from))
        return LW_FAIL(err, LW_ERANGE, "target description: register %u is missing", index);
    if (from.kind == DBG_REG_PC)
        return LW_OK; /* the description already has the pc as a register of the target architecture */
    if (!served(target, &from))
        return LW_OK;
    if (is_triple(dbg, index, stem, sizeof stem)) {
        struct rsp_reg triple = reg;
        enum lw_status status;

        triple.count = 3;
        triple.bytes = 12;
        status = put_typed(target, &from, &triple, stem, "dim3", err);
        if (status != LW_OK)
            return status;
    }
    reg.bytes = from.bytes;
    return put_typed(target, &from, &reg, from.name, type_of(&from), err);
}

static void put_types(struct rsp_target *target, const struct dbg *dbg,
                      enum dbg_reg_kind feature)
{
    struct lw_sink *xml = &target->xml.sink;
    unsigned vector_bytes = 0, pcs_bytes = 0;

    for (unsigned i = 0; i < dbg_reg_count(dbg); i++) {
        struct dbg_reg reg;

        if (!dbg_reg_at(dbg, i, &reg))
            continue;
        if (reg.kind == DBG_REG_VECTOR)
            vector_bytes = reg.bytes;
        if (reg.kind == DBG_REG_LANE_PCS)
            pcs_bytes = reg.bytes;
    }
    if (feature == DBG_REG_VECTOR && vector_bytes != 0) {
        unsigned lanes = vector_bytes / 4;

        lw_printf(xml,
                  "<vector id=\"lanes_u32\" type=\"uint32\" count=\"%u\"/>\n"
                  "<vector id=\"lanes_i32\" type=\"int32\" count=\"%u\"/>\n"
                  "<vector id=\"lanes_f32\" type=\"ieee_single\" count=\"%u\"/>\n"
                  "<union id=\"lanes\"><field name=\"u32\" type=\"lanes_u32\"/>"
                  "<field name=\"i32\" type=\"lanes_i32\"/>"
                  "<field name=\"f32\" type=\"lanes_f32\"/></union>\n",
                  lanes, lanes, lanes);
    }
    if (feature == DBG_REG_LANE) {
        lw_put(xml, "<struct id=\"dim3\"><field name=\"x\" type=\"uint32\"/>"
                    "<field name=\"y\" type=\"uint32\"/><field name=\"z\" type=\"uint32\"/>"
                    "</struct>\n");
        if (pcs_bytes != 0)
            lw_printf(xml, "<vector id=\"lane_pcs\" type=\"code_ptr\" count=\"%u\"/>\n",
                      pcs_bytes / 8);
    }
}

static enum lw_status put_feature(struct rsp_target *target, const struct dbg *dbg,
                                  const char *name, enum dbg_reg_kind feature,
                                  struct lw_error *err)
{
    unsigned count = dbg_reg_count(dbg);

    lw_printf(&target->xml.sink, "<feature name=\"%s\">\n", name);
    put_types(target, dbg, feature);
    for (unsigned i = 0; i < count; i++) {
        struct dbg_reg reg;
        enum lw_status status;

        if (dbg_reg_at(dbg, i, &reg) && !in_feature(&reg, feature))
            continue;
        status = put_debug_reg(target, dbg, i, err);
        if (status != LW_OK)
            return status;
    }
    lw_put(&target->xml.sink, "</feature>\n");
    return LW_OK;
}

enum lw_status rsp_target_init(struct rsp_target *target, enum rsp_arch arch,
                               uint64_t without, const struct dbg *dbg, struct lw_error *err)
{
    const struct arch_row *row = &archs[arch == RSP_AARCH64 ? RSP_AARCH64 : RSP_X86_64];
    enum lw_status status;

    memset(target, 0, sizeof *target);
    lw_buffer_init(&target->xml);
    target->arch = &row->arch;
    target->without = without;
    lw_printf(&target->xml.sink,
              "<?xml version=\"1.0\"?><!DOCTYPE target SYSTEM \"gdb-target.dtd\">\n"
              "<target version=\"1.0\">\n%s%s%s%s",
              without >> RSP_F_TARGET_ARCH & 1 ? "" : "<architecture>",
              without >> RSP_F_TARGET_ARCH & 1 ? "" : row->arch.name,
              without >> RSP_F_TARGET_ARCH & 1 ? "" : "</architecture>\n", without >> RSP_F_OSABI & 1 ? "" : "<osabi>none</osabi>\n");
    status = put_arch(target, row->feature, row->regs, row->count, err);
    target->mandatory = (unsigned)target->count;
    if (status == LW_OK)
        status = put_feature(target, dbg, "org.lanewise.warp", DBG_REG_LANE, err);
    if (status == LW_OK)
        status = put_feature(target, dbg, "org.lanewise.scalar", DBG_REG_SCALAR, err);
    if (status == LW_OK)
        status = put_feature(target, dbg, "org.lanewise.vector", DBG_REG_VECTOR, err);
    if (status == LW_OK && row->real_feature != NULL)
        status = put_arch(target, row->real_feature, row->reals, row->real_count, err);
    lw_put(&target->xml.sink, "</target>\n");
    if (status != LW_OK)
        rsp_target_fini(target);
    return status;
}

void rsp_target_fini(struct rsp_target *target)
{
    free(target->regs);
    target->regs = NULL;
    target->count = target->capacity = 0;
    lw_buffer_fini(&target->xml);
}

/* ---- values -------------------------------------------------------------------------- */

/* Returns the focus lane's stack pointer as a debug address (MACHINE 9). The stack pointer is 8 bytes below the canonical
 * frame address of the innermost frame, as the frame rules in the served ELF expect. */
static uint64_t stack_pointer(struct dbg *dbg, dbg_thread_id id)
{
    struct dbg_frame frame;

    if (dbg_frame_at(dbg, id, dbg_lane_get(dbg, id), 0, &frame))
        return frame.cfa - 8;
    return UINT64_C(0xF4) << 56 | (uint64_t)dbg_lane_get(dbg, id) << 32;
}

/* Reads the register pair v4:5 of the focus lane, in which a function returns an integer or a pointer. */
static uint64_t first_words(struct dbg *dbg, dbg_thread_id id)
{
    unsigned at = 4 * dbg_lane_get(dbg, id);
    uint64_t value = 0;

    for (unsigned i = 0; i < 2; i++) {
        int reg = dbg_reg_find(dbg, i == 0 ? "v4" : "v5");
        uint8_t row[4 * EMU_MAX_LANES];
        struct dbg_reg info;
        struct lw_error err;

        if (reg >= 0 && dbg_reg_at(dbg, (unsigned)reg, &info) && info.bytes <= sizeof row &&
            at + 4 <= info.bytes &&
            dbg_reg_read(dbg, id, (unsigned)reg, row, info.bytes, &err) == LW_OK)
            value |= (uint64_t)lw_get32(row + at) << (32 * i);
    }
    return value;
}

/* Returns word @nth of the result of a function that has just returned, for the register from which `finish` reads it.
 * Floating-point words (@real) and integer words are counted separately. */
static uint64_t result(struct dbg *dbg, dbg_thread_id id, bool real, unsigned nth)
{
    struct dbg_return_words words;

    if (!dbg_returned_words(dbg, id, dbg_lane_get(dbg, id), &words))
        return real || nth != 0 ? 0 : first_words(dbg, id);
    if (words.count == 0)
        return real || nth != 0 ? 0 : words.address;
    for (unsigned i = 0; i < words.count; i++)
        if (words.real[i] == real && nth-- == 0)
            return words.word[i];
    return 0;
}

enum lw_status rsp_reg_read(const struct rsp_target *target, struct dbg *dbg,
                            dbg_thread_id id, unsigned number, uint8_t *data,
                            struct lw_error *err)
{
    const struct rsp_reg *reg;
    struct dbg_thread thread;
    size_t at = 0;

    if (number >= target->count)
        return LW_FAIL(err, LW_ERANGE, "there is no register %u", number);
    reg = &target->regs[number];
    memset(data, 0, reg->bytes);
    if (!dbg_thread_get(dbg, id, &thread))
        return LW_FAIL(err, LW_ENOENT, "thread %llu is not resident",
                       (unsigned long long)id);
    switch (reg->role) {
    case RSP_ROLE_ZERO: return LW_OK;
    case RSP_ROLE_PC: lw_put64(data, thread.location.pc); return LW_OK;
    case RSP_ROLE_SP: lw_put64(data, stack_pointer(dbg, id)); return LW_OK;
    case RSP_ROLE_RESULT: lw_put64(data, result(dbg, id, false, 0)); return LW_OK;
    case RSP_ROLE_RESULT_NEXT: lw_put64(data, result(dbg, id, false, 1)); return LW_OK;
    case RSP_ROLE_REAL: lw_put64(data, result(dbg, id, true, 0)); return LW_OK;
    case RSP_ROLE_REAL_NEXT: lw_put64(data, result(dbg, id, true, 1)); return LW_OK;
    case RSP_ROLE_DEBUG: break;
    }
    for (unsigned i = 0; i < reg->count; i++) {
        struct dbg_reg part;
        enum lw_status status;

        if (!dbg_reg_at(dbg, reg->first + i, &part) || part.bytes > reg->bytes - at)
            return LW_FAIL(err, LW_ERANGE, "register %s does not exist in the program that is now loaded", reg->name);
        status = dbg_reg_read(dbg, id, reg->first + i, data + at, part.bytes, err);
        if (status != LW_OK)
            return status;
        at += part.bytes;
    }
    return LW_OK;
}

enum lw_status rsp_reg_write(const struct rsp_target *target, struct dbg *dbg,
                             dbg_thread_id id, unsigned number, const uint8_t *data,
                             struct lw_error *err)
{
    const struct rsp_reg *reg;
    size_t at = 0;

    if (number >= target->count)
        return LW_FAIL(err, LW_ERANGE, "there is no register %u", number);
    reg = &target->regs[number];
    if (reg->role == RSP_ROLE_PC) {
        int pc = dbg_reg_find(dbg, "pc");

        if (pc < 0)
            return LW_FAIL(err, LW_EUNSUPP, "the pc is read-only");
        return dbg_reg_write(dbg, id, (unsigned)pc, data, 8, err);
    }
    if (reg->role != RSP_ROLE_DEBUG)
        return LW_FAIL(err, LW_EUNSUPP,
                       "$%s cannot be written, because it is a register of the target architecture that the GPU does not "
                       "have; gdb cannot call functions of the program: write out what the function computes, or step "
                       "into it",
                       reg->name);
    for (unsigned i = 0; i < reg->count; i++) {
        struct dbg_reg part;
        enum lw_status status;

        if (!dbg_reg_at(dbg, reg->first + i, &part) || part.bytes > reg->bytes - at)
            return LW_FAIL(err, LW_ERANGE, "register %s does not exist in the program that is now loaded", reg->name);
        if (!part.writable)
            return LW_FAIL(err, LW_EUNSUPP, "$%s is read-only", reg->name);
        status = dbg_reg_write(dbg, id, reg->first + i, data + at, part.bytes, err);
        if (status != LW_OK)
            return status;
        at += part.bytes;
    }
    return LW_OK;
}
