/* SPDX-License-Identifier: Apache-2.0 */
/* Tests that children of a process can use the OpenCL device that the process has opened, while other threads of the process use it. */
#include "tests/runtime/opencl/opencl_test.h"

#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

enum { ITEMS = 4096, CHILDREN = 20, SECONDS = 20 };
static cl_program program;
static volatile bool stop;

static cl_kernel kernel_for(cl_mem mem)
{
    cl_int error;
    cl_kernel kernel = clCreateKernel(program, "set", &error);

    OK(error);
    OK(clSetKernelArg(kernel, 0, sizeof mem, &mem));
    return kernel;
}

/** Sets all elements of the buffer to @value by a kernel. Returns false if that fails. */
static bool set_all(cl_command_queue own, cl_kernel kernel, cl_mem mem, cl_int value)
{
    const size_t items = ITEMS, local = 64;
    cl_int out[ITEMS];

    if (clSetKernelArg(kernel, 1, sizeof value, &value) != CL_SUCCESS ||
        clEnqueueNDRangeKernel(own, kernel, 1, NULL, &items, &local, 0, NULL, NULL) != CL_SUCCESS ||
        clEnqueueReadBuffer(own, mem, CL_TRUE, 0, sizeof out, out, 0, NULL, NULL) != CL_SUCCESS)
        return false;
    for (int i = 0; i < ITEMS; i++)
        if (out[i] != value)
            return false;
    return true;
}

/** A thread that uses the device until the test ends. */
static void *use_device(void *unused)
{
    cl_mem mem = clCreateBuffer(context, 0, ITEMS * sizeof(cl_int), NULL, NULL);
    cl_command_queue own = clCreateCommandQueue(context, device, 0, NULL);
    cl_kernel kernel = kernel_for(mem);

    (void)unused;
    for (cl_int i = 0; !stop; i++)
        if (!set_all(own, kernel, mem, i))
            abort();
    clReleaseKernel(kernel);
    clReleaseCommandQueue(own);
    clReleaseMemObject(mem);
    return NULL;
}

static void wait_for(pid_t child)
{
    int status = -1;

    assert_true(child > 0);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

static void children_use_the_device_while_threads_use_it(void **state)
{
    pthread_t threads[2];
    cl_int error;
    cl_mem mem = clCreateBuffer(context, 0, ITEMS * sizeof(cl_int), NULL, &error);
    cl_kernel kernel = kernel_for(mem);

    (void)state;
    OK(error);
    assert_true(set_all(queue, kernel, mem, -1));
    for (int i = 0; i < 2; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, use_device, NULL), 0);
    for (int i = 0; i < CHILDREN; i++) {
        const pid_t child = fork();

        if (child == 0) {
            alarm(SECONDS);
            _exit(set_all(queue, kernel, mem, 100 + i) ? 0 : 1);
        }
        wait_for(child);
    }
    stop = true;
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    assert_true(set_all(queue, kernel, mem, -2));
    OK(clReleaseKernel(kernel));
    OK(clReleaseMemObject(mem));
}

/** Forks, while the driver destroys an object. */
static void CL_CALLBACK fork_here(cl_mem destroyed, void *child)
{
    (void)destroyed;
    *(pid_t *)child = fork();
    if (*(pid_t *)child == 0)
        alarm(SECONDS);
}

static void a_callback_may_fork(void **state)
{
    pid_t child = -1;
    cl_int error;
    cl_mem mem = clCreateBuffer(context, 0, 64, NULL, &error), other;
    const cl_int value = 5;
    cl_int out = 0;

    (void)state;
    OK(error);
    OK(clSetMemObjectDestructorCallback(mem, fork_here, &child));
    OK(clReleaseMemObject(mem));
    other = clCreateBuffer(context, CL_MEM_COPY_HOST_PTR, sizeof value, (void *)(uintptr_t)&value, &error);
    OK(error);
    OK(clEnqueueReadBuffer(queue, other, CL_TRUE, 0, sizeof out, &out, 0, NULL, NULL));
    OK(clReleaseMemObject(other));
    if (child == 0)
        _exit(out == value ? 0 : 1);
    wait_for(child);
}

/** The thread that serves gdb exists only in the parent. */
static void launches_of_a_child_do_not_wait_for_gdb(void **state)
{
    cl_int error;
    cl_mem mem = clCreateBuffer(context, 0, ITEMS * sizeof(cl_int), NULL, &error);
    cl_kernel kernel = kernel_for(mem);
    pid_t child;

    (void)state;
    OK(error);
    child = fork();
    if (child == 0) {
        alarm(SECONDS);
        _exit(set_all(queue, kernel, mem, 1) ? 1 : 0); /* the launch fails, and the buffer has other values */
    }
    wait_for(child);
    OK(clReleaseKernel(kernel));
    OK(clReleaseMemObject(mem));
}

static int set_up(void **state)
{
    const char *text = "kernel void set(global int *out, int value) { out[get_global_id(0)] = value; }\n";
    cl_int error;

    (void)state;
    open_device(0);
    program = clCreateProgramWithSource(context, 1, &text, NULL, &error);
    OK(error);
    OK(clBuildProgram(program, 0, NULL, "", NULL, NULL));
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    OK(clReleaseProgram(program));
    close_device();
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(children_use_the_device_while_threads_use_it),
        cmocka_unit_test(a_callback_may_fork),
    };

    const struct CMUnitTest debugged[] = {cmocka_unit_test(launches_of_a_child_do_not_wait_for_gdb)};
    int status = 1;
    pid_t child;

    use_own_driver();
    child = fork();
    setenv("LANEWISE_OPTIONS", child == 0 ? "--gdb 0" : "--threads 3", 1);
    if (child == 0)
        return cmocka_run_group_tests(debugged, set_up, tear_down);
    waitpid(child, &status, 0);
    return cmocka_run_group_tests(tests, set_up, tear_down) != 0 || status != 0;
}
