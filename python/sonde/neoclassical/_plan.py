# SPDX-License-Identifier: Apache-2.0
"""A surface on a grid, solved for single cases and for scans."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple, Unpack

import numpy as np
import numpy.typing as npt

from .. import _sonde
from .._keywords import CaseKeywords, GridKeywords, ScanKeywords, SolverKeywords
from .._objects import Checked, Handle
from .._options import takes_options_of
from .._types import Progress
from ._surface import Array, Surface


class Coefficients(NamedTuple):
    """Monoenergetic coefficients of one case."""

    D11: float
    D31: float
    D13: float
    D33: float
    D33_spitzer: float  #: D33 of a uniform field, 2 <B^2> / (3 nu_hat B0^2), m
    residual: float  #: the largest of what is left of the equations, relative to the largest source
    onsager_residual: float  #: abs(D13 + D31) / max(abs(D13), abs(D31))
    n_xi: int  #: the largest Legendre index of the solution
    path: str  #: the elimination: "dense", "spd", "quasidefinite" or "krylov"
    precision: str  #: what it was solved in: "f64", or "f32-refine" where that was asked and sufficed
    iterations: int  #: refinements of single precision, also those that led nowhere
    nu_hat: float  #: 1/m
    epsi_hat: float  #: what the electric field is to the solver, E_psi/v in the label of the surface
    error: float  #: estimate of what n_xi leaves; 0 unless ``adapt_n_xi`` looks for it


class Modes(NamedTuple):
    """The Legendre coefficients 0, 1, 2 of both solutions."""

    coefficients: Coefficients
    f1: Array  #: [k][theta][zeta], of the radial drive
    f3: Array  #: the same of the parallel drive


class Field(NamedTuple):
    """A surface on a grid. Arrays are [theta][zeta], the plan's own: they may not be written."""

    theta: Array  #: rad
    zeta: Array  #: rad, one field period
    b: Array  #: T
    db_dtheta: Array
    db_dzeta: Array
    jacobian: Array  #: sqrt(g), signed
    b_sub_theta: Array  #: covariant, T m
    b_sub_zeta: Array
    b_sup_theta: Array  #: contravariant
    b_sup_zeta: Array
    b2_mean: float  #: <B^2>, T^2
    volume_prime: float  #: integral of abs(sqrt(g)) over both angles, all field periods


@dataclass(frozen=True)
class Scan:
    """Every collisionality with every field. Points without an answer are NaN; ``status`` and ``messages`` say why."""

    nu_v: Array  #: 1/m
    field: Array  #: electric fields as they were given
    field_name: str  #: "epsi_hat", "er_hat" or "er_tilde": in what they were given
    device: str  #: what solved the points: "cpu", or "cuda:0" but for those that it had no answer to
    epsi_hat: Array  #: what they are to the solver
    D11: Array
    D31: Array
    D13: Array
    D33: Array
    D33_spitzer: Array
    residual: Array
    onsager_residual: Array
    error: Array  #: estimates of what n_xi leaves; 0 unless ``adapt_n_xi`` looks for it
    seconds: Array  #: of each point, on its thread; on a GPU its share of the batch
    n_xi_used: npt.NDArray[np.int32]
    path_code: npt.NDArray[np.int32]  #: 0 dense, 1 spd, 2 quasidefinite, 3 krylov
    precision_code: npt.NDArray[np.int32]  #: what each point was solved in: 0 f64, 1 f32-refine
    iterations: npt.NDArray[np.int32]  #: refinements of single precision, also those that led nowhere
    status: npt.NDArray[np.int32]  #: 0 ok, 1 not converged, 2 failed, 3 resonant
    messages: list[str]  #: of each point, [nu][field] in one list; empty where it is ok

    def __repr__(self) -> str:
        failed = int((self.status != 0).sum())
        return (f"<sonde.neoclassical.Scan of {self.nu_v.size} x {self.field.size} points"
                f"{f', {failed} without an answer' if failed else ''}>")


class Grid(Checked):
    """Points of both angles (odd) and the largest Legendre index: ``Grid(25, 25, 60)`` has 61 blocks of 625 unknowns.

    Raises
    ------
    sonde.Error
        ``usage`` for unknown keywords and counts out of range, ``bad_input`` for an even count of angles, naming the next odd one.
    """

    @takes_options_of("neoclassical_grid")
    def __init__(self, n_theta: int | None = None, n_zeta: int | None = None, n_xi: int | None = None, **options: Unpack[GridKeywords]) -> None:
        self._given: dict[str, object] = {"n_theta": n_theta, "n_zeta": n_zeta, "n_xi": n_xi, **options}
        self._resolved = _sonde.neoclassical_grid(self._given)

    @property
    def n_theta(self) -> int:
        """Poloidal angles."""
        return int(self._resolved["n_theta"])

    @property
    def n_zeta(self) -> int:
        """Toroidal angles of one field period."""
        return int(self._resolved["n_zeta"])

    @property
    def n_xi(self) -> int:
        """Largest Legendre index."""
        return int(self._resolved["n_xi"])

    @property
    def discretisation(self) -> str:
        """``"skew"`` or ``"collocation"``."""
        return str(self._resolved["discretisation"])

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Grid) and self._resolved == other._resolved

    def __hash__(self) -> int:
        return hash(tuple(self._resolved.values()))

    def __repr__(self) -> str:
        return f"Grid({self.n_theta}, {self.n_zeta}, {self.n_xi}, discretisation={self.discretisation!r})"


class Plan(Handle):
    """One surface on one grid, prepared for any number of cases; made by :func:`prepare`. Several threads may use it at once."""

    _to_send = "give the other process what prepare() was given"

    def __init__(self, surface: Surface, grid: Grid, options: Mapping[str, Any]) -> None:
        self._plan = _sonde.NeoclassicalPlan(surface._surface, grid._given, dict(options))
        self._surface = surface
        self._grid = grid

    @property
    def surface(self) -> Surface:
        """What is solved."""
        return self._surface

    @property
    def grid(self) -> Grid:
        """On which points."""
        return self._grid

    @property
    def field(self) -> Field:
        """The surface on the grid."""
        return Field(**self._plan.field())

    @property
    def nbytes(self) -> int:
        """Memory that the plan itself holds."""
        return self._plan.bytes()

    @takes_options_of("neoclassical_case")
    def solve(self, nu_hat: float | None = None, **options: Unpack[CaseKeywords]) -> Coefficients:
        """The coefficients at one collisionality and one electric field (none: 0).

        Returns
        -------
        Coefficients

        Raises
        ------
        sonde.Error
            ``bad_input`` unless nu_hat is above zero, for a field that is given twice or that this surface has no scale for;
            ``not_converged`` when the residual is above ``tol`` of the plan, and for a resonant surface.
        """
        return Coefficients(**self._plan.solve({"nu_hat": nu_hat, **options}, False)[0])

    @takes_options_of("neoclassical_case")
    def modes(self, nu_hat: float | None = None, **options: Unpack[CaseKeywords]) -> Modes:
        """As :meth:`solve`, and the first Legendre coefficients of the solutions.

        Returns
        -------
        Modes
        """
        made, f1, f3 = self._plan.solve({"nu_hat": nu_hat, **options}, True)
        return Modes(Coefficients(**made), f1, f3)

    @takes_options_of("neoclassical_case")
    def path(self, nu_hat: float | None = None, **options: Unpack[CaseKeywords]) -> tuple[str, str]:
        """The elimination that :meth:`solve` takes, and why."""
        return self._plan.path({"nu_hat": nu_hat, **options})

    @takes_options_of("neoclassical_scan", without=("rho",))
    def scan(self, nu_v: npt.ArrayLike, epsi_hat: npt.ArrayLike | None = None, *, device: str = "cpu", memory: str | None = None,
             progress: Progress | None = None, **options: Unpack[ScanKeywords]) -> Scan:
        """Every collisionality with every field, several points at a time.

        Numbers do not depend on how many threads there are. A point that fails is NaN and says so in ``status``.

        Parameters
        ----------
        nu_v : array_like
            Collisionalities, 1/m.
        epsi_hat : array_like, optional
            Electric fields; or ``er_hat``, or ``er_tilde`` (0 when none is given).
        device : str
            "cpu"; "cuda" or "cuda:1", a GPU that solves the points in batches once it has solved a small case as the CPU does;
            "auto", a GPU where one can and the CPU else. ``device`` of the result says which.
        memory : str, optional
            Most memory to hold, "8G"; else 0.6 of what is free, or 0.9 of a GPU.
        progress : callable, optional
            As for :func:`sonde.run`.

        Returns
        -------
        Scan
            Arrays [nu][field].

        Raises
        ------
        sonde.Error
            ``bad_input`` and ``usage`` before any work; ``budget`` when not even one point fits; ``device`` without that GPU,
            ``not_supported`` for points that no GPU solves.
        """
        given: dict[str, object] = {"nu_v": nu_v if np.size(nu_v) else None, "epsi_hat": epsi_hat, **options}
        return Scan(**self._plan.scan(given, device, memory, progress))

    def __repr__(self) -> str:
        grid = self._grid
        return f"<sonde.neoclassical.Plan of {self._surface.source}, {grid.n_theta} x {grid.n_zeta} x {grid.n_xi}>"


@takes_options_of("neoclassical_solver", without=("threads", "device"))
def prepare(surface: Surface, grid: Grid | None = None, **options: Unpack[SolverKeywords]) -> Plan:
    """All that one surface on one grid needs before collisionality and electric field are known.

    Parameters
    ----------
    surface : Surface
        What is solved.
    grid : Grid, optional
        On which points; else ``Grid()``.

    Returns
    -------
    Plan

    Raises
    ------
    sonde.Error
        ``usage`` for unknown keywords, ``bad_input`` for a surface or grid that makes no sense.
    """
    return Plan(surface, grid or Grid(), options)
