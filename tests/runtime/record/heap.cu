/* SPDX-License-Identifier: Apache-2.0 */
/* A list of 1,500 objects of malloc, and a kernel that allocates until the heap is full, which contains objects without a pointer. */
#include <cstdio>
struct node { node *next; int value; };
__device__ node *first;
__device__ void *volatile last; // the compiler must not remove calls of malloc
__global__ void make(int n)
{
    for (int i = 0; i < n; i++) {
        node *made = (node *)malloc(sizeof(node));
        made->next = first;
        made->value = i;
        first = made;
        if (i % 100 == 0)
            last = malloc(1000 + i);
    }
    last = nullptr; /* no pointer to these objects remains */
}
__global__ void fill(int *out)
{
    int count = 0, sum = 0;

    for (const node *n = first; n != nullptr; n = n->next)
        sum += n->value;
    for (;;) {
        void *made = malloc(100000);

        last = made;
        if (made == nullptr)
            break;
        count++;
    }
    out[0] = count;
    out[1] = sum;
}
int main()
{
    int *out, host[2];

    cudaMalloc(&out, sizeof host);
    cudaMemset(out, 0, sizeof host);
    make<<<1, 1>>>(1500);
    fill<<<1, 1>>>(out);
    cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost);
    printf("%d %d\n", host[0], host[1]);
    return cudaDeviceSynchronize();
}
