/* SPDX-License-Identifier: Apache-2.0 */
/* Calls functions of CUDA C++ that clang's own intrinsics round differently, or that our headers implement in plain C. */
#include <cooperative_groups.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
namespace cg = cooperative_groups;
__constant__ int known[2] = {1, 2};
__device__ int cell;
extern "C" __global__ void fun(const unsigned *in, unsigned *out)
{
    dim3 block = blockIdx, size(blockDim); /* reads all three values of the variable together */
    uint3 thread = threadIdx;
    unsigned i = block.x * size.x + thread.x, *o = out + 32 * i;
    unsigned a = in[4 * i], b = in[4 * i + 1], c = in[4 * i + 2];
    float x = __uint_as_float(in[4 * i + 3]), y = (float)(int)a, z = (float)(int)b;
    bool low, high;

    o[0] = __float_as_uint(__int2float_rz((int)a));
    o[1] = __float_as_uint(__ull2float_rz((unsigned long long)a << 32 | b));
    o[2] = __float_as_uint(__fadd_rn(__fmul_rn(y, z), x));
    o[3] = __half_as_ushort(__float2half_ru(x));
    o[4] = __half_as_ushort(__float2half_rd(x));
    o[5] = __bfloat16_as_ushort(__int2bfloat16_rn((int)a));
    o[6] = __bfloat16_as_ushort(__float2bfloat16_ru(x));
    o[7] = __vabsdiffs2(a, b);
    o[8] = __vsads4(a, b);
    o[9] = __vavgs2(a, b);
    o[10] = __viaddmax_s16x2_relu(a, b, c);
    o[11] = (unsigned)__vimin3_s32((int)a, (int)b, (int)c);
    o[12] = __vibmin_u16x2(a, b, &high, &low);
    o[13] = high * 2u + low;
    o[14] = __vhaddu4(a, b);
    o[15] = __isConstant(&known[1]) + 2 * __isConstant(&cell) + 4 * __isGlobal(&cell) + 8 * __isGlobal(known);
    cg::thread_block_tile<32> warp = cg::tiled_partition<32>(cg::this_thread_block());
    cg::thread_block_tile<8> tile = cg::tiled_partition<8>(warp);
    o[16] = tile.meta_group_size() * 100 + tile.meta_group_rank();
    o[17] = __vsadu4(a, b);
    o[18] = __heq2_mask(__half2(__half(1.0f), __half((int)(a & 3))),
                        __half2(__half(1.0f), __half(2.0f)));
    __barrier_sync(0);
}
