# SPDX-License-Identifier: Apache-2.0
check_PROGRAMS += tests/test_base
tests_test_base_SOURCES = tests/test_base.c
tests_test_base_LDADD = liblanewise.a $(TEST_LIBS)

check_PROGRAMS += tests/test_yaml
tests_test_yaml_SOURCES = tests/test_yaml.c
tests_test_yaml_LDADD = liblanewise.a $(TEST_LIBS)
