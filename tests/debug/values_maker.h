/* SPDX-License-Identifier: Apache-2.0 */
/* State and functions that values_kernels.c (expressions and statements) and values_functions.c (functions and kernels) share. */
#ifndef VALUES_MAKER_H
#define VALUES_MAKER_H

#include "tests/debug/values_kernels.h"

enum type {
    U32, S32, U64, S64, U16, U8, F32, F64, VECTOR, PAIR, RECORD, ARRAY, FIXED /* an array with constant indices */,
    USUAL_COUNT, MIXED = USUAL_COUNT /* a structure with an array */, TYPE_COUNT
};
enum { THREADS = VALUES_BLOCKS * VALUES_THREADS, MOST_STORES = 1200 };
enum { MOST_VARIABLES = 64, MOST_HELPERS = 5, MOST_PARAMETERS = 3, MOST_DEPTH = 4 };

struct variable {
    const char *name;
    enum type type;
    bool fixed; /* the variable is the counter of a loop, so other code must not change it */
};

struct helper {
    char name[8];
    enum type result, parameter[MOST_PARAMETERS];
    unsigned parameters;
    bool by_reference; /* the first parameter is a pointer or a reference to U32, as in kernels with idioms */
    bool by_pointer; /* the first parameter is a pointer to U32, and the function returns nothing */
    enum type pointed; /* MIXED or ARRAY if the first parameter points to this type, as in kernels with variables in memory */
    unsigned stores; /* in observed kernels: maximum number of stores of a call */
};

struct maker {
    struct prop_random *r;
    struct lw_sink *out;
    struct lw_arena arena;
    bool cuda, kernel, constant; /* constant: the kernel does not assign to its parameters */
    unsigned indent, names, lines, depth, loops, switches;
    enum type result;
    struct variable variable[MOST_VARIABLES];
    unsigned variables;
    unsigned behind; /* if not 0: the variables up to this index belong to the block that this statement ends */
    struct helper helper[MOST_HELPERS];
    unsigned helpers, callable; /* functions before @callable may be called */
    unsigned cost;              /* maximum number of times that the surrounding loops execute the current code, times @least */
    unsigned least;             /* value of @cost outside loops: 1 in kernels, 16 in other functions */
    /* The following members are used for observed kernels. */
    bool observed;
    bool memory;      /* the kernel is VALUES_MEMORY */
    bool idioms;      /* the kernel is VALUES_IDIOMS */
    bool declares;    /* the variable to be stored has just been declared */
    unsigned quiet;   /* calls are not possible at this point */
    unsigned pending; /* number of stores in the functions that this statement calls */
    unsigned stores;  /* maximum number of stores of this function */
};

#define TEXT(...) lw_arena_printf(&m->arena, __VA_ARGS__)

#define LINE(...) \
    do { \
        for (unsigned tab = 0; tab < m->indent; tab++) \
            lw_put(m->out, "    "); \
        lw_printf(m->out, __VA_ARGS__); \
        lw_put(m->out, "\n"); \
        m->lines++; \
    } while (0)

/** Returns the name of a type in the language of the kernel. */
const char *values_type_name(const struct maker *m, enum type type);
/** Returns a random number less than @n. */
unsigned values_below(struct maker *m, unsigned n);
/** Returns a visible variable for which @accepts is true, or NULL if there is none or the random choice finds none. */
const struct variable *values_choose(struct maker *m, bool (*accepts)(const struct variable *));
bool values_is_any(const struct variable *v);
/** Returns a new name that begins with @prefix. */
const char *values_fresh(struct maker *m, const char *prefix);
/** Declares a variable to the maker, not in the source. */
const struct variable *values_add(struct maker *m, const char *name, enum type type, bool fixed);
/** Return the text of an expression of type uint, of a load of the input, of a condition, and of the given type. */
const char *values_u32(struct maker *m, unsigned depth);
const char *values_input(struct maker *m);
const char *values_condition(struct maker *m);
const char *values_as(struct maker *m, enum type type, unsigned depth);
/** Returns the text of a variable as a 32-bit number. */
const char *values_leaf_of(struct maker *m, const struct variable *v);
/** Adds the pending stores to the maximum of this function, once for each time that the surrounding loops execute the current
 *  code. */
void values_count_pending(struct maker *m);
/** Writes a statement that stores variable @name, to which the preceding statement has assigned, and that advances the index of
 *  the next store. Writes nothing if the kernel is not observed. */
void values_observe(struct maker *m, enum type type, const char *name);
/** Writes a declaration of a variable. */
void values_declare_as(struct maker *m, enum type type);
/** Writes an assignment to a variable. */
void values_assign(struct maker *m);
bool values_is_u32(const struct variable *v);
/** Writes @count statements. */
void values_statements(struct maker *m, unsigned count);
/** Writes a body up to its closing brace; the opening brace has been written. Returns the number of variables at its end. */
unsigned values_body(struct maker *m, unsigned count);
#endif
