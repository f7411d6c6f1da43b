/* SPDX-License-Identifier: Apache-2.0 */
/* y = a x + y in CUDA C++. The function main() shows how a program calls the kernel. When Lanewise loads this file, only the
 * kernel is compiled; the compiler only parses main(). */
#include <cstdio>
#include <vector>

__global__ void saxpy(int n, float a, const float *x, float *y)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;

    if (i < n)
        y[i] = a * x[i] + y[i];
}

int main()
{
    const int n = 5000;
    std::vector<float> x(n), y(n, 3.0f);
    float *device_x, *device_y;

    for (int i = 0; i < n; i++)
        x[i] = (float)i;
    if (cudaMalloc(&device_x, n * sizeof(float)) != cudaSuccess ||
        cudaMalloc(&device_y, n * sizeof(float)) != cudaSuccess) {
        std::fprintf(stderr, "no memory: %s\n", cudaGetErrorString(cudaGetLastError()));
        return 1;
    }
    cudaMemcpy(device_x, x.data(), n * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(device_y, y.data(), n * sizeof(float), cudaMemcpyHostToDevice);
    saxpy<<<(n + 127) / 128, 128>>>(n, 2.5f, device_x, device_y);
    cudaMemcpy(y.data(), device_y, n * sizeof(float), cudaMemcpyDeviceToHost);
    std::printf("%f\n", y[n - 1]);
    cudaFree(device_x);
    cudaFree(device_y);
    return 0;
}
