# SPDX-License-Identifier: Apache-2.0
check_PROGRAMS += tests/test_launch
tests_test_launch_SOURCES = tests/test_launch.c tests/launch_fixture.h
tests_test_launch_LDADD = liblanewise.a $(TEST_LIBS)
check_PROGRAMS += tests/test_launch_steps
tests_test_launch_steps_SOURCES = tests/test_launch_steps.c tests/launch_fixture.h
tests_test_launch_steps_LDADD = liblanewise.a $(TEST_LIBS)
TESTS += tests/test_cmd.sh tests/test_direct.sh tests/test_template.sh tests/test_host.sh
EXTRA_DIST += tests/test_cmd.sh tests/test_direct.sh tests/test_template.sh tests/test_host.sh

check_PROGRAMS += tests/fuzz_yaml
tests_fuzz_yaml_SOURCES = tests/fuzz_yaml.c
tests_fuzz_yaml_LDADD = liblanewise.a $(TEST_LIBS)

check_PROGRAMS += tests/test_oom_launch
tests_test_oom_launch_SOURCES = tests/test_oom_launch.c
tests_test_oom_launch_LDADD = liblanewise.a $(TEST_LIBS)
tests_test_oom_launch_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc
