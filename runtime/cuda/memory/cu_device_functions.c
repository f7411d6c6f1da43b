/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Functions of libcudadevrt that code of nvcc -rdc=true calls: cudaMemcpyAsync, cudaMemsetAsync, cudaGetErrorString and
 * cudaGetErrorName. A copy launches a kernel in the stream, so that it begins after the earlier work of the stream. Launches
 * themselves are instructions of the machine (docs/explanation/device-launches.md).
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/cuda/cu_priv.h"
#include "runtime/cuda/cu_trace_priv.h"

CU_API const char *cudaGetErrorName(cudaError_t error);

/* A thread has every (gridDim * blockDim)-th byte. */
#define LOOP(BODY) \
    "    mov.u32 %r1, %ctaid.x;\n    mov.u32 %r2, %ntid.x;\n    mov.u32 %r3, %tid.x;\n    mov.u32 %r4, %nctaid.x;\n" \
    "    mad.lo.u32 %r1, %r1, %r2, %r3;\n    mul.lo.u32 %r4, %r4, %r2;\n" \
    "    cvt.u64.u32 %rd4, %r1;\n    cvt.u64.u32 %rd5, %r4;\n" \
    "more:\n    setp.ge.u64 %p1, %rd4, %rd3;\n    @%p1 bra done;\n    add.u64 %rd6, %rd1, %rd4;\n" \
    BODY \
    "    add.u64 %rd4, %rd4, %rd5;\n    bra more;\ndone:\n    ret;\n}\n"
/* Launches KERNEL with min(256, size / 256 rounded up) blocks of 256 threads. STORES: stores the arguments, at %rd4 on. */
#define LAUNCH(KERNEL, STREAM, STORES) \
    "    setp.eq.u64 %p1, %rd3, 0;\n    @%p1 bra done;\n" \
    "    add.u64 %rd5, %rd3, 255;\n    shr.u64 %rd5, %rd5, 8;\n    min.u64 %rd5, %rd5, 256;\n    cvt.u32.u64 %r1, %rd5;\n" \
    "    mov.u64 %rd6, " KERNEL ";\n" \
    "    {\n    .param .b64 f;\n    .param .align 4 .b8 g[12];\n    .param .align 4 .b8 b[12];\n    .param .b32 s;\n    .param .b64 r;\n" \
    "    st.param.b64 [f], %rd6;\n    st.param.b32 [g], %r1;\n    st.param.b32 [g+4], 1;\n    st.param.b32 [g+8], 1;\n" \
    "    st.param.b32 [b], 256;\n    st.param.b32 [b+4], 1;\n    st.param.b32 [b+8], 1;\n    st.param.b32 [s], 0;\n" \
    "    call.uni (r), __cudaCDP2GetParameterBufferV2, (f, g, b, s);\n    ld.param.b64 %rd4, [r];\n    }\n" \
    "    mov.u32 %r2, 701;\n    setp.eq.u64 %p1, %rd4, 0;\n    @%p1 bra failed;\n" /* cudaErrorLaunchOutOfResources */ \
    STORES \
    "    ld.param.u64 %rd7, [" STREAM "];\n" \
    "    {\n    .param .b64 p;\n    .param .b64 t;\n    .param .b32 r;\n    st.param.b64 [p], %rd4;\n    st.param.b64 [t], %rd7;\n" \
    "    call.uni (r), __cudaCDP2LaunchDeviceV2, (p, t);\n    ld.param.b32 %r2, [r];\n    }\n" \
    "failed:\n    st.param.b32 [result], %r2;\n    ret;\n" \
    "done:\n    st.param.b32 [result], 0;\n    ret;\n}\n"
#define REGISTERS "    .reg .pred %p<2>;\n    .reg .b32 %r<6>;\n    .reg .b64 %rd<8>;\n"

static const char copies[] =
    ".extern .func (.param .b64 result) __cudaCDP2GetParameterBufferV2(.param .b64 function, .param .align 4 .b8 grid[12],\n"
    "    .param .align 4 .b8 block[12], .param .b32 shared);\n"
    ".extern .func (.param .b32 result) __cudaCDP2LaunchDeviceV2(.param .b64 buffer, .param .b64 stream);\n"
    ".visible .entry lanewise_device_copy(.param .u64 to, .param .u64 from, .param .u64 size)\n{\n" REGISTERS
    "    ld.param.u64 %rd1, [to];\n    ld.param.u64 %rd2, [from];\n    ld.param.u64 %rd3, [size];\n"
    LOOP("    add.u64 %rd7, %rd2, %rd4;\n    ld.u8 %r5, [%rd7];\n    st.u8 [%rd6], %r5;\n")
    ".visible .entry lanewise_device_fill(.param .u64 to, .param .u32 value, .param .u64 size)\n{\n" REGISTERS
    "    ld.param.u64 %rd1, [to];\n    ld.param.u32 %r5, [value];\n    ld.param.u64 %rd3, [size];\n"
    LOOP("    st.u8 [%rd6], %r5;\n")
    ".visible .func (.param .b32 result) __cudaCDP2MemcpyAsync(.param .b64 to, .param .b64 from, .param .b64 size, .param .b32 kind,\n"
    "    .param .b64 stream)\n{\n" REGISTERS
    "    ld.param.u64 %rd1, [to];\n    ld.param.u64 %rd2, [from];\n    ld.param.u64 %rd3, [size];\n"
    LAUNCH("lanewise_device_copy", "stream", "    st.u64 [%rd4], %rd1;\n    st.u64 [%rd4+8], %rd2;\n    st.u64 [%rd4+16], %rd3;\n")
    ".visible .func (.param .b32 result) __cudaCDP2MemsetAsync(.param .b64 to, .param .b32 value, .param .b64 size, .param .b64 stream)\n"
    "{\n" REGISTERS
    "    ld.param.u64 %rd1, [to];\n    ld.param.u32 %r3, [value];\n    ld.param.u64 %rd3, [size];\n"
    LAUNCH("lanewise_device_fill", "stream", "    st.u64 [%rd4], %rd1;\n    st.u32 [%rd4+8], %r3;\n    st.u64 [%rd4+16], %rd3;\n");

/** Writes a function of one parameter, the number of an error, that returns the address of a text. */
static void put_texts(FILE *f, const char *function, const char *(*text_of)(cudaError_t error))
{
    enum { ERRORS = 1000 }; /* more than the highest number */
    const char *unknown = text_of((cudaError_t)ERRORS);

    for (int pass = 0; pass < 2; pass++) { /* the texts, then the function */
        if (pass == 1)
            fprintf(f, ".visible .func (.param .b64 result) %s(.param .b32 error)\n{\n%s    ld.param.u32 %%r1, [error];\n"
                       "    mov.u64 %%rd1, %s_%d;\n", function, REGISTERS, function, ERRORS);
        for (int error = 0; error <= ERRORS; error++) {
            const char *text = text_of((cudaError_t)error);

            if (error < ERRORS && strcmp(text, unknown) == 0)
                continue;
            if (pass == 1) {
                fprintf(f, "    mov.u64 %%rd2, %s_%d;\n    setp.eq.u32 %%p1, %%r1, %d;\n    selp.b64 %%rd1, %%rd2, %%rd1, %%p1;\n",
                        function, error, error);
                continue;
            }
            fprintf(f, ".global .align 1 .b8 %s_%d[%zu] = {", function, error, strlen(text) + 1);
            for (; *text != '\0'; text++)
                fprintf(f, "%d, ", *text);
            fputs("0};\n", f);
        }
    }
    fputs("    st.param.b64 [result], %rd1;\n    ret;\n}\n", f);
}

static bool uses(const struct cu_link *link, const char *name)
{
    for (unsigned i = 0; i < link->count; i++)
        if (strstr(link->texts[i].text, name) != NULL)
            return true;
    return false;
}

char *cu_device_functions(const struct cu_link *link)
{
    const bool copy = uses(link, "__cudaCDP2MemcpyAsync") || uses(link, "__cudaCDP2MemsetAsync");
    const bool text = uses(link, "__cudaCDP2GetErrorString"), name = uses(link, "__cudaCDP2GetErrorName");
    char *out = NULL;
    size_t size;
    FILE *f = copy || text || name ? open_memstream(&out, &size) : NULL;

    if (f == NULL)
        return NULL;
    fputs(".version 7.0\n.target sm_70\n.address_size 64\n", f);
    if (copy)
        fputs(copies, f);
    if (text)
        put_texts(f, "__cudaCDP2GetErrorString", cudaGetErrorString);
    if (name)
        put_texts(f, "__cudaCDP2GetErrorName", cudaGetErrorName);
    if (fclose(f) == 0)
        return out;
    free(out);
    return NULL;
}
