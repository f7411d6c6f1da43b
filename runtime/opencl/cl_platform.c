/* SPDX-License-Identifier: Apache-2.0 */
/* The platform, its one device, and their answers to queries. */
#include "runtime/opencl/cl_priv.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct _cl_platform_id cl_the_platform = {&cl_dispatch};
struct _cl_device_id cl_the_device = {&cl_dispatch};

#define EXTENSIONS(X) \
    X(cl_khr_icd, 1, 0, 0) \
    X(cl_khr_byte_addressable_store, 1, 0, 0) \
    X(cl_khr_global_int32_base_atomics, 1, 0, 0) \
    X(cl_khr_global_int32_extended_atomics, 1, 0, 0) \
    X(cl_khr_local_int32_base_atomics, 1, 0, 0) \
    X(cl_khr_local_int32_extended_atomics, 1, 0, 0) \
    X(cl_khr_int64_base_atomics, 1, 0, 0) \
    X(cl_khr_int64_extended_atomics, 1, 0, 0) \
    X(cl_khr_3d_image_writes, 1, 0, 0) \
    X(cl_khr_image2d_from_buffer, 1, 0, 0) \
    X(cl_khr_srgb_image_writes, 1, 0, 0) \
    X(cl_khr_fp16, 1, 0, 0) \
    X(cl_khr_fp64, 1, 0, 0)
/** This extension needs the programs that translate SPIR-V. */
#define IL_PROGRAM(X) X(cl_khr_il_program, 1, 0, 0)
/** Features of OpenCL C 3.0, with the version in which they appeared. The compiler options in ptx_clang.c define the macros
 *  of these features. */
#define FEATURES(X) \
    X(__opencl_c_3d_image_writes, 3, 0, 0) \
    X(__opencl_c_atomic_order_acq_rel, 3, 0, 0) \
    X(__opencl_c_atomic_order_seq_cst, 3, 0, 0) \
    X(__opencl_c_atomic_scope_device, 3, 0, 0) \
    X(__opencl_c_atomic_scope_all_devices, 3, 0, 0) \
    X(__opencl_c_fp64, 3, 0, 0) \
    X(__opencl_c_generic_address_space, 3, 0, 0) \
    X(__opencl_c_images, 3, 0, 0) \
    X(__opencl_c_int64, 3, 0, 0) \
    X(__opencl_c_program_scope_global_variables, 3, 0, 0) \
    X(__opencl_c_read_write_images, 3, 0, 0) \
    X(__opencl_c_work_group_collective_functions, 3, 0, 0)
#define SUB_GROUP_FEATURE(X) X(__opencl_c_subgroups, 3, 0, 0)
#define NAME_AND_SPACE(name, major, minor, patch) " " #name
#define NAME_AND_VERSION(name, major, minor, patch) {CL_MAKE_VERSION(major, minor, patch), #name},
static const char extension_names[] = EXTENSIONS(NAME_AND_SPACE), sub_groups_name[] = CL_SUB_GROUPS(NAME_AND_SPACE),
                  il_program_name[] = IL_PROGRAM(NAME_AND_SPACE);
static const cl_name_version extensions[] = {EXTENSIONS(NAME_AND_VERSION)}, sub_groups[] = {CL_SUB_GROUPS(NAME_AND_VERSION)},
                             il_program[] = {IL_PROGRAM(NAME_AND_VERSION)};
static const cl_name_version features[] = {FEATURES(NAME_AND_VERSION) SUB_GROUP_FEATURE(NAME_AND_VERSION)};

enum {
    CONSTANT_BYTES = 65536,
    PARAMETER_BYTES = 4096,
    ADDRESS_ALIGN_BITS = 4096, /* sub-buffers begin at multiples of 512 bytes */
    PRINTF_BYTES = 1 << 20,
    VARIABLE_BYTES = 1 << 20 /* largest size of a variable in program scope, and preferred total size of all */
};

static unsigned timing_number(const char *key, unsigned otherwise)
{
    lanewise_machine *machine = rt_machine();
    char text[32];

    return machine != NULL && lanewise_timing_value(machine, key, text, sizeof text) == LANEWISE_OK
               ? (unsigned)strtoul(text, NULL, 10)
               : otherwise;
}

static cl_uint compute_units(void)
{
    const long processors = sysconf(_SC_NPROCESSORS_ONLN);

    return timing_number("core.count", processors > 0 ? (unsigned)processors : 1);
}

/** Returns, for example, "OpenCL 3.0 Lanewise 0.1.0", where @begin is "OpenCL 3.0". */
static const char *version_text(char *room, size_t bytes, const char *begin)
{
    snprintf(room, bytes, "%s Lanewise %s", begin, lanewise_version());
    return room;
}

unsigned cl_max_sub_groups(void)
{
    const unsigned width = rt_warp_width();

    return width == 32 || width == 64 ? LANEWISE_MAX_BLOCK_THREADS / CL_SUB_GROUP_SIZE : 0;
}

static cl_int answer_extensions(size_t room, void *out, size_t *size)
{
    char text[sizeof extension_names + sizeof sub_groups_name + sizeof il_program_name];

    snprintf(text, sizeof text, "%s%s%s", extension_names + 1, cl_max_sub_groups() != 0 ? sub_groups_name : "",
             rt_has_spirv() ? il_program_name : "");
    return cl_answer_text(text, room, out, size);
}

static cl_int answer_extension_versions(size_t room, void *out, size_t *size)
{
    cl_name_version all[(sizeof extensions + sizeof sub_groups) / sizeof *extensions + 1];
    size_t count = sizeof extensions / sizeof *extensions;

    memcpy(all, extensions, sizeof extensions);
    for (size_t i = 0; i < sizeof sub_groups / sizeof *sub_groups && cl_max_sub_groups() != 0; i++)
        all[count++] = sub_groups[i];
    if (rt_has_spirv())
        all[count++] = il_program[0];
    return cl_answer(all, count * sizeof *all, room, out, size);
}

/** Answers a query with a list of names. The last name is for sub-groups, and is left out if the device does not
 *  support sub-groups. */
static cl_int answer_names(const cl_name_version *names, size_t bytes, size_t room, void *out, size_t *size)
{
    return cl_answer(names, bytes - (cl_max_sub_groups() != 0 ? 0 : sizeof *names), room, out, size);
}

cl_int CL_API_CALL clGetPlatformIDs(cl_uint count, cl_platform_id *platforms, cl_uint *out)
{
    if ((count == 0 && platforms != NULL) || (platforms == NULL && out == NULL))
        return CL_INVALID_VALUE;
    if (platforms != NULL)
        platforms[0] = &cl_the_platform;
    if (out != NULL)
        *out = 1;
    return CL_SUCCESS;
}

static cl_int platform_info(cl_platform_info info, size_t room, void *out, size_t *size)
{
    char text[100];

    switch (info) {
    case CL_PLATFORM_PROFILE: return cl_answer_text("FULL_PROFILE", room, out, size);
    case CL_PLATFORM_VERSION: return cl_answer_text(version_text(text, sizeof text, "OpenCL 3.0"), room, out, size);
    case CL_PLATFORM_NUMERIC_VERSION: return CL_ANSWER(cl_version, CL_MAKE_VERSION(3, 0, 0));
    case CL_PLATFORM_NAME: return cl_answer_text("Lanewise", room, out, size);
    case CL_PLATFORM_VENDOR: return cl_answer_text("Lanewise", room, out, size);
    case CL_PLATFORM_EXTENSIONS: return answer_extensions(room, out, size);
    case CL_PLATFORM_EXTENSIONS_WITH_VERSION: return answer_extension_versions(room, out, size);
    case CL_PLATFORM_HOST_TIMER_RESOLUTION: return CL_ANSWER(cl_ulong, 0);
    case CL_PLATFORM_ICD_SUFFIX_KHR: return cl_answer_text("LW", room, out, size);
    default: return CL_INVALID_VALUE;
    }
}

cl_int CL_API_CALL clGetPlatformInfo(cl_platform_id platform, cl_platform_info info, size_t room, void *out, size_t *size)
{
    cl_int error;

    if (platform != NULL && platform != &cl_the_platform)
        return CL_INVALID_PLATFORM;
    rt_lock();
    error = platform_info(info, room, out, size);
    rt_unlock();
    return error;
}

cl_int CL_API_CALL clGetDeviceIDs(cl_platform_id platform, cl_device_type type, cl_uint count, cl_device_id *devices,
                                  cl_uint *out)
{
    const cl_device_type known = CL_DEVICE_TYPE_DEFAULT | CL_DEVICE_TYPE_CPU | CL_DEVICE_TYPE_GPU |
                                 CL_DEVICE_TYPE_ACCELERATOR | CL_DEVICE_TYPE_CUSTOM;
    bool there;

    if (platform != NULL && platform != &cl_the_platform)
        return CL_INVALID_PLATFORM;
    if (type != CL_DEVICE_TYPE_ALL && ((type & ~known) != 0 || type == 0))
        return CL_INVALID_DEVICE_TYPE;
    if ((count == 0 && devices != NULL) || (devices == NULL && out == NULL))
        return CL_INVALID_VALUE;
    rt_lock();
    there = (type & (CL_DEVICE_TYPE_GPU | CL_DEVICE_TYPE_DEFAULT)) != 0 && rt_machine() != NULL;
    rt_unlock();
    if (out != NULL)
        *out = there;
    if (!there)
        return CL_DEVICE_NOT_FOUND;
    if (devices != NULL)
        devices[0] = &cl_the_device;
    return CL_SUCCESS;
}

/* ---- queries of the device ---------------------------------------------------------------------------------------- */

/** Queries whose answer is one number: the name of the query, the type of the answer, and the answer. */
#define NUMBERS(X) \
    X(CL_DEVICE_TYPE, cl_device_type, CL_DEVICE_TYPE_GPU) \
    X(CL_DEVICE_VENDOR_ID, cl_uint, 0x4c57) \
    X(CL_DEVICE_MAX_COMPUTE_UNITS, cl_uint, compute_units()) \
    X(CL_DEVICE_MAX_WORK_ITEM_DIMENSIONS, cl_uint, 3) \
    X(CL_DEVICE_MAX_WORK_GROUP_SIZE, size_t, LANEWISE_MAX_BLOCK_THREADS) \
    X(CL_DEVICE_PREFERRED_VECTOR_WIDTH_CHAR, cl_uint, 1) \
    X(CL_DEVICE_PREFERRED_VECTOR_WIDTH_SHORT, cl_uint, 1) \
    X(CL_DEVICE_PREFERRED_VECTOR_WIDTH_INT, cl_uint, 1) \
    X(CL_DEVICE_PREFERRED_VECTOR_WIDTH_LONG, cl_uint, 1) \
    X(CL_DEVICE_PREFERRED_VECTOR_WIDTH_FLOAT, cl_uint, 1) \
    X(CL_DEVICE_PREFERRED_VECTOR_WIDTH_DOUBLE, cl_uint, 1) \
    X(CL_DEVICE_PREFERRED_VECTOR_WIDTH_HALF, cl_uint, 1) \
    X(CL_DEVICE_NATIVE_VECTOR_WIDTH_CHAR, cl_uint, 1) \
    X(CL_DEVICE_NATIVE_VECTOR_WIDTH_SHORT, cl_uint, 1) \
    X(CL_DEVICE_NATIVE_VECTOR_WIDTH_INT, cl_uint, 1) \
    X(CL_DEVICE_NATIVE_VECTOR_WIDTH_LONG, cl_uint, 1) \
    X(CL_DEVICE_NATIVE_VECTOR_WIDTH_FLOAT, cl_uint, 1) \
    X(CL_DEVICE_NATIVE_VECTOR_WIDTH_DOUBLE, cl_uint, 1) \
    X(CL_DEVICE_NATIVE_VECTOR_WIDTH_HALF, cl_uint, 1) \
    X(CL_DEVICE_MAX_CLOCK_FREQUENCY, cl_uint, rt_clock_mhz()) \
    X(CL_DEVICE_ADDRESS_BITS, cl_uint, 64) \
    X(CL_DEVICE_MAX_MEM_ALLOC_SIZE, cl_ulong, rt_memory_bytes() / 4) \
    X(CL_DEVICE_IMAGE_SUPPORT, cl_bool, CL_TRUE) \
    X(CL_DEVICE_MAX_READ_IMAGE_ARGS, cl_uint, 128) \
    X(CL_DEVICE_MAX_WRITE_IMAGE_ARGS, cl_uint, 64) \
    X(CL_DEVICE_MAX_READ_WRITE_IMAGE_ARGS, cl_uint, 64) \
    X(CL_DEVICE_IMAGE2D_MAX_WIDTH, size_t, CL_IMAGE_2D_SIZE) \
    X(CL_DEVICE_IMAGE2D_MAX_HEIGHT, size_t, CL_IMAGE_2D_SIZE) \
    X(CL_DEVICE_IMAGE3D_MAX_WIDTH, size_t, CL_IMAGE_3D_SIZE) \
    X(CL_DEVICE_IMAGE3D_MAX_HEIGHT, size_t, CL_IMAGE_3D_SIZE) \
    X(CL_DEVICE_IMAGE3D_MAX_DEPTH, size_t, CL_IMAGE_3D_SIZE) \
    X(CL_DEVICE_IMAGE_MAX_BUFFER_SIZE, size_t, CL_IMAGE_BUFFER_TEXELS) \
    X(CL_DEVICE_IMAGE_MAX_ARRAY_SIZE, size_t, CL_IMAGE_LAYERS) \
    X(CL_DEVICE_IMAGE_PITCH_ALIGNMENT, cl_uint, 1) \
    X(CL_DEVICE_IMAGE_BASE_ADDRESS_ALIGNMENT, cl_uint, 1) \
    X(CL_DEVICE_MAX_SAMPLERS, cl_uint, 16) \
    X(CL_DEVICE_MAX_PARAMETER_SIZE, size_t, PARAMETER_BYTES) \
    X(CL_DEVICE_MEM_BASE_ADDR_ALIGN, cl_uint, ADDRESS_ALIGN_BITS) \
    X(CL_DEVICE_MIN_DATA_TYPE_ALIGN_SIZE, cl_uint, 128) \
    X(CL_DEVICE_SINGLE_FP_CONFIG, cl_device_fp_config, CL_FP_DENORM | CL_FP_INF_NAN | CL_FP_ROUND_TO_NEAREST | \
          CL_FP_ROUND_TO_ZERO | CL_FP_ROUND_TO_INF | CL_FP_FMA | CL_FP_CORRECTLY_ROUNDED_DIVIDE_SQRT) \
    X(CL_DEVICE_DOUBLE_FP_CONFIG, cl_device_fp_config, CL_FP_DENORM | CL_FP_INF_NAN | CL_FP_ROUND_TO_NEAREST | \
          CL_FP_ROUND_TO_ZERO | CL_FP_ROUND_TO_INF | CL_FP_FMA) \
    X(CL_DEVICE_HALF_FP_CONFIG, cl_device_fp_config, CL_FP_DENORM | CL_FP_INF_NAN | CL_FP_ROUND_TO_NEAREST | CL_FP_FMA) \
    X(CL_DEVICE_GLOBAL_MEM_CACHE_TYPE, cl_device_mem_cache_type, \
      timing_number("l1.bytes", 0) != 0 ? CL_READ_WRITE_CACHE : CL_NONE) \
    X(CL_DEVICE_GLOBAL_MEM_CACHELINE_SIZE, cl_uint, timing_number("l1.line", 0)) \
    X(CL_DEVICE_GLOBAL_MEM_CACHE_SIZE, cl_ulong, timing_number("l1.bytes", 0)) \
    X(CL_DEVICE_GLOBAL_MEM_SIZE, cl_ulong, rt_memory_bytes()) \
    X(CL_DEVICE_MAX_CONSTANT_BUFFER_SIZE, cl_ulong, CONSTANT_BYTES) \
    X(CL_DEVICE_MAX_CONSTANT_ARGS, cl_uint, 16) \
    X(CL_DEVICE_MAX_GLOBAL_VARIABLE_SIZE, size_t, VARIABLE_BYTES) \
    X(CL_DEVICE_GLOBAL_VARIABLE_PREFERRED_TOTAL_SIZE, size_t, VARIABLE_BYTES) \
    X(CL_DEVICE_LOCAL_MEM_TYPE, cl_device_local_mem_type, CL_LOCAL) \
    X(CL_DEVICE_LOCAL_MEM_SIZE, cl_ulong, CL_LOCAL_BYTES) \
    X(CL_DEVICE_ERROR_CORRECTION_SUPPORT, cl_bool, CL_FALSE) \
    X(CL_DEVICE_HOST_UNIFIED_MEMORY, cl_bool, CL_FALSE) \
    X(CL_DEVICE_PROFILING_TIMER_RESOLUTION, size_t, 1) \
    X(CL_DEVICE_ENDIAN_LITTLE, cl_bool, CL_TRUE) \
    X(CL_DEVICE_AVAILABLE, cl_bool, CL_TRUE) \
    X(CL_DEVICE_COMPILER_AVAILABLE, cl_bool, CL_TRUE) \
    X(CL_DEVICE_LINKER_AVAILABLE, cl_bool, CL_TRUE) \
    X(CL_DEVICE_EXECUTION_CAPABILITIES, cl_device_exec_capabilities, CL_EXEC_KERNEL) \
    X(CL_DEVICE_QUEUE_ON_HOST_PROPERTIES, cl_command_queue_properties, \
      CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE | CL_QUEUE_PROFILING_ENABLE) \
    X(CL_DEVICE_QUEUE_ON_DEVICE_PROPERTIES, cl_command_queue_properties, 0) \
    X(CL_DEVICE_QUEUE_ON_DEVICE_PREFERRED_SIZE, cl_uint, 0) \
    X(CL_DEVICE_QUEUE_ON_DEVICE_MAX_SIZE, cl_uint, 0) \
    X(CL_DEVICE_MAX_ON_DEVICE_QUEUES, cl_uint, 0) \
    X(CL_DEVICE_MAX_ON_DEVICE_EVENTS, cl_uint, 0) \
    X(CL_DEVICE_DEVICE_ENQUEUE_CAPABILITIES, cl_device_device_enqueue_capabilities, 0) \
    X(CL_DEVICE_PLATFORM, cl_platform_id, &cl_the_platform) \
    X(CL_DEVICE_PARENT_DEVICE, cl_device_id, NULL) \
    X(CL_DEVICE_PARTITION_MAX_SUB_DEVICES, cl_uint, 0) \
    X(CL_DEVICE_PARTITION_AFFINITY_DOMAIN, cl_device_affinity_domain, 0) \
    X(CL_DEVICE_PARTITION_PROPERTIES, cl_device_partition_property, 0) \
    X(CL_DEVICE_REFERENCE_COUNT, cl_uint, 1) \
    X(CL_DEVICE_PREFERRED_INTEROP_USER_SYNC, cl_bool, CL_TRUE) \
    X(CL_DEVICE_PRINTF_BUFFER_SIZE, size_t, PRINTF_BYTES) \
    X(CL_DEVICE_NUMERIC_VERSION, cl_version, CL_MAKE_VERSION(3, 0, 0)) \
    X(CL_DEVICE_SVM_CAPABILITIES, cl_device_svm_capabilities, \
      CL_DEVICE_SVM_COARSE_GRAIN_BUFFER | CL_DEVICE_SVM_FINE_GRAIN_BUFFER) \
    X(CL_DEVICE_ATOMIC_MEMORY_CAPABILITIES, cl_device_atomic_capabilities, \
      CL_DEVICE_ATOMIC_ORDER_RELAXED | CL_DEVICE_ATOMIC_ORDER_ACQ_REL | CL_DEVICE_ATOMIC_ORDER_SEQ_CST | \
          CL_DEVICE_ATOMIC_SCOPE_WORK_GROUP | CL_DEVICE_ATOMIC_SCOPE_DEVICE | CL_DEVICE_ATOMIC_SCOPE_ALL_DEVICES) \
    X(CL_DEVICE_ATOMIC_FENCE_CAPABILITIES, cl_device_atomic_capabilities, \
      CL_DEVICE_ATOMIC_ORDER_RELAXED | CL_DEVICE_ATOMIC_ORDER_ACQ_REL | CL_DEVICE_ATOMIC_ORDER_SEQ_CST | \
          CL_DEVICE_ATOMIC_SCOPE_WORK_ITEM | CL_DEVICE_ATOMIC_SCOPE_WORK_GROUP | CL_DEVICE_ATOMIC_SCOPE_DEVICE | \
          CL_DEVICE_ATOMIC_SCOPE_ALL_DEVICES) \
    X(CL_DEVICE_PREFERRED_PLATFORM_ATOMIC_ALIGNMENT, cl_uint, 0) \
    X(CL_DEVICE_PREFERRED_GLOBAL_ATOMIC_ALIGNMENT, cl_uint, 0) \
    X(CL_DEVICE_PREFERRED_LOCAL_ATOMIC_ALIGNMENT, cl_uint, 0) \
    X(CL_DEVICE_GENERIC_ADDRESS_SPACE_SUPPORT, cl_bool, CL_TRUE) \
    X(CL_DEVICE_MAX_PIPE_ARGS, cl_uint, 0) \
    X(CL_DEVICE_PIPE_MAX_ACTIVE_RESERVATIONS, cl_uint, 0) \
    X(CL_DEVICE_PIPE_MAX_PACKET_SIZE, cl_uint, 0) \
    X(CL_DEVICE_PIPE_SUPPORT, cl_bool, CL_FALSE) \
    X(CL_DEVICE_MAX_NUM_SUB_GROUPS, cl_uint, cl_max_sub_groups()) \
    X(CL_DEVICE_SUB_GROUP_INDEPENDENT_FORWARD_PROGRESS, cl_bool, cl_max_sub_groups() != 0) \
    X(CL_DEVICE_WORK_GROUP_COLLECTIVE_FUNCTIONS_SUPPORT, cl_bool, CL_TRUE) \
    X(CL_DEVICE_NON_UNIFORM_WORK_GROUP_SUPPORT, cl_bool, CL_FALSE) \
    X(CL_DEVICE_PREFERRED_WORK_GROUP_SIZE_MULTIPLE, size_t, rt_warp_width())

static cl_int device_info(cl_device_info info, size_t room, void *out, size_t *size)
{
    static const size_t items[] = {LANEWISE_MAX_BLOCK_THREADS, LANEWISE_MAX_BLOCK_THREADS, LANEWISE_MAX_BLOCK_THREADS};
    static const cl_name_version languages[] = {{CL_MAKE_VERSION(1, 0, 0), "OpenCL C"},
                                                {CL_MAKE_VERSION(1, 1, 0), "OpenCL C"},
                                                {CL_MAKE_VERSION(1, 2, 0), "OpenCL C"},
                                                {CL_MAKE_VERSION(2, 0, 0), "OpenCL C"},
                                                {CL_MAKE_VERSION(3, 0, 0), "OpenCL C"}};
    char text[100];

    switch (info) {
#define NUMBER(name, type, value) \
    case name: return CL_ANSWER(type, value);
        NUMBERS(NUMBER)
    case CL_DEVICE_MAX_WORK_ITEM_SIZES: return cl_answer(items, sizeof items, room, out, size);
    case CL_DEVICE_PARTITION_TYPE: return cl_answer(NULL, 0, room, out, size);
    case CL_DEVICE_BUILT_IN_KERNELS: return cl_answer_text("", room, out, size);
    case CL_DEVICE_BUILT_IN_KERNELS_WITH_VERSION: return cl_answer(NULL, 0, room, out, size);
    case CL_DEVICE_IL_VERSION: return cl_il_answer_names(room, out, size);
    case CL_DEVICE_ILS_WITH_VERSION: return cl_il_answer_versions(room, out, size);
    case CL_DEVICE_OPENCL_C_FEATURES: return answer_names(features, sizeof features, room, out, size);
    case CL_DEVICE_OPENCL_C_ALL_VERSIONS: return cl_answer(languages, sizeof languages, room, out, size);
    case CL_DEVICE_LATEST_CONFORMANCE_VERSION_PASSED: return cl_answer_text("", room, out, size);
    case CL_DEVICE_NAME: {
        lanewise_machine *machine = rt_machine();
        char name[150];

        if (machine != NULL && lanewise_timing_value(machine, "name", text, sizeof text) == LANEWISE_OK)
            {
            snprintf(name, sizeof name, "Lanewise %s", text);
            return cl_answer_text(name, room, out, size);
        }
        return cl_answer_text("Lanewise GPU emulator", room, out, size);
    }
    case CL_DEVICE_VENDOR: return cl_answer_text("Lanewise", room, out, size);
    case CL_DRIVER_VERSION: return cl_answer_text(lanewise_version(), room, out, size);
    case CL_DEVICE_PROFILE: return cl_answer_text("FULL_PROFILE", room, out, size);
    case CL_DEVICE_VERSION: return cl_answer_text(version_text(text, sizeof text, "OpenCL 3.0"), room, out, size);
    case CL_DEVICE_OPENCL_C_VERSION: return cl_answer_text(version_text(text, sizeof text, "OpenCL C 1.2"), room, out, size);
    case CL_DEVICE_EXTENSIONS: return answer_extensions(room, out, size);
    case CL_DEVICE_EXTENSIONS_WITH_VERSION: return answer_extension_versions(room, out, size);
    default: return CL_INVALID_VALUE;
    }
}

cl_int CL_API_CALL clGetDeviceInfo(cl_device_id device, cl_device_info info, size_t room, void *out, size_t *size)
{
    cl_int error;

    if (device != &cl_the_device)
        return CL_INVALID_DEVICE;
    rt_lock();
    error = device_info(info, room, out, size);
    rt_unlock();
    return error;
}

cl_int CL_API_CALL clCreateSubDevices(cl_device_id device, const cl_device_partition_property *properties, cl_uint count,
                                      cl_device_id *out, cl_uint *out_count)
{
    (void)properties, (void)count, (void)out, (void)out_count;
    /* The device supports no way of partitioning. */
    return device != &cl_the_device ? CL_INVALID_DEVICE : CL_INVALID_VALUE;
}

cl_int CL_API_CALL clRetainDevice(cl_device_id device)
{
    return device == &cl_the_device ? CL_SUCCESS : CL_INVALID_DEVICE;
}

cl_int CL_API_CALL clReleaseDevice(cl_device_id device)
{
    return clRetainDevice(device);
}

cl_int CL_API_CALL clGetDeviceAndHostTimer(cl_device_id device, cl_ulong *device_time, cl_ulong *host_time)
{
    (void)device_time, (void)host_time;
    return device == &cl_the_device ? CL_INVALID_OPERATION : CL_INVALID_DEVICE;
}

cl_int CL_API_CALL clGetHostTimer(cl_device_id device, cl_ulong *host_time)
{
    (void)host_time;
    return device == &cl_the_device ? CL_INVALID_OPERATION : CL_INVALID_DEVICE;
}

cl_int CL_API_CALL clSetDefaultDeviceCommandQueue(cl_context context, cl_device_id device, cl_command_queue queue)
{
    bool is;

    (void)queue;
    rt_lock();
    is = cl_object_is(context, CL_KIND_CONTEXT);
    rt_unlock();
    return !is                        ? CL_INVALID_CONTEXT
           : device == &cl_the_device ? CL_INVALID_OPERATION /* the device has no queues of its own */
                                      : CL_INVALID_DEVICE;
}

cl_int CL_API_CALL clUnloadPlatformCompiler(cl_platform_id platform)
{
    return platform == &cl_the_platform ? CL_SUCCESS : CL_INVALID_PLATFORM;
}

cl_int CL_API_CALL clUnloadCompiler(void)
{
    return CL_SUCCESS;
}
