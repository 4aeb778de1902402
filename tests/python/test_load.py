# SPDX-License-Identifier: Apache-2.0
"""Loaded values against h5py's reading and NumPy's arithmetic."""

import json
import os
import subprocess

import numpy as np
import pytest

import sonde


@pytest.mark.parametrize("layout", ["pixel", "frame"])
def test_elements_are_those_that_h5py_reads(scan, clean, layout):
    ds = sonde.stem.load(scan, layout=layout)
    assert ds.shape == clean.shape
    assert ds.layout == layout
    np.testing.assert_array_equal(ds.array, clean)


def test_the_element_type_is_the_narrowest(scan, clean):
    assert sonde.stem.load(scan).dtype == np.min_scalar_type(clean.max())
    assert sonde.stem.load(scan, dtype="u32").array.dtype == np.uint32


def test_without_the_mask_and_corrections_the_stored_numbers_come(scan, stored):
    ds = sonde.stem.load(scan, ignore_mask=True, hot_pixels="none", layout="frame")
    frames, mask = stored
    sentinel = np.iinfo(frames.dtype).max  # what masked pixels hold: no data, which counts nothing
    np.testing.assert_array_equal(ds.array, np.where(frames == sentinel, 0, frames))
    assert (frames[..., mask != 0] == sentinel).all()


def test_detector_and_scan_bins_are_sums(scan, clean):
    ds = sonde.stem.load(scan, det_bin=2, scan_bin=2)
    r, c, y, x = clean.shape
    sums = clean.astype(np.uint64).reshape(r // 2, 2, c // 2, 2, y // 2, 2, x // 2, 2).sum(axis=(1, 3, 5, 7))
    assert (ds.det_bin, ds.scan_bin) == (2, 2)
    np.testing.assert_array_equal(ds.array, sums)


def test_a_region_and_a_transposed_scan(scan, clean):
    ds = sonde.stem.load(scan, scan_region=(1, 5, 2, 9), hot_pixels="zero")
    np.testing.assert_array_equal(ds.array, clean[1:5, 2:9])
    ds = sonde.stem.load(scan, transpose_detector=True)
    np.testing.assert_array_equal(ds.array, clean.swapaxes(2, 3))


def test_moments_are_sums_over_elements(scan, clean):
    m = sonde.stem.moments(sonde.stem.load(scan))
    counts = clean.astype(np.uint64)
    rows, cols = np.arange(clean.shape[2], dtype=np.uint64), np.arange(clean.shape[3], dtype=np.uint64)
    np.testing.assert_array_equal(m.total, counts.sum(axis=(2, 3)))
    np.testing.assert_array_equal(m.moment_row, np.einsum("rcyx,y->rc", counts, rows))
    np.testing.assert_array_equal(m.moment_col, np.einsum("rcyx,x->rc", counts, cols))
    np.testing.assert_array_equal(m.pattern_sum, counts.sum(axis=(0, 1)))
    np.testing.assert_array_equal(m.pattern_max, counts.max(axis=(0, 1)))
    np.testing.assert_array_equal(m.nonzero, (counts != 0).sum(axis=(0, 1)))


@pytest.mark.parametrize("layout", ["pixel", "frame", "compressed", "file"])
def test_patterns_are_the_same_in_every_layout(scan, clean, layout):
    ds = sonde.stem.load(scan, layout=layout)
    np.testing.assert_array_equal(ds.pattern(7, 3), clean[7, 3])
    np.testing.assert_array_equal(sonde.stem.pattern(ds, np.int64(11), 9), clean[11, 9])
    # One division of an exact sum.
    np.testing.assert_array_equal(ds.mean_pattern, clean.sum(axis=(0, 1), dtype=np.uint64) / (12 * 10))


def test_masks_and_bad_pixels(scan, stored, clean):
    ds = sonde.stem.load(scan)
    found = {(pixel["row"], pixel["col"]) for pixel in ds.bad_pixels}
    assert len(found) == 2 and all(pixel["reason"] == "hot" for pixel in ds.bad_pixels)
    expected = stored[1] == 0
    for row, col in found:
        expected[row, col] = False
    np.testing.assert_array_equal(ds.good, expected)
    np.testing.assert_array_equal(ds.mask_bits != 0, ~expected)
    assert ds.valid.all() and ds.valid.shape == clean.shape[:2]
    assert ds.exactness["exact"] is True


def test_every_count_is_accounted_for(scan, stored, clean):
    frames, mask = stored
    bad = mask != 0
    sentinel = np.iinfo(frames.dtype).max
    counts = np.where(frames == sentinel, 0, frames).astype(np.uint64)
    ledger = sonde.stem.load(scan).ledger
    assert ledger["stored"] == counts.sum()
    assert ledger["masked"] == counts[..., bad].sum()
    assert ledger["kept"] == clean.astype(np.uint64).sum()
    assert ledger["hot"] == ledger["stored"] - ledger["masked"] - ledger["kept"]
    assert ledger["unexplained"] == ledger["clipped"] == ledger["cut"] == 0
    assert (ledger["frames_read"], ledger["frames_unread"]) == (120, 0)
    part = sonde.stem.load(scan, scan_region="0,3,0,4", dtype="u8", hot_pixels="none").ledger
    assert (part["frames_read"], part["frames_unread"]) == (12, 108)
    good = np.where(bad, 0, counts)[:3, :4]
    assert part["clipped"] == np.maximum(good.astype(np.int64) - 255, 0).sum()
    assert part["stored"] == part["kept"] + part["masked"] + part["clipped"] == counts[:3, :4].sum()


def test_values_that_are_not_finite_are_no_data(tmp_path):
    frames = np.full((3, 4, 5, 6), 0.5, np.float32)
    frames[0, 1, 2, 3], frames[2, 2, 2, 3], frames[2, 2, 0, 0] = np.nan, np.inf, -np.inf
    np.save(tmp_path / "scan.npy", frames)
    ds = sonde.stem.load(tmp_path / "scan.npy")
    assert ds.ledger["no_data"] == 3 and ds.ledger["no_data_pixels"] == 2 and ds.ledger["no_data_frames"] == 2
    np.testing.assert_array_equal(ds.image("all"), np.where(np.isfinite(frames), frames, 0).sum(axis=(2, 3)))
    with pytest.raises(sonde.Error, match="3 values in 2 pixels of 2 frames are not finite"):
        sonde.stem.from_array(frames)


def test_negative_values_load_as_floats(tmp_path):
    frames = np.arange(-60, 60, dtype=np.int16).reshape(2, 2, 5, 6)
    np.save(tmp_path / "scan.npy", frames)
    with pytest.raises(sonde.Error, match="counts are between 0 and 65535"):
        sonde.stem.load(tmp_path / "scan.npy")
    np.testing.assert_array_equal(sonde.stem.load(tmp_path / "scan.npy", dtype="f32", layout="frame").array, frames)


def test_what_is_known_of_a_scan(scan):
    ds = sonde.stem.load(scan, voltage=80, scan_step=np.float32(0.25))
    assert ds.calibration["high_tension_v"] == {"value": 80e3, "from": "user"}
    assert ds.calibration["scan_step_row_nm"]["value"] == 0.25
    assert ds.calibration["camera_length_m"]["from"] == "file"
    assert ds.metadata["format"] == "ARINA" and ds.metadata["rows"] == 64
    assert any(path.endswith("bit_depth_image") for path in ds.metadata["original"])
    assert any(choice["value"].startswith("element type") and choice["because"] for choice in ds.choices)
    assert ds.provenance["load"]["voltage"] == 80
    assert repr(ds) == f"<sonde.stem.Dataset (12, 10, 64, 48) {ds.dtype}, layout pixel, {scan}>"


def test_none_is_as_if_it_were_not_given(scan):
    assert sonde.stem.load(scan, scan_shape=None, voltage=None, det_bin=None).shape == (12, 10, 64, 48)


def test_automatic_bins_fit_the_memory(scan):
    need = sonde.stem.info(scan)["estimate"]["predicted_peak_bytes"]
    assert sonde.stem.load(scan, det_bin="auto").det_bin == 1
    assert sonde.stem.load(scan, det_bin="auto", layout="pixel", memory=need - 1).det_bin > 1


def test_info_is_what_the_program_prints(scan):
    printed = json.loads(subprocess.run([os.environ["SONDE_PROGRAM"], "stem", "info", scan, "--json", "--metadata", "--quiet"],
                                        capture_output=True, check=True).stdout)
    ours = sonde.stem.info(scan)
    assert ours["acquisition"] == printed["acquisition"] and ours["metadata"] == printed["metadata"]


def test_validate_lists_every_scan(scan):
    assert sonde.stem.validate(scan, decode=True) == [{"path": str(scan), "frames": 120, "status": "ok"}]
    assert sonde.stem.validate([scan, scan.parent])[1]["status"] == "ok"


def test_conversions_hold_the_same_elements(scan, stored, clean, tmp_path):
    assert sonde.stem.convert(scan, tmp_path / "all.npy") == [str(tmp_path / "all.npy")]
    np.testing.assert_array_equal(np.load(tmp_path / "all.npy"), np.where(stored[1] == 0, stored[0], 0))
    sonde.stem.convert(scan, tmp_path / "clean.npy", hot_pixels="zero")
    np.testing.assert_array_equal(np.load(tmp_path / "clean.npy"), clean)
    ds = sonde.stem.load(scan, det_bin=2)
    ds.convert(tmp_path / "copy_master.h5")
    np.testing.assert_array_equal(sonde.stem.load(tmp_path / "copy_master.h5", hot_pixels="none").array, ds.array)


def test_memory_is_told(scan):
    ds = sonde.stem.load(scan, layout="frame")
    assert sonde.stem.memory(ds)["host"]["resident"] == ds.array.nbytes
    now = sonde.stem.memory()
    assert 0 < now["process"]["resident"] <= now["process"]["peak"]
