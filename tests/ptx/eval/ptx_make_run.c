/* SPDX-License-Identifier: Apache-2.0 */
/* Generates the launches of random kernels (shape, parameters, memory), modules for a device, and random numbers for
 * ptx_make.c. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/ptx/eval/ptx_make.h"

uint64_t pm_random(uint64_t *state)
{
    uint64_t z = (*state += UINT64_C(0x9e3779b97f4a7c15));

    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

void pm_free(struct pm_kernel *kernel)
{
    for (int i = 0; i < kernel->count; i++)
        free(kernel->at[i].text);
    free(kernel->at);
}

struct pm_shape pm_shape(uint64_t seed, bool warp)
{
    static const uint32_t whole[] = { 32, 64, 96 }, any[] = { 32, 40, 25, 7, 64 };
    struct pm_shape s = { 1 + (uint32_t)(seed % 2), warp ? whole[seed / 2 % 3] : any[seed / 2 % 5], 0 };

    s.bytes = (size_t)s.grid * s.block * PM_ROW_BYTES + PM_SUM_BYTES;
    return s;
}

/* Fills the memory with small integers, random words, and floats near to and far from 1. */
void pm_fill(uint8_t *memory, const struct pm_shape *shape, uint64_t seed)
{
    uint64_t state = seed ^ 0xf111;

    memset(memory, 0, shape->bytes);
    for (size_t row = 0; row < (size_t)shape->grid * shape->block; row++) {
        uint8_t *p = memory + row * PM_ROW_BYTES;

        for (unsigned i = 0; i < 16; i++) {
            uint64_t v = pm_random(&state);
            float f = (float)(int32_t)(v >> 40) / (float)(1 + (v & 1023));
            double d = (double)(int64_t)v / (double)(1 + (v & 65535));
            uint32_t w = (uint32_t)(v >> 32);

            if (i < 4) {
                if (v & 1)
                    w = (uint32_t)(int32_t)((int)(v >> 8 & 255) - 128);
                memcpy(p + 8 * i, &w, 4);
                w = (uint32_t)(v >> 13);
                memcpy(p + 8 * i + 4, &w, 4);
            } else if (i < 8) {
                v = v % 3 == 0 ? v >> 50 : v;
                memcpy(p + 8 * i, &v, 8);
            } else if (i < 10) {
                memcpy(p + 8 * i, &f, 4);
                memcpy(p + 8 * i + 4, v % 7 == 0 ? (void *)&w : (void *)&f, 4);
            } else if (i < 12) {
                memcpy(p + 8 * i, v % 7 == 0 ? (void *)&v : (void *)&d, 8);
            } else {
                memcpy(p + 8 * i, &v, 8);
            }
        }
        for (unsigned i = 128; i < 256; i += 4) {
            uint32_t w = (uint32_t)pm_random(&state);

            memcpy(p + i, &w, 4);
        }
    }
}

void pm_parameters(uint64_t parameters[PM_PARAM_BYTES / 8], uint64_t seed)
{
    uint64_t state = seed + 3, address = parameters[0];

    for (unsigned i = 0; i < PM_PARAM_BYTES / 8; i++)
        parameters[i] = pm_random(&state);
    parameters[0] = address;
}

const unsigned pm_offsets[PM_PARAMETERS] = { 0, 8, 12, 16, 24, 28 };

char *pm_module(uint64_t seed, struct pm_kernel kernels[PM_KERNELS])
{
    char *text = pm_head(seed, false, true), name[16];

    for (unsigned i = 0; i < PM_KERNELS; i++) {
        snprintf(name, sizeof name, "k%u", i);
        pm_make(&kernels[i], seed * PM_KERNELS + i, name, false, true); /* generates kernels without calls, because calls crash
                                                                         * NVIDIA's compiler */
        char *body = pm_text(&kernels[i]);

        text = realloc(text, strlen(text) + strlen(body) + 1);
        strcat(text, body);
        free(body);
    }
    return text;
}
