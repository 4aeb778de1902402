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


@pytest.mark.parametrize("ending", ["h5", "nc", "npz"])
def test_a_file_of_centres_gives_the_phase_of_its_scan(scan, tmp_path, ending):
    """Settings of the file hold unless others are given; frames are not needed any more."""
    centres = sonde.stem.com(scan, output=tmp_path / f"com.{ending}", fit="plane", threshold="3", rotation_blur=0.5)
    usual = sonde.stem.phase(scan, fit="plane", threshold="3", rotation_blur=0.5, method="ricom", kernel=5)
    made = sonde.stem.phase(tmp_path / f"com.{ending}", method="ricom", kernel=5)
    assert "phase/icom" not in centres.variables
    for name, variable in usual.variables.items():
        if variable.values.dtype.kind == "f":  # centres near 20 px are stored with 1e-6 px, deflections and their differences have 0.1 px
            np.testing.assert_allclose(made[name], variable.values, atol=1e-4 * np.nanmax(np.abs(variable.values)), err_msg=name)
    np.testing.assert_array_equal(made["com/x"], centres["com/x"])
    other = sonde.stem.phase(tmp_path / f"com.{ending}", rotation=-40, transpose=1, fit="mean", units="V", voltage=80)
    assert other.facts["phase"]["warnings"][0].startswith("wrong rotation") and other["rotation/degrees"] == -40
    np.testing.assert_array_equal(other["com/origin_x"], other["com/origin_x"][0, 0])
    assert other["scale/sigma"] == pytest.approx(1.008707e-3, rel=1e-6)  # rad/(V A) at 80 kV


def test_the_origin_of_a_reference_scan_stays_in_the_file(scan, tmp_path):
    sonde.stem.simulate(tmp_path / "vacuum_master.h5", **{**OBJECT, "sample": "vacuum", "deflection": 1, "descan": 0})
    vacuum = sonde.stem.com(tmp_path / "vacuum_master.h5", output=tmp_path / "vacuum_com.h5")
    by_scan = sonde.stem.com(scan, output=tmp_path / "com.h5", fit=f"file:{tmp_path / 'vacuum_master.h5'}")
    by_file = sonde.stem.com(scan, fit=f"file:{tmp_path / 'vacuum_com.h5'}")
    np.testing.assert_allclose(by_file["field/x"], by_scan["field/x"], atol=2e-6)  # stored as f32
    for file in tmp_path.glob("vacuum*"):
        file.unlink()
    again = sonde.stem.phase(tmp_path / "com.h5")
    np.testing.assert_allclose(again["com/origin_y"], by_scan["com/origin_y"], atol=2e-6)
    assert vacuum["com/origin_x"].shape == (24, 30)


def test_a_field_has_the_unit_that_is_asked_for(scan):
    fields = {unit: sonde.stem.com(scan, rotation=25, transpose=1, units=unit) for unit in ("px", "mrad", "1/A", "V")}
    for unit, field in fields.items():
        assert field.variables["field/x"].unit == unit and field.variables["com/x"].unit == "px"
    per_px = {unit: np.median(field["field/x"] / fields["px"]["field/x"]) for unit, field in fields.items()}
    wavelength, sigma = 0.0250793, 7.288401e-4  # A and rad/(V A) at 200 kV
    assert per_px["mrad"] == pytest.approx(1000 * wavelength * per_px["1/A"], rel=1e-5)
    assert per_px["V"] == pytest.approx(-2 * np.pi / sigma * per_px["1/A"], rel=1e-5)


def test_what_was_measured_is_not_measured_otherwise(scan, tmp_path):
    sonde.stem.com(scan, output=tmp_path / "com.h5")
    for setting in ({"det_bin": 2}, {"threshold": "3"}, {"min_counts": 9.0}, {"scan_region": "0,5,0,6"}):
        with pytest.raises(sonde.Error, match=f"{next(iter(setting))}: the centres of mass in .*com.h5 were measured already") as refused:
            sonde.stem.phase(tmp_path / "com.h5", **setting)
        assert refused.value.kind == "usage"
    before = (tmp_path / "com.h5").read_bytes()
    for verb in (sonde.stem.com, sonde.stem.phase):
        with pytest.raises(sonde.Error, match="com.h5: the output would replace a file that this run reads"):
            verb(tmp_path / "com.h5", output=tmp_path / "com.h5")
    (tmp_path / "link.h5").symlink_to(tmp_path / "com.h5")
    with pytest.raises(sonde.Error, match="link.h5: the output would replace .*com.h5, which this run reads"):
        sonde.stem.phase(tmp_path / "com.h5", output=tmp_path / "link.h5")
    assert (tmp_path / "com.h5").read_bytes() == before
    (tmp_path / "com.h5").write_bytes(before[:len(before) // 2])
    with pytest.raises(sonde.Error):
        sonde.stem.phase(tmp_path / "com.h5")


def test_the_orientation_that_a_file_states_is_taken_unless_it_is_skipped(scan, tmp_path):
    """The axes of py4DSTEM are exchanged: its angle is the negative of ours."""
    frames = np.asarray(sonde.stem.load(scan, layout="frame").array)
    with h5py.File(tmp_path / "scan.h5", "w") as file:
        file["root/cube/data"] = frames
        calibration = file.create_group("root/metadatabundle/calibration")
        calibration["QR_rotation"], calibration["QR_flip"] = np.radians(-25.0), True
    stated = sonde.stem.com(tmp_path / "scan.h5")
    assert stated["rotation/degrees"] == pytest.approx(25) and stated["rotation/transpose"] == 1
    assert stated.facts["com"]["rotation"]["given"] is True and not stated.facts["com"]["warnings"]
    np.testing.assert_array_equal(stated["field/x"], sonde.stem.com(scan, rotation=25, transpose=1)["field/x"])
    skipped = sonde.stem.com(tmp_path / "scan.h5", skip_calibration="rotation")
    assert skipped.facts["com"]["rotation"]["given"] is False
    np.testing.assert_array_equal(skipped["field/x"], sonde.stem.com(scan)["field/x"])
    with h5py.File(tmp_path / "scan.h5", "r+") as file:
        file["root/metadatabundle/calibration/QR_rotation"][...] = np.radians(40.0)
    assert sonde.stem.com(tmp_path / "scan.h5").facts["com"]["warnings"][0].startswith("wrong rotation: -40.0 degrees")
