# SPDX-License-Identifier: Apache-2.0
"""The verbs of `sonde ptycho` as functions. Written by `python -m sonde._verb_functions`; do not edit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, SupportsFloat, SupportsIndex

from .._calls import checked
from .._keywords import Text
from .._run import Result, run as _run
from .._types import Progress


@checked
def run(input: Text, *, output: Text | Mapping[str, Any] | None = None, precision: Literal["f32", "f64"] | None = None,
        storage: Literal["auto", "f32", "f64", "f16", "bf16", "counts"] | None = None, log: Text | None = None,
        deterministic: bool | None = None, skip_empty: bool | None = None, clip_negative: bool | None = None,
        set: Text | None = None, live: SupportsIndex | None = None, device: Text | None = None,
        memory: SupportsIndex | str | None = None, threads: SupportsIndex | None = None, report: Text | None = None,
        config: Text | None = None, dry_run: bool | None = None, data: Mapping[str, Any] | None = None,
        geometry: Mapping[str, Any] | None = None, probe: Mapping[str, Any] | None = None,
        object: Mapping[str, Any] | None = None, low_resolution: Mapping[str, Any] | None = None,
        direct: Mapping[str, Any] | None = None, engine: Sequence[Mapping[str, Any]] | None = None,
        positions: Mapping[str, Any] | None = None, opr: Mapping[str, Any] | None = None,
        constraint: Sequence[Mapping[str, Any]] | None = None, stop: Mapping[str, Any] | None = None,
        compute: Mapping[str, Any] | None = None, multi_start: Mapping[str, Any] | None = None,
        quality: Mapping[str, Any] | None = None, copy: bool = False, progress: Progress | None = None) -> Result:
    """Reconstruct object and probe from diffraction patterns.

    What ``sonde ptycho run`` does.

    A run file (TOML) says where the patterns are, how they were taken, and which engines work on them: `sonde ptycho init` writes
    one with every key explained. What is planned is printed before anything is allocated.

    The result is one HDF5 file with object, probe, positions, metrics of every iteration and all settings, beside pictures of
    phase and amplitude and a page that judges them (RESULT_report.html). A run that diverges or is interrupted writes its best
    state first.

    Parameters
    ----------
    input : str, default ''
        run file (.toml), or the patterns, with config RUN.toml unless the file says all of itself
    output : str (FILE.h5), default 'result.h5'
        the result file
    precision : {'f32', 'f64'}, default 'f32'
        of all computing; f64 is for checks
    storage : {'auto', 'f32', 'f64', 'f16', 'bf16', 'counts'}, default 'auto'
        how measured amplitudes are kept: auto takes f32 while it fits, then counts, which keeps small integers as they are, or f16
    log : str (FILE.jsonl), default ''
        metrics of every iteration as JSON lines; empty: none
    deterministic : bool, default False
        the same bits in every run on this kind of processor, also where no transforms were measured before: their plans follow rules, and may be slower
    skip_empty : bool, default False
        frames without a single count take no part
    clip_negative : bool, default False
        negative counts become zero
    set : list of str, default []
        one setting of the run file, for instance engine.0.iterations=200
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
    data, geometry, probe, object, low_resolution, direct, engine, positions, opr, constraint, stop, compute, multi_start, quality, output : dict, or list of dicts where a table comes several times
        tables of the run file, by themselves or over those of one
    copy : bool, default False
        make an array contiguous where it is not; otherwise that is an error
    """
    return _run("ptycho run", input, output=output, precision=precision, storage=storage, log=log, deterministic=deterministic,
                skip_empty=skip_empty, clip_negative=clip_negative, set=set, live=live, device=device, memory=memory,
                threads=threads, report=report, config=config, dry_run=dry_run, data=data, geometry=geometry, probe=probe,
                object=object, low_resolution=low_resolution, direct=direct, engine=engine, positions=positions, opr=opr,
                constraint=constraint, stop=stop, compute=compute, multi_start=multi_start, quality=quality, copy=copy,
                progress=progress)


@checked
def resume(checkpoint: Text, *, output: Text | None = None, set: Text | None = None, live: SupportsIndex | None = None,
           device: Text | None = None, memory: SupportsIndex | str | None = None, threads: SupportsIndex | None = None,
           report: Text | None = None, config: Text | None = None, dry_run: bool | None = None, progress: Progress | None = None) -> Result:
    """Continue a reconstruction from its checkpoint.

    What ``sonde ptycho resume`` does.

    The checkpoint holds the settings and everything the next iteration depends on: on the same kind of processor the result has
    the same bits as without the break. The measurement is read again from where it was. What counts from the next iteration on
    may be another: engines that still work, constraints, stop rules, output. A setting that the checkpoint has fixed, as
    probe.modes, is refused.

    Parameters
    ----------
    checkpoint : str, default ''
        what a run with output.checkpoint_every left (.ckpt.h5)
    output : str (FILE.h5), default ''
        the result file; in place of that of the run
    set : list of str, default []
        one setting of the run that is another from now on, for instance engine.0.iterations=400
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
    return _run("ptycho resume", checkpoint, output=output, set=set, live=live, device=device, memory=memory, threads=threads,
                report=report, config=config, dry_run=dry_run, progress=progress)


@checked
def direct(input: Text, *, method: Literal["ssb", "parallax"] | None = None, output: Text | Mapping[str, Any] | None = None,
           set: Text | None = None, fit: Literal["none", "defocus", "aberrations", "all"] | None = None,
           transfer: Literal["auto", "raw", "flipped", "corrected"] | None = None, upsample: SupportsIndex | None = None,
           skip_empty: bool | None = None, clip_negative: bool | None = None, live: SupportsIndex | None = None,
           device: Text | None = None, memory: SupportsIndex | str | None = None, threads: SupportsIndex | None = None,
           report: Text | None = None, config: Text | None = None, dry_run: bool | None = None,
           data: Mapping[str, Any] | None = None, geometry: Mapping[str, Any] | None = None,
           probe: Mapping[str, Any] | None = None, object: Mapping[str, Any] | None = None,
           low_resolution: Mapping[str, Any] | None = None, direct: Mapping[str, Any] | None = None,
           engine: Sequence[Mapping[str, Any]] | None = None, positions: Mapping[str, Any] | None = None,
           opr: Mapping[str, Any] | None = None, constraint: Sequence[Mapping[str, Any]] | None = None,
           stop: Mapping[str, Any] | None = None, compute: Mapping[str, Any] | None = None,
           multi_start: Mapping[str, Any] | None = None, quality: Mapping[str, Any] | None = None, copy: bool = False,
           progress: Progress | None = None) -> Result:
    """Image a weak phase object in one pass: single side band or parallax.

    What ``sonde ptycho direct`` does.

    Takes what `sonde ptycho run` takes, as long as the positions are a regular raster and energy, angles and the convergence
    semiangle are known. Defocus, astigmatism and the rotation of the scan are found from the images of the bright-field pixels
    first, unless fit says otherwise.

    Single side band (ssb) suits a probe near focus, parallax (tilt-corrected bright field) one far from it. Phases come out
    weakened by the method's transfer unless transfer="corrected" divides it out. The result (.h5) has the object on the pixels
    that a reconstruction uses, so that `run` can start from it.

    Parameters
    ----------
    input : str, default ''
        patterns, or a run file (.toml)
    method : {'ssb', 'parallax'}, default 'ssb'
        single side band, or tilt-corrected bright field
    output : list of str, default ['direct.h5', 'direct.png']
        FILE.h5 (a result as `run` writes it), .npy (the complex wave), .tif or .png (the phase); may be given several times
    set : list of str, default []
        one setting of a run file, for instance geometry.semiangle_mrad=20
    fit : {'none', 'defocus', 'aberrations', 'all'}, default 'all'
        what is found from the images first: nothing, C10, C10 and C12 with phi12, or these and the rotation of the scan; the search begins at the values of [probe] and [geometry]
    transfer : {'auto', 'raw', 'flipped', 'corrected'}, default 'auto'
        what is done about frequencies that the method weakens or inverts: nothing (auto of ssb), their signs made right (auto of parallax), or their strength too (auto where a run begins)
    upsample : int, default 1
        parallax: rows and columns of the image for one of the scan (at least 1, at most 8)
    skip_empty : bool, default False
        frames without a single count take no part
    clip_negative : bool, default False
        negative counts become zero
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
    data, geometry, probe, object, low_resolution, direct, engine, positions, opr, constraint, stop, compute, multi_start, quality, output : dict, or list of dicts where a table comes several times
        tables of the run file, by themselves or over those of one
    copy : bool, default False
        make an array contiguous where it is not; otherwise that is an error
    """
    return _run("ptycho direct", input, method=method, output=output, set=set, fit=fit, transfer=transfer, upsample=upsample,
                skip_empty=skip_empty, clip_negative=clip_negative, live=live, device=device, memory=memory, threads=threads,
                report=report, config=config, dry_run=dry_run, data=data, geometry=geometry, probe=probe, object=object,
                low_resolution=low_resolution, direct=direct, engine=engine, positions=positions, opr=opr, constraint=constraint,
                stop=stop, compute=compute, multi_start=multi_start, quality=quality, copy=copy, progress=progress)


@checked
def init(input: Text, *, output: Text | None = None, engine: Text | None = None, set: Text | None = None,
         device: Text | None = None, memory: SupportsIndex | str | None = None, threads: SupportsIndex | None = None,
         report: Text | None = None, config: Text | None = None, dry_run: bool | None = None, progress: Progress | None = None) -> Result:
    """Write a run file for a measurement, with every key explained.

    What ``sonde ptycho init`` does.

    Every key of the run file is there with its meaning, and every constraint that could be added, commented out. What the
    measurement says of itself is filled in; what is needed and unknown is marked FILL IN.

    Parameters
    ----------
    input : str, default ''
        file with patterns
    output : str (FILE.toml), default ''
        the run file; empty prints it
    engine : list of str, default ['gd']
        an engine of the run, in order
    set : list of str, default []
        a setting to begin with, for instance geometry.energy_keV=200
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
    return _run("ptycho init", input, output=output, engine=engine, set=set, device=device, memory=memory, threads=threads,
                report=report, config=config, dry_run=dry_run, progress=progress)


@checked
def report(input: Text, *, output: Text | None = None, device: Text | None = None, memory: SupportsIndex | str | None = None,
           threads: SupportsIndex | None = None, report: Text | None = None, config: Text | None = None,
           dry_run: bool | None = None, progress: Progress | None = None) -> Result:
    """Write a page that shows and judges a reconstruction.

    What ``sonde ptycho report`` does.

    One HTML file that needs nothing else: phase and amplitude with scale bars, probe modes, error curves, corrections of
    positions, resolution from two halves of the data (where the run made them), diagnoses with causes and remedies, what to try
    next, settings and provenance. `sonde ptycho run` writes the same page beside its result.

    Parameters
    ----------
    input : str, default ''
        a result of `sonde ptycho run`
    output : str (FILE.html), default ''
        the page; empty: beside the result, RESULT_report.html
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
    return _run("ptycho report", input, output=output, device=device, memory=memory, threads=threads, report=report,
                config=config, dry_run=dry_run, progress=progress)


@checked
def sweep(input: Text, *, output: Text | None = None, set: Text | None = None, live: SupportsIndex | None = None,
          device: Text | None = None, memory: SupportsIndex | str | None = None, threads: SupportsIndex | None = None,
          report: Text | None = None, config: Text | None = None, dry_run: bool | None = None, progress: Progress | None = None) -> Result:
    """Reconstruct with many settings and rank them.

    What ``sonde ptycho sweep`` does.

    A sweep file (TOML) names a run file and the settings that are varied: all combinations of a grid, or as many as wanted at
    random. Trials are ranked by R_free, the error of frames that took no part. With successive halving all trials get a few
    iterations and only the best continue. As many trials as there are threads (threads) and as the memory holds work side by
    side, from counts that are read once; how many does not change what they find.

    ::

        [sweep]
        run = "recon.toml"
        halving = true
        [[vary]]
        name = "range"
        setting = "probe.defocus_A"
        low = 100
        high = 200
        steps = 9
        [[vary]]
        name = "values"
        setting = "probe.modes"
        values = [1, 3]

    The folder gets the table (sweep.csv), a figure, the run file of the best trial (best.toml) and how everything is
    (state.json): the same command continues a sweep that was interrupted.

    Parameters
    ----------
    input : str, default ''
        sweep file (.toml)
    output : str (DIR), default ''
        the folder; in place of sweep.output
    set : list of str, default []
        one setting of the run file, for instance engine.0.iterations=50
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
    return _run("ptycho sweep", input, output=output, set=set, live=live, device=device, memory=memory, threads=threads,
                report=report, config=config, dry_run=dry_run, progress=progress)


@checked
def export(input: Text, *, to: Literal["cxi", "ptyr", "tiff", "png", "npy"] | None = None, output: Text | None = None,
           device: Text | None = None, memory: SupportsIndex | str | None = None, threads: SupportsIndex | None = None,
           report: Text | None = None, config: Text | None = None, dry_run: bool | None = None, progress: Progress | None = None) -> Result:
    """Write a reconstruction for other programs.

    What ``sonde ptycho export`` does.

    Parameters
    ----------
    input : str, default ''
        a result of `sonde ptycho run`
    to : {'cxi', 'ptyr', 'tiff', 'png', 'npy'}, default 'tiff'
        format: cxi and ptyr hold everything in one file, tiff and png phase and amplitude of the field of view (of several slices tiff also each as a page), npy the arrays
    output : str (FILE|PREFIX), default ''
        file of cxi and ptyr; what the names begin with otherwise; empty: the input's name
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
    return _run("ptycho export", input, to=to, output=output, device=device, memory=memory, threads=threads, report=report,
                config=config, dry_run=dry_run, progress=progress)


@checked
def compare(result: Text, other: Text | None = None, *, truth: Text | None = None, output: Text | None = None,
            picture: bool | None = None, start: Literal["blind", "near"] | None = None, device: Text | None = None,
            memory: SupportsIndex | str | None = None, threads: SupportsIndex | None = None, report: Text | None = None,
            config: Text | None = None, dry_run: bool | None = None, progress: Progress | None = None) -> Result:
    """Compare a reconstruction with the truth or with another one.

    What ``sonde ptycho compare`` does.

    What patterns cannot tell is taken out first: a factor, a phase ramp and a shift. Then the rms of what is left of the phase
    difference inside the area that both have scanned, and the Fourier ring correlation, whose crossing with the half-bit
    threshold (van Heel and Schatz 2005) is the resolution. Of two results of independent data that is the resolution of either;
    against a truth it is where the result stops to follow it.

    Of several slices each is compared with its own, when both have as many, beside the product of all.

    Parameters
    ----------
    result : str, default ''
        a result of `sonde ptycho run`
    other : str, default ''
        another result, or a scan with its truth; left out: the truth beside the measurement
    truth : str (FILE.h5), default unset
        the scan of `sonde ptycho simulate` that holds the truth
    output : str (FILE.png), default ''
        the picture; empty: the result's name and _compare.png
    picture : bool, default True
        draw both phases, their difference and the ring correlation
    start : {'blind', 'near'}, default 'blind'
        blind looks for shifts of pixels and ramps of turns, near takes small ones for granted: for crystals on which a shift by a unit cell looks as good
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
    return _run("ptycho compare", result, other=other, truth=truth, output=output, picture=picture, start=start, device=device,
                memory=memory, threads=threads, report=report, config=config, dry_run=dry_run, progress=progress)


@checked
def diagnose(result: Text, *, before: Text | None = None, semiangle_mrad: SupportsFloat | None = None, device: Text | None = None,
             memory: SupportsIndex | str | None = None, threads: SupportsIndex | None = None, report: Text | None = None,
             config: Text | None = None, dry_run: bool | None = None, progress: Progress | None = None) -> Result:
    """Look for the usual faults of a reconstruction, with causes and remedies.

    What ``sonde ptycho diagnose`` does.

    Each diagnosis has a value, a threshold beyond which it is suspect, what a suspect value usually comes from and what to try. A
    verdict is unknown when the result does not tell enough: blurring needs another result (before), whatever concerns the
    aperture a calibration and the semiangle.

    The exit status is 0 whatever the verdicts are; json has them for programs.

    Parameters
    ----------
    result : str, default ''
        a result of `sonde ptycho run`
    before : str (FILE.h5), default unset
        a result of the same scan to tell blurring by: without regularisation, or of fewer iterations
    semiangle_mrad : float in mrad, default unset
        convergence semiangle, in place of the one that the run knew (at least 0.001)
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
    return _run("ptycho diagnose", result, before=before, semiangle_mrad=semiangle_mrad, device=device, memory=memory,
                threads=threads, report=report, config=config, dry_run=dry_run, progress=progress)


@checked
def orient(input: Text, *, set: Text | None = None, scan: SupportsIndex | None = None, iterations: SupportsIndex | None = None,
           rotation_deg: Text | None = None, refine: bool | None = None, live: SupportsIndex | None = None,
           device: Text | None = None, memory: SupportsIndex | str | None = None, threads: SupportsIndex | None = None,
           report: Text | None = None, config: Text | None = None, dry_run: bool | None = None,
           data: Mapping[str, Any] | None = None, geometry: Mapping[str, Any] | None = None,
           probe: Mapping[str, Any] | None = None, object: Mapping[str, Any] | None = None,
           low_resolution: Mapping[str, Any] | None = None, direct: Mapping[str, Any] | None = None,
           engine: Sequence[Mapping[str, Any]] | None = None, positions: Mapping[str, Any] | None = None,
           opr: Mapping[str, Any] | None = None, constraint: Sequence[Mapping[str, Any]] | None = None,
           stop: Mapping[str, Any] | None = None, compute: Mapping[str, Any] | None = None,
           multi_start: Mapping[str, Any] | None = None, quality: Mapping[str, Any] | None = None,
           output: Mapping[str, Any] | None = None, copy: bool = False, progress: Progress | None = None) -> Result:
    """Find out how the detector is turned and mirrored against the scan.

    What ``sonde ptycho orient`` does.

    A wrong orientation lets every reconstruction fail. Mirrors and quarter turns of the detector are the same as an exchange of
    rows and columns of the scan and a rotation; those of the settings are ignored.

    A specimen deflects the beam by the gradient of its phase, and gradients have no curl: that gives the angle for either
    handedness, but for quarter turns. Eight short reconstructions of the middle of the scan decide, ranked by R_free (R_I of
    frames that were left out), and a few more find the angle to a degree or two. The lines to paste into the run file come last.

    Energy, angles, scan step and about the right probe must be known: run file, set, or the file itself.

    Parameters
    ----------
    input : str, default ''
        run file (.toml), or the patterns, with config RUN.toml when needed
    set : list of str, default []
        one setting of the run file, for instance geometry.scan_step_A=0.4
    scan : int, default 20
        frames from the middle of the scan, as many along each side (at least 4, at most 4096)
    iterations : int, default 20
        of every trial (at least 2, at most 1e+06)
    rotation_deg : list of str, default []
        an angle to try, with its quarter turns, in place of those at which deflections have the least curl; may be repeated
    refine : bool, default True
        look for a better angle beside the best one
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
    data, geometry, probe, object, low_resolution, direct, engine, positions, opr, constraint, stop, compute, multi_start, quality, output : dict, or list of dicts where a table comes several times
        tables of the run file, by themselves or over those of one
    copy : bool, default False
        make an array contiguous where it is not; otherwise that is an error
    """
    return _run("ptycho orient", input, set=set, scan=scan, iterations=iterations, rotation_deg=rotation_deg, refine=refine,
                live=live, device=device, memory=memory, threads=threads, report=report, config=config, dry_run=dry_run,
                data=data, geometry=geometry, probe=probe, object=object, low_resolution=low_resolution, direct=direct,
                engine=engine, positions=positions, opr=opr, constraint=constraint, stop=stop, compute=compute,
                multi_start=multi_start, quality=quality, output=output, copy=copy, progress=progress)


@checked
def simulate(settings: Text | None = None, *, output: Text | None = None, energy_keV: SupportsFloat | None = None,
             semiangle_mrad: SupportsFloat | None = None, defocus_A: SupportsFloat | None = None,
             C12_A: SupportsFloat | None = None, phi12_deg: SupportsFloat | None = None, C30_A: SupportsFloat | None = None,
             defocus_error: SupportsFloat | None = None, occupancies: Text | None = None,
             source_fwhm_A: SupportsFloat | None = None, detector_px: SupportsIndex | None = None,
             detector_mrad: SupportsFloat | None = None, dead_pixels: SupportsIndex | None = None,
             counts_per_frame: SupportsFloat | None = None, dtype: Literal["u16", "u32"] | None = None,
             scan_shape: Text | None = None, scan_step_A: SupportsFloat | None = None,
             scan_rotation_deg: SupportsFloat | None = None, transpose: bool | None = None, whole_pixels: bool | None = None,
             jitter_A: SupportsFloat | None = None, drift_A: Text | None = None, scan_scale: SupportsFloat | None = None,
             scan_shear: SupportsFloat | None = None, lattice: Literal["square", "hexagonal"] | None = None,
             spacing_A: SupportsFloat | None = None, lattice_turn_deg: SupportsFloat | None = None,
             atom_rms_A: SupportsFloat | None = None, peak_rad: SupportsFloat | None = None,
             second_peak_rad: SupportsFloat | None = None, displacement_A: SupportsFloat | None = None,
             vacancies: SupportsFloat | None = None, amorphous_rad: SupportsFloat | None = None,
             step_rad: SupportsFloat | None = None, layers: SupportsIndex | None = None, layer_distance_A: Text | None = None,
             tilt_row_mrad: SupportsFloat | None = None, tilt_col_mrad: SupportsFloat | None = None,
             seed: SupportsIndex | None = None, live: SupportsIndex | None = None, device: Text | None = None,
             memory: SupportsIndex | str | None = None, threads: SupportsIndex | None = None, report: Text | None = None,
             config: Text | None = None, dry_run: bool | None = None, progress: Progress | None = None) -> Result:
    """Write a ptychographic scan whose specimen and probe are known.

    What ``sonde ptycho simulate`` does.

    Atoms on a lattice, some displaced or missing, an amorphous patch and a step; a probe with aberrations and partial coherence;
    positions with jitter and drift; a detector that counts single electrons and has dead pixels. The file says of itself what a
    microscope would: energy, angles, nominal positions, and a probe whose defocus is a little wrong. `sonde ptycho run` needs
    nothing else.

    What is unknown in an experiment is under /truth: object, probe and positions as they were. `sonde ptycho compare` judges
    results by it.

    The same settings give the same counts.

    Parameters
    ----------
    settings : str (SIM.toml), default ''
        TOML file with settings, the same as config
    output : str (FILE.h5), default 'ptycho_scan.h5'
        HDF5 file to write
    energy_keV : float in keV, default 200.0
        energy of the electrons (at least 1, at most 3000)
    semiangle_mrad : float in mrad, default 20.0
        convergence semiangle (at least 0.01)
    defocus_A : float in A, default 150.0
        defocus of the probe, positive is underfocus
    C12_A : float in A, default 0.0
        twofold astigmatism
    phi12_deg : float in degrees, default 0.0
        its direction
    C30_A : float in A, default 0.0
        spherical aberration
    defocus_error : float, default 0.1
        share by which the defocus that the file states is too small (at least -10, at most 10)
    occupancies : str (P0,P1,...), default '1'
        shares of the power of incoherent modes, made of the probe times coordinates
    source_fwhm_A : float in A, default 0.0
        full width at half maximum of a Gaussian source, seen at the specimen (at least 0)
    detector_px : int, default 64
        pixels along each side (at least 4, at most 8192)
    detector_mrad : float in mrad, default 60.0
        angle from the centre to the side (at least 0.01, at most 1500)
    dead_pixels : int, default 0
        pixels that never count (at least 0)
    counts_per_frame : float in counts, default 1000000.0
        mean electrons per pattern (at least 0.001, at most 1e+12)
    dtype : {'u16', 'u32'}, default 'u16'
        element type of the frames
    scan_shape : str (ROWS,COLS), default '16,16'
        scan positions
    scan_step_A : float in A, default 0.9
        distance of scan positions (at least 0)
    scan_rotation_deg : float in degrees, default 0.0
        rotation of the scan, counter-clockwise with rows upwards
    transpose : bool, default False
        exchange rows and columns of the scan before it is turned
    whole_pixels : bool, default False
        round positions to whole object pixels
    jitter_A : float in A, default 0.0
        rms error of every position along each axis (at least 0)
    drift_A : str (ROW,COL) in A, default '0,0'
        drift over the whole scan
    scan_scale : float, default 1.0
        true size of the scan over its nominal size (at least 0.1, at most 10)
    scan_shear : float, default 0.0
        columns move by this times the row (at least -1, at most 1)
    lattice : {'square', 'hexagonal'}, default 'square'
        arrangement of the atoms
    spacing_A : float in A, default 4.0
        distance of neighbouring atoms (at least 0.5)
    lattice_turn_deg : float in degrees, default 5.7
        rotation of the lattice
    atom_rms_A : float in A, default 0.4
        rms width of an atom (at least 0.01)
    peak_rad : float in rad, default 0.75
        phase at the middle of an atom
    second_peak_rad : float in rad, default 0.45
        the same of every other atom
    displacement_A : float in A, default 0.1
        rms displacement of the atoms along each axis (at least 0)
    vacancies : float, default 0.02
        share of the sites that are empty (at least 0, at most 1)
    amorphous_rad : float in rad, default 0.05
        rms phase of an amorphous patch (at least 0)
    step_rad : float in rad, default 0.1
        phase step across a line
    layers : int, default 1
        layers that scatter one after the other (at least 1, at most 1000)
    layer_distance_A : str (D|D1,D2,...) in A, default '100'
        distance of the layers: one number for all, or one from each layer to the next
    tilt_row_mrad : float in mrad, default 0.0
        tilt of the specimen: a positive one moves the wave to larger rows on its way between layers
    tilt_col_mrad : float in mrad, default 0.0
        the same along columns
    seed : int, default 1
        start of the random numbers (at least 0)
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
    return _run("ptycho simulate", settings=settings, output=output, energy_keV=energy_keV, semiangle_mrad=semiangle_mrad,
                defocus_A=defocus_A, C12_A=C12_A, phi12_deg=phi12_deg, C30_A=C30_A, defocus_error=defocus_error,
                occupancies=occupancies, source_fwhm_A=source_fwhm_A, detector_px=detector_px, detector_mrad=detector_mrad,
                dead_pixels=dead_pixels, counts_per_frame=counts_per_frame, dtype=dtype, scan_shape=scan_shape,
                scan_step_A=scan_step_A, scan_rotation_deg=scan_rotation_deg, transpose=transpose, whole_pixels=whole_pixels,
                jitter_A=jitter_A, drift_A=drift_A, scan_scale=scan_scale, scan_shear=scan_shear, lattice=lattice,
                spacing_A=spacing_A, lattice_turn_deg=lattice_turn_deg, atom_rms_A=atom_rms_A, peak_rad=peak_rad,
                second_peak_rad=second_peak_rad, displacement_A=displacement_A, vacancies=vacancies, amorphous_rad=amorphous_rad,
                step_rad=step_rad, layers=layers, layer_distance_A=layer_distance_A, tilt_row_mrad=tilt_row_mrad,
                tilt_col_mrad=tilt_col_mrad, seed=seed, live=live, device=device, memory=memory, threads=threads, report=report,
                config=config, dry_run=dry_run, progress=progress)
