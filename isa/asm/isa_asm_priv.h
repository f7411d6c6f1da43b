/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Inside the assembler: the state, the cursor over one line and the seams between
 *
 *   isa_lex.c            names, numbers and strings of one line
 *   isa_asm_operand.c    single operands
 *   isa_asm_insn.c       one instruction, by the operand tokens of its row
 *   isa_asm_directive.c  directives
 *   isa_asm.c            lines and labels, what is known at the end
 */
#ifndef ISA_ASM_PRIV_H
#define ISA_ASM_PRIV_H

#include "isa/isa_priv.h"

/* ---- maps from names to numbers --------------------------------------------- */

struct name_slot {
    const char *name; /* borrowed; NULL: free */
    uint32_t value, scope;
};
struct name_map {
    struct name_slot *slots; /* a power of two, at most two thirds full */
    size_t capacity, count;
};
void name_map_fini(struct name_map *map);
/** False when memory is short. A name is looked up together with its scope. */
bool name_map_put(struct name_map *map, const char *name, uint32_t scope, uint32_t value)
    LW_MUST_CHECK;
const struct name_slot *name_map_get(const struct name_map *map, const char *name,
                                     uint32_t scope);

/* ---- state --------------------------------------------------------------------- */

/** A use of a name that may be defined later. */
struct fixup {
    uint32_t insn;
    uint32_t scope;    /* of labels; 0: not in a function */
    uint32_t line;
    bool quoted;       /* never a label */
    const char *name;
    int64_t addend;
};
/** A relocation whose name may be defined later. */
struct pending_reloc {
    struct isa_reloc reloc; /* without `to` */
    uint32_t line;
    const char *name;
};

/** A function under construction. */
struct asm_function {
    struct isa_function out;
    size_t param_first;      /* in params */
    bool regs_given, shared_given, params_given, decl_given;
    bool control_given;      /* an instruction of it has a control field, perhaps an empty one */
    uint32_t shared_next;    /* after the named variables */
    uint16_t v, s, b;        /* registers it uses itself */
};

struct asm_init {
    uint8_t *bytes;
    size_t size, capacity;
};

struct asm_state {
    const char *name;
    uint32_t line;
    struct lw_error *err;
    enum lw_status status;     /* of the last failure: what functions that give NULL mean */
    struct isa_object *object; /* its arena holds every name */

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
    struct asm_init init;     /* of the variable declared last */
    struct asm_init bank;
    struct name_map labels, symbols; /* symbols: functions, then variables + VARIABLE */
    struct name_map param_names;     /* scope: function index + 1 */

    bool in_function;
    bool producer_given;
    enum isa_asm_control control;
    bool own_lines;           /* no .file, .loc or .nolines was seen */
    uint32_t module_shared;   /* end of the module's shared variables */
};
#define ASM_VARIABLE UINT32_C(0x80000000)

/* Grow an array of the state by one and give the new, zeroed element, or NULL. */
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

/** A number as written. */
struct number {
    enum { NUMBER_INT, NUMBER_FLOAT, NUMBER_BITS32, NUMBER_BITS64 } kind;
    bool negative, hex;
    uint64_t magnitude;  /* of an integer; the bits of 0f... and 0d... */
    char text[64];       /* of a float */
    char suffix;         /* 'f' or NUL */
};

void cursor_space(struct cursor *c);
bool cursor_end(struct cursor *c);
/** Take @text if it comes next (after space). */
bool cursor_take(struct cursor *c, const char *text);
/** Take @word if it comes next and ends there. */
bool cursor_word(struct cursor *c, const char *word);
/** A bare or quoted name, copied into the object's arena; NULL with an error set.
 *  @quoted may be NULL. */
const char *cursor_name(struct asm_state *as, struct cursor *c, bool *quoted);
bool cursor_at_name(struct cursor *c);
/** "..." with escapes into @out. */
enum lw_status cursor_string(struct asm_state *as, struct cursor *c, struct asm_init *out);
bool cursor_at_number(struct cursor *c);
enum lw_status cursor_number(struct asm_state *as, struct cursor *c, struct number *out);
/** An integer in [low, high]; @what for the message. */
enum lw_status cursor_int(struct asm_state *as, struct cursor *c, const char *what, int64_t low,
                          int64_t high, int64_t *out);
/** +N or -N if there is one. */
enum lw_status cursor_addend(struct asm_state *as, struct cursor *c, int64_t *addend);
enum lw_status cursor_finish(struct asm_state *as, struct cursor *c);
bool asm_init_put(struct asm_init *init, const void *bytes, size_t size) LW_MUST_CHECK;
/** The float value of @n, rounded once. */
float number_f32(const struct number *n);
double number_f64(const struct number *n);

/* ---- directives ------------------------------------------------------------------ */

/** Run the directive at @c. */
enum lw_status asm_directive(struct asm_state *as, struct cursor *c);
/** The open function, or NULL. */
struct asm_function *asm_current(struct asm_state *as);
enum lw_status asm_define_label(struct asm_state *as, const char *name);
/** Give the initial values read so far to the variable declared last. */
enum lw_status asm_flush_init(struct asm_state *as);

/* ---- one instruction ---------------------------------------------------------------- */

/** Parse the instruction at @c and append it to the text. */
enum lw_status asm_instruction(struct asm_state *as, struct cursor *c);
/** Offset of a parameter, or of a shared variable, of the current function. */
bool asm_param_offset(struct asm_state *as, const char *name, uint32_t *offset);
bool asm_shared_offset(struct asm_state *as, const char *name, uint32_t *offset);

#endif
