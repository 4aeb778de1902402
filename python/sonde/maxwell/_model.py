# SPDX-License-Identifier: Apache-2.0
"""What a run of waves is made of: values without behaviour."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from .. import _sonde
from .._arrays import as_numpy
from .._objects import Checked

Array = npt.NDArray[Any]
Component = Literal["Ex", "Ey", "Ez", "Hx", "Hy", "Hz"]


def real(data: Any, what: str, *, copy: bool = False) -> Array:
    """As a C-contiguous float64 array; ``what`` names it in errors."""
    try:
        array = as_numpy(data)
    except ValueError:
        array = np.empty(0, object)  # lists of different lengths
    if array.dtype.kind not in "fiub":
        _sonde.raise_error("bad_input", f"{what}: elements of type {array.dtype}; expected real numbers", "")
    return np.array(array, np.float64, order="C", copy=True) if copy else np.ascontiguousarray(array, np.float64)


@dataclass(frozen=True, eq=False)
class DebyeDispersion:
    """Debye relaxation: ``eps_r + sum delta_epsilon / (1 + j omega tau)``. Numbers, arrays of the model's shape, or several of those,
    ``[pole]...``."""

    delta_epsilon: Any
    tau: Any  #: s

    def poles(self, shape: tuple[int, ...]) -> list[tuple[Array, Array]]:
        """One pair of arrays of the model's shape for each pole."""
        both = [self._by_pole(real(each, "debye"), len(shape)) for each in (self.delta_epsilon, self.tau)]
        count = max(map(len, both))
        try:
            deps, tau = (np.broadcast_to(each, (count, *shape)) for each in both)
        except ValueError:
            _sonde.raise_error("bad_input", f"debye: delta_epsilon of shape {np.shape(self.delta_epsilon)} and tau of shape "
                               f"{np.shape(self.tau)}; expected numbers, {shape} or (poles, *{shape})", "")
        return [(np.ascontiguousarray(d), np.ascontiguousarray(t)) for d, t in zip(deps, tau)]

    @staticmethod
    def _by_pole(given: Array, axes: int) -> Array:
        return given.reshape((-1, *[1] * axes)) if given.ndim < 2 else given[None] if given.ndim == axes else given


@dataclass(frozen=True, eq=False)
class EMModel:
    """A medium on cells: arrays ``[z][x]``, or ``[z][y][x]`` in three dimensions; one more axis in front makes several models."""

    eps_r: Any  #: relative permittivity; with ``debye`` that of infinite frequency
    sigma: Any = None  #: S/m; an array or a number, None: 0
    mu_r: Any = None  #: an array or a number, None: 1
    debye: DebyeDispersion | None = None


@dataclass(frozen=True, eq=False)
class EMDirection:
    """A change of a model, of the source amplitudes and of the fields at the start; what is None does not change."""

    eps_r: Any = None
    sigma: Any = None
    mu_r: Any = None
    source: Any = None  #: [shot][source][step]
    debye: DebyeDispersion | None = None  #: of as many poles as the model has
    initial_state: dict[str, Any] | None = None  #: as ``final_state`` of a run; fields that it does not name do not change


class EMGradient(NamedTuple):
    """Derivatives, of the shapes of what they are by; None where none was asked for."""

    eps_r: Array | None = None
    sigma: Array | None = None
    mu_r: Array | None = None
    source: Array | None = None
    debye: DebyeDispersion | None = None  #: [pole] and the model
    initial_state: dict[str, Array] | None = None  #: as ``final_state`` of a run


@dataclass(frozen=True)
class CPML:
    """Absorbing layers outside of the model. What is None is the preset's."""

    width: int | tuple[int, ...] = 10  #: cells: one, or low and high of each axis in the order of the arrays; 0: a perfect conductor
    preset: Literal["default", "gprmax", "tide"] = "default"
    grading: float | None = None  #: power by which conductivity and kappa grow with depth
    sigma_factor: float | None = None
    kappa_max: float | None = None
    alpha_max: float | None = None  #: S/m
    alpha_min: float | None = None  #: S/m

    def table(self) -> dict[str, Any]:
        """The keys of a run file's [grid]."""
        width = self.width if np.ndim(self.width) == 0 else [int(each) for each in self.width]  # type: ignore[union-attr]
        made = {"pml": width, "pml_preset": self.preset}
        for name in ("grading", "sigma_factor", "kappa_max", "alpha_max", "alpha_min"):
            made["pml_" + name] = getattr(self, name)
        return made


@dataclass(frozen=True)
class Discretization:
    """Steps in space and time."""

    spacing: float | tuple[float, ...]  #: m: one, or one for each axis in the order of the arrays
    dt: float | None = None  #: s, of sources and records; a run takes several steps for one where it must. None: by ``courant``
    order: int = 4  #: of the spatial stencils: 2, 4, 6 or 8
    boundary: CPML = field(default_factory=CPML)
    material_location: Literal["node", "cell"] = "node"
    time_dispersion: Literal["off", "corrected"] = "off"  #: corrected takes out the error of the time step
    courant: float = 0.9  #: dt over the largest stable one, where ``dt`` is None
    dtype: Literal["f32", "f64"] | None = None  #: of the fields; None: f32 for a float32 model, else f64
    max_velocity: float | None = None  #: m/s, of models to come: the step is stable for them as well

    def __post_init__(self) -> None:
        if self.max_velocity is not None and not self.max_velocity > 0:
            _sonde.raise_error("bad_input", f"max_velocity = {self.max_velocity} m/s: expected above 0", "")

    def table(self) -> dict[str, Any]:
        """The keys of a run file's [grid]."""
        return {"order": self.order, "courant": self.courant, "time_dispersion": self.time_dispersion,
                "material_location": self.material_location, **self.boundary.table()}


@dataclass(frozen=True, eq=False)
class Acquisition:
    """Where is excited and recorded: ``[shot][point][axis]``, axes as in the model's arrays. Integers are elements of the array of the
    component, floats are positions in cells from plane 0, so that element i of Ex is at x = i + 0.5."""

    source_location: Any
    receiver_location: Any


@dataclass(frozen=True, eq=False)
class Experiment:
    """What is excited, and what is recorded of it."""

    acquisition: Acquisition
    #: [shot][source][step], [source][step] or [step]: of an electric source the moment in A m (in two dimensions the current in A)
    #: at (n + 1/2) dt, of a magnetic one its moment in V m (V) at n dt
    source_amplitude: Any
    nt: int | None = None  #: time steps; None: as many as the amplitudes have
    source_component: Component | tuple[Component, ...] = "Ey"  #: one, or one for each source of a shot
    receiver_component: Component | tuple[Component, ...] = "Ey"
    f0: float | None = None  #: Hz, the dominant frequency, for the absorbing layers


@dataclass(frozen=True)
class ExecutionOptions:
    """Where and how an operator runs."""

    device: str = "cpu"  #: "cpu", "cuda", "cuda:1", or "auto": a GPU where there is one
    threads: int | None = None  #: 1: one; None: those of the process (:func:`sonde.set_thread_count`)
    memory: str | int | None = None  #: the most to hold, for instance "8G"; None: 0.6 of what is free

    def __post_init__(self) -> None:
        if self.threads not in (None, 1):
            _sonde.raise_error("usage", f"threads = {self.threads}: expected 1 or None", "sonde.set_thread_count() is for the process")


@dataclass(frozen=True)
class StorageOptions:
    """Where a derivative keeps the fields of its forward run, and how many of them."""

    #: reconstruct stores E at the edge of the model and takes the run back in time inside
    mode: Literal["auto", "device", "host", "cpu", "disk", "recompute", "reconstruct", "none"] = "auto"
    path: str = ""  #: folder of fields on disk; empty: that of temporary files
    compression: Literal["none", "bf16", "auto", False] = "none"
    interval: int | Literal["auto"] = 1  #: steps between stored fields
    bytes_limit_device: int | str | None = None
    bytes_limit_host: int | str | None = None

    def table(self) -> dict[str, Any]:
        """The keys of a run file's [storage]."""
        return {"mode": self.mode, "path": self.path, "compression": self.compression or "none", "interval": str(self.interval),
                "bytes_limit_device": self.bytes_limit_device, "bytes_limit_host": self.bytes_limit_host}


class CallbackState(Checked):
    """The run between two steps, for one call of an observer. Arrays are windows on the memory of the run: copy what is needed later.
    What is written into them is seen by the next steps; they can be neither replaced nor resized. Those of a gradient's sweep backwards
    cannot be written."""

    def __init__(self, fields: Any, model: dict[str, Array], facts: dict[str, Any], boundary: list[int]) -> None:
        self._fields = fields
        self._model = model
        self._facts = facts
        self._boundary = boundary

    @property
    def step(self) -> int:
        """Steps of the survey that are done; of a sweep backwards those that are not taken back yet."""
        return int(self._facts["step"])

    @property
    def nt(self) -> int:
        """Steps of the survey in all."""
        return int(self._facts["nt"])

    @property
    def dt(self) -> float:
        """Of the survey, s."""
        return float(self._facts["dt"])

    @property
    def inner_step(self) -> int:
        """Steps of the run that are done."""
        return self.step * int(self._facts["ratio"])

    @property
    def inner_dt(self) -> float:
        """Of the run, s: H is half of it earlier than E."""
        return float(self._facts["inner_dt"])

    @property
    def time(self) -> float:
        """Of E, s."""
        return self.step * self.dt

    @property
    def shot(self) -> int:
        """Shots run one after the other."""
        return int(self._facts["shot"])

    @property
    def is_backward(self) -> bool:
        """Whether this is the sweep of a gradient backwards over the steps."""
        return bool(self._facts["is_backward"])

    @property
    def grid_spacing(self) -> tuple[float, ...]:
        """m, in the order of the arrays."""
        return tuple(self._facts["spacing"])

    @property
    def wavefield_names(self) -> list[str]:
        """The components of this run; of a sweep backwards ``"lambda_Ey"`` and so on."""
        names = ["Ey", "Hx", "Hz"] if len(self._boundary) == 4 else ["Ex", "Ey", "Ez", "Hx", "Hy", "Hz"]
        return ["lambda_" + name for name in names] if self.is_backward else names

    @property
    def gradient_names(self) -> list[str]:
        """The parameters whose gradient the sweep backwards makes; none in a forward run."""
        return list(self._facts["wrt"]) if self.is_backward else []

    @property
    def model_names(self) -> list[str]:
        """The parameters of the medium."""
        return list(self._model)

    def get_wavefield(self, name: str, view: str = "inner") -> Any:
        """A component: ``"inner"`` on the cells of the model, ``"pml"`` or ``"full"`` with the layers around it. ``"lambda_Ey"`` is the
        derivative of the loss by Ey times cb, what a current adds to Ey in a step; ``"lambda_Hx"`` that by Hx times -dt / mu."""
        if name not in self.wavefield_names:
            _sonde.raise_error("bad_input", f"{name}: the fields of this run are {', '.join(self.wavefield_names)}", "")
        return self._fields.view(name.removeprefix("lambda_"), self._padded(view))

    def get_model(self, name: str, view: str = "inner") -> Any:
        """A parameter of the medium in the same way; it cannot be written."""
        if name not in self._model:
            _sonde.raise_error("bad_input", f'no parameter "{name}"; expected {", ".join(self._model)}', "")
        made = self._model[name]
        if self._padded(view):
            widths = [(self._boundary[2 * i], self._boundary[2 * i + 1]) for i in range(made.ndim)]
            made = np.pad(made, widths, mode="edge")
        made = made.view()
        made.flags.writeable = False
        return made

    def get_gradient(self, name: str, view: str = "inner") -> Any:
        """In a sweep backwards what the steps that are taken back make of the gradient of this shot: a copy. ``"inner"`` is on the cells of
        the model, those at its edge with their copies in the layers; ``"pml"`` and ``"full"`` has these where they are."""
        if not self.is_backward:
            _sonde.raise_error("not_supported", f"no gradient of {name} in a forward run", "Observers(backward=...) sees it")
        if name not in self._facts["wrt"]:
            _sonde.raise_error("bad_input", f'no gradient of "{name}"; expected {", ".join(self.gradient_names)}', "")
        return self._fields.gradient(name, self._padded(view))

    @staticmethod
    def _padded(view: str) -> bool:
        if view not in ("inner", "pml", "full"):
            _sonde.raise_error("usage", f'view = "{view}": expected inner, pml or full', "")
        return view != "inner"


@dataclass(frozen=True)
class Observers:
    """Functions that look at a run between its steps: ``forward(state)`` before steps 0, ``frequency``, 2 ``frequency``, ..., and
    ``backward(state)`` of the sweep of a gradient, when all steps from such a one on have been taken back, the last ones first."""

    forward: Callable[[CallbackState], object] | None = None
    backward: Callable[[CallbackState], object] | None = None
    frequency: int = 1

    def __post_init__(self) -> None:
        if self.frequency < 1:
            _sonde.raise_error("bad_input", f"frequency = {self.frequency}: expected at least 1", "")
