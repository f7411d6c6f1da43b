/* SPDX-License-Identifier: Apache-2.0 */
#include "expected.h"

enum { N = 1000 };

int main(int argc, char **argv)
{
    static float c[N];

    begin(argc, argv);
    for (int i = 0; i < N; i++)
        c[i] = (float)i + (1000.0f - 0.5f * (float)i);
    save("vadd.expected.bin", c, sizeof c);
    return 0;
}
