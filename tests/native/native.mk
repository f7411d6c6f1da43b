# SPDX-License-Identifier: Apache-2.0
check_PROGRAMS += tests/native/test_native_parts tests/native/test_native_regions tests/native/test_takeover tests/native/fuzz_native \
	tests/native/prop_native_grids
tests_native_test_native_parts_SOURCES = tests/native/test_native_parts.c
tests_native_test_native_parts_LDADD = liblanewise.a $(TEST_LIBS)
tests_native_test_native_regions_SOURCES = tests/native/test_native_regions.c
tests_native_test_native_regions_LDADD = liblanewise.a $(TEST_LIBS)
tests_native_test_takeover_SOURCES = tests/native/test_takeover.c
tests_native_test_takeover_LDADD = liblanewise.a $(TEST_LIBS)
tests_native_fuzz_native_SOURCES = tests/native/fuzz_native.c tests/native/fuzz_native_kernels.h \
	tests/native/fuzz_native_mutate.h
tests_native_fuzz_native_LDADD = liblanewise.a $(TEST_LIBS)
tests_native_prop_native_grids_SOURCES = tests/native/prop_native_grids.c tests/native/prop_grids_gen.c tests/native/prop_grids_gen.h
tests_native_prop_native_grids_LDADD = liblanewise.a $(TEST_LIBS)
native_scripts = tests/native/test_native.sh tests/native/prop_native.sh tests/native/test_native_auto.sh tests/native/test_native_cache.sh \
	tests/native/test_native_crash.sh tests/native/test_native_access.sh tests/native/test_native_float.sh tests/native/test_native_groups.sh tests/native/test_native_blocks.sh \
	tests/native/test_host_code.sh tests/native/test_native_reduce.sh
check_SCRIPTS += $(native_scripts)
EXTRA_DIST += $(native_scripts) %D%/native_lib.sh %D%/compare_lib.sh %D%/engines_lib.sh
