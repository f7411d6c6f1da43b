// SPDX-License-Identifier: Apache-2.0
// Host code alone, which may use the runtime.
#include "parts.h"
#include <cmath>
int on_host(int x)
{
    dim3 d(100);
    float4 v = make_float4(1, 2, 3, 4);
    int device = -1;

    return cudaGetDevice(&device) == cudaSuccess && std::isfinite(v.w) ? x + (int)d.x + device : 0;
}
