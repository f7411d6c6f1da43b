/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Internals of the assembler: its state, the cursor over one line, and the interfaces between
 *
 *   isa_lex.c            names, numbers and strings of one line
 *   isa_asm_operand.c    single operands
 *   isa_asm_insn.c       one instruction, by the operand tokens of its row
 *   isa_asm_directive.c  directives
 *   isa_asm.c            lines, labels, and the steps after the last line
 */
#ifndef ISA_ASM_PRIV_H
#define ISA_ASM_PRIV_H

#include "isa/isa_priv.h"

/* ---- maps from names to numbers --------------------------------------------- */

struct name_slot {
    const char *name; /* borrowed; NULL: the slot is free */
    uint32_t value, scope;
};
struct name_map {
    struct name_slot *slots; /* count is a power of two; at most two thirds are in use */
    size_t capacity, count;
};
void name_map_fini(struct name_map *map);
/** Defines a name in a scope. Returns false if memory is short. */
bool name_map_put(struct name_map *map, const char *name, uint32_t scope, uint32_t value)
    LW_MUST_CHECK;
const struct name_slot *name_map_get(const struct name_map *map, const char *name,
                                     uint32_t scope);

/* ---- state --------------------------------------------------------------------- */

/** Use of a label or symbol that may be defined later. */
struct fixup {
    uint32_t insn;
    uint32_t scope;    /* scope of the labels; 0: outside functions */
    uint32_t line;
    bool quoted;       /* a quoted name is never a label */
    const char *name;
    int64_t addend;
};
/** Relocation whose symbol may be defined later. */
struct pending_reloc {
    struct isa_reloc reloc; /* all but `to` */
    uint32_t line;
    const char *name;
};

/** Function that is being assembled. */
struct asm_function {
    struct isa_function out;
    size_t param_first;      /* index of its first parameter in params */
    bool regs_given, shared_given, params_given, decl_given;
    bool control_given;      /* one of its instructions has a control field, perhaps an empty one */
    uint32_t shared_next;    /* end of the shared variables declared so far */
    uint16_t v, s, b;        /* registers that the function's own instructions use */
};

struct asm_init {
    uint8_t *bytes;
    size_t size, capacity;
};

struct asm_state {
    const char *name;
    uint32_t line;
    struct lw_error *err;
    enum lw_status status;     /* status of the last failure, for functions that return NULL */
    struct isa_object *object; /* its arena owns every name */

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
    struct asm_init init;     /* initial data of the variable declared last */
    struct asm_init bank;
    struct name_map labels, symbols; /* symbols: indices of functions, and VARIABLE + index of variables */
    struct name_map param_names;     /* the scope is function index + 1 */

    bool in_function;
    bool producer_given;
    enum isa_asm_control control;
    bool own_lines;           /* no .file, .loc or .nolines was read */
    uint32_t module_shared;   /* end of the module's shared variables */
};
#define ASM_VARIABLE UINT32_C(0x80000000)

/* Grows an array of the state by one zeroed element and returns it, or NULL. */
#define ASM_PUSH(array, count, capacity)                                                   \
    (lw_grow(&(array), &(capacity), (count) + 1, sizeof *(array))                          \
         ? memset(&(array)[(count)++], 0, sizeof *(array))                                 \
         : NULL)

enum lw_status asm_fail(struct asm_state *as, const char *fmt, ...) LW_PRINTF(2, 3);
enum lw_status asm_no_memory(struct asm_state *as);

/* ---- one line -------------------------------------------------------------------- */

struct cursor {
    const char *p; /* terminated by NUL */
};

/** A number as written in the text. */
struct number {
    enum { NUMBER_INT, NUMBER_FLOAT, NUMBER_BITS32, NUMBER_BITS64 } kind;
    bool negative, hex;
    uint64_t magnitude;  /* value of an integer; bits of 0f... and 0d... */
    char text[64];       /* text of a float */
    char suffix;         /* 'f' or NUL */
};

void cursor_space(struct cursor *c);
bool cursor_end(struct cursor *c);
/** Skips space, and then @text if @text follows; returns true if it skipped @text. */
bool cursor_take(struct cursor *c, const char *text);
/** Does what cursor_take() does, but only for a whole word. */
bool cursor_word(struct cursor *c, const char *word);
/** Reads a bare or quoted name into the object's arena. Returns NULL and sets the error if there is none. @quoted may be NULL. */
const char *cursor_name(struct asm_state *as, struct cursor *c, bool *quoted);
bool cursor_at_name(struct cursor *c);
/** Appends the bytes of a string "...", with escapes replaced, to @out. */
enum lw_status cursor_string(struct asm_state *as, struct cursor *c, struct asm_init *out);
bool cursor_at_number(struct cursor *c);
enum lw_status cursor_number(struct asm_state *as, struct cursor *c, struct number *out);
/** Reads an integer in [low, high]; messages call it @what. */
enum lw_status cursor_int(struct asm_state *as, struct cursor *c, const char *what, int64_t low,
                          int64_t high, int64_t *out);
/** Reads +N or -N if it follows. */
enum lw_status cursor_addend(struct asm_state *as, struct cursor *c, int64_t *addend);
enum lw_status cursor_finish(struct asm_state *as, struct cursor *c);
bool asm_init_put(struct asm_init *init, const void *bytes, size_t size) LW_MUST_CHECK;
/** Value of @n as a float, rounded once. */
float number_f32(const struct number *n);
double number_f64(const struct number *n);

/* ---- directives ------------------------------------------------------------------ */

/** Executes the directive at @c. */
enum lw_status asm_directive(struct asm_state *as, struct cursor *c);
/** Returns the function that is being assembled, or NULL. */
struct asm_function *asm_current(struct asm_state *as);
enum lw_status asm_define_label(struct asm_state *as, const char *name);
/** Stores the initial data read so far in the variable declared last. */
enum lw_status asm_flush_init(struct asm_state *as);

/* ---- one instruction ---------------------------------------------------------------- */

/** Parses the instruction at @c and appends it to the text. */
enum lw_status asm_instruction(struct asm_state *as, struct cursor *c);
/** Finds the offset of a parameter, or of a shared variable, of the current function. */
bool asm_param_offset(struct asm_state *as, const char *name, uint32_t *offset);
bool asm_shared_offset(struct asm_state *as, const char *name, uint32_t *offset);

#endif
