# SPDX-License-Identifier: Apache-2.0
"""Ptychography: diffraction patterns with overlapping illumination to a complex object and a complex probe.

Axes are (slices, rows, columns) for objects, (modes, rows, columns) for probes, (frames, rows, columns) for patterns. Rows run
down, columns to the right. A position is the place of the probe's index ``floor(n / 2)``, as row and column, in pixels of the
object array unless another unit is named. Probes are centred in their window; patterns have the undiffracted beam at index
``floor(n / 2)`` unless ``zero_frequency`` says otherwise. Lengths are in angstrom, energies in keV. Every call that works leaves
other Python threads running, and Ctrl-C ends it. Everything that goes wrong is a :class:`sonde.Error`.

>>> import sonde
>>> made = sonde.ptycho.simulate(scan_shape=(4, 4), detector_px=32, seed=1)
>>> run = sonde.ptycho.Reconstruction({
...     "geometry": {"energy_keV": 200, "semiangle_mrad": 20, "detector_mrad_per_px": made.detector_mrad_per_px},
...     "probe": {"defocus_A": 150}, "engine": [{"name": "gd", "iterations": 3}]},
...     data=made.patterns, positions=made.positions_A)
>>> for step in run.iterate():
...     print(step.number, step.metrics["R_I"] < 1)
1 True
2 True
3 True
>>> run.object.shape[0], run.outcome.kind
(1, 'finished')
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, TypeGuard, Unpack

import numpy as np
import numpy.typing as npt

from . import _sonde
from ._arrays import as_numpy, small
from ._calls import checked
from ._html import table_html
from ._keywords import PtychoSimulateKeywords
from ._objects import Handle
from ._options import parameter_text, takes_options_of
from ._verbs.ptycho import compare, diagnose, direct, export, init, orient, report, resume, run, sweep
from ._types import Path, Progress

__all__ = ["Gradient", "Outcome", "Reconstruction", "Simulation", "State", "Step", "compare", "diagnose", "direct", "electron_wavelength",
           "export", "forward", "gradient", "init", "interaction_constant", "orient", "photon_wavelength", "report", "resume", "run",
           "settings_text", "simulate", "simulate_file", "slice_propagators", "sweep"]

if TYPE_CHECKING:
    from . import stem

Array = npt.NDArray[Any]
Settings = Mapping[str, Any] | Path


class Step(NamedTuple):
    """What one iteration did."""

    number: int  #: from 1
    engine: int  #: index in the list of engines
    metrics: dict[str, float | None]  #: R_I, R_A, NMSE, LL, loss, dO, dP, power_ratio, power_total, phase_roughness, opr_share, R_free, position_move, seconds


class Outcome(NamedTuple):
    """How a run ended, or that it continues."""

    kind: str  #: "running", "finished" (all iterations are done), "converged" or "diverged"
    because: str
    best: int  #: iteration with the lowest R_I; on divergence the estimate is the one that this R_I is of
    r_free: float | None  #: R_I of the held-out frames, of the estimate that there is; None: no frame is held out, or nothing has run


class State(NamedTuple):
    """What is looked for, at one moment: copies in the precision that computes."""

    object: Array  #: complex (slices, rows, cols): transmission
    phase: Array | None  #: float (slices, rows, cols), rad: of a potential object, else None
    probe: Array  #: complex (modes, rows, cols), centred; the sum of |probe|^2 is the counts of a frame
    positions: npt.NDArray[np.float64]  #: (frames, 2), pixels of the object array


class Gradient(NamedTuple):
    """A loss and its derivatives by everything that the model depends on."""

    loss: float  #: summed over frames and measured pixels
    object: Array  #: dL/dconj(O), complex (slices, rows, cols): dL = 2 Re sum conj(object) dO
    probe: Array  #: dL/dconj(P), complex (modes, rows, cols)
    positions: npt.NDArray[np.float64]  #: dL/dr, (frames, 2), per pixel


class Simulation(NamedTuple):
    """A simulated scan and all that it is made of."""

    patterns: Array  #: counts (scan rows, scan cols, rows, cols), uint16 or uint32
    mask: npt.NDArray[np.bool_]  #: (rows, cols): False at dead pixels
    positions_A: npt.NDArray[np.float64]  #: (frames, 2): where the scan says the probe was
    positions_px: npt.NDArray[np.float64]  #: (frames, 2): where it was, in pixels of ``phase``
    phase: npt.NDArray[np.float64]  #: (layers, rows, cols), rad: the object is exp(i phase)
    probe: npt.NDArray[np.complex128]  #: (modes, rows, cols), centred
    pixel_size_A: tuple[float, float]  #: of the object, rows and columns
    wavelength_A: float
    detector_mrad_per_px: float
    layer_distance_A: list[float]  #: from each layer to the next: ``spacings_A`` of :func:`slice_propagators`


@checked
def settings_text() -> str:
    """Every table of settings with its keys: name, type, unit, default, meaning and limits."""
    lines = []
    for table in _sonde.ptycho_tables():
        for kind in table["kinds"]:
            lines.append(f'[[{table["name"]}]] name = "{kind["kind"]}"' if table["list"] else f'[{table["name"]}]')
            lines += [line for field in kind["fields"] for line in parameter_text(field).split("\n")] + [""]
    return "\n".join(lines)


class Reconstruction(Handle):
    """A reconstruction step by step, from settings and patterns to object, probe and positions.

    Nothing is decoded before :meth:`prepare`, which the first iteration calls. One thread at a time may use it.

    Parameters
    ----------
    settings : dict or path
        The tables of a run file: ``{"geometry": {...}, "probe": {...}, "engine": [{"name": "gd", "iterations": 100}], ...}``, or the
        path of such a file (TOML). :func:`settings_text` lists all keys; so does ``docs/commands/ptycho-run-file.md``.
    data : array or sonde.stem.Dataset, optional
        Counts (frames, rows, cols) or (scan rows, scan cols, rows, cols) of any integer or floating type. Not copied, and let go of
        after :meth:`prepare`: it must be C-contiguous. A data set brings its bad pixels and its calibration along. Without it
        ``data.file`` of the settings is read, as ``sonde ptycho run`` does.
    positions : array_like (frames, 2), optional
        Rows and columns in the unit of ``positions.unit``: A, or pixels when ``geometry.units`` is "pixel". Without them those of the
        file, or a raster with ``geometry.scan_step_A``.
    mask : array_like (rows, cols), optional
        Other than zero where a pixel was measured. What the data call bad stays bad.
    probe : array_like ([modes,] rows, cols), optional
        The first probe, centred; only its shape counts, its power comes from the patterns. Taken when ``probe.init`` is "auto" or "file"
        and ``probe.file`` is not set.
    set : sequence of str
        Further settings as ``"engine.0.iterations=200"``, the ``--set`` of the program.
    memory : str, optional
        Most memory to hold, "8G"; else 0.6 of what is free.

    Raises
    ------
    sonde.Error
        ``usage`` for unknown tables, keys and values (all at once, naming the nearest); ``bad_file`` and ``bad_input`` for data that do
        not fit each other; ``budget`` before any work when memory does not suffice.
    """

    _to_send = "save() writes a checkpoint, and Reconstruction.resume(path) continues from it"

    def __init__(self, settings: Settings, data: Any = None, *, positions: npt.ArrayLike | None = None,
                 mask: npt.ArrayLike | None = None, probe: npt.ArrayLike | None = None, set: Sequence[str] = (),
                 memory: str | None = None) -> None:
        given: Mapping[str, object] | str = dict(settings) if isinstance(settings, Mapping) else os.fspath(settings)
        self._begin(_sonde.PtychoRun(given, list(set)), data, positions, mask, probe, memory)

    @classmethod
    def resume(cls, path: Path, data: Any = None, *, positions: npt.ArrayLike | None = None, mask: npt.ArrayLike | None = None,
               probe: npt.ArrayLike | None = None, set: Sequence[str] = (), memory: str | None = None) -> Reconstruction:
        """Continues from what :meth:`save` or a run with ``output.checkpoint_every`` wrote: the same bits as without the break.

        The settings come from the checkpoint. Patterns that were given as an array are given again, with everything that was beside
        them; a file is read again.

        Raises
        ------
        sonde.Error
            ``bad_file`` when it is not a checkpoint, or one of another reconstruction; ``usage`` for settings in ``set`` that the
            checkpoint has fixed, as ``probe.modes``.
        """
        made = cls.__new__(cls)
        made._begin(_sonde.PtychoRun.resumed(os.fspath(path), list(set)), data, positions, mask, probe, memory)
        return made

    def _begin(self, run: _sonde.PtychoRun, data: Any, positions: npt.ArrayLike | None, mask: npt.ArrayLike | None,
               probe: npt.ArrayLike | None, memory: str | None) -> None:
        self._run = run
        given: dict[str, Any] = {}
        if _is_dataset(data):
            data, given = _of_dataset(data)
        elif data is not None:
            data = as_numpy(data)
        if positions is not None:
            given["positions"] = small("positions", positions, np.float64)
        if mask is not None:
            given["mask"] = small("the mask", np.asarray(mask) != 0, np.uint8)
        if probe is not None:
            given["probe"] = small("the probe", probe, np.complex128)
        run.open(data, given, memory)

    # Before and between iterations

    @property
    def settings(self) -> dict[str, Any]:
        """Every setting, resolved: the tables of a run file."""
        return self._run.settings()

    @property
    def run_file(self) -> str:
        """The same as the text of a run file."""
        return self._run.text()

    @property
    def plan(self) -> dict[str, Any]:
        """What will be done, known before a count is read.

        Returns
        -------
        dict
            ``memory`` (bytes by purpose), ``peak_bytes``, ``frames``, ``window`` (rows, cols), ``object`` (slices, rows, cols),
            ``origin_px`` (where pixel [0, 0] of the object is in the frame of the positions), ``step_px``, ``notes``, ``warnings``, and
            with a calibration ``wavelength_A`` and ``pixel_size_A`` (rows, columns).
        """
        return self._run.plan()

    def prepare(self, progress: Progress | None = None) -> Reconstruction:
        """Reads the counts, makes the first estimate, measures transforms. Does nothing the second time. Returns itself.

        With ``object.init`` "ssb" or "parallax" a one-shot reconstruction comes first: :attr:`settings` have the rotation and the
        aberrations that it found afterwards, and :attr:`plan` the place of the object that they lead to.

        Raises
        ------
        sonde.Error
            ``bad_input`` for counts that are negative or not finite in measured pixels, frames without a count (``data.skip_empty``), and
            start values that do not fit.
        """
        self._run.prepare(progress)
        return self

    def iterate(self, n: int | None = None) -> Iterator[Step]:
        """Iterations one by one: each is done when its :class:`Step` is asked for.

        Parameters
        ----------
        n : int, optional
            How many at most; without it, until the run is over. How a run is divided does not change it.

        Raises
        ------
        sonde.Error
            ``not_converged`` when the run diverges (the best estimate is in place then), or ends without convergence although
            ``stop.require`` asks for it.
        """
        self.prepare()
        done = 0
        while n is None or done < n:
            metrics = self._run.iterate()
            if metrics is None:
                return
            done += 1
            yield _step(metrics)
            self._judge()

    def run(self, n: int | None = None, *, progress: Progress | None = None) -> list[Step]:
        """The same at once; returns its steps.

        Parameters
        ----------
        n : int, optional
            How many iterations at most; without it, until the run is over.
        progress : callable, optional
            As for :func:`sonde.run`. It may not look at this reconstruction; :meth:`iterate` is for that.
        """
        self.prepare(progress)
        count = self._run.iterate_many(self._run.left() if n is None else n, progress)
        steps = [_step(metrics) for metrics in self._run.history()[-count:]] if count > 0 else []
        if steps:
            self._judge()
        return steps

    def _judge(self) -> None:
        outcome = self.outcome
        if outcome.kind == "diverged":
            _sonde.raise_error("not_converged", f"the reconstruction diverged: {outcome.because}; the estimate is that of iteration "
                               f"{outcome.best}", "halve the steps; switch the constraint probe_power on where it is off")
        if outcome.kind == "finished" and self._run.requires_convergence():
            _sonde.raise_error("not_converged", "all iterations are done, but the reconstruction has not converged",
                               "give more iterations, or leave stop.require out")

    # What was found

    @property
    def outcome(self) -> Outcome:
        """Whether the run continues, and why not."""
        return Outcome(*self._run.outcome())

    @property
    def state(self) -> State:
        """Object, probe and positions as they are now. Copies: the next iteration changes them no more."""
        self.prepare()
        return State(*self._run.state())

    @property
    def object(self) -> Array:
        """The object's transmission, complex (slices, rows, cols): a copy."""
        return self.state.object

    @property
    def probe(self) -> Array:
        """The probe, complex (modes, rows, cols), centred: a copy."""
        return self.state.probe

    @property
    def positions(self) -> npt.NDArray[np.float64]:
        """(frames, 2): rows and columns in pixels of the object array: a copy. ``plan["origin_px"]`` added gives the frame of the scan."""
        return self.state.positions

    @property
    def field_of_view(self) -> tuple[slice, slice]:
        """Rows and columns of the object that count: the box of the positions, ``object[0][run.field_of_view]``."""
        positions, (rows, cols) = self.positions, self._run.plan()["object"][1:]
        low, high = np.floor(positions.min(axis=0) + 0.5), np.floor(positions.max(axis=0) + 0.5) + 1
        (top, left), (bottom, right) = np.clip([low, high], 0, (rows, cols)).astype(int).tolist()
        return slice(top, bottom), slice(left, right)

    def set_state(self, *, object: npt.ArrayLike | None = None, phase: npt.ArrayLike | None = None,
                  probe: npt.ArrayLike | None = None, positions: npt.ArrayLike | None = None) -> None:
        """Replaces parts of the estimate before the next iteration. Shapes are those of :attr:`state`.

        Raises
        ------
        sonde.Error
            ``bad_input`` for another shape, positions whose window leaves the object, and an object that is only a phase.
        """
        now = self.state

        def like(what: str, given: npt.ArrayLike | None, kept: Array | None) -> Array | None:
            return None if given is None else small(what, given, np.float64 if kept is None else kept.dtype)

        self._run.set_state(like("object", object, now.object), like("phase", phase, now.phase), like("probe", probe, now.probe),
                            like("positions", positions, None))

    @property
    def metrics(self) -> dict[str, npt.NDArray[np.float64]]:
        """Every metric over the iterations until now; not-a-number where there is none."""
        history = self._run.history()
        names = list(history[0]) if history else []
        return {name: np.array([np.nan if step[name] is None else step[name] for step in history], np.float64) for name in names}

    @property
    def floor(self) -> float | None:
        """R_I of a perfect model of these counts: counting noise only. None where the values are not counts and neither the
        values nor ``data.counts_per_unit`` say how many counts they are."""
        self.prepare()
        return self._run.floor()

    @property
    def overlap(self) -> float:
        """1 - step / diameter of the first probe (99 % of its power); results below 0.6 are rarely to be trusted."""
        self.prepare()
        return self._run.overlap()

    @property
    def active(self) -> list[int]:
        """Frames that take part."""
        self.prepare()
        return self._run.frames()[0]

    @property
    def held_out(self) -> list[int]:
        """Frames that only judge: ``R_free`` is R_I over them."""
        self.prepare()
        return self._run.frames()[1]

    @property
    def notes(self) -> list[str]:
        """What was chosen, and why."""
        return self._run.remarks()[0]

    @property
    def warnings(self) -> list[str]:
        """What is doubtful about the data. The same goes to ``logging.getLogger("sonde")``."""
        return self._run.remarks()[1]

    # Files

    def save(self, path: Path) -> None:
        """Writes a checkpoint (HDF5) with all that the next iteration depends on; :meth:`resume` continues from it."""
        self.prepare()
        self._run.save(os.fspath(path))

    def write_result(self, path: Path) -> None:
        """Writes the result file (HDF5) of ``sonde ptycho run``: object, probe, positions, metrics, settings, provenance."""
        self.prepare()
        self._run.write_result(os.fspath(path))

    def _repr_html_(self) -> str:
        plan, outcome, history = self.plan, self.outcome, self._run.history()
        rows = [("patterns", "{} of {} x {}".format(plan["frames"], *plan["window"])),
                ("object", "{} x {} x {}".format(*plan["object"])), ("state", f"{outcome.kind} after {len(history)} iterations")]
        if not history:
            return table_html("sonde.ptycho.Reconstruction", rows)
        rows.append(("R_I", f"{history[-1]['R_I']:.4f}" + (f", its floor {self.floor:.4f}" if self.floor else "")))
        return table_html("sonde.ptycho.Reconstruction", rows,
                          [("phase of the first slice", np.angle(self.object[0][self.field_of_view])),
                           ("amplitude of the probe", np.abs(self.probe[0]))])

    def __repr__(self) -> str:
        plan, outcome = self.plan, self.outcome
        size = "{} x {}".format(*plan["window"])
        return f"<sonde.ptycho.Reconstruction of {plan['frames']} patterns of {size}, {outcome.kind} after " \
               f"{len(self._run.history())} iterations>"


Reconstruction.__doc__ = (Reconstruction.__doc__ or "").rstrip() + "\n\n    Settings\n    --------\n" + "\n".join(
    "    " + line if line else "" for line in settings_text().split("\n"))


def _step(metrics: dict[str, Any]) -> Step:
    number, engine = metrics.pop("iteration"), metrics.pop("engine")
    return Step(number, engine, metrics)


def _is_dataset(data: object) -> TypeGuard[stem.Dataset]:
    stem = sys.modules.get("sonde.stem")  # of a build that has it
    return stem is not None and isinstance(data, stem.Dataset)


def _of_dataset(dataset: stem.Dataset) -> tuple[Array, dict[str, Any]]:
    """Patterns of a data set, and what it contains about the measurement. A bin of the detector widens its pixels."""
    if dataset.layout != "frame":
        _sonde.raise_error("bad_input", f"a data set in layout {dataset.layout!r} has no contiguous patterns",
                           'load it with layout="frame"')
    dataset._scan.require_values()
    known = {name: entry["value"] for name, entry in dataset.calibration.items()}
    given: dict[str, Any] = {"file": dataset.path, "format": "4D-STEM", "good": dataset.good.view(np.uint8)}
    for name, key, factor in (("high_tension_v", "energy_keV", 1e-3), ("detector_step_mrad", "mrad_per_px", dataset.det_bin),
                              ("detector_step_inv_a", "inv_A_per_px", dataset.det_bin), ("scan_step_row_nm", "step_A", 10.0)):
        if name in known:
            given[key] = known[name] * factor
    return dataset.array, given


def _stack(what: str, waves: npt.ArrayLike) -> Array:
    """Complex (n, rows, cols) of an array of two or three dimensions."""
    array = as_numpy(waves)
    made = small(what, array, np.complex64 if array.dtype == np.complex64 else np.complex128)
    return made[None] if made.ndim == 2 else made


@checked
def forward(object: npt.ArrayLike, probe: npt.ArrayLike, positions: npt.ArrayLike, *, propagators: npt.ArrayLike | None = None,
            zero_frequency: str = "center", progress: Progress | None = None) -> npt.NDArray[np.float64]:
    """What the detector counts on average: |F[P O]|^2 summed over the modes, F unitary, in double precision.

    Parameters
    ----------
    object : array_like ([slices,] rows, cols)
        Transmission, complex.
    probe : array_like ([modes,] rows, cols)
        Centred.
    positions : array_like (frames, 2)
        Place of the probe's index ``floor(n / 2)`` in pixels of the object; between pixels the probe is shifted in Fourier space.
    propagators : array_like (slices - 1, rows, cols), optional
        Between slices, from :func:`slice_propagators`.
    zero_frequency : {"center", "corner"}
        Whether the undiffracted beam is at index ``floor(n / 2)`` or at [0, 0] of the patterns.

    Returns
    -------
    numpy.ndarray
        float64 (frames, rows, cols).

    Raises
    ------
    sonde.Error
        ``bad_input`` for shapes that do not belong together and a window outside of the object.
    """
    waves = [small(what, _stack(what, array), np.complex128) for what, array in (("object", object), ("probe", probe))]
    return _sonde.ptycho_forward(waves[0], waves[1], small("positions", positions, np.float64),
                                 _maybe("propagators", propagators, np.complex128), _is_centred(zero_frequency), progress)


@checked
def gradient(object: npt.ArrayLike, probe: npt.ArrayLike, positions: npt.ArrayLike, patterns: npt.ArrayLike, *,
             loss: str = "amplitude", mask: npt.ArrayLike | None = None, propagators: npt.ArrayLike | None = None,
             zero_frequency: str = "center", progress: Progress | None = None) -> Gradient:
    """How far the model is from patterns, and the derivatives of that by object, probe and positions.

    Parameters
    ----------
    object, probe, positions, propagators, zero_frequency
        See :func:`forward`. Object and probe that are both complex64 compute in single precision, others in double.
    patterns : array_like (frames, rows, cols)
        Counts, an unsigned or floating type; not copied.
    loss : {"amplitude", "anscombe", "poisson", "intensity"}
        As the engines minimise it.
    mask : array_like (rows, cols), optional
        Other than zero where a pixel was measured.

    Returns
    -------
    Gradient
        The derivative by the phase of an object exp(i phase) is ``2 * np.imag(np.conj(object) * gradient.object)``.

    Raises
    ------
    sonde.Error
        As :func:`forward`; ``usage`` for an unknown loss; ``bad_input`` for counts that are negative or not finite.
    """
    waves = [_stack("object", object), _stack("probe", probe)]
    if any(array.dtype != np.complex64 for array in waves):
        waves = [small("object and probe", array, np.complex128) for array in waves]
    good = None if mask is None else small("the mask", np.asarray(mask) != 0, np.uint8)
    return Gradient(*_sonde.ptycho_gradient(waves[0], waves[1], small("positions", positions, np.float64), as_numpy(patterns), loss,
                                            good, _maybe("propagators", propagators, np.complex128), _is_centred(zero_frequency),
                                            progress))


@checked
def slice_propagators(shape: tuple[int, int], *, wavelength_A: float, pixel_size_A: float | tuple[float, float],
                      spacings_A: Sequence[float], tilt_mrad: tuple[float, float] = (0.0, 0.0),
                      band_limit: bool = True) -> npt.NDArray[np.complex128]:
    """How a wave gets from each slice of an object to the next: what its spectrum is multiplied by.

    Parameters
    ----------
    shape : (rows, cols)
        Of the probe's window.
    wavelength_A, pixel_size_A : float
        In A; the pixel may differ between rows and columns.
    spacings_A : sequence of float
        Distance between slices, one less than there are slices.
    tilt_mrad : (float, float)
        Of the specimen along rows and columns; a positive one moves the wave to larger indices.
    band_limit : bool
        Nothing above two thirds of the largest frequency.

    Returns
    -------
    numpy.ndarray
        complex128 (slices - 1, rows, cols), zero frequency at [0, 0].
    """
    row, col = pixel_size_A if isinstance(pixel_size_A, Sequence) else (pixel_size_A, pixel_size_A)
    return _sonde.ptycho_slice_propagators(shape[0], shape[1], wavelength_A, row, col, list(spacings_A), tilt_mrad[0] / 1000,
                                           tilt_mrad[1] / 1000, band_limit)


@takes_options_of("ptycho_simulate", without=("output",))
def simulate(*, progress: Progress | None = None, **options: Unpack[PtychoSimulateKeywords]) -> Simulation:
    """A scan whose object, probe and positions are known, with Poisson counts. Equal options give equal counts.

    Returns
    -------
    Simulation
        The counts and everything that they were made of, in memory.

    Raises
    ------
    sonde.Error
        ``bad_input`` for numbers that make no sense and counts beyond ``dtype``; ``budget`` when it does not fit into memory.
    """
    return Simulation(**_sonde.ptycho_simulate(options, progress))


@takes_options_of("ptycho_simulate", without=("output",))
def simulate_file(path: Path, *, progress: Progress | None = None, **options: Unpack[PtychoSimulateKeywords]) -> dict[str, Any]:
    """The same into an HDF5 file, line by line, with the truth beside it.

    Returns
    -------
    dict
        ``file``, ``frames`` and ``counts_per_frame``.
    """
    return _sonde.ptycho_simulate_file(os.fspath(path), options, progress)


@checked
def electron_wavelength(energy_keV: float) -> float:
    """Relativistic wavelength of electrons in A (constants of CODATA 2018).

    >>> round(sonde.ptycho.electron_wavelength(200), 8)
    0.02507934
    """
    return _sonde.ptycho_wavelength(energy_keV, True)


@checked
def photon_wavelength(energy_keV: float) -> float:
    """Wavelength of photons in A."""
    return _sonde.ptycho_wavelength(energy_keV, False)


@checked
def interaction_constant(energy_keV: float) -> float:
    """Phase of an electron wave per projected potential, rad/(V A)."""
    return _sonde.ptycho_interaction_constant(energy_keV)


def _maybe(what: str, array: npt.ArrayLike | None, dtype: npt.DTypeLike) -> Array | None:
    return None if array is None else small(what, array, dtype)


def _is_centred(zero_frequency: str) -> bool:
    if zero_frequency not in ("center", "corner"):
        _sonde.raise_error("usage", f'zero_frequency: unknown word "{zero_frequency}"', 'give one of "center" or "corner"')
    return zero_frequency == "center"
