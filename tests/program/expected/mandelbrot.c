/* SPDX-License-Identifier: Apache-2.0 */
#include "expected.h"

enum { WIDTH = 96, HEIGHT = 80, LIMIT = 200 };

int main(int argc, char **argv)
{
    static uint32_t steps[HEIGHT][WIDTH];
    const float scale = 0.03125f;

    begin(argc, argv);
    for (int y = 0; y < HEIGHT; y++) {
        for (int x = 0; x < WIDTH; x++) {
            float c_re = (float)x * scale - 2.0f, c_im = (float)y * scale - 1.25f;
            float re = 0, im = 0;
            uint32_t k = 0;

            while (k < LIMIT && re * re + im * im < 4.0f) {
                float next = re * re - im * im + c_re;

                im = 2.0f * re * im + c_im;
                re = next;
                k++;
            }
            steps[y][x] = k;
        }
    }
    save("mandelbrot.expected.bin", steps, sizeof steps);
    return 0;
}
