# SPDX-License-Identifier: Apache-2.0
"""Operators: from a model to records, and the derivatives of that."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, ClassVar, NamedTuple

import numpy as np

from .. import _sonde
from .._arrays import as_numpy
from .._objects import Handle
from ._model import (Array, CallbackState, DebyeDispersion, Discretization, EMDirection, EMGradient, EMModel, ExecutionOptions, Experiment, Observers,
                     StorageOptions, real)

C0 = 299792458.0
PARAMETERS = ("eps_r", "sigma", "mu_r", "source", "debye", "initial_state")
State = dict[str, Array]


class Forward(NamedTuple):
    """The result of a run."""

    receiver_data: Array  #: [step][shot][receiver], V/m and A/m; of several models [step][model][shot][receiver]
    #: behind the last step, [shot] and the model with its layers; None unless they were asked for: fields by name, what the layers
    #: remember of a derivative ("m_Ey_x": of Ey along x) and polarisations ("p0_Ey"). A run that begins with them goes on
    final_state: State | None = None


class Medium:
    """A copy of a model, as arrays."""

    def __init__(self, model: EMModel) -> None:
        self.eps_r = real(model.eps_r, "eps_r", copy=True)
        self.single = getattr(model.eps_r, "dtype", None) == np.float32
        self.sigma = self._like("sigma", model.sigma)
        self.mu_r = self._like("mu_r", model.mu_r)
        self.poles = model.debye.poles(self.eps_r.shape) if model.debye is not None else []

    def _like(self, name: str, given: Any) -> Array | None:
        if given is None:
            return None
        array = real(given, name, copy=True)
        if array.ndim and array.shape != self.eps_r.shape:
            _sonde.raise_error("bad_input", f"{name}: shape {array.shape}; expected {self.eps_r.shape}, that of eps_r", "")
        return np.full(self.eps_r.shape, array) if array.ndim == 0 else array


class _Operator(Handle):
    """What both operators share."""

    _to_send = "make it in the other process"
    _axes: ClassVar[int]

    def __init__(self, discretization: Discretization, experiment: Experiment, *, execution: ExecutionOptions | None = None,
                 storage: StorageOptions | None = None, observers: Observers | None = None) -> None:
        self._discretization = discretization
        self._experiment = experiment
        self._execution = execution or ExecutionOptions()
        self._storage = storage or StorageOptions()
        self._observers = observers or Observers()
        self._waves: Any = None
        self._shape: tuple[int, ...] = ()
        self._holds: Medium | None = None

    @property
    def discretization(self) -> Discretization:
        """Steps in space and time."""
        return self._discretization

    @property
    def experiment(self) -> Experiment:
        """What is excited and recorded."""
        return self._experiment

    @property
    def execution(self) -> ExecutionOptions:
        """Where it runs."""
        return self._execution

    @property
    def storage(self) -> StorageOptions:
        """What its derivatives keep."""
        return self._storage

    def describe(self) -> dict[str, Any]:
        """``dt`` (s), ``nt``, ``ratio`` of ``dt`` to ``inner_dt``, counts of ``shots``, ``sources`` and ``receivers``,
        ``time_of_first_sample`` of each receiver (s), ``precision`` and, after a derivative, ``storage``. Known from the first model on."""
        if self._waves is None:
            _sonde.raise_error("usage", f"{type(self).__name__} has no model yet", "call it with one first")
        return dict(self._waves.describe())

    def __call__(self, model: EMModel, *, final_state: bool = False, initial_state: State | None = None) -> Forward:
        """The records of a model, from fields that are zero or from ``initial_state``, the ``final_state`` of another run (fields that it
        does not name are zero). The layers and the step are made for the first model that the operator is given, and stay."""
        shape = real(model.eps_r, "eps_r").shape
        if len(shape) == self._axes + 1:
            if initial_state is not None:
                _sonde.raise_error("not_supported", "initial_state: several models begin from fields that are zero", "call once for each model")
            return self._several(model, shape, final_state)
        medium = Medium(model)
        waves = self._on(medium)
        data, last = waves.forward(self._looker(medium, self._observers.forward), self._observers.frequency, True, final_state,
                                   _state(initial_state))
        return Forward(self._rounded(data), last if final_state else None)

    def linearize(self, model: EMModel, *, wrt: Iterable[str] = ("eps_r", "sigma"), initial_state: State | None = None) -> "Linearization":
        """The derivative at a model, as a context, of runs from fields that are zero or from ``initial_state``; ``wrt`` names what ``vjp``
        and products of Hessians are by: ``"eps_r"``, ``"sigma"``, ``"mu_r"``, ``"source"``, ``"debye"``, ``"initial_state"`` (only ``vjp``)."""
        names = (wrt,) if isinstance(wrt, str) else tuple(wrt)
        for name in names:
            if name not in PARAMETERS:
                _sonde.raise_error("usage", f'wrt: no parameter "{name}"; expected {", ".join(PARAMETERS)}', "")
        if not names:
            _sonde.raise_error("usage", "wrt is empty; expected at least one parameter", "")
        medium = Medium(model)
        if "debye" in names and not medium.poles:
            _sonde.raise_error("usage", "wrt: debye, and the model has no poles", "give EMModel(debye=...)")
        return Linearization(self, medium, names, _state(initial_state))

    def _several(self, models: EMModel, shape: tuple[int, ...], final_state: bool) -> Forward:
        def part(given: Any, i: int) -> Any:
            return as_numpy(given)[i] if np.ndim(given) == len(shape) else given

        made = [self(EMModel(part(models.eps_r, i), part(models.sigma, i), part(models.mu_r, i), models.debye), final_state=final_state)
                for i in range(shape[0])]
        if not made:
            _sonde.raise_error("bad_input", "eps_r has no models; expected at least one", "")
        last = {name: np.stack([each.final_state[name] for each in made])  # type: ignore[index]
                for name in made[0].final_state or ()} if final_state else None
        return Forward(np.stack([each.receiver_data for each in made], axis=1), last)

    def _on(self, medium: Medium) -> Any:
        """The compiled operator with this medium on it."""
        if medium is self._holds:
            return self._waves
        if medium.eps_r.ndim != self._axes:
            axes = "[z][x]" if self._axes == 2 else "[z][y][x]"
            _sonde.raise_error("bad_input", f"eps_r: shape {medium.eps_r.shape}; {type(self).__name__} expects {axes}", "")
        self._holds = None
        if self._waves is None or self._shape != medium.eps_r.shape:
            self._waves = self._made(medium)
            self._shape = medium.eps_r.shape
        else:
            self._waves.set_model(medium.eps_r, medium.sigma, medium.mu_r, medium.poles)
        self._holds = medium
        return self._waves

    def _made(self, medium: Medium) -> Any:
        grid, experiment = self._discretization, self._experiment
        spacing = grid.spacing if np.ndim(grid.spacing) == 0 else [float(each) for each in grid.spacing]  # type: ignore[union-attr]

        def words(given: Any) -> str:
            return given if isinstance(given, str) else ",".join(given)

        def points(given: Any, what: str) -> Array:
            array = real(given, what)
            return array.astype(np.int64) if as_numpy(given).dtype.kind in "iu" else array

        tables: dict[str, dict[str, object]] = {
            "model": {"eps_r": medium.eps_r, "sigma": medium.sigma, "mu_r": medium.mu_r, "spacing": spacing},
            "survey": {"sources": points(experiment.acquisition.source_location, "source_location"),
                       "receivers": points(experiment.acquisition.receiver_location, "receiver_location"),
                       "source_component": words(experiment.source_component),
                       "receiver_component": words(experiment.receiver_component)},
            "source": {"file": real(experiment.source_amplitude, "source_amplitude"), "f0": experiment.f0},
            "time": {"dt": grid.dt, "nt": experiment.nt},
            "grid": {**grid.table(), "dtype": grid.dtype or ("f32" if medium.single else "f64")},
            "storage": self._storage.table(),
        }
        least = (C0 / grid.max_velocity) ** 2 if grid.max_velocity else 0.0
        how = self._execution
        memory = None if how.memory is None else str(how.memory)
        return _sonde.MaxwellOperator(tables, medium.poles, least, how.device, how.threads == 1, memory)

    def _rounded(self, data: Array) -> Array:
        return data.astype(self._waves.describe()["precision"], copy=False)

    def _looker(self, medium: Medium, observer: Callable[[Any], object] | None, kind: type[CallbackState] = CallbackState,
                **more: Any) -> Any:
        if observer is None:
            return None
        look: Callable[[Any], object] = observer
        facts = {**self._waves.describe(), "is_backward": False, **more}
        spacing = np.broadcast_to(self._discretization.spacing, self._axes)
        width = np.broadcast_to(self._discretization.boundary.width, 2 * self._axes)
        model = {"eps_r": medium.eps_r, "sigma": np.zeros_like(medium.eps_r) if medium.sigma is None else medium.sigma,
                 "mu_r": np.ones_like(medium.eps_r) if medium.mu_r is None else medium.mu_r}

        def call(shot: int, step: int, fields: Any) -> None:
            look(kind(fields, model, {**facts, "shot": shot, "step": step, "spacing": spacing}, [int(each) for each in width]))

        return call


def _state(given: State | None, what: str = "initial_state") -> State | None:
    """Arrays as the compiled operator takes them."""
    return None if given is None else {name: real(each, f"{what} {name}") for name, each in given.items()}


class MaxwellTM(_Operator):
    """Waves in two dimensions, Ey with Hx and Hz, on arrays ``[z][x]``: ``op(model).receiver_data``. One call at a time.

    >>> import numpy as np
    >>> from sonde import maxwell
    >>> dt, nt = 4e-11, 150
    >>> survey = maxwell.Acquisition(np.array([[[10, 5]]]), np.array([[[10, 25], [20, 25]]]))
    >>> op = maxwell.MaxwellTM(maxwell.Discretization(0.02, dt), maxwell.Experiment(survey, maxwell.ricker(4e8, nt, dt)))
    >>> op(maxwell.EMModel(np.full((30, 30), 4.0), 0.001)).receiver_data.shape
    (150, 1, 2)
    """

    _axes = 2


class Maxwell3D(_Operator):
    """Waves in three dimensions, all six components, on arrays ``[z][y][x]``; otherwise as :class:`MaxwellTM`."""

    _axes = 3


class Linearization(Handle):
    """The derivative J of an operator at one model, which was copied. Records are [step][shot][receiver], no factors of dt or spacing."""

    _to_send = "make it in the other process"

    def __init__(self, operator: _Operator, medium: Medium, wrt: tuple[str, ...], start: State | None) -> None:
        self._operator = operator
        self._medium: Medium | None = medium
        self._wrt = wrt
        self._start = start
        self._primal: Array | None = None

    def __enter__(self) -> "Linearization":
        self._on()
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Frees what it holds."""
        self._medium = self._primal = None

    @property
    def primal(self) -> Forward:
        """The records of the model itself."""
        if self._primal is None:
            self._primal = self._operator._rounded(self._on().forward(None, 1, False, False, self._start)[0])
        return Forward(self._primal)

    def jvp(self, direction: EMDirection | EMModel) -> Array:
        """J d: the change of the records along a change of the model, the sources and the fields at the start."""
        return self._operator._rounded(self._on().jvp(self._given(direction), self._start, False)[0])

    def jvp_with_state(self, direction: EMDirection | EMModel) -> Forward:
        """The same with the change of ``final_state``."""
        data, last = self._on().jvp(self._given(direction), self._start, True)
        return Forward(self._operator._rounded(data), last)

    def vjp(self, residual: Any, *, final_state: State | None = None) -> EMGradient:
        """J' r; with ``r = d - d_obs`` the gradient of ``0.5 |d - d_obs|^2``. Runs forwards and backwards once. ``final_state``: the
        derivative of a loss by the fields behind the last step, which another run gives as ``initial_state`` of its gradient."""
        waves, observers = self._on(), self._operator._observers
        look = self._operator._looker(self._medium, observers.backward, is_backward=True,  # type: ignore[arg-type]
                                      wrt=[name for name in self._wrt if name in ("eps_r", "sigma", "mu_r")])
        gradient, data = waves.vjp(real(residual, "the residual"), list(self._wrt), self._start, _state(final_state, "final_state"), look,
                                   observers.frequency)
        self._primal = self._operator._rounded(data)
        return self._gradient(gradient)

    def second_vjp(self, direction: EMDirection | EMModel, residual: Any) -> EMGradient:
        """The change of J' r along a direction; with :meth:`gauss_newton` the whole Hessian of ``0.5 |d - d_obs|^2``."""
        return self._second(direction, real(residual, "the residual"))

    def gauss_newton(self, direction: EMDirection | EMModel) -> EMGradient:
        """J' J d: symmetric, not negative."""
        return self._second(direction, None)

    def _second(self, direction: EMDirection | EMModel, residual: Array | None) -> EMGradient:
        given = self._given(direction)
        if "initial_state" in self._wrt or "initial_state" in given:
            _sonde.raise_error("not_supported", "initial_state: products of a Hessian leave the fields at the start as they are",
                               "leave it out of wrt and of the direction")
        return self._gradient(self._on().second_product(given, residual, list(self._wrt), self._start))

    @staticmethod
    def _gradient(found: dict[str, Any]) -> EMGradient:
        if "debye" in found:
            found["debye"] = DebyeDispersion(*found["debye"])
        return EMGradient(**found)

    def _on(self) -> Any:
        if self._medium is None:
            _sonde.raise_error("usage", "the linearization is closed", "call linearize() again")
        return self._operator._on(self._medium)

    def _given(self, direction: EMDirection | EMModel) -> dict[str, Any]:
        found = {name: getattr(direction, name, None) for name in PARAMETERS}
        made: dict[str, Any] = {name: real(each, f"the direction of {name}") for name, each in found.items()
                                if each is not None and name not in ("debye", "initial_state")}
        if found["debye"] is not None:
            made["debye"] = found["debye"].poles(self._medium.eps_r.shape)  # type: ignore[union-attr]
        if found["initial_state"] is not None:
            made["initial_state"] = _state(found["initial_state"], "the direction of initial_state")
        return made
