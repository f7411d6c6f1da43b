/* SPDX-License-Identifier: Apache-2.0 */
/* Between dbg_expr.c, dbg_expr_names.c and dbg_value.c. */
#ifndef DBG_EXPR_PRIV_H
#define DBG_EXPR_PRIV_H

#include "debug/debug_priv.h"

enum { DBG_MAX_NAME = 64, DBG_MAX_TYPE_DEPTH = 8 /* structures in structures */ };

/* What an assignment may write to. */
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
/** A type that needs no debug information; bytes 0: void. */
struct dbg_own {
    enum dbg_type type;
    unsigned bytes;
    bool character;
};
/** A type as an expression names it: of the source, or ours, and the * after it. */
struct dbg_ctype {
    const struct isa_debug *debug; /* NULL: own */
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
    /* a value of the source: its type; debug NULL: it is none */
    const struct isa_debug *debug;
    int64_t type;   /* entry, -1: no type (void) */
    unsigned skip;  /* dimensions of an array that are chosen */
    bool in_memory; /* at address; else the value is all there is */
    unsigned bit_first, bit_count; /* a bit field of the word at address; count 0: none */
    unsigned picked;               /* v.xy: several elements of the vector, these; 0: it is the whole */
    uint8_t pick[16];
    /* a pointer of the expression's own, `(float *)x` or `&y`: so many * after the type; what it
     * points to is the type of the source above, or, where debug is NULL, one of ours: */
    unsigned stars;
    struct dbg_own own;
};

/** Bytes of memory as they were, for values of that time. */
struct dbg_image {
    uint64_t address;
    unsigned bytes;
    const uint8_t *data;
};

struct dbg_expr {
    struct dbg *dbg;
    const struct dbg_image *image; /* what is in it is read there; NULL: none */
    dbg_thread_id id;
    unsigned lane, depth;
    const char *text, *at;
    bool dry;       /* read no state */
    uint64_t place; /* of a dry run: a pc, whose names are known; 0: those of any place */
    bool plain;     /* pointers are integers here: inside u32[...] */
    bool reducing;  /* inside of any(...) and the like */
    bool have_warp; /* warp is located */
    struct dbg_warp warp;
    enum lw_status status;
    struct lw_error *err;
};

/** What @text names for a lane, with its place. Errors: as dbg_eval. */
enum lw_status dbg_expr_location(struct dbg *dbg, dbg_thread_id id, unsigned lane,
                              const char *text, struct dbg_operand *out, struct lw_error *err)
    LW_MUST_CHECK;

/* ---- reading (dbg_expr.c) ------------------------------------------------------------ */

void dbg_expr_init(struct dbg_expr *e, struct dbg *dbg, dbg_thread_id id, unsigned lane,
                   const char *text, struct lw_error *err);
/** Nothing may be left of the text. */
void dbg_expr_end(struct dbg_expr *e);
void dbg_expr_skip(struct dbg_expr *e);
/** Skips @token and the blanks before it, if it comes next. */
bool dbg_expr_take(struct dbg_expr *e, const char *token);
/** The same of a closing bracket, which must be there: else the expression fails. */
bool dbg_expr_close(struct dbg_expr *e, const char *token);
/** The value of a whole expression; of operators in front of a value, as an operand. */
struct dbg_value dbg_expr_value(struct dbg_expr *e);
void dbg_expr_unary(struct dbg_expr *e, struct dbg_operand *o);
/** Memory as the lane sees it; false: it has none there. */
bool dbg_expr_read(const struct dbg_expr *e, uint64_t address, void *out, unsigned bytes);
/** A value without type or place. */
void dbg_expr_plain(struct dbg_operand *o, struct dbg_value value);
struct dbg_value dbg_expr_compute(struct dbg_expr *e, const char *op, struct dbg_value x,
                                  struct dbg_value y);
/** Several elements of a vector can be printed, and nothing else: a failure is noted. */
void dbg_expr_single(struct dbg_expr *e, const struct dbg_operand *o);
/** get_global_id(0) and the like of OpenCL, with e->at after the bracket (dbg_expr_names.c). False: @name is none. */
bool dbg_work_item(struct dbg_expr *e, const char *name, struct dbg_operand *o);
/** Where @name is a function and a bracket follows: its value (dbg_expr_functions.c). */
bool dbg_function(struct dbg_expr *e, const char *name, struct dbg_operand *o);

/* ---- values (dbg_value.c) ---------------------------------------------------------- */

/** Bits beyond the type's are dropped. */
struct dbg_value dbg_value_make(enum dbg_type type, uint64_t bits);
struct dbg_value dbg_value_f32(float f);
struct dbg_value dbg_value_f64(double f);
bool dbg_value_is_float(const struct dbg_value *value);
double dbg_value_double(const struct dbg_value *value);
/** 64-bit integer of any value: sign-extended, floats truncated and clamped. */
uint64_t dbg_value_u64(const struct dbg_value *value);
struct dbg_value dbg_value_convert(const struct dbg_value *value, enum dbg_type type);

/* ---- names (dbg_expr_names.c) -------------------------------------------------------------- */

/** The first failure counts; later ones are dropped. */
void dbg_expr_fail(struct dbg_expr *e, enum lw_status status, const char *fmt, ...)
    LW_PRINTF(3, 4);
bool dbg_name_char(char c);
/** "u8" ... "f64": the type that holds it and its bytes in memory. */
bool dbg_type_by_name(const char *name, enum dbg_type *type, unsigned *bytes);
/** Locate the warp, once. False, with the failure noted, when it is gone. */
bool dbg_expr_warp(struct dbg_expr *e);
/** Read the register that @o names. */
void dbg_name_register(struct dbg_expr *e, struct dbg_operand *o);
/** @name was read, e->at is after it; may read on (":3", ".x"). False: nothing has this
 *  name. A name that is refused is true, with the failure noted. */
bool dbg_name_resolve(struct dbg_expr *e, const char *name, struct dbg_operand *o);
/** Fail: nothing is called so; what is nearest? */
void dbg_name_unknown(struct dbg_expr *e, const char *name);

/* ---- variables of the source (dbg_variables.c) ---------------------------------------- */

/** A variable in scope where the lane is: its type and place. False: there is none of the
 *  name; one that has no place is true, with the failure noted. */
bool dbg_variable_resolve(struct dbg_expr *e, const char *name, struct dbg_operand *o);
/** A value of an enumeration of the source by its name. */
bool dbg_enumerator(const struct dbg *dbg, const char *name, struct dbg_operand *o);
void dbg_variables_each(struct dbg *dbg, dbg_thread_id id, unsigned lane, dbg_name_fn fn,
                        void *context);
/** Become the member that the entry @die describes, @offset bytes from the structure's start. */
void dbg_typed_become_member(struct dbg_operand *o, uint32_t die, uint64_t offset);
/** Is the member one of all objects of the type, so in none of them? */
bool dbg_member_is_static(const struct isa_debug *debug, uint32_t member);
/** Steps of a typed operand; a failure is noted. */
void dbg_typed_member(struct dbg_expr *e, struct dbg_operand *o, const char *name);
void dbg_typed_index(struct dbg_expr *e, struct dbg_operand *o, int64_t index);
void dbg_typed_follow(struct dbg_expr *e, struct dbg_operand *o);
/** Bytes that it takes; 0: not known. */
uint64_t dbg_typed_bytes(const struct dbg_operand *o);
bool dbg_typed_is_structure(const struct dbg_operand *o);
bool dbg_typed_is_reference(const struct dbg_operand *o);
/** A pointer to a structure that has a member of the name, or to any (NULL): `p.member` is then
 *  `p->member`, as gdb has it. */
bool dbg_typed_points_to_member(const struct dbg_operand *o, const char *name);
/** A float4 of OpenCL: an array whose elements are called x, y, z and w, too. */
bool dbg_typed_is_vector(const struct dbg_operand *o);
/** Read a scalar's value; false: an aggregate, whose value is its address. */
bool dbg_typed_finish(struct dbg_expr *e, struct dbg_operand *o);
/** It has a type beyond its value's. */
static inline bool dbg_typed(const struct dbg_operand *o)
{
    return o->debug != NULL || o->stars != 0;
}
/** What a pointer or an array steps by; false: it is neither. 0 bytes: not known. */
bool dbg_typed_stride(const struct dbg_operand *o, uint64_t *bytes);
/** Become a pointer that can be computed with: an array decays, the value is read. */
void dbg_typed_decay(struct dbg_operand *o);
/** Become a pointer to what it was. False: it has no address. */
bool dbg_typed_address(struct dbg_operand *o);
/** The value as @type; a failure is noted. */
void dbg_typed_cast(struct dbg_expr *e, struct dbg_operand *o, const struct dbg_ctype *type);
/** Load a value of one of our types. */
void dbg_expr_load(struct dbg_expr *e, struct dbg_operand *o, enum dbg_type type,
                   unsigned bytes, uint64_t address);
/** The value of a scalar of @bytes: narrowed, with its sign. */
struct dbg_value dbg_scalar(enum dbg_type type, unsigned bytes, uint64_t bits);

/** What the call that the lane has just returned from has returned (dbg_return_value.c). @function: the
 *  one that was called; NULL: as the call names it. False: nothing, or it is not known. */
bool dbg_returned(struct dbg *dbg, dbg_thread_id id, unsigned lane,
                  const struct isa_function *function, struct dbg_operand *out);

/* ---- values by type (dbg_print.c) ------------------------------------------------------- */

enum { DBG_MOST_VALUES = 800, DBG_MOST_CELL_VALUES = 32 };
/** @most: so many values of an aggregate, then dots. */
void dbg_typed_print(struct dbg *dbg, dbg_thread_id id, unsigned lane, struct dbg_operand *o,
                     char format, unsigned most, struct lw_sink *out);
/** The same as it was when the memory was as in @image. */
void dbg_typed_print_image(struct dbg *dbg, struct dbg_operand *o, const struct dbg_image *image,
                           unsigned most, struct lw_sink *out);
/** @count values side by side from the one that @o is: pointer@count. */
void dbg_typed_print_row(struct dbg *dbg, dbg_thread_id id, unsigned lane,
                         const struct dbg_operand *o, uint64_t count, char format,
                         unsigned most, struct lw_sink *out);

/* ---- types of the source (dbg_types.c) ------------------------------------------------- */

/** A type at e->at, which advances past it; false: none is there, and nothing moved. */
bool dbg_type_parse(struct dbg_expr *e, struct dbg_ctype *out);
/** The type of an operand, or of our own ones. */
void dbg_operand_type_print(const struct dbg_operand *o, bool whole, struct lw_sink *out);
void dbg_own_type_print(const struct dbg_own *own, struct lw_sink *out);

#endif
