/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds the values of source variables in optimised code by means of clang. LLVM writes no location lists for NVPTX. But
 * with the options PTX_CLANG_VALUES, clang dumps its machine code with every debug value after the last pass, and writes a
 * comment to the PTX at the position of each debug value. The n-th comment of a function in the PTX corresponds to the n-th debug
 * value of the function in the dump. clang numbers the registers of a class in the PTX in the order of their numbers in the dump,
 * and omits registers that no instruction uses: the k-th used register of the dump is the k-th register in the PTX.
 *
 * This file replaces each comment by one with the value in PTX registers, which ptx_debug_notes.c reads:
 *
 *     //lw.value NAME LINE CALLS (EXPRESSION) OPERAND...
 *
 * NAME is the name of the variable, and LINE is the line of its declaration. CALLS are the inlined calls that contain the
 * declaration, as LINE:COLUMN, innermost first and separated by `,`, or `-` if there are none. EXPRESSION is the debug value's
 * expression as LLVM prints it. OPERAND is a register, a number, a float as in PTX, `frame` (the function's local memory),
 * a register followed by `:` and the number of its low bits that are known (is_narrowed_load()),
 * `none` (the value is unknown), or `launch`. `launch` stands for an unknown value if the source assigns to no variable of this
 * name: then a kernel parameter has the value of the launch. If a line of the source assigns to a parameter, and clang has no
 * debug value for it, a comment with `none` is written at the start of the function. A debug value that cannot be parsed gets no
 * comment, so that no wrong value is shown. A function gets no values if its numbers of used registers in the dump and in
 * the PTX differ.
 *
 * Before the first comment of a variable, another comment describes the variable in the source, by which
 * ptx_debug_notedoubt.c detects wrong debug values of clang:
 *
 *     //lw.value NAME LINE = END,ONCE,BODY,END,LINE:REACHED:BEGIN:ELSE...,.MEMBER...,&PASSED...,~,+STEP,<LIMIT,-LOOP:END:JUMPS...
 *
 * The numbers except ONCE, STEP, LIMIT and JUMPS are lines, or 0 if a line is unknown:
 *     END                 last line of the variable's scope
 *     ONCE                1 if a call of the function assigns to the variable exactly once, 2 if a call executes the declaration
 *                         at most once, otherwise 0
 *     BODY,END            first and last line of the function's body
 *     LINE:REACHED:BEGIN  a line that may assign to the variable, and the last and first line of its block: if a line after
 *                         BEGIN up to REACHED is executed, LINE is executed, too. If the block is unknown, REACHED is 0 and
 *                         BEGIN is missing
 *     ELSE                last line of the `else` parts of the `if` whose first part the block is, if there are any
 *     .MEMBER             a line that only assigns to a member or an element of the variable
 *     &PASSED             a line with a call that may assign to the variable, because it gets the variable's address or a
 *                         reference to the variable
 *     ~                   the variable is no parameter, and each assignment computes its value by an arithmetic operation
 *     +STEP               constant that each assignment after the declaration adds to the variable, if it does not assign a
 *                         constant. +STEP is missing if there are other assignments, or if they add several constants
 *     <LIMIT              lowest value with which the variable, a rising counter, ends the only `for` that compares it with a
 *                         constant. It is missing if there is no such loop
 *     -LOOP:END:JUMPS     first and last line of a loop in the scope. JUMPS is a sum: 1 if the loop contains `continue`, `break`,
 *                         `return` or `goto`; 2 if the loop is on one line and contains `if`, `switch`, `?`, `&&` or `||`;
 *                         4 if it is a `do` loop on one line without these. JUMPS is missing if it is 0
 *
 * For a variable in the function's local memory, another comment contains the uses of the variable in the source
 * (ptx_assigned_uses()), from which ptx_debug_notememory.c determines when the memory has the value of the source:
 *
 *     //lw.value NAME LINE @ USE...
 *
 * clang 14 to 16 write no debug values for such variables, but a location in the debug information. For these versions, the names
 * of the variables are taken from the debug information (ptx_values_memory.c). Comments "//lw.value NAME LINE : TOKEN..." contain
 * initialisers of variables (ptx_initialisers.c).
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <stdio.h>
#include <stdlib.h>

#include "ptx/compiler/ptx_values_priv.h"

/** Register classes of LLVM's NVPTX target and the prefixes of their registers in PTX. */
static const struct reg_class {
    const char *name, *prefix;
    unsigned bits;
} classes[] = {
    {"int1regs", "%p", 1},     {"int16regs", "%rs", 16},   {"int32regs", "%r", 32},
    {"int64regs", "%rd", 64},   {"float32regs", "%f", 32},  {"float64regs", "%fd", 64},
    {"float16regs", "%h", 16}, {"float16x2regs", "%hh", 32}, {"int128regs", "%rq", 128},
};
enum { CLASS_COUNT = LW_COUNT_OF(classes) };

/** Numbers of the registers of one class that a function uses. After rank() they are ascending and without duplicates. */
struct numbers {
    uint32_t *at;
    size_t count, capacity;
};
/** A function in the dump. */
struct machine_function {
    struct text name, body;
};
struct annotating {
    struct machine_function *functions;
    size_t function_count, function_capacity;
    struct numbers virtual[CLASS_COUNT], physical[CLASS_COUNT];
    struct numbers narrowed[CLASS_COUNT]; /* 64 * the number of a register + the number of bits of the narrowed load that
                                           * writes the register */
    struct ptx_sources *sources;  /* NULL: values are not compared with a source */
    struct ptx_assigned *source; /* text of the file that declares the variable of the comment, or NULL if it is not known */
    struct variable_name {
        const char *at;
        uint32_t size, declared;
        const struct ptx_assigned *source;
        bool is_known; /* the lines that assign to the variable are known */
    } *names; /* variables of the current function for which the comment that describes the source has been written */
    size_t name_count, name_capacity;
    struct ptx_memory_variables memory;
    struct lw_buffer initialisers; /* comments that ptx_initialisers.c has written */
    bool failed; /* an allocation has failed */
};

/* ---- numbers of registers ------------------------------------------------------------------------ */

static void add(struct annotating *an, struct numbers *n, uint32_t number)
{
    if (n->count != 0 && n->at[n->count - 1] == number)
        return;
    if (n->count == n->capacity) {
        size_t capacity = n->capacity != 0 ? 2 * n->capacity : 64;
        uint32_t *grown = realloc(n->at, capacity * sizeof *grown);

        if (grown == NULL) {
            an->failed = true;
            return;
        }
        n->at = grown;
        n->capacity = capacity;
    }
    n->at[n->count++] = number;
}

static int compare(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

    return x < y ? -1 : x > y;
}

static void rank(struct numbers *n)
{
    size_t kept = 0;

    if (n->count > 1)
        qsort(n->at, n->count, sizeof *n->at, compare);
    for (size_t i = 0; i < n->count; i++)
        if (kept == 0 || n->at[kept - 1] != n->at[i])
            n->at[kept++] = n->at[i];
    n->count = kept;
}

/* Returns the index of the first number that is not less than @number. */
static size_t position(const struct numbers *n, uint32_t number)
{
    size_t low = 0, high = n->count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (n->at[middle] < number)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Parses a register of the dump, such as "%25:int32regs", and advances @t past it. Sets @class to CLASS_COUNT if the class is
 * unknown. */
static bool take_virtual(struct text *t, unsigned *class, uint32_t *number)
{
    struct text p = *t;
    const char *name;

    if (p.at == p.end || *p.at++ != '%' || !take_number(&p, number) || p.at == p.end || *p.at++ != ':')
        return false;
    for (name = p.at; p.at < p.end && is_word(*p.at); p.at++)
        ;
    *t = p;
    for (*class = 0; *class < CLASS_COUNT; ++*class)
        if (strlen(classes[*class].name) == (size_t)(p.at - name) &&
            memcmp(classes[*class].name, name, (size_t)(p.at - name)) == 0)
            return true;
    return true;
}

/* Parses a register of PTX, such as "%rd5", whose prefix determines the class, and advances @t past it. */
static bool take_physical(struct text *t, unsigned *class, uint32_t *number)
{
    struct text p = *t;
    size_t size;

    for (p.at++; p.at < p.end && *p.at >= 'a' && *p.at <= 'z'; p.at++)
        ;
    size = (size_t)(p.at - t->at);
    if (size == 1 || !take_number(&p, number) || (p.at < p.end && (is_word(*p.at) || *p.at == '.')))
        return false;
    for (*class = 0; *class < CLASS_COUNT; ++*class)
        if (strlen(classes[*class].prefix) == size && memcmp(classes[*class].prefix, t->at, size) == 0) {
            *t = p;
            return true;
        }
    return false;
}

static bool is_debug_value(struct text line)
{
    return begins(line, "DBG_VALUE ") || begins(line, "DBG_VALUE_LIST ");
}

/* Returns true for a load that LLVM has narrowed, and stores the number of loaded bits: the load extends fewer bits than the
 * register of class @class has, and the memory is aligned to more. For `int v = in[i]; acc += v & 0xff;` LLVM loads a byte,
 * with the alignment of an int, and writes a debug value according to which v is in the register of the byte. */
static bool is_narrowed_load(struct text memory, unsigned class, uint32_t *bits)
{
    const char *load = find(memory, "load (s"), *align = find(memory, ", align ");
    struct text width = {load != NULL ? load + 7 : NULL, memory.end}, bytes = {align != NULL ? align + 8 : NULL, memory.end};
    uint32_t aligned;

    return load != NULL && align != NULL && take_number(&width, bits) && take_number(&bytes, &aligned) &&
           *bits < classes[class].bits && *bits < 64 && 8 * (uint64_t)aligned > *bits;
}

/* Collects the registers that instructions of the dump use. Returns false if a register has an unknown class. */
static bool collect_virtual(struct annotating *an, struct text body)
{
    while (body.at < body.end) {
        struct text line = take_line(&body);

        skip_blanks(&line);
        if (begins(line, "DBG_") || find(line, " = IMPLICIT_DEF") != NULL || begins(line, "KILL "))
            continue;
        for (const char *memory = find(line, " :: ("); memory != NULL; memory = NULL) {
            struct text written = line;
            unsigned class;
            uint32_t number, bits;

            if (*line.at == '%' && take_virtual(&written, &class, &number) && class != CLASS_COUNT &&
                is_narrowed_load((struct text){memory, line.end}, class, &bits) && number < UINT32_MAX / 64)
                add(an, &an->narrowed[class], 64 * number + bits);
            line.end = memory;
        }
        for (const char *debug = find(line, " debug-location "); debug != NULL; debug = NULL)
            line.end = debug;
        while (line.at < line.end) {
            unsigned class;
            uint32_t number;

            if (*line.at != '%' || !take_virtual(&line, &class, &number)) {
                line.at++;
                continue;
            }
            if (class == CLASS_COUNT)
                return false;
            add(an, &an->virtual[class], number);
        }
    }
    return true;
}

static void collect_physical(struct annotating *an, struct text body)
{
    while (body.at < body.end) {
        struct text line = take_line(&body);
        const char *comment = find(line, "//");

        skip_blanks(&line);
        if (begins(line, ".reg"))
            continue;
        if (comment != NULL)
            line.end = comment;
        while (line.at < line.end) {
            unsigned class;
            uint32_t number;

            if (*line.at != '%' || !take_physical(&line, &class, &number)) {
                line.at++;
                continue;
            }
            add(an, &an->physical[class], number);
        }
    }
}

static bool match_registers(struct annotating *an, const struct machine_function *fn, struct text body)
{
    for (unsigned c = 0; c < CLASS_COUNT; c++)
        an->virtual[c].count = an->physical[c].count = an->narrowed[c].count = 0;
    if (!collect_virtual(an, fn->body))
        return false;
    collect_physical(an, body);
    for (unsigned c = 0; c < CLASS_COUNT; c++) {
        rank(&an->virtual[c]);
        rank(&an->physical[c]);
        rank(&an->narrowed[c]);
        if (an->virtual[c].count != an->physical[c].count)
            return false;
    }
    return !an->failed;
}

/* ---- one debug value -------------------------------------------------------------------------------- */

/* Writes a constant of the dump in PTX syntax. Returns false if @t is no constant. */
static bool put_constant(struct text t, struct lw_sink *out)
{
    char room[64], *end;
    bool is_double = begins(t, "double "), is_single = begins(t, "float ");
    size_t size;

    if (is_double || is_single)
        t.at += is_double ? 7 : 6;
    size = (size_t)(t.end - t.at);
    if (size == 0 || size >= sizeof room)
        return false;
    memcpy(room, t.at, size);
    room[size] = '\0';
    if (!is_double && !is_single) {
        for (size_t i = room[0] == '-'; i < size; i++)
            if (room[i] < '0' || room[i] > '9')
                return false;
        lw_put(out, room);
        return room[size - 1] != '-';
    }
    union {
        double d;
        uint64_t u;
    } wide;

    if (strncmp(room, "0x", 2) == 0) { /* The number has the bits of a double, even if its type is float. */
        wide.u = strtoull(room + 2, &end, 16);
    } else {
        wide.d = strtod(room, &end);
    }
    if (*end != '\0')
        return false;
    if (is_single) {
        union {
            float f;
            uint32_t u;
        } narrow = {(float)wide.d};

        lw_printf(out, "0f%08X", (unsigned)narrow.u);
    } else {
        lw_printf(out, "0d%016llX", (unsigned long long)wide.u);
    }
    return true;
}

static bool put_operand(struct annotating *an, struct text t, struct text name, struct lw_sink *out)
{
    unsigned class;
    uint32_t number;

    if (begins(t, "$noreg") || begins(t, "undef")) {
        lw_put(out, an->source != NULL && ptx_is_never_assigned(an->source, name.at, (size_t)(name.end - name.at)) ? "launch" : "none");
        return true;
    }
    if (begins(t, "$vrdepot") || begins(t, "$vrframelocal") || begins(t, "$vrframe")) {
        lw_put(out, begins(t, "$vrdepot") ? "frame" : "none");
        return true;
    }
    if (*t.at == '%') {
        size_t at;

        if (!take_virtual(&t, &class, &number) || class == CLASS_COUNT)
            return false;
        at = position(&an->virtual[class], number);
        if (at == an->virtual[class].count || an->virtual[class].at[at] != number) {
            lw_put(out, "none"); /* the debug value is unknown if it names a register that no instruction uses */
            return true;
        }
        lw_printf(out, "%s%u", classes[class].prefix, (unsigned)an->physical[class].at[at]);
        if (number >= UINT32_MAX / 64)
            return true;
        at = position(&an->narrowed[class], 64 * number);
        if (at != an->narrowed[class].count && an->narrowed[class].at[at] / 64 == number)
            lw_printf(out, ":%u", (unsigned)an->narrowed[class].at[at] % 64);
        return true;
    }
    return put_constant(t, out);
}

/* Returns the next operand of a line, which ends at the next comma outside parentheses and quotes, and advances @line past it. */
static struct text take_operand(struct text *line)
{
    struct text operand;
    unsigned depth = 0;

    skip_blanks(line);
    operand.at = line->at;
    while (line->at < line->end && (depth != 0 || *line->at != ',')) {
        if (*line->at == '"') {
            for (line->at++; line->at < line->end && *line->at != '"'; line->at++)
                ;
        }
        depth += line->at < line->end && *line->at == '(';
        depth -= line->at < line->end && *line->at == ')' && depth != 0;
        line->at += line->at < line->end;
    }
    operand.end = line->at;
    line->at += line->at < line->end;
    return operand;
}

/* Parses a location such as "k.cl:0 @[ k.cl:13:24 @[ k.h:7:3 ] ] line no:3", and writes the line of the declaration and the
 * inlined calls. */
static bool put_calls(struct text t, struct lw_sink *out)
{
    struct lw_buffer calls;
    uint32_t declared;
    const char *at = NULL;
    bool ok;

    for (const char *p = t.at; (p = find((struct text){p, t.end}, " line no:")) != NULL; p += 9)
        at = p;
    if (at == NULL)
        return false;
    lw_buffer_init(&calls);
    ok = ptx_dump_put_calls(t.at, at, &calls.sink) && calls.text != NULL;
    t.at = at + 9;
    ok = ok && take_number(&t, &declared);
    if (ok)
        lw_printf(out, "%u %s", (unsigned)declared, calls.text);
    lw_buffer_fini(&calls);
    return ok;
}

static bool is_plain_name(struct text t)
{
    for (; t.at < t.end; t.at++)
        if (*t.at == ' ' || (unsigned char)*t.at < ' ' || *t.at == '"')
            return false;
    return true;
}

/* Finds the source that declares the variable of a debug value at @place, such as "; k.cl:0 @[ k.cl:13:24 ] line no:3". */
static struct ptx_assigned *find_source(struct annotating *an, struct text place)
{
    const char *at = place.at + 2, *end = at;

    while (end + 1 < place.end && !(end[0] == ':' && end[1] >= '0' && end[1] <= '9'))
        end++;
    return an->sources != NULL ? ptx_sources_find(an->sources, at, (size_t)(end - at)) : NULL;
}

/* Writes the debug value in a line of the dump as a comment. Returns false if the value cannot be parsed, or if its variable is
 * not @name, which clang's comment in the PTX names. */
static bool put_value(struct annotating *an, struct text line, struct text name, struct lw_sink *out)
{
    const bool list = begins(line, "DBG_VALUE_LIST ");
    struct text operand[2] = {{0}}, variable, expression, place;
    bool indirect = false;
    const char *debug;

    line.at += list ? 15 : 10;
    debug = find(line, ", debug-location ");
    if (debug == NULL)
        return false;
    place = (struct text){debug + 17, line.end};
    place.at = find(place, "; ");
    if (place.at == NULL)
        return false;
    an->source = find_source(an, place);
    line.end = debug;
    if (!list) {
        operand[0] = take_operand(&line);
        operand[1] = take_operand(&line);
        indirect = begins(operand[1], "0");
    }
    variable = take_operand(&line);
    expression = take_operand(&line);
    if (!begins(variable, "!\"") || !begins(expression, "!DIExpression(") || expression.end[-1] != ')')
        return false; /* the variable has no name, or the expression cannot be parsed */
    variable.at += 2;
    variable.end--;
    if (variable.end <= variable.at || !is_plain_name(variable) || (size_t)(name.end - name.at) != (size_t)(variable.end - variable.at) ||
        memcmp(name.at, variable.at, (size_t)(name.end - name.at)) != 0)
        return false;
    lw_printf(out, "//lw.value %.*s ", (int)(variable.end - variable.at), variable.at);
    if (!put_calls(place, out))
        return false;
    lw_printf(out, " (%s%.*s)", indirect ? expression.end - expression.at > 15 ? "DW_OP_deref, " : "DW_OP_deref" : "",
              (int)(expression.end - expression.at - 15), expression.at + 14);
    if (!list) {
        lw_put(out, " ");
        return put_operand(an, operand[0], variable, out);
    }
    while (line.at < line.end) {
        struct text one = take_operand(&line);

        lw_put(out, " ");
        if (one.at == one.end || !put_operand(an, one, variable, out))
            return false;
    }
    return true;
}

/* ---- functions ------------------------------------------------------------------------------------------ */

static void find_functions(struct annotating *an, struct text dump)
{
    struct machine_function *open = NULL;

    while (dump.at < dump.end && !an->failed) {
        struct text line = take_line(&dump);

        if (begins(line, "# Machine code for function ")) {
            if (an->function_count == an->function_capacity) {
                size_t capacity = an->function_capacity != 0 ? 2 * an->function_capacity : 16;
                void *grown = realloc(an->functions, capacity * sizeof *an->functions);

                if (grown == NULL) {
                    an->failed = true;
                    return;
                }
                an->functions = grown;
                an->function_capacity = capacity;
            }
            open = &an->functions[an->function_count++];
            line.at += 28;
            open->name.at = line.at;
            while (line.at < line.end && *line.at != ':')
                line.at++;
            open->name.end = line.at;
            open->body = (struct text){dump.at, dump.at};
        } else if (begins(line, "# End machine code for function ") && open != NULL) {
            open->body.end = line.at;
            open = NULL;
        }
    }
}

/* Returns whether a name of the dump and a name of the PTX are the same. In the PTX, clang replaces '.' and '@' by "_$_". */
static bool same_name(struct text dump, struct text ptx)
{
    while (dump.at < dump.end) {
        if (*dump.at == '.' || *dump.at == '@') {
            if (!begins(ptx, "_$_"))
                return false;
            ptx.at += 3;
        } else if (ptx.at == ptx.end || *ptx.at != *dump.at) {
            return false;
        } else {
            ptx.at++;
        }
        dump.at++;
    }
    return ptx.at == ptx.end;
}

/* Returns the name of the function whose text follows @head: the name after the last directive .entry or .func of @head. */
static struct text name_of(struct text head)
{
    struct text name = {head.end, head.end};
    const char *at = NULL;

    for (const char *p = head.at; p < head.end; p++)
        if (begins((struct text){p, head.end}, ".entry") || begins((struct text){p, head.end}, ".func"))
            at = p;
    if (at == NULL)
        return name;
    for (at++; at < head.end && is_word(*at); at++)
        ;
    for (unsigned depth = 0; at < head.end && (depth != 0 || !is_word(*at)); at++) /* skips the parentheses of the result */
        depth = *at == '(' ? depth + 1 : *at == ')' && depth != 0 ? depth - 1 : depth;
    for (name.at = at; at < head.end && is_word(*at); at++)
        ;
    name.end = at;
    return name;
}

static struct text comment_name(struct text line)
{
    struct text name = {line.at, line.end};
    const char *arrow = find(line, " <- ");

    if (arrow == NULL)
        return (struct text){line.at, line.at};
    name.end = arrow;
    for (const char *p = name.at; p < name.end; p++) /* The text is "function:variable". In C++ the function may contain
                                                      * "::". */
        if (*p == ':')
            name.at = p + 1;
    return name;
}

static bool is_comment(struct text line)
{
    return begins(line, "//DEBUG_VALUE: ");
}

static unsigned count_lines(struct text body, bool (*is_one)(struct text line))
{
    unsigned n = 0;

    while (body.at < body.end) {
        struct text line = take_line(&body);

        skip_blanks(&line);
        n += is_one(line);
    }
    return n;
}

/* Writes a line without clang's explanatory comments. A quoted name may contain two slashes. */
static void put_line(struct text line, struct lw_sink *out)
{
    static const char *const kept[] = {" Generated by ", " .globl", " callseq", " begin inline", " end inline"};
    bool quoted = false, keep = false;
    const char *end = line.end;

    for (const char *p = line.at; p + 1 < line.end; p++) {
        quoted ^= *p == '"';
        if (quoted || p[0] != '/' || p[1] != '/')
            continue;
        for (size_t i = 0; i < LW_COUNT_OF(kept) && !keep; i++)
            keep = begins((struct text){p + 2, line.end}, kept[i]);
        if (!keep)
            end = p;
        for (const char *more = p + 2; keep && more + 1 < line.end && end == line.end; more++)
            if (more[0] == '/' && more[1] == '/')
                end = more;
        break;
    }
    if (end != line.end)
        while (end > line.at && (end[-1] == ' ' || end[-1] == '\t'))
            end--;
    out->write(out, line.at, (size_t)(end - line.at));
    lw_put(out, "\n");
}

/* Writes the comments that describe a variable in the source, if @comment, "//lw.value NAME LINE ...", is the first comment of
 * the variable in the function. @lasting: the variable's name, in a text that remains valid after the call. @in_memory: the
 * variable is in local memory. Returns false if the lines that assign to the variable are not known. */
static bool put_lines(struct annotating *an, struct text comment, const char *lasting, bool in_memory, struct lw_sink *out)
{
    struct text key = comment, name = {comment.at + 11, NULL};
    struct lw_buffer lines;
    uint32_t declared = 0;
    bool known;

    if (an->sources == NULL)
        return true;
    name.end = memchr(name.at, ' ', (size_t)(key.end - name.at));
    key.at = name.end + 1;
    (void)take_number(&key, &declared);
    key = (struct text){name.at, key.at};
    for (size_t i = 0; i < an->name_count; i++)
        if (an->names[i].declared == declared && an->names[i].size == (uint32_t)(name.end - name.at) &&
            memcmp(an->names[i].at, name.at, an->names[i].size) == 0)
            return an->names[i].is_known && an->names[i].source == an->source;
    if (an->name_count == an->name_capacity) {
        size_t capacity = an->name_capacity != 0 ? 2 * an->name_capacity : 64;
        void *grown = realloc(an->names, capacity * sizeof *an->names);

        if (grown == NULL) {
            an->failed = true;
            return false;
        }
        an->names = grown;
        an->name_capacity = capacity;
    }
    an->names[an->name_count].size = (uint32_t)(name.end - name.at);
    an->names[an->name_count].declared = declared;
    an->names[an->name_count].source = an->source;
    an->names[an->name_count++].at = lasting;
    lw_buffer_init(&lines);
    known = an->source != NULL && ptx_assigned_lines(an->source, name.at, (size_t)(name.end - name.at), declared, &lines.sink) &&
            lines.text != NULL && !lines.is_cut;
    an->names[an->name_count - 1].is_known = known;
    if (known)
        lw_printf(out, "\t//lw.value %.*s = %s\n", (int)(key.end - key.at), key.at, lines.text);
    lw_buffer_clear(&lines);
    if (known && in_memory && ptx_assigned_uses(an->source, name.at, (size_t)(name.end - name.at), declared, &lines.sink) && !lines.is_cut)
        lw_printf(out, "\t//lw.value %.*s @%s\n", (int)(key.end - key.at), key.at, lw_buffer_text(&lines));
    lw_buffer_fini(&lines);
    return known;
}

/* Returns the text between the parentheses of the parameters in the definition of function @name, or an empty text if the source @all
 * contains no definition. @name may be mangled. */
static struct text source_parameters(struct text all, struct text name)
{
    struct text rest = all, none = {NULL, NULL};
    uint32_t length;

    if (begins(name, "_Z")) {
        name.at += 2;
        if (!take_number(&name, &length) || length > (size_t)(name.end - name.at))
            return none;
        name.end = name.at + length;
    }
    while (name.at != name.end && rest.at < rest.end) {
        const char *at = memmem(rest.at, (size_t)(rest.end - rest.at), name.at, (size_t)(name.end - name.at));
        struct text list;
        unsigned depth = 1;

        if (at == NULL)
            return none;
        rest.at = at + 1;
        list.at = at + (name.end - name.at);
        if ((at > all.at && is_word(at[-1])) || list.at == all.end || *list.at != '(')
            continue;
        for (list.end = ++list.at; list.end < all.end; list.end++) {
            depth = *list.end == '(' ? depth + 1 : *list.end == ')' ? depth - 1 : depth;
            if (depth == 0)
                break;
        }
        for (at = list.end; at < all.end && (*at == ')' || *at == ' ' || *at == '\n' || *at == '\t' || *at == '\r'); at++)
            ;
        if (depth == 0 && at < all.end && *at == '{')
            return list;
    }
    return none;
}

static bool has_comment_of(struct text body, struct text name)
{
    while (body.at < body.end) {
        struct text line = take_line(&body);

        skip_blanks(&line);
        if (!is_comment(line))
            continue;
        line.at += 15;
        line = comment_name(line);
        if (line.end - line.at == name.end - name.at && memcmp(line.at, name.at, (size_t)(name.end - name.at)) == 0)
            return true;
    }
    return false;
}

/* Returns true if a line of the source may assign to the variable. */
static bool has_assignment(struct annotating *an, struct text name, uint32_t declared)
{
    struct lw_buffer lines;
    bool found = false;

    lw_buffer_init(&lines);
    if (!ptx_assigned_lines(an->source, name.at, (size_t)(name.end - name.at), declared, &lines.sink))
        found = true;
    else if (lines.text != NULL)
        for (const char *p = lines.text; (p = strchr(p, ':')) != NULL && !found; p++) { /* the description of a loop begins with
                                                                                         * "-" */
            const char *item = p;

            while (item > lines.text && item[-1] != ',')
                item--;
            found = *item != '-';
        }
    lw_buffer_fini(&lines);
    return found;
}

/* Writes a comment with `none` for each parameter in @list to which the source may assign and for which clang has no debug value.
 * Without the comment, a kernel parameter would seem to keep the value of the launch. @list is in the text of @file. */
static void put_lost(struct annotating *an, const struct ptx_source_file *file, struct text list, struct text body, struct lw_sink *out)
{
    uint32_t line = 1;

    for (const char *p = file->text.text; p < list.at; p++)
        line += *p == '\n';
    for (struct text name = {list.at, list.at}; name.at < list.end; name.at = name.end) {
        if (*name.at == '\n')
            line++;
        name.end = name.at + 1;
        if (!is_word(*name.at))
            continue;
        while (name.end < list.end && is_word(*name.end))
            name.end++;
        struct text after = {name.end, list.end};
        skip_blanks(&after);
        if ((after.at < list.end && *after.at != ',') || has_comment_of(body, name) ||
            !has_assignment(an, name, line))
            continue;
        struct lw_buffer comment;
        lw_buffer_init(&comment);
        lw_printf(&comment.sink, "//lw.value %.*s %u - () none", (int)(name.end - name.at), name.at, line);
        if (comment.text != NULL && !comment.is_cut) {
            (void)put_lines(an, (struct text){comment.text, comment.text + comment.size}, name.at, false, out);
            lw_printf(out, "\t%s\n", comment.text);
        }
        lw_buffer_fini(&comment);
    }
}

static void put_lost_parameters(struct annotating *an, const struct machine_function *fn, struct text body, struct lw_sink *out)
{
    for (size_t i = 0; an->sources != NULL && i < an->sources->count; i++) {
        struct ptx_source_file *file = &an->sources->files[i];
        const struct text list = source_parameters((struct text){file->text.text, file->text.text + file->text.size}, fn->name);

        if (list.at == NULL)
            continue;
        an->source = ptx_sources_prepare(an->sources, file);
        put_lost(an, file, list, body, out);
    }
}

/* Advances @dump to the start of a block, if @line is the block's label in the PTX: "$L__BB0_3:", "LBB0_3:" or "// %bb.3:". */
static void enter_block(struct ptx_dump_calls *dump, struct text line)
{
    uint32_t function, block;

    line.at += begins(line, "$L__BB") ? 6 : begins(line, "LBB") ? 3 : 0;
    if (begins(line, "// %bb.")) {
        line.at += 7;
        if (take_number(&line, &block) && begins(line, ":"))
            ptx_dump_enters(dump, block);
    } else if (take_number(&line, &function) && begins(line, "_")) {
        line.at++;
        if (take_number(&line, &block) && begins(line, ":"))
            ptx_dump_enters(dump, block);
    }
}

/* Writes a .loc with the inlined calls of its code, if these are known. Returns false if the line is no .loc. */
static bool put_location(struct ptx_dump_calls *dump, struct text line, struct lw_sink *out)
{
    struct lw_buffer calls;
    uint32_t number[3];

    if (!begins(line, ".loc"))
        return false;
    line.at += 4;
    for (unsigned i = 0; i < 3; i++) {
        skip_blanks(&line);
        if (!take_number(&line, &number[i]))
            return false;
    }
    skip_blanks(&line);
    if (line.at != line.end && *line.at != '/')
        return false;
    lw_buffer_init(&calls);
    lw_printf(out, "\t.loc\t%u %u %u", (unsigned)number[0], (unsigned)number[1], (unsigned)number[2]);
    if (ptx_dump_locate(dump, number[1], number[2], &calls.sink) && calls.text != NULL && !calls.is_cut)
        lw_printf(out, " //lw.calls %s", calls.text);
    lw_put(out, "\n");
    lw_buffer_fini(&calls);
    return true;
}

/* ---- variables in local memory --------------------------------------------------------------------------- */

/* Writes the comments that describe the variables which are in the local memory of a function according to the debug
 * information. */
static void put_memory(struct annotating *an, struct text body, struct lw_sink *out)
{
    struct text depot = {find(body, "__local_depot"), body.end};
    size_t size = 0;

    while (depot.at != NULL && depot.at + size < depot.end && is_word(depot.at[size]))
        size++;
    for (size_t i = 0; i < an->memory.count && size != 0; i++) {
        const struct ptx_memory_variable *v = &an->memory.at[i], *named = v;
        struct lw_buffer key;

        if ((size_t)(v->depot.end - v->depot.at) != size || memcmp(v->depot.at, depot.at, size) != 0)
            continue;
        for (size_t k = 0; k < an->memory.count && v->origin != 0 && named == v; k++)
            if (an->memory.at[k].entry == v->origin)
                named = &an->memory.at[k];
        lw_buffer_init(&key);
        lw_printf(&key.sink, "//lw.value %s %u ", lw_buffer_text(&named->name), (unsigned)named->declared);
        if (named->name.size != 0 && !key.is_cut)
            put_lines(an, (struct text){key.text, key.text + key.size}, named->name.text, true, out);
        lw_buffer_fini(&key);
    }
}

/* Writes a function's body, in which comments with values replace the comments of clang. */
static void put_body(struct annotating *an, const struct machine_function *fn, struct text body, struct lw_sink *out)
{
    struct text values = fn != NULL ? fn->body : (struct text){NULL, NULL};
    struct ptx_dump_calls dump = {.at = values.at, .end = values.end};
    struct lw_buffer in_memory;

    an->name_count = 0;
    lw_buffer_init(&in_memory);

    const bool has_memory = find(body, "__local_depot") != NULL;
    const bool aligned = fn != NULL && count_lines(body, is_comment) == count_lines(values, is_debug_value);
    const bool matched = aligned && match_registers(an, fn, body), has_calls = aligned && find(values, " @[ ") != NULL;

    if (has_memory && matched)
        ptx_memory_names_put(fn->body, &in_memory);
    an->failed |= in_memory.is_cut;
    if (matched)
        put_lost_parameters(an, fn, body, out);
    if (an->sources != NULL)
        put_memory(an, body, out);
    if (matched)
        lw_put(out, lw_buffer_text(&an->initialisers));
    while (body.at < body.end) {
        struct text whole = take_line(&body), line = whole;

        if (has_calls)
            enter_block(&dump, line);
        skip_blanks(&line);
        if (is_comment(line)) {
            struct lw_buffer comment;
            struct text value = {0};

            line.at += 15;
            lw_buffer_init(&comment);
            while (aligned && values.at < values.end) {
                value = take_line(&values);
                skip_blanks(&value);
                if (is_debug_value(value))
                    break;
            }
            ptx_dump_passes(&dump, values.at);
            if (matched && put_value(an, value, comment_name(line), &comment.sink) &&
                comment.text != NULL && !comment.is_cut) {
                if (put_lines(an, (struct text){comment.text, comment.text + comment.size}, comment_name(line).at,
                              ptx_memory_names_have(&in_memory, comment_name(line)), out))
                    lw_printf(out, "\t%s", comment.text);
                else /* a value cannot be compared with the source */
                    lw_printf(out, "\t%.*s() none", (int)strcspn(comment.text, "("), comment.text);
            }
            lw_buffer_fini(&comment);
            lw_put(out, "\n");
        } else if (!has_calls || !put_location(&dump, line, out)) {
            put_line(whole, out);
        }
    }
    lw_buffer_fini(&in_memory);
}

void ptx_values_annotate(char **ptx, size_t *size, const char *dump, size_t dump_size, struct ptx_sources *sources)
{
    struct annotating an = {.sources = sources};
    struct text rest = {*ptx, *ptx + *size}, head = rest;
    struct lw_buffer out;
    size_t next = 0;

    lw_buffer_init(&an.initialisers);
    for (size_t i = 0; sources != NULL && i < sources->count; i++)
        if (strcmp(sources->files[i].path, sources->files[0].path) == 0)
            ptx_assigned_initialisers(ptx_sources_prepare(sources, &sources->files[i]), sources, &sources->files[i], &an.initialisers.sink);
    find_functions(&an, (struct text){dump, dump + dump_size});
    an.failed |= !ptx_memory_variables_read(&an.memory, rest);
    lw_buffer_init(&out);
    while (rest.at < rest.end) {
        struct text line = take_line(&rest);

        if (line.end - line.at == 1 && *line.at == '{') {
            const struct machine_function *fn = NULL;
            struct text name = name_of((struct text){head.at, line.at}), body = {rest.at, rest.at};

            for (size_t i = next; i < an.function_count && fn == NULL; i++)
                if (same_name(an.functions[i].name, name)) {
                    fn = &an.functions[i];
                    next = i + 1;
                }
            while (rest.at < rest.end) {
                struct text inner = take_line(&rest);

                body.end = rest.at;
                if (inner.end - inner.at >= 1 && *inner.at == '}')
                    break;
            }
            lw_put(&out.sink, "{\n");
            put_body(&an, fn, body, &out.sink);
            head.at = rest.at;
        } else {
            put_line(line, &out.sink);
        }
    }
    if (out.text != NULL && !out.is_cut && !an.failed) {
        free(*ptx);
        *ptx = out.text;
        *size = out.size;
        out.text = NULL;
    }
    lw_buffer_fini(&out);
    for (unsigned c = 0; c < CLASS_COUNT; c++) {
        free(an.virtual[c].at);
        free(an.narrowed[c].at);
        free(an.physical[c].at);
    }
    ptx_memory_variables_free(&an.memory);
    lw_buffer_fini(&an.initialisers);
    free(an.functions);
    free(an.names);
}
