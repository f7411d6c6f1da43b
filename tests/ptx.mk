# SPDX-License-Identifier: Apache-2.0
check_PROGRAMS += tests/test_ptx_parse tests/test_ptx_flow tests/test_ptx_alloc \
	tests/test_ptx_run tests/test_ptx_call tests/test_ptx_link tests/test_ptx_oom tests/prop_ptx tests/prop_ptx_eval tests/fuzz_ptx
tests_test_ptx_parse_SOURCES = tests/test_ptx_parse.c
tests_test_ptx_parse_LDADD = liblanewise.a $(TEST_LIBS)
tests_test_ptx_flow_SOURCES = tests/test_ptx_flow.c
tests_test_ptx_flow_LDADD = liblanewise.a $(TEST_LIBS)
tests_test_ptx_alloc_SOURCES = tests/test_ptx_alloc.c
tests_test_ptx_alloc_LDADD = liblanewise.a $(TEST_LIBS)
check_PROGRAMS += tests/test_ptx_texture
tests_test_ptx_texture_SOURCES = tests/test_ptx_texture.c
tests_test_ptx_texture_LDADD = liblanewise.a $(TEST_LIBS)
tests_test_ptx_run_SOURCES = tests/test_ptx_run.c
tests_test_ptx_run_LDADD = liblanewise.a $(TEST_LIBS)
tests_test_ptx_call_SOURCES = tests/test_ptx_call.c
tests_test_ptx_call_LDADD = liblanewise.a $(TEST_LIBS)
tests_test_ptx_link_SOURCES = tests/test_ptx_link.c
tests_test_ptx_link_LDADD = liblanewise.a $(TEST_LIBS)
tests_test_ptx_oom_SOURCES = tests/test_ptx_oom.c
tests_test_ptx_oom_LDADD = liblanewise.a $(TEST_LIBS)
tests_test_ptx_oom_LDFLAGS = $(AM_LDFLAGS) \
	-Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc,--wrap=strdup
tests_prop_ptx_SOURCES = tests/prop_ptx.c
tests_prop_ptx_LDADD = liblanewise.a $(TEST_LIBS)
# one evaluator that shares nothing with the translator; it rounds by the host's control register
tests_prop_ptx_eval_SOURCES = tests/prop_ptx_eval.c tests/ptx_make.c tests/ptx_make.h \
	tests/ptx_eval.c tests/ptx_eval_read.c tests/ptx_eval_math.c tests/ptx_eval.h \
	tests/ptx_eval_priv.h tests/ref_root.c tests/ref_root.h
tests_prop_ptx_eval_CFLAGS = $(AM_CFLAGS) -frounding-math
tests_prop_ptx_eval_LDADD = liblanewise.a $(TEST_LIBS) -lm
check_PROGRAMS += tests/prop_ptx_affine
tests_prop_ptx_affine_SOURCES = tests/prop_ptx_affine.c
tests_prop_ptx_affine_LDADD = liblanewise.a $(TEST_LIBS)
tests_fuzz_ptx_SOURCES = tests/fuzz_ptx.c tests/fuzz_isa_replay.h
tests_fuzz_ptx_LDADD = liblanewise.a $(TEST_LIBS)
check_PROGRAMS += tests/test_ptx_growth
tests_test_ptx_growth_SOURCES = tests/test_ptx_growth.c
tests_test_ptx_growth_LDADD = liblanewise.a $(TEST_LIBS)
check_SCRIPTS += tests/test_ptx_ops.sh
EXTRA_DIST += tests/test_ptx_ops.sh tests/ptx tests/corpus/ptx
check_PROGRAMS += tests/test_ptx_debug
tests_test_ptx_debug_SOURCES = tests/test_ptx_debug.c
tests_test_ptx_debug_LDADD = liblanewise.a $(TEST_LIBS)
check_SCRIPTS += tests/test_dwarf.sh
EXTRA_DIST += tests/test_dwarf.sh
check_PROGRAMS += tests/test_ptx_scalar
tests_test_ptx_scalar_SOURCES = tests/test_ptx_scalar.c
tests_test_ptx_scalar_LDADD = liblanewise.a $(TEST_LIBS)
check_PROGRAMS += tests/test_ptx_ifconv
tests_test_ptx_ifconv_SOURCES = tests/test_ptx_ifconv.c
tests_test_ptx_ifconv_LDADD = liblanewise.a $(TEST_LIBS)
EXTRA_PROGRAMS += bench/ptx_speed
bench_ptx_speed_SOURCES = bench/ptx_speed.c
bench_ptx_speed_LDADD = liblanewise.a $(LANEWISE_LIBS)
check_PROGRAMS += tests/test_control
tests_test_control_SOURCES = tests/test_control.c
tests_test_control_LDADD = liblanewise.a $(TEST_LIBS)
check_PROGRAMS += tests/test_loops
tests_test_loops_SOURCES = tests/test_loops.c
tests_test_loops_LDADD = liblanewise.a $(TEST_LIBS)
check_PROGRAMS += tests/test_ptx_legal
tests_test_ptx_legal_SOURCES = tests/test_ptx_legal.c
tests_test_ptx_legal_LDADD = liblanewise.a $(TEST_LIBS)
EXTRA_DIST += tests/ptx_legal.txt
check_SCRIPTS += tests/gdb_inlined.sh
EXTRA_DIST += tests/gdb_inlined.sh
check_SCRIPTS += tests/test_compiler_words.sh
EXTRA_DIST += tests/test_compiler_words.sh
