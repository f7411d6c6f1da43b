#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs the rows of tests/clients/behaviours in the machine interface of gdb-multiarch for x86-64
# (docs/evidence/debugger-tests.md).
. "${srcdir:-.}/tests/clients/behaviours/run.sh"
behaviours mi-x86-64
