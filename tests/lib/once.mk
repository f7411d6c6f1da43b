# SPDX-License-Identifier: Apache-2.0
# Under the name of each clang that is here: tests/lib/compile_once.c.
check_PROGRAMS += tests/lib/compile_once
tests_lib_compile_once_SOURCES = tests/lib/compile_once.c
check_DATA += tests/lib/once.stamp
tests/lib/once.stamp: tests/lib/compile_once$(EXEEXT)
	@$(MKDIR_P) tests/lib/once
	@for c in clang-21 clang-20 clang-19 clang-18 clang-17 clang-16 clang-15 clang-14 clang; do \
	    ! command -v $$c >/dev/null || ln -sf ../compile_once$(EXEEXT) tests/lib/once/$$c; \
	done
	@touch $@
CLEANFILES += tests/lib/once.stamp
clean-local: clean-once
clean-once:
	rm -rf tests/lib/once
.PHONY: clean-once
EXTRA_DIST += tests/lib/compile_once.sh
