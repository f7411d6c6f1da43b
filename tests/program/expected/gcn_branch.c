/* SPDX-License-Identifier: Apache-2.0 */
#include "expected.h"

enum { N = 1500 };

int main(int argc, char **argv)
{
    static float a[N], b[N], r[N];
    uint32_t state = 1;

    begin(argc, argv);
    for (int i = 0; i < N; i++) {
        a[i] = (float)next_random(&state) / 1024.0f;
        b[i] = (float)next_random(&state) / 1024.0f;
        if (i < 500) /* the branch is taken first by all lanes, then by none, then by some */
            a[i] = b[i] + 1.0f + (float)i;
        else if (i < 1000)
            b[i] = a[i] + (float)(i % 3);
    }
    for (int i = 0; i < N; i++)
        r[i] = a[i] > b[i] ? a[i] * a[i] - b[i] : b[i] * b[i] - a[i];
    save("gcn_branch_a.bin", a, sizeof a);
    save("gcn_branch_b.bin", b, sizeof b);
    save("gcn_branch.expected.bin", r, sizeof r);
    return 0;
}
