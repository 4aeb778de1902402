# SPDX-License-Identifier: Apache-2.0
"""Electrons of a Timepix3 detector by position, from words that NumPy writes to arrays, beside the electrons that made them."""

import h5py
import numpy as np
import pytest

import sonde
import timepix_words

ROWS, COLS = 9, 14
DWELL = 2 * 640  # ticks: 2 us


@pytest.fixture(scope="module")
def scan(tmp_path_factory):
    """At 1.5 electrons a microsecond none of them overlap; every position (-1: flyback) and pixel is known."""
    path = tmp_path_factory.mktemp("events") / "in.tpx3"
    data, position, pixel = timepix_words.line_scan(ROWS, COLS, DWELL, 3, seed=5)
    path.write_bytes(data)
    return path, position, pixel


def lists(made):
    ends = made["events/offsets"].astype(int)
    return [sorted(made["events/index"][first:last]) for first, last in zip(ends[:-1], ends[1:])]


def test_every_position_has_its_electrons(scan, tmp_path):
    path, position, pixel = scan
    made = sonde.stem.events(path, dwell="2us", scan_shape=(ROWS, COLS), output=tmp_path / "events.h5")
    expected = [sorted(pixel[position == p]) for p in range(ROWS * COLS)]
    assert lists(made) == expected
    np.testing.assert_array_equal(made["counts"].ravel(), [len(each) for each in expected])
    np.testing.assert_array_equal(made["pattern"].ravel(), np.bincount(pixel[position >= 0], minlength=65536))
    facts = made.facts["events"]
    assert facts["electrons"]["flyback"] + facts["electrons"]["after"] == np.count_nonzero(position < 0)
    assert facts["scan"]["edges"] == "rises of TDC1" and facts["scan"]["edge_count"] == ROWS
    assert facts["hits"]["out_of_order"] > 0 and 0 < facts["hits"]["most_out_of_order_s"] <= 100.1e-6
    assert sum(facts["hit_rate"]["hits"]) == facts["hits"]["count"]
    with h5py.File(tmp_path / "events.h5") as file:
        np.testing.assert_array_equal(file["events/index"], made["events/index"])
        assert list(file["events"].attrs["scan_shape"]) == [ROWS, COLS]


def test_every_hit_is_an_event_without_clusters(scan):
    path, position, _ = scan
    made = sonde.stem.events(path, dwell=2e-6, scan_shape=f"{ROWS}x{COLS}", cluster_time=0)
    facts = made.facts["events"]
    assert facts["electrons"]["count"] == facts["hits"]["count"] > len(position)


def test_a_chip_that_is_turned_turns_its_pixels(scan, tmp_path):
    path, position, pixel = scan
    (tmp_path / "chips.toml").write_text("[[chip]]\nquarter_turns = 1\nflip = true\n")
    made = sonde.stem.events(path, dwell="2us", scan_shape=(ROWS, COLS), chips=tmp_path / "chips.toml", cluster_time=0)
    plain = sonde.stem.events(path, dwell="2us", scan_shape=(ROWS, COLS), cluster_time=0)
    np.testing.assert_array_equal(made["pattern"], np.rot90(plain["pattern"][:, ::-1], -1))


@pytest.mark.parametrize("wrong, first", [({"dwell": "3us"}, "takes 42 us: dwell or scan_shape is wrong"),
                                          ({"scan_shape": "7x14"}, "9 rises of TDC1 for 7 lines of the scan: scan_shape is wrong")])
def test_a_wrong_scan_is_named_first(scan, wrong, first, caplog):
    sonde.stem.events(scan[0], **({"dwell": "2us", "scan_shape": (ROWS, COLS)} | wrong))
    assert first in caplog.records[0].getMessage()


def test_what_is_missing_is_asked_for(scan):
    with pytest.raises(sonde.Error, match="no dwell time was given.*\n.*give dwell"):
        sonde.stem.events(scan[0], scan_shape="9x14")
