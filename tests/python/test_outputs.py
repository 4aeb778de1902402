# SPDX-License-Identifier: Apache-2.0
"""No output of a call takes the place of a file that the data came from; what lies beside it replaces files of sonde only."""

import os
import pathlib
import shutil

import numpy as np
import pytest

import sonde


@pytest.fixture
def own_scan(scan, tmp_path):
    """A copy of the scan that a test may lose."""
    for file in scan.parent.iterdir():
        shutil.copy(file, tmp_path)
    return tmp_path / scan.name


def contents(folder):
    return {file: file.read_bytes() for file in pathlib.Path(folder).rglob("*") if file.is_file()}


def names_for(path, ending):
    """Other names of a file: links of both kinds, and its own where the ending is right."""
    soft, hard = path.parent / f"soft{ending}", path.parent / f"hard{ending}"
    soft.symlink_to(path)
    os.link(path, hard)
    return [soft, hard] + ([path] if path.name.endswith(ending) else [])


def expect_refused(folder, call, text="an output never replaces an input"):
    before = contents(folder)
    with pytest.raises(sonde.Error) as caught:
        call()
    assert caught.value.kind == "bad_input" and text in str(caught.value), caught.value
    assert contents(folder) == before


@pytest.mark.parametrize("part", ["scan_master.h5", "scan_data_000001.h5"])
def test_an_image_never_replaces_the_scan(own_scan, part):
    ds = sonde.stem.load(own_scan)
    for name in names_for(own_scan.parent / part, ".h5"):
        expect_refused(own_scan.parent, lambda name=name: ds.save_image(name, "bf"))


def test_an_image_never_replaces_a_mask(own_scan):
    mask = own_scan.parent / "mask.npy"
    np.save(mask, np.zeros((64, 48), "u1"))
    ds = sonde.stem.load(own_scan, mask_file=mask)
    for name in names_for(mask, ".npy"):
        expect_refused(own_scan.parent, lambda name=name: ds.save_image(name, "bf"))


def test_a_conversion_never_replaces_a_mask(own_scan):
    mask = own_scan.parent / "mask.npy"
    np.save(mask, np.zeros((64, 48), "u1"))
    ds = sonde.stem.load(own_scan, mask_file=mask)
    for name in names_for(mask, ".npy"):
        expect_refused(own_scan.parent, lambda name=name: ds.convert(name))


def test_items_of_a_series_never_replace_each_other(own_scan):
    other = own_scan.parent / "other_master.npy"
    sonde.stem.load(own_scan).convert(other)
    first = sonde.stem.load_folder([own_scan, other])[0]
    for name in names_for(other, ".npy"):
        expect_refused(own_scan.parent, lambda name=name: first.save_image(name, "bf"))
        expect_refused(own_scan.parent, lambda name=name: first.convert(name))


def test_a_mapped_array_is_an_input(own_scan):
    path = own_scan.parent / "mapped.npy"
    sonde.stem.load(own_scan).convert(path)
    ds = sonde.stem.from_array(np.load(path, mmap_mode="r")[1:], copy=True)
    for name in names_for(path, ".npy"):
        expect_refused(own_scan.parent, lambda name=name: ds.convert(name))


def test_a_record_replaces_records_only(own_scan):
    notes = own_scan.parent / "a.json"
    notes.write_text("my notes\n")
    ds = sonde.stem.load(own_scan)
    expect_refused(own_scan.parent, lambda: ds.save_image(own_scan.parent / "a.png", "bf"), "a file that sonde did not write")
    notes.unlink()
    for _ in range(2):  # its own it replaces
        ds.save_image(own_scan.parent / "a.png", "bf")


def test_equal_images_have_equal_records_outside_of_run(own_scan):
    import json

    records = []
    for memory in ("1G", "2G"):
        sonde.stem.load(own_scan, memory=memory).save_image(own_scan.parent / "a.png", "bf")
        records.append(json.loads((own_scan.parent / "a.json").read_text()))
    runs = [record.pop("run") for record in records]
    assert records[0] == records[1]
    assert str(own_scan) in runs[0]["input"]
    assert str(own_scan.parent) not in json.dumps(records[0])

