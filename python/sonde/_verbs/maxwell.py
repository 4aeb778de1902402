# SPDX-License-Identifier: Apache-2.0
"""The verbs of `sonde maxwell` as functions. Written by `python -m sonde._verb_functions`; do not edit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, SupportsFloat, SupportsIndex

from .._calls import checked
from .._keywords import Text
from .._run import Result, run as _run
from .._types import Progress


@checked
def run(input: Text, *, output: Text | None = None, runs: SupportsIndex | None = None,
        order: Literal["2", "4", "6", "8"] | None = None, dtype: Literal["f32", "f64"] | None = None,
        pml_preset: Literal["gprmax", "tide", "default"] | None = None, force: bool | None = None, plot: Text | None = None,
        live: SupportsIndex | None = None, device: Text | None = None, memory: SupportsIndex | str | None = None,
        threads: SupportsIndex | None = None, report: Text | None = None, config: Text | None = None, dry_run: bool | None = None,
        progress: Progress | None = None) -> Result:
    """Simulate the radar traces of a gprMax model.

    What ``sonde maxwell run`` does.

    Reads a model of gprMax (.in) and records what its receivers see. Times, positions and units are those of gprMax 3.1: sample n
    is E at n dt and H half a step before. Every command that is not supported is named with its line before anything runs.

    With stencils of order 4, 6 or 8 waves keep their velocity on coarser cells; the traces have the file's time step. plot draws
    an A-scan of one run and a B-scan of several.

    Parameters
    ----------
    input : str (MODEL.in), default ''
        model of gprMax
    output : str (FILE.out|.h5|.nc|.npz), default ''
        the traces; .out as gprMax writes them (of several runs: one file each, and one of all); unset: MODEL.out beside the model
    runs : int, default 1
        runs of the model, moving sources and receivers by #src_steps and #rx_steps (at least 1)
    order : {'2', '4', '6', '8'}, default '2'
        order of the spatial stencils; above 2 each step of the file becomes several
    dtype : {'f32', 'f64'}, default 'f32'
        precision of the fields
    pml_preset : {'gprmax', 'tide', 'default'}, default 'gprmax'
        profile of the absorbing layers: that of the file; tide, which also absorbs waves that run along a layer; default, with kappa up to 1.5
    force : bool, default False
        run a model whose cells are too large for its highest frequency
    plot : str (FILE.png|.pdf|.svg), default ''
        draw the traces: an A-scan, or of several runs a B-scan
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
    return _run("maxwell run", input, output=output, runs=runs, order=order, dtype=dtype, pml_preset=pml_preset, force=force,
                plot=plot, live=live, device=device, memory=memory, threads=threads, report=report, config=config,
                dry_run=dry_run, progress=progress)


@checked
def plot(input: Text, *, output: Text | None = None, component: Text | None = None, receiver: SupportsIndex | None = None,
         device: Text | None = None, memory: SupportsIndex | str | None = None, threads: SupportsIndex | None = None,
         report: Text | None = None, config: Text | None = None, dry_run: bool | None = None, progress: Progress | None = None) -> Result:
    """Draw the traces of a gprMax result: an A-scan, or a B-scan of a merged file.

    What ``sonde maxwell plot`` does.

    Reads what `sonde maxwell run` or gprMax wrote.

    Parameters
    ----------
    input : str (FILE.out), default ''
        traces of gprMax, of one run or merged
    output : str (FILE.png|.pdf|.svg), default ''
        the picture
    component : str, default ''
        field component, Ex to Hz; unset: all of an A-scan, the strongest E of a B-scan
    receiver : int, default 1
        which receiver, from 1 (at least 1)
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
    return _run("maxwell plot", input, output=output, component=component, receiver=receiver, device=device, memory=memory,
                threads=threads, report=report, config=config, dry_run=dry_run, progress=progress)


@checked
def verify(*, full: bool | None = None, only: Text | None = None, live: SupportsIndex | None = None, device: Text | None = None,
           memory: SupportsIndex | str | None = None, threads: SupportsIndex | None = None, report: Text | None = None,
           config: Text | None = None, dry_run: bool | None = None, progress: Progress | None = None) -> Result:
    """Compare the propagator with closed forms on this machine.

    What ``sonde maxwell verify`` does.

    Line sources and dipoles against Hankel functions and closed forms, layered media against Fresnel's coefficients, water
    against its permittivity, what absorbing layers reflect, conserved energy and reciprocity. A row outside of its limit ends
    with status 7.

    Parameters
    ----------
    full : bool, default False
        every case at the sizes that the limits were derived for: minutes, and 1 GB; otherwise seconds
    only : list of str, default []
        a check by its name, several times for several
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
    return _run("maxwell verify", full=full, only=only, live=live, device=device, memory=memory, threads=threads, report=report,
                config=config, dry_run=dry_run, progress=progress)
