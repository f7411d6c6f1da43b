# SPDX-License-Identifier: Apache-2.0
check_PROGRAMS += tests/ptx/test_ptx_parse tests/ptx/test_ptx_flow tests/ptx/test_ptx_alloc \
	tests/ptx/test_ptx_run tests/ptx/test_ptx_call tests/ptx/test_ptx_link tests/ptx/test_ptx_oom tests/ptx/prop_ptx tests/ptx/eval/prop_ptx_eval tests/ptx/fuzz_ptx
tests_ptx_test_ptx_parse_SOURCES = tests/ptx/test_ptx_parse.c
tests_ptx_test_ptx_parse_LDADD = liblanewise.a $(TEST_LIBS)
tests_ptx_test_ptx_flow_SOURCES = tests/ptx/test_ptx_flow.c
tests_ptx_test_ptx_flow_LDADD = liblanewise.a $(TEST_LIBS)
tests_ptx_test_ptx_alloc_SOURCES = tests/ptx/test_ptx_alloc.c
tests_ptx_test_ptx_alloc_LDADD = liblanewise.a $(TEST_LIBS)
check_PROGRAMS += tests/ptx/test_ptx_hostile
tests_ptx_test_ptx_hostile_SOURCES = tests/ptx/test_ptx_hostile.c
tests_ptx_test_ptx_hostile_LDADD = liblanewise.a $(TEST_LIBS)
check_PROGRAMS += tests/ptx/test_ptx_expand
tests_ptx_test_ptx_expand_SOURCES = tests/ptx/test_ptx_expand.c tests/ptx/ptx_refusal.h
tests_ptx_test_ptx_expand_LDADD = liblanewise.a $(TEST_LIBS)
check_PROGRAMS += tests/ptx/test_ptx_matrix
tests_ptx_test_ptx_matrix_SOURCES = tests/ptx/test_ptx_matrix.c tests/ptx/ptx_refusal.h
tests_ptx_test_ptx_matrix_LDADD = liblanewise.a $(TEST_LIBS)
check_PROGRAMS += tests/ptx/test_ptx_texture
tests_ptx_test_ptx_texture_SOURCES = tests/ptx/test_ptx_texture.c tests/ptx/ptx_refusal.h
tests_ptx_test_ptx_texture_LDADD = liblanewise.a $(TEST_LIBS)
tests_ptx_test_ptx_run_SOURCES = tests/ptx/test_ptx_run.c
tests_ptx_test_ptx_run_LDADD = liblanewise.a $(TEST_LIBS)
tests_ptx_test_ptx_call_SOURCES = tests/ptx/test_ptx_call.c
tests_ptx_test_ptx_call_LDADD = liblanewise.a $(TEST_LIBS)
tests_ptx_test_ptx_link_SOURCES = tests/ptx/test_ptx_link.c
tests_ptx_test_ptx_link_LDADD = liblanewise.a $(TEST_LIBS)
tests_ptx_test_ptx_oom_SOURCES = tests/ptx/test_ptx_oom.c
tests_ptx_test_ptx_oom_LDADD = liblanewise.a $(TEST_LIBS)
tests_ptx_test_ptx_oom_LDFLAGS = $(AM_LDFLAGS) \
	-Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc,--wrap=strdup
tests_ptx_prop_ptx_SOURCES = tests/ptx/prop_ptx.c
tests_ptx_prop_ptx_LDADD = liblanewise.a $(TEST_LIBS)
# The evaluator of PTX shares no code with the translator. It needs -frounding-math because it sets the host processor's rounding
# mode.
tests_ptx_eval_prop_ptx_eval_SOURCES = tests/ptx/eval/prop_ptx_eval.c tests/ptx/eval/ptx_make.c tests/ptx/eval/ptx_make_run.c tests/ptx/eval/ptx_make.h \
	tests/ptx/eval/ptx_eval.c tests/ptx/eval/ptx_eval_read.c tests/ptx/eval/ptx_eval_math.c tests/ptx/eval/ptx_eval.h \
	tests/ptx/eval/ptx_eval_priv.h tests/model/ref_root.c tests/model/ref_root.h
tests_ptx_eval_prop_ptx_eval_CFLAGS = $(AM_CFLAGS) -frounding-math
tests_ptx_eval_prop_ptx_eval_LDADD = liblanewise.a $(TEST_LIBS) -lm
check_PROGRAMS += tests/ptx/prop_ptx_affine
tests_ptx_prop_ptx_affine_SOURCES = tests/ptx/prop_ptx_affine.c
tests_ptx_prop_ptx_affine_LDADD = liblanewise.a $(TEST_LIBS)
tests_ptx_fuzz_ptx_SOURCES = tests/ptx/fuzz_ptx.c tests/isa/fuzz_isa_replay.h
tests_ptx_fuzz_ptx_LDADD = liblanewise.a $(TEST_LIBS)
check_PROGRAMS += tests/ptx/test_ptx_growth
tests_ptx_test_ptx_growth_SOURCES = tests/ptx/test_ptx_growth.c
tests_ptx_test_ptx_growth_LDADD = liblanewise.a $(TEST_LIBS)
check_SCRIPTS += tests/ptx/test_cache.sh tests/ptx/test_kernel_calls.sh tests/ptx/test_launches.sh tests/ptx/test_opencl_atomics.sh tests/ptx/test_opencl_builtins.sh tests/ptx/test_ptx_ops.sh
EXTRA_DIST += tests/ptx/test_cache.sh tests/ptx/test_kernel_calls.sh tests/ptx/test_launches.sh tests/ptx/test_opencl_atomics.sh tests/ptx/test_opencl_builtins.sh tests/ptx/test_ptx_ops.sh tests/ptx/data tests/ptx/corpus
check_PROGRAMS += tests/ptx/test_ptx_debug
tests_ptx_test_ptx_debug_SOURCES = tests/ptx/test_ptx_debug.c
tests_ptx_test_ptx_debug_LDADD = liblanewise.a $(TEST_LIBS)
check_PROGRAMS += tests/ptx/test_ptx_values
tests_ptx_test_ptx_values_SOURCES = tests/ptx/test_ptx_values.c tests/lib/compiler_fixture.h
tests_ptx_test_ptx_values_LDADD = liblanewise.a $(TEST_LIBS)
tests/ptx/test_ptx_values.$(OBJEXT): ptx/compiler/clang_words.inc
check_SCRIPTS += tests/ptx/test_dwarf.sh tests/ptx/test_spirv.sh
EXTRA_DIST += tests/ptx/test_spirv.sh tests/ptx/spirv/pieces.cl tests/ptx/spirv/written.spvasm
EXTRA_DIST += tests/ptx/test_dwarf.sh
check_PROGRAMS += tests/ptx/test_ptx_scalar
tests_ptx_test_ptx_scalar_SOURCES = tests/ptx/test_ptx_scalar.c
tests_ptx_test_ptx_scalar_LDADD = liblanewise.a $(TEST_LIBS)
check_PROGRAMS += tests/ptx/test_ptx_lat
tests_ptx_test_ptx_lat_SOURCES = tests/ptx/test_ptx_lat.c
tests_ptx_test_ptx_lat_LDADD = liblanewise.a $(TEST_LIBS)
check_PROGRAMS += tests/ptx/test_ptx_ifconv
tests_ptx_test_ptx_ifconv_SOURCES = tests/ptx/test_ptx_ifconv.c
tests_ptx_test_ptx_ifconv_LDADD = liblanewise.a $(TEST_LIBS)
EXTRA_PROGRAMS += bench/ptx_speed
bench_ptx_speed_SOURCES = bench/ptx_speed.c
bench_ptx_speed_LDADD = liblanewise.a $(LANEWISE_LIBS)
check_PROGRAMS += tests/isa/test_control
tests_isa_test_control_SOURCES = tests/isa/test_control.c
tests_isa_test_control_LDADD = liblanewise.a $(TEST_LIBS)
check_PROGRAMS += tests/isa/test_loops
tests_isa_test_loops_SOURCES = tests/isa/test_loops.c tests/lib/object_fixture.h
tests_isa_test_loops_LDADD = liblanewise.a $(TEST_LIBS)
check_PROGRAMS += tests/isa/test_bounds
tests_isa_test_bounds_SOURCES = tests/isa/test_bounds.c tests/lib/object_fixture.h
tests_isa_test_bounds_LDADD = liblanewise.a $(TEST_LIBS)
check_PROGRAMS += tests/ptx/test_ptx_legal
tests_ptx_test_ptx_legal_SOURCES = tests/ptx/test_ptx_legal.c
tests_ptx_test_ptx_legal_LDADD = liblanewise.a $(TEST_LIBS)
EXTRA_DIST += tests/ptx/ptx_legal.txt tests/ptx/ptx_since.txt
check_SCRIPTS += tests/clients/gdb_inlined.sh
EXTRA_DIST += tests/clients/gdb_inlined.sh
check_SCRIPTS += tests/clients/gdb_copies.sh
EXTRA_DIST += tests/clients/gdb_copies.sh
check_SCRIPTS += tests/clients/gdb_native_compare.sh
EXTRA_DIST += tests/clients/gdb_native_compare.sh
check_SCRIPTS += tests/ptx/test_compiler_words.sh tests/ptx/test_values_objects.sh
EXTRA_DIST += tests/ptx/test_compiler_words.sh tests/ptx/test_values_objects.sh
check_PROGRAMS += tests/ptx/silicon/test_ptx_silicon
tests_ptx_silicon_test_ptx_silicon_SOURCES = tests/ptx/silicon/test_ptx_silicon.c tests/ptx/silicon/silicon_forms.c \
	tests/ptx/silicon/silicon_forms.h tests/ptx/eval/ptx_make.c tests/ptx/eval/ptx_make_run.c tests/ptx/eval/ptx_make.h
tests_ptx_silicon_test_ptx_silicon_LDADD = liblanewise.a $(TEST_LIBS) -lm
EXTRA_DIST += tests/ptx/silicon/forms.txt tests/ptx/silicon/devices
