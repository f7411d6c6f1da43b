# SPDX-License-Identifier: Apache-2.0
check_PROGRAMS += tests/base/test_base
tests_base_test_base_SOURCES = tests/base/test_base.c
tests_base_test_base_LDADD = liblanewise.a $(TEST_LIBS)

check_PROGRAMS += tests/base/test_yaml
tests_base_test_yaml_SOURCES = tests/base/test_yaml.c
tests_base_test_yaml_LDADD = liblanewise.a $(TEST_LIBS)
