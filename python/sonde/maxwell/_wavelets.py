# SPDX-License-Identifier: Apache-2.0
"""Source signals, and the step that is stable."""

from __future__ import annotations

import math
from collections.abc import Sequence

from .. import _sonde
from .._calls import checked
from ._model import Array


@checked
def ricker(freq: float, length: int, dt: float, peak_time: float | None = None, *, offset: float = 0.5) -> Array:
    """The Ricker wavelet ``(1 - 2 p^2) exp(-p^2)``, ``p = pi freq (t - peak_time)``.

    Parameters
    ----------
    freq : float
        Centre frequency, Hz.
    length : int
        Samples.
    dt : float
        Time step, s.
    peak_time : float, optional
        s; ``1 / freq`` when it is not given.
    offset : float
        Sample n is at ``(n + offset) dt``: 0.5 for electric sources, 0 for magnetic ones.
    """
    return _sonde.maxwell_wavelet("ricker", freq, length, dt, peak_time, 3.0, offset)


@checked
def gaussian(freq: float, length: int, dt: float, peak_time: float | None = None, *, offset: float = 0.5) -> Array:
    """``exp(-p^2)``; arguments as in :func:`ricker`."""
    return _sonde.maxwell_wavelet("gaussian", freq, length, dt, peak_time, 3.0, offset)


@checked
def gaussian_derivative(freq: float, length: int, dt: float, peak_time: float | None = None, *, offset: float = 0.5) -> Array:
    """``-sqrt(2 e) p exp(-p^2)``, between -1 and 1; arguments as in :func:`ricker`."""
    return _sonde.maxwell_wavelet("gaussian_derivative", freq, length, dt, peak_time, 3.0, offset)


@checked
def morlet(freq: float, length: int, dt: float, peak_time: float | None = None, *, cycles: float = 3.0, offset: float = 0.5) -> Array:
    """``cos(2 p) exp(-(p / cycles)^2)``; other arguments as in :func:`ricker`."""
    return _sonde.maxwell_wavelet("morlet", freq, length, dt, peak_time, cycles, offset)


@checked
def sine_burst(freq: float, length: int, dt: float, peak_time: float | None = None, *, cycles: float = 3.0,
               offset: float = 0.5) -> Array:
    """``cos(2 p) (1 + cos(2 p / cycles)) / 2`` over ``cycles`` periods, else 0; other arguments as in :func:`ricker`."""
    return _sonde.maxwell_wavelet("sine_burst", freq, length, dt, peak_time, cycles, offset)


@checked
def cfl_condition(grid_spacing: Sequence[float], dt: float, max_vel: float, *, order: int = 2) -> tuple[float, int]:
    """The step that a run takes, s, and how many of them make one of ``dt``.

    Parameters
    ----------
    grid_spacing : sequence of float
        Of the two or three axes, m.
    dt : float
        Time step of sources and records, s.
    max_vel : float
        The largest velocity in the model, m/s: c0 over the root of the smallest eps_r times the smallest mu_r.
    order : int
        Of the spatial stencils: a higher one needs smaller steps.
    """
    ratio = max(1, math.ceil(dt / _sonde.maxwell_largest_step(list(grid_spacing), max_vel, order) - 1e-9))
    return dt / ratio, ratio
