# SPDX-License-Identifier: Apache-2.0
check_PROGRAMS += tests/test_hash
tests_test_hash_SOURCES = tests/test_hash.c tests/history_fixture.h
tests_test_hash_LDADD = liblanewise.a $(TEST_LIBS)
