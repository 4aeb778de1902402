# SPDX-License-Identifier: Apache-2.0
"""Types of arguments that several instruments take."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

Path = str | os.PathLike[str]
#: ``progress(stage, fraction, detail)``: what is being done, how much of it from 0 to 1, and ``detail`` with done, total,
#: unit, rate (units per second), elapsed_s and finished. Called at most ten times a second; what it raises ends the work.
Progress = Callable[[str, float, dict[str, Any]], object]
