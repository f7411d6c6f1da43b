/* SPDX-License-Identifier: Apache-2.0 */
/* Internal interface of debug/expr/: the evaluation of expressions, their operands, and values of the source by type. */
#ifndef DBG_EXPR_PRIV_H
#define DBG_EXPR_PRIV_H

#include "debug/debug_priv.h"

enum { DBG_MAX_NAME = 64, DBG_MAX_TYPE_DEPTH = 8 /* maximal nesting of structures that are printed or searched */ };

/* Kinds of locations that an expression can name and an assignment can write. DBG_TARGET_NONE: the value has no location.
 * V, S, P, SP: registers by class. */
enum dbg_target {
    DBG_TARGET_NONE,
    DBG_TARGET_V,
    DBG_TARGET_S,
    DBG_TARGET_P,
    DBG_TARGET_SP,
    DBG_TARGET_EXEC,
    DBG_TARGET_PC,
    DBG_TARGET_LANE,
    DBG_TARGET_MEMORY
};
/** A scalar type of C that needs no debug information. It consists of a type of the debugger and a size in memory. */
struct dbg_own {
    enum dbg_type type;
    unsigned bytes; /* 0: void */
    bool character; /* char: values are printed as text */
};
/** A type that the user has written in an expression: a type of the source or of C, followed by any number of *. */
struct dbg_ctype {
    const struct isa_debug *debug; /* debug information that contains the type; NULL: the type is `own` */
    int64_t type;   /* entry in `debug` */
    struct dbg_own own;
    unsigned stars; /* number of * */
};
/** Result of an expression or a part of one: a value, its location and its type in the source. */
struct dbg_operand {
    struct dbg_value value;
    enum dbg_target kind;  /* kind of the location */
    unsigned number, lane; /* register number and lane of a register */
    bool pair, typed;      /* pair: two registers, `number` and the next one; typed: the user has named a type, as in v3.f32 */
    uint64_t address;      /* generic or debug address, if the location is in memory */
    unsigned bytes;        /* size of the value in memory, in bytes */
    /* Type of the value in the source; `debug` is NULL if it has none: */
    const struct isa_debug *debug;
    int64_t type;   /* entry in `debug`; -1: no type (void) */
    unsigned skip;  /* number of array dimensions that are already indexed */
    bool in_memory; /* true: the value is in memory at `address`; false: `value` is the whole value */
    unsigned bit_first, bit_count; /* bit field in the word at `address`; bit_count 0: no bit field */
    unsigned picked;               /* number of selected vector elements (v.xy), whose indices are in `pick`; 0: the whole
                                    * vector */
    uint8_t pick[16];
    /* Number of * of a pointer that the expression itself has made, by a cast or by &. The pointer points to the source type
     * `type` or, if `debug` is NULL, to the C type `own`. */
    unsigned stars;
    struct dbg_own own;
};

/** Copy of memory at an earlier instruction count, with which values of that time are printed. */
struct dbg_image {
    uint64_t address;
    unsigned bytes;
    const uint8_t *data;
};

/** State of the parser, which evaluates an expression for one lane while it parses. */
struct dbg_expr {
    struct dbg *dbg;
    const struct dbg_image *image; /* copy of memory, from which addresses in its range are read; NULL: no copy */
    dbg_thread_id id;
    unsigned lane, depth; /* the lane; the nesting depth of the part being parsed */
    const char *text, *at; /* the expression; the next character to parse */
    bool dry;       /* dry run: syntax and names are checked, and no state of the machine is read */
    uint64_t place; /* dry run: pc at which names must be in scope; 0: names of any scope are accepted */
    bool plain;     /* the parser is inside the brackets of u32[...] or a similar load, where pointers are integers */
    bool reducing;  /* the parser is inside the brackets of a reduction over lanes, such as any(...) */
    bool have_warp; /* `warp` is valid */
    struct dbg_warp warp;
    enum lw_status status;
    struct lw_error *err;
};

/** Evaluates the expression @text to an operand, which contains the location of its value. Errors: as dbg_eval(). */
enum lw_status dbg_expr_location(struct dbg *dbg, dbg_thread_id id, unsigned lane,
                              const char *text, struct dbg_operand *out, struct lw_error *err)
    LW_MUST_CHECK;

/* ---- parsing (dbg_expr.c) ------------------------------------------------------------- */

void dbg_expr_init(struct dbg_expr *e, struct dbg *dbg, dbg_thread_id id, unsigned lane,
                   const char *text, struct lw_error *err);
/** Fails the expression if its text continues after the part that has been parsed. */
void dbg_expr_end(struct dbg_expr *e);
/** Skips blanks. */
void dbg_expr_skip(struct dbg_expr *e);
/** Skips blanks. If @token follows, skips it and returns true. */
bool dbg_expr_take(struct dbg_expr *e, const char *token);
/** Skips the closing bracket @token. If another character is next, fails the expression and returns false. */
bool dbg_expr_close(struct dbg_expr *e, const char *token);
/** Evaluates a whole expression to a value. */
struct dbg_value dbg_expr_value(struct dbg_expr *e);
/** Evaluates an expression with prefix operators, such as -x or *p, to an operand. */
void dbg_expr_unary(struct dbg_expr *e, struct dbg_operand *o);
/** Reads memory as the lane sees it. Returns false if the lane has no memory at @address. */
bool dbg_expr_read(const struct dbg_expr *e, uint64_t address, void *out, unsigned bytes);
/** Sets @o to a value without a location and without a type in the source. */
void dbg_expr_plain(struct dbg_operand *o, struct dbg_value value);
struct dbg_value dbg_expr_compute(struct dbg_expr *e, const char *op, struct dbg_value x,
                                  struct dbg_value y);
/** Fails the expression if @o is several elements of a vector (v.xy), because these can only be printed. */
void dbg_expr_single(struct dbg_expr *e, const struct dbg_operand *o);
/** Evaluates a call of OpenCL's work-item function @name, such as get_global_id(0); e->at is at the opening bracket
 *  (dbg_expr_names.c). Returns false if @name is not a work-item function or no bracket follows. */
bool dbg_work_item(struct dbg_expr *e, const char *name, struct dbg_operand *o);
/** Evaluates a call of the debugger's function @name, such as any(x > 3); e->at is at the opening bracket
 *  (dbg_expr_functions.c). Returns false if @name is not a function or no bracket follows. */
bool dbg_function(struct dbg_expr *e, const char *name, struct dbg_operand *o);

/* ---- values (dbg_value.c) ---------------------------------------------------------- */

/** Makes a value. Bits above the width of @type are cleared. */
struct dbg_value dbg_value_make(enum dbg_type type, uint64_t bits);
struct dbg_value dbg_value_f32(float f);
struct dbg_value dbg_value_f64(double f);
bool dbg_value_is_float(const struct dbg_value *value);
double dbg_value_double(const struct dbg_value *value);
/** Converts any value to a 64-bit integer: integers are sign-extended, floats truncated and clamped. */
uint64_t dbg_value_u64(const struct dbg_value *value);
struct dbg_value dbg_value_convert(const struct dbg_value *value, enum dbg_type type);

/* ---- names (dbg_expr_names.c) -------------------------------------------------------------- */

/** Fails the expression with a message. If the expression has failed before, its first message remains. */
void dbg_expr_fail(struct dbg_expr *e, enum lw_status status, const char *fmt, ...)
    LW_PRINTF(3, 4);
bool dbg_name_char(char c);
/** Finds one of the debugger's types by its name, such as "u8" or "f64", and its size in memory. Returns false if there
 *  is no such type. */
bool dbg_type_by_name(const char *name, enum dbg_type *type, unsigned *bytes);
/** Sets e->warp at the first call. If the thread is not resident, fails the expression and returns false. */
bool dbg_expr_warp(struct dbg_expr *e);
/** Reads the register whose kind, number and lane @o contains. */
void dbg_name_register(struct dbg_expr *e, struct dbg_operand *o);
/** Resolves @name. e->at is at the character after the name. May parse what follows the name (":3", ".x"). Returns false if
 *  nothing has this name. Returns true and fails the expression if the name cannot be used here. */
bool dbg_name_resolve(struct dbg_expr *e, const char *name, struct dbg_operand *o);
/** Fails the expression because nothing is called @name, and proposes the most similar name. */
void dbg_name_unknown(struct dbg_expr *e, const char *name);

/* ---- variables of the source (dbg_variables.c) ---------------------------------------- */

/** Resolves a variable that is in scope at the lane's pc: its type and location. Returns false if no variable has the name.
 *  Returns true and fails the expression if the variable has no location. */
bool dbg_variable_resolve(struct dbg_expr *e, const char *name, struct dbg_operand *o);
/** Resolves an enumerator of the source by its name. Returns false if there is none. */
bool dbg_enumerator(struct dbg_expr *e, const char *name, struct dbg_operand *o);
/** Returns the index of the compile unit whose names an expression means first: the unit of the code where the expression is
 *  evaluated. Returns 0 if this code does not have the debug information @debug. */
uint32_t dbg_expr_unit(struct dbg_expr *e, const struct isa_debug *debug);
void dbg_variables_each(struct dbg *dbg, dbg_thread_id id, unsigned lane, dbg_name_fn fn,
                        void *context);
/** Replaces operand @o, a structure, by its member at @offset bytes. @die is the debug information entry of the member. */
void dbg_typed_become_member(struct dbg_operand *o, uint32_t die, uint64_t offset);
/** Returns true if all objects of the class share the member. */
bool dbg_member_is_static(const struct isa_debug *debug, uint32_t member);
/** Replaces operand @o, which has a type in the source, by its member @name. Fails the expression if that is not possible. */
void dbg_typed_member(struct dbg_expr *e, struct dbg_operand *o, const char *name);
/** Replaces operand @o, an array or pointer, by its element @index. Fails the expression if that is not possible. */
void dbg_typed_index(struct dbg_expr *e, struct dbg_operand *o, int64_t index);
/** Replaces operand @o, a pointer, by the object to which it points. Fails the expression if that is not possible. */
void dbg_typed_follow(struct dbg_expr *e, struct dbg_operand *o);
/** Returns the size of an operand in bytes, or 0 if it is not known. */
uint64_t dbg_typed_bytes(const struct dbg_operand *o);
bool dbg_typed_is_structure(const struct dbg_operand *o);
bool dbg_typed_is_reference(const struct dbg_operand *o);
/** Returns true if the operand is a pointer to a structure with a member @name (NULL: with any member). `p.member` then
 *  means `p->member`, as in gdb. */
bool dbg_typed_points_to_member(const struct dbg_operand *o, const char *name);
/** Returns true if the operand is a vector such as OpenCL's float4, whose elements have the names x, y, z and w. */
bool dbg_typed_is_vector(const struct dbg_operand *o);
/** Reads the value of a scalar operand. Returns false if the operand is an aggregate; in this case the value is the address of
 *  the aggregate. */
bool dbg_typed_finish(struct dbg_expr *e, struct dbg_operand *o);
/** Returns true if the operand has a type in the source or is a pointer that the expression has made. */
static inline bool dbg_typed(const struct dbg_operand *o)
{
    return o->debug != NULL || o->stars != 0;
}
/** Gets the distance in bytes between two consecutive elements of an array, or of the memory to which a pointer points;
 *  *@bytes is 0 if the distance is not known. Returns false if the operand is neither array nor pointer. */
bool dbg_typed_stride(const struct dbg_operand *o, uint64_t *bytes);
/** Prepares an operand for pointer arithmetic: an array becomes a pointer to its first element. */
void dbg_typed_decay(struct dbg_operand *o);
/** Replaces an operand by a pointer to the operand. Returns false if the operand has no address. */
bool dbg_typed_address(struct dbg_operand *o);
/** Converts the value of an operand to @type. Fails the expression if that is not possible. */
void dbg_typed_cast(struct dbg_expr *e, struct dbg_operand *o, const struct dbg_ctype *type);
/** Sets operand @o to the value in memory at @address, of the debugger's type @type and a size of @bytes. */
void dbg_expr_load(struct dbg_expr *e, struct dbg_operand *o, enum dbg_type type,
                   unsigned bytes, uint64_t address);
/** Makes the value of a scalar of @bytes from @bits: truncates it to its size, and sign-extends it if @type is signed. */
struct dbg_value dbg_scalar(enum dbg_type type, unsigned bytes, uint64_t bits);

/** Gets the result of the function from which the lane has just returned (dbg_return_value.c). @function is the function;
 *  NULL: the one that the call instruction before the lane's pc names. Returns false if the function has no result, or if
 *  the result is not known. */
bool dbg_returned(struct dbg *dbg, dbg_thread_id id, unsigned lane,
                  const struct isa_function *function, struct dbg_operand *out);

/* ---- values by type (dbg_print.c) ------------------------------------------------------- */

enum { DBG_MOST_VALUES = 800, DBG_MOST_CELL_VALUES = 32 };
/** Prints an operand by its type. For an aggregate, prints at most @most values, and then dots. */
void dbg_typed_print(struct dbg *dbg, dbg_thread_id id, unsigned lane, struct dbg_operand *o,
                     char format, unsigned most, struct lw_sink *out);
/** Prints an operand as dbg_typed_print() does, but reads memory from the copy @image. */
void dbg_typed_print_image(struct dbg *dbg, struct dbg_operand *o, const struct dbg_image *image,
                           unsigned most, struct lw_sink *out);
/** Prints @count consecutive values, of which @o is the first, as for the expression POINTER@COUNT. */
void dbg_typed_print_row(struct dbg *dbg, dbg_thread_id id, unsigned lane,
                         const struct dbg_operand *o, uint64_t count, char format,
                         unsigned most, struct lw_sink *out);

/* ---- types in expressions (dbg_type_parse.c) -------------------------------------------- */

/** Parses a type at e->at and moves e->at past the type. Returns false and does not move e->at if no type is there. */
bool dbg_type_parse(struct dbg_expr *e, struct dbg_ctype *out);
/** Prints the type of an operand. @whole: as for dbg_print_type(). */
void dbg_operand_type_print(const struct dbg_operand *o, bool whole, struct lw_sink *out);
void dbg_own_type_print(const struct dbg_own *own, struct lw_sink *out);

#endif
