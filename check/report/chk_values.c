/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Values of source variables at a finding: those that the first lane of the finding has before the instruction. A variable has
 * the value that a debugger shows there (emu_lane_variable()). If the lane is no longer at the instruction when the finding is
 * recorded, as for an access from the log of the race checker, the finding has no values.
 */
#include "check/chk_priv.h"

#include <ctype.h>
#include <stdlib.h>

enum { MOST_VALUES = 8, MOST_NAMES = 128 };
enum { ENCODING_FLOAT = 4 }; /* encoding of a base type in DWARF */

/** Values found so far: those of variables that the source line names, and those of others. */
struct values {
    struct chk_value at[2][MOST_VALUES];
    unsigned count[2];
};
struct collection {
    struct chk *chk;
    const struct emu_core *core;
    unsigned slot, warp, lane;
    struct emu_frame frame;
    const struct isa_object *object;
    uint32_t insn; /* index of the instruction of the frame */
    const char *names[MOST_NAMES]; /* names of inner scopes, which hide variables of outer scopes */
    unsigned name_count;
    struct values values;
    /* The line that the current scope executes, with its text if the file can be read. It is the line of the instruction or, in a
     * scope around an inlined call, the line of the call. */
    uint32_t file, line;
    uint32_t read_file; /* file whose contents are `contents` */
    char *contents;     /* owned; NULL if the file cannot be read */
    const char *text;
    size_t text_size;
};

/** Sets the line that the current scope executes. */
static void set_line(struct collection *c, uint64_t file, uint64_t line)
{
    c->file = file < c->object->file_count ? (uint32_t)file : 0;
    c->line = c->file != 0 ? (uint32_t)line : 0;
    c->text_size = 0;
    if (c->line == 0)
        return;
    if (c->read_file != c->file) {
        free(c->contents);
        c->contents = isa_source_read(c->object, c->object->files[c->file]);
        c->read_file = c->file;
    }
    c->text = c->contents;
    for (uint32_t i = 1; c->text != NULL && i < c->line; i++)
        c->text = (c->text = strchr(c->text, '\n')) != NULL ? c->text + 1 : NULL;
    c->text_size = c->text != NULL ? strcspn(c->text, "\n") : 0;
}

static bool is_part_of_word(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

/** Returns the first occurrence of a word in the text of the current line from @from on, or NULL. */
static const char *find_word(const struct collection *c, const char *from, const char *word)
{
    const size_t size = strlen(word);
    const char *end;

    if (c->text_size == 0)
        return NULL;
    end = c->text + c->text_size;
    for (const char *at = from; size <= (size_t)(end - at); at++)
        if (memcmp(at, word, size) == 0 && (at == c->text || !is_part_of_word(at[-1])) &&
            (at + size == end || !is_part_of_word(at[size])))
            return at;
    return NULL;
}

/** Returns true if the text of the current line declares a variable in the head of a loop: for (int i = 0; ...). */
static bool declares_for_loop(const struct collection *c, const char *name)
{
    const char *at = find_word(c, c->text, name), *head = at;

    while (head != NULL && head > c->text && head[-1] != ';' && head[-1] != '{' && head[-1] != '}')
        head--;
    return head != NULL && (head = find_word(c, head, "for")) != NULL && head < at;
}

/** Returns attribute @name of a variable or, for a variable of an inlined function, of its abstract origin; 0: none. */
static uint64_t number_of(const struct isa_debug *debug, uint32_t die, unsigned name)
{
    const struct isa_attr *origin = isa_die_attr(debug, die, ISA_AT_ABSTRACT_ORIGIN);

    return isa_die_number(debug, die, name, origin != NULL ? isa_die_number(debug, (uint32_t)origin->value, name, 0) : 0);
}

/** Returns true if the current line precedes the end of a variable's declaration. Such a variable has no value yet, but in code
 *  that is not optimised, its memory has contents. */
static bool is_undeclared(const struct collection *c, uint32_t die)
{
    const struct isa_debug *debug = c->object->debug;
    const uint64_t file = number_of(debug, die, ISA_AT_DECL_FILE), line = number_of(debug, die, ISA_AT_DECL_LINE);
    const struct isa_var_location *location = isa_variable_location(debug, die, c->insn);

    if (debug->dies[die].tag != ISA_TAG_VARIABLE || c->line == 0 || line < c->line || (file != 0 && file != c->file))
        return false;
    /* A line that declares a loop's variable may contain the loop. */
    return line > c->line || (location != NULL && location->to == 0 && !declares_for_loop(c, isa_die_name(debug, die)));
}

/** Prints a value of a scalar type, as a debugger does. Returns false if there is no value, or if the type is no integer, float,
 *  bool, pointer or enumeration. */
static bool put_value(const struct collection *c, uint32_t die, struct lw_sink *out)
{
    const struct isa_debug *debug = c->object->debug;
    const int64_t type = isa_type_plain(debug, isa_die_type(debug, die), NULL);
    const unsigned tag = type != ISA_NO_DIE ? debug->dies[type].tag : 0;
    enum isa_scalar scalar;
    uint8_t raw[8] = {0};
    unsigned bytes;

    if (tag == ISA_TAG_REFERENCE || tag == ISA_TAG_RVALUE_REFERENCE || !isa_type_scalar(debug, type, &scalar, &bytes) ||
        (bytes < 4 && isa_die_number(debug, (uint32_t)type, ISA_AT_ENCODING, 0) == ENCODING_FLOAT) ||
        !emu_lane_variable(c->core, c->slot, c->warp, c->lane, &c->frame, die, raw, bytes))
        return false;
    const uint64_t bits = isa_scalar_extend(scalar, bytes, lw_get64(raw));
    const char *name = tag == ISA_TAG_ENUMERATION ? isa_enumerator_name(debug, type, bits) : NULL;
    if (name != NULL)
        lw_put(out, name);
    else if (tag == ISA_TAG_POINTER)
        lw_printf(out, "0x%llx", (unsigned long long)bits);
    else if (isa_type_is_char(debug, type))
        isa_char_print((int32_t)bits, out);
    else
        isa_scalar_print(scalar, bits, out);
    return true;
}

/** Adds the value of a variable, unless a variable of an inner scope has the same name. */
static void add(struct collection *c, uint32_t die)
{
    const char *name = isa_die_name(c->object->debug, die);
    struct lw_buffer text;

    if (name == NULL || c->name_count == MOST_NAMES)
        return;
    for (unsigned i = 0; i < c->name_count; i++)
        if (strcmp(c->names[i], name) == 0)
            return;
    c->names[c->name_count++] = name;
    const bool other = find_word(c, c->text, name) == NULL;
    unsigned *count = &c->values.count[other];
    if (*count == MOST_VALUES || isa_die_attr(c->object->debug, die, ISA_AT_ARTIFICIAL) != NULL || is_undeclared(c, die))
        return;
    lw_buffer_init(&text);
    const char *copy = put_value(c, die, &text.sink) ? lw_arena_strdup(&c->chk->strings, lw_buffer_text(&text)) : NULL;
    if (copy != NULL)
        c->values.at[other][(*count)++] = (struct chk_value){name, copy};
    lw_buffer_fini(&text);
}

/** Adds the variables or parameters of a scope, by their tag, the last one first: its declaration is nearest to the line. */
static void add_scope(struct collection *c, uint32_t scope, unsigned tag)
{
    const struct isa_debug *debug = c->object->debug;
    uint32_t dies[MOST_NAMES], count = 0;

    for (uint32_t i = scope + 1; i < debug->dies[scope].end; i = debug->dies[i].end)
        if (debug->dies[i].tag == tag)
            dies[count++ % MOST_NAMES] = i;
    for (uint32_t i = count; i > 0 && count - i < MOST_NAMES; i--)
        add(c, dies[(i - 1) % MOST_NAMES]);
}

/** Adds the variables of all scopes of the frame, innermost scope first, and in each scope parameters last. The frame executes
 *  the line of instruction @insn. */
static void add_frame(struct collection *c, uint32_t insn)
{
    const struct isa_line *line = isa_object_line_at(c->object, insn);
    const struct isa_debug *debug = c->object->debug;
    uint32_t scopes[CHK_MOST_SCOPES];

    set_line(c, line != NULL ? line->file : 0, line != NULL ? line->line : 0);
    for (unsigned n = isa_scopes_find(c->object, c->insn, ISA_NO_DIE, scopes, CHK_MOST_SCOPES); n-- > 0;) {
        add_scope(c, scopes[n], ISA_TAG_VARIABLE);
        add_scope(c, scopes[n], ISA_TAG_PARAMETER);
        if (debug->dies[scopes[n]].tag == ISA_TAG_INLINED)
            set_line(c, isa_die_number(debug, scopes[n], ISA_AT_CALL_FILE, 0),
                     isa_die_number(debug, scopes[n], ISA_AT_CALL_LINE, 0));
    }
}

/** Returns true if an instruction writes a register. */
static bool has_result(const struct isa_insn *insn)
{
    struct isa_reg_use use[ISA_MAX_USES];
    bool written = false;

    for (unsigned n = isa_insn_uses(insn, use); n-- > 0;)
        written |= use[n].written;
    return written;
}

/** Returns the address of the next instruction of the finding's first lane if the lane has not changed since the finding,
 *  otherwise 0. */
static uint64_t next_of(const struct collection *c, const struct chk_finding *f)
{
    const uint64_t pc = f->location.pc;
    struct emu_split_view split;

    if (chk_lane_is_at(c->chk, c->core, c->slot, c->warp, c->lane, pc))
        return pc;
    if (!f->stopped || !emu_lane_where(c->core, c->slot, c->warp, c->lane, &split))
        return 0;
    /* The pc of a lane that waits at a barrier of its block is after the barrier. */
    if (split.state == EMU_SPLIT_CTA && split.pc == pc + ISA_WORD_BYTES)
        return has_result(emu_program_insn(emu_machine_program_at(c->chk->machine, pc), pc)) ? 0 : split.pc;
    return split.pc == pc ? pc : 0;
}

void chk_values_collect(struct chk *chk, struct chk_finding *f)
{
    const struct chk_location *at = &f->location;
    const struct emu_program *program = at->pc != 0 && at->lanes != 0 ? emu_machine_program_at(chk->machine, at->pc) : NULL;
    struct collection c = {.chk = chk, .warp = at->warp, .lane = at->lanes != 0 ? lw_lowest(at->lanes) : 0};
    uint64_t next;

    if (program == NULL || emu_program_object(program)->debug == NULL ||
        !emu_block_find(chk->machine, at->grid, at->block_number, &c.core, &c.slot))
        return;
    if ((next = next_of(&c, f)) == 0)
        return;
    c.object = emu_program_object(program);
    c.frame = emu_frame_first(c.core, c.slot, c.warp, c.lane, next);
    for (unsigned i = 0; i < CHK_MOST_FRAMES && emu_machine_program_at(chk->machine, c.frame.pc) == program; i++) {
        c.insn = chk_pc_index(program, c.frame.pc);
        add_frame(&c, i == 0 ? chk_pc_index(program, at->pc) : c.insn);
        if (!emu_frame_caller(c.core, c.slot, c.warp, c.lane, &c.frame, &c.frame))
            break;
    }
    free(c.contents);

    const unsigned named = c.values.count[0], rest = MOST_VALUES - named;
    const unsigned count = named + (c.values.count[1] < rest ? c.values.count[1] : rest);
    struct chk_value *values = count != 0 ? lw_arena_alloc(&chk->strings, count * sizeof *values) : NULL;
    if (values == NULL)
        return;
    for (unsigned i = 0; i < count; i++)
        values[i] = i < named ? c.values.at[0][i] : c.values.at[1][i - named];
    f->values = values;
    f->value_count = count;
    f->value_lane = c.lane;
}
