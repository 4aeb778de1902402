# SPDX-License-Identifier: Apache-2.0
"""User-defined functions of LiberTEM on scans that sonde reads: a script runs after a change of its import.

>>> import numpy as np, sonde
>>> from sonde.compat.libertem import Context, UDF
>>> class BrightestUDF(UDF):
...     def get_result_buffers(self):
...         return {"brightest": self.buffer(kind="nav", dtype=np.float32)}
...     def process_frame(self, frame):
...         self.results.brightest[:] = frame.max()
>>> counts = sonde.stem.from_array(np.arange(24, dtype=np.uint16).reshape(2, 3, 2, 2))
>>> Context().run_udf(dataset=counts, udf=BrightestUDF())["brightest"].data
array([[ 3.,  7., 11.],
       [15., 19., 23.]], dtype=float32)

The functions run on the thread that calls, with blocks of patterns that the other cores decode and clean meanwhile
(:func:`sonde.stem.map`); a block is what LiberTEM calls a partition, and comes in any order. What differs: there are no tiles of
parts of a pattern, no devices but the CPU, and ``meta.slice`` and ``meta.tiling_scheme`` are not there; a region of interest
decodes the whole scan.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from .. import _sonde, stem
from .._calls import checked
from .._types import Path, Progress

__all__ = ["BufferWrapper", "Context", "UDF"]

Array = npt.NDArray[Any]
Kind = Literal["nav", "sig", "single"]


@dataclass
class BufferWrapper:
    """A result, or data beside the patterns. ``data`` is (scan rows, scan cols, ...) of kind "nav", (rows, cols, ...) of kind "sig", and of
    ``extra_shape`` (one number without it) of kind "single"."""

    kind: Kind
    extra_shape: tuple[int, ...] = ()
    dtype: npt.DTypeLike = "float32"
    use: str | None = None  #: "private": not a result; "result_only": made by get_results()
    where: Any = None
    data: Array = field(default_factory=lambda: np.empty(0))

    @property
    def raw_data(self) -> Array:
        """With one axis for the scan, or for the pixels."""
        return self.data if self.kind == "single" else self.data.reshape(-1, *self.data.shape[2:])

    def __array__(self, dtype: npt.DTypeLike = None) -> Array:
        return np.asarray(self.data, dtype)


@dataclass(frozen=True)
class Meta:
    """What a function may ask of the scan and of the patterns that it has."""

    dataset_shape: tuple[int, int, int, int]
    dataset_dtype: np.dtype[Any]
    input_dtype: np.dtype[Any]
    coordinates: npt.NDArray[np.int64]  #: (n, 2): scan row and column of each pattern of the block, or of the one at hand
    roi: npt.NDArray[np.bool_] | None

    @property
    def sig_shape(self) -> tuple[int, int]:
        """(rows, cols)."""
        return self.dataset_shape[2:]


class UDF:
    """A user-defined function: a subclass has ``get_result_buffers`` and one of ``process_frame``, ``process_tile`` and ``process_partition``; with
    results of kind "sig" or "single" also ``merge``.

    Keywords are ``self.params``; those made by :meth:`aux_data` have there the part that belongs to the patterns at hand.
    """

    USE_NATIVE_DTYPE = bool

    def __init__(self, **keywords: Any) -> None:
        self._keywords = keywords
        self.params = SimpleNamespace(**keywords)
        self.results = SimpleNamespace()
        self.task_data = SimpleNamespace()
        self.meta: Meta

    # What subclasses may have.

    def get_result_buffers(self) -> Mapping[str, BufferWrapper]:
        """The results by their names, each made by :meth:`buffer`."""
        raise NotImplementedError

    def get_task_data(self) -> Mapping[str, Any]:
        """What ``self.task_data`` has: made once."""
        return {}

    def get_preferred_input_dtype(self) -> npt.DTypeLike:
        """Patterns come in the narrowest type that has the values of this one and of the scan."""
        return np.float32

    def preprocess(self) -> None:
        """Before each block."""

    def postprocess(self) -> None:
        """After each block."""

    def merge(self, dest: Any, src: Any) -> None:
        """Joins the results of a block to those before. Without one of the subclass every result has to be of kind "nav"."""
        for name, values in vars(src).items():
            getattr(dest, name)[:] = values

    def get_results(self) -> Mapping[str, Any]:
        """The results, made of ``self.results`` when all patterns were there."""
        return {name: values for name, values in vars(self.results).items()}

    # What they use.

    def buffer(self, kind: Kind, extra_shape: Sequence[int] = (), dtype: npt.DTypeLike = "float32", where: Any = None,
               use: str | None = None) -> BufferWrapper:
        """A result: of each scan position, of each pixel, or one."""
        if kind not in ("nav", "sig", "single"):
            _sonde.raise_error("usage", f"buffer(): kind {kind!r}; expected nav, sig or single", "")
        return BufferWrapper(kind, tuple(extra_shape), dtype, use, where)

    def forbuf(self, values: npt.ArrayLike, target: Array) -> Array:
        """Values in the shape of a result."""
        return np.asarray(values).reshape(target.shape)

    @classmethod
    def aux_data(cls, data: npt.ArrayLike, kind: Kind = "nav", extra_shape: Sequence[int] = (), dtype: npt.DTypeLike = "float32") -> BufferWrapper:
        """Data for each scan position (kind "nav"): a keyword of the function that is cut to the patterns at hand."""
        return BufferWrapper(kind, tuple(extra_shape), dtype, data=np.asarray(data, dtype))


@dataclass
class _Task:
    """A function on one scan."""

    udf: UDF
    shape: tuple[int, int, int, int]
    dtype: np.dtype[Any]
    roi: npt.NDArray[np.bool_] | None

    def __post_init__(self) -> None:
        self.udf.results = SimpleNamespace()
        self.input_dtype = np.result_type(self.udf.get_preferred_input_dtype(), self.dtype)
        self._tell(np.empty((0, 2), np.int64))
        self.buffers = {name: each for name, each in self.udf.get_result_buffers().items() if each.use != "result_only"}
        ways = [name for name in ("process_frame", "process_tile", "process_partition") if hasattr(self.udf, name)]
        if len(ways) != 1:
            _sonde.raise_error("bad_input", f"{type(self.udf).__name__} has {' and '.join(ways) or 'no process_frame'}; expected one of process_frame, "
                               "process_tile and process_partition", "")
        self.way = ways[0]
        others = [name for name, each in self.buffers.items() if each.kind != "nav"]
        if others and type(self.udf).merge is UDF.merge:
            _sonde.raise_error("bad_input", f"{type(self.udf).__name__} has no merge(), which its result {others[0]!r} of kind "
                               f"{self.buffers[others[0]].kind!r} needs", "")
        self.udf.task_data = SimpleNamespace(**self.udf.get_task_data())
        self.totals = {name: self._empty(each, self.shape[0] * self.shape[1]) for name, each in self.buffers.items()}
        for name, each in self.buffers.items():
            if each.kind == "nav" and self.roi is not None and np.issubdtype(np.dtype(each.dtype), np.inexact):
                self.totals[name][~self.roi.ravel()] = np.nan
        self.aux = {name: each for name, each in self.udf._keywords.items() if isinstance(each, BufferWrapper)}

    def _empty(self, buffer: BufferWrapper, patterns: int) -> Array:
        first = {"nav": (patterns,), "sig": self.shape[2:], "single": () if buffer.extra_shape else (1,)}[buffer.kind]
        return np.zeros((*first, *buffer.extra_shape), buffer.dtype)

    def _tell(self, coordinates: npt.NDArray[np.int64]) -> None:
        self.udf.meta = Meta(self.shape, self.dtype, self.input_dtype, coordinates, self.roi)

    def take(self, patterns: Array, positions: npt.NDArray[np.int64]) -> None:
        """One block."""
        if self.roi is not None:
            wanted = self.roi.ravel()[positions]
            patterns, positions = patterns[wanted], positions[wanted]
            if not positions.size:
                return
        patterns = patterns.astype(self.input_dtype, copy=False)
        where = np.stack(np.unravel_index(positions, self.shape[:2]), 1)
        part = {name: self._empty(each, len(positions)) for name, each in self.buffers.items()}
        self._tell(where)
        self._show(part, positions, slice(None))
        self.udf.preprocess()
        if self.way == "process_frame":
            process = self.udf.process_frame  # type: ignore[attr-defined]
            for k, pattern in enumerate(patterns):
                self._tell(where[k:k + 1])
                self._show(part, positions, slice(k, k + 1))
                process(pattern)
            self._tell(where)
            self._show(part, positions, slice(None))
        else:
            getattr(self.udf, self.way)(patterns)
        self.udf.postprocess()
        before = {name: self.totals[name][positions] if each.kind == "nav" else self.totals[name] for name, each in self.buffers.items()}
        self.udf.merge(SimpleNamespace(**before), SimpleNamespace(**part))
        for name, each in self.buffers.items():
            if each.kind == "nav":
                self.totals[name][positions] = before[name]

    def _show(self, part: dict[str, Array], positions: npt.NDArray[np.int64], some: slice) -> None:
        """Results and keywords of some patterns of the block; of a single one without the axis of patterns, unless it has no other."""
        single = some != slice(None)

        def cut(values: Array) -> Array:
            shown: Array = values[some][0] if single and values.ndim > 1 else values[some]
            return shown

        self.udf.results = SimpleNamespace(**{name: cut(values) if self.buffers[name].kind == "nav" else values for name, values in part.items()})
        for name, each in self.aux.items():
            values = each.data.reshape(-1, *each.extra_shape)
            setattr(self.udf.params, name, cut(values[positions]) if each.kind == "nav" else each.data)

    def results(self) -> dict[str, BufferWrapper]:
        """When all blocks were there."""
        self.udf.results = SimpleNamespace(**self.totals)
        for name, each in self.aux.items():
            setattr(self.udf.params, name, each.data)
        declared, found = self.udf.get_result_buffers(), {}
        for name, values in self.udf.get_results().items():
            made = declared[name]
            if made.use == "private":
                continue
            first = {"nav": self.shape[:2], "sig": self.shape[2:], "single": ()}[made.kind]
            data = np.asarray(values)
            found[name] = BufferWrapper(made.kind, made.extra_shape, data.dtype, data=data.reshape(*first, *made.extra_shape) if first else data)
        return found


class Context:
    """Where functions run: this process. ``with Context() as ctx`` works as well."""

    def __enter__(self) -> Context:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        """There is nothing to close."""

    @checked
    def load(self, filetype: str, path: Path, **options: Any) -> stem.Dataset:
        """:func:`sonde.stem.load` of the path, which finds out what it is: ``filetype`` has no effect. Frames are not held unless ``layout`` says so."""
        given: dict[str, Any] = {"layout": "file", **options}
        return stem.load(path, **given)

    @checked
    def run_udf(self, dataset: stem.Dataset, udf: UDF | Sequence[UDF], roi: npt.ArrayLike | None = None,
                progress: Progress | None = None) -> dict[str, BufferWrapper] | tuple[dict[str, BufferWrapper], ...]:
        """The results of a function, or of several in one reading of the scan.

        Parameters
        ----------
        dataset : sonde.stem.Dataset
            The scan.
        udf : UDF or sequence of UDF
            Functions; one after the other gets each block.
        roi : array_like of bool, optional
            (scan rows, scan cols): which patterns are wanted. Results of kind "nav" are NaN elsewhere, or 0 of whole numbers.

        Raises
        ------
        sonde.Error
            ``bad_input`` for a function without what it needs and a region of another shape, and what :func:`sonde.stem.map` raises.
        """
        wanted = None if roi is None else np.asarray(roi, bool)
        if wanted is not None and wanted.shape != dataset.shape[:2]:
            _sonde.raise_error("bad_input", f"run_udf(): roi {wanted.shape}; the scan has {dataset.shape[0]} x {dataset.shape[1]} positions", "")
        functions = [udf] if isinstance(udf, UDF) else list(udf)
        tasks = [_Task(each, dataset.shape, dataset.dtype, wanted) for each in functions]

        def take(patterns: Array, positions: npt.NDArray[np.int64]) -> None:
            for task in tasks:
                task.take(patterns, positions)

        stem.map(dataset, take, progress=progress)
        found = tuple(task.results() for task in tasks)
        return found[0] if isinstance(udf, UDF) else found

    @checked
    def map(self, dataset: stem.Dataset, f: Callable[[Array], Any], roi: npt.ArrayLike | None = None, progress: Progress | None = None) -> BufferWrapper:
        """A map of what ``f`` returns for each pattern."""
        made = stem.map(dataset, lambda patterns, positions: np.array([f(each) for each in patterns]), progress=progress)
        if made is None:
            _sonde.raise_error("bad_input", "map(): the function returned None", "")
        if roi is not None:
            made = np.where(np.asarray(roi, bool).reshape(made.shape[:2] + (1,) * (made.ndim - 2)), made, np.nan)
        return BufferWrapper("nav", made.shape[2:], made.dtype, data=made)
