# SPDX-License-Identifier: Apache-2.0
"""Radial profiles beside NumPy's bincount, from files through the program to arrays."""

import h5py
import numpy as np
import pytest

import sonde

SHAPE = (3, 4, 30, 37)
CENTRE = (13.3, 18.9)


@pytest.fixture(scope="module")
def counts():
    return np.random.default_rng(3).poisson(40, SHAPE).astype(np.uint16)


def radius_and_angle():
    row, col = np.mgrid[: SHAPE[2], : SHAPE[3]]
    y, x = row - CENTRE[0], col - CENTRE[1]
    return np.hypot(y, x), np.arctan2(y, x) % (2 * np.pi)


def by_bincount(counts, bins, outer, angles=1):
    radius, angle = radius_and_angle()
    bin_of = (radius / outer * bins).astype(int) * angles + (angle / (2 * np.pi) * angles).astype(int)
    inside = radius < outer
    sums = np.stack([np.bincount(bin_of[inside], frame[inside], minlength=bins * angles) for frame in counts.reshape(-1, *SHAPE[2:])])
    return sums, np.bincount(bin_of[inside], minlength=bins * angles)


@pytest.mark.parametrize("angles", [1, 6])
def test_whole_pixels_are_numpys_bincount(counts, tmp_path, angles):
    np.save(tmp_path / "counts.npy", counts)
    made = sonde.stem.radial(tmp_path / "counts.npy", centre="13.3,18.9", split="none", bins=9, outer=12.5, azimuth=angles, hot_pixels="none")
    sums, area = by_bincount(counts, 9, 12.5, angles)
    shape = SHAPE[:2] + ((9, angles) if angles > 1 else (9,))
    np.testing.assert_array_equal(made["radial/area"].ravel(), area)
    with np.errstate(invalid="ignore"):
        np.testing.assert_array_equal(made["radial/mean"], (sums / area).astype(np.float32).reshape(shape))
        np.testing.assert_array_equal(made["radial/variance"], (sums / area**2).astype(np.float32).reshape(shape))
        np.testing.assert_allclose(made["radial/mean_of_scan"].ravel(), sums.mean(0) / area, rtol=1e-13)


def test_poisson_counts_scatter_as_stated(counts):
    """Of one rate everywhere the profiles of 12 positions scatter by their variance."""
    made = sonde.stem.radial(counts, centre="13.3,18.9", bins=12, outer=12, hot_pixels="none")
    pulls = (made["radial/mean"] - 40) / np.sqrt(made["radial/variance"])
    assert 0.8 < np.std(pulls) < 1.2  # 144 of them: 6 % by chance


def test_floating_point_frames_have_no_variance(counts):
    made = sonde.stem.radial(counts.astype(np.float32) / 3, centre="13.3,18.9", bins=9, outer=12.5, split="none", hot_pixels="none")
    assert "radial/variance" not in made.variables
    sums, area = by_bincount(counts / 3, 9, 12.5)
    np.testing.assert_allclose(made["radial/mean"].reshape(12, 9), sums / area, rtol=1e-6)


def test_medians_spreads_and_orders_are_numpys(counts, tmp_path):
    np.save(tmp_path / "counts.npy", counts)
    made = sonde.stem.radial(tmp_path / "counts.npy", centre="13.3,18.9", split="none", bins=40, outer=12.5, median=True, spread=True, orders=5, hot_pixels="none",
                             output=tmp_path / "rings.h5")
    radius, angle = radius_and_angle()
    for ring in range(40):
        inside = (radius / 12.5 * 40).astype(int) == ring
        if not inside.any():  # the first ring holds no centre of a pixel
            assert np.isnan(made["radial/median"][..., ring]).all() and np.isnan(made["radial/orders"][..., ring, :]).all()
            continue
        values = counts[..., inside].astype(float)
        np.testing.assert_array_equal(made["radial/median"][..., ring], np.median(values, -1).astype(np.float32))
        np.testing.assert_allclose(made["radial/spread"][..., ring], values.var(-1), rtol=1e-6, atol=1e-6)
        waves = np.exp(1j * np.arange(6)[:, None] * angle[inside])
        np.testing.assert_allclose(made["radial/orders"][..., ring, :], (values[..., None, :] * waves).mean(-1), atol=1e-4)  # f32 of about 40
        fluctuation = (values.var(-1) / values.mean(-1) ** 2).mean()
        assert made["radial/fluctuation_of_scan"][ring] == pytest.approx(fluctuation, rel=1e-5)
    with h5py.File(tmp_path / "rings.h5") as file:
        assert file["radial/orders"].shape == (3, 4, 40, 6)


def test_a_unit_without_its_calibration_is_refused(counts):
    with pytest.raises(sonde.Error, match="the reciprocal size of a detector pixel is not known.*\n.*voltage"):
        sonde.stem.radial(counts, unit="1/A", centre="13,18")


def test_the_ellipse_that_a_file_states_makes_a_ring_round(tmp_path):
    """py4DSTEM's circle has the radius b, to which its pixel size belongs; its axes are exchanged."""
    a, b, theta, pixel = 1.1, 0.95, 0.4, 0.02
    row, col = np.mgrid[:121, :133]
    y, x = row - 60.2, col - 66.4
    along, across = y * np.cos(theta) + x * np.sin(theta), -y * np.sin(theta) + x * np.cos(theta)
    radius = b * np.hypot(along / a, across / b)  # of the circle, px
    frames = np.tile(1000 * np.exp(-0.5 * ((radius - 40) / 0.8) ** 2), (2, 3, 1, 1)).astype(np.float32)
    with h5py.File(tmp_path / "scan.h5", "w") as file:
        file["root/cube/data"] = frames
        calibration = file.create_group("root/metadatabundle/calibration")
        calibration["a"], calibration["b"], calibration["theta"] = a, b, theta
        calibration["Q_pixel_size"], calibration["Q_pixel_units"] = pixel, "A^-1"
    given = {"centre": "60.2,66.4", "bins": 300, "outer": 1.1, "hot_pixels": "none"}

    def middle_and_width(made):
        places, weights = made["radius"], np.nan_to_num(made["radial/mean_of_scan"])
        middle = np.average(places, weights=weights)
        return middle, np.sqrt(np.average((places - middle) ** 2, weights=weights))

    made = sonde.stem.radial(tmp_path / "scan.h5", **given)
    assert made.facts["radial"]["ellipse"]["from"] == "file" and made.variables["radius"].unit == "1/A"
    middle, width = middle_and_width(made)
    assert middle == pytest.approx(40 * pixel, abs=0.05 * pixel)  # the curvature of rings and pixels: a few hundredths of a pixel
    assert width < 1.2 * pixel  # 0.8 px of the ring, and the pixels themselves
    assert middle_and_width(sonde.stem.radial(tmp_path / "scan.h5", skip_calibration="ellipse", **given))[1] > 2 * pixel
    by_hand = sonde.stem.radial(tmp_path / "scan.h5", ellipse=f"{a},{b},{90 - np.degrees(theta)}", **given)
    assert middle_and_width(by_hand)[0] == pytest.approx(middle * np.sqrt(a / b), rel=1e-3)  # of equal area, not of py4DSTEM's circle
