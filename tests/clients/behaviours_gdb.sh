#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs the rows of tests/clients/behaviours in plain gdb (docs/evidence/debugger-tests.md).
. "${srcdir:-.}/tests/clients/behaviours/run.sh"
behaviours gdb
