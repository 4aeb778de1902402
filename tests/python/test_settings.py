# SPDX-License-Identifier: Apache-2.0
"""Every setting of every verb acts: set to another value it changes what is found, said or written beside its echo, or is refused."""

import json
import os
import pathlib
import re
import subprocess

import pytest

import small_inputs
import sonde
from one_setting import Case, differing, found, other_values, path_of
from sonde import _sonde

PROGRAM = os.environ["SONDE_PROGRAM"]
DOCS = pathlib.Path(__file__).parents[2] / "docs/commands"

#: How each verb is used by the tests: its inputs, and what is given beside the setting in question.
USES = {
    "stem info": (["{scan}"], {}),
    "stem validate": (["{scan}"], {"decode": True}),
    "stem load": (["{scan}"], {"output": "{out}/summary.h5"}),
    "stem image": (["{scan}"], {"detector": ["annulus(14,13,2,9)"], "output": "{out}/image.png"}),
    "stem calibrate": (["{scan}"], {"output": "{out}/calibration.h5", "inner": 6.0}),
    "stem com": (["{scan}"], {"output": "{out}/com.h5"}),
    "stem phase": (["{scan}"], {"output": "{out}/phase.h5", "units": "px"}),
    "stem radial": (["{scan}"], {"output": "{out}/radial.h5"}),
    "stem bragg": (["{scan}"], {"output": "{out}/bragg.h5", "probe": "3", "edge_boundary": 2}),
    "stem strain": (["{in}/bragg.h5"], {"output": "{out}/strain.h5"}),
    "stem cepstrum": (["{scan}"], {"output": "{out}/cepstrum.h5", "kind": "power"}),
    "stem crystal": (["{in}/gold.cif"], {"output": "{out}/crystal.h5", "zone": "0,1,1", "voltage": 200}),
    "stem orient": (["{in}/gold_disks.h5"], {"crystal": ["{in}/gold.cif"], "output": "{out}/orientation.h5", "angle_step_zone_axis": 5}),
    "stem count": (["{scan}"], {"output": "{out}/events.h5", "background": 4.5}),
    "stem events": (["{in}/hits.tpx3"], {"dwell": "40us", "scan_shape": "5,7", "output": "{out}/events.h5"}),
    "stem convert": (["{scan}"], {"output": "{out}/scan.npy"}),
    "stem simulate": (["{out}/s_master.h5"], {"scan_shape": "4,4", "detector_shape": "16,16", "disk_radius": 4}),
    "ptycho run": (["{in}/recon.toml"], {"output": "{out}/r.h5"}),
    "ptycho resume": (["{in}/checked.ckpt.h5"], {"output": "{out}/r.h5"}),
    "ptycho direct": (["{in}/ptycho.h5"], {"output": ["{out}/d.h5"]}),
    "ptycho init": (["{in}/ptycho.h5"], {"output": "{out}/new.toml"}),
    "ptycho report": (["{in}/result.h5"], {"output": "{out}/page.html"}),
    "ptycho sweep": (["{in}/sweep.toml"], {"output": "{out}/sweep"}),
    "ptycho export": (["{in}/result.h5"], {"output": "{out}/e"}),
    "ptycho compare": (["{in}/result.h5", "{in}/checked.h5"], {"output": "{out}/c.png"}),
    "ptycho diagnose": (["{in}/result.h5"], {}),
    "ptycho orient": (["{in}/recon.toml"], {"iterations": 2, "scan": 4}),
    "ptycho simulate": ([], {"output": "{out}/p.h5", "scan_shape": "3,3", "detector_px": 32}),
    "neoclassical run": (["{in}/transport.toml"], {"output": "{out}/r.nc"}),
    "neoclassical scan": (["{in}/transport.toml"], {"output": "{out}/s.h5"}),
    "neoclassical convergence": (["{in}/transport.toml"], {"output": "{out}/c.nc", "tol": 0.9}),
    "neoclassical convert": (["{in}/transport_scan.nc"], {"output": "{out}/f.nc"}),
    "neoclassical plot": (["{in}/transport_scan.nc"], {"output": "{out}/p.svg"}),
    "neoclassical boozer": (["{in}/wout.nc"], {"output": "{out}/b.nc", "s": "0.25", "mboz": 6, "nboz": 0}),
    "neoclassical database": (["{in}/wout.nc"], {"output": "{out}/D.h5", "rho": "0.5", "nu_v": "1e-2,1e-1", "er_tilde": "0,1e-3",
                                                 "n_theta": 5, "n_zeta": 5, "n_xi": 4}),
    "neoclassical profile": (["{in}/Dij.h5"], {"output": "{out}/t.h5", "rho": "0.5", "energies": 8, "E_r_points": 20}),
    "maxwell run": (["{in}/radar.in"], {"output": "{out}/r.out"}),
    "maxwell gradient": (["{in}/fwi.toml"], {"output": "{out}/g.h5"}),
    "maxwell born": (["{in}/fwi.toml"], {"direction": "{in}/gradient.h5", "output": "{out}/b.h5"}),
    "maxwell fwi": (["{in}/fwi.toml"], {"output": "{out}/fwi"}),
    "maxwell init": (["{in}/strip.h5"], {"output": "{out}/new.toml"}),
    "maxwell plot": (["{in}/radar.out"], {"output": "{out}/p.svg"}),
    "maxwell convert": (["{in}/line.dt1", "{out}/c.h5"], {}),
    "maxwell verify": ([], {"only": ["cavity"]}),
    "separate run": (["{in}/song.wav"], {"checkpoint": "{in}/network.ckpt", "output": "{out}/stems"}),
    "separate midi": (["{in}/drums"], {"output": "{out}/drums.mid", "events": "{out}/events.csv"}),
    "separate info": ([], {"checkpoint": "{in}/network.ckpt"}),
    "separate convert": (["{in}/network.ckpt", "{out}/network.safetensors"], {}),
    "separate eval": (["{in}/true_stems", "{in}/made_stems"], {}),
    "separate ensemble": (["{in}/true_stems", "{in}/made_stems"], {"output": "{out}/both"}),
    "separate plot": (["{in}/song.wav"], {"output": "{out}/p.svg"}),
    "separate simulate": ([], {"output": "{out}/loop", "seconds": 1}),
    "separate demo": ([], {"output": "{out}/demo", "seconds": 2}),
}

OF_WOUT = {"inputs": ["{in}/wout.nc"], "s": 0.25, "nu_hat": 0.1, "n_theta": 5, "n_zeta": 5, "n_xi": 4}
SCAN_OF_WOUT = {**OF_WOUT, "nu_hat": None, "nu_v": "0.1"}
#: A second network, which separates a stem of the first.
THEN = {"then": "{in}/network.ckpt", "then_stem": "snare"}
SOLVED = {"inputs": ["{in}/wout.nc"], "E_r": 0, "n_theta": 5, "n_zeta": 5, "n_xi": 4, "energies": 3}

#: Settings that every verb has.
COMMON = {"device": Case("cuda:7"), "memory": Case(100), "threads": Case(1), "report": Case("{out}/report.json"),
          "config": Case("{in}/config.toml"), "dry_run": Case(True), "live": Case(0)}

#: Where a setting of reading scans acts, for verbs that read one.
READING = {
    "scan_shape": Case("5,6", "7,7"), "allow_incomplete": Case(scan_shape="6,6"), "drop_extra": Case(scan_shape="5,5"),
    "mask_file": Case("{in}/mask.npy", "{in}/gone.npy"), "sentinel": Case(1, inputs=["{in}/frames.npy"]), "dataset": Case("b", inputs=["{in}/two.h5"]),
    "raw_shape": Case("6,5,28,26", inputs=["{in}/plain.bin"], raw_dtype="u2"),
    "raw_dtype": Case("i2", inputs=["{in}/plain.bin"], raw_shape="6,5,28,26"),
    "raw_big_endian": Case(inputs=["{in}/plain.bin"], raw_shape="6,5,28,26", raw_dtype="u2"),
    "raw_offset": Case(8, inputs=["{in}/gaps.bin"], raw_shape="6,5,28,26", raw_dtype="u2", raw_gap=4),
    "raw_gap": Case(4, inputs=["{in}/gaps.bin"], raw_shape="6,5,28,26", raw_dtype="u2", raw_offset=8),
    "preset": Case("empad", inputs=["{in}/empad.bin"], scan_shape="2,2"),
    "det_bin": Case("2"), "bin_mode": Case(det_bin=2), "edge": Case(det_bin=3), "scan_region": Case("0,3,1,4", "0,9,1,9"),
    "on_error": Case(inputs=["{in}/broken/scan_master.h5"]), "pattern": Case("tilt", inputs=["{in}/series"]),
    "recursive": Case(inputs=["{in}/series"], output=None), "max_files": Case(1, inputs=["{in}/series"], output=None),
    "series_shape": Case("5,5,28,26", inputs=["{in}/series"], output=None), "rotation": Case(30.0),
    "calibration": Case("{in}/calibration.h5", "{in}/gone.h5"),
}

#: Frames with noise, from which thresholds of counting follow.
DENSE = {"inputs": ["{in}/dense.npy"], "background": None}

CASES = {
    "stem validate": {"transpose_scan": Case(scan_region="0,6,0,5"), "dataset": Case("gone", inputs=["{in}/two.h5"]), "det_bin": Case("99"),
                      "scan_bin": Case(99), "recursive": Case(inputs=["{in}/series"]), "max_files": Case(1, inputs=["{in}/series"])},
    "stem load": {"output": Case("{out}/other.h5")},
    "stem image": {
        "output": Case("{out}/other.tif"), "from": Case("{in}/kept.json", inputs=[]), "state": Case("{in}/state.json", inputs=[], detector=None),
        "all": Case(inputs=["{in}/series"], output="{out}/images/"), "detector": Case("bf"), "centre": Case("12,13", detector=["annulus(auto,auto,2,9)"]),
        "radius": Case(4.0, detector=["bf"]), "range": Case("0,9"),
        "centre_method": Case(detector=["bf"]), "pattern": Case("tilt", inputs=["{in}/series"], output="{out}/images/", all=True),
        "max_files": Case(1, inputs=["{in}/series"], output="{out}/images/", all=True),
        "recursive": Case(inputs=["{in}/series"], output="{out}/images/", all=True),
        "series_shape": Case("5,5,28,26", inputs=["{in}/series"], output="{out}/images/", all=True)},
    "stem phase": {"output": Case("{out}/other.h5"), "html": Case("{out}/page.html"), "png": Case("{out}/p.png"), "fit": Case("none"), "min_counts": Case(2900.0, 1e6), "threshold": Case("3"),
                   "rotation": Case("30"), "transpose": Case("0", "1"), "convention": Case(rotation="30", transpose="1"), "padding": Case(method="fourier"),
                   "q_highpass": Case(0.1, method="fourier"), "q_lowpass": Case(0.1, method="fourier"), "butterworth_order": Case(method="fourier", q_lowpass=0.1),
                   "weigh_counts": Case(method="cg"), "kernel": Case(1, method="ricom"), "kernel_lowest": Case(method="ricom"),
                   "kernel_highest": Case(method="ricom"), "normalise": Case(method="ricom", units="rad"), "q_pixel": Case(0.01, units="rad"), "skip_calibration": Case("pixel")},
    "stem calibrate": {"output": Case("{out}/other.h5"), "html": Case("{out}/page.html"), "plot": Case("{out}/p.svg"), "calibrant": Case("{in}/gold.cif"), "centre": Case("12,13"),
                       "k_max": Case(0.5, calibrant="{in}/gold.cif")},
    "stem com": {"output": Case("{out}/other.h5"), "html": Case("{out}/page.html"), "png": Case("{out}/p.png"), "fit": Case("none"), "min_counts": Case(2900.0, 1e6), "threshold": Case("3"),
                 "rotation": Case("30"), "transpose": Case("0", "1"), "convention": Case(rotation="30", transpose="1"), "q_pixel": Case(0.01, units="1/A"),
                 "skip_calibration": Case("pixel")},
    "stem bragg": {"output": Case("{out}/other.h5"), "html": Case("{out}/page.html"), "tune": Case(9), "png": Case("{out}/p.png"), "kernel_study": Case(9), "dose_report": Case(9), "gain": Case(2.0), "probe": Case("4"), "background_sigma": Case(9.0, background="dog"), "kernel_sigma": Case(kernel="gaussian"),
                   "upsample_factor": Case(subpixel="multicorr"), "min_absolute_intensity": Case(1.0), "min_relative_intensity": Case(0.9),
                   "relative_to_peak": Case(1, min_relative_intensity=0.9), "min_peak_spacing": Case(12.0), "max_num_peaks": Case(1)},
    "stem radial": {"output": Case("{out}/other.h5"), "html": Case("{out}/page.html"), "plot": Case("{out}/p.svg"), "centre": Case("12,13"), "ellipse": Case("2,1,30"),
                    "skip_calibration": Case("ellipse")},
    "stem strain": {"output": Case("{out}/other.h5"), "html": Case("{out}/page.html"), "method": Case("cepstrum", inputs=["{in}/spots.npy"]), "plot": Case("{out}/p.png"), "basis": Case("17,24,20,2"), "max_peak_spacing": Case(0.2),
                    "min_num_peaks": Case(26), "reference": Case("20,1,-2,22"), "reference_region": Case("0,2,0,3"), "rotation": Case(30.0),
                    "transpose": Case("1", rotation=30.0), "skip_calibration": Case("pixel"),
                    "calibration": Case("{in}/calibration_of_disks.h5", "{in}/gone.h5"), "sensitivity": Case(9)},
    "stem cepstrum": {"output": Case("{out}/other.h5"), "html": Case("{out}/page.html"), "png": Case("{out}/p.png"), "kind": Case("autocorrelation"),
                      "basis": Case("6,1,5,6", inputs=["{in}/spots.npy"], kind="cepstrum"), "skip_calibration": Case("pixel")},
    "stem crystal": {"output": Case("{out}/other.h5"), "plot": Case("{out}/p.svg"), "zone": Case("1,1,1"), "voltage": Case(300.0), "precession": Case(1.0)},
    "stem orient": {"output": Case("{out}/other.h5"), "html": Case("{out}/page.html"), "crystal": Case(["{in}/gone.cif"]), "png": Case("{out}/p.png"), "ang": Case("{out}/o.ang"),
                    "phase_margin": Case(45.0, crystal=["{in}/gold.cif", "{in}/iron.cif"]), "precession": Case(1.0), "rotation": Case(30.0, strain=True),
                    "transpose": Case("1", "2", strain=True, rotation=30.0),
                    "q_pixel": Case(0.025), "voltage": Case(80.0), "origin_fit": Case("parabola", "none"), "tol_distance": Case(0.2),
                    "min_number_peaks": Case(900), "matches": Case(2), "skip_calibration": Case("pixel"), "grain_angle": Case(30.0), "grain_size": Case(4),
                    "calibration": Case("{in}/calibration_of_gold.h5", "{in}/gone.h5")},
    "stem count": {"output": Case("{out}/other.h5"), "html": Case("{out}/page.html"), "png": Case("{out}/p.png"), "plot": Case("{out}/p.svg"), "dark": Case("{in}/dark.npy"),
                   "gain": Case("{in}/gain.npy"), "background": Case(9.0), "xray": Case(12.0), "background_sigma": Case(3.0, **DENSE),
                   "xray_sigma": Case(1.0, **DENSE), "samples": Case(5, **DENSE), "seed": Case(1, **DENSE, samples=5)},
    "stem events": {"output": Case("{out}/other.h5"), "html": Case("{out}/page.html"), "png": Case("{out}/p.png"), "dwell": Case("30us"), "scan_shape": Case("7,5"), "delay": Case("5us"),
                    "cluster_time": Case("0"), "reorder_time": Case("1us"), "chips": Case("{in}/turned.toml"), "edge": Case("fall"), "damage": Case(inputs=["{in}/cut.tpx3"])},
    "stem convert": {"output": Case("{out}/other.h5"), "rotation": Case(30.0, output="{out}/scan.h5")},
    "stem simulate": {"scan_shape": Case("3,4"), "detector_shape": Case("16,18"), "centre": Case("7,8"), "frames_per_file": Case(5),
                      "dwell": Case("30us", inputs=["{out}/hits.tpx3"], sample="events"),
                      **{key: Case(sample="counting") for key in ("occupancy", "cloud", "deposit", "deposit_spread", "read_noise", "dark_level",
                                                                  "dark_spread", "gain_spread", "xray_rate")},
                      "lattice": Case("6,1,-1,5", sample="disks"), "strain": Case("0.1,0,0", sample="disks"),
                      "crystal": Case(["{in}/gold.cif"], sample="crystal"), "euler": Case("10,20,30", sample="crystal", crystal=["{in}/gold.cif"])},
    "ptycho run": {"deterministic": Case(False, dry_run=True), "skip_empty": Case(True, inputs=["{in}/odd.toml"], clip_negative=True),
                   "clip_negative": Case(True, inputs=["{in}/odd.toml"], skip_empty=True), "output": Case("{out}/other.h5"), "log": Case("{out}/log.jsonl"), "set": Case(["engine.0.step=0.3"]),
                   "config": Case("{in}/recon.toml", inputs=["{in}/ptycho.h5"])},
    "ptycho resume": {"output": Case("{out}/other.h5"), "set": Case(["engine.0.iterations=4"])},
    "ptycho direct": {"output": Case(["{out}/other.npy"]), "set": Case(["probe.C12_A=30"], fit="none"), "upsample": Case(2, method="parallax"),
                      "skip_empty": Case(True, inputs=["{in}/odd.toml"], clip_negative=True),
                      "clip_negative": Case(True, inputs=["{in}/odd.toml"], skip_empty=True), "config": Case("{in}/other.toml")},
    "ptycho init": {"output": Case("{out}/other.toml"), "engine": Case(["epie"]), "set": Case(["probe.modes=2"])},
    "ptycho report": {"output": Case("{out}/other.html")},
    "ptycho sweep": {"output": Case("{out}/other"), "set": Case(["engine.0.step=0.3"])},
    "ptycho export": {"output": Case("{out}/other")},
    "ptycho compare": {"truth": Case("{in}/ptycho_2.h5", inputs=["{in}/result.h5"]), "output": Case("{out}/other.png")},
    "ptycho diagnose": {"before": Case("{in}/sharp.h5", inputs=["{in}/smooth.h5"]), "semiangle_mrad": Case(5.0)},
    "ptycho orient": {"set": Case(["probe.C12_A=30"]), "rotation_deg": Case(["10"]), "config": Case("{in}/other.toml", inputs=["{in}/ptycho.h5"])},
    "ptycho simulate": {"output": Case("{out}/other.h5"), "occupancies": Case("3,1"), "scan_shape": Case("3,2"), "drift_A": Case("2,1"),
                        "layer_distance_A": Case("50", layers=2), "lattice_turn_deg": Case(20.0), "phi12_deg": Case(30.0, C12_A=40)},
    "maxwell run": {"accuracy": Case("0.5%"), "decompose": Case("2x1x1"), "output": Case("{out}/other.nc"), "plot": Case("{out}/p.svg"), "force": Case(inputs=["{in}/coarse.in"]),
                    "set": Case(["grid.order=2"], inputs=["{in}/strip.toml"], output="{out}/r.h5"), "snapshots": Case("{out}/f.h5"),
                    "snapshot_every": Case(50, snapshots="{out}/f.h5"), "snapshot_step": Case("4,3", snapshots="{out}/f.h5"),
                    "geometry_only": Case(True, inputs=["{in}/viewed.in"])},
    "maxwell gradient": {"decompose": Case("2x1x1"), "output": Case("{out}/other.h5"), "observed": Case("{in}/records.h5"), "wrt": Case(["source"]), "sampling_interval": Case("4"),
                         "bytes_limit_host": Case(300_000), "bytes_limit_device": Case(300_000), "storage_path": Case("{in}/gone"), "plot": Case("{out}/p.svg"),
                         "set": Case(["grid.order=2"]), "force": Case(inputs=["{in}/coarse_fwi.toml"])},
    "maxwell born": {"output": Case("{out}/other.h5"), "direction": Case("{in}/strip.h5"), "plot": Case("{out}/p.svg"), "set": Case(["grid.order=2"]),
                     "force": Case(inputs=["{in}/coarse_fwi.toml"])},
    "maxwell fwi": {"output": Case("{out}/other"), "set": Case(["inversion.memory=1"]), "force": Case(inputs=["{in}/coarse_fwi.toml"]),
                    "resume": Case(True, output="{in}/parted_fwi")},
    "maxwell init": {"output": Case("{out}/other.toml"), "set": Case(["grid.order=2"]), "example": Case("crosshole", inputs=[]),
                     "accuracy": Case("1%", set=["survey.sources=4, 3", "survey.receivers=4, 12", "source.f0=100e6", "time.nt=160"])},
    "maxwell verify": {"only": Case(["energy"]), "full": Case(True, only=["energy"])},
    "maxwell plot": {"output": Case("{out}/other.svg"), "component": Case("Hx"), "shot": Case(2, inputs=["{in}/records.h5"]),
                     "channel": Case(2, inputs=["{in}/two.dzt"]), "frame": Case(1, inputs=["{in}/frames.h5"]),
                     "allow_truncated": Case(True, inputs=["{in}/cut.dzt"])},
    "maxwell convert": {"shot": Case(2, inputs=["{in}/records.h5", "{out}/c.h5"]), "component": Case("Hx", inputs=["{in}/radar.out", "{out}/c.h5"]), "receiver": Case(2, inputs=["{in}/radar.out", "{out}/c.h5"]),
                        "channel": Case(2, inputs=["{in}/two.dzt", "{out}/c.h5"]), "allow_truncated": Case(True, inputs=["{in}/cut.dzt", "{out}/c.h5"]),
                        "subtract": Case("{in}/line.dt1"), "time_zero": Case("first-break"), "dewow": Case(0.1), "background": Case(0), "resample": Case(0.01),
                        "to_2d": Case(4.0), "gain": Case(0.1), "gain_limit": Case(1.0, gain=100.0)},
    "neoclassical run": {"s": Case(0.3, **OF_WOUT), "snap": Case(True, **OF_WOUT), "wout": Case("{in}/wout.nc", **OF_WOUT), "psi_a": Case(2.0, **OF_WOUT),
                         "output": Case("{out}/other.nc"), "set": Case(["grid.n_xi=5"]), "epsi_hat": Case(0.01), "nu_hat": Case(0.2), "n_theta": Case(7), "n_zeta": Case(7)},
    "neoclassical scan": {"s": Case(0.3, **SCAN_OF_WOUT), "rho": Case("0.4,0.5", **{**SCAN_OF_WOUT, "s": None}), "wout": Case("{in}/wout.nc", **SCAN_OF_WOUT),
                          "output": Case("{out}/other.h5"), "nu_v": Case("0.3"), "epsi_hat": Case("0.1"), "er_hat": Case("0.1"), "er_tilde": Case("0.1"),
                          "set": Case(["grid.n_xi=5"]), "n_theta": Case(7), "n_zeta": Case(7)},
    "neoclassical convergence": {"s": Case(0.3, **OF_WOUT), "output": Case("{out}/other.png"), "set": Case(["grid.n_xi=5"]), "refine": Case("n_xi"),
                                 "epsi_hat": Case(0.01), "nu_hat": Case(0.2), "n_theta": Case(7), "n_zeta": Case(7), "tol": Case(1e-9),
                                 "wout": Case("{in}/wout.nc", **OF_WOUT), "steps": Case(1, tol=1e-9)},
    "neoclassical convert": {"output": Case("{out}/other.nc")},
    "neoclassical plot": {"output": Case("{out}/other.svg"), "quantity": Case("D33")},
    "neoclassical boozer": {"output": Case("{out}/other.nc"), "s": Case("0.5")},
    "neoclassical database": {"output": Case("{out}/other.h5"), "rho": Case("0.6"), "rho_linspace": Case("0.4,0.6,2", rho=None), "nu_v": Case("0.3"),
                              "er_tilde": Case("0.1"), "er_tilde_logspace": Case("1e-4,1e-3,2", er_tilde=None),
                              "er_tilde_include_zero": Case(True, er_tilde=None, er_tilde_logspace="1e-4,1e-3,2"), "tol": Case(1e-30),
                              "booz": Case("{in}/boozmn.nc"), "snap": Case(True, booz="{in}/boozmn.nc", surface_backend="boozer"), "round_odd": Case(True, n_theta=6),
                              "surface_backend": Case(booz="{in}/boozmn.nc", snap=True), "resume": Case(True, output="{in}/parted.h5"), "n_theta": Case(7), "n_zeta": Case(7)},
    "neoclassical profile": {"output": Case("{out}/other.nc"), "quantity": Case("fluxes"), "profiles": Case("{in}/profiles.toml"), "rho": Case("0.6"),
                             "E_r": Case(100.0), "compare": Case("{in}/Dij.h5", **SOLVED),
                             "n_theta": Case(7, **SOLVED), "n_zeta": Case(7, **SOLVED), "n_xi": Case(5, **SOLVED), "discretisation": Case(**SOLVED),
                             "round_odd": Case(True, **{**SOLVED, "n_theta": 6}), "tol": Case(1e-30, **SOLVED), "precision": Case(**SOLVED),
                             "adapt_n_xi": Case(0.5, **SOLVED), "E_r_search": Case(**{**SOLVED, "E_r": None})},
    "separate run": {"checkpoint": Case("{in}/gone.ckpt"), "model": Case("{in}/other_network.yaml"), "state_key": Case("ema"), "output": Case("{out}/other"),
                     "overlap": Case(2), "chunk": Case(3840, 3800), "start": Case("0:00.01"), "seconds": Case(0.05), "downmix": Case(inputs=["{in}/surround.wav"]),
                     "nan": Case(inputs=["{in}/holes.wav"]), "stems": Case("kick", "kik"), "mix": Case(["rest=mixture-kick"]), "subtype": Case("pcm16"),
                     "template": Case("{{stem}}"), "dither": Case(subtype="pcm16"), "dim_t": Case(8), "shifts": Case(2), "batch": Case("2"),
                     "residual": Case(["kick"]), "clip": Case(format="flac"), "recursive": Case(inputs=["{in}/album"]),
                     "resume": Case(True, output="{in}/separated"), "then": Case("{in}/network.ckpt", mix=["drums=kick+snare"]),
                     "then_model": Case("{in}/other_network.yaml", **THEN), "then_state_key": Case("ema", **THEN), "then_stem": Case("kick", "kik", **THEN),
                     "then_overlap": Case(2, **THEN), "then_chunk": Case(3840, 3800, **THEN), "then_dim_t": Case(8, **THEN)},
    "separate midi": {"output": Case("{out}/other.mid"), "events": Case("{out}/other.json"), "reference": Case("{in}/drums.csv"), "plot": Case("{out}/drums.svg"),
                      "detection": Case("kick=peak", "kick=loud"), "gap": Case("hihat=700"), "merge": Case("hihat=10"), "threshold": Case("0.99"),
                      "prominence": Case("cymbals=60"), "floor": Case("cymbals=-5"), "gate": Case("1"), "sharpness": Case("cymbals=100"),
                      "sustain": Case("hihat=1000"), "crash_centroid": Case(20000.0), "notes": Case("kick=35", "kik=35"), "span": Case(40.0), "tempo": Case("96", "fast"),
                      "quantise": Case("1/8", "1/7"), "strength": Case(0.5, quantise="1/8")},
    "separate info": {"checkpoint": Case("{in}/gone.ckpt"), "model": Case("{in}/other_network.yaml"), "state_key": Case("ema")},
    "separate convert": {"state_key": Case("ema")},
    "separate eval": {"output": Case("{out}/scores.csv"), "mixture": Case("{in}/true_stems/kick.wav"), "metrics": Case("bss_eval"), "frame": Case(0.01, hop=0.005), "hop": Case(0.005, frame=0.01),
                      "rate": Case(44100), "lengths": Case("shortest", inputs=["{in}/true_stems/kick.wav", "{in}/short_stem.wav"])},
    "separate ensemble": {"output": Case("{out}/other"), "weights": Case("2,1")},
    "separate plot": {"output": Case("{out}/other.svg"), "range_db": Case(20.0)},
    "separate simulate": {"output": Case("{out}/other"), "seconds": Case(0.9), "tempo": Case(150.0), "timing": Case(20.0), "rate": Case(22050)},
    "separate demo": {"output": Case("{out}/other"), "seconds": Case(2.5)},
}


def case_of(verb, key):
    own = CASES.get(verb, {}).get(key)
    if own is not None:
        return own
    if key in COMMON:
        return COMMON[key]
    return READING.get(key, Case()) if verb.startswith("stem") and verb != "stem simulate" else Case()


def settings_of(verb):
    return [field for field in _sonde.verb_fields(verb) if not field["positional"]]


@pytest.fixture(scope="session")
def places(tmp_path_factory):
    if not small_inputs.WOUT.exists():
        pytest.skip("no test data")
    return small_inputs.make(tmp_path_factory.mktemp("small"))


@pytest.fixture(scope="session")
def outcome(tmp_path_factory, places):
    """Runs a verb with its usual settings and others beside them. What was run before is not run again."""
    folder = tmp_path_factory.mktemp("runs") / "out"
    known = {}

    def find(verb, inputs, settings):
        at = json.dumps([verb, inputs, settings])
        if at not in known:
            there = {**places, "out": folder}
            known[at] = found(verb, path_of(inputs, there), {key: path_of(value, there) for key, value in settings.items()}, folder)
        return known[at]

    return find


def used(verb, case):
    inputs, settings = USES[verb]
    return inputs if case.inputs is None else case.inputs, {**settings, **case.given}


@pytest.mark.parametrize("verb", USES)
def test_a_use_finds_the_same_twice(verb, places, tmp_path):
    """Else every setting would seem to act."""
    inputs, settings = USES[verb]
    there = {**places, "out": tmp_path / "out"}
    once, again = (found(verb, path_of(inputs, there), {key: path_of(value, there) for key, value in settings.items()}, tmp_path / "out") for _ in range(2))
    assert "refused" not in once, once["refused"]
    for part in differing(once, again):
        assert once[part] == again[part]


@pytest.mark.parametrize(("verb", "key"), [(verb, field["key"]) for verb in sonde.verbs() for field in settings_of(verb)])
def test_a_setting_acts(verb, key, outcome):
    field = next(each for each in settings_of(verb) if each["key"] == key)
    case = case_of(verb, key)
    inputs, settings = used(verb, case)
    now = settings.get(key, field["default"])
    values = list(case.values) or [value for value in other_values({**field, "default": now})]
    assert values, f"{verb} {key}: a row with a value is needed"
    without = outcome(verb, inputs, settings)
    assert any(differing(without, outcome(verb, inputs, {**settings, key: value})) for value in values), \
        f"{verb}: {key} = {values} changes nothing; {without.get('refused')}"


@pytest.mark.parametrize("verb", ["stem info", "ptycho direct", "neoclassical plot"])
def test_what_only_the_program_has_acts_there(verb, places, tmp_path):
    inputs, settings = USES[verb]
    there = {**places, "out": tmp_path}
    words = [*verb.split(), *map(str, path_of(inputs, there)), *(word for key, value in settings.items() for word in (f"--{key}", str(path_of(value[0] if isinstance(value, list) else value, there))))]
    ended = {key: subprocess.run([PROGRAM, *words, *([f"--{key}"] if key else [])], capture_output=True, text=True, check=True) for key in ("", "json", "quiet")}
    assert isinstance(json.loads(ended["json"].stdout), dict) and not ended[""].stdout
    assert len(ended["quiet"].stderr.splitlines()) < len(ended[""].stderr.splitlines())


#: What a setting without a default is set to in a file.
SAMPLES = {"whole": "1", "real": "1.0", "text": '"1"', "bytes": "1", "toggle": "true", "list": '["1"]', "choice": ""}
#: Verbs whose `config` names a run file: settings stand in its tables, which test_run_file_keys.py has.
TAKE_A_RUN_FILE = {"ptycho run", "ptycho direct", "ptycho orient"}


def commands_of_help():
    """Every command that the overview of the program lists."""
    pages = (DOCS / "README.md").read_text()
    return {name.replace("-", " ", 1) for name in re.findall(r"sonde-((?:stem|ptycho|neoclassical|maxwell|separate)-\w+)\.md", pages)}


def test_every_verb_is_a_use_and_a_page():
    assert set(USES) == set(sonde.verbs()) == commands_of_help()


@pytest.mark.parametrize("verb", USES)
def test_a_verb_is_behind_every_door(verb):
    """Program, Python and reference page."""
    helped = subprocess.run([PROGRAM, *verb.split(), "--help"], capture_output=True, text=True, check=True).stdout
    page = (DOCS / f"sonde-{verb.replace(' ', '-')}.md").read_text()
    instrument, name = verb.split()
    assert callable(getattr(getattr(sonde, instrument), name))
    for field in settings_of(verb):
        flag = field["key"].replace("_", "-")
        flag = f"--[no-]{flag}" if field["type"] == "toggle" and not field["this_run_only"] else f"--{flag}"
        assert re.search(re.escape(flag) + r"\b", helped), flag
        assert re.search(re.escape(flag) + r"\b", page), flag


@pytest.mark.parametrize("verb", sorted(set(USES) - TAKE_A_RUN_FILE))
def test_a_file_of_settings_takes_every_setting(verb, places, tmp_path):
    """In the table of the verb, beside tables of verbs that only the program has. What concerns one run only is refused."""
    instrument, name = verb.split()
    path = tmp_path / "settings.toml"
    lines = {field["key"]: f"{field['key']} = {json.dumps(field['default']) if field['default'] is not None else SAMPLES[field['type']]}" for field in settings_of(verb)}
    taken = [line for field in settings_of(verb) if field["type"] != "choice" or field["default"] for line in [lines[field["key"]]] if not field["this_run_only"]]
    others = "".join(f"[{table}]\nport = 1\n" for table in ("view", "demo", "devices", "machine", "bench", "report.show", "report.compare", "help"))
    inputs = path_of(USES[verb][0], {**places, "out": tmp_path})
    path.write_text("\n".join([f"[{instrument}.{name}]", *taken, others]))
    outcome = found(verb, inputs, {"config": str(path), "dry_run": True}, tmp_path / "out")
    assert "settings.toml" not in str(outcome.get("refused", "")), outcome["refused"]
    for field in settings_of(verb):
        if field["this_run_only"] and field["key"] != "config":
            path.write_text(f"[{instrument}.{name}]\n{field['key']} = 1\n")
            with pytest.raises(sonde.Error, match="not allowed in a configuration file"):
                sonde.run(verb, *inputs, config=path)
