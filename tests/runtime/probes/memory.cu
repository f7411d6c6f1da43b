/* SPDX-License-Identifier: Apache-2.0 */
/* Probes of memory: allocation, copies, fills, symbols, pointers. */
#include "probe.h"

__device__ int value[4] = {10, 11, 12, 13};
__constant__ int fixed[8];
static int no_symbol;

static void *device_memory(size_t bytes)
{
    void *p = NULL;

    F("cudaMalloc", &p, bytes);
    return p;
}

/** Returns the address of memory that was freed just before. */
static char *freed_memory(void)
{
    void *p = device_memory(Z(256) << 20);

    F("cudaFree", p);
    return (char *)p;
}

static void allocation(void)
{
    void *p, *q;
    char *c = (char *)malloc(64);
    Z bytes = 1, total = 1, pitch;

    R("malloc: null result", F("cudaMalloc", nullptr, Z(4)));
    p = &p;
    R("malloc: 0 bytes", F("cudaMalloc", &p, Z(0)));
    T("malloc: pointer after 0 bytes", p == NULL ? "null" : p == &p ? "unchanged" : "a pointer");
    p = &p;
    R("malloc: SIZE_MAX bytes", F("cudaMalloc", &p, SIZE_MAX));
    T("malloc: pointer after SIZE_MAX bytes", p == NULL ? "null" : p == &p ? "unchanged" : "a pointer");
    R("malloc: 2^50 bytes", F("cudaMalloc", &p, Z(1) << 50));
    R("malloc: 1 byte", F("cudaMalloc", &p, Z(1)));
    F("cudaMalloc", &q, Z(1));
    N("malloc: distance of two allocations of 1 byte", llabs((char *)q - (char *)p));
    N("malloc: address modulo 512", (uintptr_t)p % 512);
    R("free: interior pointer", F("cudaFree", (void *)((char *)p + 1)));
    R("free", F("cudaFree", p));
    R("free: twice", F("cudaFree", p));
    R("free: null", F("cudaFree", nullptr));
    R("free: pointer of malloc()", F("cudaFree", c));
    R("free: stack", F("cudaFree", &p));
    R("free: address 1", F("cudaFree", (void *)1));
    R("free: device pointer by cudaFreeHost", F("cudaFreeHost", q));
    R("free: after cudaFreeHost", F("cudaFree", q));
    R("malloc host: null result", F("cudaMallocHost", nullptr, Z(4)));
    p = &p;
    R("malloc host: 0 bytes", F("cudaMallocHost", &p, Z(0)));
    T("malloc host: pointer after 0 bytes", p == NULL ? "null" : p == &p ? "unchanged" : "a pointer");
    R("malloc host: 2^60 bytes", F("cudaMallocHost", &p, Z(1) << 60));
    R("malloc host", F("cudaMallocHost", &p, Z(100)));
    N("malloc host: address modulo 512", (uintptr_t)p % 512);
    R("free: host pointer by cudaFree", F("cudaFree", p));
    R("free host: after cudaFree", F("cudaFreeHost", p));
    R("free host: twice", F("cudaFreeHost", p));
    R("free host: null", F("cudaFreeHost", nullptr));
    R("free host: pointer of malloc()", F("cudaFreeHost", c));
    F("cudaMallocHost", &p, Z(100));
    R("free host: interior pointer", F("cudaFreeHost", (void *)((char *)p + 4)));
    R("host alloc: flags 0", F("cudaHostAlloc", &p, Z(8), U(0)));
    R("host alloc: flags 7", F("cudaHostAlloc", &p, Z(8), U(7)));
    R("host alloc: flags 8", F("cudaHostAlloc", &p, Z(8), U(8)));
    R("host alloc: flags 255", F("cudaHostAlloc", &p, Z(8), U(255)));
    R("host alloc: null result", F("cudaHostAlloc", nullptr, Z(8), U(0)));
    R("managed: null result", F("cudaMallocManaged", nullptr, Z(4), U(1)));
    R("managed: 0 bytes", F("cudaMallocManaged", &p, Z(0), U(1)));
    R("managed: flags 0", F("cudaMallocManaged", &p, Z(4), U(0)));
    R("managed: flags 3", F("cudaMallocManaged", &p, Z(4), U(3)));
    R("managed: flags 4", F("cudaMallocManaged", &p, Z(4), U(4)));
    R("managed: flags 2", F("cudaMallocManaged", &p, Z(4), U(2)));
    R("managed: freed by cudaFreeHost", F("cudaFreeHost", p));
    R("managed: freed by cudaFree", F("cudaFree", p));
    R("pitch: null result", F("cudaMallocPitch", nullptr, &pitch, Z(4), Z(4)));
    R("pitch: null pitch", F("cudaMallocPitch", &p, nullptr, Z(4), Z(4)));
    static const Z widths[] = {0, 1, 511, 512, 513, 1025};
    for (unsigned i = 0; i < 6; i++) {
        char name[60];

        pitch = 7;
        snprintf(name, sizeof name, "pitch: width %zu", widths[i]);
        R(name, F("cudaMallocPitch", &p, &pitch, widths[i], Z(4)));
        snprintf(name, sizeof name, "pitch: pitch of width %zu", widths[i]);
        N(name, (long long)pitch);
    }
    p = &p;
    R("pitch: height 0", F("cudaMallocPitch", &p, &pitch, Z(4), Z(0)));
    T("pitch: pointer of height 0", p == NULL ? "null" : p == &p ? "unchanged" : "a pointer");
    R("pitch: width SIZE_MAX", F("cudaMallocPitch", &p, &pitch, SIZE_MAX, Z(1)));
    R("pitch: width 2^31", F("cudaMallocPitch", &p, &pitch, Z(1) << 31, Z(1)));
    R("pitch: 2^30 by 2^40", F("cudaMallocPitch", &p, &pitch, Z(1) << 30, Z(1) << 40));
    R("meminfo: null", F("cudaMemGetInfo", nullptr, nullptr));
    R("meminfo: null total", F("cudaMemGetInfo", &bytes, nullptr));
    R("meminfo", F("cudaMemGetInfo", &bytes, &total));
    T("meminfo: free and total", bytes > 0 && bytes <= total ? "free is at most total" : "free is above total");
    free(c);
}

static void allocation_async(void)
{
    void *p = NULL;

    R("malloc async: null result", F("cudaMallocAsync", nullptr, Z(4), S(NULL)));
    R("malloc async: 0 bytes", F("cudaMallocAsync", &p, Z(0), S(NULL)));
    T("malloc async: pointer after 0 bytes", p == NULL ? "null" : "a pointer");
    R("malloc async", F("cudaMallocAsync", &p, Z(4), S(NULL)));
    R("free async", F("cudaFreeAsync", p, S(NULL)));
    R("free async: twice", F("cudaFreeAsync", p, S(NULL)));
    R("free async: null", F("cudaFreeAsync", nullptr, S(NULL)));
    R("free async: host pointer", F("cudaFreeAsync", &p, S(NULL)));
    F("cudaMallocAsync", &p, Z(4), S(NULL));
    R("free: pointer of cudaMallocAsync", F("cudaFree", p));
    p = device_memory(4);
    R("free async: pointer of cudaMalloc", F("cudaFreeAsync", p, S(NULL)));
}

static void copies(void)
{
    enum { SIZE = 4096 };
    static char h[SIZE], g[SIZE];
    char *a = (char *)device_memory(SIZE), *b = (char *)device_memory(SIZE), *m, *small;

    F("cudaMallocHost", &m, Z(SIZE));
    for (unsigned i = 0; i < SIZE; i++)
        h[i] = (char)(i * 7 + i / 256);
    R("copy: H2D", F("cudaMemcpy", a, P(h), Z(SIZE), int(H2D)));
    R("copy: null to", F("cudaMemcpy", nullptr, P(h), Z(4), int(H2D)));
    R("copy: null from", F("cudaMemcpy", a, nullptr, Z(4), int(H2D)));
    R("copy: both null", F("cudaMemcpy", nullptr, nullptr, Z(4), int(H2H)));
    R("copy: null from, D2H", F("cudaMemcpy", h, nullptr, Z(4), int(D2H)));
    R("copy: null to, default", F("cudaMemcpy", nullptr, P(h), Z(4), int(ANY)));
    R("copy: 0 bytes, both null", F("cudaMemcpy", nullptr, nullptr, Z(0), int(H2D)));
    R("copy: 0 bytes, kind 9", F("cudaMemcpy", a, P(h), Z(0), 9));
    R("copy: kind 5", F("cudaMemcpy", a, P(h), Z(4), 5));
    R("copy: kind -1", F("cudaMemcpy", a, P(h), Z(4), -1));
    R("copy: H2D to host", F("cudaMemcpy", g, P(h), Z(4), int(H2D)));
    R("copy: H2D from device", F("cudaMemcpy", a, P(b), Z(4), int(H2D)));
    R("copy: D2H from host", F("cudaMemcpy", g, P(h), Z(4), int(D2H)));
    R("copy: D2H to device", F("cudaMemcpy", a, P(b), Z(4), int(D2H)));
    R("copy: D2D from host", F("cudaMemcpy", a, P(h), Z(4), int(D2D)));
    R("copy: D2D to host", F("cudaMemcpy", g, P(a), Z(4), int(D2D)));
    R("copy: D2D between host arrays", F("cudaMemcpy", g, P(h), Z(4), int(D2D)));
    R("copy: H2H", F("cudaMemcpy", g, P(h), Z(4), int(H2H)));
    R("copy: default between host arrays", F("cudaMemcpy", g, P(h), Z(4), int(ANY)));
    R("copy: default to device", F("cudaMemcpy", a, P(h), Z(4), int(ANY)));
    R("copy: H2D to pinned host memory", F("cudaMemcpy", m, P(h), Z(4), int(H2D)));
    R("copy: D2H from pinned host memory", F("cudaMemcpy", g, P(m), Z(4), int(D2H)));
    R("copy: D2D with pinned host memory", F("cudaMemcpy", a, P(m), Z(4), int(D2D)));
    static char large[9 << 20];
    small = (char *)device_memory(8 << 20);
    R("copy: H2D, 1 MiB past the end of 8 MiB", F("cudaMemcpy", small, P(large), Z(9 << 20), int(H2D)));
    R("copy: D2H, 1 MiB past the end of 8 MiB", F("cudaMemcpy", large, P(small), Z(9 << 20), int(D2H)));
    R("copy: H2D, 4 bytes past the end of 8 MiB", F("cudaMemcpy", small, P(large), Z((8 << 20) + 4), int(H2D)));
    R("copy: D2H, 4 bytes past the end of 8 MiB", F("cudaMemcpy", large, P(small), Z((8 << 20) + 4), int(D2H)));
    R("set: 4 bytes past the end of 8 MiB", F("cudaMemset", small, 0, Z((8 << 20) + 4)));
    R("copy: D2D onto itself", F("cudaMemcpy", a, P(a), Z(SIZE), int(D2D)));
    R("copy: D2D overlap", F("cudaMemcpy", a + 64, P(a), Z(SIZE - 64), int(D2D)));
    R("copy async: no stream", F("cudaMemcpyAsync", a, P(h), Z(4), int(H2D), S(NULL)));
    R("copy async: kind 7", F("cudaMemcpyAsync", a, P(h), Z(4), 7, S(NULL)));
    R("copy async: H2D to host", F("cudaMemcpyAsync", g, P(h), Z(4), int(H2D), S(NULL)));
    R("copy async: null to", F("cudaMemcpyAsync", nullptr, P(h), Z(4), int(H2D), S(NULL)));
    R("copy peer: device 0 to itself", F("cudaMemcpyPeer", a, 0, P(b), 0, Z(4)));
    R("copy peer: device 1", F("cudaMemcpyPeer", a, 1, P(b), 0, Z(4)));
    R("copy 2D", F("cudaMemcpy2D", a, Z(64), P(h), Z(32), Z(32), Z(4), int(H2D)));
    R("copy 2D: width above pitch of target", F("cudaMemcpy2D", a, Z(16), P(h), Z(64), Z(32), Z(4), int(H2D)));
    R("copy 2D: width above pitch of source", F("cudaMemcpy2D", a, Z(64), P(h), Z(16), Z(32), Z(4), int(H2D)));
    R("copy 2D: width above pitch, height 1", F("cudaMemcpy2D", a, Z(16), P(h), Z(16), Z(32), Z(1), int(H2D)));
    R("copy 2D: width above pitch, height 0", F("cudaMemcpy2D", a, Z(16), P(h), Z(16), Z(32), Z(0), int(H2D)));
    R("copy 2D: width 0, null pointers", F("cudaMemcpy2D", nullptr, Z(16), nullptr, Z(16), Z(0), Z(4), int(H2D)));
    R("copy 2D: height 0, null pointers", F("cudaMemcpy2D", nullptr, Z(16), nullptr, Z(16), Z(4), Z(0), int(H2D)));
    R("copy 2D: null pointers", F("cudaMemcpy2D", nullptr, Z(16), nullptr, Z(16), Z(4), Z(4), int(H2D)));
    R("copy 2D: pitch 2^31", F("cudaMemcpy2D", a, Z(1) << 31, P(h), Z(16), Z(4), Z(1), int(H2D)));
    R("copy 2D: pitch 2^40", F("cudaMemcpy2D", a, Z(1) << 40, P(h), Z(16), Z(4), Z(1), int(H2D)));
    R("copy 2D: kind 8", F("cudaMemcpy2D", a, Z(16), P(h), Z(16), Z(4), Z(4), 8));
    R("copy 2D: odd pitch", F("cudaMemcpy2D", a, Z(17), P(h), Z(19), Z(13), Z(4), int(H2D)));
    R("copy 2D: D2H from host", F("cudaMemcpy2D", g, Z(16), P(h), Z(16), Z(4), Z(4), int(D2H)));
    R("copy 3D: null", F("cudaMemcpy3D", nullptr));
    static const char zero[160] = {0};
    R("copy 3D: all zero", F("cudaMemcpy3D", P(zero)));
}

/* A copy with memory that was freed may make the process end. */
static void copy_to_freed(void)
{
    char h[4] = "";

    R("copy: H2D, freed memory", F("cudaMemcpy", (void *)freed_memory(), P(h), Z(4), int(H2D)));
}

static void copy_from_freed(void)
{
    char h[4] = "";

    R("copy: D2H, freed memory", F("cudaMemcpy", (void *)h, P(freed_memory()), Z(4), int(D2H)));
}

static void copy_between_freed(void)
{
    R("copy: D2D, freed memory", F("cudaMemcpy", (void *)freed_memory(), P(device_memory(4)), Z(4), int(D2D)));
}

struct pitched {
    void *pointer;
    size_t pitch, width, height;
};
struct extent {
    size_t width, height, depth;
};

static void boxes(void)
{
    struct pitched p = {NULL, 7, 7, 7}, none = {NULL, 0, 0, 0};
    struct extent e = {10, 3, 2}, wide = {600, 3, 2}, flat = {600, 1, 1}, empty = {10, 0, 2};
    struct {
        void *from_array;
        size_t from_position[3];
        struct pitched from;
        void *to_array;
        size_t to_position[3];
        struct pitched to;
        struct extent extent;
        int kind;
    } c;
    static char h[4096];

    R("malloc 3D: null", F("cudaMalloc3D", nullptr, e));
    R("malloc 3D", F("cudaMalloc3D", &p, e));
    N("malloc 3D: pitch", (long long)p.pitch);
    N("malloc 3D: width", (long long)p.width);
    N("malloc 3D: height", (long long)p.height);
    R("set 3D", F("cudaMemset3D", p, 1, e));
    R("set 3D: wider than the pitch", F("cudaMemset3D", p, 1, wide));
    R("set 3D: wider than the pitch, one row", F("cudaMemset3D", p, 1, flat));
    R("set 3D: height 0", F("cudaMemset3D", p, 1, empty));
    R("set 3D: null", F("cudaMemset3D", none, 1, e));
    R("set 3D: null, height 0", F("cudaMemset3D", none, 1, empty));
    memset(&c, 0, sizeof c);
    c.to = p;
    c.from.pointer = h;
    c.from.pitch = c.from.width = 10;
    c.from.height = 3;
    c.extent = e;
    c.kind = H2D;
    R("copy 3D", F("cudaMemcpy3D", (P)&c));
    c.kind = D2H;
    R("copy 3D: D2H to device", F("cudaMemcpy3D", (P)&c));
    c.kind = 9;
    R("copy 3D: kind 9", F("cudaMemcpy3D", (P)&c));
    c.kind = H2D;
    c.from.pitch = 8;
    R("copy 3D: wider than the pitch", F("cudaMemcpy3D", (P)&c));
    c.from.pitch = 10;
    c.from.pointer = NULL;
    R("copy 3D: null source", F("cudaMemcpy3D", (P)&c));
    c.extent.depth = 0;
    R("copy 3D: depth 0, null source", F("cudaMemcpy3D", (P)&c));
}

static void fills(void)
{
    enum { SIZE = 4096 };
    char *a = (char *)device_memory(SIZE), h[16], *m;
    unsigned char back[SIZE];

    F("cudaMallocHost", &m, Z(64));
    R("set: null, 0 bytes", F("cudaMemset", nullptr, 1, Z(0)));
    R("set: null, 4 bytes", F("cudaMemset", nullptr, 1, Z(4)));
    R("set: value 0x1ff", F("cudaMemset", a, 0x1ff, Z(SIZE)));
    F("cudaMemcpy", back, P(a), Z(SIZE), int(D2H));
    N("set: byte of value 0x1ff", back[5]);
    R("set: 0 bytes of memory", F("cudaMemset", a, 0, Z(0)));
    R("set: host memory", F("cudaMemset", h, 0, Z(4)));
    R("set: host memory, 0 bytes", F("cudaMemset", h, 0, Z(0)));
    R("set: pinned host memory", F("cudaMemset", m, 0, Z(4)));
    R("set: freed memory", F("cudaMemset", freed_memory(), 0, Z(4)));
    R("set: 4 bytes past the end", F("cudaMemset", a, 0, Z(SIZE + 4)));
    R("set: odd address and size", F("cudaMemset", a + 1, 3, Z(5)));
    R("set async", F("cudaMemsetAsync", a, 0, Z(4), S(NULL)));
    R("set 2D", F("cudaMemset2D", a, Z(64), 1, Z(32), Z(4)));
    R("set 2D: width above pitch", F("cudaMemset2D", a, Z(16), 1, Z(32), Z(4)));
    R("set 2D: width above pitch, height 1", F("cudaMemset2D", a, Z(16), 1, Z(32), Z(1)));
    R("set 2D: width above pitch, height 0", F("cudaMemset2D", a, Z(16), 1, Z(32), Z(0)));
    R("set 2D: pitch 0, height 1", F("cudaMemset2D", a, Z(0), 1, Z(32), Z(1)));
    R("set 2D: width 0", F("cudaMemset2D", a, Z(64), 1, Z(0), Z(4)));
    R("set 2D: null, height 0", F("cudaMemset2D", nullptr, Z(64), 1, Z(32), Z(0)));
    R("set 2D: null", F("cudaMemset2D", nullptr, Z(64), 1, Z(32), Z(4)));
    F("cudaMemset", a, 0, Z(SIZE));
    R("set 2D: odd pitch", F("cudaMemset2D", a, Z(13), 9, Z(5), Z(7)));
    F("cudaMemcpy", back, P(a), Z(SIZE), int(D2H));
    int sum = 0, last = 0;
    for (int i = 0; i < SIZE; i++)
        if (back[i] != 0) {
            sum += back[i];
            last = i;
        }
    N("set 2D: sum of bytes with odd pitch", sum);
    N("set 2D: last byte with odd pitch", last);
    R("set 2D: pitch 2^31", F("cudaMemset2D", a, Z(1) << 31, 1, Z(4), Z(1)));
    R("set 2D: pitch 2^40", F("cudaMemset2D", a, Z(1) << 40, 1, Z(4), Z(1)));
    R("set 2D: past the end", F("cudaMemset2D", a, Z(1) << 26, 1, Z(4), Z(64)));
    R("set 2D: host memory", F("cudaMemset2D", h, Z(4), 1, Z(4), Z(2)));
}

static void symbols(void)
{
    int h[16] = {0};
    void *p = NULL;
    Z bytes = 0;

    R("symbol: copy to", F("cudaMemcpyToSymbol", P(value), P(h), Z(16), Z(0), int(H2D)));
    R("symbol: 4 bytes too many", F("cudaMemcpyToSymbol", P(value), P(h), Z(20), Z(0), int(H2D)));
    R("symbol: offset and size too large", F("cudaMemcpyToSymbol", P(value), P(h), Z(16), Z(4), int(H2D)));
    R("symbol: offset past the end, 0 bytes", F("cudaMemcpyToSymbol", P(value), P(h), Z(0), Z(64), int(H2D)));
    R("symbol: offset at the end, 0 bytes", F("cudaMemcpyToSymbol", P(value), P(h), Z(0), Z(16), int(H2D)));
    R("symbol: offset wraps", F("cudaMemcpyToSymbol", P(value), P(h), Z(8), SIZE_MAX - 3, int(H2D)));
    R("symbol: null symbol", F("cudaMemcpyToSymbol", nullptr, P(h), Z(4), Z(0), int(H2D)));
    R("symbol: no symbol", F("cudaMemcpyToSymbol", P(&no_symbol), P(h), Z(4), Z(0), int(H2D)));
    R("symbol: null source", F("cudaMemcpyToSymbol", P(value), nullptr, Z(4), Z(0), int(H2D)));
    R("symbol: copy to with D2H", F("cudaMemcpyToSymbol", P(value), P(h), Z(4), Z(0), int(D2H)));
    R("symbol: copy to with H2H", F("cudaMemcpyToSymbol", P(value), P(h), Z(4), Z(0), int(H2H)));
    R("symbol: copy to with D2D from host", F("cudaMemcpyToSymbol", P(value), P(h), Z(4), Z(0), int(D2D)));
    R("symbol: copy to with default", F("cudaMemcpyToSymbol", P(value), P(h), Z(4), Z(0), int(ANY)));
    R("symbol: copy to with kind 6", F("cudaMemcpyToSymbol", P(value), P(h), Z(4), Z(0), 6));
    R("symbol: copy from", F("cudaMemcpyFromSymbol", h, P(value), Z(16), Z(0), int(D2H)));
    R("symbol: copy from, too many", F("cudaMemcpyFromSymbol", h, P(value), Z(17), Z(0), int(D2H)));
    R("symbol: copy from with H2D", F("cudaMemcpyFromSymbol", h, P(value), Z(4), Z(0), int(H2D)));
    R("symbol: copy from, null target", F("cudaMemcpyFromSymbol", nullptr, P(value), Z(4), Z(0), int(D2H)));
    R("symbol: copy from, no symbol", F("cudaMemcpyFromSymbol", h, P(&no_symbol), Z(4), Z(0), int(D2H)));
    R("symbol: constant", F("cudaMemcpyToSymbol", P(fixed), P(h), Z(32), Z(0), int(H2D)));
    R("symbol: constant, 1 byte too many", F("cudaMemcpyToSymbol", P(fixed), P(h), Z(33), Z(0), int(H2D)));
    R("symbol: address", F("cudaGetSymbolAddress", &p, P(value)));
    R("symbol: address of no symbol", F("cudaGetSymbolAddress", &p, P(&no_symbol)));
    R("symbol: address of null", F("cudaGetSymbolAddress", &p, nullptr));
    R("symbol: address of a constant", F("cudaGetSymbolAddress", &p, P(fixed)));
    R("symbol: size", F("cudaGetSymbolSize", &bytes, P(value)));
    N("symbol: size of an array", (long long)bytes);
    R("symbol: size of no symbol", F("cudaGetSymbolSize", &bytes, P(&no_symbol)));
    F("cudaGetSymbolAddress", &p, P(value));
    R("symbol: free of its address", F("cudaFree", p));
    R("symbol: copy of its shadow", F("cudaMemcpy", h, P(value), Z(4), int(D2H)));
}

static void symbol_address_null(void)
{
    R("symbol: address, null result", F("cudaGetSymbolAddress", nullptr, P(value)));
}

static void symbol_size_null(void)
{
    R("symbol: size, null result", F("cudaGetSymbolSize", nullptr, P(value)));
}

static void attributes(const char *what, const void *pointer)
{
    struct {
        int type, device;
        const void *in_device, *in_host;
        long reserved[8];
    } a;
    char name[80], text[200];
    int error;

    memset(&a, 0x55, sizeof a);
    snprintf(name, sizeof name, "pointer: %s", what);
    error = F("cudaPointerGetAttributes", (void *)&a, pointer);
    R(name, error);
    snprintf(text, sizeof text, "type %d, device %d, device pointer %s, host pointer %s", a.type, a.device,
             a.in_device == NULL ? "null" : a.in_device == pointer ? "same" : "other",
             a.in_host == NULL ? "null" : a.in_host == pointer ? "same" : "other");
    snprintf(name, sizeof name, "pointer: attributes of %s", what);
    if (error == 0)
        T(name, text);
}

static void pointers(void)
{
    enum { SIZE = 65536 };
    char *a = (char *)device_memory(SIZE), *m, *managed, *h = (char *)malloc(SIZE);
    void *p = NULL;

    F("cudaMallocHost", &m, Z(SIZE));
    F("cudaMallocManaged", &managed, Z(SIZE), U(1));
    R("pointer: null result", F("cudaPointerGetAttributes", nullptr, P(a)));
    attributes("null", NULL);
    attributes("malloc()", h);
    attributes("the stack", &p);
    attributes("device memory", a);
    attributes("device memory, interior", a + 100);
    attributes("device memory, last byte", a + SIZE - 1);
    attributes("freed memory", freed_memory());
    attributes("pinned host memory", m);
    attributes("pinned host memory, interior", m + 5);
    attributes("managed memory", managed);
    F("cudaGetSymbolAddress", &p, P(value));
    attributes("a variable", p);
    attributes("a shadow variable", value);
    F("cudaHostRegister", h, Z(SIZE), U(0));
    attributes("registered memory", h);
    F("cudaHostUnregister", h);
    attributes("memory after unregister", h);
    R("host pointer: pinned", F("cudaHostGetDevicePointer", &p, m, U(0)));
    T("host pointer: of pinned", p == m ? "same" : "other");
    R("host pointer: pinned, interior", F("cudaHostGetDevicePointer", &p, m + 8, U(0)));
    R("host pointer: flags 1", F("cudaHostGetDevicePointer", &p, m, U(1)));
    R("host pointer: null result", F("cudaHostGetDevicePointer", nullptr, m, U(0)));
    R("host pointer: null", F("cudaHostGetDevicePointer", &p, nullptr, U(0)));
    p = &p;
    R("host pointer: malloc()", F("cudaHostGetDevicePointer", &p, h, U(0)));
    T("host pointer: result for malloc()", p == NULL ? "null" : p == &p ? "unchanged" : "a pointer");
    R("host pointer: device memory", F("cudaHostGetDevicePointer", &p, a, U(0)));
    R("host pointer: managed memory", F("cudaHostGetDevicePointer", &p, managed, U(0)));
}

static void registration(void)
{
    enum { SIZE = 65536 };
    char *h = (char *)aligned_alloc(4096, SIZE), *m, *a = (char *)device_memory(SIZE);
    void *p = NULL;
    U flags = 99;

    memset(h, 0, SIZE);
    F("cudaMallocHost", &m, Z(SIZE));
    R("register: null", F("cudaHostRegister", nullptr, Z(4), U(0)));
    R("register: 0 bytes", F("cudaHostRegister", h, Z(0), U(0)));
    R("register: flags 256", F("cudaHostRegister", h, Z(4), U(256)));
    R("register", F("cudaHostRegister", h, Z(4096), U(0)));
    R("register: twice", F("cudaHostRegister", h, Z(4096), U(0)));
    R("register: overlap", F("cudaHostRegister", h + 2048, Z(8192), U(0)));
    R("register: larger", F("cudaHostRegister", h, Z(8192), U(0)));
    R("register: device pointer", F("cudaHostGetDevicePointer", &p, h, U(0)));
    R("register: flags of the memory", F("cudaHostGetFlags", &flags, h));
    N("register: value of the flags", flags);
    R("register: copy with the memory", F("cudaMemcpy", a, P(h), Z(4096), int(H2D)));
    R("register: freed by cudaFreeHost", F("cudaFreeHost", h));
    R("unregister: interior pointer", F("cudaHostUnregister", h + 8));
    R("unregister", F("cudaHostUnregister", h));
    R("unregister: twice", F("cudaHostUnregister", h));
    R("unregister: null", F("cudaHostUnregister", nullptr));
    R("unregister: malloc()", F("cudaHostUnregister", h + 32768));
    R("unregister: pinned host memory", F("cudaHostUnregister", m));
    R("register: pinned host memory", F("cudaHostRegister", m, Z(4096), U(0)));
    R("register: device memory", F("cudaHostRegister", a, Z(4096), U(0)));
    R("register: odd address and size", F("cudaHostRegister", h + 3, Z(5), U(0)));
    R("unregister: odd address", F("cudaHostUnregister", h + 3));
    R("register: flags 3", F("cudaHostRegister", h, Z(4096), U(3)));
    R("host flags: pinned host memory", F("cudaHostGetFlags", &flags, m));
    N("host flags: value for cudaMallocHost", flags);
    R("host flags: malloc()", F("cudaHostGetFlags", &flags, h + 32768));
    R("host flags: null result", F("cudaHostGetFlags", nullptr, m));
}

struct group memory_groups[] = {
    {"allocation", allocation}, {"allocation_async", allocation_async}, {"copies", copies},
    {"copy_to_freed", copy_to_freed}, {"copy_from_freed", copy_from_freed}, {"copy_between_freed", copy_between_freed},
    {"boxes", boxes}, {"fills", fills}, {"symbols", symbols}, {"symbol_address_null", symbol_address_null},
    {"symbol_size_null", symbol_size_null}, {"pointers", pointers}, {"registration", registration}, {NULL, NULL}
};
