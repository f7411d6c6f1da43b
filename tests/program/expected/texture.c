/* SPDX-License-Identifier: Apache-2.0 */
/* Computes the results of kernel `texture`, which smooths a line twice, with zeros outside the line, reads colours of a
 * palette, and sums nine pixels. */
#include "expected.h"

enum { N = 1000, COLOURS = 100, SHADES = 300, WIDTH = 50, HEIGHT = 20, PITCH = 64 };

static void smooth(const float *in, float *out)
{
    for (int i = 0; i < N; i++)
        out[i] = 0.25f * (i > 0 ? in[i - 1] : 0) + 0.5f * in[i] +
                 0.25f * (i < N - 1 ? in[i + 1] : 0);
}

int main(int argc, char **argv)
{
    static float a[N], b[N], shade[SHADES][4];
    static int16_t pixel[HEIGHT][PITCH];
    static int32_t sum[HEIGHT][WIDTH];

    begin(argc, argv);
    for (int i = 0; i < N; i++)
        a[i] = (float)(8 + i % 37 * 16);
    smooth(a, b);
    smooth(b, a);
    save("texture.expected.bin", a, sizeof a);

    for (int i = 0; i < SHADES; i++) {
        int at = (int)(launch_random(12, (uint64_t)i) % 140) - 20;

        for (int c = 0; at >= 0 && at < COLOURS && c < 4; c++)
            shade[i][c] = (float)(launch_random(11, (uint64_t)(at * 4 + c)) & 255) / 255.0f;
    }
    save("texture_colour.expected.bin", shade, sizeof shade);

    for (int i = 0; i < HEIGHT * PITCH; i++)
        pixel[i / PITCH][i % PITCH] = (int16_t)((int)(launch_random(13, (uint64_t)i) & 0xffff) - 32768);
    for (int y = 0; y < HEIGHT; y++) {
        for (int x = 0; x < WIDTH; x++) {
            for (int k = 0; k < 9; k++) {
                int u = x + k % 3 - 1, v = y + k / 3 - 1;

                u = u < 0 ? 0 : u >= WIDTH ? WIDTH - 1 : u;
                v = v < 0 ? 0 : v >= HEIGHT ? HEIGHT - 1 : v;
                sum[y][x] += pixel[v][u];
            }
        }
    }
    save("texture_sums.expected.bin", sum, sizeof sum);
    return 0;
}
