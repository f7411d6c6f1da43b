/* SPDX-License-Identifier: Apache-2.0 */
/* Textures over linear memory: a row of floats that reads as zero outside its range, a palette of colours that is
 * read as floats from 0 to 1 through a texture object, and an image with clamped coordinates. */
texture<float, 1, cudaReadModeElementType> line;
texture<short, 2, cudaReadModeElementType> image;

__global__ void smooth(float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;

    if (i < n)
        out[i] = 0.25f * tex1Dfetch(line, i - 1) + 0.5f * tex1Dfetch(line, i) +
                 0.25f * tex1Dfetch(line, i + 1);
}

__global__ void colour(float4 *out, const int *index, cudaTextureObject_t palette, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;

    if (i < n)
        out[i] = tex1Dfetch<float4>(palette, index[i]);
}

__global__ void sums(int *out, int width, int height)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    int sum = 0;

    if (x >= width || y >= height)
        return;
    for (int dy = -1; dy <= 1; dy++) {
        for (int dx = -1; dx <= 1; dx++)
            sum += tex2D(image, x + dx + 0.5f, y + dy + 0.5f);
    }
    out[y * width + x] = sum;
}
