# SPDX-License-Identifier: Apache-2.0
"""Native models of `sonde maxwell` from NumPy arrays."""

import math

import numpy as np
import pytest

import sonde

SHAPE = (40, 30)


def records(**tables):
    """Two shots over 40 x 30 cells of 5 cm, with other tables over them."""
    model = {"eps_r": np.full(SHAPE, 4.0), "sigma": np.full(SHAPE, 0.002), "spacing": 0.05}
    survey = {"sources": np.array([[10, 4], [20, 4]]), "receivers": np.array([[10, 24], [20, 24], [30, 24]])}
    usual = {"model": model, "survey": survey, "source": {"f0": 100e6}, "time": {"nt": 120}, "grid": {"dtype": "f64"}}
    for name, table in tables.items():
        usual[name] = {**usual.get(name, {}), **table}
    return sonde.run("maxwell run", **usual)


def test_arrays_make_a_model():
    made = records()
    assert made["receivers/data"].shape == (120, 2, 3)
    np.testing.assert_array_equal(made["survey/source_location"], [[[10, 4]], [[20, 4]]])
    assert np.abs(made["receivers/data"]).max() > 0


def test_arrays_and_numbers_give_the_same():
    numbers = records(model={"eps_r": 4, "sigma": 0.002, "shape": list(SHAPE)},
                      survey={"sources": [10, 4, 20, 4], "receivers": [10, 24, 20, 24, 30, 24]})
    np.testing.assert_array_equal(numbers["receivers/data"], records()["receivers/data"])


def test_integers_are_indices_and_floats_positions():
    survey = {"receiver_component": "Hx", "receivers": np.array([[10, 24]])}
    np.testing.assert_array_equal(records(survey=survey)["survey/receiver_location"][0], [[10.5, 24]])
    np.testing.assert_array_equal(records(survey={**survey, "receivers": np.array([[10.0, 24.0]])})["survey/receiver_location"][0], [[10, 24]])


def test_a_layered_model_keeps_reciprocity():
    eps_r = np.full(SHAPE, 4.0)
    eps_r[25:] = 9
    ends = np.array([[10, 4], [30, 24]])
    data = records(model={"eps_r": eps_r}, survey={"sources": ends, "receivers": ends})["receivers/data"]
    # Rounding of 120 steps.
    np.testing.assert_allclose(data[:, 0, 1], data[:, 1, 0], atol=1e-12 * np.abs(data[:, 0, 1]).max())


def test_wrong_values_are_named():
    eps_r = np.full(SHAPE, 4.0)
    eps_r[3, 7] = np.nan
    with pytest.raises(sonde.Error, match=r"eps_r = nan at \[3, 0, 7\]") as caught:
        records(model={"eps_r": eps_r})
    assert caught.value.kind == "bad_input"
    with pytest.raises(sonde.Error, match='did you mean "eps_r"'):
        records(model={"epsr": 4})
    with pytest.raises(sonde.Error, match="input is missing"):
        sonde.run("maxwell run")


def hankel2(z):
    """H0^(2): power series (DLMF 10.2.2, 10.8.2) to |z| = 12, beyond that the asymptotic one (10.17.6)."""
    made = np.empty_like(z)
    near = abs(z) < 12
    q, j, sums, harmonic = -z[near] ** 2 / 4, 0, 0, 0
    for k in range(60):
        term = q**k / math.factorial(k) ** 2
        harmonic += 1 / k if k else 0
        j, sums = j + term, sums - harmonic * term
    made[near] = j - 1j * 2 / np.pi * ((np.log(z[near] / 2) + np.euler_gamma) * j + sums)
    far, term, total = z[~near], 1, 1
    for k in range(1, 16):
        term = term * 1j * (2 * k - 1) ** 2 / (8 * k * far)
        total = total + term
    made[~near] = np.sqrt(2 / (np.pi * far)) * np.exp(-1j * (far - np.pi / 4)) * total
    return made


def test_the_hankel_function_has_its_published_values():
    # Abramowitz and Stegun, table 9.1: J0 - j Y0 at 1, 10 and 15.
    found = hankel2(np.array([1, 10, 15], complex))
    np.testing.assert_allclose(found, [0.7651976866 - 0.0882569642j, -0.2459357645 - 0.0556711673j, -0.0142244728 - 0.2054642960j], atol=1e-9)


def line_source(sigma, offset, f0, t0, times):
    """E_y of a line current I(t), a Ricker wavelet, in eps_r = 4: -(w mu0 / 4) I(w) H0^(2)(k r), by a Fourier sum over a long period."""
    eps0, mu0 = 8.8541878128e-12, 1.25663706212e-6
    n, dt = 1 << 14, times[1] - times[0]
    t = np.arange(n) * dt
    u = (np.pi * f0 * (t - t0)) ** 2
    w = 2 * np.pi * np.fft.rfftfreq(n, dt)
    w[0] = w[1] / 10  # the mean of a Ricker wavelet is zero
    k = w * np.sqrt(mu0 * (4 * eps0 - 1j * sigma / w))
    field = -(w * mu0 / 4) * np.fft.rfft((1 - 2 * u) * np.exp(-u)) * hankel2(k * offset)
    field *= np.exp(1j * w * times[0])  # samples begin there
    return np.fft.irfft(field, n)[: len(times)]


@pytest.mark.parametrize(("grid", "ratio", "shift", "limit"), [
    ({"order": 8, "time_dispersion": "corrected"}, 1, 0, 1e-3),  # the loss term is of second order in dt
    ({"order": 8, "time_dispersion": "corrected"}, 2, 0, 1e-3),
    ({"order": 8, "time_dispersion": "corrected"}, 1, 0.3, 3e-3),  # interpolation of places between nodes
    ({"order": 4}, 1, 0, 2.2e-2),  # dispersion of the time step
    ({"order": 2}, 1, 0, 4.5e-2),
])
def test_a_line_source_is_that_of_theory(grid, ratio, shift, limit):
    d, cells, f0, sigma = 0.01, 100, 500e6, 0.005
    weights = {2: 1, 4: 7 / 6, 8: 2161 / 1680}
    dt = ratio * 0.9 * d / (weights[grid["order"]] * 299792458 / 2 * np.sqrt(2))
    nt = int(12e-9 / dt)
    made = sonde.run("maxwell run", model={"eps_r": 4, "sigma": sigma, "shape": [cells, cells], "spacing": d},
                     survey={"sources": [50 + shift, 20 + shift], "receivers": [50 + shift, 80 + shift], "location_unit": "cells"},
                     source={"f0": f0, "t0": 1.2 / f0}, time={"dt": dt, "nt": nt}, grid={"dtype": "f64", "pml": 20, **grid})
    times = (1 + np.arange(nt)) * dt
    exact = line_source(sigma, 60 * d, f0, 1.2 / f0, times)
    found = made["receivers/data"][:, 0, 0]
    assert np.linalg.norm(found - exact) <= limit * np.linalg.norm(exact)
