#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The table of behaviours in gdb-multiarch on the aarch64 carrier: docs/evidence/debugger-tests.md.
. "${srcdir:-.}/tests/clients/behaviours/run.sh"
behaviours gdb-aarch64
