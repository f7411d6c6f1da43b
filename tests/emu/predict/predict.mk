# SPDX-License-Identifier: Apache-2.0
check_PROGRAMS += tests/emu/predict/test_predict
# test_predict_runs.sh runs this program, which is no test itself.
EXTRA_PROGRAMS += tests/emu/predict/predict_runs
check_DATA += tests/emu/predict/predict_runs$(EXEEXT)
tests_emu_predict_predict_runs_SOURCES = tests/emu/predict/predict_runs.c tests/emu/predict/predict_watch.c \
	tests/emu/predict/predict_watch.h
tests_emu_predict_predict_runs_LDADD = liblanewise.a $(TEST_LIBS)
tests_emu_predict_test_predict_SOURCES = tests/emu/predict/test_predict.c tests/emu/predict/predict_watch.c \
	tests/emu/predict/predict_watch.h
tests_emu_predict_test_predict_LDADD = liblanewise.a $(TEST_LIBS)
check_PROGRAMS += tests/emu/predict/prop_predict
tests_emu_predict_prop_predict_SOURCES = tests/emu/predict/prop_predict.c tests/emu/predict/predict_watch.c \
	tests/emu/predict/predict_watch.h tests/emu/exec/prop_exec_gen.h $(reference_lane)
tests_emu_predict_prop_predict_LDADD = liblanewise.a $(TEST_LIBS) -lm
check_PROGRAMS += tests/emu/predict/test_slices
tests_emu_predict_test_slices_SOURCES = tests/emu/predict/test_slices.c tests/emu/exec/emu_fixture.h
tests_emu_predict_test_slices_LDADD = liblanewise.a $(TEST_LIBS)
check_SCRIPTS += tests/emu/predict/test_dis_slices.sh tests/emu/predict/test_predict_runs.sh
EXTRA_DIST += tests/emu/predict/test_dis_slices.sh tests/emu/predict/test_predict_runs.sh tests/emu/predict/slices.s \
	tests/emu/predict/slices.txt
