# SPDX-License-Identifier: Apache-2.0
"""Databases of sonde.neoclassical against h5py, their own points solved one by one, and exact relations of transport."""

import os

import h5py
import numpy as np
import pytest

import sonde
import sonde.neoclassical as nc
from test_neoclassical import FIELD, error_of

TABLES = ("D11", "D31", "D13", "D33", "D33_spitzer")
RHO, NU_V, ER_TILDE = np.array([0.3, 0.5, 0.8]), np.array([1e-3, 1e-2, 1e-1]), np.array([0, 1e-4, 1e-3])


def write_database(path, change=lambda tables: None):
    """The layout written by h5py alone: smooth tables whose Er, Es and drds follow the algebra of the format."""
    a_b, psia, b00 = 0.5, 0.3, np.array([2.5, 2.6, 2.7])
    drds = a_b / (2 * RHO)
    slope = 2 * psia / (a_b**2 * b00)
    tables = {"rho": RHO, "nu_v": NU_V, "Er_tilde": ER_TILDE, "drds": drds, "dr_tildedr": slope, "dr_tildeds": slope * drds,
              "Er": np.outer(slope * b00, ER_TILDE), "Es": np.outer(slope * drds * b00, ER_TILDE),
              "Er_to_Ertilde": np.outer(1 / slope, np.ones(3)), "B00": b00, "R00": np.full(3, 5.5), "G": np.full(3, 14.0),
              "I": np.full(3, 0.01), "iota": np.array([0.85, 0.88, 0.92])}
    rho, nu, field = np.meshgrid(RHO, NU_V, ER_TILDE, indexing="ij")
    tables["D11"] = 1e-2 * (nu + 1e-4 / (nu + 10 * field)) * rho**2
    tables["D31"] = 0.03 * rho * np.exp(-nu)
    tables["D13"] = -tables["D31"]
    tables["D33_spitzer"] = 2 / (3 * nu)
    tables["D33"] = 0.9 * tables["D33_spitzer"]
    change(tables)
    with h5py.File(path, "w") as file:
        for name, values in tables.items():
            file[name] = values
        file.attrs.update(a_b=a_b, psia=psia, source_name="a test", format_version=2)
    return tables


@pytest.fixture(scope="module")
def stored(tmp_path_factory):
    path = tmp_path_factory.mktemp("database") / "Dij.h5"
    return path, write_database(path)


@pytest.fixture(scope="module")
def database(stored):
    return nc.Database.load(stored[0])


def test_what_h5py_wrote_is_read(stored, database):
    for name in ("rho", "nu_v", "Er_tilde", *TABLES):
        assert np.array_equal(getattr(database, name), stored[1][name]), name
    assert np.allclose(database.Er, stored[1]["Er"], rtol=1e-14) and np.allclose(database.Es, stored[1]["Es"], rtol=1e-14)
    assert np.array_equal(database.geometry["iota"], stored[1]["iota"])
    assert (database.a_b, database.psia, database.source_name) == (0.5, 0.3, "a test")
    assert repr(database) == "<sonde.neoclassical.Database of 3 radii, 3 collisionalities, 3 fields>"


def test_what_is_saved_h5py_reads_and_equal_databases_are_equal_bytes(stored, database, tmp_path):
    database.save(tmp_path / "a.h5")
    with h5py.File(tmp_path / "a.h5") as file:
        for name in ("rho", "nu_v", "Er_tilde", "B00", "R00", "G", "I", "iota", *TABLES):
            assert file[name].dtype == np.float64 and np.array_equal(file[name][()], stored[1][name]), name
        assert file.attrs["format_version"] == 2 and file.attrs["a_b"] == 0.5
    nc.Database.load(tmp_path / "a.h5").save(tmp_path / "b.h5")
    assert (tmp_path / "a.h5").read_bytes() == (tmp_path / "b.h5").read_bytes()


def test_arrays_are_the_databases_own_memory(stored):
    loaded = nc.Database.load(stored[0])
    d11 = loaded.D11
    assert not d11.flags.writeable and not d11.flags.owndata
    assert nc.Database(loaded._database).D11.__array_interface__["data"] == d11.__array_interface__["data"]
    del loaded
    assert np.array_equal(d11, stored[1]["D11"])


def test_flat_profiles_drive_nothing(database):
    """Without gradients and field every force is zero, and so are fluxes and current."""
    flat = {"rho": [0.1, 0.9], "n_e": [1e19, 1e19], "T_e": [1e3, 1e3], "n_D": [1e19, 1e19], "T_D": [1e3, 1e3]}
    made = database.profiles(flat, rho=[0.4, 0.6], E_r=0)
    assert set(made.species_names) == {"e", "D"} and made.gamma.shape == (2, 2) and made.L.shape == (2, 2, 3, 3)
    assert not made.gamma.any() and not made.q.any() and not made.total_current.any()
    assert not made.without_root.any() and not made.left_out.any()
    assert repr(made).endswith("at 2 radii>")
    assert np.array_equal(database.fluxes(flat, rho=[0.4, 0.6], E_r=0).gamma, made.gamma)


def test_a_field_along_b_drives_a_current_by_l33(database):
    """U = -n L33 A3 with A3 = -(q/T) E: the current is the sum of n q^2 L33 E / T."""
    without, driven = (database.profiles(rho=[0.5], E_r=0, energies=16, momentum_correction="none", E_par=field)
                       for field in (0, 0.1))
    e = 1.602176634e-19
    assert not without.A3.any()
    expected = -without.L[0, :, 2, 2] * driven.A3[0]  # per particle
    grown = driven.u_par[0] - without.u_par[0]
    density = grown / expected
    assert (density > 1e18).all() and density[0] == pytest.approx(density[1:].sum(), rel=1e-9)
    assert driven.total_current[0] - without.total_current[0] == pytest.approx((grown * np.sign(driven.A3[0]) * -e).sum(), rel=1e-9)


def test_a_radius_without_a_stable_field_has_no_numbers(database):
    made = database.profiles(rho=[0.5], energies=16, E_r_lowest=49e3, E_r_highest=50e3, E_r_points=3)
    assert made.without_root[0] == 1
    assert np.isnan(made.E_r[0]) and np.isnan(made.gamma).all() and np.isnan(made.corrected_total_current[0])


def test_a_plasma_that_is_not_neutral_is_refused(database):
    wrong = {"rho": [0.1, 0.9], "n_e": [2e19, 2e19], "T_e": [1e3, 1e3], "n_D": [1e19, 1e19], "T_D": [1e3, 1e3]}
    assert "not neutral" in error_of("bad_input", database.profiles, wrong, rho=[0.5]).message


def test_fluxes_are_the_matrix_times_the_forces(database):
    """Gamma = -n (L11 A1 + L12 A2), Q = -n T (L21 A1 + L22 A2), and currents are charges times flows."""
    made = database.profiles({"n0": 4.21, "T0": 10.0}, rho=[0.5], energies=16, momentum_correction="none")
    n = 1e20 * (4.21 * (1 - 0.5**10) + 0.6)
    T = 1e3 * 1.602176634e-19 * (10.0 * (1 - 0.5**2) + 0.7)
    electron = made.species_names.index("e")
    L, A1, A2 = made.L[0, electron], made.A1[0, electron], made.A2[0, electron]
    assert made.gamma[0, electron] == pytest.approx(-n * (L[0, 0] * A1 + L[0, 1] * A2), rel=1e-12)
    assert made.q[0, electron] == pytest.approx(-n * T * (L[1, 0] * A1 + L[1, 1] * A2), rel=1e-12)
    assert made.current[0, electron] == pytest.approx(-1.602176634e-19 * made.u_par[0, electron], rel=1e-12)
    assert made.total_current[0] == pytest.approx(made.current[0].sum(), rel=1e-12)
    assert made.corrected_current is None


def test_no_current_crosses_a_surface_at_the_ambipolar_field(database):
    """It is that of the fluxes that are asked for."""
    for correction, fluxes in (("none", "gamma"), ("sonine", "corrected_gamma")):
        made = database.profiles(rho=[0.5], energies=16, momentum_correction=correction)
        gamma = getattr(made, fluxes)[0]
        charges = np.array([-1 if name == "e" else 1 for name in made.species_names])
        assert made.E_r[0] in made.roots[0]
        # A root is found to 1e-6 of a step of the field's grid, some 0.3 V/m of 1e4.
        assert abs((charges * gamma).sum()) < 1e-4 * abs(gamma).max()
    assert np.isfinite(made.corrected_total_current).all()


def test_profiles_of_a_file_are_those_of_its_arrays(database, tmp_path):
    columns = {"rho": [0.1, 0.5, 0.9], "n_e": [3e19, 2e19, 1e19], "T_e": [3e3, 2e3, 1e3 / 3], "n_H": [3e19, 2e19, 1e19],
               "T_H": [2e3, 1.5e3, 1e3], "Er": [-1e3, -2e3, -3e3]}
    with h5py.File(tmp_path / "plasma.h5", "w") as file:
        for name, values in columns.items():
            file[name] = np.array(values, float)
    of_file = database.profiles(tmp_path / "plasma.h5", rho=[0.5], energies=16, output=tmp_path / "out.h5")
    of_arrays = database.profiles(columns, rho=[0.5], energies=16)
    assert of_file.E_r[0] == of_arrays.E_r[0] == -2e3
    assert np.array_equal(of_file.gamma, of_arrays.gamma) and np.array_equal(of_file.L, of_arrays.L)
    with h5py.File(tmp_path / "out.h5") as file:
        assert np.array_equal(file["gamma"][()], of_file.gamma)


def test_errors_of_databases(database, tmp_path):
    assert "D11" in error_of("bad_file", nc.Database.load, _changed(tmp_path, lambda t: t.pop("D11"))).message
    negative = nc.Database.load(_changed(tmp_path, lambda t: t["D11"].__setitem__((0, 0, 0), -1)))
    assert "D11" in error_of("bad_input", negative.save, tmp_path / "no.h5").message
    assert "n_D" in error_of("bad_file", database.profiles, {"rho": [0.1, 0.9], "T_D": [1, 1]}).message
    assert "density" in error_of("usage", database.profiles, {"density": 3}).message
    assert "different shapes" in error_of("bad_input", database.profiles, {"rho": [0.1, 0.9], "n_e": [1]}).message
    assert 'did you mean "energies"' in error_of("usage", database.profiles, energie=3).message
    assert "no radius" in error_of("bad_input", database.profiles, rho=[]).message
    error_of("bad_file", nc.build_database, tmp_path / "gone.nc")
    assert error_of("usage", nc.build_database, "w", surface_backend="boozer").hint
    assert error_of("usage", nc.build_database, "w", threads=2).hint == "sonde.set_thread_count()"
    error_of("bad_file", nc.boozer, tmp_path / "gone.nc", tmp_path / "b.nc")


def _changed(folder, change):
    write_database(folder / "changed.h5", change)
    return folder / "changed.h5"


def test_a_convergence_study_ends_where_the_change_is_small():
    surface = nc.Surface.analytic(**FIELD)
    study = nc.convergence(surface, nc.Grid(5, 5, 6), nu_hat=0.1, refine="n_xi", tol=1e-3, steps=6)
    assert study.converged and study.error <= 1e-3
    assert study.steps[0].grid == (5, 5, 6) and study.steps[0].refined == ""
    first, last = study.steps[0], study.steps[-1]
    assert last.grid[:2] == (5, 5) and last.grid[2] > 6 and last.refined == "n_xi"
    finest = nc.prepare(surface, nc.Grid(*last.grid)).solve(nu_hat=0.1)
    assert last.coefficients.D11 == finest.D11 and first.coefficients.n_xi == 6
    assert 'expected n_xi' in error_of("usage", nc.convergence, surface, nu_hat=1, refine="zeta").message


def test_results_never_replace_the_database_that_they_are_of(tmp_path):
    path = tmp_path / "Dij.h5"
    write_database(path)
    os.link(path, tmp_path / "hard.h5")
    (tmp_path / "soft.h5").symlink_to(path)
    database, before = nc.Database.load(path), path.read_bytes()
    for name in ("Dij.h5", "hard.h5", "soft.h5"):
        for call in (database.save, lambda path: database.profiles(output=path)):
            with pytest.raises(sonde.Error, match="an output never replaces an input") as caught:
                call(tmp_path / name)
            assert caught.value.kind == "bad_input" and path.read_bytes() == before
            assert (tmp_path / "hard.h5").samefile(path)
