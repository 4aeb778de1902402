# SPDX-License-Identifier: Apache-2.0
"""Flux surfaces."""

from __future__ import annotations

import os
from typing import Any, NamedTuple, Unpack

import numpy as np
import numpy.typing as npt

from .. import _sonde
from .._keywords import BoozerKeywords, SurfaceKeywords, VmecKeywords
from .._objects import Handle
from .._options import takes_options_of
from .._types import Path

Array = npt.NDArray[np.float64]


class Harmonics(NamedTuple):
    """|B| = sum of cosine cos(m theta + n nfp zeta) + sine sin(m theta + n nfp zeta), T; one entry per mode."""

    m: npt.NDArray[np.int64]  #: poloidal
    n: npt.NDArray[np.int64]  #: toroidal per field period; the sign of n is plus, unlike that of VMEC and Boozer files
    cosine: Array
    sine: Array | None  #: None for stellarator symmetry


class Surface(Handle):
    """One flux surface: what the drift-kinetic equation needs to know of the magnetic field.

    Made by :meth:`open`, which sees what kind of file it is, or by the constructor of one kind. Of a file of several surfaces one is
    chosen by ``s``, ``rho`` or ``surface_index``.

    Raises
    ------
    sonde.Error
        ``bad_file`` naming file, field and reason; ``bad_input`` for settings that contradict the file and for radii it does not
        cover; ``usage`` for unknown keywords.
    """

    _to_send = "give the other process what Surface.open() was given"

    def __init__(self, made: _sonde.NeoclassicalSurface) -> None:
        self._surface = made
        self._about = made.describe()

    @classmethod
    def _read(cls, constructor: str, **options: Any) -> Surface:
        return cls(_sonde.NeoclassicalSurface(options, f"Surface.{constructor}()"))

    @classmethod
    @takes_options_of("neoclassical_surface", without=("path",))
    def open(cls, path: Path, **options: Unpack[SurfaceKeywords]) -> Surface:
        """Of any file that is known by its content, or ``"analytic-demo"``."""
        return cls._read("open", path=os.fspath(path), **options)

    @classmethod
    def vmec(cls, path: Path, *, s: float | None = None, rho: float | None = None, **options: Unpack[VmecKeywords]) -> Surface:
        """Of a VMEC ``wout`` file, in its own angles. Coefficients are per s.

        Parameters
        ----------
        path : path
            The file.
        s, rho : float
            Toroidal flux normalised by that of the edge, 0 < s <= 1, or its square root. ``surface_index`` is a third way.
        **options
            ``min_bmn``, ``vmec_radial_option``: see :meth:`open`.
        """
        return cls._read("vmec", type="vmec", path=os.fspath(path), s=s, rho=rho, **options)

    @classmethod
    def boozmn(cls, path: Path, *, s: float | None = None, rho: float | None = None,
               **options: Unpack[BoozerKeywords]) -> Surface:
        """Of a ``boozmn`` file of BOOZ_XFORM. Coefficients are per s.

        Parameters
        ----------
        path : path
            The file.
        s, rho : float
            As in :meth:`vmec`.
        **options
            ``snap``, ``wout``, ``psi_a``, ``signgs``, ``min_bmn``: see :meth:`open`.
        """
        return cls._read("boozmn", type="boozmn", path=os.fspath(path), s=s, rho=rho, **options)

    @classmethod
    def bc(cls, path: Path, *, s: float | None = None, rho: float | None = None,
           **options: Unpack[BoozerKeywords]) -> Surface:
        """Of a ``.bc`` text file of Boozer harmonics; as :meth:`boozmn`."""
        return cls._read("bc", type="bc", path=os.fspath(path), s=s, rho=rho, **options)

    @classmethod
    def dkes(cls, path: Path) -> Surface:
        """Of a DKES namelist (``ddkes2.data``) or a table of rows ``m n B_mn``. Coefficients are per metre of r."""
        return cls._read("dkes", type="dkes", path=os.fspath(path))

    @classmethod
    def analytic(cls, m: npt.ArrayLike, n: npt.ArrayLike, b_cos: npt.ArrayLike, *, nfp: int, iota: float, psi_p: float,
                 b_theta: float, b_zeta: float, b_sin: npt.ArrayLike | None = None) -> Surface:
        """Of harmonics in Boozer angles: |B| = sum b_cos cos(m theta + n nfp zeta) + b_sin sin(...).

        Parameters
        ----------
        m, n : sequence of int
            Mode numbers; m >= 0. (0, 0) must be there.
        b_cos, b_sin : sequence of float
            T, one per mode.
        nfp : int
            Field periods.
        iota : float
            Rotational transform.
        psi_p : float
            dpsi/dr, T m: coefficients are per metre of this r.
        b_theta, b_zeta : float
            Covariant components I and G, T m.
        """
        return cls._read("analytic", type="analytic", m=m, n=n, b_cos=b_cos, b_sin=b_sin, nfp=nfp, iota=iota, psi_p=psi_p,
                         b_theta=b_theta, b_zeta=b_zeta)

    @classmethod
    def demo(cls) -> Surface:
        """The built-in surface "analytic-demo": four harmonics, five field periods, iota 0.85."""
        return cls._read("demo", type="analytic")

    @property
    def source(self) -> str:
        """The file, or the name of a built-in surface."""
        return str(self._about["source"])

    @property
    def angles(self) -> str:
        """``"boozer"`` or ``"vmec"``."""
        return str(self._about["angles"])

    @property
    def nfp(self) -> int:
        """Field periods."""
        return int(self._about["nfp"])

    @property
    def iota(self) -> float:
        """Rotational transform."""
        return float(self._about["iota"])

    @property
    def psi_scale(self) -> float:
        """dpsi/dr of the label that coefficients are per; 1 where that is psi itself."""
        return float(self._about["psi_scale"])

    @property
    def s(self) -> float:
        """Normalised toroidal flux of a surface of an equilibrium, else 0."""
        return float(self._about["s"])

    @property
    def B0(self) -> float:
        """The (0, 0) harmonic of |B| in the angles in use, T."""
        return float(self._about["B0"])

    @property
    def a_b(self) -> float | None:
        """Minor radius of its equilibrium, m; None where the file does not say it."""
        return self._surface.lengths()["a_b"]

    @property
    def R0(self) -> float | None:
        """Major radius of the surface, the (0, 0) harmonic of R in Boozer angles, m; None where the file does not say it."""
        return self._surface.lengths()["R0"]

    @property
    def psi_a(self) -> float | None:
        """Toroidal flux of the edge of its equilibrium over 2 pi, T m^2; None of a surface that is not part of one."""
        return self._surface.lengths()["psi_a"]

    @property
    def symmetric(self) -> bool:
        """Whether the field is stellarator symmetric."""
        return bool(self._about["symmetric"])

    @property
    def radial_label(self) -> str:
        """What coefficients are per: ``"s"`` or ``"r"``."""
        return str(self._about["radial_label"])

    @property
    def units(self) -> dict[str, str]:
        """Units of D11, D31, D13 and D33 on this surface."""
        return dict(self._about["units"])

    @property
    def notes(self) -> list[str]:
        """What a user should know of how it was made, one sentence each."""
        return list(self._about["notes"])

    @property
    def harmonics(self) -> Harmonics:
        """The modes of |B|."""
        return Harmonics(*self._surface.harmonics())

    def __repr__(self) -> str:
        place = f", s = {self.s:.6g}" if self.s else ""
        return f"<sonde.neoclassical.Surface of {self.source}{place}, {self.angles} angles, iota {self.iota:.6g}>"
