/* SPDX-License-Identifier: Apache-2.0 */
/* Names and types of PTX, and the arena and maps of a job. */
#include <stdio.h>

#include "ptx/ptx_priv.h"

/* ---- job ------------------------------------------------------------------- */

void *ptx_new(struct ptx_job *job, size_t count, size_t size)
{
    void *p = NULL;

    if (size == 0 || count <= SIZE_MAX / 4 / size)
        p = lw_arena_alloc(&job->arena, count * size != 0 ? count * size : 1);
    if (p == NULL)
        ptx_fail(job, 0, LW_ENOMEM, "the host has no memory for the translation: %zu elements of %zu bytes", count, size);
    return p;
}

/* Grows @array to twice its capacity and at least @need elements, with zeros after the old ones. */
static void *grow(struct ptx_job *job, struct lw_arena *arena, void *array, size_t *capacity,
                  size_t need, size_t size)
{
    size_t room = *capacity < 8 ? 8 : *capacity * 2;
    void *p;

    if (room < need)
        room = need;
    p = room <= SIZE_MAX / 4 / size ? lw_arena_alloc(arena, room * size) : NULL;
    if (p == NULL)
        ptx_fail(job, 0, LW_ENOMEM, "the host has no memory for the translation");
    if (*capacity != 0)
        memcpy(p, array, *capacity * size);
    *capacity = room;
    return p;
}

void *ptx_grow(struct ptx_job *job, void *array, size_t *capacity, size_t need, size_t size)
{
    return grow(job, &job->arena, array, capacity, need, size);
}

void *ptx_object_grow(struct ptx_job *job, void *array, size_t *capacity, size_t need, size_t size)
{
    return need <= *capacity ? array : grow(job, &job->object->arena, array, capacity, need, size);
}

/* ---- maps ------------------------------------------------------------------- */

static uint32_t hash_text(const char *text, size_t size)
{
    uint32_t h = 2166136261u;

    for (size_t i = 0; i < size; i++)
        h = (h ^ (unsigned char)text[i]) * 16777619u;
    return h ^ h >> 15;
}

uint32_t *ptx_map_find(const struct ptx_map *map, const char *text, size_t size)
{
    uint32_t h = hash_text(text, size);

    if (map->capacity == 0)
        return NULL;
    for (size_t i = h & (map->capacity - 1);; i = (i + 1) & (map->capacity - 1)) {
        struct ptx_map_entry *e = &map->entry[i];

        if (e->text == NULL)
            return NULL;
        if (e->hash == h && e->size == size && memcmp(e->text, text, size) == 0)
            return &e->value;
    }
}

void ptx_map_put(struct ptx_job *job, struct ptx_map *map, const char *text, size_t size,
                 uint32_t value)
{
    uint32_t h = hash_text(text, size);

    if (map->count * 4 >= map->capacity * 3) {
        struct ptx_map bigger = { .capacity = map->capacity ? map->capacity * 2 : 16 };

        bigger.entry = PTX_ARRAY(job, struct ptx_map_entry, bigger.capacity);
        for (size_t i = 0; i < map->capacity; i++) {
            const struct ptx_map_entry *e = &map->entry[i];
            size_t k = e->hash & (bigger.capacity - 1);

            if (e->text == NULL)
                continue;
            while (bigger.entry[k].text != NULL)
                k = (k + 1) & (bigger.capacity - 1);
            bigger.entry[k] = *e;
        }
        bigger.count = map->count;
        *map = bigger;
    }
    size_t i = h & (map->capacity - 1);

    while (map->entry[i].text != NULL)
        i = (i + 1) & (map->capacity - 1);
    map->entry[i] = (struct ptx_map_entry){ text, (uint32_t)size, h, value };
    map->count++;
}

/* ---- names -------------------------------------------------------------------- */

const char *ptx_op_name(enum ptx_op op)
{
    static const char *const names[] = {
        "",
#define OP(id, name, effect, rule) name,
#include "ptx/ptx_ops.def"
    };

    return (unsigned)op < PTX_OP_COUNT ? names[op] : "?";
}

enum ptx_effect ptx_effect(const struct ptx_insn *insn)
{
    static const uint8_t effects[PTX_OP_COUNT] = {
#define OP(id, name, effect, rule) [PTX_##id] = PTX_EFFECT_##effect,
#include "ptx/ptx_ops.def"
    };
    enum ptx_effect effect = (enum ptx_effect)effects[insn->op];

    if (effect == PTX_EFFECT_ORDERED)
        return ptx_has(insn, PTX_W_VOLATILE) || ptx_has(insn, PTX_W_RELAXED) ||
                       ptx_has(insn, PTX_W_ACQUIRE)
                   ? PTX_EFFECT_WAITS
                   : PTX_EFFECT_NONE;
    return effect;
}

const char *ptx_word_text(enum ptx_word word)
{
    static const char *const texts[] = {
#define WORD(id, text) text,
#include "ptx/ptx_words.def"
    };

    return (unsigned)word < PTX_W_COUNT ? texts[word] : "?";
}

static const struct {
    const char *name;
    uint8_t bytes, class; /* enum ptx_type_class */
} types[PTX_T_COUNT] = {
#define BITS PTX_CLASS_BITS
#define INTEGER PTX_CLASS_INTEGER
#define FLOAT PTX_CLASS_FLOAT
    [PTX_T_NONE] = { "", 0, PTX_CLASS_NONE },
    [PTX_T_U8] = { "u8", 1, INTEGER },       [PTX_T_S8] = { "s8", 1, INTEGER },
    [PTX_T_B8] = { "b8", 1, BITS },          [PTX_T_U16] = { "u16", 2, INTEGER },
    [PTX_T_S16] = { "s16", 2, INTEGER },     [PTX_T_B16] = { "b16", 2, BITS },
    [PTX_T_U32] = { "u32", 4, INTEGER },     [PTX_T_S32] = { "s32", 4, INTEGER },
    [PTX_T_B32] = { "b32", 4, BITS },        [PTX_T_U64] = { "u64", 8, INTEGER },
    [PTX_T_S64] = { "s64", 8, INTEGER },     [PTX_T_B64] = { "b64", 8, BITS },
    [PTX_T_F16] = { "f16", 2, FLOAT },       [PTX_T_BF16] = { "bf16", 2, FLOAT },
    [PTX_T_F16X2] = { "f16x2", 4, FLOAT },   [PTX_T_BF16X2] = { "bf16x2", 4, FLOAT },
    [PTX_T_F32] = { "f32", 4, FLOAT },       [PTX_T_F64] = { "f64", 8, FLOAT },
    [PTX_T_PRED] = { "pred", 0, PTX_CLASS_NONE },
    [PTX_T_U16X2] = { "u16x2", 4, INTEGER }, [PTX_T_S16X2] = { "s16x2", 4, INTEGER },
    [PTX_T_F32X2] = { "f32x2", 8, FLOAT },  [PTX_T_TF32] = { "tf32", 4, FLOAT },
    [PTX_T_E4M3X2] = { "e4m3x2", 2, FLOAT }, [PTX_T_E5M2X2] = { "e5m2x2", 2, FLOAT },
#undef BITS
#undef INTEGER
#undef FLOAT
};

const char *ptx_type_name(enum ptx_type type)
{
    return (unsigned)type < PTX_T_COUNT ? types[type].name : "?";
}

unsigned ptx_type_bytes(enum ptx_type type)
{
    return (unsigned)type < PTX_T_COUNT ? types[type].bytes : 0;
}

enum ptx_type_class ptx_type_class(enum ptx_type type)
{
    return (unsigned)type < PTX_T_COUNT ? (enum ptx_type_class)types[type].class : PTX_CLASS_NONE;
}

enum ptx_type ptx_type_find(const char *text, size_t size)
{
    if (size < 2 || size > 6)
        return PTX_T_NONE;
    switch (text[0]) {
    case 'u': case 's': case 'b': case 'f': case 'p': case 't': case 'e':
        break;
    default:
        return PTX_T_NONE;
    }
    for (unsigned t = 1; t < PTX_T_COUNT; t++) {
        if (memcmp(types[t].name, text, 2) == 0 && strlen(types[t].name) == size &&
            memcmp(types[t].name, text, size) == 0)
            return (enum ptx_type)t;
    }
    return PTX_T_NONE;
}

/* ---- special registers ------------------------------------------------------------ */

int ptx_special_find(const char *name, size_t size)
{
    /* Special registers whose PTX name differs from the name in our ISA. docs/explanation/compilers.md describes
     * %envregN. */
    static const struct {
        const char *ptx;
        enum isa_special sr;
    } renamed[] = {
        { "envreg3", ISA_SR_OFFSET_X },
        { "envreg4", ISA_SR_OFFSET_Y },
        { "envreg5", ISA_SR_OFFSET_Z },
        { "envreg6", ISA_SR_WORKDIM },
        { "dynamic_smem_size", ISA_SR_DYN_SHARED },
        { "total_smem_size", ISA_SR_TOTAL_SHARED },
        { "aggr_smem_size", ISA_SR_TOTAL_SHARED },
        { "globaltimer_lo", ISA_SR_GLOBALTIMER },
        { "globaltimer_hi", ISA_SR_GLOBALTIMER },
        { "clock_hi", ISA_SR_CLOCK64 },
    };

    for (unsigned i = 0; i < LW_COUNT_OF(renamed); i++) {
        if (strlen(renamed[i].ptx) == size && memcmp(renamed[i].ptx, name, size) == 0)
            return (int)renamed[i].sr;
    }
    int sr = isa_special_find(name, size);

    /* these registers of our ISA do not exist in PTX, or have another name there */
    if (sr == ISA_SR_OFFSET_X || sr == ISA_SR_OFFSET_Y || sr == ISA_SR_OFFSET_Z ||
        sr == ISA_SR_WORKDIM || sr == ISA_SR_WARPWIDTH || sr == ISA_SR_ACTIVEMASK ||
        sr == ISA_SR_DYN_SHARED || sr == ISA_SR_TOTAL_SHARED)
        return -1;
    return sr;
}

bool ptx_op_supported(enum ptx_op op)
{
    static const bool refused[PTX_OP_COUNT] = {
#define RULE_IS_none 1,
#define RULE_FIRST(first, second, ...) second
#define RULE_SECOND(...) RULE_FIRST(__VA_ARGS__, 0, 0)
#define OP(id, name, effect, rule) [PTX_##id] = RULE_SECOND(RULE_IS_##rule 1),
#include "ptx/ptx_ops.def"
    };

    return (unsigned)op < PTX_OP_COUNT && !refused[op];
}

bool ptx_op_expands(enum ptx_op op)
{
    static const bool expanded[PTX_OP_COUNT] = {
#undef RULE_IS_none
#define RULE_IS_expanded 1,
#define OP(id, name, effect, rule) [PTX_##id] = RULE_SECOND(RULE_IS_##rule 1),
#include "ptx/ptx_ops.def"
    };

    return (unsigned)op < PTX_OP_COUNT && expanded[op];
}
