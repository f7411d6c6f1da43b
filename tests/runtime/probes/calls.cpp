/* SPDX-License-Identifier: Apache-2.0 */
/* Probes of devices, limits, streams, events, captures, and of the names and texts of errors. */
#include "probe.h"

static void errors(void)
{
    enum { LAST = 1100 };
    const char *unknown, *name, *text;
    char probe[40], line[300];

    unknown = ((const char *(*)(int))find_function("cudaGetErrorName"))(LAST);
    T("error: name of 1100", unknown != NULL ? unknown : "null");
    text = ((const char *(*)(int))find_function("cudaGetErrorString"))(LAST);
    T("error: text of 1100", text != NULL ? text : "null");
    text = ((const char *(*)(int))find_function("cudaGetErrorString"))(-1);
    T("error: text of -1", text != NULL ? text : "null");
    for (int i = 0; i < LAST; i++) {
        name = ((const char *(*)(int))find_function("cudaGetErrorName"))(i);
        text = ((const char *(*)(int))find_function("cudaGetErrorString"))(i);
        if (name == NULL || strcmp(name, unknown) == 0)
            continue;
        snprintf(probe, sizeof probe, "error: %d", i);
        snprintf(line, sizeof line, "%s: %s", name, text);
        T(probe, line);
    }
    for (int i = 0; i < LAST; i++) {
        name = text = NULL;
        if (F("cuGetErrorName", i, &name) != 0)
            continue;
        F("cuGetErrorString", i, &text);
        snprintf(probe, sizeof probe, "driver error: %d", i);
        snprintf(line, sizeof line, "%s: %s", name != NULL ? name : "null", text != NULL ? text : "null");
        T(probe, line);
    }
    name = probe;
    D("driver error: name of 1100", F("cuGetErrorName", int(LAST), &name));
    T("driver error: pointer for 1100", name == NULL ? "null" : "unchanged");
    D("driver error: text of 1100", F("cuGetErrorString", int(LAST), &name));
}

static void error_name_null(void)
{
    D("driver error: null result", F("cuGetErrorName", 0, nullptr));
}

/** Attributes whose values follow from the compute capability or the model of the GPU. */
static void device_values(void)
{
    for (int i = 1; i <= 125; i++) {
        char probe[40];
        int v = -7, error = F("cudaDeviceGetAttribute", &v, i, 0);

        if (error == 0 && v == 0)
            continue;
        snprintf(probe, sizeof probe, "device value: attribute %d", i);
        if (error != 0)
            R(probe, error);
        else
            N(probe, v);
    }
}

static void device(void)
{
    static char properties[4096];
    int n = -7, least = -7, greatest = 7;
    Z size = 7;
    char id[64] = "";
    U flags = 99;

    R("device: count", F("cudaGetDeviceCount", &n));
    N("device: number of devices", n);
    R("device: count, null", F("cudaGetDeviceCount", nullptr));
    R("device: get", F("cudaGetDevice", &n));
    N("device: number of the device", n);
    R("device: get, null", F("cudaGetDevice", nullptr));
    R("device: set -1", F("cudaSetDevice", -1));
    R("device: set 1", F("cudaSetDevice", 1));
    R("device: set 99", F("cudaSetDevice", 99));
    R("device: set 0", F("cudaSetDevice", 0));
    R("device: properties, null", F("cudaGetDeviceProperties", nullptr, 0));
    R("device: properties of 1", F("cudaGetDeviceProperties", (void *)properties, 1));
    R("device: properties of -1", F("cudaGetDeviceProperties", (void *)properties, -1));
    R("device: properties", F("cudaGetDeviceProperties", (void *)properties, 0));
    R("device: attribute 0", F("cudaDeviceGetAttribute", &n, 0, 0));
    R("device: attribute -1", F("cudaDeviceGetAttribute", &n, -1, 0));
    R("device: attribute 9999", F("cudaDeviceGetAttribute", &n, 9999, 0));
    R("device: attribute, null", F("cudaDeviceGetAttribute", nullptr, 1, 0));
    R("device: attribute of device 1", F("cudaDeviceGetAttribute", &n, 1, 1));
    R("device: attribute of device -1", F("cudaDeviceGetAttribute", &n, 1, -1));
    R("device: can access itself", F("cudaDeviceCanAccessPeer", &n, 0, 0));
    R("device: can access 1", F("cudaDeviceCanAccessPeer", &n, 0, 1));
    R("device: can access, null", F("cudaDeviceCanAccessPeer", nullptr, 0, 0));
    R("device: enable access to itself", F("cudaDeviceEnablePeerAccess", 0, U(0)));
    R("device: enable access to 1", F("cudaDeviceEnablePeerAccess", 1, U(0)));
    R("device: disable access to itself", F("cudaDeviceDisablePeerAccess", 0));
    R("device: disable access to 1", F("cudaDeviceDisablePeerAccess", 1));
    R("device: bus id", F("cudaDeviceGetPCIBusId", id, 64, 0));
    N("device: length of the bus id", (long long)strlen(id));
    R("device: bus id, 4 bytes", F("cudaDeviceGetPCIBusId", id, 4, 0));
    R("device: bus id, null", F("cudaDeviceGetPCIBusId", nullptr, 64, 0));
    R("device: by a wrong bus id", F("cudaDeviceGetByPCIBusId", &n, (const char *)"ffff:ff:1f.0"));
    R("device: version of the driver, null", F("cudaDriverGetVersion", nullptr));
    R("device: version of the runtime, null", F("cudaRuntimeGetVersion", nullptr));
    F("cudaRuntimeGetVersion", &n);
    N("device: version of the runtime", n / 1000);
    R("device: flags", F("cudaGetDeviceFlags", &flags));
    R("device: flags, null", F("cudaGetDeviceFlags", nullptr));
    R("device: set flags 255", F("cudaSetDeviceFlags", U(255)));
    R("device: set flags 0", F("cudaSetDeviceFlags", U(0)));
    R("device: cache config 9", F("cudaDeviceSetCacheConfig", 9));
    R("device: cache config 1", F("cudaDeviceSetCacheConfig", 1));
    R("device: cache config, null", F("cudaDeviceGetCacheConfig", nullptr));
    R("device: priority range", F("cudaDeviceGetStreamPriorityRange", &least, &greatest));
    N("device: least priority", least);
    T("device: greatest priority", greatest <= least ? "at most the least" : "above the least");
    R("device: priority range, null", F("cudaDeviceGetStreamPriorityRange", nullptr, nullptr));
    R("device: limit, null", F("cudaDeviceGetLimit", nullptr, 0));
    R("device: limit 99", F("cudaDeviceGetLimit", &size, 99));
    R("device: limit -1", F("cudaDeviceGetLimit", &size, -1));
    for (int i = 0; i < 8; i++) {
        char probe[40];
        int error;

        size = 7;
        error = F("cudaDeviceGetLimit", &size, i);
        snprintf(probe, sizeof probe, "device: limit %d", i);
        if (error != 0)
            R(probe, error);
        else
            N(probe, (long long)size);
    }
    R("device: set limit 99", F("cudaDeviceSetLimit", 99, Z(1)));
    R("device: set stack 0", F("cudaDeviceSetLimit", 0, Z(0)));
    R("device: set stack 4096", F("cudaDeviceSetLimit", 0, Z(4096)));
    F("cudaDeviceGetLimit", &size, 0);
    N("device: stack after setting 4096", (long long)size);
    R("device: set stack 4100", F("cudaDeviceSetLimit", 0, Z(4100)));
    F("cudaDeviceGetLimit", &size, 0);
    N("device: stack after setting 4100", (long long)size);
    R("device: set stack 2^40", F("cudaDeviceSetLimit", 0, Z(1) << 40));
    R("device: set printf 2 MiB", F("cudaDeviceSetLimit", 1, Z(2 << 20)));
    F("cudaDeviceGetLimit", &size, 1);
    N("device: printf after setting 2 MiB", (long long)size);
    R("device: set heap 16 MiB", F("cudaDeviceSetLimit", 2, Z(16 << 20)));
    F("cudaDeviceGetLimit", &size, 2);
    N("device: heap after setting 16 MiB", (long long)size);
    R("device: choose, null", F("cudaChooseDevice", nullptr, (P)properties));
    R("device: choose", F("cudaChooseDevice", &n, (P)properties));
    R("device: synchronize", F("cudaDeviceSynchronize"));
    R("device: reset", F("cudaDeviceReset"));
    R("device: reset twice", F("cudaDeviceReset"));
    R("device: synchronize after reset", F("cudaDeviceSynchronize"));
    R("device: profiler start", F("cudaProfilerStart"));
    R("device: profiler stop", F("cudaProfilerStop"));
}

static void nothing(void *user)
{
    (void)user;
}

static void streams(void)
{
    S s = NULL, t = NULL, e = NULL;
    U flags = 99;
    int priority = 99;

    R("stream: create, null", F("cudaStreamCreate", nullptr));
    R("stream: create, flags 2", F("cudaStreamCreateWithFlags", &s, U(2)));
    R("stream: create, flags null", F("cudaStreamCreateWithFlags", nullptr, U(0)));
    R("stream: create", F("cudaStreamCreate", &s));
    R("stream: create, non-blocking", F("cudaStreamCreateWithFlags", &t, U(1)));
    R("stream: flags", F("cudaStreamGetFlags", t, &flags));
    N("stream: value of the flags", flags);
    R("stream: flags, null", F("cudaStreamGetFlags", t, nullptr));
    R("stream: flags of the default stream", F("cudaStreamGetFlags", S(NULL), &flags));
    N("stream: value of the flags of the default stream", flags);
    R("stream: priority", F("cudaStreamGetPriority", s, &priority));
    N("stream: value of the priority", priority);
    R("stream: create, priority 100", F("cudaStreamCreateWithPriority", &t, U(0), 100));
    F("cudaStreamGetPriority", t, &priority);
    N("stream: value of priority 100", priority);
    R("stream: query", F("cudaStreamQuery", s));
    R("stream: query, default", F("cudaStreamQuery", S(NULL)));
    R("stream: query, 1", F("cudaStreamQuery", S(1)));
    R("stream: query, 2", F("cudaStreamQuery", S(2)));
    R("stream: synchronize", F("cudaStreamSynchronize", s));
    R("stream: synchronize, default", F("cudaStreamSynchronize", S(NULL)));
    R("stream: wait for null", F("cudaStreamWaitEvent", s, S(NULL), U(0)));
    F("cudaEventCreate", &e);
    R("stream: wait for an event that was not recorded", F("cudaStreamWaitEvent", s, e, U(0)));
    R("stream: wait, flags 2", F("cudaStreamWaitEvent", s, e, U(2)));
    R("stream: host function, null", F("cudaLaunchHostFunc", s, nullptr, nullptr));
    R("stream: host function", F("cudaLaunchHostFunc", s, &nothing, (void *)NULL));
    R("stream: callback, null", F("cudaStreamAddCallback", s, nullptr, nullptr, U(0)));
    R("stream: callback, flags 1", F("cudaStreamAddCallback", s, &nothing, (void *)NULL, U(1)));
    R("stream: destroy null", F("cudaStreamDestroy", S(NULL)));
    R("stream: destroy 1", F("cudaStreamDestroy", S(1)));
    R("stream: destroy 2", F("cudaStreamDestroy", S(2)));
    R("stream: destroy", F("cudaStreamDestroy", s));
}

static void events(void)
{
    S e = NULL, f = NULL, none = NULL, g = NULL;
    float ms = -7;

    R("event: create, null", F("cudaEventCreate", nullptr));
    R("event: flags 8", F("cudaEventCreateWithFlags", &none, U(8)));
    R("event: flags 4", F("cudaEventCreateWithFlags", &none, U(4)));
    R("event: flags 3", F("cudaEventCreateWithFlags", &none, U(3)));
    R("event: flags null", F("cudaEventCreateWithFlags", nullptr, U(0)));
    R("event: create", F("cudaEventCreate", &e));
    F("cudaEventCreate", &f);
    R("event: query, not recorded", F("cudaEventQuery", e));
    R("event: synchronize, not recorded", F("cudaEventSynchronize", e));
    R("event: elapsed, not recorded", F("cudaEventElapsedTime", &ms, e, f));
    R("event: record", F("cudaEventRecord", e, S(NULL)));
    R("event: elapsed, end not recorded", F("cudaEventElapsedTime", &ms, e, f));
    R("event: synchronize", F("cudaEventSynchronize", e));
    R("event: query", F("cudaEventQuery", e));
    R("event: elapsed of an event with itself", F("cudaEventElapsedTime", &ms, e, e));
    T("event: elapsed time of an event with itself", ms == 0 ? "0" : "not 0");
    F("cudaEventRecord", f, S(NULL));
    F("cudaEventSynchronize", f);
    R("event: elapsed", F("cudaEventElapsedTime", &ms, e, f));
    R("event: elapsed, end before begin", F("cudaEventElapsedTime", &ms, f, e));
    T("event: sign of elapsed time, end before begin", ms <= 0 ? "not positive" : "positive");
    R("event: elapsed, null time", F("cudaEventElapsedTime", nullptr, e, f));
    R("event: elapsed, null event", F("cudaEventElapsedTime", &ms, e, none == NULL ? none : S(NULL)));
    F("cudaEventCreateWithFlags", &g, U(2));
    R("event: record without timing", F("cudaEventRecord", g, S(NULL)));
    F("cudaEventSynchronize", g);
    R("event: elapsed without timing", F("cudaEventElapsedTime", &ms, e, g));
    R("event: record null", F("cudaEventRecord", S(NULL), S(NULL)));
    R("event: record with flags 1", F("cudaEventRecordWithFlags", e, S(NULL), U(1)));
    R("event: record with flags 2", F("cudaEventRecordWithFlags", e, S(NULL), U(2)));
    R("event: query null", F("cudaEventQuery", S(NULL)));
    R("event: synchronize null", F("cudaEventSynchronize", S(NULL)));
    R("event: destroy null", F("cudaEventDestroy", S(NULL)));
    R("event: destroy", F("cudaEventDestroy", e));
}

/* A handle that was destroyed may make the process end, so each use of one is a group. */
static S destroyed_stream(void)
{
    S s = NULL;

    F("cudaStreamCreate", &s);
    F("cudaStreamDestroy", s);
    return s;
}

static S destroyed_event(void)
{
    S e = NULL;

    F("cudaEventCreate", &e);
    F("cudaEventDestroy", e);
    return e;
}

static void stream_gone_query(void)
{
    R("destroyed stream: query", F("cudaStreamQuery", destroyed_stream()));
}

static void stream_gone_synchronize(void)
{
    R("destroyed stream: synchronize", F("cudaStreamSynchronize", destroyed_stream()));
}

static void stream_gone_destroy(void)
{
    R("destroyed stream: destroy", F("cudaStreamDestroy", destroyed_stream()));
}

static void event_gone_record(void)
{
    R("destroyed event: record", F("cudaEventRecord", destroyed_event(), S(NULL)));
}

static void event_gone_query(void)
{
    R("destroyed event: query", F("cudaEventQuery", destroyed_event()));
}

static void event_gone_destroy(void)
{
    R("destroyed event: destroy", F("cudaEventDestroy", destroyed_event()));
}

/** Makes a call whose result is not probed. */
template <class... A> static void quiet(const char *name, A... a)
{
    F(name, a...);
    F("cudaGetLastError");
}

static void capture(void)
{
    S s = NULL, graph = NULL, exec = NULL, e = NULL;
    void *p = NULL, *a = NULL;
    int status = -7;

    F("cudaMalloc", &a, Z(4096));
    F("cudaStreamCreate", &s);
    F("cudaEventCreate", &e);
    R("capture: of the default stream", F("cudaStreamBeginCapture", S(NULL), 0));
    R("capture: mode 9", F("cudaStreamBeginCapture", s, 9));
    R("capture: end without begin", F("cudaStreamEndCapture", s, &graph));
    R("capture: status before", F("cudaStreamIsCapturing", s, &status));
    N("capture: value of the status before", status);
    R("capture: begin", F("cudaStreamBeginCapture", s, 0));
    R("capture: begin twice", F("cudaStreamBeginCapture", s, 0));
    R("capture: status", F("cudaStreamIsCapturing", s, &status));
    N("capture: value of the status", status);
    R("capture: status, null", F("cudaStreamIsCapturing", s, nullptr));
    R("capture: set in the stream", F("cudaMemsetAsync", a, 0, Z(16), s));
    R("capture: query of the stream", F("cudaStreamQuery", s));
    R("capture: end after a query", F("cudaStreamEndCapture", s, &graph));
    quiet("cudaStreamBeginCapture", s, 0);
    R("capture: malloc", F("cudaMalloc", &p, Z(4)));
    R("capture: synchronize the stream", F("cudaStreamSynchronize", s));
    R("capture: end after synchronize", F("cudaStreamEndCapture", s, &graph));
    quiet("cudaStreamBeginCapture", s, 0);
    R("capture: copy in the default stream", F("cudaMemset", a, 0, Z(4)));
    R("capture: synchronize the device", F("cudaDeviceSynchronize"));
    R("capture: end after synchronize of the device", F("cudaStreamEndCapture", s, &graph));
    quiet("cudaStreamBeginCapture", s, 0);
    quiet("cudaMemsetAsync", a, 0, Z(16), s);
    R("capture: record an event", F("cudaEventRecord", e, s));
    R("capture: query the event", F("cudaEventQuery", e));
    quiet("cudaStreamEndCapture", s, &graph);
    quiet("cudaStreamBeginCapture", s, 2);
    quiet("cudaMemsetAsync", a, 0, Z(16), s);
    R("capture: end, null graph", F("cudaStreamEndCapture", s, nullptr));
    quiet("cudaStreamEndCapture", s, &graph);
    quiet("cudaStreamBeginCapture", s, 2);
    quiet("cudaMemsetAsync", a, 0, Z(16), s);
    graph = NULL;
    R("capture: end", F("cudaStreamEndCapture", s, &graph));
    T("capture: graph", graph != NULL ? "a graph" : "null");
    R("graph: instantiate, null", F("cudaGraphInstantiate", nullptr, graph, 0ull));
    R("graph: instantiate a null graph", F("cudaGraphInstantiate", &exec, S(NULL), 0ull));
    R("graph: instantiate", F("cudaGraphInstantiate", &exec, graph, 0ull));
    R("graph: launch", F("cudaGraphLaunch", exec, s));
    R("graph: launch null", F("cudaGraphLaunch", S(NULL), s));
    R("graph: destroy null", F("cudaGraphDestroy", S(NULL)));
    R("graph: destroy the executable null", F("cudaGraphExecDestroy", S(NULL)));
    R("graph: synchronize", F("cudaStreamSynchronize", s));
    R("graph: destroy the executable", F("cudaGraphExecDestroy", exec));
    R("graph: destroy", F("cudaGraphDestroy", graph));
}

static void last_error(void)
{
    void *p = NULL;

    N("last error: at the start", F("cudaPeekAtLastError"));
    F("cudaMalloc", nullptr, Z(4));
    N("last error: peek after an error", F("cudaPeekAtLastError"));
    N("last error: a call that succeeds", F("cudaMalloc", &p, Z(4)));
    N("last error: peek after success", F("cudaPeekAtLastError"));
    N("last error: a second error", F("cudaSetDevice", 77));
    N("last error: peek after the second error", F("cudaPeekAtLastError"));
    N("last error: get", F("cudaGetLastError"));
    N("last error: get twice", F("cudaGetLastError"));
    F("cudaMalloc", &p, Z(1) << 50);
    N("last error: get after too much memory", F("cudaGetLastError"));
    N("last error: malloc after too much memory", F("cudaMalloc", &p, Z(4)));
    F("cudaSetDevice", 77);
    N("last error: synchronize after an error", F("cudaDeviceSynchronize"));
    N("last error: get after synchronize", F("cudaGetLastError"));
    F("cudaSetDevice", 77);
    N("last error: reset", F("cudaDeviceReset"));
    N("last error: get after reset", F("cudaGetLastError"));
    F("cudaSetDevice", 77);
    N("last error: a call of the driver", F("cuInit", U(5)));
    N("last error: get after a call of the driver", F("cudaGetLastError"));
}

struct group call_groups[] = {
    {"errors", errors}, {"error_name_null", error_name_null}, {"device", device}, {"device_values", device_values},
    {"streams", streams}, {"events", events}, {"stream_gone_query", stream_gone_query}, {"stream_gone_synchronize", stream_gone_synchronize},
    {"stream_gone_destroy", stream_gone_destroy}, {"event_gone_record", event_gone_record},
    {"event_gone_query", event_gone_query}, {"event_gone_destroy", event_gone_destroy}, {"capture", capture},
    {"last_error", last_error}, {NULL, NULL}
};
