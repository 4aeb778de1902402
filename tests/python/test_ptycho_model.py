# SPDX-License-Identifier: Apache-2.0
"""Functions of sonde.ptycho against slow NumPy: the forward model, its gradient, propagators, simulated scans, constants."""

import os
import subprocess

import h5py
import numpy as np
import pytest

import ptycho_reference as reference
import sonde
from ptycho_scan import scan


@pytest.fixture(scope="module")
def made():
    return scan(side=3, modes=2, dead=[(3, 4)], counts=3e3)


@pytest.mark.parametrize("energy, wavelength, sigma", [(30, 0.06979082, 1.543270e-3), (80, 0.04175716, 1.008707e-3),
                                                       (200, 0.02507934, 7.288401e-4), (300, 0.01968749, 6.526161e-4)])
def test_electrons_have_the_tabulated_wavelength(energy, wavelength, sigma):
    # The table has that many digits.
    assert sonde.ptycho.electron_wavelength(energy) == pytest.approx(wavelength, abs=6e-9)
    assert sonde.ptycho.interaction_constant(energy) == pytest.approx(sigma, rel=6e-7)


def test_photons():
    assert sonde.ptycho.photon_wavelength(12.398419843320026) == pytest.approx(1, rel=1e-15)
    with pytest.raises(sonde.Error) as refused:
        sonde.ptycho.photon_wavelength(-8)
    assert refused.value.kind == "bad_input"


def test_forward_is_the_model_written_out(made):
    expected = reference.intensities(made.object, made.probe, made.inside)
    found = sonde.ptycho.forward(made.object, made.probe, made.inside)
    # Rounding of a few transforms in double precision, relative to the brightest pixel.
    np.testing.assert_allclose(found, np.fft.fftshift(expected, axes=(1, 2)), rtol=0, atol=1e-12 * expected.max())
    corner = sonde.ptycho.forward(made.object, made.probe, made.inside, zero_frequency="corner")
    np.testing.assert_allclose(corner, expected, rtol=0, atol=1e-12 * expected.max())


def test_forward_takes_two_dimensions_and_single_precision(made):
    one = sonde.ptycho.forward(made.object, made.probe[0], made.inside)
    np.testing.assert_array_equal(one, sonde.ptycho.forward(made.object[None], made.probe[:1], made.inside))
    single = sonde.ptycho.forward(made.object.astype(np.complex64), made.probe[0].astype(np.complex64), made.inside)
    np.testing.assert_allclose(single, one, atol=1e-6 * one.max())


def test_several_slices_are_propagated(made):
    wavelength, pixel, spacing = 0.025, (0.2, 0.25), 20.0
    between = sonde.ptycho.slice_propagators((24, 20), wavelength_A=wavelength, pixel_size_A=pixel, spacings_A=[spacing],
                                             tilt_mrad=(3, -2), band_limit=False)
    k_row, k_col = np.fft.fftfreq(24, pixel[0])[:, None], np.fft.fftfreq(20, pixel[1])[None, :]
    np.testing.assert_allclose(between[0], np.exp(-1j * np.pi * wavelength * spacing * (k_row**2 + k_col**2))
                               * np.exp(-2j * np.pi * spacing * (k_row * np.tan(3e-3) + k_col * np.tan(-2e-3))), atol=1e-12)
    slices = np.array([made.object, made.object.conj() ** 0.5])
    expected = np.zeros((len(made.inside), 24, 20))
    for j, position in enumerate(made.inside):
        row, col, down, right = reference.placed(position, (24, 20))
        for mode in made.probe:
            wave = reference.shifted(mode, down, right) * slices[0, row:row + 24, col:col + 20]
            wave = np.fft.ifft2(np.fft.fft2(wave) * between[0]) * slices[1, row:row + 24, col:col + 20]
            expected[j] += np.abs(reference.far_field(wave)) ** 2
    found = sonde.ptycho.forward(slices, made.probe, made.inside, propagators=between, zero_frequency="corner")
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12 * expected.max())
    with pytest.raises(sonde.Error, match="an object of 2 slices needs propagators"):
        sonde.ptycho.forward(slices, made.probe, made.inside)


def loss_of(name, intensity, counts, good, mean):
    """3.12, the Poisson one with the constant that makes its minimum zero."""
    model, measured = intensity[:, good], counts[:, good].astype(float)
    if name == "amplitude":
        return ((np.sqrt(model + 1e-10 * mean) - np.sqrt(measured)) ** 2).sum()
    if name == "anscombe":
        return ((np.sqrt(model + 0.375) - np.sqrt(measured + 0.375)) ** 2).sum()
    if name == "intensity":
        return ((model - measured) ** 2 / (measured + 1)).sum()
    return (model - measured * np.log(model + 1e-10 * mean)).sum()


@pytest.mark.parametrize("loss", ["amplitude", "anscombe", "poisson", "intensity"])
def test_gradient_is_that_of_the_loss(made, loss):
    # Not at the answer, where all of it vanishes.
    random = np.random.default_rng(2)
    object_ = made.object * np.exp(0.2j * random.standard_normal(made.object.shape))
    probe = made.probe * 1.1
    counts, good = np.fft.ifftshift(made.frames, axes=(1, 2)), np.fft.ifftshift(made.good)
    mean = counts[:, good].sum(axis=1).mean()
    found = sonde.ptycho.gradient(object_, probe, made.inside, made.frames, loss=loss, mask=made.good)

    def value(o=object_, p=probe, r=made.inside):
        return loss_of(loss, reference.intensities(o, p, r), counts, good, mean)

    if loss != "poisson":  # up to a constant, then
        assert found.loss == pytest.approx(value(), rel=1e-10)
    h = 1e-5
    # Central differences of step h err by h^2 L''' and by rounding of L over h: 1e-6 of the largest is asked for.
    for name, gradient, array in (("o", found.object[0], object_), ("p", found.probe, probe)):
        largest = 2 * np.abs(gradient).max()
        where = tuple(random.choice(np.argwhere(np.abs(gradient) > 0.2 * largest / 2)))
        for unit, expected in ((1, 2 * gradient[where].real), (1j, 2 * gradient[where].imag)):
            change = np.zeros_like(array)
            change[where] = h * unit
            difference = (value(**{name: array + change}) - value(**{name: array - change})) / (2 * h)
            assert difference == pytest.approx(expected, abs=1e-6 * largest)
    largest = np.abs(found.positions).max()
    for j, axis in ((0, 0), (4, 1), (8, 0)):
        change = np.zeros_like(made.inside)
        change[j, axis] = h
        difference = (value(r=made.inside + change) - value(r=made.inside - change)) / (2 * h)
        assert difference == pytest.approx(found.positions[j, axis], abs=1e-6 * largest)


def test_gradient_in_single_precision(made):
    double = sonde.ptycho.gradient(made.object, 1.1 * made.probe, made.inside, made.frames, mask=made.good)
    single = sonde.ptycho.gradient(made.object.astype(np.complex64), (1.1 * made.probe).astype(np.complex64), made.inside, made.frames,
                                   mask=made.good)
    assert single.object.dtype == np.complex64 and double.object.dtype == np.complex128
    np.testing.assert_allclose(single.object, double.object, atol=1e-4 * np.abs(double.object).max())


def test_arguments_that_do_not_fit(made):
    def refused(kind, call, *arguments, **options):
        with pytest.raises(sonde.Error) as caught:
            call(*arguments, **options)
        assert caught.value.kind == kind, str(caught.value)
        return str(caught.value)

    model = sonde.ptycho
    assert "positions: shape (9, 3), expected (frames, 2)" in refused("bad_input", model.forward, made.object, made.probe,
                                                                      np.ones((9, 3)))
    assert "window" in refused("bad_input", model.forward, made.object, made.probe, made.inside + 40)
    assert 'unknown word "middle"' in refused("usage", model.forward, made.object, made.probe, made.inside, zero_frequency="middle")
    assert "patterns: shape" in refused("bad_input", model.gradient, made.object, made.probe, made.inside, made.frames[:4])
    refused("usage", model.gradient, made.object, made.probe, made.inside, made.frames, loss="huber")
    negative = made.frames.astype(float)
    negative[2, 3, 5] = -1
    assert "first frame 2, row 3, column 5" in refused("bad_input", model.gradient, made.object, made.probe, made.inside, negative)
    assert 'did you mean "seed"' in refused("usage", model.simulate, sede=1)


def test_a_simulated_scan_is_what_its_truth_says():
    made = sonde.ptycho.simulate(scan_shape=(5, 4), detector_px=32, counts_per_frame=1e5, jitter_A=0.2, dead_pixels=2, seed=3)
    assert made.patterns.shape == (5, 4, 32, 32) and made.patterns.dtype == np.uint16
    assert made.positions_A.shape == made.positions_px.shape == (20, 2)
    assert (~made.mask).sum() == 2 and (made.patterns[..., ~made.mask] == 0).all()
    rates = reference.intensities(np.exp(1j * made.phase[0]), made.probe, made.positions_px)
    rates = np.fft.fftshift(rates, axes=(1, 2))[:, made.mask]
    counts = made.patterns.reshape(20, 32, 32)[:, made.mask]
    # Counts of a Poisson process: the mean of (n - rate)^2 / rate is 1, with a spread of sqrt(2 / number) or less over bright pixels.
    bright = rates > 5
    chi2 = ((counts - rates)[bright] ** 2 / rates[bright]).mean()
    assert chi2 == pytest.approx(1, abs=5 * np.sqrt(2.2 / bright.sum()))
    assert made.wavelength_A == sonde.ptycho.electron_wavelength(200)
    again = sonde.ptycho.simulate(scan_shape=(5, 4), detector_px=32, counts_per_frame=1e5, jitter_A=0.2, dead_pixels=2, seed=3)
    np.testing.assert_array_equal(again.patterns, made.patterns)


def test_layers_and_slices_of_their_own_thickness():
    tilt = {"tilt_row_mrad": 15, "tilt_col_mrad": -9}
    made = sonde.ptycho.simulate(scan_shape=(8, 8), detector_px=32, detector_mrad=45, scan_step_A=0.8, layers=3, layer_distance_A=[60, 140], **tilt)
    assert made.layer_distance_A == [60, 140]
    settings = {
        "geometry": {"energy_keV": 200, "detector_mrad_per_px": made.detector_mrad_per_px, "semiangle_mrad": 20},
        "object": {"slices": 3, "slice_thickness_A": [60, 140, 10], "init": "low_resolution", **tilt},
        "low_resolution": {"iterations": 3},
        "engine": [{"name": "gd", "iterations": 1}],
    }
    run = sonde.ptycho.Reconstruction(settings, data=made.patterns, positions=made.positions_A, probe=made.probe)
    run.run()
    assert run.object.shape[0] == 3
    assert any("3 iterations of gd on the middle 16 x 16 of 32 x 32" in note for note in run.notes)
    with pytest.raises(sonde.Error, match="has 2 numbers for 3 slices"):
        settings["object"]["slice_thickness_A"] = [60, 140]
        sonde.ptycho.Reconstruction(settings, data=made.patterns, positions=made.positions_A, probe=made.probe)


def test_a_simulated_file_holds_the_same(tmp_path):
    options = {"scan_shape": (3, 4), "detector_px": 32, "seed": 4, "counts_per_frame": 1e4}
    made = sonde.ptycho.simulate(**options)
    told = sonde.ptycho.simulate_file(tmp_path / "scan.h5", **options)
    assert told["frames"] == 12 and told["file"] == str(tmp_path / "scan.h5")
    with h5py.File(tmp_path / "scan.h5") as file:
        np.testing.assert_array_equal(file["data"][()], made.patterns)
        np.testing.assert_array_equal(file["positions_A"][()], made.positions_A)
        np.testing.assert_array_equal(file["truth/object_phase"][()], made.phase)
    assert told["counts_per_frame"] == pytest.approx(made.patterns.sum() / 12, rel=1e-12)


def test_every_key_has_the_name_that_the_program_knows(tmp_path):
    """The keys that help(Reconstruction) lists are those of the run file that `init` writes."""
    np.save(tmp_path / "x.npy", np.ones((2, 2, 8, 8), np.uint16))
    page = subprocess.run([os.environ["SONDE_PROGRAM"], "ptycho", "init", tmp_path / "x.npy"], capture_output=True, text=True,
                          check=True).stdout
    assert len(page.splitlines()) > 200
    text = sonde.ptycho.settings_text()
    for line in page.splitlines():
        if line.startswith("[") or " = " not in line:
            continue
        key = line.lstrip("# ").split(" = ")[0]
        assert f"\n{key} : " in text or key == "name", key
    assert "[geometry]" in sonde.ptycho.Reconstruction.__doc__ and "energy_keV : float in keV" in sonde.ptycho.Reconstruction.__doc__


def test_positions_that_are_not_finite_are_refused():
    with pytest.raises(sonde.Error, match=r"position 1 is \(nan, 8\); expected finite numbers"):
        sonde.ptycho.forward(np.ones((20, 20), complex), np.ones((8, 8), complex), [[8.0, 8.0], [np.nan, 8.0]])
    with pytest.raises(sonde.Error, match=r"position 1 is \(1e\+300, 8\) object pixels"):
        sonde.ptycho.forward(np.ones((20, 20), complex), np.ones((8, 8), complex), [[8.0, 8.0], [1e300, 8.0]])
