/* SPDX-License-Identifier: Apache-2.0 */
/* Between ptx_clang.c, which lets clang annotate kernels, and ptx_debug_tree.c, which reads it. */
#ifndef PTX_ANNOTATION_PRIV_H
#define PTX_ANNOTATION_PRIV_H

/** Begins the text of an annotation (btf_decl_tag) with a kernel's block: "... 16, 16, 1". */
#define PTX_CLANG_BLOCK "lanewise.reqd_work_group_size "

#endif
