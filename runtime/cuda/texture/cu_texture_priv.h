/* SPDX-License-Identifier: Apache-2.0 */
/* Arrays, and texture and surface objects: structures in CUDA's layout, and functions that the driver interface calls. */
#ifndef CU_TEXTURE_PRIV_H
#define CU_TEXTURE_PRIV_H

#include "runtime/cuda/cu_graph_priv.h"

enum { CU_RESOURCE_ARRAY, CU_RESOURCE_MIPMAPS, CU_RESOURCE_LINEAR, CU_RESOURCE_PITCH };
/** The memory of a texture, in CUDA's layout. */
struct cudaResourceDesc {
    int type; /* CU_RESOURCE_... */
    union {
        struct cu_array *array;
        struct {
            void *pointer;
            struct cudaChannelFormatDesc format;
            size_t bytes;
        } linear;
        struct {
            void *pointer;
            struct cudaChannelFormatDesc format;
            size_t width, height, pitch;
        } pitch;
    };
};
/** How a texture is read, in CUDA's layout. */
struct cudaTextureDesc {
    int edge[3], filter, read_mode, srgb;
    float border[4];
    int normalized_coords;
    unsigned anisotropy;
    int mipmap_filter;
    float mipmap_bias, mipmap_least, mipmap_most;
};

CU_API cudaError_t cudaMalloc3DArray(struct cu_array **out, const struct cudaChannelFormatDesc *format, struct cu_extent e,
                                     unsigned flags);
CU_API cudaError_t cudaFreeArray(struct cu_array *array);
CU_API cudaError_t cudaCreateTextureObject(uint64_t *object, const struct cudaResourceDesc *resource,
                                           const struct cudaTextureDesc *texture, const void *view);
CU_API cudaError_t cudaGetTextureObjectResourceDesc(struct cudaResourceDesc *out, uint64_t object);
CU_API cudaError_t cudaGetTextureObjectTextureDesc(struct cudaTextureDesc *out, uint64_t object);
CU_API cudaError_t cudaGetTextureObjectResourceViewDesc(void *out, uint64_t object);
CU_API cudaError_t cudaGetSurfaceObjectResourceDesc(struct cudaResourceDesc *out, uint64_t object);
CU_API cudaError_t cudaDestroyTextureObject(uint64_t object);
CU_API cudaError_t cudaCreateSurfaceObject(uint64_t *object, const struct cudaResourceDesc *resource);
CU_API cudaError_t cudaDestroySurfaceObject(uint64_t object);

#endif
