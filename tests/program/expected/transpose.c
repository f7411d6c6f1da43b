/* SPDX-License-Identifier: Apache-2.0 */
#include "expected.h"

enum { WIDTH = 100, HEIGHT = 70 };

int main(int argc, char **argv)
{
    static uint32_t out[WIDTH][HEIGHT];

    begin(argc, argv);
    /* The input is a ramp, in which element i is i. */
    for (uint32_t y = 0; y < HEIGHT; y++) {
        for (uint32_t x = 0; x < WIDTH; x++)
            out[x][y] = y * WIDTH + x;
    }
    save("transpose.expected.bin", out, sizeof out);
    return 0;
}
