# SPDX-License-Identifier: Apache-2.0
"""Cepstra, power spectra and autocorrelations beside NumPy in double precision."""

import numpy as np
import pytest

import sonde.stem

ROWS, COLS = 30, 44


@pytest.fixture(scope="module")
def frames():
    """Spots on a lattice, rows 6 px and columns 5.5 px apart: (3, 4, 30, 44)."""
    rows, cols = np.mgrid[:ROWS, :COLS]
    pattern = sum(np.exp(-((cols - 1.3 - 5.5 * k) ** 2 + (rows - 2.1 - 6 * h) ** 2) / 2) for h in range(6) for k in range(9))
    return np.random.default_rng(2).poisson(150 * pattern + 0.3, (3, 4, ROWS, COLS)).astype(np.uint16)


def window():
    def hann(extent):
        return np.sin(np.pi * (np.arange(extent) + 0.5) / extent) ** 2
    return np.outer(hann(ROWS), hann(COLS))


def test_the_mean_cepstrum_is_that_of_numpy(frames):
    made = sonde.stem.cepstrum(frames, hot_pixels="none")
    expected = np.fft.fftshift(np.mean(np.abs(np.fft.fft2(window() * np.log1p(frames.astype(float)))) ** 2, axis=(0, 1)))
    # Transforms are in float32, whose rounding is relative to the largest value.
    np.testing.assert_allclose(made["cepstrum/mean"], expected, atol=1e-6 * expected.max())


def test_power_and_autocorrelation_are_those_of_numpy(frames):
    power = np.mean(np.abs(np.fft.fft2(frames.astype(float))) ** 2, axis=(0, 1))
    made = sonde.stem.cepstrum(frames, kind="power", window="none", hot_pixels="none")["power/mean"]
    np.testing.assert_allclose(made, np.fft.fftshift(power), atol=1e-6 * power.max())
    pairs = np.fft.ifft2(power).real
    made = sonde.stem.cepstrum(frames, kind="autocorrelation", window="none", hot_pixels="none")["autocorrelation/mean"]
    np.testing.assert_allclose(made, np.fft.fftshift(pairs), atol=1e-5 * pairs.max())


def test_peaks_are_at_the_inverse_of_the_spacing(frames):
    made = sonde.stem.cepstrum(frames, hot_pixels="none")
    lengths = [np.hypot(made[f"cepstrum/a{i}_x"], made[f"cepstrum/a{i}_y"]) for i in (1, 2)]
    # The shorter one is that of the larger spacing. Spots of 1 px pull a peak by less than 1e-3; noise does by sigma.
    for length, spacing, sigma in zip(lengths, (6, 5.5), ("sigma_a1_y", "sigma_a2_x"), strict=True):
        assert abs(np.mean(length) - 1 / spacing) < 1e-3
        assert np.all(made[f"cepstrum/{sigma}"] > 0)
    assert np.all(np.abs(made["cepstrum/a1_y"]) > 5 * np.abs(made["cepstrum/a1_x"]))
    assert made.variables["cepstrum/a1_x"].unit == "1/px"


def test_patterns_without_a_lattice_end_with_status_7(tmp_path):
    rows, cols = np.mgrid[:30, :34]
    blob = (200 * np.exp(-np.hypot(rows - 14, cols - 17) / 5)).astype(np.uint16)
    with pytest.raises(sonde.Error, match="have no lattice in their cepstrum") as caught:
        sonde.stem.cepstrum(np.broadcast_to(blob, (2, 2, 30, 34)).copy(), output=tmp_path / "c.h5", hot_pixels="none")
    assert caught.value.exit_status == 7
    assert (tmp_path / "c.h5").exists()
