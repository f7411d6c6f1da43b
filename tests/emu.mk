# SPDX-License-Identifier: Apache-2.0
# single lanes, which the core is held against
reference_lane = tests/ref_lane.c tests/ref_float.c tests/ref_scalar.c tests/ref_root.c tests/ref_root.h \
	tests/ref_lane.h tests/ref_parts.h tests/prop_setup.h tests/prop_isa_random.h

check_PROGRAMS += tests/prop_exec
tests_prop_exec_SOURCES = tests/prop_exec.c tests/prop_exec_gen.h $(reference_lane)
tests_prop_exec_LDADD = liblanewise.a $(TEST_LIBS) -lm

check_PROGRAMS += tests/prop_sweep
tests_prop_sweep_SOURCES = tests/prop_sweep.c tests/prop_exec_gen.h $(reference_lane)
tests_prop_sweep_LDADD = liblanewise.a $(TEST_LIBS) -lm
check_PROGRAMS += tests/prop_proof
tests_prop_proof_SOURCES = tests/prop_proof.c tests/prop_exec_gen.h $(reference_lane)
tests_prop_proof_LDADD = liblanewise.a $(TEST_LIBS) -lm

check_PROGRAMS += tests/test_emu
tests_test_emu_SOURCES = tests/test_emu.c tests/emu_fixture.h
tests_test_emu_LDADD = liblanewise.a $(TEST_LIBS)

check_PROGRAMS += tests/test_math
tests_test_math_SOURCES = tests/test_math.c tests/ref_root.c tests/ref_root.h tests/sweep.h
tests_test_math_LDADD = liblanewise.a $(TEST_LIBS) -lm

check_PROGRAMS += tests/test_text
tests_test_text_SOURCES = tests/test_text.c
tests_test_text_LDADD = liblanewise.a $(TEST_LIBS)

check_PROGRAMS += tests/test_heap
tests_test_heap_SOURCES = tests/test_heap.c tests/emu_fixture.h
tests_test_heap_LDADD = liblanewise.a $(TEST_LIBS)

check_PROGRAMS += tests/test_texture
tests_test_texture_SOURCES = tests/test_texture.c tests/emu_fixture.h
tests_test_texture_LDADD = liblanewise.a $(TEST_LIBS)
check_SCRIPTS += tests/test_textures.sh
EXTRA_DIST += tests/test_textures.sh

check_PROGRAMS += tests/test_scalar
tests_test_scalar_SOURCES = tests/test_scalar.c tests/emu_fixture.h
tests_test_scalar_LDADD = liblanewise.a $(TEST_LIBS)

check_PROGRAMS += tests/test_tags tests/test_compact
tests_test_tags_SOURCES = tests/test_tags.c tests/tag_run.c tests/tag_run.h
tests_test_compact_SOURCES = tests/test_compact.c tests/tag_run.c tests/tag_run.h
tests_test_compact_LDADD = liblanewise.a $(TEST_LIBS)
tests_test_tags_LDADD = liblanewise.a $(TEST_LIBS)

check_PROGRAMS += tests/test_detect
tests_test_detect_SOURCES = tests/test_detect.c
tests_test_detect_LDADD = liblanewise.a $(TEST_LIBS)

check_PROGRAMS += tests/test_threads
tests_test_threads_SOURCES = tests/test_threads.c
tests_test_threads_LDADD = liblanewise.a $(TEST_LIBS)
check_SCRIPTS += tests/test_threads.sh tests/test_print.sh
EXTRA_DIST += tests/test_threads.sh tests/test_print.sh tests/kernels

check_PROGRAMS += tests/test_calls
tests_test_calls_SOURCES = tests/test_calls.c tests/emu_fixture.h
tests_test_calls_LDADD = liblanewise.a $(TEST_LIBS)

check_PROGRAMS += tests/test_event
tests_test_event_SOURCES = tests/test_event.c tests/emu_fixture.h
tests_test_event_LDADD = liblanewise.a $(TEST_LIBS)

check_PROGRAMS += tests/prop_endless
tests_prop_endless_SOURCES = tests/prop_endless.c tests/emu_fixture.h tests/prop_isa_random.h
tests_prop_endless_LDADD = liblanewise.a $(TEST_LIBS)

check_PROGRAMS += tests/prop_flow
tests_prop_flow_SOURCES = tests/prop_flow.c tests/ref_block.c $(reference_lane)
tests_prop_flow_LDADD = liblanewise.a $(TEST_LIBS) -lm

check_PROGRAMS += tests/test_device_launch
tests_test_device_launch_SOURCES = tests/test_device_launch.c tests/emu_fixture.h
tests_test_device_launch_LDADD = liblanewise.a $(TEST_LIBS)

check_SCRIPTS += tests/test_chain.sh
EXTRA_DIST += tests/test_chain.sh
