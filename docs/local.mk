# SPDX-License-Identifier: Apache-2.0
# Pages are installed in the same folders relative to each other and to the examples, so that their links work.
dist_man_MANS += %D%/reference/lanewise.1
dist_doc_DATA = %D%/README.md
tutorialdir = $(docdir)/tutorial
dist_tutorial_DATA = \
	%D%/tutorial/first-assembly.md \
	%D%/tutorial/first-check.md \
	%D%/tutorial/first-cuda.md \
	%D%/tutorial/first-gdb.md \
	%D%/tutorial/first-program.md \
	%D%/tutorial/first-run.md \
	%D%/tutorial/first-shell.md \
	%D%/tutorial/first-timing.md
howtodir = $(docdir)/howto
dist_howto_DATA = \
	%D%/howto/ci.md \
	%D%/howto/coverage.md \
	%D%/howto/debug-in-the-shell.md \
	%D%/howto/debug-in-vscode.md \
	%D%/howto/debug-optimised-code.md \
	%D%/howto/debug-with-gdb.md \
	%D%/howto/debug-with-lldb.md \
	%D%/howto/find-a-hang.md \
	%D%/howto/find-bugs.md \
	%D%/howto/go-back-in-time.md \
	%D%/howto/measure-cycles.md \
	%D%/howto/run-and-verify.md \
	%D%/howto/run-programs.md \
	%D%/howto/python.md \
	%D%/howto/use-from-c-or-python.md
referencedir = $(docdir)/reference
dist_reference_DATA = \
	%D%/reference/abi.md \
	%D%/reference/assembly.md \
	%D%/reference/check-kinds.md \
	%D%/reference/check-reports.md \
	%D%/reference/fp.md \
	%D%/reference/gdb.md \
	%D%/reference/glossary.md \
	%D%/reference/fidelity.md \
	%D%/reference/gpu-models.md \
	%D%/reference/history-files.md \
	%D%/reference/isa.md \
	%D%/reference/launch-files.md \
	%D%/reference/limitations.md \
	%D%/reference/machine.md %D%/reference/mechanisms.md \
	%D%/reference/memory.md \
	%D%/reference/object.md \
	%D%/reference/printf.md \
	%D%/reference/ptx-support.md \
	%D%/reference/sample-kernels.md \
	%D%/reference/shell-commands.md \
	%D%/reference/shell.md \
	%D%/reference/statistics.md \
	%D%/reference/timing-core.md \
	%D%/reference/timing-counters.md \
	%D%/reference/timing-memory.md
explanationdir = $(docdir)/explanation
dist_explanation_DATA = \
	%D%/explanation/address-slices.md \
	%D%/explanation/compilers.md \
	%D%/explanation/decisions.md \
	%D%/explanation/device-launches.md \
	%D%/explanation/fast-paths.md \
	%D%/explanation/native-code.md \
	%D%/explanation/front-end.md \
	%D%/explanation/gdb-stub.md \
	%D%/explanation/history.md \
	%D%/explanation/race-detection.md \
	%D%/explanation/reconvergence.md \
	%D%/explanation/splits.md \
	%D%/explanation/timing-model.md \
	%D%/explanation/uniform-affine.md \
	%D%/explanation/uninitialised-values.md
evidencedir = $(docdir)/evidence
dist_evidence_DATA = \
	%D%/evidence/book-inventory.md \
	%D%/evidence/checks.md \
	%D%/evidence/findings-public-code.tsv \
	%D%/evidence/debugger-speed.md \
	%D%/evidence/debugger-speed.tsv \
	%D%/evidence/debugger-tests.md \
	%D%/evidence/debugger-tests.tsv \
	%D%/evidence/hecbench.tsv \
	%D%/evidence/history.md \
	%D%/evidence/history.tsv \
	%D%/evidence/performance.md \
	%D%/evidence/silicon.md \
	%D%/evidence/programs.md \
	%D%/evidence/profile.tsv \
	%D%/evidence/ptx-speed.tsv \
	%D%/evidence/suites.md \
	%D%/evidence/suites-differences.tsv \
	%D%/evidence/tags.md \
	%D%/evidence/tags.tsv \
	%D%/evidence/tags-time.tsv \
	%D%/evidence/testing.md \
	%D%/evidence/timing-microbenchmarks.md \
	%D%/evidence/timing-microbenchmarks.tsv \
	%D%/evidence/timing-profile.tsv \
	%D%/evidence/timing-tags.tsv \
	%D%/evidence/timing-samples.md \
	%D%/evidence/values.md \
	%D%/evidence/values-missing.tsv \
	%D%/evidence/values.tsv
