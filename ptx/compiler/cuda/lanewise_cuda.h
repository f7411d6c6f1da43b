/* SPDX-License-Identifier: Apache-2.0 */
/* The declarations that nvcc includes before every .cu file; Lanewise includes this header in the same way. */
#ifndef LANEWISE_CUDA_H
#define LANEWISE_CUDA_H
#include "lanewise_names_begin.h"
#include "lanewise_types.h"
#include "lanewise_host.h"
#include "lanewise_texture.h"
#include "lanewise_math.h"
#include "lanewise_std.h"
#include "lanewise_device.h"
#include "lanewise_launch.h"
/* C functions of the host without libstdc++, whose using-declarations would all appear in the debug information of
 * every kernel. */
#define _GLIBCXX_INCLUDE_NEXT_C_HEADERS
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
#include <utility>
#include <new> /* for the device's new and delete, which clang declares there */
#undef signbit
#undef isnan
#undef isinf
#undef isfinite
#undef isnormal
#include "lanewise_names_end.h"
#endif
