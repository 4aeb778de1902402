# SPDX-License-Identifier: Apache-2.0
"""Every key of the run files acts: set to another value it changes what is found, said or written beside its echo, or is refused."""

import pathlib
import re

import pytest

from one_setting import Case, differing, other_values
from test_settings import outcome, places  # noqa: F401  (fixtures)

PAGES = pathlib.Path(__file__).parents[2] / "docs/commands"


def described(page):
    """The keys of a page of `sonde help --markdown`, as (table, kind, field)."""
    table = kind = ""
    for line in (PAGES / page).read_text().splitlines():
        if heading := re.match(r"## \[+(\w+)\]+", line):
            table, kind = heading[1], ""
        elif heading := re.match(r'### name = "(\w+)"', line):
            kind = heading[1]
        elif row := re.match(r"\| `(\w+)` \| (.*?) \| (.*?) \| (.*?) \| ", line):
            key, value, default, limits = row.groups()
            words = re.findall(r'`"([^"`|]*)"`', value)
            kinds = {"true or false": "toggle", "whole number": "whole", "number": "real"}
            low, high = (re.search(pattern, limits) for pattern in (r"(?:at least )?(-?[\d.e+-]+)(?: to|$)", r" to (-?[\d.e+-]+)"))
            bare = default.strip("` ")
            number = float(bare) if kinds.get(value) in {"whole", "real"} and bare else None
            yield table, kind, {"key": key, "type": kinds.get(value, "text"), "choices": words if len(words) > 1 else [],
                                "default": bare == "true" if value == "true or false" else number if number is not None else bare.strip('"'),
                                "min": float(low[1]) if low else None, "max": float(high[1]) if high else None}


#: By table.key, or kind.key of a list. What is given beside a key is a list of settings as ``set`` takes them.
PTYCHO = {
    "data.file": Case("{in}/ptycho_2.h5"), "data.patterns": Case("truth", "none"), "data.positions": Case("{in}/gone.npy"),
    "data.scan_shape": Case("4,5", "3,3"), "data.mask": Case("{in}/gone.npy"), "data.skip": Case("3"), "data.counts_per_unit": Case(0.01),
    "data.skip_empty": Case(True, run="odd", set=["data.clip_negative=true"]), "data.clip_negative": Case(True, run="odd", set=["data.skip_empty=true"]),
    "data.crop": Case("24"), "data.centre": Case("15,15"), "data.holdout": Case(0.2), "data.mask_good": Case(set=["data.mask={in}/mask_32.npy"]),
    "geometry.energy_keV": Case(300.0), "geometry.semiangle_mrad": Case(25.0, set=["probe.init=aperture"]), "geometry.detector_mrad_per_px": Case(4.0),
    "geometry.detector_inv_A_per_px": Case(0.2), "geometry.detector_pixel_m": Case(1e-4),
    "geometry.distance_m": Case(0.02), "geometry.object_pixel_A": Case(0.3), "geometry.scan_step_A": Case(0.8),
    "geometry.scan_step_px": Case(3.0),
    "probe.file": Case("{in}/result.h5"), "probe.fwhm": Case(3.0, set=["probe.init=gaussian"]),
    "probe.edge": Case(set=["probe.init=aperture"]),
    "object.file": Case("{in}/result.h5", set=["object.init=file"]), "object.random_phase": Case(0.5, set=["object.init=random"]),
    "object.slice_thickness_A": Case("5", set=["object.slices=2"]), "object.tilt_row_mrad": Case(50.0, set=["object.slices=2"]),
    "object.tilt_col_mrad": Case(50.0, set=["object.slices=2"]), "compute.band_limit": Case(False, set=["object.slices=2"]),
    "low_resolution.factor": Case(4, set=["object.init=low_resolution"]), "low_resolution.iterations": Case(2, set=["object.init=low_resolution"]),
    "direct.fit": Case(run="direct"), "direct.focus_range_A": Case(20.0, run="direct"), "direct.transfer": Case(run="direct"),
    "direct.wiener": Case(1.0, run="direct"), "direct.upsample": Case(2, run="parallax"),
    "positions.unit": Case("px", run="listed"), "positions.reference": Case("window_corner", run="listed"),
    "positions.start": Case(2, set=["positions.method=gradient", "engine.0.iterations=3", "positions.start=1"]),
    "opr.start": Case(4, set=["opr.modes=1", "engine.0.iterations=4", "opr.start=1"]),
    "stop.rule": Case("off", set=["stop.delta=0.9", "engine.0.iterations=30"]), "stop.delta": Case(0.9, set=["engine.0.iterations=30"]), "stop.require": Case(True),
    "compute.deterministic": Case(False, dry_run=True), "compute.waves": Case(run="engine_dm"), "compute.wave_tier": Case(run="engine_dm"),
    "compute.scratch": Case("{in}/gone", set=["data.tier=disk"]), "compute.seed": Case(2, set=["engine.0.batch=4"]),
    "multi_start.starts": Case(2, set=["object.init=random"]), "multi_start.iterations": Case(2, set=["object.init=random", "multi_start.starts=2", "multi_start.iterations=1"]),
    "multi_start.at_once": Case(1, set=["object.init=random", "multi_start.starts=2", "multi_start.iterations=1"]),
    "output.file": Case("{out}/other.h5", output=None, set=["output.file={out}/r.h5"]), "output.log": Case("{out}/log.jsonl"), "output.preview_every": Case(1),
    "output.pictures": Case(True), "output.report": Case(True), "output.checkpoint_minutes": Case(1e-9), "quality.half_data": Case(True, run="sharp"),
}
for _step in ("every", "stop", "step", "max_step_px", "max_move_px", "affine"):
    PTYCHO[f"positions.{_step}"] = Case(*{"every": (2,), "stop": (1,), "step": (0.1,), "max_step_px": (0.001,), "max_move_px": (0.001,), "affine": ("held",)}[_step],
                                        set=["positions.method=gradient", "positions.start=1", "engine.0.iterations=4"])
for _step, _value in (("trials", 2), ("radius_px", 0.5)):
    PTYCHO[f"positions.{_step}"] = Case(_value, set=["positions.method=annealing", "positions.start=1", "engine.0.iterations=4"])
for _step, _value in (("every", 2), ("relax", 0.2), ("constant_power", True)):
    PTYCHO[f"opr.{_step}"] = Case(_value, set=["opr.modes=1", "opr.start=1", "engine.0.iterations=4"])
for _name in ("C10", "C12", "C21", "C23", "C30", "C32", "C34", "C41", "C43", "C45", "C50", "C52", "C54", "C56", "defocus", "Cs", "C5"):
    PTYCHO[f"probe.{_name}_A"] = Case(5e4 if _name[1] in "345s" else 300.0, set=["probe.init=aperture"])
    PTYCHO[f"probe.phi{_name[1:]}_deg"] = Case(20.0, set=["probe.init=aperture", f"probe.{_name}_A={5e4 if _name[1] in '345' else 300.0}"])
OFF_CENTRE = ["probe.init=file", "probe.file={in}/off_centre.npy"]
#: Keys of lists, beside the run file of that kind.
KINDS = {
    "probe_centre.start": Case(3, set=OFF_CENTRE), "probe_centre.stop": Case(1, set=[*OFF_CENTRE, "constraint.0.start=2"]),
    "probe_centre.every": Case(2, set=[*OFF_CENTRE, "probe.start=1", "engine.0.step=2", "engine.0.batch=2", "engine.0.iterations=12"]),
    "support": Case(0.6, set=["engine.0.order=disjoint"]), "friction": Case(0.2, set=["engine.0.momentum_every=3"]), "kick": Case(0.9, set=["engine.0.momentum_every=3"]),
    "mpie.support": Case(0.6, set=["engine.0.order=disjoint", "engine.0.momentum_every=0"]), "tv.rounds": Case(1),
    "momentum_every": Case(3), "batch": Case(4), "spread": Case(set=["engine.0.batch=4"]), "rounds": Case(1, set=["probe.start=1", "engine.0.probe_change=1e-12"]), "probe_change": Case(1e-12, 10.0),
    "keep_object": Case(10.0), "keep_probe": Case(10.0), "relax": Case(0.5), "iterations": Case(1), "weight": Case(0.5), "sigma": Case(2.0),
    "low_pass": Case(0.3), "high_pass": Case(0.3), "start": Case(3), "every": Case(2), "stop": Case(1), "margin": Case(3.0), "amplitude_max": Case(0.9),
    "phase_min": Case(0.01), "phase_max": Case(0.01), "positivity": Case(True, set=["object.type=potential"]), "shrink": Case(0.01, set=["object.type=potential"]),
    "radius": Case(1.0), "apodisation": Case(1.0), "tolerance": Case(0.5), "dilation": Case(2.0), "order": Case(),
    "butterworth.order": Case(4, set=["constraint.0.low_pass=0.3"]), "beta": Case(0.3), "padding": Case(2), "probe_aberrations.weight": Case(0.2), "probe_aberrations.order": Case(1),
}
SOLVED = "{in}/of_wout.toml"
HARMONICS = "{in}/harmonics.toml"
NEOCLASSICAL = {
    "surface.path": Case("{in}/wout.nc"), "surface.type": Case(run=SOLVED), "surface.s": Case(0.3, run=SOLVED), "surface.rho": Case(0.6, run=SOLVED),
    "surface.surface_index": Case(3, run=SOLVED), "surface.psi_a": Case(2.0, run=SOLVED), "surface.wout": Case("{in}/wout.nc", run=SOLVED), "surface.signgs": Case(1, run=SOLVED),
    "surface.min_bmn": Case(0.1, run=SOLVED), "surface.snap": Case(True, run=SOLVED), "surface.vmec_radial_option": Case(2, run=SOLVED),
    "surface.m": Case(["0", "2"], run=HARMONICS), "surface.n": Case(["0", "1"], run=HARMONICS), "surface.b_cos": Case(["1", "0.2"], run=HARMONICS), "surface.b_sin": Case(["0", "0.1"], run=HARMONICS),
    "surface.nfp": Case(3, run=HARMONICS), "surface.iota": Case(0.7, run=HARMONICS), "surface.psi_p": Case(2.0, run=HARMONICS), "surface.b_theta": Case(0.5, run=HARMONICS),
    "surface.b_zeta": Case(2.0, run=HARMONICS), "grid.n_theta": Case(7), "grid.n_zeta": Case(7), "grid.n_xi": Case(5), "grid.round_odd": Case(True, set=["grid.n_theta=6"]),
    "case.nu_hat": Case(0.2), "case.epsi_hat": Case(0.01), "case.er_hat": Case(0.1), "case.er_tilde": Case(0.1),
    "scan.nu_v": Case("0.3"), "scan.epsi_hat": Case("0.1"), "scan.er_hat": Case("0.1"), "scan.er_tilde": Case("0.1"), "scan.rho": Case("0.5", "2"),
    "solver.device": Case("cuda:7"), "solver.threads": Case(1), "solver.tol": Case(1e-30), "solver.adapt_n_xi": Case(0.5), "solver.krylov_reuse": Case(False, scan=True, n_theta=17, n_zeta=17, n_xi=12, epsi_hat="0,1e-6,2e-6"),
    "solver.scan_batch_size": Case(1, scan=True), "output.path": Case("{out}/other.nc", output=None, set=["output.path={out}/r.nc"]), "output.include_modes": Case(True), "output.plot": Case(True),
    "output.report": Case("{out}/report.json"), "logging.verbose": Case(True),
}
KEYS = [(page, table, kind, field) for page in ("ptycho-run-file.md", "neoclassical-run-file.md") for table, kind, field in described(page)]


def use_of(page, table, kind, key):
    """The verb, its input, what is given beside the key, and the row."""
    if page.startswith("ptycho"):
        case = KINDS.get(f"{kind}.{key}", KINDS.get(key, Case())) if kind else PTYCHO.get(f"{table}.{key}", Case())
        given = dict(case.given)
        run = given.pop("run", f"{table}_{kind}" if kind else "recon")
        return "ptycho run", [f"{{in}}/{run}.toml"], {"output": "{out}/r.h5", **given}, case
    case = NEOCLASSICAL.get(f"{table}.{key}", Case())
    given = dict(case.given)
    scans = given.pop("scan", table == "scan")
    return f"neoclassical {'scan' if scans else 'run'}", [given.pop("run", "{in}/transport.toml")], {"output": "{out}/r.nc", **given}, case


@pytest.mark.parametrize(("page", "table", "kind", "field"), KEYS, ids=[f"{page.split('-')[0]} {table} {kind} {field['key']}" for page, table, kind, field in KEYS])
def test_a_key_acts(page, table, kind, field, outcome):  # noqa: F811
    key = field["key"]
    verb, inputs, given, case = use_of(page, table, kind, key)
    values = case.values or other_values(field)
    assert values, "a row with a value is needed"
    words = f"{table}.0.{key}" if kind else f"{table}.{key}"
    before = given.pop("set", [])
    without = outcome(verb, inputs, {**given, "set": before})

    def acts(value):
        texts = value if isinstance(value, list) else [str(value).lower() if isinstance(value, bool) else str(value)]
        return differing(without, outcome(verb, inputs, {**given, "set": [*before, *(f"{words}={text}" for text in texts)]}))

    assert any(map(acts, values)), f"{verb}: {words} = {values} changes nothing; {without.get('refused')}"
