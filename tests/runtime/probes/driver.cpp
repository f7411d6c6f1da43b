/* SPDX-License-Identifier: Apache-2.0 */
/* Probes of the driver interface. */
#include "probe.h"

#include <unistd.h>

typedef unsigned long long A; /* an address in the device's memory */

static const char good[] = ".version 7.0\n.target sm_75\n.address_size 64\n"
                           ".visible .global .align 4 .u32 total;\n"
                           ".visible .const .align 4 .u32 seven = 7;\n"
                           ".visible .entry add(.param .u64 p, .param .u32 n)\n"
                           "{ .reg .u64 %d; .reg .u32 %r<3>; ld.param.u64 %d, [p]; ld.param.u32 %r1, [n];\n"
                           "red.global.add.u32 [%d], %r1; ret; }\n"
                           ".visible .entry none() { ret; }\n"
                           ".visible .entry trapping() { trap; }\n"
                           ".visible .entry bounded() .maxntid 64, 1, 1 { ret; }\n";
static const char no_syntax[] = ".version 7.0\n.target sm_75\n.address_size 64\n.visible .entry k() { nonsense.u32 %r1; ret; }\n";
static const char no_name[] = ".version 7.0\n.target sm_75\n.address_size 64\n.visible .entry k() { mov.u32 %r1, %r2; ret; }\n";
static const char no_version[] = ".version 99.0\n.target sm_75\n.address_size 64\n.visible .entry k() { ret; }\n";
static const char no_target[] = ".version 7.0\n.target sm_300\n.address_size 64\n.visible .entry k() { ret; }\n";
static const char later_target[] = ".version 8.6\n.target sm_100\n.address_size 64\n.visible .entry k() { ret; }\n";
static const char no_symbol[] = ".version 7.0\n.target sm_75\n.address_size 64\n.extern .func missing();\n"
                                ".visible .entry k() { call missing; ret; }\n";
static const char only_header[] = ".version 7.0\n.target sm_75\n.address_size 64\n";

static S context;

static void start(void)
{
    F("cuInit", U(0));
    if (F("cuCtxCreate_v2", &context, U(0), 0) != 0)
        printf("no context\n");
}

static void uninitialised(void)
{
    int n = -7;
    A a = 0;
    S c = NULL;
    Z bytes;

    D("driver, not initialised: device count", F("cuDeviceGetCount", &n));
    D("driver, not initialised: device", F("cuDeviceGet", &n, 0));
    D("driver, not initialised: version", F("cuDriverGetVersion", &n));
    D("driver, not initialised: malloc", F("cuMemAlloc_v2", &a, Z(4)));
    D("driver, not initialised: current context", F("cuCtxGetCurrent", &c));
    D("driver, not initialised: synchronize", F("cuCtxSynchronize"));
    D("driver, not initialised: create a context", F("cuCtxCreate_v2", &c, U(0), 0));
    D("driver, not initialised: error name", F("cuGetErrorName", 1, (const char **)&c));
    D("driver: init with flags 1", F("cuInit", U(1)));
    D("driver: init", F("cuInit", U(0)));
    D("driver: init twice", F("cuInit", U(0)));
    D("driver: device count, null", F("cuDeviceGetCount", nullptr));
    D("driver: device 1", F("cuDeviceGet", &n, 1));
    D("driver: device -1", F("cuDeviceGet", &n, -1));
    D("driver: device, null", F("cuDeviceGet", nullptr, 0));
    D("driver: name, null", F("cuDeviceGetName", nullptr, 10, 0));
    D("driver: name of device 1", F("cuDeviceGetName", (char *)&c, 4, 1));
    D("driver: name, 4 bytes", F("cuDeviceGetName", (char *)&c, 4, 0));
    D("driver: total memory, null", F("cuDeviceTotalMem_v2", nullptr, 0));
    D("driver: attribute 0", F("cuDeviceGetAttribute", &n, 0, 0));
    D("driver: attribute 9999", F("cuDeviceGetAttribute", &n, 9999, 0));
    D("driver: attribute of device 1", F("cuDeviceGetAttribute", &n, 1, 1));
    D("driver, no context: malloc", F("cuMemAlloc_v2", &a, Z(4)));
    D("driver, no context: malloc of 0 bytes", F("cuMemAlloc_v2", &a, Z(0)));
    D("driver, no context: free", F("cuMemFree_v2", A(0)));
    D("driver, no context: synchronize", F("cuCtxSynchronize"));
    D("driver, no context: current context", F("cuCtxGetCurrent", &c));
    T("driver, no context: pointer of the current context", c == NULL ? "null" : "a context");
    D("driver, no context: pop", F("cuCtxPopCurrent_v2", &c));
    D("driver, no context: device", F("cuCtxGetDevice", &n));
    D("driver, no context: memory info", F("cuMemGetInfo_v2", &bytes, &bytes));
    D("driver, no context: load a module", F("cuModuleLoadData", &c, P(good)));
    D("driver, no context: create a stream", F("cuStreamCreate", &c, U(0)));
    D("driver, no context: set null", F("cuCtxSetCurrent", S(NULL)));
}

static void contexts(void)
{
    S first = NULL, second = NULL, c = NULL, primary = NULL;
    int n = -7;
    U flags = 99, version = 0;
    Z bytes = 0;

    F("cuInit", U(0));
    D("context: create, null", F("cuCtxCreate_v2", nullptr, U(0), 0));
    D("context: create, device 1", F("cuCtxCreate_v2", &c, U(0), 1));
    D("context: create, flags 0x1000", F("cuCtxCreate_v2", &c, U(0x1000), 0));
    D("context: create", F("cuCtxCreate_v2", &first, U(0), 0));
    F("cuCtxGetCurrent", &c);
    T("context: current after create", c == first ? "the new one" : "another one");
    D("context: create with flags 4", F("cuCtxCreate_v2", &second, U(4), 0));
    D("context: flags", F("cuCtxGetFlags", &flags));
    N("context: value of the flags", flags);
    D("context: pop", F("cuCtxPopCurrent_v2", &c));
    T("context: popped", c == second ? "the second" : "another one");
    F("cuCtxGetCurrent", &c);
    T("context: current after pop", c == first ? "the first" : c == NULL ? "null" : "another one");
    D("context: push null", F("cuCtxPushCurrent_v2", S(NULL)));
    D("context: push twice", F("cuCtxPushCurrent_v2", first));
    D("context: destroy the second", F("cuCtxDestroy_v2", second));
    D("context: destroy null", F("cuCtxDestroy_v2", S(NULL)));
    D("context: set null", F("cuCtxSetCurrent", S(NULL)));
    F("cuCtxGetCurrent", &c);
    T("context: current after setting null", c == first ? "the first" : c == NULL ? "null" : "another one");
    D("context: device, null", F("cuCtxGetDevice", nullptr));
    D("context: device", F("cuCtxGetDevice", &n));
    D("context: version, null", F("cuCtxGetApiVersion", first, nullptr));
    D("context: version", F("cuCtxGetApiVersion", first, &version));
    D("context: limit 99", F("cuCtxGetLimit", &bytes, 99));
    D("context: set limit 99", F("cuCtxSetLimit", 99, Z(1)));
    D("context: retain, device 1", F("cuDevicePrimaryCtxRetain", &primary, 1));
    D("context: state", F("cuDevicePrimaryCtxGetState", 0, &flags, &n));
    N("context: primary is active before", n);
    D("context: release without retain", F("cuDevicePrimaryCtxRelease_v2", 0));
    D("context: retain", F("cuDevicePrimaryCtxRetain", &primary, 0));
    F("cuDevicePrimaryCtxGetState", 0, &flags, &n);
    N("context: primary is active after retain", n);
    D("context: destroy the primary context", F("cuCtxDestroy_v2", primary));
    D("context: set the primary context", F("cuCtxSetCurrent", primary));
    D("context: release", F("cuDevicePrimaryCtxRelease_v2", 0));
    F("cuDevicePrimaryCtxGetState", 0, &flags, &n);
    N("context: primary is active after release", n);
    D("context: synchronize after release", F("cuCtxSynchronize"));
    D("context: release twice", F("cuDevicePrimaryCtxRelease_v2", 0));
}

static void destroyed_context(void)
{
    A a = 0;

    start();
    D("destroyed context: destroy", F("cuCtxDestroy_v2", context));
    D("destroyed context: malloc", F("cuMemAlloc_v2", &a, Z(4)));
    D("destroyed context: synchronize", F("cuCtxSynchronize"));
    D("destroyed context: set", F("cuCtxSetCurrent", context));
}

static void modules(void)
{
    static const struct {
        const char *name;
        const char *text;
    } rows[] = {{"nonsense", no_syntax}, {"unknown register", no_name}, {"version 99", no_version}, {"target sm_300", no_target},
                {"target sm_100", later_target}, {"missing function", no_symbol}, {"only a header", only_header},
                {"empty text", ""}, {"no PTX", "hello, this is no PTX\n"}, {"a number", "12345"}};
    S m = NULL, f = NULL;
    A a = 0;
    Z bytes = 0;
    char probe[80];

    start();
    for (unsigned i = 0; i < sizeof rows / sizeof *rows; i++) {
        snprintf(probe, sizeof probe, "module: %s", rows[i].name);
        m = &f;
        D(probe, F("cuModuleLoadData", &m, P(rows[i].text)));
        snprintf(probe, sizeof probe, "module: handle of %s", rows[i].name);
        T(probe, m == NULL ? "null" : m == &f ? "unchanged" : "a module");
    }
    D("module: null", F("cuModuleLoadData", &m, nullptr));
    D("module: null result", F("cuModuleLoadData", nullptr, P(good)));
    D("module: no file", F("cuModuleLoad", &m, (const char *)"/nonexistent"));
    D("module: null file", F("cuModuleLoad", &m, nullptr));
    D("module: good", F("cuModuleLoadData", &m, P(good)));
    D("module: function", F("cuModuleGetFunction", &f, m, (const char *)"add"));
    D("module: missing function of the module", F("cuModuleGetFunction", &f, m, (const char *)"nothing"));
    D("module: function, empty name", F("cuModuleGetFunction", &f, m, (const char *)""));
    D("module: function, null name", F("cuModuleGetFunction", &f, m, nullptr));
    D("module: function, null result", F("cuModuleGetFunction", nullptr, m, (const char *)"add"));
    D("module: function, null module", F("cuModuleGetFunction", &f, S(NULL), (const char *)"add"));
    D("module: function, name of a variable", F("cuModuleGetFunction", &f, m, (const char *)"total"));
    D("module: variable", F("cuModuleGetGlobal_v2", &a, &bytes, m, (const char *)"total"));
    N("module: bytes of the variable", (long long)bytes);
    D("module: missing variable", F("cuModuleGetGlobal_v2", &a, &bytes, m, (const char *)"nothing"));
    D("module: variable, name of a function", F("cuModuleGetGlobal_v2", &a, &bytes, m, (const char *)"add"));
    D("module: variable, null results", F("cuModuleGetGlobal_v2", nullptr, nullptr, m, (const char *)"total"));
    D("module: variable, null size", F("cuModuleGetGlobal_v2", &a, nullptr, m, (const char *)"total"));
    D("module: variable, null name", F("cuModuleGetGlobal_v2", &a, &bytes, m, nullptr));
    D("module: constant", F("cuModuleGetGlobal_v2", &a, &bytes, m, (const char *)"seven"));
    D("module: unload null", F("cuModuleUnload", S(NULL)));
    D("module: unload", F("cuModuleUnload", m));
}

static void launches(void)
{
    S m = NULL, add = NULL, none = NULL, bounded = NULL;
    A a = 0;
    U n = 5;
    int v = -7;
    void *arguments[] = {&a, &n};
    struct {
        A a;
        U n;
    } buffer = {0, 6};
    Z bytes = 12;
    void *extra[] = {(void *)1, &buffer, (void *)2, &bytes, NULL};

    start();
    F("cuMemAlloc_v2", &a, Z(4));
    F("cuMemsetD32_v2", a, U(0), Z(1));
    buffer.a = a;
    F("cuModuleLoadData", &m, P(good));
    F("cuModuleGetFunction", &add, m, (const char *)"add");
    F("cuModuleGetFunction", &none, m, (const char *)"none");
    F("cuModuleGetFunction", &bounded, m, (const char *)"bounded");
#define LAUNCH(f, gx, gy, bx, bz, shared, parameters, more) \
    F("cuLaunchKernel", f, U(gx), U(gy), U(1), U(bx), U(1), U(bz), U(shared), S(NULL), parameters, more)
    D("driver launch", LAUNCH(add, 1, 1, 1, 1, 0, (void **)arguments, (void **)NULL));
    D("driver launch: extra", LAUNCH(add, 1, 1, 1, 1, 0, (void **)NULL, (void **)extra));
    D("driver launch: both", LAUNCH(add, 1, 1, 1, 1, 0, (void **)arguments, (void **)extra));
    bytes = 8;
    D("driver launch: extra too small", LAUNCH(add, 1, 1, 1, 1, 0, (void **)NULL, (void **)extra));
    bytes = 16;
    D("driver launch: extra too large", LAUNCH(add, 1, 1, 1, 1, 0, (void **)NULL, (void **)extra));
    bytes = 12;
    extra[0] = (void *)9;
    D("driver launch: extra with an unknown key", LAUNCH(add, 1, 1, 1, 1, 0, (void **)NULL, (void **)extra));
    F("cuMemcpyDtoH_v2", (void *)&v, a, Z(4));
    N("driver launch: sum of the launches", v);
    D("driver launch: grid 0", LAUNCH(add, 0, 1, 1, 1, 0, (void **)arguments, (void **)NULL));
    D("driver launch: block 0", LAUNCH(add, 1, 1, 0, 1, 0, (void **)arguments, (void **)NULL));
    D("driver launch: block 1025", LAUNCH(add, 1, 1, 1025, 1, 0, (void **)arguments, (void **)NULL));
    D("driver launch: block z 65", LAUNCH(add, 1, 1, 1, 65, 0, (void **)arguments, (void **)NULL));
    D("driver launch: grid y 65536", LAUNCH(add, 1, 65536, 1, 1, 0, (void **)arguments, (void **)NULL));
    D("driver launch: grid x 2^31", LAUNCH(add, 1u << 31, 1, 1, 1, 0, (void **)arguments, (void **)NULL));
    D("driver launch: shared 49153", LAUNCH(add, 1, 1, 1, 1, 49153, (void **)arguments, (void **)NULL));
    D("driver launch: bounds 64, block 65", LAUNCH(bounded, 1, 1, 65, 1, 0, (void **)NULL, (void **)NULL));
    D("driver launch: null function", LAUNCH(S(NULL), 1, 1, 1, 1, 0, (void **)arguments, (void **)NULL));
    D("driver launch: no parameters", LAUNCH(none, 1, 1, 1, 1, 0, (void **)NULL, (void **)NULL));
    D("driver launch: synchronize", F("cuCtxSynchronize"));
    D("driver function: attribute 0", F("cuFuncGetAttribute", &v, 0, bounded));
    N("driver function: most threads with bounds 64", v);
    D("driver function: attribute 99", F("cuFuncGetAttribute", &v, 99, add));
    D("driver function: attribute -1", F("cuFuncGetAttribute", &v, -1, add));
    D("driver function: attribute, null", F("cuFuncGetAttribute", nullptr, 0, add));
    D("driver function: set attribute 0", F("cuFuncSetAttribute", add, 0, 1));
    D("driver function: set shared -1", F("cuFuncSetAttribute", add, 8, -1));
    D("driver function: set shared 2^20", F("cuFuncSetAttribute", add, 8, 1 << 20));
}

static void null_parameters(void)
{
    S m = NULL, add = NULL;

    start();
    F("cuModuleLoadData", &m, P(good));
    F("cuModuleGetFunction", &add, m, (const char *)"add");
    D("driver launch: null parameters", LAUNCH(add, 1, 1, 1, 1, 0, (void **)NULL, (void **)NULL));
}

static void driver_memory(void)
{
    A a = 0, b = 0, base = 0;
    Z bytes = 0, pitch = 0;
    char h[64] = "";
    S s = NULL;
    int type = -7;

    start();
    D("driver malloc: 0 bytes", F("cuMemAlloc_v2", &a, Z(0)));
    D("driver malloc: null", F("cuMemAlloc_v2", nullptr, Z(4)));
    D("driver malloc: SIZE_MAX", F("cuMemAlloc_v2", &a, SIZE_MAX));
    D("driver malloc", F("cuMemAlloc_v2", &a, Z(100)));
    D("driver malloc: pitch, element 4", F("cuMemAllocPitch_v2", &b, &pitch, Z(100), Z(2), U(4)));
    N("driver malloc: value of the pitch", (long long)pitch);
    D("driver malloc: pitch, element 3", F("cuMemAllocPitch_v2", &b, &pitch, Z(100), Z(2), U(3)));
    D("driver malloc: pitch, width 0", F("cuMemAllocPitch_v2", &b, &pitch, Z(0), Z(2), U(4)));
    D("driver malloc: managed, flags 0", F("cuMemAllocManaged", &b, Z(4), U(0)));
    D("driver malloc: host, 0 bytes", F("cuMemHostAlloc", (void **)&s, Z(0), U(0)));
    D("driver malloc: host, flags 255", F("cuMemHostAlloc", (void **)&s, Z(4), U(255)));
    D("driver range: interior", F("cuMemGetAddressRange_v2", &base, &bytes, a + 5));
    N("driver range: bytes", (long long)bytes);
    T("driver range: begin", base == a ? "the allocation" : "another address");
    D("driver range: host memory", F("cuMemGetAddressRange_v2", &base, &bytes, A((size_t)h)));
    D("driver range: null", F("cuMemGetAddressRange_v2", &base, &bytes, A(0)));
    D("driver range: null results", F("cuMemGetAddressRange_v2", nullptr, nullptr, a));
    D("driver pointer: type", F("cuPointerGetAttribute", (void *)&type, 2, a));
    N("driver pointer: value of the type", type);
    D("driver pointer: type of host memory", F("cuPointerGetAttribute", (void *)&type, 2, A((size_t)h)));
    D("driver pointer: attribute 99", F("cuPointerGetAttribute", (void *)&type, 99, a));
    D("driver pointer: attribute 0", F("cuPointerGetAttribute", (void *)&type, 0, a));
    D("driver copy: H2D", F("cuMemcpyHtoD_v2", a, P(h), Z(64)));
    D("driver copy: H2D, null to", F("cuMemcpyHtoD_v2", A(0), P(h), Z(4)));
    D("driver copy: H2D, null from", F("cuMemcpyHtoD_v2", a, nullptr, Z(4)));
    D("driver copy: H2D, 0 bytes", F("cuMemcpyHtoD_v2", A(0), nullptr, Z(0)));
    D("driver copy: D2H, null from", F("cuMemcpyDtoH_v2", (void *)h, A(0), Z(4)));
    D("driver copy: D2H from host memory", F("cuMemcpyDtoH_v2", (void *)h, A((size_t)h), Z(4)));
    D("driver copy: D2D to host memory", F("cuMemcpyDtoD_v2", A((size_t)h), a, Z(4)));
    D("driver copy: unified between host arrays", F("cuMemcpy", A((size_t)h), A((size_t)(h + 8)), Z(4)));
    D("driver copy: 2D, null", F("cuMemcpy2D_v2", nullptr));
    D("driver set: 0 elements", F("cuMemsetD8_v2", A(0), (unsigned char)1, Z(0)));
    D("driver set: null", F("cuMemsetD8_v2", A(0), (unsigned char)1, Z(4)));
    D("driver set: 32 bits, odd address", F("cuMemsetD32_v2", a + 1, U(1), Z(1)));
    D("driver set: 16 bits, odd address", F("cuMemsetD16_v2", a + 1, (unsigned short)1, Z(1)));
    D("driver set: 2D, odd pitch of 32 bits", F("cuMemsetD2D32_v2", a, Z(13), U(1), Z(1), Z(2)));
    D("driver set: 2D, width above pitch", F("cuMemsetD2D8_v2", a, Z(4), (unsigned char)1, Z(8), Z(2)));
    D("driver free: interior", F("cuMemFree_v2", a + 4));
    D("driver free: null", F("cuMemFree_v2", A(0)));
    D("driver free: host memory", F("cuMemFree_v2", A((size_t)h)));
    D("driver free", F("cuMemFree_v2", a));
    D("driver free: twice", F("cuMemFree_v2", a));
    D("driver free host: malloc()", F("cuMemFreeHost", (void *)h));
    D("driver free host: null", F("cuMemFreeHost", nullptr));
    D("driver stream: flags 2", F("cuStreamCreate", &s, U(2)));
    D("driver stream: null", F("cuStreamCreate", nullptr, U(0)));
    D("driver stream: destroy null", F("cuStreamDestroy_v2", S(NULL)));
    D("driver stream: query the default stream", F("cuStreamQuery", S(NULL)));
    D("driver event: flags 8", F("cuEventCreate", &s, U(8)));
    D("driver event: null", F("cuEventCreate", nullptr, U(0)));
    D("driver event: destroy null", F("cuEventDestroy_v2", S(NULL)));
    D("driver event: query null", F("cuEventQuery", S(NULL)));
}

static void driver_trap(void)
{
    S m = NULL, f = NULL;
    A a = 0;
    Z bytes;

    start();
    F("cuModuleLoadData", &m, P(good));
    F("cuModuleGetFunction", &f, m, (const char *)"trapping");
    LAUNCH(f, 1, 1, 1, 1, 0, (void **)NULL, (void **)NULL);
    D("driver trap: synchronize", F("cuCtxSynchronize"));
    D("driver trap: synchronize twice", F("cuCtxSynchronize"));
    D("driver trap: malloc", F("cuMemAlloc_v2", &a, Z(4)));
    D("driver trap: malloc of 0 bytes", F("cuMemAlloc_v2", &a, Z(0)));
    D("driver trap: memory info", F("cuMemGetInfo_v2", &bytes, &bytes));
    D("driver trap: current context", F("cuCtxGetCurrent", &f));
    D("driver trap: launch", LAUNCH(f, 1, 1, 1, 1, 0, (void **)NULL, (void **)NULL));
    D("driver trap: unload the module", F("cuModuleUnload", m));
    D("driver trap: destroy the context", F("cuCtxDestroy_v2", context));
    D("driver trap: create a context", F("cuCtxCreate_v2", &context, U(0), 0));
    D("driver trap: malloc in the new context", F("cuMemAlloc_v2", &a, Z(4)));
}

/* The runtime and the driver in one process. */
static void both(void)
{
    S c = NULL;
    A a = 0;
    void *p = NULL;

    D("both: malloc by the driver before the runtime", F("cuMemAlloc_v2", &a, Z(4)));
    R("both: malloc by the runtime", F("cudaMalloc", &p, Z(4)));
    D("both: malloc by the driver", F("cuMemAlloc_v2", &a, Z(4)));
    D("both: current context", F("cuCtxGetCurrent", &c));
    T("both: pointer of the current context", c == NULL ? "null" : "a context");
    R("both: the runtime frees memory of the driver", F("cudaFree", (void *)(size_t)a));
    D("both: the driver frees memory of the runtime", F("cuMemFree_v2", A((size_t)p)));
    R("both: reset", F("cudaDeviceReset"));
    D("both: malloc by the driver after the reset", F("cuMemAlloc_v2", &a, Z(4)));
    R("both: synchronize by the runtime", F("cudaDeviceSynchronize"));
}

struct group driver_groups[] = {
    {"driver_uninitialised", uninitialised}, {"driver_contexts", contexts}, {"driver_destroyed_context", destroyed_context},
    {"driver_modules", modules}, {"driver_launches", launches}, {"driver_null_parameters", null_parameters},
    {"driver_memory", driver_memory}, {"driver_trap", driver_trap}, {"driver_both", both}, {NULL, NULL}
};
