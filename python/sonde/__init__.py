# SPDX-License-Identifier: Apache-2.0
"""Sonde: physical questions of very large arrays, exactly, on ordinary machines.

>>> import sonde
>>> ds = sonde.stem.load("scan_master.h5", det_bin="auto")     # doctest: +SKIP
>>> adf = ds.image("annulus(auto,auto,1.5rho,3rho)")           # doctest: +SKIP

Names, options, checks and messages are those of the C++ library and of the program ``sonde``.
"""

from __future__ import annotations

import atexit
import logging
from typing import Any

from . import _instruments, _sonde
from ._calls import checked as _checked
from ._instruments import *
from ._run import Result, run, verbs
from .errors import Error
from .viewer import Viewer, view

__all__ = ["Error", "Result", "Viewer", "build_info", "devices", "run", "set_thread_count", "thread_count", "verbs", "view"]
__all__ += _instruments.__all__

__version__: str = _sonde.build_info()["version"]

_logger = logging.getLogger("sonde")
atexit.register(_sonde.log_to, None)  # no thread of the engine calls an interpreter that is gone
_sonde.log_to(lambda level, message: getattr(_logger, level)(message))


@_checked
def build_info() -> dict[str, str]:
    """What this build is: version, revision, compiler, build_type, cuda (empty without), licence."""
    return _sonde.build_info()


@_checked
def devices() -> list[dict[str, Any]]:
    """The CPU and every GPU that can be used: device (``"cpu"``, ``"cuda:0"``), name, memory_bytes, compute_units."""
    return _sonde.devices()


@_checked
def thread_count() -> int:
    """How many threads compute."""
    return _sonde.thread_count()


@_checked
def set_thread_count(threads: int = 0) -> None:
    """Sets how many threads compute, for the whole process; 0 takes every core. Call it before other work."""
    _sonde.set_thread_count(threads)
