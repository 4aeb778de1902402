# SPDX-License-Identifier: Apache-2.0
"""From a simulated scan of a phase object, through its files, to the phase."""

import h5py
import numpy as np
import pytest

import sonde

#: 0.2 A/px of phase, 2 rad high; 30000 counts in a pattern.
OBJECT = {"sample": "phase", "scan_shape": "24,30", "detector_shape": "40,44", "disk_radius": 8, "dose": 17, "scan_step": 0.06, "phase_width": 3,
          "phase_height": 1.5, "rotation": 25, "transpose": True, "descan": 0, "hot_pixels": 0, "masked_pixels": 0, "seed": 5}


@pytest.fixture(scope="module")
def scan(tmp_path_factory):
    path = tmp_path_factory.mktemp("phase") / "scan_master.h5"
    sonde.stem.simulate(path, **OBJECT)
    return path


def truth_of(scan, name="seen_phase"):
    with h5py.File(str(scan).replace("_master", "_truth")) as file:
        return file[name][()]


def slope_and_rms(found, truth):
    found, truth = found - np.mean(found), truth - np.mean(truth)
    return np.sum(found * truth) / np.sum(truth**2), np.sqrt(np.mean((found - truth) ** 2)) / np.ptp(truth)


def test_the_phase_is_that_of_the_specimen(scan, tmp_path):
    made = sonde.stem.phase(scan, output=tmp_path / "phase.h5")
    facts = made.facts["phase"]["rotation"]
    assert facts["transpose"] is True and abs(facts["degrees"] - 25) < max(1, 4 * facts["standard_error_degrees"])
    assert not made.facts["phase"]["warnings"]
    slope, rms = slope_and_rms(made["phase/icom"], truth_of(scan))
    assert slope == pytest.approx(1, abs=0.03) and rms < 0.03  # noise of 30000 counts beside the 1 % of the integral
    with h5py.File(tmp_path / "phase.h5") as file:
        assert file["phase/icom"].attrs["units"] == "rad" and file["phase/icom"].attrs["frame"] == "scan"
        assert file["com/x"].attrs["units"] == "px" and file["com/x"].attrs["frame"] == "detector"
        np.testing.assert_array_equal(file["phase/icom"][()], made["phase/icom"])


def test_centres_of_mass_are_those_of_numpy(scan):
    made = sonde.stem.phase(scan)
    frames = np.asarray(sonde.stem.load(scan, layout="frame").array, dtype=np.int64).reshape(24, 30, 40, 44)
    total, rows, cols = frames.sum((2, 3)), np.arange(40)[:, None], np.arange(44)
    np.testing.assert_array_equal(made["com/sum"], total)
    np.testing.assert_array_equal(made["com/x"], ((frames * cols).sum((2, 3)) / total).astype(np.float32))
    np.testing.assert_array_equal(made["com/y"], ((frames * rows).sum((2, 3)) / total).astype(np.float32))


def second_moments(frames, threshold=-1):
    """Centres of mass over pixels above a threshold, and their standard errors, in int64 and float64."""
    frames = np.where(frames > threshold, frames, 0)
    total, rows, cols = frames.sum((2, 3)), np.arange(40)[:, None], np.arange(44)
    made = {"com/sum": total}
    for axis, places in (("x", cols), ("y", rows)):
        mean = (frames * places).sum((2, 3)) / total
        made[f"com/{axis}"] = mean
        made[f"com/sigma_{axis}"] = np.sqrt((frames * (places - mean[..., None, None]) ** 2).sum((2, 3))) / total
    return made


def test_standard_errors_and_thresholds_are_those_of_numpy(scan):
    frames = np.asarray(sonde.stem.load(scan, layout="frame").array, dtype=np.int64).reshape(24, 30, 40, 44)
    for given, threshold in (({}, -1), ({"threshold": "40"}, 40), ({"threshold": "40.5"}, 40), ({"threshold": "0"}, 0)):
        made = sonde.stem.phase(scan, **given)
        for name, values in second_moments(frames, threshold).items():
            np.testing.assert_allclose(made[name], values, rtol=2e-7)  # stored as f32
    assert made.variables["com/sigma_x"].unit == "px"
    facts = sonde.stem.phase(scan, threshold="40").facts["phase"]["threshold"]
    assert facts == {"counts": 40, "found": False, "counts_kept": frames[frames > 40].sum() / frames.sum()}


def test_the_automatic_threshold_is_that_of_the_corners(tmp_path):
    """More frames than are sampled: given again as a number, what was found is the same threshold."""
    random = np.random.default_rng(8)
    rows, cols = np.mgrid[:33, :40]
    rates = 6 + 300 * np.exp(-((rows - 15.2) ** 2 + (cols - 21.4) ** 2) / 30)
    frames = random.poisson(rates, (22, 25, 33, 40)).astype(np.uint16)
    np.save(tmp_path / "counts.npy", frames)
    made = sonde.stem.phase(tmp_path / "counts.npy", units="px", threshold="auto")
    facts = made.facts["phase"]["threshold"]
    corners = frames[:, :, [0, 1, 31, 32]][..., [0, 1, 38, 39]].astype(float)
    mean, sigma = corners.mean(), corners.std()
    skewness, kurtosis = (((corners - mean) / sigma)**3).mean(), (((corners - mean) / sigma)**4).mean()
    # Of a sample of 256 frames with 16 such pixels: the errors of its mean and its sigma, and what they have in common.
    error = sigma * np.sqrt((1 + 3 * skewness + 9 / 4 * (kurtosis - 1)) / (256 * 16))
    assert facts["found"] and abs(facts["counts"] - (mean + 3 * sigma)) < 5 * error
    again = sonde.stem.phase(tmp_path / "counts.npy", units="px", threshold=repr(facts["counts"]))
    for name in ("com/x", "com/y", "com/sum", "com/sigma_x", "phase/icom"):
        np.testing.assert_array_equal(again[name], made[name])


def test_values_that_are_no_counts_have_a_threshold_but_no_standard_error(tmp_path):
    values = np.random.default_rng(4).normal(3, 2, (5, 6, 8, 9)).astype(np.float32)
    np.save(tmp_path / "values.npy", values)
    made = sonde.stem.phase(tmp_path / "values.npy", units="px", threshold="2.5")
    above = np.where(values > np.float32(2.5), values, 0).astype(float)
    np.testing.assert_allclose(made["com/x"], (above * np.arange(9)).sum((2, 3)) / above.sum((2, 3)), rtol=2e-7)
    assert "com/sigma_x" not in made.variables and "noise" not in made.facts["phase"]


def test_the_integral_is_that_of_the_normal_equations(scan):
    """Least squares between neighbours, set up anew."""
    made = sonde.stem.phase(scan, rotation=25, transpose=1)
    x, y = (2 * np.pi * made[f"field/{axis}"].astype(float) for axis in "xy")
    rows, cols = x.shape
    places = np.arange(rows * cols).reshape(rows, cols)
    pairs = np.concatenate([np.stack([places[:, :-1], places[:, 1:]], -1).reshape(-1, 2), np.stack([places[:-1], places[1:]], -1).reshape(-1, 2)])
    slopes = np.concatenate([((x[:, :-1] + x[:, 1:]) / 2).ravel(), ((y[:-1] + y[1:]) / 2).ravel()])
    matrix = np.zeros((len(pairs), rows * cols))
    matrix[np.arange(len(pairs)), pairs[:, 1]], matrix[np.arange(len(pairs)), pairs[:, 0]] = 1 / 0.6, -1 / 0.6
    laplacian = matrix.T @ matrix + 1.0  # the constant is free: its mean is 0
    expected = np.linalg.solve(laplacian, matrix.T @ slopes).reshape(rows, cols)
    np.testing.assert_allclose(made["phase/icom"], expected, atol=2e-6 * np.ptp(expected))  # stored as f32


def test_other_integrals_are_those_of_numpy(scan):
    given = {"rotation": 25, "transpose": 1}
    usual = sonde.stem.phase(scan, **given)
    x, y = (2 * np.pi * usual[f"field/{axis}"].astype(float) for axis in "xy")
    np.testing.assert_allclose(sonde.stem.phase(scan, method="cg", weigh_counts=False, **given)["phase/icom"], usual["phase/icom"],
                               atol=1e-5 * np.ptp(usual["phase/icom"]))
    padded = [np.fft.fft2(np.pad(each, ((0, 24), (0, 30)))) for each in (x, y)]
    q_y, q_x = np.meshgrid(np.fft.fftfreq(48, 0.6), np.fft.fftfreq(60, 0.6), indexing="ij")
    square = q_x**2 + q_y**2
    square[0, 0] = 1
    image = (q_x * padded[0] + q_y * padded[1]) / (2j * np.pi * square) * (1 - 1 / (1 + (square / 0.03**2) ** 2))
    image[24], image[:, 30], image[0, 0] = 0, 0, 0
    expected = np.fft.ifft2(image).real[:24, :30]
    np.testing.assert_allclose(sonde.stem.phase(scan, method="fourier", q_highpass=0.03, **given)["phase/icom"], expected - expected.mean(),
                               atol=2e-6 * np.ptp(expected))
    rows, cols = np.mgrid[-4:5, -4:5].astype(float)
    kernel = 0.6 / (2 * np.pi) * np.stack([cols, rows]) / np.maximum(rows**2 + cols**2, 1)  # area over length
    summed = np.zeros_like(x)
    for row, col in np.ndindex(9, 9):
        shifted = np.pad(np.stack([x, y]), ((0, 0), (4, 4), (4, 4)))[:, 8 - row:8 - row + 24, 8 - col:8 - col + 30]
        summed += np.tensordot(kernel[:, row, col], shifted, 1)
    made = sonde.stem.phase(scan, method="ricom", kernel=4, **given)
    np.testing.assert_allclose(made["phase/icom"], summed, atol=2e-6 * np.ptp(summed))
    assert made["phase/complete"].sum() == 16 * 22


def test_what_is_wrong_is_named_first(scan):
    for wrong, words in (({"transpose": 0, "rotation": 25}, "transposed scan"), ({"transpose": 1, "rotation": -40}, "wrong rotation"),
                         ({"transpose": 1, "rotation": -155}, "inverted contrast")):
        assert sonde.stem.phase(scan, **wrong).facts["phase"]["warnings"][0].startswith(words)


def test_a_scan_without_calibration_is_refused_with_the_flag(tmp_path):
    np.save(tmp_path / "counts.npy", np.ones((4, 5, 6, 7), np.uint16))
    with pytest.raises(sonde.Error, match="the distance of scan positions is not known.*\n.*give scan_step, or take units=\"px\""):
        sonde.stem.phase(tmp_path / "counts.npy")
    assert sonde.stem.phase(tmp_path / "counts.npy", units="px").variables["phase/icom"].unit == "px step"
