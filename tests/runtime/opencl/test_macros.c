/* SPDX-License-Identifier: Apache-2.0 */
/* Tests that each extension and feature which the device reports has a macro in kernels, and no others have one: for the usual
 * warp width, and for one at which the device has no sub-groups. */
#include "tests/runtime/opencl/opencl_test.h"

#include <sys/wait.h>
#include <unistd.h>

static const char *const sub_groups[] = {
    "cl_khr_subgroups", "cl_khr_subgroup_extended_types", "cl_khr_subgroup_non_uniform_vote", "cl_khr_subgroup_ballot",
    "cl_khr_subgroup_non_uniform_arithmetic", "cl_khr_subgroup_shuffle", "cl_khr_subgroup_shuffle_relative",
    "cl_khr_subgroup_clustered_reduce", "__opencl_c_subgroups"};

static bool builds(const char *text)
{
    cl_int error;
    cl_program program = clCreateProgramWithSource(context, 1, &text, NULL, &error);
    char log[4000] = "";

    OK(error);
    error = clBuildProgram(program, 0, NULL, "-cl-std=CL3.0", NULL, NULL);
    OK(clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG, sizeof log, log, NULL));
    if (error != CL_SUCCESS)
        print_message("%s", log);
    OK(clReleaseProgram(program));
    return error == CL_SUCCESS;
}

static void each_extension_has_a_macro(void **state)
{
    char names[2000], text[8000] = "";
    cl_name_version features[50];
    size_t bytes;

    (void)state;
    OK(clGetDeviceInfo(device, CL_DEVICE_EXTENSIONS, sizeof names, names, NULL));
    for (char *name = strtok(names, " "); name != NULL; name = strtok(NULL, " "))
        if (strcmp(name, "cl_khr_icd") != 0 && strcmp(name, "cl_khr_il_program") != 0) /* these concern only the host */
            snprintf(text + strlen(text), sizeof text - strlen(text), "#ifndef %s\n#error %s\n#endif\n", name, name);
    OK(clGetDeviceInfo(device, CL_DEVICE_OPENCL_C_FEATURES, sizeof features, features, &bytes));
    for (size_t i = 0; i < bytes / sizeof *features; i++)
        snprintf(text + strlen(text), sizeof text - strlen(text), "#ifndef %s\n#error %s\n#endif\n", features[i].name, features[i].name);
    assert_true(strlen(text) + 100 < sizeof text);
    strcat(text, "kernel void k(global int *out) { out[0] = 1; }\n");
    assert_true(builds(text));
}

static void sub_groups_have_macros_if_the_device_has_them(void **state)
{
    cl_uint most;
    char text[4000] = "";

    (void)state;
    OK(clGetDeviceInfo(device, CL_DEVICE_MAX_NUM_SUB_GROUPS, sizeof most, &most, NULL));
    for (size_t i = 0; i < sizeof sub_groups / sizeof *sub_groups; i++)
        snprintf(text + strlen(text), sizeof text - strlen(text), "#%s %s\n#error %s\n#endif\n", most != 0 ? "ifndef" : "ifdef",
                 sub_groups[i], sub_groups[i]);
    strcat(text, "kernel void k(global int *out) { out[0] = 1; }\n");
    assert_true(builds(text));
    assert_int_equal(builds("kernel void k(global uint *out) { out[0] = sub_group_broadcast(get_sub_group_id(), 0); }\n"), most != 0);
    assert_int_equal(builds("kernel void k(global int *out) { out[0] = sub_group_shuffle(out[1], 3); }\n"), most != 0);
    assert_int_equal(most != 0, getenv("LANEWISE_OPTIONS") == NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_extension_has_a_macro),
        cmocka_unit_test(sub_groups_have_macros_if_the_device_has_them),
    };
    int status = 1;
    pid_t child;

    use_own_driver();
    fflush(stdout);
    child = fork(); /* the child has another device, of the warp width 16 */
    if (child != 0)
        waitpid(child, &status, 0);
    if (child == 0)
        setenv("LANEWISE_OPTIONS", "--warp 16", 1);
    else
        unsetenv("LANEWISE_OPTIONS");
    return cmocka_run_group_tests(tests, open_group, close_group) != 0 || (child != 0 && status != 0);
}
