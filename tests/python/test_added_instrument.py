# SPDX-License-Identifier: Apache-2.0
"""tests/added_instrument, built into a program and a package of their own, is found behind every door without a line elsewhere."""

import inspect
import json
import os
import pathlib
import subprocess
import urllib.parse
from types import SimpleNamespace

import h5py
import numpy as np
import pytest

import sonde
from page_client import Client

ROOT = pathlib.Path(__file__).parents[2]
PROGRAM = os.environ["SONDE_PROGRAM"]
WIEN = 2.897771955e-3  # m K, CODATA 2018


def program(*words, folder=None):
    return subprocess.run([PROGRAM, *map(str, words)], cwd=folder, capture_output=True, text=True, check=True).stdout


@pytest.fixture(scope="module")
def result(tmp_path_factory):
    """What the program writes: the result and the report."""
    folder = tmp_path_factory.mktemp("added")
    program("blackbody", "spectrum", "--temperature", 4000, "-o", folder / "spectrum.nc", "--report", folder / "report.json")
    return folder


def page_of(*words):
    """The page that `sonde view` serves."""
    viewer = subprocess.Popen([*map(str, words), "--json", "--no-open"], stdout=subprocess.PIPE, text=True)
    try:
        url = json.loads(viewer.stdout.readline())["url"]
        client = Client(SimpleNamespace(url=url, _server=SimpleNamespace(port=urllib.parse.urlsplit(url).port)))
        page = client.receive()
        client.close()
    finally:
        viewer.terminate()
        viewer.communicate()
    assert page["type"] == "page"
    return page


def test_the_program_runs_it(result):
    with h5py.File(result / "spectrum.nc") as file:
        assert file["peak"][()] == pytest.approx(WIEN / 4000, abs=0.5e-9)  # wavelengths are 1 nm apart
        assert file["radiance"].attrs["units"] == b"W m^-3 sr^-1"


def test_python_runs_it_with_the_same_result(result, tmp_path):
    made = sonde.run("blackbody spectrum", temperature=4000, output=tmp_path / "spectrum.nc")
    with h5py.File(result / "spectrum.nc") as file:
        np.testing.assert_array_equal(made["radiance"], file["radiance"][()])
    assert (tmp_path / "spectrum.nc").read_bytes() == (result / "spectrum.nc").read_bytes()
    assert made.variables["radiance"].unit == "W m^-3 sr^-1"


def test_python_has_its_function(tmp_path):
    parameters = inspect.signature(sonde.blackbody.spectrum).parameters
    assert {"temperature", "output", "report", "progress"} <= set(parameters)
    assert "temperature of the body (at least 1, at most 1e+06)" in sonde.blackbody.spectrum.__doc__
    made = sonde.blackbody.spectrum(temperature=6000, output=tmp_path / "a.nc")
    assert made.facts["peak_m"] == pytest.approx(WIEN / 6000, abs=0.5e-9)
    with pytest.raises(sonde.Error, match="temperature"):
        sonde.blackbody.spectrum(temperature=0)


def test_a_file_of_settings_sets_it(tmp_path):
    (tmp_path / "settings.toml").write_text("[blackbody.spectrum]\ntemperature = 3000\n")
    program("blackbody", "spectrum", "--config", "settings.toml", folder=tmp_path)
    with h5py.File(tmp_path / "spectrum.nc") as file:
        assert file["peak"][()] == pytest.approx(WIEN / 3000, abs=0.5e-9)


def test_help_and_reference_describe_it(tmp_path):
    assert "  blackbody spectrum" in program("--help")
    assert "temperature of the body" in program("help", "blackbody", "spectrum")
    program("help", "--markdown", tmp_path)
    assert "temperature of the body" in (tmp_path / "sonde-blackbody-spectrum.md").read_text()
    assert "(sonde-blackbody-spectrum.md)" in (tmp_path / "README.md").read_text()


def test_the_viewer_shows_its_report(result):
    page = page_of(PROGRAM, "view", result / "report.json")
    (facts,) = [panel for panel in page["panels"] if panel["id"] == "results"]
    assert {fact["name"] for fact in facts["options"]["facts"]} >= {"peak_m"}


def test_the_viewer_shows_its_result(result):
    panels = {panel["title"]: panel for panel in page_of(PROGRAM, "view", result / "spectrum.nc")["panels"]}
    curve = panels["radiance"]
    assert curve["type"] == "curves"
    assert (curve["options"]["x"]["name"], curve["options"]["x"]["unit"]) == ("wavelength", "m")
    assert curve["options"]["y"]["unit"] == "W m⁻³ sr⁻¹"


def test_no_other_file_names_it():
    own = {ROOT / "tests/added_instrument", pathlib.Path(__file__)}
    for place in ("src", "cmake", "python", "tools", "web/src", "docs/commands", "dev", ".ci"):
        for file in (ROOT / place).rglob("*") if (ROOT / place).is_dir() else [ROOT / place]:
            if file.is_file() and file not in own and b"blackbody" in file.read_bytes():
                raise AssertionError(file)
