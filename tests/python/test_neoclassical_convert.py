# SPDX-License-Identifier: Apache-2.0
"""sonde.neoclassical.convert against the definitions of the other programs, written with NumPy."""

import math

import h5py
import numpy as np
import pytest

import sonde.neoclassical as nc
from test_neoclassical import FIELD, error_of
from test_neoclassical_database import NU_V

B0, IOTA, PSI_P, G, I = FIELD["b_cos"][0], FIELD["iota"], FIELD["psi_p"], FIELD["b_zeta"], FIELD["b_theta"]
RADIUS, MAJOR_RADIUS = 0.25, 5.5
LENGTHS = dict(radius=RADIUS, major_radius=MAJOR_RADIUS)

#: (3 sqrt(pi)/4) (erf(1) - Ch(1)), Ch(x) = (erf x - x erf'(x)) / (2 x^2): nu_D of SFINCS at the thermal speed.
DEFLECTION = 0.75 * math.sqrt(math.pi) * (math.erf(1) - (math.erf(1) - 2 / math.sqrt(math.pi) * math.exp(-1)) / 2)

NAMES = {"ntx": ("D11", "D31", "D13", "D33", "nu_hat", "e_hat"), "dkes": ("D11", "D31", "D13", "D33", "nu_hat", "er_hat"),
         "sfincs": ("M11", "M12", "M21", "M22", "nu_prime", "e_star"),
         "stars": ("D11_star", "D31_star", "D13_star", "D33_star", "nu_star", "v_e_star")}


@pytest.fixture(scope="module")
def plan():
    """A surface whose coefficients are per metre of an r with dpsi/dr = psi_p."""
    return nc.prepare(nc.Surface.analytic(**FIELD), nc.Grid(5, 7, 6))


@pytest.fixture(scope="module")
def scan(plan):
    return plan.scan(NU_V, er_hat=[0, 1e-3])


def expected(scan, to):
    """The definitions, from coefficients per r."""
    nu_hat, epsi_hat = np.broadcast_arrays(scan.nu_v[:, np.newaxis], scan.epsi_hat)
    D11, D31, D13 = scan.D11 * PSI_P**2, scan.D31 * PSI_P, scan.D13 * PSI_P  # per psi
    J, root_pi = G + IOTA * I, np.sqrt(np.pi)
    if to == "ntx":
        return D11, D31, D13, scan.D33, nu_hat, epsi_hat
    if to == "dkes":
        return scan.D11, scan.D31, scan.D13, scan.D33, nu_hat, epsi_hat * PSI_P
    if to == "sfincs":
        return (-8 * J * B0 * D11 / (root_pi * G**2), -4 * B0 * D13 / (root_pi * G), 4 * B0 * D31 / (root_pi * G),
                2 * B0 * scan.D33 / (root_pi * J), nu_hat * abs(J) / (DEFLECTION * B0), epsi_hat * G / (IOTA * B0))
    inverse_aspect = RADIUS / MAJOR_RADIUS
    d31 = 1.5 * inverse_aspect * IOTA * B0 / (1.46 * np.sqrt(inverse_aspect))
    return (scan.D11 * (8 / np.pi) * MAJOR_RADIUS * B0**2 * IOTA, scan.D31 * d31, scan.D13 * d31, 1.5 * nu_hat * scan.D33,
            MAJOR_RADIUS * nu_hat / IOTA, epsi_hat * PSI_P / B0)


@pytest.mark.parametrize("to", NAMES)
def test_a_scan_follows_the_definitions(plan, scan, to):
    made = nc.convert(scan, to, plan=plan, **LENGTHS)
    for name, values in zip(NAMES[to], expected(scan, to), strict=True):
        assert made[name].shape == (3, 2)
        np.testing.assert_allclose(made[name], values, rtol=1e-13, err_msg=name)  # some ten roundings
    assert list(made)[:6] == list(NAMES[to])


def test_the_deflection_frequency_is_the_published_one():
    assert DEFLECTION == pytest.approx(0.836027680488, rel=1e-12)


def test_one_case_gives_numbers(plan, scan):
    made = nc.convert(plan.solve(NU_V[1], er_hat=1e-3), plan=plan)
    assert type(made["M11"]) is float and made["M11"] == nc.convert(scan, plan=plan)["M11"][1, 1]
    assert (made["B0"], made["psi_p"]) == (B0, PSI_P) and made["G"] == pytest.approx(G, rel=1e-14)


@pytest.mark.parametrize("code", NAMES)
def test_there_and_back(plan, scan, code):
    psi = nc.convert(scan, "ntx", plan=plan)
    back = nc.convert(nc.convert(scan, code, plan=plan, **LENGTHS), "ntx", from_=code)
    for name in NAMES["ntx"]:
        np.testing.assert_allclose(back[name], psi[name], rtol=1e-13, err_msg=name)


@pytest.mark.parametrize("suffix", [".h5", ".nc", ".npz"])
def test_files_are_read_and_written(plan, scan, tmp_path, suffix):
    one = nc.convert(plan.solve(1e-2, er_hat=1e-3), "sfincs", plan=plan, output=tmp_path / f"one{suffix}")
    many = nc.convert(scan, "sfincs", plan=plan, output=tmp_path / f"many{suffix}")
    assert nc.convert(tmp_path / f"one{suffix}", "sfincs", "sfincs")["M12"] == pytest.approx(one["M12"], rel=1e-14)
    read = nc.convert(tmp_path / f"many{suffix}", "dkes", "sfincs")
    np.testing.assert_allclose(read["D11"], scan.D11.ravel(), rtol=1e-13)
    if suffix != ".npz":
        with h5py.File(tmp_path / f"many{suffix}") as file:
            assert np.array_equal(file["M22"][()], many["M22"].ravel()) and file["B0"][()] == B0


def test_tables_of_a_file_keep_their_axes(tmp_path):
    table = np.arange(1.0, 13).reshape(2, 2, 3)
    numbers = {"rho": [0.5, 0.8], "nu_v": [0.01, 0.1], "field": [0, 1, 2], "epsi_hat": [[0, 0.06, 0.12], [0, 0.04, 0.08]],
               "iota": [0.9, 0.8], "B0": [2, 2.1], "G": [10, 11], "I": [0.5, 0.4], "psi_scale": [1, 1], "R0": [5, 5.1], "a_b": 0.4,
               "D11": table, "D31": -table, "D13": table, "D33": 100 * table}
    with h5py.File(tmp_path / "scan.h5", "w") as file:
        for name, values in numbers.items():
            file[name] = np.asarray(values, float)
    assert "psi_a, toroidal flux" in error_of("bad_input", nc.convert, tmp_path / "scan.h5", "dkes").hint
    made = nc.convert(tmp_path / "scan.h5", "dkes", psi_a=0.3)
    slope = 0.4 / (2 * np.array(numbers["rho"]))  # dr/ds = a_b / (2 rho)
    np.testing.assert_allclose(made["D11"], table * slope[:, np.newaxis, np.newaxis] ** 2, rtol=1e-13)
    np.testing.assert_allclose(made["er_hat"], np.array(numbers["epsi_hat"]) / slope[:, np.newaxis], rtol=1e-13)
    assert made["nu_hat"].shape == (2, 2) and made["psi_p"].shape == (2,) and made["field"].tolist() == [0, 1, 2]


def test_a_failed_point_stays_nan(plan, scan):
    numbers = nc.convert(scan, "ntx", plan=plan)
    numbers["D11"] = np.where(np.arange(2) == 1, np.nan, numbers["D11"])
    made = nc.convert(numbers, "dkes")["D11"]
    assert np.isnan(made[:, 1]).all() and np.isfinite(made[:, 0]).all()


def test_errors_of_conversions(plan, scan, tmp_path):
    psi = nc.convert(scan, "ntx", plan=plan)
    assert error_of("usage", nc.convert, scan).hint == "plan= is what solved them"
    assert "no quantity M11" in error_of("bad_input", nc.convert, psi, "dkes", "sfincs").message
    assert "no quantity iota" in error_of("bad_input", nc.convert, {**{n: 1 for n in NAMES["ntx"]}, "B0": 1}).message
    assert "R0 is 0" in error_of("bad_input", nc.convert, psi, "stars", radius=0.2).message
    assert "G is 0" in error_of("bad_input", nc.convert, {**psi, "G": 0}, "sfincs").message
    assert "sfinks" in error_of("usage", nc.convert, psi, "sfinks").message
    assert 'did you mean "radius"' in error_of("usage", nc.convert, psi, raduis=1).message
    assert ".nc, .h5 or .npz" in error_of("usage", nc.convert, psi, output=tmp_path / "out.txt").message
    error_of("bad_file", nc.convert, tmp_path / "gone.h5")
    assert "converting" in error_of("bad_input", nc.convert, _saved(psi, tmp_path), "ntx", "stars").activities[0]


def _saved(numbers, folder):
    nc.convert(numbers, "ntx", output=folder / "psi.h5")
    return folder / "psi.h5"


def test_a_conversion_never_replaces_its_input(plan, tmp_path):
    first, link = tmp_path / "first.nc", tmp_path / "link.nc"
    nc.convert(plan.solve(1e-2, er_hat=1e-3), "sfincs", plan=plan, output=first)
    link.symlink_to(first)
    before = first.read_bytes()
    for output in (first, link):
        assert "an output never replaces an input" in str(error_of("bad_input", nc.convert, first, "dkes", "sfincs", output=output))
    assert first.read_bytes() == before
