# SPDX-License-Identifier: Apache-2.0
"""Four-dimensional STEM: detector files to exact virtual images.

Axes are always (scan rows, scan columns, detector rows, detector columns). Detector coordinates are pixels after binning,
rows before columns, pixel centres at whole numbers. Every call that works leaves other Python threads running, and Ctrl-C
ends it. Everything that goes wrong is a :class:`sonde.Error`.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from types import TracebackType
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from . import _sonde
from ._arrays import as_numpy, small
from ._options import takes_options_of
from .errors import Error

__all__ = ["Centre", "Dataset", "Moments", "Series", "SeriesItem", "VirtualImager", "centre", "convert", "from_array", "from_dlpack", "image",
           "info", "load", "load_folder", "memory", "moments", "pattern", "simulate", "validate"]

Path = str | os.PathLike[str]
#: ``progress(stage, fraction, detail)``: what is being done, how much of it from 0 to 1, and ``detail`` with done, total,
#: unit, rate (units per second), elapsed_s and finished. Called at most ten times a second; what it raises ends the work.
Progress = Callable[[str, float, dict[str, Any]], object]
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


class Dataset:
    """One loaded scan; :func:`load` and :func:`from_array` make it.

    ``array`` and the other windows on its memory keep that memory alive. :meth:`release` gives it back at once, and is refused
    while such arrays are alive; ``with`` blocks release at their end. Several threads may use one data set.
    """

    def __init__(self, scan: _sonde.Dataset) -> None:
        self._scan = scan
        self._centre: Centre | None = None

    # What it is

    @property
    def shape(self) -> tuple[int, int, int, int]:
        """(scan rows, scan cols, rows, cols) after regions and bins."""
        return self._scan.shape

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
        return self.provenance["calibration"]

    @property
    def choices(self) -> list[dict[str, str]]:
        """Everything that was decided automatically: {"value", "because"}."""
        return self.provenance["choices"]

    @property
    def exactness(self) -> dict[str, Any]:
        """What is certain about the numbers: exact, largest, sentinels, saturated, clipped, failed_frames, ..."""
        return self.provenance["exactness"]

    @property
    def bad_pixels(self) -> list[dict[str, Any]]:
        """Pixels found bad in the data, on the stored detector: {"row", "col", "sum", "neighbour_max", "reason"}."""
        return self.provenance["bad_pixels"]

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
            ``bad_input`` when the layout holds no array, ``not_supported`` when it lies on a GPU (see ``__dlpack__``).
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
        """The pattern of one position, (rows, cols) of ``dtype``: a copy."""
        return self._scan.pattern(scan_row, scan_col)

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
              **options: Any) -> Any:
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
            are made in one walk over compressed data.

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
    def mask(self, detector: str, **options: Any) -> Image:
        """The weights of a detector expression, float32 (rows, cols): 1 inside, 0 outside and where a pixel is bad."""
        return self._scan.mask(detector, options)

    # Files and memory

    @takes_options_of("save_image", without=("detector",))
    def save_image(self, path: Path, detector: str = "bf", *, progress: Progress | None = None, **options: Any) -> Image:
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


class VirtualImager:
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

    def __init__(self, dataset: Dataset) -> None:
        self._imager = _sonde.VirtualImager(dataset._scan)
        self._dataset = dataset
        self._path, self._because = "", ""

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


class Series(Sequence[Dataset]):
    """Scans of one shape along a further axis; :func:`load_folder` makes it.

    ``series[i]`` loads a scan unless it is held. All are held when they fit, else the recently used ones. An item belongs to the
    series: releasing it forgets this reference, releasing the series frees the memory.
    """

    def __init__(self, series: _sonde.Series, progress: Progress | None) -> None:
        self._series = series
        self._progress = progress

    def __len__(self) -> int:
        return len(self._series)

    def __getitem__(self, index: int) -> Dataset:  # type: ignore[override]
        return Dataset(self._series.item(index, self._progress))

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


def _leave(held: Dataset | Series, kind: type[BaseException] | None) -> None:
    """The end of a with block. An error on its way out keeps arrays alive in its frames, and is not to be hidden."""
    try:
        held.release()
    except Error:
        if kind is None:
            raise


@takes_options_of("load")
def load(path: Path, *, progress: Progress | None = None, **options: Any) -> Dataset:
    """Loads one scan: decodes every frame once, corrects bad pixels, bins, and keeps exact sums.

    Parameters
    ----------
    path : path
        Master file, or another scan.
    progress : callable, optional
        See :data:`Progress`.
    **options
        The settings of ``sonde stem load``. One that is None is as if it were not given; tuples stand for lists with commas:
        ``scan_shape=(256, 256)``.

    Raises
    ------
    sonde.Error
        ``usage`` for an unknown keyword (naming the nearest) or a value of another type; ``bad_file`` with all problems found;
        ``budget`` before any work when the scan does not fit.
    """
    return Dataset(_sonde.load(os.fspath(path), options, progress))


@takes_options_of("load_folder")
def load_folder(path: Path | Sequence[Path], *, progress: Progress | None = None, **options: Any) -> Series:
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
def from_array(array: Any, *, copy: bool = False, progress: Progress | None = None, **options: Any) -> Dataset:
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
        ``bad_input`` when elements would have to change or be copied and ``copy`` is False, also when a pixel is bad and
        ``hot_pixels`` is not ``"none"``.
    """
    scan = as_numpy(array)
    if copy:
        scan = np.ascontiguousarray(scan, scan.dtype.newbyteorder("="))
        if scan.dtype == np.bool_:
            scan = scan.view(np.uint8)
    return Dataset(_sonde.from_array(scan, not copy, options, progress))


def from_dlpack(array: Any, **options: Any) -> Dataset:
    """:func:`from_array` for any object with ``__dlpack__`` and ``__dlpack_device__``."""
    return from_array(array, **options)


def image(dataset: Dataset, detector: Any = "bf", **options: Any) -> Any:
    """:meth:`Dataset.image`."""
    return dataset.image(detector, **options)


def centre(pattern: Dataset | npt.ArrayLike, method: str = "edge", *, good: npt.ArrayLike | None = None) -> Centre:
    """The beam in a pattern (rows, cols), or in the mean pattern of a data set. ``good`` is False at bad pixels."""
    if isinstance(pattern, Dataset):
        return pattern.find_centre(method)
    usable = np.zeros(0, np.uint8) if good is None else small("good", good, np.uint8)
    return Centre(*_sonde.find_centre(small("the pattern", pattern, np.float64), usable, method))


def moments(dataset: Dataset) -> Moments:
    """:attr:`Dataset.moments`."""
    return dataset.moments


def pattern(dataset: Dataset, scan_row: int, scan_col: int) -> Image:
    """:meth:`Dataset.pattern`."""
    return dataset.pattern(scan_row, scan_col)


def memory(dataset: Dataset | None = None) -> dict[str, Any]:
    """Bytes held by a data set, or, without one, by this process, with what a load may take now."""
    return _sonde.process_memory() if dataset is None else dataset.memory


@takes_options_of("load")
def info(path: Path, **options: Any) -> dict[str, Any]:
    """What a scan holds and what loading it would take, without decoding anything.

    Returns
    -------
    dict
        ``acquisition``, ``float32_bytes_by_det_bin``, ``estimate`` and ``metadata``, as ``sonde stem info --json``.
    """
    return _sonde.info(os.fspath(path), options)


@takes_options_of("load_folder")
def validate(path: Path | Sequence[Path], *, decode: bool = False, progress: Progress | None = None,
             **options: Any) -> list[dict[str, Any]]:
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
def simulate(path: Path, *, progress: Progress | None = None, **options: Any) -> dict[str, Any]:
    """Writes a scan in the ARINA layout whose every expected count is known, with the truth beside it.

    Returns
    -------
    dict
        ``files`` (master first), ``frames``, ``counts_per_frame`` and ``compression``.
    """
    return _sonde.simulate(os.fspath(path), options, progress)


@takes_options_of("load")
def convert(scan: Dataset | Path, output: Path, *, progress: Progress | None = None, **options: Any) -> list[str]:
    """Writes a data set, or a file loaded with ``options``, in another format; see :meth:`Dataset.convert`."""
    if isinstance(scan, Dataset):
        if options:
            _sonde.raise_error("usage", f"convert(): a data set is loaded already, but {', '.join(options)} given",
                               "give the file instead, or leave them out")
        return scan.convert(output, progress=progress)
    if options.get("layout") in (None, "auto") and options.get("det_bin") != "auto":
        options["layout"] = "file"  # frames go from file to file
    with load(scan, progress=progress, **options) as dataset:
        return dataset.convert(output, progress=progress)


def _paths(path: Path | Sequence[Path]) -> list[str]:
    return [os.fspath(path)] if isinstance(path, (str, os.PathLike)) else [os.fspath(each) for each in path]
