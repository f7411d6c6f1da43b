/* SPDX-License-Identifier: Apache-2.0 */
/* Prints values by their types in the source: structures, arrays, pointers and text. */
#include "debug/expr/dbg_expr_priv.h"

#include <stdio.h>
#include <stdlib.h>

/* MAX_ELEMENTS: number of elements after which the output of an array ends. REPEATS: lowest number of consecutive equal
 * elements that are printed as one element. */
enum { MAX_ELEMENTS = 200, REPEATS = 10 };

struct printing {
    struct dbg *dbg;
    dbg_thread_id id;
    unsigned lane;
    char format;
    struct lw_sink *out;
    unsigned left; /* number of values that may still be printed */
    const struct dbg_image *image; /* copy of memory, from which the bytes in its range are printed; NULL: no copy */
};

static void print_at(struct printing *pr, struct dbg_operand *o, unsigned depth);

enum { MAX_TEXT = 200 };

/* Prints a string as a C literal, up to its terminating zero. Returns false if the lane has no memory at @address. */
static bool print_text(struct printing *pr, uint64_t address, uint64_t capacity)
{
    const struct dbg_expr e = {
        .dbg = pr->dbg, .id = pr->id, .lane = pr->lane, .image = pr->image};
    uint8_t c;

    if (!dbg_expr_read(&e, address, &c, 1))
        return false;
    lw_put(pr->out, "\"");
    for (uint64_t i = 0; i < capacity; i++) {
        if (i == MAX_TEXT) {
            lw_put(pr->out, "\"...");
            return true;
        }
        if (!dbg_expr_read(&e, address + i, &c, 1) || c == 0)
            break;
        if (c == '"' || c == '\\')
            lw_printf(pr->out, "\\%c", c);
        else if (c == '\n')
            lw_put(pr->out, "\\n");
        else if (c >= ' ' && c < 0x7f)
            lw_printf(pr->out, "%c", c);
        else
            lw_printf(pr->out, "\\%03o", c);
    }
    lw_put(pr->out, "\"");
    return true;
}

static bool points_to_text(const struct dbg_operand *o)
{
    int64_t type;

    if (o->stars != 0)
        return o->stars == 1 && o->skip == 0 &&
               (o->debug != NULL ? isa_type_is_char(o->debug, o->type) : o->own.character);
    type = isa_type_plain(o->debug, o->type, NULL);
    return type != ISA_NO_DIE && o->debug->dies[type].tag == ISA_TAG_POINTER &&
           isa_type_is_char(o->debug, isa_die_type(o->debug, (uint32_t)type));
}

static void print_pointer(struct printing *pr, const struct dbg_operand *o)
{
    lw_printf(pr->out, "0x%llx", (unsigned long long)o->value.bits);
    if (points_to_text(o)) {
        struct lw_sink *out = pr->out;
        struct lw_buffer text;

        lw_buffer_init(&text);
        pr->out = &text.sink;
        if (print_text(pr, o->value.bits, UINT64_MAX))
            lw_printf(out, " %s", text.text);
        pr->out = out;
        lw_buffer_fini(&text);
    }
}

static void print_scalar(struct printing *pr, const struct dbg_operand *o)
{
    int64_t type = o->stars == 0 ? isa_type_plain(o->debug, o->type, NULL) : ISA_NO_DIE;
    unsigned tag = type != ISA_NO_DIE ? o->debug->dies[type].tag : 0;

    const char *name = pr->format == 0 && tag == ISA_TAG_ENUMERATION ? isa_enumerator_name(o->debug, type, o->value.bits) : NULL;

    if (name != NULL) {
        lw_put(pr->out, name);
        return;
    }
    if ((pr->format == 0 || pr->format == 's') && (o->stars != 0 || isa_tag_is_pointer(tag)))
        print_pointer(pr, o);
    else
        dbg_value_print(&o->value,
                        pr->format == 0 && o->stars == 0 && isa_type_is_char(o->debug, o->type)
                            ? 'c'
                            : pr->format,
                        pr->out);
}

/* Prints a placeholder for a value that cannot be read. */
static void print_unreadable(const struct printing *pr, uint64_t address, struct lw_sink *out)
{
    lw_put(out, dbg_value_is_missing(pr->dbg, address) ? "<optimized out>" : "<not in memory>");
}

/* Prints the address and the target of a C++ reference. Returns false if @o is no reference. */
static bool print_reference(struct printing *pr, const struct dbg_operand *o, unsigned depth)
{
    struct dbg_expr e = {.dbg = pr->dbg, .id = pr->id, .lane = pr->lane, .image = pr->image};
    struct dbg_operand target = *o;

    if (!dbg_typed_is_reference(o))
        return false;
    lw_printf(pr->out, "@0x%llx: ", (unsigned long long)o->value.bits);
    dbg_typed_follow(&e, &target);
    if (e.status != LW_OK)
        lw_put(pr->out, "<not in memory>");
    else
        print_at(pr, &target, depth + 1);
    return true;
}

static void print_members(struct printing *pr, const struct dbg_operand *o, int64_t type,
                          unsigned depth)
{
    const struct isa_debug *debug = o->debug;
    bool first = true;

    lw_put(pr->out, "{");
    for (uint32_t i = (uint32_t)type + 1; i < debug->dies[type].end; i = debug->dies[i].end) {
        bool base = debug->dies[i].tag == ISA_TAG_INHERITANCE;
        struct dbg_operand member = *o;
        const char *name = isa_die_name(debug, i);

        if ((debug->dies[i].tag != ISA_TAG_MEMBER && !base) || dbg_member_is_static(debug, i))
            continue;
        lw_put(pr->out, first ? "" : ", ");
        first = false;
        dbg_typed_become_member(&member, i, isa_die_number(debug, i, ISA_AT_MEMBER_LOCATION, 0));
        if (base) {
            int64_t of = isa_type_plain(debug, member.type, NULL);

            lw_printf(pr->out, "<%s> = ",
                      of != ISA_NO_DIE && isa_die_name(debug, (uint32_t)of) != NULL
                          ? isa_die_name(debug, (uint32_t)of)
                          : "?");
        } else if (name != NULL) {
            lw_printf(pr->out, "%s = ", name);
        }
        print_at(pr, &member, depth + 1);
    }
    lw_put(pr->out, "}");
}

typedef void (*print_fn)(struct printing *pr, struct dbg_operand *o, unsigned depth);

/* Prints @count elements of the array or pointer @o. Prints 10 or more consecutive equal elements as one element and their
 * number. */
static void print_row(struct printing *pr, const struct dbg_operand *o, uint64_t count,
                      unsigned depth, print_fn print)
{
    struct lw_buffer last, next;
    uint64_t run = 0;

    lw_buffer_init(&last);
    lw_buffer_init(&next);
    lw_put(pr->out, "{");
    for (uint64_t i = 0; i <= count; i++) {
        struct dbg_expr e = {.dbg = pr->dbg, .id = pr->id, .lane = pr->lane, .image = pr->image};
        struct printing one = *pr;
        struct dbg_operand element = *o;
        bool end = i == count || i == MAX_ELEMENTS || pr->left == 0;

        lw_buffer_clear(&next);
        if (!end) {
            one.out = &next.sink;
            dbg_typed_index(&e, &element, (int64_t)i);
            if (e.status == LW_OK)
                print(&one, &element, depth + 1);
            else
                print_unreadable(pr, element.address, one.out);
            pr->left = one.left;
            if (run != 0 && next.size == last.size &&
                memcmp(next.text, last.text, next.size) == 0) {
                run++;
                continue;
            }
        }
        if (run >= REPEATS) {
            lw_printf(pr->out, "%.*s <repeats %llu times>", (int)last.size, last.text,
                      (unsigned long long)run);
        } else {
            for (uint64_t k = 0; k < run; k++)
                lw_printf(pr->out, "%s%.*s", k != 0 ? ", " : "", (int)last.size, last.text);
        }
        if (end) {
            lw_put(pr->out, i < count ? "..." : "");
            break;
        }
        lw_put(pr->out, run != 0 ? ", " : "");
        lw_buffer_clear(&last);
        lw_printf(&last.sink, "%.*s", (int)next.size, next.text);
        run = 1;
    }
    lw_put(pr->out, "}");
    lw_buffer_fini(&last);
    lw_buffer_fini(&next);
}

/* Returns the size of an array without a length, such as `extern __shared__ float s[]`: the size of the launch's dynamic
 * shared memory if the array is at the start of that memory, else 0. */
static uint64_t dynamic_bytes(const struct printing *pr, uint64_t address)
{
    struct dbg_warp warp;

    if (address < ISA_SHARED_BASE || address >= ISA_LOCAL_BASE || !dbg_warp_locate(pr->dbg, pr->id, &warp))
        return 0;
    return address - ISA_SHARED_BASE == warp.grid->shared_bytes - warp.grid->launch.dynamic_shared_bytes
               ? warp.grid->launch.dynamic_shared_bytes
               : 0;
}

static void print_elements(struct printing *pr, const struct dbg_operand *o, int64_t type,
                           unsigned depth)
{
    uint64_t count = isa_type_dimension(o->debug, (uint32_t)type, o->skip), bytes;

    if (count == 0 && o->skip == 0 && dbg_typed_stride(o, &bytes) && bytes != 0)
        count = dynamic_bytes(pr, o->address) / bytes;

    if (pr->format == 0 && o->skip + 1 == isa_type_dimensions(o->debug, (uint32_t)type) &&
        isa_type_is_char(o->debug, isa_die_type(o->debug, (uint32_t)type)) &&
        print_text(pr, o->address, count))
        return;
    print_row(pr, o, count, depth, print_at);
}

static void print_at(struct printing *pr, struct dbg_operand *o, unsigned depth)
{
    struct lw_error err;
    struct dbg_expr e = {
        .dbg = pr->dbg, .id = pr->id, .lane = pr->lane, .image = pr->image, .err = &err};
    int64_t type = o->debug != NULL ? isa_type_plain(o->debug, o->type, NULL) : ISA_NO_DIE;

    if (pr->left == 0 || depth > DBG_MAX_TYPE_DEPTH) {
        lw_put(pr->out, "...");
        return;
    }
    pr->left--;
    if (!dbg_typed(o)) { /* the value has one of the debugger's own types and has been read already */
        if (o->kind != DBG_TARGET_MEMORY)
            lw_put(pr->out, "<not in memory>");
        else
            dbg_value_print(&o->value, pr->format == 0 && o->own.character ? 'c' : pr->format,
                            pr->out);
    } else if (dbg_typed_finish(&e, o)) {
        if (e.status != LW_OK)
            print_unreadable(pr, o->address, pr->out);
        else if (!print_reference(pr, o, depth))
            print_scalar(pr, o);
    } else if (type != ISA_NO_DIE && dbg_tag_is_structure(o->debug->dies[type].tag)) {
        print_members(pr, o, type, depth);
    } else if (type != ISA_NO_DIE && o->debug->dies[type].tag == ISA_TAG_ARRAY) {
        print_elements(pr, o, type, depth);
    } else {
        lw_printf(pr->out, "<no value at 0x%llx>", (unsigned long long)o->address);
    }
}

void dbg_typed_print(struct dbg *dbg, dbg_thread_id id, unsigned lane, struct dbg_operand *o,
                     char format, unsigned most, struct lw_sink *out)
{
    struct printing pr = {dbg, id, lane, format, out, most, NULL};

    print_at(&pr, o, 0);
}

void dbg_typed_print_image(struct dbg *dbg, struct dbg_operand *o, const struct dbg_image *image,
                           unsigned most, struct lw_sink *out)
{
    struct printing pr = {dbg, 0, 0, '\0', out, most, image};

    print_at(&pr, o, 0);
}

void dbg_print_text(struct dbg *dbg, dbg_thread_id id, unsigned lane, uint64_t address,
                    struct lw_sink *out)
{
    struct dbg_operand o = {.value = dbg_value_make(DBG_U64, address), .stars = 1,
                            .own = {DBG_S32, 1, true}};

    dbg_typed_print(dbg, id, lane, &o, 0, DBG_MOST_VALUES, out);
}

void dbg_typed_print_row(struct dbg *dbg, dbg_thread_id id, unsigned lane,
                         const struct dbg_operand *o, uint64_t count, char format,
                         unsigned most, struct lw_sink *out)
{
    struct printing pr = {dbg, id, lane, format, out, most, NULL};

    print_row(&pr, o, count, 0, print_at);
}
