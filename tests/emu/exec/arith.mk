# SPDX-License-Identifier: Apache-2.0
check_PROGRAMS += tests/emu/exec/test_half
tests_emu_exec_test_half_SOURCES = tests/emu/exec/test_half.c tests/model/soft_float.h tests/lib/exhaustive.h
tests_emu_exec_test_half_LDADD = liblanewise.a $(TEST_LIBS) -lm

check_PROGRAMS += tests/emu/exec/test_convert
tests_emu_exec_test_convert_SOURCES = tests/emu/exec/test_convert.c tests/model/soft_float.h tests/lib/exhaustive.h
tests_emu_exec_test_convert_LDADD = liblanewise.a $(TEST_LIBS) -lm

check_PROGRAMS += tests/ptx/test_ptx_arith
tests_ptx_test_ptx_arith_SOURCES = tests/ptx/test_ptx_arith.c tests/model/soft_float.h
tests_ptx_test_ptx_arith_LDADD = liblanewise.a $(TEST_LIBS) -lm
