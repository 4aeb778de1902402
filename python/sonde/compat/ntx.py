# SPDX-License-Identifier: Apache-2.0
"""Monoenergetic coefficients under the names of NTX, for scripts that know them.

>>> from sonde import neoclassical as nc
>>> from sonde.compat import ntx
>>> result = ntx.solve_monoenergetic(nc.Surface.demo(), ntx.GridSpec(5, 7, 6), ntx.MonoenergeticCase(nu_hat=1e-2))
>>> result.D11 > 0
True

The discretisation is NTX's own, ``collocation``; ``discretisation="skew"`` is what :mod:`sonde.neoclassical` takes.
"""

from __future__ import annotations

from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Literal

from .. import neoclassical, thread_count
from .._calls import checked

__all__ = ["GridSpec", "MonoenergeticCase", "solve_monoenergetic", "solve_monoenergetic_scan"]


@dataclass(frozen=True)
class GridSpec:
    """Points of both angles (odd) and the largest Legendre index."""

    n_theta: int = 25
    n_zeta: int = 25
    n_xi: int = 60
    discretisation: Literal["skew", "collocation"] = "collocation"

    def grid(self) -> neoclassical.Grid:
        """The same for :func:`sonde.neoclassical.prepare`."""
        return neoclassical.Grid(self.n_theta, self.n_zeta, self.n_xi, discretisation=self.discretisation)


@dataclass(frozen=True)
class MonoenergeticCase:
    """One collisionality nu/v (1/m) and one electric field: E_psi/v in the label of the surface, or E_r/v (T)."""

    nu_hat: float
    epsi_hat: float | None = None
    er_hat: float | None = None


@checked
def solve_monoenergetic(surface: neoclassical.Surface, grid: GridSpec, case: MonoenergeticCase) -> neoclassical.Coefficients:
    """:func:`sonde.neoclassical.prepare` and :meth:`sonde.neoclassical.Plan.solve` at once."""
    return solve_monoenergetic_scan(surface, grid, [case])[0]


@checked
def solve_monoenergetic_scan(surface: neoclassical.Surface, grid: GridSpec,
                             cases: Iterable[MonoenergeticCase]) -> list[neoclassical.Coefficients]:
    """Any cases of one surface, which is prepared once, several at a time; a case that fails raises."""
    plan = neoclassical.prepare(surface, grid.grid())

    def solve(case: MonoenergeticCase) -> neoclassical.Coefficients:
        return plan.solve(nu_hat=case.nu_hat, epsi_hat=case.epsi_hat, er_hat=case.er_hat)

    with ThreadPoolExecutor(thread_count()) as pool:
        return list(pool.map(solve, cases))
