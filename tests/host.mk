# SPDX-License-Identifier: Apache-2.0
check_PROGRAMS += tests/test_library
tests_test_library_SOURCES = tests/test_library.c
tests_test_library_LDADD = $(HOST_LIBS) $(CMOCKA_LIBS)
check_SCRIPTS += tests/test_install.sh
EXTRA_DIST += tests/test_install.sh
