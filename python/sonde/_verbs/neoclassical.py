# SPDX-License-Identifier: Apache-2.0
"""The verbs of `sonde neoclassical` as functions. Written by `python -m sonde._verb_functions`; do not edit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, SupportsFloat, SupportsIndex

from .._calls import checked
from .._keywords import Text
from .._run import Result, run as _run
from .._types import Progress


@checked
def run(input: Text, *, s: SupportsFloat | None = None, snap: bool | None = None, wout: Text | None = None,
        psi_a: SupportsFloat | None = None, n_theta: SupportsIndex | None = None, n_zeta: SupportsIndex | None = None,
        n_xi: SupportsIndex | None = None, precision: Literal["auto", "f64", "f32-refine"] | None = None,
        output: Text | Mapping[str, Any] | None = None, nu_hat: SupportsFloat | None = None,
        epsi_hat: SupportsFloat | None = None, er_hat: SupportsFloat | None = None, er_tilde: SupportsFloat | None = None,
        adapt_n_xi: SupportsFloat | None = None, include_modes: bool | None = None, plot: bool | None = None,
        set: Text | None = None, live: SupportsIndex | None = None, device: Text | None = None,
        memory: SupportsIndex | str | None = None, threads: SupportsIndex | None = None, report: Text | None = None,
        config: Text | None = None, dry_run: bool | None = None, surface: Mapping[str, Any] | None = None,
        grid: Mapping[str, Any] | None = None, case: Mapping[str, Any] | None = None, scan: Mapping[str, Any] | None = None,
        solver: Mapping[str, Any] | None = None, logging: Mapping[str, Any] | None = None, progress: Progress | None = None) -> Result:
    """Solve one surface at one collisionality and electric field.

    What ``sonde neoclassical run`` does.

    Monoenergetic transport coefficients D11, D31, D13 and D33 of a flux surface: VMEC equilibria (wout), Boozer files (boozmn,
    .bc), DKES input, tables of harmonics, or harmonics in the run file. Onsager symmetry holds on every grid (discretisation =
    "skew"); collocation repeats MONKES and NTX point by point. An answer whose residual is above solver.tol is an error, not a
    number.

    Parameters
    ----------
    input : str (INPUT), default ''
        run file (.toml), the file of a surface, or analytic-demo
    s : float, default unset
        toroidal flux normalised by that of the edge (at least 0, at most 1)
    snap : bool, default False
        take the nearest surface of the file
    wout : str (FILE), default unset
        VMEC equilibrium that gives psi_a and signgs to a boozmn file
    psi_a : float in T m^2, default unset
        toroidal flux of the edge / 2 pi with its sign, for files that lack it
    n_theta : int, default 25
        poloidal angles, odd (at least 1, at most 10000)
    n_zeta : int, default 25
        toroidal angles of one field period, odd (at least 1, at most 10000)
    n_xi : int, default 60
        largest Legendre index of the pitch (at least 2, at most 10000)
    precision : {'auto', 'f64', 'f32-refine'}, default 'f64'
        f32-refine: eliminate in single precision and refine in double, faster for nu_hat above some 1e-4; points that it does not suffice for are solved in double; auto: what took less time when `sonde bench neoclassical-crossover` measured this machine
    output : str (FILE.nc|.h5|.npz), default ''
        result file
    nu_hat : float in 1/m, default unset
        collisionality nu/v
    epsi_hat : float, default unset
        electric field E_psi/v in the label of the surface
    er_hat : float in T, default unset
        electric field E_r/v instead
    er_tilde : float, default unset
        electric field as databases have it, instead
    adapt_n_xi : float, default unset
        find the Legendre modes of each point: relative change that is small enough (at least 0)
    include_modes : bool, default False
        store the Legendre coefficients 0 to 2 of both solutions
    plot : bool, default False
        draw the result beside the file
    set : list of str, default []
        one setting of the run file, for instance grid.round_odd=true
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
    surface, grid, case, scan, solver, output, logging : dict, or list of dicts where a table comes several times
        tables of the run file, by themselves or over those of one
    """
    return _run("neoclassical run", input, s=s, snap=snap, wout=wout, psi_a=psi_a, n_theta=n_theta, n_zeta=n_zeta, n_xi=n_xi,
                precision=precision, output=output, nu_hat=nu_hat, epsi_hat=epsi_hat, er_hat=er_hat, er_tilde=er_tilde,
                adapt_n_xi=adapt_n_xi, include_modes=include_modes, plot=plot, set=set, live=live, device=device, memory=memory,
                threads=threads, report=report, config=config, dry_run=dry_run, surface=surface, grid=grid, case=case, scan=scan,
                solver=solver, logging=logging, progress=progress)


@checked
def scan(input: Text, *, s: SupportsFloat | None = None, snap: bool | None = None, wout: Text | None = None,
         psi_a: SupportsFloat | None = None, n_theta: SupportsIndex | None = None, n_zeta: SupportsIndex | None = None,
         n_xi: SupportsIndex | None = None, precision: Literal["auto", "f64", "f32-refine"] | None = None,
         output: Text | Mapping[str, Any] | None = None, rho: Text | None = None, nu_v: Text | None = None,
         epsi_hat: Text | None = None, er_hat: Text | None = None, er_tilde: Text | None = None,
         adapt_n_xi: SupportsFloat | None = None, scan_batch_size: SupportsIndex | None = None, plot: bool | None = None,
         set: Text | None = None, live: SupportsIndex | None = None, device: Text | None = None,
         memory: SupportsIndex | str | None = None, threads: SupportsIndex | None = None, report: Text | None = None,
         config: Text | None = None, dry_run: bool | None = None, surface: Mapping[str, Any] | None = None,
         grid: Mapping[str, Any] | None = None, case: Mapping[str, Any] | None = None, scan: Mapping[str, Any] | None = None,
         solver: Mapping[str, Any] | None = None, logging: Mapping[str, Any] | None = None, progress: Progress | None = None) -> Result:
    """Solve many collisionalities and electric fields, on one surface or several.

    What ``sonde neoclassical scan`` does.

    Every collisionality with every field on every radius. A surface is prepared once; each point is solved by one thread, so the
    numbers do not depend on how many there are, nor on how many processes `mpirun` starts. Points without an answer are NaN in
    the file, with their status, and the command ends with status 7.

    A GPU (device) solves all points of one path together, once it has solved a small case as the CPU does; the numbers differ by
    rounding. Single precision, `collocation`, adapt_n_xi, path = "dense", and fields without stellarator symmetry run only on the
    CPU.

    Parameters
    ----------
    input : str (INPUT), default ''
        run file (.toml), the file of a surface, or analytic-demo
    s : float, default unset
        toroidal flux normalised by that of the edge (at least 0, at most 1)
    snap : bool, default False
        take the nearest surface of the file
    wout : str (FILE), default unset
        VMEC equilibrium that gives psi_a and signgs to a boozmn file
    psi_a : float in T m^2, default unset
        toroidal flux of the edge / 2 pi with its sign, for files that lack it
    n_theta : int, default 25
        poloidal angles, odd (at least 1, at most 10000)
    n_zeta : int, default 25
        toroidal angles of one field period, odd (at least 1, at most 10000)
    n_xi : int, default 60
        largest Legendre index of the pitch (at least 2, at most 10000)
    precision : {'auto', 'f64', 'f32-refine'}, default 'f64'
        f32-refine: eliminate in single precision and refine in double, faster for nu_hat above some 1e-4; points that it does not suffice for are solved in double; auto: what took less time when `sonde bench neoclassical-crossover` measured this machine
    output : str (FILE.nc|.h5|.npz), default ''
        result file
    rho : str (LIST), default ''
        radii sqrt(s); empty: the one of the surface
    nu_v : str (LIST) in 1/m, default ''
        collisionalities nu/v
    epsi_hat : str (LIST), default ''
        electric fields E_psi/v (0 when none is given)
    er_hat : str (LIST) in T, default ''
        electric fields E_r/v instead
    er_tilde : str (LIST), default ''
        electric fields as databases have them, instead
    adapt_n_xi : float, default unset
        find the Legendre modes of each point: relative change that is small enough (at least 0)
    scan_batch_size : int, default unset
        points in memory at a time, at most (at least 1)
    plot : bool, default False
        draw the result beside the file
    set : list of str, default []
        one setting of the run file, for instance grid.round_odd=true
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
    surface, grid, case, scan, solver, output, logging : dict, or list of dicts where a table comes several times
        tables of the run file, by themselves or over those of one
    """
    return _run("neoclassical scan", input, s=s, snap=snap, wout=wout, psi_a=psi_a, n_theta=n_theta, n_zeta=n_zeta, n_xi=n_xi,
                precision=precision, output=output, rho=rho, nu_v=nu_v, epsi_hat=epsi_hat, er_hat=er_hat, er_tilde=er_tilde,
                adapt_n_xi=adapt_n_xi, scan_batch_size=scan_batch_size, plot=plot, set=set, live=live, device=device,
                memory=memory, threads=threads, report=report, config=config, dry_run=dry_run, surface=surface, grid=grid,
                case=case, scan=scan, solver=solver, logging=logging, progress=progress)


@checked
def database(input: Text, *, output: Text | None = None, booz: Text | None = None, snap: bool | None = None,
             surface_backend: Literal["vmec", "boozer"] | None = None, rho: Text | None = None, rho_linspace: Text | None = None,
             nu_v: Text | None = None, er_tilde: Text | None = None, er_tilde_logspace: Text | None = None,
             er_tilde_include_zero: bool | None = None, n_theta: SupportsIndex | None = None, n_zeta: SupportsIndex | None = None,
             n_xi: SupportsIndex | None = None, discretisation: Literal["skew", "collocation"] | None = None,
             round_odd: bool | None = None, scan_batch_size: SupportsIndex | None = None, adapt_n_xi: SupportsFloat | None = None,
             tol: SupportsFloat | None = None, precision: Literal["auto", "f64", "f32-refine"] | None = None,
             resume: bool | None = None, plot: bool | None = None, live: SupportsIndex | None = None, device: Text | None = None,
             memory: SupportsIndex | str | None = None, threads: SupportsIndex | None = None, report: Text | None = None,
             config: Text | None = None, dry_run: bool | None = None, progress: Progress | None = None) -> Result:
    """Make a database of coefficients that NEOPAX reads.

    What ``sonde neoclassical database`` does.

    Coefficients over radius, collisionality and electric field from nothing but a VMEC equilibrium: the geometry in Boozer angles
    that the file also holds is made here unless booz gives it. Equal input gives equal bytes, with any number of threads and of
    processes: `mpirun -n 8 sonde neoclassical database ... --threads 1`.

    Finished points are kept in OUTPUT.part; after an interruption resume continues with them, when equilibrium, axes, grid and
    options are the same (tol may change): other settings are refused by name. So is another processor: a GPU (device) solves all
    points of a radius and path together, with numbers that differ by rounding (`sonde help neoclassical scan`).

    Parameters
    ----------
    input : str (WOUT), default ''
        VMEC equilibrium
    output : str (FILE.h5), default ''
        the database
    booz : str (BOOZMN), default unset
        boozmn file of the geometry in Boozer angles; unset: made from the equilibrium
    snap : bool, default False
        take the nearest surface of booz where a radius is in a gap
    surface_backend : {'vmec', 'boozer'}, default 'vmec'
        solve in the angles of VMEC, or in those of booz
    rho : str (LIST), default unset
        radii sqrt(s); unset: 0.12247, 0.25, 0.375, ... 0.875
    rho_linspace : str (FIRST,LAST,COUNT), default unset
        radii in equal steps instead
    nu_v : str (LIST) in 1/m, default unset
        collisionalities; unset: 3e-7 to 10, 16 of them
    er_tilde : str (LIST), default unset
        electric fields; unset: 0 and 1e-6 to 0.1, 12 of them
    er_tilde_logspace : str (FIRST,LAST,COUNT), default unset
        electric fields in equal ratios instead
    er_tilde_include_zero : bool, default False
        and 0 before them
    n_theta : int, default 25
        poloidal angles, odd (at least 1, at most 10000)
    n_zeta : int, default 25
        toroidal angles of one field period, odd (at least 1, at most 10000)
    n_xi : int, default 60
        largest Legendre index of the pitch (at least 2, at most 10000)
    discretisation : {'skew', 'collocation'}, default 'skew'
        skew: Onsager symmetric on every grid; collocation: point by point, as MONKES and NTX
    round_odd : bool, default False
        take the next odd count of angles for an even one
    scan_batch_size : int, default unset
        points in memory at a time, at most (at least 1)
    adapt_n_xi : float, default unset
        find the Legendre modes of each point: relative change that is small enough (at least 0)
    tol : float, default 1e-08
        largest residual of an answer (at least 0)
    precision : {'auto', 'f64', 'f32-refine'}, default 'f64'
        f32-refine: eliminate in single precision and refine in double, faster for nu_hat above some 1e-4; points that it does not suffice for are solved in double; auto: what took less time when `sonde bench neoclassical-crossover` measured this machine
    resume : bool, default False
        continue with the points that OUTPUT.part holds
    plot : bool, default False
        draw the coefficients of each radius beside the database
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
    return _run("neoclassical database", input, output=output, booz=booz, snap=snap, surface_backend=surface_backend, rho=rho,
                rho_linspace=rho_linspace, nu_v=nu_v, er_tilde=er_tilde, er_tilde_logspace=er_tilde_logspace,
                er_tilde_include_zero=er_tilde_include_zero, n_theta=n_theta, n_zeta=n_zeta, n_xi=n_xi,
                discretisation=discretisation, round_odd=round_odd, scan_batch_size=scan_batch_size, adapt_n_xi=adapt_n_xi,
                tol=tol, precision=precision, resume=resume, plot=plot, live=live, device=device, memory=memory, threads=threads,
                report=report, config=config, dry_run=dry_run, progress=progress)


@checked
def boozer(input: Text, *, output: Text | None = None, mboz: SupportsIndex | None = None, nboz: SupportsIndex | None = None,
           s: Text | None = None, live: SupportsIndex | None = None, device: Text | None = None,
           memory: SupportsIndex | str | None = None, threads: SupportsIndex | None = None, report: Text | None = None,
           config: Text | None = None, dry_run: bool | None = None, progress: Progress | None = None) -> Result:
    """Transform a VMEC equilibrium to Boozer angles.

    What ``sonde neoclassical boozer`` does.

    Writes what BOOZ_XFORM writes, readable by the same programs. Each surface checks itself: how well the harmonics give back
    |B|, and how constant sqrt(g) B^2 is; above 1e-4 a note asks for more modes.

    Parameters
    ----------
    input : str (WOUT), default ''
        VMEC equilibrium
    output : str (BOOZMN.nc), default ''
        the Boozer file
    mboz : int, default unset
        poloidal modes 0 to mboz - 1; unset: 6 mpol (at least 1, at most 1000)
    nboz : int, default unset
        toroidal modes -nboz to nboz per field period; unset: 2 ntor (at least 0, at most 1000)
    s : str (LIST), default ''
        surfaces, each moved to the nearest of the half mesh; empty: all of them
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
    return _run("neoclassical boozer", input, output=output, mboz=mboz, nboz=nboz, s=s, live=live, device=device, memory=memory,
                threads=threads, report=report, config=config, dry_run=dry_run, progress=progress)


@checked
def convergence(input: Text, *, s: SupportsFloat | None = None, snap: bool | None = None, wout: Text | None = None,
                psi_a: SupportsFloat | None = None, n_theta: SupportsIndex | None = None, n_zeta: SupportsIndex | None = None,
                n_xi: SupportsIndex | None = None, precision: Literal["auto", "f64", "f32-refine"] | None = None,
                nu_hat: SupportsFloat | None = None, epsi_hat: SupportsFloat | None = None, er_hat: SupportsFloat | None = None,
                er_tilde: SupportsFloat | None = None, set: Text | None = None, output: Text | Mapping[str, Any] | None = None,
                refine: Text | None = None, tol: SupportsFloat | None = None, steps: SupportsIndex | None = None,
                plot: bool | None = None, live: SupportsIndex | None = None, device: Text | None = None,
                memory: SupportsIndex | str | None = None, threads: SupportsIndex | None = None, report: Text | None = None,
                config: Text | None = None, dry_run: bool | None = None, surface: Mapping[str, Any] | None = None,
                grid: Mapping[str, Any] | None = None, case: Mapping[str, Any] | None = None,
                scan: Mapping[str, Any] | None = None, solver: Mapping[str, Any] | None = None,
                logging: Mapping[str, Any] | None = None, progress: Progress | None = None) -> Result:
    """Refine the grid until the coefficients no longer change.

    What ``sonde neoclassical convergence`` does.

    Refines Legendre modes and angles one after the other by a third and reports how the coefficients change. A small residual, or
    exact Onsager symmetry, says nothing of convergence; this does, though the last change is not a bound of the error. D31 needs
    most. Ends with status 7 when the tolerance is not reached.

    Parameters
    ----------
    input : str (INPUT), default ''
        run file (.toml), the file of a surface, or analytic-demo
    s : float, default unset
        toroidal flux normalised by that of the edge (at least 0, at most 1)
    snap : bool, default False
        take the nearest surface of the file
    wout : str (FILE), default unset
        VMEC equilibrium that gives psi_a and signgs to a boozmn file
    psi_a : float in T m^2, default unset
        toroidal flux of the edge / 2 pi with its sign, for files that lack it
    n_theta : int, default 25
        poloidal angles, odd (at least 1, at most 10000)
    n_zeta : int, default 25
        toroidal angles of one field period, odd (at least 1, at most 10000)
    n_xi : int, default 60
        largest Legendre index of the pitch (at least 2, at most 10000)
    precision : {'auto', 'f64', 'f32-refine'}, default 'f64'
        f32-refine: eliminate in single precision and refine in double, faster for nu_hat above some 1e-4; points that it does not suffice for are solved in double; auto: what took less time when `sonde bench neoclassical-crossover` measured this machine
    nu_hat : float in 1/m, default unset
        collisionality nu/v
    epsi_hat : float, default unset
        electric field E_psi/v in the label of the surface
    er_hat : float in T, default unset
        electric field E_r/v instead
    er_tilde : float, default unset
        electric field as databases have it, instead
    set : list of str, default []
        one setting of the run file, for instance grid.round_odd=true
    output : str (FILE.nc|.h5|.npz|.png), default ''
        the study, or (.png, .pdf, .svg) only its chart; empty: neither
    refine : str (LIST), default 'n_xi,n_theta,n_zeta'
        what is refined, one after the other
    tol : float, default 0.001
        relative change that is small enough (at least 1e-14, at most 1)
    steps : int, default 4
        refinements in each direction, at most (at least 1, at most 20)
    plot : bool, default False
        draw the changes beside the stored study
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
    surface, grid, case, scan, solver, output, logging : dict, or list of dicts where a table comes several times
        tables of the run file, by themselves or over those of one
    """
    return _run("neoclassical convergence", input, s=s, snap=snap, wout=wout, psi_a=psi_a, n_theta=n_theta, n_zeta=n_zeta,
                n_xi=n_xi, precision=precision, nu_hat=nu_hat, epsi_hat=epsi_hat, er_hat=er_hat, er_tilde=er_tilde, set=set,
                output=output, refine=refine, tol=tol, steps=steps, plot=plot, live=live, device=device, memory=memory,
                threads=threads, report=report, config=config, dry_run=dry_run, surface=surface, grid=grid, case=case, scan=scan,
                solver=solver, logging=logging, progress=progress)


@checked
def profile(input: Text, *, output: Text | None = None, quantity: Text | None = None, profiles: Text | None = None,
            rho: Text | None = None, E_r: SupportsFloat | None = None, root: Literal["entropy", "ion", "electron"] | None = None,
            E_r_lowest: SupportsFloat | None = None, E_r_highest: SupportsFloat | None = None,
            E_r_points: SupportsIndex | None = None, E_par: SupportsFloat | None = None,
            momentum_correction: Literal["none", "sonine"] | None = None, sonine_order: SupportsIndex | None = None,
            energies: SupportsIndex | None = None, quadrature: Literal["laguerre", "maxwell"] | None = None,
            coulomb_logarithm: Literal["electrons", "nrl", "impact"] | None = None, n_theta: SupportsIndex | None = None,
            n_zeta: SupportsIndex | None = None, n_xi: SupportsIndex | None = None,
            discretisation: Literal["skew", "collocation"] | None = None, round_odd: bool | None = None,
            tol: SupportsFloat | None = None, precision: Literal["auto", "f64", "f32-refine"] | None = None,
            adapt_n_xi: SupportsFloat | None = None, E_r_search: Literal["guided", "exhaustive"] | None = None,
            compare: Text | None = None, live: SupportsIndex | None = None, device: Text | None = None,
            memory: SupportsIndex | str | None = None, threads: SupportsIndex | None = None, report: Text | None = None,
            config: Text | None = None, dry_run: bool | None = None, progress: Progress | None = None) -> Result:
    """Fluxes, ambipolar electric field and bootstrap current over the radius.

    What ``sonde neoclassical profile`` does.

    Integrates monoenergetic coefficients over energy for every species, finds all ambipolar fields and takes a stable one, and
    gives the bootstrap current without and with momentum correction. Ambipolar are the fluxes with the correction that was asked
    for (momentum_correction="none": those without). From a database it interpolates; from an equilibrium it solves at the very
    energies that the integrals need (compare reports what interpolating a database would have cost). An energy without a solution
    is left out where it holds less than 1e-4 of every integral, with a note. Radii without a stable ambipolar field are NaN, and
    without_root of the file marks them. A root that the electric drift could move by more than half, as the momentum correction
    of nearly symmetric fields has them, is reported but not taken. Under `mpirun` radii go to whichever process is free.

    Parameters
    ----------
    input : str (DIJ.h5|WOUT), default ''
        a database, or a VMEC equilibrium: then coefficients are solved at every energy
    output : str (FILE.h5|.nc|.npz), default ''
        the profiles of transport
    quantity : str (LIST), default 'fluxes,ambipolar,bootstrap'
        what is drawn: fluxes, ambipolar, bootstrap
    profiles : str (FILE.csv|.h5|.toml), default unset
        densities and temperatures: columns rho, n_e, T_e, n_D, ... (1/m^3, eV), or n0, n_edge, T0, T_edge of the standard profiles in a table [profiles]; unset: the standard ones
    rho : str (LIST), default ''
        radii; empty: 51 over the range of the database, or 9 of an equilibrium
    E_r : float in V/m, default unset
        electric field everywhere; unset: that of the profiles, else the ambipolar one
    root : {'entropy', 'ion', 'electron'}, default 'entropy'
        which stable root of the ambipolar field: of least entropy production, the lowest, the highest
    E_r_lowest : float in V/m, default -50000.0
        where the search for it begins
    E_r_highest : float in V/m, default 50000.0
        where the search for it ends
    E_r_points : int, default 300
        fields of the search: two roots closer than its step may be missed (at least 2, at most 100000)
    E_par : float in V/m, default 0.0
        electric field along B that a transformer drives, B0 <E_par B>/<B^2>
    momentum_correction : {'none', 'sonine'}, default 'sonine'
        whether collisions between species conserve momentum
    sonine_order : int, default 2
        of its polynomials (at least 0, at most 12)
    energies : int, default 64
        nodes of the energy integrals (at least 2, at most 512)
    quadrature : {'laguerre', 'maxwell'}, default 'laguerre'
        rule of the energy integrals
    coulomb_logarithm : {'electrons', 'nrl', 'impact'}, default 'electrons'
        32.2 + 1.15 log10(Te^2/ne), the NRL formulary's, or from impact parameters
    n_theta : int, default 25
        poloidal angles, odd (at least 1, at most 10000)
    n_zeta : int, default 25
        toroidal angles of one field period, odd (at least 1, at most 10000)
    n_xi : int, default 60
        largest Legendre index of the pitch (at least 2, at most 10000)
    discretisation : {'skew', 'collocation'}, default 'skew'
        skew: Onsager symmetric on every grid; collocation: point by point, as MONKES and NTX
    round_odd : bool, default False
        take the next odd count of angles for an even one
    tol : float, default 1e-08
        largest residual of an answer (at least 0)
    precision : {'auto', 'f64', 'f32-refine'}, default 'f64'
        f32-refine: eliminate in single precision and refine in double, faster for nu_hat above some 1e-4; points that it does not suffice for are solved in double; auto: what took less time when `sonde bench neoclassical-crossover` measured this machine
    adapt_n_xi : float, default unset
        find the Legendre modes of each point: relative change that is small enough (at least 0)
    E_r_search : {'guided', 'exhaustive'}, default 'guided'
        how the ambipolar field is found: by tables made at each radius, every root then by solves at it; or by solves at every field of the search
    compare : str (DIJ.h5), default unset
        a database of the equilibrium: tell what interpolating it costs
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
    return _run("neoclassical profile", input, output=output, quantity=quantity, profiles=profiles, rho=rho, E_r=E_r, root=root,
                E_r_lowest=E_r_lowest, E_r_highest=E_r_highest, E_r_points=E_r_points, E_par=E_par,
                momentum_correction=momentum_correction, sonine_order=sonine_order, energies=energies, quadrature=quadrature,
                coulomb_logarithm=coulomb_logarithm, n_theta=n_theta, n_zeta=n_zeta, n_xi=n_xi, discretisation=discretisation,
                round_odd=round_odd, tol=tol, precision=precision, adapt_n_xi=adapt_n_xi, E_r_search=E_r_search, compare=compare,
                live=live, device=device, memory=memory, threads=threads, report=report, config=config, dry_run=dry_run,
                progress=progress)


@checked
def convert(input: Text, *, output: Text | None = None, from_: Literal["ntx", "monkes", "dkes", "sfincs", "stars"] | None = None,
            to: Literal["ntx", "monkes", "dkes", "sfincs", "stars"] | None = None, radius: SupportsFloat | None = None,
            minor_radius: SupportsFloat | None = None, major_radius: SupportsFloat | None = None,
            psi_a: SupportsFloat | None = None, device: Text | None = None, memory: SupportsIndex | str | None = None,
            threads: SupportsIndex | None = None, report: Text | None = None, config: Text | None = None,
            dry_run: bool | None = None, progress: Progress | None = None) -> Result:
    """Coefficients in the normalisation of another program.

    What ``sonde neoclassical convert`` does.

    NTX and MONKES (per toroidal flux / 2 pi), DKES (per metre), SFINCS (transport matrix of RHSMode 3 with nuPrime and EStar),
    and the dimensionless stars of the international benchmark. Scans and databases become tables: coefficients over (rho, nu_v,
    field), collisionalities over (rho, nu_v) and fields over (rho, field) in the new units. Every quantity carries its units, and
    the geometry goes along, so that what was converted can be converted back. Lengths and fluxes that a file lacks are given by
    flags.

    Parameters
    ----------
    input : str (RESULT.nc|.h5|.npz), default ''
        a result of run or scan, a database, a sfincsOutput.h5 of RHSMode 3, or what this command wrote
    output : str (FILE.nc|.h5|.npz), default ''
        what was converted
    from_ : {'ntx', 'monkes', 'dkes', 'sfincs', 'stars'}, default 'ntx'
        normalisation of the input
    to : {'ntx', 'monkes', 'dkes', 'sfincs', 'stars'}, default 'sfincs'
        normalisation of the output
    radius : float in m, default unset
        minor radius of one surface, for stars, and for dkes from results in s (at least 0)
    minor_radius : float in m, default unset
        a_b, minor radius of the plasma: that of every surface follows from it (at least 0)
    major_radius : float in m, default unset
        R0, for stars (at least 0)
    psi_a : float in T m^2, default unset
        toroidal flux of the edge / 2 pi with its sign, for tables in s that lack it
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
    return _run("neoclassical convert", input, output=output, from_=from_, to=to, radius=radius, minor_radius=minor_radius,
                major_radius=major_radius, psi_a=psi_a, device=device, memory=memory, threads=threads, report=report,
                config=config, dry_run=dry_run, progress=progress)


@checked
def plot(input: Text, *, output: Text | None = None, quantity: Text | None = None, radius: SupportsIndex | None = None,
         device: Text | None = None, memory: SupportsIndex | str | None = None, threads: SupportsIndex | None = None,
         report: Text | None = None, config: Text | None = None, dry_run: bool | None = None, progress: Progress | None = None) -> Result:
    """Draw a result: coefficients over collisionality, |B| on the surface, a study, profiles of transport.

    What ``sonde neoclassical plot`` does.

    Scans and databases become charts of D11*, D31* and D33* of the benchmark over nu* = R0 nu / (|iota| v), one curve per
    electric field, with Onsager symmetry beside them. Where R0, iota and the minor radius are not known (built-in surfaces,
    DKES), D11 and D31 are in their units over nu/v. No point is left out: open marks are below zero, red crosses are doubtful
    (D11 or D33 not above 0, for D31 also an Onsager residual above 1 %), black crosses at the lower edge have no answer. The
    result of one solve becomes a map of |B| with a field line; a stored convergence study its chart; profiles of transport those
    of the command that made them. Beside the picture are FILE.chart.json, the numbers, and FILE.gp, which draws it again.

    Parameters
    ----------
    input : str (RESULT.nc|.h5|.npz), default ''
        a result of run, scan, convergence or profile, or a database
    output : str (FILE.png|.pdf|.svg), default ''
        the picture; unset: FILE.png and FILE.pdf beside the input
    quantity : str (LIST), default ''
        what is drawn: D11, D31, D33, onsager of a scan or a database; b of a run; convergence of a study; fluxes, ambipolar, bootstrap of profiles; empty: all there is
    radius : int, default 0
        which radius of a scan or database, from 0 (at least 0)
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
    return _run("neoclassical plot", input, output=output, quantity=quantity, radius=radius, device=device, memory=memory,
                threads=threads, report=report, config=config, dry_run=dry_run, progress=progress)
