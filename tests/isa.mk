# SPDX-License-Identifier: Apache-2.0
check_PROGRAMS += tests/test_isa_table tests/test_isa_asm tests/test_isa_object \
	tests/test_isa_manual tests/test_isa_oom tests/prop_isa tests/fuzz_asm tests/fuzz_decode
tests_test_isa_table_SOURCES = tests/test_isa_table.c tests/prop_isa_random.h
tests_test_isa_table_LDADD = liblanewise.a $(TEST_LIBS)
tests_test_isa_asm_SOURCES = tests/test_isa_asm.c tests/prop_isa_object.h
tests_test_isa_asm_LDADD = liblanewise.a $(TEST_LIBS)
tests_test_isa_object_SOURCES = tests/test_isa_object.c tests/prop_isa_object.h \
	tests/prop_isa_random.h
tests_test_isa_object_LDADD = liblanewise.a $(TEST_LIBS)
tests_test_isa_manual_SOURCES = tests/test_isa_manual.c
tests_test_isa_manual_LDADD = liblanewise.a $(TEST_LIBS)
tests_test_isa_oom_SOURCES = tests/test_isa_oom.c
tests_test_isa_oom_LDADD = liblanewise.a $(TEST_LIBS)
tests_test_isa_oom_LDFLAGS = $(AM_LDFLAGS) \
	-Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc,--wrap=strdup
tests_prop_isa_SOURCES = tests/prop_isa.c tests/prop_isa_random.h
tests_prop_isa_LDADD = liblanewise.a $(TEST_LIBS)
tests_fuzz_asm_SOURCES = tests/fuzz_asm.c tests/fuzz_isa_replay.h tests/prop_isa_object.h
tests_fuzz_asm_LDADD = liblanewise.a $(TEST_LIBS)
tests_fuzz_decode_SOURCES = tests/fuzz_decode.c tests/fuzz_isa_replay.h tests/prop_isa_object.h
tests_fuzz_decode_LDADD = liblanewise.a $(TEST_LIBS)
EXTRA_DIST += tests/corpus/asm tests/corpus/decode
