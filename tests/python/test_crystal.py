# SPDX-License-Identifier: Apache-2.0
"""Reflections and patterns of a crystal, from its file to arrays."""

import numpy as np
import pytest

import small_inputs
import sonde


@pytest.fixture(scope="module")
def gold(tmp_path_factory):
    folder = tmp_path_factory.mktemp("crystal")
    small_inputs.gold(folder)
    return folder / "gold.cif"


def test_families_of_gold_are_those_of_its_lattice(gold):
    made = sonde.stem.crystal(gold, k_max=0.9)
    np.testing.assert_array_equal(made["family/hkl"], [[1, 1, 1], [2, 0, 0], [2, 2, 0], [3, 1, 1], [2, 2, 2]])
    np.testing.assert_array_equal(made["family/multiplicity"], [8, 6, 12, 24, 8])
    np.testing.assert_allclose(made["family/g"], np.sqrt([3, 4, 8, 11, 12]) / 4.078, rtol=1e-12)
    assert made.facts["crystal"]["laue_group"] == "m-3m"


def test_spots_of_a_zone_axis_are_across_it(gold):
    made = sonde.stem.crystal(gold, zone="0,1,1", voltage=200, excitation_error=0.005)
    assert np.all(made["spot/hkl"] @ [0, 1, 1] == 0)
    np.testing.assert_allclose(np.hypot(made["spot/x"], made["spot/y"]), np.linalg.norm(made["spot/hkl"], axis=1) / 4.078, rtol=1e-12)
    strongest = made["spot/hkl"][np.argmax(made["spot/intensity"])]
    assert sorted(np.abs(strongest)) == [1, 1, 1]


def test_what_is_missing_is_named(gold, tmp_path):
    with pytest.raises(sonde.Error, match="wavelength of the electrons.*\n.*give voltage"):
        sonde.stem.crystal(gold, zone="0,1,1")
    (tmp_path / "no_cell.cif").write_text(gold.read_text().replace("_cell_length_b", "_cell_width_b"))
    with pytest.raises(sonde.Error, match="no_cell.cif: _cell_length_b is missing"):
        sonde.stem.crystal(tmp_path / "no_cell.cif")
