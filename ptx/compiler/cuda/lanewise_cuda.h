/* SPDX-License-Identifier: Apache-2.0 */
/* Declarations that nvcc provides to every .cu file without an #include. Lanewise includes this header before every .cu file. In C
 * and C++ files it is what <cuda_runtime.h> and similar headers include. */
#ifndef LANEWISE_CUDA_H
#define LANEWISE_CUDA_H
#include "lanewise_names_begin.h"
#include "lanewise_types.h"
#include "lanewise_host.h"
#ifdef __cplusplus
#include "lanewise_host_math.h"
#endif
#if defined LANEWISE_MANAGED && !defined __CUDA_ARCH__
#include "lanewise_managed.h"
#endif
#ifdef __CUDA__
#include "lanewise_texture.h"
#include "lanewise_math.h"
#ifdef __CUDA_ARCH__
#include "lanewise_std.h"
#endif
#include "lanewise_device.h"
#include "lanewise_launch.h"
/* clang registers only files that have a kernel or a variable. With -rdc=true other files need the functions of this file. */
#if defined LANEWISE_LINKED && !defined __CUDA_ARCH__
static __device__ __attribute__((used, nodebug)) char lw_linked;
#endif
#endif
/* Device code gets the host's C headers, but not the headers of libstdc++, whose using-declarations would all appear in the
 * debug information of every kernel. Host code gets the functions of libstdc++, as with nvcc: abs(-1.5f) is a float. */
#ifdef __CUDA_ARCH__
#define _GLIBCXX_INCLUDE_NEXT_C_HEADERS
#endif
#include <assert.h>
#include <ctype.h>
#include <float.h>
#include <limits.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <math.h>
#undef _GLIBCXX_INCLUDE_NEXT_C_HEADERS
#ifdef __cplusplus
#include "lanewise_calls.h"
#include <utility>
#include <new> /* clang declares the device's new and delete in this header */
#endif
#ifdef __CUDA__
#undef signbit
#undef isnan
#undef isinf
#undef isfinite
#undef isnormal
#endif
#include "lanewise_names_end.h"
#endif
