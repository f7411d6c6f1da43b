/* SPDX-License-Identifier: Apache-2.0 */
/* Debug information of the source, which objects contain: types, variables, scopes, and the locations and values of variables.
 * Source: DWARF 4, docs/reference/object.md. */
#ifndef ISA_DEBUG_H
#define ISA_DEBUG_H

#include "isa/isa.h"

/* ---- entries ----------------------------------------------------------------------- */

/** Kind of a variable's location while the instructions of a range are executed. */
enum isa_var_location_kind {
    ISA_LOCATION_ADDRESS,  /* @value: an address in the debugger's address space (docs/reference/object.md) */
    ISA_LOCATION_FRAME,    /* @value: signed offset from the function's CFA, in local memory */
    ISA_LOCATION_VARIABLE, /* @value: offset in the object's variable @variable */
    ISA_LOCATION_CONSTANT, /* @value: the value of the variable, which is in no register or memory */
    ISA_LOCATION_EXPRESSION, /* an expression of @variable bytes at offset @value of `expressions`: locations of pieces, or a
                              * computed value */
    ISA_LOCATION_KIND_COUNT
};
struct isa_var_location {
    uint32_t from, to; /* instructions [from, to); both 0: valid for all instructions */
    uint8_t kind;      /* enum isa_var_location_kind */
    bool innermost_only;    /* the location is a register that calls do not preserve, so it is invalid in the frame of a caller */
    bool shared_pointer; /* the value is an offset in shared memory that debuggers show as an address */
    uint32_t variable;
    uint64_t value;
};
struct isa_span { /* instructions [from, to) */
    uint32_t from, to;
};

/** Kinds of attribute values. The name of an attribute determines the kind (isa_debug_attr_kind()). */
enum isa_attr_kind {
    ISA_ATTR_NONE,     /* objects do not store this attribute */
    ISA_ATTR_NUMBER,
    ISA_ATTR_SIGNED,
    ISA_ATTR_FLAG,     /* no data; value: 1 */
    ISA_ATTR_TEXT,
    ISA_ATTR_DIE,      /* value: index of an entry */
    ISA_ATTR_LOCATIONS,   /* value: index of the first location; count: number of locations */
    ISA_ATTR_SPANS,    /* value: index of the first span; count: number of spans, sorted and disjoint */
    ISA_ATTR_FUNCTION  /* value: index of a function of the object */
};
struct isa_attr {
    uint16_t name; /* enum isa_dw_at */
    uint32_t count;
    uint64_t value;
    const char *text;
};
/** DWARF debugging information entry (DIE); entries are in preorder. */
struct isa_die {
    uint16_t tag; /* enum isa_dw_tag */
    uint32_t end; /* index of the first entry after the entry's children */
    uint32_t first_attr, attr_count;
};
/** Compile unit: a source that was compiled alone, with its headers. The units of an object were linked. A type, and a variable
 *  or function that is internal, belongs to one unit, and other units may have another one of the same name. */
struct isa_compile_unit {
    unsigned language;   /* DW_LANG_..., 0: unknown */
    uint32_t first_die;  /* index of the unit's first entry; the unit ends where the next unit begins */
    uint32_t first_file, file_count; /* the unit's files in the object; the first one is the source */
};
/** Types, variables and scopes of the source; the root entries are the children of the compile units. */
struct isa_debug {
    struct isa_compile_unit *units; /* in the order of their entries; there is at least one */
    uint32_t unit_count;
    struct isa_die *dies;
    uint32_t die_count;
    struct isa_attr *attrs;
    uint32_t attr_count;
    struct isa_var_location *locations;
    uint32_t location_count;
    struct isa_span *spans;
    uint32_t span_count;
    const uint8_t *expressions; /* expressions of DWARF 4, stored one after the other */
    uint32_t expression_bytes;
};

/* ---- compile units (isa_compile_units.c) -------------------------------------------- */

static inline bool isa_compile_unit_has_file(const struct isa_compile_unit *unit, uint64_t file)
{
    return file >= unit->first_file && file - unit->first_file < unit->file_count;
}
/** Returns the index of the first entry after those of unit @unit. */
uint32_t isa_compile_unit_end(const struct isa_debug *debug, uint32_t unit);
/** Returns the index of the unit that contains instruction @insn: the unit of its function's entry, or else of the function's file.
 *  Returns 0 if no unit contains it. The object must have debug information. */
uint32_t isa_compile_unit_at(const struct isa_object *object, uint32_t insn);

/* ---- expressions for variables (isa_expression.c) --------------------------- */

/** Operations that may be in expressions of an object (DWARF 4, section 7.7.1). Addresses are in the debugger's address space;
 *  the operand of DW_OP_fbreg is added to the function's CFA in local memory. */
enum isa_dw_op {
    ISA_OP_ADDR = 0x03, ISA_OP_CONSTU = 0x10, ISA_OP_AND = 0x1a, ISA_OP_DIV = 0x1b, ISA_OP_MINUS = 0x1c,
    ISA_OP_MUL = 0x1e, ISA_OP_NEG = 0x1f, ISA_OP_NOT = 0x20, ISA_OP_OR = 0x21, ISA_OP_PLUS = 0x22,
    ISA_OP_PLUS_UCONST = 0x23, ISA_OP_SHL = 0x24, ISA_OP_SHR = 0x25, ISA_OP_SHRA = 0x26, ISA_OP_XOR = 0x27,
    ISA_OP_EQ = 0x29, ISA_OP_NE = 0x2e, ISA_OP_FBREG = 0x91, ISA_OP_PIECE = 0x93, ISA_OP_DEREF_SIZE = 0x94,
    ISA_OP_STACK_VALUE = 0x9f
};
/** ISA_EXPRESSION_BYTES: greatest size of a variable that is described by pieces. ISA_VALUE_BITS: in the debug address range for
 *  values, each location has 512 bytes. A line of lldb's memory cache then never contains two locations; otherwise, if one of
 *  them could not be read, lldb would show the other one as zeros. */
enum { ISA_EXPRESSION_BYTES = 256, ISA_VALUE_BITS = 9 };
enum isa_piece_kind {
    ISA_PIECE_MISSING, /* the location or value is not known */
    ISA_PIECE_MEMORY,  /* the piece is in memory, at CFA + @address if @frame is set, otherwise at @address. @value is the
                        * resulting address */
    ISA_PIECE_VALUE    /* the piece has no location, but its value, @value, is known */
};
struct isa_piece {
    uint32_t offset, bytes; /* range of bytes of the variable; @bytes UINT32_MAX: the whole variable */
    uint8_t kind;           /* enum isa_piece_kind */
    bool frame;
    uint64_t address, value;
};
/** Functions by which the evaluation of an expression reads memory, including debug address ranges, and gets the CFA. Both
 *  functions return false if the value is not known. */
struct isa_expression_reader {
    bool (*read)(void *context, uint64_t address, void *out, unsigned bytes);
    bool (*frame)(void *context, uint64_t *address);
    void *context;
};
/** Reads a piece of an expression. *@at is 0 for the first piece and is advanced; @piece contains the previous piece. If @reader
 *  is NULL, no values are computed. Returns false after the last piece, and for an invalid expression. */
bool isa_expression_next(const uint8_t *ops, uint32_t size, uint32_t *at, const struct isa_expression_reader *reader,
                         struct isa_piece *piece);
/** Reads the piece that contains byte @byte of a variable, whose location @location has kind ISA_LOCATION_EXPRESSION. Returns
 *  false if there is no such piece, or if it is missing. */
bool isa_expression_find(const struct isa_debug *debug, const struct isa_var_location *location, uint32_t byte,
                         const struct isa_expression_reader *reader, struct isa_piece *piece);

/** Codes of DWARF 4, section 7: tags and attributes. */
enum isa_dw_tag {
    ISA_TAG_ARRAY = 0x01, ISA_TAG_CLASS = 0x02, ISA_TAG_ENUMERATION = 0x04,
    ISA_TAG_PARAMETER = 0x05, ISA_TAG_BLOCK = 0x0b, ISA_TAG_MEMBER = 0x0d,
    ISA_TAG_POINTER = 0x0f, ISA_TAG_REFERENCE = 0x10, ISA_TAG_UNIT = 0x11,
    ISA_TAG_STRUCTURE = 0x13, ISA_TAG_SUBROUTINE = 0x15, ISA_TAG_TYPEDEF = 0x16,
    ISA_TAG_UNION = 0x17, ISA_TAG_UNSPECIFIED = 0x18, ISA_TAG_INHERITANCE = 0x1c,
    ISA_TAG_INLINED = 0x1d, ISA_TAG_SUBRANGE = 0x21, ISA_TAG_BASE = 0x24, ISA_TAG_CONST = 0x26,
    ISA_TAG_ENUMERATOR = 0x28, ISA_TAG_SUBPROGRAM = 0x2e, ISA_TAG_VARIABLE = 0x34,
    ISA_TAG_VOLATILE = 0x35, ISA_TAG_RESTRICT = 0x37, ISA_TAG_NAMESPACE = 0x39,
    ISA_TAG_UNSPECIFIED_TYPE = 0x3b, ISA_TAG_RVALUE_REFERENCE = 0x42
};
enum isa_dw_at {
    ISA_AT_LOCATION = 0x02, ISA_AT_NAME = 0x03, ISA_AT_BYTE_SIZE = 0x0b, ISA_AT_BIT_SIZE = 0x0d,
    ISA_AT_LOW_PC = 0x11, ISA_AT_CONST_VALUE = 0x1c, ISA_AT_INLINE = 0x20,
    ISA_AT_LOWER_BOUND = 0x22, ISA_AT_PROTOTYPED = 0x27, ISA_AT_UPPER_BOUND = 0x2f,
    ISA_AT_ABSTRACT_ORIGIN = 0x31, ISA_AT_ACCESSIBILITY = 0x32, ISA_AT_ARTIFICIAL = 0x34,
    ISA_AT_CALLING_CONVENTION = 0x36, ISA_AT_COUNT = 0x37, ISA_AT_MEMBER_LOCATION = 0x38, ISA_AT_DECL_FILE = 0x3a,
    ISA_AT_DECL_LINE = 0x3b, ISA_AT_DECLARATION = 0x3c, ISA_AT_ENCODING = 0x3e,
    ISA_AT_EXTERNAL = 0x3f, ISA_AT_TYPE = 0x49, ISA_AT_RANGES = 0x55, ISA_AT_CALL_COLUMN = 0x57,
    ISA_AT_CALL_FILE = 0x58, ISA_AT_CALL_LINE = 0x59, ISA_AT_DATA_BIT_OFFSET = 0x6b,
    ISA_AT_ENUM_CLASS = 0x6d, ISA_AT_LINKAGE_NAME = 0x6e, ISA_AT_VECTOR = 0x2107,
    ISA_AT_LOCAL_OFFSET = 0x2c00 /* our own: offset in the kernel's local memory at which optimised code stores the variable. The
                                  * memory does not contain the variable's value at all instructions, so it is no location */
};
/** Returns the kind of value that attribute @name has in objects. */
enum isa_attr_kind isa_debug_attr_kind(unsigned name);
bool isa_debug_tag_known(unsigned tag);
/** Returns attribute @name of entry @die, or NULL. */
const struct isa_attr *isa_die_attr(const struct isa_debug *debug, uint32_t die, unsigned name);
/** Index of an entry that does not exist. As the type of an entry, ISA_NO_DIE means void, or that the type is not known. */
enum { ISA_NO_DIE = -1 };
/** Returns the value of attribute @name of an entry, or @otherwise if the entry does not have it. */
uint64_t isa_die_number(const struct isa_debug *debug, uint32_t die, unsigned name,
                        uint64_t otherwise);
/** Returns the type of an entry. For an inlined function or variable, this is the type of its abstract origin. */
int64_t isa_die_type(const struct isa_debug *debug, uint32_t die);
/** Returns the name of an entry or of its abstract origin, or NULL if there is no name. */
const char *isa_die_name(const struct isa_debug *debug, uint32_t die);
/** Returns a type without typedefs and qualifiers. Sets *@is_const, unless it is NULL, to whether const is one of the
 *  qualifiers. */
int64_t isa_type_plain(const struct isa_debug *debug, int64_t type, bool *is_const);
bool isa_tag_is_pointer(unsigned tag);
/** Returns the number of elements of dimension @nth of an array, or 0 if the dimension does not exist or has no bound. */
uint64_t isa_type_dimension(const struct isa_debug *debug, uint32_t array, unsigned nth);
unsigned isa_type_dimensions(const struct isa_debug *debug, uint32_t array);
/** Returns the size of a type in bytes; for an array, the size of an element after @skip dimensions, or 0 if it is not known. */
uint64_t isa_type_bytes(const struct isa_debug *debug, int64_t type, unsigned skip);

/* ---- scopes (isa_scopes.c) ----------------------------------------------------------- */

/** Finds the source scopes that contain instruction @insn, outermost first: a function, blocks and inlined calls. The search ends
 *  before scope @inner, which may be ISA_NO_DIE. The object must have debug information. Returns the number of scopes, at most
 *  @capacity. */
unsigned isa_scopes_find(const struct isa_object *object, uint32_t insn, int64_t inner, uint32_t *scopes, unsigned capacity);
/** Prints the source line of instruction @insn, followed by the inlined calls that contain it, innermost first:
 *  " (a.h:5 in f, inlined at a.c:7)". Prints nothing if the line is not known. */
void isa_location_print(const struct isa_object *object, uint32_t insn, struct lw_sink *out);
/** Returns true if a debug entry describes a variable or a parameter. */
bool isa_die_is_variable(const struct isa_debug *debug, uint32_t die);
/** Returns the location of variable @die before instruction @insn is executed, or NULL if the variable has none. */
const struct isa_var_location *isa_variable_location(const struct isa_debug *debug, uint32_t die, uint32_t insn);
/** Returns the debug entry of a function (the DW_TAG_subprogram that names it), or ISA_NO_DIE. */
int64_t isa_function_die(const struct isa_object *object, const struct isa_function *function);
/** Returns the debug entry of parameter @nth of function entry @function, or ISA_NO_DIE. */
int64_t isa_function_parameter(const struct isa_debug *debug, int64_t function, unsigned nth);
/** Returns the name of parameter @index of @function in the source, from the debug information of @object (NULL: not searched), or
 *  else from the function itself. Returns NULL if only a name that compilers generate (`saxpy_param_1`) is known. */
const char *isa_param_name(const struct isa_object *object, const struct isa_function *function, unsigned index);
/* ---- values of scalar types (isa_scalars.c) ------------------------------------------ */

/** Types of scalar values. Integers of 8 and 16 bits have a type of 32 bits. */
enum isa_scalar { ISA_SCALAR_U32, ISA_SCALAR_S32, ISA_SCALAR_U64, ISA_SCALAR_S64, ISA_SCALAR_F32, ISA_SCALAR_F64 };
/** Gets the scalar type and the size of a base, enumeration or pointer type. Returns false for an aggregate. */
bool isa_type_scalar(const struct isa_debug *debug, int64_t type, enum isa_scalar *out, unsigned *bytes);
/** Returns true if a type is `char`, without typedefs and qualifiers. */
bool isa_type_is_char(const struct isa_debug *debug, int64_t type);
/** Returns @bits of a variable with @bytes bytes as a value of type @type: sign-extended or zero-extended to the size of
 *  @type. */
uint64_t isa_scalar_extend(enum isa_scalar type, unsigned bytes, uint64_t bits);
/** Prints a value. A float is printed as the shortest decimal number that converts back to the same float. */
void isa_scalar_print(enum isa_scalar type, uint64_t bits, struct lw_sink *out);
/** Prints an integer, followed by the character if the integer is the code of a printable one: 97 'a'. */
void isa_char_print(int64_t value, struct lw_sink *out);
/** Returns the name of the enumerator of enumeration @type that has the value @bits, "?" if that has no name, or NULL if there is
 *  no such enumerator. */
const char *isa_enumerator_name(const struct isa_debug *debug, int64_t type, uint64_t bits);

#endif
