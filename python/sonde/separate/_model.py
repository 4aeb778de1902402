# SPDX-License-Identifier: Apache-2.0
"""A trained network and its parameters."""

from __future__ import annotations

import os
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from .. import _sonde
from .._arrays import as_numpy
from .._calls import checked
from .._objects import Handle
from .._types import Path, Progress

Samples = npt.NDArray[np.float32]


class LayerPlan(NamedTuple):
    """How a layer is computed."""

    stage: str  #: "encoder0", "down0", "bottleneck", "up0", "decoder0", "first", "final"; "spectrum" and "samples": the transforms
    method: str  #: "product", "direct", "winograd" or "fourier"
    multiplications: float  #: in one pass, as a direct convolution has them
    seconds: float  #: in the last pass


class Model(Handle):
    """A trained network, prepared: weights in the form that its products want, all memory taken. One thread at a time may use it.

    Parameters
    ----------
    checkpoint : path or str
        A file of PyTorch or safetensors, or ``"formula:SEED"`` for values made from their names.
    model : path, optional
        The YAML file of its configuration; without it the one beside the checkpoint, or a known one whose shapes are the same.
    state_key : str, optional
        Key of the parameters in a training state; without it the first of state, state_dict, model_state_dict, model, ema and net.
    memory : str, optional
        Most memory to hold, "8G"; else 0.6 of what is free.

    Raises
    ------
    sonde.Error
        ``bad_file`` for a damaged checkpoint, and for one that does not fit its configuration (with tensors and fields);
        ``not_supported`` for networks of other kinds; ``budget`` when memory does not suffice.
    """

    _to_send = "give the other process the path of the checkpoint"

    def __init__(self, checkpoint: Path, *, model: Path | None = None, state_key: str = "", memory: str | None = None) -> None:
        self._model = _sonde.SeparationModel(os.fspath(checkpoint), "" if model is None else os.fspath(model), state_key, memory)
        self._facts = self._model.describe()

    @property
    def stems(self) -> list[str]:
        """What it separates, in the order of its outputs."""
        return list(self._facts["stems"])

    @property
    def sample_rate(self) -> int:
        """In Hz, of all that goes in and comes out of :meth:`forward`."""
        return int(self._facts["sample_rate"])

    @property
    def channels(self) -> int:
        """Of its input and of each stem."""
        return int(self._facts["channels"])

    @property
    def chunk(self) -> int:
        """Samples of one pass."""
        return int(self._facts["chunk"])

    @property
    def configuration(self) -> tuple[str, str]:
        """The file or the name of the known network that says what it is, and why it was chosen."""
        value, because = self._facts["configuration"]
        return value, because

    @property
    def plan(self) -> list[LayerPlan]:
        """How each layer is computed, in their order."""
        return [LayerPlan(**layer) for layer in self._model.plan()["layers"]]

    @property
    def nbytes(self) -> int:
        """Memory that it holds."""
        return sum(self._model.plan()["bytes"].values())

    def forward(self, chunks: npt.ArrayLike) -> Samples:
        """The network itself: (batch, channels, chunk) to (batch, stems, channels, chunk), one after the other; the bits of an item
        do not depend on the others. C-contiguous float32 is not copied."""
        return self._model.forward(samples_of(chunks))  # type: ignore[no-any-return]

    def separate(self, samples: npt.ArrayLike, sample_rate: int | None = None, *, overlap: int | None = None, policy: str = "fade",
                 shifts: int = 1, tta: bool = False, progress: Progress | None = None) -> dict[str, Samples]:
        """The stems of a signal, (channels, samples) or (samples,), each (channels, samples) at the network's rate.

        The bits are those of ``sonde separate run`` for a file of these samples in float32.

        Parameters
        ----------
        sample_rate : int, optional
            Of ``samples`` in Hz; another than the network's is resampled, as files are. Without it the network's.
        overlap : int, optional
            Chunks that cover a sample, and times the work; without it the configuration's.
        policy : {"fade", "uniform"}
            How chunks are joined: as Music-Source-Separation-Training with batches of one, or as Ultimate Vocal Remover.
        shifts : int
            Beginnings of the chunks, over which is averaged.
        tta : bool
            Average over exchanged channels and the other sign, too.

        Raises
        ------
        sonde.Error
            ``bad_input`` for other channels than the network's (a single one fills all), infinite and undefined samples, and an overlap
            that does not fit the chunk.
        """
        rows = samples_of(samples)
        rate = self.sample_rate if sample_rate is None else sample_rate
        joining = {"overlap": overlap, "policy": policy, "shifts": shifts, "tta": tta}
        return self._model.separate(rows[np.newaxis] if rows.ndim == 1 else rows, rate, joining, progress)

    def __repr__(self) -> str:
        return f"<sonde.separate.Model {', '.join(self.stems)}; {self.sample_rate} Hz, chunks of {self.chunk} samples>"


@checked
def load_state_dict(path: Path, *, state_key: str = "") -> dict[str, Samples]:
    """The parameters of a checkpoint by their names, as float32. Nothing in the file is executed."""
    return _sonde.separation_state_dict(os.fspath(path), state_key)


def samples_of(data: Any) -> npt.NDArray[Any]:
    """float32 as it is; other real numbers converted."""
    array = as_numpy(data)
    if array.dtype.kind not in "fiu":
        _sonde.raise_error("bad_input", f"samples: {array.dtype}, expected real numbers", "")
    return np.ascontiguousarray(array, np.float32)
