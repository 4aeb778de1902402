# SPDX-License-Identifier: Apache-2.0
"""Neoclassical transport: monoenergetic coefficients of flux surfaces, databases of them, fluxes and currents.

A surface on a grid becomes a plan, which is solved for any number of collisionalities and electric fields. Arrays of a scan are
[nu][field], those of a surface [theta][zeta], those of a database [rho][nu][field], all float64 unless another type is named. SI
units; ``nu_hat`` = ``nu_v`` = nu/v is in 1/m. Coefficients are per metre of r or per s, as ``surface.radial_label`` says. Every call
that works leaves other Python threads running, and Ctrl-C ends it. Everything that goes wrong is a :class:`sonde.Error`.

>>> import sonde.neoclassical as nc
>>> plan = nc.prepare(nc.Surface.demo(), nc.Grid(9, 9, 8))
>>> result = plan.solve(nu_hat=1e-2, epsi_hat=1e-3)
>>> print(f"{result.D11:.10g} {result.D31:.10g} {result.D33:.10g} {result.path}")
0.002877904868 -0.107837192 47.05275243 quasidefinite
>>> plan.scan([1e-3, 1e-2], epsi_hat=[0, 1e-3]).D11.shape
(2, 2)
>>> points = nc.convert(result, "sfincs", plan=plan)
>>> print(f"{points['M11']:.10g} {points['nu_prime']:.10g}")
-0.01354152413 0.01246968281
"""

from __future__ import annotations

from ._boozer import BoozerTransform, boozer
from ._convergence import Study, StudyStep, convergence
from ._convert import convert
from ._database import Database, build_database
from ._plan import Coefficients, Field, Grid, Modes, Plan, Scan, prepare
from ._profiles import Profiles, profiles
from ._surface import Harmonics, Surface
from .._verbs.neoclassical import plot, run, scan

# The names of the verbs.
database, profile = build_database, profiles

__all__ = ["BoozerTransform", "Coefficients", "Database", "Field", "Grid", "Harmonics", "Modes", "Plan", "Profiles", "Scan", "Study",
           "StudyStep", "Surface", "boozer", "build_database", "convergence", "convert", "database", "plot", "prepare", "profile",
           "profiles", "run", "scan"]
