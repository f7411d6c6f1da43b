/* SPDX-License-Identifier: Apache-2.0 */
/* Arenas, whose allocations are freed together, and growing arrays. */
#include "base/lw.h"

#include <stdio.h>
#include <stdlib.h>

enum { CHUNK_BYTES = 16384, ALIGN = 16 };

struct lw_arena_chunk {
    struct lw_arena_chunk *next;
    size_t used, capacity;
    _Alignas(ALIGN) unsigned char data[];
};

void lw_arena_init(struct lw_arena *arena)
{
    arena->first = NULL;
}

void lw_arena_fini(struct lw_arena *arena)
{
    struct lw_arena_chunk *chunk = arena->first;

    while (chunk != NULL) {
        struct lw_arena_chunk *next = chunk->next;
        free(chunk);
        chunk = next;
    }
    arena->first = NULL;
}

void *lw_arena_alloc(struct lw_arena *arena, size_t bytes)
{
    struct lw_arena_chunk *chunk = arena->first;
    void *p;

    if (bytes > SIZE_MAX / 2)
        return NULL;
    bytes = (bytes + ALIGN - 1) / ALIGN * ALIGN;
    if (bytes == 0)
        bytes = ALIGN; /* every allocation must have a distinct address */
    if (chunk == NULL || chunk->capacity - chunk->used < bytes) {
        size_t capacity = bytes > CHUNK_BYTES / 4 ? bytes : CHUNK_BYTES;

        chunk = calloc(1, sizeof *chunk + capacity);
        if (chunk == NULL)
            return NULL;
        chunk->capacity = capacity;
        if (capacity == bytes && arena->first != NULL) {
            /* A chunk for one large allocation is inserted after the first chunk, which still has free memory. */
            chunk->next = arena->first->next;
            arena->first->next = chunk;
        } else {
            chunk->next = arena->first;
            arena->first = chunk;
        }
    }
    p = chunk->data + chunk->used;
    chunk->used += bytes;
    return p;
}

char *lw_arena_strndup(struct lw_arena *arena, const char *text, size_t size)
{
    char *copy = size == SIZE_MAX ? NULL : lw_arena_alloc(arena, size + 1);

    if (copy != NULL && size != 0)
        memcpy(copy, text, size);
    return copy;
}

char *lw_arena_strdup(struct lw_arena *arena, const char *text)
{
    return lw_arena_strndup(arena, text, strlen(text));
}

char *lw_arena_printf(struct lw_arena *arena, const char *fmt, ...)
{
    va_list args;
    int need;
    char *text;

    va_start(args, fmt);
    need = vsnprintf(NULL, 0, fmt, args);
    va_end(args);
    if (need < 0)
        return NULL;
    text = lw_arena_alloc(arena, (size_t)need + 1);
    if (text == NULL)
        return NULL;
    va_start(args, fmt);
    vsnprintf(text, (size_t)need + 1, fmt, args);
    va_end(args);
    return text;
}

bool lw_grow(void *array, size_t *capacity, size_t need, size_t size)
{
    size_t bytes, count = *capacity + *capacity / 2;
    void *old, *p;

    if (need <= *capacity)
        return true;
    if (count < need || count < *capacity)
        count = need;
    if (count < 8 && size <= 64)
        count = 8;
    if (__builtin_mul_overflow(count, size, &bytes))
        return false;
    /* @array is the address of a pointer of unknown type, so the pointer is copied as bytes */
    memcpy(&old, array, sizeof old);
    p = realloc(old, bytes != 0 ? bytes : 1);
    if (p == NULL)
        return false;
    memcpy(array, &p, sizeof p);
    *capacity = count;
    return true;
}
