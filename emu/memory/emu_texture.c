/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Texture fetches: texels are read through a descriptor in global memory (docs/reference/memory.md).
 *
 * The handle of a texture is the address of its descriptor. Therefore all state of textures is in global memory, and hashes,
 * checkpoints, history and logs need no code for textures. A kernel or a file can have written any bytes to a descriptor. Each
 * fetch therefore checks the descriptor, and checks the address of each texel as a load does.
 */
#include <stdio.h>

#include "emu/lane/emu_math_priv.h"
#include "emu/memory/emu_mem_priv.h"
#include "emu/memory/emu_texture_priv.h"

/* ---- descriptors ------------------------------------------------------------------- */

/* Offsets of the fields of a descriptor; bytes outside the fields are zero. The value at AT_MARK distinguishes a bound texture
 * from zeroed memory. */
enum {
    AT_ADDRESS = 0, AT_WIDTH = 8, AT_HEIGHT = 12, AT_PITCH = 16, AT_BITS = 20, AT_COMPONENTS = 21,
    AT_KIND = 22, AT_FLAGS = 23, AT_EDGE = 24, AT_DEPTH = 26, AT_MARK = 28
};
enum {
    FLAG_NORMALIZED_VALUES = 1, FLAG_NORMALIZED_COORDS = 2, FLAG_LINEAR = 4, FLAG_LAYERS = 8, FLAG_CUBE = 16,
    EDGE2_SHIFT = 5 /* the flags include the address mode of the third axis */
};
static const uint32_t mark = 0x5854574c; /* "LWTX" */

/** Returns a clause that states why the format of @t is invalid, or NULL if it is valid. */
static const char *format_error(const struct emu_texture *t)
{
    if (t->bits != 8 && t->bits != 16 && t->bits != 32)
        return "a component must have 8, 16 or 32 bits";
    if (t->components != 1 && t->components != 2 && t->components != 4)
        return "a texel must have 1, 2 or 4 components";
    if (t->kind > EMU_TEXEL_FLOAT)
        return "components must be unsigned, signed or float";
    if (t->kind == EMU_TEXEL_FLOAT && t->bits == 8)
        return "float components must have 16 or 32 bits";
    if (t->normalized_values && (t->kind == EMU_TEXEL_FLOAT || t->bits == 32))
        return "only integers of 8 or 16 bits can be read as floats from 0 to 1";
    if (t->width == 0)
        return "the texture has no texels";
    if (t->edge[0] > EMU_TEXTURE_BORDER || t->edge[1] > EMU_TEXTURE_BORDER || t->edge[2] > EMU_TEXTURE_BORDER)
        return "an addressing mode must be wrap, clamp, mirror or border";
    if (t->linear && t->kind != EMU_TEXEL_FLOAT && !t->normalized_values)
        return "only texels that are read as floats can be interpolated";
    if (t->depth > EMU_TEXTURE_MAX_DEPTH)
        return "the texture has too many planes";
    if ((t->layers && t->depth == 0) || (t->height == 0 && t->depth != 0 && !t->layers))
        return "the number of planes does not match the dimensions";
    if (t->cube && (t->height != t->width || t->depth == 0 || t->depth % 6 != 0 || (t->depth != 6 && !t->layers)))
        return "a cube must have six square faces";
    return NULL;
}

static void write_descriptor(const struct emu_texture *t, uint8_t bytes[EMU_TEXTURE_BYTES])
{
    memset(bytes, 0, EMU_TEXTURE_BYTES);
    lw_put64(bytes + AT_ADDRESS, t->address);
    lw_put32(bytes + AT_WIDTH, t->width);
    lw_put32(bytes + AT_HEIGHT, t->height);
    lw_put32(bytes + AT_PITCH, t->pitch_bytes);
    bytes[AT_BITS] = t->bits;
    bytes[AT_COMPONENTS] = t->components;
    bytes[AT_KIND] = (uint8_t)t->kind;
    bytes[AT_FLAGS] = (uint8_t)((t->normalized_values ? FLAG_NORMALIZED_VALUES : 0) |
                                (t->normalized_coords ? FLAG_NORMALIZED_COORDS : 0) | (t->linear ? FLAG_LINEAR : 0) |
                                (t->layers ? FLAG_LAYERS : 0) | (t->cube ? FLAG_CUBE : 0) | (unsigned)t->edge[2] << EDGE2_SHIFT);
    bytes[AT_EDGE] = (uint8_t)t->edge[0];
    bytes[AT_EDGE + 1] = (uint8_t)t->edge[1];
    bytes[AT_DEPTH] = (uint8_t)t->depth;
    bytes[AT_DEPTH + 1] = (uint8_t)(t->depth >> 8);
    lw_put32(bytes + AT_MARK, mark);
}

/** Reads a descriptor. Returns NULL, or, if the bytes are no valid descriptor, a clause that states why. */
static const char *read_descriptor(const uint8_t *bytes, struct emu_texture *t)
{
    *t = (struct emu_texture){
        .address = lw_get64(bytes + AT_ADDRESS),
        .width = lw_get32(bytes + AT_WIDTH),
        .height = lw_get32(bytes + AT_HEIGHT),
        .pitch_bytes = lw_get32(bytes + AT_PITCH),
        .bits = bytes[AT_BITS],
        .components = bytes[AT_COMPONENTS],
        .kind = (enum emu_texel_kind)bytes[AT_KIND],
        .edge = {(enum emu_texture_edge)bytes[AT_EDGE], (enum emu_texture_edge)bytes[AT_EDGE + 1],
                 (enum emu_texture_edge)(bytes[AT_FLAGS] >> EDGE2_SHIFT)},
        .depth = bytes[AT_DEPTH] | (uint32_t)bytes[AT_DEPTH + 1] << 8,
        .normalized_values = bytes[AT_FLAGS] & FLAG_NORMALIZED_VALUES,
        .normalized_coords = bytes[AT_FLAGS] & FLAG_NORMALIZED_COORDS,
        .linear = bytes[AT_FLAGS] & FLAG_LINEAR,
        .layers = bytes[AT_FLAGS] & FLAG_LAYERS,
        .cube = bytes[AT_FLAGS] & FLAG_CUBE,
    };
    if (lw_get32(bytes + AT_MARK) != mark)
        return "no memory is bound to the texture: add it under textures: in the launch file, or give the kernel a texture object";
    return format_error(t);
}

enum lw_status emu_texture_bind(struct emu_machine *machine, uint64_t handle,
                                const struct emu_texture *texture, struct lw_error *err)
{
    uint8_t bytes[EMU_TEXTURE_BYTES] = {0};
    const char *why = texture != NULL ? format_error(texture) : NULL;

    if (why != NULL)
        return LW_FAIL(err, LW_EINPUT, "the description of the texture is not valid: %s", why);
    if (handle % 8 != 0)
        return LW_FAIL(err, LW_ERANGE, "texture handle 0x%llx is not valid: it must be a multiple of 8",
                       (unsigned long long)handle);
    if (texture != NULL)
        write_descriptor(texture, bytes);
    return emu_global_write(machine, handle, bytes, sizeof bytes, err);
}

bool emu_texture_get(const struct emu_machine *machine, uint64_t handle, struct emu_texture *out)
{
    uint8_t bytes[EMU_TEXTURE_BYTES];

    return handle % 8 == 0 &&
           emu_global_read(machine, handle, bytes, sizeof bytes, NULL) == LW_OK &&
           read_descriptor(bytes, out) == NULL;
}

/* ---- from lanes to texels ------------------------------------------------------------ */

/** Returns the texture handle of a lane. */
static uint64_t handle_of(const struct emu_warp *w, const struct isa_insn *insn,
                          const struct emu_dinsn *di, unsigned lane)
{
    const uint32_t *low = emu_row(w, di->c), *high = emu_row(w, di->c + w->stride);

    return insn->c_scalar ? emu_scalar_pair(w, insn->c)
                          : (uint64_t)high[lane] << 32 | low[lane];
}

/** Returns the geometry of the fetches that a texture permits, as enum values of the modifier TGEOM. */
static unsigned geometry_of(const struct emu_texture *t)
{
    if (t->cube)
        return t->layers ? ISA_TGEOM_ACUBE : ISA_TGEOM_CUBE;
    if (t->layers)
        return t->height == 0 ? ISA_TGEOM_A1D : ISA_TGEOM_A2D;
    return t->depth != 0 ? ISA_TGEOM_3D : t->height != 0 ? ISA_TGEOM_2D : ISA_TGEOM_1D;
}

/** Returns a clause that states that a fetch has the wrong geometry. */
static const char *geometry_error(unsigned has)
{
    static const char *const texts[] = {
        [ISA_TGEOM_1D] = "the texture has one dimension, but the fetch has another geometry",
        [ISA_TGEOM_2D] = "the texture has two dimensions, but the fetch has another geometry",
        [ISA_TGEOM_3D] = "the texture has three dimensions, but the fetch has another geometry",
        [ISA_TGEOM_A1D] = "the texture has layers of one dimension, but the fetch has another geometry",
        [ISA_TGEOM_A2D] = "the texture has layers of two dimensions, but the fetch has another geometry",
        [ISA_TGEOM_CUBE] = "the texture is a cube, but the fetch has another geometry",
        [ISA_TGEOM_ACUBE] = "the texture has cubes as layers, but the fetch has another geometry",
    };

    return texts[has];
}

/** Gets the texture at a handle. If the texture's descriptor is not valid for this fetch, returns false and sets @why to a
 *  clause. */
static bool open_texture(const struct emu_memory *memory, const struct isa_insn *insn,
                         uint64_t handle, struct emu_texture *t, char *why, size_t why_size)
{
    const struct emu_alloc_record *record;
    const char *wrong;
    bool is_float;

    if (handle % 8 != 0 || !emu_global_ok(memory, memory->load_valid, handle, EMU_TEXTURE_BYTES)) {
        record = emu_memory_find(memory, handle);
        bool freed = record != NULL && record->flags & EMU_ALLOC_FREED;
        snprintf(why, why_size, "there is no texture at 0x%llx%s: use a texture's name or an argument {texture: NAME} "
                                "as the handle",
                 (unsigned long long)handle, freed ? ", which was freed" : "");
        return false;
    }
    wrong = read_descriptor(memory->host + (handle - ISA_GLOBAL_BASE), t);
    if (wrong == NULL && geometry_of(t) != EMU_MOD(insn, TGEOM))
        wrong = geometry_error(geometry_of(t));
    is_float = wrong == NULL && (t->kind == EMU_TEXEL_FLOAT || t->normalized_values);
    if (wrong == NULL && is_float != (EMU_MOD(insn, TTYPE) == ISA_TTYPE_F32))
        wrong = is_float ? "its texels are floats, but the fetch reads integers"
                         : "its texels are integers, but the fetch reads floats";
    if (wrong == NULL)
        return true;
    record = emu_memory_find(memory, handle);
    snprintf(why, why_size, "texture '%.60s' at 0x%llx: %s", record != NULL ? record->name : "",
             (unsigned long long)handle, wrong);
    return false;
}

/** Gets the coordinates of a lane. */
static void coordinates_of(const struct emu_warp *w, const struct isa_insn *insn, const struct emu_dinsn *di, unsigned lane,
                           uint32_t coordinate[4])
{
    static const uint8_t rows[] = {
        [ISA_TGEOM_1D] = 1, [ISA_TGEOM_2D] = 2, [ISA_TGEOM_3D] = 3, [ISA_TGEOM_A1D] = 2,
        [ISA_TGEOM_A2D] = 3, [ISA_TGEOM_CUBE] = 3, [ISA_TGEOM_ACUBE] = 4,
    };

    for (unsigned i = 0; i < rows[EMU_MOD(insn, TGEOM)]; i++)
        coordinate[i] = emu_row(w, di->a + i * w->stride)[lane];
}

/** Texels that the lanes of one fetch read. A lane that interpolates reads its nearest texel and others. */
struct fetch {
    uint64_t inside; /* lanes whose nearest texel is inside the texture */
    uint64_t bad;    /* lanes whose handle does not refer to a valid texture */
    unsigned bytes;  /* bytes of a texel */
    uint64_t address[EMU_MAX_LANES];
    struct emu_texture texture[EMU_MAX_LANES]; /* [lane] valid if the lane's number is in `first`; first[l]: lowest lane with the
                                                * same handle as lane l */
    uint8_t first[EMU_MAX_LANES];
    char why[160]; /* clause for the lowest lane in `bad` */
};

static void locate(const struct emu_warp *w, const struct isa_insn *insn,
                   const struct emu_dinsn *di, uint64_t lanes, struct fetch *f)
{
    const struct emu_memory *memory = &w->core->machine->memory;
    bool is_float = EMU_MOD(insn, TCOORD) == ISA_TCOORD_F32;
    char why[sizeof f->why];

    f->inside = f->bad = 0;
    f->bytes = 0;
    f->why[0] = '\0';
    for (uint64_t rest = lanes; rest != 0;) {
        unsigned first = lw_lowest(rest), bytes = 0;
        uint64_t handle = handle_of(w, insn, di, first), same = 0;
        struct emu_texture *t = &f->texture[first];

        for (LW_EACH_BIT(l, rest))
            same |= handle_of(w, insn, di, (unsigned)l) == handle ? UINT64_C(1) << l : 0;
        rest &= ~same;
        bool good = open_texture(memory, insn, handle, t, why, sizeof why);
        if (good) {
            bytes = t->bits / 8u * t->components;
            if (f->bytes == 0)
                f->bytes = bytes;
            good = f->bytes == bytes;
            if (!good)
                snprintf(why, sizeof why, "lanes of one fetch use textures whose texels have %u and %u bytes: the "
                                          "sizes must be equal", f->bytes, bytes);
        }
        if (!good) {
            if (f->bad == 0 || first < lw_lowest(f->bad))
                memcpy(f->why, why, sizeof why);
            f->bad |= same;
            continue;
        }
        for (LW_EACH_BIT(l, same)) {
            uint32_t coordinate[4];
            struct emu_samples samples;

            f->first[l] = (uint8_t)first;
            coordinates_of(w, insn, di, (unsigned)l, coordinate);
            emu_texture_samples(t, is_float, coordinate, true, &samples);
            if (samples.count == 0)
                continue;
            f->inside |= UINT64_C(1) << l;
            f->address[l] = samples.address[0];
        }
    }
}

uint64_t emu_texture_addresses(const struct emu_warp *w, const struct isa_insn *insn,
                               const struct emu_dinsn *di, uint64_t lanes, uint64_t *address,
                               unsigned *bytes)
{
    struct fetch f;

    locate(w, insn, di, lanes, &f);
    for (LW_EACH_BIT(l, f.inside))
        address[l] = f.address[l];
    *bytes = f.bytes;
    return f.inside;
}

/* ---- lanes that fetch from one texture, all texels of which are in one allocation ------ */

/** Returns true if all lanes in @lanes have the same handle, and gets the handle. */
static bool one_handle(const struct emu_warp *w, const struct isa_insn *insn,
                       const struct emu_dinsn *di, uint64_t lanes, uint64_t *handle)
{
    const uint32_t *low = emu_row(w, di->c), *high = emu_row(w, di->c + w->stride);
    uint32_t differ = 0;

    *handle = handle_of(w, insn, di, lw_lowest(lanes));
    if (insn->c_scalar)
        return true;
    for (unsigned l = 0; l < w->n; l++) {
        uint32_t in = 0 - (uint32_t)(lanes >> l & 1);
        differ |= ((low[l] ^ (uint32_t)*handle) | (high[l] ^ (uint32_t)(*handle >> 32))) & in;
    }
    return differ == 0;
}

/** Returns true if all texels of a texture are in one live allocation, and aligned to the size of a texel, so that no lane can
 *  fault. */
static bool all_there(struct emu_warp *w, const struct emu_dinsn *di, const struct emu_texture *t)
{
    const struct emu_icache *cache = &w->code->icache[di->index];
    const struct emu_alloc_record *record;
    uint64_t bytes = t->bits / 8u * t->components;
    uint64_t rows = t->height == 0 ? 0 : (uint64_t)(t->height - 1) * t->pitch_bytes;
    uint64_t size = rows + t->width * bytes;

    if (size < rows || (t->address & (bytes - 1)) != 0 ||
        (t->height != 0 && (t->pitch_bytes & (bytes - 1)) != 0))
        return false;
    for (unsigned attempt = 0; attempt < 2; attempt++) {
        if (cache->limit != 0 && t->address >= cache->base && t->address < cache->limit &&
            size <= cache->limit - t->address)
            return true;
        record = emu_memory_find(&w->core->machine->memory, t->address);
        if (record == NULL || record->flags & EMU_ALLOC_FREED)
            return false;
        emu_icache_set(w->code, di->index, record->address,
                       record->address + record->size_bytes);
    }
    return false;
}

/** Fetches for lanes that have the same handle, if no lane can fault, interpolates or has more than two coordinates. Returns
 *  false, and does nothing, otherwise. */
static bool fetch_one(struct emu_warp *w, const struct isa_insn *insn, const struct emu_dinsn *di,
                      uint64_t lanes)
{
    const struct emu_memory *memory = &w->core->machine->memory;
    const uint32_t *x = emu_row(w, di->a), *y = emu_row(w, di->a + w->stride);
    bool is_float = EMU_MOD(insn, TCOORD) == ISA_TCOORD_F32;
    const uint8_t *at[EMU_MAX_LANES];
    uint32_t inside[EMU_MAX_LANES]; /* [lane] ~0 if the lane reads a texel, 0 if it reads zeros */
    struct emu_texture t;
    uint64_t handle;
    char why[160];

    if (!one_handle(w, insn, di, lanes, &handle) ||
        !open_texture(memory, insn, handle, &t, why, sizeof why) || t.linear || t.depth != 0 || !all_there(w, di, &t))
        return false;
    const uint8_t *host = memory->host + (t.address - ISA_GLOBAL_BASE);
    const unsigned bytes = t.bits / 8u * t.components, n = w->n;
    if (t.height == 0 && !is_float && t.width <= INT32_MAX) {
        for (unsigned l = 0; l < n; l++) {
            uint32_t in = 0 - (uint32_t)(x[l] < t.width);
            inside[l] = in;
            at[l] = host + (uint64_t)(x[l] & in) * bytes;
        }
    } else {
        for (LW_EACH_BIT(l, lanes)) {
            int64_t column = emu_texture_index(&t, 0, is_float, x[l]);
            int64_t row = t.height == 0 ? 0 : emu_texture_index(&t, 1, is_float, y[l]);
            inside[l] = 0 - (uint32_t)(column >= 0 && row >= 0);
            at[l] = inside[l] ? host + (uint64_t)row * t.pitch_bytes + (uint64_t)column * bytes
                              : host;
        }
    }
    for (unsigned c = 0; c < 4; c++) {
        uint32_t *d = emu_row(w, di->d + c * w->stride);
        unsigned offset = c * t.bits / 8u;

        if (c >= t.components) {
            for (unsigned l = 0; l < n; l++)
                d[l] &= (uint32_t)(lanes >> l & 1) - 1;
        } else if (t.bits == 32) {
            for (LW_EACH_BIT(l, lanes))
                d[l] = lw_get32(at[l] + offset) & inside[l];
        } else {
            for (LW_EACH_BIT(l, lanes))
                d[l] = emu_texture_component(&t, at[l] + offset) & inside[l];
        }
    }
    w->core->stats.loads++;
    return true;
}

/** Returns the kind of the fault of a read of a texel, or EMU_FAULT_NONE. */
static enum emu_fault_kind texel_fault(struct emu_warp *w, unsigned lane, uint64_t address, unsigned bytes)
{
    const struct emu_memory *memory = &w->core->machine->memory;
    struct emu_host_address target;
    enum emu_fault_kind kind;

    if (emu_global_ok(memory, memory->load_valid, address, bytes) && (address & (bytes - 1)) == 0)
        return EMU_FAULT_NONE;
    kind = emu_lane_address(w, ISA_SPACE_GLOBAL, lane, address, bytes, false, &target);
    return kind != EMU_FAULT_NULL_PAGE && (address & (bytes - 1)) != 0 ? EMU_FAULT_MISALIGNED : kind;
}

/** Returns a component of a fetch: the weighted sum of its texels. */
static uint32_t sum_of(const struct emu_memory *memory, const struct emu_texture *t, const struct emu_samples *samples, unsigned c)
{
    double sum = 0;

    if (samples->count == 0 || c >= t->components)
        return 0;
    for (unsigned i = 0; i < samples->count; i++) {
        const uint32_t value = emu_texture_component(t, memory->host + (samples->address[i] - ISA_GLOBAL_BASE) + c * t->bits / 8);

        if (samples->weight[i] == 1)
            return value;
        sum += samples->weight[i] * emu_f32_bits(value);
    }
    return emu_bits_f32((float)sum);
}

bool emu_texture_fetch(struct emu_warp *w, const struct emu_dinsn *di, uint64_t lanes)
{
    const struct isa_insn *insn = emu_insn_of(w, di);
    const struct emu_memory *memory = &w->core->machine->memory;
    const bool is_float = EMU_MOD(insn, TCOORD) == ISA_TCOORD_F32;
    enum emu_fault_kind first = EMU_FAULT_NONE;
    uint32_t value[EMU_MAX_LANES][4];
    uint64_t bad = 0, bad_address = 0;
    struct fetch f;

    if (fetch_one(w, insn, di, lanes))
        return true;
    locate(w, insn, di, lanes, &f);
    if (f.bad != 0) {
        emu_raise(w, di, EMU_FAULT_TEXTURE, f.bad, "%s", f.why);
        return false;
    }
    for (LW_EACH_BIT(l, lanes)) {
        const struct emu_texture *t = &f.texture[f.first[l]];
        enum emu_fault_kind kind = EMU_FAULT_NONE;
        uint32_t coordinate[4];
        struct emu_samples samples;

        coordinates_of(w, insn, di, (unsigned)l, coordinate);
        emu_texture_samples(t, is_float, coordinate, false, &samples);
        for (unsigned i = 0; i < samples.count && kind == EMU_FAULT_NONE; i++) {
            kind = texel_fault(w, (unsigned)l, samples.address[i], f.bytes);
            if (kind == EMU_FAULT_NONE)
                continue;
            if (bad == 0) {
                first = kind;
                bad_address = samples.address[i];
            }
            bad |= UINT64_C(1) << l;
        }
        for (unsigned c = 0; c < 4 && kind == EMU_FAULT_NONE; c++)
            value[l][c] = sum_of(memory, t, &samples, c);
    }
    if (bad != 0) {
        emu_raise_memory(w, di, first, bad, ISA_SPACE_GLOBAL, bad_address, f.bytes, false);
        return false;
    }
    for (LW_EACH_BIT(l, lanes)) /* Results are written only after all sources have been read, because results and sources may be
                                 * in the same registers. */
        for (unsigned c = 0; c < 4; c++)
            emu_row(w, di->d + c * w->stride)[l] = value[l][c];
    w->core->stats.loads++;
    return true;
}

const char *emu_texture_refused(const struct isa_insn *insn)
{
    unsigned geometry = EMU_MOD(insn, TGEOM);

    if (geometry > ISA_TGEOM_3D)
        return "multisample textures are not supported";
    if (EMU_MOD(insn, TLOD) != ISA_TLOD_NONE)
        return "mipmaps are not supported: remove .level, .grad or .bias";
    if (EMU_MOD(insn, TDC) != ISA_TDC_OFF)
        return "comparison with a depth is not supported";
    if (EMU_MOD(insn, TSAMP) != ISA_TSAMP_OFF)
        return "separate samplers are not supported: use the unified mode";
    if (isa_x_texel(insn->x, 0) != 0 || isa_x_texel(insn->x, 1) != 0 ||
        isa_x_texel(insn->x, 2) != 0)
        return "texel offsets are not supported";
    if (isa_insn_p(insn) != ISA_PT)
        return "the predicate of residency is not supported";
    return NULL;
}
