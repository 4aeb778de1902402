# SPDX-License-Identifier: Apache-2.0
"""sonde.ptycho.Reconstruction: settings, patterns in, estimates out, checkpoints, errors, threads."""

import doctest
import gc
import json
import os
import pathlib
import subprocess
import threading
import weakref

import h5py
import numpy as np
import pytest

import sonde
from ptycho_scan import scan

Reconstruction = sonde.ptycho.Reconstruction


@pytest.fixture(scope="module")
def made():
    return scan()


@pytest.fixture(scope="module", autouse=True)
def own_cache(tmp_path_factory):
    """No other test changes what is known of Fourier transforms: plans that are measured anew may round differently."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
        yield


def settings(iterations=5, **tables):
    """Five iterations of gd, in pixels, that nothing stops early."""
    engine = {"name": "gd", "batch": 16, "iterations": iterations}
    return {"geometry": {"units": "pixel"}, "engine": [engine], **tables, "data": {"holdout": 0.0, **tables.get("data", {})},
            "stop": {"rule": "off", **tables.get("stop", {})}}


def start(made, patterns=None, **tables):
    return Reconstruction(settings(**tables), data=made.frames if patterns is None else patterns, positions=made.positions,
                          probe=made.start)


def curve(run):
    return [step.metrics["R_I"] for step in run.iterate()]


def error_of(kind, call, *arguments, **options):
    with pytest.raises(sonde.Error) as caught:
        call(*arguments, **options)
    assert caught.value.kind == kind, str(caught.value)
    return str(caught.value)


# Estimates

def test_a_reconstruction_step_by_step(made):
    run = start(made)
    assert run.outcome.kind == "running" and run.outcome.r_free is None and run.plan["frames"] == 36 and run.plan["window"] == [24, 20]
    steps = []
    for step in run.iterate():
        steps.append(step)
        assert run.object.shape == tuple(run.plan["object"])  # may be looked at in between
    assert [step.number for step in steps] == [1, 2, 3, 4, 5]
    assert steps[-1].metrics["R_I"] < 0.5 * steps[0].metrics["R_I"]
    assert run.outcome.kind == "finished" and run.outcome.r_free is None and list(run.iterate()) == []
    np.testing.assert_array_equal(run.metrics["R_I"], [step.metrics["R_I"] for step in steps])
    assert np.isnan(run.metrics["R_free"]).all() and steps[0].metrics["R_free"] is None
    assert run.object.dtype == np.complex64 and run.probe.shape == (1, 24, 20) and run.positions.shape == (36, 2)
    assert 0 < run.floor < steps[-1].metrics["R_I"] and 0 < run.overlap < 1
    assert run.active == list(range(36)) and run.held_out == []
    assert "36 patterns of 24 x 20, finished after 5" in repr(run)


def test_a_notebook_shows_a_reconstruction(made):
    run = start(made)
    assert "36 of 24 x 20" in run._repr_html_() and "<img" not in run._repr_html_()
    run.run(2)
    shown = run._repr_html_()
    assert f"{run.metrics['R_I'][-1]:.4f}, its floor {run.floor:.4f}" in shown and "running after 2 iterations" in shown
    assert shown.count("data:image/png;base64") == 2


def test_values_without_counts_have_no_floor(made):
    gain = np.random.default_rng(3).uniform(0.9, 1.1, made.frames.shape)
    run = start(made, (made.frames * gain).astype(np.float32))
    run.run()
    assert run.floor is None and "its floor" not in run._repr_html_()
    assert any("counts_per_unit" in warning for warning in run.warnings)


def test_its_estimate_explains_the_patterns(made):
    """forward() of what was found is close to what was counted: both speak of the same arrays."""
    run = start(made, iterations=30)
    run.run()
    model = sonde.ptycho.forward(run.object, run.probe, run.positions)
    r_i = np.sqrt(((model - made.frames) ** 2).sum() / (made.frames.astype(float) ** 2).sum())
    assert r_i < 1.1 * run.metrics["R_I"][-1]


def test_how_a_run_is_divided_does_not_change_it(made):
    whole, parts, single = start(made), start(made), start(made)
    assert len(whole.run()) == 5
    assert len(parts.run(2)) == 2 and len(list(parts.iterate(1))) == 1 and len(parts.run(10)) == 2
    for _ in single.iterate():
        pass
    for run in (parts, single):
        np.testing.assert_array_equal(run.object, whole.object)
        np.testing.assert_array_equal(run.probe, whole.probe)


def test_a_raster_is_known_by_its_shape(made):
    raster = scan(jitter=0.0)
    by_list = Reconstruction(settings(), data=raster.frames, positions=raster.positions, probe=raster.start)
    four = raster.frames.reshape(6, 6, 24, 20)
    by_raster = Reconstruction(settings(geometry={"units": "pixel", "scan_step_px": 3}), data=four, probe=raster.start)
    assert curve(by_list) == curve(by_raster)


def test_modes_and_precision(made):
    run = start(made, probe={"modes": 3}, compute={"precision": "f64"})
    assert run.probe.shape == (3, 24, 20) and run.probe.dtype == np.complex128
    power = (np.abs(run.probe) ** 2).sum(axis=(1, 2))
    assert power.sum() == pytest.approx(made.frames.sum() / 36, rel=1e-12)


def test_patterns_on_the_disk_give_the_bits_of_those_in_memory(made, tmp_path):
    counts = made.frames.astype(np.uint16)
    here, there = (start(made, counts, data={"storage": "counts", "tier": tier}, compute={"scratch": str(tmp_path)})
                   for tier in ("host", "disk"))
    assert there.plan["memory"]["patterns"] == 0 < here.plan["memory"]["patterns"]
    assert curve(here) == curve(there)
    np.testing.assert_array_equal(here.object, there.object)
    assert not list(tmp_path.iterdir())


def test_a_potential_has_a_phase(made):
    run = start(made, object={"type": "potential"})
    run.run()
    assert run.state.phase.dtype == np.float32
    np.testing.assert_allclose(run.object, np.exp(1j * run.state.phase), atol=1e-6)
    run = start(made, object={"type": "potential"})
    run.set_state(phase=np.full(run.object.shape, 0.25))
    np.testing.assert_allclose(run.object, np.exp(0.25j), atol=1e-6)
    assert "set by its phase" in error_of("bad_input", run.set_state, object=run.object)


def test_the_estimate_can_be_replaced_between_iterations(made):
    run, other = start(made), start(made)
    run.run(2)
    before = run.state
    other.set_state(object=before.object, probe=before.probe, positions=before.positions)
    np.testing.assert_array_equal(other.object, before.object)
    run.run(1)
    assert not np.array_equal(run.object, before.object)  # copies stay as they were
    assert "c64 of shape (2, 24, 20), expected c64 of (1, 24, 20)" in error_of("bad_input", other.set_state, probe=np.ones((2, 24, 20)))
    assert "window" in error_of("bad_input", other.set_state, positions=before.positions + 30)


def test_frames_are_held_out_and_skipped(made):
    run = start(made, data={"holdout": 0.45, "skip": "0-3"})
    assert len(run.held_out) == 16 and len(run.active) == 16 and min(run.active + run.held_out) == 4
    run.run()
    assert np.isfinite(run.metrics["R_free"]).all() and run.outcome.r_free == run.metrics["R_free"][-1]


def test_the_example_in_the_documentation():
    assert doctest.testmod(sonde.ptycho, extraglobs={"sonde": sonde}).failed == 0


# Patterns in

@pytest.mark.parametrize("dtype", [np.uint8, np.uint16, np.int32, np.float32, np.float64])
def test_counts_of_any_type(made, dtype):
    small = scan(counts=1e3)
    same = Reconstruction(settings(), data=small.frames, positions=small.positions, probe=small.start)
    assert small.frames.max() < 256 or dtype is not np.uint8
    run = Reconstruction(settings(), data=small.frames.astype(dtype), positions=small.positions, probe=small.start)
    np.testing.assert_allclose(curve(run), curve(same), rtol=1e-4)


def test_patterns_are_borrowed_until_they_have_been_read(made):
    class Owned(np.ndarray):
        """Of a type of its own, since plain arrays take no weak references to what they own."""

    array = made.frames.view(Owned)
    alive = weakref.ref(array)
    run = start(made, array)
    del array
    gc.collect()
    assert alive() is not None
    run.prepare()
    gc.collect()
    assert alive() is None
    run.run(1)


def test_patterns_that_would_have_to_be_copied_are_refused(made):
    assert "not contiguous" in error_of("bad_input", start, made, made.frames[:, ::-1])
    assert "byte order" in error_of("bad_input", start, made, made.frames.astype(">u2"))


def test_clipping_leaves_the_callers_array_alone(made):
    counts = made.frames.astype(np.float32)
    counts[3, 4, 5] = -2
    assert "first frame 3, row 4, column 5" in error_of("bad_input", start(made, counts).prepare)
    run = Reconstruction(settings(data={"clip_negative": True}), data=counts, positions=made.positions, probe=made.start).prepare()
    assert counts[3, 4, 5] == -2 and any("negative counts became zero" in note for note in run.notes)


def test_masked_pixels_may_hold_anything(made):
    counts = made.frames.astype(np.float32)
    counts[:, 3, 4] = np.nan
    good = np.ones((24, 20), bool)
    good[3, 4] = False
    run = Reconstruction(settings(), data=counts, positions=made.positions, probe=made.start, mask=good)
    assert len(run.run()) == 5


@pytest.mark.skipif(not hasattr(sonde, "stem"), reason="a build without that instrument")
def test_a_data_set_brings_what_it_knows(made):
    raster = scan(jitter=0.0)
    four = raster.frames.reshape(6, 6, 24, 20)
    ds = sonde.stem.from_array(four, hot_pixels="none", voltage=200, scan_step=0.09)
    tables = settings(geometry={"detector_mrad_per_px": 2.0})
    run = Reconstruction(tables, data=ds, probe=raster.start)
    other = settings(geometry={"detector_mrad_per_px": 2.0, "energy_keV": 200, "scan_step_A": 0.9})
    assert run.plan["wavelength_A"] == sonde.ptycho.electron_wavelength(200)
    # Steps in nm and in A round differently.
    np.testing.assert_allclose(curve(run), curve(Reconstruction(other, data=four, probe=raster.start)), rtol=1e-6)
    pixels = sonde.stem.from_array(four, copy=True, hot_pixels="none", layout="pixel")
    assert 'layout="frame"' in error_of("bad_input", Reconstruction, tables, data=pixels)


# Settings and files

def run_file(made, folder, extra=""):
    with h5py.File(folder / "scan.h5", "w") as file:
        file["data"], file["positions"], file["probe"] = made.frames, made.positions, made.start
    path = folder / "run.toml"
    path.write_text('[data]\nfile = "scan.h5"\npatterns = "data"\npositions = "positions"\nholdout = 0.0\n[geometry]\nunits = "pixel"\n'
                    f'[probe]\nfile = "{folder}/scan.h5:probe"\n[[engine]]\nname = "gd"\nbatch = 16\niterations = 5\n'
                    f'[stop]\nrule = "off"\n{extra}')
    return path


def test_a_run_file_and_arrays_say_the_same(made, tmp_path):
    from_file = Reconstruction(run_file(made, tmp_path))
    np.testing.assert_allclose(curve(from_file), curve(start(made)), rtol=1e-4)
    assert from_file.settings["engine"][0]["batch"] == 16
    assert Reconstruction(from_file.settings).settings == from_file.settings
    changed = Reconstruction(tmp_path / "run.toml", set=["engine.0.iterations=2"])
    assert len(changed.run()) == 2


def test_the_program_finds_the_same(made, tmp_path):
    path = run_file(made, tmp_path, '[compute]\nprecision = "f64"\n')
    environment = os.environ | {"XDG_CACHE_HOME": str(tmp_path)}
    subprocess.run([os.environ["SONDE_PROGRAM"], "ptycho", "run", path, "-o", tmp_path / "program.h5", "--quiet"], check=True,
                   env=environment)
    run = Reconstruction(path)
    run.run()
    run.write_result(tmp_path / "python.h5")
    with h5py.File(tmp_path / "program.h5") as program, h5py.File(tmp_path / "python.h5") as python:
        assert set(program) == set(python)
        # Transforms that are measured anew may round differently, by 1e-15 here, which grows where the probe is dark.
        np.testing.assert_allclose(python["metrics/R_I"][()], program["metrics/R_I"][()], rtol=1e-10)
        np.testing.assert_allclose(python["object"][()], program["object"][()], atol=1e-8)
        np.testing.assert_allclose(python["positions_px"][()], made.positions)
        np.testing.assert_array_equal(python["object"][()], run.object)
        told = [json.loads(file["diagnostics"][()]) for file in (program, python)]
        assert set(told[0]) == set(told[1])
        assert all(told[0][key] == told[1][key] for key in ("outcome", "because", "best_iteration", "warnings"))


def test_results_never_replace_what_they_were_made_from(made, tmp_path):
    run = Reconstruction(run_file(made, tmp_path))
    run.run(1)
    (tmp_path / "link.h5").symlink_to("scan.h5")
    before = (tmp_path / "scan.h5").read_bytes()
    for name in ("scan.h5", "link.h5"):
        for write in (run.write_result, run.save):
            assert "an output never replaces an input" in error_of("bad_input", write, tmp_path / name)
    assert (tmp_path / "scan.h5").read_bytes() == before


def test_a_checkpoint_goes_on_with_the_same_bits(made, tmp_path):
    whole, broken = start(made), start(made)
    whole.run()
    broken.run(2)
    broken.save(tmp_path / "run.ckpt.h5")
    again = Reconstruction.resume(tmp_path / "run.ckpt.h5", data=made.frames, positions=made.positions, probe=made.start)
    assert [step.number for step in again.iterate()] == [3, 4, 5]
    np.testing.assert_array_equal(again.object, whole.object)
    np.testing.assert_array_equal(again.metrics["R_I"], whole.metrics["R_I"])
    longer = Reconstruction.resume(tmp_path / "run.ckpt.h5", data=made.frames, positions=made.positions, probe=made.start,
                                   set=["engine.0.iterations=7"])
    assert len(longer.run()) == 5


def test_what_ran_before_does_not_change_the_bits(made):
    """FFTW lets what one run has measured change the plans of others, also of those that are to measure nothing."""
    def found(deterministic):
        run = start(made, compute={"deterministic": deterministic})
        run.run()
        return run.object

    before = found(True)
    found(False)
    np.testing.assert_array_equal(found(True), before)


def test_resuming_what_does_not_fit(made, tmp_path):
    run = start(made)
    run.run(1)
    run.save(tmp_path / "run.ckpt.h5")
    assert "30 positions for" not in error_of("bad_input", Reconstruction.resume, tmp_path / "run.ckpt.h5", data=made.frames[:30],
                                              positions=made.positions)
    assert "probe.modes cannot change at a resume" in error_of("usage", Reconstruction.resume, tmp_path / "run.ckpt.h5",
                                                               data=made.frames, set=["probe.modes=2"])
    (tmp_path / "text.h5").write_text("no checkpoint")
    assert "text.h5" in error_of("bad_file", Reconstruction.resume, tmp_path / "text.h5")
    assert "no file with patterns" in error_of("bad_input", Reconstruction.resume, tmp_path / "run.ckpt.h5")


def test_wrong_settings_are_told_together_and_name_the_nearest(made):
    text = error_of("usage", Reconstruction, {"geometri": {}, "probe": {"defocus": 3}, "engine": [{"name": "gdd"}],
                                              "stop": {"rule": "of"}}, data=made.frames)
    assert 'unknown table [geometri] in settings; did you mean "geometry"?' in text
    assert 'unknown key "defocus" in [probe] of settings; did you mean "defocus_A"?' in text
    assert '"gdd" is not a known engine; did you mean "gd"?' in text and 'unknown word "of"; did you mean "off"?' in text
    assert "stop.rul" in error_of("usage", Reconstruction, settings(), data=made.frames, set=["stop.rul=off"])
    assert "names no engine" in error_of("bad_input", lambda: Reconstruction(
        {"geometry": {"units": "pixel"}}, data=made.frames, positions=made.positions).prepare())


def test_data_that_do_not_fit(made):
    assert "30 positions for 36 frames" in error_of("bad_input", Reconstruction, settings(), data=made.frames,
                                                    positions=made.positions[:30])
    assert "expected (frames, rows, columns)" in error_of("bad_input", Reconstruction, settings(), data=made.frames[0])
    assert "without positions" in error_of("bad_input", Reconstruction, settings(), data=made.frames)
    assert "a mask of" in error_of("bad_input", Reconstruction, settings(), data=made.frames, positions=made.positions,
                                   mask=np.ones((20, 24)))
    assert "probe: shape" in error_of("bad_input", Reconstruction, settings(), data=made.frames, positions=made.positions,
                                      probe=np.ones((20, 24)))
    dark = made.frames.copy()
    dark[7] = 0
    assert "1 frames have no count: 7" in error_of("bad_input", start(made, dark).prepare)
    error_of("budget", Reconstruction, settings(), data=made.frames, positions=made.positions, memory="64k")
    assert "gone.toml" in error_of("bad_file", Reconstruction, pathlib.Path("gone.toml"))


def test_a_diverging_run_raises_and_keeps_its_best_estimate(made):
    run = start(made, stop={"rule": "relative"}, engine={"name": "epie", "iterations": 300, "step_object": 2.0, "step_probe": 2.0})
    assert "diverged" in error_of("not_converged", run.run)
    assert run.outcome.kind == "diverged" and np.isfinite(run.object).all()
    run = start(made, stop={"rule": "relative", "require": True})
    assert "has not converged" in error_of("not_converged", run.run)


# Threads and progress

def test_progress_is_told_and_may_end_the_run(made):
    told = []
    start(made).run(progress=lambda stage, fraction, detail: told.append((stage, fraction)))
    assert ("reconstructing", 1.0) in told
    run = start(made)

    def stop(stage, fraction, detail):
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        run.run(progress=stop)
    run.run()
    assert run.outcome.kind == "finished" and len(run.metrics["R_I"]) == 5  # it went on from there


def test_a_reconstruction_at_work_is_left_alone(made):
    run = start(made)
    run.prepare()
    with pytest.raises(sonde.Error, match="the reconstruction is at work"):
        run.run(progress=lambda stage, fraction, detail: run.state)
    assert run.state.object.shape[0] == 1  # and free afterwards


def test_other_threads_go_on_meanwhile(made):
    """Two runs in two threads, while a third counts: none of it would continue if a run held Python's lock."""
    runs = [start(made, iterations=40), start(made, iterations=40)]
    threads = [threading.Thread(target=run.run) for run in runs]
    counted = 0
    for thread in threads:
        thread.start()
    while any(thread.is_alive() for thread in threads):
        counted += 1
    for thread in threads:
        thread.join()
    assert counted > 0 and all(run.outcome.kind == "finished" for run in runs)
    np.testing.assert_array_equal(runs[0].object, runs[1].object)


# A one-shot reconstruction first

def weak_scan(tmp_path):
    """12 A of weak atoms, turned by 15 degrees: a file, and the run file tables for it."""
    path = tmp_path / "scan.h5"
    sonde.ptycho.simulate_file(path, detector_px=32, detector_mrad=45, scan_shape=(24, 24), scan_step_A=0.5, scan_rotation_deg=15,
                               defocus_A=250, peak_rad=0.3, second_peak_rad=0.2, amorphous_rad=0.1, step_rad=0, counts_per_frame=1e5)
    tables = settings(iterations=2)
    tables["geometry"] = {"energy_keV": 200, "semiangle_mrad": 20, "detector_mrad_per_px": 2.8125, "scan_step_A": 0.5}
    with h5py.File(path) as file:
        patterns = file["data"][()]
    return path, tables, patterns.reshape(24, 24, 32, 32)


@pytest.mark.parametrize(("method", "fit"), [("ssb", "defocus"), ("parallax", "all")])
def test_a_run_begins_by_a_one_shot_reconstruction(tmp_path, method, fit):
    """What the program's `direct` writes when it is called by hand, and a run from that file by hand."""
    path, tables, patterns = weak_scan(tmp_path)
    run = Reconstruction({**tables, "object": {"init": method}, "direct": {"fit": fit}}, data=patterns)
    began = run.plan["object"]
    run.prepare()

    (tmp_path / "run.toml").write_text(f'[data]\nfile = "{path}"\npatterns = "data"\n[geometry]\nenergy_keV = 200\nsemiangle_mrad = 20\n'
                                       "detector_mrad_per_px = 2.8125\nscan_step_A = 0.5\n")
    start = tmp_path / "start.h5"
    subprocess.run([os.environ["SONDE_PROGRAM"], "ptycho", "direct", tmp_path / "run.toml", "--method", method, "--fit", fit,
                    "--transfer", "corrected", "-o", start], check=True, capture_output=True)
    with h5py.File(start) as file:
        wave, corner = file["object"][()], file["object"].attrs["origin_px"]
        found = json.loads(file["diagnostics"][()])
    geometry, probe = run.settings["geometry"], run.settings["probe"]
    assert geometry["scan_rotation_deg"] == pytest.approx(found["rotation_deg"], abs=1e-9)
    assert (abs(geometry["scan_rotation_deg"]) > 5) == (fit == "all")  # it lay straight before
    assert probe["C10_A"] == found["C10_A"] and probe["phi12_deg"] == found["phi12_deg"]
    assert (run.plan["object"] != began) == (fit == "all")  # a turned scan needs more room

    expected = np.ones(run.object.shape, np.complex64)
    down, right = np.round(corner - run.plan["origin_px"]).astype(int)
    rows, cols = wave.shape[1:]
    assert down == 0 and right == 0 and wave.shape == expected.shape
    expected[:, down:down + rows, right:right + cols] = wave
    np.testing.assert_array_equal(run.object, expected)
    assert np.abs(np.angle(wave)).max() > 0.05  # there are atoms in it

    by_hand = {**tables, "geometry": {**tables["geometry"], "scan_rotation_deg": geometry["scan_rotation_deg"]},
               "object": {"init": "file", "file": str(start)},
               "probe": {name: probe[name] for name in ("C10_A", "C12_A", "phi12_deg")}}
    same = Reconstruction(by_hand, data=patterns)
    assert curve(run) == curve(same)
    np.testing.assert_array_equal(run.object, same.object)


def test_a_run_that_began_by_a_one_shot_reconstruction_goes_on(tmp_path):
    _, tables, patterns = weak_scan(tmp_path)
    run = Reconstruction({**tables, "object": {"init": "ssb"}, "direct": {"fit": "none"}}, data=patterns)
    next(run.iterate(1))
    run.save(tmp_path / "run.ckpt.h5")
    again = Reconstruction.resume(tmp_path / "run.ckpt.h5", data=patterns)
    assert curve(again) == curve(run)
    np.testing.assert_array_equal(again.object, run.object)


def test_a_one_shot_reconstruction_keeps_to_the_memory(tmp_path):
    _, tables, patterns = weak_scan(tmp_path)
    run = Reconstruction({**tables, "object": {"init": "ssb"}}, data=patterns, memory="3M")
    assert "object.init" in error_of("budget", run.prepare)


@pytest.mark.parametrize("setting", ["multi_start.starts=2", "quality.half_data=true", "output.log=log.jsonl", "output.checkpoint_every=1"])
def test_what_only_verbs_do_is_refused(setting):
    with pytest.raises(sonde.Error, match=f"{setting.split('=')[0]} has no effect on a Reconstruction"):
        sonde.ptycho.Reconstruction({"engine": [{"name": "gd"}]}, set=[setting])
