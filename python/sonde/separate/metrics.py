# SPDX-License-Identifier: Apache-2.0
"""How good estimates of stems are, in dB. Stems are (channels, samples) or (samples,)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from .. import _sonde
from .._calls import checked
from ._model import samples_of

__all__ = ["BssEval", "bss_eval", "sdr", "si_sdr"]


class BssEval(NamedTuple):
    """What estimates consist of, in dB, of each reference."""

    sdr: list[float]  #: distortion
    sir: list[float]  #: interference of the others
    sar: list[float]  #: artifacts
    estimates: list[int]  #: which estimate belongs to each reference


@checked
def sdr(truth: npt.ArrayLike, estimate: npt.ArrayLike) -> float:
    """10 log10((sum s^2 + 1e-8) / (sum (s - e)^2 + 1e-8)) over all channels and samples."""
    return _sonde.separation_sdr(_rows(truth), _rows(estimate))


@checked
def si_sdr(truth: npt.ArrayLike, estimate: npt.ArrayLike) -> float:
    """The same for any loudness of the estimate (Le Roux et al. 2019, equation 5); not-a-number for a silent stem."""
    return _sonde.separation_si_sdr(_rows(truth), _rows(estimate))


@checked
def bss_eval(references: npt.ArrayLike, estimates: npt.ArrayLike, *, best_order: bool = True, taps: int = 512) -> BssEval:
    """BSS-Eval version 3 (Vincent, Gribonval and Fevotte 2006) of (sources, samples), in float64.

    With ``best_order`` references and estimates are paired in the order with the largest mean SIR, of at most eight sources; else
    those of equal place are.
    """
    return BssEval(**_sonde.separation_bss_eval(np.ascontiguousarray(references, np.float64), np.ascontiguousarray(estimates, np.float64),
                                                best_order, taps))


def _rows(data: npt.ArrayLike) -> npt.NDArray[np.float32]:
    samples = samples_of(data)
    return samples[np.newaxis] if samples.ndim == 1 else samples
