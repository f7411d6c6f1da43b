# SPDX-License-Identifier: Apache-2.0
liblanewise_a_SOURCES += %D%/isa.h %D%/isa_debug.h %D%/isa_prmt.h %D%/isa_slice.h %D%/isa_priv.h %D%/insns.def %D%/isa_code.c %D%/isa_print.c %D%/isa_table.c %D%/mods.def \
	%D%/specials.def %D%/tokens.def
liblanewise_a_SOURCES += %D%/object/isa_elf_priv.h %D%/object/isa_bounds.c %D%/object/isa_debug.c %D%/object/isa_dwarf.c \
	%D%/object/isa_dwarf_info.c %D%/object/isa_elf.c %D%/object/isa_expression.c %D%/object/isa_loops.c %D%/object/isa_meta.c \
	%D%/object/isa_object.c %D%/object/isa_refusals.c %D%/object/isa_scalars.c %D%/object/isa_scopes.c %D%/object/isa_slices.c \
	%D%/object/isa_symbol.c %D%/object/isa_types.c %D%/object/isa_compile_units.c
liblanewise_a_SOURCES += %D%/analysis/isa_control.c %D%/analysis/isa_control_fill.c %D%/analysis/isa_flow.c %D%/analysis/isa_frame.c %D%/analysis/isa_likely.c %D%/analysis/isa_order.c %D%/analysis/isa_rank.c %D%/analysis/isa_waitcnt.c
liblanewise_a_SOURCES += %D%/asm/isa_asm_insn_priv.h %D%/asm/isa_asm_priv.h %D%/asm/isa_asm.c %D%/asm/isa_asm_directive.c \
	%D%/asm/isa_asm_insn.c %D%/asm/isa_asm_operand.c %D%/asm/isa_disasm.c %D%/asm/isa_lex.c \
	%D%/asm/isa_manual.c
liblanewise_a_SOURCES += %D%/slice/isa_slice_priv.h %D%/slice/isa_slice.c %D%/slice/isa_slice_finish.c \
	%D%/slice/isa_slice_graph.c %D%/slice/isa_slice_print.c %D%/slice/isa_slice_row.c %D%/slice/isa_slice_value.c
