# SPDX-License-Identifier: Apache-2.0
check_PROGRAMS += tests/emu/exec/test_vectors
tests_emu_exec_test_vectors_SOURCES = tests/emu/exec/test_vectors.c tests/lib/prop_setup.h tests/isa/prop_isa_random.h
tests_emu_exec_test_vectors_LDADD = liblanewise.a $(TEST_LIBS)
EXTRA_DIST += tests/emu/exec/vectors
