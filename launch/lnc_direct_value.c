/* SPDX-License-Identifier: Apache-2.0 */
/* Converts the values that users type for kernel parameters to the form of launch files. */
#include "launch/lnc_direct_priv.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { NAME_BYTES = 80 };

static void text_write(struct lw_sink *sink, const char *text, size_t size)
{
    struct lnc_text *t = (struct lnc_text *)(void *)sink;
    const size_t before = t->buffer.size;

    t->buffer.sink.write(&t->buffer.sink, text, size);
    t->lost |= t->buffer.size != before + size;
}

void lnc_text_init(struct lnc_text *text)
{
    *text = (struct lnc_text){.sink = {text_write}};
    lw_buffer_init(&text->buffer);
    text->lost = text->buffer.text == NULL;
}

void lnc_text_fini(struct lnc_text *text)
{
    lw_buffer_fini(&text->buffer);
}

const struct lnc_type *lnc_direct_type(const char *text, size_t size, uint64_t *each)
{
    const struct lnc_type *type;
    char name[NAME_BYTES];
    size_t n = size;

    *each = 1;
    if (size >= sizeof name)
        return NULL;
    memcpy(name, text, size);
    name[size] = '\0';
    type = lnc_type_find(name);
    while (type == NULL && n > 0 && isdigit((unsigned char)name[n - 1]))
        n--;
    if (type != NULL || n == size || !lw_parse_u64(name + n, each) ||
        (*each != 2 && *each != 3 && *each != 4 && *each != 8 && *each != 16))
        return type;
    name[n] = '\0';
    *each = *each == 3 ? 4 : *each; /* in OpenCL a vector of three has the size of four */
    return n >= 3 && strcmp(name, "f") != 0 ? lnc_type_find(name) : NULL;
}

/** Parses a number or a product of numbers, such as "16384" or "512*512". Returns false if the text has another form. */
static bool read_count(const char *text, size_t size, uint64_t *out)
{
    char part[NAME_BYTES];
    uint64_t n;

    *out = 1;
    while (size < sizeof part) {
        const char *times = memchr(text, '*', size);
        const size_t used = times != NULL ? (size_t)(times - text) : size;

        memcpy(part, text, used);
        part[used] = '\0';
        if (!lw_parse_u64(part, &n) || n == 0 || *out > (UINT64_C(1) << 40) / n)
            return false;
        *out *= n;
        if (times == NULL)
            return true;
        text += used + 1;
        size -= used + 1;
    }
    return false;
}

/** Writes "1,2,3" as "1, 2, 3", and sets *@count to the number of parts. Returns false if a part is empty, or contains
 *  characters that numbers cannot have. */
static bool put_numbers(const char *text, struct lw_sink *out, unsigned *count)
{
    *count = 0;
    for (;;) {
        const size_t n = strspn(text, "0123456789abcdefABCDEFxXinpINP.+-_");

        if (n == 0 || (text[n] != ',' && text[n] != '\0'))
            return false;
        lw_printf(out, "%s%.*s", *count != 0 ? ", " : "", (int)n, text);
        ++*count;
        if (text[n] == '\0')
            return true;
        text += n + 1;
    }
}

/** Writes the contents of a buffer, of which @text has one of the forms "random=1,0,9", "ramp", "constant=3", "file=in.bin"
 *  and "1,2,3". @folder: prefix of relative file names. Returns false if the text has none of these forms. */
static bool put_init(struct lnc_directing *t, const char *text, const char *folder, struct lw_sink *out)
{
    static const struct {
        const char *word, *keys[3];
    } forms[] = {{"random", {"seed", "low", "high"}}, {"ramp", {"start", "step", "modulo"}}};
    struct lnc_text numbers;
    unsigned count = 0;
    bool good = true;

    if (strncmp(text, "file=", 5) == 0 && text[5] != '\0') {
        const char *path = lw_arena_printf(&t->file->arena, "%s%s", text[5] != '/' ? folder : "", text + 5);

        lw_put(out, "{file: ");
        lnc_put_word(path != NULL ? path : "", out);
        lw_put(out, "}");
        t->lost |= path == NULL;
        return true;
    }
    lnc_text_init(&numbers);
    for (unsigned f = 0; f < LW_COUNT_OF(forms); f++) {
        const size_t n = strlen(forms[f].word);
        const char *part = text + n;

        if (strncmp(text, forms[f].word, n) != 0 || (*part != '\0' && *part != '='))
            continue;
        lw_printf(out, "{%s: {", forms[f].word);
        if (*part == '\0')
            lw_put(out, f == 0 ? "seed: 1" : "start: 0, step: 1");
        for (; *part != '\0' && good; count++) {
            const size_t used = strcspn(part + 1, ",");

            good = count < 3 && used != 0 && strspn(part + 1, "0123456789abcdefxABCDEFX.+-") >= used;
            if (good)
                lw_printf(out, "%s%s: %.*s", count != 0 ? ", " : "", forms[f].keys[count], (int)used, part + 1);
            part += used + 1;
        }
        lw_put(out, "}}");
        lnc_text_fini(&numbers);
        return good;
    }
    if (strncmp(text, "constant=", 9) == 0) {
        good = put_numbers(text + 9, &numbers.sink, &count) && count == 1;
    } else {
        good = put_numbers(text, &numbers.sink, &count);
    }
    t->lost |= numbers.lost;
    if (good && !t->lost) {
        lw_put(out, count == 1 ? "" : "[");
        lw_put(out, numbers.buffer.text);
        lw_put(out, count == 1 ? "" : "]");
    }
    lnc_text_fini(&numbers);
    return good;
}

#define BUFFER_WORDS "f32[1024], f32[1024]:random=1, f32[1024]:ramp, s32[4]:1,2,3,4 or f32[]:file=in.bin"

/** Returns the declaration of a buffer, "{type: f32, count: 4, init: ...}", which is allocated in the arena. NULL: the
 *  contents in @init have no valid form, or there is no memory (t->lost). */
static const char *declare(struct lnc_directing *t, const struct lnc_type *type, uint64_t count, const char *init,
                           const char *folder)
{
    struct lnc_text text;
    const char *saved = NULL;
    bool good;

    lnc_text_init(&text);
    lw_printf(&text.sink, "{type: %s", type->name);
    if (count != 0)
        lw_printf(&text.sink, ", count: %" PRIu64, count);
    lw_put(&text.sink, init != NULL ? ", init: " : "");
    good = init == NULL || put_init(t, init, folder, &text.sink);
    lw_put(&text.sink, "}");
    if (good && !text.lost)
        saved = lw_arena_strdup(&t->file->arena, text.buffer.text);
    t->lost |= text.lost || (good && saved == NULL);
    lnc_text_fini(&text);
    return saved;
}

/** Returns the name for the buffer of a slot. This is the name of the parameter or, for a member, a name that debugger
 *  expressions accept, such as "view_data". */
static const char *buffer_name(const struct lnc_directing *t, unsigned index)
{
    const char *wanted = t->slots[index].name;
    char *name;

    if (wanted == NULL)
        return lw_arena_printf(&t->file->arena, "p%u", index);
    if (index < t->count)
        return wanted;
    do { /* appends underscores until no parameter has the name */
        name = lw_arena_printf(&t->file->arena, "%s%s", wanted, wanted != t->slots[index].name ? "_" : "");
        for (char *c = name; c != NULL && *c != '\0'; c++)
            *c = *c == '.' ? '_' : *c;
        wanted = name;
    } while (name != NULL && lnc_slot_named(t, name, strlen(name)) != NULL);
    return name;
}

/** Checks that the elements of a buffer have the size and kind of the elements in the source, because a difference is
 *  usually a mistake. Pointers to characters, void and structures accept any elements, and any pointer accepts bytes. */
static enum lw_status check_element(const struct lnc_directing *t, const struct lnc_slot *s, const struct lnc_type *given,
                                    uint64_t count)
{
    struct lnc_element element = {.count = 1};
    const struct lnc_type *wants;
    struct lw_buffer words;
    char room[ISA_SYMBOL_BYTES], size[24] = "";

    if (!lnc_slot_element(t, s, &element) || (wants = lnc_type_find(element.type)) == NULL)
        return LW_OK;
    if (wants->bytes == 1 || given->bytes == 1 ||
        (wants->bytes == given->bytes && (wants->kind == LNC_FLOAT) == (given->kind == LNC_FLOAT)) ||
        (wants->bytes == 2 && given->bytes == 2)) /* for bfloat16, which launch files do not have, u16 is accepted */
        return LW_OK;
    lw_buffer_init(&words);
    lnc_slot_put_words(t, s, &words.sink);
    if (count != 0)
        snprintf(size, sizeof size, "%" PRIu64, count);
    enum lw_status status = LW_FAIL(t->err, LW_EUSAGE, "%.120s: %s of %s is %s, whose elements have another type: give "
                                                       "%s[%s], or bytes as u8[]",
                                    s->option, s->name != NULL ? s->name : "the parameter", isa_symbol_text(t->kernel->name, room),
                                    words.text != NULL ? words.text : "a pointer", wants->name, size);
    lw_buffer_fini(&words);
    return status;
}

/** Sets the argument for a __local pointer to @bytes bytes of __local memory. @init: contents that the option gives, which
 *  are an error, or NULL if there is none. */
static enum lw_status give_local(struct lnc_directing *t, struct lnc_slot *s, uint64_t bytes, const char *init)
{
    if (init != NULL || bytes == 0 || bytes > UINT32_MAX)
        return LW_FAIL(t->err, LW_EUSAGE, "%.120s: expected __local memory without contents, such as local[1024] "
                                          "(bytes) or s32[256] (elements)", s->option);
    s->argument = lw_arena_printf(&t->file->arena, "{local: %" PRIu64 "}", bytes);
    return s->argument != NULL ? LW_OK : lnc_direct_no_memory(t);
}

/** Reads a value of the form "TYPE[COUNT]", "TYPE[COUNT]:INIT" or "local[BYTES]". For a __local pointer, TYPE[COUNT] means
 *  __local memory, too. */
static enum lw_status read_array(struct lnc_directing *t, unsigned index, const char *here)
{
    struct lnc_slot *s = &t->slots[index];
    const char *open = strchr(s->value, '['), *close = strchr(open, ']');
    const char *init = close != NULL && close[1] == ':' ? close + 2 : NULL;
    const size_t size = (size_t)(open - s->value);
    uint64_t count = 0, each = 1;
    const struct lnc_type *type;
    char name[NAME_BYTES];

    if (close == NULL || (close[1] != '\0' && init == NULL))
        return LW_FAIL(t->err, LW_EUSAGE, "%.120s: expected a buffer such as " BUFFER_WORDS, s->option);
    if (close != open + 1 && !read_count(open + 1, (size_t)(close - open - 1), &count))
        return LW_FAIL(t->err, LW_EUSAGE, "%.120s: \"%.*s\" is not a number of elements: expected a number such as "
                                          "1024 or 512*512",
                       s->option, (int)(close - open - 1), open + 1);
    if (size == 5 && memcmp(s->value, "local", 5) == 0)
        return give_local(t, s, count, init);
    type = lnc_direct_type(s->value, size, &each);
    if (type == NULL) {
        const char *near;

        snprintf(name, sizeof name, "%.*s", (int)size, s->value);
        near = lnc_type_suggest(name);
        return LW_FAIL(t->err, LW_EUSAGE, "%.120s: unknown type \"%.40s\"%s%s%s", s->option, name,
                       near != NULL ? "; did you mean \"" : ": " LNC_TYPE_WORDS "; or local",
                       near != NULL ? near : "", near != NULL ? "\"?" : "");
    }
    if (count == 0 && init == NULL)
        return LW_FAIL(t->err, LW_EUSAGE, "%.120s: the number of elements is missing: write it in the brackets, such "
                                          "as %.*s[1024]",
                       s->option, (int)size, s->value);
    if (check_element(t, s, type, count * each) != LW_OK)
        return LW_EUSAGE;
    if (lnc_slot_is_local(s))
        return give_local(t, s, count <= UINT32_MAX ? count * each * type->bytes : count, init);
    s->element = type->name;
    s->buffer = buffer_name(t, index);
    s->declared = declare(t, type, count * each, init, "");
    s->elsewhere = declare(t, type, count * each, init, here);
    s->argument = s->buffer;
    if (t->lost || s->buffer == NULL)
        return lnc_direct_no_memory(t);
    if (s->declared == NULL || s->elsewhere == NULL)
        return LW_FAIL(t->err, LW_EUSAGE, "%.120s: the contents \"%.60s\" of the buffer are not valid: expected "
                                          "random[=SEED[,LOW,HIGH]], "
                       "ramp[=START[,STEP[,MODULO]]], constant=N, file=PATH, or numbers separated by commas", s->option,
                       init != NULL ? init : "");
    return LW_OK;
}

/** Reads the numbers of a value such as "f32:1,2,3,4" or "u64:7". */
static enum lw_status read_typed(struct lnc_directing *t, unsigned index, const struct lnc_type *type, const char *numbers)
{
    struct lnc_slot *s = &t->slots[index];
    struct lnc_text text;
    unsigned count;

    lnc_text_init(&text);
    if (!put_numbers(numbers, &text.sink, &count)) {
        lnc_text_fini(&text);
        return LW_FAIL(t->err, LW_EUSAGE, "%.120s: expected numbers separated by commas after the type, such as "
                                          "f32:1,2,3,4",
                       s->option);
    }
    if (!text.lost)
        s->argument = lw_arena_printf(&t->file->arena, count == 1 ? "{%s: %s}" : "{%s: [%s]}", type->name,
                                      text.buffer.text);
    lnc_text_fini(&text);
    return s->argument != NULL ? LW_OK : lnc_direct_no_memory(t);
}

/** Reads a value that is an argument in the form of launch files, such as "{struct: [...]}". */
static enum lw_status read_form(struct lnc_directing *t, unsigned index)
{
    struct lnc_slot *s = &t->slots[index];
    const char *list = lw_arena_printf(&t->file->arena, "[%s]", s->value);
    struct lw_yaml_document *doc = NULL;
    struct lw_error why;
    enum lw_status status;

    if (list == NULL)
        return lnc_direct_no_memory(t);
    status = lw_yaml_parse("--arg", list, strlen(list), &doc, &why);
    if (status == LW_ENOMEM)
        return lnc_direct_no_memory(t);
    if (status != LW_OK)
        return LW_FAIL(t->err, LW_EUSAGE, "%.120s: expected an argument as in launch files, such as {struct: [{s32: "
                                          "5}]}: %.160s",
                       s->option, why.text);
    if (lw_yaml_root(doc)->count != 1 || lw_yaml_root(doc)->first->kind != LW_YAML_MAPPING)
        status = LW_FAIL(t->err, LW_EUSAGE, "%.120s: expected one argument as in launch files, such as {struct: [{s32: "
                                            "5}]}",
                         s->option);
    s->argument = s->value;
    lw_yaml_destroy(doc);
    return status;
}

static bool is_number(const char *text)
{
    char *end;

    return *text != '\0' && *text != ' ' && (strtod(text, &end), *end == '\0');
}

static bool is_integer(const char *text)
{
    uint64_t u;
    int64_t i;

    return lw_parse_u64(text, &u) || lw_parse_i64(text, &i);
}

/** Reads the value of a member that is not a pointer: "5", "1,2,3" or, with the type of the numbers, "s32:5". Each number
 *  must be in the range of its type. "0" sets all elements of an array to zero. */
static enum lw_status read_member(struct lnc_directing *t, unsigned index)
{
    struct lnc_slot *s = &t->slots[index];
    const char *colon = strchr(s->value, ':'), *numbers = colon != NULL ? colon + 1 : s->value;
    const struct lnc_type *type = lnc_type_find(s->member.type), *given = type;
    const bool zeros = s->member.count > 1 && strcmp(s->value, "0") == 0;
    char room[ISA_SYMBOL_BYTES];
    struct lw_buffer words;
    enum lw_status status;
    struct lnc_text text;
    uint64_t count = 0, each;
    bool good = true;

    if (colon != NULL)
        given = lnc_direct_type(s->value, (size_t)(colon - s->value), &each);
    good = type != NULL && given != NULL && given->bytes == type->bytes;
    lnc_text_init(&text);
    lw_printf(&text.sink, "{%s: %s", good ? given->name : "", s->member.count > 1 ? "[" : "");
    for (const char *at = numbers; good && count < s->member.count; count++) {
        char number[NAME_BYTES];
        const size_t n = strcspn(at, ",");
        uint64_t bits;

        snprintf(number, sizeof number, "%.*s", (int)n, at);
        good = n < sizeof number && lnc_value_parse(given, number, &bits);
        lw_printf(&text.sink, "%s%s", count != 0 ? ", " : "", number);
        if (!zeros)
            at += n + (at[n] == ',');
        if (count + 1 == s->member.count)
            good = good && (zeros || *at == '\0');
    }
    lw_put(&text.sink, s->member.count > 1 ? "]}" : "}");
    if (good && !text.lost)
        s->argument = lw_arena_strdup(&t->file->arena, text.buffer.text);
    lnc_text_fini(&text);
    if (good)
        return s->argument != NULL ? LW_OK : lnc_direct_no_memory(t);
    lw_buffer_init(&words);
    lnc_slot_put_words(t, s, &words.sink);
    if (s->member.count > 1)
        status = LW_FAIL(t->err, LW_EUSAGE, "%.120s: %s (%s) of %s takes %" PRIu64 " numbers of type %s separated by "
                                                                                   "commas, or 0",
                         s->option, s->name, words.text != NULL ? words.text : "", isa_symbol_text(t->kernel->name, room),
                         s->member.count, s->member.type);
    else
        status = LW_FAIL(t->err, LW_EUSAGE, "%.120s: %s (%s) of %s takes a number of type %s", s->option, s->name,
                         words.text != NULL ? words.text : "", isa_symbol_text(t->kernel->name, room), s->member.type);
    lw_buffer_fini(&words);
    return status;
}

/** Fails with a message that lists the forms in which options can give a structure, because the value has none of them. */
static enum lw_status refuse_structure(struct lnc_directing *t, const struct lnc_slot *s)
{
    char room[ISA_SYMBOL_BYTES];
    struct lw_buffer words, example;
    enum lw_status status;

    lw_buffer_init(&words);
    lw_buffer_init(&example);
    lnc_slot_put_words(t, s, &words.sink);
    for (unsigned i = 0; i < s->members && example.size < 200; i++) {
        lw_put(&example.sink, i != 0 ? " " : "");
        lnc_slot_example(t, s->first + i, &example.sink);
    }
    status = LW_FAIL(t->err, LW_EUSAGE, "%.120s: %s (%s) of %s is a structure: give its members, such as %s", s->option, s->name,
                     words.text != NULL ? words.text : "", isa_symbol_text(t->kernel->name, room),
                     example.text != NULL ? example.text : "");
    lw_buffer_fini(&words);
    lw_buffer_fini(&example);
    return status;
}

/** If a parameter is a vector, or a structure of elements of one type, returns the element type and sets *@count to the
 *  number of elements. Otherwise returns NULL. */
static const struct lnc_type *type_of_several(const struct lnc_directing *t, const struct lnc_slot *s, uint64_t *count)
{
    struct lnc_element element = {.count = 1};
    const struct lnc_type *type;

    if (s->type == ISA_NO_DIE || lnc_slot_is_pointer(t, s))
        return NULL;
    lnc_element_of(t->described->debug, s->type, &element);
    type = lnc_type_find(element.type);
    *count = element.count;
    return element.count > 1 && type != NULL && element.count * type->bytes == s->param->size_bytes ? type : NULL;
}

/** Returns the number of numbers in a text such as "1,2.5,3"; 0: the text has another form. */
static uint64_t numbers_between_commas(const char *text)
{
    uint64_t count = 0;

    for (;; text++) {
        char *end;

        if (*text == ' ' || (strtod(text, &end), end == text))
            return 0;
        count++;
        text = end;
        if (*text != ',')
            return *text == '\0' ? count : 0;
    }
}

enum lw_status lnc_slot_read(struct lnc_directing *t, unsigned index, const char *here)
{
    struct lnc_slot *s = &t->slots[index];
    const char *colon = strchr(s->value, ':');
    char room[ISA_SYMBOL_BYTES];
    struct lw_buffer example;
    enum lw_status status;
    uint64_t each;

    if (index >= t->count && !lnc_slot_is_pointer(t, s))
        return read_member(t, index);
    if (index >= t->count && strcmp(s->value, "0") == 0) {
        s->argument = "{u64: 0}";
        return LW_OK;
    }
    if (s->value[0] == '{' && index < t->count)
        return read_form(t, index);
    if (s->members != 0 && !s->is_array && strcmp(s->value, "0") != 0 && strncmp(s->value, "u8:", 3) != 0)
        return refuse_structure(t, s);
    if (strchr(s->value, '[') != NULL && (colon == NULL || strchr(s->value, '[') < colon))
        return read_array(t, index, here);
    if (colon != NULL) {
        const struct lnc_type *type = lnc_direct_type(s->value, (size_t)(colon - s->value), &each);

        if (type != NULL)
            return read_typed(t, index, type, colon + 1);
    }
    if (strcmp(s->value, "0") == 0 && s->param->size_bytes > 8) { /* "0" means a structure of zeros */
        struct lnc_text zeros;

        lnc_text_init(&zeros);
        for (uint32_t i = 0; i < s->param->size_bytes; i++)
            lw_put(&zeros.sink, i == 0 ? "0" : ", 0");
        if (!zeros.lost)
            s->argument = lw_arena_printf(&t->file->arena, "{u8: [%s]}", zeros.buffer.text);
        lnc_text_fini(&zeros);
        return s->argument != NULL ? LW_OK : lnc_direct_no_memory(t);
    }
    if (is_number(s->value) && s->param->kind == ISA_PARAM_INTEGER && !lnc_slot_is_pointer(t, s) && !is_integer(s->value)) {
        lw_buffer_init(&example);
        lnc_slot_put_words(t, s, &example.sink);
        status = LW_FAIL(t->err, LW_EUSAGE, "%.120s: %s%s%s%s of %s takes an integer such as 3, found \"%.40s\"", s->option,
                         s->name != NULL ? s->name : "", s->name != NULL ? " (" : "",
                         example.text != NULL ? example.text : "", s->name != NULL ? ")" : "",
                         isa_symbol_text(t->kernel->name, room), s->value);
        lw_buffer_fini(&example);
        return status;
    }
    if (is_number(s->value) && (!lnc_slot_is_pointer(t, s) || strcmp(s->value, "0") == 0)) {
        s->argument = s->value;
        return LW_OK;
    }
    if (lnc_slot_is_pointer(t, s) && !lnc_slot_is_local(s)) {
        const struct lnc_slot *other = lnc_slot_named(t, s->value, strlen(s->value));

        if (other != NULL && other != s && other->value != NULL && strchr(other->value, '[') != NULL) {
            s->argument = buffer_name(t, (unsigned)(other - t->slots)); /* both parameters get the same buffer */
            return s->argument != NULL ? LW_OK : lnc_direct_no_memory(t);
        }
    }
    const struct lnc_type *each_type = type_of_several(t, s, &each);
    char several[NAME_BYTES] = "";

    if (each_type != NULL && numbers_between_commas(s->value) == each)
        return read_typed(t, index, each_type, s->value);
    if (each_type != NULL)
        snprintf(several, sizeof several, "%" PRIu64 " numbers of type %s", each, each_type->name);
    lw_buffer_init(&example);
    lnc_slot_example(t, index, &example.sink);
    status = LW_FAIL(t->err, LW_EUSAGE, "%.120s: %s of %s is %s, and this is not a value of that type: give one such "
                                        "as %s", s->option,
                     s->name != NULL ? s->name : "the parameter", isa_symbol_text(t->kernel->name, room),
                     lnc_slot_is_local(s) ? "__local memory" : lnc_slot_is_pointer(t, s) ? "a pointer"
                     : each_type != NULL ? several : "a number",
                     example.text != NULL ? example.text : "");
    lw_buffer_fini(&example);
    return status;
}

/* ---- expected contents (--expect) --------------------------------------------------------------- */

/** Returns the name of the buffer to which parameter @name points, or @name itself if a buffer has this name; NULL: there
 *  is no such buffer. */
static const char *expected_buffer(const struct lnc_directing *t, const char *name)
{
    const struct lnc_slot *s = lnc_slot_named(t, name, strlen(name));

    for (unsigned i = 0; i < t->total; i++) {
        const char *buffer = t->slots[i].buffer;

        if (buffer != NULL && (s != NULL ? s->argument != NULL && strcmp(s->argument, buffer) == 0 : strcmp(name, buffer) == 0))
            return buffer;
    }
    return NULL;
}

static enum lw_status refuse_expected(const struct lnc_directing *t, const char *expect, const char *name)
{
    char room[ISA_SYMBOL_BYTES];
    struct lw_buffer names;
    enum lw_status status;

    lw_buffer_init(&names);
    for (unsigned i = 0; i < t->total && names.size < 200; i++)
        if (t->slots[i].buffer != NULL)
            lw_printf(&names.sink, "%s%s", names.size != 0 ? ", " : "", t->slots[i].buffer);
    status = LW_FAIL(t->err, LW_EUSAGE, "--expect %.100s: %s has no buffer \"%.60s\"; %s%s", expect,
                     isa_symbol_text(t->kernel->name, room), name, names.size != 0 ? "it has " : "there are none",
                     names.text != NULL ? names.text : "");
    lw_buffer_fini(&names);
    return status;
}

/** Returns true for "1", "1,2.5,inf": every part is a number. */
static bool are_numbers(const char *text)
{
    for (;;) {
        char part[NAME_BYTES];
        const size_t n = strcspn(text, ",");

        snprintf(part, sizeof part, "%.*s", (int)n, text);
        if (n >= sizeof part || !is_number(part))
            return false;
        if (text[n] == '\0')
            return true;
        text += n + 1;
    }
}

enum lw_status lnc_expect_put(struct lnc_directing *t, const char *expect, const char *folder, struct lw_sink *out)
{
    const char *equals = strchr(expect, '='), *value = equals != NULL ? equals + 1 : "";
    const char *name = lw_arena_strndup(&t->file->arena, expect, equals != NULL ? (size_t)(equals - expect) : 0);
    const char *tolerance = t->d->tolerance, *buffer;
    const bool constant = strncmp(value, "constant=", 9) == 0;
    unsigned count;

    if (name == NULL)
        return lnc_direct_no_memory(t);
    for (const char *c = expect; *c != '\0'; c++)
        if ((unsigned char)*c < ' ')
            return LW_FAIL(t->err, LW_EUSAGE, "--expect: remove the control character in \"%.*s\"",
                           (int)(c - expect), expect);
    if (*value == '\0')
        return LW_FAIL(t->err, LW_EUSAGE, "--expect %.100s: expected a buffer and its expected contents, such as "
                                          "out=FILE, out=constant=3 or out=1,2,3", expect);
    buffer = expected_buffer(t, name);
    if (buffer == NULL)
        return refuse_expected(t, expect, name);
    if (constant && !is_number(value + 9))
        return LW_FAIL(t->err, LW_EUSAGE, "--expect %.100s: expected one number after \"constant=\"", expect);
    if (tolerance != NULL && !is_number(tolerance))
        return LW_FAIL(t->err, LW_EUSAGE, "--tolerance %.60s: expected a number such as 1e-5", tolerance);
    lw_put(out, "{buffer: ");
    lnc_put_word(buffer, out);
    if (constant) {
        lw_printf(out, ", constant: %s", value + 9);
    } else if (are_numbers(value)) {
        lw_put(out, strchr(value, ',') != NULL ? ", values: [" : ", constant: ");
        (void)put_numbers(value, out, &count);
        lw_put(out, strchr(value, ',') != NULL ? "]" : "");
    } else {
        const char *path = strncmp(value, "file=", 5) == 0 ? value + 5 : value;

        path = lw_arena_printf(&t->file->arena, "%s%s", *path != '/' ? folder : "", path);
        if (path == NULL)
            return lnc_direct_no_memory(t);
        lw_put(out, ", file: ");
        lnc_put_word(path, out);
    }
    if (tolerance != NULL)
        lw_printf(out, ", tolerance: %s", tolerance);
    lw_put(out, "}");
    return LW_OK;
}
