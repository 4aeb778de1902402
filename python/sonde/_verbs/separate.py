# SPDX-License-Identifier: Apache-2.0
"""The verbs of `sonde separate` as functions. Written by `python -m sonde._verb_functions`; do not edit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, SupportsFloat, SupportsIndex

from .._calls import checked
from .._keywords import Text
from .._run import Result, run as _run
from .._types import Progress


@checked
def run(*inputs: Text, output: Text | None = None, checkpoint: Text | None = None, model: Text | None = None,
        state_key: Text | None = None, overlap: SupportsIndex | None = None, policy: Literal["fade", "uniform"] | None = None,
        chunk: SupportsIndex | None = None, start: Text | None = None, seconds: SupportsFloat | None = None,
        downmix: Literal["refuse", "first2", "mean"] | None = None, nan: Literal["refuse", "zero"] | None = None,
        resample_quality: Literal["quick", "low", "medium", "high", "very_high"] | None = None, stems: Text | None = None,
        mix: Text | None = None, format: Literal["wav", "flac", "ogg", "mp3"] | None = None, subtype: Text | None = None,
        template: Text | None = None, dither: Literal["on", "off"] | None = None, device: Text | None = None,
        memory: SupportsIndex | str | None = None, threads: SupportsIndex | None = None, report: Text | None = None,
        config: Text | None = None, dry_run: bool | None = None, progress: Progress | None = None) -> Result:
    """Separate audio files into stems with a trained network.

    What ``sonde separate run`` does.

    Reads a checkpoint of an MDX23C (TFC-TDF v3) network as it is (see `sonde separate info`) and audio files of any length, and
    writes one file for each stem, as long as the input, at the network's sample rate. The file is read, separated and written in
    pieces: memory does not depend on its length. Results are the same bits for every number of threads.

    The network sees chunks; with an overlap of N each sample is the mean of N of them. More overlap is smoother and takes N times
    as long. `fade` is the way of Music-Source-Separation-Training, `uniform` that of Ultimate Vocal Remover.

    A sum of stems is an output of its own: `cymbals=ride+crash`, and `drumless=mixture-drums` what is left of the file without a
    stem. What is beyond -1 to 1 is kept in floating point and clipped, with a count, in other formats.

    Parameters
    ----------
    inputs : list of str, default []
        audio files: WAV, AIFF, FLAC, Ogg, MP3
    output : str (DIR), default ''
        folder of the stems
    checkpoint : str (MODEL.ckpt|.pth|.safetensors|formula:SEED), default ''
        trained network, or formula:SEED for values made from their names
    model : str (CONFIG.yaml), default ''
        configuration of the network; without it the one beside the checkpoint, or a known one whose shapes are the same
    state_key : str (KEY), default ''
        key of the parameters in a training state; without it the first of state, state_dict, model_state_dict, model, ema and net that holds tensors
    overlap : int, default unset
        chunks that cover a sample; without it as the configuration says (at least 1)
    policy : {'fade', 'uniform'}, default 'fade'
        how chunks are joined: weighted with ramps, or as plain means of full chunks
    chunk : int, default unset
        samples of a chunk; without it as the configuration says (at least 1)
    start : str (S|M:S), default '0'
        where to begin in each file: seconds, or minutes:seconds
    seconds : float in s, default unset
        how much of each file; without it all (at least 0)
    downmix : {'refuse', 'first2', 'mean'}, default 'refuse'
        what becomes of more channels than the network has
    nan : {'refuse', 'zero'}, default 'refuse'
        what becomes of samples that are not numbers
    resample_quality : {'quick', 'low', 'medium', 'high', 'very_high'}, default 'very_high'
        for files of another sample rate than the network's
    stems : str (A,B), default ''
        the stems that are written; without it all
    mix : list of str, default []
        one more output, a sum of stems and of "mixture"; may be repeated
    format : {'wav', 'flac', 'ogg', 'mp3'}, default 'wav'
        file format of the stems
    subtype : str (auto|pcm16|pcm24|float), default 'auto'
        samples of WAV (auto: float) and FLAC (auto: pcm24)
    template : str, default '{file}/{stem}'
        names of the files, without ending: {file}, {stem} and {model} become names
    dither : {'on', 'off'}, default 'on'
        noise of two steps before rounding to 16 bits, always the same
    device : str (auto|cpu|cuda|cuda:N), default 'auto'
        where to compute
    memory : int or str, default unset
        most memory to hold, for instance 8G; unset takes 0.6 of what is free (at least 1)
    threads : int, default 0
        threads that compute; 0 takes every core this process may use (at least 0, at most 4096)
    report : str (FILE), default unset
        write what was done as JSON (sonde.report/1)
    config : str (FILE), default unset
        read settings from a TOML file; flags count more
    dry_run : bool, default False
        print the resolved settings and the choices, do nothing
    """
    return _run("separate run", *inputs, output=output, checkpoint=checkpoint, model=model, state_key=state_key, overlap=overlap,
                policy=policy, chunk=chunk, start=start, seconds=seconds, downmix=downmix, nan=nan,
                resample_quality=resample_quality, stems=stems, mix=mix, format=format, subtype=subtype, template=template,
                dither=dither, device=device, memory=memory, threads=threads, report=report, config=config, dry_run=dry_run,
                progress=progress)


@checked
def info(*, checkpoint: Text | None = None, model: Text | None = None, state_key: Text | None = None, device: Text | None = None,
         memory: SupportsIndex | str | None = None, threads: SupportsIndex | None = None, report: Text | None = None,
         config: Text | None = None, dry_run: bool | None = None, progress: Progress | None = None) -> Result:
    """Say what a trained network is and what it costs.

    What ``sonde separate info`` does.

    Reads checkpoints of PyTorch (ZIP archives and those before version 1.6) and safetensors files of MDX23C (TFC-TDF v3)
    networks. Nothing in a checkpoint is executed: names of Python that it holds are listed. The configuration is the YAML file
    that is given, or in the folder of the checkpoint the one of the same name, config_mdx23c.yaml, config.yaml or the only one
    whose numbers fit the tensors; without any, a known network whose shapes are the same. A configuration that contradicts the
    tensors is refused with the field and the tensor.

    The work is counted in multiplications with weights (GMAC: 1e9 of them).

    Parameters
    ----------
    checkpoint : str (MODEL.ckpt|.pth|.safetensors|formula:SEED), default ''
        trained network, or formula:SEED for values made from their names
    model : str (CONFIG.yaml), default ''
        configuration of the network; without it the one beside the checkpoint, or a known one whose shapes are the same
    state_key : str (KEY), default ''
        key of the parameters in a training state; without it the first of state, state_dict, model_state_dict, model, ema and net that holds tensors
    device : str (auto|cpu|cuda|cuda:N), default 'auto'
        where to compute
    memory : int or str, default unset
        most memory to hold, for instance 8G; unset takes 0.6 of what is free (at least 1)
    threads : int, default 0
        threads that compute; 0 takes every core this process may use (at least 0, at most 4096)
    report : str (FILE), default unset
        write what was done as JSON (sonde.report/1)
    config : str (FILE), default unset
        read settings from a TOML file; flags count more
    dry_run : bool, default False
        print the resolved settings and the choices, do nothing
    """
    return _run("separate info", checkpoint=checkpoint, model=model, state_key=state_key, device=device, memory=memory,
                threads=threads, report=report, config=config, dry_run=dry_run, progress=progress)


@checked
def convert(input: Text, output: Text, *, dtype: Literal["f32", "f16", "bf16"] | None = None, state_key: Text | None = None,
            device: Text | None = None, memory: SupportsIndex | str | None = None, threads: SupportsIndex | None = None,
            report: Text | None = None, config: Text | None = None, dry_run: bool | None = None, progress: Progress | None = None) -> Result:
    """Write the parameters of a checkpoint as safetensors.

    What ``sonde separate convert`` does.

    The written file holds only the parameters: no code, no optimiser. f32 keeps every bit of a float32 checkpoint; f16 and bf16
    halve the file and round to the nearest value. Whole numbers stay whole. The checkpoint may be of any network.

    Parameters
    ----------
    input : str (IN.ckpt|.pth|.safetensors), default ''
        checkpoint of PyTorch, or safetensors
    output : str (OUT.safetensors), default ''
        the same parameters, without code
    dtype : {'f32', 'f16', 'bf16'}, default 'f32'
        element type of the written values
    state_key : str (KEY), default ''
        key of the parameters in a training state; without it the first of state, state_dict, model_state_dict, model, ema and net that holds tensors
    device : str (auto|cpu|cuda|cuda:N), default 'auto'
        where to compute
    memory : int or str, default unset
        most memory to hold, for instance 8G; unset takes 0.6 of what is free (at least 1)
    threads : int, default 0
        threads that compute; 0 takes every core this process may use (at least 0, at most 4096)
    report : str (FILE), default unset
        write what was done as JSON (sonde.report/1)
    config : str (FILE), default unset
        read settings from a TOML file; flags count more
    dry_run : bool, default False
        print the resolved settings and the choices, do nothing
    """
    return _run("separate convert", input, output, dtype=dtype, state_key=state_key, device=device, memory=memory,
                threads=threads, report=report, config=config, dry_run=dry_run, progress=progress)
