# SPDX-License-Identifier: Apache-2.0
"""Fluxes, electric fields and currents over the radius."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np
import numpy.typing as npt

from .. import _sonde
from .._keywords import TransportKeywords
from .._options import takes_options_of
from .._types import Path, Progress
from ._plan import Grid
from ._surface import Array

if TYPE_CHECKING:
    from ._database import Database


@dataclass(frozen=True)
class Profiles:
    """Transport over the radius. Arrays are [rho], with species [rho][species]; those with ``corrected_`` are None without correction."""

    rho: Array
    species_names: list[str]
    E_r: Array  #: V/m; NaN with all that follows from it where there is no stable root
    without_root: Array  #: 1 where there is none, else 0
    without_u2: Array  #: 1 where the database ends before collisions are frequent: the correction leaves out Pfirsch-Schlueter flows
    gamma: Array  #: particles, 1/(m^2 s)
    q: Array  #: energy, W/m^2
    u_par: Array  #: parallel flow of particles, 1/(m^2 s)
    current: Array  #: <J_par B>/B0 of each species, A/m^2
    total_current: Array  #: of all: the bootstrap current, A/m^2
    corrected_gamma: Array | None  #: the same with momentum correction
    corrected_q: Array | None
    corrected_u_par: Array | None
    corrected_current: Array | None
    corrected_total_current: Array | None
    sonine_change: Array | None  #: A/m^2: what the last Sonine order has changed of it
    A1: Array  #: thermodynamic forces, 1/m
    A2: Array
    A3: Array  #: of the electric field along B
    L: Array  #: [rho][species][3][3], the thermal matrix, m^2/s
    beyond: Array  #: share of the integrals that stands on coefficients beyond the database
    left_out: Array  #: share of energies that had no answer; 0 of a database
    roots_of: str  #: the fluxes that carry no current at the roots: "corrected" or "without correction"
    roots: Array  #: [rho][root], every ambipolar field, V/m; NaN where there are fewer
    root_is_stable: Array  #: [rho][root], 1 or 0
    root_uncertainty: Array  #: [rho][root], V/m; above half of the root it is doubtful and not taken
    search: dict[str, Array] | None = None  #: of a guided search for E_r: table_points, fields_solved, table_error_L11, ..., as the file has them
    interpolation_error: dict[str, Array] | None = None  #: L11, ... [rho][species]: what interpolating ``compare`` costs, relative

    def __repr__(self) -> str:
        return f"<sonde.neoclassical.Profiles of {', '.join(self.species_names)} at {self.rho.size} radii>"


_STANDARD = {"n0": 4.21, "n_edge": 0.6, "T0": 17.8, "T_edge": 0.7}


def given_plasma(given: Path | Mapping[str, Any] | None) -> tuple[str | None, str | None, list[float] | None]:
    """(file, text of a table, numbers of the standard profiles): one of them, or none."""
    if given is None:
        return None, None, None
    if not isinstance(given, Mapping):
        return os.fspath(given), None, None
    if "rho" not in given:
        unknown = sorted(set(given) - set(_STANDARD))
        if unknown:
            _sonde.raise_error("usage", f"profiles() knows no {unknown[0]!r} of a plasma",
                               "arrays with rho, or numbers " + ", ".join(_STANDARD))
        return None, None, [float(given.get(name, value)) for name, value in _STANDARD.items()]
    columns = {name: np.atleast_1d(np.asarray(values, np.float64)) for name, values in given.items()}
    lengths = {name: column.shape for name, column in columns.items()}
    if len(set(lengths.values())) != 1 or columns["rho"].ndim != 1:
        _sonde.raise_error("bad_input", f"profiles() got columns of different shapes: {lengths}")
    rows = [",".join(columns)] + [",".join(map(repr, row)) for row in np.column_stack(list(columns.values())).tolist()]
    return None, "\n".join(rows), None


def profiles_of(made: dict[str, Any]) -> Profiles:
    """From the variables of a file of profiles."""
    for text in ("coefficients", "software_version", "settings"):
        made.pop(text)
    made["species_names"] = made["species_names"].split(",")
    matrix = np.stack([made.pop(f"L{i}{j}") for i in (1, 2, 3) for j in (1, 2, 3)], axis=-1)
    made["L"] = matrix.reshape(*matrix.shape[:2], 3, 3)
    for name in ("gamma", "q", "u_par", "current", "total_current"):
        made.setdefault(f"corrected_{name}", None)
    made.setdefault("sonine_change", None)
    for group in ("search", "interpolation_error"):
        names = [name for name in made if name.startswith(group + "_")]
        made[group] = {name.removeprefix(group + "_"): made.pop(name) for name in names} or None
    return Profiles(**made)


@takes_options_of("neoclassical_transport")
def profiles(wout: Path, plasma: Path | Mapping[str, Any] | None = None, *, rho: npt.ArrayLike | None = None,
             E_r: float | None = None, grid: Grid | None = None, search: str = "guided", tol: float = 1e-8,
             precision: str = "f64", adapt_n_xi: float | None = None, compare: Database | None = None,
             output: Path | None = None, progress: Progress | None = None, **options: Unpack[TransportKeywords]) -> Profiles:
    """Fluxes, ambipolar electric field and bootstrap current of an equilibrium, without a database: coefficients are solved at
    every energy of every species.

    Parameters
    ----------
    wout : path
        The equilibrium of VMEC.
    plasma : path or dict, optional
        As of :meth:`Database.profiles`.
    rho : array_like, optional
        Radii; else 0.1, 0.2, ..., 0.9.
    E_r : float, optional
        Electric field everywhere, V/m; else that of the profiles, else the ambipolar one.
    grid : Grid, optional
        On which points; else ``Grid()``.
    search : {'guided', 'exhaustive'}
        How the ambipolar field is found: by tables made at each radius, every root then by solves at it; or by solves at every field of
        the search.
    tol : float
        Largest residual of an answer.
    precision : {'f64', 'f32-refine'}
        f32-refine: single precision, refined in double, where that suffices.
    adapt_n_xi : float, optional
        Find the Legendre modes of each point: relative change that is small enough.
    compare : Database, optional
        A database of the equilibrium: ``interpolation_error`` of the result says what interpolating it costs.
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
        ``bad_file`` for an equilibrium or profiles that make no sense, ``bad_input`` for radii outside, a ``rho`` where the grid cannot
        solve, or profiles that are not neutral.
    """
    if search not in ("guided", "exhaustive"):
        _sonde.raise_error("usage", f'search in profiles(): unknown word "{search}"', "guided or exhaustive")
    radii = np.linspace(0.1, 0.9, 9) if rho is None else np.atleast_1d(np.asarray(rho, np.float64))
    solver: dict[str, Any] = {"tol": tol, "precision": precision}
    if adapt_n_xi is not None:
        solver["adapt_n_xi"] = adapt_n_xi
    return profiles_of(_sonde.neoclassical_profiles(
        os.fspath(wout), radii.tolist(), *given_plasma(plasma), E_r, (grid or Grid())._given, solver, search == "exhaustive",
        None if compare is None else compare._database, options, None if output is None else os.fspath(output), progress))
