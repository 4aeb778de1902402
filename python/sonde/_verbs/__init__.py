# SPDX-License-Identifier: Apache-2.0
"""The verbs of each instrument as functions."""
