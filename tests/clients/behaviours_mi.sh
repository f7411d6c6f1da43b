#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The table of behaviours, gdb's machine interface: docs/evidence/debugger-tests.md.
. "${srcdir:-.}/tests/clients/behaviours/run.sh"
behaviours mi
