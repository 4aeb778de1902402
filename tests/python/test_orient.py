# SPDX-License-Identifier: Apache-2.0
"""Orientations of a crystal from files of its disks."""

import numpy as np
import pytest

import small_inputs
import sonde


@pytest.fixture(scope="module")
def gold(tmp_path_factory):
    folder = tmp_path_factory.mktemp("orient")
    small_inputs.gold(folder)
    return folder


def test_the_beam_is_along_the_zone_axis_of_the_disks(gold, tmp_path):
    made = sonde.stem.orient(gold / "gold_disks.h5", crystal=gold / "gold.cif", ang=tmp_path / "gold.ang", png=tmp_path / "gold.png")
    matrix = made["orientation/matrix"][:, :, 0]
    assert matrix.shape == (3, 2, 3, 3)
    np.testing.assert_allclose(matrix @ matrix.swapaxes(-1, -2), np.broadcast_to(np.eye(3), matrix.shape), atol=1e-6)
    beam = np.sort(np.abs(matrix[..., 2]), axis=-1)
    error = np.degrees(np.arccos(np.clip(beam @ np.array([1, 2, 5]) / np.sqrt(30), -1, 1)))
    assert error.max() < 0.01  # refined; float32 places
    turned = matrix[:, 0].swapaxes(-1, -2) @ matrix[:, 1]
    # By 20 degrees from the columns toward the rows; the pattern of a zone axis does not show half a turn.
    angle = np.degrees(np.arctan2(turned[:, 1, 0], turned[:, 0, 0])) % 180
    assert np.all(np.abs(angle - 160) < 0.01)
    assert made["orientation/misorientation_error"].max() < 0.01
    rows = np.loadtxt(tmp_path / "gold.ang")
    assert rows.shape == (6, 8)
    np.testing.assert_array_equal(rows[:, 3], [0, 1] * 3)


def test_what_is_missing_is_named(gold):
    with pytest.raises(sonde.Error, match="no crystal was given"):
        sonde.stem.orient(gold / "gold_disks.h5")
    with pytest.raises(sonde.Error, match="gold.cif"):
        sonde.stem.orient(gold / "gold.cif", crystal=gold / "gold.cif")
