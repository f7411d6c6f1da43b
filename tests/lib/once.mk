# SPDX-License-Identifier: Apache-2.0
# For each installed clang, tests/lib/once has a link with the compiler's name to compile_once; see tests/lib/compile_once.c.
EXTRA_PROGRAMS += tests/lib/compile_once
tests_lib_compile_once_SOURCES = tests/lib/compile_once.c
# compile_once is built without sanitizers, because it loads an object into the compiler, and a sanitizer's runtime must be the
# first library that a process loads.
tests_lib_compile_once_CFLAGS = -std=gnu11 $(WARN_CFLAGS) $(WERROR)
tests_lib_compile_once_LDFLAGS =
check_DATA += tests/lib/once.stamp
tests/lib/once.stamp: tests/lib/compile_once$(EXEEXT)
	@$(MKDIR_P) tests/lib/once
	@for c in clang-21 clang-20 clang-19 clang-18 clang-17 clang-16 clang-15 clang-14 clang; do \
	    ! command -v $$c >/dev/null || ln -sf ../compile_once$(EXEEXT) tests/lib/once/$$c; \
	done
	@touch $@
# tests/lib/prepared has the output of the programs in tests/program/expected, which kernels/prepare copies for each test.
check_DATA += tests/lib/prepared/done
# BUILD_CC: compiler for programs that run on this host, even if the build is for another one.
BUILD_CC = $(CC)
tests/lib/prepared/done: $(srcdir)/kernels/prepare $(wildcard $(srcdir)/tests/program/expected/*.c)
	@rm -rf tests/lib/prepared
	@LW_PREPARED= CC='$(BUILD_CC)' sh $(srcdir)/kernels/prepare tests/lib/prepared/all
	@$(MKDIR_P) tests/lib/prepared/made
	@cd tests/lib/prepared && for f in all/*; do test -L $$f || mv $$f made/ || exit 1; done; rm -rf all; touch done
CLEANFILES += tests/lib/once.stamp tests/lib/compile_once$(EXEEXT)
clean-local: clean-once
clean-once:
	rm -rf tests/lib/once tests/lib/prepared tests/lib/compiled
.PHONY: clean-once
check_SCRIPTS += tests/lib/test_compile_once.sh
EXTRA_DIST += tests/lib/compile_once.sh tests/lib/test_compile_once.sh
