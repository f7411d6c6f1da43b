/* SPDX-License-Identifier: Apache-2.0 */
/* Implements the hash tables and names of tests/debug/values_trace.h. */
#include "tests/debug/values_trace.h"
#include "tests/isa/prop_isa_random.h"

#include <stdio.h>
#include <stdlib.h>

void *values_need(void *memory)
{
    if (memory == NULL) {
        fprintf(stderr, "out of memory\n");
        exit(99);
    }
    return memory;
}

uint64_t values_mix(uint64_t a, uint64_t b)
{
    struct prop_random r = {a ^ b * UINT64_C(0x9e3779b97f4a7c15)};

    return prop_next(&r) + b;
}

static size_t slot_of(const struct values_table *t, uint64_t key)
{
    size_t i = (key * UINT64_C(0x9e3779b97f4a7c15)) >> 20 & (t->capacity - 1);

    while (t->key[i] != 0 && t->key[i] != key)
        i = (i + 1) & (t->capacity - 1);
    return i;
}

uint64_t *values_table_at(struct values_table *t, uint64_t key)
{
    size_t i;

    key += key == 0;
    if (t->count * 2 >= t->capacity) {
        struct values_table old = *t;

        t->capacity = old.capacity != 0 ? 4 * old.capacity : 1024;
        t->key = values_need(calloc(t->capacity, sizeof *t->key));
        t->value = values_need(calloc(t->capacity, sizeof *t->value));
        for (size_t k = 0; k < old.capacity; k++)
            if (old.key[k] != 0) {
                i = slot_of(t, old.key[k]);
                t->key[i] = old.key[k];
                t->value[i] = old.value[k];
            }
        values_table_free(&old);
    }
    i = slot_of(t, key);
    t->count += t->key[i] == 0;
    t->key[i] = key;
    return &t->value[i];
}

const uint64_t *values_table_find(const struct values_table *t, uint64_t key)
{
    size_t i;

    key += key == 0;
    if (t->capacity == 0)
        return NULL;
    i = slot_of(t, key);
    return t->key[i] != 0 ? &t->value[i] : NULL;
}

void values_table_free(struct values_table *t)
{
    free(t->key);
    free(t->value);
}

void values_names_init(struct values_names *names)
{
    *names = (struct values_names){.count = 0};
    lw_arena_init(&names->arena);
    (void)values_name(names, "");
}

void values_names_fini(struct values_names *names)
{
    lw_arena_fini(&names->arena);
    values_table_free(&names->ids);
    free(names->text);
    free(names->pointer);
}

uint32_t values_name(struct values_names *names, const char *text)
{
    struct lw_hash hash;
    uint64_t *id;

    lw_hash_init(&hash);
    lw_hash_bytes(&hash, text, strlen(text));
    id = values_table_at(&names->ids, lw_hash_value(&hash));
    if (*id != 0)
        return (uint32_t)*id - 1;
    if (names->count == names->capacity) {
        names->capacity = names->capacity != 0 ? 2 * names->capacity : 256;
        names->text = values_need(realloc(names->text, names->capacity * sizeof *names->text));
        names->pointer = values_need(realloc(names->pointer, names->capacity * sizeof *names->pointer));
    }
    names->text[names->count] = values_need(lw_arena_printf(&names->arena, "%s", text));
    names->pointer[names->count] = false;
    *id = ++names->count;
    return names->count - 1;
}

uint64_t values_visits_key(uint64_t thread, uint32_t visit)
{
    return values_mix(values_mix(1, thread), visit);
}

uint64_t values_when_key(uint64_t thread, uint32_t visit, uint32_t nth)
{
    return values_mix(values_mix(4, thread), (uint64_t)visit << 32 | nth);
}

uint64_t values_at_key(uint64_t thread, uint32_t visit, uint32_t nth, uint32_t variable)
{
    return values_mix(values_mix(thread, (uint64_t)visit << 32 | nth), variable);
}

uint64_t values_had_key(uint64_t thread, uint32_t variable, uint64_t value)
{
    return values_mix(values_mix(2, thread << 24 ^ variable), value);
}

uint64_t values_known_key(uint32_t variable)
{
    return values_mix(3, variable);
}

void values_trace_free(struct values_trace *trace)
{
    values_table_free(&trace->visits);
    values_table_free(&trace->when);
    free(trace->order);
    values_table_free(&trace->at);
    values_table_free(&trace->had);
    values_table_free(&trace->assigned);
    values_table_free(&trace->known);
    free(trace->shown);
    free(trace->results);
}
