/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Inside ptx/: a translation is a pipeline over one arena.
 *
 *   text --ptx_parse--> module of statements     (struct ptx_module, ptx_insn)
 *        --ptx_select--> machine instructions on virtual registers (struct ptx_mi)
 *        --ptx_cfg--> blocks, dominators, loops  --ptx_opt--> fewer of them
 *        --ptx_divergence--> branches that may part lanes --ptx_barrier--> regions
 *        --ptx_layout--> one line of code --ptx_alloc--> registers --ptx_emit--> object
 *
 * A failure anywhere is ptx_fail(): it writes the message and leaves by longjmp to
 * the entry point, which frees the arena. So nothing in between owns heap memory, and
 * allocation never answers NULL.
 */
#ifndef PTX_PRIV_H
#define PTX_PRIV_H

#include <setjmp.h>

#include "ptx/ptx.h"

/* ---- the job: arena, errors, growing arrays ------------------------------- */

struct ptx_job {
    jmp_buf *stop; /* where ptx_fail() goes */
    struct lw_arena arena;
    struct lw_arena module; /* while a kernel is translated in `arena`: the module's memory */
    struct lw_error *err;
    enum lw_status status;
    const char *name;
    const struct ptx_source *sources; /* all of them; name, text: of the one at hand */
    size_t source_count;
    bool from_source;   /* of the one at hand */
    const char *text;   /* the module, to find source lines for messages; may be NULL */
    size_t text_size;
    const struct ptx_options *options;
    struct isa_object *object; /* being made; owned by the entry point */
    size_t text_capacity, reloc_capacity, line_capacity, loop_capacity, bound_capacity; /* elements that its arrays have room for */
};

/** Give up with "name:line: sentence" (line 0: "name: sentence"). */
_Noreturn void ptx_fail(struct ptx_job *job, unsigned line, enum lw_status status,
                        const char *fmt, ...) LW_PRINTF(4, 5);
/** Give up with a sentence that has its place, for want of something. */
_Noreturn void ptx_refuse(struct ptx_job *job, const char *message);
/** "name:line" of a line of text @source; of compiled text where its compiler says: "inc.h:3". */
const char *ptx_job_location(struct ptx_job *job, size_t source, unsigned line);
/** Zeroed arena memory for @count elements; never NULL. */
void *ptx_new(struct ptx_job *job, size_t count, size_t size);
/** As lw_grow, in the arena; never fails. */
void *ptx_grow(struct ptx_job *job, void *array, size_t *capacity, size_t need, size_t size);
/** Room for @need elements in an array of the object. */
void *ptx_object_grow(struct ptx_job *job, void *array, size_t *capacity, size_t need, size_t size);

#define PTX_NEW(job, type) ((type *)ptx_new((job), 1, sizeof(type)))
#define PTX_ARRAY(job, type, count) ((type *)ptx_new((job), (count), sizeof(type)))
/** Make room for one more and count it; the value is the new last element. */
#define PTX_PUSH(job, list)                                                              \
    (((list).count < (list).capacity                                                     \
          ? (void)0                                                                      \
          : (void)((list).at = ptx_grow((job), (list).at, &(list).capacity,              \
                                        (list).count + 1, sizeof *(list).at))),          \
     (list).count++, &(list).at[(list).count - 1])
#define PTX_LIST(type)                                                                   \
    struct {                                                                             \
        type *at;                                                                        \
        size_t count, capacity;                                                          \
    }

/** Names to numbers; a name is (text, size) borrowed from the source. */
struct ptx_map_entry {
    const char *text;
    uint32_t size, hash, value;
};
struct ptx_map {
    struct ptx_map_entry *entry;
    size_t capacity, count;
};
uint32_t *ptx_map_find(const struct ptx_map *map, const char *text, size_t size);
void ptx_map_put(struct ptx_job *job, struct ptx_map *map, const char *text, size_t size,
                 uint32_t value);

/* ---- words of the language -------------------------------------------------- */

enum ptx_op {
    PTX_OP_NONE,
#define OP(id, name, effect, rule) PTX_##id,
#include "ptx/ptx_ops.def"
    PTX_OP_COUNT
};
enum ptx_word {
#define WORD(id, text) PTX_W_##id,
#include "ptx/ptx_words.def"
    PTX_W_COUNT
};
const char *ptx_op_name(enum ptx_op op);
/** What other lanes see of an instruction (MACHINE 2). */
enum ptx_effect {
    PTX_EFFECT_NONE,
    PTX_EFFECT_ORDERED, /* WAITS if it is volatile, relaxed or an acquire */
    PTX_EFFECT_WAITS,   /* may wait for another lane, by asking again: its loops yield */
    PTX_EFFECT_SYNCS    /* a block barrier, or lanes meet */
};
const char *ptx_word_text(enum ptx_word word);

enum ptx_type {
    PTX_T_NONE,
    PTX_T_U8, PTX_T_S8, PTX_T_B8,
    PTX_T_U16, PTX_T_S16, PTX_T_B16,
    PTX_T_U32, PTX_T_S32, PTX_T_B32,
    PTX_T_U64, PTX_T_S64, PTX_T_B64,
    PTX_T_F16, PTX_T_BF16, PTX_T_F16X2, PTX_T_BF16X2,
    PTX_T_F32, PTX_T_F64, PTX_T_PRED, PTX_T_U16X2, PTX_T_S16X2, PTX_T_F32X2,
    PTX_T_TF32, /* of cvt alone: 19 bits of a float in a .b32 */
    PTX_T_COUNT
};
const char *ptx_type_name(enum ptx_type type);
unsigned ptx_type_bytes(enum ptx_type type); /* pred: 0 */
enum ptx_type_class { PTX_CLASS_NONE, PTX_CLASS_BITS, PTX_CLASS_INTEGER, PTX_CLASS_FLOAT };
enum ptx_type_class ptx_type_class(enum ptx_type type);
/** PTX_T_NONE when @text is not a type. */
enum ptx_type ptx_type_find(const char *text, size_t size);
static inline unsigned ptx_type_rows(enum ptx_type type)
{
    return ptx_type_bytes(type) > 4 ? 2 : 1;
}

/* ---- module ---------------------------------------------------------------------- */

enum ptx_symbol_kind { PTX_SYM_VARIABLE, PTX_SYM_PARAM, PTX_SYM_FUNCTION };
enum ptx_space {
    PTX_SP_GENERIC, PTX_SP_GLOBAL, PTX_SP_SHARED, PTX_SP_LOCAL, PTX_SP_CONST, PTX_SP_PARAM,
    PTX_SP_REG
};
/** An address inside an initialiser: 8 (or 4) bytes at @offset are @symbol + @addend. */
struct ptx_init_address {
    uint64_t offset;
    uint32_t symbol;
    int64_t addend;
};
enum { PTX_TEXTURE_BYTES = 32 }; /* EMU_TEXTURE_BYTES */
struct ptx_symbol {
    const char *name;
    uint8_t kind, space; /* enum ptx_symbol_kind, enum ptx_space */
    bool external, pointer;
    bool texture;          /* a .texref: PTX_TEXTURE_BYTES of descriptor */
    bool weak, common;     /* yields to another definition of its name */
    uint16_t source;       /* module of several */
    uint8_t pointer_space; /* of a .ptr parameter */
    uint8_t type;          /* enum ptx_type of an element */
    uint32_t align, line;
    uint64_t size_bytes;
    uint8_t *init; /* NULL: zero */
    PTX_LIST(struct ptx_init_address) addresses;
    uint32_t offset;   /* parameter, shared or local: in its space */
    bool placed, used; /* shared: @offset is set; global: has an object variable */
    uint32_t variable; /* index in the object */
    uint32_t function; /* PTX_SYM_FUNCTION */
    /* parameters of calls and functions (ptx_param.c): where the value is kept, how it is used */
    uint32_t reg;               /* 1 + the register that it is in the body, 0: none */
    uint8_t home;               /* enum ptx_spill_home */
    bool odd;                   /* not only whole loads and stores at its start */
    uint8_t narrow, wide;       /* bytes of the smallest store (0: none), of the largest load */
    uint32_t home_vreg;         /* REGISTER: the value; POINTER: its offset in local memory */
    uint32_t first_use, last_use; /* instructions + 1; 0: not used */
    uint32_t first_run, last_run; /* straight lines of the text that contain them */
};
/** Where a .param variable lives while its function runs. */
enum ptx_spill_home {
    PTX_SPILL_NONE,     /* not needed */
    PTX_SPILL_CONST,    /* of a kernel: constant bank 0 */
    PTX_SPILL_REGISTER,
    PTX_SPILL_FRAME,    /* an ordinary local variable */
    PTX_SPILL_POINTER   /* in the caller's frame; a register points there */
};

enum ptx_operand_kind {
    PTX_O_SINK, /* _ */
    PTX_O_REG,
    PTX_O_IMM,
    PTX_O_ADDRESS, /* [base + imm], base a register, a symbol or nothing */
    PTX_O_SYMBOL,  /* symbol + imm */
    PTX_O_LABEL,
    PTX_O_SPECIAL, /* %tid.x ... */
    PTX_O_VECTOR,  /* {a, b, ...} */
    PTX_O_PAIR,    /* p|q */
    PTX_O_LIST     /* (a, b, ...) of a call */
};
enum ptx_literal { PTX_LIT_INT, PTX_LIT_F32, PTX_LIT_F64, PTX_LIT_WARP_SIZE };
#define PTX_NONE UINT32_MAX
struct ptx_operand {
    uint8_t kind;
    bool negated;    /* !p */
    uint8_t literal; /* enum ptx_literal */
    uint16_t count;  /* elements */
    uint32_t reg;    /* register, label, special (enum isa_special) */
    uint32_t symbol; /* PTX_NONE: no symbol */
    uint64_t imm;
    struct ptx_operand *element;
};
struct ptx_insn {
    uint8_t op;      /* enum ptx_op */
    uint8_t type_count, type[4];
    bool guard_neg;
    uint8_t operand_count;
    uint8_t orders;  /* of a barrier: enum of ISA_MOD_BMEM, by the pragma before it */
    bool newer;      /* our OpenCL library's: its words may be of a later version than the module (a pragma) */
    uint32_t guard;  /* register or PTX_NONE */
    uint32_t line, loc;
    uint64_t words[3]; /* modifiers not yet honoured, by enum ptx_word */
    const char *unknown; /* a modifier that is in no list, or NULL */
    struct ptx_operand *operand;
};
static inline bool ptx_has(const struct ptx_insn *insn, enum ptx_word word)
{
    return insn->words[word / 64] >> (word % 64) & 1;
}
/** NONE, WAITS or SYNCS; of a call NONE. @insn as it was read. */
enum ptx_effect ptx_effect(const struct ptx_insn *insn);
/** Honour a modifier: true if it was there; what is left at the end is refused. */
static inline bool ptx_take(struct ptx_insn *insn, enum ptx_word word)
{
    bool had = ptx_has(insn, word);

    insn->words[word / 64] &= ~(UINT64_C(1) << (word % 64));
    return had;
}

struct ptx_reg {
    const char *name;
    uint8_t type, elements; /* elements: of a vector whose first this is, 0 of one value */
    uint16_t definitions; /* saturates; counted by the parser's reader, ptx_select */
    bool constant;        /* defined once, by a mov of a literal: */
    uint64_t value;
    uint32_t vreg; /* + 1, 0: none yet */
    /* defined once, as the address of a local variable (ptx_param.c): */
    uint32_t local;        /* its symbol + 1; 0: it is not */
    bool local_generic;    /* as a generic address */
    int64_t local_offset;
};
struct ptx_loc {
    uint32_t file, line;
    uint16_t column;
    /* of a function that was inlined: its name's label, and the call */
    bool inlined;
    uint16_t call_column;
    uint32_t call_file, call_line;
    uint32_t parent; /* the call's own place, 0: not known */
    uint32_t copy;   /* ptx_reduce: which copy of the source's code it is of, 0: its own */
    const char *name;
    uint32_t name_size, name_offset;
    uint32_t instance; /* ptx_debug_inline.c: + 1, 0: none yet; of the function: */
    const struct ptx_function *instance_of;
};
enum { PTX_LEAST_REGISTERS = 16 }; /* what a limit of registers leaves at least */
enum { PTX_FIRST_SAVED = 96 }; /* rows from here on are kept by who is called (docs/reference/abi.md) */
/** Rows that a call may change: vectors as bits, then predicates. */
struct ptx_clobber {
    uint64_t v[4];
    uint8_t p;
};
/** What callers of a function must know of everything that it calls (ptx_call_graph.c). */
struct ptx_tree {
    bool lossy;  /* its own regions may lose lanes: those that call it together may return apart */
    bool waits;  /* may wait for another lane: loops around a call of it yield */
    bool syncs;  /* has block barriers or .sync operations */
    bool soft, needs_warp_32, dynamic_shared;
    struct ptx_clobber clobber;
    unsigned barriers;       /* registers 0..barriers-1 are not the caller's to use; 0: it saves its */
    unsigned below;          /* of an SCC: what it calls outside itself needs of them, if known */
    bool below_known;
    unsigned breg_count, vreg_count;
    uint32_t shared_bytes;
    uint32_t shared_end;     /* past the shared variables of its functions and all below them */
    uint64_t frame_bytes, below_bytes; /* of its functions, and the deepest stack of callees */
    uint64_t stack_bytes;              /* of both, when the last of its functions is done */
};
/** A function's place in the graph of calls. */
struct ptx_calls {
    PTX_LIST(uint32_t) callees;  /* functions with a body, called directly */
    PTX_LIST(uint32_t) names;    /* others, of which it takes the address */
    bool any;                    /* has such a call, or one through a register */
    bool indirect, address_taken, reachable;
    bool recursive;              /* may come back to itself */
    bool soft;                   /* runs in a kernel whose barriers are soft */
    uint32_t scc;                /* functions that reach each other; callees' numbers are lower */
    uint32_t index;              /* in the object */
    struct ptx_tree tree;
};
/** Lines of the text from @from on whose instructions are of the statement that begins at @to; those from @given on have its
 *  line, too, in blocks before it. */
struct ptx_early {
    uint32_t from, to, given;
};
/** A comment of a body that says the value of a variable of the source (ptx_debug_notes.c). */
struct ptx_note {
    const char *text; /* after its "//lw.value " */
    uint32_t size, line;
};
struct ptx_notes {
    struct ptx_note *at;
    size_t count, capacity;
};
struct ptx_function {
    const char *name;
    bool kernel, has_body, weak;
    const char *refusal; /* the sentence, place and all, by which it is not translated; NULL: it may be */
    uint16_t source;
    uint32_t symbol, line;
    uint32_t opening; /* its first .loc, 0: none; compilers give it the line of the opening brace */
    PTX_LIST(uint32_t) params;  /* symbols */
    PTX_LIST(uint32_t) results; /* symbols of a .func */
    PTX_LIST(struct ptx_reg) regs;
    PTX_LIST(struct ptx_insn) insns;
    PTX_LIST(uint32_t) labels;       /* instruction index */
    PTX_LIST(const char *) label_names;
    PTX_LIST(uint32_t) label_lines;
    uint32_t joins_at; /* 1 + the instruction of the last label that branches may go to, 0: none */
    PTX_LIST(struct ptx_early) early; /* ascending */
    struct ptx_notes notes;           /* ascending */
    uint32_t first_symbol, end_symbol; /* declared in it: parameters, variables */
    uint32_t param_bytes, max_threads, required_block[3];
    uint32_t max_registers; /* .maxnreg, 0: none */
    /* A kernel that a kernel of OpenCL C calls is there a second time, as a function (ptx_parse.c). */
    uint32_t callable; /* of the kernel: the function that calls of it reach, + 1; 0: it is not called */
    uint32_t copy_of;  /* of that function: the kernel, + 1; 0: it is none */
    const char *text;  /* of the source, after .entry or .func, on line `text_line` */
    unsigned text_line;
    struct ptx_calls calls;
};
struct ptx_alias { /* .alias name, target: function symbols */
    uint32_t symbol, target, line;
};
/** A module's .version (63: 6.3) and .target (75: sm_75), and whether its instructions must keep to
 *  them: not where a compiler wrote it. */
struct ptx_dialect {
    uint16_t version, target;
    char variant; /* 'a' or 'f' of sm_100a and sm_100f, 0: neither */
    bool is_checked;
};
/** Whether there is such a .version. */
bool ptx_version_known(unsigned version);
/** The .version that knows a target first, 0: there is none of this name. */
unsigned ptx_target_since(const char *name, size_t size);
struct ptx_module {
    PTX_LIST(struct ptx_dialect) dialects; /* by source */
    uint32_t reserved_shared; /* symbol + 1 of what %reserved_smem_offset_... read, 0: not used */
    struct ptx_map linked; /* names that all modules of a program share */
    PTX_LIST(struct ptx_alias) aliases;
    struct ptx_job *job;
    PTX_LIST(struct ptx_symbol) symbols;
    PTX_LIST(struct ptx_function) functions;
    PTX_LIST(const char *) files; /* by .file number */
    PTX_LIST(struct ptx_loc) locs; /* 0: none */
    const char *producer;
    unsigned address_bits;
    struct ptx_debug *debug; /* its sections, NULL: none */
    /* ptx_call_graph.c */
    PTX_LIST(uint32_t) order;       /* functions to translate, callees first, kernels last */
    PTX_LIST(struct ptx_tree) sccs; /* what the functions of each number have in common */
    struct ptx_tree any;            /* of all functions whose address is taken */
    uint32_t any_scc;               /* number of "whatever a register may call" */
    uint32_t frame_align;           /* of every frame: the largest alignment in one */
    bool common_dynamic;            /* a function names dynamic shared memory: one base for all */
    uint32_t shared_top;            /* end of all shared variables that have a place */
    PTX_LIST(uint32_t) dynamic;     /* symbols of dynamic shared memory */
};
/** Read the job's modules; everything in them lives in the job's arena. */
struct ptx_module *ptx_parse(struct ptx_job *job);
/** Messages are about that one from here on. */
void ptx_job_source(struct ptx_job *job, size_t source);

/* ---- the reader (ptx_lex.c): characters to words ------------------------------------ */

struct ptx_lexer {
    struct ptx_job *job;
    const char *p, *end;
    unsigned line;
    bool takes_warp_size; /* a constant expression may have WARP_SZ: an operand's */
    bool had_warp_size;   /* and had it */
    struct ptx_notes *notes; /* of the function that is read; NULL: of none */
};
struct ptx_name {
    const char *text;
    size_t size;
};
enum { PTX_NAME_BYTES = 900 }; /* objects allow 1,024, with a prefix */
/** Skip blanks and comments. */
void ptx_lex_space(struct ptx_lexer *lex);
/** The next character after blanks, 0 at the end. */
char ptx_lex_peek(struct ptx_lexer *lex);
bool ptx_lex_accept(struct ptx_lexer *lex, char c);
void ptx_lex_expect(struct ptx_lexer *lex, char c, const char *where);
/** An identifier ([%$_a-zA-Z][$_a-zA-Z0-9]*); false when there is none. */
bool ptx_lex_identifier(struct ptx_lexer *lex, struct ptx_name *name);
/** A word after a dot (".global" gives "global"), with its "::" parts. */
bool ptx_lex_dotted(struct ptx_lexer *lex, struct ptx_name *name);
/** A literal with optional minus: integer, 0f..., 0d..., decimal float. */
bool ptx_lex_number(struct ptx_lexer *lex, uint64_t *bits, enum ptx_literal *literal);
uint64_t ptx_lex_integer(struct ptx_lexer *lex, const char *what);
/** A constant expression: as ptx_lex_number, with C's operators on integers. */
bool ptx_lex_constant(struct ptx_lexer *lex, uint64_t *bits, enum ptx_literal *literal);
bool ptx_lex_string(struct ptx_lexer *lex, struct ptx_name *text);
/** What a string of PTX says, as LLVM writes it: letters and three octal digits after a backslash, bytes
 *  beyond ASCII among them; into @text[@room], cut there. Bytes without the NUL. */
size_t ptx_string_text(const char *from, size_t size, char *text, size_t room);
/** The text here, for messages: a static copy of at most 30 characters. */
const char *ptx_lex_here(struct ptx_lexer *lex, char *room, size_t size);
static inline bool ptx_name_is(struct ptx_name name, const char *text)
{
    return strlen(text) == name.size && memcmp(name.text, text, name.size) == 0;
}

/* ---- the parser's own state (ptx_parse.c, ptx_parse_body.c) -------------------------- */

struct ptx_range { /* .reg .b32 %r<40> */
    const char *prefix;
    uint32_t prefix_size, count;
    uint8_t type, elements; /* elements: of a vector, 0 of one value */
};
struct ptx_label_use {
    struct ptx_name name;
    uint32_t insn, operand, line;
    uint32_t element; /* + 1; 0: the operand itself */
};
struct ptx_targets { /* label: .branchtargets a, b, ... */
    uint32_t label;
    PTX_LIST(struct ptx_name) names;
};
struct ptx_scope {
    struct ptx_scope *parent;
    struct ptx_map names, labels;
    PTX_LIST(struct ptx_range) ranges;
    PTX_LIST(struct ptx_label_use) uses;
};
struct ptx_parser {
    uint16_t source;    /* module of several */
    uint32_t file_base; /* of its .file numbers */
    bool visible, weak, common, external; /* of the directive at hand */
    size_t directives;  /* of the module, read */
    bool opencl;        /* the module is of OpenCL C: its target is texmode_independent */
    bool rereading;         /* a kernel is read again, as a function of its own; of its variables */
    uint32_t next_shown; /* the symbol that may be the next */
    struct ptx_lexer lex;
    struct ptx_module *module;
    struct ptx_function *function; /* being read */
    bool in_body;                  /* its body is, not its head */
    unsigned depth;                /* of braces in it */
    const char *statement;         /* of it, at hand: begins here, on this line */
    unsigned statement_line;
    enum ptx_op op;                /* of it, where @unknown is a modifier that we do not have */
    const char *unknown;
    struct ptx_scope *scope;
    struct ptx_map ops, words; /* the tables, by name */
    PTX_LIST(struct ptx_targets) targets; /* of the function being read */
    uint8_t orders;                /* see ptx_insn: a pragma's, for the next instruction */
    bool newer;
    uint32_t loc;
};
/** Values of scope names: two bits of kind, the rest an index. */
enum { PTX_NAME_SYMBOL = 0, PTX_NAME_REG = 1, PTX_NAME_VECTOR = 2 };
const uint32_t *ptx_scope_find(struct ptx_parser *parser, struct ptx_name name);
/** New registers of the innermost scope: one, or the @elements of a vector (.reg .v4), side by side. */
void ptx_reg_declare(struct ptx_parser *parser, struct ptx_scope *scope, struct ptx_name name,
                     enum ptx_type type, unsigned elements);
/** Whether the innermost scope itself has the name, alone or in a range. */
bool ptx_scope_holds(struct ptx_parser *parser, struct ptx_name name);
/** A variable or parameter declaration after its space word; the symbols are added to
 *  the current scope. Returns the first symbol's index. */
uint32_t ptx_parse_variable(struct ptx_parser *parser, enum ptx_space space, bool external);
/** The symbol that a name of @scope, or one that all modules share, stands for already. */
const uint32_t *ptx_find_declared(struct ptx_parser *parser, struct ptx_scope *scope,
                                  struct ptx_name name);
/** From here on other modules know the name, too, if it is visible or external. */
void ptx_share_name(struct ptx_parser *parser, const struct ptx_scope *scope,
                    struct ptx_name name, uint32_t index);
/** Two definitions; @old, if known, is the other location. */
_Noreturn void ptx_declared_twice(struct ptx_parser *parser, const struct ptx_symbol *old,
                                  const char *name);
void ptx_parse_body(struct ptx_parser *parser);
void ptx_parse_loc(struct ptx_parser *parser);
void ptx_parse_file(struct ptx_parser *parser);
void ptx_parse_section(struct ptx_parser *parser);
const char *ptx_text(struct ptx_parser *parser, struct ptx_name name);

/** The parts of a call; lists are NULL where it has none. */
struct ptx_call_parts {
    const struct ptx_symbol *callee;   /* NULL: through @target */
    const struct ptx_function *function; /* of the callee */
    const struct ptx_operand *target;
    const struct ptx_operand *results, *args;
    unsigned result_count, arg_count;
};
void ptx_call_split(const struct ptx_module *module, const struct ptx_insn *in, struct ptx_call_parts *out);
/** The function that a call names, NULL when it goes through a register. */
const struct ptx_symbol *ptx_callee(const struct ptx_module *module, const struct ptx_insn *call);

/** Whether ptx_select has a rule; operands of other instructions are not read. */
bool ptx_op_supported(enum ptx_op op);

/* ---- special registers ------------------------------------------------------------------ */

/** isa special register of a PTX name without '%' ("tid.x"); -1: none. */
int ptx_special_find(const char *name, size_t size);

/* ---- machine instructions on virtual registers ------------------------------------------ */

/** A reference to rows of a virtual register: id << 3 | first row. */
typedef uint32_t ptx_ref;
#define PTX_NO_REF UINT32_MAX
#define PTX_ZERO (UINT32_MAX - 1) /* vz; as a predicate read: pt */
static inline bool ptx_ref_is_vreg(ptx_ref ref)
{
    return ref < PTX_ZERO;
}
static inline ptx_ref ptx_ref_of(uint32_t vreg, unsigned row)
{
    return vreg << 3 | row;
}
static inline uint32_t ptx_ref_vreg(ptx_ref ref)
{
    return ref >> 3;
}
static inline unsigned ptx_ref_row(ptx_ref ref)
{
    return ref & 7;
}

enum ptx_slot { /* places of references in a machine instruction */
    PTX_S_D, PTX_S_A, PTX_S_X, PTX_S_C, /* vectors */
    PTX_S_M,                            /* member mask */
    PTX_S_P, PTX_S_Q,                   /* predicates written */
    PTX_S_R, PTX_S_RA, PTX_S_RB, PTX_S_GUARD, /* predicates read */
    PTX_SLOT_COUNT
};
enum ptx_mi_flag {
    PTX_MI_PARTIAL = 1 << 0, /* D keeps its other rows or its old value: reads it too */
    PTX_MI_IMM64 = 1 << 1,   /* pseudo: D = imm64 (op is V_MOV_B32 or V_MOV_B64) */
    PTX_MI_DEAD = 1 << 2,
    PTX_MI_SPIN = 1 << 3,  /* a loop with it needs yield (MACHINE 2) */
    PTX_MI_SPILL = 1 << 4, /* made by the allocator */
    PTX_MI_RELOC_LOW = 1 << 5,
    PTX_MI_RELOC_HIGH = 1 << 6, /* X is a word of the address of `symbol` + imm64 */
    PTX_MI_DYNAMIC = 1 << 7,    /* imm64 is relative to the kernel's dynamic shared memory */
    PTX_MI_PIN = 1 << 8,        /* no instruction: a call reads A here or leaves D, fixed ones */
    PTX_MI_PROLOGUE = 1 << 9,   /* no instruction: the frame is made here */
    PTX_MI_CFA = 1 << 10,       /* the offset counts from the frame's other end */
    PTX_MI_SYNCS = 1 << 11,     /* a block barrier, lanes meet, or a call of what has these */
    PTX_MI_READONLY = 1 << 12,  /* loads from memory that nothing stores to while the kernel runs */
    PTX_MI_LINE = 1 << 13,      /* a nop for the line of a jump: where an instruction of it follows,
                                 * ptx_layout drops it */
    PTX_MI_NO_GUARD = 1 << 14,  /* has the guard it needs: not that of its PTX instruction */
    PTX_MI_UNHOOKED = 1 << 15      /* no statement begins here: debuggers pass it by */
};
/** The variable that an address is made of (ptx_object_bounds.c). */
struct ptx_bound {
    uint32_t symbol; /* + 1, 0: none */
    uint32_t at;     /* of a local variable, where it is several of the source: an offset in that one */
};
enum { PTX_NO_BARRIER = 0xff };
struct ptx_mi {
    struct isa_insn in;           /* operation, modifiers, immediate; registers later */
    ptx_ref ref[PTX_SLOT_COUNT];  /* PTX_NO_REF: slot not used */
    uint8_t rows[PTX_S_M];        /* of D, A, X, C */
    uint8_t barrier;              /* bssy, bsync, bbreak and branches, or PTX_NO_BARRIER */
    uint16_t flags;
    uint32_t target;              /* block of a branch or bssy */
    uint32_t loc, line;
    uint32_t symbol;
    uint64_t imm64;
    struct ptx_bound bound;
};
struct ptx_vreg {
    uint8_t rows;      /* 0: a predicate */
    uint32_t origin;   /* ptx register it stands for, or PTX_NONE */
    uint32_t def;      /* the only definition's instruction, PTX_NONE if several or none */
    uint32_t def_count, use_count;
    bool ssa;          /* one definition, which dominates every use */
    bool divergent;
    bool scalar;       /* in a scalar register or predicate, not a vector one */
    bool no_spill;     /* a spill's own temporary */
    /* ptx_split: where the value of a split one is + 1 (offset in local memory; of a predicate, a
     * vreg), 0: nowhere; and how far it is split already: depth of the loop that a piece is for */
    uint32_t home;
    uint8_t level;
    uint16_t fixed;    /* 1 + the row it must have, 0: any */
    bool retained;         /* holds a variable of the source: copies of it stay */
};

/** How a value differs between lanes that execute an instruction together (ptx_affine.c). */
enum ptx_lanes { PTX_LANES_UNKNOWN, PTX_LANES_AFFINE, PTX_LANES_VARYING };
enum ptx_lane_dim { PTX_LANE_X, PTX_LANE_Y, PTX_LANE_Z, PTX_LANE_ID, PTX_LANE_DIMS };
struct ptx_affine {
    uint8_t kind;    /* enum ptx_lanes; uniform: affine, all strides zero */
    uint8_t some;    /* bits by enum ptx_lane_dim: the stride is uniform, but not known */
    bool assumed;    /* only if no 32-bit value on the way wraps */
    bool narrow;     /* for printing: of 32 bits */
    uint64_t stride[PTX_LANE_DIMS]; /* modulo 2^32 or 2^64 */
    uint64_t low, high; /* it is in this range, unsigned, if high < 2^32 */
};

#define PTX_GIVE_UP (UINT32_C(1) << 31)
enum ptx_end { PTX_END_NEXT, PTX_END_BRANCH, PTX_END_FINAL, PTX_END_EXIT };
struct ptx_block {
    uint32_t first, count; /* instructions, without the terminator */
    uint8_t end;           /* enum ptx_end */
    uint8_t succ_count;
    uint32_t succ[2];      /* BRANCH: taken, else; NEXT: the only one */
    ptx_ref guard;         /* of a BRANCH */
    bool guard_neg;
    bool may_diverge, barrier_flow; /* its branch; it is in a divergent region */
    uint32_t loc, line;    /* of the terminator */
    bool synthetic;             /* by ptx_cfg: the text has no such block */
    uint32_t label;        /* of the source, PTX_NONE */
    /* ptx_cfg */
    uint32_t *pred;
    uint32_t pred_count;
    uint32_t rpo;          /* position, PTX_NONE: unreachable */
    uint32_t idom, dom_in, dom_out; /* dominator tree interval */
    uint32_t ipdom;        /* PTX_NONE: none */
    uint8_t exit_side;     /* 1 + index of the successor where the kernel just ends, or 0:
                            * that side is a guarded exit, at which no lanes diverge */
    bool exit_ignored;     /* and it does not count for post-dominance */
    bool reaches_end;      /* some path ends other than in exit */
    uint32_t loop;         /* innermost, PTX_NONE */
    /* ptx_barrier */
    uint8_t branch_barrier;     /* or PTX_NO_BARRIER */
    PTX_LIST(uint8_t) syncs;    /* bsync at the start, in order */
    PTX_LIST(uint32_t) sync_gives; /* by sync: 1 + the pair whose number goes back after it, or 0 */
    PTX_LIST(uint32_t) joins;   /* regions whose bssy is at the end */
    PTX_LIST(uint8_t) breaks[2]; /* bbreak on the edge to succ[i] */
    PTX_LIST(uint32_t) break_gives[2]; /* with PTX_GIVE_UP the number is only dropped */
    bool yields[2];
};
enum { PTX_MOST_NESTED = 2000 }; /* loops in each other: time and memory go with the square */
struct ptx_loop {
    uint32_t header, preheader, parent, depth;
    uint32_t nest_in, nest_out; /* its interval in the tree of loops: ptx_in_loop */
    bool spins, divergent;
    PTX_LIST(uint32_t) latches;
};
struct ptx_region {
    uint32_t start, join; /* blocks of bssy and bsync */
    uint32_t scope;       /* a loop that lanes leave with bbreak, PTX_NONE: the function */
    uint8_t barrier;      /* its register; PTX_NO_BARRIER: there was none left */
    bool given_up;        /* too deep: it is not to have one */
    uint32_t saved;       /* vreg: pair that has the outer region's number, PTX_NONE: not needed */
    uint32_t size;
    PTX_LIST(uint32_t) inside;
    PTX_LIST(uint32_t) branches;
    PTX_LIST(uint64_t) leaves; /* edges: block << 1 | successor index */
};

/** A call whose lanes may return apart: they meet again in @join. */
struct ptx_wrap {
    uint32_t start, body, join; /* blocks that follow each other and nothing else */
};

/** A function on its way. */
struct ptx_unit {
    struct ptx_job *job;
    struct ptx_module *module;
    struct ptx_function *function;
    struct isa_object *object;
    PTX_LIST(struct ptx_mi) code;
    PTX_LIST(struct ptx_vreg) vregs;
    PTX_LIST(struct ptx_block) blocks; /* in layout order until ptx_layout */
    PTX_LIST(uint32_t) order;          /* layout, after ptx_cfg */
    uint32_t *rpo;                     /* blocks in reverse post order */
    uint32_t rpo_count;
    PTX_LIST(struct ptx_loop) loops;
    PTX_LIST(struct ptx_region) regions;
    uint32_t entry, final_block;
    ptx_ref carry;                     /* PTX's condition code, a predicate, where */
    bool has_carry;
    struct ptx_bounds *bounds;         /* while instructions are selected */
    PTX_LIST(struct ptx_mi) prologue; /* goes in front of the entry block */
    bool lossy; /* some regions save barrier numbers, or have none: what follows is not convergent */
    bool soft, needs_warp_32, dynamic_shared;
    unsigned breg_count, vreg_count, sreg_count;
    uint32_t shared_bytes, dynamic_base, local_bytes;
    uint32_t shared_below; /* end of the shared variables of functions that it calls */
    /* calls (docs/reference/abi.md): a unit that has v2, because it is called or calls */
    bool framed;
    ptx_ref sp;                  /* where its local memory begins: v2 of a function; a kernel's */
    uint32_t frame_base;         /* begins at a fixed offset, after the stack of its callees */
    ptx_ref link, stack;         /* v0:1, v2 */
    struct ptx_clobber clobber;  /* of all its calls */
    unsigned breg_base;          /* barrier registers below are those of callees */
    PTX_LIST(struct ptx_wrap) wraps;
    /* ptx_affine, if it is wanted; by vreg */
    bool wants_affine;
    uint8_t *mixed;            /* lanes come together with values of other definitions or rounds */
    size_t mixed_count, affine_count;
    struct ptx_affine *affine;
    /* live-in virtual registers of each block (ptx_liveness) */
    PTX_LIST(uint32_t) *live_in;
    /* ptx_alloc */
    uint16_t *assigned; /* by vreg: first row, or predicate number; 0xffff none */
};

/** Dominators of a graph that was walked depth first: nodes are numbers, in the order in which the
 *  walk met them, 0 the root (ptx_dominators.c). */
struct ptx_dominators {
    uint32_t count;           /* nodes; the caller's, as the next three */
    uint32_t *parent;         /* by node: from which the walk came */
    uint32_t *first, *from;   /* predecessors of node i: from[first[i]] up to from[first[i + 1]] */
    uint32_t *idom;           /* the result; of the root itself */
    uint32_t *semi, *label, *up, *stack; /* scratch */
};
/** Room for a graph of so many nodes and edges, in the arena; may be used many times. */
struct ptx_dominators *ptx_dominators_new(struct ptx_job *job, size_t nodes, size_t edges);
void ptx_dominators_find(struct ptx_dominators *d);

void ptx_select(struct ptx_unit *unit);
struct ptx_block *ptx_block_new(struct ptx_unit *unit);
/** What addresses of the function are made of, by its registers; ptx_select. */
void ptx_bounds_find(struct ptx_unit *unit);
/** Bounds of the memory instructions from @first on, which @insn has become. */
void ptx_bounds_mark(struct ptx_unit *unit, const struct ptx_insn *insn, size_t first);
/** Into the object, as its instruction @index. */
void ptx_bounds_put(struct ptx_unit *unit, const struct ptx_mi *mi, uint32_t index);
/** All variables are in the object. */
void ptx_bounds_finish(struct ptx_job *job, struct ptx_module *module);
/** Blocks' predecessors, order, dominators, post-dominators, loops with preheaders.
 *  Irreducible flow is refused. */
void ptx_cfg(struct ptx_unit *unit);
/** The same for a graph whose blocks and their order have been changed; what later passes
 *  noted in blocks is taken back. */
void ptx_cfg_rebuild(struct ptx_unit *unit);
/** Exit sides and immediate post-dominators; after ptx_opt. */
void ptx_postdominators(struct ptx_unit *unit);
/** From @block on only empty blocks lead to the kernel's end, or to an exit. */
bool ptx_just_ends(const struct ptx_unit *unit, uint32_t block);
static inline bool ptx_is_exit_edge(const struct ptx_block *block, unsigned k)
{
    return block->exit_side == k + 1;
}
static inline bool ptx_dominates(const struct ptx_unit *unit, uint32_t a, uint32_t b)
{
    const struct ptx_block *x = &unit->blocks.at[a], *y = &unit->blocks.at[b];

    return x->dom_in <= y->dom_in && y->dom_out <= x->dom_out;
}
/** Whether @block is in @loop (PTX_NONE: the whole function). */
bool ptx_in_loop(const struct ptx_unit *unit, uint32_t block, uint32_t loop);
/** 64-bit arithmetic of which only low words are read becomes 32-bit arithmetic. */
void ptx_narrow(struct ptx_unit *unit);
void ptx_opt(struct ptx_unit *unit);
/** Makes lea of widened products, and loads and stores with a scalar base; the last part of
 *  ptx_opt: definitions and counts of uses hold. */
void ptx_addresses(struct ptx_unit *unit);
/** Fills unit->live_in, one list a block, for virtual registers that live across. */
void ptx_liveness(struct ptx_unit *unit);
void ptx_divergence(struct ptx_unit *unit);
/** Its result may differ between lanes though what it reads does not. */
bool ptx_diverges_itself(const struct ptx_mi *mi);
/** Fills unit->affine; after ptx_divergence, with unit->wants_affine since before it. */
void ptx_affine(struct ptx_unit *unit);
bool ptx_affine_is_uniform(const struct ptx_affine *a);
/** The classes of the registers of the source, a line each. */
void ptx_affine_print(const struct ptx_unit *unit, struct lw_sink *out);
/** Blocks are copied until no loop is entered elsewhere than at its header; the order of blocks is
 *  known, what ptx_cfg finds must be found again. */
void ptx_reduce(struct ptx_unit *unit);
/** If-conversion: short sides of divergent branches become guarded instructions; graph and divergence are
 *  those of the new code. */
void ptx_ifconv(struct ptx_unit *unit);
void ptx_barriers(struct ptx_unit *unit);
/** Whether region @g does for a branch with bssy block @start and the same join. */
bool ptx_region_serves(const struct ptx_unit *unit, const struct ptx_region *g, uint32_t start);
/** Regions are left out where lanes could wait for each other in a cycle; their blocks are known. */
void ptx_barrier_cycles(struct ptx_unit *unit);
/** Registers of the regions, whose blocks are known; what is at blocks and edges. */
void ptx_barrier_numbers(struct ptx_unit *unit);
/** Uniform work to the scalar unit, where all lanes are sure to be; after ptx_barriers. */
void ptx_scalar(struct ptx_unit *unit);
/** Checks that every path from a bssy meets its bsync, bbreak or an exit. */
void ptx_barrier_verify(struct ptx_unit *unit);
/** One line of code with barriers and branches as instructions; blocks are the new
 *  straight lines, in order, with targets and successors. */
void ptx_layout(struct ptx_unit *unit);
void ptx_alloc(struct ptx_unit *unit);
/** Rewrites the code: values that are @spilled are in memory, and what uses them has pieces of
 *  them. @rep: by vreg, the one that it is joined with. Liveness holds before, not after. */
void ptx_split(struct ptx_unit *unit, const uint32_t *rep, const uint8_t *spilled);
void ptx_emit(struct ptx_unit *unit, struct isa_function *function);
/** After the allocator: prologue and epilogue of a framed unit, and what is above v2. */
void ptx_frame(struct ptx_unit *unit);
/** Who calls whom: the order of translation and what callees' trees do. */
void ptx_calls_find(struct ptx_job *job, struct ptx_module *module);
/** What a call of @callee (PTX_NONE: through a register) may do; `waits` and `syncs` hold from
 *  the start, the rest when it is translated. */
const struct ptx_tree *ptx_calls_tree(const struct ptx_module *module, uint32_t callee);
/** Before a function's translation: what its calls do. After it: what its callers must know. */
void ptx_calls_begin(struct ptx_unit *unit);
void ptx_calls_end(struct ptx_unit *unit);
/** Notes what callers must know of its barriers: the registers that they leave to it and its
 *  SCC, and whether it keeps lanes together. */
void ptx_calls_barriers(struct ptx_unit *unit);
/** All functions are translated: targets of calls, stacks, soft barriers, kernels' sums. */
void ptx_calls_finish(struct ptx_job *job, struct ptx_module *module);
/** The instruction of the entry block after the prologue, which saves v96 upwards, and the pins of
 *  the arguments: before them nothing of its own may be written, their rows are taken. */
uint32_t ptx_entry_own(const struct ptx_unit *unit);
/** Registers of barriers that a function must save, because it may be entered twice. */
void ptx_calls_save_barriers(struct ptx_unit *unit);
/** Run all passes up to (and with) barriers, for ptx_print_cfg and tests. */
void ptx_unit_analyse(struct ptx_unit *unit);
/** Place variables, translate every kernel into job->object. */
void ptx_module_translate(struct ptx_job *job, struct ptx_module *module);
void ptx_unit_init(struct ptx_unit *unit, struct ptx_job *job, struct ptx_module *module,
                   struct ptx_function *function, struct isa_object *object);

/** What an instruction reads and writes. A partial write reads the old value, too. */
static inline bool ptx_mi_writes(const struct ptx_mi *mi, enum ptx_slot slot)
{
    return (slot == PTX_S_D || slot == PTX_S_P || slot == PTX_S_Q) &&
           ptx_ref_is_vreg(mi->ref[slot]);
}
static inline bool ptx_mi_reads(const struct ptx_mi *mi, enum ptx_slot slot)
{
    if (!ptx_ref_is_vreg(mi->ref[slot]))
        return false;
    return (slot != PTX_S_D && slot != PTX_S_P && slot != PTX_S_Q) ||
           (mi->flags & PTX_MI_PARTIAL) != 0;
}

/* ---- debug information (ptx_debug_priv.h) ------------------------------------------------ */

/** Entries of the source from the module's sections; after ptx_parse. */
void ptx_debug_read(struct ptx_job *job, struct ptx_module *module);
/** Where registers that hold variables of the source are last read by debuggers, in order of
 *  instructions; ptx_select has them live until there. */
struct ptx_keep {
    uint32_t insn, reg;
};
const struct ptx_keep *ptx_debug_keeps(struct ptx_unit *unit, size_t *count);
/** Whether the function is made for debuggers (-O0 -g, -G): its own variables have places, where
 *  optimised code has lost those of its parameters. */
bool ptx_debug_is_stepped(const struct ptx_unit *unit);
/** Registers that hold variables live as long as notes of the text name them; just before ptx_alloc. */
void ptx_debug_keep_values(struct ptx_unit *unit);
/** Resolve places and scopes of a function's entries: it has its registers and its words.
 *  @index by instruction of the unit: its word in the function, one more than instructions */
void ptx_debug_function(struct ptx_unit *unit, uint32_t base, const uint32_t *index);
/** The function is in the object as number @number. */
void ptx_debug_number(struct ptx_unit *unit, unsigned number);
/** Whatever the functions in the object need, to object->debug. */
void ptx_debug_write(struct ptx_job *job, struct ptx_module *module);

/** X of the row may be a constant or an immediate (token xb, xb2, xt). */
bool ptx_op_wide_x(enum isa_op op);
/** A and X may change places. */
bool ptx_op_commutes(enum isa_op op);
/** The operation that makes the low word of @op's result from low words; ISA_OP_COUNT: none. */
enum isa_op ptx_op_narrow(enum isa_op op);
/** The predicate in a slot is read as its complement. */
void ptx_mi_negate(struct ptx_mi *mi, enum ptx_slot slot, bool negate);
bool ptx_mi_negated(const struct ptx_mi *mi, enum ptx_slot slot);
/** Exchange A and X with their modifiers; a comparison is mirrored. */
void ptx_mi_swap(struct ptx_mi *mi);
/** An instruction without operands, from a place of the source. */
void ptx_mi_init(struct ptx_mi *mi, enum isa_op op, uint32_t loc, uint32_t line);
/** Another virtual register of @rows (0: a predicate), the last of unit->vregs; not defined yet.
 *  Borrowed until the next one. */
struct ptx_vreg *ptx_vreg_new(struct ptx_unit *unit, unsigned rows);
/** A global access whose address may be a scalar pair and a 32-bit index. */
bool ptx_takes_scalar_base(const struct ptx_mi *mi);

#endif
