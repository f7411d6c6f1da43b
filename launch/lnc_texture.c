/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the `textures:` part of a launch file, and creates its textures, whose texels are in buffers. */
#include "launch/launch_priv.h"

#include <inttypes.h>
#include <stdlib.h>

enum { MAX_PITCH = 1 << 30 };

static enum lw_status read_type(const struct lnc_file *file, const struct lw_yaml *node,
                                struct lnc_texture *texture, struct lw_error *err)
{
    const struct lw_yaml *n = lw_yaml_get(node, "type");
    const struct lnc_type *type = texture->buffer->type;
    const char *name = type->name;
    enum lw_status status;

    if (n != NULL) {
        status = lw_yaml_string(file->doc, n, &name, err);
        if (status != LW_OK)
            return status;
        type = lnc_type_find(name);
    }
    if (type == NULL || type->bytes > 4)
        return lw_yaml_fail(file->doc, n != NULL ? n : node, err,
                            "texture %.60s: expected components of type u8 s8 u16 s16 u32 s32 f16 or f32, found %.40s: "
                            "give \"type\" and \"components\"", texture->name, name);
    texture->what.bits = (uint8_t)(8 * type->bytes);
    texture->what.kind = type->kind == LNC_FLOAT    ? EMU_TEXEL_FLOAT
                         : type->kind == LNC_SIGNED ? EMU_TEXEL_SIGNED
                                                    : EMU_TEXEL_UNSIGNED;
    return LW_OK;
}

static enum lw_status read_edge(const struct lnc_file *file, const struct lw_yaml *node,
                                enum emu_texture_edge *edge, struct lw_error *err)
{
    static const char *const names[] = {
        [EMU_TEXTURE_WRAP] = "wrap", [EMU_TEXTURE_CLAMP] = "clamp",
        [EMU_TEXTURE_MIRROR] = "mirror", [EMU_TEXTURE_BORDER] = "border"};
    const char *text;
    enum lw_status status = lw_yaml_string(file->doc, node, &text, err);

    if (status != LW_OK)
        return status;
    for (unsigned i = 0; i < LW_COUNT_OF(names); i++)
        if (strcmp(names[i], text) == 0) {
            *edge = (enum emu_texture_edge)i;
            return LW_OK;
        }
    return lw_yaml_fail(file->doc, node, err,
                        "edges: expected wrap, clamp, mirror or border, found \"%.40s\"", text);
}

/* Reads one edge mode for both dimensions, or a list of two. */
static enum lw_status read_edges(const struct lnc_file *file, const struct lw_yaml *node,
                                 enum emu_texture_edge edge[2], struct lw_error *err)
{
    enum lw_status status;

    if (node->kind == LW_YAML_SEQUENCE && node->count == 2) {
        status = read_edge(file, node->first, &edge[0], err);
        return status == LW_OK ? read_edge(file, node->first->next, &edge[1], err) : status;
    }
    status = read_edge(file, node, &edge[0], err);
    edge[1] = edge[0];
    return status;
}

static enum lw_status read_flag(const struct lnc_file *file, const struct lw_yaml *node,
                                const char *key, bool *out, struct lw_error *err)
{
    const struct lw_yaml *n = lw_yaml_get(node, key);

    return n != NULL ? lw_yaml_bool(file->doc, n, out, err) : LW_OK;
}

/* Reads width, height and pitch. By default the texture is one row of all texels from `index` on. */
static enum lw_status read_shape(const struct lnc_file *file, const struct lw_yaml *node,
                                 struct lnc_texture *texture, struct lw_error *err)
{
    struct emu_texture *what = &texture->what;
    const struct lnc_buffer *buffer = texture->buffer;
    const struct lw_yaml *width = lw_yaml_get(node, "width"), *n;
    uint64_t texel = what->bits / 8u * what->components, index = 0, value;
    uint64_t bytes = buffer->count * buffer->type->bytes;
    enum lw_status status = LW_OK;

    if ((n = lw_yaml_get(node, "index")) != NULL)
        status = lw_yaml_u64(file->doc, n, 0, buffer->count - 1, &index, err);
    if (status != LW_OK)
        return status;
    texture->offset_bytes = index * buffer->type->bytes;
    bytes -= texture->offset_bytes;
    if (texture->offset_bytes % texel != 0)
        return lw_yaml_fail(file->doc, n, err,
                            "index: a texel of %" PRIu64 " bytes must start at a multiple of its size, but element %" PRIu64 " is at byte %" PRIu64, texel, index,
                            texture->offset_bytes);
    value = bytes / texel;
    if (width != NULL)
        status = lw_yaml_u64(file->doc, width, 1, UINT32_MAX, &value, err);
    if (status != LW_OK)
        return status;
    if (value == 0 || value > UINT32_MAX || value * texel > bytes)
        return lw_yaml_fail(file->doc, width != NULL ? width : node, err,
                            "texture %.60s: %" PRIu64 " texel%s of %" PRIu64 " byte%s %s not fit: "
                            "buffer %.60s has %" PRIu64 " byte%s%s", texture->name,
                            value, value == 1 ? "" : "s", texel, texel == 1 ? "" : "s", value == 1 ? "does" : "do",
                            buffer->name, bytes, bytes == 1 ? "" : "s", index != 0 ? " after index" : "");
    what->width = (uint32_t)value;
    if ((n = lw_yaml_get(node, "height")) == NULL) {
        if (lw_yaml_get(node, "pitch") != NULL)
            return lw_yaml_fail(file->doc, lw_yaml_get(node, "pitch"), err,
                                "pitch: a texture without \"height\" has one row, so it has no pitch: remove the key");
        return LW_OK;
    }
    if (width == NULL)
        return lw_yaml_fail(file->doc, n, err, "height: \"width\" is missing: give the number of texels in a row");
    status = lw_yaml_u64(file->doc, n, 1, UINT32_MAX, &value, err);
    if (status != LW_OK)
        return status;
    what->height = (uint32_t)value;
    value = what->width * texel;
    if (lw_yaml_get(node, "pitch") != NULL)
        status = lw_yaml_u64(file->doc, lw_yaml_get(node, "pitch"), 1, MAX_PITCH, &value, err);
    if (status != LW_OK)
        return status;
    if (value < what->width * texel || value % texel != 0 || value > MAX_PITCH)
        return lw_yaml_fail(file->doc, node, err,
                            "texture %.60s: rows of %" PRIu64 " byte%s cannot have a pitch of %" PRIu64 " byte%s: a pitch is at least the size of a row, a multiple of the size of a texel, and at most 2^30",
                            texture->name, what->width * texel, what->width * texel == 1 ? "" : "s", value,
                            value == 1 ? "" : "s");
    what->pitch_bytes = (uint32_t)value;
    if ((what->height - 1) * value + what->width * texel > bytes)
        return lw_yaml_fail(file->doc, n, err,
                            "texture %.60s: %u rows do not fit: buffer %.60s has %" PRIu64
                            " byte%s%s", texture->name, what->height, buffer->name, bytes, bytes == 1 ? "" : "s",
                            index != 0 ? " after index" : "");
    return LW_OK;
}

static enum lw_status read_texture(struct lnc_file *file, const struct lw_yaml *node,
                                   struct lnc_texture *texture, struct lw_error *err)
{
    static const char *const known[] = {"buffer", "index",      "type",  "components",
                                        "width",  "height",     "pitch", "normalized",
                                        "edges",  "normalized_coordinates", NULL};
    const struct lw_yaml *n;
    enum lw_status status;
    uint64_t value = 1;

    texture->name = node->key;
    texture->node = node;
    texture->what.edge[0] = texture->what.edge[1] = EMU_TEXTURE_CLAMP;
    if (node->kind != LW_YAML_MAPPING)
        return lw_yaml_fail(file->doc, node, err,
                            "texture %.60s: expected a mapping such as {buffer: A}", node->key);
    status = lw_yaml_known(file->doc, node, known, err);
    if (status != LW_OK)
        return status;
    if ((n = lw_yaml_get(node, "buffer")) == NULL)
        return lw_yaml_fail(file->doc, node, err, "texture %.60s: \"buffer\" is missing: give the buffer that holds "
                                                  "the texels", node->key);
    status = lnc_buffer_named(file, n, &texture->buffer, err);
    if (status == LW_OK)
        status = read_type(file, node, texture, err);
    if (status == LW_OK && (n = lw_yaml_get(node, "components")) != NULL) {
        status = lw_yaml_u64(file->doc, n, 1, 4, &value, err);
        if (status == LW_OK && value == 3)
            status = lw_yaml_fail(file->doc, n, err, "components: a texel must have 1, 2 or 4 components");
    }
    if (status != LW_OK)
        return status;
    texture->what.components = (uint8_t)value;
    status = read_flag(file, node, "normalized", &texture->what.normalized_values, err);
    if (status == LW_OK)
        status = read_flag(file, node, "normalized_coordinates",
                           &texture->what.normalized_coords, err);
    if (status == LW_OK && texture->what.normalized_values &&
        (texture->what.kind == EMU_TEXEL_FLOAT || texture->what.bits == 32))
        status = lw_yaml_fail(file->doc, lw_yaml_get(node, "normalized"), err,
                              "normalized: only integers of 8 or 16 bits can be read as floats from 0 to 1");
    if (status == LW_OK && (n = lw_yaml_get(node, "edges")) != NULL)
        status = read_edges(file, n, texture->what.edge, err);
    return status == LW_OK ? read_shape(file, node, texture, err) : status;
}

enum lw_status lnc_textures_read(struct lnc_file *file, const struct lw_yaml *node,
                                 struct lw_error *err)
{
    struct lnc_texture **tail = &file->textures;

    if (node == NULL)
        return LW_OK;
    if (node->kind != LW_YAML_MAPPING)
        return lw_yaml_fail(file->doc, node, err,
                            "textures: expected a mapping such as {t: {buffer: A}}");
    for (const struct lw_yaml *n = node->first; n != NULL; n = n->next) {
        struct lnc_texture *texture = lw_arena_alloc(&file->arena, sizeof *texture);
        enum lw_status status;

        if (texture == NULL)
            return lnc_no_memory(file, n, err);
        for (const struct lnc_buffer *b = file->buffers; b != NULL; b = b->next)
            if (strcmp(b->name, n->key) == 0)
                return lw_yaml_fail(file->doc, n, err, "texture %.60s: a buffer has the same name: rename the buffer",
                                    n->key);
        status = read_texture(file, n, texture, err);
        if (status != LW_OK)
            return status;
        texture->index = file->texture_count++;
        *tail = texture;
        tail = &texture->next;
    }
    return LW_OK;
}

const struct lnc_texture *lnc_texture_find(const struct lnc_file *file, const char *name)
{
    const struct lnc_texture *t = file->textures;

    while (t != NULL && strcmp(t->name, name) != 0)
        t = t->next;
    return t;
}

static bool is_argument(const struct lnc_step *step, const struct lnc_texture *texture)
{
    for (; step != NULL; step = step->next) {
        for (unsigned i = 0; i < step->arg_count; i++) {
            if (step->args[i].kind == LNC_ARG_TEXTURE && step->args[i].texture == texture)
                return true;
            for (const struct lnc_hole *h = step->args[i].holes; h != NULL; h = h->next)
                if (h->texture == texture)
                    return true;
        }
        if (is_argument(step->steps, texture))
            return true;
    }
    return false;
}

/* Finds the program variable of a texture; NULL if the texture is no variable, so that only arguments refer to it. */
static enum lw_status find_variable(const struct lnc_file *file, const struct lnc_texture *texture,
                                    const struct isa_object *object,
                                    const struct isa_variable **variable, struct lw_error *err)
{
    unsigned count;
    const struct isa_variable *v = lnc_variable_find(object, texture->name, &count);

    *variable = v;
    if (count > 1)
        return lw_yaml_fail(file->doc, texture->node, err,
                            "texture %.60s: %u variables of the program have this name: give the mangled name, as the "
                            "compiler writes it", texture->name, count);
    if (v != NULL && v->size_bytes < EMU_TEXTURE_BYTES)
        return lw_yaml_fail(file->doc, texture->node, err,
                            "texture %.60s: the program's variable of this name is not a texture",
                            texture->name);
    if (v != NULL || is_argument(file->steps, texture))
        return LW_OK;
    return lw_yaml_fail(file->doc, texture->node, err,
                        "texture %.60s: the texture is not used: the program has no texture of this name, and no "
                        "argument is {texture: %.60s}", texture->name, texture->name);
}

enum lw_status lnc_textures_make(const struct lnc_file *file, struct emu_machine *machine,
                                 const struct isa_object *object, uint64_t *handles,
                                 struct lw_error *err)
{
    for (const struct lnc_texture *t = file->textures; t != NULL; t = t->next) {
        const struct isa_variable *variable;
        enum lw_status status = find_variable(file, t, object, &variable, err);

        if (status == LW_OK && variable == NULL)
            status = emu_alloc(machine, EMU_TEXTURE_BYTES, t->name, EMU_ALLOC_READ_ONLY,
                               &handles[t->index], err);
        if (status != LW_OK)
            return status;
    }
    return LW_OK;
}

enum lw_status lnc_textures_find(const struct lnc_file *file, const struct emu_program *program,
                                 uint64_t *handles, struct lw_error *err)
{
    for (const struct lnc_texture *t = file->textures; t != NULL; t = t->next) {
        const struct isa_variable *variable;
        enum lw_status status =
            find_variable(file, t, emu_program_object(program), &variable, err);

        if (status != LW_OK)
            return status;
        if (variable != NULL)
            handles[t->index] = emu_program_variable(program, variable->name, NULL);
    }
    return LW_OK;
}

enum lw_status lnc_textures_bind(const struct lnc_file *file, struct emu_machine *machine,
                                 const uint64_t *handles, const uint64_t *addresses,
                                 struct lw_error *err)
{
    for (const struct lnc_texture *t = file->textures; t != NULL; t = t->next) {
        struct emu_texture what = t->what, old;
        uint64_t handle = handles[t->index];
        enum lw_status status;

        what.address = addresses[t->buffer->index] + t->offset_bytes;
        if (emu_texture_get(machine, handle, &old) && old.address == what.address)
            continue; /* the descriptor already has this address */
        status = emu_texture_bind(machine, handle, &what, err);
        if (status != LW_OK)
            return lw_error_prefix(err, "%s:%u", lw_yaml_name(file->doc), t->node->key_line);
    }
    return LW_OK;
}
