/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Internals of ptx/. A translation is a pipeline over one arena:
 *
 *   text --ptx_parse--> module of statements     (struct ptx_module, ptx_insn)
 *        --ptx_select--> machine instructions on virtual registers (struct ptx_mi)
 *        --ptx_cfg--> blocks, dominators, loops  --ptx_opt--> optimised code
 *        --ptx_divergence--> divergent branches --ptx_barrier--> reconvergence regions
 *        --ptx_layout--> linear code --ptx_alloc--> registers --ptx_emit--> object
 *
 * Every failure calls ptx_fail(), which writes the message and returns by longjmp() to the entry point; the entry point
 * frees the arena. Therefore no pass owns heap memory, and allocation functions never return NULL.
 */
#ifndef PTX_PRIV_H
#define PTX_PRIV_H

#include <setjmp.h>

#include "ptx/ptx.h"

/* ---- the job: arena, errors, growing arrays ------------------------------- */

struct ptx_job {
    jmp_buf *stop; /* longjmp() target of ptx_fail() */
    struct lw_arena arena;
    struct lw_arena module; /* memory of the module while `arena` is the memory of the function being translated */
    struct lw_error *err;
    enum lw_status status;
    const char *name;
    const struct ptx_source *sources; /* all modules; the members `name` and `text` of this structure are those of the
                                       * current module */
    size_t source_count;
    bool from_source;   /* the current module was compiled from a source */
    const char *text;   /* text of the current module, to find source lines for messages; may be NULL */
    size_t text_size;
    const struct ptx_options *options;
    struct isa_object *object; /* object under construction; the entry point owns it */
    /* capacities of the object's arrays, in elements */
    size_t text_capacity, reloc_capacity, line_capacity, loop_capacity, bound_capacity;
};

/** Ends the translation with the message "name:line: ...", or "name: ..." if @line is 0. */
_Noreturn void ptx_fail(struct ptx_job *job, unsigned line, enum lw_status status,
                        const char *fmt, ...) LW_PRINTF(4, 5);
/** Ends the translation because a construct is not supported. @message already contains the location of the construct. */
_Noreturn void ptx_refuse(struct ptx_job *job, const char *message);
/** Returns the location "name:line" of a line of module @source; for compiled text, the location in the source ("inc.h:3"). */
const char *ptx_job_location(struct ptx_job *job, size_t source, unsigned line);
/** Allocates zeroed arena memory for @count elements; never returns NULL. */
void *ptx_new(struct ptx_job *job, size_t count, size_t size);
/** Does what lw_grow() does, in the arena; never fails. */
void *ptx_grow(struct ptx_job *job, void *array, size_t *capacity, size_t need, size_t size);
/** Grows an array of the object to @need elements or more. */
void *ptx_object_grow(struct ptx_job *job, void *array, size_t *capacity, size_t need, size_t size);

#define PTX_NEW(job, type) ((type *)ptx_new((job), 1, sizeof(type)))
#define PTX_ARRAY(job, type, count) ((type *)ptx_new((job), (count), sizeof(type)))
/** Appends an element to a list. The macro's value is the new last element, which the caller sets. */
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

/** Map from names to numbers. A name is a (text, size) pair borrowed from the source. */
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
/** How an instruction interacts with other lanes (MACHINE 2). */
enum ptx_effect {
    PTX_EFFECT_NONE,
    PTX_EFFECT_ORDERED, /* a memory access: ptx_effect() returns WAITS if the access is volatile, relaxed or an acquire,
                         * otherwise NONE */
    PTX_EFFECT_WAITS,   /* the instruction may poll until another lane acts, so a loop that contains the instruction yields */
    PTX_EFFECT_SYNCS    /* the instruction is a block barrier or makes lanes reconverge */
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
    PTX_T_TF32, /* type of cvt only: a float of 19 bits in a .b32 register */
    PTX_T_E4M3X2, PTX_T_E5M2X2, /* types of cvt only: two floats of 8 bits in a .b16 register */
    PTX_T_COUNT
};
const char *ptx_type_name(enum ptx_type type);
unsigned ptx_type_bytes(enum ptx_type type); /* 0 for predicates */
enum ptx_type_class { PTX_CLASS_NONE, PTX_CLASS_BITS, PTX_CLASS_INTEGER, PTX_CLASS_FLOAT };
enum ptx_type_class ptx_type_class(enum ptx_type type);
/** Returns PTX_T_NONE if @text is no type. */
enum ptx_type ptx_type_find(const char *text, size_t size);
/** Returns true for pairs of floats of 8 bits. */
static inline bool ptx_is_fp8x2(enum ptx_type type)
{
    return type == PTX_T_E4M3X2 || type == PTX_T_E5M2X2;
}
/** Returns true for types that only cvt has, so that registers and variables cannot have them. */
static inline bool ptx_is_cvt_type(enum ptx_type type)
{
    return type == PTX_T_TF32 || ptx_is_fp8x2(type);
}
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
/** Address in an initialiser: the 8 (or 4) bytes at @offset contain @symbol + @addend. */
struct ptx_init_address {
    uint64_t offset;
    uint32_t symbol;
    int64_t addend;
};
enum { PTX_TEXTURE_BYTES = 32 }; /* must be equal to EMU_TEXTURE_BYTES */
struct ptx_symbol {
    const char *name;
    uint8_t kind, space; /* enum ptx_symbol_kind, enum ptx_space */
    bool external, pointer;
    bool texture;          /* the variable is a .texref, which begins with a texture descriptor of PTX_TEXTURE_BYTES */
    bool managed;          /* the variable has .attribute(.managed) */
    bool weak, common;     /* another module's definition of the same name may replace this one */
    uint16_t source;       /* index of the module that declares the symbol */
    uint8_t pointer_space; /* space that a .ptr parameter points to */
    uint8_t type;          /* enum ptx_type of the variable's elements */
    uint32_t align, line;
    uint64_t size_bytes;
    uint8_t *init; /* initial data; NULL: zeros */
    PTX_LIST(struct ptx_init_address) addresses;
    uint32_t offset;   /* offset of a parameter, shared or local variable in its space */
    bool placed, used; /* @placed: the offset of a shared variable is set; @used: a global variable is in the object */
    uint32_t variable; /* index of the variable in the object */
    uint32_t function; /* index of the function that a PTX_SYM_FUNCTION names */
    /* For parameters of calls and functions (ptx_param.c): where the value is, and how it is used. */
    uint32_t reg;               /* 1 + PTX register that is the parameter in the body; 0: the parameter is not a register */
    uint8_t home;               /* enum ptx_spill_home */
    bool odd;                   /* the variable is also accessed in part, at an offset, or by address */
    uint8_t narrow, wide;       /* bytes of the smallest store (0 if there is none) and of the largest load */
    uint32_t home_vreg;         /* virtual register: if `home` is REGISTER, the register has the parameter's value; if `home`
                                 * is POINTER, the register has the value's offset in local memory */
    uint32_t first_use, last_use; /* 1 + index of the first and of the last instruction that uses the parameter, or 0 if no
                                   * instruction uses it */
    uint32_t first_run, last_run; /* numbers of the straight-line stretches of text that contain first_use and last_use */
};
/** Location of a .param variable while its function executes. */
enum ptx_spill_home {
    PTX_SPILL_NONE,     /* the variable is not used */
    PTX_SPILL_CONST,    /* in constant bank 0, for a parameter of a kernel */
    PTX_SPILL_REGISTER,
    PTX_SPILL_FRAME,    /* in the function's own frame, like a local variable */
    PTX_SPILL_POINTER   /* in the caller's frame; a register contains its address */
};

enum ptx_operand_kind {
    PTX_O_SINK, /* _ (no destination) */
    PTX_O_REG,
    PTX_O_IMM,
    PTX_O_ADDRESS, /* [base + imm]; the base is a register, a symbol or missing */
    PTX_O_SYMBOL,  /* symbol + imm */
    PTX_O_LABEL,
    PTX_O_SPECIAL, /* %tid.x ... */
    PTX_O_VECTOR,  /* {a, b, ...} */
    PTX_O_PAIR,    /* p|q */
    PTX_O_LIST     /* (a, b, ...) in a call */
};
enum ptx_literal { PTX_LIT_INT, PTX_LIT_F32, PTX_LIT_F64, PTX_LIT_WARP_SIZE };
#define PTX_NONE UINT32_MAX
struct ptx_operand {
    uint8_t kind;
    bool negated;    /* the operand is the complement of a predicate: !p */
    uint8_t literal; /* enum ptx_literal */
    uint16_t count;  /* number of elements (VECTOR, PAIR, LIST); SYMBOL: 1 for the lower and 2 for the upper word of the address,
                      * 0 for the whole address */
    uint32_t reg;    /* by kind: index of the register, index of the label, or enum isa_special */
    uint32_t symbol; /* index of the symbol that the operand names, or PTX_NONE */
    uint64_t imm;
    struct ptx_operand *element;
};
struct ptx_insn {
    uint8_t op;      /* enum ptx_op */
    uint8_t type_count, type[4];
    bool guard_neg;
    uint8_t operand_count;
    uint8_t orders;  /* value of ISA_MOD_BMEM that the pragma before a barrier specifies */
    bool no_line;    /* the preceding .loc has line 0, because the instruction belongs to several lines or to none */
    bool newer;      /* a pragma says that the instruction belongs to our OpenCL library, or the instruction is part of an
                      * expansion. The instruction may be newer than the module's .version */
    uint8_t part_of; /* instruction that the parser expanded to this one and others, or PTX_OP_NONE */
    uint32_t guard;  /* predicate register, or PTX_NONE */
    uint32_t line, loc;
    uint64_t words[3]; /* bit set, by enum ptx_word, of the modifiers that no selection rule has handled yet */
    const char *unknown; /* modifier that ptx_words.def does not contain, or NULL */
    struct ptx_operand *operand;
};
static inline bool ptx_has(const struct ptx_insn *insn, enum ptx_word word)
{
    return insn->words[word / 64] >> (word % 64) & 1;
}
/** Returns the effect of @insn: NONE, WAITS or SYNCS. For a call returns NONE. @insn must still have all modifiers that
 *  the parser found, because selection rules remove the modifiers that they handle. */
enum ptx_effect ptx_effect(const struct ptx_insn *insn);
/** Removes a modifier and returns whether it was present. Modifiers that remain after selection are refused. */
static inline bool ptx_take(struct ptx_insn *insn, enum ptx_word word)
{
    bool had = ptx_has(insn, word);

    insn->words[word / 64] &= ~(UINT64_C(1) << (word % 64));
    return had;
}

struct ptx_reg {
    const char *name;
    uint8_t type, elements; /* elements: size of the vector whose first register this is; 0: the register is no vector */
    uint16_t definitions; /* number of definitions, saturating; counted by the parser and by ptx_select */
    bool constant;        /* the only definition of the register is a mov of the literal `value` */
    uint64_t value;
    uint32_t vreg; /* 1 + virtual register, or 0 if there is none yet */
    /* Members of a register whose only definition is the address of a local variable (ptx_param.c): */
    uint32_t local;        /* 1 + symbol of the local variable; 0: the register has no such definition */
    bool local_generic;    /* the register has the generic address of the variable */
    int64_t local_offset;
};
struct ptx_loc {
    uint32_t file, line;
    uint16_t column;
    /* If the code comes from an inlined function: location of the call, and the function's name, which is at label
     * @name + @name_offset. */
    bool inlined;
    bool silent; /* the code had no location and got the location of the code after it, so no statement begins here */
    uint16_t call_column;
    uint32_t call_file, call_line;
    uint32_t parent; /* index in ptx_module.locs of the location that contains the call, 0: unknown */
    uint32_t copy;   /* number of the duplicate of the code, which ptx_reduce() made; 0: original code */
    const char *name;
    uint32_t name_size, name_offset;
    uint32_t instance; /* ptx_debug_inline.c: 1 + inlined instance in function @instance_of, or 0 if there is none yet */
    const struct ptx_function *instance_of;
    const char *calls; /* inlined calls of the code, "LINE:COLUMN,..." or "-" (ptx_dump_calls.c); borrowed from the text */
    uint32_t calls_size; /* 0: the inlined calls are unknown */
};
enum { PTX_LEAST_REGISTERS = 16 }; /* a lower limit of vector registers (.maxnreg or an option) is raised to this number */
enum { PTX_FIRST_SAVED = 96 }; /* callees preserve vector registers with this number and with higher numbers
                                * (docs/reference/abi.md) */
/** Registers that a call may change: a bit set of vector registers, then one of predicates. */
struct ptx_clobber {
    uint64_t v[4];
    uint8_t p;
};
/** Properties of a function and its callees that its callers need (ptx_call_graph.c). */
struct ptx_tree {
    /* lanes may leave the function's reconvergence regions before all lanes are there, so lanes that call the function
     * together may return at different times */
    bool lossy;
    bool waits;  /* the function may wait for another lane, so that loops which call it yield */
    bool syncs;  /* the function contains block barriers or .sync operations */
    bool soft, needs_warp_32, dynamic_shared;
    struct ptx_clobber clobber;
    unsigned barriers;       /* callers must not use barrier registers below this number; 0: the function saves the
                              * registers that it uses */
    unsigned below;          /* largest `barriers` of the callees outside the SCC; valid if below_known */
    bool below_known;
    unsigned breg_count, vreg_count;
    uint32_t shared_bytes;
    uint32_t shared_end;     /* end of the shared variables of the SCC's functions and of their callees */
    uint64_t frame_bytes, below_bytes; /* bytes of stack for the SCC's functions, and for the callee that needs most */
    uint64_t stack_bytes;              /* frame_bytes + below_bytes, valid after the last function of the SCC is
                                        * translated */
};
/** Function in the call graph. */
struct ptx_calls {
    PTX_LIST(uint32_t) callees;  /* functions with a body that the function calls directly */
    PTX_LIST(uint32_t) names;    /* further functions whose address the function takes */
    bool any;                    /* the function calls a function with a body, or calls through a register */
    bool indirect, address_taken, reachable;
    bool recursive;              /* the function may call itself, directly or through others */
    bool soft;                   /* a kernel whose barriers are soft calls the function */
    uint32_t scc;                /* number of the SCC (mutually recursive functions) to which the function belongs; callees
                                  * outside the SCC have lower numbers */
    uint32_t index;              /* number of the function in the object */
    struct ptx_tree tree;
};
/** Instructions that the compiler scheduled before the .loc of their statement. All members are line numbers of the PTX text.
 *  The .loc of the statement is on line @to. The lines from @from on belong to the statement. The lines from @given up to @from
 *  are in earlier blocks: they do not belong to the statement, but have its line number. */
struct ptx_early {
    uint32_t from, to, given;
};
/** Comment in a function body that gives the value of a source variable (ptx_debug_notes.c). */
struct ptx_note {
    const char *text; /* text of the note after "//lw.value " */
    uint32_t size, line;
};
struct ptx_notes {
    struct ptx_note *at;
    size_t count, capacity;
};
struct ptx_function {
    const char *name;
    bool kernel, has_body, weak;
    const char *refusal; /* message, with its location, that says why the function is not translated; NULL: the function
                          * is translated */
    uint16_t source;
    uint32_t symbol, line;
    uint32_t opening; /* location of the function's first .loc, to which compilers give the line of the opening brace; 0:
                       * none */
    PTX_LIST(uint32_t) params;  /* symbols of the parameters */
    PTX_LIST(uint32_t) results; /* result symbols of a .func */
    PTX_LIST(struct ptx_reg) regs;
    PTX_LIST(struct ptx_insn) insns;
    PTX_LIST(uint32_t) labels;       /* by label: index of the next instruction */
    PTX_LIST(const char *) label_names;
    PTX_LIST(uint32_t) label_lines;
    uint32_t joins_at; /* 1 + instruction at the last label that branches may target, or 0 if there is none */
    PTX_LIST(struct ptx_early) early; /* sorted by line */
    struct ptx_notes notes;           /* sorted by line */
    uint32_t first_symbol, end_symbol; /* the parameters and variables of the function are the symbols from first_symbol to
                                        * end_symbol - 1 */
    uint32_t param_bytes, max_threads, required_block[3];
    uint32_t max_registers; /* limit of .maxnreg, or 0 if there is none */
    /* A kernel that another OpenCL C kernel calls exists a second time as a function (ptx_parse.c). */
    uint32_t callable; /* for the kernel: 1 + index of that function, or 0 if no kernel calls this kernel */
    uint32_t copy_of;  /* for that function: 1 + index of the kernel; 0: the function is not the copy of a kernel */
    const char *text;  /* text after .entry or .func, which starts on line `text_line` */
    unsigned text_line;
    struct ptx_calls calls;
};
struct ptx_alias { /* .alias name, target: function symbols */
    uint32_t symbol, target, line;
};
/** A module's .version (63: 6.3) and .target (75: sm_75). If is_checked is true, instructions must exist in both
 *  .version and .target; it is false for compiled text. */
struct ptx_dialect {
    uint16_t version, target;
    char variant; /* 'a' of sm_100a or 'f' of sm_100f, otherwise 0 */
    bool is_checked;
};
/** Returns true if the .version exists. */
bool ptx_version_known(unsigned version);
/** Returns the first .version that supports a target, or 0 if the target is unknown. */
unsigned ptx_target_since(const char *name, size_t size);
struct ptx_module {
    PTX_LIST(struct ptx_dialect) dialects; /* one element for each module */
    uint32_t reserved_shared; /* 1 + symbol that %reserved_smem_offset_... refers to, or 0 if it is not used */
    uint32_t grid_workspace;  /* 1 + symbol whose address %envreg1 and %envreg2 contain, or 0 if it is not used */
    struct ptx_map linked; /* names that all modules share */
    PTX_LIST(struct ptx_alias) aliases;
    struct ptx_job *job;
    PTX_LIST(struct ptx_symbol) symbols;
    PTX_LIST(struct ptx_function) functions;
    PTX_LIST(const char *) files; /* indexed by .file number plus the element of file_bases for the module */
    uint32_t *file_bases; /* by module: number that is added to its .file numbers; then the number of all files */
    PTX_LIST(struct ptx_loc) locs; /* element 0 stands for no location */
    const char *producer;
    unsigned address_bits;
    struct ptx_debug *debug; /* debug sections of the module, or NULL if there is none */
    /* ptx_call_graph.c */
    PTX_LIST(uint32_t) order;       /* functions to translate: callees before callers, kernels last */
    PTX_LIST(struct ptx_tree) sccs; /* for each SCC, the common properties of its functions */
    struct ptx_tree any;            /* common properties of all functions whose address is taken */
    uint32_t any_scc;               /* number of the SCC of the node that represents all callees of calls through a register */
    uint32_t frame_align;           /* alignment of every frame: the largest alignment that a variable needs */
    bool common_dynamic;            /* a function refers to dynamic shared memory, so this memory starts at the same
                                     * offset in all kernels */
    uint32_t shared_top;            /* end of all shared variables that have an offset */
    PTX_LIST(uint32_t) dynamic;     /* symbols of dynamic shared memory */
};
/** Parses the job's modules into the job's arena. */
struct ptx_module *ptx_parse(struct ptx_job *job);
/** Makes @source the current module, to which messages refer. */
void ptx_job_source(struct ptx_job *job, size_t source);

/* ---- the lexer (ptx_lex.c) ------------------------------------------------------------ */

struct ptx_lexer {
    struct ptx_job *job;
    const char *p, *end;
    unsigned line;
    bool takes_warp_size; /* an operand is being parsed whose constant expression may contain WARP_SZ */
    bool had_warp_size;   /* the expression contained WARP_SZ */
    struct ptx_notes *notes; /* notes of the function that is being parsed, or NULL outside functions */
};
struct ptx_name {
    const char *text;
    size_t size;
};
enum { PTX_NAME_BYTES = 8000 }; /* limit of a name; objects permit 8,192 bytes, including a prefix */
/** Skips blanks and comments. */
void ptx_lex_space(struct ptx_lexer *lex);
/** Returns the next character after blanks, or 0 at the end. */
char ptx_lex_peek(struct ptx_lexer *lex);
bool ptx_lex_accept(struct ptx_lexer *lex, char c);
void ptx_lex_expect(struct ptx_lexer *lex, char c, const char *where);
/** Reads an identifier ([%$_a-zA-Z][$_a-zA-Z0-9]*); returns false if there is none. */
bool ptx_lex_identifier(struct ptx_lexer *lex, struct ptx_name *name);
/** Reads a word after a dot (".global" gives "global"), including "::" parts. */
bool ptx_lex_dotted(struct ptx_lexer *lex, struct ptx_name *name);
/** Reads a literal with optional minus sign: integer, 0f..., 0d..., decimal float. */
bool ptx_lex_number(struct ptx_lexer *lex, uint64_t *bits, enum ptx_literal *literal);
uint64_t ptx_lex_integer(struct ptx_lexer *lex, const char *what);
/** Reads a constant expression: a literal as ptx_lex_number() reads, or C operators on integers. */
bool ptx_lex_constant(struct ptx_lexer *lex, uint64_t *bits, enum ptx_literal *literal);
bool ptx_lex_string(struct ptx_lexer *lex, struct ptx_name *text);
/** Decodes a PTX string as LLVM writes it: a backslash precedes a letter or three octal digits, also for bytes outside
 *  ASCII. Writes at most @room bytes to @text and returns their count without the NUL. */
size_t ptx_string_text(const char *from, size_t size, char *text, size_t room);
/** Copies the next characters of the text, at most 30, to @room for a message. */
const char *ptx_lex_here(struct ptx_lexer *lex, char *room, size_t size);
static inline bool ptx_name_is(struct ptx_name name, const char *text)
{
    return strlen(text) == name.size && memcmp(name.text, text, name.size) == 0;
}

/* ---- the parser's own state (ptx_parse.c, ptx_parse_body.c) -------------------------- */

struct ptx_range { /* a range of registers, such as the one that .reg .b32 %r<40> declares */
    const char *prefix;
    uint32_t prefix_size, count;
    uint8_t type, elements; /* elements: size of each vector; 0: the range has single registers */
};
struct ptx_label_use {
    struct ptx_name name;
    uint32_t insn, operand, line;
    uint32_t element; /* 1 + index of the vector element that names the label; 0: the operand itself names the label */
};
struct ptx_targets { /* targets of an indirect branch: label: .branchtargets a, b, ... */
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
    uint16_t source;    /* index of the module */
    uint32_t file_base; /* number that is added to the module's .file numbers */
    bool visible, weak, common, external; /* attributes of the current directive */
    size_t directives;  /* number of directives parsed in the module */
    bool opencl;        /* the module is OpenCL C: its target is texmode_independent */
    bool rereading;         /* a kernel is being parsed again as a function, which shares the kernel's variables */
    uint32_t next_shown; /* while a kernel is parsed again: index of the next symbol that may be a variable of the kernel */
    struct ptx_lexer lex;
    struct ptx_module *module;
    struct ptx_function *function; /* function being parsed */
    bool in_body;                  /* the parser is in the function's body, not in its head */
    unsigned depth;                /* nesting of braces in the body */
    const char *statement;         /* start of the current statement, on line statement_line */
    unsigned statement_line;
    enum ptx_op op;                /* instruction of the statement whose modifier @unknown is not supported */
    enum ptx_op expands;           /* instruction whose expansion (ptx_expand.c) is being parsed, or PTX_OP_NONE */
    const char *text_end;          /* end of the module's text and nesting of braces while an expansion is being parsed */
    unsigned text_depth;
    const char *unknown;
    struct ptx_scope *scope;
    struct ptx_map ops, words; /* names of instructions and modifiers */
    PTX_LIST(struct ptx_targets) targets; /* lists of targets in the function that is being parsed */
    uint8_t orders;                /* value of a pragma for the next instruction, as in struct ptx_insn */
    bool newer;
    bool no_line;                  /* the last .loc has line 0 */
    uint32_t loc;                  /* location of the next instruction, or PTX_NEXT_LOC */
};
enum { PTX_NEXT_LOC = 0x7fffffff }; /* represents the location of the next .loc until the parser reaches that .loc */
/** Values of ptx_scope.names: the low two bits are the kind of the name, the other bits are an index. */
enum { PTX_NAME_SYMBOL = 0, PTX_NAME_REG = 1, PTX_NAME_VECTOR = 2 };
const uint32_t *ptx_scope_find(struct ptx_parser *parser, struct ptx_name name);
/** Declares registers in the innermost scope: one, or the consecutive @elements of a vector (.reg .v4). */
void ptx_reg_declare(struct ptx_parser *parser, struct ptx_scope *scope, struct ptx_name name,
                     enum ptx_type type, unsigned elements);
/** Returns true if the innermost scope itself declares the name, alone or in a range. */
bool ptx_scope_holds(struct ptx_parser *parser, struct ptx_name name);
/** Parses a variable or parameter declaration after its space and adds the symbols to the current scope. Returns the
 *  index of the first symbol. */
uint32_t ptx_parse_variable(struct ptx_parser *parser, enum ptx_space space, bool external);
/** Returns the entry of @name in @scope, or in the names that all modules share if the current directive is visible or
 *  external. Returns NULL if the name is not declared yet. */
const uint32_t *ptx_find_declared(struct ptx_parser *parser, struct ptx_scope *scope,
                                  struct ptx_name name);
/** Shares the name with the other modules if it is visible or external. */
void ptx_share_name(struct ptx_parser *parser, const struct ptx_scope *scope,
                    struct ptx_name name, uint32_t index);
/** Reports two definitions of a name. @old is the earlier symbol, if it is known. */
_Noreturn void ptx_declared_twice(struct ptx_parser *parser, const struct ptx_symbol *old,
                                  const char *name);
void ptx_parse_body(struct ptx_parser *parser);
void ptx_parse_loc(struct ptx_parser *parser);
void ptx_parse_file(struct ptx_parser *parser);
void ptx_parse_section(struct ptx_parser *parser);
const char *ptx_text(struct ptx_parser *parser, struct ptx_name name);

/** Parts of a call. @results and @args are NULL if the call has no such list. */
struct ptx_call_parts {
    const struct ptx_symbol *callee;   /* function that is called; NULL: the call is through register @target */
    const struct ptx_function *function; /* the function of the callee */
    const struct ptx_operand *target;
    const struct ptx_operand *results, *args;
    unsigned result_count, arg_count;
};
void ptx_call_split(const struct ptx_module *module, const struct ptx_insn *in, struct ptx_call_parts *out);
/** Returns the function that a call names, or NULL if the call is through a register. */
const struct ptx_symbol *ptx_callee(const struct ptx_module *module, const struct ptx_insn *call);

/** Returns whether function @name, which no module defines, becomes instructions (ptx_select_call.c). */
bool ptx_select_provides(const char *name);
/** Returns true if ptx_select() has a rule for @op. Operands of instructions other than calls are not parsed. */
bool ptx_op_supported(enum ptx_op op);
/** Returns true if the parser replaces the operation by other instructions (ptx_expand.c). */
bool ptx_op_expands(enum ptx_op op);

/* ---- special registers ------------------------------------------------------------------ */

/** Returns the special register with a PTX name without '%' ("tid.x"), or -1 if there is none. */
int ptx_special_find(const char *name, size_t size);

/* ---- machine instructions on virtual registers ------------------------------------------ */

/** Reference to consecutive 32-bit registers of a virtual register: its number << 3 | index of the first of them. A virtual
 *  register consists of one or more 32-bit registers, whose number is called `rows` in the code. */
typedef uint32_t ptx_ref;
#define PTX_NO_REF UINT32_MAX
#define PTX_ZERO (UINT32_MAX - 1) /* register vz, which reads as zero; as a predicate: pt */
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

enum ptx_slot { /* operands of a machine instruction that refer to registers */
    PTX_S_D, PTX_S_A, PTX_S_X, PTX_S_C, /* vector operands */
    PTX_S_M,                            /* mask register of member lanes */
    PTX_S_P, PTX_S_Q,                   /* predicates written */
    PTX_S_R, PTX_S_RA, PTX_S_RB, PTX_S_GUARD, /* predicates read */
    PTX_SLOT_COUNT
};
enum ptx_mi_flag {
    PTX_MI_PARTIAL = 1 << 0, /* D keeps its old value in some of its registers or lanes, so the instruction also reads D */
    PTX_MI_IMM64 = 1 << 1,   /* the instruction sets D to imm64 (op is V_MOV_B32 or V_MOV_B64); ptx_layout() encodes the
                              * constant */
    PTX_MI_DEAD = 1 << 2,
    PTX_MI_SPIN = 1 << 3,  /* a loop that contains the instruction needs a yield (MACHINE 2) */
    PTX_MI_SPILL = 1 << 4, /* the instruction was created by ptx_spill.c for a spilled value, or by ptx_frame.c */
    PTX_MI_RELOC_LOW = 1 << 5,
    PTX_MI_RELOC_HIGH = 1 << 6, /* HIGH, LOW: X is the high or low word of the address of `symbol` + imm64 */
    PTX_MI_DYNAMIC = 1 << 7,    /* imm64 is relative to the kernel's dynamic shared memory */
    PTX_MI_PIN = 1 << 8,        /* a pin, which emits no code: fixes A or D to the register of an argument or result of a call */
    PTX_MI_PROLOGUE = 1 << 9,   /* a mark that emits no code: ptx_frame() inserts the prologue here */
    PTX_MI_CFA = 1 << 10,       /* the offset is relative to the CFA: the caller's end of the frame, not v2 */
    PTX_MI_SYNCS = 1 << 11,     /* the instruction is a block barrier, makes lanes reconverge, or calls a function that does
                                 * one of both */
    PTX_MI_READONLY = 1 << 12,  /* the instruction loads from memory to which nothing stores while the kernel runs */
    PTX_MI_LINE = 1 << 13,      /* the instruction is a nop that carries the line of a jump; ptx_layout() drops the nop if
                                 * another instruction with the line follows */
    PTX_MI_NO_GUARD = 1 << 14,  /* the selection rule has chosen a guard or none, so apply_guard() adds none */
    PTX_MI_UNHOOKED = 1 << 15      /* no statement begins at this instruction, so debuggers skip it */
};
/** Variable on which an address depends (ptx_object_bounds.c). */
struct ptx_bound {
    uint32_t symbol; /* 1 + symbol, or 0 if there is none */
    uint32_t at;     /* offset of the source variable in a local variable that contains several */
};
enum { PTX_NO_BARRIER = 0xff };
struct ptx_mi {
    struct isa_insn in;           /* operation, modifiers, immediate; ptx_emit() adds the registers */
    ptx_ref ref[PTX_SLOT_COUNT];  /* PTX_NO_REF: the slot is not used */
    uint8_t rows[PTX_S_M];        /* number of 32-bit registers in D, A, X, C */
    uint8_t barrier;              /* barrier register of bssy, bsync, bbreak and branches, or PTX_NO_BARRIER */
    uint16_t flags;
    uint32_t target;              /* target block of a branch or bssy */
    uint32_t loc, line;
    uint32_t symbol;
    uint64_t imm64;
    struct ptx_bound bound;
};
struct ptx_vreg {
    uint8_t rows;      /* number of 32-bit registers; 0: a predicate */
    uint32_t origin;   /* index of the PTX register whose value the virtual register has, or PTX_NONE */
    uint32_t def;      /* index of the only instruction that defines the register; PTX_NONE: several definitions or none */
    uint32_t def_count, use_count;
    bool ssa;          /* one definition dominates every use */
    bool divergent;
    bool scalar;       /* the register will be assigned to a scalar register or predicate */
    bool no_spill;     /* the virtual register must get a physical register, because it is a temporary of a call, or a piece
                        * of a spilled value for one instruction */
    /* Members for spilling (ptx_spill.c). `home` is 1 + the spill slot, which is an offset in local memory, or for a
     * predicate a virtual register, or 0 if there is no slot. `level` is 0 for a value that was not split; for a piece of a split
     * value it is the depth of the piece's loop, or LINE (ptx_spill.c). */
    uint32_t home;
    uint8_t level;
    uint16_t fixed;    /* 1 + physical register to which the virtual register must be assigned; 0: any register */
    bool retained;         /* the register has a source variable, so ptx_opt() does not remove copies of the register */
};

/** How a value differs between lanes that execute an instruction together (ptx_affine.c). */
enum ptx_lanes { PTX_LANES_UNKNOWN, PTX_LANES_AFFINE, PTX_LANES_VARYING };
enum ptx_lane_dim { PTX_LANE_X, PTX_LANE_Y, PTX_LANE_Z, PTX_LANE_ID, PTX_LANE_DIMS };
struct ptx_affine {
    uint8_t kind;    /* enum ptx_lanes; a uniform value is affine with strides of zero */
    uint8_t some;    /* bit 1 << enum ptx_lane_dim: the stride of this dimension is uniform, but its value is unknown */
    bool assumed;    /* `kind` and the strides are valid only if no 32-bit intermediate value wraps */
    bool narrow;     /* the value has 32 bits; only printed output uses this member */
    uint64_t stride[PTX_LANE_DIMS]; /* strides modulo 2^32 or 2^64 */
    uint64_t low, high; /* range of the unsigned value, valid if high < 2^32 */
};

#define PTX_GIVE_UP (UINT32_C(1) << 31)
enum ptx_end { PTX_END_NEXT, PTX_END_BRANCH, PTX_END_FINAL, PTX_END_EXIT };
struct ptx_block {
    uint32_t first, count; /* instructions, excluding the terminator */
    uint8_t end;           /* enum ptx_end */
    uint8_t succ_count;
    uint32_t succ[2];      /* BRANCH: target, then fall-through; NEXT: the only successor */
    ptx_ref guard;         /* guard of a BRANCH */
    bool guard_neg;
    bool may_diverge, barrier_flow; /* the block's branch may diverge; the block is in the region of a divergent branch */
    uint32_t loc, line;    /* location of the terminator */
    bool synthetic;             /* ptx_cfg() created the block, which the PTX text does not have */
    bool merged;                /* sides of a branch were merged into the block. No statement begins at the block's terminator,
                                 * whose `line` is that of the first instruction after the branch */
    uint32_t label;        /* label of the block in the text, or PTX_NONE if there is none */
    /* ptx_cfg */
    uint32_t *pred;
    uint32_t pred_count;
    uint32_t rpo;          /* index in reverse post order; PTX_NONE: the block is unreachable */
    uint32_t idom, dom_in, dom_out; /* immediate dominator; interval in the dominator tree */
    uint32_t ipdom;        /* immediate post-dominator, or PTX_NONE if there is none */
    uint8_t exit_side;     /* 1 + index of the successor that only ends the kernel, or 0 if there is none. A branch with such a
                            * successor becomes a guarded exit, which does not diverge */
    bool exit_ignored;     /* the exit_side edge is ignored in the post-dominator tree */
    bool reaches_end;      /* at least one path from this block reaches the end of the function without an exit */
    uint32_t loop;         /* innermost loop, or PTX_NONE if there is none */
    /* ptx_barrier */
    uint8_t branch_barrier;     /* barrier that the block's branch names, or PTX_NO_BARRIER */
    PTX_LIST(uint8_t) syncs;    /* barriers of the bsyncs at the block's start, in order */
    /* for each bsync: 1 + the register pair from which the barrier is restored after the bsync, or 0 */
    PTX_LIST(uint32_t) sync_gives;
    PTX_LIST(uint32_t) joins;   /* regions whose bssy is at the block's end */
    PTX_LIST(uint8_t) breaks[2]; /* barriers of the bbreaks on the edge to succ[i] */
    PTX_LIST(uint32_t) break_gives[2]; /* for each bbreak, 1 + the register pair from which the barrier is restored after the
                                        * bbreak, or 0. With PTX_GIVE_UP, the bbreak sets the pair to zero instead */
    bool yields[2];
};
enum { PTX_MOST_NESTED = 2000 }; /* limit of the nesting of loops, because time and memory grow with the square of the depth */
struct ptx_loop {
    uint32_t header, preheader, parent, depth;
    uint32_t nest_in, nest_out; /* interval in the tree of loops, for ptx_in_loop() */
    bool spins, divergent;
    PTX_LIST(uint32_t) latches;
};
struct ptx_region {
    uint32_t start, join; /* block of the region's bssy, and block of its bsync */
    uint32_t scope;       /* loop to which the region belongs and from which lanes break with bbreak, or PTX_NONE if there is
                           * no such loop */
    uint8_t barrier;      /* barrier register, or PTX_NO_BARRIER if none was free */
    bool given_up;        /* the region gets no barrier, because it is nested too deeply or lanes could wait for each other
                           * in a cycle */
    uint32_t saved;       /* register pair that saves the outer region's barrier, or PTX_NONE if there is none */
    uint32_t size;
    PTX_LIST(uint32_t) inside;
    PTX_LIST(uint32_t) branches;
    PTX_LIST(uint64_t) leaves; /* edges that leave the region: block << 1 | successor index */
};

/** Call from which lanes may return at different times. The lanes reconverge in block `join`. */
struct ptx_wrap {
    uint32_t start, body, join; /* three blocks that follow each other: with the bssy, with the call, with the bsync */
};

/** Function that is being translated. */
struct ptx_unit {
    struct ptx_job *job;
    struct ptx_module *module;
    struct ptx_function *function;
    struct isa_object *object;
    PTX_LIST(struct ptx_mi) code;
    PTX_LIST(struct ptx_vreg) vregs;
    PTX_LIST(struct ptx_block) blocks; /* in the order of the text until ptx_layout() */
    PTX_LIST(uint32_t) order;          /* layout order, after ptx_cfg() */
    uint32_t *rpo;                     /* blocks in reverse post order */
    uint32_t rpo_count;
    PTX_LIST(struct ptx_loop) loops;
    PTX_LIST(struct ptx_region) regions;
    uint32_t entry, final_block;
    ptx_ref carry;                     /* predicate that is PTX's condition code */
    bool has_carry;
    struct ptx_bounds *bounds;         /* valid during instruction selection */
    PTX_LIST(struct ptx_mi) prologue; /* inserted before the entry block */
    bool lossy; /* a divergent branch has a region without a barrier register, a region that saves the barrier of an outer
                 * one, or no region. So not all lanes that diverged at the branch are together after it */
    bool soft, needs_warp_32, dynamic_shared; /* soft: the bsyncs of the function are soft (MACHINE 2) */
    unsigned breg_count, vreg_count, sreg_count;
    uint32_t shared_bytes, dynamic_base, local_bytes;
    uint32_t shared_below; /* end of the shared variables of its callees */
    /* For calls (docs/reference/abi.md). @framed: the function calls or is called, so v2 is its stack pointer. */
    bool framed;
    ptx_ref sp;                  /* base of the frame's addresses: v2 in a function, PTX_ZERO in a kernel */
    uint32_t frame_base;         /* the frame starts at this fixed offset, after the stacks of the function's callees */
    ptx_ref link, stack;         /* virtual registers for v0:1 (@link) and v2 (@stack) */
    struct ptx_clobber clobber;  /* registers that its calls change */
    unsigned breg_base;          /* callees use the barrier registers with lower numbers */
    PTX_LIST(struct ptx_wrap) wraps;
    /* For ptx_affine(), if wants_affine is true; by virtual register. */
    bool wants_affine;
    uint8_t *mixed;            /* 1 if, where lanes reconverge, the register may hold values of different definitions or
                                * loop iterations in different lanes */
    size_t mixed_count, affine_count;
    struct ptx_affine *affine;
    /* Live-in virtual registers of each block, computed by ptx_liveness(). */
    PTX_LIST(uint32_t) *live_in;
    uint16_t *assigned; /* by virtual register: first physical register, or predicate; 0xffff: none */
};

/** Dominators of a graph that was traversed depth first (ptx_dominators.c). Nodes are numbered in the order of the
 *  traversal; the root is 0. */
struct ptx_dominators {
    uint32_t count;           /* number of nodes; the caller sets this member and the next three */
    uint32_t *parent;         /* by node: its parent in the traversal */
    uint32_t *first, *from;   /* predecessors of node i: from[first[i]] to from[first[i + 1] - 1] */
    uint32_t *idom;           /* the result: immediate dominator; for the root, the root itself */
    uint32_t *semi, *label, *up, *stack; /* scratch memory */
};
/** Allocates a graph of at most @nodes nodes and @edges edges in the arena. The caller can use the graph repeatedly. */
struct ptx_dominators *ptx_dominators_new(struct ptx_job *job, size_t nodes, size_t edges);
void ptx_dominators_find(struct ptx_dominators *d);

void ptx_select(struct ptx_unit *unit);
struct ptx_block *ptx_block_new(struct ptx_unit *unit);
/** Finds for each register that contains an address the variable on which the address depends. ptx_select() calls it. */
void ptx_bounds_find(struct ptx_unit *unit);
/** Sets the bounds of the memory instructions from @first on, which were selected for @insn. */
void ptx_bounds_mark(struct ptx_unit *unit, const struct ptx_insn *insn, size_t first);
/** Stores the bound of @mi in the object, as the bound of the object's instruction @index. */
void ptx_bounds_put(struct ptx_unit *unit, const struct ptx_mi *mi, uint32_t index);
/** Resolves the variables of the bounds after all variables are in the object. */
void ptx_bounds_finish(struct ptx_job *job, struct ptx_module *module);
/** Finds predecessors, order, dominators, post-dominators, and loops with preheaders. Refuses irreducible control
 *  flow. */
void ptx_cfg(struct ptx_unit *unit);
/** Does what ptx_cfg() does, for a graph whose blocks or order have changed. Resets the members of the blocks that passes
 *  after ptx_cfg() have set. */
void ptx_cfg_rebuild(struct ptx_unit *unit);
/** Finds exit sides and immediate post-dominators, after ptx_opt(). */
void ptx_postdominators(struct ptx_unit *unit);
/** Returns true if only empty blocks are on the way from @block to the kernel's end or an exit. */
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
/** Returns true if @block is in @loop, or if @loop is PTX_NONE. */
bool ptx_in_loop(const struct ptx_unit *unit, uint32_t block, uint32_t loop);
/** Replaces 64-bit arithmetic by 32-bit arithmetic if only the low words of the results are read. */
void ptx_narrow(struct ptx_unit *unit);
void ptx_opt(struct ptx_unit *unit);
/** Forms v_lea from widened products, and loads and stores with a scalar base. This pass is the last part of ptx_opt() and
 *  needs valid definitions and use counts. */
void ptx_addresses(struct ptx_unit *unit);
/** Fills unit->live_in: for each block the virtual registers that are live at its start. */
void ptx_liveness(struct ptx_unit *unit);
void ptx_divergence(struct ptx_unit *unit);
/** Returns true if the result of @mi may differ between lanes even if its sources are equal in all lanes. */
bool ptx_diverges_itself(const struct ptx_mi *mi);
/** Fills unit->affine. Requires ptx_divergence() with unit->wants_affine set before. */
void ptx_affine(struct ptx_unit *unit);
bool ptx_affine_is_uniform(const struct ptx_affine *a);
/** Prints the class of each register of the source, one per line. */
void ptx_affine_print(const struct ptx_unit *unit, struct lw_sink *out);
/** Makes irreducible loops reducible by node splitting. Before the call, the order of blocks must be known. After the
 *  call, ptx_cfg() must find predecessors, dominators and loops again. */
void ptx_reduce(struct ptx_unit *unit);
/** If-conversion: turns short sides of divergent branches into guarded instructions, and updates the graph and the
 *  divergence. */
void ptx_ifconv(struct ptx_unit *unit);
void ptx_barriers(struct ptx_unit *unit);
/** Returns true if a branch with the join of region @g, whose bssy would be in block @start, can use region @g. */
bool ptx_region_serves(const struct ptx_unit *unit, const struct ptx_region *g, uint32_t start);
/** Removes regions until lanes cannot wait for each other in a cycle. The caller has found the blocks of all regions. */
void ptx_barrier_cycles(struct ptx_unit *unit);
/** Assigns barrier registers to the regions, whose blocks are known, and stores them at blocks and edges. */
void ptx_barrier_numbers(struct ptx_unit *unit);
/** Moves uniform instructions to the scalar unit where all lanes execute together. Must be called after ptx_barriers(). */
void ptx_scalar(struct ptx_unit *unit);
/** Checks that every path from a bssy reaches its bsync, a bbreak or an exit. */
void ptx_barrier_verify(struct ptx_unit *unit);
/** Puts the blocks into one sequence of instructions; barriers and branches become instructions. The new blocks are
 *  straight-line stretches in order, with targets and successors. */
void ptx_layout(struct ptx_unit *unit);
void ptx_alloc(struct ptx_unit *unit);
/** Rewrites the code so that the @spilled values are in memory, and each use reads a register with a piece of the value's
 *  live range. @rep: by virtual register, the register with which it was coalesced. Liveness is invalid afterwards. */
void ptx_split(struct ptx_unit *unit, const uint32_t *rep, const uint8_t *spilled);
/** Returns whether a bar.synch_partner precedes the instruction (ptx_options.lat_barriers). */
bool ptx_has_lat_barrier(const struct ptx_unit *unit, const struct ptx_mi *mi);
void ptx_emit(struct ptx_unit *unit, struct isa_function *function);
/** Inserts prologue and epilogue of a framed function after allocation, and resolves offsets from v2. */
void ptx_frame(struct ptx_unit *unit);
/** Builds the call graph: the order of translation and the properties of callees. */
void ptx_calls_find(struct ptx_job *job, struct ptx_module *module);
/** Returns the properties of a call of @callee (PTX_NONE: through a register). `waits` and `syncs` are known from the
 *  start; the other properties are known after the function's translation. */
const struct ptx_tree *ptx_calls_tree(const struct ptx_module *module, uint32_t callee);
/** Called before a function is translated: computes the properties of its callees. */
void ptx_calls_begin(struct ptx_unit *unit);
/** Called after a function is translated: computes the properties that its callers need. */
void ptx_calls_end(struct ptx_unit *unit);
/** Records the barrier properties of a function that its callers need: which barrier registers the callers must leave to the
 *  function and its SCC, and whether lanes that call the function together return together. */
void ptx_calls_barriers(struct ptx_unit *unit);
/** Resolves, after all functions are translated, call targets, stacks, soft barriers and the totals of kernels. */
void ptx_calls_finish(struct ptx_job *job, struct ptx_module *module);
/** Returns the first instruction of the entry block after the prologue, which saves v96 and up, and after the pins of
 *  the arguments. Before this instruction the arguments occupy their registers, so inserted code must not write
 *  registers there. */
uint32_t ptx_entry_own(const struct ptx_unit *unit);
/** Saves the barrier registers of a function that may be entered again before it returns. */
void ptx_calls_save_barriers(struct ptx_unit *unit);
/** Runs all passes up to and including barriers, for ptx_print_cfg() and tests. */
void ptx_unit_analyse(struct ptx_unit *unit);
/** Assigns offsets to variables and translates every function into job->object. */
void ptx_module_translate(struct ptx_job *job, struct ptx_module *module);
void ptx_unit_init(struct ptx_unit *unit, struct ptx_job *job, struct ptx_module *module,
                   struct ptx_function *function, struct isa_object *object);

/** Returns whether an instruction writes, or reads, the register in a slot. A partial write also reads the old value. */
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

/** Builds the debug entries of the source from the module's sections, after ptx_parse(). */
void ptx_debug_read(struct ptx_job *job, struct ptx_module *module);
/** Register @reg holds a source variable, which debuggers may read up to instruction @insn. ptx_select() keeps the
 *  register live until then. The array of ptx_debug_keeps() is sorted by instruction. */
struct ptx_keep {
    uint32_t insn, reg;
};
const struct ptx_keep *ptx_debug_keeps(struct ptx_unit *unit, size_t *count);
/** Returns true if the function is compiled for debuggers (-O0 -g, -G), so that its variables have locations; in
 *  optimised code the locations of parameters are lost. */
bool ptx_debug_is_stepped(const struct ptx_unit *unit);
/** Keeps registers that hold variables live as long as notes of the text (struct ptx_note) refer to them. Must be called
 *  just before ptx_alloc(). */
void ptx_debug_keep_values(struct ptx_unit *unit);
/** Resolves the locations and scopes of a function's entries after register allocation and emission. @index: by
 *  instruction, the index of its word in the function; one more element than instructions. */
void ptx_debug_function(struct ptx_unit *unit, uint32_t base, const uint32_t *index);
/** Records that the function has number @number in the object. */
void ptx_debug_number(struct ptx_unit *unit, unsigned number);
/** Stores the debug entries that the object's functions need in object->debug. */
void ptx_debug_write(struct ptx_job *job, struct ptx_module *module);

/** Returns true if X may be a constant or an immediate (tokens xb, xb2, xt). */
bool ptx_op_wide_x(enum isa_op op);
/** Returns true if A and X may be exchanged. */
bool ptx_op_commutes(enum isa_op op);
/** Returns the operation that computes the low word of @op's result from low words; ISA_OP_COUNT: none. */
enum isa_op ptx_op_narrow(enum isa_op op);
/** Sets whether the predicate in a slot is read as its complement. */
void ptx_mi_negate(struct ptx_mi *mi, enum ptx_slot slot, bool negate);
bool ptx_mi_negated(const struct ptx_mi *mi, enum ptx_slot slot);
/** Exchanges A and X with their modifiers; a comparison is mirrored. */
void ptx_mi_swap(struct ptx_mi *mi);
/** Initialises an instruction without operands at a source location. */
void ptx_mi_init(struct ptx_mi *mi, enum isa_op op, uint32_t loc, uint32_t line);
/** Creates a virtual register of @rows 32-bit registers (0: a predicate), the last of unit->vregs, without a definition. The
 *  pointer is valid until the next call. */
struct ptx_vreg *ptx_vreg_new(struct ptx_unit *unit, unsigned rows);
/** Returns true for a global access whose address may be a scalar pair plus a 32-bit index. */
bool ptx_takes_scalar_base(const struct ptx_mi *mi);

#endif
