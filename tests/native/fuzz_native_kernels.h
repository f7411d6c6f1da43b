/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels that tests/native/fuzz_native.c changes. Each of them uses other parts of the native translator. Each thread has a part
 * of its own in `out`; n and m are small numbers. */
#ifndef FUZZ_NATIVE_KERNELS_H
#define FUZZ_NATIVE_KERNELS_H

#include "base/lw.h"

/* v0 is the number of the thread in the grid, v1 its offset in buffers of words, and s4:5, s6:7 and s8:9 are the buffers. */
#define FUZZ_HEAD(name, more)                                                                                                 \
    ".kernel " name "\n.param ptr.global a\n.param ptr.global b\n.param ptr.global out\n.param u32 n\n.param u32 m\n" more    \
    "    s_s2r s0, %ctaid.x\n    s_s2r s1, %ntid.x\n    s_s2r s2, %ntid.y\n    s_mul_u32 s1, s1, s2\n    s_s2r s2, %ntid.z\n" \
    "    s_mul_u32 s1, s1, s2\n    v_s2r v0, %tid.z\n    s_s2r s2, %ntid.y\n    v_s2r v1, %tid.y\n"                           \
    "    v_mad_u32 v0, v0, s2, v1\n    s_s2r s2, %ntid.x\n    v_s2r v1, %tid.x\n    v_mad_u32 v0, v0, s2, v1\n"               \
    "    s_mul_u32 s0, s0, s1\n    v_add_u32 v0, v0, s0\n    v_shl_b32 v1, v0, 2\n"                                           \
    "    s_mov_b64 s4:5, c[a]\n    s_mov_b64 s6:7, c[b]\n    s_mov_b64 s8:9, c[out]\n"
/* Stores v4 to v7. */
#define FUZZ_TAIL "    v_shl_b32 v1, v0, 4\n    st.global.v4.b32 [s8:9+v1], v4:7\n    exit\n.end\n"

static const char *const fuzz_kernels[] = {
    /* a loop that all threads repeat n times, with floats */
    FUZZ_HEAD("loop", "")
    "    ld.global.b32 v4, [s4:5+v1]\n    ld.global.b32 v5, [s6:7+v0*4]\n    v_mov_b32 v3, 0\n"
    "    v_mov_b32 v6, 1.5f\n    v_mov_b32 v7, v0\n"
    "again:\n    v_mad_u32 v4, v4, 5, v3\n    v_cvt.f32.u32 v8, v3\n    v_fma_f32 v6, v6, v8, v5\n"
    "    v_add_u32 v7, v7, v3\n    v_add_u32 v3, v3, 1\n    v_setp_u32.lt p0, v3, c[n]\n    @p0 bra again\n"
    "    v_sub_f32 v5, v6, v5\n" FUZZ_TAIL,

    /* regions in each other, a loop of different lengths, a shortcut */
    FUZZ_HEAD("regions", "")
    "    v_mov_b32 v4, v0\n    v_and_b32 v3, v0, 7\n    v_mov_b32 v5, 3\n    v_mov_b32 v6, 0\n    v_mov_b32 v7, 0\n"
    "outer:\n    bssy b0, done\n"
    "inner:\n    v_setp_u32.eq p0, v3, 0\n    @p0 bra done, b0\n    v_and_b32 v8, v3, 1\n"
    "    v_setp_u32.eq p1, v8, 0\n    bssy b1, join\n    @p1 bra even, b1\n    v_mad_u32 v4, v4, 7, v3\n"
    "    v_shl_b32 v8, v0, 4\n    st.global.b32 [s8:9+v8], v4\n    bra join\n"
    "even:\n    v_add_u32 v5, v5, v4\n    @!p0 v_xor_b32 v6, v5, v0\n"
    "join:\n    bsync b1\n    v_sub_u32 v3, v3, 1\n    bra inner\n"
    "done:\n    bsync b0\n    v_add_u32 v7, v7, 1\n    v_add_u32 v3, v7, v0\n    v_and_b32 v3, v3, 3\n"
    "    v_setp_u32.lt p2, v7, c[n]\n    @p2 bra outer\n" FUZZ_TAIL,

    /* shared memory and barriers */
    FUZZ_HEAD("tile", ".shared 8192\n")
    "    v_sub_u32 v2, v0, s0\n    v_shl_b32 v2, v2, 2\n    ld.global.b32 v4, [s4:5+v1]\n    v_mov_b32 v6, 0\n"
    "    v_mov_b32 v7, 7\n    st.shared.b32 [v2], v4\n    bar.sync 0\n"
    "turn:\n    v_xor_b32 v3, v2, 4\n    ld.shared.b32 v5, [v3]\n    bar.sync 0\n    v_mad_u32 v4, v4, 3, v5\n"
    "    st.shared.b32 [v2], v4\n    v_and_b32 v8, v4, 12\n    st.shared.u8 [v2+4096], v4\n    bar.sync 1\n"
    "    v_add_u32 v8, v8, 4096\n    ld.shared.u16 v7, [v8]\n    v_add_u32 v6, v6, 1\n"
    "    v_setp_u32.lt p0, v6, c[n]\n    @p0 bra turn\n" FUZZ_TAIL,

    /* arrays in local memory */
    FUZZ_HEAD("locals", ".local 64\n")
    "    v_mov_b32 v3, 0\n    v_mov_b32 v4, v0\n    v_mov_b32 v5, 1\n"
    "fill:\n    v_shl_b32 v8, v3, 2\n    v_mad_u32 v4, v4, 5, v5\n    st.local.b32 [v8], v4\n"
    "    v_add_u32 v3, v3, 1\n    v_setp_u32.lt p0, v3, 16\n    @p0 bra fill\n    v_mov_b32 v3, 0\n"
    "mix:\n    v_xor_b32 v8, v4, v5\n    v_and_b32 v8, v8, 15\n    v_shl_b32 v9, v8, 2\n    ld.local.b32 v6, [v9]\n"
    "    v_add_u32 v5, v5, v6\n    v_and_b32 v9, v5, 0x3e\n    st.local.u16 [v9], v5\n    ld.local.s8 v7, [v8+17]\n"
    "    v_add_u32 v4, v4, v7\n    v_and_b32 v9, v8, 8\n    st.local.b64 [v9], v4:5\n    v_add_u32 v3, v3, 1\n"
    "    v_setp_u32.lt p0, v3, c[n]\n    @p0 bra mix\n    ld.local.v2.b32 v6:7, [8]\n" FUZZ_TAIL,

    /* 64-bit arithmetic, and addresses in pairs */
    FUZZ_HEAD("wide", "")
    "    v_mov_b64 v2:3, s4:5\n    v_madwide_u32 v2:3, v0, 8, v2:3\n    ld.global.b64 v4:5, [v2:3]\n"
    "    v_mov_b64 v6:7, 1\n    v_mov_b32 v8, 0\n    v_mov_b64 v14:15, s8:9\n    v_lea_u32 v14:15, v0, 4, v14:15\n"
    "again:\n    v_mul_u64 v6:7, v6:7, v4:5\n    v_add_u64 v6:7, v6:7, v2:3\n    v_shr_u64 v10:11, v6:7, 7\n"
    "    v_xor_b32 v4, v4, v10\n    v_rem_u64 v12:13, v10:11, 1000\n    v_setp_s64.gt p1, v6:7, v12:13\n"
    "    @p1 v_sub_u64 v6:7, v6:7, v12:13\n    v_addc_u32 v5, p2, v5, v11\n    v_addc_u32 v4, v4, v8, p2\n"
    "    v_selp_b64 v4:5, v4:5, v6:7, p1\n    st.global.b64 [v14:15+8], v6:7\n    v_add_u32 v8, v8, 1\n"
    "    v_setp_u32.lt p0, v8, c[n]\n    @p0 bra again\n    v_cvt.u64.s32 v10:11, v4\n"
    "    v_sub_u64 v6:7, v6:7, v10:11\n    st.global.v2.b32 [v14:15], v4:5\n    st.global.b64 [v14:15+8], v6:7\n"
    "    exit\n.end\n",

    /* small sizes, scaled and signed offsets, scattered elements */
    FUZZ_HEAD("bytes", "")
    "    v_mov_b32 v3, 0\n    v_mov_b32 v7, 0\n    v_mul_u32 v9, v0, 16\n"
    "again:\n    v_add_u32 v2, v0, v3\n    ld.global.u8 v4, [s4:5+v2+3]\n    ld.global.s16 v5, [s6:7+v2*2]\n"
    "    ld.global.s8 v6, [s4:5+v4.s]\n    v_and_b32 v8, v5, 31\n    ld.global.b64 v10:11, [s6:7+v8.s*8+16]\n"
    "    v_mad_u32 v7, v7, 3, v10\n    v_xor_b32 v7, v7, v11\n    v_add_u32 v7, v7, v6\n"
    "    v_setp_u32.gt p1, v4, 20\n    @p1 st.global.u8 [s8:9+v9+5], v7\n    @!p1 st.global.u16 [s8:9+v0*16+10], v5\n"
    "    ld.global.u16 v6, [s8:9+v9+4]\n    v_add_u32 v3, v3, 2\n    v_setp_u32.lt p0, v3, c[n]\n    @p0 bra again\n" FUZZ_TAIL,

    /* exits of some lanes */
    FUZZ_HEAD("exits", "")
    "    ld.global.b32 v4, [s4:5+v1]\n    v_and_b32 v5, v4, 7\n    v_mov_b32 v6, 5\n    v_mov_b32 v7, 0\n"
    "    v_setp_u32.eq p0, v5, c[m]\n    @p0 exit\n"
    "loop:\n    v_mad_u32 v6, v6, v4, v0\n    v_shl_b32 v8, v0, 4\n    st.global.b32 [s8:9+v8+4], v6\n"
    "    v_add_u32 v7, v7, 1\n    v_add_u32 v9, v7, v5\n    v_setp_u32.gt p1, v9, c[n]\n    @p1 exit\n"
    "    v_shr_u32 v9, v6, 28\n    v_setp_u32.eq p2, v9, 7\n    @p2 bra out\n    v_setp_u32.lt p3, v7, 30\n"
    "    @p3 bra loop\n"
    "out:\n" FUZZ_TAIL,

    /* the scalar unit */
    FUZZ_HEAD("scalars", "")
    "    s_ld.const.b32 s10, c[n]\n    s_mov_b32 s11, 0\n    s_mov_b64 s12:13, 1\n    s_and_b32 s16, s0, 63\n"
    "    ld.global.b32 v4, [s4:5+v1]\n"
    "again:\n    s_ld.global.b32 s14, [s4:5+s16+4]\n    s_mul_u32 s15, s14, 3\n    s_add_u64 s12:13, s12:13, s14:15\n"
    "    s_and_b32 s16, s12, 0xfc\n    v_add_u32 v4, v4, s15\n    v_xor_b32 v5, v4, s12\n"
    "    s_setp_u32.lt sp1, s16, 100\n    @sp1 s_add_u32 s12, s12, 1\n    @sp1 v_mov_b32 v6, s14\n"
    "    v_sp2p p2, sp1\n    @p2 v_add_u32 v6, v6, v0\n    s_add_u32 s11, s11, 1\n    s_setp_u32.lt sp0, s11, s10\n"
    "    @sp0 s_bra again\n    v_mov_b32 v7, s13\n    v_readlane_b32 s3, v4, 3\n    v_add_u32 v7, v7, s3\n" FUZZ_TAIL,

    /* floats and conversions, and constant bank 1 */
    ".bank f64 1.5, u64 0x123456789abcdef0\n"
    FUZZ_HEAD("floats", "")
    "    ld.global.b32 v4, [s4:5+v1]\n    ld.global.b32 v5, [s6:7+v1]\n    v_cvt.f32.s32 v6, v0\n"
    "    v_mov_b32 v7, 0\n    v_cvt.f64.f32 v10:11, v6\n"
    "again:\n    v_add_f32 v4, v4, v6\n    v_mul_f32 v5, v4, |v5|\n    v_min_f32 v8, v4, v5\n    v_rcp_f32 v9, v8\n"
    "    v_fma_f32.sat v6, v9, v5, -v4\n    v_fma_f64 v10:11, v10:11, c[1][0], v10:11\n    v_cvt.f32.f64 v8, v10:11\n"
    "    v_setp_f32.ltu p1, v8, v5\n    v_selp_b32 v5, v8, v5, p1\n    v_cvt.s32.f32.rzi v9, v8\n"
    "    v_cvt.f16.f32 v12, v8\n    v_lop3_b32 v9, v9, v12, v7, 0x96\n    v_ex2_f32 v12, v6\n"
    "    v_sqrt_f32 v12, v12\n    v_add_f32 v6, v6, v12\n    v_xor_b32 v4, v4, v9\n    v_add_u32 v7, v7, 1\n"
    "    v_setp_u32.lt p0, v7, c[n]\n    @p0 bra again\n    v_mov_b32 v7, v11\n"
    FUZZ_TAIL,

    /* reductions, which do not depend on the order of threads */
    FUZZ_HEAD("reduce", ".shared 256\n")
    "    v_and_b32 v2, v0, 15\n    v_shl_b32 v2, v2, 2\n    v_mov_b32 v3, 0\n    v_mov_b32 v4, v0\n"
    "    v_mov_b32 v5, 0\n"
    "again:\n    red.shared.add.u32 [v2], v4\n    v_add_u32 v4, v4, 3\n    v_add_u32 v3, v3, 1\n"
    "    v_setp_u32.lt p0, v3, c[n]\n    @p0 bra again\n    bar.sync 0\n    ld.shared.b32 v5, [v2]\n"
    "    red.global.add.u32 [s6:7+v2], v5\n    v_mov_b32 v6, v3\n    v_mov_b32 v7, c[m]\n" FUZZ_TAIL,

    /* a function and its stack, called from a loop */
    FUZZ_HEAD("calls", ".local 64\n")
    "    v_mov_b32 v2, 64\n    v_mov_b32 v4, v0\n    v_mov_b32 v10, 0\n    v_mov_b32 v6, 0\n    v_mov_b32 v7, 1\n"
    "again:\n    v_mad_u32 v4, v4, 3, v10\n    v_xor_b32 v6, v6, v4\n    v_add_u32 v7, v7, v6\n"
    "    v_and_b32 v11, v10, 3\n    v_setp_u32.eq p1, v11, 1\n    @p1 call v8:9, helper\n    v_add_u32 v10, v10, 1\n"
    "    v_setp_u32.lt p0, v10, c[n]\n    @p0 bra again\n    v_mov_b32 v5, v10\n" FUZZ_TAIL
    ".func helper\n    v_sub_u32 v2, v2, 16\n    st.local.b64 [v2+8], v8:9\n    v_mul_u32 v4, v4, v4\n"
    "    v_add_u32 v4, v4, 1\n    ld.local.b64 v8:9, [v2+8]\n    v_add_u32 v2, v2, 16\n    ret v8:9\n.end\n",

    /* rows and columns of a block with two dimensions; predicates; wide stores */
    FUZZ_HEAD("grid", "")
    "    v_s2r v2, %tid.x\n    v_s2r v3, %tid.y\n    s_s2r s2, %ntid.x\n    v_mul_u32 v8, v3, s2\n"
    "    v_add_u32 v8, v8, v2\n    v_lea_u32 v10:11, v8, 2, s4:5\n    ld.global.b32 v4, [v10:11]\n"
    "    v_mul_u32 v9, v2, 8\n    v_add_u32 v9, v9, v3\n    v_and_b32 v9, v9, 0xff\n"
    "    ld.global.b32 v5, [s6:7+v9*4]\n    v_setp_u32.lt p0, v2, c[m]\n    v_setp_u32.ge p1, v3, 2\n"
    "    v_plop3 p2, p3, p0, p1, pt, 0x60\n    v_mov_b32 v6, v9\n    v_mov_b32 v12, 0\n"
    "next:\n    @p2 v_add_u32 v4, v4, v5\n    @p3 v_sub_u32 v5, v5, v3\n    bssy b2, near\n    @p0 bra near, b2\n"
    "    v_shl_b32 v13, v0, 4\n    st.global.v2.b32 [s8:9+v13+8], v4:5\n    v_min_s32 v6, v6, v4\n"
    "near:\n    bsync b2\n    v_prmt_b32 v7, v4, 0x2103, v5\n    v_add_u32 v12, v12, 1\n"
    "    v_setp_u32.lt p4, v12, c[n]\n    @p4 bra next\n" FUZZ_TAIL,
};

#endif
