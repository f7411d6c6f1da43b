/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Internals of the assembler: its state, the cursor in a line of text, and the interfaces between these files:
 *
 *  isa_lex.c            names, numbers and strings of a line
 *  isa_asm_operand.c    operands
 *  isa_asm_insn.c       instructions
 *  isa_asm_directive.c  directives
 *  isa_asm.c            lines, labels, and the work after the last line: branch targets, relocations, the line table
 */
#ifndef ISA_ASM_PRIV_H
#define ISA_ASM_PRIV_H

#include "isa/isa_priv.h"

/* ---- maps from a name in a scope to a number -------------------------------- */

struct name_slot {
    const char *name; /* borrowed; NULL: the slot is empty */
    uint32_t value, scope;
};
struct name_map {
    struct name_slot *slots; /* the number of slots is a power of two; at most two thirds are used */
    size_t capacity, count;
};
void name_map_fini(struct name_map *map);
/** Defines a name in a scope. Returns false if there is no memory. */
bool name_map_put(struct name_map *map, const char *name, uint32_t scope, uint32_t value)
    LW_MUST_CHECK;
const struct name_slot *name_map_get(const struct name_map *map, const char *name,
                                     uint32_t scope);

/* ---- the state of the assembler ------------------------------------------------ */

/** A branch to a label or function, which may be defined later. */
struct fixup {
    uint32_t insn;
    uint32_t scope;    /* scope of labels in which the name is looked up; 0: outside functions */
    uint32_t line;
    bool quoted;       /* the name is quoted, so it is not a label */
    const char *name;
    int64_t addend;
};
/** A relocation whose variable or function may be defined later. */
struct pending_reloc {
    struct isa_reloc reloc; /* complete except for `to` */
    uint32_t line;
    const char *name;
};

/** A function of the assembly text. */
struct asm_function {
    struct isa_function out;
    size_t param_first;      /* index in `params` of its first parameter */
    bool regs_given, shared_given, params_given, decl_given;
    bool control_given;      /* true if an instruction of the function has a control field, perhaps an empty one */
    uint32_t shared_next;    /* end of the shared variables that were declared so far */
    uint16_t v, s, b;        /* number of vector (v), scalar (s) and barrier registers (b) that the function uses; after the last
                              * line, including those of functions that it calls */
};

struct asm_init {
    uint8_t *bytes;
    size_t size, capacity;
};

struct asm_state {
    const char *name;
    uint32_t line;
    struct lw_error *err;
    enum lw_status status;     /* result of the last function that failed, for functions that return NULL */
    struct isa_object *object; /* the object; its arena owns all names */

    struct isa_word *text;
    size_t text_count, text_capacity;
    struct asm_function *functions;
    size_t function_count, function_capacity;
    struct isa_param *params;
    size_t param_count, param_capacity;
    struct isa_variable *variables;
    size_t variable_count, variable_capacity;
    struct isa_line *rows, *own_rows;
    size_t row_count, row_capacity, own_count, own_capacity;
    const char **files;
    size_t file_count, file_capacity;
    struct fixup *fixups;
    size_t fixup_count, fixup_capacity;
    struct pending_reloc *relocs;
    size_t reloc_count, reloc_capacity;
    struct asm_init init;     /* initial data of the variable that was declared last */
    struct asm_init bank;
    struct name_map labels, symbols; /* value of a symbol: index of a function, or ASM_VARIABLE + index of a variable */
    struct name_map param_names;     /* the scope of a parameter is 1 + index of its function */

    bool in_function;
    bool producer_given;
    enum isa_asm_control control;
    bool own_lines;           /* the line table refers to lines of the assembly text, because there was no .file, .loc or
                               * .nolines */
    uint32_t module_shared;   /* end of the shared variables that were declared outside functions */
};
#define ASM_VARIABLE UINT32_C(0x80000000)

/* Adds a zeroed element to an array of the state, and returns it, or NULL if there is no memory. */
#define ASM_PUSH(array, count, capacity)                                                   \
    (lw_grow(&(array), &(capacity), (count) + 1, sizeof *(array))                          \
         ? memset(&(array)[(count)++], 0, sizeof *(array))                                 \
         : NULL)

enum lw_status asm_fail(struct asm_state *as, const char *fmt, ...) LW_PRINTF(2, 3);
enum lw_status asm_no_memory(struct asm_state *as);

/* ---- the cursor in a line ----------------------------------------------------------- */

struct cursor {
    const char *p; /* rest of the line, terminated by NUL */
};

/** A number as it is written in the text. */
struct number {
    enum { NUMBER_INT, NUMBER_FLOAT, NUMBER_BITS32, NUMBER_BITS64 } kind;
    bool negative, hex;
    uint64_t magnitude;  /* value of an integer, or the bits given by 0f... or 0d... */
    char text[64];       /* text of a floating-point number */
    char suffix;         /* 'f', or NUL if there is no suffix */
};

void cursor_space(struct cursor *c);
bool cursor_end(struct cursor *c);
/** Skips blanks. If @text follows, skips it, too, and returns true. */
bool cursor_take(struct cursor *c, const char *text);
/** Does the same as cursor_take(), but only if @word is followed by the end of the word. */
bool cursor_word(struct cursor *c, const char *word);
/** Reads a name, which may be quoted, into the object's arena. If there is no name, sets the error and returns NULL. *@quoted is
 *  set to whether the name was quoted; @quoted may be NULL. */
const char *cursor_name(struct asm_state *as, struct cursor *c, bool *quoted);
bool cursor_at_name(struct cursor *c);
/** Reads a string in double quotes, replaces escapes, and appends the bytes to @out. */
enum lw_status cursor_string(struct asm_state *as, struct cursor *c, struct asm_init *out);
bool cursor_at_number(struct cursor *c);
enum lw_status cursor_number(struct asm_state *as, struct cursor *c, struct number *out);
/** Reads an integer from @low to @high. @what names the integer in messages. */
enum lw_status cursor_int(struct asm_state *as, struct cursor *c, const char *what, int64_t low,
                          int64_t high, int64_t *out);
/** Reads +N or -N at the cursor. If there is no addend, *@addend is set to 0. */
enum lw_status cursor_addend(struct asm_state *as, struct cursor *c, int64_t *addend);
enum lw_status cursor_finish(struct asm_state *as, struct cursor *c);
bool asm_init_put(struct asm_init *init, const void *bytes, size_t size) LW_MUST_CHECK;
/** Returns the value of a number as a float, after a single rounding. */
float number_f32(const struct number *n);
double number_f64(const struct number *n);

/* ---- directives ------------------------------------------------------------------ */

/** Executes the directive at the cursor. */
enum lw_status asm_directive(struct asm_state *as, struct cursor *c);
/** Returns the function that is being assembled, or NULL. */
struct asm_function *asm_current(struct asm_state *as);
enum lw_status asm_define_label(struct asm_state *as, const char *name);
/** Stores the initial data that was read so far as the initial data of the variable that was declared last. */
enum lw_status asm_flush_init(struct asm_state *as);

/* ---- one instruction ---------------------------------------------------------------- */

/** Parses the instruction at the cursor, and appends it to the text section. */
enum lw_status asm_instruction(struct asm_state *as, struct cursor *c);
/** Get the offset of a parameter of the current function, or of a shared variable. Both functions return false if the name is not
 *  defined. */
bool asm_param_offset(struct asm_state *as, const char *name, uint32_t *offset);
bool asm_shared_offset(struct asm_state *as, const char *name, uint32_t *offset);

#endif
