# SPDX-License-Identifier: Apache-2.0
"""Native models of `sonde maxwell` from NumPy arrays."""

import numpy as np
import pytest

import sonde

SHAPE = (40, 30)


def records(**tables):
    """Two shots over 40 x 30 cells of 5 cm, with other tables over them."""
    model = {"eps_r": np.full(SHAPE, 4.0), "sigma": np.full(SHAPE, 0.002), "spacing": 0.05}
    survey = {"sources": np.array([[10, 4], [20, 4]]), "receivers": np.array([[10, 24], [20, 24], [30, 24]])}
    usual = {"model": model, "survey": survey, "source": {"f0": 100e6}, "time": {"nt": 120}, "grid": {"dtype": "f64"}}
    for name, table in tables.items():
        usual[name] = {**usual.get(name, {}), **table}
    return sonde.run("maxwell run", **usual)


def test_arrays_make_a_model():
    made = records()
    assert made["receivers/data"].shape == (120, 2, 3)
    np.testing.assert_array_equal(made["survey/source_location"], [[[10, 4]], [[20, 4]]])
    assert np.abs(made["receivers/data"]).max() > 0


def test_arrays_and_numbers_give_the_same():
    numbers = records(model={"eps_r": 4, "sigma": 0.002, "shape": list(SHAPE)},
                      survey={"sources": [10, 4, 20, 4], "receivers": [10, 24, 20, 24, 30, 24]})
    np.testing.assert_array_equal(numbers["receivers/data"], records()["receivers/data"])


def test_integers_are_indices_and_floats_positions():
    survey = {"receiver_component": "Hx", "receivers": np.array([[10, 24]])}
    np.testing.assert_array_equal(records(survey=survey)["survey/receiver_location"][0], [[10.5, 24]])
    np.testing.assert_array_equal(records(survey={**survey, "receivers": np.array([[10.0, 24.0]])})["survey/receiver_location"][0], [[10, 24]])


def test_a_layered_model_keeps_reciprocity():
    eps_r = np.full(SHAPE, 4.0)
    eps_r[25:] = 9
    ends = np.array([[10, 4], [30, 24]])
    data = records(model={"eps_r": eps_r}, survey={"sources": ends, "receivers": ends})["receivers/data"]
    # Rounding of 120 steps.
    np.testing.assert_allclose(data[:, 0, 1], data[:, 1, 0], atol=1e-12 * np.abs(data[:, 0, 1]).max())


def test_wrong_values_are_named():
    eps_r = np.full(SHAPE, 4.0)
    eps_r[3, 7] = np.nan
    with pytest.raises(sonde.Error, match=r"eps_r = nan at \[3, 0, 7\]") as caught:
        records(model={"eps_r": eps_r})
    assert caught.value.kind == "bad_input"
    with pytest.raises(sonde.Error, match='did you mean "eps_r"'):
        records(model={"epsr": 4})
    with pytest.raises(sonde.Error, match="input is missing"):
        sonde.run("maxwell run")
