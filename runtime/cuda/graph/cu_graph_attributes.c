/* SPDX-License-Identifier: Apache-2.0 */
/* CUDA's graphs: attributes of kernel nodes. A node keeps the values. The device has no persisting cache, no priorities and no domains, so
 * only the cooperative launch has an effect: a launch of the graph fails if not all blocks fit on the device. */
#include "runtime/cuda/cu_graph_priv.h"

#include <string.h>

enum {
    ACCESS_WINDOW = 1, CLUSTER = 4, CLUSTER_POLICY = 5, PRIORITY = 8, DOMAIN_MAP = 9, DOMAIN_OF_LAUNCH = 10, PREFERRED_CLUSTER = 11,
    UPDATED_BY_DEVICE = 13, CARVEOUT = 14, LINKS = 16
};
/* The attributes of kernel nodes, and the size of their values. */
static const struct {
    int id;
    unsigned bytes;
} rows[CU_NODE_ATTRIBUTES] = {{ACCESS_WINDOW, 32}, {CU_COOPERATIVE, 4}, {CLUSTER, 12}, {CLUSTER_POLICY, 4}, {PRIORITY, 4}, {DOMAIN_MAP, 2},
                              {DOMAIN_OF_LAUNCH, 4}, {CARVEOUT, 4}, {LINKS, 4}};

/** Returns the index of an attribute, or CU_NODE_ATTRIBUTES if kernel nodes do not have it. */
static unsigned index_of(int id)
{
    unsigned i = 0;

    while (i < CU_NODE_ATTRIBUTES && rows[i].id != id)
        i++;
    return i;
}

cudaError_t cu_attribute_set(struct cu_attributes *attributes, int id, const void *value)
{
    const unsigned i = index_of(id);
    unsigned dim[3] = {0};

    if (id == UPDATED_BY_DEVICE) /* kernels cannot change nodes of graphs */
        return *(const int *)value != 0 ? cudaErrorNotSupported : cudaSuccess;
    if (id == CLUSTER || id == PREFERRED_CLUSTER)
        memcpy(dim, value, sizeof dim);
    if (dim[0] > 1 || dim[1] > 1 || dim[2] > 1)
        return cudaErrorNotSupported; /* a cluster is one block */
    if (i == CU_NODE_ATTRIBUTES)
        return cudaErrorInvalidValue;
    memcpy(attributes->value[i], value, rows[i].bytes);
    return cudaSuccess;
}

bool cu_attributes_cooperate(const struct cu_attributes *attributes)
{
    int number;

    memcpy(&number, attributes->value[index_of(CU_COOPERATIVE)], sizeof number);
    return number != 0;
}

CU_API cudaError_t cudaGraphKernelNodeSetAttribute(cudaGraphNode_t node, int id, const void *value)
{
    cudaError_t error = cudaErrorInvalidValue;

    rt_lock();
    if (value != NULL && cu_is_node(node) && node->work.type == CU_KERNEL)
        error = cu_attribute_set(&node->work.attributes, id, value);
    rt_unlock();
    return cu_return(error);
}

CU_API cudaError_t cudaGraphKernelNodeGetAttribute(cudaGraphNode_t node, int id, void *out)
{
    enum { VALUE_BYTES = 64 };
    const unsigned i = index_of(id);
    cudaError_t error = cudaErrorInvalidValue;

    rt_lock();
    if (out != NULL && i < CU_NODE_ATTRIBUTES && cu_is_node(node) && node->work.type == CU_KERNEL) {
        memset(out, 0, VALUE_BYTES);
        memcpy(out, node->work.attributes.value[i], rows[i].bytes);
        error = cudaSuccess;
    }
    rt_unlock();
    return cu_return(error);
}

CU_API cudaError_t cudaGraphKernelNodeCopyAttributes(cudaGraphNode_t to, cudaGraphNode_t from)
{
    cudaError_t error = cudaErrorInvalidValue;

    rt_lock();
    if (cu_is_node(to) && cu_is_node(from) && to->work.type == CU_KERNEL && from->work.type == CU_KERNEL) {
        to->work.attributes = from->work.attributes;
        error = cudaSuccess;
    }
    rt_unlock();
    return cu_return(error);
}
