# SPDX-License-Identifier: Apache-2.0
"""A scan as an array of dask."""

import dask
import dask.array
import numpy as np
import pytest

import sonde

SHAPE = (17, 19, 12, 14)


@pytest.fixture(scope="module")
def counts():
    return np.random.default_rng(5).integers(0, 200, SHAPE).astype(np.uint16)


@pytest.fixture(scope="module")
def scan(counts, tmp_path_factory):
    path = tmp_path_factory.mktemp("dask") / "counts.npy"
    np.save(path, counts)
    return path


@pytest.mark.parametrize("layout", ["frame", "pixel", "file", "compressed"])
@pytest.mark.parametrize("scheduler", ["synchronous", "threads"])
def test_it_computes_what_numpy_does(scan, counts, layout, scheduler):
    dataset = sonde.stem.load(scan, layout=layout)
    array = dataset.dask(chunks=(5, 7, -1, -1))
    assert array.shape == SHAPE and array.dtype == dataset.dtype and array.numblocks == (4, 3, 1, 1)
    with dask.config.set(scheduler=scheduler):
        np.testing.assert_array_equal(array.sum((2, 3)).compute(), counts.sum((2, 3)))
        np.testing.assert_array_equal(array[3:9, ::2, 4, -5:].compute(), counts[3:9, ::2, 4, -5:])


def test_chunks_are_whole_patterns(scan, counts):
    dataset = sonde.stem.load(scan, layout="file")
    array = dataset.dask()
    assert array.numblocks == (1, 1, 1, 1)  # it is small
    np.testing.assert_array_equal(array.map_blocks(lambda block: block.max((2, 3)), drop_axis=(2, 3)).compute(scheduler="threads"), counts.max((2, 3)))


def test_other_processes_are_told_what_to_do(scan):
    with pytest.raises(sonde.Error, match="cannot be pickled or copied.*"):
        sonde.stem.load(scan).dask().sum().compute(scheduler="processes")


def test_a_released_data_set_is_an_error(scan):
    dataset = sonde.stem.load(scan, layout="file")
    array = dataset.dask()
    dataset.release()
    with pytest.raises(sonde.Error, match="released"):
        array.sum().compute(scheduler="synchronous")
