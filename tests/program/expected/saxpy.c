/* SPDX-License-Identifier: Apache-2.0 */
#include "expected.h"

enum { N = 5000 };

int main(int argc, char **argv)
{
    static float y[N];

    begin(argc, argv);
    /* x = i and y = 3 are small integers, so that fused and separate rounding give the same result. */
    for (int i = 0; i < N; i++)
        y[i] = 2.5f * (float)i + 3.0f;
    save("saxpy.expected.bin", y, sizeof y);
    return 0;
}
