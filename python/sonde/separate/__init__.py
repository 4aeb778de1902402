# SPDX-License-Identifier: Apache-2.0
"""Music source separation: audio files to stems with trained MDX23C (TFC-TDF v3) networks.

A checkpoint is read as it is, PyTorch's or safetensors, and nothing in it is executed. Files may be of any length and sample rate.
Everything that goes wrong is a :class:`sonde.Error`.

>>> import sonde
>>> model = sonde.separate.Model("DrumSep.ckpt")                                        # doctest: +SKIP
>>> stems = model.separate(samples, sample_rate=48000)                                  # doctest: +SKIP
>>> stems["kick"].shape == samples.shape                                                # doctest: +SKIP
True
>>> made = sonde.separate.run("drums.wav", checkpoint="DrumSep.ckpt", output="out")     # doctest: +SKIP
>>> [each["path"] for each in made.facts["inputs"][0]["outputs"]]                       # doctest: +SKIP
['out/drums/kick.wav', 'out/drums/snare.wav', 'out/drums/toms.wav', 'out/drums/hh.wav', 'out/drums/cymbals.wav']
"""

from __future__ import annotations

from . import metrics
from ._drums import DrumEvent, onsets, to_midi
from ._model import LayerPlan, Model, load_state_dict
from .._verbs.separate import convert, demo, ensemble, eval, info, midi, plot, run, simulate

__all__ = ["DrumEvent", "LayerPlan", "Model", "convert", "demo", "ensemble", "eval", "info", "load_state_dict", "metrics", "midi", "onsets", "plot", "run",
           "simulate", "to_midi"]
