// SPDX-License-Identifier: Apache-2.0
struct record {
    int key;
    float w;
};
__global__ void references(int *out)
{
    int n = threadIdx.x + 5, list[2] = {1, 2};
    record mine = {n, 1.5f}, &ref = mine;
    int &number = n, (&row)[2] = list;

    ref.w = 2.5f;
    out[threadIdx.x] = ref.key + row[1];
    number++;
    out[threadIdx.x] += number;
}
