#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Random programs in native code against single lanes (tests/emu/exec/prop_exec with LW_NATIVE). COUNT: how many.
set -u
LW_NATIVE=1 LW_RANDOM_COUNT=${COUNT:-${LW_NATIVE_COUNT:-20}} tests/emu/exec/prop_exec
