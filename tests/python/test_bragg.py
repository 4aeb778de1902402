# SPDX-License-Identifier: Apache-2.0
"""Bragg disks of a simulated crystal, from its file through the program to arrays, beside the lattice that made it."""

import json
import os
import subprocess

import h5py
import numpy as np
import pytest
import scipy.ndimage

import sonde

PROGRAM = os.environ["SONDE_PROGRAM"]
SCAN, DETECTOR = (5, 6), (92, 104)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("bragg")
    sonde.stem.simulate(folder / "scan_master.h5", sample="disks", scan_shape=SCAN, detector_shape=DETECTOR, centre="44,51", disk_radius=4, orders=1,
                        lattice="17,2,-3,16", dose=20, halo_fraction=0.05)
    return folder


@pytest.fixture(scope="module")
def found(folder):
    return sonde.stem.bragg(folder / "scan_master.h5", output=folder / "bragg.h5", png=folder / "bragg.png", hot_pixels="zero")


def lists(found, name):
    return np.split(found[f"bragg/{name}"], found["bragg/offsets"][1:-1].astype(int))


def drawn(folder):
    """(position, disk, row and column) of the nine disks."""
    with h5py.File(folder / "scan_truth.h5") as truth:
        g = {name: truth[name][()].ravel() for name in ("g1_x", "g1_y", "g2_x", "g2_y")}
        beam = truth["beam"][()].reshape(-1, 1, 2)
    h, k = (each.ravel() for each in np.mgrid[-1:2, -1:2])
    x, y = (np.outer(g[f"g1_{axis}"], h) + np.outer(g[f"g2_{axis}"], k) for axis in "xy")
    return beam + np.stack([y, x], -1)


def test_every_disk_is_where_the_lattice_puts_it(folder, found):
    """Deviations scatter by the standard errors that the counts give."""
    truth, pulls = drawn(folder), []
    disks = zip(*(lists(found, name) for name in ("qy", "qx", "var_y", "var_x")))
    for (qy, qx, var_y, var_x), expected in zip(disks, truth, strict=True):
        distance = np.hypot(qy[:, None] - expected[:, 0], qx[:, None] - expected[:, 1])
        nearest = distance.argmin(0)
        assert distance.min(0).max() < 1
        pulls += [(qy[nearest] - expected[:, 0]) / np.sqrt(var_y[nearest]), (qx[nearest] - expected[:, 1]) / np.sqrt(var_x[nearest])]
    assert np.size(pulls) == 2 * 9 * 30
    assert 0.85 < np.std(pulls) < 1.2  # 540 of them: 3 % by chance; counts of neighbours pull a little


def test_the_file_is_what_python_gets(folder, found):
    with h5py.File(folder / "bragg.h5") as file:
        group = file["bragg"]
        for name in ("offsets", "valid", "qy", "qx", "intensity", "var_y", "var_x", "vector_map"):
            np.testing.assert_array_equal(group[name], found[f"bragg/{name}"])
        assert tuple(group.attrs["scan_shape"]) == SCAN and tuple(group.attrs["detector_shape"]) == DETECTOR
        assert group.attrs["coordinates"] == "raw"
        assert json.loads(group.attrs["parameters"])["kernel"] == "ring"
        assert abs(group.attrs["probe_radius"] - 4) < 0.3
        assert group["qy"].attrs["units"] == "px" and group["qy"].attrs["frame"] == "detector"


def test_an_array_has_the_disks_of_its_file(folder, found):
    scan = sonde.stem.load(folder / "scan_master.h5", layout="frame", hot_pixels="zero")
    made = sonde.stem.bragg(np.array(scan.array), hot_pixels="none")
    for name in ("offsets", "qy", "qx", "intensity"):
        np.testing.assert_array_equal(made[f"bragg/{name}"], found[f"bragg/{name}"])


def test_patterns_without_disks_are_a_result_that_has_not_converged(folder):
    output = folder / "none.h5"
    done = subprocess.run([PROGRAM, "stem", "bragg", str(folder / "scan_master.h5"), "-o", str(output), "--min-absolute-intensity", "1e9"],
                          capture_output=True, text=True)
    assert done.returncode == 7
    assert "30 of 30 patterns have no disk" in done.stderr
    with h5py.File(output) as file:
        assert file["bragg/qy"].shape == (0,) and not file["bragg/offsets"][()].any()


def test_a_kernel_study_compares_kernels_and_gives_the_disks_too(folder, found):
    made = sonde.stem.bragg(folder / "scan_master.h5", kernel_study=12, min_relative_intensity=0.05, hot_pixels="zero")
    study = made.facts["kernel_study"]
    kernels = study["kernels"]
    assert set(kernels) == {"flat", "gaussian", "sigmoid", "sigmoid_log", "ring", "poisson"}
    assert study["patterns_with_lattice"] == 12
    # Nine disks are twelve free numbers of a pattern: 6 % by chance, in both alike.
    assert kernels["poisson"]["over_bound"] < kernels["sigmoid"]["over_bound"]
    assert made["bragg/offsets"].size == 31


def test_a_dose_report_predicts_the_scatter_about_the_drawn_places(folder, found):
    made = sonde.stem.bragg(folder / "scan_master.h5", dose_report=30, min_relative_intensity=0.05, hot_pixels="zero")
    report = made.facts["dose_report"]
    assert report["patterns_with_lattice"] == 30
    assert report["disks"] > 240  # of 270: weak ones are below a twentieth of the brightest
    assert abs(report["variance_over_mean"] - 1) < 4 * report["variance_over_mean_sigma"]
    truth, over = drawn(folder), []
    for qy, qx, expected in zip(lists(found, "qy"), lists(found, "qx"), truth, strict=True):
        nearest = np.hypot(qy[:, None] - expected[:, 0], qx[:, None] - expected[:, 1]).argmin(0)
        over += [qy[nearest] - expected[:, 0], qx[nearest] - expected[:, 1]]
    # The median disk's scatter and the median error: 540 numbers each, whose medians scatter by 1.2 / sqrt(540) = 5 %; the profile of the bound 3 %.
    assert 0.8 < report["scatter_px"] / (1.4826 * np.median(np.abs(over))) < 1.25
    assert 0.9 < report["over_stated"] < 1.15
    strain = report["strain_sigma"]
    assert np.isclose(report["counts_for_strain_1e-3"], report["median_counts"] * (strain["e_xx"] ** 2 + strain["e_yy"] ** 2) / 2e-6)
    assert made["bragg/offsets"].size == 31


def test_a_dose_report_of_scaled_counts_is_refused(folder):
    frames = sonde.stem.load(folder / "scan_master.h5")
    doubled = 2 * np.stack([np.stack([frames.pattern(row, col) for col in range(SCAN[1])]) for row in range(SCAN[0])]).astype(np.uint16)
    with pytest.raises(sonde.Error, match="times their mean; expected 0.8 to 1.2"):
        sonde.stem.bragg(doubled, dose_report=30, probe="4", min_relative_intensity=0.05)


def frames_on_a_slope(folder):
    """The counts of the scan on a background that falls with the distance from the middle: (position, row, col) f64."""
    scan = sonde.stem.load(folder / "scan_master.h5", layout="frame", hot_pixels="zero")
    frames = np.array(scan.array).astype(float)
    y, x = np.indices(DETECTOR)
    return frames + np.random.default_rng(3).poisson(60 * np.exp(-np.hypot(y - 44, x - 51) / 18), frames.shape)


def radial_median(frame, row, col, hold):
    """Medians of rings one pixel wide, and lines between their middles."""
    r = np.hypot(*(at - origin for at, origin in zip(np.indices(frame.shape), (row, col))))
    ring = np.floor(r + 0.5).astype(int)
    at = np.arange(np.ceil(hold), ring.max() + 1)
    return np.interp(r, at, [np.median(frame[ring == k]) for k in at])


@pytest.mark.parametrize("background", ["constant", "radial_median", "dog"])
def test_a_background_is_that_of_numpy_and_scipy(folder, background):
    """What is found with it is what is found without it in patterns that NumPy has taken it from."""
    frames = frames_on_a_slope(folder)
    settings = dict(probe="4", kernel="flat", kernel_outer=8, hot_pixels="none", min_relative_intensity=0.1)
    made = sonde.stem.bragg(frames.astype(np.uint16), background=background, **settings)
    used = made.facts["bragg"]
    by = {
        "constant": lambda frame: frame - np.median(frame),
        "radial_median": lambda frame: frame - radial_median(frame, used["background_row"], used["background_col"], 6),
        # Periodic, as the correlation is.
        "dog": lambda frame: frame - scipy.ndimage.gaussian_filter(frame, 8, mode="wrap", truncate=6),
    }[background]
    cleaned = np.stack([np.stack([by(frame) for frame in row]) for row in frames]).astype(np.float32)
    expected = sonde.stem.bragg(cleaned, **settings)
    assert made["bragg/qy"].size > 30  # at least the direct disk
    np.testing.assert_array_equal(made["bragg/offsets"], expected["bragg/offsets"])
    for axis in ("qy", "qx"):
        # Sums of 10^4 values in float32, and blurs that are cut off at 6 widths.
        np.testing.assert_allclose(made[f"bragg/{axis}"], expected[f"bragg/{axis}"], atol=2e-3)
    if background == "radial_median":
        assert abs(used["background_row"] - 44) < 1 and abs(used["background_col"] - 51) < 1
        auto = sonde.stem.bragg(frames.astype(np.uint16), background=background, hot_pixels="none").facts["bragg"]
        assert auto["background_row"] == auto["probe_row"]


def test_tuning_chooses_settings_and_finds_the_disks_with_them(folder):
    made = sonde.stem.bragg(folder / "scan_master.h5", tune=12, kernel="sigmoid", hot_pixels="zero")
    tuning, used = made.facts["tuning"], made.facts["bragg"]
    assert set(tuning["settings"]) >= {"kernel", "background", "min_relative_intensity", "min_peak_spacing"}
    kernel = tuning["settings"]["kernel"]
    assert kernel["before"] == "sigmoid" and kernel["chosen"] == used["kernel"] != "sigmoid" and kernel["because"]
    assert kernel["values"][kernel["chosen"]]["over_bound"] < 0.9 * kernel["values"]["sigmoid"]["over_bound"]
    # What is printed repeats it.
    words = [word.removeprefix("--").replace("-", "_") for word in tuning["options"].split()]
    numbers = [float(value) if value[0].isdigit() else value for value in words[1::2]]
    again = sonde.stem.bragg(folder / "scan_master.h5", hot_pixels="zero", **dict(zip(words[::2], numbers)))
    np.testing.assert_array_equal(again["bragg/qy"], made["bragg/qy"])


def test_tuning_and_a_dose_report_are_not_done_at_once(folder):
    with pytest.raises(sonde.Error, match="a report is of settings that are known; expected one of them"):
        sonde.stem.bragg(folder / "scan_master.h5", tune=12, dose_report=12)
    with pytest.raises(sonde.Error, match="medians of half the counts are not half the medians"):
        sonde.stem.bragg(folder / "scan_master.h5", background="constant", dose_report=12)


def test_strain_of_a_scan_reports_what_it_depends_on(folder, found):
    strain = sonde.stem.strain(folder / "scan_master.h5", sensitivity=9)
    sensitivity = strain.facts["sensitivity"]
    assert sensitivity["patterns"] == 9 and set(sensitivity["kernel"]) >= {"poisson"}
    assert set(sensitivity["mask"]) == {"nearer half of the disks", "farther half of the disks"}
    assert sensitivity["reference"]["upper half of the scan"]["e_xx"]["change"] < 0.01
    assert sonde.stem.strain(folder / "scan_master.h5").facts["sensitivity"]["patterns"] == 16
    assert "sensitivity" not in sonde.stem.strain(folder / "scan_master.h5", sensitivity=0).facts
    assert "sensitivity" not in sonde.stem.strain(folder / "bragg.h5").facts
    with pytest.raises(sonde.Error, match="bragg.h5 has disks and no patterns; expected a scan"):
        sonde.stem.strain(folder / "bragg.h5", sensitivity=9)
