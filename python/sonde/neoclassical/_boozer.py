# SPDX-License-Identifier: Apache-2.0
"""Equilibria in Boozer angles."""

from __future__ import annotations

import os
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from .. import _sonde
from .._calls import checked
from .._types import Path
from ._surface import Array


class BoozerTransform(NamedTuple):
    """What a transform to Boozer angles made, one value per surface."""

    file: str
    s: Array  #: of the surfaces
    largest_defect: Array  #: max of abs(B(Boozer) - B) / B_00
    jacobian_defect: Array  #: the largest relative departure of sqrt(g) B^2 from its mean
    mboz: int
    nboz: int
    notes: list[str]


@checked
def boozer(wout: Path, output: Path, *, s: npt.ArrayLike | None = None, mboz: int | None = None, nboz: int | None = None) -> BoozerTransform:
    """Transforms a VMEC equilibrium to Boozer angles and writes what BOOZ_XFORM writes.

    Parameters
    ----------
    wout, output : path
        The equilibrium, and the ``boozmn`` file.
    s : array_like, optional
        Surfaces, each moved to the nearest of the half mesh; else all of them.
    mboz, nboz : int, optional
        Modes 0 to mboz - 1 and -nboz to nboz per field period; else 6 mpol and 2 ntor.

    Returns
    -------
    BoozerTransform

    Raises
    ------
    sonde.Error
        ``bad_file``, ``bad_input`` for radii and modes that make no sense, ``io``.
    """
    surfaces = None if s is None else np.atleast_1d(np.asarray(s, np.float64)).tolist()
    return BoozerTransform(**_sonde.neoclassical_boozer(os.fspath(wout), os.fspath(output), surfaces, mboz, nboz))
