# SPDX-License-Identifier: Apache-2.0
"""How coefficients move as the grid is refined."""

from __future__ import annotations

from typing import NamedTuple, Unpack

from .. import _sonde
from .._keywords import StudyKeywords
from .._options import takes_options_of
from ._plan import Coefficients, Grid
from ._surface import Surface


class StudyStep(NamedTuple):
    """One grid of a convergence study."""

    grid: tuple[int, int, int]  #: n_theta, n_zeta, n_xi
    refined: str  #: "n_xi", "n_theta" or "n_zeta"; empty for the grid that was given
    change: float  #: relative change of the coefficients from the step before in this direction
    coefficients: Coefficients


class Study(NamedTuple):
    """How the coefficients of one case move as the grid is refined."""

    converged: bool  #: error <= tol
    error: float  #: the sum over directions of the last change
    grid: tuple[int, int, int]  #: the coarsest whose next refinement changed little in every direction
    steps: list[StudyStep]  #: the grid that was given first


@takes_options_of("neoclassical_study")
def convergence(surface: Surface, grid: Grid | None = None, *, nu_hat: float, epsi_hat: float | None = None,
                er_hat: float | None = None, er_tilde: float | None = None, path: str | None = None, **options: Unpack[StudyKeywords]) -> Study:
    """Refines the grid until the coefficients no longer change.

    A small residual, or exact Onsager symmetry, says nothing of convergence; this does.

    Parameters
    ----------
    surface : Surface
        What is solved.
    grid : Grid, optional
        Where the study begins; else ``Grid()``.
    nu_hat, epsi_hat, er_hat, er_tilde : float
        The case, as in :meth:`Plan.solve`.
    path : str, optional
        The elimination, as in :func:`prepare`.

    Returns
    -------
    Study
        ``converged`` may be False: nothing is raised then.
    """
    case = {"nu_hat": nu_hat, "epsi_hat": epsi_hat, "er_hat": er_hat, "er_tilde": er_tilde}
    converged, error, found, rows = _sonde.neoclassical_convergence(surface._surface, (grid or Grid())._given, case, options,
                                                                    {"path": path})
    return Study(converged, error, found, [StudyStep(at, refined, change, Coefficients(**made)) for at, refined, change, made in rows])
