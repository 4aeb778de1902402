# SPDX-License-Identifier: Apache-2.0
"""Tables over radius, collisionality and electric field."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping
from typing import Any, Unpack

import numpy as np
import numpy.typing as npt

from .. import _sonde
from .._keywords import SolverKeywords, TransportKeywords
from .._objects import Handle
from .._options import takes_options_of
from .._types import Path, Progress
from ._plan import Grid
from ._profiles import Profiles, given_plasma, profiles_of
from ._surface import Array


class Database(Handle):
    """Coefficients over radius, collisionality and electric field, in the label s; [rho][nu_v][Er_tilde].

    Made by :func:`build_database` or :meth:`load`. Its arrays are not copied: they may not be written.
    """

    _to_send = "save() writes a file, and Database.load(path) reads it"

    def __init__(self, made: _sonde.NeoclassicalDatabase) -> None:
        self._database = made
        self._arrays = made.arrays()

    @classmethod
    def load(cls, path: Path) -> Database:
        """Reads the HDF5 layout that transport codes share, also in its older form.

        Raises
        ------
        sonde.Error
            ``bad_file`` naming file and field for what is absent, of another shape or type, or contradicts the rest.
        """
        return cls(_sonde.neoclassical_load_database(os.fspath(path)))

    def save(self, path: Path) -> None:
        """Writes that layout; equal databases give equal bytes.

        Raises
        ------
        sonde.Error
            ``bad_input`` when the geometry is not complete or a D11 is not above zero (readers take its logarithm), ``io``.
        """
        self._database.save(os.fspath(path))

    def _array(self, name: str) -> Array:
        array: Array = self._arrays[name]
        return array

    @property
    def rho(self) -> Array:
        """Radii sqrt(s)."""
        return self._array("rho")

    @property
    def nu_v(self) -> Array:
        """Collisionalities nu/v, 1/m."""
        return self._array("nu_v")

    @property
    def Er_tilde(self) -> Array:
        """Electric fields of all radii."""
        return self._array("Er_tilde")

    @property
    def Er(self) -> Array:
        """E_r/v of each [rho][Er_tilde], T."""
        return self._array("Er")

    @property
    def Es(self) -> Array:
        """epsi_hat of each [rho][Er_tilde]: what they are to the solver."""
        return self._array("Es")

    @property
    def D11(self) -> Array:
        """[rho][nu_v][Er_tilde], per s."""
        return self._array("D11")

    @property
    def D31(self) -> Array:
        """[rho][nu_v][Er_tilde], per s."""
        return self._array("D31")

    @property
    def D13(self) -> Array:
        """[rho][nu_v][Er_tilde], per s."""
        return self._array("D13")

    @property
    def D33(self) -> Array:
        """[rho][nu_v][Er_tilde], m; not multiplied by nu."""
        return self._array("D33")

    @property
    def D33_spitzer(self) -> Array:
        """[rho][nu_v][Er_tilde], m: of a uniform field."""
        return self._array("D33_spitzer")

    @property
    def geometry(self) -> dict[str, Array | None]:
        """B00 (T), R00 (m), G, I (T m), iota, B0_solver (T), drds (m), one value per radius; None where a file has none."""
        return {name: self._arrays[name] for name in ("B00", "R00", "G", "I", "iota", "B0_solver", "drds")}

    @property
    def quality(self) -> dict[str, Array | None]:
        """onsager_residual, residual, n_xi_used, and precision_code (1 f32-refine, 0 f64; where the first was asked) of each point;
        None where a file has none."""
        return {name: self._arrays[name] for name in ("onsager_residual", "residual", "n_xi_used", "precision_code")}

    @property
    def a_b(self) -> float:
        """Minor radius, m."""
        return self._database.a_b()

    @property
    def psia(self) -> float:
        """Toroidal flux of the edge / 2 pi without its sign, T m^2."""
        return self._database.psia()

    @property
    def source_name(self) -> str:
        """What made it."""
        return self._database.source_name()

    @property
    def notes(self) -> list[str]:
        """Of a file: what the present layout has and it lacks. Of a build: what a user should know."""
        return self._database.notes()

    @takes_options_of("neoclassical_transport")
    def profiles(self, plasma: Path | Mapping[str, Any] | None = None, *, rho: npt.ArrayLike | None = None, E_r: float | None = None,
                 output: Path | None = None, progress: Progress | None = None, **options: Unpack[TransportKeywords]) -> Profiles:
        """Fluxes, ambipolar electric field and bootstrap current over the radius.

        Parameters
        ----------
        plasma : path or dict, optional
            Densities (1/m^3) and temperatures (eV): a file (.csv, .h5), or arrays ``{"rho": ..., "n_e": ..., "T_e": ..., "n_D": ...,
            "T_D": ..., "Er": ...}`` (``Er`` in V/m may be left out), or numbers n0, n_edge (1e20/m^3), T0, T_edge (keV) of the standard
            profiles. Without it those are taken as they are.
        rho : array_like, optional
            Radii; else 51 over the range of the database.
        E_r : float, optional
            Electric field everywhere, V/m; else that of the profiles, else the ambipolar one.
        output : path, optional
            A file to write as well (.h5, .nc, .npz).
        progress : callable, optional
            As for :func:`sonde.run`.

        Returns
        -------
        Profiles

        Raises
        ------
        sonde.Error
            ``bad_file`` for profiles that make no sense, ``bad_input`` for radii outside and a table without logarithms.
        """
        radii = np.linspace(self.rho[0], self.rho[-1], 51) if rho is None else np.atleast_1d(np.asarray(rho, np.float64))
        return profiles_of(self._database.profiles(radii.tolist(), *given_plasma(plasma), E_r, options,
                                                   None if output is None else os.fspath(output), progress))

    fluxes = profiles

    def __repr__(self) -> str:
        return (f"<sonde.neoclassical.Database of {self.rho.size} radii, {self.nu_v.size} collisionalities, "
                f"{self.Er_tilde.size} fields>")


@takes_options_of("neoclassical_solver", without=("threads", "device"))
def build_database(wout: Path, booz: Path | None = None, *, rho: npt.ArrayLike | None = None, nu_v: npt.ArrayLike | None = None,
                   er_tilde: npt.ArrayLike | None = None, grid: Grid | None = None, surface_backend: str = "vmec",
                   part: Path | None = None, device: str = "cpu", memory: str | None = None, progress: Progress | None = None, **options: Unpack[SolverKeywords]) -> Database:
    """Coefficients over radius, collisionality and electric field from a VMEC equilibrium.

    Parameters
    ----------
    wout : path
        The equilibrium.
    booz : path, optional
        A boozmn file of the geometry in Boozer angles; else it is made from the equilibrium.
    rho, nu_v, er_tilde : array_like, optional
        The axes, increasing; else 7 radii, 16 collisionalities (3e-7 to 10, 1/m) and 12 fields (0 to 0.1).
    grid : Grid, optional
        On which points; else ``Grid()``.
    surface_backend : {'vmec', 'boozer'}
        Solve in the angles of VMEC, or in those of ``booz``.
    part : path, optional
        A file that keeps finished points: after an interruption the same call continues with them. Gone when all is done.
    device : str
        "cpu"; "cuda", "cuda:1" or "auto" as of :meth:`Plan.scan`. Points of a GPU and of the CPU are not mixed in ``part``.
    memory : str, optional
        Most memory to hold, "8G"; else 0.6 of what is free, or 0.9 of a GPU.
    progress : callable, optional
        As for :func:`sonde.run`.

    Returns
    -------
    Database

    Raises
    ------
    sonde.Error
        ``bad_file``, ``bad_input``, ``device`` and ``budget`` before any work; ``not_converged`` naming the first point without an
        answer.
    """
    if surface_backend not in ("vmec", "boozer"):
        _sonde.raise_error("usage", f'surface_backend in build_database(): unknown word "{surface_backend}"', "vmec or boozer")
    axes = [None if axis is None else np.atleast_1d(np.asarray(axis, np.float64)).tolist() for axis in (rho, nu_v, er_tilde)]
    with tempfile.TemporaryDirectory(prefix="sonde-") as scratch:
        kept = os.path.join(scratch, "points.part") if part is None else os.fspath(part)
        return Database(_sonde.neoclassical_build_database(
            os.fspath(wout), None if booz is None else os.fspath(booz), surface_backend == "boozer", axes[0], axes[1], axes[2],
            (grid or Grid())._given, options, kept, device, memory, progress))
