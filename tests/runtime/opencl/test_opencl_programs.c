/* SPDX-License-Identifier: Apache-2.0 */
/* Tests the OpenCL driver: separate compilation, declarations of kernels, and shared virtual memory. */
#include "tests/runtime/opencl/opencl_test.h"

static cl_program source_of(const char *text)
{
    cl_int error;
    cl_program program = clCreateProgramWithSource(context, 1, &text, NULL, &error);

    OK(error);
    return program;
}

static cl_program compiled(const char *text)
{
    cl_program program = source_of(text);

    OK(clCompileProgram(program, 0, NULL, "", 0, NULL, NULL, NULL, NULL));
    return program;
}

static cl_program_binary_type type_of(cl_program program)
{
    cl_program_binary_type type;

    OK(clGetProgramBuildInfo(program, device, CL_PROGRAM_BINARY_TYPE, sizeof type, &type, NULL));
    return type;
}

/** Runs a kernel whose only parameter is a pointer to an int, with one work-item, and returns the int. */
static int result_of(cl_program program, const char *name)
{
    const size_t one = 1;
    cl_int error, value = 0;
    cl_kernel kernel = clCreateKernel(program, name, &error);
    cl_mem mem = clCreateBuffer(context, 0, sizeof value, NULL, NULL);

    OK(error);
    OK(clSetKernelArg(kernel, 0, sizeof mem, &mem));
    OK(clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &one, NULL, 0, NULL, NULL));
    OK(clEnqueueReadBuffer(queue, mem, CL_TRUE, 0, sizeof value, &value, 0, NULL, NULL));
    OK(clReleaseMemObject(mem));
    OK(clReleaseKernel(kernel));
    return value;
}

/** Creates a program from the binary of @program. */
static cl_program reloaded(cl_program program)
{
    size_t size;
    unsigned char *bytes;
    const unsigned char *given;
    cl_int error, status;
    cl_program copy;

    OK(clGetProgramInfo(program, CL_PROGRAM_BINARY_SIZES, sizeof size, &size, NULL));
    assert_true(size > 10);
    given = bytes = malloc(size);
    OK(clGetProgramInfo(program, CL_PROGRAM_BINARIES, sizeof bytes, &bytes, NULL));
    copy = clCreateProgramWithBinary(context, 1, &device, &size, &given, &status, &error);
    OK(error);
    /* truncated and damaged binaries are refused */
    for (size_t cut = 1; cut < size; cut += 1 + cut / 3)
        assert_null(clCreateProgramWithBinary(context, 1, &device, &cut, &given, &status, &error));
    free(bytes);
    return copy;
}

static const char user[] = "int twice(int x);\nextern constant int base;\nkernel void k(global int *out) { *out = twice(20) + base; }\n",
                  library[] = "constant int base = 2;\nint twice(int x) { return 2 * x; }\n";

static void several_programs_are_linked(void **state)
{
    cl_program parts[2] = {compiled(user), compiled(library)}, linked, lib, copies[2];
    cl_int error;
    char log[2000];

    (void)state;
    assert_int_equal(type_of(parts[0]), CL_PROGRAM_BINARY_TYPE_COMPILED_OBJECT);
    assert_null(clCreateKernel(parts[0], "k", &error));
    assert_int_equal(error, CL_INVALID_PROGRAM_EXECUTABLE);
    linked = clLinkProgram(context, 1, &device, "", 2, parts, NULL, NULL, &error);
    OK(error);
    assert_int_equal(type_of(linked), CL_PROGRAM_BINARY_TYPE_EXECUTABLE);
    assert_int_equal(result_of(linked, "k"), 42);
    OK(clReleaseProgram(linked));

    lib = clLinkProgram(context, 0, NULL, "-create-library", 1, &parts[1], NULL, NULL, &error);
    OK(error);
    assert_int_equal(type_of(lib), CL_PROGRAM_BINARY_TYPE_LIBRARY);
    copies[0] = reloaded(parts[0]);
    copies[1] = reloaded(lib);
    assert_int_equal(type_of(copies[0]), CL_PROGRAM_BINARY_TYPE_COMPILED_OBJECT);
    assert_int_equal(type_of(copies[1]), CL_PROGRAM_BINARY_TYPE_LIBRARY);
    linked = clLinkProgram(context, 0, NULL, NULL, 2, copies, NULL, NULL, &error);
    OK(error);
    assert_int_equal(result_of(linked, "k"), 42);

    /* it is an error to link executables, to pass unknown options, or to link without a function that is called */
    assert_null(clLinkProgram(context, 0, NULL, NULL, 1, &linked, NULL, NULL, &error));
    assert_int_equal(error, CL_INVALID_OPERATION);
    assert_null(clLinkProgram(context, 0, NULL, "-no-such-option", 2, copies, NULL, NULL, &error));
    assert_int_equal(error, CL_INVALID_LINKER_OPTIONS);
    OK(clReleaseProgram(linked));
    linked = clLinkProgram(context, 0, NULL, NULL, 1, parts, NULL, NULL, &error);
    assert_int_equal(error, CL_LINK_PROGRAM_FAILURE);
    OK(clGetProgramBuildInfo(linked, device, CL_PROGRAM_BUILD_LOG, sizeof log, log, NULL));
    assert_non_null(strstr(log, "twice"));
    OK(clReleaseProgram(linked));
    OK(clReleaseProgram(lib));
    for (int i = 0; i < 2; i++) {
        OK(clReleaseProgram(parts[i]));
        OK(clReleaseProgram(copies[i]));
    }
}

static void headers_may_be_programs(void **state)
{
    const char *names[2] = {"one.h", "deep/two.h"}, *outside = "../one.h";
    cl_program headers[2] = {source_of("#define ONE 1\n"), source_of("#include \"one.h\"\n#define THREE (ONE + 2)\n")};
    cl_program own = source_of("#include \"deep/two.h\"\nkernel void k(global int *out) { *out = THREE; }\n"), linked;
    cl_int error;

    (void)state;
    assert_int_equal(clCompileProgram(own, 0, NULL, "", 0, NULL, NULL, NULL, NULL), CL_COMPILE_PROGRAM_FAILURE);
    OK(clCompileProgram(own, 0, NULL, "", 2, headers, names, NULL, NULL));
    linked = clLinkProgram(context, 0, NULL, NULL, 1, &own, NULL, NULL, &error);
    OK(error);
    assert_int_equal(result_of(linked, "k"), 3);
    assert_int_equal(clCompileProgram(own, 0, NULL, "", 1, headers, &outside, NULL, NULL), CL_COMPILE_PROGRAM_FAILURE);
    OK(clReleaseProgram(linked));
    OK(clReleaseProgram(own));
    OK(clReleaseProgram(headers[0]));
    OK(clReleaseProgram(headers[1]));
}

/* A program includes files of the current folder, as with other drivers. A byte order mark before its text is ignored. */
static void the_current_folder_has_headers(void **state)
{
    FILE *f = fopen("here.h", "w");
    cl_program program;

    (void)state;
    assert_true(f != NULL && fputs("#define HERE 41\n", f) >= 0 && fclose(f) == 0);
    program = source_of("\xef\xbb\xbf#include \"here.h\"\nkernel void k(global int *out) { *out = HERE + 1; }\n");
    assert_int_equal(clBuildProgram(program, 0, NULL, "", NULL, NULL), CL_SUCCESS);
    assert_int_equal(result_of(program, "k"), 42);
    assert_int_equal(clReleaseProgram(program), CL_SUCCESS);
    assert_int_equal(remove("here.h"), 0);
}

static void declarations_of_kernels_are_known(void **state)
{
    cl_program own = source_of("typedef float4 vector;\n"
                               "__attribute__((vec_type_hint(uint4))) __attribute__((reqd_work_group_size(4, 2, 1)))\n"
                               "kernel void k(global const float * restrict in, volatile global int *out, local uchar4 *l,\n"
                               "              constant vector *c, unsigned int n) { *out = n; }\n"
                               "kernel void k2(global int *out) { *out = 1; }\n");
    static const struct {
        const char *name, *type;
        cl_kernel_arg_address_qualifier space;
        cl_kernel_arg_type_qualifier qualifiers;
    } want[] = {{"in", "float*", CL_KERNEL_ARG_ADDRESS_GLOBAL, CL_KERNEL_ARG_TYPE_CONST | CL_KERNEL_ARG_TYPE_RESTRICT},
                {"out", "int*", CL_KERNEL_ARG_ADDRESS_GLOBAL, CL_KERNEL_ARG_TYPE_VOLATILE},
                {"l", "uchar4*", CL_KERNEL_ARG_ADDRESS_LOCAL, 0},
                {"c", "vector*", CL_KERNEL_ARG_ADDRESS_CONSTANT, CL_KERNEL_ARG_TYPE_CONST},
                {"n", "uint", CL_KERNEL_ARG_ADDRESS_PRIVATE, 0}};
    cl_int error;
    cl_kernel kernel;
    char text[200];

    (void)state;
    OK(clBuildProgram(own, 0, NULL, "-cl-no-subgroup-ifp -cl-kernel-arg-info", NULL, NULL));
    kernel = clCreateKernel(own, "k", &error);
    OK(error);
    for (cl_uint i = 0; i < sizeof want / sizeof *want; i++) {
        cl_kernel_arg_address_qualifier space;
        cl_kernel_arg_type_qualifier qualifiers;
        cl_kernel_arg_access_qualifier access;

        OK(clGetKernelArgInfo(kernel, i, CL_KERNEL_ARG_NAME, sizeof text, text, NULL));
        assert_string_equal(text, want[i].name);
        OK(clGetKernelArgInfo(kernel, i, CL_KERNEL_ARG_TYPE_NAME, sizeof text, text, NULL));
        assert_string_equal(text, want[i].type);
        OK(clGetKernelArgInfo(kernel, i, CL_KERNEL_ARG_ADDRESS_QUALIFIER, sizeof space, &space, NULL));
        OK(clGetKernelArgInfo(kernel, i, CL_KERNEL_ARG_TYPE_QUALIFIER, sizeof qualifiers, &qualifiers, NULL));
        OK(clGetKernelArgInfo(kernel, i, CL_KERNEL_ARG_ACCESS_QUALIFIER, sizeof access, &access, NULL));
        assert_int_equal(space, want[i].space);
        assert_int_equal(qualifiers, want[i].qualifiers);
        assert_int_equal(access, CL_KERNEL_ARG_ACCESS_NONE);
    }
    OK(clGetKernelInfo(kernel, CL_KERNEL_ATTRIBUTES, sizeof text, text, NULL));
    assert_string_equal(text, "reqd_work_group_size(4,2,1) vec_type_hint(uint4)");
    OK(clReleaseKernel(kernel));
    kernel = clCreateKernel(own, "k2", &error);
    OK(clGetKernelArgInfo(kernel, 0, CL_KERNEL_ARG_NAME, sizeof text, text, NULL));
    assert_string_equal(text, "out");
    OK(clGetKernelInfo(kernel, CL_KERNEL_ATTRIBUTES, sizeof text, text, NULL));
    assert_string_equal(text, "");
    OK(clReleaseKernel(kernel));
    OK(clReleaseProgram(own));
}

struct node {
    struct node *next;
    int value, pad;
};

static void host_and_kernels_share_memory(void **state)
{
    cl_program own = source_of("struct node { global struct node *next; int value, pad; };\n"
                               "kernel void walk(global struct node *n) { for (; n; n = n->next) n->value *= 2; }\n");
    const size_t one = 1;
    const cl_int five = 5;
    cl_device_svm_capabilities has;
    struct node *nodes = clSVMAlloc(context, CL_MEM_READ_WRITE | CL_MEM_SVM_FINE_GRAIN_BUFFER, 8 * sizeof *nodes, 0), host[8];
    cl_kernel kernel;
    cl_bool uses = CL_FALSE;
    cl_mem mem;
    cl_int error, first[3] = {0, 0, 0};
    void *mapped;

    (void)state;
    OK(clGetDeviceInfo(device, CL_DEVICE_SVM_CAPABILITIES, sizeof has, &has, NULL));
    assert_int_equal(has, CL_DEVICE_SVM_COARSE_GRAIN_BUFFER | CL_DEVICE_SVM_FINE_GRAIN_BUFFER);
    assert_non_null(nodes);
    for (int i = 0; i < 8; i++)
        nodes[i] = (struct node){i < 7 ? &nodes[i + 1] : NULL, i, 0};
    OK(clBuildProgram(own, 0, NULL, "", NULL, NULL));
    kernel = clCreateKernel(own, "walk", &error);
    OK(clSetKernelArgSVMPointer(kernel, 0, nodes + 2));
    OK(clSetKernelExecInfo(kernel, CL_KERNEL_EXEC_INFO_SVM_PTRS, sizeof(void *), &nodes));
    OK(clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &one, NULL, 0, NULL, NULL));
    OK(clFinish(queue));
    for (int i = 0; i < 8; i++)
        assert_int_equal(nodes[i].value, i < 2 ? i : 2 * i);

    OK(clEnqueueSVMMap(queue, CL_TRUE, CL_MAP_READ, nodes, sizeof *nodes, 0, NULL, NULL));
    OK(clEnqueueSVMUnmap(queue, nodes, 0, NULL, NULL));
    OK(clEnqueueSVMMemcpy(queue, CL_TRUE, host, nodes, sizeof host, 0, NULL, NULL));
    assert_int_equal(host[7].value, 14);
    OK(clEnqueueSVMMemFill(queue, &nodes[7].value, &five, sizeof five, 2 * sizeof five, 0, NULL, NULL));
    OK(clFinish(queue));
    assert_true(nodes[7].value == 5 && nodes[7].pad == 5);
    assert_int_equal(clEnqueueSVMMemcpy(queue, CL_TRUE, nodes, nodes + 1, 2 * sizeof *nodes, 0, NULL, NULL), CL_MEM_COPY_OVERLAP);

    OK(clSetKernelExecInfo(kernel, CL_KERNEL_EXEC_INFO_SVM_PTRS, 0, NULL));
    /* creates a buffer in the shared virtual memory */
    assert_null(clCreateBuffer(context, CL_MEM_USE_HOST_PTR, 9 * sizeof *nodes, nodes, &error));
    assert_int_equal(error, CL_INVALID_BUFFER_SIZE);
    mem = clCreateBuffer(context, CL_MEM_USE_HOST_PTR, 8 * sizeof *nodes, nodes, &error);
    OK(error);
    OK(clGetMemObjectInfo(mem, CL_MEM_USES_SVM_POINTER, sizeof uses, &uses, NULL));
    assert_int_equal(uses, CL_TRUE);
    OK(clEnqueueReadBuffer(queue, mem, CL_TRUE, offsetof(struct node, value), sizeof first[0], first, 0, NULL, NULL));
    mapped = clEnqueueMapBuffer(queue, mem, CL_TRUE, CL_MAP_WRITE, 0, sizeof *nodes, 0, NULL, NULL, &error);
    assert_ptr_equal(mapped, nodes);
    OK(clEnqueueUnmapMemObject(queue, mem, mapped, 0, NULL, NULL));
    OK(clReleaseMemObject(mem));
    nodes[0].value = 3; /* the memory has not been freed */
    assert_null(clSVMAlloc(context, CL_MEM_SVM_FINE_GRAIN_BUFFER | CL_MEM_SVM_ATOMICS, 16, 0));
    assert_null(clSVMAlloc(context, 0, 16, 3));
    OK(clEnqueueSVMFree(queue, 1, (void *[]){nodes}, NULL, NULL, 0, NULL, NULL));
    OK(clFinish(queue));
    OK(clReleaseKernel(kernel));
    OK(clReleaseProgram(own));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(several_programs_are_linked),
        cmocka_unit_test(headers_may_be_programs),
        cmocka_unit_test(the_current_folder_has_headers),
        cmocka_unit_test(declarations_of_kernels_are_known),
        cmocka_unit_test(host_and_kernels_share_memory),
    };

    use_own_driver();
    return cmocka_run_group_tests(tests, open_group, close_group);
}
