# SPDX-License-Identifier: Apache-2.0
"""Folders as series."""

import numpy as np
import pytest

import sonde


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("series")
    for tilt in (2, 10, 1):
        sonde.stem.simulate(path / f"tilt{tilt}_master.h5", scan_shape=(6, 5), detector_shape=(32, 32), disk_radius=4, seed=tilt)
    sonde.stem.simulate(path / "other_master.h5", scan_shape=(4, 4), detector_shape=(32, 32), disk_radius=4)
    return path


@pytest.fixture
def series(folder):
    return sonde.stem.load_folder(folder, pattern="tilt", det_bin=2)


def test_items_are_in_natural_order(series):
    assert [item.label for item in series.items] == ["tilt1", "tilt2", "tilt10"]
    assert series.items[0].shape == (6, 5, 32, 32)
    assert len(series) == 3 and series.eager[0] is True and repr(series) == "<sonde.stem.Series of 3 scans>"


def test_an_item_is_the_scan_loaded_alone(series, folder):
    alone = sonde.stem.load(folder / "tilt10_master.h5", det_bin=2)
    np.testing.assert_array_equal(series[2].array, alone.array)
    np.testing.assert_array_equal(series[-1].image("bf"), alone.image("bf"))
    assert [ds.path for ds in series] == [item.path for item in series.items]
    with pytest.raises(IndexError):
        series[3]


def test_items_are_held_and_loaded_ahead(series):
    assert not series.held(0)
    first = series[0]
    assert series.held(0)
    assert first.array.__array_interface__ == series[0].array.__array_interface__
    series.prefetch(1)
    assert series[1].shape == (6, 5, 16, 16)


def test_scans_of_another_shape_are_left_out(folder):
    series = sonde.stem.load_folder(folder, series_shape=(6, 5, 32, 32))
    assert len(series) == 3
    ((path, reason),) = series.skipped
    assert path.endswith("other_master.h5") and "shape (4, 4, 32, 32)" in reason


def test_release_counts_the_arrays_of_all_items(series):
    arrays = [series[0].array, series[1].array, series[1].good]
    with pytest.raises(sonde.Error, match="the series cannot be released: it is in use by 3 arrays"):
        series.release()
    first = series[0]
    del arrays
    series.release()
    assert series.released and repr(series) == "<sonde.stem.Series, released>"
    for use in (lambda: series[0], lambda: len(series), lambda: first.array, lambda: first.shape):
        with pytest.raises(sonde.Error, match="was released"):
            use()


def test_releasing_an_item_leaves_the_series(series):
    with series[0] as first:
        pass
    assert first.released and series.held(0) and not series[0].released


def test_seed_names(folder, scan):
    ds = sonde.IO.arina_file(scan, det_bin=2, scan_bin=1, scan_shape=(12, 10), hot_pixels=False)
    assert ds.shape == (12, 10, 32, 24) and ds.bad_pixels == []
    with sonde.IO.arina_folder(folder, det_bin=2, pattern="tilt") as series:
        assert len(series) == 3


def test_one_centre_for_all_scans_and_the_shift_of_each(tmp_path):
    rows, cols = np.mgrid[:32, :40]
    for i, (row, col) in enumerate([(14, 18), (16, 18), (15, 21)]):
        disk = np.where(np.hypot(rows - row, cols - col) < 6.3, 200, 1).astype(np.uint16)
        np.save(tmp_path / f"{i}.npy", np.tile(disk, (3, 4, 1, 1)))
    series = sonde.stem.load_folder([tmp_path / f"{i}.npy" for i in range(3)])
    found = series.find_centre("com")
    own = [item.find_centre("com") for item in series]
    assert found.centre.row == pytest.approx(np.mean([each.row for each in own]), abs=1e-9)
    assert found.centre.col == pytest.approx(np.mean([each.col for each in own]), abs=1e-9)
    assert [shift.label for shift in found.shifts] == ["0.npy", "1.npy", "2.npy"]
    for shift, each in zip(found.shifts, own):
        assert (shift.row, shift.col, shift.error) == (each.row - found.centre.row, each.col - found.centre.col, "")
    assert "the beam moves by up to " in found.centre.notes[-1]
