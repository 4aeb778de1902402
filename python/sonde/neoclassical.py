# SPDX-License-Identifier: Apache-2.0
"""Neoclassical transport: monoenergetic coefficients of flux surfaces, databases of them, fluxes and currents.

A surface on a grid becomes a plan, which is solved for any number of collisionalities and electric fields. Arrays of a scan are
[nu][field], those of a surface [theta][zeta], those of a database [rho][nu][field], all float64 unless another type is named. SI
units; ``nu_hat`` = ``nu_v`` = nu/v is in 1/m. Coefficients are per metre of r or per s, as ``surface.radial_label`` says. Every call
that works leaves other Python threads running, and Ctrl-C ends it. Everything that goes wrong is a :class:`sonde.Error`.

>>> import sonde.neoclassical as nc
>>> plan = nc.prepare(nc.Surface.demo(), nc.Grid(9, 9, 8))
>>> result = plan.solve(nu_hat=1e-2, epsi_hat=1e-3)
>>> print(f"{result.D11:.10g} {result.D31:.10g} {result.D33:.10g} {result.path}")
0.002877904868 -0.107837192 47.05275243 quasidefinite
>>> plan.scan([1e-3, 1e-2], epsi_hat=[0, 1e-3]).D11.shape
(2, 2)
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from . import _sonde
from ._options import takes_options_of
from .stem import Path, Progress

__all__ = ["BoozerTransform", "Coefficients", "Database", "Field", "Grid", "Harmonics", "Modes", "Plan", "Profiles", "Scan", "Study",
           "StudyStep", "Surface", "boozer", "build_database", "convergence", "prepare"]

Array = npt.NDArray[np.float64]


class Harmonics(NamedTuple):
    """|B| = sum of cosine cos(m theta + n nfp zeta) + sine sin(m theta + n nfp zeta), T; one entry per mode."""

    m: npt.NDArray[np.int64]  #: poloidal
    n: npt.NDArray[np.int64]  #: toroidal per field period; the sign of n is plus, unlike that of VMEC and Boozer files
    cosine: Array
    sine: Array | None  #: None for stellarator symmetry


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
    path: str  #: the elimination: "dense", "spd" or "quasidefinite"
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
    epsi_hat: Array  #: what they are to the solver
    D11: Array
    D31: Array
    D13: Array
    D33: Array
    D33_spitzer: Array
    residual: Array
    onsager_residual: Array
    error: Array  #: estimates of what n_xi leaves; 0 unless ``adapt_n_xi`` looks for it
    seconds: Array  #: of each point, on its thread
    n_xi_used: npt.NDArray[np.int32]
    path_code: npt.NDArray[np.int32]  #: 0 dense, 1 spd, 2 quasidefinite
    status: npt.NDArray[np.int32]  #: 0 ok, 1 not converged, 2 failed, 3 resonant
    messages: list[str]  #: of each point, [nu][field] in one list; empty where it is ok

    def __repr__(self) -> str:
        failed = int((self.status != 0).sum())
        return (f"<sonde.neoclassical.Scan of {self.nu_v.size} x {self.field.size} points"
                f"{f', {failed} without an answer' if failed else ''}>")


class StudyStep(NamedTuple):
    """One grid of a convergence study."""

    grid: tuple[int, int, int]  #: n_theta, n_zeta, n_xi
    refined: str  #: "n_xi", "n_theta" or "n_zeta"; empty for the grid that was given
    change: float  #: relative change of the coefficients from the step before in this direction
    coefficients: Coefficients


class Study(NamedTuple):
    """How the coefficients of one case move as the grid is refined."""

    converged: bool  #: error <= tol
    error: float  #: the sum over directions of the last change
    grid: tuple[int, int, int]  #: the coarsest whose next refinement changed little in every direction
    steps: list[StudyStep]  #: the grid that was given first


class BoozerTransform(NamedTuple):
    """What a transform to Boozer angles made, one value per surface."""

    file: str
    s: Array  #: of the surfaces
    largest_defect: Array  #: max of abs(B(Boozer) - B) / B_00
    jacobian_defect: Array  #: the largest relative departure of sqrt(g) B^2 from its mean
    mboz: int
    nboz: int
    notes: list[str]


@dataclass(frozen=True)
class Profiles:
    """Transport over the radius. Arrays are [rho], with species [rho][species]; those with ``corrected_`` are None without correction."""

    rho: Array
    species_names: list[str]
    E_r: Array  #: V/m; 0 where there is no stable root
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
    A1: Array  #: thermodynamic forces, 1/m
    A2: Array
    L: Array  #: [rho][species][3][3], the thermal matrix, SI
    beyond: Array  #: share of the integrals that stands on coefficients beyond the database
    roots: Array  #: [rho][root], every ambipolar field, V/m; NaN where there are fewer
    root_is_stable: Array  #: [rho][root], 1 or 0

    def __repr__(self) -> str:
        return f"<sonde.neoclassical.Profiles of {', '.join(self.species_names)} at {self.rho.size} radii>"


class Grid:
    """Points of both angles (odd) and the largest Legendre index: ``Grid(25, 25, 60)`` has 61 blocks of 625 unknowns.

    Raises
    ------
    sonde.Error
        ``usage`` for unknown keywords and counts out of range, ``bad_input`` for an even count of angles, naming the next odd one.
    """

    @takes_options_of("neoclassical_grid")
    def __init__(self, n_theta: int | None = None, n_zeta: int | None = None, n_xi: int | None = None, **options: Any) -> None:
        self._given = {"n_theta": n_theta, "n_zeta": n_zeta, "n_xi": n_xi, **options}
        self._resolved = _sonde.neoclassical_grid(self._given)

    @property
    def n_theta(self) -> int:
        """Poloidal angles."""
        return self._resolved["n_theta"]

    @property
    def n_zeta(self) -> int:
        """Toroidal angles of one field period."""
        return self._resolved["n_zeta"]

    @property
    def n_xi(self) -> int:
        """Largest Legendre index."""
        return self._resolved["n_xi"]

    @property
    def discretisation(self) -> str:
        """``"skew"`` or ``"collocation"``."""
        return self._resolved["discretisation"]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Grid) and self._resolved == other._resolved

    def __hash__(self) -> int:
        return hash(tuple(self._resolved.values()))

    def __repr__(self) -> str:
        return f"Grid({self.n_theta}, {self.n_zeta}, {self.n_xi}, discretisation={self.discretisation!r})"


class Surface:
    """One flux surface: what the drift-kinetic equation needs to know of the magnetic field.

    Made by :meth:`open`, which sees what kind of file it is, or by the constructor of one kind. Of a file of several surfaces one is
    chosen by ``s``, ``rho`` or ``surface_index``.

    Raises
    ------
    sonde.Error
        ``bad_file`` naming file, field and reason; ``bad_input`` for settings that contradict the file and for radii it does not
        cover; ``usage`` for unknown keywords.
    """

    def __init__(self, made: _sonde.NeoclassicalSurface) -> None:
        self._surface = made
        self._about = made.describe()

    @classmethod
    def _read(cls, constructor: str, **options: Any) -> Surface:
        return cls(_sonde.NeoclassicalSurface(options, f"Surface.{constructor}()"))

    @classmethod
    @takes_options_of("neoclassical_surface", without=("path",))
    def open(cls, path: Path, **options: Any) -> Surface:
        """Of any file that is known by its content, or ``"analytic-demo"``."""
        return cls._read("open", path=os.fspath(path), **options)

    @classmethod
    def vmec(cls, path: Path, *, s: float | None = None, rho: float | None = None, **options: Any) -> Surface:
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
    def boozmn(cls, path: Path, *, s: float | None = None, rho: float | None = None, **options: Any) -> Surface:
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
    def bc(cls, path: Path, *, s: float | None = None, rho: float | None = None, **options: Any) -> Surface:
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
        return self._about["source"]

    @property
    def angles(self) -> str:
        """``"boozer"`` or ``"vmec"``."""
        return self._about["angles"]

    @property
    def nfp(self) -> int:
        """Field periods."""
        return self._about["nfp"]

    @property
    def iota(self) -> float:
        """Rotational transform."""
        return self._about["iota"]

    @property
    def psi_scale(self) -> float:
        """dpsi/dr of the label that coefficients are per; 1 where that is psi itself."""
        return self._about["psi_scale"]

    @property
    def s(self) -> float:
        """Normalised toroidal flux of a surface of an equilibrium, else 0."""
        return self._about["s"]

    @property
    def B0(self) -> float:
        """The (0, 0) harmonic of |B| in the angles in use, T."""
        return self._about["B0"]

    @property
    def symmetric(self) -> bool:
        """Whether the field is stellarator symmetric."""
        return self._about["symmetric"]

    @property
    def radial_label(self) -> str:
        """What coefficients are per: ``"s"`` or ``"r"``."""
        return self._about["radial_label"]

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


class Plan:
    """One surface on one grid, prepared for any number of cases; made by :func:`prepare`. Several threads may use it at once."""

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
    def solve(self, nu_hat: float | None = None, **options: Any) -> Coefficients:
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
    def modes(self, nu_hat: float | None = None, **options: Any) -> Modes:
        """As :meth:`solve`, and the first Legendre coefficients of the solutions.

        Returns
        -------
        Modes
        """
        made, f1, f3 = self._plan.solve({"nu_hat": nu_hat, **options}, True)
        return Modes(Coefficients(**made), f1, f3)

    @takes_options_of("neoclassical_case")
    def path(self, nu_hat: float | None = None, **options: Any) -> tuple[str, str]:
        """The elimination that :meth:`solve` takes, and why."""
        return self._plan.path({"nu_hat": nu_hat, **options})

    @takes_options_of("neoclassical_scan", without=("rho",))
    def scan(self, nu_v: npt.ArrayLike, epsi_hat: npt.ArrayLike | None = None, *, memory: str | None = None,
             progress: Progress | None = None, **options: Any) -> Scan:
        """Every collisionality with every field, several points at a time.

        Numbers do not depend on how many threads there are. A point that fails is NaN and tells so in ``status``.

        Parameters
        ----------
        nu_v : array_like
            Collisionalities, 1/m.
        epsi_hat : array_like, optional
            Electric fields; or ``er_hat``, or ``er_tilde`` (0 when none is given).
        memory : str, optional
            Most memory to hold, "8G"; else 0.6 of what is free.
        progress : callable, optional
            See :data:`sonde.stem.Progress`.

        Returns
        -------
        Scan
            Arrays [nu][field].

        Raises
        ------
        sonde.Error
            ``bad_input`` and ``usage`` before any work; ``budget`` when not even one point fits.
        """
        given = {"nu_v": nu_v if np.size(nu_v) else None, "epsi_hat": epsi_hat, **options}
        return Scan(**self._plan.scan(given, memory, progress))

    def __repr__(self) -> str:
        grid = self._grid
        return f"<sonde.neoclassical.Plan of {self._surface.source}, {grid.n_theta} x {grid.n_zeta} x {grid.n_xi}>"


@takes_options_of("neoclassical_solver", without=("threads",))
def prepare(surface: Surface, grid: Grid | None = None, **options: Any) -> Plan:
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


@takes_options_of("neoclassical_study")
def convergence(surface: Surface, grid: Grid | None = None, *, nu_hat: float, epsi_hat: float | None = None,
                er_hat: float | None = None, er_tilde: float | None = None, path: str | None = None, **options: Any) -> Study:
    """Refines the grid until the coefficients stand still.

    A small residual, or exact Onsager symmetry, says nothing of convergence; this does.

    Parameters
    ----------
    surface : Surface
        What is solved.
    grid : Grid, optional
        Where the study begins; else ``Grid()``.
    nu_hat, epsi_hat, er_hat, er_tilde : float
        The case, as in :meth:`Plan.solve`.
    path : str, optional
        The elimination, as in :func:`prepare`.

    Returns
    -------
    Study
        ``converged`` may be False: nothing is raised then.
    """
    case = {"nu_hat": nu_hat, "epsi_hat": epsi_hat, "er_hat": er_hat, "er_tilde": er_tilde}
    converged, error, found, rows = _sonde.neoclassical_convergence(surface._surface, (grid or Grid())._given, case, options,
                                                                    {"path": path})
    return Study(converged, error, found, [StudyStep(at, refined, change, Coefficients(**made)) for at, refined, change, made in rows])


class Database:
    """Coefficients over radius, collisionality and electric field, in the label s; [rho][nu_v][Er_tilde].

    Made by :func:`build_database` or :meth:`load`. Its arrays are not copied: they may not be written.
    """

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

    @property
    def rho(self) -> Array:
        """Radii sqrt(s)."""
        return self._arrays["rho"]

    @property
    def nu_v(self) -> Array:
        """Collisionalities nu/v, 1/m."""
        return self._arrays["nu_v"]

    @property
    def Er_tilde(self) -> Array:
        """Electric fields of all radii."""
        return self._arrays["Er_tilde"]

    @property
    def Er(self) -> Array:
        """E_r/v of each [rho][Er_tilde], T."""
        return self._arrays["Er"]

    @property
    def Es(self) -> Array:
        """epsi_hat of each [rho][Er_tilde]: what they are to the solver."""
        return self._arrays["Es"]

    @property
    def D11(self) -> Array:
        """[rho][nu_v][Er_tilde], per s."""
        return self._arrays["D11"]

    @property
    def D31(self) -> Array:
        """[rho][nu_v][Er_tilde], per s."""
        return self._arrays["D31"]

    @property
    def D13(self) -> Array:
        """[rho][nu_v][Er_tilde], per s."""
        return self._arrays["D13"]

    @property
    def D33(self) -> Array:
        """[rho][nu_v][Er_tilde], m; not multiplied by nu."""
        return self._arrays["D33"]

    @property
    def D33_spitzer(self) -> Array:
        """[rho][nu_v][Er_tilde], m: of a uniform field."""
        return self._arrays["D33_spitzer"]

    @property
    def geometry(self) -> dict[str, Array | None]:
        """B00 (T), R00 (m), G, I (T m), iota, B0_solver (T), drds (m), one value per radius; None where a file has none."""
        return {name: self._arrays[name] for name in ("B00", "R00", "G", "I", "iota", "B0_solver", "drds")}

    @property
    def quality(self) -> dict[str, Array | None]:
        """onsager_residual, residual and n_xi_used of each point; None where a file has none."""
        return {name: self._arrays[name] for name in ("onsager_residual", "residual", "n_xi_used")}

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
                 output: Path | None = None, progress: Progress | None = None, **options: Any) -> Profiles:
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
            See :data:`sonde.stem.Progress`.

        Returns
        -------
        Profiles

        Raises
        ------
        sonde.Error
            ``bad_file`` for profiles that make no sense, ``bad_input`` for radii outside and a table without logarithms.
        """
        file, text, standard = _plasma(plasma)
        radii = np.linspace(self.rho[0], self.rho[-1], 51) if rho is None else np.atleast_1d(np.asarray(rho, np.float64))
        made = self._database.profiles(radii.tolist(), file, text, standard, E_r, options, None if output is None else os.fspath(output),
                                       progress)
        made.pop("coefficients")
        made["species_names"] = made["species_names"].split(",")
        matrix = np.stack([made.pop(f"L{i}{j}") for i in (1, 2, 3) for j in (1, 2, 3)], axis=-1)
        made["L"] = matrix.reshape(*matrix.shape[:2], 3, 3)
        for name in ("gamma", "q", "u_par", "current", "total_current"):
            made.setdefault(f"corrected_{name}", None)
        return Profiles(**made)

    def __repr__(self) -> str:
        return (f"<sonde.neoclassical.Database of {self.rho.size} radii, {self.nu_v.size} collisionalities, "
                f"{self.Er_tilde.size} fields>")


_STANDARD = {"n0": 4.21, "n_edge": 0.6, "T0": 17.8, "T_edge": 0.7}


def _plasma(given: Path | Mapping[str, Any] | None) -> tuple[str | None, str | None, list[float] | None]:
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


@takes_options_of("neoclassical_solver", without=("threads",))
def build_database(wout: Path, booz: Path | None = None, *, rho: npt.ArrayLike | None = None, nu_v: npt.ArrayLike | None = None,
                   er_tilde: npt.ArrayLike | None = None, grid: Grid | None = None, surface_backend: str = "vmec",
                   part: Path | None = None, memory: str | None = None, progress: Progress | None = None, **options: Any) -> Database:
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
        A file that keeps finished points: after an interruption the same call goes on with them. Gone when all is done.
    memory : str, optional
        Most memory to hold, "8G"; else 0.6 of what is free.
    progress : callable, optional
        See :data:`sonde.stem.Progress`.

    Returns
    -------
    Database

    Raises
    ------
    sonde.Error
        ``bad_file``, ``bad_input`` and ``budget`` before any work; ``not_converged`` naming the first point without an answer.
    """
    if surface_backend not in ("vmec", "boozer"):
        _sonde.raise_error("usage", f'surface_backend in build_database(): unknown word "{surface_backend}"', "vmec or boozer")
    axes = [None if axis is None else np.atleast_1d(np.asarray(axis, np.float64)).tolist() for axis in (rho, nu_v, er_tilde)]
    with tempfile.TemporaryDirectory(prefix="sonde-") as scratch:
        kept = os.path.join(scratch, "points.part") if part is None else os.fspath(part)
        return Database(_sonde.neoclassical_build_database(
            os.fspath(wout), None if booz is None else os.fspath(booz), surface_backend == "boozer", *axes, (grid or Grid())._given,
            options, kept, memory, progress))


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
