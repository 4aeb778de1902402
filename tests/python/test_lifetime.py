# SPDX-License-Identifier: Apache-2.0
"""Who keeps memory, who gives it back, and what is refused meanwhile."""

import gc
import pickle

import numpy as np
import pytest

import sonde
from conftest import address


@pytest.fixture
def ds(scan):
    return sonde.stem.load(scan)


def test_the_array_is_a_window_on_one_memory(ds):
    assert address(ds.array) == address(ds.array)
    assert np.shares_memory(ds.array, np.asarray(ds))
    assert not ds.array.flags.writeable and not ds.moments.total.flags.writeable
    with pytest.raises(ValueError):
        ds.array[0, 0, 0, 0] = 1


def test_an_array_outlives_its_data_set(scan, clean):
    array, total = (lambda ds: (ds.array, ds.moments.total))(sonde.stem.load(scan))
    gc.collect()
    others = [sonde.stem.load(scan) for _ in range(3)]  # would take the memory, were it free
    np.testing.assert_array_equal(array, clean)
    np.testing.assert_array_equal(total, clean.sum(axis=(2, 3)))
    assert address(others[0].array) != address(array)


def test_release_names_how_many_arrays_are_alive(ds):
    array = ds.array
    part = ds.array[0, 0]  # keeps the window that it is a part of
    with pytest.raises(sonde.Error, match="in use by 2 arrays") as refused:
        ds.release()
    assert refused.value.kind == "bad_input" and "del" in refused.value.hint
    del array
    with pytest.raises(sonde.Error, match="in use by 1 array\n"):
        ds.free()
    copy = part.copy()
    del part
    ds.release()
    assert ds.released and copy.any()


def test_nothing_works_after_release(ds):
    ds.release()
    ds.release()  # once more is no error
    assert repr(ds) == "<sonde.stem.Dataset, released>"
    uses = [lambda: ds.array, lambda: ds.shape, lambda: ds.image("bf"), lambda: ds.image(np.ones((64, 48))), lambda: ds.moments,
            lambda: ds.pattern(0, 0), lambda: ds.centre, lambda: ds.metadata, lambda: ds.good, lambda: ds.memory,
            lambda: ds.provenance, lambda: ds.mask("bf"), lambda: np.from_dlpack(ds), lambda: np.asarray(ds)]
    for use in uses:
        with pytest.raises(sonde.Error, match="the data set was released"):
            use()


def test_a_with_block_releases(scan):
    with sonde.stem.load(scan) as ds:
        assert ds.array.any()
    assert ds.released


def test_a_with_block_says_when_it_cannot_release(scan):
    with pytest.raises(sonde.Error, match="in use by 1 array"), sonde.stem.load(scan) as ds:
        array = ds.array
    del array


def test_a_with_block_hides_no_error(scan):
    with pytest.raises(ZeroDivisionError), sonde.stem.load(scan) as ds:
        array = ds.array
        array[0, 0, 0, 0] // 1
        raise ZeroDivisionError
    del array


def test_memory_goes_back_to_the_system(tmp_path):
    def resident():
        with open("/proc/self/statm", encoding="ascii") as file:
            return int(file.read().split()[1]) * 4096

    np.save(tmp_path / "scan.npy", np.ones((32, 32, 256, 256), np.uint8))  # 64 MiB
    ds = sonde.stem.load(tmp_path / "scan.npy", hot_pixels="none", layout="frame")
    before = resident()
    ds.release()
    assert before - resident() > 48 << 20  # all but what allocators round and keep


def test_errors_can_be_pickled(ds):
    ds.release()
    with pytest.raises(sonde.Error) as refused:
        ds.shape
    again = pickle.loads(pickle.dumps(refused.value))
    assert str(again) == str(refused.value) and again.kind == "bad_input"
