/* SPDX-License-Identifier: Apache-2.0 */
/* Interface between ptx_clang.c, which makes clang annotate kernels, and ptx_debug_tree.c, which reads the
 * annotations. */
#ifndef PTX_ANNOTATION_PRIV_H
#define PTX_ANNOTATION_PRIV_H

/** Prefix of an annotation (btf_decl_tag) with the block size of a kernel: "... 16, 16, 1". */
#define PTX_CLANG_BLOCK "lanewise.reqd_work_group_size "

#endif
