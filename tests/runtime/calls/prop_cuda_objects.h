/* SPDX-License-Identifier: Apache-2.0 */
/* Objects of prop_cuda.c: the handles that its calls use, and the bytes that blocks of memory must have. */
#ifndef PROP_CUDA_OBJECTS_H
#define PROP_CUDA_OBJECTS_H

#include <dlfcn.h>

#include "tests/runtime/calls/prop_calls.h"

/* Functions are called without a prototype. So each argument must have exactly the type of the parameter. */
#pragma GCC diagnostic ignored "-Wstrict-prototypes"
#define CU(name, ...) (begin_call(#name), ((int (*)())(uintptr_t)symbol(#name))(__VA_ARGS__))

enum kind { BLOCK, STREAM, EVENT, GRAPH, EXEC, NODE, POOL, ARRAY, MODULE, FUNCTION, USER_OBJECT, KINDS };
enum {
    CALLS_OF_ROUND = 1500,
    MOST_OBJECTS = 40, DEAD_OBJECTS = 32,
    HOST_BYTES = 1 << 20,
    LOADS_OF_ROUND = 4, /* most modules that a round loads, because the runtime keeps them until the process ends */
    SYMBOL_BYTES = 256
};
enum copy_kind { HOST_TO_HOST, HOST_TO_DEVICE, DEVICE_TO_HOST, DEVICE_TO_DEVICE, DEFAULT };

struct object {
    uint8_t *handle;
    size_t bytes;
    uint8_t *data, *known; /* a block: the bytes that it must have, and which of them are known */
    bool is_host;          /* a block that cudaFreeHost() frees */
};

struct dim { unsigned x, y, z; };

static void *library;
static uint8_t host[8][HOST_BYTES];
static uint8_t registered[4][8192] __attribute__((aligned(4096)));
static char stub_set, stub_fail, symbol_stub; /* their addresses represent kernels and a variable, as the compiler's stubs do */
static uint8_t symbol_data[SYMBOL_BYTES], symbol_known[SYMBOL_BYTES];

static struct {
    pthread_mutex_t mutex;
    struct object at[KINDS][MOST_OBJECTS];
    unsigned count[KINDS];
    void *dead[KINDS][DEAD_OBJECTS];
    unsigned loads, captures; /* captures: streams whose capture has begun in this round */
} pool = {.mutex = PTHREAD_MUTEX_INITIALIZER};
static _Thread_local unsigned thread_number;
static _Thread_local bool is_bad; /* the call gets a handle that is certainly invalid */

static const char ptx[] =
    ".version 6.3\n.target sm_75\n.address_size 64\n"
    ".visible .global .align 8 .b8 symbol[256];\n"
    ".visible .entry set(.param .u64 out, .param .u32 value, .param .u32 n)\n"
    "{\n"
    "    .reg .u32 %r<8>; .reg .u64 %d<4>; .reg .pred %p;\n"
    "    ld.param.u64 %d1, [out]; ld.param.u32 %r1, [value]; ld.param.u32 %r2, [n];\n"
    "    mov.u32 %r3, %ctaid.x; mov.u32 %r4, %ntid.x; mov.u32 %r5, %tid.x; mad.lo.u32 %r3, %r3, %r4, %r5;\n"
    "    setp.ge.u32 %p, %r3, %r2; @%p ret;\n"
    "    mul.wide.u32 %d2, %r3, 4; add.u64 %d1, %d1, %d2; add.u32 %r1, %r1, %r3; st.global.u32 [%d1], %r1;\n"
    "    ret;\n"
    "}\n"
    ".visible .entry fail(.param .u64 out)\n"
    "{\n"
    "    trap;\n"
    "}\n";

static void *symbol(const char *name)
{
    void *found = dlsym(library, name);

    if (found == NULL)
        wrong("the library has no function %s", name);
    return found;
}

/** Checks the result of a call. Returns true if it is a success. */
static bool check(int error)
{
    if (error == 0)
        __atomic_fetch_add(&calls->successes, 1, __ATOMIC_RELAXED);
    if (error < 0 || error > 999)
        wrong("the error %d is not one of CUDA", error);
    if (is_checked() && is_bad && error == 0)
        wrong("succeeds with a handle that is not valid");
    is_bad = false;
    return error == 0;
}

/* ---- objects ------------------------------------------------------------------------------------------------------ */

static void lock(void)
{
    pthread_mutex_lock(&pool.mutex);
}

static void unlock(void)
{
    pthread_mutex_unlock(&pool.mutex);
}

static void revive(const void *handle)
{
    for (unsigned k = 0; k < KINDS; k++)
        for (unsigned i = 0; i < DEAD_OBJECTS; i++)
            if (pool.dead[k][i] == handle)
                pool.dead[k][i] = NULL;
}

static bool is_full(enum kind kind)
{
    lock();
    const bool full = pool.count[kind] + 10 > MOST_OBJECTS;
    unlock();
    return full;
}

/** Adds an object. A block gets memory for the bytes that it must have. */
static void add_object(enum kind kind, void *handle, size_t bytes, bool is_host)
{
    struct object o = {.handle = handle, .bytes = bytes, .is_host = is_host};

    if (handle == NULL)
        wrong("a call succeeds without a result");
    if (kind == BLOCK && bytes != 0) {
        o.data = calloc(1, bytes);
        o.known = calloc(1, bytes);
    }
    lock();
    revive(handle);
    if (pool.count[kind] < MOST_OBJECTS)
        pool.at[kind][pool.count[kind]++] = o;
    unlock();
}

static struct object *find_object(enum kind kind, const void *handle)
{
    for (unsigned i = 0; i < pool.count[kind]; i++)
        if (pool.at[kind][i].handle == handle)
            return &pool.at[kind][i];
    return NULL;
}

static void remove_object(enum kind kind, const void *handle)
{
    lock();
    struct object *o = find_object(kind, handle);

    if (o != NULL) {
        pool.dead[kind][below(DEAD_OBJECTS)] = o->handle;
        free(o->data);
        free(o->known);
        *o = pool.at[kind][--pool.count[kind]];
    }
    unlock();
}

/** Returns true if using a released handle of this kind is always an error. Other objects may keep a graph, an executable
 * graph's
 *  nodes and the functions of a module. */
static bool is_strict(enum kind kind)
{
    return kind == STREAM || kind == EVENT || kind == ARRAY || kind == POOL || kind == EXEC;
}

/** Chooses a handle for a parameter of @kind. */
static void *handle_of(enum kind kind)
{
    static uint8_t memory[512];
    const unsigned way = below(100);
    void *handle = NULL;

    lock();
    if (way < 5) {
        handle = PICK(pool.dead[kind]);
        is_bad = is_bad || (handle != NULL && is_strict(kind));
    } else if (way < 8) {
        const enum kind other = (enum kind)((kind + 1 + below(KINDS - 1)) % KINDS);

        handle = pool.count[other] != 0 ? pool.at[other][below(pool.count[other])].handle : NULL;
        is_bad = is_bad || (handle != NULL && is_strict(kind) && is_strict(other)); /* other handles may be stale, and reused */
    } else if (way < 10) {
        handle = memory;
        is_bad = is_bad || is_strict(kind);
    } else if (way >= 13 && pool.count[kind] != 0) {
        handle = pool.at[kind][below(pool.count[kind])].handle;
    }
    unlock();
    return handle;
}

/** Returns true if a stream is in a capture, so that calls are not executed, and are not checked in full. */
static bool is_capturing(void)
{
    int status = 0;

    for (unsigned i = 0; is_checked() && pool.captures != 0 && status == 0 && i < pool.count[STREAM]; i++)
        ((int (*)(void *, int *))(uintptr_t)symbol("cudaStreamIsCapturing"))(pool.at[STREAM][i].handle, &status);
    return status != 0;
}

/** Forgets the contents of all blocks, because a call may have changed any of them. */
static void forget_all(void)
{
    if (!is_checked())
        return;
    for (unsigned i = 0; i < pool.count[BLOCK]; i++)
        if (pool.at[BLOCK][i].known != NULL)
            memset(pool.at[BLOCK][i].known, 0, pool.at[BLOCK][i].bytes);
    memset(symbol_known, 0, sizeof symbol_known);
}

static void learn(struct object *o, size_t offset, const uint8_t *data, size_t bytes)
{
    if (o->data == NULL)
        return;
    memcpy(o->data + offset, data, bytes);
    memset(o->known + offset, !is_capturing(), bytes);
}

static void compare(const struct object *o, size_t offset, const uint8_t *data, size_t bytes)
{
    const bool skips = o->data == NULL || is_capturing();

    for (size_t i = 0; !skips && i < bytes; i++)
        if (o->known[offset + i] && o->data[offset + i] != data[i])
            wrong("byte %zu of a block of %zu bytes is 0x%02x, but 0x%02x was written", offset + i, o->bytes, data[i],
                  o->data[offset + i]);
}

static const size_t sizes[] = {0, 1, 3, 4, 64, 65, 511, 512, 4095, 4096, 30000, 65536, SIZE_MAX, SIZE_MAX - 3,
                               SIZE_MAX / 2 + 1, (size_t)1 << 62};

/** Returns a copy of a block of memory; bytes == 0: there is none. */
static struct object pick_block(void)
{
    struct object none = {0};

    lock();
    if (pool.count[BLOCK] != 0)
        none = pool.at[BLOCK][below(pool.count[BLOCK])];
    unlock();
    return none;
}

static uint8_t *scratch(size_t bytes)
{
    uint8_t *at = host[thread_number] + (bytes < HOST_BYTES / 2 ? below(HOST_BYTES / 2) : 0);

    for (size_t i = 0; is_checked() && i < bytes && i < 70000; i++)
        at[i] = (uint8_t)(next_random() >> 33);
    return at;
}

static void on_host(void *user)
{
    __atomic_fetch_add((uint64_t *)user, 1, __ATOMIC_RELAXED);
}
static uint64_t host_calls;

#endif
