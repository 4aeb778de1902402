# SPDX-License-Identifier: Apache-2.0
"""Radar waves under the names of TIDE, for scripts that know them: they change their import.

Given tensors of PyTorch, functions return tensors through which ``backward()`` runs; given arrays, arrays. PyTorch is imported only
in the first case.

>>> import numpy as np
>>> from sonde.compat import tide
>>> one = np.ones((30, 30))
>>> source, receivers = np.array([[[10, 5]]]), np.array([[[10, 25], [20, 25]]])
>>> *fields, data = tide.maxwelltm(4 * one, 0 * one, one, 0.02, 4e-11, tide.ricker(4e8, 150, 4e-11).reshape(1, 1, -1), source, receivers)
>>> data.shape
(150, 1, 2)

Arrays are ``[y][x]`` and ``[z][y][x]`` as there: y points down in two dimensions. H has the opposite sign of that of
:mod:`sonde.maxwell`, E the same. What is different:

- Shots run one after the other. A callback sees one of them, ``state.shot``, in arrays whose first axis has the length 1. E may be
  written where no gradient is asked for, elsewhere and of H it gets copies. In a ``backward_callback`` ``lambda_Ey`` is cb times the
  derivative of the loss by Ey, ``lambda_Hx`` dt / mu times that by Hx.
- A run with ``dispersion`` begins from fields that are zero: what it returns has no polarisation.
- A gradient runs forwards once more, so that nothing is kept between ``forward`` and ``backward``.
- The step is stable for every ``stencil``, which takes more inner steps where TIDE diverges.
"""

from __future__ import annotations

import importlib
import sys
import warnings
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import numpy as np

from .. import _sonde, maxwell
from .._calls import checked
from ..maxwell import DebyeDispersion, cfl_condition
from ..maxwell._operator import Medium, _Operator

__all__ = ["CallbackState", "DebyeDispersion", "cfl_condition", "maxwell3d", "maxwelltm", "ricker"]

_MEMORY = {2: ("m_Ey_x", "m_Ey_z", "m_Hx_z", "m_Hz_x"),
           3: ("m_hz_y", "m_hy_z", "m_hx_z", "m_hz_x", "m_hy_x", "m_hx_y", "m_ey_z", "m_ez_y", "m_ez_x", "m_ex_z", "m_ex_y", "m_ey_x")}
_FIELDS = {2: ("Ey", "Hx", "Hz"), 3: ("Ex", "Ey", "Ez", "Hx", "Hy", "Hz")}
_STATES = {axes: (*_FIELDS[axes], *_MEMORY[axes]) for axes in (2, 3)}
_OURS = {"epsilon": "eps_r", "sigma": "sigma", "mu": "mu_r"}


class CallbackState(maxwell.CallbackState):
    """The run between two steps under TIDE's names: fields have a first axis, of one shot; parameters are epsilon, sigma and mu."""

    @property
    def model_names(self) -> list[str]:
        """The parameters of the medium."""
        return list(_OURS)

    def get_wavefield(self, name: str, view: str = "inner") -> Any:
        """A component, as :meth:`sonde.maxwell.CallbackState.get_wavefield`, [1]..."""
        made = super().get_wavefield(name, view)[None]
        if name.startswith("H"):  # lambda_H has both signs turned
            made = -made
        return self._facts["like"](made)

    def get_model(self, name: str, view: str = "inner") -> Any:
        """A parameter of the medium: a copy."""
        return self._facts["like"](super().get_model(_OURS.get(name, name), view).copy())

    @property
    def gradient_names(self) -> list[str]:
        """The parameters whose gradient the sweep backwards makes."""
        wanted = super().gradient_names
        return [name for name, own in _OURS.items() if own in wanted]

    def get_gradient(self, name: str, view: str = "inner") -> Any:
        """What the steps that are taken back make of the gradient of this shot: a copy."""
        return self._facts["like"](super().get_gradient(_OURS.get(name, name), view))


Callback = Callable[[CallbackState], object]


def ricker(freq: float, length: int, dt: float, peak_time: float | None = None, dtype: Any = None, device: Any = None) -> Any:
    """The Ricker wavelet at the times n dt: a tensor where the script has imported PyTorch, else an array."""
    made = maxwell.ricker(freq, length, dt, peak_time, offset=0)
    torch = sys.modules.get("torch")
    if torch is None:
        return made if dtype is None else made.astype(dtype)
    return torch.as_tensor(made, dtype=dtype or torch.get_default_dtype(), device=device)


def _is_tensor(given: Any) -> bool:
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(given, torch.Tensor)


def _array(given: Any) -> Any:
    """As NumPy has it, on the same memory."""
    if not _is_tensor(given):
        return given
    if given.device.type != "cpu":
        _sonde.raise_error("not_supported", f"a tensor on {given.device}: waves run on the CPU", "give tensor.cpu()")
    return given.detach().numpy()


def _without_effect(options: dict[str, Any]) -> None:
    for name, value in options.items():
        if value:
            warnings.warn(f"{name} = {value!r} has no effect: there is one implementation", stacklevel=4)


def _compression(given: bool | str | None) -> str:
    words = {False: "none", None: "none", True: "bf16", "none": "none", "bf16": "bf16"}
    if given not in words:
        _sonde.raise_error("usage", f'storage_compression = {given!r}: expected False, "none" or "bf16"', "")
    return words[given]


class _Waves(_Operator):
    """One call of TIDE's: an operator with one model and its observers."""

    def __init__(self, axes: int, model: maxwell.EMModel, *parts: Any, **options: Any) -> None:
        super().__init__(*parts, **options)
        self._axes = axes  # type: ignore[misc]
        self._medium = Medium(model)

    def record_shape(self) -> tuple[int, int, int]:
        """[step][shot][receiver]."""
        facts = self._on(self._medium).describe()
        return (facts["nt"], facts["shots"], facts["receivers"])

    def ratio(self) -> int:
        """Steps of the run in one of the script's."""
        return int(self._on(self._medium).describe()["ratio"])

    def forward(self, like: Callable[[Any], Any], may_edit: bool, start: dict[str, Any] | None) -> tuple[Any, list[Any]]:
        """Records; fields behind the last step and what the layers remember of them."""
        waves = self._on(self._medium)
        look = self._looker(self._medium, self._observers.forward, CallbackState,
                            like=like if may_edit else lambda array: like(array.copy()))
        data, last = waves.forward(look, self._observers.frequency, may_edit, True, start)
        return self._rounded(data), [_turned(name, last[_own_name(name)]) for name in _STATES[self._axes]]

    def vjp(self, residual: Any, wrt: list[str], like: Callable[[Any], Any], start: dict[str, Any] | None,
            end: dict[str, Any] | None) -> dict[str, Any]:
        """Derivatives by what ``wrt`` names."""
        waves = self._on(self._medium)
        look = self._looker(self._medium, self._observers.backward, CallbackState, like=like, is_backward=True,
                            wrt=[name for name in wrt if name in _OURS.values()])
        made: dict[str, Any] = waves.vjp(np.ascontiguousarray(residual, np.float64), wrt, start, end, look, self._observers.frequency)[0]
        return made


def _own_name(name: str) -> str:
    """"m_hz_y" and "m_Hz_y" are the same."""
    return name if name[0] != "m" else name[:2] + name[2].upper() + name[3:]


def _turned(name: str, array: Any) -> Any:
    """H and its derivatives have the opposite sign."""
    return -array if "H" in name or "h" in name else array


def _own_state(given: dict[str, Any]) -> dict[str, Any] | None:
    """A copy."""
    made = {_own_name(name): np.array(_turned(name, array), np.float64, order="C") for name, array in given.items() if array is not None}
    return made or None


@cache
def _function() -> Any:
    """The step of a graph of PyTorch."""
    torch: Any = importlib.import_module("torch")  # Any, with PyTorch or without it
    once_differentiable: Any = torch.autograd.function.once_differentiable

    def tensor(array: Any) -> Any:
        return torch.from_numpy(array if array.flags.writeable else array.copy())

    def reduced(found: Any, shape: Any, axes: int) -> Any:
        """Of a parameter of poles: a number is that of all cells, or of all poles."""
        by_pole = (max(shape.numel(), 1), *[1] * axes) if len(shape) < 2 else (1, *shape) if len(shape) == axes else shape
        return found.sum_to_size(by_pole).reshape(shape)

    class Waves(torch.autograd.Function):  # type: ignore[misc]
        @staticmethod
        def forward(ctx: Any, waves: _Waves, *given: Any) -> Any:
            ctx.waves, ctx.shapes = waves, [(each.shape, each.dtype) if _is_tensor(each) else None for each in given]
            ctx.start = _own_state(dict(zip(_STATES[waves._axes], map(_array, given[6:]))))
            ctx.set_materialize_grads(False)
            data, last = waves.forward(tensor, not any(ctx.needs_input_grad), ctx.start)
            return (torch.from_numpy(data), *map(torch.from_numpy, last))

        @staticmethod
        @once_differentiable  # type: ignore[misc]
        def backward(ctx: Any, residual: Any, *ends: Any) -> Any:
            waves, needed = ctx.waves, ctx.needs_input_grad[1:]
            wanted = [name for name, is_needed in zip(("eps_r", "sigma", "mu_r", "source"), needed) if is_needed]
            wanted += ["debye"] * any(needed[4:6]) + ["initial_state"] * any(needed[6:])
            if residual is None:
                residual = torch.zeros(waves.record_shape())
            end = _own_state(dict(zip(_STATES[waves._axes], map(_array, ends))))
            found = waves.vjp(residual.numpy(), wanted, tensor, ctx.start, end)
            by = [found.get(name) for name in ("eps_r", "sigma", "mu_r", "source")] + list(found.get("debye", (None, None)))
            by += [_turned(name, found["initial_state"][_own_name(name)]) if any(needed[6:]) else None for name in _STATES[waves._axes]]

            def like_given(i: int) -> Any:
                if not needed[i]:
                    return None
                shape, dtype = ctx.shapes[i]
                made = torch.from_numpy(by[i]).to(dtype)
                return reduced(made, shape, waves._axes) if i in (4, 5) else made.reshape(shape)

            return (None, *(like_given(i) for i in range(len(by))))

    return Waves.apply


def _propagate(axes: int, given: tuple[Any, ...], initial: dict[str, Any], spacing: Any, dt: float, locations: tuple[Any, Any],
               components: tuple[str, str], options: dict[str, Any]) -> tuple[Any, ...]:
    for name, value in initial.items():
        if value is not None and options["dispersion"] is not None:
            _sonde.raise_error("not_supported", f"{name}: runs with dispersion begin from fields that are zero", "leave it out")
    if options["compute_precision"] != "default":
        _sonde.raise_error("not_supported", f'compute_precision = "{options["compute_precision"]}": fields have the type of the tensors',
                           'give "default", and float32 tensors')
    n_threads = options["n_threads"]
    _without_effect({name: options[name] for name in ("python_backend", "experimental_cuda_graph", "storage_chunk_steps")}
                    | {"n_threads": None if n_threads == 1 else n_threads})
    epsilon, sigma, mu, source = (_array(each) for each in given)
    dispersion = options["dispersion"]
    parts = (None, None) if dispersion is None else (dispersion.delta_epsilon, dispersion.tau)
    poles = None if dispersion is None else DebyeDispersion(*map(_array, parts))
    if np.ndim(epsilon) == axes + 1:
        _sonde.raise_error("not_supported", f"epsilon: shape {np.shape(epsilon)}; one model per shot is not possible",
                           "call once for each model")
    tapers = {name: options[name] for name in ("freq_taper_frac", "time_pad_frac", "time_taper") if options[name]}
    width = options["pml_width"]
    mode = "none" if options["save_snapshots"] is False else options["storage_mode"]
    dtype = np.asarray(epsilon).dtype
    if dtype not in (np.float32, np.float64):
        _sonde.raise_error("bad_input", f"epsilon: {dtype}; expected float32 or float64", "")
    plain = [float(each) for each in spacing] if np.ndim(spacing) else float(spacing)
    waves = _Waves(
        axes, maxwell.EMModel(epsilon, sigma, mu, poles),
        maxwell.Discretization(plain if isinstance(plain, float) else tuple(plain), float(dt), order=options["stencil"],  # type: ignore[arg-type]
                               boundary=maxwell.CPML(width if np.ndim(width) == 0 else tuple(width), preset="tide"),
                               dtype="f32" if dtype == np.float32 else "f64", max_velocity=options["max_vel"]),
        maxwell.Experiment(maxwell.Acquisition(*(_array(each) for each in locations)), source, options["nt"],
                           *(word[:1].upper() + word[1:] for word in components)),  # type: ignore[arg-type]
        execution=maxwell.ExecutionOptions(threads=1 if n_threads == 1 else None),
        storage=maxwell.StorageOptions(mode=mode, path=options["storage_path"] if mode == "disk" else "",
                                       compression=_compression(options["storage_compression"]),  # type: ignore[arg-type]
                                       interval=options["model_gradient_sampling_interval"],
                                       bytes_limit_device=options["storage_bytes_limit_device"],
                                       bytes_limit_host=options["storage_bytes_limit_host"]),
        observers=maxwell.Observers(options["forward_callback"], options["backward_callback"], options["callback_frequency"]))
    if tapers and waves.ratio() > 1:
        name, value = next(iter(tapers.items()))
        _sonde.raise_error("not_supported", f"{name} = {value}: the inner steps have no taper", "leave it out, or take a smaller dt")
    states = [initial.get(f"{name}_0" if name in _FIELDS[axes] else name) for name in _STATES[axes]]
    if any(_is_tensor(each) for each in (*given, *parts, *states)):
        data, *last = _function()(waves, *given, *parts, *states)
    else:
        data, last = waves.forward(lambda array: array, True, _own_state(dict(zip(_STATES[axes], states))))
    return (*last, data)


@checked
def maxwelltm(epsilon: Any, sigma: Any, mu: Any, grid_spacing: float | Sequence[float], dt: float, source_amplitude: Any,
              source_location: Any, receiver_location: Any, stencil: int = 2, pml_width: int | Sequence[int] = 20,
              max_vel: float | None = None, Ey_0: Any = None, Hx_0: Any = None, Hz_0: Any = None, m_Ey_x: Any = None,
              m_Ey_z: Any = None, m_Hx_z: Any = None, m_Hz_x: Any = None, nt: int | None = None,
              model_gradient_sampling_interval: int = 1, freq_taper_frac: float = 0.0, time_pad_frac: float = 0.0,
              time_taper: bool = False, save_snapshots: bool | None = None, forward_callback: Callback | None = None,
              backward_callback: Callback | None = None, callback_frequency: int = 1, compute_precision: str = "default",
              python_backend: bool | str = False, storage_mode: str = "device", storage_path: str = ".",
              storage_compression: bool | str = False, storage_bytes_limit_device: int | None = None,
              storage_bytes_limit_host: int | None = None, storage_chunk_steps: int = 0, n_threads: int | None = None,
              experimental_cuda_graph: bool = False, dispersion: DebyeDispersion | None = None) -> tuple[Any, ...]:
    """Waves in two dimensions: ``(Ey, Hx, Hz, m_Ey_x, m_Ey_z, m_Hx_z, m_Hz_x, receiver_amplitudes)``.

    Parameters
    ----------
    epsilon, sigma, mu
        Relative permittivity, conductivity (S/m), relative permeability, [y][x].
    grid_spacing
        m, one or [dy, dx].
    dt
        s; the run takes smaller steps where it must.
    source_amplitude
        [shot][source][step], A.
    source_location, receiver_location
        [shot][point][y, x]: whole numbers are cells, others positions between them.
    stencil, pml_width
        Order 2, 4, 6 or 8; cells, one or [top, bottom, left, right].
    compute_precision
        Only ``"default"``: fields have the type of ``epsilon``.
    python_backend, experimental_cuda_graph, storage_chunk_steps
        Have no effect, which a warning says.

    Returns
    -------
    tuple
        Fields behind the last step and what the layers remember of them, [shot] and the model with its layers, which another run takes as
        ``Ey_0`` ... ``m_Hz_x``; then ``receiver_amplitudes``, Ey as [step][shot][receiver]. All have gradients, by ``epsilon``, ``sigma``,
        ``mu``, ``source_amplitude``, the parts of ``dispersion`` and these fields.
    """
    options = dict(locals())
    initial = {name: options[name] for name in ("Ey_0", "Hx_0", "Hz_0", *_MEMORY[2])}
    return _propagate(2, (epsilon, sigma, mu, source_amplitude), initial, grid_spacing, dt, (source_location, receiver_location),
                      ("Ey", "Ey"), options)


@checked
def maxwell3d(epsilon: Any, sigma: Any, mu: Any, grid_spacing: float | Sequence[float], dt: float, source_amplitude: Any,
              source_location: Any, receiver_location: Any, stencil: int = 2, pml_width: int | Sequence[int] = 20,
              max_vel: float | None = None, Ex_0: Any = None, Ey_0: Any = None, Ez_0: Any = None, Hx_0: Any = None, Hy_0: Any = None,
              Hz_0: Any = None, m_hz_y: Any = None, m_hy_z: Any = None, m_hx_z: Any = None, m_hz_x: Any = None, m_hy_x: Any = None,
              m_hx_y: Any = None, m_ey_z: Any = None, m_ez_y: Any = None, m_ez_x: Any = None, m_ex_z: Any = None, m_ex_y: Any = None,
              m_ey_x: Any = None, nt: int | None = None, model_gradient_sampling_interval: int = 1, freq_taper_frac: float = 0.0,
              time_pad_frac: float = 0.0, time_taper: bool = False, save_snapshots: bool | None = None,
              forward_callback: Callback | None = None, backward_callback: Callback | None = None, callback_frequency: int = 1,
              source_component: str = "ey", receiver_component: str = "ey", compute_precision: str = "default",
              python_backend: bool | str = False, storage_mode: str = "device", storage_path: str = ".",
              storage_compression: bool | str = False, storage_bytes_limit_device: int | None = None,
              storage_bytes_limit_host: int | None = None, storage_chunk_steps: int = 0, n_threads: int | None = None,
              experimental_cuda_graph: bool = False, dispersion: DebyeDispersion | None = None) -> tuple[Any, ...]:
    """Waves in three dimensions, on arrays [z][y][x]: six fields, what the layers remember of twelve derivatives,
    ``receiver_amplitudes``; a source is a moment in A m. Otherwise as :func:`maxwelltm`."""
    options = dict(locals())
    initial = {name: options[name] for name in (*(each + "_0" for each in _FIELDS[3]), *_MEMORY[3])}
    return _propagate(3, (epsilon, sigma, mu, source_amplitude), initial, grid_spacing, dt, (source_location, receiver_location),
                      (source_component, receiver_component), options)
