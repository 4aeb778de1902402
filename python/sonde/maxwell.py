# SPDX-License-Identifier: Apache-2.0
"""Ground-penetrating radar: models of gprMax to radar traces.

Arrays of a result are (time, run, receiver), one for each field component, in V/m and A/m; ``time`` is in seconds: sample n of E is
at n dt, of H half a step before. Positions are in metres, as x, y, z. Everything that goes wrong is a :class:`sonde.Error`.

>>> import sonde
>>> made = sonde.maxwell.run("cylinder.in", runs=60)     # doctest: +SKIP
>>> made["Ez"].shape                                     # doctest: +SKIP
(637, 60, 1)
"""

from __future__ import annotations

from ._verbs.maxwell import plot, run, verify

__all__ = ["plot", "run", "verify"]
