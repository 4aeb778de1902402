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
        chunk: SupportsIndex | None = None, dim_t: SupportsIndex | None = None, shifts: SupportsIndex | None = None,
        tta: bool | None = None, preview: bool | None = None, quality: bool | None = None, batch: Text | None = None,
        tune: bool | None = None, precision: Literal["auto", "f32", "f16", "bf16", "tf32"] | None = None,
        verify_precision: bool | None = None, then: Text | None = None, then_model: Text | None = None,
        then_state_key: Text | None = None, then_stem: Text | None = None, then_overlap: SupportsIndex | None = None,
        then_chunk: SupportsIndex | None = None, then_dim_t: SupportsIndex | None = None, recursive: bool | None = None,
        resume: bool | None = None, start: Text | None = None, seconds: SupportsFloat | None = None,
        downmix: Literal["refuse", "first2", "mean"] | None = None, nan: Literal["refuse", "zero"] | None = None,
        resample_quality: Literal["quick", "low", "medium", "high", "very_high"] | None = None, stems: Text | None = None,
        mix: Text | None = None, residual: Text | None = None, format: Literal["wav", "flac", "ogg", "mp3"] | None = None,
        subtype: Text | None = None, template: Text | None = None, keep_rate: bool | None = None,
        clip: Literal["warn", "rescale", "float"] | None = None, dither: Literal["on", "off"] | None = None,
        midi: bool | None = None, live: SupportsIndex | None = None, device: Text | None = None,
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

    `then` names a second network, which separates a stem of the first in the same run, as the drums of a song into a drum kit.
    Its files are named as if the stem were the file that is separated, in the folder of the stem: `out/song/drums.wav` and
    `out/song/drums/kick.wav`. They are the same bits as of two runs with a file of float32 between them.

    Parameters
    ----------
    inputs : list of str, default []
        audio files (WAV, AIFF, FLAC, Ogg, MP3) and folders of them
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
    dim_t : int, default unset
        the same in frames, as UVR counts segments: hop_length (N - 1) samples (at least 1)
    shifts : int, default 1
        mean of N results, of the file shifted in a circle by 0, 1/N, ... of its length: N times the work (at least 1, at most 100)
    tta : bool, default False
        mean of three results: of each chunk, of its channels exchanged, and of its negative
    preview : bool, default False
        write stems after a first pass that computes each sample once, and better ones after each pass that follows; no more work, the last stems up to rounding
    quality : bool, default False
        how far the stems can be trusted, without true ones: how far passes over the file agree and what the stems lack of the mixture, over time, in separation.json; no more work, and stems as with preview
    batch : str (N|auto), default 'auto'
        chunks in one pass; they go one after another, whatever N is
    tune : bool, default False
        compute each 3 x 3 convolution in the way that was measured to be faster for this network: once, for as long as two chunks take, and kept for later runs that tune
    precision : {'auto', 'f32', 'f16', 'bf16', 'tf32'}, default 'auto'
        of the weights, which compute in float32: f16 and bf16 show what half precision costs, and save nothing; tf32 is that of products on a GPU
    verify_precision : bool, default False
        compare the first chunk with weights in float32 and direct convolutions
    then : str (MODEL.ckpt|.pth|.safetensors|formula:SEED), default ''
        a second network, which separates a stem of the first: the drums of a song into a drum kit
    then_model : str (CONFIG.yaml), default ''
        configuration of the second network; without it found as that of the first
    then_state_key : str (KEY), default ''
        key of the parameters in a training state of the second network
    then_stem : str (STEM), default 'drums'
        the stem that the second network separates, or the name of a sum
    then_overlap : int, default unset
        chunks that cover a sample; without it that of the first network, where it is given, or as the configuration says (at least 1)
    then_chunk : int, default unset
        samples of a chunk; without it as the configuration says (at least 1)
    then_dim_t : int, default unset
        the same in frames (at least 1)
    recursive : bool, default False
        look for files in the folders of a named folder too
    resume : bool, default False
        continue where an earlier run was interrupted, and skip files that are complete
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
        the stems that are written, of the network that has them; without it all
    mix : list of str, default []
        one more output, a sum of stems and of "mixture"
    residual : list of str, default []
        one more output, the mixture without this stem (no_STEM), or without all (residual)
    format : {'wav', 'flac', 'ogg', 'mp3'}, default 'wav'
        file format of the stems
    subtype : str (auto|pcm16|pcm24|float), default 'auto'
        samples of WAV (auto: float) and FLAC (auto: pcm24)
    template : str, default '{file}/{stem}'
        names of the files, without ending: {file}, {stem} and {model} become names, {dir} the folders of the file below a named folder
    keep_rate : bool, default False
        stems at the sample rate of the file, as long as the file
    clip : {'warn', 'rescale', 'float'}, default 'warn'
        what becomes of samples beyond -1 to 1 in files of integers: clipped and counted, all stems quieter by one factor, or the files in floating point
    dither : {'on', 'off'}, default 'on'
        noise of two steps before rounding to 16 bits, always the same
    midi : bool, default False
        a MIDI file of the drums beside the stems, with the settings of `sonde separate midi`; the stems are read again, each as a whole
    live : int, default unset
        show the work in the browser while it runs, on this port of this machine; 0 takes a free one. It can be paused there between two steps, and stopped (at least 0, at most 65535)
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
                policy=policy, chunk=chunk, dim_t=dim_t, shifts=shifts, tta=tta, preview=preview, quality=quality, batch=batch,
                tune=tune, precision=precision, verify_precision=verify_precision, then=then, then_model=then_model,
                then_state_key=then_state_key, then_stem=then_stem, then_overlap=then_overlap, then_chunk=then_chunk,
                then_dim_t=then_dim_t, recursive=recursive, resume=resume, start=start, seconds=seconds, downmix=downmix, nan=nan,
                resample_quality=resample_quality, stems=stems, mix=mix, residual=residual, format=format, subtype=subtype,
                template=template, keep_rate=keep_rate, clip=clip, dither=dither, midi=midi, live=live, device=device,
                memory=memory, threads=threads, report=report, config=config, dry_run=dry_run, progress=progress)


@checked
def midi(*inputs: Text, output: Text | None = None, events: Text | None = None, reference: Text | None = None,
         plot: Text | None = None, detection: Text | None = None, gap: Text | None = None, merge: Text | None = None,
         threshold: Text | None = None, prominence: Text | None = None, floor: Text | None = None, gate: Text | None = None,
         sharpness: Text | None = None, sustain: Text | None = None, crash_centroid: SupportsFloat | None = None,
         notes: Text | None = None, pedal: bool | None = None, velocity: Literal["level", "linear"] | None = None,
         softest: SupportsIndex | None = None, loudest: SupportsIndex | None = None, span: SupportsFloat | None = None,
         note_length: SupportsFloat | None = None, format: SupportsIndex | None = None, tempo: Text | None = None,
         quantise: Text | None = None, strength: SupportsFloat | None = None, device: Text | None = None,
         memory: SupportsIndex | str | None = None, threads: SupportsIndex | None = None, report: Text | None = None,
         config: Text | None = None, dry_run: bool | None = None, progress: Progress | None = None) -> Result:
    """Turn stems of drums into a MIDI file.

    What ``sonde separate midi`` does.

    Reads the stems that `sonde separate run` wrote, or those of any other program, finds where each drum is hit and how hard, and
    writes General MIDI notes on channel 10. A file is a stem of the drum that its name says: kick, snare, toms, hihat, cymbals,
    crash, ride and usual short forms, also within a longer name; other files of a folder are ignored. Hi-hats are open or closed,
    toms low, mid or high, cymbals crash or ride.

    Each setting of finding events is one value for all stems, or values for some of them, gap="hihat=40,kick=60"; stems that are
    not named keep theirs. Velocities follow the level of each hit within its stem.

    With a reference, a MIDI file or a table of events, the found ones are scored: precision, recall and F within 50 and 25 ms.
    Events of the reference closer than the gap of their stem count as one; the scores without that are printed beside.

    Parameters
    ----------
    inputs : list of str, default []
        stems of drums: folders, files named after their drum, or snare=FILE
    output : str (FILE.mid), default ''
        the MIDI file
    events : str (FILE.csv|.json), default ''
        the events as a table or as data
    reference : str (FILE.mid|.csv), default ''
        what was played: scores of the events found
    plot : str (FILE.png|.pdf|.svg), default ''
        a picture of levels and events
    detection : str (STEM=WORD), default 'kick=flux,snare=flux,toms=energy,hihat=flux,cymbals=energy'
        what is followed: flux, energy or peak
    gap : str (STEM=X) in ms, default 'kick=50,snare=60,toms=90,hihat=60,cymbals=100'
        least time between two events
    merge : str (STEM=X) in ms, default 'kick=100,snare=100,toms=150,hihat=100,cymbals=150'
        events of left and right within it are one
    threshold : str (STEM=X), default 'kick=0.1,snare=0.1,toms=0.1,hihat=0.03,cymbals=0.1'
        flux: height above the mean around it, of the largest
    prominence : str (STEM=X) in dB, default 'kick=12,snare=14,toms=13,hihat=16,cymbals=15'
        energy, peak: rise above the valleys beside it
    floor : str (STEM=X) in dB, default 'kick=-45,snare=-45,toms=-45,hihat=-45,cymbals=-45'
        energy, peak: what is silence, below the loudest place
    gate : str (STEM=X), default 'kick=0.02,snare=0.02,toms=0.005,hihat=0.02,cymbals=0.02'
        energy, of that of a strong hit, below which an event is bleed
    sharpness : str (STEM=X), default 'kick=0.1,snare=0.1,toms=0.1,hihat=0.2,cymbals=0.2'
        least rise in 10 ms over the level before it; 0: it must not fall
    sustain : str (STEM=X) in ms, default 'kick=100,snare=100,toms=100,hihat=100,cymbals=500'
        hi-hat: open from here on; cymbals: a crash
    crash_centroid : float in Hz, default 3000.0
        centroid of a crash at least (at least 0)
    notes : str (HIT=N), default 'kick=36,snare=38,side_stick=37,clap=39,tom_low=45,tom_mid=47,tom_high=50,hihat_closed=42,hihat_open=46,hihat_pedal=44,crash=49,ride=51,china=52'
        note of each kind of hit
    pedal : bool, default False
        a pedal note where an open hi-hat ends by itself
    velocity : {'level', 'linear'}, default 'level'
        after the level in dB, or after the strength of the onset
    softest : int, default 20
        velocity of the softest hits (at least 1, at most 127)
    loudest : int, default 120
        velocity of the loudest hits (at least 1, at most 127)
    span : float in dB, default 6.0
        range of levels that has all velocities, at least (at least 0)
    note_length : float in ms, default 50.0
        length of the notes (at least 5, at most 10000)
    format : int, default 1
        0: one track; 1: one for each stem (at least 0, at most 1)
    tempo : str (X|auto), default '120'
        quarters per minute; auto: that of the events
    quantise : str (off|1/8|1/16|1/8T|...), default 'off'
        grid that notes are moved to
    strength : float, default 1.0
        how far they are moved: 1 onto the grid (at least 0, at most 1)
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
    return _run("separate midi", *inputs, output=output, events=events, reference=reference, plot=plot, detection=detection,
                gap=gap, merge=merge, threshold=threshold, prominence=prominence, floor=floor, gate=gate, sharpness=sharpness,
                sustain=sustain, crash_centroid=crash_centroid, notes=notes, pedal=pedal, velocity=velocity, softest=softest,
                loudest=loudest, span=span, note_length=note_length, format=format, tempo=tempo, quantise=quantise,
                strength=strength, device=device, memory=memory, threads=threads, report=report, config=config, dry_run=dry_run,
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


@checked
def ensemble(*folders: Text, output: Text | None = None, blend: Literal["mean", "median", "min", "max"] | None = None,
             weights: Text | None = None, device: Text | None = None, memory: SupportsIndex | str | None = None,
             threads: SupportsIndex | None = None, report: Text | None = None, config: Text | None = None,
             dry_run: bool | None = None, progress: Progress | None = None) -> Result:
    """Blend the stems of several networks.

    What ``sonde separate ensemble`` does.

    Takes folders of stems of one song, made by `sonde separate run` or any other program, and blends the files of one name,
    without ending and case, sample by sample: their mean or median, with weights where some networks are better, or the sample of
    least or greatest magnitude. They must have one sample rate, length and number of channels. Written are WAV files of float32.
    Files are read in pieces: memory does not depend on their length.

    Parameters
    ----------
    folders : list of str, default []
        folders of stems of one song, each of another network
    output : str (DIR), default ''
        folder of the stems that are made
    blend : {'mean', 'median', 'min', 'max'}, default 'mean'
        what becomes of each sample: min and max take that of least and of greatest magnitude
    weights : str (W,W,...), default ''
        how much each folder counts in mean and median; without it all count as much
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
    return _run("separate ensemble", *folders, output=output, blend=blend, weights=weights, device=device, memory=memory,
                threads=threads, report=report, config=config, dry_run=dry_run, progress=progress)


@checked
def eval(reference: Text, estimate: Text, *, output: Text | None = None, mixture: Text | None = None, metrics: Text | None = None,
         frame: SupportsFloat | None = None, hop: SupportsFloat | None = None, rate: SupportsIndex | None = None,
         lengths: Literal["refuse", "shortest"] | None = None, device: Text | None = None,
         memory: SupportsIndex | str | None = None, threads: SupportsIndex | None = None, report: Text | None = None,
         config: Text | None = None, dry_run: bool | None = None, progress: Progress | None = None) -> Result:
    """Score separated stems against the true ones.

    What ``sonde separate eval`` does.

    Files of two folders are compared whose names are equal but for ending and case: kick.flac with Kick.wav. They must have one
    sample rate and one length, unless `rate` and `lengths` say otherwise. A stem's SDR is 10 log10(|truth|^2 / |truth -
    estimate|^2) over all channels; SI-SDR the same for any loudness of the estimate (Le Roux et al. 2019); `frames` is the median
    of the SDR of frames, without those where the true stem is silent. With a mixture, `rise` is how far the SDR is above that of
    the mixture taken as the estimate: how much the separation is worth.

    `bss_eval` in `metrics` adds SDR, SIR and SAR of BSS-Eval version 3 (Vincent, Gribonval and Fevotte 2006), which forgive
    filters of 512 taps, of the mean of the channels: of the whole files, for the order of estimates with the largest mean SIR,
    and the medians of frames.

    Parameters
    ----------
    reference : str (DIR|FILE), default ''
        the true stems: a folder, or one file
    estimate : str (DIR|FILE), default ''
        what is scored: files of the same names, or one file
    output : str (FILE.csv), default ''
        the scores as a table
    mixture : str (FILE), default ''
        what was separated, for the rise of the SDR; without it the file called mixture among the true stems, if there is one
    metrics : str (sdr,si_sdr,bss_eval), default 'sdr,si_sdr'
        sdr and si_sdr are always computed; bss_eval takes longer
    frame : float in s, default 1.0
        length of the frames of which medians are taken (at least 0.001)
    hop : float in s, default 1.0
        from one frame to the next (at least 0.001)
    rate : int in Hz, default unset
        resample all files to this rate; without it all must have the same (at least 1)
    lengths : {'refuse', 'shortest'}, default 'refuse'
        what becomes of files of other lengths: an error, or only the part that all have
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
    return _run("separate eval", reference, estimate, output=output, mixture=mixture, metrics=metrics, frame=frame, hop=hop,
                rate=rate, lengths=lengths, device=device, memory=memory, threads=threads, report=report, config=config,
                dry_run=dry_run, progress=progress)


@checked
def plot(*inputs: Text, output: Text | None = None, range_db: SupportsFloat | None = None, device: Text | None = None,
         memory: SupportsIndex | str | None = None, threads: SupportsIndex | None = None, report: Text | None = None,
         config: Text | None = None, dry_run: bool | None = None, progress: Progress | None = None) -> Result:
    """Draw spectrograms of audio files beside each other, or the quality of stems.

    What ``sonde separate plot`` does.

    One panel for each file, on logarithmic frequency, in dB below the loudest level of all files: what is left of one stem in
    another shows as its shape. Windows of 4096 samples; files of any length are read in pieces.

    Of the separation.json of `sonde separate run --quality`: how far passes agree on each stem, and what all stems lack of the
    mixture, over time.

    Parameters
    ----------
    inputs : list of str, default []
        audio files: a mixture, and its stems; or one separation.json
    output : str (FILE.png|.pdf|.svg), default ''
        the picture; unset: FILE.png and FILE.pdf beside the first input
    range_db : float in dB, default 70.0
        what is shown below the loudest level (at least 1, at most 200)
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
    return _run("separate plot", *inputs, output=output, range_db=range_db, device=device, memory=memory, threads=threads,
                report=report, config=config, dry_run=dry_run, progress=progress)


@checked
def simulate(*, output: Text | None = None, seed: SupportsIndex | None = None, seconds: SupportsFloat | None = None,
             tempo: SupportsFloat | None = None, timing: SupportsFloat | None = None, rate: SupportsIndex | None = None,
             backing: bool | None = None, device: Text | None = None, memory: SupportsIndex | str | None = None,
             threads: SupportsIndex | None = None, report: Text | None = None, config: Text | None = None,
             dry_run: bool | None = None, progress: Progress | None = None) -> Result:
    """Render a drum loop with its true stems and events.

    What ``sonde separate simulate`` does.

    Kick, snare, toms, hihat and cymbals of a beat with fills, human timing and accents, each made of what makes the sound of a
    drum: a sine whose pitch falls, damped modes, noise of wires and inharmonic partials of metal. The folder gets a WAV file
    (float) for each stem, `mixture.wav`, which is their sum, and the hits as events.csv and events.mid: `sonde separate run`,
    `midi` and `eval` can be tried where the truth is known.

    The same settings give the same samples, bit for bit, on every machine.

    Parameters
    ----------
    output : str (DIR), default ''
        folder of the stems
    seed : int, default 1
        another seed, another performance (at least 0)
    seconds : float in s, default 10.0
        length of the loop (at least 0.5, at most 3600)
    tempo : float, default 100.0
        quarters per minute (at least 30, at most 300)
    timing : float in ms, default 5.0
        how far hits are off the beat, one standard deviation (at least 0, at most 50)
    rate : int in Hz, default 44100
        sample rate (at least 8000, at most 192000)
    backing : bool, default False
        a stem with bass, chords and a melody too
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
    return _run("separate simulate", output=output, seed=seed, seconds=seconds, tempo=tempo, timing=timing, rate=rate,
                backing=backing, device=device, memory=memory, threads=threads, report=report, config=config, dry_run=dry_run,
                progress=progress)


@checked
def demo(*, output: Text | None = None, seconds: SupportsFloat | None = None, device: Text | None = None,
         memory: SupportsIndex | str | None = None, threads: SupportsIndex | None = None, report: Text | None = None,
         config: Text | None = None, dry_run: bool | None = None, progress: Progress | None = None) -> Result:
    """Render a drum loop, separate it with a small network, and score the stems.

    What ``sonde separate demo`` does.

    Nothing else is needed: the loop is that of `sonde separate simulate --backing`, and a network with 0.5 million parameters for
    kick, snare, hihat and other comes with the program. It was trained for ten minutes on synthetic patterns with sounds like
    those of the loop: it shows what the program does, not what networks can do with recordings. The folder gets the true stems
    (loop/), the separated ones with MIDI and scores (stems/), and a figure.

    Parameters
    ----------
    output : str (DIR), default ''
        folder for everything that is made
    seconds : float in s, default 10.0
        length of the loop (at least 2, at most 600)
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
    return _run("separate demo", output=output, seconds=seconds, device=device, memory=memory, threads=threads, report=report,
                config=config, dry_run=dry_run, progress=progress)
