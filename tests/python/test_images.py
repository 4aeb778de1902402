# SPDX-License-Identifier: Apache-2.0
"""Virtual images against NumPy's tensordot: integers are equal, sums of floats within their rounding."""

import base64
import os
import re
import struct
import subprocess
import zlib

import numpy as np
import pytest

import sonde

LAYOUTS = ["pixel", "frame", "compressed", "file"]


def sums(elements, mask):
    return np.tensordot(elements.astype(np.uint64), mask.astype(np.uint64), axes=2)


@pytest.fixture(scope="module", params=LAYOUTS)
def ds(request, scan):
    return sonde.stem.load(scan, layout=request.param)


def test_an_expression_is_the_sum_of_its_pixels(ds, clean):
    rows, cols = np.mgrid[:64, :48]
    d = np.hypot(rows - 31.5, cols - 20)
    image = ds.image("annulus(31.5,20,5,14.25)")
    assert image.dtype == np.uint64 and image.shape == (12, 10)
    np.testing.assert_array_equal(image, sums(clean, (d >= 5) & (d < 14.25)))


@pytest.mark.parametrize("dtype", [bool, np.uint8, np.int64, np.float32, np.float64])
def test_a_mask_array_of_any_type(ds, clean, dtype):
    mask = np.zeros((64, 48), dtype)
    mask[10:40, 5:30] = 1
    np.testing.assert_array_equal(ds.image(mask), sums(clean, mask != 0))
    np.testing.assert_array_equal(sonde.stem.image(ds, mask[:, ::-1]), sums(clean, mask[:, ::-1] != 0))


def test_weights_are_applied_in_double_precision(ds, clean):
    weights = np.random.default_rng(1).random((64, 48), np.float32)
    weights[5:9] = -2
    exact = np.tensordot(clean.astype(np.float64), weights.astype(np.float64), axes=2)
    # Each of 3072 products and additions rounds by at most eps of the sum of magnitudes.
    bound = 3072 * np.finfo(np.float64).eps * np.tensordot(clean.astype(np.float64), np.abs(weights), axes=2)
    image = ds.image(weights)
    assert image.dtype == np.float64
    assert (np.abs(image - exact) <= bound).all()


def test_segments_are_one_array_and_add_up_to_the_annulus(ds, clean):
    rows, cols = np.mgrid[:64, :48]
    d, turns = np.hypot(rows - 31.5, cols - 20), np.arctan2(rows - 31.5, cols - 20) / (2 * np.pi) % 1
    image = ds.image("segments(31.5,20,3,15,2,4)")
    assert image.dtype == np.uint64 and image.shape == (8, 12, 10)
    for ring in range(2):
        for sector in range(4):
            inside = (d >= 3 + 6 * ring) & (d < 9 + 6 * ring) & (np.floor(4 * turns) == sector)
            np.testing.assert_array_equal(image[4 * ring + sector], sums(clean, inside))
    np.testing.assert_array_equal(image.sum(0), ds.image("annulus(31.5,20,3,15)"))


def test_rings_of_a_file_are_those_of_a_loaded_scan(scan, clean):
    rows, cols = np.mgrid[:64, :48]
    d = np.hypot(rows - 31.5, cols - 20)
    name = "rings(31.5,20,0,30,20)"  # more than bit planes take
    image = sonde.run("stem image", str(scan), detector=[name], hot_pixels="none")[name]
    assert image.shape == (20, 12, 10)
    loaded = sonde.stem.load(scan, hot_pixels="none").image(name)
    np.testing.assert_array_equal(image, loaded)


def test_several_detectors_come_as_a_list(ds):
    bf, all_pixels = ds.image(["bf", "all"])
    np.testing.assert_array_equal(bf, ds.image("bf"))
    np.testing.assert_array_equal(all_pixels, ds.moments.total)


def test_the_mask_of_an_expression_makes_the_same_image(ds):
    mask = ds.mask("adf", centre=(31.5, 24), radius=6)
    np.testing.assert_array_equal(ds.image(mask), ds.image("adf", centre=(31.5, 24), radius=6))
    assert mask.dtype == np.float32 and not mask[~ds.good].any()
    assert ((0 < ds.mask("bf", antialias=True)) & (ds.mask("bf", antialias=True) < 1)).any()


def test_options_have_both_spellings_and_all_limits(ds):
    np.testing.assert_array_equal(ds.image("bf", center="30,24", radius=5), ds.image("bf", centre=(30, 24), radius=5))
    with pytest.raises(sonde.Error, match="radius in image.*below the smallest"):
        ds.image("bf", radius=-1)


def test_first_moments(ds, clean):
    rows = np.arange(64, dtype=np.uint64)
    total = clean.sum(axis=(2, 3), dtype=np.uint64)
    expected = np.einsum("rcyx,y->rc", clean.astype(np.uint64), rows) / total
    np.testing.assert_array_equal(ds.image("com-row"), expected)


def test_normalised_by_area(ds):
    area = ds.mask("bf").sum()
    np.testing.assert_array_equal(ds.image("bf", normalise="area"), ds.image("bf") / area)


def test_a_saved_image_is_repeated_by_the_program(scan, tmp_path):
    ds = sonde.stem.load(scan, det_bin=2)
    saved = ds.save_image(tmp_path / "adf.npy", "adf")
    np.testing.assert_array_equal(saved, ds.image("adf"))
    np.testing.assert_array_equal(np.load(tmp_path / "adf.npy"), saved)
    subprocess.run([os.environ["SONDE_PROGRAM"], "stem", "image", "--from", tmp_path / "adf.json", "-o", tmp_path / "again.npy"],
                   check=True, capture_output=True)
    assert (tmp_path / "again.npy").read_bytes() == (tmp_path / "adf.npy").read_bytes()
    ds.save_image(tmp_path / "bf.png", range=(0, 5e3), map="viridis")
    assert (tmp_path / "bf.png").read_bytes().startswith(b"\x89PNG")


def test_the_centre_is_where_the_simulation_put_it(ds):
    # The default centre of the simulation is that of the detector; its sub-pixel offset and the deflections are below a pixel.
    assert abs(ds.centre.row - 31.5) < 1 and abs(ds.centre.col - 23.5) < 1
    assert abs(ds.centre.radius - 8) < 1 and ds.centre.confidence > 0.5
    assert sonde.stem.centre(ds) == ds.centre
    assert sonde.stem.centre(ds.mean_pattern, good=ds.good) == ds.centre


def test_the_centre_of_any_pattern():
    rows, cols = np.mgrid[:64, :64]
    disk = (np.hypot(rows - 30, cols - 35) < 12).astype(np.uint16) * 100
    found = sonde.stem.centre(disk, "com")
    assert (found.row, found.col, found.method) == (30, 35, "com")
    with pytest.raises(sonde.Error, match="did you mean"):
        sonde.stem.centre(disk, "edges")


@pytest.mark.parametrize("layout", ["pixel", "frame", "compressed", "file"])
@pytest.mark.parametrize("key", [(0, 0), (-1, -1), (3,), -2, (slice(2, 5), slice(None, None, 3)), (slice(None, None, -4), 1), (Ellipsis, 5, 7),
                                 (2, Ellipsis), (1, 2, slice(3, 9), -1), (slice(4, 4), 0)])
def test_data_sets_are_indexed_as_arrays(scan, clean, layout, key):
    ds = sonde.stem.load(scan, layout=layout)
    np.testing.assert_array_equal(ds[key], clean[key])
    assert ds[key].dtype == ds.dtype


@pytest.mark.parametrize("layout", ["pixel", "compressed"])
def test_positions_outside_are_named(scan, layout):
    ds = sonde.stem.load(scan, layout=layout)
    for key in ((12, 0), (0, -11)):
        with pytest.raises(IndexError, match=r"in a data set of shape \(12, 10, 64, 48\)") as caught:
            ds[key]
        assert isinstance(caught.value, sonde.Error) and caught.value.kind == "bad_input"
    assert len(ds) == 12 and sum(1 for _ in ds) == 12


def test_negative_positions_count_from_the_end(scan, clean):
    ds = sonde.stem.load(scan)
    np.testing.assert_array_equal(ds.pattern(-1, -10), clean[11, 0])
    with pytest.raises(sonde.Error, match="outside the scan"):
        ds.pattern(-13, 0)


def test_lists_of_positions_need_an_array(scan, clean):
    np.testing.assert_array_equal(sonde.stem.load(scan)[[1, 3]], clean[[1, 3]])
    with pytest.raises(sonde.Error, match="expected up to 4 whole numbers and slices") as caught:
        sonde.stem.load(scan, layout="compressed")[[1, 3]]
    assert 'layout="frame"' in caught.value.hint


def test_a_notebook_shows_a_data_set(scan, clean):
    ds = sonde.stem.load(scan, det_bin=2)
    shown = ds._repr_html_()
    assert "<td style='text-align: left'>12 x 10</td>" in shown and "32 x 24" in shown and "detector 2" in shown
    # The pictures, decoded by another program's rules: each line of a PNG begins with its filter.
    totals, pattern = (base64.b64decode(text) for text in re.findall(r"data:image/png;base64,([^']+)'", shown))
    for data, expected in ((totals, ds.moments.total), (pattern, np.log1p(ds.mean_pattern))):
        cols, rows = struct.unpack(">II", data[16:24])
        size, = struct.unpack(">I", data[33:37])
        lines = np.frombuffer(zlib.decompress(data[41:41 + size]), np.uint8).reshape(rows, cols + 1)
        assert (rows, cols) == expected.shape and not lines[:, 0].any()
        span = expected.max() - expected.min()
        # truncation to one of 256 steps
        np.testing.assert_allclose(lines[:, 1:], (expected - expected.min()) / span * 255, atol=1)
    ds.release()
    assert "released" in ds._repr_html_()


def test_names_in_a_notebook_are_escaped(tmp_path):
    path = tmp_path / "<b>&_master.h5"
    sonde.stem.simulate(path, scan_shape=(4, 4), detector_shape=(32, 32), disk_radius=4)
    shown = sonde.stem.load(path)._repr_html_()
    assert "&lt;b&gt;&amp;_master.h5" in shown and "<b>&" not in shown
