/* SPDX-License-Identifier: Apache-2.0 */
/* Arrays, texture objects and surface objects. The host computes the expected texels from the rules of CUDA's guide. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <vector>

static int wrong;
#define OK(call) \
    do { \
        cudaError_t e_ = (call); \
        if (e_ != cudaSuccess && wrong++ < 9) \
            printf("line %d: %s\n", __LINE__, cudaGetErrorString(e_)); \
    } while (0)
#define WANT(error, call) \
    do { \
        cudaError_t e_ = (call); \
        if (e_ != (error) && wrong++ < 9) \
            printf("line %d: %s instead of %s\n", __LINE__, cudaGetErrorName(e_), cudaGetErrorName(error)); \
        (void)cudaGetLastError(); \
    } while (0)

enum { W = 8, H = 4, D = 3, N = 64 };

enum fetch { LINE, PLANE, SPACE, LINES, PLANES, CUBE, CUBES };
/* Fetches the texels also with a mipmap level and with derivatives, which change nothing, because the textures have one level. */
__global__ void fetch_all(cudaTextureObject_t t, int what, const float4 *at, float *out)
{
    const int i = threadIdx.x;
    const float4 p = at[i], d4 = make_float4(1, 2, 3, 0);
    const float2 d2 = make_float2(2, 3);
    const float l = (float)(i % 3);
    const int layer = (int)p.w;
    float v[3];

    switch (what) {
    case LINE: v[0] = tex1D<float>(t, p.x), v[1] = tex1DLod<float>(t, p.x, l), v[2] = tex1DGrad<float>(t, p.x, 2, 3); break;
    case PLANE: v[0] = tex2D<float>(t, p.x, p.y), v[1] = tex2DLod<float>(t, p.x, p.y, l), v[2] = tex2DGrad<float>(t, p.x, p.y, d2, d2); break;
    case SPACE:
        v[0] = tex3D<float>(t, p.x, p.y, p.z), v[1] = tex3DLod<float>(t, p.x, p.y, p.z, l);
        v[2] = tex3DGrad<float>(t, p.x, p.y, p.z, d4, d4);
        break;
    case LINES:
        v[0] = tex1DLayered<float>(t, p.x, layer), v[1] = tex1DLayeredLod<float>(t, p.x, layer, l);
        v[2] = tex1DLayeredGrad<float>(t, p.x, layer, 2, 3);
        break;
    case PLANES:
        v[0] = tex2DLayered<float>(t, p.x, p.y, layer), v[1] = tex2DLayeredLod<float>(t, p.x, p.y, layer, l);
        v[2] = tex2DLayeredGrad<float>(t, p.x, p.y, layer, d2, d2);
        break;
    case CUBE:
        v[0] = texCubemap<float>(t, p.x, p.y, p.z), v[1] = texCubemapLod<float>(t, p.x, p.y, p.z, l);
        v[2] = texCubemapGrad<float>(t, p.x, p.y, p.z, d4, d4);
        break;
    default:
        v[0] = texCubemapLayered<float>(t, p.x, p.y, p.z, layer), v[1] = texCubemapLayeredLod<float>(t, p.x, p.y, p.z, layer, l);
        v[2] = texCubemapLayeredGrad<float>(t, p.x, p.y, p.z, layer, d4, d4);
        break;
    }
    out[i] = v[0] == v[1] && v[0] == v[2] ? v[0] : NAN;
}

/* Index of the texel for coordinate @at on an axis of @n texels. */
static int nearest(float at, int n, bool normalized, int mode, bool *outside)
{
    double x = at;

    if (normalized && mode == cudaAddressModeWrap)
        x -= floor(x);
    if (normalized && mode == cudaAddressModeMirror)
        x = fmod(floor(x), 2) != 0 ? 1 - (x - floor(x)) : x - floor(x);
    int i = (int)floor(normalized ? x * n : x);
    *outside = *outside || (mode == cudaAddressModeBorder && (i < 0 || i >= n));
    return i < 0 ? 0 : i >= n ? n - 1 : i;
}

static cudaTextureObject_t object_of(cudaArray_t array, int mode, bool normalized, bool linear,
                                     cudaTextureReadMode read = cudaReadModeElementType)
{
    cudaResourceDesc r = {};
    cudaTextureDesc d = {};
    cudaTextureObject_t t = 0;

    r.resType = cudaResourceTypeArray;
    r.res.array.array = array;
    d.addressMode[0] = d.addressMode[1] = d.addressMode[2] = (cudaTextureAddressMode)mode;
    d.filterMode = linear ? cudaFilterModeLinear : cudaFilterModePoint;
    d.normalizedCoords = normalized;
    d.readMode = read;
    OK(cudaCreateTextureObject(&t, &r, &d, nullptr));
    return t;
}

static float4 *at;
static float *out;

/* Fetches single texels of an array of up to three dimensions, with all address modes. */
static void points(fetch what, int w, int h, int d, unsigned flags)
{
    const int rows = h ? h : 1, planes = d ? d : 1;
    const bool layers = (flags & cudaArrayLayered) != 0;
    std::vector<float> texel(w * rows * planes), back(texel.size());
    cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
    cudaArray_t array;
    cudaMemcpy3DParms copy = {};

    for (size_t i = 0; i < texel.size(); i++)
        texel[i] = (float)i * 3 - 50;
    OK(cudaMalloc3DArray(&array, &format, make_cudaExtent(w, h, d), flags));
    copy.srcPtr = make_cudaPitchedPtr(texel.data(), w * sizeof(float), w, rows);
    copy.dstArray = array;
    copy.extent = make_cudaExtent(w, rows, planes);
    copy.kind = cudaMemcpyHostToDevice;
    OK(cudaMemcpy3D(&copy));
    copy = cudaMemcpy3DParms();
    copy.srcArray = array;
    copy.dstPtr = make_cudaPitchedPtr(back.data(), w * sizeof(float), w, rows);
    copy.extent = make_cudaExtent(w, rows, planes);
    copy.kind = cudaMemcpyDeviceToHost;
    OK(cudaMemcpy3D(&copy));
    wrong += back != texel;
    for (int mode = 0; mode < 4; mode++)
        for (int normalized = 0; normalized < 2; normalized++) {
            cudaTextureObject_t t = object_of(array, mode, normalized, false);

            for (int i = 0; i < N; i++) {
                const float x = (float)(i * 37 % 41) / 8 - 1.5f, y = (float)(i * 29 % 47) / 16 - 0.75f, z = (float)(i % 13) / 4 - 1;
                at[i] = normalized ? make_float4(x, y, z, 0) : make_float4(x * w, y * rows, z * planes, 0);
                at[i].w = (float)(i % 5 - 1);
            }
            fetch_all<<<1, N>>>(t, what, at, out);
            OK(cudaDeviceSynchronize());
            for (int i = 0; i < N; i++) {
                const int layer = at[i].w < 0 ? 0 : at[i].w >= planes ? planes - 1 : (int)at[i].w;
                bool outside = false;
                int x = nearest(at[i].x, w, normalized, mode, &outside), y = 0, z = layers ? layer : 0;

                if (h)
                    y = nearest(at[i].y, h, normalized, mode, &outside);
                if (d && !layers)
                    z = nearest(at[i].z, d, normalized, mode, &outside);
                const float want = outside ? 0 : texel[(z * rows + y) * w + x];
                if (out[i] != want && wrong++ < 9)
                    printf("fetch %d, mode %d, normalized %d, thread %d: %g instead of %g\n", what, mode, normalized, i, out[i], want);
            }
            OK(cudaDestroyTextureObject(t));
        }
    OK(cudaFreeArray(array));
}

/* Each face of a cube has one value. */
static void cubes(void)
{
    static const float3 to[6] = {{1, 0, 0}, {-1, 0, 0}, {0, 1, 0}, {0, -1, 0}, {0, 0, 1}, {0, 0, -1}};
    cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();

    for (int layers = 0; layers < 2; layers++) {
        const int planes = layers ? 12 : 6;
        std::vector<float> texel(2 * 2 * planes);
        cudaMemcpy3DParms copy = {};
        cudaArray_t array;

        for (int i = 0; i < 4 * planes; i++)
            texel[i] = (float)(i / 4);
        OK(cudaMalloc3DArray(&array, &format, make_cudaExtent(2, 2, planes), cudaArrayCubemap | (layers ? cudaArrayLayered : 0)));
        copy.srcPtr = make_cudaPitchedPtr(texel.data(), 2 * sizeof(float), 2, 2);
        copy.dstArray = array;
        copy.extent = make_cudaExtent(2, 2, planes);
        copy.kind = cudaMemcpyHostToDevice;
        OK(cudaMemcpy3D(&copy));
        cudaTextureObject_t t = object_of(array, cudaAddressModeClamp, true, true);
        for (int i = 0; i < planes; i++)
            at[i] = make_float4(to[i % 6].x + 0.125f, to[i % 6].y - 0.25f, to[i % 6].z + 0.0625f, (float)(i / 6));
        fetch_all<<<1, N>>>(t, layers ? CUBES : CUBE, at, out);
        OK(cudaDeviceSynchronize());
        for (int i = 0; i < planes; i++)
            if (out[i] != (float)i && wrong++ < 9)
                printf("face %d of %d: %g\n", i, planes, out[i]);
        OK(cudaDestroyTextureObject(t));
        OK(cudaFreeArray(array));
    }
}

/* Linear filtering: the weights have 8 bits of fraction. Texels are 8-bit integers, which are read as floats from 0 to 1. */
static void filter(void)
{
    const unsigned char texel[2][2] = {{0, 255}, {255, 0}};
    cudaChannelFormatDesc format = cudaCreateChannelDesc<unsigned char>();
    cudaArray_t array;

    OK(cudaMallocArray(&array, &format, 2, 2));
    OK(cudaMemcpy2DToArray(array, 0, 0, texel, 2, 2, 2, cudaMemcpyHostToDevice));
    cudaTextureObject_t t = object_of(array, cudaAddressModeClamp, false, true, cudaReadModeNormalizedFloat);
    for (int i = 0; i < N; i++)
        at[i] = make_float4(0.5f + (float)i / 61, 0.5f + (float)i / 300, 0, 0);
    fetch_all<<<1, N>>>(t, PLANE, at, out);
    OK(cudaDeviceSynchronize());
    for (int i = 0; i < N; i++) {
        double a = floor((at[i].x - 0.5) * 256 + 0.5) / 256, b = floor((at[i].y - 0.5) * 256 + 0.5) / 256;
        a = a > 1 ? 1 : a;
        const float want = (float)(a * (1 - b) + (1 - a) * b);
        if (out[i] != want && wrong++ < 9)
            printf("linear, thread %d: %.9g instead of %.9g\n", i, out[i], want);
    }
    OK(cudaDestroyTextureObject(t));
    cudaResourceDesc r = {};
    cudaTextureDesc d = {};
    r.resType = cudaResourceTypeArray;
    r.res.array.array = array;
    d.filterMode = cudaFilterModeLinear;
    WANT(cudaErrorInvalidFilterSetting, cudaCreateTextureObject(&t, &r, &d, nullptr));
    OK(cudaFreeArray(array));
    WANT(cudaErrorInvalidResourceHandle, cudaCreateTextureObject(&t, &r, &d, nullptr));
}

__global__ void fetch_ints(cudaTextureObject_t line, cudaTextureObject_t plane, int *result)
{
    const int i = threadIdx.x;
    const uchar2 p = tex2D<uchar2>(plane, i % W + 0.5f, i / W + 0.5f);

    result[2 * i] = tex1Dfetch<int>(line, i - 1);
    result[2 * i + 1] = p.x * 256 + p.y;
}

/* Textures of memory that cudaMalloc and cudaMallocPitch have allocated. */
static void memory(void)
{
    int *word, *result;
    uchar2 *pixel;
    size_t pitch;
    cudaResourceDesc r = {};
    cudaTextureDesc d = {};
    cudaTextureObject_t line, plane;

    OK(cudaMallocManaged(&word, W * sizeof *word));
    OK(cudaMallocManaged(&result, 2 * W * H * sizeof *result));
    OK(cudaMallocPitch(&pixel, &pitch, W * sizeof *pixel, H));
    for (int i = 0; i < W; i++)
        word[i] = -7 * i;
    std::vector<uchar2> host(W * H);
    for (int i = 0; i < W * H; i++)
        host[i] = make_uchar2(i, 255 - i);
    OK(cudaMemcpy2D(pixel, pitch, host.data(), W * 2, W * 2, H, cudaMemcpyHostToDevice));
    r.resType = cudaResourceTypeLinear;
    r.res.linear.devPtr = word;
    r.res.linear.desc = cudaCreateChannelDesc<int>();
    r.res.linear.sizeInBytes = W * sizeof *word;
    OK(cudaCreateTextureObject(&line, &r, &d, nullptr));
    r.resType = cudaResourceTypePitch2D;
    r.res.pitch2D.devPtr = pixel;
    r.res.pitch2D.desc = cudaCreateChannelDesc<uchar2>();
    r.res.pitch2D.width = W;
    r.res.pitch2D.height = H;
    r.res.pitch2D.pitchInBytes = pitch;
    OK(cudaCreateTextureObject(&plane, &r, &d, nullptr));
    fetch_ints<<<1, W * H>>>(line, plane, result);
    OK(cudaDeviceSynchronize());
    for (int i = 0; i < W * H; i++)
        wrong += result[2 * i] != (i > 0 && i <= W ? -7 * (i - 1) : 0) || result[2 * i + 1] != i * 256 + 255 - i;
    d.borderColor[1] = 1;
    d.addressMode[0] = cudaAddressModeBorder;
    cudaTextureObject_t none;
    WANT(cudaErrorNotSupported, cudaCreateTextureObject(&none, &r, &d, nullptr));
    /* An object is not memory of the program, and such memory is not an object. */
    WANT(cudaErrorInvalidValue, cudaFree((void *)line));
    WANT(cudaErrorInvalidValue, cudaDestroySurfaceObject(line));
    WANT(cudaErrorInvalidValue, cudaDestroyTextureObject((cudaTextureObject_t)result));
    WANT(cudaErrorInvalidValue, cudaDestroySurfaceObject((cudaSurfaceObject_t)result));
    OK(cudaDestroyTextureObject(line));
    WANT(cudaErrorInvalidValue, cudaDestroyTextureObject(line));
    OK(cudaDestroyTextureObject(plane));
    OK(cudaFree(result));
    OK(cudaFree(word));
    OK(cudaFree(pixel));
}

__global__ void move(cudaSurfaceObject_t from, cudaSurfaceObject_t to)
{
    const int x = threadIdx.x - 1, y = threadIdx.y;
    float2 v;

    surf2Dread(&v, from, x * 8, y, cudaBoundaryModeClamp);
    surf2Dwrite(make_float2(v.y, v.x), to, x * 8, y, cudaBoundaryModeZero);
}

/* An element that is wider than a row of the surface is outside the surface. */
__global__ void wide(cudaSurfaceObject_t s, float4 *result)
{
    *result = surf2Dread<float4>(s, 0, 1, cudaBoundaryModeClamp);
    surf2Dwrite(make_float4(9, 9, 9, 9), s, 0, 1, cudaBoundaryModeClamp);
}

static void narrow_surface(void)
{
    cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
    cudaArray_t array;
    cudaSurfaceObject_t s;
    cudaResourceDesc r = {};
    float texel[6] = {1, 2, 3, 4, 5, 6}, back[6];
    float4 *result = (float4 *)out;

    OK(cudaMallocArray(&array, &format, 2, 3, cudaArraySurfaceLoadStore));
    OK(cudaMemcpyToArray(array, 0, 0, texel, sizeof texel, cudaMemcpyHostToDevice));
    r.resType = cudaResourceTypeArray;
    r.res.array.array = array;
    OK(cudaCreateSurfaceObject(&s, &r));
    *result = make_float4(7, 7, 7, 7);
    wide<<<1, 1>>>(s, result);
    OK(cudaDeviceSynchronize());
    OK(cudaMemcpyFromArray(back, array, 0, 0, sizeof back, cudaMemcpyDeviceToHost));
    wrong += result->x != 0 || result->y != 0 || result->z != 0 || result->w != 0 || memcmp(back, texel, sizeof back) != 0;
    /* A copy whose last bytes are outside the array copies nothing. */
    const float other[7] = {8, 8, 8, 8, 8, 8, 8};
    WANT(cudaErrorInvalidValue, cudaMemcpyToArray(array, 4, 0, other, sizeof other - 4, cudaMemcpyHostToDevice));
    WANT(cudaErrorInvalidValue, cudaMemcpyToArray(array, 0, 0, other, sizeof other, cudaMemcpyHostToDevice));
    WANT(cudaErrorInvalidValue, cudaMemcpyToArray(array, 0, 0, other, 10, cudaMemcpyHostToDevice));
    WANT(cudaErrorInvalidValue, cudaMemcpyToArray(array, 8, 0, other, 4, cudaMemcpyHostToDevice));
    WANT(cudaErrorInvalidValue, cudaMemcpyToArray(array, 0, (size_t)-1, other, 16, cudaMemcpyHostToDevice));
    WANT(cudaErrorInvalidValue, cudaMemcpyFromArray(back, array, 4, 1, 16, cudaMemcpyDeviceToHost));
    OK(cudaMemcpyToArray(array, 0, 3, other, 0, cudaMemcpyHostToDevice));
    wrong += memcmp(back, texel, sizeof back) != 0;
    OK(cudaMemcpyFromArray(back, array, 0, 0, sizeof back, cudaMemcpyDeviceToHost));
    wrong += memcmp(back, texel, sizeof back) != 0;
    OK(cudaDestroySurfaceObject(s));
    OK(cudaFreeArray(array));
}

static void surfaces(void)
{
    cudaChannelFormatDesc format = cudaCreateChannelDesc<float2>();
    cudaArray_t array[2];
    cudaSurfaceObject_t s[2];
    float2 value[H][W], back[H * W];
    cudaResourceDesc r = {};

    for (int i = 0; i < H * W; i++)
        value[i / W][i % W] = make_float2((float)i, (float)-i);
    r.resType = cudaResourceTypeArray;
    for (int i = 0; i < 2; i++) {
        OK(cudaMallocArray(&array[i], &format, W, H, cudaArraySurfaceLoadStore));
        r.res.array.array = array[i];
        OK(cudaCreateSurfaceObject(&s[i], &r));
    }
    OK(cudaMemcpyToArray(array[0], 0, 0, value, sizeof value, cudaMemcpyHostToDevice));
    move<<<1, dim3(W + 2, H)>>>(s[0], s[1]);
    OK(cudaMemcpyFromArray(back, array[1], 8, 0, sizeof back - 8, cudaMemcpyDeviceToHost));
    for (int i = 1; i < H * W; i++)
        wrong += back[i - 1].x != (float)-i || back[i - 1].y != (float)i;
    WANT(cudaErrorInvalidValue, cudaMemcpy2DToArray(array[0], 8, 1, value, 64, 64, 1, cudaMemcpyHostToDevice));
    WANT(cudaErrorInvalidValue, cudaMemcpy2DToArray(array[0], 4, 1, value, 64, 8, 1, cudaMemcpyHostToDevice));
    for (int i = 0; i < 2; i++) {
        OK(cudaDestroySurfaceObject(s[i]));
        OK(cudaFreeArray(array[i]));
    }
    WANT(cudaErrorInvalidResourceHandle, cudaFreeArray(array[0]));
    format.z = 32;
    WANT(cudaErrorInvalidChannelDescriptor, cudaMallocArray(&array[0], &format, W, H));
}

int main()
{
    OK(cudaMallocManaged(&at, N * sizeof *at));
    OK(cudaMallocManaged(&out, N * sizeof *out));
    points(LINE, W, 0, 0, 0);
    points(PLANE, W, H, 0, 0);
    points(SPACE, W, H, D, 0);
    points(LINES, W, 0, D, cudaArrayLayered);
    points(PLANES, W, H, D, cudaArrayLayered);
    cubes();
    filter();
    memory();
    surfaces();
    narrow_surface();
    puts(wrong == 0 ? "all right" : "wrong");
    return wrong != 0;
}
