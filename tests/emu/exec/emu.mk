# SPDX-License-Identifier: Apache-2.0
# The reference model of a single lane, with which tests compare the interpreter.
reference_lane = tests/model/ref_lane.c tests/model/ref_float.c tests/model/ref_scalar.c tests/model/ref_root.c tests/model/ref_root.h \
	tests/model/ref_lane.h tests/model/ref_parts.h tests/lib/prop_setup.h tests/isa/prop_isa_random.h

check_PROGRAMS += tests/emu/exec/prop_exec
tests_emu_exec_prop_exec_SOURCES = tests/emu/exec/prop_exec.c tests/emu/exec/prop_exec_gen.h $(reference_lane)
tests_emu_exec_prop_exec_LDADD = liblanewise.a $(TEST_LIBS) -lm

check_PROGRAMS += tests/emu/engine/prop_block_vector
tests_emu_engine_prop_block_vector_SOURCES = tests/emu/engine/prop_block_vector.c tests/emu/exec/prop_exec_gen.h $(reference_lane)
tests_emu_engine_prop_block_vector_LDADD = liblanewise.a $(TEST_LIBS) -lm
check_PROGRAMS += tests/emu/memory/prop_addr_cache
tests_emu_memory_prop_addr_cache_SOURCES = tests/emu/memory/prop_addr_cache.c tests/emu/exec/prop_exec_gen.h $(reference_lane)
tests_emu_memory_prop_addr_cache_LDADD = liblanewise.a $(TEST_LIBS) -lm

check_PROGRAMS += tests/emu/exec/test_emu
tests_emu_exec_test_emu_SOURCES = tests/emu/exec/test_emu.c tests/emu/exec/emu_fixture.h
tests_emu_exec_test_emu_LDADD = liblanewise.a $(TEST_LIBS)

check_PROGRAMS += tests/emu/exec/test_layers
tests_emu_exec_test_layers_SOURCES = tests/emu/exec/test_layers.c tests/emu/exec/emu_fixture.h tests/emu/exec/layers_check.h
tests_emu_exec_test_layers_LDADD = liblanewise.a $(TEST_LIBS)

check_PROGRAMS += tests/emu/exec/test_math
tests_emu_exec_test_math_SOURCES = tests/emu/exec/test_math.c tests/model/ref_root.c tests/model/ref_root.h tests/lib/exhaustive.h
tests_emu_exec_test_math_LDADD = liblanewise.a $(TEST_LIBS) -lm

check_PROGRAMS += tests/emu/exec/test_text
tests_emu_exec_test_text_SOURCES = tests/emu/exec/test_text.c
tests_emu_exec_test_text_LDADD = liblanewise.a $(TEST_LIBS)

check_PROGRAMS += tests/emu/memory/test_heap
tests_emu_memory_test_heap_SOURCES = tests/emu/memory/test_heap.c tests/emu/exec/emu_fixture.h
tests_emu_memory_test_heap_LDADD = liblanewise.a $(TEST_LIBS)

check_PROGRAMS += tests/emu/exec/test_texture
tests_emu_exec_test_texture_SOURCES = tests/emu/exec/test_texture.c tests/emu/exec/emu_fixture.h
tests_emu_exec_test_texture_LDADD = liblanewise.a $(TEST_LIBS)
check_SCRIPTS += tests/emu/exec/test_textures.sh
EXTRA_DIST += tests/emu/exec/test_textures.sh

check_PROGRAMS += tests/emu/exec/test_scalar
tests_emu_exec_test_scalar_SOURCES = tests/emu/exec/test_scalar.c tests/emu/exec/emu_fixture.h
tests_emu_exec_test_scalar_LDADD = liblanewise.a $(TEST_LIBS)

check_PROGRAMS += tests/emu/tags/test_tags tests/emu/tags/test_compact
tests_emu_tags_test_tags_SOURCES = tests/emu/tags/test_tags.c tests/emu/tags/tag_run.c tests/emu/tags/tag_run.h
tests_emu_tags_test_compact_SOURCES = tests/emu/tags/test_compact.c tests/emu/tags/tag_run.c tests/emu/tags/tag_run.h
tests_emu_tags_test_compact_LDADD = liblanewise.a $(TEST_LIBS)
tests_emu_tags_test_tags_LDADD = liblanewise.a $(TEST_LIBS)

check_PROGRAMS += tests/emu/tags/test_detect
tests_emu_tags_test_detect_SOURCES = tests/emu/tags/test_detect.c
tests_emu_tags_test_detect_LDADD = liblanewise.a $(TEST_LIBS)

check_PROGRAMS += tests/emu/engine/test_threads
tests_emu_engine_test_threads_SOURCES = tests/emu/engine/test_threads.c
tests_emu_engine_test_threads_LDADD = liblanewise.a $(TEST_LIBS)
check_SCRIPTS += tests/emu/engine/test_threads.sh tests/emu/exec/test_print.sh
EXTRA_DIST += tests/emu/engine/test_threads.sh tests/emu/exec/test_print.sh tests/kernels

check_PROGRAMS += tests/emu/exec/test_calls
tests_emu_exec_test_calls_SOURCES = tests/emu/exec/test_calls.c tests/emu/exec/emu_fixture.h
tests_emu_exec_test_calls_LDADD = liblanewise.a $(TEST_LIBS)

check_PROGRAMS += tests/emu/exec/test_event
tests_emu_exec_test_event_SOURCES = tests/emu/exec/test_event.c tests/emu/exec/emu_fixture.h
tests_emu_exec_test_event_LDADD = liblanewise.a $(TEST_LIBS)

check_PROGRAMS += tests/emu/engine/prop_endless
tests_emu_engine_prop_endless_SOURCES = tests/emu/engine/prop_endless.c tests/emu/exec/emu_fixture.h tests/isa/prop_isa_random.h
tests_emu_engine_prop_endless_LDADD = liblanewise.a $(TEST_LIBS)

check_PROGRAMS += tests/emu/exec/prop_flow
tests_emu_exec_prop_flow_SOURCES = tests/emu/exec/prop_flow.c tests/emu/exec/prop_flow_gen.c tests/emu/exec/prop_flow_gen.h \
	tests/emu/exec/layers_check.h tests/model/ref_block.c $(reference_lane)
tests_emu_exec_prop_flow_LDADD = liblanewise.a $(TEST_LIBS) -lm

check_PROGRAMS += tests/emu/exec/test_device_launch
tests_emu_exec_test_device_launch_SOURCES = tests/emu/exec/test_device_launch.c tests/emu/exec/emu_fixture.h
tests_emu_exec_test_device_launch_LDADD = liblanewise.a $(TEST_LIBS)

check_SCRIPTS += tests/emu/exec/test_chain.sh
EXTRA_DIST += tests/emu/exec/test_chain.sh
