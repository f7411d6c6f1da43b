#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs the rows of tests/clients/behaviours in gdb-multiarch with the target architecture x86-64
# (docs/evidence/debugger-tests.md).
. "${srcdir:-.}/tests/clients/behaviours/run.sh"
behaviours gdb-x86-64
