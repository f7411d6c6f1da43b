/* SPDX-License-Identifier: Apache-2.0 */
#include "expected.h"

enum { N = 30, GROUP = 8 };

int main(int argc, char **argv)
{
    static char text[N * 100];
    int used = 0;

    begin(argc, argv);
    for (int i = 0; i < N; i++) {
        double x = i;

        used += snprintf(text + used, sizeof text - (size_t)used,
                         "hello from thread %2d of group %d: %s %g,%g,%g,%g\n", i, i / GROUP,
                         i % 2 != 0 ? "odd" : "even", x, x * 0.5, x * x, -x);
    }
    save("hello.expected.txt", text, (size_t)used);
    return 0;
}
