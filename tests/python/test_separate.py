# SPDX-License-Identifier: Apache-2.0
"""sonde.separate on arrays, against what PyTorch gave and what safetensors hold."""

import json
import pathlib

import mir_eval.separation
import numpy as np
import pytest

import sonde

REFERENCE = pathlib.Path(__file__).parents[3] / "shared/data/separation/reference"
needs_data = pytest.mark.skipif(not REFERENCE.exists(), reason="no test data")
CASES = ["a_instancenorm_gelu", "b_batchnorm_relu_target", "c_groupnorm_elu", "d_nonorm_gelu"]


def relative(found, expected):
    return np.linalg.norm((found - expected).ravel()) / np.linalg.norm(expected.ravel())


def model_of(case):
    return sonde.separate.Model(REFERENCE / case / "model.ckpt", model=REFERENCE / case / "config.yaml")


@needs_data
@pytest.mark.parametrize("case", CASES)
def test_forward_gives_what_pytorch_gave(case):
    model = model_of(case)
    chunks = np.load(REFERENCE / case / "input.npy")
    expected = np.load(REFERENCE / case / "output.npy").reshape(len(chunks), len(model.stems), model.channels, model.chunk)
    # float32 against float32, with Winograd's transforms.
    assert relative(model.forward(chunks), expected) < 1e-5


@needs_data
def test_an_item_does_not_depend_on_the_others():
    model = model_of(CASES[0])
    chunks = np.random.default_rng(1).normal(size=(3, model.channels, model.chunk)).astype(np.float32)
    together = model.forward(chunks)
    for i in range(3):
        np.testing.assert_array_equal(model.forward(chunks[i:i + 1])[0], together[i])


@needs_data
@pytest.mark.parametrize("case", CASES)
def test_parameters_are_those_of_safetensors(case):
    raw = (REFERENCE / case / "model.safetensors").read_bytes()
    length = int.from_bytes(raw[:8], "little")
    header = json.loads(raw[8:8 + length])
    found = sonde.separate.load_state_dict(REFERENCE / case / "model.ckpt")
    names = [name for name in header if name != "__metadata__"]
    assert sorted(found) == sorted(names)
    for name in names:
        begin, end = header[name]["data_offsets"]
        kind = {"F32": np.float32, "I64": np.int64}[header[name]["dtype"]]
        stored = np.frombuffer(raw[8 + length + begin:8 + length + end], kind).reshape(header[name]["shape"])
        np.testing.assert_array_equal(found[name], stored.astype(np.float32))


@needs_data
def test_the_plan_names_every_layer():
    model = model_of(CASES[0])
    model.forward(np.zeros((1, model.channels, model.chunk)))
    plan = model.plan
    assert {"first", "encoder0", "bottleneck", "decoder0", "final", "spectrum", "samples"} <= {layer.stage for layer in plan}
    assert all(layer.seconds >= 0 for layer in plan) and sum(layer.multiplications for layer in plan) > 0
    assert model.nbytes > 0


@needs_data
@pytest.mark.parametrize("shape, words", [((2, 100), "3 dimensions"), ((1, 3, 100), "3 channels"), ((1, 2, 100), "100 samples")])
def test_a_wrong_shape_is_refused(shape, words):
    with pytest.raises(sonde.Error) as refused:
        model_of(CASES[0]).forward(np.zeros(shape))
    assert refused.value.kind == "bad_input" and words in str(refused.value)


@needs_data
def test_too_little_memory_is_said_before_work():
    with pytest.raises(sonde.Error) as refused:
        sonde.separate.Model(REFERENCE / CASES[0] / "model.ckpt", model=REFERENCE / CASES[0] / "config.yaml", memory="1M")
    assert refused.value.kind == "budget"


@pytest.fixture(scope="module")
def pair():
    random = np.random.default_rng(5)
    truth = random.normal(size=(2, 4000)).astype(np.float32)
    return truth, (0.8 * truth + 0.1 * random.normal(size=truth.shape)).astype(np.float32)


def test_sdr_is_its_formula(pair):
    truth, estimate = (each.astype(np.float64) for each in pair)
    expected = 10 * np.log10(((truth**2).sum() + 1e-8) / (((truth - estimate)**2).sum() + 1e-8))
    assert sonde.separate.metrics.sdr(*pair) == pytest.approx(expected, abs=1e-6)
    projected = (truth * estimate).sum() / (truth**2).sum() * truth
    expected = 10 * np.log10((projected**2).sum() / ((projected - estimate)**2).sum())
    assert sonde.separate.metrics.si_sdr(*pair) == pytest.approx(expected, abs=1e-6)


def test_bss_eval_is_that_of_mir_eval():
    random = np.random.default_rng(7)
    references = random.normal(size=(2, 6000))
    estimates = np.roll(references, 5, axis=1)[::-1] + 0.3 * references + 0.1 * random.normal(size=references.shape)
    expected = mir_eval.separation.bss_eval_sources(references, estimates)
    found = sonde.separate.metrics.bss_eval(references, estimates)
    for ours, theirs in zip(found, expected):
        # Both solve the same normal equations; a well-conditioned pair leaves 1e-8.
        np.testing.assert_allclose(ours, theirs, atol=1e-6)


def test_clicks_become_events_and_a_midi_file(tmp_path):
    rate, times = 44100, [0.5, 1.0, 1.5, 2.0]
    samples = np.zeros(3 * rate, np.float32)
    for time in times:
        t = np.arange(int(0.2 * rate)) / rate
        samples[int(time * rate):int(time * rate) + t.size] += (np.exp(-t / 0.05) * np.sin(2 * np.pi * 60 * t)
                                                                + 0.5 * np.exp(-t / 0.005) * np.sin(2 * np.pi * 2500 * t)).astype(np.float32)
    events = sonde.separate.onsets(samples, rate, "Kick")
    # The attack rises within one or two milliseconds.
    np.testing.assert_allclose([event.time for event in events], times, atol=3e-3)
    assert {event.hit for event in events} == {"kick"}
    made = sonde.separate.to_midi({"Kick": events}, tmp_path / "kick.mid", tempo=100)
    assert made[:4] == b"MThd" and (tmp_path / "kick.mid").read_bytes() == made
    assert made.count(bytes([0x99, 36])) == len(times)


def test_a_stem_that_is_no_drum_is_named():
    with pytest.raises(sonde.Error) as refused:
        sonde.separate.onsets(np.zeros(44100), 44100, "piano")
    assert refused.value.kind == "bad_input" and "piano" in str(refused.value)


@needs_data
@pytest.mark.parametrize("name, policy, expected", [("long", "fade", "msst"), ("long", "uniform", "uniform"), ("tiny", "fade", "msst"),
                                                    ("exact", "fade", "msst"), ("o1", "fade", "msst")])
def test_separate_gives_what_the_reference_program_gave(name, policy, expected):
    model = model_of(CASES[0])
    mixture = np.load(REFERENCE / CASES[0] / f"demix_{name}_mix.npy")
    overlap = {"long": 4, "exact": 2, "tiny": 2, "o1": 1}[name]
    stems = model.separate(mixture, overlap=overlap, policy=policy)
    expected = np.load(REFERENCE / CASES[0] / f"demix_{name}_{expected}.npy")
    found = np.stack([stems[stem] for stem in model.stems])
    if name == "o1":  # at a joint the reference gives 0, sonde what the network gave
        joints = np.all(expected == 0, axis=(0, 1))
        assert joints.sum() <= 4
        found, expected = found[..., ~joints], expected[..., ~joints]
    assert relative(found, expected) < 1e-5


@needs_data
@pytest.mark.parametrize("rate", [44100, 48000])
def test_the_program_gives_the_same_bits_as_arrays(tmp_path, rate):
    samples = (0.3 * np.random.default_rng(2).normal(size=(2, 20000))).astype(np.float32)
    write_wav(tmp_path / "song.wav", samples, rate)
    case = REFERENCE / CASES[0]
    sonde.separate.run(tmp_path / "song.wav", output=tmp_path / "out", checkpoint=case / "model.ckpt", model=case / "config.yaml", shifts=2)
    stems = model_of(CASES[0]).separate(samples, rate, shifts=2)
    for name, stem in stems.items():
        np.testing.assert_array_equal(read_wav(tmp_path / "out/song" / f"{name}.wav"), stem)


def write_wav(path, samples, rate):
    """WAV of float32, little-endian."""
    data = samples.T.astype("<f4").tobytes()
    form = b"".join([(3).to_bytes(2, "little"), len(samples).to_bytes(2, "little"), rate.to_bytes(4, "little"),
                     (4 * len(samples) * rate).to_bytes(4, "little"), (4 * len(samples)).to_bytes(2, "little"), (32).to_bytes(2, "little")])
    chunks = b"WAVE" + b"fmt " + len(form).to_bytes(4, "little") + form + b"data" + len(data).to_bytes(4, "little") + data
    path.write_bytes(b"RIFF" + len(chunks).to_bytes(4, "little") + chunks)


def read_wav(path):
    raw = path.read_bytes()
    at, channels = 12, 0
    while raw[at:at + 4] != b"data":
        if raw[at:at + 4] == b"fmt ":
            channels = int.from_bytes(raw[at + 10:at + 12], "little")
        at += 8 + int.from_bytes(raw[at + 4:at + 8], "little")
    size = int.from_bytes(raw[at + 4:at + 8], "little")
    return np.frombuffer(raw[at + 8:at + 8 + size], "<f4").reshape(-1, channels).T


@needs_data
def test_progress_and_refusals_of_separate():
    model = model_of(CASES[0])
    told = []
    model.separate(np.zeros((2, 9000), np.float32), progress=lambda stage, fraction, detail: told.append(fraction))
    assert told and told[-1] == 1
    for samples, words in [(np.zeros((3, 100)), "3 channels"), (np.full((2, 100), np.nan), "nan at sample 0")]:
        with pytest.raises(sonde.Error) as refused:
            model.separate(samples)
        assert refused.value.kind == "bad_input" and words in str(refused.value)
    with pytest.raises(sonde.Error) as refused:
        model.separate(np.zeros((2, 100)), overlap=0)
    assert refused.value.kind == "usage"
