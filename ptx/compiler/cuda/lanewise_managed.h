/* SPDX-License-Identifier: Apache-2.0 */
/* Host code with __managed__ variables. clang has such variables only in its mode for HIP, in which it calls functions of HIP's
 * runtime to register and launch kernels. These functions call the corresponding functions of CUDA's runtime. Host code accesses
 * a managed variable through a pointer, which the runtime sets to the address of the variable on the device. */
#ifndef LANEWISE_MANAGED_H
#define LANEWISE_MANAGED_H

#define LW_FORWARD __attribute__((weak, visibility("hidden"), nodebug))

extern "C" {
void **__cudaRegisterFatBinary(void *wrapper);
void __cudaRegisterFatBinaryEnd(void **handle);
void __cudaUnregisterFatBinary(void **handle);
char __cudaInitModule(void **handle);
int __cudaRegisterFunction(void **handle, const char *stub, char *function, const char *name, int limit, void *thread,
                           void *block, void *block_size, void *grid_size, int *warp);
void __cudaRegisterVar(void **handle, char *shadow, char *address, const char *name, int external, size_t bytes, int constant,
                       int global);
void __cudaRegisterManagedVar(void **handle, void **pointer, char *address, const char *name, int external, size_t bytes,
                              int constant, int global);

LW_FORWARD cudaError_t hipLaunchKernel(const void *kernel, dim3 grid, dim3 block, void **args, size_t shared,
                                       cudaStream_t stream)
{
    return cudaLaunchKernel(kernel, grid, block, args, shared, stream);
}
LW_FORWARD unsigned int __hipPushCallConfiguration(dim3 grid, dim3 block, size_t shared = 0, cudaStream_t stream = 0)
{
    return __cudaPushCallConfiguration(grid, block, shared, stream);
}
LW_FORWARD cudaError_t __hipPopCallConfiguration(dim3 *grid, dim3 *block, size_t *shared, void *stream)
{
    return __cudaPopCallConfiguration(grid, block, shared, stream);
}
LW_FORWARD void **__hipRegisterFatBinary(void *wrapper)
{
    return __cudaRegisterFatBinary(wrapper);
}
LW_FORWARD void __hipUnregisterFatBinary(void **handle)
{
    __cudaUnregisterFatBinary(handle);
}
LW_FORWARD int __hipRegisterFunction(void **handle, const char *stub, char *function, const char *name, int limit, void *thread,
                                     void *block, void *block_size, void *grid_size, int *warp)
{
    return __cudaRegisterFunction(handle, stub, function, name, limit, thread, block, block_size, grid_size, warp);
}
LW_FORWARD void __hipRegisterVar(void **handle, char *shadow, char *address, const char *name, int external, size_t bytes,
                                 int constant, int global)
{
    __cudaRegisterVar(handle, shadow, address, name, external, bytes, constant, global);
}
/* @initial: the variable's initial value in memory of the host, which stands for the variable until the kernels are loaded */
LW_FORWARD void __hipRegisterManagedVar(void **handle, char *pointer, char *initial, const char *name, size_t bytes,
                                        unsigned int align)
{
    (void)align;
    *(void **)pointer = initial;
    __cudaRegisterManagedVar(handle, (void **)pointer, initial, name, 0, bytes, 0, 0);
#ifndef LANEWISE_LINKED /* kernels of several files are loaded when all files are registered, at the first use of the runtime */
    (void)__cudaInitModule(handle);
#endif
}
}
#undef LW_FORWARD
#endif
