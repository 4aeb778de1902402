# SPDX-License-Identifier: Apache-2.0
"""Monoenergetic coefficients under the names of NTX: a script of NTX runs after a change of its import.

>>> import numpy as np
>>> from sonde.compat.ntx import GridSpec, MonoenergeticCase, example_surface, solve_monoenergetic, solve_monoenergetic_scan
>>> result = solve_monoenergetic(example_surface(), GridSpec(n_theta=9, n_zeta=11, n_xi=12), MonoenergeticCase(nu_hat=1e-3, epsi_hat=0.0))
>>> bool(result.D11 > 0)
True
>>> nu_hat = np.logspace(-4, -2, 8)
>>> solve_monoenergetic_scan(example_surface(), GridSpec(9, 11, 8), nu_hat, epsi_hat=np.zeros_like(nu_hat))["D31"].shape
(8,)

The discretisation is NTX's own, ``collocation``; ``discretisation="skew"`` is what :mod:`sonde.neoclassical` takes. What differs: arrays
are NumPy's, always in double precision, and not differentiated by JAX; wrong input is a :class:`sonde.Error`; ``residual_l2`` is the
largest residual relative to the largest source; every table of a VMEC file is paired with its own mode numbers, whatever
``vmec_mode_convention`` says.
"""

from __future__ import annotations

import importlib
import math
import os
import tomllib
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, fields
from pathlib import Path as FilePath
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from .. import _sonde, neoclassical, thread_count
from .._calls import checked
from .._types import Path
from .._verbs.neoclassical import run as _run_verb
from ..errors import Error
from ..neoclassical import Surface

__all__ = ["BoozmnSurface", "CompiledPreparedSolver", "GridSpec", "MonoenergeticCase", "NeopaxMonoenergeticArrays", "NeopaxScan",
           "PreparedMonoenergeticSystem", "TransportResult", "build_ntx_neopax_scan", "build_ntx_neopax_scan_from_surfaces",
           "compile_prepared_solver", "enable_x64", "example_surface", "load_boozmn_surface", "load_dkes_surface",
           "load_neopax_reference_scan", "load_vmec_surface", "onsager_error", "prepare_monoenergetic_system", "run_from_input_file",
           "scan_to_neopax_arrays", "solve_monoenergetic", "solve_monoenergetic_multiprocess_scan", "solve_monoenergetic_parallel_scan",
           "solve_monoenergetic_scan", "solve_prepared", "solve_scan", "write_neopax_scan_hdf5"]

Array = npt.NDArray[np.float64]


@dataclass(frozen=True)
class GridSpec:
    """Points of both angles (odd) and the largest Legendre index."""

    n_theta: int = 25
    n_zeta: int = 25
    n_xi: int = 60
    dtype: str = "float64"
    x64: bool = True
    discretisation: Literal["skew", "collocation"] = "collocation"

    def __post_init__(self) -> None:
        if self.dtype != "float64" or not self.x64:
            _sonde.raise_error("not_supported", f"GridSpec(): dtype {self.dtype!r}, x64 {self.x64}; everything is float64",
                               "leave dtype and x64 out")

    def grid(self) -> neoclassical.Grid:
        """The same for :func:`sonde.neoclassical.prepare`."""
        return neoclassical.Grid(self.n_theta, self.n_zeta, self.n_xi, discretisation=self.discretisation)


@dataclass(frozen=True)
class MonoenergeticCase:
    """One collisionality nu/v (1/m) and one electric field: E_psi/v in the label of the surface, or E_r/v (T)."""

    nu_hat: float
    epsi_hat: float | None = None
    er_hat: float | None = None


@dataclass(frozen=True)
class TransportResult:
    """Coefficients of one case and the first Legendre coefficients of both solutions."""

    D11: float
    D31: float
    D13: float
    D33: float
    D33_spitzer: float
    f1_modes: Array  #: (3, points): of the radial drive; ``reshape(n_theta, n_zeta, order="F")`` of a row is a field
    f3_modes: Array  #: (3, points): of the parallel drive
    residual_l2: float  #: the largest of what is left of the equations, relative to the largest source
    onsager_residual: float  #: abs(D13 + D31)

    @property
    def schur_residual_l2(self) -> float:
        """``residual_l2`` under its newer name."""
        return self.residual_l2

    def as_dict(self) -> dict[str, float]:
        """The numbers, without the modes."""
        return {name: float(getattr(self, name)) for name in ("D11", "D31", "D13", "D33", "D33_spitzer", "residual_l2", "onsager_residual")}


@dataclass(frozen=True)
class BoozmnSurface:
    """A surface of a ``boozmn`` file and where it is."""

    surface: Surface
    path: FilePath
    s: float
    rho: float
    surface_index: int
    mode_count: int


@dataclass(frozen=True)
class PreparedMonoenergeticSystem:
    """A surface on a grid, for any number of cases."""

    surface: Surface
    grid: GridSpec
    plan: neoclassical.Plan

    @property
    def geometry(self) -> neoclassical.Field:
        """The magnetic field on the grid."""
        return self.plan.field


CompiledPreparedSolver = Callable[[MonoenergeticCase], TransportResult]


def enable_x64(enabled: bool = True) -> None:
    """Double precision, which is always there."""
    if not enabled:
        _sonde.raise_error("not_supported", "enable_x64(): everything is float64", "leave it out")


@checked
def example_surface(dtype: Any = None) -> Surface:
    """The analytic surface of NTX's examples: four harmonics, five field periods, iota 0.85."""
    return Surface.demo()


@checked
def load_dkes_surface(path: Path) -> Surface:
    """A DKES namelist (``ddkes2.data``). Coefficients are per metre of r."""
    return Surface.dkes(path)


@checked
def load_vmec_surface(path: Path, *, psi_n: float, vmec_radial_option: int = 0, vmec_nyquist_option: int = 1,
                      vmec_mode_convention: str = "reduced", min_bmn_to_load: float = 0.0) -> Surface:
    """The surface psi_n (toroidal flux over that of the edge) of a VMEC ``wout`` file, in its own angles. Coefficients are per s."""
    if vmec_nyquist_option != 1:
        _sonde.raise_error("not_supported", f"load_vmec_surface(): vmec_nyquist_option {vmec_nyquist_option}; all modes of the file are read",
                           "leave it out, or leave small modes out with min_bmn_to_load")
    return Surface.vmec(path, s=psi_n, vmec_radial_option=vmec_radial_option, min_bmn=min_bmn_to_load)


@checked
def load_boozmn_surface(path: Path, *, s: float | None = None, rho: float | None = None, surface_index: int | None = None,
                        psi_p: float = 1.0, min_bmn_to_load: float = 0.0) -> BoozmnSurface:
    """A surface of a ``boozmn`` file. Coefficients are per the label whose derivative of the flux is ``psi_p``, as in NTX, also where the file
    says another flux: with the usual 1 they are per flux. Angles are turned to a right-handed system as NTX turns them.

    A surface between two of the file is interpolated as :meth:`sonde.neoclassical.Surface.boozmn` does, and refused where they are far apart.
    """
    if sum(each is not None for each in (s, rho, surface_index)) != 1:
        _sonde.raise_error("usage", "load_boozmn_surface(): exactly one of s, rho and surface_index is wanted", "")
    stored = _boozer_file(path, s=s, rho=rho, surface_index=surface_index, min_bmn=min_bmn_to_load)
    mean_only = _boozer_file(path, s=s, rho=rho, surface_index=surface_index, min_bmn=1e30)  # I and G, on any grid
    field = neoclassical.prepare(mean_only, neoclassical.Grid(3, 3, 3)).field
    poloidal, toroidal, iota = -float(field.b_sub_theta[0, 0]), float(field.b_sub_zeta[0, 0]), -stored.iota
    sign = 1.0 if toroidal + iota * poloidal >= 0 else -1.0
    harmonics = stored.harmonics
    surface = Surface.analytic(harmonics.m, -harmonics.n, harmonics.cosine, nfp=stored.nfp, iota=iota, psi_p=psi_p,
                               b_theta=sign * poloidal, b_zeta=sign * toroidal, b_sin=None if harmonics.sine is None else -harmonics.sine)
    return BoozmnSurface(surface, FilePath(path).expanduser().resolve(), stored.s, math.sqrt(stored.s), -1 if surface_index is None else surface_index,
                         len(harmonics.m))


def _boozer_file(path: Path, **options: Any) -> Surface:
    """Also of a file without the flux of its edge, which the caller has no use for: only its sign is checked."""
    try:
        return Surface.boozmn(path, **options)
    except Error as error:
        if "no toroidal flux of the edge" not in error.message:
            raise
    try:
        return Surface.boozmn(path, psi_a=1.0, **options)
    except Error as error:
        if "differ in sign" not in error.message:
            raise
    return Surface.boozmn(path, psi_a=-1.0, **options)


@checked
def prepare_monoenergetic_system(surface: Surface | BoozmnSurface, grid: GridSpec) -> PreparedMonoenergeticSystem:
    """All that one surface on one grid needs before collisionality and electric field are known."""
    field = surface.surface if isinstance(surface, BoozmnSurface) else surface
    return PreparedMonoenergeticSystem(field, grid, neoclassical.prepare(field, grid.grid()))


@checked
def solve_prepared(prepared: PreparedMonoenergeticSystem, case: MonoenergeticCase) -> TransportResult:
    """One case."""
    made = prepared.plan.modes(case.nu_hat, epsi_hat=case.epsi_hat, er_hat=case.er_hat)
    found = made.coefficients
    return TransportResult(found.D11, found.D31, found.D13, found.D33, found.D33_spitzer, _flattened(made.f1), _flattened(made.f3), found.residual,
                           onsager_error(found.D31, found.D13))


def _flattened(modes: Array) -> Array:
    """(k, theta, zeta) to (k, points), theta fastest."""
    return modes.transpose(0, 2, 1).reshape(len(modes), -1)


@checked
def compile_prepared_solver(prepared: PreparedMonoenergeticSystem) -> CompiledPreparedSolver:
    """:func:`solve_prepared` of one system. There is nothing to compile: the first call takes as long as the others."""
    return lambda case: solve_prepared(prepared, case)


@checked
def solve_monoenergetic(surface: Surface | BoozmnSurface, grid: GridSpec, case: MonoenergeticCase) -> TransportResult:
    """One case of one surface."""
    return solve_prepared(prepare_monoenergetic_system(surface, grid), case)


@checked
def solve_scan(surface: Surface | BoozmnSurface, grid: GridSpec, cases: Iterable[MonoenergeticCase]) -> list[TransportResult]:
    """Any cases of one surface, several at a time; a case that fails raises."""
    prepared = prepare_monoenergetic_system(surface, grid)
    with ThreadPoolExecutor(thread_count()) as pool:
        return list(pool.map(lambda case: solve_prepared(prepared, case), cases))


@checked
def solve_monoenergetic_scan(surface: Surface | BoozmnSurface, grid: GridSpec, nu_hat: npt.ArrayLike, *, epsi_hat: npt.ArrayLike | None = None,
                             er_hat: npt.ArrayLike | None = None, scan_batch_size: int | None = None) -> dict[str, Array]:
    """Arrays of cases, which are broadcast against each other: D11, D31, D13, D33 and D33_spitzer in the shape of that.

    At most ``scan_batch_size`` points are solved at a time, and not more than there are threads. A point that fails raises.
    """
    if epsi_hat is not None and er_hat is not None:
        _sonde.raise_error("usage", "solve_monoenergetic_scan(): epsi_hat and er_hat given; at most one is wanted", "")
    if scan_batch_size is not None and scan_batch_size < 1:
        _sonde.raise_error("usage", f"solve_monoenergetic_scan(): scan_batch_size {scan_batch_size}; expected 1 or more", "")
    name = "epsi_hat" if er_hat is None else "er_hat"
    field = er_hat if er_hat is not None else epsi_hat if epsi_hat is not None else 0.0
    nus, fields = np.broadcast_arrays(np.asarray(nu_hat, float), np.asarray(field, float))
    plan = prepare_monoenergetic_system(surface, grid).plan

    def solve(point: tuple[float, float]) -> tuple[float, ...]:
        found = plan.solve(point[0], **{name: point[1]})
        return tuple(getattr(found, each) for each in _COEFFICIENTS)

    points = list(zip(nus.ravel().tolist(), fields.ravel().tolist()))
    with ThreadPoolExecutor(min(thread_count(), scan_batch_size or thread_count())) as pool:
        found = np.array(list(pool.map(solve, points)), float).reshape(*nus.shape, len(_COEFFICIENTS))
    return {each: found[..., i] for i, each in enumerate(_COEFFICIENTS)}


_COEFFICIENTS = ("D11", "D31", "D13", "D33", "D33_spitzer")


def solve_monoenergetic_parallel_scan(surface: Surface | BoozmnSurface, grid: GridSpec, nu_hat: npt.ArrayLike, *, num_devices: int | None = None,
                                      **fields: Any) -> dict[str, Array]:
    """:func:`solve_monoenergetic_scan`, which uses all cores itself; ``num_devices`` has no effect."""
    return solve_monoenergetic_scan(surface, grid, nu_hat, **fields)


def solve_monoenergetic_multiprocess_scan(surface: Surface | BoozmnSurface, grid: GridSpec, nu_hat: npt.ArrayLike, *, backend: str = "cpu",
                                          workers: int | None = None, **fields: Any) -> dict[str, Array]:
    """:func:`solve_monoenergetic_scan`, which uses all cores itself; ``workers`` has no effect, and a ``backend`` other than "cpu" is refused."""
    if backend != "cpu":
        _sonde.raise_error("not_supported", f'solve_monoenergetic_multiprocess_scan(): backend "{backend}"; it uses the cores of this machine',
                           "sonde.neoclassical.Plan.scan(..., device=) uses a GPU")
    return solve_monoenergetic_scan(surface, grid, nu_hat, **fields)


def onsager_error(d31: Any, d13: Any) -> Any:
    """abs(D13 + D31), which vanishes as the grid is refined."""
    return abs(d13 + d31)


# Of NEOPAX's files, where they differ from the name here.
_NEOPAX_NAMES = {"b00": "B00", "r00": "R00", "boozer_i": "I", "boozer_g": "G"} | {
    f"fac_{scale}_{pair}": f"Fac_{scale.upper()}_{pair}"
    for scale in ("reference_to_sfincs", "monkes_to_sfincs", "sfincs_to_dkes") for pair in ("11", "31", "33")} | {
    f"fac_dkes_to_d{pair}star": f"Fac_DKES_TO_D{pair}star" for pair in ("11", "31", "33")}
_NEOPAX_NEEDED = ("rho", "nu_v", "Er", "Es", "drds", "D11", "D13", "D33")
_NEOPAX_ATTRIBUTES = ("a_b", "psia", "source_name")


@dataclass(frozen=True)
class NeopaxScan:
    """Coefficients by radius, collisionality and electric field."""

    rho: Array  #: (R,)
    nu_v: Array  #: (N,), 1/m
    Er: Array  #: (R, E): E_r/v
    Es: Array  #: (R, E): the same as the solver takes it
    drds: Array  #: (R,)
    D11: Array  #: (R, N, E), and the others
    D13: Array
    D33: Array
    D33_spitzer: Array | None = None
    D31: Array | None = None
    Er_tilde: Array | None = None
    Er_to_Ertilde: Array | None = None
    dr_tildedr: Array | None = None
    dr_tildeds: Array | None = None
    a_b: float | None = None  #: m
    psia: float | None = None  #: T m^2
    b00: Array | None = None
    r00: Array | None = None
    boozer_i: Array | None = None
    boozer_g: Array | None = None
    iota: Array | None = None
    fac_reference_to_sfincs_11: Array | None = None
    fac_reference_to_sfincs_31: Array | None = None
    fac_reference_to_sfincs_33: Array | None = None
    fac_monkes_to_sfincs_11: Array | None = None
    fac_monkes_to_sfincs_31: Array | None = None
    fac_monkes_to_sfincs_33: Array | None = None
    fac_sfincs_to_dkes_11: Array | None = None
    fac_sfincs_to_dkes_31: Array | None = None
    fac_sfincs_to_dkes_33: Array | None = None
    fac_dkes_to_d11star: Array | None = None
    fac_dkes_to_d31star: Array | None = None
    fac_dkes_to_d33star: Array | None = None
    source_name: str | None = None


@dataclass(frozen=True)
class NeopaxMonoenergeticArrays:
    """What ``NEOPAX.Monoenergetic`` is made of."""

    a_b: float
    rho: Array
    nu_log: Array  #: log10 nu_v
    Er_list: Array  #: (R, E): log10 of abs(E_r/v)/(a_b rho), at least -8
    D11_log: Array  #: log10 of D11 drds^2
    D13: Array  #: D13 drds
    D33: Array  #: D33 nu_v


@checked
def scan_to_neopax_arrays(scan: NeopaxScan, *, a_b: float,
                          d33_mode: Literal["spitzer", "raw", "conductivity_difference"] = "spitzer") -> NeopaxMonoenergeticArrays:
    """The arrays of a scan as NEOPAX takes them.

    Parameters
    ----------
    a_b : float
        Minor radius, m.
    d33_mode : str
        ``"spitzer"`` takes that of a uniform field, ``"raw"`` D33, ``"conductivity_difference"`` the first less the second.
    """
    if d33_mode not in ("spitzer", "raw", "conductivity_difference"):
        _sonde.raise_error("usage", f"scan_to_neopax_arrays(): d33_mode {d33_mode!r}; expected spitzer, raw or conductivity_difference", "")
    if d33_mode == "conductivity_difference" and scan.D33_spitzer is None:
        _sonde.raise_error("bad_input", "scan_to_neopax_arrays(): conductivity_difference needs D33_spitzer, which the scan does not have", "")
    parallel = scan.D33 if d33_mode == "raw" or scan.D33_spitzer is None else scan.D33_spitzer
    if d33_mode == "conductivity_difference":
        parallel = parallel - scan.D33
    slopes = scan.drds[:, None, None]
    return NeopaxMonoenergeticArrays(a_b=a_b, rho=scan.rho, nu_log=np.log10(scan.nu_v),
                                     Er_list=np.log10(np.maximum(1e-8, np.abs(scan.Er[0])[None, :] / (a_b * scan.rho[:, None]))),
                                     D11_log=np.log10(scan.D11 * slopes**2), D13=scan.D13 * slopes, D33=parallel * scan.nu_v[None, :, None])


def _h5py() -> Any:
    try:
        return importlib.import_module("h5py")
    except ImportError:
        _sonde.raise_error("not_supported", "databases of NEOPAX are read and written here by h5py, which is not installed",
                           "python3-h5py of Debian; sonde.neoclassical.Database needs nothing")


@checked
def write_neopax_scan_hdf5(scan: NeopaxScan, path: Path) -> FilePath:
    """Writes the scan as NEOPAX reads it (needs h5py). A file appears under its name when it is complete; equal scans give equal bytes."""
    h5py = _h5py()
    place = FilePath(path).expanduser().resolve()
    place.parent.mkdir(parents=True, exist_ok=True)
    partial = place.with_name(f"{place.name}.partial-{os.getpid()}")
    try:
        with h5py.File(partial, "w") as file:
            for each in fields(scan):
                values = getattr(scan, each.name)
                if values is None:
                    continue
                if each.name in _NEOPAX_ATTRIBUTES:
                    file.attrs[each.name] = values
                else:
                    file.create_dataset(_NEOPAX_NAMES.get(each.name, each.name), data=np.asarray(values, float), track_times=False)
            file.attrs["format_version"] = 2
        partial.replace(place)
    finally:
        partial.unlink(missing_ok=True)
    return place


@checked
def load_neopax_reference_scan(path: Path) -> NeopaxScan:
    """Reads a database of NEOPAX's form (needs h5py)."""
    h5py = _h5py()
    place = FilePath(path).expanduser().resolve()
    try:
        with h5py.File(place, "r") as file:
            missing = [each for each in _NEOPAX_NEEDED if each not in file]
            if missing:
                _sonde.raise_error("bad_file", f"{place}: no dataset {missing[0]}; a database of NEOPAX has {', '.join(_NEOPAX_NEEDED)}", "")
            found: dict[str, Any] = {each.name: np.asarray(file[_NEOPAX_NAMES.get(each.name, each.name)][()]) for each in fields(NeopaxScan)
                                     if each.name not in _NEOPAX_ATTRIBUTES and _NEOPAX_NAMES.get(each.name, each.name) in file}
            found.update({each: float(file.attrs[each]) for each in ("a_b", "psia") if each in file.attrs})
            return NeopaxScan(**found, source_name=str(file.attrs.get("source_name", place.name)))
    except OSError as error:
        _sonde.raise_error("bad_file", f"{place}: {error}", "")


@checked
def build_ntx_neopax_scan(surface_loader: Callable[[float], Surface | BoozmnSurface], *, rho: npt.ArrayLike, nu_v: npt.ArrayLike,
                          Es: npt.ArrayLike | None = None, Er: npt.ArrayLike | None = None, drds: npt.ArrayLike, grid: GridSpec,
                          source_name: str | None = None) -> NeopaxScan:
    """The scan of the surfaces that ``surface_loader`` gives for each rho; see :func:`build_ntx_neopax_scan_from_surfaces`."""
    radii = np.asarray(rho, float)
    return build_ntx_neopax_scan_from_surfaces(tuple(surface_loader(float(each)) for each in radii), rho=radii, nu_v=nu_v, Es=Es, Er=Er, drds=drds,
                                               grid=grid, source_name=source_name)


@checked
def build_ntx_neopax_scan_from_surfaces(surfaces: Iterable[Surface | BoozmnSurface], *, rho: npt.ArrayLike, nu_v: npt.ArrayLike,
                                        Es: npt.ArrayLike | None = None, Er: npt.ArrayLike | None = None, drds: npt.ArrayLike, grid: GridSpec,
                                        source_name: str | None = None) -> NeopaxScan:
    """Every surface at every collisionality and electric field, in the shape that NEOPAX reads.

    Parameters
    ----------
    rho : (R,)
        Radii of the surfaces.
    nu_v : (N,)
        Collisionalities, 1/m.
    Es, Er : (R, E)
        Electric fields as the solver takes them (E_psi/v in the label of each surface), and as E_r/v; of one the other is ``drds`` times it:
        Es = Er drds.
    drds : (R,)
        dr/ds.
    """
    radii, nus, slopes, all_surfaces = np.asarray(rho, float), np.asarray(nu_v, float), np.asarray(drds, float), list(surfaces)
    if Es is None and Er is None:
        _sonde.raise_error("usage", "build_ntx_neopax_scan(): Es or Er is wanted", "")
    inner = np.asarray(Es, float) if Es is not None else np.asarray(Er, float) * slopes[:, None]
    outer = np.asarray(Er, float) if Er is not None else inner / slopes[:, None]
    if not (radii.ndim == nus.ndim == 1 and inner.ndim == 2 and inner.shape == outer.shape and len(inner) == len(radii) and slopes.shape == radii.shape
            and len(all_surfaces) == len(radii)):
        _sonde.raise_error("bad_input", f"build_ntx_neopax_scan(): {len(all_surfaces)} surfaces, rho {radii.shape}, nu_v {nus.shape}, Es {inner.shape}, "
                           f"Er {outer.shape}, drds {slopes.shape}; expected R surfaces, (R,), (N,), (R, E), (R, E), (R,)", "")
    rows = [solve_monoenergetic_scan(surface, grid, nus[:, None], epsi_hat=fields[None, :]) for surface, fields in zip(all_surfaces, inner)]
    found: dict[str, Any] = {each: np.stack([row[each] for row in rows]) for each in _COEFFICIENTS}
    return NeopaxScan(rho=radii, nu_v=nus, Er=outer, Es=inner, drds=slopes, source_name=source_name, **found)


@checked
def run_from_input_file(path: Path, *, console: Any = None, output_path: Path | None = None, plot: bool = False,
                        plot_path: Path | None = None) -> dict[str, Any]:
    """What ``sonde neoclassical run`` does with a run file of NTX, in NTX's discretisation unless the file says another one.

    Returns
    -------
    dict
        ``result``, ``output_path``, ``output_format``, ``timing_seconds``, and with ``plot`` also ``plot_pdf``.
    """
    if console is not None or plot_path is not None:
        _sonde.raise_error("not_supported", "run_from_input_file(): console and plot_path are of NTX",
                           "leave them out; sonde.neoclassical.plot draws a result")
    file = FilePath(path).expanduser().resolve()
    asked = _asked(file)
    options: dict[str, Any] = {"plot": True} if plot else {}
    if "discretisation" not in asked.get("grid", {}):
        options["grid"] = {"discretisation": "collocation"}
    if output_path is not None:
        options["output"] = os.fspath(output_path)
    elif not {"path", "npz"} & set(asked.get("output", {})):
        options["output"] = str(file.with_suffix(".nc"))
    made = _run_verb(str(file), **options)
    facts = made.facts
    seconds = {phase["name"]: phase["first_s"] for phase in made.report["phases"]}
    payload = {"result": {**{each: facts[each] for each in _COEFFICIENTS}, "residual_l2": facts["residual"],
                          "onsager_residual": onsager_error(facts["D31"], facts["D13"])},
               "output_path": made.files[0],
               "output_format": {".nc": "netcdf", ".h5": "hdf5", ".npz": "npz"}[FilePath(made.files[0]).suffix],
               "timing_seconds": {**seconds, "total": made.report["total_s"]}}
    drawn = [each for each in made.files if each.endswith(".pdf")]
    return payload | ({"plot_pdf": drawn[0]} if drawn else {}) | ({"output_npz": made.files[0]} if made.files[0].endswith(".npz") else {})


def _asked(file: FilePath) -> dict[str, Any]:
    """The tables of a run file; none where they cannot be read, which the run itself says best."""
    try:
        return tomllib.loads(file.read_text())
    except (OSError, ValueError):
        return {}
