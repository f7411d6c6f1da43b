/* SPDX-License-Identifier: Apache-2.0 */
#include "expected.h"

enum { N = 500, LOCKS = 7 };

int main(int argc, char **argv)
{
    static uint32_t count[LOCKS], sum[LOCKS];

    begin(argc, argv);
    for (uint32_t i = 0; i < N; i++) {
        count[i % LOCKS]++;
        sum[i % LOCKS] += i;
    }
    save("spinlock_count.expected.bin", count, sizeof count);
    save("spinlock_sum.expected.bin", sum, sizeof sum);
    return 0;
}
