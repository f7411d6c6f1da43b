# SPDX-License-Identifier: Apache-2.0
check_SCRIPTS += tests/lint_state.sh tests/lint_includes.sh tests/lint_globals.sh tests/lint_headers.sh \
	tests/lint_vectors.sh tests/lint_test.sh tests/lint_timing.sh tests/lint_recipes.sh tests/lint_words.sh \
	tests/test_lint_words.sh tests/test_tutorial.sh tests/lint_glossary.sh tests/test_recording.sh
EXTRA_DIST += $(check_SCRIPTS) scripts/session.py scripts/record-svg docs/recording.svg tests/lint_words.tsv tests/lint_words.counts
include tests/base.mk
include tests/isa.mk
include tests/launch.mk
include tests/gdbstub.mk
include tests/kernels.mk
include tests/ptx.mk
include tests/emu.mk
include tests/mem.mk
include tests/history.mk
include tests/split.mk
include tests/debug.mk
include tests/vectors.mk
include tests/check.mk
include tests/races.mk
include tests/hangs.mk
include tests/arith.mk
include tests/timing.mk
include tests/timing_machines.mk
include tests/host.mk
