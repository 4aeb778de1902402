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
def run(input: Text | None = None, *, set: Text | None = None, output: Text | Mapping[str, Any] | None = None,
        runs: SupportsIndex | None = None, order: Literal["2", "4", "6", "8", 2, 4, 6, 8] | None = None,
        dtype: Literal["f32", "f64"] | None = None, pml_preset: Literal["gprmax", "tide", "default"] | None = None,
        force: bool | None = None, accuracy: Text | None = None, decompose: Text | None = None, plot: Text | None = None,
        geometry_only: bool | None = None, snapshots: Text | None = None, snapshot_every: SupportsIndex | None = None,
        snapshot_step: Text | None = None, live: SupportsIndex | None = None, device: Text | None = None,
        memory: SupportsIndex | str | None = None, threads: SupportsIndex | None = None, report: Text | None = None,
        config: Text | None = None, dry_run: bool | None = None, model: Mapping[str, Any] | None = None,
        survey: Mapping[str, Any] | None = None, source: Mapping[str, Any] | None = None, time: Mapping[str, Any] | None = None,
        grid: Mapping[str, Any] | None = None, data: Mapping[str, Any] | None = None, storage: Mapping[str, Any] | None = None,
        inversion: Mapping[str, Any] | None = None, progress: Progress | None = None) -> Result:
    """Simulate the radar traces of a model.

    What ``sonde maxwell run`` does.

    Reads a model of gprMax (.in) and records what its receivers see. Times, positions and units are those of gprMax 3.1: sample n
    is E at n dt and H half a step before. Every command that is not supported is named with its line before anything runs.

    A native model (.h5) or a run file (.toml, `sonde maxwell init` writes one) has shots: all are run, and the records of one
    file are what gradients and inversions compare with. Sample n of them is E at (n + 1) dt and H at (n + 1/2) dt.

    With stencils of order 4, 6 or 8 waves keep their velocity on coarser cells; the traces have the file's time step. Several
    processes (`mpirun -n 4 sonde maxwell run ...`) share the shots, and the runs of a model of gprMax, and write what one process
    writes. plot draws an A-scan of one run and a B-scan of several.

    accuracy="1%" chooses order, cells and time step: the least work whose phase velocity is within 1 % of the true one, in every
    direction and at every frequency of the source up to where its spectrum has fallen by 40 dB. The alternatives are listed. A
    model of gprMax is run as if its #dx_dy_dz, #pml_cells and #time_step_stability_factor said so: objects and positions keep
    their metres, the window its seconds, dipoles their moment, layers at least their thickness and number of cells. Larger cells
    are taken only where they change no object and no position, and models with plates, edges, voltage sources or
    #geometry_objects_read keep their cells. The elements of other models become means, and where nothing says time.dt it is
    chosen too.

    snapshots writes the fields themselves as frames, for `sonde maxwell plot` and `sonde view`. #snapshot commands of a model
    write one file each into the folder MODEL_snaps: HDF5, or VTK ImageData where the name ends in .vti. #geometry_view commands
    write VTK ImageData and a picture beside the traces.

    Parameters
    ----------
    input : str (MODEL), default ''
        model of gprMax (.in), native model (.h5) or run file (.toml)
    set : list of str, default []
        one setting of the run file, for instance grid.pml=20
    output : str (FILE.out|.h5|.nc|.npz), default ''
        the traces; of a model of gprMax also .out as gprMax writes them (of several runs: one file each, and one of all); unset: MODEL.out or MODEL_records.h5 beside the model
    runs : int, default 1
        runs of a model of gprMax, moving sources and receivers by #src_steps and #rx_steps (at least 1, at most 1e+06)
    order : {'2', '4', '6', '8'}, default '2'
        order of the spatial stencils; above 2 each step of a model of gprMax becomes several; of other models grid.order counts where this is not given
    dtype : {'f32', 'f64'}, default 'f32'
        precision of the fields; also grid.dtype
    pml_preset : {'gprmax', 'tide', 'default'}, default 'gprmax'
        profile of the absorbing layers: that of the file; tide, which also absorbs waves that run along a layer; default, with kappa up to 1.5; also grid.pml_preset
    force : bool, default False
        run a model whose cells are too large for its highest frequency
    accuracy : str (1%), default ''
        choose order, cells and time step of least work whose phase velocity is wrong by no more than this at any frequency of the source; the model is put on the chosen cells. Unset: order, cells and steps as they are
    decompose : str (PXxPYxPZ), default ''
        parts of the grid along x, y and z for processes that `mpirun` starts, one each: for models that one machine cannot hold. Unset: processes share shots, or the runs of a model of gprMax
    plot : str (FILE.png|.pdf|.svg), default ''
        draw the traces: an A-scan of one, a B-scan of several runs or of the receivers of the first shot
    geometry_only : bool, default False
        write what #geometry_view of a model of gprMax asks for, and run nothing
    snapshots : str (FILE.h5), default ''
        the fields between steps as frames, with the energy in the model: of the first run or shot
    snapshot_every : int, default unset
        steps of the traces from frame to frame; unset: about 100 frames (at least 1)
    snapshot_step : str (N|Z,X|Z,Y,X), default '1'
        every so many nodes of a frame: one number, or one for each axis, the slowest first
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
    model, survey, source, time, grid, data, storage, inversion, output : dict, or list of dicts where a table comes several times
        tables of the run file, by themselves or over those of one
    """
    return _run("maxwell run", input=input, set=set, output=output, runs=runs, order=order, dtype=dtype, pml_preset=pml_preset,
                force=force, accuracy=accuracy, decompose=decompose, plot=plot, geometry_only=geometry_only, snapshots=snapshots,
                snapshot_every=snapshot_every, snapshot_step=snapshot_step, live=live, device=device, memory=memory,
                threads=threads, report=report, config=config, dry_run=dry_run, model=model, survey=survey, source=source,
                time=time, grid=grid, data=data, storage=storage, inversion=inversion, progress=progress)


@checked
def gradient(input: Text | None = None, *, set: Text | None = None, observed: Text | None = None,
             output: Text | Mapping[str, Any] | None = None, wrt: Text | None = None,
             padding: Literal["exact", "frozen"] | None = None,
             storage_mode: Literal["auto", "device", "host", "cpu", "disk", "recompute", "reconstruct", "none"] | None = None,
             storage_compression: Literal["none", "bf16", "auto"] | None = None, sampling_interval: Text | None = None,
             bytes_limit_device: SupportsIndex | str | None = None, bytes_limit_host: SupportsIndex | str | None = None,
             storage_path: Text | None = None, order: Literal["2", "4", "6", "8", 2, 4, 6, 8] | None = None,
             dtype: Literal["f32", "f64"] | None = None, pml_preset: Literal["gprmax", "tide", "default"] | None = None,
             force: bool | None = None, decompose: Text | None = None, plot: Text | None = None,
             live: SupportsIndex | None = None, device: Text | None = None, memory: SupportsIndex | str | None = None,
             threads: SupportsIndex | None = None, report: Text | None = None, config: Text | None = None,
             dry_run: bool | None = None, model: Mapping[str, Any] | None = None, survey: Mapping[str, Any] | None = None,
             source: Mapping[str, Any] | None = None, time: Mapping[str, Any] | None = None,
             grid: Mapping[str, Any] | None = None, data: Mapping[str, Any] | None = None,
             storage: Mapping[str, Any] | None = None, inversion: Mapping[str, Any] | None = None,
             progress: Progress | None = None) -> Result:
    """The derivative of a misfit by the medium and the sources.

    What ``sonde maxwell gradient`` does.

    Runs the shots of a model, compares their records with observed ones, 1/2 sum (record - observed)^2, and takes the runs back:
    the result is the exact derivative of the discrete run by every element of the model, whatever its medium, layers, order and
    time step.

    The sweep backwards needs the fields of the run. storage_mode says where they are kept; auto takes memory, then the disk, then
    computes them again, and the report says which and why. Precision and sampling are lowered only where storage_compression and
    sampling_interval say so.

    Parameters
    ----------
    input : str (MODEL), default ''
        model of gprMax (.in), native model (.h5) or run file (.toml)
    set : list of str, default []
        one setting of the run file, for instance grid.pml=20
    observed : str (FILE.h5), default ''
        records to compare with, as `sonde maxwell run` writes them
    output : str (FILE.h5|.nc|.npz), default ''
        the gradient and the misfit; unset: MODEL_gradient.h5 beside the model
    wrt : list of str, default ['eps_r', 'sigma']
        what is differentiated by: eps_r, sigma, mu_r, debye (deps and tau), source; several with commas
    padding : {'exact', 'frozen'}, default 'exact'
        whether elements at the edge get what their copies in the layers get, or the layers are a constant; of a model of gprMax the layers are part of it, and their share is given or not
    storage_mode : {'auto', 'device', 'host', 'cpu', 'disk', 'recompute', 'reconstruct', 'none'}, default 'auto'
        where a gradient keeps the fields of its forward run, or how it makes them again; none: forward runs only
    storage_compression : {'none', 'bf16', 'auto'}, default 'none'
        of stored fields: bf16 halves them, with an error of the gradient near 1e-3
    sampling_interval : str (K|auto), default '1'
        steps between stored fields; auto: as many as are safe for the highest frequency
    bytes_limit_device : int or str, default unset
        stored fields in memory of the device, which is the host for work on the CPU; unset: 60 % of what is free
    bytes_limit_host : int or str, default unset
        stored fields in memory of the host; unset: 60 % of what is free
    storage_path : str (FOLDER), default ''
        folder of stored fields on disk; empty: $TMPDIR, else /var/tmp
    order : {'2', '4', '6', '8'}, default '2'
        order of the spatial stencils; above 2 each step of a model of gprMax becomes several; of other models grid.order counts where this is not given
    dtype : {'f32', 'f64'}, default 'f32'
        precision of the fields; also grid.dtype
    pml_preset : {'gprmax', 'tide', 'default'}, default 'gprmax'
        profile of the absorbing layers: that of the file; tide, which also absorbs waves that run along a layer; default, with kappa up to 1.5; also grid.pml_preset
    force : bool, default False
        run a model whose cells are too large for its highest frequency
    decompose : str (PXxPYxPZ), default ''
        parts of the grid along x, y and z for processes that `mpirun` starts, one each: for models that one machine cannot hold. Unset: processes share shots, or the runs of a model of gprMax
    plot : str (FILE.png|.pdf|.svg), default ''
        draw the gradient as maps
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
    model, survey, source, time, grid, data, storage, inversion, output : dict, or list of dicts where a table comes several times
        tables of the run file, by themselves or over those of one
    """
    return _run("maxwell gradient", input=input, set=set, observed=observed, output=output, wrt=wrt, padding=padding,
                storage_mode=storage_mode, storage_compression=storage_compression, sampling_interval=sampling_interval,
                bytes_limit_device=bytes_limit_device, bytes_limit_host=bytes_limit_host, storage_path=storage_path, order=order,
                dtype=dtype, pml_preset=pml_preset, force=force, decompose=decompose, plot=plot, live=live, device=device,
                memory=memory, threads=threads, report=report, config=config, dry_run=dry_run, model=model, survey=survey,
                source=source, time=time, grid=grid, data=data, storage=storage, inversion=inversion, progress=progress)


@checked
def born(input: Text | None = None, *, set: Text | None = None, direction: Text | None = None,
         output: Text | Mapping[str, Any] | None = None, padding: Literal["exact", "frozen"] | None = None,
         order: Literal["2", "4", "6", "8", 2, 4, 6, 8] | None = None, dtype: Literal["f32", "f64"] | None = None,
         pml_preset: Literal["gprmax", "tide", "default"] | None = None, force: bool | None = None, plot: Text | None = None,
         live: SupportsIndex | None = None, device: Text | None = None, memory: SupportsIndex | str | None = None,
         threads: SupportsIndex | None = None, report: Text | None = None, config: Text | None = None,
         dry_run: bool | None = None, model: Mapping[str, Any] | None = None, survey: Mapping[str, Any] | None = None,
         source: Mapping[str, Any] | None = None, time: Mapping[str, Any] | None = None, grid: Mapping[str, Any] | None = None,
         data: Mapping[str, Any] | None = None, storage: Mapping[str, Any] | None = None,
         inversion: Mapping[str, Any] | None = None, progress: Progress | None = None) -> Result:
    """The change of the records of a model along a change of it, to first order.

    What ``sonde maxwell born`` does.

    Runs the shots of a native model or run file together with their derivative (Born's approximation, linearised modelling): the
    records are what the given changes of eps_r, sigma, mu_r and source add to those of `sonde maxwell run` to first order. It is
    the exact derivative of the discrete run, of which `sonde maxwell gradient` is the transpose.

    Parameters
    ----------
    input : str (MODEL), default ''
        model of gprMax (.in), native model (.h5) or run file (.toml)
    set : list of str, default []
        one setting of the run file, for instance grid.pml=20
    direction : str (FILE.h5), default ''
        changes of eps_r, sigma, mu_r, debye/deps, debye/tau and source, HDF5: in the group direction, or gradient as maxwell gradient writes it
    output : str (FILE.h5|.nc|.npz), default ''
        the change of the records; unset: MODEL_born.h5 beside the model
    padding : {'exact', 'frozen'}, default 'exact'
        whether the layers change with the elements at the edge, or stay
    order : {'2', '4', '6', '8'}, default '2'
        order of the spatial stencils; above 2 each step of a model of gprMax becomes several; of other models grid.order counts where this is not given
    dtype : {'f32', 'f64'}, default 'f32'
        precision of the fields; also grid.dtype
    pml_preset : {'gprmax', 'tide', 'default'}, default 'gprmax'
        profile of the absorbing layers: that of the file; tide, which also absorbs waves that run along a layer; default, with kappa up to 1.5; also grid.pml_preset
    force : bool, default False
        run a model whose cells are too large for its highest frequency
    plot : str (FILE.png|.pdf|.svg), default ''
        draw the change of the records of the first shot
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
    model, survey, source, time, grid, data, storage, inversion, output : dict, or list of dicts where a table comes several times
        tables of the run file, by themselves or over those of one
    """
    return _run("maxwell born", input=input, set=set, direction=direction, output=output, padding=padding, order=order,
                dtype=dtype, pml_preset=pml_preset, force=force, plot=plot, live=live, device=device, memory=memory,
                threads=threads, report=report, config=config, dry_run=dry_run, model=model, survey=survey, source=source,
                time=time, grid=grid, data=data, storage=storage, inversion=inversion, progress=progress)


@checked
def fwi(input: Text | None = None, *, output: Text | Mapping[str, Any] | None = None, set: Text | None = None,
        resume: bool | None = None, force: bool | None = None, live: SupportsIndex | None = None, device: Text | None = None,
        memory: SupportsIndex | str | None = None, threads: SupportsIndex | None = None, report: Text | None = None,
        config: Text | None = None, dry_run: bool | None = None, model: Mapping[str, Any] | None = None,
        survey: Mapping[str, Any] | None = None, source: Mapping[str, Any] | None = None, time: Mapping[str, Any] | None = None,
        grid: Mapping[str, Any] | None = None, data: Mapping[str, Any] | None = None, storage: Mapping[str, Any] | None = None,
        inversion: Mapping[str, Any] | None = None, progress: Progress | None = None) -> Result:
    """Invert radar records for permittivity and conductivity.

    What ``sonde maxwell fwi`` does.

    Full-waveform inversion from one run file: [model] is the start, [data] names the records, and each [[inversion.stage]] adds
    frequencies. `sonde maxwell init` writes a run file with every key explained.

    The folder of the result has report.html (model, records, spectra and misfit on one page), their pictures, result.h5 (models
    of all stages, gradient, history, sources, records measured and computed), history.csv and a checkpoint. A limit that ends an
    inversion is a success and is reported; an inversion whose first step finds no descent ends with status 7.

    After an interruption the same command with resume continues from the checkpoint, with the bits of an inversion that was not
    stopped. Several processes, `mpirun -n 4 sonde maxwell fwi RUN.toml`, share the shots and give the bits of one; one of them
    writes, and another number of them may resume.

    Parameters
    ----------
    input : str (RUN.toml), default ''
        run file (.toml)
    output : str (DIR), default ''
        folder of what is made; in place of output.folder; unset: RUN_fwi beside the run file
    set : list of str, default []
        one setting of the run file, for instance inversion.stage.0.iterations=5
    resume : bool, default False
        continue from the checkpoint in the folder
    force : bool, default False
        invert on cells that are too large for the highest frequency
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
    model, survey, source, time, grid, data, storage, inversion, output : dict, or list of dicts where a table comes several times
        tables of the run file, by themselves or over those of one
    """
    return _run("maxwell fwi", input=input, output=output, set=set, resume=resume, force=force, live=live, device=device,
                memory=memory, threads=threads, report=report, config=config, dry_run=dry_run, model=model, survey=survey,
                source=source, time=time, grid=grid, data=data, storage=storage, inversion=inversion, progress=progress)


@checked
def init(input: Text | None = None, *, output: Text | None = None, example: Text | None = None, set: Text | None = None,
         accuracy: Text | None = None, device: Text | None = None, memory: SupportsIndex | str | None = None,
         threads: SupportsIndex | None = None, report: Text | None = None, config: Text | None = None,
         dry_run: bool | None = None, progress: Progress | None = None) -> Result:
    """Write a run file for a radar model, with every key explained.

    What ``sonde maxwell init`` does.

    Every key of the run file is there with its meaning. With a native model (HDF5) the file names it, and its tables replace what
    the model says. What a run needs and is unknown is marked FILL IN. accuracy="1%" writes the grid and the times of least work
    for that accuracy, as `sonde maxwell run` chooses them.

    Parameters
    ----------
    input : str (MODEL.h5), default ''
        native model to begin with
    output : str (FILE.toml), default ''
        the run file; empty prints it
    example : str (NAME), default ''
        crosshole: the run file of an inversion, with the records that it needs beside it
    set : list of str, default []
        a setting to begin with, for instance model.eps_r=eps.npy
    accuracy : str (1%), default ''
        choose order, cells and time step of least work whose phase velocity is wrong by no more than this at any frequency of the source; the model is put on the chosen cells. Unset: order, cells and steps as they are
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
    return _run("maxwell init", input=input, output=output, example=example, set=set, accuracy=accuracy, device=device,
                memory=memory, threads=threads, report=report, config=config, dry_run=dry_run, progress=progress)


@checked
def plot(input: Text, *, output: Text | None = None, component: Text | None = None, receiver: SupportsIndex | None = None,
         shot: SupportsIndex | None = None, channel: SupportsIndex | None = None, allow_truncated: bool | None = None,
         frame: SupportsIndex | None = None, device: Text | None = None, memory: SupportsIndex | str | None = None,
         threads: SupportsIndex | None = None, report: Text | None = None, config: Text | None = None,
         dry_run: bool | None = None, progress: Progress | None = None) -> Result:
    """Draw traces, simulated or measured, snapshots of the fields, or a model.

    What ``sonde maxwell plot`` does.

    Reads what `sonde maxwell run`, `sonde maxwell convert` or gprMax wrote, and field files of GSSI (DZT), Sensors & Software
    (DT1), MALA (RD3, RD7) and SEG-Y: an A-scan, a B-scan, or the gather of a shot.

    Snapshots have one scale for all frames, which ends where 99.5 % of the samples are below it; in three dimensions they are cut
    in the middle of the axis with the fewest samples. A model is drawn by the numbers of its materials, in three dimensions in
    the planes through its first source.

    Parameters
    ----------
    input : str (FILE.out|.h5|.dzt|.dt1|.rd3|.rd7|.sgy|.in), default ''
        traces of gprMax (one run or merged), of sonde, or of a field format; snapshots of `sonde maxwell run`; or a model of gprMax itself (.in)
    output : str (FILE.png|.pdf|.svg), default ''
        the picture; unset: FILE.png and FILE.pdf beside the input
    component : str, default ''
        field component, Ex to Hz, of a simulated file; unset: all of an A-scan, the strongest E of a B-scan, of records that of the first receiver
    receiver : int, default unset
        which receiver of a simulated file, from 1; unset: the first one of gprMax, of records all of a shot (at least 1)
    shot : int, default unset
        which shot of records, from 1; unset: the first (at least 1)
    channel : int, default 1
        which channel of a measured file, from 1 (at least 1)
    allow_truncated : bool, default False
        read the whole traces of a measured file that is cut off
    frame : int, default unset
        which frame of snapshots, from 0; unset: up to six, evenly over the run (at least 0)
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
    return _run("maxwell plot", input, output=output, component=component, receiver=receiver, shot=shot, channel=channel,
                allow_truncated=allow_truncated, frame=frame, device=device, memory=memory, threads=threads, report=report,
                config=config, dry_run=dry_run, progress=progress)


@checked
def convert(input: Text, output: Text | None = None, *, component: Text | None = None, receiver: SupportsIndex | None = None,
            shot: SupportsIndex | None = None, channel: SupportsIndex | None = None, allow_truncated: bool | None = None,
            subtract: Text | None = None, time_zero: Text | None = None, dewow: SupportsFloat | None = None,
            background: SupportsIndex | None = None, resample: SupportsFloat | None = None, to_2d: SupportsFloat | None = None,
            gain: SupportsFloat | None = None, gain_limit: SupportsFloat | None = None, layers: bool | None = None,
            device: Text | None = None, memory: SupportsIndex | str | None = None, threads: SupportsIndex | None = None,
            report: Text | None = None, config: Text | None = None, dry_run: bool | None = None, progress: Progress | None = None) -> Result:
    """Convert and process radar traces, simulated or measured.

    What ``sonde maxwell convert`` does.

    Reads files of gprMax and of `sonde maxwell run`, GSSI (DZT), Sensors & Software (DT1 with HD), MALA (RD3 or RD7 with RAD) and
    SEG-Y, and writes all but DZT. Of a simulated file all receivers are converted between .out and .h5; a field format,
    processing, component or receiver take one receiver, whose runs are the traces. What was done is kept in the written file and
    added to when it is processed again.

    DT1, RD3 and RD7 hold whole numbers: other samples are scaled to their range, and the header holds the scale. Times in SEG-Y
    are read and written in ps (sample interval) and ns (delay), as radar programs do. A file that contradicts itself is converted
    with a warning where its traces are certain, else refused.

    Parameters
    ----------
    input : str (IN.out|.h5|.dzt|.dt1|.rd3|.rd7|.sgy), default ''
        traces: of gprMax (one run or merged), of sonde, or of a field format
    output : str (OUT.dt1|.rd3|.rd7|.sgy|.h5|.nc|.npz|.out), default ''
        the same traces in the format of its ending
    component : str, default ''
        field component, Ex to Hz, of a simulated file; unset: all of an A-scan, the strongest E of a B-scan, of records that of the first receiver
    receiver : int, default unset
        which receiver of a simulated file, from 1; unset: the first one of gprMax, of records all of a shot (at least 1)
    shot : int, default unset
        which shot of records, from 1; unset: the first (at least 1)
    channel : int, default 1
        which channel of a measured file, from 1 (at least 1)
    allow_truncated : bool, default False
        read the whole traces of a measured file that is cut off
    subtract : str (FILE), default ''
        a line to subtract, for instance of the antennas in free space: trace by trace, or its mean where the numbers differ
    time_zero : str (header|first-break|NS), default ''
        cut off what is before time zero: that of the file, that of the first break (a tenth of the largest mean magnitude), or ns after the first sample
    dewow : float in ns, default unset
        subtract the running mean of this window; 0: of one period of the nominal frequency (at least 0)
    background : int in traces, default unset
        subtract the mean of so many traces about each; 0: of all (at least 0)
    resample : float in ns, default unset
        sample interval, band-limited (at least 1e-06)
    to_2d : float, default unset
        from three dimensions to two, with this mean relative permittivity of the ground (at least 1)
    gain : float in dB/ns, default unset
        spreading and exponential compensation: proportional to time, and exponential at this rate (at least 0)
    gain_limit : float in dB, default 60.0
        largest gain (at least 1, at most 300)
    layers : bool, default False
        report the layers below a gather of one source (WARR, CMP), whose positions are distances from it: by semblance of reflections, before any processing
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
    return _run("maxwell convert", input, output=output, component=component, receiver=receiver, shot=shot, channel=channel,
                allow_truncated=allow_truncated, subtract=subtract, time_zero=time_zero, dewow=dewow, background=background,
                resample=resample, to_2d=to_2d, gain=gain, gain_limit=gain_limit, layers=layers, device=device, memory=memory,
                threads=threads, report=report, config=config, dry_run=dry_run, progress=progress)


@checked
def verify(*, full: bool | None = None, only: Text | None = None, live: SupportsIndex | None = None, device: Text | None = None,
           memory: SupportsIndex | str | None = None, threads: SupportsIndex | None = None, report: Text | None = None,
           config: Text | None = None, dry_run: bool | None = None, progress: Progress | None = None) -> Result:
    """Compare waves and their derivatives with closed forms on this machine.

    What ``sonde maxwell verify`` does.

    Line sources and dipoles against Hankel functions and closed forms, layered media against Fresnel's coefficients, water
    against its permittivity, what absorbing layers reflect, conserved energy and reciprocity. Derivatives against their
    transpose, central differences and Taylor series; gradients from compressed fields; equal bits from memory, disk and
    recomputed fields, and with several threads; grids that are chosen for an accuracy against the velocity of waves on them.
    Started by `mpirun`, its processes make the check ranks: shots and grids that they share, against one process. A row outside
    of its limit ends with status 7.

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
