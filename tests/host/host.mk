# SPDX-License-Identifier: Apache-2.0
check_PROGRAMS += tests/host/test_library
tests_host_test_library_SOURCES = tests/host/test_library.c
tests_host_test_library_LDADD = $(HOST_LIBS) $(CMOCKA_LIBS)
check_SCRIPTS += tests/host/test_install.sh tests/host/test_python.sh
EXTRA_DIST += tests/host/test_install.sh tests/host/test_python.sh tests/host/python/test_abi.py tests/host/python/test_package.py tests/host/python/test_arguments.py
