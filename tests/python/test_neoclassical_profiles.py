# SPDX-License-Identifier: Apache-2.0
"""sonde.neoclassical.profiles, which solves at every energy, against integrals written out here."""

import math
import os
import pathlib

import numpy as np
import pytest

import sonde.neoclassical as nc
from test_neoclassical import error_of

DATA = pathlib.Path(os.environ.get("SONDE_TEST_DATA", pathlib.Path(__file__).parents[3] / "shared/data")) / "neoclassical"
if not DATA.is_dir():
    if os.environ.get("SONDE_REQUIRE_DATA") == "1":
        raise FileNotFoundError(f"test data required, but {DATA} is not there")
    pytest.skip("no test data", allow_module_level=True)

WOUT = DATA / "wout_li383_1.4m.nc"
GRID = nc.Grid(7, 9, 12)
RHO = 0.5
N, T_KEV = 1e20, 2.0
FLAT = {"rho": [0.1, 0.9], "n_e": [N, N], "T_e": [1e3 * T_KEV] * 2, "n_H": [N, N], "T_H": [1e3 * T_KEV] * 2}
E, EPS0, M_E, M_P = 1.602176634e-19, 8.8541878128e-12, 9.1093837015e-31, 1.67262192369e-27


def deflection(v, mass):
    """nu(v) of docs/neoclassical-theory.md for electrons and protons of equal density and temperature."""
    log = 32.2 + 1.15 * math.log10((1e3 * T_KEV) ** 2 / N)
    nu = 0
    for other in (M_E, M_P):
        x = v / math.sqrt(2 * 1e3 * T_KEV * E / other)
        chandrasekhar = (math.erf(x) - 2 / math.sqrt(math.pi) * x * math.exp(-x * x)) / (2 * x * x)
        nu += N * E**4 * log / (4 * math.pi * EPS0**2 * mass**2 * v**3) * (math.erf(x) - chandrasekhar)
    return nu


def test_the_thermal_matrix_is_the_energy_integral_of_single_solves():
    """L11 : L12 : L22 = I_2[D11] : I_3[D11] : I_4[D11], and L33 : I_1[D33], at nu(K)/v by Gauss-Laguerre nodes."""
    energies = 6
    made = nc.profiles(WOUT, FLAT, rho=[RHO], E_r=0, grid=GRID, energies=energies, momentum_correction="none")
    plan = nc.prepare(nc.Surface.vmec(WOUT, s=RHO**2), GRID)
    K, weight = np.polynomial.laguerre.laggauss(energies)
    for name, mass in (("e", M_E), ("H", M_P)):
        thermal = math.sqrt(2 * 1e3 * T_KEV * E / mass)
        points = [plan.solve(nu_hat=deflection(thermal * math.sqrt(k), mass) / (thermal * math.sqrt(k))) for k in K]
        D11, D33 = (np.array([getattr(point, d) for point in points]) for d in ("D11", "D33"))
        L = made.L[0, made.species_names.index(name)]
        moments = [float((weight * K**p * D11).sum()) for p in (2, 3, 4)]
        # The program's constants have more digits than these.
        assert [L[0, 1] / L[0, 0], L[1, 1] / L[0, 0]] == pytest.approx([moments[1] / moments[0], moments[2] / moments[0]], rel=1e-7)
        assert L[2, 2] == pytest.approx(thermal / math.sqrt(math.pi) * float((weight * K * D33).sum()), rel=1e-7)


def test_what_a_table_costs_comes_along():
    """A table with many collisionalities about those of the electrons interpolates them well, one with few does not."""
    def error(points):
        table = nc.build_database(WOUT, rho=[0.45, RHO, 0.55], nu_v=np.geomspace(1e-7, 10, points), er_tilde=[0, 1e-3], grid=GRID)
        found = nc.profiles(WOUT, FLAT, rho=[RHO], E_r=0, grid=GRID, energies=6, compare=table)
        return found, max(float(np.abs(each).max()) for each in found.interpolation_error.values())

    (found, fine), (_, coarse) = error(33), error(4)
    assert fine < 0.1 < 1 < coarse  # D31 changes its sign along nu: L31 is a difference of large parts
    assert found.L.shape == (1, 2, 3, 3) and found.search is None  # a field was given


def test_errors_of_direct_profiles(tmp_path):
    assert "guided or exhaustive" in error_of("usage", nc.profiles, WOUT, search="slow").hint
    error_of("bad_file", nc.profiles, tmp_path / "gone.nc")
    assert "no radius" in error_of("bad_input", nc.profiles, WOUT, rho=[]).message
    assert 'did you mean "energies"' in error_of("usage", nc.profiles, WOUT, energie=3).message
    error_of("usage", nc.profiles, WOUT, precision="f16")
