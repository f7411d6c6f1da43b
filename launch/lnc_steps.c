/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the `steps:` part of a launch file. */
#include <math.h>
#include "launch/launch_priv.h"

#include <inttypes.h>
#include <stdlib.h>

static const uint64_t max_rounds = UINT64_C(1) << 32;

static enum lw_status read_list(struct lnc_file *file, const struct lw_yaml *node,
                                unsigned depth, struct lnc_step **first, unsigned *count,
                                struct lw_error *err);

static enum lw_status missing(const struct lnc_file *file, const struct lw_yaml *node,
                              struct lw_error *err, const char *step, const char *key,
                              const char *such_as)
{
    return lw_yaml_fail(file->doc, node, err, "%s: \"%s\" is missing: add it, such as %s", step, key,
                        such_as);
}

static enum lw_status expect_mapping(const struct lnc_file *file, const struct lw_yaml *node,
                                     struct lw_error *err, const char *such_as)
{
    if (node->kind == LW_YAML_MAPPING)
        return LW_OK;
    return lw_yaml_fail(file->doc, node, err, "%s: expected a mapping such as %s", node->key,
                        such_as);
}

/* Reads a part of a buffer: its first element and number of elements from the keys @index_key and @count_key. Without the
 * count, the part is everything from the first element on. @count_key NULL: only the first element is read. */
static enum lw_status read_part(const struct lnc_file *file, const struct lw_yaml *node,
                                const struct lnc_buffer *buffer, const char *index_key,
                                const char *count_key, uint64_t *first, uint64_t *count,
                                struct lw_error *err)
{
    const struct lw_yaml *index = lw_yaml_get(node, index_key);
    const struct lw_yaml *n = count_key != NULL ? lw_yaml_get(node, count_key) : NULL;
    enum lw_status status = LW_OK;

    *first = 0;
    if (index != NULL)
        status = lw_yaml_u64(file->doc, index, 0, buffer->count - 1, first, err);
    if (status == LW_OK && count_key != NULL) {
        *count = buffer->count - *first;
        if (n != NULL)
            status = lw_yaml_u64(file->doc, n, 1, buffer->count - *first, count, err);
    }
    return status;
}

/* ---- launch ------------------------------------------------------------------ */

/* Reads one integer or a list of one to three integers. */
static enum lw_status read_wide_size(const struct lnc_file *file, const struct lw_yaml *node,
                                uint64_t low, uint64_t high, uint64_t size[3], uint32_t *work_dim,
                                struct lw_error *err)
{
    const struct lw_yaml *n = node->kind == LW_YAML_SEQUENCE ? node->first : node;
    size_t count = node->kind == LW_YAML_SEQUENCE ? node->count : 1;

    if (count < 1 || count > 3 || node->kind == LW_YAML_MAPPING)
        return lw_yaml_fail(file->doc, node, err,
                            "%s: expected an integer or a list of one to three integers, such as [16, 16]",
                            node->key);
    for (size_t i = 0; i < count; i++, n = n->next) {
        uint64_t value;
        enum lw_status status = lw_yaml_u64(file->doc, n, low, high, &value, err);

        if (status != LW_OK)
            return status;
        size[i] = value;
    }
    if (work_dim != NULL && count > *work_dim)
        *work_dim = (uint32_t)count;
    return LW_OK;
}

/** Reads one to three integers as read_wide_size() does, but of 32 bits. */
static enum lw_status read_size(const struct lnc_file *file, const struct lw_yaml *node, uint64_t low, uint32_t high,
                                uint32_t size[3], uint32_t *work_dim, struct lw_error *err)
{
    uint64_t wide[3] = {size[0], size[1], size[2]};
    enum lw_status status = read_wide_size(file, node, low, high, wide, work_dim, err);

    for (unsigned i = 0; i < 3; i++)
        size[i] = (uint32_t)wide[i];
    return status;
}

/** Reads `global:`, a number of threads in each dimension, and converts it to blocks. */
static enum lw_status read_global(const struct lnc_file *file, const struct lw_yaml *node, struct lnc_step *step,
                                  struct lw_error *err)
{
    const uint64_t most = (uint64_t)EMU_MAX_GRID_SIZE * EMU_MAX_BLOCK_THREADS;
    uint64_t threads[3] = {1, 1, 1};
    enum lw_status status = read_wide_size(file, node, 1, most, threads, &step->work_dim, err);

    for (unsigned i = 0; i < 3 && status == LW_OK; i++) {
        if (threads[i] % step->block[i] != 0)
            return lw_yaml_fail(file->doc, node, err, "global: %" PRIu64 " is not a multiple of the block size %u: "
                                                                         "round it up, and let the kernel test its "
                                                                         "index", threads[i], step->block[i]);
        if (threads[i] / step->block[i] > EMU_MAX_GRID_SIZE)
            return lw_yaml_fail(file->doc, node, err, "global: %" PRIu64 " threads are %" PRIu64 " blocks of %u thread%s: at most %u blocks are allowed in a dimension", threads[i], threads[i] / step->block[i],
                                step->block[i], step->block[i] == 1 ? "" : "s",
                                EMU_MAX_GRID_SIZE);
        step->grid[i] = (uint32_t)(threads[i] / step->block[i]);
    }
    return status;
}

static enum lw_status read_typed(struct lnc_file *file, const struct lw_yaml *node,
                                 const struct lnc_type *type, struct lnc_arg *arg,
                                 struct lw_error *err)
{
    const struct lw_yaml *n = node->kind == LW_YAML_SEQUENCE ? node->first : node;
    size_t count = node->kind == LW_YAML_SEQUENCE ? node->count : 1;
    uint8_t *data;

    if (count < 1 || count > 4096 || node->kind == LW_YAML_MAPPING)
        return lw_yaml_fail(file->doc, node, err, "%s: expected a number or a list of numbers",
                            node->key);
    data = lw_arena_alloc(&file->arena, count * type->bytes);
    if (data == NULL)
        return lnc_no_memory(file, node, err);
    for (size_t i = 0; i < count; i++, n = n->next) {
        uint64_t bits;

        if (n->kind != LW_YAML_SCALAR || n->quoted || !lnc_value_parse(type, n->text, &bits))
            return lw_yaml_fail(file->doc, n, err, "expected a number of type %s, found %s%.40s%s",
                                type->name, n->kind == LW_YAML_SCALAR ? "\"" : "",
                                n->kind == LW_YAML_SCALAR ? n->text : "something else",
                                n->kind == LW_YAML_SCALAR ? "\"" : "");
        lnc_value_store(type, data, i, bits);
    }
    arg->kind = LNC_ARG_TYPED;
    arg->data = data;
    arg->size_bytes = (unsigned)(count * type->bytes);
    arg->align = type->bytes;
    return LW_OK;
}

static enum lw_status read_arg(struct lnc_file *file, const struct lw_yaml *node, unsigned depth,
                               struct lnc_arg *arg, struct lw_error *err);

static enum lw_status read_member(struct lnc_file *file, const struct lw_yaml *node,
                                  struct lnc_arg *member, struct lw_error *err)
{
    enum lw_status status;

    if (node->kind != LW_YAML_MAPPING || (lw_yaml_get(node, "local") == NULL &&
                                          lw_yaml_get(node, "iteration") == NULL)) {
        status = read_arg(file, node, 0, member, err);
        if (status != LW_OK || member->kind != LNC_ARG_NUMBER)
            return status;
        return lw_yaml_fail(file->doc, node, err,
                            "struct: the type of %.40s is not known: give it, such as {s32: %.40s}",
                            member->text, member->text);
    }
    return lw_yaml_fail(file->doc, node, err,
                        "struct: expected a member: a buffer, a texture, a number with its type or another struct");
}

/* Reads a structure, which is laid out as in C: each member is at a multiple of its alignment, and the size is a multiple
 * of the largest alignment. */
static enum lw_status read_struct(struct lnc_file *file, const struct lw_yaml *node,
                                  struct lnc_arg *arg, struct lw_error *err)
{
    enum { MAX_BYTES = 4096 };
    uint8_t *data = lw_arena_alloc(&file->arena, MAX_BYTES);
    struct lnc_hole **tail = &arg->holes;
    unsigned size = 0, align = 1;

    if (data == NULL)
        return lnc_no_memory(file, node, err);
    if (node->kind != LW_YAML_SEQUENCE || node->count == 0)
        return lw_yaml_fail(file->doc, node, err,
                            "struct: expected a list of members, such as [A, {s32: 5}]");
    for (const struct lw_yaml *n = node->first; n != NULL; n = n->next) {
        struct lnc_arg member = {.node = n, .size_bytes = 8, .align = 8};
        enum lw_status status = read_member(file, n, &member, err);
        unsigned at;

        if (status != LW_OK)
            return status;
        at = (size + member.align - 1) / member.align * member.align;
        if (at + member.size_bytes > MAX_BYTES)
            return lw_yaml_fail(file->doc, n, err, "struct: the structure is larger than %d bytes", MAX_BYTES);
        if (member.kind == LNC_ARG_TYPED) {
            memcpy(data + at, member.data, member.size_bytes);
            *tail = member.holes;
            for (; *tail != NULL; tail = &(*tail)->next)
                (*tail)->at += at;
        } else {
            struct lnc_hole *hole = lw_arena_alloc(&file->arena, sizeof *hole);

            if (hole == NULL)
                return lnc_no_memory(file, n, err);
            *hole = (struct lnc_hole){.at = at, .buffer = member.buffer,
                                      .texture = member.texture,
                                      .offset_bytes = member.offset_bytes};
            *tail = hole;
            tail = &hole->next;
        }
        size = at + member.size_bytes;
        align = member.align > align ? member.align : align;
    }
    arg->kind = LNC_ARG_TYPED;
    arg->data = data;
    arg->size_bytes = (size + align - 1) / align * align;
    arg->align = align;
    return LW_OK;
}

static enum lw_status read_iteration(struct lnc_file *file, const struct lw_yaml *node,
                                     unsigned depth, struct lnc_arg *arg, struct lw_error *err)
{
    static const char *const known[] = {"start", "step", "factor", NULL};
    const struct lw_yaml *n;
    enum lw_status status = expect_mapping(file, node, err, "{start: 0, step: 1}");

    if (status == LW_OK)
        status = lw_yaml_known(file->doc, node, known, err);
    if (status != LW_OK)
        return status;
    if (depth == 0)
        return lw_yaml_fail(file->doc, node, err,
                            "iteration: the launch is not inside a repeat step, so there is no iteration number");
    arg->kind = LNC_ARG_ITERATION;
    arg->factor = 1;
    arg->step = lw_yaml_get(node, "factor") != NULL ? 0 : 1;
    if ((n = lw_yaml_get(node, "start")) != NULL)
        status = lw_yaml_i64(file->doc, n, INT64_MIN, INT64_MAX, &arg->start, err);
    if (status == LW_OK && (n = lw_yaml_get(node, "step")) != NULL)
        status = lw_yaml_i64(file->doc, n, INT64_MIN, INT64_MAX, &arg->step, err);
    if (status == LW_OK && (n = lw_yaml_get(node, "factor")) != NULL)
        status = lw_yaml_i64(file->doc, n, INT64_MIN, INT64_MAX, &arg->factor, err);
    return status;
}

static enum lw_status read_arg(struct lnc_file *file, const struct lw_yaml *node,
                               unsigned depth, struct lnc_arg *arg, struct lw_error *err)
{
    static const char *const index_known[] = {"buffer", "index", NULL};
    const struct lw_yaml *n = node->first;
    const struct lnc_type *type;
    enum lw_status status;
    uint64_t value;

    arg->node = node;
    if (node->kind == LW_YAML_SEQUENCE)
        return lw_yaml_fail(file->doc, node, err,
                            "args: a list needs a type, such as {f32: [1, 2, 3, 4]}");
    if (node->kind == LW_YAML_SCALAR) {
        double number;

        if (!node->quoted && lw_yaml_double(file->doc, node, &number, NULL) == LW_OK) {
            arg->kind = LNC_ARG_NUMBER;
            arg->text = node->text;
            /* A buffer may have any name, even one that reads as a number ("inf"). */
            for (const struct lnc_buffer *b = file->buffers; b != NULL; b = b->next)
                if (strcmp(b->name, node->text) == 0) {
                    arg->kind = LNC_ARG_BUFFER;
                    arg->buffer = b;
                }
            return LW_OK;
        }
        arg->texture = lnc_texture_find(file, node->text);
        arg->kind = arg->texture != NULL ? LNC_ARG_TEXTURE : LNC_ARG_BUFFER;
        return arg->texture != NULL ? LW_OK : lnc_buffer_named(file, node, &arg->buffer, err);
    }
    if (lw_yaml_get(node, "buffer") != NULL) {
        status = lw_yaml_known(file->doc, node, index_known, err);
        if (status != LW_OK)
            return status;
        arg->kind = LNC_ARG_BUFFER;
        status = lnc_buffer_named(file, lw_yaml_get(node, "buffer"), &arg->buffer, err);
        if (status != LW_OK)
            return status;
        n = lw_yaml_get(node, "index");
        value = 0;
        if (n != NULL) /* an argument may be the address of the buffer's end, as a pointer in C */
            status = lw_yaml_u64(file->doc, n, 0, arg->buffer->count, &value, err);
        arg->offset_bytes = status == LW_OK ? value * arg->buffer->type->bytes : 0;
        return status;
    }
    if (node->count != 1)
        return lw_yaml_fail(file->doc, node, err,
                            "args: expected one key, such as {f32: 1.5}, found %zu",
                            node->count);
    if (strcmp(n->key, "local") == 0) {
        status = lw_yaml_u64(file->doc, n, 1, UINT32_MAX, &value, err);
        arg->kind = LNC_ARG_LOCAL;
        arg->local_bytes = status == LW_OK ? (uint32_t)value : 0;
        return status;
    }
    if (strcmp(n->key, "texture") == 0) {
        const char *name;

        status = lw_yaml_string(file->doc, n, &name, err);
        if (status != LW_OK)
            return status;
        arg->kind = LNC_ARG_TEXTURE;
        arg->texture = lnc_texture_find(file, name);
        return arg->texture != NULL
                   ? LW_OK
                   : lw_yaml_fail(file->doc, n, err, "texture: there is no \"%.60s\" under "
                                  "textures:", name);
    }
    if (strcmp(n->key, "iteration") == 0)
        return read_iteration(file, n, depth, arg, err);
    if (strcmp(n->key, "struct") == 0)
        return read_struct(file, n, arg, err);
    type = lnc_type_find(n->key);
    if (type == NULL)
        return lw_yaml_fail(file->doc, node, err,
                            "args: unknown form \"%.40s\": expected a type (f32, u64, ...), struct, "
                            "local, iteration, buffer or texture",
                            n->key);
    return read_typed(file, n, type, arg, err);
}

static enum lw_status read_launch(struct lnc_file *file, const struct lw_yaml *node,
                                  unsigned depth, struct lnc_step *step, struct lw_error *err)
{
    static const char *const known[] = {"entry",  "grid", "global", "block",
                                        "shared", "args", "offset", "stream", NULL};
    const struct lw_yaml *n;
    enum lw_status status =
        expect_mapping(file, node, err, "{entry: saxpy, grid: 4, block: 128, args: [A, B, 2]}");

    if (status == LW_OK)
        status = lw_yaml_known(file->doc, node, known, err);
    if (status != LW_OK)
        return status;
    for (unsigned i = 0; i < 3; i++)
        step->grid[i] = step->block[i] = 1;
    step->work_dim = 1;
    if ((n = lw_yaml_get(node, "entry")) == NULL)
        return missing(file, node, err, "launch", "entry", "entry: saxpy");
    status = lw_yaml_string(file->doc, n, &step->entry, err);
    if (status != LW_OK)
        return status;
    if ((n = lw_yaml_get(node, "block")) == NULL)
        return missing(file, node, err, "launch", "block", "block: 128 or block: [16, 16]");
    status = read_size(file, n, 1, UINT32_MAX, step->block, &step->work_dim, err);
    if (status != LW_OK)
        return status;
    uint64_t threads = 1;
    for (unsigned i = 0; i < 3; i++)
        threads = threads * step->block[i] > UINT32_MAX ? UINT32_MAX : threads * step->block[i];
    if (threads > EMU_MAX_BLOCK_THREADS)
        return lw_yaml_fail(file->doc, n, err,
                            "block: %u x %u x %u threads are too many: a block has at most %d",
                            step->block[0], step->block[1], step->block[2],
                            EMU_MAX_BLOCK_THREADS);
    if (lw_yaml_get(node, "grid") != NULL && lw_yaml_get(node, "global") != NULL)
        return lw_yaml_fail(file->doc, lw_yaml_get(node, "global"), err,
                            "launch: \"grid\" (in blocks) and \"global\" (in threads) cannot be combined: give one of "
                            "them");
    if ((n = lw_yaml_get(node, "grid")) != NULL) {
        status = read_size(file, n, 1, EMU_MAX_GRID_SIZE, step->grid, &step->work_dim, err);
    } else if ((n = lw_yaml_get(node, "global")) != NULL) {
        status = read_global(file, n, step, err);
    } else {
        return missing(file, node, err, "launch", "grid", "grid: 4 or grid: [32, 32]");
    }
    if (status == LW_OK && (n = lw_yaml_get(node, "offset")) != NULL)
        status = read_size(file, n, 0, UINT32_MAX, step->offset, &step->work_dim, err);
    if (status == LW_OK && (n = lw_yaml_get(node, "stream")) != NULL) {
        status = lw_yaml_u64(file->doc, n, 0, LNC_MAX_STREAM, &step->stream, err);
        step->has_stream = status == LW_OK;
    }
    if (status == LW_OK && (n = lw_yaml_get(node, "shared")) != NULL) {
        uint64_t bytes;

        status = lw_yaml_u64(file->doc, n, 0, UINT32_MAX, &bytes, err);
        step->shared_bytes = status == LW_OK ? (uint32_t)bytes : 0;
    }
    if (status != LW_OK || (n = lw_yaml_get(node, "args")) == NULL)
        return status;
    if (n->kind != LW_YAML_SEQUENCE || n->count > LNC_MAX_ARGS)
        return lw_yaml_fail(file->doc, n, err,
                            "args: expected a list of at most %d, such as [A, B, 2.0]",
                            LNC_MAX_ARGS);
    step->args = lw_arena_alloc(&file->arena, n->count * sizeof *step->args);
    if (step->args == NULL)
        return lnc_no_memory(file, n, err);
    for (n = n->first; n != NULL && status == LW_OK; n = n->next)
        status = read_arg(file, n, depth, &step->args[step->arg_count++], err);
    return status;
}

/* ---- host steps ---------------------------------------------------------------- */

static enum lw_status read_copy(struct lnc_file *file, const struct lw_yaml *node,
                                struct lnc_step *step, struct lw_error *err)
{
    static const char *const known[] = {"from", "to", "from_index", "to_index", "count", NULL};
    const struct lw_yaml *from = lw_yaml_get(node, "from"), *to = lw_yaml_get(node, "to");
    uint64_t room = 0;
    enum lw_status status = expect_mapping(file, node, err, "{from: A, to: B}");

    if (status == LW_OK)
        status = lw_yaml_known(file->doc, node, known, err);
    if (status != LW_OK)
        return status;
    if (from == NULL || to == NULL)
        return missing(file, node, err, "copy", from == NULL ? "from" : "to",
                       "copy: {from: A, to: B}");
    status = lnc_buffer_named(file, from, &step->other, err);
    if (status == LW_OK)
        status = lnc_buffer_named(file, to, &step->buffer, err);
    if (status == LW_OK)
        status = read_part(file, node, step->other, "from_index", "count", &step->other_first,
                           &step->count, err);
    if (status == LW_OK)
        status = read_part(file, node, step->buffer, "to_index", NULL, &step->first, NULL, err);
    if (status != LW_OK)
        return status;
    if (step->buffer->type->bytes != step->other->type->bytes)
        return lw_yaml_fail(file->doc, node, err,
                            "copy: elements of %s (%s) and %s (%s) have different sizes",
                            step->other->name, step->other->type->name, step->buffer->name,
                            step->buffer->type->name);
    room = step->buffer->count - step->first;
    if (step->count > room)
        return lw_yaml_fail(file->doc, node, err,
                            "copy: %" PRIu64 " element%s not fit into the remaining %" PRIu64 " element%s of %s: give a smaller "
                            "\"count\"", step->count, step->count == 1 ? " does" : "s do", room, room == 1 ? "" : "s", step->buffer->name);
    return LW_OK;
}

static enum lw_status read_fill(struct lnc_file *file, const struct lw_yaml *node,
                                struct lnc_step *step, struct lw_error *err)
{
    static const char *const known[] = {"buffer", "value", "index", "count", NULL};
    const struct lw_yaml *buffer = lw_yaml_get(node, "buffer"),
                         *value = lw_yaml_get(node, "value");
    enum lw_status status = expect_mapping(file, node, err, "{buffer: A, value: 0}");

    if (status == LW_OK)
        status = lw_yaml_known(file->doc, node, known, err);
    if (status != LW_OK)
        return status;
    if (buffer == NULL || value == NULL)
        return missing(file, node, err, "fill", buffer == NULL ? "buffer" : "value",
                       "fill: {buffer: A, value: 0}");
    status = lnc_buffer_named(file, buffer, &step->buffer, err);
    if (status == LW_OK)
        status = read_part(file, node, step->buffer, "index", "count", &step->first,
                           &step->count, err);
    if (status != LW_OK)
        return status;
    return lnc_init_read(file, value, step->buffer->type, &step->count, &step->value, err);
}

static enum lw_status read_swap(struct lnc_file *file, const struct lw_yaml *node,
                                struct lnc_step *step, struct lw_error *err)
{
    enum lw_status status;

    if (node->kind != LW_YAML_SEQUENCE || node->count != 2)
        return lw_yaml_fail(file->doc, node, err,
                            "swap: expected a list of two buffers, such as [A, B]");
    status = lnc_buffer_named(file, node->first, &step->buffer, err);
    if (status == LW_OK)
        status = lnc_buffer_named(file, node->first->next, &step->other, err);
    if (status != LW_OK)
        return status;
    if (step->buffer->variable != NULL || step->other->variable != NULL)
        return lw_yaml_fail(file->doc, node, err,
                            "swap: %s is a variable of the program, whose address cannot change: use copy instead",
                            step->buffer->variable != NULL ? step->buffer->name
                                                           : step->other->name);
    if (step->buffer->type != step->other->type || step->buffer->count != step->other->count ||
        step->buffer->read_only != step->other->read_only)
        return lw_yaml_fail(file->doc, node, err,
                            "swap: %s (%s, %" PRIu64 "%s) and %s (%s, %" PRIu64 "%s) must have equal type, count and "
                                                                                "access",
                            step->buffer->name, step->buffer->type->name, step->buffer->count,
                            step->buffer->read_only ? ", read-only" : "", step->other->name,
                            step->other->type->name, step->other->count,
                            step->other->read_only ? ", read-only" : "");
    return LW_OK;
}

static enum lw_status read_tolerance(struct lnc_file *file, const struct lw_yaml *node,
                                     struct lnc_step *step, struct lw_error *err)
{
    static const char *const known[] = {"absolute", "relative", NULL};
    const struct lw_yaml *n;
    enum lw_status status = LW_OK;

    if (node->kind == LW_YAML_MAPPING) {
        status = lw_yaml_known(file->doc, node, known, err);
        if (status == LW_OK && (n = lw_yaml_get(node, "absolute")) != NULL)
            status = lw_yaml_double(file->doc, n, &step->absolute, err);
        if (status == LW_OK && (n = lw_yaml_get(node, "relative")) != NULL)
            status = lw_yaml_double(file->doc, n, &step->relative, err);
    } else {
        status = lw_yaml_double(file->doc, node, &step->absolute, err);
        step->relative = step->absolute;
    }
    if (status == LW_OK && !(step->absolute >= 0 && step->relative >= 0 &&
                             step->absolute < HUGE_VAL && step->relative < HUGE_VAL))
        status = lw_yaml_fail(file->doc, node, err,
                              "tolerance: expected a finite number of 0 or more");
    return status;
}

static enum lw_status read_check(struct lnc_file *file, const struct lw_yaml *node,
                                 struct lnc_step *step, struct lw_error *err)
{
    static const char *const known[] = {"buffer", "file",  "values",    "constant",
                                        "equals", "index", "tolerance", "count", NULL};
    static const char *const forms[] = {"file", "values", "constant", "equals"};
    const struct lw_yaml *buffer = lw_yaml_get(node, "buffer"), *form = NULL, *n;
    enum lw_status status = expect_mapping(file, node, err, "{buffer: C, file: c.expected}");

    if (status == LW_OK)
        status = lw_yaml_known(file->doc, node, known, err);
    if (status != LW_OK)
        return status;
    if (buffer == NULL)
        return missing(file, node, err, "check", "buffer",
                       "check: {buffer: C, file: c.expected}");
    status = lnc_buffer_named(file, buffer, &step->buffer, err);
    if (status == LW_OK)
        status = read_part(file, node, step->buffer, "index", "count", &step->first,
                           &step->count, err);
    if (status == LW_OK && (n = lw_yaml_get(node, "tolerance")) != NULL)
        status = read_tolerance(file, n, step, err);
    if (status != LW_OK)
        return status;
    for (unsigned i = 0; i < LW_COUNT_OF(forms); i++) {
        n = lw_yaml_get(node, forms[i]);
        if (n != NULL && form != NULL)
            return lw_yaml_fail(file->doc, n, err, "check: \"%s\" and \"%s\" cannot be combined: give one of them",
                                form->key, n->key);
        form = n != NULL ? n : form;
    }
    if (form == NULL)
        return lw_yaml_fail(file->doc, node, err,
                            "check: the expected contents are missing: give file, values, constant or equals");
    if (strcmp(form->key, "equals") == 0) {
        status = lnc_buffer_named(file, form, &step->other, err);
        if (status != LW_OK)
            return status;
        step->other_first = step->first;
        if (step->other == step->buffer)
            return lw_yaml_fail(file->doc, form, err,
                                "equals: %s is the checked buffer itself: give another buffer", form->text);
        if (step->other->type != step->buffer->type ||
            step->other->count < step->first + step->count)
            return lw_yaml_fail(file->doc, form, err,
                                "equals: %s (%s, %" PRIu64 ") and %s (%s, %" PRIu64 ") must have equal type and count",
                                step->buffer->name, step->buffer->type->name,
                                step->buffer->count, step->other->name, step->other->type->name,
                                step->other->count);
        return LW_OK;
    }
    if (strcmp(form->key, "constant") == 0) {
        if (form->kind != LW_YAML_SCALAR)
            return lw_yaml_fail(file->doc, form, err, "constant: expected one number");
        return lnc_init_read(file, form, step->buffer->type, &step->count, &step->value, err);
    }
    if (strcmp(form->key, "values") == 0) {
        if (form->kind != LW_YAML_SEQUENCE || form->count == 0)
            return lw_yaml_fail(file->doc, form, err, "values: expected a list of numbers");
        /* A list with fewer values than the buffer has elements checks only the first elements. */
        if (lw_yaml_get(node, "count") == NULL && form->count < step->count)
            step->count = form->count;
        return lnc_init_read(file, form, step->buffer->type, &step->count, &step->value, err);
    }
    /* lnc_init_read() reads {file: ...} only as a mapping, so a mapping with this key alone is built. */
    struct lw_yaml one = *form, around = {.kind = LW_YAML_MAPPING, .line = form->line};
    one.next = NULL;
    around.first = &one;
    around.count = 1;
    return lnc_init_read(file, &around, step->buffer->type, &step->count, &step->value, err);
}

static enum lw_status read_until(struct lnc_file *file, const struct lw_yaml *node,
                                 struct lnc_step *step, struct lw_error *err)
{
    static const char *const known[] = {"buffer", "index", "equals", "max", NULL};
    const struct lw_yaml *buffer = lw_yaml_get(node, "buffer"),
                         *equals = lw_yaml_get(node, "equals"), *max = lw_yaml_get(node, "max");
    enum lw_status status =
        expect_mapping(file, node, err, "{buffer: changed, index: 0, equals: 0, max: 100}");

    if (status == LW_OK)
        status = lw_yaml_known(file->doc, node, known, err);
    if (status != LW_OK)
        return status;
    if (buffer == NULL || equals == NULL)
        return missing(file, node, err, "until", buffer == NULL ? "buffer" : "equals",
                       "until: {buffer: changed, index: 0, equals: 0, max: 100}");
    status = lnc_buffer_named(file, buffer, &step->until, err);
    if (status == LW_OK)
        status = read_part(file, node, step->until, "index", NULL, &step->until_index, NULL,
                           err);
    if (status != LW_OK)
        return status;
    if (equals->kind != LW_YAML_SCALAR || equals->quoted ||
        !lnc_value_parse(step->until->type, equals->text, &step->until_bits))
        return lw_yaml_fail(file->doc, equals, err, "equals: expected a number of type %s",
                            step->until->type->name);
    if (max != NULL)
        status = lw_yaml_u64(file->doc, max, 1, max_rounds, &step->repeat_count, err);
    else if (step->repeat_count == 0)
        return missing(file, node, err, "until", "max",
                       "max: 100 (without a limit a wrong kernel never ends)");
    return status;
}

/* Reads repeat: {count: N, until: {...}, steps: [...]}. The keys `steps` and `until` may also be next to `repeat`. */
static enum lw_status read_repeat(struct lnc_file *file, const struct lw_yaml *item,
                                  unsigned depth, struct lnc_step *step, struct lw_error *err)
{
    static const char *const inner_known[] = {"count", "until", "steps", NULL};
    static const char *const outer_known[] = {"repeat", "until", "steps", NULL};
    const struct lw_yaml *repeat = lw_yaml_get(item, "repeat"), *body = item, *n;
    const struct lw_yaml *count = repeat, *steps;
    enum lw_status status;

    if (repeat != NULL && repeat->kind == LW_YAML_MAPPING) {
        if (item->count != 1)
            return lw_yaml_fail(file->doc, item, err,
                                "repeat: steps and until belong inside its mapping");
        body = repeat;
        count = lw_yaml_get(repeat, "count");
    }
    status = lw_yaml_known(file->doc, body, body == item ? outer_known : inner_known, err);
    if (status != LW_OK)
        return status;
    if (count != NULL) {
        status = lw_yaml_u64(file->doc, count, 1, max_rounds, &step->repeat_count, err);
        if (status != LW_OK)
            return status;
    }
    if ((n = lw_yaml_get(body, "until")) != NULL)
        status = read_until(file, n, step, err);
    else if (count == NULL)
        return missing(file, body, err, "repeat", "count", "repeat: {count: 10, steps: [...]}");
    if (status != LW_OK)
        return status;
    if (depth == LNC_MAX_NEST)
        return lw_yaml_fail(file->doc, item, err, "repeat: steps are nested more than %d deep",
                            LNC_MAX_NEST);
    if ((steps = lw_yaml_get(body, "steps")) == NULL)
        return missing(file, body, err, "repeat", "steps", "repeat: {count: 10, steps: [...]}");
    return read_list(file, steps, depth + 1, &step->steps, &step->step_count, err);
}

/* ---- the list -------------------------------------------------------------------- */

static enum lw_status read_step(struct lnc_file *file, const struct lw_yaml *item,
                                unsigned depth, struct lnc_step *step, struct lw_error *err)
{
    static const char *const known[] = {"launch", "copy",   "fill", "swap",
                                        "check",  "repeat", NULL};
    const struct lw_yaml *node = item->first;
    enum lw_status status;

    if (item->kind != LW_YAML_MAPPING || item->count == 0)
        return lw_yaml_fail(file->doc, item, err,
                            "expected a step: launch, copy, fill, swap, check or repeat");
    step->node = node;
    if (lw_yaml_get(item, "repeat") != NULL || lw_yaml_get(item, "until") != NULL) {
        step->kind = LNC_REPEAT;
        return read_repeat(file, item, depth, step, err);
    }
    status = lw_yaml_known(file->doc, item, known, err);
    if (status != LW_OK)
        return status;
    if (item->count != 1)
        return lw_yaml_fail(file->doc, node->next, err,
                            "\"%s\" and \"%s\" are in one step: start a new step with \"-\"",
                            node->key, node->next->key);
    if (strcmp(node->key, "launch") == 0) {
        step->kind = LNC_LAUNCH;
        return read_launch(file, node, depth, step, err);
    }
    if (strcmp(node->key, "copy") == 0) {
        step->kind = LNC_COPY;
        return read_copy(file, node, step, err);
    }
    if (strcmp(node->key, "fill") == 0) {
        step->kind = LNC_FILL;
        return read_fill(file, node, step, err);
    }
    if (strcmp(node->key, "swap") == 0) {
        step->kind = LNC_SWAP;
        return read_swap(file, node, step, err);
    }
    step->kind = LNC_CHECK;
    return read_check(file, node, step, err);
}

static enum lw_status read_list(struct lnc_file *file, const struct lw_yaml *node,
                                unsigned depth, struct lnc_step **first, unsigned *count,
                                struct lw_error *err)
{
    struct lnc_step **tail = first;

    *first = NULL;
    *count = 0;
    if (node->kind != LW_YAML_SEQUENCE || node->count == 0)
        return lw_yaml_fail(file->doc, node, err,
                            "steps: expected a list of launch, copy, fill, swap, check and "
                            "repeat");
    for (const struct lw_yaml *n = node->first; n != NULL; n = n->next) {
        struct lnc_step *step = lw_arena_alloc(&file->arena, sizeof *step);
        enum lw_status status;

        if (step == NULL)
            return lnc_no_memory(file, n, err);
        status = read_step(file, n, depth, step, err);
        if (status != LW_OK)
            return status;
        step->index = (*count)++;
        *tail = step;
        tail = &step->next;
    }
    return LW_OK;
}

enum lw_status lnc_steps_read(struct lnc_file *file, const struct lw_yaml *node,
                              struct lw_error *err)
{
    return read_list(file, node, 0, &file->steps, &file->step_count, err);
}
