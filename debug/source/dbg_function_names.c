/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names of functions in the source. Debug information contains the name of a function and its parameter types. Without debug
 * information, the name and its namespaces are taken from the mangled symbol (Itanium C++ ABI, 5.1).
 */
#include "debug/debug_priv.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>

/* Demangles the name of a symbol without its parameter types: "_ZN4util5twiceEf" gives "util::twice". Returns false if the
 * symbol is not a mangled C++ name. */
static bool unmangle(const char *symbol, char *text, size_t size)
{
    const char *at = symbol + 2;
    size_t used = 0;
    bool nested;

    if (strncmp(symbol, "_Z", 2) != 0)
        return false;
    nested = *at == 'N';
    at += nested;
    while (nested && (*at == 'K' || *at == 'V' || *at == 'r'))
        at++;
    while (isdigit((unsigned char)*at)) {
        char *end;
        unsigned long length = strtoul(at, &end, 10);

        if (length == 0 || strlen(end) < length || used + length + 3 > size)
            return false;
        used += (size_t)snprintf(text + used, size - used, "%s%.*s", used != 0 ? "::" : "",
                                 (int)length, end);
        at = end + length;
        if (!nested)
            break;
    }
    return used != 0;
}

/* Prints the namespaces and classes that contain a debug information entry, outermost first, as "util::". */
static void print_around(const struct isa_debug *debug, uint32_t die, struct lw_sink *out)
{
    for (uint32_t i = 0; i < die;) {
        if (debug->dies[i].end <= die) {
            i = debug->dies[i].end;
            continue;
        }
        if ((debug->dies[i].tag == ISA_TAG_NAMESPACE ||
             dbg_tag_is_structure(debug->dies[i].tag)) &&
            isa_die_name(debug, i) != NULL)
            lw_printf(out, "%s::", isa_die_name(debug, i));
        i++;
    }
}

/* Returns the debug information entry that declares the function of @die. For a method, returns the entry inside the class,
 * because @die, the entry with the code, is outside of the class. For any other function, returns @die. */
static uint32_t declaration_of(const struct isa_debug *debug, uint32_t die, const char *symbol)
{
    for (uint32_t i = 0; i < debug->die_count; i++) {
        const struct isa_attr *linkage;

        if (i == die || debug->dies[i].tag != ISA_TAG_SUBPROGRAM ||
            isa_die_attr(debug, i, ISA_AT_DECLARATION) == NULL)
            continue;
        linkage = isa_die_attr(debug, i, ISA_AT_LINKAGE_NAME);
        if (linkage != NULL && strcmp(linkage->text, symbol) == 0)
            return i;
    }
    return die;
}

void dbg_function_source_name(const struct dbg *dbg, const struct isa_function *function,
                              char *text, size_t size)
{
    const struct emu_program *program = dbg_program(dbg);
    const struct isa_object *object = program != NULL ? emu_program_object(program) : NULL;
    int64_t die = object != NULL ? isa_function_die(object, function) : ISA_NO_DIE;
    const char *name = die != ISA_NO_DIE ? isa_die_name(object->debug, (uint32_t)die) : NULL;
    const struct isa_debug *debug;
    struct lw_buffer full;
    bool first = true;

    if (name == NULL || strncmp(function->name, "_Z", 2) != 0) {
        if (!unmangle(function->name, text, size))
            snprintf(text, size, "%s", function->name);
        return;
    }
    debug = object->debug;
    lw_buffer_init(&full);
    print_around(debug, declaration_of(debug, (uint32_t)die, function->name), &full.sink);
    lw_printf(&full.sink, "%s(", name);
    for (uint32_t i = (uint32_t)die + 1; i < debug->dies[die].end; i = debug->dies[i].end) {
        if (debug->dies[i].tag != ISA_TAG_PARAMETER)
            continue;
        lw_put(&full.sink, first ? "" : ", ");
        dbg_type_print(debug, isa_die_type(debug, i), 0, &full.sink);
        first = false;
    }
    lw_put(&full.sink, ")");
    snprintf(text, size, "%s", full.text != NULL ? full.text : function->name);
    lw_buffer_fini(&full);
}

void dbg_function_short_name(const struct dbg *dbg, const struct isa_function *function,
                             char *text, size_t size)
{
    char *bracket;

    if (strncmp(function->name, "_Z", 2) != 0) {
        snprintf(text, size, "%s", function->name);
        return;
    }
    dbg_function_source_name(dbg, function, text, size);
    bracket = strchr(text, '(');
    if (bracket != NULL)
        *bracket = '\0';
}

/* Removes blanks, so that names compare equal wherever the user has put blanks. */
static void squeeze(char *text)
{
    char *to = text;

    for (; *text != '\0'; text++)
        if (*text != ' ')
            *to++ = *text;
    *to = '\0';
}

/* Removes the template arguments at the end of a name: "reduce<float>" becomes "reduce". */
void dbg_name_cut_template(char *name)
{
    size_t size = strlen(name);
    int depth = 0;

    if (size == 0 || name[size - 1] != '>')
        return;
    while (size-- > 0) {
        depth += name[size] == '>' ? 1 : name[size] == '<' ? -1 : 0;
        if (depth == 0) {
            name[size] = '\0';
            return;
        }
    }
}

/* Returns true if @name is equal to @have, or to the part of @have after one of its "::". */
static bool ends_with(const char *have, const char *name)
{
    size_t h = strlen(have), n = strlen(name);

    return h >= n && strcmp(have + h - n, name) == 0 &&
           (h == n || (h >= n + 2 && have[h - n - 1] == ':' && have[h - n - 2] == ':'));
}

/* Returns true if @want, which the user has typed, denotes the function @have. @want may be without namespaces, parameters
 * or template arguments. Changes @have. */
static bool means(char *have, const char *want)
{
    char *bracket;

    squeeze(have);
    if (*want == '\0')
        return false;
    if (ends_with(have, want))
        return true;
    bracket = strchr(have, '(');
    if (bracket != NULL)
        *bracket = '\0';
    if (ends_with(have, want))
        return true;
    dbg_name_cut_template(have);
    return ends_with(have, want);
}

bool dbg_function_is_called(const struct dbg *dbg, const struct isa_function *function,
                            const char *name)
{
    char have[512], want[512];

    if ((size_t)snprintf(want, sizeof want, "%s", name) >= sizeof want)
        return false;
    dbg_function_source_name(dbg, function, have, sizeof have);
    squeeze(want);
    return means(have, want);
}

/* Returns the index of the first instruction of an inlined call; or UINT64_MAX if the call has no code. */
static uint64_t first_insn(const struct isa_debug *debug, uint32_t die)
{
    const struct isa_attr *attr = isa_die_attr(debug, die, ISA_AT_RANGES);
    uint64_t first = UINT64_MAX;

    for (uint32_t i = 0; attr != NULL && i < attr->count; i++)
        if (debug->spans[attr->value + i].from < first)
            first = debug->spans[attr->value + i].from;
    return first;
}

unsigned dbg_inlined_calls(const struct dbg *dbg, const char *name, uint64_t *pcs, unsigned count,
                           unsigned capacity)
{
    const struct emu_program *program = dbg_program(dbg);
    const struct isa_debug *debug = program != NULL ? emu_program_object(program)->debug : NULL;
    char want[512];

    if ((size_t)snprintf(want, sizeof want, "%s", name) >= sizeof want)
        return count;
    squeeze(want);
    for (uint32_t i = 0; debug != NULL && i < debug->die_count && count < capacity; i++) {
        const struct isa_attr *origin;
        struct lw_buffer full;
        uint64_t first, pc;
        bool known = false;

        if (debug->dies[i].tag != ISA_TAG_INLINED || isa_die_name(debug, i) == NULL ||
            (first = first_insn(debug, i)) == UINT64_MAX)
            continue;
        lw_buffer_init(&full);
        origin = isa_die_attr(debug, i, ISA_AT_ABSTRACT_ORIGIN);
        if (origin != NULL)
            print_around(debug, (uint32_t)origin->value, &full.sink);
        lw_put(&full.sink, isa_die_name(debug, i));
        pc = emu_program_base(program) + first * ISA_WORD_BYTES;
        for (unsigned k = 0; k < count; k++)
            known = known || pcs[k] == pc;
        if (full.text != NULL && !known && means(full.text, want))
            pcs[count++] = pc;
        lw_buffer_fini(&full);
    }
    return count;
}
