/* SPDX-License-Identifier: Apache-2.0 */
/* Internals of debug information. The sections of debug PTX (ptx_debug.c) become a tree of entries (ptx_debug_tree.c).
 * After its registers are allocated and its words emitted, each function resolves the locations and scopes of its
 * entries (ptx_debug_varloc.c). Entries that the object needs are copied to it (ptx_debug_write.c). Invalid sections
 * never make the translation fail: they are dropped with a note. */
#ifndef PTX_DEBUG_PRIV_H
#define PTX_DEBUG_PRIV_H

#include "ptx/ptx_priv.h"

/** Value that refers to a name: the @size bytes at @offset have the value @name + @addend - @minus. */
struct ptx_fixup {
    uint32_t offset;
    uint8_t size;
    struct ptx_name name, minus; /* names of labels or symbols; minus.size 0: nothing is subtracted */
    int64_t addend;
};
struct ptx_section {
    struct ptx_name name; /* ".debug_info" */
    uint32_t source, file_base; /* index of the section's module, and the number that is added to the module's .file numbers */
    PTX_LIST(uint8_t) bytes;
    PTX_LIST(struct ptx_fixup) fixups; /* sorted by offset */
    struct ptx_map labels;             /* name of a label to its offset in the section */
};

/** Kind of an attribute's value, derived from its form. */
enum ptx_value_kind {
    PTX_V_NONE, PTX_V_NUMBER, PTX_V_SIGNED, PTX_V_FLAG, PTX_V_TEXT, PTX_V_REFERENCE, PTX_V_ADDRESS,
    PTX_V_BLOCK, PTX_V_OFFSET /* offset in another section */
};
struct ptx_value {
    uint16_t name; /* DW_AT_... */
    uint8_t kind;  /* enum ptx_value_kind */
    uint32_t size; /* size of a block */
    uint64_t number;
    uint32_t at;   /* position of a block in .debug_info */
    const struct ptx_fixup *fixup; /* fixup of an address or offset; may be NULL */
    const char *text;
};
/** Words of one duplicate of a scope's code (ptx_debug_duplicates.c). */
struct ptx_copied {
    struct isa_span *spans;
    uint32_t span_count;
};
struct ptx_duplicates {
    struct ptx_copied *at;
    uint32_t count;
};
struct ptx_die {
    uint64_t offset; /* offset in .debug_info, with the sections of all modules concatenated */
    uint16_t tag;
    uint16_t source; /* index of the entry's module */
    bool keep;
    bool noted; /* notes determine the variable's values */
    uint32_t parent, end; /* parent: PTX_NONE for a unit; end: first entry after the children */
    uint32_t unit;        /* compile unit of the entry */
    uint32_t first, count; /* range of the entry's attributes */
    uint32_t function;    /* index in the module of a subprogram with code, otherwise PTX_NONE */
    uint32_t object_function; /* index in the object, set when the function is stored */
    uint32_t out;         /* index of the entry in the object */
    /* created by ptx_debug_function() in the object's arena */
    struct isa_var_location *locations;
    uint32_t location_count;
    struct isa_span *spans;
    uint32_t span_count;
    struct ptx_duplicates copies;
};
struct ptx_mark { /* a label of a function */
    uint32_t function, line;
};
/** Sections and labels of one module. */
struct ptx_debug_part {
    const struct ptx_section *info, *abbrev, *strings, *loc, *ranges;
    struct ptx_map label_map; /* name to index in marks */
    uint32_t file_base;
};
struct ptx_debug {
    PTX_LIST(struct ptx_section) sections;
    struct ptx_debug_part *part; /* by module: the module's sections and labels */
    uint32_t part_count;
    /* Copies of the current module's part (ptx_debug_look_at()): */
    PTX_LIST(struct ptx_die) dies;
    PTX_LIST(struct ptx_value) values;
    const struct ptx_section *info, *abbrev, *strings, *loc, *ranges;
    const struct ptx_map *label_map;
    uint32_t file_base;
    PTX_LIST(struct ptx_mark) marks;
    uint32_t *subprogram;    /* by function of the module: entry of the function, or PTX_NONE */
    struct ptx_map variables; /* module variables by name */
    struct ptx_inlined_list {
        struct ptx_inlined *at;
        struct ptx_duplicates *copies; /* duplicates of the function, then of each inlined call; NULL: none */
        uint32_t count, number; /* number: index of the function in the object */
    } *inlined;          /* by function of the module; NULL: the module has .debug_info, which has the inlined calls */
    uint8_t *expressions; /* expressions of locations, in the object's arena */
    uint32_t expression_bytes;
    size_t expression_capacity;
    const char *dropped; /* reason why no section is used; NULL: no error */
    uint8_t module_stepped; /* whether all functions are compiled for debuggers; 0: not known yet, 1: no, 2: yes */
    bool noted;
    uint64_t budget;     /* steps that reading the sections may still take: limits the time for hostile input */
    uint64_t gap_budget; /* remaining steps of ptx_debug_livevalues.c; when they are used up, lists are used without
                          * corrections */
};

/** Reads "{ ... }" after the section's name. Returns false if the section is invalid; the reader is then also past the
 *  closing brace, or at the end of the text. */
bool ptx_debug_section(struct ptx_parser *parser, struct ptx_name name);
const struct ptx_section *ptx_debug_find(const struct ptx_debug *debug, uint32_t source,
                                         const char *name);
/** Makes the sections and labels of module @source the current ones (struct ptx_debug). */
void ptx_debug_look_at(struct ptx_debug *debug, uint32_t source);
/** Returns the index of the module that contains a function. */
uint32_t ptx_debug_source(const struct ptx_module *module, const struct ptx_function *function);
/** Returns the fixup that starts at @offset, or NULL. */
const struct ptx_fixup *ptx_debug_fixup(const struct ptx_section *section, uint32_t offset);
/** Resolves a fixup to an offset in @section (".debug_str + 12", or a label there); returns false if it refers
 *  elsewhere. */
bool ptx_debug_target(const struct ptx_section *section, const struct ptx_fixup *fixup,
                      uint64_t *offset);
uint64_t ptx_debug_bytes(const struct ptx_section *section, uint32_t at, unsigned size);

/** Returns the line of the text on which the statement with the instruction of line @line begins. */
uint32_t ptx_debug_statement(const struct ptx_function *fn, uint32_t line);
/** Returns the element of fn->early whose lines include @line: instructions scheduled before their statement; NULL: none. */
const struct ptx_early *ptx_debug_early(const struct ptx_function *fn, uint32_t line);
/** Returns how many statements of the function begin before line @line of the text. */
uint32_t ptx_debug_statements_before(const struct ptx_function *fn, uint32_t line);

/** Builds the tree of entries from the sections. If the sections are invalid, sets module->debug->dropped to the reason. */
void ptx_debug_read(struct ptx_job *job, struct ptx_module *module);
const struct ptx_value *ptx_debug_value(const struct ptx_debug *debug, uint32_t die,
                                        unsigned name);
/** Returns the size of an entry's type in bytes, 0: unknown. */
uint64_t ptx_debug_type_bytes(const struct ptx_debug *debug, uint32_t die);
/** Returns the entry that a reference points to, PTX_NONE: none. */
uint32_t ptx_debug_entry(const struct ptx_debug *debug, const struct ptx_value *value);
/** Returns the label that an address refers to, NULL: none. */
const struct ptx_mark *ptx_debug_mark(const struct ptx_debug *debug,
                                      const struct ptx_fixup *fixup);

/** Returns a variable's name as PTX spells it ('.' and '@' become "_$_"), or NULL if it is too long. */
const char *ptx_debug_spelling(struct ptx_name name, char *room, size_t size);
/** Result of a compiler's location expression: an address, a register or a constant. */
struct ptx_location_expr {
    const struct ptx_fixup *address; /* address of a variable, to which @offset is added */
    uint64_t offset;
    char reg[9]; /* name of a register; empty: none */
    bool constant;
};
/** Reads a location expression; returns false if it has another form. Pointers in @expr are borrowed from the
 *  module. */
bool ptx_debug_read_location_expr(const struct ptx_section *section, uint32_t at, uint32_t size,
                         struct ptx_location_expr *expr);
/** Returns the location @offset in a variable of global memory; returns false for another variable. */
bool ptx_debug_variable_location(const struct ptx_symbol *s, uint64_t offset, struct isa_var_location *location);
/** Returns the location that a module variable's expression gives; returns false if there is none. @dynamic: the
 *  location is relative to the start of a kernel's dynamic shared memory. */
bool ptx_debug_module_location(const struct ptx_module *module, const struct ptx_value *value,
                            struct isa_var_location *location, bool *dynamic);

/** Location of the code of a scope in the scope @parent, which has a lower number: of the call, or of a block's first
 *  declaration. */
struct ptx_call_site {
    uint32_t parent, file, line, column;
    bool is_call; /* the scope is an inlined call */
};
/** Gets the location of a scope; returns false if there is none. */
typedef bool (*ptx_call_site_fn)(const void *context, uint32_t scope, struct ptx_call_site *out);
/** Finds the duplicates of code in a function. Returns for each instruction the number of its duplicate in its scope; 0: the
 *  instruction is in no duplicate. Returns NULL if there are no duplicates. A scope is the function itself, or a block or an
 *  inlined call in the function.
 *  @index  by PTX instruction: its first word, counted from the function's first instruction
 *  @owner  by word, counted in the same way: index of the innermost scope */
uint32_t *ptx_debug_find_copies(const struct ptx_unit *unit, const uint32_t *index, const uint32_t *owner,
                                ptx_call_site_fn call_site, const void *context);
/** Stores in @of, by scope, the ranges of words of each duplicate of @copy in the scope.
 *  @base   word of the function's first instruction in the object */
void ptx_debug_copies(struct ptx_unit *unit, uint32_t base, const uint32_t *index, const uint32_t *owner, const uint32_t *copy,
                      struct ptx_duplicates *of);

/* For modules without .debug_info (ptx_debug_inline.c): */
/** Finds the inlined calls and the duplicated instructions of a function, and the words of each of them. @base and @index
 *  are those of ptx_debug_copies(). */
void ptx_debug_inlines(struct ptx_unit *unit, uint32_t base, const uint32_t *index);
/** Creates debug entries for all functions in which ptx_debug_inlines() found something. */
void ptx_debug_make_inlines(struct ptx_job *job, struct ptx_module *module);
/** Records that a .loc belongs to an inlined function. */
void ptx_debug_inlined_at(struct ptx_parser *parser, struct ptx_loc *loc, uint32_t file,
                          uint32_t line, uint32_t column);

#endif
