# SPDX-License-Identifier: Apache-2.0
"""Surfaces, plans and scans of sonde.neoclassical against a dense NumPy solution, exact relations and published numbers."""

import dataclasses
import doctest
import threading

import h5py
import numpy as np
import pytest

import drift_kinetic
import sonde
import sonde.neoclassical as nc
from sonde.compat import ntx
from sonde.compat.ntx import GridSpec, MonoenergeticCase

NAMES = ("D11", "D31", "D13", "D33")
FIELD = dict(m=[0, 1, 1, 2], n=[0, 0, 1, -1], b_cos=[1.1, 0.07, 0.03, -0.02], nfp=3, iota=0.61, psi_p=0.8, b_theta=0.07, b_zeta=1.3)


@pytest.fixture(scope="module")
def surface():
    return nc.Surface.analytic(**FIELD)


@pytest.fixture(scope="module")
def plan(surface):
    return nc.prepare(surface, nc.Grid(5, 7, 6))


def error_of(kind, call, *arguments, **options):
    with pytest.raises(sonde.Error) as caught:
        call(*arguments, **options)
    assert caught.value.kind == kind, str(caught.value)
    return caught.value


@pytest.mark.parametrize("epsi_hat", [0.0, 2e-3])
def test_collocation_is_the_dense_solution(surface, epsi_hat):
    result = nc.prepare(surface, nc.Grid(5, 7, 6, discretisation="collocation")).solve(nu_hat=0.02, epsi_hat=epsi_hat)
    expected = drift_kinetic.collocation(drift_kinetic.Surface(**FIELD, n_theta=5, n_zeta=7), 6, 0.02, epsi_hat)
    for name in NAMES:  # two eliminations of a system whose condition is some 1e4
        assert getattr(result, name) == pytest.approx(expected[name], rel=1e-10), name
    assert result.path == "dense" and result.n_xi == 6


def test_skew_gives_the_numbers_of_the_prototype():
    """An independent prototype of the skew discretisation, 9 x 9 x 8."""
    result = nc.prepare(nc.Surface.demo(), nc.Grid(9, 9, 8)).solve(nu_hat=1e-2, er_hat=1e-3)
    assert result.D11 == pytest.approx(2.8779048679e-3, rel=1e-8)
    assert result.D31 == pytest.approx(-1.0783719197e-1, rel=1e-8)
    assert result.D33 == pytest.approx(47.052752430, rel=1e-8)


def test_relations_that_hold_on_every_grid(plan):
    result = plan.solve(nu_hat=1e-3, epsi_hat=1e-3)
    assert result.D13 == pytest.approx(-result.D31, rel=1e-11)  # Onsager, to rounding
    assert result.onsager_residual < 1e-11 and result.residual < 1e-8
    assert result.D11 > 0 and 0 < result.D33 < result.D33_spitzer
    assert (result.nu_hat, result.epsi_hat, result.error) == (1e-3, 1e-3, 0)


def test_a_uniform_field_has_only_resistance():
    uniform = nc.Surface.analytic([0], [0], [2.0], nfp=1, iota=0.3, psi_p=1, b_theta=0.1, b_zeta=1)
    result = nc.prepare(uniform, nc.Grid(5, 5, 4)).solve(nu_hat=0.1)
    assert result.D33 == pytest.approx(2 / (3 * 0.1), rel=1e-12)
    assert max(abs(result.D11), abs(result.D31), abs(result.D13)) < 1e-12


def test_a_scan_is_its_cases_bit_for_bit(plan):
    nu_v, fields = [1e-3, 1e-2, 1.0], [0.0, 1e-3]
    scan = plan.scan(nu_v, epsi_hat=fields)
    for i, nu in enumerate(nu_v):
        for j, field in enumerate(fields):
            one = plan.solve(nu_hat=nu, epsi_hat=field)
            for name in (*NAMES, "D33_spitzer", "residual", "onsager_residual"):
                assert getattr(scan, name)[i, j] == getattr(one, name)
            assert ("dense", "spd", "quasidefinite", "krylov")[scan.path_code[i, j]] == one.path
    assert scan.D11.shape == (3, 2) and scan.D11.dtype == np.float64
    assert np.array_equal(scan.nu_v, nu_v) and np.array_equal(scan.epsi_hat, fields) and scan.field_name == "epsi_hat"
    assert not scan.status.any() and not any(scan.messages) and (scan.n_xi_used == 6).all()


def test_single_precision_is_refined_and_tells_where_it_does_not_suffice():
    surface, grid = nc.Surface.demo(), nc.Grid(9, 9, 16)
    full, single = nc.prepare(surface, grid), nc.prepare(surface, grid, precision="f32-refine")
    a, b = full.solve(nu_hat=1e-2, epsi_hat=1e-3), single.solve(nu_hat=1e-2, epsi_hat=1e-3)
    assert (a.precision, a.iterations, b.precision) == ("f64", 0, "f32-refine") and b.iterations > 0
    assert (b.D11, b.D31, b.D33) == pytest.approx((a.D11, a.D31, a.D33), rel=1e-8)
    scan = single.scan([1e-6, 1e-2], epsi_hat=[0.0])
    assert scan.precision_code.tolist() == [[0], [1]] and scan.iterations[1, 0] > 0


def test_a_scan_takes_numbers_of_numpy_exactly(plan):
    nu_v = np.geomspace(1e-3, 1, 4)
    assert np.array_equal(plan.scan(nu_v).nu_v, nu_v)
    assert np.array_equal(plan.scan(nu_v[::2].astype(np.float32)).nu_v, nu_v[::2].astype(np.float32))
    assert plan.scan(0.1, 1e-3).D11.shape == (1, 1)


def test_points_are_of_the_cpu_unless_a_gpu_is_there_and_asked_for(plan):
    cpu = plan.scan([0.1, 1.0], epsi_hat=[0.0, 1e-3])
    auto = plan.scan([0.1, 1.0], epsi_hat=[0.0, 1e-3], device="auto")
    assert cpu.device == "cpu" and auto.device in ("cpu", "cuda:0")
    assert auto.D11 == pytest.approx(cpu.D11, rel=1e-10)
    error_of("device", plan.scan, [0.1], device="cuda:99")
    error_of("usage", plan.scan, [0.1], device="tpu")


def test_er_hat_is_epsi_hat_times_psi_p(plan, surface):
    assert surface.psi_scale == 0.8
    scan = plan.scan([0.1], er_hat=[0, 1e-3])
    assert np.allclose(scan.epsi_hat, [0, 1e-3 / 0.8], rtol=1e-15) and scan.field_name == "er_hat"
    assert scan.D11[0, 1] == plan.solve(nu_hat=0.1, er_hat=1e-3).D11


def test_a_point_without_an_answer_is_told(surface):
    """iota m + n nfp = 0 for (3, -1): on rational surfaces collocation has no answer."""
    rational = nc.Surface.analytic(**{**FIELD, "iota": 1.0})
    scan = nc.prepare(rational, nc.Grid(7, 7, 4, discretisation="collocation")).scan([0.1])
    assert np.isnan(scan.D11).all() and scan.status[0, 0] == 3 and scan.messages[0].startswith("resonant (")
    assert "1 without an answer" in repr(scan)


def test_the_field_is_the_plans_own_memory(plan):
    first, again = plan.field, plan.field
    expected = drift_kinetic.Surface(**FIELD, n_theta=5, n_zeta=7)
    assert first.b.__array_interface__["data"][0] == again.b.__array_interface__["data"][0]
    assert not first.b.flags.writeable and first.b.shape == (5, 7)
    assert np.allclose(first.b.ravel(), expected.b, rtol=1e-14)
    assert np.allclose(first.db_dzeta.ravel(), expected.b_by_zeta, atol=1e-14)
    assert np.allclose(np.abs(first.jacobian.ravel()), expected.jacobian, rtol=1e-14)
    assert first.b2_mean == pytest.approx(expected.average(expected.b**2), rel=1e-14)


def test_arrays_of_the_plan_outlive_it(surface):
    b = nc.prepare(surface, nc.Grid(5, 7, 6)).field.b
    assert 1.0 < b.mean() < 1.2


def test_modes_are_the_solution(surface):
    """D11 and D33 are averages of the Legendre coefficients."""
    modes = nc.prepare(surface, nc.Grid(5, 7, 6, discretisation="collocation")).modes(nu_hat=0.1)
    assert modes.f1.shape == modes.f3.shape == (3, 5, 7)
    flat = np.stack([modes.f1, modes.f3]).reshape(2, 3, 35)
    expected = drift_kinetic.coefficients(drift_kinetic.Surface(**FIELD, n_theta=5, n_zeta=7), flat)
    for name in NAMES:
        assert getattr(modes.coefficients, name) == pytest.approx(expected[name], rel=1e-12), name


def test_harmonics_come_back(surface):
    assert surface.harmonics.m.tolist() == FIELD["m"] and surface.harmonics.n.tolist() == FIELD["n"]
    assert surface.harmonics.cosine.tolist() == FIELD["b_cos"] and surface.harmonics.sine is None
    assert (surface.nfp, surface.iota, surface.B0, surface.symmetric, surface.radial_label) == (3, 0.61, 1.1, True, "r")
    lopsided = nc.Surface.analytic(**FIELD, b_sin=[0, 0, 1e-3, 0])
    assert not lopsided.symmetric and lopsided.harmonics.sine[2] == 1e-3


def test_legendre_modes_are_found(surface):
    plan = nc.prepare(surface, nc.Grid(5, 7, 6), adapt_n_xi=1e-3)
    found = plan.solve(nu_hat=0.05)
    finest = nc.prepare(surface, nc.Grid(5, 7, 4 * found.n_xi)).solve(nu_hat=0.05)
    assert found.n_xi != 6 and 0 < found.error <= 1e-3
    assert found.D11 == pytest.approx(finest.D11, rel=1e-3)


def test_several_threads_solve_with_one_plan(plan):
    expected = plan.solve(nu_hat=1e-2).D11
    found = []
    threads = [threading.Thread(target=lambda: found.append(plan.solve(nu_hat=1e-2).D11)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [expected] * 4


def test_progress_is_told_and_ends_a_scan(plan):
    seen = []
    plan.scan(np.geomspace(0.1, 1, 5), progress=lambda stage, fraction, detail: seen.append((stage, fraction, detail["total"])))
    assert seen[-1] == ("solving", 1.0, 5)

    def stop(*_):
        raise ValueError("enough")
    with pytest.raises(ValueError, match="enough"):
        plan.scan(np.geomspace(0.1, 1, 5), progress=stop)


def test_errors_of_usage(plan, surface):
    assert error_of("usage", nc.Grid, n_theat=9).message == 'unknown key "n_theat" in Grid(); did you mean "n_theta"?'
    assert "solve()" in error_of("usage", plan.solve, nu_hat="much").message
    assert error_of("usage", nc.prepare, surface, nc.Grid(5, 5, 4), threads=2).hint == "sonde.set_thread_count()"
    assert error_of("usage", nc.prepare, surface, nc.Grid(5, 5, 4), device="cuda").hint == "plan.scan(..., device=)"
    assert "one surface" in error_of("usage", plan.scan, [0.1], rho=[0.5]).message
    assert 'did you mean "quasidefinite"' in error_of("usage", nc.prepare, surface, path="quasidefinit").message


def test_errors_of_input(plan, surface):
    assert "n_theta" in str(error_of("bad_input", nc.Grid, 8, 9, 6)) and "9" in str(error_of("bad_input", nc.Grid, 8, 9, 6))
    assert nc.Grid(8, 9, 6, round_odd=True) == nc.Grid(9, 9, 6)
    assert "above zero" in error_of("bad_input", plan.solve, nu_hat=0).message
    assert "nu_hat" in error_of("bad_input", plan.solve).message
    assert "twice" in error_of("bad_input", plan.solve, nu_hat=1, epsi_hat=0, er_hat=0).message
    assert "equilibrium" in error_of("bad_input", plan.solve, nu_hat=1, er_tilde=1e-3).message
    assert "nu_v" in error_of("bad_input", plan.scan, []).message
    dense_only = nc.prepare(surface, nc.Grid(5, 7, 6), path="spd")
    assert "spd" in error_of("bad_input", dense_only.solve, nu_hat=1, epsi_hat=1e-3).message
    assert "is missing" in error_of("bad_input", nc.Surface.analytic, **{**FIELD, "iota": None}).message
    assert "harmonic" in str(error_of("bad_input", nc.Surface.analytic, **{**FIELD, "m": [0, 1, 1, 1], "n": [0, 0, 1, 1]}))


def test_errors_of_files_and_budget(tmp_path, plan):
    assert "gone.nc" in error_of("bad_file", nc.Surface.vmec, tmp_path / "gone.nc", s=0.5).message
    (tmp_path / "text.nc").write_text("no equilibrium")
    error_of("bad_file", nc.Surface.vmec, tmp_path / "text.nc", s=0.5)
    assert error_of("budget", plan.scan, [0.1], memory="1k").hint


def test_a_dkes_table(tmp_path, plan):
    rows = "".join(f"{m} {n} {b}\n" for m, n, b in zip(FIELD["m"], FIELD["n"], FIELD["b_cos"]))
    scalars = "nfp 3\niota 0.61\npsi_p 0.8\nb_theta 0.07\nb_zeta 1.3\n"
    (tmp_path / "surface.txt").write_text(scalars + rows)
    for surface in (nc.Surface.dkes(tmp_path / "surface.txt"), nc.Surface.open(tmp_path / "surface.txt")):
        assert nc.prepare(surface, plan.grid).solve(0.1).D31 == plan.solve(0.1).D31


def test_the_examples_of_the_documentation_are_true():
    for module in (nc, ntx):
        assert doctest.testmod(module).failed == 0


# Scripts of NTX after a change of their import.

GRID = GridSpec(5, 7, 6)


def words_of(kind, call, *arguments, **options):
    return str(error_of(kind, call, *arguments, **options))


def plan_of(surface, grid=GRID):
    return nc.prepare(surface, nc.Grid(grid.n_theta, grid.n_zeta, grid.n_xi, discretisation="collocation"))


def test_the_scripts_of_its_readme():
    """As printed there, NumPy in the place of jax.numpy."""
    names = {"jnp": np}
    exec("""
from sonde.compat.ntx import GridSpec, MonoenergeticCase, example_surface, solve_monoenergetic, solve_monoenergetic_scan
surface = example_surface()
grid = GridSpec(n_theta=9, n_zeta=11, n_xi=12)
case = MonoenergeticCase(nu_hat=1e-3, epsi_hat=0.0)
result = solve_monoenergetic(surface, grid, case)
grid = GridSpec(9, 11, 8)
nu_hat = jnp.logspace(-4, -2, 8)
epsi_hat = jnp.zeros_like(nu_hat)
coefficients = solve_monoenergetic_scan(surface, grid, nu_hat, epsi_hat=epsi_hat)
""", names)
    one = plan_of(nc.Surface.demo(), GridSpec(9, 11, 12)).solve(1e-3)
    assert (names["result"].D11, names["result"].D13, names["result"].D33) == (one.D11, one.D13, one.D33)
    plan = plan_of(nc.Surface.demo(), GridSpec(9, 11, 8))
    np.testing.assert_array_equal(names["coefficients"]["D31"], [plan.solve(nu).D31 for nu in names["nu_hat"]])


def test_one_case_has_coefficients_and_modes():
    surface, case = ntx.example_surface(), MonoenergeticCase(nu_hat=0.1, er_hat=1e-3)
    found, made = ntx.solve_monoenergetic(surface, GRID, case), plan_of(surface).modes(0.1, er_hat=1e-3)
    assert [found.D11, found.D31, found.D13, found.D33, found.D33_spitzer] == list(made.coefficients[:5])
    assert found.residual_l2 == found.schur_residual_l2 == made.coefficients.residual
    assert found.onsager_residual == abs(found.D13 + found.D31) == ntx.onsager_error(found.D31, found.D13)
    np.testing.assert_array_equal(found.f1_modes[1].reshape(5, 7, order="F"), made.f1[1])
    np.testing.assert_array_equal(found.f3_modes[2].reshape(5, 7, order="F"), made.f3[2])
    assert found.as_dict()["D33"] == found.D33 and "f1_modes" not in found.as_dict()
    prepared = ntx.prepare_monoenergetic_system(surface, GRID)
    assert prepared.geometry.b.shape == (5, 7)
    for again in (ntx.solve_prepared(prepared, case), ntx.compile_prepared_solver(prepared)(case), ntx.solve_scan(surface, GRID, (case, case))[1]):
        assert again.as_dict() == found.as_dict()


@pytest.mark.parametrize("field", ["epsi_hat", "er_hat"])
def test_scans_broadcast(field):
    nu_hat, fields = np.geomspace(0.01, 1, 4)[:, None], np.array([0, 1e-3, 1e-2])
    found = ntx.solve_monoenergetic_scan(nc.Surface.demo(), GRID, nu_hat, **{field: fields}, scan_batch_size=2)
    assert set(found) == {"D11", "D31", "D13", "D33", "D33_spitzer"} and found["D11"].shape == (4, 3)
    plan = plan_of(nc.Surface.demo())
    for i in range(4):
        for j in range(3):
            assert found["D13"][i, j] == plan.solve(nu_hat[i, 0], **{field: fields[j]}).D13
    for many in (ntx.solve_monoenergetic_parallel_scan, ntx.solve_monoenergetic_multiprocess_scan):
        np.testing.assert_array_equal(many(nc.Surface.demo(), GRID, nu_hat[0], epsi_hat=0.0)["D11"], found["D11"][0, :1])
    assert ntx.solve_monoenergetic_scan(nc.Surface.demo(), GRID, 0.1)["D11"].shape == ()


def small_scan():
    return ntx.build_ntx_neopax_scan(lambda rho: nc.Surface.demo(), rho=[0.3, 0.6], nu_v=[0.01, 0.1, 1], Es=[[0, 1e-3], [0, 2e-3]],
                                     drds=[0.8, 0.4], grid=GRID, source_name="demo")


def test_a_scan_for_neopax_is_a_file_that_it_reads(tmp_path):
    scan = small_scan()
    assert scan.D11.shape == (2, 3, 2) and scan.D31.shape == scan.D33_spitzer.shape == scan.D11.shape
    np.testing.assert_allclose(scan.Er, [[0, 1e-3 / 0.8], [0, 2e-3 / 0.4]])
    assert scan.D13[1, 2, 1] == plan_of(nc.Surface.demo()).solve(1.0, epsi_hat=2e-3).D13
    place = ntx.write_neopax_scan_hdf5(dataclasses.replace(scan, a_b=0.5, b00=np.ones(2), boozer_g=np.ones(2)), tmp_path / "new" / "Dij.h5")
    again = ntx.write_neopax_scan_hdf5(dataclasses.replace(scan, a_b=0.5, b00=np.ones(2), boozer_g=np.ones(2)), tmp_path / "again.h5")
    assert place.read_bytes() == again.read_bytes() and sorted(each.name for each in tmp_path.iterdir()) == ["again.h5", "new"]
    with h5py.File(place) as file:
        assert {"rho", "nu_v", "Er", "Es", "drds", "D11", "D31", "D13", "D33", "D33_spitzer", "B00", "G"} == set(file)
        assert file.attrs["format_version"] == 2 and file.attrs["a_b"] == 0.5 and file["D11"].shape == (2, 3, 2)
    loaded = ntx.load_neopax_reference_scan(place)
    np.testing.assert_array_equal(loaded.D33, scan.D33)
    assert loaded.source_name == "demo" and loaded.a_b == 0.5


def test_arrays_for_neopax():
    scan = small_scan()
    arrays = ntx.scan_to_neopax_arrays(scan, a_b=0.5, d33_mode="raw")
    np.testing.assert_allclose(10**arrays.nu_log, scan.nu_v)
    assert 10 ** arrays.D11_log[1, 2, 0] == pytest.approx(scan.D11[1, 2, 0] * 0.4**2)
    assert arrays.D13[0, 1, 1] == scan.D13[0, 1, 1] * 0.8 and arrays.D33[1, 0, 1] == scan.D33[1, 0, 1] * 0.01
    np.testing.assert_allclose(arrays.Er_list, [[-8, np.log10(1e-3 / 0.8 / (0.5 * 0.3))], [-8, np.log10(1e-3 / 0.8 / (0.5 * 0.6))]])
    np.testing.assert_array_equal(ntx.scan_to_neopax_arrays(scan, a_b=0.5).D33, scan.D33_spitzer * scan.nu_v[None, :, None])
    less = ntx.scan_to_neopax_arrays(scan, a_b=0.5, d33_mode="conductivity_difference").D33
    np.testing.assert_array_equal(less, (scan.D33_spitzer - scan.D33) * scan.nu_v[None, :, None])
    assert "conductivity_difference needs" in words_of("bad_input", ntx.scan_to_neopax_arrays, dataclasses.replace(scan, D33_spitzer=None), a_b=0.5,
                                                       d33_mode="conductivity_difference")
    assert "expected spitzer" in words_of("usage", ntx.scan_to_neopax_arrays, scan, a_b=0.5, d33_mode="best")


def test_run_files_of_ntx(tmp_path):
    run = tmp_path / "run.toml"
    run.write_text("""[surface]
type = "example"
[grid]
n_theta = 5
n_zeta = 7
n_xi = 6
[case]
nu_hat = 0.1
epsi_hat = 0.0
""")
    payload = ntx.run_from_input_file(run)
    found = ntx.solve_monoenergetic(ntx.example_surface(), GRID, MonoenergeticCase(0.1))
    assert {name: payload["result"][name] for name in ("D11", "D31", "D33")} == {"D11": found.D11, "D31": found.D31, "D33": found.D33}
    assert payload["result"]["onsager_residual"] == found.onsager_residual
    assert payload["output_path"] == str(tmp_path / "run.nc") and payload["output_format"] == "netcdf" and payload["timing_seconds"]["total"] > 0
    other = ntx.run_from_input_file(run, output_path=tmp_path / "other.npz")
    assert other["output_npz"] == str(tmp_path / "other.npz") and float(np.load(tmp_path / "other.npz")["D11"]) == found.D11
    assert "console" in words_of("not_supported", ntx.run_from_input_file, run, console=print)
    words_of("bad_file", ntx.run_from_input_file, tmp_path / "gone.toml")


def test_wrong_input_of_ntx():
    assert "everything is float64" in words_of("not_supported", GridSpec, 5, 7, 6, dtype="float32")
    assert "everything is float64" in words_of("not_supported", ntx.enable_x64, False)
    ntx.enable_x64()
    assert "at most one" in words_of("usage", ntx.solve_monoenergetic_scan, nc.Surface.demo(), GRID, 0.1, epsi_hat=0.0, er_hat=0.0)
    assert "scan_batch_size 0" in words_of("usage", ntx.solve_monoenergetic_scan, nc.Surface.demo(), GRID, 0.1, scan_batch_size=0)
    assert "above zero" in words_of("bad_input", ntx.solve_monoenergetic_scan, nc.Surface.demo(), GRID, [0.1, 0])
    assert 'backend "gpu"' in words_of("not_supported", ntx.solve_monoenergetic_multiprocess_scan, nc.Surface.demo(), GRID, 0.1, backend="gpu")
    assert "expected R surfaces" in words_of("bad_input", ntx.build_ntx_neopax_scan_from_surfaces, [nc.Surface.demo()], rho=[0.3, 0.6], nu_v=[1], Es=[[0]],
                                             drds=[1], grid=GRID)
    assert "Es or Er" in words_of("usage", ntx.build_ntx_neopax_scan_from_surfaces, [nc.Surface.demo()], rho=[0.3], nu_v=[1], drds=[1], grid=GRID)
