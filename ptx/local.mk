# SPDX-License-Identifier: Apache-2.0
liblanewise_a_SOURCES += %D%/ptx.h %D%/ptx_priv.h %D%/ptx_insn_list.c %D%/ptx_ops.def %D%/ptx_provided_priv.h %D%/ptx_translate.c %D%/ptx_types.c \
	%D%/ptx_words.def
liblanewise_a_SOURCES += %D%/compiler/ptx_annotation_priv.h
liblanewise_a_SOURCES += %D%/text/ptx_lex.c %D%/text/ptx_source.c
liblanewise_a_SOURCES += %D%/debuginfo/ptx_debug_priv.h %D%/debuginfo/ptx_debug_varloc_priv.h %D%/debuginfo/ptx_debug.c \
	%D%/debuginfo/notes/ptx_debug_demand.c %D%/debuginfo/notes/ptx_debug_initialisers.c %D%/debuginfo/ptx_debug_duplicates.c %D%/debuginfo/ptx_debug_holders.c %D%/debuginfo/ptx_debug_inline.c \
	%D%/debuginfo/ptx_debug_keep.c %D%/debuginfo/ptx_debug_livevalues.c %D%/debuginfo/ptx_debug_locexpr.c %D%/debuginfo/notes/ptx_debug_noteflow.c %D%/debuginfo/notes/ptx_debug_notes.c \
	%D%/debuginfo/notes/ptx_debug_notes_priv.h %D%/debuginfo/notes/ptx_debug_noteassign.c %D%/debuginfo/notes/ptx_debug_notecheck.c %D%/debuginfo/notes/ptx_debug_noteflow_priv.h %D%/debuginfo/notes/ptx_debug_notedoubt.c %D%/debuginfo/notes/ptx_debug_notemerge.c %D%/debuginfo/notes/ptx_debug_notepaths.c %D%/debuginfo/notes/ptx_debug_notememory.c %D%/debuginfo/notes/ptx_debug_memoryuses.c %D%/debuginfo/notes/ptx_debug_memory_priv.h %D%/debuginfo/notes/ptx_debug_notesources.c %D%/debuginfo/notes/ptx_debug_notesources_priv.h %D%/debuginfo/notes/ptx_debug_notevalues.c %D%/debuginfo/ptx_debug_tree.c \
	%D%/debuginfo/ptx_debug_scopes.c %D%/debuginfo/ptx_debug_varloc.c %D%/debuginfo/ptx_debug_write.c
liblanewise_a_SOURCES += %D%/parse/ptx_parse.c %D%/parse/ptx_parse_body.c %D%/parse/ptx_parse_call.c %D%/parse/ptx_parse_version.c %D%/parse/ptx_parse_data.c \
	%D%/parse/ptx_expand_priv.h %D%/parse/ptx_expand.c %D%/parse/ptx_expand_bulk.c %D%/parse/ptx_expand_matrix_priv.h %D%/parse/ptx_expand_matrix.c \
	%D%/parse/ptx_expand_mbarrier.c %D%/parse/ptx_expand_wmma.c %D%/parse/ptx_expand_surface.c
liblanewise_a_SOURCES += %D%/analysis/ptx_affine.c %D%/analysis/ptx_call_graph.c %D%/analysis/ptx_cfg.c \
	%D%/analysis/ptx_divergence.c %D%/analysis/ptx_dominators.c %D%/analysis/ptx_liveness.c \
	%D%/analysis/ptx_node_split.c %D%/analysis/ptx_object_bounds.c
liblanewise_a_SOURCES += %D%/select/ptx_select_priv.h %D%/select/ptx_param.c %D%/select/ptx_printf_args.c %D%/select/ptx_select.c \
	%D%/select/ptx_select_alu.c %D%/select/ptx_select_arith.c %D%/select/ptx_select_call.c %D%/select/ptx_select_launch.c \
	%D%/select/ptx_select_data.c %D%/select/ptx_select_mem.c %D%/select/ptx_select_operand.c \
	%D%/select/ptx_select_packed.c %D%/select/ptx_select_texture.c %D%/select/ptx_select_warp.c \
	%D%/select/ptx_verify_modifiers.c %D%/select/ptx_verify_types.c %D%/select/ptx_verify_version.c
liblanewise_a_SOURCES += %D%/transform/ptx_address.c %D%/transform/ptx_barrier.c %D%/transform/ptx_barrier_cycles.c \
	%D%/transform/ptx_barrier_regs.c %D%/transform/ptx_ifconv.c %D%/transform/ptx_lat.c %D%/transform/ptx_narrow.c \
	%D%/transform/ptx_opt.c %D%/transform/ptx_scalar.c
liblanewise_a_SOURCES += %D%/codegen/ptx_alloc.c %D%/codegen/ptx_emit.c %D%/codegen/ptx_frame.c %D%/codegen/ptx_layout.c \
	%D%/codegen/ptx_spill.c
include ptx/compiler/clang.mk
