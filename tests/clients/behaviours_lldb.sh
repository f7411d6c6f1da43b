#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The table of behaviours in lldb-19: docs/evidence/debugger-tests.md.
. "${srcdir:-.}/tests/clients/behaviours/run.sh"
behaviours lldb
