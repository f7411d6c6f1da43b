# SPDX-License-Identifier: Apache-2.0
"""Trends of the specification, 12.1, that do not come out, and why."""
KNOWN = {}
