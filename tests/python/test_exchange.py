# SPDX-License-Identifier: Apache-2.0
"""Arrays in and out without a copy, proved by addresses: NumPy and DLPack."""

import gc
import weakref

import numpy as np
import pytest

import sonde
from conftest import address


@pytest.fixture
def counts():
    return np.random.default_rng(3).integers(0, 200, (5, 4, 16, 12), np.uint16)


@pytest.mark.parametrize("dtype", [np.uint8, np.uint16, np.uint32, np.float32])
def test_an_array_in_is_the_array_out(counts, dtype):
    array = counts.astype(dtype)
    ds = sonde.stem.from_array(array, hot_pixels="none")
    assert ds.layout == "frame" and ds.dtype == dtype
    assert address(ds.array) == address(array)
    np.testing.assert_array_equal(ds.image("all"), array.sum(axis=(2, 3), dtype=np.float64))
    np.testing.assert_array_equal(ds.pattern(4, 3), array[4, 3])


def test_the_array_lives_as_long_as_the_data_set(counts):
    class Owned(np.ndarray):
        """Of a type of its own, since plain arrays take no weak references to what they own."""

    array = counts.view(Owned)
    alive = weakref.ref(array)
    ds = sonde.stem.from_array(array, hot_pixels="none")
    del array
    gc.collect()
    assert alive() is not None
    ds.release()
    gc.collect()
    assert alive() is None


@pytest.mark.parametrize("change", [{"det_bin": 2}, {"scan_bin": 2}, {"layout": "pixel"}, {"dtype": "u32"},
                                    {"scan_region": (0, 2, 0, 2)}, {"transpose_detector": True}])
def test_what_would_change_elements_needs_a_copy(counts, change):
    (name,) = change
    with pytest.raises(sonde.Error, match=f"array: {name} would change elements") as refused:
        sonde.stem.from_array(counts, hot_pixels="none", **change)
    assert "copy=True" in refused.value.hint
    ds = sonde.stem.from_array(counts, copy=True, hot_pixels="none", **change)
    assert not np.shares_memory(ds.array, counts)


def test_an_array_used_in_place_stays_on_the_host(counts):
    with pytest.raises(sonde.Error):  # no such device, or one that cannot use host memory
        sonde.stem.from_array(counts, hot_pixels="none", device="cuda")


def test_other_types_and_orders_need_a_copy(counts):
    for array in (counts.astype(np.int32), counts.astype(np.float64), counts.astype(">u2"), counts[:, ::2], counts.swapaxes(0, 1)):
        with pytest.raises(sonde.Error):
            sonde.stem.from_array(array, hot_pixels="none")
        np.testing.assert_array_equal(sonde.stem.from_array(array, copy=True, hot_pixels="none").array, array)


def test_a_hot_pixel_is_not_silently_kept():
    array = np.full((8, 8, 16, 16), 20, np.uint16)
    array[..., 3, 5] = 4000
    with pytest.raises(sonde.Error, match=r"1 pixels are bad \(row 3, col 5 is hot\)"):
        sonde.stem.from_array(array, hot_pixels="zero")
    assert (sonde.stem.from_array(array, hot_pixels="none").array[..., 3, 5] == 4000).all()
    corrected = sonde.stem.from_array(array, copy=True, hot_pixels="zero")
    assert (corrected.array[..., 3, 5] == 0).all() and (array[..., 3, 5] == 4000).all()


def test_only_four_dimensions_are_a_scan(counts):
    with pytest.raises(sonde.Error, match=r"shape \(5, 4, 16\), expected"):
        sonde.stem.from_array(counts[..., 0].copy())


@pytest.mark.parametrize("layout", ["frame", "pixel"])
def test_dlpack_out_is_the_same_memory(scan, layout):
    ds = sonde.stem.load(scan, layout=layout)
    assert ds.__dlpack_device__() == (1, 0)
    taken = np.from_dlpack(ds)
    assert address(taken) == address(ds.array) and taken.strides == ds.array.strides
    np.testing.assert_array_equal(taken, ds.array)


def test_dlpack_counts_as_an_array(scan):
    ds = sonde.stem.load(scan)
    taken = np.from_dlpack(ds)
    with pytest.raises(sonde.Error, match="in use by 1 array"):
        ds.release()
    del taken
    capsule = ds.__dlpack__()
    with pytest.raises(sonde.Error, match="in use by 1 array"):
        ds.release()
    del capsule  # nobody took it
    ds.release()


def test_dlpack_says_from_1_0_on_that_it_is_read_only(scan):
    ds = sonde.stem.load(scan)
    assert '"dltensor"' in repr(ds.__dlpack__())
    assert '"dltensor"' in repr(ds.__dlpack__(max_version=(0, 8)))
    assert '"dltensor_versioned"' in repr(ds.__dlpack__(max_version=(1, 0), dl_device=None, copy=None))


class Foreign:
    """Another library's array: nothing but DLPack."""

    def __init__(self, array, device=(1, 0)):
        self.array, self.device = array, device

    def __dlpack__(self, **options):
        return self.array.__dlpack__(**options)

    def __dlpack_device__(self):
        return self.device


def test_dlpack_in_is_the_same_memory(counts):
    ds = sonde.stem.from_dlpack(Foreign(counts), hot_pixels="none")
    assert address(ds.array) == address(counts)


def test_dlpack_there_and_back(counts):
    first = sonde.stem.from_array(counts, hot_pixels="none")
    second = sonde.stem.from_dlpack(first, hot_pixels="none")
    assert address(second.array) == address(counts)
    with pytest.raises(sonde.Error, match="in use by 1 array"):
        first.release()
    second.release()
    first.release()


def test_dlpack_of_a_gpu_is_refused_in_words(counts):
    with pytest.raises(sonde.Error, match=r"DLPack device \(2, 1\), not in host") as refused:
        sonde.stem.from_dlpack(Foreign(counts, (2, 1)))
    assert refused.value.kind == "not_supported"


def test_large_arguments_are_not_converted_silently():
    ds = sonde.stem.from_array(np.ones((1, 1, 2048, 2100), np.uint8), hot_pixels="none")
    mask = np.ones((2048, 2100), bool)  # 17 MiB as float32
    with pytest.raises(sonde.Error, match="the mask: bool of shape .* would be copied"):
        ds.image(mask)
    assert ds.image(mask.astype(np.float32))[0, 0] == mask.size
