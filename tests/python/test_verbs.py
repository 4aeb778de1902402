# SPDX-License-Identifier: Apache-2.0
"""Every verb from the program and from Python: one description, the same results."""

import inspect
import json
import os
import pathlib
import subprocess

import h5py
import numpy as np
import pytest

import sonde
from sonde import _sonde, _verb_functions
from small_inputs import WOUT
from small_inputs import disks, drums, gold, hits, networks, radar, songs, spots, stems
from test_neoclassical_database import write_database

PROGRAM = os.environ["SONDE_PROGRAM"]
PACKAGE = pathlib.Path(__file__).parents[2] / "python/sonde"

#: What belongs to the moment or the place, and so differs between two runs of anything.
MOMENT = {"run", "files", "file", "fits_budget"}

RECON = """
[data]
file = "{scan}"
[[engine]]
name = "gd"
iterations = 3
[compute]
deterministic = true
[output]
report = false
pictures = false
"""
SWEEP = """
[sweep]
run = "recon.toml"
[[vary]]
name = "values"
setting = "engine.0.iterations"
values = [1, 2]
"""
TRANSPORT = """
[surface]
path = "analytic-demo"
[grid]
n_theta = 9
n_zeta = 9
n_xi = 8
[case]
nu_hat = 1e-2
epsi_hat = 1e-3
[scan]
nu_v = "1e-3,1e-2"
epsi_hat = "0,1e-3"
"""


@pytest.fixture(scope="module")
def inputs(tmp_path_factory, scan):
    """One small input of each kind, in a folder that nothing is written to."""
    folder = tmp_path_factory.mktemp("inputs")
    made = sonde.run("ptycho simulate", output=folder / "ptycho.h5", scan_shape="8,8", detector_px=32)
    (folder / "recon.toml").write_text(RECON.format(scan=folder / "ptycho.h5"))
    (folder / "sweep.toml").write_text(SWEEP)
    (folder / "transport.toml").write_text(TRANSPORT)
    assert made.facts
    sonde.run("ptycho run", folder / "recon.toml", output=folder / "result.h5")
    sonde.run("ptycho run", folder / "recon.toml", output=folder / "checked.h5", set=["output.checkpoint_every=2"])
    sonde.run("neoclassical scan", folder / "transport.toml", output=folder / "scan.nc")
    write_database(folder / "Dij.h5")
    gold(folder)
    radar(folder)
    songs(folder)
    networks(folder)
    stems(folder)
    drums(folder)
    disks(folder)
    spots(folder)
    hits(folder)
    return {"scan": scan, "folder": folder}


def without_moment(value):
    if isinstance(value, dict):
        return {key: without_moment(item) for key, item in value.items() if key not in MOMENT}
    if isinstance(value, list):
        return [without_moment(item) for item in value]
    return None if isinstance(value, float) and np.isnan(value) else value  # JSON has no such number


def without_folder(value, folder):
    """Names of files that lie in the folder of a run."""
    return json.loads(json.dumps(value).replace(str(folder), "OUT"))


def arrays_of(path):
    """Every array and attribute of a file, without what is in the group of the moment."""
    if path.suffix not in {".h5", ".nc", ".npz", ".npy", ".csv", ".tif", ".toml"}:
        return {}
    if path.suffix == ".csv":  # whose last column is seconds
        return {path.name: "\n".join(line.rpartition(",")[0] for line in path.read_text().split("\n"))}
    if path.suffix == ".toml":
        return {path.name: path.read_text()}
    if path.suffix == ".tif" or (path.suffix == ".nc" and not h5py.is_hdf5(path)):  # the classic format
        return {path.name: path.read_bytes()}
    if path.suffix in {".npy", ".npz"}:
        loaded = np.load(path)
        if path.suffix == ".npy":
            return {path.name: loaded}
        return {name: loaded[name] for name in loaded if not name.startswith("run/")}
    found = {}

    def visit(name, item):
        moment = "run" in name.split("/")
        if isinstance(item, h5py.Dataset) and not moment and item.dtype.kind != "O":
            found[name] = item[()].decode() if isinstance(item[()], bytes) else item[()]

    with h5py.File(path) as file:
        file.visititems(visit)
    return found


def flags_of(settings):
    for key, value in settings.items():
        for each in value if isinstance(value, list) else [value]:
            if each is True:
                yield f"--{key.rstrip('_').replace('_', '-')}"
            elif each is not False:
                yield from (f"--{key.rstrip('_').replace('_', '-')}", str(each))


#: verb: (inputs, settings); {out} is a folder of each run.
TABLE = {
    "stem info": (["{scan}"], {}),
    "stem validate": (["{scan}"], {"decode": True}),
    "stem load": (["{scan}"], {"output": "{out}/summary.h5", "det_bin": 2}),
    # The description of an image names the budget, which else follows the memory that is free at the moment.
    "stem image": (["{scan}"], {"detector": ["bf", "adf"], "output": "{out}/images/", "memory": "2G"}),
    "stem calibrate": (["{scan}"], {"output": "{out}/calibration.h5", "inner": 8}),
    "stem com": (["{scan}"], {"output": "{out}/com.h5", "units": "mrad"}),
    "stem phase": (["{scan}"], {"output": "{out}/phase.h5"}),
    "stem radial": (["{scan}"], {"output": "{out}/radial.h5", "azimuth": 4}),
    "stem bragg": (["{scan}"], {"output": "{out}/bragg.h5", "probe": "3", "edge_boundary": 2}),
    "stem strain": (["{folder}/bragg.h5"], {"output": "{out}/strain.h5", "rotation": 20.0}),
    "stem cepstrum": (["{folder}/spots.npy"], {"output": "{out}/cepstrum.h5"}),
    "stem crystal": (["{folder}/gold.cif"], {"output": "{out}/crystal.h5", "zone": "0,1,1", "voltage": 200}),
    "stem orient": (["{folder}/gold_disks.h5"], {"crystal": "{folder}/gold.cif", "output": "{out}/orientation.h5", "angle_step_zone_axis": 5}),
    "stem count": (["{scan}"], {"output": "{out}/events.h5", "background": 4.5}),
    "stem events": (["{folder}/hits.tpx3"], {"dwell": "40us", "scan_shape": "5,7", "output": "{out}/events.h5"}),
    "stem convert": (["{scan}"], {"output": "{out}/scan.npy"}),
    "stem simulate": (["{out}/s_master.h5"], {"scan_shape": "4,4", "detector_shape": "32,32", "disk_radius": 5}),
    "ptycho run": (["{folder}/recon.toml"], {"output": "{out}/r.h5"}),
    "ptycho resume": (["{folder}/checked.ckpt.h5"], {"output": "{out}/r.h5", "set": ["engine.0.iterations=5"]}),
    "ptycho direct": (["{folder}/ptycho.h5"], {"output": "{out}/d.h5"}),
    "ptycho init": (["{folder}/ptycho.h5"], {"output": "{out}/new.toml"}),
    "ptycho report": (["{folder}/result.h5"], {"output": "{out}/page.html"}),
    "ptycho sweep": (["{folder}/sweep.toml"], {"output": "{out}/sweep"}),
    "ptycho export": (["{folder}/result.h5"], {"output": "{out}/e.npz"}),
    "ptycho compare": (["{folder}/result.h5", "{folder}/checked.h5"], {}),
    "ptycho diagnose": (["{folder}/result.h5"], {}),
    "ptycho orient": (["{folder}/recon.toml"], {}),
    "ptycho simulate": ([], {"output": "{out}/p.h5", "scan_shape": "3,3", "detector_px": 32}),
    "neoclassical run": (["{folder}/transport.toml"], {"output": "{out}/r.nc"}),
    "neoclassical scan": (["{folder}/transport.toml"], {"output": "{out}/s.h5"}),
    "neoclassical convergence": (["{folder}/transport.toml"], {"output": "{out}/c.nc", "refine": "n_xi", "tol": 0.1}),
    "neoclassical convert": (["{folder}/scan.nc"], {"to": "sfincs", "output": "{out}/f.nc"}),
    "neoclassical plot": (["{folder}/scan.nc"], {"output": "{out}/p.svg"}),
    "neoclassical boozer": ([str(WOUT)], {"output": "{out}/b.nc", "s": "0.25", "mboz": 6, "nboz": 0}),
    "neoclassical database": ([str(WOUT)], {"output": "{out}/D.h5", "rho": "0.5", "nu_v": "1e-2,1e-1", "er_tilde": "0,1e-3",
                                            "n_theta": 5, "n_zeta": 5, "n_xi": 4}),
    "neoclassical profile": (["{folder}/Dij.h5"], {"output": "{out}/t.h5", "rho": "0.5", "energies": 8, "E_r_points": 20}),
    "maxwell run": (["{folder}/radar.in"], {"output": "{out}/r.out", "runs": 2}),
    "maxwell gradient": (["{folder}/fwi.toml"], {"output": "{out}/g.h5", "wrt": ["eps_r,source"]}),
    "maxwell born": (["{folder}/fwi.toml"], {"direction": "{folder}/gradient.h5", "output": "{out}/b.h5"}),
    "maxwell fwi": (["{folder}/fwi.toml"], {"output": "{out}/fwi"}),
    "maxwell init": (["{folder}/strip.h5"], {"output": "{out}/new.toml"}),
    "maxwell plot": (["{folder}/radar.out"], {"output": "{out}/p.svg"}),
    "maxwell convert": (["{folder}/line.dt1", "{out}/c.h5"], {"dewow": 0.2, "background": 0}),
    "maxwell verify": ([], {"only": ["cavity"]}),
    "separate run": (["{folder}/song.wav"], {"checkpoint": "{folder}/network.ckpt", "output": "{out}/stems", "mix": ["rest=mixture-kick"],
                                              "then": "{folder}/network.ckpt", "then_stem": "rest"}),
    "separate midi": (["{folder}/drums"], {"output": "{out}/drums.mid", "reference": "{folder}/drums.csv", "notes": "kick=35"}),
    "separate info": ([], {"checkpoint": "{folder}/network.ckpt"}),
    "separate convert": (["{folder}/network.ckpt", "{out}/network.safetensors"], {"dtype": "bf16"}),
    "separate eval": (["{folder}/true_stems", "{folder}/made_stems"], {"metrics": "sdr,bss_eval", "output": "{out}/scores.csv"}),
    "separate ensemble": (["{folder}/true_stems", "{folder}/made_stems"], {"output": "{out}/both", "weights": "2,1"}),
    "separate plot": (["{folder}/song.wav"], {"output": "{out}/p.svg"}),
    "separate simulate": ([], {"output": "{out}/loop", "seconds": 1, "backing": True}),
    "separate demo": ([], {"output": "{out}/demo", "seconds": 2}),
}


def filled(text, inputs, out):
    return text.format(**inputs, out=out) if isinstance(text, str) else text


def test_every_verb_is_in_the_table():
    assert set(sonde.verbs()) == set(TABLE)


@pytest.mark.parametrize("verb", TABLE)
def test_program_and_python_find_the_same(verb, inputs, tmp_path):
    positional, settings = TABLE[verb]
    if str(WOUT) in positional and not WOUT.exists():
        pytest.skip("no test data")
    out = {door: tmp_path / door for door in ("program", "python")}
    facts = {}
    for door, folder in out.items():
        folder.mkdir()
        words = [filled(word, inputs, folder) for word in positional]
        given = {key: [filled(each, inputs, folder) for each in value] if isinstance(value, list) else filled(value, inputs, folder)
                 for key, value in settings.items()}
        if door == "program":
            done = subprocess.run([PROGRAM, *verb.split(), *words, *flags_of(given), "--json", "--quiet"], capture_output=True, text=True)
            assert done.returncode == 0, done.stderr
            facts[door] = json.loads(done.stdout) if done.stdout.strip() else {}
        else:
            facts[door] = sonde.run(verb, *words, **given).facts
        facts[door] = without_folder(without_moment(json.loads(json.dumps(facts[door]))), folder)
    assert facts["program"] == facts["python"]
    names = {door: sorted(str(p.relative_to(folder)) for p in folder.rglob("*") if p.is_file()) for door, folder in out.items()}
    assert names["program"] == names["python"]
    for name in names["program"]:
        one, other = arrays_of(out["program"] / name), arrays_of(out["python"] / name)
        assert one.keys() == other.keys()
        for key in one:
            if isinstance(one[key], np.ndarray) and one[key].dtype.kind in "fc":
                np.testing.assert_array_equal(one[key], other[key], err_msg=f"{name}: {key}")
            elif isinstance(one[key], str):  # settings name their files
                assert without_folder(one[key], out["program"]) == without_folder(other[key], out["python"]), f"{name}: {key}"
            else:
                assert np.all(one[key] == other[key]), f"{name}: {key}"


def test_a_dry_run_plans_and_writes_nothing(inputs, tmp_path):
    planned = sonde.run("ptycho run", inputs["folder"] / "recon.toml", output=tmp_path / "r.h5", dry_run=True)
    assert {"transforms", "memory"} <= {choice["what"] for choice in planned.choices}
    assert not list(tmp_path.iterdir())


def test_arrays_come_with_axes_and_units(scan, clean):
    found = sonde.run("stem image", scan, detector=["all"])
    assert found.variables["all"].axes == ("scan row", "scan column")
    np.testing.assert_array_equal(found["all"], clean.sum(axis=(2, 3)))
    with pytest.raises(KeyError, match="there are: all"):
        found["bf"]


def test_object_and_probe_are_those_of_the_file(inputs, tmp_path):
    found = sonde.run("ptycho run", inputs["folder"] / "recon.toml", output=tmp_path / "r.h5")
    with h5py.File(tmp_path / "r.h5") as file:
        np.testing.assert_array_equal(found["object"], file["object"][()])
        np.testing.assert_array_equal(found["probe"], file["probe"][()])
        np.testing.assert_array_equal(found["metrics/R_I"], file["metrics/R_I"][()])
    assert found.variables["probe"].axes == ("probe", "mode", "row", "column")


def all_files(*folders):
    return {path: path.stat().st_mtime_ns for folder in folders for path in folder.rglob("*") if path.is_file()}


# A checkpoint names the files of its run, with which `resume` goes on.
@pytest.mark.parametrize("verb", sorted(set(TABLE) - {"ptycho resume"}))
def test_without_output_nothing_is_written(verb, inputs, tmp_path, monkeypatch):
    """There is an answer as data, or the verb says that it needs a name."""
    positional, settings = TABLE[verb]
    if str(WOUT) in positional and not WOUT.exists():
        pytest.skip("no test data")
    monkeypatch.chdir(tmp_path)
    words = [filled(word, inputs, tmp_path) for word in positional if "{out}" not in word]
    given = {key: filled(value, inputs, tmp_path) for key, value in settings.items() if key != "output"}
    before = all_files(tmp_path, inputs["folder"], inputs["scan"].parent)
    try:
        found = sonde.run(verb, *words, **given)
        assert found.facts or found.text
        assert not found.files
    except sonde.Error as error:
        assert error.kind == "usage" and "output" in str(error), error
    assert all_files(tmp_path, inputs["folder"], inputs["scan"].parent) == before


@pytest.mark.parametrize("verb", ["stem load", "ptycho run", "ptycho direct", "neoclassical run", "neoclassical scan", "neoclassical convergence",
                                  "neoclassical convert", "neoclassical database", "neoclassical profile"])
def test_a_result_is_saved_as_the_program_writes_it(verb, inputs, tmp_path):
    positional, settings = TABLE[verb]
    if str(WOUT) in positional and not WOUT.exists():
        pytest.skip("no test data")
    words = [filled(word, inputs, tmp_path) for word in positional]
    output = pathlib.Path(filled(settings["output"], inputs, tmp_path))
    given = {key: value for key, value in settings.items() if key != "output"}
    found = sonde.run(verb, *words, **given)
    saved = output.with_name("saved" + output.suffix)
    found.save(saved)
    sonde.run(verb, *words, **given, output=output)
    one, other = arrays_of(saved), arrays_of(output)
    assert one.keys() == other.keys() and len(one) > 3
    for key in set(one) - {"settings", "input_toml", "diagnostics"}:  # these name the output
        np.testing.assert_array_equal(one[key], other[key], err_msg=key)
    with pytest.raises(sonde.Error, match="never replaces an input"):
        found.save(words[0]) if words[0].endswith((".h5", ".nc")) else sonde.run("stem load", inputs["scan"]).save(inputs["scan"])


def equal_results(one, other):
    assert one.variables.keys() == other.variables.keys()
    for name, variable in one.variables.items():
        if variable.values.dtype.kind in "fciu" and not name.startswith(("run/", "metrics/seconds")):
            np.testing.assert_array_equal(variable.values, other[name], err_msg=name)
            assert (variable.axes, variable.unit) == (other.variables[name].axes, other.variables[name].unit)


@pytest.mark.parametrize("verb, settings", [("stem load", {"det_bin": 2}), ("stem image", {"detector": ["all", "com-row"]}), ("stem info", {}),
                                            ("stem phase", {"units": "px"}),
                                            ("stem convert", {"output": "{out}/scan.npy"})])
def test_an_array_of_a_scan_gives_what_its_file_gives(verb, settings, stored, tmp_path):
    counts = np.ascontiguousarray(stored[0])
    np.save(tmp_path / "counts.npy", counts)
    given = {key: filled(value, {}, tmp_path) for key, value in settings.items()}
    by_file = sonde.run(verb, tmp_path / "counts.npy", **given)
    before = (tmp_path / "scan.npy").read_bytes() if "output" in given else b""
    by_array = sonde.run(verb, counts, **given)
    equal_results(by_file, by_array)
    assert bool(by_file.variables) == (verb in {"stem load", "stem image", "stem phase"})
    assert "output" not in given or (tmp_path / "scan.npy").read_bytes() == before
    assert by_array.facts.get("shape") == by_file.facts.get("shape")


def test_an_array_passes_the_checks_of_its_file(stored):
    counts = np.ascontiguousarray(stored[0])
    with pytest.raises(sonde.Error, match="scan_shape says how a file is read"):
        sonde.run("stem load", counts, scan_shape="12,10")
    with pytest.raises(sonde.Error, match="copy=True"):
        sonde.run("stem load", counts.transpose(1, 0, 2, 3))
    assert sonde.run("stem info", input=counts).facts == sonde.run("stem info", counts).facts
    turned = sonde.run("stem load", counts.transpose(1, 0, 2, 3), copy=True)
    assert turned["scan/total"].shape == counts.shape[1::-1]
    with pytest.raises(sonde.Error, match="one input of several"):
        sonde.run("stem load", counts, counts)


def test_patterns_in_memory_are_reconstructed_as_those_of_a_file(inputs, tmp_path):
    with h5py.File(inputs["folder"] / "ptycho.h5") as file:
        counts = file["data"][()].reshape(8, 8, 32, 32)
    np.save(tmp_path / "counts.npy", counts)
    tables = {"geometry": {"energy_keV": 200, "semiangle_mrad": 20, "detector_mrad_per_px": 2.5, "scan_step_A": 0.9},
              "engine": [{"name": "gd", "iterations": 2}], "compute": {"deterministic": True}}
    by_array = sonde.run("ptycho run", counts, **tables)
    equal_results(sonde.run("ptycho run", tmp_path / "counts.npy", **tables), by_array)
    assert by_array.files == [] and by_array["object"].ndim == 3
    for data in (counts, tmp_path / "counts.npy"):
        missing = {key: value for key, value in tables.items() if key != "geometry"}
        with pytest.raises(sonde.Error, match="geometry"):
            sonde.run("ptycho run", data, **missing)
    for data in (np.moveaxis(counts, (0, 1), (2, 3)).copy(), counts.astype("c8")):
        np.save(tmp_path / "wrong.npy", data)
        texts = []
        for given in (data, tmp_path / "wrong.npy"):
            with pytest.raises(sonde.Error) as refused:
                sonde.run("ptycho run", given, data={"scan_shape": "8,8"}, **tables)
            texts.append(refused.value.message.partition(": ")[2])
        assert texts[0] == texts[1]


def test_positions_and_mask_may_be_arrays(inputs, tmp_path):
    with h5py.File(inputs["folder"] / "ptycho.h5") as file:
        counts = file["data"][()].reshape(64, 32, 32)
    row, col = np.divmod(np.arange(64), 8)
    positions = 0.9 * np.stack([row, col + 0.1 * row], axis=1)  # oblique, so that no raster stands for it
    mask = np.ones((32, 32), np.uint8)
    mask[3, 5] = 0
    np.save(tmp_path / "positions_A.npy", positions)
    np.save(tmp_path / "mask.npy", mask)
    tables = {"geometry": {"energy_keV": 200, "semiangle_mrad": 20, "detector_mrad_per_px": 2.5}, "positions": {"unit": "A"},
              "engine": [{"name": "gd", "iterations": 2}], "compute": {"deterministic": True}}
    by_file = sonde.run("ptycho run", counts, data={"positions": str(tmp_path / "positions_A.npy"), "mask": str(tmp_path / "mask.npy")}, **tables)
    by_array = sonde.run("ptycho run", counts, data={"positions": positions, "mask": mask}, **tables)
    for name in ("object", "probe", "positions_A"):
        assert np.array_equal(by_file[name], by_array[name]), name
    whole = sonde.run("ptycho run", counts, data={"positions": positions}, **tables)
    assert not np.array_equal(whole["object"], by_array["object"])  # the mask acts
    with pytest.raises(sonde.Error, match="data.positions: shape"):
        sonde.run("ptycho run", counts, data={"positions": positions.T.copy()}, **tables)
    with pytest.raises(sonde.Error, match="63 positions for 64 frames"):
        sonde.run("ptycho run", counts, data={"positions": positions[:63]}, **tables)


def test_tables_of_a_caller_do_not_mix_with_lists_of_a_file(inputs):
    with pytest.raises(sonde.Error, match=r"\[\[engine\]\] is given twice"):
        sonde.run("ptycho run", inputs["folder"] / "recon.toml", engine=[{"name": "gd"}])
    with pytest.raises(sonde.Error, match='did you mean "energy_keV"'):
        sonde.run("ptycho run", inputs["folder"] / "recon.toml", geometry={"energy_kV": 200})
    found = sonde.run("neoclassical run", inputs["folder"] / "transport.toml", case={"nu_hat": 1e-1}, nu_hat=2e-2)
    assert found.facts["case"]["nu_hat"] == 2e-2  # a setting by itself counts more
    assert sonde.run("neoclassical run", inputs["folder"] / "transport.toml", case={"nu_hat": 1e-1}).facts["case"]["nu_hat"] == 1e-1


def test_a_run_that_fails_leaves_what_it_has(inputs):
    with pytest.raises(sonde.Error) as failed:
        sonde.run("ptycho run", inputs["folder"] / "recon.toml", stop={"require": True})
    assert failed.value.kind == "not_converged"
    assert failed.value.result["object"].ndim == 3


def test_unknown_verbs_settings_and_inputs_are_named(scan):
    with pytest.raises(sonde.Error, match='unknown verb "ptycho rum"; did you mean "ptycho run"'):
        sonde.run("ptycho rum")
    with pytest.raises(sonde.Error, match='did you mean "det_bin"'):
        sonde.run("stem load", scan, det_bun=2)
    with pytest.raises(sonde.Error, match="input is missing"):
        sonde.run("ptycho run")
    with pytest.raises(sonde.Error, match="json is a setting of the program only"):
        sonde.run("stem info", scan, json=True)
    with pytest.raises(sonde.Error, match="input is an array, expected the path of a file"):
        sonde.run("neoclassical run", np.zeros((2, 2)))
    with pytest.raises(sonde.Error, match="too many"):
        sonde.run("ptycho run", "a.toml", "b.toml")
    with pytest.raises(sonde.Error, match="inputs is a list, expected one input after another") as nested:
        sonde.separate.run(["a.wav", "b.wav"], output="stems")
    assert nested.value.hint == "write an asterisk before the list: sonde.separate.run(*files)"


def test_a_file_of_settings_acts_from_every_door(tmp_path):
    """The input `settings` and `config` are read before what the caller gives, which counts more."""
    (tmp_path / "sim.toml").write_text('scan_shape = "3,2"\ndetector_px = 32\nseed = 5\n')
    for number, (inputs, settings) in enumerate([([tmp_path / "sim.toml"], {}), ([], {"config": tmp_path / "sim.toml"})]):
        out = tmp_path / f"{number}.h5"
        found = sonde.run("ptycho simulate", *inputs, output=out, seed=6, **settings)
        assert (found.report["options"]["detector_px"], found.report["options"]["seed"]) == (32, 6)
        with h5py.File(out) as file:
            assert file["data"].shape == (3, 2, 32, 32)
    with pytest.raises(sonde.Error, match="named twice"):
        sonde.run("ptycho simulate", tmp_path / "sim.toml", config=tmp_path / "sim.toml", output=tmp_path / "x.h5")


def test_no_output_replaces_an_input(scan):
    before = scan.read_bytes()
    with pytest.raises(sonde.Error):
        sonde.run("stem load", scan, report=scan)
    assert scan.read_bytes() == before


def test_functions_are_written_from_the_verbs():
    texts = _verb_functions.module_texts()
    for instrument, text in texts.items():
        assert (PACKAGE / "_verbs" / f"{instrument}.py").read_text() == text, "python -m sonde._verb_functions python/sonde/_verbs"
    assert {name.split()[0] for name in sonde.verbs()} == set(texts)


def test_every_verb_is_a_function_with_its_settings():
    for name in sonde.verbs():
        instrument, verb = name.split(" ", 1)
        function = getattr(getattr(sonde, instrument), verb)
        assert callable(function) and function.__doc__
        if function.__module__.startswith("sonde._verbs"):
            keys = {field["key"] + ("_" if field["key"] in {"from"} else "") for field in _sonde.verb_fields(name)}
            tables = set(next(verb["tables"] for verb in _sonde.verbs() if verb["name"] == name))
            copies = {"copy"} if any(field["array"] for field in _sonde.verb_fields(name)) else set()
            assert keys | tables | copies | {"progress"} == set(inspect.signature(function).parameters)


def test_a_scan_with_missing_values_is_refused_by_every_door(tmp_path, inputs):
    """Two values that are not finite in measured pixels must not pass as zeros."""
    with h5py.File(inputs["folder"] / "ptycho.h5") as file:
        counts = file["data"][()].astype("f4").reshape(8, 8, 32, 32)
    counts[1, 2, 3, 4] = counts[6, 2, 5, 4] = np.nan
    np.save(tmp_path / "scan.npy", counts)
    settings = {"geometry.energy_keV": 200, "geometry.semiangle_mrad": 20, "geometry.detector_mrad_per_px": 2.5,
                "geometry.scan_step_A": 0.9, "data.format": "stem"}
    given = [f"{key}={value}" for key, value in settings.items()]
    with h5py.File(tmp_path / "scan.h5", "w") as file:
        file["counts"] = counts
    file = tmp_path / "scan.h5"
    command = [PROGRAM, "ptycho", "run", str(file), "-o", str(tmp_path / "r.h5"), *(word for each in given for word in ("--set", each))]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 3 and "2 measured pixels have no value (not finite)" in done.stderr, done.stderr
    words = "2 measured pixels have no value"
    with pytest.raises(sonde.Error, match=words):
        sonde.run("ptycho run", file, output=tmp_path / "r.h5", set=given)
    tables = {"geometry": {key.split(".")[1]: value for key, value in settings.items() if key.startswith("geometry")},
              "data": {"file": str(file), "format": "stem"}, "engine": [{"name": "gd", "iterations": 1}]}
    with pytest.raises(sonde.Error, match=words):
        sonde.ptycho.Reconstruction(tables).prepare()
    with pytest.raises(sonde.Error, match=words):
        sonde.ptycho.Reconstruction({**tables, "data": {}}, sonde.stem.load(file, layout="frame"))
    assert not (tmp_path / "r.h5").exists()
