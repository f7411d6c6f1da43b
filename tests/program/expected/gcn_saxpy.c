/* SPDX-License-Identifier: Apache-2.0 */
#include "expected.h"

enum { N = 3001 };

int main(int argc, char **argv)
{
    static float y[N];

    begin(argc, argv);
    for (int i = 0; i < N; i++)
        y[i] = 2.5f * (0.5f * (float)i) + (7.0f - (float)i);
    save("gcn_saxpy.expected.bin", y, sizeof y);
    return 0;
}
