/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Handles a launch described by options: `--grid 64 --block 256 --arg n=1024 --arg out=f32[16384]`. The options are
 * converted to the text of a launch file, which is then read like any launch file, so errors and defaults are the same.
 * The option from which each line of the text was made is recorded, and error messages name it instead of the line.
 */
#include "launch/lnc_direct_priv.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* Grids and blocks that are suggested if no size is given, for a kernel of 1, 2 and 3 dimensions (lnc_kernel_dimensions).
 * The suggested launches have 1024, 1024 and 512 threads in all. */
static const char *const suggested_grid[] = {"4", "2,2", "2,2,2"}, *const suggested_block[] = {"256", "16,16", "4,4,4"};
enum { THREADS = 1024, NAME_BYTES = 80, MESSAGE_BYTES = 420, PROGRAM_HINT_BYTES = 240 };

/** Returns true if the text of a C++ source seems to define main(). */
static bool has_main(const char *text)
{
    const char *at = text;

    while ((at = strstr(at, "main")) != NULL) {
        const char *line = at, *after = at + strlen("main");

        while (line != text && line[-1] != '\n')
            line--;
        line += strspn(line, " \t");
        after += strspn(after, " \t");
        if (*after == '(' && at != line && (at[-1] == ' ' || at[-1] == '\t') && strncmp(line, "//", 2) != 0 && *line != '*')
            return true;
        at++;
    }
    return false;
}

/** Writes how to run the whole program to @out, if the source is a CUDA program with a main(); otherwise an empty text. */
static void put_program_hint(const struct lnc_directing *t, char *out, size_t size)
{
    const char *source = t->d->source, *dot = strrchr(source, '.');
    char *text = NULL;
    size_t bytes;

    *out = '\0';
    if (dot == NULL || strcmp(dot, ".cu") != 0 || lw_file_read(source, &text, &bytes, NULL) != LW_OK)
        return;
    if (has_main(text))
        snprintf(out, size, "; to run the whole program with its main(): \"lanewise cc %s -o program\", then \"lanewise app ./program\"",
                 strlen(source) < PROGRAM_HINT_BYTES / 2 ? source : "SOURCE.cu");
    free(text);
}

/* ---- the kernel and its parameters ---------------------------------------------------- */

static enum lw_status choose_kernel(struct lnc_directing *t, const struct isa_object *object)
{
    struct lw_buffer names;
    unsigned kernels = 0;
    enum lw_status status;
    char room[ISA_SYMBOL_BYTES], hint[PROGRAM_HINT_BYTES];

    if (t->d->entry != NULL) {
        status = lnc_kernel_named(object, t->d->source, t->d->entry, &t->kernel, t->err);
        /* LW_ENOENT means that there is no such kernel, because the file has been read. */
        return status == LW_ENOENT ? lw_error_prefix(t->err, "--entry") : status;
    }
    lw_buffer_init(&names);
    for (unsigned i = 0; i < object->function_count; i++) {
        const struct isa_function *f = &object->functions[i];

        if (!f->kernel)
            continue;
        t->kernel = f;
        kernels++;
        if (names.size < 200)
            lw_printf(&names.sink, "%s%s", names.size != 0 ? ", " : "", isa_symbol_text(f->name, room));
        else if (names.text[names.size - 1] != '.')
            lw_put(&names.sink, ", ...");
    }
    put_program_hint(t, hint, sizeof hint);
    if (kernels == 0)
        status = LW_FAIL(t->err, LW_ENOENT, "%s: the file has no kernel; a kernel is " LNC_KERNEL_WORDS
                         ", a .kernel in assembly%s", t->d->source, hint);
    else if (kernels != 1)
        status = LW_FAIL(t->err, LW_EUSAGE, "%s has %u kernels: choose one with --entry NAME: %s%s",
                         t->d->source, kernels,
                         names.text != NULL ? names.text : "", hint);
    else
        status = LW_OK;
    lw_buffer_fini(&names);
    return status;
}

enum lw_status lnc_direct_no_memory(const struct lnc_directing *t)
{
    return LW_FAIL(t->err, LW_ENOMEM, "the host has no memory for the launch of %s", t->d->source);
}

/** Context of find_member() and put_member(), which visit the members of a structure. */
struct members {
    struct lnc_members base; /* must be the first member, because the functions get a pointer to it */
    struct lnc_directing *t;
    struct lnc_slot *slots; /* slots of the members; NULL: the members are only counted */
    const char *prefix;     /* the parameter's name */
    unsigned count;
};

static bool find_member(struct lnc_members *base, const char *path, int64_t type, const struct lnc_element *element,
                        struct lw_sink *out)
{
    struct members *m = (struct members *)(void *)base;
    const bool pointer = type != ISA_NO_DIE && isa_tag_is_pointer(m->t->described->debug->dies[type].tag);
    const unsigned nth = m->count++;
    struct isa_param *param;

    (void)out;
    if (m->slots == NULL)
        return true;
    param = lw_arena_alloc(base->arena, sizeof *param);
    if (param == NULL)
        return false;
    *param = (struct isa_param){.kind = pointer ? ISA_PARAM_POINTER : element->type[0] == 'f' ? ISA_PARAM_FLOAT : ISA_PARAM_INTEGER,
                                .space = ISA_SPACE_GENERIC,
                                .size_bytes = (uint32_t)(element->count * lnc_element_bytes(element))};
    m->slots[nth] = (struct lnc_slot){.param = param, .type = type, .member = *element,
                                      .name = lw_arena_printf(base->arena, "%s.%s", m->prefix, path)};
    return m->slots[nth].name != NULL;
}

static bool put_member(struct lnc_members *base, const char *path, int64_t type, const struct lnc_element *element,
                       struct lw_sink *out)
{
    struct members *m = (struct members *)(void *)base;
    const struct lnc_slot *s = &m->slots[m->count++];

    (void)path, (void)type, (void)element;
    if (s->argument[0] == '{')
        lw_put(out, s->argument);
    else
        lnc_put_word(s->argument, out);
    return true;
}

/** Calls @put for each member of parameter @s. @slots: slots of the members; NULL: members are only counted. Returns the
 *  number of members; 0: @s is not a structure, or launch files have no form for it. */
static unsigned walk_members(struct lnc_directing *t, const struct lnc_slot *s, struct lnc_slot *slots,
                             bool (*put)(struct lnc_members *, const char *, int64_t, const struct lnc_element *,
                                         struct lw_sink *),
                             struct lw_sink *out, struct lw_sink *names)
{
    const struct isa_debug *debug = t->described->debug;
    const int64_t plain = s->type != ISA_NO_DIE ? isa_type_plain(debug, s->type, NULL) : ISA_NO_DIE;
    struct members m = {.base = {put, &t->file->arena}, .t = t, .slots = slots, .prefix = s->name};

    if (s->name == NULL || !lnc_is_structure(debug, plain) ||
        !lnc_structure_put(debug, plain, s->param->size_bytes, &m.base, out, names))
        return 0;
    return m.count;
}

/** Appends slots for the members of all parameters that are structures to the slots of the parameters. */
static enum lw_status find_members(struct lnc_directing *t)
{
    struct lw_buffer none;
    struct lnc_slot *all;
    enum lw_status status = LW_OK;

    lw_buffer_init(&none);
    t->total = t->count;
    for (unsigned i = 0; i < t->count; i++) {
        struct lnc_slot *s = &t->slots[i];

        s->first = t->total;
        s->members = walk_members(t, s, NULL, find_member, &none.sink, &none.sink);
        t->total += s->members;
    }
    all = lw_arena_alloc(&t->file->arena, (t->total + 1) * sizeof *all);
    if (all == NULL) {
        lw_buffer_fini(&none);
        return lnc_direct_no_memory(t);
    }
    memcpy(all, t->slots, t->count * sizeof *all);
    t->slots = all;
    for (unsigned i = 0; i < t->count && status == LW_OK; i++) {
        struct lnc_slot *s = &t->slots[i];
        struct lnc_element element;

        if (s->members == 0)
            continue;
        if (walk_members(t, s, &all[s->first], find_member, &none.sink, &none.sink) != s->members)
            status = lnc_direct_no_memory(t);
        lnc_element_of(t->described->debug, s->type, &element);
        s->is_array = strcmp(element.type, "u8") != 0;
    }
    lw_buffer_fini(&none);
    return status;
}

/** Sets the argument of each structure for which the options give the members. */
static enum lw_status join_members(struct lnc_directing *t)
{
    enum lw_status status = LW_OK;

    for (unsigned i = 0; i < t->count && status == LW_OK; i++) {
        struct lnc_slot *s = &t->slots[i];
        struct lnc_text text, names;

        if (s->value != NULL || !lnc_slot_by_members(t, s))
            continue;
        lnc_text_init(&text);
        lnc_text_init(&names);
        if (walk_members(t, s, &t->slots[s->first], put_member, &text.sink, &names.sink) == s->members && !text.lost &&
            !names.lost) {
            s->argument = lw_arena_strdup(&t->file->arena, text.buffer.text);
            s->names = lw_arena_strdup(&t->file->arena, names.buffer.text);
            s->option = lw_arena_printf(&t->file->arena, "--arg %s....", s->name);
        }
        if (s->argument == NULL || s->names == NULL || s->option == NULL)
            status = lnc_direct_no_memory(t);
        lnc_text_fini(&text);
        lnc_text_fini(&names);
    }
    return status;
}

bool lnc_slot_by_members(const struct lnc_directing *t, const struct lnc_slot *s)
{
    for (unsigned i = 0; i < s->members; i++)
        if (t->slots[s->first + i].value != NULL)
            return true;
    return false;
}

/** Returns the index of slot number @nth in the order of the source, in which each structure parameter is followed by its
 *  members. */
static unsigned ordered(const struct lnc_directing *t, unsigned nth)
{
    for (unsigned i = 0; i < t->count; i++) {
        if (nth == 0)
            return i;
        if (nth <= t->slots[i].members)
            return t->slots[i].first + nth - 1;
        nth -= 1 + t->slots[i].members;
    }
    return 0;
}

/** Returns true if the options give no value for slot @index, although one is needed. A structure that is not given as a
 *  whole needs no value itself: its members do. */
static bool is_missing(const struct lnc_directing *t, unsigned index)
{
    const struct lnc_slot *s = &t->slots[index];

    if (s->value != NULL)
        return false;
    if (index < t->count)
        return s->members == 0 || (s->is_array && !lnc_slot_by_members(t, s));
    for (unsigned i = 0; i < t->count; i++)
        if (index >= t->slots[i].first && index < t->slots[i].first + t->slots[i].members)
            return t->slots[i].value == NULL && !is_missing(t, i);
    return false;
}

static enum lw_status find_slots(struct lnc_directing *t)
{
    const int64_t die = lnc_described_kernel(t->described, t->kernel);

    if (lnc_has_image(t->described, t->kernel))
        return LW_FAIL(t->err, LW_EUNSUPP,
                       "%s: kernel %s has an image as a parameter, which only an OpenCL program can create: run the program with "
                       "\"lanewise app\"", t->d->source, t->kernel->name);
    t->count = t->kernel->param_count;
    t->slots = lw_arena_alloc(&t->file->arena, (t->count + 1) * sizeof *t->slots);
    if (t->slots == NULL)
        return lnc_direct_no_memory(t);
    for (unsigned i = 0; i < t->count; i++) {
        struct lnc_slot *s = &t->slots[i];
        const int64_t param = die != ISA_NO_DIE ? isa_function_parameter(t->described->debug, die, i) : ISA_NO_DIE;

        *s = (struct lnc_slot){.param = &t->kernel->params[i], .type = ISA_NO_DIE};
        if (param != ISA_NO_DIE) {
            s->name = isa_die_name(t->described->debug, (uint32_t)param);
            s->type = isa_die_type(t->described->debug, (uint32_t)param);
        }
        if (s->name == NULL)
            s->name = s->param->name;
    }
    return find_members(t);
}

bool lnc_slot_element(const struct lnc_directing *t, const struct lnc_slot *s, struct lnc_element *out)
{
    const struct isa_debug *debug = t->described->debug;
    const int64_t plain = s->type != ISA_NO_DIE ? isa_type_plain(debug, s->type, NULL) : ISA_NO_DIE;

    if (plain == ISA_NO_DIE || !isa_tag_is_pointer(debug->dies[plain].tag))
        return false;
    lnc_element_of(debug, isa_die_type(debug, (uint32_t)plain), out);
    return true;
}

bool lnc_slot_is_local(const struct lnc_slot *s)
{
    return s->param->kind == ISA_PARAM_POINTER && s->param->space == ISA_SPACE_SHARED;
}

bool lnc_slot_is_pointer(const struct lnc_directing *t, const struct lnc_slot *s)
{
    const int64_t plain = s->type != ISA_NO_DIE ? isa_type_plain(t->described->debug, s->type, NULL) : ISA_NO_DIE;

    return s->param->kind == ISA_PARAM_POINTER ||
           (plain != ISA_NO_DIE && isa_tag_is_pointer(t->described->debug->dies[plain].tag));
}

void lnc_slot_put_words(const struct lnc_directing *t, const struct lnc_slot *s, struct lw_sink *out)
{
    const struct isa_param *p = s->param;

    if (s->type != ISA_NO_DIE) {
        lw_put(out, lnc_slot_is_local(s) ? "__local " : "");
        lnc_type_put(t->described->debug, s->type, out);
    } else if (p->kind == ISA_PARAM_POINTER)
        lw_put(out, lnc_slot_is_local(s) ? "__local memory" : "a pointer");
    else if (p->kind == ISA_PARAM_FLOAT)
        lw_put(out, p->size_bytes == 8 ? "a double" : "a float");
    else
        lw_printf(out, "%s of %u byte%s", p->kind == ISA_PARAM_INTEGER ? "an integer" : "a value", p->size_bytes,
                  p->size_bytes == 1 ? "" : "s");
}

/** Computes the number of threads in each dimension from the sizes that the options give, or from suggested sizes if they
 *  give none. */
static void threads_by_dimension(const struct lnc_directing *t, uint64_t threads[3])
{
    const struct lnc_direct *d = t->d;
    const unsigned dimensions = lnc_kernel_dimensions(t->file->object, t->kernel);
    const bool required = d->block == NULL && d->global == NULL && t->kernel->required_block[0] != 0;
    const char *texts[2] = {d->global != NULL ? d->global : d->grid != NULL ? d->grid : suggested_grid[dimensions - 1],
                            d->global != NULL || required ? "1" : d->block != NULL ? d->block : suggested_block[dimensions - 1]};

    for (unsigned i = 0; i < 3; i++)
        threads[i] = required && t->kernel->required_block[i] != 0 ? t->kernel->required_block[i] : 1;
    for (unsigned i = 0; i < 2; i++) {
        const char *text = texts[i];
        char *end;

        for (unsigned k = 0; k < 3 && isdigit((unsigned char)*text); k++, text = *end != '\0' ? end + 1 : end) {
            const uint64_t n = strtoull(text, &end, 10);

            threads[k] = n == 0 || n > UINT32_MAX || threads[k] * n > UINT32_MAX ? THREADS : threads[k] * n;
        }
    }
}

/** Returns the number of threads of the grid, which is also the number of elements that messages suggest for a buffer. */
static uint64_t threads_of(const struct lnc_directing *t)
{
    uint64_t threads[3], product = 1;

    threads_by_dimension(t, threads);
    for (unsigned i = 0; i < 3; i++)
        product = product > (UINT64_C(1) << 32) / threads[i] ? THREADS : product * threads[i];
    return product;
}

/** Returns a suggested integer argument. In a kernel of one dimension, an integer usually is the number of a buffer's
 *  elements. With several dimensions, an integer usually is the number of rows or columns of a matrix, for which the size of
 *  the smallest dimension is safe. */
static uint64_t suggested_integer(const struct lnc_directing *t)
{
    uint64_t threads[3], least = 0;

    if (lnc_kernel_dimensions(t->file->object, t->kernel) == 1)
        return threads_of(t);
    threads_by_dimension(t, threads);
    for (unsigned i = 0; i < 3; i++)
        if (threads[i] != 1 && (least == 0 || threads[i] < least))
            least = threads[i];
    return least != 0 ? least : 1;
}

/** Prints the name of the type to which a pointer of type @pointer points, such as "float4", if options accept this name
 *  for @element. Returns true if the name was printed. */
static bool put_vector_name(const struct isa_debug *debug, int64_t pointer, const struct lnc_element *element,
                            struct lw_sink *out)
{
    const struct lnc_type *type = NULL;
    struct lw_buffer words;
    uint64_t each = 0;

    if (element->count == 1 || pointer == ISA_NO_DIE)
        return false;
    lw_buffer_init(&words);
    lnc_type_put(debug, isa_die_type(debug, (uint32_t)pointer), &words.sink);
    if (words.text != NULL) {
        const char *name = strncmp(words.text, "const ", 6) == 0 ? words.text + 6 : words.text;

        type = lnc_direct_type(name, strlen(name), &each);
        if (type != NULL && strcmp(type->name, element->type) == 0 && each == element->count)
            lw_put(out, name);
        else
            type = NULL;
    }
    lw_buffer_fini(&words);
    return type != NULL;
}

void lnc_slot_example(const struct lnc_directing *t, unsigned index, struct lw_sink *out)
{
    const struct lnc_slot *s = &t->slots[index];
    const int64_t plain = s->type != ISA_NO_DIE ? isa_type_plain(t->described->debug, s->type, NULL) : ISA_NO_DIE;
    struct lnc_element element = {.type = "f32", .count = 1};

    lw_put(out, "--arg ");
    if (s->name != NULL)
        lw_printf(out, "%s=", s->name);
    if (lnc_slot_is_pointer(t, s)) {
        if (plain != ISA_NO_DIE)
            lnc_element_of(t->described->debug, isa_die_type(t->described->debug, (uint32_t)plain), &element);
        if (element.type[0] == '\0')
            element = (struct lnc_element){.type = "u8", .count = element.count};
        if (lnc_slot_is_local(s))
            lw_put(out, "local[1024]");
        else if (put_vector_name(t->described->debug, plain, &element, out))
            lw_printf(out, "[%" PRIu64 "]", threads_of(t));
        else
            lw_printf(out, "%s[%" PRIu64 "]", element.type, threads_of(t) * element.count);
        return;
    }
    if (plain != ISA_NO_DIE)
        lnc_element_of(t->described->debug, plain, &element);
    else
        snprintf(element.type, sizeof element.type, "%s", s->param->kind == ISA_PARAM_FLOAT ? "f32" : "u8");
    if (s->param->size_bytes <= 8 && element.count == 1) {
        if (element.type[0] == 'f')
            lw_put(out, "1.5");
        else if (s->param->size_bytes < 4)
            lw_put(out, "1");
        else
            lw_printf(out, "%" PRIu64, suggested_integer(t) < INT32_MAX ? suggested_integer(t) : (uint64_t)INT32_MAX);
        return;
    }
    if (plain == ISA_NO_DIE || element.count > 4 || strcmp(element.type, "u8") == 0 || element.type[0] == '\0') {
        lw_put(out, "0"); /* the parameter is a structure: suggests all zeros */
        return;
    }
    lw_printf(out, "%s:0", element.type);
    for (uint64_t i = 1; i < element.count; i++)
        lw_put(out, ",0");
}

/** Fails with one message that names all missing options. @grid, @block: the size of the grid, or of a block, is
 *  missing. */
static enum lw_status refuse_missing(const struct lnc_directing *t, bool grid, bool block)
{
    const unsigned dimensions = lnc_kernel_dimensions(t->file->object, t->kernel);
    char room[ISA_SYMBOL_BYTES], hint[PROGRAM_HINT_BYTES];
    struct lw_buffer types, options;
    unsigned missing = 0, left = 0;
    enum lw_status status;

    put_program_hint(t, hint, sizeof hint);
    lw_buffer_init(&types);
    lw_buffer_init(&options);
    if (grid)
        lw_printf(&options.sink, " --grid %s", suggested_grid[dimensions - 1]);
    if (block)
        lw_printf(&options.sink, " --block %s", suggested_block[dimensions - 1]);
    for (unsigned nth = 0; nth < t->total; nth++) {
        const unsigned i = ordered(t, nth);

        if (!is_missing(t, i))
            continue;
        missing++;
        if (types.size + options.size > MESSAGE_BYTES - 120 - strlen(hint) / 2) {
            left++;
            continue;
        }
        lw_printf(&types.sink, "%s%s%s", missing != 1 ? ", " : "", t->slots[i].name != NULL ? t->slots[i].name : "",
                  t->slots[i].name != NULL ? " (" : "");
        lnc_slot_put_words(t, &t->slots[i], &types.sink);
        lw_put(&types.sink, t->slots[i].name != NULL ? ")" : "");
        lw_put(&options.sink, " ");
        lnc_slot_example(t, i, &options.sink);
    }
    if (left != 0)
        lw_printf(&types.sink, " and %u more", left);
    status = LW_FAIL(t->err, LW_EUSAGE, "%s: to launch %s, also give %s%s%s%s, for example%s%s%s", t->d->source,
                     isa_symbol_text(t->kernel->name, room), grid && block ? "a grid and a block"
                     : grid ? "a grid" : block ? "a block" : "",
                     missing != 0 && (grid || block) ? ", and " : "",
                     missing == 0 ? "" : missing == 1 ? "the argument " : "the arguments ",
                     types.text != NULL ? types.text : "", options.text != NULL ? options.text : "",
                     grid && block && t->d->arg_count == 0 ? ", or write a launch file with \"lanewise template\"" : "", hint);
    lw_buffer_fini(&types);
    lw_buffer_fini(&options);
    return status;
}

static enum lw_status check_complete(const struct lnc_directing *t)
{
    const bool grid = t->d->grid == NULL && t->d->global == NULL;
    const bool block = t->d->block == NULL && t->kernel->required_block[0] == 0;
    bool missing = grid || block;

    for (unsigned i = 0; i < t->total; i++)
        missing |= is_missing(t, i);
    return missing ? refuse_missing(t, grid, block) : LW_OK;
}

/* ---- options to parameters ------------------------------------------------------------- */

/** Returns the length of the name before the "=" in an operand such as "n=1024"; 0: the operand is a value without a name. */
static size_t name_size(const char *arg)
{
    size_t n = 0;

    if (!isalpha((unsigned char)*arg) && *arg != '_' && *arg != '$')
        return 0;
    while (isalnum((unsigned char)arg[n]) || arg[n] == '_' || arg[n] == '$' || arg[n] == '.')
        n++;
    return arg[n] == '=' ? n : 0;
}

struct lnc_slot *lnc_slot_named(const struct lnc_directing *t, const char *name, size_t size)
{
    for (unsigned i = 0; i < t->total; i++) {
        const struct lnc_slot *s = &t->slots[i];

        if ((s->name != NULL && strlen(s->name) == size && memcmp(s->name, name, size) == 0) ||
            (s->param->name != NULL && strlen(s->param->name) == size && memcmp(s->param->name, name, size) == 0))
            return &t->slots[i];
    }
    return NULL;
}

static enum lw_status refuse_name(const struct lnc_directing *t, const char *arg, size_t size)
{
    char room[ISA_SYMBOL_BYTES], name[NAME_BYTES];
    const char *near = NULL;
    struct lw_buffer names;
    enum lw_status status;

    snprintf(name, sizeof name, "%.*s", (int)size, arg);
    lw_buffer_init(&names);
    for (unsigned nth = 0; nth < t->total; nth++) {
        const unsigned i = ordered(t, nth);

        if (t->slots[i].name == NULL || (t->slots[i].members != 0 && !t->slots[i].is_array))
            continue;
        if (near == NULL && lw_suggest(name, &t->slots[i].name, 1, sizeof t->slots) != NULL)
            near = t->slots[i].name;
        if (names.size < 200)
            lw_printf(&names.sink, "%s%s", names.size != 0 ? ", " : "", t->slots[i].name);
    }
    if (near != NULL)
        status = LW_FAIL(t->err, LW_EUSAGE, "--arg %.60s: %s has no parameter \"%s\"; did you mean \"%s\"?", arg,
                         isa_symbol_text(t->kernel->name, room), name, near);
    else
        status = LW_FAIL(t->err, LW_EUSAGE, "--arg %.60s: %s has no parameter \"%s\"; %s%s", arg,
                         isa_symbol_text(t->kernel->name, room), name, names.size != 0 ? "it has " : "there are none",
                         names.text != NULL ? names.text : "");
    lw_buffer_fini(&names);
    return status;
}

static enum lw_status give(const struct lnc_directing *t, struct lnc_slot *s, const char *arg, const char *value)
{
    s->value = value;
    s->option = lw_arena_printf(&t->file->arena, "--arg %s", arg);
    return s->option != NULL ? LW_OK : lnc_direct_no_memory(t);
}

static enum lw_status refuse_surplus(const struct lnc_directing *t, const char *arg)
{
    char room[ISA_SYMBOL_BYTES];
    struct lw_buffer names;
    enum lw_status status;

    lw_buffer_init(&names);
    for (unsigned i = 0; i < t->count && names.size < 200; i++) {
        const struct lnc_slot *s = &t->slots[i];

        lw_printf(&names.sink, "%s%s%s", i == 0 ? ": " : ", ", s->name != NULL ? s->name : "", s->name != NULL ? " (" : "");
        lnc_slot_put_words(t, s, &names.sink);
        lw_put(&names.sink, s->name != NULL ? ")" : "");
    }
    status = LW_FAIL(t->err, LW_EUSAGE, "--arg %.100s: too many arguments: %s takes %u argument%s%s", arg,
                     isa_symbol_text(t->kernel->name, room), t->count, t->count == 1 ? "" : "s",
                     names.text != NULL ? names.text : "");
    lw_buffer_fini(&names);
    return status;
}

/** Assigns options to parameters: first the options with names. The other options fill the remaining parameters, in the
 *  kernel's order. */
static enum lw_status match_arguments(struct lnc_directing *t)
{
    enum lw_status status = LW_OK;
    unsigned next = 0;

    for (size_t i = 0; i < t->d->arg_count && status == LW_OK; i++) {
        const char *arg = t->d->args[i];
        const size_t size = name_size(arg);
        struct lnc_slot *s = size != 0 ? lnc_slot_named(t, arg, size) : NULL;
        bool whole = false;

        for (const char *c = arg; *c != '\0'; c++)
            if ((unsigned char)*c < ' ')
                return LW_FAIL(t->err, LW_EUSAGE, "--arg: remove the control character in \"%.*s\"",
                               (int)(c - arg), arg);
        if (size == 0)
            continue;
        if (s == NULL)
            return refuse_name(t, arg, size);
        for (unsigned k = 0; k < t->count; k++) /* looks for a structure that is given as a whole and has s as a member */
            whole |= t->slots[k].value != NULL && s >= &t->slots[t->slots[k].first] &&
                     s < &t->slots[t->slots[k].first] + t->slots[k].members;
        if (s->value != NULL || whole || lnc_slot_by_members(t, s))
            return LW_FAIL(t->err, LW_EUSAGE, "--arg %.100s: \"%.*s\" is given twice", arg, (int)size, arg);
        status = give(t, s, arg, arg + size + 1);
    }
    for (size_t i = 0; i < t->d->arg_count && status == LW_OK; i++) {
        if (name_size(t->d->args[i]) != 0)
            continue;
        while (next < t->count && (t->slots[next].value != NULL || lnc_slot_by_members(t, &t->slots[next])))
            next++;
        if (next == t->count)
            return refuse_surplus(t, t->d->args[i]);
        status = give(t, &t->slots[next], t->d->args[i], t->d->args[i]);
    }
    return status;
}

/* ---- the text ----------------------------------------------------------------------------- */

/** Writes sizes such as "64", "64,4" or "64x4" in the form of launch files: "[64]" or "[64, 4]". */
static enum lw_status put_size(const struct lnc_directing *t, const char *option, const char *text, struct lw_sink *out)
{
    const char *from = text;
    unsigned count = 0;

    lw_put(out, "[");
    for (;;) {
        const bool hex = from[0] == '0' && (from[1] == 'x' || from[1] == 'X') && isxdigit((unsigned char)from[2]) && from != text;
        const size_t n = hex ? 2 + strspn(from + 2, "0123456789abcdefABCDEF") : strspn(from, "0123456789");

        if (n == 0 || ++count > 3 || (from[n] != '\0' && from[n] != ',' && from[n] != 'x'))
            return LW_FAIL(t->err, LW_EUSAGE, "--%s %.60s: expected one to three numbers, such as 64, 64,4 or 64x4x2", option,
                           text);
        lw_printf(out, "%.*s", (int)n, from);
        if (from[n] == '\0')
            break;
        lw_put(out, ", ");
        from += n + 1;
    }
    lw_put(out, "]");
    return LW_OK;
}

/** Checks the form of all sizes, before threads_by_dimension() uses them. */
static enum lw_status check_sizes(const struct lnc_directing *t)
{
    const struct lnc_direct *d = t->d;
    const struct {
        const char *key, *value;
    } sizes[] = {{"grid", d->grid}, {"global", d->global}, {"block", d->block}, {"offset", d->offset}};
    enum lw_status status = LW_OK;
    struct lw_buffer text;

    lw_buffer_init(&text);
    for (unsigned i = 0; i < LW_COUNT_OF(sizes) && status == LW_OK; i++)
        if (sizes[i].value != NULL)
            status = put_size(t, sizes[i].key, sizes[i].value, &text.sink);
    lw_buffer_fini(&text);
    return status;
}

/** Ends a line of the text, and records that it was made from @option. */
static void end_line(const struct lnc_directing *t, const char *option, struct lw_sink *out)
{
    lw_put(out, "\n");
    if (t->file->place_count < LW_COUNT_OF(t->file->places))
        t->file->places[t->file->place_count++] = option;
}

/** Writes the text of the launch file. @here: prefix for relative names if the launch file is saved in another folder;
 *  otherwise "". */
static enum lw_status put_text(struct lnc_directing *t, const char *here, struct lw_sink *out)
{
    const struct lnc_direct *d = t->d;
    const struct {
        const char *key, *value;
    } sizes[] = {{"grid", d->grid}, {"global", d->global}, {"block", d->block}, {"offset", d->offset}};
    const char *source = lw_arena_printf(&t->file->arena, "%s%s", *d->source != '/' ? here : "", d->source);
    const char **flags = lw_arena_alloc(&t->file->arena, (d->flag_count + 1) * sizeof *flags);
    enum lw_status status = LW_OK;
    bool buffers = false;

    if (source == NULL || flags == NULL)
        return lnc_direct_no_memory(t);
    if (d->flag_count != 0)
        memcpy(flags, d->flags, d->flag_count * sizeof *flags);
    if (!lnc_options_relocate(flags, d->flag_count, "", here, &t->file->arena))
        return lnc_direct_no_memory(t);
    t->file->place_count = 0;
    lw_put(out, "program: {source: ");
    lnc_put_word(source, out);
    for (size_t i = 0; i < d->flag_count; i++) {
        lw_put(out, i == 0 ? ", options: [" : ", ");
        lnc_put_word(flags[i], out);
    }
    lw_put(out, d->flag_count != 0 ? "]" : "");
    if (d->compiler != NULL) {
        lw_put(out, ", compiler: ");
        lnc_put_word(d->compiler, out);
    }
    lw_put(out, d->keep_values ? ", values: kept" : "");
    lw_put(out, d->lat_barriers ? ", lat_barriers: true}" : "}");
    end_line(t, d->source, out);
    for (unsigned nth = 0; nth < t->total; nth++) {
        const unsigned i = ordered(t, nth);

        if (t->slots[i].buffer == NULL)
            continue;
        if (!buffers) {
            lw_put(out, "buffers:");
            end_line(t, d->source, out);
        }
        buffers = true;
        lw_put(out, "  ");
        lnc_put_word(t->slots[i].buffer, out);
        lw_put(out, ": ");
        lw_put(out, *here != '\0' ? t->slots[i].elsewhere : t->slots[i].declared);
        end_line(t, t->slots[i].option, out);
    }
    lw_put(out, "steps:");
    end_line(t, d->source, out);
    lw_put(out, "  - launch:");
    end_line(t, d->source, out);
    lw_put(out, "      entry: ");
    lnc_put_word(t->entry, out);
    end_line(t, "--entry", out);
    for (unsigned i = 0; i < LW_COUNT_OF(sizes) && status == LW_OK; i++) {
        const char *option = lw_arena_printf(&t->file->arena, "--%s %.80s", sizes[i].key,
                                             sizes[i].value != NULL ? sizes[i].value : "");

        if (option == NULL)
            return lnc_direct_no_memory(t);
        if (sizes[i].value == NULL && !(i == 2 && t->kernel->required_block[0] != 0))
            continue;
        lw_printf(out, "      %s: ", sizes[i].key);
        if (sizes[i].value != NULL)
            status = put_size(t, sizes[i].key, sizes[i].value, out);
        else /* the block size for which the kernel was compiled */
            lw_printf(out, "[%u, %u, %u]", t->kernel->required_block[0], t->kernel->required_block[1],
                      t->kernel->required_block[2]);
        end_line(t, option, out);
    }
    if (d->shared != NULL && status == LW_OK) {
        uint64_t bytes;

        if (!lw_parse_u64(d->shared, &bytes) || bytes > UINT32_MAX)
            status = LW_FAIL(t->err, LW_EUSAGE, "--shared %.60s: expected a number of bytes", d->shared);
        lw_printf(out, "      shared: %s", d->shared);
        end_line(t, "--shared", out);
    }
    lw_put(out, t->count != 0 ? "      args:" : "      args: []");
    end_line(t, d->source, out);
    for (unsigned i = 0; i < t->count; i++) {
        lw_put(out, "        - ");
        if (t->slots[i].buffer != NULL || isalpha((unsigned char)t->slots[i].argument[0]) || t->slots[i].argument[0] == '_')
            lnc_put_word(t->slots[i].argument, out);
        else
            lw_put(out, t->slots[i].argument);
        if (t->slots[i].names != NULL)
            lw_printf(out, " # %s", t->slots[i].names);
        end_line(t, t->slots[i].option, out);
    }
    for (size_t i = 0; i < d->expect_count && status == LW_OK; i++) {
        const char *option = lw_arena_printf(&t->file->arena, "--expect %s", d->expects[i]);

        if (option == NULL)
            return lnc_direct_no_memory(t);
        lw_put(out, "  - check: ");
        status = lnc_expect_put(t, d->expects[i], here, out);
        end_line(t, option, out);
    }
    for (unsigned nth = 0; nth < t->total && d->expect_count == 0; nth++) {
        const unsigned i = ordered(t, nth);
        struct lnc_element element = {.count = 1};

        lnc_slot_element(t, &t->slots[i], &element);
        if (t->slots[i].buffer == NULL || element.is_const)
            continue;
        lnc_check_comment_put(t->slots[i].buffer, t->slots[i].element, out); /* these lines are last, because they have no
                                                                              * entry in file->places */
        break;
    }
    return status;
}

void lnc_direct_location(const struct lnc_file *file, struct lw_error *err)
{
    const char *name = file->doc != NULL ? lw_yaml_name(file->doc) : "";
    const size_t size = strlen(name);
    char rest[LW_ERROR_BYTES], *end;
    unsigned long line;

    if (file->place_count == 0 || err == NULL || strncmp(err->text, name, size) != 0 || err->text[size] != ':')
        return;
    line = strtoul(err->text + size + 1, &end, 10);
    if (line == 0 || line > file->place_count || *end != ':')
        return;
    snprintf(rest, sizeof rest, "%s", end + 1);
    snprintf(err->text, sizeof err->text, "%.120s:%.380s", file->places[line - 1], rest);
}

/** Loads the program, compiled as the options request. If its kernels have no source names, also compiles the source for a
 *  debugger, as *@described, which has them. */
static enum lw_status load_objects(const struct lnc_direct *d, struct lw_sink *words, struct isa_object **object,
                                   struct isa_object **described, struct lw_error *err)
{
    const char **flags = NULL;
    size_t count = 0;
    bool named = true;
    struct ptx_options translation;
    enum lw_status status;

    ptx_options_default(&translation);
    translation.keep_values = d->keep_values;
    translation.no_values = d->no_values;
    translation.lat_barriers = d->lat_barriers;
    status = lnc_object_load_as(d->source, d->flags, d->flag_count, d->compiler, &translation, words, object, err);

    if (status != LW_OK || !ptx_is_compiled(d->source))
        return status;
    for (unsigned i = 0; i < (*object)->function_count && named; i++)
        named = !(*object)->functions[i].kernel || lnc_described_kernel(*object, &(*object)->functions[i]) != ISA_NO_DIE;
    if (named || lnc_options_debug(d->source, d->compiler, d->flags, d->flag_count, &flags, &count, NULL) != LW_OK)
        return LW_OK;
    if (lnc_object_load_as(d->source, flags, count, d->compiler, NULL, NULL, described, NULL) != LW_OK)
        *described = NULL; /* without source names, options can give arguments only by position */
    free(flags);
    return LW_OK;
}

enum lw_status lnc_direct_load(const struct lnc_direct *d, struct emu_config *config, struct lw_sink *words,
                               struct lnc_file **out, struct lw_error *err)
{
    struct lnc_directing t = {.d = d, .err = err, .file = calloc(1, sizeof *t.file)};
    struct isa_object *described = NULL;
    struct lnc_text text, elsewhere;
    enum lw_status status;
    char room[ISA_SYMBOL_BYTES];
    const char *here = NULL, *name;
    unsigned found;

    if (t.file == NULL)
        return LW_FAIL(err, LW_ENOMEM, "the host has no memory for the launch of %s", d->source);
    lnc_text_init(&text);
    lnc_text_init(&elsewhere);
    lw_arena_init(&t.file->arena);
    status = check_sizes(&t);
    if (status == LW_OK && d->tolerance != NULL && d->expect_count == 0)
        status = LW_FAIL(err, LW_EUSAGE, "--tolerance is used only with --expect: add --expect");
    if (status == LW_OK)
        status = load_objects(d, words, &t.file->object, &described, err);
    if (status != LW_OK)
        goto cleanup;
    t.described = described != NULL ? described : t.file->object;
    status = choose_kernel(&t, t.file->object);
    if (status == LW_OK)
        status = find_slots(&t);
    if (status == LW_OK)
        status = match_arguments(&t);
    if (status == LW_OK && (here = lnc_way_back(d->save != NULL ? d->save : "", &t.file->arena)) == NULL)
        status = LW_FAIL(err, LW_EIO, "%s: cannot find the relative path from this file to the working folder: %s",
                         d->save, strerror(errno));
    t.entry = isa_symbol_text(t.kernel != NULL ? t.kernel->name : "", room);
    if (t.kernel != NULL && lnc_kernel_find(t.file->object, t.entry, &found) != t.kernel)
        t.entry = t.kernel->name; /* uses the symbol, because the readable name may not be unique, as for instances of a
                                   * template */
    for (unsigned i = 0; i < t.total && status == LW_OK; i++)
        if (t.slots[i].value != NULL)
            status = lnc_slot_read(&t, i, here);
    if (status == LW_OK)
        status = check_complete(&t);
    if (status == LW_OK)
        status = join_members(&t);
    if (status == LW_OK)
        status = put_text(&t, here, &elsewhere.sink);
    if (status == LW_OK)
        status = put_text(&t, "", &text.sink);
    if (status != LW_OK)
        goto cleanup;
    t.file->text = !text.lost ? lw_arena_strdup(&t.file->arena, text.buffer.text) : NULL;
    t.file->text_elsewhere = !elsewhere.lost ? lw_arena_strdup(&t.file->arena, elsewhere.buffer.text) : NULL;
    name = lw_arena_printf(&t.file->arena, "%s by options", d->source);
    if (t.file->text == NULL || t.file->text_elsewhere == NULL || name == NULL) {
        status = lnc_direct_no_memory(&t);
        goto cleanup;
    }
    status = lnc_file_read(t.file, name, "", t.file->text, text.buffer.size, config, err);
    if (status != LW_OK)
        lnc_direct_location(t.file, err);
cleanup:
    isa_object_destroy(described);
    lnc_text_fini(&text);
    lnc_text_fini(&elsewhere);
    if (status == LW_OK)
        *out = t.file;
    else
        lnc_file_destroy(t.file);
    return status;
}

enum lw_status lnc_file_save(const struct lnc_file *file, const char *path, struct lw_error *err)
{
    const char *text = file->text_elsewhere;
    char *old = NULL;
    size_t size = 0;
    bool same;

    if (access(path, F_OK) == 0) { /* a file with the same text is not an error, so that a command can be repeated */
        same = lw_file_read(path, &old, &size, NULL) == LW_OK && size == strlen(text) && memcmp(old, text, size) == 0;
        free(old);
        return same ? LW_OK
                    : LW_FAIL(err, LW_EUSAGE, "%s: the file exists and would be overwritten: choose another name, or "
                                              "remove it", path);
    }
    return lw_file_write(path, text, strlen(text), err);
}
