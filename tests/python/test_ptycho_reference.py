# SPDX-License-Identifier: Apache-2.0
"""Engines of the library against the same formulas written out in NumPy (V9): R_I of every iteration."""

import numpy as np
import pytest

import ptycho_reference as reference
import sonde
from ptycho_scan import scan

ITERATIONS = 10
DEAD = [(3, 4), (12, 11)]
# The specification asks for 1e-4. Where the formulas are the same to the last term, double precision leaves only rounding; the modulus
# projection may keep its divisions finite (eps = 1e-10 of the mean counts) in more than one place, which shows in dark pixels.
DOUBLE, ASKED = 1e-8, 1e-4


def prepared(made, engine, precision="f64", modes=1):
    """A run of the library on these frames that stops for nothing, holds nothing out, and starts at ones."""
    return sonde.ptycho.Reconstruction(
        {"geometry": {"units": "pixel"}, "probe": {"modes": modes}, "engine": [{"iterations": ITERATIONS, **engine}],
         "data": {"holdout": 0.0}, "stop": {"rule": "off"}, "compute": {"precision": precision, "seed": 7}},
        data=made.frames, positions=made.positions, mask=made.good, probe=made.start).prepare()


def compare(run, transcription, made, tolerance, **settings):
    """Runs both from the same estimate; returns nothing, but says where they part."""
    state = run.state
    corner = np.fft.ifftshift(made.frames.astype(float), axes=(1, 2))
    curve, object_, probe = transcription(state.object[0].astype(complex), state.probe.astype(complex), state.positions, corner,
                                          np.fft.ifftshift(made.good), iterations=ITERATIONS, **settings)
    found = np.array([step.metrics["R_I"] for step in run.iterate()])
    assert len(found) == ITERATIONS and found[-1] < 0.8 * found[0]  # it does reconstruct
    np.testing.assert_allclose(found, curve, rtol=tolerance)
    # And what was found is the same.
    scale = 10 * tolerance
    assert np.linalg.norm(run.object[0] - object_) < scale * np.linalg.norm(object_)
    assert np.linalg.norm(run.probe - probe) < scale * np.linalg.norm(probe)


@pytest.mark.parametrize("modes", [1, 3])
@pytest.mark.parametrize("g", [1, 0.1])
def test_gd_of_all_frames_at_once(g, modes):
    made = scan(modes=modes, dead=DEAD)
    run = prepared(made, {"name": "gd", "g": g, "batch": 1000}, modes=modes)
    everything = [list(range(len(made.frames)))]
    compare(run, reference.gd, made, DOUBLE, step=0.5, g=g, batches=lambda iteration: everything)


@pytest.mark.parametrize("modes", [1, 3])
@pytest.mark.parametrize("g", [1, 0.1])
def test_gd_in_batches_of_64(g, modes):
    made = scan(side=9, step=2.0, modes=modes)  # 81 frames, so two batches of 40 and 41
    run = prepared(made, {"name": "gd", "g": g, "batch": 64}, modes=modes)
    compare(run, reference.gd, made, DOUBLE, step=0.5, g=g, batches=reference.random_batches(81, 64, seed=7))


def test_gd_in_single_precision():
    made = scan(modes=1)
    run = prepared(made, {"name": "gd", "batch": 64}, precision="f32")
    compare(run, reference.gd, made, ASKED, step=0.5, g=0.1, batches=reference.random_batches(36, 64, seed=7))


@pytest.mark.parametrize("modes", [1, 3])
@pytest.mark.parametrize("engine, weights", [({"name": "dm"}, {"a": -1, "b": 1, "c": 2}),
                                             ({"name": "raar", "beta": 0.75}, {"a": -0.5, "b": 0.75, "c": 2})])
def test_projections(engine, weights, modes):
    made = scan(modes=modes, whole=True, dead=DEAD)
    run = prepared(made, engine, modes=modes)
    compare(run, reference.projections, made, ASKED, **weights)


def test_the_transcribed_random_numbers_are_those_of_the_paper():
    """The known answers that the authors publish with Philox4x32-10."""
    assert reference.philox([0, 0, 0, 0], [0, 0]) == [0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8]
    assert reference.philox([0xFFFFFFFF] * 4, [0xFFFFFFFF] * 2) == [0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD]
    assert reference.philox([0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344], [0xA4093822, 0x299F31D0]) == \
        [0xD16CFE09, 0x94FDCCEB, 0x5001E420, 0x24126EA1]
