/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels that reach memory through pointers in memory: rows of a matrix, a list, virtual functions, pointers to functions, memory of
 * malloc in kernels, variables that point to memory, and strings. */
#include <cstdio>
struct node { node *next; int value; };
struct shape { __device__ virtual int area() const = 0; __device__ virtual ~shape() {} };
struct square : shape { int side; __device__ square(int s) : side(s) {} __device__ int area() const override { return side * side; } };
struct bar : shape { int x, y; __device__ bar(int a, int b) : x(a), y(b) {} __device__ int area() const override { return x * y; } };
typedef int (*function)(int);
__device__ int twice(int x) { return 2 * x; }
__device__ int square_of(int x) { return x * x; }
__device__ shape *shapes[2];
__device__ function chosen;
__device__ const char *text;
__device__ int *cells;
__device__ node *made;
__global__ void prepare(int which)
{
    shapes[0] = new square(3);
    shapes[1] = new bar(4, 5);
    chosen = which ? twice : square_of;
    text = which ? "abc" : "defg";
    made = (node *)malloc(sizeof(node));
    made->next = nullptr;
    made->value = 11;
}
__global__ void use(int **rows, const node *list, int *out)
{
    static __device__ int calls;
    int sum = 0;
    for (const node *n = list; n != nullptr; n = n->next)
        sum += n->value;
    out[0] = sum;
    out[1] = rows[1][2];
    out[2] = shapes[0]->area() + shapes[1]->area();
    out[3] = chosen(7);
    out[4] = text[0];
    out[5] = made->value;
    cells[0] = ++calls;
    rows[2][0] = 77;
    node *fresh = (node *)malloc(sizeof(node));
    fresh->next = made;
    fresh->value = 12;
    made = fresh;
}
__global__ void finish(int *out)
{
    int sum = 0;
    while (made != nullptr) {
        node *next = made->next;
        sum += made->value;
        free(made);
        made = next;
    }
    out[0] = sum;
    delete shapes[0];
    delete shapes[1];
}
int main()
{
    int *rows[3], **device_rows, *out, *memory, host[6];
    node nodes[3], *list = nullptr;
    cudaMalloc(&device_rows, sizeof rows);
    for (int i = 0; i < 3; i++) {
        const int values[3] = {10 * i, 10 * i + 1, 10 * i + 2};
        cudaMalloc(&rows[i], sizeof values);
        cudaMemcpy(rows[i], values, sizeof values, cudaMemcpyHostToDevice);
        node *n;
        nodes[i] = {list, i + 100};
        cudaMalloc(&n, sizeof *n);
        cudaMemcpy(n, &nodes[i], sizeof *n, cudaMemcpyHostToDevice);
        list = n;
    }
    cudaMemcpy(device_rows, rows, sizeof rows, cudaMemcpyHostToDevice);
    cudaMalloc(&out, sizeof host);
    cudaMalloc(&memory, 64);
    cudaMemset(out, 0, sizeof host);
    cudaMemset(memory, 0, 64);
    cudaMemcpyToSymbol(cells, &memory, sizeof memory);
    prepare<<<1, 1>>>(1);
    use<<<1, 1>>>(device_rows, list, out);
    use<<<1, 1>>>(device_rows, list, out);
    cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost);
    printf("%d %d %d %d %d %d\n", host[0], host[1], host[2], host[3], host[4], host[5]);
    finish<<<1, 1>>>(out);
    cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost);
    printf("%d\n", host[0]);
    return cudaDeviceSynchronize();
}
