# SPDX-License-Identifier: Apache-2.0
check_PROGRAMS += tests/test_half
tests_test_half_SOURCES = tests/test_half.c tests/soft_float.h tests/sweep.h
tests_test_half_LDADD = liblanewise.a $(TEST_LIBS) -lm

check_PROGRAMS += tests/test_convert
tests_test_convert_SOURCES = tests/test_convert.c tests/soft_float.h tests/sweep.h
tests_test_convert_LDADD = liblanewise.a $(TEST_LIBS) -lm

check_PROGRAMS += tests/test_ptx_arith
tests_test_ptx_arith_SOURCES = tests/test_ptx_arith.c tests/soft_float.h
tests_test_ptx_arith_LDADD = liblanewise.a $(TEST_LIBS) -lm
