# SPDX-License-Identifier: Apache-2.0
liblanewise_a_SOURCES += \
	%D%/isa.h \
	%D%/isa_priv.h \
	%D%/isa_asm_priv.h \
	%D%/isa_asm_insn_priv.h \
	%D%/isa_elf_priv.h \
	%D%/insns.def \
	%D%/mods.def \
	%D%/specials.def \
	%D%/tokens.def \
	%D%/isa_table.c \
	%D%/isa_code.c \
	%D%/isa_object.c \
	%D%/isa_frame.c \
	%D%/isa_lex.c \
	%D%/isa_loops.c \
	%D%/isa_bounds.c \
	%D%/isa_refusals.c \
	%D%/isa_asm_operand.c \
	%D%/isa_asm_insn.c \
	%D%/isa_asm_directive.c \
	%D%/isa_asm.c \
	%D%/isa_print.c \
	%D%/isa_order.c \
	%D%/isa_control.c \
	%D%/isa_disasm.c \
	%D%/isa_meta.c \
	%D%/isa_symbol.c \
	%D%/isa_debug.c \
	%D%/isa_types.c \
	%D%/isa_dwarf.c \
	%D%/isa_dwarf_info.c \
	%D%/isa_elf.c \
	%D%/isa_manual.c
