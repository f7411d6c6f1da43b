/* SPDX-License-Identifier: Apache-2.0 */
/* Between dbg_expr.c, dbg_names.c and dbg_value.c. */
#ifndef DBG_EXPR_PRIV_H
#define DBG_EXPR_PRIV_H

#include "debug/debug_priv.h"

enum { DBG_MAX_NAME = 64 };

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
};

struct dbg_expr {
    struct dbg *dbg;
    dbg_thread_id id;
    unsigned lane, depth;
    const char *text, *at;
    bool dry;       /* read no state */
    bool have_warp; /* warp is located */
    struct dbg_warp warp;
    enum lw_status status;
    struct lw_error *err;
};

/** What @text names for a lane, with its place. Errors: as dbg_eval. */
enum lw_status dbg_expr_place(struct dbg *dbg, dbg_thread_id id, unsigned lane,
                              const char *text, struct dbg_operand *out, struct lw_error *err)
    LW_MUST_CHECK;

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

/* ---- names (dbg_names.c) -------------------------------------------------------------- */

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
/** @name was read, e->at is behind it; may read on (":3", ".x"). False: nothing has this
 *  name. A name that is refused is true, with the failure noted. */
bool dbg_name_resolve(struct dbg_expr *e, const char *name, struct dbg_operand *o);

/* ---- variables of the source (dbg_variables.c) ---------------------------------------- */

/** A variable in scope where the lane is: its type and place. False: there is none of the
 *  name; one that has no place is true, with the failure noted. */
bool dbg_variable_resolve(struct dbg_expr *e, const char *name, struct dbg_operand *o);
/** Steps of a typed operand; a failure is noted. */
void dbg_typed_member(struct dbg_expr *e, struct dbg_operand *o, const char *name);
void dbg_typed_index(struct dbg_expr *e, struct dbg_operand *o, int64_t index);
void dbg_typed_follow(struct dbg_expr *e, struct dbg_operand *o);
/** Bytes that it takes; 0: not known. */
uint64_t dbg_typed_bytes(const struct dbg_operand *o);
bool dbg_typed_is_structure(const struct dbg_operand *o);
/** Read a scalar's value; false: an aggregate, whose value is its address. */
bool dbg_typed_finish(struct dbg_expr *e, struct dbg_operand *o);
void dbg_typed_print(struct dbg *dbg, dbg_thread_id id, unsigned lane, struct dbg_operand *o,
                     char format, struct lw_sink *out);

#endif
