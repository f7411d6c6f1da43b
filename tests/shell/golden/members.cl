/* SPDX-License-Identifier: Apache-2.0 */
typedef enum { COLD, WARM, HOT } heat;
typedef struct {
    int key;
    float w[2];
    heat h;
} record;

void warm(record *r, int by)
{
    r->key += by;
    r->w[1] = by * 0.5f;
    r->h = WARM;
}

kernel void members(global float *out)
{
    record mine = {(int)get_local_id(0), {1.5f, 2.5f}, COLD};
    float row[3] = {0, 0, 0};
    record *last = 0;
    char word[4] = "abc";

    warm(&mine, 3);
    for (int i = 0; i < 3; i++)
        row[i] = mine.w[1] + i;
    last = &mine;
    word[1] = 'x';
    out[mine.key - 3] = row[2] + last->w[0] + word[0];
}
