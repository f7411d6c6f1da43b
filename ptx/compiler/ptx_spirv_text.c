/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rewrites LLVM IR for SPIR to LLVM IR for PTX, as text with opaque pointers. These things differ:
 *  - address spaces: SPIR has __constant in 2 and generic in 4; PTX has __constant in 4 and generic in 0, where __private is, too
 *  - names of OpenCL C functions, in which clang mangles address spaces (U3AS4), and names of intrinsics (.p4)
 *  - calling conventions, and the required size of work-groups
 *  - `convergent`: the translator sets this attribute only for functions that it knows, and not for their callers
 *  - numbers of address spaces in debug information, and its version
 */
#include "ptx/compiler/ptx_spirv_priv.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>

/** A set of names, as 64-bit hashes. */
struct names {
    struct lw_table table;
};
/** Debug information of a variable in program scope. @id: number of its metadata node, plus 1; @space: address space in SPIR. */
struct variable {
    uint64_t id;
    unsigned space;
};
/** A kernel that the module defines. */
struct kernel {
    const char *name; /* with the character @, in the text that is read */
    uint64_t id; /* number of the metadata node with the size that its work-groups must have, plus 1; 0: any size */
};
/** The size in a metadata node. @id: number of the node, plus 1. */
struct size_node {
    uint64_t id;
    unsigned size[3];
    bool is_known;
};

struct rewrite {
    const char *text;
    struct lw_buffer *out;
    struct names defined, kept; /* names of functions that the module defines; those of them that do not change */
    struct names written;       /* new names of functions that the module defines, or that were declared */
    struct lw_table variables, sizes; /* rows are struct variable and struct size_node */
    struct kernel *kernels;
    size_t kernel_count, kernel_capacity;
    unsigned long last_node; /* largest number of a metadata node */
    unsigned long promoted;  /* number of arguments of printf that were converted */
    bool is_short;           /* the host has no memory */
};

static void put(struct rewrite *r, const char *text, size_t size)
{
    r->out->sink.write(&r->out->sink, text, size);
}

/** Adds a name to a set. Returns false if the set has the name already. */
static bool add_name(struct rewrite *r, struct names *names, const char *name, size_t size)
{
    struct lw_hash hash;
    bool is_new = false;

    lw_hash_init(&hash);
    lw_hash_bytes(&hash, name, size);
    if (lw_table_add(&names->table, sizeof(uint64_t), lw_hash_value(&hash) | 1, &is_new) == NULL)
        r->is_short = true;
    return is_new;
}

static bool has_name(const struct names *names, const char *name, size_t size)
{
    struct lw_hash hash;
    const uint64_t *row;

    lw_hash_init(&hash);
    lw_hash_bytes(&hash, name, size);
    row = lw_table_find(&names->table, sizeof *row, lw_hash_value(&hash) | 1);
    return row != NULL && *row != 0;
}

/* ---- names ------------------------------------------------------------------------------------- */

static bool is_name_char(char c)
{
    return isalnum((unsigned char)c) || c == '_' || c == '.' || c == '$' || c == '-';
}

/** Returns the end of a name at @at, which is after the character @ and may be in quotes. */
static const char *end_of_name(const char *at)
{
    if (*at == '"') {
        at = strchr(at + 1, '"');
        return at != NULL ? at + 1 : NULL;
    }
    while (is_name_char(*at))
        at++;
    return at;
}

/** Writes the number of an address space of PTX after @prefix, or nothing for the generic space. */
static void put_space(struct lw_sink *out, const char *prefix, unsigned long space)
{
    space = ptx_spirv_space((unsigned)space);
    if (space != 0)
        lw_printf(out, "%s%lu", prefix, space);
}

/** Writes a name that clang has mangled for SPIR as clang mangles it for PTX. The numbers of substitutions, such as "S0_", stay the
 *  same, because clang counts a type with an address space also where it writes none. */
static void put_mangled(const char *name, size_t size, struct lw_sink *out)
{
    const char *const end = name + size;

    for (const char *at = name; at < end;) {
        const char *next = at + 1;

        if (end - at >= 5 && memcmp(at, "U3AS", 4) == 0 && isdigit((unsigned char)at[4])) {
            put_space(out, "U3AS", (unsigned long)(at[4] - '0'));
            at += 5;
            continue;
        }
        if (*at == 'D' || *at == 'S' || *at == 'T') { /* "Dv4_" is a vector, "S0_" a substitution: the digits are no length */
            while (next < end && (isalnum((unsigned char)*next)) && *at != 'D')
                next++;
            if (*at == 'D' && next < end && *next == 'v')
                for (next++; next < end && isdigit((unsigned char)*next);)
                    next++;
            else if (*at != 'D' && (next >= end || *next != '_'))
                next = at + 1;
        } else if (isdigit((unsigned char)*at)) {
            size_t length = 0;

            for (next = at; next < end && isdigit((unsigned char)*next) && length < size; next++)
                length = length * 10 + (size_t)(*next - '0');
            next = length <= (size_t)(end - next) ? next + length : end;
        }
        out->write(out, at, (size_t)(next - at));
        at = next;
    }
}

/** Writes the name of an intrinsic, in which .p2 is a pointer to address space 2. */
static void put_intrinsic(const char *name, size_t size, struct lw_sink *out)
{
    for (size_t i = 0; i < size; i++) {
        if (name[i] == '.' && i + 2 < size && name[i + 1] == 'p' && isdigit((unsigned char)name[i + 2]) &&
            (i + 3 == size || name[i + 3] == '.' || name[i + 3] == 'i')) {
            lw_printf(out, ".p%u", ptx_spirv_space((unsigned)(name[i + 2] - '0')));
            i += 2;
        } else {
            out->write(out, name + i, 1);
        }
    }
}

/** Returns true if clang has mangled the name. */
static bool is_mangled(const char *name, size_t size)
{
    return size > 2 && name[0] == '_' && name[1] == 'Z';
}

/** Writes the new name of a function or variable to @out. */
static void new_name(struct rewrite *r, const char *name, size_t size, struct lw_buffer *out)
{
    if (has_name(&r->kept, name, size))
        out->sink.write(&out->sink, name, size);
    else if (size > 5 && memcmp(name, "llvm.", 5) == 0)
        put_intrinsic(name, size, &out->sink);
    else if (is_mangled(name, size))
        put_mangled(name, size, &out->sink);
    else
        out->sink.write(&out->sink, name, size);
    if (out->is_cut)
        r->is_short = true;
}

/** Writes the new name of the name at @at, after the character @. Returns its end. */
static const char *put_name(struct rewrite *r, const char *at)
{
    const char *end = end_of_name(at);
    struct lw_buffer name;

    if (end == NULL)
        return NULL;
    lw_buffer_init(&name);
    new_name(r, at, (size_t)(end - at), &name); /* a name in quotes does not change */
    put(r, lw_buffer_text(&name), name.size);
    lw_buffer_fini(&name);
    return end;
}

/* ---- lines ------------------------------------------------------------------------------------- */

/** Returns true if @at begins with the word @word. */
static bool is_word_at(const char *at, const char *word)
{
    const size_t size = strlen(word);

    return strncmp(at, word, size) == 0 && !is_name_char(at[size]);
}

/** Reads "addrspace(N)" at @at. Returns its end, or NULL if @at has another text. */
static const char *read_space(const char *at, unsigned *space)
{
    char *end;

    if (strncmp(at, "addrspace(", 10) != 0 || !isdigit((unsigned char)at[10]))
        return NULL;
    *space = (unsigned)strtoul(at + 10, &end, 10);
    return *end == ')' ? end + 1 : NULL;
}

/** Returns the address space on PTX of the pointer type, or vector of pointers, at @at. */
static unsigned space_of_type(const char *at)
{
    unsigned space = 0;

    at += strspn(at, " (");
    if (*at == '<')
        at += strspn(at + 1, "0123456789 x") + 1;
    if (strncmp(at, "ptr ", 4) == 0)
        (void)read_space(at + 4, &space);
    return ptx_spirv_space(space);
}

/** Returns the end of the string at @at, which begins with a quote, or NULL if it has no end. */
static const char *end_of_string(const char *at)
{
    at = strchr(at + 1, '"');
    return at != NULL ? at + 1 : NULL;
}

/** Returns the type after " to " of the conversion whose operand begins at @at. Returns NULL if there is none in this line. */
static const char *type_after(const char *at)
{
    unsigned depth = 0;
    bool is_constant = *(at += strspn(at, " ")) == '(';

    for (at += is_constant; at != NULL && *at != '\0' && *at != '\n';) {
        if (*at == '"') {
            at = end_of_string(at);
            continue;
        }
        if (*at == '(' || *at == '<' || *at == '[' || *at == '{')
            depth++;
        else if ((*at == ')' || *at == '>' || *at == ']' || *at == '}') && depth-- == 0)
            return NULL;
        if (depth == 0 && strncmp(at, " to ", 4) == 0)
            return at + 4;
        at++;
    }
    return NULL;
}

/** Removes ", " from the end of the output. */
static void remove_comma(struct rewrite *r)
{
    if (r->out->size >= 2 && memcmp(r->out->text + r->out->size - 2, ", ", 2) == 0)
        r->out->text[r->out->size -= 2] = '\0';
}

/** Writes the word at @at, which has @size bytes, or what replaces it. Returns the end of what was read. */
static const char *put_word(struct rewrite *r, const char *at, size_t size)
{
    const char *end = at + size, *type;
    char *rest;
    unsigned space;

    /* without optimisation, offline compilers mark all functions as noinline */
    if (is_word_at(at, "spir_func") || is_word_at(at, "spir_kernel") || is_word_at(at, "noinline") || is_word_at(at, "optnone"))
        return end + (*end == ' ');
    if (is_word_at(at, "addrspace") && (end = read_space(at, &space)) != NULL) {
        space = ptx_spirv_space(space);
        if (space != 0)
            lw_printf(&r->out->sink, "addrspace(%u)", space);
        return end;
    }
    if (is_word_at(at, "addrspacecast") && (type = type_after(at + 13)) != NULL &&
        space_of_type(at + 13) == space_of_type(type)) {
        put(r, "bitcast", 7);
        return at + 13;
    }
    if (is_word_at(at, "DW_OP_constu")) { /* the address space of a variable; PTX's debug information has it in another form */
        (void)strtoul(at + 12 + strspn(at + 12, ", "), &rest, 10);
        if (strncmp(rest, ", DW_OP_swap, DW_OP_xderef", 26) == 0) {
            rest += 26;
            if (strncmp(rest, ", ", 2) == 0)
                return rest + 2;
            remove_comma(r);
            return rest;
        }
    }
    if (is_word_at(at, "dwarfAddressSpace")) {
        space = (unsigned)strtoul(at + 17 + strspn(at + 17, ": "), &rest, 10);
        space = ptx_spirv_debug_space(space);
        if (space != 0)
            lw_printf(&r->out->sink, "dwarfAddressSpace: %u", space);
        else
            remove_comma(r);
        return rest;
    }
    put(r, at, size);
    return at + size;
}

/** Writes the text from @at to @end, which is in one line. Returns false if the text is damaged. */
static bool put_tokens(struct rewrite *r, const char *at, const char *end)
{
    while (at != NULL && at < end) {
        const char *next = at + 1;

        if (*at == ';')
            return true;
        if (*at == '"') {
            next = end_of_string(at);
        } else if (*at == '@') {
            put(r, at, 1);
            at = put_name(r, at + 1);
            continue;
        } else if ((*at == '%' || *at == '!' || *at == '#') && at[1] != '"') {
            while (is_name_char(*next) || *next == '\\')
                next++;
        } else if (isalpha((unsigned char)*at) || *at == '_') {
            while (is_name_char(*next))
                next++;
            at = put_word(r, at, (size_t)(next - at));
            continue;
        }
        if (next != NULL)
            put(r, at, (size_t)(next - at));
        at = next;
    }
    return at != NULL;
}

/** Returns the position after the parameters of the function whose name is at @name, or NULL if the text is damaged. */
static const char *after_parameters(const char *name, const char *end)
{
    const char *at = end_of_name(name + 1);
    unsigned depth = 0;

    for (; at != NULL && at < end;) {
        if (*at == '"') {
            at = end_of_string(at);
            continue;
        }
        depth += *at == '(';
        if (*at++ == ')' && --depth == 0)
            return at;
    }
    return NULL;
}

/** Returns the position of the function's name, with the character @, in a line with a definition or declaration. */
static const char *name_in(const char *line, const char *end)
{
    while (line < end && *line != '@' && *line != '"')
        line++;
    return line < end && *line == '@' ? line : NULL;
}

/** Records a kernel, and the size of work-groups that it requires. */
static void record_kernel(struct rewrite *r, const char *name, const char *at, const char *end)
{
    static const char key[] = "!reqd_work_group_size !";
    const char *found = memmem(at, (size_t)(end - at), key, sizeof key - 1);

    uint64_t id = 0;
    bool is_new;

    if (found != NULL && isdigit((unsigned char)found[sizeof key - 1]))
        id = (uint64_t)strtoul(found + sizeof key - 1, NULL, 10) + 1;
    if ((id != 0 && lw_table_add(&r->sizes, sizeof(struct size_node), id, &is_new) == NULL) ||
        !lw_grow(&r->kernels, &r->kernel_capacity, r->kernel_count + 1, sizeof *r->kernels)) {
        r->is_short = true;
        return;
    }
    r->kernels[r->kernel_count++] = (struct kernel){name, id};
}

/** Writes the definition or declaration of a function. Returns false if the text is damaged. */
static bool put_function(struct rewrite *r, const char *line, const char *end)
{
    static const char *const before[] = {" unnamed_addr", " local_unnamed_addr"}; /* is written before attributes */
    const char *name = name_in(line, end), *at = name != NULL ? after_parameters(name, end) : NULL;
    const bool is_definition = *line == 'd' && line[2] == 'f', is_intrinsic = name != NULL && strncmp(name, "@llvm.", 6) == 0;
    const char *stop = at != NULL ? end_of_name(name + 1) : NULL;
    struct lw_buffer renamed;
    bool is_new = true;

    if (stop == NULL)
        return false;
    if (!is_definition) {
        lw_buffer_init(&renamed);
        new_name(r, name + 1, (size_t)(stop - name - 1), &renamed);
        is_new = add_name(r, &r->written, lw_buffer_text(&renamed), renamed.size);
        lw_buffer_fini(&renamed);
    }
    if (!is_new)
        return true; /* several functions of SPIR may be one function on PTX */
    for (size_t i = 0; i < LW_COUNT_OF(before); i++)
        if (strncmp(at, before[i], strlen(before[i])) == 0)
            at += strlen(before[i]);
    if (is_definition && memmem(line, (size_t)(name - line), " spir_kernel ", 13) != NULL)
        record_kernel(r, name, at, end);
    if (!put_tokens(r, line, at))
        return false;
    if (!is_intrinsic)
        lw_put(&r->out->sink, " convergent");
    return put_tokens(r, at, end) && (lw_put(&r->out->sink, "\n"), true);
}

/** Writes a metadata node. Returns false if the text is damaged. */
static bool put_node(struct rewrite *r, const char *line, const char *end)
{
    static const char version[] = "!\"Dwarf Version\"", expression[] = "expr: !DIExpression())";
    char *after;
    const unsigned long id = strtoul(line + 1, &after, 10);
    const char *found;
    const struct variable *variable;
    struct size_node *node;
    unsigned space;

    if (id > r->last_node)
        r->last_node = id;
    if (memmem(line, (size_t)(end - line), version, sizeof version - 1) != NULL) {
        lw_printf(&r->out->sink, "!%lu = !{i32 7, !\"Dwarf Version\", i32 2}\n", id);
        return true;
    }
    node = lw_table_find(&r->sizes, sizeof *node, (uint64_t)id + 1);
    if (node != NULL && node->id != 0)
        node->is_known = sscanf(after, " = !{i32 %u, i32 %u, i32 %u", &node->size[0], &node->size[1], &node->size[2]) == 3;
    variable = lw_table_find(&r->variables, sizeof *variable, (uint64_t)id + 1);
    space = variable != NULL && variable->id != 0 ? ptx_spirv_debug_space(variable->space) : 0;
    found = space != 0 && space != PTX_SPIRV_DEBUG_GLOBAL ? memmem(line, (size_t)(end - line), expression, sizeof expression - 1)
                                                          : NULL;
    if (found != NULL && found + sizeof expression - 1 == end) {
        if (!put_tokens(r, line, end - 2))
            return false;
        lw_printf(&r->out->sink, "DW_OP_constu, %u, DW_OP_swap, DW_OP_xderef))\n", space);
        return true;
    }
    return put_tokens(r, line, end) && (lw_put(&r->out->sink, "\n"), true);
}

/** Records the debug information of a variable in program scope: @x = addrspace(3) global ..., !dbg !7 */
static void record_variable(struct rewrite *r, const char *line, const char *end)
{
    static const char key[] = ", !dbg !";
    const char *space = memmem(line, (size_t)(end - line), " addrspace(", 11), *at = line, *last = NULL;
    struct variable *variable;
    unsigned number;
    bool is_new;

    while (at < end && (at = memmem(at, (size_t)(end - at), key, sizeof key - 1)) != NULL)
        last = at += sizeof key - 1;
    if (space == NULL || last == NULL || read_space(space + 1, &number) == NULL)
        return;
    variable = lw_table_add(&r->variables, sizeof *variable, (uint64_t)strtoul(last, NULL, 10) + 1, &is_new);
    if (variable == NULL)
        r->is_short = true;
    else
        variable->space = number;
}

static const char *end_of_line(const char *line)
{
    const char *end = strchr(line, '\n');

    return end != NULL ? end : line + strlen(line);
}

/** Records the name of each function that the module defines. Then decides which of them keep their names, because another
 *  function has or gets the new name, such as an overload for __private. */
static void record_definitions(struct rewrite *r)
{
    for (unsigned pass = 0; pass < 2; pass++)
        for (const char *line = r->text, *end; *line != '\0'; line = *end == '\n' ? end + 1 : end) {
            const char *name, *stop;
            struct lw_buffer renamed;
            size_t size;

            end = end_of_line(line);
            if (strncmp(line, "define ", 7) != 0 || (name = name_in(line, end)) == NULL || (stop = end_of_name(++name)) == NULL)
                continue;
            size = (size_t)(stop - name);
            if (pass == 0) {
                (void)add_name(r, &r->defined, name, size);
                continue;
            }
            lw_buffer_init(&renamed);
            new_name(r, name, size, &renamed);
            if ((renamed.size != size || memcmp(lw_buffer_text(&renamed), name, size) != 0) &&
                (has_name(&r->defined, lw_buffer_text(&renamed), renamed.size) ||
                 !add_name(r, &r->written, lw_buffer_text(&renamed), renamed.size)))
                (void)add_name(r, &r->kept, name, size);
            if (has_name(&r->kept, name, size) || (renamed.size == size && memcmp(lw_buffer_text(&renamed), name, size) == 0))
                (void)add_name(r, &r->written, name, size);
            lw_buffer_fini(&renamed);
        }
}

/** Returns the end of the argument at @at, which is a comma, the parenthesis after the last argument, or @end. */
static const char *end_of_argument(const char *at, const char *end)
{
    unsigned depth = 0;

    while (at < end && (depth != 0 || (*at != ',' && *at != ')'))) {
        if (*at == '"' && (at = end_of_string(at)) == NULL)
            return end;
        depth += *at == '(' || *at == '<' || *at == '[' || *at == '{';
        depth -= *at == ')' || *at == '>' || *at == ']' || *at == '}';
        at++;
    }
    return at;
}

/** Writes a call of printf. C promotes arguments after the format to double or int; SPIR-V does not. @args: position after the
 *  parenthesis before the format. Returns false if the text is damaged. */
static bool put_printf(struct rewrite *r, const char *line, const char *args, const char *end)
{
    static const struct {
        const char *type, *conversion, *to;
    } rows[] = {{"float ", "fpext", "double"}, {"half ", "fpext", "double"}, {"i8 ", "sext", "i32"}, {"i16 ", "sext", "i32"}};
    static const char *const attributes[] = {"noundef ", "signext ", "zeroext "};
    unsigned long first = r->promoted + 1;

    for (unsigned pass = 0; pass < 2; pass++) { /* first the conversions, then the call */
        if (pass == 1 && !put_tokens(r, line, args))
            return false;
        for (const char *at = args, *stop; at < end; at = stop + (stop < end)) {
            const char *value;
            size_t row = 0;

            stop = end_of_argument(at, end);
            at += strspn(at, " ");
            while (row < LW_COUNT_OF(rows) && strncmp(at, rows[row].type, strlen(rows[row].type)) != 0)
                row++;
            value = row < LW_COUNT_OF(rows) ? at + strlen(rows[row].type) : at;
            for (size_t i = 0; i < LW_COUNT_OF(attributes); i++)
                value += strncmp(value, attributes[i], strlen(attributes[i])) == 0 ? strlen(attributes[i]) : 0;
            if (row < LW_COUNT_OF(rows) && pass == 0) {
                lw_printf(&r->out->sink, "  %%lanewise.%lu = %s %s", ++r->promoted, rows[row].conversion, rows[row].type);
                if (!put_tokens(r, value, stop))
                    return false;
                lw_printf(&r->out->sink, " to %s\n", rows[row].to);
            } else if (row < LW_COUNT_OF(rows)) {
                lw_printf(&r->out->sink, "%s %%lanewise.%lu", rows[row].to, first++);
            } else if (pass == 1 && !put_tokens(r, at, stop)) {
                return false;
            }
            if (pass == 1 && stop < end)
                put(r, stop, 1);
            if (stop < end && *stop == ')') {
                if (pass == 1 && !put_tokens(r, stop + 1, end))
                    return false;
                break;
            }
        }
    }
    lw_put(&r->out->sink, "\n");
    return true;
}

static bool put_line(struct rewrite *r, const char *line, const char *end)
{
    static const char print[] = " @printf(";
    const char *call;

    if (*line == ';')
        return true;
    if (strncmp(line, "define ", 7) == 0 || strncmp(line, "declare ", 8) == 0)
        return put_function(r, line, end);
    if (*line == '!' && isdigit((unsigned char)line[1]))
        return put_node(r, line, end);
    if (*line == '@')
        record_variable(r, line, end);
    else if ((call = memmem(line, (size_t)(end - line), print, sizeof print - 1)) != NULL &&
             memchr(line, '"', (size_t)(call - line)) == NULL)
        return put_printf(r, line, call + sizeof print - 1, end);
    return put_tokens(r, line, end) && (lw_put(&r->out->sink, "\n"), true);
}

/** Writes annotations, from which clang makes .entry and .reqntid. A calling convention would not do: llvm-spirv writes calls of
 *  kernels as calls of other functions. */
static void put_annotations(struct rewrite *r)
{
    const unsigned long first = r->last_node + 1;
    struct lw_sink *out = &r->out->sink;

    for (size_t i = 0; i < r->kernel_count; i++) {
        const struct kernel *k = &r->kernels[i];
        const struct size_node *n = k->id != 0 ? lw_table_find(&r->sizes, sizeof *n, k->id) : NULL;

        lw_printf(out, "!%lu = !{ptr @", first + i);
        (void)put_name(r, k->name + 1);
        lw_put(out, ", !\"kernel\", i32 1");
        if (n != NULL && n->is_known)
            lw_printf(out, ", !\"reqntidx\", i32 %u, !\"reqntidy\", i32 %u, !\"reqntidz\", i32 %u", n->size[0], n->size[1],
                      n->size[2]);
        lw_put(out, "}\n");
    }
    for (size_t i = 0; i < r->kernel_count; i++)
        lw_printf(out, "%s!%lu%s", i == 0 ? "!nvvm.annotations = !{" : ", ", first + i, i + 1 == r->kernel_count ? "}\n" : "");
}

enum lw_status ptx_spirv_rewrite(const char *name, const char *ir, struct lw_buffer *out, struct lw_error *err)
{
    struct rewrite r = {.text = ir, .out = out};
    bool good = true;

    record_definitions(&r);
    for (const char *line = ir, *end; *line != '\0' && good; line = *end == '\n' ? end + 1 : end) {
        end = end_of_line(line);
        good = put_line(&r, line, end);
    }
    put_annotations(&r);
    free(r.defined.table.rows);
    free(r.kept.table.rows);
    free(r.written.table.rows);
    free(r.variables.rows);
    free(r.sizes.rows);
    free(r.kernels);
    if (r.is_short || out->is_cut)
        return LW_FAIL(err, LW_ENOMEM, "%s: the host has no memory for the module's code", name);
    return good ? LW_OK : LW_FAIL(err, LW_EINPUT, "%s: the translator wrote code that cannot be read", name);
}
