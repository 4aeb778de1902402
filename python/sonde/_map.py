# SPDX-License-Identifier: Apache-2.0
"""Functions of the user's own over all patterns of a scan: see :func:`sonde.stem.map`."""

from __future__ import annotations

import ctypes
from operator import index
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from . import _sonde
from ._types import Progress

Image = npt.NDArray[Any]

_C_FUNCTION: type = ctypes.CFUNCTYPE(None).__bases__[0]  # those of every library

_ELEMENTS: dict[Any, str] = {ctypes.c_uint8: "u8", ctypes.c_uint16: "u16", ctypes.c_uint32: "u32", ctypes.c_float: "f32"}


def map_function(scan: _sonde.Dataset, function: Callable[..., Any], frames: int | None, values: int | None, progress: Progress | None) -> Image | None:
    """The map of a function of Python or C. Raises :class:`sonde.Error` where :func:`sonde.stem.map` says so."""
    compiled = _c_function(function)
    if compiled is None:
        if values is not None:
            _sonde.raise_error("usage", "map(): values given, but the function is not a C function", "leave it out: what the function returns says it")
        return _map_python(scan, function, frames, progress)
    if frames is not None:
        _sonde.raise_error("usage", "map(): frames given, but a C function gets as many patterns as suit the cache", "leave it out")
    elements = _elements_of(compiled)
    made = scan.map_with_c(ctypes.cast(compiled, ctypes.c_void_p).value or 0, elements, 1 if values is None else index(values), progress)
    return made[:, :, 0] if values is None else made


def _c_function(function: Callable[..., Any]) -> Any:
    """The ctypes function that a C function is or offers; None for a function of Python. Those of numba.cfunc offer it as `ctypes`."""
    offered = getattr(function, "ctypes", function)
    return offered if isinstance(offered, _C_FUNCTION) else None


def _elements_of(function: Any) -> str:
    """The type of patterns that a C function takes. Raises an error unless its types are those of :func:`sonde.stem.map`: with others it would read
    foreign memory."""
    for element, name in _ELEMENTS.items():
        if (list(function.argtypes or []) == [ctypes.POINTER(element), ctypes.POINTER(ctypes.c_int64), ctypes.c_int64, ctypes.c_int64, ctypes.c_int64,
                                              ctypes.POINTER(ctypes.c_double)] and function.restype is ctypes.c_int):
            return name
    given = "none" if function.argtypes is None else "(" + ", ".join(each.__name__ for each in function.argtypes) + ")"
    _sonde.raise_error("bad_input", f"map(): the C function has argtypes {given} and restype {getattr(function.restype, '__name__', None)}; expected "
                       "(POINTER(c_uint8, c_uint16, c_uint32 or c_float), POINTER(c_int64), c_int64, c_int64, c_int64, POINTER(c_double)) and c_int", "")


def _map_python(scan: _sonde.Dataset, function: Callable[[Image, npt.NDArray[np.int64]], Any], frames: int | None,
                progress: Progress | None) -> Image | None:
    scan_rows, scan_cols, rows, cols = scan.shape
    if frames is None:
        frames = min(128, max(16, 2**26 // (rows * cols * scan.dtype.itemsize)))
    made: Image | None = None
    gave_none = False

    def take(patterns: Image, positions: npt.NDArray[np.int64]) -> None:
        nonlocal made, gave_none
        given = function(patterns, positions)
        if given is None and made is None:
            gave_none = True
            return
        values = np.asarray(given)
        if gave_none or given is None:
            _sonde.raise_error("bad_input", "map(): the function returned None for some frames and values for others", "")
        if values.shape[:1] != positions.shape or (made is not None and values.shape[1:] != made.shape[1:]):
            expected = ("...",) if made is None else made.shape[1:]
            _sonde.raise_error("bad_input", f"map(): the function returned shape {values.shape} for {len(positions)} frames; "
                               f"expected ({', '.join(str(each) for each in (len(positions), *expected))})", "")
        if made is None:
            made = np.empty((scan_rows * scan_cols, *values.shape[1:]), values.dtype)
        elif made.dtype != values.dtype:
            made = made.astype(np.result_type(made, values))
        made[positions] = values

    scan.map(take, index(frames), progress)
    return None if made is None else made.reshape(scan_rows, scan_cols, *made.shape[1:])
