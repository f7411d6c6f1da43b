/* SPDX-License-Identifier: Apache-2.0 */
/* Internal interface of dbg_expr.c, dbg_expr_names.c and dbg_value.c. */
#ifndef DBG_EXPR_PRIV_H
#define DBG_EXPR_PRIV_H

#include "debug/debug_priv.h"

enum { DBG_MAX_NAME = 64, DBG_MAX_TYPE_DEPTH = 8 /* nesting of structures */ };

/* Kinds of targets that an assignment can write to. */
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
/** A type of C that needs no debug information; bytes 0: void. */
struct dbg_own {
    enum dbg_type type;
    unsigned bytes;
    bool character;
};
/** A type that an expression names, of the source or of C, with the * after it. */
struct dbg_ctype {
    const struct isa_debug *debug; /* debug information that has the type; NULL: the type is `own` */
    int64_t type;
    struct dbg_own own;
    unsigned stars;
};
struct dbg_operand {
    struct dbg_value value;
    enum dbg_target kind;
    unsigned number, lane;
    bool pair, typed;
    uint64_t address;
    unsigned bytes;
    /* source type of the value; debug NULL: it has none */
    const struct isa_debug *debug;
    int64_t type;   /* entry in debug, -1: no type (void) */
    unsigned skip;  /* number of array dimensions that are already indexed */
    bool in_memory; /* the value is in memory at address; else the operand holds the whole value */
    unsigned bit_first, bit_count; /* bit field in the word at address; count 0: none */
    unsigned picked;               /* number of selected vector elements (v.xy), listed next; 0: the whole vector */
    uint8_t pick[16];
    /* number of * of a pointer that the expression itself made, `(float *)x` or `&y`. It points to the source
     * type above or, where debug is NULL, to the following C type: */
    unsigned stars;
    struct dbg_own own;
};

/** Copy of memory at an earlier count, for values of that time. */
struct dbg_image {
    uint64_t address;
    unsigned bytes;
    const uint8_t *data;
};

struct dbg_expr {
    struct dbg *dbg;
    const struct dbg_image *image; /* reads inside this range use the copy; NULL: no copy */
    dbg_thread_id id;
    unsigned lane, depth;
    const char *text, *at;
    bool dry;       /* dry run: reads no state */
    uint64_t place; /* dry run: pc at which names are resolved; 0: names of any scope are known */
    bool plain;     /* inside u32[...] and similar loads: pointers are integers */
    bool reducing;  /* inside a reduction over lanes, such as any(...) */
    bool have_warp; /* warp has been located */
    struct dbg_warp warp;
    enum lw_status status;
    struct lw_error *err;
};

/** Evaluates @text to an operand with its location. Errors: as dbg_eval. */
enum lw_status dbg_expr_location(struct dbg *dbg, dbg_thread_id id, unsigned lane,
                              const char *text, struct dbg_operand *out, struct lw_error *err)
    LW_MUST_CHECK;

/* ---- reading (dbg_expr.c) ------------------------------------------------------------ */

void dbg_expr_init(struct dbg_expr *e, struct dbg *dbg, dbg_thread_id id, unsigned lane,
                   const char *text, struct lw_error *err);
/** Fails unless the end of the text has been reached. */
void dbg_expr_end(struct dbg_expr *e);
void dbg_expr_skip(struct dbg_expr *e);
/** Skips blanks and @token if it comes next; returns whether it did. */
bool dbg_expr_take(struct dbg_expr *e, const char *token);
/** Skips the closing bracket @token; without the bracket the expression fails. */
bool dbg_expr_close(struct dbg_expr *e, const char *token);
/** Evaluates a whole expression to a value. */
struct dbg_value dbg_expr_value(struct dbg_expr *e);
/** Evaluates prefix operators and the expression to which they apply, to an operand. */
void dbg_expr_unary(struct dbg_expr *e, struct dbg_operand *o);
/** Reads memory as the lane sees it. Returns false if the lane has no memory there. */
bool dbg_expr_read(const struct dbg_expr *e, uint64_t address, void *out, unsigned bytes);
/** Sets @o to a value without source type or location. */
void dbg_expr_plain(struct dbg_operand *o, struct dbg_value value);
struct dbg_value dbg_expr_compute(struct dbg_expr *e, const char *op, struct dbg_value x,
                                  struct dbg_value y);
/** Fails for several elements of a vector, which can only be printed. */
void dbg_expr_single(struct dbg_expr *e, const struct dbg_operand *o);
/** Evaluates a work-item function of OpenCL such as get_global_id(0), with e->at after the opening bracket
 *  (dbg_expr_names.c). Returns false if @name is not a work-item function. */
bool dbg_work_item(struct dbg_expr *e, const char *name, struct dbg_operand *o);
/** Evaluates a function call if @name is a function and a bracket follows (dbg_expr_functions.c); else
 *  returns false. */
bool dbg_function(struct dbg_expr *e, const char *name, struct dbg_operand *o);

/* ---- values (dbg_value.c) ---------------------------------------------------------- */

/** Makes a value; drops bits beyond the width of @type. */
struct dbg_value dbg_value_make(enum dbg_type type, uint64_t bits);
struct dbg_value dbg_value_f32(float f);
struct dbg_value dbg_value_f64(double f);
bool dbg_value_is_float(const struct dbg_value *value);
double dbg_value_double(const struct dbg_value *value);
/** Converts any value to a 64-bit integer: sign-extends integers, truncates and clamps floats. */
uint64_t dbg_value_u64(const struct dbg_value *value);
struct dbg_value dbg_value_convert(const struct dbg_value *value, enum dbg_type type);

/* ---- names (dbg_expr_names.c) -------------------------------------------------------------- */

/** Records a failure; only the first failure of an expression counts. */
void dbg_expr_fail(struct dbg_expr *e, enum lw_status status, const char *fmt, ...)
    LW_PRINTF(3, 4);
bool dbg_name_char(char c);
/** Finds a type by its name "u8" ... "f64", and its size in memory. */
bool dbg_type_by_name(const char *name, enum dbg_type *type, unsigned *bytes);
/** Locates the warp on the first call. Returns false and fails the expression if the warp is gone. */
bool dbg_expr_warp(struct dbg_expr *e);
/** Reads the register that @o names. */
void dbg_name_register(struct dbg_expr *e, struct dbg_operand *o);
/** Resolves @name, which has been read (e->at is after it), and may read on (":3", ".x"). Returns false if
 *  nothing has this name. Returns true and fails the expression for a name that is refused. */
bool dbg_name_resolve(struct dbg_expr *e, const char *name, struct dbg_operand *o);
/** Fails for an unknown name and proposes the nearest one. */
void dbg_name_unknown(struct dbg_expr *e, const char *name);

/* ---- variables of the source (dbg_variables.c) ---------------------------------------- */

/** Resolves a variable in scope at the lane: its type and location. Returns false if none has the name.
 *  Returns true and fails the expression if the variable has no location. */
bool dbg_variable_resolve(struct dbg_expr *e, const char *name, struct dbg_operand *o);
/** Resolves an enumerator of the source by its name. */
bool dbg_enumerator(const struct dbg *dbg, const char *name, struct dbg_operand *o);
void dbg_variables_each(struct dbg *dbg, dbg_thread_id id, unsigned lane, dbg_name_fn fn,
                        void *context);
/** Changes a structure to its member described by entry @die, @offset bytes from the structure's start. */
void dbg_typed_become_member(struct dbg_operand *o, uint32_t die, uint64_t offset);
/** Returns true if all objects of the class share the member. */
bool dbg_member_is_static(const struct isa_debug *debug, uint32_t member);
/** Replaces operand @o, which has a source type, by its member @name. Failures are recorded in @e, as by the two functions
 *  that follow. */
void dbg_typed_member(struct dbg_expr *e, struct dbg_operand *o, const char *name);
/** Replaces operand @o, an array or pointer, by its element @index. */
void dbg_typed_index(struct dbg_expr *e, struct dbg_operand *o, int64_t index);
/** Replaces operand @o, a pointer, by the object to which it points. */
void dbg_typed_follow(struct dbg_expr *e, struct dbg_operand *o);
/** Returns the operand's size in bytes; 0: not known. */
uint64_t dbg_typed_bytes(const struct dbg_operand *o);
bool dbg_typed_is_structure(const struct dbg_operand *o);
bool dbg_typed_is_reference(const struct dbg_operand *o);
/** Returns true for a pointer to a structure that has member @name, or any member (NULL): `p.member` then
 *  means `p->member`, as in gdb. */
bool dbg_typed_points_to_member(const struct dbg_operand *o, const char *name);
/** Returns true for a vector such as OpenCL's float4: an array whose elements also have the names x, y, z and
 *  w. */
bool dbg_typed_is_vector(const struct dbg_operand *o);
/** Reads the value of a scalar. Returns false for an aggregate, whose value is its address. */
bool dbg_typed_finish(struct dbg_expr *e, struct dbg_operand *o);
/** Returns true if the operand has a source type or is a pointer made by the expression. */
static inline bool dbg_typed(const struct dbg_operand *o)
{
    return o->debug != NULL || o->stars != 0;
}
/** Gets the step in bytes of a pointer or an array; 0: not known. Returns false for anything else. */
bool dbg_typed_stride(const struct dbg_operand *o, uint64_t *bytes);
/** Prepares an operand for pointer arithmetic: an array decays to a pointer, a pointer's value is read. */
void dbg_typed_decay(struct dbg_operand *o);
/** Changes an operand to a pointer to itself. Returns false if it has no address. */
bool dbg_typed_address(struct dbg_operand *o);
/** Converts the value to @type; failures are recorded in @e. */
void dbg_typed_cast(struct dbg_expr *e, struct dbg_operand *o, const struct dbg_ctype *type);
/** Loads a value of one of the debugger's types. */
void dbg_expr_load(struct dbg_expr *e, struct dbg_operand *o, enum dbg_type type,
                   unsigned bytes, uint64_t address);
/** Makes the value of a scalar of @bytes: narrowed, and sign-extended for signed types. */
struct dbg_value dbg_scalar(enum dbg_type type, unsigned bytes, uint64_t bits);

/** Gets the result of the call from which the lane has just returned (dbg_return_value.c). @function is the
 *  called function; NULL: taken from the call instruction. Returns false if there is no result or it is not
 *  known. */
bool dbg_returned(struct dbg *dbg, dbg_thread_id id, unsigned lane,
                  const struct isa_function *function, struct dbg_operand *out);

/* ---- values by type (dbg_print.c) ------------------------------------------------------- */

enum { DBG_MOST_VALUES = 800, DBG_MOST_CELL_VALUES = 32 };
/** Prints an operand by type; at most @most values of an aggregate, then dots. */
void dbg_typed_print(struct dbg *dbg, dbg_thread_id id, unsigned lane, struct dbg_operand *o,
                     char format, unsigned most, struct lw_sink *out);
/** Prints an operand by type, with memory as it was in @image. */
void dbg_typed_print_image(struct dbg *dbg, struct dbg_operand *o, const struct dbg_image *image,
                           unsigned most, struct lw_sink *out);
/** Prints @count consecutive values from @o on: pointer@count. */
void dbg_typed_print_row(struct dbg *dbg, dbg_thread_id id, unsigned lane,
                         const struct dbg_operand *o, uint64_t count, char format,
                         unsigned most, struct lw_sink *out);

/* ---- types of the source (dbg_types.c) ------------------------------------------------- */

/** Parses a type at e->at and advances past it. Returns false and does not move if there is no type. */
bool dbg_type_parse(struct dbg_expr *e, struct dbg_ctype *out);
/** Prints the type of an operand. */
void dbg_operand_type_print(const struct dbg_operand *o, bool whole, struct lw_sink *out);
void dbg_own_type_print(const struct dbg_own *own, struct lw_sink *out);

#endif
