# SPDX-License-Identifier: Apache-2.0
"""Images that are made from earlier ones."""

import numpy as np
import pytest

import sonde


@pytest.fixture(params=["pixel", "frame"])
def ds(scan, request):
    return sonde.stem.load(scan, layout=request.param)


def test_every_image_is_the_sum_over_its_pixels(ds):
    imager = sonde.stem.VirtualImager(ds)
    rows, cols = np.mgrid[:64, :48]
    paths = set()
    for step in range(40):  # a way with small and large steps
        row, col = 20 + 0.7 * step, 15 + (11 * step) % 17
        inside = (np.hypot(rows - row, cols - col) < 9) & ds.good
        image = imager.compute(f"circle({row},{col},9)")
        assert image.dtype == np.uint64
        np.testing.assert_array_equal(image, ds.array.sum(axis=(2, 3), where=inside, dtype=np.uint64))
        paths.add(imager.path)
    assert imager.because and ("incremental" in paths or ds.layout == "frame")  # lines of a frame are read as a whole


def test_masks_and_words_are_those_of_the_data_set(ds):
    imager = sonde.stem.VirtualImager(ds)
    weights = np.random.default_rng(2).random((64, 48)).astype(np.float32)
    np.testing.assert_array_equal(imager.compute(weights), ds.image(weights))
    np.testing.assert_array_equal(imager.compute("bf"), ds.image("bf"))
    imager.reset()
    np.testing.assert_array_equal(imager.compute("adf"), ds.image("adf"))
    assert imager.path != "incremental"  # nothing to begin with


def test_an_image_stays_as_it_is_when_others_follow(ds):
    imager = sonde.stem.VirtualImager(ds)
    first = imager.compute("circle(20,20,5)")
    kept = first.copy()
    for col in range(20):
        imager.compute(f"circle(20,{10 + col},5)")[:] = 0
    np.testing.assert_array_equal(first, kept)
    np.testing.assert_array_equal(imager.compute("circle(20,20,5)"), kept)


def test_its_data_set_is_kept(ds):
    imager = sonde.stem.VirtualImager(ds)
    with pytest.raises(sonde.Error, match="in use by 1 imager"):
        ds.release()
    del imager
    ds.release()
    with pytest.raises(sonde.Error, match="was released"):
        sonde.stem.VirtualImager(ds)


def test_wrong_detectors_are_errors(ds, scan):
    imager = sonde.stem.VirtualImager(ds)
    with pytest.raises(sonde.Error, match='did you mean "circle"'):
        imager.compute("circl(1,2,3)")
    with pytest.raises(sonde.Error, match="the detector has"):
        imager.compute(np.ones((3, 3)))
    with pytest.raises(sonde.Error, match="not as an array"):
        sonde.stem.VirtualImager(sonde.stem.load(scan, layout="compressed"))
