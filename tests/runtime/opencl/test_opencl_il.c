/* SPDX-License-Identifier: Apache-2.0 */
/* Tests the OpenCL driver: programs from SPIR-V modules. */
#include "tests/runtime/opencl/opencl_test.h"


/* ---- modules --------------------------------------------------------------------------------- */

#define OP(code, words) ((uint32_t)(words) << 16 | (code))
#define HEADER 0x07230203, 0x00010000, 0, 40, 0
#define CAPABILITIES OP(17, 2), 4 /* Addresses */, OP(17, 2), 5 /* Linkage */, OP(17, 2), 6 /* Kernel */, OP(17, 2), 11 /* Int64 */
#define MEMORY_MODEL OP(14, 3), 2 /* Physical64 */, 2 /* OpenCL */

enum { VOID = 1, UINT, ULONG, BOOL, POINTER, KERNEL_TYPE, FUNCTION_TYPE, MORE, FLAG, WIDE, ZERO, ONE, KERNEL, OUT, LABEL, CHOSEN, LOW,
       SUM, TOTAL, FUNCTION, PARAMETER };

/** kernel void k(global uint *out) { *out = MORE + (FLAG ? 1 : 0) + (uint)WIDE; }, with three specialization constants, whose ids
 *  are 7, 8 and 9, and whose values are 100, true and 5 */
static const uint32_t constants[] = {
    HEADER, CAPABILITIES, MEMORY_MODEL,
    OP(15, 4), 6 /* OpEntryPoint Kernel */, KERNEL, 'k',
    OP(71, 4), MORE, 1 /* OpDecorate SpecId */, 7,
    OP(71, 4), FLAG, 1, 8,
    OP(71, 4), WIDE, 1, 9,
    OP(19, 2), VOID,
    OP(21, 4), UINT, 32, 0,
    OP(21, 4), ULONG, 64, 0,
    OP(20, 2), BOOL,
    OP(32, 4), POINTER, 5 /* CrossWorkgroup */, UINT,
    OP(33, 4), KERNEL_TYPE, VOID, POINTER,
    OP(50, 4), UINT, MORE, 100,
    OP(48, 3), BOOL, FLAG,
    OP(50, 5), ULONG, WIDE, 5, 0,
    OP(43, 4), UINT, ZERO, 0,
    OP(43, 4), UINT, ONE, 1,
    OP(54, 5), VOID, KERNEL, 0, KERNEL_TYPE,
    OP(55, 3), POINTER, OUT,
    OP(248, 2), LABEL,
    OP(169, 6), UINT, CHOSEN, FLAG, ONE, ZERO,
    OP(113, 4), UINT, LOW, WIDE,
    OP(128, 5), UINT, SUM, MORE, CHOSEN,
    OP(128, 5), UINT, TOTAL, SUM, LOW,
    OP(62, 3), OUT, TOTAL,
    OP(253, 1),
    OP(56, 1)};

/** kernel void k(global uint *out) { *out = f(1); }, without the definition of f */
static const uint32_t caller[] = {
    HEADER, CAPABILITIES, MEMORY_MODEL,
    OP(15, 4), 6, KERNEL, 'k',
    OP(71, 5), FUNCTION, 41 /* LinkageAttributes */, 'f', 1 /* Import */,
    OP(19, 2), VOID,
    OP(21, 4), UINT, 32, 0,
    OP(32, 4), POINTER, 5, UINT,
    OP(33, 4), KERNEL_TYPE, VOID, POINTER,
    OP(33, 4), FUNCTION_TYPE, UINT, UINT,
    OP(43, 4), UINT, ONE, 1,
    OP(54, 5), UINT, FUNCTION, 0, FUNCTION_TYPE,
    OP(55, 3), UINT, PARAMETER,
    OP(56, 1),
    OP(54, 5), VOID, KERNEL, 0, KERNEL_TYPE,
    OP(55, 3), POINTER, OUT,
    OP(248, 2), LABEL,
    OP(57, 5), UINT, SUM, FUNCTION, ONE,
    OP(62, 3), OUT, SUM,
    OP(253, 1),
    OP(56, 1)};

/** uint f(uint x) { return x + 41; }, with 41 as specialization constant 7 */
static const uint32_t callee[] = {
    HEADER, CAPABILITIES, MEMORY_MODEL,
    OP(71, 5), FUNCTION, 41, 'f', 0 /* Export */,
    OP(71, 4), MORE, 1, 7,
    OP(21, 4), UINT, 32, 0,
    OP(33, 4), FUNCTION_TYPE, UINT, UINT,
    OP(50, 4), UINT, MORE, 41,
    OP(54, 5), UINT, FUNCTION, 0, FUNCTION_TYPE,
    OP(55, 3), UINT, PARAMETER,
    OP(248, 2), LABEL,
    OP(128, 5), UINT, SUM, PARAMETER, MORE,
    OP(254, 2), SUM,
    OP(56, 1)};

static cl_program created(const uint32_t *words, size_t bytes)
{
    cl_int error;
    cl_program program = clCreateProgramWithIL(context, words, bytes, &error);

    OK(error);
    return program;
}

/** Runs the kernel k with one work-item, and returns what it stores. */
static uint32_t result_of(cl_program program)
{
    const size_t one = 1;
    uint32_t value = 0;
    cl_int error;
    cl_kernel kernel = clCreateKernel(program, "k", &error);
    cl_mem mem = clCreateBuffer(context, 0, sizeof value, NULL, NULL);

    OK(error);
    OK(clSetKernelArg(kernel, 0, sizeof mem, &mem));
    OK(clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &one, NULL, 0, NULL, NULL));
    OK(clEnqueueReadBuffer(queue, mem, CL_TRUE, 0, sizeof value, &value, 0, NULL, NULL));
    OK(clReleaseMemObject(mem));
    OK(clReleaseKernel(kernel));
    return value;
}

static uint32_t built(cl_program program)
{
    OK(clBuildProgram(program, 0, NULL, "", NULL, NULL));
    return result_of(program);
}

static cl_int created_error(const void *il, size_t bytes)
{
    cl_int error = CL_SUCCESS;

    assert_null(clCreateProgramWithIL(context, il, bytes, &error));
    return error;
}

/* ---- tests ------------------------------------------------------------------------------------ */

static void the_device_reports_versions_and_the_extension(void **state)
{
    char text[1000];
    cl_name_version versions[10];
    size_t size;

    (void)state;
    OK(clGetDeviceInfo(device, CL_DEVICE_IL_VERSION, sizeof text, text, NULL));
    assert_non_null(strstr(text, "SPIR-V_1.0"));
    assert_non_null(strstr(text, "SPIR-V_1.2"));
    OK(clGetDeviceInfo(device, CL_DEVICE_ILS_WITH_VERSION, sizeof versions, versions, &size));
    assert_int_equal(size, 4 * sizeof *versions);
    assert_string_equal(versions[0].name, "SPIR-V");
    assert_int_equal(versions[0].version, CL_MAKE_VERSION(1, 0, 0));
    OK(clGetDeviceInfo(device, CL_DEVICE_EXTENSIONS, sizeof text, text, NULL));
    assert_non_null(strstr(text, " cl_khr_il_program"));
    OK(clGetPlatformInfo(platform, CL_PLATFORM_EXTENSIONS, sizeof text, text, NULL));
    assert_non_null(strstr(text, " cl_khr_il_program"));
    assert_non_null(clGetExtensionFunctionAddressForPlatform(platform, "clCreateProgramWithILKHR"));
}

static void a_module_is_built_and_returned(void **state)
{
    cl_program program = created(constants, sizeof constants);
    uint32_t copy[sizeof constants / sizeof *constants + 1];
    char text[100];
    size_t size;
    cl_kernel_arg_address_qualifier space;
    cl_kernel kernel;
    cl_int error;

    (void)state;
    OK(clGetProgramInfo(program, CL_PROGRAM_IL, sizeof copy, copy, &size));
    assert_int_equal(size, sizeof constants);
    assert_memory_equal(copy, constants, size);
    OK(clGetProgramInfo(program, CL_PROGRAM_SOURCE, sizeof text, text, NULL));
    assert_string_equal(text, "");
    assert_int_equal(built(program), 106);
    OK(clGetProgramInfo(program, CL_PROGRAM_KERNEL_NAMES, sizeof text, text, NULL));
    assert_string_equal(text, "k");
    kernel = clCreateKernel(program, "k", &error);
    OK(error);
    OK(clGetKernelArgInfo(kernel, 0, CL_KERNEL_ARG_ADDRESS_QUALIFIER, sizeof space, &space, NULL));
    assert_int_equal(space, CL_KERNEL_ARG_ADDRESS_GLOBAL);
    assert_int_equal(clGetKernelArgInfo(kernel, 0, CL_KERNEL_ARG_TYPE_NAME, sizeof text, text, NULL), CL_KERNEL_ARG_INFO_NOT_AVAILABLE);
    OK(clReleaseKernel(kernel));
    OK(clReleaseProgram(program));
}

static void constants_are_specialized(void **state)
{
    cl_program program = created(constants, sizeof constants);
    const uint32_t more = 1000;
    const uint64_t wide = 0xffffffff00000020u;
    const unsigned char no = 0;
    uint32_t copy[sizeof constants / sizeof *constants];

    (void)state;
    OK(clSetProgramSpecializationConstant(program, 7, sizeof more, &more));
    OK(clSetProgramSpecializationConstant(program, 9, sizeof wide, &wide));
    assert_int_equal(built(program), 1033);
    OK(clSetProgramSpecializationConstant(program, 8, sizeof no, &no));
    OK(clSetProgramSpecializationConstant(program, 7, sizeof more, &wide));
    assert_int_equal(built(program), 64);
    assert_int_equal(clSetProgramSpecializationConstant(program, 10, sizeof more, &more), CL_INVALID_SPEC_ID);
    assert_int_equal(clSetProgramSpecializationConstant(program, 7, sizeof wide, &wide), CL_INVALID_VALUE);
    assert_int_equal(clSetProgramSpecializationConstant(program, 8, sizeof more, &more), CL_INVALID_VALUE);
    assert_int_equal(clSetProgramSpecializationConstant(program, 7, sizeof more, NULL), CL_INVALID_VALUE);
    assert_int_equal(clSetProgramSpecializationConstant(NULL, 7, sizeof more, &more), CL_INVALID_PROGRAM);
    OK(clGetProgramInfo(program, CL_PROGRAM_IL, sizeof copy, copy, NULL));
    assert_memory_equal(copy, constants, sizeof copy); /* the module itself does not change */
    OK(clReleaseProgram(program));
}

static void modules_of_the_other_byte_order_are_the_same(void **state)
{
    uint32_t swapped[sizeof constants / sizeof *constants];
    const uint32_t more = 7;
    cl_program program;

    (void)state;
    for (size_t i = 0; i < sizeof constants / sizeof *constants; i++)
        swapped[i] = __builtin_bswap32(constants[i]);
    program = created(swapped, sizeof swapped);
    OK(clSetProgramSpecializationConstant(program, 7, sizeof more, &more));
    assert_int_equal(built(program), 13);
    OK(clReleaseProgram(program));
}

static void modules_are_linked_with_each_other_and_with_sources(void **state)
{
    const char *text = "uint f(uint x) { return x * 3; }";
    const uint32_t more = 99;
    cl_int error, status;
    cl_program parts[2] = {created(caller, sizeof caller), created(callee, sizeof callee)}, linked, copy;
    cl_program source = clCreateProgramWithSource(context, 1, &text, NULL, &error);
    unsigned char *bytes;
    const unsigned char *given;
    size_t size;

    (void)state;
    OK(error);
    OK(clSetProgramSpecializationConstant(parts[1], 7, sizeof more, &more));
    assert_int_equal(clSetProgramSpecializationConstant(source, 7, sizeof more, &more), CL_INVALID_PROGRAM);
    for (int i = 0; i < 2; i++)
        OK(clCompileProgram(parts[i], 0, NULL, "", 0, NULL, NULL, NULL, NULL));
    OK(clCompileProgram(source, 0, NULL, "", 0, NULL, NULL, NULL, NULL));
    linked = clLinkProgram(context, 0, NULL, "", 2, parts, NULL, NULL, &error);
    OK(error);
    assert_int_equal(result_of(linked), 100);

    OK(clGetProgramInfo(linked, CL_PROGRAM_BINARY_SIZES, sizeof size, &size, NULL));
    given = bytes = malloc(size);
    OK(clGetProgramInfo(linked, CL_PROGRAM_BINARIES, sizeof bytes, &bytes, NULL));
    copy = clCreateProgramWithBinary(context, 1, &device, &size, &given, &status, &error);
    OK(error);
    assert_int_equal(built(copy), 100);
    free(bytes);
    OK(clReleaseProgram(copy));
    OK(clReleaseProgram(linked));

    linked = clLinkProgram(context, 0, NULL, "", 2, (cl_program[]){source, parts[0]}, NULL, NULL, &error);
    OK(error);
    assert_int_equal(result_of(linked), 3);
    OK(clReleaseProgram(linked));
    linked = clLinkProgram(context, 0, NULL, "", 1, parts, NULL, NULL, &error); /* without the definition of f */
    assert_int_equal(error, CL_LINK_PROGRAM_FAILURE);
    if (linked != NULL)
        OK(clReleaseProgram(linked));
    OK(clReleaseProgram(parts[0]));
    OK(clReleaseProgram(parts[1]));
    OK(clReleaseProgram(source));
}

static void what_is_no_module_is_refused(void **state)
{
    uint32_t damaged[sizeof constants / sizeof *constants];
    cl_program program;
    cl_int error = CL_SUCCESS;
    char log[2000];
    size_t size;

    (void)state;
    assert_int_equal(created_error(NULL, 20), CL_INVALID_VALUE);
    assert_int_equal(created_error(constants, 0), CL_INVALID_VALUE);
    assert_int_equal(created_error(constants, 16), CL_INVALID_VALUE);
    assert_int_equal(created_error(constants, sizeof constants - 1), CL_INVALID_VALUE);
    assert_int_equal(created_error("kernel void k(void) {    }  ", 28), CL_INVALID_VALUE);
    assert_null(clCreateProgramWithIL(NULL, constants, sizeof constants, &error));
    assert_int_equal(error, CL_INVALID_CONTEXT);

    memcpy(damaged, constants, sizeof damaged);
    damaged[sizeof damaged / sizeof *damaged - 1] = OP(56, 9);
    for (int i = 0; i < 2; i++) {
        program = created(damaged, sizeof damaged);
        assert_int_equal(clBuildProgram(program, 0, NULL, "", NULL, NULL), CL_BUILD_PROGRAM_FAILURE);
        OK(clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG, sizeof log, log, &size));
        assert_non_null(strstr(log, i == 0 ? "the SPIR-V module is damaged" : "program.spv"));
        assert_null(strchr(log, '\n'));
        OK(clReleaseProgram(program));
        memcpy(damaged, constants, sizeof damaged);
        damaged[sizeof damaged / sizeof *damaged - 3] = 39; /* stores a value that nothing defines */
    }
    program = created(constants, sizeof constants);
    assert_int_equal(clBuildProgram(program, 0, NULL, "-no-such-option", NULL, NULL), CL_INVALID_BUILD_OPTIONS);
    OK(clBuildProgram(program, 0, NULL, "-cl-fast-relaxed-math -cl-std=CL3.0 -DX=1", NULL, NULL)); /* no effect on modules */
    assert_int_equal(result_of(program), 106);
    OK(clReleaseProgram(program));
}

static void without_a_translator_the_device_has_no_intermediate_language(void **state)
{
    cl_program program = created(constants, sizeof constants);
    const uint32_t more = 1;
    char text[1000];
    size_t size;

    (void)state;
    setenv("LANEWISE_LLVM_SPIRV", "/no/such/llvm-spirv", 1);
    OK(clGetDeviceInfo(device, CL_DEVICE_IL_VERSION, sizeof text, text, NULL));
    assert_string_equal(text, "");
    OK(clGetDeviceInfo(device, CL_DEVICE_ILS_WITH_VERSION, 0, NULL, &size));
    assert_int_equal(size, 0);
    OK(clGetDeviceInfo(device, CL_DEVICE_EXTENSIONS, sizeof text, text, NULL));
    assert_null(strstr(text, "cl_khr_il_program"));
    assert_int_equal(created_error(constants, sizeof constants), CL_INVALID_OPERATION);
    assert_int_equal(clSetProgramSpecializationConstant(program, 7, sizeof more, &more), CL_INVALID_OPERATION);
    unsetenv("LANEWISE_LLVM_SPIRV");
    OK(clReleaseProgram(program));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_device_reports_versions_and_the_extension),
        cmocka_unit_test(a_module_is_built_and_returned),
        cmocka_unit_test(constants_are_specialized),
        cmocka_unit_test(modules_of_the_other_byte_order_are_the_same),
        cmocka_unit_test(modules_are_linked_with_each_other_and_with_sources),
        cmocka_unit_test(what_is_no_module_is_refused),
        cmocka_unit_test(without_a_translator_the_device_has_no_intermediate_language),
    };
    char text[200] = "";

    use_own_driver();
    if (clGetPlatformIDs(1, &platform, NULL) != CL_SUCCESS || clGetDeviceIDs(platform, CL_DEVICE_TYPE_GPU, 1, &device, NULL) != CL_SUCCESS)
        return 1;
    (void)clGetDeviceInfo(device, CL_DEVICE_IL_VERSION, sizeof text, text, NULL);
    if (text[0] == '\0') {
        puts("skipped: llvm-spirv or clang 15 is not installed");
        return 77;
    }
    return cmocka_run_group_tests(tests, open_group, close_group);
}
