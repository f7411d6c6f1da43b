# SPDX-License-Identifier: Apache-2.0
check_PROGRAMS += tests/launch/test_launch
tests_launch_test_launch_SOURCES = tests/launch/test_launch.c tests/launch/launch_fixture.h
tests_launch_test_launch_LDADD = liblanewise.a $(TEST_LIBS)
check_PROGRAMS += tests/launch/test_launch_steps
tests_launch_test_launch_steps_SOURCES = tests/launch/test_launch_steps.c tests/launch/launch_fixture.h
tests_launch_test_launch_steps_LDADD = liblanewise.a $(TEST_LIBS)
TESTS += tests/program/test_cmd.sh tests/launch/test_direct.sh tests/launch/test_template.sh tests/emu/exec/test_host_code.sh
EXTRA_DIST += tests/program/test_cmd.sh tests/launch/test_direct.sh tests/launch/test_template.sh tests/emu/exec/test_host_code.sh

check_PROGRAMS += tests/base/fuzz_yaml
tests_base_fuzz_yaml_SOURCES = tests/base/fuzz_yaml.c
tests_base_fuzz_yaml_LDADD = liblanewise.a $(TEST_LIBS)

check_PROGRAMS += tests/launch/test_oom_launch
tests_launch_test_oom_launch_SOURCES = tests/launch/test_oom_launch.c
tests_launch_test_oom_launch_LDADD = liblanewise.a $(TEST_LIBS)
tests_launch_test_oom_launch_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc
