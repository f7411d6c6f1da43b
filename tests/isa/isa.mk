# SPDX-License-Identifier: Apache-2.0
check_PROGRAMS += tests/isa/test_isa_table tests/isa/test_isa_asm tests/isa/test_isa_object \
	tests/isa/test_isa_manual tests/isa/test_isa_oom tests/isa/prop_isa tests/isa/fuzz_asm tests/isa/fuzz_decode
tests_isa_test_isa_table_SOURCES = tests/isa/test_isa_table.c tests/isa/prop_isa_random.h
tests_isa_test_isa_table_LDADD = liblanewise.a $(TEST_LIBS)
tests_isa_test_isa_asm_SOURCES = tests/isa/test_isa_asm.c tests/isa/prop_isa_object.h
tests_isa_test_isa_asm_LDADD = liblanewise.a $(TEST_LIBS)
tests_isa_test_isa_object_SOURCES = tests/isa/test_isa_object.c tests/isa/prop_isa_object.h \
	tests/isa/prop_isa_random.h
tests_isa_test_isa_object_LDADD = liblanewise.a $(TEST_LIBS)
tests_isa_test_isa_manual_SOURCES = tests/isa/test_isa_manual.c
tests_isa_test_isa_manual_LDADD = liblanewise.a $(TEST_LIBS)
tests_isa_test_isa_oom_SOURCES = tests/isa/test_isa_oom.c
tests_isa_test_isa_oom_LDADD = liblanewise.a $(TEST_LIBS)
tests_isa_test_isa_oom_LDFLAGS = $(AM_LDFLAGS) \
	-Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc,--wrap=strdup
tests_isa_prop_isa_SOURCES = tests/isa/prop_isa.c tests/isa/prop_isa_random.h
tests_isa_prop_isa_LDADD = liblanewise.a $(TEST_LIBS)
tests_isa_fuzz_asm_SOURCES = tests/isa/fuzz_asm.c tests/isa/fuzz_isa_replay.h tests/isa/prop_isa_object.h
tests_isa_fuzz_asm_LDADD = liblanewise.a $(TEST_LIBS)
tests_isa_fuzz_decode_SOURCES = tests/isa/fuzz_decode.c tests/isa/fuzz_isa_replay.h tests/isa/prop_isa_object.h
tests_isa_fuzz_decode_LDADD = liblanewise.a $(TEST_LIBS)
EXTRA_DIST += tests/isa/corpus/asm tests/isa/corpus/decode

check_PROGRAMS += tests/isa/test_waitcnt
tests_isa_test_waitcnt_SOURCES = tests/isa/test_waitcnt.c
tests_isa_test_waitcnt_LDADD = liblanewise.a $(TEST_LIBS)

check_PROGRAMS += tests/isa/test_ranks
tests_isa_test_ranks_SOURCES = tests/isa/test_ranks.c tests/lib/object_fixture.h
tests_isa_test_ranks_LDADD = liblanewise.a $(TEST_LIBS)
