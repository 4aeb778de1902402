# SPDX-License-Identifier: Apache-2.0
"""Deflections of the beam: first moments, their length and direction, against NumPy on scans whose shift is known; and the pictures
that are made of them."""

import json
import os
import subprocess
import zlib

import numpy as np
import pytest

import sonde


@pytest.fixture(scope="module")
def shifted(tmp_path_factory):
    """Vacuum: the beam is shifted by -1, 0 and +1 times two pixels along rows and columns, in turn."""
    master = tmp_path_factory.mktemp("shifted") / "shifted_master.h5"
    subprocess.run([os.environ["SONDE_PROGRAM"], "stem", "simulate", master, "--sample", "vacuum", "--deflection", "2", "--scan-shape", "9,12",
                    "--detector-shape", "64,48", "--disk-radius", "8", "--dose", "40", "--masked-pixels", "0", "--hot-pixels", "0",
                    "--no-truth", "--seed", "7"], check=True, capture_output=True)
    return master


@pytest.fixture(scope="module")
def centres(shifted):
    """Rows and columns of the centres of mass of all patterns, by NumPy in double precision."""
    patterns = sonde.stem.load(shifted, layout="frame").array.astype(np.float64)
    rows, cols = np.mgrid[:64, :48]
    total = patterns.sum(axis=(2, 3))
    return (patterns * rows).sum(axis=(2, 3)) / total, (patterns * cols).sum(axis=(2, 3)) / total


def read_png(path):
    """Red, green and blue of a PNG of eight bits that is not interlaced, by the format's description."""
    data = path.read_bytes()
    cols, rows = np.frombuffer(data, ">u4", 2, 16)
    channels = {2: 3, 6: 4}[data[25]]
    packed, at = b"", 8
    while at < len(data):
        length = int.from_bytes(data[at:at + 4], "big")
        if data[at + 4:at + 8] == b"IDAT":
            packed += data[at + 8:at + 8 + length]
        at += 12 + length
    lines = np.frombuffer(zlib.decompress(packed), np.uint8).reshape(rows, -1)
    width = int(cols) * channels
    image = np.zeros((rows + 1, width + channels), np.int64)
    for r, line in enumerate(lines):
        for i in range(width):
            left, up, corner = image[r + 1, i], image[r, i + channels], image[r, i]
            p = left + up - corner
            paeth = min((left, up, corner), key=lambda value: abs(p - value))
            image[r + 1, i + channels] = (int(line[i + 1]) + [0, left, up, (left + up) // 2, paeth][line[0]]) % 256
    return image[1:, channels:].reshape(rows, cols, channels)[:, :, :3]


# The scale bar is over the lower left corner of a picture.
SEEN = np.ones((9, 12), bool)
SEEN[6:, :6] = False


def test_moments_are_those_of_numpy(shifted, centres):
    ds = sonde.stem.load(shifted)
    row, col = centres
    # Sums are exact integers; one division rounds.
    np.testing.assert_allclose(ds.image("com-row"), row, rtol=4e-16)
    np.testing.assert_allclose(ds.image("com-col"), col, rtol=4e-16)


def test_length_and_direction_are_measured_from_the_centre_of_the_beam(shifted, centres):
    ds = sonde.stem.load(shifted)
    row, col = centres[0] - ds.centre.row, centres[1] - ds.centre.col
    # The subtraction of numbers near 32 leaves 32 eps of them.
    np.testing.assert_allclose(ds.image("com-magnitude"), np.hypot(row, col), rtol=0, atol=64 * np.finfo(float).eps)
    angle = np.exp(1j * ds.image("com-angle"))
    np.testing.assert_allclose(angle, np.exp(1j * np.arctan2(row, col)), rtol=0, atol=1e-12)
    given = ds.image("com-magnitude", centre=(30, 20))
    np.testing.assert_allclose(given, np.hypot(centres[0] - 30, centres[1] - 20), rtol=1e-14)


def test_the_shift_that_was_simulated_comes_back(shifted):
    ds = sonde.stem.load(shifted)
    row = ds.image("com-row") - ds.centre.row
    levels = [row[np.abs(row - wanted) < 1].mean() for wanted in (-2, 0, 2)]
    # The halo of the pattern is cut by the edge of the detector, which takes up to a tenth of the shift; the disk alone shifts by 2.
    assert levels[0] < -1.6 and levels[2] > 1.6 and abs(levels[0] + levels[2]) < 0.2
    assert np.abs(row).max() < 2.5


@pytest.mark.parametrize("word", ["com-row", "com-col"])
def test_pictures_show_deflections_and_files_of_numbers_keep_the_moments(shifted, centres, tmp_path, word):
    ds = sonde.stem.load(shifted)
    kept = ds.save_image(tmp_path / "com.npy", word)
    np.testing.assert_array_equal(np.load(tmp_path / "com.npy"), kept)
    np.testing.assert_array_equal(kept, ds.image(word))
    ds.save_image(tmp_path / "com.png", word, colour_bar=False)
    axis = ["com-row", "com-col"].index(word)
    deflection = centres[axis] - (ds.centre.row, ds.centre.col)[axis]
    picture = read_png(tmp_path / "com.png")
    zoom = picture.shape[0] // 9
    red, _, blue = np.moveaxis(picture[zoom // 2::zoom, zoom // 2::zoom], -1, 0)
    # Red below zero, blue above, and near to white between: the beam is at all three.
    below, above, between = [SEEN & where for where in (deflection < -1, deflection > 1, np.abs(deflection) < 0.1)]
    assert (red > blue + 60)[below].all() and below.any()
    assert (blue > red + 60)[above].all() and above.any()
    assert (np.abs(red - blue) < 40)[between].all() and between.any()
    told = json.loads((tmp_path / "com.json").read_text())["detector"]["deflection"]
    assert told["unit"] == "mrad" and told["from"]["is"] == "centre of the beam"
    assert (told["from"]["row"], told["from"]["col"]) == pytest.approx((ds.centre.row, ds.centre.col))


def test_directions_go_round_a_circle_of_colours(shifted, centres, tmp_path):
    ds = sonde.stem.load(shifted)
    ds.save_image(tmp_path / "angle.png", "com-angle", colour_bar=False)
    picture = read_png(tmp_path / "angle.png")
    zoom = picture.shape[0] // 9
    colours = picture[zoom // 2::zoom, zoom // 2::zoom].reshape(-1, 3)
    angle = np.arctan2(centres[0] - ds.centre.row, centres[1] - ds.centre.col).reshape(-1)
    far = (SEEN & (np.hypot(centres[0] - ds.centre.row, centres[1] - ds.centre.col) > 1)).reshape(-1)
    # Directions that are near to each other have colours that are, across the seam at pi as well.
    for i in np.flatnonzero(far):
        turned = np.abs(np.angle(np.exp(1j * (angle - angle[i]))))
        difference = np.abs(colours - colours[i]).max(axis=1)
        assert (difference[far & (turned < 0.05)] < 20).all()
        assert (difference[far & (turned > 2)] > 40).all()


def test_a_picture_has_a_colour_bar_unless_it_is_left_out(shifted, tmp_path):
    ds = sonde.stem.load(shifted)
    widths = []
    for name, options in [("with", {}), ("without", {"colour_bar": False})]:
        ds.save_image(tmp_path / f"{name}.png", "bf", **options)
        widths.append(read_png(tmp_path / f"{name}.png").shape[1])
    zoom = widths[1] // 12
    assert widths[1] == 12 * zoom and widths[0] > widths[1] + 20
