# SPDX-License-Identifier: Apache-2.0
"""Stems of drums to events and MIDI."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from .. import _sonde
from .._calls import checked
from .._types import Path
from ._model import samples_of


class DrumEvent(NamedTuple):
    """A hit of a drum."""

    time: float  #: s
    hit: str  #: "kick", "hihat_open", "tom_low", ...
    velocity: int  #: 1 to 127
    level_dB: float = 0.0  #: the largest magnitude within 100 ms, 0 dB being 1
    pan: float = 0.0  #: -1 left, 1 right
    strength: float = 0.0  #: of the onset, 0 to 1
    sustain: float = 0.0  #: s: until the level has fallen by 20 dB, or to the next event


@checked
def onsets(samples: npt.ArrayLike, sample_rate: int, stem: str) -> list[DrumEvent]:
    """The events of one stem, (channels, samples) or (samples,), in order of time.

    ``stem`` is its name: kick, snare, toms, hihat, cymbals, crash or ride, with their usual other names. At 44100 Hz, to which
    ``sonde separate midi`` takes files of other rates, the events are those of that verb with its default settings.
    """
    rows = samples_of(samples)
    return [DrumEvent(*event) for event in _sonde.separation_events(stem, rows[np.newaxis] if rows.ndim == 1 else rows, sample_rate)]


@checked
def to_midi(stems: Mapping[str, Sequence[DrumEvent]], path: Path | None = None, *, tempo: float = 120.0) -> bytes:
    """A Standard MIDI File of format 1 with a track for each stem on channel 10, notes of General MIDI; written to ``path`` as well
    where one is given."""
    given = [(name, [(event.time, event.hit, event.velocity) for event in events]) for name, events in stems.items()]
    return _sonde.separation_midi(given, tempo, None if path is None else os.fspath(path))
