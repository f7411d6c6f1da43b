/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Debug information on its way: the sections of debug PTX (ptx_debug.c) become a tree of
 * entries (ptx_debug_tree.c); each function, once it has registers and words, resolves the
 * places and scopes of its entries (ptx_debug_varloc.c); what is needed goes to the object
 * (ptx_debug_write.c). Nothing in the sections can make a translation fail: what is broken
 * is dropped with a note.
 */
#ifndef PTX_DEBUG_PRIV_H
#define PTX_DEBUG_PRIV_H

#include "ptx/ptx_priv.h"

/** A value that names something: @size bytes at @offset are @name + @addend - @minus. */
struct ptx_fixup {
    uint32_t offset;
    uint8_t size;
    struct ptx_name name, minus; /* minus.size 0: none */
    int64_t addend;
};
struct ptx_section {
    struct ptx_name name; /* ".debug_info" */
    uint32_t source, file_base; /* the text that contains it, and what its .file numbers add to */
    PTX_LIST(uint8_t) bytes;
    PTX_LIST(struct ptx_fixup) fixups; /* ascending */
    struct ptx_map labels;             /* in the section: name to offset */
};

/** What a value is; made of forms. */
enum ptx_value_kind {
    PTX_V_NONE, PTX_V_NUMBER, PTX_V_SIGNED, PTX_V_FLAG, PTX_V_TEXT, PTX_V_REFERENCE, PTX_V_ADDRESS,
    PTX_V_BLOCK, PTX_V_OFFSET /* into another section */
};
struct ptx_value {
    uint16_t name; /* DW_AT_... */
    uint8_t kind;  /* enum ptx_value_kind */
    uint32_t size; /* of a block */
    uint64_t number;
    uint32_t at;   /* a block's place in .debug_info */
    const struct ptx_fixup *fixup; /* of an address or offset; may be NULL */
    const char *text;
};
/** Words of one copy of a scope's code (ptx_node_split.c). */
struct ptx_copied {
    struct isa_span *spans;
    uint32_t span_count;
};
struct ptx_duplicates {
    struct ptx_copied *at;
    uint32_t count;
};
struct ptx_die {
    uint64_t offset; /* in .debug_info, all of them in a row */
    uint16_t tag;
    uint16_t source; /* its text, when several are linked */
    bool keep;
    bool noted; /* notes of the text say what is known of it */
    uint32_t parent, end; /* PTX_NONE: a unit; first entry after the children */
    uint32_t unit;        /* its compile unit */
    uint32_t first, count; /* attributes */
    uint32_t function;    /* subprograms with code: index in the module, else PTX_NONE */
    uint32_t object_function; /* and in the object, once it is there */
    uint32_t out;         /* index in the object */
    /* made by ptx_debug_function, in the object's arena */
    struct isa_var_location *locations;
    uint32_t location_count;
    struct isa_span *spans;
    uint32_t span_count;
    struct ptx_duplicates copies;
};
struct ptx_mark { /* a label of a function */
    uint32_t function, line;
};
/** The sections and labels of one text. */
struct ptx_debug_part {
    const struct ptx_section *info, *abbrev, *strings, *loc, *ranges;
    struct ptx_map label_map; /* name to index in marks */
    uint32_t file_base;
};
struct ptx_debug {
    PTX_LIST(struct ptx_section) sections;
    struct ptx_debug_part *part; /* by text */
    uint32_t part_count;
    /* of the text that is being looked at (ptx_debug_part()) */
    PTX_LIST(struct ptx_die) dies;
    PTX_LIST(struct ptx_value) values;
    const struct ptx_section *info, *abbrev, *strings, *loc, *ranges;
    const struct ptx_map *label_map;
    uint32_t file_base;
    PTX_LIST(struct ptx_mark) marks;
    uint32_t *subprogram;    /* by function of the module: its entry or PTX_NONE */
    struct ptx_map variables; /* module variables by name */
    struct ptx_inlined_list {
        struct ptx_inlined *at;
        struct ptx_duplicates *copies; /* of the function, then of each of them; NULL: none */
        uint32_t count, number; /* number: of the function in the object */
    } *inlined;          /* by function of the module; NULL: the sections say */
    uint8_t *expressions; /* of locations, in the object's arena */
    uint32_t expression_bytes;
    size_t expression_capacity;
    const char *dropped; /* why nothing is kept, NULL: all is well */
    bool noted;
    uint64_t budget;     /* steps that hostile input may still cost */
    uint64_t gap_budget; /* those of ptx_debug_livevalues.c: without them lists are taken as they are */
};

/** Read "{ ... }" after the section's name. False: it was not understood; the reader is
 *  past the closing brace or at the end of the text all the same. */
bool ptx_debug_section(struct ptx_parser *parser, struct ptx_name name);
const struct ptx_section *ptx_debug_find(const struct ptx_debug *debug, uint32_t source,
                                         const char *name);
/** Look at the sections and labels of a text. */
void ptx_debug_look_at(struct ptx_debug *debug, uint32_t source);
/** The text that contains a function. */
uint32_t ptx_debug_source(const struct ptx_module *module, const struct ptx_function *function);
/** The fixup that starts at @offset, or NULL. */
const struct ptx_fixup *ptx_debug_fixup(const struct ptx_section *section, uint32_t offset);
/** Where a fixup points in @section (".debug_str + 12", a label there); false: elsewhere. */
bool ptx_debug_target(const struct ptx_section *section, const struct ptx_fixup *fixup,
                      uint64_t *offset);
uint64_t ptx_debug_bytes(const struct ptx_section *section, uint32_t at, unsigned size);

/** The line of the text where the statement begins that the instruction of line @line is of. */
uint32_t ptx_debug_statement(const struct ptx_function *fn, uint32_t line);
/** The lines before a statement that have its line, which line @line is among; NULL: it is not. */
const struct ptx_early *ptx_debug_early(const struct ptx_function *fn, uint32_t line);
/** How many statements of the function begin above line @line of the text. */
uint32_t ptx_debug_statements_before(const struct ptx_function *fn, uint32_t line);

/** Sections to entries; module->debug->dropped says if that failed. */
void ptx_debug_read(struct ptx_job *job, struct ptx_module *module);
const struct ptx_value *ptx_debug_value(const struct ptx_debug *debug, uint32_t die,
                                        unsigned name);
/** Bytes of an entry's type, 0: not known. */
uint64_t ptx_debug_type_bytes(const struct ptx_debug *debug, uint32_t die);
/** The entry that a reference points to, PTX_NONE: none. */
uint32_t ptx_debug_entry(const struct ptx_debug *debug, const struct ptx_value *value);
/** The label that an address names, NULL: none. */
const struct ptx_mark *ptx_debug_mark(const struct ptx_debug *debug,
                                      const struct ptx_fixup *fixup);

/** A variable's name as PTX spells it ('.' and '@' are "_$_"), NULL: it is too long. */
const char *ptx_debug_spelling(struct ptx_name name, char *room, size_t size);
/** What an expression of the compilers is: an address, a register, a constant. */
struct ptx_location_expr {
    const struct ptx_fixup *address; /* of a variable, plus */
    uint64_t offset;
    char reg[9]; /* a register's name; empty: none */
    bool constant;
};
/** False: it is nothing of these. What @expr names is borrowed from the module. */
bool ptx_debug_read_location_expr(const struct ptx_section *section, uint32_t at, uint32_t size,
                         struct ptx_location_expr *expr);
/** @offset in a variable of global memory; false: it is not one. */
bool ptx_debug_variable_location(const struct ptx_symbol *s, uint64_t offset, struct isa_var_location *location);
/** The place that an expression of a module variable gives; false: none. @dynamic: the place counts
 *  from where a kernel's dynamic shared memory begins. */
bool ptx_debug_module_location(const struct ptx_module *module, const struct ptx_value *value,
                            struct isa_var_location *location, bool *dynamic);

bool ptx_debug_has_duplicates(const struct ptx_unit *unit);
/** The words of each copy of code in the scopes of a function, to @of; @owner: index there of the
 *  innermost scope of each word, @index: the words of each instruction. */
void ptx_debug_copies(struct ptx_unit *unit, uint32_t base, const uint32_t *index,
                      const uint32_t *owner, struct ptx_duplicates *of);

/** For modules without .debug_info (ptx_debug_inline.c): the words of inlined functions and of
 *  copies of a unit; then entries of all of them. */
void ptx_debug_inlines(struct ptx_unit *unit, uint32_t base, const uint32_t *index);
void ptx_debug_make_inlines(struct ptx_job *job, struct ptx_module *module);
/** A .loc says that it is of an inlined function. */
void ptx_debug_inlined_at(struct ptx_parser *parser, struct ptx_loc *loc, uint32_t file,
                          uint32_t line, uint32_t column);

#endif
