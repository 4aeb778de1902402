# SPDX-License-Identifier: Apache-2.0
"""Arrays that come in: borrowed as they are, or converted when they are small or a copy is wanted."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from . import _sonde

#: Masks, positions and other arguments below this size are converted without asking.
SMALL_BYTES = 16 << 20


def as_numpy(data: Any) -> npt.NDArray[Any]:
    """A NumPy array on the same memory: of an array as it is, of anything else through DLPack or NumPy's own ways."""
    if isinstance(data, np.ndarray):
        return data
    if hasattr(data, "__dlpack__"):
        device, number = data.__dlpack_device__()
        if device not in (1, 3):  # CPU, and host memory that a GPU sees
            _sonde.raise_error("not_supported", f"the array lies on DLPack device ({int(device)}, {number}), not in host "
                               "memory", "copy it to the CPU first")
        return np.from_dlpack(data)
    return np.asarray(data)


def small(what: str, data: Any, dtype: npt.DTypeLike) -> npt.NDArray[Any]:
    """``data`` as a C-contiguous array of ``dtype``. An array of 16 MiB or more is not converted silently."""
    array = as_numpy(data)
    if array.dtype == dtype and array.flags.c_contiguous:
        return array
    if array.size * np.dtype(dtype).itemsize >= SMALL_BYTES:
        _sonde.raise_error("bad_input", f"{what}: {array.dtype} of shape {array.shape} would be copied, which is not done "
                           "silently from 16 MiB on", f"give a C-contiguous array of {np.dtype(dtype)}")
    return np.ascontiguousarray(array, dtype)
