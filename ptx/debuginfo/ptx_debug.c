/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the .section blocks of PTX with debug information, which contain bytes, references to names, and labels. Later code
 * resolves the names. */
#include "ptx/debuginfo/ptx_debug_priv.h"

#include <stdlib.h>

enum { MAX_SECTION_BYTES = 1 << 28 };

static bool name_char(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           c == '_' || c == '$' || c == '.' || c == '@' || c == '%';
}

/* Reads a name of a debug section, which may contain dots, for example .debug_str or kernel.variable. */
static bool read_name(struct ptx_lexer *lex, struct ptx_name *name)
{
    const char *start = lex->p;

    if (lex->p < lex->end && *lex->p >= '0' && *lex->p <= '9')
        return false;
    while (lex->p < lex->end && name_char(*lex->p))
        lex->p++;
    *name = (struct ptx_name){ start, (size_t)(lex->p - start) };
    return name->size != 0 && name->size <= PTX_NAME_BYTES;
}

/* Reads a number. This function is used instead of ptx_lex_number(), which would end the translation on an error. */
static bool read_number(struct ptx_lexer *lex, uint64_t *value)
{
    bool negative = lex->p < lex->end && *lex->p == '-';
    unsigned base = 10, digits = 0;

    lex->p += negative;
    if (lex->end - lex->p > 2 && lex->p[0] == '0' && (lex->p[1] == 'x' || lex->p[1] == 'X')) {
        base = 16;
        lex->p += 2;
    }
    *value = 0;
    for (; lex->p < lex->end; lex->p++, digits++) {
        unsigned c = (unsigned char)*lex->p;
        unsigned d = c - '0' < 10 ? c - '0' : base == 16 && (c | 32) - 'a' < 6 ? (c | 32) - 'a' + 10
                                                                              : 16;

        if (d >= base || digits == 20)
            break;
        *value = *value * base + d;
    }
    if (lex->p < lex->end && *lex->p == 'U')
        lex->p++;
    if (negative)
        *value = 0 - *value;
    return digits != 0;
}

static void put_bytes(struct ptx_job *job, struct ptx_section *section, uint64_t value,
                      unsigned size)
{
    for (unsigned i = 0; i < size; i++)
        *PTX_PUSH(job, section->bytes) = (uint8_t)(value >> (8 * i));
}

/* Reads name [+ number] [- name], or a number. */
static bool read_value(struct ptx_lexer *lex, struct ptx_section *section, unsigned size)
{
    struct ptx_fixup fixup = { .offset = (uint32_t)section->bytes.count, .size = (uint8_t)size };
    uint64_t value;

    ptx_lex_space(lex);
    if (lex->p >= lex->end)
        return false;
    if (*lex->p == '-' || (*lex->p >= '0' && *lex->p <= '9')) {
        if (!read_number(lex, &value))
            return false;
        put_bytes(lex->job, section, value, size);
        return true;
    }
    if (!read_name(lex, &fixup.name))
        return false;
    for (;;) {
        char sign = ptx_lex_peek(lex);

        if (sign != '+' && sign != '-')
            break;
        lex->p++;
        ptx_lex_space(lex);
        if (sign == '-' && fixup.minus.size == 0 && read_name(lex, &fixup.minus))
            continue;
        if (!read_number(lex, &value))
            return false;
        fixup.addend = (int64_t)((uint64_t)fixup.addend + (sign == '+' ? value : 0 - value));
    }
    *PTX_PUSH(lex->job, section->fixups) = fixup;
    put_bytes(lex->job, section, 0, size);
    return true;
}

/* Reads a statement with data, such as ".b8 1, 2", or a label with its colon. */
static bool read_statement(struct ptx_lexer *lex, struct ptx_section *section)
{
    struct ptx_name word;
    unsigned size;

    if (!read_name(lex, &word))
        return false;
    if (word.text[0] != '.') {
        if (!ptx_lex_accept(lex, ':'))
            return false;
        ptx_map_put(lex->job, &section->labels, word.text, word.size,
                    (uint32_t)section->bytes.count);
        return true;
    }
    if (ptx_name_is(word, ".b8"))
        size = 1;
    else if (ptx_name_is(word, ".b16"))
        size = 2;
    else if (ptx_name_is(word, ".b32"))
        size = 4;
    else if (ptx_name_is(word, ".b64"))
        size = 8;
    else
        return false;
    do {
        if (section->bytes.count > MAX_SECTION_BYTES || !read_value(lex, section, size))
            return false;
    } while (ptx_lex_accept(lex, ','));
    return true;
}

bool ptx_debug_section(struct ptx_parser *parser, struct ptx_name name)
{
    struct ptx_lexer *lex = &parser->lex;
    struct ptx_section section = { .name = name, .source = parser->source };
    bool good = true;

    while (ptx_lex_peek(lex) != '}' && lex->p < lex->end && good)
        good = read_statement(lex, &section);
    while (lex->p < lex->end && *lex->p != '}') /* skips the rest of a section that contains an error */
        lex->line += *lex->p++ == '\n';
    if (parser->module->debug == NULL)
        parser->module->debug = PTX_NEW(lex->job, struct ptx_debug);
    section.invalid = !good;
    *PTX_PUSH(lex->job, parser->module->debug->sections) = section;
    return good;
}

/* ---- lookup ------------------------------------------------------------------------ */

void ptx_debug_look_at(struct ptx_debug *debug, uint32_t source)
{
    struct ptx_debug_part *part = &debug->part[source];

    debug->current = part;
    debug->info = part->info;
    debug->abbrev = part->abbrev;
    debug->strings = part->strings;
    debug->loc = part->loc;
    debug->ranges = part->ranges;
    debug->label_map = &part->label_map;
    debug->file_base = part->file_base;
}

const struct ptx_section *ptx_debug_find(const struct ptx_debug *debug, uint32_t source,
                                         const char *name)
{
    for (size_t i = 0; i < debug->sections.count; i++) {
        if (debug->sections.at[i].source == source &&
            ptx_name_is(debug->sections.at[i].name, name))
            return &debug->sections.at[i];
    }
    return NULL;
}

const struct ptx_fixup *ptx_debug_fixup(const struct ptx_section *section, uint32_t offset)
{
    size_t low = 0, high = section->fixups.count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (section->fixups.at[middle].offset < offset)
            low = middle + 1;
        else
            high = middle;
    }
    return low < section->fixups.count && section->fixups.at[low].offset == offset
               ? &section->fixups.at[low] : NULL;
}

bool ptx_debug_target(const struct ptx_section *section, const struct ptx_fixup *fixup,
                      uint64_t *offset)
{
    const uint32_t *label;

    *offset = (uint64_t)fixup->addend;
    if (section == NULL || fixup->minus.size != 0)
        return false;
    if (fixup->name.size == section->name.size &&
        memcmp(fixup->name.text, section->name.text, section->name.size) == 0)
        return *offset < section->bytes.count;
    label = ptx_map_find(&section->labels, fixup->name.text, fixup->name.size);
    if (label == NULL)
        return false;
    *offset += *label;
    return *offset < section->bytes.count;
}

uint64_t ptx_debug_bytes(const struct ptx_section *section, uint32_t at, unsigned size)
{
    uint64_t value = 0;

    for (unsigned i = 0; i < size; i++)
        value |= (uint64_t)section->bytes.at[at + i] << (8 * i);
    return value;
}

uint32_t ptx_debug_statements_before(const struct ptx_function *fn, uint32_t line)
{
    uint32_t low = 0, high = (uint32_t)fn->insns.count;

    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;

        if (fn->insns.at[middle].line < line)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

const struct ptx_early *ptx_debug_early(const struct ptx_function *fn, uint32_t line)
{
    size_t low = 0, high = fn->early.count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (fn->early.at[middle].to <= line)
            low = middle + 1;
        else
            high = middle;
    }
    return low != fn->early.count && fn->early.at[low].given <= line ? &fn->early.at[low] : NULL;
}

uint32_t ptx_debug_statement(const struct ptx_function *fn, uint32_t line)
{
    const struct ptx_early *early = ptx_debug_early(fn, line);

    return early != NULL && early->from <= line ? early->to : line;
}
