#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs the rows of tests/clients/behaviours in gdb-multiarch with the target architecture aarch64
# (docs/evidence/debugger-tests.md).
. "${srcdir:-.}/tests/clients/behaviours/run.sh"
behaviours gdb-aarch64
