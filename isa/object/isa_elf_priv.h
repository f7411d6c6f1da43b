/* SPDX-License-Identifier: Apache-2.0 */
/* Internals of object files: growing byte arrays, and functions that write and read sections. */
#ifndef ISA_ELF_PRIV_H
#define ISA_ELF_PRIV_H

#include "isa/isa_priv.h"

/** Growing byte array. If an allocation fails, `failed` is set, and further writes do nothing. */
struct isa_bytes {
    uint8_t *data;
    size_t size, capacity;
    bool failed;
};
void isa_bytes_put(struct isa_bytes *bytes, const void *data, size_t size);
void isa_bytes_u8(struct isa_bytes *bytes, unsigned value);
void isa_bytes_u16(struct isa_bytes *bytes, unsigned value);
void isa_bytes_u32(struct isa_bytes *bytes, uint32_t value);
void isa_bytes_u64(struct isa_bytes *bytes, uint64_t value);
void isa_bytes_uleb(struct isa_bytes *bytes, uint64_t value);
void isa_bytes_sleb(struct isa_bytes *bytes, int64_t value);
void isa_bytes_string(struct isa_bytes *bytes, const char *text); /* writes the text including its terminating zero */
/** Overwrites four bytes at offset @at, for example with a length that is known only after the following bytes are written. */
void isa_bytes_patch32(struct isa_bytes *bytes, size_t at, uint32_t value);
void isa_bytes_fini(struct isa_bytes *bytes);

/** Pseudo-function that debuggers show as the caller of kernels. The pseudo-function has no code. The addresses of the
 *  pseudo-function, 0xffffffe0 to 0xffffffff, precede the text. The frame rules state that it has no caller. Kernels return to
 *  the middle of the pseudo-function (docs/reference/object.md). */
#define ISA_LAUNCH_NAME "<launch>"
enum { ISA_LAUNCH_BYTES = 2 * ISA_WORD_BYTES };
#define ISA_LAUNCH_BASE (ISA_CODE_BASE - ISA_LAUNCH_BYTES)

/** DWARF 4 sections of an object (isa_dwarf.c, isa_dwarf_info.c). */
struct isa_dwarf {
    struct isa_bytes line, info, abbrev, frame, loc, ranges, macros;
};
/** Compile unit of the DWARF sections. Its files have numbers of their own, from 1. */
struct isa_dwarf_unit {
    uint32_t number;      /* index of the unit in the object */
    bool is_only;         /* the object has no other unit, so that all functions belong to it */
    struct isa_compile_unit unit; /* the object's unit; without debug information, all files of the object */
    uint32_t line;        /* offset in .debug_line */
    const uint32_t *of_function; /* by function: number of its unit */
};
/** Stores in @units, by function, the index of the unit that contains the function (isa_compile_unit_at()). The object must have
 *  debug information. */
void isa_compile_units_of_functions(const struct isa_object *object, uint32_t *units);
/** Returns whether the code of @function (NULL: code outside of all functions) belongs to a unit. */
static inline bool isa_dwarf_unit_has(const struct isa_object *object, const struct isa_dwarf_unit *unit,
                                      const struct isa_function *function)
{
    return unit->is_only || unit->number == (function != NULL ? unit->of_function[function - object->functions] : 0);
}
/** Returns the number that a file of the object has in a unit. Another unit's file, which only a damaged object refers to, becomes
 *  the unit's source. */
static inline uint32_t isa_dwarf_file(const struct isa_dwarf_unit *unit, uint32_t file)
{
    return file == 0 || isa_compile_unit_has_file(&unit->unit, file) ? file - (file != 0 ? unit->unit.first_file - 1 : 0) : 1;
}
/** Writes all DWARF sections. @variables: addresses of the object's variables; @variables is NULL if the object is not loaded. */
void isa_dwarf_make(const struct isa_object *object, const uint64_t *variables,
                    struct isa_dwarf *out);
/** Writes a list of macros. If @has_macros is set, the macros define OpenCL's work-item functions by the built-in variables.
 *  Debuggers that expand macros can then evaluate `get_global_id(0)`, also in conditions that they send to the stub. For CUDA there
 *  are no such macros, because a source may define functions with the same names. */
void isa_dwarf_make_macros(bool has_macros, struct isa_bytes *out);
/** Writes the sections .debug_info, .debug_abbrev, .debug_loc, .debug_ranges and .debug_macinfo, with @count compile units. */
void isa_dwarf_make_info(const struct isa_object *object, const struct isa_dwarf_unit *units, unsigned count,
                         const uint64_t *variables, struct isa_dwarf *out);
void isa_dwarf_fini(struct isa_dwarf *dwarf);

/** Writes the section .lanewise (isa_meta.c), which contains all parts of the object that are in no other section. */
void isa_meta_write(const struct isa_object *object, struct isa_bytes *out);
/** Reads the section .lanewise. Errors: LW_EFORMAT, LW_ENOMEM. */
enum lw_status isa_meta_read(const uint8_t *data, size_t size, struct isa_object *object,
                             struct lw_error *err) LW_MUST_CHECK;
/** Writes, reads and checks the section .lanewise.debug (isa_debug.c), which contains object->debug. object->debug may be
 *  NULL. */
void isa_debug_write(const struct isa_object *object, struct isa_bytes *out);
enum lw_status isa_debug_read(const uint8_t *data, size_t size, struct isa_object *object,
                              struct lw_error *err) LW_MUST_CHECK;
enum lw_status isa_debug_check(const struct isa_object *object, struct lw_error *err)
    LW_MUST_CHECK;

/** Returns true if an expression is valid: its operations are known, the stack never underflows or overflows, and its pieces are
 *  inside ISA_EXPRESSION_BYTES. */
bool isa_expression_ok(const uint8_t *ops, uint32_t size);

/** Section .lanewise.loops (isa_loops.c). Nothing is written if there are no loops. */
void isa_loops_write(const struct isa_object *object, struct isa_bytes *out);
enum lw_status isa_loops_read(const uint8_t *data, size_t size, struct isa_object *object,
                              struct lw_error *err) LW_MUST_CHECK;
enum lw_status isa_loops_check(const struct isa_object *object, struct lw_error *err)
    LW_MUST_CHECK;

/** Section .lanewise.bounds (isa_bounds.c). Nothing is written if there are no bounds. */
void isa_bounds_write(const struct isa_object *object, struct isa_bytes *out);
enum lw_status isa_bounds_read(const uint8_t *data, size_t size, struct isa_object *object,
                               struct lw_error *err) LW_MUST_CHECK;
enum lw_status isa_bounds_check(const struct isa_object *object, struct lw_error *err)
    LW_MUST_CHECK;

/** Section .lanewise.refusals (isa_refusals.c). Nothing is written if there are no refusals. */
void isa_refusals_write(const struct isa_object *object, struct isa_bytes *out);
enum lw_status isa_refusals_read(const uint8_t *data, size_t size, struct isa_object *object,
                                 struct lw_error *err) LW_MUST_CHECK;

/** Section .lanewise.slices (isa_slices.c). Nothing is written if there are no slices. */
void isa_slices_write(const struct isa_object *object, struct isa_bytes *out);
enum lw_status isa_slices_read(const uint8_t *data, size_t size, struct isa_object *object,
                               struct lw_error *err) LW_MUST_CHECK;
enum lw_status isa_slices_check(const struct isa_object *object, struct lw_error *err)
    LW_MUST_CHECK;

/** Reader of a section. After the first error, `status` is no longer LW_OK, and every read returns zero. */
struct isa_reader {
    const char *section;
    const uint8_t *p, *end;
    struct isa_object *object;
    enum lw_status status;
    struct lw_error *err;
};
/** Starts to read a section, after checking that it begins with @magic. */
struct isa_reader isa_reader_begin(const char *section, const uint8_t magic[8], const uint8_t *data,
                                   size_t size, struct isa_object *object, struct lw_error *err);
/** Ends the reading of a section. Bytes that are left in the section are an error, in whose message @last is the name of the
 *  section's last part. */
enum lw_status isa_reader_end(struct isa_reader *r, const char *last) LW_MUST_CHECK;
void isa_reader_bad(struct isa_reader *r, const char *what);
/** Reads a number, which must have its shortest encoding and be at most @limit. @what names the number in messages, here and in
 *  the next functions. */
uint64_t isa_reader_number(struct isa_reader *r, uint64_t limit, const char *what);
int64_t isa_reader_signed(struct isa_reader *r, const char *what);
/** Reads a number of elements. The number is invalid if the rest of the section is too short for that many elements of @each
 *  bytes. */
size_t isa_reader_count(struct isa_reader *r, size_t each, const char *what);
/** Allocates zeroed memory for @count elements of @size bytes in the object's arena; NULL if @count is 0. */
void *isa_reader_capacity(struct isa_reader *r, size_t count, size_t size);
const char *isa_reader_text(struct isa_reader *r, const char *what);

/** Returns the address of the code in the file that is written. */
static inline uint64_t isa_elf_text_address(const struct isa_object *object)
{
    return object->text_address != 0 ? object->text_address : ISA_CODE_BASE;
}

#endif
