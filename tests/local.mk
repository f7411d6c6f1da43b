# SPDX-License-Identifier: Apache-2.0
check_SCRIPTS += tests/lint/lint_state.sh tests/lint/lint_public.sh tests/lint/lint_includes.sh tests/lint/lint_calls.sh tests/lint/lint_globals.sh tests/lint/lint_headers.sh tests/lint/lint_params.sh tests/lint/lint_names.sh \
	tests/lint/lint_vectors.sh tests/lint/lint_test.sh tests/lint/lint_timing.sh tests/lint/lint_nightly.sh tests/lint/lint_recipes.sh tests/lint/lint_words.sh \
	tests/lint/test_lint_words.sh tests/docs/test_tutorial.sh tests/lint/lint_glossary.sh tests/docs/test_recording.sh tests/docs/test_links.sh tests/docs/test_check_kinds.sh tests/docs/test_man_options.sh tests/docs/test_sentences.sh tests/docs/test_shell_commands.sh
EXTRA_DIST += $(check_SCRIPTS) scripts/session.py scripts/record-svg docs/recording.svg tests/lint/lint_public.tsv tests/lint/lint_words.tsv tests/lint/lint_words.counts
include tests/base/base.mk
include tests/isa/isa.mk
include tests/launch/launch.mk
include tests/gdbstub/gdbstub.mk
include tests/lib/once.mk
include tests/program/kernels.mk
include tests/ptx/ptx.mk
include tests/emu/exec/emu.mk
include tests/emu/predict/predict.mk
include tests/native/native.mk
include tests/emu/memory/mem.mk
include tests/emu/history/history.mk
include tests/emu/simt/split.mk
include tests/debug/debug.mk
include tests/emu/exec/vectors.mk
include tests/check/check.mk
include tests/check/races.mk
include tests/emu/engine/hangs.mk
include tests/emu/exec/arith.mk
include tests/timing/timing.mk
include tests/timing/timing_machines.mk
include tests/host/host.mk
include tests/runtime/runtime.mk
