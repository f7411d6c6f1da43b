# SPDX-License-Identifier: Apache-2.0
check_PROGRAMS += tests/emu/memory/test_memory tests/emu/memory/test_memory_exact tests/emu/memory/test_memory_kernels
tests_emu_memory_test_memory_SOURCES = tests/emu/memory/test_memory.c tests/emu/memory/test_memory_fix.h
tests_emu_memory_test_memory_LDADD = liblanewise.a $(TEST_LIBS)
tests_emu_memory_test_memory_exact_SOURCES = tests/emu/memory/test_memory_exact.c tests/emu/memory/test_memory_fix.h
tests_emu_memory_test_memory_exact_LDADD = liblanewise.a $(TEST_LIBS)
tests_emu_memory_test_memory_kernels_SOURCES = tests/emu/memory/test_memory_kernels.c
tests_emu_memory_test_memory_kernels_LDADD = liblanewise.a $(TEST_LIBS)
