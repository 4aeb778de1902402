# SPDX-License-Identifier: Apache-2.0
"""Ground-penetrating radar: models of gprMax to radar traces, and waves with their derivatives on arrays.

Arrays of a result are (time, run, receiver), one for each field component, in V/m and A/m; ``time`` is in seconds: sample n of E is
at n dt, of H half a step before. Positions are in metres, as x, y, z. Everything that goes wrong is a :class:`sonde.Error`.

>>> import sonde
>>> made = sonde.maxwell.run("cylinder.in", runs=60)     # doctest: +SKIP
>>> made["Ez"].shape                                     # doctest: +SKIP
(637, 60, 1)

:class:`MaxwellTM` and :class:`Maxwell3D` take a medium as arrays ``[z][x]`` and ``[z][y][x]``; ``with op.linearize(model) as lin``
has the derivative: ``lin.jvp(d)``, ``lin.vjp(r)``, ``lin.second_vjp(d, r)``, ``lin.gauss_newton(d)``.
"""

from __future__ import annotations

from .._verbs.maxwell import born, convert, fwi, gradient, init, plot, run, verify
from ._model import (CPML, Acquisition, CallbackState, DebyeDispersion, Discretization, EMDirection, EMGradient, EMModel,
                     ExecutionOptions, Experiment, Observers, StorageOptions)
from ._operator import Forward, Linearization, Maxwell3D, MaxwellTM
from ._wavelets import cfl_condition, gaussian, gaussian_derivative, morlet, ricker, sine_burst

__all__ = ["Acquisition", "CPML", "CallbackState", "DebyeDispersion", "Discretization", "EMDirection", "EMGradient",
           "EMModel", "ExecutionOptions", "Experiment", "Forward", "Linearization", "Maxwell3D", "MaxwellTM", "Observers",
           "StorageOptions", "born", "cfl_condition", "convert", "fwi", "gaussian", "gaussian_derivative", "gradient", "init",
           "morlet", "plot", "ricker", "run", "sine_burst", "verify"]
