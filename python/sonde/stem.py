# SPDX-License-Identifier: Apache-2.0
"""Four-dimensional STEM: detector files to exact virtual images.

Axes are always (scan rows, scan columns, detector rows, detector columns). Detector coordinates are pixels after binning,
rows before columns, pixel centres at whole numbers. Every call that works leaves other Python threads running, and Ctrl-C
ends it. Everything that goes wrong is a :class:`sonde.Error`.
"""

from __future__ import annotations

import importlib
import math
import os
from operator import index
from collections.abc import Callable, Iterator, Sequence
from types import TracebackType
from typing import Any, NamedTuple, SupportsIndex, Unpack, overload

import numpy as np
import numpy.typing as npt

from . import _sonde
from ._arrays import as_numpy, small
from ._calls import checked
from ._html import table_html
from ._keywords import FolderKeywords, ImageKeywords, LoadKeywords, SaveImageKeywords, SimulateKeywords
from ._map import map_function
from ._options import takes_options_of
from ._objects import Handle
from ._types import Path, Progress
from ._verbs.stem import bragg
from ._verbs.stem import calibrate
from ._verbs.stem import cepstrum
from ._verbs.stem import com
from ._verbs.stem import count
from ._verbs.stem import crystal
from ._verbs.stem import events
from ._verbs.stem import orient
from ._verbs.stem import phase
from ._verbs.stem import radial
from ._verbs.stem import strain
from .errors import Error, outside

__all__ = ["Centre", "Dataset", "Moments", "ScanShift", "Series", "SeriesCentre", "SeriesItem", "VirtualImager", "bragg", "calibrate", "centre", "cepstrum", "com", "convert", "count", "crystal", "events", "from_array",
           "from_dlpack", "image", "info", "load", "load_folder", "map", "memory", "moments", "orient", "pattern", "phase", "radial", "simulate", "strain",
           "validate"]

Image = npt.NDArray[Any]


class Centre(NamedTuple):
    """Where the beam is in a pattern, in pixels."""

    row: float
    col: float
    radius: float  #: of the bright-field disk; 0 when the method gives none
    residual_rms: float  #: edge: distance of the rays from the circle
    confidence: float  #: 0 to 1; below 0.5 the result is a guess
    method: str
    notes: list[str]


class ScanShift(NamedTuple):
    """How far the beam of one scan is from the centre of its series."""

    label: str
    row: float  #: px; NaN where the scan has no centre of its own
    col: float
    error: str  #: why it has none, else empty


class SeriesCentre(NamedTuple):
    """The beam of a series."""

    centre: Centre  #: in the mean pattern of all scans
    shifts: list[ScanShift]  #: in the order of the series


class Moments(NamedTuple):
    """Exact sums of the loading pass over good pixels: u64 for counts, f64 for floating-point data. Read-only views."""

    total: Image  #: (scan rows, scan cols): sum over pixels
    moment_row: Image  #: (scan rows, scan cols): sum of row times value
    moment_col: Image  #: (scan rows, scan cols): sum of column times value
    pattern_sum: Image  #: (rows, cols): sum over positions
    pattern_max: Image  #: (rows, cols): largest value over positions
    nonzero: Image  #: (rows, cols): number of positions with a value other than zero


class SeriesItem(NamedTuple):
    """One scan of a series before it is loaded."""

    path: str
    label: str
    shape: tuple[int, int, int, int]  #: as stored


class Dataset(Handle):
    """One loaded scan; :func:`load` and :func:`from_array` make it.

    ``dataset[row, col]`` is one pattern, ``dataset[-1, ::2, 4:9, 4:9]`` parts of some; axes and negative numbers are those of
    NumPy. In layouts ``"pixel"`` and ``"frame"`` that is a window on the memory, in ``"compressed"`` and ``"file"`` the patterns
    are decoded. ``array`` and the other windows on its memory keep that memory alive. :meth:`release` gives it back at once, and is refused
    while such arrays are alive; ``with`` blocks release at their end. Several threads may use one data set.
    """

    _to_send = "give the other process dataset.path and the keywords of load(), or dataset.array.copy()"

    def __init__(self, scan: _sonde.Dataset) -> None:
        self._scan = scan
        self._centre: Centre | None = None

    # What it is

    def _viewed(self) -> _sonde.Dataset:
        return self._scan

    @property
    def shape(self) -> tuple[int, int, int, int]:
        """(scan rows, scan cols, rows, cols) after regions and bins."""
        return self._scan.shape

    @property
    def ndim(self) -> int:
        """4."""
        return 4

    @property
    def dtype(self) -> np.dtype[Any]:
        """Element type: uint8, uint16 or uint32 for counts, float32 otherwise."""
        return self._scan.dtype

    @property
    def layout(self) -> str:
        """How it is held: ``"pixel"``, ``"frame"``, ``"compressed"`` or ``"file"``."""
        return self._scan.layout

    @property
    def det_bin(self) -> int:
        """Detector pixels summed along one axis."""
        return self._scan.det_bin

    @property
    def scan_bin(self) -> int:
        """Scan positions summed along one axis."""
        return self._scan.scan_bin

    @property
    def path(self) -> str:
        """The file it was read from; ``"array"`` for arrays."""
        return self._scan.path

    @property
    def metadata(self) -> dict[str, Any]:
        """What the file says: scan, detector, files, calibration, and every value it holds under ``"original"``."""
        return self._scan.acquisition() | {"original": self._scan.original_metadata()}

    @property
    def calibration(self) -> dict[str, dict[str, Any]]:
        """Name with unit -> {"value", "from"}: from the file or the user. What is not known is not there."""
        return dict(self.provenance["calibration"])

    @property
    def choices(self) -> list[dict[str, str]]:
        """Everything that was decided automatically: {"value", "because"}."""
        return list(self.provenance["run"]["choices"])

    @property
    def exactness(self) -> dict[str, Any]:
        """What is certain about the numbers: exact, largest, sentinels, saturated, clipped, failed_frames, ..."""
        return dict(self.provenance["exactness"])

    @property
    def ledger(self) -> dict[str, Any]:
        """Where the counts of the frames that were read went: stored + interpolated = kept + masked + hot + clipped + cut,
        exact for integers. Beside them numbers: frames_read, frames_unread, frames_broken, no_data (values that mean
        "no data", NaN and infinity included), no_data_pixels, no_data_frames, ..."""
        return dict(self.provenance["ledger"])

    @property
    def bad_pixels(self) -> list[dict[str, Any]]:
        """Pixels found bad in the data, on the stored detector: {"row", "col", "sum", "neighbour_max", "reason"}."""
        return list(self.provenance["bad_pixels"])

    @property
    def provenance(self) -> dict[str, Any]:
        """All that a result needs to be understood and repeated, as in the records beside images."""
        return self._scan.provenance()

    @property
    def memory(self) -> dict[str, Any]:
        """Bytes that are held where, and the limit."""
        return self._scan.memory()

    # Elements

    @property
    def array(self) -> Image:
        """The scan itself, (scan rows, scan cols, rows, cols), read-only, without a copy.

        For layout ``"frame"`` it is contiguous; for ``"pixel"`` the scan columns run fastest, so that
        ``array[..., row, col]`` is one contiguous plane.

        Raises
        ------
        sonde.Error
            ``bad_input`` when the layout holds no array, ``not_supported`` when it is on a GPU (see ``__dlpack__``).
        """
        return self._scan.array()

    def __array__(self, dtype: npt.DTypeLike = None) -> Image:
        return self.array if dtype is None else self.array.astype(dtype)

    def __dlpack__(self, *, stream: Any = None, max_version: tuple[int, int] | None = None, **_: Any) -> Any:
        """The scan by DLPack, without a copy, for consumers that only read. From DLPack 1.0 on it says so itself."""
        return self._scan.dlpack(max_version is not None and max_version[0] >= 1)

    def __dlpack_device__(self) -> tuple[int, int]:
        return self._scan.dlpack_device()

    @property
    def good(self) -> Image:
        """bool (rows, cols): False where a pixel is bad. A read-only view."""
        return self._scan.good()

    @property
    def valid(self) -> Image:
        """bool (scan rows, scan cols): False where the file has no frame. A read-only view."""
        return self._scan.valid()

    @property
    def mask_bits(self) -> Image:
        """uint32 (rows, cols): bits of NXdetector's pixel_mask, found bad pixels included. A read-only view."""
        return self._scan.mask_bits()

    @property
    def moments(self) -> Moments:
        """Sums over pixels and over positions, taken while loading. Read-only views."""
        return Moments(*self._scan.moments())

    @property
    def mean_pattern(self) -> Image:
        """float64 (rows, cols): mean over all valid positions."""
        return self._scan.mean_pattern()

    def pattern(self, scan_row: int, scan_col: int) -> Image:
        """The pattern of one position, (rows, cols) of ``dtype``: a copy. Negative numbers count from the end."""
        rows, cols = self.shape[:2]
        if not (-rows <= scan_row < rows and -cols <= scan_col < cols):
            raise outside(f"scan position {scan_row},{scan_col} is outside the scan of {rows} x {cols}")
        return self._scan.pattern(scan_row % rows, scan_col % cols)

    def __getitem__(self, key: Any) -> Image:
        if self.layout in ("pixel", "frame"):
            try:
                return np.asarray(self.array[key])
            except IndexError as error:
                raise outside(f"{key!r} in a data set of shape {self.shape}: {error}") from None
        places = list(key) if isinstance(key, tuple) else [key]
        if Ellipsis in places:
            at = places.index(Ellipsis)
            places[at:at + 1] = [slice(None)] * (5 - len(places))
        places += [slice(None)] * (4 - len(places))
        if len(places) > 4 or any(not isinstance(place, slice | SupportsIndex) for place in places[:2]):
            _sonde.raise_error("usage", f"{key!r} in a data set of layout \"{self.layout}\"; expected up to 4 whole numbers and slices",
                               "patterns are decoded here one by one; load with layout=\"frame\" for other ways of NumPy")
        rows, cols = (self._numbers(place, axis) for axis, place in enumerate(places[:2]))
        try:
            np.broadcast_to(np.uint8(), self.shape[2:])[tuple(places[2:])]  # before anything is decoded
        except IndexError as error:
            raise outside(f"{key!r} in a data set of shape {self.shape}: {error}") from None
        patterns = np.empty((len(rows), len(cols), *self.shape[2:]), self.dtype)
        for i, row in enumerate(rows):
            for j, col in enumerate(cols):
                patterns[i, j] = self._scan.pattern(row, col)
        # A whole number takes its axis away.
        scan = tuple(slice(None) if isinstance(place, slice) else 0 for place in places[:2])
        return np.asarray(patterns[(*scan, *places[2:])])

    def dask(self, chunks: Any = None) -> Any:
        """The data set as an array of dask, for what works on dask arrays (pyxem, HyperSpy, dask-image).

        Patterns are read when a chunk is computed; in the layouts that hold an array a chunk is a window on it. The data set must
        not be released before. Threads of dask may read it, other processes may not.

        Parameters
        ----------
        chunks : optional
            As dask has them; else some scan rows with whole patterns, of about 64 MiB.

        Returns
        -------
        dask.array.Array
            (scan rows, scan cols, rows, cols).

        Raises
        ------
        sonde.Error
            ``not_supported`` where dask is not installed.
        """
        try:
            array = importlib.import_module("dask.array")
        except ImportError:
            _sonde.raise_error("not_supported", "dask is not installed", "python3-dask of Debian")
        rows, cols, height, width = self.shape
        if chunks is None:
            chunks = (max(1, min(rows, 2**26 // (cols * height * width * self.dtype.itemsize))), cols, height, width)
        return array.from_array(self, chunks=chunks, name=False, asarray=False, meta=np.empty((0,) * 4, self.dtype))

    def _numbers(self, place: slice | SupportsIndex, axis: int) -> Sequence[int]:
        """Which scan rows (axis 0) or columns a part of a key means."""
        count = self.shape[axis]
        if isinstance(place, slice):
            return range(count)[place]
        if not -count <= index(place) < count:
            raise outside(f"scan {('row', 'column')[axis]} {index(place)} in a data set of shape {self.shape}; "
                          f"expected {-count} to {count - 1}")
        return [index(place) % count]

    def __len__(self) -> int:
        return self.shape[0]

    def __bool__(self) -> bool:
        return True

    # Images

    @property
    def centre(self) -> Centre:
        """The beam in the mean pattern, by the edge of the bright disk. Found once."""
        if self._centre is None:
            self._centre = self.find_centre()
        return self._centre

    def find_centre(self, method: str = "edge") -> Centre:
        """The beam in the mean pattern by ``edge``, ``threshold``, ``plateau``, ``com`` or ``friedel``."""
        return Centre(*_sonde.find_centre(self.mean_pattern, self.good.view(np.uint8), method))

    @takes_options_of("image", without=("detector",))
    def image(self, detector: str | Sequence[str] | npt.ArrayLike = "bf", *, progress: Progress | None = None,
              **options: Unpack[ImageKeywords]) -> Any:
        """Virtual images: for every position the sum over the pixels of a detector.

        Parameters
        ----------
        detector : str, sequence of str, or array_like (rows, cols)
            A word or an expression (``"bf"``, ``"annulus(auto,auto,40,90)"``, ``"com-row"``), several of them, or a mask: zero is
            outside, one inside, anything else a weight. Masks take no options. Bad pixels never count.
        progress : callable, optional
            See :data:`Progress`.

        Returns
        -------
        numpy.ndarray or list of numpy.ndarray
            (scan rows, scan cols): exact uint64 for boolean detectors on counts, else float64. A list for several detectors, which
            are made in one pass over compressed data.

        Raises
        ------
        sonde.Error
            ``usage`` for an expression that cannot be read (with a caret under the place), ``bad_input`` for a detector without a
            good pixel.
        """
        if isinstance(detector, str):
            return self._scan.images({"detector": [detector], **options}, progress)[0]
        if isinstance(detector, (list, tuple)) and detector and all(isinstance(word, str) for word in detector):
            return self._scan.images({"detector": list(detector), **options}, progress)
        if options:
            _sonde.raise_error("usage", f"image(): a mask takes no options, but {', '.join(options)} given",
                               "options belong to expressions")
        return self._scan.image_of_weights(small("the mask", detector, np.float32), progress)

    @takes_options_of("image", without=("detector",))
    def mask(self, detector: str, **options: Unpack[ImageKeywords]) -> Image:
        """The weights of a detector expression, float32 (rows, cols): 1 inside, 0 outside and where a pixel is bad."""
        return self._scan.mask(detector, options)

    # Files and memory

    @takes_options_of("save_image", without=("detector",))
    def save_image(self, path: Path, detector: str = "bf", *, progress: Progress | None = None, **options: Unpack[SaveImageKeywords]) -> Image:
        """Writes one virtual image as ``.tif``, ``.npy``, ``.h5`` or ``.png``, and its record beside it as ``.json``.

        ``sonde stem image --from`` repeats the image from the record, bit for bit. Returns what :meth:`image` returns.
        """
        return self._scan.save_image(os.fspath(path), {"detector": [detector], **options}, progress)

    def convert(self, path: Path, *, progress: Progress | None = None) -> list[str]:
        """Writes the scan as ``.npy``, ``.emd``/``.h5`` (EMD 1.0) or ``_master.h5`` (ARINA layout); returns the files."""
        return self._scan.convert(os.fspath(path), progress)

    def release(self) -> None:
        """Gives all large memory back to the system; every later use raises.

        Raises
        ------
        sonde.Error
            ``bad_input`` naming how many arrays on the memory are still alive.
        """
        self._scan.release()

    free = release

    @property
    def released(self) -> bool:
        """Whether :meth:`release` was called."""
        return self._scan.released

    def __enter__(self) -> Dataset:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 traceback: TracebackType | None) -> None:
        _leave(self, kind)

    def __repr__(self) -> str:
        if self.released:
            return "<sonde.stem.Dataset, released>"
        return f"<sonde.stem.Dataset {self.shape} {self.dtype}, layout {self.layout}, {self.path}>"

    def _repr_html_(self) -> str:
        if self.released:
            return table_html("sonde.stem.Dataset", [("state", "released")])
        sums = self.moments
        scan, detector = ("{} x {}".format(*self.shape[at:at + 2]) for at in (0, 2))
        bins = [f"{name} {value}" for name, value in (("scan", self.scan_bin), ("detector", self.det_bin)) if value > 1]
        rows = [("file", self.path), ("scan", scan), ("detector", detector), ("elements", f"{self.dtype}, layout {self.layout}")]
        rows += [("bins", ", ".join(bins))] if bins else []
        return table_html("sonde.stem.Dataset", rows,
                          [("counts of each position", sums.total), ("mean pattern, logarithmic", np.log1p(self.mean_pattern))])


class VirtualImager(Handle):
    """Virtual images of one data set, each computed from the earlier ones where that is shorter.

    A detector that moves by a pixel costs its edge, not its area. All ways give the same integers. The imager keeps its data set,
    which cannot be released meanwhile. Several threads may use it; it computes one image at a time.

    Parameters
    ----------
    dataset : Dataset
        In layout ``"pixel"`` or ``"frame"``.

    Raises
    ------
    sonde.Error
        ``bad_input`` for a layout without an array.
    """

    _to_send = Dataset._to_send

    def __init__(self, dataset: Dataset) -> None:
        self._imager = _sonde.VirtualImager(dataset._scan)
        self._dataset = dataset
        self._path, self._because = "", ""

    def _viewed(self) -> _sonde.Dataset:
        return self.dataset._viewed()

    @property
    def dataset(self) -> Dataset:
        """What it makes images of."""
        return self._dataset

    def compute(self, detector: str | npt.ArrayLike) -> Image:
        """The image of an expression or a mask (rows, cols), as :meth:`Dataset.image` makes it: (scan rows, scan cols), exact
        uint64 for boolean detectors on counts, else float64. The beam is looked for once."""
        if isinstance(detector, str):
            image, self._path, self._because = self._imager.of_expression(detector)
        else:
            image, self._path, self._because = self._imager.of_weights(small("the mask", detector, np.float32))
        return image

    @property
    def path(self) -> str:
        """How the last image came about: ``dense``, ``sparse``, ``complement``, ``incremental`` or ``prefix``."""
        return self._path

    @property
    def because(self) -> str:
        """Why in this way."""
        return self._because

    def reset(self) -> None:
        """Forgets the earlier images; the next one is computed in full."""
        self._imager.reset()


class Series(Handle, Sequence[Dataset]):
    """Scans of one shape along a further axis; :func:`load_folder` makes it.

    ``series[i]`` loads a scan unless it is held, ``series[1:3]`` several. All are held when they fit, else the recently used ones. An item belongs to the
    series: releasing it forgets this reference, releasing the series frees the memory.
    """

    _to_send = "give the other process the paths in series.items and the keywords of load_folder()"

    def __init__(self, series: _sonde.Series, progress: Progress | None) -> None:
        self._series = series
        self._progress = progress

    def _viewed(self) -> _sonde.Series:
        return self._series

    def __len__(self) -> int:
        return len(self._series)

    @overload
    def __getitem__(self, place: SupportsIndex, /) -> Dataset: ...
    @overload
    def __getitem__(self, place: slice, /) -> list[Dataset]: ...
    def __getitem__(self, place: SupportsIndex | slice, /) -> Dataset | list[Dataset]:
        if isinstance(place, slice):
            return [self[i] for i in range(len(self))[place]]
        if not -len(self) <= index(place) < len(self):
            raise outside(f"item {index(place)} of a series of {len(self)}")
        return Dataset(self._series.item(index(place), self._progress))

    def __iter__(self) -> Iterator[Dataset]:
        return (self[i] for i in range(len(self)))

    @property
    def items(self) -> list[SeriesItem]:
        """What the series consists of, before it is loaded."""
        return [SeriesItem(*item) for item in self._series.items()]

    @property
    def skipped(self) -> list[tuple[str, str]]:
        """(path, reason) of scans that were left out."""
        return self._series.skipped()

    def find_centre(self, method: str = "edge") -> SeriesCentre:
        """One centre for all scans, in their mean pattern, and how far the beam of each scan is from it. Loads every scan."""
        found = self._series.find_centre(method, self._progress)
        centre = Centre(*(found[key] for key in Centre._fields))
        shifts = [ScanShift(each["scan"], each.get("row", math.nan), each.get("col", math.nan), each.get("error", "")) for each in found["shifts"]]
        return SeriesCentre(centre, shifts)

    @property
    def eager(self) -> tuple[bool, str]:
        """Whether all items fit at once, and why."""
        return self._series.eager()

    def held(self, index: int) -> bool:
        """Whether ``series[index]`` would return at once."""
        return self._series.held(index)

    def prefetch(self, index: int) -> None:
        """Starts loading an item in the background."""
        self._series.prefetch(index)

    def release(self) -> None:
        """Gives the memory of all items back; refused while arrays on it are alive."""
        self._series.release()

    free = release

    @property
    def released(self) -> bool:
        """Whether :meth:`release` was called."""
        return self._series.released

    def __enter__(self) -> Series:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 traceback: TracebackType | None) -> None:
        _leave(self, kind)

    def __repr__(self) -> str:
        return "<sonde.stem.Series, released>" if self.released else f"<sonde.stem.Series of {len(self)} scans>"

    def _repr_html_(self) -> str:
        if self.released:
            return table_html("sonde.stem.Series", [("state", "released")])
        rows = [(item.label, "{} x {} x {} x {}".format(*item.shape) + (", in memory" if self.held(i) else ""))
                for i, item in enumerate(self.items)]
        if len(rows) > 20:
            rows = rows[:20] + [("...", f"{len(rows) - 20} more")]
        return table_html(f"sonde.stem.Series of {len(self)} scans", rows)


def _leave(held: Dataset | Series, kind: type[BaseException] | None) -> None:
    """The end of a with block. An error on its way out keeps arrays alive in its frames, and is not to be hidden."""
    try:
        held.release()
    except Error:
        if kind is None:
            raise


@takes_options_of("load")
def load(path: Path, *, progress: Progress | None = None, **options: Unpack[LoadKeywords]) -> Dataset:
    """Loads one scan: decodes every frame once, corrects bad pixels, bins, and keeps exact sums.

    Parameters
    ----------
    path : path
        Master file, or another scan.
    progress : callable, optional
        See :data:`Progress`.
    **options
        The settings of ``sonde stem load``. One that is None is as if it were not given; tuples mean lists with commas:
        ``scan_shape=(256, 256)``.

    Raises
    ------
    sonde.Error
        ``usage`` for an unknown keyword (naming the nearest) or a value of another type; ``bad_file`` with all problems found;
        ``budget`` before any work when the scan does not fit.
    """
    return Dataset(_sonde.load(os.fspath(path), options, progress))


@takes_options_of("load_folder")
def load_folder(path: Path | Sequence[Path], *, progress: Progress | None = None, **options: Unpack[FolderKeywords]) -> Series:
    """Opens the scans of a folder (or several folders and files) as a series of one shape. Items load when they are used.

    Parameters
    ----------
    path : path or sequence of paths
        Folders are searched for ``*_master.h5``, in natural order.
    progress : callable, optional
        See :data:`Progress`; for loading items.
    """
    return Series(_sonde.load_folder(_paths(path), options), progress)


@takes_options_of("load")
def from_array(array: Any, *, copy: bool = False, progress: Progress | None = None, **options: Unpack[LoadKeywords]) -> Dataset:
    """A data set on an array in memory.

    Parameters
    ----------
    array : array (scan rows, scan cols, rows, cols)
        A NumPy array, or anything with ``__dlpack__`` in host memory. It must not change while the data set lives.
    copy : bool
        False: the elements themselves are the data set's frames, so the array must be C-contiguous uint8, uint16, uint32 or
        float32, and no option may change them. True: new elements are made, with any option of :func:`load`.

    Raises
    ------
    sonde.Error
        ``bad_input`` when elements would have to change or be copied and ``copy`` is False, also when a value is not
        finite, and when a pixel is bad and ``hot_pixels`` is neither ``"none"`` nor ``"mark"`` (``"auto"`` marks in
        scans of fewer than 100 frames).
    """
    scan = as_numpy(array)
    if copy:
        scan = np.ascontiguousarray(scan, scan.dtype.newbyteorder("="))
        if scan.dtype == np.bool_:
            scan = scan.view(np.uint8)
    return Dataset(_sonde.from_array(scan, not copy, options, progress))


@checked
def from_dlpack(array: Any, *, copy: bool = False, progress: Progress | None = None, **options: Unpack[LoadKeywords]) -> Dataset:
    """:func:`from_array` for any object with ``__dlpack__`` and ``__dlpack_device__``."""
    return from_array(array, copy=copy, progress=progress, **options)


@checked
def image(dataset: Dataset, detector: str | Sequence[str] | npt.ArrayLike = "bf", *, progress: Progress | None = None,
          **options: Unpack[ImageKeywords]) -> Any:
    """:meth:`Dataset.image`."""
    return dataset.image(detector, progress=progress, **options)


@checked
def centre(pattern: Dataset | npt.ArrayLike, method: str = "edge", *, good: npt.ArrayLike | None = None) -> Centre:
    """The beam in a pattern (rows, cols), or in the mean pattern of a data set. ``good`` is False at bad pixels."""
    if isinstance(pattern, Dataset):
        return pattern.find_centre(method)
    usable = np.zeros(0, np.uint8) if good is None else small("good", good, np.uint8)
    return Centre(*_sonde.find_centre(small("the pattern", pattern, np.float64), usable, method))


@checked
def moments(dataset: Dataset) -> Moments:
    """:attr:`Dataset.moments`."""
    return dataset.moments


@checked
def pattern(dataset: Dataset, scan_row: int, scan_col: int) -> Image:
    """:meth:`Dataset.pattern`."""
    return dataset.pattern(scan_row, scan_col)


@checked
def memory(dataset: Dataset | None = None) -> dict[str, Any]:
    """Bytes held by a data set, or, without one, by this process, with what a load may take now."""
    return _sonde.process_memory() if dataset is None else dataset.memory


@takes_options_of("load")
def info(path: Path, **options: Unpack[LoadKeywords]) -> dict[str, Any]:
    """What a scan holds and what loading it would take, without decoding anything.

    Returns
    -------
    dict
        ``acquisition``, ``float32_bytes_by_det_bin``, ``estimate`` and ``metadata``, as ``sonde stem info --json``.
    """
    return _sonde.info(os.fspath(path), options)


@takes_options_of("load_folder")
def validate(path: Path | Sequence[Path], *, decode: bool = False, progress: Progress | None = None,
             **options: Unpack[FolderKeywords]) -> list[dict[str, Any]]:
    """Checks scans without loading them; with ``decode`` every frame is decoded as well.

    Returns
    -------
    list of dict
        ``path``, ``frames`` and ``status`` of every scan.

    Raises
    ------
    sonde.Error
        When anything is wrong; ``problems`` holds every single one.
    """
    return _sonde.validate(_paths(path), decode, options, progress)


@takes_options_of("simulate", without=("output",))
def simulate(path: Path, *, progress: Progress | None = None, **options: Unpack[SimulateKeywords]) -> dict[str, Any]:
    """Writes a scan in the ARINA layout whose every expected count is known, with the truth beside it.

    Returns
    -------
    dict
        ``files`` (master first), ``frames``, ``counts_per_frame`` and ``compression``.
    """
    return _sonde.simulate(os.fspath(path), options, progress)


@takes_options_of("load")
def convert(scan: Dataset | Path, output: Path, *, progress: Progress | None = None, **options: Unpack[LoadKeywords]) -> list[str]:
    """Writes a data set, or a file loaded with ``options``, in another format; see :meth:`Dataset.convert`.

    Values of a file stay what they are unless ``options`` ask for a change: bad pixels that its mask does not name are
    not changed.
    """
    if isinstance(scan, Dataset):
        if options:
            _sonde.raise_error("usage", f"convert(): a data set is loaded already, but {', '.join(options)} given",
                               "give the file instead, or leave them out")
        return scan.convert(output, progress=progress)
    if options.get("layout") in (None, "auto") and options.get("det_bin") != "auto":
        options["layout"] = "file"  # frames go from file to file
    if options.get("hot_pixels") in (None, "auto"):
        options["hot_pixels"] = "none"
    with load(scan, progress=progress, **options) as dataset:
        return dataset.convert(output, progress=progress)


@takes_options_of("load")
def map(scan: Dataset | Path, function: Callable[[Image, npt.NDArray[np.int64]], Any], *, frames: int | None = None, values: int | None = None,
        progress: Progress | None = None, **options: Unpack[LoadKeywords]) -> Image | None:
    """Calls a function of your own with all frames of a scan, some at a time.

    While the function works, other cores decode the next frames and take bad pixels out. It runs on the thread that called
    ``map``, so it need not be safe for several threads. Its exceptions and Ctrl-C end the work and are passed on.

    A C function, from a library (:mod:`ctypes`) or compiled (``numba.cfunc``), is called by all cores at the same time::

        int function(TYPE *patterns, const int64_t *positions, int64_t n, int64_t rows, int64_t cols, double *values);

    with TYPE uint8_t, uint16_t, uint32_t or float, and n values, or n times ``values`` of them, to be written; those that it
    does not write are NaN. It returns 0, or a number that ends the work. Its ``argtypes`` must be set; an integer type that
    is too narrow for the data set is an error.

    Parameters
    ----------
    scan : Dataset or path
        A file is loaded with ``options`` and not held.
    function : callable
        ``function(patterns, positions)``: ``patterns`` are (n, rows, cols), copies of its own; ``positions`` are n numbers
        scan row * scan columns + scan column. They come in any order, each position once; one without a frame is zero.
        It returns an array of n values, or of n arrays of one shape, or always None. It cannot read this data set. Or a C
        function.
    frames : int, optional
        The most patterns at a time, 16 or more; else 128, or as many as take 64 MiB. C functions get at most 16.
    values : int, optional
        How many values a C function writes for each pattern; else one, without an axis of its own in the result.
    progress : callable, optional
        See :data:`Progress`.
    **options
        The settings of :func:`load`, for a file.

    Returns
    -------
    numpy.ndarray or None
        What the function returned or wrote, as (scan rows, scan cols, ...).

    Raises
    ------
    sonde.Error
        What :func:`load` raises, and of kind ``bad_input`` when results do not fit together.
    """
    if isinstance(scan, Dataset):
        if options:
            _sonde.raise_error("usage", f"map(): a data set is loaded already, but {', '.join(options)} given",
                               "give the file instead, or leave them out")
        return map_function(scan._viewed(), function, frames, values, progress)
    if options.get("layout") in (None, "auto") and options.get("det_bin") != "auto":
        options["layout"] = "file"  # frames are not held
    with load(scan, progress=progress, **options) as dataset:
        return map_function(dataset._viewed(), function, frames, values, progress)


def _paths(path: Path | Sequence[Path]) -> list[str]:
    return [os.fspath(path)] if isinstance(path, (str, os.PathLike)) else [os.fspath(each) for each in path]
