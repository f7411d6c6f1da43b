# SPDX-License-Identifier: Apache-2.0
check_PROGRAMS += tests/test_vectors
tests_test_vectors_SOURCES = tests/test_vectors.c tests/prop_setup.h tests/prop_isa_random.h
tests_test_vectors_LDADD = liblanewise.a $(TEST_LIBS)
EXTRA_DIST += tests/vectors
