/* SPDX-License-Identifier: Apache-2.0 */
/* Samplers: their creation, and queries. */
#include "runtime/opencl/cl_priv.h"

#include <stdlib.h>
#include <string.h>

void cl_sampler_end(struct _cl_sampler *sampler)
{
    free(sampler->properties);
}

uint64_t cl_sampler_value(const struct _cl_sampler *sampler)
{
    /* CLK_ADDRESS_NONE 0, CLK_ADDRESS_CLAMP_TO_EDGE 2, CLK_ADDRESS_CLAMP 4, CLK_ADDRESS_REPEAT 6, CLK_ADDRESS_MIRRORED_REPEAT 8,
     * CLK_NORMALIZED_COORDS_TRUE 1, CLK_FILTER_NEAREST 0x10, CLK_FILTER_LINEAR 0x20: clang's constants, which the functions in
     * over_images.inc use */
    return (uint64_t)(sampler->addressing - CL_ADDRESS_NONE) * 2 + (sampler->normalized != CL_FALSE) +
           (sampler->filter == CL_FILTER_LINEAR ? 0x20 : 0x10);
}

static struct _cl_sampler *create(cl_context context, cl_bool normalized, cl_addressing_mode addressing, cl_filter_mode filter,
                                  cl_int *error)
{
    struct _cl_sampler *sampler;

    if (!cl_object_is(context, CL_KIND_CONTEXT)) {
        *error = CL_INVALID_CONTEXT;
        return NULL;
    }
    if (addressing < CL_ADDRESS_NONE || addressing > CL_ADDRESS_MIRRORED_REPEAT || normalized > CL_TRUE ||
        (filter != CL_FILTER_NEAREST && filter != CL_FILTER_LINEAR) ||
        (normalized == CL_FALSE && (addressing == CL_ADDRESS_REPEAT || addressing == CL_ADDRESS_MIRRORED_REPEAT))) {
        *error = CL_INVALID_VALUE;
        return NULL;
    }
    sampler = cl_object_create(CL_KIND_SAMPLER, sizeof *sampler, context);
    *error = sampler != NULL ? CL_SUCCESS : CL_OUT_OF_HOST_MEMORY;
    if (sampler != NULL) {
        sampler->normalized = normalized;
        sampler->addressing = addressing;
        sampler->filter = filter;
    }
    return sampler;
}

cl_sampler CL_API_CALL clCreateSampler(cl_context context, cl_bool normalized, cl_addressing_mode addressing,
                                       cl_filter_mode filter, cl_int *error)
{
    struct _cl_sampler *sampler;
    cl_int result;

    rt_lock();
    sampler = create(context, normalized, addressing, filter, &result);
    rt_unlock();
    cl_put_error(error, result);
    return sampler;
}

cl_sampler CL_API_CALL clCreateSamplerWithProperties(cl_context context, const cl_sampler_properties *properties,
                                                     cl_int *error)
{
    cl_sampler_properties values[] = {CL_TRUE, CL_ADDRESS_CLAMP, CL_FILTER_NEAREST}; /* defaults of the specification */
    static const cl_sampler_properties names[] = {CL_SAMPLER_NORMALIZED_COORDS, CL_SAMPLER_ADDRESSING_MODE,
                                                  CL_SAMPLER_FILTER_MODE};
    bool given[3] = {false, false, false};
    struct _cl_sampler *sampler = NULL;
    cl_int result = CL_SUCCESS;
    size_t count = 0;

    for (; properties != NULL && properties[count] != 0; count += 2) {
        unsigned i = 0;

        while (i < 3 && names[i] != properties[count])
            i++;
        if (i == 3 || given[i]) {
            cl_put_error(error, CL_INVALID_VALUE);
            return NULL;
        }
        given[i] = true;
        values[i] = properties[count + 1];
    }
    rt_lock();
    sampler = create(context, (cl_bool)values[0], (cl_addressing_mode)values[1], (cl_filter_mode)values[2], &result);
    if (sampler != NULL && properties != NULL) {
        sampler->properties = malloc((count + 1) * sizeof *properties);
        if (sampler->properties != NULL) {
            sampler->property_bytes = (count + 1) * sizeof *properties;
            memcpy(sampler->properties, properties, sampler->property_bytes);
        }
    }
    rt_unlock();
    cl_put_error(error, result);
    return sampler;
}

cl_int CL_API_CALL clRetainSampler(cl_sampler sampler)
{
    return cl_object_retain_handle(sampler, CL_KIND_SAMPLER, CL_INVALID_SAMPLER);
}

cl_int CL_API_CALL clReleaseSampler(cl_sampler sampler)
{
    return cl_object_release_handle(sampler, CL_KIND_SAMPLER, CL_INVALID_SAMPLER);
}

cl_int CL_API_CALL clGetSamplerInfo(cl_sampler sampler, cl_sampler_info info, size_t room, void *out, size_t *size)
{
    cl_int error;

    rt_lock();
    if (!cl_object_is(sampler, CL_KIND_SAMPLER))
        error = CL_INVALID_SAMPLER;
    else
        switch (info) {
        case CL_SAMPLER_REFERENCE_COUNT: error = CL_ANSWER(cl_uint, sampler->object.references); break;
        case CL_SAMPLER_CONTEXT: error = CL_ANSWER(cl_context, sampler->object.context); break;
        case CL_SAMPLER_NORMALIZED_COORDS: error = CL_ANSWER(cl_bool, sampler->normalized); break;
        case CL_SAMPLER_ADDRESSING_MODE: error = CL_ANSWER(cl_addressing_mode, sampler->addressing); break;
        case CL_SAMPLER_FILTER_MODE: error = CL_ANSWER(cl_filter_mode, sampler->filter); break;
        case CL_SAMPLER_PROPERTIES: error = cl_answer(sampler->properties, sampler->property_bytes, room, out, size); break;
        default: error = CL_INVALID_VALUE;
        }
    rt_unlock();
    return error;
}
