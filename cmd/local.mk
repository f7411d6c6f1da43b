# SPDX-License-Identifier: Apache-2.0
bin_PROGRAMS += lanewise
lanewise_SOURCES = \
	%D%/cmd_check.c \
	%D%/cmd_compile.c \
	%D%/cmd_debug.c \
	%D%/cmd_checkpoint.c \
	%D%/cmd_end.c \
	%D%/cmd_gdb.c \
	%D%/cmd_machine.c \
	%D%/cmd_main.c \
	%D%/cmd_options.c \
	%D%/cmd_priv.h \
	%D%/cmd_run.c \
	%D%/cmd_stats.c \
	%D%/cmd_timing.c
lanewise_LDADD = liblanewise.a $(LANEWISE_LIBS)
dist_man_MANS += docs/lanewise.1
# Pages are installed where their links to each other and to the examples hold.
dist_doc_DATA = \
	docs/abi.md docs/assembly.md docs/check.md docs/ci.md docs/coverage.md docs/debugger-tests.md docs/decisions.md \
	docs/fp.md docs/front-end-clang.md docs/front-end.md docs/gdb.md docs/history.md docs/isa.md docs/kernels.md \
	docs/launch-files.md docs/launches.md docs/library.md docs/machine.md docs/memory.md docs/object.md \
	docs/performance.md docs/printf.md docs/reconvergence.md docs/run.md docs/shell.md docs/splits.md \
	docs/suites.md docs/tags.md docs/testing.md docs/timing-core.md docs/timing-counters.md \
	docs/timing-machines.md docs/timing-memory.md docs/timing-microbenchmarks.md docs/timing.md docs/vscode.md
tutorialdir = $(docdir)/tutorial
dist_tutorial_DATA = docs/tutorial/first-assembly.md docs/tutorial/first-check.md docs/tutorial/first-gdb.md \
	docs/tutorial/first-run.md docs/tutorial/first-shell.md docs/tutorial/first-timing.md
referencedir = $(docdir)/reference
dist_reference_DATA = docs/reference/glossary.md
completionsdir = $(datadir)/bash-completion/completions
dist_completions_DATA = %D%/lanewise.bash
