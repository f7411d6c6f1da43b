# SPDX-License-Identifier: Apache-2.0
check_SCRIPTS += tests/test_races.sh
check_SCRIPTS += tests/test_races_later.sh
EXTRA_DIST += tests/test_races_later.sh
EXTRA_DIST += tests/test_races.sh tests/zoo/races.cu tests/zoo/races.cl
check_PROGRAMS += tests/prop_races
tests_prop_races_SOURCES = tests/prop_races.c tests/emu_fixture.h
tests_prop_races_LDADD = liblanewise.a $(TEST_LIBS)
check_SCRIPTS += tests/test_uninitialised.sh
EXTRA_DIST += tests/test_uninitialised.sh tests/zoo/uninitialised.cl tests/zoo/uninitialised.cu
check_SCRIPTS += tests/test_arithmetic.sh
EXTRA_DIST += tests/test_arithmetic.sh
check_PROGRAMS += tests/prop_uninitialised
tests_prop_uninitialised_SOURCES = tests/prop_uninitialised.c
tests_prop_uninitialised_LDADD = liblanewise.a $(TEST_LIBS)
check_PROGRAMS += tests/prop_quiet
tests_prop_quiet_SOURCES = tests/prop_quiet.c
tests_prop_quiet_LDADD = liblanewise.a $(TEST_LIBS)
