# SPDX-License-Identifier: Apache-2.0
"""sonde.neoclassical on a VMEC equilibrium: databases against points solved alone, VMEC angles against Boozer's."""

import os
import pathlib

import numpy as np
import pytest

import sonde.neoclassical as nc

DATA = pathlib.Path(os.environ.get("SONDE_TEST_DATA", pathlib.Path(__file__).parents[3] / "shared/data")) / "neoclassical"

if not DATA.is_dir():
    if os.environ.get("SONDE_REQUIRE_DATA") == "1":
        raise FileNotFoundError(f"test data required, but {DATA} is not there")
    pytest.skip("no test data", allow_module_level=True)

WOUT = DATA / "wout_circular_tokamak.nc"


def test_a_built_database_is_its_points_solved_alone(tmp_path):
    grid = nc.Grid(9, 1, 8)
    seen = []
    built = nc.build_database(WOUT, rho=[0.4, 0.6], nu_v=[1e-2, 1e-1], er_tilde=[0, 1e-3], grid=grid, part=tmp_path / "kept.part",
                              progress=lambda *told: seen.append(told))
    plan = nc.prepare(nc.Surface.vmec(WOUT, rho=0.6), grid)
    alone = plan.solve(nu_hat=0.1, epsi_hat=built.Es[1, 1])
    assert built.D11[1, 1, 1] == alone.D11 and built.D31[1, 1, 1] == alone.D31
    # E_hat = er_tilde psia / (a_b rho) of the solver is Es of the table.
    assert plan.solve(nu_hat=0.1, er_tilde=1e-3).D11 == pytest.approx(alone.D11, rel=1e-9)
    assert not (tmp_path / "kept.part").exists()
    built.save(tmp_path / "Dij.h5")
    assert np.array_equal(nc.Database.load(tmp_path / "Dij.h5").D13, built.D13)
    assert built.quality["n_xi_used"].shape == (2, 2, 2)


def test_boozer_angles_give_the_same_physics(tmp_path):
    """Coefficients do not depend on the angles but for the reference field and what the grid leaves."""
    made = nc.boozer(WOUT, tmp_path / "boozmn.nc", s=[0.25, 0.5])
    assert made.largest_defect.max() < 1e-4 and made.s.shape == (2,)
    grid = nc.Grid(31, 1, 16)
    s = float(made.s[1])
    vmec, straight = nc.Surface.vmec(WOUT, s=s), nc.Surface.boozmn(tmp_path / "boozmn.nc", s=s)
    one, other = nc.prepare(vmec, grid).solve(nu_hat=0.1), nc.prepare(straight, grid).solve(nu_hat=0.1)
    assert (vmec.angles, straight.angles, vmec.radial_label) == ("vmec", "boozer", "s")
    assert one.D11 == pytest.approx(other.D11, rel=1e-3)
    assert one.D31 * vmec.B0 == pytest.approx(other.D31 * straight.B0, rel=1e-3)
