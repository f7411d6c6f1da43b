/* SPDX-License-Identifier: Apache-2.0 */
/* Internals of debug information. ptx_debug.c reads the .debug_* sections of PTX, and ptx_debug_tree.c builds the tree of
 * debug entries (DWARF: DIE) from these sections. When the registers of a function are allocated and its instruction words
 * are emitted, ptx_debug_varloc.c finds the locations and scopes of the function's entries. ptx_debug_write.c copies the
 * entries that the object needs. Invalid sections never make the translation fail: the translator drops these sections and
 * prints a note. */
#ifndef PTX_DEBUG_PRIV_H
#define PTX_DEBUG_PRIV_H

#include "ptx/ptx_priv.h"

/** Relocation in a section: the @size bytes at @offset have the value @name + @addend - @minus. */
struct ptx_fixup {
    uint32_t offset;
    uint8_t size;
    struct ptx_name name, minus; /* names of labels or symbols; if minus.size is 0, there is no name to subtract */
    int64_t addend;
};
struct ptx_section {
    struct ptx_name name; /* ".debug_info" */
    uint32_t source; /* index of the PTX module that contains the section */
    bool invalid;    /* the section contains something that is not data */
    PTX_LIST(uint8_t) bytes;
    PTX_LIST(struct ptx_fixup) fixups; /* sorted by offset */
    struct ptx_map labels;             /* maps the name of a label to the label's offset in the section */
};

/** Kind of an attribute's value, derived from its form. */
enum ptx_value_kind {
    PTX_V_NONE, PTX_V_NUMBER, PTX_V_SIGNED, PTX_V_FLAG, PTX_V_TEXT, PTX_V_REFERENCE, PTX_V_ADDRESS,
    PTX_V_BLOCK, PTX_V_OFFSET /* offset in another section */
};
struct ptx_value {
    uint16_t name; /* DW_AT_... */
    uint8_t kind;  /* enum ptx_value_kind */
    uint32_t size; /* if kind is PTX_V_BLOCK: size of the block in bytes */
    uint64_t number;
    uint32_t at;   /* if kind is PTX_V_BLOCK: offset of the block in .debug_info */
    const struct ptx_fixup *fixup; /* relocation of an address or offset; may be NULL */
    const char *text;
};
/** Instruction words of one duplicate of a scope's code (ptx_debug_duplicates.c). */
struct ptx_copied {
    struct isa_span *spans;
    uint32_t span_count;
};
struct ptx_duplicates {
    struct ptx_copied *at;
    uint32_t count;
};
/** A debug entry of the sections. */
struct ptx_die {
    uint64_t offset; /* offset of the entry in the concatenated .debug_info sections of all modules */
    uint16_t tag;
    uint16_t source; /* index of the PTX module that contains the entry */
    bool keep;       /* the entry is copied to the object */
    bool noted;      /* notes of the PTX (struct ptx_note) determine the variable's values */
    bool has_local_offset; /* the variable of optimised code is at `local_offset` of the kernel's local memory */
    uint32_t local_offset;
    uint32_t parent, end; /* parent: index of the parent entry, or PTX_NONE for a compile unit; end: index of the first entry
                           * after the children */
    uint32_t unit;        /* index of the compile unit's entry */
    uint32_t first, count; /* range of the entry's attributes in `values` of struct ptx_debug */
    uint32_t function;    /* for a subprogram with code: index of the function in the module; otherwise PTX_NONE */
    uint32_t object_function; /* index of the function in the object; set when the function is stored there */
    uint32_t out;         /* index of the entry in the object */
    /* ptx_debug_function() creates the following members in the object's arena. */
    struct isa_var_location *locations;
    uint32_t location_count;
    struct isa_span *spans;
    uint32_t span_count;
    struct ptx_duplicates copies;
};
/** A label of a function: index of the function, and the line of the label in the text. */
struct ptx_mark {
    uint32_t function, line;
};
/** Sections, labels and variables of one module. Modules that are linked may use the same names. */
struct ptx_debug_part {
    const struct ptx_section *info, *abbrev, *strings, *loc, *ranges;
    struct ptx_map label_map; /* maps the name of a label to its index in `marks` of struct ptx_debug */
    struct ptx_map variables; /* maps the name of a variable that the module defines to the index of its symbol */
    uint32_t file_base;       /* number that is added to the file numbers of the module's debug entries */
    bool has_entries;         /* the module has debug entries in .debug_info */
    uint8_t stepped;          /* states whether the module's functions are compiled for debuggers: 0: not known yet, 1: no,
                               * 2: yes */
    const char *dropped;      /* reason why the module's debug information is not used; NULL if there was no error */
};
struct ptx_debug {
    PTX_LIST(struct ptx_section) sections;
    struct ptx_debug_part *part; /* by module: the module's sections and labels */
    uint32_t part_count;
    PTX_LIST(struct ptx_die) dies;
    PTX_LIST(struct ptx_value) values;
    /* The current module's part, and copies of its members (ptx_debug_look_at()): */
    struct ptx_debug_part *current;
    const struct ptx_section *info, *abbrev, *strings, *loc, *ranges;
    const struct ptx_map *label_map;
    uint32_t file_base;
    PTX_LIST(struct ptx_mark) marks;
    uint32_t *subprogram;    /* by function of the module: index of the function's debug entry, or PTX_NONE */
    struct ptx_inlined_list {
        struct ptx_inlined *at;
        struct ptx_duplicates *copies; /* duplicates of the function, then of each inlined call; NULL if there are none */
        uint32_t count, number; /* number: index of the function in the object */
    } *inlined;          /* by function of the module; NULL if the inlined calls of all modules come from .debug_info */
    uint8_t *expressions; /* location expressions, in the object's arena */
    uint32_t expression_bytes;
    size_t expression_capacity;
    uint64_t budget;     /* remaining steps for debug information, which limit the time that hostile input can take */
    uint64_t gap_budget; /* remaining steps of ptx_debug_livevalues.c; at 0, location lists are used without corrections */
};

/** Reads the lines of a section after its "{", up to the closing brace, which is not read. Returns false if the section is
 *  invalid. Even then the lexer is at the closing brace, or at the end of the text. */
bool ptx_debug_section(struct ptx_parser *parser, struct ptx_name name);
const struct ptx_section *ptx_debug_find(const struct ptx_debug *debug, uint32_t source,
                                         const char *name);
/** Makes the sections and labels of module @source the current ones (struct ptx_debug). */
void ptx_debug_look_at(struct ptx_debug *debug, uint32_t source);
/** Returns the fixup that starts at @offset, or NULL. */
const struct ptx_fixup *ptx_debug_fixup(const struct ptx_section *section, uint32_t offset);
/** Resolves a fixup, such as ".debug_str + 12" or a label, to an offset in @section. Returns false if the fixup does not
 *  refer to @section. */
bool ptx_debug_target(const struct ptx_section *section, const struct ptx_fixup *fixup,
                      uint64_t *offset);
/** Returns the little-endian number in the @size bytes at offset @at. The bytes must be in the section. */
uint64_t ptx_debug_bytes(const struct ptx_section *section, uint32_t at, unsigned size);

/** Returns the line of the text on which the statement that contains line @line begins. */
uint32_t ptx_debug_statement(const struct ptx_function *fn, uint32_t line);
/** Returns the element of fn->early whose lines include @line, or NULL if there is none. The lines of an element contain
 *  instructions that were scheduled before the .loc of their statement. */
const struct ptx_early *ptx_debug_early(const struct ptx_function *fn, uint32_t line);
/** Returns the number of PTX instructions of the function that are before line @line of the text. */
uint32_t ptx_debug_statements_before(const struct ptx_function *fn, uint32_t line);

/** Builds the tree of entries from the sections of all modules. If the sections of a module are invalid, sets `dropped` of its part
 *  to the reason, and the module has no entries. */
void ptx_debug_read(struct ptx_job *job, struct ptx_module *module);
/** Returns the value of attribute @name (DW_AT_...) of an entry, or NULL if the entry does not have the attribute. */
const struct ptx_value *ptx_debug_value(const struct ptx_debug *debug, uint32_t die,
                                        unsigned name);
/** Returns the size of an entry's type in bytes, or 0 if the size is unknown. */
uint64_t ptx_debug_type_bytes(const struct ptx_debug *debug, uint32_t die);
/** Returns the index of the entry to which a reference refers, or PTX_NONE if @value is NULL or not a valid reference. */
uint32_t ptx_debug_entry(const struct ptx_debug *debug, const struct ptx_value *value);
/** Returns the label to which an address refers, or NULL if @fixup is NULL or refers to no label of the module. */
const struct ptx_mark *ptx_debug_mark(const struct ptx_debug *debug,
                                      const struct ptx_fixup *fixup);

/** Returns the variable of memory that the debug information of the current module calls @name: the module's own variable, or the
 *  variable of this name that all modules share. Returns NULL if there is no such variable. */
const struct ptx_symbol *ptx_debug_symbol(const struct ptx_module *module, const char *name);
/** Returns a variable's name as PTX spells it ('.' and '@' become "_$_"), or NULL if the spelling is longer than @room. */
const char *ptx_debug_spelling(struct ptx_name name, char *room, size_t size);
/** Location expression of a compiler: an address, a register or a constant. */
struct ptx_location_expr {
    const struct ptx_fixup *address; /* name of the variable whose address the expression is, or NULL if the expression is
                                      * not an address */
    uint64_t offset; /* number that is added to the address, or the constant */
    char reg[9];     /* name of the register; empty if the expression is not a register */
    bool constant;   /* the expression is the constant @offset */
};
/** Reads a location expression. Returns false if struct ptx_location_expr cannot represent the expression. Pointers in @expr are
 *  borrowed from the module. */
bool ptx_debug_read_location_expr(const struct ptx_section *section, uint32_t at, uint32_t size,
                         struct ptx_location_expr *expr);
/** Stores the location of byte @offset of a variable in @location. Returns false if the variable is not in global or
 *  constant memory of this module. */
bool ptx_debug_variable_location(const struct ptx_symbol *s, uint64_t offset, struct isa_var_location *location);
/** Stores in @location the location that the expression of a module variable gives. Returns false if the expression gives no
 *  location. Sets *@dynamic to true if the location is relative to the start of a kernel's dynamic shared memory. */
bool ptx_debug_module_location(const struct ptx_module *module, const struct ptx_value *value,
                            struct isa_var_location *location, bool *dynamic);

/** Source location at which the code of a scope is in the enclosing scope @parent: the location of the inlined call, or of
 *  the first declaration in the block. @parent has a lower number than the scope. */
struct ptx_call_site {
    uint32_t parent, file, line, column;
    bool is_call; /* the scope is an inlined call */
};
/** Stores the struct ptx_call_site of @scope in @out. Returns false if the scope has no call site. */
typedef bool (*ptx_call_site_fn)(const void *context, uint32_t scope, struct ptx_call_site *out);
/** Finds the duplicated code in a function. A scope is the function itself, or a block or an inlined call in the function.
 *  Returns an array with the number of the duplicate to which each machine instruction belongs in its innermost scope, or 0 if
 *  the instruction is in no duplicate. Returns NULL if there are no duplicates.
 *  @index  by machine instruction: number of its first instruction word, counted from the function's first word
 *  @owner  by instruction word: index of the innermost scope */
uint32_t *ptx_debug_find_copies(const struct ptx_unit *unit, const uint32_t *index, const uint32_t *owner,
                                ptx_call_site_fn call_site, const void *context);
/** Stores in @of, by scope, the ranges of instruction words of each duplicate in the scope.
 *  @base   number of the function's first instruction word in the object
 *  @copy   result of ptx_debug_find_copies() for this @index and @owner
 *  @root   index of the function's scope, which is the lowest; element 0 of @of is for this scope */
void ptx_debug_copies(struct ptx_unit *unit, uint32_t base, const uint32_t *index, const uint32_t *owner, const uint32_t *copy,
                      uint32_t root, struct ptx_duplicates *of);

/* For modules without debug entries in .debug_info (ptx_debug_inline.c): */
/** Finds the inlined calls and the duplicated code of a function, and the instruction words of each call and duplicate. @base
 *  and @index are those of ptx_debug_copies(). */
void ptx_debug_inlines(struct ptx_unit *unit, uint32_t base, const uint32_t *index);
/** Creates debug entries for all functions in which ptx_debug_inlines() found something. */
void ptx_debug_make_inlines(struct ptx_job *job, struct ptx_module *module);
/** Records in @loc that a .loc belongs to a function that is inlined at @file, @line and @column. */
void ptx_debug_inlined_at(struct ptx_parser *parser, struct ptx_loc *loc, uint32_t file,
                          uint32_t line, uint32_t column);

#endif
