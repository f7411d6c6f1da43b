# SPDX-License-Identifier: Apache-2.0
check_PROGRAMS += tests/prop_isa
tests_prop_isa_SOURCES = tests/prop_isa.c tests/prop_isa_random.h
tests_prop_isa_LDADD = liblanewise.a $(TEST_LIBS)
