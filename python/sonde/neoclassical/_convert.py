# SPDX-License-Identifier: Apache-2.0
"""Coefficients in the normalisations of other programs."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any, Unpack

import numpy as np
import numpy.typing as npt

from .. import _sonde
from .._keywords import ConversionKeywords
from .._options import takes_options_of
from .._types import Path
from ._plan import Coefficients, Plan, Scan
from ._surface import Array

#: What may have one value per point; the rest of the names tell of the surface.
_OF_POINTS = ("D11", "D31", "D13", "D33", "nu_hat", "epsi_hat", "e_hat", "er_hat", "M11", "M12", "M21", "M22", "nu_prime", "e_star",
              "D11_star", "D31_star", "D13_star", "D33_star", "nu_star", "v_e_star")


@takes_options_of("neoclassical_conversion", without=("from", "to"))
def convert(points: Path | Mapping[str, npt.ArrayLike] | Coefficients | Scan, to: str = "sfincs", from_: str = "ntx", *,
            plan: Plan | None = None, output: Path | None = None, **options: Unpack[ConversionKeywords]) -> dict[str, float | Array]:
    """Coefficients in the normalisation of another program.

    Parameters
    ----------
    points : path, dict, Coefficients or Scan
        What :meth:`Plan.solve` or :meth:`Plan.scan` returned; or numbers by name, as a file of ``sonde neoclassical run`` holds them
        or as this function returns them; or such a file, or that of a scan, or a database.
    to, from_ : {'ntx', 'monkes', 'dkes', 'sfincs', 'stars'}
        Normalisations: NTX and MONKES (per toroidal flux / 2 pi), DKES (per metre), the transport matrix of SFINCS with RHSMode 3, and
        the stars of the international benchmark.
    plan : Plan, optional
        What solved ``points``, needed with Coefficients and Scan: it has the surface, of an equilibrium also a_b and R0, in whose
        place ``minor_radius`` or ``radius`` and ``major_radius`` are used where they are given.
    output : path, optional
        A file to write as well (.nc, .h5, .npz).

    Returns
    -------
    dict
        ``D11 D31 D13 D33 nu_hat`` with ``e_hat`` (ntx: E_psi/v) or ``er_hat`` (dkes: E_r/v); ``M11 M12 M21 M22 nu_prime e_star``; or
        ``D11_star D31_star D13_star D33_star nu_star v_e_star``: arrays of the shape of ``points``, numbers for one point. With them
        what the surface is: B0, iota, G, I, psi_p, r, R0 and signgs, so that this function takes back what it returned. Of the file of a scan
        or of a database coefficients are (rho, nu_v, field), collisionalities (rho, nu_v), fields (rho, field), and what describes
        the surfaces (rho), with the axes ``rho``, ``nu_v`` and ``field``.

    Raises
    ------
    sonde.Error
        ``bad_input`` naming a quantity that is not there or would be divided by and is zero; ``usage``, ``bad_file``, ``io``.
    """
    settings: dict[str, object] = {"from": from_, "to": to, **options}
    written = None if output is None else os.fspath(output)
    surface: _sonde.NeoclassicalSurface | None = None  # whose file is an input too
    if isinstance(points, (Coefficients, Scan)):
        if plan is None:
            _sonde.raise_error("usage", "convert() knows no surface of these coefficients", "plan= is what solved them")
        surface = plan.surface._surface
        points = _with_surface(points, plan)
    if not isinstance(points, Mapping):
        made = _sonde.neoclassical_convert(os.fspath(points), {}, settings, written, None)
        return made if "nu_v" in made else _of_shape(made, None)
    numbers = {name: np.asarray(values, np.float64) for name, values in points.items()}
    of_points = {name: values for name, values in numbers.items() if name in _OF_POINTS}
    together = np.broadcast_arrays(*of_points.values())
    numbers.update(zip(of_points, together))
    given = {name: values.ravel().tolist() for name, values in numbers.items()}
    return _of_shape(_sonde.neoclassical_convert(None, given, settings, written, surface), together[0].shape if together else None)


def _with_surface(points: Coefficients | Scan, plan: Plan) -> dict[str, npt.ArrayLike]:
    """What a run stores of these points and of the surface."""
    surface, field = plan.surface, plan.field
    numbers: dict[str, npt.ArrayLike] = {name: getattr(points, name) for name in ("D11", "D31", "D13", "D33")}
    if isinstance(points, Scan):
        numbers.update(nu_hat=points.nu_v[:, np.newaxis], epsi_hat=points.epsi_hat)
    else:
        numbers.update(nu_hat=points.nu_hat, epsi_hat=points.epsi_hat)
    numbers.update({name: getattr(surface, name) for name in ("B0", "iota", "s", "psi_scale")})
    numbers.update({name: length for name in ("a_b", "R0") if (length := getattr(surface, name)) is not None})
    numbers.update({name: getattr(field, name) for name in ("b_sub_theta", "b_sub_zeta", "b_sup_zeta", "jacobian")})
    return numbers


def _of_shape(made: dict[str, Any], shape: tuple[int, ...] | None) -> dict[str, float | Array]:
    """Arrays in that shape, those of one point as numbers."""
    if shape is None:
        shape = next(iter(made.values())).shape
        shape = () if shape == (1,) else shape
    return {name: (float(value[0]) if shape == () else value.reshape(shape)) if isinstance(value, np.ndarray) else value
            for name, value in made.items()}
