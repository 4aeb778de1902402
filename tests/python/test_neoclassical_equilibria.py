# SPDX-License-Identifier: Apache-2.0
"""sonde.neoclassical on a VMEC equilibrium: databases against points solved alone, VMEC angles against Boozer's."""

import os
import pathlib
import shutil
import signal
import subprocess
import sys

import numpy as np
import pytest
from scipy.io import netcdf_file

import sonde
import sonde.neoclassical as nc
from sonde.compat import ntx

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


#: Some 0.6 s of one fast thread: progress is told many times before the end.
TABLE = dict(rho=[0.4, 0.6], nu_v=[1e-3, 1e-2, 1e-1], er_tilde=[0, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1], grid=nc.Grid(15, 15, 30))
POINTS = 2 * 3 * 6

#: build.py WOUT PART: makes that table on one thread and is killed in the middle, as by a batch system.
KILLED = f"""
import os, signal, sys
import sonde, sonde.neoclassical as nc
sonde.set_thread_count(1)
def progress(stage, fraction, detail):
    if stage == "solving" and 0 < fraction < 1:
        os.kill(os.getpid(), signal.SIGKILL)
nc.build_database(sys.argv[1], part=sys.argv[2], progress=progress,
                  rho={TABLE['rho']}, nu_v={TABLE['nu_v']}, er_tilde={TABLE['er_tilde']}, grid=nc.Grid(15, 15, 30))
"""


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """The bytes of the table that is made without a break."""
    path = tmp_path_factory.mktemp("whole") / "Dij.h5"
    nc.build_database(DATA / "wout_li383_1.4m.nc", **TABLE).save(path)
    return path.read_bytes()


def resumed(part, folder):
    """The bytes of the table that goes on with what `part` has, and how many points were left to solve."""
    left = []
    nc.build_database(DATA / "wout_li383_1.4m.nc", part=part, progress=lambda stage, fraction, detail: left.append(detail["total"]),
                      **TABLE).save(folder / "Dij.h5")
    assert not part.exists()
    return (folder / "Dij.h5").read_bytes(), left[-1]


def test_an_interrupted_database_goes_on_to_the_same_bytes(whole, tmp_path):
    def stop(stage, fraction, detail):
        if stage == "solving" and 0 < fraction < 1:
            raise KeyboardInterrupt

    threads = sonde.thread_count()
    sonde.set_thread_count(1)
    try:
        with pytest.raises(KeyboardInterrupt):
            nc.build_database(DATA / "wout_li383_1.4m.nc", part=tmp_path / "kept.part", progress=stop, **TABLE)
    finally:
        sonde.set_thread_count(threads)
    made, left = resumed(tmp_path / "kept.part", tmp_path)
    assert 0 < left < POINTS and made == whole


def test_a_killed_database_goes_on_to_the_same_bytes(whole, tmp_path):
    ended = subprocess.run([sys.executable, "-c", KILLED, DATA / "wout_li383_1.4m.nc", tmp_path / "kept.part"], check=False)
    assert ended.returncode == -signal.SIGKILL
    made, left = resumed(tmp_path / "kept.part", tmp_path)
    assert 0 < left < POINTS and made == whole


def test_electric_fields_need_the_file_no_more(tmp_path):
    shutil.copy(WOUT, tmp_path / "wout.nc")
    surface = nc.Surface.vmec(tmp_path / "wout.nc", rho=0.6)
    (tmp_path / "wout.nc").unlink()
    there = nc.prepare(nc.Surface.vmec(WOUT, rho=0.6), nc.Grid(9, 1, 8))
    gone = nc.prepare(surface, nc.Grid(9, 1, 8))
    assert gone.solve(0.1, er_tilde=1e-3) == there.solve(0.1, er_tilde=1e-3)
    assert gone.solve(0.1, er_hat=1e-3) == there.solve(0.1, er_hat=1e-3)  # the second time from what the first found


def test_what_is_per_s_is_converted_with_the_flux_of_the_file():
    """This file has an edge flux of -2.419 T m^2 and, at s = 0.25, G = -16.200 T m; the numbers as published, to four digits."""
    psi_a = -2.419 / (2 * np.pi)
    plan = nc.prepare(nc.Surface.vmec(DATA / "wout_w7x_standardConfig.nc", s=0.25), nc.Grid(25, 25, 2))
    result = plan.solve(0.1, epsi_hat=1e-3)
    made = nc.convert(result, "ntx", plan=plan)
    assert made["G"] == pytest.approx(-16.200, abs=1e-3)
    assert made["D11"] == pytest.approx(result.D11 * psi_a**2, rel=5e-4)
    assert made["D31"] == pytest.approx(result.D31 * psi_a, rel=3e-4)
    assert made["D33"] == result.D33
    assert made["e_hat"] == pytest.approx(1e-3 / psi_a, rel=3e-4)


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


def test_an_equilibrium_gives_the_lengths_of_its_stars():
    """As if they were given; a surface of harmonics has none."""
    surface = nc.Surface.vmec(DATA / "wout_circular_tokamak.nc", s=0.25)
    plan = nc.prepare(surface, nc.Grid(9, 1, 8))
    scan = plan.scan([1e-2, 1e-1])
    made = nc.convert(scan, "stars", plan=plan)
    given = nc.convert(scan, "stars", plan=plan, radius=surface.a_b / 2, major_radius=surface.R0)
    for name in ("D11_star", "D31_star", "D33_star", "nu_star"):
        np.testing.assert_array_equal(made[name], given[name], err_msg=name)
    assert made["r"] == surface.a_b / 2 and made["R0"] == surface.R0
    assert surface.psi_a != 0 and 0 < surface.a_b < surface.R0
    bare = nc.Surface.demo()
    assert (bare.a_b, bare.R0, bare.psi_a) == (None, None, None)


def test_a_conversion_never_replaces_the_equilibrium_of_its_points(tmp_path):
    wout = tmp_path / "wout.nc"
    shutil.copyfile(DATA / "wout_circular_tokamak.nc", wout)
    os.link(wout, tmp_path / "hard.nc")
    (tmp_path / "soft.nc").symlink_to(wout)
    plan = nc.prepare(nc.Surface.vmec(wout, s=0.25), nc.Grid(9, 1, 8))
    points, before = plan.solve(1e-2), wout.read_bytes()
    for name in ("wout.nc", "hard.nc", "soft.nc"):
        with pytest.raises(sonde.Error, match="an output never replaces an input") as caught:
            nc.convert(points, "dkes", plan=plan, output=tmp_path / name)
        assert caught.value.kind == "bad_input" and wout.read_bytes() == before
        assert (tmp_path / "hard.nc").samefile(wout)


def plan_of(surface):
    return nc.prepare(surface, nc.Grid(5, 7, 6, discretisation="collocation"))


def test_surfaces_of_files_under_the_names_of_ntx():
    dkes = ntx.load_dkes_surface(DATA / "w7x_eim_6modes.ddkes2.data")
    assert ntx.solve_monoenergetic(dkes, ntx.GridSpec(5, 7, 6), ntx.MonoenergeticCase(0.1)).D11 == plan_of(nc.Surface.dkes(DATA / "w7x_eim_6modes.ddkes2.data")).solve(0.1).D11
    wout = DATA / "wout_li383_1.4m.nc"
    vmec = ntx.load_vmec_surface(wout, psi_n=0.25, min_bmn_to_load=1e-3)
    assert ntx.solve_monoenergetic(vmec, ntx.GridSpec(5, 7, 6), ntx.MonoenergeticCase(0.1)).D31 == plan_of(nc.Surface.vmec(wout, s=0.25, min_bmn=1e-3)).solve(0.1).D31
    with pytest.raises(sonde.Error, match="vmec_nyquist_option 2"):
        ntx.load_vmec_surface(wout, psi_n=0.25, vmec_nyquist_option=2)
    path = DATA / "Dij_NTX_QI_Er_Optimized.h5"
    np.testing.assert_array_equal(ntx.load_neopax_reference_scan(path).D13, nc.Database.load(path).D13)


def test_a_boozer_surface_is_what_ntx_makes_of_the_file():
    """Its own formulas: harmonics as they lie in the file, iota and I with the other sign, psi_p as given."""
    path = DATA / "boozmn_li383_1.4m.nc"
    loaded = ntx.load_boozmn_surface(path, surface_index=3, min_bmn_to_load=1e-3)
    with netcdf_file(path, mmap=False) as file:
        full = int(file.variables["jlist"][3]) - 1
        iota, current, flux = (float(file.variables[name][full]) for name in ("iota_b", "buco_b", "bvco_b"))
        harmonics, periods = file.variables["bmnc_b"][3], int(file.variables["nfp_b"][()])
        kept = np.abs(harmonics / harmonics[0]) >= 1e-3
        m, n = (file.variables[name][:][kept] for name in ("ixm_b", "ixn_b"))
    sign = 1 if flux + iota * current >= 0 else -1
    expected = nc.Surface.analytic(m, n // periods, harmonics[kept], nfp=periods, iota=-iota, psi_p=1.0, b_theta=-sign * current, b_zeta=sign * flux)
    assert loaded.mode_count == kept.sum() and loaded.surface_index == 3 and loaded.rho == pytest.approx(np.sqrt(loaded.s))
    case = ntx.MonoenergeticCase(0.1, epsi_hat=1e-3)
    found, wanted = (ntx.solve_monoenergetic(each, ntx.GridSpec(9, 11, 8), case) for each in (loaded, expected))
    for name in ("D11", "D31", "D13", "D33"):  # to the rounding of the tables of the file
        assert getattr(found, name) == pytest.approx(getattr(wanted, name), rel=1e-9), name
    half = ntx.load_boozmn_surface(path, surface_index=3, psi_p=0.5, min_bmn_to_load=1e-3)
    found, halved = (ntx.solve_monoenergetic(each, ntx.GridSpec(9, 11, 8), ntx.MonoenergeticCase(0.1)) for each in (loaded, half))
    assert [halved.D11, halved.D31, halved.D33] == pytest.approx([4 * found.D11, 2 * found.D31, found.D33], rel=1e-12)
    assert ntx.load_boozmn_surface(DATA / "boozmn_HSX_QHS_vacuum_ns201.nc", s=0.5025, min_bmn_to_load=1e-3).mode_count > 4  # states no flux
    with pytest.raises(sonde.Error, match="exactly one of"):
        ntx.load_boozmn_surface(path, s=0.5, rho=0.7)
